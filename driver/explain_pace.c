/* The pace: which level takes the most cycles, how busy the others are meanwhile,
 * and which tensor the time of a memory goes to. */
#include "driver/explain.h"

static double share(nst_rat part, nst_rat all) {
  return all.num > 0 ? 100 * nst_rat_to_double(part) / nst_rat_to_double(all) : 0;
}

static void busy_line(nst_explain *x, int l) {
  const nst_ir_level *level = &x->m->hardware.levels[l];
  const nst_level_metrics *m = &x->e->metrics.levels[l];
  nst_buffer_printf(x->out, "  %s: ", level->name);
  nst_count_of(x->out, nst_round_up(m->cycles), "cycle", "cycles");
  nst_buffer_puts(x->out, ", ");
  nst_number_decimal(x->out, share(m->cycles, x->e->metrics.cycles), 1);
  nst_buffer_puts(x->out, " % of the time");
  if (level->kind == NST_LEVEL_MEMORY && !level->overlap) nst_buffer_puts(x->out, ", added to all else");
  nst_buffer_putc(x->out, '\n');
}

/* Bytes of one tensor at a level: what its cycles are spent on. */
static void tensor_shares(nst_explain *x, int l) {
  nst_rat all = x->e->metrics.levels[l].traffic;
  if (all.num <= 0) return;
  bool first = true;
  nst_buffer_printf(x->out, "  of the %s traffic ", x->m->hardware.levels[l].name);
  for (int t = 0; t < x->m->workload.ntensors; t++) {
    nst_rat bytes;
    if (!nst_metrics_traffic(&bytes, x->nest, x->counts, l, t) || bytes.num <= 0) continue;
    nst_buffer_printf(x->out, "%s%s is ", first ? "" : ", ", x->m->workload.tensors[t].name);
    nst_number_decimal(x->out, share(bytes, all), 1);
    nst_buffer_puts(x->out, " %");
    first = false;
  }
  nst_buffer_putc(x->out, '\n');
}

void nst_explain_pace(nst_explain *x) {
  const nst_metrics *m = &x->e->metrics;
  const int pace = nst_bottleneck(x->e);
  nst_buffer_puts(x->out, "\nthe pace\n");
  if (pace >= 0) {
    const nst_ir_level *level = &x->m->hardware.levels[pace];
    nst_buffer_printf(x->out, "  %s sets it: ", level->name);
    nst_count_of(x->out, nst_round_up(m->cycles), "cycle", "cycles");
    nst_buffer_puts(x->out, level->kind == NST_LEVEL_COMPUTE
                              ? " in all, bound by the compute: more bandwidth would not help\n"
                              : " in all, bound by this memory: less traffic or more bandwidth would help\n");
  }
  for (int l = 0; l < x->m->hardware.nlevels; l++) {
    const nst_ir_level *level = &x->m->hardware.levels[l];
    if (level->kind == NST_LEVEL_ARRAY || (level->kind == NST_LEVEL_COMPUTE && !nst_report_is_used(x->m, l))) continue;
    if (level->kind == NST_LEVEL_COMPUTE || m->levels[l].cycles.num > 0) busy_line(x, l);
  }
  tensor_shares(x, x->m->outermost);
  if (pace >= 0 && pace != x->m->outermost && x->m->hardware.levels[pace].kind == NST_LEVEL_MEMORY)
    tensor_shares(x, pace);
  if (m->has_utilization) {
    nst_buffer_puts(x->out, "  the compute does ");
    nst_number_decimal(x->out, 100 * nst_rat_to_double(m->utilization), 2);
    nst_buffer_puts(x->out, " % of what it could in that time\n");
  }
  for (int l = 0; l < x->m->hardware.nlevels; l++) {
    if (x->m->hardware.levels[l].kind != NST_LEVEL_MEMORY || m->levels[l].fits) continue;
    nst_buffer_printf(x->out, "  it does not fit: %s holds ", x->m->hardware.levels[l].name);
    nst_number_grouped(x->out, nst_round_up(m->levels[l].usage));
    nst_buffer_puts(x->out, " bytes and has ");
    nst_number_decimal(x->out, nst_rat_to_double(x->nest->levels[l].capacity), 3);
    nst_buffer_putc(x->out, '\n');
  }
}
