/* A kernel: a mapping compiled for parameter vectors.
 *
 * It counts what nst_nest_make and nst_analysis_count count, to the last
 * integer, for one vector or for many, a thousand times faster: the checks and
 * the formulas are native code, the columns of the groups are remembered
 * between points (backend/columns.h). Where native code cannot be exact, or
 * the point is an error that deserves a message, the kernel says DEOPT and the
 * caller asks the nest and the analysis.
 *
 * A kernel is immutable: any number of threads may evaluate it at once, each
 * with a scratch of its own. Mapping, plan and session must outlive it. */
#ifndef NST_BACKEND_KERNEL_H
#define NST_BACKEND_KERNEL_H
#include "backend/jit.h"
#include "ir/analysis.h"

typedef struct {
  nst_jit *jit;
  nst_jit_level level;
  const char *require; /* see nst_jit_options: NULL but in tests of failing */
} nst_kernel_options;

typedef enum {
  NST_KERNEL_OK,
  NST_KERNEL_INFEASIBLE, /* a tile is no positive integer, or a par does not fit its axis */
  NST_KERNEL_DEOPT       /* evaluate this point by nst_nest_make and nst_analysis_count */
} nst_kernel_status;

typedef struct nst_kernel nst_kernel;
/* Compiles n mappings into one module; out[i] is free of the others and freed alone. plans[i] is the plan of
 * mappings[i], or NULL where there is none: such a kernel answers DEOPT. On failure all of out is NULL. */
nst_jit_status nst_kernels_new(nst_kernel **out, int n, const nst_ir_mapping *const *mappings, const nst_plan *const *plans,
                               nst_kernel_options options, nst_buffer *error);
nst_jit_status nst_kernel_new(nst_kernel **out, const nst_ir_mapping *m, const nst_plan *plan, nst_kernel_options options,
                              nst_buffer *error);
void nst_kernel_free(nst_kernel *k); /* NULL is fine */
/* The LLVM text of the same module (--emit=llvm). */
nst_jit_status nst_kernels_emit_llvm(nst_buffer *out, int n, const nst_ir_mapping *const *mappings,
                                     const nst_plan *const *plans, nst_kernel_options options, nst_buffer *error);

typedef struct nst_kernel_scratch nst_kernel_scratch; /* of one thread, for one kernel */
nst_kernel_scratch *nst_kernel_scratch_new(const nst_kernel *k);
void nst_kernel_scratch_free(nst_kernel_scratch *s); /* NULL is fine */

/* params: [nparams] of the mapping's scope. Writes *out (made for the same mapping) only where the point is OK. */
nst_kernel_status nst_kernel_eval(const nst_kernel *k, nst_kernel_scratch *s, const int64_t *params, nst_counts *out);

/* Many points: params[p][i] is parameter p of point i, status[i] a nst_kernel_status. The counters of point i are the
 * nst_kernel_width(k) numbers at out + i * nst_kernel_width(k); of a point that is not OK they mean nothing.
 * Returns how many are OK. */
size_t nst_kernel_batch(const nst_kernel *k, nst_kernel_scratch *s, size_t n, const int64_t *const *params, uint8_t *status,
                        int64_t *out);
size_t nst_kernel_width(const nst_kernel *k);
/* The counters of one point of a batch as nst_counts that point into it. */
nst_counts nst_kernel_view(const nst_kernel *k, int64_t *point);

/* Whether bits, axes and attributes of the hardware are the same for every point: then the metrics of all points may
 * be computed with the nest of any one of them. */
bool nst_kernel_fixed_costs(const nst_kernel *k);

/* What the kernel did so far with this scratch, for benchmarks. */
typedef struct { uint64_t points, rows_filled, groups_counted; } nst_kernel_statistics;
nst_kernel_statistics nst_kernel_scratch_statistics(const nst_kernel_scratch *s);
/* Rows looked up for a point, and numbers loaded from them: what a point costs. */
void nst_kernel_size(const nst_kernel *k, int *rows, int *values, int *instructions);
#endif
