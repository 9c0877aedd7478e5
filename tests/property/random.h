/* Random numbers that are the same everywhere: splitmix64. */
#ifndef NST_TESTS_PROPERTY_RANDOM_H
#define NST_TESTS_PROPERTY_RANDOM_H
#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint64_t state;
} gen_random;

static inline uint64_t gen_next(gen_random *r) {
  uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* 0 .. n-1; n > 0 */
static inline int gen_below(gen_random *r, int n) { return (int)(gen_next(r) % (uint64_t)n); }
/* lo .. hi, both included */
static inline int gen_between(gen_random *r, int lo, int hi) { return lo + gen_below(r, hi - lo + 1); }
static inline bool gen_chance(gen_random *r, int percent) { return gen_below(r, 100) < percent; }
#endif
