/* Finds and opens the code generator when it is first needed.
 *
 * The module stays open once it is: LLVM registers things with the process that
 * must not lose their code. Opening it again only counts, so a session each for
 * many owners costs nothing extra. */
#include "backend/jit.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef NST_MODULE_DIR
#define NST_MODULE_DIR "/usr/local/lib/nestor"
#endif
#define MODULE_FILE "nestor-llvm.so"

struct nst_jit {
  const nst_jit_module *module;
  nst_jit_session *session;
};

/* A place inside whatever holds this file: the library, or a program linked statically. */
static const char here = 0;

/* The first of the usual places where the module is; text in *path. */
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

static nst_jit_status missing(nst_buffer *error, const char *why) {
  if (error) nst_buffer_printf(error, "the code generator " MODULE_FILE " cannot be loaded: %s", why);
  return NST_JIT_MISSING;
}

static nst_jit_status open_module(const nst_jit_module **out, const char *path, nst_buffer *error) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    const char *why = dlerror();
    return missing(error, why ? why : path);
  }
  void *symbol = dlsym(library, NST_JIT_MODULE_GETTER);
  nst_jit_module_getter *get = NULL;
  memcpy(&get, &symbol, sizeof get); /* ISO C has no cast from a data pointer to a function */
  const nst_jit_module *module = get ? get() : NULL;
  dlclose(library);
  if (!module || module->abi != NST_JIT_ABI) return missing(error, "it belongs to another version");
  *out = module;
  return NST_JIT_OK;
}

nst_jit_status nst_jit_new(nst_jit **out, const char *path, nst_buffer *error) {
  *out = NULL;
  nst_buffer found = {0};
  if (!path) path = getenv("NESTOR_LLVM_MODULE");
  if (!path || !*path) path = search(&found) ? found.text : NULL;
  const nst_jit_module *module = NULL;
  nst_jit_status status = path ? open_module(&module, path, error) : missing(error, "it is not installed");
  nst_buffer_fini(&found);
  if (status != NST_JIT_OK) return status;
  nst_jit_session *session = NULL;
  status = module->session_new(&session, error);
  if (status != NST_JIT_OK) return status;
  nst_jit *jit = calloc(1, sizeof *jit);
  if (!jit) nst_out_of_memory();
  *jit = (nst_jit){module, session};
  *out = jit;
  return NST_JIT_OK;
}

void nst_jit_free(nst_jit *jit) {
  if (!jit) return;
  jit->module->session_free(jit->session);
  free(jit);
}

void nst_jit_use_cache(nst_jit *jit, const char *directory) { jit->module->use_cache(jit->session, directory); }
nst_jit_cache_statistics nst_jit_cache_show(const nst_jit *jit) { return jit->module->cache_show(jit->session); }

nst_jit_status nst_jit_compile(nst_jit_unit **out, nst_code_function **functions, nst_jit *jit, const nst_code *codes,
                               int n, nst_jit_options options, nst_buffer *error) {
  return jit->module->compile(out, functions, jit->session, codes, n, options, error);
}

nst_jit_status nst_jit_compile_vectors(nst_jit_unit **out, nst_vector_function **functions, nst_jit *jit,
                                       const nst_vector_code *codes, int n, nst_jit_options options, nst_buffer *error) {
  return jit->module->compile_vectors(out, functions, jit->session, codes, n, options, error);
}

void nst_jit_unit_free(nst_jit *jit, nst_jit_unit *unit) {
  if (unit) jit->module->unit_free(unit);
}

nst_jit_status nst_jit_emit(nst_buffer *out, nst_jit *jit, const nst_code *codes, int n, nst_jit_options options,
                            nst_buffer *error) {
  return jit->module->emit(out, jit->session, codes, n, options, error);
}

const char *nst_jit_llvm_version(const nst_jit *jit) { return jit->module->llvm; }
