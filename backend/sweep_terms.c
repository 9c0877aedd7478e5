/* Numbers and forms of a sweep's program; see sweep_builder.h.
 *
 * Every number is a quotient of whole ones: an op over a constant and, where
 * something divides by what differs from point to point, over another op. That
 * one is positive wherever the value is looked at: it is checked when its bounds
 * are known, and a point where it is 0 counts as wrong. */
#include "backend/sweep_builder.h"
#include <string.h>

const nst_term nst_term_failed = {-1, 1, -1, false};

nst_term nst_term_fail(nst_builder *b, const char *why) {
  if (!b->why) b->why = why;
  return nst_term_failed;
}

int nst_term_op(nst_builder *b, nst_vop_kind kind, int x, int y, int64_t imm) {
  if (kind == NST_VOP_SCALE && imm == 1) return x;
  if (kind == NST_VOP_FLOORDIV && imm == 1) return x;
  int64_t product;
  if (kind == NST_VOP_SCALE && !__builtin_mul_overflow(b->ops.items[x].imm, imm, &product)) {
    if (b->ops.items[x].kind == NST_VOP_CONST) return nst_term_op(b, NST_VOP_CONST, -1, -1, product);
    if (b->ops.items[x].kind == NST_VOP_SCALE) return nst_term_op(b, NST_VOP_SCALE, b->ops.items[x].a, -1, product);
  }
  for (size_t i = 0; i < b->ops.len; i++) {
    const nst_vop *o = &b->ops.items[i];
    if (o->kind == kind && o->a == x && o->b == y && o->imm == imm) return (int)i;
  }
  *nst_vec_push(b->arena, &b->ops) = (nst_vop){kind, x, y, imm};
  return (int)b->ops.len - 1;
}

nst_term nst_term_true(nst_builder *b) { return (nst_term){nst_term_op(b, NST_VOP_TRUE, -1, -1, 0), 1, -1, true}; }

/* ---- arithmetic ---- */

static int64_t gcd64(int64_t a, int64_t b) {
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a < 0 ? -a : a;
}

/* 0: past 62 bits */
static int64_t lcm64(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a / gcd64(a, b), b, &r) || r > INT64_MAX / 2) return 0;
  return r;
}

static bool small(nst_rat r) { return r.num <= INT64_MAX / 2 && r.num >= -(INT64_MAX / 2) && r.den <= INT64_MAX / 2; }

nst_term nst_term_constant(nst_builder *b, nst_rat r) {
  if (!small(r)) return nst_term_fail(b, "a constant past 62 bits");
  return (nst_term){nst_term_op(b, NST_VOP_CONST, -1, -1, (int64_t)r.num), (int64_t)r.den, -1, false};
}

nst_term nst_term_scale(nst_builder *b, nst_term x, nst_rat by) {
  if (x.op < 0) return nst_term_failed;
  if (x.truth) return nst_term_fail(b, "a condition where a number is expected");
  if (!small(by)) return nst_term_fail(b, "a constant past 62 bits");
  if (!by.num) return nst_term_constant(b, nst_rat_int(0));
  const int64_t g = gcd64((int64_t)by.num, x.den);
  if (__builtin_mul_overflow(x.den / g, (int64_t)by.den, &x.den) || x.den > INT64_MAX / 2) return nst_term_fail(b, "a product past 62 bits");
  x.op = nst_term_op(b, NST_VOP_SCALE, x.op, -1, (int64_t)by.num / g);
  return x;
}

/* The value of an op that is a constant. */
static bool is_constant(const nst_builder *b, nst_term x, nst_rat *value) {
  if (x.op < 0 || x.over >= 0 || b->ops.items[x.op].kind != NST_VOP_CONST) return false;
  return nst_rat_make(value, b->ops.items[x.op].imm, x.den);
}

static int times(nst_builder *b, int x, int over) { return over < 0 ? x : x < 0 ? over : nst_term_op(b, NST_VOP_MUL, x, over, 0); }

/* Both over the same denominator. */
static bool level_out(nst_builder *b, nst_term *x, nst_term *y) {
  const int64_t den = lcm64(x->den, y->den);
  if (!den) return false;
  x->op = nst_term_op(b, NST_VOP_SCALE, x->op, -1, den / x->den);
  y->op = nst_term_op(b, NST_VOP_SCALE, y->op, -1, den / y->den);
  x->den = y->den = den;
  if (x->over == y->over) return true;
  const int of_x = x->over, of_y = y->over;
  x->op = times(b, x->op, of_y);
  y->op = times(b, y->op, of_x);
  x->over = y->over = times(b, of_x, of_y);
  return true;
}

nst_term nst_term_combine(nst_builder *b, nst_vop_kind kind, nst_term x, nst_term y) {
  nst_rat r;
  if (x.op < 0 || y.op < 0) return nst_term_failed;
  if (x.truth || y.truth) return nst_term_fail(b, "a condition where a number is expected");
  if (kind == NST_VOP_MUL) {
    if (is_constant(b, y, &r)) return nst_term_scale(b, x, r);
    if (is_constant(b, x, &r)) return nst_term_scale(b, y, r);
    int64_t den;
    if (__builtin_mul_overflow(x.den, y.den, &den)) return nst_term_fail(b, "a product past 63 bits");
    return (nst_term){nst_term_op(b, kind, x.op, y.op, 0), den, times(b, x.over, y.over), false};
  }
  if (kind == NST_VOP_ADD && is_constant(b, x, &r) && !r.num) return y;
  if ((kind == NST_VOP_ADD || kind == NST_VOP_SUB) && is_constant(b, y, &r) && !r.num) return x;
  if (!level_out(b, &x, &y)) return nst_term_fail(b, "numbers without a common denominator");
  const int op = nst_term_op(b, kind, x.op, y.op, 0);
  return kind >= NST_VOP_LT ? (nst_term){op, 1, -1, true} : (nst_term){op, x.den, x.over, false};
}

nst_term nst_term_negate(nst_builder *b, nst_term x) { return nst_term_scale(b, x, nst_rat_int(-1)); }

nst_term nst_term_divide(nst_builder *b, nst_term x, nst_term y) {
  nst_rat r;
  if (x.op < 0 || y.op < 0) return nst_term_failed;
  if (x.truth || y.truth) return nst_term_fail(b, "a condition where a number is expected");
  if (is_constant(b, y, &r)) {
    if (!r.num || !nst_rat_div(&r, nst_rat_int(1), r)) return nst_term_fail(b, "a division by zero");
    return nst_term_scale(b, x, r);
  }
  *nst_vec_push(b->arena, &b->divisors) = y.op;
  const int zero = nst_term_op(b, NST_VOP_EQ, y.op, nst_term_constant(b, nst_rat_int(0)).op, 0);
  const int wrong = nst_term_op(b, NST_VOP_AND, b->guard, zero, 0);
  b->wrong = b->wrong < 0 ? wrong : nst_term_op(b, NST_VOP_OR, b->wrong, wrong, 0);
  const nst_term upside_down = {times(b, -1, y.over), 1, y.op, false}; /* y.over / y.op */
  if (y.over < 0) x.over = times(b, x.over, y.op);
  else x = nst_term_combine(b, NST_VOP_MUL, x, upside_down);
  return nst_term_scale(b, x, nst_rat_int(y.den));
}

nst_term nst_term_floor(nst_builder *b, nst_term x) {
  if (x.op < 0) return nst_term_failed;
  if (x.truth) return nst_term_fail(b, "a condition where a number is expected");
  if (x.over >= 0) return nst_term_fail(b, "the rounding of a quotient of two metrics");
  return (nst_term){nst_term_op(b, NST_VOP_FLOORDIV, x.op, -1, x.den), 1, -1, false};
}

nst_term nst_term_logic(nst_builder *b, nst_vop_kind kind, nst_term x, nst_term y) {
  if (x.op < 0 || (kind != NST_VOP_NOT && y.op < 0)) return nst_term_failed;
  if (!x.truth || (kind != NST_VOP_NOT && !y.truth)) return nst_term_fail(b, "a number where a condition is expected");
  return (nst_term){nst_term_op(b, kind, x.op, kind == NST_VOP_NOT ? -1 : y.op, 0), 1, -1, true};
}

nst_term nst_term_choose(nst_builder *b, nst_term condition, nst_term x, nst_term y) {
  if (condition.op < 0 || x.op < 0 || y.op < 0) return nst_term_failed;
  if (x.truth != y.truth) return nst_term_fail(b, "a condition where a number is expected");
  if (x.truth) {
    const nst_term otherwise = nst_term_logic(b, NST_VOP_NOT, condition, condition);
    return nst_term_logic(b, NST_VOP_OR, nst_term_logic(b, NST_VOP_AND, condition, x), nst_term_logic(b, NST_VOP_AND, otherwise, y));
  }
  const int64_t den = lcm64(x.den, y.den);
  if (!den) return nst_term_fail(b, "numbers without a common denominator");
  const int p = nst_term_op(b, NST_VOP_SCALE, x.op, -1, den / x.den), q = nst_term_op(b, NST_VOP_SCALE, y.op, -1, den / y.den);
  nst_term r = {nst_term_op(b, NST_VOP_SELECT, p, q, condition.op), den, x.over, false};
  if (x.over != y.over) { /* the one that is not chosen may be 0 */
    const int one = nst_term_constant(b, nst_rat_int(1)).op;
    r.over = nst_term_op(b, NST_VOP_SELECT, x.over < 0 ? one : x.over, y.over < 0 ? one : y.over, condition.op);
  }
  return r;
}

/* ---- forms ---- */

static int compare_atoms(const nst_atom *a, const nst_atom *b) {
  int x[4] = {(int)a->kind, a->stmt, a->level, a->tensor}, y[4] = {(int)b->kind, b->stmt, b->level, b->tensor};
  for (int i = 0; i < 4; i++)
    if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
  return 0;
}

/* Atoms are kept sorted, so that forms of the same atoms are the same. */
void nst_term_add_atom(nst_builder *b, nst_atoms *as, nst_atom_kind kind, int stmt, int level, int tensor, nst_rat weight) {
  if (!weight.num) return;
  if (b->axes->mapping->workload.nstmts == 1 && kind != NST_ATOM_PARAM && kind != NST_ATOM_TABULATED) stmt = 0;
  nst_atom atom = {kind, stmt, level, tensor, weight};
  (void)nst_vec_push(b->arena, as);
  size_t i = as->len - 1;
  for (; i > 0 && compare_atoms(&as->items[i - 1], &atom) > 0; i--) as->items[i] = as->items[i - 1];
  as->items[i] = atom;
}

static bool same_forms(const nst_sweep_form *a, const nst_sweep_form *b) {
  if (a->natoms != b->natoms || a->per != b->per) return false;
  for (int i = 0; i < a->natoms; i++) {
    const nst_atom *x = &a->atoms[i], *y = &b->atoms[i];
    if (compare_atoms(x, y) || nst_rat_cmp(x->weight, y->weight)) return false;
  }
  return true;
}

/* The form of the weights over their greatest common divisor, so that the same traffic in bytes, in cycles and in
 * picojoules is one form; then scaled. */
nst_term nst_term_form(nst_builder *b, const nst_atoms *as, int per) {
  int64_t num = 0, den = 1;
  for (size_t i = 0; i < as->len; i++) {
    nst_rat w = as->items[i].weight;
    if (!small(w) || !(den = lcm64(den, (int64_t)w.den))) return nst_term_fail(b, "rates or energies without a common denominator");
    num = gcd64(num, (int64_t)w.num);
  }
  if (!num) num = 1;
  for (size_t i = 0; i < as->len; i++) { /* gcd of n/d: gcd of the n over lcm of the d */
    nst_rat by;
    if (!nst_rat_make(&by, den, num) || !nst_rat_mul(&as->items[i].weight, as->items[i].weight, by)) return nst_term_fail(b, "a weight past 128 bits");
  }
  nst_sweep_form f = {as->items, (int)as->len, per};
  size_t i = 0;
  while (i < b->forms.len && !same_forms(&b->forms.items[i], &f)) i++;
  if (i == b->forms.len) *nst_vec_push(b->arena, &b->forms) = f;
  nst_term x = {nst_term_op(b, NST_VOP_FORM, -1, -1, (int64_t)i), 1, -1, false};
  nst_rat scale, over = nst_rat_int(1);
  if (per >= 0) over = nst_rat_int(b->instances[per].common);
  if (!nst_rat_make(&scale, num, den) || !nst_rat_div(&scale, scale, over)) return nst_term_fail(b, "a weight past 128 bits");
  return nst_term_scale(b, x, scale);
}
