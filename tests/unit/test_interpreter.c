/* The plain path: known figures, errors with and without messages, and no
 * allocation after the first evaluation. */
#include "test.h"

#include "backend/interpreter.h"
#include "hand.h"
#include <malloc.h>
#include <string.h>

static const int64_t defaults[8] = {64, 16, 28, 56, 16, 16, 1, 7};

static void a_convolution_has_its_known_figures(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  const nst_ir_mapping *m = hand_convolution(arena);
  nst_interpreter *i = nst_interpreter_new(m);
  const int64_t whole[8] = {64, 64, 56, 56, 64, 64, 56, 56};
  const nst_counts *c = nst_interpreter_eval_integers(i, whole, NULL);
  assert_non_null(c);
  /* Everything held at once: each tensor crosses once. */
  assert_int_equal(nst_counts_at(c, 0, 0, 0)->reads, 64 * 56 * 56);
  assert_int_equal(nst_counts_at(c, 0, 0, 1)->reads, 64 * 64 * 9);
  assert_int_equal(nst_counts_at(c, 0, 0, 2)->updates, 64 * 56 * 56);
  assert_int_equal(nst_counts_at(c, 0, 0, 2)->reads, 0);
  assert_true(c->ops[0] == INT64_C(64) * 64 * 56 * 56 * 9);
  /* A tile above the extent is one tile. */
  const int64_t above[8] = {99, 99, 99, 99, 64, 64, 56, 56};
  nst_counts *before = nst_counts_new(arena, m);
  memcpy(before->moves, c->moves, (size_t)c->nlevels * (size_t)c->ntensors * sizeof *c->moves);
  c = nst_interpreter_eval_integers(i, above, NULL);
  assert_non_null(c);
  assert_memory_equal(before->moves, c->moves, (size_t)c->nlevels * (size_t)c->ntensors * sizeof *c->moves);
  nst_interpreter_free(i);
  nst_arena_free(arena);
}

static void an_error_leaves_it_as_good_as_new(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  const nst_ir_mapping *m = hand_convolution(arena);
  nst_interpreter *i = nst_interpreter_new(m);
  nst_diags *diags = nst_diags_new(arena, nst_sources_new(arena));
  const nst_counts *c = nst_interpreter_eval_integers(i, defaults, diags);
  assert_non_null(c);
  int64_t reads = nst_counts_at(c, 0, 0, 0)->reads;
  int64_t wrong[8];
  memcpy(wrong, defaults, sizeof wrong);
  wrong[2] = 0;
  assert_null(nst_interpreter_eval_integers(i, wrong, NULL));
  assert_null(nst_interpreter_nest(i));
  assert_int_equal(nst_diags_errors(diags), 0);
  assert_null(nst_interpreter_eval_integers(i, wrong, diags));
  assert_int_equal(nst_diags_errors(diags), 1);
  c = nst_interpreter_eval_integers(i, defaults, NULL);
  assert_non_null(c);
  assert_int_equal(nst_counts_at(c, 0, 0, 0)->reads, reads);
  nst_interpreter_free(i);
  nst_arena_free(arena);
}

static void evaluating_again_allocates_nothing(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  const nst_ir_mapping *m = hand_convolution(arena);
  nst_interpreter *i = nst_interpreter_new(m);
  hand_source s = {3};
  size_t before = 0;
  for (int n = 0; n < 600; n++) {
    int64_t params[8];
    for (int p = 0; p < 8; p++) params[p] = 1 + hand_below(&s, 64);
    assert_non_null(nst_interpreter_eval_integers(i, params, NULL));
    if (n == 300) before = mallinfo2().uordblks; /* scratch has reached its size */
  }
  if (!TEST_SANITIZED) assert_int_equal(mallinfo2().uordblks, before);
  nst_interpreter_free(i);
  nst_arena_free(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_convolution_has_its_known_figures),
    cmocka_unit_test(an_error_leaves_it_as_good_as_new),
    cmocka_unit_test(evaluating_again_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
