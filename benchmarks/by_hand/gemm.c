/* GEMM 4096^3, tiles 1 .. 256, by hand: usage and off-chip bytes of 256 points
 * (all tiles of one dimension) at a time. The sweep has three metrics: off-chip
 * bytes to minimize, and both for the front. */
#include "by_hand_loops.h"
#include <immintrin.h>

const by_hand_form by_hand_gemm_forms[2] = {{2, true, -1, -1}, {2, true, -1, -1}};

static inline __attribute__((always_inline)) void one_row(const by_hand_tables *t, uint64_t outer,
                                                          by_hand_answer *out) {
  const uint64_t stride = t->layout->dims[t->layout->ndims - 2].padded;
  const double *c = t->table + outer;
  const lanes *restrict column[4];
  lanes by[4], best = out->best - (lanes){0};
  for (int k = 0; k < 4; k++) {
    column[k] = (const lanes *)t->columns[k];
    by[k] = c[(uint64_t)k * stride] + (lanes){0};
  }
  whole_lanes sum = {0};
  uint64_t valid = 0;
  for (int v = 0; v < 256 / LANES; v++) {
    const lanes usage = by[0] + by[1] * column[1][v];
    const lanes offchip = by[2] + by[3] * column[3][v];
    sum += (whole_lanes)_mm512_cvttpd_epi64((__m512d)(usage + offchip + offchip));
    const __mmask8 good = _mm512_cmp_pd_mask((__m512d)usage, _mm512_set1_pd(65536), _CMP_LE_OQ);
    valid += (uint64_t)__builtin_popcount(good);
    best = (lanes)_mm512_mask_min_pd((__m512d)best, good, (__m512d)best, (__m512d)offchip);
  }
  out->points += 256;
  out->valid += valid;
  out->checksum += (uint64_t)_mm512_reduce_add_epi64((__m512i)sum);
  out->best = _mm512_reduce_min_pd((__m512d)best);
}

static inline void points(const by_hand_tables *t, uint64_t nrows, by_hand_answer *out) {
  for (uint64_t i = 0; i < nrows; i++) one_row(t, i, out);
}

BY_HAND_LOOPS(run, points)

void by_hand_gemm(const by_hand_tables *t, by_hand_answer *out) { run(t, 0, out); }
