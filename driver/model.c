/* nestor_model: the closed forms of one model, evaluated again and again.
 *
 * Named values are evaluated in order. One that has no value is lost, and so is
 * what reads it; a value that only the untaken side of an `if` reads spoils
 * nothing. Why it is lost is remembered and told when somebody asks. */
#include "driver/model.h"

#include "ir/nest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void nst_model_values_init(nst_model_values *v, nst_arena *arena, const nst_ir_model *ir) {
  *v = (nst_model_values){
    .ir = ir,
    .params = NST_NEW_ARRAY(arena, ir->scope.nparams, nst_value),
    .values = NST_NEW_ARRAY(arena, ir->scope.nvalues, nst_value),
    .lost = NST_NEW_ARRAY(arena, ir->scope.nvalues, bool),
    .status = NST_NEW_ARRAY(arena, ir->scope.nvalues, nst_eval_status),
    .where = NST_NEW_ARRAY(arena, ir->scope.nvalues, nst_span),
  };
}

bool nst_model_values_run(nst_model_values *v, uint64_t *fuel) {
  const nst_eval_env env = {.params = v->params, .values = v->values, .lost = v->lost, .fuel = fuel};
  for (int i = 0; i < v->ir->scope.nvalues; i++) {
    v->status[i] = nst_expr_eval(&v->values[i], v->ir->scope.values[i].value, &env, &v->where[i]);
    v->lost[i] = v->status[i] != NST_EVAL_OK;
    if (v->status[i] == NST_EVAL_FUEL) return false;
  }
  return true;
}

const nst_value *nst_model_values_out(const nst_model_values *v, int out) {
  const int value = v->ir->outs[out].value->index;
  return v->lost[value] ? NULL : &v->values[value];
}

/* ---- the public interface ---- */

enum { FUEL = 1 << 26 }; /* nodes evaluated per run */

struct nestor_model {
  const nestor_program *program;
  nst_arena *arena;
  nst_model_values values;
  bool ran, failed;          /* failed: out of fuel */
  nst_arena *message_arena;  /* of the last run's messages; NULL: none were composed */
  nst_diags *diags;
};

static const nst_ir_model *find(const nestor_program *program, size_t model) {
  return model < nestor_program_models(program) ? &program->ir->models[model] : NULL;
}

size_t nestor_program_models(const nestor_program *program) {
  return program->status == NESTOR_OK && program->ir ? (size_t)program->ir->nmodels : 0;
}

size_t nestor_program_find_model(const nestor_program *program, const char *model) {
  for (size_t i = 0; i < nestor_program_models(program); i++)
    if (!strcmp(program->ir->models[i].name, model)) return i;
  return SIZE_MAX;
}

bool nestor_program_model(const nestor_program *program, size_t model, nestor_model_info *out) {
  const nst_ir_model *ir = find(program, model);
  if (!ir) return false;
  *out = (nestor_model_info){ir->name, (size_t)ir->scope.nparams, (size_t)ir->nouts};
  return true;
}

const char *nestor_program_model_param(const nestor_program *program, size_t model, size_t param) {
  const nst_ir_model *ir = find(program, model);
  return ir && param < (size_t)ir->scope.nparams ? ir->scope.params[param].name : NULL;
}

const char *nestor_program_model_out(const nestor_program *program, size_t model, size_t out) {
  const nst_ir_model *ir = find(program, model);
  return ir && out < (size_t)ir->nouts ? ir->outs[out].name : NULL;
}

nestor_model *nestor_model_new(const nestor_program *program, size_t model) {
  const nst_ir_model *ir = find(program, model);
  if (!ir) return NULL;
  nst_arena *arena = nst_arena_new();
  nestor_model *m = NST_NEW(arena, nestor_model);
  m->program = program;
  m->arena = arena;
  nst_model_values_init(&m->values, arena, ir);
  return m;
}

static void forget_messages(nestor_model *m) {
  nst_arena_free(m->message_arena);
  m->message_arena = NULL;
  m->diags = NULL;
}

void nestor_model_free(nestor_model *model) {
  if (!model) return;
  forget_messages(model);
  nst_arena_free(model->arena);
}

nestor_status nestor_model_run(nestor_model *model, const int64_t *params) {
  if (model->message_arena) forget_messages(model);
  nst_model_values *v = &model->values;
  for (int i = 0; i < v->ir->scope.nparams; i++)
    v->params[i] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(params[i])};
  const uint64_t limit = model->program->settings.limits.fuel;
  uint64_t fuel = limit && limit < FUEL ? limit : FUEL;
  model->ran = true;
  model->failed = !nst_model_values_run(v, &fuel);
  return model->failed ? NESTOR_ERROR : NESTOR_OK;
}

/* An integer that fits no int64_t has no value: it is never rounded. */
static bool is_too_large(const nst_value *v) {
  int64_t unused;
  return v->kind == NST_VALUE_RAT && nst_rat_is_int(v->rat) && !nst_rat_to_i64(&unused, v->rat);
}

bool nestor_model_value(const nestor_model *model, size_t out, nestor_value *value) {
  if (!model->ran || model->failed || out >= (size_t)model->values.ir->nouts) return false;
  const nst_value *v = nst_model_values_out(&model->values, (int)out);
  *value = (nestor_value){.kind = NESTOR_VALUE_UNDEFINED, .real = NAN};
  if (!v || is_too_large(v)) return true;
  value->kind = nst_value_to_i64(&value->integer, v) ? NESTOR_VALUE_INTEGER : NESTOR_VALUE_FRACTION;
  value->real = v->kind == NST_VALUE_RAT ? nst_rat_to_double(v->rat) : v->real;
  return true;
}

/* What is lost for a reason of its own. A value that was not reached keeps the status of an earlier run. */
static void tell_lost(nestor_model *m) {
  const nst_model_values *v = &m->values;
  for (int i = 0; i < v->ir->scope.nvalues; i++) {
    if (v->lost[i] && v->status[i] != NST_EVAL_NO_VALUE)
      nst_eval_report(m->diags, v->status[i], v->where[i], "the value of", v->ir->scope.values[i].name);
    if (v->status[i] == NST_EVAL_FUEL) return;
  }
}

static void tell_too_large(nestor_model *m) {
  const nst_model_values *v = &m->values;
  for (int i = 0; i < v->ir->nouts; i++) {
    const nst_value *value = nst_model_values_out(v, i);
    if (value && is_too_large(value))
      nst_diag_add(m->diags, NST_D_METRIC_OVERFLOW, v->ir->outs[i].span, "the output `%s` is past 2^63-1", v->ir->outs[i].name);
  }
}

const nestor_diagnostics *nestor_model_diagnostics(nestor_model *model) {
  if (model->ran && !model->diags) {
    model->message_arena = nst_arena_new();
    model->diags = nst_diags_new(model->message_arena, model->program->sources);
    tell_lost(model);
    if (!model->failed) tell_too_large(model);
    nst_diags_sort(model->diags);
  }
  return (const nestor_diagnostics *)(const void *)model->diags;
}
