#include "compiled.h"

#include "frontend/compile.h"

#include <stdio.h>
#include <string.h>

void compile_text(compiled *c, const char *name, const char *text, size_t len) {
  c->arena = nst_arena_new();
  c->interner = nst_interner_new(c->arena);
  c->sources = nst_sources_new(c->arena);
  c->diags = nst_diags_new(c->arena, c->sources);
  uint32_t source = nst_sources_add(c->sources, name, text, len);
  c->program = nst_frontend_compile(c->arena, c->interner, c->sources, c->diags, NULL, source);
}

void compiled_fini(compiled *c) {
  nst_interner_free(c->interner);
  nst_arena_free(c->arena);
}

const char *compiled_messages(compiled *c) {
  nst_buffer b = {0};
  nst_diags_render(c->diags, &b, false);
  const char *text = nst_arena_strndup(c->arena, b.text ? b.text : "", b.len);
  nst_buffer_fini(&b);
  return text;
}

void count_mapping(counted *n, compiled *c, const nst_ir_mapping *m, const nst_expr *const *args, uint64_t limit) {
  int nparams = m->scope.nparams;
  nst_value *params = NST_NEW_ARRAY(c->arena, nparams, nst_value);
  bool *given = NST_NEW_ARRAY(c->arena, nparams, bool);
  nst_eval_env env = {.params = params};
  *n = (counted){.c = c, .m = m, .maker = nst_nest_maker_new(m)};
  for (int i = 0; args && i < nparams; i++)
    given[i] = args[i] && nst_expr_eval(&params[i], args[i], &env, NULL) == NST_EVAL_OK;
  if (!nst_nest_defaults(params, given, m, c->diags)) return;
  n->nest = nst_nest_make(n->maker, params, c->diags);
  if (!n->nest) return;
  nst_counts *counts = nst_counts_new(c->arena, m);
  if (!nst_simulate(n->nest, counts, limit, c->diags)) return;
  n->counts = counts;
  n->has_metrics = nst_metrics_compute(&n->metrics, c->arena, n->nest, counts, c->diags);
}

void counted_fini(counted *n) { nst_nest_maker_free(n->maker); }

double counted_metric(const counted *n, const char *metric, const char *level, const char *tensor) {
  nst_expr e = {.kind = NST_X_METRIC, .metric = NST_METRIC_COUNT, .level = -1, .tensor = -1};
  nst_metrics_view view = {n->nest, n->counts, &n->metrics};
  nst_value v;
  for (int i = 0; i < NST_METRIC_COUNT; i++)
    if (!strcmp(nst_metric_name((nst_metric)i), metric)) e.metric = (nst_metric)i;
  for (int i = 0; level && i < n->m->hardware.nlevels; i++)
    if (!strcmp(n->m->hardware.levels[i].name, level)) e.level = i;
  for (int i = 0; tensor && i < n->m->workload.ntensors; i++)
    if (!strcmp(n->m->workload.tensors[i].name, tensor)) e.tensor = i;
  assert_true(e.metric != NST_METRIC_COUNT && (!level || e.level >= 0) && (!tensor || e.tensor >= 0));
  assert_true(n->counts && n->has_metrics);
  if (nst_metrics_lookup(&view, &e, &v) != NST_EVAL_OK) return -1;
  return v.kind == NST_VALUE_BOOL ? v.truth : nst_rat_to_double(v.rat);
}

/* The two sides of a comparison that failed. */
static void explain(nst_buffer *log, const nst_expr *e, const nst_eval_env *env, const counted *n,
                    const nst_ir_test *t) {
  const nst_ir_mapping *m = n->m;
  nst_name *levels = NST_NEW_ARRAY(n->c->arena, m->hardware.nlevels, nst_name);
  nst_name *tensors = NST_NEW_ARRAY(n->c->arena, m->workload.ntensors, nst_name);
  for (int i = 0; i < m->hardware.nlevels; i++) levels[i] = m->hardware.levels[i].name;
  for (int i = 0; i < m->workload.ntensors; i++) tensors[i] = m->workload.tensors[i].name;
  nst_expr_names names = {NULL, NULL, levels, tensors};
  nst_buffer_printf(log, "%s: ", nst_sources_get(n->c->sources, t->span.source)->name);
  nst_expr_print_named(log, e, &names);
  if (e->kind >= NST_X_EQ && e->kind <= NST_X_GE) {
    nst_value a, b;
    if (nst_expr_eval(&a, e->a, env, NULL) == NST_EVAL_OK && nst_expr_eval(&b, e->b, env, NULL) == NST_EVAL_OK &&
        a.kind == NST_VALUE_RAT && b.kind == NST_VALUE_RAT) {
      nst_buffer_puts(log, ": ");
      nst_expr_print_number(log, a.rat);
      nst_buffer_puts(log, " and ");
      nst_expr_print_number(log, b.rat);
    }
  }
  nst_buffer_putc(log, '\n');
}

static int evaluate_test(compiled *c, const nst_ir_test *t, uint64_t limit, agree *engines, nst_buffer *log) {
  const nst_ir_mapping *m = c->program->mappings[t->mapping];
  counted n;
  count_mapping(&n, c, m, t->args, limit);
  if (!n.has_metrics) {
    bool large = nst_diags_count(c->diags) > 0 && nst_diags_get(c->diags, 0)->id == NST_D_SIMULATE_LIMIT;
    if (!large) nst_buffer_puts(log, compiled_messages(c));
    counted_fini(&n);
    return 0;
  }
  nst_metrics_view view = {n.nest, n.counts, &n.metrics};
  nst_value *values = NST_NEW_ARRAY(c->arena, m->scope.nvalues + t->nlets, nst_value);
  nst_value *params = NST_NEW_ARRAY(c->arena, m->scope.nparams, nst_value);
  bool *given = NST_NEW_ARRAY(c->arena, m->scope.nparams, bool);
  nst_eval_env env = {.params = params, .values = values, .metric = nst_metrics_lookup, .metric_ctx = &view};
  for (int i = 0; i < m->scope.nparams; i++)
    given[i] = t->args && t->args[i] && nst_expr_eval(&params[i], t->args[i], &env, NULL) == NST_EVAL_OK;
  assert_true(nst_nest_defaults(params, given, m, c->diags));
  const char *difference = engines ? agree_differ(engines, c->arena, n.nest, params, n.counts) : NULL;
  if (difference)
    nst_buffer_printf(log, "%s: %s: %s\n", nst_sources_get(c->sources, t->span.source)->name, m->name, difference);
  for (int i = 0; i < m->scope.nvalues; i++) values[i] = n.nest->values[i];
  for (int i = 0; i < t->nlets; i++)
    assert_int_equal(nst_expr_eval(&values[m->scope.nvalues + i], t->lets[i].value, &env, NULL), NST_EVAL_OK);
  for (int i = 0; i < t->nexpects; i++) {
    nst_value v;
    nst_eval_status s = nst_expr_eval(&v, t->expects[i].value, &env, NULL);
    if (s != NST_EVAL_OK || v.kind != NST_VALUE_BOOL || !v.truth) explain(log, t->expects[i].value, &env, &n, t);
  }
  counted_fini(&n);
  return t->nexpects;
}

int compiled_expectations(compiled *c, uint64_t limit, agree *engines, nst_buffer *log) {
  int evaluated = 0;
  for (int i = 0; i < c->program->ntests; i++) evaluated += evaluate_test(c, &c->program->tests[i], limit, engines, log);
  return evaluated;
}
