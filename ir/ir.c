/* Finishing and verifying a mapping.
 *
 * Finishing derives what is redundant in the tree: numbers of nodes in
 * preorder, parents, the slots (one per kept tensor), and per statement the
 * path from the root to its compute. The tree walks are recursive only where a
 * seq branches, whose depth the parser bounds.
 *
 * Verifying states the invariants of ir/ir.h as code. It is for faults of the
 * lowering: what a user can get wrong has been reported with spans before. It
 * trusts nothing but pointers, so that a wrong index is found here and not as
 * an overrun in an engine.
 *
 * Left to others: everything that needs numbers (ir/nest.c). */
#include "ir/ir.h"
#include "base/vec.h"

typedef NST_VEC(nst_ir_node *) node_vec;
typedef NST_VEC(nst_ir_slot) slot_vec;
typedef NST_VEC(int) int_vec;

typedef struct {
  nst_arena *arena;
  nst_ir_mapping *m;
  node_vec nodes;
  slot_vec slots;
  int_vec stack; /* ids from the root to the node at hand */
} finisher;

static void finish_path(finisher *f, int stmt) {
  if (stmt < 0 || stmt >= f->m->workload.nstmts) return;
  nst_ir_path *path = &f->m->paths[stmt];
  path->nodes = NST_NEW_ARRAY(f->arena, f->stack.len, int);
  path->nnodes = (int)f->stack.len;
  memcpy(path->nodes, f->stack.items, f->stack.len * sizeof(int));
}

static void finish_chain(finisher *f, nst_ir_node *node, nst_ir_node *parent, const int *stmts, int nstmts) {
  size_t depth = f->stack.len;
  for (; node; parent = node, node = node->next) {
    node->id = (int)f->nodes.len;
    node->parent = parent;
    *nst_vec_push(f->arena, &f->nodes) = node;
    *nst_vec_push(f->arena, &f->stack) = node->id;
    if (node->kind == NST_NODE_KEEP)
      for (int i = 0; i < node->ntensors; i++)
        *nst_vec_push(f->arena, &f->slots) = (nst_ir_slot){node->id, node->tensors[i], node->level, node->optional};
    if (node->kind == NST_NODE_SEQ)
      for (int i = 0; i < node->nbranches; i++)
        finish_chain(f, node->branches[i].body, node, node->branches[i].stmts, node->branches[i].nstmts);
    if (node->kind == NST_NODE_COMPUTE)
      for (int i = 0; i < nstmts; i++) finish_path(f, stmts[i]);
  }
  f->stack.len = depth;
}

void nst_ir_mapping_finish(nst_arena *arena, nst_ir_mapping *m) {
  finisher f = {.arena = arena, .m = m};
  int nstmts = m->workload.nstmts;
  int *all = NST_NEW_ARRAY(arena, nstmts, int);
  for (int i = 0; i < nstmts; i++) all[i] = i;
  m->paths = NST_NEW_ARRAY(arena, nstmts, nst_ir_path);
  finish_chain(&f, m->root, NULL, all, nstmts);
  m->nodes = f.nodes.items;
  m->nnodes = (int)f.nodes.len;
  m->slots = f.slots.items;
  m->nslots = (int)f.slots.len;
  m->outermost = -1;
  for (int i = m->hardware.nlevels - 1; i >= 0; i--)
    if (m->hardware.levels[i].kind == NST_LEVEL_MEMORY) m->outermost = i;
}

/* ---- verifying ---- */

typedef struct {
  nst_arena *arena;
  const nst_ir_mapping *m;
  const char *wrong; /* the first fault found */
} verifier;

#define WRONG(v, ...) ((v)->wrong ? (void)0 : (void)((v)->wrong = nst_arena_printf((v)->arena, __VA_ARGS__)))

static bool in_range(int i, int n) { return i >= 0 && i < n; }

/* limit: named values below this number may occur. */
static void verify_expr(verifier *v, const nst_expr *e, int limit, int sums, const char *where) {
  if (!e) {
    WRONG(v, "%s: an operand is missing", where);
    return;
  }
  if (e->kind == NST_X_PARAM && !in_range(e->index, v->m->scope.nparams))
    WRONG(v, "%s: parameter %d does not exist", where, e->index);
  if (e->kind == NST_X_VALUE && !in_range(e->index, limit))
    WRONG(v, "%s: value %d does not exist or comes later", where, e->index);
  if (e->kind == NST_X_INDEX && !in_range(e->index, sums))
    WRONG(v, "%s: sum variable %d is not bound", where, e->index);
  if (e->kind == NST_X_METRIC) WRONG(v, "%s: a metric in a mapping", where);
  int operands = e->kind == NST_X_IF || e->kind == NST_X_SUM                                                       ? 3
                 : e->kind <= NST_X_METRIC                                                                         ? 0
                 : e->kind == NST_X_NEG || (e->kind >= NST_X_ABS && e->kind <= NST_X_SQRT) || e->kind == NST_X_NOT ? 1
                                                                                                                   : 2;
  if (operands > 0) verify_expr(v, e->a, limit, sums + (e->kind == NST_X_SUM), where);
  if (operands > 1) verify_expr(v, e->b, limit, sums, where);
  if (operands > 2) verify_expr(v, e->c, limit, sums, where);
}

static void verify_optional(verifier *v, const nst_expr *e, const char *where) {
  if (e) verify_expr(v, e, v->m->scope.nvalues, 0, where);
}

static void verify_needed(verifier *v, const nst_expr *e, const char *where) {
  verify_expr(v, e, v->m->scope.nvalues, 0, where);
}

static void verify_access(verifier *v, const nst_ir_stmt *s, const nst_ir_access *a) {
  const nst_ir_workload *w = &v->m->workload;
  if (!in_range(a->tensor, w->ntensors)) {
    WRONG(v, "access: tensor %d does not exist", a->tensor);
    return;
  }
  const nst_ir_tensor *t = &w->tensors[a->tensor];
  if (t->nranks != a->nranks) WRONG(v, "tensor %s has %d ranks, an access %d", t->name, t->nranks, a->nranks);
  for (int r = 0; r < a->nranks; r++) {
    for (int i = 0; i < a->ranks[r].nterms; i++) {
      const nst_ir_term *term = &a->ranks[r].terms[i];
      bool used = false;
      for (int d = 0; d < s->ndims; d++) used = used || s->dims[d] == term->dim;
      if (!used) WRONG(v, "tensor %s: rank %d uses dimension %d, which its statement lacks", t->name, r, term->dim);
      verify_needed(v, term->coef, "coefficient");
    }
    verify_optional(v, a->ranks[r].offset, "offset");
  }
}

static void verify_workload(verifier *v) {
  const nst_ir_workload *w = &v->m->workload;
  if (w->nstmts < 1) WRONG(v, "the workload has no statement");
  for (int i = 0; i < w->ndims; i++) verify_needed(v, w->dims[i].extent, "extent");
  for (int i = 0; i < w->ntensors; i++) {
    verify_needed(v, w->tensors[i].bits, "bits");
    for (int r = 0; w->tensors[i].shape && r < w->tensors[i].nranks; r++)
      verify_optional(v, w->tensors[i].shape[r], "shape");
  }
  for (int i = 0; i < w->nstmts; i++) {
    const nst_ir_stmt *s = &w->stmts[i];
    for (int d = 0; d < s->ndims; d++) {
      if (!in_range(s->dims[d], w->ndims)) WRONG(v, "statement %d: dimension %d does not exist", i, s->dims[d]);
      if (d > 0 && s->dims[d] <= s->dims[d - 1]) WRONG(v, "statement %d: dimensions not in declaration order", i);
    }
    verify_access(v, s, &s->out);
    for (int a = 0; a < s->nin; a++) {
      verify_access(v, s, &s->in[a]);
      if (s->in[a].tensor == s->out.tensor) WRONG(v, "statement %d reads its own output", i);
    }
  }
}

static void verify_hardware(verifier *v) {
  const nst_ir_hardware *h = &v->m->hardware;
  verify_optional(v, h->clock, "clock");
  for (int i = 0; i < h->nlevels; i++) {
    const nst_ir_level *l = &h->levels[i];
    const nst_expr *attributes[] = {l->capacity,    l->bandwidth,    l->read_bandwidth, l->write_bandwidth,
                                    l->read_energy, l->write_energy, l->leakage,        l->area,
                                    l->energy,      l->rate};
    for (size_t a = 0; a < sizeof attributes / sizeof *attributes; a++) verify_optional(v, attributes[a], l->name);
    for (int a = 0; a < l->naxes; a++) verify_needed(v, l->axes[a].size, l->name);
  }
  if (!in_range(v->m->outermost, h->nlevels)) WRONG(v, "the hardware has no memory");
}

static void verify_node(verifier *v, const nst_ir_node *n) {
  const nst_ir_hardware *h = &v->m->hardware;
  bool splits = n->kind == NST_NODE_FOR || n->kind == NST_NODE_PAR;
  if (splits && !in_range(n->dim, v->m->workload.ndims))
    WRONG(v, "node %d: dimension %d does not exist", n->id, n->dim);
  if (splits && (n->split == NST_TILE_BY || n->split == NST_TILE_INTO)) verify_needed(v, n->size, "tile");
  if (n->kind == NST_NODE_FOR && n->split == NST_TILE_AUTO) WRONG(v, "node %d: a for has no places", n->id);
  if (n->kind == NST_NODE_FOR || n->kind == NST_NODE_SEQ) return;
  if (!in_range(n->level, h->nlevels)) {
    WRONG(v, "node %d: level %d does not exist", n->id, n->level);
    return;
  }
  nst_level_kind want = n->kind == NST_NODE_PAR    ? NST_LEVEL_ARRAY
                        : n->kind == NST_NODE_KEEP ? NST_LEVEL_MEMORY
                                                   : NST_LEVEL_COMPUTE;
  if (h->levels[n->level].kind != want) WRONG(v, "node %d: level %d is of another kind", n->id, n->level);
  if (n->kind == NST_NODE_PAR && !in_range(n->axis, h->levels[n->level].naxes))
    WRONG(v, "node %d: axis %d does not exist", n->id, n->axis);
  for (int i = 0; n->kind == NST_NODE_KEEP && i < n->ntensors; i++)
    if (!in_range(n->tensors[i], v->m->workload.ntensors))
      WRONG(v, "node %d: tensor %d does not exist", n->id, n->tensors[i]);
  for (int i = 0; n->kind == NST_NODE_KEEP && i < n->ndormant; i++)
    if (!in_range(n->dormant[i].tensor, v->m->workload.ntensors) || !n->dormant[i].unless)
      WRONG(v, "node %d: a dormant tensor that does not exist", n->id);
}

static bool uses(const nst_ir_stmt *s, int tensor) {
  bool found = s->out.tensor == tensor;
  for (int a = 0; a < s->nin; a++) found = found || s->in[a].tensor == tensor;
  return found;
}

/* Order of levels along one statement's path: pars on outer arrays before inner, keeps of a tensor outermost
 * first, a keep after every par on an array outside it and before every par on one inside it. */
static void verify_path(verifier *v, int stmt) {
  const nst_ir_mapping *m = v->m;
  const nst_ir_path *path = &m->paths[stmt];
  if (path->nnodes < 1 || m->nodes[path->nodes[path->nnodes - 1]]->kind != NST_NODE_COMPUTE) {
    WRONG(v, "statement %d has no compute", stmt);
    return;
  }
  int *last = NST_NEW_ARRAY(v->arena, m->workload.ntensors, int);
  for (int t = 0; t < m->workload.ntensors; t++) last[t] = -1;
  int par = -1, deepest = -1;
  for (int i = 0; i < path->nnodes; i++) {
    const nst_ir_node *n = m->nodes[path->nodes[i]];
    if (n->kind == NST_NODE_PAR) {
      if (n->level < par) WRONG(v, "node %d: a par on an outer array inside one on an inner array", n->id);
      if (n->level < deepest) WRONG(v, "node %d: a par on array %d after a keep inside it", n->id, n->level);
      par = n->level;
    }
    if (n->kind != NST_NODE_KEEP) continue;
    if (n->level < par) WRONG(v, "node %d: a keep of level %d after a par on an array inside it", n->id, n->level);
    if (n->level > deepest) deepest = n->level;
    for (int k = 0; k < n->ntensors; k++) {
      int t = n->tensors[k];
      if (n->level <= last[t])
        WRONG(v, "tensor %s is kept out of hardware order on one path", m->workload.tensors[t].name);
      last[t] = n->level;
    }
  }
  const nst_ir_node *compute = m->nodes[path->nodes[path->nnodes - 1]];
  if (compute->level < par || compute->level < deepest)
    WRONG(v, "statement %d computes outside its arrays or keeps", stmt);
  for (int t = 0; t < m->workload.ntensors; t++)
    if (uses(&m->workload.stmts[stmt], t) && last[t] < 0)
      WRONG(v, "tensor %s is kept nowhere on the path of statement %d", m->workload.tensors[t].name, stmt);
}

static void verify_branches(verifier *v, const nst_ir_node *seq, int *placed) {
  if (seq->next) WRONG(v, "node %d: something follows a seq", seq->id);
  for (int b = 0; b < seq->nbranches; b++) {
    const nst_ir_branch *branch = &seq->branches[b];
    if (!branch->body) WRONG(v, "node %d: branch %d is empty", seq->id, b);
    for (int i = 0; i < branch->nstmts; i++) {
      int s = branch->stmts[i];
      if (!in_range(s, v->m->workload.nstmts))
        WRONG(v, "node %d: statement %d does not exist", seq->id, s);
      else if (placed[s]++)
        WRONG(v, "node %d: statement %d stands in two branches", seq->id, s);
    }
  }
}

const char *nst_ir_verify_mapping(nst_arena *arena, const nst_ir_mapping *m) {
  verifier v = {arena, m, NULL};
  for (int i = 0; i < m->scope.nparams; i++)
    if (m->scope.params[i].value) verify_expr(&v, m->scope.params[i].value, 0, 0, m->scope.params[i].name);
  for (int i = 0; i < m->scope.nvalues; i++) verify_expr(&v, m->scope.values[i].value, i, 0, m->scope.values[i].name);
  verify_workload(&v);
  verify_hardware(&v);
  int computes = 0, nstmts = m->workload.nstmts;
  for (int i = 0; i < m->nnodes; i++) {
    const nst_ir_node *n = m->nodes[i];
    verify_node(&v, n);
    computes += n->kind == NST_NODE_COMPUTE;
    if (n->kind == NST_NODE_SEQ)
      verify_branches(&v, n, NST_NEW_ARRAY(arena, nstmts, int));
    else if (!n->next != (n->kind == NST_NODE_COMPUTE))
      WRONG(&v, "node %d: a chain ends without a compute", i);
  }
  if (v.wrong) return v.wrong;
  if (computes != nstmts) WRONG(&v, "%d statements have %d computes", nstmts, computes);
  for (int s = 0; s < nstmts; s++) verify_path(&v, s);
  return v.wrong;
}
