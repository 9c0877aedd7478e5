/* Sweeps of random programs against the simulator at every point: sweep.
 *
 * A random program, of one statement or a cascade, gets costs, capacities,
 * parameters for some of its tiles, and a sweep over some of its parameters: sets that hold zeros and depend on each
 * other, conditions, lexicographic goals, fronts of one to three metrics. Every point of every variant is executed
 * element by element; the best and the front of that list are what the plain engine and the kernel engine, with and
 * without pruning, their units in another order, must give to the last bit, with tallies that add up.
 *
 * NESTOR_PROPERTY_N is the number of programs, NESTOR_PROPERTY_SEED the first
 * seed. */
#include "backend/sweep.h"
#include "engines.h"
#include "generate.h"
#include "ir/set.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MAX = 3000, PARAMS_MAX = 64 };

typedef struct {
  nst_jit *jit;
  long programs, points, valid, by_kernel, dropped, fronts, pruned, large, errors;
} run;

/* ---- writing a sweep ---- */

static const char *line_end(const char *p) { return p + strcspn(p, "\n"); }

/* Costs for every memory, an energy for the compute. */
static void add_costs(nst_buffer *out, const char *text, gen_random *r) {
  bool hardware = false;
  for (const char *p = text; *p;) {
    const char *end = line_end(p);
    const size_t len = (size_t)(end - p);
    hardware = hardware || !strncmp(p, "hardware", 8);
    if (!strncmp(p, "mapping", 7)) hardware = false;
    nst_buffer costs = {0};
    if (hardware && !strncmp(p, "  memory", 8)) {
      nst_buffer_printf(&costs, "energy = %d.%d pJ/B  bandwidth = %d B/cycle ", gen_below(r, 30), gen_below(r, 10),
                        1 + gen_below(r, 9));
      if (gen_chance(r, 60)) nst_buffer_printf(&costs, " capacity = %d B ", 1 + gen_below(r, 400));
      if (gen_chance(r, 20)) nst_buffer_puts(&costs, " overlap = false ");
    } else if (hardware && !strncmp(p, "  compute", 9))
      nst_buffer_puts(&costs, "energy = 0.25 pJ ");
    const char *brace = costs.len ? memchr(p, '{', len) : NULL;
    if (brace) {
      nst_buffer_add(out, p, (size_t)(brace - p) + 1);
      nst_buffer_printf(out, " %s", costs.text);
      nst_buffer_add(out, brace + 1, (size_t)(end - brace) - 1);
    } else {
      nst_buffer_add(out, p, len);
      if (costs.len) nst_buffer_printf(out, " { %s}", costs.text);
    }
    nst_buffer_putc(out, '\n');
    nst_buffer_fini(&costs);
    p = *end ? end + 1 : end;
  }
}

/* Turns some tiles of `for` into parameters u0, u1, …, with the tiles as defaults. */
static void add_params(nst_buffer *out, const char *text, gen_random *r) {
  nst_buffer params = {0}, body = {0};
  const char *mapping = strstr(text, "\nmapping m") + 1, *head = mapping + strlen("mapping m"),
             *of = strstr(head, " of ");
  int n = 0;
  for (const char *p = of; *p;) {
    const char *end = line_end(p), *by = strstr(p, " by ");
    const char *word = p + strspn(p, " ");
    if (n < 4 && !strncmp(word, "for ", 4) && by && by < end && by[4] >= '1' && by[4] <= '9' && gen_chance(r, 60)) {
      char *rest;
      const long tile = strtol(by + 4, &rest, 10);
      nst_buffer_printf(&params, "%su%d = %ld", n ? ", " : "", n, tile);
      nst_buffer_add(&body, p, (size_t)(by + 4 - p));
      nst_buffer_printf(&body, "u%d", n++);
      p = rest;
    }
    nst_buffer_add(&body, p, (size_t)(end - p) + (*end != 0));
    p = *end ? end + 1 : end;
  }
  nst_buffer_add(out, text, (size_t)(head - text));
  if (n && *head == '(') { /* after those there are */
    nst_buffer_add(out, head, (size_t)(of - head) - 1);
    nst_buffer_printf(out, ", %s)", params.text);
  } else if (n)
    nst_buffer_printf(out, "(%s)", params.text);
  else
    nst_buffer_add(out, head, (size_t)(of - head));
  nst_buffer_add(out, body.text, body.len);
  nst_buffer_fini(&params);
  nst_buffer_fini(&body);
}

static void write_set(nst_buffer *out, const subject *s, gen_random *r, const int *bound, int nbound, int most) {
  const char *other = nbound ? s->m->scope.params[bound[gen_below(r, nbound)]].name : NULL;
  switch (gen_below(r, other ? 8 : 6)) {
  case 0:
    nst_buffer_printf(out, "[%d, %d, %d]", gen_below(r, most + 2), gen_below(r, most + 2), 1 + gen_below(r, most));
    return;
  case 1: nst_buffer_printf(out, "1 .. %d", most); return;
  case 2: nst_buffer_printf(out, "%d .. %d step %d", gen_below(r, 3), most + 1, 1 + gen_below(r, 3)); return;
  case 3:
  case 4: nst_buffer_printf(out, "divisors(%d)", 1 + gen_below(r, 12)); return;
  case 5: nst_buffer_printf(out, "pow2(1, %d)", 1 + gen_below(r, 12)); return;
  case 6: nst_buffer_printf(out, "1 .. min(%s, %d)", other, most); return;
  case 7: nst_buffer_printf(out, "divisors(max(%s, 1))", other); return;
  }
}

static void write_metric(nst_buffer *out, const subject *s, gen_random *r) {
  static const char *const plain[] = {"energy", "cycles",      "offchip",         "edp",
                                      "steps",  "utilization", "energy * cycles", "ceil(energy / 7)"};
  const nst_ir_hardware *h = &s->m->hardware;
  int l = gen_below(r, h->nlevels);
  while (h->levels[l].kind != NST_LEVEL_MEMORY) l = gen_below(r, h->nlevels);
  const nst_ir_workload *w = &s->m->workload;
  const char *level = h->levels[l].name, *tensor = w->tensors[gen_below(r, w->ntensors)].name;
  switch (gen_below(r, 8)) {
  case 0: nst_buffer_printf(out, "usage(%s)", level); return;
  case 1: nst_buffer_printf(out, "traffic(%s)", level); return;
  case 2: nst_buffer_printf(out, "reads(%s, %s) + 2 * updates(%s)", level, tensor, level); return;
  case 3: nst_buffer_printf(out, "usage(%s, %s)", level, tensor); return;
  default: nst_buffer_puts(out, plain[gen_below(r, (int)(sizeof plain / sizeof *plain))]); return;
  }
}

static void write_metrics(nst_buffer *out, const subject *s, gen_random *r, const char *word, int n) {
  nst_buffer_printf(out, "  %s ", word);
  for (int i = 0; i < n; i++) {
    if (i) nst_buffer_puts(out, ", ");
    write_metric(out, s, r);
  }
  nst_buffer_putc(out, '\n');
}

/* What an inner memory holds against what the outermost moves: fronts of many points. */
static void write_tradeoff(nst_buffer *out, const subject *s, gen_random *r) {
  const nst_ir_hardware *h = &s->m->hardware;
  int l = 1 + gen_below(r, h->nlevels - 1), tries = 0;
  while (h->levels[l].kind != NST_LEVEL_MEMORY && tries++ < 20) l = 1 + gen_below(r, h->nlevels - 1);
  if (h->levels[l].kind != NST_LEVEL_MEMORY) l = 0;
  nst_buffer_printf(out, "  pareto usage(%s), offchip%s\n", h->levels[l].name, gen_chance(r, 20) ? ", cycles" : "");
}

static void write_sweep(nst_buffer *out, const subject *s, gen_random *r) {
  int bound[PARAMS_MAX], nbound = 0;
  nst_buffer_puts(out, "sweep s of m {\n");
  for (int p = 0; p < s->m->scope.nparams && nbound < 4; p++) {
    if (gen_chance(r, 20)) continue;
    nst_buffer_printf(out, "  %s in ", s->m->scope.params[p].name);
    write_set(out, s, r, bound, nbound, 3 + gen_below(r, 8));
    nst_buffer_putc(out, '\n');
    bound[nbound++] = p;
  }
  if (gen_chance(r, 50)) nst_buffer_puts(out, "  where fits\n");
  if (gen_chance(r, 20) && nbound)
    nst_buffer_printf(out, "  where %s %% 2 == 1 or offchip < 500\n", s->m->scope.params[bound[0]].name);
  const bool goal = gen_chance(r, 80);
  if (goal) write_metrics(out, s, r, gen_chance(r, 75) ? "minimize" : "maximize", 1 + gen_below(r, 2));
  if (gen_chance(r, 50))
    write_tradeoff(out, s, r);
  else if (!goal || gen_chance(r, 60))
    write_metrics(out, s, r, "pareto", gen_chance(r, 60) ? 2 : 1 + gen_below(r, 3));
  else if (gen_chance(r, 10))
    nst_buffer_puts(out, "  pareto ops\n"); /* the same everywhere: the first point stays */
  nst_buffer_printf(out, "  top %d\n}\n", 1 + gen_below(r, 12));
}

/* ---- every point, by the simulator ---- */

typedef struct {
  subject *s;
  const nst_ir_sweep *sweep;
  nst_sweep_shape shape;
  nst_variants variants;
  nst_value *params, *values;
  uint64_t places[PARAMS_MAX];
  bool given[PARAMS_MAX];
  nst_nest_maker *maker;
  nst_counts *counts;
  uint64_t variant, points, dropped, valid;
  nst_sweep_result *found;
  bool legal, error, large; /* legal: with this choice of keep? every tensor is kept somewhere */
} judge;

static nst_eval_status eval(void *context, const nst_expr *e, nst_value *out, nst_span *where) {
  judge *j = context;
  const nst_eval_env env = {.params = j->params, .values = j->values};
  for (int i = 0; i < j->s->m->scope.nvalues; i++)
    if (nst_expr_eval(&j->values[i], j->s->m->scope.values[i].value, &env, where) != NST_EVAL_OK)
      j->values[i] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(1)};
  return nst_expr_eval(out, e, &env, where);
}

static bool has_error(const subject *s, nst_diag_id id) {
  for (size_t i = 0; i < nst_diags_count(s->diags); i++)
    if (nst_diags_get(s->diags, i)->id == id) return true;
  return false;
}

/* The counts of the point at hand; NULL: dropped, or j->error. */
static const nst_nest *count(judge *j) {
  subject *s = j->s;
  nst_diags_clear(s->diags);
  const nst_nest *nest = nst_nest_make(j->maker, j->params, s->diags);
  if (nest && nst_simulate(nest, j->counts, 0, s->diags)) return nest;
  const bool drops =
    has_error(s, NST_D_TILE_SIZE) || has_error(s, NST_D_PAR_FIT) || has_error(s, NST_D_REDUCE_CONFLICT);
  j->large = j->large || has_error(s, NST_D_SIMULATE_LIMIT);
  j->error = j->error || !drops;
  return NULL;
}

static void visit(judge *j) {
  j->points++;
  const nst_nest *nest = j->legal ? count(j) : NULL;
  if (!nest) {
    j->dropped++;
    return;
  }
  nst_metrics metrics;
  nst_sweep_point p = {.variant = j->variant, .places = j->places};
  nst_rat values[NST_SWEEP_MAX_METRICS];
  int64_t params[PARAMS_MAX] = {0};
  if (!nst_metrics_compute(&metrics, j->s->arena, nest, j->counts, NULL)) {
    j->error = true;
    return;
  }
  nst_metrics_view view = {nest, j->counts, &metrics};
  const nst_eval_env env = {
    .params = j->params, .values = nest->values, .metric = nst_metrics_lookup, .metric_ctx = &view};
  nst_value v;
  nst_span where;
  for (int i = 0; i < j->sweep->nwhere; i++) {
    if (nst_expr_eval(&v, j->sweep->where[i].value, &env, &where) != NST_EVAL_OK)
      j->error = true;
    else if (!v.truth)
      return;
  }
  for (int i = 0; i < j->shape.nmetrics; i++) {
    const nst_expr *e =
      i < j->sweep->nobjectives ? j->sweep->objectives[i] : j->sweep->pareto[i - j->sweep->nobjectives];
    if (nst_expr_eval(&v, e, &env, &where) != NST_EVAL_OK || v.kind != NST_VALUE_RAT) {
      j->error = true;
      return;
    }
    values[i] = v.rat;
  }
  for (int k = 0; k < j->sweep->npoints; k++) nst_rat_to_i64(&params[k], j->params[j->sweep->points[k].param].rat);
  p.metrics = values;
  p.params = params;
  nst_sweep_result_offer(j->found, &p);
  j->valid++;
}

static void enumerate(judge *j, int k) {
  if (j->error || j->points > POINTS_MAX) return;
  if (!nst_nest_defaults(j->params, j->given, j->s->m, NULL)) {
    j->error = true;
    return;
  }
  if (k == j->sweep->npoints) {
    visit(j);
    return;
  }
  const nst_ir_point *point = &j->sweep->points[k];
  nst_set set = {0};
  nst_span where;
  if (nst_set_open(&set, &point->set, eval, j, &where)) j->error = true;
  for (uint64_t i = 0; i < set.count && !j->error; i++) {
    j->params[point->param] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_set_get(&set, i)};
    j->places[k] = i;
    enumerate(j, k + 1);
  }
  nst_set_fini(&set);
}

static void judge_all(judge *j) {
  const nst_ir_mapping *m = j->s->m;
  j->params = NST_NEW_ARRAY(j->s->arena, m->scope.nparams, nst_value);
  j->values = NST_NEW_ARRAY(j->s->arena, m->scope.nvalues, nst_value);
  for (int k = 0; k < j->sweep->npoints; k++) {
    j->given[j->sweep->points[k].param] = true;
    j->params[j->sweep->points[k].param] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(1)};
  }
  for (; j->variant < j->variants.count && !j->error; j->variant++) {
    const nst_ir_mapping *variant = nst_variant_make(j->s->arena, &j->variants, j->variant);
    j->legal = !nst_ir_verify_mapping(j->s->arena, variant);
    j->maker = nst_nest_maker_new(variant);
    j->counts = nst_counts_new(j->s->arena, variant);
    enumerate(j, 0);
    nst_nest_maker_free(j->maker);
  }
}

/* ---- comparing ---- */

/* The best and the front, without tallies. */
static bool same_answer(const nst_sweep_result *a, const nst_sweep_result *b, nst_sweep_shape shape) {
  nst_sweep_result *x = nst_sweep_result_new(shape), *y = nst_sweep_result_new(shape);
  nst_buffer p = {0}, q = {0};
  nst_sweep_result_merge(x, a);
  nst_sweep_result_merge(y, b);
  *nst_sweep_result_tally(x) = *nst_sweep_result_tally(y) = (nst_sweep_tally){0};
  nst_sweep_result_save(x, &p);
  nst_sweep_result_save(y, &q);
  const bool same = p.len == q.len && !memcmp(p.text, q.text, p.len);
  nst_buffer_fini(&p);
  nst_buffer_fini(&q);
  nst_sweep_result_free(x);
  nst_sweep_result_free(y);
  return same;
}

/* NULL, or what is wrong. */
static const char *check(run *r, const judge *j, nst_sweep_engine *e, bool pruning, bool backwards) {
  nst_sweep_worker *w = e->worker_new(e);
  nst_sweep_result *found = nst_sweep_result_new(j->shape);
  const char *error = NULL, *wrong = NULL;
  for (uint64_t u = 0; u < e->units && !wrong; u++)
    if (!e->run(w, backwards ? e->units - 1 - u : u, found, NULL, NULL, NULL, &error))
      wrong = "an error where there is none";
  const nst_sweep_tally *t = nst_sweep_result_tally(found);
  if (!wrong && !same_answer(found, j->found, j->shape)) wrong = "another answer";
  if (!wrong && t->evaluated + t->pruned + t->duplicates + t->dropped != j->points)
    wrong = "a tally that does not add up";
  if (!wrong && !pruning && t->pruned) wrong = "pruned points without pruning";
  if (!wrong && !pruning && !t->duplicates && (t->dropped != j->dropped || t->valid != j->valid))
    wrong = "another tally";
  r->pruned += (long)t->pruned;
  nst_sweep_result_free(found);
  e->worker_free(w);
  return wrong;
}

static const char *check_engines(run *r, const judge *j, gen_random *random) {
  const nst_ir_mapping *m = j->s->m;
  nst_space *space = nst_space_new(m, j->sweep, j->s->diags);
  if (!space) return "the space is refused";
  const char *wrong = NULL, *why = NULL;
  if (nst_space_count(space) * j->variants.count != j->points) wrong = "the space has another size";
  nst_sweep_engine *e = wrong ? NULL : nst_sweep_plain_new(m, j->sweep, space, (nst_sweep_options){0}, j->s->diags);
  if (e) {
    wrong = check(r, j, e, false, gen_chance(random, 50));
    e->free(e);
  } else if (!wrong)
    wrong = "no plain engine";
  for (int prune = 0; prune < 2 && !wrong && r->jit && nst_space_is_whole(space); prune++) {
    const nst_sweep_options options = {.prune = prune, .jit = r->jit};
    e = nst_sweep_kernel_new(m, j->sweep, space, options, j->s->diags, &why);
    if (!e) {
      if (!why) wrong = "the kernel engine refuses without a reason";
      break;
    }
    r->by_kernel += !prune;
    wrong = check(r, j, e, prune, gen_chance(random, 50));
    if (wrong) printf("kernel engine%s: ", prune ? ", pruning" : "");
    e->free(e);
  }
  nst_space_free(space);
  return wrong;
}

/* ---- one program ---- */

static bool try_program(run *r, uint64_t seed) {
  gen_random random = {seed};
  nst_buffer text = {0}, costly = {0}, whole = {0};
  subject s;
  if (seed % 3)
    gen_nest(&text, seed);
  else
    gen_cascade(&text, seed);
  add_costs(&costly, text.text, &random);
  add_params(&whole, costly.text, &random);
  subject_init(&s, whole.text);
  bool good = true;
  if (s.m) {
    write_sweep(&whole, &s, &random);
    subject_fini(&s);
    subject_init(&s, whole.text);
    if (!s.program || !s.program->nsweeps)
      printf("seed %llu: the sweep does not compile\n", (unsigned long long)seed), good = false;
  } else
    printf("seed %llu: does not compile\n", (unsigned long long)seed), good = false;
  judge j = {.s = &s};
  if (good) {
    j.sweep = &s.program->sweeps[0];
    nst_space *space = nst_space_new(s.m, j.sweep, s.diags);
    good =
      space && nst_sweep_shape_make(&j.shape, j.sweep, space, s.diags) && !nst_variants_init(&j.variants, s.arena, s.m);
    const bool small = good && nst_space_count(space) < POINTS_MAX && j.variants.count < POINTS_MAX &&
                       nst_space_count(space) * j.variants.count < POINTS_MAX;
    nst_space_free(space);
    if (good && small) {
      j.found = nst_sweep_result_new(j.shape);
      judge_all(&j);
      const char *wrong = j.error ? NULL : check_engines(r, &j, &random);
      if (wrong) printf("seed %llu: %s\n", (unsigned long long)seed, wrong), good = false;
      r->programs += !j.error;
      r->errors += j.error;
      r->points += (long)j.points;
      r->valid += (long)j.valid;
      r->dropped += (long)j.dropped;
      r->fronts += nst_sweep_result_nfront(j.found) > 3;
      nst_sweep_result_free(j.found);
    } else
      r->large += good;
  }
  if (!good) printf("%s\n", whole.text);
  subject_fini(&s);
  nst_buffer_fini(&text);
  nst_buffer_fini(&costly);
  nst_buffer_fini(&whole);
  return good;
}

static long number(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? strtol(text, NULL, 10) : otherwise;
}

int main(void) {
  run r = {0};
  const long usual = 600 * number("NESTOR_TEST_SCALE", 100) / 100,
             n = number("NESTOR_PROPERTY_N", usual > 0 ? usual : 1);
  const uint64_t seed = (uint64_t)number("NESTOR_PROPERTY_SEED", 1);
  int bad = 0;
  if (nst_jit_new(&r.jit, NULL, NULL) != NST_JIT_OK) r.jit = NULL;
  for (long i = 0; i < n && bad < 5; i++) bad += !try_program(&r, seed + (uint64_t)i);
  printf("%ld sweeps, %ld too large, %ld with points that have no answer; %ld points, %ld valid, %ld dropped; %ld with "
         "a front\n",
         r.programs, r.large, r.errors, r.points, r.valid, r.dropped, r.fronts);
  printf("%ld by the kernel engine too, which pruned %ld points%s\n", r.by_kernel, r.pruned,
         r.jit ? "" : ": there is none here");
  nst_jit_free(r.jit);
  return bad != 0;
}
