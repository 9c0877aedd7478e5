/* Nest, then analysis: everything either needs is made once and used again. */
#include "backend/interpreter.h"

struct nst_interpreter {
  nst_arena *arena;
  const nst_ir_mapping *ir;
  nst_nest_maker *maker;
  nst_analysis *analysis;
  const nst_nest *nest;
  nst_counts *counts;
  nst_value *params;
};

nst_interpreter *nst_interpreter_new(const nst_ir_mapping *m) {
  nst_arena *arena = nst_arena_new();
  nst_interpreter *i = NST_NEW(arena, nst_interpreter);
  i->arena = arena;
  i->ir = m;
  i->maker = nst_nest_maker_new(m);
  i->analysis = nst_analysis_new(m);
  i->counts = nst_counts_new(arena, m);
  i->params = NST_NEW_ARRAY(arena, m->scope.nparams, nst_value);
  return i;
}

void nst_interpreter_free(nst_interpreter *i) {
  if (!i) return;
  nst_nest_maker_free(i->maker);
  nst_analysis_free(i->analysis);
  nst_arena_free(i->arena);
}

const nst_counts *nst_interpreter_eval(nst_interpreter *i, const nst_value *params, nst_diags *diags) {
  i->nest = nst_nest_make(i->maker, params, diags);
  if (!i->nest || !nst_analysis_count(i->analysis, i->nest, i->counts, diags)) return NULL;
  return i->counts;
}

const nst_counts *nst_interpreter_eval_integers(nst_interpreter *i, const int64_t *params, nst_diags *diags) {
  for (int p = 0; p < i->ir->scope.nparams; p++)
    i->params[p] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(params[p])};
  return nst_interpreter_eval(i, i->params, diags);
}

const nst_nest *nst_interpreter_nest(const nst_interpreter *i) { return i->nest; }
const nst_plan *nst_interpreter_plan(const nst_interpreter *i) { return nst_analysis_plan(i->analysis); }
