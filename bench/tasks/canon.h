/* What makes two tasks the same: what they are about, with names replaced in order of first use. That is the workload
 * or the hardware where it alone is asked for, else the whole program. */
#ifndef NST_BENCH_TASKS_CANON_H
#define NST_BENCH_TASKS_CANON_H
#include "bench/record/digest.h"
#include "bench/tasks/draft.h"

typedef struct {
  uint8_t task[NST_DIGEST_BYTES]; /* of kind, program and question: equal of tasks that are the same up to renaming */
  uint8_t program[NST_DIGEST_BYTES]; /* of what it is about alone: decides the split, whatever is asked of it. Of a
                                        workload without its numbers, as others have the same sentences with others */
} nst_canon;
nst_canon nst_canon_of(const nst_draft *d);
#endif
