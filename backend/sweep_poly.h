/* Counters over a whole space: polynomials in table columns.
 *
 * In a sweep every column of a plan is a table over one axis. A counter is a sum
 * of products with one factor per axis, so a linear metric of a variant is a
 * polynomial: terms coef * prod over axes of column[axis][tuple]. Columns of one
 * axis multiply into new columns; columns that agree on every tuple are one;
 * constant ones go into the coefficients; column 0 of every axis is all ones. So
 * two variants with the same metrics have the same polynomials. */
#ifndef NST_BACKEND_SWEEP_POLY_H
#define NST_BACKEND_SWEEP_POLY_H
#include "backend/sweep_axes.h"

typedef struct { int64_t *values; int64_t least, most; uint64_t hash; } nst_sweep_column;
typedef struct {
  nst_arena *arena; /* columns */
  nst_arena *work;  /* polynomials under construction */
  const nst_sweep_axes *axes;
  int naxes;                                          /* without the constant one */
  nst_sweep_column **columns; int *ncolumns, *cap;    /* per axis */
  struct nst_sweep_known *known; size_t nknown, known_cap; /* plan columns met before */
  nst_group_scratch *scratch;
} nst_sweep_tables;
void nst_sweep_tables_init(nst_sweep_tables *t, nst_arena *arena, const nst_sweep_axes *axes);
void nst_sweep_tables_fini(nst_sweep_tables *t);
/* The number of the axis's column with these values (copied if new). */
int nst_sweep_column_of(nst_sweep_tables *t, int axis, const int64_t *values);

/* The columns of a variant's plan: a column of one axis, or a constant (axis < 0: value). */
typedef struct { int axis, column; int64_t value; } nst_sweep_factor;
/* false: the analysis refuses a group. factors: [plan->ncolumns]. */
bool nst_sweep_factors(nst_sweep_tables *t, const nst_ir_mapping *variant, const nst_plan *plan, nst_sweep_factor *factors);

typedef struct { nst_rat coef; int *columns; /* [naxes] */ } nst_sweep_term;
typedef struct { nst_sweep_term *terms; int nterms, cap; } nst_sweep_poly;
/* poly += weight * formula. false: past 128 bits. */
bool nst_sweep_poly_add(nst_sweep_tables *t, nst_sweep_poly *poly, nst_rat weight, const nst_formula *f, const nst_sweep_factor *factors);
/* poly += weight * (value of swept parameter number point). */
bool nst_sweep_poly_add_param(nst_sweep_tables *t, nst_sweep_poly *poly, nst_rat weight, int point);
/* poly += weight * values, one for each feasible tuple of the axis. */
bool nst_sweep_poly_add_column(nst_sweep_tables *t, nst_sweep_poly *poly, nst_rat weight, int axis, const int64_t *values);
/* poly *= the product of one column of each axis. false: past 63 bits. */
bool nst_sweep_poly_multiply(nst_sweep_tables *t, nst_sweep_poly *poly, const int *columns);
/* Drops zero terms and sorts: equal polynomials become equal arrays. */
void nst_sweep_poly_finish(const nst_sweep_tables *t, nst_sweep_poly *poly);
#endif
