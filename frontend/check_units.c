/* Two operands side by side must measure the same thing. A bare number counts
 * in the unit of a metric or of a hardware attribute beside it, never in that
 * of a written quantity, where it would be a guess; zero is zero of anything. */
#include "frontend/check.h"

static bool bare_zero(const nst_typed *t) {
  return nst_unit_is_none(t->unit) && nst_expr_is_const(t->x) && t->x->value.num == 0;
}

static const nst_ast_expr *inside(const nst_ast_expr *e) {
  while (e->kind == NST_AST_PAREN && e->a) e = e->a;
  return e;
}

static void suggest_unit(nst_scope *s, nst_diag *m, const nst_typed *bare, const nst_ast_expr *e, nst_unit unit) {
  nst_checker *ck = s->ck;
  const char *usual = nst_unit_usual(unit);
  if (!usual || bare->soft) return; /* a count of something, which no unit mends */
  const nst_ast_expr *inner = inside(e);
  if (inner->kind == NST_AST_NUMBER && nst_expr_is_const(bare->x)) {
    nst_diag_help(ck->diags, m, "write the unit behind the number, as in `%s`",
                  nst_arena_printf(ck->arena, "1 %s", usual));
    nst_diag_fix(ck->diags, m, (nst_span){inner->span.source, inner->span.end, inner->span.end},
                 nst_arena_printf(ck->arena, " %s", usual));
  } else {
    nst_diag_help(ck->diags, m, "multiply the plain number by its unit, as in `* 1 %s`", usual);
  }
}

bool nst_units_meet(nst_scope *s, nst_side side, const nst_typed *a, const nst_ast_expr *ea, const nst_typed *b,
                    const nst_ast_expr *eb, nst_unit *unit, bool *soft) {
  nst_checker *ck = s->ck;
  *soft = a->soft || b->soft;
  *unit = nst_unit_is_none(a->unit) ? b->unit : a->unit;
  if (nst_unit_equal(a->unit, b->unit)) return true;
  bool a_bare = nst_unit_is_none(a->unit), b_bare = nst_unit_is_none(b->unit);
  if (a_bare && (b->soft || bare_zero(a))) return true;
  if (b_bare && (a->soft || bare_zero(b))) return true;
  const char *da = nst_unit_describe(ck->arena, a->unit), *db = nst_unit_describe(ck->arena, b->unit);
  nst_span span = eb->span;
  nst_diag *m = NULL;
  switch (side) {
  case NST_SIDE_ADD:
    m = nst_diag_add(ck->diags, NST_D_UNIT_MISMATCH, span, "cannot add or subtract %s and %s", da, db);
    break;
  case NST_SIDE_COMPARE:
    m = nst_diag_add(ck->diags, NST_D_UNIT_MISMATCH, span, "cannot compare %s with %s", da, db);
    break;
  case NST_SIDE_CHOOSE:
    m = nst_diag_add(ck->diags, NST_D_UNIT_MISMATCH, span, "cannot choose between %s and %s", da, db);
    break;
  }
  nst_diag_label(ck->diags, m, ea->span, "%s", da);
  nst_diag_label(ck->diags, m, eb->span, "%s", db);
  if (a_bare)
    suggest_unit(s, m, a, ea, b->unit);
  else if (b_bare)
    suggest_unit(s, m, b, eb, a->unit);
  return false;
}
