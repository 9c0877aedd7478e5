/* CSV: one row per memory and tensor kept in it, per memory, per compute and in
 * total, told apart by the column "row". The unit of a figure is in its name;
 * tile, fills, reads, updates and drains are elements. */
#include "driver/report.h"

#include <string.h>

const char nst_report_csv_header[] =
  "mapping,workload,hardware,params,row,level,tensor,bits_per_element,tile,fills,reads,updates,drains,instances,"
  "capacity_bytes,usage_bytes,traffic_bytes,ops,steps,cycles,energy_pj,offchip_bytes,edp,utilization,intensity,"
  "area_mm2,fits\n";

typedef enum {
  C_MAPPING, C_WORKLOAD, C_HARDWARE, C_PARAMS, C_ROW, C_LEVEL, C_TENSOR, C_BITS, C_TILE, C_FILLS, C_READS, C_UPDATES,
  C_DRAINS, C_INSTANCES, C_CAPACITY, C_USAGE, C_TRAFFIC, C_OPS, C_STEPS, C_CYCLES, C_ENERGY, C_OFFCHIP, C_EDP,
  C_UTILIZATION, C_INTENSITY, C_AREA, C_FITS, C_COUNT
} column;

/* One row; a cell not set stays empty. */
typedef struct { nst_buffer cells[C_COUNT]; } row;

static void row_text(row *r, column c, const char *text) { nst_buffer_puts(&r->cells[c], text); }
static void row_int(row *r, column c, int64_t v) { nst_buffer_int(&r->cells[c], v); }
static void row_number(row *r, column c, bool defined, nst_rat v) {
  if (defined) nst_number_json(&r->cells[c], v);
}

static void row_write(row *r, nst_buffer *out) {
  for (int c = 0; c < C_COUNT; c++) {
    if (c) nst_buffer_putc(out, ',');
    if (r->cells[c].len) nst_buffer_add(out, r->cells[c].text, r->cells[c].len);
    if (c >= C_ROW) nst_buffer_clear(&r->cells[c]);
  }
  nst_buffer_putc(out, '\n');
}

static void tensor_rows(row *r, nst_buffer *out, const nestor_eval *e, int l) {
  static const struct { column column; nst_metric metric; } counters[] = {
    {C_TILE, NST_METRIC_TILE}, {C_FILLS, NST_METRIC_FILLS}, {C_READS, NST_METRIC_READS},
    {C_UPDATES, NST_METRIC_UPDATES}, {C_DRAINS, NST_METRIC_DRAINS},
  };
  for (int t = 0; t < e->ir->workload.ntensors; t++) {
    if (!nst_is_kept(e->ir, l, t)) continue;
    row_text(r, C_ROW, "tensor");
    row_text(r, C_LEVEL, e->ir->hardware.levels[l].name);
    row_text(r, C_TENSOR, e->ir->workload.tensors[t].name);
    row_int(r, C_BITS, e->nest->bits[t]);
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
      int64_t v = 0;
      nst_metrics_counter(&v, e->nest, e->counts, counters[i].metric, l, t);
      row_int(r, counters[i].column, v);
    }
    nst_rat bytes;
    if (nst_metrics_usage(&bytes, e->nest, e->counts, l, t)) row_int(r, C_USAGE, nst_round_up(bytes));
    if (nst_metrics_traffic(&bytes, e->nest, e->counts, l, t)) row_int(r, C_TRAFFIC, nst_round_up(bytes));
    row_write(r, out);
  }
}

static void level_row(row *r, nst_buffer *out, const nestor_eval *e, int l) {
  const nst_level_metrics *m = &e->metrics.levels[l];
  row_text(r, C_ROW, "level");
  row_text(r, C_LEVEL, e->ir->hardware.levels[l].name);
  row_int(r, C_INSTANCES, m->instances);
  row_number(r, C_CAPACITY, e->nest->levels[l].has_capacity, e->nest->levels[l].capacity);
  row_int(r, C_USAGE, nst_round_up(m->usage));
  row_int(r, C_TRAFFIC, nst_round_up(m->traffic));
  row_int(r, C_CYCLES, nst_round_up(m->cycles));
  row_number(r, C_ENERGY, true, m->energy);
  row_text(r, C_FITS, m->fits ? "true" : "false");
  row_write(r, out);
}

static void compute_row(row *r, nst_buffer *out, const nestor_eval *e) {
  nst_report_compute c;
  nst_report_compute_init(&c, e);
  row_text(r, C_ROW, "compute");
  row_text(r, C_LEVEL, c.name.text);
  row_int(r, C_INSTANCES, c.instances);
  row_int(r, C_OPS, e->metrics.ops);
  row_int(r, C_STEPS, e->metrics.steps);
  row_int(r, C_CYCLES, nst_round_up(c.cycles));
  row_number(r, C_ENERGY, true, c.energy);
  row_write(r, out);
  nst_report_compute_fini(&c);
}

static void total_row(row *r, nst_buffer *out, const nestor_eval *e) {
  const nst_metrics *m = &e->metrics;
  row_text(r, C_ROW, "total");
  row_int(r, C_OPS, m->ops);
  row_int(r, C_STEPS, m->steps);
  row_int(r, C_CYCLES, nst_round_up(m->cycles));
  row_number(r, C_ENERGY, true, m->energy);
  row_int(r, C_OFFCHIP, nst_round_up(m->offchip));
  row_number(r, C_EDP, m->has_edp, m->edp);
  row_number(r, C_UTILIZATION, m->has_utilization, m->utilization);
  row_number(r, C_INTENSITY, m->has_intensity, m->intensity);
  row_number(r, C_AREA, m->has_area, m->area);
  row_text(r, C_FITS, m->fits ? "true" : "false");
  row_write(r, out);
}

void nst_report_csv(nst_buffer *out, const nestor_eval *e) {
  row r = {0};
  nst_arena *arena = nst_arena_new();
  row_text(&r, C_MAPPING, e->ir->name);
  row_text(&r, C_WORKLOAD, e->ir->workload.name);
  row_text(&r, C_HARDWARE, e->ir->hardware.name);
  row_text(&r, C_PARAMS, nst_params_text(arena, e->ir, e->params, "=", ";"));
  for (int l = 0; l < e->ir->hardware.nlevels; l++) {
    if (e->ir->hardware.levels[l].kind != NST_LEVEL_MEMORY) continue;
    tensor_rows(&r, out, e, l);
    level_row(&r, out, e, l);
  }
  compute_row(&r, out, e);
  total_row(&r, out, e);
  for (int c = 0; c < C_COUNT; c++) nst_buffer_fini(&r.cells[c]);
  nst_arena_free(arena);
}
