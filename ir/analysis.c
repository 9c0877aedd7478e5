/* The analysis: a plan evaluated for one nest.
 *
 * Groups turn numbers into columns (ir/group.c), formulas turn columns into
 * counters (ir/plan.c says which). All arithmetic here is exact in 64 bits: a
 * column never exceeds the points of its dimensions, so a product never exceeds
 * the operations of the statement, which nst_nest_make has found to fit.
 *
 * A group whose numbers are those of the call before keeps its columns: from one
 * point of an enumeration to the next, most groups do not change. */
#include "ir/analysis.h"
#include "ir/group.h"
#include "ir/plan.h"
#include <stdlib.h>
#include <string.h>

struct nst_analysis {
  nst_arena *arena;
  const nst_ir_mapping *ir;
  const nst_plan *plan; /* NULL: a path is too long */
  nst_group_scratch *scratch;
  uint64_t *fuel;       /* or NULL */
  uint64_t plan_steps;  /* that planning took, */
  bool planned_now;     /* and has paid for in this count */
  uint64_t formula_steps;
  int64_t *columns, *inputs;
  int64_t **counted; /* [ngroups]: the numbers of the columns at hand */
  bool *known;       /* [ngroups]: there are some */
  uint64_t *steps;   /* [ngroups]: that they took */
};

static uint64_t formula_steps(const nst_formula *fs, size_t n) {
  uint64_t steps = n / 2;
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < fs[i].nproducts; k++) steps += 1 + (uint64_t)fs[i].products[k].ncolumns / 8;
  return steps;
}

static uint64_t plan_formula_steps(const nst_plan *p) {
  const nst_ir_mapping *m = p->ir;
  const size_t stmts = (size_t)m->workload.nstmts, levels = (size_t)m->hardware.nlevels;
  const size_t moves = stmts * levels * (size_t)m->workload.ntensors;
  return formula_steps(p->reads, moves) + formula_steps(p->fills, moves) + formula_steps(p->updates, moves) +
         formula_steps(p->drains, moves) + formula_steps(p->tile, (size_t)m->nslots) + formula_steps(p->ops, stmts) +
         formula_steps(p->steps, stmts) + formula_steps(p->instances, stmts * levels) +
         formula_steps(p->conflict, (size_t)p->nconflicts);
}

nst_analysis *nst_analysis_new(const nst_ir_mapping *m) { return nst_analysis_new_within(m, NULL); }

nst_analysis *nst_analysis_new_within(const nst_ir_mapping *m, uint64_t *fuel) {
  nst_arena *arena = nst_arena_new();
  nst_analysis *a = NST_NEW(arena, nst_analysis);
  a->arena = arena;
  a->ir = m;
  a->fuel = fuel;
  const uint64_t before = fuel ? *fuel : 0;
  a->plan = nst_plan_make_within(arena, m, fuel);
  a->plan_steps = nst_fuel_is_out(fuel) ? NST_FUEL_UNLIMITED : fuel ? before - *fuel : 0;
  a->planned_now = true;
  if (a->plan) a->formula_steps = plan_formula_steps(a->plan);
  a->scratch = nst_group_scratch_new();
  nst_group_scratch_set_fuel(a->scratch, fuel);
  int most = 1, ngroups = a->plan ? a->plan->ngroups : 0;
  a->counted = NST_NEW_ARRAY(arena, ngroups, int64_t *);
  a->known = NST_NEW_ARRAY(arena, ngroups, bool);
  a->steps = NST_NEW_ARRAY(arena, ngroups, uint64_t);
  for (int i = 0; i < ngroups; i++) {
    if (a->plan->groups[i].ninputs > most) most = a->plan->groups[i].ninputs;
    a->counted[i] = NST_NEW_ARRAY(arena, a->plan->groups[i].ninputs, int64_t);
  }
  a->inputs = NST_NEW_ARRAY(arena, most, int64_t);
  a->columns = NST_NEW_ARRAY(arena, a->plan ? a->plan->ncolumns + 1 : 1, int64_t);
  return a;
}

void nst_analysis_free(nst_analysis *a) {
  if (!a) return;
  nst_group_scratch_free(a->scratch);
  nst_arena_free(a->arena);
}

const nst_plan *nst_analysis_plan(const nst_analysis *a) { return a->plan; }

int64_t nst_input_of(const nst_nest *nest, nst_input in) {
  if (in.kind == NST_IN_EXTENT) return nest->extent[in.a];
  if (in.kind == NST_IN_TILE) return nest->tile[in.a];
  const nst_nest_stmt *s = &nest->stmts[in.a];
  const nst_nest_rank *rank = &(in.b < 0 ? &s->out : &s->in[in.b])->ranks[in.c];
  if (in.kind == NST_IN_COEF) return rank->coef[in.d];
  return in.kind == NST_IN_OFFSET ? rank->offset : rank->size;
}

static int64_t evaluate(const nst_formula *f, const int64_t *columns) {
  int64_t sum = 0;
  for (int i = 0; i < f->nproducts; i++) {
    const nst_product *p = &f->products[i];
    int64_t product = p->sign;
    for (int k = 0; k < p->ncolumns; k++) product *= columns[p->columns[k]];
    sum += product;
  }
  return sum;
}

/* The dimensions of a group and what limits it, in words. */
static void refuse(const nst_analysis *a, const nst_plan_group *g, nst_diags *diags) {
  if (!diags) return;
  nst_buffer names = {0};
  const nst_ir_workload *w = &a->ir->workload;
  nst_span span = a->ir->span;
  const char *tensor = NULL;
  for (int i = 0; i < g->ninputs; i++) {
    const nst_input *in = &g->inputs[i];
    if (in->kind == NST_IN_EXTENT) nst_buffer_printf(&names, "%s%s", names.len ? ", " : "", w->dims[in->a].name);
    if (in->kind != NST_IN_EXTENT && in->kind != NST_IN_TILE && !tensor) {
      const nst_ir_access *access = in->b < 0 ? &w->stmts[in->a].out : &w->stmts[in->a].in[in->b];
      tensor = w->tensors[access->tensor].name;
      span = access->span;
    }
  }
  nst_diag *d =
    nst_diag_add(diags, NST_D_ANALYSIS_TOO_LARGE, span,
                 "the analysis cannot count %s%sover %s: its elements would have to be listed, more than %d of them, "
                 "or of more than %d places of an array",
                 tensor ? tensor : "", tensor ? " " : "", names.text ? names.text : "its dimensions",
                 NST_EXPLICIT_LIMIT, NST_SIBLINGS_LIMIT);
  nst_diag_help(
    diags, d,
    "ranks of one or two terms are counted at any size, inputs on arrays of up to 65536 places too; sums of "
    "three and more terms, a tensor read twice, ranks that share dimensions across an edge, and sums in "
    "the ranks of an output that is kept inside an array cost the size of their dimensions: make these "
    "smaller");
  nst_buffer_fini(&names);
}

static bool no_conflict(const nst_analysis *a, nst_diags *diags) {
  const nst_plan *p = a->plan;
  for (int i = 0; i < p->nconflicts; i++) {
    if (!evaluate(&p->conflict[i], a->columns)) continue;
    const nst_conflict *c = &p->conflicts[i];
    const nst_ir_level *level = &a->ir->hardware.levels[c->level], *array = &a->ir->hardware.levels[c->array];
    const char *tensor = a->ir->workload.tensors[c->tensor].name;
    if (!diags) return false;
    nst_diag *d =
      nst_diag_add(diags, NST_D_REDUCE_CONFLICT, a->ir->span,
                   "instances across array %s %s the same elements of %s in one step, and %s has reduce = false",
                   array->name, level->kind == NST_LEVEL_COMPUTE ? "produce" : "hold", tensor, array->name);
    for (int n = 0; n < a->ir->nnodes; n++) {
      const nst_ir_node *node = a->ir->nodes[n];
      if (node->kind == NST_NODE_PAR && node->level == c->array) nst_diag_label(diags, d, node->span, "spread here");
    }
    nst_diag_help(diags, d, "spread only dimensions that index %s over %s, or give the array reduce = true", tensor,
                  array->name);
    return false;
  }
  return true;
}

void nst_tell_starved(nst_diags *diags, const nst_ir_mapping *m) {
  nst_diag *d = nst_diag_add(diags, NST_D_OUT_OF_FUEL, m->span, "counting mapping %s takes more steps than are allowed", m->name);
  nst_diag_help(diags, d,
                "a mapping with fewer statements, tensors or loops is counted in fewer steps; so is one with smaller "
                "dimensions, where elements have to be listed");
}

static bool out_of_fuel(const nst_analysis *a, nst_diags *diags) {
  if (diags) nst_tell_starved(diags, a->ir);
  return false;
}

bool nst_analysis_count(nst_analysis *a, const nst_nest *nest, nst_counts *out, nst_diags *diags) {
  const nst_plan *p = a->plan;
  if (!nst_fuel_spend(a->fuel, a->formula_steps + (a->planned_now ? 0 : a->plan_steps)) || nst_fuel_is_out(a->fuel))
    return out_of_fuel(a, diags);
  a->planned_now = false;
  if (!p) {
    if (diags)
      nst_diag_add(diags, NST_D_ANALYSIS_PATH_TOO_LONG, a->ir->span,
                   "mapping %s has more than %d loops, pars and keeps above one compute", a->ir->name,
                   NST_PLAN_MAX_PATH);
    return false;
  }
  for (int i = 0; i < p->ngroups; i++) {
    const nst_plan_group *g = &p->groups[i];
    if (!nst_fuel_spend(a->fuel, (uint64_t)g->ninputs / 4)) return out_of_fuel(a, diags);
    int64_t differ = !a->known[i];
    for (int k = 0; k < g->ninputs; k++) {
      a->inputs[k] = nst_input_of(nest, g->inputs[k]);
      differ |= a->inputs[k] ^ a->counted[i][k];
    }
    if (!differ) {
      if (!nst_fuel_spend(a->fuel, a->steps[i])) return out_of_fuel(a, diags);
      continue;
    }
    const uint64_t before = a->fuel ? *a->fuel : 0;
    a->known[i] = false;
    if (nst_group_count(g->group, a->inputs, a->columns + g->first, a->scratch) != NST_GROUP_OK) {
      if (nst_fuel_is_out(a->fuel)) return out_of_fuel(a, diags);
      refuse(a, g, diags);
      return false;
    }
    memcpy(a->counted[i], a->inputs, (size_t)g->ninputs * sizeof *a->inputs);
    a->known[i] = true;
    a->steps[i] = a->fuel ? before - *a->fuel : 0;
  }
  if (!no_conflict(a, diags)) return false;
  int moves = out->nstmts * out->nlevels * out->ntensors;
  for (int i = 0; i < moves; i++)
    out->moves[i] = (nst_moves){evaluate(&p->reads[i], a->columns), evaluate(&p->fills[i], a->columns),
                                evaluate(&p->updates[i], a->columns), evaluate(&p->drains[i], a->columns)};
  for (int i = 0; i < out->nslots; i++) out->tile[i] = evaluate(&p->tile[i], a->columns);
  for (int i = 0; i < out->nstmts; i++) {
    out->ops[i] = evaluate(&p->ops[i], a->columns);
    out->steps[i] = evaluate(&p->steps[i], a->columns);
  }
  for (int i = 0; i < out->nstmts * out->nlevels; i++) out->instances[i] = evaluate(&p->instances[i], a->columns);
  return true;
}
