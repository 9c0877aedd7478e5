/* The grammar over tokens as deterministic automata, for export_split.c.
 *
 * What stands between two brackets, and each item of a block, is a regular language
 * of tokens and of smaller groups in brackets: recursion that is not at the end of
 * a production always goes through brackets, among which are `if then` and `then
 * else`. So each such stretch is an automaton, and a state also knows how the
 * token before it ended. Engines that follow all readings of a text at once have
 * one to follow, however deep it nests. */
#ifndef NST_GRAMMAR_EXPORT_AUTOMATON_H
#define NST_GRAMMAR_EXPORT_AUTOMATON_H
#include "grammar/export.h"

/* A token, or a group in brackets. */
typedef struct {
  uint16_t symbol;         /* the token; the opening bracket */
  NST_VEC(uint32_t) parts; /* stretches: one of a group, two of `if then else`, none of a token */
  unsigned starts, ends;   /* NST_START_, NST_END_ */
} nst_gatom;

/* How a stretch ends. */
typedef enum {
  NST_CLOSE_BRACKET, /* with the closing bracket `symbol` */
  NST_CLOSE_APART,   /* an item, so that one that begins with `starts` may follow */
  NST_CLOSE_SHORT    /* an item without the white space that would need: behind it stand signs only */
} nst_gclose_kind;
typedef struct {
  nst_gclose_kind kind;
  uint16_t symbol;
  unsigned starts;
} nst_gclose;

typedef struct {
  uint32_t atom, state; /* the state behind it */
} nst_gstep;
typedef struct {
  NST_VEC(nst_gstep) steps;
  uint32_t close;   /* of a state where the stretch may end, else NST_GNONE */
  unsigned end;     /* how the token before it ended */
  uint32_t same;    /* the first state that accepts the same in the same way; itself */
  const char *name; /* the production that it stands in */
  NST_VEC(uint32_t) nodes;
  bool lives; /* an end can be reached */
} nst_gstate;

/* A block of items, one or more. An item that begins with a sign (`;`, `,`) makes no demands on the one before it. */
typedef struct {
  uint16_t item;
  const char *name;
  uint32_t apart, brief, sign_apart, sign_brief; /* states; the latter two of items that begin with a sign */
} nst_gblock;

/* What stands between two brackets. */
typedef struct {
  nst_gitems content;
  uint16_t open, close;
  uint32_t state, block; /* one of them; the other is NST_GNONE */
} nst_gstretch;

enum { NST_GNONE = UINT32_MAX };

typedef struct {
  nst_arena *arena;
  const nst_grammar *g;
  NST_VEC(nst_gatom) atoms;
  NST_VEC(nst_gclose) closes;
  NST_VEC(nst_gstretch) stretches;
  NST_VEC(nst_gblock) blocks;
  NST_VEC(nst_gstate) states;
  NST_VEC(struct nst_gplace) places; /* of the nondeterministic automaton */
  uint32_t file;                     /* the block of declarations */
  bool endless;                      /* recursion that goes through no bracket */
} nst_gautomata;

void nst_gautomata_make(nst_gautomata *a, nst_arena *arena, const nst_grammar *g);

/* White space between a token that ended so and one that starts so. */
typedef enum { NST_SPACE_NONE, NST_SPACE_MAY, NST_SPACE_MUST, NST_SPACE_APART } nst_gspace;
nst_gspace nst_gspace_between(unsigned end, unsigned starts);
#endif
