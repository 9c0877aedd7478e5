/* A mapping's numbers as code: what nst_nest_make computes for one parameter
 * vector, written once for all of them.
 *
 * The code computes with 64-bit integers, a rational as numerator and
 * denominator. It never disagrees with ir/nest.c: wherever it cannot be exact
 * (an intermediate past 64 bits, a square root) a condition `ok` is false
 * and the caller asks the nest itself. What does not depend on the parameters
 * is evaluated here, once, by nst_expr_eval. */
#ifndef NST_BACKEND_CODEGEN_H
#define NST_BACKEND_CODEGEN_H
#include "backend/code.h"
#include "ir/analysis.h"

/* ---- expressions (codegen_expr.c) ---- */

typedef enum {
  NST_CG_FREE,   /* depends on no parameter: not evaluated yet, see nst_cg_expr */
  NST_CG_KNOWN,  /* depends on no parameter: value */
  NST_CG_NUMBER, /* num / den with den >= 1 */
  NST_CG_TRUTH,  /* num is a boolean */
  NST_CG_NOTHING /* no native value: ok is never true */
} nst_cg_kind;
typedef struct {
  nst_cg_kind kind;
  const nst_expr *free;
  nst_value value;
  nst_id num, den, ok; /* where ok is false num and den mean nothing, but den is still at least 1 */
} nst_cg_value;

typedef struct {
  nst_code *code;
  const nst_ir_scope *scope;
  nst_cg_value *values; /* [nvalues]: those generated so far; never FREE */
  nst_value *known;    /* [nvalues]: value of each that is KNOWN */
} nst_cg;

void nst_cg_init(nst_cg *l, nst_code *code, const nst_ir_scope *scope); /* memory in code's arena; generates the values */
/* Parameter i of the scope is LOAD_POINT i. */
nst_cg_value nst_cg_expr(nst_cg *l, const nst_expr *e); /* never FREE */
/* As a 64-bit integer. Narrows *ok by whether it was computed exactly, and *integral by whether it is one. */
nst_id nst_cg_integer(nst_cg *l, const nst_cg_value *v, nst_id *ok, nst_id *integral);
/* Whether the number is >= 0, or > 0. Narrows *ok likewise. */
nst_id nst_cg_sign(nst_cg *l, const nst_cg_value *v, bool strictly, nst_id *ok);

/* ---- mappings (codegen_nest.c) ---- */

typedef struct { nst_id *coef; nst_id offset, size; } nst_cg_rank;
typedef struct { nst_cg_rank *ranks; } nst_cg_access;
typedef struct {
  nst_id ok;       /* all was computed exactly, and is legal, but for: */
  nst_id feasible; /* tiles are positive integers, pars fit their axes */
  nst_id *extent;  /* [ndims] */
  nst_id *tile;    /* [nnodes]: at most the extent outside it, so that equal nests give equal numbers */
  nst_cg_access *accesses; int *first_access; /* [nstmts]: output, then inputs */
  bool fixed_costs; /* bits, axes and attributes depend on no parameter */
} nst_cg_nest;

void nst_cg_nest_make(nst_cg_nest *out, nst_code *code, const nst_ir_mapping *m);
nst_id nst_cg_input(const nst_cg_nest *n, nst_input in);
#endif
