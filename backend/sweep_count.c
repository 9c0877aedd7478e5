/* Counting tuples without visiting them.
 *
 * Parameters whose sets depend on each other form a component; components are
 * independent, so their counts multiply. Within a component, what remains after
 * its first j parameters depends only on the values that later sets use (the
 * live ones): a state. Every state is counted once, by recursion, and
 * remembered; a parameter that no later set uses is a factor and is not
 * enumerated. So a chain t1 in 1..4096, t2 in 1..t1 takes 4096 steps and two
 * independent ranges take none.
 *
 * Invariant: every state that a walk can reach is in the table, and every set
 * that a walk can open has been opened here: errors in sets are found here. */
#include "backend/sweep_space.h"

#include <string.h>

enum { WORK = 1 << 26, STATES = 1 << 22 };

typedef struct {
  int n, *points; /* members, ascending */
  uint64_t *live; /* [n+1]: members before j whose values the sets from j on use */
} component;

typedef struct {
  uint64_t hash; /* 0: free */
  int point;     /* the first that is not bound; those of an end are not kept */
  const nst_rat *key;
  nst_u128 count;
} state;

struct nst_space_counts {
  nst_arena *arena;
  component *components;
  int ncomponents;
  int *component_of, *position; /* [npoints] */
  state *states;
  size_t nstates, cap;
  uint64_t work;
  const char *wrong;
  nst_span where;
  int wrong_point;
  nst_u128 total;
};

nst_u128 nst_u128_mul(nst_u128 a, nst_u128 b) {
  nst_u128 r;
  return __builtin_mul_overflow(a, b, &r) || r > NST_SPACE_MAX ? NST_SPACE_MAX : r;
}

nst_u128 nst_u128_add(nst_u128 a, nst_u128 b) {
  nst_u128 r;
  return __builtin_add_overflow(a, b, &r) || r > NST_SPACE_MAX ? NST_SPACE_MAX : r;
}

void nst_u128_print(nst_buffer *out, nst_u128 v) {
  char digits[40];
  size_t n = sizeof digits;
  do digits[--n] = (char)('0' + (int)(v % 10));
  while (v /= 10);
  nst_buffer_add(out, digits + n, sizeof digits - n);
}

static uint64_t bit(int k) { return (uint64_t)1 << k; }

static void find_components(nst_space *s, nst_space_counts *c) {
  const int n = s->sweep->npoints;
  uint64_t *part = NST_NEW_ARRAY(s->arena, n, uint64_t);
  for (int k = 0; k < n; k++) part[k] = bit(k) | s->needs[k];
  for (bool changed = true; changed;) { /* until members agree */
    changed = false;
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++)
        if (part[k] >> j & 1 && part[k] != part[j]) {
          part[k] = part[j] = part[k] | part[j];
          changed = true;
        }
  }
  c->components = NST_NEW_ARRAY(s->arena, n, component);
  c->component_of = NST_NEW_ARRAY(s->arena, n, int);
  c->position = NST_NEW_ARRAY(s->arena, n, int);
  uint64_t done = 0;
  for (int k = 0; k < n; k++) {
    if (done & bit(k)) continue;
    done |= part[k];
    component *x = &c->components[c->ncomponents];
    x->points = NST_NEW_ARRAY(s->arena, n, int);
    x->live = NST_NEW_ARRAY(s->arena, n + 1, uint64_t);
    for (int j = 0; j < n; j++) {
      if (!(part[k] >> j & 1)) continue;
      c->component_of[j] = c->ncomponents;
      c->position[j] = x->n;
      x->points[x->n++] = j;
    }
    for (int j = 0; j <= x->n; j++) {
      uint64_t before = 0, used = 0;
      for (int i = 0; i < j; i++) before |= bit(x->points[i]);
      for (int i = j; i < x->n; i++) used |= s->needs[x->points[i]];
      x->live[j] = before & used;
    }
    c->ncomponents++;
  }
}

/* ---- the table of states ---- */

static uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ (h >> 29);
}

static nst_rat value_of(const nst_walk *w, int k) { return w->params[w->space->sweep->points[k].param].rat; }

static uint64_t hash_state(const nst_walk *w, int point, uint64_t live) {
  uint64_t h = mix(1, (uint64_t)point);
  for (int k = 0; live >> k; k++) {
    if (!(live >> k & 1)) continue;
    const nst_rat v = value_of(w, k);
    h = mix(mix(h, (uint64_t)v.num), (uint64_t)v.den);
  }
  return h ? h : 1;
}

static bool same_state(const state *e, const nst_walk *w, int point, uint64_t live) {
  if (e->point != point) return false;
  int i = 0;
  for (int k = 0; live >> k; k++) {
    if (!(live >> k & 1)) continue;
    const nst_rat v = value_of(w, k);
    if (v.num != e->key[i].num || v.den != e->key[i].den) return false;
    i++;
  }
  return true;
}

/* The state's entry, or the free one where it belongs. */
static state *lookup(const nst_space_counts *c, const nst_walk *w, int point, uint64_t live, uint64_t hash) {
  size_t at = hash & (c->cap - 1);
  for (; c->states[at].hash; at = (at + 1) & (c->cap - 1))
    if (c->states[at].hash == hash && same_state(&c->states[at], w, point, live)) break;
  return &c->states[at];
}

static void grow(nst_space_counts *c) {
  state *old = c->states;
  const size_t n = c->cap;
  c->cap = n ? 2 * n : 256;
  c->states = NST_NEW_ARRAY(c->arena, c->cap, state);
  for (size_t i = 0; i < n; i++) {
    if (!old[i].hash) continue;
    size_t at = old[i].hash & (c->cap - 1);
    while (c->states[at].hash) at = (at + 1) & (c->cap - 1);
    c->states[at] = old[i];
  }
}

static void remember(nst_space_counts *c, const nst_walk *w, int point, uint64_t live, uint64_t hash, nst_u128 count) {
  if (2 * (c->nstates + 1) > c->cap) grow(c);
  state *e = lookup(c, w, point, live, hash);
  nst_rat *key = NST_NEW_ARRAY(c->arena, __builtin_popcountll(live), nst_rat);
  int i = 0;
  for (int k = 0; live >> k; k++)
    if (live >> k & 1) key[i++] = value_of(w, k);
  *e = (state){hash, point, key, count};
  c->nstates++;
}

/* ---- counting ---- */

static nst_u128 fail(nst_space_counts *c, int k, const char *why, nst_span where) {
  if (c->wrong) return 0;
  c->wrong = why;
  c->wrong_point = k;
  c->where = where;
  return 0;
}

static nst_u128 count_from(nst_space_counts *c, nst_walk *w, const component *x, int j) {
  if (j == x->n) return 1;
  const int k = x->points[j];
  const uint64_t live = x->live[j], hash = hash_state(w, k, live);
  if (c->cap) {
    const state *e = lookup(c, w, k, live, hash);
    if (e->hash) return e->count;
  }
  nst_span where = {0};
  const char *wrong = nst_walk_open(w, k, &where);
  if (wrong) return fail(c, k, wrong, where);
  const uint64_t n = w->sets[k].count;
  nst_u128 sum = 0;
  if (!(x->live[j + 1] & bit(k))) {
    if (n) {
      nst_walk_bind(w, k, 0);
      sum = nst_u128_mul(n, count_from(c, w, x, j + 1));
    }
  } else {
    /* Each of these values leads to a state of its own: too many are told before they are walked through. */
    if (n > WORK - c->work || n > STATES)
      return fail(c, k, "too many combinations with the sets that depend on them", w->space->sweep->points[k].span);
    c->work += n;
    for (uint64_t i = 0; i < n && !c->wrong; i++) {
      if (c->nstates > STATES)
        return fail(c, k, "too many combinations with the sets that depend on them", w->space->sweep->points[k].span);
      nst_walk_bind(w, k, i);
      sum = nst_u128_add(sum, count_from(c, w, x, j + 1));
    }
  }
  if (!c->wrong) remember(c, w, k, live, hash, sum);
  return sum;
}

bool nst_space_count_all(nst_space *s, nst_walk *w, nst_diags *diags) {
  nst_space_counts *c = NST_NEW(s->arena, nst_space_counts);
  c->arena = s->arena;
  s->counts = c;
  find_components(s, c);
  c->total = 1;
  for (int i = 0; i < c->ncomponents && !c->wrong; i++)
    c->total = nst_u128_mul(c->total, count_from(c, w, &c->components[i], 0));
  if (!c->wrong) return true;
  nst_span where = c->where.source ? c->where : s->sweep->points[c->wrong_point].span;
  nst_diag_add(diags, NST_D_SET_VALUES, where, "the values of %s: %s",
               s->mapping->scope.params[s->sweep->points[c->wrong_point].param].name, c->wrong);
  return false;
}

nst_u128 nst_space_total(const nst_space *s) { return s->counts->total; }

nst_u128 nst_space_remaining(const nst_walk *w, int k, bool after) {
  const nst_space_counts *c = w->space->counts;
  const component *x = &c->components[c->component_of[k]];
  const int j = c->position[k] + after;
  if (j == x->n) return 1;
  const int point = x->points[j];
  const state *e = lookup(c, w, point, x->live[j], hash_state(w, point, x->live[j]));
  return e->hash ? e->count : 0;
}

bool nst_space_is_live(const nst_space *s, int k) {
  const nst_space_counts *c = s->counts;
  return c->components[c->component_of[k]].live[c->position[k] + 1] & bit(k);
}

int nst_space_component(const nst_space *s, int k, int *ncomponents) {
  *ncomponents = s->counts->ncomponents;
  return s->counts->component_of[k];
}
