/* Limits through the public header: what runs out of fuel says so, at the same
 * point whatever ran before, and what is merely wrong is told apart. */
#include "test.h"

#include <nestor/nestor.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nestor_program *compile(const char *text, uint64_t fuel) {
  nestor_session *s = nestor_session_new();
  nestor_session_set_limits(s, (nestor_limits){.source_bytes = 1 << 17, .fuel = fuel});
  nestor_program *p = nestor_program_new(s, "t.nest", text, strlen(text), NESTOR_STAGE_CHECK);
  nestor_session_free(s);
  return p;
}

static void expect_code(const nestor_diagnostics *d, const char *code, bool limit) {
  nestor_diagnostic one;
  assert_true(nestor_diagnostics_get(d, 0, &one));
  assert_string_equal(one.code, code);
  assert_true(nestor_diagnostics_limit(d) == limit);
}

static void expect_refused(const char *text, uint64_t fuel, const char *code, bool limit) {
  nestor_program *p = compile(text, fuel);
  assert_int_equal(nestor_program_status(p), NESTOR_ERROR);
  expect_code(nestor_program_diagnostics(p), code, limit);
  nestor_program_free(p);
}

#define HARDWARE "hardware h { memory D memory G compute C }\n"
#define CUBE "workload w(M = 64) { dim a = M, b = M, c = M O[a + b + c] = X[a, b, c] }\n"

static void test_compile(void **state) {
  (void)state;
  static const char forever[] = "const A = sum(sum(i * j for i in 1 .. 1000000) for j in 1 .. 1000000)\n";
  expect_refused(forever, 0, "E0906", true); /* the language's own bound */
  expect_refused(forever, 10000, "E0906", true);
  expect_refused("const A = sum(i for i in 1 .. 9000000)\n", 0, "E0904", true);
  expect_refused("const A = 1 / 0\n", 10000, "E0312", false);
  expect_refused("const A = B\n", 10000, "E0201", false);

  /* Many declarations, each cheap. */
  size_t size = 0, cap = 1 << 16;
  char *text = malloc(cap);
  size += (size_t)snprintf(text, cap, CUBE HARDWARE);
  for (int i = 0; i < 1000; i++) size += (size_t)snprintf(text + size, cap - size, "mapping m%d of w on h { compute }\n", i);
  nestor_program *p = compile(text, 0);
  assert_int_equal(nestor_program_status(p), NESTOR_OK);
  assert_false(nestor_diagnostics_limit(nestor_program_diagnostics(p)));
  nestor_program_free(p);
  p = compile(text, 100000);
  assert_int_equal(nestor_program_status(p), NESTOR_ERROR);
  assert_int_equal(nestor_program_mappings(p), 0);
  assert_int_equal(nestor_program_declarations(p), 1002); /* it parses */
  expect_code(nestor_program_diagnostics(p), "E0908", true);
  nestor_program_free(p);
  free(text);
}

/* A limit that is met behind a hundred other errors is seen, too. */
static void test_limit_beyond_the_kept(void **state) {
  (void)state;
  char text[1 << 14];
  size_t size = 0;
  for (int i = 0; i < 150; i++) size += (size_t)snprintf(text + size, sizeof text - size, "const a%d = b%d\n", i, i);
  nestor_program *p = compile(text, 0);
  assert_false(nestor_diagnostics_limit(nestor_program_diagnostics(p)));
  nestor_program_free(p);
  snprintf(text + size, sizeof text - size, "const z = sum(i for i in 1 .. 9000000)\n");
  p = compile(text, 0);
  assert_int_equal(nestor_diagnostics_count(nestor_program_diagnostics(p)), 100);
  assert_true(nestor_diagnostics_limit(nestor_program_diagnostics(p)));
  nestor_program_free(p);
}

static nestor_status run(nestor_eval *e, int64_t t) { return nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, &t); }

static void test_evaluation(void **state) {
  (void)state;
  static const char text[] = CUBE HARDWARE
    "mapping x(M = 4) of w(M) on h { for a by 7 for b by 5 for c by 3 keep all in G compute }\n";
  /* The elements of O are listed: the cost grows with M. The verdict on each M is that of a fresh evaluation. */
  nestor_program *p = compile(text, 100000);
  assert_int_equal(nestor_program_status(p), NESTOR_OK);
  nestor_eval *used = nestor_eval_new(p, 0);
  int passed = 0, failed = 0;
  for (int round = 0; round < 2; round++)
    for (int64_t m = 1; m <= 61; m += 4) {
      nestor_eval *fresh = nestor_eval_new(p, 0);
      const nestor_status status = run(fresh, m);
      assert_int_equal(run(used, m), status);
      assert_int_equal(run(used, m), status); /* nothing has changed: what is at hand is paid for all the same */
      if (status == NESTOR_OK) {
        passed++;
        double got = 0, want = 0;
        nestor_eval_figure(fresh, "reads(D, X)", &want);
        nestor_eval_figure(used, "reads(D, X)", &got);
        assert_true(got == want && got == (double)(m * m * m));
      } else {
        failed++;
        expect_code(nestor_eval_diagnostics(used), "E0908", true);
      }
      nestor_eval_free(fresh);
    }
  assert_true(passed > 4 && failed > 4);
  nestor_eval_free(used);
  nestor_program_free(p);

  /* A verdict is no accident of what ran before. */
  p = compile(text, 3000);
  nestor_eval *e = nestor_eval_new(p, 0);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_OK);
    assert_int_equal(run(e, 60), NESTOR_ERROR);
  }
  nestor_eval_free(e);
  nestor_program_free(p);

  static const char sums[] = CUBE HARDWARE
    "mapping x(t) of w(8) on h { for a by sum(sum(t for i in 1 .. t) for j in 1 .. t) keep all in G compute }\n"
    "mapping y(t, u = sum(sum(1 for i in 1 .. 1000 * t) for j in 1 .. 1000 * t)) of w on h { compute }\n";
  p = compile(sums, 300000);
  assert_int_equal(nestor_program_status(p), NESTOR_OK);
  e = nestor_eval_new(p, 0);
  assert_int_equal(run(e, 1000000), NESTOR_ERROR);
  expect_code(nestor_eval_diagnostics(e), "E0906", true);
  assert_int_equal(run(e, 2), NESTOR_OK);
  assert_int_equal(run(e, -1), NESTOR_ERROR); /* an empty sum: a tile of 0 */
  expect_code(nestor_eval_diagnostics(e), "E0690", false);
  nestor_eval_free(e);
  e = nestor_eval_new(p, 1);
  assert_int_equal(nestor_eval_set(e, "t", "1"), NESTOR_OK);
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_ERROR);
  expect_code(nestor_eval_diagnostics(e), "E0906", true);
  nestor_eval_free(e);
  nestor_program_free(p);
}

static void test_model(void **state) {
  (void)state;
  nestor_program *p = compile("model f(n) { out a = sum(i for i in 1 .. n) }", 30000);
  nestor_model *m = nestor_model_new(p, 0);
  assert_int_equal(nestor_model_run(m, (int64_t[]){5000}), NESTOR_OK);
  assert_int_equal(nestor_model_run(m, (int64_t[]){50000}), NESTOR_ERROR);
  expect_code(nestor_model_diagnostics(m), "E0906", true);
  assert_int_equal(nestor_model_run(m, (int64_t[]){5000}), NESTOR_OK);
  nestor_model_free(m);
  nestor_program_free(p);
  /* Fractions that need 128 bits are many steps each. */
  p = compile("model f(n) { let p = 3 ** 35 / 2 ** 60 let q = 5 ** 11 / 7 ** 20 out a = sum(p % q for i in 1 .. n) }", 30000);
  m = nestor_model_new(p, 0);
  assert_int_equal(nestor_model_run(m, (int64_t[]){5}), NESTOR_OK);
  assert_int_equal(nestor_model_run(m, (int64_t[]){5000}), NESTOR_ERROR);
  nestor_model_free(m);
  nestor_program_free(p);
}

/* Thousands of arguments are no deep recursion. */
static void test_many_arguments(void **state) {
  (void)state;
  size_t size = 0, cap = 1 << 17;
  char *text = malloc(cap);
  size += (size_t)snprintf(text, cap, "model f(x, y) { out a = max(");
  for (int i = 0; i < 30000; i++) size += (size_t)snprintf(text + size, cap - size, "%s,", i == 20000 ? "y" : "x");
  snprintf(text + size, cap - size, "3) }");
  nestor_program *p = compile(text, 0);
  nestor_model *m = nestor_model_new(p, 0);
  nestor_value v;
  static const int64_t points[][3] = {{1, 7, 7}, {9, 7, 9}, {1, 2, 3}};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(nestor_model_run(m, points[i]), NESTOR_OK);
    assert_true(nestor_model_value(m, 0, &v) && v.integer == points[i][2]);
  }
  nestor_model_free(m);
  nestor_program_free(p);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_compile),    cmocka_unit_test(test_limit_beyond_the_kept),
    cmocka_unit_test(test_evaluation), cmocka_unit_test(test_model),
    cmocka_unit_test(test_many_arguments),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
