/* The compiler as a pipeline: text -> tree -> IR, and IR -> figures. */
#ifndef NST_DRIVER_PIPELINE_H
#define NST_DRIVER_PIPELINE_H
#include "driver/internal.h"
#include "frontend/ast.h"
#include "frontend/compile.h"

/* The tree of the main text; a struct so that files that see the backend need not see the frontend. */
struct nst_syntax {
  nst_ast_file *file;
  const nst_ast_decl **decls; size_t ndecls; /* in source order; none where the text does not parse */
  bool clean;                /* parsing it said nothing */
  const nst_checked_head *head; /* NULL: not checked, or of no use to others */
};

/* Compiles into a program whose arena, interner, sources, diags and stage are set. base: a program whose text this one begins with and whose
 * interner's names it has, or NULL. false: only without a base it can be compiled, in a new program. */
bool nst_pipeline_compile(nestor_program *p, const nestor_program *base, const char *name, const char *text, size_t size);
/* Whether the program can be the base of one with this text. */
bool nst_pipeline_is_base(const nestor_program *base, const char *text, size_t size);
/* Evaluates at e->params. diags may be NULL. e->nest is NULL afterwards exactly when it returns false. */
bool nst_pipeline_evaluate(nestor_eval *e, nestor_engine engine, nst_diags *diags);
#endif
