/* Components of one dimension.
 *
 * A dimension that the tensor does not use holds one point wherever it has
 * work, so its columns count contexts. A dimension that it uses alone is as
 * good as its coordinates: splits of one dimension never overlap, so a union
 * over siblings is a sum, and an element stays exactly where the tile before is
 * the same tile. Elements outside a declared shape are coordinates outside
 * [lo, hi).
 *
 * Where only lengths matter, tiles are kept as a few classes (length, number):
 * all full tiles are one class. Places matter at the edge of a shape, and where
 * a par lies inside a loop that falls back (the last tile with work differs from
 * instance to instance): there the chain is walked. */
#include "ir/group.h"
#include "ir/plan.h"

nst_chain nst_component_chain(const nst_component *c, int d, nst_column col) {
  nst_chain chain = {.extent = c->extents[d], .splits = c->splits[d], .nsplits = c->nsplits[d],
                     .cut = col.cut, .siblings = NST_SIBLINGS_LIST};
  switch (col.kind) {
  case NST_COLUMN_ALL: chain.cut = c->ntimes; break;
  case NST_COLUMN_MAX:
    chain.cut = c->ntimes;
    chain.siblings = NST_SIBLINGS_SUM;
    break;
  case NST_COLUMN_KEPT:
  case NST_COLUMN_OLD:
  case NST_COLUMN_STAY:
    chain.before = true;
    chain.advance = col.advance;
    break;
  case NST_COLUMN_FIRST: chain.cut = 0; break;
  }
  return chain;
}

/* Tiles by length. A split makes one class of full tiles and at most one rest of each class before. */
typedef struct { int64_t len, n; } tile_class;
typedef struct { tile_class at[NST_PLAN_MAX_PATH + 2]; int n; } classes; /* at most one more than splits */

/* Every index of a split (but: all but the first). Where `before`, the tile before index v stands for it: full. */
static void every_tile(classes *k, int64_t tile, bool step, bool before) {
  int64_t full = 0;
  int n = 0;
  for (int i = 0; i < k->n; i++) {
    tile_class c = k->at[i];
    int64_t q = c.len / tile, rest = c.len % tile;
    if (step && before) {
      full += c.n * (q + (rest > 0) - 1);
      continue;
    }
    full += c.n * (step && q ? q - 1 : q);
    if (rest && !(step && !q)) k->at[n++] = (tile_class){rest, c.n};
  }
  if (full) k->at[n++] = (tile_class){tile, full};
  k->n = n;
}

typedef enum { FALL_TO_FIRST, FALL_FROM_LAST, FALL_NOWHERE } fall; /* the tile now; the tile before; both the same */

static void fallen_tile(classes *k, int64_t tile, fall how) {
  int n = 0;
  for (int i = 0; i < k->n; i++) {
    tile_class c = k->at[i];
    if (c.len > tile) {
      if (how == FALL_NOWHERE) continue;
      c.len = how == FALL_TO_FIRST ? tile : c.len - (c.len - 1) / tile * tile;
    }
    k->at[n++] = c;
  }
  k->n = n;
}

/* The classes of a chain; first_sibling: the first sibling stands for all. */
static void classify(classes *k, const nst_chain *chain, fall how, bool first_sibling) {
  k->n = 1;
  k->at[0] = (tile_class){chain->extent, 1};
  for (int i = 0; i < chain->nsplits; i++) {
    const nst_chain_split *s = &chain->splits[i];
    if (s->kind == NST_SPLIT_TIME && s->time >= chain->cut) {
      if (s->time == chain->cut && chain->advance) every_tile(k, s->tile, true, how == FALL_FROM_LAST);
      else fallen_tile(k, s->tile, how);
    } else if (s->kind == NST_SPLIT_SIBLING && first_sibling) {
      fallen_tile(k, s->tile, FALL_TO_FIRST);
    } else {
      every_tile(k, s->tile, false, false);
    }
  }
}

static int64_t unused_column(const nst_component *c, nst_column col) {
  if (col.kind == NST_COLUMN_MAX) return 1;
  nst_chain chain = nst_component_chain(c, 0, col);
  classes k;
  classify(&k, &chain, FALL_TO_FIRST, true);
  int64_t sum = 0;
  for (int i = 0; i < k.n; i++) sum += k.at[i].n;
  return sum;
}

/* Does a par lie inside a split that falls back or steps? Then each instance has an earlier tile of its own. */
static bool par_inside(const nst_chain *chain) {
  bool behind = false;
  for (int i = 0; i < chain->nsplits; i++) {
    const nst_chain_split *s = &chain->splits[i];
    if (s->kind == NST_SPLIT_TIME) behind = behind || s->time >= chain->cut;
    else if (behind) return true;
  }
  return false;
}

static int64_t overlap(int64_t lo, int64_t hi, const nst_component *c) {
  if (c->clipped && lo < c->lo) lo = c->lo;
  if (c->clipped && hi > c->hi) hi = c->hi;
  return hi > lo ? hi - lo : 0;
}

/* Walks the chain and adds up (MAX: takes the largest of) what exists of each tile. */
static nst_group_status walked_column(const nst_component *c, const nst_chain *chain, nst_column_kind kind,
                                      int64_t *out, nst_group_scratch *s) {
  nst_contexts *contexts = &s->contexts[0];
  bool stays = kind == NST_COLUMN_KEPT || kind == NST_COLUMN_STAY, old = kind == NST_COLUMN_OLD;
  nst_group_status status = nst_chain_walk(chain, contexts, s);
  for (size_t i = 0; i < contexts->len && status == NST_GROUP_OK; i++) {
    const nst_context *x = &contexts->items[i];
    const nst_span_pair *tile = &contexts->siblings[x->sibling];
    if (stays && tile->lo != tile->plo) continue;
    int64_t lo = old ? tile->plo : tile->lo, len = old ? tile->plen : tile->len, here = len;
    if (c->clipped) {
      s->runs.len = s->progs.len = 0;
      nst_ints_push(&s->runs, lo);
      nst_ints_push(&s->runs, len);
      for (size_t p = 0; p < 2 * x->nprogs; p++) nst_ints_push(&s->progs, contexts->progs.v[2 * x->prog + p]);
      status = (kind == NST_COLUMN_MAX ? nst_clip_max : nst_clip_sum)(&here, &s->runs, 1, &s->progs, c->lo, c->hi, s);
    }
    if (kind != NST_COLUMN_MAX) *out += x->mult * here;
    else if (here > *out) *out = here;
  }
  return status;
}

nst_group_status nst_single_column(const nst_component *c, nst_column col, int64_t *out, nst_group_scratch *s) {
  if (!nst_group_spend(s, 2 + (int64_t)c->nsplits[0] * (1 + c->nsplits[0] / 8))) return NST_GROUP_TOO_LARGE;
  if (c->kind == NST_COMPONENT_UNUSED) {
    *out = unused_column(c, col);
    return NST_GROUP_OK;
  }
  *out = 0;
  bool stays = col.kind == NST_COLUMN_KEPT || col.kind == NST_COLUMN_STAY;
  if (stays && col.advance) return NST_GROUP_OK;
  if (col.kind == NST_COLUMN_ALL || col.kind == NST_COLUMN_FIRST ||
      (col.kind != NST_COLUMN_MAX && !col.advance && col.cut == c->ntimes)) {
    *out = overlap(0, c->extents[0], c);
    return NST_GROUP_OK;
  }
  nst_chain chain = nst_component_chain(c, 0, col);
  chain.siblings = NST_SIBLINGS_SUM;
  chain.places = c->clipped;
  if (c->clipped || (col.kind != NST_COLUMN_MAX && par_inside(&chain)))
    return walked_column(c, &chain, col.kind, out, s);
  if (col.kind == NST_COLUMN_MAX) {
    *out = chain.extent;
    for (int i = 0; i < chain.nsplits; i++)
      if (chain.splits[i].tile < *out) *out = chain.splits[i].tile;
    return NST_GROUP_OK;
  }
  classes k;
  classify(&k, &chain, stays ? FALL_NOWHERE : FALL_FROM_LAST, false);
  for (int i = 0; i < k.n; i++) *out += k.at[i].n * k.at[i].len;
  return NST_GROUP_OK;
}
