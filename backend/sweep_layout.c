/* See sweep_layout.h. The axis with the most tuples is innermost, where whole
 * vectors are filled. */
#include "backend/sweep_layout.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Halves, quarters, eighths …: what is good is near what was seen, and known by the time the neighbours come. */
static void order_visits(nst_arena *arena, nst_sweep_dimension *dim) {
  size_t all = 1, n = 0;
  while (all < dim->ntuples) all *= 2;
  dim->visit = NST_NEW_ARRAY(arena, dim->ntuples + 1, size_t);
  for (size_t i = 0; i < all; i++) {
    size_t t = 0;
    for (size_t bit = 1, mirrored = all / 2; bit < all; bit *= 2, mirrored /= 2) t |= i & bit ? mirrored : 0;
    if (t < dim->ntuples) dim->visit[n++] = t;
  }
}

static void order_axes(nst_sweep_layout *l, nst_arena *arena) {
  const nst_sweep_tables *t = l->tables;
  l->ndims = t->naxes < 2 ? 2 : t->naxes;
  l->dims = NST_NEW_ARRAY(arena, l->ndims, nst_sweep_dimension);
  int n = 0;
  for (int k = t->naxes; k < l->ndims; k++) l->dims[n++] = (nst_sweep_dimension){.axis = -1, .ntuples = 1};
  for (int a = 0; a < t->naxes; a++) {
    uint64_t tuples = t->axes->axes[a].ntuples;
    int k = n++;
    for (; k > 0 && l->dims[k - 1].ntuples > tuples; k--) l->dims[k] = l->dims[k - 1];
    l->dims[k] = (nst_sweep_dimension){.axis = a, .ntuples = tuples};
  }
  for (int d = 0; d < l->ndims; d++) l->dims[d].padded = nst_vector_padded(l->dims[d].ntuples);
  for (int d = 0; d < l->ndims - 1; d++) order_visits(arena, &l->dims[d]);
}

static void pad_columns(nst_sweep_layout *l, nst_arena *arena, nst_sweep_dimension *dim) {
  int n = dim->axis < 0 ? 1 : l->tables->ncolumns[dim->axis];
  dim->columns = NST_NEW_ARRAY(arena, n, void *);
  for (int c = 0; c < n; c++) {
    char *raw = nst_arena_alloc(arena, dim->padded * 8 + 64);
    void *at = raw + (64 - (uintptr_t)raw % 64) % 64;
    for (uint64_t i = 0; i < dim->padded; i++) {
      int64_t v = dim->axis < 0 || !c ? 1 : l->tables->columns[dim->axis][c].values[i < dim->ntuples ? i : 0];
      if (l->floating) ((double *)at)[i] = (double)v;
      else ((int64_t *)at)[i] = v;
    }
    dim->columns[c] = at;
  }
}

/* How many different columns of the last axis a polynomial has, without column 0; does it have that? */
static int last_columns(const nst_sweep_layout *l, const nst_sweep_poly *p, bool *constant) {
  int axis = l->dims[l->ndims - 1].axis, n = 0;
  for (int i = 0; i < p->nterms; i++) {
    int k = 0;
    const bool one = axis < 0 || !p->terms[i].columns[axis];
    *constant = *constant || one;
    while (!one && k < i && p->terms[k].columns[axis] != p->terms[i].columns[axis]) k++;
    n += !one && k == i;
  }
  return n;
}

void nst_sweep_layout_init(nst_sweep_layout *l, nst_arena *arena, const nst_sweep_tables *t, const nst_sweep_known_poly *polys,
                           size_t npolys, const int *base, const int *like, int nforms, bool floating) {
  *l = (nst_sweep_layout){.tables = t, .floating = floating, .nforms = nforms, .base = base, .like = like};
  order_axes(l, arena);
  for (int d = 0; d < l->ndims; d++) pad_columns(l, arena, &l->dims[d]);
  l->first_slot = NST_NEW_ARRAY(arena, nforms + 1, int);
  l->least = NST_NEW_ARRAY(arena, nforms + 1, int);
  l->constant = NST_NEW_ARRAY(arena, nforms + 1, bool);
  for (int f = 0; f < nforms; f++) l->least[f] = INT_MAX;
  for (size_t i = 0; i < npolys; i++) {
    const int f = polys[i].form, n = last_columns(l, &polys[i].poly, &l->constant[f]);
    if (n > l->first_slot[f]) l->first_slot[f] = n;
    if (n < l->least[f]) l->least[f] = n;
  }
  for (int f = 0; f < nforms; f++) {
    int n = l->first_slot[f] + l->constant[f];
    l->least[f] = l->least[f] == INT_MAX ? n : l->least[f] + l->constant[f];
    l->first_slot[f] = l->nslots;
    l->nslots += n;
  }
  l->first_slot[nforms] = l->nslots;
}

/* ---- one variant ---- */

void nst_sweep_nest_init(nst_sweep_nest *n, const nst_sweep_layout *l) {
  *n = (nst_sweep_nest){.levels = calloc((size_t)l->ndims, sizeof *n->levels),
                        .slot_column = calloc((size_t)l->nslots + 1, sizeof(int)),
                        .used = calloc((size_t)l->nforms + 1, sizeof(uint64_t))};
  if (!n->levels || !n->slot_column || !n->used) nst_out_of_memory();
}

void nst_sweep_nest_fini(nst_sweep_nest *n, const nst_sweep_layout *l) {
  for (int d = 0; n->levels && d < l->ndims; d++) free(n->levels[d].entries);
  free(n->levels);
  free(n->slot_column);
  free(n->used);
}

static int column_at(const nst_sweep_layout *l, int d, const nst_sweep_term *term) {
  return l->dims[d].axis < 0 ? 0 : term->columns[l->dims[d].axis];
}

static void bounds_of(const nst_sweep_layout *l, int d, int column, double *lo, double *hi) {
  *lo = *hi = 1;
  if (!column || l->dims[d].axis < 0) return;
  *lo = (double)l->tables->columns[l->dims[d].axis][column].least;
  *hi = (double)l->tables->columns[l->dims[d].axis][column].most;
}

static int add_entry(nst_sweep_level *level, nst_sweep_entry e) {
  if (level->n == level->cap) {
    level->cap = level->cap ? 2 * level->cap : 64;
    level->entries = realloc(level->entries, (size_t)level->cap * sizeof *level->entries);
    if (!level->entries) nst_out_of_memory();
  }
  level->entries[level->n] = e;
  return level->n++;
}

/* Entries are found from the inside out: an entry is a column and the entry of the next level behind it. */
static int entry_of(nst_sweep_nest *n, const nst_sweep_layout *l, int d, int form, int column, int to) {
  nst_sweep_level *level = &n->levels[d];
  for (int i = level->n - 1; i >= 0 && level->entries[i].form == form; i--)
    if (level->entries[i].column == column && level->entries[i].to == to) return i;
  double a, b, lo = 1, hi = 1;
  bounds_of(l, d, column, &a, &b);
  if (d + 1 == l->ndims - 1) bounds_of(l, d + 1, n->slot_column[to], &lo, &hi);
  else if (d + 1 < l->ndims - 1) lo = n->levels[d + 1].entries[to].lo, hi = n->levels[d + 1].entries[to].hi;
  const double p = a * lo, q = a * hi, r = b * lo, t = b * hi;
  return add_entry(level, (nst_sweep_entry){form, column, to, fmin(fmin(p, q), fmin(r, t)), fmax(fmax(p, q), fmax(r, t))});
}

static int slot_of(nst_sweep_nest *n, const nst_sweep_layout *l, int form, int column) {
  const int first = l->first_slot[form];
  if (!column) return first;
  for (int s = first + l->constant[form]; s < first + (int)n->used[form]; s++)
    if (n->slot_column[s] == column) return s;
  int s = first + (int)n->used[form]++;
  n->slot_column[s] = column;
  return s;
}

/* In the same order as the other form. */
static void take_columns(nst_sweep_nest *n, const nst_sweep_layout *l, int form, int like) {
  const int from = l->first_slot[like] + l->constant[like], to = l->first_slot[form] + l->constant[form];
  const int count = (int)n->used[like] - l->constant[like];
  for (int k = 0; k < count; k++) n->slot_column[to + k] = n->slot_column[from + k];
  n->used[form] += (uint64_t)count;
}

void nst_sweep_nest_load(nst_sweep_nest *n, const nst_sweep_layout *l, const nst_sweep_known_poly *const *forms, void *coefficients) {
  memset(n->slot_column, 0, ((size_t)l->nslots + 1) * sizeof(int));
  for (int d = 0; d < l->ndims; d++) n->levels[d].n = 0;
  for (int f = 0; f < l->nforms; f++) {
    n->used[f] = l->constant[f];
    if (l->like[f] >= 0) take_columns(n, l, f, l->like[f]);
    for (int i = 0; i < forms[f]->poly.nterms; i++) {
      const nst_sweep_term *term = &forms[f]->poly.terms[i];
      int at = slot_of(n, l, f, column_at(l, l->ndims - 1, term));
      for (int d = l->ndims - 2; d >= 0; d--) at = entry_of(n, l, d, f, column_at(l, d, term), at);
      /* Terms differ in some column, so each has an entry of level 0 to itself. */
      if (l->floating) ((double *)coefficients)[at] = (double)(int64_t)term->coef.num;
      else ((int64_t *)coefficients)[at] = (int64_t)term->coef.num;
    }
  }
}
