/* The convolution conv2_x by hand: five metrics of 30 points (all tilings of q)
 * at a time, eight in a register. One kernel for all orders, so each form has as
 * many slots as any order needs. It keeps the best ten and the front, as the sweep
 * does, by their values; which points they are it does not say.
 *
 * Forms, in the order of the sweep's program: usage of GLB and of RF, bytes at
 * DRAM, bytes at GLB, bytes at RF and energy of the units (in fifths of a pJ),
 * and steps. */
#include "by_hand_loops.h"
#include <immintrin.h>
#include <math.h>

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

/* ---- the best ten and the front, by their values ---- */

void by_hand_answer_init(by_hand_answer *a) {
  memset(a, 0, sizeof *a);
  a->best = INFINITY;
  for (int i = 0; i < BY_HAND_TEN; i++) a->ten[i] = INFINITY;
  for (int i = 0; i < BY_HAND_BUCKETS; i++) a->entry[i] = INFINITY;
  for (int i = 0; i < BY_HAND_OCTAVES; i++) a->octave[i] = INFINITY;
}

static void offer_ten(by_hand_answer *a, double energy) {
  if (energy >= a->ten[BY_HAND_TEN - 1]) return;
  int i = BY_HAND_TEN - 1;
  for (; i > 0 && a->ten[i - 1] > energy; i--) a->ten[i] = a->ten[i - 1];
  a->ten[i] = energy;
}

/* Buckets are 128 an octave; 0: below 1. */
static int64_t bucket_of(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  const int64_t b = (bits >> 45) - ((1023 << 7) - 1);
  return b > 0 ? b : 0;
}

static void offer_front(by_hand_answer *a, double x, double y) {
  int n = a->nfront, from, to;
  for (from = n; from > 0 && a->front[from - 1].x > x; from--) {}
  if (from && a->front[from - 1].y <= y) return;
  for (to = from; to < n && a->front[to].y >= y; to++) {}
  if (from && a->front[from - 1].x == x) from--;
  if (n - (to - from) + 1 > BY_HAND_FRONT) return; /* too short a front is a wrong answer, and said */
  memmove(a->front + from + 1, a->front + to, (size_t)(n - to) * sizeof *a->front);
  a->front[from] = (by_hand_step){x, y};
  a->nfront = n - (to - from) + 1;
  for (int64_t b = bucket_of(x) + 1; b < BY_HAND_BUCKETS && a->entry[b] > y; b++) a->entry[b] = y;
  for (int o = 0; o < BY_HAND_OCTAVES; o++) a->octave[o] = a->entry[o ? 1 + ((o + 2) << 7) : 0];
}

/* Points that may be on the front by their octave, in two registers. */
INLINE __mmask8 may_be_on_front(__mmask8 of, lanes x, lanes y, __m512d low, __m512d high) {
  __m512i octave = _mm512_sub_epi64(_mm512_srai_epi64((__m512i)x, 52), _mm512_set1_epi64(1023 + 2));
  octave = _mm512_max_epi64(octave, _mm512_setzero_si512());
  return _mm512_mask_cmp_pd_mask(of, (__m512d)y, _mm512_permutex2var_pd(low, octave, high), _CMP_LT_OQ);
}

static __attribute__((noinline)) void offer(by_hand_answer *a, const row *x, const row *y, const row *energy,
                                            uint32_t good) {
  for (int v = 0; v < VECTORS; v++) {
    __m512i bucket = _mm512_sub_epi64(_mm512_srai_epi64((__m512i)x->v[v], 45), _mm512_set1_epi64((1023 << 7) - 1));
    bucket = _mm512_max_epi64(bucket, _mm512_setzero_si512());
    const __mmask8 of = (__mmask8)(good >> 8 * v);
    __mmask8 left = _mm512_mask_cmp_pd_mask(of, (__m512d)y->v[v], _mm512_i64gather_pd(bucket, a->entry, 8), _CMP_LT_OQ);
    for (; left; left &= (__mmask8)(left - 1))
      offer_front(a, x->v[v][__builtin_ctz(left)], y->v[v][__builtin_ctz(left)]);
    left = _mm512_mask_cmp_pd_mask(of, (__m512d)energy->v[v], _mm512_set1_pd(a->ten[BY_HAND_TEN - 1]), _CMP_LT_OQ);
    for (; left; left &= (__mmask8)(left - 1)) offer_ten(a, energy->v[v][__builtin_ctz(left)]);
  }
}

/* All rows of the table. What is added up stays in registers until the end. */
INLINE void points(const by_hand_tables *t, uint64_t nrows, by_hand_answer *out) {
  enum { F0 = 0, F1 = F0 + GLB, F2 = F1 + RF, F3 = F2 + OFFCHIP, F4 = F3 + AT_GLB, F5 = F4 + AT_RF };
  whole_lanes sum = {0};
  uint64_t valid = 0;
  for (uint64_t i = 0; i < nrows; i++) {
    const double *c = t->table + i;
    const row glb = form(t, c, F0, F0, GLB), rf = form(t, c, F1, F1, RF), offchip = form(t, c, F2, F2, OFFCHIP);
    row at_glb = form(t, c, F3, F3, AT_GLB), at_rf = form(t, c, F4, F3, AT_RF), energy; /* the same columns */
    const lanes steps = all(64 * c[F5 * STRIDE]), tenth = all(out->ten[BY_HAND_TEN - 1]);
    const __m512d low = _mm512_load_pd(out->octave), high = _mm512_load_pd(out->octave + 8);
    uint32_t fits = 0, may = 0;
    EACH_VECTOR {
      at_glb.v[v] += offchip.v[v]; /* GLB takes what comes from DRAM */
      const __mmask8 inside = v == VECTORS - 1 ? (1u << (TUPLES - 8 * (VECTORS - 1))) - 1 : 0xff;
      energy.v[v] = 500 * offchip.v[v] + 15 * at_glb.v[v] + at_rf.v[v];
      lanes cycles = larger(steps, larger(4 * offchip.v[v], at_glb.v[v])) * (1.0 / 64);
      cycles = (lanes)_mm512_roundscale_pd((__m512d)cycles, 10);
      const lanes together = glb.v[v] + rf.v[v] + offchip.v[v] + cycles + energy.v[v]; /* below 2^52 */
      sum =
        (whole_lanes)_mm512_mask_add_epi64((__m512i)sum, inside, (__m512i)sum, _mm512_cvttpd_epi64((__m512d)together));
      __mmask8 good = _mm512_mask_cmp_pd_mask(inside, (__m512d)glb.v[v], _mm512_set1_pd(131072), _CMP_LE_OQ);
      good = _mm512_mask_cmp_pd_mask(good, (__m512d)rf.v[v], _mm512_set1_pd(512), _CMP_LE_OQ);
      fits |= (uint32_t)good << 8 * v;
      may |= may_be_on_front(good, glb.v[v], offchip.v[v], low, high);
      may |= _mm512_mask_cmp_pd_mask(good, (__m512d)energy.v[v], (__m512d)tenth, _CMP_LT_OQ);
    }
    valid += (uint64_t)__builtin_popcount(fits);
    if (__builtin_expect(may != 0, 0)) {
      const row x = glb, y = offchip, z = energy;
      offer(out, &x, &y, &z, fits);
    }
  }
  out->points += TUPLES * nrows;
  out->valid += valid;
  out->checksum += (uint64_t)_mm512_reduce_add_epi64((__m512i)sum);
  out->best = out->ten[0];
}

BY_HAND_LOOPS(run, points)

void by_hand_conv(const by_hand_tables *t, by_hand_answer *out) { run(t, 0, out); }
