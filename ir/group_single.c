/* Components of one dimension.
 *
 * A dimension that the tensor does not use holds one point wherever it has
 * work, so its columns count contexts. A dimension that it uses alone is as
 * good as its coordinates: splits of one dimension never overlap, so a union
 * over siblings is a sum, and an element stays exactly where the tile before is
 * the same tile. Elements outside a declared shape are coordinates outside
 * [lo, hi). */
#include "ir/group.h"

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

static nst_group_status unused_column(const nst_component *c, nst_column col, int64_t *out, nst_group_scratch *s) {
  nst_chain chain = nst_component_chain(c, 0, col);
  chain.before = false;
  chain.siblings = NST_SIBLINGS_FIRST;
  *out = 1;
  if (col.kind == NST_COLUMN_MAX) return NST_GROUP_OK;
  nst_group_status status = nst_chain_walk(&chain, &s->contexts[0], &s->work, &s->stack);
  if (status != NST_GROUP_OK) return status;
  *out = 0;
  for (size_t i = 0; i < s->contexts[0].len; i++) *out += s->contexts[0].items[i].mult;
  return NST_GROUP_OK;
}

static int64_t overlap(int64_t lo, int64_t hi, const nst_component *c) {
  if (c->clipped && lo < c->lo) lo = c->lo;
  if (c->clipped && hi > c->hi) hi = c->hi;
  return hi > lo ? hi - lo : 0;
}

nst_group_status nst_single_column(const nst_component *c, nst_column col, int64_t *out, nst_group_scratch *s) {
  if (c->kind == NST_COMPONENT_UNUSED) return unused_column(c, col, out, s);
  *out = 0;
  if (col.kind == NST_COLUMN_ALL || col.kind == NST_COLUMN_FIRST || (!col.advance && col.cut == c->ntimes && col.kind != NST_COLUMN_MAX)) {
    *out = overlap(0, c->extents[0], c);
    return NST_GROUP_OK;
  }
  bool stays = col.kind == NST_COLUMN_KEPT || col.kind == NST_COLUMN_STAY;
  if (stays && col.advance) return NST_GROUP_OK;
  if (col.kind == NST_COLUMN_MAX && !c->clipped) {
    int64_t len = c->extents[0];
    for (int i = 0; i < c->nsplits[0]; i++)
      if (c->splits[0][i].tile < len) len = c->splits[0][i].tile;
    *out = len;
    return NST_GROUP_OK;
  }
  nst_chain chain = nst_component_chain(c, 0, col);
  chain.siblings = NST_SIBLINGS_SUM;
  chain.places = c->clipped;
  nst_contexts *contexts = &s->contexts[0];
  nst_group_status status = nst_chain_walk(&chain, contexts, &s->work, &s->stack);
  for (size_t i = 0; i < contexts->len && status == NST_GROUP_OK; i++) {
    const nst_context *x = &contexts->items[i];
    const nst_span_pair *tile = &contexts->siblings[x->sibling];
    if (stays && tile->lo != tile->plo) continue;
    int64_t lo = col.kind == NST_COLUMN_OLD ? tile->plo : tile->lo;
    int64_t len = col.kind == NST_COLUMN_OLD ? tile->plen : tile->len;
    if (!c->clipped) {
      *out += x->mult * len;
      continue;
    }
    s->runs.len = s->progs.len = 0;
    nst_ints_push(&s->runs, lo);
    nst_ints_push(&s->runs, len);
    for (size_t p = 0; p < 2 * x->nprogs; p++) nst_ints_push(&s->progs, contexts->progs.v[2 * x->prog + p]);
    int64_t here;
    if (col.kind == NST_COLUMN_MAX) {
      status = nst_clip_max(&here, &s->runs, 1, &s->progs, c->lo, c->hi, &s->listed);
      if (here > *out) *out = here;
    } else {
      status = nst_clip_sum(&here, &s->runs, 1, &s->progs, c->lo, c->hi, &s->listed);
      *out += x->mult * here;
    }
  }
  return status;
}
