/* One worker process, seen from its supervisor: starting, the socket, the end. */
#ifndef NST_BENCH_GRADE_WORKER_H
#define NST_BENCH_GRADE_WORKER_H
#include "bench/grade/wire.h"
#include "bench/record/record.h"

#include <sys/types.h>

typedef struct {
  pid_t pid; /* 0: there is none */
  int fd;    /* does not block */
  nst_wire in, out;
} nst_worker;

typedef struct { char version[32]; uint32_t rules; } nst_worker_hello;

/* Where the worker's program is: beside this program or library, then where it was installed. false: nowhere. */
bool nst_worker_find(char *path, size_t size);
/* Starts one and waits for its hello. Safe in a process with threads: nothing of it runs in the child. */
bool nst_worker_start(nst_worker *worker, nst_worker_hello *hello, const char *path, char error[NST_RECORD_ERROR]);
/* Ends it and its process group, and waits for it. Returns the signal that ended it before (0: none, or it is not known). */
int nst_worker_stop(nst_worker *worker);
/* Forgets one that belongs to the process this one was forked off. */
void nst_worker_leave(nst_worker *worker);
/* Sends what it can of `out`; reads what is there into `in`. false: the worker is gone. */
bool nst_worker_send(nst_worker *worker);
bool nst_worker_receive(nst_worker *worker);
#endif
