/* Axes of a sweep: the swept parameters divided into sets that do not interact,
 * so that every factor of every counter is a table over one axis.
 *
 * Two parameters share an axis if one's set needs the other, if they reach one
 * group of dimensions (tiles, extents, coefficients of dimensions that share a
 * rank), or if pars of their dimensions share an axis of an array. Whether a
 * tuple is feasible (tiles positive integers, pars that fit) then depends on the
 * axis alone. Numbers are evaluated once per feasible tuple. */
#ifndef NST_BACKEND_SWEEP_AXES_H
#define NST_BACKEND_SWEEP_AXES_H
#include "backend/sweep.h"
#include "ir/analysis.h"

typedef struct {
  nst_axis all;             /* every tuple */
  size_t ntuples;           /* feasible ones, at least 1 unless the space is empty */
  size_t *which;            /* [ntuples]: number among all */
  bool *dims;               /* [ndims of the workload]: split by this axis */
  int64_t *tile;            /* [ntuples][nodes of the template]: of the splits of its dimensions */
} nst_sweep_axis;

typedef struct {
  const nst_ir_mapping *mapping;
  const nst_space *space;
  nst_variants variants;
  nst_sweep_axis *axes; int naxes; /* the last has no parameters: one tuple, the dimensions that no parameter touches */
  int *axis_of_dim;                /* [ndims] */
  const nst_nest *base;            /* a nest with extents, coefficients, shapes and levels: the same everywhere */
  nst_nest_maker *base_maker;
  uint64_t points;                 /* all tuples of all axes together, per variant */
} nst_sweep_axes;

/* false: not for tables; *why in words. Errors of the program are messages in diags (then *why is NULL). */
bool nst_sweep_axes_init(nst_sweep_axes *a, nst_arena *arena, const nst_ir_mapping *m, const nst_ir_sweep *s,
                         const nst_space *space, nst_diags *diags, const char **why);
void nst_sweep_axes_fini(nst_sweep_axes *a);
/* The number that an input of a variant's plan has in a tuple of an axis. */
int64_t nst_sweep_input(const nst_sweep_axes *a, const nst_sweep_axis *x, size_t tuple, const nst_ir_mapping *variant, nst_input in);
/* Values of expressions without metrics that depend on the parameters of one axis alone. Borrows its arguments. */
typedef struct nst_sweep_evaluator nst_sweep_evaluator;
nst_sweep_evaluator *nst_sweep_evaluator_new(const nst_sweep_axes *a, const nst_ir_sweep *s, int axis);
void nst_sweep_evaluator_free(nst_sweep_evaluator *v);
/* false: no value there. */
bool nst_sweep_evaluator_eval(nst_sweep_evaluator *v, size_t tuple, const nst_expr *e, nst_value *out);
/* Bit k: the expression depends on swept parameter k. */
uint64_t nst_sweep_mask(const nst_sweep_axes *a, const nst_ir_sweep *s, const nst_expr *e);
#endif
