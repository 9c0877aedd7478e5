/* Quantiles and intervals: the normal and Student's t by bisection of their distribution functions, Wilson's interval,
 * means over clustered tasks. */
#include "bench/stats/stats.h"

#include "bench/record/memory.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

double nst_stats_z(double level) {
  double low = 0, high = 40;
  for (int i = 0; i < 200; i++) {
    const double z = (low + high) / 2;
    if (erf(z / sqrt(2)) < level)
      low = z;
    else
      high = z;
  }
  return (low + high) / 2;
}

/* P(|T| < t) for t >= 0. The angle is of tan(theta) = t / sqrt(df). */
static double within(double t, uint64_t df) {
  const double theta = atan(t / sqrt((double)df)), c = cos(theta), s = sin(theta);
  double term = df % 2 ? c : 1, sum = 0;
  for (uint64_t i = df % 2 ? 1 : 0; i + 2 <= df; i += 2) {
    sum += term;
    term *= c * c * (double)(i + 1) / (double)(i + 2);
  }
  return df % 2 ? 2 / pi * (theta + s * sum) : s * sum;
}

double nst_stats_t(double level, uint64_t df) {
  if (df == 0) return NAN;
  const double z = nst_stats_z(level);
  if (df > 200) {
    const double n = (double)df, z2 = z * z;
    return z + z * (z2 + 1) / (4 * n) + z * (5 * z2 * z2 + 16 * z2 + 3) / (96 * n * n);
  }
  double low = 0, high = 1;
  while (within(high, df) < level && high < 1e15) high *= 2;
  for (int i = 0; i < 200; i++) {
    const double t = (low + high) / 2;
    if (within(t, df) < level)
      low = t;
    else
      high = t;
  }
  return (low + high) / 2;
}

double nst_stats_t_outside(double t, uint64_t df) {
  if (df == 0 || isnan(t)) return NAN;
  if (isinf(t)) return 0;
  if (df > 200) { /* the normal one, of a t that is as far out: Abramowitz and Stegun 26.7.8 */
    const double n = (double)df;
    return erfc(fabs(t) * (1 - 1 / (4 * n)) / sqrt(1 + t * t / (2 * n)) / sqrt(2));
  }
  return fmax(0, 1 - within(fabs(t), df));
}

nst_interval nst_stats_wilson(double p, double n, double z) {
  if (!(n > 0)) return (nst_interval){NAN, NAN};
  const double z2 = z * z, middle = (p + z2 / (2 * n)) / (1 + z2 / n);
  const double half = z / (1 + z2 / n) * sqrt(p * (1 - p) / n + z2 / (4 * n * n));
  /* An interval that begins at 0 or ends at 1 does so exactly. */
  return (nst_interval){p <= 0 ? 0 : fmax(0, middle - half), p >= 1 ? 1 : fmin(1, middle + half)};
}

nst_interval nst_stats_rate(uint64_t part, uint64_t of, double level) {
  if (!of) return (nst_interval){NAN, NAN};
  return nst_stats_wilson((double)part / (double)of, (double)of, nst_stats_z(level));
}

nst_mean nst_stats_mean(const double *values, const size_t *cluster, size_t n, size_t nclusters) {
  nst_mean m = {.n = n, .mean = NAN, .se_simple = NAN, .se = NAN};
  if (n == 0) return m;
  double sum = 0;
  for (size_t i = 0; i < n; i++) sum += values[i];
  m.mean = sum / (double)n;
  double *deviations = nst_memory_new(nclusters, sizeof *deviations), squares = 0, squares_of_clusters = 0;
  bool *seen = nst_memory_new(nclusters, sizeof *seen);
  for (size_t i = 0; i < n; i++) {
    const double d = values[i] - m.mean;
    squares += d * d;
    deviations[cluster[i]] += d;
    seen[cluster[i]] = true;
  }
  for (size_t g = 0; g < nclusters; g++) {
    if (seen[g]) m.clusters++;
    squares_of_clusters += deviations[g] * deviations[g];
  }
  free(deviations);
  free(seen);
  if (n > 1) m.se_simple = sqrt(squares / (double)(n - 1) / (double)n);
  const double g = (double)m.clusters;
  if (m.clusters > 1) m.se = sqrt(g / (g - 1) * squares_of_clusters) / (double)n;
  return m;
}

nst_interval nst_stats_mean_interval(const nst_mean *mean, double level) {
  if (mean->clusters < 2) return (nst_interval){NAN, NAN};
  const double half = nst_stats_t(level, mean->clusters - 1) * mean->se;
  return (nst_interval){mean->mean - half, mean->mean + half};
}

nst_interval nst_stats_share_interval(const nst_mean *mean, uint64_t trials, double level) {
  if (mean->n == 0) return (nst_interval){NAN, NAN};
  const bool one = mean->clusters < 2;
  const double p = mean->mean, se = one ? mean->se_simple : mean->se, spread = p * (1 - p);
  const size_t units = one ? mean->n : mean->clusters;
  double n = (double)units;
  /* No spread: all passed or none (the units are the trials), or all tasks have the same fraction (all samples are). */
  if (spread > 0 && units > 1) n = fmin((double)trials, se > 0 ? spread / (se * se) : (double)trials);
  return nst_stats_wilson(p, n, units > 1 ? nst_stats_t(level, units - 1) : nst_stats_z(level));
}
