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
 * mapping's text alone; numbers enter in nst_group_count. */
#include "ir/plan.h"
#include "ir/plan_group.h"
#include <string.h>

typedef NST_VEC(nst_product) products;

/* ---- columns and products ---- */

static int column(nst_planner *p, int group, nst_column col) {
  nst_draft *d = p->drafts.items[group];
  nst_plan_spend(p, 1 + d->columns.len / 8);
  for (size_t i = 0; i < d->columns.len; i++) {
    const nst_column *c = &d->columns.items[i].column;
    if (c->kind == col.kind && c->advance == col.advance && c->cut == col.cut) return d->columns.items[i].id;
  }
  *nst_vec_push(p->arena, &d->columns) = (nst_wanted_column){col, p->ncolumns};
  return p->ncolumns++;
}

/* Is the column 0 whatever the numbers? (An element of a lone dimension never outlives its tile.) */
static bool always_zero(const nst_planner *p, int group, nst_column col) {
  const nst_draft *d = p->drafts.items[group];
  return col.advance && (col.kind == NST_COLUMN_KEPT || col.kind == NST_COLUMN_STAY) && d->group.naccesses == 1 &&
         d->group.ndims == 1 && d->group.accesses[0].nranks == 1 && d->group.accesses[0].ranks[0].coefs[0] == -1;
}

static void add_product(nst_planner *p, products *out, int sign, const int *columns, int n) {
  *nst_vec_push(p->arena, out) = (nst_product){sign, n, columns};
}

static void add_plain(nst_planner *p, products *out, int sign, nst_factors f, nst_column_kind kind) {
  int *columns = NST_NEW_ARRAY(p->arena, f.n, int);
  for (int i = 0; i < f.n; i++) columns[i] = column(p, f.drafts[i], (nst_column){kind, false, 0});
  add_product(p, out, sign, columns, f.n);
}

static bool group_has_dim(const nst_planner *p, int group, int dim) {
  const nst_draft *d = p->drafts.items[group];
  for (int k = 0; k < d->group.ndims; k++)
    if (d->inputs.items[d->group.extents[k]].a == dim) return true;
  return false;
}

/* Number of the group's TIME splits at path positions < position (implicit loops come after all). */
static int times_before(const nst_planner *p, const nst_edge *e, int group, int position) {
  int n = 0;
  for (int i = 0; i < position; i++) {
    const nst_ir_node *node = nst_plan_path_node(p, e->stmt, i);
    n += node->kind == NST_NODE_FOR && group_has_dim(p, group, node->dim);
  }
  return n;
}

typedef struct { nst_column_kind kind; int sign; } step_product;

static void add_step(nst_planner *p, products *out, step_product of, nst_factors f, const bool *moves, const int *cuts) {
  for (int i = 0; i < f.n; i++)
    if (always_zero(p, f.drafts[i], (nst_column){of.kind, moves[i], cuts[i]})) return;
  int *columns = NST_NEW_ARRAY(p->arena, f.n, int);
  for (int i = 0; i < f.n; i++) columns[i] = column(p, f.drafts[i], (nst_column){of.kind, moves[i], cuts[i]});
  add_product(p, out, of.sign, columns, f.n);
}

/* A product for each step that a for between the start of the run and the edge begins, of columns of one kind or two. */
static void add_steps(nst_planner *p, products *out, const nst_edge *e, nst_factors f, const step_product *each, int n) {
  int *cuts = NST_NEW_ARRAY(p->arena, f.n, int);
  bool *moves = NST_NEW_ARRAY(p->arena, f.n, bool);
  for (int i = 0; i < f.n; i++) cuts[i] = times_before(p, e, f.drafts[i], e->run_start);
  for (int at = e->run_start; at < e->end && !nst_fuel_is_out(p->fuel); at++) {
    const nst_ir_node *node = nst_plan_path_node(p, e->stmt, at);
    if (node->kind != NST_NODE_FOR) continue;
    if (!nst_plan_spend(p, (size_t)f.n * (4 + (size_t)n))) return;
    for (int i = 0; i < f.n; i++) moves[i] = group_has_dim(p, f.drafts[i], node->dim);
    for (int k = 0; k < n; k++) add_step(p, out, each[k], f, moves, cuts);
    for (int i = 0; i < f.n; i++) cuts[i] += moves[i];
  }
}

static void add_needs(nst_planner *p, products *out, const nst_edge *e, nst_factors f) {
  static const step_product kept = {NST_COLUMN_KEPT, -1};
  add_plain(p, out, 1, f, NST_COLUMN_ALL);
  if (!e->compute) add_steps(p, out, e, f, &kept, 1);
}

static void add_drains(nst_planner *p, products *out, const nst_edge *e, nst_factors f) {
  static const step_product moved[] = {{NST_COLUMN_OLD, 1}, {NST_COLUMN_STAY, -1}};
  if (e->compute) {
    add_plain(p, out, 1, f, NST_COLUMN_ALL);
    return;
  }
  int *columns = NST_NEW_ARRAY(p->arena, f.n, int);
  for (int i = 0; i < f.n; i++)
    columns[i] =
      column(p, f.drafts[i], (nst_column){NST_COLUMN_OLD, false, times_before(p, e, f.drafts[i], e->run_start)});
  add_product(p, out, 1, columns, f.n);
  add_steps(p, out, e, f, moved, 2);
}

static nst_formula formula(const products *ps) { return (nst_formula){(int)ps->len, ps->items}; }

static void append(nst_planner *p, nst_formula *f, const products *ps) {
  if (!f->nproducts) {
    *f = formula(ps);
    return;
  }
  products all = {0};
  if (!nst_plan_spend(p, 2 + (size_t)f->nproducts / 2 + ps->len / 2)) return;
  for (int i = 0; i < f->nproducts; i++) *nst_vec_push(p->arena, &all) = f->products[i];
  for (size_t i = 0; i < ps->len; i++) *nst_vec_push(p->arena, &all) = ps->items[i];
  *f = formula(&all);
}

/* ---- edges ---- */

/* Do two accesses touch the same elements of a tile that is kept before `end`? They may name different dimensions
 * where neither is split before and both have one extent. */
static bool same_use(const nst_planner *p, const nst_edge *e, nst_use u, nst_use v) {
  const nst_ir_access *a = nst_plan_access(p, u), *b = nst_plan_access(p, v);
  for (int r = 0; r < a->nranks; r++) {
    const nst_ir_rank *x = &a->ranks[r], *y = &b->ranks[r];
    if (x->nterms != y->nterms || !nst_plan_same_expr(x->offset, y->offset)) return false;
    for (int t = 0; t < x->nterms; t++) {
      int c = x->terms[t].dim, d = y->terms[t].dim;
      if (!nst_plan_same_expr(x->terms[t].coef, y->terms[t].coef)) return false;
      if (c == d) continue;
      if (!nst_plan_same_expr(p->m->workload.dims[c].extent, p->m->workload.dims[d].extent)) return false;
      for (int i = 0; i < e->end; i++) {
        const nst_ir_node *node = nst_plan_path_node(p, e->stmt, i);
        if ((node->kind == NST_NODE_FOR || node->kind == NST_NODE_PAR) && (node->dim == c || node->dim == d))
          return false;
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

static void add_use(nst_planner *p, const nst_edge *e, nst_uses *us, nst_use u) {
  const size_t ranks = (size_t)nst_plan_access(p, u)->nranks;
  if (!nst_plan_spend(p, 1 + us->len * (1 + ranks / 4)) && us->len) return;
  for (size_t i = 0; i < us->len; i++)
    if (same_use(p, e, us->items[i], u)) return;
  *nst_vec_push(p->arena, us) = u;
}

/* How a statement uses a tensor: its output access, or its input accesses. */
static void uses_of(nst_planner *p, const nst_edge *e, nst_uses *us, int stmt, int tensor) {
  const nst_ir_stmt *s = &p->m->workload.stmts[stmt];
  nst_plan_spend(p, 1 + (size_t)s->nin / 8);
  if (s->out.tensor == tensor) add_use(p, e, us, (nst_use){stmt, -1});
  for (int i = 0; i < s->nin; i++)
    if (s->in[i].tensor == tensor) add_use(p, e, us, (nst_use){stmt, i});
}

static bool uses_tensor(const nst_ir_stmt *s, int tensor) {
  if (s->out.tensor == tensor) return true;
  for (int i = 0; i < s->nin; i++)
    if (s->in[i].tensor == tensor) return true;
  return false;
}

static bool on_path(const nst_planner *p, int stmt, int node) {
  nst_plan_spend(p, 1 + (size_t)p->m->paths[stmt].nnodes / 16);
  for (int i = 0; i < p->m->paths[stmt].nnodes; i++)
    if (p->m->paths[stmt].nodes[i] == node) return true;
  return false;
}

/* The statement to which a keep's traffic belongs: the writer below it, else the first reader. */
static int owner_of(const nst_planner *p, const nst_ir_slot *slot) {
  int first = -1;
  for (int s = 0; s < p->m->workload.nstmts && !nst_fuel_is_out(p->fuel); s++) {
    if (!on_path(p, s, slot->node) || !uses_tensor(&p->m->workload.stmts[s], slot->tensor)) continue;
    if (p->m->workload.stmts[s].out.tensor == slot->tensor) return s;
    if (first < 0) first = s;
  }
  return first;
}

/* Path position of a node, and where the branch that it is in begins. */
static int position_of(const nst_planner *p, int stmt, int node, int *run_start) {
  *run_start = 0;
  for (int i = 0; i < p->m->paths[stmt].nnodes; i++) {
    if (p->m->paths[stmt].nodes[i] == node) return i;
    if (nst_plan_path_node(p, stmt, i)->kind == NST_NODE_SEQ) *run_start = i + 1;
  }
  return -1;
}

static void conflicts_of(nst_planner *p, const nst_edge *e, const nst_uses *us, int tensor, int level) {
  for (int i = e->parent_end; i < e->end; i++) {
    const nst_ir_node *node = nst_plan_path_node(p, e->stmt, i);
    if (node->kind != NST_NODE_PAR || p->m->hardware.levels[node->level].reduce) continue;
    nst_edge apart = *e;
    apart.apart = true;
    products ps = {0};
    add_plain(p, &ps, 1, nst_plan_group_tensor(p, &apart, us), NST_COLUMN_ALL);
    add_plain(p, &ps, -1, nst_plan_group_tensor(p, e, us), NST_COLUMN_ALL);
    *nst_vec_push(p->arena, &p->conflict_formulas) = formula(&ps);
    *nst_vec_push(p->arena, &p->conflicts) = (nst_conflict){e->stmt, tensor, level, node->level};
    return;
  }
}

static size_t at(const nst_planner *p, int stmt, int level, int tensor) {
  return ((size_t)stmt * (size_t)p->m->hardware.nlevels + (size_t)level) * (size_t)p->m->workload.ntensors +
         (size_t)tensor;
}

/* One edge: from slot `parent` to slot `child`, or to the compute (NULL). Where nothing is spread between them, the groups of the edge
 * are those of the child alone, and what one gives the other takes: the products are the same. */
static void plan_edge(nst_planner *p, int stmt, int tensor, const nst_ir_slot *parent, const nst_ir_slot *child) {
  nst_plan *plan = p->plan;
  int ignored;
  nst_edge e = {.stmt = stmt, .compute = !child, .end = p->m->paths[stmt].nnodes};
  if (child) e.end = position_of(p, stmt, child->node, &e.run_start);
  e.parent_end = position_of(p, stmt, parent->node, &ignored);
  nst_edge alone = e;
  alone.parent_end = -1;
  nst_uses us = {0};
  uses_of(p, &e, &us, stmt, tensor);
  if (child)
    for (int s = 0; s < p->m->workload.nstmts && !nst_fuel_is_out(p->fuel); s++)
      if (s != stmt && on_path(p, s, child->node)) uses_of(p, &e, &us, s, tensor);
  size_t to_parent = at(p, stmt, parent->level, tensor), to_child = child ? at(p, stmt, child->level, tensor) : 0;
  products ps = {0};
  if (p->m->workload.stmts[stmt].out.tensor != tensor) {
    e.unicast = true;
    const nst_factors f = nst_plan_group_tensor(p, &e, &us);
    add_needs(p, &ps, &e, f);
    append(p, &plan->reads[to_parent], &ps);
    if (!child) return;
    const nst_factors own = nst_plan_group_tensor(p, &alone, &us);
    products fills = {0};
    if (own.drafts != f.drafts) add_needs(p, &fills, &alone, own);
    append(p, &plan->fills[to_child], own.drafts != f.drafts ? &fills : &ps);
    return;
  }
  nst_factors f = nst_plan_group_tensor(p, &e, &us);
  add_needs(p, &ps, &e, f);
  add_plain(p, &ps, -1, f, NST_COLUMN_FIRST);
  append(p, &plan->reads[to_parent], &ps);
  if (child) append(p, &plan->fills[to_child], &ps);
  products updates = {0};
  add_drains(p, &updates, &e, f);
  append(p, &plan->updates[to_parent], &updates);
  conflicts_of(p, &e, &us, tensor,
               child ? child->level : nst_plan_path_node(p, stmt, p->m->paths[stmt].nnodes - 1)->level);
  if (!child) return;
  const nst_factors own = nst_plan_group_tensor(p, &alone, &us);
  products drains = {0};
  if (own.drafts != f.drafts) add_drains(p, &drains, &alone, own);
  append(p, &plan->drains[to_child], own.drafts != f.drafts ? &drains : &updates);
}

static void plan_tensor(nst_planner *p, int stmt, int tensor) {
  const nst_ir_slot *parent = NULL;
  for (int i = 0; i < p->m->nslots && nst_plan_spend(p, 1); i++) { /* slots are in preorder, so those of a path are in nest order */
    const nst_ir_slot *slot = &p->m->slots[i];
    if (slot->tensor != tensor || !on_path(p, stmt, slot->node)) continue;
    if (parent && owner_of(p, slot) == stmt) plan_edge(p, stmt, tensor, parent, slot);
    parent = slot;
  }
  if (parent) plan_edge(p, stmt, tensor, parent, NULL);
}

static void plan_tiles(nst_planner *p) {
  for (int i = 0; i < p->m->nslots && nst_plan_spend(p, 1); i++) {
    const nst_ir_slot *slot = &p->m->slots[i];
    int owner = owner_of(p, slot);
    if (owner < 0) continue; /* kept, used by nothing below */
    nst_edge e = {.stmt = owner, .parent_end = -1};
    e.end = position_of(p, owner, slot->node, &e.run_start);
    nst_uses us = {0};
    uses_of(p, &e, &us, owner, slot->tensor);
    for (int s = 0; s < p->m->workload.nstmts && !nst_fuel_is_out(p->fuel); s++)
      if (s != owner && on_path(p, s, slot->node)) uses_of(p, &e, &us, s, slot->tensor);
    products ps = {0};
    add_plain(p, &ps, 1, nst_plan_group_tensor(p, &e, &us), NST_COLUMN_MAX);
    p->plan->tile[i] = formula(&ps);
  }
}

/* Operations, steps and working instances of a statement: products over its dimensions. */
static void plan_statement(nst_planner *p, int stmt) {
  const nst_ir_stmt *s = &p->m->workload.stmts[stmt];
  const nst_ir_path *path = &p->m->paths[stmt];
  int nlevels = p->m->hardware.nlevels, unit = nst_plan_path_node(p, stmt, path->nnodes - 1)->level;
  nst_factors f = {NST_NEW_ARRAY(p->arena, s->ndims, int), s->ndims};
  products ps = {0};
  for (int i = 0; i < s->ndims; i++) f.drafts[i] = nst_plan_extent_group(p, s->dims[i]);
  add_plain(p, &ps, 1, f, NST_COLUMN_ALL);
  p->plan->ops[stmt] = formula(&ps);
  nst_edge e = {.stmt = stmt, .end = path->nnodes, .compute = true};
  for (int i = 0; i < s->ndims; i++) f.drafts[i] = nst_plan_unused_group(p, &e, s->dims[i]);
  products steps = {0};
  add_plain(p, &steps, 1, f, NST_COLUMN_ALL);
  p->plan->steps[stmt] = formula(&steps);
  for (int level = 0; level < nlevels && nst_plan_spend(p, 2 + (size_t)path->nnodes / 8); level++) {
    nst_level_kind kind = p->m->hardware.levels[level].kind;
    if (kind == NST_LEVEL_ARRAY || (kind == NST_LEVEL_COMPUTE && level != unit)) continue;
    nst_edge outside = {.stmt = stmt, .parent_end = -1};
    for (int i = 0; i < path->nnodes; i++) {
      const nst_ir_node *node = nst_plan_path_node(p, stmt, i);
      if (node->kind == NST_NODE_PAR && node->level < level) outside.end = i + 1;
    }
    for (int i = 0; i < s->ndims; i++) f.drafts[i] = nst_plan_unused_group(p, &outside, s->dims[i]);
    products instances = {0};
    add_plain(p, &instances, 1, f, NST_COLUMN_FIRST); /* those that work at the first step: all that ever do */
    p->plan->instances[stmt * nlevels + level] = formula(&instances);
  }
}

/* ---- finishing ---- */

/* Formulas may share products, so each gets its own. */
static void renumber(nst_planner *p, nst_formula *fs, size_t n, const int *place) {
  for (size_t i = 0; i < n; i++) {
    const nst_formula *f = &fs[i];
    size_t total = 0;
    for (int k = 0; k < f->nproducts; k++) total += (size_t)f->products[k].ncolumns;
    if (!f->nproducts || !nst_plan_spend(p, (size_t)f->nproducts + total / 4)) continue;
    nst_product *own = NST_NEW_ARRAY(p->arena, f->nproducts, nst_product);
    int *columns = NST_NEW_ARRAY(p->arena, total, int);
    for (int k = 0; k < f->nproducts; k++) {
      const nst_product *from = &f->products[k];
      own[k] = (nst_product){from->sign, from->ncolumns, columns};
      for (int c = 0; c < from->ncolumns; c++) *columns++ = place[from->columns[c]];
    }
    fs[i].products = own;
  }
}

static void finish(nst_planner *p) {
  nst_plan *plan = p->plan;
  int *place = NST_NEW_ARRAY(p->arena, p->ncolumns, int), next = 0;
  plan->groups = NST_NEW_ARRAY(p->arena, p->drafts.len, nst_plan_group);
  for (size_t i = 0; i < p->drafts.len; i++) {
    nst_draft *d = p->drafts.items[i];
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
  return nst_plan_make_within(arena, m, NULL);
}

const nst_plan *nst_plan_make_within(nst_arena *arena, const nst_ir_mapping *m, uint64_t *fuel) {
  nst_planner p = {.arena = arena, .m = m, .plan = NST_NEW(arena, nst_plan), .fuel = fuel};
  size_t stmts = (size_t)m->workload.nstmts, levels = (size_t)m->hardware.nlevels;
  size_t moves = stmts * levels * (size_t)m->workload.ntensors;
  for (int s = 0; s < m->workload.nstmts; s++)
    if (m->paths[s].nnodes > NST_PLAN_MAX_PATH) return NULL;
  if (!nst_plan_spend(&p, moves)) return NULL;
  for (int plain = 0; plain < 2; plain++) {
    p.singles[plain] = NST_NEW_ARRAY(arena, m->workload.ndims, int);
    for (int d = 0; d < m->workload.ndims; d++) p.singles[plain][d] = -1;
  }
  *p.plan = (nst_plan){.ir = m,
                       .reads = NST_NEW_ARRAY(arena, moves, nst_formula),
                       .fills = NST_NEW_ARRAY(arena, moves, nst_formula),
                       .updates = NST_NEW_ARRAY(arena, moves, nst_formula),
                       .drains = NST_NEW_ARRAY(arena, moves, nst_formula),
                       .tile = NST_NEW_ARRAY(arena, m->nslots, nst_formula),
                       .ops = NST_NEW_ARRAY(arena, stmts, nst_formula),
                       .steps = NST_NEW_ARRAY(arena, stmts, nst_formula),
                       .instances = NST_NEW_ARRAY(arena, stmts * levels, nst_formula)};
  for (int s = 0; s < m->workload.nstmts && !nst_fuel_is_out(fuel); s++) {
    for (int t = 0; t < m->workload.ntensors && nst_plan_spend(&p, 1 + (size_t)m->workload.stmts[s].nin / 8); t++)
      if (uses_tensor(&m->workload.stmts[s], t)) plan_tensor(&p, s, t);
    plan_statement(&p, s);
  }
  plan_tiles(&p);
  if (nst_fuel_is_out(fuel)) return NULL;
  finish(&p);
  return nst_fuel_is_out(fuel) ? NULL : p.plan;
}
