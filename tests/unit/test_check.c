/* The checker: what is legal stays silent, what is wrong gives exactly the codes
 * it should, and one mistake never gives two. The wording is in the golden files. */
#include "test.h"

#include "compiled.h"

#include <stdio.h>
#include <string.h>

#define GEMM                                                                                                           \
  "workload gemm(M = 8, N = 8, K = 8) { dim m = M, n = N, k = K  tensor A, B : int8, C : int32\n"                      \
  "C[m, n] += A[m, k] * B[k, n] }\n"
#define TINY                                                                                                           \
  "hardware tiny(P = 4) { clock = 1 GHz memory DRAM memory GLB { capacity = 64 KiB }\n"                                \
  "array PE[x = P, y = 2] memory RF { capacity = 512 B } compute MAC }\n"
#define CHAIN                                                                                                          \
  "workload chain { dim m = 8, k = 8, n = 8, p = 8\n"                                                                  \
  "S[m, n] += A[m, k] * B[k, n]  T[m, p] += S[m, n] * D[n, p] }\n"                                                     \
  "hardware flat { memory DRAM memory GLB compute MAC }\n"

static void codes_of(const char *text, char *out, size_t cap) {
  compiled c;
  compile_text(&c, "test.nest", text, strlen(text));
  nst_diags_sort(c.diags);
  out[0] = '\0';
  for (size_t i = 0; i < nst_diags_count(c.diags); i++) {
    if (i) strncat(out, " ", cap - strlen(out) - 1);
    strncat(out, nst_diag_code(nst_diags_get(c.diags, i)->id), cap - strlen(out) - 1);
  }
  assert_int_equal(c.program == NULL, nst_diags_errors(c.diags) > 0);
  compiled_fini(&c);
}

static void expect(const char *text, const char *codes) {
  char got[400];
  codes_of(text, got, sizeof got);
  if (strcmp(got, codes) != 0) printf("in:\n%s\n", text);
  assert_string_equal(got, codes);
}

static void test_names(void **state) {
  (void)state;
  expect(GEMM TINY "mapping a(t = 4) of gemm on tiny { for m by t  let u = t + M + P + PE.x  for n by u }", "");
  expect(GEMM TINY "mapping a of gemm on tiny { for q by 4  for m by x }", "E0202 E0201");
  expect("const A = B, B = C, C = 3 workload w { dim i = A  Y[i] = X[i] }", "");
  /* a tensor, a dimension, a value and a level may share a name */
  expect("workload w(x = 4) { dim x = x  tensor x : int8  Y[x] = x[x] }\n"
         "hardware x { memory x  compute c }  mapping x(x = 2) of w on x { for x by x  keep x, Y in x }",
         "");
  /* a file that lost a declaration to a syntax error does not call its name unknown */
  expect("worklod gemm { dim m = 4 Y[m] = X[m] }" TINY "mapping a of gemm on tiny { for m by 4 }", "E0116");
}

static void test_types(void **state) {
  (void)state;
  expect("const A = 128 KiB + 1 MiB, B = A / 1 B, C = 3 pJ / 1 s * 2, D = 2 ** 3, E = (2 B) ** 2", "");
  expect("const A = 128 KiB + 1 pJ", "E0301");
  expect("const A = 0 + 1 KiB, B = max(0, 1 KiB)", ""); /* zero of anything */
  expect("const A = if 1 == 1 then 2 else 1 / 0, B = 1 == 2 or 3 > 2, C = 1 < 2 <= 2", "");
  expect("const A = 1 / (3 - 3)", "E0312");
  expect("const A = 170141183460469231731687303715884105727", "E0106");
  expect(GEMM TINY
         "mapping a of gemm on tiny { for m by 2 }\n"
         "test of a { expect usage(GLB) + 64 <= 128 KiB and 8 < cycles < 1e6 and fits == true and energy >= 0 }\n"
         "test of a { let b = usage(GLB) / GLB.capacity  expect b <= 1 and intensity > 0.5 and edp >= 0 pJ }",
         "E0301");
  expect(GEMM TINY "mapping a of gemm on tiny { for m by usage(GLB) }", "E0306");
}

static void test_workloads(void **state) {
  (void)state;
  expect("workload w(s = 2, r = 3) { dim p = 4, q = 4, k = 3\n"
         "Y[p, q] += X[s*p + k - 1, -(q) + 4, (p + 1)*2, p - p + q, p*s*r, 3 - k] }",
         "");
  expect("workload w { dim p = 4, q = 4  Y[p] += X[p*q] }", "E0401");
  expect("workload w { dim p = 4  Y[p] = X[p] + X[p, p] }", "E0402");
  expect("workload w { dim p = 4  Y[p] = Y[p] }", "E0403");
  expect("workload w { dim p = 4, q = 4  Y[p] = X[p, q] }", "E0404");
  expect("workload w { dim p = 4, q = 4  Y[p] max= X[p, q] }", "");
  expect("workload w { dim p = 4, q = 4  Y[p] = X[p] }", "E0405");
  expect("workload w { dim p = 4  S[] += X[p]  Y[p] = X[p] / S[] }", "");
  expect("workload w { dim p = 4  Y[p] = exp(X[p]) * p + 3 }", "");
  expect("workload w(N) { dim p = N  tensor X[N + 2, _] : bits(N)  Y[p] = X[p, 0] }", "");
  expect("workload w(N = 0) { dim p = N  Y[p] = X[p] }", "E0319");
}

static void test_hardware(void **state) {
  (void)state;
  expect("hardware h { clock = 1 GHz memory D { bandwidth = 19.2 GB/s leakage = 3 mW area = 1 mm2 holds = inputs, Z }"
         "array P[x = 2] { multicast = false } compute M { rate = 2 GHz energy = 1 fJ } }",
         "");
  expect("hardware h { memory D { bandwidth = 19.2 GB/s } compute M }", "E0505");
  expect("hardware h { memory D { capacity = 64 } compute M }", "E0302");
  expect("hardware h { memory D { capacity = 64 B/cycle } compute M }", "E0303");
  expect("hardware h { memory D { capacity = 64 KB } compute M }", "W0301");
  expect("hardware h(C = 4 KiB) { memory D { capacity = C } compute M }" GEMM "mapping a of gemm on h(C = 8) { for m }",
         "E0302");
}

static void test_mappings(void **state) {
  (void)state;
  expect(GEMM TINY
         "mapping a of gemm on tiny { for m by 4 keep A in GLB keep all in GLB par m on PE.x keep all in RF }",
         "");
  expect(
    GEMM TINY
    "mapping a of gemm on tiny { keep A, B, C in DRAM for m by 4 { keep A in GLB par n by 2 on PE.x { compute } } }",
    "");
  expect(GEMM TINY "mapping a of gemm on tiny { keep A in RF par m on PE.x }", "E0603");
  expect(GEMM TINY "mapping a of gemm on tiny { par m on PE.x keep A in GLB }", "E0604");
  expect(GEMM TINY "mapping a of gemm on tiny { keep A in GLB for m keep A in GLB }", "E0602");
  expect(GEMM TINY "mapping a of gemm on tiny { keep A, B in DRAM }", "E0606");
  expect(GEMM TINY "mapping a of gemm on tiny { keep A, B, Cc in DRAM }", "E0203"); /* nothing is called missing */
  expect(GEMM TINY "mapping a of gemm on tiny { par m by 2 }", "E0612");
  expect(GEMM TINY "mapping a of gemm(M = 2, 3) on tiny { for m }", "E0129");
}

static void test_cascades(void **state) {
  (void)state;
  expect(CHAIN
         "mapping a of chain on flat { keep all in DRAM for m by 4 keep all in GLB seq { do S { compute } do T { } } }",
         "");
  expect(CHAIN "mapping a of chain on flat { for m by 4 keep S in GLB seq { do S { keep A, B in GLB } do T { keep D, T "
               "in GLB } } }",
         "");
  expect(CHAIN "mapping a of chain on flat { for m }", "E0701");
  expect(CHAIN "mapping a of chain on flat { keep all in DRAM for k seq { do S { } do T { } } }", "E0709");
  expect(CHAIN "mapping a of chain on flat { keep all in DRAM for p seq { do S { } do T { } } }", "E0708");
  expect(CHAIN "mapping a of chain on flat { keep all in DRAM seq { do T { } do S { } } }", "E0706");
  expect(CHAIN "mapping a of chain on flat { keep all in DRAM seq { do S { } } }", "E0703");
  expect(CHAIN "mapping a of chain on flat { keep all in DRAM seq { do S, T { for m } } }", "E0701");
  expect(CHAIN "mapping a of chain on flat { keep A, B, D, S, T in DRAM keep S in GLB seq { do S { } do T { } } }",
         "E0711");
  expect(CHAIN "mapping a of chain on flat { seq { do S { keep S in GLB } do T { } } }", "E0712");
  /* keep?: the branch keep steps back where the shared one is kept */
  expect(CHAIN "mapping a of chain on flat { keep all in DRAM keep? D in GLB seq { do S { } do T { keep D in GLB } } }",
         "");
  expect(CHAIN "mapping a of chain on flat { keep all in DRAM keep D in GLB seq { do S { } do T { keep D in GLB } } }",
         "E0715");
}

static void test_questions(void **state) {
  (void)state;
  expect(GEMM TINY "mapping a(t = 4) of gemm on tiny { for m by t }\n"
                   "model m(M, t, P) { let x = M * t  y = x + P  out o = sum(i * y for i in 1 .. t) }\n"
                   "verify m against a { o == reads(DRAM, A)  over t in divisors(M) }\n"
                   "sweep s of a { t in pow2(1, M)  where fits  minimize energy  pareto usage(GLB), offchip  top 3 }",
         "");
  expect(GEMM TINY "mapping a(t) of gemm on tiny { for m by t } test of a { expect fits }", "E0309");
  expect(GEMM TINY "mapping a(t) of gemm on tiny { for m by t } sweep s of a { t in [1, 2] maximize utilization }", "");
  expect(GEMM TINY "mapping a(t = 1) of gemm on tiny { for m by t } sweep s of a { M in [1] minimize offchip }",
         "E0803");
  expect("const N = 3  model m(n) { out o = n + N }", "E0217");
}

static void test_hostile(void **state) {
  (void)state;
  static char text[400000];
  size_t n = 0; /* a long chain of constants, each declared before the one it needs */
  for (int i = 0; i < 20000; i++) n += (size_t)snprintf(text + n, sizeof text - n, "const c%d=c%d ", i, i + 1);
  compiled c;
  compile_text(&c, "chain.nest", text, n);
  assert_true(nst_diags_errors(c.diags) > 0);
  compiled_fini(&c);
  n = (size_t)snprintf(text, sizeof text, "%s", GEMM TINY "mapping a of gemm on tiny { ");
  for (int i = 0; i < 11000; i++) n += (size_t)snprintf(text + n, sizeof text - n, "for m by 2 ");
  n += (size_t)snprintf(text + n, sizeof text - n, "}");
  compile_text(&c, "long.nest", text, n);
  assert_true(nst_diags_errors(c.diags) == 1);
  compiled_fini(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_names),     cmocka_unit_test(test_types),    cmocka_unit_test(test_workloads),
    cmocka_unit_test(test_hardware),  cmocka_unit_test(test_mappings), cmocka_unit_test(test_cascades),
    cmocka_unit_test(test_questions), cmocka_unit_test(test_hostile),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
