/* Estimators: pure functions of counts. Each says which paper it is from; docs/bench-report.md has the formulas.
 *
 * A task is a small experiment: n samples, of which c passed. What is estimated is a mean over tasks of a fraction
 * of samples, never of "any sample passed". Tasks made from one template resemble each other, so errors are taken over
 * clusters. What cannot be estimated is false or NaN, never a guess. */
#ifndef NST_BENCH_STATS_STATS_H
#define NST_BENCH_STATS_STATS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Samples of one task: n, of which c passed; c <= n. */
typedef struct {
  uint64_t n, c;
} nst_trials;

/* The probability that k samples hold a right one: 1 - C(n-c, k) / C(n, k), without bias.
 * Chen et al., Evaluating large language models trained on code, 2021, eq. 1. false: n < k or k = 0. */
bool nst_stats_pass_at_k(double *out, nst_trials trials, uint64_t k);
/* The probability that k samples are all right, pass^k: C(c, k) / C(n, k), without bias.
 * Yao et al., tau-bench, 2024. false: n < k or k = 0. */
bool nst_stats_pass_all_k(double *out, nst_trials trials, uint64_t k);

/* ---- quantiles ------------------------------------------------------------ */

/* z such that a normal variable is within -z .. z with probability `level`. */
double nst_stats_z(double level);
/* The same of Student's t. df 0: NaN. Abramowitz and Stegun 26.7.3 and 26.7.4; past 200 degrees 26.7.5. */
double nst_stats_t(double level, uint64_t df);
/* P(|T| > t): what is outside. df 0 or t not a number: NaN. */
double nst_stats_t_outside(double t, uint64_t df);

/* ---- one proportion ------------------------------------------------------- */

typedef struct {
  double low, high;
} nst_interval; /* NaN: none */
/* Of a proportion p of n independent trials. Wilson, Probable inference, 1927; n need not be whole. n <= 0: NaN. */
nst_interval nst_stats_wilson(double p, double n, double z);

/* Wilson's of `part` of `of`; NaN of none. */
nst_interval nst_stats_rate(uint64_t part, uint64_t of, double level);

/* ---- means over tasks ----------------------------------------------------- */

typedef struct {
  size_t n, clusters;
  double mean;      /* NaN where n = 0 */
  double se_simple; /* as if tasks were independent: s / sqrt(n); NaN where n < 2 */
  double se;        /* with clusters; NaN where there are fewer than 2 */
} nst_mean;
/* values[i] belongs to cluster cluster[i] < nclusters. Clusters that nothing belongs to do not count. The error is the
 * clustered one of Miller, Adding error bars to evals, 2024, with the factor G / (G - 1) for G clusters (Cameron
 * and Miller, A practitioner's guide to cluster-robust inference, 2015): where every task is a cluster it is s /
 * sqrt(n) exactly. */
nst_mean nst_stats_mean(const double *values, const size_t *cluster, size_t n, size_t nclusters);
/* mean -+ t(G - 1) x se. */
nst_interval nst_stats_mean_interval(const nst_mean *mean, double level);
/* Of a mean of values from 0 to 1, seen in `trials` samples: Wilson's interval of as many independent trials as would
 * have this error, with t(G - 1) for z (Korn and Graubard 1998; Franco, Little, Louis and Slud 2019). It stays within 0
 * and 1, and has a length where all passed or none: then the clusters are the trials. Of one cluster it is that of its
 * tasks. */
nst_interval nst_stats_share_interval(const nst_mean *mean, uint64_t trials, double level);

/* ---- repetition ----------------------------------------------------------- */

typedef struct {
  size_t n;
  double mean, sd, low, high;
} nst_spread; /* sd NaN where n < 2 */
/* Of the scores of runs. */
nst_spread nst_stats_spread(const double *scores, size_t n);

typedef struct {
  size_t tasks;           /* with two samples and more: the others tell nothing of the split */
  double between, within; /* variances of one sample: of the tasks' difficulty, of chance at one task */
} nst_variance;
/* One-way analysis of variance with random effects: the within is the mean of c(n-c)/(n(n-1)), the between is the
 * variance of the fractions less the share of it that is chance (Miller 2024; Searle, Casella and McCulloch
 * 1992). A negative between is 0. false: fewer than two such tasks. */
bool nst_stats_variance(nst_variance *out, const nst_trials *trials, size_t n);

/* ---- two models ----------------------------------------------------------- */

typedef struct {
  nst_mean difference;              /* of a - b over the tasks of both; clustered */
  size_t a_better, b_better, equal; /* tasks, by their fraction */
  double middle, error;             /* what the interval is of: the difference and its error with two templates added */
  uint64_t df;                      /* of Student's t; 0: there are too few tasks */
  double p; /* two-sided, that there is no difference: below 1 - level exactly where the interval leaves 0 out */
  double sign_test;   /* that discordant tasks are split so or worse if neither is better: exact, two-sided */
  double correlation; /* of the fractions; NaN where one of them is constant */
} nst_paired;
/* a[i] and b[i] are the fractions of one task. The difference as in Miller 2024. Its interval as Agresti and Min,
 * Simple improved confidence intervals for comparing matched proportions, 2005: two tasks are added, half of one
 * better with a, half of one with b, and one equal, so that no interval has the length 0. Here what is added is two
 * templates of average size, as templates are what is independent; where every task is a template it is their
 * interval with Student's t and the factor of few clusters. Of one template it is of its tasks. */
nst_paired nst_stats_paired(const double *a, const double *b, const size_t *cluster, size_t n, size_t nclusters);
/* middle -+ t x error, within -1 and 1. */
nst_interval nst_stats_paired_interval(const nst_paired *paired, double level);
/* Holm, A simple sequentially rejective multiple test procedure, 1979: each p as it is among n. NaN stay. */
void nst_stats_holm(double *adjusted, const double *p, size_t n);
/* Tasks that are needed to see a difference of means d with probability `power` at error `alpha` (two-sided), where the
 * difference of one task has the standard deviation sd: ((z(1-alpha/2) + z(power)) sd / d)^2, rounded up. */
double nst_stats_tasks_needed(double d, double sd, double alpha, double power);
/* The exact two-sided probability of a split as uneven as x to y. 0 to 0: 1. */
double nst_stats_sign_test(uint64_t x, uint64_t y);
#endif
