/* Typing and lowering of value expressions.
 *
 * One recursive walk gives each expression its type (number or condition), its
 * unit and its IR. Names are looked for in the scope's frames from the inside
 * out, then among the constants of the file, then among the metrics. Functions
 * and metrics with parentheses are in check_call.c. The depth of the walk is
 * bounded by the parser. */
#include "frontend/check.h"

/* ---- names ---- */

static nst_typed of_symbol(nst_scope *s, const nst_symbol *sym, nst_span span) {
  if (sym->poisoned) return nst_poison();
  nst_typed t;
  if (sym->kind == NST_X_CONST)
    t = nst_typed_const(s->ck, span, sym->expr->value);
  else if (sym->kind == NST_X_BOOL)
    t = nst_typed_leaf(s->ck, NST_X_BOOL, span, sym->expr->truth);
  else if (sym->kind == NST_X_PARAM || sym->kind == NST_X_VALUE)
    t = nst_typed_leaf(s->ck, sym->kind, span, sym->index);
  else
    t = (nst_typed){.x = sym->expr, .constant = true, .weight = sym->weight};
  t.unit = sym->unit;
  t.soft = sym->soft;
  t.truth = sym->truth || t.truth;
  return t;
}

static bool sees(nst_scope *s, nst_name name) {
  nst_typed t;
  for (int i = 0; i < s->nframes; i++)
    if (nst_symtab_find(s->frames[i], name)) return true;
  return !s->closed && nst_module_const(s->ck, s->module, NULL, name, (nst_span){0}, &t);
}

static bool is_lone_unit(nst_scope *s, const nst_ast_expr *e) {
  nst_unit unit;
  nst_rat scale;
  return e->kind == NST_AST_NAME && e->id.name && nst_unit_parse(&unit, &scale, e->id.name, strlen(e->id.name)) &&
         !sees(s, e->id.name);
}

static nst_typed say_lone_unit(nst_scope *s, nst_span span) {
  const nst_source *src = nst_sources_get(s->ck->sources, span.source);
  int n = (int)(span.end - span.begin);
  const char *text = src ? src->text + span.begin : "";
  nst_diag *m =
    nst_diag_add(s->ck->diags, NST_D_UNKNOWN_NAME, span, "the unit `%.*s` has no number before it", n, text);
  nst_diag_help(s->ck->diags, m, "write `1 %.*s`", n, text);
  nst_diag_fix(s->ck->diags, m, (nst_span){span.source, span.begin, span.begin}, "1 ");
  return nst_poison();
}

/* 256 B / cycle: the divisor of a quantity's unit, written with spaces or under a name that is none. The literal ends
 * right before the slash. false: it is something else. */
static bool say_spaced_unit(nst_scope *s, const nst_ast_expr *e) {
  const nst_ast_expr *a = e->a, *b = e->b;
  while (a->kind == NST_AST_BINARY && a->op == NST_OP_MUL && a->b) a = a->b;
  if (e->op != NST_OP_DIV || a->kind != NST_AST_QUANTITY || !a->unit.name || b->kind != NST_AST_NAME || !b->id.name ||
      sees(s, b->id.name) || strchr(a->unit.name, '/'))
    return false;
  const char *divisor = is_lone_unit(s, b) ? b->id.name : nst_unit_nearest(b->id.name);
  const char *whole = nst_arena_printf(s->ck->arena, "%s/%s", a->unit.name, divisor ? divisor : "");
  nst_unit unit;
  nst_rat scale;
  if (!divisor || !nst_unit_parse(&unit, &scale, whole, strlen(whole))) return false;
  const nst_span span = nst_span_join(a->unit.span, b->span);
  const nst_source *src = nst_sources_get(s->ck->sources, span.source);
  const int n = (int)(span.end - span.begin);
  const char *text = src ? src->text + span.begin : "";
  nst_diag *m =
    is_lone_unit(s, b)
      ? nst_diag_add(s->ck->diags, NST_D_UNKNOWN_NAME, span, "the unit `%s` is written without spaces", whole)
      : nst_diag_add(s->ck->diags, NST_D_UNKNOWN_NAME, span, "there is no unit `%.*s`", n, text);
  if (!is_lone_unit(s, b)) nst_diag_help(s->ck->diags, m, "did you mean `%s`?", whole);
  nst_diag_fix(s->ck->diags, m, span, whole);
  return true;
}

static void say_unknown(nst_scope *s, const nst_ast_expr *e) {
  nst_checker *ck = s->ck;
  nst_name name = e->id.name;
  for (const nst_ast_param *p = s->later; p; p = p->next) {
    if (p->id.name != name) continue;
    nst_diag *m = nst_diag_add(ck->diags, NST_D_USED_BEFORE, e->span, "`%s` is used before it has a value", name);
    nst_diag_label(ck->diags, m, p->id.span, "it is declared here");
    nst_diag_help(ck->diags, m,
                  s->nframes > 1 ? "a line sees the names of the lines above it"
                                 : "a default value sees the parameters to the left of its own");
    return;
  }
  nst_typed ignored;
  if (s->closed && nst_module_const(ck, s->module, NULL, name, e->span, &ignored)) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_NOT_VISIBLE, e->span,
                               "%s sees nothing but its parameters, and `%s` is a constant", s->what, name);
    nst_diag_help(ck->diags, m, "add `%s` to the parameters", name);
    return;
  }
  const nst_symtab *others[] = {s->dims, s->tensors, s->levels};
  const char *kinds[] = {"a dimension", "a tensor", "a level of the hardware"};
  for (int i = 0; i < 3; i++) {
    if (!nst_symtab_find(others[i], name)) continue;
    nst_diag *m =
      nst_diag_add(ck->diags, NST_D_WRONG_KIND, e->span, "`%s` is %s, and a value is needed here", name, kinds[i]);
    nst_diag_label(ck->diags, m, nst_symtab_find(others[i], name)->span, "declared here");
    if (i == 0) nst_diag_help(ck->diags, m, "for its size use the parameter that the size is declared with");
    if (i == 2)
      nst_diag_help(ck->diags, m, "`%s.capacity` is a memory's size, `%s.AXIS` the size of an axis of an array", name,
                    name);
    return;
  }
  nst_metric metric;
  if (!s->metrics && nst_metric_find(&metric, name)) {
    nst_check_metric(s, e, metric);
    return;
  }
  if (is_lone_unit(s, e)) {
    say_lone_unit(s, e->span);
    return;
  }
  const void *where = s->nframes ? (const void *)s->frames[0] : s->module;
  nst_diag *m =
    nst_say_unknown(ck, where, NST_D_UNKNOWN_NAME, e->span, name, "`%s` is not the name of a value here", name);
  if (!m) return;
  nst_candidates c = {0};
  for (const nst_sum_var *v = s->sums; v; v = v->outer) {
    nst_symtab one = {&(nst_symbol){.name = v->name}, 1, 1, NULL, 0};
    nst_candidates_add(ck->arena, &c, &one);
  }
  for (int i = 0; i < s->nframes; i++) nst_candidates_add(ck->arena, &c, s->frames[i]);
  if (!s->closed) nst_candidates_module(ck, &c, s->module, NST_NS_CONST);
  if (s->metrics) nst_candidates_functions(ck->arena, &c, ck->interner, true);
  if (nst_suggest(ck->diags, m, e->span, name, &c)) return;
  if (s->later && !s->closed) {
    nst_diag_help(ck->diags, m, "a default value sees the constants of the file and the parameters to its left");
    return;
  }
  nst_symtab known = {0};
  for (int i = 0; i < s->nframes; i++)
    for (size_t k = 0; k < s->frames[i]->len; k++)
      nst_symtab_add(ck->arena, &known, s->frames[i]->items[k].name, s->frames[i]->items[k].span);
  nst_help_known(ck->arena, ck->diags, m, "names", &known);
}

static nst_typed check_name(nst_scope *s, const nst_ast_expr *e) {
  if (!e->id.name) return nst_poison();
  int depth = 0;
  for (const nst_sum_var *v = s->sums; v; v = v->outer, depth++)
    if (v->name == e->id.name) return nst_typed_leaf(s->ck, NST_X_INDEX, e->span, depth);
  for (int i = 0; i < s->nframes; i++) {
    const nst_symbol *sym = nst_symtab_find(s->frames[i], e->id.name);
    if (sym) return of_symbol(s, sym, e->span);
  }
  nst_typed t;
  if (!s->closed && nst_module_const(s->ck, s->module, NULL, e->id.name, e->span, &t)) return t;
  nst_metric metric;
  if (s->metrics && nst_metric_find(&metric, e->id.name)) return nst_check_metric(s, e, metric);
  bool lost = s->incomplete || (!s->closed && s->module->incomplete);
  if (!lost) say_unknown(s, e);
  return nst_poison();
}

/* ---- LEVEL.capacity, ARRAY.axis, alias.constant ---- */

static nst_typed shared(const nst_expr *x, nst_unit unit) {
  return x ? (nst_typed){.x = x, .unit = unit, .soft = true, .weight = 16, .constant = nst_expr_is_const(x)}
           : nst_poison();
}

static nst_typed member_of_level(nst_scope *s, const nst_ast_expr *e, const nst_symbol *sym) {
  nst_checker *ck = s->ck;
  if (sym->poisoned) return nst_poison();
  const nst_ir_level *level = &s->hardware->levels[sym->index];
  nst_name member = e->id.name;
  if (!member) return nst_poison();
  if (level->kind == NST_LEVEL_MEMORY && strcmp(member, "capacity") == 0) {
    if (level->capacity) return shared(level->capacity, NST_UNIT_BYTE);
    nst_diag *m = nst_diag_add(ck->diags, NST_D_UNKNOWN_MEMBER, e->span, "memory `%s` has no capacity", level->name);
    nst_diag_label(ck->diags, m, level->span, "it is unbounded");
    return nst_poison();
  }
  for (int i = 0; i < level->naxes; i++)
    if (level->axes[i].name == member) return shared(level->axes[i].size, NST_UNIT_NONE);
  nst_diag *m = nst_diag_add(ck->diags, NST_D_UNKNOWN_MEMBER, e->id.span, "`%s` has no `%s`", level->name, member);
  if (!nst_diag_is_kept(ck->diags, m)) return nst_poison();
  nst_candidates c = {0};
  if (level->kind == NST_LEVEL_MEMORY) {
    nst_symtab known = {&(nst_symbol){.name = nst_intern_cstr(ck->interner, "capacity")}, 1, 1, NULL, 0};
    nst_candidates_add(ck->arena, &c, &known);
  }
  for (int i = 0; i < level->naxes; i++) {
    nst_symtab one = {&(nst_symbol){.name = level->axes[i].name}, 1, 1, NULL, 0};
    nst_candidates_add(ck->arena, &c, &one);
  }
  if (nst_suggest(ck->diags, m, e->id.span, member, &c)) return nst_poison();
  if (level->kind == NST_LEVEL_ARRAY) {
    const char *axes = "";
    for (int i = 0; i < level->naxes; i++)
      axes = nst_list_add(ck->arena, axes, i, nst_arena_printf(ck->arena, "`%s.%s`", level->name, level->axes[i].name));
    nst_diag_help(ck->diags, m, "an array has the sizes of its axes: %s", axes);
  }
  if (level->kind == NST_LEVEL_MEMORY) nst_diag_help(ck->diags, m, "a memory has `capacity`");
  if (level->kind == NST_LEVEL_COMPUTE) nst_diag_help(ck->diags, m, "a compute unit has nothing to read");
  return nst_poison();
}

static nst_typed check_member(nst_scope *s, const nst_ast_expr *e) {
  nst_checker *ck = s->ck;
  const nst_ast_expr *object = e->object;
  if (!object || !object->id.name || !e->id.name) return nst_poison();
  if (object->kind != NST_AST_NAME) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_UNKNOWN_MEMBER, e->span, "only a name can stand before the dot");
    nst_diag_help(ck->diags, m, "as in `GLB.capacity`, `PE.x`, or `a.N` after `use … as a`");
    return nst_poison();
  }
  nst_name name = object->id.name;
  const nst_symbol *level = s->hardware ? nst_symtab_find(s->levels, name) : NULL;
  if (level) return member_of_level(s, e, level);
  nst_typed t;
  if (!s->closed && nst_module_const(ck, s->module, name, e->id.name, e->span, &t)) return t;
  if (s->incomplete) return nst_poison();
  if (!s->closed && nst_symtab_find(&s->module->aliases, name)) {
    const nst_import *import = &s->module->imports.items[nst_symtab_find(&s->module->aliases, name)->index];
    if (import->module && !import->module->incomplete) {
      nst_diag *m =
        nst_diag_add(ck->diags, NST_D_UNKNOWN_NAME, e->id.span, "`%s` has no constant `%s`", name, e->id.name);
      nst_candidates c = {0};
      nst_candidates_add(ck->arena, &c, &import->module->names[NST_NS_CONST]);
      nst_suggest(ck->diags, m, e->id.span, e->id.name, &c);
    }
    return nst_poison();
  }
  nst_diag *m = nst_say_unknown(ck, s->levels ? (const void *)s->levels : s->module, NST_D_UNKNOWN_LEVEL, object->span,
                                name, "there is no level `%s` here", name);
  if (!m) return nst_poison();
  nst_candidates c = {0};
  nst_candidates_add(ck->arena, &c, s->levels);
  nst_candidates_add(ck->arena, &c, &s->module->aliases);
  if (nst_suggest(ck->diags, m, object->span, name, &c)) return nst_poison();
  if (s->hardware)
    nst_help_known(ck->arena, ck->diags, m, "levels", s->levels);
  else
    nst_diag_help(ck->diags, m, "levels of the hardware are seen in mappings and in what asks about them");
  return nst_poison();
}

/* ---- operators ---- */

static bool want_number(nst_scope *s, const nst_typed *t, const nst_ast_expr *e) {
  if (!t->x) return false;
  if (!t->truth) return true;
  nst_diag *m =
    nst_diag_add(s->ck->diags, NST_D_NOT_NUMBER, e->span, "a number is needed here, and this is a condition");
  nst_diag_help(s->ck->diags, m, "`if … then 1 else 0` makes a number of a condition");
  return false;
}

static bool want_condition(nst_scope *s, const nst_typed *t, const nst_ast_expr *e) {
  if (!t->x) return false;
  if (t->truth) return true;
  nst_diag *m =
    nst_diag_add(s->ck->diags, NST_D_NOT_CONDITION, e->span, "a condition is needed here, and this is a number");
  nst_diag_help(s->ck->diags, m, "compare it with something, as in `… > 0`");
  return false;
}

static nst_typed check_unary(nst_scope *s, const nst_ast_expr *e) {
  nst_typed a = e->a ? nst_check_expr(s, e->a) : nst_poison();
  if (e->op == NST_OP_NOT)
    return want_condition(s, &a, e->a) ? nst_typed_make(s->ck, NST_X_NOT, e->span, &a, NULL, NULL) : nst_poison();
  if (!want_number(s, &a, e->a)) return nst_poison();
  if (e->op == NST_OP_POS) return a;
  nst_typed t = nst_typed_make(s->ck, NST_X_NEG, e->span, &a, NULL, NULL);
  t.unit = a.unit;
  t.soft = a.soft;
  return t;
}

static bool power_unit(nst_scope *s, const nst_ast_expr *e, const nst_typed *a, const nst_typed *b, nst_unit *unit) {
  nst_checker *ck = s->ck;
  int64_t n;
  if (!nst_unit_is_none(b->unit)) {
    nst_diag_add(ck->diags, NST_D_BAD_POWER, e->b->span, "an exponent is a plain number, and this is in %s",
                 nst_unit_describe(ck->arena, b->unit));
    return false;
  }
  if (nst_unit_is_none(a->unit)) return true;
  if (nst_expr_is_const(b->x) && nst_rat_to_i64(&n, b->x->value) && nst_unit_pow(unit, a->unit, n)) return true;
  nst_diag *m = nst_diag_add(ck->diags, NST_D_BAD_POWER, e->span, "this power of %s has no unit",
                             nst_unit_describe(ck->arena, a->unit));
  nst_diag_help(ck->diags, m, "the exponent of a quantity is a small constant integer");
  return false;
}

static nst_typed check_binary(nst_scope *s, const nst_ast_expr *e) {
  if (!e->a || !e->b) return nst_poison();
  nst_checker *ck = s->ck;
  if (e->op == NST_OP_DIV && is_lone_unit(s, e->a) && is_lone_unit(s, e->b)) return say_lone_unit(s, e->span);
  if (say_spaced_unit(s, e)) return nst_poison();
  nst_typed a = nst_check_expr(s, e->a), b = nst_check_expr(s, e->b);
  if (e->op == NST_OP_AND || e->op == NST_OP_OR) {
    bool good = want_condition(s, &a, e->a);
    if (!want_condition(s, &b, e->b) || !good) return nst_poison();
    return nst_typed_make(ck, e->op == NST_OP_AND ? NST_X_AND : NST_X_OR, e->span, &a, &b, NULL);
  }
  bool good = want_number(s, &a, e->a);
  if (!want_number(s, &b, e->b) || !good) return nst_poison();
  nst_unit unit = NST_UNIT_NONE;
  bool soft = a.soft || b.soft;
  nst_expr_kind kind = NST_X_ADD;
  switch (e->op) {
  case NST_OP_ADD:
  case NST_OP_SUB:
  case NST_OP_MOD:
    kind = e->op == NST_OP_ADD ? NST_X_ADD : e->op == NST_OP_SUB ? NST_X_SUB : NST_X_MOD;
    good = nst_units_meet(s, NST_SIDE_ADD, &a, e->a, &b, e->b, &unit, &soft);
    break;
  case NST_OP_MUL:
  case NST_OP_DIV:
  case NST_OP_FLOORDIV:
    kind = e->op == NST_OP_MUL ? NST_X_MUL : e->op == NST_OP_DIV ? NST_X_DIV : NST_X_FLOORDIV;
    good = nst_unit_mul(&unit, a.unit, b.unit, e->op == NST_OP_MUL ? 1 : -1);
    if (!good) nst_diag_add(ck->diags, NST_D_BAD_POWER, e->span, "the unit of this is no unit any more");
    break;
  case NST_OP_POW:
    kind = NST_X_POW;
    good = power_unit(s, e, &a, &b, &unit);
    break;
  case NST_OP_AND:
  case NST_OP_OR:
  case NST_OP_NOT:
  case NST_OP_NEG:
  case NST_OP_POS:
  case NST_OP_EQ:
  case NST_OP_NE:
  case NST_OP_LT:
  case NST_OP_LE:
  case NST_OP_GT:
  case NST_OP_GE: return nst_poison();
  }
  if (!good) return nst_poison();
  nst_typed t = nst_typed_make(ck, kind, e->span, &a, &b, NULL);
  t.unit = unit;
  t.soft = soft;
  return t;
}

static nst_expr_kind comparison(nst_op op) {
  switch (op) {
  case NST_OP_EQ: return NST_X_EQ;
  case NST_OP_NE: return NST_X_NE;
  case NST_OP_LT: return NST_X_LT;
  case NST_OP_LE: return NST_X_LE;
  case NST_OP_GT: return NST_X_GT;
  case NST_OP_GE:
  case NST_OP_ADD:
  case NST_OP_SUB:
  case NST_OP_MUL:
  case NST_OP_DIV:
  case NST_OP_FLOORDIV:
  case NST_OP_MOD:
  case NST_OP_POW:
  case NST_OP_AND:
  case NST_OP_OR:
  case NST_OP_NOT:
  case NST_OP_NEG:
  case NST_OP_POS: return NST_X_GE;
  }
  return NST_X_GE;
}

static nst_typed compare_two(nst_scope *s, const nst_typed *a, const nst_ast_expr *ea, nst_op op, const nst_typed *b,
                             const nst_ast_expr *eb) {
  if (!a->x || !b->x) return nst_poison();
  bool equality = op == NST_OP_EQ || op == NST_OP_NE;
  if (!(equality && a->truth && b->truth)) {
    bool good = want_number(s, a, ea);
    if (!want_number(s, b, eb) || !good) return nst_poison();
    nst_unit unit;
    bool soft;
    if (!nst_units_meet(s, NST_SIDE_COMPARE, a, ea, b, eb, &unit, &soft)) return nst_poison();
  }
  return nst_typed_make(s->ck, comparison(op), nst_span_join(ea->span, eb->span), a, b, NULL);
}

static nst_typed check_compare(nst_scope *s, const nst_ast_expr *e) {
  if (!e->a) return nst_poison();
  nst_typed left = nst_check_expr(s, e->a), all = {0};
  const nst_ast_expr *left_e = e->a;
  bool poisoned = false;
  for (const nst_ast_link *l = e->links; l; l = l->next) {
    if (!l->operand) return nst_poison();
    nst_typed right = nst_check_expr(s, l->operand);
    nst_typed one = compare_two(s, &left, left_e, l->op, &right, l->operand);
    poisoned = poisoned || !one.x;
    if (!poisoned && all.x)
      all = nst_typed_make(s->ck, NST_X_AND, nst_span_join(e->a->span, l->operand->span), &all, &one, NULL);
    else if (!poisoned)
      all = one;
    poisoned = poisoned || !all.x;
    left = right;
    left_e = l->operand;
  }
  return poisoned ? nst_poison() : all;
}

static nst_typed check_if(nst_scope *s, const nst_ast_expr *e) {
  if (!e->a || !e->b || !e->c) return nst_poison();
  nst_typed a = nst_check_expr(s, e->a), b = nst_check_expr(s, e->b), c = nst_check_expr(s, e->c);
  bool good = want_condition(s, &a, e->a);
  if (!good || !b.x || !c.x) return nst_poison();
  nst_unit unit = NST_UNIT_NONE;
  bool soft = false;
  if (b.truth != c.truth) {
    nst_diag *m = nst_diag_add(s->ck->diags, NST_D_NOT_NUMBER, e->c->span,
                               "one side of this `if` is a number, the other a condition");
    nst_diag_label(s->ck->diags, m, e->b->span, b.truth ? "a condition" : "a number");
    nst_diag_label(s->ck->diags, m, e->c->span, c.truth ? "a condition" : "a number");
    return nst_poison();
  }
  if (!b.truth && !nst_units_meet(s, NST_SIDE_CHOOSE, &b, e->b, &c, e->c, &unit, &soft)) return nst_poison();
  nst_typed t = nst_typed_make(s->ck, NST_X_IF, e->span, &a, &b, &c);
  t.unit = unit;
  t.soft = soft;
  return t;
}

static nst_typed check_sum(nst_scope *s, const nst_ast_expr *e) {
  if (!e->a || !e->b || !e->c || !e->id.name) return nst_poison();
  nst_typed lo = nst_check_expr(s, e->b), hi = nst_check_expr(s, e->c);
  nst_sum_var var = {e->id.name, s->sums};
  s->sums = &var;
  nst_typed body = nst_check_expr(s, e->a);
  s->sums = var.outer;
  bool good = want_number(s, &lo, e->b) && nst_check_unit(s, &lo, e->b->span, e->b, NST_UNIT_NONE, "a bound of a sum");
  good =
    want_number(s, &hi, e->c) && nst_check_unit(s, &hi, e->c->span, e->c, NST_UNIT_NONE, "a bound of a sum") && good;
  if (!want_number(s, &body, e->a) || !good) return nst_poison();
  nst_typed t = nst_typed_make(s->ck, NST_X_SUM, e->span, &body, &lo, &hi);
  t.unit = body.unit;
  t.soft = body.soft;
  return t;
}

static nst_typed check_quantity(nst_scope *s, const nst_ast_expr *e) {
  nst_rat scale, value;
  nst_unit unit;
  if (!e->unit.name) return nst_poison();
  if (!nst_unit_parse(&unit, &scale, e->unit.name, strlen(e->unit.name)) || !nst_rat_mul(&value, e->value, scale)) {
    nst_diag_add(s->ck->diags, NST_D_INTEGER_TOO_LARGE, e->span, "this quantity is too large");
    return nst_poison();
  }
  nst_typed t = nst_typed_const(s->ck, e->span, value);
  t.unit = unit;
  return t;
}

static nst_typed check_number(nst_scope *s, const nst_ast_expr *e) {
  int64_t v;
  if (nst_rat_is_int(e->value) && !nst_rat_to_i64(&v, e->value)) {
    nst_diag *m = nst_diag_add(s->ck->diags, NST_D_INTEGER_TOO_LARGE, e->span, "this integer is past 2^63-1");
    nst_diag_help(s->ck->diags, m, "the largest is 9223372036854775807");
    return nst_poison();
  }
  return nst_typed_const(s->ck, e->span, e->value);
}

nst_typed nst_check_expr(nst_scope *s, const nst_ast_expr *e) {
  if (!e) return nst_poison();
  switch (e->kind) {
  case NST_AST_NUMBER: return check_number(s, e);
  case NST_AST_QUANTITY: return check_quantity(s, e);
  case NST_AST_BOOL: return nst_typed_leaf(s->ck, NST_X_BOOL, e->span, e->truth);
  case NST_AST_NAME: return check_name(s, e);
  case NST_AST_MEMBER: return check_member(s, e);
  case NST_AST_CALL: return nst_check_call(s, e);
  case NST_AST_UNARY: return check_unary(s, e);
  case NST_AST_BINARY: return check_binary(s, e);
  case NST_AST_COMPARE: return check_compare(s, e);
  case NST_AST_IF: return check_if(s, e);
  case NST_AST_SUM: return check_sum(s, e);
  case NST_AST_PAREN: return nst_check_expr(s, e->a);
  case NST_AST_ACCESS: break;
  }
  nst_diag *m = nst_diag_add(s->ck->diags, NST_D_WRONG_KIND, e->span, "an element of a tensor has no value here");
  nst_diag_help(s->ck->diags, m, "tensors are only read in the statements of a workload");
  return nst_poison();
}
