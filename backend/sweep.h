/* A sweep: every point of a space, exactly.
 *
 * A point is a value for each swept parameter and a variant of the mapping
 * (backend/variant.h). Points are ordered: parameters in the order of the block,
 * the first slowest, then the number of the variant. This order breaks every
 * tie, so an answer does not depend on threads, shards, vector widths or pruning.
 *
 * The space is cut into units that can be done in any order, on any machine;
 * what a unit contributes is added to a result, and results merge (associative,
 * commutative). Threads, checkpoints, shards and MPI are all lists of units done
 * and one merged result. `into` holds what has been found so far: an engine may
 * prune by it, and whoever runs a pruning engine shows every unit the same
 * (sweep_run.c), so that what a unit adds, to the tally too, depends on the unit
 * alone. Two engines do units: the plain one (sweep_plain.c) evaluates point by
 * point through interpreter and metrics, any sweep; the kernel one
 * (sweep_kernel.c) runs generated code over tables of columns, most sweeps, far
 * faster. They agree to the last bit, and each says how it numbers its units.
 *
 *   space = evaluated + pruned + duplicates + dropped
 *   evaluated   points whose metrics were computed
 *   pruned      points proven not to enter any answer, without computing them
 *   duplicates  points of a variant with the same expressions as an earlier one: not
 *               computed, but among the best like any other
 *   dropped     points whose tile is not a positive integer or whose par does not fit,
 *               where partial sums would meet in an array with reduce = false, or where
 *               a keep? is dropped that was the only one of a tensor
 *   valid       evaluated points that satisfy every `where`; with pruning: at least so many */
#ifndef NST_BACKEND_SWEEP_H
#define NST_BACKEND_SWEEP_H
#include "backend/jit.h"
#include "backend/variant.h"
#include "ir/metrics.h"
#include <stdatomic.h>

/* ---- the space of parameters (sweep_space.c) ---- */

/* The values that some of the swept parameters take together, in enumeration order. */
typedef struct {
  int nparams; const int *which;       /* positions among the sweep's points, ascending */
  size_t ntuples; int64_t *values;     /* [ntuples][nparams] */
  uint64_t *places;                    /* [ntuples][nparams]: index of each value in its set (given those before it) */
} nst_axis;

typedef struct nst_space nst_space;
/* NULL with messages in diags. Other parameters have their defaults; a parameter without either is an error. */
nst_space *nst_space_new(const nst_ir_mapping *m, const nst_ir_sweep *s, nst_diags *diags);
void nst_space_free(nst_space *s);
const nst_value *nst_space_defaults(const nst_space *s); /* [nparams of the mapping]; swept ones: their first value */
/* Bit k of *mask: point number k is needed to know this set (its own parameter aside). */
uint64_t nst_space_needs(const nst_space *s, int point);
/* Bit k: the parameter is not swept, and its default depends on point k; it follows that one from point to point. */
uint64_t nst_space_follows(const nst_space *s, int param);
/* All values of all sets are whole numbers, whatever the numbers; else walk them as rationals (sweep_space.h). */
bool nst_space_is_whole(const nst_space *s);
/* Tuples of a subset closed under needs; false (diags, NULL allowed) if more than `limit` or a value is no int64. Memory in the arena. */
bool nst_space_axis(nst_axis *out, const nst_space *s, nst_arena *arena, const int *which, int n, size_t limit, nst_diags *diags);
/* Tuples of all parameters together, exactly (product over independent subsets); saturates at UINT64_MAX. */
uint64_t nst_space_count(const nst_space *s);

/* ---- results (sweep_result.c) ---- */

typedef struct {
  const nst_ir_sweep *sweep;
  int npoints, nmetrics;   /* metrics: objectives, then pareto expressions; at most NST_SWEEP_MAX_METRICS */
  size_t top;
} nst_sweep_shape;
enum { NST_SWEEP_MAX_METRICS = 32 };

typedef struct {
  uint64_t variant;
  int64_t *params;  /* [npoints] values; 0 where one is no int64 (its place tells it) */
  uint64_t *places; /* [npoints] index of each value in its set: the point's place in the order */
  nst_rat *metrics; /* [nmetrics] */
} nst_sweep_point;

typedef struct nst_sweep_result nst_sweep_result;
nst_sweep_result *nst_sweep_result_new(nst_sweep_shape shape);
void nst_sweep_result_free(nst_sweep_result *r);
void nst_sweep_result_clear(nst_sweep_result *r); /* as new */
typedef struct { uint64_t evaluated, pruned, duplicates, dropped, valid, checksum; } nst_sweep_tally;
nst_sweep_tally *nst_sweep_result_tally(nst_sweep_result *r);
/* Offers a valid point (copied if it enters). Exact comparisons; equal metrics: the earlier point wins. On the front, of
 * points equal in all pareto metrics only the first is kept. */
void nst_sweep_result_offer(nst_sweep_result *r, const nst_sweep_point *p);
void nst_sweep_result_merge(nst_sweep_result *into, const nst_sweep_result *from);
size_t nst_sweep_result_nbest(const nst_sweep_result *r);
const nst_sweep_point *nst_sweep_result_best(const nst_sweep_result *r, size_t i);  /* best first */
size_t nst_sweep_result_nfront(const nst_sweep_result *r);
const nst_sweep_point *nst_sweep_result_front(const nst_sweep_result *r, size_t i); /* by the first pareto metric */
/* For engines that filter: the last of the best when full (NULL while not full: everything may enter). */
const nst_sweep_point *nst_sweep_result_worst(const nst_sweep_result *r);
void nst_sweep_result_save(const nst_sweep_result *r, nst_buffer *out);             /* bytes, same on every machine */
nst_sweep_result *nst_sweep_result_load(nst_sweep_shape shape, const char *bytes, size_t len); /* NULL: damaged */

/* ---- engines ---- */

typedef struct {
  bool prune;
  bool each;                        /* report every valid point (--all) */
  bool checksum;                    /* kernel engine: compute every metric of every point and add them up (benchmarks) */
  nst_jit *jit;                     /* kernel engine */
} nst_sweep_options;

/* What the sweep counts as its metrics, its `top`; false: a message. */
bool nst_sweep_shape_make(nst_sweep_shape *out, const nst_ir_sweep *s, const nst_space *space, nst_diags *diags);

/* Called for every valid point where `each`; any thread, one call at a time per worker. */
typedef void nst_sweep_each(void *context, const nst_sweep_point *p);

typedef struct nst_sweep_engine nst_sweep_engine;
typedef struct nst_sweep_worker nst_sweep_worker; /* of one thread */
struct nst_sweep_engine {
  const char *name;                 /* "plain", "kernel" */
  uint64_t units;
  uint64_t space;                   /* points of all units together; UINT64_MAX: more */
  nst_sweep_worker *(*worker_new)(const nst_sweep_engine *e);
  void (*worker_free)(nst_sweep_worker *w);
  /* Does one unit into the result. false: an error, with a message in the worker's words (overflow …). stop: leaves the
   * unit undone and the result as it was. */
  bool (*run)(nst_sweep_worker *w, uint64_t unit, nst_sweep_result *into, const atomic_bool *stop, nst_sweep_each *each,
              void *context, const char **error);
  void (*free)(nst_sweep_engine *e);
};

nst_sweep_engine *nst_sweep_plain_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space,
                                      nst_sweep_options options, nst_diags *diags);
/* NULL without a message where this sweep is not for kernels: *why says so in words, and the plain engine does it. */
nst_sweep_engine *nst_sweep_kernel_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space,
                                       nst_sweep_options options, nst_diags *diags, const char **why);
#endif
