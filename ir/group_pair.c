/* Components of one rank and two dimensions: sets {a*p + b*r}.
 *
 * After dividing by the gcd, the image of a box of x by y points is
 * { s + A*i + B*j : i < x, j < y }. It is written as runs of stride A, one for
 * each j, or one for each residue of j modulo A where x >= B (then runs of
 * neighbouring j join); or the same with the roles exchanged: whichever is
 * shorter for the boxes at hand. So a set costs at most max(A, B) runs unless
 * both a stride and a dilation are cut at once. Unions and differences over
 * siblings are taken on runs; contexts come in classes from the chains of the
 * two dimensions, so no cost grows with the extents. A lone box, the common
 * case, has closed forms: x*y - max(0, x-B) * max(0, y-A) elements. */
#include "ir/group.h"
#include <stdlib.h>

typedef struct {
  int64_t a, b;   /* coefficients over their gcd, signed */
  int64_t A, B;   /* their magnitudes */
  int64_t lo, hi; /* what exists, in reduced values */
  bool clipped;
} pair;

typedef struct { int64_t start, x, y; } box; /* x points of step A, y of step B */

static int64_t magnitude(int64_t v) { return v < 0 ? -v : v; }
static int64_t max64(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t min64(int64_t a, int64_t b) { return a < b ? a : b; }

static box box_of(const pair *p, int64_t lo0, int64_t len0, int64_t lo1, int64_t len1) {
  int64_t s0 = p->a > 0 ? p->a * lo0 : p->a * (lo0 + len0 - 1), s1 = p->b > 0 ? p->b * lo1 : p->b * (lo1 + len1 - 1);
  return (box){s0 + s1, len0, len1};
}

static int64_t box_size(const pair *p, box b) {
  return b.x * b.y - max64(0, b.x - p->B) * max64(0, b.y - p->A);
}

/* One interval without gaps? */
static bool box_dense(const pair *p, box b) {
  return (p->A == 1 && (b.x >= p->B || b.y == 1)) || (p->B == 1 && (b.y >= p->A || b.x == 1));
}

static int64_t runs_needed(int64_t A, int64_t B, int64_t x, int64_t y) { return x >= B ? min64(A, y) : y; }

/* A set under construction: triples (residue, first, end) of quotients modulo the stride. */
static void add_run(nst_ints *set, int64_t stride, int64_t start, int64_t count) {
  int64_t q = start / stride, r = start % stride;
  if (r < 0) {
    r += stride;
    q--;
  }
  nst_ints_push(set, r);
  nst_ints_push(set, q);
  nst_ints_push(set, q + count);
}

static bool add_box(nst_ints *set, const pair *p, box b, bool swap, nst_group_scratch *s) {
  int64_t A = swap ? p->B : p->A, B = swap ? p->A : p->B, x = swap ? b.y : b.x, y = swap ? b.x : b.y;
  int64_t n = runs_needed(A, B, x, y);
  s->listed += (uint64_t)n;
  /* Each run is made, sorted, and met with others. */
  if (s->listed > NST_EXPLICIT_LIMIT || !nst_group_spend(s, 4 + 4 * n)) return false;
  for (int64_t j = 0; j < n; j++)
    add_run(set, A, b.start + B * j, x >= B ? x + B * ((y - j + A - 1) / A - 1) : x);
  return true;
}

static int compare_runs(const void *u, const void *v) {
  const int64_t *a = u, *b = v;
  for (int k = 0; k < 2; k++)
    if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
  return 0;
}

/* Sorted, disjoint, joined. */
static void normalise(nst_ints *set) {
  bool sorted = true;
  for (size_t i = 3; i < set->len && sorted; i += 3) sorted = compare_runs(set->v + i - 3, set->v + i) <= 0;
  if (!sorted) qsort(set->v, set->len / 3, 3 * sizeof(int64_t), compare_runs);
  size_t n = 0;
  for (size_t i = 0; i < set->len; i += 3) {
    int64_t *to = set->v + n, *from = set->v + i;
    if (n && to[-3] == from[0] && from[1] <= to[-1]) {
      to[-1] = max64(to[-1], from[2]);
    } else {
      to[0] = from[0];
      to[1] = from[1];
      to[2] = from[2];
      n += 3;
    }
  }
  set->len = n;
}

static int64_t set_size(const nst_ints *set) {
  int64_t sum = 0;
  for (size_t i = 0; i < set->len; i += 3) sum += set->v[i + 2] - set->v[i + 1];
  return sum;
}

/* a without b, both normalised, appended to out. */
static void subtract(nst_ints *out, const nst_ints *a, const nst_ints *b) {
  size_t j = 0;
  for (size_t i = 0; i < a->len; i += 3) {
    int64_t r = a->v[i], lo = a->v[i + 1], hi = a->v[i + 2];
    while (j < b->len && (b->v[j] < r || (b->v[j] == r && b->v[j + 2] <= lo))) j += 3;
    for (size_t k = j; lo < hi && k < b->len && b->v[k] == r && b->v[k + 1] < hi; k += 3) {
      if (b->v[k + 1] > lo) {
        nst_ints_push(out, r);
        nst_ints_push(out, lo);
        nst_ints_push(out, b->v[k + 1]);
      }
      lo = max64(lo, b->v[k + 2]);
    }
    if (lo < hi) {
      nst_ints_push(out, r);
      nst_ints_push(out, lo);
      nst_ints_push(out, hi);
    }
  }
}

/* Everything about one pair of contexts. */
typedef struct {
  const nst_component *c;
  pair p;
  nst_column_kind kind;
  const nst_contexts *in[2];
  const nst_context *at[2];
  bool at_before; /* the contexts know earlier tiles */
  nst_group_scratch *s;
} leaf;

static box box_at(const leaf *l, size_t i, size_t j, bool before) {
  const nst_span_pair *u = &l->in[0]->siblings[l->at[0]->sibling + i], *v = &l->in[1]->siblings[l->at[1]->sibling + j];
  return before ? box_of(&l->p, u->plo, u->plen, v->plo, v->plen) : box_of(&l->p, u->lo, u->len, v->lo, v->len);
}

/* How the sets are best written: with runs of the second step? */
static bool choose_swap(const leaf *l) {
  int64_t plain = 0, swapped = 0;
  for (size_t i = 0; i < l->at[0]->nsiblings; i++)
    for (size_t j = 0; j < l->at[1]->nsiblings; j++)
      for (int before = 0; before < (l->at_before ? 2 : 1); before++) {
        box b = box_at(l, i, j, before);
        plain += runs_needed(l->p.A, l->p.B, b.x, b.y);
        swapped += runs_needed(l->p.B, l->p.A, b.y, b.x);
      }
  return swapped < plain;
}

/* The union of the siblings' tiles: dense neighbours of the first dimension are joined before the boxes are made. */
static bool union_of(nst_ints *set, const leaf *l, bool before, bool swap) {
  set->len = 0;
  for (size_t j = 0; j < l->at[1]->nsiblings; j++) {
    const nst_span_pair *v = &l->in[1]->siblings[l->at[1]->sibling + j];
    int64_t lo1 = before ? v->plo : v->lo, len1 = before ? v->plen : v->len;
    for (size_t i = 0; i < l->at[0]->nsiblings;) {
      const nst_span_pair *u = &l->in[0]->siblings[l->at[0]->sibling];
      int64_t lo0 = before ? u[i].plo : u[i].lo, len0 = before ? u[i].plen : u[i].len;
      for (i++; i < l->at[0]->nsiblings && (before ? u[i].plo : u[i].lo) == lo0 + len0; i++)
        len0 += before ? u[i].plen : u[i].len;
      if (!add_box(set, &l->p, box_of(&l->p, lo0, len0, lo1, len1), swap, l->s)) return false;
    }
  }
  normalise(set);
  return true;
}

/* The union of what each sibling has now (before: had) and had not before (has no longer). */
static bool changes(nst_ints *set, const leaf *l, bool before, bool swap) {
  nst_ints *has = &l->s->set[2], *had = &l->s->set[3];
  set->len = 0;
  for (size_t i = 0; i < l->at[0]->nsiblings; i++)
    for (size_t j = 0; j < l->at[1]->nsiblings; j++) {
      has->len = had->len = 0;
      if (!add_box(has, &l->p, box_at(l, i, j, before), swap, l->s) ||
          !add_box(had, &l->p, box_at(l, i, j, !before), swap, l->s))
        return false;
      normalise(has);
      normalise(had);
      subtract(set, has, had);
    }
  normalise(set);
  return true;
}

/* Size of a set at all the places of the two contexts. */
static nst_group_status measure(int64_t *out, const nst_ints *set, int64_t stride, const leaf *l) {
  if (!l->p.clipped) {
    *out = set_size(set);
    return NST_GROUP_OK;
  }
  nst_ints *runs = &l->s->runs, *progs = &l->s->progs;
  runs->len = progs->len = 0;
  for (size_t i = 0; i < set->len; i += 3) {
    nst_ints_push(runs, set->v[i] + stride * set->v[i + 1]);
    nst_ints_push(runs, set->v[i + 2] - set->v[i + 1]);
  }
  for (int d = 0; d < 2; d++)
    for (size_t p = 0; p < l->at[d]->nprogs; p++) {
      const int64_t *prog = l->in[d]->progs.v + 2 * (l->at[d]->prog + p);
      nst_ints_push(progs, prog[0] * (d ? l->p.b : l->p.a));
      nst_ints_push(progs, prog[1]);
    }
  return (l->kind == NST_COLUMN_MAX ? nst_clip_max : nst_clip_sum)(out, runs, stride, progs, l->p.lo, l->p.hi, l->s);
}

/* Elements that two boxes share, where a closed form is at hand; else -1. */
static int64_t shared(const pair *p, box a, box b) {
  if (a.start == b.start && a.x == b.x && a.y == b.y) return box_size(p, a);
  if (!box_dense(p, a) || !box_dense(p, b)) return -1;
  int64_t lo = max64(a.start, b.start), hi = min64(a.start + box_size(p, a), b.start + box_size(p, b));
  return max64(0, hi - lo);
}

static nst_group_status count_leaf(int64_t *out, const leaf *l) {
  bool before = l->kind == NST_COLUMN_OLD || l->kind == NST_COLUMN_STAY;
  bool stays = l->kind == NST_COLUMN_KEPT || l->kind == NST_COLUMN_STAY;
  bool lone = l->at[0]->nsiblings == 1 && l->at[1]->nsiblings == 1;
  if (!nst_group_spend(l->s, 2 + 2 * (int64_t)(l->at[0]->nsiblings * l->at[1]->nsiblings))) return NST_GROUP_TOO_LARGE;
  if (lone && !l->p.clipped) {
    box now = box_at(l, 0, 0, before);
    *out = stays ? shared(&l->p, now, box_at(l, 0, 0, !before)) : box_size(&l->p, now);
    if (*out >= 0) return NST_GROUP_OK;
  }
  bool swap = choose_swap(l);
  int64_t stride = swap ? l->p.B : l->p.A, all = 0, changed = 0;
  nst_ints *set = &l->s->set[0];
  if (!union_of(set, l, before, swap)) return NST_GROUP_TOO_LARGE;
  nst_group_status status = measure(&all, set, stride, l);
  if (stays && status == NST_GROUP_OK) {
    if (!changes(set, l, before, swap)) return NST_GROUP_TOO_LARGE;
    status = measure(&changed, set, stride, l);
  }
  *out = all - changed;
  return status;
}

static int64_t nominal(const nst_component *c, int d) {
  int64_t len = c->extents[d];
  for (int i = 0; i < c->nsplits[d]; i++) len = min64(len, c->splits[d][i].tile);
  return len;
}

/* Does every coordinate of the dimension have a time of its own? Two ways to one element differ in both dimensions,
 * so they never meet in time, and every element is first touched once. */
static bool one_by_one(const nst_component *c, int d) {
  for (int i = 0; i < c->nsplits[d]; i++)
    if (c->splits[d][i].kind != NST_SPLIT_TIME) return false;
  return nominal(c, d) == 1;
}

nst_group_status nst_pair_column(const nst_component *c, nst_column col, int64_t *out, nst_group_scratch *s) {
  *out = 0;
  pair p = {c->coefs[0], c->coefs[1], magnitude(c->coefs[0]), magnitude(c->coefs[1]), c->lo, c->hi, c->clipped};
  leaf l = {.c = c, .p = p, .kind = col.kind, .s = s};
  if (col.kind == NST_COLUMN_MAX && !l.p.clipped) {
    *out = box_size(&l.p, (box){0, nominal(c, 0), nominal(c, 1)});
    return NST_GROUP_OK;
  }
  if (col.kind == NST_COLUMN_FIRST && c->has_parents && !one_by_one(c, 0) && !one_by_one(c, 1))
    return nst_pair_first(c, out, s);
  for (int d = 0; d < 2; d++) {
    nst_chain chain = nst_component_chain(c, d, col);
    chain.places = l.p.clipped;
    l.at_before = chain.before;
    if (col.kind == NST_COLUMN_FIRST) chain.nsplits = 0; /* one box: every element has one first time */
    nst_group_status status = nst_chain_walk(&chain, &s->contexts[d], s);
    if (status != NST_GROUP_OK) return status;
    l.in[d] = &s->contexts[d];
  }
  for (size_t i = 0; i < l.in[0]->len; i++)
    for (size_t j = 0; j < l.in[1]->len; j++) {
      int64_t here;
      l.at[0] = &l.in[0]->items[i];
      l.at[1] = &l.in[1]->items[j];
      nst_group_status status = count_leaf(&here, &l);
      if (status != NST_GROUP_OK) return status;
      if (col.kind == NST_COLUMN_MAX) *out = max64(*out, here);
      else *out += l.at[0]->mult * l.at[1]->mult * here;
    }
  return NST_GROUP_OK;
}
