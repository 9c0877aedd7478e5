/* Tasks that are answered with closed forms. */
#include "bench/tasks/body.h"

#include "bench/record/memory.h"
#include "bench/tasks/closed.h"
#include "bench/tasks/idle.h"
#include "bench/tasks/naive.h"
#include "bench/tasks/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 260, MOST_OPERATIONS = 4000 };

/* Notes which beliefs are wrong at a point. */
static void try_beliefs(bool wrong[2], const nst_draft *d, const nestor_eval *eval, const int64_t *params) {
  for (int belief = 0; belief < 2; belief++)
    for (int i = 0; i < d->nquantities && !wrong[belief]; i++) {
      const int64_t value = nst_naive_value(d, &d->mappings[0], &d->quantities[i], (nst_belief)belief, params);
      wrong[belief] = value >= 0 && value != nst_quantity_value(&d->quantities[i], eval);
    }
}

/* One point: the mapping by all engines, and the closed forms, which must be equal. Appends the row of values. */
static bool add_point(nst_solver *s, const nst_draft *d, nestor_eval *eval, nestor_model *model, const int64_t *params,
                      json_t *rows, json_t *values) {
  if (!nst_solver_run(s, eval, params)) return false;
  if (nestor_model_run(model, params) != NESTOR_OK)
    return snprintf(s->why, sizeof s->why, "the closed forms cannot be evaluated"), false;
  json_t *row = json_array();
  for (int p = 0; p < d->mappings[0].nparams; p++) json_array_append_new(row, nst_record_from_int(params[p]));
  json_array_append_new(rows, row);
  row = json_array();
  json_array_append_new(values, row);
  for (int i = 0; i < d->nquantities; i++) {
    const int64_t expected = nst_quantity_value(&d->quantities[i], eval);
    nestor_value value;
    if (!nestor_model_value(model, (size_t)i, &value) || value.kind != NESTOR_VALUE_INTEGER ||
        value.integer != expected) {
      snprintf(s->why, sizeof s->why, "%s: the closed form of %s gives another number", d->cluster,
               d->quantities[i].name);
      return false;
    }
    json_array_append_new(row, nst_record_from_int(expected));
  }
  return true;
}

/* What one has right who writes 0 for everything, or what everything comes to that moves once: the counts of a mapping
 * that keeps all in the middle memory. */
static double idle_share(const nst_body_maker *b, const nst_point *points, const json_t *values) {
  nst_draft *idle = nst_memory_new(1, sizeof *idle);
  *idle = *b->d;
  nst_idle_mapping(idle, 0, 1u << nst_draft_next_memory(idle, 0));
  nestor_buffer *text = nestor_buffer_new();
  nst_draft_write_workload(idle, text);
  nst_draft_write_hardware(idle, text);
  nst_draft_write_mapping(idle, 0, "idle", text);
  nst_solver s;
  nestor_eval *eval =
    nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), true) ? nst_solver_eval(&s, "idle") : NULL;
  bool zero[NST_DRAFT_QUANTITIES], once[NST_DRAFT_QUANTITIES];
  const int n = b->d->nquantities;
  for (int i = 0; i < n; i++) zero[i] = true, once[i] = eval != NULL;
  for (size_t k = 0; k < POINTS; k++) {
    const bool ran = eval && nst_solver_run(&s, eval, points[k].values);
    for (int i = 0; i < n; i++) {
      int64_t expected = 0;
      nst_record_int(json_array_get(json_array_get(values, k), (size_t)i), &expected);
      zero[i] &= !expected;
      once[i] = once[i] && ran && nst_quantity_value(&idle->quantities[i], eval) == expected;
    }
  }
  int zeros = 0, onces = 0;
  for (int i = 0; i < n; i++) zeros += zero[i], onces += once[i];
  nestor_eval_free(eval);
  nst_solver_fini(&s);
  nestor_buffer_free(text);
  free(idle);
  return (double)(zeros > onces ? zeros : onces) / n;
}

bool nst_body_model(nst_body_maker *b) {
  const nst_draft *d = b->d;
  const nst_draft_mapping *m = &d->mappings[0];
  nestor_buffer *text = nestor_buffer_new(), *given = nestor_buffer_new();
  nst_draft_write_workload(d, given);
  nst_draft_write_hardware(d, given);
  nst_draft_write_mapping(d, 0, "subject", given);
  nst_closed_write(d, "costs", b->answer);
  nst_text_add(text, "%s%s", nestor_buffer_data(given), nestor_buffer_data(b->answer));
  nst_solver s;
  bool good = nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), b->quick);
  nestor_eval *eval = good ? nst_solver_eval(&s, "subject") : NULL;
  nestor_model *model = good ? nestor_model_new(s.program, nestor_program_find_model(s.program, "costs")) : NULL;
  json_t *params = json_array(), *rows = json_array(), *values = json_array(), *outs = json_array();
  nst_point *points = nst_memory_new(POINTS, sizeof *points);
  good = eval && model;
  if (good && !nst_points_draw(points, POINTS, d, m, MOST_OPERATIONS, &b->random)) {
    snprintf(s.why, sizeof s.why, "no hidden points with imperfect tiles and larger values");
    good = false;
  }
  bool wrong[2] = {!d->traps[0], !d->traps[1]};
  for (size_t i = 0; i < POINTS && good; i++) {
    good = add_point(&s, d, eval, model, points[i].values, rows, values);
    if (good) try_beliefs(wrong, d, eval, points[i].values);
  }
  if (good && !(wrong[0] && wrong[1])) {
    snprintf(s.why, sizeof s.why, "it is answered rightly by a wrong belief");
    good = false;
  }
  const bool idle = good && !nst_body_floor(b, idle_share(b, points, values));
  if (idle) snprintf(s.why, sizeof s.why, "%s", b->why), good = false;
  for (int p = 0; p < m->nparams; p++) json_array_append_new(params, json_string(m->params[p].name));
  for (int i = 0; i < d->nquantities; i++) json_array_append_new(outs, json_string(d->quantities[i].name));
  json_object_set_new(b->spec, "answer", json_string("model"));
  json_object_set_new(b->spec, "given", json_string(nestor_buffer_data(given)));
  json_object_set_new(b->spec, "declares",
                      json_pack("{s:s,s:s,s:O}", "kind", "model", "name", "costs", "params", params));
  json_object_set_new(b->spec, "outs", outs);
  json_object_set_new(b->key, "params", params);
  json_object_set_new(b->key, "points", rows);
  json_object_set_new(b->key, "values", values);
  if (good) {
    nst_text_add(b->prompt, "Given this workload, this hardware and this mapping:\n\n");
    nst_body_code(b->prompt, nestor_buffer_data(given));
    nst_text_add(b->prompt,
                 "\nwrite a model of its costs: closed forms of the sizes and tiles that are exact for all positive "
                 "values of the parameters, tiles that do not "
                 "divide and tiles beyond the size included. Its first line and its outputs are:\n\n    model costs(");
    for (int p = 0; p < m->nparams; p++) nst_text_add(b->prompt, "%s%s", p ? ", " : "", m->params[p].name);
    nst_text_add(b->prompt, ") {\n\n");
    for (int i = 0; i < d->nquantities; i++) {
      char expression[128];
      nst_quantity_expression(d, &d->quantities[i], expression, sizeof expression);
      nst_text_add(b->prompt, "- out %s: equal to %s, in %s\n", d->quantities[i].name, expression,
                   nst_quantity_unit(&d->quantities[i]));
    }
    nst_text_add(
      b->prompt,
      "\nAnswer with the model alone, in a ```nest block. It is compared at hundreds of points that are not shown.\n");
  } else
    snprintf(b->why, NST_SOLVE_ERROR, "%s", s.why);
  free(points);
  nestor_model_free(model);
  nestor_eval_free(eval);
  nst_body_solved(b, &s);
  nestor_buffer_free(text);
  nestor_buffer_free(given);
  return good;
}
