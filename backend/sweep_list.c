/* See sweep_list.h. Points are listed by variant, then by tuple, so that the
 * mapping of a variant is made once; a unit is a run of the list. A sample is
 * drawn by Floyd's method: one random number a point, none drawn in vain. */
#include "backend/sweep_list.h"
#include "backend/sweep_point.h"

#include <stdlib.h>
#include <string.h>

enum { UNIT = 256 };

typedef struct {
  nst_point_engine base;
  uint64_t n;
  nst_u128 *sample; /* variant * tuples + tuple, ascending; NULL: the first n */
} list;

nst_u128 nst_sweep_points(const nst_space *s, const nst_variants *v) {
  return nst_u128_mul(nst_space_tuples(s), v->count);
}

/* Point i of the list. */
static void locate(const list *e, uint64_t i, uint64_t *variant, nst_u128 *tuple) {
  if (e->sample) {
    *variant = (uint64_t)(e->sample[i] / e->base.tuples);
    *tuple = e->sample[i] % e->base.tuples;
    return;
  }
  /* Some variants have one tuple more than the others: those of the last tuple, which is not complete. */
  const uint64_t all = e->n / e->base.variants.count, more = e->n % e->base.variants.count;
  if (i < more * (all + 1)) {
    *variant = i / (all + 1);
    *tuple = i % (all + 1);
  } else {
    i -= more * (all + 1);
    *variant = more + i / all;
    *tuple = i % all;
  }
}

static bool run(nst_sweep_worker *w, uint64_t unit, nst_sweep_result *into, const atomic_bool *stop,
                nst_sweep_each *each, void *context, const char **error) {
  const list *e = (const list *)(const void *)w->e;
  const uint64_t begin = unit * UNIT, end = e->n - begin < UNIT ? e->n : begin + UNIT;
  nst_walk *walk = nst_judge_walk(w->judge);
  nst_sweep_result_clear(w->unit);
  *error = NULL;
  nst_u128 at = NST_SPACE_MAX; /* the tuple the walk is at */
  for (uint64_t i = begin; i < end; i++) {
    uint64_t variant;
    nst_u128 tuple;
    if (stop && atomic_load_explicit(stop, memory_order_relaxed)) return false;
    locate(e, i, &variant, &tuple);
    if (tuple == at + 1)
      nst_walk_next(walk);
    else if (tuple != at)
      nst_walk_seek(walk, tuple);
    at = tuple;
    if (!nst_judge_into(w->judge, variant, w->unit, each, context, error)) return false;
  }
  nst_sweep_result_merge(into, w->unit);
  return true;
}

static list *list_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space, const char *name,
                      uint64_t n, nst_diags *diags) {
  nst_arena *arena = nst_arena_new();
  list *e = NST_NEW(arena, list);
  if (!nst_point_engine_init(&e->base, arena, m, s, space, diags)) return NULL;
  const nst_u128 all = nst_sweep_points(space, &e->base.variants);
  nst_sweep_engine *engine = &e->base.engine;
  e->n = n > all ? (uint64_t)all : n;
  engine->name = name;
  engine->units = e->n / UNIT + (e->n % UNIT != 0);
  engine->space = e->n;
  engine->run = run;
  return e;
}

nst_sweep_engine *nst_sweep_first_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space,
                                      uint64_t n, nst_diags *diags) {
  list *e = list_new(m, s, space, "first", n, diags);
  return e ? &e->base.engine : NULL;
}

/* ---- drawing ---- */

static uint64_t next_random(uint64_t *state) { /* splitmix64 */
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* 0 .. last, each as likely. */
static nst_u128 draw(uint64_t *state, nst_u128 last) {
  nst_u128 mask = last;
  for (int shift = 1; shift < 128; shift *= 2) mask |= mask >> shift;
  for (;;) {
    const nst_u128 high = last > UINT64_MAX ? next_random(state) : 0;
    const nst_u128 v = (high << 64 | next_random(state)) & mask;
    if (v <= last) return v;
  }
}

typedef struct {
  nst_u128 *items;
  size_t cap;
} number_set; /* items: the number + 1; 0 is free */

static bool set_add(number_set *set, nst_u128 v) {
  const uint64_t mixed = ((uint64_t)v ^ (uint64_t)(v >> 64)) * UINT64_C(0x9e3779b97f4a7c15);
  size_t at = (mixed ^ mixed >> 32) & (set->cap - 1);
  for (; set->items[at]; at = (at + 1) & (set->cap - 1))
    if (set->items[at] == v + 1) return false;
  set->items[at] = v + 1;
  return true;
}

static int ascending(const void *a, const void *b) {
  const nst_u128 x = *(const nst_u128 *)a, y = *(const nst_u128 *)b;
  return x < y ? -1 : x > y;
}

static void draw_all(list *e, uint64_t seed) {
  const nst_u128 all = nst_sweep_points(e->base.space, &e->base.variants);
  number_set set = {.cap = 64};
  while (set.cap < 2 * e->n) set.cap *= 2;
  set.items = calloc(set.cap, sizeof *set.items);
  e->sample = NST_NEW_ARRAY(e->base.arena, e->n + 1, nst_u128);
  if (!set.items) nst_out_of_memory();
  uint64_t state = seed;
  size_t n = 0;
  for (nst_u128 last = all - e->n; last < all; last++) {
    nst_u128 v = draw(&state, last);
    if (!set_add(&set, v)) set_add(&set, v = last);
    e->sample[n++] = v;
  }
  free(set.items);
  qsort(e->sample, n, sizeof *e->sample, ascending);
}

nst_sweep_engine *nst_sweep_sample_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space,
                                       uint64_t n, uint64_t seed, nst_diags *diags) {
  list *e = list_new(m, s, space, "sample", n, diags);
  if (!e) return NULL;
  if (e->n > NST_SAMPLE_MAX) {
    nst_diag_add(diags, NST_D_TOO_MANY, s->span, "a sample has at most %d points", NST_SAMPLE_MAX);
    nst_arena_free(e->base.arena);
    return NULL;
  }
  draw_all(e, seed);
  return &e->base.engine;
}
