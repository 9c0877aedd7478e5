/* A suite in memory, for the tests of tasks and of drafts. */
#ifndef NST_TESTS_BENCH_SUITES_H
#define NST_TESTS_BENCH_SUITES_H
#include "tests/unit/test.h"

#include "bench/tasks/generate.h"
#include "bench/tasks/solve.h"

enum { ALL_KINDS = (1 << NST_KIND_COUNT) - 1, ALL_LEVELS = 2 * ((1 << NST_LEVELS) - 1) };

typedef struct {
  json_t *tasks, *keys;
} records;

static inline bool collect(void *context, const json_t *task, const json_t *key) {
  records *r = context;
  json_array_append(r->tasks, (json_t *)task);
  json_array_append(r->keys, (json_t *)key);
  return true;
}

static inline records generate(const nst_suite_options *options) {
  records r = {json_array(), json_array()};
  char error[NST_RECORD_ERROR];
  if (!nst_suite_generate(options, collect, &r, error)) fail_msg("%s", error);
  return r;
}

static inline void end(records *r) {
  json_decref(r->tasks);
  json_decref(r->keys);
}

static inline nst_suite_options options_of(const char *suite, nst_split split, size_t count) {
  return (nst_suite_options){.suite = suite,
                             .seed = 5,
                             .split = split,
                             .count = count,
                             .kinds = ALL_KINDS,
                             .levels = ALL_LEVELS,
                             .examples = 1,
                             .quick = true};
}

static inline const char *text_at(const json_t *object, const char *member) {
  return json_string_value(json_object_get(object, member));
}

static inline nst_task take(const json_t *json) {
  nst_task task;
  char error[NST_RECORD_ERROR];
  if (!nst_task_take(&task, json_incref((json_t *)json), error)) fail_msg("%s", error);
  return task;
}

static inline bool code_is_there(void) {
  static const char text[] = "workload w { dim m = 2 tensor A, B\nB[m] = A[m] } hardware h { memory D compute C } "
                             "mapping x of w on h { compute }";
  nst_solver s;
  assert_true(nst_solver_init(&s, text, sizeof text - 1, true));
  nestor_eval *eval = nst_solver_eval(&s, "x");
  const nestor_status status = nestor_eval_run(eval, NESTOR_ENGINE_JIT, NULL);
  nestor_eval_free(eval);
  nst_solver_fini(&s);
  return status != NESTOR_UNAVAILABLE;
}
#endif
