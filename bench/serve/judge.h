/* What the server does with requests, without HTTP: bodies in, replies out.
 *
 * All requests of a call are judged as one batch, and answered each for itself. */
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
typedef struct {
  nst_judge_path path;
  const char *body; /* of STATE: the episode's id */
  size_t size;
  nst_judge_reply *reply;
} nst_judge_request;

typedef struct nst_judge nst_judge;
nst_judge *nst_judge_new(nst_grading *grading, const char *const *task_ids, size_t ntask_ids);
void nst_judge_free(nst_judge *judge);
void nst_judge_run(nst_judge *judge, const nst_judge_request *requests, size_t n);
#endif
