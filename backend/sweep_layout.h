/* The nest of a sweep: axes from outer to inner, and what each passes on.
 *
 * A form of a variant is a polynomial; fixing the tuples of the outer axes one
 * after the other leaves shorter and shorter lists of coefficients. Level d holds
 * one coefficient for each (form, columns of the axes d and further in) that
 * occurs in any variant; a tuple t of axis d turns them into those of level d+1:
 *   next[to[k]] += here[k] * column[k][t]
 * The last two levels are vector code over their axes (backend/vector.h): the
 * last but one makes the coefficients of all its tuples at once, the last
 * computes the points. So one kernel serves all variants. */
#ifndef NST_BACKEND_SWEEP_LAYOUT_H
#define NST_BACKEND_SWEEP_LAYOUT_H
#include "backend/sweep_program.h"

typedef struct { int form; int column; /* of this level's axis; 0 all ones */ int to; /* entry of the next level */ } nst_sweep_entry;
typedef struct {
  int axis;                         /* -1: an axis of one tuple and no columns */
  uint64_t ntuples, padded;
  nst_sweep_entry *entries; int nentries;
  void **columns; int *column_of; int ncolumns; /* columns used here, padded, doubles or int64_t; column_of: their numbers */
} nst_sweep_level;
typedef struct {
  nst_sweep_level *levels; int nlevels; /* at least 2 */
  bool floating;
} nst_sweep_layout;

/* A distinct polynomial of a form. */
typedef struct { int form; nst_sweep_poly poly; uint64_t hash; } nst_sweep_known_poly;

void nst_sweep_layout_make(nst_sweep_layout *l, nst_arena *arena, const nst_sweep_tables *t, const nst_sweep_known_poly *polys,
                           size_t npolys, bool floating);
/* Adds a polynomial's coefficients to level 0's list (doubles or int64_t). */
void nst_sweep_layout_load(const nst_sweep_layout *l, const nst_sweep_known_poly *p, void *coefficients);
#endif
