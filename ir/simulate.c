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

static bool run_node(nst_sim *s, const nst_ir_node *n, nst_sim_frame *f);

static bool report_conflict(nst_sim *s, const nst_ir_node *at, int tensor, const nst_sim_conflict *c) {
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

static bool run_compute(nst_sim *s, const nst_ir_node *n, int stmt, const nst_sim_frame *f) {
  for (size_t i = 0; i < f->n; i++) {
    s->out->ops[stmt] += f->works[i];
    s->seen[stmt][i] = s->seen[stmt][i] || f->works[i];
  }
  s->out->steps[stmt]++;
  for (int i = 0; i < s->noperands[stmt]; i++) {
    nst_sim_conflict conflict = {0};
    nst_sim_operand_step(&s->operands[stmt][i], f, &conflict);
    if (conflict.found) return report_conflict(s, n, s->operands[stmt][i].tensor, &conflict);
  }
  return true;
}

/* One step of a loop: the i-th tile of the dimension in every instance. false: nothing to do in any. */
static bool enter_tile(const nst_sim_loop *loop, nst_sim_frame *f, int dim, int64_t tile, int64_t i) {
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

static void open_loop(const nst_sim_loop *loop, const nst_sim_frame *f, int dim) {
  memcpy(loop->lo, f->lo[dim], f->n * sizeof *loop->lo);
  memcpy(loop->hi, f->hi[dim], f->n * sizeof *loop->hi);
  memcpy(loop->works, f->works, f->n * sizeof *loop->works);
}

static void leave_loop(const nst_sim_loop *loop, nst_sim_frame *f, int dim) {
  memcpy(f->lo[dim], loop->lo, f->n * sizeof *loop->lo);
  memcpy(f->hi[dim], loop->hi, f->n * sizeof *loop->hi);
  memcpy(f->works, loop->works, f->n * sizeof *loop->works);
}

static bool run_for(nst_sim *s, const nst_ir_node *n, nst_sim_frame *f) {
  const nst_sim_loop *loop = &s->loops[n->id];
  bool good = true;
  open_loop(loop, f, n->dim);
  for (int64_t i = 0; good && i < s->nest->count[n->id]; i++)
    if (enter_tile(loop, f, n->dim, s->nest->tile[n->id], i)) good = run_node(s, n->next, f);
  leave_loop(loop, f, n->dim);
  return good;
}

/* The implicit loops, from the k-th: one operation at a time. */
static bool run_last(nst_sim *s, const nst_ir_node *n, int stmt, int k, nst_sim_frame *f) {
  if (k == s->nlast_dims[stmt]) return run_compute(s, n, stmt, f);
  const nst_sim_loop *loop = &s->loops[s->m->nnodes + stmt * s->m->workload.ndims + k];
  int dim = s->last_dims[stmt][k];
  int64_t width = nst_sim_nominal_width(s->nest, n, dim);
  bool good = true;
  open_loop(loop, f, dim);
  for (int64_t i = 0; good && i < width; i++)
    if (enter_tile(loop, f, dim, 1, i)) good = run_last(s, n, stmt, k + 1, f);
  leave_loop(loop, f, dim);
  return good;
}

static bool run_par(nst_sim *s, const nst_ir_node *n, const nst_sim_frame *f) {
  nst_sim_frame *wide = &s->wide[n->id];
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
static void close_chain(nst_sim *s, const nst_ir_node *n) {
  for (; n; n = n->next)
    for (int i = 0; n->kind == NST_NODE_KEEP && i < s->m->nslots; i++)
      if (s->m->slots[i].node == n->id) nst_sim_slot_close(&s->slots[i]);
}

static bool run_keep(nst_sim *s, const nst_ir_node *n, const nst_sim_frame *f) {
  for (int i = 0; i < s->m->nslots; i++) {
    if (s->m->slots[i].node != n->id) continue;
    nst_sim_conflict conflict = {0};
    nst_sim_slot_step(&s->slots[i], f, s->lo, s->hi, &conflict);
    if (conflict.found) return report_conflict(s, n, s->slots[i].tensor, &conflict);
  }
  return true;
}

static int stmt_of(const nst_ir_mapping *m, const nst_ir_node *compute) {
  int stmt = 0;
  while (nst_sim_compute_of(m, stmt) != compute) stmt++;
  return stmt;
}

static bool run_node(nst_sim *s, const nst_ir_node *n, nst_sim_frame *f) {
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
static int64_t instances_seen(const nst_sim *s, int stmt, int level) {
  const nst_ir_node *compute = nst_sim_compute_of(s->m, stmt);
  size_t total = nst_sim_instances_at(s->nest, compute), below = 1;
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

static void gather(nst_sim *s) {
  nst_counts *out = s->out;
  for (int i = 0; i < s->m->nslots; i++) {
    const nst_sim_slot *k = &s->slots[i];
    out->tile[i] = k->largest;
    if (k->stmt >= 0) add(nst_counts_at(out, k->stmt, k->level, k->tensor), &k->moves);
  }
  for (int stmt = 0; stmt < out->nstmts; stmt++) {
    const nst_ir_node *compute = nst_sim_compute_of(s->m, stmt);
    for (int i = 0; i < s->noperands[stmt]; i++) {
      const nst_sim_operand *o = &s->operands[stmt][i];
      const nst_moves moves = {.reads = o->reads, .updates = o->updates};
      add(nst_counts_at(out, stmt, nst_sim_keep_outside(compute, o->tensor)->level, o->tensor), &moves);
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

static bool run(nst_sim *s) {
  nst_sim_frame whole = nst_sim_new_frame(s, 1);
  for (int d = 0; d < s->m->workload.ndims; d++) whole.hi[d][0] = s->nest->extent[d];
  whole.works[0] = true;
  if (!run_node(s, s->m->root, &whole)) return false;
  close_chain(s, s->m->root);
  return true;
}

bool nst_simulate(const nst_nest *nest, nst_counts *out, uint64_t limit, nst_diags *diags) {
  if (!nst_sim_within_limit(nest, limit, diags)) return false;
  nst_sim s = {.arena = nst_arena_new(), .nest = nest, .m = nest->ir, .out = out, .diags = diags};
  clear(out);
  bool good = nst_sim_init(&s) && run(&s);
  if (good) gather(&s);
  for (int i = 0; s.slots && i < s.m->nslots; i++) nst_sim_slot_fini(&s.slots[i]);
  for (int i = 0; s.operands && i < s.m->workload.nstmts; i++)
    for (int o = 0; o < s.noperands[i]; o++) free(s.operands[i][o].pending.items);
  nst_arena_free(s.arena);
  return good;
}
