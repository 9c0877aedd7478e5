/* Text under construction; numbers and JSON strings, also under a locale whose
 * decimal point is a comma. */
#include "test.h"

#include "base/buffer.h"
#include "base/rational.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_building(void **state) {
  (void)state;
  nst_buffer b = {0};
  nst_buffer_clear(&b);
  nst_buffer_add(&b, NULL, 0);
  assert_null(b.text);
  nst_buffer_puts(&b, "ab");
  nst_buffer_putc(&b, 'c');
  nst_buffer_pad(&b, '.', 3);
  nst_buffer_printf(&b, "%d|%s", 42, "x");
  nst_buffer_int(&b, INT64_MIN);
  nst_buffer_int(&b, 0);
  nst_buffer_int(&b, INT64_MAX);
  assert_string_equal(b.text, "abc...42|x-922337203685477580809223372036854775807");
  assert_int_equal(b.len, strlen(b.text));
  nst_buffer_clear(&b);
  assert_string_equal(b.text, "");
  nst_buffer_add(&b, "a\0b", 3);
  assert_int_equal(b.len, 3);
  nst_buffer_clear(&b);
  for (int i = 0; i < 1000000; i++) nst_buffer_putc(&b, (char)('a' + i % 26));
  assert_int_equal(b.len, 1000000);
  assert_int_equal(strlen(b.text), 1000000);
  nst_buffer_printf(&b, "%0100000d", 1); /* longer than what is reserved for it at first */
  assert_int_equal(b.len, 1100000);
  assert_int_equal(b.text[1099999], '1');
  nst_buffer_fini(&b);
  assert_null(b.text);
  nst_buffer_fini(&b);
}

static void prints(double v, const char *want) {
  char text[NST_DOUBLE_TEXT];
  size_t n = nst_double_format(text, v);
  assert_string_equal(text, want);
  assert_int_equal(n, strlen(want));
}

static void some_doubles(void) {
  prints(0, "0");
  prints(-0.0, "-0");
  prints(1, "1");
  prints(-1.5, "-1.5");
  prints(0.1, "0.1");
  prints(0.1 + 0.2, "0.30000000000000004");
  prints(1.0 / 3, "0.3333333333333333");
  prints(1234567.875, "1234567.875");
  prints(0.000001, "0.000001");
  prints(0.0000001, "1e-7");
  prints(1.5e-7, "1.5e-7");
  prints(1e20, "100000000000000000000");
  prints(1e21, "1e21");
  prints(1e22, "1e22");
  prints(0x1p53, "9007199254740992");
  prints(0x1p-44, "5.684341886080802e-14"); /* the nearest 16 digits do not read back, the next do */
  prints(DBL_MAX, "1.7976931348623157e308");
  prints(DBL_MIN, "2.2250738585072014e-308");
  prints(DBL_TRUE_MIN, "5e-324");
  prints(5e-324 * 3, "1.5e-323");
  prints(NAN, "null");
  prints(INFINITY, "null");
  prints(-INFINITY, "null");
}

static void test_doubles(void **state) {
  (void)state;
  some_doubles();
}

static void test_doubles_read_back(void **state) {
  (void)state;
  uint64_t seed = 9;
  for (int i = 0; i < 200000; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = i < 2046 ? (uint64_t)(i + 1) << 52 : seed ^ seed >> 29;
    double v;
    memcpy(&v, &bits, sizeof v);
    if (!isfinite(v)) continue;
    char text[NST_DOUBLE_TEXT], *end;
    size_t n = nst_double_format(text, v);
    double back = strtod(text, &end);
    assert_ptr_equal(end, text + n);
    assert_memory_equal(&v, &back, sizeof v);
  }
}

/* The locale is made by the build with localedef, where the system has its sources. */
static void test_comma_locale(void **state) {
  (void)state;
  if (!setlocale(LC_ALL, "de_DE.UTF-8")) {
    setlocale(LC_ALL, "C");
    print_message("no locale with a decimal comma on this machine\n");
    skip();
  }
  char comma[8];
  snprintf(comma, sizeof comma, "%.1f", 0.5);
  assert_string_equal(comma, "0,5");
  some_doubles();
  nst_rat r;
  assert_true(nst_rat_parse(&r, "1234.5", 6));
  char text[48];
  nst_rat_print(text, sizeof text, r);
  assert_string_equal(text, "1234.5");
  nst_buffer b = {0};
  nst_buffer_double(&b, 1e6 + 0.25);
  nst_buffer_int(&b, 1000000);
  assert_string_equal(b.text, "1000000.251000000");
  nst_buffer_fini(&b);
  setlocale(LC_ALL, "C");
}

static void json(const char *text, size_t len, const char *want) {
  nst_buffer b = {0};
  nst_buffer_json_string(&b, text, len);
  assert_string_equal(b.text, want);
  nst_buffer_fini(&b);
}
#define JSON(text, want) json((text), sizeof(text) - 1, (want))

static void test_json_strings(void **state) {
  (void)state;
  JSON("", "\"\"");
  JSON("plain", "\"plain\"");
  JSON("a\"b\\c/", "\"a\\\"b\\\\c/\"");
  JSON("\n\r\t\x01\x1f\0z", "\"\\n\\r\\t\\u0001\\u001f\\u0000z\"");
  JSON("é日本\xF0\x9F\x98\x80", "\"é日本\xF0\x9F\x98\x80\"");
  JSON("a\xFFz", "\"a\xEF\xBF\xBDz\"");
  JSON("\xC3", "\"\xEF\xBF\xBD\"");                                 /* cut */
  JSON("\xC0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");                 /* overlong */
  JSON("\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""); /* surrogate */
  JSON("\xF4\x90\x80\x80!", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD!\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_building),     cmocka_unit_test(test_doubles),      cmocka_unit_test(test_doubles_read_back),
    cmocka_unit_test(test_comma_locale), cmocka_unit_test(test_json_strings),
  };
  return cmocka_run_group_tests_name("base/buffer", tests, NULL, NULL);
}
