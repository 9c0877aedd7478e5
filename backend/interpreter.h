/* The plain path: one mapping, one parameter vector at a time, by the nest and
 * the analysis. No native code; after the first evaluation, no allocation.
 * Belongs to one thread; the mapping must outlive it. */
#ifndef NST_BACKEND_INTERPRETER_H
#define NST_BACKEND_INTERPRETER_H
#include "ir/analysis.h"

typedef struct nst_interpreter nst_interpreter;
nst_interpreter *nst_interpreter_new(const nst_ir_mapping *m);
void nst_interpreter_free(nst_interpreter *i); /* NULL is fine */
/* params: [nparams] values. The counts, valid until the next call, or NULL with messages in diags (NULL allowed). */
const nst_counts *nst_interpreter_eval(nst_interpreter *i, const nst_value *params, nst_diags *diags);
/* The same for whole parameters. */
const nst_counts *nst_interpreter_eval_integers(nst_interpreter *i, const int64_t *params, nst_diags *diags);
/* The nest of the last call; NULL if it had none. It is there even where the analysis refused. */
const nst_nest *nst_interpreter_nest(const nst_interpreter *i);
const nst_plan *nst_interpreter_plan(const nst_interpreter *i); /* NULL: the mapping has none */
#endif
