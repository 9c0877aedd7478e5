/* Runs of one model, and two models on the same tasks. */
#include "bench/stats/stats.h"

#include "bench/record/memory.h"

#include <math.h>
#include <stdlib.h>

nst_spread nst_stats_spread(const double *scores, size_t n) {
  nst_spread s = {n, NAN, NAN, NAN, NAN};
  if (n == 0) return s;
  double sum = 0, squares = 0;
  s.low = s.high = scores[0];
  for (size_t i = 0; i < n; i++) {
    sum += scores[i];
    s.low = fmin(s.low, scores[i]);
    s.high = fmax(s.high, scores[i]);
  }
  s.mean = sum / (double)n;
  for (size_t i = 0; i < n; i++) squares += (scores[i] - s.mean) * (scores[i] - s.mean);
  if (n > 1) s.sd = sqrt(squares / (double)(n - 1));
  return s;
}

bool nst_stats_variance(nst_variance *out, const nst_trials *trials, size_t n) {
  double sum = 0, within = 0, chance = 0, squares = 0;
  size_t tasks = 0;
  for (size_t i = 0; i < n; i++) {
    if (trials[i].n < 2) continue;
    const double k = (double)trials[i].n, p = (double)trials[i].c / k, w = p * (1 - p) * k / (k - 1);
    tasks++;
    sum += p;
    within += w;
    chance += w / k;
  }
  if (tasks < 2) return false;
  const double mean = sum / (double)tasks;
  for (size_t i = 0; i < n; i++) {
    if (trials[i].n < 2) continue;
    const double d = (double)trials[i].c / (double)trials[i].n - mean;
    squares += d * d;
  }
  *out = (nst_variance){tasks, fmax(0, squares / (double)(tasks - 1) - chance / (double)tasks), within / (double)tasks};
  return true;
}

double nst_stats_sign_test(uint64_t x, uint64_t y) {
  const uint64_t few = x < y ? x : y, n = x + y;
  if (x == y) return 1;
  const double m = (double)few, all = (double)n;
  double term = exp(lgamma(all + 1) - lgamma(m + 1) - lgamma(all - m + 1) - all * log(2)), tail = 0;
  for (uint64_t i = few;; i--) {
    tail += term;
    if (i == 0) break;
    term *= (double)i / (double)(n - i + 1);
  }
  return fmin(1, 2 * tail);
}

/* Two units of m tasks each are added to `units` ones: half a unit of +1, half of -1, one of 0. Of one template the
 * units are its tasks. */
static void widen(nst_paired *out, const double *d, const size_t *cluster, size_t n, size_t nclusters) {
  const bool one = out->difference.clusters < 2;
  const double units = (double)(one ? n : out->difference.clusters), m = (double)n / (units > 0 ? units : 1);
  out->middle = out->error = out->p = NAN;
  if (units < 2) return;
  double sum = 0, squares = 0, *of = nst_memory_new(one ? n : nclusters, sizeof *of);
  size_t *sizes = nst_memory_new(one ? n : nclusters, sizeof *sizes);
  for (size_t i = 0; i < n; i++) {
    const size_t unit = one ? i : cluster[i];
    sum += d[i];
    of[unit] += d[i];
    sizes[unit]++;
  }
  const double all = (double)n + 2 * m, middle = sum / all;
  for (size_t g = 0; g < (one ? n : nclusters); g++) {
    const double off = of[g] - (double)sizes[g] * middle;
    squares += off * off;
  }
  free(of);
  free(sizes);
  squares += m * m * (1 + 2 * middle * middle);
  out->middle = fabs(middle) < 1e-15 ? 0 : middle;
  out->error = sqrt((units + 2) / (units + 1) * squares) / all;
  out->df = (uint64_t)units - 1;
  out->p = nst_stats_t_outside(out->middle / out->error, out->df);
}

nst_interval nst_stats_paired_interval(const nst_paired *paired, double level) {
  if (!paired->df) return (nst_interval){NAN, NAN};
  const double half = nst_stats_t(level, paired->df) * paired->error;
  return (nst_interval){fmax(-1, paired->middle - half), fmin(1, paired->middle + half)};
}

void nst_stats_holm(double *adjusted, const double *p, size_t n) {
  for (size_t i = 0; i < n; i++) {
    adjusted[i] = p[i];
    if (isnan(p[i])) continue;
    /* The largest, over those that are no larger, of p times how many are no smaller. */
    for (size_t k = 0; k < n; k++) {
      if (isnan(p[k]) || p[k] > p[i]) continue;
      size_t left = 0;
      for (size_t j = 0; j < n; j++) left += !isnan(p[j]) && p[j] >= p[k];
      adjusted[i] = fmin(1, fmax(adjusted[i], p[k] * (double)left));
    }
  }
}

double nst_stats_tasks_needed(double d, double sd, double alpha, double power) {
  if (!(d > 0)) return NAN;
  /* The z below which a share q lies is that within which 2q - 1 lie. */
  const double z = (nst_stats_z(1 - alpha) + nst_stats_z(2 * power - 1)) * sd / d;
  return ceil(z * z);
}

nst_paired nst_stats_paired(const double *a, const double *b, const size_t *cluster, size_t n, size_t nclusters) {
  nst_paired out = {0};
  double *d = nst_memory_new(n, sizeof *d), sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0;
  for (size_t i = 0; i < n; i++) {
    d[i] = a[i] - b[i];
    sum_a += a[i];
    sum_b += b[i];
    if (d[i] > 0)
      out.a_better++;
    else if (d[i] < 0)
      out.b_better++;
    else
      out.equal++;
  }
  for (size_t i = 0; i < n; i++) {
    const double da = a[i] - sum_a / (double)n, db = b[i] - sum_b / (double)n;
    aa += da * da;
    bb += db * db;
    ab += da * db;
  }
  out.difference = nst_stats_mean(d, cluster, n, nclusters);
  out.sign_test = nst_stats_sign_test(out.a_better, out.b_better);
  widen(&out, d, cluster, n, nclusters);
  out.correlation = aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : NAN;
  free(d);
  return out;
}
