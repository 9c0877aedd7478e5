/* Moving about in a space: opening sets, the next tuple, a tuple by its number.
 *
 * A walk holds the sets that are open and the values chosen from them, like the
 * digits of an odometer whose wheels depend on those to their left. It belongs
 * to one thread; the space is only read. */
#include "backend/sweep_space.h"

#include <stdlib.h>
#include <string.h>

enum { FUEL = 1 << 24 };

nst_walk *nst_walk_new(const nst_space *s) {
  const size_t n = (size_t)s->sweep->npoints, nparams = (size_t)s->mapping->scope.nparams;
  nst_walk *w = calloc(1, sizeof *w);
  if (!w) nst_out_of_memory();
  w->space = s;
  w->params = calloc(nparams + 1, sizeof *w->params);
  w->values = calloc((size_t)s->mapping->scope.nvalues + 1, sizeof *w->values);
  w->sets = calloc(n + 1, sizeof *w->sets);
  w->places = calloc(n + 1, sizeof *w->places);
  if (!w->params || !w->values || !w->sets || !w->places) nst_out_of_memory();
  memcpy(w->params, s->defaults, nparams * sizeof *w->params);
  return w;
}

void nst_walk_free(nst_walk *w) {
  if (!w) return;
  for (int k = 0; k < w->space->sweep->npoints; k++) nst_set_fini(&w->sets[k]);
  free(w->params);
  free(w->values);
  free(w->sets);
  free(w->places);
  free(w);
}

static nst_eval_status eval(void *context, const nst_expr *e, nst_value *out, nst_span *where) {
  nst_walk *w = context;
  const nst_eval_env env = {.params = w->params, .values = w->values, .fuel = &w->fuel};
  return nst_expr_eval(out, e, &env, where);
}

const char *nst_walk_open(nst_walk *w, int k, nst_span *where) {
  const nst_space *s = w->space;
  const nst_ir_scope *scope = &s->mapping->scope;
  nst_eval_status status = NST_EVAL_OK;
  w->fuel = FUEL;
  for (int i = 0; i < s->params[k].n && status == NST_EVAL_OK; i++) {
    const int p = s->params[k].items[i];
    status = eval(w, scope->params[p].value, &w->params[p], where);
  }
  for (int i = 0; i < s->values[k].n && status == NST_EVAL_OK; i++) {
    const int v = s->values[k].items[i];
    status = eval(w, scope->values[v].value, &w->values[v], where);
  }
  if (status != NST_EVAL_OK) return nst_eval_status_text(status);
  return nst_set_open(&w->sets[k], &s->sweep->points[k].set, eval, w, where);
}

/* Opens a set that was opened before, when the space was counted. */
static void reopen(nst_walk *w, int k) {
  nst_span where;
  if (nst_walk_open(w, k, &where)) w->sets[k].count = 0;
}

bool nst_walk_go(nst_walk *w, const uint64_t *places) {
  for (int k = 0; k < w->space->sweep->npoints; k++) {
    reopen(w, k);
    if (places[k] >= w->sets[k].count) return false;
    nst_walk_bind(w, k, places[k]);
  }
  return true;
}

bool nst_walk_next(nst_walk *w) {
  const int n = w->space->sweep->npoints;
  int k = n - 1;
  uint64_t next = n ? w->places[k] + 1 : 0;
  while (k >= 0) {
    if (next >= w->sets[k].count) {
      if (--k >= 0) next = w->places[k] + 1;
      continue;
    }
    nst_walk_bind(w, k, next);
    if (++k == n) return true;
    reopen(w, k);
    next = 0;
  }
  return false;
}

bool nst_walk_seek(nst_walk *w, nst_u128 number) {
  const nst_space *s = w->space;
  const int n = s->sweep->npoints;
  if (number >= nst_space_tuples(s)) return false;
  nst_u128 remaining[64]; /* of each component, from its first parameter that is not bound */
  int ncomponents = 0;
  for (int k = n - 1; k >= 0; k--) { /* the first of each component comes last */
    const int c = nst_space_component(s, k, &ncomponents);
    bool first = true;
    for (int j = 0; j < k; j++) first = first && nst_space_component(s, j, &ncomponents) != c;
    if (first) remaining[c] = nst_space_remaining(w, k, false);
  }
  for (int k = 0; k < n; k++) {
    const int own = nst_space_component(s, k, &ncomponents);
    nst_u128 others = 1; /* every other component goes through all of what remains of it */
    for (int c = 0; c < ncomponents; c++)
      if (c != own) others = nst_u128_mul(others, remaining[c]);
    reopen(w, k);
    uint64_t place = 0;
    if (!nst_space_is_live(s, k)) { /* as many after each value */
      nst_walk_bind(w, k, 0);
      const nst_u128 each = nst_u128_mul(nst_space_remaining(w, k, true), others);
      place = (uint64_t)(number / each);
      number %= each;
    } else {
      for (;; place++) {
        nst_walk_bind(w, k, place);
        const nst_u128 here = nst_u128_mul(nst_space_remaining(w, k, true), others);
        if (number < here) break;
        number -= here;
      }
    }
    nst_walk_bind(w, k, place);
    remaining[own] = nst_space_remaining(w, k, true);
  }
  return true;
}

const uint64_t *nst_walk_places(const nst_walk *w) { return w->places; }

const nst_value *nst_walk_vector(nst_walk *w) {
  const nst_space *s = w->space;
  w->fuel = FUEL;
  for (int i = 0; i < s->followers.n; i++) {
    const int p = s->followers.items[i];
    nst_span where;
    if (eval(w, s->mapping->scope.params[p].value, &w->params[p], &where) != NST_EVAL_OK) return NULL;
  }
  return w->params;
}
