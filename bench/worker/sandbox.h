/* What a worker gives up before it reads the first candidate: descriptors but its socket, processes, files, core dumps, memory past a
 * bound, and every system call that reading, writing, memory and ending do not need. */
#ifndef NST_BENCH_WORKER_SANDBOX_H
#define NST_BENCH_WORKER_SANDBOX_H
#include <stdbool.h>
#include <stddef.h>

/* false: the reason is in `error`; the worker must not go on. */
bool nst_sandbox_enter(int socket, char *error, size_t size);
#endif
