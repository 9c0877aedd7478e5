/* From a plan to the two pieces of code of a kernel and the shape between them.
 *
 *   prologue  parameters -> the keys of the rows, and whether the point counts
 *   columns   keys -> rows (backend/columns.h)
 *   formulas  rows -> counters
 */
#ifndef NST_BACKEND_FORMULAS_H
#define NST_BACKEND_FORMULAS_H
#include "backend/code.h"
#include "backend/columns.h"

/* What the code returns. */
typedef enum {
  NST_POINT_OK,
  NST_POINT_INFEASIBLE, /* a tile is no positive integer, or a par does not fit its axis */
  NST_POINT_ASK         /* not computed: the nest and the analysis know the answer or the message */
} nst_point_status;

/* Counters of nst_counts one after the other: moves (4 each), tile, ops, steps, instances. */
typedef struct { int moves, tile, ops, steps, instances, total; } nst_counter_layout;
nst_counter_layout nst_counter_layout_of(const nst_ir_mapping *m);

typedef struct {
  nst_code prologue;     /* in[p][point]: parameter p; out: keys; returns a nst_point_status */
  nst_code formulas;     /* in[r]: values of row r; out: counters; returns a nst_point_status */
  nst_columns columns;
  int *key_of_row;       /* [nrows]: first word of its key among the keys */
  int nkeys;
  bool fixed_costs;      /* what metrics need besides counters depends on no parameter */
  bool never;            /* every point is NST_POINT_ASK: the code need not be compiled */
} nst_kernel_code;

/* Memory in the arena; m and plan (NULL: never) must outlive it. `name` starts the symbols. */
void nst_kernel_code_make(nst_kernel_code *out, nst_arena *arena, const char *name, const nst_ir_mapping *m,
                          const nst_plan *plan);
#endif
