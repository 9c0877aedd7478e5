/* A whole mapping to code: the same walk as nst_nest_make, written down instead
 * of carried out.
 *
 * Every check of ir/nest.c becomes a condition: a tile that is no positive
 * integer or a par that does not fit goes into `feasible`, anything else into
 * `ok`. Positive numbers are clamped to at least 1 before they divide, so the
 * code may run on through an infeasible point; its results are then not used. */
#include "backend/codegen.h"

typedef struct {
  nst_cg l;
  nst_code *code;
  const nst_ir_mapping *m;
  nst_cg_nest *out;
  nst_id one, zero, yes;
  nst_id **axes;    /* [nlevels][naxes] */
  int *outer_split; /* [nnodes]: the split of the same dimension next outside, or -1 */
  int *outer_par;   /* [nnodes]: the par on the same axis next outside, or -1 */
  nst_id *used;     /* [nnodes]: places used on the axis up to and with a par */
} walk;

static nst_id op(walk *w, nst_inst_op o, nst_id a, nst_id b) { return nst_code_op(w->code, o, a, b); }

/* Whether a value that metrics are made of is the same for every point. */
static void note_cost(walk *w, bool fixed) { w->out->fixed_costs = w->out->fixed_costs && fixed; }

static void require(walk *w, nst_id *condition, nst_id more) { *condition = op(w, NST_INST_AND, *condition, more); }

static nst_id at_most(walk *w, nst_id a, nst_id b) { return nst_code_not(w->code, op(w, NST_INST_LT, b, a)); }

static nst_id positive(walk *w, nst_id a) { return op(w, NST_INST_MAX, a, w->one); }

/* Rounded up; a and b at least 1. */
static nst_id ceildiv(walk *w, nst_id a, nst_id b) {
  return op(w, NST_INST_ADD, op(w, NST_INST_DIV, op(w, NST_INST_SUB, a, w->one), b), w->one);
}

/* A positive integer, else *legal is false. */
static nst_id size(walk *w, const nst_expr *e, nst_id *legal) {
  nst_cg_value v = nst_cg_expr(&w->l, e);
  nst_id integral = w->yes, n = nst_cg_integer(&w->l, &v, &w->out->ok, &integral);
  require(w, legal, integral);
  require(w, legal, at_most(w, w->one, n));
  return positive(w, n);
}

enum { COEF_BITS = 62 };

/* An integer within +-2^62; e may be NULL. */
static nst_id coefficient(walk *w, const nst_expr *e) {
  if (!e) return w->zero;
  nst_cg_value v = nst_cg_expr(&w->l, e);
  nst_id integral = w->yes, n = nst_cg_integer(&w->l, &v, &w->out->ok, &integral);
  require(w, &w->out->ok, integral);
  require(w, &w->out->ok, at_most(w, n, nst_code_const(w->code, INT64_C(1) << COEF_BITS)));
  require(w, &w->out->ok, at_most(w, nst_code_const(w->code, -(INT64_C(1) << COEF_BITS)), n));
  return n;
}

static nst_id magnitude(walk *w, nst_id a) {
  return nst_code_select(w->code, op(w, NST_INST_LT, a, w->zero), op(w, NST_INST_SUB, w->zero, a), a);
}

/* |offset| + sum of |coef| * (extent - 1) is at most 2^62. */
static void rank_fits(walk *w, const nst_ir_rank *ir, const nst_cg_rank *r) {
  nst_id reach = magnitude(w, r->offset);
  for (int i = 0; i < ir->nterms; i++) {
    nst_id width = op(w, NST_INST_SUB, w->out->extent[ir->terms[i].dim], w->one);
    nst_id more = nst_code_checked(w->code, NST_INST_MUL, magnitude(w, r->coef[i]), width, &w->out->ok);
    reach = nst_code_checked(w->code, NST_INST_ADD, reach, more, &w->out->ok);
  }
  require(w, &w->out->ok, at_most(w, reach, nst_code_const(w->code, INT64_C(1) << COEF_BITS)));
}

static void generate_access(walk *w, nst_cg_access *out, const nst_ir_access *a) {
  const nst_ir_tensor *t = &w->m->workload.tensors[a->tensor];
  out->ranks = NST_NEW_ARRAY(w->code->arena, a->nranks, nst_cg_rank);
  for (int r = 0; r < a->nranks; r++) {
    nst_cg_rank *rank = &out->ranks[r];
    rank->coef = NST_NEW_ARRAY(w->code->arena, a->ranks[r].nterms, nst_id);
    for (int i = 0; i < a->ranks[r].nterms; i++) rank->coef[i] = coefficient(w, a->ranks[r].terms[i].coef);
    rank->offset = coefficient(w, a->ranks[r].offset);
    bool declared = t->shape && t->shape[r];
    rank->size = declared ? size(w, t->shape[r], &w->out->ok) : nst_code_const(w->code, -1);
    rank_fits(w, &a->ranks[r], rank);
  }
}

static void generate_workload(walk *w) {
  const nst_ir_workload *wl = &w->m->workload;
  nst_arena *arena = w->code->arena;
  w->out->extent = NST_NEW_ARRAY(arena, wl->ndims, nst_id);
  for (int i = 0; i < wl->ndims; i++) w->out->extent[i] = size(w, wl->dims[i].extent, &w->out->ok);
  for (int i = 0; i < wl->ntensors; i++)
    note_cost(w, nst_code_is_const(w->code, size(w, wl->tensors[i].bits, &w->out->ok)));
  int n = 0;
  for (int i = 0; i < wl->nstmts; i++) n += 1 + wl->stmts[i].nin;
  w->out->accesses = NST_NEW_ARRAY(arena, n, nst_cg_access);
  w->out->first_access = NST_NEW_ARRAY(arena, wl->nstmts, int);
  n = 0;
  nst_id ops = w->zero;
  for (int i = 0; i < wl->nstmts; i++) {
    const nst_ir_stmt *s = &wl->stmts[i];
    w->out->first_access[i] = n;
    generate_access(w, &w->out->accesses[n++], &s->out);
    for (int a = 0; a < s->nin; a++) generate_access(w, &w->out->accesses[n++], &s->in[a]);
    nst_id points = w->one;
    for (int d = 0; d < s->ndims; d++)
      points = nst_code_checked(w->code, NST_INST_MUL, points, w->out->extent[s->dims[d]], &w->out->ok);
    ops = nst_code_checked(w->code, NST_INST_ADD, ops, points, &w->out->ok);
  }
}

static void attribute(walk *w, const nst_expr *e, bool strictly) {
  if (!e) return;
  nst_cg_value v = nst_cg_expr(&w->l, e);
  note_cost(w, v.kind == NST_CG_KNOWN);
  nst_id legal = nst_cg_sign(&w->l, &v, strictly, &w->out->ok);
  require(w, &w->out->ok, legal);
}

static void generate_hardware(walk *w) {
  const nst_ir_hardware *h = &w->m->hardware;
  w->axes = NST_NEW_ARRAY(w->code->arena, h->nlevels, nst_id *);
  nst_id instances = w->one;
  attribute(w, h->clock, true);
  for (int i = 0; i < h->nlevels; i++) {
    const nst_ir_level *l = &h->levels[i];
    attribute(w, l->capacity, false);
    attribute(w, l->bandwidth, true);
    attribute(w, l->read_bandwidth, true);
    attribute(w, l->write_bandwidth, true);
    attribute(w, l->read_energy, false);
    attribute(w, l->write_energy, false);
    attribute(w, l->leakage, false);
    attribute(w, l->area, false);
    attribute(w, l->energy, false);
    attribute(w, l->rate, true);
    w->axes[i] = NST_NEW_ARRAY(w->code->arena, l->naxes, nst_id);
    for (int a = 0; a < l->naxes; a++) {
      w->axes[i][a] = size(w, l->axes[a].size, &w->out->ok);
      note_cost(w, nst_code_is_const(w->code, w->axes[i][a]));
      instances = nst_code_checked(w->code, NST_INST_MUL, instances, w->axes[i][a], &w->out->ok);
    }
  }
}

static void find_outer(walk *w, const nst_ir_node *n) {
  w->outer_split[n->id] = w->outer_par[n->id] = -1;
  for (const nst_ir_node *o = n->parent; o; o = o->parent) {
    bool splits = o->kind == NST_NODE_FOR || o->kind == NST_NODE_PAR;
    if (splits && o->dim == n->dim && w->outer_split[n->id] < 0) w->outer_split[n->id] = o->id;
    bool same_axis = n->kind == NST_NODE_PAR && o->kind == NST_NODE_PAR && o->level == n->level && o->axis == n->axis;
    if (same_axis && w->outer_par[n->id] < 0) w->outer_par[n->id] = o->id;
  }
}

static nst_id tile_of(walk *w, const nst_ir_node *n, nst_id extent, nst_id places_before) {
  switch (n->split) {
  case NST_TILE_ONE: return w->one;
  case NST_TILE_BY: return size(w, n->size, &w->out->feasible);
  case NST_TILE_INTO: return ceildiv(w, extent, size(w, n->size, &w->out->feasible));
  case NST_TILE_AUTO: {
    nst_id axis = w->axes[n->level][n->axis];
    /* Where no place is left the par before this one did not fit already. */
    return ceildiv(w, extent, positive(w, op(w, NST_INST_DIV, axis, positive(w, places_before))));
  }
  }
  return w->one;
}

static void generate_split(walk *w, const nst_ir_node *n) {
  find_outer(w, n);
  int outer = w->outer_split[n->id], par = w->outer_par[n->id];
  nst_id extent = outer < 0 ? w->out->extent[n->dim] : w->out->tile[outer];
  nst_id before = par < 0 ? w->one : w->used[par];
  nst_id tile = tile_of(w, n, extent, before);
  w->out->tile[n->id] = op(w, NST_INST_MIN, tile, extent);
  if (n->kind == NST_NODE_FOR) return;
  nst_id count = ceildiv(w, extent, tile);
  w->used[n->id] = nst_code_checked(w->code, NST_INST_MUL, before, count, &w->out->feasible);
  require(w, &w->out->feasible, at_most(w, w->used[n->id], w->axes[n->level][n->axis]));
}

void nst_cg_nest_make(nst_cg_nest *out, nst_code *code, const nst_ir_mapping *m) {
  walk w = {.code = code,
            .m = m,
            .out = out,
            .one = nst_code_const(code, 1),
            .zero = nst_code_const(code, 0),
            .yes = nst_code_truth(code, true)};
  *out = (nst_cg_nest){.ok = w.yes, .feasible = w.yes, .fixed_costs = true};
  w.outer_split = NST_NEW_ARRAY(code->arena, m->nnodes, int);
  w.outer_par = NST_NEW_ARRAY(code->arena, m->nnodes, int);
  w.used = NST_NEW_ARRAY(code->arena, m->nnodes, nst_id);
  out->tile = NST_NEW_ARRAY(code->arena, m->nnodes, nst_id);
  nst_cg_init(&w.l, code, &m->scope);
  for (int i = 0; i < m->scope.nvalues; i++) require(&w, &out->ok, w.l.values[i].ok);
  generate_workload(&w);
  generate_hardware(&w);
  for (int i = 0; i < m->nnodes; i++)
    if (m->nodes[i]->kind == NST_NODE_FOR || m->nodes[i]->kind == NST_NODE_PAR) generate_split(&w, m->nodes[i]);
}

nst_id nst_cg_input(const nst_cg_nest *n, nst_input in) {
  switch (in.kind) {
  case NST_IN_EXTENT: return n->extent[in.a];
  case NST_IN_TILE: return n->tile[in.a];
  case NST_IN_COEF:
  case NST_IN_OFFSET:
  case NST_IN_SIZE: break;
  }
  const nst_cg_rank *r = &n->accesses[n->first_access[in.a] + 1 + in.b].ranks[in.c];
  return in.kind == NST_IN_COEF ? r->coef[in.d] : in.kind == NST_IN_OFFSET ? r->offset : r->size;
}
