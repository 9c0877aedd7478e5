/* What `explain` says is kept, held to the elements themselves: explain_kept.
 *
 * One tensor with sums in its ranks (strides, dilations, either sign, a shape
 * that cuts, a dimension in two ranks) is walked by a few loops. The tiles are
 * listed here, element by element, and compared with those before them: every
 * loop's line must name what stays in the steps that the loop begins, and say
 * that neighbouring rounds share where they do. All tiles less all that stays
 * must be what the analysis counts.
 *
 * NESTOR_PROPERTY_N is the number of programs, NESTOR_PROPERTY_SEED the first
 * seed; without the former NESTOR_TEST_SCALE percent of the usual number run. */
#include "driver/internal.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { P, R, Q, K, DIMS, LOOPS = 5, RANKS = 2, SIDE = 256, BACK = 100 /* the index that is place 0 */ };

static const char *const dims[DIMS] = {"p", "r", "q", "k"};

typedef struct {
  int lo[DIMS], hi[DIMS];
} box;
typedef struct {
  unsigned char in[SIDE][SIDE];
  int64_t n;
} elements;

typedef struct {
  int extent[DIMS];
  int coef[RANKS][DIMS], offset, size; /* size: of the first rank, 0: none */
  int nranks, nloops, dim[LOOPS], tile[LOOPS];
  bool output;
  /* what the tiles show */
  int64_t tiles, kept[LOOPS], stays[LOOPS], begun[LOOPS], touched; /* stays: tiles just as before; begun: steps */
  bool shares[LOOPS];
  elements now, before, all;
  bool first;
} walk;

static bool uses(const walk *w, int dim) {
  for (int r = 0; r < w->nranks; r++)
    if (w->coef[r][dim]) return true;
  return false;
}

/* ---- the elements ---- */

static void list(const walk *w, const box *b, elements *out) {
  memset(out, 0, sizeof *out);
  for (int p = b->lo[P]; p < b->hi[P]; p++)
    for (int r = b->lo[R]; r < b->hi[R]; r++)
      for (int q = b->lo[Q]; q < b->hi[Q]; q++) {
        int at[RANKS] = {w->offset, 0};
        for (int i = 0; i < w->nranks; i++) at[i] += w->coef[i][P] * p + w->coef[i][R] * r + w->coef[i][Q] * q;
        if (w->size && (at[0] < 0 || at[0] >= w->size)) continue;
        unsigned char *place = &out->in[at[0] + BACK][at[1] + BACK];
        out->n += !*place;
        *place = 1;
      }
}

static int64_t common(const elements *a, const elements *b) {
  int64_t n = 0;
  for (int i = 0; i < SIDE; i++)
    for (int k = 0; k < SIDE; k++) n += a->in[i][k] & b->in[i][k];
  return n;
}

static void step(walk *w, const box *b, int beginner) {
  w->before = w->now;
  list(w, b, &w->now);
  w->tiles += w->now.n;
  if (!w->first) {
    const int64_t n = common(&w->now, &w->before);
    w->kept[beginner] += n;
    w->stays[beginner] += n == w->now.n && n == w->before.n;
    w->begun[beginner]++;
  }
  w->first = false;
}

static void go(walk *w, int loop, const box *b, int beginner) {
  if (loop == w->nloops) {
    step(w, b, beginner);
    return;
  }
  const int d = w->dim[loop];
  static elements rounds[LOOPS];
  for (int lo = b->lo[d]; lo < b->hi[d]; lo += w->tile[loop]) {
    box inner = *b;
    inner.lo[d] = lo;
    if (lo + w->tile[loop] < b->hi[d]) inner.hi[d] = lo + w->tile[loop];
    static elements round;
    list(w, &inner, &round);
    if (lo > b->lo[d] && common(&round, &rounds[loop])) w->shares[loop] = true;
    rounds[loop] = round;
    go(w, loop + 1, &inner, lo > b->lo[d] ? loop : beginner);
  }
}

/* ---- programs ---- */

static void draw(walk *w, gen_random *r) {
  memset(w, 0, sizeof *w);
  w->first = true;
  w->extent[P] = gen_between(r, 2, 9);
  w->extent[R] = gen_between(r, 2, 5);
  w->extent[Q] = gen_between(r, 1, 3);
  w->extent[K] = gen_between(r, 1, 3);
  w->nranks = gen_between(r, 1, 2);
  w->coef[0][P] = gen_between(r, 1, 4);
  w->coef[0][R] = gen_between(r, 1, 4);
  if (gen_chance(r, 25)) w->size = gen_between(r, 3, 40), w->offset = gen_between(r, -4, 4);
  if (gen_chance(r, 25)) {
    w->coef[0][R] *= -1;
    w->offset = gen_between(r, 0, 8);
    w->size = gen_between(r, 8, 40);
  }
  switch (gen_below(r, 3)) {
  case 0: w->coef[1][Q] = 1; break;
  case 1: w->coef[1][P] = gen_between(r, 1, 2); break;
  case 2: w->coef[1][R] = gen_between(r, 1, 2), w->coef[1][Q] = gen_between(r, 1, 3); break;
  }
  w->nloops = gen_between(r, 1, LOOPS - 1);
  for (int i = 0; i < w->nloops; i++) {
    w->dim[i] = gen_chance(r, 65) ? gen_between(r, P, R) : gen_below(r, DIMS);
    w->tile[i] = gen_chance(r, 30) ? 1 : gen_between(r, 1, w->extent[w->dim[i]]);
    for (int k = 0; k < i; k++)
      if (w->dim[k] == w->dim[i] && w->tile[k] < w->tile[i]) w->tile[i] = w->tile[k];
  }
  w->output = gen_chance(r, 30);
}

static void put_ranks(nst_buffer *out, const walk *w) {
  for (int i = 0; i < w->nranks; i++) {
    const char *between = i ? ", " : "";
    for (int d = 0; d < DIMS; d++) {
      if (!w->coef[i][d]) continue;
      if (w->coef[i][d] < 0) between = " - ";
      nst_buffer_printf(out, "%s%d*%s", between, abs(w->coef[i][d]), dims[d]);
      between = " + ";
    }
    if (!i && w->offset) nst_buffer_printf(out, " %c %d", w->offset < 0 ? '-' : '+', abs(w->offset));
  }
}

static void write_program(nst_buffer *out, const walk *w) {
  nst_buffer_clear(out);
  nst_buffer_puts(out, "workload w {\n  dim ");
  for (int d = 0; d < DIMS; d++) nst_buffer_printf(out, "%s%s = %d", d ? ", " : "", dims[d], w->extent[d]);
  nst_buffer_puts(out, "\n  tensor T");
  if (w->size) {
    int most = 1;
    for (int d = 0; d < DIMS; d++) most += w->coef[1][d] * (w->extent[d] - 1);
    nst_buffer_printf(out, w->nranks > 1 ? "[%d, %d]" : "[%d]", w->size, most);
  }
  nst_buffer_puts(out, ", U, V : int8\n  ");
  nst_buffer_puts(out, w->output ? "T[" : "U[p] += V[k, q, r] * T[");
  put_ranks(out, w);
  nst_buffer_puts(out, w->output ? "] += V[k, q, r] * U[p]\n}\n" : "]\n}\n");
  nst_buffer_puts(out, "hardware h { memory DRAM memory BUF compute MAC }\nmapping m of w on h { keep all in DRAM");
  for (int i = 0; i < w->nloops; i++)
    if (w->tile[i] == 1)
      nst_buffer_printf(out, " for %s", dims[w->dim[i]]);
    else
      nst_buffer_printf(out, " for %s by %d", dims[w->dim[i]], w->tile[i]);
  nst_buffer_puts(out, " keep all in BUF }\n");
}

/* ---- what is said ---- */

typedef struct {
  long programs, lines, keeping, gaps, sharing, bad;
  nestor_session *session;
} run;

/* The number after `before` in a line, with or without commas; -1: it is not there. */
static int64_t number_after(const char *line, const char *before) {
  const char *at = strstr(line, before);
  if (!at) return -1;
  int64_t n = 0;
  for (at += strlen(before); (*at >= '0' && *at <= '9') || *at == ','; at++)
    if (*at != ',') n = 10 * n + (*at - '0');
  return n;
}

static bool good_line(run *t, const walk *w, int i, const char *line) {
  const int64_t said = number_after(line, ", keeps ");
  const bool share = strstr(line, "neighbouring rounds share elements");
  t->lines++;
  if (strstr(line, w->output ? "adds into the same tile" : "uses the same tile again"))
    return !uses(w, w->dim[i]) && w->stays[i] == w->begun[i];
  t->keeping += said > 0;
  t->sharing += share;
  t->gaps += uses(w, w->dim[i]) && !w->kept[i];
  return said == (w->kept[i] ? w->kept[i] : -1) && share == (uses(w, w->dim[i]) && !w->kept[i] && w->shares[i]);
}

/* NULL: all is well. */
static const char *judge(run *t, const walk *w, const nestor_eval *e, const char *text) {
  static char line[512];
  const char *at = strstr(text, "\n  T, DRAM to BUF: ");
  if (!at) return "no lines of T";
  at = strchr(at + 1, '\n') + 1;
  for (int i = 0, extent[DIMS] = {w->extent[P], w->extent[R], w->extent[Q], w->extent[K]}; i < w->nloops; i++) {
    const bool turns = w->tile[i] < extent[w->dim[i]];
    extent[w->dim[i]] = w->tile[i];
    if (!turns) continue;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    at += strcspn(at, "\n") + 1;
    char name[32];
    snprintf(name, sizeof name, "      for %s, ", dims[w->dim[i]]);
    if (strncmp(line, name, strlen(name)) != 0 || !good_line(t, w, i, line)) return line;
  }
  int64_t moved = w->tiles;
  for (int i = 0; i < w->nloops; i++) moved -= w->kept[i];
  const nst_moves *counted = nst_counts_at(e->counts, 0, 0, w->output ? 0 : e->ir->workload.stmts[0].in[1].tensor);
  if (!w->output && (counted->reads != moved || nst_counts_at(e->counts, 0, 1, 0)->fills != moved)) return "reads";
  if (w->output && (counted->updates != moved || counted->reads != moved - w->touched)) return "updates";
  return NULL;
}

static void try_program(run *t, uint64_t seed) {
  static walk w;
  gen_random r = {seed * 977 + 11};
  nst_buffer text = {0};
  draw(&w, &r);
  write_program(&text, &w);
  nestor_program *p = nestor_program_new(t->session, "random.nest", text.text, text.len, NESTOR_STAGE_CHECK);
  nestor_eval *e = nestor_eval_new(p, 0);
  if (e && nestor_eval_run(e, NESTOR_ENGINE_ANALYSIS, NULL) == NESTOR_OK) {
    box all = {.lo = {0}};
    memcpy(all.hi, w.extent, sizeof all.hi);
    list(&w, &all, &w.all);
    w.touched = w.all.n;
    go(&w, 0, &all, 0);
    nestor_buffer *said = nestor_buffer_new();
    nestor_eval_explain(e, said);
    const char *wrong = judge(t, &w, e, nestor_buffer_data(said));
    if (wrong && t->bad++ < 5) {
      printf("%s\nwhere the tiles have %lld elements, of which stay", wrong, (long long)w.tiles);
      for (int i = 0; i < w.nloops; i++) printf(" %lld", (long long)w.kept[i]);
      printf("\n%s%s\n", text.text, nestor_buffer_data(said));
    }
    t->programs++;
    nestor_buffer_free(said);
  }
  nestor_eval_free(e);
  nestor_program_free(p);
  nst_buffer_fini(&text);
}

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 10) : otherwise;
}

int main(void) {
  run t = {.session = nestor_session_new()};
  const long usual = 3000 * number("NESTOR_TEST_SCALE", 100) / 100;
  const long n = number("NESTOR_PROPERTY_N", usual > 0 ? usual : 1), first = number("NESTOR_PROPERTY_SEED", 1);
  for (long i = 0; i < n && t.bad < 5; i++) try_program(&t, (uint64_t)(first + i));
  printf(
    "%ld of %ld programs, %ld lines of loops, %ld keep, %ld bring all anew, %ld share with another round: %ld wrong\n",
    t.programs, n, t.lines, t.keeping, t.gaps, t.sharing, t.bad);
  nestor_session_free(t.session);
  return t.bad || 2 * t.programs < n || (n >= 100 && (20 * t.keeping < n || 20 * t.gaps < n || !t.sharing));
}
