/* Which elements an access touches in a box: the rules' "really touched",
 * found by trying every point of the dimensions that the access uses.
 *
 * Dimensions that it does not use cannot change the set, as long as their
 * intervals are not empty, and are left out. Elements outside the declared
 * shape do not exist and get no number. */
#include "ir/simulate.h"
#include <stdlib.h>
#include <string.h>

void nst_sim_list_push_slow(nst_sim_list *l) {
  size_t cap = l->cap ? l->cap * 2 : 16;
  int32_t *items = realloc(l->items, cap * sizeof *items);
  if (!items) nst_out_of_memory();
  l->items = items;
  l->cap = cap;
}

bool nst_sim_tensor_init(nst_sim_tensor *t, nst_arena *arena, uint64_t points) {
  uint64_t volume = 1;
  t->stride = NST_NEW_ARRAY(arena, t->nranks, int64_t);
  for (int r = t->nranks - 1; r >= 0; r--) {
    if (t->max[r] < t->min[r]) {
      t->empty = true;
      return true;
    }
    t->stride[r] = (int64_t)volume;
    if (volume > INT32_MAX) break;
    uint64_t width = (uint64_t)t->max[r] - (uint64_t)t->min[r];
    volume *= width < INT32_MAX ? width + 1 : INT32_MAX;
  }
  t->hashed = volume > 4096 && volume / 16 > points;
  t->bound = (size_t)(t->hashed ? points : volume);
  if (t->bound >= INT32_MAX) return false;
  if (t->hashed) {
    size_t cells = 16;
    while (cells < 2 * t->bound) cells *= 2;
    t->keys = NST_NEW_ARRAY(arena, t->bound * (size_t)t->nranks, int64_t);
    t->table = NST_NEW_ARRAY(arena, cells, int32_t);
    t->table_mask = cells - 1;
  }
  t->fresh = NST_NEW_ARRAY(arena, t->bound, uint32_t);
  t->before = NST_NEW_ARRAY(arena, t->bound, uint32_t);
  t->taken = NST_NEW_ARRAY(arena, t->bound, uint32_t);
  t->left = NST_NEW_ARRAY(arena, t->bound, uint32_t);
  t->owner = NST_NEW_ARRAY(arena, t->bound, uint32_t);
  return true;
}

uint32_t nst_sim_mark(nst_sim_tensor *t) {
  if (++t->last_mark) return t->last_mark;
  /* After 2^32 sets the numbers start again: no old mark may be taken for a new one. */
  memset(t->fresh, 0, t->bound * sizeof *t->fresh);
  memset(t->before, 0, t->bound * sizeof *t->before);
  memset(t->taken, 0, t->bound * sizeof *t->taken);
  memset(t->left, 0, t->bound * sizeof *t->left);
  return t->last_mark = 1;
}

static int32_t hashed_element(nst_sim_tensor *t, const int64_t *value) {
  uint64_t h = 0;
  size_t size = (size_t)t->nranks * sizeof *value;
  for (int r = 0; r < t->nranks; r++) h = (h ^ (uint64_t)value[r]) * UINT64_C(0x9e3779b97f4a7c15), h ^= h >> 29;
  for (size_t i = (size_t)h & t->table_mask;; i = (i + 1) & t->table_mask) {
    if (!t->table[i]) {
      memcpy(t->keys + t->met * (size_t)t->nranks, value, size);
      t->table[i] = (int32_t)++t->met;
    }
    if (!memcmp(t->keys + (size_t)(t->table[i] - 1) * (size_t)t->nranks, value, size)) return t->table[i] - 1;
  }
}

int32_t nst_sim_element(nst_sim_tensor *t, const int64_t *value) {
  int64_t at = 0;
  if (t->empty) return -1;
  for (int r = 0; r < t->nranks; r++) {
    if (value[r] < t->min[r] || value[r] > t->max[r]) return -1;
    if (!t->hashed) at += (value[r] - t->min[r]) * t->stride[r];
  }
  return t->hashed ? hashed_element(t, value) : (int32_t)at;
}

void nst_sim_access_init(nst_sim_access *a, nst_arena *arena, nst_sim_tensor *t, const nst_nest_access *from) {
  int nranks = from->nranks, most = 0;
  for (int r = 0; r < nranks; r++) most += from->ranks[r].nterms;
  int *dims = NST_NEW_ARRAY(arena, most, int);
  int64_t *coef = NST_NEW_ARRAY(arena, most * (nranks ? nranks : 1), int64_t);
  int64_t *offset = NST_NEW_ARRAY(arena, nranks, int64_t);
  int *terms = NST_NEW_ARRAY(arena, nranks + 1, int), *term_dim = NST_NEW_ARRAY(arena, most, int);
  int64_t *term_coef = NST_NEW_ARRAY(arena, most, int64_t);
  int ndims = 0, nterms = 0;
  for (int r = 0; r < nranks; r++) {
    offset[r] = from->ranks[r].offset;
    for (int i = 0; i < from->ranks[r].nterms; i++) {
      int dim = from->ranks[r].ir[i].dim, d = 0;
      while (d < ndims && dims[d] != dim) d++;
      if (d == ndims) dims[ndims++] = dim;
      coef[d * nranks + r] += from->ranks[r].coef[i];
      term_dim[nterms] = dim;
      term_coef[nterms++] = from->ranks[r].coef[i];
    }
    terms[r + 1] = nterms;
  }
  *a = (nst_sim_access){.tensor = t,
                        .nranks = nranks,
                        .offset = offset,
                        .ndims = ndims,
                        .dims = dims,
                        .coef = coef,
                        .terms = terms,
                        .term_dim = term_dim,
                        .term_coef = term_coef,
                        .value = NST_NEW_ARRAY(arena, nranks, int64_t)};
}

static void collect_element(nst_sim_tensor *t, const int64_t *value, uint32_t mark, nst_sim_list *out) {
  int32_t id = nst_sim_element(t, value);
  if (id < 0 || t->fresh[id] == mark) return;
  t->fresh[id] = mark;
  nst_sim_list_push(out, id);
}

/* Dimensions 0 .. d are still to be tried; value[] holds what the others contribute. */
static void collect(const nst_sim_access *a, int d, const int64_t *lo, const int64_t *hi, int64_t *value, uint32_t mark,
                    nst_sim_list *out) {
  if (d < 0) {
    collect_element(a->tensor, value, mark, out);
    return;
  }
  const int64_t *coef = a->coef + d * a->nranks;
  int64_t from = lo[a->dims[d]], to = hi[a->dims[d]];
  for (int r = 0; r < a->nranks; r++) value[r] += coef[r] * from;
  for (int64_t x = from; x < to; x++) {
    if (d > 0)
      collect(a, d - 1, lo, hi, value, mark, out);
    else
      collect_element(a->tensor, value, mark, out);
    for (int r = 0; r < a->nranks; r++) value[r] += coef[r];
  }
  for (int r = 0; r < a->nranks; r++) value[r] -= coef[r] * to;
}

void nst_sim_access_collect(const nst_sim_access *a, const int64_t *lo, const int64_t *hi, uint32_t mark,
                            nst_sim_list *out) {
  for (int r = 0; r < a->nranks; r++) a->value[r] = a->offset[r];
  collect(a, a->ndims - 1, lo, hi, a->value, mark, out);
}
