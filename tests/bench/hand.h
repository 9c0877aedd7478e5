/* Tasks by hand, for tests and measurements of the grader: their expected figures are what the library gives for the reference answer. */
#ifndef NST_TESTS_BENCH_HAND_H
#define NST_TESTS_BENCH_HAND_H
#include "bench/grade/figures.h"
#include "bench/grade/values.h"
#include "bench/record/record.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HAND_GEMM                                                                                  \
  "workload gemm(M = 96, N = 64, K = 48) {\n"                                                      \
  "  dim m = M, n = N, k = K\n"                                                                    \
  "  tensor A, B : int8, C : int32\n"                                                              \
  "  C[m, n] += A[m, k] * B[k, n]\n"                                                               \
  "}\n"
#define HAND_HARDWARE                                                                              \
  "hardware acc {\n"                                                                               \
  "  clock = 1 GHz\n"                                                                              \
  "  memory DRAM { bandwidth = 16 B/cycle  energy = 100 pJ/B }\n"                                  \
  "  memory GLB { capacity = 64 KiB  bandwidth = 48 B/cycle  energy = 3 pJ/B }\n"                  \
  "  array PE[x = 8, y = 8]\n"                                                                     \
  "  memory RF { capacity = 512 B  energy = 0.3 pJ/B }\n"                                          \
  "  compute MAC { energy = 0.7 pJ }\n"                                                            \
  "}\n"
#define HAND_SMALL                                                                                 \
  "hardware tiny(KIB = 4 * 5, LANES = 4) {\n"                                                      \
  "  memory DRAM { bandwidth = 16 B/cycle }\n"                                                     \
  "  memory GLB { capacity = KIB * 1 KiB  bandwidth = 64 B/cycle }\n"                              \
  "  array PE[x = LANES]\n"                                                                        \
  "  compute MAC\n"                                                                                \
  "}\n"
#define HAND_MAPPING                                                                               \
  "mapping ans(tm = 32, tn = 16, tk = 12) of gemm on acc {\n"                                      \
  "  for m by tm\n"                                                                                \
  "  for n by tn\n"                                                                                \
  "  for k by tk\n"                                                                                \
  "  keep all in GLB\n"                                                                            \
  "  par m on PE.y\n"                                                                              \
  "  par n on PE.x\n"                                                                              \
  "  keep all in RF\n"                                                                             \
  "  for k\n"                                                                                      \
  "}\n"
#define HAND_LEAST "mapping ans of gemm on tiny {\n  for m by 48\n  keep all in GLB\n}\n"
#define HAND_MODEL                                                                                 \
  "model ans(M, N, K, tm, tn, tk) {\n"                                                             \
  "  let n_tiles = ceildiv(N, tn)\n"                                                               \
  "  out reads_A = M * K * (if tk < K then n_tiles else 1)\n"                                      \
  "  out updates_C = M * N\n"                                                                      \
  "}\n"
#define HAND_WORKLOAD                                                                              \
  "workload ans(M = 24, K = 10) {\n"                                                               \
  "  dim m = M, k = K\n"                                                                           \
  "  tensor A, x : int8, y : int32\n"                                                              \
  "  y[m] += A[m, k] * x[k]\n"                                                                     \
  "}\n"
#define HAND_PROBE                                                                                 \
  "mapping probe(M = 24, K = 10, tm = 5) of ans(M, K) on acc {\n"                                  \
  "  for m by tm\n  keep all in GLB\n  for k by 4\n  keep all in RF\n}\n"

typedef void hand_fn(void *context, json_t *task, json_t *key);

static inline void hand_give(hand_fn *take, void *context, const char *id, const char *kind, json_t *spec, const char *answer, json_t *key) {
  char commit[65];
  nst_answer_commit(commit, "salt", answer);
  json_t *task = json_pack("{s:s,s:s,s:s,s:i,s:s,s:s,s:i,s:i,s:s,s:[{s:s,s:s}],s:o,s:i,s:{},s:s,s:s,s:s}", "schema", "nestor.task/1", "task_id",
                           id, "suite", "hand", "version", 1, "split", "test", "kind", kind, "level", 3, "seed", 1, "cluster", kind, "messages",
                           "role", "user", "content", "?", "spec", spec, "dsl_version", 1, "limits", "answer_commit", commit, "content_hash",
                           commit, "canary", "hand");
  json_t *all = json_pack("{s:s,s:s,s:s,s:s}", "schema", "nestor.key/1", "task_id", id, "salt", "salt", "answer", answer);
  json_object_update(all, key);
  json_decref(key);
  take(context, task, all);
}

/* points and figures of one mapping of a program; params: rows of nparams values. */
static inline json_t *hand_points(const char *program, const char *mapping, const char *const *names, size_t nparams, const int64_t *rows,
                                  size_t n) {
  nestor_session *session = nestor_session_new();
  nestor_program *p = nestor_program_new(session, "hand", program, strlen(program), NESTOR_STAGE_CHECK);
  nestor_eval *e = nestor_eval_new(p, nestor_program_find(p, mapping));
  json_t *points = json_array(), *figures = json_array();
  for (size_t i = 0; i < n; i++) {
    json_t *params = json_object(), *values = json_array();
    for (size_t k = 0; k < nparams; k++) json_object_set_new(params, names[k], json_integer(rows[i * nparams + k]));
    nestor_status status = e ? nestor_eval_run(e, NESTOR_ENGINE_ALL, rows + i * nparams) : NESTOR_USAGE;
    if (status == NESTOR_UNAVAILABLE) status = nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, rows + i * nparams); /* built without native code */
    if (status != NESTOR_OK) {
      fprintf(stderr, "a reference of the tests is wrong\n");
      nestor_buffer *why = nestor_buffer_new();
      nestor_diagnostics_text(e ? nestor_eval_diagnostics(e) : nestor_program_diagnostics(p), false, why);
      fputs(nestor_buffer_data(why), stderr);
      exit(1);
    }
    const size_t nfigures = nst_figures_count(e);
    nst_figure *got = calloc(nfigures, sizeof *got);
    nst_figures_values(got, e);
    for (size_t k = 0; k < nfigures; k++) json_array_append_new(values, nst_figure_json(got[k]));
    free(got);
    json_array_append_new(points, json_pack("{s:s,s:o,s:b,s:o}", "mapping", mapping, "params", params, "shown", i == 0, "values", values));
    if (i) continue;
    nestor_buffer *text = nestor_buffer_new();
    nst_figures_names(text, e);
    const char *name = nestor_buffer_data(text);
    for (size_t k = 0; k < nfigures; k++, name += strlen(name) + 1) json_array_append_new(figures, json_string(name));
    nestor_buffer_free(text);
  }
  nestor_eval_free(e);
  nestor_program_free(p);
  nestor_session_free(session);
  return json_pack("{s:o,s:{s:o}}", "points", points, "figures", mapping, figures);
}

static inline int64_t hand_ceildiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* h-mapping, h-workload, h-least, h-model, h-choice, h-numbers. */
static inline void hand_tasks(hand_fn *take, void *context) {
  static const char *const tiles[] = {"tm", "tn", "tk"};
  static const int64_t points[] = {32, 16, 12, 24, 8, 48, 40, 24, 7, 13, 5, 48, 64, 64, 1};
  json_t *key = hand_points(HAND_GEMM HAND_HARDWARE HAND_MAPPING, "ans", tiles, 3, points, 5);
  json_object_set_new(key, "probe", json_string(""));
  hand_give(take, context, "h-mapping", "gen.mapping",
            json_pack("{s:s,s:s,s:{s:s,s:s,s:[s,s,s]},s:s}", "answer", "program", "given", HAND_GEMM HAND_HARDWARE, "declares", "kind", "mapping",
                      "name", "ans", "params", "tm", "tn", "tk", "goal", "equal"),
            HAND_MAPPING, key);

  static const char *const probe[] = {"M", "K", "tm"};
  static const int64_t probe_points[] = {24, 10, 5, 17, 9, 4, 100, 33, 64};
  key = hand_points(HAND_HARDWARE HAND_WORKLOAD HAND_PROBE, "probe", probe, 3, probe_points, 3);
  json_object_set_new(key, "probe", json_string(HAND_PROBE));
  hand_give(take, context, "h-workload", "gen.workload",
            json_pack("{s:s,s:s,s:{s:s,s:s,s:[s,s]},s:s}", "answer", "program", "given", HAND_HARDWARE, "declares", "kind", "workload", "name",
                      "ans", "params", "M", "K", "goal", "equal"),
            HAND_WORKLOAD, key);

  /* All of B and half of A and C fit: everything moves once. */
  key = json_pack("{s:s,s:i,s:[{s:s,s:{}}]}", "probe", "", "optimum", 96 * 48 + 48 * 64 + 4 * 96 * 64, "points", "mapping", "ans", "params");
  hand_give(take, context, "h-least", "gen.optimize",
            json_pack("{s:s,s:s,s:{s:s,s:s,s:[]},s:s,s:s}", "answer", "program", "given", HAND_GEMM HAND_SMALL, "declares", "kind", "mapping", "name",
                      "ans", "params", "goal", "least", "objective", "offchip"),
            HAND_LEAST, key);

  json_t *rows = json_array(), *values = json_array();
  for (int64_t i = 0; i < 200; i++) {
    const int64_t M = 8 + i % 37, N = 5 + 3 * i % 41, K = 4 + 7 * i % 29, tm = 1 + i % 11, tn = 1 + 5 * i % 13, tk = 1 + 3 * i % 31;
    json_array_append_new(rows, json_pack("[I,I,I,I,I,I]", M, N, K, tm, tn, tk));
    json_array_append_new(values, json_pack("[I,I]", M * K * (tk < K ? hand_ceildiv(N, tn) : 1), M * N));
  }
  key = json_pack("{s:[s,s,s,s,s,s],s:o,s:o}", "params", "M", "N", "K", "tm", "tn", "tk", "points", rows, "values", values);
  hand_give(take, context, "h-model", "gen.model",
            json_pack("{s:s,s:s,s:{s:s,s:s,s:[s,s,s,s,s,s]},s:[s,s]}", "answer", "model", "given", HAND_GEMM HAND_HARDWARE HAND_MAPPING, "declares",
                      "kind", "model", "name", "ans", "params", "M", "N", "K", "tm", "tn", "tk", "outs", "reads_A", "updates_C"),
            HAND_MODEL, key);

  hand_give(take, context, "h-choice", "qa.compare", json_pack("{s:s,s:[s,s,s]}", "answer", "choice", "choices", "A", "B", "C"), "B",
            json_pack("{s:s}", "choice", "B"));
  hand_give(take, context, "h-numbers", "qa.predict",
            json_pack("{s:s,s:[{s:s,s:s},{s:s,s:s}]}", "answer", "numbers", "quantities", "name", "reads_A", "unit", "elements", "name", "glb", "unit",
                      "bytes"),
            "{\"reads_A\": 18432, \"glb\": 4096}", json_pack("{s:{s:i,s:i}}", "values", "reads_A", 18432, "glb", 4096));
}
#endif
