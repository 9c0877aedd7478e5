/* How numbers are shown in reports. */
#include "test.h"

#include "driver/internal.h"
#include <float.h>
#include <locale.h>
#include <math.h>

static void grouped(int64_t v, const char *want) {
  nst_buffer b = {0};
  nst_number_grouped(&b, v);
  assert_string_equal(b.text, want);
  nst_buffer_fini(&b);
}

static void decimal(double v, int digits, const char *want) {
  nst_buffer b = {0};
  nst_number_decimal(&b, v, digits);
  assert_string_equal(b.text, want);
  nst_buffer_fini(&b);
}

static void test_grouped(void **state) {
  (void)state;
  grouped(0, "0");
  grouped(999, "999");
  grouped(1000, "1,000");
  grouped(-1234567, "-1,234,567");
  grouped(INT64_MAX, "9,223,372,036,854,775,807");
  grouped(INT64_MIN, "-9,223,372,036,854,775,808");
}

static void test_decimal(void **state) {
  (void)state;
  decimal(0, 3, "0");
  decimal(0.5, 3, "0.5");
  decimal(12345.678, 2, "12,345.68");
  decimal(12345.0, 2, "12,345");
  decimal(0.0625, 4, "0.0625");
  decimal(1.0004, 3, "1");
  decimal(-2.5, 1, "-2.5");
  decimal(-0.0001, 2, "0");
  decimal(1e-7, 3, "1e-7");
  decimal(9.999e-6, 3, "1e-5");
  decimal(2.5e20, 3, "2.5e+20");
  decimal(DBL_MAX, 3, "1.8e+308");
  decimal(999999999999999.0, 3, "999,999,999,999,999");
  decimal(NAN, 3, "undefined");
}

static void binary(int64_t v, const char *want) {
  nst_buffer b = {0};
  nst_number_binary(&b, v);
  assert_string_equal(b.len ? b.text : "", want);
  nst_buffer_fini(&b);
}

static void test_binary(void **state) {
  (void)state;
  binary(1023, "");
  binary(1024, "1 KiB");
  binary(128 * 1024, "128 KiB");
  binary(5857280, "5.59 MiB");
  binary(INT64_MAX, "8 EiB");
}

static void json(nst_i128 num, nst_i128 den, const char *want) {
  nst_buffer b = {0};
  nst_rat r;
  assert_true(nst_rat_make(&r, num, den));
  nst_number_json(&b, r);
  assert_string_equal(b.text, want);
  nst_buffer_fini(&b);
}

static void test_json(void **state) {
  (void)state;
  json(4, 2, "2");
  json(1, 2, "0.5");
  json(1, 3, "0.3333333333333333");
  json(INT64_MAX, 1, "9223372036854775807");
  json((nst_i128)1 << 70, 1, "1.1805916207174113e21");
  setlocale(LC_ALL, "de_DE.UTF-8"); /* where it exists, a host program's locale changes nothing */
  json(1, 2, "0.5");
  decimal(1234.5, 1, "1,234.5");
  setlocale(LC_ALL, "C");
}

static void test_round_up(void **state) {
  (void)state;
  nst_rat r;
  assert_true(nst_rat_make(&r, 7, 2));
  assert_int_equal(nst_round_up(r), 4);
  assert_int_equal(nst_round_up(nst_rat_int(4)), 4);
  assert_true(nst_rat_make(&r, (nst_i128)1 << 80, 1));
  assert_true(nst_round_up(r) == INT64_MAX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_grouped), cmocka_unit_test(test_decimal),  cmocka_unit_test(test_binary),
    cmocka_unit_test(test_json),    cmocka_unit_test(test_round_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
