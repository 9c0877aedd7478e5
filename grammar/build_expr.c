/* Constructors of expressions and sets.
 *
 * Every node's depth is one more than its deepest child's and never exceeds
 * NST_AST_MAX_DEPTH, so whoever walks a tree may recurse. A node that would be
 * deeper is reported once and becomes NULL, as does everything built on it. */
#include "grammar/build.h"

#include <string.h>

static const char *text_at(const nst_parser *p, nst_span span) { return p->source->text + span.begin; }
static size_t span_len(nst_span span) { return span.end - span.begin; }

/* ---- depth ---- */

static uint32_t deeper(uint32_t depth, const nst_ast_expr *e) { return e && e->depth > depth ? e->depth : depth; }

static uint32_t args_depth(uint32_t depth, const nst_ast_arg *args) {
  for (; args; args = args->next) depth = deeper(depth, args->value);
  return depth;
}

static nst_ast_expr *node(nst_parser *p, nst_ast_expr_kind kind, nst_span span, uint32_t below) {
  if (below >= NST_AST_MAX_DEPTH) {
    nst_message_too_deep(p, span);
    return NULL;
  }
  nst_ast_expr *e = NST_NEW(p->arena, nst_ast_expr);
  e->kind = kind;
  e->span = span;
  e->depth = below + 1;
  return e;
}

/* ---- numbers ---- */

static bool read_number(nst_parser *p, nst_span span, nst_rat *out) {
  char *text = nst_arena_strndup(p->arena, text_at(p, span), span_len(span));
  size_t n = 0;
  for (size_t i = 0; i < span_len(span); i++)
    if (text[i] != '_') text[n++] = text[i]; /* a stray one is reported by the scanner */
  int64_t whole;
  bool good = nst_rat_parse(out, text, n);
  if (good && (!nst_rat_is_int(*out) || nst_rat_to_i64(&whole, *out))) return true;
  *out = nst_rat_int(1);
  nst_diag *m;
  if (!good && memchr(text, '.', n) && !memchr(text, 'e', n) && !memchr(text, 'E', n)) {
    m = nst_diag_add(p->diags, NST_D_NUMBER_TOO_LARGE, span, "this number has more digits than can be kept exactly");
    nst_diag_help(p->diags, m, "numbers are exact; a fraction may need at most 128 bits");
  } else {
    m = nst_diag_add(p->diags, NST_D_NUMBER_TOO_LARGE, span, "this number is out of range");
    nst_diag_help(p->diags, m, "the largest integer is 9223372036854775807 (2^63 - 1)");
  }
  return false;
}

nst_ast_expr *nst_build_number(nst_parser *p, nst_span span) {
  nst_ast_expr *e = node(p, NST_AST_NUMBER, span, 0);
  read_number(p, span, &e->value);
  return e;
}

nst_ast_expr *nst_build_quantity(nst_parser *p, nst_span span) {
  nst_ast_expr *e = node(p, NST_AST_QUANTITY, span, 0);
  const char *text = text_at(p, span);
  size_t len = span_len(span), unit = 0;
  /* the unit is the longest tail that is one */
  while (unit < len && !nst_scan_is_unit(text + unit, len - unit)) unit++;
  nst_span number = span;
  number.end = span.begin + (uint32_t)unit;
  while (number.end > number.begin && text[number.end - number.begin - 1] == ' ') number.end--;
  read_number(p, number, &e->value);
  e->unit = (nst_ast_ident){nst_intern(p->interner, text + unit, len - unit),
                            {span.source, span.begin + (uint32_t)unit, span.end}};
  return e;
}

nst_ast_expr *nst_build_bool(nst_parser *p, nst_span span, bool truth) {
  nst_ast_expr *e = node(p, NST_AST_BOOL, span, 0);
  e->truth = truth;
  return e;
}

/* ---- names, calls, accesses ---- */

nst_ast_expr *nst_build_name(nst_parser *p, nst_span span, nst_ast_ident id) {
  nst_ast_expr *e = node(p, NST_AST_NAME, span, 0);
  e->id = id;
  return e;
}

static bool is_path(const nst_ast_expr *e) { return e->kind == NST_AST_NAME || e->kind == NST_AST_MEMBER; }

/* Only names have members; `5.` and `2.x` end up here. */
static bool check_object(nst_parser *p, const nst_ast_expr *object, nst_ast_ident id) {
  if (is_path(object)) return true;
  nst_span dot = nst_parse_span(p, object->span.end, id.span.begin);
  nst_diag *m = nst_diag_add(
    p->diags, NST_D_NO_MEMBERS, object->kind == NST_AST_NUMBER ? nst_span_join(object->span, dot) : object->span,
    object->kind == NST_AST_NUMBER ? "a number with nothing behind its point" : "only a name can have a `.` behind it");
  if (object->kind == NST_AST_NUMBER) {
    nst_diag_help(p->diags, m, "write %.*s.0 or %.*s", (int)span_len(object->span), text_at(p, object->span),
                  (int)span_len(object->span), text_at(p, object->span));
  } else {
    nst_diag_help(p->diags, m, "as in LEVEL.capacity, ARRAY.axis or alias.name");
  }
  return false;
}

nst_ast_expr *nst_build_member(nst_parser *p, nst_span span, nst_ast_expr *object, nst_ast_ident id) {
  if (!object || !check_object(p, object, id)) return NULL;
  nst_ast_expr *e = node(p, NST_AST_MEMBER, span, object->depth);
  if (!e) return NULL;
  e->object = object;
  e->id = id;
  return e;
}

nst_ast_expr *nst_build_call(nst_parser *p, nst_span span, nst_ast_expr *object, nst_ast_ident id, nst_ast_arg *args) {
  if (object && !check_object(p, object, id)) return NULL;
  nst_ast_expr *e = node(p, NST_AST_CALL, span, args_depth(object ? object->depth : 0, args));
  if (!e) return NULL;
  e->object = object;
  e->id = id;
  e->args = args;
  return e;
}

nst_ast_expr *nst_build_sum(nst_parser *p, nst_span span, nst_ast_ident function, nst_ast_expr *body, nst_ast_ident id,
                            nst_ast_set *set) {
  if (strcmp(function.name, "sum") != 0) {
    nst_diag *m =
      nst_diag_add(p->diags, NST_D_SUM_FORM, function.span, "only `sum` can run over a range, not `%s`", function.name);
    nst_diag_help(p->diags, m, "as in sum(EXPR for i in a .. b)");
    return NULL;
  }
  if (!body || !set) return NULL;
  if (set->kind != NST_SET_RANGE || set->step) {
    nst_diag *m = nst_diag_add(p->diags, NST_D_SUM_FORM, set->span, "a sum runs over a range a .. b");
    nst_diag_help(p->diags, m,
                  set->step ? "a step is not possible here; scale %s in the expression instead"
                            : "for other sets of %s write the terms out",
                  id.name);
    return NULL;
  }
  if (!set->a || !set->b) return NULL;
  nst_ast_expr *e = node(p, NST_AST_SUM, span, deeper(deeper(body->depth, set->a), set->b));
  if (!e) return NULL;
  e->id = id;
  e->a = body;
  e->b = set->a;
  e->c = set->b;
  return e;
}

/* `2s` among ranks is two times s to whoever writes it, two seconds to the scanner. */
static nst_ast_expr *check_rank(nst_parser *p, nst_ast_expr *e) {
  if (!e) return NULL;
  if (e->kind == NST_AST_QUANTITY) {
    nst_span number = {e->span.source, e->span.begin, e->unit.span.begin};
    while (number.end > number.begin && text_at(p, number)[span_len(number) - 1] == ' ') number.end--;
    int n = (int)span_len(number);
    const char *unit = e->unit.name;
    nst_diag *m =
      nst_diag_add(p->diags, NST_D_QUANTITY_IN_RANK, e->span, "`%.*s` is a quantity, and a rank is a number",
                   (int)span_len(e->span), text_at(p, e->span));
    if (strchr(unit, '/')) return NULL;
    nst_diag_help(p->diags, m, "for %.*s times %s write %.*s*%s", n, text_at(p, number), unit, n, text_at(p, number),
                  unit);
    nst_diag_fix(p->diags, m, e->span, nst_arena_printf(p->arena, "%.*s*%s", n, text_at(p, number), unit));
    nst_ast_expr *number_node = nst_build_number(p, number);
    return nst_build_binary(p, e->span, NST_OP_MUL, number_node, nst_build_name(p, e->unit.span, e->unit));
  }
  if (e->kind == NST_AST_BINARY || e->kind == NST_AST_UNARY || e->kind == NST_AST_PAREN) {
    nst_ast_expr *a = check_rank(p, e->a), *b = e->b ? check_rank(p, e->b) : NULL;
    if (!a || (e->b && !b)) return NULL;
    e->a = a;
    e->b = b;
  }
  return e;
}

nst_ast_expr *nst_build_access(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_arg *ranks) {
  for (nst_ast_arg *r = ranks; r; r = r->next) r->value = check_rank(p, r->value);
  nst_ast_expr *e = node(p, NST_AST_ACCESS, span, args_depth(0, ranks));
  if (!e) return NULL;
  e->id = id;
  e->args = ranks;
  return e;
}

/* A[m][n]: one message, and the ranks are taken together. */
nst_ast_expr *nst_build_access_more(nst_parser *p, nst_span span, nst_ast_expr *access, nst_span bracket,
                                    nst_ast_arg *ranks) {
  nst_span between = {bracket.source, bracket.begin, bracket.end};
  while (between.begin > 0 && p->source->text[between.begin] != ']') between.begin--;
  nst_diag *m =
    nst_diag_add(p->diags, NST_D_BRACKETS_PER_RANK, between, "the ranks of a tensor stand in one pair of brackets");
  nst_diag_help(p->diags, m, "as in A[m, k]");
  nst_diag_fix(p->diags, m, between, ", ");
  if (!access) return NULL;
  nst_ast_arg *last = access->args;
  while (last && last->next) last = last->next;
  if (last) last->next = ranks;
  return nst_build_access(p, span, access->id, last ? access->args : ranks);
}

/* ---- operators ---- */

nst_ast_expr *nst_build_paren(nst_parser *p, nst_span span, nst_ast_expr *a) {
  nst_ast_expr *e = a ? node(p, NST_AST_PAREN, span, a->depth) : NULL;
  if (e) e->a = a;
  return e;
}

nst_ast_expr *nst_build_unary(nst_parser *p, nst_span span, nst_op op, nst_ast_expr *a) {
  nst_ast_expr *e = a ? node(p, NST_AST_UNARY, span, a->depth) : NULL;
  if (!e) return NULL;
  e->op = op;
  e->a = a;
  return e;
}

nst_ast_expr *nst_build_binary(nst_parser *p, nst_span span, nst_op op, nst_ast_expr *a, nst_ast_expr *b) {
  nst_ast_expr *e = a && b ? node(p, NST_AST_BINARY, span, deeper(a->depth, b)) : NULL;
  if (!e) return NULL;
  e->op = op;
  e->a = a;
  e->b = b;
  return e;
}

nst_ast_link *nst_build_link(nst_parser *p, nst_op op, nst_span op_span, nst_ast_expr *operand) {
  nst_ast_link *link = NST_NEW(p->arena, nst_ast_link);
  link->op = op;
  link->op_span = op_span;
  link->operand = operand;
  return link;
}

nst_ast_expr *nst_build_compare(nst_parser *p, nst_span span, nst_ast_expr *first, nst_ast_link_list links) {
  if (!first) return NULL;
  uint32_t below = first->depth;
  for (const nst_ast_link *l = links.head; l; l = l->next) {
    if (!l->operand) return NULL;
    below = deeper(below, l->operand);
  }
  nst_ast_expr *e = node(p, NST_AST_COMPARE, span, below);
  if (!e) return NULL;
  e->a = first;
  e->links = links.head;
  return e;
}

nst_ast_expr *nst_build_equal(nst_parser *p, nst_span span, nst_ast_expr *a, nst_span op, nst_ast_expr *b) {
  return nst_build_compare(p, span, a, nst_links_add((nst_ast_link_list){0}, nst_build_link(p, NST_OP_EQ, op, b)));
}

void nst_build_equal_hint(nst_parser *p, nst_span op) {
  nst_diag *m =
    nst_diag_add(p->diags, NST_D_ASSIGN_FOR_EQUAL, op, "`=` gives a value; two values are compared with `==`");
  nst_diag_fix(p->diags, m, op, "==");
}

nst_ast_expr *nst_build_if(nst_parser *p, nst_span span, nst_ast_expr *c, nst_ast_expr *a, nst_ast_expr *b) {
  nst_ast_expr *e = c && a && b ? node(p, NST_AST_IF, span, deeper(deeper(c->depth, a), b)) : NULL;
  if (!e) return NULL;
  e->a = c;
  e->b = a;
  e->c = b;
  return e;
}

/* ---- arguments and sets ---- */

nst_ast_arg *nst_build_arg(nst_parser *p, nst_span span, nst_ast_ident name, nst_ast_expr *value) {
  nst_ast_arg *arg = NST_NEW(p->arena, nst_ast_arg);
  arg->span = span;
  arg->name = name;
  arg->value = value;
  return arg;
}

static nst_ast_set *set_new(nst_parser *p, nst_set_kind kind, nst_span span) {
  nst_ast_set *set = NST_NEW(p->arena, nst_ast_set);
  set->kind = kind;
  set->span = span;
  return set;
}

nst_ast_set *nst_build_set_list(nst_parser *p, nst_span span, nst_ast_arg_list items) {
  nst_ast_set *set = set_new(p, NST_SET_LIST, span);
  set->items = items.head;
  return set;
}

nst_ast_set *nst_build_set_range(nst_parser *p, nst_span span, nst_ast_expr *a, nst_ast_expr *b, nst_ast_expr *step) {
  nst_ast_set *set = set_new(p, NST_SET_RANGE, span);
  set->a = a;
  set->b = b;
  set->step = step;
  return a && b ? set : NULL;
}

/* divisors(e) and pow2(a, b) are written as calls; any other expression is no set. */
nst_ast_set *nst_build_set_call(nst_parser *p, nst_span span, nst_ast_expr *call) {
  if (!call) return NULL;
  const char *name = call->kind == NST_AST_CALL && !call->object ? call->id.name : "";
  size_t n = 0;
  bool positional = true;
  nst_ast_expr *value[3] = {0};
  if (call->kind == NST_AST_CALL) {
    for (const nst_ast_arg *arg = call->args; arg; arg = arg->next, n++) {
      if (n < 3) value[n] = arg->value;
      if (arg->name.name) positional = false;
    }
  }
  if (strcmp(name, "range") == 0) {
    nst_diag *m = nst_diag_add(p->diags, NST_D_RANGE_CALL, span, "a range is written a .. b, both ends included");
    nst_span s[3];
    for (size_t i = 0; i < 3; i++) s[i] = value[i] ? value[i]->span : (nst_span){0};
    if (n == 1 && value[0]) {
      nst_diag_help(p->diags, m, "range(n) of other languages is 0 .. n - 1 here");
    } else if ((n == 2 || n == 3) && value[0] && value[1] && value[n - 1]) {
      nst_diag_help(p->diags, m, "mind the end: range(a, b) of other languages leaves b out");
      nst_diag_fix(p->diags, m, span,
                   nst_arena_printf(p->arena, "%.*s .. %.*s%s%.*s", (int)span_len(s[0]), text_at(p, s[0]),
                                    (int)span_len(s[1]), text_at(p, s[1]), n == 3 ? " step " : "",
                                    n == 3 ? (int)span_len(s[2]) : 0, n == 3 ? text_at(p, s[2]) : ""));
    }
    return NULL;
  }
  bool divisors = strcmp(name, "divisors") == 0, pow2 = strcmp(name, "pow2") == 0;
  if (divisors || pow2) {
    if (n != (divisors ? 1 : 2) || !positional) {
      nst_diag_add(p->diags, NST_D_SET_FORM, span,
                   divisors ? "`divisors` takes one number, as in divisors(M)"
                            : "`pow2` takes two numbers, as in pow2(1, 64)");
      return NULL;
    }
    nst_ast_set *set = set_new(p, divisors ? NST_SET_DIVISORS : NST_SET_POW2, span);
    set->a = value[0];
    set->b = value[1];
    return set->a && (divisors || set->b) ? set : NULL;
  }
  nst_diag *m = nst_diag_add(p->diags, NST_D_SET_FORM, span, "a set of values is expected after `in`");
  nst_diag_help(p->diags, m, "[1, 2, 4], a .. b, a .. b step s, divisors(e) or pow2(a, b)");
  if (call->kind == NST_AST_NUMBER || call->kind == NST_AST_NAME || call->kind == NST_AST_PAREN)
    nst_diag_fix(p->diags, m, span, nst_arena_printf(p->arena, "[%.*s]", (int)span_len(span), text_at(p, span)));
  return NULL;
}
