/* What to say about an unexpected token.
 *
 * The likely slips are tried in turn, each a function that reports and returns
 * true; the last resort lists what was expected. A slip with one plain repair
 * also chooses where recovery goes on: behind a missing brace, or at a misspelt
 * keyword read as the right one. A token next to a mistake of the scanner is
 * passed over in silence. */
#include "grammar/state.h"

#include "grammar/parser.h"
#include "grammar/words.h"
#include <string.h>

typedef struct {
  nst_parser *p;
  uint32_t at; /* the unexpected token */
  const nst_token *t;
  const int *expected;
  int n;
  nst_block_kind block;
} slip;

static const nst_token *token(const slip *s, uint32_t i) { return &s->p->tokens.items[i]; }
static nst_span span_of(const slip *s, uint32_t i) { return nst_token_span_of(s->p, i); }
static bool first_on_line(const slip *s, uint32_t i) { return token(s, i)->line_first == i; }
static const nst_token *before(const slip *s, uint32_t n) { return s->at >= n ? token(s, s->at - n) : NULL; }
static bool same_line(const slip *s, uint32_t i, uint32_t j) { return token(s, i)->line_first == token(s, j)->line_first; }
static const char *text_of(const slip *s, uint32_t i) { return s->p->source->text + token(s, i)->begin; }
static int length_of(const slip *s, uint32_t i) { return (int)(token(s, i)->end - token(s, i)->begin); }

static bool expects(const slip *s, int kind) {
  for (int i = 0; i < s->n; i++)
    if (s->expected[i] == kind) return true;
  return false;
}
static bool expects_operator(const slip *s) { return expects(s, '*') && expects(s, '+'); }
static bool expects_value(const slip *s) { return expects(s, NST_TOK_NUMBER); }
static bool prev_is(const slip *s, int kind) { return s->at > 0 && token(s, s->at - 1)->kind == kind; }
static bool prev_is_name(const slip *s) { return s->at > 0 && nst_token_is_name(token(s, s->at - 1)->kind); }

static nst_span behind(const slip *s, uint32_t i) { return nst_parse_span(s->p, token(s, i)->end, token(s, i)->end); }

void nst_message_too_deep(nst_parser *p, nst_span span) {
  if (p->deep_reported) return;
  p->deep_reported = true;
  if (span.end - span.begin > 1) span.end = span.begin + 1;
  nst_diag *m = nst_diag_add(p->diags, NST_D_TOO_DEEP, span, "nesting too deep");
  nst_diag_help(p->diags, m, "name parts of it with `let`, or write fewer brackets; an expression may be %d levels deep", NST_AST_MAX_DEPTH);
}

/* ---- braces and brackets ---- */

static bool missing_close_brace(slip *s) {
  nst_parser *p = s->p;
  if (!p->blocks.len) return false;
  const nst_block *b = &p->blocks.items[p->blocks.len - 1];
  uint32_t first = s->t->line_first, go_on = s->at, closes = (uint32_t)p->blocks.len;
  if (s->t->kind != NST_TOK_END) {
    if (first <= b->open) return false;
    if (nst_recover_starts_decl(p, first) && !nst_recover_starts_item(p, s->block, first)) {
      go_on = first;
    } else {
      const nst_token *open = token(s, b->open);
      if (p->blocks.len < 2 || b->missing || token(s, first)->indent > open->indent) return false;
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
  nst_diag *m = nst_diag_add(p->diags, NST_D_MISSING_CLOSE_BRACE, span_of(s, open), "this `{` is never closed");
  if (go_on > 0) nst_diag_label(p->diags, m, s->t->kind == NST_TOK_END ? behind(s, go_on - 1) : span_of(s, go_on),
                                s->t->kind == NST_TOK_END ? "the file ends here" : "a `}` is expected before this");
  if (open == b->open && go_on > 0) nst_diag_fix(p->diags, m, behind(s, go_on - 1), " }");
  return true;
}

/* The innermost ( or [ that is open at the token, within its block; NST_NONE without. */
static uint32_t open_bracket(const slip *s) {
  int round = 0, square = 0;
  for (uint32_t i = s->at; i-- > 0 && s->at - i < 10000;) {
    switch (token(s, i)->kind) {
      case ')': round++; break;
      case ']': square++; break;
      case '(': if (round-- == 0) return i; break;
      case '[': if (square-- == 0) return i; break;
      case '{': case '}': return NST_NONE;
    }
  }
  return NST_NONE;
}

/* Is the unexpected token one that shows a bracket before it to be unclosed? */
static bool closes_early(const slip *s, int kind, int open) {
  if (kind == '{' || kind == '}' || kind == ')' || kind == ']' || kind == NST_TOK_END || first_on_line(s, s->at)) return true;
  if (open == '[' && (kind == '=' || kind == NST_TOK_ADD_ASSIGN)) return true;
  return kind == ',' && !expects(s, ',');
}

static bool bracket(slip *s) {
  nst_parser *p = s->p;
  int kind = s->t->kind;
  uint32_t open = open_bracket(s);
  bool wants = expects(s, ')') || expects(s, ']');
  if (kind == '}' && !p->blocks.len) {
    if (!expects(s, NST_TOK_WORKLOAD)) return false;
    nst_diag *m = nst_diag_add(p->diags, NST_D_STRAY_CLOSE, span_of(s, s->at), "this `}` closes nothing");
    if (p->early != NST_NONE) nst_diag_label(p->diags, m, span_of(s, p->early), "the block was closed here already");
    return true;
  }
  if (open != NST_NONE && wants && closes_early(s, kind, token(s, open)->kind)) {
    char right = token(s, open)->kind == '(' ? ')' : ']';
    if ((kind == ')' || kind == ']') && kind != right) {
      nst_diag *m = nst_diag_add(p->diags, NST_D_STRAY_CLOSE, span_of(s, s->at), "this `%c` cannot close a `%c`", kind, token(s, open)->kind);
      nst_diag_label(p->diags, m, span_of(s, open), "opened here");
      nst_diag_fix(p->diags, m, span_of(s, s->at), right == ')' ? ")" : "]");
      return true;
    }
    nst_diag *m = nst_diag_add(p->diags, NST_D_UNCLOSED_BRACKET, span_of(s, open), "this `%c` is never closed", token(s, open)->kind);
    nst_diag_label(p->diags, m, span_of(s, s->at), "a `%c` is expected before this", right);
    nst_diag_fix(p->diags, m, behind(s, s->at - 1), right == ')' ? ")" : "]");
    return true;
  }
  if ((kind == ')' || kind == ']') && open == NST_NONE) {
    nst_diag *m = nst_diag_add(p->diags, NST_D_STRAY_CLOSE, span_of(s, s->at), "this `%c` closes nothing", kind);
    nst_diag_fix(p->diags, m, span_of(s, s->at), "");
    return true;
  }
  return false;
}

static bool trailing_comma(slip *s) {
  int kind = s->t->kind;
  uint32_t comma = s->at - 1;
  if (s->at >= 2 && prev_is(s, NST_TOK_IN) && token(s, s->at - 2)->kind == ',') comma = s->at - 2; /* keep A, in L */
  else if (!prev_is(s, ',') || (kind != ')' && kind != ']')) return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_COMMA, span_of(s, comma), "a comma with nothing behind it");
  nst_diag_fix(s->p->diags, m, span_of(s, comma), "");
  return true;
}

static bool missing_comma(slip *s) {
  if (!nst_token_is_name(s->t->kind) || !prev_is_name(s) || !expects(s, ',') || expects_operator(s)) return false;
  if (first_on_line(s, s->at) || expects(s, NST_TOK_DIM)) return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_COMMA, span_of(s, s->at), "a comma is missing between `%s` and `%s`",
                             token(s, s->at - 1)->name, s->t->name);
  nst_diag_fix(s->p->diags, m, behind(s, s->at - 1), ",");
  return true;
}

/* ---- operators, units, comments ---- */

static bool wordlike(const slip *s, uint32_t i) {
  int kind = token(s, i)->kind;
  return nst_token_is_name(kind) || nst_token_is_reserved(kind) || kind == NST_TOK_NUMBER;
}

/* `//` is division; two words in a row behind it are prose. */
static bool comment_style(slip *s) {
  uint32_t slashes = NST_NONE;
  for (uint32_t line = 0; line < 2 && slashes == NST_NONE && s->at >= line; line++) {
    uint32_t from = s->at - line;
    for (uint32_t i = from + 1; i-- > token(s, from)->line_first;) {
      if (token(s, i)->kind == NST_TOK_FLOORDIV) slashes = i;
    }
  }
  if (slashes == NST_NONE) return false;
  if (slashes != s->at) {
    uint32_t last = (uint32_t)s->p->tokens.len - 1;
    if (slashes + 2 >= last || !wordlike(s, slashes + 1) || !wordlike(s, slashes + 2) || !same_line(s, slashes, slashes + 2)) return false;
  }
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_COMMENT_STYLE, span_of(s, slashes), "comments start with `#`");
  nst_diag_help(s->p->diags, m, "`//` divides and rounds down");
  nst_diag_fix(s->p->diags, m, span_of(s, slashes), "#");
  uint32_t next = slashes;
  while (next + 1 < s->p->tokens.len && token(s, next)->line_first <= slashes) next++;
  if (next >= s->at || !same_line(s, next, s->at)) s->p->resume = next;
  return true;
}

static bool assign_for_equal(slip *s) {
  if (s->t->kind != '=' || !expects(s, NST_TOK_EQ)) return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_ASSIGN_FOR_EQUAL, span_of(s, s->at), "`=` gives a value; two values are compared with `==`");
  nst_diag_fix(s->p->diags, m, span_of(s, s->at), "==");
  return true;
}

/* C = A B: the second value was taken for the next statement, and that goes wrong. */
static bool missing_operator(slip *s) {
  if (s->block != NST_BLOCK_WORKLOAD || !expects(s, NST_TOK_ADD_ASSIGN) || !prev_is(s, ']')) return false;
  uint32_t i = s->at - 1;
  for (int depth = 0; i > 0; i--) {
    int kind = token(s, i)->kind;
    if (kind == ']') depth++;
    if (kind == '[' && --depth == 0) break;
  }
  if (i < 2 || !same_line(s, i - 2, i - 1)) return false;
  nst_diag_add(s->p->diags, NST_D_SYNTAX, span_of(s, i - 1), "expected an operator before this value");
  return true;
}

/* CAP KiB for CAP * 1 KiB, and a unit too far from its number. The unit may have been taken for
 * the name of the next item, and what came behind it is unexpected. */
static bool lone_unit(slip *s) {
  uint32_t k = s->at;
  if (nst_token_is_name(s->t->kind) && expects_operator(s)) {
  } else if (s->at >= 2 && prev_is_name(s) && !expects_operator(s) && !expects_value(s)) {
    k = s->at - 1;
  } else {
    return false;
  }
  if (k == 0 || !nst_scan_is_unit(text_of(s, k), (size_t)length_of(s, k))) return false;
  int prev = token(s, k - 1)->kind, len = length_of(s, k);
  if (k + 2 < s->p->tokens.len) { /* B/cycle */
    int longer = (int)(token(s, k + 2)->end - token(s, k)->begin);
    if (nst_scan_is_unit(text_of(s, k), (size_t)longer)) len = longer;
  }
  nst_span span = nst_parse_span(s->p, token(s, k)->begin, token(s, k)->begin + (uint32_t)len);
  nst_diags *d = s->p->diags;
  if (prev == NST_TOK_NUMBER) {
    nst_diag *m = nst_diag_add(d, NST_D_LONE_UNIT, span, "the unit `%.*s` is too far from its number", len, text_of(s, k));
    nst_diag_help(d, m, "at most one space stands between them, on the same line");
    nst_diag_fix(d, m, nst_parse_span(s->p, token(s, k - 1)->end, token(s, k)->begin), " ");
  } else if ((nst_token_is_name(prev) || prev == ')') && same_line(s, k - 1, k)) {
    nst_diag *m = nst_diag_add(d, NST_D_LONE_UNIT, span, "a unit stands behind a number, not behind a name or a bracket");
    nst_diag_help(d, m, "multiply: %.*s * 1 %.*s", prev == ')' ? 5 : length_of(s, k - 1), prev == ')' ? "(…)" : text_of(s, k - 1), len,
                  text_of(s, k));
    nst_diag_fix(d, m, nst_parse_span(s->p, token(s, k - 1)->end, token(s, k)->begin), " * 1 ");
  } else {
    return false;
  }
  return true;
}

/* `a in 1 .. 4 b in …`: the name b was read as a unit. */
static bool name_read_as_unit(slip *s) {
  if (!prev_is(s, NST_TOK_QUANTITY) || !expects_operator(s)) return false;
  if (s->t->kind != '=' && s->t->kind != '[' && s->t->kind != NST_TOK_IN) return false;
  uint32_t k = s->at - 1, end = token(s, k)->end, begin = end;
  const char *text = s->p->source->text;
  while (text[begin - 1] != ' ' && (text[begin - 1] < '0' || text[begin - 1] > '9')) begin--;
  if (text[begin - 1] != ' ') return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_NUMBER_GLUED, span_of(s, k), "`%.*s` is read as one quantity", length_of(s, k), text_of(s, k));
  nst_diag_help(s->p->diags, m, "to begin the next item with `%.*s`, put a line end or a second space before it", (int)(end - begin), text + begin);
  nst_diag_fix(s->p->diags, m, nst_parse_span(s->p, begin, begin), " ");
  return true;
}

static bool missing_times(slip *s) {
  const nst_token *prev = before(s, 1);
  if (!prev || prev->kind != NST_TOK_NUMBER || !expects_operator(s) || !same_line(s, s->at - 1, s->at)) return false;
  if (s->t->kind != NST_TOK_NAME && s->t->kind != '(') return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_NUMBER_GLUED, span_of(s, s->at), "a number and %s side by side",
                             s->t->kind == '(' ? "a bracket" : "a name");
  nst_diag_help(s->p->diags, m, "for a product write %.*s*%.*s", length_of(s, s->at - 1), text_of(s, s->at - 1),
                s->t->kind == '(' ? 5 : length_of(s, s->at), s->t->kind == '(' ? "(…)" : text_of(s, s->at));
  nst_diag_fix(s->p->diags, m, nst_parse_span(s->p, prev->end, s->t->begin), "*");
  return true;
}

static bool number_form(slip *s) {
  const nst_token *prev = before(s, 1);
  if (s->t->kind == '.' && expects_value(s) && s->at + 2 < s->p->tokens.len) {
    const nst_token *next = token(s, s->at + 1);
    if (next->begin != s->t->end || (next->kind != NST_TOK_NUMBER && next->kind != NST_TOK_QUANTITY)) return false;
    nst_span all = nst_span_join(span_of(s, s->at), span_of(s, s->at + 1));
    nst_diag *m = nst_diag_add(s->p->diags, NST_D_BAD_NUMBER, all, "a number with nothing before its point");
    nst_diag_fix(s->p->diags, m, nst_parse_span(s->p, all.begin, all.begin), "0");
    return true;
  }
  if (prev && prev->kind == '.' && s->at >= 2 && token(s, s->at - 2)->kind == NST_TOK_NUMBER && prev->begin == token(s, s->at - 2)->end) {
    nst_diag_add(s->p->diags, NST_D_BAD_NUMBER, nst_span_join(span_of(s, s->at - 2), span_of(s, s->at)), "a number with a second point");
    return true;
  }
  return false;
}

/* ---- words ---- */

/* `for m by` at the end of a line takes the keyword that starts the next line for a name. */
static bool swallowed_keyword(slip *s) {
  if (s->at < 2 || !prev_is_name(s) || !first_on_line(s, s->at - 1) || !nst_recover_starts_item(s->p, s->block, s->at - 1)) return false;
  const nst_token *left = token(s, s->at - 2);
  if (!nst_word_starts_item(s->block, token(s, s->at - 1)->kind)) return false;
  if (left->kind == NST_TOK_NAME || left->kind == NST_TOK_NUMBER || left->kind == NST_TOK_QUANTITY || left->kind == NST_TOK_STRING ||
      left->kind == ')' || left->kind == ']' || left->kind == '}' || left->kind == '{' || left->kind == ';') return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_SYNTAX, span_of(s, s->at - 2), "nothing stands behind this `%.*s`", length_of(s, s->at - 2),
                             text_of(s, s->at - 2));
  nst_diag_label(s->p->diags, m, span_of(s, s->at - 1), "the next item starts here");
  if (s->at - 1 > s->p->resynced || s->p->resynced == NST_NONE) s->p->resume = s->at - 1;
  return true;
}

/* A line that ends where a value or a name should come. */
static bool nothing_behind(slip *s) {
  if (!first_on_line(s, s->at) || s->at == 0 || !(expects_value(s) || expects(s, NST_TOK_NAME)) || expects(s, '}')) return false;
  if (prev_is(s, '(') || prev_is(s, '[')) return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_SYNTAX, span_of(s, s->at - 1), "nothing stands behind this `%.*s`", length_of(s, s->at - 1),
                             text_of(s, s->at - 1));
  nst_diag_help(s->p->diags, m, expects_value(s) ? "a value is expected" : "a name is expected");
  return true;
}

static bool set_in_braces(slip *s) {
  if (s->t->kind != '{' || !prev_is(s, NST_TOK_IN) || !expects_value(s)) return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_SET_FORM, span_of(s, s->at), "a set of values stands in square brackets");
  nst_diag_help(s->p->diags, m, "as in [1, 2, 4]");
  return true;
}

static bool loop_over_range(slip *s) {
  if (s->t->kind != NST_TOK_IN || s->at < 2 || token(s, s->at - 2)->kind != NST_TOK_FOR || s->block != NST_BLOCK_MAPPING) return false;
  const char *dim = token(s, s->at - 1)->name;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_RANGE_CALL, span_of(s, s->at), "a loop runs over the whole of its dimension");
  nst_diag_help(s->p->diags, m, "write `for %s by T` for tiles of T, `for %s into N` for N tiles, or `for %s`", dim, dim, dim);
  return true;
}

static bool reserved_word(slip *s) {
  if (!nst_token_is_reserved(s->t->kind)) return false;
  nst_diags *d = s->p->diags;
  if (expects(s, NST_TOK_NAME) && !expects_value(s)) {
    nst_diag *m = nst_diag_add(d, NST_D_RESERVED_WORD, span_of(s, s->at), "`%s` cannot be a name", s->t->name);
    nst_diag_help(d, m, "the reserved words are if, then, else, and, or, not, true, false and step");
    return true;
  }
  if ((s->t->kind == NST_TOK_IF || s->t->kind == NST_TOK_NOT) && expects_value(s)) {
    nst_diag *m = nst_diag_add(d, NST_D_IF_FORM, span_of(s, s->at), "`%s` binds less tightly than the operator before it", s->t->name);
    nst_diag_help(d, m, s->t->kind == NST_TOK_IF ? "put it in brackets: (if … then … else …)" : "put it in brackets: (not …)");
    return true;
  }
  return false;
}

static bool if_without_else(slip *s) {
  if (!expects(s, NST_TOK_ELSE)) return false;
  uint32_t i = s->at;
  while (i > 0 && token(s, i)->kind != NST_TOK_IF) i--;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_IF_FORM, span_of(s, i), "this `if` has no `else`");
  nst_diag_label(s->p->diags, m, span_of(s, s->at), "`else` is expected before this");
  nst_diag_help(s->p->diags, m, "an `if` is a value and needs both branches: if c then a else b");
  return true;
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
static uint32_t item_word(const slip *s) {
  const nst_token *prev = before(s, 1);
  switch (s->block) {
    case NST_BLOCK_FILE: return expects(s, NST_TOK_WORKLOAD) && nst_token_is_name(s->t->kind) ? s->at : NST_NONE;
    case NST_BLOCK_MAPPING: return expects(s, NST_TOK_PERMUTE) && nst_token_is_name(s->t->kind) ? s->at : NST_NONE;
    case NST_BLOCK_SEQ: return expects(s, NST_TOK_DO) && nst_token_is_name(s->t->kind) ? s->at : NST_NONE;
    case NST_BLOCK_TEST: return expects(s, NST_TOK_EXPECT) && nst_token_is_name(s->t->kind) ? s->at : NST_NONE;
    case NST_BLOCK_ATTRS: return NST_NONE;
    case NST_BLOCK_WORKLOAD: case NST_BLOCK_HARDWARE: case NST_BLOCK_MODEL: case NST_BLOCK_VERIFY: case NST_BLOCK_SWEEP: break;
  }
  int needs = s->block == NST_BLOCK_WORKLOAD ? '[' : s->block == NST_BLOCK_VERIFY ? NST_TOK_EQ : s->block == NST_BLOCK_SWEEP ? NST_TOK_IN : '=';
  bool item_start = prev && nst_token_is_name(prev->kind) && !nst_word_starts_item(s->block, prev->kind) && expects(s, needs) && !expects_operator(s) && !expects_value(s);
  bool after_keyword = s->at >= 2 && same_line(s, s->at - 2, s->at - 1) && nst_word_starts_item(s->block, token(s, s->at - 2)->kind);
  return item_start && !after_keyword ? s->at - 1 : NST_NONE;
}

static bool keyword(slip *s) {
  nst_parser *p = s->p;
  if (s->block == NST_BLOCK_SWEEP && s->t->kind == NST_TOK_IN && s->at + 1 < p->tokens.len && token(s, s->at + 1)->kind == NST_TOK_IN) {
    nst_diag *m = nst_diag_add(p->diags, NST_D_SWEPT_KEYWORD, span_of(s, s->at), "`in` cannot be the name of a swept parameter");
    nst_diag_help(p->diags, m, "rename the parameter of the mapping");
    return true;
  }
  uint32_t i = item_word(s);
  if (i == NST_NONE) return false;
  const nst_token *w = token(s, i);
  nst_word_hint hint = nst_word_for(p->interner, s->block, w->kind, w->name);
  if (hint.kind) {
    nst_diag *m = nst_diag_add(p->diags, hint.misspelt ? NST_D_MISSPELT_KEYWORD : NST_D_FOREIGN_KEYWORD, span_of(s, i),
                               "unknown keyword `%s` %s", w->name, block_place(s->block));
    if (hint.misspelt) nst_diag_help(p->diags, m, "did you mean `%s`", nst_token_text(hint.kind));
    else nst_diag_help(p->diags, m, "%s", hint.help);
    nst_diag_fix(p->diags, m, span_of(s, i), nst_token_text(hint.kind));
    p->tokens.items[i].kind = hint.kind;
    if (nst_recover_starts_item(p, s->block, i)) p->resume = i;
    else p->tokens.items[i].kind = w->kind;
    return true;
  }
  if (hint.help) {
    nst_diag *m = nst_diag_add(p->diags, NST_D_MISPLACED_WORD, span_of(s, i), "`%s` cannot stand %s", w->name, block_place(s->block));
    nst_diag_help(p->diags, m, "%s", hint.help);
    if (s->block == NST_BLOCK_FILE && p->early != NST_NONE) nst_diag_label(p->diags, m, span_of(s, p->early), "was the block meant to end here");
    return true;
  }
  return false;
}

/* ---- the last resort ---- */

static void add_phrase(nst_buffer *b, const char **last, const char *phrase) {
  if (*last) {
    if (b->len) nst_buffer_puts(b, ", ");
    nst_buffer_puts(b, *last);
  }
  *last = phrase;
}

static bool value_token(int kind) {
  return kind == NST_TOK_NUMBER || kind == NST_TOK_QUANTITY || kind == NST_TOK_TRUE || kind == NST_TOK_FALSE || kind == NST_TOK_NOT ||
         kind == NST_TOK_IF || kind == '(' || kind == '-' || kind == '+';
}
static bool operator_token(int kind) {
  return kind == '+' || kind == '-' || kind == '*' || kind == '/' || kind == '%' || kind == '<' || kind == '>' || kind == '.' ||
         kind == '(' || kind == '[' || kind == '=' || (kind >= NST_TOK_EQ && kind <= NST_TOK_GE) || kind == NST_TOK_FLOORDIV ||
         kind == NST_TOK_POW || kind == NST_TOK_AND || kind == NST_TOK_OR;
}

static void expected_list(slip *s) {
  nst_parser *p = s->p;
  nst_buffer b = {0};
  const char *last = NULL;
  bool value = expects_value(s), operators = expects_operator(s), name = expects(s, NST_TOK_NAME);
  const char *items = nst_word_items(s->block);
  bool item = expects(s, s->block == NST_BLOCK_FILE ? NST_TOK_END : '}') && expects(s, ';') && items;
  if (value) add_phrase(&b, &last, "a value");
  if (operators) add_phrase(&b, &last, "an operator");
  if (operators && item) items = "the next item";
  if (name && !value && !item) add_phrase(&b, &last, "a name");
  for (int i = 0; i < s->n; i++) {
    int kind = s->expected[i];
    if ((value && value_token(kind)) || (operators && operator_token(kind)) || kind == NST_TOK_NAME) continue;
    if (nst_token_is_name(kind) && (name || item)) continue;
    if (item && (kind == ';' || kind == '}' || kind == NST_TOK_END)) continue;
    const char *text = nst_token_text(kind);
    if (kind == NST_TOK_NUMBER || kind == NST_TOK_QUANTITY || kind == NST_TOK_STRING) {
      add_phrase(&b, &last, text);
    } else if (kind == NST_TOK_END) {
      add_phrase(&b, &last, "the end of the file");
    } else {
      size_t len = strlen(text);
      bool quoted = len > 2 && text[0] == '\'';
      add_phrase(&b, &last, nst_arena_printf(p->arena, "`%.*s`", quoted ? (int)len - 2 : (int)len, quoted ? text + 1 : text));
    }
  }
  if (item) {
    const char *split = strstr(items, " or ");
    if (split) add_phrase(&b, &last, nst_arena_strndup(p->arena, items, (size_t)(split - items)));
    add_phrase(&b, &last, split ? split + 4 : items);
  }
  const char *list = b.len ? nst_arena_printf(p->arena, "%s or %s", b.text, last) : last ? last : "something else";
  nst_buffer_fini(&b);
  if (s->t->kind == NST_TOK_END) {
    nst_span where = s->at ? behind(s, s->at - 1) : span_of(s, s->at);
    nst_diag_add(p->diags, NST_D_SYNTAX, where, "expected %s, found the end of the file", list);
    return;
  }
  int shown = length_of(s, s->at) > 40 ? 40 : length_of(s, s->at);
  while (shown > 0 && shown < length_of(s, s->at) && ((unsigned char)text_of(s, s->at)[shown] & 0xC0) == 0x80) shown--;
  nst_diag_add(p->diags, NST_D_SYNTAX, span_of(s, s->at), "expected %s, found `%.*s%s`", list, shown, text_of(s, s->at),
               shown < length_of(s, s->at) ? "…" : "");
}

/* In the head of a declaration with a block, bison looks for the `{`: let it find the right one. */
static void steer_to_block(slip *s) {
  nst_parser *p = s->p;
  if (p->blocks.len || expects(s, NST_TOK_WORKLOAD) || s->at == 0) return;
  uint32_t head = s->at;
  do head--; while (head > 0 && !(nst_recover_starts_decl(p, head) && (first_on_line(s, head) || token(s, head - 1)->kind == '}')));
  if (token(s, head)->kind == NST_TOK_CONST || token(s, head)->kind == NST_TOK_USE) return;
  uint32_t i = s->at, last = (uint32_t)p->tokens.len - 1;
  if (p->resume != NST_NONE) i = p->resume;
  for (; i < last && p->resume == NST_NONE; i++) {
    if (token(s, i)->kind == '{') {
      if (i > s->at) p->next = i;
      return;
    }
    if (nst_recover_starts_decl(p, i) && first_on_line(s, i)) break;
    if (token(s, i)->kind == '}' || token(s, i)->kind == ';') break;
  }
  p->resume = NST_NONE;
  p->next = i;
  p->inject_open = true;
  p->injected = 1;
}

static bool scanner_spoke(const slip *s) {
  uint32_t from = s->at ? token(s, s->at - 1)->begin : 0;
  size_t lo = 0, hi = s->p->bad.len;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (s->p->bad.items[mid] < from) lo = mid + 1;
    else hi = mid;
  }
  return lo < s->p->bad.len && s->p->bad.items[lo] <= s->t->end;
}

void nst_message_syntax(nst_parser *p, const int *expected, int n) {
  p->resume = NST_NONE;
  if (p->stop) return;
  slip s = {.p = p, .at = p->current, .expected = expected, .n = n};
  s.t = token(&s, s.at);
  s.block = p->blocks.len ? p->blocks.items[p->blocks.len - 1].kind : NST_BLOCK_FILE;
  if (!scanner_spoke(&s)) {
    bool said = missing_close_brace(&s) || comment_style(&s) || swallowed_keyword(&s) || lone_unit(&s) || name_read_as_unit(&s) || missing_times(&s) || number_form(&s) ||
                trailing_comma(&s) || bracket(&s) || assign_for_equal(&s) || if_without_else(&s) ||
                reserved_word(&s) || loop_over_range(&s) || set_in_braces(&s) || missing_comma(&s) || keyword(&s) ||
                missing_operator(&s) || nothing_behind(&s);
    if (!said) expected_list(&s);
  }
  steer_to_block(&s);
}
