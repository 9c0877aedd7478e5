/* Named streams of SplitMix64. The name is folded in by SHA-256, so that names that differ a little start far apart. */
#include "bench/record/random.h"

#include "bench/record/digest.h"

#include <stdio.h>
#include <string.h>

nst_random nst_random_make(uint64_t seed, const char *stream) {
  char head[24];
  const int n = snprintf(head, sizeof head, "%llu/", (unsigned long long)seed);
  uint8_t digest[NST_DIGEST_BYTES];
  nst_digest_parts(digest, (const nst_digest_part[]){{head, (size_t)n}, {stream, strlen(stream)}}, 2);
  uint64_t state = 0;
  for (int i = 0; i < 8; i++) state = state << 8 | digest[i];
  return (nst_random){state};
}

uint64_t nst_random_next(nst_random *r) {
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

uint64_t nst_random_below(nst_random *r, uint64_t n) {
  const uint64_t excess = (UINT64_MAX % n + 1) % n; /* values past the last whole multiple of n are drawn again */
  uint64_t x;
  do x = nst_random_next(r);
  while (x > UINT64_MAX - excess);
  return x % n;
}

int64_t nst_random_between(nst_random *r, int64_t low, int64_t high) {
  const uint64_t span = (uint64_t)high - (uint64_t)low;
  const uint64_t step = span == UINT64_MAX ? nst_random_next(r) : nst_random_below(r, span + 1);
  return (int64_t)((uint64_t)low + step);
}

bool nst_random_chance(nst_random *r, unsigned percent) { return nst_random_below(r, 100) < percent; }

void nst_random_shuffle(nst_random *r, void *things, size_t n, size_t size) {
  char *at = things;
  for (size_t i = n; i > 1; i--) {
    const size_t j = (size_t)nst_random_below(r, i);
    for (size_t b = 0; b < size; b++) {
      const char keep = at[(i - 1) * size + b];
      at[(i - 1) * size + b] = at[j * size + b];
      at[j * size + b] = keep;
    }
  }
}
