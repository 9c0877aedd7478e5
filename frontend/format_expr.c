/* Values and the small parts of items as atoms: which words, with which spaces.
 * Brackets are in the tree, so precedence plays no part. */
#include "frontend/format_walk.h"

#include "frontend/ast_print.h"
#include <string.h>

void nst_walk_word(nst_walk *w, const char *text, uint32_t offset, int how) {
  nst_fmt_add(&w->f, text, strlen(text), offset, how);
}
void nst_walk_ident(nst_walk *w, nst_ast_ident id, int how) {
  if (id.name) nst_walk_word(w, id.name, id.span.begin, how);
}
void nst_walk_verbatim(nst_walk *w, nst_span span, int how) {
  nst_fmt_add(&w->f, w->f.source->text + span.begin, span.end - span.begin, span.begin, how);
}

/* ---- expressions ---- */

void nst_walk_args(nst_walk *w, const nst_ast_arg *arg, int how) {
  for (; arg; arg = arg->next) {
    if (arg->name.name) {
      nst_walk_ident(w, arg->name, how);
      nst_walk_word(w, "=", 0, NST_FMT_SPACE);
      nst_walk_expr(w, arg->value, NST_FMT_SPACE);
    } else if (arg->value) {
      nst_walk_expr(w, arg->value, how);
    } else {
      nst_walk_word(w, "_", arg->span.begin, how);
    }
    if (arg->next) nst_walk_word(w, ",", 0, NST_FMT_GLUE);
    how = NST_FMT_BREAK;
  }
}

void nst_walk_bracketed(nst_walk *w, const char *open, const nst_ast_arg *list, const char *shut, int how) {
  nst_walk_word(w, open, 0, how);
  nst_walk_args(w, list, NST_FMT_GLUE);
  nst_walk_word(w, shut, 0, NST_FMT_GLUE);
}

static void quantity(nst_walk *w, const nst_ast_expr *e, int how) {
  uint32_t end = e->unit.span.begin;
  const char *text = w->f.source->text;
  while (end > e->span.begin && text[end - 1] == ' ') end--;
  const char *both =
    nst_arena_printf(w->f.arena, "%.*s %s", (int)(end - e->span.begin), text + e->span.begin, e->unit.name);
  nst_fmt_add_as(&w->f, both, strlen(both), e->span, how);
}

static void binary(nst_walk *w, const nst_ast_expr *e, int how) {
  bool product = e->op == NST_OP_MUL || e->op == NST_OP_DIV || e->op == NST_OP_FLOORDIV || e->op == NST_OP_MOD;
  bool tight = e->op == NST_OP_POW || (product && w->ranks);
  nst_walk_expr(w, e->a, how);
  nst_walk_word(w, nst_op_text(e->op), 0, tight ? NST_FMT_GLUE : NST_FMT_BREAK);
  nst_walk_expr(w, e->b, tight ? NST_FMT_GLUE : NST_FMT_SPACE);
}

void nst_walk_expr(nst_walk *w, const nst_ast_expr *e, int how) {
  if (!e) return;
  switch (e->kind) {
  case NST_AST_NUMBER:
  case NST_AST_BOOL: nst_walk_verbatim(w, e->span, how); return;
  case NST_AST_QUANTITY: quantity(w, e, how); return;
  case NST_AST_NAME: nst_walk_ident(w, e->id, how); return;
  case NST_AST_MEMBER:
    nst_walk_expr(w, e->object, how);
    nst_walk_word(w, ".", 0, NST_FMT_GLUE);
    nst_walk_ident(w, e->id, NST_FMT_GLUE);
    return;
  case NST_AST_CALL:
    nst_walk_expr(w, e->object, how);
    if (e->object) nst_walk_word(w, ".", 0, NST_FMT_GLUE);
    nst_walk_ident(w, e->id, e->object ? NST_FMT_GLUE : how);
    nst_walk_bracketed(w, "(", e->args, ")", NST_FMT_GLUE);
    return;
  case NST_AST_ACCESS: {
    bool ranks = w->ranks;
    nst_walk_ident(w, e->id, how);
    w->ranks = true;
    nst_walk_bracketed(w, "[", e->args, "]", NST_FMT_GLUE);
    w->ranks = ranks;
    return;
  }
  case NST_AST_UNARY:
    nst_walk_word(w, nst_op_text(e->op), e->span.begin, how);
    nst_walk_expr(w, e->a, e->op == NST_OP_NOT ? NST_FMT_SPACE : NST_FMT_GLUE);
    return;
  case NST_AST_BINARY: binary(w, e, how); return;
  case NST_AST_COMPARE:
    nst_walk_expr(w, e->a, how);
    for (const nst_ast_link *l = e->links; l; l = l->next) {
      nst_walk_word(w, nst_op_text(l->op), l->op_span.begin, NST_FMT_BREAK);
      nst_walk_expr(w, l->operand, NST_FMT_SPACE);
    }
    return;
  case NST_AST_IF:
    nst_walk_word(w, "if", e->span.begin, how);
    nst_walk_expr(w, e->a, NST_FMT_SPACE);
    nst_walk_word(w, "then", 0, NST_FMT_BREAK);
    nst_walk_expr(w, e->b, NST_FMT_SPACE);
    nst_walk_word(w, "else", 0, NST_FMT_BREAK);
    nst_walk_expr(w, e->c, NST_FMT_SPACE);
    return;
  case NST_AST_SUM:
    nst_walk_word(w, "sum", e->span.begin, how);
    nst_walk_word(w, "(", 0, NST_FMT_GLUE);
    nst_walk_expr(w, e->a, NST_FMT_GLUE);
    nst_walk_word(w, "for", 0, NST_FMT_BREAK);
    nst_walk_ident(w, e->id, NST_FMT_SPACE);
    nst_walk_word(w, "in", 0, NST_FMT_SPACE);
    nst_walk_expr(w, e->b, NST_FMT_SPACE);
    nst_walk_word(w, "..", 0, NST_FMT_SPACE);
    nst_walk_expr(w, e->c, NST_FMT_SPACE);
    nst_walk_word(w, ")", 0, NST_FMT_GLUE);
    return;
  case NST_AST_PAREN:
    nst_walk_word(w, "(", e->span.begin, how);
    nst_walk_expr(w, e->a, NST_FMT_GLUE);
    nst_walk_word(w, ")", 0, NST_FMT_GLUE);
    return;
  }
}

/* ---- parts ---- */

void nst_walk_params(nst_walk *w, const nst_ast_param *param, int how) {
  for (; param; param = param->next) {
    nst_walk_ident(w, param->id, how);
    if (param->value) nst_walk_word(w, "=", 0, NST_FMT_SPACE);
    nst_walk_expr(w, param->value, NST_FMT_SPACE);
    if (param->next) nst_walk_word(w, ",", 0, NST_FMT_GLUE);
    how = NST_FMT_BREAK;
  }
}

void nst_walk_idents(nst_walk *w, const nst_ast_idents *list, int how) {
  for (; list; list = list->next) {
    nst_walk_ident(w, list->id, how);
    if (list->next) nst_walk_word(w, ",", 0, NST_FMT_GLUE);
    how = NST_FMT_BREAK;
  }
}

void nst_walk_ref(nst_walk *w, const nst_ast_ref *r) {
  nst_walk_ident(w, r->module, NST_FMT_SPACE);
  if (r->module.name) nst_walk_word(w, ".", 0, NST_FMT_GLUE);
  nst_walk_ident(w, r->id, r->module.name ? NST_FMT_GLUE : NST_FMT_SPACE);
  if (r->has_args) nst_walk_bracketed(w, "(", r->args, ")", NST_FMT_GLUE);
}

void nst_walk_set(nst_walk *w, const nst_ast_set *s) {
  if (!s) return;
  switch (s->kind) {
  case NST_SET_LIST: nst_walk_bracketed(w, "[", s->items, "]", NST_FMT_SPACE); return;
  case NST_SET_RANGE:
    nst_walk_expr(w, s->a, NST_FMT_SPACE);
    nst_walk_word(w, "..", 0, NST_FMT_SPACE);
    nst_walk_expr(w, s->b, NST_FMT_SPACE);
    if (s->step) nst_walk_word(w, "step", 0, NST_FMT_SPACE);
    nst_walk_expr(w, s->step, NST_FMT_SPACE);
    return;
  case NST_SET_DIVISORS:
  case NST_SET_POW2:
    nst_walk_word(w, s->kind == NST_SET_POW2 ? "pow2" : "divisors", s->span.begin, NST_FMT_SPACE);
    nst_walk_word(w, "(", 0, NST_FMT_GLUE);
    nst_walk_expr(w, s->a, NST_FMT_GLUE);
    if (s->b) nst_walk_word(w, ",", 0, NST_FMT_GLUE);
    nst_walk_expr(w, s->b, NST_FMT_BREAK);
    nst_walk_word(w, ")", 0, NST_FMT_GLUE);
    return;
  }
}
