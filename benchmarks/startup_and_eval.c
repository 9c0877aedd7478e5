/* How long a command takes that needs no native code, and one evaluation.
 *
 *   startup_and_eval NESTOR [RUNS]
 *
 * Startup: `nestor check` on a small file, from spawn to exit, beside `/bin/true`
 * (what the system needs for any program). Evaluation: a 7-dimensional
 * convolution on three levels through the library, by the analysis with all tile
 * sizes changing from one evaluation to the next (and with one of them), beside
 * the simulator on the same mapping scaled down to what it accepts; processor
 * time. Compiling: a GEMM of 600 bytes in this process, parsed alone, checked, and
 * with its first evaluation; processor time. Cascades: `nestor eval` on the attention of Llama-3-8B, unfused and fused,
 * prefill and decode, from spawn to exit. Medians of RUNS (31) runs. Exits with 1 when a bound of the project
 * is missed: 15 ms for a check, 20 microseconds for an evaluation. */
#include <nestor/nestor.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const double check_bound_ms = 15, eval_bound_us = 20;

static const char convolution[] =
  "workload conv(N, K, C, P, Q, R = 3, S = 3) {\n"
  "  dim n = N, k = K, c = C, p = P, q = Q, r = R, s = S\n"
  "  tensor I, W : int8, O : int32\n"
  "  O[n, k, p, q] += I[n, c, p + r, q + s] * W[k, c, r, s]\n"
  "}\n"
  "hardware acc {\n"
  "  clock = 1 GHz\n"
  "  memory DRAM { bandwidth = 16 B/cycle  energy = 100 pJ/B }\n"
  "  memory GLB { capacity = 128 KiB  bandwidth = 64 B/cycle  energy = 3 pJ/B }\n"
  "  array PE[x = 16, y = 16]\n"
  "  memory RF { capacity = 512 B  energy = 0.2 pJ/B }\n"
  "  compute MAC { energy = 0.4 pJ }\n"
  "}\n"
  "mapping large(k1 = 64, c1 = 16, p1 = 28, k2 = 16, c2 = 16, q2 = 7) of conv(4, 256, 256, 56, 56) on acc {\n"
  "  for n for k by k1 for c by c1 for p by p1\n"
  "  keep all in GLB\n"
  "  for k by k2 for c by c2 for p for q by q2\n"
  "  par k on PE.y par c on PE.x\n"
  "  keep all in RF\n"
  "  for r for s\n"
  "}\n"
  "mapping small(k1 = 4, c1 = 4, p1 = 4, k2 = 2, c2 = 2, q2 = 3) of conv(2, 8, 8, 6, 6) on acc {\n"
  "  for n for k by k1 for c by c1 for p by p1\n"
  "  keep all in GLB\n"
  "  for k by k2 for c by c2 for p for q by q2\n"
  "  par k on PE.y par c on PE.x\n"
  "  keep all in RF\n"
  "  for r for s\n"
  "}\n";

static const char gemm[] =
  "workload gemm(M = 512, N = 512, K = 512) {\n"
  "  dim m = M, n = N, k = K\n"
  "  tensor A, B : int8, C : int32\n"
  "  C[m, n] += A[m, k] * B[k, n]\n"
  "}\n"
  "hardware tiny {\n"
  "  memory DRAM { bandwidth = 32 B/cycle }\n"
  "  memory GLB { capacity = 128 KiB  bandwidth = 128 B/cycle }\n"
  "  array PE[x = 16, y = 16]\n"
  "  memory RF { capacity = 512 B }\n"
  "  compute MAC\n"
  "}\n"
  "mapping os(tm = 64, tn = 64, tk = 32) of gemm on tiny {\n"
  "  keep all in DRAM\n"
  "  for m by tm\n"
  "  for n by tn\n"
  "  for k by tk\n"
  "  keep A, B, C in GLB\n"
  "  par m on PE.y\n"
  "  par n on PE.x\n"
  "  keep A, B, C in RF\n"
  "  compute on MAC\n"
  "}\n";

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *times, size_t n) {
  qsort(times, n, sizeof *times, ascending);
  return times[n / 2];
}

static double spawn(char *const *argv) {
  const double begin = now(CLOCK_MONOTONIC);
  pid_t child;
  int status = 0;
  if (posix_spawn(&child, argv[0], NULL, NULL, argv, environ) != 0 || waitpid(child, &status, 0) < 0 || status != 0) {
    fprintf(stderr, "%s failed\n", argv[0]);
    exit(1);
  }
  return now(CLOCK_MONOTONIC) - begin;
}

enum { TILES = 6 };
typedef struct { const char *mapping; int64_t tiles[TILES]; int changing; } subject;

/* Microseconds of one evaluation; the last `changing` tiles differ from one to the next. */
static double evaluate(nestor_eval *e, nestor_engine engine, const subject *s, int times) {
  int64_t tiles[TILES];
  memcpy(tiles, s->tiles, sizeof tiles);
  const double begin = now(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < times; i++) {
    for (int t = TILES - s->changing; t < TILES; t++) tiles[t] = s->tiles[t] - (i + t) % (s->tiles[t] > 4 ? 3 : 2);
    if (nestor_eval_run(e, engine, tiles) != NESTOR_OK) {
      fprintf(stderr, "an evaluation failed\n");
      exit(1);
    }
  }
  return 1e6 * (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / times;
}

static double median_evaluation(const nestor_program *p, subject s, nestor_engine engine, int times, int runs,
                                double *samples) {
  nestor_eval *e = nestor_eval_new(p, nestor_program_find(p, s.mapping));
  for (int i = 0; i < runs; i++) samples[i] = evaluate(e, engine, &s, times);
  nestor_eval_free(e);
  return median(samples, (size_t)runs);
}

/* Microseconds from text to a program, or to its first figures. */
static double compile(const nestor_session *s, nestor_stage stage, bool run, int times) {
  const double begin = now(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < times; i++) {
    nestor_program *p = nestor_program_new(s, "gemm", gemm, sizeof gemm - 1, stage);
    nestor_eval *e = run ? nestor_eval_new(p, 0) : NULL;
    if (nestor_program_status(p) != NESTOR_OK || (run && nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL) != NESTOR_OK)) {
      fprintf(stderr, "a program failed\n");
      exit(1);
    }
    nestor_eval_free(e);
    nestor_program_free(p);
  }
  return 1e6 * (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / times;
}

static double median_compile(const nestor_session *s, nestor_stage stage, bool run, int runs, double *samples) {
  for (int i = 0; i < runs; i++) samples[i] = compile(s, stage, run, 500);
  return median(samples, (size_t)runs);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: startup_and_eval NESTOR [RUNS]\n");
    return 2;
  }
  const int runs = argc > 2 ? atoi(argv[2]) : 31;
  double *samples = calloc((size_t)(runs > 0 ? runs : 1), sizeof *samples);
  if (runs < 1 || !samples) return 2;

  char file[] = "/tmp/nestor-benchmark-XXXXXX";
  const int fd = mkstemp(file);
  if (fd < 0 || write(fd, convolution, sizeof convolution - 1) < 0 || close(fd) != 0) return 3;
  char *const check[] = {argv[1], "check", "-q", file, NULL}, *const nothing[] = {"/bin/true", NULL};
  for (int i = 0; i < runs; i++) samples[i] = 1e3 * spawn(nothing);
  const double true_ms = median(samples, (size_t)runs);
  for (int i = 0; i < runs; i++) samples[i] = 1e3 * spawn(check);
  const double check_ms = median(samples, (size_t)runs);
  unlink(file);
  char *const attention[] = {argv[1], "eval", "-o", "/dev/null", "-m", "unfused_tpu", "-m", "fused_tpu", "-m",
                             "unfused_decode_tpu", "-m", "fused_decode_tpu",
                             NST_SOURCE_DIR "/examples/cascades/attention.nest", NULL};
  for (int i = 0; i < runs; i++) samples[i] = 1e3 * spawn(attention);
  const double attention_ms = median(samples, (size_t)runs);

  nestor_session *s = nestor_session_new();
  nestor_program *p = nestor_program_new(s, "convolution", convolution, sizeof convolution - 1, NESTOR_STAGE_CHECK);
  if (nestor_program_status(p) != NESTOR_OK) {
    nestor_buffer *why = nestor_buffer_new();
    nestor_diagnostics_text(nestor_program_diagnostics(p), false, why);
    fputs(nestor_buffer_data(why), stderr);
    return 1;
  }
  const subject large = {"large", {64, 16, 28, 16, 16, 7}, TILES}, one = {"large", {64, 16, 28, 16, 16, 7}, 1},
                small = {"small", {4, 4, 4, 2, 2, 3}, TILES};
  const double large_us = median_evaluation(p, large, NESTOR_ENGINE_ANALYSIS, 1000, runs, samples);
  const double one_us = median_evaluation(p, one, NESTOR_ENGINE_ANALYSIS, 1000, runs, samples);
  const double small_us = median_evaluation(p, small, NESTOR_ENGINE_ANALYSIS, 1000, runs, samples);
  const double rules_us = median_evaluation(p, small, NESTOR_ENGINE_SIMULATE, 3, runs < 7 ? runs : 7, samples);
  const double parse_us = median_compile(s, NESTOR_STAGE_PARSE, false, runs, samples);
  const double compile_us = median_compile(s, NESTOR_STAGE_CHECK, false, runs, samples);
  const double first_us = median_compile(s, NESTOR_STAGE_CHECK, true, runs, samples);
  nestor_program_free(p);
  nestor_session_free(s);
  free(samples);

  printf("nestor check, small file      %9.2f ms   %.1f times /bin/true (%.2f ms)   bound %g ms\n", check_ms,
         check_ms / true_ms, true_ms, check_bound_ms);
  printf("nestor eval, attention        %9.2f ms   four mappings of Llama-3-8B\n", attention_ms);
  printf("analysis, 7-D convolution     %9.2f us   7.4 billion operations           bound %g us\n", large_us,
         eval_bound_us);
  printf("  where only one tile changes %9.2f us\n", one_us);
  printf("analysis, the same in small   %9.2f us   41 thousand operations\n", small_us);
  printf("simulator, the same in small  %9.2f us   %.0f times the analysis\n", rules_us, rules_us / small_us);
  printf("compiling a GEMM, in process  %9.2f us   of which parsing %.2f us\n", compile_us, parse_us);
  printf("  with its first evaluation   %9.2f us\n", first_us);
  const int missed = check_ms > check_bound_ms || large_us > eval_bound_us;
  if (missed) printf("a bound is missed\n");
  return missed;
}
