/* The public interface from a program's side: ownership, errors, figures,
 * threads, and that evaluating allocates nothing after its first run. */
#include "test.h"

#include <math.h>
#include <nestor/nestor.h>
#include <pthread.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char gemm[] =
  "workload gemm(M, N = 6, K = 5) {\n"
  "  dim m = M, n = N, k = K\n"
  "  tensor A, B : int8, C : int32\n"
  "  C[m, n] += A[m, k] * B[k, n]\n"
  "}\n"
  "hardware h(PES = 2) {\n"
  "  clock = 1 GHz\n"
  "  memory DRAM { bandwidth = 2 B/cycle  energy = 100 pJ/B }\n"
  "  memory GLB { capacity = 200 B  energy = 2 pJ/B }\n"
  "  array P[x = PES]\n"
  "  compute MAC { energy = 0.5 pJ }\n"
  "}\n"
  "mapping x(tm = 4, tk = tm - 1) of gemm(7) on h {\n"
  "  keep all in DRAM\n"
  "  for m by tm\n"
  "  for k by tk\n"
  "  keep all in GLB\n"
  "  par n on P.x\n"
  "  compute\n"
  "}\n"
  "mapping y(t) of gemm(8, 8, 8) on h { for m by t keep all in GLB compute }\n"
  "test of x { expect reads(DRAM, A) == 35 expect usage(GLB) <= 10 }\n"
  "test \"another tile\" of x(tm = 2) { let twice = 2 * reads(DRAM, A) expect twice == 70 }\n"
  "model f(M, K, N, tm, tk) { out a = M * K out b = K * N * (if tk < K then ceildiv(M, tm) else 1) }\n"
  "verify f against x { a == reads(DRAM, A) b == reads(DRAM, B) over tm in 1 .. 7, tk in [1, 2, 3, 4, 5] }\n";

static nestor_program *compile(const char *text) {
  nestor_session *s = nestor_session_new();
  nestor_program *p = nestor_program_new(s, "t.nest", text, strlen(text), NESTOR_STAGE_CHECK);
  nestor_session_free(s); /* a session may go first */
  return p;
}

static void says(nestor_program *p) {
  nestor_buffer *b = nestor_buffer_new();
  nestor_diagnostics_text(nestor_program_diagnostics(p), false, b);
  if (nestor_buffer_size(b)) print_message("%s\n", nestor_buffer_data(b));
  nestor_buffer_free(b);
}

static nestor_program *good(const char *text) {
  nestor_program *p = compile(text);
  if (nestor_program_status(p) != NESTOR_OK) says(p);
  assert_int_equal(nestor_program_status(p), NESTOR_OK);
  return p;
}

static void test_lists(void **state) {
  (void)state;
  nestor_program *p = good(gemm);
  assert_int_equal(nestor_program_mappings(p), 2);
  assert_int_equal(nestor_program_tests(p), 2);
  assert_int_equal(nestor_program_verifies(p), 1);
  assert_int_equal(nestor_program_sweeps(p), 0);
  assert_int_equal(nestor_program_find(p, "y"), 1);
  assert_true(nestor_program_find(p, "z") == SIZE_MAX);
  nestor_mapping_info info;
  assert_true(nestor_program_mapping(p, 0, &info));
  assert_string_equal(info.name, "x");
  assert_string_equal(info.workload, "gemm");
  assert_string_equal(info.hardware, "h");
  assert_int_equal(info.params, 2);
  assert_false(nestor_program_mapping(p, 2, &info));
  nestor_param_info param;
  assert_true(nestor_program_param(p, 0, 1, &param));
  assert_string_equal(param.name, "tk");
  assert_true(param.has_default && param.default_value == 3);
  assert_true(nestor_program_param(p, 1, 0, &param));
  assert_true(!param.has_default && isnan(param.default_value));
  assert_false(nestor_program_param(p, 0, 2, &param));
  assert_null(nestor_eval_new(p, 2));
  nestor_program_free(p);
}

static void test_figures(void **state) {
  (void)state;
  nestor_program *p = good(gemm);
  nestor_eval *e = nestor_eval_new(p, 0);
  assert_int_equal(nestor_eval_levels(e), 4);
  assert_null(nestor_eval_level(e, 0).name); /* no run yet */
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_OK);
  assert_true(nestor_eval_param(e, 0) == 4 && nestor_eval_param(e, 1) == 3 && isnan(nestor_eval_param(e, 2)));

  const nestor_level dram = nestor_eval_level(e, 0), glb = nestor_eval_level(e, 1), array = nestor_eval_level(e, 2);
  assert_string_equal(dram.name, "DRAM");
  assert_true(isnan(dram.capacity_bytes) && glb.capacity_bytes == 200);
  assert_int_equal(array.kind, NESTOR_LEVEL_ARRAY);
  assert_int_equal(glb.usage_bytes, 12 + 18 + 4 * 24);
  assert_true(glb.fits);
  assert_int_equal(nestor_eval_tensors(e), 3);
  assert_string_equal(nestor_eval_tensor(e, 2).type, "int32");
  assert_int_equal(nestor_eval_tensor(e, 2).role, NESTOR_ROLE_OUTPUT);
  const nestor_counters a = nestor_eval_counters(e, 0, 0), b = nestor_eval_counters(e, 1, 1);
  assert_true(a.kept);
  assert_int_equal(a.reads, 35);
  assert_int_equal(b.fills, 60);
  assert_int_equal(nestor_eval_counters(e, 9, 0).reads, 0);
  const nestor_metrics m = nestor_eval_metrics(e);
  assert_true(m.fits);
  assert_int_equal(m.ops, 210);
  assert_int_equal(m.offchip_bytes, dram.traffic_bytes);
  assert_true(isnan(m.area_mm2));

  double v = 0;
  assert_int_equal(nestor_eval_figure(e, "reads(DRAM, A)", &v), NESTOR_OK);
  assert_true(v == 35);
  assert_int_equal(nestor_eval_figure(e, " usage ( GLB ) ", &v), NESTOR_OK);
  assert_true(v == 126);
  assert_int_equal(nestor_eval_figure(e, "fits", &v), NESTOR_OK);
  assert_true(v == 1);
  assert_int_equal(nestor_eval_figure(e, "cycles(GLB)", &v), NESTOR_OK);
  assert_true(v == glb.exact_cycles && (int64_t)ceil(v) == glb.cycles);
  static const char *const wrong[] = {"", "reads", "reads(X)", "reads(DRAM", "reads(DRAM, A) x", "offchip(DRAM)",
                                      "cycles(DRAM, A)", "instances", "reads(DRAM, )", "read(DRAM)"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(nestor_eval_figure(e, wrong[i], &v), NESTOR_USAGE);
  nestor_eval_free(e);
  nestor_program_free(p);
}

static void test_parameters(void **state) {
  (void)state;
  nestor_program *p = good(gemm);
  nestor_eval *e = nestor_eval_new(p, 0);
  assert_int_equal(nestor_eval_set(e, "tm", "2"), NESTOR_OK);
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_OK);
  assert_true(nestor_eval_param(e, 0) == 2 && nestor_eval_param(e, 1) == 1); /* the default follows */
  assert_int_equal(nestor_eval_set(e, "tq", "2"), NESTOR_USAGE);
  static const char *const wrong[] = {"", "x", "1x", "-", "1e", "nan", " 1", "0x1", "1 2"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(nestor_eval_set(e, "tm", wrong[i]), NESTOR_USAGE);
  nestor_eval_reset(e);
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_OK);
  assert_true(nestor_eval_param(e, 0) == 4);

  /* A bad point says why, and the next one is as good as new. */
  for (int round = 0; round < 3; round++) {
    assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, (const int64_t[]){0, 1}), NESTOR_ERROR);
    assert_int_equal(nestor_diagnostics_errors(nestor_eval_diagnostics(e)), 1);
    nestor_diagnostic d;
    assert_true(nestor_diagnostics_get(nestor_eval_diagnostics(e), 0, &d));
    assert_string_equal(d.code, "E0690");
    assert_string_equal(d.file, "t.nest");
    assert_int_equal(d.line, 15);
    assert_int_equal(nestor_eval_metrics(e).ops, 0);
    assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, (const int64_t[]){4, 5}), NESTOR_OK);
    assert_int_equal(nestor_eval_counters(e, 0, 1).reads, 30);
    assert_int_equal(nestor_diagnostics_count(nestor_eval_diagnostics(e)), 0);
  }
  nestor_eval_free(e);
  e = nestor_eval_new(p, 1);
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_ERROR); /* t has no value */
  assert_int_equal(nestor_eval_set(e, "t", "4"), NESTOR_OK);
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_OK);
  nestor_eval_free(e);
  nestor_program_free(p);
}

static void test_fit_is_a_warning(void **state) {
  (void)state;
  nestor_program *p = good(gemm);
  nestor_eval *e = nestor_eval_new(p, 1);
  nestor_eval_set(e, "t", "8");
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_OK);
  assert_false(nestor_eval_metrics(e).fits);
  nestor_diagnostic d;
  for (int again = 0; again < 2; again++) {
    assert_int_equal(nestor_diagnostics_count(nestor_eval_diagnostics(e)), 1);
    assert_true(nestor_diagnostics_get(nestor_eval_diagnostics(e), 0, &d));
  }
  assert_int_equal(d.severity, NESTOR_SEVERITY_WARNING);
  assert_string_equal(d.code, "W0950");
  assert_non_null(strstr(d.help, "A 64 B + B 64 B + C 256 B"));
  nestor_eval_free(e);
  nestor_program_free(p);
}

static void test_engines_agree(void **state) {
  (void)state;
  nestor_program *p = good(gemm);
  nestor_eval *e = nestor_eval_new(p, 0);
  int64_t reads = 0;
  for (int i = 0; i < 3; i++) {
    const nestor_status status = nestor_eval_run(e, (nestor_engine)i, NULL);
    if (i == NESTOR_ENGINE_JIT && status == NESTOR_UNAVAILABLE) continue; /* built without */
    assert_int_equal(status, NESTOR_OK);
    if (!i) reads = nestor_eval_counters(e, 1, 2).reads;
    assert_int_equal(nestor_eval_counters(e, 1, 2).reads, reads);
  }
  nestor_engine engine;
  assert_true(nestor_engine_parse("all", &engine) && engine == NESTOR_ENGINE_ALL);
  assert_false(nestor_engine_parse("ALL", &engine));
  nestor_eval_free(e);
  nestor_program_free(p);
}

static void test_limits(void **state) {
  (void)state;
  nestor_session *s = nestor_session_new();
  nestor_session_set_limits(s, (nestor_limits){.simulate_work = 10, .verify_points = 5, .source_bytes = sizeof gemm});
  nestor_program *p = nestor_program_new(s, "t.nest", gemm, sizeof gemm - 1, NESTOR_STAGE_CHECK);
  nestor_eval *e = nestor_eval_new(p, 0);
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_SIMULATE, NULL), NESTOR_ERROR);
  nestor_eval_free(e);
  nestor_tests *t = nestor_tests_new(p);
  nestor_test verify;
  assert_true(nestor_tests_get(t, 2, &verify));
  assert_false(verify.passed);
  assert_non_null(strstr(verify.details, "limit"));
  nestor_tests_free(t);
  nestor_program_free(p);
  nestor_session_set_limits(s, (nestor_limits){.source_bytes = 10});
  p = nestor_program_new(s, NULL, gemm, sizeof gemm - 1, NESTOR_STAGE_CHECK);
  assert_int_equal(nestor_program_status(p), NESTOR_ERROR);
  nestor_diagnostic d;
  assert_true(nestor_diagnostics_get(nestor_program_diagnostics(p), 0, &d));
  assert_string_equal(d.code, "E0005");
  nestor_program_free(p);
  nestor_session_free(s);
}

static void test_tests(void **state) {
  (void)state;
  nestor_program *p = good(gemm);
  nestor_tests *t = nestor_tests_new(p);
  assert_int_equal(nestor_tests_count(t), 3);
  assert_int_equal(nestor_tests_failed(t), 1);
  nestor_test one;
  assert_true(nestor_tests_get(t, 0, &one));
  assert_true(!one.verify && !one.passed && one.checks == 2 && one.failed == 1 && one.line == 22);
  assert_non_null(strstr(one.details, "usage(GLB) = 126 bytes"));
  assert_true(nestor_tests_get(t, 1, &one));
  assert_true(one.passed);
  assert_string_equal(one.name, "test \"another tile\" of x");
  assert_true(nestor_tests_get(t, 2, &one));
  assert_true(one.verify && one.checks > 0);
  assert_true(one.passed);
  assert_false(nestor_tests_get(t, 3, &one));
  nestor_buffer *b = nestor_buffer_new();
  nestor_tests_json(t, b);
  assert_non_null(strstr(nestor_buffer_data(b), "\"passed\":2,\"failed\":1"));
  nestor_buffer_free(b);
  nestor_tests_free(t);
  nestor_program_free(p);
}

static bool load(void *context, const char *path, nestor_buffer *out) {
  *(int *)context += 1;
  if (strcmp(path, "dir/hw.nest")) {
    nestor_buffer_append(out, "no such text", 12);
    return false;
  }
  static const char text[] = "hardware tiny { memory DRAM compute MAC }\n";
  nestor_buffer_append(out, text, sizeof text - 1);
  return true;
}

static void test_loader(void **state) {
  (void)state;
  static const char text[] = "use \"hw.nest\"\nworkload w { dim i = 4  Y[i] = X[i] }\nmapping m of w on tiny { compute }\n";
  int calls = 0;
  nestor_session *s = nestor_session_new();
  nestor_program *p = nestor_program_new(s, "dir/t.nest", text, sizeof text - 1, NESTOR_STAGE_CHECK);
  assert_int_equal(nestor_program_status(p), NESTOR_ERROR); /* files are off */
  nestor_program_free(p);
  nestor_session_set_loader(s, load, &calls);
  p = nestor_program_new(s, "dir/t.nest", text, sizeof text - 1, NESTOR_STAGE_CHECK);
  says(p);
  assert_int_equal(nestor_program_status(p), NESTOR_OK);
  assert_int_equal(calls, 1);
  nestor_program_free(p);
  p = nestor_program_new(s, "t.nest", text, sizeof text - 1, NESTOR_STAGE_CHECK);
  nestor_buffer *b = nestor_buffer_new();
  nestor_diagnostics_text(nestor_program_diagnostics(p), false, b);
  assert_non_null(strstr(nestor_buffer_data(b), "no such text"));
  nestor_buffer_clear(b);
  assert_false(nestor_load_file(NULL, "/", b));
  assert_false(nestor_load_file(NULL, "/nowhere/at/all", b));
  assert_non_null(strstr(nestor_buffer_data(b), "No such file"));
  nestor_buffer_free(b);
  nestor_program_free(p);
  static const char std[] = "use std.hardware.edge\n";
  p = nestor_program_new(s, "t.nest", std, sizeof std - 1, NESTOR_STAGE_CHECK);
  assert_int_equal(nestor_program_status(p), NESTOR_OK);
  nestor_program_free(p);
  nestor_session_set_stdlib(s, false);
  p = nestor_program_new(s, "t.nest", std, sizeof std - 1, NESTOR_STAGE_CHECK);
  assert_int_equal(nestor_program_status(p), NESTOR_ERROR);
  nestor_program_free(p);
  nestor_session_free(s);
}

static void test_texts(void **state) {
  (void)state;
  nestor_program *p = good(gemm);
  nestor_buffer *b = nestor_buffer_new();
  assert_string_equal(nestor_buffer_data(b), "");
  assert_int_equal(nestor_program_format(p, b), NESTOR_OK);
  nestor_session *s = nestor_session_new();
  nestor_program *again = nestor_program_new(s, "t", nestor_buffer_data(b), nestor_buffer_size(b), NESTOR_STAGE_PARSE);
  nestor_buffer *c = nestor_buffer_new();
  assert_int_equal(nestor_program_format(again, c), NESTOR_OK);
  assert_string_equal(nestor_buffer_data(b), nestor_buffer_data(c));
  assert_int_equal(nestor_program_mappings(again), 0); /* parsed only */
  assert_int_equal(nestor_program_emit(again, "ast", c), NESTOR_OK);
  assert_int_equal(nestor_program_emit(again, "ir", c), NESTOR_ERROR);
  assert_int_equal(nestor_program_emit(p, "ir", c), NESTOR_OK);
  assert_int_equal(nestor_program_emit(p, "expr", c), NESTOR_OK);
  assert_int_equal(nestor_program_emit(p, "object", c), NESTOR_USAGE);
  nestor_eval *e = nestor_eval_new(p, 0);
  assert_int_equal(nestor_eval_explain(e, c), NESTOR_USAGE); /* no run yet */
  nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL);
  nestor_buffer_clear(c);
  assert_int_equal(nestor_eval_explain(e, c), NESTOR_OK);
  assert_non_null(strstr(nestor_buffer_data(c), "what moves, and why"));
  nestor_eval_free(e);
  nestor_buffer_free(b);
  nestor_buffer_free(c);
  nestor_program_free(again);
  nestor_program_free(p);
  nestor_session_free(s);
}

/* ---- threads ---- */

enum { THREADS = 4, POINTS = 35 };
typedef struct { const nestor_program *program; nestor_kernel *kernel; double out[POINTS]; bool failed; } thread_work;

static void *work(void *data) {
  thread_work *w = data;
  nestor_eval *e = nestor_eval_new(w->program, 0);
  for (int round = 0; round < 20; round++)
    for (int i = 0; i < POINTS; i++) {
      const int64_t params[] = {1 + i / 5, 1 + i % 5};
      double v = 0, native = 0;
      w->failed |= nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, params) != NESTOR_OK;
      w->failed |= nestor_eval_figure(e, "offchip", &v) != NESTOR_OK;
      if (w->kernel) w->failed |= nestor_kernel_call(w->kernel, params, &native) != NESTOR_POINT_OK || native != v;
      w->out[i] = v;
    }
  nestor_eval_free(e);
  return NULL;
}

static void test_threads(void **state) {
  (void)state;
  nestor_program *p = good(gemm);
  const char *const figures[] = {"offchip"};
  nestor_status status;
  nestor_kernel *k = nestor_kernel_new(p, 0, figures, 1, &status, NULL);
  assert_true(k || status == NESTOR_UNAVAILABLE);
  thread_work w[THREADS];
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    w[i] = (thread_work){.program = p, .kernel = k};
    assert_int_equal(pthread_create(&threads[i], NULL, work, &w[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) {
    assert_false(w[i].failed);
    assert_memory_equal(w[i].out, w[0].out, sizeof w[0].out);
  }
  nestor_kernel_free(k);
  nestor_program_free(p);
}

static void test_batch(void **state) {
  (void)state;
  nestor_program *p = good(gemm);
  const char *const figures[] = {"reads(DRAM, A)", "area", "usage(GLB)"};
  nestor_status status;
  nestor_kernel *k = nestor_kernel_new(p, 0, figures, 3, &status, NULL);
  if (!k) {
    assert_int_equal(status, NESTOR_UNAVAILABLE);
    nestor_program_free(p);
    return;
  }
  assert_int_equal(nestor_kernel_params(k), 2);
  assert_int_equal(nestor_kernel_figures(k), 3);
  const int64_t tm[] = {4, 0, 2, -5, 4}, tk[] = {3, 1, 1, 1, 3};
  double a[5], area[5], usage[5];
  uint8_t points[5];
  assert_int_equal(nestor_kernel_batch(k, 5, (const int64_t *const[]){tm, tk}, (double *const[]){a, area, usage}, points), 3);
  const uint8_t want[] = {NESTOR_POINT_OK, NESTOR_POINT_INVALID, NESTOR_POINT_OK, NESTOR_POINT_INVALID, NESTOR_POINT_OK};
  assert_memory_equal(points, want, sizeof want);
  assert_true(a[0] == 35 && isnan(a[1]) && a[4] == 35 && usage[0] == 126 && isnan(area[0]));
  nestor_kernel_free(k);
  nestor_buffer *why = nestor_buffer_new();
  assert_null(nestor_kernel_new(p, 0, (const char *const[]){"speed"}, 1, &status, why));
  assert_int_equal(status, NESTOR_USAGE);
  assert_non_null(strstr(nestor_buffer_data(why), "speed"));
  assert_null(nestor_kernel_new(p, 9, figures, 1, &status, NULL));
  nestor_buffer_free(why);
  nestor_program_free(p);
}

static bool code_is_kept(const char *directory) {
  nestor_session *s = nestor_session_new();
  nestor_session_set_cache(s, directory);
  nestor_program *p = nestor_program_new(s, "t.nest", gemm, sizeof gemm - 1, NESTOR_STAGE_CHECK);
  nestor_session_free(s);
  nestor_eval *e = nestor_eval_new(p, 0);
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_JIT, NULL), NESTOR_OK);
  nestor_eval_free(e);
  nestor_program_free(p);
  return rmdir(directory) != 0 && errno == ENOTEMPTY;
}

static void test_cache(void **state) {
  (void)state;
  char directory[] = "/tmp/nestor-api-XXXXXX", command[64];
  assert_non_null(mkdtemp(directory));
  for (int i = 0; i < 2; i++) assert_true(code_is_kept(directory));
  snprintf(command, sizeof command, "rm -rf %s", directory);
  assert_int_equal(system(command), 0);
  assert_false(code_is_kept(""));
}

static void test_no_code_generator(void **state) {
  (void)state;
  nestor_session *s = nestor_session_new();
  nestor_session_set_code_generator(s, "/nowhere/nestor-llvm.so");
  nestor_program *p = nestor_program_new(s, "t.nest", gemm, sizeof gemm - 1, NESTOR_STAGE_CHECK);
  nestor_session_free(s);
  nestor_eval *e = nestor_eval_new(p, 0);
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_JIT, NULL), NESTOR_UNAVAILABLE);
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ALL, NULL), NESTOR_UNAVAILABLE);
  assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_OK);
  nestor_eval_free(e);
  nestor_program_free(p);
}

static void test_nothing_is_fine(void **state) {
  (void)state;
  nestor_session_free(NULL);
  nestor_program_free(NULL);
  nestor_eval_free(NULL);
  nestor_kernel_free(NULL);
  nestor_report_free(NULL);
  nestor_tests_free(NULL);
  nestor_buffer_free(NULL);
  assert_int_equal(nestor_diagnostics_count(NULL), 0);
  nestor_program *p = compile("workload {");
  assert_int_equal(nestor_program_status(p), NESTOR_ERROR);
  assert_int_equal(nestor_program_mappings(p), 0);
  nestor_buffer *b = nestor_buffer_new();
  assert_int_equal(nestor_program_format(p, b), NESTOR_ERROR);
  assert_int_equal(nestor_program_emit(p, "ir", b), NESTOR_ERROR);
  nestor_buffer_free(b);
  nestor_program_free(p);
  p = compile("");
  nestor_tests *t = nestor_tests_new(p);
  assert_int_equal(nestor_tests_count(t), 0);
  nestor_tests_free(t);
  nestor_program_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_lists),         cmocka_unit_test(test_figures),
    cmocka_unit_test(test_parameters),    cmocka_unit_test(test_fit_is_a_warning),
    cmocka_unit_test(test_engines_agree), cmocka_unit_test(test_limits),
    cmocka_unit_test(test_tests),         cmocka_unit_test(test_loader),
    cmocka_unit_test(test_texts),         cmocka_unit_test(test_threads),
    cmocka_unit_test(test_batch),         cmocka_unit_test(test_cache), cmocka_unit_test(test_no_code_generator),
    cmocka_unit_test(test_nothing_is_fine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
