/* Which groups share a key, and what is left to multiply.
 *
 * An input of a group is, after code generation, a constant or the value of an
 * instruction, and equal instructions are one: so groups of different tensors
 * that depend on the same tiles are found by comparing ids. Groups without any
 * varying input are counted here and become constants. Sets of inputs that lie
 * within another's share its row; a product of columns of one row is computed
 * when the row is filled, so that the code that runs for every point multiplies
 * about one number per row.
 *
 * The formulas are rewritten modulo 2^64, where sums and products may be
 * regrouped at will; the results are exact because every counter fits 63 bits
 * (ir/analysis.h). Terms that share a value are collected (v*a + v*b becomes
 * v*(a + b)), the row with the fewest different values first, and the code
 * finds what several counters have in common. */
#include "backend/formulas.h"
#include "backend/codegen.h"
#include <stdlib.h>
#include <string.h>

nst_counter_layout nst_counter_layout_of(const nst_ir_mapping *m) {
  int nlevels = m->hardware.nlevels, nstmts = m->workload.nstmts;
  nst_counter_layout l = {.moves = 0};
  l.tile = 4 * nstmts * nlevels * m->workload.ntensors;
  l.ops = l.tile + m->nslots;
  l.steps = l.ops + nstmts;
  l.instances = l.steps + nstmts;
  l.total = l.instances + nstmts * nlevels;
  return l;
}

typedef struct {
  nst_id *ids;
  int n;
} key_set; /* sorted, each once */

typedef struct {
  nst_arena *arena;
  nst_kernel_code *out;
  const nst_plan *plan;
  nst_cg_nest nest;
  key_set *cell_keys, *row_keys;
  int *cell_of_group;               /* -1: constant */
  int *first_of_group;              /* its first column in its cell */
  int *row_of_cell, *place_of_cell; /* its row, its index there */
  int *group_of_column;
  int64_t *constant; /* [ncolumns]: of constant groups */
} maker;

/* ---- keys ---- */

static int compare_ids(const void *a, const void *b) {
  nst_id x = *(const nst_id *)a, y = *(const nst_id *)b;
  return (x > y) - (x < y);
}

static key_set key_of_group(const maker *k, const nst_plan_group *g) {
  key_set s = {NST_NEW_ARRAY(k->arena, g->ninputs, nst_id), 0};
  for (int i = 0; i < g->ninputs; i++) {
    nst_id id = nst_cg_input(&k->nest, g->inputs[i]);
    if (!nst_code_is_const(&k->out->prologue, id)) s.ids[s.n++] = id;
  }
  qsort(s.ids, (size_t)s.n, sizeof *s.ids, compare_ids);
  int n = 0;
  for (int i = 0; i < s.n; i++)
    if (!n || s.ids[n - 1] != s.ids[i]) s.ids[n++] = s.ids[i];
  s.n = n;
  return s;
}

static int place_in(key_set s, nst_id id) {
  for (int i = 0; i < s.n; i++)
    if (s.ids[i] == id) return i;
  return -1;
}

static bool within(key_set small, key_set large) {
  for (int i = 0; i < small.n; i++)
    if (place_in(large, small.ids[i]) < 0) return false;
  return true;
}

/* ---- cells ---- */

/* Counts a group whose inputs are all constants. */
static bool count_constant(maker *k, const nst_plan_group *g, nst_group_scratch *scratch) {
  int64_t *in = NST_NEW_ARRAY(k->arena, g->ninputs, int64_t);
  for (int i = 0; i < g->ninputs; i++) in[i] = k->out->prologue.insts[nst_cg_input(&k->nest, g->inputs[i])].imm;
  return nst_group_count(g->group, in, k->constant + g->first, scratch) == NST_GROUP_OK;
}

static int find_cell(maker *k, key_set s) {
  nst_columns *c = &k->out->columns;
  for (int i = 0; i < c->ncells; i++)
    if (k->cell_keys[i].n == s.n && within(s, k->cell_keys[i])) return i;
  k->cell_keys[c->ncells] = s;
  c->cells[c->ncells] = (nst_cell){.nkey = s.n, .groups = NST_NEW_ARRAY(k->arena, k->plan->ngroups, nst_cell_group)};
  return c->ncells++;
}

static void add_group(maker *k, int group, key_set s) {
  const nst_plan_group *g = &k->plan->groups[group];
  int at = find_cell(k, s);
  nst_cell *cell = &k->out->columns.cells[at];
  int *words = NST_NEW_ARRAY(k->arena, g->ninputs, int);
  int64_t *constants = NST_NEW_ARRAY(k->arena, g->ninputs, int64_t);
  for (int i = 0; i < g->ninputs; i++) {
    nst_id id = nst_cg_input(&k->nest, g->inputs[i]);
    words[i] = place_in(k->cell_keys[at], id);
    if (words[i] < 0) constants[i] = k->out->prologue.insts[id].imm;
  }
  cell->groups[cell->ngroups++] = (nst_cell_group){
    .group = g->group, .ninputs = g->ninputs, .words = words, .constants = constants, .first = cell->ncolumns};
  k->first_of_group[group] = cell->ncolumns;
  cell->ncolumns += g->ncolumns;
  if (g->ninputs > cell->most_inputs) cell->most_inputs = g->ninputs;
  k->cell_of_group[group] = at;
}

/* false: a constant group cannot be counted, so no point can. */
static bool make_cells(maker *k) {
  const nst_plan *p = k->plan;
  k->out->columns.cells = NST_NEW_ARRAY(k->arena, p->ngroups, nst_cell);
  k->cell_keys = NST_NEW_ARRAY(k->arena, p->ngroups, key_set);
  k->cell_of_group = NST_NEW_ARRAY(k->arena, p->ngroups, int);
  k->first_of_group = NST_NEW_ARRAY(k->arena, p->ngroups, int);
  k->group_of_column = NST_NEW_ARRAY(k->arena, p->ncolumns, int);
  k->constant = NST_NEW_ARRAY(k->arena, p->ncolumns, int64_t);
  nst_group_scratch *scratch = nst_group_scratch_new();
  bool good = true;
  for (int i = 0; good && i < p->ngroups; i++) {
    const nst_plan_group *g = &p->groups[i];
    for (int c = 0; c < g->ncolumns; c++) k->group_of_column[g->first + c] = i;
    key_set s = key_of_group(k, g);
    if (s.n)
      add_group(k, i, s);
    else {
      k->cell_of_group[i] = -1;
      good = count_constant(k, g, scratch);
    }
  }
  nst_group_scratch_free(scratch);
  return good;
}

/* ---- rows ---- */

/* Keys that lie within no other, largest first come first; each cell goes to the first that holds its key. */
static void make_rows(maker *k) {
  nst_columns *c = &k->out->columns;
  c->rows = NST_NEW_ARRAY(k->arena, c->ncells, nst_row);
  k->row_keys = NST_NEW_ARRAY(k->arena, c->ncells, key_set);
  k->row_of_cell = NST_NEW_ARRAY(k->arena, c->ncells, int);
  k->place_of_cell = NST_NEW_ARRAY(k->arena, c->ncells, int);
  for (int i = 0; i < c->ncells; i++) {
    bool largest = true;
    for (int j = 0; largest && j < c->ncells; j++)
      largest = j == i || k->cell_keys[j].n <= k->cell_keys[i].n || !within(k->cell_keys[i], k->cell_keys[j]);
    if (!largest) continue;
    k->row_keys[c->nrows] = k->cell_keys[i];
    c->rows[c->nrows++] =
      (nst_row){.nkey = k->cell_keys[i].n, .cells = NST_NEW_ARRAY(k->arena, c->ncells, nst_row_cell)};
  }
  for (int i = 0; i < c->ncells; i++) {
    int r = 0;
    while (!within(k->cell_keys[i], k->row_keys[r])) r++;
    nst_row *row = &c->rows[r];
    int *words = NST_NEW_ARRAY(k->arena, k->cell_keys[i].n, int);
    for (int w = 0; w < k->cell_keys[i].n; w++) words[w] = place_in(k->row_keys[r], k->cell_keys[i].ids[w]);
    k->row_of_cell[i] = r;
    k->place_of_cell[i] = row->ncells;
    row->cells[row->ncells++] = (nst_row_cell){i, words};
  }
  k->out->key_of_row = NST_NEW_ARRAY(k->arena, c->nrows, int);
  for (int r = 0; r < c->nrows; r++) {
    k->out->key_of_row[r] = k->out->nkeys;
    for (int w = 0; w < c->rows[r].nkey; w++) nst_code_store(&k->out->prologue, k->out->nkeys++, k->row_keys[r].ids[w]);
  }
}

/* ---- formulas ---- */

typedef struct {
  int64_t coef;
  int *values; /* [nrows]: value of each row, -1: none */
} term;

static int compare_factors(const void *a, const void *b) {
  const nst_factor *x = a, *y = b;
  return x->cell != y->cell ? (x->cell > y->cell) - (x->cell < y->cell)
                            : (x->column > y->column) - (x->column < y->column);
}

/* The number of a product of columns in its row. */
static int row_value(maker *k, int r, nst_factor *factors, int n) {
  nst_row *row = &k->out->columns.rows[r];
  qsort(factors, (size_t)n, sizeof *factors, compare_factors);
  for (int i = 0; i < row->nvalues; i++)
    if (row->values[i].nfactors == n && !memcmp(row->values[i].factors, factors, (size_t)n * sizeof *factors)) return i;
  nst_factor *own = NST_NEW_ARRAY(k->arena, n, nst_factor);
  memcpy(own, factors, (size_t)n * sizeof *factors);
  row->values[row->nvalues] = (nst_row_value){own, n};
  return row->nvalues++;
}

static term make_term(maker *k, const nst_product *p) {
  const nst_columns *c = &k->out->columns;
  term t = {p->sign, NST_NEW_ARRAY(k->arena, c->nrows, int)};
  nst_factor *factors = NST_NEW_ARRAY(k->arena, p->ncolumns, nst_factor);
  for (int i = 0; i < p->ncolumns; i++) {
    int column = p->columns[i], g = k->group_of_column[column];
    if (k->cell_of_group[g] < 0) t.coef = (int64_t)((uint64_t)t.coef * (uint64_t)k->constant[column]);
  }
  for (int r = 0; r < c->nrows; r++) {
    int n = 0;
    for (int i = 0; t.coef && i < p->ncolumns; i++) {
      int column = p->columns[i], g = k->group_of_column[column], cell = k->cell_of_group[g];
      if (cell < 0 || k->row_of_cell[cell] != r) continue;
      factors[n++] = (nst_factor){k->place_of_cell[cell], k->first_of_group[g] + column - k->plan->groups[g].first};
    }
    t.values[r] = n ? row_value(k, r, factors, n) : -1;
  }
  return t;
}

/* Equal terms become one. */
static int add_term(term *terms, int n, term t, int nrows) {
  if (!t.coef) return n;
  for (int i = 0; i < n; i++) {
    if (memcmp(terms[i].values, t.values, (size_t)nrows * sizeof *t.values)) continue;
    terms[i].coef = (int64_t)((uint64_t)terms[i].coef + (uint64_t)t.coef);
    if (!terms[i].coef) terms[i] = terms[--n];
    return n;
  }
  terms[n] = t;
  return n + 1;
}

static nst_id load(maker *k, int row, int value) {
  return value < 0 ? nst_code_const(&k->out->formulas, 1) : nst_code_load(&k->out->formulas, row, value);
}

/* Different values of row r among the terms. */
static int variety(const term *terms, int n, int r) {
  int different = 0;
  for (int i = 0; i < n; i++) {
    bool seen = false;
    for (int j = 0; j < i && !seen; j++) seen = terms[j].values[r] == terms[i].values[r];
    different += !seen;
  }
  return different;
}

/* The sum of the terms over the rows that are not done yet. */
static nst_id emit_terms(maker *k, term *terms, int n, const bool *done) {
  nst_code *code = &k->out->formulas;
  int nrows = k->out->columns.nrows, best = -1, least = 0;
  for (int r = 0; r < nrows; r++) {
    int v = done[r] ? 0 : variety(terms, n, r);
    if (v && (best < 0 || v < least)) best = r, least = v;
  }
  if (best < 0) { /* equal in all rows: one term, or none */
    int64_t coef = 0;
    for (int i = 0; i < n; i++) coef = (int64_t)((uint64_t)coef + (uint64_t)terms[i].coef);
    return nst_code_const(code, coef);
  }
  bool *deeper = NST_NEW_ARRAY(k->arena, nrows, bool);
  memcpy(deeper, done, (size_t)nrows * sizeof *done);
  deeper[best] = true;
  nst_id sum = nst_code_const(code, 0);
  for (int i = 0; i < n;) {
    int same = i; /* move the terms with the value of term i together */
    for (int j = i; j < n; j++) {
      if (terms[j].values[best] != terms[i].values[best]) continue;
      term t = terms[j];
      terms[j] = terms[same];
      terms[same++] = t;
    }
    nst_id rest = emit_terms(k, terms + i, same - i, deeper);
    sum =
      nst_code_op(code, NST_INST_ADD, sum, nst_code_op(code, NST_INST_MUL, load(k, best, terms[i].values[best]), rest));
    i = same;
  }
  return sum;
}

static nst_id emit_formula(maker *k, const nst_formula *f) {
  nst_code *code = &k->out->formulas;
  if (!f->nproducts) return nst_code_const(code, 0);
  int nrows = k->out->columns.nrows, n = 0;
  term *terms = NST_NEW_ARRAY(k->arena, f->nproducts, term);
  for (int i = 0; i < f->nproducts; i++) n = add_term(terms, n, make_term(k, &f->products[i]), nrows);
  return n ? emit_terms(k, terms, n, NST_NEW_ARRAY(k->arena, nrows, bool)) : nst_code_const(code, 0);
}

static int count_products(const nst_formula *f, int n) {
  int total = 0;
  for (int i = 0; i < n; i++) total += f[i].nproducts;
  return total;
}

static void make_formulas(maker *k) {
  const nst_plan *p = k->plan;
  const nst_ir_mapping *m = p->ir;
  nst_code *code = &k->out->formulas;
  nst_counter_layout at = nst_counter_layout_of(m);
  int nstmts = m->workload.nstmts, nlevels = m->hardware.nlevels, nmoves = nstmts * nlevels * m->workload.ntensors;
  int most = count_products(p->reads, nmoves) + count_products(p->fills, nmoves) + count_products(p->updates, nmoves) +
             count_products(p->drains, nmoves) + count_products(p->tile, m->nslots) + count_products(p->ops, nstmts) +
             count_products(p->steps, nstmts) + count_products(p->instances, nstmts * nlevels) +
             count_products(p->conflict, p->nconflicts);
  for (int r = 0; r < k->out->columns.nrows; r++)
    k->out->columns.rows[r].values = NST_NEW_ARRAY(k->arena, most, nst_row_value);

  for (int i = 0; i < nmoves; i++) {
    const nst_formula *f[] = {&p->reads[i], &p->fills[i], &p->updates[i], &p->drains[i]};
    for (int j = 0; j < 4; j++) nst_code_store(code, at.moves + 4 * i + j, emit_formula(k, f[j]));
  }
  for (int i = 0; i < m->nslots; i++) nst_code_store(code, at.tile + i, emit_formula(k, &p->tile[i]));
  for (int i = 0; i < nstmts; i++) nst_code_store(code, at.ops + i, emit_formula(k, &p->ops[i]));
  for (int i = 0; i < nstmts; i++) nst_code_store(code, at.steps + i, emit_formula(k, &p->steps[i]));
  for (int i = 0; i < nstmts * nlevels; i++) nst_code_store(code, at.instances + i, emit_formula(k, &p->instances[i]));

  nst_id zero = nst_code_const(code, 0), legal = nst_code_truth(code, true);
  for (int i = 0; i < p->nconflicts; i++)
    legal =
      nst_code_op(code, NST_INST_AND, legal, nst_code_op(code, NST_INST_EQ, emit_formula(k, &p->conflict[i]), zero));
  code->status = nst_code_select(code, legal, nst_code_const(code, NST_POINT_OK), nst_code_const(code, NST_POINT_ASK));
}

/* ---- the whole ---- */

static void make_status(maker *k) {
  nst_code *code = &k->out->prologue;
  nst_id legal = nst_code_select(code, k->nest.feasible, nst_code_const(code, NST_POINT_OK),
                                 nst_code_const(code, NST_POINT_INFEASIBLE));
  code->status = nst_code_select(code, k->nest.ok, legal, nst_code_const(code, NST_POINT_ASK));
}

void nst_kernel_code_make(nst_kernel_code *out, nst_arena *arena, const char *name, const nst_ir_mapping *m,
                          const nst_plan *plan) {
  *out = (nst_kernel_code){.never = !plan};
  nst_code_init(&out->prologue, arena, nst_arena_printf(arena, "%s.prologue", name));
  nst_code_init(&out->formulas, arena, nst_arena_printf(arena, "%s.formulas", name));
  maker k = {.arena = arena, .out = out, .plan = plan};
  nst_cg_nest_make(&k.nest, &out->prologue, m);
  out->fixed_costs = k.nest.fixed_costs;
  if (nst_code_is_truth(&out->prologue, k.nest.ok, false)) out->never = true;
  /* Nothing can be said of the constants of a mapping that is never legal. */
  if (!out->never && !nst_code_is_truth(&out->prologue, k.nest.feasible, false) && !make_cells(&k)) out->never = true;
  if (out->never) {
    out->prologue.status = nst_code_const(&out->prologue, NST_POINT_ASK);
    out->formulas.status = nst_code_const(&out->formulas, NST_POINT_ASK);
    return;
  }
  make_status(&k);
  if (nst_code_is_truth(&out->prologue, k.nest.feasible, false)) {
    out->formulas.status = nst_code_const(&out->formulas, NST_POINT_INFEASIBLE);
    return;
  }
  make_rows(&k);
  make_formulas(&k);
}
