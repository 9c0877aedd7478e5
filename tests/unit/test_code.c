/* Straight-line code and its compilation: every instruction on awkward numbers,
 * at every level; failing units; many units in one process. */
#include "test.h"

#include "backend/jit.h"
#include "hand.h"
#include <stdio.h>
#include <string.h>

static nst_jit *new_jit(void) {
  nst_jit *jit = hand_jit_new();
  assert_non_null(jit);
  return jit;
}

static const int64_t numbers[] = {0,
                                  1,
                                  2,
                                  3,
                                  7,
                                  16,
                                  100,
                                  -1,
                                  -2,
                                  -7,
                                  -100,
                                  INT64_C(1) << 31,
                                  INT64_C(1) << 40,
                                  INT64_MAX,
                                  INT64_MAX - 1,
                                  INT64_MIN,
                                  INT64_MIN + 1,
                                  INT64_C(3037000500)};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* One store per instruction, in this order; operands by pointer, so nothing folds. */
static int build_all(nst_code *c) {
  nst_id a = nst_code_load(c, 0, 0), b = nst_code_load(c, 0, 1), p = nst_code_load_point(c, 1);
  nst_id one = nst_code_const(c, 1), zero = nst_code_const(c, 0);
  nst_id positive = nst_code_op(c, NST_INST_MAX, b, one), ok = nst_code_truth(c, true);
  nst_id natural = nst_code_op(c, NST_INST_MAX, a, zero);
  int slot = 0;
  nst_code_store(c, slot++, nst_code_op(c, NST_INST_DIV, a, positive));
  nst_code_store(c, slot++, nst_code_op(c, NST_INST_MOD, a, positive));
  nst_code_store(c, slot++, nst_code_op(c, NST_INST_GCD, natural, positive));
  nst_code_store(c, slot++, nst_code_op(c, NST_INST_MIN, a, b));
  nst_code_store(c, slot++, nst_code_op(c, NST_INST_MAX, a, b));
  nst_inst_op arithmetic[] = {NST_INST_ADD, NST_INST_SUB, NST_INST_MUL};
  for (int i = 0; i < 3; i++) {
    nst_id fine = ok;
    nst_id v = nst_code_checked(c, arithmetic[i], a, b, &fine);
    nst_code_store(c, slot++, v);
    nst_code_store(c, slot++, nst_code_select(c, fine, one, zero));
  }
  nst_id less = nst_code_op(c, NST_INST_LT, a, b), equal = nst_code_op(c, NST_INST_EQ, a, b);
  nst_id either = nst_code_op(c, NST_INST_OR, less, equal), both = nst_code_op(c, NST_INST_AND, less, equal);
  nst_code_store(c, slot++, nst_code_select(c, either, one, zero));
  nst_code_store(c, slot++, nst_code_select(c, both, one, zero));
  nst_code_store(c, slot++, nst_code_select(c, nst_code_not(c, less), a, b));
  nst_code_store(c, slot++, nst_code_op(c, NST_INST_ADD, p, nst_code_const(c, 5)));
  c->status = nst_code_select(c, equal, nst_code_const(c, 17), nst_code_const(c, -3));
  return slot;
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static int64_t floor_mod(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }
static int64_t gcd(int64_t a, int64_t b) { return b ? gcd(b, a % b) : a; }

static void check_all(nst_code_function *f) {
  int64_t points[] = {-5, 40};
  for (int i = 0; i < NUMBERS; i++)
    for (int j = 0; j < NUMBERS; j++) {
      int64_t a = numbers[i], b = numbers[j], pair[] = {a, b}, out[32], want[32], v;
      const int64_t *in[] = {pair, points};
      int64_t status = f(in, 1, out);
      int64_t positive = b > 1 ? b : 1;
      int slot = 0;
      want[slot++] = floor_div(a, positive);
      want[slot++] = floor_mod(a, positive);
      want[slot++] = gcd(a > 0 ? a : 0, positive);
      want[slot++] = a < b ? a : b;
      want[slot++] = a > b ? a : b;
      bool over = __builtin_add_overflow(a, b, &v);
      want[slot++] = v;
      want[slot++] = !over;
      over = __builtin_sub_overflow(a, b, &v);
      want[slot++] = v;
      want[slot++] = !over;
      over = __builtin_mul_overflow(a, b, &v);
      want[slot++] = v;
      want[slot++] = !over;
      want[slot++] = a <= b;
      want[slot++] = 0;
      want[slot++] = a < b ? b : a;
      want[slot++] = 45;
      assert_memory_equal(out, want, (size_t)slot * sizeof *want);
      assert_int_equal(status, a == b ? 17 : -3);
    }
}

static void every_instruction_at_every_level(void **state) {
  (void)state;
  nst_jit *jit = new_jit();
  for (int level = NST_JIT_O0; level <= NST_JIT_O2; level++) {
    nst_arena *arena = nst_arena_new();
    nst_code code;
    nst_code_init(&code, arena, "all");
    build_all(&code);
    nst_jit_unit *unit = NULL;
    nst_code_function *f = NULL;
    assert_int_equal(nst_jit_compile(&unit, &f, jit, &code, 1, (nst_jit_options){.level = (nst_jit_level)level}, NULL),
                     NST_JIT_OK);
    nst_arena_free(arena); /* compiled code needs nothing of it */
    check_all(f);
    nst_jit_unit_free(jit, unit);
  }
  nst_jit_free(jit);
}

/* The same numbers as constants: folding must agree with the machine. */
static void folding_agrees(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  for (int i = 0; i < NUMBERS; i++)
    for (int j = 0; j < NUMBERS; j++) {
      nst_code c;
      nst_code_init(&c, arena, "folded");
      int64_t a = numbers[i], b = numbers[j], positive = b > 1 ? b : 1, v;
      nst_id x = nst_code_const(&c, a), y = nst_code_const(&c, b), p = nst_code_const(&c, positive);
      assert_true(nst_code_is(&c, nst_code_op(&c, NST_INST_DIV, x, p), floor_div(a, positive)));
      assert_true(nst_code_is(&c, nst_code_op(&c, NST_INST_MOD, x, p), floor_mod(a, positive)));
      nst_id ok = nst_code_truth(&c, true);
      bool over = __builtin_mul_overflow(a, b, &v);
      assert_true(nst_code_is(&c, nst_code_checked(&c, NST_INST_MUL, x, y, &ok), v));
      assert_true(nst_code_is_truth(&c, ok, !over));
      ok = nst_code_truth(&c, true);
      over = __builtin_sub_overflow(a, b, &v);
      assert_true(nst_code_is(&c, nst_code_checked(&c, NST_INST_SUB, x, y, &ok), v));
      assert_true(nst_code_is_truth(&c, ok, !over));
      assert_true(nst_code_is_truth(&c, nst_code_op(&c, NST_INST_LT, x, y), a < b));
    }
  nst_arena_free(arena);
}

static void repeated_work_is_found(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  nst_code c;
  nst_code_init(&c, arena, "shared");
  nst_id a = nst_code_load(&c, 0, 0), b = nst_code_load(&c, 0, 1);
  assert_int_equal(nst_code_load(&c, 0, 1), b);
  assert_int_equal(nst_code_op(&c, NST_INST_MUL, a, b), nst_code_op(&c, NST_INST_MUL, b, a));
  assert_int_not_equal(nst_code_op(&c, NST_INST_SUB, a, b), nst_code_op(&c, NST_INST_SUB, b, a));
  for (int i = 0; i < 5000; i++) nst_code_load(&c, 1, i);
  for (int i = 0; i < 5000; i++) assert_int_equal(nst_code_load(&c, 1, i), nst_code_load(&c, 1, i));
  nst_arena_free(arena);
}

static nst_jit_status compile_sum(nst_jit *jit, nst_jit_unit **unit, nst_code_function **f, int64_t add,
                                  nst_jit_options options, nst_buffer *error) {
  nst_arena *arena = nst_arena_new();
  nst_code code;
  nst_code_init(&code, arena, "sum");
  code.status = nst_code_op(&code, NST_INST_ADD, nst_code_load(&code, 0, 0), nst_code_const(&code, add));
  nst_jit_status status = nst_jit_compile(unit, f, jit, &code, 1, options, error);
  nst_arena_free(arena);
  return status;
}

static void a_failed_unit_poisons_nothing(void **state) {
  (void)state;
  nst_jit *jit = new_jit();
  int64_t numbers5[] = {5};
  const int64_t *in[] = {numbers5};
  nst_jit_unit *units[5];
  nst_code_function *functions[5];
  for (int i = 0; i < 5; i++) {
    nst_buffer error = {0};
    nst_jit_options options = {.level = NST_JIT_O1, .require = i == 2 ? "nst_symbol_that_nobody_has" : NULL};
    nst_jit_status status = compile_sum(jit, &units[i], &functions[i], i, options, &error);
    assert_int_equal(status, i == 2 ? NST_JIT_FAILED : NST_JIT_OK);
    if (i == 2) {
      assert_null(units[i]);
      assert_non_null(strstr(error.text, "nst_symbol_that_nobody_has"));
    }
    nst_buffer_fini(&error);
  }
  for (int i = 0; i < 5; i++)
    if (i != 2) assert_int_equal(functions[i](in, 0, NULL), 5 + i);
  for (int i = 0; i < 5; i++) nst_jit_unit_free(jit, units[i]);
  nst_jit_free(jit);
}

static void five_hundred_units_leave_memory_flat(void **state) {
  (void)state;
  nst_jit *jit = new_jit();
  long before = 0;
  int64_t number[] = {1};
  const int64_t *in[] = {number};
  for (int i = 0; i < 500; i++) {
    nst_jit_unit *unit = NULL;
    nst_code_function *f = NULL;
    assert_int_equal(compile_sum(jit, &unit, &f, i, (nst_jit_options){.level = NST_JIT_O0}, NULL), NST_JIT_OK);
    assert_int_equal(f(in, 0, NULL), i + 1);
    nst_jit_unit_free(jit, unit);
    if (i == 100) before = hand_resident_kib();
  }
  long grown = hand_resident_kib() - before;
  print_message("%ld KiB more after 400 more units\n", grown);
  if (!TEST_SANITIZED) assert_true(grown < 4096);
  nst_jit_free(jit);
}

static void llvm_text_can_be_asked_for(void **state) {
  (void)state;
  nst_jit *jit = new_jit();
  nst_arena *arena = nst_arena_new();
  nst_code code;
  nst_code_init(&code, arena, "all");
  build_all(&code);
  nst_buffer text = {0}, again = {0};
  assert_int_equal(nst_jit_emit(&text, jit, &code, 1, (nst_jit_options){.level = NST_JIT_O1}, NULL), NST_JIT_OK);
  assert_int_equal(nst_jit_emit(&again, jit, &code, 1, (nst_jit_options){.level = NST_JIT_O1}, NULL), NST_JIT_OK);
  assert_non_null(strstr(text.text, "define"));
  assert_non_null(strstr(text.text, "@all("));
  assert_string_equal(text.text, again.text);
  nst_buffer_fini(&text);
  nst_buffer_fini(&again);
  nst_arena_free(arena);
  nst_jit_free(jit);
}

static void a_missing_module_is_an_error_value(void **state) {
  (void)state;
  nst_jit *jit = NULL;
  nst_buffer error = {0};
  assert_int_equal(nst_jit_new(&jit, "/nowhere/nestor-llvm.so", &error), NST_JIT_MISSING);
  assert_null(jit);
  assert_non_null(strstr(error.text, "nestor-llvm.so"));
  nst_buffer_clear(&error);
  assert_int_equal(nst_jit_new(&jit, "libm.so.6", &error), NST_JIT_MISSING); /* a library, but not that one */
  assert_null(jit);
  assert_non_null(strstr(error.text, "it is no such module"));
  nst_buffer_fini(&error);
}

int main(void) {
  if (!hand_has_code_generator()) return 0;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(folding_agrees),
    cmocka_unit_test(repeated_work_is_found),
    cmocka_unit_test(every_instruction_at_every_level),
    cmocka_unit_test(a_failed_unit_poisons_nothing),
    cmocka_unit_test(five_hundred_units_leave_memory_flat),
    cmocka_unit_test(llvm_text_can_be_asked_for),
    cmocka_unit_test(a_missing_module_is_an_error_value),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
