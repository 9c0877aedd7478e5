/* Comparing, point by point and figure by figure. A reply comes from a process that held a stranger's text: its lengths, kinds and outcomes are
 * checked before they are used. */
#include "bench/grade/compare.h"

#include "bench/grade/utf8.h"
#include "bench/grade/values.h"
#include "bench/record/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nst_verdict_fini(nst_verdict *v) {
  json_decref(v->sub);
  json_decref(v->diagnostics);
  json_decref(v->counterexample);
  *v = (nst_verdict){0};
}

json_t *nst_json_text(const char *bytes, size_t size) {
  json_t *text = json_stringn(bytes, size);
  if (text) return text;
  size_t mended_size;
  char *mended = nst_utf8_mend(&mended_size, bytes, size);
  text = json_stringn_nocheck(mended, mended_size);
  free(mended);
  return text;
}

static json_t *add_message(nst_verdict *v, json_t *message) {
  json_t *entry = json_object();
  if (!v->diagnostics) v->diagnostics = json_array();
  json_object_set_new(entry, "message", message);
  json_array_append_new(v->diagnostics, entry);
  return entry;
}

void nst_verdict_say(nst_verdict *v, const char *format, ...) {
  char text[512];
  va_list args;
  va_start(args, format);
  const int n = vsnprintf(text, sizeof text, format, args);
  va_end(args);
  add_message(v, nst_json_text(text, n < 0 ? 0 : n < (int)sizeof text ? (size_t)n : sizeof text - 1));
}

/* ---- the head of a reply -------------------------------------------------- */

enum { MOST_MESSAGES = 64 };

static bool read_messages(nst_verdict *v, nst_wire_reader *r) {
  const uint32_t n = nst_wire_get_count(r, 4 * sizeof(uint32_t));
  for (uint32_t i = 0; i < n && r->ok && i < MOST_MESSAGES; i++) {
    size_t ncode, nmessage, nhelp;
    nst_wire_get_u8(r);
    const char *code = nst_wire_get_text(r, &ncode);
    const uint32_t line = nst_wire_get_u32(r), column = nst_wire_get_u32(r);
    const char *message = nst_wire_get_text(r, &nmessage), *help = nst_wire_get_text(r, &nhelp);
    json_t *entry = add_message(v, nst_json_text(message, nmessage));
    if (ncode) json_object_set_new(entry, "code", nst_json_text(code, ncode));
    if (nhelp) json_object_set_new(entry, "help", nst_json_text(help, nhelp));
    if (line) json_object_set_new(entry, "line", json_integer(line));
    if (column) json_object_set_new(entry, "column", json_integer(column));
  }
  return r->ok && n <= MOST_MESSAGES;
}

static bool outcome_is_sane(uint8_t outcome) {
  return outcome < NST_OUTCOME_COUNT && outcome != NST_OUTCOME_WRONG && outcome != NST_OUTCOME_NO_ANSWER;
}

static nst_figure get_figure(const uint8_t *bytes) {
  nst_figure f;
  memcpy(&f, bytes, sizeof f);
  switch ((int)f.kind) {
    case NST_FIGURE_WHOLE: return f;
    case NST_FIGURE_REAL: return nst_figure_real(f.real);
    default: return (nst_figure){.kind = NST_FIGURE_NONE}; /* not an enum of ours, but bytes of a stranger */
  }
}

/* ---- programs ------------------------------------------------------------- */

/* A table of the reply: index[i] is where the expected figure i stands, or SIZE_MAX; NULL: the names are the expected ones. */
typedef struct { const char *names; size_t names_size, nfigures; size_t *index; bool more; } got_table;

static bool names_are_sane(const got_table *t) {
  size_t n = 0;
  for (const char *p = t->names, *end = p + t->names_size; p < end; n++) {
    const char *nul = memchr(p, 0, (size_t)(end - p));
    if (!nul) return false;
    p = nul + 1;
  }
  return n == t->nfigures;
}

static size_t name_at(const char *names, size_t size, const char *name) {
  size_t i = 0;
  for (const char *p = names, *end = names + size; p < end; p += strlen(p) + 1, i++)
    if (!strcmp(p, name)) return i;
  return SIZE_MAX;
}

static void match(got_table *got, const nst_expected_table *want) {
  if (got->names_size == want->names_size && !memcmp(got->names, want->names, got->names_size)) return;
  got->index = nst_memory_new(want->nfigures, sizeof *got->index);
  size_t found = 0, i = 0;
  for (const char *p = want->names, *end = p + want->names_size; p < end; p += strlen(p) + 1, i++) {
    got->index[i] = name_at(got->names, got->names_size, p);
    found += got->index[i] != SIZE_MAX;
  }
  got->more = found < got->nfigures; /* names of one table differ from each other */
}

static json_t *counterexample_at(const nst_prepared *p, size_t point) {
  json_t *out = json_object();
  json_object_set_new(out, "mapping", json_string(p->tables[p->points[point].table].mapping));
  json_object_set(out, "params", (json_t *)p->points[point].params);
  return out;
}

static void add_difference(json_t *figures, const char *name, const nst_figure *want, const nst_figure *got) {
  if (json_array_size(figures) >= NST_COUNTEREXAMPLE_FIGURES) return;
  json_t *entry = json_object();
  json_object_set_new(entry, "name", json_string(name));
  json_object_set_new(entry, "expected", nst_figure_json(*want));
  json_object_set_new(entry, "got", got ? nst_figure_json(*got) : json_null());
  json_array_append_new(figures, entry);
}

/* One point; false_groups[g] is set where a figure of group g differs. Returns whether all are equal. */
static bool compare_point(nst_verdict *v, const nst_prepared *p, size_t point, const got_table *got, const uint8_t *bytes,
                          bool *false_groups) {
  const nst_expected_point *want = &p->points[point];
  const nst_expected_table *table = &p->tables[want->table];
  bool equal = true;
  json_t *figures = NULL;
  /* The same bytes are the same figures: what is expected is never infinite or NaN. Other bytes need not be other figures. */
  if (!got->index && !memcmp(bytes, want->values, table->nfigures * sizeof *want->values)) return true;
  for (size_t i = 0; i < table->nfigures; i++) {
    const size_t at = got->index ? got->index[i] : i;
    nst_figure value = {.kind = NST_FIGURE_NONE};
    if (at != SIZE_MAX) value = get_figure(bytes + at * sizeof value);
    if (at != SIZE_MAX && nst_figure_equal(value, want->values[i])) continue;
    equal = false;
    false_groups[table->group[i]] = true;
    if (v->counterexample && !figures) continue;
    if (!figures) {
      v->counterexample = counterexample_at(p, point);
      json_object_set_new(v->counterexample, "figures", figures = json_array());
    }
    const char *name = table->names;
    for (size_t k = 0; k < i; k++) name += strlen(name) + 1;
    add_difference(figures, name, &want->values[i], at != SIZE_MAX ? &value : NULL);
  }
  return equal;
}

/* What an answer that does not pass is worth: what it has right beyond what doing nothing has. A share that equals the floor but for
 * rounding is the floor. */
static double partial(const nst_prepared *p, size_t good, size_t n) {
  const double gain = n ? (double)good / (double)n - p->floor : 0;
  return gain > 1e-12 ? gain / (1 - p->floor) : 0;
}

/* extra: the answer has a figure that nothing was expected under, which counts as one that differs. */
static void fill_sub(nst_verdict *v, const nst_prepared *p, const bool *false_groups, bool extra) {
  size_t i, good = 0;
  json_t *group;
  v->sub = json_object();
  json_array_foreach(p->groups, i, group) {
    good += !false_groups[i];
    json_object_set_new_nocheck(v->sub, json_string_value(group), json_boolean(!false_groups[i]));
  }
  v->score = partial(p, good, i + extra);
}

/* Names that nothing was expected under. */
static void say_more(nst_verdict *v, const nst_expected_table *want, const got_table *got) {
  for (const char *p = got->names, *end = p + got->names_size; p < end; p += strlen(p) + 1) {
    if (name_at(want->names, want->names_size, p) != SIZE_MAX) continue;
    nst_verdict_say(v, "the answer has a figure that the reference does not have: %.100s", p);
    return;
  }
}

static void pass(nst_verdict *v, const nst_prepared *p) {
  v->outcome = NST_OUTCOME_PASSED;
  v->score = 1;
  v->sub = json_incref(p->all_true);
}

/* A table's points cannot be judged where it is not there: all it would have compared is false. */
static void condemn(const nst_expected_table *t, bool *false_groups) {
  for (size_t i = 0; i < t->nfigures; i++) false_groups[t->group[i]] = true;
}

static bool compare_equal(nst_verdict *v, const nst_prepared *p, nst_wire_reader *r, const got_table *got, nst_outcome first_fault) {
  bool *false_groups = nst_memory_new(json_array_size(p->groups), sizeof *false_groups), equal = true, extra = false;
  for (size_t i = 0; i < p->npoints && r->ok; i++) {
    const nst_expected_table *table = &p->tables[p->points[i].table];
    const got_table *t = &got[p->points[i].table];
    if (nst_wire_get_u8(r) != NST_OUTCOME_PASSED) {
      equal = false;
      condemn(table, false_groups);
      if (!v->counterexample) v->counterexample = counterexample_at(p, i);
      continue;
    }
    const uint8_t *bytes = nst_wire_get(r, t->nfigures * sizeof(nst_figure));
    if (!bytes || (!t->index && t->nfigures != table->nfigures)) r->ok = false;
    else equal &= compare_point(v, p, i, t, bytes, false_groups);
  }
  for (size_t i = 0; i < p->ntables; i++) {
    if (!got[i].more || !r->ok) continue;
    equal = false;
    extra = true;
    say_more(v, &p->tables[i], &got[i]);
  }
  const bool ok = r->ok && r->at == r->end && (equal || first_fault == NST_OUTCOME_PASSED || v->counterexample);
  if (ok && equal && first_fault == NST_OUTCOME_PASSED) pass(v, p);
  else if (ok) {
    fill_sub(v, p, false_groups, extra);
    v->outcome = first_fault == NST_OUTCOME_PASSED ? NST_OUTCOME_WRONG : first_fault;
  }
  free(false_groups);
  return ok;
}

static double as_double(nst_figure f) {
  switch (f.kind) {
    case NST_FIGURE_WHOLE: return (double)f.whole;
    case NST_FIGURE_REAL: return f.real;
    case NST_FIGURE_NONE: break;
  }
  return 0;
}

/* The worst point decides. */
static bool compare_least(nst_verdict *v, const nst_prepared *p, nst_wire_reader *r, const got_table *got, nst_outcome first_fault) {
  double score = 1;
  bool reached = true, fits = true, better = false;
  v->outcome = first_fault;
  for (size_t i = 0; i < p->npoints && r->ok; i++) {
    const got_table *t = &got[p->points[i].table];
    if (nst_wire_get_u8(r) != NST_OUTCOME_PASSED) {
      if (first_fault == NST_OUTCOME_PASSED) return false;
      if (!v->counterexample) v->counterexample = counterexample_at(p, i);
      score = 0;
      continue;
    }
    const uint8_t *bytes = nst_wire_get(r, t->nfigures * sizeof(nst_figure));
    const size_t fit = name_at(t->names, t->names_size, "fits"), objective = name_at(t->names, t->names_size, p->objective);
    if (!bytes || fit == SIZE_MAX || objective == SIZE_MAX) return false;
    const nst_figure f = get_figure(bytes + fit * sizeof(nst_figure)), value = get_figure(bytes + objective * sizeof(nst_figure));
    fits &= f.kind == NST_FIGURE_WHOLE && f.whole == 1;
    if (nst_figure_equal(value, p->optimum)) continue;
    const double optimum = as_double(p->optimum), achieved = as_double(value);
    if (value.kind == NST_FIGURE_NONE) score = 0, reached = false;
    else if (achieved < optimum || (achieved <= optimum && value.kind == NST_FIGURE_WHOLE && p->optimum.kind == NST_FIGURE_WHOLE &&
                                    value.whole < p->optimum.whole)) better = true;
    else {
      reached = false;
      score = optimum / achieved < score ? optimum / achieved : score;
      if (v->counterexample) continue;
      json_t *figures = json_array();
      add_difference(figures, p->objective, &p->optimum, &value);
      v->counterexample = counterexample_at(p, i);
      json_object_set_new(v->counterexample, "figures", figures);
    }
  }
  if (!r->ok || r->at != r->end) return false;
  if (v->outcome != NST_OUTCOME_PASSED) return true;
  v->outcome = reached ? NST_OUTCOME_PASSED : NST_OUTCOME_WRONG;
  v->score = score;
  if (!fits) {
    v->outcome = NST_OUTCOME_ILLEGAL;
    v->score = 0;
    nst_verdict_say(v, "the mapping does not fit");
  } else if (better) nst_verdict_say(v, "the mapping is better than the optimum of the space that was searched");
  v->sub = json_object();
  json_object_set_new(v->sub, p->objective, json_boolean(v->outcome == NST_OUTCOME_PASSED));
  return true;
}

static bool compare_program(nst_verdict *v, const nst_prepared *p, nst_wire_reader *r, nst_outcome first_fault) {
  if (nst_wire_get_u32(r) != p->ntables) return false;
  got_table *got = nst_memory_new(p->ntables, sizeof *got);
  bool ok = true;
  for (size_t i = 0; i < p->ntables && ok; i++) {
    got[i].nfigures = nst_wire_get_u32(r);
    got[i].names = nst_wire_get_text(r, &got[i].names_size);
    ok = r->ok && got[i].nfigures <= NST_WIRE_FIGURES && names_are_sane(&got[i]);
    /* Without a good point a table has no names. */
    if (ok && !p->least && got[i].nfigures) match(&got[i], &p->tables[i]);
  }
  ok = ok && nst_wire_get_u32(r) == p->npoints;
  if (ok) ok = p->least ? compare_least(v, p, r, got, first_fault) : compare_equal(v, p, r, got, first_fault);
  for (size_t i = 0; i < p->ntables; i++) free(got[i].index);
  free(got);
  return ok;
}

/* ---- models --------------------------------------------------------------- */

static json_t *row_of(const nst_prepared *p, size_t point) {
  json_t *out = json_object();
  const size_t n = json_array_size(p->params);
  for (size_t i = 0; i < n; i++)
    json_object_set_new(out, json_string_value(json_array_get(p->params, i)), nst_record_from_int(p->rows[point * n + i]));
  return out;
}

/* A model's outputs are exact: a fraction near a whole number is not that number. */
static bool same_output(nst_figure got, nst_figure want) { return got.kind == want.kind && nst_figure_equal(got, want) && got.kind != NST_FIGURE_NONE; }

static bool compare_model(nst_verdict *v, const nst_prepared *p, nst_wire_reader *r) {
  const size_t nouts = json_array_size(p->groups), stride = 1 + nouts * sizeof(nst_figure);
  if (nst_wire_get_u32(r) != p->npoints || (size_t)(r->end - r->at) != p->npoints * stride) return false;
  const uint8_t *rows = r->at;
  bool *false_groups = nst_memory_new(nouts, sizeof *false_groups), equal = true;
  for (size_t k = 0; k < p->npoints; k++) {
    const size_t point = p->by_size[k];
    json_t *figures = NULL;
    for (size_t i = 0; i < nouts; i++) {
      const nst_figure got = get_figure(rows + point * stride + 1 + i * sizeof got), want = p->values[point * nouts + i];
      if (same_output(got, want)) continue;
      equal = false;
      false_groups[i] = true;
      if (v->counterexample && !figures) continue;
      if (!figures) {
        v->counterexample = json_object();
        json_object_set_new(v->counterexample, "params", row_of(p, point));
        json_object_set_new(v->counterexample, "figures", figures = json_array());
      }
      add_difference(figures, json_string_value(json_array_get(p->groups, i)), &want, &got);
    }
  }
  if (equal) pass(v, p);
  else {
    v->outcome = NST_OUTCOME_WRONG;
    fill_sub(v, p, false_groups, false);
  }
  free(false_groups);
  return true;
}

bool nst_compare_reply(nst_verdict *v, const nst_prepared *p, nst_wire_reader r) {
  *v = (nst_verdict){0};
  const uint8_t outcome = nst_wire_get_u8(&r), stage = nst_wire_get_u8(&r);
  nst_wire_get_u8(&r); /* whether it retires is the pool's to know */
  v->nanoseconds = nst_wire_get_u64(&r);
  const uint32_t failed = nst_wire_get_u32(&r);
  bool ok = outcome_is_sane(outcome) && stage < NST_STAGE_COUNT && read_messages(v, &r);
  const bool has_figures = nst_wire_get_u8(&r);
  v->stage = (nst_stage)stage;
  v->outcome = (nst_outcome)outcome;
  if (ok && has_figures && p->task.answer == NST_ANSWER_PROGRAM) ok = compare_program(v, p, &r, (nst_outcome)outcome);
  else if (ok && has_figures) ok = outcome == NST_OUTCOME_PASSED && compare_model(v, p, &r);
  else if (ok) {
    ok = outcome != NST_OUTCOME_PASSED && r.ok && r.at == r.end;
    if (ok && failed < p->npoints && p->task.answer == NST_ANSWER_MODEL) {
      v->counterexample = json_object();
      json_object_set_new(v->counterexample, "params", row_of(p, failed));
    }
  }
  if (ok) return true;
  nst_verdict_fini(v);
  return false;
}

/* ---- choices and numbers -------------------------------------------------- */

void nst_compare_choice(nst_verdict *v, const nst_prepared *p, size_t choice) {
  *v = (nst_verdict){.outcome = choice == p->choice ? NST_OUTCOME_PASSED : NST_OUTCOME_WRONG, .stage = NST_STAGE_COMPARE,
                     .score = choice == p->choice};
}

void nst_compare_numbers(nst_verdict *v, const nst_prepared *p, const nst_figure *values) {
  *v = (nst_verdict){.stage = NST_STAGE_COMPARE};
  const size_t n = json_array_size(p->groups);
  bool *false_groups = nst_memory_new(n, sizeof *false_groups), equal = true;
  for (size_t i = 0; i < n; i++) {
    false_groups[i] = values[i].kind == NST_FIGURE_NONE || !nst_figure_equal(values[i], p->values[i]);
    equal &= !false_groups[i];
  }
  if (equal) pass(v, p);
  else {
    v->outcome = NST_OUTCOME_WRONG;
    fill_sub(v, p, false_groups, false);
    json_t *figures = json_array();
    for (size_t i = 0; i < n; i++)
      if (false_groups[i]) add_difference(figures, json_string_value(json_array_get(p->groups, i)), &p->values[i], &values[i]);
    v->counterexample = json_object();
    json_object_set_new(v->counterexample, "figures", figures);
  }
  free(false_groups);
}
