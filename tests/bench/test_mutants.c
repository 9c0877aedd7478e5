/* What share of wrong answers the grader rejects.
 *
 * Every kind of fault is planted in reference answers. Mutants that do not compile are easy and are counted apart. Of
 * those that compile, one counts where it differs from the reference at some of a thousand points that are drawn apart
 * from those of the key: it fails, or has another figure. All that do not compile and at least 99 of 100 that differ
 * must be rejected. The shares are printed. */
#include "tests/unit/test.h"

#include "bench/grade/figures.h"
#include "bench/grade/grade.h"
#include "bench/tasks/body.h"
#include "bench/tasks/generate.h"
#include "bench/tasks/mutate.h"
#include "bench/tasks/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TASKS = 60, POINTS = 1000, MOST_OPERATIONS = 100000, TRIES = 3 };

typedef struct {
  json_t *tasks, *keys;
} records;

static bool collect(void *context, const json_t *task, const json_t *key) {
  records *r = context;
  json_array_append(r->tasks, (json_t *)task);
  json_array_append(r->keys, (json_t *)key);
  return true;
}

static const char *text_at(const json_t *object, const char *member) {
  return json_string_value(json_object_get(object, member));
}

/* The program that a candidate makes: what is given, itself, the probes. */
static bool compile(nst_solver *s, const json_t *spec, const json_t *key, const char *candidate) {
  nestor_buffer *text = nestor_buffer_new();
  const char *probe = text_at(key, "probe");
  nst_text_add(text, "%s%s%s", text_at(spec, "given"), candidate, probe ? probe : "");
  const bool good = nst_solver_init(s, nestor_buffer_data(text), nestor_buffer_size(text), true);
  nestor_buffer_free(text);
  return good;
}

/* ---- comparing at independent points -------------------------------------- */

static bool set_all(nestor_eval *eval, const nst_draft_mapping *m, const int64_t *params) {
  for (int p = 0; p < m->nparams; p++) {
    char digits[24];
    snprintf(digits, sizeof digits, "%lld", (long long)params[p]);
    if (nestor_eval_set(eval, m->params[p].name, digits) != NESTOR_OK) return false;
  }
  return true;
}

static bool same_figures(const nestor_eval *a, const nestor_eval *b) {
  const size_t n = nst_figures_count(a);
  if (n != nst_figures_count(b)) return false;
  nestor_buffer *names[2] = {nestor_buffer_new(), nestor_buffer_new()};
  nst_figures_names(names[0], a);
  nst_figures_names(names[1], b);
  nst_figure *values[2] = {calloc(n, sizeof **values), calloc(n, sizeof **values)};
  nst_figures_values(values[0], a);
  nst_figures_values(values[1], b);
  bool same = nestor_buffer_size(names[0]) == nestor_buffer_size(names[1]) &&
              !memcmp(nestor_buffer_data(names[0]), nestor_buffer_data(names[1]), nestor_buffer_size(names[0]));
  for (size_t i = 0; i < n && same; i++) same = nst_figure_equal(values[0][i], values[1][i]);
  free(values[0]), free(values[1]);
  nestor_buffer_free(names[0]), nestor_buffer_free(names[1]);
  return same;
}

static bool mapping_differs(nst_solver *reference, nst_solver *mutant, const nst_draft *d, const nst_draft_mapping *m,
                            const nst_point *points) {
  nestor_eval *a = nst_solver_eval(reference, m->name), *b = nst_solver_eval(mutant, m->name);
  bool differs = !b;
  /* The first point is the defaults, which nobody sets. */
  for (size_t i = 0; i < POINTS && !differs; i++) {
    assert_int_equal(nestor_eval_run(a, NESTOR_ENGINE_ANALYSIS, points[i].values), NESTOR_OK);
    differs = (i && !set_all(b, m, points[i].values)) ||
              nestor_eval_run(b, NESTOR_ENGINE_ANALYSIS, NULL) != NESTOR_OK || !same_figures(a, b);
  }
  (void)d;
  nestor_eval_free(a);
  nestor_eval_free(b);
  return differs;
}

static bool model_differs(nst_solver *mutant, const nst_draft *d, const json_t *spec, nst_solver *reference,
                          const nst_point *points) {
  const json_t *params = json_object_get(json_object_get(spec, "declares"), "params");
  const size_t at = nestor_program_find_model(mutant->program, "costs");
  nestor_model_info info;
  if (!nestor_program_model(mutant->program, at, &info) || info.params != json_array_size(params)) return true;
  for (size_t p = 0; p < info.params; p++)
    if (strcmp(nestor_program_model_param(mutant->program, at, p), json_string_value(json_array_get(params, p))) != 0)
      return true;
  nestor_model *a = nestor_model_new(reference->program, nestor_program_find_model(reference->program, "costs")),
               *b = nestor_model_new(mutant->program, at);
  bool differs = false;
  for (size_t i = 0; i < POINTS && !differs; i++) {
    assert_int_equal(nestor_model_run(a, points[i].values), NESTOR_OK);
    differs = nestor_model_run(b, points[i].values) != NESTOR_OK;
    for (int q = 0; q < d->nquantities && !differs; q++) {
      nestor_value x, y;
      size_t out = 0;
      while (out < info.outs && strcmp(nestor_program_model_out(mutant->program, at, out), d->quantities[q].name) != 0)
        out++;
      assert_true(nestor_model_value(a, (size_t)q, &x));
      differs =
        out == info.outs || !nestor_model_value(b, out, &y) || y.kind != NESTOR_VALUE_INTEGER || x.integer != y.integer;
    }
  }
  nestor_model_free(a);
  nestor_model_free(b);
  return differs;
}

typedef enum { SAME, DIFFERS, DOES_NOT_COMPILE } fate;

static fate fate_of(const nst_draft *d, const json_t *spec, const json_t *key, const char *mutant) {
  nst_solver reference, other;
  assert_true(compile(&reference, spec, key, text_at(key, "answer")));
  const bool compiles = compile(&other, spec, key, mutant);
  bool differs = !compiles;
  nst_point *points = calloc(POINTS, sizeof *points);
  nst_random r = nst_random_make(d->seed, "independent");
  for (int m = 0; m < d->nmappings && !differs; m++) {
    if (!d->mappings[m].nparams) continue; /* a probe at the defaults has one point, and it is the key's */
    nst_points_draw(points, POINTS, d, &d->mappings[m], MOST_OPERATIONS, &r);
    differs = d->kind == NST_KIND_GEN_MODEL ? model_differs(&other, d, spec, &reference, points)
                                            : mapping_differs(&reference, &other, d, &d->mappings[m], points);
  }
  free(points);
  nst_solver_fini(&reference);
  nst_solver_fini(&other);
  return !compiles ? DOES_NOT_COMPILE : differs ? DIFFERS : SAME;
}

/* ---- counting ------------------------------------------------------------- */

typedef struct {
  int planted, broken, broken_rejected, differ, rejected; /* broken: does not compile; differ: compiles, and differs */
} tally;

static void print_tally(const char *name, const tally *t) {
  print_message("%-18s %4d planted, %4d do not compile (%4d rejected), %4d compile and differ (%4d rejected)\n", name,
                t->planted, t->broken, t->broken_rejected, t->differ, t->rejected);
}

static nst_sample sample_of(const char *task_id, const char *program) {
  nestor_buffer *completion = nestor_buffer_new();
  nst_body_code(completion, program);
  char error[NST_RECORD_ERROR];
  nst_sample s;
  if (!nst_sample_take(
        &s,
        json_pack("{s:s,s:s,s:s}", "task_id", task_id, "sample_id", "0", "completion", nestor_buffer_data(completion)),
        error))
    fail_msg("%s", error);
  nestor_buffer_free(completion);
  return s;
}

static bool passes(nst_grading *grading, const char *task_id, const char *program) {
  nst_sample s = sample_of(task_id, program);
  nst_result r;
  nst_grading_run(grading, &r, &s, 1);
  const bool passed = r.passed;
  if (r.outcome == NST_OUTCOME_INFRA_ERROR) fail_msg("%s was not judged", task_id);
  nst_result_fini(&r);
  nst_sample_fini(&s);
  return passed;
}

static void mutants_are_rejected(void **state) {
  (void)state;
  char error[NST_RECORD_ERROR];
  records r = {json_array(), json_array()};
  const nst_suite_options o = {.suite = "mutants",
                               .seed = 11,
                               .split = NST_SPLIT_TRAIN,
                               .count = TASKS,
                               .levels = 2 * ((1u << NST_LEVELS) - 1),
                               .quick = true,
                               .kinds = 1u << NST_KIND_GEN_WORKLOAD | 1u << NST_KIND_GEN_HARDWARE |
                                        1u << NST_KIND_GEN_MAPPING | 1u << NST_KIND_GEN_MODEL};
  if (!nst_suite_generate(&o, collect, &r, error)) fail_msg("%s", error);
  nst_grading *grading = nst_grading_new(&(nst_grading_options){.workers = 1}, error);
  if (!grading) fail_msg("%s", error);
  tally tallies[NST_FAULT_COUNT] = {{0}}, sum = {0};
  nst_draft *d = malloc(sizeof *d);
  for (size_t i = 0; i < json_array_size(r.tasks); i++) {
    json_t *json = json_array_get(r.tasks, i), *key_json = json_array_get(r.keys, i),
           *spec = json_object_get(json, "spec");
    nst_task task;
    nst_key key;
    if (!nst_task_take(&task, json_incref(json), error) || !nst_key_take(&key, json_incref(key_json), error))
      fail_msg("%s", error);
    nst_draft_of_task(d, &task, NULL);
    const char *id = text_at(json, "task_id"), *answer = text_at(key_json, "answer");
    if (!nst_grading_add_task(grading, &task, error) || !nst_grading_add_key(grading, &key, error))
      fail_msg("%s", error);
    if (!passes(grading, id, answer)) fail_msg("the reference of %s does not pass", id);
    for (int fault = 0; fault < NST_FAULT_COUNT; fault++)
      for (int n = 0; n < TRIES; n++) {
        char stream[32];
        snprintf(stream, sizeof stream, "mutant/%d/%d", fault, n);
        nst_random random = nst_random_make(d->seed, stream);
        nestor_buffer *mutant = nestor_buffer_new();
        if (nst_mutate(mutant, answer, strlen(answer), (nst_fault)fault, &random)) {
          tally *t = &tallies[fault];
          t->planted++;
          const fate end = fate_of(d, spec, key_json, nestor_buffer_data(mutant));
          if (end != SAME) {
            const bool passed = passes(grading, id, nestor_buffer_data(mutant));
            if (end == DIFFERS)
              t->differ++, t->rejected += !passed;
            else
              t->broken++, t->broken_rejected += !passed;
            if (passed)
              print_message("%s passes with the fault %s:\n%s", id, nst_fault_name((nst_fault)fault),
                            nestor_buffer_data(mutant));
          }
        }
        nestor_buffer_free(mutant);
      }
  }
  int kinds = 0;
  for (int fault = 0; fault < NST_FAULT_COUNT; fault++) {
    const tally *t = &tallies[fault];
    print_tally(nst_fault_name((nst_fault)fault), t);
    kinds += t->differ > 0;
    sum.planted += t->planted, sum.differ += t->differ, sum.rejected += t->rejected;
    sum.broken += t->broken, sum.broken_rejected += t->broken_rejected;
  }
  print_tally("all", &sum);
  print_message("%d of %d mutants that compile and differ are rejected: %.2f %%; %d of %d that do not compile\n",
                sum.rejected, sum.differ, 100.0 * sum.rejected / sum.differ, sum.broken_rejected, sum.broken);
  assert_true(kinds >= 12 && sum.differ > 300);
  assert_true(sum.rejected * 100 >= sum.differ * 99);
  assert_int_equal(sum.broken_rejected, sum.broken);
  free(d);
  nst_grading_free(grading);
  json_decref(r.tasks);
  json_decref(r.keys);
}

static void faults_change_the_text(void **state) {
  (void)state;
  static const char text[] =
    "mapping ans(tm = 4) of w on h {\n  keep all in D\n  for m by tm\n  for n by 2\n  keep A, B in G\n  compute\n}\n";
  int planted = 0;
  for (int fault = 0; fault < NST_FAULT_COUNT; fault++)
    for (uint64_t seed = 0; seed < 20; seed++) {
      nst_random r = nst_random_make(seed, "x");
      nestor_buffer *out = nestor_buffer_new();
      if (nst_mutate(out, text, strlen(text), (nst_fault)fault, &r)) {
        planted++;
        assert_true(strcmp(nestor_buffer_data(out), text) != 0);
      } else
        assert_int_equal(nestor_buffer_size(out), 0);
      nestor_buffer_free(out);
    }
  assert_true(planted > 100);
  /* Texts that are no programs have no place for faults, or some, and never crash. */
  static const char *const odd[] = {"",
                                    "\n",
                                    "}",
                                    "mapping",
                                    "mapping x",
                                    "for for for for for for",
                                    "keep in in in in in",
                                    "mapping a b c d e keep keep keep",
                                    "workload [ [ ] ] : + = 1 , , ,"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
    for (int fault = 0; fault < NST_FAULT_COUNT; fault++) {
      nst_random r = nst_random_make(i, "odd");
      nestor_buffer *out = nestor_buffer_new();
      nst_mutate(out, odd[i], strlen(odd[i]), (nst_fault)fault, &r);
      nestor_buffer_free(out);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(faults_change_the_text), cmocka_unit_test(mutants_are_rejected)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
