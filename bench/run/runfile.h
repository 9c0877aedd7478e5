/* The run file: everything that one model answered to one set of tasks, in SQLite.
 *
 * Table `run` holds facts as (name, value): schema ("nestor.run/1"), tool version, suite, hash of the tasks, model,
 * base URL without its user part, dialect, sampling as JSON, samples a task, price; tasks_hash and tasks_total are of
 * the whole file of tasks, of which `task` may hold the first ones. Table `task` holds (position, task_id, json);
 * `sample` holds (task_id, sample_id, request_hash, parent, failed, json), one row for each answer that came or finally
 * failed; `result` holds (task_id, sample_id, json). Every sample is one transaction, with the journal in WAL mode and
 * full synchronisation: a process that is killed loses at most what it had not yet been answered. Rows are unique by
 * task and sample. Keys never enter it.
 *
 * Samples with a parent_sample_id are revisions: they are rows as all others, with results as all others, and shown by
 * nst_runfile_each_revision alone, so that what is said of a model's own answers does not mix with them.
 *
 * A file that is closed is one file, without a journal beside it, and has not changed when nothing was put. */
#ifndef NST_BENCH_RUN_RUNFILE_H
#define NST_BENCH_RUN_RUNFILE_H
#include "bench/record/record.h"

typedef struct nst_runfile nst_runfile;
enum { NST_RUNFILE_ERROR = 512 };

/* create: makes it where there is none, and keeps it to this process: a second that opens it so is told "in use".
 * Without create it is read while others write; what is put waits for its turn. NULL: `error` says why (no run file,
 * another schema, damaged, not writable, in use), and the file is as it was. */
nst_runfile *nst_runfile_open(const char *path, bool create, char error[NST_RUNFILE_ERROR]);
/* In memory, for demonstrations and tests. */
nst_runfile *nst_runfile_memory(char error[NST_RUNFILE_ERROR]);
/* In memory, from JSON Lines; any of the paths may be NULL. Two samples, or results, of one task and number are an
 * error. A result without its sample is shown with a sample of its names alone (neither completion nor error),
 * as a revision where it says so. */
nst_runfile *nst_runfile_read_jsonl(const char *tasks, const char *samples, const char *results,
                                    char error[NST_RUNFILE_ERROR]);
void nst_runfile_free(nst_runfile *run);

/* Facts. get: NULL where there is none; borrowed until the next call. put: replaces. */
const char *nst_runfile_get(nst_runfile *run, const char *name);
bool nst_runfile_put(nst_runfile *run, const char *name, const char *value, char error[NST_RUNFILE_ERROR]);

/* put: one transaction each; a sample or result of the same task and number is replaced, and a sample takes its old
 * result away. */
bool nst_runfile_put_task(nst_runfile *run, size_t position, const nst_task *task, char error[NST_RUNFILE_ERROR]);
bool nst_runfile_put_sample(nst_runfile *run, const nst_sample *sample, const char *request_hash,
                            char error[NST_RUNFILE_ERROR]);
/* Other text for a sample that is there; its result stays. */
bool nst_runfile_amend_sample(nst_runfile *run, const nst_sample *sample, char error[NST_RUNFILE_ERROR]);
bool nst_runfile_put_result(nst_runfile *run, const nst_result *result, char error[NST_RUNFILE_ERROR]);
/* What is put between begin and commit is one transaction: many results at once, as each waits for the disk. No pairs
 * inside pairs. */
bool nst_runfile_begin(nst_runfile *run, char error[NST_RUNFILE_ERROR]);
bool nst_runfile_commit(nst_runfile *run, char error[NST_RUNFILE_ERROR]);
/* Whether the answer to this request is there (samples that failed in the infrastructure are not). request_hash NULL:
 * to any request. */
bool nst_runfile_has(nst_runfile *run, const char *task_id, const char *sample_id, const char *request_hash);

/* All of a table in order (tasks by position; samples and results by task position, then sample number). The record is
 * the callee's only during the call, in which it may put. each returns false to stop. false: the file could not be
 * read. */
typedef bool nst_runfile_task_fn(void *context, const nst_task *task);
typedef bool nst_runfile_sample_fn(void *context, const nst_sample *sample,
                                   const nst_result *result /* NULL: not graded */);
bool nst_runfile_each_task(nst_runfile *run, nst_runfile_task_fn *each, void *context, char error[NST_RUNFILE_ERROR]);
bool nst_runfile_each_sample(nst_runfile *run, nst_runfile_sample_fn *each, void *context,
                             char error[NST_RUNFILE_ERROR]);
bool nst_runfile_each_revision(nst_runfile *run, nst_runfile_sample_fn *each, void *context,
                               char error[NST_RUNFILE_ERROR]);
/* One sample of either kind with its result; each is not called where neither is there. */
bool nst_runfile_find(nst_runfile *run, const char *task_id, const char *sample_id, nst_runfile_sample_fn *each,
                      void *context, char error[NST_RUNFILE_ERROR]);
size_t nst_runfile_tasks(nst_runfile *run);
#endif
