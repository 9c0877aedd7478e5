/* Finding and opening the modules: parts that see LLVM or MPI, files of their own
 * that are loaded when first asked for. A module exports one function, which
 * returns its table. */
#ifndef NST_BACKEND_MODULE_H
#define NST_BACKEND_MODULE_H
#include "base/buffer.h"

typedef struct {
  const char *file;     /* "nestor-llvm.so" */
  const char *variable; /* of the environment, with another path */
  const char *getter;   /* the function that the module exports */
  int flags;            /* for dlopen() */
} nst_module_place;

typedef void nst_module_getter(void); /* to be cast to what it is */
/* path: the module's file; NULL: as the variable says, else beside this library, else where it was installed. The
 * module stays open for good. NULL: the reason, in words, is appended to `error` (NULL allowed). */
nst_module_getter *nst_module_open(const nst_module_place *place, const char *path, nst_buffer *error);
#endif
