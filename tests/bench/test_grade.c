/* Grading: verdicts, partial credit, counterexamples, and what becomes of everybody else when a worker dies, hangs or is missing. */
#include "tests/unit/test.h"

#include "bench/grade/grade.h"
#include "bench/grade/wire.h"
#include "tests/bench/hand.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct { nst_grading *grading; char *mapping, *workload, *least, *model; } fixture;

static void add(void *context, json_t *task_json, json_t *key_json) {
  fixture *f = context;
  char error[NST_RECORD_ERROR];
  nst_task task;
  nst_key key;
  if (!nst_task_take(&task, task_json, error) || !nst_key_take(&key, key_json, error)) fail_msg("%s", error);
  char **answer = !strcmp(key.task_id, "h-mapping") ? &f->mapping : !strcmp(key.task_id, "h-workload") ? &f->workload
                  : !strcmp(key.task_id, "h-least") ? &f->least : !strcmp(key.task_id, "h-model") ? &f->model : NULL;
  if (answer) *answer = strdup(key.answer);
  if (!nst_grading_add_task(f->grading, &task, error) || !nst_grading_add_key(f->grading, &key, error)) fail_msg("%s", error);
}

static fixture *begin(int workers, bool timing) {
  char error[NST_RECORD_ERROR];
  fixture *f = calloc(1, sizeof *f);
  f->grading = nst_grading_new(&(nst_grading_options){workers, NULL, timing}, error);
  if (!f->grading) fail_msg("%s", error);
  hand_tasks(add, f);
  return f;
}

static void end(fixture *f) {
  nst_grading_free(f->grading);
  free(f->mapping), free(f->workload), free(f->least), free(f->model);
  free(f);
}

static nst_sample sample_of(const char *task_id, const char *sample_id, const char *completion, const char *finish_reason) {
  char error[NST_RECORD_ERROR];
  json_t *json = json_pack("{s:s,s:s,s:s}", "task_id", task_id, "sample_id", sample_id, "completion", completion);
  if (finish_reason) json_object_set_new(json, "finish_reason", json_string(finish_reason));
  nst_sample s;
  if (!nst_sample_take(&s, json, error)) fail_msg("%s", error);
  return s;
}

/* The result of one completion; the caller ends it. */
static nst_result grade(fixture *f, const char *task_id, const char *completion, const char *finish_reason) {
  nst_sample s = sample_of(task_id, "0", completion, finish_reason);
  nst_result r;
  nst_grading_run(f->grading, &r, &s, 1);
  nst_sample_fini(&s);
  return r;
}

static char *fenced(const char *text) {
  char *out = malloc(strlen(text) + 32);
  sprintf(out, "```nest\n%s```\n", text);
  return out;
}

/* text with the first `from` replaced by `to`, in a fence. */
static char *changed(const char *text, const char *from, const char *to) {
  const char *at = strstr(text, from);
  assert_non_null(at);
  char *out = malloc(strlen(text) + strlen(to) + 32);
  sprintf(out, "```nest\n%.*s%s%s```\n", (int)(at - text), text, to, at + strlen(from));
  return out;
}

static void expect(fixture *f, const char *task_id, char *completion, nst_outcome outcome) {
  nst_result r = grade(f, task_id, completion, NULL);
  if (r.outcome != outcome) {
    char *text = nst_record_text(r.json, NULL);
    fail_msg("%s\nof %s\nis %s, not %s", text, completion, nst_outcome_name(r.outcome), nst_outcome_name(outcome));
  }
  assert_int_equal(r.passed, outcome == NST_OUTCOME_PASSED);
  assert_true(r.passed ? r.score >= 1 : r.score < 1);
  nst_result_fini(&r);
  free(completion);
}

static void reference_answers_pass(void **state) {
  fixture *f = *state;
  expect(f, "h-mapping", fenced(f->mapping), NST_OUTCOME_PASSED);
  expect(f, "h-workload", fenced(f->workload), NST_OUTCOME_PASSED);
  expect(f, "h-least", fenced(f->least), NST_OUTCOME_PASSED);
  expect(f, "h-model", fenced(f->model), NST_OUTCOME_PASSED);
  expect(f, "h-choice", strdup("answer: B"), NST_OUTCOME_PASSED);
  expect(f, "h-numbers", strdup("answer: reads_A = 18,432, glb = 4 KiB"), NST_OUTCOME_PASSED);
}

static void equivalent_programs_pass(void **state) {
  fixture *f = *state;
  expect(f, "h-mapping", changed(f->mapping, "  for k\n", "  for k by 1\n  compute on MAC\n"), NST_OUTCOME_PASSED);
  expect(f, "h-mapping", changed(f->mapping, "tm = 32, tn = 16", "tn = 16, tm = 32"), NST_OUTCOME_PASSED);
  expect(f, "h-mapping", changed(f->mapping, "tk = 12)", "tk = 12, more = 3)"), NST_OUTCOME_PASSED);
  expect(f, "h-mapping", changed(f->mapping, "mapping ans", "const ONE = 1\nmapping helper of gemm on acc { }\nmapping ans"), NST_OUTCOME_PASSED);
  expect(f, "h-workload", changed(f->workload, "A[m, k] * x[k]", "x[k] * A[m, k]"), NST_OUTCOME_PASSED);
  expect(f, "h-model", changed(f->model, "M * N", "N * M + 0 // 7"), NST_OUTCOME_PASSED);
  expect(f, "h-model", changed(f->model, "let n_tiles = ceildiv(N, tn)", "let n_tiles = (N + tn - 1) // tn"), NST_OUTCOME_PASSED);
}

static void wrong_answers_get_partial_credit_and_a_counterexample(void **state) {
  fixture *f = *state;
  char *completion = changed(f->mapping, "for m by tm\n  for n by tn", "for n by tn\n  for m by tm");
  nst_result r = grade(f, "h-mapping", completion, NULL);
  free(completion);
  assert_int_equal(r.outcome, NST_OUTCOME_WRONG);
  assert_true(r.score > 0.3 && r.score < 1);
  assert_true(json_is_true(json_object_get(r.sub, "ops")));
  assert_true(json_is_false(json_object_get(r.sub, "reads@DRAM")));
  json_t *example = json_object_get(r.json, "counterexample");
  assert_string_equal(json_string_value(json_object_get(example, "mapping")), "ans");
  assert_int_equal(json_integer_value(json_object_get(json_object_get(example, "params"), "tm")), 24); /* 32, 16, 12 gives the same */
  json_t *first = json_array_get(json_object_get(example, "figures"), 0);
  assert_non_null(json_object_get(first, "expected"));
  assert_in_range(json_array_size(json_object_get(example, "figures")), 1, 8);
  nst_result_fini(&r);
}

static void the_smallest_failing_point_of_a_model_is_told(void **state) {
  fixture *f = *state;
  char *completion = changed(f->model, "if tk < K then n_tiles else 1", "n_tiles");
  nst_result r = grade(f, "h-model", completion, NULL);
  free(completion);
  assert_int_equal(r.outcome, NST_OUTCOME_WRONG);
  assert_true(r.score > 0.49 && r.score < 0.51);
  assert_true(json_is_true(json_object_get(r.sub, "updates_C")));
  int64_t best = INT64_MAX, told = 0;
  for (int64_t i = 0; i < 200; i++) { /* as in hand.h */
    const int64_t M = 8 + i % 37, N = 5 + 3 * i % 41, K = 4 + 7 * i % 29, tm = 1 + i % 11, tn = 1 + 5 * i % 13, tk = 1 + 3 * i % 31;
    if (tk >= K && hand_ceildiv(N, tn) > 1 && M + N + K + tm + tn + tk < best) best = M + N + K + tm + tn + tk;
  }
  const char *name;
  json_t *value;
  json_object_foreach(json_object_get(json_object_get(r.json, "counterexample"), "params"), name, value) told += json_integer_value(value);
  assert_true(told == best);
  nst_result_fini(&r);
}

static void scores_of_optimization_are_shares_of_the_optimum(void **state) {
  fixture *f = *state;
  char *completion = fenced("mapping ans of gemm on tiny {\n  for m by 12\n  for n by 16\n  keep all in GLB\n}\n");
  nst_result r = grade(f, "h-least", completion, NULL);
  free(completion);
  assert_int_equal(r.outcome, NST_OUTCOME_WRONG);
  /* A once; B again for each of the 8 tiles of m; C once. */
  const double optimum = 96 * 48 + 48 * 64 + 4 * 96 * 64, achieved = 96 * 48 + 8 * 48 * 64 + 4 * 96 * 64;
  assert_true(r.score > optimum / achieved - 1e-12 && r.score < optimum / achieved + 1e-12);
  nst_result_fini(&r);
  expect(f, "h-least", fenced("mapping ans of gemm on tiny {\n  keep all in GLB\n}\n"), NST_OUTCOME_ILLEGAL); /* does not fit */
}

/* A model that asks for more than is allowed, at all points or at one, in an output or in what an output reads; what nothing reads costs nothing. */
static void models_past_a_limit_are_told_so(void **state) {
  fixture *f = *state;
  static const struct { const char *from, *to, *code; } past[] = {
    {"M * N", "M * N + 0 * sum(gcd(a, M) for a in 1 .. 3000000)", "E0904"},
    {"M * N", "M * N + 0 * sum(1 for a in 1 .. 10 ** 18)", "E0904"},
    {"M * N", "M * N + (if M == 44 then 0 * sum(a for a in 1 .. M * 10 ** 6) else 0)", "E0904"},
    {"ceildiv(N, tn)", "ceildiv(N, tn) + 0 * sum(a % 3 for a in 1 .. N * 10 ** 6)", "E0904"},
    {"M * N", "M * N + 0 * sum(sum(gcd(a, b) for a in 1 .. 10 ** 6) for b in 1 .. 10 ** 6)", "E0906"},
  };
  for (size_t i = 0; i < sizeof past / sizeof *past; i++) {
    char *completion = changed(f->model, past[i].from, past[i].to);
    nst_result r = grade(f, "h-model", completion, NULL);
    char *text = nst_record_text(r.json, NULL);
    if (r.outcome != NST_OUTCOME_LIMIT || r.score != 0 || !strstr(text, past[i].code)) fail_msg("%s\nof %s", text, completion);
    free(text), free(completion);
    nst_result_fini(&r);
  }
  expect(f, "h-model", changed(f->model, "let n_tiles", "let more = sum(a for a in 1 .. N * 10 ** 6)\n  let n_tiles"), NST_OUTCOME_PASSED);
  expect(f, "h-model", changed(f->model, "M * N", "M * N / 0"), NST_OUTCOME_WRONG);
}

static void cut_answers_are_no_wrong_answers(void **state) {
  fixture *f = *state;
  static const struct { const char *text, *reason; nst_outcome outcome; } cases[] = {
    {"```nest\nmapping ans(tm = 32, tn", "length", NST_OUTCOME_TRUNCATED},
    {"```nest\nmapping ans(tm = 32, tn", "stop", NST_OUTCOME_SYNTAX},
    {"<think>\nhm", "length", NST_OUTCOME_TRUNCATED},
    {"<think>\nhm", "stop", NST_OUTCOME_NO_ANSWER},
    {"Let me think about", "max_tokens", NST_OUTCOME_TRUNCATED},
    {"Let me think about", NULL, NST_OUTCOME_NO_ANSWER},
    {"```nest\nmapping ans(tm = 32, tn = 16, tk = 12) of gemm on acc {\n  compute\n}\n```\nNow I", "length", NST_OUTCOME_TRUNCATED}, /* a draft */
    {"```nest\nmapping ans(tm = 32, tn = 16, tk = 12) of gemm on acc {\n  compute\n}\n```\nNow I", "stop", NST_OUTCOME_WRONG},
    {"```nest\nmapping other of gemm on acc {\n  compute\n}\n```\n", "max_tokens", NST_OUTCOME_TRUNCATED},
    {"```nest\nmapping other of gemm on acc {\n  compute\n}\n```\n", "stop", NST_OUTCOME_TYPE},
    {"```nest\nmapping of\n```\nOr", "length", NST_OUTCOME_TRUNCATED},
    {"```nest\nmapping of\n```\nOr", "stop", NST_OUTCOME_SYNTAX},
    {"", "content_filter", NST_OUTCOME_REFUSED},
    {"I'm sorry, but I cannot help with this.", "stop", NST_OUTCOME_REFUSED},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nst_result r = grade(f, "h-mapping", cases[i].text, cases[i].reason);
    if (r.outcome != cases[i].outcome) fail_msg("%s: %s", cases[i].text, nst_outcome_name(r.outcome));
    if (r.outcome == NST_OUTCOME_TRUNCATED) /* it earns nothing, and tells nothing */
      assert_true(r.score == 0 && json_object_size(r.sub) == 0 && json_is_null(json_object_get(r.json, "counterexample")));
    nst_result_fini(&r);
  }
  static const struct { const char *task, *text; nst_outcome outcome; } kinds[] = {
    {"h-choice", "Perhaps answer: A", NST_OUTCOME_TRUNCATED}, {"h-choice", "answer: B", NST_OUTCOME_PASSED},
    {"h-numbers", "answer: reads_A = 1, glb = 4096", NST_OUTCOME_TRUNCATED},
    {"h-least", "```nest\nmapping ans of gemm on tiny {\n  keep all in GLB\n}\n```\n", NST_OUTCOME_TRUNCATED}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    nst_result r = grade(f, kinds[i].task, kinds[i].text, "length");
    if (r.outcome != kinds[i].outcome) fail_msg("%s: %s", kinds[i].text, nst_outcome_name(r.outcome));
    nst_result_fini(&r);
  }
  char *whole = fenced(f->mapping);
  whole[strlen(whole) - 4] = '\0'; /* without its closing fence */
  nst_result r = grade(f, "h-mapping", whole, "length");
  assert_true(r.passed);
  assert_true(json_is_true(json_object_get(json_object_get(r.json, "extraction"), "cut")));
  nst_result_fini(&r);
  free(whole);
}

static void messages_have_lines_of_the_answer(void **state) {
  fixture *f = *state;
  char *completion = changed(f->mapping, "par n on PE.x", "par n on PE.z");
  nst_result r = grade(f, "h-mapping", completion, NULL);
  json_t *message = json_array_get(json_object_get(r.json, "diagnostics"), 0);
  assert_int_equal(r.outcome, NST_OUTCOME_TYPE);
  assert_int_equal(json_integer_value(json_object_get(message, "line")), 7);
  assert_non_null(json_object_get(message, "code"));
  nst_result_fini(&r);
  free(completion);
  expect(f, "h-workload", changed(f->workload, "dim m = M, k = K", "dim n = M, k = K"), NST_OUTCOME_TYPE);
}

static void unknown_tasks_and_lost_samples_are_infrastructure(void **state) {
  fixture *f = *state;
  nst_result r = grade(f, "nowhere", "x", NULL);
  assert_int_equal(r.outcome, NST_OUTCOME_INFRA_ERROR);
  assert_string_equal(r.task_id, "nowhere");
  nst_result_fini(&r);
  char error[NST_RECORD_ERROR];
  nst_sample s;
  static const char line[] = "{\"task_id\":\"h-choice\",\"error\":\"503 from the server\"}";
  assert_true(nst_grading_read(&s, line, strlen(line), error));
  nst_grading_run(f->grading, &r, &s, 1);
  assert_int_equal(r.outcome, NST_OUTCOME_INFRA_ERROR);
  nst_sample_fini(&s);
  nst_result_fini(&r);
}

static void lines_that_are_no_utf8_are_read(void **state) {
  (void)state;
  char error[NST_RECORD_ERROR];
  nst_sample s;
  static const char bad[] = "{\"task_id\":\"t\",\"completion\":\"a\xff\xc0\xaf z \\ud800 \\\\ud800 \\udc00\\ud83d\\ude00\"}";
  assert_true(nst_grading_read(&s, bad, sizeof bad - 1, error));
  assert_string_equal(s.completion, "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD z \xEF\xBF\xBD \\ud800 \xEF\xBF\xBD\xF0\x9F\x98\x80");
  nst_sample_fini(&s);
  assert_false(nst_grading_read(&s, "{\"task_id\":\xff}", 13, error));
  assert_true(strlen(error) > 0);
}

/* ---- many ----------------------------------------------------------------- */

enum { MANY = 400 };

static const char *variant(size_t i) {
  static const char *const changes[] = {"for k\n", "for k by 1\n", "for k by 2\n", "for q\n", "for k by 0\n", "for k by 5 }\n", "keep A in RF\n"};
  return changes[i % (sizeof changes / sizeof *changes)];
}

static void make_many(const fixture *f, nst_sample *samples) {
  for (size_t i = 0; i < MANY; i++) {
    char id[16], *text = changed(f->mapping, "for k\n}", "@}"), *at = strchr(text, '@');
    char *whole = malloc(strlen(text) + 64);
    sprintf(whole, "%.*s%s%s", (int)(at - text), text, variant(i), at + 1);
    snprintf(id, sizeof id, "%zu", i);
    samples[i] = sample_of(i % 11 ? "h-mapping" : "h-choice", id, i % 11 ? whole : "answer: B", NULL);
    free(text);
    free(whole);
  }
}

static char *all_text(nst_result *results, size_t n) {
  size_t size = 0;
  char *out = strdup("");
  for (size_t i = 0; i < n; i++) {
    size_t more;
    char *line = nst_record_text(results[i].json, &more);
    out = realloc(out, size + more + 2);
    memcpy(out + size, line, more);
    out[size + more] = '\n';
    out[size += more + 1] = '\0';
    free(line);
    nst_result_fini(&results[i]);
  }
  return out;
}

static char *grade_many(fixture *f) {
  static nst_sample samples[MANY];
  static nst_result results[MANY];
  make_many(f, samples);
  nst_grading_run(f->grading, results, samples, MANY);
  for (size_t i = 0; i < MANY; i++) nst_sample_fini(&samples[i]);
  return all_text(results, MANY);
}

static void any_number_of_workers_gives_the_same_bytes(void **state) {
  fixture *one = begin(1, false), *many = begin(16, false);
  char *a = grade_many(one), *b = grade_many(many), *c = grade_many(*state);
  assert_string_equal(a, b);
  assert_string_equal(a, c);
  assert_null(strstr(a, "infra_error"));
  free(a), free(b), free(c);
  end(one), end(many);
}

/* Kills workers from another process while samples are judged: no result may differ. */
static void killed_workers_change_nothing(void **state) {
  char *expected = grade_many(*state);
  fixture *f = begin(2, false);
  for (int round = 0; round < 6; round++) {
    const pid_t victims[] = {(pid_t)nst_grading_worker(f->grading, 0), (pid_t)nst_grading_worker(f->grading, 1)};
    const pid_t killer = fork();
    if (killer == 0) {
      usleep((useconds_t)(round * 1500));
      if (victims[round & 1] > 0) kill(victims[round & 1], SIGKILL); /* 0: it has died and nothing was left to do */
      _exit(0);
    }
    char *got = grade_many(f);
    assert_string_equal(got, expected);
    free(got);
    waitpid(killer, NULL, 0);
  }
  end(f);
  free(expected);
}

static void a_stopped_worker_is_replaced(void **state) {
  char *expected = grade_many(*state);
  fixture *f = begin(2, false);
  nst_grading_set_watchdog(f->grading, 300);
  kill(nst_grading_worker(f->grading, 0), SIGSTOP);
  char *got = grade_many(f);
  assert_string_equal(got, expected);
  free(got), free(expected);
  end(f);
}

/* Waits until a worker has ended; whoever stops it still learns how. */
static void await_end(pid_t pid) {
  siginfo_t info;
  assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

/* One that dies while it has nothing to do costs no answer anything. */
static void a_worker_that_dies_idle_costs_nothing(void **state) {
  (void)state;
  static const int signals[] = {SIGSEGV, SIGKILL, SIGABRT, SIGBUS, SIGTERM};
  fixture *f = begin(1, false);
  for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
    expect(f, "h-mapping", fenced(f->mapping), NST_OUTCOME_PASSED);
    const pid_t pid = (pid_t)nst_grading_worker(f->grading, 0);
    if (!pid) continue; /* it has retired */
    kill(pid, signals[i]);
    await_end(pid);
    expect(f, "h-mapping", fenced(f->mapping), NST_OUTCOME_PASSED);
  }
  end(f);
}

/* Both processes judge at the same time, each its own samples; the one that was forked off ends the grader, and the other's workers live. */
static void a_forked_process_has_workers_of_its_own(void **state) {
  char *expected = grade_many(*state);
  fixture *f = begin(2, false);
  const int ours[] = {nst_grading_worker(f->grading, 0), nst_grading_worker(f->grading, 1)};
  const pid_t child = fork();
  if (child == 0) {
    bool good = true;
    char *completion = changed(f->mapping, "for k\n}", "for q\n}");
    for (int i = 0; good && i < 100; i++) {
      nst_result r = grade(f, "h-mapping", completion, NULL);
      good = r.outcome == NST_OUTCOME_TYPE;
      nst_result_fini(&r);
    }
    for (int i = 0; i < 2; i++) good = good && nst_grading_worker(f->grading, i) != ours[i];
    end(f);
    _exit(!good);
  }
  for (int i = 0; i < 5; i++) {
    char *got = grade_many(f);
    assert_string_equal(got, expected);
    free(got);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  /* Under sanitizers workers are soon large, and retire. */
#ifndef NST_SANITIZED
  for (int i = 0; i < 2; i++) {
    siginfo_t info = {0};
    assert_int_equal(nst_grading_worker(f->grading, i), ours[i]);
    assert_int_equal(waitid(P_PID, (id_t)ours[i], &info, WEXITED | WNOHANG | WNOWAIT), 0);
    assert_int_equal(info.si_pid, 0); /* it has not ended */
  }
#endif
  end(f);
  free(expected);
}

static void a_missing_worker_is_told(void **state) {
  (void)state;
  char error[NST_RECORD_ERROR];
  assert_null(nst_grading_new(&(nst_grading_options){1, "/nowhere/nestor-grade-worker", false}, error));
  assert_non_null(strstr(error, "/nowhere/nestor-grade-worker"));
  assert_null(nst_grading_new(&(nst_grading_options){1, "/bin/true", false}, error));
  assert_non_null(strstr(error, "ended before it said anything"));
}

static void add_with_floor(void *context, json_t *task_json, json_t *key_json) {
  const char *id = json_string_value(json_object_get(key_json, "task_id"));
  if (!strcmp(id, "h-numbers")) json_object_set_new(key_json, "floor", json_real(0.25));
  if (!strcmp(id, "h-model")) json_object_set_new(key_json, "floor", json_real(0.5));
  if (!strcmp(id, "h-mapping")) json_object_set_new(key_json, "floor", json_real(0.999));
  add(context, task_json, key_json);
}

static void the_floor_is_worth_nothing(void **state) {
  (void)state;
  char error[NST_RECORD_ERROR];
  fixture *f = calloc(1, sizeof *f);
  f->grading = nst_grading_new(&(nst_grading_options){1, NULL, false}, error);
  if (!f->grading) fail_msg("%s", error);
  hand_tasks(add_with_floor, f);
  char *whole = fenced(f->mapping);
  const char *one = "```nest\nmodel ans(M, N, K, tm, tn, tk) {\n  out updates_C = M * N\n  out reads_A = 0\n}\n```\n";
  const char *other = "```nest\nmapping ans(tm = 32, tn = 16, tk = 12) of gemm on acc {\n  compute\n}\n```\n";
  const struct { const char *task, *text; double score; size_t right; } cases[] = {
    {"h-numbers", "answer: reads_A = 18432, glb = 4096", 1, 2}, /* what passes is 1 */
    {"h-numbers", "answer: reads_A = 18432, glb = 1", 1. / 3, 1},
    {"h-numbers", "answer: reads_A = 1, glb = 1", 0, 0}, /* below the floor */
    {"h-model", one, 0, 1}, /* at the floor */
    {"h-mapping", whole, 1, SIZE_MAX}, {"h-mapping", other, 0, SIZE_MAX}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nst_result r = grade(f, cases[i].task, cases[i].text, NULL);
    if (r.score < cases[i].score - 1e-12 || r.score > cases[i].score + 1e-12 || r.passed != (cases[i].score >= 1))
      fail_msg("%s: %g, not %g", cases[i].text, r.score, cases[i].score);
    const char *name;
    json_t *right;
    size_t n = 0;
    json_object_foreach(r.sub, name, right) n += json_is_true(right);
    if (cases[i].right != SIZE_MAX) assert_int_equal(n, cases[i].right); /* which is as it was */
    nst_result_fini(&r);
  }
  free(whole);
  end(f);
}

static void floors_are_checked(void **state) {
  (void)state;
  static const char *const floors[] = {"1", "-0.1", "\"0\"", "2e300"};
  for (size_t i = 0; i < sizeof floors / sizeof *floors; i++) {
    char error[NST_RECORD_ERROR], line[256], task_line[512], commit[65];
    fixture *f = calloc(1, sizeof *f);
    f->grading = nst_grading_new(&(nst_grading_options){1, NULL, false}, error);
    static const char task_text[] = "{\"schema\":\"nestor.task/1\",\"task_id\":\"t\",\"suite\":\"s\",\"version\":1,\"split\":\"dev\","
                                    "\"kind\":\"qa.compare\",\"level\":1,\"seed\":1,\"cluster\":\"c\",\"messages\":[],\"spec\":{\"answer\":"
                                    "\"choice\",\"choices\":[\"A\"]},\"limits\":{},\"answer_commit\":\"%s\",\"content_hash\":\"\",\"canary\":\"\"}";
    nst_task task;
    nst_key key;
    nst_answer_commit(commit, "s", "A");
    snprintf(task_line, sizeof task_line, task_text, commit);
    if (!nst_task_parse(&task, task_line, strlen(task_line), error)) fail_msg("%s", error);
    assert_true(nst_grading_add_task(f->grading, &task, error));
    snprintf(line, sizeof line,
             "{\"schema\":\"nestor.key/1\",\"task_id\":\"t\",\"salt\":\"s\",\"answer\":\"A\",\"choice\":\"A\",\"floor\":%s}", floors[i]);
    assert_true(nst_key_parse(&key, line, strlen(line), error));
    assert_false(nst_grading_add_key(f->grading, &key, error));
    assert_non_null(strstr(error, "floor"));
    end(f);
  }
}

static void keys_are_checked(void **state) {
  fixture *f = *state;
  char error[NST_RECORD_ERROR];
  nst_key key;
  static const char again[] = "{\"schema\":\"nestor.key/1\",\"task_id\":\"h-choice\",\"salt\":\"s\",\"answer\":\"B\",\"choice\":\"B\"}";
  assert_true(nst_key_parse(&key, again, strlen(again), error));
  assert_false(nst_grading_add_key(f->grading, &key, error));
  static const char lost[] = "{\"schema\":\"nestor.key/1\",\"task_id\":\"none\",\"salt\":\"s\",\"answer\":\"B\"}";
  assert_true(nst_key_parse(&key, lost, strlen(lost), error));
  assert_false(nst_grading_add_key(f->grading, &key, error));
}

/* Tasks of two seeds have the same names: their commits tell which key is whose, and their hashes whose a result is. */
static void keys_and_results_are_of_one_task(void **state) {
  static const char task_text[] = "{\"schema\":\"nestor.task/1\",\"task_id\":\"t\",\"suite\":\"s\",\"version\":1,\"split\":\"dev\","
                                  "\"kind\":\"qa.compare\",\"level\":1,\"seed\":1,\"cluster\":\"c\",\"messages\":[],\"spec\":{\"answer\":"
                                  "\"choice\",\"choices\":[\"A\",\"B\"]},\"limits\":{},\"answer_commit\":\"%s\",\"content_hash\":\"h1\",\"canary\":\"\"}";
  static const struct { const char *salt, *answer; bool good; } keys[] = {{"s", "A", true}, {"s", "B", false}, {"r", "A", false}};
  (void)state;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    char error[NST_RECORD_ERROR] = "", line[512], commit[65];
    fixture *f = calloc(1, sizeof *f);
    f->grading = nst_grading_new(&(nst_grading_options){1, NULL, false}, error);
    nst_task task;
    nst_key key;
    nst_answer_commit(commit, "s", "A");
    snprintf(line, sizeof line, task_text, commit);
    if (!nst_task_parse(&task, line, strlen(line), error)) fail_msg("%s", error);
    assert_true(nst_grading_add_task(f->grading, &task, error));
    snprintf(line, sizeof line, "{\"schema\":\"nestor.key/1\",\"task_id\":\"t\",\"salt\":\"%s\",\"answer\":\"%s\",\"choice\":\"%s\"}", keys[i].salt,
             keys[i].answer, keys[i].answer);
    assert_true(nst_key_parse(&key, line, strlen(line), error));
    assert_int_equal(nst_grading_add_key(f->grading, &key, error), keys[i].good);
    if (!keys[i].good) assert_non_null(strstr(error, "give the key that `nestor bench gen` wrote with these tasks"));
    nst_result r = grade(f, "t", "answer: A", NULL);
    assert_int_equal(r.outcome, keys[i].good ? NST_OUTCOME_PASSED : NST_OUTCOME_INFRA_ERROR);
    assert_string_equal(json_string_value(json_object_get(r.json, "content_hash")), "h1");
    nst_result_fini(&r);
    end(f);
  }
}

static void timing_is_told_only_where_it_is_asked_for(void **state) {
  fixture *f = begin(1, true);
  char *text = fenced(f->mapping);
  nst_result r = grade(f, "h-mapping", text, NULL), plain = grade(*state, "h-mapping", text, NULL);
  assert_true(json_number_value(json_object_get(r.json, "grade_us")) > 0);
  assert_null(json_object_get(plain.json, "grade_us"));
  nst_result_fini(&r), nst_result_fini(&plain);
  free(text);
  end(f);
}

/* ---- the worker's walls --------------------------------------------------- */

/* A file of /proc, its NULs as blanks; NULL: it may not be read. */
static char *proc_file(int pid, const char *name) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
  FILE *f = fopen(path, "r");
  if (!f) return NULL;
  char *text = calloc(1, 8192);
  const size_t n = fread(text, 1, 8191, f);
  for (size_t i = 0; i < n; i++)
    if (!text[i]) text[i] = ' ';
  fclose(f);
  return text;
}

static void has_limit(const char *limits, const char *name, const char *value) {
  const char *at = strstr(limits, name);
  assert_non_null(at);
  at += strlen(name);
  at += strspn(at, " ");
  if (strncmp(at, value, strlen(value)) != 0) fail_msg("%s is %.30s, not %s", name, at, value);
}

static void workers_are_shut_in(void **state) {
  fixture *f = *state;
  const int pid = nst_grading_worker(f->grading, 0);
  assert_int_equal(getpgid(pid), pid);
  char *limits = proc_file(pid, "limits"), *status = proc_file(pid, "status"), *environment = proc_file(pid, "environ");
  assert_non_null(limits);
  assert_non_null(status);
  has_limit(limits, "Max core file size", "0 ");
  has_limit(limits, "Max file size", "0 ");
  has_limit(limits, "Max processes", "0 ");
  has_limit(limits, "Max cpu time", "600 ");
  assert_non_null(strstr(status, "NoNewPrivs:\t1"));
#ifndef NST_SANITIZED
  has_limit(limits, "Max open files", "1 ");
  has_limit(limits, "Max address space", "1073741824 ");
  assert_non_null(strstr(status, "Seccomp:\t2"));
#endif
  if (environment) assert_true(strspn(environment, " ") == strlen(environment)); /* read by root alone */
  free(limits), free(status), free(environment);
}

/* ---- frames --------------------------------------------------------------- */

static void frames_that_lie_are_refused(void **state) {
  (void)state;
  nst_wire w = {0};
  const size_t begin_at = nst_wire_begin(&w, 7);
  nst_wire_text(&w, "abc", 3);
  nst_wire_u64(&w, 5);
  nst_wire_end(&w, begin_at);
  nst_wire_reader r;
  uint32_t number;
  for (size_t i = 0; i < w.size; i++) assert_int_equal(nst_wire_frame(&r, &number, w.bytes, i), 0);
  assert_int_equal(nst_wire_frame(&r, &number, w.bytes, w.size), w.size);
  assert_int_equal(number, 7);
  size_t size;
  assert_memory_equal(nst_wire_get_text(&r, &size), "abc", 3);
  assert_true(nst_wire_get_u64(&r) == 5 && r.ok);
  nst_wire_get_u8(&r);
  assert_false(r.ok);
  nst_wire_frame(&r, &number, w.bytes, w.size);
  w.bytes[NST_WIRE_HEAD] = 0xff; /* the text's length */
  nst_wire_get_text(&r, &size);
  assert_false(r.ok);
  memset(w.bytes, 0xff, 4);
  assert_true(nst_wire_frame(&r, &number, w.bytes, w.size) == SIZE_MAX);
  nst_wire_fini(&w);
}

static int setup(void **state) { return *state = begin(2, false), 0; }
static int teardown(void **state) { return end(*state), 0; }

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(reference_answers_pass),
    cmocka_unit_test(equivalent_programs_pass),
    cmocka_unit_test(wrong_answers_get_partial_credit_and_a_counterexample),
    cmocka_unit_test(the_smallest_failing_point_of_a_model_is_told),
    cmocka_unit_test(scores_of_optimization_are_shares_of_the_optimum),
    cmocka_unit_test(models_past_a_limit_are_told_so),
    cmocka_unit_test(cut_answers_are_no_wrong_answers),
    cmocka_unit_test(the_floor_is_worth_nothing),
    cmocka_unit_test(floors_are_checked),
    cmocka_unit_test(messages_have_lines_of_the_answer),
    cmocka_unit_test(unknown_tasks_and_lost_samples_are_infrastructure),
    cmocka_unit_test(lines_that_are_no_utf8_are_read),
    cmocka_unit_test(any_number_of_workers_gives_the_same_bytes),
    cmocka_unit_test(killed_workers_change_nothing),
    cmocka_unit_test(a_stopped_worker_is_replaced),
    cmocka_unit_test(a_worker_that_dies_idle_costs_nothing),
    cmocka_unit_test(a_forked_process_has_workers_of_its_own),
    cmocka_unit_test(a_missing_worker_is_told),
    cmocka_unit_test(keys_are_checked),
    cmocka_unit_test(keys_and_results_are_of_one_task),
    cmocka_unit_test(timing_is_told_only_where_it_is_asked_for),
    cmocka_unit_test(workers_are_shut_in),
    cmocka_unit_test(frames_that_lie_are_refused),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
