/* See sweep_poly.h. */
#include "backend/sweep_poly.h"
#include "base/buffer.h"
#include "ir/group.h"
#include <stdlib.h>
#include <string.h>

typedef struct nst_sweep_known { char *key; size_t len; uint64_t hash; nst_sweep_factor factor; } known;

static uint64_t hash_bytes(const void *bytes, size_t len) { /* FNV-1a */
  const unsigned char *p = bytes;
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < len; i++) h = (h ^ p[i]) * 0x100000001b3u;
  return h;
}

static const nst_sweep_axis *axis_of(const nst_sweep_tables *t, int axis) { return &t->axes->axes[axis]; }

/* The number of a column with these values (copied if new). */
int nst_sweep_column_of(nst_sweep_tables *t, int axis, const int64_t *values) {
  size_t n = axis_of(t, axis)->ntuples;
  uint64_t hash = hash_bytes(values, n * sizeof *values);
  for (int i = 0; i < t->ncolumns[axis]; i++)
    if (t->columns[axis][i].hash == hash && !memcmp(t->columns[axis][i].values, values, n * sizeof *values)) return i;
  if (t->ncolumns[axis] == t->cap[axis]) {
    nst_sweep_column *more = NST_NEW_ARRAY(t->arena, 2 * t->cap[axis] + 8, nst_sweep_column);
    if (t->ncolumns[axis]) memcpy(more, t->columns[axis], (size_t)t->ncolumns[axis] * sizeof *more);
    t->columns[axis] = more;
    t->cap[axis] = 2 * t->cap[axis] + 8;
  }
  nst_sweep_column c = {NST_NEW_ARRAY(t->arena, n, int64_t), n ? values[0] : 1, n ? values[0] : 1, hash}; /* n may be 0: nothing fits */
  memcpy(c.values, values, n * sizeof *values);
  for (size_t i = 0; i < n; i++) {
    if (values[i] < c.least) c.least = values[i];
    if (values[i] > c.most) c.most = values[i];
  }
  t->columns[axis][t->ncolumns[axis]] = c;
  return t->ncolumns[axis]++;
}

void nst_sweep_tables_init(nst_sweep_tables *t, nst_arena *arena, const nst_sweep_axes *axes) {
  *t = (nst_sweep_tables){.arena = arena, .work = arena, .axes = axes, .naxes = axes->naxes - 1};
  t->columns = NST_NEW_ARRAY(arena, axes->naxes, nst_sweep_column *);
  t->ncolumns = NST_NEW_ARRAY(arena, axes->naxes, int);
  t->cap = NST_NEW_ARRAY(arena, axes->naxes, int);
  t->scratch = nst_group_scratch_new();
  for (int a = 0; a < t->naxes; a++) {
    int64_t *ones = NST_NEW_ARRAY(arena, axis_of(t, a)->ntuples, int64_t);
    for (size_t i = 0; i < axis_of(t, a)->ntuples; i++) ones[i] = 1;
    nst_sweep_column_of(t, a, ones);
  }
}

void nst_sweep_tables_fini(nst_sweep_tables *t) {
  nst_group_scratch_free(t->scratch);
  for (size_t i = 0; i < t->known_cap; i++) free(t->known[i].key);
  free(t->known);
}

/* ---- columns of plans ---- */

/* Everything that a group's columns depend on, with the template's nodes. */
static void describe(nst_buffer *b, const nst_ir_mapping *variant, const nst_plan_group *pg) {
  const nst_group *g = pg->group;
  nst_buffer_printf(b, "%d/%d/%d;", g->ndims, g->nsplits, g->naccesses);
  for (int i = 0; i < pg->ninputs; i++) {
    nst_input in = pg->inputs[i];
    nst_buffer_printf(b, "%d,%d,%d,%d,%d;", (int)in.kind, in.kind == NST_IN_TILE ? variant->nodes[in.a]->origin : in.a, in.b, in.c, in.d);
  }
  for (int i = 0; i < g->ndims; i++) nst_buffer_printf(b, "%d ", g->extents[i]);
  for (int i = 0; i < g->nsplits; i++)
    nst_buffer_printf(b, "%d,%d,%d;", (int)g->splits[i].kind, g->splits[i].dim, g->splits[i].input);
  for (int i = 0; i < g->naccesses; i++)
    for (int r = 0; r < g->accesses[i].nranks; r++) {
      const nst_group_rank *rank = &g->accesses[i].ranks[r];
      nst_buffer_printf(b, "r%d,%d,%d:", i, rank->offset, rank->size);
      for (int k = 0; k < rank->nterms; k++) nst_buffer_printf(b, "%d,%d;", rank->dims[k], rank->coefs[k]);
    }
}

static known *find_known(nst_sweep_tables *t, const char *key, size_t len) {
  if (2 * (t->nknown + 1) > t->known_cap) {
    size_t cap = t->known_cap ? 2 * t->known_cap : 256;
    known *more = calloc(cap, sizeof *more);
    if (!more) nst_out_of_memory();
    for (size_t i = 0; i < t->known_cap; i++) {
      if (!t->known[i].key) continue;
      size_t at = t->known[i].hash & (cap - 1);
      while (more[at].key) at = (at + 1) & (cap - 1);
      more[at] = t->known[i];
    }
    free(t->known);
    t->known = more;
    t->known_cap = cap;
  }
  uint64_t hash = hash_bytes(key, len);
  size_t at = hash & (t->known_cap - 1);
  for (; t->known[at].key; at = (at + 1) & (t->known_cap - 1))
    if (t->known[at].hash == hash && t->known[at].len == len && !memcmp(t->known[at].key, key, len)) return &t->known[at];
  t->known[at].hash = hash;
  return &t->known[at];
}

/* -1: of more than one; the partition into axes keeps groups whole, so that would be its mistake. */
static int axis_of_group(const nst_sweep_tables *t, const nst_plan_group *pg) {
  int axis = t->naxes;
  for (int i = 0; i < pg->group->ndims; i++) {
    int a = t->axes->axis_of_dim[pg->inputs[pg->group->extents[i]].a];
    if (a == t->naxes || a == axis) continue;
    if (axis != t->naxes) return -1;
    axis = a;
  }
  return axis;
}

/* All columns of a group, tabulated; out[c]: column number or, without an axis, value. */
static bool tabulate(nst_sweep_tables *t, const nst_ir_mapping *variant, const nst_plan_group *pg, int axis, nst_sweep_factor *out) {
  const nst_sweep_axis *x = axis_of(t, axis);
  int n = pg->ncolumns;
  int64_t *in = malloc(((size_t)pg->ninputs + 1) * sizeof *in), *row = malloc((size_t)n * sizeof *row);
  int64_t *table = malloc((size_t)n * (x->ntuples + 1) * sizeof *table);
  if (!in || !row || !table) nst_out_of_memory();
  bool good = true;
  for (size_t i = 0; i < x->ntuples && good; i++) {
    for (int k = 0; k < pg->ninputs; k++) {
      nst_input input = pg->inputs[k];
      /* A dimension that no parameter touches may lie in a group of this axis: its splits are the constant axis's. */
      const nst_sweep_axis *from = x;
      if (input.kind == NST_IN_TILE && !x->dims[variant->nodes[input.a]->dim]) from = axis_of(t, t->naxes);
      in[k] = nst_sweep_input(t->axes, from, from == x ? i : 0, variant, input);
    }
    good = nst_group_count(pg->group, in, row, t->scratch) == NST_GROUP_OK;
    for (int c = 0; c < n; c++) table[(size_t)c * x->ntuples + i] = row[c];
  }
  for (int c = 0; c < n && good; c++) {
    const int64_t *values = table + (size_t)c * x->ntuples;
    bool constant = true;
    for (size_t i = 1; i < x->ntuples; i++) constant = constant && values[i] == values[0];
    out[c] = constant ? (nst_sweep_factor){-1, 0, values[0]} : (nst_sweep_factor){axis, nst_sweep_column_of(t, axis, values), 0};
  }
  free(in);
  free(row);
  free(table);
  return good;
}

bool nst_sweep_factors(nst_sweep_tables *t, const nst_ir_mapping *variant, const nst_plan *plan, nst_sweep_factor *factors) {
  nst_buffer key = {0};
  bool good = true;
  for (int g = 0; g < plan->ngroups && good; g++) {
    const nst_plan_group *pg = &plan->groups[g];
    nst_buffer_clear(&key);
    describe(&key, variant, pg);
    size_t base = key.len;
    bool all = true;
    for (int c = 0; c < pg->ncolumns && all; c++) {
      nst_column col = pg->group->columns[c];
      key.len = base;
      nst_buffer_printf(&key, "c%d,%d,%d", (int)col.kind, col.advance, col.cut);
      known *k = find_known(t, key.text, key.len);
      if (k->key) factors[pg->first + c] = k->factor;
      else all = false;
    }
    if (all) continue;
    const int axis = axis_of_group(t, pg);
    good = axis >= 0 && tabulate(t, variant, pg, axis, factors + pg->first);
    for (int c = 0; c < pg->ncolumns && good; c++) {
      nst_column col = pg->group->columns[c];
      key.len = base;
      nst_buffer_printf(&key, "c%d,%d,%d", (int)col.kind, col.advance, col.cut);
      known *k = find_known(t, key.text, key.len);
      if (k->key) continue;
      k->key = malloc(key.len);
      if (!k->key) nst_out_of_memory();
      memcpy(k->key, key.text, key.len);
      k->len = key.len;
      k->factor = factors[pg->first + c];
      t->nknown++;
    }
  }
  nst_buffer_fini(&key);
  return good;
}

/* ---- polynomials ---- */

/* -1: past 63 bits. Products of factors of one product of a plan never are: they do not pass the operations. */
static int multiply_columns(nst_sweep_tables *t, int axis, int a, int b) {
  if (!a) return b;
  if (!b) return a;
  size_t n = axis_of(t, axis)->ntuples;
  int64_t *product = malloc((n + 1) * sizeof *product);
  if (!product) nst_out_of_memory();
  bool over = false;
  for (size_t i = 0; i < n; i++) over |= __builtin_mul_overflow(t->columns[axis][a].values[i], t->columns[axis][b].values[i], &product[i]);
  int c = over ? -1 : nst_sweep_column_of(t, axis, product);
  free(product);
  return c;
}

/* A product of columns may be constant after all. */
static bool fold_constants(const nst_sweep_tables *t, int *columns, nst_rat *coef) {
  for (int a = 0; a < t->naxes; a++) {
    const nst_sweep_column *c = &t->columns[a][columns[a]];
    if (!columns[a] || c->least != c->most) continue;
    if (!nst_rat_mul(coef, *coef, nst_rat_int(c->least))) return false;
    columns[a] = 0;
  }
  return true;
}

static bool add_term(nst_sweep_tables *t, nst_sweep_poly *poly, nst_rat coef, const int *columns) {
  for (int i = 0; i < poly->nterms; i++)
    if (!memcmp(poly->terms[i].columns, columns, (size_t)t->naxes * sizeof *columns))
      return nst_rat_add(&poly->terms[i].coef, poly->terms[i].coef, coef);
  if (poly->nterms == poly->cap) {
    nst_sweep_term *more = NST_NEW_ARRAY(t->work, 2 * poly->cap + 8, nst_sweep_term);
    if (poly->nterms) memcpy(more, poly->terms, (size_t)poly->nterms * sizeof *more);
    poly->terms = more;
    poly->cap = 2 * poly->cap + 8;
  }
  int *copy = NST_NEW_ARRAY(t->work, t->naxes + 1, int);
  memcpy(copy, columns, (size_t)t->naxes * sizeof *copy);
  poly->terms[poly->nterms++] = (nst_sweep_term){coef, copy};
  return true;
}

bool nst_sweep_poly_add(nst_sweep_tables *t, nst_sweep_poly *poly, nst_rat weight, const nst_formula *f, const nst_sweep_factor *factors) {
  int columns[65];
  for (int i = 0; i < f->nproducts; i++) {
    const nst_product *p = &f->products[i];
    memset(columns, 0, sizeof columns);
    nst_rat coef = weight;
    if (p->sign < 0 && !nst_rat_neg(&coef, coef)) return false;
    for (int k = 0; k < p->ncolumns; k++) {
      nst_sweep_factor x = factors[p->columns[k]];
      if (x.axis < 0 ? !nst_rat_mul(&coef, coef, nst_rat_int(x.value)) : false) return false;
      if (x.axis >= 0 && (columns[x.axis] = multiply_columns(t, x.axis, columns[x.axis], x.column)) < 0) return false;
    }
    if (!fold_constants(t, columns, &coef)) return false;
    if (coef.num && !add_term(t, poly, coef, columns)) return false;
  }
  return true;
}

bool nst_sweep_poly_add_column(nst_sweep_tables *t, nst_sweep_poly *poly, nst_rat weight, int axis, const int64_t *values) {
  int columns[65] = {0};
  columns[axis] = nst_sweep_column_of(t, axis, values);
  return fold_constants(t, columns, &weight) && add_term(t, poly, weight, columns);
}

bool nst_sweep_poly_add_param(nst_sweep_tables *t, nst_sweep_poly *poly, nst_rat weight, int point) {
  for (int a = 0; a < t->naxes; a++) {
    const nst_sweep_axis *x = axis_of(t, a);
    for (int k = 0; k < x->all.nparams; k++) {
      if (x->all.which[k] != point) continue;
      int64_t *values = malloc((x->ntuples + 1) * sizeof *values);
      if (!values) nst_out_of_memory();
      for (size_t i = 0; i < x->ntuples; i++) values[i] = x->all.values[x->which[i] * (size_t)x->all.nparams + (size_t)k];
      const bool good = nst_sweep_poly_add_column(t, poly, weight, a, values);
      free(values);
      return good;
    }
  }
  return false;
}

bool nst_sweep_poly_multiply(nst_sweep_tables *t, nst_sweep_poly *poly, const int *columns) {
  nst_sweep_poly product = {0};
  int all[65];
  for (int i = 0; i < poly->nterms; i++) {
    nst_rat coef = poly->terms[i].coef;
    for (int a = 0; a < t->naxes; a++)
      if ((all[a] = multiply_columns(t, a, poly->terms[i].columns[a], columns[a])) < 0) return false;
    if (!fold_constants(t, all, &coef) || !add_term(t, &product, coef, all)) return false;
  }
  *poly = product;
  return true;
}

static int compare_columns(const int *a, const int *b, int n) {
  for (int i = 0; i < n; i++)
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  return 0;
}

void nst_sweep_poly_finish(const nst_sweep_tables *t, nst_sweep_poly *poly) {
  int n = 0;
  for (int i = 0; i < poly->nterms; i++) {
    if (!poly->terms[i].coef.num) continue;
    nst_sweep_term term = poly->terms[i];
    int k = n++;
    for (; k > 0 && compare_columns(poly->terms[k - 1].columns, term.columns, t->naxes) > 0; k--) poly->terms[k] = poly->terms[k - 1];
    poly->terms[k] = term;
  }
  poly->nterms = n;
}
