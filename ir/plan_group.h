/* Groups under construction: the part of planning that divides dimensions
 * (plan_group.c), shared with the part that writes formulas (plan.c). */
#ifndef NST_IR_PLAN_GROUP_H
#define NST_IR_PLAN_GROUP_H
#include "base/vec.h"
#include "ir/group.h"
#include "ir/plan.h"

typedef struct {
  nst_column column;
  int id;
} nst_wanted_column;
typedef struct {
  nst_group group;
  NST_VEC(nst_input) inputs;
  NST_VEC(nst_group_split) splits;
  NST_VEC(nst_wanted_column) columns;
  int next;      /* SINGLE: the next one of the same dimension, or -1 */
} nst_draft; /* a group under construction */

/* An edge under construction: what is outside C on the path of a statement. */
typedef struct {
  int stmt;
  int end;        /* splits are at path positions < end */
  int parent_end; /* pars before this position are P's; -1: all are (every instance its own parent) */
  int run_start;  /* fors before this position are outside the branch that C lives in */
  bool compute;   /* C is the compute: implicit loops of 1 follow */
  bool unicast;   /* pars on arrays without multicast are summed over */
  bool apart;     /* pars on arrays without reduce are summed over (to find conflicts) */
} nst_edge;

typedef struct {
  int *drafts;
  int n;
} nst_factors; /* the groups of a tensor at an edge */
typedef struct {
  int stmt, access;
} nst_use; /* access -1: the output */
typedef NST_VEC(nst_use) nst_uses;

typedef struct {
  nst_use use;
  nst_factors factors;
} nst_known_factors;

/* What groups see of an edge. Edges that look alike (and many do: nothing is spread, or all of it by parents) have the
 * same groups, which are kept here. */
typedef struct {
  int stmt, end;
  bool compute;
  uint64_t siblings[NST_PLAN_MAX_PATH / 64]; /* positions on the path that are SIBLING splits */
  NST_VEC(nst_known_factors) known;
} nst_view;

typedef struct {
  nst_arena *arena;
  const nst_ir_mapping *m;
  nst_plan *plan;
  NST_VEC(nst_draft *) drafts;
  int *singles[2]; /* [ndims]: the groups of that dimension alone, not used and in plain ranks; -1: none */
  NST_VEC(nst_view *) views;
  int ncolumns;
  NST_VEC(nst_conflict) conflicts;
  NST_VEC(nst_formula) conflict_formulas;
  uint64_t *fuel; /* or NULL. Once it is out the plan is of no use, and its loops end */
} nst_planner;

static inline bool nst_plan_spend(const nst_planner *p, size_t steps) { return nst_fuel_spend(p->fuel, steps); }

static inline const nst_ir_node *nst_plan_path_node(const nst_planner *p, int stmt, int i) {
  return p->m->nodes[p->m->paths[stmt].nodes[i]];
}
const nst_ir_access *nst_plan_access(const nst_planner *p, nst_use u);
bool nst_plan_same_expr(const nst_expr *a, const nst_expr *b);
/* All dimensions of the statement, divided into the groups of a tensor as it is used at an edge. */
nst_factors nst_plan_group_tensor(nst_planner *p, const nst_edge *e, const nst_uses *us);
/* One dimension that a tensor does not use; one that it uses alone (ALL is its extent). */
int nst_plan_unused_group(nst_planner *p, const nst_edge *e, int dim);
int nst_plan_extent_group(nst_planner *p, int dim);
#endif
