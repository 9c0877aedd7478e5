/* The answers of a run: jobs for those that are missing, and what is said of those that are there. */
#include "bench/cli/answers.h"

#include "bench/record/alike.h"
#include "bench/record/memory.h"
#include "bench/report/out.h"

#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- jobs ----------------------------------------------------------------- */

/* Sample numbers outside, tasks inside: a run that is stopped has asked all tasks as often. */
typedef struct {
  bench_asking *a;
  uint64_t number;
  size_t task;
} cursor;

static bool next_job(void *context, nst_job *job) {
  cursor *c = context;
  bench_asking *a = c->a;
  for (; c->number < a->samples; c->number += a->settings.choices, c->task = 0)
    for (; c->task < a->nasked; c->task++) {
      const nst_task *task = &a->tasks[c->task];
      job->n = 0;
      job->constrained = bench_asking_constrained(a, task);
      for (uint64_t i = c->number; i < c->number + a->settings.choices && i < a->samples; i++) {
        char id[32];
        snprintf(id, sizeof id, "%llu", (unsigned long long)i);
        nst_wanted *wanted = &job->wanted[job->n];
        bench_asking_want(wanted, a->bases[c->task], i, id);
        if (!nst_runfile_has(a->run, task->task_id, id, wanted->hash)) job->n++;
      }
      if (!job->n) continue;
      job->task_id = task->task_id;
      job->messages = json_incref(a->messages[c->task]);
      c->task++;
      return true;
    }
  return false;
}

int bench_ask_answers(bench_asking *a) {
  uint64_t missing = 0;
  cursor from = {a, 0, 0};
  for (nst_job job = {0}; next_job(&from, &job); json_decref(job.messages)) missing += job.n;
  a->wanted = a->samples * a->nasked;
  a->there = a->wanted - missing;
  if (!missing) return bench_asking_say(a, "nothing to ask: all answers are there"), CLI_GOOD;
  const int code = bench_asking_run(a, next_job, &(cursor){a, 0, 0});
  a->new_answers = nst_client_totals(a->client)->answered;
  return code;
}

/* ---- what the file holds -------------------------------------------------- */

/* Whether the answers to a task are all alike, and at how many tasks they are. */
typedef struct {
  uint8_t first[NST_DIGEST_BYTES];
  uint64_t n, same;      /* of the task that is read */
  uint64_t tasks, alike; /* with two answers and more; with all alike */
  char example[256];
} likeness;

typedef struct {
  char task[256];
  likeness whole, wrong; /* of all answers, and of those that do not pass */
  const bench_asking *a;
  json_t *index;                                          /* of the tasks that are asked, by name */
  uint64_t answers, others, failed, refused, judged, cut; /* others: of tasks that are not asked now */
  nst_reasons reasons;
  double tokens_in, tokens_out, cost;
  bool priced;
} contents;

static bool is(const char *word, const char *expected) { return word && !strcmp(word, expected); }

static void add_likeness(likeness *l, const uint8_t digest[NST_DIGEST_BYTES]) {
  if (!l->n++) memcpy(l->first, digest, sizeof l->first);
  l->same += !memcmp(l->first, digest, sizeof l->first);
}

static void end_task(likeness *l, const char *task) {
  const bool alike = l->n > 1 && l->same == l->n;
  l->tasks += l->n > 1;
  if (alike && !l->alike++) snprintf(l->example, sizeof l->example, "%s", task);
  l->n = l->same = 0;
}

static bool count_sample(void *context, const nst_sample *sample, const nst_result *result) {
  contents *c = context;
  const json_t *at = json_object_get(c->index, sample->task_id);
  if (!at) return c->others++, true;
  if (sample->error) return nst_reasons_add(&c->reasons, sample->error), c->failed++, true;
  c->answers++;
  c->judged += result != NULL;
  c->refused += result ? result->outcome == NST_OUTCOME_REFUSED
                       : is(sample->finish_reason, "refusal") || is(sample->finish_reason, "content_filter");
  c->cut += is(sample->finish_reason, "length");
  const json_t *usage = json_object_get(sample->json, "usage"), *cost = json_object_get(sample->json, "cost");
  c->tokens_in += (double)json_integer_value(json_object_get(usage, "input_tokens"));
  c->tokens_out += (double)json_integer_value(json_object_get(usage, "output_tokens"));
  if (json_is_number(cost)) c->cost += json_number_value(cost), c->priced = true;
  if (strncmp(c->task, sample->task_id, sizeof c->task - 1)) {
    end_task(&c->whole, c->task), end_task(&c->wrong, c->task);
    snprintf(c->task, sizeof c->task, "%s", sample->task_id);
  }
  const nst_answer answer = c->a->tasks[json_integer_value(at)].answer; /* choices and numbers are alike by nature */
  if (!sample->completion_size || (answer != NST_ANSWER_PROGRAM && answer != NST_ANSWER_MODEL)) return true;
  uint8_t digest[NST_DIGEST_BYTES];
  const json_t *thought = json_object_get(sample->json, "reasoning");
  nst_digest_parts(
    digest,
    (const nst_digest_part[]){{sample->completion, sample->completion_size},
                              {json_is_string(thought) ? json_string_value(thought) : "", json_string_length(thought)}},
    2);
  add_likeness(&c->whole, digest);
  if (result && nst_alike_counts(sample, result)) add_likeness(&c->wrong, digest);
  return true;
}

/* Of what is judged, only what does not pass says something. */
static void tell_likeness(const contents *c) {
  const likeness *l = c->judged ? &c->wrong : &c->whole;
  if (!nst_alike_tells(l->tasks, l->alike)) return;
  cli_say("warning: at %llu of %llu tasks all answers%s are the same to the byte (task %s is one); does the server keep "
          "answers, or is its seed fixed?%s",
          (unsigned long long)l->alike, (unsigned long long)l->tasks, c->judged ? " that do not pass" : "", l->example,
          c->judged ? "" : " A model that is right may repeat itself: with --key only answers that do not pass count");
}

void bench_tell_reasons(nst_reasons *reasons) {
  enum { MOST_TOLD = 3 };
  uint64_t others = 0;
  nst_reasons_sort(reasons);
  for (size_t i = 0; i < reasons->n; i++) {
    if (i >= MOST_TOLD) {
      others += reasons->items[i].n;
      continue;
    }
    char *clean = nst_out_clean(reasons->items[i].text, true, 0);
    cli_say("%llu of them: %s", (unsigned long long)reasons->items[i].n, clean);
    free(clean);
  }
  if (others)
    cli_say("%llu of them for %zu other reason%s; `nestor bench report` has all", (unsigned long long)others,
            reasons->n - MOST_TOLD, reasons->n - MOST_TOLD == 1 ? "" : "s");
}

int bench_tell_answers(bench_asking *a, int code) {
  contents c = {.a = a, .index = json_object()};
  char error[NST_RUNFILE_ERROR], in[32], out[32], cost[48] = "", others[80] = "", revisions[80] = "";
  for (size_t i = 0; i < a->nasked; i++) json_object_set_new(c.index, a->tasks[i].task_id, json_integer((json_int_t)i));
  const bool read = nst_runfile_each_sample(a->run, count_sample, &c, error);
  json_decref(c.index);
  end_task(&c.whole, c.task), end_task(&c.wrong, c.task);
  if (!read) {
    cli_say("%s", error);
    nst_reasons_fini(&c.reasons);
    return CLI_IO;
  }
  bench_amount(in, c.tokens_in), bench_amount(out, c.tokens_out);
  if (c.priced) snprintf(cost, sizeof cost, ", cost %.4g", c.cost);
  if (c.others) snprintf(others, sizeof others, " (and %llu of tasks that are not asked now)", (unsigned long long)c.others);
  const nst_client_progress *now = nst_client_totals(a->client);
  const uint64_t revised = now->answered - a->new_answers, all = a->samples * a->nasked;
  if (strcmp(a->what, "answers"))
    snprintf(revisions, sizeof revisions, ", and %llu new revision%s,", (unsigned long long)revised,
             revised == 1 ? "" : "s");
  bench_asking_say(a,
                   "%s: %llu of %llu answer%s%s, %llu new%s by %llu request%s; %llu refused%s, %llu cut at the length "
                   "limit; %s tokens in, %s out%s",
                   a->run_path, (unsigned long long)c.answers, (unsigned long long)all, all == 1 ? "" : "s", others,
                   (unsigned long long)a->new_answers, revisions, (unsigned long long)now->requests,
                   now->requests == 1 ? "" : "s", (unsigned long long)c.refused,
                   c.judged == c.answers ? "" : " as the server says (judging reads the texts)",
                   (unsigned long long)c.cut, in, out, cost);
  if (now->answered && !(a->settings.temperature <= 0)) tell_likeness(&c);
  if (c.failed) {
    cli_say("%llu answer%s never came (infra_error); the same command asks for %s again", (unsigned long long)c.failed,
            c.failed == 1 ? "" : "s", c.failed == 1 ? "it" : "them");
    bench_tell_reasons(&c.reasons);
    if (code == CLI_GOOD) code = CLI_STOPPED;
  }
  nst_reasons_fini(&c.reasons);
  return code;
}
