/* Sites: the mapping at other parameters and, where a size of its workload is a
 * plain number, at other sizes.
 *
 * Each parameter is varied alone over the numbers at which formulas break (1, 2,
 * the extents that it splits, one less and one more, their divisors, halves and
 * doubles), then all of them together at random. What the mapping refuses there
 * is left out. All sites together have a budget, so that a mapping whose counts
 * take long is tried at fewer. */
#include "driver/explain_sites.h"

#include <string.h>

enum { POOL = 48, ALONE = 240, TOGETHER = 1600, SIZES = 12, SIZED = 60 };

static const uint64_t BUDGET = UINT64_C(1) << 30; /* steps: some seconds */

typedef struct {
  int n, nedges;
  int64_t value[POOL], edge[8]; /* edge: the extents that the parameter splits */
  int64_t most;
} pool;
typedef struct {
  const nst_explain *x;
  nst_site_call *f;
  void *context;
  nst_arena *arena;
  uint64_t random;
  pool *pools;       /* [nparams]; empty: not varied */
  nst_value *params; /* of the site at hand */
  uint64_t left;     /* of the budget */
  int n;
} sites;

/* ---- numbers ---- */

static uint64_t draw(sites *s, uint64_t below) { /* splitmix64 */
  uint64_t z = s->random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) % below;
}

static void put(pool *p, int64_t v) {
  if (v < 1 || p->n == POOL) return;
  for (int i = 0; i < p->n; i++)
    if (p->value[i] == v) return;
  p->value[p->n++] = v;
  if (v > p->most) p->most = v;
}

static void put_around(pool *p, int64_t v) {
  const int64_t around[] = {v, v - 1, v + 1, v / 2, v / 2 + 1, v / 3 + 1, v < INT64_MAX / 2 ? 2 * v : v};
  for (size_t i = 0; i < sizeof around / sizeof *around; i++) put(p, around[i]);
}

static bool mentions(const nst_ir_mapping *m, const nst_expr *e, int param) {
  if (!e) return false;
  if (e->kind == NST_X_PARAM) return e->index == param;
  if (e->kind == NST_X_VALUE) return mentions(m, m->scope.values[e->index].value, param);
  return mentions(m, e->a, param) || mentions(m, e->b, param) || mentions(m, e->c, param);
}

/* The numbers a parameter is tried at: around its own, and around the extents of the dimensions that it splits. */
static void fill(pool *p, const nst_explain *x, int param) {
  int64_t own;
  if (!nst_value_to_i64(&own, &x->point[param]) || own < 1 || own > INT32_MAX) return;
  put_around(p, own);
  put(p, 1), put(p, 2), put(p, 3);
  for (int i = 0; i < x->m->nnodes; i++) {
    const nst_ir_node *n = x->m->nodes[i];
    if (!nst_is_split(n) || !mentions(x->m, n->size, param)) continue;
    const int64_t all = x->nest->extent[n->dim];
    put_around(p, all);
    /* Far beyond, where what is spread over the places of an array needs more of them than there are. */
    if (all < INT32_MAX) put(p, 3 * all + 1), put(p, 5 * all + 2), put(p, 16 * all + 5), put(p, 64 * all + 7);
    if (p->nedges < 8) p->edge[p->nedges++] = all;
    for (int64_t d = 2, found = 0; d <= all / 2 && d < 4096 && found < 4; d++)
      if (all % d == 0) put(p, all / d), put(p, d), found++;
  }
}

/* ---- one site ---- */

typedef struct {
  const nst_ir_mapping *m;
  bool same_sizes;
  uint64_t fuel, given;
  nst_nest_maker *maker;
  nst_analysis *analysis;
  nst_counts *counts;
} counter;

/* No site has more than an evaluation has, nor than is left for all. */
static void refuel(const sites *s, counter *c) {
  const uint64_t most = s->x->e->fuel ? s->x->e->program->settings.limits.fuel : UINT64_MAX;
  c->fuel = c->given = most < s->left ? most : s->left;
}

static void pay(sites *s, const counter *c) { s->left -= c->given - c->fuel; }

static void counter_init(counter *c, sites *s, const nst_ir_mapping *m, bool same_sizes) {
  *c = (counter){.m = m, .same_sizes = same_sizes};
  refuel(s, c);
  c->maker = nst_nest_maker_new(m);
  nst_nest_maker_set_fuel(c->maker, &c->fuel);
  c->analysis = nst_analysis_new_within(m, &c->fuel);
  pay(s, c);
  c->counts = nst_counts_new(s->arena, m);
}

static void counter_fini(counter *c) {
  nst_analysis_free(c->analysis);
  nst_nest_maker_free(c->maker);
}

static void visit(sites *s, counter *c) {
  if (!s->left) return;
  refuel(s, c);
  const nst_nest *nest = nst_nest_make(c->maker, s->params, NULL);
  const bool good = nest && nst_analysis_count(c->analysis, nest, c->counts, NULL);
  pay(s, c);
  if (!good) return;
  nst_explain site = *s->x;
  site.nest = nest;
  site.counts = c->counts;
  site.point = s->params;
  site.arena = nst_arena_new();
  s->f(s->context, &site, c->same_sizes);
  s->n++;
  nst_arena_free(site.arena);
}

static void set(sites *s, int param, int64_t v) {
  s->params[param] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(v)};
}

static void reset(sites *s) { memcpy(s->params, s->x->point, (size_t)s->x->m->scope.nparams * sizeof *s->params); }

static void alone(sites *s, counter *c) {
  int left = ALONE;
  for (int k = 0; k < POOL && left > 0; k++)
    for (int i = 0; i < s->x->m->scope.nparams && left > 0; i++) {
      if (k >= s->pools[i].n) continue;
      reset(s);
      set(s, i, s->pools[i].value[k]);
      visit(s, c);
      left--;
    }
}

/* A number for a parameter: often an extent or one past it, a small one, or that of another parameter, as formulas
 * break where those meet. */
static int64_t any(sites *s, const pool *p) {
  const int64_t edge = p->nedges ? p->edge[draw(s, (uint64_t)p->nedges)] : p->value[draw(s, (uint64_t)p->n)];
  switch (draw(s, 8)) {
  case 0: return edge;
  case 1: return edge + 1 + (int64_t)draw(s, 3);
  case 2: return 1 + (int64_t)draw(s, 3);
  case 3: return edge > 1 ? edge - 1 : 1;
  case 4: return 1 + (int64_t)draw(s, (uint64_t)p->most);
  case 5: return 1 + (int64_t)draw(s, (uint64_t)(edge < 16 ? edge : 16));
  case 6: {
    int64_t v;
    const int other = (int)draw(s, (uint64_t)s->x->m->scope.nparams + 1);
    if (other < s->x->m->scope.nparams && nst_value_to_i64(&v, &s->params[other]) && v >= 1 && v < INT32_MAX)
      return v + (int64_t)draw(s, 2);
    return edge;
  }
  }
  return p->value[draw(s, (uint64_t)p->n)];
}

static void together(sites *s, counter *c, int n) {
  bool varied = false;
  for (int i = 0; i < s->x->m->scope.nparams; i++) varied = varied || s->pools[i].n;
  for (int k = 0; k < n && (varied || !k); k++) {
    reset(s);
    const uint64_t share = 2 + draw(s, 4); /* of six parameters that move */
    for (int i = 0; i < s->x->m->scope.nparams; i++)
      if (s->pools[i].n && draw(s, 6) < share) set(s, i, any(s, &s->pools[i]));
    visit(s, c);
  }
}

/* ---- other sizes ---- */

static void mark(const nst_ir_mapping *m, const nst_expr *e, bool *used) {
  if (!e) return;
  if (e->kind == NST_X_VALUE && !used[e->index]) {
    used[e->index] = true;
    mark(m, m->scope.values[e->index].value, used);
  }
  mark(m, e->a, used);
  mark(m, e->b, used);
  mark(m, e->c, used);
}

static void mark_access(const nst_ir_mapping *m, const nst_ir_access *a, bool *used) {
  for (int r = 0; r < a->nranks; r++) {
    mark(m, a->ranks[r].offset, used);
    for (int t = 0; t < a->ranks[r].nterms; t++) mark(m, a->ranks[r].terms[t].coef, used);
  }
}

/* The named values that are sizes: plain numbers that extents are made of. Strides and paddings stay as they are: they
 * stand in a text as their numbers. */
static bool *find_sizes(const sites *s, int *n) {
  const nst_ir_mapping *m = s->x->m;
  bool *size = NST_NEW_ARRAY(s->arena, m->scope.nvalues + 1, bool);
  bool *fixed = NST_NEW_ARRAY(s->arena, m->scope.nvalues + 1, bool);
  for (int d = 0; d < m->workload.ndims; d++) mark(m, m->workload.dims[d].extent, size);
  for (int i = 0; i < m->workload.nstmts; i++) {
    mark_access(m, &m->workload.stmts[i].out, fixed);
    for (int k = 0; k < m->workload.stmts[i].nin; k++) mark_access(m, &m->workload.stmts[i].in[k], fixed);
  }
  *n = 0;
  for (int i = 0; i < m->scope.nvalues; i++) {
    const nst_expr *e = m->scope.values[i].value;
    int64_t v;
    size[i] =
      size[i] && !fixed[i] && e && e->kind == NST_X_CONST && nst_rat_to_i64(&v, e->value) && v >= 1 && v <= INT32_MAX;
    *n += size[i];
  }
  return size;
}

static void other_sizes(sites *s) {
  int n;
  const bool *size = find_sizes(s, &n);
  for (int k = 0; k < SIZES && n; k++) {
    nst_ir_mapping *m = NST_NEW(s->arena, nst_ir_mapping);
    *m = *s->x->m;
    m->scope.values = NST_NEW_ARRAY(s->arena, m->scope.nvalues + 1, nst_ir_value);
    memcpy(m->scope.values, s->x->m->scope.values, (size_t)m->scope.nvalues * sizeof *m->scope.values);
    for (int i = 0; i < m->scope.nvalues; i++) {
      int64_t own;
      if (!size[i] || !nst_rat_to_i64(&own, m->scope.values[i].value->value) || !draw(s, 3)) continue;
      pool p = {0};
      put_around(&p, own);
      put(&p, 1 + (int64_t)draw(s, 2));
      nst_expr *e = NST_NEW(s->arena, nst_expr);
      *e = *m->scope.values[i].value;
      e->value = nst_rat_int(any(s, &p));
      m->scope.values[i].value = e;
    }
    counter c;
    counter_init(&c, s, m, false);
    if (c.analysis) together(s, &c, SIZED);
    counter_fini(&c);
  }
}

int nst_explain_sites(const nst_explain *x, nst_site_call *f, void *context) {
  sites s = {.x = x, .f = f, .context = context, .arena = nst_arena_new(), .random = 1, .left = BUDGET};
  const int n = x->m->scope.nparams;
  s.pools = NST_NEW_ARRAY(s.arena, n + 1, pool);
  s.params = NST_NEW_ARRAY(s.arena, n + 1, nst_value);
  for (int i = 0; i < n; i++) fill(&s.pools[i], x, i);
  counter c;
  counter_init(&c, &s, x->m, true);
  reset(&s);
  if (c.analysis) {
    visit(&s, &c);
    alone(&s, &c);
    together(&s, &c, TOGETHER);
  }
  counter_fini(&c);
  other_sizes(&s);
  nst_arena_free(s.arena);
  return s.n;
}
