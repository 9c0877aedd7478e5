/* The grammar exporter: the parser's productions as a grammar over characters.
 *
 * Four steps. export_rules.c reads the productions that bison reports, leaves
 * out what always ends in an error (export_narrow.def) and turns left recursion
 * into repetition: a grammar over tokens. export_automaton.c makes it deterministic
 * and export_split.c a grammar over characters: white space between tokens, mandatory
 * exactly where two tokens would run into one. export_write.c prints that in a
 * notation; what tokens are made of is export_lexical.c. */
#ifndef NST_GRAMMAR_EXPORT_H
#define NST_GRAMMAR_EXPORT_H
#include "base/arena.h"
#include "base/buffer.h"
#include "base/vec.h"
#include <stdbool.h>
#include <stdint.h>

typedef enum { NST_GRAMMAR_EBNF, NST_GRAMMAR_GBNF, NST_GRAMMAR_LARK } nst_grammar_format;

/* The grammar in one of the notations. Always the same text. */
void nst_grammar_export(nst_buffer *out, nst_grammar_format format);

/* Appends one rule of the grammar over tokens as a line (export_rule.c). false: there is no such rule. */
bool nst_grammar_export_rule(nst_buffer *out, const char *rule);

/* ---- the grammar over tokens (export_rules.c) ---- */

/* How a token begins, as far as what stands before it cares. */
enum {
  NST_START_SIGN = 1,     /* with a sign: nothing runs into it */
  NST_START_RESERVED = 2, /* with a reserved word, which may be glued to a number */
  NST_START_KEYWORD = 4,  /* with a keyword or a number: no unit */
  NST_START_NAME = 8      /* with a name, which behind a number and one space may be a unit */
};
/* How a token ends; NONE: there is none, or white space is taken care of. */
enum { NST_END_NONE = 0, NST_END_SIGN = 1, NST_END_WORD = 2, NST_END_NUMBER = 4 };

typedef struct {
  uint16_t symbol;
  bool repeated; /* from none to many */
} nst_gitem;
typedef NST_VEC(nst_gitem) nst_gitems;
typedef struct {
  const char *name;
  bool terminal;
  unsigned starts, ends;          /* of a terminal: one of NST_START_, of NST_END_ */
  NST_VEC(nst_gitems) rules;      /* of a nonterminal */
  const char *text;               /* of a terminal with one spelling */
  NST_VEC(const char *) excluded; /* of a class of names: the keywords that it is without */
} nst_gsymbol;
typedef struct {
  nst_arena *arena;
  NST_VEC(nst_gsymbol) symbols;
  uint16_t start;
  const char *stale; /* a production of export_narrow.def that parser.y has no longer, or NULL */
} nst_grammar;
void nst_grammar_read(nst_grammar *g, nst_arena *arena);

/* ---- the grammar over characters ---- */

typedef enum {
  NST_G_FAIL,  /* no text at all; never printed */
  NST_G_EMPTY, /* the empty text */
  NST_G_TEXT,  /* text */
  NST_G_CLASS, /* text: what stands between [ and ], with \xHH for the unprintable */
  NST_G_RULE,  /* rule */
  NST_G_SEQ,   /* kids */
  NST_G_ALT,   /* kids */
  NST_G_REPEAT /* kids[0], min to max times */
} nst_gkind;
typedef struct nst_gnode {
  nst_gkind kind;
  const char *text;
  uint32_t rule, min, max;
  NST_VEC(struct nst_gnode *) kids;
} nst_gnode;
typedef struct {
  const char *name; /* with "-" between words */
  bool lexical;     /* a rule of characters only: a terminal of Lark */
  nst_gnode *body;
} nst_grule;
typedef struct {
  nst_arena *arena;
  NST_VEC(nst_grule) rules; /* the first is `root` */
} nst_grules;

/* nodes (export_node.c); sequences and alternatives are flattened and shared beginnings factored out */
nst_gnode *nst_gnode_fail(nst_grules *to);
nst_gnode *nst_gnode_empty(nst_grules *to);
nst_gnode *nst_gnode_text(nst_grules *to, const char *text);
nst_gnode *nst_gnode_class(nst_grules *to, const char *text);
nst_gnode *nst_gnode_rule(nst_grules *to, uint32_t rule);
nst_gnode *nst_gnode_seq(nst_grules *to, nst_gnode *a, nst_gnode *b);
nst_gnode *nst_gnode_alt(nst_grules *to, nst_gnode *a, nst_gnode *b);
nst_gnode *nst_gnode_repeat(nst_grules *to, nst_gnode *a, uint32_t min, uint32_t max);
nst_gnode *nst_gnode_optional(nst_grules *to, nst_gnode *a);
bool nst_gnode_same(const nst_gnode *a, const nst_gnode *b);

/* export_lexical.c. Rules are made when they are first asked for. */
typedef struct {
  uint32_t space, gap, apart, comment, id_more, digits, unit; /* 0: not made yet */
  NST_VEC(struct {
    uint16_t symbol;
    uint32_t rule;
  }) tokens;
} nst_glexical;
nst_gnode *nst_glexical_token(nst_grules *to, nst_glexical *l, const nst_grammar *g, uint16_t symbol);
nst_gnode *nst_glexical_space(nst_grules *to, nst_glexical *l); /* some white space */
nst_gnode *nst_glexical_gap(nst_grules *to, nst_glexical *l);   /* white space or nothing */
nst_gnode *nst_glexical_apart(nst_grules *to, nst_glexical *l); /* the same, but not one plain space */
nst_gnode *nst_glexical_last_comment(nst_grules *to);           /* a comment without the end of its line */

/* export_simplify.c */
uint32_t nst_grules_resolve(const nst_grules *g, uint32_t rule); /* the rule that it is another name of */
void nst_grules_merge(nst_grules *g);
void nst_grules_hoist(nst_grules *g); /* for Lark */

void nst_grammar_split(nst_grules *to, const nst_grammar *g); /* export_split.c */
#endif
