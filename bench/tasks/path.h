/* The loops above a tensor's keep in the middle memory: what closed forms are written from, right ones and wrong ones. */
#ifndef NST_BENCH_TASKS_PATH_H
#define NST_BENCH_TASKS_PATH_H
#include "bench/tasks/draft.h"

typedef struct {
  const nst_draft_node *loops[NST_DRAFT_NODES]; /* outermost first */
  int n, above;                                 /* of them, so many stand above the branches of a seq */
  int branch;                                   /* of the keep, -1: it stands above them */
  bool found;
} nst_draft_path;

/* Of the first mapping. */
nst_draft_path nst_draft_path_of(const nst_draft *d, int tensor);
const nst_draft_node *nst_draft_path_loop(const nst_draft_path *path, int dim); /* NULL: none is over it */
#endif
