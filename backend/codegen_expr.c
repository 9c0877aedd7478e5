/* Value expressions to straight-line code.
 *
 * The walk goes bottom up. A subtree without parameters stays unevaluated until
 * something that has parameters needs it: so each is evaluated once, exactly,
 * and a failing one in a branch that is never taken does no harm. Everything
 * else becomes a fraction num/den, not reduced (integers have the constant 1
 * below), and a condition `ok` under which it is exact. Lazy operators cost
 * nothing: both sides are computed, and only the chosen side's `ok` counts.
 *
 * Invariants: den is at least 1 whatever the parameters, so that nothing can
 * trap; `ok` implies that nst_expr_eval succeeds with the same value. */
#include "backend/codegen.h"

static nst_id op(nst_cg *l, nst_inst_op o, nst_id a, nst_id b) { return nst_code_op(l->code, o, a, b); }
static nst_id constant(nst_cg *l, int64_t v) { return nst_code_const(l->code, v); }
static nst_id both(nst_cg *l, nst_id a, nst_id b) { return op(l, NST_INST_AND, a, b); }
static nst_id negate(nst_cg *l, nst_id a, nst_id *ok) {
  return nst_code_checked(l->code, NST_INST_SUB, constant(l, 0), a, ok);
}
static nst_id times(nst_cg *l, nst_id a, nst_id b, nst_id *ok) {
  return nst_code_checked(l->code, NST_INST_MUL, a, b, ok);
}
/* 1 or more: what a divisor has to be. */
static nst_id at_least_one(nst_cg *l, nst_id a) { return op(l, NST_INST_MAX, a, constant(l, 1)); }

static nst_cg_value nothing(nst_cg *l) {
  return (nst_cg_value){
    .kind = NST_CG_NOTHING, .num = constant(l, 0), .den = constant(l, 1), .ok = nst_code_truth(l->code, false)};
}

static nst_cg_value number(nst_id num, nst_id den, nst_id ok) {
  return (nst_cg_value){.kind = NST_CG_NUMBER, .num = num, .den = den, .ok = ok};
}

static nst_cg_value whole(nst_cg *l, nst_id num, nst_id ok) { return number(num, constant(l, 1), ok); }

static nst_cg_value truth(nst_id num, nst_id ok) {
  return (nst_cg_value){.kind = NST_CG_TRUTH, .num = num, .den = -1, .ok = ok};
}

static nst_cg_value known(nst_cg *l, const nst_value *v) {
  return (nst_cg_value){.kind = NST_CG_KNOWN,
                        .value = *v,
                        .num = constant(l, 0),
                        .den = constant(l, 1),
                        .ok = nst_code_truth(l->code, true)};
}

enum { FUEL = 1 << 24 };

/* Evaluates what is FREE. */
static nst_cg_value force(nst_cg *l, nst_cg_value v) {
  if (v.kind != NST_CG_FREE) return v;
  uint64_t fuel = FUEL;
  nst_eval_env env = {.values = l->known, .fuel = &fuel};
  nst_value value;
  return nst_expr_eval(&value, v.free, &env, NULL) == NST_EVAL_OK ? known(l, &value) : nothing(l);
}

static bool fits(nst_i128 v) { return v == (int64_t)v; }

/* As a fraction in registers; doubles and wide constants have none. */
static nst_cg_value as_number(nst_cg *l, nst_cg_value v) {
  v = force(l, v);
  if (v.kind == NST_CG_NUMBER) return v;
  if (v.kind != NST_CG_KNOWN || v.value.kind != NST_VALUE_RAT || !fits(v.value.rat.num) || !fits(v.value.rat.den))
    return nothing(l);
  return number(constant(l, (int64_t)v.value.rat.num), constant(l, (int64_t)v.value.rat.den), v.ok);
}

static nst_cg_value as_truth(nst_cg *l, nst_cg_value v) {
  v = force(l, v);
  if (v.kind == NST_CG_TRUTH) return v;
  if (v.kind != NST_CG_KNOWN || v.value.kind != NST_VALUE_BOOL)
    return truth(nst_code_truth(l->code, false), nst_code_truth(l->code, false));
  return truth(nst_code_truth(l->code, v.value.truth), v.ok);
}

static bool is_truth(const nst_cg_value *v) {
  return v->kind == NST_CG_TRUTH || (v->kind == NST_CG_KNOWN && v->value.kind == NST_VALUE_BOOL);
}

/* ---- arithmetic on fractions ---- */

/* Makes the denominators equal. */
static void common(nst_cg *l, nst_cg_value *a, nst_cg_value *b, nst_id *ok) {
  if (a->den == b->den) return;
  nst_id den = times(l, a->den, b->den, ok);
  a->num = times(l, a->num, b->den, ok);
  b->num = times(l, b->num, a->den, ok);
  a->den = b->den = at_least_one(l, den);
}

/* The fraction num/den with its sign moved up; den != 0 is part of ok. */
static nst_cg_value ratio(nst_cg *l, nst_id num, nst_id den, nst_id ok) {
  nst_id zero = constant(l, 0), negative = op(l, NST_INST_LT, den, zero);
  nst_id fine = nst_code_truth(l->code, true);
  nst_id up = nst_code_select(l->code, negative, negate(l, num, &fine), num);
  nst_id down = nst_code_select(l->code, negative, negate(l, den, &fine), den);
  ok = both(l, ok, nst_code_not(l->code, op(l, NST_INST_EQ, den, zero)));
  ok = both(l, ok, op(l, NST_INST_OR, fine, nst_code_not(l->code, negative)));
  return number(up, at_least_one(l, down), ok);
}

static nst_cg_value quotient(nst_cg *l, nst_cg_value a, nst_cg_value b) {
  nst_id ok = both(l, a.ok, b.ok);
  nst_id num = times(l, a.num, b.den, &ok), den = times(l, a.den, b.num, &ok);
  return ratio(l, num, den, ok);
}

static nst_cg_value floor_of(nst_cg *l, nst_cg_value a) { return whole(l, op(l, NST_INST_DIV, a.num, a.den), a.ok); }

static nst_cg_value ceil_of(nst_cg *l, nst_cg_value a) {
  nst_id rest = op(l, NST_INST_MOD, a.num, a.den), zero = constant(l, 0);
  nst_id up = nst_code_select(l->code, op(l, NST_INST_EQ, rest, zero), zero, constant(l, 1));
  return whole(l, op(l, NST_INST_ADD, op(l, NST_INST_DIV, a.num, a.den), up),
               a.ok); /* never overflows: den = 1 adds 0 */
}

static nst_cg_value sum_of(nst_cg *l, nst_inst_op o, nst_cg_value a, nst_cg_value b) {
  nst_id ok = both(l, a.ok, b.ok);
  common(l, &a, &b, &ok);
  nst_id num = nst_code_checked(l->code, o, a.num, b.num, &ok);
  return number(num, a.den, ok);
}

static nst_cg_value product(nst_cg *l, nst_cg_value a, nst_cg_value b) {
  nst_id ok = both(l, a.ok, b.ok);
  nst_id num = times(l, a.num, b.num, &ok), den = times(l, a.den, b.den, &ok);
  return number(num, at_least_one(l, den), ok);
}

static nst_cg_value modulo(nst_cg *l, nst_cg_value a, nst_cg_value b) {
  bool integers = nst_code_is(l->code, a.den, 1) && nst_code_is(l->code, b.den, 1);
  if (integers && nst_code_is_const(l->code, b.num) && l->code->insts[b.num].imm > 0)
    return whole(l, op(l, NST_INST_MOD, a.num, b.num), both(l, a.ok, b.ok));
  return sum_of(l, NST_INST_SUB, a, product(l, b, floor_of(l, quotient(l, a, b))));
}

static nst_cg_value absolute(nst_cg *l, nst_cg_value a) {
  nst_id negative = op(l, NST_INST_LT, a.num, constant(l, 0)), ok = nst_code_truth(l->code, true);
  nst_id turned = negate(l, a.num, &ok);
  return number(nst_code_select(l->code, negative, turned, a.num), a.den, both(l, a.ok, ok));
}

static nst_cg_value greatest_divisor(nst_cg *l, nst_cg_value a, nst_cg_value b) {
  nst_id ok = nst_code_truth(l->code, true), integral = ok;
  nst_cg_value x = absolute(l, a), y = absolute(l, b);
  nst_id m = nst_cg_integer(l, &x, &ok, &integral), n = nst_cg_integer(l, &y, &ok, &integral);
  nst_id zero = constant(l, 0);
  m = op(l, NST_INST_MAX, m, zero); /* the most negative number stays negative, and is not ok */
  n = op(l, NST_INST_MAX, n, zero);
  return whole(l, op(l, NST_INST_GCD, m, n), both(l, ok, integral));
}

/* a to a whole exponent in 0 .. 63: six squarings at most, each used only where the exponent has its bit. */
static nst_cg_value power(nst_cg *l, nst_cg_value a, nst_cg_value b) {
  nst_id ok = both(l, a.ok, b.ok), integral = nst_code_truth(l->code, true);
  nst_id n = nst_cg_integer(l, &b, &ok, &integral), zero = constant(l, 0), two = constant(l, 2);
  ok = both(l, ok, integral);
  ok = both(l, ok, nst_code_not(l->code, op(l, NST_INST_LT, n, zero)));
  ok = both(l, ok, op(l, NST_INST_LT, n, constant(l, 64)));
  n = op(l, NST_INST_MIN, op(l, NST_INST_MAX, n, zero), constant(l, 63));
  nst_cg_value result = whole(l, constant(l, 1), nst_code_truth(l->code, true));
  nst_cg_value square = number(a.num, a.den, result.ok);
  for (int bit = 0; bit < 6 && !nst_code_is(l->code, n, 0); bit++) {
    nst_id has = op(l, NST_INST_EQ, op(l, NST_INST_MOD, n, two), constant(l, 1));
    nst_cg_value more = product(l, result, square);
    result.num = nst_code_select(l->code, has, more.num, result.num);
    result.den = nst_code_select(l->code, has, more.den, result.den);
    result.ok = nst_code_select(l->code, has, more.ok, result.ok);
    square = product(l, square, square);
    n = op(l, NST_INST_DIV, n, two);
  }
  result.ok = both(l, result.ok, ok);
  return result;
}

static nst_cg_value binary(nst_cg *l, nst_expr_kind kind, nst_cg_value a, nst_cg_value b) {
  switch ((int)kind) {
  case NST_X_ADD: return sum_of(l, NST_INST_ADD, a, b);
  case NST_X_SUB: return sum_of(l, NST_INST_SUB, a, b);
  case NST_X_MUL: return product(l, a, b);
  case NST_X_DIV: return quotient(l, a, b);
  case NST_X_FLOORDIV: return floor_of(l, quotient(l, a, b));
  case NST_X_CEILDIV: return ceil_of(l, quotient(l, a, b));
  case NST_X_MOD: return modulo(l, a, b);
  case NST_X_GCD: return greatest_divisor(l, a, b);
  case NST_X_POW: return power(l, a, b);
  }
  /* min, max */
  nst_id ok = both(l, a.ok, b.ok);
  common(l, &a, &b, &ok);
  return number(op(l, kind == NST_X_MIN ? NST_INST_MIN : NST_INST_MAX, a.num, b.num), a.den, ok);
}

static nst_cg_value comparison(nst_cg *l, nst_expr_kind kind, nst_cg_value a, nst_cg_value b) {
  nst_id ok = both(l, a.ok, b.ok), result = 0;
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
  case NST_X_EQ: result = op(l, NST_INST_EQ, a.num, b.num); break;
  case NST_X_NE: result = nst_code_not(l->code, op(l, NST_INST_EQ, a.num, b.num)); break;
  case NST_X_LT: result = op(l, NST_INST_LT, a.num, b.num); break;
  case NST_X_GE: result = nst_code_not(l->code, op(l, NST_INST_LT, a.num, b.num)); break;
  case NST_X_GT: result = op(l, NST_INST_LT, b.num, a.num); break;
  case NST_X_LE: result = nst_code_not(l->code, op(l, NST_INST_LT, b.num, a.num)); break;
  }
  return truth(result, ok);
}

/* ---- the walk ---- */

static bool has_param(const nst_cg *l, const nst_expr *e) {
  if (!e) return false;
  if (e->kind == NST_X_PARAM) return true;
  if (e->kind == NST_X_VALUE) return l->values[e->index].kind != NST_CG_KNOWN;
  return has_param(l, e->a) || has_param(l, e->b) || has_param(l, e->c);
}

static nst_cg_value generate(nst_cg *l, const nst_expr *e);

/* Where the left side decides, the right side need not have a value. */
static nst_cg_value logic(nst_cg *l, bool conjunction, nst_cg_value a, nst_cg_value b) {
  a = as_truth(l, a);
  if (nst_code_is_truth(l->code, a.num, !conjunction)) return a;
  b = as_truth(l, b);
  nst_id decided = conjunction ? nst_code_not(l->code, a.num) : a.num;
  nst_id ok = both(l, a.ok, op(l, NST_INST_OR, decided, b.ok));
  return truth(op(l, conjunction ? NST_INST_AND : NST_INST_OR, a.num, b.num), ok);
}

static nst_cg_value choice(nst_cg *l, nst_cg_value c, nst_cg_value a, nst_cg_value b) {
  c = as_truth(l, c);
  bool decided = nst_code_is_truth(l->code, c.ok, true) && l->code->insts[c.num].op == NST_INST_TRUTH;
  if (decided) return force(l, l->code->insts[c.num].imm ? a : b);
  a = force(l, a);
  b = force(l, b);
  if (is_truth(&a) || is_truth(&b)) {
    a = as_truth(l, a);
    b = as_truth(l, b);
    return truth(nst_code_select(l->code, c.num, a.num, b.num),
                 both(l, c.ok, nst_code_select(l->code, c.num, a.ok, b.ok)));
  }
  a = as_number(l, a);
  b = as_number(l, b);
  return number(nst_code_select(l->code, c.num, a.num, b.num), nst_code_select(l->code, c.num, a.den, b.den),
                both(l, c.ok, nst_code_select(l->code, c.num, a.ok, b.ok)));
}

static nst_cg_value generate_varying(nst_cg *l, const nst_expr *e, nst_cg_value a, nst_cg_value b, nst_cg_value c) {
  switch (e->kind) {
  case NST_X_ADD:
  case NST_X_SUB:
  case NST_X_MUL:
  case NST_X_DIV:
  case NST_X_FLOORDIV:
  case NST_X_MOD:
  case NST_X_POW:
  case NST_X_MIN:
  case NST_X_MAX:
  case NST_X_CEILDIV:
  case NST_X_GCD: return binary(l, e->kind, as_number(l, a), as_number(l, b));
  case NST_X_NEG: {
    a = as_number(l, a);
    nst_id ok = a.ok, num = negate(l, a.num, &ok);
    return number(num, a.den, ok);
  }
  case NST_X_ABS: return absolute(l, as_number(l, a));
  case NST_X_CEIL: return ceil_of(l, as_number(l, a));
  case NST_X_FLOOR: return floor_of(l, as_number(l, a));
  case NST_X_EQ:
  case NST_X_NE:
  case NST_X_LT:
  case NST_X_LE:
  case NST_X_GT:
  case NST_X_GE: return comparison(l, e->kind, force(l, a), force(l, b));
  case NST_X_AND:
  case NST_X_OR: return logic(l, e->kind == NST_X_AND, a, b);
  case NST_X_NOT: {
    a = as_truth(l, a);
    return truth(nst_code_not(l->code, a.num), a.ok);
  }
  case NST_X_IF: return choice(l, a, b, c);
  case NST_X_CONST:
  case NST_X_BOOL:
  case NST_X_PARAM:
  case NST_X_VALUE:
  case NST_X_INDEX:
  case NST_X_METRIC:
  case NST_X_LOG2:
  case NST_X_SQRT:
  case NST_X_SUM: break;
  }
  return nothing(l);
}

static nst_cg_value generate(nst_cg *l, const nst_expr *e) {
  nst_cg_value unevaluated = {.kind = NST_CG_FREE, .free = e};
  switch (e->kind) {
  case NST_X_CONST:
  case NST_X_BOOL: return unevaluated;
  case NST_X_PARAM: return whole(l, nst_code_load_point(l->code, e->index), nst_code_truth(l->code, true));
  case NST_X_VALUE: return l->values[e->index].kind == NST_CG_KNOWN ? unevaluated : l->values[e->index];
  case NST_X_SUM: return has_param(l, e) ? nothing(l) : unevaluated;
  case NST_X_INDEX:
  case NST_X_METRIC: return nothing(l);
  case NST_X_ADD:
  case NST_X_SUB:
  case NST_X_MUL:
  case NST_X_DIV:
  case NST_X_FLOORDIV:
  case NST_X_MOD:
  case NST_X_POW:
  case NST_X_NEG:
  case NST_X_MIN:
  case NST_X_MAX:
  case NST_X_CEILDIV:
  case NST_X_GCD:
  case NST_X_ABS:
  case NST_X_CEIL:
  case NST_X_FLOOR:
  case NST_X_LOG2:
  case NST_X_SQRT:
  case NST_X_EQ:
  case NST_X_NE:
  case NST_X_LT:
  case NST_X_LE:
  case NST_X_GT:
  case NST_X_GE:
  case NST_X_AND:
  case NST_X_OR:
  case NST_X_NOT:
  case NST_X_IF: break;
  }
  nst_cg_value a = generate(l, e->a), b = e->b ? generate(l, e->b) : a, c = e->c ? generate(l, e->c) : b;
  if (a.kind == NST_CG_FREE && b.kind == NST_CG_FREE && c.kind == NST_CG_FREE) return unevaluated;
  return generate_varying(l, e, a, b, c);
}

nst_cg_value nst_cg_expr(nst_cg *l, const nst_expr *e) { return force(l, generate(l, e)); }

void nst_cg_init(nst_cg *l, nst_code *code, const nst_ir_scope *scope) {
  *l = (nst_cg){.code = code, .scope = scope};
  l->values = NST_NEW_ARRAY(code->arena, scope->nvalues, nst_cg_value);
  l->known = NST_NEW_ARRAY(code->arena, scope->nvalues, nst_value);
  for (int i = 0; i < scope->nvalues; i++) {
    l->values[i] = nst_cg_expr(l, scope->values[i].value);
    if (l->values[i].kind == NST_CG_KNOWN) l->known[i] = l->values[i].value;
  }
}

nst_id nst_cg_integer(nst_cg *l, const nst_cg_value *v, nst_id *ok, nst_id *integral) {
  if (v->kind == NST_CG_KNOWN) {
    int64_t n = 0;
    if (!nst_value_to_i64(&n, &v->value)) *integral = nst_code_truth(l->code, false);
    return constant(l, n);
  }
  if (v->kind != NST_CG_NUMBER) {
    *ok = nst_code_truth(l->code, false);
    return constant(l, 0);
  }
  *ok = both(l, *ok, v->ok);
  nst_id rest = op(l, NST_INST_MOD, v->num, v->den);
  *integral = both(l, *integral, op(l, NST_INST_EQ, rest, constant(l, 0)));
  return op(l, NST_INST_DIV, v->num, v->den);
}

/* What ir/nest.c accepts of a double: one whose exact value is a fraction of moderate size. */
static bool moderate(double d) {
  for (int i = 0; i < 62 && d > -0x1p62 && d < 0x1p62 && d != (double)(int64_t)d; i++) d *= 2;
  return d > -0x1p62 && d < 0x1p62;
}

nst_id nst_cg_sign(nst_cg *l, const nst_cg_value *v, bool strictly, nst_id *ok) {
  nst_code *c = l->code;
  if (v->kind == NST_CG_NUMBER) {
    *ok = both(l, *ok, v->ok);
    return nst_code_not(c, op(l, NST_INST_LT, v->num, constant(l, strictly)));
  }
  bool good = false;
  if (v->kind == NST_CG_KNOWN && v->value.kind == NST_VALUE_RAT) good = v->value.rat.num >= strictly;
  if (v->kind == NST_CG_KNOWN && v->value.kind == NST_VALUE_REAL)
    good = moderate(v->value.real) && (strictly ? v->value.real >= 0x1p-62 : v->value.real >= 0);
  return nst_code_truth(c, good);
}
