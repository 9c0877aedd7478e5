/* Native code on demand, without linking LLVM.
 *
 * The code generator is a module of its own (nestor-llvm.so) that is opened
 * with dlopen when the first session is made: commands that need no native code
 * never load LLVM. This header is the whole contract between the two sides: a
 * table of functions (nst_jit_module) that the module exports, and the calls
 * that everyone else uses. Nothing of LLVM shows here.
 *
 * A session may be used by any number of threads at once. A unit is the code of
 * one compilation; its functions live until it is freed, which must happen
 * before its session goes. A compilation that fails leaves the session as good
 * as new. */
#ifndef NST_BACKEND_JIT_H
#define NST_BACKEND_JIT_H
#include "backend/code.h"
#include "backend/vector.h"
#include "base/buffer.h"

typedef enum { NST_JIT_O0, NST_JIT_O1, NST_JIT_O2 } nst_jit_level;
typedef enum {
  NST_JIT_OK,
  NST_JIT_MISSING, /* no module, or one of another version: not installed or not built */
  NST_JIT_FAILED   /* LLVM refused; the reason is LLVM's */
} nst_jit_status;

typedef struct {
  nst_jit_level level;
  const char *require; /* a symbol the code shall refer to, or NULL: tests make linking fail with it */
} nst_jit_options;

typedef struct nst_jit nst_jit;
typedef struct nst_jit_unit nst_jit_unit;

/* path: the module's file; NULL: $NESTOR_LLVM_MODULE, then beside this library, then where it was installed.
 * On failure *out is NULL and the reason is appended to error (NULL allowed), as for all calls below. */
nst_jit_status nst_jit_new(nst_jit **out, const char *path, nst_buffer *error);
void nst_jit_free(nst_jit *jit); /* NULL is fine */
/* From now on compilations look for their code on disk first, and leave it there (backend/object_cache.h). directory: NULL: the
 * user's own; "": none after all, as at first. Where a directory is not safe there is none. Before any compilation. */
void nst_jit_use_cache(nst_jit *jit, const char *directory);
typedef struct { uint64_t found, stored; } nst_jit_cache_statistics; /* pieces of code found on disk; put there */
nst_jit_cache_statistics nst_jit_cache_show(const nst_jit *jit);
/* Compiles n pieces of code into one unit; functions[i] is the code of codes[i]. Names must differ. */
nst_jit_status nst_jit_compile(nst_jit_unit **out, nst_code_function **functions, nst_jit *jit, const nst_code *codes, int n,
                               nst_jit_options options, nst_buffer *error);
/* The same for vector code. */
nst_jit_status nst_jit_compile_vectors(nst_jit_unit **out, nst_vector_function **functions, nst_jit *jit,
                                       const nst_vector_code *codes, int n, nst_jit_options options, nst_buffer *error);
void nst_jit_unit_free(nst_jit *jit, nst_jit_unit *unit); /* NULL is fine */
/* The LLVM text of the code after optimisation at the level asked for. */
nst_jit_status nst_jit_emit(nst_buffer *out, nst_jit *jit, const nst_code *codes, int n, nst_jit_options options,
                            nst_buffer *error);
const char *nst_jit_llvm_version(const nst_jit *jit); /* "19.1.7" */

/* ---- what the module exports, under the name nst_jit_module_get ---- */

enum { NST_JIT_ABI = 7 }; /* changes with anything in this header, in code.h or in vector.h */
typedef struct nst_jit_session nst_jit_session; /* the module's own */
typedef struct {
  int abi;
  const char *llvm;
  nst_jit_status (*session_new)(nst_jit_session **out, nst_buffer *error);
  void (*session_free)(nst_jit_session *session);
  void (*use_cache)(nst_jit_session *session, const char *directory);
  nst_jit_cache_statistics (*cache_show)(const nst_jit_session *session);
  nst_jit_status (*compile)(nst_jit_unit **out, nst_code_function **functions, nst_jit_session *session,
                            const nst_code *codes, int n, nst_jit_options options, nst_buffer *error);
  nst_jit_status (*compile_vectors)(nst_jit_unit **out, nst_vector_function **functions, nst_jit_session *session,
                                    const nst_vector_code *codes, int n, nst_jit_options options, nst_buffer *error);
  void (*unit_free)(nst_jit_unit *unit);
  nst_jit_status (*emit)(nst_buffer *out, nst_jit_session *session, const nst_code *codes, int n, nst_jit_options options,
                         nst_buffer *error);
} nst_jit_module;
typedef const nst_jit_module *nst_jit_module_getter(void);
#define NST_JIT_MODULE_GETTER "nst_jit_module_get"
#endif
