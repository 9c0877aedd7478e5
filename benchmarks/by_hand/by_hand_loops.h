/* The outer loops of both kernels written by hand: products hoisted to the loop
 * that determines them, and at the last but one level a table of the slots'
 * coefficients for all of its tuples. */
#ifndef NST_BENCHMARKS_BY_HAND_LOOPS_H
#define NST_BENCHMARKS_BY_HAND_LOOPS_H
#include "by_hand.h"
#include <string.h>

typedef double lanes __attribute__((vector_size(64)));
typedef int64_t whole_lanes __attribute__((vector_size(64)));
enum { LANES = 8 };


static void fill_table(const by_hand_tables *t, const double *restrict coefficients) {
  const nst_sweep_layout *l = t->layout;
  const int d = l->ndims - 2;
  const uint64_t padded = l->dims[d].padded;
  memset(t->table, 0, (size_t)l->nslots * padded * sizeof *t->table);
  for (int k = 0; k < t->nest->levels[d].n; k++) {
    const nst_sweep_entry *e = &t->nest->levels[d].entries[k];
    const double c = coefficients[k], *restrict column = l->dims[d].columns[e->column];
    double *restrict row = t->table + (size_t)e->to * padded;
    for (uint64_t i = 0; i < padded; i++) row[i] += c * column[i];
  }
}

static void descend(const by_hand_tables *t, int d, uint64_t tuple) {
  const nst_sweep_level *level = &t->nest->levels[d];
  double *const *columns = (double *const *)t->layout->dims[d].columns;
  const double *restrict here = t->coefficients[d];
  double *restrict next = t->coefficients[d + 1];
  memset(next, 0, (size_t)t->nest->levels[d + 1].n * sizeof *next);
  for (int k = 0; k < level->n; k++) next[level->entries[k].to] += here[k] * columns[level->entries[k].column][tuple];
}

/* Calls POINTS(t, rows of the table, out) for every table. */
#define BY_HAND_LOOPS(NAME, POINTS)                                                          \
  static void NAME(const by_hand_tables *t, int d, by_hand_answer *out) {                    \
    const nst_sweep_layout *l = t->layout;                                                   \
    if (d == l->ndims - 2) {                                                                 \
      fill_table(t, t->coefficients[d]);                                                     \
      POINTS(t, l->dims[d].ntuples, out);                                                    \
      return;                                                                                \
    }                                                                                        \
    for (uint64_t i = 0; i < l->dims[d].ntuples; i++) {                                      \
      descend(t, d, i);                                                                      \
      NAME(t, d + 1, out);                                                                   \
    }                                                                                        \
  }
#endif
