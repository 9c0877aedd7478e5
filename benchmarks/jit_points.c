/* A million parameter vectors of one mapping through a kernel, on one core.
 *
 * The mapping is the measured convolution (two memories, sixteen by sixteen
 * units); each of its eight tiles is drawn from 1 to the extent, so nearly all
 * tilings are imperfect. The plain path (nest and analysis) on the same vectors
 * is the reference: its rate is printed beside the kernel's, and the first
 * vectors are compared number by number.
 *
 *   jit_points [points] [seed]
 */
#include "backend/interpreter.h"
#include "backend/kernel.h"
#include "benchmarks/conv.h"
#include "frontend/compile.h"
#include "ir/counts.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PARAMS = 8, CHUNK = 1024, RUNS = 7, REFERENCE = 20000 };

static const char program_text[] = CONV_TEXT;
static const int extents[PARAMS] = {64, 64, 56, 56, 64, 64, 56, 56};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static nst_ir_mapping *compile(nst_arena *arena) {
  nst_sources *sources = nst_sources_new(arena);
  nst_diags *diags = nst_diags_new(arena, sources);
  uint32_t id = nst_sources_add(sources, "jit_points", program_text, sizeof program_text - 1);
  nst_interner *names = nst_interner_new(arena);
  nst_ir_program *p = nst_frontend_compile(arena, names, sources, diags, NULL, id);
  nst_interner_free(names);
  if (p) return p->mappings[0];
  nst_buffer text = {0};
  nst_diags_render(diags, &text, false);
  fputs(text.text, stderr);
  nst_buffer_fini(&text);
  return NULL;
}

/* One run over all points with a fresh scratch; adds the counters up. */
static double run(const nst_kernel *k, size_t points, int64_t *const *params, uint8_t *status, int64_t *out,
                  size_t *good, uint64_t *checksum, nst_kernel_statistics *statistics) {
  double start = now();
  nst_kernel_scratch *scratch = nst_kernel_scratch_new(k);
  size_t width = nst_kernel_width(k);
  *good = 0;
  *checksum = 0;
  for (size_t first = 0; first < points; first += CHUNK) {
    const int64_t *columns[PARAMS];
    for (int p = 0; p < PARAMS; p++) columns[p] = params[p] + first;
    size_t n = points - first < CHUNK ? points - first : CHUNK;
    *good += nst_kernel_batch(k, scratch, n, columns, status, out);
    for (size_t i = 0; i < n; i++)
      if (status[i] == NST_KERNEL_OK)
        *checksum = *checksum * 31 + (uint64_t)nst_kernel_view(k, out + i * width).moves[0].reads;
  }
  *statistics = nst_kernel_scratch_statistics(scratch);
  nst_kernel_scratch_free(scratch);
  return now() - start;
}

/* The reference: seconds a point, or -1 where the two differ. */
static double reference(nst_arena *arena, const nst_ir_mapping *m, const nst_kernel *k, nst_interpreter *plain,
                        size_t points, int64_t *const *params) {
  nst_kernel_scratch *scratch = nst_kernel_scratch_new(k);
  nst_counts *got = nst_counts_new(arena, m);
  double seconds = 0;
  size_t n = points < REFERENCE ? points : REFERENCE;
  bool same = true;
  for (size_t i = 0; same && i < n; i++) {
    int64_t vector[PARAMS];
    for (int p = 0; p < PARAMS; p++) vector[p] = params[p][i];
    double start = now();
    const nst_counts *want = nst_interpreter_eval_integers(plain, vector, NULL);
    seconds += now() - start;
    nst_kernel_status status = nst_kernel_eval(k, scratch, vector, got);
    const char *difference = want && status == NST_KERNEL_OK ? nst_counts_diff(arena, m, want, got) : NULL;
    same = !difference && (want != NULL) == (status == NST_KERNEL_OK);
    if (!same) fprintf(stderr, "point %zu differs: %s\n", i, difference ? difference : "status");
  }
  nst_kernel_scratch_free(scratch);
  return same ? seconds / (double)n : -1;
}

static int measure(nst_arena *arena, const nst_ir_mapping *m, nst_jit *jit, size_t points, uint64_t seed) {
  nst_interpreter *plain = nst_interpreter_new(m);
  nst_buffer error = {0};
  nst_kernel *k = NULL;
  double start = now();
  nst_jit_status made =
    nst_kernel_new(&k, m, nst_interpreter_plan(plain), (nst_kernel_options){.jit = jit, .level = NST_JIT_O2}, &error);
  double compile_seconds = now() - start;
  if (made != NST_JIT_OK) {
    fprintf(stderr, "%s\n", error.text);
    nst_buffer_fini(&error);
    nst_interpreter_free(plain);
    return 1;
  }
  int64_t *params[PARAMS];
  for (int p = 0; p < PARAMS; p++) {
    params[p] = NST_NEW_ARRAY(arena, points, int64_t);
    for (size_t i = 0; i < points; i++) params[p][i] = 1 + (int64_t)(next(&seed) % (uint64_t)extents[p]);
  }
  uint8_t *status = NST_NEW_ARRAY(arena, CHUNK, uint8_t);
  int64_t *out = NST_NEW_ARRAY(arena, CHUNK * nst_kernel_width(k), int64_t);
  double seconds[RUNS];
  size_t good = 0;
  uint64_t checksum = 0;
  nst_kernel_statistics statistics;
  for (int i = 0; i < RUNS; i++) seconds[i] = run(k, points, params, status, out, &good, &checksum, &statistics);
  qsort(seconds, RUNS, sizeof *seconds, compare_doubles);
  double plain_seconds = reference(arena, m, k, plain, points, params), median = seconds[RUNS / 2];

  int rows, values, instructions;
  nst_kernel_size(k, &rows, &values, &instructions);
  printf("LLVM %s; kernel of %d instructions, %d rows of %d values in all, compiled in %.1f ms\n",
         nst_jit_llvm_version(jit), instructions, rows, values, 1e3 * compile_seconds);
  printf("points        %zu, %zu of them feasible, checksum %016" PRIx64 "\n", points, good, checksum);
  printf("columns       %" PRIu64 " rows filled, %" PRIu64 " groups counted in each run\n", statistics.rows_filled,
         statistics.groups_counted);
  printf("kernel        %.3f s median of %d (%.3f .. %.3f), %.2f million points/s\n", median, RUNS, seconds[0],
         seconds[RUNS - 1], (double)points / median / 1e6);
  if (plain_seconds > 0)
    printf("plain path    %.2f us a point, %.4f million points/s: the kernel is %.0f times as fast\n",
           1e6 * plain_seconds, 1e-6 / plain_seconds, plain_seconds * (double)points / median);
  nst_kernel_free(k);
  nst_interpreter_free(plain);
  return plain_seconds > 0 ? 0 : 1;
}

int main(int argc, char **argv) {
  size_t points = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) | 1 : UINT64_C(88172645463325252);
  if (!points) points = 1;
  nst_arena *arena = nst_arena_new();
  nst_ir_mapping *m = compile(arena);
  nst_jit *jit = NULL;
  nst_buffer error = {0};
  int result = 1;
  if (m && nst_jit_new(&jit, NULL, &error) != NST_JIT_OK) fprintf(stderr, "%s\n", error.text);
  if (jit) result = measure(arena, m, jit, points, seed);
  nst_jit_free(jit);
  nst_buffer_fini(&error);
  nst_arena_free(arena);
  return result;
}
