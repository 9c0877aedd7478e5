/* Setting a simulation up: elements and accesses, slots and operands, room for
 * boxes; and refusing what would take too long.
 *
 * Which slot is next outside of which, who shares with whom and to which
 * statement traffic belongs is settled here, once. */
#include "ir/simulate.h"

enum { INSTANCES_MAX = 1 << 20 };
static const uint64_t DEFAULT_LIMIT = UINT64_C(1) << 26;

int64_t nst_sim_nominal_width(const nst_nest *nest, const nst_ir_node *inside, int dim) {
  int64_t width = nest->extent[dim];
  /* Tiles of tiles: the narrowest split wins, since each is cut from the next one outside. */
  for (const nst_ir_node *n = inside; n; n = n->parent)
    if ((n->kind == NST_NODE_FOR || n->kind == NST_NODE_PAR) && n->dim == dim && nest->tile[n->id] < width)
      width = nest->tile[n->id];
  return width;
}

const nst_ir_node *nst_sim_compute_of(const nst_ir_mapping *m, int stmt) {
  return m->nodes[m->paths[stmt].nodes[m->paths[stmt].nnodes - 1]];
}

size_t nst_sim_instances_at(const nst_nest *nest, const nst_ir_node *n) {
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
  for (const nst_ir_node *n = nst_sim_compute_of(nest->ir, stmt); n; n = n->parent)
    if (n->kind == NST_NODE_PAR) instances = mul_sat(instances, (uint64_t)nest->count[n->id]);
  return instances;
}

/* 1,207,959,552 */
typedef char grouped_text[32];
static const char *grouped(grouped_text out, uint64_t v) {
  char *at = out + sizeof(grouped_text) - 1;
  *at = '\0';
  for (int digits = 0; v || !digits; v /= 10, digits++) {
    if (digits && digits % 3 == 0) *--at = ',';
    *--at = (char)('0' + v % 10);
  }
  return at;
}

bool nst_sim_within_limit(const nst_nest *nest, uint64_t limit, nst_diags *diags) {
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
  grouped_text a, b;
  if (work > limit)
    d = nst_diag_add(diags, NST_D_SIMULATE_LIMIT, m->span,
                     "mapping `%s` is too large to simulate: %s points x nodes, at most %s are accepted", m->name,
                     grouped(a, work), grouped(b, limit));
  else
    d = nst_diag_add(diags, NST_D_SIMULATE_LIMIT, m->span,
                     "mapping `%s` is too large to simulate: %s instances, at most %s are accepted", m->name,
                     grouped(a, most), grouped(b, INSTANCES_MAX));
  nst_diag_help(diags, d, "the analysis counts the same without a limit on size; to compare them, map a smaller problem");
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

static void bound_tensor(nst_sim *s, int tensor, const nst_nest_access *a, uint64_t *points) {
  nst_sim_tensor *t = &s->tensors[tensor];
  bool first = !t->min;
  if (a->tensor != tensor) return;
  if (first) {
    t->nranks = a->nranks;
    t->min = NST_NEW_ARRAY(s->arena, a->nranks, int64_t);
    t->max = NST_NEW_ARRAY(s->arena, a->nranks, int64_t);
  }
  nst_sim_access shape;
  uint64_t touched = 1;
  nst_sim_access_init(&shape, s->arena, t, a);
  for (int d = 0; d < shape.ndims; d++) touched = mul_sat(touched, (uint64_t)s->nest->extent[shape.dims[d]]);
  if (__builtin_add_overflow(*points, touched, points)) *points = UINT64_MAX;
  for (int r = 0; r < a->nranks; r++) widen(s->nest, &a->ranks[r], &t->min[r], &t->max[r], first);
}

static bool init_tensors(nst_sim *s) {
  int ntensors = s->m->workload.ntensors, nstmts = s->m->workload.nstmts;
  s->tensors = NST_NEW_ARRAY(s->arena, ntensors, nst_sim_tensor);
  for (int t = 0; t < ntensors; t++) {
    uint64_t points = 0;
    for (int i = 0; i < nstmts; i++) {
      const nst_nest_stmt *st = &s->nest->stmts[i];
      bound_tensor(s, t, &st->out, &points);
      for (int a = 0; a < st->nin; a++) bound_tensor(s, t, &st->in[a], &points);
    }
    if (!nst_sim_tensor_init(&s->tensors[t], s->arena, points)) return false;
  }
  s->access = NST_NEW_ARRAY(s->arena, nstmts, nst_sim_access *);
  for (int i = 0; i < nstmts; i++) {
    const nst_nest_stmt *st = &s->nest->stmts[i];
    s->access[i] = NST_NEW_ARRAY(s->arena, 1 + st->nin, nst_sim_access);
    nst_sim_access_init(&s->access[i][0], s->arena, &s->tensors[st->out.tensor], &st->out);
    for (int a = 0; a < st->nin; a++)
      nst_sim_access_init(&s->access[i][1 + a], s->arena, &s->tensors[st->in[a].tensor], &st->in[a]);
  }
  return true;
}

/* The keep of the tensor next outside a node, or NULL. */
const nst_ir_node *nst_sim_keep_outside(const nst_ir_node *n, int tensor) {
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

static void init_slot(nst_sim *s, int index) {
  const nst_ir_slot *slot = &s->m->slots[index];
  const nst_ir_node *node = s->m->nodes[slot->node], *parent = nst_sim_keep_outside(node, slot->tensor);
  int nstmts = s->m->workload.nstmts, reader = -1, writer = -1, most = 0;
  nst_sim_slot *k = &s->slots[index];
  for (int i = 0; i < nstmts; i++) most += 1 + s->nest->stmts[i].nin;
  k->accesses = NST_NEW_ARRAY(s->arena, most, nst_sim_access *);
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
  k->ninstances = nst_sim_instances_at(s->nest, node);
  /* The outermost keep has no parent to share under: every instance is by itself. */
  nst_sim_share_init(&k->share, s->arena, s->nest, parent ? parent : node, node, k->output);
  if (parent && k->stmt >= 0) k->above = nst_counts_at(s->out, k->stmt, parent->level, k->tensor);
  nst_sim_slot_init(k, s->arena);
}

static void init_stmt(nst_sim *s, int stmt) {
  const nst_ir_node *compute = nst_sim_compute_of(s->m, stmt);
  const nst_nest_stmt *st = &s->nest->stmts[stmt];
  const nst_ir_stmt *ir = &s->m->workload.stmts[stmt];
  s->seen[stmt] = NST_NEW_ARRAY(s->arena, nst_sim_instances_at(s->nest, compute), bool);
  s->last_dims[stmt] = NST_NEW_ARRAY(s->arena, ir->ndims, int);
  for (int d = 0; d < ir->ndims; d++)
    if (nst_sim_nominal_width(s->nest, compute, ir->dims[d]) > 1)
      s->last_dims[stmt][s->nlast_dims[stmt]++] = ir->dims[d];
  s->operands[stmt] = NST_NEW_ARRAY(s->arena, 1 + st->nin, nst_sim_operand);
  for (int t = 0; t < s->m->workload.ntensors; t++) {
    if (!accesses_tensor(st, t)) continue;
    nst_sim_operand *o = &s->operands[stmt][s->noperands[stmt]++];
    o->tensor = t;
    o->output = st->out.tensor == t;
    o->elements = &s->tensors[t];
    o->accesses = NST_NEW_ARRAY(s->arena, 1 + st->nin, nst_sim_access *);
    if (o->output) o->accesses[o->naccesses++] = &s->access[stmt][0];
    for (int a = 0; a < st->nin; a++)
      if (st->in[a].tensor == t) o->accesses[o->naccesses++] = &s->access[stmt][1 + a];
    nst_sim_share_init(&o->share, s->arena, s->nest, nst_sim_keep_outside(compute, t), compute, o->output);
    if (o->output) o->touched = NST_NEW_ARRAY(s->arena, o->elements->bound, bool);
  }
}

static nst_sim_loop new_loop(nst_sim *s, size_t n) {
  return (nst_sim_loop){NST_NEW_ARRAY(s->arena, n, int64_t), NST_NEW_ARRAY(s->arena, n, int64_t),
                        NST_NEW_ARRAY(s->arena, n, bool)};
}

nst_sim_frame nst_sim_new_frame(nst_sim *s, size_t n) {
  int ndims = s->m->workload.ndims;
  nst_sim_frame f = {n, NST_NEW_ARRAY(s->arena, ndims, int64_t *), NST_NEW_ARRAY(s->arena, ndims, int64_t *),
                     NST_NEW_ARRAY(s->arena, n, bool)};
  for (int d = 0; d < ndims; d++) {
    f.lo[d] = NST_NEW_ARRAY(s->arena, n, int64_t);
    f.hi[d] = NST_NEW_ARRAY(s->arena, n, int64_t);
  }
  return f;
}

static void init_scratch(nst_sim *s) {
  int nnodes = s->m->nnodes, nstmts = s->m->workload.nstmts, ndims = s->m->workload.ndims;
  s->lo = NST_NEW_ARRAY(s->arena, ndims, int64_t);
  s->hi = NST_NEW_ARRAY(s->arena, ndims, int64_t);
  s->wide = NST_NEW_ARRAY(s->arena, nnodes, nst_sim_frame);
  s->loops = NST_NEW_ARRAY(s->arena, nnodes + nstmts * ndims, nst_sim_loop);
  for (int i = 0; i < nnodes; i++) {
    const nst_ir_node *n = s->m->nodes[i];
    if (n->kind == NST_NODE_PAR) s->wide[i] = nst_sim_new_frame(s, nst_sim_instances_at(s->nest, n));
    if (n->kind == NST_NODE_FOR) s->loops[i] = new_loop(s, nst_sim_instances_at(s->nest, n));
  }
  for (int i = 0; i < nstmts; i++)
    for (int k = 0; k < s->nlast_dims[i]; k++)
      s->loops[nnodes + i * ndims + k] = new_loop(s, nst_sim_instances_at(s->nest, nst_sim_compute_of(s->m, i)));
}

bool nst_sim_init(nst_sim *s) {
  int nstmts = s->m->workload.nstmts;
  if (!init_tensors(s)) {
    if (s->diags)
      nst_diag_add(s->diags, NST_D_SIMULATE_LIMIT, s->m->span,
                   "mapping `%s` is too large to simulate: a tensor of 2^31 elements or more", s->m->name);
    return false;
  }
  s->slots = NST_NEW_ARRAY(s->arena, s->m->nslots, nst_sim_slot);
  for (int i = 0; i < s->m->nslots; i++) init_slot(s, i);
  s->seen = NST_NEW_ARRAY(s->arena, nstmts, bool *);
  s->operands = NST_NEW_ARRAY(s->arena, nstmts, nst_sim_operand *);
  s->noperands = NST_NEW_ARRAY(s->arena, nstmts, int);
  s->last_dims = NST_NEW_ARRAY(s->arena, nstmts, int *);
  s->nlast_dims = NST_NEW_ARRAY(s->arena, nstmts, int);
  for (int i = 0; i < nstmts; i++) init_stmt(s, i);
  init_scratch(s);
  return true;
}
