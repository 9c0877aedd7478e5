/* See sweep_share.h. Which form to build on is judged by some variants, evenly
 * spaced; the rests are then made for all, one for each pair of polynomials that
 * occurs. */
#include "backend/sweep_share.h"
#include <stdlib.h>
#include <string.h>

enum { SAMPLE = 64, MOST_VARIANTS = 1 << 14 /* of more the rests would fill the memory */ };

static int compare_columns(const nst_sweep_term *a, const nst_sweep_term *b, int naxes) {
  for (int i = 0; i < naxes; i++)
    if (a->columns[i] != b->columns[i]) return a->columns[i] < b->columns[i] ? -1 : 1;
  return 0;
}

/* a - b, whose terms are sorted, into terms (room for both); -1: past 128 bits. */
static int subtract(nst_sweep_term *terms, const nst_sweep_poly *a, const nst_sweep_poly *b, int naxes) {
  int n = 0;
  for (int i = 0, j = 0; i < a->nterms || j < b->nterms;) {
    const int c = i == a->nterms ? 1 : j == b->nterms ? -1 : compare_columns(&a->terms[i], &b->terms[j], naxes);
    nst_rat coef = c <= 0 ? a->terms[i].coef : nst_rat_int(0), less;
    int *columns = c <= 0 ? a->terms[i].columns : b->terms[j].columns;
    if (c >= 0 && (!nst_rat_neg(&less, b->terms[j].coef) || !nst_rat_add(&coef, coef, less))) return -1;
    if (coef.num) terms[n++] = (nst_sweep_term){coef, columns};
    i += c <= 0;
    j += c >= 0;
  }
  return n;
}

/* Different columns of the axis among the terms, the one of ones aside; seen: scratch, all false. */
static int count_columns(const nst_sweep_term *terms, int n, int axis, bool *seen) {
  int different = 0;
  for (int i = 0; i < n; i++) {
    bool *s = &seen[terms[i].columns[axis]];
    different += terms[i].columns[axis] && !*s;
    *s = true;
  }
  for (int i = 0; i < n; i++) seen[terms[i].columns[axis]] = false;
  return different;
}

typedef struct {
  const nst_sweep_tables *t;
  int axis;
  const nst_sweep_known_poly *polys;
  int *const *numbers;
  uint64_t nvariants;
  nst_sweep_term *terms;
  bool *seen; /* scratch */
} sharing;

/* How many columns form f has in the sample, less those of form g (g < 0: nothing less); -1: g will not do. */
static int64_t count_sample(sharing *s, int f, int g) {
  const uint64_t step = s->nvariants > SAMPLE ? s->nvariants / SAMPLE : 1;
  int64_t sum = 0;
  for (uint64_t v = 0; v < s->nvariants; v += step) {
    static const nst_sweep_poly none = {0};
    if (!s->numbers[v]) continue;
    const int n = subtract(s->terms, &s->polys[s->numbers[v][f]].poly, g < 0 ? &none : &s->polys[s->numbers[v][g]].poly,
                           s->t->naxes);
    if (n < 0) return -1;
    sum += count_columns(s->terms, n, s->axis, s->seen) + (g >= 0); /* to add the form takes as long as a column */
  }
  return sum;
}

static int choose_base(sharing *s, int f) {
  int64_t least = count_sample(s, f, -1);
  int best = -1;
  for (int g = 0; g < f; g++) {
    const int64_t n = count_sample(s, f, g);
    if (n < 0 || n >= least) continue;
    least = n;
    best = g;
  }
  return best;
}

/* The polynomials of a form and of the one that it builds on (or 0), in one variant. */
typedef struct {
  int of, base;
  uint64_t variant;
} listed;

static int compare_listed(const void *x, const void *y) {
  const listed *a = x, *b = y;
  if (a->of != b->of) return a->of < b->of ? -1 : 1;
  if (a->base != b->base) return a->base < b->base ? -1 : 1;
  return (a->variant > b->variant) - (a->variant < b->variant);
}

/* false: past 63 bits. */
static bool add_form(nst_sweep_shared *out, nst_arena *arena, sharing *s, int f, listed *list,
                     nst_sweep_known_poly *made) {
  const int g = out->base[f];
  uint64_t n = 0;
  for (uint64_t v = 0; v < s->nvariants; v++)
    if (s->numbers[v]) list[n++] = (listed){s->numbers[v][f], g < 0 ? 0 : s->numbers[v][g], v};
  qsort(list, n, sizeof *list, compare_listed);
  for (uint64_t i = 0; i < n; i++) {
    if (!i || list[i].of != list[i - 1].of || list[i].base != list[i - 1].base) {
      nst_sweep_known_poly p = s->polys[list[i].of];
      if (g >= 0) {
        const int nterms = subtract(s->terms, &p.poly, &s->polys[list[i].base].poly, s->t->naxes);
        if (nterms < 0) return false;
        p.poly = (nst_sweep_poly){NST_NEW_ARRAY(arena, nterms + 1, nst_sweep_term), nterms, nterms};
        memcpy(p.poly.terms, s->terms, (size_t)nterms * sizeof *s->terms);
        for (int k = 0; k < nterms; k++) {
          int64_t whole;
          if (!nst_rat_to_i64(&whole, p.poly.terms[k].coef)) return false;
        }
      }
      made[out->npolys++] = p;
    }
    out->numbers[list[i].variant][f] = (int)out->npolys - 1;
  }
  return true;
}

static bool make_all(nst_sweep_shared *out, nst_arena *arena, sharing *s, int nforms) {
  out->numbers = NST_NEW_ARRAY(arena, s->nvariants, int *);
  for (uint64_t v = 0; v < s->nvariants; v++)
    out->numbers[v] = s->numbers[v] ? NST_NEW_ARRAY(arena, nforms, int) : NULL;
  listed *list = malloc((s->nvariants + 1) * sizeof *list);
  nst_sweep_known_poly *made = malloc((s->nvariants * (uint64_t)nforms + 1) * sizeof *made);
  if (!list || !made) nst_out_of_memory();
  bool good = true;
  for (int f = 0; f < nforms && good; f++) good = add_form(out, arena, s, f, list, made);
  out->polys = NST_NEW_ARRAY(arena, out->npolys, nst_sweep_known_poly);
  memcpy(out->polys, made, out->npolys * sizeof *made);
  free(list);
  free(made);
  return good;
}

bool nst_sweep_share(nst_sweep_shared *out, nst_arena *arena, const nst_sweep_tables *t, int axis,
                     const nst_sweep_known_poly *polys, size_t npolys, int *const *numbers, uint64_t nvariants,
                     int nforms) {
  *out = (nst_sweep_shared){.base = NST_NEW_ARRAY(arena, nforms + 1, int)};
  if (nvariants > MOST_VARIANTS) return false;
  int most = 0;
  for (size_t i = 0; i < npolys; i++)
    if (polys[i].poly.nterms > most) most = polys[i].poly.nterms;
  sharing s = {t,
               axis,
               polys,
               numbers,
               nvariants,
               malloc((2 * (size_t)most + 1) * sizeof *s.terms),
               calloc((size_t)t->ncolumns[axis] + 1, sizeof *s.seen)};
  if (!s.terms || !s.seen) nst_out_of_memory();
  bool any = false;
  for (int f = 0; f < nforms; f++) {
    out->base[f] = choose_base(&s, f);
    any = any || out->base[f] >= 0;
  }
  const bool good = any && make_all(out, arena, &s, nforms);
  free(s.terms);
  free(s.seen);
  return good;
}

/* ---- the same columns ---- */

/* Which columns of the axis a polynomial has, as bits, column 0 aside. */
static void mark_columns(uint64_t *set, const nst_sweep_poly *p, int axis) {
  for (int i = 0; i < p->nterms; i++) {
    const int c = p->terms[i].columns[axis];
    if (c) set[c / 64] |= UINT64_C(1) << (c % 64);
  }
}

static bool always_same(const uint64_t *sets, size_t words, int *const *numbers, uint64_t nvariants, int f, int g) {
  bool any = false;
  for (uint64_t v = 0; v < nvariants; v++) {
    if (!numbers[v]) continue;
    const uint64_t *a = sets + (size_t)numbers[v][f] * words, *b = sets + (size_t)numbers[v][g] * words;
    if (memcmp(a, b, words * sizeof *a)) return false;
    for (size_t k = 0; k < words; k++) any = any || a[k];
  }
  return any;
}

void nst_sweep_find_like(int *like, const nst_sweep_tables *t, int axis, const nst_sweep_known_poly *polys,
                         size_t npolys, int *const *numbers, uint64_t nvariants, int nforms) {
  const size_t words = (size_t)t->ncolumns[axis] / 64 + 1;
  uint64_t *sets = calloc(npolys * words + 1, sizeof *sets);
  bool *paired = calloc((size_t)nforms + 1, sizeof *paired);
  if (!sets || !paired) nst_out_of_memory();
  for (size_t i = 0; i < npolys; i++) mark_columns(sets + i * words, &polys[i].poly, axis);
  for (int f = 0; f < nforms; f++) {
    like[f] = -1;
    for (int g = 0; g < f && like[f] < 0; g++)
      if (!paired[g] && always_same(sets, words, numbers, nvariants, f, g)) like[f] = g, paired[g] = paired[f] = true;
  }
  free(sets);
  free(paired);
}
