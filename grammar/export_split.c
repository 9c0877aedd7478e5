/* From a grammar over tokens to one over characters: where white space may and must stand.
 *
 * White space is optional around signs and mandatory between two words, so
 * `by (4)` may be written `by(4)`, but not `by 4` as `by4`. A grammar cannot look
 * back, therefore every symbol is made in the variants that are needed: by what it
 * begins with (a set of NST_START_*) and by what stands behind it (one of them).
 * The white space behind a token is part of the token's place. A reserved word may
 * be glued to a number (`512step`); a name may not stand behind a number and one
 * space, where it might be read as a unit.
 *
 * Most variants coincide: what ends in a sign does not care what follows. In lists
 * of items (`{ a = 1  b = 2; }`) an item that begins with a sign (`;`, `,`) makes no
 * demands on the one before it, so items are grouped with the signs behind them. */
#include "grammar/export.h"

#include <string.h>

enum { MOST_ITEMS = 100, MOST_IN_ROW = 32, MOST_SIGNS = 4 };
enum { ANY = NST_START_SIGN | NST_START_RESERVED | NST_START_KEYWORD | NST_START_NAME, WORDS = ANY & ~NST_START_SIGN };

typedef struct {
  uint16_t symbol;
  bool list;
  unsigned from, then; /* a set; one */
  uint32_t rule;
} variant;
typedef struct {
  nst_grules *to;
  const nst_grammar *g;
  nst_glexical lexical;
  NST_VEC(variant) variants;
} splitter;

static const nst_gsymbol *symbol_at(const splitter *s, uint16_t symbol) { return &s->g->symbols.items[symbol]; }

/* The weakest demand that is the same as `then` for a symbol that begins with one of `from`. */
static unsigned normal(const nst_gsymbol *x, unsigned from, unsigned then) {
  const unsigned ends = (from & NST_START_SIGN ? x->ends[0] : 0) | (from & WORDS ? x->ends[1] : 0);
  if (then == NST_START_SIGN || !(ends & (NST_END_WORD | NST_END_NUMBER))) return NST_START_SIGN;
  if (!(ends & NST_END_NUMBER)) return NST_START_KEYWORD;
  if (!(ends & NST_END_WORD) && then == NST_START_RESERVED) return NST_START_SIGN;
  return then;
}

static nst_gnode *space_behind(splitter *s, const nst_gsymbol *token, unsigned then) {
  switch (normal(token, ANY, then)) {
  case NST_START_SIGN: return nst_glexical_gap(s->to, &s->lexical);
  case NST_START_NAME: return nst_glexical_apart(s->to, &s->lexical);
  default: return nst_glexical_space(s->to, &s->lexical);
  }
}

static uint32_t rule_of(splitter *s, uint16_t symbol, bool list, unsigned from, unsigned then) {
  const nst_gsymbol *x = symbol_at(s, symbol);
  if ((from & x->starts) == x->starts) from = ANY;
  for (size_t i = 0; i < s->variants.len; i++) {
    const variant *v = &s->variants.items[i];
    if (v->symbol == symbol && v->list == list && v->from == from && v->then == then) return v->rule;
  }
  const char *first = from == ANY ? "" : from == NST_START_SIGN ? "-s" : "-w";
  const char *last = then == NST_START_SIGN       ? ""
                     : then == NST_START_RESERVED ? "-r"
                     : then == NST_START_KEYWORD  ? "-k"
                                                  : "-n";
  const char *name = nst_arena_printf(s->to->arena, "%s%s%s%s", x->name, list ? "-list" : "", first, last);
  *nst_vec_push(s->to->arena, &s->to->rules) = (nst_grule){.name = name};
  const uint32_t rule = (uint32_t)(s->to->rules.len - 1);
  *nst_vec_push(s->to->arena, &s->variants) = (variant){symbol, list, from, then, rule};
  return rule;
}

/* One symbol, not empty, that begins with one of `from`, with `then` behind it. */
static nst_gnode *one(splitter *s, uint16_t symbol, unsigned from, unsigned then) {
  const nst_gsymbol *x = symbol_at(s, symbol);
  if (!(x->starts & from)) return nst_gnode_fail(s->to);
  if (x->terminal)
    return nst_gnode_seq(s->to, nst_glexical_token(s->to, &s->lexical, s->g, symbol), space_behind(s, x, then));
  return nst_gnode_rule(s->to, rule_of(s, symbol, false, from, normal(x, from, then)));
}

static nst_gnode *seq3(splitter *s, nst_gnode *a, nst_gnode *b, nst_gnode *c) {
  return nst_gnode_seq(s->to, a, nst_gnode_seq(s->to, b, c));
}

/* ---- repetitions ---- */

/* Items that begin with a sign, one or more, then `then`. */
static nst_gnode *signs(splitter *s, uint16_t symbol, unsigned then) {
  const bool same = normal(symbol_at(s, symbol), NST_START_SIGN, then) == NST_START_SIGN;
  nst_gnode *sign = one(s, symbol, NST_START_SIGN, NST_START_SIGN);
  if (same) return nst_gnode_repeat(s->to, sign, 1, MOST_SIGNS);
  return nst_gnode_seq(s->to, nst_gnode_repeat(s->to, sign, 0, MOST_SIGNS), one(s, symbol, NST_START_SIGN, then));
}

/* An item that begins with a word and the signs behind it. */
static nst_gnode *run(splitter *s, uint16_t symbol, unsigned then) {
  nst_gnode *followed = nst_gnode_seq(s->to, one(s, symbol, WORDS, NST_START_SIGN), signs(s, symbol, then));
  return nst_gnode_alt(s->to, one(s, symbol, WORDS, then), followed);
}

/* A list of items of which some begin with signs. */
static nst_gnode *list_body(splitter *s, uint16_t symbol, unsigned from, unsigned then) {
  const unsigned between = symbol_at(s, symbol)->starts & NST_START_NAME ? NST_START_NAME : NST_START_KEYWORD;
  nst_gnode *runs =
    nst_gnode_seq(s->to, nst_gnode_repeat(s->to, run(s, symbol, between), 0, MOST_ITEMS), run(s, symbol, then));
  nst_gnode *out = nst_gnode_fail(s->to);
  if (from & NST_START_SIGN) {
    out = nst_gnode_alt(s->to, signs(s, symbol, then), nst_gnode_seq(s->to, signs(s, symbol, between), runs));
  }
  return from & WORDS ? nst_gnode_alt(s->to, runs, out) : out;
}

/* A symbol once or more often, beginning with one of `from`. */
static nst_gnode *many(splitter *s, uint16_t symbol, unsigned from, unsigned then) {
  const nst_gsymbol *x = symbol_at(s, symbol);
  if (!(x->starts & from)) return nst_gnode_fail(s->to);
  unsigned demands = 0;
  for (unsigned c = NST_START_SIGN; c <= NST_START_NAME; c <<= 1)
    if (x->starts & c) demands |= normal(x, ANY, c);
  if (demands & (demands - 1)) {
    if ((from & x->starts) == x->starts) from = ANY;
    return nst_gnode_rule(s->to, rule_of(s, symbol, true, from, normal(x, ANY, then)));
  }
  then = normal(x, ANY, then);
  nst_gnode *last = one(s, symbol, ANY, then), *first = one(s, symbol, from, demands);
  if (demands == then && (from & x->starts) == x->starts) return nst_gnode_repeat(s->to, last, 1, MOST_IN_ROW);
  if (demands == then) return nst_gnode_seq(s->to, first, nst_gnode_repeat(s->to, last, 0, MOST_IN_ROW));
  nst_gnode *middle = nst_gnode_repeat(s->to, one(s, symbol, ANY, demands), 0, MOST_IN_ROW);
  return nst_gnode_alt(s->to, one(s, symbol, from, then), seq3(s, first, middle, last));
}

/* ---- productions ---- */

/* What may come first of the rest of a production with `then` behind it. */
static unsigned starts_of(splitter *s, const nst_gitems *items, size_t i, unsigned then) {
  unsigned out = 0;
  for (; i < items->len; i++) {
    const nst_gsymbol *x = symbol_at(s, items->items[i].symbol);
    out |= x->starts;
    if (!x->nullable && !items->items[i].repeated) return out;
  }
  return out | then;
}

static nst_gnode *rest_of(splitter *s, const nst_gitems *items, size_t i, unsigned from, unsigned then);

/* items[i..] where items[i] is there and begins with one of `from`. */
static nst_gnode *rest_with(splitter *s, const nst_gitems *items, size_t i, unsigned from, unsigned then) {
  const nst_gitem item = items->items[i];
  const nst_gsymbol *x = symbol_at(s, item.symbol);
  const unsigned next = starts_of(s, items, i + 1, then);
  nst_gnode *out = nst_gnode_fail(s->to);
  if (!(x->starts & from)) return out;
  for (unsigned demand = NST_START_SIGN; demand <= NST_START_NAME; demand <<= 1) {
    unsigned group = 0;
    for (unsigned c = NST_START_SIGN; c <= NST_START_NAME; c <<= 1)
      if ((next & c) && normal(x, item.repeated ? ANY : from, c) == demand) group |= c;
    if (!group) continue;
    nst_gnode *here = item.repeated ? many(s, item.symbol, from, demand) : one(s, item.symbol, from, demand);
    out = nst_gnode_alt(s->to, out, nst_gnode_seq(s->to, here, rest_of(s, items, i + 1, group, then)));
  }
  return out;
}

static bool may_lack(const splitter *s, const nst_gitem *item) {
  return item->repeated || symbol_at(s, item->symbol)->nullable;
}

/* items[i..]: what begins with one of `from`; empty where `then` is one of them. */
static nst_gnode *rest_of(splitter *s, const nst_gitems *items, size_t i, unsigned from, unsigned then) {
  if (i == items->len) return from & then ? nst_gnode_empty(s->to) : nst_gnode_fail(s->to);
  nst_gnode *out = rest_with(s, items, i, from, then);
  return may_lack(s, &items->items[i]) ? nst_gnode_alt(s->to, out, rest_of(s, items, i + 1, from, then)) : out;
}

/* The rule of a variant. The empty text is left to those who use it. */
static nst_gnode *body_of(splitter *s, const variant *v) {
  if (v->list) return list_body(s, v->symbol, v->from, v->then);
  const nst_gsymbol *x = symbol_at(s, v->symbol);
  nst_gnode *out = nst_gnode_fail(s->to);
  for (size_t r = 0; r < x->rules.len; r++) {
    const nst_gitems *items = &x->rules.items[r];
    for (size_t i = 0; i < items->len; i++) { /* the first item that is there */
      out = nst_gnode_alt(s->to, out, rest_with(s, items, i, v->from, v->then));
      if (!may_lack(s, &items->items[i])) break;
    }
  }
  return out;
}

void nst_grammar_split(nst_grules *to, const nst_grammar *g) {
  splitter s = {.to = to, .g = g};
  *nst_vec_push(to->arena, &to->rules) = (nst_grule){.name = "root"};
  nst_gnode *file = one(&s, g->start, ANY, NST_START_SIGN);
  *nst_vec_push(to->arena, &to->rules) =
    (nst_grule){.name = "last-comment", .lexical = true, .body = nst_glexical_last_comment(to)};
  nst_gnode *end = nst_gnode_optional(to, nst_gnode_rule(to, (uint32_t)to->rules.len - 1));
  nst_gnode *start = nst_glexical_gap(to, &s.lexical);
  to->rules.items[0].body = seq3(&s, start, file, end);
  for (size_t i = 0; i < s.variants.len; i++) { /* grows on the way */
    const variant v = s.variants.items[i];
    nst_gnode *body = body_of(&s, &v);
    to->rules.items[v.rule].body = body;
  }
}
