/* Between the files that write a sweep's program: sweep_program.c (expressions),
 * sweep_terms.c (numbers, forms) and sweep_metrics.c (metrics). */
#ifndef NST_BACKEND_SWEEP_BUILDER_H
#define NST_BACKEND_SWEEP_BUILDER_H
#include "backend/sweep_program.h"
#include "base/vec.h"

/* A value of a point: op / (den * over), where `over` is an op or -1: 1. Truths are ops that are 0 or 1. */
typedef struct { int op; int64_t den; int over; bool truth; } nst_term; /* op -1: failed */
typedef NST_VEC(nst_atom) nst_atoms;

typedef struct {
  nst_arena *arena;
  const nst_sweep_axes *axes;
  const nst_ir_sweep *sweep;
  const nst_sweep_instances *instances; /* [nstmts * nlevels] */
  const char *why;                      /* the first thing that is not for kernels */
  NST_VEC(nst_sweep_form) forms;
  NST_VEC(nst_vop) ops;
  NST_VEC(nst_sweep_tabulated) tabulated;
  NST_VEC(int) divisors;
  int guard;                            /* op: is the expression at hand evaluated at all? */
  int wrong;                            /* op: something evaluated has no value; -1: nothing so far */
} nst_builder;

/* sweep_terms.c */
extern const nst_term nst_term_failed;
nst_term nst_term_fail(nst_builder *b, const char *why);
int nst_term_op(nst_builder *b, nst_vop_kind kind, int x, int y, int64_t imm);
nst_term nst_term_true(nst_builder *b);
nst_term nst_term_constant(nst_builder *b, nst_rat r);
nst_term nst_term_scale(nst_builder *b, nst_term x, nst_rat by);
nst_term nst_term_combine(nst_builder *b, nst_vop_kind kind, nst_term x, nst_term y); /* ADD SUB MUL MIN MAX LT LE EQ */
nst_term nst_term_divide(nst_builder *b, nst_term x, nst_term y);
nst_term nst_term_floor(nst_builder *b, nst_term x);
nst_term nst_term_negate(nst_builder *b, nst_term x);
nst_term nst_term_logic(nst_builder *b, nst_vop_kind kind, nst_term x, nst_term y);   /* AND OR NOT */
nst_term nst_term_choose(nst_builder *b, nst_term condition, nst_term x, nst_term y);
void nst_term_add_atom(nst_builder *b, nst_atoms *as, nst_atom_kind kind, int stmt, int level, int tensor, nst_rat weight);
/* The sum of the atoms; per: over the instances of [stmt * nlevels + level], or -1. */
nst_term nst_term_form(nst_builder *b, const nst_atoms *as, int per);

/* sweep_metrics.c */
nst_term nst_term_metric(nst_builder *b, const nst_expr *e);
#endif
