/* Value expressions to straight-line code.
 *
 * Lowering goes bottom up. A subtree without parameters stays unevaluated until
 * something that has parameters needs it: so each is evaluated once, exactly,
 * and a failing one in a branch that is never taken does no harm. Everything
 * else becomes a fraction num/den, not reduced (integers have the constant 1
 * below), and a condition `ok` under which it is exact. Lazy operators cost
 * nothing: both sides are computed, and only the chosen side's `ok` counts.
 *
 * Invariants: den is at least 1 whatever the parameters, so that nothing can
 * trap; `ok` implies that nst_expr_eval succeeds with the same value. */
#include "backend/lower.h"

static nst_id op(nst_lowering *l, nst_op o, nst_id a, nst_id b) { return nst_code_op(l->code, o, a, b); }
static nst_id constant(nst_lowering *l, int64_t v) { return nst_code_const(l->code, v); }
static nst_id both(nst_lowering *l, nst_id a, nst_id b) { return op(l, NST_OP_AND, a, b); }
static nst_id negate(nst_lowering *l, nst_id a, nst_id *ok) {
  return nst_code_checked(l->code, NST_OP_SUB, constant(l, 0), a, ok);
}
static nst_id times(nst_lowering *l, nst_id a, nst_id b, nst_id *ok) {
  return nst_code_checked(l->code, NST_OP_MUL, a, b, ok);
}
/* 1 or more: what a divisor has to be. */
static nst_id at_least_one(nst_lowering *l, nst_id a) { return op(l, NST_OP_MAX, a, constant(l, 1)); }

static nst_lowered nothing(nst_lowering *l) {
  return (nst_lowered){.kind = NST_LOWERED_NOTHING, .num = constant(l, 0), .den = constant(l, 1), .ok = nst_code_truth(l->code, false)};
}

static nst_lowered number(nst_id num, nst_id den, nst_id ok) {
  return (nst_lowered){.kind = NST_LOWERED_NUMBER, .num = num, .den = den, .ok = ok};
}

static nst_lowered whole(nst_lowering *l, nst_id num, nst_id ok) { return number(num, constant(l, 1), ok); }

static nst_lowered truth(nst_id num, nst_id ok) { return (nst_lowered){.kind = NST_LOWERED_TRUTH, .num = num, .den = -1, .ok = ok}; }

static nst_lowered known(nst_lowering *l, const nst_value *v) {
  return (nst_lowered){.kind = NST_LOWERED_KNOWN, .value = *v, .num = constant(l, 0), .den = constant(l, 1),
                       .ok = nst_code_truth(l->code, true)};
}

enum { FUEL = 1 << 24 };

/* Evaluates what is FREE. */
static nst_lowered force(nst_lowering *l, nst_lowered v) {
  if (v.kind != NST_LOWERED_FREE) return v;
  uint64_t fuel = FUEL;
  nst_eval_env env = {.values = l->known, .fuel = &fuel};
  nst_value value;
  return nst_expr_eval(&value, v.free, &env, NULL) == NST_EVAL_OK ? known(l, &value) : nothing(l);
}

static bool fits(nst_i128 v) { return v == (int64_t)v; }

/* As a fraction in registers; doubles and wide constants have none. */
static nst_lowered as_number(nst_lowering *l, nst_lowered v) {
  v = force(l, v);
  if (v.kind == NST_LOWERED_NUMBER) return v;
  if (v.kind != NST_LOWERED_KNOWN || v.value.kind != NST_VALUE_RAT || !fits(v.value.rat.num) || !fits(v.value.rat.den)) return nothing(l);
  return number(constant(l, (int64_t)v.value.rat.num), constant(l, (int64_t)v.value.rat.den), v.ok);
}

static nst_lowered as_truth(nst_lowering *l, nst_lowered v) {
  v = force(l, v);
  if (v.kind == NST_LOWERED_TRUTH) return v;
  if (v.kind != NST_LOWERED_KNOWN || v.value.kind != NST_VALUE_BOOL) return truth(nst_code_truth(l->code, false), nst_code_truth(l->code, false));
  return truth(nst_code_truth(l->code, v.value.truth), v.ok);
}

static bool is_truth(const nst_lowered *v) {
  return v->kind == NST_LOWERED_TRUTH || (v->kind == NST_LOWERED_KNOWN && v->value.kind == NST_VALUE_BOOL);
}

/* ---- arithmetic on fractions ---- */

/* Makes the denominators equal. */
static void common(nst_lowering *l, nst_lowered *a, nst_lowered *b, nst_id *ok) {
  if (a->den == b->den) return;
  nst_id den = times(l, a->den, b->den, ok);
  a->num = times(l, a->num, b->den, ok);
  b->num = times(l, b->num, a->den, ok);
  a->den = b->den = at_least_one(l, den);
}

/* The fraction num/den with its sign moved up; den != 0 is part of ok. */
static nst_lowered ratio(nst_lowering *l, nst_id num, nst_id den, nst_id ok) {
  nst_id zero = constant(l, 0), negative = op(l, NST_OP_LT, den, zero);
  nst_id fine = nst_code_truth(l->code, true);
  nst_id up = nst_code_select(l->code, negative, negate(l, num, &fine), num);
  nst_id down = nst_code_select(l->code, negative, negate(l, den, &fine), den);
  ok = both(l, ok, nst_code_not(l->code, op(l, NST_OP_EQ, den, zero)));
  ok = both(l, ok, op(l, NST_OP_OR, fine, nst_code_not(l->code, negative)));
  return number(up, at_least_one(l, down), ok);
}

static nst_lowered quotient(nst_lowering *l, nst_lowered a, nst_lowered b) {
  nst_id ok = both(l, a.ok, b.ok);
  nst_id num = times(l, a.num, b.den, &ok), den = times(l, a.den, b.num, &ok);
  return ratio(l, num, den, ok);
}

static nst_lowered floor_of(nst_lowering *l, nst_lowered a) { return whole(l, op(l, NST_OP_DIV, a.num, a.den), a.ok); }

static nst_lowered ceil_of(nst_lowering *l, nst_lowered a) {
  nst_id rest = op(l, NST_OP_MOD, a.num, a.den), zero = constant(l, 0);
  nst_id up = nst_code_select(l->code, op(l, NST_OP_EQ, rest, zero), zero, constant(l, 1));
  return whole(l, op(l, NST_OP_ADD, op(l, NST_OP_DIV, a.num, a.den), up), a.ok); /* never overflows: den = 1 adds 0 */
}

static nst_lowered sum_of(nst_lowering *l, nst_op o, nst_lowered a, nst_lowered b) {
  nst_id ok = both(l, a.ok, b.ok);
  common(l, &a, &b, &ok);
  nst_id num = nst_code_checked(l->code, o, a.num, b.num, &ok);
  return number(num, a.den, ok);
}

static nst_lowered product(nst_lowering *l, nst_lowered a, nst_lowered b) {
  nst_id ok = both(l, a.ok, b.ok);
  nst_id num = times(l, a.num, b.num, &ok), den = times(l, a.den, b.den, &ok);
  return number(num, at_least_one(l, den), ok);
}

static nst_lowered modulo(nst_lowering *l, nst_lowered a, nst_lowered b) {
  bool integers = nst_code_is(l->code, a.den, 1) && nst_code_is(l->code, b.den, 1);
  if (integers && nst_code_is_const(l->code, b.num) && l->code->insts[b.num].imm > 0)
    return whole(l, op(l, NST_OP_MOD, a.num, b.num), both(l, a.ok, b.ok));
  return sum_of(l, NST_OP_SUB, a, product(l, b, floor_of(l, quotient(l, a, b))));
}

static nst_lowered absolute(nst_lowering *l, nst_lowered a) {
  nst_id negative = op(l, NST_OP_LT, a.num, constant(l, 0)), ok = nst_code_truth(l->code, true);
  nst_id turned = negate(l, a.num, &ok);
  return number(nst_code_select(l->code, negative, turned, a.num), a.den, both(l, a.ok, ok));
}

static nst_lowered greatest_divisor(nst_lowering *l, nst_lowered a, nst_lowered b) {
  nst_id ok = nst_code_truth(l->code, true), integral = ok;
  nst_lowered x = absolute(l, a), y = absolute(l, b);
  nst_id m = nst_lowered_integer(l, &x, &ok, &integral), n = nst_lowered_integer(l, &y, &ok, &integral);
  nst_id zero = constant(l, 0);
  m = op(l, NST_OP_MAX, m, zero); /* the most negative number stays negative, and is not ok */
  n = op(l, NST_OP_MAX, n, zero);
  return whole(l, op(l, NST_OP_GCD, m, n), both(l, ok, integral));
}

/* a to a whole exponent in 0 .. 63: six squarings at most, each used only where the exponent has its bit. */
static nst_lowered power(nst_lowering *l, nst_lowered a, nst_lowered b) {
  nst_id ok = both(l, a.ok, b.ok), integral = nst_code_truth(l->code, true);
  nst_id n = nst_lowered_integer(l, &b, &ok, &integral), zero = constant(l, 0), two = constant(l, 2);
  ok = both(l, ok, integral);
  ok = both(l, ok, nst_code_not(l->code, op(l, NST_OP_LT, n, zero)));
  ok = both(l, ok, op(l, NST_OP_LT, n, constant(l, 64)));
  n = op(l, NST_OP_MIN, op(l, NST_OP_MAX, n, zero), constant(l, 63));
  nst_lowered result = whole(l, constant(l, 1), nst_code_truth(l->code, true));
  nst_lowered square = number(a.num, a.den, result.ok);
  for (int bit = 0; bit < 6 && !nst_code_is(l->code, n, 0); bit++) {
    nst_id has = op(l, NST_OP_EQ, op(l, NST_OP_MOD, n, two), constant(l, 1));
    nst_lowered more = product(l, result, square);
    result.num = nst_code_select(l->code, has, more.num, result.num);
    result.den = nst_code_select(l->code, has, more.den, result.den);
    result.ok = nst_code_select(l->code, has, more.ok, result.ok);
    square = product(l, square, square);
    n = op(l, NST_OP_DIV, n, two);
  }
  result.ok = both(l, result.ok, ok);
  return result;
}

static nst_lowered binary(nst_lowering *l, nst_expr_kind kind, nst_lowered a, nst_lowered b) {
  switch ((int)kind) {
  case NST_X_ADD: return sum_of(l, NST_OP_ADD, a, b);
  case NST_X_SUB: return sum_of(l, NST_OP_SUB, a, b);
  case NST_X_MUL: return product(l, a, b);
  case NST_X_DIV: return quotient(l, a, b);
  case NST_X_FLOORDIV: return floor_of(l, quotient(l, a, b));
  case NST_X_CEILDIV: return ceil_of(l, quotient(l, a, b));
  case NST_X_MOD: return modulo(l, a, b);
  case NST_X_GCD: return greatest_divisor(l, a, b);
  case NST_X_POW: return power(l, a, b);
  default: { /* min, max */
    nst_id ok = both(l, a.ok, b.ok);
    common(l, &a, &b, &ok);
    return number(op(l, kind == NST_X_MIN ? NST_OP_MIN : NST_OP_MAX, a.num, b.num), a.den, ok);
  }
  }
}

static nst_lowered comparison(nst_lowering *l, nst_expr_kind kind, nst_lowered a, nst_lowered b) {
  nst_id ok = both(l, a.ok, b.ok), result;
  if (is_truth(&a) && is_truth(&b)) { /* only == and != */
    a = as_truth(l, a);
    b = as_truth(l, b);
    nst_id same = nst_code_select(l->code, a.num, b.num, nst_code_not(l->code, b.num));
    return truth(kind == NST_X_EQ ? same : nst_code_not(l->code, same), ok);
  }
  a = as_number(l, a);
  b = as_number(l, b);
  ok = both(l, a.ok, b.ok);
  common(l, &a, &b, &ok);
  switch ((int)kind) {
  case NST_X_EQ: result = op(l, NST_OP_EQ, a.num, b.num); break;
  case NST_X_NE: result = nst_code_not(l->code, op(l, NST_OP_EQ, a.num, b.num)); break;
  case NST_X_LT: result = op(l, NST_OP_LT, a.num, b.num); break;
  case NST_X_GE: result = nst_code_not(l->code, op(l, NST_OP_LT, a.num, b.num)); break;
  case NST_X_GT: result = op(l, NST_OP_LT, b.num, a.num); break;
  default: result = nst_code_not(l->code, op(l, NST_OP_LT, b.num, a.num)); break;
  }
  return truth(result, ok);
}

/* ---- the walk ---- */

static bool has_param(const nst_lowering *l, const nst_expr *e) {
  if (!e) return false;
  if (e->kind == NST_X_PARAM) return true;
  if (e->kind == NST_X_VALUE) return l->values[e->index].kind != NST_LOWERED_KNOWN;
  return has_param(l, e->a) || has_param(l, e->b) || has_param(l, e->c);
}

static nst_lowered lower(nst_lowering *l, const nst_expr *e);

/* Where the left side decides, the right side need not have a value. */
static nst_lowered logic(nst_lowering *l, bool conjunction, nst_lowered a, nst_lowered b) {
  a = as_truth(l, a);
  if (nst_code_is_truth(l->code, a.num, !conjunction)) return a;
  b = as_truth(l, b);
  nst_id decided = conjunction ? nst_code_not(l->code, a.num) : a.num;
  nst_id ok = both(l, a.ok, op(l, NST_OP_OR, decided, b.ok));
  return truth(op(l, conjunction ? NST_OP_AND : NST_OP_OR, a.num, b.num), ok);
}

static nst_lowered choice(nst_lowering *l, nst_lowered c, nst_lowered a, nst_lowered b) {
  c = as_truth(l, c);
  bool decided = nst_code_is_truth(l->code, c.ok, true) && l->code->insts[c.num].op == NST_OP_TRUTH;
  if (decided) return force(l, l->code->insts[c.num].imm ? a : b);
  a = force(l, a);
  b = force(l, b);
  if (is_truth(&a) || is_truth(&b)) {
    a = as_truth(l, a);
    b = as_truth(l, b);
    return truth(nst_code_select(l->code, c.num, a.num, b.num), both(l, c.ok, nst_code_select(l->code, c.num, a.ok, b.ok)));
  }
  a = as_number(l, a);
  b = as_number(l, b);
  return number(nst_code_select(l->code, c.num, a.num, b.num), nst_code_select(l->code, c.num, a.den, b.den),
                both(l, c.ok, nst_code_select(l->code, c.num, a.ok, b.ok)));
}

static nst_lowered lower_varying(nst_lowering *l, const nst_expr *e, nst_lowered a, nst_lowered b, nst_lowered c) {
  switch (e->kind) {
  case NST_X_ADD: case NST_X_SUB: case NST_X_MUL: case NST_X_DIV: case NST_X_FLOORDIV: case NST_X_MOD: case NST_X_POW:
  case NST_X_MIN: case NST_X_MAX: case NST_X_CEILDIV: case NST_X_GCD:
    return binary(l, e->kind, as_number(l, a), as_number(l, b));
  case NST_X_NEG: {
    a = as_number(l, a);
    nst_id ok = a.ok, num = negate(l, a.num, &ok);
    return number(num, a.den, ok);
  }
  case NST_X_ABS: return absolute(l, as_number(l, a));
  case NST_X_CEIL: return ceil_of(l, as_number(l, a));
  case NST_X_FLOOR: return floor_of(l, as_number(l, a));
  case NST_X_EQ: case NST_X_NE: case NST_X_LT: case NST_X_LE: case NST_X_GT: case NST_X_GE:
    return comparison(l, e->kind, force(l, a), force(l, b));
  case NST_X_AND: case NST_X_OR: return logic(l, e->kind == NST_X_AND, a, b);
  case NST_X_NOT: {
    a = as_truth(l, a);
    return truth(nst_code_not(l->code, a.num), a.ok);
  }
  case NST_X_IF: return choice(l, a, b, c);
  case NST_X_CONST: case NST_X_BOOL: case NST_X_PARAM: case NST_X_VALUE: case NST_X_INDEX: case NST_X_METRIC:
  case NST_X_LOG2: case NST_X_SQRT: case NST_X_SUM: break;
  }
  return nothing(l);
}

static nst_lowered lower(nst_lowering *l, const nst_expr *e) {
  nst_lowered unevaluated = {.kind = NST_LOWERED_FREE, .free = e};
  switch (e->kind) {
  case NST_X_CONST: case NST_X_BOOL: return unevaluated;
  case NST_X_PARAM: return whole(l, nst_code_load_point(l->code, e->index), nst_code_truth(l->code, true));
  case NST_X_VALUE: return l->values[e->index].kind == NST_LOWERED_KNOWN ? unevaluated : l->values[e->index];
  case NST_X_SUM: return has_param(l, e) ? nothing(l) : unevaluated;
  case NST_X_INDEX: case NST_X_METRIC: return nothing(l);
  case NST_X_ADD: case NST_X_SUB: case NST_X_MUL: case NST_X_DIV: case NST_X_FLOORDIV: case NST_X_MOD: case NST_X_POW:
  case NST_X_NEG: case NST_X_MIN: case NST_X_MAX: case NST_X_CEILDIV: case NST_X_GCD: case NST_X_ABS: case NST_X_CEIL:
  case NST_X_FLOOR: case NST_X_LOG2: case NST_X_SQRT: case NST_X_EQ: case NST_X_NE: case NST_X_LT: case NST_X_LE:
  case NST_X_GT: case NST_X_GE: case NST_X_AND: case NST_X_OR: case NST_X_NOT: case NST_X_IF: break;
  }
  nst_lowered a = lower(l, e->a), b = e->b ? lower(l, e->b) : a, c = e->c ? lower(l, e->c) : b;
  if (a.kind == NST_LOWERED_FREE && b.kind == NST_LOWERED_FREE && c.kind == NST_LOWERED_FREE) return unevaluated;
  return lower_varying(l, e, a, b, c);
}

nst_lowered nst_lower_expr(nst_lowering *l, const nst_expr *e) { return force(l, lower(l, e)); }

void nst_lowering_init(nst_lowering *l, nst_code *code, const nst_ir_scope *scope) {
  *l = (nst_lowering){.code = code, .scope = scope};
  l->values = NST_NEW_ARRAY(code->arena, scope->nvalues, nst_lowered);
  l->known = NST_NEW_ARRAY(code->arena, scope->nvalues, nst_value);
  for (int i = 0; i < scope->nvalues; i++) {
    l->values[i] = nst_lower_expr(l, scope->values[i].value);
    if (l->values[i].kind == NST_LOWERED_KNOWN) l->known[i] = l->values[i].value;
  }
}

nst_id nst_lowered_integer(nst_lowering *l, const nst_lowered *v, nst_id *ok, nst_id *integral) {
  if (v->kind == NST_LOWERED_KNOWN) {
    int64_t n = 0;
    if (!nst_value_to_i64(&n, &v->value)) *integral = nst_code_truth(l->code, false);
    return constant(l, n);
  }
  if (v->kind != NST_LOWERED_NUMBER) {
    *ok = nst_code_truth(l->code, false);
    return constant(l, 0);
  }
  *ok = both(l, *ok, v->ok);
  nst_id rest = op(l, NST_OP_MOD, v->num, v->den);
  *integral = both(l, *integral, op(l, NST_OP_EQ, rest, constant(l, 0)));
  return op(l, NST_OP_DIV, v->num, v->den);
}

/* What ir/nest.c accepts of a double: one whose exact value is a fraction of moderate size. */
static bool moderate(double d) {
  for (int i = 0; i < 62 && d > -0x1p62 && d < 0x1p62 && d != (double)(int64_t)d; i++) d *= 2;
  return d > -0x1p62 && d < 0x1p62;
}

nst_id nst_lowered_sign(nst_lowering *l, const nst_lowered *v, bool strictly, nst_id *ok) {
  nst_code *c = l->code;
  if (v->kind == NST_LOWERED_NUMBER) {
    *ok = both(l, *ok, v->ok);
    return nst_code_not(c, op(l, NST_OP_LT, v->num, constant(l, strictly)));
  }
  bool good = false;
  if (v->kind == NST_LOWERED_KNOWN && v->value.kind == NST_VALUE_RAT) good = v->value.rat.num >= strictly;
  if (v->kind == NST_LOWERED_KNOWN && v->value.kind == NST_VALUE_REAL)
    good = moderate(v->value.real) && (strictly ? v->value.real >= 0x1p-62 : v->value.real >= 0);
  return nst_code_truth(c, good);
}
