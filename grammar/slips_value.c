/* Slips in values: operators, numbers, units, prose taken for division, and
 * values that are not complete. */
#include "frontend/units.h"
#include "grammar/slip.h"
#include <string.h>

static bool wordlike(const nst_slip *s, uint32_t i) {
  int kind = nst_slip_token(s, i)->kind;
  return nst_token_is_name(kind) || nst_token_is_reserved(kind) || kind == NST_TOK_NUMBER;
}

/* `//` is division; two words in a row behind it are prose. */
bool nst_slip_comment_style(nst_slip *s) {
  uint32_t slashes = NST_NONE;
  for (uint32_t line = 0; line < 2 && slashes == NST_NONE && s->at >= line; line++) {
    uint32_t from = s->at - line;
    for (uint32_t i = from + 1; i-- > nst_slip_token(s, from)->line_first;) {
      if (nst_slip_token(s, i)->kind == NST_TOK_FLOORDIV) slashes = i;
    }
  }
  if (slashes == NST_NONE) return false;
  if (slashes != s->at) {
    uint32_t last = (uint32_t)s->p->tokens.len - 1;
    if (slashes + 2 >= last || !wordlike(s, slashes + 1) || !wordlike(s, slashes + 2) ||
        !nst_slip_same_line(s, slashes, slashes + 2))
      return false;
  }
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_COMMENT_STYLE, nst_slip_span_of(s, slashes), "comments start with `#`");
  nst_diag_help(s->p->diags, m, "`//` divides and rounds down");
  nst_diag_fix(s->p->diags, m, nst_slip_span_of(s, slashes), "#");
  uint32_t next = slashes;
  while (next + 1 < s->p->tokens.len && nst_slip_token(s, next)->line_first <= slashes) next++;
  if (next >= s->at || !nst_slip_same_line(s, next, s->at)) s->p->resume = next;
  return true;
}

bool nst_slip_assign_for_equal(nst_slip *s) {
  if (s->t->kind != '=' || !nst_slip_expects(s, NST_TOK_EQ)) return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_ASSIGN_FOR_EQUAL, nst_slip_span_of(s, s->at),
                             "`=` gives a value; two values are compared with `==`");
  nst_diag_fix(s->p->diags, m, nst_slip_span_of(s, s->at), "==");
  return true;
}

/* C = A B: the second value was taken for the next statement, and that goes wrong. */
bool nst_slip_missing_operator(nst_slip *s) {
  if (s->block != NST_BLOCK_WORKLOAD || !nst_slip_expects(s, NST_TOK_ADD_ASSIGN) || !nst_slip_prev_is(s, ']'))
    return false;
  uint32_t i = s->at - 1;
  for (int depth = 0; i > 0; i--) {
    int kind = nst_slip_token(s, i)->kind;
    if (kind == ']') depth++;
    if (kind == '[' && --depth == 0) break;
  }
  if (i < 2 || !nst_slip_same_line(s, i - 2, i - 1)) return false;
  nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, i - 1), "expected an operator before this value");
  return true;
}

/* CAP KiB for CAP * 1 KiB, and a unit too far from its number. The unit may have been taken for
 * the name of the next item, and what came behind it is unexpected. */
bool nst_slip_lone_unit(nst_slip *s) {
  uint32_t k = s->at;
  if (nst_token_is_name(s->t->kind) && nst_slip_expects_operator(s)) {
  } else if (s->at >= 2 && nst_slip_prev_is_name(s) && !nst_slip_expects_operator(s) && !nst_slip_expects_value(s)) {
    k = s->at - 1;
  } else {
    return false;
  }
  if (k == 0 || !nst_scan_is_unit(nst_slip_text_of(s, k), (size_t)nst_slip_length_of(s, k))) return false;
  int prev = nst_slip_token(s, k - 1)->kind, len = nst_slip_length_of(s, k);
  if (k + 2 < s->p->tokens.len) { /* B/cycle */
    int longer = (int)(nst_slip_token(s, k + 2)->end - nst_slip_token(s, k)->begin);
    if (nst_scan_is_unit(nst_slip_text_of(s, k), (size_t)longer)) len = longer;
  }
  nst_span span = nst_parse_span(s->p, nst_slip_token(s, k)->begin, nst_slip_token(s, k)->begin + (uint32_t)len);
  nst_diags *d = s->p->diags;
  if (prev == NST_TOK_NUMBER) {
    nst_diag *m =
      nst_diag_add(d, NST_D_LONE_UNIT, span, "the unit `%.*s` is too far from its number", len, nst_slip_text_of(s, k));
    nst_diag_help(d, m, "at most one space stands between them, on the same line");
    nst_diag_fix(d, m, nst_parse_span(s->p, nst_slip_token(s, k - 1)->end, nst_slip_token(s, k)->begin), " ");
  } else if ((nst_token_is_name(prev) || prev == ')') && nst_slip_same_line(s, k - 1, k)) {
    nst_diag *m =
      nst_diag_add(d, NST_D_LONE_UNIT, span, "a unit stands behind a number, not behind a name or a bracket");
    nst_diag_help(d, m, "multiply: %.*s * 1 %.*s", prev == ')' ? 5 : nst_slip_length_of(s, k - 1),
                  prev == ')' ? "(…)" : nst_slip_text_of(s, k - 1), len, nst_slip_text_of(s, k));
    nst_diag_fix(d, m, nst_parse_span(s->p, nst_slip_token(s, k - 1)->end, nst_slip_token(s, k)->begin), " * 1 ");
  } else {
    return false;
  }
  return true;
}

/* `a in 1 .. 4 b in …`: the name b was read as a unit. */
bool nst_slip_name_read_as_unit(nst_slip *s) {
  if (!nst_slip_prev_is(s, NST_TOK_QUANTITY) || !nst_slip_expects_operator(s)) return false;
  if (s->t->kind != '=' && s->t->kind != '[' && s->t->kind != NST_TOK_IN) return false;
  uint32_t k = s->at - 1, end = nst_slip_token(s, k)->end, begin = end;
  const char *text = s->p->source->text;
  while (text[begin - 1] != ' ' && (text[begin - 1] < '0' || text[begin - 1] > '9')) begin--;
  if (text[begin - 1] != ' ') return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_NUMBER_GLUED, nst_slip_span_of(s, k), "`%.*s` is read as one quantity",
                             nst_slip_length_of(s, k), nst_slip_text_of(s, k));
  nst_diag_help(s->p->diags, m, "to begin the next item with `%.*s`, put a line end or a second space before it",
                (int)(end - begin), text + begin);
  nst_diag_fix(s->p->diags, m, nst_parse_span(s->p, begin, begin), " ");
  return true;
}

bool nst_slip_missing_times(nst_slip *s) {
  const nst_token *prev = nst_slip_before(s, 1);
  if (!prev || prev->kind != NST_TOK_NUMBER || !nst_slip_expects_operator(s) ||
      !nst_slip_same_line(s, s->at - 1, s->at))
    return false;
  if (s->t->kind != NST_TOK_NAME && s->t->kind != '(') return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_NUMBER_GLUED, nst_slip_span_of(s, s->at),
                             "a number and %s side by side", s->t->kind == '(' ? "a bracket" : "a name");
  nst_diag_help(s->p->diags, m, "for a product write %.*s*%.*s", nst_slip_length_of(s, s->at - 1),
                nst_slip_text_of(s, s->at - 1), s->t->kind == '(' ? 5 : nst_slip_length_of(s, s->at),
                s->t->kind == '(' ? "(…)" : nst_slip_text_of(s, s->at));
  nst_diag_fix(s->p->diags, m, nst_parse_span(s->p, prev->end, s->t->begin), "*");
  return true;
}

bool nst_slip_number_form(nst_slip *s) {
  const nst_token *prev = nst_slip_before(s, 1);
  if (s->t->kind == '.' && nst_slip_expects_value(s) && s->at + 2 < s->p->tokens.len) {
    const nst_token *next = nst_slip_token(s, s->at + 1);
    if (next->begin != s->t->end || (next->kind != NST_TOK_NUMBER && next->kind != NST_TOK_QUANTITY)) return false;
    nst_span all = nst_span_join(nst_slip_span_of(s, s->at), nst_slip_span_of(s, s->at + 1));
    nst_diag *m = nst_diag_add(s->p->diags, NST_D_BAD_NUMBER, all, "a number with nothing before its point");
    nst_diag_fix(s->p->diags, m, nst_parse_span(s->p, all.begin, all.begin), "0");
    return true;
  }
  if (prev && prev->kind == '.' && s->at >= 2 && nst_slip_token(s, s->at - 2)->kind == NST_TOK_NUMBER &&
      prev->begin == nst_slip_token(s, s->at - 2)->end) {
    nst_diag_add(s->p->diags, NST_D_BAD_NUMBER,
                 nst_span_join(nst_slip_span_of(s, s->at - 2), nst_slip_span_of(s, s->at)),
                 "a number with a second point");
    return true;
  }
  return false;
}

bool nst_slip_set_in_braces(nst_slip *s) {
  if (s->t->kind != '{' || !nst_slip_prev_is(s, NST_TOK_IN) || !nst_slip_expects_value(s)) return false;
  nst_diag *m =
    nst_diag_add(s->p->diags, NST_D_SET_FORM, nst_slip_span_of(s, s->at), "a set of values stands in square brackets");
  nst_diag_help(s->p->diags, m, "as in [1, 2, 4]");
  return true;
}

/* A line that ends where a value or a name should come. */
bool nst_slip_nothing_behind(nst_slip *s) {
  if (!nst_slip_first_on_line(s, s->at) || s->at == 0 ||
      !(nst_slip_expects_value(s) || nst_slip_expects(s, NST_TOK_NAME)) || nst_slip_expects(s, '}'))
    return false;
  if (nst_slip_prev_is(s, '(') || nst_slip_prev_is(s, '[')) return false;
  nst_diag *m =
    nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at - 1), "nothing stands behind this `%.*s`",
                 nst_slip_length_of(s, s->at - 1), nst_slip_text_of(s, s->at - 1));
  nst_diag_help(s->p->diags, m, nst_slip_expects_value(s) ? "a value is expected" : "a name is expected");
  return true;
}

bool nst_slip_if_without_else(nst_slip *s) {
  if (!nst_slip_expects(s, NST_TOK_ELSE)) return false;
  uint32_t i = s->at;
  while (i > 0 && nst_slip_token(s, i)->kind != NST_TOK_IF) i--;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_IF_FORM, nst_slip_span_of(s, i), "this `if` has no `else`");
  nst_diag_label(s->p->diags, m, nst_slip_span_of(s, s->at), "`else` is expected before this");
  nst_diag_help(s->p->diags, m, "an `if` is a value and needs both branches: if c then a else b");
  return true;
}

/* ---- units that are none ---- */

static const char *const kinds_of_units[][3] = {
  /* the ending, what it measures, how it is written */
  {"W", "power", "W and mW"},
  {"J", "energy", "J, mJ, uJ, nJ, pJ and fJ"},
  {"Hz", "frequency", "Hz, kHz, MHz and GHz"},
  {"m2", "area", "mm2 and um2"},
  {"B", "data", "B, KiB, MiB, GiB, TiB and kB, KB, MB, GB, TB"},
  {"b", "data", "b, Kib, Mib, Gib, Tib and kb, Kb, Mb, Gb, Tb"},
  {"s", "time", "s, ms, us, ns and cycle"},
};
enum { KINDS_OF_UNITS = sizeof kinds_of_units / sizeof *kinds_of_units };

/* What the word measures if it is a known unit behind one letter or two: uW, PiB. */
static int kind_of_unit(const char *word) {
  const size_t len = strlen(word);
  for (int i = 0; i < KINDS_OF_UNITS; i++) {
    const size_t end = strlen(kinds_of_units[i][0]);
    if (len < end || len > end + 2 || strcmp(word + len - end, kinds_of_units[i][0]) != 0) continue;
    if (len == end) return i;
    if (strchr("yzafpnumckKMGTPEZ", word[0]) && (len == end + 1 || word[1] == 'i')) return i;
  }
  return -1;
}

/* 1 uW, 64 kib, 2 bytes/cycle: behind a number stands what is no unit. Among attributes it was taken for the name of
 * the next one. */
bool nst_slip_unknown_unit(nst_slip *s) {
  uint32_t k = s->at;
  const bool attrs = s->block == NST_BLOCK_ATTRS || s->block == NST_BLOCK_HARDWARE;
  if (attrs && s->at >= 2 && nst_slip_prev_is_name(s) && s->t->kind != '=' && !nst_slip_expects_operator(s) &&
      nst_slip_expects(s, '='))
    k = s->at - 1;
  else if (s->t->kind != NST_TOK_NAME || !nst_slip_expects_operator(s))
    return false;
  if (k == 0 || nst_slip_token(s, k - 1)->kind != NST_TOK_NUMBER || !nst_slip_same_line(s, k - 1, k) ||
      nst_slip_token(s, k)->begin > nst_slip_token(s, k - 1)->end + 1)
    return false;
  uint32_t last = k;
  if (k + 2 < s->p->tokens.len && nst_slip_token(s, k + 1)->kind == '/' &&
      nst_token_is_name(nst_slip_token(s, k + 2)->kind) &&
      nst_slip_token(s, k + 2)->begin == nst_slip_token(s, k)->end + 1)
    last = k + 2;
  const char *word = nst_slip_token(s, k)->name, *near = nst_unit_nearest(word), *right = NULL;
  const int known = kind_of_unit(word);
  if (!near && known < 0 && !attrs) return false;
  if (last != k && (near || nst_scan_is_unit(word, strlen(word)))) {
    const char *divisor = nst_slip_token(s, last)->name, *other = nst_unit_nearest(divisor);
    right = nst_arena_printf(s->p->arena, "%s/%s", near ? near : word, other ? other : divisor);
  } else if (last == k) {
    right = near;
  }
  nst_diags *d = s->p->diags;
  const nst_span span = nst_span_join(nst_slip_span_of(s, k), nst_slip_span_of(s, last));
  nst_diag *m = nst_diag_add(d, NST_D_LONE_UNIT, span, "there is no unit `%.*s`", (int)(span.end - span.begin),
                             nst_slip_text_of(s, k));
  if (right && nst_scan_is_unit(right, strlen(right))) {
    nst_diag_help(d, m, "did you mean `%s`?", right);
    nst_diag_fix(d, m, span, right);
  } else if (known >= 0) {
    nst_diag_help(d, m, "the units of %s are %s", kinds_of_units[known][1], kinds_of_units[known][2]);
  } else {
    nst_diag_help(d, m,
                  "there are B, KiB, MiB, …, cycle, s, Hz, J, pJ, W, mW, mm2, …, and quotients like B/cycle and pJ/B");
  }
  if (last > s->at || k < s->at) s->p->resume = last + 1;
  return true;
}

/* ---- forms of other languages ---- */

static bool ends_value(const nst_slip *s, uint32_t i, int depth) {
  const int kind = nst_slip_token(s, i)->kind;
  return kind == NST_TOK_END || kind == '}' || kind == '{' || kind == ';' ||
         (depth == 0 && (kind == ')' || kind == ']' || kind == ','));
}

/* Where the condition of `c ? a : b` begins. */
static uint32_t condition_start(const nst_slip *s) {
  int depth = 0;
  uint32_t i = s->at;
  while (i > 0 && s->at - i < 100) {
    const int kind = nst_slip_token(s, i - 1)->kind;
    if (depth == 0 && (kind == '(' || kind == '[' || kind == ',' || kind == '=' || kind == NST_TOK_ADD_ASSIGN ||
                       kind == NST_TOK_EXPECT || kind == NST_TOK_WHERE || kind == NST_TOK_BY || kind == NST_TOK_INTO))
      break;
    depth += (kind == ')' || kind == ']') - (kind == '(' || kind == '[');
    i--;
    if (nst_slip_first_on_line(s, i)) break;
  }
  return i;
}

bool nst_slip_choice(nst_slip *s) {
  if (s->t->kind != '?' || !nst_slip_expects_operator(s)) return false;
  uint32_t colon = NST_NONE, end = s->at + 1;
  for (int depth = 0; !ends_value(s, end, depth) && !(depth == 0 && nst_slip_first_on_line(s, end)); end++) {
    const int kind = nst_slip_token(s, end)->kind;
    if (kind == ':' && depth == 0 && colon == NST_NONE) colon = end;
    depth += (kind == '(' || kind == '[') - (kind == ')' || kind == ']');
  }
  nst_diags *d = s->p->diags;
  nst_diag *m = nst_diag_add(d, NST_D_OPERATOR_SPELLING, nst_slip_span_of(s, s->at),
                             "a choice is written `if … then … else …` here");
  uint32_t next = end;
  while (nst_slip_token(s, next)->kind != NST_TOK_END && !nst_slip_first_on_line(s, next) &&
         nst_slip_token(s, next)->kind != '}' && nst_slip_token(s, next)->kind != '{')
    next++;
  s->p->resume = next;
  if (colon == NST_NONE || colon == s->at + 1 || colon + 1 == end) return true;
  const uint32_t first = condition_start(s);
  const char *text = s->p->source->text;
  const nst_token *c = nst_slip_token(s, first), *b = nst_slip_token(s, end - 1);
#define PART(from, to)                                                                                                 \
  (int)(nst_slip_token(s, to)->end - nst_slip_token(s, from)->begin), text + nst_slip_token(s, from)->begin
  nst_diag_fix(d, m, nst_parse_span(s->p, c->begin, b->end),
               nst_arena_printf(s->p->arena, "if %.*s then %.*s else %.*s", PART(first, s->at - 1),
                                PART(s->at + 1, colon - 1), PART(colon + 1, end - 1)));
#undef PART
  return true;
}

/* energy = "low" */
bool nst_slip_text_for_value(nst_slip *s) {
  if (s->t->kind != NST_TOK_STRING || !nst_slip_expects_value(s)) return false;
  nst_diag *m =
    nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at), "a text stands where a value is expected");
  const char *text = nst_slip_text_of(s, s->at);
  const int len = nst_slip_length_of(s, s->at);
  if (len > 2 && text[1] >= '0' && text[1] <= '9') {
    nst_diag_help(s->p->diags, m, "numbers and quantities stand without quotation marks");
    nst_diag_fix(s->p->diags, m, nst_slip_span_of(s, s->at), nst_arena_strndup(s->p->arena, text + 1, (size_t)len - 2));
  } else {
    nst_diag_help(s->p->diags, m,
                  s->block == NST_BLOCK_ATTRS || s->block == NST_BLOCK_HARDWARE
                    ? "an attribute is a number with its unit, as in `2 pJ/B`, or `true` or `false`"
                    : "texts stand only behind `use` and `test`");
  }
  return true;
}
