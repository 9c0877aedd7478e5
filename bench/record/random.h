/* Streams of random numbers that are the same on every machine.
 *
 * A stream is named: the seed of a suite and a text ("gen.mapping/3/17") give its start, so that one task does not change when
 * others are added. The generator is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
#ifndef NST_BENCH_RECORD_RANDOM_H
#define NST_BENCH_RECORD_RANDOM_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct { uint64_t state; } nst_random;

nst_random nst_random_make(uint64_t seed, const char *stream);
uint64_t nst_random_next(nst_random *r);
/* From 0 to n - 1, without bias; n > 0. */
uint64_t nst_random_below(nst_random *r, uint64_t n);
/* From low to high, both included; low <= high. */
int64_t nst_random_between(nst_random *r, int64_t low, int64_t high);
/* True in `percent` of 100. */
bool nst_random_chance(nst_random *r, unsigned percent);
/* Puts n things of `size` bytes in random order. */
void nst_random_shuffle(nst_random *r, void *things, size_t n, size_t size);
#endif
