/* --emit=expr: the analysis of every mapping, before any number is put in.
 *
 *   g0: m, k; m time by node 1, k time by node 3
 *     c0 = all                  the union of what siblings need, over all indices
 *     c1 = kept at 1            stays when a loop of another group moves on
 *     c2 = kept at 1, advance   stays when the group's own loop number 1 moves on
 *   reads(DRAM, A) = c0*c5 - c1*c6
 */
#include "driver/emit.h"
#include "ir/group.h"
#include "ir/plan.h"

static void input(nst_buffer *out, const nst_ir_mapping *m, const nst_plan_group *g, int i) {
  if (i < 0) {
    nst_buffer_puts(out, "1");
    return;
  }
  const nst_input *in = &g->inputs[i];
  switch (in->kind) {
    case NST_IN_EXTENT: nst_buffer_puts(out, m->workload.dims[in->a].name); return;
    case NST_IN_TILE: nst_buffer_printf(out, "node %d", in->a); return;
    case NST_IN_COEF:
    case NST_IN_OFFSET:
    case NST_IN_SIZE: nst_buffer_printf(out, "input %d", i); return;
  }
}

static void group(nst_buffer *out, const nst_ir_mapping *m, const nst_plan *plan, int index) {
  static const char *const splits[] = {"time", "parent", "sibling"};
  static const char *const columns[] = {"all", "kept", "old", "stay", "first", "max"};
  const nst_plan_group *g = &plan->groups[index];
  nst_buffer_printf(out, "  g%d:", index);
  for (int d = 0; d < g->group->ndims; d++) {
    nst_buffer_puts(out, d ? ", " : " ");
    input(out, m, g, g->group->extents[d]);
  }
  for (int s = 0; s < g->group->nsplits; s++) {
    const nst_group_split *split = &g->group->splits[s];
    nst_buffer_puts(out, s ? ", " : "; ");
    input(out, m, g, g->group->extents[split->dim]);
    nst_buffer_printf(out, " %s by ", splits[split->kind]);
    input(out, m, g, split->input);
  }
  nst_buffer_putc(out, '\n');
  for (int c = 0; c < g->ncolumns; c++) {
    const nst_column *column = &g->group->columns[c];
    nst_buffer_printf(out, "    c%d = %s", g->first + c, columns[column->kind]);
    if (column->kind == NST_COLUMN_KEPT || column->kind == NST_COLUMN_OLD || column->kind == NST_COLUMN_STAY)
      nst_buffer_printf(out, " at %d%s", column->cut, column->advance ? ", advance" : "");
    nst_buffer_putc(out, '\n');
  }
}

static void formula(nst_buffer *out, const nst_formula *f) {
  for (int p = 0; p < f->nproducts; p++) {
    const nst_product *product = &f->products[p];
    nst_buffer_puts(out, product->sign < 0 ? p ? " - " : "-" : p ? " + " : "");
    for (int c = 0; c < product->ncolumns; c++) nst_buffer_printf(out, "%sc%d", c ? "*" : "", product->columns[c]);
    if (!product->ncolumns) nst_buffer_puts(out, "1");
  }
  nst_buffer_putc(out, '\n');
}

static void counters(nst_buffer *out, const nst_ir_mapping *m, const nst_formula *f, const char *name) {
  const int levels = m->hardware.nlevels, tensors = m->workload.ntensors;
  for (int i = 0; i < m->workload.nstmts * levels * tensors; i++) {
    if (!f[i].nproducts) continue;
    nst_buffer_printf(out, "  %s(%s, %s) = ", name, m->hardware.levels[i / tensors % levels].name,
                      m->workload.tensors[i % tensors].name);
    formula(out, &f[i]);
  }
}

void nst_emit_expr(const nst_ir_program *program, nst_buffer *out) {
  for (int i = 0; i < program->nmappings; i++) {
    const nst_ir_mapping *m = program->mappings[i];
    nst_arena *arena = nst_arena_new();
    const nst_plan *plan = nst_plan_make(arena, m);
    nst_buffer_printf(out, "%smapping %s of %s on %s\n", i ? "\n" : "", m->name, m->workload.name, m->hardware.name);
    if (!plan) nst_buffer_puts(out, "  no plan: too many loops above one compute\n");
    for (int g = 0; plan && g < plan->ngroups; g++) group(out, m, plan, g);
    if (plan) {
      counters(out, m, plan->reads, "reads");
      counters(out, m, plan->fills, "fills");
      counters(out, m, plan->updates, "updates");
      counters(out, m, plan->drains, "drains");
      for (int s = 0; s < m->nslots; s++) {
        nst_buffer_printf(out, "  tile(%s, %s) = ", m->hardware.levels[m->slots[s].level].name,
                          m->workload.tensors[m->slots[s].tensor].name);
        formula(out, &plan->tile[s]);
      }
      for (int s = 0; s < m->workload.nstmts; s++) {
        nst_buffer_puts(out, "  ops = ");
        formula(out, &plan->ops[s]);
        nst_buffer_puts(out, "  steps = ");
        formula(out, &plan->steps[s]);
      }
    }
    nst_arena_free(arena);
  }
}
