/* Compiling, evaluating and comparing reference programs. */
#include "bench/tasks/solve.h"

#include "bench/grade/figures.h"
#include "bench/grade/values.h"
#include "bench/record/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_first(nst_solver *s, const nestor_diagnostics *diagnostics, const char *otherwise) {
  nestor_diagnostic first;
  const bool found = nestor_diagnostics_get(diagnostics, 0, &first);
  snprintf(s->why, sizeof s->why, "%s", found ? first.message : otherwise);
}

bool nst_solver_init(nst_solver *s, const char *text, size_t size, bool quick) {
  *s = (nst_solver){.session = nestor_session_new(), .quick = quick};
  nestor_session_set_stdlib(s->session, false);
  s->program = nestor_program_new(s->session, "task", text, size, NESTOR_STAGE_CHECK);
  if (nestor_program_status(s->program) == NESTOR_OK) return true;
  say_first(s, nestor_program_diagnostics(s->program), "it does not compile");
  return false;
}

void nst_solver_fini(nst_solver *s) {
  nestor_program_free(s->program);
  nestor_session_free(s->session);
}

nestor_eval *nst_solver_eval(nst_solver *s, const char *mapping) {
  nestor_eval *eval = nestor_eval_new(s->program, nestor_program_find(s->program, mapping));
  if (!eval) snprintf(s->why, sizeof s->why, "there is no mapping %.100s", mapping);
  return eval;
}

bool nst_solver_run(nst_solver *s, nestor_eval *eval, const int64_t *params) {
  const nestor_status status = nestor_eval_run(eval, s->quick ? NESTOR_ENGINE_ANALYSIS : NESTOR_ENGINE_ALL, params);
  const nestor_diagnostics *diagnostics = nestor_eval_diagnostics(eval);
  if (status != NESTOR_OK) {
    say_first(s, diagnostics,
              status == NESTOR_UNAVAILABLE ? "the code generator is not installed" : "it cannot be evaluated");
    s->unproven |= !s->quick && nestor_eval_run(eval, NESTOR_ENGINE_ANALYSIS, params) == NESTOR_OK;
    return false;
  }
  nestor_diagnostic d;
  for (size_t i = 0; nestor_diagnostics_get(diagnostics, i, &d); i++)
    if (!strcmp(d.code, "W0920")) { /* the simulator was left out */
      snprintf(s->why, sizeof s->why, "%s", d.message);
      s->unproven = true;
      return false;
    }
  return true;
}

bool nst_solver_is_whole(char why[NST_SOLVE_ERROR]) {
  static const char text[] = "workload w { dim i = 4  A[i] = B[i] }\nhardware h { memory M  compute C }\nmapping m of w on h { for i }\n";
  nst_solver s;
  nestor_eval *eval = nst_solver_init(&s, text, sizeof text - 1, false) ? nst_solver_eval(&s, "m") : NULL;
  const bool good = eval && nst_solver_run(&s, eval, NULL);
  if (!good) snprintf(why, NST_SOLVE_ERROR, "%s", s.why);
  nestor_eval_free(eval);
  nst_solver_fini(&s);
  return good;
}

static json_t *names_of(const nestor_eval *eval) {
  nestor_buffer *names = nestor_buffer_new();
  nst_figures_names(names, eval);
  json_t *list = json_array();
  const char *at = nestor_buffer_data(names), *end = at + nestor_buffer_size(names);
  for (; at < end; at += strlen(at) + 1) json_array_append_new(list, json_string(at));
  nestor_buffer_free(names);
  return list;
}

static json_t *values_of(const nestor_eval *eval) {
  const size_t n = nst_figures_count(eval);
  nst_figure *values = nst_memory_new(n, sizeof *values);
  nst_figures_values(values, eval);
  json_t *list = json_array();
  for (size_t i = 0; i < n; i++) json_array_append_new(list, nst_figure_json(values[i]));
  free(values);
  return list;
}

bool nst_solver_points(nst_solver *s, json_t *points, json_t *figures, const char *name, const nst_draft_mapping *m,
                       const nst_point *at, size_t n) {
  nestor_eval *eval = nst_solver_eval(s, name);
  if (!eval) return false;
  bool good = true;
  for (size_t i = 0; good && i < n; i++) {
    good = nst_solver_run(s, eval, at[i].values);
    if (!good) break;
    json_t *params = json_object();
    for (int p = 0; p < m->nparams && i; p++) /* the shown point is the defaults */
      json_object_set_new(params, m->params[p].name, nst_record_from_int(at[i].values[p]));
    json_array_append_new(points, json_pack("{s:s,s:o,s:b,s:o}", "mapping", name, "params", params, "shown", i == 0,
                                            "values", values_of(eval)));
    if (!i) json_object_set_new(figures, name, names_of(eval));
  }
  nestor_eval_free(eval);
  return good;
}

static bool set_params(nestor_eval *eval, const json_t *params) {
  nestor_eval_reset(eval);
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)params, name, value) {
    char digits[24];
    snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    if (nestor_eval_set(eval, name, digits) != NESTOR_OK) return false;
  }
  return true;
}

/* The figures of one point; NULL where there are none. */
static json_t *figures_at(nst_solver *s, nestor_eval *eval, const json_t *params) {
  return set_params(eval, params) && nst_solver_run(s, eval, NULL) ? values_of(eval) : NULL;
}

/* ---- what a wrong answer has right ---------------------------------------- */

static void mark_group(json_t *groups, const char *name, bool right) {
  char group[256];
  snprintf(group, sizeof group, "%.*s", (int)nst_figure_group(name), name);
  if (!right || !json_object_get(groups, group)) json_object_set_new(groups, group, json_boolean(right));
}

/* The figures of one point; names, values: what the answer has, or NULL. Returns whether it has others besides. */
static bool mark_point(json_t *groups, const json_t *want_names, const json_t *want, const json_t *names,
                       const json_t *values) {
  size_t found = 0;
  for (size_t i = 0; i < json_array_size(want_names); i++) {
    const json_t *name = json_array_get(want_names, i);
    size_t at = i; /* mostly they are the same list */
    if (!json_equal(json_array_get(names, at), name))
      for (at = 0; at < json_array_size(names) && !json_equal(json_array_get(names, at), name);) at++;
    nst_figure a, b;
    const bool there = at < json_array_size(names);
    found += there;
    mark_group(groups, json_string_value(name),
               there && nst_figure_take(&a, json_array_get(want, i)) &&
                 nst_figure_take(&b, json_array_get(values, at)) && nst_figure_equal(a, b));
  }
  return found < json_array_size(names);
}

double nst_solver_share(nst_solver *s, const json_t *points, const json_t *figures) {
  const bool quick = s->quick;
  s->quick = true;
  json_t *groups = json_object(), *right;
  bool bound = true, more = false; /* bound: each mapping is there, with its parameters */
  for (size_t i = 0; i < json_array_size(points) && bound; i++) {
    const json_t *point = json_array_get(points, i);
    const char *mapping = json_string_value(json_object_get(point, "mapping"));
    nestor_eval *eval = nst_solver_eval(s, mapping);
    bound = eval && set_params(eval, json_object_get(point, "params"));
    json_t *values = bound && nst_solver_run(s, eval, NULL) ? values_of(eval) : NULL;
    json_t *names = values ? names_of(eval) : NULL;
    more |= mark_point(groups, json_object_get(figures, mapping), json_object_get(point, "values"), names, values);
    json_decref(values);
    json_decref(names);
    nestor_eval_free(eval);
  }
  s->quick = quick;
  size_t good = 0;
  const size_t n = json_object_size(groups) + more;
  const char *name;
  json_object_foreach(groups, name, right) good += json_is_true(right);
  json_decref(groups);
  return bound && n ? (double)good / (double)n : 0;
}

bool nst_solver_differs(nst_solver *s, const json_t *points, const json_t *figures) {
  const bool quick = s->quick;
  s->quick = true; /* wrong answers are not the engines' to prove */
  bool differs = false;
  for (size_t i = 0; i < json_array_size(points) && !differs; i++) {
    const json_t *point = json_array_get(points, i);
    const char *name = json_string_value(json_object_get(point, "mapping"));
    nestor_eval *eval = nst_solver_eval(s, name);
    json_t *values = eval ? figures_at(s, eval, json_object_get(point, "params")) : NULL;
    json_t *names = values ? names_of(eval) : NULL;
    differs = !values || !json_equal(names, json_object_get(figures, name)) ||
              !json_equal(values, json_object_get(point, "values"));
    json_decref(values);
    json_decref(names);
    nestor_eval_free(eval);
  }
  s->quick = quick;
  return differs;
}
