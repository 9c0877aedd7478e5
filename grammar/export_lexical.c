/* What the tokens of an exported grammar are made of: the part of lexer.l and scan.c that grammars can say.
 *
 * Each function names the rule of lexer.l that it stands for; tests/grammar checks
 * that lexer.l still has it. Everything is bounded: names have at most 64 characters,
 * numbers as many digits as surely stay in range. Names leave out words by spelling
 * the complement: what begins like `if` and goes on differently. Keywords and units
 * come from the parser's and the unit table. */
#include "grammar/export.h"

#include <string.h>

enum { NAME_MOST = 64, SPACE_MOST = 100, COMMENT_MOST = 240, STRING_MOST = 120 };

static const char *const units[] = {
#define NST_UNIT(text, num, den, byte, cycle, second, pj, mm2) #text,
#include "frontend/units.def"
#undef NST_UNIT
};
static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
static const char letters_and_digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";
static const char printable[] = "^\\x00-\\x08\\x0A-\\x1F\\x7F"; /* in a comment; a tab is */

static uint32_t define(nst_grules *to, const char *name, nst_gnode *body) {
  *nst_vec_push(to->arena, &to->rules) = (nst_grule){.name = name, .lexical = true, .body = body};
  return (uint32_t)(to->rules.len - 1);
}

static nst_gnode *seq3(nst_grules *to, nst_gnode *a, nst_gnode *b, nst_gnode *c) {
  return nst_gnode_seq(to, a, nst_gnode_seq(to, b, c));
}

/* ---- white space: [ \t\r\n\f\v]+ and "#"[^\r\n]* ---- */

static nst_gnode *comment(nst_grules *to) {
  return nst_gnode_seq(to, nst_gnode_text(to, "#"),
                       nst_gnode_repeat(to, nst_gnode_class(to, printable), 0, COMMENT_MOST));
}

/* The comment is a rule of its own: llama.cpp counts what a repeated group is made of. */
static nst_gnode *blank_or_comment(nst_grules *to, nst_glexical *l, const char *blanks) {
  if (!l->comment) l->comment = define(to, "comment", nst_gnode_seq(to, comment(to), nst_gnode_class(to, "\\n\\r")));
  return nst_gnode_alt(to, nst_gnode_class(to, blanks), nst_gnode_rule(to, l->comment));
}

nst_gnode *nst_glexical_space(nst_grules *to, nst_glexical *l) {
  static const char blanks[] = " \\t\\n\\r\\x0B\\x0C";
  if (!l->space) l->space = define(to, "ws", nst_gnode_repeat(to, blank_or_comment(to, l, blanks), 1, SPACE_MOST));
  return nst_gnode_rule(to, l->space);
}

nst_gnode *nst_glexical_gap(nst_grules *to, nst_glexical *l) {
  if (!l->gap) {
    nst_gnode *space = nst_glexical_space(to, l);
    *nst_vec_push(to->arena, &to->rules) = (nst_grule){.name = "sp", .body = nst_gnode_optional(to, space)};
    l->gap = (uint32_t)(to->rules.len - 1);
  }
  return nst_gnode_rule(to, l->gap);
}

nst_gnode *nst_glexical_apart(nst_grules *to, nst_glexical *l) {
  nst_gnode *space = nst_glexical_space(to, l);
  if (!l->apart) {
    nst_gnode *more = nst_gnode_seq(to, nst_gnode_text(to, " "), space);
    nst_gnode *other = nst_gnode_seq(to, blank_or_comment(to, l, "\\t\\n\\r\\x0B\\x0C"), nst_gnode_optional(to, space));
    l->apart = define(to, "ws-apart", nst_gnode_alt(to, more, other));
  }
  return nst_gnode_rule(to, l->apart);
}

nst_gnode *nst_glexical_last_comment(nst_grules *to) { return comment(to); }

/* ---- names: [A-Za-z_][A-Za-z0-9_]*, without some words ---- */

static nst_gnode *class_without(nst_grules *to, const char *all, const char *without) {
  char *text = nst_arena_alloc(to->arena, 2 * strlen(all) + 1);
  size_t n = 0;
  for (const char *c = all; *c;) {
    if (strchr(without, *c)) {
      c++;
      continue;
    }
    const char *last = c;
    while (last[1] == *last + 1 && !strchr(without, last[1])) last++;
    text[n++] = *c;
    if (last > c + 1) text[n++] = '-';
    if (last > c) text[n++] = *last;
    c = last + 1;
  }
  return nst_gnode_class(to, text);
}

/* Names that begin with the `len` characters that words[0..n-1] share and are none of these words. */
static nst_gnode *names_after(nst_grules *to, uint32_t id_more, const char **words, size_t n, size_t len) {
  nst_gnode *out = nst_gnode_fail(to);
  char first[64] = "";
  bool whole = false;
  for (size_t i = 0; i < n; i++) {
    const char c = words[i][len];
    if (!c) whole = true;
    if (!c || strchr(first, c)) continue;
    const size_t seen = strlen(first);
    first[seen] = c;
    first[seen + 1] = '\0';
    const char **same = NST_NEW_ARRAY(to->arena, n, const char *);
    size_t m = 0;
    for (size_t k = 0; k < n; k++)
      if (words[k][len] == c) same[m++] = words[k];
    nst_gnode *rest = names_after(to, id_more, same, m, len + 1);
    out = nst_gnode_alt(to, out, nst_gnode_seq(to, nst_gnode_text(to, nst_arena_strndup(to->arena, &c, 1)), rest));
  }
  nst_gnode *more = nst_gnode_rule(to, id_more);
  if (len && !*first)
    out = more;
  else
    out = nst_gnode_alt(
      to, out,
      nst_gnode_seq(to, class_without(to, len ? letters_and_digits : letters, first), nst_gnode_optional(to, more)));
  return whole || !len ? out : nst_gnode_optional(to, out);
}

static nst_gnode *names_without(nst_grules *to, nst_glexical *l, const nst_gsymbol *s) {
  const char **words = NST_NEW_ARRAY(to->arena, s->excluded.len + 1, const char *);
  size_t n = 0;
  words[n++] = "_"; /* alone it is no name */
  for (size_t i = 0; i < s->excluded.len; i++) words[n++] = s->excluded.items[i];
  if (!l->id_more)
    l->id_more =
      define(to, "id-more", nst_gnode_repeat(to, class_without(to, letters_and_digits, ""), 1, NAME_MOST - 1));
  return names_after(to, l->id_more, words, n, 0);
}

/* ---- numbers: {DIGITS}(\.{DIGITS})?([eE][+-]?[0-9][0-9_]*)? ---- */

static nst_gnode *digits(nst_grules *to, uint32_t most) {
  nst_gnode *digit = nst_gnode_class(to, "0-9");
  nst_gnode *more = nst_gnode_seq(to, nst_gnode_optional(to, nst_gnode_text(to, "_")), digit);
  return nst_gnode_seq(to, digit, nst_gnode_repeat(to, more, 0, most - 1));
}

static nst_gnode *number(nst_grules *to, nst_glexical *l) {
  if (!l->digits) l->digits = define(to, "digits", digits(to, 18));
  nst_gnode *whole = nst_gnode_rule(to, l->digits), *point = nst_gnode_text(to, ".");
  nst_gnode *e = nst_gnode_seq(to, nst_gnode_class(to, "eE"), nst_gnode_optional(to, nst_gnode_class(to, "+-")));
  nst_gnode *fraction = nst_gnode_optional(to, nst_gnode_seq(to, point, digits(to, 9)));
  nst_gnode *scaled = seq3(to, digits(to, 9), fraction, nst_gnode_seq(to, e, nst_gnode_class(to, "0-9")));
  nst_gnode *far =
    seq3(to, nst_gnode_class(to, "0-9"), fraction, seq3(to, e, nst_gnode_text(to, "1"), nst_gnode_class(to, "0-7")));
  nst_gnode *more = nst_gnode_seq(to, nst_gnode_optional(to, nst_gnode_text(to, "_")), nst_gnode_class(to, "0-9"));
  nst_gnode *longest = nst_gnode_seq(to, nst_gnode_class(to, "1-8"), nst_gnode_repeat(to, more, 18, 18));
  nst_gnode *plain = nst_gnode_seq(to, whole, nst_gnode_optional(to, nst_gnode_seq(to, point, whole)));
  /* The longer first: regular expressions take the first that fits. */
  return nst_gnode_alt(to, nst_gnode_alt(to, far, scaled), nst_gnode_alt(to, longest, plain));
}

/* {NUMBER}([ ]?{ASCII}("/"{ASCII})?)? where the words are units */
static nst_gnode *quantity(nst_grules *to, nst_glexical *l, nst_gnode *some_number) {
  if (!l->unit) {
    nst_gnode *all = nst_gnode_fail(to);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
      all = nst_gnode_alt(to, all, nst_gnode_text(to, units[i]));
    l->unit = define(to, "unit", all);
  }
  nst_gnode *unit = nst_gnode_rule(to, l->unit);
  nst_gnode *per = nst_gnode_optional(to, nst_gnode_seq(to, nst_gnode_text(to, "/"), unit));
  return nst_gnode_seq(to, some_number, seq3(to, nst_gnode_optional(to, nst_gnode_text(to, " ")), unit, per));
}

/* \"([^"\\\r\n]|\\[^\r\n])*\", of the escapes \" and \\ */
static nst_gnode *string(nst_grules *to) {
  nst_gnode *plain = nst_gnode_class(to, "^\"\\\\\\x00-\\x08\\x0A-\\x1F\\x7F"), *quote = nst_gnode_text(to, "\"");
  nst_gnode *escape = nst_gnode_seq(to, nst_gnode_text(to, "\\"), nst_gnode_class(to, "\"\\\\"));
  return seq3(to, quote, nst_gnode_repeat(to, nst_gnode_alt(to, plain, escape), 0, STRING_MOST), quote);
}

/* ---- tokens ---- */

nst_gnode *nst_glexical_token(nst_grules *to, nst_glexical *l, const nst_grammar *g, uint16_t symbol) {
  const nst_gsymbol *s = &g->symbols.items[symbol];
  if (s->text) return nst_gnode_text(to, s->text);
  for (size_t i = 0; i < l->tokens.len; i++)
    if (l->tokens.items[i].symbol == symbol) return nst_gnode_rule(to, l->tokens.items[i].rule);
  const char *name = s->name;
  nst_gnode *body;
  if (!strcmp(name, "\"a text\""))
    name = "string", body = string(to);
  else if (!strcmp(name, "\"a number\""))
    name = "number", body = number(to, l);
  else if (!strcmp(name, "\"a quantity\""))
    name = "quantity", body = quantity(to, l, number(to, l));
  else
    body = names_without(to, l, s);
  const uint32_t rule = define(to, name, body);
  nst_vec_push(to->arena, &l->tokens);
  l->tokens.items[l->tokens.len - 1].symbol = symbol;
  l->tokens.items[l->tokens.len - 1].rule = rule;
  return nst_gnode_rule(to, rule);
}
