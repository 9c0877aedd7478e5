/* Derived metrics (semantics.md, sections 3 and 6) from counters: exact rationals, no counting. */
#ifndef NST_IR_METRICS_H
#define NST_IR_METRICS_H
#include "ir/counts.h"

typedef struct {
  nst_rat usage;          /* bytes one instance must hold */
  bool fits;
  nst_rat traffic;        /* bytes, all tensors */
  nst_rat read, written;  /* bytes, all instances: reads + drains, fills + updates */
  nst_rat cycles, energy; /* unrounded cycles */
  int64_t instances;
} nst_level_metrics;
typedef struct {
  nst_level_metrics *levels; /* [nlevels]; of arrays all 0; of a compute: cycles, energy, instances */
  bool fits;
  nst_rat offchip;        /* bytes */
  nst_rat cycles;         /* whole, rounded up once */
  nst_rat energy;         /* pJ */
  nst_rat edp;            /* pJ*cycles */
  bool has_edp;           /* false: past 128 bits */
  int64_t ops, steps;
  bool has_utilization, has_intensity, has_area; nst_rat utilization, intensity, area; /* 0/0: absent */
} nst_metrics;

/* false on an overflow (or leakage without a clock), with a message in diags (NULL allowed). Memory in arena;
 * arena NULL: in the levels that an earlier call for the same mapping left in *out. */
bool nst_metrics_compute(nst_metrics *out, nst_arena *arena, const nst_nest *nest, const nst_counts *counts, nst_diags *diags);
/* Bytes of one tensor at one level (usage(L,T), traffic(L,T)); sums over statements of a counter (metric = READS … TILE). */
bool nst_metrics_usage(nst_rat *out, const nst_nest *nest, const nst_counts *c, int level, int tensor); /* tensor -1: all */
bool nst_metrics_traffic(nst_rat *out, const nst_nest *nest, const nst_counts *c, int level, int tensor);
bool nst_metrics_counter(int64_t *out, const nst_nest *nest, const nst_counts *c, nst_metric which, int level, int tensor);
/* An nst_eval_env.metric callback; ctx is a nst_metrics_view. */
typedef struct { const nst_nest *nest; const nst_counts *counts; const nst_metrics *metrics; } nst_metrics_view;
nst_eval_status nst_metrics_lookup(void *ctx, const nst_expr *e, nst_value *out);
#endif
