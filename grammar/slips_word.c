/* Slips with words: keywords that are misspelt, foreign, misplaced or taken for
 * names. A misspelt keyword is changed into the right token, and recovery goes
 * on there, so that what follows is still understood. */
#include "grammar/slip.h"
#include "grammar/words.h"

/* `for m by` at the end of a line takes the keyword that starts the next line for a name. */
bool nst_slip_swallowed_keyword(nst_slip *s) {
  if (s->at < 2 || !nst_slip_prev_is_name(s) || !nst_slip_first_on_line(s, s->at - 1) ||
      !nst_recover_starts_item(s->p, s->block, s->at - 1))
    return false;
  const nst_token *left = nst_slip_token(s, s->at - 2);
  if (!nst_word_starts_item(s->block, nst_slip_token(s, s->at - 1)->kind)) return false;
  if (left->kind == NST_TOK_NAME || left->kind == NST_TOK_NUMBER || left->kind == NST_TOK_QUANTITY ||
      left->kind == NST_TOK_STRING || left->kind == ')' || left->kind == ']' || left->kind == '}' ||
      left->kind == '{' || left->kind == ';')
    return false;
  nst_diag *m =
    nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at - 2), "nothing stands behind this `%.*s`",
                 nst_slip_length_of(s, s->at - 2), nst_slip_text_of(s, s->at - 2));
  nst_diag_label(s->p->diags, m, nst_slip_span_of(s, s->at - 1), "the next item starts here");
  if (s->at - 1 > s->p->resynced || s->p->resynced == NST_NONE) s->p->resume = s->at - 1;
  return true;
}

bool nst_slip_reserved_word(nst_slip *s) {
  if (!nst_token_is_reserved(s->t->kind)) return false;
  nst_diags *d = s->p->diags;
  if (nst_slip_expects(s, NST_TOK_NAME) && !nst_slip_expects_value(s)) {
    nst_diag *m = nst_diag_add(d, NST_D_RESERVED_WORD, nst_slip_span_of(s, s->at), "`%s` cannot be a name", s->t->name);
    nst_diag_help(d, m, "the reserved words are if, then, else, and, or, not, true, false and step");
    return true;
  }
  if ((s->t->kind == NST_TOK_IF || s->t->kind == NST_TOK_NOT) && nst_slip_expects_value(s)) {
    nst_diag *m = nst_diag_add(d, NST_D_IF_FORM, nst_slip_span_of(s, s->at),
                               "`%s` binds less tightly than the operator before it", s->t->name);
    nst_diag_help(
      d, m, s->t->kind == NST_TOK_IF ? "put it in brackets: (if … then … else …)" : "put it in brackets: (not …)");
    return true;
  }
  return false;
}

static const char *block_place(nst_block_kind block) {
  switch (block) {
  case NST_BLOCK_FILE: return "at the top of a file";
  case NST_BLOCK_WORKLOAD: return "in a workload";
  case NST_BLOCK_HARDWARE: return "in hardware";
  case NST_BLOCK_ATTRS: return "among attributes";
  case NST_BLOCK_MAPPING: return "in a mapping";
  case NST_BLOCK_SEQ: return "in a `seq`";
  case NST_BLOCK_TEST: return "in a test";
  case NST_BLOCK_MODEL: return "in a model";
  case NST_BLOCK_VERIFY: return "in a verify block";
  case NST_BLOCK_SWEEP: return "in a sweep";
  }
  return "";
}

/* The index of the word that should have been a keyword starting an item; NST_NONE without. */
static uint32_t item_word(const nst_slip *s) {
  const nst_token *prev = nst_slip_before(s, 1);
  switch (s->block) {
  case NST_BLOCK_FILE: return nst_slip_expects(s, NST_TOK_WORKLOAD) && nst_token_is_name(s->t->kind) ? s->at : NST_NONE;
  case NST_BLOCK_MAPPING:
    return nst_slip_expects(s, NST_TOK_PERMUTE) && nst_token_is_name(s->t->kind) ? s->at : NST_NONE;
  case NST_BLOCK_SEQ: return nst_slip_expects(s, NST_TOK_DO) && nst_token_is_name(s->t->kind) ? s->at : NST_NONE;
  case NST_BLOCK_TEST: return nst_slip_expects(s, NST_TOK_EXPECT) && nst_token_is_name(s->t->kind) ? s->at : NST_NONE;
  case NST_BLOCK_ATTRS: return NST_NONE;
  case NST_BLOCK_WORKLOAD:
  case NST_BLOCK_HARDWARE:
  case NST_BLOCK_MODEL:
  case NST_BLOCK_VERIFY:
  case NST_BLOCK_SWEEP: break;
  }
  int needs = s->block == NST_BLOCK_WORKLOAD ? '['
              : s->block == NST_BLOCK_VERIFY ? NST_TOK_EQ
              : s->block == NST_BLOCK_SWEEP  ? NST_TOK_IN
                                             : '=';
  bool item_start = prev && nst_token_is_name(prev->kind) && !nst_word_starts_item(s->block, prev->kind) &&
                    nst_slip_expects(s, needs) && !nst_slip_expects_operator(s) && !nst_slip_expects_value(s);
  bool after_keyword = s->at >= 2 && nst_slip_same_line(s, s->at - 2, s->at - 1) &&
                       nst_word_starts_item(s->block, nst_slip_token(s, s->at - 2)->kind);
  return item_start && !after_keyword ? s->at - 1 : NST_NONE;
}

bool nst_slip_keyword(nst_slip *s) {
  nst_parser *p = s->p;
  if (s->block == NST_BLOCK_SWEEP && s->t->kind == NST_TOK_IN && s->at + 1 < p->tokens.len &&
      nst_slip_token(s, s->at + 1)->kind == NST_TOK_IN) {
    nst_diag *m = nst_diag_add(p->diags, NST_D_SWEPT_KEYWORD, nst_slip_span_of(s, s->at),
                               "`in` cannot be the name of a swept parameter");
    nst_diag_help(p->diags, m, "rename the parameter of the mapping");
    return true;
  }
  uint32_t i = item_word(s);
  if (i == NST_NONE) return false;
  const nst_token *w = nst_slip_token(s, i);
  nst_word_hint hint = nst_word_for(p->interner, s->block, w->kind, w->name);
  if (hint.kind) {
    nst_diag *m = nst_diag_add(p->diags, hint.misspelt ? NST_D_MISSPELT_KEYWORD : NST_D_FOREIGN_KEYWORD,
                               nst_slip_span_of(s, i), "unknown keyword `%s` %s", w->name, block_place(s->block));
    if (hint.misspelt)
      nst_diag_help(p->diags, m, "did you mean `%s`", nst_token_text(hint.kind));
    else
      nst_diag_help(p->diags, m, "%s", hint.help);
    nst_diag_fix(p->diags, m, nst_slip_span_of(s, i), nst_token_text(hint.kind));
    p->tokens.items[i].kind = hint.kind;
    if (nst_recover_starts_item(p, s->block, i))
      p->resume = i;
    else
      p->tokens.items[i].kind = w->kind;
    return true;
  }
  if (hint.help) {
    nst_diag *m = nst_diag_add(p->diags, NST_D_MISPLACED_WORD, nst_slip_span_of(s, i), "`%s` cannot stand %s", w->name,
                               block_place(s->block));
    nst_diag_help(p->diags, m, "%s", hint.help);
    if (s->block == NST_BLOCK_FILE && p->early != NST_NONE)
      nst_diag_label(p->diags, m, nst_slip_span_of(s, p->early), "was the block meant to end here");
    return true;
  }
  return false;
}
