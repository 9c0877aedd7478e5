/* Arenas, vectors, names. */
#include "test.h"

#include "base/arena.h"
#include "base/intern.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_arena_gives_zeroed_aligned_distinct(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  unsigned char *last = NULL;
  for (size_t size = 0; size < 3000; size++) {
    unsigned char *p = nst_arena_alloc(arena, size);
    assert_non_null(p);
    assert_ptr_not_equal(p, last);
    assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
    for (size_t i = 0; i < size; i++) assert_int_equal(p[i], 0);
    memset(p, 0xA5, size);
    last = p;
  }
  nst_arena_free(arena);
  nst_arena_free(NULL);
}

static void test_arena_large_objects_leave_small_ones_alone(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  enum { N = 64 };
  unsigned *small[N];
  char *large[N];
  for (int i = 0; i < N; i++) {
    small[i] = NST_NEW(arena, unsigned);
    *small[i] = (unsigned)i;
    large[i] = NST_NEW_ARRAY(arena, 3000 + 40000 * (i % 5), char);
    memset(large[i], i, (size_t)(3000 + 40000 * (i % 5)));
  }
  for (int i = 0; i < N; i++) {
    assert_int_equal(*small[i], i);
    assert_int_equal(large[i][0], i);
    assert_int_equal(large[i][2999 + 40000 * (i % 5)], i);
  }
  nst_arena_free(arena);
}

static void test_arena_text(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  assert_string_equal(nst_arena_strndup(arena, "abcdef", 3), "abc");
  assert_string_equal(nst_arena_strndup(arena, NULL, 0), "");
  assert_string_equal(nst_arena_printf(arena, "%s-%d", "x", 7), "x-7");
  char *long_text = nst_arena_printf(arena, "%01000d|", 5); /* longer than the buffer on the stack */
  assert_int_equal(strlen(long_text), 1001);
  assert_int_equal(long_text[999], '5');
  assert_string_equal(nst_arena_printf(arena, "%0255d", 0) + 254, "0");
  assert_string_equal(nst_arena_printf(arena, "%0256d", 0) + 255, "0");
  nst_arena_free(arena);
}

static void test_vec(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  NST_VEC(uint64_t) v = {0};
  for (uint64_t i = 0; i < 1000000; i++) *nst_vec_push(arena, &v) = i * i;
  assert_int_equal(v.len, 1000000);
  for (uint64_t i = 0; i < v.len; i++) assert_true(v.items[i] == i * i);
  nst_arena_free(arena);
}

static void test_intern_million_names(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  nst_interner *in = nst_interner_new(arena);
  enum { N = 1000000 };
  nst_name *names = malloc(N * sizeof *names);
  char text[32];
  for (int i = 0; i < N; i++) names[i] = nst_intern(in, text, (size_t)snprintf(text, sizeof text, "name_%d", i));
  for (int i = 0; i < N; i++) {
    snprintf(text, sizeof text, "name_%d", i);
    if (nst_intern_cstr(in, text) != names[i]) fail_msg("%s has two pointers", text);
    assert_string_equal(names[i], text);
  }
  free(names);
  assert_ptr_equal(nst_intern(in, "abc", 2), nst_intern_cstr(in, "ab"));
  assert_ptr_not_equal(nst_intern(in, "a\0b", 3), nst_intern(in, "a\0c", 3));
  assert_ptr_not_equal(nst_intern(in, "a\0b", 3), nst_intern_cstr(in, "a"));
  assert_ptr_equal(nst_intern(in, "", 0), nst_intern(in, "x", 0));
  nst_interner_free(in);
  nst_interner_free(NULL);
  nst_arena_free(arena);
}

static void nearest(const char *wrong, const char *want, size_t n, const char *const *candidates) {
  nst_name got = nst_name_nearest(wrong, candidates, n);
  if (!want)
    assert_null(got);
  else if (!got)
    fail_msg("%s: nothing near", wrong);
  else
    assert_string_equal(got, want);
}
#define NEAREST(wrong, want, ...)                                                                                      \
  do {                                                                                                                 \
    const char *const c[] = {__VA_ARGS__};                                                                             \
    nearest((wrong), (want), sizeof c / sizeof *c, c);                                                                 \
  } while (0)

static void test_nearest(void **state) {
  (void)state;
  NEAREST("capcity", "capacity", "bandwidth", "capacity", "energy");
  NEAREST("cpaacity", "capacity", "capacity");
  NEAREST("bandwith", "bandwidth", "bandwidth", "capacity");
  NEAREST("glb", "GLB", "DRAM", "GLB", "RF");
  NEAREST("CAPACTIY", "capacity", "capacity");
  NEAREST("tm", "tn", "tn", "tk"); /* ties: the first */
  NEAREST("X", NULL, "A", "B");    /* one letter is not near another */
  NEAREST("x", "X", "A", "X");
  NEAREST("weights", NULL, "A", "inputs", "W");
  NEAREST("K", "K0", "K0", "M0");
  NEAREST("same", NULL, NULL, "other_thing");
  nst_name self = "self";
  assert_null(nst_name_nearest(self, &self, 1));
  assert_null(nst_name_nearest(self, NULL, 0));
  char *huge = malloc(100001);
  memset(huge, 'a', 100000);
  huge[100000] = '\0';
  NEAREST(huge, NULL, "aaaa");
  NEAREST("aaaa", NULL, huge);
  free(huge);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_arena_gives_zeroed_aligned_distinct),
    cmocka_unit_test(test_arena_large_objects_leave_small_ones_alone),
    cmocka_unit_test(test_arena_text),
    cmocka_unit_test(test_vec),
    cmocka_unit_test(test_intern_million_names),
    cmocka_unit_test(test_nearest),
  };
  return cmocka_run_group_tests_name("base/memory", tests, NULL, NULL);
}
