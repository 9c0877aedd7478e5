/* Opens the code generator when it is first needed, and calls it.
 *
 * The module stays open once it is: LLVM registers things with the process that
 * must not lose their code. A session each for many owners costs nothing extra. */
#include "backend/jit.h"
#include "backend/module.h"
#include <dlfcn.h>
#include <stdlib.h>

static const nst_module_place place = {"nestor-llvm.so", "NESTOR_LLVM_MODULE", NST_JIT_MODULE_GETTER, RTLD_LOCAL};

struct nst_jit {
  const nst_jit_module *module;
  nst_jit_session *session;
};

static nst_jit_status open_module(const nst_jit_module **out, const char *path, nst_buffer *error) {
  nst_buffer why = {0};
  nst_jit_module_getter *get = (nst_jit_module_getter *)nst_module_open(&place, path, &why);
  const nst_jit_module *module = get ? get() : NULL;
  if (!get || !module || module->abi != NST_JIT_ABI) {
    if (error)
      nst_buffer_printf(error, "the code generator %s cannot be loaded: %s", place.file,
                        why.len ? why.text : "it belongs to another version");
    nst_buffer_fini(&why);
    return NST_JIT_MISSING;
  }
  *out = module;
  return NST_JIT_OK;
}

nst_jit_status nst_jit_new(nst_jit **out, const char *path, nst_buffer *error) {
  *out = NULL;
  const nst_jit_module *module = NULL;
  nst_jit_status status = open_module(&module, path, error);
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
