/* Making a space: what each set needs, defaults, and tables of tuples.
 *
 * A set may use the parameters bound before it, named values, and parameters
 * that are not swept; the default of one of these may in turn use swept ones, and
 * then follows them from point to point. All of it is found once, so that
 * opening a set evaluates just what it needs, in order.
 *
 * Left to others: counting (sweep_count.c), moving about (sweep_walk.c). */
#include "backend/sweep_space.h"

#include <string.h>

/* ---- what expressions use ---- */

typedef struct {
  const nst_space *s;
  bool *params, *values; /* seen */
} finder;

static void find(finder *f, const nst_expr *e) {
  if (!e) return;
  const nst_ir_scope *scope = &f->s->mapping->scope;
  if (e->kind == NST_X_PARAM && !f->params[e->index]) {
    f->params[e->index] = true;
    for (int k = 0; k < f->s->sweep->npoints; k++)
      if (f->s->sweep->points[k].param == e->index) return;
    find(f, scope->params[e->index].value);
  }
  if (e->kind == NST_X_VALUE && !f->values[e->index]) {
    f->values[e->index] = true;
    find(f, scope->values[e->index].value);
  }
  find(f, e->a);
  find(f, e->b);
  find(f, e->c);
}

static finder find_new(const nst_space *s, nst_arena *arena) {
  return (finder){s, NST_NEW_ARRAY(arena, s->mapping->scope.nparams, bool),
                  NST_NEW_ARRAY(arena, s->mapping->scope.nvalues, bool)};
}

static uint64_t points_of(const finder *f) {
  uint64_t mask = 0;
  for (int k = 0; k < f->s->sweep->npoints; k++)
    if (f->params[f->s->sweep->points[k].param]) mask |= (uint64_t)1 << k;
  return mask;
}

static nst_space_list list_of(nst_arena *arena, const bool *seen, int n, const uint64_t *unless_zero) {
  nst_space_list list = {NST_NEW_ARRAY(arena, n, int), 0};
  for (int i = 0; i < n; i++)
    if (seen[i] && (!unless_zero || unless_zero[i])) list.items[list.n++] = i;
  return list;
}

static void find_in_set(finder *f, const nst_ir_set *set) {
  for (int i = 0; i < set->nitems; i++) find(f, set->items[i]);
  find(f, set->a);
  find(f, set->b);
  find(f, set->step);
}

static bool is_swept(const nst_space *s, int param) {
  for (int k = 0; k < s->sweep->npoints; k++)
    if (s->sweep->points[k].param == param) return true;
  return false;
}

static bool find_needs(nst_space *s, nst_diags *diags) {
  nst_arena *work = nst_arena_new();
  const nst_ir_scope *scope = &s->mapping->scope;
  for (int i = 0; i < scope->nparams; i++) {
    if (is_swept(s, i)) continue;
    finder f = find_new(s, work);
    find(&f, scope->params[i].value);
    s->follows[i] = points_of(&f);
  }
  bool good = true;
  for (int k = 0; k < s->sweep->npoints; k++) {
    const nst_ir_point *p = &s->sweep->points[k];
    finder f = find_new(s, work);
    find_in_set(&f, &p->set);
    s->needs[k] = points_of(&f);
    s->params[k] = list_of(s->arena, f.params, scope->nparams, s->follows);
    s->values[k] = list_of(s->arena, f.values, scope->nvalues, NULL);
    if (!(s->needs[k] >> k)) continue; /* only earlier ones */
    good = false;
    nst_diag_add(diags, NST_D_SET_LATER, p->span,
                 "the values of %s depend on a parameter bound %s, through the default of another",
                 scope->params[p->param].name, s->needs[k] >> k == 1 ? "by this very set" : "later");
  }
  bool *all = NST_NEW_ARRAY(work, scope->nparams, bool);
  for (int i = 0; i < scope->nparams; i++) all[i] = s->follows[i] != 0;
  s->followers = list_of(s->arena, all, scope->nparams, NULL);
  nst_arena_free(work);
  return good;
}

/* ---- whether all values are whole, whatever the numbers ---- */

typedef enum { UNKNOWN, WHOLE, BROKEN } wholeness;
typedef struct {
  const nst_space *s;
  wholeness *points, *params, *values; /* params: those that follow; remembered, as values may use values many times */
} whole_env;

static bool is_whole(const whole_env *w, const nst_expr *e);

static bool is_whole_once(const whole_env *w, wholeness *known, const nst_expr *e) {
  if (*known == UNKNOWN) *known = is_whole(w, e) ? WHOLE : BROKEN;
  return *known == WHOLE;
}

static bool is_whole(const whole_env *w, const nst_expr *e) {
  const nst_ir_scope *scope = &w->s->mapping->scope;
  switch (e->kind) {
  case NST_X_CONST: return nst_rat_is_int(e->value);
  case NST_X_INDEX:
  case NST_X_FLOORDIV:
  case NST_X_CEILDIV:
  case NST_X_CEIL:
  case NST_X_FLOOR: return true;
  case NST_X_VALUE: return is_whole_once(w, &w->values[e->index], scope->values[e->index].value);
  case NST_X_PARAM:
    for (int k = 0; k < w->s->sweep->npoints; k++)
      if (w->s->sweep->points[k].param == e->index) return w->points[k] == WHOLE;
    return w->s->follows[e->index]
             ? is_whole_once(w, &w->params[e->index], scope->params[e->index].value)
             : w->s->defaults[e->index].kind == NST_VALUE_RAT && nst_rat_is_int(w->s->defaults[e->index].rat);
  case NST_X_ADD:
  case NST_X_SUB:
  case NST_X_MUL:
  case NST_X_MIN:
  case NST_X_MAX:
  case NST_X_GCD:
  case NST_X_MOD: return is_whole(w, e->a) && is_whole(w, e->b);
  case NST_X_NEG:
  case NST_X_ABS:
  case NST_X_SUM: return is_whole(w, e->a);
  case NST_X_POW:
    return is_whole(w, e->a) && e->b->kind == NST_X_CONST && nst_rat_is_int(e->b->value) && e->b->value.num >= 0;
  case NST_X_IF: return is_whole(w, e->b) && is_whole(w, e->c);
  case NST_X_BOOL:
  case NST_X_METRIC:
  case NST_X_DIV:
  case NST_X_LOG2:
  case NST_X_SQRT:
  case NST_X_EQ:
  case NST_X_NE:
  case NST_X_LT:
  case NST_X_LE:
  case NST_X_GT:
  case NST_X_GE:
  case NST_X_AND:
  case NST_X_OR:
  case NST_X_NOT: return false;
  }
  return false;
}

static bool set_is_whole(const whole_env *w, const nst_ir_set *set) {
  bool whole = true;
  switch (set->kind) {
  case NST_IRSET_DIVISORS:
  case NST_IRSET_POW2: return true;
  case NST_IRSET_LIST:
    for (int i = 0; i < set->nitems; i++) whole = whole && is_whole(w, set->items[i]);
    return whole;
  case NST_IRSET_RANGE: return is_whole(w, set->a) && (!set->step || is_whole(w, set->step));
  }
  return false;
}

static void find_whole(nst_space *s) {
  nst_arena *work = nst_arena_new();
  const whole_env w = {s, NST_NEW_ARRAY(work, s->sweep->npoints, wholeness),
                       NST_NEW_ARRAY(work, s->mapping->scope.nparams, wholeness),
                       NST_NEW_ARRAY(work, s->mapping->scope.nvalues, wholeness)};
  s->whole = true;
  for (int k = 0; k < s->sweep->npoints; k++) {
    w.points[k] = set_is_whole(&w, &s->sweep->points[k].set) ? WHOLE : BROKEN;
    s->whole = s->whole && w.points[k] == WHOLE;
  }
  nst_arena_free(work);
}

/* ---- making ---- */

/* Swept parameters: their first values, as far as there are some; the others: defaults given these. */
static bool find_defaults(nst_space *s, nst_walk *w, nst_diags *diags) {
  const int nparams = s->mapping->scope.nparams;
  bool *given = NST_NEW_ARRAY(s->arena, nparams, bool);
  for (int k = 0; k < s->sweep->npoints; k++) {
    const int p = s->sweep->points[k].param;
    given[p] = true;
    w->params[p] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(1)};
  }
  if (!nst_nest_defaults(w->params, given, s->mapping, diags)) return false;
  for (int k = 0; k < s->sweep->npoints; k++) {
    nst_span where;
    if (nst_walk_open(w, k, &where) || !w->sets[k].count) break; /* what is wrong is said where sets are counted */
    nst_walk_bind(w, k, 0);
  }
  if (!nst_nest_defaults(w->params, given, s->mapping, diags)) return false;
  memcpy(s->defaults, w->params, (size_t)nparams * sizeof *s->defaults);
  return true;
}

nst_space *nst_space_new(const nst_ir_mapping *m, const nst_ir_sweep *sweep, nst_diags *diags) {
  nst_arena *arena = nst_arena_new();
  nst_space *s = NST_NEW(arena, nst_space);
  const int n = sweep->npoints;
  *s = (nst_space){.arena = arena,
                   .mapping = m,
                   .sweep = sweep,
                   .needs = NST_NEW_ARRAY(arena, n, uint64_t),
                   .follows = NST_NEW_ARRAY(arena, m->scope.nparams, uint64_t),
                   .params = NST_NEW_ARRAY(arena, n, nst_space_list),
                   .values = NST_NEW_ARRAY(arena, n, nst_space_list),
                   .defaults = NST_NEW_ARRAY(arena, m->scope.nparams + 1, nst_value)};
  bool good = n <= 63;
  if (!good) nst_diag_add(diags, NST_D_TOO_MANY, sweep->span, "the sweep has %d swept parameters; there may be 63", n);
  good = good && find_needs(s, diags);
  nst_walk *w = good ? nst_walk_new(s) : NULL;
  good = good && find_defaults(s, w, diags);
  if (good) find_whole(s);
  good = good && nst_space_count_all(s, w, diags);
  nst_walk_free(w);
  if (good) return s;
  nst_space_free(s);
  return NULL;
}

void nst_space_free(nst_space *s) {
  if (s) nst_arena_free(s->arena);
}

const nst_value *nst_space_defaults(const nst_space *s) { return s->defaults; }
uint64_t nst_space_needs(const nst_space *s, int point) { return s->needs[point]; }
uint64_t nst_space_follows(const nst_space *s, int param) { return s->follows[param]; }
bool nst_space_is_whole(const nst_space *s) { return s->whole; }
nst_u128 nst_space_tuples(const nst_space *s) { return nst_space_total(s); }

uint64_t nst_space_count(const nst_space *s) {
  const nst_u128 n = nst_space_total(s);
  return n > UINT64_MAX ? UINT64_MAX : (uint64_t)n;
}

/* ---- tables of tuples ---- */

typedef struct {
  nst_axis *out;
  nst_arena *arena;
  nst_walk *walk;
  nst_diags *diags;
  size_t limit, cap;
} tabulator;

static bool refuse(tabulator *t, int k, const char *why) {
  const nst_ir_point *p = &t->walk->space->sweep->points[k];
  if (t->diags)
    nst_diag_add(t->diags, NST_D_SET_VALUES, p->span, "the values of %s: %s",
                 t->walk->space->mapping->scope.params[p->param].name, why);
  return false;
}

static bool add_tuple(tabulator *t) {
  nst_axis *x = t->out;
  const size_t n = (size_t)x->nparams;
  if (x->ntuples >= t->limit) return refuse(t, x->which[x->nparams - 1], "too many together with those they depend on");
  if (x->ntuples == t->cap) {
    t->cap = t->cap ? 2 * t->cap : 64;
    int64_t *values = NST_NEW_ARRAY(t->arena, t->cap * n, int64_t);
    uint64_t *places = NST_NEW_ARRAY(t->arena, t->cap * n, uint64_t);
    if (x->ntuples) {
      memcpy(values, x->values, x->ntuples * n * sizeof *values);
      memcpy(places, x->places, x->ntuples * n * sizeof *places);
    }
    x->values = values;
    x->places = places;
  }
  for (size_t i = 0; i < n; i++) {
    const int k = x->which[i];
    const nst_value *v = &t->walk->params[t->walk->space->sweep->points[k].param];
    if (!nst_rat_to_i64(&x->values[x->ntuples * n + i], v->rat)) return refuse(t, k, "not whole numbers of 64 bits");
    x->places[x->ntuples * n + i] = t->walk->places[k];
  }
  x->ntuples++;
  return true;
}

static bool tabulate(tabulator *t, int depth) {
  if (depth == t->out->nparams) return add_tuple(t);
  const int k = t->out->which[depth];
  nst_span where;
  const char *wrong = nst_walk_open(t->walk, k, &where);
  if (wrong) return refuse(t, k, wrong);
  for (uint64_t i = 0; i < t->walk->sets[k].count; i++) {
    nst_walk_bind(t->walk, k, i);
    if (!tabulate(t, depth + 1)) return false;
  }
  return true;
}

bool nst_space_axis(nst_axis *out, const nst_space *s, nst_arena *arena, const int *which, int n, size_t limit,
                    nst_diags *diags) {
  *out = (nst_axis){.nparams = n, .which = which};
  tabulator t = {out, arena, nst_walk_new(s), diags, limit, 0};
  const bool good = tabulate(&t, 0);
  nst_walk_free(t.walk);
  return good;
}

/* ---- what a sweep asks ---- */

bool nst_sweep_shape_make(nst_sweep_shape *out, const nst_ir_sweep *s, const nst_space *space, nst_diags *diags) {
  const nst_ir_mapping *m = space->mapping;
  *out = (nst_sweep_shape){.sweep = s, .npoints = s->npoints, .nmetrics = s->nobjectives + s->npareto, .top = 1};
  if (out->nmetrics > NST_SWEEP_MAX_METRICS) {
    nst_diag_add(diags, NST_D_TOO_MANY, s->span, "the sweep has %d metrics; there may be %d", out->nmetrics,
                 NST_SWEEP_MAX_METRICS);
    return false;
  }
  if (!s->top) return true;
  nst_arena *work = nst_arena_new();
  nst_value *values = NST_NEW_ARRAY(work, m->scope.nvalues, nst_value), v;
  const nst_eval_env env = {.params = space->defaults, .values = values};
  nst_span where = s->top->span;
  nst_eval_status status = NST_EVAL_OK;
  for (int i = 0; i < m->scope.nvalues; i++) /* those that fail here and are not used do no harm */
    if (nst_expr_eval(&values[i], m->scope.values[i].value, &env, &where) != NST_EVAL_OK)
      values[i] = (nst_value){.kind = NST_VALUE_BOOL};
  status = nst_expr_eval(&v, s->top, &env, &where);
  int64_t top = 0;
  const bool good = status == NST_EVAL_OK && nst_value_to_i64(&top, &v) && top >= 1 && top <= 1 << 24;
  if (status != NST_EVAL_OK)
    nst_eval_report(diags, status, where, "the number after `top`", "");
  else if (!good)
    nst_diag_add(diags, NST_D_SET_VALUES, s->top->span, "the number after `top` must be a whole number from 1 to %d",
                 1 << 24);
  nst_arena_free(work);
  out->top = good ? (size_t)top : 1;
  return good;
}
