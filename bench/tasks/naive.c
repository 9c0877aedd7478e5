/* Costs by wrong beliefs: one walk over the nodes of a mapping, which looks at each keep of the middle memory. */
#include "bench/tasks/naive.h"

typedef struct {
  int dim;
  int64_t tile, trips;
} loop;
typedef struct {
  const nst_draft *d;
  const nst_draft_mapping *m;
  const int64_t *params;
  nst_belief belief;
  loop loops[NST_DRAFT_NODES];
  int n, above;  /* loops down to here; of them, so many above the branch */
  int statement; /* of the branch, -1: above it */
} walk;

static int64_t ceildiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static void add_loop(walk *w, const nst_draft_node *node) {
  const int64_t extent = nst_draft_extent(w->d, w->m, node->dim, w->params),
                value = nst_draft_tile_value(w->m, node->tile, w->params);
  int64_t tile = node->into ? ceildiv(extent, value) : value;
  if (tile > extent) tile = extent;
  w->loops[w->n++] = (loop){node->dim, tile, ceildiv(extent, tile)};
}

static loop loop_over(const walk *w, int dim) {
  for (int i = 0; i < w->n; i++)
    if (w->loops[i].dim == dim) return w->loops[i];
  return (loop){dim, nst_draft_extent(w->d, w->m, dim, w->params), 1};
}

/* The bounding box of the largest tile. */
static int64_t box(const walk *w, int tensor) {
  int64_t product = 1;
  for (int k = 0; k < w->d->tensors[tensor].nranks; k++) {
    const nst_draft_rank *rank = &w->d->tensors[tensor].ranks[k];
    int64_t size = 1;
    for (int i = 0; i < 2 && rank->dim[i] >= 0; i++) size += rank->coef[i] * (loop_over(w, rank->dim[i]).tile - 1);
    product *= size;
  }
  return product;
}

/* All tiles together, each loaded once: boxes cut at the end, or full ones. */
static int64_t all_tiles(const walk *w, int tensor) {
  int64_t product = 1;
  for (int k = 0; k < w->d->tensors[tensor].nranks; k++) {
    const nst_draft_rank *rank = &w->d->tensors[tensor].ranks[k];
    const loop a = loop_over(w, rank->dim[0]), b = rank->dim[1] >= 0 ? loop_over(w, rank->dim[1]) : (loop){-1, 1, 1};
    const int64_t p = nst_draft_extent(w->d, w->m, rank->dim[0], w->params),
                  r = rank->dim[1] >= 0 ? nst_draft_extent(w->d, w->m, rank->dim[1], w->params) : 1;
    if (w->belief == NST_BELIEF_BOXES)
      product *= a.trips * b.trips * (rank->coef[0] * (a.tile - 1) + rank->coef[1] * (b.tile - 1) + 1);
    else
      product *= b.trips * rank->coef[0] * (p - a.trips) + a.trips * rank->coef[1] * (r - b.trips) + a.trips * b.trips;
  }
  return product;
}

/* How often all tiles are loaded. */
static int64_t rounds(const walk *w, int tensor) {
  const unsigned own = nst_draft_tensor_dims(w->d, tensor);
  int64_t product = 1;
  bool active = false;
  for (int i = w->n; i-- > 0;) {
    if (own >> w->loops[i].dim & 1)
      active |= w->loops[i].trips > 1;
    else if (active || i < w->above || w->belief == NST_BELIEF_NO_REUSE)
      product *= w->loops[i].trips;
  }
  return product;
}

typedef struct {
  int64_t reads, updates;
  bool kept;
} costs;

/* Adds what the keep of a tensor costs at the walk's place. */
static void add_keep(const walk *w, costs *c, int tensor) {
  const nst_draft_tensor *t = &w->d->tensors[tensor];
  const bool between = t->producer >= 0 && t->consumed,
             writes = t->producer >= 0 && (w->statement < 0 || w->statement == t->producer);
  c->kept = true;
  if (w->d->nstatements > 1 && between && w->statement < 0) return; /* it never leaves the chip */
  const int64_t all = all_tiles(w, tensor), n = rounds(w, tensor);
  if (!writes)
    c->reads += all * n;
  else {
    c->updates += all * n;
    c->reads += all * (n - 1);
  }
}

static costs visit(walk *w, int tensor, int64_t *usage_bits) {
  costs c = {0};
  const int middle = nst_draft_next_memory(w->d, 0);
  int64_t shared = 0, branch = 0, largest = 0;
  w->n = w->above = 0;
  w->statement = -1;
  int n_shared = 0;
  for (int i = 0; i < w->m->nnodes; i++) {
    const nst_draft_node *node = &w->m->nodes[i];
    switch (node->kind) {
    case NST_NODE_FOR: add_loop(w, node); break;
    case NST_NODE_SEQ: n_shared = w->n; break;
    case NST_NODE_DO:
      w->n = w->above = n_shared;
      w->statement = __builtin_ctz(node->statements);
      branch = 0;
      break;
    case NST_NODE_KEEP:
      if (node->level != middle) break;
      for (int t = 0; t < w->d->ntensors; t++) {
        if (!(node->tensors >> t & 1)) continue;
        if (t == tensor) add_keep(w, &c, t);
        *(w->statement < 0 ? &shared : &branch) += box(w, t) * w->d->tensors[t].bits;
      }
      if (branch > largest) largest = branch;
      break;
    case NST_NODE_PAR:
    case NST_NODE_END:
    case NST_NODE_COMPUTE: break;
    }
  }
  if (usage_bits) *usage_bits = (shared + largest) * (w->d->levels[middle].double_buffered ? 2 : 1);
  return c;
}

int64_t nst_naive_value(const nst_draft *d, const nst_draft_mapping *m, const nst_draft_quantity *q, nst_belief belief,
                        const int64_t *params) {
  walk w = {.d = d, .m = m, .params = params, .belief = belief};
  const int middle = nst_draft_next_memory(d, 0);
  int64_t bits = 0;
  switch (q->measure) {
  case NST_MEASURE_READS:
  case NST_MEASURE_UPDATES: {
    const costs c = visit(&w, q->tensor, NULL);
    if (q->level != 0 || !c.kept) return -1;
    return q->measure == NST_MEASURE_READS ? c.reads : c.updates;
  }
  case NST_MEASURE_USAGE:
    if (q->level != middle) return -1;
    visit(&w, -1, &bits);
    return ceildiv(bits, 8);
  case NST_MEASURE_OFFCHIP:
    for (int t = 0; t < d->ntensors; t++) {
      const costs c = visit(&w, t, NULL);
      if (!c.kept) return -1;
      bits += (c.reads + c.updates) * d->tensors[t].bits;
    }
    return ceildiv(bits, 8);
  case NST_MEASURE_FILLS:
  case NST_MEASURE_DRAINS:
  case NST_MEASURE_TILE:
  case NST_MEASURE_TRAFFIC:
  case NST_MEASURE_CYCLES:
  case NST_MEASURE_COUNT: break;
  }
  return -1;
}
