/* What a sweep asks of a point, as a program on forms.
 *
 * Forms are linear metrics (sums of counters with whole weights); a program combines them into the objectives, the pareto
 * metrics and the condition. The program is the same for all variants; only the
 * polynomials behind the forms differ. */
#ifndef NST_BACKEND_SWEEP_PROGRAM_H
#define NST_BACKEND_SWEEP_PROGRAM_H
#include "backend/sweep_poly.h"
#include "backend/vector.h"

/* weight * counter, summed over the statements (stmt -1: all). HELD: elements kept at a level on the path of stmt.
 * PARAM: tensor = number of the point. TABULATED: tensor = which. CONFLICTS: elements that partial sums meet in where
 * reduce = false, of all arrays. */
typedef enum { NST_ATOM_READS, NST_ATOM_FILLS, NST_ATOM_UPDATES, NST_ATOM_DRAINS, NST_ATOM_HELD, NST_ATOM_STEPS, NST_ATOM_INSTANCES,
               NST_ATOM_CONFLICTS, NST_ATOM_ONE, NST_ATOM_PARAM, NST_ATOM_TABULATED } nst_atom_kind;
typedef struct { nst_atom_kind kind; int stmt, level, tensor; nst_rat weight; } nst_atom;
/* per >= 0: the sum times common / instances, of instances number per. */
typedef struct { nst_atom *atoms; int natoms; int per; } nst_sweep_form; /* weights are whole */

/* Working instances of a statement at a level: a product of columns. common is a multiple of every value, their value
 * where they do not vary (at least 1). */
typedef struct {
  bool known, varies;
  int64_t common;
  int *columns;   /* [naxes]; their product times factor are the instances */
  int64_t factor;
  int *shares;    /* [naxes]; their product is common / instances */
} nst_sweep_instances;

/* What depends on the parameters of one axis alone: a whole number for each feasible tuple. */
typedef struct { int axis; const int64_t *values; } nst_sweep_tabulated;

/* A metric: op / (den * over); over -1: op / den. */
typedef struct {
  int op; int64_t den; int over;
  int order;       /* op that is larger where the metric is; -1: there is none */
  int64_t factor;  /* over >= 0 and order >= 0: the metric is factor / (den * over), order = -over */
} nst_sweep_metric;

typedef struct {
  nst_sweep_form *forms; int nforms;
  nst_vop *ops; int nops;
  int valid;                                   /* op */
  int possible;                                /* op: no partial sums meet where they must not; -1: they cannot */
  int wrong;                                   /* op: something that is asked for has no value; -1: everything has */
  int *divisors; int ndivisors;                /* ops that must not be negative */
  nst_sweep_tabulated *tabulated;
  const nst_sweep_instances *instances;
  nst_sweep_metric metrics[NST_SWEEP_MAX_METRICS]; int nmetrics;
} nst_sweep_program;

/* Of variant 0: [nstmts * nlevels]. */
const nst_sweep_instances *nst_sweep_instances_find(nst_arena *arena, nst_sweep_tables *t, const nst_plan *plan,
                                                    const nst_sweep_factor *factors);
/* false: not for kernels; *why in words. */
bool nst_sweep_program_build(nst_sweep_program *p, nst_arena *arena, const nst_sweep_axes *axes, const nst_ir_sweep *s,
                             const nst_sweep_instances *instances, const char **why);
/* The polynomial of a form for one variant: whole coefficients. false: past 63 bits, or instances that are not those of
 * variant 0. */
bool nst_sweep_form_poly(nst_sweep_poly *out, nst_sweep_tables *t, const nst_sweep_program *p, int form, const nst_ir_mapping *variant,
                         const nst_plan *plan, const nst_sweep_factor *factors);
/* Values of all ops from the values of the forms; booleans are 0 or 1. false: past 63 bits. */
bool nst_sweep_program_run(const nst_sweep_program *p, const int64_t *forms, int64_t *ops);
/* The value of a metric's order at a point where the metric is r. */
int64_t nst_sweep_metric_order(const nst_sweep_metric *m, nst_rat r);
#endif
