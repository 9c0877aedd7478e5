/* Where an expression ends and meets what it is for: a tile size, an attribute,
 * an expectation. Its type and unit must be those wanted; what is certain to
 * fail is reported. Most of the work is to guess what was meant: the unit that
 * was left out, the product that was written as a quantity. */
#include "frontend/check.h"

static const nst_ast_expr *strip(const nst_ast_expr *e) {
  while (e && e->kind == NST_AST_PAREN) e = e->a;
  return e;
}

nst_typed nst_check_value(nst_scope *s, const nst_ast_expr *e, const char *what) {
  if (!e) return nst_poison();
  nst_typed t = nst_check_expr(s, e);
  if (!t.x || nst_report_failure(s->ck, &t, e->span)) return nst_poison();
  if (t.truth) {
    nst_diag_add(s->ck->diags, NST_D_NOT_NUMBER, e->span, "%s must be a number, not a condition", what);
    return nst_poison();
  }
  return t;
}

/* The written quantity in the wanted unit, where one is near: `128` for a capacity is `128 B`. */
static const char *respelled(nst_scope *s, const nst_ast_expr *e, nst_unit unit, const char *usual) {
  e = strip(e);
  if (!usual) return NULL;
  const nst_source *src = nst_sources_get(s->ck->sources, e->span.source);
  if (!src || (e->kind != NST_AST_NUMBER && e->kind != NST_AST_QUANTITY)) return NULL;
  uint32_t end = e->kind == NST_AST_QUANTITY ? e->unit.span.begin : e->span.end;
  while (end > e->span.begin && src->text[end - 1] == ' ') end--;
  const char *number = nst_arena_strndup(s->ck->arena, src->text + e->span.begin, end - e->span.begin);
  if (e->kind == NST_AST_QUANTITY && e->unit.name) {
    /* keep the written numerator where it already measures the right thing: 32 GB for a bandwidth is 32 GB/s */
    const char *slash = strchr(e->unit.name, '/'), *over = strchr(usual, '/');
    size_t len = slash ? (size_t)(slash - e->unit.name) : strlen(e->unit.name);
    const char *spelt = nst_arena_printf(s->ck->arena, "%.*s%s", (int)len, e->unit.name, over ? over : "");
    nst_unit got;
    nst_rat scale;
    if (nst_unit_equal(unit, NST_UNIT_BYTE_PER_CYCLE) && nst_unit_parse(&got, &scale, e->unit.name, len) &&
        scale.num >= 1000000)
      return nst_arena_printf(s->ck->arena, "%s %.*s/s", number, (int)len,
                              e->unit.name); /* nobody moves megabytes in a cycle */
    if (nst_unit_parse(&got, &scale, spelt, strlen(spelt)) && nst_unit_equal(got, unit))
      return nst_arena_printf(s->ck->arena, "%s %s", number, spelt);
    return NULL;
  }
  return nst_arena_printf(s->ck->arena, "%s %s", number, usual);
}

/* A period where a frequency is wanted: 2 ns is 500 MHz. */
static const char *as_frequency(nst_scope *s, const nst_typed *t) {
  static const struct {
    const char *unit;
    int64_t hertz;
  } scales[] = {{"GHz", 1000000000}, {"MHz", 1000000}, {"kHz", 1000}, {"Hz", 1}};
  const nst_unit second = {0, 0, 1, 0, 0};
  if (!nst_unit_equal(t->unit, second) || !nst_expr_is_const(t->x) || t->x->value.num <= 0) return NULL;
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    nst_rat f;
    char text[64];
    if (!nst_rat_div(&f, (nst_rat){1, scales[i].hertz}, t->x->value) || nst_rat_cmp(f, nst_rat_int(1)) < 0) continue;
    nst_rat_print(text, sizeof text, f);
    return nst_arena_printf(s->ck->arena, "%s %s", text, scales[i].unit);
  }
  return NULL;
}

/* `2s` is two seconds; where `s` names something, it was meant as 2*s. */
const char *nst_unit_as_product(nst_scope *s, const nst_ast_expr *e) {
  if (e->kind != NST_AST_QUANTITY || !e->unit.name) return NULL;
  bool named = nst_symtab_find(s->dims, e->unit.name) != NULL;
  for (int i = 0; i < s->nframes; i++) named = named || nst_symtab_find(s->frames[i], e->unit.name);
  const nst_source *src = nst_sources_get(s->ck->sources, e->span.source);
  if (!named || !src) return NULL;
  uint32_t end = e->unit.span.begin;
  while (end > e->span.begin && src->text[end - 1] == ' ') end--;
  return nst_arena_printf(s->ck->arena, "%.*s*%s", (int)(end - e->span.begin), src->text + e->span.begin, e->unit.name);
}

bool nst_check_unit(nst_scope *s, const nst_typed *t, nst_span span, const nst_ast_expr *e, nst_unit unit,
                    const char *what) {
  nst_checker *ck = s->ck;
  if (nst_unit_equal(t->unit, unit)) return true;
  if (nst_unit_is_none(t->unit) && nst_syntax_error_follows(ck, span)) return false; /* its unit was not understood */
  const char *usual = nst_unit_usual(unit), *wanted = nst_unit_describe(ck->arena, unit);
  if (nst_unit_is_none(unit)) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_WRONG_UNIT, span, "%s is a plain number, and this is in %s", what,
                               nst_unit_describe(ck->arena, t->unit));
    const char *product = nst_unit_as_product(s, strip(e));
    if (product) {
      nst_diag_help(ck->diags, m, "did you mean `%s`?", product);
      nst_diag_fix(ck->diags, m, strip(e)->span, product);
    } else if (strip(e)->kind == NST_AST_QUANTITY && strip(e)->unit.name) {
      nst_span at = strip(e)->unit.span;
      nst_diag_help(ck->diags, m, "remove the unit `%s`", strip(e)->unit.name);
      nst_diag_fix(ck->diags, m, at, "");
    } else if (t->soft) {
      nst_diag_help(ck->diags, m, "divide by the unit to get a number, as in `/ (1 %s)`",
                    nst_unit_usual(t->unit) ? nst_unit_usual(t->unit) : "B");
    }
    return false;
  }
  nst_diag *m;
  if (nst_unit_is_none(t->unit))
    m = nst_diag_add(ck->diags, NST_D_BARE_NUMBER, span, "%s needs a unit: it is in %s", what, wanted);
  else
    m = nst_diag_add(ck->diags, NST_D_WRONG_UNIT, span, "%s is in %s, and this is in %s", what, wanted,
                     nst_unit_describe(ck->arena, t->unit));
  const char *right = respelled(s, e, unit, usual);
  if (!right && nst_unit_equal(unit, NST_UNIT_HERTZ)) right = as_frequency(s, t);
  if (right) {
    nst_diag_help(ck->diags, m, "did you mean `%s`?", right);
    nst_diag_fix(ck->diags, m, strip(e)->span, right);
  } else if (usual) {
    nst_diag_help(ck->diags, m, "it is written like `%s`", nst_arena_printf(ck->arena, "1 %s", usual));
  }
  return false;
}

const nst_expr *nst_check_number(nst_scope *s, const nst_ast_expr *e, nst_unit unit, const char *what) {
  nst_typed t = nst_check_value(s, e, what);
  return t.x && nst_check_unit(s, &t, e->span, e, unit, what) ? t.x : NULL;
}

const nst_expr *nst_check_condition(nst_scope *s, const nst_ast_expr *e, const char *what) {
  if (!e) return NULL;
  nst_typed t = nst_check_expr(s, e);
  if (!t.x || nst_report_failure(s->ck, &t, e->span)) return NULL;
  if (t.truth) return t.x;
  nst_diag *m = nst_diag_add(s->ck->diags, NST_D_NOT_CONDITION, e->span, "%s must be a condition, not a number", what);
  nst_diag_help(s->ck->diags, m, "compare it with something, as in `… <= 128 KiB`");
  return NULL;
}
