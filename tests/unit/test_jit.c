/* Kernels against the plain path: what a kernel says of a point is what nest and
 * analysis say, on a real convolution and on random mappings, in batches and in
 * several threads at once; kernels that fail to link; memory. */
#include "test.h"

#include "backend/interpreter.h"
#include "backend/kernel.h"
#include "frontend/compile.h"
#include "hand.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nst_jit *jit; /* one session for the program, as in real use */

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

static nst_kernel_options at_level(nst_jit_level level) { return (nst_kernel_options){.jit = jit, .level = level}; }

typedef struct {
  long ok, infeasible, deopt_refused, deopt;
} tally;

/* One point, both ways. */
static void check_point(nst_arena *arena, const nst_ir_mapping *m, nst_interpreter *plain, const nst_kernel *k,
                        nst_kernel_scratch *scratch, const int64_t *params, nst_counts *got, tally *n) {
  const nst_counts *want = nst_interpreter_eval_integers(plain, params, NULL);
  nst_kernel_status status = nst_kernel_eval(k, scratch, params, got);
  switch (status) {
  case NST_KERNEL_OK: {
    assert_non_null(want);
    const char *difference = nst_counts_diff(arena, m, want, got);
    if (difference) print_error("%s\n", difference);
    assert_null(difference);
    n->ok++;
    break;
  }
  case NST_KERNEL_INFEASIBLE:
    assert_null(want);
    assert_null(nst_interpreter_nest(plain));
    n->infeasible++;
    break;
  case NST_KERNEL_DEOPT:
    if (want)
      n->deopt++;
    else
      n->deopt_refused++;
    break;
  }
}

static void the_convolution_agrees_everywhere(void **state) {
  (void)state;
  static const int extents[] = {64, 64, 56, 56, 64, 64, 56, 56};
  nst_arena *arena = nst_arena_new();
  const nst_ir_mapping *m = hand_convolution(arena);
  nst_interpreter *plain = nst_interpreter_new(m);
  nst_counts *got = nst_counts_new(arena, m);
  for (int level = NST_JIT_O0; level <= NST_JIT_O2; level++) {
    nst_kernel *k = NULL;
    assert_int_equal(nst_kernel_new(&k, m, nst_interpreter_plan(plain), at_level((nst_jit_level)level), NULL),
                     NST_JIT_OK);
    nst_kernel_scratch *scratch = nst_kernel_scratch_new(k);
    hand_source s = {77};
    tally n = {0};
    for (int i = 0; i < 300; i++) {
      int64_t params[8];
      for (int p = 0; p < 8; p++) params[p] = 1 + hand_below(&s, extents[p] + 3) - !hand_below(&s, 50);
      check_point(arena, m, plain, k, scratch, params, got, &n);
    }
    assert_true(nst_kernel_fixed_costs(k));
    assert_true(n.ok > 200);
    assert_true(n.infeasible > 0);
    assert_int_equal(n.deopt, 0);
    nst_kernel_scratch_free(scratch);
    nst_kernel_free(k);
  }
  nst_interpreter_free(plain);
  nst_arena_free(arena);
}

static int scale(void) {
  const char *text = getenv("NESTOR_TEST_SCALE");
  int percent = text ? atoi(text) : 100;
  return percent > 0 ? percent : 1;
}

enum { MODULE = 50, VECTORS = 40 };

static void random_mappings_agree(void **state) {
  (void)state;
  tally n = {0};
  int modules = 20 * scale() / 100 + 1;
  for (int u = 0; u < modules; u++) {
    nst_arena *arena = nst_arena_new();
    const nst_ir_mapping *mappings[MODULE];
    const nst_plan *plans[MODULE];
    nst_interpreter *plain[MODULE];
    nst_kernel *kernels[MODULE];
    for (int i = 0; i < MODULE; i++) {
      mappings[i] = hand_random(arena, (uint64_t)(u * MODULE + i));
      plain[i] = nst_interpreter_new(mappings[i]);
      plans[i] = nst_interpreter_plan(plain[i]);
    }
    assert_int_equal(nst_kernels_new(kernels, MODULE, mappings, plans, at_level(u % 8 ? NST_JIT_O0 : NST_JIT_O1), NULL),
                     NST_JIT_OK);
    hand_source s = {(uint64_t)u + 5};
    for (int i = 0; i < MODULE; i++) {
      nst_counts *got = nst_counts_new(arena, mappings[i]);
      nst_kernel_scratch *scratch = nst_kernel_scratch_new(kernels[i]);
      for (int v = 0; v < VECTORS; v++) {
        int64_t params[HAND_PARAMS];
        for (int p = 0; p < HAND_PARAMS; p++)
          params[p] = !hand_below(&s, 40)    ? -1 + hand_below(&s, 2)
                      : !hand_below(&s, 100) ? INT64_MAX - hand_below(&s, 3)
                                             : 1 + hand_below(&s, 9);
        check_point(arena, mappings[i], plain[i], kernels[i], scratch, params, got, &n);
      }
      nst_kernel_scratch_free(scratch);
      nst_kernel_free(kernels[i]);
      nst_interpreter_free(plain[i]);
    }
    nst_arena_free(arena);
  }
  print_message("%ld counted, %ld infeasible, %ld refused by both, %ld only asked\n", n.ok, n.infeasible,
                n.deopt_refused, n.deopt);
  assert_true(n.ok > n.infeasible && n.infeasible > 0 && n.deopt_refused > 0);
  assert_true(n.deopt * 50 < n.ok);
}

static void batches_agree_with_single_points(void **state) {
  (void)state;
  enum { POINTS = 500 };
  nst_arena *arena = nst_arena_new();
  hand_source s = {9};
  for (uint64_t seed = 1000; seed < 1020; seed++) {
    const nst_ir_mapping *m = hand_random(arena, seed);
    nst_interpreter *plain = nst_interpreter_new(m);
    nst_kernel *k = NULL;
    assert_int_equal(nst_kernel_new(&k, m, nst_interpreter_plan(plain), at_level(NST_JIT_O1), NULL), NST_JIT_OK);
    nst_kernel_scratch *scratch = nst_kernel_scratch_new(k);
    int64_t *columns[HAND_PARAMS];
    for (int p = 0; p < HAND_PARAMS; p++) {
      columns[p] = NST_NEW_ARRAY(arena, POINTS, int64_t);
      for (int i = 0; i < POINTS; i++) columns[p][i] = hand_below(&s, 11);
    }
    uint8_t status[POINTS];
    int64_t *out = NST_NEW_ARRAY(arena, POINTS * nst_kernel_width(k), int64_t);
    const int64_t *const *params = (const int64_t *const *)columns;
    size_t good = nst_kernel_batch(k, scratch, POINTS, params, status, out);
    nst_counts *one = nst_counts_new(arena, m);
    for (int i = 0; i < POINTS; i++) {
      int64_t vector[HAND_PARAMS];
      for (int p = 0; p < HAND_PARAMS; p++) vector[p] = columns[p][i];
      assert_int_equal(nst_kernel_eval(k, scratch, vector, one), status[i]);
      if (status[i] != NST_KERNEL_OK) continue;
      good--;
      nst_counts view = nst_kernel_view(k, out + (size_t)i * nst_kernel_width(k));
      assert_null(nst_counts_diff(arena, m, one, &view));
    }
    assert_int_equal(good, 0);
    nst_kernel_scratch_free(scratch);
    nst_kernel_free(k);
    nst_interpreter_free(plain);
  }
  nst_arena_free(arena);
}

/* ---- what is left to the plain path ---- */

/* The status of a mapping of this text at t, and whether the plain path counts it. */
static nst_kernel_status status_of(const char *nest, const char *hardware, int64_t t, bool *counted_plainly) {
  nst_buffer text = {0};
  nst_buffer_printf(&text,
                    "workload w(M = 12, N = 12, K = 12) {\n  dim m = M, n = N, k = K\n  tensor A, B, C : int8\n"
                    "  C[m, n] += A[m, k] * B[k, n]\n}\n"
                    "hardware h(T = 1) {\n  memory DRAM\n  array PE[x = 4] { reduce = false }\n"
                    "  memory RF { %s }\n  compute MAC\n}\n"
                    "mapping f(t = 4) of w on h(T = t) {\n  keep all in DRAM\n  %s\n  keep all in RF\n}\n",
                    hardware, nest);
  nst_arena *arena = nst_arena_new();
  nst_sources *sources = nst_sources_new(arena);
  nst_interner *names = nst_interner_new(arena);
  nst_diags *diags = nst_diags_new(arena, sources);
  uint32_t source = nst_sources_add(sources, "status.nest", text.text, text.len);
  const nst_ir_program *program = nst_frontend_compile(arena, names, sources, diags, NULL, source);
  assert_non_null(program);
  const nst_ir_mapping *m = program->mappings[0];
  nst_interpreter *plain = nst_interpreter_new(m);
  nst_kernel *k = NULL;
  assert_int_equal(nst_kernel_new(&k, m, nst_interpreter_plan(plain), at_level(NST_JIT_O0), NULL), NST_JIT_OK);
  nst_kernel_scratch *scratch = nst_kernel_scratch_new(k);
  nst_counts *got = nst_counts_new(arena, m);
  tally n = {0};
  check_point(arena, m, plain, k, scratch, &t, got, &n);
  *counted_plainly = n.ok || n.deopt;
  nst_kernel_scratch_free(scratch);
  nst_kernel_free(k);
  nst_interpreter_free(plain);
  nst_interner_free(names);
  nst_arena_free(arena);
  nst_buffer_fini(&text);
  return n.ok ? NST_KERNEL_OK : n.infeasible ? NST_KERNEL_INFEASIBLE : NST_KERNEL_DEOPT;
}

static void each_kind_of_point_has_its_status(void **state) {
  (void)state;
  static const struct {
    const char *nest, *hardware;
    int64_t t;
    nst_kernel_status status;
    bool plainly;
  } cases[] = {
    {"for m by t", "", 4, NST_KERNEL_OK, true},
    {"for m by t", "", 0, NST_KERNEL_INFEASIBLE, false},
    {"for m by t", "", 1000, NST_KERNEL_OK, true},
    {"for m by 12 / t", "", 4, NST_KERNEL_OK, true},
    {"for m by 12 / t", "", 5, NST_KERNEL_INFEASIBLE, false},
    {"for m by 12 / t", "", 0, NST_KERNEL_DEOPT, false}, /* a message: division by zero */
    {"for m by if t > 3 then 12 / (t - 3) else 2", "", 3, NST_KERNEL_OK, true},
    {"for m by sqrt(t * t)", "", 4, NST_KERNEL_DEOPT, true}, /* doubles are not done natively */
    {"for m by 2 ** t", "", 3, NST_KERNEL_OK, true},
    {"for m by (t ** 9) // (t ** 9)", "", 1000, NST_KERNEL_DEOPT, true}, /* past 64 bits on the way */
    {"for m by 0.5 * t", "", 8, NST_KERNEL_OK, true},
    {"for m by 0.5 * t", "", 7, NST_KERNEL_INFEASIBLE, false},
    {"par m by t on PE.x", "", 3, NST_KERNEL_OK, true},
    {"par m by t on PE.x", "", 2, NST_KERNEL_INFEASIBLE, false},
    {"par k by t on PE.x", "", 3, NST_KERNEL_DEOPT, false}, /* a message: reduce = false */
    {"for m by t", "capacity = 1 KiB / (T - 4)", 4, NST_KERNEL_DEOPT, false},
    {"for m by t", "capacity = 1 KiB / (T - 4)", 5, NST_KERNEL_OK, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    bool plainly = false;
    nst_kernel_status status = status_of(cases[i].nest, cases[i].hardware, cases[i].t, &plainly);
    if (status != cases[i].status || plainly != cases[i].plainly)
      print_error("%s, %s, t = %d\n", cases[i].nest, cases[i].hardware, (int)cases[i].t);
    assert_int_equal(status, cases[i].status);
    assert_int_equal(plainly, cases[i].plainly);
  }
}

/* ---- threads ---- */

enum { THREADS = 4 };

typedef struct {
  const nst_kernel *k;
  const nst_ir_mapping *m;
  uint64_t seed, sum;
} job;

/* A sum over points that every thread must get alike; half of the threads also compile meanwhile. */
static void *work(void *arg) {
  job *j = arg;
  nst_arena *arena = nst_arena_new();
  nst_kernel_scratch *scratch = nst_kernel_scratch_new(j->k);
  nst_counts *counts = nst_counts_new(arena, j->m);
  hand_source s = {42};
  for (int i = 0; i < 2000; i++) {
    int64_t params[8];
    for (int p = 0; p < 8; p++) params[p] = 1 + hand_below(&s, 20);
    if (nst_kernel_eval(j->k, scratch, params, counts) == NST_KERNEL_OK)
      j->sum = j->sum * 31 + (uint64_t)nst_counts_at(counts, 0, 0, i % 3)->reads;
  }
  for (int i = 0; i < 5; i++) {
    const nst_ir_mapping *m = hand_random(arena, j->seed * 100 + (uint64_t)i);
    nst_interpreter *plain = nst_interpreter_new(m);
    nst_kernel *k = NULL;
    if (nst_kernel_new(&k, m, nst_interpreter_plan(plain), at_level(NST_JIT_O0), NULL) != NST_JIT_OK) j->sum = 0;
    nst_kernel_free(k);
    nst_interpreter_free(plain);
  }
  nst_kernel_scratch_free(scratch);
  nst_arena_free(arena);
  return NULL;
}

static void threads_share_a_kernel_and_a_session(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  const nst_ir_mapping *m = hand_convolution(arena);
  nst_interpreter *plain = nst_interpreter_new(m);
  nst_kernel *k = NULL;
  assert_int_equal(nst_kernel_new(&k, m, nst_interpreter_plan(plain), at_level(NST_JIT_O1), NULL), NST_JIT_OK);
  pthread_t threads[THREADS];
  job jobs[THREADS];
  for (int i = 0; i < THREADS; i++) {
    jobs[i] = (job){k, m, (uint64_t)i, 1};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
  for (int i = 1; i < THREADS; i++) assert_true(jobs[i].sum == jobs[0].sum && jobs[0].sum != 0);
  nst_kernel_free(k);
  nst_interpreter_free(plain);
  nst_arena_free(arena);
}

/* ---- failing, freeing ---- */

static void the_third_of_five_fails_alone(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  const nst_ir_mapping *m = hand_convolution(arena);
  nst_interpreter *plain = nst_interpreter_new(m);
  const int64_t params[8] = {64, 16, 28, 56, 16, 16, 1, 7};
  nst_counts *got = nst_counts_new(arena, m);
  tally n = {0};
  for (int i = 0; i < 5; i++) {
    nst_kernel_options options = at_level(NST_JIT_O1);
    if (i == 2) options.require = "nst_symbol_that_nobody_has";
    nst_kernel *k = NULL;
    nst_buffer error = {0};
    nst_jit_status status = nst_kernel_new(&k, m, nst_interpreter_plan(plain), options, &error);
    if (i == 2) {
      assert_int_equal(status, NST_JIT_FAILED);
      assert_null(k);
      assert_non_null(strstr(error.text, "nst_symbol_that_nobody_has"));
    } else {
      assert_int_equal(status, NST_JIT_OK);
      nst_kernel_scratch *scratch = nst_kernel_scratch_new(k);
      check_point(arena, m, plain, k, scratch, params, got, &n);
      nst_kernel_scratch_free(scratch);
    }
    nst_kernel_free(k);
    nst_buffer_fini(&error);
  }
  assert_int_equal(n.ok, 4);
  nst_interpreter_free(plain);
  nst_arena_free(arena);
}

static void kernels_of_one_module_go_in_any_order(void **state) {
  (void)state;
  enum { N = 3 };
  nst_arena *arena = nst_arena_new();
  const nst_ir_mapping *m = hand_convolution(arena), *mappings[N] = {m, m, m};
  nst_interpreter *plain = nst_interpreter_new(m);
  const nst_plan *plan = nst_interpreter_plan(plain), *plans[N] = {plan, NULL, plan}; /* the second has no code */
  nst_kernel *k[N];
  assert_int_equal(nst_kernels_new(k, N, mappings, plans, at_level(NST_JIT_O0), NULL), NST_JIT_OK);
  const int64_t params[8] = {64, 16, 28, 56, 16, 16, 1, 7};
  nst_counts *got = nst_counts_new(arena, m);
  tally n = {0};
  nst_kernel_free(k[0]);
  for (int i = 1; i < N; i++) {
    nst_kernel_scratch *scratch = nst_kernel_scratch_new(k[i]);
    check_point(arena, m, plain, k[i], scratch, params, got, &n);
    nst_kernel_scratch_free(scratch);
    nst_kernel_free(k[i]);
  }
  assert_int_equal(n.deopt, 1);
  assert_int_equal(n.ok, 1);
  nst_interpreter_free(plain);
  nst_arena_free(arena);
}

static void five_hundred_kernels_leave_memory_flat(void **state) {
  (void)state;
  long before = 0;
  for (int i = 0; i < 500; i++) {
    nst_arena *arena = nst_arena_new();
    const nst_ir_mapping *m = hand_random(arena, (uint64_t)(i % 100));
    nst_interpreter *plain = nst_interpreter_new(m);
    nst_kernel *k = NULL;
    assert_int_equal(nst_kernel_new(&k, m, nst_interpreter_plan(plain), at_level(NST_JIT_O0), NULL), NST_JIT_OK);
    nst_kernel_free(k);
    nst_interpreter_free(plain);
    nst_arena_free(arena);
    if (i == 99) before = hand_resident_kib();
  }
  long grown = hand_resident_kib() - before;
  print_message("%ld KiB more after 400 more kernels\n", grown);
  if (!TEST_SANITIZED) assert_true(grown < 4096);
}

static void the_text_of_a_kernel_is_the_same_every_time(void **state) {
  (void)state;
  nst_arena *arena = nst_arena_new();
  const nst_ir_mapping *m = hand_convolution(arena);
  nst_interpreter *plain = nst_interpreter_new(m);
  const nst_plan *plan = nst_interpreter_plan(plain);
  nst_buffer a = {0}, b = {0};
  assert_int_equal(nst_kernels_emit_llvm(&a, 1, &m, &plan, at_level(NST_JIT_O1), NULL), NST_JIT_OK);
  assert_int_equal(nst_kernels_emit_llvm(&b, 1, &m, &plan, at_level(NST_JIT_O1), NULL), NST_JIT_OK);
  assert_non_null(strstr(a.text, "tiled.0.prologue"));
  assert_non_null(strstr(a.text, "tiled.0.formulas"));
  assert_string_equal(a.text, b.text);
  nst_buffer_fini(&a);
  nst_buffer_fini(&b);
  nst_interpreter_free(plain);
  nst_arena_free(arena);
}

int main(void) {
  if (!hand_has_code_generator()) return 0;
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_convolution_agrees_everywhere),
    cmocka_unit_test(random_mappings_agree),
    cmocka_unit_test(batches_agree_with_single_points),
    cmocka_unit_test(each_kind_of_point_has_its_status),
    cmocka_unit_test(threads_share_a_kernel_and_a_session),
    cmocka_unit_test(the_third_of_five_fails_alone),
    cmocka_unit_test(kernels_of_one_module_go_in_any_order),
    cmocka_unit_test(five_hundred_kernels_leave_memory_flat),
    cmocka_unit_test(the_text_of_a_kernel_is_the_same_every_time),
  };
  return cmocka_run_group_tests(tests, open_jit, close_jit);
}
