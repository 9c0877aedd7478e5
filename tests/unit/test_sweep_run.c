/* Runs: the same result for any number of threads, for shards, after a stop and
 * a resume; the first error; rows in order; lists of points and samples. */
#include "test.h"

#include "backend/sweep_list.h"
#include "backend/sweep_run.h"
#include "brute.h"
#include "compiled.h"
#include <stdlib.h>
#include <string.h>

static compiled c;
static const nst_ir_mapping *m;
static const nst_ir_sweep *s;
static nst_space *space;
static nst_sweep_shape shape;
static nst_sweep_engine *engine;

static const char program[] =
  "workload gemm(M = 24, N = 18, K = 10) {\n  dim m = M, n = N, k = K\n  tensor A, B : int8, C : int32\n"
  "  C[m, n] += A[m, k] * B[k, n]\n}\n"
  "hardware hw { memory DRAM { energy = 7 pJ/B } memory L2 { capacity = 300 B  energy = 1 pJ/B } compute MAC }\n"
  "mapping x(tm = 4, tn = 4, tk = 2) of gemm on hw {\n"
  "  permute { for m by tm for n by tn for k by tk } keep? A in L2 keep B, C in L2 }\n"
  "sweep s of x { tm in 0 .. 24 tn in 1 .. 18 tk in [1, 3, 10] where fits minimize energy pareto usage(L2), offchip "
  "top 20 }\n";

static int setup(void **state) {
  (void)state;
  compile_text(&c, "run.nest", program, sizeof program - 1);
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  s = &c.program->sweeps[0];
  m = c.program->mappings[s->mapping];
  space = nst_space_new(m, s, c.diags);
  assert_true(nst_sweep_shape_make(&shape, s, space, c.diags));
  engine = nst_sweep_plain_new(m, s, space, (nst_sweep_options){0}, c.diags);
  assert_non_null(engine);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  engine->free(engine);
  nst_space_free(space);
  compiled_fini(&c);
  return 0;
}

static nst_buffer bytes_of(const nst_sweep_result *r) {
  nst_buffer b = {0};
  nst_sweep_result_save(r, &b);
  return b;
}

static void assert_same(const nst_sweep_result *a, const nst_sweep_result *b) {
  nst_buffer x = bytes_of(a), y = bytes_of(b);
  assert_int_equal(x.len, y.len);
  assert_memory_equal(x.text, y.text, x.len);
  nst_buffer_fini(&x);
  nst_buffer_fini(&y);
}

static nst_sweep_run *run(nst_sweep_job job, nst_sweep_run_options options) {
  nst_sweep_run *r = nst_sweep_run_new(engine, shape, job, options);
  const char *error;
  assert_true(nst_sweep_run_all(r, &error));
  assert_null(error);
  return r;
}

static void threads_change_nothing(void **state) {
  (void)state;
  brute b;
  brute_new(&b, m, s, 20, true);
  assert_true(engine->units > 5);
  for (int threads = 1; threads <= 5; threads++) {
    nst_sweep_run *r = run(nst_sweep_job_make(engine, 0, 0, 0), (nst_sweep_run_options){.threads = threads});
    assert_true(nst_sweep_run_complete(r));
    brute_check(&b, nst_sweep_run_found(r), true);
    nst_sweep_run_free(r);
  }
  brute_free(&b);
}

static void shards_make_a_whole(void **state) {
  (void)state;
  nst_sweep_run *all = run(nst_sweep_job_make(engine, 0, 0, 0), (nst_sweep_run_options){.threads = 2});
  for (uint64_t n = 2; n <= engine->units + 3; n += 3) {
    nst_sweep_result *sum = nst_sweep_result_new(shape);
    uint64_t units = 0;
    for (uint64_t i = n; i-- > 0;) {
      const nst_sweep_job job = nst_sweep_job_make(engine, 0, i, n);
      nst_sweep_run *part = run(job, (nst_sweep_run_options){.threads = 1 + (int)(i % 2)});
      assert_true(nst_sweep_run_complete(part));
      units += job.count;
      nst_sweep_result_merge(sum, nst_sweep_run_found(part));
      nst_sweep_run_free(part);
    }
    assert_int_equal(units, engine->units);
    assert_same(sum, nst_sweep_run_found(all));
    nst_sweep_result_free(sum);
  }
  nst_sweep_run_free(all);
}

typedef struct {
  atomic_bool stop;
  nst_unit_set done;
  nst_sweep_result *found;
  int saves, after;
} saver;

static void keep(void *context, const nst_unit_set *done, nst_sweep_result *found) {
  saver *k = context;
  nst_unit_set_fini(&k->done);
  nst_unit_set_merge(&k->done, done);
  nst_sweep_result_free(k->found);
  k->found = nst_sweep_result_new(shape);
  nst_sweep_result_merge(k->found, found);
  if (++k->saves == k->after) k->stop = true;
}

static void a_stopped_run_goes_on_to_the_same_end(void **state) {
  (void)state;
  nst_sweep_run *all = run(nst_sweep_job_make(engine, 0, 0, 0), (nst_sweep_run_options){.threads = 1});
  saver k = {.after = 1};
  int rounds = 0;
  for (; !k.done.n || nst_unit_set_count(&k.done) < engine->units; rounds++) {
    k.stop = false;
    k.saves = 0;
    nst_unit_set done = {0};
    nst_unit_set_merge(&done, &k.done);
    nst_sweep_result *found = k.found;
    k.found = NULL;
    nst_sweep_run *r =
      run(nst_sweep_job_make(engine, 0, 0, 0),
          (nst_sweep_run_options){
            .threads = 2, .stop = &k.stop, .done = &done, .found = found, .context = &k, .save = keep, .save_ms = 1});
    nst_sweep_run_free(r);
    nst_sweep_result_free(found);
    nst_unit_set_fini(&done);
    assert_true(rounds < 10000);
  }
  assert_same(k.found, nst_sweep_run_found(all));
  nst_unit_set_fini(&k.done);
  nst_sweep_result_free(k.found);
  nst_sweep_run_free(all);
}

/* ---- an engine whose units are their numbers ---- */

static const uint64_t never = UINT64_MAX;
static uint64_t fails_from;

static nst_sweep_worker *fake_worker(const nst_sweep_engine *e) { return (nst_sweep_worker *)(void *)(uintptr_t)e; }
static void fake_worker_free(nst_sweep_worker *w) { (void)w; }
static bool fake_run(nst_sweep_worker *w, uint64_t unit, nst_sweep_result *into, const atomic_bool *stop,
                     nst_sweep_each *each, void *context, const char **error) {
  (void)w;
  (void)stop;
  static const char *const texts[] = {"zero", "one", "two", "three", "four", "five", "six"};
  if (unit >= fails_from && unit % 3 == fails_from % 3) return *error = texts[unit % 7], false;
  nst_rat metrics[3] = {nst_rat_int((int64_t)(unit * 37 % 101)), nst_rat_int((int64_t)unit),
                        nst_rat_int(-(int64_t)unit)};
  int64_t params[3] = {(int64_t)unit, 0, 0};
  uint64_t places[3] = {unit, 0, 0};
  const nst_sweep_point p = {.params = params, .places = places, .metrics = metrics};
  nst_sweep_result_offer(into, &p);
  nst_sweep_result_tally(into)->evaluated++;
  for (uint64_t i = 0; each && i < unit % 4; i++) each(context, &p);
  return true;
}

static const nst_sweep_engine fake = {.name = "fake",
                                      .units = 3000,
                                      .space = 3000,
                                      .worker_new = fake_worker,
                                      .worker_free = fake_worker_free,
                                      .run = fake_run};

/* Of each unit 100 points are looked at in turn, and what is no better than the best so far is pruned. */
static bool pruning_run(nst_sweep_worker *w, uint64_t unit, nst_sweep_result *into, const atomic_bool *stop,
                        nst_sweep_each *each, void *context, const char **error) {
  (void)w;
  (void)stop;
  (void)each;
  (void)context;
  (void)error;
  for (uint64_t i = 0; i < 100; i++) {
    const int64_t value = (int64_t)((unit * 7919 + i * 104729) % 100003);
    const nst_sweep_point *worst = nst_sweep_result_worst(into);
    if (worst && nst_rat_cmp(nst_rat_int(value), worst->metrics[0]) > 0) {
      nst_sweep_result_tally(into)->pruned++;
      continue;
    }
    nst_rat metrics[3] = {nst_rat_int(value), nst_rat_int(0), nst_rat_int(0)};
    int64_t params[3] = {0};
    uint64_t places[3] = {unit, i, 0};
    const nst_sweep_point p = {.params = params, .places = places, .metrics = metrics};
    nst_sweep_result_offer(into, &p);
    nst_sweep_result_tally(into)->evaluated++;
  }
  return true;
}

static void pruning_counts_the_same_everywhere(void **state) {
  (void)state;
  static const nst_sweep_engine pruning = {.name = "pruning",
                                           .units = 3000,
                                           .space = 300000,
                                           .worker_new = fake_worker,
                                           .worker_free = fake_worker_free,
                                           .run = pruning_run};
  const char *error;
  nst_sweep_run *all = nst_sweep_run_new(&pruning, shape, nst_sweep_job_make(&pruning, 0, 0, 0),
                                         (nst_sweep_run_options){.threads = 1, .isolate = true});
  assert_true(nst_sweep_run_all(all, &error));
  const nst_sweep_tally *t = nst_sweep_result_tally(nst_sweep_run_found(all));
  assert_int_equal(t->evaluated + t->pruned, 300000);
  assert_true(t->pruned > 200000);
  for (int threads = 2; threads <= 4; threads++) {
    nst_sweep_run *r = nst_sweep_run_new(&pruning, shape, nst_sweep_job_make(&pruning, 0, 0, 0),
                                         (nst_sweep_run_options){.threads = threads, .isolate = true});
    assert_true(nst_sweep_run_all(r, &error));
    assert_same(nst_sweep_run_found(r), nst_sweep_run_found(all));
    nst_sweep_run_free(r);
    nst_sweep_result *sum = nst_sweep_result_new(shape);
    for (uint64_t i = 0; i < (uint64_t)threads; i++) {
      r = nst_sweep_run_new(&pruning, shape, nst_sweep_job_make(&pruning, 0, i, (uint64_t)threads),
                            (nst_sweep_run_options){.threads = 2, .isolate = true});
      assert_true(nst_sweep_run_all(r, &error));
      nst_sweep_result_merge(sum, nst_sweep_run_found(r));
      nst_sweep_run_free(r);
    }
    assert_same(sum, nst_sweep_run_found(all));
    nst_sweep_result_free(sum);
  }
  nst_sweep_run_free(all);
}

static void the_first_error_is_told(void **state) {
  (void)state;
  for (int threads = 1; threads <= 4; threads++) {
    fails_from = 1234;
    nst_sweep_run *r =
      nst_sweep_run_new(&fake, shape, nst_sweep_job_make(&fake, 0, 0, 0), (nst_sweep_run_options){.threads = threads});
    const char *error = NULL;
    assert_false(nst_sweep_run_all(r, &error));
    assert_string_equal(error, "two"); /* 1234 % 7 */
    assert_false(nst_sweep_run_complete(r));
    nst_sweep_run_free(r);
  }
  fails_from = never;
}

typedef struct {
  nst_buffer text;
  size_t fails_after;
} sink;

static void format(void *context, nst_buffer *out, const nst_sweep_point *p) {
  (void)context;
  nst_buffer_printf(out, "%lld\n", (long long)p->params[0]);
}

static bool write_to(void *context, const char *bytes, size_t len) {
  sink *k = context;
  nst_buffer_add(&k->text, bytes, len);
  return !k->fails_after || k->text.len < k->fails_after;
}

static void rows_come_in_order(void **state) {
  (void)state;
  fails_from = never;
  nst_buffer expected = {0};
  for (uint64_t u = 0; u < fake.units; u++)
    for (uint64_t i = 0; i < u % 4; i++) nst_buffer_printf(&expected, "%llu\n", (unsigned long long)u);
  for (int threads = 1; threads <= 4; threads++) {
    sink k = {{0}, 0};
    nst_sweep_run *r = nst_sweep_run_new(
      &fake, shape, nst_sweep_job_make(&fake, 0, 0, 0),
      (nst_sweep_run_options){.threads = threads, .context = &k, .format = format, .write = write_to});
    const char *error;
    assert_true(nst_sweep_run_all(r, &error));
    assert_string_equal(k.text.text, expected.text);
    nst_buffer_fini(&k.text);
    nst_sweep_run_free(r);
    k = (sink){{0}, 100};
    r = nst_sweep_run_new(
      &fake, shape, nst_sweep_job_make(&fake, 0, 0, 0),
      (nst_sweep_run_options){.threads = threads, .context = &k, .format = format, .write = write_to});
    assert_false(nst_sweep_run_all(r, &error));
    assert_null(error);
    nst_buffer_fini(&k.text);
    nst_sweep_run_free(r);
  }
  nst_buffer_fini(&expected);
}

/* A source that gives the units of a pool in pieces, with pauses, and takes what others would have done. */
typedef struct {
  uint64_t next, count;
  int calls;
  nst_sweep_run **run;
  uint64_t sent;
  nst_sweep_result *elsewhere;
} pool;

static nst_work pool_take(void *context, uint64_t want, nst_unit_range *out) {
  pool *p = context;
  if (p->calls++ % 3 == 1) return NST_WORK_WAIT;
  if (p->next >= p->count) return NST_WORK_NONE;
  *out = (nst_unit_range){p->next, p->next + want < p->count ? p->next + want : p->count};
  p->next = out->end;
  return NST_WORK_SOME;
}

static void pool_poll(void *context, bool stopped) {
  pool *p = context;
  (void)stopped;
  nst_unit_set done = {0};
  nst_sweep_result *r = nst_sweep_run_release(*p->run, &done);
  if (!r) return;
  nst_sweep_result_merge(p->elsewhere, r);
  p->sent += nst_unit_set_count(&done);
  nst_sweep_result_free(r);
  nst_unit_set_fini(&done);
}

static bool pool_finished(void *context) {
  pool *p = context;
  return p->next >= p->count;
}

static void work_may_come_from_elsewhere(void **state) {
  (void)state;
  fails_from = never;
  nst_sweep_run *all =
    nst_sweep_run_new(&fake, shape, nst_sweep_job_make(&fake, 0, 0, 0), (nst_sweep_run_options){.threads = 1});
  const char *error;
  assert_true(nst_sweep_run_all(all, &error));
  nst_sweep_run *r;
  pool p = {.count = fake.units, .run = &r, .elsewhere = nst_sweep_result_new(shape)};
  nst_sweep_source source = {&p, pool_take, pool_poll, pool_finished};
  r = nst_sweep_run_new(&fake, shape, nst_sweep_job_make(&fake, 0, 0, 0),
                        (nst_sweep_run_options){.threads = 3, .source = &source});
  assert_true(nst_sweep_run_all(r, &error));
  pool_poll(&p, false);
  assert_int_equal(p.sent, fake.units);
  assert_same(p.elsewhere, nst_sweep_run_found(all));
  nst_unit_set done = {0};
  nst_unit_set_add(&done, 0, fake.units);
  nst_sweep_run_absorb(r, &done, p.elsewhere);
  assert_true(nst_sweep_run_complete(r));
  assert_same(nst_sweep_run_found(r), nst_sweep_run_found(all));
  nst_unit_set_fini(&done);
  nst_sweep_result_free(p.elsewhere);
  nst_sweep_run_free(r);
  nst_sweep_run_free(all);
}

/* ---- sets of units ---- */

static void units_are_sets(void **state) {
  (void)state;
  nst_unit_set a = {0};
  bool in[200] = {false};
  for (int i = 0; i < 120; i++) {
    const uint64_t begin = (uint64_t)(i * 61 % 190), end = begin + (uint64_t)(i % 5);
    nst_unit_set_add(&a, begin, end);
    for (uint64_t k = begin; k < end; k++) in[k] = true;
    uint64_t n = 0, at = 0;
    for (uint64_t k = 0; k < 200; k++) n += in[k];
    assert_int_equal(nst_unit_set_count(&a), n);
    for (size_t r = 0; r < a.n; r++) {
      assert_true(r == 0 || a.items[r].begin > at);
      for (uint64_t k = at; k < a.items[r].begin; k++) assert_false(in[k]);
      for (uint64_t k = a.items[r].begin; k < a.items[r].end; k++) assert_true(in[k]);
      at = a.items[r].end;
    }
    nst_unit_set rest = {0}, both = {0};
    nst_unit_set_rest(&rest, &a, 200);
    assert_int_equal(nst_unit_set_count(&rest), 200 - n);
    assert_false(nst_unit_set_meet(&a, &rest));
    nst_unit_set_merge(&both, &a);
    nst_unit_set_merge(&both, &rest);
    assert_int_equal(both.n, 1);
    nst_unit_set_add(&rest, at - (at > 0), at);
    assert_true(at == 0 || nst_unit_set_meet(&a, &rest));
    nst_unit_set_fini(&rest);
    nst_unit_set_fini(&both);
  }
  nst_unit_set_fini(&a);
}

/* ---- lists ---- */

typedef struct {
  uint64_t n;
  bool *seen;
} listed;

static void mark(void *context, const nst_sweep_point *p) {
  listed *l = context;
  const uint64_t at = ((p->places[0] * 18 + p->places[1]) * 3 + p->places[2]) * 12 + p->variant;
  assert_false(l->seen[at]);
  l->seen[at] = true;
  l->n++;
}

static uint64_t list_points(nst_sweep_engine *e, listed *l, nst_sweep_result *r) {
  assert_non_null(e);
  nst_sweep_worker *w = e->worker_new(e);
  const char *error = NULL;
  for (uint64_t u = e->units; u-- > 0;) assert_true(e->run(w, u, r, NULL, mark, l, &error));
  e->worker_free(w);
  const nst_sweep_tally *t = nst_sweep_result_tally(r);
  const uint64_t n = t->evaluated + t->dropped;
  assert_int_equal(n, e->space);
  e->free(e);
  return n;
}

static void the_first_points_are_the_first(void **state) {
  (void)state;
  brute b;
  brute_new(&b, m, s, 20, true);
  static const uint64_t sizes[] = {1, 5, 12, 13, 700, 2000, 25 * 18 * 3 * 12, 1 << 30};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const uint64_t n = sizes[i] < b.n ? sizes[i] : b.n;
    nst_sweep_result *r = nst_sweep_result_new(shape);
    listed l = {0, calloc(b.n, 1)};
    assert_int_equal(list_points(nst_sweep_first_new(m, s, space, sizes[i], c.diags), &l, r), n);
    uint64_t valid = 0;
    for (size_t k = 0; k < b.n; k++) {
      assert_int_equal(l.seen[k], k < n && b.points[k].kind == BRUTE_VALID);
      valid += l.seen[k];
    }
    assert_int_equal(valid, nst_sweep_result_tally(r)->valid);
    if (n == b.n) brute_check(&b, r, true);
    free(l.seen);
    nst_sweep_result_free(r);
  }
  brute_free(&b);
}

static void samples_are_random_and_repeatable(void **state) {
  (void)state;
  const uint64_t all = 25 * 18 * 3 * 12;
  uint64_t halves[2] = {0, 0};
  for (uint64_t seed = 1; seed <= 4; seed++) {
    listed l[2] = {{0, calloc(all, 1)}, {0, calloc(all, 1)}};
    nst_sweep_result *r[2] = {nst_sweep_result_new(shape), nst_sweep_result_new(shape)};
    for (int k = 0; k < 2; k++)
      assert_int_equal(list_points(nst_sweep_sample_new(m, s, space, 4000, seed, c.diags), &l[k], r[k]), 4000);
    assert_memory_equal(l[0].seen, l[1].seen, all);
    assert_same(r[0], r[1]);
    for (uint64_t i = 0; i < all; i++) halves[i / (all / 2)] += l[0].seen[i];
    for (int k = 0; k < 2; k++) {
      free(l[k].seen);
      nst_sweep_result_free(r[k]);
    }
  }
  assert_true(halves[0] > 0 && halves[1] > 0);
  brute b; /* as many as there are: all of them */
  brute_new(&b, m, s, 20, true);
  listed l = {0, calloc(all, 1)};
  nst_sweep_result *r = nst_sweep_result_new(shape);
  assert_int_equal(list_points(nst_sweep_sample_new(m, s, space, all + 5, 3, c.diags), &l, r), all);
  brute_check(&b, r, true);
  free(l.seen);
  nst_sweep_result_free(r);
  brute_free(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(threads_change_nothing),
    cmocka_unit_test(shards_make_a_whole),
    cmocka_unit_test(a_stopped_run_goes_on_to_the_same_end),
    cmocka_unit_test(pruning_counts_the_same_everywhere),
    cmocka_unit_test(the_first_error_is_told),
    cmocka_unit_test(rows_come_in_order),
    cmocka_unit_test(work_may_come_from_elsewhere),
    cmocka_unit_test(units_are_sets),
    cmocka_unit_test(the_first_points_are_the_first),
    cmocka_unit_test(samples_are_random_and_repeatable),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
