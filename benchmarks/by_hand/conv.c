/* The convolution conv2_x by hand: five metrics of 30 points (all tilings of q)
 * at a time, eight in a register.
 *
 * Forms, in the order of the sweep's program: usage of GLB and of RF, bytes at
 * DRAM, bytes at GLB, bytes at RF and energy of the units (in fifths of a pJ),
 * and steps. */
#include "by_hand_loops.h"
#include <immintrin.h>

#ifndef CONV_SLOTS
#define CONV_SLOTS 3, 3, 5, 12, 9, 1
#endif
const int by_hand_conv_slots[6] = {CONV_SLOTS};
enum { TUPLES = 30, VECTORS = 4 };

/* Slots FIRST .. FIRST + n - 1 of a form, the first of which is constant; their numbers are constants once inlined. */
static inline __attribute__((always_inline)) lanes form(const by_hand_tables *t, const double *c, uint64_t stride, int first, int n,
                                                        int v) {
  lanes sum = c[(uint64_t)first * stride] + (lanes){0};
  for (int k = first + 1; k < first + n; k++) sum += c[(uint64_t)k * stride] * ((const lanes *)t->columns[k])[v];
  return sum;
}

static inline lanes larger(lanes a, lanes b) { return (lanes)_mm512_max_pd((__m512d)a, (__m512d)b); }

static inline __attribute__((always_inline)) void points(const by_hand_tables *t, uint64_t outer, by_hand_answer *out) {
  enum { STRIDE = 32 };
  static const int n[6] = {CONV_SLOTS};
  const double *c = t->table + outer;
  whole_lanes sum = {0};
  lanes best = out->best - (lanes){0};
  const lanes five = (lanes){0} + 5;
  uint64_t valid = 0;
#pragma clang loop unroll(full)
  for (int v = 0; v < VECTORS; v++) {
    lanes value[6];
    int first = 0;
#pragma clang loop unroll(full)
    for (int f = 0; f < 6; f++) {
      value[f] = form(t, c, STRIDE, first, n[f], v);
      first += n[f];
    }
    const __mmask8 inside = v == VECTORS - 1 ? (1u << (TUPLES - 8 * (VECTORS - 1))) - 1 : 0xff;
    lanes energy = (100 * value[2] + 3 * value[3]) * five + value[4];
    lanes cycles = larger(64 * value[5], larger(4 * value[2], value[3])) * (1.0 / 64);
    cycles = (lanes)_mm512_roundscale_pd((__m512d)cycles, 10);
    const lanes all = value[0] + value[1] + value[2] + cycles;
    const __m512i whole = _mm512_add_epi64(_mm512_cvttpd_epi64((__m512d)energy), _mm512_cvttpd_epi64((__m512d)all));
    sum = (whole_lanes)_mm512_mask_add_epi64((__m512i)sum, inside, (__m512i)sum, whole);
    __mmask8 good = _mm512_mask_cmp_pd_mask(inside, (__m512d)value[0], _mm512_set1_pd(131072), _CMP_LE_OQ);
    good = _mm512_mask_cmp_pd_mask(good, (__m512d)value[1], _mm512_set1_pd(512), _CMP_LE_OQ);
    valid += (uint64_t)__builtin_popcount(good);
    best = (lanes)_mm512_mask_min_pd((__m512d)best, good, (__m512d)best, (__m512d)energy);
  }
  out->points += TUPLES;
  out->valid += valid;
  out->checksum += (uint64_t)_mm512_reduce_add_epi64((__m512i)sum);
  out->best = _mm512_reduce_min_pd((__m512d)best);
}

BY_HAND_LOOPS(run, points)

void by_hand_conv(const by_hand_tables *t, by_hand_answer *out) { run(t, 0, out); }
