/* What a run found, in the plain structs of the public header. */
#include "driver/internal.h"

#include <math.h>
#include <string.h>

static nst_metrics_view view_of(const nestor_eval *e) { return (nst_metrics_view){e->nest, e->counts, &e->metrics}; }

bool nestor_engine_parse(const char *name, nestor_engine *out) {
  static const char *const names[] = {"analysis", "simulate", "jit", "all"};
  for (int i = 0; i < 4; i++)
    if (!strcmp(name, names[i])) return *out = (nestor_engine)i, true;
  return false;
}

double nestor_eval_param(const nestor_eval *eval, size_t param) {
  if (param >= (size_t)eval->ir->scope.nparams) return NAN;
  const nst_value *v = &eval->params[param];
  return v->kind == NST_VALUE_RAT ? nst_rat_to_double(v->rat) : v->kind == NST_VALUE_REAL ? v->real : v->truth;
}

size_t nestor_eval_levels(const nestor_eval *eval) { return (size_t)eval->ir->hardware.nlevels; }
size_t nestor_eval_tensors(const nestor_eval *eval) { return (size_t)eval->ir->workload.ntensors; }

nestor_level nestor_eval_level(const nestor_eval *eval, size_t level) {
  if (!eval->nest || level >= nestor_eval_levels(eval)) return (nestor_level){0};
  const nst_ir_level *info = &eval->ir->hardware.levels[level];
  const nst_level_metrics *m = &eval->metrics.levels[level];
  nestor_level out = {.name = info->name, .kind = (nestor_level_kind)info->kind, .capacity_bytes = NAN, .fits = true};
  if (info->kind == NST_LEVEL_ARRAY) return out;
  out.instances = m->instances;
  out.cycles = nst_round_up(m->cycles);
  out.exact_cycles = nst_rat_to_double(m->cycles);
  out.energy_pj = nst_rat_to_double(m->energy);
  if (info->kind == NST_LEVEL_COMPUTE) return out;
  if (eval->nest->levels[level].has_capacity) out.capacity_bytes = nst_rat_to_double(eval->nest->levels[level].capacity);
  out.usage_bytes = nst_round_up(m->usage);
  out.fits = m->fits;
  out.traffic_bytes = nst_round_up(m->traffic);
  return out;
}

nestor_tensor nestor_eval_tensor(const nestor_eval *eval, size_t tensor) {
  if (!eval->nest || tensor >= nestor_eval_tensors(eval)) return (nestor_tensor){0};
  const nst_ir_tensor *t = &eval->ir->workload.tensors[tensor];
  return (nestor_tensor){t->name, t->type, (nestor_role)t->role, eval->nest->bits[tensor]};
}

/* To the largest value where it would pass it: the sum over statements of elements of a few bits, whose bytes fit. */
static void add(int64_t *sum, int64_t more) {
  if (__builtin_add_overflow(*sum, more, sum)) *sum = INT64_MAX;
}

/* Bits as bytes, rounded up; the metrics of a good run have been found to fit. */
static int64_t bytes_of(unsigned __int128 bits) { return (int64_t)((bits + 7) / 8); }

nestor_counters nestor_eval_counters(const nestor_eval *eval, size_t level, size_t tensor) {
  nestor_counters out = {0};
  if (!eval->nest || level >= nestor_eval_levels(eval) || tensor >= nestor_eval_tensors(eval)) return out;
  const int l = (int)level, t = (int)tensor;
  const nst_ir_level *info = &eval->ir->hardware.levels[l];
  if (info->kind != NST_LEVEL_MEMORY) return out;
  const nst_counts *c = eval->counts;
  for (int i = 0; i < c->nslots; i++) {
    if (eval->ir->slots[i].level != l || eval->ir->slots[i].tensor != t) continue;
    out.kept = true;
    if (c->tile[i] > out.tile) out.tile = c->tile[i];
  }
  for (int s = 0; s < c->nstmts; s++) {
    const nst_moves *v = nst_counts_at(c, s, l, t);
    add(&out.fills, v->fills);
    add(&out.reads, v->reads);
    add(&out.updates, v->updates);
    add(&out.drains, v->drains);
  }
  const unsigned __int128 bits = (unsigned __int128)eval->nest->bits[t];
  out.usage_bytes = bytes_of(bits * (uint64_t)out.tile * (info->double_buffered ? 2 : 1));
  out.traffic_bytes = bytes_of(bits * ((unsigned __int128)out.reads + (unsigned __int128)out.updates));
  return out;
}

nestor_metrics nestor_eval_metrics(const nestor_eval *eval) {
  if (!eval->nest) return (nestor_metrics){0};
  const nst_metrics *m = &eval->metrics;
  return (nestor_metrics){
    .fits = m->fits,
    .ops = m->ops,
    .steps = m->steps,
    .offchip_bytes = nst_round_up(m->offchip),
    .cycles = nst_round_up(m->cycles),
    .energy_pj = nst_rat_to_double(m->energy),
    .edp = m->has_edp ? nst_rat_to_double(m->edp) : NAN,
    .utilization = m->has_utilization ? nst_rat_to_double(m->utilization) : NAN,
    .intensity = m->has_intensity ? nst_rat_to_double(m->intensity) : NAN,
    .area_mm2 = m->has_area ? nst_rat_to_double(m->area) : NAN,
  };
}

nestor_status nestor_eval_figure(const nestor_eval *eval, const char *name, double *out) {
  nst_figure figure;
  if (!eval->nest || !nst_figure_parse(&figure, eval->ir, name)) return NESTOR_USAGE;
  const nst_metrics_view view = view_of(eval);
  *out = nst_figure_value(figure, &view);
  return NESTOR_OK;
}

nestor_status nestor_eval_figure_text(const nestor_eval *eval, const char *name, nestor_buffer *out) {
  nst_figure figure;
  if (!eval->nest || !nst_figure_parse(&figure, eval->ir, name)) return NESTOR_USAGE;
  const nst_metrics_view view = view_of(eval);
  nst_eval_status status;
  const nst_value v = nst_figure_exact(figure, &view, &status);
  if (status == NST_EVAL_OK && v.kind == NST_VALUE_RAT) nst_number_json(&out->text, v.rat);
  else if (status == NST_EVAL_OK) nst_buffer_double(&out->text, nst_figure_value(figure, &view));
  return NESTOR_OK;
}

const char *nst_params_text(nst_arena *arena, const nst_ir_mapping *m, const nst_value *params, const char *equals,
                            const char *separator) {
  nst_buffer text = {0};
  for (int i = 0; i < m->scope.nparams; i++) {
    nst_buffer_printf(&text, "%s%s%s", i ? separator : "", m->scope.params[i].name, equals);
    const nst_value *v = &params[i];
    if (v->kind == NST_VALUE_BOOL) nst_buffer_puts(&text, v->truth ? "true" : "false");
    else if (v->kind == NST_VALUE_REAL) nst_buffer_double(&text, v->real);
    else nst_number_json(&text, v->rat);
  }
  const char *out = text.len ? nst_arena_strndup(arena, text.text, text.len) : "";
  nst_buffer_fini(&text);
  return out;
}
