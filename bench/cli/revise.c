/* `nestor bench revise`: rounds of revision over the answers of a run, one chain of revisions for each arm. */
#include "bench/revise/revise.h"
#include "bench/cli/answers.h"
#include "bench/cli/judging.h"
#include "bench/record/memory.h"
#include "bench/stats/stats.h"

#include "cli/cli.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  bool on[NST_ARM_COUNT];
  uint64_t rounds;
} plan;

static bool parse_arms(plan *p, const char *list) {
  for (const char *at = list; *at;) {
    const size_t n = strcspn(at, ",");
    nst_arm arm;
    if (!nst_arm_parse(&arm, at, n)) {
      cli_say("there is no arm \"%.*s\"; arms are resample, self, compiler, metrics and counterexample",
              (int)(n < 40 ? n : 40), at);
      return false;
    }
    p->on[arm] = true;
    at += n + (at[n] == ',');
  }
  for (int i = 0; i < NST_ARM_COUNT; i++)
    if (p->on[i]) return true;
  cli_say("--arms wants at least one arm");
  return false;
}

/* ---- jobs ----------------------------------------------------------------- */

/* Sample numbers outside, then tasks, then arms. */
typedef struct {
  bench_asking *a;
  const plan *plan;
  uint64_t round, number;
  size_t task;
  int arm;
  char error[NST_RUNFILE_ERROR];
} cursor;

typedef struct {
  const cursor *at;
  const nst_task *task;
  json_t *messages;
} parent;

/* The messages that follow an answer that came and was judged. */
static bool follow(void *context, const nst_sample *sample, const nst_result *result) {
  parent *p = context;
  if (!sample->completion || !result || result->outcome == NST_OUTCOME_INFRA_ERROR) return true;
  p->messages = nst_revise_messages((nst_arm)p->at->arm, p->task, p->at->a->messages[p->at->task], sample, result);
  return true;
}

/* The job of where the cursor is. false: there is nothing to ask there. */
static bool job_at(cursor *c, nst_job *job) {
  bench_asking *a = c->a;
  const nst_task *task = &a->tasks[c->task];
  const nst_arm arm = (nst_arm)c->arm;
  char before[NST_REVISE_ID], id[NST_REVISE_ID];
  nst_revise_id(before, c->number, arm, c->round - 1);
  nst_revise_id(id, c->number, arm, c->round);
  parent p = {c, task, NULL};
  if (!nst_runfile_find(a->run, task->task_id, before, follow, &p, c->error) || !p.messages) return false;
  *job = (nst_job){
    .task_id = task->task_id, .messages = p.messages, .constrained = bench_asking_constrained(a, task), .n = 1};
  char base[NST_DIGEST_TEXT];
  bench_asking_base(a, base, job->messages, job->constrained);
  bench_asking_want(&job->wanted[0], base, nst_revise_number(c->number, c->round), id);
  if (nst_runfile_has(a->run, task->task_id, id, job->wanted[0].hash)) {
    json_decref(job->messages);
    return false;
  }
  job->members =
    json_pack("{s:s, s:s, s:I}", "parent_sample_id", before, "arm", nst_arm_name(arm), "round", (json_int_t)c->round);
  return true;
}

static bool next_job(void *context, nst_job *job) {
  cursor *c = context;
  for (; c->number < c->a->samples; c->number++, c->task = 0)
    for (; c->task < c->a->nasked; c->task++, c->arm = 0)
      while (c->arm < NST_ARM_COUNT && !*c->error) {
        const bool there = c->plan->on[c->arm] && job_at(c, job);
        c->arm++;
        if (there) return true;
      }
  return false;
}

static int ask_round(bench_asking *a, const plan *p, uint64_t round) {
  char what[64];
  uint64_t missing = 0, arms = 0;
  for (int i = 0; i < NST_ARM_COUNT; i++) arms += p->on[i];
  cursor counting = {.a = a, .plan = p, .round = round};
  for (nst_job job = {0}; next_job(&counting, &job); json_decref(job.messages), json_decref(job.members)) missing++;
  snprintf(what, sizeof what, "revisions in round %llu", (unsigned long long)round);
  a->what = what;
  a->wanted = a->samples * a->nasked * arms;
  a->there = a->wanted - missing;
  cursor from = {.a = a, .plan = p, .round = round};
  int code = !missing || *counting.error ? CLI_GOOD : bench_asking_run(a, next_job, &from);
  a->what = "answers";
  const char *error = *counting.error ? counting.error : from.error;
  if (*error) cli_say("%s", error), code = CLI_IO;
  return code;
}

/* ---- what came of it ------------------------------------------------------ */

static void rate(char out[48], uint64_t part, uint64_t of) {
  if (of)
    snprintf(out, 48, "%llu of %llu (%.1f %%)", (unsigned long long)part, (unsigned long long)of,
             100 * (double)part / (double)of);
  else
    strcpy(out, "-");
}

/* With Wilson's interval, in percent. */
static void rate_within(char out[64], uint64_t part, uint64_t of) {
  const nst_interval i = nst_stats_rate(part, of, 0.95);
  if (of)
    snprintf(out, 64, "%llu of %llu (%.1f %%, %.1f .. %.1f)", (unsigned long long)part, (unsigned long long)of,
             100 * (double)part / (double)of, 100 * i.low, 100 * i.high);
  else
    strcpy(out, "-");
}

static void print_text(const nst_revise_round *rounds, const plan *p) {
  printf("%-15s %5s  %-20s %-34s %-34s %7s %10s %10s %8s\n", "arm", "round", "passed", "fixed (95 % interval)",
         "broken (95 % interval)", "gain", "tokens in", "tokens out", "missing");
  for (int arm = 0; arm < NST_ARM_COUNT; arm++)
    for (uint64_t k = 0; p->on[arm] && k < p->rounds; k++) {
      const nst_revise_round *r = &rounds[(uint64_t)arm * p->rounds + k];
      char passed[48], fixed[64], broken[64], in[32], out[32], gain[32] = "-";
      rate(passed, nst_revise_passed(r), r->chains);
      rate_within(fixed, r->fixed, r->wrong);
      rate_within(broken, r->broken, r->right);
      bench_amount(in, r->tokens_in), bench_amount(out, r->tokens_out);
      if (r->chains) snprintf(gain, sizeof gain, "%+.1f", nst_revise_gain(r));
      printf("%-15s %5llu  %-20s %-34s %-34s %7s %10s %10s %8llu\n", nst_arm_name((nst_arm)arm),
             (unsigned long long)k + 1, passed, fixed, broken, gain, in, out,
             (unsigned long long)r->missing);
    }
}

static void put_interval(json_t *json, const char *name, nst_interval i) {
  json_object_set_new(json, name, isnan(i.low) ? json_null() : json_pack("[f, f]", i.low, i.high));
}

static void print_json(const nst_revise_round *rounds, const plan *p) {
  for (int arm = 0; arm < NST_ARM_COUNT; arm++)
    for (uint64_t k = 0; p->on[arm] && k < p->rounds; k++) {
      const nst_revise_round *r = &rounds[(uint64_t)arm * p->rounds + k];
      json_t *json = json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "arm",
                               nst_arm_name((nst_arm)arm), "round", (json_int_t)k + 1, "chains", (json_int_t)r->chains,
                               "passed", (json_int_t)nst_revise_passed(r), "wrong_before", (json_int_t)r->wrong,
                               "fixed", (json_int_t)r->fixed, "right_before", (json_int_t)r->right, "broken",
                               (json_int_t)r->broken, "gain",
                               r->chains ? json_real(nst_revise_gain(r)) : json_null(), "tokens_in", (json_int_t)r->tokens_in,
                               "tokens_out", (json_int_t)r->tokens_out, "missing", (json_int_t)r->missing);
      put_interval(json, "fixed_interval", nst_stats_rate(r->fixed, r->wrong, 0.95));
      put_interval(json, "broken_interval", nst_stats_rate(r->broken, r->right, 0.95));
      char *text = nst_record_text(json, NULL);
      puts(text);
      free(text);
      json_decref(json);
    }
}

typedef struct {
  uint64_t n, failed;
  double in, out, cost;
  bool priced;
  nst_reasons reasons;
} spent;

static bool add_spent(void *context, const nst_sample *sample, const nst_result *result) {
  spent *s = context;
  const json_t *usage = json_object_get(sample->json, "usage");
  (void)result;
  s->n++;
  s->failed += sample->error != NULL;
  if (sample->error) nst_reasons_add(&s->reasons, sample->error);
  s->in += (double)json_integer_value(json_object_get(usage, "input_tokens"));
  s->out += (double)json_integer_value(json_object_get(usage, "output_tokens"));
  const json_t *cost = json_object_get(sample->json, "cost");
  s->cost += json_number_value(cost);
  s->priced = s->priced || json_is_number(cost);
  return true;
}

static void tell_spent(bench_asking *a) {
  spent s = {0};
  char error[NST_RUNFILE_ERROR], in[32], out[32], cost[32] = "-";
  if (!nst_runfile_each_revision(a->run, add_spent, &s, error))
    cli_say("%s", error);
  else {
    bench_amount(in, s.in), bench_amount(out, s.out);
    if (s.priced) snprintf(cost, sizeof cost, "%.4g", s.cost);
    bench_asking_say(a, "%s: %llu revision%s, %llu failed; %s tokens in, %s out, cost %s", a->run_path,
                     (unsigned long long)s.n, s.n == 1 ? "" : "s", (unsigned long long)s.failed, in, out, cost);
    if (s.failed)
      cli_say("%llu revision%s never came (infra_error); the same command asks for %s again",
              (unsigned long long)s.failed, s.failed == 1 ? "" : "s", s.failed == 1 ? "it" : "them");
    bench_tell_reasons(&s.reasons);
  }
  nst_reasons_fini(&s.reasons);
}

/* CLI_STOPPED where chains are missing. */
static int print_rounds(bench_asking *a, const plan *p, bool json) {
  char error[NST_RUNFILE_ERROR];
  nst_revise_round *rounds = nst_memory_new(NST_ARM_COUNT * (size_t)p->rounds, sizeof *rounds);
  int code = CLI_GOOD;
  if (!nst_revise_tally(rounds, p->rounds, a->run, a->tasks, a->nasked, a->samples, p->on, error))
    cli_say("%s", error), code = CLI_IO;
  else {
    (json ? print_json : print_text)(rounds, p);
    if (fflush(stdout) || ferror(stdout)) code = cli_output_failed(errno);
    for (uint64_t i = 0; code == CLI_GOOD && i < NST_ARM_COUNT * p->rounds; i++)
      if (rounds[i].missing) code = CLI_STOPPED;
    if (code == CLI_STOPPED)
      cli_say("chains are missing: an answer failed or was not asked for yet; the same command goes on");
  }
  free(rounds);
  return code;
}

/* ---- the command ---------------------------------------------------------- */

static int revise(bench_asking *a, const plan *p, bool json) {
  nst_grading *grading = bench_judging_new(a, a->answers);
  if (!grading) return CLI_IO;
  int code = bench_ask_answers(a);
  if (code == CLI_GOOD) code = bench_judge(a, grading);
  for (uint64_t round = 1; code == CLI_GOOD && round <= p->rounds; round++) {
    code = ask_round(a, p, round);
    const int judged = bench_judge(a, grading);
    if (code == CLI_GOOD) code = judged;
  }
  a->what = "revisions"; /* what is new are these as well */
  code = bench_tell_answers(a, code);
  tell_spent(a);
  const int printed = code == CLI_IO ? CLI_GOOD : print_rounds(a, p, json);
  nst_grading_free(grading);
  return code ? code : printed;
}

int bench_revise(int argc, char **argv) {
  bench_asking a;
  bench_asking_init(&a);
  plan p = {.rounds = 3};
  const char *arms = "resample,self,compiler,metrics,counterexample", *format = "text";
  const bench_option options[] = {
    BENCH_ASKING_OPTIONS(&a),
    {"key", 'k', BENCH_TEXT, &a.answers, "FILE", "the answers (of bench gen)"},
    {"arms", 0, BENCH_TEXT, &arms, "LIST", "resample,self,compiler,metrics,counterexample (all)"},
    {"rounds", 0, BENCH_WHOLE, &p.rounds, "R", "rounds of revision (3)"},
    {"format", 'f', BENCH_TEXT, &format, "FORM", "text, or json: one object a line"},
    {NULL, 0, BENCH_FLAG, NULL, NULL, NULL}};
  static const char help[] =
    "Asks for the answers of a run, then has each revised R times by each arm, right or wrong, so that all arms ask "
    "as\n"
    "often (not for as many tokens: what an arm says of an answer is read too):\n\n"
#define NST_ARM(id, name, what) "  " name " - " what "\n"
#include "bench/revise/arms.def"
#undef NST_ARM
    "\nPrints what each round fixed, broke and gained, with counts and the tokens that it took. Stopped at any moment, the same command goes on.\n";
  const bench_usage words = {"TASKS.jsonl --key KEY.jsonl --base-url URL --model NAME [OPTIONS]", help, options};
  bench_texts rest;
  int code = bench_options("revise", &words, argc, argv, &rest);
  if (code < 0) {
    const bool json = !strcmp(format, "json");
    if (rest.n != 1)
      cli_say("which tasks? `nestor bench revise TASKS.jsonl --key KEY.jsonl --base-url URL --model NAME`");
    else if (!a.answers)
      cli_say("--key is needed: the file of answers that `nestor bench gen --key` wrote");
    else if (p.rounds < 1 || p.rounds > NST_REVISE_ROUNDS)
      cli_say("--rounds takes 1 to %d", NST_REVISE_ROUNDS);
    else if (!json && strcmp(format, "text"))
      cli_say("--format takes text or json");
    else if (parse_arms(&p, arms)) {
      code = bench_asking_begin(&a, rest.items[0]);
      if (code < 0) code = revise(&a, &p, json);
    }
    if (code < 0) code = CLI_WRONG_USAGE;
  }
  free(rest.items);
  bench_asking_fini(&a);
  return code;
}
