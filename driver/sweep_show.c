/* A point of a sweep in words: the names of its metrics as the block writes
 * them, its orders as the names of the loops, its keeps. */
#include "driver/expectation.h"
#include "driver/sweep.h"

#include <math.h>
#include <string.h>

/* ---- metrics: objectives and pareto, each text once, in the order of the block ---- */

static const nst_expr *metric_at(const nst_ir_sweep *s, int i) {
  return i < s->nobjectives ? s->objectives[i] : s->pareto[i - s->nobjectives];
}

static bool same_text(const nestor_sweep *s, const nst_expr *a, const nst_expr *b) {
  nst_buffer x = {0}, y = {0};
  nst_source_quote(&x, s->program->sources, a->span);
  nst_source_quote(&y, s->program->sources, b->span);
  const bool same = x.len == y.len && (!x.len || !memcmp(x.text, y.text, x.len));
  nst_buffer_fini(&x);
  nst_buffer_fini(&y);
  return same;
}

void nst_sweep_choose_metrics(nestor_sweep *s) {
  const int all = s->ir->nobjectives + s->ir->npareto;
  int order[NST_SWEEP_MAX_METRICS];
  for (int i = 0; i < all; i++) { /* by place */
    int at = i;
    for (; at > 0 && metric_at(s->ir, order[at - 1])->span.begin > metric_at(s->ir, i)->span.begin; at--)
      order[at] = order[at - 1];
    order[at] = i;
  }
  for (int i = 0; i < all; i++) {
    bool seen = false;
    for (int k = 0; k < s->nshown; k++)
      seen = seen || same_text(s, metric_at(s->ir, s->shown[k]), metric_at(s->ir, order[i]));
    if (!seen) s->shown[s->nshown++] = order[i];
  }
}

int nst_sweep_nmetrics(const nestor_sweep *s) { return s->nshown; }

const nst_expr *nst_sweep_metric_expr(const nestor_sweep *s, int i) { return metric_at(s->ir, s->shown[i]); }

void nst_sweep_metric_name(const nestor_sweep *s, int i, nst_buffer *out) {
  nst_source_quote(out, s->program->sources, nst_sweep_metric_expr(s, i)->span);
}

nst_rat nst_sweep_metric(const nestor_sweep *s, int i, const nst_sweep_point *p) { return p->metrics[s->shown[i]]; }

/* ---- orders and keeps ---- */

void nst_sweep_order(const nestor_sweep *s, const nst_sweep_point *p, int block, const char *separator,
                     nst_buffer *out) {
  uint64_t orders[64], dropped;
  int place[16];
  const nst_ir_node *loops[16];
  nst_variant_decode(&s->variants, p->variant, orders, &dropped);
  nst_variant_order(&s->variants, block, orders[block], place);
  int n = 0;
  for (int i = 0; i < s->mapping->nnodes; i++)
    if (s->mapping->nodes[i]->permute == block) loops[n++] = s->mapping->nodes[i];
  for (int i = 0; i < n; i++) {
    if (i) nst_buffer_puts(out, separator);
    nst_buffer_puts(out, s->mapping->workload.dims[loops[place[i]]->dim].name);
  }
}

const nst_ir_node *nst_sweep_keep_node(const nestor_sweep *s, int i) {
  for (int n = 0; n < s->mapping->nnodes; n++)
    if (s->mapping->nodes[n]->kind == NST_NODE_KEEP && s->mapping->nodes[n]->optional && i-- == 0)
      return s->mapping->nodes[n];
  return NULL;
}

bool nst_sweep_keep(const nestor_sweep *s, const nst_sweep_point *p, int i, nst_buffer *out) {
  uint64_t orders[64], dropped;
  nst_variant_decode(&s->variants, p->variant, orders, &dropped);
  const nst_ir_node *keep = nst_sweep_keep_node(s, i);
  for (int t = 0; t < keep->ntensors; t++)
    nst_buffer_printf(out, "%s%s", t ? ", " : "", s->mapping->workload.tensors[keep->tensors[t]].name);
  nst_buffer_printf(out, " in %s", s->mapping->hardware.levels[keep->level].name);
  return !(dropped >> i & 1);
}

void nst_sweep_value(nst_buffer *out, const nst_value *v) {
  switch (v->kind) {
  case NST_VALUE_RAT: nst_number_json(out, v->rat); return;
  case NST_VALUE_REAL: nst_buffer_double(out, v->real); return;
  case NST_VALUE_BOOL: nst_buffer_puts(out, v->truth ? "true" : "false"); return;
  }
}

/* ---- point by point ---- */

size_t nestor_sweep_found(const nestor_sweep *s, nestor_found list) {
  if (!s->found) return 0;
  return list == NESTOR_FOUND_BEST ? nst_sweep_result_nbest(s->found) : nst_sweep_result_nfront(s->found);
}

static const nst_sweep_point *point_at(const nestor_sweep *s, nestor_found list, size_t i) {
  if (i >= nestor_sweep_found(s, list)) return NULL;
  return list == NESTOR_FOUND_BEST ? nst_sweep_result_best(s->found, i) : nst_sweep_result_front(s->found, i);
}

double nestor_sweep_param(nestor_sweep *s, nestor_found list, size_t i, const char *param) {
  const nst_sweep_point *p = point_at(s, list, i);
  const nst_value *values = p ? nst_sweep_params(s, p) : NULL;
  for (int k = 0; values && k < s->mapping->scope.nparams; k++) {
    if (strcmp(s->mapping->scope.params[k].name, param)) continue;
    const nst_value *v = &values[k];
    return v->kind == NST_VALUE_RAT ? nst_rat_to_double(v->rat) : v->kind == NST_VALUE_REAL ? v->real : v->truth;
  }
  return NAN;
}

size_t nestor_sweep_metrics(const nestor_sweep *s) { return (size_t)s->nshown; }

double nestor_sweep_metric(const nestor_sweep *s, nestor_found list, size_t i, size_t metric) {
  const nst_sweep_point *p = point_at(s, list, i);
  return p && metric < nestor_sweep_metrics(s) ? nst_rat_to_double(nst_sweep_metric(s, (int)metric, p)) : NAN;
}

nestor_status nestor_sweep_metric_name(const nestor_sweep *s, size_t metric, nestor_buffer *out) {
  if (metric >= nestor_sweep_metrics(s)) return NESTOR_USAGE;
  nst_sweep_metric_name(s, (int)metric, &out->text);
  return NESTOR_OK;
}

nestor_status nestor_sweep_mapping(nestor_sweep *s, nestor_found list, size_t i, const char *name, nestor_buffer *out) {
  const nst_sweep_point *p = point_at(s, list, i);
  if (!p) return NESTOR_USAGE;
  nst_sweep_mapping_line(s, p, name, &out->text);
  return NESTOR_OK;
}

void nestor_sweep_show_mappings(nestor_sweep *s, bool all) { s->all_mappings = all; }

void nestor_sweep_write(nestor_sweep *s, nestor_format format, bool color, bool timing, nestor_buffer *out) {
  switch (format) {
  case NESTOR_FORMAT_TABLE: nst_sweep_table(s, color, timing, &out->text); return;
  case NESTOR_FORMAT_JSON: nst_sweep_json(s, timing, &out->text); return;
  case NESTOR_FORMAT_CSV: nst_sweep_csv(s, &out->text); return;
  }
}
