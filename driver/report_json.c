/* JSON after the schema nestor.eval/1 (docs/schemas): keys in a fixed order,
 * integers as integers, undefined figures null. Every tensor stands at every
 * memory, with zeros where it bypasses it. */
#include "driver/peak.h"
#include "driver/report.h"

#include <string.h>

static void string(nst_buffer *out, const char *text) { nst_buffer_json_string(out, text, strlen(text)); }

static void key(nst_buffer *out, const char *name) {
  nst_buffer_puts(out, ",\"");
  nst_buffer_puts(out, name);
  nst_buffer_puts(out, "\":");
}

static void integer(nst_buffer *out, const char *name, int64_t v) {
  key(out, name);
  nst_buffer_int(out, v);
}

static void number(nst_buffer *out, const char *name, bool defined, nst_rat v) {
  key(out, name);
  if (defined) nst_number_json(out, v);
  else nst_buffer_puts(out, "null");
}

static void params(nst_buffer *out, const nestor_eval *e) {
  key(out, "params");
  nst_buffer_putc(out, '{');
  for (int i = 0; i < e->ir->scope.nparams; i++) {
    if (i) nst_buffer_putc(out, ',');
    string(out, e->ir->scope.params[i].name);
    nst_buffer_putc(out, ':');
    const nst_value *v = &e->params[i];
    if (v->kind == NST_VALUE_BOOL) nst_buffer_puts(out, v->truth ? "true" : "false");
    else if (v->kind == NST_VALUE_REAL) nst_buffer_double(out, v->real);
    else nst_number_json(out, v->rat);
  }
  nst_buffer_putc(out, '}');
}

static void violations(nst_buffer *out, const nestor_eval *e) {
  nst_arena *arena = nst_arena_new();
  nst_share *shares = NST_NEW_ARRAY(arena, e->ir->workload.ntensors, nst_share);
  key(out, "violations");
  nst_buffer_putc(out, '[');
  bool first = true;
  for (int l = 0; l < e->ir->hardware.nlevels; l++) {
    if (e->ir->hardware.levels[l].kind != NST_LEVEL_MEMORY || e->metrics.levels[l].fits) continue;
    nst_buffer_puts(out, first ? "{\"level\":" : ",{\"level\":");
    first = false;
    string(out, e->ir->hardware.levels[l].name);
    integer(out, "usage_bytes", nst_round_up(e->metrics.levels[l].usage));
    number(out, "capacity_bytes", true, e->nest->levels[l].capacity);
    key(out, "tensors");
    char separator = '{';
    nst_peak_shares(shares, e->nest, e->counts, l);
    for (int t = 0; t < e->ir->workload.ntensors; t++) {
      if (!shares[t].held) continue;
      nst_buffer_putc(out, separator);
      separator = ',';
      string(out, e->ir->workload.tensors[t].name);
      nst_buffer_putc(out, ':');
      nst_buffer_int(out, nst_round_up(shares[t].bytes));
    }
    nst_buffer_puts(out, "}}");
  }
  nst_buffer_putc(out, ']');
  nst_arena_free(arena);
}

static void tensors(nst_buffer *out, const nestor_eval *e, int l) {
  static const struct { const char *name; nst_metric metric; } counters[] = {
    {"tile", NST_METRIC_TILE}, {"fills", NST_METRIC_FILLS}, {"reads", NST_METRIC_READS},
    {"updates", NST_METRIC_UPDATES}, {"drains", NST_METRIC_DRAINS},
  };
  key(out, "tensors");
  nst_buffer_putc(out, '{');
  for (int t = 0; t < e->ir->workload.ntensors; t++) {
    if (t) nst_buffer_putc(out, ',');
    string(out, e->ir->workload.tensors[t].name);
    nst_buffer_puts(out, ":{\"bits_per_element\":");
    nst_buffer_int(out, e->nest->bits[t]);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
      int64_t v = 0;
      nst_metrics_counter(&v, e->nest, e->counts, counters[i].metric, l, t);
      integer(out, counters[i].name, v);
    }
    nst_buffer_putc(out, '}');
  }
  nst_buffer_putc(out, '}');
}

static void levels(nst_buffer *out, const nestor_eval *e) {
  key(out, "levels");
  nst_buffer_putc(out, '[');
  bool first = true;
  for (int l = 0; l < e->ir->hardware.nlevels; l++) {
    if (e->ir->hardware.levels[l].kind != NST_LEVEL_MEMORY) continue;
    const nst_level_metrics *m = &e->metrics.levels[l];
    nst_buffer_puts(out, first ? "\n  {\"name\":" : ",\n  {\"name\":");
    first = false;
    string(out, e->ir->hardware.levels[l].name);
    integer(out, "instances", m->instances);
    number(out, "capacity_bytes", e->nest->levels[l].has_capacity, e->nest->levels[l].capacity);
    integer(out, "usage_bytes", nst_round_up(m->usage));
    integer(out, "traffic_bytes", nst_round_up(m->traffic));
    integer(out, "cycles", nst_round_up(m->cycles));
    number(out, "energy_pj", true, m->energy);
    tensors(out, e, l);
    nst_buffer_putc(out, '}');
  }
  nst_buffer_putc(out, ']');
}

static void compute(nst_buffer *out, const nestor_eval *e) {
  nst_report_compute c;
  nst_report_compute_init(&c, e);
  nst_buffer_puts(out, ",\n \"compute\":{\"name\":");
  string(out, c.name.text);
  integer(out, "instances", c.instances);
  integer(out, "ops", e->metrics.ops);
  integer(out, "steps", e->metrics.steps);
  integer(out, "cycles", nst_round_up(c.cycles));
  number(out, "energy_pj", true, c.energy);
  nst_buffer_putc(out, '}');
  nst_report_compute_fini(&c);
}

void nst_report_json(nst_buffer *out, const nestor_eval *e) {
  const nst_metrics *m = &e->metrics;
  nst_buffer_puts(out, "{\"mapping\":");
  string(out, e->ir->name);
  key(out, "workload");
  string(out, e->ir->workload.name);
  key(out, "hardware");
  string(out, e->ir->hardware.name);
  params(out, e);
  key(out, "fits");
  nst_buffer_puts(out, m->fits ? "true" : "false");
  violations(out, e);
  levels(out, e);
  compute(out, e);
  nst_buffer_puts(out, ",\n \"metrics\":{\"offchip_bytes\":");
  nst_buffer_int(out, nst_round_up(m->offchip));
  integer(out, "cycles", nst_round_up(m->cycles));
  number(out, "energy_pj", true, m->energy);
  number(out, "edp", m->has_edp, m->edp);
  number(out, "utilization", m->has_utilization, m->utilization);
  number(out, "intensity", m->has_intensity, m->intensity);
  number(out, "area_mm2", m->has_area, m->area);
  nst_buffer_puts(out, "}}");
}
