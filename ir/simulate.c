/* The simulator: the counting rules executed literally, for checking every
 * other engine.
 *
 * The idea: walk the tree of the mapping in time. A frame holds one box per
 * instance; a for narrows one dimension of all boxes and goes on inward once
 * per tile, a par replaces each instance by one per tile, a keep shows the
 * boxes to its slots, a seq runs its branches one after the other and ends the
 * life of what they kept, a compute runs what is left one operation at a time.
 *
 * Invariants: an instance is idle exactly while one of its intervals is empty,
 * and idle instances are touched by nothing. Steps in which none works change
 * nothing and are not entered. Instances are numbered by the indices of the
 * pars around them, outermost first, so those under one parent are neighbours.
 *
 * Choices that the rules leave open: the "first reader", to which traffic above
 * a shared keep belongs, is the first in the workload; reduce = false looks, in
 * each step, at the siblings that work in it; every memory has instances in
 * use, whether the mapping keeps something there or not.
 *
 * It shares no counting code with the analysis and knows no shortcut but one:
 * a tile is listed again only if its box changed. */
#include "ir/simulate.h"
#include <stdlib.h>
#include <string.h>

enum { INSTANCES_MAX = 1 << 20 };
static const uint64_t DEFAULT_LIMIT = UINT64_C(1) << 26;

/* What a loop must restore, and who works inside it. */
typedef struct {
  int64_t *lo, *hi; /* of its dimension, per instance, outside the loop */
  bool *works;
} sim_loop;

typedef struct {
  nst_arena *arena;
  const nst_nest *nest;
  const nst_ir_mapping *m;
  nst_counts *out;
  nst_diags *diags;
  sim_tensor *tensors;
  sim_access **access;    /* [nstmts]: its output, then its inputs */
  sim_slot *slots;        /* [nslots] */
  sim_operand **operands; /* [nstmts]: one per tensor it uses */
  int *noperands;
  bool **seen;     /* [nstmts][instances of the compute]: worked in some step */
  int **last_dims; /* [nstmts]: dimensions still wider than 1 at the compute, in order */
  int *nlast_dims;
  int64_t *lo, *hi; /* scratch: one box */
  sim_frame *wide;  /* [nnodes]: the frame inside each par */
  sim_loop *loops;  /* [nnodes], then [nstmts][ndims] of the implicit loops */
} sim;

static bool run_node(sim *s, const nst_ir_node *n, sim_frame *f);

/* ---- setting up ---- */

static int64_t nominal_width(const nst_nest *nest, const nst_ir_node *inside, int dim) {
  int64_t width = nest->extent[dim];
  /* Tiles of tiles: the narrowest split wins, since each is cut from the next one outside. */
  for (const nst_ir_node *n = inside; n; n = n->parent)
    if ((n->kind == NST_NODE_FOR || n->kind == NST_NODE_PAR) && n->dim == dim && nest->tile[n->id] < width)
      width = nest->tile[n->id];
  return width;
}

static const nst_ir_node *compute_of(const nst_ir_mapping *m, int stmt) {
  return m->nodes[m->paths[stmt].nodes[m->paths[stmt].nnodes - 1]];
}

static size_t instances_at(const nst_nest *nest, const nst_ir_node *n) {
  size_t instances = 1;
  for (; n; n = n->parent)
    if (n->kind == NST_NODE_PAR) instances *= (size_t)nest->count[n->id];
  return instances;
}

static uint64_t mul_sat(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_mul_overflow(a, b, &r) ? UINT64_MAX : r;
}

static uint64_t points_of(const nst_nest *nest, int stmt) {
  const nst_ir_stmt *s = &nest->ir->workload.stmts[stmt];
  uint64_t points = 1;
  for (int d = 0; d < s->ndims; d++) points = mul_sat(points, (uint64_t)nest->extent[s->dims[d]]);
  return points;
}

/* Without the counts' product in a size_t: it may be past all bounds. */
static uint64_t instances_of(const nst_nest *nest, int stmt) {
  uint64_t instances = 1;
  for (const nst_ir_node *n = compute_of(nest->ir, stmt); n; n = n->parent)
    if (n->kind == NST_NODE_PAR) instances = mul_sat(instances, (uint64_t)nest->count[n->id]);
  return instances;
}

static bool within_limit(const nst_nest *nest, uint64_t limit, nst_diags *diags) {
  const nst_ir_mapping *m = nest->ir;
  uint64_t work = 0, most = 0;
  if (!limit) limit = DEFAULT_LIMIT;
  for (int s = 0; s < m->workload.nstmts; s++) {
    uint64_t here = mul_sat(points_of(nest, s), (uint64_t)m->paths[s].nnodes), instances = instances_of(nest, s);
    if (__builtin_add_overflow(work, here, &work)) work = UINT64_MAX;
    if (instances > most) most = instances;
  }
  if (work <= limit && most <= INSTANCES_MAX) return true;
  if (!diags) return false;
  nst_diag *d;
  if (work > limit)
    d = nst_diag_add(diags, NST_D_SIMULATE_LIMIT, m->span,
                     "mapping %s is too large to simulate: %llu points x nodes, at most %llu are accepted", m->name,
                     (unsigned long long)work, (unsigned long long)limit);
  else
    d = nst_diag_add(diags, NST_D_SIMULATE_LIMIT, m->span,
                     "mapping %s is too large to simulate: %llu instances, at most %d are accepted", m->name,
                     (unsigned long long)most, INSTANCES_MAX);
  nst_diag_help(diags, d, "the analysis counts the same without a limit on size");
  return false;
}

static bool accesses_tensor(const nst_nest_stmt *st, int tensor) {
  bool found = st->out.tensor == tensor;
  for (int a = 0; a < st->nin; a++) found = found || st->in[a].tensor == tensor;
  return found;
}

/* The values of a rank over all points, narrowed to its declared size, widen [min, max]. */
static void widen(const nst_nest *nest, const nst_nest_rank *r, int64_t *min, int64_t *max, bool first) {
  int64_t lo = r->offset, hi = r->offset;
  for (int i = 0; i < r->nterms; i++) {
    int64_t reach = r->coef[i] * (nest->extent[r->ir[i].dim] - 1);
    if (reach < 0)
      lo += reach;
    else
      hi += reach;
  }
  if (r->size >= 0 && lo < 0) lo = 0;
  if (r->size >= 0 && hi >= r->size) hi = r->size - 1;
  if (first || lo < *min) *min = lo;
  if (first || hi > *max) *max = hi;
}

static void bound_tensor(sim *s, int tensor, const nst_nest_access *a, uint64_t *points) {
  sim_tensor *t = &s->tensors[tensor];
  bool first = !t->min;
  if (a->tensor != tensor) return;
  if (first) {
    t->nranks = a->nranks;
    t->min = NST_NEW_ARRAY(s->arena, a->nranks, int64_t);
    t->max = NST_NEW_ARRAY(s->arena, a->nranks, int64_t);
  }
  sim_access shape;
  uint64_t touched = 1;
  sim_access_init(&shape, s->arena, t, a);
  for (int d = 0; d < shape.ndims; d++) touched = mul_sat(touched, (uint64_t)s->nest->extent[shape.dims[d]]);
  if (__builtin_add_overflow(*points, touched, points)) *points = UINT64_MAX;
  for (int r = 0; r < a->nranks; r++) widen(s->nest, &a->ranks[r], &t->min[r], &t->max[r], first);
}

static bool init_tensors(sim *s) {
  int ntensors = s->m->workload.ntensors, nstmts = s->m->workload.nstmts;
  s->tensors = NST_NEW_ARRAY(s->arena, ntensors, sim_tensor);
  for (int t = 0; t < ntensors; t++) {
    uint64_t points = 0;
    for (int i = 0; i < nstmts; i++) {
      const nst_nest_stmt *st = &s->nest->stmts[i];
      bound_tensor(s, t, &st->out, &points);
      for (int a = 0; a < st->nin; a++) bound_tensor(s, t, &st->in[a], &points);
    }
    if (!sim_tensor_init(&s->tensors[t], s->arena, points)) return false;
  }
  s->access = NST_NEW_ARRAY(s->arena, nstmts, sim_access *);
  for (int i = 0; i < nstmts; i++) {
    const nst_nest_stmt *st = &s->nest->stmts[i];
    s->access[i] = NST_NEW_ARRAY(s->arena, 1 + st->nin, sim_access);
    sim_access_init(&s->access[i][0], s->arena, &s->tensors[st->out.tensor], &st->out);
    for (int a = 0; a < st->nin; a++)
      sim_access_init(&s->access[i][1 + a], s->arena, &s->tensors[st->in[a].tensor], &st->in[a]);
  }
  return true;
}

/* The keep of the tensor next outside a node, or NULL. */
static const nst_ir_node *keep_outside(const nst_ir_node *n, int tensor) {
  for (n = n->parent; n; n = n->parent)
    for (int i = 0; n->kind == NST_NODE_KEEP && i < n->ntensors; i++)
      if (n->tensors[i] == tensor) return n;
  return NULL;
}

static bool is_below(const nst_ir_mapping *m, int stmt, const nst_ir_node *n) {
  const nst_ir_path *path = &m->paths[stmt];
  for (int i = 0; i < path->nnodes; i++)
    if (path->nodes[i] == n->id) return true;
  return false;
}

static void init_slot(sim *s, int index) {
  const nst_ir_slot *slot = &s->m->slots[index];
  const nst_ir_node *node = s->m->nodes[slot->node], *parent = keep_outside(node, slot->tensor);
  int nstmts = s->m->workload.nstmts, reader = -1, writer = -1, most = 0;
  sim_slot *k = &s->slots[index];
  for (int i = 0; i < nstmts; i++) most += 1 + s->nest->stmts[i].nin;
  k->accesses = NST_NEW_ARRAY(s->arena, most, sim_access *);
  k->dims = NST_NEW_ARRAY(s->arena, s->m->workload.ndims, int);
  for (int i = 0; i < nstmts; i++) {
    const nst_nest_stmt *st = &s->nest->stmts[i];
    if (!is_below(s->m, i, node)) continue;
    if (st->out.tensor == slot->tensor) writer = i, k->accesses[k->naccesses++] = &s->access[i][0];
    for (int a = 0; a < st->nin; a++) {
      if (st->in[a].tensor != slot->tensor) continue;
      k->accesses[k->naccesses++] = &s->access[i][1 + a];
      if (reader < 0) reader = i;
    }
  }
  for (int a = 0; a < k->naccesses; a++)
    for (int d = 0; d < k->accesses[a]->ndims; d++) {
      int at = 0;
      while (at < k->ndims && k->dims[at] != k->accesses[a]->dims[d]) at++;
      if (at == k->ndims) k->dims[k->ndims++] = k->accesses[a]->dims[d];
    }
  k->slot = index;
  k->tensor = slot->tensor;
  k->level = slot->level;
  k->stmt = writer >= 0 ? writer : reader;
  k->output = writer >= 0;
  k->elements = &s->tensors[slot->tensor];
  k->parent_level = parent ? parent->level : -1;
  k->ninstances = instances_at(s->nest, node);
  /* The outermost keep has no parent to share under: every instance is by itself. */
  sim_share_init(&k->share, s->arena, s->nest, parent ? parent : node, node, k->output);
  if (parent && k->stmt >= 0) k->above = nst_counts_at(s->out, k->stmt, parent->level, k->tensor);
  sim_slot_init(k, s->arena);
}

static void init_stmt(sim *s, int stmt) {
  const nst_ir_node *compute = compute_of(s->m, stmt);
  const nst_nest_stmt *st = &s->nest->stmts[stmt];
  const nst_ir_stmt *ir = &s->m->workload.stmts[stmt];
  s->seen[stmt] = NST_NEW_ARRAY(s->arena, instances_at(s->nest, compute), bool);
  s->last_dims[stmt] = NST_NEW_ARRAY(s->arena, ir->ndims, int);
  for (int d = 0; d < ir->ndims; d++)
    if (nominal_width(s->nest, compute, ir->dims[d]) > 1) s->last_dims[stmt][s->nlast_dims[stmt]++] = ir->dims[d];
  s->operands[stmt] = NST_NEW_ARRAY(s->arena, 1 + st->nin, sim_operand);
  for (int t = 0; t < s->m->workload.ntensors; t++) {
    if (!accesses_tensor(st, t)) continue;
    sim_operand *o = &s->operands[stmt][s->noperands[stmt]++];
    o->tensor = t;
    o->output = st->out.tensor == t;
    o->elements = &s->tensors[t];
    o->accesses = NST_NEW_ARRAY(s->arena, 1 + st->nin, sim_access *);
    if (o->output) o->accesses[o->naccesses++] = &s->access[stmt][0];
    for (int a = 0; a < st->nin; a++)
      if (st->in[a].tensor == t) o->accesses[o->naccesses++] = &s->access[stmt][1 + a];
    sim_share_init(&o->share, s->arena, s->nest, keep_outside(compute, t), compute, o->output);
    if (o->output) o->touched = NST_NEW_ARRAY(s->arena, o->elements->bound, bool);
  }
}

static sim_loop new_loop(sim *s, size_t n) {
  return (sim_loop){NST_NEW_ARRAY(s->arena, n, int64_t), NST_NEW_ARRAY(s->arena, n, int64_t),
                    NST_NEW_ARRAY(s->arena, n, bool)};
}

static sim_frame new_frame(sim *s, size_t n) {
  int ndims = s->m->workload.ndims;
  sim_frame f = {n, NST_NEW_ARRAY(s->arena, ndims, int64_t *), NST_NEW_ARRAY(s->arena, ndims, int64_t *),
                 NST_NEW_ARRAY(s->arena, n, bool)};
  for (int d = 0; d < ndims; d++) {
    f.lo[d] = NST_NEW_ARRAY(s->arena, n, int64_t);
    f.hi[d] = NST_NEW_ARRAY(s->arena, n, int64_t);
  }
  return f;
}

static void init_scratch(sim *s) {
  int nnodes = s->m->nnodes, nstmts = s->m->workload.nstmts, ndims = s->m->workload.ndims;
  s->lo = NST_NEW_ARRAY(s->arena, ndims, int64_t);
  s->hi = NST_NEW_ARRAY(s->arena, ndims, int64_t);
  s->wide = NST_NEW_ARRAY(s->arena, nnodes, sim_frame);
  s->loops = NST_NEW_ARRAY(s->arena, nnodes + nstmts * ndims, sim_loop);
  for (int i = 0; i < nnodes; i++) {
    const nst_ir_node *n = s->m->nodes[i];
    if (n->kind == NST_NODE_PAR) s->wide[i] = new_frame(s, instances_at(s->nest, n));
    if (n->kind == NST_NODE_FOR) s->loops[i] = new_loop(s, instances_at(s->nest, n));
  }
  for (int i = 0; i < nstmts; i++)
    for (int k = 0; k < s->nlast_dims[i]; k++)
      s->loops[nnodes + i * ndims + k] = new_loop(s, instances_at(s->nest, compute_of(s->m, i)));
}

static bool init(sim *s) {
  int nstmts = s->m->workload.nstmts;
  if (!init_tensors(s)) {
    if (s->diags)
      nst_diag_add(s->diags, NST_D_SIMULATE_LIMIT, s->m->span,
                   "mapping %s is too large to simulate: a tensor of 2^31 elements or more", s->m->name);
    return false;
  }
  s->slots = NST_NEW_ARRAY(s->arena, s->m->nslots, sim_slot);
  for (int i = 0; i < s->m->nslots; i++) init_slot(s, i);
  s->seen = NST_NEW_ARRAY(s->arena, nstmts, bool *);
  s->operands = NST_NEW_ARRAY(s->arena, nstmts, sim_operand *);
  s->noperands = NST_NEW_ARRAY(s->arena, nstmts, int);
  s->last_dims = NST_NEW_ARRAY(s->arena, nstmts, int *);
  s->nlast_dims = NST_NEW_ARRAY(s->arena, nstmts, int);
  for (int i = 0; i < nstmts; i++) init_stmt(s, i);
  init_scratch(s);
  return true;
}

/* ---- running ---- */

static bool report_conflict(sim *s, const nst_ir_node *at, int tensor, const sim_conflict *c) {
  const nst_ir_hardware *h = &s->m->hardware;
  size_t a = c->a, b = c->b;
  const nst_ir_node *par = NULL;
  for (const nst_ir_node *n = at; n; n = n->parent) {
    if (n->kind != NST_NODE_PAR) continue;
    size_t count = (size_t)s->nest->count[n->id];
    if (a % count != b % count && !h->levels[n->level].reduce) par = n;
    a /= count;
    b /= count;
  }
  if (!s->diags || !par) return false;
  nst_name name = s->m->workload.tensors[tensor].name;
  nst_diag *d =
    nst_diag_add(s->diags, NST_D_REDUCE_CONFLICT, par->span,
                 "par %s makes partial sums of one element of %s on several places of %s, which has reduce = false",
                 s->m->workload.dims[par->dim].name, name, h->levels[par->level].name);
  nst_diag_help(s->diags, d, "run %s in time, or in an array that reduces", s->m->workload.dims[par->dim].name);
  return false;
}

static bool run_compute(sim *s, const nst_ir_node *n, int stmt, const sim_frame *f) {
  for (size_t i = 0; i < f->n; i++) {
    s->out->ops[stmt] += f->works[i];
    s->seen[stmt][i] = s->seen[stmt][i] || f->works[i];
  }
  s->out->steps[stmt]++;
  for (int i = 0; i < s->noperands[stmt]; i++) {
    sim_conflict conflict = {0};
    sim_operand_step(&s->operands[stmt][i], f, &conflict);
    if (conflict.found) return report_conflict(s, n, s->operands[stmt][i].tensor, &conflict);
  }
  return true;
}

/* One step of a loop: the i-th tile of the dimension in every instance. false: nothing to do in any. */
static bool enter_tile(const sim_loop *loop, sim_frame *f, int dim, int64_t tile, int64_t i) {
  bool any = false;
  for (size_t j = 0; j < f->n; j++) {
    int64_t lo = loop->lo[j] + i * tile, hi = loop->hi[j];
    f->lo[dim][j] = lo;
    f->hi[dim][j] = hi - lo > tile ? lo + tile : hi;
    f->works[j] = loop->works[j] && lo < hi;
    any = any || f->works[j];
  }
  return any;
}

static void open_loop(const sim_loop *loop, const sim_frame *f, int dim) {
  memcpy(loop->lo, f->lo[dim], f->n * sizeof *loop->lo);
  memcpy(loop->hi, f->hi[dim], f->n * sizeof *loop->hi);
  memcpy(loop->works, f->works, f->n * sizeof *loop->works);
}

static void leave_loop(const sim_loop *loop, sim_frame *f, int dim) {
  memcpy(f->lo[dim], loop->lo, f->n * sizeof *loop->lo);
  memcpy(f->hi[dim], loop->hi, f->n * sizeof *loop->hi);
  memcpy(f->works, loop->works, f->n * sizeof *loop->works);
}

static bool run_for(sim *s, const nst_ir_node *n, sim_frame *f) {
  const sim_loop *loop = &s->loops[n->id];
  bool good = true;
  open_loop(loop, f, n->dim);
  for (int64_t i = 0; good && i < s->nest->count[n->id]; i++)
    if (enter_tile(loop, f, n->dim, s->nest->tile[n->id], i)) good = run_node(s, n->next, f);
  leave_loop(loop, f, n->dim);
  return good;
}

/* The implicit loops, from the k-th: one operation at a time. */
static bool run_last(sim *s, const nst_ir_node *n, int stmt, int k, sim_frame *f) {
  if (k == s->nlast_dims[stmt]) return run_compute(s, n, stmt, f);
  const sim_loop *loop = &s->loops[s->m->nnodes + stmt * s->m->workload.ndims + k];
  int dim = s->last_dims[stmt][k];
  int64_t width = nominal_width(s->nest, n, dim);
  bool good = true;
  open_loop(loop, f, dim);
  for (int64_t i = 0; good && i < width; i++)
    if (enter_tile(loop, f, dim, 1, i)) good = run_last(s, n, stmt, k + 1, f);
  leave_loop(loop, f, dim);
  return good;
}

static bool run_par(sim *s, const nst_ir_node *n, const sim_frame *f) {
  sim_frame *wide = &s->wide[n->id];
  size_t count = (size_t)s->nest->count[n->id];
  int64_t tile = s->nest->tile[n->id];
  for (int d = 0; d < s->m->workload.ndims; d++)
    for (size_t i = 0; i < wide->n; i++) {
      wide->lo[d][i] = f->lo[d][i / count];
      wide->hi[d][i] = f->hi[d][i / count];
    }
  int64_t *lo = wide->lo[n->dim], *hi = wide->hi[n->dim];
  for (size_t i = 0; i < wide->n; i++) {
    lo[i] += (int64_t)(i % count) * tile;
    if (hi[i] - lo[i] > tile) hi[i] = lo[i] + tile;
    wide->works[i] = f->works[i / count] && lo[i] < hi[i];
  }
  return run_node(s, n->next, wide);
}

/* Ends the life of what is kept on a chain; what its own branches keep has ended with them. */
static void close_chain(sim *s, const nst_ir_node *n) {
  for (; n; n = n->next)
    for (int i = 0; n->kind == NST_NODE_KEEP && i < s->m->nslots; i++)
      if (s->m->slots[i].node == n->id) sim_slot_close(&s->slots[i]);
}

static bool run_keep(sim *s, const nst_ir_node *n, const sim_frame *f) {
  for (int i = 0; i < s->m->nslots; i++) {
    if (s->m->slots[i].node != n->id) continue;
    sim_conflict conflict = {0};
    sim_slot_step(&s->slots[i], f, s->lo, s->hi, &conflict);
    if (conflict.found) return report_conflict(s, n, s->slots[i].tensor, &conflict);
  }
  return true;
}

static int stmt_of(const nst_ir_mapping *m, const nst_ir_node *compute) {
  int stmt = 0;
  while (compute_of(m, stmt) != compute) stmt++;
  return stmt;
}

static bool run_node(sim *s, const nst_ir_node *n, sim_frame *f) {
  switch (n->kind) {
  case NST_NODE_FOR: return run_for(s, n, f);
  case NST_NODE_PAR: return run_par(s, n, f);
  case NST_NODE_KEEP: return run_keep(s, n, f) && run_node(s, n->next, f);
  case NST_NODE_SEQ:
    for (int b = 0; b < n->nbranches; b++) {
      if (!run_node(s, n->branches[b].body, f)) return false;
      close_chain(s, n->branches[b].body);
    }
    return true;
  case NST_NODE_COMPUTE: return run_last(s, n, stmt_of(s->m, n), 0, f);
  }
  return true;
}

/* ---- the answer ---- */

static void add(nst_moves *to, const nst_moves *m) {
  to->reads += m->reads;
  to->fills += m->fills;
  to->updates += m->updates;
  to->drains += m->drains;
}

/* An instance of a level works if some instance below it does: those share the indices of the pars outside it. */
static int64_t instances_seen(const sim *s, int stmt, int level) {
  const nst_ir_node *compute = compute_of(s->m, stmt);
  size_t total = instances_at(s->nest, compute), below = 1;
  int64_t seen = 0;
  if (s->m->hardware.levels[level].kind == NST_LEVEL_ARRAY) return 0;
  if (s->m->hardware.levels[level].kind == NST_LEVEL_COMPUTE && level != compute->level) return 0;
  for (const nst_ir_node *n = compute; n; n = n->parent)
    if (n->kind == NST_NODE_PAR && n->level > level) below *= (size_t)s->nest->count[n->id];
  for (size_t i = 0; i < total; i += below) {
    bool any = false;
    for (size_t j = i; j < i + below; j++) any = any || s->seen[stmt][j];
    seen += any;
  }
  return seen;
}

static void gather(sim *s) {
  nst_counts *out = s->out;
  for (int i = 0; i < s->m->nslots; i++) {
    const sim_slot *k = &s->slots[i];
    out->tile[i] = k->largest;
    if (k->stmt >= 0) add(nst_counts_at(out, k->stmt, k->level, k->tensor), &k->moves);
  }
  for (int stmt = 0; stmt < out->nstmts; stmt++) {
    const nst_ir_node *compute = compute_of(s->m, stmt);
    for (int i = 0; i < s->noperands[stmt]; i++) {
      const sim_operand *o = &s->operands[stmt][i];
      const nst_moves moves = {.reads = o->reads, .updates = o->updates};
      add(nst_counts_at(out, stmt, keep_outside(compute, o->tensor)->level, o->tensor), &moves);
    }
    for (int l = 0; l < out->nlevels; l++)
      out->instances[(size_t)stmt * (size_t)out->nlevels + (size_t)l] = instances_seen(s, stmt, l);
  }
}

static void clear(nst_counts *c) {
  size_t per_level = (size_t)c->nstmts * (size_t)c->nlevels;
  memset(c->moves, 0, per_level * (size_t)c->ntensors * sizeof *c->moves);
  memset(c->tile, 0, (size_t)c->nslots * sizeof *c->tile);
  memset(c->ops, 0, (size_t)c->nstmts * sizeof *c->ops);
  memset(c->steps, 0, (size_t)c->nstmts * sizeof *c->steps);
  memset(c->instances, 0, per_level * sizeof *c->instances);
}

static bool run(sim *s) {
  sim_frame whole = new_frame(s, 1);
  for (int d = 0; d < s->m->workload.ndims; d++) whole.hi[d][0] = s->nest->extent[d];
  whole.works[0] = true;
  if (!run_node(s, s->m->root, &whole)) return false;
  close_chain(s, s->m->root);
  return true;
}

bool nst_simulate(const nst_nest *nest, nst_counts *out, uint64_t limit, nst_diags *diags) {
  if (!within_limit(nest, limit, diags)) return false;
  sim s = {.arena = nst_arena_new(), .nest = nest, .m = nest->ir, .out = out, .diags = diags};
  clear(out);
  bool good = init(&s) && run(&s);
  if (good) gather(&s);
  for (int i = 0; s.slots && i < s.m->nslots; i++) sim_slot_fini(&s.slots[i]);
  for (int i = 0; s.operands && i < s.m->workload.nstmts; i++)
    for (int o = 0; o < s.noperands[i]; o++) free(s.operands[i][o].pending.items);
  nst_arena_free(s.arena);
  return good;
}
