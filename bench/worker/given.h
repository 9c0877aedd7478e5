/* Goal least: the answer must take the given workload and hardware as they are. */
#ifndef NST_BENCH_WORKER_GIVEN_H
#define NST_BENCH_WORKER_GIVEN_H
#include "bench/worker/build.h"

/* Whether the answer is of the given workload and on the given hardware, and each argument is what the parameter is by default.
 * false: `fault` says what is not. */
bool nst_given_is_kept(nst_build *build, nst_fault *fault, const nestor_session *session, const nst_request *request,
                       const nestor_program *program);
#endif
