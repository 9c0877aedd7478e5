/* pass@k and pass^k as short products, so that no factorial is ever formed: C(n-c, k) / C(n, k) is the product of
 * (n-k-j) / (n-j) over j < c, and of (n-c-j) / (n-j) over j < k; the shorter is taken. */
#include "bench/stats/stats.h"

/* C(n - a, b) / C(n, b), which is the same with a and b exchanged; a, b <= n. */
static double none_of(uint64_t n, uint64_t a, uint64_t b) {
  if (a > n - b) return 0; /* more are asked for than there are */
  const uint64_t few = a < b ? a : b, many = a < b ? b : a;
  double p = 1;
  for (uint64_t j = 0; j < few && p > 0; j++) p *= (double)(n - many - j) / (double)(n - j);
  return p;
}

bool nst_stats_pass_at_k(double *out, nst_trials trials, uint64_t k) {
  if (k == 0 || trials.n < k || trials.c > trials.n) return false;
  return *out = 1 - none_of(trials.n, trials.c, k), true;
}

bool nst_stats_pass_all_k(double *out, nst_trials trials, uint64_t k) {
  if (k == 0 || trials.n < k || trials.c > trials.n) return false;
  return *out = none_of(trials.n, trials.n - trials.c, k), true;
}
