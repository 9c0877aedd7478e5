/* See sweep_axes.h: first which parameters each dimension depends on, then the
 * partition, then the numbers. */
#include "backend/sweep_axes.h"

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

static uint64_t mask(const nst_ir_sweep *s, const uint64_t *values, const nst_expr *e) {
  if (!e) return 0;
  if (e->kind == NST_X_VALUE) return values[e->index];
  if (e->kind == NST_X_PARAM) {
    for (int k = 0; k < s->npoints; k++)
      if (s->points[k].param == e->index) return (uint64_t)1 << k;
    return 0;
  }
  return mask(s, values, e->a) | mask(s, values, e->b) | mask(s, values, e->c);
}

static uint64_t *value_masks(nst_arena *arena, const nst_ir_mapping *m, const nst_ir_sweep *s) {
  uint64_t *values = NST_NEW_ARRAY(arena, m->scope.nvalues, uint64_t);
  for (int i = 0; i < m->scope.nvalues; i++) values[i] = mask(s, values, m->scope.values[i].value);
  return values;
}

uint64_t nst_sweep_mask(const nst_sweep_axes *a, const nst_ir_sweep *s, const nst_expr *e) {
  nst_arena *work = nst_arena_new();
  uint64_t m = mask(s, value_masks(work, a->mapping, s), e);
  nst_arena_free(work);
  return m;
}

static uint64_t mask_of(const partition *p, const nst_expr *e) { return mask(p->s, p->values, e); }

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

static uint64_t mask_of_rank(const partition *p, const nst_ir_rank *rank) {
  uint64_t joint = 0;
  for (int t = 0; t < rank->nterms; t++) joint |= p->dims[rank->terms[t].dim];
  return joint;
}

static bool read_twice(const nst_ir_workload *w, const nst_ir_access *a) {
  for (int s = 0; s < w->nstmts; s++)
    for (int i = 0; i < w->stmts[s].nin; i++)
      if (&w->stmts[s].in[i] != a && w->stmts[s].in[i].tensor == a->tensor) return true;
  return false;
}

/* Of a tensor that a statement reads twice, all ranks of both accesses. */
static uint64_t mask_of_reads(const partition *p, const nst_ir_stmt *stmt, int tensor) {
  uint64_t joint = 0;
  for (int i = 0; i < stmt->nin; i++)
    for (int r = 0; stmt->in[i].tensor == tensor && r < stmt->in[i].nranks; r++) joint |= mask_of_rank(p, &stmt->in[i].ranks[r]);
  return joint;
}

static bool has_dim(const nst_ir_rank *rank, const bool *dims) {
  for (int t = 0; t < rank->nterms; t++)
    if (dims[rank->terms[t].dim]) return true;
  return false;
}

/* The parameters of all dimensions that share ranks with those of a rank, transitively: through dimensions, too, that
 * no parameter touches. */
static uint64_t mask_of_group(const partition *p, const nst_ir_access *a, int rank) {
  nst_arena *work = nst_arena_new();
  bool *dims = NST_NEW_ARRAY(work, p->m->workload.ndims, bool), *in = NST_NEW_ARRAY(work, a->nranks, bool);
  uint64_t joint = 0;
  in[rank] = true;
  for (bool more = true; more;) {
    more = false;
    for (int r = 0; r < a->nranks; r++) {
      if (!in[r] && !has_dim(&a->ranks[r], dims)) continue;
      in[r] = true;
      for (int t = 0; t < a->ranks[r].nterms; t++) {
        more = more || !dims[a->ranks[r].terms[t].dim];
        dims[a->ranks[r].terms[t].dim] = true;
      }
      joint |= mask_of_rank(p, &a->ranks[r]);
    }
  }
  nst_arena_free(work);
  return joint;
}

/* Dimensions of one rank belong together; of a tensor that is read twice, all of them. */
static void join_ranks(partition *p) {
  const nst_ir_workload *w = &p->m->workload;
  for (int s = 0; s < w->nstmts; s++)
    for (int i = -1; i < w->stmts[s].nin; i++) {
      const nst_ir_access *a = i < 0 ? &w->stmts[s].out : &w->stmts[s].in[i];
      if (i >= 0 && read_twice(w, a)) join(p, mask_of_reads(p, &w->stmts[s], a->tensor));
      for (int r = 0; r < a->nranks; r++) join(p, mask_of_group(p, a, r));
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
  const nst_value *defaults = nst_space_defaults(p->a->space);
  for (int i = 0; i < m->scope.nparams; i++) params[i] = defaults[i];
  x->which = NST_NEW_ARRAY(p->arena, x->all.ntuples, size_t);
  x->tile = NST_NEW_ARRAY(p->arena, x->all.ntuples * (size_t)nnodes, int64_t);
  for (size_t t = 0; t < x->all.ntuples; t++) {
    for (int k = 0; swept && k < x->all.nparams; k++)
      params[p->s->points[x->all.which[k]].param] =
        (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(x->all.values[t * (size_t)x->all.nparams + (size_t)k])};
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
  partition p = {.a = a, .arena = arena, .m = m, .s = s, .values = value_masks(arena, m, s),
                 .dims = NST_NEW_ARRAY(arena, m->workload.ndims, uint64_t), .part = NST_NEW_ARRAY(arena, s->npoints, uint64_t)};
  if ((*why = unsuitable(&p))) return false;
  for (int k = 0; k < s->npoints; k++) p.part[k] = (uint64_t)1 << k;
  for (int k = 0; k < s->npoints; k++) join(&p, nst_space_needs(space, k) | (uint64_t)1 << k);
  mask_splits(&p);
  for (int d = 0; d < m->workload.ndims; d++) join(&p, p.dims[d]);
  join_ranks(&p);
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
