/* Finds and opens the module for ranks; see ranks.h. It is opened for all to see:
 * MPI loads parts of its own that look for MPI's symbols in the process. */
#include "backend/ranks.h"
#include "base/arena.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NST_MODULE_DIR
#define NST_MODULE_DIR "/usr/local/lib/nestor"
#endif
#define MODULE_FILE "nestor-mpi.so"

struct nst_ranks {
  const nst_ranks_module *module;
  int rank, size;
};

/* A place inside whatever holds this file. */
static const char here = 0;

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

static bool search(nst_buffer *path) {
  static const char *const beside[] = {"nestor/" MODULE_FILE, MODULE_FILE, "../lib/nestor/" MODULE_FILE,
                                       "../../lib/nestor/" MODULE_FILE};
  Dl_info info;
  char *self = dladdr(&here, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
  const char *slash = self ? strrchr(self, '/') : NULL;
  bool found = false;
  for (size_t i = 0; slash && !found && i < sizeof beside / sizeof *beside; i++) {
    nst_buffer_clear(path);
    nst_buffer_add(path, self, (size_t)(slash - self) + 1);
    nst_buffer_puts(path, beside[i]);
    found = access(path->text, R_OK) == 0;
  }
  free(self);
  if (found) return true;
  nst_buffer_clear(path);
  nst_buffer_puts(path, NST_MODULE_DIR "/" MODULE_FILE);
  return access(path->text, R_OK) == 0;
}

static const nst_ranks_module *open_module(const char *path, nst_buffer *error) {
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
  if (!library) {
    const char *why = dlerror();
    nst_buffer_printf(error, "the module " MODULE_FILE " cannot be loaded: %s", why ? why : path);
    return NULL;
  }
  void *symbol = dlsym(library, NST_RANKS_MODULE_GETTER);
  nst_ranks_module_getter *get = NULL;
  memcpy(&get, &symbol, sizeof get); /* ISO C has no cast from a data pointer to a function */
  const nst_ranks_module *module = get ? get() : NULL;
  if (module && module->abi == NST_RANKS_ABI) return module;
  nst_buffer_puts(error, "the module " MODULE_FILE " belongs to another version");
  return NULL;
}

nst_ranks *nst_ranks_open(const char *path, nst_buffer *error) {
  nst_buffer found = {0};
  if (!path) path = getenv("NESTOR_MPI_MODULE");
  if (!path || !*path) path = search(&found) ? found.text : NULL;
  const nst_ranks_module *module = path ? open_module(path, error) : NULL;
  if (!path) nst_buffer_puts(error, "the module " MODULE_FILE " is not installed");
  nst_buffer_fini(&found);
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
