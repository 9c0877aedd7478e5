/* From a mapping to formulas: which columns make up which counter.
 *
 * For each statement and tensor, the keeps on the path form a chain of edges
 * (parent P, child C); the last edge ends at the compute. Each edge contributes
 * to the counters of P and C by section 4 of the counting rules:
 *
 *   needs  = prod ALL - sum over loops j of prod KEPT(j)   (compute: prod ALL)
 *   drains = prod OLD at the end + sum over j of (prod OLD(j) - prod STAY(j))
 *
 * j runs over the fors outside C; in a branch of a seq over those inside the
 * branch, since its tiles live for one run of it. Everything here depends on the
 * mapping's text alone; numbers enter in nst_group_count. Groups that are
 * written alike are made once, whatever tensor asks. */
#include "ir/group.h"
#include "base/vec.h"
#include "ir/plan.h"
#include <string.h>

typedef struct { nst_column column; int id; } wanted_column;
typedef struct {
  nst_group group;
  NST_VEC(nst_input) inputs;
  NST_VEC(nst_group_split) splits;
  NST_VEC(wanted_column) columns;
} draft; /* a group under construction */

/* An edge under construction: what is outside C on the path of a statement. */
typedef struct {
  int stmt;
  int end;          /* splits are at path positions < end */
  int parent_end;   /* pars before this position are P's; -1: all are (every instance its own parent) */
  int run_start;    /* fors before this position are outside the branch that C lives in */
  bool compute;     /* C is the compute: implicit loops of 1 follow */
  bool unicast;     /* pars on arrays without multicast are summed over */
  bool apart;       /* pars on arrays without reduce are summed over (to find conflicts) */
} edge;

typedef struct {
  nst_arena *arena;
  const nst_ir_mapping *m;
  nst_plan *plan;
  NST_VEC(draft *) drafts;
  int ncolumns;
  NST_VEC(nst_conflict) conflicts;
  NST_VEC(nst_formula) conflict_formulas;
} planner;

typedef struct { int *drafts; int n; } factors; /* the groups of a tensor at an edge */
typedef struct { int stmt, access; } use;       /* access -1: the output */
typedef NST_VEC(use) uses;
typedef NST_VEC(nst_product) products;

static const nst_ir_node *path_node(const planner *p, int stmt, int i) {
  return p->m->nodes[p->m->paths[stmt].nodes[i]];
}

static const nst_ir_access *access_of(const planner *p, use u) {
  const nst_ir_stmt *s = &p->m->workload.stmts[u.stmt];
  return u.access < 0 ? &s->out : &s->in[u.access];
}

/* ---- groups ---- */

static int input(planner *p, draft *d, nst_input in) {
  for (size_t i = 0; i < d->inputs.len; i++)
    if (!memcmp(&d->inputs.items[i], &in, sizeof in)) return (int)i;
  *nst_vec_push(p->arena, &d->inputs) = in;
  return (int)d->inputs.len - 1;
}

static bool is_one(const nst_expr *e) {
  return e->kind == NST_X_CONST && e->value.den == 1 && e->value.num == 1;
}
static bool is_constant_nonzero(const nst_expr *e) { return e->kind == NST_X_CONST && e->value.num != 0; }

static nst_split_kind kind_of(const planner *p, const edge *e, const nst_ir_node *node, int position) {
  const nst_ir_level *array = &p->m->hardware.levels[node->level];
  if (node->kind == NST_NODE_FOR) return NST_SPLIT_TIME;
  if (e->parent_end < 0 || position < e->parent_end) return NST_SPLIT_PARENT;
  if ((e->unicast && !array->multicast) || (e->apart && !array->reduce)) return NST_SPLIT_PARENT;
  return NST_SPLIT_SIBLING;
}

static int dim_slot(const int *dims, int ndims, int dim) {
  for (int i = 0; i < ndims; i++)
    if (dims[i] == dim) return i;
  return -1;
}

static void add_splits(planner *p, draft *d, const edge *e, const int *dims, int ndims) {
  for (int i = 0; i < e->end; i++) {
    const nst_ir_node *node = path_node(p, e->stmt, i);
    if (node->kind != NST_NODE_FOR && node->kind != NST_NODE_PAR) continue;
    int slot = dim_slot(dims, ndims, node->dim);
    if (slot < 0) continue;
    int tile = node->split == NST_TILE_ONE ? -1 : input(p, d, (nst_input){NST_IN_TILE, node->id, 0, 0, 0});
    *nst_vec_push(p->arena, &d->splits) = (nst_group_split){kind_of(p, e, node, i), slot, tile};
  }
  const nst_ir_stmt *s = &p->m->workload.stmts[e->stmt];
  for (int i = 0; e->compute && i < s->ndims; i++) {
    int slot = dim_slot(dims, ndims, s->dims[i]);
    if (slot >= 0) *nst_vec_push(p->arena, &d->splits) = (nst_group_split){NST_SPLIT_TIME, slot, -1};
  }
}

static bool same_ints(const int *a, const int *b, int n) { return !n || !memcmp(a, b, (size_t)n * sizeof *a); }

static bool same_draft(const draft *a, const draft *b) {
  if (a->group.ndims != b->group.ndims || a->group.naccesses != b->group.naccesses ||
      a->splits.len != b->splits.len || a->inputs.len != b->inputs.len ||
      (a->inputs.len && memcmp(a->inputs.items, b->inputs.items, a->inputs.len * sizeof *a->inputs.items)) ||
      (a->splits.len && memcmp(a->splits.items, b->splits.items, a->splits.len * sizeof *a->splits.items)) ||
      !same_ints(a->group.extents, b->group.extents, a->group.ndims))
    return false;
  for (int i = 0; i < a->group.naccesses; i++) {
    const nst_group_access *u = &a->group.accesses[i], *v = &b->group.accesses[i];
    if (u->nranks != v->nranks) return false;
    for (int r = 0; r < u->nranks; r++) {
      const nst_group_rank *x = &u->ranks[r], *y = &v->ranks[r];
      if (x->nterms != y->nterms || x->offset != y->offset || x->size != y->size ||
          !same_ints(x->dims, y->dims, x->nterms) || !same_ints(x->coefs, y->coefs, x->nterms))
        return false;
    }
  }
  return true;
}

static int intern_draft(planner *p, draft *d) {
  for (size_t i = 0; i < p->drafts.len; i++)
    if (same_draft(p->drafts.items[i], d)) return (int)i;
  *nst_vec_push(p->arena, &p->drafts) = d;
  return (int)p->drafts.len - 1;
}

static draft *new_draft(planner *p, const int *dims, int ndims) {
  draft *d = NST_NEW(p->arena, draft);
  int *extents = NST_NEW_ARRAY(p->arena, ndims, int);
  d->group.ndims = ndims;
  d->group.extents = extents;
  for (int i = 0; i < ndims; i++) extents[i] = input(p, d, (nst_input){NST_IN_EXTENT, dims[i], 0, 0, 0});
  return d;
}

/* Dimensions that the tensor does not use: one group each. */
static int unused_group(planner *p, const edge *e, int dim) {
  draft *d = new_draft(p, &dim, 1);
  add_splits(p, d, e, &dim, 1);
  return intern_draft(p, d);
}

/* A dimension alone in ranks without edges, by constants other than 0: as good as its coordinates. */
static bool is_plain(const planner *p, const uses *us, const int *dims, int ndims) {
  const nst_ir_access *a = access_of(p, us->items[0]);
  if (us->len != 1 || ndims != 1) return false;
  const nst_expr **shape = p->m->workload.tensors[a->tensor].shape;
  for (int r = 0; r < a->nranks; r++)
    for (int t = 0; t < a->ranks[r].nterms; t++)
      if (a->ranks[r].terms[t].dim == dims[0] && (!is_constant_nonzero(a->ranks[r].terms[t].coef) || (shape && shape[r])))
        return false;
  return true;
}

static bool rank_touches(const nst_ir_rank *rank, const int *dims, int ndims) {
  for (int t = 0; t < rank->nterms; t++)
    if (dim_slot(dims, ndims, rank->terms[t].dim) >= 0) return true;
  return false;
}

static nst_group_rank make_rank(planner *p, draft *d, use u, int r, const int *dims, int ndims) {
  const nst_ir_access *a = access_of(p, u);
  const nst_ir_rank *rank = &a->ranks[r];
  const nst_expr **shape = p->m->workload.tensors[a->tensor].shape;
  int *slots = NST_NEW_ARRAY(p->arena, rank->nterms, int), *coefs = NST_NEW_ARRAY(p->arena, rank->nterms, int);
  for (int t = 0; t < rank->nterms; t++) {
    slots[t] = dim_slot(dims, ndims, rank->terms[t].dim);
    coefs[t] = is_one(rank->terms[t].coef) ? -1 : input(p, d, (nst_input){NST_IN_COEF, u.stmt, u.access, r, t});
  }
  return (nst_group_rank){rank->nterms, slots, coefs,
                          rank->offset ? input(p, d, (nst_input){NST_IN_OFFSET, u.stmt, u.access, r, 0}) : -1,
                          shape && shape[r] ? input(p, d, (nst_input){NST_IN_SIZE, u.stmt, u.access, r, 0}) : -1};
}

/* The group of some dimensions of a tensor, as far as some of its ranks go; ndims 0: ranks without dimensions. */
static int used_group(planner *p, const edge *e, const uses *us, const int *dims, int ndims, const bool *ranks_in) {
  draft *d = new_draft(p, dims, ndims);
  add_splits(p, d, e, dims, ndims);
  nst_group_access *accesses = NST_NEW_ARRAY(p->arena, us->len, nst_group_access);
  d->group.naccesses = (int)us->len;
  d->group.accesses = accesses;
  if (is_plain(p, us, dims, ndims)) {
    static const int zero = 0, one = -1;
    nst_group_rank *rank = NST_NEW(p->arena, nst_group_rank);
    *rank = (nst_group_rank){1, &zero, &one, -1, -1};
    accesses[0] = (nst_group_access){1, rank};
    return intern_draft(p, d);
  }
  for (size_t i = 0; i < us->len; i++) {
    const nst_ir_access *a = access_of(p, us->items[i]);
    nst_group_rank *ranks = NST_NEW_ARRAY(p->arena, a->nranks, nst_group_rank);
    int n = 0;
    for (int r = 0; r < a->nranks; r++)
      if (ranks_in[r] && (us->len > 1 || rank_touches(&a->ranks[r], dims, ndims) || (!ndims && !a->ranks[r].nterms)))
        ranks[n++] = make_rank(p, d, us->items[i], r, dims, ndims);
    accesses[i] = (nst_group_access){n, ranks};
  }
  return intern_draft(p, d);
}

/* Groups of dimensions that share one of some ranks of one access; dimensions met are marked. */
static void group_ranks(planner *p, const edge *e, const uses *one, const bool *ranks_in, bool *used, factors *f) {
  const nst_ir_access *a = access_of(p, one->items[0]);
  int ndims = p->m->workload.ndims;
  int *leader = NST_NEW_ARRAY(p->arena, ndims, int), *dims = NST_NEW_ARRAY(p->arena, ndims, int);
  bool *here = NST_NEW_ARRAY(p->arena, ndims, bool), constant = false;
  for (int d = 0; d < ndims; d++) leader[d] = d;
  for (int r = 0; r < a->nranks; r++) {
    if (!ranks_in[r]) continue;
    constant = constant || !a->ranks[r].nterms;
    for (int t = 0; t < a->ranks[r].nterms; t++) {
      int from = leader[a->ranks[r].terms[t].dim], to = leader[a->ranks[r].terms[0].dim];
      here[a->ranks[r].terms[t].dim] = true;
      for (int k = 0; k < ndims; k++)
        if (leader[k] == from) leader[k] = to;
    }
  }
  if (constant) f->drafts[f->n++] = used_group(p, e, one, NULL, 0, ranks_in);
  for (int d = 0; d < ndims; d++) {
    if (!here[d] || leader[d] != d) continue;
    int n = 0;
    for (int k = 0; k < ndims; k++)
      if (here[k] && leader[k] == d) dims[n++] = k;
    f->drafts[f->n++] = used_group(p, e, one, dims, n, ranks_in);
  }
  for (int d = 0; d < ndims; d++) used[d] = used[d] || here[d];
}

static bool same_expr(const nst_expr *a, const nst_expr *b);

static bool same_rank(const nst_ir_rank *a, const nst_ir_rank *b) {
  if (a->nterms != b->nterms || !same_expr(a->offset, b->offset)) return false;
  for (int t = 0; t < a->nterms; t++)
    if (a->terms[t].dim != b->terms[t].dim || !same_expr(a->terms[t].coef, b->terms[t].coef)) return false;
  return true;
}

/* Several accesses: ranks in which they all agree are groups as of one access, unless they share a dimension with a
 * rank in which they do not; the others are counted together. joint: the ranks of the second kind; marks their
 * dimensions. Whether there are any. */
static bool joint_ranks(const planner *p, const uses *us, bool *joint, bool *dims) {
  const nst_ir_access *first = access_of(p, us->items[0]);
  bool any = false;
  for (bool more = us->len > 1; more;) {
    more = false;
    for (int r = 0; r < first->nranks; r++) {
      bool apart = joint[r];
      for (size_t i = 0; i < us->len && !apart; i++) {
        const nst_ir_rank *rank = &access_of(p, us->items[i])->ranks[r];
        apart = !same_rank(rank, &first->ranks[r]);
        for (int t = 0; t < rank->nterms; t++) apart = apart || dims[rank->terms[t].dim];
      }
      if (!apart || joint[r]) continue;
      joint[r] = any = more = true;
      for (size_t i = 0; i < us->len; i++) {
        const nst_ir_rank *rank = &access_of(p, us->items[i])->ranks[r];
        for (int t = 0; t < rank->nterms; t++) dims[rank->terms[t].dim] = true;
      }
    }
  }
  return any;
}

/* All dimensions of the statement, divided into the groups of a tensor as it is used. */
static factors group_tensor(planner *p, const edge *e, const uses *us) {
  const nst_ir_workload *w = &p->m->workload;
  const nst_ir_stmt *s = &w->stmts[e->stmt];
  int nranks = access_of(p, us->items[0])->nranks, n = 0;
  bool *joint = NST_NEW_ARRAY(p->arena, nranks, bool), *alone = NST_NEW_ARRAY(p->arena, nranks, bool);
  bool *used = NST_NEW_ARRAY(p->arena, w->ndims, bool);
  int *dims = NST_NEW_ARRAY(p->arena, w->ndims, int);
  factors f = {NST_NEW_ARRAY(p->arena, w->ndims + 2, int), 0};
  uses one = {us->items, 1, 1};
  bool any = joint_ranks(p, us, joint, used);
  for (int d = 0; d < w->ndims; d++)
    if (used[d]) dims[n++] = d;
  for (int r = 0; r < nranks; r++) alone[r] = !joint[r];
  if (any) f.drafts[f.n++] = used_group(p, e, us, dims, n, joint);
  group_ranks(p, e, &one, alone, used, &f);
  for (int i = 0; i < s->ndims; i++)
    if (!used[s->dims[i]]) f.drafts[f.n++] = unused_group(p, e, s->dims[i]);
  return f;
}

/* ---- columns and products ---- */

static int column(planner *p, int group, nst_column col) {
  draft *d = p->drafts.items[group];
  for (size_t i = 0; i < d->columns.len; i++) {
    const nst_column *c = &d->columns.items[i].column;
    if (c->kind == col.kind && c->advance == col.advance && c->cut == col.cut) return d->columns.items[i].id;
  }
  *nst_vec_push(p->arena, &d->columns) = (wanted_column){col, p->ncolumns};
  return p->ncolumns++;
}

/* Is the column 0 whatever the numbers? (An element of a lone dimension never outlives its tile.) */
static bool always_zero(const planner *p, int group, nst_column col) {
  const draft *d = p->drafts.items[group];
  return col.advance && (col.kind == NST_COLUMN_KEPT || col.kind == NST_COLUMN_STAY) && d->group.naccesses == 1 &&
         d->group.ndims == 1 && d->group.accesses[0].nranks == 1 && d->group.accesses[0].ranks[0].coefs[0] == -1;
}

static void add_product(planner *p, products *out, int sign, const int *columns, int n) {
  int *copy = NST_NEW_ARRAY(p->arena, n, int);
  if (n) memcpy(copy, columns, (size_t)n * sizeof *copy);
  *nst_vec_push(p->arena, out) = (nst_product){sign, n, copy};
}

static void add_plain(planner *p, products *out, int sign, factors f, nst_column_kind kind) {
  int *columns = NST_NEW_ARRAY(p->arena, f.n, int);
  for (int i = 0; i < f.n; i++) columns[i] = column(p, f.drafts[i], (nst_column){kind, false, 0});
  add_product(p, out, sign, columns, f.n);
}

static bool group_has_dim(const planner *p, int group, int dim) {
  const draft *d = p->drafts.items[group];
  for (int k = 0; k < d->group.ndims; k++)
    if (d->inputs.items[d->group.extents[k]].a == dim) return true;
  return false;
}

/* Number of the group's TIME splits at path positions < position (implicit loops come after all). */
static int times_before(const planner *p, const edge *e, int group, int position) {
  int n = 0;
  for (int i = 0; i < position; i++) {
    const nst_ir_node *node = path_node(p, e->stmt, i);
    n += node->kind == NST_NODE_FOR && group_has_dim(p, group, node->dim);
  }
  return n;
}

/* The product of one kind of column for a step started by the for at `position`. */
static void add_step(planner *p, products *out, int sign, const edge *e, factors f, nst_column_kind kind, int position) {
  int *columns = NST_NEW_ARRAY(p->arena, f.n, int);
  int dim = path_node(p, e->stmt, position)->dim;
  for (int i = 0; i < f.n; i++) {
    nst_column col = {kind, group_has_dim(p, f.drafts[i], dim), times_before(p, e, f.drafts[i], position)};
    if (always_zero(p, f.drafts[i], col)) return;
    columns[i] = column(p, f.drafts[i], col);
  }
  add_product(p, out, sign, columns, f.n);
}

static void add_needs(planner *p, products *out, const edge *e, factors f) {
  add_plain(p, out, 1, f, NST_COLUMN_ALL);
  if (e->compute) return;
  for (int i = e->run_start; i < e->end; i++)
    if (path_node(p, e->stmt, i)->kind == NST_NODE_FOR) add_step(p, out, -1, e, f, NST_COLUMN_KEPT, i);
}

static void add_drains(planner *p, products *out, const edge *e, factors f) {
  if (e->compute) {
    add_plain(p, out, 1, f, NST_COLUMN_ALL);
    return;
  }
  int *columns = NST_NEW_ARRAY(p->arena, f.n, int);
  for (int i = 0; i < f.n; i++)
    columns[i] = column(p, f.drafts[i], (nst_column){NST_COLUMN_OLD, false, times_before(p, e, f.drafts[i], e->run_start)});
  add_product(p, out, 1, columns, f.n);
  for (int i = e->run_start; i < e->end; i++) {
    if (path_node(p, e->stmt, i)->kind != NST_NODE_FOR) continue;
    add_step(p, out, 1, e, f, NST_COLUMN_OLD, i);
    add_step(p, out, -1, e, f, NST_COLUMN_STAY, i);
  }
}

static nst_formula formula(const products *ps) {
  return (nst_formula){(int)ps->len, ps->items};
}

static void append(planner *p, nst_formula *f, const products *ps) {
  products all = {0};
  for (int i = 0; i < f->nproducts; i++) *nst_vec_push(p->arena, &all) = f->products[i];
  for (size_t i = 0; i < ps->len; i++) *nst_vec_push(p->arena, &all) = ps->items[i];
  *f = formula(&all);
}

/* ---- edges ---- */

static bool same_expr(const nst_expr *a, const nst_expr *b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind) return false;
  if (a->kind == NST_X_CONST) return nst_rat_cmp(a->value, b->value) == 0;
  if (a->kind == NST_X_PARAM || a->kind == NST_X_VALUE) return a->index == b->index;
  return same_expr(a->a, b->a) && same_expr(a->b, b->b) && same_expr(a->c, b->c) && a->index == b->index &&
         a->truth == b->truth && a->kind != NST_X_METRIC;
}

/* Do two accesses touch the same elements of a tile that is kept before `end`? They may name different dimensions
 * where neither is split before and both have one extent. */
static bool same_use(const planner *p, const edge *e, use u, use v) {
  const nst_ir_access *a = access_of(p, u), *b = access_of(p, v);
  for (int r = 0; r < a->nranks; r++) {
    const nst_ir_rank *x = &a->ranks[r], *y = &b->ranks[r];
    if (x->nterms != y->nterms || !same_expr(x->offset, y->offset)) return false;
    for (int t = 0; t < x->nterms; t++) {
      int c = x->terms[t].dim, d = y->terms[t].dim;
      if (!same_expr(x->terms[t].coef, y->terms[t].coef)) return false;
      if (c == d) continue;
      if (!same_expr(p->m->workload.dims[c].extent, p->m->workload.dims[d].extent)) return false;
      for (int i = 0; i < e->end; i++) {
        const nst_ir_node *node = path_node(p, e->stmt, i);
        if ((node->kind == NST_NODE_FOR || node->kind == NST_NODE_PAR) && (node->dim == c || node->dim == d)) return false;
      }
      for (int k = 0; k < a->nranks; k++) { /* a dimension in another rank too would tie the two together */
        if (k == r) continue;
        for (int l = 0; l < a->ranks[k].nterms; l++)
          if (a->ranks[k].terms[l].dim == c) return false;
        for (int l = 0; l < b->ranks[k].nterms; l++) /* its number of terms is compared when its turn comes */
          if (b->ranks[k].terms[l].dim == d) return false;
      }
    }
  }
  return true;
}

static void add_use(planner *p, const edge *e, uses *us, use u) {
  for (size_t i = 0; i < us->len; i++)
    if (same_use(p, e, us->items[i], u)) return;
  *nst_vec_push(p->arena, us) = u;
}

/* How a statement uses a tensor: its output access, or its input accesses. */
static void uses_of(planner *p, const edge *e, uses *us, int stmt, int tensor) {
  const nst_ir_stmt *s = &p->m->workload.stmts[stmt];
  if (s->out.tensor == tensor) add_use(p, e, us, (use){stmt, -1});
  for (int i = 0; i < s->nin; i++)
    if (s->in[i].tensor == tensor) add_use(p, e, us, (use){stmt, i});
}

static bool uses_tensor(const nst_ir_stmt *s, int tensor) {
  if (s->out.tensor == tensor) return true;
  for (int i = 0; i < s->nin; i++)
    if (s->in[i].tensor == tensor) return true;
  return false;
}

static bool on_path(const planner *p, int stmt, int node) {
  for (int i = 0; i < p->m->paths[stmt].nnodes; i++)
    if (p->m->paths[stmt].nodes[i] == node) return true;
  return false;
}

/* The statement to which a keep's traffic belongs: the writer below it, else the first reader. */
static int owner_of(const planner *p, const nst_ir_slot *slot) {
  int first = -1;
  for (int s = 0; s < p->m->workload.nstmts; s++) {
    if (!on_path(p, s, slot->node) || !uses_tensor(&p->m->workload.stmts[s], slot->tensor)) continue;
    if (p->m->workload.stmts[s].out.tensor == slot->tensor) return s;
    if (first < 0) first = s;
  }
  return first;
}

/* Path position of a node, and where the branch that it is in begins. */
static int position_of(const planner *p, int stmt, int node, int *run_start) {
  *run_start = 0;
  for (int i = 0; i < p->m->paths[stmt].nnodes; i++) {
    if (p->m->paths[stmt].nodes[i] == node) return i;
    if (path_node(p, stmt, i)->kind == NST_NODE_SEQ) *run_start = i + 1;
  }
  return -1;
}

static void conflicts_of(planner *p, const edge *e, const uses *us, int tensor, int level) {
  for (int i = e->parent_end; i < e->end; i++) {
    const nst_ir_node *node = path_node(p, e->stmt, i);
    if (node->kind != NST_NODE_PAR || p->m->hardware.levels[node->level].reduce) continue;
    edge apart = *e;
    apart.apart = true;
    products ps = {0};
    add_plain(p, &ps, 1, group_tensor(p, &apart, us), NST_COLUMN_ALL);
    add_plain(p, &ps, -1, group_tensor(p, e, us), NST_COLUMN_ALL);
    *nst_vec_push(p->arena, &p->conflict_formulas) = formula(&ps);
    *nst_vec_push(p->arena, &p->conflicts) = (nst_conflict){e->stmt, tensor, level, node->level};
    return;
  }
}

static size_t at(const planner *p, int stmt, int level, int tensor) {
  return ((size_t)stmt * (size_t)p->m->hardware.nlevels + (size_t)level) * (size_t)p->m->workload.ntensors + (size_t)tensor;
}

/* One edge: from slot `parent` to slot `child`, or to the compute (NULL). */
static void plan_edge(planner *p, int stmt, int tensor, const nst_ir_slot *parent, const nst_ir_slot *child) {
  nst_plan *plan = p->plan;
  int ignored;
  edge e = {.stmt = stmt, .compute = !child, .end = p->m->paths[stmt].nnodes};
  if (child) e.end = position_of(p, stmt, child->node, &e.run_start);
  e.parent_end = position_of(p, stmt, parent->node, &ignored);
  edge alone = e;
  alone.parent_end = -1;
  uses us = {0};
  uses_of(p, &e, &us, stmt, tensor);
  if (child)
    for (int s = 0; s < p->m->workload.nstmts; s++)
      if (s != stmt && on_path(p, s, child->node)) uses_of(p, &e, &us, s, tensor);
  size_t to_parent = at(p, stmt, parent->level, tensor), to_child = child ? at(p, stmt, child->level, tensor) : 0;
  products ps = {0};
  if (p->m->workload.stmts[stmt].out.tensor != tensor) {
    e.unicast = true;
    add_needs(p, &ps, &e, group_tensor(p, &e, &us));
    append(p, &plan->reads[to_parent], &ps);
    if (!child) return;
    products fills = {0};
    add_needs(p, &fills, &alone, group_tensor(p, &alone, &us));
    append(p, &plan->fills[to_child], &fills);
    return;
  }
  factors f = group_tensor(p, &e, &us);
  add_needs(p, &ps, &e, f);
  add_plain(p, &ps, -1, f, NST_COLUMN_FIRST);
  append(p, &plan->reads[to_parent], &ps);
  if (child) append(p, &plan->fills[to_child], &ps);
  products updates = {0};
  add_drains(p, &updates, &e, f);
  append(p, &plan->updates[to_parent], &updates);
  conflicts_of(p, &e, &us, tensor, child ? child->level : path_node(p, stmt, p->m->paths[stmt].nnodes - 1)->level);
  if (!child) return;
  products drains = {0};
  add_drains(p, &drains, &alone, group_tensor(p, &alone, &us));
  append(p, &plan->drains[to_child], &drains);
}

static void plan_tensor(planner *p, int stmt, int tensor) {
  const nst_ir_slot *parent = NULL;
  for (int i = 0; i < p->m->nslots; i++) { /* slots are in preorder, so those of a path are in nest order */
    const nst_ir_slot *slot = &p->m->slots[i];
    if (slot->tensor != tensor || !on_path(p, stmt, slot->node)) continue;
    if (parent && owner_of(p, slot) == stmt) plan_edge(p, stmt, tensor, parent, slot);
    parent = slot;
  }
  if (parent) plan_edge(p, stmt, tensor, parent, NULL);
}

static void plan_tiles(planner *p) {
  for (int i = 0; i < p->m->nslots; i++) {
    const nst_ir_slot *slot = &p->m->slots[i];
    int owner = owner_of(p, slot);
    if (owner < 0) continue; /* kept, used by nothing below */
    edge e = {.stmt = owner, .parent_end = -1};
    e.end = position_of(p, owner, slot->node, &e.run_start);
    uses us = {0};
    uses_of(p, &e, &us, owner, slot->tensor);
    for (int s = 0; s < p->m->workload.nstmts; s++)
      if (s != owner && on_path(p, s, slot->node)) uses_of(p, &e, &us, s, slot->tensor);
    products ps = {0};
    add_plain(p, &ps, 1, group_tensor(p, &e, &us), NST_COLUMN_MAX);
    p->plan->tile[i] = formula(&ps);
  }
}

/* Operations, steps and working instances of a statement: products over its dimensions. */
static void plan_statement(planner *p, int stmt) {
  const nst_ir_stmt *s = &p->m->workload.stmts[stmt];
  const nst_ir_path *path = &p->m->paths[stmt];
  int nlevels = p->m->hardware.nlevels, unit = path_node(p, stmt, path->nnodes - 1)->level;
  factors f = {NST_NEW_ARRAY(p->arena, s->ndims, int), s->ndims};
  products ps = {0};
  for (int i = 0; i < s->ndims; i++) { /* a lone coordinate: ALL is the extent */
    draft *d = new_draft(p, &s->dims[i], 1);
    static const int zero = 0, one = -1;
    nst_group_rank *rank = NST_NEW(p->arena, nst_group_rank);
    nst_group_access *access = NST_NEW(p->arena, nst_group_access);
    *rank = (nst_group_rank){1, &zero, &one, -1, -1};
    *access = (nst_group_access){1, rank};
    d->group.naccesses = 1;
    d->group.accesses = access;
    f.drafts[i] = intern_draft(p, d);
  }
  add_plain(p, &ps, 1, f, NST_COLUMN_ALL);
  p->plan->ops[stmt] = formula(&ps);
  edge e = {.stmt = stmt, .end = path->nnodes, .compute = true};
  for (int i = 0; i < s->ndims; i++) f.drafts[i] = unused_group(p, &e, s->dims[i]);
  products steps = {0};
  add_plain(p, &steps, 1, f, NST_COLUMN_ALL);
  p->plan->steps[stmt] = formula(&steps);
  for (int level = 0; level < nlevels; level++) {
    nst_level_kind kind = p->m->hardware.levels[level].kind;
    if (kind == NST_LEVEL_ARRAY || (kind == NST_LEVEL_COMPUTE && level != unit)) continue;
    edge outside = {.stmt = stmt, .parent_end = -1};
    for (int i = 0; i < path->nnodes; i++) {
      const nst_ir_node *node = path_node(p, stmt, i);
      if (node->kind == NST_NODE_PAR && node->level < level) outside.end = i + 1;
    }
    for (int i = 0; i < s->ndims; i++) f.drafts[i] = unused_group(p, &outside, s->dims[i]);
    products instances = {0};
    add_plain(p, &instances, 1, f, NST_COLUMN_FIRST); /* those that work at the first step: all that ever do */
    p->plan->instances[stmt * nlevels + level] = formula(&instances);
  }
}

/* ---- finishing ---- */

static void renumber(planner *p, nst_formula *fs, size_t n, const int *place) {
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < fs[i].nproducts; k++) {
      int *columns = NST_NEW_ARRAY(p->arena, fs[i].products[k].ncolumns, int);
      for (int c = 0; c < fs[i].products[k].ncolumns; c++) columns[c] = place[fs[i].products[k].columns[c]];
      ((nst_product *)fs[i].products)[k].columns = columns;
    }
}

static void finish(planner *p) {
  nst_plan *plan = p->plan;
  int *place = NST_NEW_ARRAY(p->arena, p->ncolumns, int), next = 0;
  plan->groups = NST_NEW_ARRAY(p->arena, p->drafts.len, nst_plan_group);
  for (size_t i = 0; i < p->drafts.len; i++) {
    draft *d = p->drafts.items[i];
    if (!d->columns.len) continue;
    nst_column *columns = NST_NEW_ARRAY(p->arena, d->columns.len, nst_column);
    for (size_t c = 0; c < d->columns.len; c++) {
      columns[c] = d->columns.items[c].column;
      place[d->columns.items[c].id] = next + (int)c;
    }
    d->group.columns = columns;
    d->group.ncolumns = (int)d->columns.len;
    d->group.splits = d->splits.items;
    d->group.nsplits = (int)d->splits.len;
    plan->groups[plan->ngroups++] =
      (nst_plan_group){&d->group, d->inputs.items, (int)d->inputs.len, next, d->group.ncolumns};
    next += d->group.ncolumns;
  }
  plan->ncolumns = next;
  plan->conflict = p->conflict_formulas.items;
  plan->conflicts = p->conflicts.items;
  plan->nconflicts = (int)p->conflicts.len;
  size_t stmts = (size_t)p->m->workload.nstmts, levels = (size_t)p->m->hardware.nlevels;
  size_t moves = stmts * levels * (size_t)p->m->workload.ntensors;
  renumber(p, plan->reads, moves, place);
  renumber(p, plan->updates, moves, place);
  renumber(p, plan->drains, moves, place);
  renumber(p, plan->fills, moves, place);
  renumber(p, plan->tile, (size_t)p->m->nslots, place);
  renumber(p, plan->ops, stmts, place);
  renumber(p, plan->steps, stmts, place);
  renumber(p, plan->instances, stmts * levels, place);
  renumber(p, plan->conflict, (size_t)plan->nconflicts, place);
}

const nst_plan *nst_plan_make(nst_arena *arena, const nst_ir_mapping *m) {
  planner p = {.arena = arena, .m = m, .plan = NST_NEW(arena, nst_plan)};
  size_t stmts = (size_t)m->workload.nstmts, levels = (size_t)m->hardware.nlevels;
  size_t moves = stmts * levels * (size_t)m->workload.ntensors;
  for (int s = 0; s < m->workload.nstmts; s++)
    if (m->paths[s].nnodes > NST_PLAN_MAX_PATH) return NULL;
  *p.plan = (nst_plan){.ir = m,
                       .reads = NST_NEW_ARRAY(arena, moves, nst_formula), .fills = NST_NEW_ARRAY(arena, moves, nst_formula),
                       .updates = NST_NEW_ARRAY(arena, moves, nst_formula), .drains = NST_NEW_ARRAY(arena, moves, nst_formula),
                       .tile = NST_NEW_ARRAY(arena, m->nslots, nst_formula), .ops = NST_NEW_ARRAY(arena, stmts, nst_formula),
                       .steps = NST_NEW_ARRAY(arena, stmts, nst_formula),
                       .instances = NST_NEW_ARRAY(arena, stmts * levels, nst_formula)};
  for (int s = 0; s < m->workload.nstmts; s++) {
    for (int t = 0; t < m->workload.ntensors; t++)
      if (uses_tensor(&m->workload.stmts[s], t)) plan_tensor(&p, s, t);
    plan_statement(&p, s);
  }
  plan_tiles(&p);
  finish(&p);
  return p.plan;
}
