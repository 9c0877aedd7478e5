/* Counting without reuse: every visit of a keep loads the whole tile of each tensor, and stores that of the output.
 * Tiles themselves are exact. */
#include "bench/scripted/belief.h"

#include <math.h>
#include <string.h>

typedef struct {
  int64_t low, high;
} range; /* low included, high not */
typedef struct {
  const nst_draft *d;
  const nst_draft_mapping *m;
  const nst_draft_statement *statement;
  const nst_draft_node *path[NST_DRAFT_NODES]; /* what stands above this statement, outermost first */
  int n, keeps;                                /* keeps: nodes up to the last keep */
  unsigned counted;                            /* tensors whose traffic above the branches is another statement's */
  int shared;                                  /* nodes above the branches */
  int64_t visits[NST_DRAFT_LEVELS][NST_DRAFT_TENSORS]; /* elements of all tiles that are visited */
} walk;

typedef struct {
  int64_t reads[NST_DRAFT_LEVELS][NST_DRAFT_TENSORS], updates[NST_DRAFT_LEVELS][NST_DRAFT_TENSORS],
    fills[NST_DRAFT_LEVELS][NST_DRAFT_TENSORS], drains[NST_DRAFT_LEVELS][NST_DRAFT_TENSORS];
} counters;

/* ---- tiles ---------------------------------------------------------------- */

/* The different values of a rank within its shape. Sizes are small: at most some hundreds. */
static int64_t rank_elements(const walk *w, const nst_draft_rank *rank, const range *box) {
  enum { MOST = 1024 };
  bool seen[MOST] = {false};
  const int64_t bound = rank->shape ? rank->shape * nst_draft_extent(w->d, w->m, rank->dim[0], NULL) : MOST;
  const range none = {0, 1}, second = rank->dim[1] >= 0 ? box[rank->dim[1]] : none;
  int64_t n = 0;
  for (int64_t a = box[rank->dim[0]].low; a < box[rank->dim[0]].high; a++)
    for (int64_t b = second.low; b < second.high; b++) {
      const int64_t at = rank->coef[0] * a + rank->coef[1] * b + rank->offset;
      if (at < 0 || at >= bound || at >= MOST || seen[at]) continue;
      seen[at] = true;
      n++;
    }
  return n;
}

static int64_t tile_elements(const walk *w, int tensor, const range *box) {
  int64_t n = 1;
  for (int k = 0; k < w->d->tensors[tensor].nranks; k++) n *= rank_elements(w, &w->d->tensors[tensor].ranks[k], box);
  return n;
}

/* ---- visiting ------------------------------------------------------------- */

static void visit(walk *w, int at, range *box) {
  if (at == w->keeps) return;
  const nst_draft_node *node = w->path[at];
  if (node->kind == NST_NODE_KEEP) {
    for (int t = 0; t < w->d->ntensors; t++)
      if (node->level > 0 && node->tensors >> t & 1 && !(at < w->shared && w->counted >> t & 1))
        w->visits[node->level][t] += tile_elements(w, t, box);
    visit(w, at + 1, box);
    return;
  }
  const range whole = box[node->dim];
  const int64_t extent = whole.high - whole.low;
  int64_t tile = nst_draft_tile_value(w->m, node->tile, NULL);
  if (node->kind == NST_NODE_PAR && !tile) {
    const int64_t places = w->d->levels[node->level].places[node->axis];
    tile = (extent + places - 1) / places;
  } else if (node->into && tile > 0)
    tile = (extent + tile - 1) / tile;
  if (tile <= 0) tile = 1;
  for (int64_t low = whole.low; low < whole.high; low += tile) {
    box[node->dim] = (range){low, low + tile < whole.high ? low + tile : whole.high};
    visit(w, at + 1, box);
  }
  box[node->dim] = whole;
}

/* Loops and keeps above one statement. */
static void make_path(walk *w, int statement) {
  bool inside = false, mine = true;
  for (int i = 0; i < w->m->nnodes; i++) {
    const nst_draft_node *node = &w->m->nodes[i];
    switch (node->kind) {
    case NST_NODE_SEQ: inside = true, mine = false, w->shared = w->n; break;
    case NST_NODE_DO: mine = node->statements >> statement & 1; break;
    case NST_NODE_END: mine = !inside; break;
    case NST_NODE_FOR:
    case NST_NODE_PAR:
    case NST_NODE_KEEP:
      if (!mine) break;
      w->path[w->n++] = node;
      if (node->kind == NST_NODE_KEEP) w->keeps = w->n;
      break;
    case NST_NODE_COMPUTE: break;
    }
  }
}

/* From visits to transfers: a keep's parent is the next one outwards that holds the tensor, else the outermost memory.
 */
static void add_tensor(counters *c, const walk *w, int tensor, bool output, int64_t size, int64_t operations) {
  const bool adds = strcmp(w->statement->op, "=") != 0;
  int parent = 0;
  bool shared = true; /* the parent's side of what stands above the branches is counted once */
  for (int i = 0; i < w->keeps; i++) {
    const nst_draft_node *node = w->path[i];
    if (node->kind != NST_NODE_KEEP || node->level == 0 || !(node->tensors >> tensor & 1)) continue;
    const int64_t n = w->visits[node->level][tensor], back = output && adds && n > size ? n - size : 0;
    shared = i < w->shared && w->counted >> tensor & 1;
    if (!shared && output) {
      c->updates[parent][tensor] += n;
      c->drains[node->level][tensor] += n;
      c->reads[parent][tensor] += back;
      c->fills[node->level][tensor] += back;
    } else if (!shared) {
      c->reads[parent][tensor] += n;
      c->fills[node->level][tensor] += n;
    }
    parent = node->level;
  }
  if (output) c->updates[parent][tensor] += operations;
  c->reads[parent][tensor] += !output ? operations : adds ? operations - size : 0;
}

static void count(counters *c, const nst_draft *d, const nst_draft_mapping *m) {
  unsigned counted = 0;
  for (int s = 0; s < d->nstatements; s++) {
    walk w = {.d = d, .m = m, .statement = &d->statements[s], .counted = counted};
    make_path(&w, s);
    range box[NST_DRAFT_DIMS];
    int64_t operations = 1;
    for (int dim = 0; dim < d->ndims; dim++) {
      const bool used = w.statement->dims >> dim & 1;
      box[dim] = (range){0, nst_draft_extent(d, m, dim, NULL)};
      if (used) operations *= box[dim].high;
    }
    range whole[NST_DRAFT_DIMS];
    memcpy(whole, box, sizeof whole);
    visit(&w, 0, box);
    unsigned tensors = 1u << w.statement->out;
    for (int i = 0; i < w.statement->ninputs; i++) tensors |= 1u << w.statement->inputs[i];
    for (int t = 0; t < d->ntensors; t++)
      if (tensors >> t & 1) add_tensor(c, &w, t, t == w.statement->out, tile_elements(&w, t, whole), operations);
    counted |= tensors;
  }
}

/* ---- figures -------------------------------------------------------------- */

static double bytes(const nst_draft *d, const int64_t elements[NST_DRAFT_TENSORS]) {
  double sum = 0;
  for (int t = 0; t < d->ntensors; t++) sum += (double)elements[t] * d->tensors[t].bits / 8;
  return sum;
}

static int64_t traffic(const counters *c, const nst_draft *d, int level) {
  return (int64_t)ceil(bytes(d, c->reads[level]) + bytes(d, c->updates[level]));
}

static double transfer_cycles(const counters *c, const nst_draft *d, int l, const nestor_eval *eval) {
  const nst_draft_level *level = &d->levels[l];
  const int64_t instances = nestor_eval_level(eval, (size_t)l).instances;
  const double n = instances > 0 ? (double)instances : 1;
  const double read = (bytes(d, c->reads[l]) + bytes(d, c->drains[l])) / n,
               written = (bytes(d, c->fills[l]) + bytes(d, c->updates[l])) / n;
  if (level->bandwidth) return (read + written) / (double)level->bandwidth;
  return fmax(level->read_bandwidth ? read / (double)level->read_bandwidth : 0,
              level->write_bandwidth ? written / (double)level->write_bandwidth : 0);
}

static int64_t cycles(const counters *c, const nst_draft *d, const nestor_eval *eval) {
  double most = 0, rest = 0;
  for (int l = 0; l < d->nlevels; l++) {
    double own = 0;
    if (d->levels[l].kind == NST_DRAFT_MEMORY)
      own = transfer_cycles(c, d, l, eval);
    else if (d->levels[l].kind == NST_DRAFT_COMPUTE)
      own = (double)nestor_eval_metrics(eval).steps / (double)(d->levels[l].rate ? d->levels[l].rate : 1);
    if (d->levels[l].no_overlap)
      rest += own;
    else
      most = fmax(most, own);
  }
  return (int64_t)ceil(most + rest);
}

void nst_belief_reload(int64_t values[NST_DRAFT_QUANTITIES], const nst_draft *d, int m, const nestor_eval *eval) {
  counters c = {0};
  count(&c, d, &d->mappings[m]);
  for (int i = 0; i < d->nquantities; i++) {
    const nst_draft_quantity *q = &d->quantities[i];
    switch (q->measure) {
    case NST_MEASURE_READS: values[i] = c.reads[q->level][q->tensor]; break;
    case NST_MEASURE_UPDATES: values[i] = c.updates[q->level][q->tensor]; break;
    case NST_MEASURE_FILLS: values[i] = c.fills[q->level][q->tensor]; break;
    case NST_MEASURE_DRAINS: values[i] = c.drains[q->level][q->tensor]; break;
    case NST_MEASURE_TRAFFIC: values[i] = traffic(&c, d, q->level); break;
    case NST_MEASURE_OFFCHIP: values[i] = traffic(&c, d, 0); break;
    case NST_MEASURE_CYCLES: values[i] = cycles(&c, d, eval); break;
    case NST_MEASURE_TILE:
    case NST_MEASURE_USAGE:
    case NST_MEASURE_COUNT: break;
    }
  }
}
