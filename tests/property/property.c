/* Random programs through all engines: property nest|cascade.
 *
 * For each seed a program is written, compiled and counted by every engine,
 * with its parameters at their defaults and at a few other values. Where two
 * differ the program is made small, printed and saved. At the end the test
 * says how many programs had each feature, and fails if one is missed: each
 * must be in a tenth of them (judged from 5000 programs on).
 *
 * NESTOR_PROPERTY_N is the number of programs, NESTOR_PROPERTY_SEED the first
 * seed; without the former NESTOR_TEST_SCALE percent of the usual number run. */
#include "backend/jit.h"
#include "engines.h"
#include "generate.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 50, VECTORS = 3, PARAMS_MAX = 64 };

typedef struct {
  bool cascades;
  nst_jit *jit;
  long verdicts[VERDICTS], points, counted, by_jit;
  long features[GEN_COUNT];
  long programs;
} run;

static uint64_t generate(const run *r, nst_buffer *out, uint64_t seed) {
  return r->cascades ? gen_cascade(out, seed) : gen_nest(out, seed);
}

/* The defaults first, then other values near them. */
static void vector(const subject *s, int64_t *params, uint64_t seed, int v) {
  gen_random random = {seed * 31 + (uint64_t)v};
  if (!subject_defaults(s, params)) return;
  for (int i = 0; v && i < s->m->scope.nparams; i++) params[i] += gen_between(&random, -1, 2);
}

/* The first vector on which the engines differ; AGREE if on none. */
static outcome try_all(run *r, subject *s, uint64_t seed) {
  int64_t params[PARAMS_MAX] = {0};
  outcome first = {AGREE, NULL, 0};
  for (int v = 0; v < VECTORS && (v == 0 || (s->m && s->m->scope.nparams)); v++) {
    if (s->m && s->m->scope.nparams > PARAMS_MAX) break;
    if (s->m) vector(s, params, seed, v);
    outcome o = subject_try(s, params);
    if (r) r->points++, r->counted += o.answers > 1, r->by_jit += o.answers > 2;
    if (v == 0 || o.verdict == DIFFER) first = o;
    if (o.verdict == DIFFER || o.verdict == ILLEGAL) break;
  }
  return first;
}

typedef struct {
  run *r;
  uint64_t seed;
} failing;

static bool still_fails(void *ctx, const char *text) {
  const failing *f = ctx;
  subject s;
  subject_init(&s, text);
  if (f->r->jit) subjects_compile(&s, 1, f->r->jit, NULL);
  bool differs = try_all(NULL, &s, f->seed).verdict == DIFFER;
  subject_fini(&s);
  return differs;
}

static void report(run *r, uint64_t seed, const outcome *o) {
  nst_buffer text = {0};
  char name[96];
  failing f = {r, seed};
  printf("seed %llu: %s\n", (unsigned long long)seed, o->text ? o->text : "");
  generate(r, &text, seed);
  if (o->verdict == DIFFER) gen_shrink(&text, still_fails, &f);
  printf("%s\n", text.text);
  snprintf(name, sizeof name, "property-%s-%llu.nest", r->cascades ? "cascade" : "nest", (unsigned long long)seed);
  FILE *file = o->verdict == DIFFER ? fopen(name, "w") : NULL;
  if (file) {
    fwrite(text.text, 1, text.len, file);
    printf("saved as %s\n", name);
    fclose(file);
  }
  nst_buffer_fini(&text);
  fflush(stdout);
}

static int run_batch(run *r, uint64_t seed, int n) {
  subject subjects[BATCH];
  nst_buffer text = {0}, error = {0};
  int bad = 0;
  for (int i = 0; i < n; i++) {
    uint64_t features = generate(r, &text, seed + (uint64_t)i);
    for (int f = 0; f < GEN_COUNT; f++) r->features[f] += (long)(features >> f & 1);
    subject_init(&subjects[i], text.text);
  }
  if (r->jit && !subjects_compile(subjects, n, r->jit, &error)) {
    printf("seeds %llu to %llu do not compile to native code: %s\n", (unsigned long long)seed,
           (unsigned long long)seed + (unsigned long long)n - 1, error.text);
    bad++;
  }
  for (int i = 0; i < n; i++) {
    outcome o = try_all(r, &subjects[i], seed + (uint64_t)i);
    r->verdicts[o.verdict]++;
    if (o.verdict != DIFFER && o.verdict != ILLEGAL) continue;
    if (bad++ < 5) report(r, seed + (uint64_t)i, &o);
  }
  for (int i = 0; i < n; i++) subject_fini(&subjects[i]);
  r->programs += n;
  nst_buffer_fini(&text);
  nst_buffer_fini(&error);
  return bad;
}

static bool print_summary(const run *r) {
  bool covered = true;
  int from = r->cascades ? GEN_NEST_COUNT : 0, to = r->cascades ? GEN_COUNT : GEN_NEST_COUNT;
  printf(
    "%ld programs, %ld points: %ld agree, %ld differ, %ld refused by all, %ld infeasible, %ld too large, %ld illegal\n",
    r->programs, r->points, r->verdicts[AGREE], r->verdicts[DIFFER], r->verdicts[REFUSED], r->verdicts[INFEASIBLE],
    r->verdicts[TOO_LARGE], r->verdicts[ILLEGAL]);
  printf("%ld points were counted, %ld by native code too%s\n", r->counted, r->by_jit,
         r->jit ? "" : ": there is none here");
  for (int f = from; f < to; f++) {
    double share = 100.0 * (double)r->features[f] / (double)r->programs;
    printf("  %5.1f %%  %.*s %s\n", share, (int)(share / 2.5), "########################################",
           gen_feature_text((gen_feature)f));
    covered = covered && (share >= 10 || r->programs < 5000);
  }
  if (!covered) printf("a feature is in less than a tenth of the programs\n");
  return covered;
}

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 10) : otherwise;
}

int main(int argc, char **argv) {
  run r = {.cascades = argc > 1 && !strcmp(argv[1], "cascade")};
  long usual = (r.cascades ? 10000 : 20000) * number("NESTOR_TEST_SCALE", 100) / 100;
  long n = number("NESTOR_PROPERTY_N", usual > 0 ? usual : 1);
  uint64_t seed = (uint64_t)number("NESTOR_PROPERTY_SEED", 1);
  if (nst_jit_new(&r.jit, NULL, NULL) != NST_JIT_OK) r.jit = NULL;
  int bad = 0;
  for (long done = 0; done < n && bad < 5; done += BATCH)
    bad += run_batch(&r, seed + (uint64_t)done, n - done < BATCH ? (int)(n - done) : BATCH);
  bool covered = print_summary(&r);
  /* The analysis may refuse a sum of many terms, but not often. */
  bool few_left_out = r.verdicts[TOO_LARGE] * 100 <= r.programs;
  nst_jit_free(r.jit);
  return bad || !covered || !few_left_out;
}
