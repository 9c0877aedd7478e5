/* The report over run files in memory: denominators, systems, runs, revisions, what is never shown. */
#include "tests/unit/test.h"

#include "bench/report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char error[NST_REPORT_ERROR];

static nst_runfile *begin(const char *model, const char *grammar, const char *samples) {
  nst_runfile *run = nst_runfile_memory(error);
  assert_non_null(run);
  assert_true(nst_runfile_put(run, "model", model, error));
  char sampling[100]; /* as the client writes it */
  snprintf(sampling, sizeof sampling, "{\"temperature\":0.8%s%s%s}", grammar ? ",\"grammar\":\"" : "",
           grammar ? grammar : "", grammar ? "\",\"grammar_hash\":\"x\"" : "");
  assert_true(nst_runfile_put(run, "sampling", sampling, error));
  if (samples) assert_true(nst_runfile_put(run, "samples", samples, error));
  return run;
}

/* raises: NULL, or the trait of its level. */
static void put_raised(nst_runfile *run, int i, const char *kind, int level, const char *split, const char *hash,
                       const char *raises) {
  char line[600];
  const int size = snprintf(
    line, sizeof line,
    "{\"schema\":\"nestor.task/1\",\"task_id\":\"t%d\",\"suite\":\"s\",\"version\":1,\"split\":\"%s\","
    "\"kind\":\"%s\",\"level\":%d,\"seed\":%d,\"cluster\":\"c%d\",\"messages\":[],\"spec\":{\"answer\":\"program\"%s%s%s},"
    "\"dsl_version\":\"1\",\"limits\":{},\"answer_commit\":\"a\",\"content_hash\":\"%s\",\"canary\":\"x\"}",
    i, split, kind, level, i, i, raises ? ",\"raises\":\"" : "", raises ? raises : "", raises ? "\"" : "", hash);
  nst_task task;
  char why[NST_RECORD_ERROR];
  assert_true(nst_task_parse(&task, line, (size_t)size, why));
  assert_true(nst_runfile_put_task(run, (size_t)i, &task, error));
  nst_task_fini(&task);
}

static void put_task(nst_runfile *run, int i, const char *kind, int level, const char *split, const char *hash) {
  put_raised(run, i, kind, level, split, hash, NULL);
}

/* outcome NULL: not graded. */
static void put_sample(nst_runfile *run, int task, const char *id, const char *parent, const char *outcome,
                       const char *completion) {
  char line[900];
  int size = snprintf(line, sizeof line, "{\"task_id\":\"t%d\",\"sample_id\":\"%s\",\"%s\":\"%s\"%s%s%s}", task, id,
                      outcome && !strcmp(outcome, "infra_error") ? "error" : "completion", completion,
                      parent ? ",\"parent_sample_id\":\"" : "", parent ? parent : "", parent ? "\"" : "");
  nst_sample sample;
  char why[NST_RECORD_ERROR];
  assert_true(nst_sample_parse(&sample, line, (size_t)size, why));
  assert_true(nst_runfile_put_sample(run, &sample, "hash", error));
  nst_sample_fini(&sample);
  if (!outcome) return;
  const bool passed = !strcmp(outcome, "passed");
  size = snprintf(line, sizeof line,
                  "{\"schema\":\"nestor.result/"
                  "1\",\"task_id\":\"t%d\",\"sample_id\":\"%s\",\"passed\":%s,\"outcome\":\"%s\",\"score\":%s,"
                  "\"sub\":{\"reads@DRAM/A\":%s,\"fits\":true},\"counterexample\":%s}",
                  task, id, passed ? "true" : "false", outcome, passed ? "1" : "0.5", passed ? "true" : "false",
                  passed ? "null"
                         : "{\"mapping\":\"ans\",\"params\":{\"tm\":8},\"figures\":[{\"name\":\"reads@DRAM/"
                           "A\",\"expected\":4711,\"got\":815}]}");
  nst_result result;
  assert_true(nst_result_parse(&result, line, (size_t)size, why));
  assert_true(nst_runfile_put_result(run, &result, error));
  nst_result_fini(&result);
}

static void add(nst_report *report, const char *name, nst_runfile *run) {
  if (!nst_report_add(report, name, run, error)) fail_msg("%s", error);
  nst_runfile_free(run);
}

typedef void form(nst_report *report, nestor_buffer *out);
static nestor_buffer *write(nst_report *report, form *as) {
  nestor_buffer *out = nestor_buffer_new();
  as(report, out);
  return out;
}

static bool has(const nestor_buffer *text, const char *part) { return strstr(nestor_buffer_data(text), part) != NULL; }
static void expect(const nestor_buffer *text, const char *part) {
  if (!has(text, part)) fail_msg("\"%s\" is not in:\n%s", part, nestor_buffer_data(text));
}

/* The figure at a path of members and indices, as "models.0.pass_at_1.mean". */
static double figure(const json_t *json, const char *path) {
  char key[80];
  while (*path) {
    const size_t n = strcspn(path, "/");
    snprintf(key, sizeof key, "%.*s", (int)n, path);
    json = json_is_array(json) ? json_array_get(json, (size_t)strtoul(key, NULL, 10)) : json_object_get(json, key);
    path += n + (path[n] == '/');
  }
  if (json_is_null(json)) return NAN;
  if (!json_is_number(json)) fail_msg("no number at %s", key);
  return json_number_value(json);
}

static json_t *data_of(nst_report *report) {
  nestor_buffer *out = write(report, nst_report_json);
  json_t *json = json_loads(nestor_buffer_data(out), 0, NULL);
  assert_non_null(json);
  nestor_buffer_free(out);
  return json;
}

static nst_report *new_report(void) { return nst_report_new(&(nst_report_options){.examples = 5}); }

/* 80 passes, 10 failures, 10 errors. */
static void errors_stay_in_the_denominator(void **state) {
  (void)state;
  nst_runfile *run = begin("m", NULL, "1");
  for (int i = 0; i < 100; i++) {
    put_task(run, i, "gen.mapping", 1 + i % 5, "dev", "h");
    put_sample(run, i, "0", NULL, i < 80 ? "passed" : i < 90 ? "wrong" : "infra_error", "x");
  }
  nst_report *report = new_report();
  add(report, "m.db", run);
  json_t *data = data_of(report);
  assert_true(fabs(figure(data, "models/0/pass_at_1/mean") - 0.8) < 1e-9);
  assert_true(isnan(figure(data, "models/0/pass_at_1/interval/0")) && isnan(figure(data, "models/0/pass_at_1/error")));
  assert_true(fabs(figure(data, "models/0/bounds/1") - 0.9) < 1e-9 && figure(data, "models/0/unanswered_tasks") == 10);
  assert_true(figure(data, "models/0/pass_at_1_outstanding_excluded/interval/0") > 0.7);
  assert_true(fabs(figure(data, "models/0/pass_at_1_outstanding_excluded/mean") - 80.0 / 90) < 1e-9);
  assert_true(figure(data, "models/0/samples") == 100 && figure(data, "models/0/outstanding") == 10);
  assert_true(figure(data, "models/0/outcomes/wrong") == 10 && figure(data, "models/0/outcomes/infra_error") == 10);
  json_decref(data);
  nestor_buffer *text = write(report, nst_report_text), *html = write(report, nst_report_html);
  expect(text, ">= 0.800     incomplete");
  expect(text, "NO SCORE YET: 10 of 100 tasks have no answer; pass@1 will be from 0.800 to 0.900");
  expect(text, "10 infrastructure errors: incomplete, to redo");
  /* 0.889 stands under its label, not before it. */
  const char *label = strstr(nestor_buffer_data(text), "Errors excluded (not the score");
  assert_non_null(label);
  const char *other = strstr(nestor_buffer_data(text), "0.889");
  assert_true(other && other > label);
  expect(html, "10 infrastructure errors: incomplete, to redo");
  nestor_buffer_free(text);
  nestor_buffer_free(html);
  nst_report_free(report);
}

static void what_is_missing_or_not_graded_is_outstanding(void **state) {
  (void)state;
  nst_runfile *run = begin("m", NULL, "4");
  for (int i = 0; i < 2; i++) put_task(run, i, "qa.predict", 1, "dev", "h");
  put_sample(run, 0, "0", NULL, "passed", "x");
  put_sample(run, 0, "1", NULL, "passed", "y");
  put_sample(run, 0, "2", NULL, NULL, "z");
  nst_report *report = new_report();
  add(report, "m.db", run);
  assert_int_equal(nst_report_ungraded(report), 1);
  json_t *data = data_of(report);
  assert_true(figure(data, "models/0/pass_at_1/mean") == 0.25); /* 2 of 4, and 0 of 4 */
  assert_true(figure(data, "models/0/pass_at_1_outstanding_excluded/mean") == 1);
  assert_true(figure(data, "models/0/outcomes/missing") == 5);
  assert_true(figure(data, "models/0/pass_at_1/tasks") == 2);
  json_decref(data);
  nestor_buffer *text = write(report, nst_report_text);
  expect(text, "1 not graded, 5 missing: incomplete, to redo");
  nestor_buffer_free(text);
  nst_report_free(report);
}

/* 97 of 600 answers came, in order: what came is no sample of the tasks, so nothing is said of them all. */
static void an_unfinished_run_has_no_interval(void **state) {
  (void)state;
  nst_runfile *run = begin("m", NULL, "3");
  for (int i = 0; i < 200; i++) put_task(run, i, i < 100 ? "qa.compare" : "repair", 1, "dev", "h");
  for (int i = 0; i < 97; i++) put_sample(run, i, "0", NULL, "passed", "x");
  nst_report *report = new_report();
  add(report, "m.db", run);
  json_t *data = data_of(report);
  assert_true(fabs(figure(data, "models/0/bounds/0") - 97.0 / 600) < 1e-9 && figure(data, "models/0/bounds/1") == 1);
  static const char *const withheld[] = {"pass_at_1/interval/0",
                                         "pass_at_1/interval/1",
                                         "pass_at_1/error",
                                         "score/interval/0",
                                         "pass_at_1_outstanding_excluded/interval/0",
                                         "by_kind_and_level/0/interval/0",
                                         "pass_at_k/1"};
  for (size_t i = 0; i < sizeof withheld / sizeof *withheld; i++) {
    char path[80];
    snprintf(path, sizeof path, "models/0/%s", withheld[i]);
    if (!isnan(figure(data, path))) fail_msg("%s", path);
  }
  json_decref(data);
  form *const forms[] = {nst_report_text, nst_report_html};
  for (int i = 0; i < 2; i++) {
    nestor_buffer *out = write(report, forms[i]);
    expect(out, "incomplete");
    expect(out, "NO SCORE YET: 103 of 200 tasks have no answer; pass@1 will be from 0.162 to 1.000");
    nestor_buffer_free(out);
  }
  nst_report_free(report);
}

/* Two that are always and never right, and p beside the interval. */
static void differences_have_errors(void **state) {
  (void)state;
  nst_report *report = new_report();
  for (int file = 0; file < 3; file++) {
    nst_runfile *run = begin(file == 0 ? "all" : file == 1 ? "none" : "some", NULL, "1");
    for (int i = 0; i < 30; i++) {
      put_task(run, i, "repair", 2, "dev", "h");
      put_sample(run, i, "0", NULL, file == 0 || (file == 2 && i % 6 == 0) ? "passed" : "wrong", "x");
    }
    add(report, "x.run", run);
  }
  json_t *data = data_of(report);
  assert_true(figure(data, "pairs/0/difference/mean") == 1);
  assert_true(figure(data, "pairs/0/difference/interval/0") < 0.9 &&
              figure(data, "pairs/0/difference/interval/1") == 1);
  assert_true(figure(data, "pairs/0/difference/error") > 0.01);
  for (int i = 0; i < 3; i++) {
    char path[80];
    snprintf(path, sizeof path, "pairs/%d/p", i);
    const double p = figure(data, path);
    snprintf(path, sizeof path, "pairs/%d/p_holm", i);
    assert_true(figure(data, path) >= p && figure(data, path) <= 3 * p);
    snprintf(path, sizeof path, "pairs/%d/difference/interval/0", i);
    const double low = figure(data, path);
    snprintf(path, sizeof path, "pairs/%d/difference/interval/1", i);
    assert_int_equal(p<0.05, low> 0 || figure(data, path) < 0);
  }
  json_decref(data);
  nestor_buffer *text = write(report, nst_report_text), *html = write(report, nst_report_html);
  expect(text, "p (Holm): p among the 3 comparisons of this report");
  expect(html, ">minus none<");
  assert_true(strstr(nestor_buffer_data(html), "id=\"pairs\"") < strstr(nestor_buffer_data(html), "id=\"kinds-0\""));
  nestor_buffer_free(text);
  nestor_buffer_free(html);
  nst_report_free(report);
}

static void k_needs_samples(void **state) {
  (void)state;
  nst_runfile *run = begin("m", NULL, NULL);
  put_task(run, 0, "qa.compare", 1, "dev", "h");
  put_sample(run, 0, "0", NULL, "wrong", "x");
  put_sample(run, 0, "1", NULL, "passed", "x");
  const uint64_t ks[] = {1, 2, 5};
  nst_report *report = nst_report_new(&(nst_report_options){.ks = ks, .nks = 3});
  add(report, "m.db", run);
  json_t *data = data_of(report);
  assert_true(figure(data, "models/0/pass_at_k/1") == 0.5);
  assert_true(figure(data, "models/0/pass_at_k/2") == 1);
  assert_true(figure(data, "models/0/pass_hat_k/2") == 0);
  assert_true(isnan(figure(data, "models/0/pass_at_k/5")) && isnan(figure(data, "models/0/pass_hat_k/5")));
  json_decref(data);
  nestor_buffer *text = write(report, nst_report_text);
  expect(text, "a task has fewer than k samples");
  nestor_buffer_free(text);
  nst_report_free(report);
}

/* Right answers, refusals and empty ones are alike by nature; wrong ones at most tasks are not. */
static void alike_answers_are_told_of_where_they_say_something(void **state) {
  (void)state;
  static const char *const outcomes[] = {"passed", "refused", "wrong", "syntax", "wrong"};
  for (int how = 0; how < 5; how++) {
    nst_runfile *run = begin("m", NULL, NULL);
    for (int i = 0; i < 5; i++) {
      put_task(run, i, "gen.workload", 1, "dev", "h");
      for (int k = 0; k < 3; k++) {
        char id[2] = {(char)('0' + k), '\0'}, text[2] = {(char)('a' + (how == 4 && i < 3 ? k : 0)), '\0'};
        put_sample(run, i, id, NULL, outcomes[how], text);
      }
    }
    nst_report *report = new_report();
    add(report, "m.run", run);
    nestor_buffer *out = write(report, nst_report_text);
    assert_int_equal(has(out, "is something cached?"), how == 2 || how == 3);
    if (how == 2) expect(out, "all answers that do not pass are the same text at 5 of 5 tasks, at temperature 0.8");
    nestor_buffer_free(out);
    nst_report_free(report);
  }
}

/* Answers that hold none are shown by their beginning, made harmless; what decides what a score is worth stands there. */
static void what_was_said_in_place_of_an_answer_is_shown(void **state) {
  (void)state;
  nst_runfile *run = begin("m", NULL, "1");
  char long_text[301];
  memset(long_text, 'z', sizeof long_text - 1);
  long_text[sizeof long_text - 1] = '\0';
  put_task(run, 0, "gen.mapping", 1, "dev", "h");
  put_task(run, 1, "gen.mapping", 2, "test", "h");
  put_task(run, 2, "repair", 2, "test", "h");
  put_sample(run, 0, "0", NULL, "refused", "I <i>cannot</i>\\u001b[2J help");
  put_sample(run, 1, "0", NULL, "no_answer", long_text);
  put_sample(run, 2, "0", NULL, "no_answer", "");
  nst_report *report = new_report();
  add(report, "m.run", run);
  nestor_buffer *text = write(report, nst_report_text), *html = write(report, nst_report_html);
  expect(text, "the answer: I <i>cannot</i><U+001B>[2J help\n");
  expect(html, "I &lt;i&gt;cannot&lt;/i&gt;&lt;U+001B&gt;[2J help");
  expect(text, "the answer is empty\n");
  long_text[199] = '\0';
  expect(text, long_text);
  assert_false(has(text, "zz\n"));
  expect(text, "dev, test");
  expect(html, "dev, test");
  nestor_buffer_free(text);
  nestor_buffer_free(html);
  nst_report_free(report);
}

/* Two files of one model are runs of it; with a grammar it is another system, compared with the first. */
static void files_of_one_model_are_its_runs(void **state) {
  (void)state;
  nst_report *report = new_report();
  for (int file = 0; file < 3; file++) {
    nst_runfile *run = begin("m", file == 2 ? "gbnf" : NULL, "1");
    for (int i = 0; i < 10; i++) {
      put_task(run, i, "repair", 2, "dev", "h");
      put_sample(run, i, "0", NULL, i < 4 + 2 * file ? "passed" : "syntax", "x");
    }
    char name[20];
    snprintf(name, sizeof name, "run%d.db", file);
    add(report, name, run);
  }
  json_t *data = data_of(report);
  assert_int_equal(json_array_size(json_object_get(data, "models")), 2);
  assert_true(fabs(figure(data, "models/0/pass_at_1/mean") - 0.5) < 1e-12);
  assert_true(figure(data, "models/0/repetition/n") == 2);
  assert_true(fabs(figure(data, "models/0/repetition/sd") - sqrt(0.02)) < 1e-9); /* of 0.4 and 0.6 */
  assert_true(fabs(figure(data, "models/1/pass_at_1/mean") - 0.8) < 1e-12);
  assert_true(fabs(figure(data, "pairs/0/difference/mean") + 0.3) < 1e-9);
  assert_true(figure(data, "pairs/0/second_better") == 4 &&
              figure(data, "pairs/0/equal") == 6); /* 4 and 5 are half right without */
  assert_true(json_is_true(json_object_get(json_array_get(json_object_get(data, "pairs"), 0), "by_grammar")));
  json_decref(data);
  nestor_buffer *text = write(report, nst_report_text);
  expect(text, "Free against grammar-constrained decoding");
  expect(text, "m (grammar: gbnf)");
  assert_false(has(text, "Two models, task by task"));
  nestor_buffer_free(text);
  nst_report_free(report);
}

/* What identifies a run is shown, and what makes runs unlike is told. */
static void unlike_files_are_told_of(void **state) {
  (void)state;
  nst_report *report = new_report();
  for (int file = 0; file < 2; file++) {
    nst_runfile *run = begin(file ? "b" : "a", NULL, "1");
    assert_true(nst_runfile_put(run, "tasks_hash", file ? "1234" : "abcd", error));
    assert_true(nst_runfile_put(run, "tasks_total", "9", error));
    put_task(run, file, "repair", 2, "dev", "h");
    put_sample(run, file, "0", NULL, "passed", "x");
    add(report, "x.run", run);
  }
  json_t *data = data_of(report);
  nestor_buffer *text = write(report, nst_report_text);
  for (int file = 0; file < 2; file++) { /* of the tasks that are there, whatever is said of the whole */
    json_t *facts = json_object_get(json_array_get(json_object_get(data, "files"), (size_t)file), "facts");
    const char *hash = json_string_value(json_object_get(facts, "tasks_hash"));
    assert_int_equal(strlen(hash), 64);
    expect(text, hash);
  }
  json_decref(data);
  assert_false(has(text, "abcd"));
  expect(text, "a: only the first 1 of 9 tasks were asked: no score of the suite");
  expect(text, "first 1 of 9");
  expect(text, "the files are of different sets of tasks");
  assert_false(has(text, "different versions of the grader"));
  assert_false(has(text, "task by task")); /* no task is of both */
  nestor_buffer_free(text);
  nst_report_free(report);
}

static void revisions_are_rounds(void **state) {
  (void)state;
  nst_runfile *run = begin("m", NULL, "1");
  for (int i = 0; i < 4; i++) put_task(run, i, "gen.model", 3, "dev", "h");
  static const char *const rounds[4][3] = {{"wrong", "passed", "passed"},
                                           {"wrong", "wrong", "passed"},
                                           {"passed", "wrong", "wrong"},
                                           {"passed", "passed", NULL}};
  for (int i = 0; i < 4; i++) {
    put_sample(run, i, "0", NULL, rounds[i][0], "x");
    put_sample(run, i, "0r1", "0", rounds[i][1], "x");
    if (rounds[i][2]) put_sample(run, i, "0r2", "0r1", rounds[i][2], "x");
  }
  nst_report *report = new_report();
  add(report, "m.db", run);
  json_t *data = data_of(report);
  assert_true(figure(data, "models/0/pass_at_1/mean") == 0.5); /* of first answers alone */
  assert_true(figure(data, "models/0/rounds/0/samples") == 4 && figure(data, "models/0/rounds/0/fixed") == 1);
  assert_true(figure(data, "models/0/rounds/0/parents_failed") == 2 && figure(data, "models/0/rounds/0/broken") == 1);
  /* Wilson of 1 of 2 */
  assert_true(fabs(figure(data, "models/0/rounds/0/fixed_interval/0") - 0.0945) < 1e-4);
  assert_true(fabs(figure(data, "models/0/rounds/0/broken_interval/1") - 0.9055) < 1e-4);
  assert_true(figure(data, "models/0/rounds/1/samples") == 3 && figure(data, "models/0/rounds/1/fixed") == 1);
  assert_true(figure(data, "models/0/rounds/1/broken") == 0);
  json_decref(data);
  nst_report_free(report);
}

static void texts_of_models_are_harmless_and_hidden_tasks_stay_hidden(void **state) {
  (void)state;
  nst_runfile *run = begin("<b>\\u0007", NULL, "1");
  assert_true(nst_runfile_put(run, "model", "<script>x\x1b[31m\xE2\x80\xAE", error));
  put_task(run, 0, "gen.mapping", 1, "dev", "h");
  put_task(run, 1, "gen.hardware", 1, "hidden", "h");
  put_sample(run, 0, "0", NULL, "wrong", "</pre><script>alert(1)</script>\\u001b[2J\\u202e&amp;");
  put_sample(run, 1, "0", NULL, "wrong", "SECRET");
  nst_report *report = new_report();
  add(report, "m.db", run);
  form *const forms[] = {nst_report_text, nst_report_html};
  for (int i = 0; i < 2; i++) {
    nestor_buffer *out = write(report, forms[i]), *again = write(report, forms[i]);
    assert_string_equal(nestor_buffer_data(out), nestor_buffer_data(again));
    assert_false(has(out, "\x1b"));
    assert_false(has(out, "\xE2\x80\xAE"));
    assert_false(has(out, "SECRET"));
    expect(out, "4711");
    expect(out, "815");
    expect(out, "tm = 8");
    if (i) {
      assert_false(has(out, "<script"));
      expect(out, "&lt;/pre&gt;&lt;script&gt;alert(1)");
      expect(out, "&lt;U+001B&gt;[2J&lt;U+202E&gt;&amp;amp;");
    }
    nestor_buffer_free(out);
    nestor_buffer_free(again);
  }
  nst_report_free(report);
}

/* Two files that differ in the form of the grammar alone are told apart by it. */
static void forms_of_grammars_are_named(void **state) {
  (void)state;
  static const char *const forms[] = {"llama.cpp", "vllm", "true", NULL};
  nst_report *report = new_report();
  for (int file = 0; file < 4; file++) {
    nst_runfile *run = begin("m", forms[file], "1");
    put_task(run, 0, "repair", 2, "dev", "h");
    put_sample(run, 0, "0", NULL, "passed", "x");
    add(report, "m.db", run);
  }
  json_t *data = data_of(report), *models = json_object_get(data, "models");
  static const char *const names[] = {"m (grammar: llama.cpp)", "m (grammar: vllm)", "m (grammar)", "m"};
  assert_int_equal(json_array_size(models), 4);
  for (size_t i = 0; i < 4; i++)
    assert_string_equal(json_string_value(json_object_get(json_array_get(models, i), "name")), names[i]);
  json_decref(data);
  nst_report_free(report);
}

/* Figures of every kind, level and part are there, memories apart; scores beside passes. */
static void parts_are_by_kind_level_and_metric(void **state) {
  (void)state;
  static const struct {
    const char *kind, *outcome;
    int level;
  } tasks[] = {{"gen.mapping", "passed", 1}, {"gen.mapping", "wrong", 1}, {"gen.mapping", "wrong", 3},
               {"repair", "passed", 3},      {"repair", "truncated", 5}};
  nst_runfile *run = begin("m", NULL, "1");
  for (int i = 0; i < 5; i++) {
    put_task(run, i, tasks[i].kind, tasks[i].level, "dev", "h");
    put_sample(run, i, "0", NULL, tasks[i].outcome, "x");
  }
  nst_report *report = new_report();
  add(report, "m.db", run);
  json_t *data = data_of(report),
         *parts = json_object_get(json_array_get(json_object_get(data, "models"), 0), "by_kind_level_and_metric");
  static const struct {
    const char *kind, *metric;
    int level, right, of;
  } expected[] = {{"gen.mapping", "fits", 1, 2, 2}, {"gen.mapping", "reads@DRAM/A", 1, 1, 2},
                  {"gen.mapping", "fits", 3, 1, 1}, {"gen.mapping", "reads@DRAM/A", 3, 0, 1},
                  {"repair", "fits", 3, 1, 1},      {"repair", "reads@DRAM/A", 3, 1, 1}};
  assert_int_equal(json_array_size(parts), 6); /* what was cut off has no parts */
  for (size_t i = 0; i < 6; i++) {
    json_t *part = json_array_get(parts, i);
    assert_string_equal(json_string_value(json_object_get(part, "kind")), expected[i].kind);
    assert_string_equal(json_string_value(json_object_get(part, "metric")), expected[i].metric);
    assert_true(figure(part, "level") == expected[i].level);
    assert_true(figure(part, "right") == expected[i].right && figure(part, "of") == expected[i].of);
  }
  assert_true(figure(data, "models/0/metrics/reads/right") == 2 && figure(data, "models/0/metrics/reads/of") == 4);
  size_t i;
  json_t *cell;
  double scores = 0;
  json_array_foreach(json_object_get(json_array_get(json_object_get(data, "models"), 0), "by_kind_and_level"), i, cell)
    if (json_is_string(json_object_get(cell, "kind")) && figure(cell, "level") == 1) scores += figure(cell, "score/mean");
  assert_true(fabs(scores - 0.75) < 1e-12); /* 1 and a half */
  json_decref(data);

  nestor_buffer *csv = write(report, nst_report_csv), *text = write(report, nst_report_text),
                *html = write(report, nst_report_html);
  expect(csv, "m,metric,gen.mapping,1,reads@DRAM/A,0.5,,,,2\n");
  expect(csv, "m,metric,,,reads,0.5,,,,4\n");
  expect(csv, "m,score,gen.mapping,1,,0.75,");
  expect(text, "m: right figures by kind, level and metric\n");
  expect(text, "fits          #.#..   ..#..\n");
  expect(text, "reads         5.0..   ..#..\n");
  expect(text, "m: mean score by kind and level\n");
  expect(html, "reads in gen.mapping, level 1: 1 of 2 (0.500)");
  expect(html, "reads in repair, level 3: 1 of 1 (1.000)");
  nestor_buffer_free(csv);
  nestor_buffer_free(text);
  nestor_buffer_free(html);
  nst_report_free(report);
}

static void scores_are_split_by_what_a_level_raises(void **state) {
  (void)state;
  nst_report *report = new_report();
  nst_runfile *run = begin("m", NULL, "1");
  static const struct {
    int level;
    const char *raises, *outcome;
  } tasks[] = {{1, NULL, "passed"}, {3, "halo", "passed"},   {3, "halo", "wrong"}, {3, "array", "wrong"},
               {2, "dims", "passed"}, {4, "stride", "passed"}, {4, "stride", NULL}};
  for (int i = 0; i < 7; i++) {
    put_raised(run, i, i % 2 ? "repair" : "gen.mapping", tasks[i].level, "dev", "h", tasks[i].raises);
    put_sample(run, i, "0", NULL, tasks[i].outcome, "x");
  }
  add(report, "m.db", run);
  json_t *data = data_of(report);
  const json_t *rows = json_object_get(json_array_get(json_object_get(data, "models"), 0), "by_raised");
  static const struct {
    const char *raises;
    double level, mean, score, tasks;
  } expected[] = {{"dims", 2, 1, 1, 1}, {"array", 3, 0, 0.5, 1}, {"halo", 3, 0.5, 0.75, 2}, {"stride", 4, 0.5, 0.5, 2}};
  assert_int_equal(json_array_size(rows), 4);
  for (size_t i = 0; i < 4; i++) {
    json_t *row = json_array_get(rows, i);
    assert_string_equal(json_string_value(json_object_get(row, "raises")), expected[i].raises);
    assert_true(figure(row, "level") == expected[i].level && figure(row, "tasks") == expected[i].tasks);
    assert_true(figure(row, "mean") == expected[i].mean && figure(row, "score/mean") == expected[i].score);
    /* What is not graded is outstanding: the mean is a lower bound. */
    assert_int_equal(json_is_null(json_array_get(json_object_get(row, "interval"), 0)), i == 3);
  }
  json_decref(data);
  nestor_buffer *csv = write(report, nst_report_csv), *text = write(report, nst_report_text),
                *html = write(report, nst_report_html);
  expect(csv, "m,pass_at_1_raised,,3,halo,0.5,");
  expect(csv, "m,score_raised,,3,halo,0.75,");
  expect(csv, "m,pass_at_1_raised,,4,stride,0.5,,,,2\n");
  expect(text, "m: pass@1 by what a level raises\n");
  expect(text, "halo        3     0.500");
  expect(html, "<h2>m: pass@1 by what a level raises</h2>");
  nestor_buffer_free(csv);
  nestor_buffer_free(text);
  nestor_buffer_free(html);
  nst_report_free(report);
}

static void what_cannot_be_reported_is_refused(void **state) {
  (void)state;
  nst_report *report = new_report();
  nst_runfile *run = begin("m", NULL, "1");
  put_task(run, 0, "qa.compare", 1, "dev", "h");
  assert_false(nst_report_add(report, "m.db", run, error));
  assert_string_equal(error, "m.db holds no samples: there is nothing to report");
  nst_runfile_free(run);
  nst_report_free(report);

  report = new_report();
  run = begin("m", NULL, "1");
  put_sample(run, 7, "0", NULL, "passed", "x");
  assert_false(nst_report_add(report, "m.db", run, error));
  assert_non_null(strstr(error, "has samples of task t7 but not the task itself"));
  nst_runfile_free(run);
  nst_report_free(report);

  report = new_report();
  for (int file = 0; file < 2; file++) {
    run = begin("m", NULL, "1");
    put_task(run, 0, "qa.compare", 1, "dev", file ? "other" : "h");
    put_sample(run, 0, "0", NULL, "passed", "x");
    assert_int_equal(nst_report_add(report, "m.db", run, error), !file);
    nst_runfile_free(run);
  }
  assert_non_null(strstr(error, "is not the task of that name"));
  nst_report_free(report);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(errors_stay_in_the_denominator),
                                     cmocka_unit_test(what_is_missing_or_not_graded_is_outstanding),
                                     cmocka_unit_test(k_needs_samples),
                                     cmocka_unit_test(an_unfinished_run_has_no_interval),
                                     cmocka_unit_test(differences_have_errors),
                                     cmocka_unit_test(files_of_one_model_are_its_runs),
                                     cmocka_unit_test(unlike_files_are_told_of),
                                     cmocka_unit_test(revisions_are_rounds),
                                     cmocka_unit_test(alike_answers_are_told_of_where_they_say_something),
                                     cmocka_unit_test(what_was_said_in_place_of_an_answer_is_shown),
                                     cmocka_unit_test(texts_of_models_are_harmless_and_hidden_tasks_stay_hidden),
                                     cmocka_unit_test(forms_of_grammars_are_named),
                                     cmocka_unit_test(parts_are_by_kind_level_and_metric),
                                     cmocka_unit_test(scores_are_split_by_what_a_level_raises),
                                     cmocka_unit_test(what_cannot_be_reported_is_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
