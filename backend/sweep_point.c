/* See sweep_point.h. Mappings of variants are made when first asked for and kept
 * in a small cache, so that walking many tuples with few variants makes each once.
 *
 * A point is dropped for what only some points of a space can be expected to
 * get right (tiles, pars, partial sums that meet); everything else that cannot
 * be counted is an error that ends the sweep, with the point named in it:
 * an answer that silently leaves points out would not be proven. */
#include "backend/sweep_point.h"
#include "backend/interpreter.h"

#include <math.h>
#include <stdlib.h>

enum { SLOTS = 64 };

typedef struct {
  uint64_t variant;
  nst_arena *arena;             /* NULL: free */
  nst_interpreter *interpreter; /* NULL: the variant is no mapping (without a keep? a tensor is kept nowhere) */
  nst_metrics metrics;
} slot;

struct nst_judge {
  nst_arena *arena;
  const nst_ir_mapping *m;
  const nst_ir_sweep *s;
  const nst_variants *variants;
  nst_walk *walk;
  slot slots[SLOTS];
  nst_sweep_point point;
  nst_diags *diags;
  nst_arena *diags_arena;
};

nst_judge *nst_judge_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space,
                         const nst_variants *variants) {
  nst_judge *j = calloc(1, sizeof *j);
  if (!j) nst_out_of_memory();
  j->arena = nst_arena_new();
  j->m = m;
  j->s = s;
  j->variants = variants;
  j->walk = nst_walk_new(space);
  j->point = (nst_sweep_point){.params = NST_NEW_ARRAY(j->arena, s->npoints, int64_t),
                               .metrics = NST_NEW_ARRAY(j->arena, s->nobjectives + s->npareto, nst_rat)};
  return j;
}

static void slot_fini(slot *s) {
  if (!s->arena) return;
  nst_interpreter_free(s->interpreter);
  nst_arena_free(s->arena);
  *s = (slot){0};
}

void nst_judge_free(nst_judge *j) {
  if (!j) return;
  for (int i = 0; i < SLOTS; i++) slot_fini(&j->slots[i]);
  nst_walk_free(j->walk);
  nst_arena_free(j->diags_arena);
  nst_arena_free(j->arena);
  free(j);
}

nst_walk *nst_judge_walk(nst_judge *j) { return j->walk; }

static slot *slot_of(nst_judge *j, uint64_t variant) {
  slot *s = &j->slots[variant % SLOTS];
  if (s->arena && s->variant == variant) return s;
  slot_fini(s);
  s->variant = variant;
  s->arena = nst_arena_new();
  const nst_ir_mapping *m = nst_variant_make(s->arena, j->variants, variant);
  s->interpreter = nst_ir_verify_mapping(s->arena, m) ? NULL : nst_interpreter_new(m);
  return s;
}

/* ---- what is said of a point that fails ---- */

static const char *say(nst_judge *j, uint64_t variant, const char *what) {
  nst_buffer text = {0};
  nst_buffer_puts(&text, "at ");
  for (int k = 0; k < j->s->npoints; k++) {
    const int p = j->s->points[k].param;
    nst_buffer_printf(&text, "%s%s = ", k ? ", " : "", j->m->scope.params[p].name);
    nst_expr_print_number(&text, j->walk->params[p].rat);
  }
  if (variant)
    nst_buffer_printf(&text, "%svariant %llu", j->s->npoints ? ", " : "", (unsigned long long)variant);
  else if (!j->s->npoints)
    nst_buffer_puts(&text, "the mapping as written");
  nst_buffer_printf(&text, ": %s", what);
  const char *kept = nst_arena_strndup(j->arena, text.text, text.len);
  nst_buffer_fini(&text);
  return kept;
}

/* An empty list of messages. */
static nst_diags *messages(nst_judge *j) {
  nst_arena_free(j->diags_arena);
  j->diags_arena = nst_arena_new();
  return j->diags = nst_diags_new(j->diags_arena, nst_sources_new(j->diags_arena));
}

static bool drops(nst_diag_id id) {
  return id == NST_D_TILE_SIZE || id == NST_D_PAR_FIT || id == NST_D_REDUCE_CONFLICT;
}

/* A point that could not be counted is counted once more, to be told why. */
static nst_point_verdict why_not(nst_judge *j, slot *s, const nst_value *params, const char **error) {
  nst_diags *d = messages(j);
  nst_interpreter_eval(s->interpreter, params, d);
  const size_t n = nst_diags_count(d);
  for (size_t i = 0; i < n; i++)
    if (drops(nst_diags_get(d, i)->id)) return NST_POINT_DROPPED;
  *error = say(j, s->variant, n ? nst_diags_get(d, 0)->message : "it cannot be counted");
  return NST_POINT_FAILED;
}

/* ---- judging ---- */

/* The exact value of a double; false: not within 128 bits. */
static bool exactly(nst_rat *out, double d) {
  int exponent;
  const double fraction = frexp(d, &exponent);
  if (!isfinite(d)) return false;
  nst_i128 num = (nst_i128)ldexp(fraction, 53), den = 1;
  exponent -= 53;
  for (; exponent < 0 && num && num % 2 == 0; exponent++) num /= 2;
  if (!num) return nst_rat_make(out, 0, 1);
  if (exponent < -126 || exponent > 73) return false;
  if (exponent < 0)
    den <<= -exponent;
  else
    num *= (nst_i128)1 << exponent;
  return nst_rat_make(out, num, den);
}

static bool to_rat(nst_rat *out, const nst_value *v) {
  switch (v->kind) {
  case NST_VALUE_RAT: *out = v->rat; return true;
  case NST_VALUE_REAL: return exactly(out, v->real);
  case NST_VALUE_BOOL: *out = nst_rat_int(v->truth); return true;
  }
  return false;
}

static const char *metric(nst_rat *out, const nst_expr *e, const nst_eval_env *env) {
  nst_value v;
  nst_span where;
  const nst_eval_status status = nst_expr_eval(&v, e, env, &where);
  if (status != NST_EVAL_OK) return nst_eval_status_text(status);
  return to_rat(out, &v) ? NULL : "a metric past 128 bits";
}

nst_point_verdict nst_judge_point(nst_judge *j, uint64_t variant, const nst_sweep_point **point, const char **error) {
  slot *s = slot_of(j, variant);
  if (!s->interpreter) return NST_POINT_DROPPED;
  const nst_value *params = nst_walk_vector(j->walk);
  if (!params) return *error = say(j, variant, "the default of a parameter has no value"), NST_POINT_FAILED;
  const nst_counts *counts = nst_interpreter_eval(s->interpreter, params, NULL);
  if (!counts) return why_not(j, s, params, error);
  const nst_nest *nest = nst_interpreter_nest(s->interpreter);
  if (!nst_metrics_compute(&s->metrics, s->metrics.levels ? NULL : s->arena, nest, counts, NULL)) {
    nst_diags *d = messages(j);
    nst_metrics_compute(&s->metrics, NULL, nest, counts, d);
    return *error = say(j, variant, nst_diags_count(d) ? nst_diags_get(d, 0)->message : "a figure overflows"),
           NST_POINT_FAILED;
  }
  nst_metrics_view view = {nest, counts, &s->metrics};
  uint64_t fuel = UINT64_C(1) << 26;
  const nst_eval_env env = {
    .params = params, .values = nest->values, .metric = nst_metrics_lookup, .metric_ctx = &view, .fuel = &fuel};
  for (int i = 0; i < j->s->nwhere; i++) {
    nst_value v;
    nst_span where;
    const nst_eval_status status = nst_expr_eval(&v, j->s->where[i].value, &env, &where);
    if (status != NST_EVAL_OK) return *error = say(j, variant, nst_eval_status_text(status)), NST_POINT_FAILED;
    if (v.kind != NST_VALUE_BOOL || !v.truth) return NST_POINT_OTHER;
  }
  nst_sweep_point *p = &j->point;
  for (int i = 0; i < j->s->nobjectives + j->s->npareto; i++) {
    const nst_expr *e = i < j->s->nobjectives ? j->s->objectives[i] : j->s->pareto[i - j->s->nobjectives];
    const char *wrong = metric(&p->metrics[i], e, &env);
    if (wrong) return *error = say(j, variant, wrong), NST_POINT_FAILED;
  }
  for (int k = 0; k < j->s->npoints; k++)
    if (!nst_rat_to_i64(&p->params[k], params[j->s->points[k].param].rat)) p->params[k] = 0;
  p->variant = variant;
  p->places = j->walk->places;
  *point = p;
  return NST_POINT_VALID;
}

bool nst_judge_into(nst_judge *j, uint64_t variant, nst_sweep_result *into, nst_sweep_each *each, void *context,
                    const char **error) {
  const nst_sweep_point *point;
  nst_sweep_tally *tally = nst_sweep_result_tally(into);
  switch (nst_judge_point(j, variant, &point, error)) {
  case NST_POINT_FAILED: return false;
  case NST_POINT_DROPPED: tally->dropped++; return true;
  case NST_POINT_OTHER: tally->evaluated++; return true;
  case NST_POINT_VALID: break;
  }
  tally->evaluated++;
  tally->valid++;
  nst_sweep_result_offer(into, point);
  if (each) each(context, point);
  return true;
}

/* ---- engines ---- */

static nst_sweep_worker *worker_new(const nst_sweep_engine *engine) {
  const nst_point_engine *e = (const nst_point_engine *)(const void *)engine;
  nst_sweep_worker *w = calloc(1, sizeof *w);
  if (!w) nst_out_of_memory();
  w->e = e;
  w->judge = nst_judge_new(e->m, e->s, e->space, &e->variants);
  w->unit = nst_sweep_result_new(e->shape);
  return w;
}

static void worker_free(nst_sweep_worker *w) {
  if (!w) return;
  nst_judge_free(w->judge);
  nst_sweep_result_free(w->unit);
  free(w);
}

static void engine_free(nst_sweep_engine *engine) {
  nst_point_engine *e = (nst_point_engine *)(void *)engine;
  nst_arena_free(e->arena);
}

bool nst_point_engine_init(nst_point_engine *e, nst_arena *arena, const nst_ir_mapping *m, const nst_ir_sweep *s,
                           const nst_space *space, nst_diags *diags) {
  *e = (nst_point_engine){.arena = arena, .m = m, .s = s, .space = space, .tuples = nst_space_tuples(space)};
  e->engine = (nst_sweep_engine){.worker_new = worker_new, .worker_free = worker_free, .free = engine_free};
  const char *wrong = nst_variants_init(&e->variants, arena, m);
  if (wrong) nst_diag_add(diags, NST_D_TOO_MANY, s->span, "%s", wrong);
  if (!wrong && nst_sweep_shape_make(&e->shape, s, space, diags)) return true;
  nst_arena_free(arena);
  return false;
}
