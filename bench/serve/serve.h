/* The grader over HTTP, on the loopback interface.
 *
 *   POST /grade    samples as NDJSON, as a JSON array or as one object; results in the same form and order
 *   GET  /health   {"status":"ok", "tasks":…, "graded":…, "version":…}
 *   POST /reset    {"task_id": …} or {"seed": n}: begins an episode: {"observation": {"task_id", "messages", …}, "reward": null, "done": false}
 *   POST /step     {"episode_id": …, "action": {"completion": …}}: ends it: {"observation": {"task_id", "passed", …}, "reward": score, "done": true}
 *   GET  /state    {"episode_id", "step_count", "task_id"} of ?episode_id=…, else of the last reset
 *
 * The last three are OpenEnv's. Connections are kept alive. One thread of libmicrohttpd reads and writes; another judges in turns, some samples of
 * each request that has come in, so that many small requests use the workers as well as one large one, and none waits for a large one to end. Requests
 * whose client has closed the connection are dropped, and who is slow or silent gives way to others where there is no room. Results depend on the samples alone. */
#ifndef NST_BENCH_SERVE_SERVE_H
#define NST_BENCH_SERVE_SERVE_H
#include "bench/grade/grade.h"

typedef struct nst_serve nst_serve;
typedef struct {
  uint16_t port;                   /* 0: any that is free */
  const char *const *task_ids;     /* what /reset chooses from by seed; borrowed */
  size_t ntask_ids;
} nst_serve_options;

/* Serves until nst_serve_free. The grading is borrowed and used by the server's thread alone. NULL: `error` says why. */
nst_serve *nst_serve_new(nst_grading *grading, const nst_serve_options *options, char error[NST_RECORD_ERROR]);
/* Finishes what is being judged, a turn, answers the rest with 503, then closes. */
void nst_serve_free(nst_serve *serve);
uint16_t nst_serve_port(const nst_serve *serve);
#endif
