/* Proven pruning for the kernel engine: what the coefficients of a level say
 * about every point further in.
 *
 * A condition `form <= constant` whose form has only positive coefficients (the
 * memory that tiles take) is a lower bound as soon as the outer tuples are
 * known: each column is at least its least value. Where the bound is broken, no
 * point further in is valid, whatever it costs. */
#ifndef NST_BACKEND_SWEEP_KERNEL_H
#define NST_BACKEND_SWEEP_KERNEL_H
#include "backend/sweep_layout.h"

typedef struct nst_sweep_bounds nst_sweep_bounds;
/* NULL: no condition of that kind. */
nst_sweep_bounds *nst_sweep_bounds_new(nst_arena *arena, const nst_sweep_program *p, const int64_t *divisors);
/* coefficients: those of the level's entries (last level: of the slots) at [k * stride]. Can no point further in be valid? */
bool nst_sweep_bounds_prune(const nst_sweep_bounds *b, const nst_sweep_layout *l, const nst_sweep_nest *nest, int level,
                            const void *coefficients, uint64_t stride);

/* What a kernel engine works on, for programs that compare it with something else. */
typedef struct {
  const nst_sweep_layout *layout;
  const nst_sweep_program *program;
  const int64_t *divisors;   /* of the forms */
  double compile_seconds;    /* of making it, spent in the code generator */
} nst_sweep_kernel_parts;
nst_sweep_kernel_parts nst_sweep_kernel_show(const nst_sweep_engine *e);
/* A variant's polynomials, one a form; false: a duplicate of an earlier one. */
bool nst_sweep_kernel_variant(const nst_sweep_engine *e, uint64_t number, const nst_sweep_known_poly **forms);
#endif
