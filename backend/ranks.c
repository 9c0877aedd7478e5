/* Finds and opens the module for ranks; see ranks.h. It is opened for all to see:
 * MPI loads parts of its own that look for MPI's symbols in the process. */
#include "backend/ranks.h"
#include "backend/module.h"
#include "base/arena.h"

#include <dlfcn.h>
#include <stdlib.h>

static const nst_module_place place = {"nestor-mpi.so", "NESTOR_MPI_MODULE", NST_RANKS_MODULE_GETTER, RTLD_GLOBAL};

struct nst_ranks {
  const nst_ranks_module *module;
  int rank, size;
};

static long variable(const char *name) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 10) : 0;
}

bool nst_ranks_wanted(void) {
  /* Open MPI's mpirun; PMIx and PMI, which batch systems provide to jobs that ask for MPI. */
  return variable("OMPI_COMM_WORLD_SIZE") > 1 || variable("PMI_SIZE") > 1 ||
         (getenv("PMIX_RANK") && (variable("SLURM_NTASKS") > 1 || variable("SLURM_STEP_NUM_TASKS") > 1));
}

int nst_ranks_local(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_TASKS_PER_NODE"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const long n = variable(names[i]);
    if (n > 0 && n < 1 << 16) return (int)n;
  }
  return 1;
}

static const nst_ranks_module *open_module(const char *path, nst_buffer *error) {
  nst_buffer why = {0};
  nst_ranks_module_getter *get = (nst_ranks_module_getter *)nst_module_open(&place, path, &why);
  const nst_ranks_module *module = get ? get() : NULL;
  if (!get)
    nst_buffer_printf(error, "the module %s cannot be loaded: %s", place.file, why.text);
  else if (!module || module->abi != NST_RANKS_ABI)
    nst_buffer_printf(error, "the module %s belongs to another version", place.file);
  nst_buffer_fini(&why);
  return module && module->abi == NST_RANKS_ABI ? module : NULL;
}

nst_ranks *nst_ranks_open(const char *path, nst_buffer *error) {
  const nst_ranks_module *module = open_module(path, error);
  if (!module) return NULL;
  int rank = 0, size = 1;
  if (!module->start(&rank, &size)) {
    nst_buffer_puts(error, "MPI does not start");
    return NULL;
  }
  nst_ranks *r = calloc(1, sizeof *r);
  if (!r) nst_out_of_memory();
  *r = (nst_ranks){module, rank, size};
  return r;
}

void nst_ranks_close(nst_ranks *r) {
  if (!r) return;
  r->module->finish();
  free(r);
}

int nst_ranks_rank(const nst_ranks *r) { return r->rank; }
int nst_ranks_size(const nst_ranks *r) { return r->size; }

void nst_ranks_send(nst_ranks *r, int to, const nst_buffer *message) {
  r->module->send(to, message->text, message->len);
}

bool nst_ranks_receive(nst_ranks *r, int *from, nst_buffer *message) {
  size_t len;
  if (!r->module->waiting(from, &len)) return false;
  nst_buffer_clear(message);
  nst_buffer_pad(message, '\0', len);
  r->module->receive(*from, message->text, len);
  return true;
}
