/* The word of a list that was probably meant: the nearest by edit distance. */
#include "cli/cli.h"

#include <string.h>

static size_t min3(size_t a, size_t b, size_t c) { return a < b ? (a < c ? a : c) : (b < c ? b : c); }

/* Insertions, deletions and substitutions between two short words. */
static size_t distance(const char *a, const char *b) {
  enum { MAX = 32 };
  const size_t n = strlen(a), m = strlen(b);
  if (n >= MAX || m >= MAX) return MAX;
  size_t row[MAX];
  for (size_t j = 0; j <= m; j++) row[j] = j;
  for (size_t i = 1; i <= n; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= m; j++) {
      const size_t above = row[j];
      row[j] = min3(above + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
      diagonal = above;
    }
  }
  return row[m];
}

const char *cli_nearest(const char *wrong, const char *const *words) {
  const char *best = NULL;
  size_t best_distance = strlen(wrong) / 3 + 2;
  for (; *words; words++) {
    const size_t d = distance(wrong, *words);
    if (d < best_distance) {
      best = *words;
      best_distance = d;
    }
  }
  return best;
}
