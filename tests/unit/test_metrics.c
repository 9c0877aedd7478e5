/* Derived metrics against figures worked out by hand. */
#include "compiled.h"

#include <malloc.h>
#include <string.h>

static counted count(compiled *c, const char *text) {
  counted n;
  compile_text(c, "x.nest", text, strlen(text));
  if (!c->program) fail_msg("%s", compiled_messages(c));
  count_mapping(&n, c, c->program->mappings[0], NULL, 0);
  return n;
}

static void done(compiled *c, counted *n) {
  counted_fini(n);
  compiled_fini(c);
}

/* Tests written in the language, all of which must hold. */
static void holds(const char *text) {
  nst_buffer log = {0};
  compiled c;
  compile_text(&c, "x.nest", text, strlen(text));
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  assert_true(compiled_expectations(&c, 0, NULL, &log) > 0);
  if (log.len) fail_msg("%s", log.text);
  compiled_fini(&c);
  nst_buffer_fini(&log);
}

/* Reads and writes have their own energies: 10 elements read, 4 written. */
static void test_energy(void **state) {
  (void)state;
  holds("workload w { dim i = 10 tensor X : int8 tensor Y[4] : int8 Y[i] = X[i] }\n"
        "hardware h { memory DRAM { read_energy = 5 pJ/B write_energy = 9 pJ/B } compute MAC { energy = 0.25 pJ } }\n"
        "mapping x of w on h { compute }\n"
        "test of x { expect reads(DRAM) == 10 expect updates(DRAM) == 4 expect energy(DRAM) == 86 pJ "
        "expect energy(MAC) == 2.5 pJ expect energy == 88.5 pJ expect cycles == 10 expect edp == 885 }\n");
}

/* The slowest stage, rounded up once; 8-cycle units; a bandwidth per second. */
static void test_cycles(void **state) {
  (void)state;
  holds(
    "workload w { dim i = 100 tensor X : int8 tensor Y[1] : int8 Y[i + 1] = X[i] }\n"
    "hardware h { memory DRAM { bandwidth = 5 B/cycle } memory GLB { bandwidth = 20 B/cycle } compute MAC { rate = 10 "
    "} }\n"
    "mapping x of w on h { keep X in GLB }\n"
    "test of x { expect cycles(DRAM) == 20 expect cycles(GLB) == 10 expect cycles(MAC) == 10 expect cycles == 20 }\n");
  holds("workload w { dim i = 100 tensor X : int8 tensor Y[1] : int8 Y[i + 1] = X[i] }\n"
        "hardware h { memory DRAM { bandwidth = 5 B/cycle } memory GLB { bandwidth = 20 B/cycle } compute MAC { rate = "
        "1 / 8 } }\n"
        "mapping x of w on h { keep X in GLB }\n"
        "test of x { expect cycles(MAC) == 800 expect cycles == 800 expect utilization == 1 }\n");
  holds("workload w { dim i = 1000 tensor X : int16 tensor Y[1] : int8 Y[i + 1] = X[i] }\n"
        "hardware h { clock = 1 GHz memory DRAM { bandwidth = 19.2 GB/s } compute MAC { rate = 100 } }\n"
        "mapping x of w on h { compute }\n"
        "test of x { expect cycles(DRAM) == 2000 / 19.2 expect cycles == 105 }\n");
}

/* 384 elements off-chip beside 1024 operations, at 1 and at 1/4 element per cycle. */
static void test_stalls(void **state) {
  (void)state;
  holds("workload w { dim m = 16, n = 16, k = 4 tensor A, B, C : int8 C[m, n] += A[m, k] * B[k, n] }\n"
        "hardware h(bw) { memory DRAM { bandwidth = bw / 4 * 1 B/cycle } memory buf compute MAC }\n"
        "mapping x(bw = 4) of w on h(bw) { keep all in buf }\n"
        "test of x { expect cycles(DRAM) == 384 expect cycles == 1024 }\n"
        "test of x(bw = 1) { expect cycles(DRAM) == 1536 expect cycles == 1536 }\n");
}

static const char gemm[] =
  "workload w { dim m = 4, n = 4, k = 4 tensor A, B : int8, C : int16 C[m, n] += A[m, k] * B[k, n] }\n";

static void holds_on(const char *hardware, const char *mapping, const char *expects) {
  nst_buffer text = {0};
  nst_buffer_printf(&text, "%shardware h { %s }\nmapping x of w on h { %s }\ntest of x { %s }\n", gemm, hardware,
                    mapping, expects);
  holds(text.text);
  nst_buffer_fini(&text);
}

/* Everything held: DRAM reads 32 bytes and receives 32, GLB reads 64 + 64 + 2*48 + 32 and is written 32 + 128. */
static void test_bandwidths(void **state) {
  (void)state;
  holds_on("memory DRAM { read_bandwidth = 2 B/cycle write_bandwidth = 0.5 B/cycle } memory GLB { bandwidth = 4 "
           "B/cycle } compute MAC",
           "keep all in GLB",
           "expect cycles(DRAM) == 64 expect cycles(GLB) == (64 + 64 + 96 + 32 + 32 + 128) / 4 expect cycles == 104");
  /* Only one direction given: the other costs nothing. */
  holds_on("memory DRAM { read_bandwidth = 1 B/cycle } memory GLB compute MAC", "keep all in GLB",
           "expect cycles(DRAM) == 32 expect cycles(GLB) == 0 expect cycles == 64");
  /* What does not overlap is added: 64 + 16 + 0.5, rounded up once. */
  holds_on("memory DRAM { bandwidth = 4 B/cycle overlap = false } memory GLB { bandwidth = 832 B/cycle overlap = false "
           "} compute MAC",
           "keep all in GLB", "expect cycles(GLB) == 0.5 expect cycles == 81");
  /* Per instance: four instances in use of sixteen share the bytes. */
  holds_on("memory DRAM array PE[x = 16] memory RF { bandwidth = 1 B/cycle } compute MAC",
           "par m on PE.x keep A, C in RF compute",
           "expect instances(RF) == 4 expect cycles(RF) == (64 + 16 + 2 * (64 + 48 + 16)) / 4 expect utilization == 64 "
           "/ (cycles * 16)");
}

static void test_usage(void **state) {
  (void)state;
  holds_on("memory DRAM memory GLB { capacity = 64 B double_buffered = true } compute MAC",
           "for m by 2 keep A, C in GLB",
           "expect usage(GLB, A) == 16 expect usage(GLB, C) == 32 expect usage(GLB) == 48 expect fits expect "
           "usage(GLB, B) == 0");
  holds_on("memory DRAM memory GLB { capacity = 63 B } compute MAC", "keep all in GLB",
           "expect usage(GLB) == 64 expect not fits");
  /* Three bits per element: bytes are exact fractions. */
  holds("workload w { dim i = 5 tensor X, Y : bits(3) Y[i] = X[i] }\n"
        "hardware h { memory DRAM memory GLB { capacity = 15 b } compute MAC }\n"
        "mapping x of w on h { keep X in GLB }\n"
        "test of x { expect usage(GLB) == 15 / 8 expect fits expect traffic(DRAM, X) == 1.875 expect offchip == 3.75 "
        "expect intensity == 4 / 3 }\n");
}

static void test_leakage_and_area(void **state) {
  (void)state;
  holds_on("clock = 500 MHz memory DRAM { leakage = 2 mW area = 1.5 mm2 } array PE[x = 16] memory RF { leakage = 1 mW "
           "area = 0.25 mm2 } "
           "compute MAC { area = 0.01 mm2 }",
           "par m on PE.x keep A in RF compute",
           "expect cycles == 16 expect energy(DRAM) == 64 pJ expect energy(RF) == 512 pJ expect energy == 576 pJ "
           "expect area == 1.5 + 16 * 0.26");
  /* The frontend sees that leakage needs a clock; whoever builds a nest without one is told here. */
  compiled c;
  counted n = count(
    &c,
    "workload w { dim i = 4 Y[i] = X[i] }\nhardware h { clock = 1 GHz memory DRAM { leakage = 2 mW } compute MAC }\n"
    "mapping x of w on h { compute }\n");
  nst_nest clockless = *n.nest;
  nst_metrics out = {0};
  clockless.has_clock = false;
  assert_true(nst_metrics_compute(&out, c.arena, n.nest, n.counts, c.diags));
  assert_false(nst_metrics_compute(&out, c.arena, &clockless, n.counts, c.diags));
  assert_non_null(strstr(compiled_messages(&c), "E0931"));
  done(&c, &n);
}

/* What is not given, or would be a division by zero, has no value. */
static void test_absent(void **state) {
  (void)state;
  compiled c;
  counted n =
    count(&c, "workload w { dim i = 4 tensor X[1], Y[1] Y[i + 1] = X[i + 1] }\nhardware h { memory DRAM compute MAC }\n"
              "mapping x of w on h { compute }\n");
  assert_true(n.has_metrics);
  assert_false(n.metrics.has_intensity);
  assert_false(n.metrics.has_area);
  assert_true(n.metrics.has_utilization);
  assert_true(counted_metric(&n, "intensity", NULL, NULL) < 0);
  assert_true(counted_metric(&n, "area", NULL, NULL) < 0);
  assert_true(counted_metric(&n, "offchip", NULL, NULL) == 0);
  done(&c, &n);
}

/* Figures past 63 bits are errors; the counters here are made up. */
static void test_overflow(void **state) {
  (void)state;
  compiled c;
  counted n = count(&c, "workload w { dim i = 4 tensor X, Y : int64 Y[i] = X[i] }\n"
                        "hardware h { memory DRAM { energy = 1000000 pJ/B bandwidth = 1 B/cycle } compute MAC }\n"
                        "mapping x of w on h { compute }\n");
  nst_metrics out = {0};
  int64_t half = INT64_MAX / 16;
  nst_counts_at(n.counts, 0, 0, 0)->reads = half; /* 2^62 bytes, or nearly */
  nst_counts_at(n.counts, 0, 0, 1)->updates = half;
  assert_true(n.metrics.has_edp);
  assert_true(nst_metrics_compute(&out, c.arena, n.nest, n.counts, c.diags));
  assert_true(out.offchip.num == (nst_i128)half * 16);
  assert_false(out.has_edp); /* some 10^6 * 2^63 * 2^63 */
  nst_counts_at(n.counts, 0, 0, 1)->updates = half + 2;
  assert_false(nst_metrics_compute(&out, c.arena, n.nest, n.counts, c.diags));
  assert_non_null(strstr(compiled_messages(&c), "E0930"));
  int64_t sum;
  nst_counts_at(n.counts, 0, 0, 0)->reads = INT64_MAX;
  nst_counts_at(n.counts, 0, 0, 1)->reads = 1;
  assert_false(nst_metrics_counter(&sum, n.nest, n.counts, NST_METRIC_READS, 0, -1));
  assert_true(nst_metrics_counter(&sum, n.nest, n.counts, NST_METRIC_READS, 0, 0));
  done(&c, &n);
}

/* Branches run one after the other: their cycles add, rounded up once, and the largest branch is what is held. */
static void test_cascades(void **state) {
  (void)state;
  holds(
    "workload w { dim m = 2, k = 3, n = 5 tensor X, V, W, T, Y : int8 T[m] += X[m, k] * V[k] Y[m, n] = T[m] * W[n] }\n"
    "hardware h { memory DRAM { bandwidth = 0.8 B/cycle } memory GLB { energy = 1 pJ/B } compute MAC { rate = 4 } }\n"
    "mapping x of w on h { keep T in GLB seq { do T { keep X, V in GLB compute } do Y { keep W, Y in GLB compute } } "
    "}\n"
    "test of x {\n"
    "  expect cycles(MAC) == 6 / 4 + 10 / 4\n"
    "  expect cycles(DRAM) == 9 / 0.8 + 15 / 0.8\n"
    "  expect cycles == 30\n"
    "  expect usage(GLB) == 2 + 15\n"
    "  expect usage(GLB, X) == 6 expect usage(GLB, T) == 2\n"
    "  expect energy(GLB) == 76 pJ\n"
    "  expect steps == 16 expect ops == 16 expect instances(GLB) == 1\n"
    "}\n");
}

static void test_again_allocates_nothing(void **state) {
  (void)state;
  compiled c;
  counted n = count(
    &c,
    "workload w { dim m = 8, n = 8, k = 8 tensor A, B : int8, C : int32 C[m, n] += A[m, k] * B[k, n] }\n"
    "hardware h { clock = 0.7 GHz memory DRAM { bandwidth = 12.8 GB/s energy = 100.5 pJ/B leakage = 3 mW }\n"
    "  memory GLB { capacity = 64 KiB read_bandwidth = 32 B/cycle write_bandwidth = 16 B/cycle energy = 1.7 pJ/B }\n"
    "  array PE[x = 4, y = 4] memory RF { capacity = 64 B energy = 0.13 pJ/B area = 0.01 mm2 }\n"
    "  compute MAC { energy = 0.56 pJ } }\n"
    "mapping x of w on h { for m by 4 for k by 3 keep all in GLB par m on PE.x par n on PE.y keep all in RF }\n");
  assert_true(n.has_metrics);
  nst_metrics out = {0};
  size_t before = 0;
  for (int i = 0; i < 600; i++) {
    assert_true(nst_metrics_compute(&out, i ? NULL : c.arena, n.nest, n.counts, NULL));
    if (i == 300) before = mallinfo2().uordblks;
  }
  if (!TEST_SANITIZED) assert_int_equal(mallinfo2().uordblks, before);
  done(&c, &n);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_energy),     cmocka_unit_test(test_cycles),   cmocka_unit_test(test_stalls),
    cmocka_unit_test(test_bandwidths), cmocka_unit_test(test_usage),    cmocka_unit_test(test_leakage_and_area),
    cmocka_unit_test(test_absent),     cmocka_unit_test(test_overflow), cmocka_unit_test(test_cascades),
    cmocka_unit_test(test_again_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
