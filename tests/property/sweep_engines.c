/* Random sweeps through the kernel engine, the plain engine and brute force:
 * sweep_engines [N]. See sweep_check.h for what must be the same.
 *
 * Failing sweeps are made small, printed with their seed and saved. At the end
 * the test says what the kernel engine did itself and why it left the rest to
 * the plain one; it must do four in five.
 *
 * NESTOR_PROPERTY_SHRINK=0 leaves failing sweeps as they are.
 * NESTOR_PROPERTY_N is the number of sweeps, NESTOR_PROPERTY_SEED the first
 * seed; without the former NESTOR_TEST_SCALE percent of the usual number run. */
#include "backend/jit.h"
#include "generate.h"
#include "sweep_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL = 400, MOST_POINTS = 20000, WORK = 4000000, REASONS = 64 };

typedef struct {
  nst_jit *jit;
  long verdicts[SWEEP_VERDICTS], brute, pruned, duplicates, dropped, some_valid;
  double points;
  struct {
    char why[160];
    long n;
  } reasons[REASONS];
} tally;

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static void count_reason(tally *t, const char *why) {
  int i = 0;
  while (i < REASONS - 1 && t->reasons[i].n && strncmp(t->reasons[i].why, why, sizeof t->reasons[i].why - 1)) i++;
  if (!t->reasons[i].n++) snprintf(t->reasons[i].why, sizeof t->reasons[i].why, "%s", why);
}

static sweep_outcome check(const tally *t, const char *text, subject *s) {
  subject_init(s, text);
  return sweep_check(s, t->jit, MOST_POINTS, WORK);
}

static bool still_fails(void *context, const char *text) {
  subject s;
  const bool fails = check(context, text, &s).verdict == SWEEP_DIFFERENT;
  subject_fini(&s);
  return fails;
}

static void report(tally *t, uint64_t seed, nst_buffer *text, const char *why) {
  printf("seed %llu: %s\n", (unsigned long long)seed, why ? why : "");
  if (number("NESTOR_PROPERTY_SHRINK", 1)) gen_shrink(text, still_fails, t);
  printf("%s", text->text);
  subject s;
  sweep_outcome o = check(t, text->text, &s);
  printf("%s\n", o.why ? o.why : "");
  char name[64];
  snprintf(name, sizeof name, "property-sweep-%llu.nest", (unsigned long long)seed);
  FILE *file = fopen(name, "w");
  if (file) {
    fwrite(text->text, 1, text->len, file);
    printf("saved as %s\n", name);
    fclose(file);
  }
  subject_fini(&s);
  fflush(stdout);
}

static void illegal(uint64_t seed, subject *s, const nst_buffer *text) {
  nst_buffer messages = {0};
  nst_diags_render(s->diags, &messages, false);
  printf("seed %llu does not compile: %s\n%s\n", (unsigned long long)seed, messages.text ? messages.text : "", text->text);
  nst_buffer_fini(&messages);
}

static bool run_one(tally *t, uint64_t seed) {
  nst_buffer text = {0};
  gen_sweep(&text, seed, seed % 4 ? 1500 : MOST_POINTS);
  subject s;
  sweep_outcome o = check(t, text.text, &s);
  t->verdicts[o.verdict]++;
  t->brute += o.brute;
  t->pruned += o.pruned > 0;
  t->duplicates += o.duplicates > 0;
  t->dropped += o.dropped > 0;
  t->some_valid += o.valid > 0;
  if (o.verdict == SWEEP_SAME) t->points += (double)o.points;
  if (o.verdict == SWEEP_REFUSED) count_reason(t, o.why);
  if (o.verdict == SWEEP_NO_SPACE && getenv("NESTOR_PROPERTY_VERBOSE")) printf("seed %llu: %s\n", (unsigned long long)seed, o.why ? o.why : "");
  if (o.verdict == SWEEP_ILLEGAL && getenv("NESTOR_PROPERTY_VERBOSE")) illegal(seed, &s, &text);
  if (o.verdict == SWEEP_DIFFERENT) report(t, seed, &text, o.why);
  subject_fini(&s);
  nst_buffer_fini(&text);
  return o.verdict != SWEEP_DIFFERENT;
}

int main(int argc, char **argv) {
  static tally t;
  setvbuf(stdout, NULL, _IOLBF, 0);
  const long scaled = USUAL * number("NESTOR_TEST_SCALE", 100) / 100, least = scaled > 10 ? scaled : 10;
  const long n = argc > 1 ? strtol(argv[1], NULL, 10) : number("NESTOR_PROPERTY_N", least);
  const uint64_t first = (uint64_t)number("NESTOR_PROPERTY_SEED", 1);
  if (nst_jit_new(&t.jit, NULL, NULL) != NST_JIT_OK) {
    printf("no native code here: nothing to compare\n");
    return 0;
  }
  int bad = 0;
  for (long i = 0; i < n && bad < 5; i++) bad += !run_one(&t, first + (uint64_t)i);
  const long done = t.verdicts[SWEEP_SAME], refused = t.verdicts[SWEEP_REFUSED], asked = done + refused;
  printf("%ld sweeps: %ld the same, %ld differ, %ld not for kernels, %ld without an answer, %ld too large, %ld illegal\n", n, done,
         t.verdicts[SWEEP_DIFFERENT], refused, t.verdicts[SWEEP_NO_SPACE], t.verdicts[SWEEP_LARGE], t.verdicts[SWEEP_ILLEGAL]);
  printf("%ld simulated point by point; %ld with pruned, %ld with duplicate, %ld with dropped, %ld with valid points; %.0f points\n",
         t.brute, t.pruned, t.duplicates, t.dropped, t.some_valid, t.points);
  printf("the kernel engine did %.1f %%\n", asked ? 100.0 * (double)done / (double)asked : 0);
  for (int i = 0; i < REASONS && t.reasons[i].n; i++) printf("  %5.1f %%  %s\n", 100.0 * (double)t.reasons[i].n / (double)asked, t.reasons[i].why);
  nst_jit_free(t.jit);
  const bool enough = asked < 100 || done * 5 >= asked * 4;
  return bad > 0 || !enough || (n >= 100 && t.verdicts[SWEEP_ILLEGAL] * 4 > n);
}
