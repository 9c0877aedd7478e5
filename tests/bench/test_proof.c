/* Reference figures are those of three engines: where one has none, or others, there is no task, and no other draft is drawn instead. The code
 * generator is taken away by the variable that says where it is. */
#include "tests/bench/suites.h"

#include "bench/tasks/body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *hide_code(void) {
  const char *path = getenv("NESTOR_LLVM_MODULE");
  char *kept = path ? strdup(path) : NULL;
  assert_int_equal(setenv("NESTOR_LLVM_MODULE", "/nowhere/nestor-llvm.so", 1), 0);
  return kept;
}

static void show_code(char *kept) {
  if (kept) setenv("NESTOR_LLVM_MODULE", kept, 1);
  else unsetenv("NESTOR_LLVM_MODULE");
  free(kept);
}

/* ---- a point -------------------------------------------------------------- */

static bool runs(nst_solver *s, const char *text, bool quick) {
  assert_true(nst_solver_init(s, text, strlen(text), quick));
  nestor_eval *eval = nst_solver_eval(s, "m");
  assert_non_null(eval);
  const bool good = nst_solver_run(s, eval, NULL);
  nestor_eval_free(eval);
  nst_solver_fini(s); /* why and unproven stay */
  return good;
}

#define MACHINE "hardware h { memory D compute C }\n"
static const char small[] = "workload w { dim i = 4 A[i] = B[i] }\n" MACHINE "mapping m of w on h { for i }\n";
static const char large[] = "workload w { dim i = 2 ** 30 A[i] = B[i] }\n" MACHINE "mapping m of w on h { for i }\n";
static const char overfull[] = "workload w { dim i = 2 ** 40, k = 2 ** 40 A[i] += B[i, k] }\n" MACHINE "mapping m of w on h { for i for k }\n";

static void a_point_is_of_all_engines(void **state) {
  (void)state;
  nst_solver s;
  assert_true(runs(&s, small, true));
  assert_true(runs(&s, large, true));
  assert_false(s.unproven);
  char *kept = hide_code();
  const bool good = runs(&s, small, false);
  show_code(kept);
  assert_false(good);
  assert_true(s.unproven);
  assert_non_null(strstr(s.why, "code generator"));
  if (!code_is_there()) skip();
  assert_true(runs(&s, small, false));
  assert_false(s.unproven);
  /* The simulator alone refuses it, for its size. */
  assert_false(runs(&s, large, false));
  assert_true(s.unproven);
  assert_non_null(strstr(s.why, "simulate"));
  /* What no engine counts is the draft's to blame. */
  assert_false(runs(&s, overfull, false));
  assert_false(s.unproven);
}

/* ---- tasks ---------------------------------------------------------------- */

static void every_kind_is_proven(void **state) {
  (void)state;
  enum { SEEDS = 400, EACH = 3 };
  const bool code = code_is_there();
  nst_draft *d = calloc(1, sizeof *d);
  for (int k = 0; k < NST_KIND_COUNT; k++) {
    int tried = 0;
    for (uint64_t seed = 0; seed < SEEDS && tried < EACH; seed++) {
      char why[NST_SOLVE_ERROR];
      nst_body quick, proven;
      nst_draft_make(d, (nst_kind)k, 1 + (int)(seed % NST_LEVELS), seed, NULL);
      if (!nst_body_make(&quick, d, true, why)) {
        assert_false(quick.unproven);
        continue;
      }
      tried++;
      char *kept = hide_code();
      const bool made = nst_body_make(&proven, d, false, why);
      show_code(kept);
      if (made) fail_msg("%s needs no code generator", nst_kind_name((nst_kind)k));
      assert_true(proven.unproven);
      assert_non_null(strstr(why, "code generator"));
      if (code) {
        assert_true(nst_body_make(&proven, d, false, why));
        assert_false(proven.unproven);
        assert_string_equal(proven.answer, quick.answer);
        nst_body_fini(&proven);
      }
      nst_body_fini(&quick);
    }
    assert_int_equal(tried, EACH);
  }
  free(d);
}

/* ---- a suite -------------------------------------------------------------- */

typedef struct { bool hidden; char *kept; int after; } thief;

/* Takes the code generator away when some tasks are made. */
static void steal(void *context, size_t made, size_t all) {
  (void)all;
  thief *t = context;
  if (t->hidden && ++t->after > 50) fail_msg("drafts are drawn on and on");
  if (t->hidden || made < 5) return;
  t->hidden = true;
  t->kept = hide_code();
}

static void a_suite_ends_where_engines_do_not_agree(void **state) {
  (void)state;
  if (!code_is_there()) skip();
  thief t = {0};
  nst_suite_options o = options_of("proof", NST_SPLIT_DEV, 40);
  o.examples = 0;
  o.quick = false;
  o.threads = 1;
  o.progress = steal;
  o.context = &t;
  records r = {json_array(), json_array()};
  char error[NST_RECORD_ERROR];
  const bool made = nst_suite_generate(&o, collect, &r, error);
  show_code(t.kept);
  assert_true(t.hidden);
  assert_false(made);
  assert_non_null(strstr(error, "the engines do not agree"));
  assert_non_null(strstr(error, "code generator"));
  assert_int_equal(t.after, 1); /* the draft that found it is the last */
  assert_int_equal(json_array_size(r.tasks), 0);
  end(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_point_is_of_all_engines),
    cmocka_unit_test(every_kind_is_proven),
    cmocka_unit_test(a_suite_ends_where_engines_do_not_agree),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
