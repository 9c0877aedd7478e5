/* Slips with braces, brackets and commas. A brace that is missing is found by
 * where the lines begin: a declaration at the start of a line cannot be inside
 * a block, nor can an item of the outer block at the outer block's indent. */
#include "grammar/slip.h"

bool nst_slip_missing_close_brace(nst_slip *s) {
  nst_parser *p = s->p;
  if (!p->blocks.len) return false;
  const nst_block *b = &p->blocks.items[p->blocks.len - 1];
  uint32_t first = s->t->line_first, go_on = s->at, closes = (uint32_t)p->blocks.len;
  if (s->t->kind != NST_TOK_END) {
    if (first <= b->open) return false;
    if (nst_recover_starts_decl(p, first) && !nst_recover_starts_item(p, s->block, first)) {
      go_on = first;
    } else {
      const nst_token *open = nst_slip_token(s, b->open);
      if (p->blocks.len < 2 || b->missing || nst_slip_token(s, first)->indent > open->indent) return false;
      nst_block_kind outer = p->blocks.items[p->blocks.len - 2].kind;
      if (!nst_recover_starts_item(p, outer, first) || nst_recover_starts_item(p, s->block, first)) return false;
      go_on = first;
      closes = 1;
    }
  }
  uint32_t open = p->suspect != NST_NONE && p->suspect > b->open ? p->suspect : b->open;
  p->resume = go_on;
  p->injected = closes;
  if (b->missing) return true;
  nst_diag *m =
    nst_diag_add(p->diags, NST_D_MISSING_CLOSE_BRACE, nst_slip_span_of(s, open), "this `{` is never closed");
  if (go_on > 0)
    nst_diag_label(p->diags, m, s->t->kind == NST_TOK_END ? nst_slip_behind(s, go_on - 1) : nst_slip_span_of(s, go_on),
                   s->t->kind == NST_TOK_END ? "the file ends here" : "a `}` is expected before this");
  if (open == b->open && go_on > 0) nst_diag_fix(p->diags, m, nst_slip_behind(s, go_on - 1), " }");
  return true;
}

/* The innermost ( or [ that is open at the token, within its block; NST_NONE without. */
static uint32_t open_bracket(const nst_slip *s) {
  int round = 0, square = 0;
  for (uint32_t i = s->at; i-- > 0 && s->at - i < 10000;) {
    switch (nst_slip_token(s, i)->kind) {
    case ')': round++; break;
    case ']': square++; break;
    case '(':
      if (round-- == 0) return i;
      break;
    case '[':
      if (square-- == 0) return i;
      break;
    case '{':
    case '}': return NST_NONE;
    }
  }
  return NST_NONE;
}

/* Is the unexpected token one that shows a bracket before it to be unclosed? */
static bool closes_early(const nst_slip *s, int kind, int open) {
  if (kind == '{' || kind == '}' || kind == ')' || kind == ']' || kind == NST_TOK_END ||
      nst_slip_first_on_line(s, s->at))
    return true;
  if (open == '[' && (kind == '=' || kind == NST_TOK_ADD_ASSIGN)) return true;
  return kind == ',' && !nst_slip_expects(s, ',');
}

bool nst_slip_bracket(nst_slip *s) {
  nst_parser *p = s->p;
  int kind = s->t->kind;
  uint32_t open = open_bracket(s);
  bool wants = nst_slip_expects(s, ')') || nst_slip_expects(s, ']');
  if (kind == '}' && !p->blocks.len) {
    if (!nst_slip_expects(s, NST_TOK_WORKLOAD)) return false;
    nst_diag *m = nst_diag_add(p->diags, NST_D_STRAY_CLOSE, nst_slip_span_of(s, s->at), "this `}` closes nothing");
    if (p->early != NST_NONE)
      nst_diag_label(p->diags, m, nst_slip_span_of(s, p->early), "the block was closed here already");
    return true;
  }
  if (open != NST_NONE && wants && closes_early(s, kind, nst_slip_token(s, open)->kind)) {
    char right = nst_slip_token(s, open)->kind == '(' ? ')' : ']';
    if ((kind == ')' || kind == ']') && kind != right) {
      nst_diag *m = nst_diag_add(p->diags, NST_D_STRAY_CLOSE, nst_slip_span_of(s, s->at),
                                 "this `%c` cannot close a `%c`", kind, nst_slip_token(s, open)->kind);
      nst_diag_label(p->diags, m, nst_slip_span_of(s, open), "opened here");
      nst_diag_fix(p->diags, m, nst_slip_span_of(s, s->at), right == ')' ? ")" : "]");
      return true;
    }
    nst_diag *m = nst_diag_add(p->diags, NST_D_UNCLOSED_BRACKET, nst_slip_span_of(s, open), "this `%c` is never closed",
                               nst_slip_token(s, open)->kind);
    nst_diag_label(p->diags, m, nst_slip_span_of(s, s->at), "a `%c` is expected before this", right);
    nst_diag_fix(p->diags, m, nst_slip_behind(s, s->at - 1), right == ')' ? ")" : "]");
    return true;
  }
  if ((kind == ')' || kind == ']') && open == NST_NONE) {
    nst_diag *m =
      nst_diag_add(p->diags, NST_D_STRAY_CLOSE, nst_slip_span_of(s, s->at), "this `%c` closes nothing", kind);
    nst_diag_fix(p->diags, m, nst_slip_span_of(s, s->at), "");
    return true;
  }
  return false;
}

bool nst_slip_trailing_comma(nst_slip *s) {
  int kind = s->t->kind;
  uint32_t comma = s->at - 1;
  if (s->at >= 2 && nst_slip_prev_is(s, NST_TOK_IN) && nst_slip_token(s, s->at - 2)->kind == ',')
    comma = s->at - 2; /* keep A, in L */
  else if (!nst_slip_prev_is(s, ',') || (kind != ')' && kind != ']'))
    return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_COMMA, nst_slip_span_of(s, comma), "a comma with nothing behind it");
  nst_diag_fix(s->p->diags, m, nst_slip_span_of(s, comma), "");
  return true;
}

/* keep in L */
static bool keeps_nothing(nst_slip *s) {
  if (s->at < 2 || !nst_slip_prev_is(s, NST_TOK_IN) || nst_slip_token(s, s->at - 2)->kind != NST_TOK_KEEP) return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at - 1), "this keep names no tensor");
  nst_diag_help(s->p->diags, m, "name the tensors before `in`, or write `all`");
  nst_diag_fix(s->p->diags, m, nst_slip_behind(s, s->at - 2), " all");
  return true;
}

bool nst_slip_missing_comma(nst_slip *s) {
  if (!nst_token_is_name(s->t->kind) || !nst_slip_prev_is_name(s) || !nst_slip_expects(s, ',') ||
      nst_slip_expects_operator(s))
    return false;
  if (nst_slip_first_on_line(s, s->at) || nst_slip_expects(s, NST_TOK_DIM)) return false;
  if (keeps_nothing(s)) return true;
  nst_diag *m =
    nst_diag_add(s->p->diags, NST_D_COMMA, nst_slip_span_of(s, s->at), "a comma is missing between `%s` and `%s`",
                 nst_slip_token(s, s->at - 1)->name, s->t->name);
  nst_diag_fix(s->p->diags, m, nst_slip_behind(s, s->at - 1), ",");
  return true;
}
