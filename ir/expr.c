/* Evaluating and printing value expressions.
 *
 * The idea: one recursive walk over the tree. Numbers stay exact rationals as
 * long as they can; log2, sqrt and fractional powers (and whatever is computed
 * from them) give a double, to which a rational is rounded once where it meets
 * one. Booleans never mix with numbers: the frontend has checked the types.
 *
 * Invariants: an operation that cannot be exact fails with a status and never
 * wraps; the reported place is the node whose own operation failed, not the
 * whole expression. Every node visited costs one unit of fuel. The depth of a
 * tree is bounded by the parser.
 *
 * Left to others: names, units and types (frontend), what a metric is worth
 * (the callback), the arithmetic of rationals (base). */
#include "ir/expr.h"
#include <math.h>

/* The variables of the sums around a node, innermost first. */
typedef struct sum_frame {
  const struct sum_frame *outer;
  nst_rat value;
} sum_frame;

typedef struct {
  const nst_eval_env *env;
  nst_span *where;
} walk;

enum { SUM_MAX = 1 << 20 };

static nst_eval_status eval(nst_value *out, const nst_expr *e, const walk *w, const sum_frame *sums);

static nst_eval_status fail(const walk *w, const nst_expr *e, nst_eval_status s) {
  if (w->where) *w->where = e->span;
  return s;
}

static nst_eval_status give_rat(nst_value *out, nst_rat r) {
  out->kind = NST_VALUE_RAT;
  out->rat = r;
  return NST_EVAL_OK;
}

static nst_eval_status give_real(nst_value *out, double d) {
  out->kind = NST_VALUE_REAL;
  out->real = d;
  return isfinite(d) ? NST_EVAL_OK : NST_EVAL_DOMAIN;
}

static nst_eval_status give_bool(nst_value *out, bool b) {
  out->kind = NST_VALUE_BOOL;
  out->truth = b;
  return NST_EVAL_OK;
}

static double as_double(const nst_value *v) { return v->kind == NST_VALUE_REAL ? v->real : nst_rat_to_double(v->rat); }

static bool is_zero(const nst_value *v) { return v->kind == NST_VALUE_REAL ? v->real == 0.0 : v->rat.num == 0; }

static bool fits_i64(nst_i128 v) { return v == (nst_i128)(int64_t)v; }

/* Integers of 64 bits are nearly all that occurs: their sums and products need no reduction. */
static bool both_small(nst_rat a, nst_rat b) { return a.den == 1 && b.den == 1 && fits_i64(a.num) && fits_i64(b.num); }

/* Steps that an operation takes beyond its node: reducing to lowest terms is a walk over the bits of both numbers. */
static uint64_t steps_beyond(nst_expr_kind kind, const nst_value *a, const nst_value *b) {
  if (kind == NST_X_POW || kind == NST_X_LOG2 || kind == NST_X_SQRT || kind == NST_X_GCD) return 16;
  if (a->kind != NST_VALUE_RAT || b->kind != NST_VALUE_RAT) return 4;
  if (both_small(a->rat, b->rat)) return kind == NST_X_DIV || kind == NST_X_CEILDIV ? 8 : 0;
  const bool moderate = fits_i64(a->rat.num) && fits_i64(a->rat.den) && fits_i64(b->rat.num) && fits_i64(b->rat.den);
  return moderate ? 32 : 512;
}

static bool pay(const walk *w, nst_expr_kind kind, const nst_value *a, const nst_value *b) {
  return !w->env->fuel || nst_fuel_spend(w->env->fuel, steps_beyond(kind, a, b));
}

static int compare(const nst_value *a, const nst_value *b) {
  if (a->kind == NST_VALUE_BOOL) return (int)a->truth - (int)b->truth;
  if (a->kind == NST_VALUE_REAL || b->kind == NST_VALUE_REAL) {
    double x = as_double(a), y = as_double(b);
    return x < y ? -1 : x > y;
  }
  if (a->rat.den == b->rat.den) return a->rat.num < b->rat.num ? -1 : a->rat.num > b->rat.num;
  return nst_rat_cmp(a->rat, b->rat);
}

static nst_eval_status power(nst_value *out, const nst_value *a, const nst_value *b) {
  if (a->kind == NST_VALUE_RAT && b->kind == NST_VALUE_RAT && nst_rat_is_int(b->rat)) {
    if (a->rat.num == 0 && b->rat.num < 0) return NST_EVAL_DIV_ZERO;
    out->kind = NST_VALUE_RAT;
    if (fits_i64(b->rat.num))
      return nst_rat_pow(&out->rat, a->rat, (int64_t)b->rat.num) ? NST_EVAL_OK : NST_EVAL_OVERFLOW;
    /* Only 0, 1 and -1 have powers that large. */
    if (a->rat.den != 1 || a->rat.num > 1 || a->rat.num < -1) return NST_EVAL_OVERFLOW;
    out->rat = a->rat.num == -1 && b->rat.num % 2 == 0 ? nst_rat_int(1) : a->rat;
    return NST_EVAL_OK;
  }
  double x = as_double(a), y = as_double(b);
  if (x == 0.0 && y < 0.0) return NST_EVAL_DIV_ZERO;
  return give_real(out, pow(x, y));
}

static nst_i128 gcd128(nst_i128 a, nst_i128 b) {
  unsigned __int128 x = a < 0 ? 0 - (unsigned __int128)a : (unsigned __int128)a;
  unsigned __int128 y = b < 0 ? 0 - (unsigned __int128)b : (unsigned __int128)b;
  while (y) {
    unsigned __int128 r = x % y;
    x = y;
    y = r;
  }
  return (nst_i128)x;
}

static nst_eval_status binary_real(nst_value *out, nst_expr_kind kind, double x, double y) {
  switch ((int)kind) {
  case NST_X_ADD: return give_real(out, x + y);
  case NST_X_SUB: return give_real(out, x - y);
  case NST_X_MUL: return give_real(out, x * y);
  case NST_X_DIV: return give_real(out, x / y);
  case NST_X_FLOORDIV: return give_real(out, floor(x / y));
  case NST_X_MOD: return give_real(out, x - y * floor(x / y));
  case NST_X_CEILDIV: return give_real(out, ceil(x / y));
  }
  return NST_EVAL_DOMAIN; /* gcd is for integers */
}

static bool binary_rat(nst_rat *r, nst_expr_kind kind, nst_rat a, nst_rat b) {
  switch ((int)kind) {
  case NST_X_ADD:
    if (both_small(a, b)) return *r = (nst_rat){a.num + b.num, 1}, true;
    return nst_rat_add(r, a, b);
  case NST_X_SUB:
    if (both_small(a, b)) return *r = (nst_rat){a.num - b.num, 1}, true;
    return nst_rat_sub(r, a, b);
  case NST_X_MUL:
    if (both_small(a, b)) return *r = (nst_rat){a.num * b.num, 1}, true;
    return nst_rat_mul(r, a, b);
  case NST_X_DIV:
    if (b.num == 1 && b.den == 1) return *r = a, true;
    return nst_rat_div(r, a, b);
  case NST_X_FLOORDIV: return nst_rat_floordiv(r, a, b);
  case NST_X_MOD: return nst_rat_mod(r, a, b);
  }
  nst_rat q; /* ceildiv */
  return nst_rat_div(&q, a, b) && nst_rat_ceil(r, q);
}

static nst_eval_status binary(nst_value *out, nst_expr_kind kind, const nst_value *a, const nst_value *b) {
  bool divides = kind == NST_X_DIV || kind == NST_X_FLOORDIV || kind == NST_X_MOD || kind == NST_X_CEILDIV;
  if (divides && is_zero(b)) return NST_EVAL_DIV_ZERO;
  if (kind == NST_X_POW) return power(out, a, b);
  if (a->kind == NST_VALUE_REAL || b->kind == NST_VALUE_REAL) return binary_real(out, kind, as_double(a), as_double(b));
  if (kind == NST_X_GCD) {
    if (!nst_rat_is_int(a->rat) || !nst_rat_is_int(b->rat)) return NST_EVAL_DOMAIN;
    return give_rat(out, (nst_rat){gcd128(a->rat.num, b->rat.num), 1});
  }
  out->kind = NST_VALUE_RAT;
  return binary_rat(&out->rat, kind, a->rat, b->rat) ? NST_EVAL_OK : NST_EVAL_OVERFLOW;
}

static nst_eval_status unary(nst_value *out, nst_expr_kind kind, const nst_value *a) {
  bool real = a->kind == NST_VALUE_REAL;
  out->kind = NST_VALUE_RAT;
  switch ((int)kind) {
  case NST_X_NEG:
    if (real) return give_real(out, -a->real);
    return nst_rat_neg(&out->rat, a->rat) ? NST_EVAL_OK : NST_EVAL_OVERFLOW;
  case NST_X_ABS:
    if (real) return give_real(out, fabs(a->real));
    if (a->rat.num >= 0) return give_rat(out, a->rat);
    return nst_rat_neg(&out->rat, a->rat) ? NST_EVAL_OK : NST_EVAL_OVERFLOW;
  case NST_X_FLOOR:
    if (real) return give_real(out, floor(a->real));
    return nst_rat_floor(&out->rat, a->rat) ? NST_EVAL_OK : NST_EVAL_OVERFLOW;
  case NST_X_CEIL:
    if (real) return give_real(out, ceil(a->real));
    return nst_rat_ceil(&out->rat, a->rat) ? NST_EVAL_OK : NST_EVAL_OVERFLOW;
  }
  double x = as_double(a);
  if (kind == NST_X_LOG2) return x > 0.0 ? give_real(out, log2(x)) : NST_EVAL_DOMAIN;
  return x >= 0.0 ? give_real(out, sqrt(x)) : NST_EVAL_DOMAIN;
}

static nst_eval_status sum(nst_value *out, const nst_expr *e, const walk *w, const sum_frame *sums) {
  nst_value lo, hi, term;
  nst_eval_status s;
  if ((s = eval(&lo, e->b, w, sums)) || (s = eval(&hi, e->c, w, sums))) return s;
  if (lo.kind != NST_VALUE_RAT || !nst_rat_is_int(lo.rat)) return fail(w, e->b, NST_EVAL_DOMAIN);
  if (hi.kind != NST_VALUE_RAT || !nst_rat_is_int(hi.rat)) return fail(w, e->c, NST_EVAL_DOMAIN);
  give_rat(out, nst_rat_int(0));
  if (hi.rat.num < lo.rat.num) return NST_EVAL_OK;
  if (!fits_i64(lo.rat.num) || !fits_i64(hi.rat.num)) return fail(w, e, NST_EVAL_OVERFLOW);
  if (hi.rat.num - lo.rat.num >= SUM_MAX) return fail(w, e, NST_EVAL_SUM_TOO_LONG);
  for (nst_i128 i = lo.rat.num; i <= hi.rat.num; i++) {
    sum_frame frame = {sums, {i, 1}};
    nst_value total = *out;
    if ((s = eval(&term, e->a, w, &frame))) return s;
    if (!pay(w, NST_X_ADD, &total, &term)) return fail(w, e, NST_EVAL_FUEL);
    if ((s = binary(out, NST_X_ADD, &total, &term))) return fail(w, e, s);
  }
  return NST_EVAL_OK;
}

static nst_eval_status eval(nst_value *out, const nst_expr *e, const walk *w, const sum_frame *sums) {
  nst_value a, b;
  nst_eval_status s;
  if (w->env->fuel) {
    if (*w->env->fuel == 0) return fail(w, e, NST_EVAL_FUEL);
    --*w->env->fuel;
  }
  switch (e->kind) {
  case NST_X_CONST: return give_rat(out, e->value);
  case NST_X_BOOL: return give_bool(out, e->truth);
  case NST_X_PARAM: *out = w->env->params[e->index]; return NST_EVAL_OK;
  case NST_X_VALUE:
    if (w->env->lost && w->env->lost[e->index]) return fail(w, e, NST_EVAL_NO_VALUE);
    *out = w->env->values[e->index];
    return NST_EVAL_OK;
  case NST_X_INDEX: {
    const sum_frame *f = sums;
    for (int i = e->index; i > 0; i--) f = f->outer;
    return give_rat(out, f->value);
  }
  case NST_X_METRIC:
    s = w->env->metric ? w->env->metric(w->env->metric_ctx, e, out) : NST_EVAL_NO_METRIC;
    return s ? fail(w, e, s) : NST_EVAL_OK;
  case NST_X_ADD:
  case NST_X_SUB:
  case NST_X_MUL:
  case NST_X_DIV:
  case NST_X_FLOORDIV:
  case NST_X_MOD:
  case NST_X_POW:
  case NST_X_CEILDIV:
  case NST_X_GCD:
    if ((s = eval(&a, e->a, w, sums)) || (s = eval(&b, e->b, w, sums))) return s;
    if (!pay(w, e->kind, &a, &b)) return fail(w, e, NST_EVAL_FUEL);
    s = binary(out, e->kind, &a, &b);
    return s ? fail(w, e, s) : NST_EVAL_OK;
  case NST_X_MIN:
  case NST_X_MAX:
    if ((s = eval(&a, e->a, w, sums)) || (s = eval(&b, e->b, w, sums))) return s;
    if (!pay(w, e->kind, &a, &b)) return fail(w, e, NST_EVAL_FUEL);
    *out = (e->kind == NST_X_MIN) == (compare(&b, &a) < 0) ? b : a;
    return NST_EVAL_OK;
  case NST_X_NEG:
  case NST_X_ABS:
  case NST_X_CEIL:
  case NST_X_FLOOR:
  case NST_X_LOG2:
  case NST_X_SQRT:
    if ((s = eval(&a, e->a, w, sums))) return s;
    if (!pay(w, e->kind, &a, &a)) return fail(w, e, NST_EVAL_FUEL);
    s = unary(out, e->kind, &a);
    return s ? fail(w, e, s) : NST_EVAL_OK;
  case NST_X_EQ:
  case NST_X_NE:
  case NST_X_LT:
  case NST_X_LE:
  case NST_X_GT:
  case NST_X_GE: {
    if ((s = eval(&a, e->a, w, sums)) || (s = eval(&b, e->b, w, sums))) return s;
    if (!pay(w, e->kind, &a, &b)) return fail(w, e, NST_EVAL_FUEL);
    int c = compare(&a, &b);
    return give_bool(out, e->kind == NST_X_EQ   ? c == 0
                          : e->kind == NST_X_NE ? c != 0
                          : e->kind == NST_X_LT ? c < 0
                          : e->kind == NST_X_LE ? c <= 0
                          : e->kind == NST_X_GT ? c > 0
                                                : c >= 0);
  }
  case NST_X_AND:
  case NST_X_OR:
    if ((s = eval(out, e->a, w, sums))) return s;
    return out->truth == (e->kind == NST_X_AND) ? eval(out, e->b, w, sums) : NST_EVAL_OK;
  case NST_X_NOT:
    if ((s = eval(&a, e->a, w, sums))) return s;
    return give_bool(out, !a.truth);
  case NST_X_IF:
    if ((s = eval(&a, e->a, w, sums))) return s;
    return eval(out, a.truth ? e->b : e->c, w, sums);
  case NST_X_SUM: return sum(out, e, w, sums);
  }
  return fail(w, e, NST_EVAL_DOMAIN);
}

nst_eval_status nst_expr_eval(nst_value *out, const nst_expr *e, const nst_eval_env *env, nst_span *where) {
  walk w = {env, where};
  nst_value v;
  nst_eval_status s = eval(&v, e, &w, NULL);
  if (s == NST_EVAL_OK) *out = v;
  return s;
}

bool nst_value_to_i64(int64_t *out, const nst_value *v) {
  if (v->kind == NST_VALUE_RAT) {
    if (v->rat.den != 1 || !fits_i64(v->rat.num)) return false;
    *out = (int64_t)v->rat.num;
    return true;
  }
  /* 2^63 and everything above it is exact as a double, and out of range. */
  if (v->kind != NST_VALUE_REAL || v->real != floor(v->real)) return false;
  if (v->real < -0x1p63 || v->real >= 0x1p63) return false;
  *out = (int64_t)v->real;
  return true;
}

const char *nst_eval_status_text(nst_eval_status s) {
  switch (s) {
  case NST_EVAL_OK: return "no error";
  case NST_EVAL_OVERFLOW: return "overflow: the exact value needs more than 128 bits";
  case NST_EVAL_DIV_ZERO: return "division by zero";
  case NST_EVAL_DOMAIN: return "the operation is not defined for these numbers";
  case NST_EVAL_SUM_TOO_LONG: return "a sum runs over at most 1048576 values";
  case NST_EVAL_NO_METRIC: return "the metric has no value here";
  case NST_EVAL_FUEL: return "the expression takes too long to evaluate";
  case NST_EVAL_NO_VALUE: return "it uses a value that has none";
  }
  return "";
}

/* ---- metrics: what the table says ---- */

const char *nst_metric_name(nst_metric m) {
  static const char *const names[] = {
#define NST_METRIC(id, name, args, unit, summary) name,
#include "ir/metrics.def"
#undef NST_METRIC
  };
  return names[m];
}

#define UNIT_E "elements"
#define UNIT_B "bytes"
#define UNIT_C "cycles"
#define UNIT_PJ "pJ"
#define UNIT_PJC "pJ*cycles"
#define UNIT_N ""
#define UNIT_OPB "ops/byte"
#define UNIT_MM2 "mm2"
#define UNIT_BOOL ""

const char *nst_metric_unit(nst_metric m) {
  static const char *const units[] = {
#define NST_METRIC(id, name, args, unit, summary) UNIT_##unit,
#include "ir/metrics.def"
#undef NST_METRIC
  };
  return units[m];
}
