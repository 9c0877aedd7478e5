/* See module.h. Opening a module again only counts. */
#include "backend/module.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NST_MODULE_DIR
#define NST_MODULE_DIR "/usr/local/lib/nestor"
#endif

/* A place inside whatever holds this file: the library, or a program linked statically. */
static const char here = 0;

/* The first of the usual places where the file is. */
static bool search(nst_buffer *path, const char *file) {
  static const char *const beside[] = {"nestor/", "", "../lib/nestor/", "../../lib/nestor/"};
  Dl_info info;
  char *self = dladdr(&here, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
  const char *slash = self ? strrchr(self, '/') : NULL;
  bool found = false;
  for (size_t i = 0; slash && !found && i < sizeof beside / sizeof *beside; i++) {
    nst_buffer_clear(path);
    nst_buffer_add(path, self, (size_t)(slash - self) + 1);
    nst_buffer_puts(path, beside[i]);
    nst_buffer_puts(path, file);
    found = access(path->text, R_OK) == 0;
  }
  free(self);
  if (found) return true;
  nst_buffer_clear(path);
  nst_buffer_puts(path, NST_MODULE_DIR "/");
  nst_buffer_puts(path, file);
  return access(path->text, R_OK) == 0;
}

nst_module_getter *nst_module_open(const nst_module_place *place, const char *path, nst_buffer *error) {
  nst_buffer found = {0};
  nst_module_getter *getter = NULL;
  const char *why = NULL;
  if (!path) path = getenv(place->variable);
  if (!path || !*path) path = search(&found, place->file) ? found.text : NULL;
  void *library = path ? dlopen(path, place->flags | RTLD_NOW | RTLD_NODELETE) : NULL;
  if (!path)
    why = "it is not installed";
  else if (!library && !(why = dlerror()))
    why = path;
  void *symbol = library ? dlsym(library, place->getter) : NULL;
  if (library && !symbol) why = "it is no such module";
  if (symbol) memcpy(&getter, &symbol, sizeof getter); /* ISO C has no cast from a data pointer to a function */
  if (!getter && error) nst_buffer_puts(error, why);
  if (library) dlclose(library);
  nst_buffer_fini(&found);
  return getter;
}
