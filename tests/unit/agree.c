#include "agree.h"

#include "backend/kernel.h"
#include <stdlib.h>

struct agree {
  nst_jit *jit; /* NULL: there is no code generator */
  int counted, left;
};

agree *agree_new(void) {
  agree *a = calloc(1, sizeof *a);
  if (a && nst_jit_new(&a->jit, NULL, NULL) != NST_JIT_OK) a->jit = NULL;
  return a;
}

void agree_free(agree *a) {
  if (a) nst_jit_free(a->jit);
  free(a);
}

void agree_native(const agree *a, int *counted, int *left) { *counted = a->counted, *left = a->left; }

static const char *native_differs(agree *a, nst_arena *arena, const nst_ir_mapping *m, const nst_plan *plan,
                                  const nst_value *params, const nst_counts *counts) {
  nst_kernel *k;
  nst_buffer error = {0};
  int64_t *integers = NST_NEW_ARRAY(arena, m->scope.nparams, int64_t);
  for (int i = 0; i < m->scope.nparams; i++)
    if (!nst_value_to_i64(&integers[i], &params[i])) return NULL; /* a parameter with a unit: none is a tile */
  nst_kernel_options options = {.jit = a->jit, .level = NST_JIT_O0};
  if (nst_kernel_new(&k, m, plan, options, &error) != NST_JIT_OK) {
    const char *why = nst_arena_printf(arena, "no native code: %s", error.text);
    nst_buffer_fini(&error);
    return why;
  }
  nst_kernel_scratch *scratch = nst_kernel_scratch_new(k);
  nst_counts *got = nst_counts_new(arena, m);
  const char *difference = NULL;
  switch (nst_kernel_eval(k, scratch, integers, got)) {
  case NST_KERNEL_OK:
    a->counted++;
    difference = nst_counts_diff(arena, m, counts, got);
    if (difference) difference = nst_arena_printf(arena, "simulator and native code: %s", difference);
    break;
  case NST_KERNEL_INFEASIBLE: difference = "native code calls this point infeasible"; break;
  case NST_KERNEL_DEOPT: a->left++; break;
  }
  nst_kernel_scratch_free(scratch);
  nst_kernel_free(k);
  return difference;
}

const char *agree_differ(agree *a, nst_arena *arena, const nst_nest *nest, const nst_value *params,
                         const nst_counts *counts) {
  const nst_ir_mapping *m = nest->ir;
  nst_analysis *analysis = nst_analysis_new(m);
  nst_counts *got = nst_counts_new(arena, m);
  const char *difference = "the analysis refuses it";
  if (nst_analysis_count(analysis, nest, got, NULL)) {
    difference = nst_counts_diff(arena, m, counts, got);
    if (difference) difference = nst_arena_printf(arena, "simulator and analysis: %s", difference);
  }
  if (!difference && a->jit)
    difference = native_differs(a, arena, m, nst_analysis_plan(analysis), params, counts);
  nst_analysis_free(analysis);
  return difference;
}
