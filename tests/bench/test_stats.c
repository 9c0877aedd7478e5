/* Estimators against known values, against enumeration, and intervals against simulation. */
#include "tests/unit/test.h"

#include "bench/record/random.h"
#include "bench/stats/stats.h"

#include <math.h>

static void near(double got, double expected, double within) {
  if (!(fabs(got - expected) <= within)) fail_msg("%.9g is not %.9g", got, expected);
}

static double at(uint64_t n, uint64_t c, uint64_t k) {
  double p = -1;
  assert_true(nst_stats_pass_at_k(&p, (nst_trials){n, c}, k));
  return p;
}

static double all(uint64_t n, uint64_t c, uint64_t k) {
  double p = -1;
  assert_true(nst_stats_pass_all_k(&p, (nst_trials){n, c}, k));
  return p;
}

/* ---- pass@k, pass^k ------------------------------------------------------- */

static void pass_at_k_has_known_values(void **state) {
  (void)state;
  near(at(200, 3, 10), 0.143307, 5e-7);
  near(at(10, 3, 5), 0.916667, 5e-7);
  near(at(5000, 1, 1000), 0.2, 1e-15);
  near(at(5, 1, 5), 1, 0);
  near(at(200, 1, 1), 0.005, 1e-15);
  near(at(5000, 2500, 1000), 1, 1e-15);
  near(at(5000, 0, 5000), 0, 0);
  near(at(7, 7, 3), 1, 0);
  near(at(UINT64_C(1) << 40, 1, UINT64_C(1) << 39), 0.5, 1e-12); /* short however many samples there are */
}

static void too_few_samples_give_nothing(void **state) {
  (void)state;
  double p = -1;
  assert_false(nst_stats_pass_at_k(&p, (nst_trials){2, 0}, 5));
  assert_false(nst_stats_pass_at_k(&p, (nst_trials){99, 0}, 100));
  assert_false(nst_stats_pass_at_k(&p, (nst_trials){2, 2}, 5));
  assert_false(nst_stats_pass_at_k(&p, (nst_trials){0, 0}, 1));
  assert_false(nst_stats_pass_at_k(&p, (nst_trials){5, 1}, 0));
  assert_false(nst_stats_pass_all_k(&p, (nst_trials){2, 2}, 3));
  assert_true(p == -1);
}

/* Over all subsets of k samples of n, the first c of them right. */
static void estimates_are_the_share_of_subsets(void **state) {
  (void)state;
  for (unsigned n = 1; n <= 10; n++)
    for (unsigned c = 0; c <= n; c++)
      for (unsigned k = 1; k <= n; k++) {
        const unsigned right = (1u << c) - 1;
        unsigned subsets = 0, some = 0, every = 0;
        for (unsigned s = 0; s < 1u << n; s++) {
          if ((unsigned)__builtin_popcount(s) != k) continue;
          subsets++;
          some += (s & right) != 0;
          every += (s & ~right) == 0;
        }
        near(at(n, c, k), (double)some / subsets, 1e-14);
        near(all(n, c, k), (double)every / subsets, 1e-14);
      }
}

/* The expectation over c of Binomial(n, p) is what an endless run would give: that is what "without bias" says. */
static void estimates_are_unbiased(void **state) {
  (void)state;
  const unsigned n = 12;
  for (double p = 0.05; p < 1; p += 0.15)
    for (unsigned k = 1; k <= n; k++) {
      double some = 0, every = 0;
      for (unsigned c = 0; c <= n; c++) {
        const double chance =
          exp(lgamma(n + 1.0) - lgamma(c + 1.0) - lgamma(n - c + 1.0)) * pow(p, c) * pow(1 - p, n - c);
        some += chance * at(n, c, k);
        every += chance * all(n, c, k);
      }
      near(some, 1 - pow(1 - p, k), 1e-12);
      near(every, pow(p, k), 1e-12);
    }
}

static void pass_all_k_has_known_values(void **state) {
  (void)state;
  near(all(4, 3, 2), 0.5, 1e-15); /* 3 of 6 pairs */
  near(all(8, 4, 4), 1.0 / 70, 1e-15);
  near(all(10, 10, 10), 1, 0);
  near(all(10, 2, 3), 0, 0);
  near(all(5000, 4999, 1000), 0.8, 1e-12);
}

/* ---- intervals ------------------------------------------------------------ */

static void quantiles_are_those_of_the_tables(void **state) {
  (void)state;
  near(nst_stats_z(0.95), 1.959964, 5e-7);
  near(nst_stats_z(0.99), 2.575829, 5e-7);
  static const struct {
    uint64_t df;
    double t;
  } table[] = {{1, 12.7062},  {2, 4.30265},   {3, 3.18245},   {4, 2.77645},   {9, 2.26216},   {10, 2.22814},
               {30, 2.04227}, {100, 1.98397}, {200, 1.97190}, {201, 1.97184}, {500, 1.96472}, {1000, 1.96234}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) near(nst_stats_t(0.95, table[i].df), table[i].t, 6e-5);
  near(nst_stats_t(0.99, 5), 4.03214, 5e-6);
  assert_true(isnan(nst_stats_t(0.95, 0)));
}

/* Newcombe, Two-sided confidence intervals for the single proportion, 1998, table I, method 3. */
static void wilson_has_newcombes_values(void **state) {
  (void)state;
  static const struct {
    double x, n, low, high;
  } table[] = {{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}};
  for (size_t i = 0; i < 4; i++) {
    const nst_interval w = nst_stats_wilson(table[i].x / table[i].n, table[i].n, nst_stats_z(0.95));
    near(w.low, table[i].low, 5e-5);
    near(w.high, table[i].high, 5e-5);
    const nst_interval mirror = nst_stats_wilson(1 - table[i].x / table[i].n, table[i].n, nst_stats_z(0.95));
    near(mirror.low, 1 - w.high, 1e-12);
    near(mirror.high, 1 - w.low, 1e-12);
  }
  assert_true(isnan(nst_stats_wilson(0.5, 0, 1.96).low));
}

/* Its coverage, summed exactly over the binomial, is near 95 % on average over p (Brown, Cai and DasGupta 2001). */
static void wilson_covers(void **state) {
  (void)state;
  const int n = 30;
  const double z = nst_stats_z(0.95);
  double total = 0;
  int points = 0;
  for (double p = 0.01; p < 0.995; p += 0.01, points++) {
    double covered = 0;
    for (int x = 0; x <= n; x++) {
      const nst_interval w = nst_stats_wilson((double)x / n, n, z);
      if (w.low <= p && p <= w.high)
        covered += exp(lgamma(n + 1.0) - lgamma(x + 1.0) - lgamma(n - x + 1.0)) * pow(p, x) * pow(1 - p, n - x);
    }
    assert_true(covered > 0.83);
    total += covered;
  }
  near(total / points, 0.95, 0.01);
}

/* ---- means ---------------------------------------------------------------- */

static void fractions_are_averaged_not_successes(void **state) {
  (void)state;
  nst_mean m = nst_stats_mean((double[]){1 / 200.0}, (size_t[]){0}, 1, 1);
  near(m.mean, 0.005, 1e-15);
  assert_true(isnan(m.se) && isnan(m.se_simple));
  m = nst_stats_mean((double[]){0.3, 0.4}, (size_t[]){0, 1}, 2, 2);
  near(m.mean, 0.35, 1e-15);
  m = nst_stats_mean(NULL, NULL, 0, 0);
  assert_true(isnan(m.mean));
}

static void clustered_errors_have_hand_made_values(void **state) {
  (void)state;
  /* Deviations from 0.5: cluster 0 has +1/2 +1/2, cluster 1 has -1/2 -1/2: sums 1 and -1, so
   * se = sqrt(2/1 x 2) / 4 = 1/2; as if independent sqrt(4 x 1/4 / 3 / 4) = 0.288675. */
  const double v[] = {1, 1, 0, 0};
  nst_mean m = nst_stats_mean(v, (size_t[]){0, 0, 1, 1}, 4, 2);
  near(m.se, 0.5, 1e-15);
  near(m.se_simple, 0.288675, 5e-7);
  /* Clusters that each have one of both: sums 0. */
  m = nst_stats_mean(v, (size_t[]){0, 1, 0, 1}, 4, 2);
  near(m.se, 0, 1e-15);
  /* Each task a cluster: the same as independent. Indices may have gaps. */
  m = nst_stats_mean(v, (size_t[]){9, 3, 5, 0}, 4, 12);
  near(m.se, m.se_simple, 1e-15);
  assert_int_equal(m.clusters, 4);
  const nst_interval t = nst_stats_mean_interval(&m, 0.95);
  near(t.high - t.low, 2 * 3.18245 * 0.288675, 1e-4);
}

/* Miller's formula, term by term over pairs, for random values: apart from G / (G - 1) against n / (n - 1) it is the
 * same. */
static void clustered_errors_are_the_sum_over_pairs(void **state) {
  (void)state;
  nst_random r = nst_random_make(1, "pairs");
  enum { N = 60, G = 7 };
  double v[N], pairs = 0, squares = 0;
  size_t c[N];
  for (int i = 0; i < N; i++) {
    v[i] = (double)nst_random_below(&r, 11) / 10;
    c[i] = nst_random_below(&r, G);
  }
  const nst_mean m = nst_stats_mean(v, c, N, G);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      const double product = (v[i] - m.mean) * (v[j] - m.mean);
      if (i == j)
        squares += product;
      else if (c[i] == c[j])
        pairs += product;
    }
  near(m.se, sqrt((squares + pairs) * 7 / 6) / 60, 1e-12);
}

typedef struct {
  int mean_covered, share_covered, simple_covered, runs;
  double se_sum, bootstrap_sum;
} coverage;

static double uniform(nst_random *r) { return (double)(nst_random_next(r) >> 11) * 0x1p-53; }

/* `clusters` templates of difficulty p -+ spread, `tasks` tasks each, `samples` samples each. */
static void simulate(coverage *out, nst_random *r, int clusters, int tasks, int samples, double p, double spread) {
  double v[4000];
  size_t c[4000], n = 0;
  for (int g = 0; g < clusters; g++) {
    const double q = p + (nst_random_chance(r, 50) ? spread : -spread);
    for (int i = 0; i < tasks; i++) {
      int passed = 0;
      for (int s = 0; s < samples; s++) passed += uniform(r) < q;
      c[n] = (size_t)g;
      v[n++] = (double)passed / samples;
    }
  }
  const nst_mean m = nst_stats_mean(v, c, n, (size_t)clusters);
  const nst_interval t = nst_stats_mean_interval(&m, 0.95);
  const nst_interval s = nst_stats_share_interval(&m, n * (size_t)samples, 0.95);
  out->runs++;
  out->mean_covered += t.low <= p && p <= t.high;
  out->share_covered += s.low <= p && p <= s.high;
  out->simple_covered += fabs(m.mean - p) <= 1.96 * m.se_simple;
  out->se_sum += m.se;
  if (out->runs > 40) return;
  double sum = 0, squares = 0; /* the same error by drawing clusters again */
  const int draws = 400;
  for (int b = 0; b < draws; b++) {
    double total = 0;
    for (int g = 0; g < clusters; g++) {
      const size_t first = nst_random_below(r, (uint64_t)clusters) * (uint64_t)tasks;
      for (int i = 0; i < tasks; i++) total += v[first + (size_t)i];
    }
    total /= (double)n;
    sum += total;
    squares += total * total;
  }
  out->bootstrap_sum += sqrt(squares / draws - sum / draws * sum / draws) / m.se;
}

static void clustered_intervals_cover(void **state) {
  (void)state;
  static const struct {
    int clusters, tasks, samples;
    double p, spread;
  } worlds[] = {
    {20, 15, 1, 0.5, 0.3}, {20, 15, 4, 0.5, 0.3}, {40, 5, 2, 0.3, 0.2}, {40, 10, 1, 0.1, 0.08}, {60, 1, 1, 0.7, 0}};
  for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++) {
    nst_random r = nst_random_make(w, "coverage");
    coverage c = {0};
    for (int i = 0; i < 3000; i++)
      simulate(&c, &r, worlds[w].clusters, worlds[w].tasks, worlds[w].samples, worlds[w].p, worlds[w].spread);
    near((double)c.mean_covered / c.runs, 0.95, 0.02);
    near((double)c.share_covered / c.runs, 0.95, 0.02);
    near(c.bootstrap_sum / 40, 1, 0.06);
    if (worlds[w].spread > 0.25)
      assert_true(c.simple_covered < 0.8 * c.runs); /* without clusters it promises too much */
  }
}

static void intervals_of_shares_stay_sound_at_the_ends(void **state) {
  (void)state;
  const double ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
  const size_t own[] = {0, 1, 2, 3, 4, 5, 6, 7}, pairs[] = {0, 0, 1, 1, 2, 2, 3, 3}, one[8] = {0};
  nst_mean m = nst_stats_mean(ones, own, 8, 8);
  nst_interval s = nst_stats_share_interval(&m, 80, 0.95);
  near(s.high, 1, 0);
  near(s.low, nst_stats_wilson(1, 8, nst_stats_t(0.95, 7)).low, 1e-15); /* eight tasks, not eighty samples */
  m = nst_stats_mean(ones, pairs, 8, 4);
  near(nst_stats_share_interval(&m, 80, 0.95).low, nst_stats_wilson(1, 4, nst_stats_t(0.95, 3)).low, 1e-15);
  m = nst_stats_mean(ones, one, 8, 1);
  near(nst_stats_share_interval(&m, 80, 0.95).low, nst_stats_wilson(1, 8, nst_stats_t(0.95, 7)).low, 1e-15);
  const double halves[] = {0.5, 0.5, 0.5, 0.5};
  m = nst_stats_mean(halves, own, 4, 4);
  near(nst_stats_share_interval(&m, 40, 0.95).low, nst_stats_wilson(0.5, 40, nst_stats_t(0.95, 3)).low, 1e-15);
  m = nst_stats_mean(ones, one, 1, 1);
  s = nst_stats_share_interval(&m, 1, 0.95);
  near(s.low, 0.2065, 5e-5); /* Wilson of 1 of 1 */
  m = nst_stats_mean(ones, one, 0, 1);
  assert_true(isnan(nst_stats_share_interval(&m, 0, 0.95).low));
}

/* ---- repetition, pairs ---------------------------------------------------- */

static void spreads_have_known_values(void **state) {
  (void)state;
  const nst_spread s = nst_stats_spread((double[]){2, 4, 4, 4, 5, 5, 7, 9}, 8);
  near(s.mean, 5, 1e-15);
  near(s.sd, sqrt(32.0 / 7), 1e-12);
  near(s.low, 2, 0);
  near(s.high, 9, 0);
  assert_true(isnan(nst_stats_spread((double[]){0.5}, 1).sd));
  assert_true(isnan(nst_stats_spread(NULL, 0).mean));
}

static void variance_is_split(void **state) {
  (void)state;
  nst_variance v;
  /* Fractions 1, 1/2, 0 of 2 samples: within 0, 1/2, 0, mean 1/6; variance of the fractions 1/4, of which chance 1/12.
   */
  assert_true(nst_stats_variance(&v, (nst_trials[]){{2, 2}, {2, 1}, {2, 0}}, 3));
  near(v.within, 1.0 / 6, 1e-15);
  near(v.between, 1.0 / 6, 1e-15);
  /* All of it chance: the difference is negative and becomes 0. */
  assert_true(nst_stats_variance(&v, (nst_trials[]){{10, 5}, {10, 5}, {1, 1}}, 3));
  assert_int_equal(v.tasks, 2);
  near(v.between, 0, 0);
  near(v.within, 0.25 * 10 / 9, 1e-15);
  assert_false(nst_stats_variance(&v, (nst_trials[]){{1, 1}, {1, 0}, {9, 2}}, 3));
  /* Tasks with p of 0.2 or 0.8: between 0.09, within 0.16. */
  nst_random r = nst_random_make(5, "variance");
  static nst_trials many[20000];
  for (size_t i = 0; i < 20000; i++) {
    many[i] = (nst_trials){2 + nst_random_below(&r, 4), 0};
    const unsigned percent = nst_random_chance(&r, 50) ? 20 : 80;
    for (uint64_t s = 0; s < many[i].n; s++) many[i].c += nst_random_chance(&r, percent);
  }
  assert_true(nst_stats_variance(&v, many, 20000));
  near(v.between, 0.09, 0.004);
  near(v.within, 0.16, 0.004);
}

static void pairs_are_compared(void **state) {
  (void)state;
  near(nst_stats_sign_test(1, 9), 22.0 / 1024, 1e-12);
  near(nst_stats_sign_test(9, 1), 22.0 / 1024, 1e-12);
  near(nst_stats_sign_test(0, 0), 1, 0);
  near(nst_stats_sign_test(4, 4), 1, 0);
  near(nst_stats_sign_test(0, 5), 0.0625, 1e-12);
  near(nst_stats_sign_test(2, 3), 1, 1e-12);
  assert_true(nst_stats_sign_test(0, 100000) == 0);
  assert_true(nst_stats_sign_test(49900, 50100) > 0.5);
  const double a[] = {1, 1, 1, 0.5, 0}, b[] = {1, 0, 0.5, 1, 0};
  const nst_paired p = nst_stats_paired(a, b, (size_t[]){0, 1, 2, 3, 4}, 5, 5);
  near(p.difference.mean, 0.2, 1e-15);
  near(p.difference.se, sqrt((0.04 + 0.64 + 0.09 + 0.49 + 0.04) / 20), 1e-12); /* of 0, 1, 1/2, -1/2, 0 around 0.2 */
  assert_int_equal(p.a_better, 2);
  assert_int_equal(p.b_better, 1);
  assert_int_equal(p.equal, 2);
  near(p.sign_test, 1, 1e-12);
  near(p.middle, 1.0 / 7, 1e-15); /* two tasks more, whose differences are none together */
  near(p.error, sqrt(7.0 / 6 * (1 + 0.25 + 0.25 + 1 - 7.0 / 49)) / 7, 1e-12);
  assert_int_equal(p.df, 4);
  near(p.correlation, 0.25 / sqrt(0.8 * 1), 1e-12); /* deviations .3 .3 .3 -.2 -.7 and .5 -.5 0 .5 -.5 */
  assert_true(isnan(nst_stats_paired(a, (double[]){1, 1, 1, 1, 1}, (size_t[]){0, 1, 2, 3, 4}, 5, 5).correlation));
}

/* Where every task is a template: Agresti and Min's interval, with t for z. */
static void paired_intervals_do_not_collapse(void **state) {
  (void)state;
  enum { N = 50 };
  double a[N], b[N], zero[N] = {0};
  size_t own[N];
  for (size_t i = 0; i < N; i++) own[i] = i, a[i] = 1, b[i] = 0;
  nst_paired p = nst_stats_paired(a, b, own, N, N);
  nst_interval i = nst_stats_paired_interval(&p, 0.95);
  assert_true(i.high == 1 && i.low > 0.88 && i.low < 0.9 && p.p < 1e-12);
  near(p.difference.mean, 1, 0);
  p = nst_stats_paired(zero, zero, own, N, N);
  i = nst_stats_paired_interval(&p, 0.95);
  assert_true(i.high > 0.02 && i.high < 0.06 && p.p == 1);
  near(i.low, -i.high, 1e-15);
  /* Of five templates of ten tasks each the length is that of five. */
  for (size_t k = 0; k < N; k++) own[k] = k % 5;
  p = nst_stats_paired(a, b, own, N, 5);
  i = nst_stats_paired_interval(&p, 0.95);
  assert_true(i.high == 1 && i.low < 0.5);
  /* 15 better, 5 worse, of 50: as in their formula, (10/52, sqrt(21 - 100/52)/52). */
  for (size_t k = 0; k < N; k++) own[k] = k, a[k] = k < 15, b[k] = k >= 45;
  p = nst_stats_paired(a, b, own, N, N);
  near(p.middle, 10.0 / 52, 1e-12);
  near(p.error * sqrt(51.0 / 52), sqrt(21 - 100.0 / 52) / 52, 1e-12);
  assert_true(isnan(nst_stats_paired_interval(&(nst_paired){0}, 0.95).low));
}

/* p and interval are of one method: they agree at every level. */
static void p_and_interval_agree(void **state) {
  (void)state;
  enum { N = 40 };
  nst_random r = nst_random_make(11, "pairs");
  for (int round = 0; round < 500; round++) {
    double a[N], b[N];
    size_t cluster[N];
    for (size_t i = 0; i < N; i++) {
      cluster[i] = nst_random_below(&r, 12);
      a[i] = (double)nst_random_below(&r, 4) / 3;
      b[i] = (double)nst_random_below(&r, 3) / 2;
    }
    const nst_paired p = nst_stats_paired(a, b, cluster, N, 12);
    if (p.p > 1e-6 && p.p < 1 - 1e-6) {
      const nst_interval wide = nst_stats_paired_interval(&p, 1 - p.p * 0.999),
                         narrow = nst_stats_paired_interval(&p, 1 - fmin(0.9999, p.p * 1.001));
      assert_true(wide.low <= 0 && wide.high >= 0);
      assert_false(narrow.low <= 0 && narrow.high >= 0);
    }
  }
}

/* Of artificial pairs of models, with templates, the interval holds the truth as often as it says. */
static void paired_intervals_cover(void **state) {
  (void)state;
  enum { G = 30, EACH = 4, N = G * EACH, ROUNDS = 4000 };
  static const double better[] = {0.02, 0.1, 0.3, 0.6}, worse[] = {0.02, 0.03, 0.2, 0};
  nst_random r = nst_random_make(12, "cover");
  for (int c = 0; c < 4; c++) {
    int held = 0;
    for (int round = 0; round < ROUNDS; round++) {
      double a[N], b[N];
      size_t cluster[N];
      for (size_t g = 0; g < G; g++)
        for (size_t i = g * EACH; i < (g + 1) * EACH; i++) {
          /* Half of the tasks do as the first of their template. */
          if (i > g * EACH && nst_random_below(&r, 2)) {
            a[i] = a[g * EACH], b[i] = b[g * EACH];
          } else {
            const double u = (double)nst_random_below(&r, 1000000) / 1e6;
            a[i] = u < better[c] || u > 0.9;
            b[i] = u > 1 - worse[c] ? 1 : u > 0.9;
            if (u > 1 - worse[c]) a[i] = 0;
          }
          cluster[i] = g;
        }
      const nst_paired p = nst_stats_paired(a, b, cluster, N, G);
      const nst_interval x = nst_stats_paired_interval(&p, 0.95);
      const double truth = better[c] - worse[c];
      held += x.low <= truth && truth <= x.high;
    }
    if (held < ROUNDS * 925 / 1000) fail_msg("case %d: %d of %d", c, held, ROUNDS);
  }
}

static void many_comparisons_are_adjusted(void **state) {
  (void)state;
  double out[5];
  nst_stats_holm(out, (const double[]){0.01, 0.04, 0.03, NAN, 0.005}, 5);
  near(out[4], 0.02, 1e-15);
  near(out[0], 0.03, 1e-15);
  near(out[2], 0.06, 1e-15);
  near(out[1], 0.06, 1e-15); /* no less than one that is smaller */
  assert_true(isnan(out[3]));
  nst_stats_holm(out, (const double[]){0.9, 0.8}, 2);
  assert_true(out[0] == 1 && out[1] == 1);
}

/* The table of docs/bench-report.md. */
static void tasks_needed_are_those_of_the_formula(void **state) {
  (void)state;
  near(nst_stats_tasks_needed(0.1, 1, 0.05, 0.8), 785, 0); /* (1.95996 + 0.84162)^2 = 7.8489 */
  static const double ds[] = {0.02, 0.05, 0.1, 0.2}, shares[] = {0.1, 0.2, 0.4};
  static const double table[4][3] = {{1955, 3917, 7842}, {307, 621, 1248}, {71, 150, 307}, {12, 32, 71}};
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 3; k++)
      near(nst_stats_tasks_needed(ds[i], sqrt(shares[k] - ds[i] * ds[i]), 0.05, 0.8), table[i][k], 0);
  assert_true(isnan(nst_stats_tasks_needed(0, 1, 0.05, 0.8)));
}

static void the_tails_of_t_are_those_of_its_quantiles(void **state) {
  (void)state;
  for (uint64_t df = 1; df < 2000; df = df * 3 / 2 + 1)
    for (double level = 0.1; level < 0.9999; level += 0.0899)
      near(nst_stats_t_outside(nst_stats_t(level, df), df), 1 - level, 2e-5);
  assert_true(isnan(nst_stats_t_outside(1, 0)) && nst_stats_t_outside(INFINITY, 3) == 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pass_at_k_has_known_values),
                                     cmocka_unit_test(paired_intervals_do_not_collapse),
                                     cmocka_unit_test(p_and_interval_agree),
                                     cmocka_unit_test(paired_intervals_cover),
                                     cmocka_unit_test(many_comparisons_are_adjusted),
                                     cmocka_unit_test(tasks_needed_are_those_of_the_formula),
                                     cmocka_unit_test(the_tails_of_t_are_those_of_its_quantiles),
                                     cmocka_unit_test(too_few_samples_give_nothing),
                                     cmocka_unit_test(estimates_are_the_share_of_subsets),
                                     cmocka_unit_test(estimates_are_unbiased),
                                     cmocka_unit_test(pass_all_k_has_known_values),
                                     cmocka_unit_test(quantiles_are_those_of_the_tables),
                                     cmocka_unit_test(wilson_has_newcombes_values),
                                     cmocka_unit_test(wilson_covers),
                                     cmocka_unit_test(fractions_are_averaged_not_successes),
                                     cmocka_unit_test(clustered_errors_have_hand_made_values),
                                     cmocka_unit_test(clustered_errors_are_the_sum_over_pairs),
                                     cmocka_unit_test(clustered_intervals_cover),
                                     cmocka_unit_test(intervals_of_shares_stay_sound_at_the_ends),
                                     cmocka_unit_test(spreads_have_known_values),
                                     cmocka_unit_test(variance_is_split),
                                     cmocka_unit_test(pairs_are_compared)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
