/* Figures of batches against those of single evaluations, to the last bit: plain
 * and double-buffered memories, one or two bandwidths, odd bit widths, arrays,
 * what a sheet refuses, points that are wrong, defaults that follow. */
#include "test.h"

#include "hand.h"
#include <math.h>
#include <nestor/nestor.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 700, MOST = 16 };

static const char head[] =
  "workload conv(K = 12, C = 6, P = 10) {\n  dim k = K, c = C, p = P, r = 3\n"
  "  tensor I[C, P] : bits(5), W : int8, O : int32\n  O[k, p] += I[c, p + r - 1] * W[k, c, r]\n}\n";

static const char *const machines[] = {
  "hardware hw { clock = 1 GHz memory DRAM { bandwidth = 3 B/cycle energy = 100 pJ/B } "
  "memory L2 { capacity = 90 B bandwidth = 0.7 B/cycle read_energy = 3 pJ/B write_energy = 0.125 pJ/B double_buffered "
  "= true } "
  "array PE[x = 4] memory L1 { capacity = 33 B } compute MAC { energy = 0.3 pJ rate = 2 } }\n",
  "hardware hw { memory DRAM { read_bandwidth = 3 B/cycle write_bandwidth = 0.3 B/cycle energy = 1.1 pJ/B } "
  "memory L2 { capacity = 12.25 B read_bandwidth = 1 B/cycle } array PE[x = 4] memory L1 { energy = 0.01 pJ/B } "
  "compute MAC }\n",
  /* not for sheets: leakage, no overlap, a large denominator, an area */
  "hardware hw { clock = 1 GHz memory DRAM { bandwidth = 3 B/cycle leakage = 2 mW } memory L2 { capacity = 90 B } "
  "array PE[x = 4] "
  "memory L1 compute MAC }\n",
  "hardware hw { memory DRAM { bandwidth = 3 B/cycle overlap = false } memory L2 { bandwidth = 7 B/cycle overlap = "
  "false } array PE[x = 4] "
  "memory L1 compute MAC }\n",
  "hardware hw { memory DRAM { energy = 1.23456789012345 pJ/B area = 2 mm2 } memory L2 { energy = 0.1 pJ/B } array "
  "PE[x = 4] memory L1 compute "
  "MAC { area = 1 mm2 } }\n",
};
static const char nest[] =
  "mapping x(tk = 4, tc = 2, tp = 5, uk = tk) of conv on hw {\n"
  "  for k by tk for p by tp for c by tc keep all in L2 for k by uk par k on PE.x keep all in L1 }\n";
static const char *const figures[] = {"fits",         "offchip",      "cycles",      "energy",         "edp",
                                      "ops",          "steps",        "utilization", "intensity",      "usage(L2)",
                                      "usage(L1)",    "usage(L2, I)", "traffic(L2)", "reads(DRAM, I)", "tile(L2)",
                                      "instances(L1)"};

static nestor_program *compile(const char *machine) {
  char text[2048];
  strcpy(text, head);
  strcat(text, machine);
  strcat(text, nest);
  nestor_session *s = nestor_session_new();
  nestor_program *p = nestor_program_new(s, "sheet.nest", text, strlen(text), NESTOR_STAGE_CHECK);
  nestor_session_free(s);
  assert_int_equal(nestor_program_status(p), NESTOR_OK);
  return p;
}

static void check_machine(const char *machine, bool area) {
  nestor_program *p = compile(machine);
  const char *names[MOST + 1];
  memcpy(names, figures, sizeof figures);
  if (area) names[MOST] = "area";
  const size_t n = MOST + area;
  nestor_status status;
  nestor_buffer *error = nestor_buffer_new();
  nestor_kernel *k = nestor_kernel_new(p, 0, names, n, &status, error);
  if (!k) fail_msg("%s", nestor_buffer_data(error));
  static int64_t columns[4][POINTS];
  static double values[MOST + 1][POINTS];
  uint8_t points[POINTS];
  hand_source source = {7};
  for (size_t i = 0; i < POINTS; i++)
    for (int c = 0; c < 4; c++)
      columns[c][i] = hand_below(&source, 15); /* 0: no tile; uk: often no place on the array */
  const int64_t *const params[4] = {columns[0], columns[1], columns[2], columns[3]};
  double *out[MOST + 1];
  for (size_t f = 0; f <= MOST; f++) out[f] = values[f];
  const size_t good = nestor_kernel_batch(k, POINTS, params, out, points);
  nestor_eval *e = nestor_eval_new(p, 0);
  size_t seen = 0;
  for (size_t i = 0; i < POINTS; i++) {
    const int64_t point[4] = {columns[0][i], columns[1][i], columns[2][i], columns[3][i]};
    const bool ok = nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, point) == NESTOR_OK;
    assert_int_equal(points[i] == NESTOR_POINT_OK, ok);
    seen += ok;
    for (size_t f = 0; f < n; f++) {
      double expected = NAN;
      if (ok) assert_int_equal(nestor_eval_figure(e, names[f], &expected), NESTOR_OK);
      if (isnan(expected) ? !isnan(values[f][i]) : values[f][i] != expected)
        fail_msg("%s at point %zu: %.17g, not %.17g", names[f], i, values[f][i], expected);
    }
  }
  assert_int_equal(seen, good);
  assert_true(seen > 100 && seen < POINTS);
  nestor_eval_free(e);
  nestor_kernel_free(k);
  nestor_buffer_free(error);
  nestor_program_free(p);
}

static void batches_equal_single_evaluations(void **state) {
  (void)state;
  if (!hand_has_code_generator()) skip();
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
    check_machine(machines[i], false);
    if (i == 4) check_machine(machines[i], true);
  }
}

static void large_figures_are_exact_too(void **state) {
  (void)state;
  if (!hand_has_code_generator()) skip();
  static const char text[] =
    "workload big(N = 2000000) { dim a = N, b = N, c = N tensor X, Y : int8, Z : int64 Z[a, b] += X[a, c] * Y[c, b] }\n"
    "hardware hw { memory DRAM { energy = 0.7 pJ/B bandwidth = 3 B/cycle } memory L compute MAC { energy = 0.3 pJ } }\n"
    "mapping x(t = 1) of big on hw { for a by t for b by t for c by 1 keep all in L }\n";
  nestor_session *s = nestor_session_new();
  nestor_program *p = nestor_program_new(s, "big.nest", text, strlen(text), NESTOR_STAGE_CHECK);
  nestor_session_free(s);
  assert_int_equal(nestor_program_status(p), NESTOR_OK);
  static const char *const names[] = {"energy", "cycles", "offchip", "edp", "fits"};
  nestor_kernel *k = nestor_kernel_new(p, 0, names, 5, NULL, NULL);
  const int64_t t[] = {1, 2, 3, 999, 2000000};
  double values[5][5];
  uint8_t points[5];
  nestor_kernel_batch(k, 5, (const int64_t *const[]){t},
                      (double *const[]){values[0], values[1], values[2], values[3], values[4]}, points);
  nestor_eval *e = nestor_eval_new(p, 0);
  for (int i = 0; i < 5; i++) {
    const nestor_status status = nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, &t[i]);
    assert_int_equal(points[i] == NESTOR_POINT_OK, status == NESTOR_OK);
    for (int f = 0; f < 5 && status == NESTOR_OK; f++) {
      double expected;
      nestor_eval_figure(e, names[f], &expected);
      assert_true(values[f][i] == expected || (isnan(expected) && isnan(values[f][i])));
    }
  }
  nestor_eval_free(e);
  nestor_kernel_free(k);
  nestor_program_free(p);
}

static void defaults_follow_what_is_given(void **state) {
  (void)state;
  if (!hand_has_code_generator()) skip();
  nestor_program *p = compile(machines[0]);
  static const char *const names[] = {"offchip"};
  nestor_kernel *k = nestor_kernel_new(p, 0, names, 1, NULL, NULL);
  int64_t tk[3] = {3, 7, 12}, tc[3], tp[3], uk[3];
  const bool given[4] = {true, false, false, false};
  uint8_t points[3];
  nestor_kernel_defaults(k, 3, given, (int64_t *const[]){tk, tc, tp, uk}, points);
  for (int i = 0; i < 3; i++) {
    assert_int_equal(points[i], NESTOR_POINT_OK);
    assert_int_equal(tc[i], 2);
    assert_int_equal(tp[i], 5);
    assert_int_equal(uk[i], tk[i]);
  }
  nestor_kernel_free(k);
  nestor_program_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(batches_equal_single_evaluations),
    cmocka_unit_test(large_figures_are_exact_too),
    cmocka_unit_test(defaults_follow_what_is_given),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
