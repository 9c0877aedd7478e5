/* See sweep_rank.h: Gaussian elimination over the rationals, columns in their
 * order, so that the basis is made of columns themselves. */
#include "backend/sweep_rank.h"
#include "base/vec.h"
#include <string.h>

enum { MOST_TUPLES = 4096, MOST_COLUMNS = 128 };

/* A row of the echelon form: a combination of basis columns, 1 at its pivot. */
typedef struct { nst_rat *values, *of; size_t pivot; } echelon_row;
typedef struct {
  nst_arena *arena;
  size_t n;                       /* tuples */
  int columns;
  echelon_row rows[MOST_COLUMNS]; int rank;
  int basis[MOST_COLUMNS];        /* column of each basis element */
  nst_rat *combination[MOST_COLUMNS]; /* of each column, over the basis; NULL: it is a basis element */
} eliminator;

/* a -= f * b */
static bool subtract_scaled(nst_rat *a, const nst_rat *b, nst_rat f, size_t n) {
  for (size_t i = 0; i < n; i++) {
    nst_rat p;
    if (!b[i].num) continue;
    if (!nst_rat_mul(&p, f, b[i]) || !nst_rat_sub(&a[i], a[i], p)) return false;
  }
  return true;
}

static bool add_column(eliminator *e, int column, const int64_t *values) {
  nst_rat *v = NST_NEW_ARRAY(e->arena, e->n, nst_rat), *of = NST_NEW_ARRAY(e->arena, MOST_COLUMNS, nst_rat);
  for (size_t i = 0; i < e->n; i++) v[i] = nst_rat_int(values[i]);
  for (int i = 0; i < MOST_COLUMNS; i++) of[i] = nst_rat_int(0);
  for (int r = 0; r < e->rank; r++) { /* of: v = what is left - sum of `of` */
    nst_rat f = v[e->rows[r].pivot];
    if (f.num && (!subtract_scaled(v, e->rows[r].values, f, e->n) || !subtract_scaled(of, e->rows[r].of, f, MOST_COLUMNS)))
      return false;
  }
  size_t pivot = 0;
  while (pivot < e->n && !v[pivot].num) pivot++;
  if (pivot == e->n) {
    for (int i = 0; i < e->rank; i++)
      if (!nst_rat_neg(&of[i], of[i])) return false;
    e->combination[column] = of;
    return true;
  }
  of[e->rank] = nst_rat_int(1);
  nst_rat by;
  if (!nst_rat_div(&by, nst_rat_int(1), v[pivot])) return false;
  for (size_t i = 0; i < e->n; i++)
    if (!nst_rat_mul(&v[i], v[i], by)) return false;
  for (int i = 0; i <= e->rank; i++)
    if (!nst_rat_mul(&of[i], of[i], by)) return false;
  e->basis[e->rank] = column;
  e->rows[e->rank++] = (echelon_row){v, of, pivot};
  return true;
}

static bool add_term(nst_arena *arena, nst_sweep_poly *p, nst_rat coef, const int *columns, int naxes) {
  for (int i = 0; i < p->nterms; i++)
    if (!memcmp(p->terms[i].columns, columns, (size_t)naxes * sizeof *columns))
      return nst_rat_add(&p->terms[i].coef, p->terms[i].coef, coef);
  if (p->nterms == p->cap) {
    nst_sweep_term *more = NST_NEW_ARRAY(arena, 2 * p->cap + 16, nst_sweep_term);
    if (p->nterms) memcpy(more, p->terms, (size_t)p->nterms * sizeof *more);
    p->terms = more;
    p->cap = 2 * p->cap + 16;
  }
  int *copy = NST_NEW_ARRAY(arena, naxes + 1, int);
  memcpy(copy, columns, (size_t)naxes * sizeof *copy);
  p->terms[p->nterms++] = (nst_sweep_term){coef, copy};
  return true;
}

static bool rewrite(const eliminator *e, const nst_sweep_tables *t, int axis, const nst_sweep_poly *from, nst_sweep_poly *to) {
  int columns[65];
  *to = (nst_sweep_poly){0};
  for (int i = 0; i < from->nterms; i++) {
    const nst_sweep_term *term = &from->terms[i];
    memcpy(columns, term->columns, (size_t)t->naxes * sizeof *columns);
    const nst_rat *of = e->combination[columns[axis]];
    if (!of && !add_term(e->arena, to, term->coef, columns, t->naxes)) return false;
    for (int b = 0; of && b < e->rank; b++) {
      nst_rat coef;
      if (!of[b].num) continue;
      columns[axis] = e->basis[b];
      if (!nst_rat_mul(&coef, term->coef, of[b]) || !add_term(e->arena, to, coef, columns, t->naxes)) return false;
    }
  }
  nst_sweep_poly_finish(t, to);
  return true;
}

static int64_t gcd64(int64_t a, int64_t b) {
  while (b) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* Makes all polynomials of a form whole. */
static bool clear_denominators(nst_sweep_poly *all, const nst_sweep_known_poly *polys, size_t npolys, int64_t *divisors) {
  for (size_t i = 0; i < npolys; i++)
    for (int k = 0; k < all[i].nterms; k++) {
      nst_i128 den = all[i].terms[k].coef.den;
      int64_t *d = &divisors[polys[i].form];
      if (den > 1 << 20) return false;
      *d = *d / gcd64(*d, (int64_t)den) * (int64_t)den;
      if (*d > 1 << 20) return false;
    }
  for (size_t i = 0; i < npolys; i++)
    for (int k = 0; k < all[i].nterms; k++) {
      int64_t whole;
      nst_rat *c = &all[i].terms[k].coef;
      if (!nst_rat_mul(c, *c, nst_rat_int(divisors[polys[i].form])) || !nst_rat_to_i64(&whole, *c)) return false;
    }
  return true;
}

bool nst_sweep_rank_reduce(nst_arena *arena, const nst_sweep_tables *t, int axis, nst_sweep_known_poly *polys, size_t npolys,
                           int nforms, int64_t *divisors) {
  size_t n = t->axes->axes[axis].ntuples;
  for (int f = 0; f < nforms; f++) divisors[f] = 1;
  if (n > MOST_TUPLES || t->ncolumns[axis] > MOST_COLUMNS) return false;
  eliminator *e = NST_NEW(arena, eliminator);
  *e = (eliminator){.arena = arena, .n = n, .columns = t->ncolumns[axis]};
  for (int c = 0; c < e->columns; c++)
    if (!add_column(e, c, t->columns[axis][c].values)) return false;
  if (e->rank == e->columns) return false;
  nst_sweep_poly *all = NST_NEW_ARRAY(arena, npolys, nst_sweep_poly);
  for (size_t i = 0; i < npolys; i++)
    if (!rewrite(e, t, axis, &polys[i].poly, &all[i])) return false;
  if (!clear_denominators(all, polys, npolys, divisors)) {
    for (int f = 0; f < nforms; f++) divisors[f] = 1;
    return false;
  }
  for (size_t i = 0; i < npolys; i++) polys[i].poly = all[i];
  return true;
}
