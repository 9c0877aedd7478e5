/* Names and what they stand for.
 *
 * A table keeps its symbols in order of declaration and finds one by its
 * interned name in constant time. Tensors, dimensions, values, levels and each
 * kind of declaration have tables of their own: a name may stand in several.
 * A symbol whose declaration is wrong is `poisoned`: it is found, so that its
 * uses are not called unknown, and whatever is made of it stays silent. */
#ifndef NST_FRONTEND_SYMBOLS_H
#define NST_FRONTEND_SYMBOLS_H
#include "base/diag.h"
#include "base/intern.h"
#include "frontend/units.h"
#include "ir/expr.h"

typedef struct {
  nst_name name;
  nst_span span;
  int index;             /* of a dimension, tensor, level, parameter, value */
  bool poisoned;
  /* values: how a use is written in the IR, and its type */
  nst_expr_kind kind;    /* PARAM VALUE CONST BOOL; else `expr` is shared (a constant that is no exact number) */
  const nst_expr *expr;  /* CONST BOOL and shared */
  uint32_t weight;       /* of a shared expression */
  nst_unit unit;
  bool soft, truth;      /* see nst_typed */
  void *object;          /* of a declaration */
} nst_symbol;

typedef struct {
  nst_symbol *items; size_t len, cap;
  uint32_t *slots; size_t nslots; /* open addressing: index + 1; made only when a table grows */
} nst_symtab;

/* Adds without looking for an earlier one. The pointer is good until the next add. */
nst_symbol *nst_symtab_add(nst_arena *arena, nst_symtab *tab, nst_name name, nst_span span);
nst_symbol *nst_symtab_find(const nst_symtab *tab, nst_name name); /* NULL; the first of equal names */
/* Adds, or reports that the name stands for another `what` ("a dimension") already and returns NULL. */
nst_symbol *nst_symtab_declare(nst_arena *arena, nst_diags *diags, nst_symtab *tab, nst_name name, nst_span span,
                               const char *what);
/* Shortens a table to its first `len` symbols: the end of a block. */
void nst_symtab_truncate(nst_symtab *tab, size_t len);

/* The name to suggest for a wrong one among those of some tables. */
typedef struct { nst_name *items; size_t len, cap; } nst_candidates;
void nst_candidates_add(nst_arena *arena, nst_candidates *c, const nst_symtab *tab);
/* Adds "did you mean" and the fix-it to a message where a name is near; false where none is. Of a message that is not
 * kept nothing is wanted: true. */
bool nst_suggest(nst_diags *diags, nst_diag *m, nst_span span, nst_name wrong, const nst_candidates *c);
/* "a, b, c" with one more name, of which n are in the list; of many the first ones and an ellipsis. */
const char *nst_list_add(nst_arena *arena, const char *list, int n, const char *name);
/* Writes the names of a table as a help text: "known dimensions: m, n, k". */
void nst_help_known(nst_arena *arena, nst_diags *diags, nst_diag *m, const char *what, const nst_symtab *tab);
#endif
