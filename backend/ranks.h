/* Processes of one job on one or many machines, by MPI, on demand.
 *
 * The part that sees MPI is a module of its own (nestor-mpi.so), opened when a
 * job of several ranks asks for it, so that nothing else links or starts MPI.
 * This header is the whole contract: a table of functions (nst_ranks_module) that
 * the module exports, and the calls that others use. Messages are bytes of any
 * length, between a rank and rank 0; all calls come from the thread that opened. */
#ifndef NST_BACKEND_RANKS_H
#define NST_BACKEND_RANKS_H
#include "base/buffer.h"
#include <stdbool.h>

typedef struct nst_ranks nst_ranks;

/* Whether this process was started as one of several ranks (by mpirun, or srun --mpi=…), by what its environment says. */
bool nst_ranks_wanted(void);
/* How many of them share this machine, at least 1. */
int nst_ranks_local(void);
/* path: the module's file; NULL: $NESTOR_MPI_MODULE, then beside this library, then where it was installed. NULL, with
 * the reason in `error`: no module, or MPI does not start. Once a process. */
nst_ranks *nst_ranks_open(const char *path, nst_buffer *error);
void nst_ranks_close(nst_ranks *r); /* when all ranks do; NULL is fine */
int nst_ranks_rank(const nst_ranks *r);
int nst_ranks_size(const nst_ranks *r);
/* Returns when the bytes may be used again, not when they have arrived. */
void nst_ranks_send(nst_ranks *r, int to, const nst_buffer *message);
/* A message that has arrived; false: none has. */
bool nst_ranks_receive(nst_ranks *r, int *from, nst_buffer *message);

/* ---- what the module exports, under the name nst_ranks_module_get ---- */

enum { NST_RANKS_ABI = 1 };
typedef struct {
  int abi;
  bool (*start)(int *rank, int *size); /* false: it does not start */
  void (*finish)(void);
  void (*send)(int to, const char *bytes, size_t len);
  /* The length of a message that waits, and of whom; false: none does. */
  bool (*waiting)(int *from, size_t *len);
  void (*receive)(int from, char *bytes, size_t len); /* the one that waiting() told of */
} nst_ranks_module;
typedef const nst_ranks_module *nst_ranks_module_getter(void);
#define NST_RANKS_MODULE_GETTER "nst_ranks_module_get"
#endif
