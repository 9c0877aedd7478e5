/* The table for people: what is held and what moves per level and tensor, then
 * the levels, then the whole. Every figure has its unit, in the line under the
 * heading or beside it; "-" stands where a figure cannot exist. */
#include "driver/report.h"
#include "driver/table.h"
#include "ir/footprint.h"

#include <math.h>
#include <string.h>

static void grouped_cell(nst_table *t, int64_t v) { nst_number_grouped(nst_table_cell(t), v); }

static int64_t counter(const nestor_eval *e, nst_metric which, int level, int tensor) {
  int64_t v = 0;
  nst_metrics_counter(&v, e->nest, e->counts, which, level, tensor);
  return v;
}

static void row_of(nst_table *t, const char *const *cells) {
  for (int i = 0; i < t->ncolumns; i++) nst_table_text(t, cells[i]);
}

static void tensor_row(nst_table *t, const nestor_eval *e, int l, int tensor, bool first) {
  const nst_ir_tensor *info = &e->ir->workload.tensors[tensor];
  nst_table_text(t, first ? e->ir->hardware.levels[l].name : "");
  nst_table_text(t, info->name);
  if (strncmp(info->type, "bits(", 5) == 0) nst_buffer_printf(nst_table_cell(t), "bits(%lld)", (long long)e->nest->bits[tensor]);
  else nst_table_text(t, info->type);
  if (!nst_is_kept(e->ir, l, tensor)) {
    nst_table_text(t, "bypasses");
    for (int i = 0; i < 5; i++) nst_table_text(t, "-");
    return;
  }
  const bool outermost = l == e->ir->outermost, written = info->role != NST_ROLE_INPUT;
  grouped_cell(t, counter(e, NST_METRIC_TILE, l, tensor));
  if (outermost) nst_table_text(t, "-");
  else grouped_cell(t, counter(e, NST_METRIC_FILLS, l, tensor));
  grouped_cell(t, counter(e, NST_METRIC_READS, l, tensor));
  if (written) grouped_cell(t, counter(e, NST_METRIC_UPDATES, l, tensor));
  else nst_table_text(t, "-");
  if (written && !outermost) grouped_cell(t, counter(e, NST_METRIC_DRAINS, l, tensor));
  else nst_table_text(t, "-");
  nst_rat bytes;
  if (nst_metrics_traffic(&bytes, e->nest, e->counts, l, tensor)) grouped_cell(t, nst_round_up(bytes));
  else nst_table_text(t, "-");
}

static void moves(nst_buffer *out, const nestor_eval *e, bool color) {
  static const char *const heads[] = {"level", "tensor", "", "tile", "fills", "reads", "updates", "drains", "traffic"};
  static const char *const units[] = {"", "", "", "elements", "elements", "elements", "elements", "elements", "bytes"};
  nst_table t;
  nst_table_init(&t, 9, 3, 2, color);
  row_of(&t, heads);
  row_of(&t, units);
  for (int l = 0; l < e->ir->hardware.nlevels; l++) {
    if (e->ir->hardware.levels[l].kind != NST_LEVEL_MEMORY) continue;
    for (int x = 0; x < e->ir->workload.ntensors; x++) tensor_row(&t, e, l, x, x == 0);
  }
  nst_table_print(&t, out);
  nst_table_fini(&t);
}

static void memory_cells(nst_table *t, const nestor_eval *e, int l) {
  const nst_level_metrics *m = &e->metrics.levels[l];
  const nst_nest_level *level = &e->nest->levels[l];
  grouped_cell(t, nst_round_up(m->usage));
  if (level->has_capacity) nst_number_decimal(nst_table_cell(t), nst_rat_to_double(level->capacity), 3);
  else nst_table_text(t, "unbounded");
  nst_buffer *full = nst_table_cell(t);
  if (level->has_capacity && level->capacity.num > 0)
    nst_number_decimal(full, 100 * nst_rat_to_double(m->usage) / nst_rat_to_double(level->capacity), 1);
  else nst_buffer_putc(full, '-');
  grouped_cell(t, nst_round_up(m->traffic));
}

static void levels(nst_buffer *out, const nestor_eval *e, bool color) {
  static const char *const heads[] = {"level", "instances", "usage", "capacity", "full", "traffic", "cycles", "energy"};
  static const char *const units[] = {"", "in use", "bytes each", "bytes each", "%", "bytes", "cycles", "pJ"};
  nst_table t;
  nst_table_init(&t, 8, 1, 2, color);
  row_of(&t, heads);
  row_of(&t, units);
  for (int l = 0; l < e->ir->hardware.nlevels; l++) {
    const nst_ir_level *level = &e->ir->hardware.levels[l];
    const nst_level_metrics *m = &e->metrics.levels[l];
    if (level->kind == NST_LEVEL_ARRAY || (level->kind == NST_LEVEL_COMPUTE && !nst_report_is_used(e->ir, l))) continue;
    nst_table_text(&t, level->name);
    grouped_cell(&t, m->instances);
    if (level->kind == NST_LEVEL_MEMORY) memory_cells(&t, e, l);
    else
      for (int i = 0; i < 4; i++) nst_table_text(&t, "-");
    grouped_cell(&t, nst_round_up(m->cycles));
    nst_number_decimal(nst_table_cell(&t), nst_rat_to_double(m->energy), 3);
  }
  nst_table_print(&t, out);
  nst_table_fini(&t);
}

static nst_buffer *label(nst_table *t, const char *text) {
  nst_table_text(t, text);
  return nst_table_cell(t);
}

static void bytes(nst_buffer *out, int64_t v) {
  nst_number_grouped(out, v);
  nst_buffer_puts(out, " bytes");
  if (v >= 1024) {
    nst_buffer_puts(out, " (");
    nst_number_binary(out, v);
    nst_buffer_putc(out, ')');
  }
}

static void fits(nst_buffer *out, const nestor_eval *e, bool color) {
  if (e->metrics.fits) {
    nst_buffer_puts(out, color ? NST_GREEN "yes" NST_PLAIN : "yes");
    return;
  }
  nst_buffer_puts(out, color ? NST_RED "no" NST_PLAIN ":" : "no:");
  bool first = true;
  for (int l = 0; l < e->ir->hardware.nlevels; l++) {
    if (e->ir->hardware.levels[l].kind != NST_LEVEL_MEMORY || e->metrics.levels[l].fits) continue;
    nst_buffer_printf(out, "%s %s needs ", first ? "" : ",", e->ir->hardware.levels[l].name);
    first = false;
    nst_number_grouped(out, nst_round_up(e->metrics.levels[l].usage));
    nst_buffer_puts(out, " of ");
    nst_number_decimal(out, nst_rat_to_double(e->nest->levels[l].capacity), 3);
    nst_buffer_puts(out, " bytes");
  }
}

/* The buffers on the chip: every memory but the outermost. */
static void requirement(nst_buffer *out, const nestor_eval *e) {
  bool any = false;
  for (int l = 0; l < e->ir->hardware.nlevels; l++) {
    if (e->ir->hardware.levels[l].kind != NST_LEVEL_MEMORY || l == e->ir->outermost) continue;
    nst_buffer_printf(out, "%s%s ", any ? ", " : "", e->ir->hardware.levels[l].name);
    bytes(out, nst_round_up(e->metrics.levels[l].usage));
    any = true;
  }
  nst_buffer_puts(out, any ? " each" : "none: one memory only");
}

static void energy(nst_buffer *out, double pj) {
  static const char *const units[] = {"nJ", "uJ", "mJ", "J"};
  nst_number_decimal(out, pj, 3);
  nst_buffer_puts(out, " pJ");
  if (pj < 1000) return;
  size_t unit = 0;
  for (pj /= 1000; pj >= 1000 && unit < 3; unit++) pj /= 1000;
  nst_buffer_puts(out, " (");
  nst_number_decimal(out, pj, pj < 10 ? 2 : pj < 100 ? 1 : 0);
  nst_buffer_printf(out, " %s)", units[unit]);
}

static void cycles(nst_buffer *out, const nestor_eval *e) {
  nst_number_grouped(out, nst_round_up(e->metrics.cycles));
  const int l = nst_bottleneck(e);
  if (l >= 0) nst_buffer_printf(out, ", the pace set by %s", e->ir->hardware.levels[l].name);
  for (int m = 0; l >= 0 && m < e->ir->hardware.nlevels; m++) { /* what hides behind nothing adds up */
    const nst_ir_level *level = &e->ir->hardware.levels[m];
    if (m != l && level->kind == NST_LEVEL_MEMORY && !level->overlap && e->metrics.levels[m].cycles.num > 0)
      nst_buffer_printf(out, " plus %s, which does not overlap", level->name);
  }
  if (e->nest->has_clock && e->nest->clock.num > 0) {
    const double seconds = nst_rat_to_double(e->metrics.cycles) / nst_rat_to_double(e->nest->clock);
    nst_buffer_puts(out, " (");
    nst_number_decimal(out, seconds >= 1 ? seconds : seconds >= 1e-3 ? seconds * 1e3 : seconds * 1e6, 3);
    nst_buffer_puts(out, seconds >= 1 ? " s)" : seconds >= 1e-3 ? " ms)" : " us)");
  }
}

/* A cascade in which an intermediate stays on the chip. */
static bool is_fused(const nst_ir_mapping *m) {
  for (int i = 0; i < m->workload.ntensors; i++)
    if (m->workload.tensors[i].role == NST_ROLE_INTERMEDIATE && !nst_is_kept(m, m->outermost, i)) return true;
  return false;
}

/* Against the statements mapped one by one, each as good as can be: their inputs read once, their outputs written once. */
static void fusion(nst_table *t, const nestor_eval *e) {
  nst_rat unfused = nst_rat_int(0), saved;
  for (int i = 0; i < e->ir->workload.ntensors; i++) {
    nst_rat part;
    if (!nst_footprint_unfused(&part, e->nest, i) || !nst_rat_add(&unfused, unfused, part)) return;
  }
  if (!nst_rat_sub(&saved, unfused, e->metrics.offchip)) return;
  nst_buffer *out = label(t, "saved by fusion");
  if (saved.num > 0) {
    nst_buffer_puts(out, "at least ");
    nst_number_grouped(out, nst_round_up(saved));
    nst_buffer_puts(out, " of the ");
  } else nst_buffer_puts(out, "perhaps nothing of the ");
  nst_number_grouped(out, nst_round_up(unfused));
  nst_buffer_puts(out, " bytes that move off chip unfused");
  if (saved.num <= 0) return;
  nst_buffer_puts(out, " (");
  nst_number_decimal(out, 100 * nst_rat_to_double(saved) / nst_rat_to_double(unfused), 1);
  nst_buffer_puts(out, " %)");
}

static void summary(nst_buffer *out, const nestor_eval *e, bool color) {
  const nst_metrics *m = &e->metrics;
  nst_table t;
  nst_table_init(&t, 2, 2, 0, color);
  fits(label(&t, "fits"), e, color);
  bytes(label(&t, "off-chip traffic"), nst_round_up(m->offchip));
  if (is_fused(e->ir)) fusion(&t, e);
  requirement(label(&t, "buffer requirement"), e);
  nst_buffer *ops = label(&t, "operations");
  nst_number_grouped(ops, m->ops);
  nst_buffer_puts(ops, " in ");
  nst_number_grouped(ops, m->steps);
  nst_buffer_puts(ops, m->steps == 1 ? " step" : " steps");
  cycles(label(&t, "cycles"), e);
  energy(label(&t, "energy"), nst_rat_to_double(m->energy));
  nst_buffer *edp = label(&t, "energy x cycles");
  nst_number_decimal(edp, m->has_edp ? nst_rat_to_double(m->edp) : NAN, 3);
  if (m->has_edp) nst_buffer_puts(edp, " pJ x cycles");
  nst_buffer *utilization = label(&t, "utilization");
  nst_number_decimal(utilization, m->has_utilization ? 100 * nst_rat_to_double(m->utilization) : NAN, 2);
  if (m->has_utilization) nst_buffer_puts(utilization, " % of the compute");
  nst_buffer *intensity = label(&t, "intensity");
  nst_number_decimal(intensity, m->has_intensity ? nst_rat_to_double(m->intensity) : NAN, 3);
  if (m->has_intensity) nst_buffer_puts(intensity, " operations per off-chip byte");
  if (m->has_area) {
    nst_buffer *area = label(&t, "area");
    nst_number_decimal(area, nst_rat_to_double(m->area), 4);
    nst_buffer_puts(area, " mm2");
  }
  nst_table_print(&t, out);
  nst_table_fini(&t);
}

void nst_report_table(nst_buffer *out, const nestor_eval *e, bool color) {
  nst_arena *arena = nst_arena_new();
  const char *params = nst_params_text(arena, e->ir, e->params, " = ", ", ");
  nst_buffer_printf(out, color ? NST_BOLD "%s" NST_PLAIN ": %s on %s" : "%s: %s on %s", e->ir->name,
                    e->ir->workload.name, e->ir->hardware.name);
  nst_buffer_printf(out, *params ? ", %s\n\n" : "%s\n\n", params);
  nst_arena_free(arena);
  moves(out, e, color);
  nst_buffer_putc(out, '\n');
  levels(out, e, color);
  nst_buffer_putc(out, '\n');
  summary(out, e, color);
}
