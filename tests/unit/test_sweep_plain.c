/* The plain engine against brute force: tallies, the best, the front, ties,
 * dropped points, errors, units that may be done in any order and not at all. */
#include "test.h"

#include "backend/sweep_space.h"
#include "brute.h"
#include "compiled.h"
#include <string.h>

#define HEAD                                                                                                           \
  "workload gemm(M = 24, N = 18, K = 10) {\n"                                                                          \
  "  dim m = M, n = N, k = K\n  tensor A, B : int8, C : int32\n"                                                       \
  "  C[m, n] += A[m, k] * B[k, n]\n}\n"                                                                                \
  "hardware hw(B = 4) { memory DRAM { bandwidth = B * 1 B/cycle  energy = 7 pJ/B }\n"                                  \
  "  memory L2 { capacity = 300 B  energy = 1 pJ/B } array PE[x = 4] memory L1 compute MAC { energy = 0.3 pJ } }\n"

static compiled c;
static const nst_ir_mapping *m;
static const nst_ir_sweep *s;

static void compile(const char *text) {
  nst_buffer whole = {0};
  nst_buffer_printf(&whole, "%s%s", HEAD, text);
  compile_text(&c, "plain.nest", whole.text, whole.len);
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  nst_buffer_fini(&whole);
  s = &c.program->sweeps[0];
  m = c.program->mappings[s->mapping];
}

typedef struct {
  uint64_t n;
} counter;

static void count_each(void *context, const nst_sweep_point *p) {
  (void)p;
  ((counter *)context)->n++;
}

static void check(const char *text, size_t top) {
  compile(text);
  nst_space *space = nst_space_new(m, s, c.diags);
  nst_sweep_shape shape;
  nst_sweep_engine *e = space ? nst_sweep_plain_new(m, s, space, (nst_sweep_options){.prune = true}, c.diags) : NULL;
  if (!e || !nst_sweep_shape_make(&shape, s, space, c.diags)) fail_msg("%s", compiled_messages(&c));
  assert_int_equal(shape.top, top);
  brute b;
  brute_new(&b, m, s, top, true);
  assert_int_equal(e->space, b.n);
  nst_sweep_worker *w = e->worker_new(e), *other = e->worker_new(e);
  nst_sweep_result *up = nst_sweep_result_new(shape), *down = nst_sweep_result_new(shape);
  const char *error = NULL;
  counter each = {0};
  for (uint64_t u = 0; u < e->units; u++) {
    assert_true(e->run(w, u, up, NULL, count_each, &each, &error));
    assert_true(e->run(other, e->units - 1 - u, down, NULL, NULL, NULL, &error));
  }
  assert_int_equal(each.n, b.valid);
  brute_check(&b, up, true);
  brute_check(&b, down, true);
  nst_sweep_result_free(up);
  nst_sweep_result_free(down);
  e->worker_free(w);
  e->worker_free(other);
  e->free(e);
  nst_space_free(space);
  brute_free(&b);
  compiled_fini(&c);
}

#define NEST                                                                                                           \
  " of gemm on hw { permute { for m by tm for n by tn for k by tk } keep? A in L2 keep B, C in L2 keep all in L1 }\n"

static void it_equals_brute_force(void **state) {
  (void)state;
  check("mapping x(tm = 4, tn = 4, tk = 2)" NEST "sweep s of x { minimize offchip }", 1);
  check("mapping x(tm = 4, tn = 4, tk = 2)" NEST
        "sweep s of x { tm in divisors(M) tn in 1 .. N step 5 tk in [1, 3, 10] where fits minimize energy, cycles "
        "pareto usage(L2), offchip top 10 }",
        10);
  check("mapping x(tm = 4, tn = 4, tk = 2)" NEST
        "sweep s of x { tn in divisors(N) tm in divisors(tn) where fits and tm > 1 where usage(L2) > 60 "
        "maximize intensity pareto usage(L2), offchip, cycles top 200 }",
        200);
  check("mapping x(tm = 4, tn = 4, tk = 2)" NEST
        "sweep s of x { tn in divisors(N) tm in divisors(M) minimize sqrt(energy) pareto offchip top 4 }",
        4);
  check("mapping x(tm = 4, tn = 4, tk = 2)" NEST "sweep s of x { tm in divisors(M) where false pareto offchip }", 1);
  check("mapping x(tm = 4, tn = tm, tk = 2)" NEST "sweep s of x { tm in divisors(M) pareto usage(L2), offchip }", 1);
  check("mapping x(tm = 4, tn = 4, tk = 2)" NEST "sweep s of x { tm in 5 .. 4 minimize offchip }", 1);
}

static void infeasible_points_are_dropped(void **state) {
  (void)state;
  check("mapping x(tm = 4, tn = 4, tk = 2)" NEST
        "sweep s of x { tm in [0, 0.5, 1, 2.5, 4, 0 - 3] tn in [4, 5] minimize offchip top 3 }",
        3);
  check("mapping x(tm = 4) of gemm on hw { for n keep all in L2 par m by tm on PE.x keep all in L1 }\n"
        "sweep s of x { tm in 1 .. 24 minimize offchip pareto usage(L1), offchip }",
        1);
}

static void hardware_is_swept_too(void **state) {
  (void)state;
  check("mapping x(tm = 4, b = 1) of gemm on hw(b) { for m by tm keep all in L2 keep all in L1 }\n"
        "sweep s of x { b in [0.5, 1, 2] tm in divisors(M) minimize cycles * b top 5 }",
        5);
  check("mapping x(tm = 4, mm = 12) of gemm(M = mm) on hw { for m by tm keep all in L2 keep all in L1 }\n"
        "sweep s of x { mm in [6, 12] tm in divisors(mm) minimize offchip / ops top 5 }",
        5);
}

static void cascades_are_swept(void **state) {
  (void)state;
  static const char chain[] =
    "workload chain(M = 8, N = 6, K = 5, L = 4) {\n  dim m = M, n = N, k = K, l = L\n  tensor A, B, D, S, T : int8\n"
    "  S[m, n] += A[m, k] * B[k, n]\n  T[m, l] += S[m, n] * D[n, l]\n}\n"
    "mapping x(tm = 2, tn = 3) of chain on hw { keep all in DRAM for m by tm keep? S in L2\n"
    "  seq { do S { permute { for n by tn for k by 2 } keep all in L2 keep all in L1 } do T { for n by tn keep S, D, T "
    "in L2 keep all in L1 } } }\n"
    "sweep s of x { tm in divisors(M) tn in 1 .. N minimize offchip, energy pareto usage(L2), offchip top 6 }";
  check(chain, 6);
}

/* The unit that fails leaves the result alone and says at which point and why. */
static void fails(const char *text, const char *message) {
  compile(text);
  nst_space *space = nst_space_new(m, s, c.diags);
  nst_sweep_shape shape;
  assert_non_null(space);
  assert_true(nst_sweep_shape_make(&shape, s, space, c.diags));
  nst_sweep_engine *e = nst_sweep_plain_new(m, s, space, (nst_sweep_options){0}, c.diags);
  nst_sweep_worker *w = e->worker_new(e);
  nst_sweep_result *r = nst_sweep_result_new(shape);
  const char *error = NULL;
  assert_false(e->run(w, 0, r, NULL, NULL, NULL, &error));
  assert_non_null(error);
  if (!strstr(error, message)) fail_msg("%s", error);
  assert_int_equal(nst_sweep_result_tally(r)->evaluated, 0);
  assert_int_equal(nst_sweep_result_nbest(r), 0);
  nst_sweep_result_free(r);
  e->worker_free(w);
  e->free(e);
  nst_space_free(space);
  compiled_fini(&c);
}

static void errors_stop_a_sweep(void **state) {
  (void)state;
  fails("mapping x(tm = 4, tn = 4, tk = 2)" NEST
        "sweep s of x { tm in [4, 5] tn in [2, 3] minimize offchip / (tn - 3) }",
        "at tm = 4, tn = 3: division by zero");
  fails("mapping x(tm = 4, tn = 4, tk = 2)" NEST "sweep s of x { tm in [4] where log2(tm - 4) > 1 minimize offchip }",
        "at tm = 4: ");
  fails("mapping x(mm = 4, tm = 1, tn = 1, tk = 1) of gemm(M = mm) on hw { for m keep all in L2 keep all in L1 }\n"
        "sweep s of x { mm in [4, 4000000000000000000] minimize offchip }",
        "at mm = 4000000000000000000: ");
}

static void a_stop_leaves_no_trace(void **state) {
  (void)state;
  compile("mapping x(tm = 4, tn = 4, tk = 2)" NEST "sweep s of x { tm in divisors(M) minimize offchip }");
  nst_space *space = nst_space_new(m, s, c.diags);
  nst_sweep_shape shape;
  assert_true(nst_sweep_shape_make(&shape, s, space, c.diags));
  nst_sweep_engine *e = nst_sweep_plain_new(m, s, space, (nst_sweep_options){0}, c.diags);
  nst_sweep_worker *w = e->worker_new(e);
  nst_sweep_result *r = nst_sweep_result_new(shape);
  const char *error = NULL;
  atomic_bool stop = true;
  assert_false(e->run(w, 0, r, &stop, NULL, NULL, &error));
  assert_null(error);
  assert_int_equal(nst_sweep_result_tally(r)->evaluated, 0);
  stop = false;
  assert_true(e->run(w, 0, r, &stop, NULL, NULL, &error));
  assert_int_equal(nst_sweep_result_tally(r)->evaluated, 8 * 12);
  nst_sweep_result_free(r);
  e->worker_free(w);
  e->free(e);
  nst_space_free(space);
  compiled_fini(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_equals_brute_force), cmocka_unit_test(infeasible_points_are_dropped),
    cmocka_unit_test(hardware_is_swept_too), cmocka_unit_test(cascades_are_swept),
    cmocka_unit_test(errors_stop_a_sweep),   cmocka_unit_test(a_stop_leaves_no_trace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
