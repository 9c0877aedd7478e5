/* What of a tile stays where it is when a loop moves on: elements really shared,
 * gaps of strides and shapes included.
 *
 * What an edge needs is the elements of all its tiles less, for each for outside
 * the child, those that stay in the steps which that for begins (ir/plan.c). The
 * products that are taken off are those of KEPT columns, and how many splits of each
 * group a column has outside it says which for it belongs to. Here the product of
 * one for is counted alone. */
#include "driver/explain.h"
#include "ir/group.h"

static bool has_dim(const nst_plan_group *g, int dim) {
  for (int i = 0; i < g->group->ndims; i++)
    if (g->inputs[g->group->extents[i]].a == dim) return true;
  return false;
}

/* How many of a group's TIME splits are outside path position i. */
static int times_outside(const nst_explain *x, int stmt, const nst_plan_group *g, int i) {
  int n = 0;
  for (int k = 0; k < i; k++) {
    const nst_ir_node *node = nst_path_node(x->m, stmt, k);
    n += node->kind == NST_NODE_FOR && has_dim(g, node->dim);
  }
  return n;
}

static const nst_plan_group *group_of(const nst_plan *plan, int column) {
  int lo = 0, hi = plan->ngroups - 1;
  while (lo < hi) {
    const int mid = lo + (hi - lo + 1) / 2;
    if (plan->groups[mid].first <= column)
      lo = mid;
    else
      hi = mid - 1;
  }
  return &plan->groups[lo];
}

static const nst_column *column_of(const nst_plan_group *g, int column) {
  return &g->group->columns[column - g->first];
}

/* Whether a product is what stays in the steps that the for at path position `at` begins. */
static bool is_kept_by(const nst_explain *x, const nst_plan *plan, const nst_product *p, int stmt, int at) {
  const int dim = nst_path_node(x->m, stmt, at)->dim;
  for (int i = 0; i < p->ncolumns; i++) {
    const nst_plan_group *g = group_of(plan, p->columns[i]);
    const nst_column *c = column_of(g, p->columns[i]);
    if (c->kind != NST_COLUMN_KEPT || c->advance != has_dim(g, dim) || c->cut != times_outside(x, stmt, g, at))
      return false;
  }
  return p->ncolumns > 0;
}

/* A group without the fors inside the one that begins the steps of a column: what they walk through is one tile. */
static void drop_inside(const nst_explain *x, nst_group *g, const nst_column *c) {
  nst_group_split *splits = NST_NEW_ARRAY(x->arena, g->nsplits + 1, nst_group_split);
  int n = 0;
  for (int i = 0, time = 0; i < g->nsplits; i++)
    if (g->splits[i].kind != NST_SPLIT_TIME || time++ < c->cut + c->advance) splits[n++] = g->splits[i];
  g->splits = splits;
  g->nsplits = n;
}

static bool count_column(int64_t *out, const nst_explain *x, const nst_plan_group *g, const nst_column *c, bool rounds,
                         nst_group_scratch *scratch) {
  int64_t *in = NST_NEW_ARRAY(x->arena, g->ninputs + 1, int64_t);
  for (int i = 0; i < g->ninputs; i++) in[i] = nst_input_of(x->nest, g->inputs[i]);
  nst_group alone = *g->group;
  alone.columns = c;
  alone.ncolumns = 1;
  if (rounds) drop_inside(x, &alone, c);
  return nst_group_count(&alone, in, out, scratch) == NST_GROUP_OK;
}

static bool count_product(int64_t *out, const nst_explain *x, const nst_plan *plan, const nst_product *p, bool rounds) {
  uint64_t fuel = x->e->program->settings.limits.fuel;
  nst_group_scratch *scratch = nst_group_scratch_new();
  if (x->e->fuel) nst_group_scratch_set_fuel(scratch, &fuel);
  bool good = true;
  *out = 1;
  for (int i = 0; i < p->ncolumns && *out && good; i++) {
    const nst_plan_group *g = group_of(plan, p->columns[i]);
    int64_t factor = 0;
    good = count_column(&factor, x, g, column_of(g, p->columns[i]), rounds, scratch) &&
           !__builtin_mul_overflow(*out, factor, out);
  }
  nst_group_scratch_free(scratch);
  return good;
}

/* rounds: between whole rounds of the for, not between tiles. */
static int64_t kept(const nst_explain *x, const nst_edge *e, int i, bool rounds) {
  const nst_plan *plan = nst_analysis_plan(x->e->analysis);
  const nst_ir_node *parent = nst_path_node(x->m, e->stmt, e->parent);
  const size_t at =
    ((size_t)e->stmt * (size_t)x->m->hardware.nlevels + (size_t)parent->level) * (size_t)x->m->workload.ntensors +
    (size_t)e->tensor;
  int64_t n;
  for (int k = 0; plan && k < plan->reads[at].nproducts; k++) {
    const nst_product *p = &plan->reads[at].products[k];
    if (is_kept_by(x, plan, p, e->stmt, i)) return count_product(&n, x, plan, p, rounds) ? n : 0;
  }
  return 0;
}

int64_t nst_explain_kept(const nst_explain *x, const nst_edge *e, int i) { return kept(x, e, i, false); }

bool nst_explain_rounds_share(const nst_explain *x, const nst_edge *e, int i) { return kept(x, e, i, true) > 0; }
