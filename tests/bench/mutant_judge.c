/* Comparing mutants with a reference, point by point, up to the first that differs. */
#include "tests/unit/test.h"

#include "bench/grade/values.h"
#include "bench/tasks/text.h"
#include "tests/bench/mutant_judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPERATIONS = 100000 };

/* The program that a candidate makes: what is given, itself, the probes. */
static bool compile(nst_solver *s, const json_t *spec, const json_t *key, const char *candidate) {
  nestor_buffer *text = nestor_buffer_new();
  const char *probe = json_string_value(json_object_get(key, "probe"));
  nst_text_add(text, "%s%s%s", json_string_value(json_object_get(spec, "given")), candidate, probe ? probe : "");
  const bool good = nst_solver_init(s, nestor_buffer_data(text), nestor_buffer_size(text), true);
  nestor_buffer_free(text);
  return good;
}

void mutant_judge_init(mutant_judge *judge, const nst_draft *d, const json_t *spec, const json_t *key) {
  *judge = (mutant_judge){.d = d, .spec = spec, .key = key};
  const char *answer = json_string_value(json_object_get(key, "answer"));
  if (!compile(&judge->reference, spec, key, answer)) fail_msg("%s", judge->reference.why);
  const nst_solver *s = &judge->reference;
  if (d->kind == NST_KIND_GEN_MODEL) {
    judge->model = nestor_model_new(s->program, nestor_program_find_model(s->program, "costs"));
    assert_non_null(judge->model);
  }
  nst_random r = nst_random_make(d->seed, "independent");
  judge->ntables = d->nmappings;
  for (int i = 0; i < judge->ntables; i++) {
    mutant_table *t = &judge->tables[i];
    const nst_draft_mapping *m = &d->mappings[i];
    const bool settled = d->kind == NST_KIND_GEN_OPTIMIZE || !m->nparams;
    t->npoints = settled ? 1 : MUTANT_POINTS + 1; /* the first are the defaults */
    t->points = calloc(t->npoints, sizeof *t->points);
    t->figures = calloc(t->npoints, sizeof *t->figures);
    if (!settled && !nst_points_draw(t->points, t->npoints, d, m, MOST_OPERATIONS, &r))
      fail_msg("%s has no points", m->name);
    if (!judge->model) t->eval = nst_solver_eval(&judge->reference, m->name);
    assert_true(judge->model || t->eval);
    t->names = nestor_buffer_new();
  }
}

void mutant_judge_fini(mutant_judge *judge) {
  for (int i = 0; i < judge->ntables; i++) {
    mutant_table *t = &judge->tables[i];
    for (size_t k = 0; k < t->npoints; k++) free(t->figures[k]);
    free(t->figures);
    free(t->points);
    nestor_buffer_free(t->names);
    nestor_eval_free(t->eval);
  }
  nestor_model_free(judge->model);
  nst_solver_fini(&judge->reference);
}

/* ---- programs ------------------------------------------------------------- */

static const nst_figure *expected(mutant_table *t, size_t i) {
  if (t->figures[i]) return t->figures[i];
  assert_int_equal(nestor_eval_run(t->eval, NESTOR_ENGINE_ANALYSIS, i ? t->points[i].values : NULL), NESTOR_OK);
  if (!nestor_buffer_size(t->names)) nst_figures_names(t->names, t->eval);
  t->nfigures = nst_figures_count(t->eval);
  t->figures[i] = calloc(t->nfigures, sizeof **t->figures);
  nst_figures_values(t->figures[i], t->eval);
  return t->figures[i];
}

static bool set_all(nestor_eval *eval, const nst_draft_mapping *m, const int64_t *params) {
  for (int p = 0; p < m->nparams; p++) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRId64, params[p]);
    if (nestor_eval_set(eval, m->params[p].name, digits) != NESTOR_OK) return false;
  }
  return true;
}

/* Where each of the reference's figures stands among the mutant's, by its name: tensors may be declared in another
 * order. NULL: they have other figures. The caller frees. */
static size_t *match_names(const mutant_table *t, const nestor_eval *eval) {
  if (nst_figures_count(eval) != t->nfigures) return NULL;
  nestor_buffer *names = nestor_buffer_new();
  nst_figures_names(names, eval);
  size_t *places = calloc(t->nfigures, sizeof *places), n = 0;
  const char *want = nestor_buffer_data(t->names);
  for (bool found = true; n < t->nfigures && found; n += found, want += strlen(want) + 1) {
    const char *name = nestor_buffer_data(names);
    found = false;
    for (size_t i = 0; i < t->nfigures && !found; i++, name += strlen(name) + 1)
      if ((found = !strcmp(name, want))) places[n] = i;
  }
  nestor_buffer_free(names);
  if (n == t->nfigures) return places;
  free(places);
  return NULL;
}

static bool figures_differ(const mutant_table *t, const nst_figure *figures, const nestor_eval *eval,
                           const size_t *places) {
  nst_figure *values = calloc(t->nfigures, sizeof *values);
  nst_figures_values(values, eval);
  bool differ = false;
  for (size_t i = 0; i < t->nfigures && !differ; i++) differ = !nst_figure_equal(values[places[i]], figures[i]);
  free(values);
  return differ;
}

static bool mapping_differs(mutant_table *t, const nst_draft_mapping *m, nst_solver *mutant) {
  nestor_eval *eval = nst_solver_eval(mutant, m->name);
  size_t *places = NULL;
  bool differs = !eval;
  for (size_t i = 0; i < t->npoints && !differs; i++) { /* nobody sets the defaults */
    const nst_figure *figures = expected(t, i);
    differs =
      (i && !set_all(eval, m, t->points[i].values)) || nestor_eval_run(eval, NESTOR_ENGINE_ANALYSIS, NULL) != NESTOR_OK;
    if (!differs && !i) places = match_names(t, eval);
    differs = differs || !places || figures_differ(t, figures, eval, places);
  }
  free(places);
  nestor_eval_free(eval);
  return differs;
}

/* Whether it does not fit, or costs more than the reference. */
static bool is_worse(mutant_judge *judge, nst_solver *mutant) {
  mutant_table *t = &judge->tables[0];
  const nst_draft_quantity *q = &judge->d->quantities[0];
  nestor_eval *eval = nst_solver_eval(mutant, "ans");
  bool worse = !eval || nestor_eval_run(eval, NESTOR_ENGINE_ANALYSIS, NULL) != NESTOR_OK;
  assert_int_equal(nestor_eval_run(t->eval, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_OK);
  worse = worse || !nestor_eval_metrics(eval).fits || nst_quantity_value(q, eval) > nst_quantity_value(q, t->eval);
  nestor_eval_free(eval);
  return worse;
}

/* ---- models --------------------------------------------------------------- */

/* Where each argument of the reference stands among the mutant's parameters, by its name. false: it has others. */
static bool match_params(size_t *places, const mutant_judge *judge, const nst_solver *mutant, size_t at,
                         const nestor_model_info *info) {
  const json_t *params = json_object_get(json_object_get(judge->spec, "declares"), "params");
  if (info->params != json_array_size(params)) return false;
  for (size_t p = 0; p < info->params; p++) {
    const char *want = json_string_value(json_array_get(params, p));
    places[p] = 0;
    while (places[p] < info->params && strcmp(nestor_program_model_param(mutant->program, at, places[p]), want) != 0)
      places[p]++;
    if (places[p] == info->params) return false;
  }
  return true;
}

static bool model_differs(mutant_judge *judge, nst_solver *mutant) {
  const nst_draft *d = judge->d;
  const mutant_table *t = &judge->tables[0];
  const size_t at = nestor_program_find_model(mutant->program, "costs");
  nestor_model_info info;
  size_t places[NST_DRAFT_PARAMS];
  if (!nestor_program_model(mutant->program, at, &info) || !match_params(places, judge, mutant, at, &info)) return true;
  nestor_model *model = nestor_model_new(mutant->program, at);
  bool differs = false;
  for (size_t i = 0; i < t->npoints && !differs; i++) {
    int64_t args[NST_DRAFT_PARAMS];
    for (size_t p = 0; p < info.params; p++) args[places[p]] = t->points[i].values[p];
    assert_int_equal(nestor_model_run(judge->model, t->points[i].values), NESTOR_OK);
    differs = nestor_model_run(model, args) != NESTOR_OK;
    for (int q = 0; q < d->nquantities && !differs; q++) {
      nestor_value x, y;
      size_t out = 0;
      while (out < info.outs && strcmp(nestor_program_model_out(mutant->program, at, out), d->quantities[q].name) != 0)
        out++;
      assert_true(nestor_model_value(judge->model, (size_t)q, &x));
      differs = out == info.outs || !nestor_model_value(model, out, &y) || y.kind != NESTOR_VALUE_INTEGER ||
                x.integer != y.integer;
    }
  }
  nestor_model_free(model);
  return differs;
}

mutant_fate mutant_judge_run(mutant_judge *judge, const char *mutant) {
  nst_solver other;
  const bool compiles = compile(&other, judge->spec, judge->key, mutant);
  bool differs = false;
  if (!compiles) {
  } else if (judge->model)
    differs = model_differs(judge, &other);
  else if (judge->d->kind == NST_KIND_GEN_OPTIMIZE)
    differs = is_worse(judge, &other);
  else
    for (int i = 0; i < judge->ntables && !differs; i++)
      differs = mapping_differs(&judge->tables[i], &judge->d->mappings[i], &other);
  nst_solver_fini(&other);
  return !compiles ? MUTANT_BROKEN : differs ? MUTANT_DIFFERS : MUTANT_EQUAL;
}
