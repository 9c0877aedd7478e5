/* A task made again from its record, to see whether task and key are what its seed gives. */
#ifndef NST_BENCH_TASKS_REMAKE_H
#define NST_BENCH_TASKS_REMAKE_H
#include "bench/record/record.h"

typedef void nst_remake_fault(void *context, const char *what);

/* Tells each part that is another: the question, its spec, the answer, members of the key with the place in them. The
 * example messages are not made again. secret: of the split hidden, else NULL. quick: by the analysis alone. Returns
 * how many it told. */
int nst_remake_compare(const nst_task *task, const nst_key *key, const char *secret, bool quick, nst_remake_fault *tell,
                       void *context);
/* Whether the seed and the secret give the task's question. */
bool nst_remake_asks(const nst_task *task, const char *secret);
#endif
