/* The JIT behind one evaluation: a session with the code generator, a kernel,
 * and a scratch. Made when the engine is first asked for; nothing of it is
 * touched by commands that do not. */
#include "backend/kernel.h"
#include "driver/emit.h"
#include "ir/plan.h"

#include <stdlib.h>

struct nst_native {
  nst_arena *arena;
  nst_jit *jit;
  nst_kernel *kernel;
  nst_kernel_scratch *scratch;
  int nparams;
  int64_t *params;
};

nst_native *nst_native_new(const nestor_program *p, const nst_ir_mapping *m, nst_diags *diags) {
  nst_native *n = calloc(1, sizeof *n);
  if (!n) nst_out_of_memory();
  n->arena = nst_arena_new();
  n->nparams = m->scope.nparams;
  n->params = NST_NEW_ARRAY(n->arena, n->nparams, int64_t);
  nst_buffer error = {0};
  nst_jit_status status = nst_settings_jit(&n->jit, &p->settings, &error);
  if (status == NST_JIT_OK) {
    const nst_kernel_options options = {.jit = n->jit, .level = NST_JIT_O1};
    status = nst_kernel_new(&n->kernel, m, nst_plan_make(n->arena, m), options, &error);
  }
  if (status == NST_JIT_OK) n->scratch = nst_kernel_scratch_new(n->kernel);
  else {
    if (diags) {
      nst_diag *d = nst_diag_add(diags, NST_D_CODE_GENERATOR, m->span, "%s", error.len ? error.text : "no native code");
      nst_diag_help(diags, d, "the engine analysis gives the same counts without native code");
    }
    nst_native_free(n);
    n = NULL;
  }
  nst_buffer_fini(&error);
  return n;
}

void nst_native_free(nst_native *n) {
  if (!n) return;
  nst_kernel_scratch_free(n->scratch);
  nst_kernel_free(n->kernel);
  nst_jit_free(n->jit);
  nst_arena_free(n->arena);
  free(n);
}

nst_native_status nst_native_count(nst_native *n, const nst_value *params, nst_counts *out) {
  for (int i = 0; i < n->nparams; i++)
    if (params[i].kind != NST_VALUE_RAT || !nst_rat_to_i64(&n->params[i], params[i].rat)) return NST_NATIVE_ASK;
  switch (nst_kernel_eval(n->kernel, n->scratch, n->params, out)) {
    case NST_KERNEL_OK: return NST_NATIVE_OK;
    case NST_KERNEL_INFEASIBLE: return NST_NATIVE_INFEASIBLE;
    case NST_KERNEL_DEOPT: return NST_NATIVE_ASK;
  }
  return NST_NATIVE_ASK;
}

nestor_status nst_emit_llvm(const nestor_program *program, nst_buffer *out) {
  const int n = program->ir->nmappings;
  nst_arena *arena = nst_arena_new();
  const nst_ir_mapping **mappings = NST_NEW_ARRAY(arena, n, const nst_ir_mapping *);
  const nst_plan **plans = NST_NEW_ARRAY(arena, n, const nst_plan *);
  for (int i = 0; i < n; i++) {
    mappings[i] = program->ir->mappings[i];
    plans[i] = nst_plan_make(arena, mappings[i]);
  }
  nst_jit *jit;
  nst_jit_status status = nst_settings_jit(&jit, &program->settings, out);
  if (status == NST_JIT_OK)
    status = nst_kernels_emit_llvm(out, n, mappings, plans, (nst_kernel_options){.jit = jit, .level = NST_JIT_O2}, out);
  nst_jit_free(jit);
  nst_arena_free(arena);
  return status == NST_JIT_OK ? NESTOR_OK : status == NST_JIT_MISSING ? NESTOR_UNAVAILABLE : NESTOR_ERROR;
}
