/* First touches of a PAIR whose dimensions are spread over parents.
 *
 * An element may be touched at its first time by several parents at once, so
 * first times have to be compared. Which ways lead to an element is a matter of
 * neighbourhood: coordinates that reach one element lie within a window as long
 * as the other dimension reaches. A stretch of many full tiles therefore counts
 * the same for every tile more, and the count is linear in the length of each
 * stretch (one factor for each level of splits). So long stretches are shortened
 * to a few tiles, the small group and its neighbours with one tile more are
 * counted element by element, and the count is extended from their differences:
 * exact, whatever the extents. Where both dimensions reach far, nothing can be
 * shortened and the group is listed as it is, up to NST_EXPLICIT_LIMIT. */
#include "ir/group.h"
#include <stdlib.h>
#include <string.h>

enum { CLASSES = 512, STRETCHES = 12 };

/* A class of tiles of one dimension: `full` tiles of the class full_tile (or, innermost, coordinates), then a rest, if
 * any. */
typedef struct {
  int level;
  int64_t len;
  int64_t full;
  int full_tile, rest;
  int stretch;
} tile_class;
typedef struct {
  const nst_chain_split *splits;
  int nsplits;
  tile_class classes[CLASSES];
  int n, root;
  int64_t lens[CLASSES];  /* of the shortened tiles */
  int64_t fulls[CLASSES]; /* their numbers of full tiles */
  int64_t *index;         /* per split */
} dimension;

typedef struct {
  int dim, split;
  int64_t count;
} axis;
typedef struct {
  const nst_component *c;
  dimension dims[2];
  int64_t longer[STRETCHES];
  int nstretches; /* tiles that each stretch was shortened by */
  int64_t base[STRETCHES];
  axis *axes;
  int naxes, ntimes, nparents;
  int64_t lo, hi, least; /* of the elements of the shortened group */
  uint8_t *marks;        /* per element: 1 touched before, 2 at this time, 4 by this parent */
  nst_ints *mine, *fresh;
  nst_group_scratch *s;
  int64_t first;
  bool too_large;
} toucher;

static int make_class(dimension *d, int level, int64_t len) {
  for (int i = 0; i < d->n; i++)
    if (d->classes[i].level == level && d->classes[i].len == len) return i;
  if (d->n == CLASSES) return -1;
  int k = d->n++;
  d->classes[k] = (tile_class){level, len, len, -1, -1, -1};
  if (level == d->nsplits) return k; /* its single coordinates */
  int64_t tile = d->splits[level].tile, rest = len % tile;
  d->classes[k].full = len / tile;
  if (len / tile && (d->classes[k].full_tile = make_class(d, level + 1, tile)) < 0) return -1;
  if (rest && (d->classes[k].rest = make_class(d, level + 1, rest)) < 0) return -1;
  return k;
}

/* Lengths from the inside out: classes of a level come after those that they lie in. */
static void set_lengths(toucher *t, dimension *d) {
  if (!nst_group_spend(t->s, (int64_t)d->n * (d->nsplits + 1) / 8)) t->too_large = true;
  for (int k = 0; k < d->n; k++)
    if (d->classes[k].level == d->nsplits) d->lens[k] = d->fulls[k];
  for (int level = d->nsplits - 1; level >= 0; level--)
    for (int k = 0; k < d->n; k++) {
      const tile_class *c = &d->classes[k];
      if (c->level != level) continue;
      d->lens[k] = (c->full ? d->fulls[k] * d->lens[c->full_tile] : 0) + (c->rest >= 0 ? d->lens[c->rest] : 0);
    }
}

/* Shortens stretches that are longer than a few windows. */
static void shorten(toucher *t, dimension *d, int64_t window) {
  for (int k = 0; k < d->n; k++) d->fulls[k] = d->classes[k].full;
  for (int level = d->nsplits; level >= 0; level--) {
    set_lengths(t, d);
    if (t->too_large) return;
    for (int k = 0; k < d->n; k++) {
      tile_class *c = &d->classes[k];
      if (c->level != level || !c->full || t->nstretches == STRETCHES) continue;
      int64_t keep = 2 * window / (c->full_tile < 0 ? 1 : d->lens[c->full_tile]) + 4;
      if (c->full <= keep + 1) continue;
      c->stretch = t->nstretches;
      t->base[t->nstretches] = keep;
      t->longer[t->nstretches++] = c->full - keep;
      d->fulls[k] = keep;
    }
  }
  set_lengths(t, d);
}

static bool locate(const dimension *d, int64_t *lo, int64_t *len) {
  int k = d->root;
  *lo = 0;
  for (int i = 0; i < d->nsplits; i++) {
    const tile_class *c = &d->classes[k];
    int64_t v = d->index[i];
    if (v > d->fulls[k] || (v == d->fulls[k] && c->rest < 0)) return false;
    *lo += c->full ? v * d->lens[c->full_tile] : 0;
    k = v < d->fulls[k] ? c->full_tile : c->rest;
  }
  *len = d->lens[k];
  return true;
}

static void touch_box(toucher *t) {
  int64_t lo[2], len[2];
  if (++t->s->listed > NST_EXPLICIT_LIMIT) t->too_large = true;
  if (!nst_group_spend(t->s, 2 + t->naxes)) t->too_large = true;
  if (!locate(&t->dims[0], &lo[0], &len[0]) || !locate(&t->dims[1], &lo[1], &len[1])) return;
  t->s->listed += (uint64_t)(len[0] * len[1]);
  if (t->s->listed > NST_EXPLICIT_LIMIT || !nst_group_spend(t->s, len[0] * len[1])) t->too_large = true;
  for (int64_t p = lo[0]; p < lo[0] + len[0] && !t->too_large; p++)
    for (int64_t r = lo[1]; r < lo[1] + len[1]; r++) {
      int64_t e = t->c->coefs[0] * p + t->c->coefs[1] * r;
      if (e < t->lo || e >= t->hi) continue;
      uint8_t *mark = &t->marks[e - t->least];
      if (*mark & 5) continue;
      if (!*mark) nst_ints_push(t->fresh, e - t->least);
      *mark |= 4 | 2;
      nst_ints_push(t->mine, e - t->least);
    }
}

static void touch(toucher *t, int k) {
  if (t->too_large) return;
  if (k == t->naxes) {
    touch_box(t);
  } else {
    const axis *a = &t->axes[k];
    for (int64_t v = 0; v < a->count && !t->too_large; v++) {
      t->dims[a->dim].index[a->split] = v;
      touch(t, k + 1);
    }
  }
  if (k == t->ntimes + t->nparents) { /* this parent is done at this time */
    t->first += (int64_t)t->mine->len;
    for (size_t i = 0; i < t->mine->len; i++) t->marks[t->mine->v[i]] &= (uint8_t)~4;
    t->mine->len = 0;
  }
  if (k == t->ntimes) { /* this time is */
    for (size_t i = 0; i < t->fresh->len; i++) t->marks[t->fresh->v[i]] = 1;
    t->fresh->len = 0;
  }
}

static int64_t most_tiles(const dimension *d, int level) {
  int64_t most = 1;
  for (int k = 0; k < d->n; k++)
    if (d->classes[k].level == level) {
      int64_t n = d->fulls[k] + (d->classes[k].rest >= 0);
      if (n > most) most = n;
    }
  return most;
}

/* First touches of the group as shortened, `more` saying which stretches are one tile longer. */
static int64_t count_first(toucher *t, unsigned more) {
  const nst_component *c = t->c;
  int64_t least = 0, span = 1, shorter = 0;
  for (int d = 0; d < 2; d++) {
    dimension *x = &t->dims[d];
    for (int k = 0; k < x->n; k++)
      if (x->classes[k].stretch >= 0)
        x->fulls[k] = t->base[x->classes[k].stretch] + (more >> x->classes[k].stretch & 1);
    set_lengths(t, x);
    int64_t reach = c->coefs[d] * (x->lens[x->root] - 1), was = c->coefs[d] * (c->extents[d] - 1);
    if (reach < 0) least += reach;
    span += reach < 0 ? -reach : reach;
    shorter += (was < 0 ? -was : was) - (reach < 0 ? -reach : reach);
  }
  /* An edge keeps its distance from the end that it is nearer to. */
  int64_t whole_least = 0;
  for (int d = 0; d < 2; d++) whole_least += c->coefs[d] < 0 ? c->coefs[d] * (c->extents[d] - 1) : 0;
  t->least = least;
  t->lo = least;
  t->hi = least + span;
  if (c->clipped && c->lo - whole_least > 0) t->lo = least + (c->lo - whole_least);
  if (c->clipped && c->hi - whole_least - shorter < span) t->hi = least + (c->hi - whole_least - shorter);
  for (int i = 0; i < t->naxes; i++) t->axes[i].count = most_tiles(&t->dims[t->axes[i].dim], t->axes[i].split);
  t->first = 0;
  if (span > NST_EXPLICIT_LIMIT || !nst_group_spend(t->s, span / 128)) t->too_large = true;
  t->marks = t->too_large ? NULL : calloc((size_t)span, 1);
  if (!t->too_large && !t->marks) nst_out_of_memory();
  touch(t, 0);
  free(t->marks);
  return t->first;
}

/* The multilinear function with these values at the corners 0 and 1, at the stretches' true lengths. */
static int64_t extend(const toucher *t, int64_t *corner) {
  for (int s = 0; s < t->nstretches; s++)
    for (unsigned m = 0; m < 1u << t->nstretches; m++)
      if (m >> s & 1) corner[m] -= corner[m ^ (1u << s)]; /* differences */
  int64_t sum = 0;
  for (unsigned m = 0; m < 1u << t->nstretches; m++) {
    int64_t product = corner[m];
    for (int s = 0; s < t->nstretches; s++)
      if (m >> s & 1) product *= t->longer[s];
    sum += product;
  }
  return sum;
}

static void add_axes(toucher *t, nst_split_kind kind, int time) {
  for (int d = 0; d < 2; d++)
    for (int i = 0; i < t->dims[d].nsplits; i++)
      if (t->dims[d].splits[i].kind == kind && (kind != NST_SPLIT_TIME || t->dims[d].splits[i].time == time))
        t->axes[t->naxes++] = (axis){d, i, 0};
}

/* Do the edges of the shape lie within a window of the ends (so that all of the middle exists)? */
static bool edges_at_ends(const nst_component *c, int d, int64_t window) {
  int64_t least = 0, most = 0;
  if (!c->clipped) return true;
  for (int k = 0; k < 2; k++) {
    int64_t reach = c->coefs[k] * (c->extents[k] - 1);
    if (reach < 0)
      least += reach;
    else
      most += reach;
  }
  int64_t a = c->coefs[d] < 0 ? -c->coefs[d] : c->coefs[d];
  return c->lo - least <= a * window && most + 1 - c->hi <= a * window;
}

nst_group_status nst_pair_first(const nst_component *c, int64_t *out, nst_group_scratch *s) {
  toucher *t = calloc(1, sizeof *t);
  int64_t window[2], *indices = calloc((size_t)(c->nsplits[0] + c->nsplits[1]) + 1, sizeof *indices);
  if (!t || !indices) nst_out_of_memory();
  *t = (toucher){.c = c, .mine = &s->set[0], .fresh = &s->set[1], .s = s};
  t->axes = calloc((size_t)(c->nsplits[0] + c->nsplits[1]) + 1, sizeof *t->axes);
  if (!t->axes) nst_out_of_memory();
  s->set[0].len = s->set[1].len = 0;
  bool good = true;
  for (int d = 0; d < 2; d++) {
    int64_t a = c->coefs[d] < 0 ? -c->coefs[d] : c->coefs[d],
            b = c->coefs[1 - d] < 0 ? -c->coefs[1 - d] : c->coefs[1 - d];
    dimension *x = &t->dims[d];
    x->splits = c->splits[d];
    x->nsplits = c->nsplits[d];
    x->index = indices + (d ? c->nsplits[0] : 0);
    x->root = make_class(x, 0, c->extents[d]);
    good = good && x->root == 0;
    window[d] = (int64_t)((nst_i128)b * (c->extents[1 - d] - 1) / a) + 2;
    for (int k = 0; k < x->n; k++) x->fulls[k] = x->classes[k].full;
  }
  /* The dimension that the other reaches less far into, for its length. */
  int shorter = (nst_i128)window[0] * c->extents[1] < (nst_i128)window[1] * c->extents[0] ? 0 : 1;
  if (good && edges_at_ends(c, shorter, window[shorter])) shorten(t, &t->dims[shorter], window[shorter]);
  for (int time = 0; time < c->ntimes; time++) add_axes(t, NST_SPLIT_TIME, time);
  t->ntimes = t->naxes;
  add_axes(t, NST_SPLIT_PARENT, 0);
  t->nparents = t->naxes - t->ntimes;
  add_axes(t, NST_SPLIT_SIBLING, 0);
  int64_t *corner = calloc((size_t)1 << t->nstretches, sizeof *corner);
  if (!corner) nst_out_of_memory();
  for (unsigned m = 0; m < 1u << t->nstretches && good && !t->too_large; m++) corner[m] = count_first(t, m);
  if (good && !t->too_large) *out = extend(t, corner);
  nst_group_status status = good && !t->too_large ? NST_GROUP_OK : NST_GROUP_TOO_LARGE;
  free(corner);
  free(indices);
  free(t->axes);
  free(t);
  return status;
}
