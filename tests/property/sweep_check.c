/* See sweep_check.h.
 *
 * The plain engine is the judge of the kernel engine, and itself judged by
 * brute force: each point simulated element by element, its metrics and
 * conditions evaluated, offered. The kernel engine runs with and without
 * pruning, with and without a report of every point, on one and on three
 * threads, and its units once in reverse. */
#include "sweep_check.h"
#include "backend/sweep_run.h"
#include "backend/sweep_space.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  subject *s;
  const nst_ir_mapping *m;
  const nst_ir_sweep *sweep;
  nst_space *space;
  nst_sweep_shape shape;
  nst_jit *jit;
} asked;

/* ---- what an engine says ---- */

typedef struct {
  nst_sweep_result *result; /* NULL: it failed */
  nst_buffer each;          /* every valid point, as lines */
  const char *error;
} answer;

static void add_line(void *context, nst_buffer *out, const nst_sweep_point *p) {
  const asked *a = context;
  for (int k = 0; k < a->shape.npoints; k++) nst_buffer_printf(out, "%06llu.%lld ", (unsigned long long)p->places[k], (long long)p->params[k]);
  nst_buffer_printf(out, "v%04llu", (unsigned long long)p->variant);
  for (int i = 0; i < a->shape.nmetrics; i++)
    nst_buffer_printf(out, " %lld/%lld", (long long)p->metrics[i].num, (long long)p->metrics[i].den);
  nst_buffer_putc(out, '\n');
}

typedef struct {
  const asked *a;
  nst_buffer *out;
} listing;
static void list_line(void *context, nst_buffer *out, const nst_sweep_point *p) {
  const listing *l = context;
  add_line((void *)(uintptr_t)l->a, out, p);
}
static bool write_lines(void *context, const char *bytes, size_t len) {
  const listing *l = context;
  nst_buffer_add(l->out, bytes, len);
  return true;
}
static void list_point(void *context, const nst_sweep_point *p) {
  const listing *l = context;
  list_line(context, l->out, p);
}

/* isolate: what the engine prunes depends on what it is shown. */
static answer run_threads(const asked *a, const nst_sweep_engine *e, int threads, bool each, bool isolate) {
  answer out = {0};
  listing l = {a, &out.each};
  nst_sweep_run_options o = {.threads = threads, .isolate = isolate, .context = &l, .format = each ? list_line : NULL, .write = each ? write_lines : NULL};
  nst_sweep_run *r = nst_sweep_run_new(e, a->shape, nst_sweep_job_make(e, 0, 0, 1), o);
  const char *error = NULL;
  if (nst_sweep_run_all(r, &error)) {
    out.result = nst_sweep_result_new(a->shape);
    nst_sweep_result_merge(out.result, nst_sweep_run_found(r));
  } else {
    out.error = nst_arena_printf(a->s->arena, "%s", error ? error : "it could not be written");
  }
  nst_sweep_run_free(r);
  return out;
}

/* All units from the last to the first, into one result. */
static answer run_reverse(const asked *a, const nst_sweep_engine *e, bool each) {
  answer out = {.result = nst_sweep_result_new(a->shape)};
  listing l = {a, &out.each};
  nst_sweep_worker *w = e->worker_new(e);
  const char *error = NULL;
  for (uint64_t u = e->units; u-- > 0 && out.result;) {
    if (e->run(w, u, out.result, NULL, each ? list_point : NULL, &l, &error)) continue;
    out.error = nst_arena_printf(a->s->arena, "%s", error ? error : "");
    nst_sweep_result_free(out.result);
    out.result = NULL;
  }
  e->worker_free(w);
  return out;
}

static void answer_fini(answer *a) {
  nst_sweep_result_free(a->result);
  nst_buffer_fini(&a->each);
}

/* ---- brute force ---- */

/* maker NULL: no mapping, as a tensor is kept nowhere. false: a point is too large for the simulator, or has no value. */
static bool offer_simulated(const asked *a, const nst_ir_mapping *m, nst_nest_maker *maker, uint64_t variant, nst_walk *walk,
                            nst_sweep_result *into, nst_buffer *lines) {
  nst_sweep_tally *tally = nst_sweep_result_tally(into);
  const nst_value *params = nst_walk_vector(walk);
  const nst_nest *nest = params && maker ? nst_nest_make(maker, params, NULL) : NULL;
  nst_arena *work = nst_arena_new();
  nst_sweep_point p = {.variant = variant, .params = NST_NEW_ARRAY(work, a->shape.npoints, int64_t),
                       .places = NST_NEW_ARRAY(work, a->shape.npoints, uint64_t), .metrics = NST_NEW_ARRAY(work, a->shape.nmetrics, nst_rat)};
  nst_counts *c = nst_counts_new(work, m);
  nst_metrics metrics = {0};
  bool good = params != NULL, valid = true, counted = nest != NULL;
  nst_diags_clear(a->s->diags);
  if (counted && !nst_simulate(nest, c, 0, a->s->diags)) {
    counted = false;
    good = nst_diags_count(a->s->diags) && nst_diags_get(a->s->diags, 0)->id == NST_D_REDUCE_CONFLICT;
  }
  if (good && !counted) tally->dropped++;
  good = good && (!counted || nst_metrics_compute(&metrics, work, nest, c, NULL));
  nst_metrics_view view = {nest, c, &metrics};
  const nst_eval_env env = {.params = params, .values = nest ? nest->values : NULL, .metric = nst_metrics_lookup, .metric_ctx = &view};
  nst_value v;
  nst_span where;
  for (int i = 0; good && counted && valid && i < a->sweep->nwhere; i++) {
    good = nst_expr_eval(&v, a->sweep->where[i].value, &env, &where) == NST_EVAL_OK;
    valid = good && v.truth;
  }
  for (int i = 0; good && counted && valid && i < a->shape.nmetrics; i++) {
    const nst_expr *e = i < a->sweep->nobjectives ? a->sweep->objectives[i] : a->sweep->pareto[i - a->sweep->nobjectives];
    good = nst_expr_eval(&v, e, &env, &where) == NST_EVAL_OK && v.kind == NST_VALUE_RAT;
    if (good) p.metrics[i] = v.rat;
  }
  for (int k = 0; good && k < a->shape.npoints; k++) {
    good = nst_rat_to_i64(&p.params[k], params[a->sweep->points[k].param].rat);
    p.places[k] = nst_walk_places(walk)[k];
  }
  if (good && counted) tally->evaluated++;
  if (good && counted && valid) {
    tally->valid++;
    nst_sweep_result_offer(into, &p);
    add_line((void *)(uintptr_t)a, lines, &p);
  }
  nst_arena_free(work);
  return good;
}

static answer run_brute(const asked *a) {
  answer out = {.result = nst_sweep_result_new(a->shape)};
  nst_arena *arena = nst_arena_new();
  nst_variants variants;
  bool good = !nst_variants_init(&variants, arena, a->m);
  nst_walk *walk = nst_walk_new(a->space);
  for (uint64_t v = 0; good && v < variants.count; v++) {
    const nst_ir_mapping *m = nst_variant_make(arena, &variants, v);
    nst_nest_maker *maker = nst_ir_verify_mapping(arena, m) ? NULL : nst_nest_maker_new(m);
    for (bool more = nst_walk_seek(walk, 0); more && good; more = nst_walk_next(walk))
      good = offer_simulated(a, m, maker, v, walk, out.result, &out.each);
    if (maker) nst_nest_maker_free(maker);
  }
  nst_walk_free(walk);
  nst_arena_free(arena);
  if (!good) {
    nst_sweep_result_free(out.result);
    out.result = NULL;
  }
  return out;
}

/* ---- comparing ---- */

static int compare_lines(const void *x, const void *y) {
  const char *const *a = x, *const *b = y;
  for (size_t i = 0;; i++) {
    if ((*a)[i] != (*b)[i]) return (unsigned char)(*a)[i] < (unsigned char)(*b)[i] ? -1 : 1;
    if ((*a)[i] == '\n') return 0;
  }
}

static const char **sorted_lines(const nst_buffer *b, size_t *n) {
  *n = 0;
  for (size_t i = 0; i < b->len; i++) *n += b->text[i] == '\n';
  const char **lines = malloc((*n + 1) * sizeof *lines), *at = b->text;
  if (!lines) nst_out_of_memory();
  for (size_t i = 0; i < *n; i++, at = strchr(at, '\n') + 1) lines[i] = at;
  qsort(lines, *n, sizeof *lines, compare_lines);
  return lines;
}

/* The same lines, in whatever order. */
static const char *different_lines(const asked *a, const nst_buffer *x, const nst_buffer *y) {
  size_t n, m, i = 0;
  const char **p = sorted_lines(x, &n), **q = sorted_lines(y, &m), *text = NULL;
  while (i < n && i < m && !compare_lines(&p[i], &q[i])) i++;
  if (n != m || i < n)
    text = nst_arena_printf(a->s->arena, "%zu and %zu points reported; number %zu is\n  %.*s\nand\n  %.*s", n, m, i,
                            i < n ? (int)strcspn(p[i], "\n") : 0, i < n ? p[i] : "", i < m ? (int)strcspn(q[i], "\n") : 0, i < m ? q[i] : "");
  free(p);
  free(q);
  return text;
}

static const char *different_points(const asked *a, const char *what, const nst_sweep_result *x, const nst_sweep_result *y, bool front) {
  size_t n = front ? nst_sweep_result_nfront(x) : nst_sweep_result_nbest(x), m = front ? nst_sweep_result_nfront(y) : nst_sweep_result_nbest(y);
  const char *text = NULL;
  nst_buffer p = {0}, q = {0};
  for (size_t i = 0; i < (n > m ? n : m) && !text; i++) {
    nst_buffer_clear(&p);
    nst_buffer_clear(&q);
    if (i < n) add_line((void *)(uintptr_t)a, &p, front ? nst_sweep_result_front(x, i) : nst_sweep_result_best(x, i));
    if (i < m) add_line((void *)(uintptr_t)a, &q, front ? nst_sweep_result_front(y, i) : nst_sweep_result_best(y, i));
    if (p.len != q.len || memcmp(p.text, q.text, p.len))
      text = nst_arena_printf(a->s->arena, "%s: number %zu of %zu and %zu is\n  %sand\n  %s", what, i, n, m, p.len ? p.text : "nothing\n",
                              q.len ? q.text : "nothing\n");
  }
  nst_buffer_fini(&p);
  nst_buffer_fini(&q);
  return text;
}

typedef enum { ALL_COUNTED, SOME_PRUNED } counting;

/* right: of an engine that neither prunes nor looks for duplicates. */
static const char *difference(const asked *a, const answer *right, const answer *other, counting how, bool each) {
  if (!right->result || !other->result) {
    if (!right->result && !other->result) return NULL;
    return nst_arena_printf(a->s->arena, "only one fails: %s", right->result ? other->error : right->error);
  }
  const nst_sweep_tally *x = nst_sweep_result_tally(right->result), *y = nst_sweep_result_tally(other->result);
  const uint64_t counted = y->evaluated + y->duplicates + y->pruned;
  const bool valid = how == ALL_COUNTED && !y->duplicates ? x->valid == y->valid : x->valid >= y->valid; /* duplicates are not evaluated */
  if (x->dropped != y->dropped || x->evaluated != counted || !valid || (how == ALL_COUNTED && y->pruned))
    return nst_arena_printf(a->s->arena,
                            "evaluated %llu dropped %llu valid %llu and evaluated %llu pruned %llu duplicates %llu dropped %llu valid %llu",
                            (unsigned long long)x->evaluated, (unsigned long long)x->dropped, (unsigned long long)x->valid,
                            (unsigned long long)y->evaluated, (unsigned long long)y->pruned, (unsigned long long)y->duplicates,
                            (unsigned long long)y->dropped, (unsigned long long)y->valid);
  const char *text = different_points(a, "best", right->result, other->result, false);
  if (!text) text = different_points(a, "front", right->result, other->result, true);
  return text || !each ? text : different_lines(a, &right->each, &other->each);
}

static bool same_bytes(const answer *x, const answer *y) {
  nst_buffer a = {0}, b = {0};
  if (x->result) nst_sweep_result_save(x->result, &a);
  if (y->result) nst_sweep_result_save(y->result, &b);
  const bool same = a.len == b.len && (!a.len || !memcmp(a.text, b.text, a.len));
  nst_buffer_fini(&a);
  nst_buffer_fini(&b);
  return same;
}

/* The kernel engine in one of its ways. NULL: as it should be. */
static const char *try_kernel(const asked *a, const answer *right, bool prune, bool each, const char **refused, sweep_outcome *o) {
  const nst_sweep_options options = {.prune = prune, .each = each, .jit = a->jit};
  const char *why = NULL;
  nst_sweep_engine *e = nst_sweep_kernel_new(a->m, a->sweep, a->space, options, a->s->diags, &why);
  if (!e) {
    *refused = why ? why : "";
    return why ? NULL : "refused without a reason";
  }
  answer one = run_threads(a, e, 1, each, prune), three = run_threads(a, e, 3, each, prune), reverse = run_reverse(a, e, each);
  const char *text = difference(a, right, &one, prune ? SOME_PRUNED : ALL_COUNTED, each);
  if (!text && !same_bytes(&one, &three)) text = "three threads give other bytes than one";
  if (!text && prune) text = difference(a, right, &reverse, SOME_PRUNED, each);
  if (!text && !prune && !same_bytes(&one, &reverse)) text = "units in reverse give other bytes";
  if (!text && each && (one.each.len != three.each.len || (one.each.len && memcmp(one.each.text, three.each.text, one.each.len))))
    text = "three threads report other points than one, or in another order";
  if (one.result && prune) o->pruned = nst_sweep_result_tally(one.result)->pruned;
  if (one.result && !each) o->duplicates = nst_sweep_result_tally(one.result)->duplicates;
  if (text)
    text = nst_arena_printf(a->s->arena, "plain and kernel engine (%s, %s): %s", prune ? "prune" : "no prune", each ? "each" : "not each", text);
  answer_fini(&one);
  answer_fini(&three);
  answer_fini(&reverse);
  e->free(e);
  return text;
}

static void check_engines(const asked *a, sweep_outcome *o, uint64_t work) {
  nst_sweep_engine *plain = nst_sweep_plain_new(a->m, a->sweep, a->space, (nst_sweep_options){0}, a->s->diags);
  if (!plain) {
    *o = (sweep_outcome){.verdict = SWEEP_NO_SPACE, .why = "no plain engine"};
    return;
  }
  answer right = run_threads(a, plain, 1, true, false);
  plain->free(plain);
  if (!right.result) {
    o->verdict = SWEEP_NO_SPACE;
    o->why = right.error;
    answer_fini(&right);
    return;
  }
  const char *refused = NULL, *text = NULL;
  o->valid = nst_sweep_result_tally(right.result)->valid;
  o->dropped = nst_sweep_result_tally(right.result)->dropped;
  if (work) {
    answer brute = run_brute(a);
    o->brute = brute.result != NULL;
    text = o->brute ? difference(a, &brute, &right, ALL_COUNTED, true) : NULL;
    if (text) text = nst_arena_printf(a->s->arena, "brute force and plain engine: %s", text);
    answer_fini(&brute);
  }
  for (int way = 0; way < 4 && !text && !refused; way++) text = try_kernel(a, &right, way & 1, way >> 1, &refused, o);
  o->verdict = text ? SWEEP_DIFFERENT : refused ? SWEEP_REFUSED : SWEEP_SAME;
  o->why = text ? text : refused;
  answer_fini(&right);
}

static uint64_t workload_points(const nst_ir_mapping *m, const nst_value *defaults) {
  nst_nest_maker *maker = nst_nest_maker_new(m);
  const nst_nest *nest = nst_nest_make(maker, defaults, NULL);
  uint64_t points = 0;
  for (int s = 0; nest && s < m->workload.nstmts; s++) {
    uint64_t of = 1;
    for (int d = 0; d < m->workload.stmts[s].ndims; d++) of *= (uint64_t)nest->extent[m->workload.stmts[s].dims[d]];
    points += of;
  }
  nst_nest_maker_free(maker);
  return points ? points : 1 << 20;
}

sweep_outcome sweep_check(subject *s, nst_jit *jit, uint64_t most, uint64_t work) {
  sweep_outcome o = {.verdict = SWEEP_ILLEGAL};
  if (!s->m || s->program->nsweeps < 1) return o;
  asked a = {.s = s, .sweep = &s->program->sweeps[0], .jit = jit};
  a.m = s->program->mappings[a.sweep->mapping];
  a.space = nst_space_new(a.m, a.sweep, s->diags);
  nst_variants variants;
  o.verdict = SWEEP_NO_SPACE;
  o.why = "no space";
  if (a.space && !nst_variants_init(&variants, s->arena, a.m) && nst_sweep_shape_make(&a.shape, a.sweep, a.space, s->diags)) {
    o.points = nst_space_count(a.space) * variants.count;
    o.verdict = SWEEP_LARGE;
    if (o.points <= most) check_engines(&a, &o, o.points * workload_points(a.m, nst_space_defaults(a.space)) <= work);
  }
  nst_space_free(a.space);
  return o;
}
