/* Spaces against lists of their points: counts, order, jumps to a number, sets
 * that depend on parameters, on named values, on defaults that follow. */
#include "test.h"

#include "backend/sweep_space.h"
#include "brute.h"
#include "compiled.h"
#include <string.h>

#define HEAD                                                                                                           \
  "workload gemm(M = 24, N = 12, K = 10) {\n"                                                                          \
  "  dim m = M, n = N, k = K\n  tensor A, B : int8, C : int32\n"                                                       \
  "  C[m, n] += A[m, k] * B[k, n]\n}\n"                                                                                \
  "hardware hw { memory DRAM memory L1 { capacity = 300 B } compute MAC }\n"                                           \
  "mapping x(tm = 4, tn = 4, tk = 2, um = tm + 1) of gemm on hw {\n"                                                   \
  "  let half = ceildiv(tm, 2)\n"                                                                                      \
  "  for m by tm for n by tn for k by tk keep all in L1 }\n"

static compiled c;
static const nst_ir_mapping *m;
static const nst_ir_sweep *s;

static void compile(const char *body) {
  nst_buffer text = {0};
  nst_buffer_printf(&text, "%ssweep s of x { %s minimize offchip }\n", HEAD, body);
  compile_text(&c, "space.nest", text.text, text.len);
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  nst_buffer_fini(&text);
  s = &c.program->sweeps[0];
  m = c.program->mappings[s->mapping];
}

static void check(const char *body, size_t expected) {
  compile(body);
  nst_space *space = nst_space_new(m, s, c.diags);
  if (!space) fail_msg("%s", compiled_messages(&c));
  brute b;
  brute_new(&b, m, s, 1, false);
  assert_int_equal(b.n, expected);
  assert_int_equal(nst_space_count(space), b.n);
  nst_walk *w = nst_walk_new(space), *jump = nst_walk_new(space);
  bool more = nst_walk_seek(w, 0);
  assert_int_equal(more, b.n > 0);
  for (size_t i = 0; i < b.n; i++) {
    assert_true(more);
    const uint64_t *places = nst_walk_places(w);
    const nst_value *params = nst_walk_vector(w);
    assert_non_null(params);
    for (int k = 0; k < s->npoints; k++) {
      assert_int_equal(places[k], b.points[i].p.places[k]);
      assert_int_equal(nst_rat_cmp(params[s->points[k].param].rat, b.points[i].values[k]), 0);
    }
    assert_true(nst_walk_seek(jump, (i * 7919) % b.n)); /* there and back: a jump leaves nothing behind */
    assert_true(nst_walk_seek(jump, i));
    assert_memory_equal(nst_walk_places(jump), places, (size_t)s->npoints * sizeof *places);
    assert_true(nst_walk_go(jump, places));
    for (int p = 0; p < m->scope.nparams; p++)
      assert_int_equal(nst_rat_cmp(nst_walk_vector(jump)[p].rat, params[p].rat), 0);
    more = nst_walk_next(w);
  }
  assert_false(more);
  assert_false(nst_walk_seek(jump, b.n));
  nst_walk_free(w);
  nst_walk_free(jump);
  brute_free(&b);
  nst_space_free(space);
  compiled_fini(&c);
}

static void counts_and_order(void **state) {
  (void)state;
  check("", 1);
  check("tm in [3]", 1);
  check("tm in [3, 1, 2, 3]", 4);
  check("tm in 5 .. 4 tn in 1 .. 3", 0);
  check("tn in 1 .. 3 tm in 5 .. 4", 0);
  check("tm in 1 .. 24 tn in divisors(N)", 24 * 6);
  check("tm in 1 .. 24 step 5 tn in pow2(2, 9) tk in divisors(K)", 5 * 3 * 4);
}

static void dependent_sets(void **state) {
  (void)state;
  check("tm in divisors(M) tn in divisors(tm)", 1 + 2 + 2 + 3 + 4 + 4 + 6 + 8);
  check("tm in 1 .. 6 tn in 1 .. tm tk in 1 .. tn", 56);         /* chains: tetrahedral */
  check("tm in 1 .. 6 tn in 1 .. 4 tk in 1 .. min(tm, tn)", 50); /* two into one */
  check("tm in 1 .. 6 tk in [1, 2] tn in 1 .. tm", 2 * 21);      /* another between */
  check("tm in 1 .. 9 tn in tm .. 4", 10);                       /* some empty */
  check("tm in 1 .. 6 tn in 1 .. half", 1 + 1 + 2 + 2 + 3 + 3);  /* through a named value */
  check("tm in 1 .. 6 tn in [tm * tm, tm + 1]", 12);
  check("tm in 1 .. 5 tn in 1 .. um", 2 + 3 + 4 + 5 + 6); /* through a default that follows */
  check("tm in [1, 0.5, 2.5] tn in [tm, tm / 2]", 6);     /* not whole */
}

static void needs_and_defaults(void **state) {
  (void)state;
  compile("tm in 2 .. 6 tk in [7] tn in 1 .. min(half, um)");
  nst_space *space = nst_space_new(m, s, c.diags);
  assert_non_null(space);
  assert_int_equal(nst_space_needs(space, 0), 0);
  assert_int_equal(nst_space_needs(space, 1), 0);
  assert_int_equal(nst_space_needs(space, 2), 1);
  assert_int_equal(nst_space_follows(space, 0), 0); /* swept */
  assert_int_equal(nst_space_follows(space, 3), 1);
  assert_true(nst_space_is_whole(space));
  const nst_value *d = nst_space_defaults(space);
  assert_int_equal(d[0].rat.num, 2);
  assert_int_equal(d[1].rat.num, 1);
  assert_int_equal(d[2].rat.num, 7);
  assert_int_equal(d[3].rat.num, 3);
  const int which[] = {0, 2};
  nst_axis axis;
  assert_true(nst_space_axis(&axis, space, c.arena, which, 2, 11, c.diags));
  assert_int_equal(axis.ntuples, 11);
  static const int64_t expected[11][2] = {{2, 1}, {3, 1}, {3, 2}, {4, 1}, {4, 2}, {5, 1},
                                          {5, 2}, {5, 3}, {6, 1}, {6, 2}, {6, 3}};
  assert_memory_equal(axis.values, expected, sizeof expected);
  nst_space_free(space);
  compiled_fini(&c);
}

static void tables_have_places_and_limits(void **state) {
  (void)state;
  compile("tm in [8, 4, 4] tn in divisors(tm)");
  nst_space *space = nst_space_new(m, s, c.diags);
  const int which[] = {0, 1};
  nst_axis axis;
  assert_true(nst_space_axis(&axis, space, c.arena, which, 2, 10, c.diags));
  static const int64_t values[10][2] = {{8, 1}, {8, 2}, {8, 4}, {8, 8}, {4, 1}, {4, 2}, {4, 4}, {4, 1}, {4, 2}, {4, 4}};
  static const uint64_t places[10][2] = {{0, 0}, {0, 1}, {0, 2}, {0, 3}, {1, 0},
                                         {1, 1}, {1, 2}, {2, 0}, {2, 1}, {2, 2}};
  assert_int_equal(axis.ntuples, 10);
  assert_memory_equal(axis.values, values, sizeof values);
  assert_memory_equal(axis.places, places, sizeof places);
  assert_false(nst_space_axis(&axis, space, c.arena, which, 2, 9, NULL));
  nst_space_free(space);
  compiled_fini(&c);
}

static void large_spaces_are_counted_at_once(void **state) {
  (void)state;
  compile("tm in 1 .. 4000000000000000000 tn in 1 .. 4000000000000000000 tk in 1 .. 4096 um in 1 .. tk");
  nst_space *space = nst_space_new(m, s, c.diags);
  assert_non_null(space);
  assert_int_equal(nst_space_count(space), UINT64_MAX);
  assert_true(nst_space_tuples(space) == NST_SPACE_MAX);
  nst_space_free(space);
  compiled_fini(&c);
  compile("tm in 1 .. 4000000000000 tn in 1 .. 1000000 tk in 1 .. 4096 um in 1 .. tk");
  space = nst_space_new(m, s, c.diags);
  assert_non_null(space);
  const nst_u128 n = (nst_u128)4000000000000 * 1000000 * (4096 * 4097 / 2);
  assert_true(nst_space_tuples(space) == n);
  nst_walk *w = nst_walk_new(space);
  assert_true(nst_walk_seek(w, n - 1));
  assert_int_equal(nst_walk_places(w)[0], 3999999999999);
  assert_int_equal(nst_walk_places(w)[3], 4095);
  assert_false(nst_walk_next(w));
  assert_true(nst_walk_seek(w, n / 2));
  assert_true(nst_walk_next(w));
  nst_buffer text = {0};
  nst_u128_print(&text, n);
  assert_string_equal(text.text, "33562624000000000000000000"); /* 4e12 * 1e6 * 8390656 */
  nst_buffer_fini(&text);
  nst_walk_free(w);
  nst_space_free(space);
  compiled_fini(&c);
}

static void refused(const char *body, const char *message) {
  compile(body);
  assert_null(nst_space_new(m, s, c.diags));
  if (!strstr(compiled_messages(&c), message)) fail_msg("%s", compiled_messages(&c));
  compiled_fini(&c);
}

static void wrong_sets_are_said(void **state) {
  (void)state;
  refused("tm in 0 .. 3 tn in divisors(tm)", "the values of tn: divisors takes a positive integer");
  refused("tm in 0 .. 3 tn in [6 / tm]", "the values of tn: division by zero");
  refused("tm in 1 .. 3 tn in 1 .. 9 step (tm - 3)", "the values of tn: the step of a range must be positive");
  refused("tn in 1 .. um tm in 1 .. 3",
          "the values of tn depend on a parameter bound later, through the default of another");
  refused("tm in 1 .. um", "the values of tm depend on a parameter bound by this very set");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(counts_and_order),
    cmocka_unit_test(dependent_sets),
    cmocka_unit_test(needs_and_defaults),
    cmocka_unit_test(tables_have_places_and_limits),
    cmocka_unit_test(large_spaces_are_counted_at_once),
    cmocka_unit_test(wrong_sets_are_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
