/* See sweep_stairs.h: a sorted array of steps and bisection. */
#include "backend/sweep_stairs.h"
#include "base/arena.h"
#include <stdlib.h>
#include <string.h>

typedef struct { int64_t x, y; uint64_t variant; uint64_t *places; } step;
struct nst_stairs { step *steps; size_t n, cap; int nplaces; };

nst_stairs *nst_stairs_new(int nplaces) {
  nst_stairs *s = calloc(1, sizeof *s);
  if (!s) nst_out_of_memory();
  s->nplaces = nplaces;
  return s;
}

void nst_stairs_free(nst_stairs *s) {
  if (!s) return;
  nst_stairs_clear(s);
  free(s->steps);
  free(s);
}

void nst_stairs_clear(nst_stairs *s) {
  for (size_t i = 0; i < s->n; i++) free(s->steps[i].places);
  s->n = 0;
}

/* Steps with a first metric of at most x. */
static size_t up_to(const nst_stairs *s, int64_t x) {
  size_t lo = 0, hi = s->n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (s->steps[mid].x <= x) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

static bool earlier(const nst_stairs *s, const uint64_t *places, uint64_t variant, const step *than) {
  for (int i = 0; i < s->nplaces; i++)
    if (places[i] != than->places[i]) return places[i] < than->places[i];
  return variant < than->variant;
}

bool nst_stairs_enters(const nst_stairs *s, int64_t x, int64_t y, const uint64_t *places, uint64_t variant) {
  size_t n = up_to(s, x);
  if (!n || s->steps[n - 1].y > y) return true;
  const step *before = &s->steps[n - 1];
  return before->y == y && before->x == x && earlier(s, places, variant, before);
}

bool nst_stairs_beat(const nst_stairs *s, int64_t x, int64_t y) {
  const size_t n = up_to(s, x);
  return n && (s->steps[n - 1].y < y || (s->steps[n - 1].y == y && s->steps[n - 1].x < x));
}

void nst_stairs_add(nst_stairs *s, int64_t x, int64_t y, const uint64_t *places, uint64_t variant) {
  if (!nst_stairs_enters(s, x, y, places, variant)) return;
  size_t from = up_to(s, x), to = from; /* steps [from, to) go */
  if (from && s->steps[from - 1].x == x) from--;
  while (to < s->n && s->steps[to].y >= y) to++;
  for (size_t i = from; i < to; i++) free(s->steps[i].places);
  if (s->n + 1 > s->cap) {
    s->cap = s->cap ? 2 * s->cap : 64;
    s->steps = realloc(s->steps, s->cap * sizeof *s->steps);
    if (!s->steps) nst_out_of_memory();
  }
  memmove(s->steps + from + 1, s->steps + to, (s->n - to) * sizeof *s->steps);
  s->n = s->n - (to - from) + 1;
  step *at = &s->steps[from];
  *at = (step){x, y, variant, calloc((size_t)s->nplaces + 1, sizeof(uint64_t))};
  if (!at->places) nst_out_of_memory();
  memcpy(at->places, places, (size_t)s->nplaces * sizeof *places);
}
