/* The kernel engine's parts, for its files: sweep_kernel.c prepares and compiles,
 * sweep_numbers.c chooses numbers that are exact, sweep_kernel_run.c runs units,
 * sweep_bounds.c prunes. */
#ifndef NST_BACKEND_SWEEP_KERNEL_H
#define NST_BACKEND_SWEEP_KERNEL_H
#include "backend/sweep_keys.h"
#include "backend/sweep_layout.h"
#include "backend/sweep_stairs.h"
#include "base/vec.h"

/* ---- the engine ---- */

typedef struct { double lo, hi; } nst_range;

enum { NST_KERNEL_PROGRAM = 250 /* ops, forms and slots at most */, NST_KERNEL_BATCH = 1 << 10 /* points in a call of the filter */ };

typedef struct {
  int *polys;       /* [nforms] numbers of known polynomials; NULL: no mapping (without a keep? a tensor is kept nowhere) */
  bool duplicate;
  uint64_t next;    /* the next variant with the same polynomials; 0: none */
} nst_kernel_variant;

typedef struct {
  nst_sweep_engine engine;
  nst_arena *arena;
  const nst_ir_sweep *sweep;
  const nst_space *space;
  nst_sweep_options options;
  nst_sweep_shape shape;
  nst_sweep_axes axes;
  nst_sweep_tables tables;
  nst_sweep_program program;
  NST_VEC(nst_sweep_known_poly) polys;
  nst_kernel_variant *variants;
  nst_sweep_layout layout;
  nst_sweep_keys keys;
  int64_t *divisors;           /* of the forms */
  int *base, *like;            /* of the forms: sweep_layout.h */
  bool all;                    /* every valid point is a candidate */
  int octave;                  /* of the largest value of the first pareto metric */
  bool small_sum;              /* of all metrics of a point: below 2^52 */
  uint64_t chunks, chunk;      /* units per variant; tuples of the outermost axis in each */
  uint64_t feasible;           /* points per variant */
  nst_jit_unit *unit;
  nst_vector_function *accumulate, *filter;
  uint64_t prune_from;         /* fewer points are not worth a look at their bounds */
  nst_range *forms;            /* over all points */
  double slack;                /* no sum of ranges on the way to a form is rounded by more */
  bool *live;                  /* ops that bounds need */
  double compile_seconds;
} nst_kernel_engine;

/* Doubles where every number stays below 2^52, and then with as few columns in the innermost loop as there can be. NULL,
 * or why not. */
const char *nst_kernel_choose_numbers(nst_kernel_engine *k, bool *floating);
/* The range of an op from those of the ops before it and of the forms. */
nst_range nst_kernel_range_of_op(const nst_vop *o, const nst_range *ops, const nst_range *forms);
/* Is the form never negative? */
bool nst_kernel_is_positive(const nst_sweep_form *f);
/* How many tuples of the last level but one go to the filter at once. */
uint64_t nst_kernel_batch_rows(const nst_sweep_layout *l);
nst_sweep_worker *nst_kernel_worker_new(const nst_sweep_engine *e);
void nst_kernel_worker_free(nst_sweep_worker *w);
bool nst_kernel_worker_run(nst_sweep_worker *w, uint64_t unit, nst_sweep_result *into, const atomic_bool *stop, nst_sweep_each *each,
                           void *context, const char **error);

/* ---- pruning (sweep_bounds.c) ----
 *
 * Once the tuples of the outer levels are known, the coefficients that they leave and the ranges of the columns further in
 * bound every form, and so every op. Where no point further in can be valid, or all of them are worse than what is known,
 * none needs to be looked at. */

typedef struct {
  bool has_best; double best;  /* points of a worse order of the first metric do not enter the best */
  bool has_first; double first; /* front of one metric: points of a larger order do not enter it */
  const nst_stairs *stairs;    /* front of two */
} nst_kernel_known;
void nst_kernel_bounds_init(nst_kernel_engine *k);
/* coefficients: those of the level's entries (last level: of the slots) at [k * stride]; ops, forms: scratch. */
bool nst_kernel_prune(const nst_kernel_engine *k, const nst_sweep_nest *nest, int level, const void *coefficients, uint64_t stride,
                      const nst_kernel_known *known, nst_range *forms, nst_range *ops);

/* ---- for programs that compare an engine with something else ---- */

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
