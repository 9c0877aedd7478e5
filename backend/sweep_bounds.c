/* See sweep_kernel.h. Only conditions that every valid point must satisfy count:
 * those that `where` joins with and. */
#include "backend/sweep_kernel.h"
#include <string.h>

typedef struct { int form; double most; } condition;
typedef struct { int entry; double least; } bound_term; /* times the entry's coefficient */
typedef struct { bound_term *terms; int nterms; } bound_sum;

struct nst_sweep_bounds {
  bool floating;
  condition *conditions; int nconditions;
  bound_sum *sums;   /* [nlevels][nconditions] */
  uint64_t *points;  /* [nlevels] */
};

/* Conditions form (or max of forms) <= constant below op, joined by and. */
static void collect(nst_sweep_bounds *b, const nst_sweep_program *p, int op, bool all) {
  const nst_vop *o = &p->ops[op];
  if (o->kind == NST_VOP_AND) {
    collect(b, p, o->a, all);
    collect(b, p, o->b, all);
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

nst_sweep_bounds *nst_sweep_bounds_new(nst_arena *arena, const nst_sweep_layout *l, const nst_sweep_tables *t,
                                       const nst_sweep_program *p) {
  nst_sweep_bounds *b = NST_NEW(arena, nst_sweep_bounds);
  b->floating = l->floating;
  b->conditions = NST_NEW_ARRAY(arena, p->nops, condition);
  collect(b, p, p->valid, true);
  if (!b->nconditions) return NULL;
  b->sums = NST_NEW_ARRAY(arena, (size_t)l->nlevels * (size_t)b->nconditions, bound_sum);
  b->points = NST_NEW_ARRAY(arena, l->nlevels + 1, uint64_t);
  b->points[l->nlevels] = 1;
  double *next = NULL; /* least product of the columns from the next level on, per entry of it */
  for (int d = l->nlevels - 1; d >= 0; d--) {
    const nst_sweep_level *level = &l->levels[d];
    b->points[d] = b->points[d + 1] * level->ntuples;
    double *least = NST_NEW_ARRAY(arena, level->nentries, double);
    for (int i = 0; i < level->nentries; i++) {
      const nst_sweep_entry *e = &level->entries[i];
      double column = e->column < 0 ? 1 : (double)t->columns[level->axis][level->column_of[e->column]].least;
      least[i] = column * (next ? next[e->to] : 1);
    }
    for (int c = 0; c < b->nconditions; c++) {
      bound_sum *s = &b->sums[d * b->nconditions + c];
      s->terms = NST_NEW_ARRAY(arena, level->nentries, bound_term);
      for (int i = 0; i < level->nentries; i++)
        if (level->entries[i].form == b->conditions[c].form) s->terms[s->nterms++] = (bound_term){i, least[i]};
    }
    next = least;
  }
  return b;
}

bool nst_sweep_bounds_prune(const nst_sweep_bounds *b, int level, const void *coefficients, uint64_t stride) {
  for (int c = 0; c < b->nconditions; c++) {
    const bound_sum *s = &b->sums[level * b->nconditions + c];
    double sum = 0;
    bool positive = true;
    for (int i = 0; i < s->nterms; i++) {
      size_t at = (size_t)s->terms[i].entry * stride;
      double k = b->floating ? ((const double *)coefficients)[at] : (double)((const int64_t *)coefficients)[at];
      positive = positive && k >= 0;
      sum += k * s->terms[i].least;
    }
    if (positive && sum * (1 - 1e-12) > b->conditions[c].most) return true;
  }
  return false;
}

uint64_t nst_sweep_bounds_points(const nst_sweep_bounds *b, int level) { return b->points[level]; }
