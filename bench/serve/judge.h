/* What the server does with requests, without HTTP: bodies in, replies out.
 *
 * A request becomes a job, which is judged in turns: a turn takes some samples of each job, so that a large request does not keep others waiting. Jobs
 * belong to one thread; health and state may be asked for by another at the same time. */
#ifndef NST_BENCH_SERVE_JUDGE_H
#define NST_BENCH_SERVE_JUDGE_H
#include "bench/grade/grade.h"

typedef enum { NST_JUDGE_GRADE, NST_JUDGE_HEALTH, NST_JUDGE_RESET, NST_JUDGE_STEP, NST_JUDGE_STATE } nst_judge_path;
typedef struct {
  unsigned status; /* of HTTP */
  bool lines;      /* NDJSON, else one JSON value */
  char *text;      /* the caller's */
  size_t size;
} nst_judge_reply;

typedef struct nst_judge nst_judge;
typedef struct nst_judge_job nst_judge_job;
nst_judge *nst_judge_new(nst_grading *grading, const char *const *task_ids, size_t ntask_ids);
void nst_judge_free(nst_judge *judge);

/* Of GRADE, RESET and STEP. The body is read and not kept. */
nst_judge_job *nst_judge_begin(nst_judge *judge, nst_judge_path path, const char *body, size_t size);
/* How many samples are not yet judged. */
size_t nst_judge_left(const nst_judge_job *job);
/* Judges one sample or more of each job that has any left, `most` of all where there are fewer jobs. */
void nst_judge_turn(nst_judge *judge, nst_judge_job *const *jobs, size_t n, size_t most);
/* Ends a job of which nothing is left; with reply NULL any, and nobody is told. */
void nst_judge_end(nst_judge_reply *reply, nst_judge_job *job);

void nst_judge_health(nst_judge_reply *reply, nst_judge *judge);
/* id NULL: the episode begun last. */
void nst_judge_state(nst_judge_reply *reply, nst_judge *judge, const char *id);
void nst_judge_refuse(nst_judge_reply *reply, unsigned status, const char *why);
#endif
