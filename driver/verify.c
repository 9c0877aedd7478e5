/* verify: a model against the reference, at every point of the cross product.
 *
 * Points come in the order of the sets, the last one fastest. At each, the
 * mapping is evaluated by the analysis and the model by its closed forms; the
 * first point at which they differ ends the run and is printed. Mappings that
 * do not fit count like any other. A point at which the mapping has no meaning
 * (a tile that is no positive integer, a par that does not fit its axis) is
 * passed over and counted. */
#include "driver/expectation.h"
#include "driver/model.h"
#include "driver/pipeline.h"
#include "driver/tests.h"
#include "ir/set.h"

#include <stdlib.h>

typedef struct {
  const nestor_program *program;
  const nst_ir_verify *verify;
  nst_model_values model;
  nestor_eval *eval;
  nst_set *sets;            /* [npoints] */
  uint64_t dropped;
  nestor_test *out;
  nst_buffer *details;
  bool stop, found; /* found: a counterexample */
} verifier;

static nst_eval_status eval_in_mapping(void *context, const nst_expr *e, nst_value *out, nst_span *where) {
  return nst_eval_expr(context, e, out, where);
}

static void print_point(verifier *v) {
  const nst_ir_verify *verify = v->verify;
  for (int i = 0; i < verify->npoints; i++) {
    const int param = verify->points[i].param;
    nst_buffer_printf(v->details, "%s%s = ", i ? ", " : "", v->eval->ir->scope.params[param].name);
    nst_value_print(v->details, &v->eval->set[param]);
  }
}

static void begin_failure(verifier *v) {
  v->out->failed = 1;
  v->stop = v->found = true;
  nst_buffer_puts(v->details, "  first counterexample: ");
  print_point(v);
  nst_buffer_putc(v->details, '\n');
}

/* NULL, or what an output or a parameter of the model has no value for. */
static const char *run_model(verifier *v, nst_eval_status *status) {
  const nst_ir_scope *scope = &v->model.ir->scope;
  nst_span where;
  uint64_t fuel = UINT64_C(1) << 26;
  const nst_eval_env outer = {.params = v->eval->params, .values = v->eval->nest->values, .fuel = &fuel};
  for (int i = 0; i < scope->nparams; i++) {
    *status = nst_expr_eval(&v->model.params[i], v->verify->bind[i], &outer, &where);
    if (*status != NST_EVAL_OK) return scope->params[i].name;
  }
  bool lost = !nst_model_values_run(&v->model, &fuel);
  for (int i = 0; !lost && i < v->model.ir->nouts; i++) lost = !nst_model_values_out(&v->model, i);
  for (int i = 0; lost && i < scope->nvalues; i++) {
    *status = v->model.status[i];
    if (*status != NST_EVAL_OK && *status != NST_EVAL_NO_VALUE) return scope->values[i].name;
  }
  return NULL;
}

static double as_double(const nst_value *v) {
  return v->kind == NST_VALUE_RAT ? nst_rat_to_double(v->rat) : v->kind == NST_VALUE_REAL ? v->real : v->truth;
}

static bool same(const nst_value *a, const nst_value *b) {
  if (a->kind == NST_VALUE_RAT && b->kind == NST_VALUE_RAT) return nst_rat_cmp(a->rat, b->rat) == 0;
  if ((a->kind == NST_VALUE_BOOL) != (b->kind == NST_VALUE_BOOL)) return false;
  return as_double(a) == as_double(b);
}

static void check(verifier *v, const nst_ir_check *c, const nst_eval_env *env) {
  const nst_value *claimed = nst_model_values_out(&v->model, c->out);
  nst_value reference;
  nst_span where;
  const nst_eval_status status = nst_expr_eval(&reference, c->metric, env, &where);
  if (status == NST_EVAL_OK && same(claimed, &reference)) return;
  if (!v->stop) begin_failure(v);
  nst_buffer_printf(v->details, "    %s = ", v->model.ir->outs[c->out].name);
  nst_value_print(v->details, claimed);
  nst_buffer_puts(v->details, ", but ");
  nst_source_quote(v->details, v->program->sources, c->metric->span);
  if (status == NST_EVAL_OK) {
    nst_buffer_puts(v->details, " = ");
    nst_value_print(v->details, &reference);
  } else nst_buffer_printf(v->details, " has no value: %s", nst_eval_status_text(status));
  nst_buffer_putc(v->details, '\n');
}

static void run_point(verifier *v) {
  nestor_eval *e = v->eval;
  if (v->out->checks + v->dropped >= v->program->settings.limits.verify_points) {
    nst_buffer_printf(v->details, "  stopped after %llu points: the sets hold more than the limit\n",
                      (unsigned long long)(v->out->checks + v->dropped));
    v->out->failed = 1;
    v->stop = true;
    return;
  }
  nst_eval_refuel(e);
  if (!nst_eval_defaults(e, NULL) || !nst_pipeline_evaluate(e, NESTOR_ENGINE_ANALYSIS, NULL)) {
    v->dropped++;
    return;
  }
  v->out->checks++;
  nst_eval_status status;
  const char *failing = run_model(v, &status);
  if (failing) {
    begin_failure(v);
    nst_buffer_printf(v->details, "    %s has no value: %s\n", failing, nst_eval_status_text(status));
    return;
  }
  nst_metrics_view view = {e->nest, e->counts, &e->metrics};
  const nst_eval_env env = {
    .params = e->params, .values = e->nest->values, .metric = nst_metrics_lookup, .metric_ctx = &view};
  for (int i = 0; i < v->verify->nchecks; i++) check(v, &v->verify->checks[i], &env);
}

static void enumerate(verifier *v, int depth) {
  if (depth == v->verify->npoints) {
    run_point(v);
    return;
  }
  const nst_ir_point *point = &v->verify->points[depth];
  nst_set *set = &v->sets[depth];
  nst_span where;
  nst_eval_refuel(v->eval);
  const char *wrong = nst_eval_defaults(v->eval, NULL)
                        ? nst_set_open(set, &point->set, eval_in_mapping, v->eval, &where)
                        : "a parameter that is not enumerated has no value";
  if (wrong) {
    v->out->failed = 1;
    v->stop = true;
    nst_buffer_printf(v->details, "  the values of %s: %s\n", v->eval->ir->scope.params[point->param].name, wrong);
    return;
  }
  for (uint64_t i = 0; i < set->count && !v->stop; i++) {
    v->eval->set[point->param] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_set_get(set, i)};
    v->eval->is_set[point->param] = true;
    enumerate(v, depth + 1);
  }
}

/* Points of the grid, those without a meaning included. false: too many sets to open for a number in a message. */
static bool count_points(verifier *v, int depth, uint64_t *total, int *left) {
  nst_set *set = &v->sets[depth];
  nst_span where;
  if (depth == v->verify->npoints) return ++*total;
  nst_eval_refuel(v->eval);
  if (--*left < 0 || !nst_eval_defaults(v->eval, NULL) ||
      nst_set_open(set, &v->verify->points[depth].set, eval_in_mapping, v->eval, &where))
    return false;
  if (depth == v->verify->npoints - 1) return !__builtin_add_overflow(*total, set->count, total) && *total <= INT64_MAX;
  for (uint64_t i = 0; i < set->count; i++) {
    v->eval->set[v->verify->points[depth].param] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_set_get(set, i)};
    if (!count_points(v, depth + 1, total, left)) return false;
  }
  return true;
}

/* "fails at the 8th of 8,000 points" */
static void say_where(verifier *v, nst_buffer *out) {
  const uint64_t at = v->out->checks + v->dropped, last = at % 10, teen = at / 10 % 10;
  uint64_t total = 0;
  int left = 1 << 14;
  nst_buffer_puts(out, "fails at the ");
  nst_number_grouped(out, (int64_t)at);
  nst_buffer_puts(out, teen == 1 ? "th" : last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th");
  if (!count_points(v, 0, &total, &left)) {
    nst_buffer_puts(out, " point");
    return;
  }
  nst_buffer_puts(out, " of ");
  nst_number_grouped(out, (int64_t)total);
  nst_buffer_puts(out, total == 1 ? " point" : " points");
}

static void say_why_nothing(verifier *v) {
  nst_buffer_puts(v->details, "  no point was compared: ");
  if (!v->dropped) {
    nst_buffer_puts(v->details, "the sets are empty\n");
    return;
  }
  nestor_eval_run(v->eval, NESTOR_ENGINE_ANALYSIS, NULL);
  nst_tests_first_message(v->details, v->eval);
}

void nst_verify_run(nestor_test *out, const nestor_program *p, const nst_ir_verify *verify, nst_buffer *details,
                    nst_buffer *head) {
  nst_arena *arena = nst_arena_new();
  verifier v = {
    .program = p,
    .verify = verify,
    .eval = nestor_eval_new(p, (size_t)verify->mapping),
    .sets = NST_NEW_ARRAY(arena, verify->npoints, nst_set),
    .out = out,
    .details = details,
  };
  nst_model_values_init(&v.model, arena, &p->ir->models[verify->model]);
  /* A parameter that is enumerated needs no default: sets opened before its turn must not miss it. */
  for (int i = 0; i < verify->npoints; i++) {
    v.eval->set[verify->points[i].param] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(1)};
    v.eval->is_set[verify->points[i].param] = true;
  }
  enumerate(&v, 0);
  if (v.found) say_where(&v, head);
  if (!out->failed && !out->checks) {
    out->failed = 1;
    say_why_nothing(&v);
  } else if (v.dropped) {
    nst_buffer_puts(details, "  ");
    nst_value_grouped(details, (int64_t)v.dropped);
    nst_buffer_puts(details, v.dropped == 1 ? " point was passed over: the mapping has no meaning there\n"
                                            : " points were passed over: the mapping has no meaning there\n");
  }
  out->passed = !out->failed;
  for (int i = 0; i < verify->npoints; i++) nst_set_fini(&v.sets[i]);
  nestor_eval_free(v.eval);
  nst_arena_free(arena);
}
