/* See sweep_program.h. Expressions of the sweep become pairs (op, denominator);
 * linear metrics become forms at once, so that energy, traffic and each part of
 * the cycles is one sum of products however many counters it adds up. */
#include "backend/sweep_program.h"
#include "base/vec.h"
#include <string.h>

typedef struct { int op; int64_t den; bool truth; } typed; /* op -1: failed */
typedef NST_VEC(nst_atom) atoms;

typedef struct {
  nst_sweep_program *p;
  nst_arena *arena;
  const nst_sweep_axes *axes;
  const nst_ir_sweep *sweep;
  const int64_t *instances;
  const char *why;
  NST_VEC(nst_sweep_form) forms;
  NST_VEC(nst_vop) ops;
  const nst_value *values; /* of the mapping's scope, where constant */
} builder;

static const typed failed = {-1, 1, false};
static typed fail(builder *b, const char *why) {
  if (!b->why) b->why = why;
  return failed;
}

static int add_op(builder *b, nst_vop_kind kind, int x, int y, int64_t imm) {
  for (size_t i = 0; i < b->ops.len; i++) {
    const nst_vop *o = &b->ops.items[i];
    if (o->kind == kind && o->a == x && o->b == y && o->imm == imm) return (int)i;
  }
  *nst_vec_push(b->arena, &b->ops) = (nst_vop){kind, x, y, imm};
  return (int)b->ops.len - 1;
}

/* ---- forms ---- */

static int compare_atoms(const nst_atom *a, const nst_atom *b) {
  int x[4] = {(int)a->kind, a->stmt, a->level, a->tensor}, y[4] = {(int)b->kind, b->stmt, b->level, b->tensor};
  for (int i = 0; i < 4; i++)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

static bool same_atoms(const nst_sweep_form *a, const nst_sweep_form *b) {
  if (a->natoms != b->natoms) return false;
  for (int i = 0; i < a->natoms; i++) {
    const nst_atom *x = &a->atoms[i], *y = &b->atoms[i];
    if (compare_atoms(x, y) || nst_rat_cmp(x->weight, y->weight)) return false;
  }
  return true;
}

static int64_t gcd64(int64_t a, int64_t b) {
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a < 0 ? -a : a;
}

/* a/gcd * b; 0: past 62 bits */
static int64_t lcm64(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a / gcd64(a, b), b, &r) || r > INT64_MAX / 2) return 0;
  return r;
}

/* A linear metric: the form of its weights over their greatest common divisor, so that the same traffic in bytes, in
 * cycles and in picojoules is one form; then scaled. */
static typed make_form(builder *b, const atoms *as) {
  int64_t num = 0, den = 1;
  for (size_t i = 0; i < as->len; i++) {
    nst_rat w = as->items[i].weight;
    if (w.num > INT64_MAX / 2 || w.num < -(INT64_MAX / 2) || w.den > INT64_MAX / 2 || !(den = lcm64(den, (int64_t)w.den)))
      return fail(b, "rates or energies without a common denominator");
    num = gcd64(num, (int64_t)w.num);
  }
  if (!num) num = 1;
  for (size_t i = 0; i < as->len; i++) { /* gcd of n/d: gcd of the n over lcm of the d */
    nst_rat by;
    if (!nst_rat_make(&by, den, num) || !nst_rat_mul(&as->items[i].weight, as->items[i].weight, by)) return fail(b, "a weight past 128 bits");
  }
  nst_sweep_form f = {as->items, (int)as->len};
  size_t i = 0;
  while (i < b->forms.len && !same_atoms(&b->forms.items[i], &f)) i++;
  if (i == b->forms.len) *nst_vec_push(b->arena, &b->forms) = f;
  int op = add_op(b, NST_VOP_FORM, -1, -1, (int64_t)i);
  int64_t g = gcd64(num, den);
  if (num != g) op = add_op(b, NST_VOP_SCALE, op, -1, num / g);
  return (typed){op, den / g, false};
}

/* Atoms are kept sorted, so that forms of the same atoms are the same. */
static void add_atom(builder *b, atoms *as, nst_atom_kind kind, int stmt, int level, int tensor, nst_rat weight) {
  if (!weight.num) return;
  if (b->axes->mapping->workload.nstmts == 1) stmt = 0;
  nst_atom atom = {kind, stmt, level, tensor, weight};
  (void)nst_vec_push(b->arena, as);
  size_t i = as->len - 1;
  for (; i > 0 && compare_atoms(&as->items[i - 1], &atom) > 0; i--) as->items[i] = as->items[i - 1];
  as->items[i] = atom;
}

static nst_rat scaled_bits(builder *b, int tensor, nst_rat by) { /* bits/8 * by */
  nst_rat r;
  if (nst_rat_make(&r, b->axes->base->bits[tensor], 8) && nst_rat_mul(&r, r, by)) return r;
  fail(b, "a weight past 128 bits");
  return nst_rat_int(0);
}

static int ntensors(const builder *b) { return b->axes->mapping->workload.ntensors; }
static int nstmts(const builder *b) { return b->axes->mapping->workload.nstmts; }
static int nlevels(const builder *b) { return b->axes->mapping->hardware.nlevels; }

/* Bytes read from (reads + drains) or written to (fills + updates) a level, times a weight. */
static void add_volume(builder *b, atoms *as, int stmt, int level, bool written, nst_rat weight) {
  bool inner = level != b->axes->mapping->outermost; /* nothing moves above the outermost memory */
  for (int t = 0; t < ntensors(b); t++) {
    nst_rat w = scaled_bits(b, t, weight);
    if (inner || !written) add_atom(b, as, written ? NST_ATOM_FILLS : NST_ATOM_READS, stmt, level, t, w);
    if (inner || written) add_atom(b, as, written ? NST_ATOM_UPDATES : NST_ATOM_DRAINS, stmt, level, t, w);
  }
}

/* ---- arithmetic ---- */

static bool over(typed *x, int64_t den, builder *b) { /* x over another denominator */
  if (x->den != den) x->op = add_op(b, NST_VOP_SCALE, x->op, -1, den / x->den);
  x->den = den;
  return true;
}

static typed combine(builder *b, nst_vop_kind kind, typed x, typed y) {
  if (x.op < 0 || y.op < 0) return failed;
  if (x.truth || y.truth) return fail(b, "a condition where a number is expected");
  if (kind == NST_VOP_MUL) {
    int64_t den;
    if (__builtin_mul_overflow(x.den, y.den, &den)) return fail(b, "a product past 63 bits");
    return (typed){add_op(b, kind, x.op, y.op, 0), den, false};
  }
  int64_t den = lcm64(x.den, y.den);
  if (!den) return fail(b, "numbers without a common denominator");
  over(&x, den, b);
  over(&y, den, b);
  bool truth = kind >= NST_VOP_LT;
  return (typed){add_op(b, kind, x.op, y.op, 0), truth ? 1 : den, truth};
}

static typed constant(builder *b, nst_rat r) {
  int64_t num = (int64_t)r.num;
  if (r.num != num || r.den > INT64_MAX / 2) return fail(b, "a constant past 63 bits");
  return (typed){add_op(b, NST_VOP_CONST, -1, -1, num), (int64_t)r.den, false};
}

static typed logic(builder *b, nst_vop_kind kind, typed x, typed y) {
  if (x.op < 0 || (kind != NST_VOP_NOT && y.op < 0)) return failed;
  return (typed){add_op(b, kind, x.op, kind == NST_VOP_NOT ? -1 : y.op, 0), 1, true};
}

/* ---- metrics ---- */

static typed memory_cycles(builder *b, int stmt, int level) {
  const nst_nest_level *l = &b->axes->base->levels[level];
  int64_t n = b->instances[stmt * nlevels(b) + level];
  typed worst = constant(b, nst_rat_int(0));
  if (!l->has_bandwidth && !l->has_read_bandwidth && !l->has_write_bandwidth) return worst;
  if (n < 0) return fail(b, "the number of instances of a level with a bandwidth differs from point to point");
  nst_rat per = nst_rat_int(n ? n : 1);
  for (int k = 0; k < 3; k++) {
    bool given = k == 0 ? l->has_bandwidth : k == 1 ? l->has_read_bandwidth : l->has_write_bandwidth;
    nst_rat rate = k == 0 ? l->bandwidth : k == 1 ? l->read_bandwidth : l->write_bandwidth, weight;
    if (!given) continue;
    if (!nst_rat_mul(&weight, rate, per) || !nst_rat_div(&weight, nst_rat_int(1), weight)) return fail(b, "a rate past 128 bits");
    atoms as = {0};
    if (k != 2) add_volume(b, &as, stmt, level, false, weight);
    if (k != 1) add_volume(b, &as, stmt, level, true, weight);
    worst = as.len ? combine(b, NST_VOP_MAX, worst, make_form(b, &as)) : worst;
  }
  return worst;
}

static int unit_of(const builder *b, int stmt) {
  const nst_ir_mapping *m = b->axes->mapping;
  return m->nodes[m->paths[stmt].nodes[m->paths[stmt].nnodes - 1]]->level;
}

static typed compute_cycles(builder *b, int stmt) {
  atoms as = {0};
  nst_rat weight;
  if (!nst_rat_div(&weight, nst_rat_int(1), b->axes->base->levels[unit_of(b, stmt)].rate)) return fail(b, "a rate past 128 bits");
  add_atom(b, &as, NST_ATOM_STEPS, stmt, 0, 0, weight);
  return make_form(b, &as);
}

static typed all_cycles(builder *b) {
  typed total = constant(b, nst_rat_int(0));
  for (int s = 0; s < nstmts(b); s++) {
    typed slowest = compute_cycles(b, s), alone = constant(b, nst_rat_int(0));
    for (int l = 0; l < nlevels(b); l++) {
      const nst_ir_level *level = &b->axes->mapping->hardware.levels[l];
      if (level->kind != NST_LEVEL_MEMORY) continue;
      typed c = memory_cycles(b, s, l);
      if (level->overlap) slowest = combine(b, NST_VOP_MAX, slowest, c);
      else alone = combine(b, NST_VOP_ADD, alone, c);
    }
    total = combine(b, NST_VOP_ADD, total, combine(b, NST_VOP_ADD, slowest, alone));
  }
  if (total.op < 0) return failed;
  return (typed){total.den == 1 ? total.op : add_op(b, NST_VOP_CEILDIV, total.op, -1, total.den), 1, false};
}

static typed level_cycles(builder *b, int level) {
  typed total = constant(b, nst_rat_int(0));
  bool unit = b->axes->mapping->hardware.levels[level].kind == NST_LEVEL_COMPUTE;
  for (int s = 0; s < nstmts(b); s++)
    if (!unit || unit_of(b, s) == level)
      total = combine(b, NST_VOP_ADD, total, unit ? compute_cycles(b, s) : memory_cycles(b, s, level));
  return total;
}

/* Energy of one level, or of all (-1): one form, and leakage by the cycles. */
static typed energy(builder *b, int only) {
  atoms as = {0};
  nst_rat leak = nst_rat_int(0);
  typed total = constant(b, nst_rat_int(0));
  for (int l = 0; l < nlevels(b); l++) {
    const nst_nest_level *x = &b->axes->base->levels[l];
    const nst_ir_level *level = &b->axes->mapping->hardware.levels[l];
    if ((only >= 0 && l != only) || level->kind == NST_LEVEL_ARRAY) continue;
    if (level->kind == NST_LEVEL_MEMORY && x->has_bandwidth && !nst_rat_cmp(x->read_energy, x->write_energy)) {
      atoms own = {0}; /* all that moves: the form that the cycles need too */
      for (int s = 0; s < nstmts(b); s++) {
        own.len = 0;
        own.items = NULL;
        own.cap = 0;
        add_volume(b, &own, s, l, false, x->read_energy);
        add_volume(b, &own, s, l, true, x->read_energy);
        if (own.len) total = combine(b, NST_VOP_ADD, total, make_form(b, &own));
      }
    } else if (level->kind == NST_LEVEL_MEMORY) {
      add_volume(b, &as, -1, l, false, x->read_energy);
      add_volume(b, &as, -1, l, true, x->write_energy);
    }
    for (int s = 0; level->kind == NST_LEVEL_COMPUTE && s < nstmts(b); s++) {
      if (unit_of(b, s) != l) continue;
      int64_t ops = 1; /* points of the statement: they fit, the nest has checked */
      const nst_ir_stmt *st = &b->axes->mapping->workload.stmts[s];
      for (int d = 0; d < st->ndims; d++) ops *= b->axes->base->extent[st->dims[d]];
      nst_rat w;
      if (!nst_rat_mul(&w, x->energy, nst_rat_int(ops))) return fail(b, "an energy past 128 bits");
      add_atom(b, &as, NST_ATOM_ONE, -1, 0, 0, w);
    }
    if (!x->has_leakage || !x->leakage.num) continue;
    nst_rat w; /* W * instances / Hz * 10^12 pJ/J */
    if (!b->axes->base->has_clock) return fail(b, "leakage without a clock");
    if (!nst_rat_mul(&w, x->leakage, nst_rat_int(x->hw_instances)) || !nst_rat_mul(&w, w, nst_rat_int(1000000000000)) ||
        !nst_rat_div(&w, w, b->axes->base->clock) || !nst_rat_add(&leak, leak, w))
      return fail(b, "a leakage past 128 bits");
  }
  if (as.len) total = combine(b, NST_VOP_ADD, total, make_form(b, &as));
  if (leak.num) total = combine(b, NST_VOP_ADD, total, combine(b, NST_VOP_MUL, constant(b, leak), all_cycles(b)));
  return total;
}

/* Counters and traffic; off-chip traffic is all that moves at the outermost memory. */
static typed counters(builder *b, const nst_expr *e) {
  static const nst_atom_kind kinds[] = {NST_ATOM_READS, NST_ATOM_FILLS, NST_ATOM_UPDATES, NST_ATOM_DRAINS};
  atoms as = {0};
  for (int t = 0; t < ntensors(b); t++) {
    if (e->tensor >= 0 && t != e->tensor) continue;
    if (e->metric == NST_METRIC_TRAFFIC || e->metric == NST_METRIC_OFFCHIP) {
      int level = e->metric == NST_METRIC_OFFCHIP ? b->axes->mapping->outermost : e->level;
      add_atom(b, &as, NST_ATOM_READS, -1, level, t, scaled_bits(b, t, nst_rat_int(1)));
      add_atom(b, &as, NST_ATOM_UPDATES, -1, level, t, scaled_bits(b, t, nst_rat_int(1)));
    } else {
      add_atom(b, &as, kinds[e->metric - NST_METRIC_READS], -1, e->level, t, nst_rat_int(1));
    }
  }
  return make_form(b, &as);
}

/* Held elements or bytes: the largest over the paths, so over the branches of every seq. */
static typed held(builder *b, int level, int tensor, bool bytes) {
  typed most = failed, sum = failed;
  bool apart = !bytes && tensor < 0; /* tile(L): the sum of each tensor's largest */
  for (int first = apart ? 0 : tensor; first < (apart ? ntensors(b) : tensor + 1); first++) {
    for (int s = 0; s < nstmts(b); s++) {
      atoms as = {0};
      for (int t = 0; t < ntensors(b); t++)
        if (first < 0 || t == first) {
          nst_rat w = bytes ? scaled_bits(b, t, nst_rat_int(b->axes->mapping->hardware.levels[level].double_buffered ? 2 : 1))
                            : nst_rat_int(1);
          add_atom(b, &as, NST_ATOM_HELD, s, level, t, w);
        }
      typed here = make_form(b, &as);
      most = s ? combine(b, NST_VOP_MAX, most, here) : here;
    }
    sum = sum.op < 0 ? most : combine(b, NST_VOP_ADD, sum, most);
  }
  return sum;
}

static typed fits(builder *b) {
  typed all = {add_op(b, NST_VOP_TRUE, -1, -1, 0), 1, true};
  for (int l = 0; l < nlevels(b); l++)
    if (b->axes->base->levels[l].has_capacity)
      all = logic(b, NST_VOP_AND, all, combine(b, NST_VOP_LE, held(b, l, -1, true), constant(b, b->axes->base->levels[l].capacity)));
  return all;
}

static typed metric(builder *b, const nst_expr *e) {
  switch (e->metric) {
  case NST_METRIC_READS:
  case NST_METRIC_FILLS:
  case NST_METRIC_UPDATES:
  case NST_METRIC_DRAINS:
  case NST_METRIC_TRAFFIC:
  case NST_METRIC_OFFCHIP: return counters(b, e);
  case NST_METRIC_TILE: return held(b, e->level, e->tensor, false);
  case NST_METRIC_USAGE: return held(b, e->level, e->tensor, true);
  case NST_METRIC_CYCLES: return e->level < 0 ? all_cycles(b) : level_cycles(b, e->level);
  case NST_METRIC_ENERGY: return energy(b, e->level);
  case NST_METRIC_EDP: return combine(b, NST_VOP_MUL, energy(b, -1), all_cycles(b));
  case NST_METRIC_STEPS: {
    atoms as = {0};
    add_atom(b, &as, NST_ATOM_STEPS, -1, 0, 0, nst_rat_int(1));
    return make_form(b, &as);
  }
  case NST_METRIC_FITS: return fits(b);
  case NST_METRIC_OPS: return constant(b, nst_rat_int(b->axes->base->ops));
  case NST_METRIC_UTILIZATION:
  case NST_METRIC_INTENSITY:
  case NST_METRIC_INSTANCES:
  case NST_METRIC_AREA:
  case NST_METRIC_COUNT: break;
  }
  return fail(b, "utilization, intensity, instances and area are not for kernels");
}

/* ---- expressions ---- */

static typed expression(builder *b, const nst_expr *e);

static typed binary(builder *b, nst_vop_kind kind, const nst_expr *x, const nst_expr *y) {
  typed u = expression(b, x), v = expression(b, y);
  return combine(b, kind, u, v);
}

static typed parameter(builder *b, int param) {
  for (int k = 0; k < b->sweep->npoints; k++)
    if (b->sweep->points[k].param == param) {
      atoms as = {0};
      add_atom(b, &as, NST_ATOM_PARAM, -1, 0, k, nst_rat_int(1));
      return make_form(b, &as);
    }
  nst_value v = nst_space_defaults(b->axes->space)[param];
  return v.kind == NST_VALUE_RAT ? constant(b, v.rat) : fail(b, "a parameter that is no number");
}

static typed expression(builder *b, const nst_expr *e) {
  typed x;
  switch (e->kind) {
  case NST_X_CONST: return constant(b, e->value);
  case NST_X_BOOL:
    x = (typed){add_op(b, NST_VOP_TRUE, -1, -1, 0), 1, true};
    return e->truth ? x : logic(b, NST_VOP_NOT, x, x);
  case NST_X_PARAM: return parameter(b, e->index);
  case NST_X_VALUE:
    if (nst_sweep_mask(b->axes, b->sweep, e)) return expression(b, b->axes->mapping->scope.values[e->index].value);
    if (b->axes->base->values[e->index].kind != NST_VALUE_RAT) return fail(b, "a value that is no exact number");
    return constant(b, b->axes->base->values[e->index].rat);
  case NST_X_METRIC: return metric(b, e);
  case NST_X_ADD: return binary(b, NST_VOP_ADD, e->a, e->b);
  case NST_X_SUB: return binary(b, NST_VOP_SUB, e->a, e->b);
  case NST_X_MUL: return binary(b, NST_VOP_MUL, e->a, e->b);
  case NST_X_MIN: return binary(b, NST_VOP_MIN, e->a, e->b);
  case NST_X_MAX: return binary(b, NST_VOP_MAX, e->a, e->b);
  case NST_X_NEG: return combine(b, NST_VOP_SUB, constant(b, nst_rat_int(0)), expression(b, e->a));
  case NST_X_DIV: {
    nst_rat r;
    if (e->b->kind != NST_X_CONST || !e->b->value.num || !nst_rat_div(&r, nst_rat_int(1), e->b->value)) break;
    return combine(b, NST_VOP_MUL, expression(b, e->a), constant(b, r));
  }
  case NST_X_LT: return binary(b, NST_VOP_LT, e->a, e->b);
  case NST_X_LE: return binary(b, NST_VOP_LE, e->a, e->b);
  case NST_X_GT: return binary(b, NST_VOP_LT, e->b, e->a);
  case NST_X_GE: return binary(b, NST_VOP_LE, e->b, e->a);
  case NST_X_EQ:
  case NST_X_NE: {
    typed u = expression(b, e->a), v = expression(b, e->b);
    if (u.truth || v.truth) break;
    x = combine(b, NST_VOP_EQ, u, v);
    return e->kind == NST_X_EQ ? x : logic(b, NST_VOP_NOT, x, x);
  }
  case NST_X_AND: return logic(b, NST_VOP_AND, expression(b, e->a), expression(b, e->b));
  case NST_X_OR: return logic(b, NST_VOP_OR, expression(b, e->a), expression(b, e->b));
  case NST_X_NOT:
    x = expression(b, e->a);
    return logic(b, NST_VOP_NOT, x, x);
  case NST_X_INDEX:
  case NST_X_FLOORDIV:
  case NST_X_MOD:
  case NST_X_POW:
  case NST_X_CEILDIV:
  case NST_X_GCD:
  case NST_X_ABS:
  case NST_X_CEIL:
  case NST_X_FLOOR:
  case NST_X_LOG2:
  case NST_X_SQRT:
  case NST_X_IF:
  case NST_X_SUM: break;
  }
  return fail(b, "an expression of the sweep that is more than sums, products and comparisons of metrics and parameters");
}

bool nst_sweep_program_build(nst_sweep_program *p, nst_arena *arena, const nst_sweep_axes *axes, const nst_ir_sweep *s,
                             const int64_t *instances, const char **why) {
  builder b = {.p = p, .arena = arena, .axes = axes, .sweep = s, .instances = instances};
  *p = (nst_sweep_program){0};
  typed valid = {add_op(&b, NST_VOP_TRUE, -1, -1, 0), 1, true};
  for (int i = 0; i < s->nwhere; i++) valid = logic(&b, NST_VOP_AND, valid, expression(&b, s->where[i].value));
  if (s->nobjectives + s->npareto > NST_SWEEP_MAX_METRICS) fail(&b, "too many metrics");
  for (int i = 0; i < s->nobjectives + s->npareto && !b.why; i++) {
    typed x = expression(&b, i < s->nobjectives ? s->objectives[i] : s->pareto[i - s->nobjectives]);
    if (x.op >= 0 && x.truth) fail(&b, "a condition as an objective");
    p->metrics[p->nmetrics].op = x.op;
    p->metrics[p->nmetrics++].den = x.den;
  }
  p->forms = b.forms.items;
  p->nforms = (int)b.forms.len;
  p->ops = b.ops.items;
  p->nops = (int)b.ops.len;
  p->valid = valid.op;
  *why = b.why;
  return !b.why;
}

/* ---- the polynomials of a variant ---- */

static bool on_path(const nst_ir_mapping *m, int stmt, int node) {
  for (int i = 0; i < m->paths[stmt].nnodes; i++)
    if (m->paths[stmt].nodes[i] == node) return true;
  return false;
}

static bool add_atom_poly(nst_sweep_poly *out, nst_sweep_tables *t, const nst_atom *a, nst_rat w, const nst_ir_mapping *m,
                          const nst_plan *plan, const nst_sweep_factor *factors) {
  static const nst_product empty = {1, 0, NULL};
  static const nst_formula one = {1, &empty};
  if (a->kind == NST_ATOM_ONE) return nst_sweep_poly_add(t, out, w, &one, factors);
  if (a->kind == NST_ATOM_PARAM) return nst_sweep_poly_add_param(t, out, w, a->tensor);
  for (int i = 0; a->kind == NST_ATOM_HELD && i < m->nslots; i++)
    if (m->slots[i].level == a->level && m->slots[i].tensor == a->tensor && on_path(m, a->stmt, m->slots[i].node) &&
        !nst_sweep_poly_add(t, out, w, &plan->tile[i], factors))
      return false;
  for (int s = a->stmt < 0 ? 0 : a->stmt; a->kind != NST_ATOM_HELD && s <= (a->stmt < 0 ? m->workload.nstmts - 1 : a->stmt); s++) {
    size_t at = ((size_t)s * (size_t)m->hardware.nlevels + (size_t)a->level) * (size_t)m->workload.ntensors + (size_t)a->tensor;
    const nst_formula *f = a->kind == NST_ATOM_STEPS     ? &plan->steps[s]
                           : a->kind == NST_ATOM_READS   ? &plan->reads[at]
                           : a->kind == NST_ATOM_FILLS   ? &plan->fills[at]
                           : a->kind == NST_ATOM_UPDATES ? &plan->updates[at]
                                                         : &plan->drains[at];
    if (!nst_sweep_poly_add(t, out, w, f, factors)) return false;
  }
  return true;
}

bool nst_sweep_form_poly(nst_sweep_poly *out, nst_sweep_tables *t, const nst_sweep_form *f, const nst_ir_mapping *variant,
                         const nst_plan *plan, const nst_sweep_factor *factors) {
  *out = (nst_sweep_poly){0};
  for (int i = 0; i < f->natoms; i++) {
    if (!add_atom_poly(out, t, &f->atoms[i], f->atoms[i].weight, variant, plan, factors)) return false;
  }
  nst_sweep_poly_finish(t, out);
  for (int i = 0; i < out->nterms; i++) {
    int64_t whole;
    if (!nst_rat_to_i64(&whole, out->terms[i].coef)) return false;
  }
  return true;
}

/* ---- one point ---- */

bool nst_sweep_program_run(const nst_sweep_program *p, const int64_t *forms, int64_t *ops) {
  for (int i = 0; i < p->nops; i++) {
    const nst_vop *o = &p->ops[i];
    int64_t a = o->a >= 0 ? ops[o->a] : 0, b = o->b >= 0 ? ops[o->b] : 0, r = 0;
    bool good = true;
    switch (o->kind) {
    case NST_VOP_FORM: r = forms[o->imm]; break;
    case NST_VOP_CONST: r = o->imm; break;
    case NST_VOP_ADD: good = !__builtin_add_overflow(a, b, &r); break;
    case NST_VOP_SUB: good = !__builtin_sub_overflow(a, b, &r); break;
    case NST_VOP_MUL: good = !__builtin_mul_overflow(a, b, &r); break;
    case NST_VOP_MIN: r = a < b ? a : b; break;
    case NST_VOP_MAX: r = a > b ? a : b; break;
    case NST_VOP_SCALE: good = !__builtin_mul_overflow(a, o->imm, &r); break;
    case NST_VOP_CEILDIV: r = a / o->imm + (a % o->imm > 0); break;
    case NST_VOP_LT: r = a < b; break;
    case NST_VOP_LE: r = a <= b; break;
    case NST_VOP_EQ: r = a == b; break;
    case NST_VOP_AND: r = a && b; break;
    case NST_VOP_OR: r = a || b; break;
    case NST_VOP_NOT: r = !a; break;
    case NST_VOP_TRUE: r = 1; break;
    }
    if (!good) return false;
    ops[i] = r;
  }
  return true;
}
