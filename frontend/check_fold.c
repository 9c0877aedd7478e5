/* Building typed expressions, constants folded as they are made.
 *
 * What has no parameter in it is evaluated at once and becomes a single exact
 * number; only doubles (log2, sqrt) stay expressions, since the IR has no
 * constant for them. An operation that fails is remembered in the typed
 * expression and reported when the expression is complete: a division by zero
 * in the branch of an `if` that is never taken is no error. */
#include "frontend/check.h"

enum { WEIGHT_MAX = 1 << 16 };

nst_typed nst_poison(void) { return (nst_typed){0}; }

nst_typed nst_typed_const(nst_checker *ck, nst_span span, nst_rat value) {
  nst_expr *x = NST_NEW(ck->arena, nst_expr);
  *x = (nst_expr){.kind = NST_X_CONST, .span = span, .value = value, .level = -1, .tensor = -1};
  return (nst_typed){.x = x, .constant = true, .weight = 1};
}

static nst_typed typed_bool(nst_checker *ck, nst_span span, bool truth) {
  nst_expr *x = NST_NEW(ck->arena, nst_expr);
  *x = (nst_expr){.kind = NST_X_BOOL, .span = span, .truth = truth, .level = -1, .tensor = -1};
  return (nst_typed){.x = x, .truth = true, .constant = true, .weight = 1};
}

nst_typed nst_typed_leaf(nst_checker *ck, nst_expr_kind kind, nst_span span, int index) {
  if (kind == NST_X_BOOL) return typed_bool(ck, span, index != 0);
  nst_expr *x = NST_NEW(ck->arena, nst_expr);
  *x = (nst_expr){.kind = kind, .span = span, .index = index, .level = -1, .tensor = -1};
  return (nst_typed){.x = x, .weight = 1, .constant = kind == NST_X_INDEX, .open = kind == NST_X_INDEX ? index + 1 : 0};
}

static void inherit_failure(nst_typed *t, const nst_typed *operand) {
  if (t->fail != NST_EVAL_OK || !operand || operand->fail == NST_EVAL_OK) return;
  t->fail = operand->fail;
  t->fail_at = operand->fail_at;
}

static bool is_condition(nst_expr_kind kind) { return (kind >= NST_X_EQ && kind <= NST_X_NOT) || kind == NST_X_BOOL; }

/* Evaluates a constant; a double stays as it is. */
static void fold(nst_checker *ck, nst_typed *t) {
  nst_value v;
  nst_eval_env env = {.fuel = &ck->fuel};
  nst_span where = t->x->span;
  t->fail = nst_expr_eval(&v, t->x, &env, &where);
  if (t->fail != NST_EVAL_OK) {
    t->fail_at = where;
    return;
  }
  if (v.kind == NST_VALUE_RAT) t->x = nst_typed_const(ck, t->x->span, v.rat).x;
  if (v.kind == NST_VALUE_BOOL) t->x = typed_bool(ck, t->x->span, v.truth).x;
  if (v.kind != NST_VALUE_REAL) t->weight = 1;
}

nst_typed nst_typed_make(nst_checker *ck, nst_expr_kind kind, nst_span span, const nst_typed *a, const nst_typed *b,
                         const nst_typed *c) {
  if (!a->x || (b && !b->x) || (c && !c->x)) return nst_poison();
  bool chooses = kind == NST_X_IF || kind == NST_X_AND || kind == NST_X_OR;
  if (chooses && a->x->kind == NST_X_BOOL && a->fail == NST_EVAL_OK) {
    if (kind == NST_X_IF) return a->x->truth ? *b : *c;
    return a->x->truth == (kind == NST_X_AND) ? *b : *a;
  }
  nst_expr *x = NST_NEW(ck->arena, nst_expr);
  *x = (nst_expr){
    .kind = kind, .span = span, .level = -1, .tensor = -1, .a = a->x, .b = b ? b->x : NULL, .c = c ? c->x : NULL};
  nst_typed t = {.x = x, .constant = a->constant, .open = a->open, .weight = a->weight + 1};
  t.truth = kind == NST_X_IF ? b->truth : is_condition(kind);
  if (kind == NST_X_SUM && t.open > 0) t.open--;
  const nst_typed *rest[] = {b, c};
  for (int i = 0; i < 2; i++) {
    if (!rest[i]) continue;
    t.constant = t.constant && rest[i]->constant;
    if (rest[i]->open > t.open) t.open = rest[i]->open;
    t.weight += rest[i]->weight;
  }
  if (kind != NST_X_SUM) inherit_failure(&t, a);
  if (!chooses) {
    inherit_failure(&t, b);
    inherit_failure(&t, c);
  }
  if (t.weight > WEIGHT_MAX) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_EXPR_TOO_LARGE, span, "this expression is too large");
    nst_diag_help(
      ck->diags, m,
      "an expression has at most %d operations, those of the constants in it included; name parts of it with `let`",
      WEIGHT_MAX);
    return nst_poison();
  }
  if (t.constant && t.open == 0 && t.fail == NST_EVAL_OK) fold(ck, &t);
  return t;
}

nst_diag_id nst_failure_id(nst_eval_status status, nst_diag_id otherwise) {
  if (status == NST_EVAL_SUM_TOO_LONG) return NST_D_EVAL_SUM;
  return status == NST_EVAL_FUEL ? NST_D_EVAL_FUEL : otherwise;
}

bool nst_report_failure(nst_checker *ck, const nst_typed *t, nst_span whole) {
  if (!t->x) return true;
  if (t->fail == NST_EVAL_OK) return false;
  nst_span at = t->fail_at.source ? t->fail_at : whole;
  nst_diag_add(ck->diags, nst_failure_id(t->fail, NST_D_CONSTANT_FAILS), at, "%s", nst_eval_status_text(t->fail));
  return true;
}

bool nst_expr_is_const(const nst_expr *e) { return e && e->kind == NST_X_CONST; }

bool nst_expr_same(const nst_expr *a, const nst_expr *b) {
  if (a == b) return true;
  if (!a || !b || a->kind != b->kind) return false;
  if (a->kind == NST_X_CONST) return nst_rat_cmp(a->value, b->value) == 0;
  if (a->kind == NST_X_BOOL) return a->truth == b->truth;
  return a->index == b->index && a->metric == b->metric && a->level == b->level && a->tensor == b->tensor &&
         nst_expr_same(a->a, b->a) && nst_expr_same(a->b, b->b) && nst_expr_same(a->c, b->c);
}

/* ---- copies with parameters replaced ---- */

typedef struct {
  nst_checker *ck;
  int base;
  const nst_expr *const *with;
} replacement;

static const nst_expr *replaced(const replacement *r, const nst_expr *e) {
  if (!e) return NULL;
  if (e->kind == NST_X_PARAM) {
    if (r->with) return r->with[e->index];
    nst_expr *x = NST_NEW(r->ck->arena, nst_expr);
    *x = *e;
    x->kind = NST_X_VALUE;
    x->index = r->base + e->index;
    return x;
  }
  const nst_expr *a = replaced(r, e->a), *b = replaced(r, e->b), *c = replaced(r, e->c);
  if (a == e->a && b == e->b && c == e->c) return e;
  nst_expr *x = NST_NEW(r->ck->arena, nst_expr);
  *x = *e;
  x->a = a;
  x->b = b;
  x->c = c;
  return x;
}

const nst_expr *nst_expr_rebase(nst_checker *ck, const nst_expr *e, int base) {
  return replaced(&(replacement){ck, base, NULL}, e);
}

const nst_expr *nst_expr_substitute(nst_checker *ck, const nst_expr *e, const nst_expr *const *with) {
  return replaced(&(replacement){ck, 0, with}, e);
}

/* ---- what a constant must be ---- */

static const char *shown(nst_checker *ck, nst_rat v) {
  char text[64];
  size_t n = nst_rat_print(text, sizeof text, v);
  return nst_arena_strndup(ck->arena, text, n);
}

bool nst_check_integer(nst_checker *ck, const nst_expr *e, const char *what) {
  int64_t v;
  if (!nst_expr_is_const(e) || nst_rat_to_i64(&v, e->value)) return true;
  if (!nst_rat_is_int(e->value)) {
    nst_diag *m =
      nst_diag_add(ck->diags, NST_D_NOT_INTEGER, e->span, "%s must be an integer, not %s", what, shown(ck, e->value));
    nst_diag_help(ck->diags, m, "`//` divides and rounds down, `ceildiv` rounds up");
  } else {
    nst_diag_add(ck->diags, NST_D_INTEGER_TOO_LARGE, e->span, "%s is past 2^63-1", what);
  }
  return false;
}

bool nst_check_positive(nst_checker *ck, const nst_expr *e, const char *what) {
  if (!nst_expr_is_const(e)) return true;
  if (!nst_check_integer(ck, e, what)) return false;
  if (e->value.num > 0) return true;
  nst_diag_add(ck->diags, NST_D_NOT_POSITIVE, e->span, "%s must be at least 1, not %s", what, shown(ck, e->value));
  return false;
}
