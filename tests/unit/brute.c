#include "brute.h"
#include "test.h"

#include "backend/interpreter.h"
#include "ir/set.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
  brute *b;
  nst_value *params, *values;
  bool *given;
  uint64_t *places;
  nst_variants variants;
  nst_interpreter **interpreters;
  nst_metrics *metrics;
  bool count;
} lister;

/* Named values in order; those that cannot be known yet get a number that nothing uses. */
static nst_eval_status eval(void *context, const nst_expr *e, nst_value *out, nst_span *where) {
  lister *l = context;
  const nst_eval_env env = {.params = l->params, .values = l->values};
  for (int i = 0; i < l->b->m->scope.nvalues; i++)
    if (nst_expr_eval(&l->values[i], l->b->m->scope.values[i].value, &env, where) != NST_EVAL_OK)
      l->values[i] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(1)};
  return nst_expr_eval(out, e, &env, where);
}

static nst_rat number(const nst_expr *e, const nst_eval_env *env) {
  nst_value v;
  nst_span where;
  assert_int_equal(nst_expr_eval(&v, e, env, &where), NST_EVAL_OK);
  if (v.kind == NST_VALUE_BOOL) return nst_rat_int(v.truth);
  if (v.kind == NST_VALUE_RAT) return v.rat;
  nst_rat r; /* of reals only those that a double holds with few digits are compared */
  assert_true(nst_rat_make(&r, (nst_i128)(v.real * 0x1p48), (nst_i128)1 << 48));
  assert_true(nst_rat_to_double(r) == v.real);
  return r;
}

static void count(lister *l, brute_point *p) {
  const nst_ir_sweep *s = l->b->s;
  nst_interpreter *i = l->interpreters[p->p.variant];
  nst_metrics *metrics = &l->metrics[p->p.variant];
  const nst_counts *c = nst_interpreter_eval(i, l->params, NULL);
  p->kind = BRUTE_DROPPED;
  if (!c) return;
  const nst_nest *nest = nst_interpreter_nest(i);
  assert_true(nst_metrics_compute(metrics, metrics->levels ? NULL : l->b->arena, nest, c, NULL));
  nst_metrics_view view = {nest, c, metrics};
  const nst_eval_env env = {
    .params = l->params, .values = nest->values, .metric = nst_metrics_lookup, .metric_ctx = &view};
  p->kind = BRUTE_OTHER;
  for (int w = 0; w < s->nwhere; w++)
    if (number(s->where[w].value, &env).num == 0) return;
  p->kind = BRUTE_VALID;
  for (int o = 0; o < s->nobjectives; o++) p->p.metrics[o] = number(s->objectives[o], &env);
  for (int o = 0; o < s->npareto; o++) p->p.metrics[s->nobjectives + o] = number(s->pareto[o], &env);
}

static void add(lister *l) {
  brute *b = l->b;
  const int n = b->s->npoints, nmetrics = b->s->nobjectives + b->s->npareto;
  assert_true(nst_nest_defaults(l->params, l->given, b->m, NULL));
  for (uint64_t v = 0; v < (l->count ? l->variants.count : 1); v++) {
    if (b->n == b->cap) {
      b->cap = b->cap ? 2 * b->cap : 1024;
      b->points = realloc(b->points, b->cap * sizeof *b->points);
      assert_non_null(b->points);
    }
    brute_point *p = &b->points[b->n++];
    *p = (brute_point){.values = NST_NEW_ARRAY(b->arena, n, nst_rat)};
    p->p = (nst_sweep_point){.variant = v,
                             .params = NST_NEW_ARRAY(b->arena, n, int64_t),
                             .places = NST_NEW_ARRAY(b->arena, n, uint64_t),
                             .metrics = NST_NEW_ARRAY(b->arena, nmetrics, nst_rat)};
    for (int k = 0; k < n; k++) {
      p->values[k] = l->params[b->s->points[k].param].rat;
      if (!nst_rat_to_i64(&p->p.params[k], p->values[k])) p->p.params[k] = 0;
      p->p.places[k] = l->places[k];
    }
    if (l->count) count(l, p);
    b->valid += p->kind == BRUTE_VALID;
    b->dropped += p->kind == BRUTE_DROPPED;
    b->evaluated += p->kind != BRUTE_DROPPED;
  }
}

static void enumerate(lister *l, int k) {
  if (k == l->b->s->npoints) {
    add(l);
    return;
  }
  const nst_ir_point *point = &l->b->s->points[k];
  assert_true(nst_nest_defaults(l->params, l->given, l->b->m, NULL));
  nst_set set = {0};
  nst_span where;
  assert_null(nst_set_open(&set, &point->set, eval, l, &where));
  for (uint64_t i = 0; i < set.count; i++) {
    l->params[point->param] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_set_get(&set, i)};
    l->places[k] = i;
    enumerate(l, k + 1);
  }
  nst_set_fini(&set);
}

/* ---- sorting ---- */

static const brute *sorted; /* qsort passes no context, and a test is one thread */

static int by_objectives(const void *x, const void *y) {
  const brute_point *const *a = x, *const *b = y;
  for (int o = 0; o < sorted->s->nobjectives; o++) {
    const int c = nst_rat_cmp((*a)->p.metrics[o], (*b)->p.metrics[o]);
    if (c) return sorted->s->maximize ? -c : c;
  }
  return *a < *b ? -1 : *a > *b; /* points stand in enumeration order */
}

static int by_front(const void *x, const void *y) {
  const brute_point *const *a = x, *const *b = y;
  for (int o = 0; o < sorted->s->npareto; o++) {
    const int at = sorted->s->nobjectives + o, c = nst_rat_cmp((*a)->p.metrics[at], (*b)->p.metrics[at]);
    if (c) return c;
  }
  return *a < *b ? -1 : *a > *b;
}

static bool dominates(const brute *b, const brute_point *x, const brute_point *y) {
  bool less = false;
  for (int o = 0; o < b->s->npareto; o++) {
    const int at = b->s->nobjectives + o, c = nst_rat_cmp(x->p.metrics[at], y->p.metrics[at]);
    if (c > 0) return false;
    less = less || c < 0;
  }
  return less || x < y;
}

void brute_new(brute *b, const nst_ir_mapping *m, const nst_ir_sweep *s, size_t top, bool counting) {
  nst_arena *arena = nst_arena_new();
  *b = (brute){.arena = arena, .m = m, .s = s};
  lister l = {.b = b,
              .params = NST_NEW_ARRAY(arena, m->scope.nparams, nst_value),
              .values = NST_NEW_ARRAY(arena, m->scope.nvalues, nst_value),
              .given = NST_NEW_ARRAY(arena, m->scope.nparams, bool),
              .places = NST_NEW_ARRAY(arena, s->npoints, uint64_t),
              .count = counting};
  assert_null(nst_variants_init(&l.variants, arena, m));
  l.interpreters = NST_NEW_ARRAY(arena, l.variants.count, nst_interpreter *);
  l.metrics = NST_NEW_ARRAY(arena, l.variants.count, nst_metrics);
  for (uint64_t v = 0; counting && v < l.variants.count; v++)
    l.interpreters[v] = nst_interpreter_new(nst_variant_make(arena, &l.variants, v));
  for (int k = 0; k < s->npoints; k++) {
    l.given[s->points[k].param] = true;
    l.params[s->points[k].param] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(1)};
  }
  enumerate(&l, 0);
  for (uint64_t v = 0; counting && v < l.variants.count; v++) nst_interpreter_free(l.interpreters[v]);
  b->best = NST_NEW_ARRAY(arena, b->n, const brute_point *);
  b->front = NST_NEW_ARRAY(arena, b->n, const brute_point *);
  for (size_t i = 0; i < b->n; i++) {
    const brute_point *p = &b->points[i];
    if (p->kind != BRUTE_VALID) continue;
    if (s->nobjectives) b->best[b->nbest++] = p;
    if (!s->npareto) continue;
    bool stays = true;
    size_t n = 0;
    for (size_t f = 0; f < b->nfront && stays; f++) stays = !dominates(b, b->front[f], p);
    if (!stays) continue;
    for (size_t f = 0; f < b->nfront; f++)
      if (!dominates(b, p, b->front[f])) b->front[n++] = b->front[f];
    b->front[n++] = p;
    b->nfront = n;
  }
  sorted = b;
  qsort(b->best, b->nbest, sizeof *b->best, by_objectives);
  qsort(b->front, b->nfront, sizeof *b->front, by_front);
  if (b->nbest > top) b->nbest = top;
}

void brute_free(brute *b) {
  free(b->points);
  nst_arena_free(b->arena);
}

static void same_point(const brute *b, const brute_point *x, const nst_sweep_point *y) {
  assert_int_equal(x->p.variant, y->variant);
  for (int k = 0; k < b->s->npoints; k++) {
    assert_int_equal(x->p.places[k], y->places[k]);
    assert_int_equal(x->p.params[k], y->params[k]);
  }
  for (int i = 0; i < b->s->nobjectives + b->s->npareto; i++)
    assert_int_equal(nst_rat_cmp(x->p.metrics[i], y->metrics[i]), 0);
}

void brute_check(const brute *b, nst_sweep_result *r, bool exact) {
  const nst_sweep_tally *t = nst_sweep_result_tally(r);
  assert_int_equal(t->evaluated + t->pruned + t->duplicates + t->dropped, b->n);
  if (exact) {
    assert_int_equal(t->pruned, 0);
    assert_int_equal(t->dropped + t->duplicates + t->evaluated, b->dropped + b->evaluated);
    if (!t->duplicates) {
      assert_int_equal(t->dropped, b->dropped);
      assert_int_equal(t->valid, b->valid);
    }
  }
  assert_int_equal(nst_sweep_result_nbest(r), b->nbest);
  for (size_t i = 0; i < b->nbest; i++) same_point(b, b->best[i], nst_sweep_result_best(r, i));
  assert_int_equal(nst_sweep_result_nfront(r), b->nfront);
  for (size_t i = 0; i < b->nfront; i++) same_point(b, b->front[i], nst_sweep_result_front(r, i));
}
