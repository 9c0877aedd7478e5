/* Sources for tests of the grammar: parse a text, find the programs of tests/cases. */
#ifndef NST_TESTS_UNIT_SYNTAX_H
#define NST_TESTS_UNIT_SYNTAX_H
#include "base/diag.h"
#include "base/intern.h"
#include "frontend/ast.h"

typedef struct {
  nst_arena *arena;
  nst_interner *interner;
  nst_sources *sources;
  nst_diags *diags;
  uint32_t source;
  nst_ast_file *file;
} syntax;

/* Parses len bytes; rules as for nst_parse_traced, or NULL. Ends with syntax_fini. */
syntax syntax_parse(const char *text, size_t len, unsigned char *rules);
void syntax_fini(syntax *s);
char *syntax_messages(const syntax *s);              /* rendered, from malloc */
char *syntax_print(const syntax *s);                 /* the tree as text, from malloc */
char *syntax_format(const syntax *s);                /* from malloc */
bool syntax_equal(const syntax *a, const syntax *b); /* the same tree */

typedef struct {
  char *path, *text;
  size_t len;
} syntax_case;
/* The .nest files in a directory below tests (all directories of tests/cases for "cases"), sorted. */
syntax_case *syntax_cases(const char *dir, size_t *n);
void syntax_cases_free(syntax_case *cases, size_t n);
#endif
