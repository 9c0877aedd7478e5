/* Dimensions into groups: who shares a rank with whom.
 *
 * A tensor's ranks tie dimensions together; the splits of those dimensions
 * outside an edge's child, each with its kind, make a group. Groups that are
 * written alike are made once, whatever tensor and edge ask: a dimension alone in
 * plain ranks is the same group for every tensor. Several accesses of one tensor
 * agree in some ranks, which are grouped as of one access; the others are counted
 * together. Numbers play no part here (ir/group.c divides further by numbers). */
#include "ir/plan_group.h"
#include <string.h>

const nst_ir_access *nst_plan_access(const nst_planner *p, nst_use u) {
  const nst_ir_stmt *s = &p->m->workload.stmts[u.stmt];
  return u.access < 0 ? &s->out : &s->in[u.access];
}

bool nst_plan_same_expr(const nst_expr *a, const nst_expr *b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind) return false;
  if (a->kind == NST_X_CONST) return nst_rat_cmp(a->value, b->value) == 0;
  if (a->kind == NST_X_PARAM || a->kind == NST_X_VALUE) return a->index == b->index;
  return nst_plan_same_expr(a->a, b->a) && nst_plan_same_expr(a->b, b->b) && nst_plan_same_expr(a->c, b->c) &&
         a->index == b->index && a->truth == b->truth && a->kind != NST_X_METRIC;
}

static int input(nst_planner *p, nst_draft *d, nst_input in) {
  nst_plan_spend(p, 1 + d->inputs.len / 4);
  for (size_t i = 0; i < d->inputs.len; i++)
    if (!memcmp(&d->inputs.items[i], &in, sizeof in)) return (int)i;
  *nst_vec_push(p->arena, &d->inputs) = in;
  return (int)d->inputs.len - 1;
}

static bool is_one(const nst_expr *e) { return e->kind == NST_X_CONST && e->value.den == 1 && e->value.num == 1; }
static bool is_constant_nonzero(const nst_expr *e) { return e->kind == NST_X_CONST && e->value.num != 0; }

static nst_split_kind kind_of(const nst_planner *p, const nst_edge *e, const nst_ir_node *node, int position) {
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

static void add_splits(nst_planner *p, nst_draft *d, const nst_edge *e, const int *dims, int ndims) {
  nst_plan_spend(p, (size_t)e->end * (1 + (size_t)ndims / 4));
  for (int i = 0; i < e->end; i++) {
    const nst_ir_node *node = nst_plan_path_node(p, e->stmt, i);
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

static bool same_draft(const nst_draft *a, const nst_draft *b) {
  if (a->group.ndims != b->group.ndims || a->group.naccesses != b->group.naccesses || a->splits.len != b->splits.len ||
      a->inputs.len != b->inputs.len ||
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

static nst_draft *new_draft(nst_planner *p, const int *dims, int ndims) {
  nst_draft *d = NST_NEW(p->arena, nst_draft);
  int *extents = NST_NEW_ARRAY(p->arena, ndims, int);
  d->group.ndims = ndims;
  d->group.extents = extents;
  for (int i = 0; i < ndims; i++) extents[i] = input(p, d, (nst_input){NST_IN_EXTENT, dims[i], 0, 0, 0});
  return d;
}

/* ---- a dimension alone, not used or in plain ranks: nearly all groups are, so they are found without being made ---- */

typedef struct { nst_split_kind kind; int node; /* -1: tiles of 1 */ } single_split;

static int splits_of(const nst_planner *p, const nst_edge *e, int dim, single_split *out) {
  int n = 0;
  for (int i = 0; i < e->end; i++) {
    const nst_ir_node *node = nst_plan_path_node(p, e->stmt, i);
    if ((node->kind == NST_NODE_FOR || node->kind == NST_NODE_PAR) && node->dim == dim)
      out[n++] = (single_split){kind_of(p, e, node, i), node->split == NST_TILE_ONE ? -1 : node->id};
  }
  if (e->compute) out[n++] = (single_split){NST_SPLIT_TIME, -1};
  return n;
}

static bool has_splits(const nst_draft *d, const single_split *splits, int n) {
  if (d->splits.len != (size_t)n) return false;
  for (int i = 0; i < n; i++) {
    const nst_group_split *s = &d->splits.items[i];
    if (s->kind != splits[i].kind || (s->input < 0 ? -1 : d->inputs.items[s->input].a) != splits[i].node) return false;
  }
  return true;
}

static int single_group(nst_planner *p, const nst_edge *e, int dim, bool plain) {
  static const int zero = 0, one = -1;
  single_split splits[NST_PLAN_MAX_PATH + 1];
  nst_plan_spend(p, 2 + (size_t)e->end / 4);
  const int n = splits_of(p, e, dim, splits);
  for (int i = p->singles[plain][dim]; i >= 0; i = p->drafts.items[i]->next) {
    if (!nst_plan_spend(p, 1) || has_splits(p->drafts.items[i], splits, n)) return i;
  }
  nst_draft *d = new_draft(p, &dim, 1);
  for (int i = 0; i < n; i++) {
    const int tile = splits[i].node < 0 ? -1 : input(p, d, (nst_input){NST_IN_TILE, splits[i].node, 0, 0, 0});
    *nst_vec_push(p->arena, &d->splits) = (nst_group_split){splits[i].kind, 0, tile};
  }
  if (plain) {
    nst_group_rank *rank = NST_NEW(p->arena, nst_group_rank);
    nst_group_access *access = NST_NEW(p->arena, nst_group_access);
    *rank = (nst_group_rank){1, &zero, &one, -1, -1};
    *access = (nst_group_access){1, rank};
    d->group.naccesses = 1;
    d->group.accesses = access;
  }
  d->next = p->singles[plain][dim];
  *nst_vec_push(p->arena, &p->drafts) = d;
  return p->singles[plain][dim] = (int)p->drafts.len - 1;
}

/* ---- all others ---- */

static int intern_draft(nst_planner *p, nst_draft *d) {
  nst_plan_spend(p, 4 + p->drafts.len / 2);
  for (size_t i = 0; i < p->drafts.len; i++)
    if (same_draft(p->drafts.items[i], d)) return (int)i;
  *nst_vec_push(p->arena, &p->drafts) = d;
  return (int)p->drafts.len - 1;
}

/* Dimensions that the tensor does not use: one group each. */
int nst_plan_unused_group(nst_planner *p, const nst_edge *e, int dim) {
  return single_group(p, e, dim, false);
}

/* A dimension alone in ranks without edges, by constants other than 0: as good as its coordinates. */
static bool is_plain(const nst_planner *p, const nst_uses *us, const int *dims, int ndims) {
  const nst_ir_access *a = nst_plan_access(p, us->items[0]);
  if (us->len != 1 || ndims != 1) return false;
  const nst_expr **shape = p->m->workload.tensors[a->tensor].shape;
  for (int r = 0; r < a->nranks; r++)
    for (int t = 0; t < a->ranks[r].nterms; t++)
      if (a->ranks[r].terms[t].dim == dims[0] &&
          (!is_constant_nonzero(a->ranks[r].terms[t].coef) || (shape && shape[r])))
        return false;
  return true;
}

static bool rank_touches(const nst_ir_rank *rank, const int *dims, int ndims) {
  for (int t = 0; t < rank->nterms; t++)
    if (dim_slot(dims, ndims, rank->terms[t].dim) >= 0) return true;
  return false;
}

static nst_group_rank make_rank(nst_planner *p, nst_draft *d, nst_use u, int r, const int *dims, int ndims) {
  const nst_ir_access *a = nst_plan_access(p, u);
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
static int used_group(nst_planner *p, const nst_edge *e, const nst_uses *us, const int *dims, int ndims,
                      const bool *ranks_in) {
  if (is_plain(p, us, dims, ndims)) return single_group(p, e, dims[0], true);
  nst_draft *d = new_draft(p, dims, ndims);
  add_splits(p, d, e, dims, ndims);
  nst_group_access *accesses = NST_NEW_ARRAY(p->arena, us->len, nst_group_access);
  d->group.naccesses = (int)us->len;
  d->group.accesses = accesses;
  for (size_t i = 0; i < us->len; i++) {
    const nst_ir_access *a = nst_plan_access(p, us->items[i]);
    if (!nst_plan_spend(p, 4 + (size_t)a->nranks * (1 + (size_t)ndims / 4))) break;
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
static void group_ranks(nst_planner *p, const nst_edge *e, const nst_uses *one, const bool *ranks_in, bool *used,
                        nst_factors *f) {
  const nst_ir_access *a = nst_plan_access(p, one->items[0]);
  int ndims = p->m->workload.ndims;
  int *leader = NST_NEW_ARRAY(p->arena, ndims, int), *dims = NST_NEW_ARRAY(p->arena, ndims, int);
  bool *here = NST_NEW_ARRAY(p->arena, ndims, bool), constant = false;
  for (int d = 0; d < ndims; d++) leader[d] = d;
  for (int r = 0; r < a->nranks; r++) {
    if (!ranks_in[r]) continue;
    if (!nst_plan_spend(p, 1 + (size_t)a->ranks[r].nterms * (size_t)ndims / 8)) break;
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
    if (!nst_plan_spend(p, 1 + (size_t)ndims / 8)) break;
    int n = 0;
    for (int k = 0; k < ndims; k++)
      if (here[k] && leader[k] == d) dims[n++] = k;
    f->drafts[f->n++] = used_group(p, e, one, dims, n, ranks_in);
  }
  for (int d = 0; d < ndims; d++) used[d] = used[d] || here[d];
}

static bool same_rank(const nst_ir_rank *a, const nst_ir_rank *b) {
  if (a->nterms != b->nterms || !nst_plan_same_expr(a->offset, b->offset)) return false;
  for (int t = 0; t < a->nterms; t++)
    if (a->terms[t].dim != b->terms[t].dim || !nst_plan_same_expr(a->terms[t].coef, b->terms[t].coef)) return false;
  return true;
}

/* Several accesses: ranks in which they all agree are groups as of one access, unless they share a dimension with a
 * rank in which they do not; the others are counted together. joint: the ranks of the second kind; marks their
 * dimensions. Whether there are any. */
static bool joint_ranks(const nst_planner *p, const nst_uses *us, bool *joint, bool *dims) {
  const nst_ir_access *first = nst_plan_access(p, us->items[0]);
  bool any = false;
  for (bool more = us->len > 1; more;) {
    more = false;
    for (int r = 0; r < first->nranks; r++) {
      if (!nst_plan_spend(p, 1 + us->len)) return any;
      bool apart = joint[r];
      for (size_t i = 0; i < us->len && !apart; i++) {
        const nst_ir_rank *rank = &nst_plan_access(p, us->items[i])->ranks[r];
        apart = !same_rank(rank, &first->ranks[r]);
        for (int t = 0; t < rank->nterms; t++) apart = apart || dims[rank->terms[t].dim];
      }
      if (!apart || joint[r]) continue;
      joint[r] = any = more = true;
      for (size_t i = 0; i < us->len; i++) {
        const nst_ir_rank *rank = &nst_plan_access(p, us->items[i])->ranks[r];
        for (int t = 0; t < rank->nterms; t++) dims[rank->terms[t].dim] = true;
      }
    }
  }
  return any;
}

static nst_view *view_of(nst_planner *p, const nst_edge *e) {
  nst_view view = {.stmt = e->stmt, .end = e->end, .compute = e->compute};
  for (int i = 0; i < e->end; i++) {
    const nst_ir_node *node = nst_plan_path_node(p, e->stmt, i);
    if (node->kind == NST_NODE_PAR && kind_of(p, e, node, i) == NST_SPLIT_SIBLING)
      view.siblings[i / 64] |= UINT64_C(1) << i % 64;
  }
  nst_plan_spend(p, 2 + (size_t)e->end / 8 + p->views.len / 8);
  for (size_t i = 0; i < p->views.len; i++) {
    nst_view *v = p->views.items[i];
    if (v->stmt == view.stmt && v->end == view.end && v->compute == view.compute &&
        !memcmp(v->siblings, view.siblings, sizeof view.siblings))
      return v;
  }
  nst_view *made = NST_NEW(p->arena, nst_view);
  *made = view;
  *nst_vec_push(p->arena, &p->views) = made;
  return made;
}

static nst_factors group_tensor(nst_planner *p, const nst_edge *e, const nst_uses *us);

nst_factors nst_plan_group_tensor(nst_planner *p, const nst_edge *e, const nst_uses *us) {
  if (us->len != 1) return group_tensor(p, e, us);
  const nst_use use = us->items[0];
  nst_view *view = view_of(p, e);
  for (size_t i = 0; i < view->known.len; i++)
    if (view->known.items[i].use.stmt == use.stmt && view->known.items[i].use.access == use.access)
      return view->known.items[i].factors;
  const nst_factors factors = group_tensor(p, e, us);
  *nst_vec_push(p->arena, &view->known) = (nst_known_factors){use, factors};
  return factors;
}

/* All dimensions of the statement, divided into the groups of a tensor as it is used. */
static nst_factors group_tensor(nst_planner *p, const nst_edge *e, const nst_uses *us) {
  const nst_ir_workload *w = &p->m->workload;
  const nst_ir_stmt *s = &w->stmts[e->stmt];
  int nranks = nst_plan_access(p, us->items[0])->nranks, n = 0;
  nst_plan_spend(p, 8 + (size_t)w->ndims / 4 + (size_t)nranks / 4);
  bool *joint = NST_NEW_ARRAY(p->arena, nranks, bool), *alone = NST_NEW_ARRAY(p->arena, nranks, bool);
  bool *used = NST_NEW_ARRAY(p->arena, w->ndims, bool);
  int *dims = NST_NEW_ARRAY(p->arena, w->ndims, int);
  nst_factors f = {NST_NEW_ARRAY(p->arena, w->ndims + 2, int), 0};
  nst_uses one = {us->items, 1, 1};
  bool any = joint_ranks(p, us, joint, used);
  for (int d = 0; d < w->ndims; d++)
    if (used[d]) dims[n++] = d;
  for (int r = 0; r < nranks; r++) alone[r] = !joint[r];
  if (any) f.drafts[f.n++] = used_group(p, e, us, dims, n, joint);
  group_ranks(p, e, &one, alone, used, &f);
  for (int i = 0; i < s->ndims; i++)
    if (!used[s->dims[i]]) f.drafts[f.n++] = nst_plan_unused_group(p, e, s->dims[i]);
  return f;
}

int nst_plan_extent_group(nst_planner *p, int dim) {
  static const nst_edge outermost = {0};
  return single_group(p, &outermost, dim, true);
}
