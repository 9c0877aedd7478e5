/* The kernel engine on sweeps whose answers are known, with and without pruning;
 * what it takes and what it leaves to the plain engine; its ways to fail. */
#include "test.h"

#include "backend/sweep_run.h"
#include "compiled.h"
#include "hand.h"
#include <stdio.h>
#include <string.h>

static nst_jit *jit;

static int open_jit(void **state) {
  (void)state;
  jit = hand_jit_new();
  return jit ? 0 : -1;
}

static int close_jit(void **state) {
  (void)state;
  nst_jit_free(jit);
  return 0;
}

typedef struct {
  compiled c;
  const nst_ir_mapping *m;
  const nst_ir_sweep *sweep;
  nst_space *space;
  nst_sweep_shape shape;
  nst_sweep_engine *engine; /* NULL: `why` */
  const char *why;
} subject;

static void open_engine(subject *s, const char *text, nst_sweep_options options) {
  *s = (subject){0};
  compile_text(&s->c, "kernel.nest", text, strlen(text));
  if (!s->c.program) fail_msg("%s", compiled_messages(&s->c));
  s->sweep = &s->c.program->sweeps[0];
  s->m = s->c.program->mappings[s->sweep->mapping];
  s->space = nst_space_new(s->m, s->sweep, s->c.diags);
  if (!s->space || !nst_sweep_shape_make(&s->shape, s->sweep, s->space, s->c.diags)) fail_msg("%s", compiled_messages(&s->c));
  options.jit = jit;
  s->engine = nst_sweep_kernel_new(s->m, s->sweep, s->space, options, s->c.diags, &s->why);
}

static void close_engine(subject *s) {
  if (s->engine) s->engine->free(s->engine);
  nst_space_free(s->space);
  compiled_fini(&s->c);
}

static char message[200];

static nst_sweep_result *answer(const subject *s, int threads, const char **error) {
  nst_sweep_run_options o = {.threads = threads};
  nst_sweep_run *r = nst_sweep_run_new(s->engine, s->shape, nst_sweep_job_make(s->engine, 0, 0, 1), o);
  nst_sweep_result *found = NULL;
  if (nst_sweep_run_all(r, error)) {
    found = nst_sweep_result_new(s->shape);
    nst_sweep_result_merge(found, nst_sweep_run_found(r));
  }
  snprintf(message, sizeof message, "%s", *error ? *error : "");
  *error = message;
  nst_sweep_run_free(r);
  return found;
}

static nst_sweep_result *find(subject *s, const char *text, bool prune, int threads) {
  const char *error = NULL;
  open_engine(s, text, (nst_sweep_options){.prune = prune});
  if (!s->engine) fail_msg("not for kernels: %s", s->why ? s->why : compiled_messages(&s->c));
  nst_sweep_result *found = answer(s, threads, &error);
  if (!found) fail_msg("%s", error ? error : "");
  return found;
}

/* ---- known answers ---- */

#define GEMM "workload gemm(M, N, K) { dim m = M, n = N, k = K  tensor A, B, C : int8  C[m, n] += A[m, k] * B[k, n] }\n"

static bool on_front(const nst_sweep_result *r, int64_t x, int64_t y) {
  for (size_t i = 0; i < nst_sweep_result_nfront(r); i++) {
    const nst_rat *m = nst_sweep_result_front(r, i)->metrics;
    if (!nst_rat_cmp(m[0], nst_rat_int(x)) && !nst_rat_cmp(m[1], nst_rat_int(y))) return true;
  }
  return false;
}

static void gemm_has_a_front_of_25_points(void **state) {
  (void)state;
  static const int64_t points[][2] = {{3, 137455730688}, {24, 34376515584},    {288, 8606711808},   {4224, 2164260864},
                                      {66048, 553648128}, {1050624, 150994944}, {16785408, 50331648}};
  for (int way = 0; way < 4; way++) {
    subject s;
    nst_sweep_result *found = find(&s, GEMM
      "hardware h { memory DRAM memory BUF compute MAC }\n"
      "mapping t(tm = 1, tn = 1, tk = 1) of gemm(4096, 4096, 4096) on h {\n"
      "  permute { for m by tm for n by tn for k by tk } keep all in BUF }\n"
      "sweep front of t { tm in pow2(1, 4096) tn in pow2(1, 4096) tk in pow2(1, 4096) pareto usage(BUF), offchip }", way & 1, way & 2 ? 2 : 1);
    assert_int_equal(nst_sweep_result_nfront(found), 25);
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) assert_true(on_front(found, points[i][0], points[i][1]));
    const nst_sweep_tally *t = nst_sweep_result_tally(found);
    assert_int_equal(t->evaluated + t->duplicates + t->pruned + t->dropped, 13 * 13 * 13 * 6);
    nst_sweep_result_free(found);
    close_engine(&s);
  }
}

static void gemm_with_imperfect_tiles_goes_far_below_divisors(void **state) {
  (void)state;
  static const struct { const char *capacity; int64_t least; } rows[] = {
    {"1000", 4546625536}, {"4000", 2248146944}, {"10000", 1409286144}, {"65536", 570425344}, {"1048576", 167772160}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int prune = 0; prune < 2; prune++) {
      nst_buffer text = {0};
      nst_buffer_printf(&text, GEMM
        "hardware h { memory DRAM memory BUF { capacity = %s B } compute MAC }\n"
        "mapping t(tm = 1, tn = 1) of gemm(4096, 4096, 4096) on h { for m by tm for n by tn for k by 1 keep all in BUF }\n"
        "sweep tiles of t { tm in 1 .. 4096 tn in 1 .. 4096 where fits minimize offchip }", rows[i].capacity);
      subject s;
      nst_sweep_result *found = find(&s, text.text, prune, 1);
      assert_int_equal(nst_sweep_result_nbest(found), 1);
      assert_int_equal(nst_rat_cmp(nst_sweep_result_best(found, 0)->metrics[0], nst_rat_int(rows[i].least)), 0);
      const nst_sweep_tally *t = nst_sweep_result_tally(found);
      assert_int_equal(t->evaluated + t->pruned, 4096 * 4096);
      assert_true(prune ? t->pruned > 4096 : !t->pruned);
      nst_sweep_result_free(found);
      close_engine(&s);
      nst_buffer_fini(&text);
    }
  subject s; /* divisors alone */
  nst_sweep_result *found = find(&s, GEMM
    "hardware h { memory DRAM memory BUF { capacity = 65536 B } compute MAC }\n"
    "mapping t(tm = 1, tn = 1) of gemm(4096, 4096, 4096) on h { for m by tm for n by tn for k by 1 keep all in BUF }\n"
    "sweep tiles of t { tm in divisors(4096) tn in divisors(4096) where fits minimize offchip }", true, 1);
  assert_int_equal(nst_rat_cmp(nst_sweep_result_best(found, 0)->metrics[0], nst_rat_int(822083584)), 0);
  nst_sweep_result_free(found);
  close_engine(&s);
}

/* ---- what it takes ---- */

#define SMALL                                                                                                          \
  "workload gemm { dim m = 12, n = 10, k = 6  tensor A, B : int8, C : int32  C[m, n] += A[m, k] * B[k, n] }\n"         \
  "hardware h { clock = 1 GHz memory DRAM { bandwidth = 3 B/cycle energy = 7 pJ/B } array PE[x = 4, y = 3] { reduce = false }\n" \
  "  memory L { capacity = 100 B bandwidth = 2 B/cycle leakage = 1 mW } compute MAC { energy = 0.5 pJ } }\n"           \
  "mapping t(ta = 1, tb = 1, tc = 1, tf = ta) of gemm on h { let half = 6 / (tc + 0) permute { for m by ta for n by tb } par n on PE.x par k by tc on PE.y keep all in L }\n"

static void takes(const char *text, const char *reason) {
  nst_buffer whole = {0};
  subject s;
  nst_buffer_printf(&whole, "%s%s", SMALL, text);
  open_engine(&s, whole.text, (nst_sweep_options){0});
  if (reason) {
    assert_null(s.engine);
    if (!s.why || !strstr(s.why, reason)) fail_msg("%s: %s", text, s.why ? s.why : "");
  } else if (!s.engine) {
    fail_msg("%s: %s", text, s.why ? s.why : compiled_messages(&s.c));
  }
  close_engine(&s);
  nst_buffer_fini(&whole);
}

static void it_takes_what_it_can_and_says_why_not(void **state) {
  (void)state;
#define SWEEP "sweep s of t { ta in 1 .. 12  tb in divisors(10)  tc in [2, 3, 6] "
  takes(SWEEP "where fits minimize energy, cycles pareto usage(L), offchip top 10 }", NULL);
  takes(SWEEP "maximize utilization, intensity }", NULL);
  takes(SWEEP "where ta % 4 == 0 or gcd(ta, 6) > 1 where log2(tc) >= 1 minimize energy / cycles }", NULL);
  takes(SWEEP "where (if ta > 3 then cycles else 2 * cycles) < 900 minimize ceil(offchip / 7), abs(cycles - 400), offchip // 64 % 3 }", NULL);
  takes(SWEEP "where instances(L) <= 4 minimize cycles ** 2 }", NULL);
  takes(SWEEP "where tf == ta and half > 1 minimize offchip }", NULL);
  takes(SWEEP "where true minimize offchip / (steps - 1) }", NULL); /* 0 nowhere, or an error of the sweep */
  takes(SWEEP "minimize sqrt(energy) }", "a root");
  takes(SWEEP "minimize floor(energy / cycles) }", "the rounding of a quotient");
  takes(SWEEP "minimize offchip / (cycles - 5000) }", "may be negative");
  takes(SWEEP "where ta % tb == 0 minimize offchip }", "of several tile chains");
}

static void a_division_by_zero_is_an_error(void **state) {
  (void)state;
  subject s;
  const char *error = NULL;
  open_engine(&s, SMALL SWEEP "minimize offchip / (ta - 1) }", (nst_sweep_options){.prune = true});
  assert_non_null(s.engine);
  assert_null(answer(&s, 1, &error));
  assert_non_null(strstr(error, "division by zero"));
  close_engine(&s);
  open_engine(&s, SMALL SWEEP "where ta > 1 and offchip / (ta - 1) > 3 minimize offchip / (ta - 1) }", (nst_sweep_options){.prune = true});
  assert_non_null(s.engine); /* never where it is not asked for */
  nst_sweep_result *found = answer(&s, 1, &error);
  assert_non_null(found);
  nst_sweep_result_free(found);
  close_engine(&s);
}

/* Partial sums meet where k is spread over y: those points are dropped, one by one. */
static void impossible_points_are_dropped(void **state) {
  (void)state;
  subject s;
  nst_sweep_result *found = find(&s, SMALL SWEEP "minimize offchip }", true, 1);
  const nst_sweep_tally *t = nst_sweep_result_tally(found);
  assert_int_equal(t->evaluated, 12 * 4 * 2);
  assert_int_equal(t->dropped, 2 * 12 * 4 * 2);
  assert_int_equal(nst_sweep_result_best(found, 0)->params[2], 6);
  nst_sweep_result_free(found);
  close_engine(&s);
}

static void an_empty_space_has_an_answer(void **state) {
  (void)state;
  subject s;
  nst_sweep_result *found = find(&s, SMALL "sweep s of t { ta in [0, 0 - 1] tb in 1 .. 2 minimize offchip pareto cycles }", true, 1);
  assert_int_equal(nst_sweep_result_nbest(found), 0);
  assert_int_equal(nst_sweep_result_tally(found)->dropped, 2 * 2 * 2);
  nst_sweep_result_free(found);
  close_engine(&s);
  found = find(&s, SMALL "sweep s of t { ta in 5 .. 4 tb in 1 .. 2 minimize offchip }", true, 1);
  assert_int_equal(nst_sweep_result_tally(found)->dropped, 0);
  nst_sweep_result_free(found);
  close_engine(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(gemm_has_a_front_of_25_points),
    cmocka_unit_test(gemm_with_imperfect_tiles_goes_far_below_divisors),
    cmocka_unit_test(it_takes_what_it_can_and_says_why_not),
    cmocka_unit_test(a_division_by_zero_is_an_error),
    cmocka_unit_test(impossible_points_are_dropped),
    cmocka_unit_test(an_empty_space_has_an_answer),
  };
  return cmocka_run_group_tests(tests, open_jit, close_jit);
}
