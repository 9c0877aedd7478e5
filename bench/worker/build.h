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
/* Goal least: whether the answer is of the given workload and on the given hardware, as their defaults are. */
bool nst_build_is_of_given(nst_build *build, nst_fault *fault, const nestor_session *session, const nst_request *request,
                           const nestor_program *program);
#endif
