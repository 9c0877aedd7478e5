/* Scripted models: what their misconceptions make of known mappings, and that levels tell them apart. */
#include "tests/unit/test.h"

#include "bench/grade/grade.h"
#include "bench/scripted/belief.h"
#include "bench/scripted/script.h"
#include "bench/stats/stats.h"
#include "bench/tasks/generate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- known values --------------------------------------------------------- */

/* A matrix product of 8 x 8 x 8 in tiles of tm x tn x tk, in an order of its loops; A, B, C are tensors 0, 1, 2. */
static nst_draft product(int64_t tm, int64_t tn, int64_t tk, const char *order) {
  nst_draft d = {
    .kind = NST_KIND_QA_PREDICT, .target = NST_KIND_QA_PREDICT, .level = 1, .workload = "gemm", .hardware = "chip"};
  d.ndims = 3;
  d.ntensors = 3;
  d.nstatements = 1;
  static const char names[] = "mnk", sizes[] = "MNK";
  for (int i = 0; i < 3; i++) {
    d.dims[i].name[0] = names[i];
    d.dims[i].size[0] = sizes[i];
    d.dims[i].extent = 8;
  }
  static const int dims[3][2] = {{0, 2}, {2, 1}, {0, 1}};
  for (int t = 0; t < 3; t++) {
    nst_draft_tensor *tensor = &d.tensors[t];
    tensor->name[0] = (char)('A' + t);
    tensor->type = "int8";
    tensor->bits = 8;
    tensor->producer = t == 2 ? 0 : -1;
    tensor->consumed = t != 2;
    tensor->nranks = 2;
    for (int k = 0; k < 2; k++) tensor->ranks[k] = (nst_draft_rank){.dim = {dims[t][k], -1}, .coef = {1, 0}};
  }
  d.statements[0] = (nst_draft_statement){
    .out = 2, .op = "+=", .ninputs = 2, .inputs = {0, 1}, .form = "$1 * $2", .dims = 7, .reduced = 4};
  d.nlevels = 3;
  d.levels[0] = (nst_draft_level){.kind = NST_DRAFT_MEMORY, .name = "DRAM", .bandwidth = 1};
  d.levels[1] = (nst_draft_level){.kind = NST_DRAFT_MEMORY, .name = "BUF", .capacity = 1024};
  d.levels[2] = (nst_draft_level){.kind = NST_DRAFT_COMPUTE, .name = "MAC", .rate = 1};
  nst_draft_mapping *m = &d.mappings[0];
  d.nmappings = 1;
  strcpy(m->name, "ans");
  const int64_t tiles[] = {tm, tn, tk};
  for (const char *at = order; *at; at++) {
    const int dim = (int)(strchr(names, *at) - names);
    nst_draft_param *p = &m->params[m->nparams];
    *p = (nst_draft_param){.value = tiles[dim], .role = NST_ROLE_TILE, .dim = dim};
    snprintf(p->name, sizeof p->name, "t%c", *at);
    m->nodes[m->nnodes++] =
      (nst_draft_node){.kind = NST_NODE_FOR, .dim = dim, .tile = {m->nparams++, 0}, .level = -1, .axis = -1};
  }
  m->nodes[m->nnodes++] =
    (nst_draft_node){.kind = NST_NODE_KEEP, .dim = -1, .tile = {-1, 0}, .level = 1, .axis = -1, .tensors = 7};
  m->nodes[m->nnodes++] =
    (nst_draft_node){.kind = NST_NODE_COMPUTE, .dim = -1, .tile = {-1, 0}, .level = -1, .axis = -1};
  static const struct {
    nst_measure measure;
    int level, tensor;
  } asked[] = {{NST_MEASURE_READS, 0, 0}, {NST_MEASURE_READS, 0, 1},     {NST_MEASURE_UPDATES, 0, 2},
               {NST_MEASURE_READS, 0, 2}, {NST_MEASURE_OFFCHIP, -1, -1}, {NST_MEASURE_USAGE, 1, -1}};
  for (int i = 0; i < 6; i++) {
    nst_draft_quantity *q = &d.quantities[d.nquantities++];
    *q = (nst_draft_quantity){.measure = asked[i].measure, .level = asked[i].level, .tensor = asked[i].tensor};
    snprintf(q->name, sizeof q->name, "q%d", i);
  }
  return d;
}

static void values_are(const nst_draft *d, nst_belief belief, const int64_t expected[6]) {
  int64_t values[NST_DRAFT_QUANTITIES];
  bool fits;
  assert_true(nst_belief_values(values, &fits, d, 0, belief));
  for (int i = 0; i < 6; i++)
    if (values[i] != expected[i])
      fail_msg("belief %d, %s: %lld, not %lld", belief, d->quantities[i].name, (long long)values[i],
               (long long)expected[i]);
}

static void without_reuse_every_visit_loads(void **state) {
  (void)state;
  /* docs/counting.md, order.nest: m, k, n by 4: A 64, B 128, C 128 and 64 back. */
  nst_draft d = product(4, 4, 4, "mkn");
  values_are(&d, NST_BELIEF_RIGHT, (const int64_t[]){64, 128, 128, 64, 384, 48});
  /* 8 visits of 16 elements each, whatever the order. */
  values_are(&d, NST_BELIEF_NO_REUSE, (const int64_t[]){128, 128, 128, 64, 448, 48});
  d = product(4, 4, 4, "mnk");
  values_are(&d, NST_BELIEF_RIGHT, (const int64_t[]){128, 128, 64, 0, 320, 48});
  values_are(&d, NST_BELIEF_NO_REUSE, (const int64_t[]){128, 128, 128, 64, 448, 48});
}

static void boxes_have_no_edges(void **state) {
  (void)state;
  /* Tiles of 3 of 8: three full ones are 9. A is 9 x 9 for each of 3 columns of tiles. */
  nst_draft d = product(3, 3, 3, "mnk");
  values_are(&d, NST_BELIEF_RIGHT, (const int64_t[]){192, 192, 64, 0, 448, 27});
  values_are(&d, NST_BELIEF_BOXES, (const int64_t[]){243, 243, 81, 0, 567, 27});
  d = product(4, 4, 4, "mnk"); /* nothing to be wrong about */
  values_are(&d, NST_BELIEF_BOXES, (const int64_t[]){128, 128, 64, 0, 320, 48});
}

/* On drafts as tasks have them: without reuse nothing is ever counted lower. */
static void reload_is_never_below_the_truth(void **state) {
  (void)state;
  int compared = 0, more = 0;
  for (int level = 1; level <= NST_LEVELS; level++)
    for (uint64_t seed = 1; seed <= 60; seed++) {
      nst_draft d;
      nst_draft_make(&d, NST_KIND_QA_PREDICT, level, seed, NULL);
      if (nst_draft_is_cascade(&d)) continue;
      int64_t right[NST_DRAFT_QUANTITIES], reloaded[NST_DRAFT_QUANTITIES];
      bool fits;
      if (!nst_belief_values(right, &fits, &d, 0, NST_BELIEF_RIGHT)) continue;
      assert_true(nst_belief_values(reloaded, &fits, &d, 0, NST_BELIEF_NO_REUSE));
      for (int i = 0; i < d.nquantities; i++, compared++) {
        if (reloaded[i] < right[i])
          fail_msg("level %d, seed %d, %s: %lld < %lld", level, (int)seed, d.quantities[i].name, (long long)reloaded[i],
                   (long long)right[i]);
        more += reloaded[i] > right[i];
      }
    }
  assert_true(compared > 300 && more > compared / 5 && more < compared);
}

/* ---- levels --------------------------------------------------------------- */

enum { TASKS = 500 };
typedef struct {
  nst_task tasks[TASKS];
  nst_key keys[TASKS];
  size_t n;
  nst_grading *grading;
} suite;

static bool keep(void *context, const json_t *task, const json_t *key) {
  suite *s = context;
  char error[NST_RECORD_ERROR];
  nst_task t;
  nst_key k;
  assert_true(nst_task_take(&s->tasks[s->n], json_deep_copy(task), error) &&
              nst_key_take(&s->keys[s->n], json_deep_copy(key), error));
  assert_true(nst_task_take(&t, json_deep_copy(task), error) && nst_grading_add_task(s->grading, &t, error));
  assert_true(nst_key_take(&k, json_deep_copy(key), error) && nst_grading_add_key(s->grading, &k, error));
  s->n++;
  return true;
}

static int make_suite(void **state) {
  static suite s;
  char error[NST_RECORD_ERROR] = "", worker[4096];
  const char *build = getenv("NESTOR_BUILD");
  snprintf(worker, sizeof worker, "%s/lib/nestor/nestor-grade-worker", build ? build : "");
  s.grading = nst_grading_new(&(nst_grading_options){.worker_path = build ? worker : NULL}, error);
  if (!s.grading) return print_error("%s\n", error), -1;
  const nst_suite_options options = {.suite = "levels",
                                     .seed = 5,
                                     .split = NST_SPLIT_DEV,
                                     .count = TASKS,
                                     .kinds = (1u << NST_KIND_COUNT) - 1,
                                     .levels = ((1u << NST_LEVELS) - 1) << 1,
                                     .no_card = true,
                                     .quick = true};
  if (!nst_suite_generate(&options, keep, &s, error)) return print_error("%s\n", error), -1;
  *state = &s;
  return 0;
}

static int end_suite(void **state) {
  suite *s = *state;
  for (size_t i = 0; i < s->n; i++) nst_task_fini(&s->tasks[i]), nst_key_fini(&s->keys[i]);
  nst_grading_free(s->grading);
  return 0;
}

/* One sample of each task, judged. */
static void run(nst_result *results, suite *s, nst_script script, uint64_t number) {
  nst_sample *samples = calloc(s->n, sizeof *samples);
  assert_non_null(samples);
  for (size_t i = 0; i < s->n; i++) nst_script_answer(&samples[i], script, &s->tasks[i], &s->keys[i], number);
  nst_grading_run(s->grading, results, samples, s->n);
  for (size_t i = 0; i < s->n; i++) nst_sample_fini(&samples[i]);
  free(samples);
}

static nst_mean at_level(const suite *s, const nst_result *results, int level) {
  double values[TASKS];
  size_t clusters[TASKS], n = 0;
  for (size_t i = 0; i < s->n; i++)
    if (s->tasks[i].level == level) {
      values[n] = results[i].passed;
      clusters[n] = n;
      n++;
    }
  return nst_stats_mean(values, clusters, n, n);
}

/* believes: it has a belief of its own to fail by. Else it is right by chance, about as often at each level: no level may be easier, by an
 * interval that holds for all ten pairs of levels at once. */
static void levels_are_monotone_for(suite *s, nst_script script, bool believes) {
  nst_result results[TASKS];
  nst_mean means[NST_LEVELS];
  run(results, s, script, 0);
  for (int level = 1; level <= NST_LEVELS; level++) {
    means[level - 1] = at_level(s, results, level);
    assert_in_range(means[level - 1].n, TASKS / NST_LEVELS - 8, TASKS / NST_LEVELS + 8); /* kinds go round first */
    print_message("%s, level %d: %.3f\n", nst_script_name(script), level, means[level - 1].mean);
  }
  for (size_t i = 0; i < s->n; i++) {
    /* It says something that can be judged to every task. */
    assert_true(!believes || results[i].outcome == NST_OUTCOME_PASSED || results[i].outcome == NST_OUTCOME_WRONG ||
                results[i].outcome == NST_OUTCOME_ILLEGAL);
    nst_result_fini(&results[i]);
  }
  for (int low = 0; low < NST_LEVELS; low++)
    for (int high = low + 1; high < NST_LEVELS; high++) {
      const double interval = (believes ? 1.96 : 2.81) * hypot(means[low].se, means[high].se);
      if (means[high].mean > means[low].mean + interval)
        fail_msg("level %d is easier than level %d for %s", high + 1, low + 1, nst_script_name(script));
    }
  if (!believes) return;
  assert_true(means[4].mean < means[0].mean - 1.96 * hypot(means[0].se, means[4].se));
  assert_true(means[0].mean > 0.6);
}

static void levels_are_monotone(void **state) {
  levels_are_monotone_for(*state, NST_SCRIPT_NO_REUSE, true);
  levels_are_monotone_for(*state, NST_SCRIPT_BOXES, true);
  levels_are_monotone_for(*state, NST_SCRIPT_COIN, false);
  levels_are_monotone_for(*state, NST_SCRIPT_IDLE, false);
}

static void the_oracle_is_right_and_the_truncator_cut(void **state) {
  suite *s = *state;
  nst_result results[TASKS];
  run(results, s, NST_SCRIPT_ORACLE, 0);
  for (size_t i = 0; i < s->n; i++) {
    if (!results[i].passed)
      fail_msg("%s: the reference answer is %s", s->tasks[i].task_id, nst_outcome_name(results[i].outcome));
    nst_result_fini(&results[i]);
  }
  for (uint64_t number = 0; number < 3; number++) {
    run(results, s, NST_SCRIPT_TRUNCATOR, number);
    for (size_t i = 0; i < s->n; i++) {
      if (results[i].outcome != NST_OUTCOME_TRUNCATED)
        fail_msg("%s, cut off: %s", s->tasks[i].task_id, nst_outcome_name(results[i].outcome));
      nst_result_fini(&results[i]);
    }
  }
}

/* What doing nothing has right is the floor of the key, and earns nothing; a key without a floor has none to earn. */
static void doing_nothing_is_worth_nothing(void **state) {
  suite *s = *state;
  nst_result results[TASKS];
  int floors = 0, high = 0, above[NST_KIND_COUNT] = {0};
  run(results, s, NST_SCRIPT_IDLE, 0);
  for (size_t i = 0; i < s->n; i++) {
    const nst_result *r = &results[i];
    const json_t *floor = json_object_get(s->keys[i].json, "floor");
    const nst_kind kind = s->tasks[i].kind;
    const bool wants = kind == NST_KIND_GEN_WORKLOAD || kind == NST_KIND_GEN_HARDWARE || kind == NST_KIND_GEN_MAPPING ||
                       kind == NST_KIND_GEN_MODEL || kind == NST_KIND_REPAIR || kind == NST_KIND_QA_PREDICT;
    assert_true(wants == (floor != NULL));
    if (!wants) continue;
    const char *name;
    json_t *right;
    size_t good = 0;
    json_object_foreach(r->sub, name, right) good += json_is_true(right);
    const double share = json_object_size(r->sub) ? (double)good / (double)json_object_size(r->sub) : 0;
    if (r->passed || r->score != 0) fail_msg("%s: doing nothing is %s, %g", r->task_id, nst_outcome_name(r->outcome), r->score);
    /* Of a model or a mapping the floor may be that of another trivial answer. */
    const double difference = json_number_value(floor) - share;
    above[kind] += difference > 1e-12;
    if (kind == NST_KIND_GEN_MODEL || kind == NST_KIND_GEN_MAPPING ? difference < -1e-12 : fabs(difference) > 1e-12)
      fail_msg("%s: the floor is %g, the grader says %g", r->task_id, json_number_value(floor), share);
    floors++;
    high += share > 0.3;
  }
  assert_true(floors > TASKS / 2 && high > floors / 3 && above[NST_KIND_GEN_MODEL] > 10);
  for (size_t i = 0; i < s->n; i++) nst_result_fini(&results[i]);
}

static char *text_of(const suite *s, size_t task, nst_script script, uint64_t number) {
  nst_sample sample;
  nst_script_answer(&sample, script, &s->tasks[task], &s->keys[task], number);
  char *text = strdup(sample.completion);
  nst_sample_fini(&sample);
  return text;
}

static void scripts_repeat_themselves_and_the_coin_falls_anew(void **state) {
  suite *s = *state;
  int different = 0;
  for (size_t i = 0; i < 100; i++) {
    for (int script = 0; script < NST_SCRIPT_COUNT; script++) {
      if (s->tasks[i].kind == NST_KIND_GEN_OPTIMIZE) continue; /* their search takes its time */
      char *a = text_of(s, i, (nst_script)script, 1), *b = text_of(s, i, (nst_script)script, 1),
           *c = text_of(s, i, (nst_script)script, 2);
      assert_string_equal(a, b);
      if (nst_script_is_fixed((nst_script)script)) assert_string_equal(a, c);
      if (script == NST_SCRIPT_COIN) different += strcmp(a, c) != 0;
      free(a), free(b), free(c);
    }
  }
  assert_true(different > 20);
  nst_result results[TASKS];
  run(results, s, NST_SCRIPT_COIN, 0);
  int passed = 0;
  for (size_t i = 0; i < s->n; i++) {
    passed += results[i].passed;
    assert_true(results[i].outcome != NST_OUTCOME_INFRA_ERROR && results[i].outcome != NST_OUTCOME_NO_ANSWER);
    nst_result_fini(&results[i]);
  }
  assert_in_range(passed, TASKS / 10, TASKS * 9 / 10);
}

static void hidden_tasks_are_not_known(void **state) {
  suite *s = *state;
  char error[NST_RECORD_ERROR];
  json_t *json = json_deep_copy(s->tasks[0].json);
  json_object_set_new(json, "split", json_string("hidden"));
  nst_task task;
  assert_true(nst_task_take(&task, json, error));
  nst_sample sample;
  nst_script_answer(&sample, NST_SCRIPT_BOXES, &task, NULL, 0);
  assert_string_equal(sample.completion, "I do not know.\n");
  nst_sample_fini(&sample);
  nst_task_fini(&task);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(without_reuse_every_visit_loads),
                                     cmocka_unit_test(boxes_have_no_edges),
                                     cmocka_unit_test(reload_is_never_below_the_truth),
                                     cmocka_unit_test(levels_are_monotone),
                                     cmocka_unit_test(the_oracle_is_right_and_the_truncator_cut),
                                     cmocka_unit_test(doing_nothing_is_worth_nothing),
                                     cmocka_unit_test(scripts_repeat_themselves_and_the_coin_falls_anew),
                                     cmocka_unit_test(hidden_tasks_are_not_known)};
  return cmocka_run_group_tests(tests, make_suite, end_suite);
}
