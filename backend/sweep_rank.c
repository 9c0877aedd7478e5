/* See sweep_rank.h: integer elimination, one vector after the other. The rows kept
 * are in echelon form and generate exactly the whole combinations of what came.
 * Then columns take the places of rows: in coordinates over the rows, columns are
 * part of a basis together with the rows left as long as the coordinates of each
 * beyond the places taken have no common divisor. */
#include "backend/sweep_rank.h"
#include <string.h>

enum { MOST_TUPLES = 4096, MOST_COLUMNS = 128 };

typedef struct { int64_t *values; size_t pivot; int column; } lattice_row;
typedef struct {
  nst_arena *arena;
  size_t n;                                    /* tuples */
  lattice_row rows[MOST_COLUMNS]; int rank;    /* pivots ascending, positive */
  int64_t *spare;
} lattice;

/* a -= f * b */
static bool subtract_scaled(int64_t *a, const int64_t *b, int64_t f, size_t n) {
  for (size_t i = 0; f && i < n; i++) {
    int64_t p;
    if (__builtin_mul_overflow(f, b[i], &p) || __builtin_sub_overflow(a[i], p, &a[i])) return false;
  }
  return true;
}

static bool negate(int64_t *a, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (__builtin_sub_overflow(0, a[i], &a[i])) return false;
  return true;
}

/* At pivot j Euclid's algorithm leaves the greatest common divisor in the row and 0 in the vector. */
static bool add_vector(lattice *l, const int64_t *values) {
  int64_t *v = NST_NEW_ARRAY(l->arena, l->n, int64_t);
  memcpy(v, values, l->n * sizeof *v);
  int r = 0;
  for (size_t j = 0; j < l->n; j++) {
    while (r < l->rank && l->rows[r].pivot < j) r++;
    if (!v[j]) continue;
    if (r == l->rank || l->rows[r].pivot != j) {
      if (l->rank == MOST_COLUMNS) return false;
      memmove(&l->rows[r + 1], &l->rows[r], (size_t)(l->rank++ - r) * sizeof *l->rows);
      l->rows[r] = (lattice_row){v, j, -1};
      return v[j] > 0 || negate(v, l->n);
    }
    while (v[j]) {
      int64_t *row = l->rows[r].values;
      if (!subtract_scaled(row, v, row[j] / v[j], l->n)) return false;
      l->rows[r].values = v;
      v = row;
    }
    if (l->rows[r].values[j] < 0 && !negate(l->rows[r].values, l->n)) return false;
  }
  return true;
}

/* Small numbers above the pivots. */
static bool reduce_rows(lattice *l) {
  for (int r = 1; r < l->rank; r++) {
    const size_t j = l->rows[r].pivot;
    const int64_t p = l->rows[r].values[j];
    for (int above = 0; above < r; above++) {
      int64_t x = l->rows[above].values[j], q = x / p;
      if (x % p < 0) q--;
      if (!subtract_scaled(l->rows[above].values, l->rows[r].values, q, l->n)) return false;
    }
  }
  return true;
}

/* values = sum of of[r] * rows[r] */
static bool express(const lattice *l, const int64_t *values, int64_t *of) {
  memcpy(l->spare, values, l->n * sizeof *values);
  for (int r = 0; r < l->rank; r++) {
    of[r] = l->spare[l->rows[r].pivot] / l->rows[r].values[l->rows[r].pivot];
    if (!subtract_scaled(l->spare, l->rows[r].values, of[r], l->n)) return false;
  }
  for (size_t i = 0; i < l->n; i++)
    if (l->spare[i]) return false;
  return true;
}

/* The columns in coordinates over the rows, while columns take the rows' places. */
typedef struct {
  lattice *l;
  int64_t *of[MOST_COLUMNS];      /* [rank]; NULL: a column that the form does not use */
  int64_t *taken[MOST_COLUMNS];   /* of the element at each place, which ends with 1 there */
} coordinates;

/* Coordinate b of all, less f times coordinate a: row a gains f times row b. */
static bool shear(coordinates *c, int a, int b, int64_t f) {
  if (!f) return true;
  for (int k = 0; k < MOST_COLUMNS; k++) {
    int64_t p;
    if (c->of[k] && (__builtin_mul_overflow(f, c->of[k][a], &p) || __builtin_sub_overflow(c->of[k][b], p, &c->of[k][b]))) return false;
  }
  return f != INT64_MIN && subtract_scaled(c->l->rows[a].values, c->l->rows[b].values, -f, c->l->n);
}

static bool flip(coordinates *c, int a) {
  for (int k = 0; k < MOST_COLUMNS; k++)
    if (c->of[k] && !negate(&c->of[k][a], 1)) return false;
  return negate(c->l->rows[a].values, c->l->n);
}

static int64_t divisor_beyond(const int64_t *of, int from, int rank) {
  int64_t a = 0;
  for (int i = from; i < rank; i++)
    for (int64_t b = of[i], r; b; b = r) {
      r = a % b;
      a = b;
    }
  return a < 0 ? -a : a;
}

/* Makes coordinate `place` of column k 1 and those behind it 0; their greatest common divisor is 1. */
static bool take_place(coordinates *c, int k, int place) {
  int64_t *x = c->of[k];
  for (int i = place + 1; i < c->l->rank; i++)
    while (x[i]) {
      if (x[place] && !shear(c, i, place, x[place] / x[i])) return false;
      if (!x[place]) { /* exchange the two */
        if (!shear(c, i, place, -1) || !shear(c, place, i, 1)) return false;
        break;
      }
      if (!shear(c, place, i, x[i] / x[place])) return false;
    }
  return x[place] > 0 || flip(c, place);
}

/* Columns for rows, the most frequent first; places that no column fits keep their row. */
static bool take_columns(coordinates *c, const nst_sweep_tables *t, int axis, const int *times) {
  lattice *l = c->l;
  bool out[MOST_COLUMNS] = {false};
  for (int place = 0; place < l->rank; place++) {
    int best = -1;
    for (int k = 0; k < t->ncolumns[axis]; k++)
      if (c->of[k] && !out[k] && (best < 0 || times[k] > times[best]) && divisor_beyond(c->of[k], place, l->rank) == 1) best = k;
    if (best < 0) continue;
    out[best] = true;
    if (!take_place(c, best, place)) return false;
    c->taken[place] = NST_NEW_ARRAY(l->arena, l->rank, int64_t);
    memcpy(c->taken[place], c->of[best], (size_t)l->rank * sizeof(int64_t));
    l->rows[place].column = best;
  }
  /* From coordinates to combinations of what was taken. */
  for (int k = 0; k < t->ncolumns[axis]; k++)
    for (int place = l->rank - 1; c->of[k] && place >= 0; place--) {
      int64_t f = c->of[k][place];
      if (c->taken[place] && !subtract_scaled(c->of[k], c->taken[place], f, (size_t)place)) return false;
    }
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

static bool rewrite(const lattice *l, int64_t *const *of, int naxes, int axis, const nst_sweep_tables *t, const nst_sweep_poly *from,
                    nst_sweep_poly *to) {
  int columns[65];
  *to = (nst_sweep_poly){0};
  for (int i = 0; i < from->nterms; i++) {
    const nst_sweep_term *term = &from->terms[i];
    memcpy(columns, term->columns, (size_t)naxes * sizeof *columns);
    const int64_t *combination = of[columns[axis]];
    for (int r = 0; r < l->rank; r++) {
      nst_rat coef;
      int64_t whole;
      if (!combination[r]) continue;
      columns[axis] = l->rows[r].column;
      if (!nst_rat_mul(&coef, term->coef, nst_rat_int(combination[r])) || !add_term(l->arena, to, coef, columns, naxes)) return false;
      if (!nst_rat_to_i64(&whole, coef)) return false;
    }
  }
  nst_sweep_poly_finish(t, to);
  return true;
}

/* How often the form uses each column; the most of them that one polynomial has. */
static int find_columns(const nst_sweep_known_poly *polys, size_t npolys, int form, int axis, int *times) {
  int most = 0;
  for (size_t i = 0; i < npolys; i++) {
    bool here[MOST_COLUMNS] = {false};
    int n = 0;
    for (int k = 0; polys[i].form == form && k < polys[i].poly.nterms; k++) {
      int c = polys[i].poly.terms[k].columns[axis];
      n += !here[c];
      here[c] = true;
      times[c]++;
    }
    if (n > most) most = n;
  }
  return most;
}

/* The form's polynomials into out[]; false: they stay as they are. */
static bool reduce_form(nst_arena *arena, nst_sweep_tables *t, int axis, const nst_sweep_known_poly *polys, size_t npolys, int form,
                        nst_sweep_poly *out) {
  const size_t n = t->axes->axes[axis].ntuples;
  const int ncolumns = t->ncolumns[axis];
  int times[MOST_COLUMNS] = {0};
  if (ncolumns > MOST_COLUMNS) return false;
  const int most = find_columns(polys, npolys, form, axis, times);
  lattice *l = NST_NEW(arena, lattice);
  *l = (lattice){.arena = arena, .n = n, .spare = NST_NEW_ARRAY(arena, n, int64_t)};
  for (int c = 0; c < ncolumns; c++)
    if (times[c] && !add_vector(l, t->columns[axis][c].values)) return false;
  if (l->rank >= most || !reduce_rows(l)) return false;
  coordinates x = {.l = l};
  for (int c = 0; c < ncolumns; c++) {
    if (!times[c]) continue;
    x.of[c] = NST_NEW_ARRAY(arena, l->rank, int64_t);
    if (!express(l, t->columns[axis][c].values, x.of[c])) return false;
  }
  if (!take_columns(&x, t, axis, times)) return false;
  for (int r = 0; r < l->rank; r++)
    if (l->rows[r].column < 0) l->rows[r].column = nst_sweep_column_of(t, axis, l->rows[r].values);
  for (size_t i = 0; i < npolys; i++)
    if (polys[i].form == form && !rewrite(l, x.of, t->naxes, axis, t, &polys[i].poly, &out[i])) return false;
  return true;
}

bool nst_sweep_rank_reduce(nst_arena *arena, nst_sweep_tables *t, int axis, nst_sweep_known_poly *polys, size_t npolys, int nforms) {
  if (t->axes->axes[axis].ntuples > MOST_TUPLES) return false;
  nst_sweep_poly *out = NST_NEW_ARRAY(arena, npolys, nst_sweep_poly);
  bool any = false;
  for (int f = 0; f < nforms; f++) {
    if (!reduce_form(arena, t, axis, polys, npolys, f, out)) continue;
    any = true;
    for (size_t i = 0; i < npolys; i++)
      if (polys[i].form == f) polys[i].poly = out[i];
  }
  return any;
}
