/* The module nestor-llvm: straight-line code to functions that can be called.
 *
 * Each compilation makes a module in a context of its own, verifies it, runs
 * LLVM's standard pipeline and writes an object into memory with a target
 * machine of its own; only then does the object meet the session, an LLJIT, that
 * links it. So threads share nothing but ORC, which locks; contexts and target
 * machines never outlive a call; and an object that does not link is removed
 * with its resource tracker, which leaves no trace of its names.
 *
 * An object may also come from disk, or go there. Names in an object start with a
 * placeholder as long as the prefix of a unit, which takes its place just before
 * the object meets the session: so one object serves any number of units.
 *
 * Every LLVMErrorRef is consumed where it appears. LLVM would print session
 * errors and diagnostics of a context; both are caught and become the reason
 * that the caller gets. */
#include "backend/jit.h"
#include "backend/llvm_emit.h"
#include "backend/object_cache.h"
#include <dlfcn.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct nst_jit_session {
  LLVMOrcLLJITRef lljit;
  LLVMTargetRef target;
  char *triple, *cpu, *features;
  atomic_uint units; /* made so far: their names are u00000000_ u00000001_ … */
  nst_object_cache *cache; /* NULL: none */
  atomic_uint_fast64_t found, stored;
  pthread_mutex_t lock;
  nst_buffer reported; /* what ORC said behind a lookup's back; under lock */
};

struct nst_jit_unit {
  nst_jit_session *session;
  LLVMOrcResourceTrackerRef tracker;
};

/* Opening the module is the one moment that happens once, whatever the threads. */
__attribute__((constructor)) static void start(void) {
  LLVMInitializeNativeTarget();
  LLVMInitializeNativeAsmPrinter();
}

static void say(nst_buffer *error, const char *what, const char *why) {
  if (error) nst_buffer_printf(error, "%s: %s", what, why);
}

/* Consumes err. Whether there was one. */
static bool failed(LLVMErrorRef err, const char *what, nst_buffer *error) {
  if (!err) return false;
  char *why = LLVMGetErrorMessage(err);
  say(error, what, why);
  LLVMDisposeErrorMessage(why);
  return true;
}

static void on_session_error(void *context, LLVMErrorRef err) {
  nst_jit_session *s = context;
  char *why = LLVMGetErrorMessage(err);
  pthread_mutex_lock(&s->lock);
  if (s->reported.len) nst_buffer_puts(&s->reported, "; ");
  nst_buffer_puts(&s->reported, why);
  pthread_mutex_unlock(&s->lock);
  LLVMDisposeErrorMessage(why);
}

/* Moves what ORC reported behind the reason of a failed lookup. */
static void take_reported(nst_jit_session *s, nst_buffer *error) {
  pthread_mutex_lock(&s->lock);
  if (error && s->reported.len) nst_buffer_printf(error, " (%s)", s->reported.text);
  nst_buffer_clear(&s->reported);
  pthread_mutex_unlock(&s->lock);
}

static void on_diagnostic(LLVMDiagnosticInfoRef info, void *context) {
  nst_buffer *text = context;
  char *why = LLVMGetDiagInfoDescription(info);
  if (text->len) nst_buffer_puts(text, "; ");
  nst_buffer_puts(text, why);
  LLVMDisposeMessage(why);
}

/* ---- sessions ---- */

/* The functions that LLVM calls on its own account: nothing else of the process is needed. */
static bool define_runtime(nst_jit_session *s, nst_buffer *error) {
  static const struct {
    const char *name;
    void *(*set)(void *, int, size_t);
    void *(*copy)(void *, const void *, size_t);
  } functions[] = {{"memset", memset, NULL}, {"memcpy", NULL, memcpy}, {"memmove", NULL, memmove}};
  enum { N = sizeof functions / sizeof *functions };
  LLVMOrcCSymbolMapPair pairs[N];
  for (size_t i = 0; i < N; i++) {
    pairs[i].Name = LLVMOrcLLJITMangleAndIntern(s->lljit, functions[i].name);
    pairs[i].Sym.Address =
      functions[i].set ? (LLVMOrcExecutorAddress)functions[i].set : (LLVMOrcExecutorAddress)functions[i].copy;
    pairs[i].Sym.Flags = (LLVMJITSymbolFlags){LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable, 0};
  }
  LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(pairs, N); /* takes the names */
  LLVMErrorRef err = LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(s->lljit), unit);
  if (!err) return true;
  LLVMOrcDisposeMaterializationUnit(unit);
  return !failed(err, "cannot define the runtime functions", error);
}

static void session_free(nst_jit_session *s) {
  if (!s) return;
  if (s->lljit) LLVMConsumeError(LLVMOrcDisposeLLJIT(s->lljit));
  if (s->cpu) LLVMDisposeMessage(s->cpu);
  if (s->features) LLVMDisposeMessage(s->features);
  free(s->triple);
  nst_object_cache_close(s->cache);
  pthread_mutex_destroy(&s->lock);
  nst_buffer_fini(&s->reported);
  free(s);
}

static nst_jit_status session_new(nst_jit_session **out, nst_buffer *error) {
  *out = NULL;
  nst_jit_session *s = calloc(1, sizeof *s);
  if (!s) nst_out_of_memory();
  pthread_mutex_init(&s->lock, NULL);
  if (failed(LLVMOrcCreateLLJIT(&s->lljit, NULL), "cannot start the just-in-time compiler", error)) {
    s->lljit = NULL;
    session_free(s);
    return NST_JIT_FAILED;
  }
  LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(s->lljit), on_session_error, s);
  s->triple = strdup(LLVMOrcLLJITGetTripleString(s->lljit));
  if (!s->triple) nst_out_of_memory();
  s->cpu = LLVMGetHostCPUName();
  s->features = LLVMGetHostCPUFeatures();
  char *why = NULL;
  if (LLVMGetTargetFromTriple(s->triple, &s->target, &why)) {
    say(error, "no code generator for this machine", why);
    LLVMDisposeMessage(why);
    session_free(s);
    return NST_JIT_FAILED;
  }
  if (!define_runtime(s, error)) {
    session_free(s);
    return NST_JIT_FAILED;
  }
  *out = s;
  return NST_JIT_OK;
}

/* ---- one compilation ---- */

/* What is compiled: pieces of straight-line code or of vector code. */
typedef struct {
  const nst_code *codes;
  const nst_vector_code *vectors;
  int n;
} pieces;

static const char *piece_name(const pieces *p, int i) { return p->codes ? p->codes[i].name : p->vectors[i].name; }

static LLVMTargetMachineRef new_machine(const nst_jit_session *s, nst_jit_level level) {
  static const LLVMCodeGenOptLevel levels[] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess, LLVMCodeGenLevelDefault};
  return LLVMCreateTargetMachine(s->target, s->triple, s->cpu, s->features, levels[level], LLVMRelocPIC,
                                 LLVMCodeModelSmall);
}

/* The verified and optimised module, or NULL. */
static LLVMModuleRef build_module(const nst_jit_session *s, LLVMContextRef context, LLVMTargetMachineRef machine,
                                  const pieces *p, const char *prefix, nst_jit_options options, nst_buffer *error) {
  LLVMModuleRef module = p->codes ? nst_llvm_emit(context, p->codes, p->n, prefix, options.require)
                                  : nst_llvm_emit_vectors(context, p->vectors, p->n, prefix, s->features);
  LLVMSetTarget(module, s->triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);

  char *why = NULL;
  bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &why);
  if (broken) say(error, "the generated code is not valid", why);
  LLVMDisposeMessage(why);
  if (!broken && options.level != NST_JIT_O0) {
    LLVMPassBuilderOptionsRef passes = LLVMCreatePassBuilderOptions();
    const char *pipeline = options.level == NST_JIT_O1 ? "default<O1>" : "default<O2>";
    broken = failed(LLVMRunPasses(module, pipeline, machine, passes), "cannot optimise the generated code", error);
    LLVMDisposePassBuilderOptions(passes);
  }
  if (!broken) return module;
  LLVMDisposeModule(module);
  return NULL;
}

/* The code as an object in memory, or NULL. Nothing of LLVM but the buffer is left afterwards. */
static LLVMMemoryBufferRef build_object(const nst_jit_session *s, const pieces *p, const char *prefix,
                                        nst_jit_options options, nst_buffer *error) {
  LLVMContextRef context = LLVMContextCreate();
  nst_buffer said = {0};
  LLVMContextSetDiagnosticHandler(context, on_diagnostic, &said);
  LLVMTargetMachineRef machine = new_machine(s, options.level);
  LLVMMemoryBufferRef object = NULL;
  LLVMModuleRef module = build_module(s, context, machine, p, prefix, options, error);
  if (module) {
    char *why = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &why, &object)) {
      say(error, "cannot generate machine code", why);
      LLVMDisposeMessage(why);
      object = NULL;
    }
    LLVMDisposeModule(module);
  }
  if (!object && said.len) say(error, "", said.text);
  LLVMDisposeTargetMachine(machine);
  LLVMContextDispose(context);
  nst_buffer_fini(&said);
  return object;
}

/* ---- objects on disk ---- */

static void use_cache(nst_jit_session *s, const char *directory) {
  nst_object_cache_close(s->cache);
  s->cache = directory && !*directory ? NULL : nst_object_cache_open(directory);
}

static nst_jit_cache_statistics cache_show(const nst_jit_session *s) {
  return (nst_jit_cache_statistics){atomic_load(&s->found), atomic_load(&s->stored)};
}

static void describe_code(nst_buffer *b, const nst_code *c) {
  nst_buffer_printf(b, "code %s %d %d %d\n", c->name, c->ninsts, c->nstores, c->status);
  for (int i = 0; i < c->ninsts; i++) {
    const nst_inst *x = &c->insts[i];
    const int64_t words[] = {x->op, x->boolean, x->a, x->b, x->c, x->imm};
    nst_buffer_add(b, (const char *)words, sizeof words);
  }
  for (int i = 0; i < c->nstores; i++) {
    const int64_t words[] = {c->stores[i].slot, c->stores[i].value};
    nst_buffer_add(b, (const char *)words, sizeof words);
  }
}

static void describe_vector(nst_buffer *b, const nst_vector_code *c) {
  const int64_t words[] = {c->floating, c->filter, c->checksum, c->small_sum, (int64_t)c->ntuples, (int64_t)c->room, c->octave, c->stride,
                           c->nforms, c->nslots, c->nops, c->valid, c->nmetrics, c->best, c->largest, c->front[0], c->front[1], c->nfront};
  nst_buffer_printf(b, "vector %s\n", c->name);
  nst_buffer_add(b, (const char *)words, sizeof words);
  for (int i = 0; i < c->nforms; i++) {
    const nst_vform *f = &c->forms[i];
    const int64_t form[] = {f->first, f->n, f->least, f->base, f->like, f->divisor, f->constant, f->positive};
    nst_buffer_add(b, (const char *)form, sizeof form);
  }
  for (int i = 0; i < c->nops; i++) {
    const int64_t op[] = {(int64_t)c->ops[i].kind, c->ops[i].a, c->ops[i].b, c->ops[i].imm};
    nst_buffer_add(b, (const char *)op, sizeof op);
  }
  for (int i = 0; i < c->nmetrics; i++) nst_buffer_add(b, (const char *)&c->metrics[i], sizeof c->metrics[i]);
}

/* All that an object depends on; this code generator is told by its file. false: that is not to be found. */
static bool describe(nst_buffer *b, const nst_jit_session *s, const pieces *p, nst_jit_options options) {
  Dl_info info;
  struct stat st;
  void *self = NULL;
  void (*const place)(nst_jit_session *, const char *) = use_cache;
  memcpy(&self, &place, sizeof self);
  if (!dladdr(self, &info) || !info.dli_fname || stat(info.dli_fname, &st)) return false;
  nst_buffer_printf(b, "nestor " NST_VERSION " abi %d llvm %s file %lld %lld.%09ld\n%s\n%s\n%s\nlevel %d require %s pieces %d\n", NST_JIT_ABI,
                    NST_LLVM_VERSION, (long long)st.st_size, (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, s->triple, s->cpu,
                    s->features, (int)options.level, options.require ? options.require : "", p->n);
  for (int i = 0; i < p->n; i++) {
    if (p->codes) describe_code(b, &p->codes[i]);
    else describe_vector(b, &p->vectors[i]);
  }
  return true;
}

#define PLACEHOLDER "u________"
enum { PREFIX = sizeof PLACEHOLDER }; /* with the underscore behind it */

/* A copy of the object whose names start with the prefix. */
static LLVMMemoryBufferRef with_prefix(const char *object, size_t size, const char *prefix) {
  char *copy = malloc(size + 1);
  if (!copy) nst_out_of_memory();
  memcpy(copy, object, size);
  for (char *at = copy; (at = memmem(at, size - (size_t)(at - copy), PLACEHOLDER "_", PREFIX));) memcpy(at, prefix, PREFIX);
  LLVMMemoryBufferRef out = LLVMCreateMemoryBufferWithMemoryRangeCopy(copy, size, "nestor");
  free(copy);
  return out;
}

/* From disk or made anew; NULL: it cannot be made. */
static LLVMMemoryBufferRef find_object(nst_jit_session *s, const pieces *p, const char *prefix, nst_jit_options options,
                                       nst_buffer *error) {
  nst_buffer description = {0}, object = {0};
  LLVMMemoryBufferRef out = NULL;
  const bool cached = s->cache && describe(&description, s, p, options);
  if (cached && nst_object_cache_get(s->cache, description.text, description.len, &object)) {
    out = with_prefix(object.text, object.len, prefix);
    atomic_fetch_add(&s->found, (uint64_t)p->n);
  } else {
    LLVMMemoryBufferRef made = build_object(s, p, PLACEHOLDER "_", options, error);
    if (made && cached) {
      nst_object_cache_put(s->cache, description.text, description.len, LLVMGetBufferStart(made), LLVMGetBufferSize(made));
      atomic_fetch_add(&s->stored, (uint64_t)p->n);
    }
    if (made) out = with_prefix(LLVMGetBufferStart(made), LLVMGetBufferSize(made), prefix);
    if (made) LLVMDisposeMemoryBuffer(made);
  }
  nst_buffer_fini(&description);
  nst_buffer_fini(&object);
  return out;
}

/* ---- units ---- */

static void unit_free(nst_jit_unit *u) {
  if (!u) return;
  LLVMConsumeError(LLVMOrcResourceTrackerRemove(u->tracker));
  LLVMOrcReleaseResourceTracker(u->tracker);
  /* Names of removed code stay in the pool until it is swept. */
  LLVMOrcSymbolStringPoolClearDeadEntries(
    LLVMOrcExecutionSessionGetSymbolStringPool(LLVMOrcLLJITGetExecutionSession(u->session->lljit)));
  free(u);
}

static bool find(nst_jit_session *s, const char *prefix, const char *name, LLVMOrcExecutorAddress *at,
                 nst_buffer *error) {
  nst_buffer symbol = {0};
  nst_buffer_printf(&symbol, "%s%s", prefix, name);
  bool bad = failed(LLVMOrcLLJITLookup(s->lljit, at, symbol.text), "cannot link the generated code", error);
  nst_buffer_fini(&symbol);
  if (bad) take_reported(s, error);
  return !bad;
}

/* at[i]: the address of piece i. */
static nst_jit_status compile_pieces(nst_jit_unit **out, uintptr_t *at, nst_jit_session *s, const pieces *p,
                                     nst_jit_options options, nst_buffer *error) {
  *out = NULL;
  char prefix[32];
  snprintf(prefix, sizeof prefix, "u%08x_", atomic_fetch_add(&s->units, 1));
  LLVMMemoryBufferRef object = find_object(s, p, prefix, options, error);
  if (!object) return NST_JIT_FAILED;

  nst_jit_unit *u = calloc(1, sizeof *u);
  if (!u) nst_out_of_memory();
  u->session = s;
  u->tracker = LLVMOrcJITDylibCreateResourceTracker(LLVMOrcLLJITGetMainJITDylib(s->lljit));
  bool good = !failed(LLVMOrcLLJITAddObjectFileWithRT(s->lljit, u->tracker, object), /* takes the object */
                      "cannot add the generated code", error);
  for (int i = 0; good && i < p->n; i++) {
    LLVMOrcExecutorAddress address = 0;
    good = find(s, prefix, piece_name(p, i), &address, error);
    if (good) at[i] = (uintptr_t)address;
  }
  if (!good) {
    unit_free(u);
    return NST_JIT_FAILED;
  }
  *out = u;
  return NST_JIT_OK;
}

static nst_jit_status compile(nst_jit_unit **out, nst_code_function **functions, nst_jit_session *s,
                              const nst_code *codes, int n, nst_jit_options options, nst_buffer *error) {
  pieces p = {.codes = codes, .n = n};
  uintptr_t *at = calloc((size_t)n + 1, sizeof *at);
  if (!at) nst_out_of_memory();
  nst_jit_status status = compile_pieces(out, at, s, &p, options, error);
  for (int i = 0; status == NST_JIT_OK && i < n; i++) functions[i] = (nst_code_function *)at[i];
  free(at);
  return status;
}

static nst_jit_status compile_vectors(nst_jit_unit **out, nst_vector_function **functions, nst_jit_session *s,
                                      const nst_vector_code *codes, int n, nst_jit_options options, nst_buffer *error) {
  pieces p = {.vectors = codes, .n = n};
  uintptr_t *at = calloc((size_t)n + 1, sizeof *at);
  if (!at) nst_out_of_memory();
  nst_jit_status status = compile_pieces(out, at, s, &p, options, error);
  for (int i = 0; status == NST_JIT_OK && i < n; i++) functions[i] = (nst_vector_function *)at[i];
  free(at);
  return status;
}

static nst_jit_status emit(nst_buffer *out, nst_jit_session *s, const nst_code *codes, int n, nst_jit_options options,
                           nst_buffer *error) {
  LLVMContextRef context = LLVMContextCreate();
  nst_buffer said = {0};
  LLVMContextSetDiagnosticHandler(context, on_diagnostic, &said);
  LLVMTargetMachineRef machine = new_machine(s, options.level);
  pieces p = {.codes = codes, .n = n};
  LLVMModuleRef module = build_module(s, context, machine, &p, "", options, error);
  if (module) {
    char *text = LLVMPrintModuleToString(module);
    nst_buffer_puts(out, text);
    LLVMDisposeMessage(text);
    LLVMDisposeModule(module);
  }
  LLVMDisposeTargetMachine(machine);
  LLVMContextDispose(context);
  nst_buffer_fini(&said);
  return module ? NST_JIT_OK : NST_JIT_FAILED;
}

__attribute__((visibility("default"))) const nst_jit_module *nst_jit_module_get(void);

const nst_jit_module *nst_jit_module_get(void) {
  static const nst_jit_module module = {
    .abi = NST_JIT_ABI,
    .llvm = NST_LLVM_VERSION,
    .session_new = session_new,
    .session_free = session_free,
    .use_cache = use_cache,
    .cache_show = cache_show,
    .compile = compile,
    .compile_vectors = compile_vectors,
    .unit_free = unit_free,
    .emit = emit,
  };
  return &module;
}
