/* Judging samples: what the commands, the server and the library call.
 *
 * A grader holds tasks with their keys and a pool of workers. It never compiles a candidate itself; what is expected never leaves it. The same
 * sample gives the same result, for any number of workers and any load. Calls of one grader come from one thread; results of a batch keep the order of
 * the samples. */
#ifndef NST_BENCH_GRADE_GRADE_H
#define NST_BENCH_GRADE_GRADE_H
#include "bench/record/record.h"

typedef struct nst_grading nst_grading;
typedef struct {
  int workers;             /* 0: one per processor */
  const char *worker_path; /* the program nestor-grade-worker; NULL: beside this program or library, then where it was installed */
  bool timing;             /* results carry grade_us */
} nst_grading_options;

/* NULL: the workers could not be started; `error` says why. */
nst_grading *nst_grading_new(const nst_grading_options *options, char error[NST_RECORD_ERROR]);
void nst_grading_free(nst_grading *grading);

/* Takes the records over. A task of an id that is there is an error; a key without a task too. */
bool nst_grading_add_task(nst_grading *grading, nst_task *task, char error[NST_RECORD_ERROR]);
bool nst_grading_add_key(nst_grading *grading, nst_key *key, char error[NST_RECORD_ERROR]);
/* The task of an id, or NULL. */
const nst_task *nst_grading_task(const nst_grading *grading, const char *task_id);

/* results[i] is what became of samples[i]; always filled, whatever the sample holds. The caller ends each with nst_result_fini. */
void nst_grading_run(nst_grading *grading, nst_result *results, const nst_sample *samples, size_t n);
#endif
