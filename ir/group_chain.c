/* The splits of one dimension, walked by classes.
 *
 * The tiles of a chain of splits fall into a few classes (full, cut, cut within
 * cut), so the contexts of a dimension (the values of its TIME and PARENT
 * indices) are walked class by class: a range of indices in which every
 * sibling's tile has the same lengths is one step of the walk, however long.
 * Where the places matter (an edge of a declared shape) the range becomes a
 * progression instead of a factor.
 *
 * A sibling's earlier tile is that of its latest step with work. Behind a split
 * that falls back to its first index, that is the last index with work; which
 * one it is depends on the par indices further in, so a sibling carries a short
 * list of candidates, latest first, and drops those that turn out empty. A
 * candidate at least as long as the present tile is never empty and ends the
 * list, so the list is never longer than the chain. */
#include "ir/group.h"
#include <stdlib.h>

void nst_ints_need(nst_ints *s, size_t more) {
  size_t cap = s->cap ? s->cap : 32;
  while (cap < s->len + more) cap *= 2;
  if (cap == s->cap) return;
  int64_t *v = realloc(s->v, cap * sizeof *v);
  if (!v) nst_out_of_memory();
  s->v = v;
  s->cap = cap;
}

/* A sibling under way, in the work stack: lo, len, number of candidates, then (lo, len) of each. */
enum { LO, LEN, NCAND, CAND };
typedef struct {
  const nst_chain *c;
  nst_contexts *out;
  nst_ints *work, *progs; /* the siblings under way; the progressions under way */
  const nst_group_scratch *s;
  size_t stride;
} walker;

static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

/* The sibling at work[from], moved to index v of tiles of `tile`, appended; false if it has no work there. */
static bool push_moved(walker *w, size_t from, int64_t v, int64_t tile) {
  nst_ints_need(w->work, w->stride);
  const int64_t *old = w->work->v + from;
  int64_t *to = w->work->v + w->work->len;
  int64_t len = min64(old[LEN] - v * tile, tile);
  if (len <= 0) return false;
  to[LO] = old[LO] + v * tile;
  to[LEN] = len;
  to[NCAND] = 0;
  for (int64_t k = 0; k < old[NCAND]; k++) {
    int64_t clen = min64(old[CAND + 2 * k + 1] - v * tile, tile);
    if (clen <= 0) continue;
    int64_t *cand = to + CAND + 2 * to[NCAND]++;
    cand[0] = old[CAND + 2 * k] + v * tile;
    cand[1] = clen;
    if (clen >= len) break;
  }
  w->work->len += w->stride;
  return true;
}

static int compare_ints(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static nst_group_status walk(walker *w, int i, size_t base, size_t n, int64_t mult);

/* One index v (of a range of `count` that look alike) for all siblings at once; step: one on from the index before. */
static nst_group_status walk_index(walker *w, int i, size_t base, size_t n, int64_t mult, int64_t v, int64_t count,
                                   bool step) {
  int64_t tile = w->c->splits[i].tile;
  size_t top = w->work->len, m = 0;
  if (!nst_group_spend(w->s, 1 + (int64_t)n)) return NST_GROUP_TOO_LARGE;
  for (size_t k = 0; k < n; k++) {
    size_t to = w->work->len;
    if (!push_moved(w, base + k * w->stride, v, tile)) continue;
    if (step && w->c->before) { /* index v is not the first, so the tile before it is full */
      int64_t *sib = w->work->v + to;
      sib[NCAND] = 1;
      sib[CAND] = sib[LO] - tile;
      sib[CAND + 1] = tile;
    }
    m++;
  }
  nst_group_status status = NST_GROUP_OK;
  if (m) {
    if (w->c->places && count > 1) {
      nst_ints_push(w->progs, tile);
      nst_ints_push(w->progs, count);
      status = walk(w, i + 1, top, m, mult);
      w->progs->len -= 2;
    } else {
      status = walk(w, i + 1, top, m, mult * count);
    }
  }
  w->work->len = top;
  return status;
}

/* All indices (step: but the first), in ranges that look alike to every sibling. */
static nst_group_status walk_indices(walker *w, int i, size_t base, size_t n, int64_t mult, bool step) {
  int64_t tile = w->c->splits[i].tile, first = step ? 1 : 0;
  const int64_t *sib = w->work->v + base;
  if (n == 1 && (sib[NCAND] == 0 || (sib[NCAND] == 1 && sib[CAND + 1] == sib[LEN]))) {
    int64_t full = sib[LEN] / tile, rest = sib[LEN] % tile;
    nst_group_status status = NST_GROUP_OK;
    if (full > first) status = walk_index(w, i, base, n, mult, first, full - first, step);
    if (status == NST_GROUP_OK && rest && full >= first) status = walk_index(w, i, base, n, mult, full, 1, step);
    return status;
  }
  /* Breakpoints: where some length changes. They live in the work stack below what the walk pushes. */
  size_t at = w->work->len;
  int64_t previous = 0;
  for (size_t k = 0; k < n; k++) {
    for (int64_t j = -1; j < w->work->v[base + k * w->stride + NCAND]; j++) {
      sib = w->work->v + base + k * w->stride;
      int64_t len = j < 0 ? sib[LEN] : sib[CAND + 2 * j + 1];
      if (len == previous) continue;
      previous = len;
      nst_ints_push(w->work, len / tile);
      nst_ints_push(w->work, (len + tile - 1) / tile);
    }
  }
  nst_ints_push(w->work, first);
  size_t count = w->work->len - at;
  if (!nst_group_spend(w->s, 4 * (int64_t)count)) return NST_GROUP_TOO_LARGE;
  qsort(w->work->v + at, count, sizeof(int64_t), compare_ints);
  for (size_t k = 0; k + 1 < count; k++) {
    int64_t v0 = w->work->v[at + k], v1 = w->work->v[at + k + 1];
    if (v0 < first || v0 == v1) continue;
    nst_group_status status = walk_index(w, i, base, n, mult, v0, v1 - v0, step);
    if (status != NST_GROUP_OK) return status;
  }
  w->work->len = at;
  return NST_GROUP_OK;
}

/* The split falls back to its first index; before, each sibling was at its last with work. */
static nst_group_status walk_wrap(walker *w, int i, size_t base, size_t n, int64_t mult) {
  int64_t tile = w->c->splits[i].tile;
  size_t top = w->work->len;
  for (size_t k = 0; k < n; k++) {
    nst_ints_need(w->work, w->stride);
    const int64_t *old = w->work->v + base + k * w->stride;
    int64_t *to = w->work->v + w->work->len;
    to[LO] = old[LO];
    to[LEN] = min64(old[LEN], tile);
    to[NCAND] = 0;
    for (int64_t c = 0; c < old[NCAND]; c++) {
      int64_t lo = old[CAND + 2 * c], len = old[CAND + 2 * c + 1], last = (len - 1) / tile;
      int64_t *cand = to + CAND + 2 * to[NCAND]++;
      cand[0] = lo + last * tile;
      cand[1] = len - last * tile;
      if (cand[1] >= to[LEN]) break;
      if (!last) continue;
      cand = to + CAND + 2 * to[NCAND]++;
      cand[0] = lo + (last - 1) * tile;
      cand[1] = tile;
      break;
    }
    w->work->len += w->stride;
  }
  nst_group_status status = walk(w, i + 1, top, n, mult);
  w->work->len = top;
  return status;
}

static nst_group_status walk_siblings(walker *w, int i, size_t base, size_t n, int64_t mult) {
  int64_t tile = w->c->splits[i].tile;
  size_t top = w->work->len, m = 0;
  for (size_t k = 0; k < n; k++)
    for (int64_t v = 0; push_moved(w, base + k * w->stride, v, tile); v++)
      if (++m > NST_SIBLINGS_LIMIT || !nst_group_spend(w->s, 1)) return NST_GROUP_TOO_LARGE;
  nst_group_status status = walk(w, i + 1, top, m, mult);
  w->work->len = top;
  return status;
}

static void emit(walker *w, size_t base, size_t n, int64_t mult) {
  nst_contexts *out = w->out;
  if (out->len == out->cap) {
    out->cap = out->cap ? 2 * out->cap : 16;
    nst_context *items = realloc(out->items, out->cap * sizeof *items);
    if (!items) nst_out_of_memory();
    out->items = items;
  }
  if (out->nsiblings + n > out->siblings_cap) {
    out->siblings_cap = 2 * (out->nsiblings + n);
    nst_span_pair *siblings = realloc(out->siblings, out->siblings_cap * sizeof *siblings);
    if (!siblings) nst_out_of_memory();
    out->siblings = siblings;
  }
  const nst_ints *progs = w->progs;
  out->items[out->len++] = (nst_context){mult, out->nsiblings, n, out->progs.len / 2, progs->len / 2};
  for (size_t k = 0; k < progs->len; k++) nst_ints_push(&out->progs, progs->v[k]);
  for (size_t k = 0; k < n; k++) {
    const int64_t *sib = w->work->v + base + k * w->stride;
    out->siblings[out->nsiblings++] = (nst_span_pair){sib[LO], sib[LEN], sib[CAND], sib[NCAND] ? sib[CAND + 1] : 0};
  }
}

static nst_group_status walk(walker *w, int i, size_t base, size_t n, int64_t mult) {
  const nst_chain *c = w->c;
  if (!nst_group_spend(w->s, 2 + 2 * (int64_t)n)) return NST_GROUP_TOO_LARGE;
  if (i == c->nsplits) {
    emit(w, base, n, mult);
    return NST_GROUP_OK;
  }
  const nst_chain_split *s = &c->splits[i];
  switch (s->kind) {
  case NST_SPLIT_TIME:
    if (s->time < c->cut) return walk_indices(w, i, base, n, mult, false);
    if (s->time == c->cut && c->advance) return walk_indices(w, i, base, n, mult, true);
    return walk_wrap(w, i, base, n, mult);
  case NST_SPLIT_PARENT: return walk_indices(w, i, base, n, mult, false);
  case NST_SPLIT_SIBLING:
    if (c->siblings == NST_SIBLINGS_LIST) return walk_siblings(w, i, base, n, mult);
    if (c->siblings == NST_SIBLINGS_SUM) return walk_indices(w, i, base, n, mult, false);
    return walk_index(w, i, base, n, mult, 0, 1, false);
  }
  return NST_GROUP_OK;
}

nst_group_status nst_chain_walk(const nst_chain *c, nst_contexts *out, nst_group_scratch *s) {
  nst_ints *work = &s->work, *progs = &s->stack;
  walker w = {c, out, work, progs, s, CAND + 2 * ((size_t)c->nsplits + 2)};
  out->len = 0;
  out->nsiblings = 0;
  out->progs.len = 0;
  work->len = progs->len = 0;
  nst_ints_need(work, w.stride);
  int64_t *root = work->v;
  root[LO] = 0;
  root[LEN] = c->extent;
  root[NCAND] = c->before ? 1 : 0;
  root[CAND] = 0;
  root[CAND + 1] = c->extent;
  work->len = w.stride;
  return walk(&w, 0, 0, 1, 1);
}
