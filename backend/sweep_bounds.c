/* See sweep_kernel.h. Ranges are of doubles: exact where the engine's numbers are
 * doubles, else widened by more than their rounding.
 * What is pruned depends on the limits, so on what the unit has been shown and has
 * found itself, in its own order: never on threads. */
#include "backend/sweep_kernel.h"
#include <math.h>

static void mark(const nst_sweep_program *p, int op, bool *live) {
  if (op < 0 || live[op]) return;
  live[op] = true;
  mark(p, p->ops[op].a, live);
  mark(p, p->ops[op].b, live);
  if (p->ops[op].kind == NST_VOP_SELECT) mark(p, (int)p->ops[op].imm, live);
}

void nst_kernel_bounds_init(nst_kernel_engine *k) {
  k->live = NST_NEW_ARRAY(k->arena, k->program.nops, bool);
  mark(&k->program, k->program.valid, k->live);
  if (k->all) return; /* all that is valid is wanted */
  if (k->sweep->nobjectives) mark(&k->program, k->program.metrics[0].order, k->live);
  for (int i = 0; i < k->sweep->npareto; i++) mark(&k->program, k->program.metrics[k->sweep->nobjectives + i].order, k->live);
}

static void add(nst_range *sum, double c, double lo, double hi) {
  sum->lo += c < 0 ? c * hi : c * lo;
  sum->hi += c < 0 ? c * lo : c * hi;
}

static void ranges_of_forms(const nst_kernel_engine *k, const nst_sweep_nest *nest, int level, const void *coefficients, uint64_t stride,
                            nst_range *forms) {
  const nst_sweep_layout *l = &k->layout;
  for (int f = 0; f < l->nforms; f++) forms[f] = (nst_range){0, 0};
  if (level < l->ndims - 1) {
    for (int i = 0; i < nest->levels[level].n; i++) {
      const nst_sweep_entry *e = &nest->levels[level].entries[i];
      const size_t at = (size_t)i * stride;
      add(&forms[e->form], l->floating ? ((const double *)coefficients)[at] : (double)((const int64_t *)coefficients)[at], e->lo, e->hi);
    }
  } else {
    const int axis = l->dims[level].axis;
    for (int f = 0; f < l->nforms; f++)
      for (int s = l->first_slot[f]; s < l->first_slot[f + 1]; s++) {
        const size_t at = (size_t)s * stride;
        const double c = l->floating ? ((const double *)coefficients)[at] : (double)((const int64_t *)coefficients)[at];
        const nst_sweep_column *x = axis < 0 || !nest->slot_column[s] ? NULL : &l->tables->columns[axis][nest->slot_column[s]];
        add(&forms[f], c, x ? (double)x->least : 1, x ? (double)x->most : 1);
      }
  }
  for (int f = 0; f < l->nforms; f++) {
    const double by = (double)k->divisors[f];
    const nst_range base = l->base[f] < 0 ? (nst_range){0, 0} : forms[l->base[f]];
    forms[f].lo = fmax(ceil(forms[f].lo / by - k->slack) + base.lo, k->forms[f].lo);
    forms[f].hi = fmin(floor(forms[f].hi / by + k->slack) + base.hi, k->forms[f].hi);
  }
}

/* Do all points with these orders stay out of the best and the front? */
static bool all_worse(const nst_kernel_engine *k, const nst_kernel_known *known, const nst_range *ops) {
  const nst_sweep_metric *front = &k->program.metrics[k->sweep->nobjectives];
  if (k->sweep->nobjectives) {
    const nst_range r = ops[k->program.metrics[0].order];
    if (!known->has_best || !(k->sweep->maximize ? r.hi < known->best : r.lo > known->best)) return false;
  }
  if (!k->sweep->npareto) return true;
  if (k->sweep->npareto == 1) return known->has_first && ops[front[0].order].lo > known->first;
  return nst_stairs_beat(known->stairs, (int64_t)ops[front[0].order].lo, (int64_t)ops[front[1].order].lo);
}

bool nst_kernel_prune(const nst_kernel_engine *k, const nst_sweep_nest *nest, int level, const void *coefficients, uint64_t stride,
                      const nst_kernel_known *known, nst_range *forms, nst_range *ops) {
  ranges_of_forms(k, nest, level, coefficients, stride, forms);
  for (int i = 0; i < k->program.nops; i++)
    if (k->live[i]) ops[i] = nst_kernel_range_of_op(&k->program.ops[i], ops, forms);
  return ops[k->program.valid].hi < 1 || (!k->all && all_worse(k, known, ops));
}
