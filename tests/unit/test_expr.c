/* Expressions: values of every operation, failures and their places, fuel, printing. */
#include "test.h"

#include "ir/expr.h"

#include <string.h>

static nst_arena *arena;

static nst_expr *node(nst_expr_kind kind, const nst_expr *a, const nst_expr *b, const nst_expr *c) {
  static uint32_t place = 0;
  nst_expr *e = NST_NEW(arena, nst_expr);
  *e = (nst_expr){.kind = kind, .a = a, .b = b, .c = c, .level = -1, .tensor = -1};
  e->span = (nst_span){1, place, place + 1};
  place++;
  return e;
}

static nst_expr *frac(int64_t num, int64_t den) {
  nst_expr *e = node(NST_X_CONST, NULL, NULL, NULL);
  assert_true(nst_rat_make(&e->value, num, den));
  return e;
}
static nst_expr *num(int64_t v) { return frac(v, 1); }
static nst_expr *boolean(bool b) {
  nst_expr *e = node(NST_X_BOOL, NULL, NULL, NULL);
  e->truth = b;
  return e;
}
static nst_expr *op(nst_expr_kind k, const nst_expr *a, const nst_expr *b) { return node(k, a, b, NULL); }
static nst_expr *ref(nst_expr_kind kind, int index) {
  nst_expr *e = node(kind, NULL, NULL, NULL);
  e->index = index;
  return e;
}

static nst_eval_status eval(nst_value *v, const nst_expr *e) {
  nst_eval_env env = {0};
  nst_span where;
  return nst_expr_eval(v, e, &env, &where);
}

static void gives(const nst_expr *e, int64_t n, int64_t den) {
  nst_value v;
  nst_rat want;
  assert_true(nst_rat_make(&want, n, den));
  assert_int_equal(eval(&v, e), NST_EVAL_OK);
  assert_int_equal(v.kind, NST_VALUE_RAT);
  assert_int_equal(nst_rat_cmp(v.rat, want), 0);
}

static void is_true(const nst_expr *e, bool want) {
  nst_value v;
  assert_int_equal(eval(&v, e), NST_EVAL_OK);
  assert_int_equal(v.kind, NST_VALUE_BOOL);
  assert_int_equal(v.truth, want);
}

static void is_real(const nst_expr *e, double want) {
  nst_value v;
  assert_int_equal(eval(&v, e), NST_EVAL_OK);
  assert_int_equal(v.kind, NST_VALUE_REAL);
  assert_true(v.real == want);
}

static void fails(const nst_expr *e, nst_eval_status want, const nst_expr *at) {
  nst_eval_env env = {0};
  nst_value v = {.kind = NST_VALUE_BOOL, .truth = true};
  nst_span where = {0};
  assert_int_equal(nst_expr_eval(&v, e, &env, &where), want);
  assert_int_equal(where.begin, at->span.begin);
  assert_int_equal(v.kind, NST_VALUE_BOOL); /* untouched */
}

static void test_exact(void **state) {
  (void)state;
  nst_value v;
  gives(op(NST_X_DIV, num(1), num(3)), 1, 3);
  gives(op(NST_X_ADD, frac(1, 3), frac(1, 6)), 1, 2);
  gives(op(NST_X_SUB, num(2), frac(1, 2)), 3, 2);
  gives(op(NST_X_MUL, frac(2, 3), num(6)), 4, 1);
  gives(op(NST_X_FLOORDIV, num(-7), num(2)), -4, 1);
  gives(op(NST_X_MOD, num(-7), num(2)), 1, 1);
  gives(op(NST_X_MOD, num(7), num(-2)), -1, 1);
  gives(op(NST_X_CEILDIV, num(7), num(2)), 4, 1);
  gives(op(NST_X_CEILDIV, num(-7), num(2)), -3, 1);
  gives(op(NST_X_POW, num(2), num(10)), 1024, 1);
  gives(op(NST_X_POW, num(2), num(-2)), 1, 4);
  gives(op(NST_X_POW, frac(1, 2), num(3)), 1, 8);
  gives(op(NST_X_POW, num(0), num(0)), 1, 1);
  gives(op(NST_X_GCD, num(-12), num(18)), 6, 1);
  gives(op(NST_X_GCD, num(0), num(0)), 0, 1);
  gives(op(NST_X_MIN, num(3), frac(5, 2)), 5, 2);
  gives(op(NST_X_MAX, num(3), frac(5, 2)), 3, 1);
  gives(op(NST_X_ABS, num(-3), NULL), 3, 1);
  gives(op(NST_X_NEG, num(3), NULL), -3, 1);
  gives(op(NST_X_CEIL, frac(-1, 2), NULL), 0, 1);
  gives(op(NST_X_FLOOR, frac(-1, 2), NULL), -1, 1);
  /* Past 64 bits and exact all the same: (2^63-1)^2 + (2^63-1)^2. */
  nst_expr *square = op(NST_X_MUL, num(INT64_MAX), num(INT64_MAX));
  assert_int_equal(eval(&v, op(NST_X_SUB, op(NST_X_ADD, square, square), square)), NST_EVAL_OK);
  assert_true(v.rat.num == (nst_i128)INT64_MAX * INT64_MAX && v.rat.den == 1);
}

static void test_reals(void **state) {
  (void)state;
  is_real(op(NST_X_LOG2, num(8), NULL), 3.0);
  is_real(op(NST_X_SQRT, num(2), NULL), 1.4142135623730951);
  is_real(op(NST_X_POW, num(4), frac(1, 2)), 2.0);
  is_real(op(NST_X_ADD, op(NST_X_SQRT, num(4), NULL), frac(1, 2)), 2.5);
  is_real(op(NST_X_FLOORDIV, op(NST_X_SQRT, num(25), NULL), num(2)), 2.0);
  is_real(op(NST_X_CEIL, op(NST_X_SQRT, num(2), NULL), NULL), 2.0);
  is_true(op(NST_X_EQ, op(NST_X_SQRT, num(16), NULL), num(4)), true);
  is_true(op(NST_X_LT, op(NST_X_SQRT, num(2), NULL), frac(3, 2)), true);
  int64_t n;
  nst_value v;
  assert_int_equal(eval(&v, op(NST_X_SQRT, num(64), NULL)), NST_EVAL_OK);
  assert_true(nst_value_to_i64(&n, &v));
  assert_int_equal(n, 8);
  v.real = 8.5;
  assert_false(nst_value_to_i64(&n, &v));
  v.real = 0x1p63;
  assert_false(nst_value_to_i64(&n, &v));
}

static void test_logic(void **state) {
  (void)state;
  nst_expr *bad = op(NST_X_EQ, op(NST_X_DIV, num(1), num(0)), num(1));
  is_true(op(NST_X_AND, boolean(false), bad), false); /* the right side is not looked at */
  is_true(op(NST_X_OR, boolean(true), bad), true);
  is_true(op(NST_X_AND, boolean(true), boolean(false)), false);
  is_true(op(NST_X_OR, boolean(false), boolean(true)), true);
  is_true(op(NST_X_NOT, boolean(false), NULL), true);
  is_true(op(NST_X_NE, boolean(true), boolean(false)), true);
  is_true(op(NST_X_GE, frac(1, 3), frac(333, 1000)), true);
  is_true(op(NST_X_GT, num(2), num(2)), false);
  is_true(op(NST_X_LE, num(2), num(2)), true);
  gives(node(NST_X_IF, boolean(true), num(1), op(NST_X_DIV, num(1), num(0))), 1, 1);
  gives(node(NST_X_IF, boolean(false), op(NST_X_DIV, num(1), num(0)), num(2)), 2, 1);
}

static void test_failures(void **state) {
  (void)state;
  nst_expr *division = op(NST_X_DIV, num(1), num(0));
  fails(op(NST_X_ADD, num(1), op(NST_X_MUL, num(2), division)), NST_EVAL_DIV_ZERO, division);
  nst_expr *mod = op(NST_X_MOD, num(1), num(0));
  fails(mod, NST_EVAL_DIV_ZERO, mod);
  nst_expr *inverse = op(NST_X_POW, num(0), num(-1));
  fails(inverse, NST_EVAL_DIV_ZERO, inverse);
  nst_expr *root = op(NST_X_SQRT, num(-1), NULL);
  fails(root, NST_EVAL_DOMAIN, root);
  nst_expr *log = op(NST_X_LOG2, num(0), NULL);
  fails(op(NST_X_NEG, log, NULL), NST_EVAL_DOMAIN, log);
  nst_expr *fraction = op(NST_X_POW, num(-2), frac(1, 2));
  fails(fraction, NST_EVAL_DOMAIN, fraction);
  nst_expr *gcd = op(NST_X_GCD, frac(1, 2), num(2));
  fails(gcd, NST_EVAL_DOMAIN, gcd);
  nst_expr *large = op(NST_X_POW, num(2), num(127));
  fails(large, NST_EVAL_OVERFLOW, large);
  nst_expr *huge = op(NST_X_POW, num(3), op(NST_X_POW, num(2), num(100)));
  fails(huge, NST_EVAL_OVERFLOW, huge);
  gives(op(NST_X_POW, num(-1), op(NST_X_POW, num(2), num(100))), 1, 1);
  nst_expr *metric = node(NST_X_METRIC, NULL, NULL, NULL);
  fails(metric, NST_EVAL_NO_METRIC, metric);
  for (int s = NST_EVAL_OK; s <= NST_EVAL_NO_VALUE; s++) assert_true(strlen(nst_eval_status_text((nst_eval_status)s)) > 0);
}

static void test_sums(void **state) {
  (void)state;
  nst_expr *i = ref(NST_X_INDEX, 0), *outer = ref(NST_X_INDEX, 1);
  gives(node(NST_X_SUM, i, num(1), num(100)), 5050, 1);
  gives(node(NST_X_SUM, i, num(3), num(2)), 0, 1);
  gives(node(NST_X_SUM, node(NST_X_SUM, op(NST_X_MUL, outer, i), num(1), num(3)), num(1), num(2)), 18, 1);
  nst_expr *longest = node(NST_X_SUM, num(1), num(1), num(1 << 20));
  gives(longest, 1 << 20, 1);
  nst_expr *longer = node(NST_X_SUM, num(1), num(0), num(1 << 20));
  fails(longer, NST_EVAL_SUM_TOO_LONG, longer);
  nst_expr *half = frac(1, 2);
  fails(node(NST_X_SUM, num(1), half, num(3)), NST_EVAL_DOMAIN, half);
}

static void test_names_and_fuel(void **state) {
  (void)state;
  nst_value params[] = {{.kind = NST_VALUE_RAT, .rat = {7, 1}}}, values[] = {{.kind = NST_VALUE_RAT, .rat = {1, 2}}}, v;
  uint64_t fuel = 3 + 32; /* a node is a step; to reduce a fraction takes more */
  nst_eval_env env = {.params = params, .values = values, .fuel = &fuel};
  nst_expr *product = op(NST_X_MUL, ref(NST_X_PARAM, 0), ref(NST_X_VALUE, 0));
  nst_span where;
  assert_int_equal(nst_expr_eval(&v, product, &env, &where), NST_EVAL_OK);
  assert_true(v.rat.num == 7 && v.rat.den == 2);
  assert_int_equal(fuel, 0);
  assert_int_equal(nst_expr_eval(&v, product, &env, &where), NST_EVAL_FUEL);
  fuel = 1000;
  assert_int_equal(nst_expr_eval(&v, node(NST_X_SUM, num(1), num(1), num(1 << 20)), &env, &where), NST_EVAL_FUEL);
}

static void prints(const nst_expr *e, const char *want) {
  static const nst_name params[] = {"M", "t"}, values[] = {"tiles"}, levels[] = {"DRAM"}, tensors[] = {"A"};
  nst_expr_names names = {params, values, levels, tensors};
  nst_buffer b = {0};
  nst_expr_print_named(&b, e, &names);
  assert_string_equal(b.text, want);
  nst_buffer_fini(&b);
}

static void test_printing(void **state) {
  (void)state;
  const nst_expr *a = ref(NST_X_PARAM, 0), *b = ref(NST_X_PARAM, 1), *c = ref(NST_X_VALUE, 0);
  prints(op(NST_X_MUL, op(NST_X_ADD, a, b), c), "(M + t) * tiles");
  prints(op(NST_X_ADD, a, op(NST_X_MUL, b, c)), "M + t * tiles");
  prints(op(NST_X_SUB, a, op(NST_X_SUB, b, c)), "M - (t - tiles)");
  prints(op(NST_X_SUB, op(NST_X_SUB, a, b), c), "M - t - tiles");
  prints(op(NST_X_POW, op(NST_X_POW, a, b), c), "(M ** t) ** tiles");
  prints(op(NST_X_POW, a, op(NST_X_POW, b, c)), "M ** t ** tiles");
  prints(op(NST_X_POW, op(NST_X_NEG, a, NULL), num(2)), "(-M) ** 2");
  prints(op(NST_X_NEG, op(NST_X_POW, a, num(2)), NULL), "-M ** 2");
  prints(op(NST_X_DIV, a, num(-2)), "M / -2");
  prints(op(NST_X_MUL, frac(1, 3), a), "1/3 * M");
  prints(op(NST_X_MUL, a, frac(1, 3)), "M * (1/3)");
  prints(frac(5, 4), "1.25");
  prints(frac(-1, 1000), "-0.001");
  prints(op(NST_X_CEILDIV, a, op(NST_X_MIN, b, num(3))), "ceildiv(M, min(t, 3))");
  prints(op(NST_X_AND, op(NST_X_LE, num(1), a), op(NST_X_NOT, op(NST_X_OR, boolean(true), boolean(false)), NULL)),
         "1 <= M and not (true or false)");
  prints(node(NST_X_IF, op(NST_X_LT, a, b), num(1), node(NST_X_IF, boolean(true), num(2), num(3))),
         "if M < t then 1 else if true then 2 else 3");
  prints(node(NST_X_SUM,
              node(NST_X_SUM, op(NST_X_MUL, ref(NST_X_INDEX, 1), ref(NST_X_INDEX, 0)), num(1), ref(NST_X_INDEX, 0)),
              num(1), a),
         "sum(sum(i0 * i1 for i1 in 1 .. i0) for i0 in 1 .. M)");
  nst_expr *metric = node(NST_X_METRIC, NULL, NULL, NULL);
  metric->metric = NST_METRIC_READS;
  metric->level = metric->tensor = 0;
  prints(metric, "reads(DRAM, A)");
  metric->tensor = -1;
  prints(metric, "reads(DRAM)");
  assert_string_equal(nst_metric_name(NST_METRIC_OFFCHIP), "offchip");
  assert_string_equal(nst_metric_unit(NST_METRIC_OFFCHIP), "bytes");
  nst_buffer out = {0};
  nst_expr_print(&out, op(NST_X_ADD, a, c), NULL, NULL);
  assert_string_equal(out.text, "$0 + %0");
  nst_buffer_fini(&out);
}

int main(void) {
  arena = nst_arena_new();
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_exact),    cmocka_unit_test(test_reals), cmocka_unit_test(test_logic),
    cmocka_unit_test(test_failures), cmocka_unit_test(test_sums),  cmocka_unit_test(test_names_and_fuel),
    cmocka_unit_test(test_printing),
  };
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  nst_arena_free(arena);
  return failed;
}
