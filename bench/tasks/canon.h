/* What makes two tasks the same: their programs with names replaced in order of first use. */
#ifndef NST_BENCH_TASKS_CANON_H
#define NST_BENCH_TASKS_CANON_H
#include "bench/record/digest.h"
#include "bench/tasks/draft.h"

typedef struct {
  uint8_t task[NST_DIGEST_BYTES]; /* of kind, program and question: equal of tasks that are the same up to renaming */
  uint8_t program[NST_DIGEST_BYTES]; /* of the program alone: decides the split, whatever is asked of it */
} nst_canon;
nst_canon nst_canon_of(const nst_draft *d);
#endif
