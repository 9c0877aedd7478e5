/* The nest of a sweep: axes from outer to inner, and what each passes on.
 *
 * A form of a variant is a polynomial; fixing the tuples of the outer axes one
 * after the other leaves shorter and shorter lists of coefficients. Level d of a
 * variant holds one coefficient for each (form, columns of the axes d and
 * further in) that occurs; tuple t of axis d turns them into those of level d+1:
 *   next[to[k]] += here[k] * column[k][t]
 * At the last level each form has a few slots, as many as the variant that needs
 * the most, so one kernel serves all variants: which columns the slots point to
 * is data. The last but one level makes the slots' coefficients for all of its
 * tuples at once. */
#ifndef NST_BACKEND_SWEEP_LAYOUT_H
#define NST_BACKEND_SWEEP_LAYOUT_H
#include "backend/sweep_program.h"

typedef struct {
  int axis;                  /* -1: an axis of one tuple and no columns */
  uint64_t ntuples, padded;
  void **columns;            /* all columns of the axis, padded, doubles or int64_t; 0: ones */
  size_t *visit;             /* its tuples, far ones first, so that limits are soon tight; NULL for the innermost */
} nst_sweep_dimension;

/* What all variants share. */
typedef struct {
  const nst_sweep_tables *tables;
  nst_sweep_dimension *dims; int ndims; /* outermost first; at least 2 */
  bool floating;
  int nforms;
  int *first_slot; int nslots;          /* [nforms + 1] */
  bool *constant;                       /* [nforms]: the form's first slot is for column 0, all ones */
  int *least;                           /* [nforms]: every variant uses so many of the form's slots */
  const int *like;                      /* [nforms]: an earlier form with the same columns, column 0 aside, in every variant; or -1 */
  const int *base;                      /* [nforms]: the form is this one plus its polynomial; -1: its polynomial */
} nst_sweep_layout;

/* A distinct polynomial of a form. */
typedef struct { int form; nst_sweep_poly poly; uint64_t hash; } nst_sweep_known_poly;

void nst_sweep_layout_init(nst_sweep_layout *l, nst_arena *arena, const nst_sweep_tables *t, const nst_sweep_known_poly *polys,
                           size_t npolys, const int *base, const int *like, int nforms, bool floating);

/* One variant's levels. */
typedef struct { int form, column, to; double lo, hi; /* of the product of this and all further columns, about */ } nst_sweep_entry;
typedef struct { nst_sweep_entry *entries; int n, cap; } nst_sweep_level;
typedef struct {
  nst_sweep_level *levels;   /* [ndims]; `to` of the last but one level: a slot */
  int *slot_column;          /* [nslots]: columns of the last axis; 0 where a slot is not needed */
  uint64_t *used;            /* [nforms]: how many of its slots are, from the first on */
} nst_sweep_nest;
void nst_sweep_nest_init(nst_sweep_nest *n, const nst_sweep_layout *l);
void nst_sweep_nest_fini(nst_sweep_nest *n, const nst_sweep_layout *l);
/* Lays out a variant: one polynomial for each form. coefficients: of level 0, room for all their terms. */
void nst_sweep_nest_load(nst_sweep_nest *n, const nst_sweep_layout *l, const nst_sweep_known_poly *const *forms, void *coefficients);
#endif
