/* Running a sweep: an engine's units, by threads, with a result that does not
 * depend on them.
 *
 * The units to do are numbers 0 .. count - 1 of a job: every unit of the engine,
 * the first of them (a limit) or those of a shard. Any thread does any unit; what
 * is done and what was found are kept together, so that at any time they can be
 * saved and taken up again. Left to others: files (the driver), other machines
 * (a source of work that is not this list). */
#ifndef NST_BACKEND_SWEEP_RUN_H
#define NST_BACKEND_SWEEP_RUN_H
#include "backend/sweep.h"

/* ---- sets of units: sorted, disjoint, not touching ---- */

typedef struct { uint64_t begin, end; } nst_unit_range; /* end is not in it */
typedef struct { nst_unit_range *items; size_t n, cap; } nst_unit_set; /* {0}: empty */
void nst_unit_set_fini(nst_unit_set *s);
void nst_unit_set_add(nst_unit_set *s, uint64_t begin, uint64_t end);
void nst_unit_set_merge(nst_unit_set *into, const nst_unit_set *from);
bool nst_unit_set_meet(const nst_unit_set *a, const nst_unit_set *b);
uint64_t nst_unit_set_count(const nst_unit_set *s);
/* What of [0, count) is not in it. */
void nst_unit_set_rest(nst_unit_set *out, const nst_unit_set *s, uint64_t count);

/* ---- a job ---- */

typedef struct {
  uint64_t count;         /* units of the job */
  uint64_t first, stride; /* unit k of the job is unit first + k * stride of the engine */
  double points;          /* of the job, about: for progress */
} nst_sweep_job;
/* The first `limit` units (0: all) of those with unit % shards == shard (shards 0 or 1: all). */
nst_sweep_job nst_sweep_job_make(const nst_sweep_engine *e, uint64_t limit, uint64_t shard, uint64_t shards);

/* ---- running ---- */

typedef struct {
  double seconds;
  uint64_t units_done, units;
  nst_sweep_tally tally;
  double points, points_before;   /* of the job, about; of it done by earlier runs */
  const nst_sweep_point *best;    /* NULL: none yet, or no objective */
  bool last;                      /* the run is over */
} nst_sweep_progress;

/* Work from elsewhere. All calls come from the thread that runs the job. */
typedef enum { NST_WORK_SOME, NST_WORK_WAIT, NST_WORK_NONE } nst_work;
typedef struct {
  void *context;
  nst_work (*take)(void *context, uint64_t want, nst_unit_range *out); /* NONE is final */
  void (*poll)(void *context, bool stopped);                           /* every few milliseconds */
  bool (*finished)(void *context);                                     /* nothing more can come from elsewhere */
} nst_sweep_source;

typedef struct nst_sweep_run nst_sweep_run;
typedef struct {
  int threads;                    /* 0: one per processor that this process may use */
  bool isolate;                   /* what is pruned depends on what has been found: show every unit the same (see sweep_run.c) */
  const atomic_bool *stop;        /* NULL: never */
  const nst_unit_set *done;       /* units done before, with what they found; NULL: none */
  const nst_sweep_result *found;
  nst_sweep_source *source;       /* NULL: all that is not done */
  void *context;                  /* of the calls below, which come one at a time */
  void (*progress)(void *context, const nst_sweep_progress *p); /* NULL allowed */
  int progress_ms;
  void (*save)(void *context, const nst_unit_set *done, nst_sweep_result *found); /* NULL allowed; also at the end */
  int save_ms;
  /* Every valid point, as text: `format` from any thread, `write` in the order of units. false: it could not be written. */
  void (*format)(void *context, nst_buffer *out, const nst_sweep_point *p);
  bool (*write)(void *context, const char *bytes, size_t len);
} nst_sweep_run_options;

nst_sweep_run *nst_sweep_run_new(const nst_sweep_engine *e, nst_sweep_shape shape, nst_sweep_job job,
                                 nst_sweep_run_options options);
void nst_sweep_run_free(nst_sweep_run *r);
/* Until everything is done, or stopped, or an error: then false, with the message (of the first unit that fails, however
 * many threads there are) in *error; NULL: it could not be written. */
bool nst_sweep_run_all(nst_sweep_run *r, const char **error);
/* Adds what was done and found elsewhere; from a source's poll. */
void nst_sweep_run_absorb(nst_sweep_run *r, const nst_unit_set *done, const nst_sweep_result *found);
/* What has been done and found since the last call, which then is the caller's; NULL: nothing. From a source's poll. */
nst_sweep_result *nst_sweep_run_release(nst_sweep_run *r, nst_unit_set *done);
/* A unit that failed elsewhere; from a source's poll. */
void nst_sweep_run_fail(nst_sweep_run *r, uint64_t unit, const char *error);
uint64_t nst_sweep_run_failed(const nst_sweep_run *r); /* the first unit of the job that failed; UINT64_MAX: none */
const nst_unit_set *nst_sweep_run_done(const nst_sweep_run *r);
nst_sweep_result *nst_sweep_run_found(nst_sweep_run *r);
bool nst_sweep_run_complete(const nst_sweep_run *r);
int nst_sweep_run_threads(const nst_sweep_run *r);
#endif
