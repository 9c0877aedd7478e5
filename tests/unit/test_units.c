/* Units: every entry of the table, quotients, the algebra, and the words for them. */
#include "test.h"

#include "frontend/units.h"

#include <string.h>

static nst_arena *arena;

static nst_unit parse(const char *text, nst_rat *scale) {
  nst_unit u;
  assert_true(nst_unit_parse(&u, scale, text, strlen(text)));
  return u;
}

static void check(const char *text, nst_unit unit, int64_t num, int64_t den) {
  nst_rat scale, want;
  assert_true(nst_unit_equal(parse(text, &scale), unit));
  assert_true(nst_rat_make(&want, num, den));
  assert_int_equal(nst_rat_cmp(scale, want), 0);
}

static void test_table(void **state) {
  (void)state;
  check("B", NST_UNIT_BYTE, 1, 1);
  check("b", NST_UNIT_BYTE, 1, 8);
  check("KB", NST_UNIT_BYTE, 1000, 1);
  check("kB", NST_UNIT_BYTE, 1000, 1);
  check("KiB", NST_UNIT_BYTE, 1024, 1);
  check("Kb", NST_UNIT_BYTE, 125, 1);
  check("MiB", NST_UNIT_BYTE, 1 << 20, 1);
  check("TiB", NST_UNIT_BYTE, INT64_C(1) << 40, 1);
  check("Gb", NST_UNIT_BYTE, 125000000, 1);
  check("cycle", NST_UNIT_CYCLE, 1, 1);
  check("GHz", NST_UNIT_HERTZ, 1000000000, 1);
  check("pJ", NST_UNIT_PJ, 1, 1);
  check("fJ", NST_UNIT_PJ, 1, 1000);
  check("J", NST_UNIT_PJ, INT64_C(1000000000000), 1);
  check("W", NST_UNIT_WATT, INT64_C(1000000000000), 1);
  check("mW", NST_UNIT_WATT, 1000000000, 1);
  check("um2", NST_UNIT_MM2, 1, 1000000);
  check("B/cycle", NST_UNIT_BYTE_PER_CYCLE, 1, 1);
  check("GB/s", NST_UNIT_BYTE_PER_SECOND, 1000000000, 1);
  check("pJ/B", NST_UNIT_PJ_PER_BYTE, 1, 1);
  check("pJ/b", NST_UNIT_PJ_PER_BYTE, 8, 1);
  check("J/s", NST_UNIT_WATT, INT64_C(1000000000000), 1); /* a watt, in another spelling */
  check("KiB/B", NST_UNIT_NONE, 1024, 1);
}

static void test_not_units(void **state) {
  (void)state;
  static const char *const wrong[] = {"", "KIB", "bytes", "B/", "/s", "B/cycle/s", "B cycle", "Kibi", "mm"};
  nst_unit u;
  nst_rat scale;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_false(nst_unit_parse(&u, &scale, wrong[i], strlen(wrong[i])));
}

static void test_algebra(void **state) {
  (void)state;
  nst_unit u;
  assert_true(nst_unit_mul(&u, NST_UNIT_BYTE, NST_UNIT_CYCLE, -1));
  assert_true(nst_unit_equal(u, NST_UNIT_BYTE_PER_CYCLE));
  assert_true(nst_unit_mul(&u, NST_UNIT_PJ_PER_BYTE, NST_UNIT_BYTE, 1));
  assert_true(nst_unit_equal(u, NST_UNIT_PJ));
  assert_true(nst_unit_mul(&u, NST_UNIT_BYTE, NST_UNIT_BYTE, -1));
  assert_true(nst_unit_is_none(u));
  assert_true(nst_unit_pow(&u, NST_UNIT_BYTE, 2));
  assert_true(nst_unit_root(&u, u));
  assert_true(nst_unit_equal(u, NST_UNIT_BYTE));
  assert_false(nst_unit_root(&u, NST_UNIT_BYTE));
  assert_false(nst_unit_pow(&u, NST_UNIT_BYTE, 100));
  assert_false(nst_unit_pow(&u, NST_UNIT_BYTE, INT64_MAX));
  assert_true(nst_unit_pow(&u, NST_UNIT_NONE, INT64_MAX));
  assert_true(nst_unit_pow(&u, NST_UNIT_BYTE, -99));
  assert_false(nst_unit_mul(&u, u, NST_UNIT_BYTE, -1));
}

static void test_words(void **state) {
  (void)state;
  nst_unit u;
  assert_string_equal(nst_unit_describe(arena, NST_UNIT_NONE), "a plain number");
  assert_string_equal(nst_unit_describe(arena, NST_UNIT_BYTE), "bytes");
  assert_string_equal(nst_unit_describe(arena, NST_UNIT_BYTE_PER_CYCLE), "bytes per cycle");
  assert_true(nst_unit_mul(&u, NST_UNIT_PJ, NST_UNIT_BYTE, 1));
  assert_string_equal(nst_unit_describe(arena, u), "B*pJ");
  assert_true(nst_unit_mul(&u, NST_UNIT_NONE, NST_UNIT_MM2, -1));
  assert_string_equal(nst_unit_describe(arena, u), "1/mm2");
  assert_true(nst_unit_pow(&u, NST_UNIT_BYTE, 2));
  assert_string_equal(nst_unit_describe(arena, u), "B**2");
  assert_string_equal(nst_unit_usual(NST_UNIT_PJ_PER_BYTE), "pJ/B");
  assert_null(nst_unit_usual(NST_UNIT_NONE));
  assert_string_equal(nst_unit_nearest("kib"), "KiB");
  assert_string_equal(nst_unit_nearest("bytes"), "B");
  assert_string_equal(nst_unit_nearest("ghz"), "GHz");
  assert_null(nst_unit_nearest("furlong"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_table),
    cmocka_unit_test(test_not_units),
    cmocka_unit_test(test_algebra),
    cmocka_unit_test(test_words),
  };
  arena = nst_arena_new();
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  nst_arena_free(arena);
  return failed;
}
