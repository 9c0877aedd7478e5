/* Sweeps through the public header: a search, its answers one by one, stopping,
 * saving and going on, parts, rows, and calls that are wrong. */
#include "test.h"

#include <math.h>
#include <nestor/nestor.h>
#include <stdlib.h>
#include <string.h>

static const char program_text[] =
  "workload gemm(M = 24, N = 20, K = 16) { dim m = M, n = N, k = K tensor A, B : int8, C : int32 C[m, n] += A[m, k] * "
  "B[k, n] }\n"
  "hardware hw { memory DRAM { energy = 7 pJ/B } memory L2 { capacity = 300 B } compute MAC }\n"
  "mapping x(tm = 4, tn = 4, tk = tm) of gemm on hw { permute { for m by tm for n by tn } for k by tk keep? A in L2 "
  "keep B, C in L2 }\n"
  "sweep s of x { tm in 1 .. M tn in 1 .. N where fits minimize energy, offchip pareto usage(L2), offchip top 5 }\n"
  "sweep wrong of x { tm in 0 .. 3 tn in divisors(tm) minimize energy }\n"
  "sweep fails of x { tm in 1 .. M minimize energy / (tm - 7) }\n";

static nestor_program *program;

static int setup(void **state) {
  (void)state;
  nestor_session *s = nestor_session_new();
  program = nestor_program_new(s, "api.nest", program_text, strlen(program_text), NESTOR_STAGE_CHECK);
  nestor_session_free(s);
  return nestor_program_status(program) != NESTOR_OK;
}

static int teardown(void **state) {
  (void)state;
  nestor_program_free(program);
  return 0;
}

static nestor_sweep *make(const nestor_sweep_options *options) {
  nestor_sweep *s = nestor_sweep_new(program, nestor_program_find_sweep(program, "s"), options);
  assert_non_null(s);
  assert_int_equal(nestor_sweep_status(s), NESTOR_OK);
  return s;
}

static char *json(nestor_sweep *s) {
  nestor_buffer *b = nestor_buffer_new();
  nestor_sweep_write(s, NESTOR_FORMAT_JSON, false, false, b);
  char *text = strdup(nestor_buffer_data(b));
  nestor_buffer_free(b);
  return text;
}

static void a_search_and_its_answers(void **state) {
  (void)state;
  assert_int_equal(nestor_program_sweeps(program), 3);
  assert_string_equal(nestor_program_sweep(program, 0), "s");
  assert_null(nestor_program_sweep(program, 3));
  assert_true(nestor_program_find_sweep(program, "t") == SIZE_MAX);
  nestor_sweep *s = make(NULL);
  nestor_sweep_info info = nestor_sweep_about(s);
  assert_string_equal(info.points, "1920");
  assert_string_equal(info.tuples, "480");
  assert_string_equal(info.variants, "4");
  assert_null(info.engine);
  assert_false(info.proven || info.found);
  assert_int_equal(nestor_sweep_found(s, NESTOR_FOUND_BEST), 0);
  assert_int_equal(nestor_sweep_run(s), NESTOR_OK);
  info = nestor_sweep_about(s);
  assert_string_equal(info.engine, "plain"); /* a small space, and a default that follows */
  assert_true(info.proven && info.found);
  assert_int_equal(info.evaluated + info.pruned + info.duplicates + info.dropped, 1920);
  assert_int_equal(nestor_sweep_found(s, NESTOR_FOUND_BEST), 5);
  assert_true(nestor_sweep_found(s, NESTOR_FOUND_FRONT) > 3);
  assert_int_equal(nestor_sweep_metrics(s), 3);
  static const char *const names[] = {"energy", "offchip", "usage(L2)"};
  nestor_buffer *text = nestor_buffer_new();
  for (size_t i = 0; i < 3; i++) {
    nestor_buffer_clear(text);
    assert_int_equal(nestor_sweep_metric_name(s, i, text), NESTOR_OK);
    assert_string_equal(nestor_buffer_data(text), names[i]);
  }
  assert_int_equal(nestor_sweep_metric_name(s, 3, text), NESTOR_USAGE);
  /* Each point evaluates to its metrics. */
  for (int list = 0; list < 2; list++)
    for (size_t i = 0; i < nestor_sweep_found(s, (nestor_found)list); i++) {
      nestor_buffer_clear(text);
      nestor_buffer_append(text, program_text, (size_t)(strstr(program_text, "mapping x") - program_text));
      assert_int_equal(nestor_sweep_mapping(s, (nestor_found)list, i, "y", text), NESTOR_OK);
      nestor_session *session = nestor_session_new();
      nestor_program *p =
        nestor_program_new(session, "y.nest", nestor_buffer_data(text), nestor_buffer_size(text), NESTOR_STAGE_CHECK);
      nestor_eval *e = nestor_eval_new(p, 0);
      assert_int_equal(nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_OK);
      for (size_t k = 0; k < 3; k++) {
        double v;
        assert_int_equal(nestor_eval_figure(e, names[k], &v), NESTOR_OK);
        assert_true(v == nestor_sweep_metric(s, (nestor_found)list, i, k));
      }
      assert_true(nestor_sweep_param(s, (nestor_found)list, i, "tk") ==
                  nestor_sweep_param(s, (nestor_found)list, i, "tm"));
      nestor_eval_free(e);
      nestor_program_free(p);
      nestor_session_free(session);
    }
  assert_true(isnan(nestor_sweep_param(s, NESTOR_FOUND_BEST, 5, "tm")));
  assert_true(isnan(nestor_sweep_param(s, NESTOR_FOUND_BEST, 0, "zz")));
  assert_true(isnan(nestor_sweep_metric(s, NESTOR_FOUND_BEST, 0, 3)));
  assert_int_equal(nestor_sweep_mapping(s, NESTOR_FOUND_BEST, 5, "y", text), NESTOR_USAGE);
  nestor_buffer_free(text);
  nestor_sweep_free(s);
}

typedef struct {
  nestor_sweep *sweep;
  nestor_buffer *state;
  int saves, shown, stop_after;
  bool last;
} watcher;

static void save(void *context, const char *bytes, size_t size) {
  watcher *w = context;
  nestor_buffer_clear(w->state);
  nestor_buffer_append(w->state, bytes, size);
  w->saves++;
}

static void show(void *context, const nestor_sweep_progress *p) {
  watcher *w = context;
  w->shown++;
  w->last = p->last;
  if (!p->last && w->stop_after && w->shown >= w->stop_after) nestor_sweep_stop(w->sweep);
}

static void stopping_saving_and_going_on(void **state) {
  (void)state;
  nestor_sweep *whole = make(NULL);
  assert_int_equal(nestor_sweep_run(whole), NESTOR_OK);
  char *expected = json(whole);
  nestor_buffer *bytes = nestor_buffer_new(), *error = nestor_buffer_new();
  /* stopped before it begins: nothing is done, and that can be gone on from */
  nestor_sweep *s = make(NULL);
  watcher w = {.sweep = s, .state = bytes};
  nestor_sweep_autosave(s, save, &w, 0);
  nestor_sweep_watch(s, show, &w, 1000);
  nestor_sweep_stop(s);
  assert_int_equal(nestor_sweep_run(s), NESTOR_STOPPED);
  assert_true(w.saves > 0 && w.last);
  assert_false(nestor_sweep_about(s).proven);
  nestor_sweep_free(s);
  s = make(NULL);
  assert_int_equal(nestor_sweep_resume(s, nestor_buffer_data(bytes), nestor_buffer_size(bytes), error), NESTOR_OK);
  assert_int_equal(nestor_sweep_run(s), NESTOR_OK);
  char *text = json(s);
  assert_string_equal(text, expected);
  free(text);
  /* its end state shows the same, without the program */
  nestor_buffer_clear(bytes);
  nestor_sweep_save(s, bytes);
  nestor_sweep_free(s);
  s = nestor_sweep_load(nestor_buffer_data(bytes), nestor_buffer_size(bytes), error);
  assert_non_null(s);
  text = json(s);
  assert_string_equal(text, expected);
  free(text);
  assert_int_equal(nestor_sweep_run(s), NESTOR_USAGE);
  assert_int_equal(nestor_sweep_merge(s, nestor_buffer_data(bytes), nestor_buffer_size(bytes), error), NESTOR_USAGE);
  assert_non_null(strstr(nestor_buffer_data(error), "there already"));
  nestor_sweep_free(s);
  /* options that make other units */
  static const nestor_sweep_options others[] = {
    {.no_prune = true}, {.limit = 100}, {.sample = 10}, {.shards = 3, .shard = 1}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    s = make(&others[i]);
    nestor_buffer_clear(error);
    assert_int_equal(nestor_sweep_resume(s, nestor_buffer_data(bytes), nestor_buffer_size(bytes), error), NESTOR_USAGE);
    assert_true(nestor_buffer_size(error) > 10);
    nestor_sweep_free(s);
  }
  /* every cut and every changed byte is noticed */
  const size_t size = nestor_buffer_size(bytes);
  char *copy = malloc(size);
  for (size_t i = 0; i < size; i += 1 + i / 64) {
    memcpy(copy, nestor_buffer_data(bytes), size);
    copy[i] = (char)(copy[i] ^ 1);
    assert_null(nestor_sweep_load(copy, size, NULL));
    assert_null(nestor_sweep_load(nestor_buffer_data(bytes), i, NULL));
  }
  free(copy);
  free(expected);
  nestor_buffer_free(bytes);
  nestor_buffer_free(error);
  nestor_sweep_free(whole);
}

typedef struct {
  nestor_buffer *text;
  bool broken;
} sink;

static bool write_to(void *context, const char *bytes, size_t size) {
  sink *k = context;
  nestor_buffer_append(k->text, bytes, size);
  return !k->broken;
}

static void rows(void **state) {
  (void)state;
  sink k = {nestor_buffer_new(), false};
  nestor_sweep *s = make(NULL);
  nestor_sweep_list(s, NESTOR_ROWS_CSV, write_to, &k);
  nestor_sweep_list_head(s, NESTOR_ROWS_CSV, 0, k.text);
  assert_string_equal(nestor_buffer_data(k.text), "tm,tn,order_1,keep A in L2,energy,offchip,usage(L2)\n");
  assert_int_equal(nestor_sweep_run(s), NESTOR_OK);
  size_t lines = 0;
  for (const char *p = nestor_buffer_data(k.text); *p; p++) lines += *p == '\n';
  assert_int_equal(lines, nestor_sweep_about(s).valid + 1);
  nestor_sweep_free(s);
  nestor_buffer *zero = nestor_buffer_new(), *many = nestor_buffer_new();
  s = make(NULL);
  nestor_sweep_list_head(s, NESTOR_ROWS_NPY, 0, zero);
  nestor_sweep_list_head(s, NESTOR_ROWS_NPY, UINT64_MAX, many);
  assert_int_equal(nestor_buffer_size(zero), nestor_buffer_size(many));
  assert_int_equal(nestor_buffer_size(zero) % 64, 0);
  k.broken = true;
  nestor_sweep_list(s, NESTOR_ROWS_NPY, write_to, &k);
  assert_int_equal(nestor_sweep_run(s), NESTOR_ERROR); /* a full disk */
  assert_int_equal(nestor_diagnostics_count(nestor_sweep_diagnostics(s)), 0);
  nestor_sweep_free(s);
  nestor_buffer_free(zero);
  nestor_buffer_free(many);
  nestor_buffer_free(k.text);
}

static void pictures_and_programs(void **state) {
  (void)state;
  nestor_sweep *s = make(NULL);
  nestor_plot *plot = nestor_plot_new();
  nestor_buffer *out = nestor_buffer_new();
  assert_int_equal(nestor_plot_write(plot, out), NESTOR_USAGE);
  assert_int_equal(nestor_plot_add(plot, s), NESTOR_USAGE); /* nothing found yet */
  assert_int_equal(nestor_sweep_emit(s, NULL, out), NESTOR_USAGE);
  assert_int_equal(nestor_sweep_run(s), NESTOR_OK);
  assert_int_equal(nestor_plot_add(plot, s), NESTOR_OK);
  assert_int_equal(nestor_plot_write(plot, out), NESTOR_OK);
  assert_memory_equal(nestor_buffer_data(out), "<svg", 4);
  nestor_buffer_clear(out);
  assert_int_equal(nestor_sweep_emit(s, NULL, out), NESTOR_OK);
  assert_non_null(strstr(nestor_buffer_data(out), "mapping x("));
  assert_null(strstr(nestor_buffer_data(out), "permute"));
  nestor_buffer_free(out);
  nestor_plot_free(plot);
  nestor_sweep_free(s);
}

static void what_is_wrong_is_said(void **state) {
  (void)state;
  assert_null(nestor_sweep_new(program, 3, NULL));
  nestor_sweep *s = nestor_sweep_new(program, 1, NULL);
  assert_int_equal(nestor_sweep_status(s), NESTOR_ERROR);
  nestor_diagnostic d;
  assert_true(nestor_diagnostics_get(nestor_sweep_diagnostics(s), 0, &d));
  assert_string_equal(d.code, "E0805");
  assert_int_equal(nestor_sweep_run(s), NESTOR_ERROR);
  nestor_sweep_free(s);
  s = nestor_sweep_new(program, 2, NULL);
  assert_int_equal(nestor_sweep_status(s), NESTOR_OK);
  assert_int_equal(nestor_sweep_run(s), NESTOR_ERROR);
  assert_true(nestor_diagnostics_get(nestor_sweep_diagnostics(s), 0, &d));
  assert_string_equal(d.code, "E0960");
  assert_non_null(strstr(d.message, "at tm = 7"));
  nestor_sweep_free(s);
  nestor_sweep_free(NULL);
  nestor_plot_free(NULL);
  nestor_ranks_free(NULL);
  assert_null(nestor_sweep_load("", 0, NULL));
  assert_null(nestor_ranks_new("/nonexistent.so", NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_search_and_its_answers), cmocka_unit_test(stopping_saving_and_going_on), cmocka_unit_test(rows),
    cmocka_unit_test(pictures_and_programs),    cmocka_unit_test(what_is_wrong_is_said),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
