/* A mapping's numbers as code: what nst_nest_make computes for one parameter
 * vector, written once for all of them.
 *
 * The code computes with 64-bit integers, a rational as numerator and
 * denominator. It never disagrees with ir/nest.c: wherever it cannot be exact
 * (an intermediate past 64 bits, a square root) a condition `ok` is false
 * and the caller asks the nest itself. What does not depend on the parameters
 * is evaluated here, once, by nst_expr_eval. */
#ifndef NST_BACKEND_LOWER_H
#define NST_BACKEND_LOWER_H
#include "backend/code.h"
#include "ir/analysis.h"

/* ---- expressions (lower_expr.c) ---- */

typedef enum {
  NST_LOWERED_FREE,   /* depends on no parameter: not evaluated yet, see nst_lower_force */
  NST_LOWERED_KNOWN,  /* depends on no parameter: value */
  NST_LOWERED_NUMBER, /* num / den with den >= 1 */
  NST_LOWERED_TRUTH,  /* num is a boolean */
  NST_LOWERED_NOTHING /* no native value: ok is never true */
} nst_lowered_kind;
typedef struct {
  nst_lowered_kind kind;
  const nst_expr *free;
  nst_value value;
  nst_id num, den, ok; /* where ok is false num and den mean nothing, but den is still at least 1 */
} nst_lowered;

typedef struct {
  nst_code *code;
  const nst_ir_scope *scope;
  nst_lowered *values; /* [nvalues]: those lowered so far; never FREE */
  nst_value *known;    /* [nvalues]: value of each that is KNOWN */
} nst_lowering;

void nst_lowering_init(nst_lowering *l, nst_code *code, const nst_ir_scope *scope); /* memory in code's arena; lowers the values */
/* Parameter i of the scope is LOAD_POINT i. */
nst_lowered nst_lower_expr(nst_lowering *l, const nst_expr *e); /* never FREE */
/* As a 64-bit integer; *integral false where it is none. Both conditions are true without parameters' help or not at all. */
nst_id nst_lowered_integer(nst_lowering *l, const nst_lowered *v, nst_id *ok, nst_id *integral);
/* Whether the number is >= 0, or > 0. */
nst_id nst_lowered_sign(nst_lowering *l, const nst_lowered *v, bool strictly, nst_id *ok);

/* ---- mappings (lower_nest.c) ---- */

typedef struct { nst_id *coef; nst_id offset, size; } nst_lowered_rank;
typedef struct { nst_lowered_rank *ranks; } nst_lowered_access;
typedef struct {
  nst_id ok;       /* all was computed exactly, and is legal, but for: */
  nst_id feasible; /* tiles are positive integers, pars fit their axes */
  nst_id *extent;  /* [ndims] */
  nst_id *tile;    /* [nnodes]: at most the extent outside it, so that equal nests give equal numbers */
  nst_lowered_access *accesses; int *first_access; /* [nstmts]: output, then inputs */
} nst_lowered_nest;

void nst_lower_nest(nst_lowered_nest *out, nst_code *code, const nst_ir_mapping *m);
nst_id nst_lowered_input(const nst_lowered_nest *n, nst_input in);
#endif
