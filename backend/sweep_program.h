/* What a sweep asks of a point, as a program on forms.
 *
 * Forms are linear metrics (sums of counters with whole weights); a program combines them into the objectives, the pareto
 * metrics and the condition. The program is the same for all variants; only the
 * polynomials behind the forms differ. */
#ifndef NST_BACKEND_SWEEP_PROGRAM_H
#define NST_BACKEND_SWEEP_PROGRAM_H
#include "backend/sweep_poly.h"
#include "backend/vector.h"

/* weight * counter, summed over the statements (stmt -1: all). HELD: elements kept at a level on the path of stmt. */
typedef enum { NST_ATOM_READS, NST_ATOM_FILLS, NST_ATOM_UPDATES, NST_ATOM_DRAINS, NST_ATOM_HELD, NST_ATOM_STEPS, NST_ATOM_ONE,
               NST_ATOM_PARAM } nst_atom_kind;
typedef struct { nst_atom_kind kind; int stmt, level, tensor; nst_rat weight; } nst_atom; /* PARAM: tensor = point number */
typedef struct { nst_atom *atoms; int natoms; } nst_sweep_form; /* weights are whole */

typedef struct {
  nst_sweep_form *forms; int nforms;
  nst_vop *ops; int nops;
  int valid;                                   /* op */
  struct { int op; int64_t den; } metrics[NST_SWEEP_MAX_METRICS]; int nmetrics; /* value = op / den */
} nst_sweep_program;

/* instances(stmt, level) must be constant where a bandwidth divides by it: instances[stmt * nlevels + level], -1: varies.
 * false: not for kernels; *why in words. */
bool nst_sweep_program_build(nst_sweep_program *p, nst_arena *arena, const nst_sweep_axes *axes, const nst_ir_sweep *s,
                             const int64_t *instances, const char **why);
/* The polynomial of a form for one variant: whole coefficients. false: past 63 bits. */
bool nst_sweep_form_poly(nst_sweep_poly *out, nst_sweep_tables *t, const nst_sweep_form *f, const nst_ir_mapping *variant,
                         const nst_plan *plan, const nst_sweep_factor *factors);
/* Values of all ops from the values of the forms; booleans are 0 or 1. false: past 63 bits. */
bool nst_sweep_program_run(const nst_sweep_program *p, const int64_t *forms, int64_t *ops);
#endif
