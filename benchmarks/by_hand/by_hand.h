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
typedef struct {
  uint64_t points, valid, checksum;
  double best;
} by_hand_answer; /* best: least objective of a valid point */

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
