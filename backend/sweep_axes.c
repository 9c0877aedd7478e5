/* See sweep_axes.h: first which parameters each dimension depends on, then the
 * partition, then the numbers. */
#include "backend/sweep_axes.h"
#include "base/vec.h"
#include "ir/plan_group.h"

enum { TUPLES = 1 << 22 };

typedef struct {
  nst_sweep_axes *a;
  nst_arena *arena;
  const nst_ir_mapping *m;
  const nst_ir_sweep *s;
  uint64_t *values; /* masks of the mapping's named values */
  uint64_t *dims;   /* masks of the dimensions */
  uint64_t *part;   /* [npoints]: the parameters that share an axis with point k */
} partition;

static uint64_t mask(const nst_sweep_axes *a, const nst_ir_sweep *s, const uint64_t *values, const nst_expr *e) {
  if (!e) return 0;
  if (e->kind == NST_X_VALUE) return values[e->index];
  if (e->kind == NST_X_PARAM) {
    for (int k = 0; k < s->npoints; k++)
      if (s->points[k].param == e->index) return (uint64_t)1 << k;
    return nst_space_follows(a->space, e->index);
  }
  return mask(a, s, values, e->a) | mask(a, s, values, e->b) | mask(a, s, values, e->c);
}

static uint64_t *value_masks(nst_arena *arena, const nst_sweep_axes *a, const nst_ir_sweep *s) {
  const nst_ir_mapping *m = a->mapping;
  uint64_t *values = NST_NEW_ARRAY(arena, m->scope.nvalues, uint64_t);
  for (int i = 0; i < m->scope.nvalues; i++) values[i] = mask(a, s, values, m->scope.values[i].value);
  return values;
}

uint64_t nst_sweep_mask(const nst_sweep_axes *a, const nst_ir_sweep *s, const nst_expr *e) {
  nst_arena *work = nst_arena_new();
  uint64_t m = mask(a, s, value_masks(work, a, s), e);
  nst_arena_free(work);
  return m;
}

static uint64_t mask_of(const partition *p, const nst_expr *e) { return mask(p->a, p->s, p->values, e); }

/* All parameters of a mask share an axis. */
static void join(partition *p, uint64_t params) {
  for (int k = 0; k < p->s->npoints; k++)
    if (params >> k & 1) params |= p->part[k];
  for (int k = 0; k < p->s->npoints; k++)
    if (params >> k & 1) p->part[k] = params;
}

/* Everything that splits dimensions: their own parameters, and those of pars that they share an axis of an array with. */
static void mask_splits(partition *p) {
  const nst_ir_mapping *m = p->m;
  for (int d = 0; d < m->workload.ndims; d++) p->dims[d] = mask_of(p, m->workload.dims[d].extent);
  for (int i = 0; i < m->nnodes; i++)
    if (m->nodes[i]->kind == NST_NODE_FOR || m->nodes[i]->kind == NST_NODE_PAR)
      p->dims[m->nodes[i]->dim] |= mask_of(p, m->nodes[i]->size);
  for (int l = 0; l < m->hardware.nlevels; l++)
    for (int x = 0; x < m->hardware.levels[l].naxes; x++) {
      uint64_t shared = mask_of(p, m->hardware.levels[l].axes[x].size);
      for (int i = 0; i < m->nnodes; i++)
        if (m->nodes[i]->kind == NST_NODE_PAR && m->nodes[i]->level == l && m->nodes[i]->axis == x)
          shared |= p->dims[m->nodes[i]->dim];
      for (int i = 0; i < m->nnodes; i++)
        if (m->nodes[i]->kind == NST_NODE_PAR && m->nodes[i]->level == l && m->nodes[i]->axis == x)
          p->dims[m->nodes[i]->dim] = shared;
    }
}

/* ---- dimensions that are counted together: those of groups (ir/plan_group.c) ---- */

static int root_of(const int *up, int d) {
  while (up[d] != d) d = up[d];
  return d;
}

static void join_dims_of_rank(int *up, const nst_ir_rank *rank, int *with) {
  for (int t = 0; t < rank->nterms; t++) {
    if (*with < 0) *with = rank->terms[t].dim;
    up[root_of(up, rank->terms[t].dim)] = root_of(up, *with);
  }
}

static bool same_ranks(const nst_ir_rank *a, const nst_ir_rank *b) {
  if (a->nterms != b->nterms || !nst_plan_same_expr(a->offset, b->offset)) return false;
  for (int t = 0; t < a->nterms; t++)
    if (a->terms[t].dim != b->terms[t].dim || !nst_plan_same_expr(a->terms[t].coef, b->terms[t].coef)) return false;
  return true;
}

/* Accesses to a tensor, all of them: ranks of which they differ are counted together, and with them ranks that share
 * a dimension. */
static void join_accesses(int *up, const nst_ir_access *const *all, int n) {
  int joint = -1;
  for (int r = 0; n > 1 && r < all[0]->nranks; r++) {
    bool same = true;
    for (int i = 1; i < n; i++) same = same && same_ranks(&all[i]->ranks[r], &all[0]->ranks[r]);
    for (int i = 0; !same && i < n; i++) join_dims_of_rank(up, &all[i]->ranks[r], &joint);
  }
}

/* All parameters that split dimensions counted together share an axis. */
static void join_groups(partition *p) {
  const nst_ir_workload *w = &p->m->workload;
  int *up = NST_NEW_ARRAY(p->arena, w->ndims, int);
  for (int x = 0; x < w->ntensors; x++) {
    for (int d = 0; d < w->ndims; d++) up[d] = d;
    NST_VEC(const nst_ir_access *) all = {0};
    for (int s = 0; s < w->nstmts; s++)
      for (int i = -1; i < w->stmts[s].nin; i++) {
        const nst_ir_access *a = i < 0 ? &w->stmts[s].out : &w->stmts[s].in[i];
        if (a->tensor == x) *nst_vec_push(p->arena, &all) = a;
      }
    for (size_t i = 0; i < all.len; i++)
      for (int r = 0; r < all.items[i]->nranks; r++) {
        int first = -1;
        join_dims_of_rank(up, &all.items[i]->ranks[r], &first);
      }
    join_accesses(up, all.items, (int)all.len);
    for (int d = 0; d < w->ndims; d++) {
      uint64_t joint = 0;
      for (int o = 0; o < w->ndims; o++)
        if (root_of(up, o) == root_of(up, d)) joint |= p->dims[o];
      join(p, joint);
    }
  }
}

static const char *unsuitable(const partition *p) {
  const nst_ir_mapping *m = p->m;
  uint64_t fixed = mask_of(p, m->hardware.clock);
  for (int d = 0; d < m->workload.ndims; d++) fixed |= mask_of(p, m->workload.dims[d].extent);
  for (int t = 0; t < m->workload.ntensors; t++) {
    const nst_ir_tensor *x = &m->workload.tensors[t];
    fixed |= mask_of(p, x->bits);
    for (int r = 0; x->shape && r < x->nranks; r++) fixed |= mask_of(p, x->shape[r]);
  }
  for (int s = 0; s < m->workload.nstmts; s++)
    for (int i = -1; i < m->workload.stmts[s].nin; i++) {
      const nst_ir_access *a = i < 0 ? &m->workload.stmts[s].out : &m->workload.stmts[s].in[i];
      for (int r = 0; r < a->nranks; r++) {
        fixed |= mask_of(p, a->ranks[r].offset);
        for (int t = 0; t < a->ranks[r].nterms; t++) fixed |= mask_of(p, a->ranks[r].terms[t].coef);
      }
    }
  for (int l = 0; l < m->hardware.nlevels; l++) {
    const nst_ir_level *x = &m->hardware.levels[l];
    const nst_expr *attributes[] = {x->capacity, x->bandwidth, x->read_bandwidth, x->write_bandwidth, x->read_energy,
                                    x->write_energy, x->leakage, x->area, x->energy, x->rate};
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) fixed |= mask_of(p, attributes[i]);
    for (int i = 0; i < x->naxes; i++) fixed |= mask_of(p, x->axes[i].size);
  }
  if (fixed) return "a swept parameter changes the hardware or the workload, not only tiles";
  for (int b = 0; b < p->a->variants.npermutes; b++)
    for (int i = 0; i < m->nnodes; i++)
      for (int j = i + 1; j < m->nnodes; j++)
        if (m->nodes[i]->permute == b && m->nodes[j]->permute == b && m->nodes[i]->dim == m->nodes[j]->dim)
          return "a permute block splits one dimension twice";
  return NULL;
}

/* ---- numbers ---- */

static void evaluate_axis(partition *p, nst_sweep_axis *x, bool swept) {
  const nst_ir_mapping *m = p->m;
  int nnodes = m->nnodes;
  const nst_ir_mapping *part = nst_variant_splits(p->arena, &p->a->variants, x->dims);
  nst_nest_maker *maker = nst_nest_maker_new(part);
  nst_value *params = NST_NEW_ARRAY(p->arena, m->scope.nparams, nst_value);
  bool *given = NST_NEW_ARRAY(p->arena, m->scope.nparams, bool), follow = false; /* some parameters follow swept ones */
  const nst_value *defaults = nst_space_defaults(p->a->space);
  for (int i = 0; i < m->scope.nparams; i++) {
    params[i] = defaults[i];
    given[i] = !nst_space_follows(p->a->space, i);
    follow = follow || !given[i];
  }
  x->which = NST_NEW_ARRAY(p->arena, x->all.ntuples, size_t);
  x->tile = NST_NEW_ARRAY(p->arena, x->all.ntuples * (size_t)nnodes, int64_t);
  for (size_t t = 0; t < x->all.ntuples; t++) {
    for (int k = 0; swept && k < x->all.nparams; k++)
      params[p->s->points[x->all.which[k]].param] =
        (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(x->all.values[t * (size_t)x->all.nparams + (size_t)k])};
    if (follow && !nst_nest_defaults(params, given, m, NULL)) continue;
    const nst_nest *nest = nst_nest_make(maker, params, NULL);
    if (!nest) continue;
    for (int i = 0; i < part->nnodes; i++)
      if (part->nodes[i]->kind == NST_NODE_FOR || part->nodes[i]->kind == NST_NODE_PAR)
        x->tile[x->ntuples * (size_t)nnodes + (size_t)part->nodes[i]->origin] = nest->tile[i];
    x->which[x->ntuples++] = t;
  }
  nst_nest_maker_free(maker);
}

static bool make_axes(partition *p, const char **why) {
  nst_sweep_axes *a = p->a;
  int n = p->s->npoints, ndims = p->m->workload.ndims;
  a->axes = NST_NEW_ARRAY(p->arena, n + 1, nst_sweep_axis);
  a->axis_of_dim = NST_NEW_ARRAY(p->arena, ndims, int);
  for (int d = 0; d < ndims; d++) a->axis_of_dim[d] = -1;
  uint64_t done = 0;
  a->points = 1;
  for (int k = 0; k < n; k++) {
    if (done >> k & 1) continue;
    nst_sweep_axis *x = &a->axes[a->naxes];
    int *which = NST_NEW_ARRAY(p->arena, n, int), nwhich = 0;
    for (int j = 0; j < n; j++)
      if (p->part[k] >> j & 1) which[nwhich++] = j;
    done |= p->part[k];
    if (!nst_space_axis(&x->all, a->space, p->arena, which, nwhich, TUPLES, NULL)) {
      *why = "too many combinations of parameters that depend on each other";
      return false;
    }
    if (__builtin_mul_overflow(a->points, (uint64_t)x->all.ntuples, &a->points)) {
      *why = "the space has more than 2^64 points";
      return false;
    }
    x->dims = NST_NEW_ARRAY(p->arena, ndims, bool);
    for (int d = 0; d < ndims; d++)
      if (p->dims[d] & p->part[k]) {
        x->dims[d] = true;
        a->axis_of_dim[d] = a->naxes;
      }
    a->naxes++;
  }
  nst_sweep_axis *rest = &a->axes[a->naxes];
  rest->all.ntuples = 1;
  rest->dims = NST_NEW_ARRAY(p->arena, ndims, bool);
  for (int d = 0; d < ndims; d++)
    if (a->axis_of_dim[d] < 0) {
      rest->dims[d] = true;
      a->axis_of_dim[d] = a->naxes;
    }
  a->naxes++;
  for (int i = 0; i < a->naxes; i++) evaluate_axis(p, &a->axes[i], i + 1 < a->naxes);
  return true;
}

bool nst_sweep_axes_init(nst_sweep_axes *a, nst_arena *arena, const nst_ir_mapping *m, const nst_ir_sweep *s,
                         const nst_space *space, nst_diags *diags, const char **why) {
  *a = (nst_sweep_axes){.mapping = m, .space = space};
  *why = NULL;
  if (s->npoints > 64) {
    *why = "more than 64 swept parameters";
    return false;
  }
  if ((*why = nst_variants_init(&a->variants, arena, m))) return false;
  partition p = {.a = a, .arena = arena, .m = m, .s = s, .values = value_masks(arena, a, s),
                 .dims = NST_NEW_ARRAY(arena, m->workload.ndims, uint64_t), .part = NST_NEW_ARRAY(arena, s->npoints, uint64_t)};
  if ((*why = unsuitable(&p))) return false;
  for (int k = 0; k < s->npoints; k++) p.part[k] = (uint64_t)1 << k;
  for (int k = 0; k < s->npoints; k++) join(&p, nst_space_needs(space, k) | (uint64_t)1 << k);
  mask_splits(&p);
  for (int d = 0; d < m->workload.ndims; d++) join(&p, p.dims[d]);
  join_groups(&p);
  if (!make_axes(&p, why)) return false;
  bool *none = NST_NEW_ARRAY(arena, m->workload.ndims, bool);
  a->base_maker = nst_nest_maker_new(nst_variant_splits(arena, &a->variants, none));
  a->base = nst_nest_make(a->base_maker, nst_space_defaults(space), diags);
  return a->base != NULL;
}

void nst_sweep_axes_fini(nst_sweep_axes *a) { nst_nest_maker_free(a->base_maker); }

int64_t nst_sweep_input(const nst_sweep_axes *a, const nst_sweep_axis *x, size_t tuple, const nst_ir_mapping *variant, nst_input in) {
  if (in.kind == NST_IN_TILE) return x->tile[tuple * (size_t)a->mapping->nnodes + (size_t)variant->nodes[in.a]->origin];
  return nst_input_of(a->base, in);
}

/* ---- expressions ---- */

struct nst_sweep_evaluator {
  nst_arena *arena;
  const nst_sweep_axes *a;
  const nst_ir_sweep *s;
  const nst_sweep_axis *x;
  nst_value *params, *values;
  bool *given;
};

nst_sweep_evaluator *nst_sweep_evaluator_new(const nst_sweep_axes *a, const nst_ir_sweep *s, int axis) {
  nst_arena *arena = nst_arena_new();
  const nst_ir_scope *scope = &a->mapping->scope;
  nst_sweep_evaluator *v = NST_NEW(arena, nst_sweep_evaluator);
  *v = (nst_sweep_evaluator){arena, a, s, &a->axes[axis], NST_NEW_ARRAY(arena, scope->nparams, nst_value),
                             NST_NEW_ARRAY(arena, scope->nvalues, nst_value), NST_NEW_ARRAY(arena, scope->nparams, bool)};
  for (int i = 0; i < scope->nparams; i++) {
    v->params[i] = nst_space_defaults(a->space)[i];
    v->given[i] = !nst_space_follows(a->space, i);
  }
  return v;
}

void nst_sweep_evaluator_free(nst_sweep_evaluator *v) { nst_arena_free(v->arena); }

bool nst_sweep_evaluator_eval(nst_sweep_evaluator *v, size_t tuple, const nst_expr *e, nst_value *out) {
  const nst_axis *all = &v->x->all;
  const nst_ir_scope *scope = &v->a->mapping->scope;
  const nst_eval_env env = {.params = v->params, .values = v->values};
  nst_span where;
  for (int k = 0; k < all->nparams; k++)
    v->params[v->s->points[all->which[k]].param] =
      (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(all->values[v->x->which[tuple] * (size_t)all->nparams + (size_t)k])};
  if (!nst_nest_defaults(v->params, v->given, v->a->mapping, NULL)) return false;
  for (int i = 0; i < scope->nvalues; i++)
    if (nst_expr_eval(&v->values[i], scope->values[i].value, &env, &where) != NST_EVAL_OK) return false;
  return nst_expr_eval(out, e, &env, &where) == NST_EVAL_OK;
}
