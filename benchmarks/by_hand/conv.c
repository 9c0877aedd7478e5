/* The convolution conv2_x by hand: five metrics of 30 points (all tilings of q)
 * at a time, eight in a register. One kernel for all orders, so each form has as
 * many slots as any order needs.
 *
 * Forms, in the order of the sweep's program: usage of GLB and of RF, bytes at
 * DRAM, bytes at GLB, bytes at RF and energy of the units (in fifths of a pJ),
 * and steps. */
#include "by_hand_loops.h"
#include <immintrin.h>

enum { GLB = 3, RF = 3, OFFCHIP = 4, AT_GLB = 7, AT_RF = 7, STEPS = 1 }; /* slots */
const by_hand_form by_hand_conv_forms[6] = {{GLB, true, -1, -1},   {RF, true, -1, -1},   {OFFCHIP, true, -1, -1},
                                            {AT_GLB, true, 2, -1}, {AT_RF, true, -1, 3}, {STEPS, true, -1, -1}};
enum { TUPLES = 30, VECTORS = 4, STRIDE = 32 };
typedef struct {
  lanes v[VECTORS];
} row;

#define INLINE static inline __attribute__((always_inline))
#define EACH_VECTOR _Pragma("clang loop unroll(full)") for (int v = 0; v < VECTORS; v++)

INLINE lanes all(double x) { return (lanes)_mm512_set1_pd(x); }
INLINE lanes larger(lanes a, lanes b) { return (lanes)_mm512_max_pd((__m512d)a, (__m512d)b); }

/* All rows of the table. What is added up stays in registers until the end. */
/* A form of n slots from `first` on, the first of which is constant; its columns are those from `column` on. Numbers of
 * slots are constants once inlined. Each coefficient is loaded once for the row. */
INLINE row form(const by_hand_tables *t, const double *c, int first, int column, int n) {
  row sum;
  EACH_VECTOR sum.v[v] = all(c[first * STRIDE]);
#pragma clang loop unroll(full)
  for (int k = 1; k < n; k++) {
    const lanes by = all(c[(first + k) * STRIDE]), *x = (const lanes *)t->columns[column + k];
    EACH_VECTOR sum.v[v] += by * x[v];
  }
  return sum;
}

INLINE void points(const by_hand_tables *t, uint64_t nrows, by_hand_answer *out) {
  enum { F0 = 0, F1 = F0 + GLB, F2 = F1 + RF, F3 = F2 + OFFCHIP, F4 = F3 + AT_GLB, F5 = F4 + AT_RF };
  whole_lanes sum = {0};
  lanes best = all(out->best);
  uint64_t valid = 0;
  for (uint64_t i = 0; i < nrows; i++) {
    const double *c = t->table + i;
    const row glb = form(t, c, F0, F0, GLB), rf = form(t, c, F1, F1, RF), offchip = form(t, c, F2, F2, OFFCHIP);
    row at_glb = form(t, c, F3, F3, AT_GLB), at_rf = form(t, c, F4, F3, AT_RF); /* the same columns */
    const lanes steps = all(64 * c[F5 * STRIDE]);
    EACH_VECTOR {
      at_glb.v[v] += offchip.v[v]; /* GLB takes what comes from DRAM */
      const __mmask8 inside = v == VECTORS - 1 ? (1u << (TUPLES - 8 * (VECTORS - 1))) - 1 : 0xff;
      const lanes energy = 500 * offchip.v[v] + 15 * at_glb.v[v] + at_rf.v[v];
      lanes cycles = larger(steps, larger(4 * offchip.v[v], at_glb.v[v])) * (1.0 / 64);
      cycles = (lanes)_mm512_roundscale_pd((__m512d)cycles, 10);
      const lanes together = glb.v[v] + rf.v[v] + offchip.v[v] + cycles + energy; /* below 2^52 */
      sum =
        (whole_lanes)_mm512_mask_add_epi64((__m512i)sum, inside, (__m512i)sum, _mm512_cvttpd_epi64((__m512d)together));
      __mmask8 good = _mm512_mask_cmp_pd_mask(inside, (__m512d)glb.v[v], _mm512_set1_pd(131072), _CMP_LE_OQ);
      good = _mm512_mask_cmp_pd_mask(good, (__m512d)rf.v[v], _mm512_set1_pd(512), _CMP_LE_OQ);
      valid += (uint64_t)__builtin_popcount(good);
      best = (lanes)_mm512_mask_min_pd((__m512d)best, good, (__m512d)best, (__m512d)energy);
    }
  }
  out->points += TUPLES * nrows;
  out->valid += valid;
  out->checksum += (uint64_t)_mm512_reduce_add_epi64((__m512i)sum);
  out->best = _mm512_reduce_min_pd((__m512d)best);
}

BY_HAND_LOOPS(run, points)

void by_hand_conv(const by_hand_tables *t, by_hand_answer *out) { run(t, 0, out); }
