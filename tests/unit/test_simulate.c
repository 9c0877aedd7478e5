/* The simulator against numbers worked out by hand: the examples of the counting
 * rules, faults that users of other tools reported with their right values, and
 * what the case files do not reach: refusals, hashed tensors, instances that
 * share or may not. */
#include "compiled.h"

#include <stdio.h>
#include <string.h>

static const char machine[] = "hardware h { memory DRAM memory buf compute MAC }\n";

/* Expectations on one mapping `x`, in the language itself. */
static void holds(const char *workload, const char *hardware, const char *mapping, const char *expects) {
  nst_buffer text = {0}, log = {0};
  compiled c;
  nst_buffer_printf(&text, "workload w { %s }\n%smapping x of w on h { %s }\ntest of x { %s }\n", workload, hardware,
                    mapping, expects);
  compile_text(&c, "x.nest", text.text, text.len);
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  assert_null(nst_ir_verify_mapping(c.arena, c.program->mappings[0]));
  assert_true(compiled_expectations(&c, 0, NULL, &log) > 0);
  if (log.len) fail_msg("%s\n%s", mapping, log.text);
  compiled_fini(&c);
  nst_buffer_fini(&log);
  nst_buffer_fini(&text);
}

static void refuses(const char *workload, const char *hardware, const char *mapping, uint64_t limit, const char *code,
                    const char *part) {
  nst_buffer text = {0};
  compiled c;
  counted n;
  nst_buffer_printf(&text, "workload w { %s }\n%smapping x of w on h { %s }\n", workload, hardware, mapping);
  compile_text(&c, "x.nest", text.text, text.len);
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  count_mapping(&n, &c, c.program->mappings[0], NULL, limit);
  assert_non_null(n.nest);
  assert_null(n.counts);
  const char *messages = compiled_messages(&c);
  if (!strstr(messages, code) || !strstr(messages, part)) fail_msg("not %s and \"%s\" in:\n%s", code, part, messages);
  counted_fini(&n);
  compiled_fini(&c);
  nst_buffer_fini(&text);
}

static void test_gemm_orders(void **state) {
  (void)state;
  static const char w[] = "dim m = 8, n = 8, k = 8 C[m, n] += A[m, k] * B[k, n]";
  holds(w, machine, "for m by 4 for n by 4 for k by 4 keep all in buf",
        "expect reads(DRAM, A) == 128 expect reads(DRAM, B) == 128 expect updates(DRAM, C) == 64 expect reads(DRAM, C) "
        "== 0");
  holds(w, machine, "for m by 4 for k by 4 for n by 4 keep all in buf",
        "expect reads(DRAM, A) == 64 expect reads(DRAM, B) == 128 expect updates(DRAM, C) == 128 expect reads(DRAM, C) "
        "== 64");
  holds(w, machine, "for n by 4 for k by 4 for m by 4 keep all in buf",
        "expect reads(DRAM, A) == 128 expect reads(DRAM, B) == 64 expect updates(DRAM, C) == 128 expect reads(DRAM, C) "
        "== 64");
  holds(w, machine, "for k by 4 for m by 4 for n by 4 keep all in buf",
        "expect reads(DRAM, A) == 64 expect reads(DRAM, B) == 128 expect updates(DRAM, C) == 128 expect reads(DRAM, C) "
        "== 64");
}

static void test_windows(void **state) {
  (void)state;
  static const char w[] = "dim k = 32, p = 16, r = 3 O[k, p] += W[k, r] * I[p + r]";
  holds(w, machine, "for p for k keep all in buf",
        "expect reads(DRAM, I) == 18 expect reads(DRAM, W) == 1536 expect updates(DRAM, O) == 512 expect reads(DRAM, "
        "O) == 0");
  holds(w, machine, "for k for p keep all in buf",
        "expect reads(DRAM, I) == 576 expect reads(DRAM, W) == 96 expect updates(DRAM, O) == 512 expect reads(DRAM, O) "
        "== 0");
  holds("dim p = 8, r = 3 O[p] += W[r] * I[p + 2*r]", machine, "for p keep all in buf",
        "expect tile(buf, I) == 3 expect reads(DRAM, I) == 24");
  holds("dim p = 3, q = 4, r = 3, s = 3 O[p, q] += W[r, s] * I[2*p + r, q + s]", machine, "keep all in buf",
        "expect tile(buf, I) == 42");
  /* Padding: elements outside the shape are computed on and neither held nor moved. */
  holds("dim p = 8, r = 3 tensor I[8] O[p] += W[r] * I[p + r - 1]", machine, "for p by 4 keep all in buf",
        "expect reads(DRAM, I) == 8 expect tile(buf, I) == 5 expect ops == 24 expect steps == 24 expect reads(buf, I) "
        "== 22");
  holds("dim p = 4 tensor O[3] : int8 O[p - 6] += I[p]", machine, "for p keep all in buf",
        "expect ops == 4 expect updates(buf, O) == 0 expect reads(buf, I) == 4 expect tile(buf, O) == 0");
}

static void test_outputs(void **state) {
  (void)state;
  /* One level: 48 updates, and all but the first of each element are read back. */
  holds("dim p = 16, r = 3 O[p] += W[r] * I[p + r]", "hardware h { memory buf compute MAC }\n", "for r for p",
        "expect updates(buf, O) == 48 expect reads(buf, O) == 32 expect fills(buf, O) == 0 expect reads(buf, W) == 48");
  /* No backing store: nothing moves above the outermost keep. */
  holds(
    "dim m = 8, n = 8, k = 4 O[m, n] += A[m, k] * B[k, n]", machine, "keep A, B in DRAM keep all in buf",
    "expect updates(DRAM, O) == 0 expect reads(DRAM, O) == 0 expect updates(buf, O) == 256 expect reads(buf, O) == 192 "
    "expect fills(buf, O) == 0 expect drains(buf, O) == 0 expect reads(DRAM, A) == 32 expect reads(DRAM, B) == 32");
  holds(
    "dim i = 6, j = 4 S[] += A[i, j]", machine, "for i by 4 keep S in buf for j by 3",
    "expect tile(buf, S) == 1 expect updates(buf, S) == 24 expect reads(buf, S) == 23 expect updates(DRAM, S) == 1");
}

static void test_unusual_accesses(void **state) {
  (void)state;
  holds("dim i = 8 Y[i] = B[i, i]", machine, "keep all in buf", "expect reads(DRAM, B) == 8");
  /* A tensor read twice: the union. i in 0..1 and j in 2..3 touch 8 elements, i and j in 0..2 touch 9. */
  holds("dim i = 2, j = 2 Y[i, j] += A[i, j + 2] * A[j + 2, i]", machine, "keep all in buf",
        "expect tile(buf, A) == 8 expect reads(buf, A) == 8");
  holds("dim i = 3, j = 3 Y[i, j] += A[i, j] * A[j, i]", machine, "keep all in buf",
        "expect tile(buf, A) == 9 expect reads(buf, A) == 15");
  /* Far apart: elements are numbered as they are met. */
  holds("dim p = 6, r = 4 O[p] += W[r] * I[1000000007*p + 3*r, 998244353*r]", machine, "for p by 4 keep all in buf",
        "expect reads(DRAM, I) == 24 expect tile(buf, I) == 16 expect reads(buf, I) == 24");
  holds("dim i = 3, j = 4 Y[-i, 2*i - j] = X[i, j]", machine, "for i by 2 keep all in buf",
        "expect updates(DRAM, Y) == 12");
}

static const char array[] = "hardware h { memory DRAM array PE[x = 4, y = 4] memory RF compute MAC }\n";
static const char unicast[] =
  "hardware h { memory DRAM array PE[x = 4, y = 4] { multicast = false } memory RF compute MAC }\n";

static void test_arrays(void **state) {
  (void)state;
  static const char w[] = "dim p = 3, r = 3 O[p] += W[r] * I[p + r]";
  static const char m[] = "par p by 1 on PE.x par r by 1 on PE.y keep all in RF";
  holds(w, array, m,
        "expect reads(DRAM, I) == 5 expect fills(RF, I) == 9 expect reads(DRAM, W) == 3 expect updates(DRAM, O) == 3 "
        "expect drains(RF, O) == 9 expect steps == 1 expect instances(RF) == 9 expect instances(MAC) == 9");
  holds(w, unicast, m, "expect reads(DRAM, I) == 9 expect reads(DRAM, W) == 9 expect updates(DRAM, O) == 3");
  /* One instance has nothing to do in the last step, and keeps what it has. */
  holds("dim p = 7, r = 3 O[p] += W[r] * I[p + r]", array, "for p by 4 par p by 1 on PE.x keep all in RF",
        "expect reads(DRAM, I) == 11 expect fills(RF, I) == 21 expect fills(RF, W) == 12 expect steps == 6 expect ops "
        "== 21");
  holds("dim p = 16, r = 3 O[p] += W[r] * I[p + r]", array, "par p by 4 on PE.x for p keep all in RF",
        "expect fills(RF, I) == 24 expect reads(DRAM, I) == 24");
  /* An inner array without multicast under one with it: shared across the outer one only. */
  static const char two[] =
    "hardware h { memory DRAM array A[x = 2] array B[x = 2] { multicast = false } memory RF compute MAC }\n";
  holds("dim i = 2, j = 2, k = 3 Y[i, j, k] = X[k]", two, "par i by 1 on A.x par j by 1 on B.x keep X in RF",
        "expect reads(DRAM, X) == 6 expect fills(RF, X) == 12");
  /* The compute shares by the same rule. */
  holds("dim i = 4, k = 3 Y[i, k] = X[k]", unicast, "par i by 1 on PE.x compute", "expect reads(DRAM, X) == 12");
  holds("dim i = 4, k = 3 Y[i, k] = X[k]", array, "par i by 1 on PE.x compute", "expect reads(DRAM, X) == 3");
}

static void test_arrays_without_reduction(void **state) {
  (void)state;
  static const char h[] =
    "hardware h { memory DRAM array PE[x = 4, y = 4] { reduce = false } memory RF compute MAC }\n";
  static const char w[] = "dim m = 4, k = 4 Y[m] += A[m, k]";
  holds(w, h, "par m by 1 on PE.x keep all in RF", "expect updates(DRAM, Y) == 4");
  refuses(w, h, "par k by 2 on PE.x keep all in RF", 0, "E0921", "par k makes partial sums of one element of Y");
  refuses(w, h, "par m by 1 on PE.x par k by 2 on PE.y compute", 0, "E0921", "reduce = false");
  /* Not in the same step: the second instance works when the first is idle. */
  holds("dim m = 3, k = 2 Y[m] += A[k + m]", h, "for m by 2 par m by 1 on PE.x keep all in RF",
        "expect updates(DRAM, Y) == 3");
  /* Partial sums may meet on the way to a memory inside the array. */
  holds(
    w, "hardware h { memory DRAM array O[x = 4] memory L1 array PE[x = 4] { reduce = false } memory RF compute MAC }\n",
    "par k by 2 on O.x keep all in L1 par m by 1 on PE.x keep all in RF", "expect updates(DRAM, Y) == 4");
}

static void test_limits(void **state) {
  (void)state;
  static const char w[] = "dim m = 512, n = 512, k = 512 C[m, n] += A[m, k] * B[k, n]";
  refuses(w, machine, "for m by 8 keep all in buf", 0, "E0920", "at most 67,108,864 are accepted");
  refuses(w, machine, "keep all in buf", 1000, "E0920", "at most 1,000 are accepted");
  refuses("dim m = 2097152 Y[m] = X[m]", "hardware h { memory DRAM array P[x = 4194304] compute MAC }\n",
          "par m on P.x", 0, "E0920", "2,097,152 instances, at most 1,048,576 are accepted");
}

/* Declaring dimensions and tensors in another order, or adding a dimension of size 1, changes no number. */
static void test_metamorphic(void **state) {
  (void)state;
  static const char *const workloads[] = {
    "dim k = 6, p = 7, r = 3 tensor W, I : int8, O : int32 O[k, p] += W[k, r] * I[p + r]",
    "dim one = 1, k = 6, p = 7, r = 3 tensor W, I : int8, O : int32 O[k, p, one] += W[k, r] * I[p + r + one]",
    "dim k = 6, p = 7, one = 1, r = 3 tensor O : int32, I, W : int8 O[k, p] += W[k, r, one] * I[p + r]",
    "dim k = 6, p = 7, r = 3 tensor I, W : int8, O : int32 O[k, p] += I[p + r] * W[k, r]",
  };
  for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
    holds(
      workloads[i], array, "for p by 3 for k by 4 par k by 2 on PE.x par r on PE.y keep W, O in RF for p keep I in RF",
      "expect reads(DRAM, I) == 39 expect reads(DRAM, W) == 42 expect updates(DRAM, O) == 42 expect fills(RF, W) == 42 "
      "expect usage(RF) == 2 * 1 + 1 + 4 * 2 * 3");
}

static void test_cascades(void **state) {
  (void)state;
  static const char w[] = "dim m = 64, k = 64, h = 64, n = 64 tensor X, V, T, W, Y : int8 "
                          "T[m, h] += X[m, k] * V[k, h] Y[m, n] += T[m, h] * W[h, n]";
  holds(w, machine,
        "keep all in DRAM seq { do T { keep X, V, T in buf compute } do Y { keep T, W, Y in buf compute } }",
        "expect offchip == 24576 expect usage(buf) == 3 * 4096 expect ops == 2 * 64 ** 3");
  holds(w, machine, "keep T in buf seq { do T { keep X, V in buf compute } do Y { keep W, Y in buf compute } }",
        "expect offchip == 16384 expect traffic(DRAM, T) == 0 expect usage(buf) == 3 * 4096");
}

/* A branch keep lives for one run of its branch; a shared one for all of them. */
static void test_lifetimes(void **state) {
  (void)state;
  static const char w[] =
    "dim m = 4, k = 2, n = 3 tensor X, V, W, Y, T : int8 T[m] += X[m, k] * V[k] Y[m, n] = T[m] * W[n]";
  holds(w, machine, "keep T in buf for m seq { do T { keep V in buf compute } do Y { keep W in buf compute } }",
        "expect reads(DRAM, V) == 8 expect reads(DRAM, W) == 12 expect tile(buf, T) == 4");
  holds(w, machine, "keep T, V, W in buf for m seq { do T { compute } do Y { compute } }",
        "expect reads(DRAM, V) == 2 expect reads(DRAM, W) == 3");
  /* A fused intermediate is dropped where it is replaced, and a first touch counts from the start of everything. */
  holds(
    w, machine, "for m keep T in buf seq { do T { compute } do Y { compute } }",
    "expect tile(buf, T) == 1 expect drains(buf, T) == 0 expect updates(buf, T) == 8 expect reads(buf, T) == 4 + 12 "
    "expect traffic(DRAM, T) == 0");
  /* An output kept in a branch is drained at the end of every run and read back in the next. */
  holds(
    "dim m = 2, h = 3, n = 2 tensor X, T, W, Y : int8 T[m, h] = X[m, h] Y[m, n] += T[m, h] * W[h, n]", machine,
    "for h keep T in buf seq { do T { compute } do Y { keep Y in buf compute } }",
    "expect drains(buf, Y) == 12 expect updates(DRAM, Y) == 12 expect reads(DRAM, Y) == 8 expect fills(buf, Y) == 8");
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_gemm_orders), cmocka_unit_test(test_windows),
    cmocka_unit_test(test_outputs),     cmocka_unit_test(test_unusual_accesses),
    cmocka_unit_test(test_arrays),      cmocka_unit_test(test_arrays_without_reduction),
    cmocka_unit_test(test_limits),      cmocka_unit_test(test_metamorphic),
    cmocka_unit_test(test_cascades),    cmocka_unit_test(test_lifetimes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
