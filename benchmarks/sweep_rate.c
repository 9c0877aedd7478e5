/* How many mappings a second a sweep evaluates, against a kernel written by hand.
 *
 * Two spaces: the convolution conv2_x with all its orders, five metrics, and GEMM
 * 4096^3 with all tiles 1 .. 256 and all orders, two metrics. Engine and hand
 * compute every metric of every point from the same tables, on one thread, in turn,
 * and must agree on the sum of all metrics modulo 2^64, on the number of valid points
 * and on the best objective, of the convolution also on the best ten and the front;
 * times are those of the process, since the machine may be busy. The hand keeps values
 * only, the engine also says which points they are, with ties broken by their places;
 * of GEMM the hand keeps the best alone.
 * (The hand's preparation is the engine's, and counted for neither.) Then: the same
 * through the threads of a run, one against two; the plain engine; a nest of six
 * loops whose 720 orders are only compiled.
 *
 *   sweep_rate [runs] */
#include "backend/sweep_kernel.h"
#include "backend/sweep_run.h"
#include "benchmarks/conv.h"
#include "frontend/compile.h"
#ifdef BY_HAND
#include "by_hand/by_hand.h"
#endif
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RUNS = 99 };

static const char conv_text[] = CONV_TEXT
  "sweep conv2_x of tiled {\n"
  "  k1 in divisors(K)  c1 in divisors(C)  p1 in divisors(P)  q1 in divisors(Q)\n"
  "  k2 in divisors(k1) c2 in divisors(c1) p2 in divisors(p1) q2 in divisors(q1)\n"
  "  where fits\n"
  "  minimize energy, cycles, usage(RF)\n"
  "  pareto usage(GLB), offchip\n"
  "  top 10\n"
  "}\n";

static const char gemm_text[] =
  "workload gemm(M, N, K) { dim m = M, n = N, k = K  tensor A, B, C : int8  C[m, n] += A[m, k] * B[k, n] }\n"
  "hardware h { memory DRAM memory BUF { capacity = 64 KiB } compute MAC }\n"
  "mapping t(tm = 1, tn = 1, tk = 1) of gemm(4096, 4096, 4096) on h {\n"
  "  permute { for m by tm for n by tn for k by tk }\n"
  "  keep all in BUF\n"
  "}\n"
  "sweep tiles of t {\n"
  "  tm in 1 .. 256 tn in 1 .. 256 tk in 1 .. 256\n"
  "  where fits\n"
  "  minimize offchip\n"
  "  pareto usage(BUF), offchip\n"
  "}\n";

static const char six_text[] =
  "workload conv(K, C, P, Q, R, S) {\n"
  "  dim k = K, c = C, p = P, q = Q, r = R, s = S\n"
  "  tensor I, W : int8, O : int32\n"
  "  O[k, p, q] += I[c, p + r, q + s] * W[k, c, r, s]\n"
  "}\n"
  "hardware h {\n"
  "  memory DRAM { energy = 100 pJ/B }\n"
  "  memory BUF { capacity = 128 KiB energy = 3 pJ/B }\n"
  "  compute MAC { energy = 0.4 pJ }\n"
  "}\n"
  "mapping t(k1 = 1, c1 = 1, p1 = 1, q1 = 1, r1 = 1, s1 = 1) of conv(64, 64, 56, 56, 3, 3) on h {\n"
  "  permute { for k by k1 for c by c1 for p by p1 for q by q1 for r by r1 for s by s1 }\n"
  "  keep all in BUF\n"
  "}\n"
  "sweep six of t {\n"
  "  k1 in divisors(K) c1 in divisors(C) p1 in divisors(P) q1 in divisors(Q) r1 in divisors(R) s1 in divisors(S)\n"
  "  where fits\n"
  "  minimize energy\n"
  "  pareto usage(BUF), offchip\n"
  "}\n";

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static double cpu(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int n) {
  qsort(values, (size_t)n, sizeof *values, compare_doubles);
  return values[n / 2];
}

static _Noreturn void fail(const char *what, const char *why) {
  fprintf(stderr, "sweep_rate: %s%s%s\n", what, *why ? ": " : "", why);
  exit(1);
}

/* ---- one space ---- */

typedef struct {
  const char *name;
  nst_arena *arena;
  nst_diags *diags;
  const nst_ir_sweep *sweep;
  const nst_ir_mapping *mapping;
  nst_space *space;
  nst_sweep_shape shape;
  nst_sweep_engine *engine;
  nst_sweep_kernel_parts parts;
  double prepare; /* seconds of making the engine */
} subject;

static void compile(subject *s, const char *name, const char *text, size_t len) {
  *s = (subject){.name = name, .arena = nst_arena_new()};
  nst_sources *sources = nst_sources_new(s->arena);
  s->diags = nst_diags_new(s->arena, sources);
  uint32_t id = nst_sources_add(sources, name, text, len);
  nst_ir_program *p = nst_frontend_compile(s->arena, nst_interner_new(s->arena), sources, s->diags, NULL, id);
  if (p) {
    s->sweep = &p->sweeps[0];
    s->mapping = p->mappings[s->sweep->mapping];
    s->space = nst_space_new(s->mapping, s->sweep, s->diags);
    if (s->space && nst_sweep_shape_make(&s->shape, s->sweep, s->space, s->diags)) return;
  }
  nst_buffer said = {0};
  nst_diags_render(s->diags, &said, false);
  fail(name, said.text ? said.text : "");
}

static void prepare(subject *s, nst_jit *jit) {
  const char *why = NULL;
  double start = cpu();
  s->engine = nst_sweep_kernel_new(s->mapping, s->sweep, s->space, (nst_sweep_options){.jit = jit, .checksum = true},
                                   s->diags, &why);
  s->prepare = cpu() - start;
  if (!s->engine) fail(s->name, why ? why : "");
  s->parts = nst_sweep_kernel_show(s->engine);
}

/* What the engine found, in the whole numbers that it computes with. */
typedef struct {
  double best, ten[10], front[1024][2];
  int nten, nfront;
} answer;

static double whole_metric(const subject *s, const nst_sweep_point *p, int metric) {
  return nst_rat_to_double(p->metrics[metric]) * (double)s->parts.program->metrics[metric].den;
}

static void take_answer(const subject *s, const nst_sweep_result *found, answer *out) {
  const int first = s->sweep->nobjectives;
  *out = (answer){.best = whole_metric(s, nst_sweep_result_best(found, 0), 0)};
  for (size_t i = 0; i < nst_sweep_result_nbest(found) && i < 10; i++)
    out->ten[out->nten++] = whole_metric(s, nst_sweep_result_best(found, i), 0);
  for (size_t i = 0; i < nst_sweep_result_nfront(found) && i < 1024; i++, out->nfront++)
    for (int k = 0; k < 2; k++) out->front[i][k] = whole_metric(s, nst_sweep_result_front(found, i), first + k);
}

static double run_engine(const subject *s, nst_sweep_tally *tally, answer *out) {
  nst_sweep_result *found = nst_sweep_result_new(s->shape);
  nst_sweep_worker *w = s->engine->worker_new(s->engine);
  const char *error = "";
  double start = cpu();
  for (uint64_t u = 0; u < s->engine->units; u++)
    if (!s->engine->run(w, u, found, NULL, NULL, NULL, &error)) fail(s->name, error);
  double took = cpu() - start;
  *tally = *nst_sweep_result_tally(found);
  take_answer(s, found, out);
  s->engine->worker_free(w);
  nst_sweep_result_free(found);
  return took;
}

#ifdef BY_HAND
static double run_by_hand(const subject *s, void (*kernel)(const by_hand_tables *, by_hand_answer *),
                          by_hand_answer *out) {
  const nst_sweep_layout *l = s->parts.layout;
  const int n = l->ndims;
  enum { ROOM = 1 << 14 };
  nst_sweep_nest nest;
  nst_sweep_nest_init(&nest, l);
  by_hand_tables t = {.layout = l, .nest = &nest};
  t.coefficients = calloc((size_t)n, sizeof *t.coefficients);
  for (int d = 0; d < n - 1; d++) t.coefficients[d] = calloc(ROOM, sizeof(double));
  t.table = aligned_alloc(64, (size_t)l->nslots * l->dims[n - 2].padded * sizeof(double));
  t.columns = calloc((size_t)l->nslots + 1, sizeof *t.columns);
  const nst_sweep_known_poly **forms = calloc((size_t)l->nforms + 1, sizeof *forms);
  uint64_t variants = s->engine->space;
  for (int d = 0; d < n; d++) variants /= l->dims[d].ntuples;
  by_hand_answer_init(out);
  double start = cpu();
  for (uint64_t v = 0; v < variants; v++) {
    if (!nst_sweep_kernel_variant(s->engine, v, forms)) continue;
    int terms = 0;
    for (int f = 0; f < l->nforms; f++) terms += forms[f]->poly.nterms;
    if (terms > ROOM) fail(s->name, "more terms than expected");
    nst_sweep_nest_load(&nest, l, forms, t.coefficients[0]);
    for (int k = 0; k < l->nslots; k++) t.columns[k] = l->dims[n - 1].columns[nest.slot_column[k]];
    kernel(&t, out);
  }
  double took = cpu() - start;
  free(forms);
  free(t.columns);
  free(t.table);
  for (int d = 0; d < n - 1; d++) free(t.coefficients[d]);
  free(t.coefficients);
  nst_sweep_nest_fini(&nest, l);
  return took;
}

static bool same_answer(const answer *a, const nst_sweep_tally *t, const by_hand_answer *b, bool whole) {
  bool same = b->checksum == t->checksum && b->valid == t->valid && b->points == t->evaluated && b->best == a->best;
  if (!whole) return same;
  same = same && a->nten == BY_HAND_TEN && a->nfront == b->nfront;
  for (int i = 0; i < a->nten && same; i++) same = a->ten[i] == b->ten[i];
  for (int i = 0; i < a->nfront && same; i++) same = a->front[i][0] == b->front[i].x && a->front[i][1] == b->front[i].y;
  return same;
}

static bool fits_hand(const subject *s, const by_hand_form *forms, int nforms) {
  const nst_sweep_layout *l = s->parts.layout;
  bool same = l->nforms == nforms && l->floating;
  for (int f = 0; f < l->nforms && same; f++)
    same = l->first_slot[f + 1] - l->first_slot[f] == forms[f].slots && l->constant[f] == forms[f].constant &&
           l->base[f] == forms[f].base && l->like[f] == forms[f].like && s->parts.divisors[f] == 1;
  if (same) return true;
  printf("  the kernel by hand is written for other tables; slots, constant, base, like of the forms:");
  for (int f = 0; f < l->nforms; f++)
    printf(" %d,%d,%d,%d", l->first_slot[f + 1] - l->first_slot[f], l->constant[f], l->base[f], l->like[f]);
  printf("\n");
  return false;
}
#endif

/* Wall time through nst_sweep_run. */
static double run_threads(const subject *s, int threads) {
  nst_sweep_run *r = nst_sweep_run_new(s->engine, s->shape, nst_sweep_job_make(s->engine, 0, 0, 1),
                                       (nst_sweep_run_options){.threads = threads});
  const char *error = NULL;
  double start = seconds_of(CLOCK_MONOTONIC);
  if (!nst_sweep_run_all(r, &error)) fail(s->name, error ? error : "");
  double took = seconds_of(CLOCK_MONOTONIC) - start;
  nst_sweep_run_free(r);
  return took;
}

static void show_threads(const subject *s, double points, int runs) {
  double one[MOST_RUNS], two[MOST_RUNS], ratio[MOST_RUNS];
  for (int i = 0; i < runs; i++) {
    one[i] = run_threads(s, 1);
    two[i] = run_threads(s, 2);
    ratio[i] = one[i] / two[i];
  }
  double a = median(one, runs), b = median(two, runs);
  printf("  threads    one %.1f M/s, two %.1f M/s of wall time: %.2f times (best single %.2f)\n", points / a * 1e-6,
         points / b * 1e-6, a / b, (median(ratio, runs), ratio[runs - 1]));
}

static void show_plain(const subject *s) {
  nst_sweep_engine *e = nst_sweep_plain_new(s->mapping, s->sweep, s->space, (nst_sweep_options){0}, s->diags);
  nst_sweep_result *found = nst_sweep_result_new(s->shape);
  nst_sweep_worker *w = e->worker_new(e);
  const char *error = "";
  double start = cpu();
  for (uint64_t u = 0; u < e->units && cpu() - start < 2; u++)
    if (!e->run(w, u, found, NULL, NULL, NULL, &error)) fail(s->name, error);
  double took = cpu() - start;
  const nst_sweep_tally *t = nst_sweep_result_tally(found);
  printf("  plain      %.3f M points/s evaluated by the interpreter (%.1f s of it)\n",
         (double)t->evaluated / took * 1e-6, took);
  e->worker_free(w);
  e->free(e);
  nst_sweep_result_free(found);
}

static void show_prepare(const subject *s, double run) {
  printf("  compile    %.1f ms in the code generator (one kernel), %.1f ms with the preparation of all orders",
         1e3 * s->parts.compile_seconds, 1e3 * s->prepare);
  if (run > 0) printf(": %.1f%% of the time", 100 * s->prepare / (s->prepare + run));
  printf("\n");
}

static void measure(subject *s, int runs
#ifdef BY_HAND
                    ,
                    void (*kernel)(const by_hand_tables *, by_hand_answer *), const by_hand_form *forms, int nforms
#endif
) {
  double engine[MOST_RUNS];
  static answer found;
  nst_sweep_tally t = {0};
#ifdef BY_HAND
  double hand[MOST_RUNS];
  static by_hand_answer other_found;
  bool by_hand = fits_hand(s, forms, nforms);
#endif
  for (int i = 0; i < runs; i++) {
    engine[i] = run_engine(s, &t, &found);
#ifdef BY_HAND
    if (by_hand) hand[i] = run_by_hand(s, kernel, &other_found);
#endif
  }
  double took = median(engine, runs), points = (double)t.evaluated;
  printf("%s: %" PRIu64 " points, %" PRIu64 " evaluated, %" PRIu64 " duplicates, %" PRIu64 " dropped, %" PRIu64
         " valid, checksum %016" PRIx64 "\n",
         s->name, s->engine->space, t.evaluated, t.duplicates, t.dropped, t.valid, t.checksum);
  printf("  engine     %.3f s median of %d (%.3f .. %.3f): %.1f M points/s\n", took, runs, engine[0], engine[runs - 1],
         points / took * 1e-6);
#ifdef BY_HAND
  if (by_hand) {
    double other = median(hand, runs);
    const bool whole = kernel == by_hand_conv, same = same_answer(&found, &t, &other_found, whole);
    printf("  by hand    %.3f s median of %d (%.3f .. %.3f): %.1f M points/s, %s\n", other, runs, hand[0],
           hand[runs - 1], (double)other_found.points / other * 1e-6,
           !same   ? "DIFFERENT ANSWER"
           : whole ? "same checksum, valid points, best ten and front"
                   : "same checksum, valid points and best");
    printf("  ratio      %.3f engine to hand\n", other / took);
    if (!same) fail(s->name, "the two kernels differ");
  }
#else
  printf("  by hand    not built: clang and AVX-512 are needed\n");
#endif
  show_prepare(s, took);
  show_threads(s, points, runs);
  show_plain(s);
}

static long peak_kib(void) {
  FILE *f = fopen("/proc/self/status", "r");
  char line[256];
  long kib = 0;
  while (f && fgets(line, sizeof line, f))
    if (sscanf(line, "VmHWM: %ld", &kib) == 1) break;
  if (f) fclose(f);
  return kib;
}

int main(int argc, char **argv) {
  int runs = argc > 1 ? atoi(argv[1]) : 7;
  if (runs < 1 || runs > MOST_RUNS) runs = 7;
  nst_jit *jit = NULL;
  nst_buffer error = {0};
  if (nst_jit_new(&jit, NULL, &error) != NST_JIT_OK) fail(error.text, "");
  subject conv, gemm, six;
  compile(&conv, "conv2_x", conv_text, sizeof conv_text - 1);
  compile(&gemm, "gemm 4096^3", gemm_text, sizeof gemm_text - 1);
  compile(&six, "six loops", six_text, sizeof six_text - 1);
  prepare(&six, jit); /* the first also starts the code generator */
  if (six.engine) six.engine->free(six.engine);
  prepare(&six, jit);
  prepare(&gemm, jit);
  prepare(&conv, jit);
  printf("LLVM %s\n", nst_jit_llvm_version(jit));
#ifdef BY_HAND
  measure(&conv, runs, by_hand_conv, by_hand_conv_forms, 6);
  measure(&gemm, runs, by_hand_gemm, by_hand_gemm_forms, 2);
#else
  measure(&conv, runs);
  measure(&gemm, runs);
#endif
  printf("%s: %" PRIu64 " points\n", six.name, six.engine->space);
  show_prepare(&six, 0);
  printf("peak memory %.1f MiB\n", (double)peak_kib() / 1024);
  subject *all[] = {&conv, &gemm, &six};
  for (int i = 0; i < 3; i++) {
    all[i]->engine->free(all[i]->engine);
    nst_space_free(all[i]->space);
    nst_arena_free(all[i]->arena);
  }
  nst_jit_free(jit);
  return 0;
}
