/* The module nestor-mpi: nst_ranks_module by MPI.
 *
 * A message is its length, then pieces of at most PIECE bytes, so that none
 * passes what a count of MPI can say and a long one needs no second copy in the
 * library's buffers. Messages between two ranks keep their order (MPI gives it),
 * so a length and its pieces belong together; whoever has seen the length waits
 * for the pieces. */
#include "backend/ranks.h"

#include <mpi.h>

enum { PIECE = 1 << 20, TAG_LENGTH = 1, TAG_PIECE = 2 };

static bool start(int *rank, int *size) {
  int initialized = 0, provided = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialized);
  if (!initialized && MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return false;
  return MPI_Comm_rank(MPI_COMM_WORLD, rank) == MPI_SUCCESS && MPI_Comm_size(MPI_COMM_WORLD, size) == MPI_SUCCESS;
}

static void finish(void) { MPI_Finalize(); }

static void send_bytes(int to, const char *bytes, size_t len) {
  unsigned long long length = len;
  MPI_Send(&length, 1, MPI_UNSIGNED_LONG_LONG, to, TAG_LENGTH, MPI_COMM_WORLD);
  for (size_t at = 0; at < len; at += PIECE) {
    const size_t n = len - at < PIECE ? len - at : PIECE;
    MPI_Send(bytes + at, (int)n, MPI_BYTE, to, TAG_PIECE, MPI_COMM_WORLD);
  }
}

static bool waiting(int *from, size_t *len) {
  int flag = 0;
  MPI_Status status;
  if (MPI_Iprobe(MPI_ANY_SOURCE, TAG_LENGTH, MPI_COMM_WORLD, &flag, &status) != MPI_SUCCESS || !flag) return false;
  unsigned long long length = 0;
  MPI_Recv(&length, 1, MPI_UNSIGNED_LONG_LONG, status.MPI_SOURCE, TAG_LENGTH, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  *from = status.MPI_SOURCE;
  *len = (size_t)length;
  return true;
}

static void receive(int from, char *bytes, size_t len) {
  for (size_t at = 0; at < len; at += PIECE) {
    const size_t n = len - at < PIECE ? len - at : PIECE;
    MPI_Recv(bytes + at, (int)n, MPI_BYTE, from, TAG_PIECE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

__attribute__((visibility("default"))) const nst_ranks_module *nst_ranks_module_get(void);
const nst_ranks_module *nst_ranks_module_get(void) {
  static const nst_ranks_module module = {NST_RANKS_ABI, start, finish, send_bytes, waiting, receive};
  return &module;
}
