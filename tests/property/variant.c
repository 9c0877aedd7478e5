/* What must change no number: variant [N programs].
 *
 * Each random program of one statement is written a second time with its
 * tensors declared in reverse, a dimension of size 1 more (declared first or
 * last, a rank of the output, looped over or not), and both must have the same
 * counters by name. Each is also counted twice, to see that a second run gives
 * what the first did. */
#include "engines.h"
#include "generate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 256 };

static bool starts(const char *line, const char *with) { return !strncmp(line, with, strlen(with)); }

/* "O[k, p] += …" with one rank more: "O[k, p, z] += …". */
static void add_rank(nst_buffer *out, const char *line, size_t len, const char *rank) {
  const char *close = memchr(line, ']', len);
  size_t at = (size_t)(close - line);
  nst_buffer_add(out, line, at);
  nst_buffer_puts(out, line[at - 1] == '[' ? "" : ", ");
  nst_buffer_puts(out, rank);
  nst_buffer_add(out, close, len - at);
}

static void write_variant(nst_buffer *out, const char *text, uint64_t seed) {
  const char *line[LINES];
  size_t len[LINES];
  int n = 0, first = -1, tensors = 0;
  for (const char *p = text; *p && n < LINES; n++) {
    line[n] = p;
    len[n] = strcspn(p, "\n") + 1;
    p += len[n];
    if (!starts(line[n], "  tensor ")) continue;
    if (first < 0) first = n;
    tensors++;
  }
  char output = line[first + tensors][2]; /* the statement follows the tensors */
  nst_buffer_clear(out);
  for (int i = 0; i < n; i++) {
    int from = i >= first && i < first + tensors ? 2 * first + tensors - 1 - i : i;
    const char *l = line[from];
    if (i == first && seed % 2 == 0) nst_buffer_puts(out, "  dim z = 1\n");
    if (i == first + tensors)
      add_rank(out, l, len[from], "z");
    else if (starts(l, "  tensor ") && l[9] == output && l[10] == '[')
      add_rank(out, l, len[from], "_");
    else
      nst_buffer_add(out, l, len[from]);
    if (starts(l, "workload") && seed % 2) nst_buffer_puts(out, "  dim z = 1\n");
    if (starts(l, "mapping") && seed % 3) nst_buffer_puts(out, seed % 3 == 1 ? "  for z by 1\n" : "  for z into 2\n");
  }
}

static int find(const nst_ir_workload *w, nst_name name) {
  for (int t = 0; t < w->ntensors; t++)
    if (!strcmp(w->tensors[t].name, name)) return t;
  return -1;
}

static int64_t largest(const nst_ir_mapping *m, const nst_counts *c, int level, int tensor) {
  int64_t most = -1;
  for (int i = 0; i < m->nslots; i++)
    if (m->slots[i].level == level && m->slots[i].tensor == tensor && c->tile[i] > most) most = c->tile[i];
  return most;
}

/* By names of tensors: they have other numbers in the variant. */
static bool same(const nst_ir_mapping *m, const nst_counts *a, const nst_ir_mapping *n, const nst_counts *b) {
  for (int t = 0; t < m->workload.ntensors; t++) {
    int u = find(&n->workload, m->workload.tensors[t].name);
    for (int l = 0; l < m->hardware.nlevels; l++)
      if (u < 0 || memcmp(nst_counts_at(a, 0, l, t), nst_counts_at(b, 0, l, u), sizeof(nst_moves)) ||
          largest(m, a, l, t) != largest(n, b, l, u) || a->instances[l] != b->instances[l])
        return false;
  }
  return a->ops[0] == b->ops[0] && a->steps[0] == b->steps[0];
}

/* NULL where the program has no counts. */
static nst_counts *count(subject *s) {
  int64_t params[64];
  nst_value values[64];
  if (!s->m || s->m->scope.nparams > 64 || !subject_defaults(s, params)) return NULL;
  for (int i = 0; i < s->m->scope.nparams; i++) values[i] = (nst_value){.kind = NST_VALUE_RAT, .rat = {params[i], 1}};
  const nst_nest *nest = nst_nest_make(s->maker, values, NULL);
  nst_counts *first = nst_counts_new(s->arena, s->m), *second = nst_counts_new(s->arena, s->m);
  if (!nest || !nst_analysis_count(s->analysis, nest, first, NULL)) return NULL;
  if (!nst_analysis_count(s->analysis, nest, second, NULL) || nst_counts_diff(s->arena, s->m, first, second)) abort();
  return first;
}

int main(int argc, char **argv) {
  const char *scale = getenv("NESTOR_TEST_SCALE");
  long n = argc > 1 ? strtol(argv[1], NULL, 10) : 5000 * (scale ? strtol(scale, NULL, 10) : 100) / 100;
  long compared = 0, bad = 0;
  nst_buffer text = {0}, other = {0};
  for (long seed = 1; seed <= n && bad < 3; seed++) {
    subject a, b;
    gen_nest(&text, (uint64_t)seed);
    write_variant(&other, text.text, (uint64_t)seed);
    subject_init(&a, text.text);
    subject_init(&b, other.text);
    const nst_counts *x = count(&a), *y = count(&b);
    if (!x != !y || (x && !same(a.m, x, b.m, y))) {
      printf("seed %ld: not the same\n%s\n%s\n", seed, text.text, other.text);
      bad++;
    }
    compared += x && y;
    subject_fini(&a);
    subject_fini(&b);
  }
  printf("%ld pairs have the same counters\n", compared - bad);
  nst_buffer_fini(&text);
  nst_buffer_fini(&other);
  return bad > 0 || compared < n / 2;
}
