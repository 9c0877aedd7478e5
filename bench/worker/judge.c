/* Judging: build, evaluate each point, put what came out into a reply. */
#include "bench/worker/judge.h"

#include "bench/record/memory.h"
#include "bench/worker/build.h"
#include "bench/worker/fault.h"
#include "bench/worker/given.h"
#include "bench/worker/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ALL_FUEL = 100000000 };

struct nst_judge {
  nestor_session *session;
  uint64_t fuel; /* of the session */
  nst_build build;
  nst_fault fault;
  nst_wire points; /* of the reply */
  nestor_buffer *names;
  nst_figure *values; /* of a point */
  size_t nvalues;
  uint32_t failed; /* first failed point, or NST_WIRE_NOWHERE */
};

nst_judge *nst_judge_new(void) {
  nst_judge *j = nst_memory_new(1, sizeof *j);
  j->session = nestor_session_new();
  nestor_session_set_stdlib(j->session, false);
  nestor_session_set_loader(j->session, NULL, NULL);
  j->names = nestor_buffer_new();
  return j;
}

void nst_judge_free(nst_judge *j) {
  if (!j) return;
  nestor_session_free(j->session);
  nestor_buffer_free(j->names);
  nst_build_fini(&j->build);
  nst_wire_fini(&j->fault.messages);
  nst_wire_fini(&j->points);
  free(j->values);
  free(j);
}

/* What went wrong at a point: the first one's messages are kept, and its outcome is the reply's. */
static nst_outcome point_fails(nst_judge *j, size_t point, const nestor_diagnostics *messages) {
  nst_fault here = {0}, *fault = j->failed == (uint32_t)NST_WIRE_NOWHERE ? &j->fault : &here;
  if (fault == &j->fault) j->failed = (uint32_t)point;
  nst_fault_clear(&here);
  nst_fault_take(fault, NST_STAGE_EVALUATE, messages, j->build.before, j->build.lines);
  const nst_outcome outcome = fault->outcome;
  nst_wire_fini(&here.messages);
  return outcome;
}

/* ---- programs ------------------------------------------------------------- */

/* A mapping ready to be evaluated at points that give some of its parameters. */
typedef struct {
  nestor_eval *eval;
  size_t *position; /* of the table's parameter i among the mapping's */
  int64_t *args;    /* all of the mapping's, where the points give all; else NULL */
  size_t nparams;   /* of the mapping */
  size_t nfigures;  /* 0 before the first good point */
  size_t names, names_end;
} subject;

static size_t param_of(const nestor_program *p, size_t mapping, const char *name) {
  nestor_param_info info;
  for (size_t i = 0; nestor_program_param(p, mapping, i, &info); i++)
    if (!strcmp(info.name, name)) return i;
  return SIZE_MAX;
}

static bool bind(subject *s, nst_fault *fault, const nestor_program *p, const nst_request_table *table) {
  const size_t mapping = nestor_program_find(p, table->mapping);
  nestor_mapping_info info;
  if (!nestor_program_mapping(p, mapping, &info)) {
    nst_fault_say(fault, NST_OUTCOME_TYPE, NST_STAGE_COMPILE, 0, "there is no mapping `%s`", table->mapping);
    return false;
  }
  s->nparams = info.params;
  s->position = nst_memory_new(table->params.n, sizeof *s->position);
  bool *given = nst_memory_new(info.params, sizeof *given);
  size_t ngiven = 0;
  for (size_t i = 0; i < table->params.n; i++) {
    s->position[i] = param_of(p, mapping, table->params.items[i]);
    if (s->position[i] == SIZE_MAX) {
      free(given);
      nst_fault_say(fault, NST_OUTCOME_TYPE, NST_STAGE_COMPILE, 0, "the mapping `%s` has no parameter `%s`", table->mapping,
                    table->params.items[i]);
      return false;
    }
    if (!given[s->position[i]]) ngiven++;
    given[s->position[i]] = true;
  }
  free(given);
  if (ngiven == info.params) s->args = nst_memory_new(info.params, sizeof *s->args);
  s->eval = nestor_eval_new(p, mapping);
  return true;
}

static nestor_status run_at(subject *s, const nst_request_table *table, const int64_t *values) {
  for (size_t i = 0; i < table->params.n; i++) {
    if (s->args) {
      s->args[s->position[i]] = values[i];
      continue;
    }
    char number[24];
    snprintf(number, sizeof number, "%" PRId64, values[i]);
    if (nestor_eval_set(s->eval, table->params.items[i], number) != NESTOR_OK) return NESTOR_USAGE;
  }
  return nestor_eval_run(s->eval, NESTOR_ENGINE_ANALYSIS, s->args);
}

/* false: more figures than a reply may hold. */
static bool put_figures(nst_judge *j, subject *s, size_t *total) {
  if (!s->nfigures) {
    s->names = nestor_buffer_size(j->names);
    s->nfigures = nst_figures_names(j->names, s->eval);
    s->names_end = nestor_buffer_size(j->names);
  }
  *total += s->nfigures;
  if (*total > NST_WIRE_FIGURES || s->names_end > NST_WIRE_LONGEST / 4) {
    nst_fault_say(&j->fault, NST_OUTCOME_LIMIT, NST_STAGE_EVALUATE, 0, "the answer has more figures than can be compared");
    return false;
  }
  nst_wire_u8(&j->points, NST_OUTCOME_PASSED);
  const size_t size = s->nfigures * sizeof(nst_figure);
  if (s->nfigures > j->nvalues) {
    free(j->values);
    j->nvalues = s->nfigures;
    j->values = nst_memory_new(j->nvalues, sizeof *j->values);
  }
  nst_figures_values(j->values, s->eval);
  nst_wire_put(&j->points, j->values, size);
  return true;
}

/* false: the reply is the fault alone. */
static bool evaluate(nst_judge *j, const nst_request *q, nst_wire_reader *points, const nestor_program *p, subject *subjects) {
  for (size_t i = 0; i < q->ntables; i++)
    if (!bind(&subjects[i], &j->fault, p, &q->tables[i])) return false;
  size_t total = 0;
  bool limited = false;
  int64_t values[64];
  for (size_t i = 0; i < q->npoints; i++) {
    const uint32_t t = nst_wire_get_u32(points);
    if (t >= q->ntables || q->tables[t].params.n > sizeof values / sizeof *values) return points->ok = false;
    const size_t size = q->tables[t].params.n * sizeof *values;
    const void *bytes = nst_wire_get(points, size);
    if (!bytes) return false;
    memcpy(values, bytes, size);
    if (limited) { /* once is enough: the other points would take as long */
      nst_wire_u8(&j->points, NST_OUTCOME_LIMIT);
      continue;
    }
    const nestor_status status = run_at(&subjects[t], &q->tables[t], values);
    if (status == NESTOR_OK) {
      if (!put_figures(j, &subjects[t], &total)) return false;
    } else {
      const nst_outcome outcome = point_fails(j, i, nestor_eval_diagnostics(subjects[t].eval));
      limited = outcome == NST_OUTCOME_LIMIT;
      nst_wire_u8(&j->points, (uint8_t)outcome);
    }
  }
  return true;
}

static void put_tables(nst_judge *j, nst_wire *out, const subject *subjects, size_t n) {
  nst_wire_u32(out, (uint32_t)n);
  for (size_t i = 0; i < n; i++) {
    nst_wire_u32(out, (uint32_t)subjects[i].nfigures);
    nst_wire_text(out, nestor_buffer_data(j->names) + subjects[i].names, subjects[i].names_end - subjects[i].names);
  }
}

static bool judge_program(nst_judge *j, nst_wire *tables, const nst_request *q, nst_wire_reader *points, const nestor_program *p) {
  if (q->least && !nst_given_is_kept(&j->build, &j->fault, j->session, q, p)) return false;
  subject *subjects = nst_memory_new(q->ntables, sizeof *subjects);
  const bool good = evaluate(j, q, points, p, subjects);
  if (good) put_tables(j, tables, subjects, q->ntables);
  for (size_t i = 0; i < q->ntables; i++) {
    nestor_eval_free(subjects[i].eval);
    free(subjects[i].position);
    free(subjects[i].args);
  }
  free(subjects);
  return good;
}

/* ---- models --------------------------------------------------------------- */

static size_t name_in(const nst_names *names, const char *name) {
  for (size_t i = 0; i < names->n; i++)
    if (!strcmp(names->items[i], name)) return i;
  return SIZE_MAX;
}

static nst_figure value_of(const nestor_model *m, size_t out) {
  nestor_value v;
  if (out == SIZE_MAX || !nestor_model_value(m, out, &v)) return (nst_figure){.kind = NST_FIGURE_NONE};
  switch (v.kind) {
    case NESTOR_VALUE_INTEGER: return nst_figure_whole(v.integer);
    case NESTOR_VALUE_FRACTION: return nst_figure_real(v.real);
    case NESTOR_VALUE_UNDEFINED: break;
  }
  return (nst_figure){.kind = NST_FIGURE_NONE};
}

/* Whether an output that is asked for has no value because it would take more than is allowed, as a sum over too many values does. */
static bool asks_too_much(nestor_model *m, const size_t *out, size_t n) {
  for (size_t i = 0; i < n; i++) {
    nestor_value v;
    if (out[i] != SIZE_MAX && nestor_model_value(m, out[i], &v) && v.kind == NESTOR_VALUE_UNDEFINED)
      return nestor_diagnostics_limit(nestor_model_diagnostics(m));
  }
  return false;
}

static bool judge_model(nst_judge *j, const nst_request *q, nst_wire_reader *points, const nestor_program *p) {
  const size_t index = nestor_program_find_model(p, q->name);
  nestor_model_info info;
  if (!nestor_program_model(p, index, &info)) {
    nst_fault_say(&j->fault, NST_OUTCOME_TYPE, NST_STAGE_COMPILE, 0, "there is no model `%s`", q->name);
    return false;
  }
  if (q->npoints * (q->outs.n + 1) > NST_WIRE_FIGURES) return points->ok = false;
  size_t *source = nst_memory_new(info.params, sizeof *source), *out = nst_memory_new(q->outs.n, sizeof *out);
  int64_t *row = nst_memory_new(q->params.n, sizeof *row), *args = nst_memory_new(info.params, sizeof *args);
  bool good = true;
  for (size_t i = 0; i < info.params; i++) {
    const char *name = nestor_program_model_param(p, index, i);
    source[i] = name_in(&q->params, name);
    if (source[i] != SIZE_MAX) continue;
    nst_fault_say(&j->fault, NST_OUTCOME_TYPE, NST_STAGE_COMPILE, 0, "nothing gives the parameter `%s` of the model a value", name);
    good = false;
  }
  for (size_t i = 0; i < q->outs.n; i++) {
    out[i] = SIZE_MAX;
    for (size_t k = 0; k < info.outs; k++)
      if (!strcmp(nestor_program_model_out(p, index, k), q->outs.items[i])) out[i] = k;
  }
  nestor_model *m = nestor_model_new(p, index);
  for (size_t i = 0; good && i < q->npoints; i++) {
    const void *bytes = nst_wire_get(points, q->params.n * sizeof *row);
    if (!(good = bytes != NULL)) break;
    memcpy(row, bytes, q->params.n * sizeof *row);
    for (size_t k = 0; k < info.params; k++) args[k] = row[source[k]];
    if (nestor_model_run(m, args) != NESTOR_OK || asks_too_much(m, out, q->outs.n)) {
      nst_wire_u8(&j->points, (uint8_t)point_fails(j, i, nestor_model_diagnostics(m)));
      break; /* past a limit once is enough */
    }
    nst_wire_u8(&j->points, NST_OUTCOME_PASSED);
    for (size_t k = 0; k < q->outs.n; k++) {
      nst_figure value;
      memset(&value, 0, sizeof value);
      const nst_figure got = value_of(m, out[k]);
      value.kind = got.kind;
      value.whole = got.whole;
      nst_wire_put(&j->points, &value, sizeof value);
    }
  }
  nestor_model_free(m);
  free(source), free(out), free(row), free(args);
  return good && j->failed == (uint32_t)NST_WIRE_NOWHERE;
}

/* ---- replies -------------------------------------------------------------- */

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Each point and each compilation may take as much, and all together no more than a few seconds on any machine, so that the watchdog, which
 * knows a clock, has nothing to decide. */
static void set_limits(nst_judge *j, const nst_request *q) {
  const uint64_t share = ALL_FUEL / (q->npoints + 2), fuel = q->fuel < share ? q->fuel : share;
  if (j->fuel == fuel) return;
  j->fuel = fuel;
  nestor_session_set_limits(j->session, (nestor_limits){.fuel = fuel});
}

bool nst_judge_request(nst_judge *j, nst_wire *out, nst_wire_reader r, uint32_t number, bool retire) {
  const uint64_t begin = now();
  nst_request q;
  if (!nst_request_read(&q, &r)) return false;
  set_limits(j, &q);
  nst_fault_clear(&j->fault);
  j->points.size = 0;
  nestor_buffer_clear(j->names);
  j->failed = (uint32_t)NST_WIRE_NOWHERE;
  j->build.before = j->build.lines = 0;

  nst_wire tables = {0};
  nst_wire_reader points = q.points;
  nestor_program *p = nst_build_make(&j->build, &j->fault, j->session, &q);
  const bool good = p && (q.model ? judge_model(j, &q, &points, p) : judge_program(j, &tables, &q, &points, p));
  nestor_program_free(p);

  const size_t frame = nst_wire_begin(out, number);
  nst_wire_u8(out, (uint8_t)j->fault.outcome);
  nst_wire_u8(out, (uint8_t)j->fault.stage);
  nst_wire_u8(out, retire);
  nst_wire_u64(out, now() - begin);
  nst_wire_u32(out, j->failed);
  nst_wire_u32(out, j->fault.nmessages);
  nst_wire_put(out, j->fault.messages.bytes, j->fault.messages.size);
  nst_wire_u8(out, good);
  if (good) {
    nst_wire_put(out, tables.bytes, tables.size);
    nst_wire_u32(out, (uint32_t)q.npoints);
    nst_wire_put(out, j->points.bytes, j->points.size);
  }
  nst_wire_end(out, frame);
  nst_wire_fini(&tables);
  nst_request_fini(&q);
  return points.ok;
}
