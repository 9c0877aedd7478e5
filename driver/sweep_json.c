/* The answer of a sweep as JSON, after the schema nestor.sweep/1 (docs/schemas):
 * keys in a fixed order, exact integers, no time unless asked for. */
#include "driver/sweep.h"

#include <string.h>

static void string(nst_buffer *out, const char *text) { nst_buffer_json_string(out, text, strlen(text)); }

static void count(nst_buffer *out, const char *key, uint64_t v) {
  nst_buffer_printf(out, ",\"%s\":%llu", key, (unsigned long long)v);
}

/* The names of a block's loops as an array of strings. */
static void order(const nestor_sweep *s, const nst_sweep_point *p, int block, nst_buffer *out) {
  nst_buffer_puts(out, "[\"");
  nst_sweep_order(s, p, block, "\",\"", out); /* names need no escapes */
  nst_buffer_puts(out, "\"]");
}

static void keep(const nestor_sweep *s, const nst_sweep_point *p, int i, nst_buffer *out) {
  nst_buffer text = {0};
  const bool kept = nst_sweep_keep(s, p, i, &text);
  const nst_ir_node *node = nst_sweep_keep_node(s, i);
  nst_buffer_puts(out, "{\"level\":");
  string(out, s->mapping->hardware.levels[node->level].name);
  nst_buffer_puts(out, ",\"tensors\":[");
  for (int t = 0; t < node->ntensors; t++) {
    if (t) nst_buffer_putc(out, ',');
    string(out, s->mapping->workload.tensors[node->tensors[t]].name);
  }
  nst_buffer_printf(out, "],\"kept\":%s}", kept ? "true" : "false");
  nst_buffer_fini(&text);
}

static void point(nestor_sweep *s, const char *kind, size_t number, const nst_sweep_point *p, nst_buffer *out) {
  const nst_value *params = nst_sweep_params(s, p);
  nst_buffer_puts(out, "{\"params\":{");
  for (int k = 0; k < s->ir->npoints; k++) {
    const int param = s->ir->points[k].param;
    if (k) nst_buffer_putc(out, ',');
    string(out, s->mapping->scope.params[param].name);
    nst_buffer_putc(out, ':');
    nst_sweep_value(out, &params[param]);
  }
  nst_buffer_puts(out, "},\"orders\":[");
  for (int b = 0; b < s->variants.npermutes; b++) {
    if (b) nst_buffer_putc(out, ',');
    order(s, p, b, out);
  }
  nst_buffer_puts(out, "],\"keeps\":[");
  for (int i = 0; i < s->variants.nkeeps; i++) {
    if (i) nst_buffer_putc(out, ',');
    keep(s, p, i, out);
  }
  nst_buffer_puts(out, "],\"metrics\":{");
  for (int i = 0; i < nst_sweep_nmetrics(s); i++) {
    nst_buffer name = {0};
    nst_sweep_metric_name(s, i, &name);
    if (i) nst_buffer_putc(out, ',');
    string(out, name.text);
    nst_buffer_putc(out, ':');
    nst_number_json(out, nst_sweep_metric(s, i, p));
    nst_buffer_fini(&name);
  }
  nst_buffer name = {0}, text = {0};
  nst_buffer_printf(&name, "%s_%s%zu", s->ir->name, kind, number);
  nst_sweep_mapping_line(s, p, name.text, &text);
  nst_buffer_puts(out, "},\"mapping\":");
  string(out, text.len ? text.text : "");
  nst_buffer_putc(out, '}');
  nst_buffer_fini(&name);
  nst_buffer_fini(&text);
}

void nst_sweep_json(nestor_sweep *s, bool timing, nst_buffer *out) {
  const nestor_sweep_info info = nestor_sweep_about(s);
  nst_buffer_puts(out, "{\"schema\":\"nestor.sweep/1\",\"sweep\":");
  string(out, info.name);
  nst_buffer_printf(out, ",\"space\":%s", info.points);
  count(out, "evaluated", info.evaluated);
  count(out, "pruned", info.pruned);
  count(out, "valid", info.valid);
  count(out, "dropped", info.dropped);
  count(out, "duplicates", info.duplicates);
  nst_buffer_printf(out, ",\"exhausted\":%s", info.proven ? "true" : "false");
  nst_buffer_puts(out, ",\"best\":[");
  for (size_t i = 0; i < nst_sweep_result_nbest(s->found); i++) {
    nst_buffer_puts(out, i ? ",\n  " : "\n  ");
    point(s, "", i + 1, nst_sweep_result_best(s->found, i), out);
  }
  nst_buffer_puts(out, "],\"pareto\":[");
  for (size_t i = 0; i < nst_sweep_result_nfront(s->found); i++) {
    nst_buffer_puts(out, i ? ",\n  " : "\n  ");
    point(s, "front_", i + 1, nst_sweep_result_front(s->found, i), out);
  }
  nst_buffer_putc(out, ']');
  if (timing) {
    nst_buffer_puts(out, ",\"seconds\":{\"compile\":");
    nst_buffer_double(out, info.seconds_compile);
    nst_buffer_puts(out, ",\"run\":");
    nst_buffer_double(out, info.seconds_run);
    nst_buffer_printf(out, "},\"threads\":%d", info.threads);
  }
  nst_buffer_puts(out, "}\n");
}
