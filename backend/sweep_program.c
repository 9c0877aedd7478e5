/* See sweep_program.h. Expressions become terms (sweep_builder.h). What depends on
 * the parameters of one axis alone and is more than arithmetic becomes a table
 * over that axis, evaluated as the language has it.
 *
 * The language evaluates lazily: the right side of and/or, one side of an if,
 * metrics of valid points only. `guard` follows it, so that a division by zero
 * counts where the language would meet one and nowhere else. */
#include "backend/sweep_builder.h"

static nst_term expression(nst_builder *b, const nst_expr *e);

static nst_term binary(nst_builder *b, nst_vop_kind kind, const nst_expr *x, const nst_expr *y) {
  const nst_term u = expression(b, x), v = expression(b, y);
  return nst_term_combine(b, kind, u, v);
}

/* e where `when` holds (of what is evaluated now). */
static nst_term guarded(nst_builder *b, const nst_expr *e, nst_term when) {
  const int outer = b->guard;
  if (when.op < 0) return nst_term_failed;
  b->guard = nst_term_op(b, NST_VOP_AND, outer, when.op, 0);
  const nst_term x = expression(b, e);
  b->guard = outer;
  return x;
}

/* ---- what needs no metrics ---- */

static bool has_metric(const nst_expr *e) {
  return e && (e->kind == NST_X_METRIC || has_metric(e->a) || has_metric(e->b) || has_metric(e->c));
}

static nst_term of_value(nst_builder *b, const nst_value *v) {
  if (v->kind == NST_VALUE_RAT) return nst_term_constant(b, v->rat);
  if (v->kind == NST_VALUE_REAL) return nst_term_fail(b, "a number that is not exact");
  const nst_term t = nst_term_true(b);
  return v->truth ? t : nst_term_logic(b, NST_VOP_NOT, t, t);
}

/* The axis of all parameters of a mask, or -1. */
static int axis_of_mask(const nst_builder *b, uint64_t mask) {
  for (int a = 0; a + 1 < b->axes->naxes; a++) {
    const nst_axis *x = &b->axes->axes[a].all;
    uint64_t all = 0;
    for (int k = 0; k < x->nparams; k++) all |= (uint64_t)1 << x->which[k];
    if (mask && !(mask & ~all)) return a;
  }
  return -1;
}

/* A table of e over an axis. */
static nst_term tabulate(nst_builder *b, const nst_expr *e, int axis) {
  const nst_sweep_axis *x = &b->axes->axes[axis];
  int64_t *values = NST_NEW_ARRAY(b->arena, x->ntuples, int64_t), den = 1;
  nst_sweep_evaluator *v = nst_sweep_evaluator_new(b->axes, b->sweep, axis);
  bool good = true, truth = false;
  for (int pass = 0; pass < 2 && good; pass++) /* first the common denominator */
    for (size_t t = 0; t < x->ntuples && good; t++) {
      nst_value value;
      nst_rat r = nst_rat_int(0);
      good = nst_sweep_evaluator_eval(v, t, e, &value) && value.kind != NST_VALUE_REAL;
      truth = good && value.kind == NST_VALUE_BOOL;
      if (good) r = truth ? nst_rat_int(value.truth) : value.rat;
      if (good && !pass) good = r.den < 1 << 20 && !__builtin_mul_overflow(den, (int64_t)(den % (int64_t)r.den ? r.den : 1), &den) && den < 1 << 30;
      if (good && pass) good = nst_rat_mul(&r, r, nst_rat_int(den)) && nst_rat_to_i64(&values[t], r);
    }
  nst_sweep_evaluator_free(v);
  if (!good) return nst_term_fail(b, "an expression of parameters that is no exact number everywhere");
  *nst_vec_push(b->arena, &b->tabulated) = (nst_sweep_tabulated){axis, values};
  nst_atoms as = {0};
  nst_rat weight = nst_rat_int(1);
  if (!nst_rat_make(&weight, 1, den)) return nst_term_fail(b, "a weight past 128 bits");
  nst_term_add_atom(b, &as, NST_ATOM_TABULATED, -1, 0, (int)b->tabulated.len - 1, weight);
  const nst_term form = nst_term_form(b, &as, -1);
  return truth ? nst_term_combine(b, NST_VOP_EQ, form, nst_term_constant(b, nst_rat_int(1))) : form;
}

/* Is there something that terms cannot do? */
static bool is_more(const nst_expr *e) {
  if (!e) return false;
  switch (e->kind) {
  case NST_X_INDEX:
  case NST_X_DIV:
  case NST_X_FLOORDIV:
  case NST_X_MOD:
  case NST_X_POW:
  case NST_X_CEILDIV:
  case NST_X_GCD:
  case NST_X_CEIL:
  case NST_X_FLOOR:
  case NST_X_LOG2:
  case NST_X_SQRT:
  case NST_X_IF:
  case NST_X_SUM: return true;
  case NST_X_CONST:
  case NST_X_BOOL:
  case NST_X_PARAM:
  case NST_X_VALUE:
  case NST_X_METRIC:
  case NST_X_ADD:
  case NST_X_SUB:
  case NST_X_MUL:
  case NST_X_NEG:
  case NST_X_MIN:
  case NST_X_MAX:
  case NST_X_ABS:
  case NST_X_EQ:
  case NST_X_NE:
  case NST_X_LT:
  case NST_X_LE:
  case NST_X_GT:
  case NST_X_GE:
  case NST_X_AND:
  case NST_X_OR:
  case NST_X_NOT: break;
  }
  return is_more(e->a) || is_more(e->b) || is_more(e->c);
}

/* An expression without metrics that is more than what terms can do. */
static nst_term of_parameters(nst_builder *b, const nst_expr *e) {
  const int axis = axis_of_mask(b, nst_sweep_mask(b->axes, b->sweep, e));
  if (axis < 0) return nst_term_fail(b, "an expression of parameters of several tile chains");
  return tabulate(b, e, axis);
}

static nst_term parameter(nst_builder *b, int param) {
  for (int k = 0; k < b->sweep->npoints; k++)
    if (b->sweep->points[k].param == param) {
      nst_atoms as = {0};
      nst_term_add_atom(b, &as, NST_ATOM_PARAM, -1, 0, k, nst_rat_int(1));
      return nst_term_form(b, &as, -1);
    }
  if (nst_space_follows(b->axes->space, param)) return expression(b, b->axes->mapping->scope.params[param].value);
  return of_value(b, &nst_space_defaults(b->axes->space)[param]);
}

/* Without metrics and without swept parameters. */
static bool is_fixed(const nst_builder *b, const nst_expr *e) { return !has_metric(e) && !nst_sweep_mask(b->axes, b->sweep, e); }

static nst_term fixed(nst_builder *b, const nst_expr *e) {
  const nst_eval_env env = {.params = nst_space_defaults(b->axes->space), .values = b->axes->base->values};
  nst_value v;
  nst_span where;
  if (nst_expr_eval(&v, e, &env, &where) != NST_EVAL_OK) return nst_term_fail(b, "an expression without a value");
  return of_value(b, &v);
}

/* ---- expressions ---- */

static nst_term rounded(nst_builder *b, nst_term x, bool up) {
  return up ? nst_term_negate(b, nst_term_floor(b, nst_term_negate(b, x))) : nst_term_floor(b, x);
}

static nst_term division(nst_builder *b, const nst_expr *e) {
  const nst_term x = expression(b, e->a), y = expression(b, e->b), quotient = nst_term_divide(b, x, y);
  switch ((int)e->kind) {
  case NST_X_FLOORDIV: return rounded(b, quotient, false);
  case NST_X_CEILDIV: return rounded(b, quotient, true);
  case NST_X_MOD:
    return nst_term_combine(b, NST_VOP_SUB, x, nst_term_combine(b, NST_VOP_MUL, rounded(b, quotient, false), y));
  }
  return quotient;
}

static nst_term power(nst_builder *b, const nst_expr *e) {
  int64_t n;
  if (!is_fixed(b, e->b)) return nst_term_fail(b, "a power with an exponent that differs from point to point");
  const nst_eval_env env = {.params = nst_space_defaults(b->axes->space), .values = b->axes->base->values};
  nst_value v;
  nst_span where;
  if (nst_expr_eval(&v, e->b, &env, &where) != NST_EVAL_OK || !nst_value_to_i64(&n, &v) || n < 1 || n > 8)
    return nst_term_fail(b, "a power that is no product");
  const nst_term x = expression(b, e->a);
  nst_term product = x;
  while (--n) product = nst_term_combine(b, NST_VOP_MUL, product, x);
  return product;
}

static nst_term comparison(nst_builder *b, const nst_expr *e) {
  const nst_term u = expression(b, e->a), v = expression(b, e->b);
  nst_term same;
  if (u.truth && v.truth) same = nst_term_choose(b, u, v, nst_term_logic(b, NST_VOP_NOT, v, v));
  else same = nst_term_combine(b, NST_VOP_EQ, u, v);
  return e->kind == NST_X_EQ ? same : nst_term_logic(b, NST_VOP_NOT, same, same);
}

static nst_term expression(nst_builder *b, const nst_expr *e) {
  nst_term x;
  if (b->why) return nst_term_failed;
  if (e->kind != NST_X_CONST && is_fixed(b, e)) return fixed(b, e);
  if (!has_metric(e) && is_more(e)) { /* the whole of it, where one axis decides: what is in it need not be exact */
    const int axis = axis_of_mask(b, nst_sweep_mask(b->axes, b->sweep, e));
    if (axis >= 0) return tabulate(b, e, axis);
  }
  switch (e->kind) {
  case NST_X_CONST: return nst_term_constant(b, e->value);
  case NST_X_BOOL:
    x = nst_term_true(b);
    return e->truth ? x : nst_term_logic(b, NST_VOP_NOT, x, x);
  case NST_X_PARAM: return parameter(b, e->index);
  case NST_X_VALUE: return expression(b, b->axes->mapping->scope.values[e->index].value);
  case NST_X_METRIC: return nst_term_metric(b, e);
  case NST_X_ADD: return binary(b, NST_VOP_ADD, e->a, e->b);
  case NST_X_SUB: return binary(b, NST_VOP_SUB, e->a, e->b);
  case NST_X_MUL: return binary(b, NST_VOP_MUL, e->a, e->b);
  case NST_X_MIN: return binary(b, NST_VOP_MIN, e->a, e->b);
  case NST_X_MAX: return binary(b, NST_VOP_MAX, e->a, e->b);
  case NST_X_NEG: return nst_term_negate(b, expression(b, e->a));
  case NST_X_LT: return binary(b, NST_VOP_LT, e->a, e->b);
  case NST_X_LE: return binary(b, NST_VOP_LE, e->a, e->b);
  case NST_X_GT: return binary(b, NST_VOP_LT, e->b, e->a);
  case NST_X_GE: return binary(b, NST_VOP_LE, e->b, e->a);
  case NST_X_EQ:
  case NST_X_NE: return comparison(b, e);
  case NST_X_AND:
    x = expression(b, e->a);
    return nst_term_logic(b, NST_VOP_AND, x, guarded(b, e->b, x));
  case NST_X_OR:
    x = expression(b, e->a);
    return nst_term_logic(b, NST_VOP_OR, x, guarded(b, e->b, nst_term_logic(b, NST_VOP_NOT, x, x)));
  case NST_X_NOT:
    x = expression(b, e->a);
    return nst_term_logic(b, NST_VOP_NOT, x, x);
  case NST_X_DIV:
  case NST_X_FLOORDIV:
  case NST_X_MOD:
  case NST_X_CEILDIV: return has_metric(e) ? division(b, e) : of_parameters(b, e);
  case NST_X_POW: return has_metric(e) ? power(b, e) : of_parameters(b, e);
  case NST_X_ABS:
    x = expression(b, e->a);
    return nst_term_combine(b, NST_VOP_MAX, x, nst_term_negate(b, x));
  case NST_X_CEIL:
  case NST_X_FLOOR: return has_metric(e) ? rounded(b, expression(b, e->a), e->kind == NST_X_CEIL) : of_parameters(b, e);
  case NST_X_IF: {
    if (!has_metric(e)) return of_parameters(b, e);
    x = expression(b, e->a);
    const nst_term yes = guarded(b, e->b, x), no = guarded(b, e->c, nst_term_logic(b, NST_VOP_NOT, x, x));
    return nst_term_choose(b, x, yes, no);
  }
  case NST_X_INDEX:
  case NST_X_GCD:
  case NST_X_LOG2:
  case NST_X_SQRT:
  case NST_X_SUM:
    if (!has_metric(e)) return of_parameters(b, e);
    break;
  }
  return nst_term_fail(b, "a root, a logarithm or a sum of metrics");
}

/* ---- the whole ---- */

static nst_sweep_metric metric_of(nst_builder *b, const nst_expr *e) {
  const nst_term x = expression(b, e);
  if (x.op >= 0 && x.truth) nst_term_fail(b, "a condition as an objective");
  nst_sweep_metric m = {x.op, x.den, x.over, x.over < 0 ? x.op : -1, 0};
  if (b->why || x.over < 0) return m;
  const nst_vop *num = &b->ops.items[x.op];
  int64_t factor = 1;
  if (num->kind == NST_VOP_SCALE) {
    factor = num->imm;
    num = &b->ops.items[num->a];
  }
  if (num->kind == NST_VOP_CONST && !__builtin_mul_overflow(factor, num->imm, &m.factor) && m.factor > 0)
    m.order = nst_term_op(b, NST_VOP_SCALE, x.over, -1, -1);
  return m;
}

/* Where partial sums may meet in an array that does not add: a point of no use. */
static int possible(nst_builder *b) {
  const nst_ir_hardware *h = &b->axes->mapping->hardware;
  bool some = false;
  for (int l = 0; l < h->nlevels; l++) some = some || (h->levels[l].kind == NST_LEVEL_ARRAY && !h->levels[l].reduce);
  if (!some) return -1;
  nst_atoms as = {0};
  nst_term_add_atom(b, &as, NST_ATOM_CONFLICTS, -1, 0, 0, nst_rat_int(1));
  return nst_term_combine(b, NST_VOP_EQ, nst_term_form(b, &as, -1), nst_term_constant(b, nst_rat_int(0))).op;
}

bool nst_sweep_program_build(nst_sweep_program *p, nst_arena *arena, const nst_sweep_axes *axes, const nst_ir_sweep *s,
                             const nst_sweep_instances *instances, const char **why) {
  nst_builder b = {.arena = arena, .axes = axes, .sweep = s, .instances = instances, .wrong = -1};
  *p = (nst_sweep_program){0};
  nst_term valid = nst_term_true(&b);
  for (int i = 0; i < s->nwhere && !b.why; i++) {
    b.guard = valid.op;
    valid = nst_term_logic(&b, NST_VOP_AND, valid, expression(&b, s->where[i].value));
  }
  b.guard = valid.op;
  if (s->nobjectives + s->npareto > NST_SWEEP_MAX_METRICS) nst_term_fail(&b, "too many metrics");
  for (int i = 0; i < s->nobjectives + s->npareto && !b.why; i++)
    p->metrics[p->nmetrics++] = metric_of(&b, i < s->nobjectives ? s->objectives[i] : s->pareto[i - s->nobjectives]);
  p->possible = b.why ? -1 : possible(&b);
  p->forms = b.forms.items;
  p->nforms = (int)b.forms.len;
  p->ops = b.ops.items;
  p->nops = (int)b.ops.len;
  p->valid = valid.op;
  p->wrong = b.wrong;
  p->divisors = b.divisors.items;
  p->ndivisors = (int)b.divisors.len;
  p->tabulated = b.tabulated.items;
  p->instances = instances;
  *why = b.why;
  return !b.why;
}
