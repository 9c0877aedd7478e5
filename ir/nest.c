/* From a mapping and parameter values to numbers.
 *
 * The idea: when a maker is made, every expression of the mapping becomes a
 * job (what to evaluate, what it must be, where the result goes). Jobs that
 * depend on no parameter run once; a call runs only the others and then walks
 * the splits: tile, number of tiles and places on the axis of each follow from
 * the split of the same dimension (or axis) next outside it, whose number was
 * found beforehand. Nothing is allocated after the first call.
 *
 * Invariants of the result: extents, tiles, counts, axes, bits and declared
 * sizes are positive; the points of all statements together fit 63 bits; the
 * values that a rank takes fit 62 bits; every par fits its axis. Engines need
 * not check any of it again.
 *
 * Left to others: what the numbers mean. */
#include "ir/nest.h"
#include "base/vec.h"

typedef enum {
  JOB_VALUE,   /* any value */
  JOB_SIZE,    /* a positive integer of 63 bits */
  JOB_TILE,    /* the same, of a node */
  JOB_COEF,    /* an integer within +-2^62 */
  JOB_NONNEG,  /* a rational >= 0 */
  JOB_POSITIVE /* a rational > 0 */
} job_kind;

typedef struct {
  job_kind kind;
  const nst_expr *e;
  void *to;
  const char *what; /* "the extent of", ... */
  nst_name name;
  nst_span span; /* where the expression has none of its own */
} job;

typedef NST_VEC(job) job_vec;

struct nst_nest_maker {
  nst_arena *arena;
  nst_nest nest;
  job_vec fixed, varying;
  bool *fixed_value; /* [nvalues]: depends on no parameter */
  bool fixed_done;
  uint64_t fixed_steps; /* that they took */
  uint64_t *fuel;       /* or NULL */
  int *outer_split; /* [nnodes]: the split of the same dimension next outside, or -1 */
  int *outer_par;   /* [nnodes]: the par on the same axis next outside, or -1 */
  int64_t *asked;   /* [nnodes]: N of `into N` */
  int64_t *width;   /* [nnodes]: nominal extent inside a split */
  int64_t *used;    /* [nnodes]: places used on the axis up to and with a par; INT64_MAX: past counting */
};

static const int64_t COEF_MAX = INT64_C(1) << 62;
enum { FUEL = 1 << 24 }; /* nodes evaluated per call: far above any program written by hand */

/* ---- making a maker ---- */

static bool is_fixed(const nst_nest_maker *k, const nst_expr *e) {
  if (!e) return true;
  if (e->kind == NST_X_PARAM || e->kind == NST_X_METRIC) return false;
  if (e->kind == NST_X_VALUE) return k->fixed_value[e->index];
  return is_fixed(k, e->a) && is_fixed(k, e->b) && is_fixed(k, e->c);
}

static void push_job(nst_nest_maker *k, const job *j) {
  job_vec *to = is_fixed(k, j->e) ? &k->fixed : &k->varying;
  *nst_vec_push(k->arena, to) = *j;
}

/* Most of what could be given is not: that must cost nothing. */
static inline void add_job(nst_nest_maker *k, job j) {
  if (j.e) push_job(k, &j);
}

static void add_access(nst_nest_maker *k, nst_nest_access *out, const nst_ir_access *a) {
  const nst_ir_tensor *t = &k->nest.ir->workload.tensors[a->tensor];
  out->tensor = a->tensor;
  out->nranks = a->nranks;
  out->ranks = NST_NEW_ARRAY(k->arena, a->nranks, nst_nest_rank);
  for (int r = 0; r < a->nranks; r++) {
    const nst_ir_rank *from = &a->ranks[r];
    nst_nest_rank *rank = &out->ranks[r];
    rank->nterms = from->nterms;
    rank->ir = from->terms;
    rank->coef = NST_NEW_ARRAY(k->arena, from->nterms, int64_t);
    rank->size = -1;
    for (int i = 0; i < from->nterms; i++)
      add_job(k,
              (job){JOB_COEF, from->terms[i].coef, &rank->coef[i], "a coefficient in a rank of", t->name, from->span});
    add_job(k, (job){JOB_COEF, from->offset, &rank->offset, "the offset in a rank of", t->name, from->span});
    if (t->shape) add_job(k, (job){JOB_SIZE, t->shape[r], &rank->size, "a declared size of", t->name, t->span});
  }
}

static void add_level(nst_nest_maker *k, nst_nest_level *out, const nst_ir_level *l) {
  nst_rat zero = nst_rat_int(0);
  out->capacity = out->bandwidth = out->read_bandwidth = out->write_bandwidth = zero;
  out->read_energy = out->write_energy = out->leakage = out->area = out->energy = zero;
  out->rate = nst_rat_int(1);
  out->has_capacity = l->capacity != NULL;
  out->has_bandwidth = l->bandwidth != NULL;
  out->has_read_bandwidth = l->read_bandwidth != NULL;
  out->has_write_bandwidth = l->write_bandwidth != NULL;
  out->has_leakage = l->leakage != NULL;
  out->has_area = l->area != NULL;
  add_job(k, (job){JOB_NONNEG, l->capacity, &out->capacity, "the capacity of", l->name, l->span});
  add_job(k, (job){JOB_POSITIVE, l->bandwidth, &out->bandwidth, "the bandwidth of", l->name, l->span});
  add_job(k, (job){JOB_POSITIVE, l->read_bandwidth, &out->read_bandwidth, "the read bandwidth of", l->name, l->span});
  add_job(k,
          (job){JOB_POSITIVE, l->write_bandwidth, &out->write_bandwidth, "the write bandwidth of", l->name, l->span});
  add_job(k, (job){JOB_NONNEG, l->read_energy, &out->read_energy, "the read energy of", l->name, l->span});
  add_job(k, (job){JOB_NONNEG, l->write_energy, &out->write_energy, "the write energy of", l->name, l->span});
  add_job(k, (job){JOB_NONNEG, l->leakage, &out->leakage, "the leakage of", l->name, l->span});
  add_job(k, (job){JOB_NONNEG, l->area, &out->area, "the area of", l->name, l->span});
  add_job(k, (job){JOB_NONNEG, l->energy, &out->energy, "the energy of", l->name, l->span});
  add_job(k, (job){JOB_POSITIVE, l->rate, &out->rate, "the rate of", l->name, l->span});
  out->axes = NST_NEW_ARRAY(k->arena, l->naxes, int64_t);
  for (int a = 0; a < l->naxes; a++)
    add_job(k, (job){JOB_SIZE, l->axes[a].size, &out->axes[a], "the size of axis", l->axes[a].name, l->axes[a].span});
}

static void add_node(nst_nest_maker *k, const nst_ir_node *n) {
  const nst_ir_mapping *m = k->nest.ir;
  k->outer_split[n->id] = k->outer_par[n->id] = -1;
  if (n->kind != NST_NODE_FOR && n->kind != NST_NODE_PAR) return;
  for (const nst_ir_node *o = n->parent; o; o = o->parent) {
    bool splits = o->kind == NST_NODE_FOR || o->kind == NST_NODE_PAR;
    if (splits && o->dim == n->dim && k->outer_split[n->id] < 0) k->outer_split[n->id] = o->id;
    bool same_axis = n->kind == NST_NODE_PAR && o->kind == NST_NODE_PAR && o->level == n->level && o->axis == n->axis;
    if (same_axis && k->outer_par[n->id] < 0) k->outer_par[n->id] = o->id;
    if (k->outer_split[n->id] >= 0 && (n->kind == NST_NODE_FOR || k->outer_par[n->id] >= 0)) break;
  }
  nst_name dim = m->workload.dims[n->dim].name;
  k->nest.tile[n->id] = 1; /* for d */
  if (n->split == NST_TILE_BY) add_job(k, (job){JOB_TILE, n->size, &k->nest.tile[n->id], "the tile of", dim, n->span});
  if (n->split == NST_TILE_INTO)
    add_job(k, (job){JOB_TILE, n->size, &k->asked[n->id], "the number of tiles of", dim, n->span});
}

nst_nest_maker *nst_nest_maker_new(const nst_ir_mapping *m) {
  nst_arena *arena = nst_arena_new();
  nst_nest_maker *k = NST_NEW(arena, nst_nest_maker);
  const nst_ir_workload *w = &m->workload;
  int nvalues = m->scope.nvalues;
  k->arena = arena;
  k->nest.ir = m;
  k->nest.values = NST_NEW_ARRAY(arena, nvalues, nst_value);
  k->nest.extent = NST_NEW_ARRAY(arena, w->ndims, int64_t);
  k->nest.bits = NST_NEW_ARRAY(arena, w->ntensors, int64_t);
  k->nest.stmts = NST_NEW_ARRAY(arena, w->nstmts, nst_nest_stmt);
  k->nest.tile = NST_NEW_ARRAY(arena, m->nnodes, int64_t);
  k->nest.count = NST_NEW_ARRAY(arena, m->nnodes, int64_t);
  k->nest.levels = NST_NEW_ARRAY(arena, m->hardware.nlevels, nst_nest_level);
  k->fixed_value = NST_NEW_ARRAY(arena, nvalues, bool);
  k->outer_split = NST_NEW_ARRAY(arena, m->nnodes, int);
  k->outer_par = NST_NEW_ARRAY(arena, m->nnodes, int);
  k->asked = NST_NEW_ARRAY(arena, m->nnodes, int64_t);
  k->width = NST_NEW_ARRAY(arena, m->nnodes, int64_t);
  k->used = NST_NEW_ARRAY(arena, m->nnodes, int64_t);
  for (int i = 0; i < nvalues; i++) {
    const nst_ir_value *v = &m->scope.values[i];
    add_job(k, (job){JOB_VALUE, v->value, &k->nest.values[i], "the value of", v->name, v->span});
    k->fixed_value[i] = is_fixed(k, v->value);
  }
  for (int i = 0; i < w->ndims; i++)
    add_job(k,
            (job){JOB_SIZE, w->dims[i].extent, &k->nest.extent[i], "the extent of", w->dims[i].name, w->dims[i].span});
  for (int i = 0; i < w->ntensors; i++)
    add_job(
      k, (job){JOB_SIZE, w->tensors[i].bits, &k->nest.bits[i], "the bits of", w->tensors[i].name, w->tensors[i].span});
  for (int i = 0; i < w->nstmts; i++) {
    nst_nest_stmt *s = &k->nest.stmts[i];
    add_access(k, &s->out, &w->stmts[i].out);
    s->nin = w->stmts[i].nin;
    s->in = NST_NEW_ARRAY(arena, s->nin, nst_nest_access);
    for (int a = 0; a < s->nin; a++) add_access(k, &s->in[a], &w->stmts[i].in[a]);
  }
  k->nest.has_clock = m->hardware.clock != NULL;
  add_job(k,
          (job){JOB_POSITIVE, m->hardware.clock, &k->nest.clock, "the clock of", m->hardware.name, m->hardware.span});
  for (int i = 0; i < m->hardware.nlevels; i++) add_level(k, &k->nest.levels[i], &m->hardware.levels[i]);
  for (int i = 0; i < m->nnodes; i++) add_node(k, m->nodes[i]);
  return k;
}

void nst_nest_maker_set_fuel(nst_nest_maker *k, uint64_t *fuel) { k->fuel = fuel; }

void nst_nest_maker_free(nst_nest_maker *k) {
  if (k) nst_arena_free(k->arena);
}

/* ---- running the jobs ---- */

nst_diag *nst_eval_report(nst_diags *diags, nst_eval_status status, nst_span span, const char *what, const char *name) {
  static const nst_diag_id ids[] = {
    [NST_EVAL_OK] = NST_D_EVAL_DOMAIN,         [NST_EVAL_OVERFLOW] = NST_D_EVAL_OVERFLOW,
    [NST_EVAL_DIV_ZERO] = NST_D_EVAL_DIV_ZERO, [NST_EVAL_DOMAIN] = NST_D_EVAL_DOMAIN,
    [NST_EVAL_SUM_TOO_LONG] = NST_D_EVAL_SUM,  [NST_EVAL_NO_METRIC] = NST_D_EVAL_METRIC,
    [NST_EVAL_FUEL] = NST_D_EVAL_FUEL,         [NST_EVAL_NO_VALUE] = NST_D_EVAL_DOMAIN,
  };
  return nst_diag_add(diags, ids[status], span, "%s%s%s: %s", what, *name ? " " : "", name,
                      nst_eval_status_text(status));
}

static void print_value(nst_buffer *b, const nst_value *v) {
  nst_buffer_clear(b);
  if (v->kind == NST_VALUE_BOOL)
    nst_buffer_puts(b, v->truth ? "true" : "false");
  else if (v->kind == NST_VALUE_REAL)
    nst_buffer_double(b, v->real);
  else
    nst_expr_print_number(b, v->rat);
}

static bool bad_value(const job *j, const nst_value *v, nst_diag_id id, const char *must, nst_diags *diags) {
  if (!diags) return false;
  nst_buffer b = {0};
  print_value(&b, v);
  nst_diag_add(diags, id, j->e->span.source ? j->e->span : j->span, "%s %s is %s, not %s", j->what, j->name, b.text,
               must);
  nst_buffer_fini(&b);
  return false;
}

/* The exact value of a double, where it fits. */
static bool rat_of_double(nst_rat *out, double d) {
  int shift = 0;
  while (d != (double)(int64_t)d && shift < 62) d *= 2, shift++;
  if (!(d > -0x1p62 && d < 0x1p62)) return false;
  return nst_rat_make(out, (nst_i128)(int64_t)d, (nst_i128)1 << shift);
}

static bool store(const job *j, const nst_value *v, nst_diags *diags) {
  int64_t n;
  nst_rat r;
  switch (j->kind) {
  case JOB_VALUE: *(nst_value *)j->to = *v; return true;
  case JOB_SIZE:
  case JOB_TILE:
    if (!nst_value_to_i64(&n, v) || n < 1)
      return bad_value(j, v, j->kind == JOB_TILE ? NST_D_TILE_SIZE : NST_D_SIZE_VALUE, "a positive integer below 2^63",
                       diags);
    *(int64_t *)j->to = n;
    return true;
  case JOB_COEF:
    if (!nst_value_to_i64(&n, v) || n > COEF_MAX || n < -COEF_MAX)
      return bad_value(j, v, NST_D_COEF_VALUE, "an integer of at most 2^62", diags);
    *(int64_t *)j->to = n;
    return true;
  case JOB_NONNEG:
  case JOB_POSITIVE:
    r = v->rat;
    if (v->kind == NST_VALUE_BOOL || (v->kind == NST_VALUE_REAL && !rat_of_double(&r, v->real)))
      return bad_value(j, v, NST_D_ATTRIBUTE_VALUE, "a number of moderate size", diags);
    if (r.num < (j->kind == JOB_POSITIVE)) /* the numerator carries the sign */
      return bad_value(j, v, NST_D_ATTRIBUTE_VALUE, j->kind == JOB_POSITIVE ? "above zero" : "zero or more", diags);
    *(nst_rat *)j->to = r;
    return true;
  }
  return false;
}

/* Whether what remains can still be looked at for further faults. */
typedef enum { RUN_GOOD, RUN_FAILED, RUN_STOP } run_result;

static run_result run(const job_vec *jobs, const nst_eval_env *env, nst_diags *diags) {
  run_result result = RUN_GOOD;
  for (size_t i = 0; i < jobs->len; i++) {
    const job *j = &jobs->items[i];
    nst_value computed;
    const nst_value *v = &computed;
    nst_span where = j->span;
    if (j->e->kind == NST_X_PARAM) {
      v = &env->params[j->e->index];
    } else if (j->e->kind == NST_X_VALUE) {
      v = &env->values[j->e->index];
    } else {
      nst_eval_status s = nst_expr_eval(&computed, j->e, env, &where);
      if (s) {
        if (!diags) return RUN_STOP;
        nst_eval_report(diags, s, where.source ? where : j->span, j->what, j->name);
        if (j->kind == JOB_VALUE) return RUN_STOP; /* what depends on it has no value either */
        result = RUN_FAILED;
        continue;
      }
    }
    if (!store(j, v, diags)) {
      if (!diags) return RUN_STOP;
      result = RUN_FAILED;
    }
  }
  return result;
}

/* ---- splits and axes ---- */

static int64_t ceildiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static int64_t mul_sat(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? INT64_MAX : r;
}

/* All pars of the axis around the node, outermost first, and those further in on the same chain. */
static void report_par(const nst_nest_maker *k, const nst_ir_node *n, int64_t axis, nst_diags *diags) {
  const nst_ir_mapping *m = k->nest.ir;
  const nst_ir_level *l = &m->hardware.levels[n->level];
  nst_buffer factors = {0};
  int ids[64], nids = 0;
  for (int id = n->id; id >= 0 && nids < 32; id = k->outer_par[id]) ids[nids++] = id;
  for (int i = 0; i < nids / 2; i++) {
    int swap = ids[i];
    ids[i] = ids[nids - 1 - i];
    ids[nids - 1 - i] = swap;
  }
  for (const nst_ir_node *in = n->next; in && nids < 64; in = in->next)
    if (in->kind == NST_NODE_PAR && in->level == n->level && in->axis == n->axis) ids[nids++] = in->id;
  int64_t product = 1;
  for (int i = 0; i < nids; i++) {
    product = mul_sat(product, k->nest.count[ids[i]]);
    nst_buffer_puts(&factors, i ? " x " : "");
    nst_buffer_int(&factors, k->nest.count[ids[i]]);
  }
  nst_name dim = m->workload.dims[n->dim].name;
  if (nids == 1) {
    nst_diag *d = nst_diag_add(diags, NST_D_PAR_FIT, n->span, "par %s needs %lld places on %s.%s, which has %lld", dim,
                               (long long)product, l->name, l->axes[n->axis].name, (long long)axis);
    int64_t outside = k->outer_split[n->id] < 0 ? k->nest.extent[n->dim] : k->width[k->outer_split[n->id]];
    nst_diag_help(diags, d, "%s has an extent of %lld here: tiles of at least %lld fit", dim, (long long)outside,
                  (long long)ceildiv(outside, axis));
  } else {
    nst_diag *d = nst_diag_add(diags, NST_D_PAR_FIT, n->span, "the pars on %s.%s do not fit: %s%lld > %lld (%s)",
                               l->name, l->axes[n->axis].name, product == INT64_MAX ? "over " : "", (long long)product,
                               (long long)axis, factors.text ? factors.text : "");
    for (int i = 0; i < nids; i++)
      nst_diag_label(diags, d, m->nodes[ids[i]]->span, "%lld of %s", (long long)k->nest.count[ids[i]],
                     m->workload.dims[m->nodes[ids[i]]->dim].name);
    nst_diag_help(diags, d, "two pars on one axis share its places: the product of their tiles must not exceed them");
  }
  nst_buffer_fini(&factors);
}

static bool par_fits(const nst_nest_maker *k, const nst_ir_node *n) {
  return k->used[n->id] <= k->nest.levels[n->level].axes[n->axis];
}

static bool split_all(nst_nest_maker *k, nst_diags *diags) {
  const nst_ir_mapping *m = k->nest.ir;
  nst_nest *nest = &k->nest;
  bool good = true;
  for (int id = 0; id < m->nnodes; id++) {
    const nst_ir_node *n = m->nodes[id];
    if (n->kind != NST_NODE_FOR && n->kind != NST_NODE_PAR) continue;
    int outer = k->outer_split[id], par = k->outer_par[id];
    int64_t extent = outer < 0 ? nest->extent[n->dim] : k->width[outer];
    int64_t axis = n->kind == NST_NODE_PAR ? nest->levels[n->level].axes[n->axis] : 1;
    int64_t before = par < 0 ? 1 : k->used[par];
    if (n->split == NST_TILE_INTO) nest->tile[id] = ceildiv(extent, k->asked[id]);
    if (n->split == NST_TILE_AUTO) nest->tile[id] = before > axis ? extent : ceildiv(extent, axis / before);
    int64_t tile = nest->tile[id];
    nest->count[id] = tile >= extent ? 1 : ceildiv(extent, tile);
    k->width[id] = tile < extent ? tile : extent;
    if (n->kind == NST_NODE_FOR) continue;
    k->used[id] = mul_sat(before, nest->count[id]);
    good = good && par_fits(k, n);
  }
  /* Reported once all factors are known, at the first par of an axis that does not fit. */
  for (int id = 0; !good && diags && id < m->nnodes; id++) {
    const nst_ir_node *n = m->nodes[id];
    if (n->kind == NST_NODE_PAR && !par_fits(k, n) && (k->outer_par[id] < 0 || par_fits(k, m->nodes[k->outer_par[id]])))
      report_par(k, n, nest->levels[n->level].axes[n->axis], diags);
  }
  return good;
}

/* ---- sizes that must fit ---- */

/* |offset| + sum of |coef| * (extent - 1), against 2^62. */
static bool rank_fits(const nst_nest *nest, const nst_nest_rank *r) {
  nst_i128 reach = r->offset < 0 ? -(nst_i128)r->offset : r->offset;
  for (int i = 0; i < r->nterms && reach <= COEF_MAX; i++) {
    nst_i128 coef = r->coef[i] < 0 ? -(nst_i128)r->coef[i] : r->coef[i];
    reach += coef * (nest->extent[r->ir[i].dim] - 1);
  }
  return reach <= COEF_MAX;
}

static bool access_fits(const nst_nest *nest, const nst_nest_access *a, const nst_ir_access *ir, nst_diags *diags) {
  bool good = true;
  for (int r = 0; r < a->nranks; r++) {
    if (rank_fits(nest, &a->ranks[r])) continue;
    good = false;
    if (!diags) return false;
    nst_diag_add(diags, NST_D_RANK_TOO_LARGE, ir->ranks[r].span, "rank %d of %s takes values past 2^62", r + 1,
                 nest->ir->workload.tensors[a->tensor].name);
  }
  return good;
}

static bool sizes_fit(nst_nest *nest, nst_diags *diags) {
  const nst_ir_workload *w = &nest->ir->workload;
  bool good = true;
  nest->ops = 0;
  for (int i = 0; i < w->nstmts; i++) {
    int64_t points = 1;
    bool fits = true;
    for (int d = 0; d < w->stmts[i].ndims; d++)
      fits = fits && !__builtin_mul_overflow(points, nest->extent[w->stmts[i].dims[d]], &points);
    if (!fits || __builtin_add_overflow(nest->ops, points, &nest->ops)) {
      if (diags)
        nst_diag_add(diags, NST_D_NEST_TOO_LARGE, w->stmts[i].span, "the iteration space has 2^63 points or more");
      return false;
    }
    good = access_fits(nest, &nest->stmts[i].out, &w->stmts[i].out, diags) && good;
    for (int a = 0; a < nest->stmts[i].nin; a++)
      good = access_fits(nest, &nest->stmts[i].in[a], &w->stmts[i].in[a], diags) && good;
  }
  return good;
}

static bool count_instances(nst_nest *nest, nst_diags *diags) {
  const nst_ir_hardware *h = &nest->ir->hardware;
  int64_t instances = 1;
  for (int i = 0; i < h->nlevels; i++) {
    nest->levels[i].hw_instances = instances;
    for (int a = 0; a < h->levels[i].naxes; a++) {
      if (!__builtin_mul_overflow(instances, nest->levels[i].axes[a], &instances)) continue;
      if (diags)
        nst_diag_add(diags, NST_D_NEST_TOO_LARGE, h->levels[i].span, "the array %s makes 2^63 instances or more",
                     h->levels[i].name);
      return false;
    }
  }
  return true;
}

static uint64_t least(const uint64_t *fuel, uint64_t bound) { return fuel && *fuel < bound ? *fuel : bound; }

const nst_nest *nst_nest_make(nst_nest_maker *k, const nst_value *params, nst_diags *diags) {
  const uint64_t given = least(k->fuel, FUEL);
  uint64_t fuel = given;
  nst_eval_env env = {.params = params, .values = k->nest.values, .fuel = &fuel};
  run_result fixed = RUN_GOOD, varying = RUN_STOP;
  if (k->fixed_done) {
    nst_fuel_spend(&fuel, k->fixed_steps);
  } else {
    fixed = run(&k->fixed, &env, diags);
    k->fixed_done = fixed == RUN_GOOD;
    k->fixed_steps = given - fuel;
  }
  if (fixed != RUN_STOP) varying = run(&k->varying, &env, diags);
  nst_fuel_spend(k->fuel, given - fuel);
  if (fixed != RUN_GOOD || varying != RUN_GOOD) return NULL;
  if (!split_all(k, diags)) return NULL;
  if (!sizes_fit(&k->nest, diags) || !count_instances(&k->nest, diags)) return NULL;
  return &k->nest;
}

bool nst_nest_defaults(nst_value *params, const bool *given, const nst_ir_mapping *m, nst_diags *diags) {
  return nst_nest_defaults_within(params, given, m, NULL, diags);
}

bool nst_nest_defaults_within(nst_value *params, const bool *given, const nst_ir_mapping *m, uint64_t *fuel,
                              nst_diags *diags) {
  uint64_t own = FUEL;
  nst_eval_env env = {.params = params, .fuel = fuel && *fuel < own ? fuel : &own};
  for (int i = 0; i < m->scope.nparams; i++) {
    const nst_ir_param *p = &m->scope.params[i];
    nst_span where = p->span;
    if (given && given[i]) continue;
    nst_eval_status s = p->value ? nst_expr_eval(&params[i], p->value, &env, &where) : NST_EVAL_OK;
    if (p->value && s == NST_EVAL_OK) continue;
    if (diags && s)
      nst_eval_report(diags, s, where.source ? where : p->span, "the default of", p->name);
    else if (diags)
      nst_diag_add(diags, NST_D_PARAM_MISSING, p->span, "parameter %s of %s has no value and no default", p->name,
                   m->name);
    return false;
  }
  return true;
}
