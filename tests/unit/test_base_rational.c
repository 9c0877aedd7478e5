/* Exact numbers: a table of results made elsewhere, the edges of 128 bits, and
 * identities on random numbers. */
#include "test.h"

#include "base/rational.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX ((nst_i128)(~(unsigned __int128)0 >> 1))
#define MIN (-MAX - 1)

static nst_i128 i128(const char *s) {
  bool negative = *s == '-';
  unsigned __int128 v = 0;
  for (s += negative; *s; s++) v = v * 10 + (unsigned)(*s - '0');
  return (nst_i128)(negative ? 0 - v : v);
}

static nst_rat rat(const char *num, const char *den) { return (nst_rat){i128(num), i128(den)}; }

static void show(char *out, size_t cap, nst_rat r) {
  char num[48], den[48];
  nst_rat_print(num, sizeof num, (nst_rat){r.num, 1});
  nst_rat_print(den, sizeof den, (nst_rat){r.den, 1});
  snprintf(out, cap, "%s/%s", num, den);
}

static void test_table(void **state) {
  (void)state;
  static const struct {
    const char *op, *an, *ad, *bn, *bd, *result;
  } cases[] = {
#include "rational_cases.inc"
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    nst_rat a = rat(cases[i].an, cases[i].ad), b = rat(cases[i].bn, cases[i].bd), r = {0, 1};
    const char *op = cases[i].op;
    char got[100];
    bool ok = true;
    if (!strcmp(op, "cmp")) {
      assert_int_equal(nst_rat_cmp(a, b), atoi(cases[i].result));
      assert_int_equal(nst_rat_cmp(b, a), -atoi(cases[i].result));
      continue;
    }
    if (!strcmp(op, "dbl")) {
      double want = strtod(cases[i].result, NULL), is = nst_rat_to_double(a);
      assert_memory_equal(&want, &is, sizeof want);
      continue;
    }
    if (!strcmp(op, "add"))
      ok = nst_rat_add(&r, a, b);
    else if (!strcmp(op, "sub"))
      ok = nst_rat_sub(&r, a, b);
    else if (!strcmp(op, "mul"))
      ok = nst_rat_mul(&r, a, b);
    else if (!strcmp(op, "div"))
      ok = nst_rat_div(&r, a, b);
    else if (!strcmp(op, "fdiv"))
      ok = nst_rat_floordiv(&r, a, b);
    else if (!strcmp(op, "mod"))
      ok = nst_rat_mod(&r, a, b);
    else if (!strcmp(op, "pow"))
      ok = nst_rat_pow(&r, a, (int64_t)b.num);
    else if (!strcmp(op, "make"))
      ok = nst_rat_make(&r, a.num, b.num);
    else if (!strcmp(op, "floor"))
      ok = nst_rat_floor(&r, a);
    else if (!strcmp(op, "ceil"))
      ok = nst_rat_ceil(&r, a);
    else
      fail_msg("unknown operation %s", op);
    if (ok)
      show(got, sizeof got, r);
    else
      strcpy(got, "x");
    if (strcmp(got, cases[i].result) != 0) {
      fail_msg("%s %s/%s %s/%s: expected %s, got %s", op, cases[i].an, cases[i].ad, cases[i].bn, cases[i].bd,
               cases[i].result, got);
    }
  }
}

static void expect(nst_rat r, nst_i128 num, nst_i128 den) {
  assert_true(r.num == num);
  assert_true(r.den == den);
}

static void test_edges(void **state) {
  (void)state;
  nst_rat r, one = {1, 1}, max = {MAX, 1}, min = {MIN, 1}, zero = {0, 1}, minus_one = {-1, 1};
  assert_false(nst_rat_add(&r, max, one));
  assert_false(nst_rat_sub(&r, min, one));
  assert_true(nst_rat_add(&r, max, min));
  expect(r, -1, 1);
  assert_true(nst_rat_sub(&r, minus_one, min)); /* -1 + 2^127 */
  expect(r, MAX, 1);
  assert_false(nst_rat_sub(&r, zero, min));
  assert_false(nst_rat_neg(&r, min));
  assert_true(nst_rat_neg(&r, max));
  expect(r, -MAX, 1);
  assert_false(nst_rat_mul(&r, min, minus_one));
  assert_false(nst_rat_floordiv(&r, min, minus_one));
  assert_true(nst_rat_mod(&r, min, minus_one));
  expect(r, 0, 1);
  assert_true(nst_rat_make(&r, MIN, MIN));
  expect(r, 1, 1);
  assert_true(nst_rat_make(&r, 0, MIN));
  expect(r, 0, 1);
  assert_false(nst_rat_make(&r, 1, MIN)); /* 1 / -2^127: the denominator does not fit */
  assert_true(nst_rat_make(&r, 2, MIN));
  expect(r, -1, (nst_i128)1 << 126);
  assert_false(nst_rat_make(&r, 1, 0));
  assert_false(nst_rat_div(&r, one, zero));
  assert_false(nst_rat_floordiv(&r, one, zero));
  assert_false(nst_rat_mod(&r, one, zero));
  /* The sum on the way is 2^127, the result is not. */
  nst_rat half_max = {MAX, 2};
  assert_true(nst_rat_add(&r, half_max, half_max));
  expect(r, MAX, 1);
  /* Two large denominators whose sum is small. */
  nst_rat third = {1, 3}, two_thirds = {2, 3};
  assert_true(nst_rat_add(&r, third, two_thirds));
  expect(r, 1, 1);
  assert_true(nst_rat_pow(&r, (nst_rat){2, 1}, 126));
  expect(r, (nst_i128)1 << 126, 1);
  assert_false(nst_rat_pow(&r, (nst_rat){2, 1}, 127));
  assert_true(nst_rat_pow(&r, (nst_rat){-2, 1}, 127));
  expect(r, MIN, 1);
  assert_false(nst_rat_pow(&r, (nst_rat){-2, 1}, -127));
  assert_true(nst_rat_pow(&r, minus_one, INT64_MIN));
  expect(r, 1, 1);
  assert_true(nst_rat_pow(&r, zero, 0));
  expect(r, 1, 1);
  assert_false(nst_rat_pow(&r, zero, -1));
  assert_true(nst_rat_floor(&r, (nst_rat){-7, 2}));
  expect(r, -4, 1);
  assert_true(nst_rat_ceil(&r, (nst_rat){-7, 2}));
  expect(r, -3, 1);
  assert_int_equal(nst_rat_cmp((nst_rat){MAX, MAX - 1}, (nst_rat){MAX - 1, MAX - 2}), -1);
  assert_int_equal(nst_rat_cmp(min, max), -1);
  int64_t i;
  assert_true(nst_rat_to_i64(&i, nst_rat_int(INT64_MIN)));
  assert_true(i == INT64_MIN);
  assert_false(nst_rat_to_i64(&i, (nst_rat){(nst_i128)INT64_MAX + 1, 1}));
  assert_false(nst_rat_to_i64(&i, (nst_rat){1, 2}));
}

static void test_to_double_rounds_once(void **state) {
  (void)state;
  nst_i128 two53 = (nst_i128)1 << 53;
  assert_true(nst_rat_to_double((nst_rat){two53 + 1, 1}) == 0x1p53);         /* tie to even: down */
  assert_true(nst_rat_to_double((nst_rat){two53 + 3, 1}) == 0x1p53 + 4);     /* tie to even: up */
  assert_true(nst_rat_to_double((nst_rat){2 * two53 + 3, 2}) == 0x1p53 + 2); /* above the tie */
  assert_true(nst_rat_to_double((nst_rat){-(2 * two53 + 1), 2}) == -0x1p53);
  /* A tie but for one part in 2^127: rounding twice (to 64 bits, then to 53) gets it wrong. */
  nst_i128 near_tie = ((two53 + 1) << 73) + 1;
  assert_true(nst_rat_to_double((nst_rat){near_tie, 1}) == ldexp(0x1p53 + 2, 73));
  assert_true(nst_rat_to_double((nst_rat){near_tie, ((nst_i128)1 << 73)}) == 0x1p53 + 2);
  assert_true(nst_rat_to_double((nst_rat){1, 3}) == 1.0 / 3.0);
  assert_true(nst_rat_to_double((nst_rat){1, MAX}) == 0x1p-127);
  assert_true(nst_rat_to_double((nst_rat){MIN, 1}) == -0x1p127);
}

static uint64_t next(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return *seed >> 11;
}

static nst_rat random_rat(uint64_t *seed) {
  nst_rat r;
  int bits = (int)(next(seed) % 62);
  nst_i128 num = (nst_i128)(next(seed) >> bits % 53), den = (nst_i128)(next(seed) >> (bits * 7) % 53) + 1;
  assert_true(nst_rat_make(&r, next(seed) & 1 ? -num : num, den));
  return r;
}

static void test_identities(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int i = 0; i < 200000; i++) {
    nst_rat a = random_rat(&seed), b = random_rat(&seed), r, q, m;
    if (nst_rat_add(&r, a, b)) {
      assert_true(nst_rat_sub(&r, r, b));
      assert_int_equal(nst_rat_cmp(r, a), 0);
    }
    if (b.num == 0) continue;
    if (nst_rat_mul(&r, a, b)) {
      assert_true(nst_rat_div(&r, r, b));
      assert_int_equal(nst_rat_cmp(r, a), 0);
    }
    if (nst_rat_floordiv(&q, a, b) && nst_rat_mod(&m, a, b) && nst_rat_mul(&r, q, b) && nst_rat_add(&r, r, m)) {
      assert_int_equal(nst_rat_cmp(r, a), 0);
      assert_true(m.num == 0 || (m.num < 0) == (b.num < 0));
    }
  }
}

static void parse(const char *text, const char *want) {
  nst_rat r;
  char got[100] = "x";
  if (nst_rat_parse(&r, text, strlen(text))) show(got, sizeof got, r);
  assert_string_equal(got, want);
}

static void test_parse(void **state) {
  (void)state;
  parse("0", "0/1");
  parse("512", "512/1");
  parse("1_000_000", "1000000/1");
  parse("0.5", "1/2");
  parse("2e9", "2000000000/1");
  parse("2.50E-1", "1/4");
  parse("1e+3", "1000/1");
  parse("000.000", "0/1");
  parse("0e999999999999", "0/1");
  parse("100e-2", "1/1");
  parse("1_0.0_1", "1001/100");
  parse("170141183460469231731687303715884105727", "170141183460469231731687303715884105727/1");
  parse("170141183460469231731687303715884105728", "x");
  parse("1e38", "100000000000000000000000000000000000000/1");
  parse("1e39", "x");
  parse("1e-38", "1/100000000000000000000000000000000000000");
  parse("1e-39", "x");
  parse("8e-39", "1/125000000000000000000000000000000000000"); /* 10^39 does not fit, the value does */
  parse("5e-39", "x");
  parse("1e999999999999999999999", "x");
  parse("1e-999999999999999999999", "x");
  /* 2^-100 written out: a numerator of 233 bits before it is reduced. */
  parse("0.0000000000000000000000000000007888609052210118054117285652827862296732064351090230047702789306640625",
        "1/1267650600228229401496703205376");
  static const char *const bad[] = {"",    "_1",   "1_",   "1__0",  "1.",   ".5", "1._5", "1_.5", "1e",
                                    "1e+", "1e_5", "1e5_", "1.2.3", "0x10", "1 ", "-1",   "1e5x"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) parse(bad[i], "x");
  /* A million zeros on either side of the point cost time linear in them, and change nothing. */
  size_t n = 1000000;
  char *text = malloc(2 * n + 3);
  memset(text, '0', 2 * n + 3);
  text[n] = '7';
  text[n + 1] = '.';
  nst_rat r;
  assert_true(nst_rat_parse(&r, text, 2 * n + 2));
  expect(r, 7, 1);
  memset(text, '9', 2 * n);
  assert_false(nst_rat_parse(&r, text, 2 * n));
  free(text);
}

static void print(nst_rat r, const char *want) {
  char text[48];
  size_t n = nst_rat_print(text, sizeof text, r);
  assert_string_equal(text, want);
  assert_int_equal(n, strlen(want));
}

static void test_print(void **state) {
  (void)state;
  print((nst_rat){0, 1}, "0");
  print((nst_rat){MAX, 1}, "170141183460469231731687303715884105727");
  print((nst_rat){MIN, 1}, "-170141183460469231731687303715884105728");
  print((nst_rat){1, 2}, "0.5");
  print((nst_rat){-1, 3}, "-0.3333333333333333");
  print((nst_rat){1, MAX}, "5.877471754111438e-39");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_table),      cmocka_unit_test(test_edges), cmocka_unit_test(test_to_double_rounds_once),
    cmocka_unit_test(test_identities), cmocka_unit_test(test_parse), cmocka_unit_test(test_print),
  };
  return cmocka_run_group_tests_name("base/rational", tests, NULL, NULL);
}
