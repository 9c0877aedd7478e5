/* What the parts of the parser share: the tokens, the open blocks, the diagnostics.
 *
 * A source is scanned whole before it is parsed, so the parser can look as far
 * ahead and back as a good message needs, and recovery from an error is a
 * choice of the token to go on with (recover.c). Invariants: tokens are in
 * source order and the last one is END; `comments` likewise; every block on the
 * stack has its items production on bison's stack. */
#ifndef NST_GRAMMAR_STATE_H
#define NST_GRAMMAR_STATE_H
#include "base/diag.h"
#include "base/vec.h"
#include "frontend/ast.h"
#include "grammar/parse.h"

#define NST_NONE UINT32_MAX

typedef struct {
  int kind; /* of enum nst_parse_tokentype */
  uint32_t begin, end;
  uint32_t line_first; /* index of the first token of its line */
  uint32_t indent;     /* bytes before that token on the line */
  uint32_t match;      /* of '{': the index of its '}'; NST_NONE without */
  nst_name name;       /* names and keywords */
} nst_token;

typedef enum {
  NST_BLOCK_FILE,
  NST_BLOCK_WORKLOAD,
  NST_BLOCK_HARDWARE,
  NST_BLOCK_ATTRS,
  NST_BLOCK_MAPPING,
  NST_BLOCK_SEQ,
  NST_BLOCK_TEST,
  NST_BLOCK_MODEL,
  NST_BLOCK_VERIFY,
  NST_BLOCK_SWEEP
} nst_block_kind;
typedef struct {
  nst_block_kind kind;
  uint32_t open; /* token index of its brace */
  bool missing;  /* the brace is not there, which is reported */
} nst_block;

typedef struct nst_parser {
  nst_arena *arena;
  nst_interner *interner;
  nst_diags *diags;
  const nst_source *source;
  uint32_t source_id;
  uint32_t from; /* where scanning begins: what is before it was parsed already */
  nst_ast_file *file;
  unsigned char *rules; /* or NULL */

  NST_VEC(nst_token) tokens;
  NST_VEC(nst_ast_comment) comments;
  struct {
    nst_name name;
    int kind;
  } keywords[256];       /* open addressing */
  NST_VEC(uint32_t) bad; /* offsets of the scanner's errors */

  uint32_t next;     /* index of the token to deliver next */
  uint32_t current;  /* index of the newest token delivered */
  bool inject_open;  /* an opening brace to deliver before tokens[next], */
  uint32_t injected; /* and closing braces */
  uint32_t resume;   /* where recovery goes on, chosen with the message; UINT32_MAX: not chosen */
  uint32_t resynced; /* where recovery went on last, to be sure of progress */
  bool stop;         /* too many errors or too deep: nothing more is delivered */
  bool deep_reported;

  NST_VEC(nst_block) blocks;
  uint32_t suspect; /* token index of a '{' whose '}' stood further left than it */
  uint32_t early;   /* token index of a '}' that stood further right than its '{' */
} nst_parser;

enum { NST_PARSE_MAX_BLOCKS = 400 }; /* one inside the other, so that a walk may recurse */

/* scan.c */
void nst_scan_init(nst_parser *p);
bool nst_scan_all(nst_parser *p);                         /* false: not text, already reported */
int nst_scan_keyword(const nst_parser *p, nst_name name); /* token kind, NAME if none */
bool nst_scan_is_unit(const char *text, size_t len);      /* "KiB"; "B/cycle" */
/* for the rules of lexer.l */
void nst_scan_word(nst_parser *p, uint32_t begin, uint32_t len);
void nst_scan_symbol(nst_parser *p, uint32_t begin, uint32_t len);
uint32_t nst_scan_number(nst_parser *p, uint32_t begin, uint32_t len);  /* how many bytes it used */
void nst_scan_open_number(nst_parser *p, uint32_t begin, uint32_t len); /* `5.` */
void nst_scan_other(nst_parser *p, uint32_t begin, uint32_t len);
void nst_scan_token(nst_parser *p, int kind, uint32_t begin, uint32_t len);
void nst_scan_comment(nst_parser *p, uint32_t begin, uint32_t len);
void nst_scan_string(nst_parser *p, uint32_t begin, uint32_t len, bool closed);
void nst_scan_respelled(nst_parser *p, int kind, uint32_t begin, uint32_t len, const char *right);
bool nst_lex_run(nst_parser *p, const char *text, size_t len); /* lexer.l; the bytes from p->from on */

/* parser.y */
const char *nst_token_text(int kind); /* "workload", "'{'", "a name" */
bool nst_token_is_name(int kind);     /* NAME or a soft word */
bool nst_token_is_reserved(int kind);

/* message.c: one message for an unexpected token; may choose where recovery goes on */
void nst_message_syntax(nst_parser *p, const int *expected, int n);
void nst_message_too_deep(nst_parser *p, nst_span span);

/* recover.c */
uint32_t nst_recover(nst_parser *p, bool has_lookahead); /* the token to go on with */
bool nst_recover_starts_item(const nst_parser *p, nst_block_kind block, uint32_t i);
bool nst_recover_starts_decl(const nst_parser *p, uint32_t i);
void nst_block_enter(nst_parser *p, nst_block_kind kind, nst_span brace);
void nst_block_leave(nst_parser *p, nst_span brace);

static inline nst_span nst_parse_span(const nst_parser *p, uint32_t begin, uint32_t end) {
  return (nst_span){p->source_id, begin, end};
}
static inline nst_span nst_token_span_of(const nst_parser *p, uint32_t i) {
  return nst_parse_span(p, p->tokens.items[i].begin, p->tokens.items[i].end);
}
#endif
