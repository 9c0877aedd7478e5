/* What a mapping would cost by two beliefs that are wrong, and often right all the same.
 *
 * They serve scripted models, and the generator: tasks of the last level are such that both beliefs fail on them. */
#ifndef NST_BENCH_TASKS_NAIVE_H
#define NST_BENCH_TASKS_NAIVE_H
#include "bench/tasks/draft.h"

typedef enum {
  NST_BELIEF_NO_REUSE, /* every iteration loads its tiles again; tiles are cut at the end, windows do not overlap */
  NST_BELIEF_BOXES     /* loops that do not change a tile are free; every tile is a full bounding box, windows do not
                          overlap */
} nst_belief;

/* The value of a quantity of a mapping of the draft by a belief; params: NULL for the defaults. -1: the belief has none
 * (fills, traffic and cycles, tensors that bypass the middle memory). */
int64_t nst_naive_value(const nst_draft *d, const nst_draft_mapping *m, const nst_draft_quantity *q, nst_belief belief,
                        const int64_t *params);
#endif
