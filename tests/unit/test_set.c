/* The sets of verify and sweep: order, ends, and what is refused. */
#include "test.h"

#include "ir/set.h"
#include <string.h>

static nst_eval_status eval(void *context, const nst_expr *e, nst_value *out, nst_span *where) {
  (void)context;
  return nst_expr_eval(out, e, &(nst_eval_env){0}, where);
}

static nst_expr number(nst_i128 num, nst_i128 den) {
  nst_expr e = {.kind = NST_X_CONST};
  assert_true(nst_rat_make(&e.value, num, den));
  return e;
}

static const char *open(nst_set *s, nst_ir_set_kind kind, nst_expr *a, nst_expr *b, nst_expr *step) {
  const nst_ir_set set = {.kind = kind, .a = a, .b = b, .step = step};
  nst_span where;
  return nst_set_open(s, &set, eval, NULL, &where);
}

static void holds(const nst_set *s, const int64_t *want, size_t n) {
  assert_int_equal(s->count, n);
  for (size_t i = 0; i < n; i++) assert_true(nst_rat_cmp(nst_set_get(s, i), nst_rat_int(want[i])) == 0);
}

static void test_ranges(void **state) {
  (void)state;
  nst_set s = {0};
  nst_expr a = number(8, 1), b = number(20, 1), step = number(5, 1), zero = number(0, 1), less = number(7, 1);
  assert_null(open(&s, NST_IRSET_RANGE, &a, &b, &step));
  holds(&s, (int64_t[]){8, 13, 18}, 3);
  assert_null(open(&s, NST_IRSET_RANGE, &a, &a, NULL));
  holds(&s, (int64_t[]){8}, 1);
  assert_null(open(&s, NST_IRSET_RANGE, &a, &less, NULL));
  assert_int_equal(s.count, 0);
  assert_non_null(open(&s, NST_IRSET_RANGE, &a, &b, &zero));
  nst_expr half = number(1, 2), one = number(1, 1);
  assert_null(open(&s, NST_IRSET_RANGE, &zero, &one, &half));
  assert_int_equal(s.count, 3);
  assert_true(nst_rat_cmp(nst_set_get(&s, 1), half.value) == 0);
  nst_expr far = number((nst_i128)1 << 62, 1);
  assert_null(open(&s, NST_IRSET_RANGE, &one, &far, NULL));
  assert_true(s.count == (uint64_t)1 << 62);
  assert_true(nst_rat_cmp(nst_set_get(&s, s.count - 1), far.value) == 0);
  nst_expr farther = number((nst_i128)1 << 100, 1);
  assert_non_null(open(&s, NST_IRSET_RANGE, &one, &farther, NULL));
  nst_set_fini(&s);
}

static void test_divisors(void **state) {
  (void)state;
  nst_set s = {0};
  nst_expr n = number(28, 1);
  assert_null(open(&s, NST_IRSET_DIVISORS, &n, NULL, NULL));
  holds(&s, (int64_t[]){1, 2, 4, 7, 14, 28}, 6);
  n = number(1, 1);
  assert_null(open(&s, NST_IRSET_DIVISORS, &n, NULL, NULL));
  holds(&s, (int64_t[]){1}, 1);
  n = number(999983, 1); /* a prime */
  assert_null(open(&s, NST_IRSET_DIVISORS, &n, NULL, NULL));
  holds(&s, (int64_t[]){1, 999983}, 2);
  n = number((nst_i128)1 << 62, 1);
  assert_null(open(&s, NST_IRSET_DIVISORS, &n, NULL, NULL));
  assert_int_equal(s.count, 63);
  n = number(INT64_C(897612484786617600), 1); /* 2^8 3^4 5^2 7^2 11 13 17 19 23 29 31 37 */
  assert_null(open(&s, NST_IRSET_DIVISORS, &n, NULL, NULL));
  assert_int_equal(s.count, 103680);
  for (size_t i = 1; i < s.count; i++) assert_true(nst_rat_cmp(s.items[i - 1], s.items[i]) < 0);
  n = number(INT64_C(4398042316799) * 2, 1); /* 2 and a prime below 2^42 */
  assert_null(open(&s, NST_IRSET_DIVISORS, &n, NULL, NULL));
  assert_int_equal(s.count, 4);
  n = number(INT64_C(9223372036854775783), 1); /* a prime near 2^63 */
  assert_non_null(open(&s, NST_IRSET_DIVISORS, &n, NULL, NULL));
  n = number(0, 1);
  assert_non_null(open(&s, NST_IRSET_DIVISORS, &n, NULL, NULL));
  n = number(1, 2);
  assert_non_null(open(&s, NST_IRSET_DIVISORS, &n, NULL, NULL));
  nst_set_fini(&s);
}

static void test_lists_and_powers(void **state) {
  (void)state;
  nst_set s = {0};
  nst_expr a = number(5, 1), b = number(3, 1), c = number(5, 1);
  const nst_expr *items[] = {&a, &b, &c};
  const nst_ir_set list = {.kind = NST_IRSET_LIST, .items = items, .nitems = 3};
  nst_span where;
  assert_null(nst_set_open(&s, &list, eval, NULL, &where));
  holds(&s, (int64_t[]){5, 3, 5}, 3); /* as written */
  nst_expr low = number(3, 1), high = number(64, 1);
  assert_null(open(&s, NST_IRSET_POW2, &low, &high, NULL));
  holds(&s, (int64_t[]){4, 8, 16, 32, 64}, 5);
  assert_null(open(&s, NST_IRSET_POW2, &high, &low, NULL));
  assert_int_equal(s.count, 0);
  low = number(-9, 1);
  high = number(2, 1);
  assert_null(open(&s, NST_IRSET_POW2, &low, &high, NULL));
  holds(&s, (int64_t[]){1, 2}, 2);
  nst_expr zero = number(0, 1), quotient = {.kind = NST_X_DIV, .a = &a, .b = &zero};
  items[1] = &quotient;
  assert_non_null(nst_set_open(&s, &list, eval, NULL, &where));
  nst_set_fini(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_ranges),
    cmocka_unit_test(test_divisors),
    cmocka_unit_test(test_lists_and_powers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
