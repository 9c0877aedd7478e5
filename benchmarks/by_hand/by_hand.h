/* What a kernel written by hand works on: the tables of a variant as the library
 * lays them out (backend/sweep_layout.h), all in doubles. */
#ifndef NST_BENCHMARKS_BY_HAND_H
#define NST_BENCHMARKS_BY_HAND_H
#include "backend/sweep_layout.h"

typedef struct {
  const nst_sweep_layout *layout;
  nst_sweep_nest *nest;   /* of the variant */
  double **coefficients;  /* per level but the last, room for its entries; level 0 filled in */
  double *table;          /* [nslots][padded of the last level but one] */
  const double **columns; /* of the slots */
} by_hand_tables;
enum { BY_HAND_TEN = 10, BY_HAND_FRONT = 1024, BY_HAND_BUCKETS = 64 << 7, BY_HAND_OCTAVES = 16 };
typedef struct {
  double x, y;
} by_hand_step;
typedef struct {
  uint64_t points, valid, checksum;
  double best;                       /* least objective of a valid point */
  double ten[BY_HAND_TEN];           /* the least ones, ascending; only for the convolution, as what follows */
  by_hand_step front[BY_HAND_FRONT]; /* x ascending, y falling */
  int nfront;
  double entry[BY_HAND_BUCKETS]; /* no point of the bucket of x is on the front unless its y is below */
  _Alignas(
    64) double octave[BY_HAND_OCTAVES]; /* entries of the first buckets of octaves 2 .. 17; first: of all below */
} by_hand_answer;
void by_hand_answer_init(by_hand_answer *a);

/* The forms that a kernel is written for (sweep_layout.h): how many slots, of which the first is constant if there is
 * such, the form that it builds on and the one whose columns it has. A form's missing slots have coefficients 0. */
typedef struct {
  int slots;
  bool constant;
  int base, like;
} by_hand_form;
extern const by_hand_form by_hand_conv_forms[6], by_hand_gemm_forms[2];
void by_hand_conv(const by_hand_tables *t, by_hand_answer *out);
void by_hand_gemm(const by_hand_tables *t, by_hand_answer *out);
#endif
