/* A pool of workers: processes that are started before any candidate is there, fed with frames, watched, and replaced when they die.
 *
 * A job is a number. Workers get several jobs at a time; where one dies, what it had not answered is done again, each job alone, so that only the job
 * that kills a second worker, all by itself, is told so. A worker that says nothing for the time of the watchdog is ended with its process group; its
 * jobs are done again likewise, and one that hangs alone is told so. Neither changes what any other job gives.
 *
 * A process that is forked off starts workers of its own when it first runs a pool; it leaves those of the process before it alone. */
#ifndef NST_BENCH_GRADE_POOL_H
#define NST_BENCH_GRADE_POOL_H
#include "bench/grade/wire.h"
#include "bench/record/record.h"

typedef struct nst_pool nst_pool;

typedef enum {
  NST_JOB_ANSWERED, /* there is a reply */
  NST_JOB_DIED,     /* workers die of it: `signal`, or 0 where it ended by itself */
  NST_JOB_HANGS,    /* no reply within the watchdog's time, twice */
  NST_JOB_KILLED,   /* its workers were killed from outside, again and again */
  NST_JOB_NO_WORKER /* no worker could be started: `error` */
} nst_job_end;
typedef struct {
  nst_job_end end;
  nst_wire_reader reply; /* of the frame; valid during the call */
  int signal;
  const char *error;
} nst_job_report;

typedef struct {
  void *context;
  /* Appends the frame of a job, with its number. false: it needs no worker. Called once, and again where it is done again. */
  bool (*encode)(void *context, nst_wire *out, uint32_t job);
  /* Once for each job that was encoded, in any order. false: the reply is none; the worker is replaced. */
  bool (*finish)(void *context, uint32_t job, const nst_job_report *report);
} nst_jobs;

/* path: the worker's program, NULL: where it is installed. */
nst_pool *nst_pool_new(const char *path, int workers, char error[NST_RECORD_ERROR]);
void nst_pool_free(nst_pool *pool);
/* Does jobs 0 to n - 1 and returns when all are finished. */
void nst_pool_run(nst_pool *pool, uint32_t n, const nst_jobs *jobs);
/* What the workers said of themselves. */
const char *nst_pool_version(const nst_pool *pool);
uint32_t nst_pool_rules(const nst_pool *pool);
/* Process number of worker i, or 0; for tests. */
int nst_pool_pid(const nst_pool *pool, int i);
void nst_pool_set_watchdog(nst_pool *pool, int milliseconds);
#endif
