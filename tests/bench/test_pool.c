/* The supervisor against workers that crash, hang, lie and flood: each costs one result, by name, and nobody else's. */
#include "tests/unit/test.h"

#include "bench/grade/grade.h"
#include "tests/bench/hand.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void add(void *context, json_t *task_json, json_t *key_json) {
  char error[NST_RECORD_ERROR];
  nst_task task;
  nst_key key;
  if (!nst_task_take(&task, task_json, error) || !nst_key_take(&key, key_json, error)) fail_msg("%s", error);
  if (!nst_grading_add_task(context, &task, error) || !nst_grading_add_key(context, &key, error)) fail_msg("%s", error);
}

static nst_grading *begin(int workers) {
  char error[NST_RECORD_ERROR];
  assert_non_null(getenv("NESTOR_FAKE_WORKER"));
  nst_grading *g = nst_grading_new(&(nst_grading_options){workers, getenv("NESTOR_FAKE_WORKER"), false}, error);
  if (!g) fail_msg("%s", error);
  hand_tasks(add, g);
  nst_grading_set_watchdog(g, 1500); /* of a machine that is busy, an honest worker needs some of it */
  return g;
}

static nst_sample sample_of(const char *word, size_t i) {
  char error[NST_RECORD_ERROR], id[24];
  snprintf(id, sizeof id, "%zu", i);
  json_t *text = json_sprintf("```nest\n%s\n```", word);
  nst_sample s;
  if (!nst_sample_take(&s, json_pack("{s:s,s:s,s:o}", "task_id", "h-mapping", "sample_id", id, "completion", text), error)) fail_msg("%s", error);
  return s;
}

typedef struct { const char *word; nst_outcome outcome; const char *message; } trick;
static const trick tricks[] = {
  {"SEGV", NST_OUTCOME_CRASHED, "signal 11 (SEGV)"},      {"ABORT", NST_OUTCOME_CRASHED, "signal 6 (ABRT)"},
  {"EXIT", NST_OUTCOME_CRASHED, "without a reply"},       {"HANG", NST_OUTCOME_INFRA_ERROR, "no reply in time"},
  {"GARBAGE", NST_OUTCOME_CRASHED, "without a reply"},    {"OTHER", NST_OUTCOME_CRASHED, "without a reply"},
  {"PASSED", NST_OUTCOME_CRASHED, "without a reply"},     {"FIGURES", NST_OUTCOME_CRASHED, "without a reply"},
  {"OUTCOME", NST_OUTCOME_CRASHED, "without a reply"},    {"FLOOD", NST_OUTCOME_CRASHED, "without a reply"},
  {"ENDLESS", NST_OUTCOME_CRASHED, "without a reply"},
};
enum { TRICKS = sizeof tricks / sizeof *tricks, EACH = 10, ALL = TRICKS * EACH };

static void each_trick_costs_one_result(void **state) {
  (void)state;
  for (int workers = 1; workers <= 4; workers += 3) {
    nst_grading *g = begin(workers);
    nst_sample samples[ALL];
    nst_result results[ALL];
    for (size_t i = 0; i < ALL; i++) samples[i] = sample_of(i % EACH == 4 ? tricks[i / EACH].word : "fine", i);
    nst_grading_run(g, results, samples, ALL);
    for (size_t i = 0; i < ALL; i++) {
      const trick *t = &tricks[i / EACH];
      const bool tricky = i % EACH == 4;
      char *text = nst_record_text(results[i].json, NULL);
      if (results[i].outcome != (tricky ? t->outcome : NST_OUTCOME_SYNTAX)) fail_msg("%s, sample %zu: %s", t->word, i, text);
      if (tricky && !strstr(text, t->message)) fail_msg("%s: %s", t->word, text);
      if (!tricky) assert_non_null(strstr(text, "fake \xEF\xBF\xBD"));
      assert_false(results[i].passed);
      free(text);
      nst_result_fini(&results[i]);
      nst_sample_fini(&samples[i]);
    }
    nst_grading_free(g);
  }
  struct rusage use;
  getrusage(RUSAGE_SELF, &use);
  assert_true(use.ru_maxrss < 600 * 1024); /* a flood is not kept */
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_trick_costs_one_result)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
