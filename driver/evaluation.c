/* nestor_eval: one mapping evaluated again and again.
 *
 * A run goes: parameters -> numbers (ir/nest) -> counters (an engine) ->
 * figures (ir/metrics). It is tried without collecting messages first; only a
 * failed run is repeated with a list to collect them in, so that a good run
 * allocates nothing and a search over many bad points stays cheap.
 * Left to others: which parameters (tests, verify, the command line), how
 * figures are shown (report_*). */
#include "driver/internal.h"
#include "driver/outside.h"
#include "driver/peak.h"
#include "driver/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *zeroed(size_t n, size_t size) {
  void *p = calloc(n + 1, size);
  if (!p) nst_out_of_memory();
  return p;
}

nestor_eval *nestor_eval_new(const nestor_program *program, size_t mapping) {
  if (mapping >= nestor_program_mappings(program)) return NULL;
  nestor_eval *e = zeroed(1, sizeof *e);
  e->program = program;
  e->ir = program->ir->mappings[mapping];
  e->arena = nst_arena_new();
  const size_t n = (size_t)e->ir->scope.nparams;
  e->set = NST_NEW_ARRAY(e->arena, n, nst_value);
  e->is_set = NST_NEW_ARRAY(e->arena, n, bool);
  e->params = NST_NEW_ARRAY(e->arena, n, nst_value);
  e->maker = nst_nest_maker_new(e->ir);
  if (program->settings.limits.fuel) e->fuel = &e->fuel_left;
  nst_nest_maker_set_fuel(e->maker, e->fuel);
  return e;
}

void nestor_eval_free(nestor_eval *eval) {
  if (!eval) return;
  nst_native_free(eval->native);
  nst_analysis_free(eval->analysis);
  nst_nest_maker_free(eval->maker);
  nst_arena_free(eval->message_arena);
  nst_arena_free(eval->arena);
  free(eval);
}

nst_diags *nst_eval_messages(nestor_eval *e) {
  nst_arena_free(e->message_arena);
  e->message_arena = nst_arena_new();
  e->diags = nst_diags_new(e->message_arena, e->program->sources);
  return e->diags;
}

static void forget_messages(nestor_eval *e) {
  if (!e->message_arena) return;
  nst_arena_free(e->message_arena);
  e->message_arena = NULL;
  e->diags = NULL;
}

static bool parse_number(nst_value *out, const char *text) {
  bool negative = *text == '-';
  if (negative || *text == '+') text++;
  nst_rat v;
  if (!(*text >= '0' && *text <= '9') && *text != '.') return false;
  if (!nst_rat_parse(&v, text, strlen(text)) || (negative && !nst_rat_neg(&v, v))) return false;
  *out = (nst_value){.kind = NST_VALUE_RAT, .rat = v};
  return true;
}

nestor_status nestor_eval_set(nestor_eval *eval, const char *param, const char *number) {
  for (int i = 0; i < eval->ir->scope.nparams; i++) {
    if (strcmp(eval->ir->scope.params[i].name, param)) continue;
    if (!parse_number(&eval->set[i], number)) return NESTOR_USAGE;
    eval->is_set[i] = true;
    return NESTOR_OK;
  }
  return NESTOR_USAGE;
}

void nestor_eval_reset(nestor_eval *eval) {
  memset(eval->is_set, 0, (size_t)eval->ir->scope.nparams * sizeof *eval->is_set);
}

void nst_eval_refuel(nestor_eval *e) { e->fuel_left = e->program->settings.limits.fuel; }

bool nst_eval_defaults(nestor_eval *e, nst_diags *diags) {
  for (int i = 0; i < e->ir->scope.nparams; i++)
    if (e->is_set[i]) e->params[i] = e->set[i];
  return nst_nest_defaults_within(e->params, e->is_set, e->ir, e->fuel, diags);
}

/* What the analysis has been refused for need not be counted once more to be said. */
static nestor_status tell_starved(nestor_eval *e) {
  nst_tell_starved(nst_eval_messages(e), e->ir);
  return NESTOR_ERROR;
}

nestor_status nestor_eval_run(nestor_eval *eval, nestor_engine engine, const int64_t *params) {
  forget_messages(eval);
  nst_eval_refuel(eval);
  for (int i = 0; params && i < eval->ir->scope.nparams; i++)
    eval->params[i] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(params[i])};
  if ((params || nst_eval_defaults(eval, NULL)) && nst_pipeline_evaluate(eval, engine, NULL)) return NESTOR_OK;
  if (eval->starved) return tell_starved(eval);

  nst_diags *diags = nst_eval_messages(eval);
  nst_eval_refuel(eval);
  if ((params || nst_eval_defaults(eval, diags)) && nst_pipeline_evaluate(eval, engine, diags)) return NESTOR_OK;
  eval->nest = NULL;
  nst_diags_sort(diags);
  const bool unavailable = nst_diags_count(diags) && nst_diags_get(diags, 0)->id == NST_D_CODE_GENERATOR;
  return unavailable ? NESTOR_UNAVAILABLE : NESTOR_ERROR;
}

/* Evaluates the named values that x uses and that are not known yet. */
static void need_values(nestor_eval *e, const nst_expr *x, const nst_eval_env *env) {
  if (!x) return;
  if (x->kind == NST_X_VALUE && !e->values_known[x->index]) {
    const nst_expr *value = e->ir->scope.values[x->index].value;
    nst_span where;
    e->values_known[x->index] = true;
    need_values(e, value, env);
    /* A value that fails leaves a number that no set accepts. */
    if (nst_expr_eval(&e->values[x->index], value, env, &where) != NST_EVAL_OK)
      e->values[x->index] = (nst_value){.kind = NST_VALUE_REAL, .real = NAN};
  }
  need_values(e, x->a, env);
  need_values(e, x->b, env);
  need_values(e, x->c, env);
}

nst_eval_status nst_eval_expr(nestor_eval *e, const nst_expr *x, nst_value *out, nst_span *where) {
  const size_t n = (size_t)e->ir->scope.nvalues;
  if (!e->values) {
    e->values = NST_NEW_ARRAY(e->arena, n, nst_value);
    e->values_known = NST_NEW_ARRAY(e->arena, n, bool);
  }
  memset(e->values_known, 0, n * sizeof *e->values_known);
  uint64_t fuel = UINT64_C(1) << 24;
  const nst_eval_env env = {.params = e->params, .values = e->values, .fuel = &fuel};
  need_values(e, x, &env);
  return nst_expr_eval(out, x, &env, where);
}

/* ---- what does not fit ---- */

static const nst_ir_node *keep_at(const nst_ir_mapping *m, int level) {
  for (int i = 0; i < m->nnodes; i++)
    if (m->nodes[i]->kind == NST_NODE_KEEP && m->nodes[i]->level == level) return m->nodes[i];
  return NULL;
}

bool nst_is_kept(const nst_ir_mapping *m, int level, int tensor) {
  for (int i = 0; i < m->nslots; i++)
    if (m->slots[i].level == level && m->slots[i].tensor == tensor) return true;
  return false;
}

static void tell_fit(nestor_eval *e, int l) {
  const nst_ir_level *level = &e->ir->hardware.levels[l];
  nst_buffer usage = {0}, capacity = {0}, parts = {0};
  nst_number_grouped(&usage, nst_round_up(e->metrics.levels[l].usage));
  nst_number_decimal(&capacity, nst_rat_to_double(e->nest->levels[l].capacity), 3);
  nst_share *shares = NST_NEW_ARRAY(e->message_arena, e->ir->workload.ntensors, nst_share);
  nst_peak_shares(shares, e->nest, e->counts, l);
  for (int t = 0; t < e->ir->workload.ntensors; t++) {
    if (!shares[t].held) continue;
    nst_buffer_printf(&parts, "%s%s ", parts.len ? " + " : "", e->ir->workload.tensors[t].name);
    nst_number_grouped(&parts, nst_round_up(shares[t].bytes));
    nst_buffer_puts(&parts, " B");
  }
  const nst_ir_node *keep = keep_at(e->ir, l);
  nst_diag *d = nst_diag_add(e->diags, NST_D_DOES_NOT_FIT, keep && keep->span.source ? keep->span : e->ir->span,
                             "mapping `%s` does not fit: `%s` holds %s B and has %s B", e->ir->name, level->name,
                             usage.text, capacity.text);
  nst_diag_label(e->diags, d, level->span, "its capacity is %s B", capacity.text);
  const int stmt = nst_peak_stmt(e->nest, e->counts, l);
  const char *doubled = level->double_buffered ? " (doubled, as it is double-buffered)" : "";
  if (stmt >= 0)
    nst_diag_help(e->diags, d, "the %s B are %s%s, while `%s` is computed: the branch that holds most", usage.text, parts.text, doubled,
                  e->ir->workload.tensors[e->ir->workload.stmts[stmt].out.tensor].name);
  else
    nst_diag_help(e->diags, d, "the %s B are %s%s", usage.text, parts.text, doubled);
  nst_buffer_fini(&usage);
  nst_buffer_fini(&capacity);
  nst_buffer_fini(&parts);
}

static void tell_not_simulated(nestor_eval *e) {
  nst_diag *d = nst_diag_add(e->diags, NST_D_NOT_SIMULATED, e->ir->span, "the simulator was left out: %s", e->not_simulated);
  nst_diag_help(e->diags, d, "the analysis and the jit were compared, and agree; to compare all three, map a smaller problem");
}

const nestor_diagnostics *nestor_eval_diagnostics(nestor_eval *eval) {
  if (eval->nest && eval->not_simulated) {
    if (!eval->diags) nst_eval_messages(eval);
    tell_not_simulated(eval);
    nst_diags_sort(eval->diags);
    eval->not_simulated = NULL; /* told */
  }
  if (eval->nest && !eval->outside_told && nst_is_outside(eval)) {
    if (!eval->diags) nst_eval_messages(eval);
    nst_tell_outside(eval);
    nst_diags_sort(eval->diags);
    eval->outside_told = true;
  }
  if (eval->nest && !eval->metrics.fits && !eval->fit_told) {
    if (!eval->diags) nst_eval_messages(eval);
    for (int l = 0; l < eval->ir->hardware.nlevels; l++)
      if (eval->ir->hardware.levels[l].kind == NST_LEVEL_MEMORY && !eval->metrics.levels[l].fits) tell_fit(eval, l);
    nst_diags_sort(eval->diags);
    eval->fit_told = true;
  }
  return (const nestor_diagnostics *)(const void *)eval->diags;
}
