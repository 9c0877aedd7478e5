/* What share of wrong answers the grader rejects.
 *
 * Faults are planted in reference answers of every kind: in programs those of bench/tasks/mutate.h, in numbers and
 * choices those of mutant_answers.def. Each fault is planted once, then each once more at another place, until twelve
 * different mutants differ from the reference, or nothing new comes. Those that do not compile, or hold no answer, are
 * easy and counted apart. Of the others one counts where it differs from the reference at some of a thousand points
 * that are drawn apart from those of the key (mutant_judge.h): it fails, or has another figure. For gen.optimize it
 * counts where it does not fit or costs more than the reference: another mapping as good as the best is no fault, and
 * is counted as equal. All that do not compile and at least 99 of 100 that differ must be rejected. The shares are
 * printed.
 *
 * Without arguments it tries tasks of its own, of every kind and level. `bench_test_mutants TASKS KEYS [TASKS KEYS]..`
 * tries those of a suite, which must be made by the same version: points are drawn for the draft of a task. */
#include "tests/unit/test.h"

#include "bench/grade/grade.h"
#include "bench/record/lines.h"
#include "bench/tasks/body.h"
#include "bench/tasks/closed.h"
#include "bench/tasks/generate.h"
#include "bench/tasks/mutate.h"
#include "bench/tasks/text.h"
#include "tests/bench/mutant_answers.h"
#include "tests/bench/mutant_judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = NST_KIND_COUNT * NST_LEVELS, TASKS = CELLS * (TEST_SANITIZED ? 1 : 20) };
enum { WAYS = 12, ROUNDS = 40, TRIES = 6 };
/* Faults of programs, of numbers, of choices, numbered through. */
enum { NUMBERS = (int)NST_FAULT_ALL, CHOICES = NUMBERS + (int)MUTANT_NUMBER_COUNT, FAULTS = CHOICES + (int)MUTANT_CHOICE_COUNT };

/* ---- tasks ---------------------------------------------------------------- */

typedef struct {
  char *const *paths; /* of a suite: tasks, keys, tasks, keys and so on */
  int n;
} given;

typedef struct {
  json_t *tasks, *keys;
} records;

static bool collect(void *context, const json_t *task, const json_t *key) {
  records *r = context;
  json_array_append(r->tasks, (json_t *)task);
  json_array_append(r->keys, (json_t *)key);
  return true;
}

static void read_lines(json_t *out, const char *path) {
  const int fd = open(path, O_RDONLY);
  if (fd < 0) fail_msg("%s: %s", path, strerror(errno));
  nst_lines *lines = nst_lines_new(fd, 1 << 24);
  nst_line line;
  while (nst_lines_next(lines, &line) == NST_LINE_READ) {
    json_t *json = json_loadb(line.text, line.size, 0, NULL);
    if (!json) fail_msg("%s:%llu is no JSON", path, (unsigned long long)line.number);
    json_array_append_new(out, json);
  }
  nst_lines_free(lines);
  close(fd);
}

static void get_records(records *r, const given *files) {
  char error[NST_RECORD_ERROR];
  *r = (records){json_array(), json_array()};
  for (int i = 0; i < files->n; i++) read_lines(i % 2 ? r->keys : r->tasks, files->paths[i]);
  if (!files->n) {
    const nst_suite_options o = {.suite = "mutants",
                                 .seed = 11,
                                 .split = NST_SPLIT_TRAIN,
                                 .count = TASKS,
                                 .levels = 2 * ((1u << NST_LEVELS) - 1),
                                 .quick = true,
                                 .kinds = (1u << NST_KIND_COUNT) - 1};
    if (!nst_suite_generate(&o, collect, r, error)) fail_msg("%s", error);
  }
  assert_true(json_array_size(r->tasks) > 0);
  assert_int_equal(json_array_size(r->tasks), json_array_size(r->keys));
}

static const char *text_at(const json_t *object, const char *member) {
  return json_string_value(json_object_get(object, member));
}

/* Whether the draft of a program or model writes the answer that the key has: a suite of another version has other
 * drafts. */
static bool is_of_draft(const nst_draft *d, const char *answer) {
  if (d->kind == NST_KIND_GEN_OPTIMIZE || d->kind == NST_KIND_QA_COMPARE || d->kind == NST_KIND_QA_PREDICT) return true;
  nestor_buffer *text = nestor_buffer_new();
  if (d->kind == NST_KIND_GEN_MODEL)
    nst_closed_write(d, "costs", text);
  else
    nst_body_answer(d, text);
  const bool same = !strcmp(nestor_buffer_data(text), answer);
  nestor_buffer_free(text);
  return same;
}

/* ---- counting ------------------------------------------------------------- */

typedef struct {
  int planted, broken, broken_rejected, differ, rejected, equal, equal_rejected;
} tally;
typedef struct {
  int tasks, least;    /* least: mutants of a reference */
  int few, few_differ; /* references with less than WAYS mutants, or mutants that differ */
  tally mutants;
} kind_tally;

static void add_tally(tally *sum, const tally *t) {
  sum->planted += t->planted, sum->differ += t->differ, sum->rejected += t->rejected;
  sum->broken += t->broken, sum->broken_rejected += t->broken_rejected;
  sum->equal += t->equal, sum->equal_rejected += t->equal_rejected;
}

/* Broken ones do not compile or hold no answer. */
static void print_tally(const char *name, const tally *t) {
  print_message("%-18s %6d planted, %6d broken (%6d rejected), %5d equal (%d rejected), %6d differ (%6d rejected", name,
                t->planted, t->broken, t->broken_rejected, t->equal, t->equal_rejected, t->differ, t->rejected);
  if (t->differ)
    print_message(", %.2f %%)\n", 100.0 * t->rejected / t->differ);
  else
    print_message(")\n");
}

static nst_sample sample_of(const char *task_id, nst_answer answer, const char *text) {
  nestor_buffer *completion = nestor_buffer_new();
  if (answer == NST_ANSWER_PROGRAM || answer == NST_ANSWER_MODEL)
    nst_body_code(completion, text);
  else
    nst_text_add(completion, "%s", text);
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

static bool passes(nst_grading *grading, const char *task_id, nst_answer answer, const char *text) {
  nst_sample s = sample_of(task_id, answer, text);
  nst_result r;
  nst_grading_run(grading, &r, &s, 1);
  const bool passed = r.passed;
  if (r.outcome == NST_OUTCOME_INFRA_ERROR) fail_msg("%s was not judged", task_id);
  nst_result_fini(&r);
  nst_sample_fini(&s);
  return passed;
}

/* ---- planting ------------------------------------------------------------- */

typedef struct {
  nst_grading *grading;
  tally faults[FAULTS];
  kind_tally kinds[NST_KIND_COUNT];
} trial;

typedef struct {
  const char *id;
  nst_kind kind;
  nst_answer answer;
  const json_t *spec, *key;
  const char *reference;
  const nst_draft *d;
  mutant_judge *judge; /* of programs and models */
  json_t *seen;        /* the texts that were planted */
} subject;

static const char *fault_name(int fault) {
  if (fault < NST_FAULT_ALL) return nst_fault_name((nst_fault)fault);
  fault -= NST_FAULT_ALL;
  if (fault < MUTANT_NUMBER_COUNT) return mutant_number_name((mutant_number)fault);
  return mutant_choice_name((mutant_choice)(fault - MUTANT_NUMBER_COUNT));
}

/* The faults of an answer: from first to last, which is excluded. */
static void faults_of(nst_answer answer, int *first, int *last) {
  *first = answer == NST_ANSWER_NUMBERS  ? NUMBERS
           : answer == NST_ANSWER_CHOICE ? CHOICES
                                         : 0;
  *last = answer == NST_ANSWER_NUMBERS  ? CHOICES
          : answer == NST_ANSWER_CHOICE ? FAULTS
                                        : NUMBERS;
}

static bool plant(nestor_buffer *out, mutant_fate *fate, const subject *s, int fault, nst_random *r) {
  if (fault < NST_FAULT_ALL) return nst_mutate(out, s->reference, strlen(s->reference), (nst_fault)fault, r);
  fault -= NST_FAULT_ALL;
  if (fault < MUTANT_NUMBER_COUNT) return mutant_number_plant(out, fate, s->spec, s->key, (mutant_number)fault, r);
  return mutant_choice_plant(out, fate, s->spec, s->key, (mutant_choice)(fault - MUTANT_NUMBER_COUNT), r);
}

/* A mutant that was not there before, as the n-th of its fault; false: a few tries find none. */
static bool plant_new(nestor_buffer *out, mutant_fate *fate, const subject *s, int fault, int n) {
  for (int i = 0; i < TRIES; i++) {
    char stream[48];
    snprintf(stream, sizeof stream, "mutant/%d/%d/%d", fault, n, i);
    nst_random random = nst_random_make(s->d->seed, stream);
    nestor_buffer_clear(out);
    if (!plant(out, fate, s, fault, &random) || json_object_get(s->seen, nestor_buffer_data(out)) ||
        !strcmp(nestor_buffer_data(out), s->reference))
      continue;
    json_object_set_new(s->seen, nestor_buffer_data(out), json_true());
    return true;
  }
  return false;
}

static void count(tally *t, mutant_fate fate, bool passed) {
  t->planted++;
  switch (fate) {
  case MUTANT_BROKEN: t->broken++, t->broken_rejected += !passed; break;
  case MUTANT_DIFFERS: t->differ++, t->rejected += !passed; break;
  case MUTANT_EQUAL: t->equal++, t->equal_rejected += !passed; break;
  }
}

static void try_reference(trial *t, const subject *s) {
  kind_tally *kind = &t->kinds[s->kind];
  tally own = {0};
  int first, last;
  faults_of(s->answer, &first, &last);
  nestor_buffer *mutant = nestor_buffer_new();
  bool more = true;
  for (int n = 0; n < ROUNDS && more && (s->answer == NST_ANSWER_CHOICE ? own.planted : own.differ) < WAYS; n++) {
    more = false;
    for (int fault = first; fault < last; fault++) {
      mutant_fate fate;
      if (!plant_new(mutant, &fate, s, fault, n)) continue;
      more = true;
      const char *text = nestor_buffer_data(mutant);
      if (s->judge) fate = mutant_judge_run(s->judge, text);
      const bool passed = passes(t->grading, s->id, s->answer, text);
      count(&t->faults[fault], fate, passed);
      count(&own, fate, passed);
      if (passed && fate != MUTANT_EQUAL)
        print_message("%s passes with the fault %s:\n%s\n", s->id, fault_name(fault), text);
      if (!passed && fate == MUTANT_EQUAL && getenv("NESTOR_MUTANTS_EQUAL"))
        print_message("%s is rejected with the fault %s, which changes nothing:\n%s\n", s->id, fault_name(fault), text);
    }
  }
  nestor_buffer_free(mutant);
  if (own.planted < WAYS) print_message("%s has %d mutants\n", s->id, own.planted);
  if (!kind->tasks++ || own.planted < kind->least) kind->least = own.planted;
  kind->few += own.planted < WAYS;
  kind->few_differ += own.differ < WAYS;
  add_tally(&kind->mutants, &own);
}

static void try_task(trial *t, nst_draft *d, json_t *json, json_t *key_json) {
  char error[NST_RECORD_ERROR];
  nst_task task;
  nst_key key;
  if (!nst_task_take(&task, json_incref(json), error) || !nst_key_take(&key, json_incref(key_json), error))
    fail_msg("%s", error);
  nst_draft_of_task(d, &task, NULL);
  subject s = {.id = text_at(json, "task_id"),
               .kind = task.kind,
               .answer = task.answer,
               .spec = json_object_get(json, "spec"),
               .key = key_json,
               .reference = text_at(key_json, "answer"),
               .d = d,
               .seen = json_object()};
  if (!is_of_draft(d, s.reference)) fail_msg("%s is of another version: make the suite anew", s.id);
  if (!nst_grading_add_task(t->grading, &task, error) || !nst_grading_add_key(t->grading, &key, error))
    fail_msg("%s", error);
  if (!passes(t->grading, s.id, s.answer, s.reference)) fail_msg("the reference of %s does not pass", s.id);
  mutant_judge judge;
  if (s.answer == NST_ANSWER_PROGRAM || s.answer == NST_ANSWER_MODEL)
    mutant_judge_init(s.judge = &judge, d, s.spec, s.key);
  try_reference(t, &s);
  if (s.judge) mutant_judge_fini(s.judge);
  json_decref(s.seen);
}

static void report(const trial *t, int *with_difference, tally *sum) {
  for (int fault = 0; fault < FAULTS; fault++) {
    print_tally(fault_name(fault), &t->faults[fault]);
    *with_difference += t->faults[fault].differ > 0;
    add_tally(sum, &t->faults[fault]);
  }
  kind_tally all = {0};
  print_message("\n");
  for (int kind = 0; kind < NST_KIND_COUNT; kind++) {
    const kind_tally *k = &t->kinds[kind];
    all.tasks += k->tasks, all.few += k->few, all.few_differ += k->few_differ;
    print_tally(nst_kind_name((nst_kind)kind), &k->mutants);
    print_message("%18s %6d references with at least %d mutants, %d with fewer than %d, %d with fewer that differ\n",
                  "", k->tasks, k->least, k->few, WAYS, k->few_differ);
  }
  print_tally("all", sum);
  print_message("%18s %6d references, %d with fewer than %d mutants, %d with fewer that differ\n", "", all.tasks,
                all.few, WAYS, all.few_differ);
}

/* In percent, how many references may have fewer than WAYS mutants that differ. Of a choice there are one to three
 * wrong ones, in four forms; a small space has few mappings that are worse than the best and of its form. */
static int most_few_differ(nst_kind kind) {
  return kind == NST_KIND_QA_COMPARE ? 100 : kind == NST_KIND_GEN_OPTIMIZE ? 30 : 1;
}

static void mutants_are_rejected(void **state) {
  const given *files = *state;
  char error[NST_RECORD_ERROR];
  records r;
  get_records(&r, files);
  trial *t = calloc(1, sizeof *t);
  t->grading = nst_grading_new(&(nst_grading_options){.workers = 1}, error);
  if (!t->grading) fail_msg("%s", error);
  nst_draft *d = malloc(sizeof *d);
  for (size_t i = 0; i < json_array_size(r.tasks); i++) {
    try_task(t, d, json_array_get(r.tasks, i), json_array_get(r.keys, i));
    if (files->n && i % 100 == 99) print_message("%zu tasks\n", i + 1);
  }
  tally sum = {0};
  int with_difference = 0;
  report(t, &with_difference, &sum);
  assert_true(sum.rejected * 100LL >= sum.differ * 99LL);
  assert_int_equal(sum.broken_rejected, sum.broken);
  for (int kind = 0; kind < NST_KIND_COUNT; kind++) {
    const kind_tally *k = &t->kinds[kind];
    assert_int_equal(k->few, 0); /* every reference has its twelve ways */
    if (k->tasks >= 20) assert_true(k->few_differ * 100 <= k->tasks * most_few_differ((nst_kind)kind));
    if (!files->n) assert_int_equal(k->tasks, TASKS / NST_KIND_COUNT);
  }
  if (!files->n && !TEST_SANITIZED) assert_true(with_difference > 50);
  free(d);
  nst_grading_free(t->grading);
  free(t);
  json_decref(r.tasks);
  json_decref(r.keys);
}

static void faults_change_the_text(void **state) {
  (void)state;
  static const char mapping[] =
    "mapping ans(tm = 4) of w on h {\n  keep all in D\n  for m by tm\n  for n by 2\n  par n on X.y\n  par m on X.x\n"
    "  keep A, B in G\n  compute\n}\n";
  static const char workload[] =
    "workload w(M = 4, N = 8) {\n  dim m = M, n = N\n  tensor A, B, C : int8\n  A[m] += B[m, 2*n + 1] * C[n, m]\n}\n";
  static const char hardware[] = "hardware h(N = 4) {\n  memory D { bandwidth = 8 B/cycle }\n  memory G { capacity = 4 "
                                 "KiB  double_buffered = true }\n"
                                 "  array X[x = N]\n  compute M { energy = 1 pJ }\n}\n";
  static const char model[] =
    "model costs(M, N, t) {\n  let n_t = ceildiv(M, t)\n  out a = M * N * (if t < M then n_t else 1) - min(t, M)\n"
    "  out b = ceil(2 * t / 8)\n}\n";
  static const char *const texts[] = {mapping, workload, hardware, model};
  int planted[NST_FAULT_ALL] = {0};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    for (int fault = 0; fault < NST_FAULT_ALL; fault++)
      for (uint64_t seed = 0; seed < 20; seed++) {
        nst_random r = nst_random_make(seed, "x");
        nestor_buffer *out = nestor_buffer_new();
        if (nst_mutate(out, texts[i], strlen(texts[i]), (nst_fault)fault, &r)) {
          planted[fault]++;
          assert_true(strcmp(nestor_buffer_data(out), texts[i]) != 0);
        } else
          assert_int_equal(nestor_buffer_size(out), 0);
        nestor_buffer_free(out);
      }
  for (int fault = 0; fault < NST_FAULT_ALL; fault++)
    if (!planted[fault]) fail_msg("%s has no place", nst_fault_name((nst_fault)fault));
  /* Texts that are no programs have no place for faults, or some, and never crash. */
  static const char *const odd[] = {"",
                                    "\n",
                                    "}",
                                    "mapping",
                                    "mapping x",
                                    "for for for for for for",
                                    "keep in in in in in",
                                    "mapping a b c d e keep keep keep",
                                    "workload [ [ ] ] : + = 1 , , ,",
                                    "model x ( ) { ceildiv ( then else (",
                                    "model x { then else )",
                                    "model ( = 1 * + ( [",
                                    "workload x\n+ = [ [ * (\n} {\nx [ , ,\n"};
  for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
    for (int fault = 0; fault < NST_FAULT_ALL; fault++) {
      nst_random r = nst_random_make(i, "odd");
      nestor_buffer *out = nestor_buffer_new();
      nst_mutate(out, odd[i], strlen(odd[i]), (nst_fault)fault, &r);
      nestor_buffer_free(out);
    }
}

int main(int argc, char **argv) {
  if (argc % 2 != 1) {
    fprintf(stderr, "usage: %s [TASKS.jsonl KEYS.jsonl]..\n", argv[0]);
    return 2;
  }
  given files = {argv + 1, argc - 1};
  const struct CMUnitTest tests[] = {cmocka_unit_test(faults_change_the_text),
                                     cmocka_unit_test_prestate(mutants_are_rejected, &files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
