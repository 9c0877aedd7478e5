/* A sweep's run over the ranks of a job; see sweep_ranks.c. */
#ifndef NST_DRIVER_SWEEP_RANKS_H
#define NST_DRIVER_SWEEP_RANKS_H
#include "backend/ranks.h"
#include "backend/sweep_run.h"

/* Whether all ranks have the same mark, and none 0; every rank must ask, between sweeps. -1: they do; else the first rank
 * that differs from rank 0, or 0 where rank 0 itself has none. All ranks get the same answer. */
int nst_ranks_agree(nst_ranks *ranks, uint64_t mark);

typedef struct nst_sweep_ranks nst_sweep_ranks;
/* done: on rank 0, what earlier runs did of the job's units. stop: that of the run; a rank that is stopped stops all. */
nst_sweep_ranks *nst_sweep_ranks_new(nst_ranks *ranks, nst_sweep_shape shape, const nst_unit_set *done, uint64_t count,
                                     atomic_bool *stop);
/* The source for a run's options; then once more with the run, before it begins. */
nst_sweep_source *nst_sweep_ranks_source(nst_sweep_ranks *s, nst_sweep_run **run);
/* After the run: tells rank 0 the rest, and an error with its unit. Frees. */
void nst_sweep_ranks_end(nst_sweep_ranks *s, const char *error, uint64_t unit);
#endif
