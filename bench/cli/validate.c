/* nestor bench validate: is a suite what it says it is?
 *
 * Every reference answer goes through the grader as if a model had written it and must pass; it must be the one that the task has committed to. Every
 * task is made again from its seed, by all three engines, and must come out as it is, with its key. Where that takes a secret that is not given, the
 * figures that are expected of programs must still be those of all engines. An answer that does nothing must be worth nothing where the key has a
 * floor.
 *
 * A wrong secret is said once: where none of the first hidden tasks asks what it gives, nothing else is looked at. */
#include "bench/cli/bench.h"
#include "bench/cli/grading.h"
#include "bench/grade/figures.h"
#include "bench/grade/values.h"
#include "bench/record/memory.h"
#include "bench/record/text.h"
#include "bench/scripted/script.h"
#include "bench/tasks/remake.h"
#include "bench/tasks/solve.h"

#include "cli/cli.h"

#include <errno.h>
#include <nestor/nestor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 256, PROBES = 8 /* hidden tasks that are made again to try a secret */ };

typedef struct {
  nst_grading *grading;
  nestor_session *session;
  const char *secret;
  json_t *bad; /* ids of tasks whose key is none */
  size_t n, judged, failed, remade, points, not_simulated, floors, unseen_floors, hidden, probed;
  bool no_jit, secret_fits;
  nst_sample samples[MOST];
  nst_result results[MOST];
} run;

static void complain(run *r, const char *task_id, const char *what) {
  cli_say("%.200s: %s", task_id, what);
  r->failed++;
}

static void tell_bad_key(void *context, const char *task_id, const char *what) {
  run *r = context;
  json_object_set_new(r->bad, task_id, json_true());
  complain(r, task_id, what);
}

/* ---- the three engines ---------------------------------------------------- */

static const char *text_of(const json_t *object, const char *member) {
  const char *text = json_string_value(json_object_get(object, member));
  return text ? text : "";
}

static nestor_program *compile(const run *r, const nst_task *task, const nst_key *key) {
  nestor_buffer *text = nestor_buffer_new();
  const char *const parts[] = {text_of(task->spec, "given"), key->answer, text_of(key->json, "probe")};
  for (int i = 0; i < 3; i++) {
    nestor_buffer_append(text, parts[i], strlen(parts[i]));
    nestor_buffer_append(text, "\n", 1);
  }
  nestor_program *p = nestor_program_new(r->session, key->task_id, nestor_buffer_data(text), nestor_buffer_size(text), NESTOR_STAGE_CHECK);
  nestor_buffer_free(text);
  return p;
}

static bool set_params(nestor_eval *e, json_t *params) {
  const char *name;
  json_t *value;
  nestor_eval_reset(e);
  json_object_foreach(params, name, value) {
    int64_t whole;
    char number[24];
    if (!nst_record_int(value, &whole)) return false;
    snprintf(number, sizeof number, "%lld", (long long)whole);
    if (nestor_eval_set(e, name, number) != NESTOR_OK) return false;
  }
  return true;
}

/* The analysis against the simulator where there is no code generator. */
static nestor_status run_engines(run *r, nestor_eval *e) {
  if (!r->no_jit) return nestor_eval_run(e, NESTOR_ENGINE_ALL, NULL);
  nestor_status status;
  nst_figure *seen = NULL;
  size_t n = 0;
  status = nestor_eval_run(e, NESTOR_ENGINE_SIMULATE, NULL);
  if (status == NESTOR_OK) {
    n = nst_figures_count(e);
    seen = nst_memory_new(n, sizeof *seen);
    nst_figures_values(seen, e);
  } else r->not_simulated++;
  status = nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL);
  nst_figure *got = nst_memory_new(n, sizeof *got);
  if (status == NESTOR_OK && n) nst_figures_values(got, e);
  for (size_t i = 0; status == NESTOR_OK && i < n; i++)
    if (!nst_figure_equal(got[i], seen[i])) status = NESTOR_ERROR;
  free(got);
  free(seen);
  return status;
}

static bool same_figures(const nestor_eval *e, const json_t *names, const json_t *values) {
  const size_t n = nst_figures_count(e);
  if (json_array_size(values) != n || json_array_size(names) != n) return false;
  nst_figure *got = nst_memory_new(n, sizeof *got), want;
  nestor_buffer *text = nestor_buffer_new();
  nst_figures_values(got, e);
  nst_figures_names(text, e);
  const char *name = nestor_buffer_data(text);
  bool same = true;
  for (size_t i = 0; i < n; i++, name += strlen(name) + 1)
    same = same && !strcmp(name, json_string_value(json_array_get(names, i))) && nst_figure_take(&want, json_array_get(values, i)) &&
           nst_figure_equal(want, got[i]);
  nestor_buffer_free(text);
  free(got);
  return same;
}

static bool is_least(const nestor_eval *e, const char *objective, const json_t *optimum) {
  const size_t n = nst_figures_count(e);
  nst_figure *got = nst_memory_new(n, sizeof *got), want;
  nestor_buffer *text = nestor_buffer_new();
  nst_figures_values(got, e);
  nst_figures_names(text, e);
  const char *name = nestor_buffer_data(text);
  size_t i = 0;
  for (; i < n && strcmp(name, objective) != 0; i++) name += strlen(name) + 1;
  const bool least = i < n && nst_figure_take(&want, optimum) && nst_figure_equal(want, got[i]);
  nestor_buffer_free(text);
  free(got);
  return least;
}

static bool was_not_simulated(nestor_eval *e) {
  nestor_diagnostic d;
  for (size_t i = 0; nestor_diagnostics_get(nestor_eval_diagnostics(e), i, &d); i++)
    if (!strcmp(d.code, "W0920")) return true;
  return false;
}

static void check_point(run *r, const nst_task *task, const nst_key *key, nestor_eval *e, json_t *point) {
  char what[512], at[160];
  json_t *params = json_object_get(point, "params");
  char *text = json_dumps(params, JSON_COMPACT);
  nst_text_quote(at, sizeof at, text ? text : "");
  free(text);
  *what = '\0';
  r->points++;
  if (!set_params(e, params)) snprintf(what, sizeof what, "the parameters %s cannot be set", at);
  else if (run_engines(r, e) != NESTOR_OK) {
    nestor_diagnostic d = {.message = "two engines differ"};
    nestor_diagnostics_get(nestor_eval_diagnostics(e), 0, &d);
    char message[300];
    nst_text_quote(message, sizeof message, d.message);
    snprintf(what, sizeof what, "at %s: %s", at, message);
  } else {
    r->not_simulated += was_not_simulated(e);
    const json_t *names = json_object_get(json_object_get(key->json, "figures"), text_of(point, "mapping"));
    if (!strcmp(text_of(task->spec, "goal"), "least")) {
      if (!is_least(e, text_of(task->spec, "objective"), json_object_get(key->json, "optimum")))
        snprintf(what, sizeof what, "the reference answer does not come to the optimum of the key");
    } else if (!same_figures(e, names, json_object_get(point, "values")))
      snprintf(what, sizeof what, "at %s: the figures are not those of the key", at);
  }
  if (*what) complain(r, key->task_id, what);
}

static void check_engines(run *r, const nst_task *task, const nst_key *key) {
  nestor_program *p = compile(r, task, key);
  const json_t *points = json_object_get(key->json, "points");
  const char *last = "";
  nestor_eval *e = NULL;
  for (size_t i = 0; i < json_array_size(points); i++) {
    json_t *point = json_array_get(points, i);
    const char *mapping = text_of(point, "mapping");
    if (strcmp(mapping, last) != 0) {
      nestor_eval_free(e);
      e = nestor_eval_new(p, nestor_program_find(p, mapping));
      last = mapping;
    }
    if (e) check_point(r, task, key, e, point);
    else {
      complain(r, key->task_id, "the reference answer does not compile, or lacks a mapping of \"points\"");
      break;
    }
  }
  nestor_eval_free(e);
  nestor_program_free(p);
}

/* ---- the grader ----------------------------------------------------------- */

static const char idle_id[] = "idle";

static void judge(run *r) {
  nst_grading_run(r->grading, r->results, r->samples, r->n);
  for (size_t i = 0; i < r->n; i++) {
    if (!strcmp(r->results[i].sample_id, idle_id)) {
      r->floors++;
      if (r->results[i].score > 0) complain(r, r->results[i].task_id, "doing nothing has a score: the floor of the key is too low");
    } else if (!r->results[i].passed) {
      char what[400], message[160], shown[200];
      const json_t *first = json_array_get(json_object_get(r->results[i].json, "diagnostics"), 0);
      char *example = json_dumps(json_object_get(r->results[i].json, "counterexample"), JSON_COMPACT | JSON_ENCODE_ANY);
      nst_text_quote(message, sizeof message, text_of(first, "message"));
      nst_text_quote(shown, sizeof shown, example ? example : "");
      snprintf(what, sizeof what, "the reference answer is graded %s %s %s", nst_outcome_name(r->results[i].outcome), message, shown);
      free(example);
      complain(r, r->results[i].task_id, what);
    }
    nst_result_fini(&r->results[i]);
    nst_sample_fini(&r->samples[i]);
  }
  r->n = 0;
}

static json_t *completion_of(const nst_task *task, const nst_key *key) {
  switch (task->answer) {
    case NST_ANSWER_PROGRAM:
    case NST_ANSWER_MODEL: return json_sprintf("```nest\n%s\n```\n", key->answer);
    case NST_ANSWER_CHOICE:
    case NST_ANSWER_NUMBERS: return json_sprintf("answer: %s\n", key->answer);
  }
  return json_null();
}

typedef struct { run *r; const char *task_id; } remaking;

static void tell_remade(void *context, const char *what) {
  const remaking *m = context;
  complain(m->r, m->task_id, what);
}

static bool is_hidden(const nst_task *task) { return !strcmp(task->split, "hidden"); }

/* What is made again by all engines has figures of all engines; what is not is evaluated as it is. */
static void check_figures(run *r, const nst_task *task, const nst_key *key) {
  const bool remade = !is_hidden(task) || r->secret;
  if (remade) {
    r->remade++;
    const int others =
      nst_remake_compare(task, key, is_hidden(task) ? r->secret : NULL, r->no_jit, tell_remade, &(remaking){r, key->task_id});
    if (!others && !r->no_jit) r->points += json_array_size(json_object_get(key->json, "points"));
  }
  if (task->answer == NST_ANSWER_PROGRAM && (!remade || r->no_jit)) check_engines(r, task, key);
}

static bool check_key(void *context, nst_key *key) {
  run *r = context;
  const nst_task *task = nst_grading_task(r->grading, key->task_id);
  char hash[65], error[NST_RECORD_ERROR];
  if (json_object_get(r->bad, key->task_id)) return nst_key_fini(key), true;
  nst_content_hash(hash, task->messages, task->spec);
  if (strcmp(hash, task->content_hash) != 0) complain(r, key->task_id, "its content_hash is not that of its messages and its spec");
  json_t *sample = json_pack("{s:s,s:s,s:o}", "task_id", key->task_id, "sample_id", "reference", "completion", completion_of(task, key));
  if (!sample || !nst_sample_take(&r->samples[r->n], sample, error)) complain(r, key->task_id, "its answer is no text");
  else r->n++, r->judged++;
  if (r->n == MOST) judge(r);
  r->hidden += is_hidden(task);
  /* Without its secret a task of the split hidden has no draft to do nothing with. */
  const bool floor = json_object_get(key->json, "floor"), seen = !is_hidden(task) || r->secret;
  r->unseen_floors += floor && !seen;
  if (floor && seen) {
    nst_script_idle(&r->samples[r->n], task, is_hidden(task) ? r->secret : NULL);
    json_object_set_new(r->samples[r->n].json, "sample_id", json_string(idle_id));
    r->samples[r->n].sample_id = idle_id;
    if (++r->n == MOST) judge(r);
  }
  check_figures(r, task, key);
  nst_key_fini(key);
  return true;
}

/* false, to stop, where the secret is known to be the right one or enough was tried. */
static bool probe_secret(void *context, nst_key *key) {
  run *r = context;
  const nst_task *task = nst_grading_task(r->grading, key->task_id);
  if (is_hidden(task)) {
    r->probed++;
    r->secret_fits = nst_remake_asks(task, r->secret);
  }
  nst_key_fini(key);
  return !r->secret_fits && r->probed < PROBES;
}

/* Of tasks of other splits alone any secret will do: they have none. */
static bool is_of_secret(run *r, const char *key) {
  if (!r->secret) return true;
  bench_each_key(key, probe_secret, r);
  return !r->probed || r->secret_fits;
}

static void tell(const run *r) {
  char unseen[80] = "";
  if (r->unseen_floors) snprintf(unseen, sizeof unseen, " (%zu not checked: hidden)", r->unseen_floors);
  printf("%zu reference answers, %zu that do nothing%s, %zu tasks made again, %zu points of programs and models by %s engines (%zu past the "
         "simulator's limit): %zu faults\n",
         r->judged, r->floors, unseen, r->remade, r->points, r->no_jit ? "two" : "three", r->not_simulated, r->failed);
  if (r->hidden && !r->secret)
    cli_say("%zu task%s of the split hidden %s not made again: that takes what `bench gen` had as --secret; give it with --secret FILE", r->hidden,
            r->hidden == 1 ? "" : "s", r->hidden == 1 ? "was" : "were");
}

static int validate(run *r, const char *tasks, const char *key) {
  if (!is_of_secret(r, key)) {
    cli_say("%s: these tasks were not made with this secret: %s", cli_display_name(tasks),
            r->probed == 1 ? "the question of the hidden one is another" : "the questions of the first hidden ones are others");
    return CLI_PROGRAM;
  }
  r->session = nestor_session_new();
  nestor_session_set_stdlib(r->session, false);
  int code = bench_each_key(key, check_key, r) ? CLI_GOOD : CLI_IO;
  judge(r);
  tell(r);
  if (fflush(stdout)) code = cli_output_failed(errno);
  nestor_session_free(r->session);
  return code == CLI_GOOD && r->failed ? CLI_PROGRAM : code;
}

int bench_validate(int argc, char **argv) {
  const char *key = NULL, *secret = NULL;
  char why[NST_SOLVE_ERROR];
  uint64_t workers = 0;
  const bench_option options[] = {
    {"key", 'k', BENCH_TEXT, &key, "FILE", "the answers to the tasks, of bench gen --key"},
    {"secret", 0, BENCH_TEXT, &secret, "FILE", "of tasks of the split hidden: what bench gen had as --secret"},
    {"workers", 'w', BENCH_WHOLE, &workers, "N", "worker processes; one per processor where it is not given"},
    {0}};
  const bench_usage usage = {"tasks.jsonl --key FILE [OPTIONS]",
                             "Checks a suite: every reference answer passes the grader and is the one that the task has committed to; every task is\n"
                             "made again from its seed, by the analysis, the simulator and native code, and must come out as it is, with its key. Of\n"
                             "the split hidden that takes --secret; without it the expected figures of programs alone are computed again. An answer\n"
                             "that does nothing has the score 0 where the key has a floor; of the split hidden that takes --secret too. Says what fails; the exit code is then 1.\n", options};
  bench_texts files;
  int code = bench_options("validate", &usage, argc, argv, &files);
  if (code < 0 && (files.n != 1 || !key)) {
    cli_say("`nestor bench validate` wants one file of tasks and --key FILE");
    code = CLI_WRONG_USAGE;
  }
  if (code >= 0) return free(files.items), code;
  char *text = secret ? bench_read_secret(secret) : NULL;
  if (secret && !text) return free(files.items), CLI_IO;
  run *r = nst_memory_new(1, sizeof *r);
  r->secret = text;
  r->bad = json_object();
  r->no_jit = !nst_solver_is_whole(why);
  r->grading = bench_grading_new_telling(&code, &(nst_grading_options){.workers = (int)(workers > 4096 ? 4096 : workers)}, files.items[0], key,
                                         tell_bad_key, r);
  if (r->grading) code = validate(r, files.items[0], key);
  nst_grading_free(r->grading);
  json_decref(r->bad);
  free(text);
  free(r);
  free(files.items);
  return code;
}
