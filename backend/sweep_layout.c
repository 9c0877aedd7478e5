/* See sweep_layout.h. Axes are ordered so that the longest is innermost: that
 * is where whole vectors are filled. */
#include "backend/sweep_layout.h"
#include <stdlib.h>
#include <string.h>

/* (form, columns of the axes from level d on), as they occur in some variant. */
typedef struct { int *keys; int n, cap, width; } key_list;

static int find_key(const key_list *l, const int *key) {
  for (int i = 0; i < l->n; i++)
    if (!memcmp(l->keys + (size_t)i * (size_t)l->width, key, (size_t)l->width * sizeof *key)) return i;
  return -1;
}

static int add_key(key_list *l, nst_arena *arena, const int *key) {
  int i = find_key(l, key);
  if (i >= 0) return i;
  if (l->n == l->cap) {
    int *more = NST_NEW_ARRAY(arena, (size_t)(2 * l->cap + 16) * (size_t)l->width, int);
    if (l->n) memcpy(more, l->keys, (size_t)l->n * (size_t)l->width * sizeof *more);
    l->keys = more;
    l->cap = 2 * l->cap + 16;
  }
  memcpy(l->keys + (size_t)l->n * (size_t)l->width, key, (size_t)l->width * sizeof *key);
  return l->n++;
}

static void order_axes(nst_sweep_layout *l, nst_arena *arena, const nst_sweep_tables *t) {
  l->nlevels = t->naxes < 2 ? 2 : t->naxes;
  l->levels = NST_NEW_ARRAY(arena, l->nlevels, nst_sweep_level);
  int n = 0;
  for (int k = t->naxes; k < l->nlevels; k++) l->levels[n++] = (nst_sweep_level){.axis = -1, .ntuples = 1};
  for (int a = 0; a < t->naxes; a++) {
    uint64_t tuples = t->axes->axes[a].ntuples;
    int k = n++;
    for (; k > 0 && l->levels[k - 1].ntuples > tuples; k--) l->levels[k] = l->levels[k - 1];
    l->levels[k] = (nst_sweep_level){.axis = a, .ntuples = tuples};
  }
  for (int d = 0; d < l->nlevels; d++) l->levels[d].padded = nst_vector_padded(l->levels[d].ntuples);
}

static void *padded_column(nst_arena *arena, const nst_sweep_column *c, const nst_sweep_level *level, bool floating) {
  char *raw = nst_arena_alloc(arena, level->padded * 8 + 64);
  void *at = raw + (64 - (uintptr_t)raw % 64) % 64;
  for (uint64_t i = 0; i < level->padded; i++) {
    int64_t v = c->values[i < level->ntuples ? i : 0];
    if (floating) ((double *)at)[i] = (double)v;
    else ((int64_t *)at)[i] = v;
  }
  return at;
}

static void make_columns(nst_sweep_level *level, nst_arena *arena, const nst_sweep_tables *t, bool floating) {
  int most = level->axis < 0 ? 0 : t->ncolumns[level->axis];
  int *place = NST_NEW_ARRAY(arena, most + 1, int);
  level->columns = NST_NEW_ARRAY(arena, most + 1, void *);
  level->column_of = NST_NEW_ARRAY(arena, most + 1, int);
  for (int i = 0; i <= most; i++) place[i] = -1;
  for (int k = 0; k < level->nentries; k++) {
    nst_sweep_entry *e = &level->entries[k];
    if (!e->column) {
      e->column = -1;
      continue;
    }
    if (place[e->column] < 0) {
      place[e->column] = level->ncolumns;
      level->column_of[level->ncolumns] = e->column;
      level->columns[level->ncolumns++] = padded_column(arena, &t->columns[level->axis][e->column], level, floating);
    }
    e->column = place[e->column];
  }
}

static void key_of(const nst_sweep_layout *l, int form, const int *columns, int from, int *key) {
  key[0] = form;
  for (int d = from; d < l->nlevels; d++) key[1 + d - from] = l->levels[d].axis < 0 ? 0 : columns[l->levels[d].axis];
}

void nst_sweep_layout_make(nst_sweep_layout *l, nst_arena *arena, const nst_sweep_tables *t, const nst_sweep_known_poly *polys,
                           size_t npolys, bool floating) {
  *l = (nst_sweep_layout){.floating = floating};
  order_axes(l, arena, t);
  int n = l->nlevels, key[66];
  key_list *lists = NST_NEW_ARRAY(arena, n + 1, key_list);
  for (int d = 0; d <= n; d++) lists[d].width = 1 + n - d;
  for (size_t i = 0; i < npolys; i++)
    for (int k = 0; k < polys[i].poly.nterms; k++) {
      key_of(l, polys[i].form, polys[i].poly.terms[k].columns, 0, key);
      add_key(&lists[0], arena, key);
    }
  for (int d = 0; d < n; d++) {
    nst_sweep_level *level = &l->levels[d];
    level->nentries = lists[d].n;
    level->entries = NST_NEW_ARRAY(arena, lists[d].n, nst_sweep_entry);
    for (int i = 0; i < lists[d].n; i++) {
      const int *from = lists[d].keys + (size_t)i * (size_t)lists[d].width;
      key[0] = from[0];
      memcpy(key + 1, from + 2, (size_t)(lists[d].width - 2) * sizeof *key);
      level->entries[i] = (nst_sweep_entry){from[0], from[1], add_key(&lists[d + 1], arena, key)};
    }
    make_columns(level, arena, t, floating);
  }
}

/* Columns are matched by number; entries of level 0 carry places, so the number is looked up. */
void nst_sweep_layout_load(const nst_sweep_layout *l, const nst_sweep_known_poly *p, void *coefficients) {
  for (int k = 0; k < p->poly.nterms; k++) {
    const nst_sweep_term *term = &p->poly.terms[k];
    for (int i = 0; i < l->levels[0].nentries; i++) {
      int entry = i;
      bool same = l->levels[0].entries[i].form == p->form;
      for (int d = 0; d < l->nlevels && same; d++) {
        const nst_sweep_entry *e = &l->levels[d].entries[entry];
        int column = e->column < 0 ? 0 : l->levels[d].column_of[e->column];
        same = column == (l->levels[d].axis < 0 ? 0 : term->columns[l->levels[d].axis]);
        entry = e->to;
      }
      if (!same) continue;
      if (l->floating) ((double *)coefficients)[i] += (double)(int64_t)term->coef.num;
      else ((int64_t *)coefficients)[i] += (int64_t)term->coef.num;
      break;
    }
  }
}
