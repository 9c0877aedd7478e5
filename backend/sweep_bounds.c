/* See sweep_kernel.h. Only conditions that every valid point must satisfy count:
 * those that `where` joins with and. */
#include "backend/sweep_kernel.h"
#include <string.h>

typedef struct { int form; double most; } condition;
struct nst_sweep_bounds { condition *conditions; int nconditions; const int64_t *divisors; };

/* Conditions form (or max of forms) <= constant below op, joined by and. */
static void collect(nst_sweep_bounds *b, const nst_sweep_program *p, int op) {
  const nst_vop *o = &p->ops[op];
  if (o->kind == NST_VOP_AND) {
    collect(b, p, o->a);
    collect(b, p, o->b);
  }
  if (o->kind != NST_VOP_LE && o->kind != NST_VOP_LT) return;
  const nst_vop *left = &p->ops[o->a], *right = &p->ops[o->b];
  int64_t scale = 1;
  if (right->kind != NST_VOP_CONST && !(right->kind == NST_VOP_SCALE && p->ops[right->a].kind == NST_VOP_CONST)) return;
  double most = right->kind == NST_VOP_CONST ? (double)right->imm : (double)p->ops[right->a].imm * (double)right->imm;
  if (left->kind == NST_VOP_SCALE) {
    scale = left->imm;
    left = &p->ops[left->a];
  }
  if (left->kind == NST_VOP_FORM && scale > 0)
    b->conditions[b->nconditions++] = (condition){(int)left->imm, most / (double)scale * (1 + 1e-12)};
}

nst_sweep_bounds *nst_sweep_bounds_new(nst_arena *arena, const nst_sweep_program *p, const int64_t *divisors) {
  nst_sweep_bounds *b = NST_NEW(arena, nst_sweep_bounds);
  b->divisors = divisors;
  b->conditions = NST_NEW_ARRAY(arena, p->nops, condition);
  collect(b, p, p->valid);
  return b->nconditions ? b : NULL;
}

static double coefficient(const nst_sweep_layout *l, const void *coefficients, size_t at) {
  return l->floating ? ((const double *)coefficients)[at] : (double)((const int64_t *)coefficients)[at];
}

/* The least value that the form can still take; -1: its coefficients and columns are not all positive. */
static double least_value(const nst_sweep_layout *l, const nst_sweep_nest *nest, int form, int level, const void *coefficients,
                          uint64_t stride) {
  double sum = 0;
  if (level < l->ndims - 1) {
    for (int i = 0; i < nest->levels[level].n; i++) {
      const nst_sweep_entry *e = &nest->levels[level].entries[i];
      if (e->form != form) continue;
      double c = coefficient(l, coefficients, (size_t)i * stride);
      if (c < 0 || (c > 0 && e->least < 0)) return -1;
      sum += c * e->least;
    }
    return sum;
  }
  int axis = l->dims[level].axis;
  for (int s = l->first_slot[form]; s < l->first_slot[form + 1]; s++) {
    double c = coefficient(l, coefficients, (size_t)s * stride);
    double least = axis < 0 || !nest->slot_column[s] ? 1 : (double)l->tables->columns[axis][nest->slot_column[s]].least;
    if (c < 0 || (c > 0 && least < 0)) return -1;
    sum += c * least;
  }
  return sum;
}

bool nst_sweep_bounds_prune(const nst_sweep_bounds *b, const nst_sweep_layout *l, const nst_sweep_nest *nest, int level,
                            const void *coefficients, uint64_t stride) {
  for (int c = 0; c < b->nconditions; c++) /* forms over a divisor: as much larger */
    if (least_value(l, nest, b->conditions[c].form, level, coefficients, stride) * (1 - 1e-12) > b->conditions[c].most * (double)b->divisors[b->conditions[c].form]) return true;
  return false;
}
