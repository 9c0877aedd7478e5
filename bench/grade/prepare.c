/* Preparing: every member that grading reads is checked here, so that judging a sample looks nothing up. */
#include "bench/grade/prepare.h"

#include "bench/grade/figures.h"
#include "bench/grade/values.h"
#include "bench/record/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail(char *error, const char *text) {
  snprintf(error, NST_RECORD_ERROR, "%s", text);
  return false;
}

static void put_name(nst_wire *w, const char *name) { nst_wire_text(w, name, strlen(name) + 1); }

static const char *text_of(const json_t *object, const char *member) { return json_string_value(json_object_get(object, member)); }

/* ---- groups --------------------------------------------------------------- */

static uint32_t group_of(nst_prepared *p, const char *name) {
  const size_t size = nst_figure_group(name);
  size_t i;
  json_t *group;
  json_array_foreach(p->groups, i, group)
    if (json_string_length(group) == size && !memcmp(json_string_value(group), name, size)) return (uint32_t)i;
  json_array_append_new(p->groups, json_stringn(name, size));
  return (uint32_t)i;
}

static void close_groups(nst_prepared *p) {
  size_t i;
  json_t *group;
  json_array_foreach(p->groups, i, group) json_object_set_new(p->all_true, json_string_value(group), json_true());
}

/* ---- programs ------------------------------------------------------------- */

static bool same_names(json_t *a, json_t *b) {
  if (json_object_size(a) != json_object_size(b)) return false;
  void *x = json_object_iter(a), *y = json_object_iter(b);
  for (; x && y; x = json_object_iter_next(a, x), y = json_object_iter_next(b, y))
    if (strcmp(json_object_iter_key(x), json_object_iter_key(y)) != 0) return false;
  return true;
}

static bool table_names(nst_prepared *p, nst_expected_table *t, char *error) {
  const json_t *figures = json_object_get(json_object_get(p->key.json, "figures"), t->mapping);
  if (!json_array_size(figures)) return fail(error, "\"figures\" has no list for a mapping of \"points\"");
  nst_wire names = {0};
  t->nfigures = json_array_size(figures);
  t->group = nst_memory_new(t->nfigures, sizeof *t->group);
  size_t i;
  json_t *name;
  json_array_foreach(figures, i, name) {
    const char *text = json_string_value(name);
    if (!text || !*text) {
      nst_wire_fini(&names);
      return fail(error, "\"figures\" must be lists of names");
    }
    nst_wire_put(&names, text, strlen(text) + 1);
    t->group[i] = group_of(p, text);
  }
  t->names = (char *)names.bytes;
  t->names_size = names.size;
  return true;
}

/* The table of a point, made where it is the first of its kind. */
static bool find_table(uint32_t *out, nst_prepared *p, const char *mapping, json_t *params, char *error) {
  for (size_t i = 0; i < p->ntables; i++)
    if (!strcmp(p->tables[i].mapping, mapping) && same_names(p->tables[i].like, params)) return *out = (uint32_t)i, true;
  p->tables = nst_memory_grow(p->tables, p->ntables + 1, sizeof *p->tables);
  nst_expected_table *t = &p->tables[p->ntables];
  *t = (nst_expected_table){.mapping = mapping, .like = params};
  *out = (uint32_t)p->ntables++;
  return p->least || table_names(p, t, error);
}

static bool read_point(nst_prepared *p, nst_expected_point *point, json_t *json, char *error) {
  json_t *params = json_object_get(json, "params");
  const char *mapping = text_of(json, "mapping");
  if (!mapping || !json_is_object(params)) return fail(error, "each of \"points\" needs a \"mapping\" and \"params\"");
  if (json_object_size(params) > NST_PARAMS_MOST) return fail(error, "a point has more than 64 parameters");
  point->params = params;
  if (!find_table(&point->table, p, mapping, params, error)) return false;
  const char *name;
  json_t *value;
  int64_t whole;
  json_object_foreach(params, name, value)
    if (!nst_record_int(value, &whole)) return fail(error, "a parameter of \"points\" is no whole number");
  if (p->least) return true;
  const size_t n = p->tables[point->table].nfigures;
  const json_t *values = json_object_get(json, "values");
  if (json_array_size(values) != n) return fail(error, "a point does not have as many \"values\" as its mapping has \"figures\"");
  point->values = nst_memory_new(n, sizeof *point->values);
  for (size_t i = 0; i < n; i++)
    if (!nst_figure_take(&point->values[i], json_array_get(values, i))) return fail(error, "one of \"values\" is no figure");
  return true;
}

static bool prepare_program(nst_prepared *p, char *error) {
  const char *goal = text_of(p->task.spec, "goal");
  if (!goal || (strcmp(goal, "equal") != 0 && strcmp(goal, "least") != 0)) return fail(error, "\"spec.goal\" must be \"equal\" or \"least\"");
  p->least = !strcmp(goal, "least");
  if (p->least) {
    p->objective = text_of(p->task.spec, "objective");
    if (!p->objective) return fail(error, "\"spec.objective\" is missing");
    if (!nst_figure_take(&p->optimum, json_object_get(p->key.json, "optimum")) || p->optimum.kind == NST_FIGURE_NONE)
      return fail(error, "\"optimum\" must be a number");
    group_of(p, p->objective);
  }
  const json_t *points = json_object_get(p->key.json, "points");
  const char *probe = text_of(p->key.json, "probe");
  p->npoints = json_array_size(points);
  if (!p->npoints) return fail(error, "\"points\" is missing or empty");
  p->points = nst_memory_new(p->npoints, sizeof *p->points);
  for (size_t i = 0; i < p->npoints; i++)
    if (!read_point(p, &p->points[i], json_array_get(points, i), error)) return false;

  nst_wire *w = &p->request;
  nst_wire_text(w, probe, probe ? strlen(probe) : 0);
  nst_wire_u32(w, (uint32_t)p->ntables);
  for (size_t i = 0; i < p->ntables; i++) {
    put_name(w, p->tables[i].mapping);
    nst_wire_u32(w, (uint32_t)json_object_size(p->tables[i].like));
    const char *name;
    json_t *value;
    json_object_foreach(p->tables[i].like, name, value) put_name(w, name);
  }
  nst_wire_u32(w, (uint32_t)p->npoints);
  for (size_t i = 0; i < p->npoints; i++) {
    nst_wire_u32(w, p->points[i].table);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)p->points[i].params, name, value) {
      int64_t whole = 0;
      nst_record_int(value, &whole);
      nst_wire_u64(w, (uint64_t)whole);
    }
  }
  return true;
}

/* ---- models --------------------------------------------------------------- */

/* A list of names, each once, put into a request. */
static bool put_names(nst_wire *w, const json_t *names, const char *member, char *error) {
  const size_t n = json_array_size(names);
  nst_wire_u32(w, (uint32_t)n);
  for (size_t i = 0; i < n; i++) {
    const char *name = json_string_value(json_array_get(names, i));
    if (!name || !*name) return snprintf(error, NST_RECORD_ERROR, "\"%s\" must be a list of names", member), false;
    put_name(w, name);
  }
  return true;
}

typedef struct { __int128 sum; uint32_t point; } sized;

static int by_sum(const void *a, const void *b) {
  const sized *x = a, *y = b;
  if (x->sum != y->sum) return x->sum < y->sum ? -1 : 1;
  return x->point < y->point ? -1 : x->point > y->point;
}

static bool prepare_model(nst_prepared *p, char *error) {
  const json_t *outs = json_object_get(p->task.spec, "outs"), *rows = json_object_get(p->key.json, "points"),
               *values = json_object_get(p->key.json, "values");
  p->params = json_object_get(p->key.json, "params");
  if (!json_array_size(outs)) return fail(error, "\"spec.outs\" is missing or empty");
  if (!json_array_size(rows) || json_array_size(rows) != json_array_size(values))
    return fail(error, "\"points\" and \"values\" must be lists of as many rows");
  if (!put_names(&p->request, p->params, "params", error) || !put_names(&p->request, outs, "spec.outs", error)) return false;
  const size_t nparams = json_array_size(p->params), nouts = json_array_size(outs), n = json_array_size(rows);
  for (size_t i = 0; i < nouts; i++)
    if (group_of(p, json_string_value(json_array_get(outs, i))) != i) return fail(error, "\"spec.outs\" has a name twice");
  p->npoints = n;
  p->rows = nst_memory_new(n * nparams, sizeof *p->rows);
  p->values = nst_memory_new(n * nouts, sizeof *p->values);
  p->by_size = nst_memory_new(n, sizeof *p->by_size);
  sized *order = nst_memory_new(n, sizeof *order);
  bool good = true;
  for (size_t i = 0; i < n && good; i++) {
    const json_t *row = json_array_get(rows, i), *out = json_array_get(values, i);
    good = json_array_size(row) == nparams && json_array_size(out) == nouts;
    order[i].point = (uint32_t)i;
    for (size_t k = 0; k < nparams && good; k++) {
      good = nst_record_int(json_array_get(row, k), &p->rows[i * nparams + k]);
      order[i].sum += p->rows[i * nparams + k];
    }
    for (size_t k = 0; k < nouts && good; k++) good = nst_figure_take(&p->values[i * nouts + k], json_array_get(out, k));
  }
  qsort(order, n, sizeof *order, by_sum);
  for (size_t i = 0; i < n; i++) p->by_size[i] = order[i].point;
  free(order);
  if (!good) return fail(error, "a row of \"points\" or \"values\" has a wrong length or a wrong member");
  nst_wire_u32(&p->request, (uint32_t)n);
  nst_wire_put(&p->request, p->rows, n * nparams * sizeof *p->rows);
  return true;
}

/* ---- choices and numbers -------------------------------------------------- */

static bool prepare_choice(nst_prepared *p, char *error) {
  const json_t *choices = json_object_get(p->task.spec, "choices");
  const char *right = text_of(p->key.json, "choice");
  p->nchoices = json_array_size(choices);
  if (!p->nchoices) return fail(error, "\"spec.choices\" is missing or empty");
  p->choices = nst_memory_new(p->nchoices, sizeof *p->choices);
  p->choice = p->nchoices;
  for (size_t i = 0; i < p->nchoices; i++) {
    p->choices[i] = json_string_value(json_array_get(choices, i));
    if (!p->choices[i] || !*p->choices[i]) return fail(error, "\"spec.choices\" must be texts");
    if (right && !strcmp(right, p->choices[i])) p->choice = i;
  }
  return p->choice < p->nchoices || fail(error, "\"choice\" is none of the choices");
}

static bool prepare_numbers(nst_prepared *p, char *error) {
  const json_t *quantities = json_object_get(p->task.spec, "quantities"), *values = json_object_get(p->key.json, "values");
  const size_t n = json_array_size(quantities);
  if (!n) return fail(error, "\"spec.quantities\" is missing or empty");
  p->quantities = nst_memory_new(n, sizeof *p->quantities);
  p->values = nst_memory_new(n, sizeof *p->values);
  for (size_t i = 0; i < n; i++) {
    const json_t *quantity = json_array_get(quantities, i);
    const char *name = text_of(quantity, "name"), *unit = text_of(quantity, "unit");
    if (!name || !*name || !unit || !nst_quantity_unit_parse(&p->quantities[i].unit, unit))
      return fail(error, "each of \"spec.quantities\" needs a \"name\" and a \"unit\": elements, bytes or cycles");
    p->quantities[i].name = name;
    if (group_of(p, name) != i) return fail(error, "\"spec.quantities\" has a name twice");
    if (!nst_figure_take(&p->values[i], json_object_get(values, name))) return fail(error, "\"values\" lacks a quantity");
  }
  return true;
}

/* ---- all ------------------------------------------------------------------ */

nst_prepared *nst_prepared_new(nst_task *task) {
  nst_prepared *p = nst_memory_new(1, sizeof *p);
  p->task = *task;
  *task = (nst_task){0};
  p->groups = json_array();
  p->all_true = json_object();
  return p;
}

void nst_prepared_free(nst_prepared *p) {
  if (!p) return;
  for (size_t i = 0; i < p->ntables; i++) {
    free(p->tables[i].names);
    free(p->tables[i].group);
  }
  for (size_t i = 0; p->points && i < p->npoints; i++) free(p->points[i].values);
  free(p->tables);
  free(p->points);
  free(p->rows);
  free(p->values);
  free(p->by_size);
  free(p->choices);
  free(p->quantities);
  nst_wire_fini(&p->request);
  json_decref(p->groups);
  json_decref(p->all_true);
  nst_task_fini(&p->task);
  nst_key_fini(&p->key);
  free(p);
}

static bool read_declares(nst_prepared *p, char *error) {
  static const struct { const char *word; nestor_declaration_kind kind; } kinds[] = {
    {"workload", NESTOR_DECLARATION_WORKLOAD}, {"hardware", NESTOR_DECLARATION_HARDWARE},
    {"mapping", NESTOR_DECLARATION_MAPPING}, {"model", NESTOR_DECLARATION_MODEL}};
  const json_t *declares = json_object_get(p->task.spec, "declares");
  const char *kind = text_of(declares, "kind"), *name = text_of(declares, "name"), *given = text_of(p->task.spec, "given");
  bool known = false;
  for (size_t i = 0; kind && i < 4; i++)
    if (!strcmp(kind, kinds[i].word)) p->kind = (uint8_t)kinds[i].kind, known = true;
  if (!known || !name || !*name) return fail(error, "\"spec.declares\" needs a \"kind\" and a \"name\"");
  if ((p->task.answer == NST_ANSWER_MODEL) != (p->kind == NESTOR_DECLARATION_MODEL))
    return fail(error, "\"spec.declares\" contradicts \"spec.answer\"");
  nst_wire_text(&p->request, given, given ? strlen(given) : 0);
  put_name(&p->request, name);
  return true;
}

static bool read_limit(uint64_t *out, const json_t *limits, const char *name, int64_t usual, int64_t most, char *error) {
  const json_t *value = json_object_get(limits, name);
  int64_t whole = usual;
  if (value && (!nst_record_int(value, &whole) || whole < 1 || whole > most))
    return snprintf(error, NST_RECORD_ERROR, "\"limits.%s\" is out of range", name), false;
  *out = (uint64_t)whole;
  return true;
}

static bool read_floor(nst_prepared *p, char *error) {
  const json_t *floor = json_object_get(p->key.json, "floor");
  p->floor = json_number_value(floor);
  return !floor || (json_is_number(floor) && p->floor >= 0 && p->floor < 1) || fail(error, "\"floor\" must be a number from 0 to below 1");
}

/* Tasks of another seed have the same names. */
static bool is_committed(const nst_task *task, const nst_key *key) {
  char commit[65];
  nst_answer_commit(commit, key->salt, key->answer);
  return !strcmp(commit, task->answer_commit);
}

bool nst_prepared_add_key(nst_prepared *p, nst_key *key, char error[NST_RECORD_ERROR]) {
  const bool second = p->ready || p->key.json;
  if (second || !is_committed(&p->task, key)) {
    nst_key_fini(key);
    return fail(error, second ? "a second key for this task"
                              : "its answer is not the one that the task has committed to (answer_commit): it belongs to another task of the "
                                "same name, as of another seed; give the key that `nestor bench gen` wrote with these tasks");
  }
  p->key = *key;
  *key = (nst_key){0};
  bool good = read_floor(p, error) && read_limit(&p->source_bytes, p->task.limits, "source_bytes", NST_SOURCE_BYTES, NST_SOURCE_BYTES_MOST, error) &&
              read_limit(&p->fuel, p->task.limits, "fuel", NST_FUEL, INT64_MAX, error);
  switch (p->task.answer) {
    case NST_ANSWER_PROGRAM: good = good && read_declares(p, error) && prepare_program(p, error); break;
    case NST_ANSWER_MODEL: good = good && read_declares(p, error) && prepare_model(p, error); break;
    case NST_ANSWER_CHOICE: good = good && prepare_choice(p, error); break;
    case NST_ANSWER_NUMBERS: good = good && prepare_numbers(p, error); break;
  }
  if (good && p->request.size + p->source_bytes + 1024 > NST_WIRE_LONGEST) good = fail(error, "the task is too large to be sent to a worker");
  close_groups(p);
  return p->ready = good;
}
