/* Judging one point of a sweep: the tuple of a walk with one variant, through
 * the interpreter and the metrics. What the plain engine and the engine of
 * listed points share, with the worker that does it; the kernel engine is tested
 * against it. Of one thread. */
#ifndef NST_BACKEND_SWEEP_POINT_H
#define NST_BACKEND_SWEEP_POINT_H
#include "backend/sweep_space.h"

typedef enum {
  NST_POINT_VALID,   /* satisfies every `where` */
  NST_POINT_OTHER,   /* evaluated, and does not */
  NST_POINT_DROPPED,
  NST_POINT_FAILED   /* an overflow, a metric without a value …: the sweep has no answer */
} nst_point_verdict;

typedef struct nst_judge nst_judge;
nst_judge *nst_judge_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space, const nst_variants *variants);
void nst_judge_free(nst_judge *j); /* NULL is fine */
nst_walk *nst_judge_walk(nst_judge *j);
/* The walk's tuple with a variant. *point (of a valid one) until the next call; *error (of a failed one) as long as the judge. */
nst_point_verdict nst_judge_point(nst_judge *j, uint64_t variant, const nst_sweep_point **point, const char **error);
/* The same into a result, its tally included. false: *error. */
bool nst_judge_into(nst_judge *j, uint64_t variant, nst_sweep_result *into, nst_sweep_each *each, void *context,
                    const char **error);

/* ---- engines that judge point by point ---- */

typedef struct {
  nst_sweep_engine engine; /* first: an engine is one of these */
  nst_arena *arena;        /* everything about it */
  const nst_ir_mapping *m;
  const nst_ir_sweep *s;
  const nst_space *space;
  nst_sweep_shape shape;
  nst_variants variants;
  nst_u128 tuples;
} nst_point_engine;
/* Fills all but the engine's name, units, space and run. false: messages, and the arena is gone. */
bool nst_point_engine_init(nst_point_engine *e, nst_arena *arena, const nst_ir_mapping *m, const nst_ir_sweep *s,
                           const nst_space *space, nst_diags *diags);

struct nst_sweep_worker {
  const nst_point_engine *e;
  nst_judge *judge;
  nst_sweep_result *unit; /* of the unit at hand */
};
#endif
