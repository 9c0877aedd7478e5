/* Judging samples: what the commands, the server and the library call.
 *
 * A grader holds tasks with their keys and a pool of workers. It never compiles a candidate itself; what is expected never leaves it. The same
 * sample gives the same result, for any number of workers and any load. Calls of one grader come from one thread; a
 * process that is forked off may go on with it, and has workers of its own then; results of a batch keep the order of
 * the samples. */
#ifndef NST_BENCH_GRADE_GRADE_H
#define NST_BENCH_GRADE_GRADE_H
#include "bench/record/record.h"

/* Goes up where the same sample may get another result. Results carry "VERSION/RULES/GRADER". */
enum { NST_GRADER_VERSION = 4 };

typedef struct nst_grading nst_grading;
typedef struct {
  int workers;             /* 0: one per processor */
  const char *worker_path; /* the program nestor-grade-worker; NULL: beside this program or library, then where it was installed */
  bool timing;             /* results carry grade_us */
} nst_grading_options;

/* NULL: the workers could not be started; `error` says why. */
nst_grading *nst_grading_new(const nst_grading_options *options, char error[NST_RECORD_ERROR]);
void nst_grading_free(nst_grading *grading);

/* Takes the records over. A task of an id that is there is an error; a key without a task too, and one that the task has not committed to. */
bool nst_grading_add_task(nst_grading *grading, nst_task *task, char error[NST_RECORD_ERROR]);
bool nst_grading_add_key(nst_grading *grading, nst_key *key, char error[NST_RECORD_ERROR]);
/* The task of an id, or NULL. */
const nst_task *nst_grading_task(const nst_grading *grading, const char *task_id);
/* What its results carry as grader_version. */
const char *nst_grading_version(const nst_grading *grading);

/* A sample from a line of JSON. A line that is no UTF-8, or has escapes that are no characters, is read with U+FFFD in their place. */
bool nst_grading_read(nst_sample *out, const char *line, size_t size, char error[NST_RECORD_ERROR]);
/* The result of a line that is no sample, or of one that must not be judged: infra_error at stage "sample", with null for what is not known
 * (such a result is for people and is no record of a sample). sample: may be NULL. */
json_t *nst_grading_refusal(const nst_grading *grading, const nst_sample *sample, uint64_t line, const char *why);

/* results[i] is what became of samples[i]; always filled, whatever the sample holds. The caller ends each with nst_result_fini. */
void nst_grading_run(nst_grading *grading, nst_result *results, const nst_sample *samples, size_t n);
/* Process numbers of the workers, for tests: 0 where there is none. */
int nst_grading_worker(const nst_grading *grading, int i);
/* How long a worker may say nothing; 30,000 as made. */
void nst_grading_set_watchdog(nst_grading *grading, int milliseconds);
#endif
