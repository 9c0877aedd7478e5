/* Drafts: every template makes legal programs, levels raise one trait at a time, wrong beliefs fail where they must,
 * what is the same but for names is the same, and neither the layout of a fault nor a probe gives or hides anything. */
#include "tests/bench/suites.h"

#include "bench/tasks/body.h"
#include "bench/tasks/canon.h"
#include "bench/tasks/mutate.h"
#include "bench/tasks/naive.h"
#include "bench/tasks/text.h"
#include "bench/tasks/traits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- templates --------------------------------------------------------------- */

static void every_template_makes_legal_programs(void **state) {
  (void)state;
  const size_t n = nst_draft_templates();
  int *seen = calloc(n, sizeof *seen);
  nst_draft *d = malloc(sizeof *d);
  for (uint64_t seed = 0; seed < 1600; seed++) {
    nst_draft_make(d, (nst_kind)(seed % NST_KIND_COUNT), 1 + (int)(seed / NST_KIND_COUNT % NST_LEVELS), seed, NULL);
    int first, last;
    bool held_out;
    for (size_t i = 0; i < n; i++)
      if (!strcmp(nst_draft_template(i, &first, &last, &held_out), d->cluster)) {
        seen[i]++;
        assert_true(d->level >= first && d->level <= last && d->held_out == held_out);
      }
    nestor_buffer *text = nestor_buffer_new(), *again = nestor_buffer_new();
    nst_draft_write_workload(d, text);
    nst_draft_write_hardware(d, text);
    for (int m = 0; m < d->nmappings; m++) nst_draft_write_mapping(d, m, NULL, text);
    nst_text_canonical(again, nestor_buffer_data(text), nestor_buffer_size(text));
    assert_string_equal(nestor_buffer_data(text), nestor_buffer_data(again));
    nst_solver s;
    if (!nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), true))
      fail_msg("%s in\n%s", s.why, nestor_buffer_data(text));
    for (int m = 0; m < d->nmappings; m++) {
      nestor_eval *eval = nst_solver_eval(&s, d->mappings[m].name);
      if (!eval || !nst_solver_run(&s, eval, NULL)) fail_msg("%s in\n%s", s.why, nestor_buffer_data(text));
      nestor_eval_free(eval);
    }
    nst_solver_fini(&s);
    nestor_buffer_free(text);
    nestor_buffer_free(again);
  }
  int templates = 0;
  for (size_t i = 0; i < n; i++) templates += seen[i] > 0;
  assert_true(templates >= 25 && (size_t)templates == n);
  free(seen), free(d);
}

/* ---- what levels raise ---------------------------------------------------- */

static unsigned entering(int level) {
  unsigned set = 0;
  for (int t = 0; t < NST_TRAIT_COUNT; t++)
    if (nst_trait_level((nst_trait)t) == level) set |= 1u << t;
  return set;
}

static unsigned above(int level) { return level < NST_LEVELS ? entering(level + 1) | above(level + 1) : 0; }

static void levels_raise_one_trait_at_a_time(void **state) {
  (void)state;
  enum { SEEDS = 300 };
  nst_draft *d = malloc(sizeof *d);
  for (int kind = 0; kind < NST_KIND_COUNT; kind++)
    for (int level = 1; level <= NST_LEVELS; level++) {
      int raised[NST_TRAIT_COUNT] = {0}, has[NST_TRAIT_COUNT] = {0};
      for (uint64_t seed = 0; seed < SEEDS; seed++) {
        nst_draft_make(d, (nst_kind)kind, level, seed, NULL);
        const unsigned traits = nst_traits_of(d), own = traits & entering(level);
        if (traits & above(level) || __builtin_popcount(own) != (level > 1) ||
            (own ? __builtin_ctz(own) : -1) != d->raises)
          fail_msg("%s, level %d, seed %d has the traits %x and is raised by %d", nst_kind_name((nst_kind)kind), level,
                   (int)seed, traits, d->raises);
        assert_true(!own || own & nst_traits_raising(d->kind, d->target, level));
        for (int t = 0; t < NST_TRAIT_COUNT; t++) raised[t] += d->raises == t, has[t] += (traits >> t & 1) != 0;
      }
      const nst_kind k = (nst_kind)kind;
      unsigned may = nst_traits_raising(k, k, level);
      if (k == NST_KIND_REPAIR) may = entering(level);
      for (int t = 0; t < NST_TRAIT_COUNT; t++) { /* each that may raise does, and lower ones come again */
        assert_true(may >> t & 1 ? raised[t] > SEEDS / 20 : !raised[t]);
        if (k == NST_KIND_QA_PREDICT && nst_trait_level((nst_trait)t) < level) assert_true(has[t] > SEEDS / 10);
      }
      if (level == NST_LEVELS && k != NST_KIND_GEN_HARDWARE && k != NST_KIND_REPAIR)
        assert_int_equal(has[NST_TRAIT_CASCADE], SEEDS);
    }
  free(d);
}

static void traits_are_seen_in_programs(void **state) {
  (void)state;
  nst_draft *d = malloc(sizeof *d), *other = malloc(sizeof *other);
  int seen = 0;
  for (uint64_t seed = 0; seed < 60; seed++) {
    nst_draft_make(d, NST_KIND_GEN_MAPPING, 1, seed, NULL);
    assert_int_equal(nst_traits_of(d), 0);
    assert_true(nst_traits_fit(d));
    nst_draft_mapping *m = &other->mappings[0];
#define WITH(trait, ...)                                                                                               \
  *other = *d;                                                                                                         \
  __VA_ARGS__;                                                                                                         \
  assert_int_equal(nst_traits_of(other), 1u << NST_TRAIT_##trait);                                                     \
  assert_false(nst_traits_fit(other));                                                                                 \
  other->level = nst_trait_level(NST_TRAIT_##trait);                                                                   \
  other->raises = NST_TRAIT_##trait;                                                                                   \
  assert_true(nst_traits_fit(other) || NST_TRAIT_##trait == NST_TRAIT_ARRAY);                                          \
  other->raises = NST_TRAIT_##trait == NST_TRAIT_DIMS ? NST_TRAIT_ORDERS : NST_TRAIT_DIMS;                             \
  assert_false(nst_traits_fit(other))
    WITH(DIMS, other->ndims = 4; other->dims[3].extent = 1);
    WITH(ARRAY, other->levels[other->nlevels++] = (nst_draft_level){.kind = NST_DRAFT_ARRAY, .naxes = 1});
    WITH(HALO, other->tensors[0].ranks[0].dim[1] = 0; other->tensors[0].ranks[0].coef[1] = 1);
    WITH(STRIDE, other->tensors[0].ranks[0].coef[0] = 2);
    int nodes[NST_DRAFT_NODES];
    nst_draft_block(m, nodes);
    const nst_draft_node *loop = &d->mappings[0].nodes[nodes[0]];
    const int64_t extent = d->dims[loop->dim].extent;
    if (!loop->into && extent > 4) {
      WITH(IMPERFECT, m->params[loop->tile.param].value = extent - 1);
      seen++;
    }
    for (int i = 0; i < d->mappings[0].nnodes; i++) {
      const nst_draft_node *node = &d->mappings[0].nodes[i];
      const unsigned two = node->tensors & (node->tensors - 1);
      if (node->kind != NST_NODE_KEEP || node->level != 1 || !two) continue;
      WITH(BYPASS, m->nodes[i].tensors = two);
      WITH(UNEVEN, m->nodes[i].tensors = two; memmove(&m->nodes[nodes[0] + 1], &d->mappings[0].nodes[nodes[0]],
                                                      (size_t)(m->nnodes - nodes[0]) * sizeof *m->nodes);
           m->nnodes++; m->nodes[nodes[0]] = *node; m->nodes[nodes[0]].tensors = node->tensors & ~two);
    }
#undef WITH
  }
  assert_true(seen > 20);
  free(d), free(other);
}

/* ---- wrong beliefs -------------------------------------------------------- */

static bool believes_rightly(const nst_draft *d, const json_t *key, nst_belief belief) {
  for (int i = 0; i < d->nquantities; i++) {
    int64_t truth;
    assert_true(nst_record_int(json_object_get(json_object_get(key, "values"), d->quantities[i].name), &truth));
    const int64_t value = nst_naive_value(d, &d->mappings[0], &d->quantities[i], belief, NULL);
    if (value >= 0 && value != truth) return false;
  }
  return true;
}

static void wrong_beliefs_are_right_at_first_and_never_at_last(void **state) {
  (void)state;
  nst_suite_options o = options_of("beliefs", NST_SPLIT_TRAIN, 200);
  o.kinds = 1 << NST_KIND_QA_PREDICT;
  o.examples = 0;
  records r = generate(&o);
  int right[2][NST_LEVELS + 1] = {{0}};
  nst_draft *d = malloc(sizeof *d);
  for (size_t i = 0; i < json_array_size(r.tasks); i++) {
    nst_task task = take(json_array_get(r.tasks, i));
    nst_draft_of_task(d, &task, NULL);
    for (int b = 0; b < 2; b++) right[b][task.level] += believes_rightly(d, json_array_get(r.keys, i), (nst_belief)b);
    nst_task_fini(&task);
  }
  free(d);
  end(&r);
  for (int b = 0; b < 2; b++) {
    assert_true(right[b][1] >= 20); /* of 40 */
    for (int l = 2; l <= NST_LEVELS; l++) assert_true(right[b][l] <= right[b][l - 1] + 4);
    assert_int_equal(right[b][NST_LEVELS], 0);
  }
}

/* ---- the same but for names ----------------------------------------------- */

static void renaming_does_not_make_another_task(void **state) {
  (void)state;
  nst_draft *a = malloc(sizeof *a), *b = malloc(sizeof *b);
  for (uint64_t seed = 0; seed < 40; seed++) {
    nst_draft_make(a, (nst_kind)(seed % NST_KIND_COUNT), 1 + (int)(seed % NST_LEVELS), seed, NULL);
    *b = *a;
    const nst_canon before = nst_canon_of(a);
    for (int i = 0; i < b->ndims; i++) snprintf(b->dims[i].name, sizeof b->dims[i].name, "axis_%d", i);
    for (int t = 0; t < b->ntensors; t++) snprintf(b->tensors[t].name, sizeof b->tensors[t].name, "Tensor%d", t);
    for (int l = 0; l < b->nlevels; l++) snprintf(b->levels[l].name, sizeof b->levels[l].name, "Level%d", l);
    for (int m = 0; m < b->nmappings; m++)
      for (int p = 0; p < b->mappings[m].nparams; p++)
        snprintf(b->mappings[m].params[p].name, sizeof b->mappings[m].params[p].name, "A%d", p);
    strcpy(b->workload, "something");
    nst_canon after = nst_canon_of(b);
    assert_memory_equal(before.task, after.task, sizeof before.task);
    strcpy(b->hardware, "machine");
    b->dims[0].extent++;
    after = nst_canon_of(b);
    const bool machine = b->target == NST_KIND_GEN_HARDWARE, loops = b->target == NST_KIND_GEN_WORKLOAD;
    /* Of hardware alone, sizes are no part; of a workload alone they are none of what decides the split. */
    assert_true((memcmp(before.task, after.task, sizeof before.task) != 0) == !machine);
    assert_true((memcmp(before.program, after.program, sizeof before.program) != 0) == (!machine && !loops));
    b->levels[0].energy++;
    after = nst_canon_of(b);
    assert_true(!machine || memcmp(before.program, after.program, sizeof before.program) != 0);
  }
  free(a), free(b);
}

static void names_alone_make_no_other_text(void **state) {
  (void)state;
  assert_true(nst_text_same_but_names("", " \n"));
  assert_true(nst_text_same_but_names("out reads_A = M * K", "out  reads_X = I*\nJ"));
  assert_false(nst_text_same_but_names("out reads_A = M * K", "out reads_X = I * I")); /* one name for two */
  assert_false(nst_text_same_but_names("out reads_A = M * M", "out reads_X = I * J"));
  assert_false(nst_text_same_but_names("2 * M", "3 * M"));
  assert_false(nst_text_same_but_names("M * N", "M * N + 1"));
  assert_false(nst_text_same_but_names("M * N + 1", "M * N"));
}

/* ---- layout and probes ---------------------------------------------------- */

static void what_is_taken_out_leaves_no_trace(void **state) {
  (void)state;
  static const char hardware[] = "hardware h {\n  memory DRAM { bandwidth = 2 B/cycle  energy = 100 pJ/B }\n"
                                 "  memory GLB {\n    capacity = 2 KiB\n    energy = 2 pJ/B\n  }\n}\n",
                    laid_out[] = "hardware h {\n  memory DRAM { bandwidth = 2 B/cycle  energy = 100 pJ/B }\n"
                                 "  memory GLB  { capacity = 2 KiB  energy = 2 pJ/B }\n}\n",
                    broken[] = "hardware h {\n  memory GLB {\n    capacity = 2 KiB\n}\n";
  nestor_buffer *out = nestor_buffer_new();
  nst_text_lay_out(out, hardware, strlen(hardware));
  assert_string_equal(nestor_buffer_data(out), laid_out);
  nestor_buffer_clear(out);
  nst_text_lay_out(out, broken, strlen(broken));
  assert_string_equal(nestor_buffer_data(out), broken);
  /* Without the formatter's help: lines that were theirs alone, and gaps. */
  static const struct {
    const char *text;
    nst_fault fault;
  } cases[] = {
    {"mapping m of w on h {\n  for m by 4\n  keep all in D\n  par m on P.x\n  compute\n}\n", NST_FAULT_MISSING_LOOP},
    {"mapping m of w on h {\n  for m by 4\n  keep all in D\n  par m on P.x\n  compute\n}\n", NST_FAULT_MISSING_KEEP},
    {"mapping m of w on h {\n  for m by 4\n  keep all in D\n  par m on P.x\n  compute\n}\n", NST_FAULT_MISSING_PAR},
    {"mapping m of w on h {\n  seq {\n    do A { for m by 4  keep A, B in D  compute }\n  }\n}\n",
     NST_FAULT_MISSING_LOOP},
    {"mapping m of w on h {\n  seq {\n    do A { for m by 4  keep A, B in D  compute }\n  }\n}\n",
     NST_FAULT_MISSING_KEEP},
    {"mapping m of w on h {\n  seq {\n    do A { for m by 4  keep A, B in D  compute }\n  }\n}\n",
     NST_FAULT_MISSING_BRACE},
    {laid_out, NST_FAULT_MISSING_ATTRIBUTE},
    {laid_out, NST_FAULT_MISSING_BRACE},
    {hardware, NST_FAULT_MISSING_ATTRIBUTE},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (uint64_t seed = 0; seed < 12; seed++) {
      nst_random random = nst_random_make(seed, "trace");
      nestor_buffer_clear(out);
      assert_true(nst_mutate(out, cases[i].text, strlen(cases[i].text), cases[i].fault, &random));
      const char *text = nestor_buffer_data(out);
      assert_null(strstr(text, "\n\n"));
      assert_null(strstr(text, " \n"));
      assert_null(strstr(text, "{  "));
      for (const char *at = text; (at = strstr(at, "   ")); at++) /* indentation, and columns that were there before */
        if (at > text && at[-1] != '\n' && at[-1] != ' ') fail_msg("a gap is left in\n%s", text);
    }
  nestor_buffer_free(out);
}

/* Whether an answer that compiles has other figures than the key; one that does not compile has none. */
static bool found_out(const nst_task *task, const nst_key *key, const char *answer) {
  nestor_buffer *text = nestor_buffer_new();
  nst_text_add(text, "%s%s%s", text_at(task->spec, "given"), answer, text_at(key->json, "probe"));
  nst_solver s;
  const bool differs =
    !nst_solver_init(&s, nestor_buffer_data(text), nestor_buffer_size(text), true) ||
    nst_solver_differs(&s, json_object_get(key->json, "points"), json_object_get(key->json, "figures"));
  nst_solver_fini(&s);
  nestor_buffer_free(text);
  return differs;
}

static void probes_show_every_attribute(void **state) {
  (void)state;
  nst_suite_options o = options_of("probes", NST_SPLIT_TRAIN, 75);
  o.kinds = 1 << NST_KIND_GEN_HARDWARE;
  o.examples = 0;
  records r = generate(&o);
  nst_draft *d = malloc(sizeof *d);
  static const nst_fault faults[] = {NST_FAULT_FLAG, NST_FAULT_MISSING_ATTRIBUTE, NST_FAULT_UNIT};
  int arrays = 0, flags = 0;
  nestor_buffer *out = nestor_buffer_new();
  for (size_t i = 0; i < json_array_size(r.tasks); i++) {
    nst_task task = take(json_array_get(r.tasks, i));
    nst_key key;
    char error[NST_RECORD_ERROR];
    if (!nst_key_take(&key, json_incref(json_array_get(r.keys, i)), error)) fail_msg("%s", error);
    assert_false(found_out(&task, &key, key.answer));
    nst_draft_of_task(d, &task, NULL);
    const int array = nst_draft_array(d);
    for (int flag = 0; array >= 0 && flag < 2; flag++) { /* given or not */
      bool *value = flag ? &d->levels[array].no_multicast : &d->levels[array].no_reduce;
      *value = !*value;
      nestor_buffer_clear(out);
      nst_draft_write_hardware(d, out);
      if (!found_out(&task, &key, nestor_buffer_data(out)))
        fail_msg("the probes of %s pass\n%s", task.task_id, nestor_buffer_data(out));
      *value = !*value;
      flags += *value;
    }
    arrays += array >= 0;
    for (uint64_t n = 0; n < 9; n++) {
      nst_random random = nst_random_make(n, "attributes");
      nestor_buffer_clear(out);
      if (nst_mutate(out, key.answer, strlen(key.answer), faults[n % 3], &random) &&
          !found_out(&task, &key, nestor_buffer_data(out)))
        fail_msg("the probes of %s pass\n%s", task.task_id, nestor_buffer_data(out));
    }
    nst_key_fini(&key);
    nst_task_fini(&task);
  }
  assert_true(arrays > 15 && flags > 2);
  nestor_buffer_free(out);
  free(d);
  end(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_template_makes_legal_programs),
    cmocka_unit_test(levels_raise_one_trait_at_a_time),
    cmocka_unit_test(traits_are_seen_in_programs),
    cmocka_unit_test(wrong_beliefs_are_right_at_first_and_never_at_last),
    cmocka_unit_test(renaming_does_not_make_another_task),
    cmocka_unit_test(names_alone_make_no_other_text),
    cmocka_unit_test(what_is_taken_out_leaves_no_trace),
    cmocka_unit_test(probes_show_every_attribute),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
