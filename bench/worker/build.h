/* Making one program of given, candidate and probe. */
#ifndef NST_BENCH_WORKER_BUILD_H
#define NST_BENCH_WORKER_BUILD_H
#include "bench/grade/wire.h"
#include "bench/worker/fault.h"
#include "bench/worker/kept.h"
#include "bench/worker/request.h"

typedef struct {
  nst_wire text;           /* the three parts, each with a line feed behind */
  size_t first, second;    /* where the candidate begins and ends in it */
  uint32_t before, lines;  /* lines in front of the candidate, and its own */
  nst_kept kept;
  const nestor_program *given; /* the first part, where it is kept; else NULL */
} nst_build;

void nst_build_fini(nst_build *build);
/* The program, compiled without errors; the caller frees it. NULL: `fault` says what is wrong. */
nestor_program *nst_build_make(nst_build *build, nst_fault *fault, const nestor_session *session, const nst_request *request);
/* What stands in `text`, whatever it is; the caller frees it. */
nestor_program *nst_build_compile(const nst_build *build, const nestor_session *session);
#endif
