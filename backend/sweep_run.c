/* See sweep_run.h. Workers take units, in order, and collect what they find in
 * results of their own; now and then each adds its own to the common one together
 * with the units it stands for. So the common result is at any time what exactly
 * the units of the common set gave, and can be saved as it is.
 *
 * A worker's own best and front stay with it after they have been added, as a
 * filter for what comes; only its tally starts again. The calling thread does no
 * unit: it reports, saves, and talks to the source of work.
 *
 * Where an engine prunes by what has been found, what it counts would depend on
 * which units came before, so on threads, shards and restarts. Then a few units,
 * spread over all there are, are done first and only for what they find; every
 * unit starts from that, whoever does it, and from nothing else. (The few are
 * done again in their turn: at most one unit in 64 is done twice.)
 *
 * Locks: `lock` guards everything shared; `output` is held while text is written
 * (and taken first), so that a slow disk holds up only those that write. */
#include "backend/sweep_run.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SEEDS = 16, UNITS_PER_SEED = 64, FLUSH_MS = 100, POLL_MS = 2, WAKE_MS = 50, PENDING_MAX = 64 << 20 };
#define NO_UNIT UINT64_MAX

typedef struct text text; /* the points of a unit that waits for its turn */
struct text {
  uint64_t unit;
  nst_buffer bytes;
  text *next;
};

typedef struct {
  nst_sweep_run *run;
  pthread_t thread;
  nst_sweep_worker *worker;
  nst_sweep_result *own;
  nst_sweep_result *unit; /* of the unit at hand, where units are isolated */
  nst_unit_set done;      /* not added yet */
  double flushed;
  uint64_t in_flight;
} hand;

struct nst_sweep_run {
  const nst_sweep_engine *engine;
  nst_sweep_shape shape;
  nst_sweep_job job;
  nst_sweep_run_options options;
  hand *hands;
  int nhands, working;
  pthread_mutex_t lock, output;
  pthread_cond_t work, room, news;   /* there are units; texts were written; something happened */
  nst_unit_set todo, done, all_done; /* all_done: with what was released */
  nst_sweep_result *found;
  nst_sweep_result *base; /* where units are isolated: what each starts from */
  nst_work coming;        /* whether the source has more */
  bool changed;           /* since the last save */
  uint64_t failed;
  char *error; /* the lowest unit that fails */
  bool broken; /* a write failed */
  text *texts;
  size_t pending;
  double begun, progressed, saved;
  double points_before; /* done by earlier runs */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int processors(void) {
  cpu_set_t set;
  const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return n < 1 ? 1 : n;
}

nst_sweep_run *nst_sweep_run_new(const nst_sweep_engine *e, nst_sweep_shape shape, nst_sweep_job job,
                                 nst_sweep_run_options options) {
  nst_sweep_run *r = calloc(1, sizeof *r);
  if (!r) nst_out_of_memory();
  r->engine = e;
  r->shape = shape;
  r->job = job;
  r->options = options;
  r->failed = NO_UNIT;
  r->found = nst_sweep_result_new(shape);
  if (options.found) nst_sweep_result_merge(r->found, options.found);
  const nst_sweep_tally *t = nst_sweep_result_tally(r->found);
  r->points_before = (double)(t->evaluated + t->pruned + t->duplicates + t->dropped);
  if (options.done) {
    nst_unit_set_merge(&r->done, options.done);
    nst_unit_set_merge(&r->all_done, options.done);
  }
  r->coming = options.source ? NST_WORK_WAIT : NST_WORK_NONE;
  if (!options.source) nst_unit_set_rest(&r->todo, &r->done, job.count);
  r->nhands = options.threads > 0 ? options.threads : processors();
  if (!options.source && (uint64_t)r->nhands > nst_unit_set_count(&r->todo))
    r->nhands = (int)nst_unit_set_count(&r->todo);
  pthread_mutex_init(&r->lock, NULL);
  pthread_mutex_init(&r->output, NULL);
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&r->news, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_cond_init(&r->work, NULL);
  pthread_cond_init(&r->room, NULL);
  return r;
}

static void drop_texts(nst_sweep_run *r) {
  while (r->texts) {
    text *next = r->texts->next;
    nst_buffer_fini(&r->texts->bytes);
    free(r->texts);
    r->texts = next;
  }
}

void nst_sweep_run_free(nst_sweep_run *r) {
  if (!r) return;
  drop_texts(r);
  pthread_cond_destroy(&r->work);
  pthread_cond_destroy(&r->room);
  pthread_cond_destroy(&r->news);
  pthread_mutex_destroy(&r->lock);
  pthread_mutex_destroy(&r->output);
  nst_unit_set_fini(&r->todo);
  nst_unit_set_fini(&r->done);
  nst_unit_set_fini(&r->all_done);
  nst_sweep_result_free(r->found);
  nst_sweep_result_free(r->base);
  free(r->error);
  free(r);
}

/* ---- workers ---- */

static bool stopped(const nst_sweep_run *r) {
  return r->options.stop && atomic_load_explicit(r->options.stop, memory_order_relaxed);
}

/* Nothing more is begun, but for units before one that fails: the first failure is to be told. */
static bool over(const nst_sweep_run *r) { return stopped(r) || r->failed != NO_UNIT || r->broken; }

/* The next unit; false: there is none. Waits for the source, and for texts to be written. */
static bool take(nst_sweep_run *r, hand *h) {
  for (;;) {
    if (over(r) && (stopped(r) || r->broken || !r->todo.n || r->todo.items[0].begin >= r->failed)) return false;
    bool others = false;
    for (int i = 0; i < r->nhands; i++) others = others || r->hands[i].in_flight != NO_UNIT;
    if (r->pending > PENDING_MAX && others)
      pthread_cond_wait(&r->room, &r->lock);
    else if (r->todo.n)
      break;
    else if (r->coming == NST_WORK_NONE)
      return false;
    else
      pthread_cond_wait(&r->work, &r->lock);
  }
  nst_unit_range *first = &r->todo.items[0];
  h->in_flight = first->begin++;
  if (first->begin == first->end) {
    r->todo.n--;
    memmove(first, first + 1, r->todo.n * sizeof *first);
  }
  return true;
}

static void flush(nst_sweep_run *r, hand *h) {
  h->flushed = now();
  if (!h->done.n) return;
  pthread_mutex_lock(&r->lock);
  nst_sweep_result_merge(r->found, h->own);
  nst_unit_set_merge(&r->done, &h->done);
  nst_unit_set_merge(&r->all_done, &h->done);
  r->changed = true;
  pthread_mutex_unlock(&r->lock);
  *nst_sweep_result_tally(h->own) = (nst_sweep_tally){0};
  h->done.n = 0;
}

/* Keeps the text of a unit until its turn. */
static void push_text(nst_sweep_run *r, uint64_t unit, nst_buffer *bytes) {
  text *t = malloc(sizeof *t), **at = &r->texts;
  if (!t) nst_out_of_memory();
  while (*at && (*at)->unit < unit) at = &(*at)->next;
  *t = (text){unit, *bytes, *at};
  *at = t;
  *bytes = (nst_buffer){0};
  r->pending += t->bytes.len;
}

/* The first text, if no unit before it is still being done. */
static text *pop_text(nst_sweep_run *r) {
  text *t = r->texts;
  for (int i = 0; t && i < r->nhands; i++)
    if (r->hands[i].in_flight < t->unit) return NULL;
  if (t) r->texts = t->next;
  return t;
}

static void write_texts(nst_sweep_run *r) {
  pthread_mutex_lock(&r->output);
  for (;;) {
    pthread_mutex_lock(&r->lock);
    text *t = pop_text(r);
    const bool broken = r->broken;
    pthread_mutex_unlock(&r->lock);
    if (!t) break;
    const bool good = broken || !t->bytes.len || r->options.write(r->options.context, t->bytes.text, t->bytes.len);
    pthread_mutex_lock(&r->lock);
    r->broken = r->broken || !good;
    r->pending -= t->bytes.len;
    pthread_cond_broadcast(&r->room);
    pthread_mutex_unlock(&r->lock);
    nst_buffer_fini(&t->bytes);
    free(t);
  }
  pthread_mutex_unlock(&r->output);
}

typedef struct {
  const nst_sweep_run *run;
  nst_buffer bytes;
} writer;

static void format_point(void *context, const nst_sweep_point *p) {
  writer *w = context;
  w->run->options.format(w->run->options.context, &w->bytes, p);
}

static void fail(nst_sweep_run *r, uint64_t unit, const char *error) {
  if (unit >= r->failed) return;
  free(r->error);
  r->error = strdup(error);
  if (!r->error) nst_out_of_memory();
  r->failed = unit;
}

static bool do_unit(nst_sweep_run *r, hand *h, uint64_t unit, writer *w, const char **error) {
  nst_sweep_result *into = h->own;
  if (r->base) {
    into = h->unit;
    nst_sweep_result_clear(into);
    nst_sweep_result_merge(into, r->base);
  }
  const bool good = r->engine->run(h->worker, r->job.first + unit * r->job.stride, into, r->options.stop,
                                   r->options.format ? format_point : NULL, w, error);
  if (good && r->base) nst_sweep_result_merge(h->own, into);
  return good;
}

static void *work(void *context) {
  hand *h = context;
  nst_sweep_run *r = h->run;
  writer w = {.run = r};
  h->worker = r->engine->worker_new(r->engine);
  h->own = nst_sweep_result_new(r->shape);
  h->unit = nst_sweep_result_new(r->shape);
  h->flushed = now();
  pthread_mutex_lock(&r->lock);
  while (take(r, h)) {
    pthread_mutex_unlock(&r->lock);
    const char *error = NULL;
    const uint64_t unit = h->in_flight;
    const bool good = do_unit(r, h, unit, &w, &error);
    if (good) nst_unit_set_add(&h->done, unit, unit + 1);
    pthread_mutex_lock(&r->lock);
    if (good && r->options.format) push_text(r, unit, &w.bytes);
    h->in_flight = NO_UNIT;
    if (!good && error) fail(r, unit, error);
    pthread_mutex_unlock(&r->lock);
    nst_buffer_clear(&w.bytes);
    if (r->options.format) write_texts(r);
    if (now() - h->flushed > 1e-3 * (double)FLUSH_MS) flush(r, h);
    pthread_mutex_lock(&r->lock);
    if (!good) break;
  }
  pthread_mutex_unlock(&r->lock);
  flush(r, h);
  r->engine->worker_free(h->worker);
  nst_sweep_result_free(h->own);
  nst_sweep_result_free(h->unit);
  nst_unit_set_fini(&h->done);
  nst_buffer_fini(&w.bytes);
  pthread_mutex_lock(&r->lock);
  r->working--;
  pthread_cond_signal(&r->news);
  pthread_cond_broadcast(&r->room);
  pthread_mutex_unlock(&r->lock);
  return NULL;
}

/* ---- the thread that runs the job ---- */

static void report(nst_sweep_run *r, bool last) {
  if (!r->options.progress) return;
  nst_sweep_shape one = r->shape;
  one.top = 1;
  nst_sweep_result *best = nst_sweep_result_new(one);
  pthread_mutex_lock(&r->lock);
  if (nst_sweep_result_nbest(r->found)) nst_sweep_result_offer(best, nst_sweep_result_best(r->found, 0));
  const nst_sweep_progress p = {.seconds = now() - r->begun,
                                .units_done = nst_unit_set_count(&r->all_done),
                                .units = r->job.count,
                                .tally = *nst_sweep_result_tally(r->found),
                                .points = r->job.points,
                                .points_before = r->points_before,
                                .best = nst_sweep_result_nbest(best) ? nst_sweep_result_best(best, 0) : NULL,
                                .last = last};
  pthread_mutex_unlock(&r->lock);
  r->options.progress(r->options.context, &p);
  nst_sweep_result_free(best);
  r->progressed = now();
}

static void save(nst_sweep_run *r) {
  if (!r->options.save) return;
  nst_sweep_result *copy = nst_sweep_result_new(r->shape);
  nst_unit_set done = {0};
  pthread_mutex_lock(&r->lock);
  nst_sweep_result_merge(copy, r->found);
  nst_unit_set_merge(&done, &r->done);
  r->changed = false;
  pthread_mutex_unlock(&r->lock);
  r->options.save(r->options.context, &done, copy);
  nst_sweep_result_free(copy);
  nst_unit_set_fini(&done);
  r->saved = now();
}

static void ask_source(nst_sweep_run *r) {
  nst_sweep_source *source = r->options.source;
  source->poll(source->context, over(r));
  for (;;) {
    pthread_mutex_lock(&r->lock);
    const uint64_t left = nst_unit_set_count(&r->todo);
    const bool want = r->coming != NST_WORK_NONE && left < (uint64_t)r->nhands && !over(r);
    pthread_mutex_unlock(&r->lock);
    if (!want) return;
    nst_unit_range range = {0, 0};
    const nst_work got = source->take(source->context, (uint64_t)r->nhands, &range);
    pthread_mutex_lock(&r->lock);
    if (got == NST_WORK_SOME)
      nst_unit_set_add(&r->todo, range.begin, range.end);
    else
      r->coming = got;
    pthread_cond_broadcast(&r->work);
    pthread_mutex_unlock(&r->lock);
    if (got != NST_WORK_SOME) return;
  }
}

/* Waits for news, at most so long. */
static void wait_ms(nst_sweep_run *r, int ms) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += (long)ms * 1000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_cond_timedwait(&r->news, &r->lock, &until);
}

static bool due(double last, int ms) { return now() - last >= 1e-3 * ms; }

static void attend(nst_sweep_run *r) {
  nst_sweep_source *source = r->options.source;
  pthread_mutex_lock(&r->lock);
  while (r->working > 0 || (source && !source->finished(source->context))) {
    if (r->working > 0 || source) wait_ms(r, source ? POLL_MS : WAKE_MS);
    if (over(r)) {
      pthread_cond_broadcast(&r->work);
      pthread_cond_broadcast(&r->room);
    }
    const bool changed = r->changed;
    pthread_mutex_unlock(&r->lock);
    if (source) ask_source(r);
    if (due(r->progressed, r->options.progress_ms)) report(r, false);
    if (changed && due(r->saved, r->options.save_ms)) save(r);
    pthread_mutex_lock(&r->lock);
  }
  pthread_mutex_unlock(&r->lock);
}

/* What a few units find that are spread over all of the engine's. */
static void make_base(nst_sweep_run *r) {
  const uint64_t units = r->engine->units, n = units / UNITS_PER_SEED < SEEDS ? units / UNITS_PER_SEED : SEEDS;
  r->base = nst_sweep_result_new(r->shape);
  if (!n || !r->nhands) return;
  const nst_sweep_job job = {.count = n, .first = units / n / 2, .stride = units / n};
  nst_sweep_run *few =
    nst_sweep_run_new(r->engine, r->shape, job, (nst_sweep_run_options){.threads = r->nhands, .stop = r->options.stop});
  const char *ignored; /* it comes again in its turn */
  nst_sweep_run_all(few, &ignored);
  nst_sweep_result_merge(r->base, few->found);
  *nst_sweep_result_tally(r->base) = (nst_sweep_tally){0};
  nst_sweep_run_free(few);
}

bool nst_sweep_run_all(nst_sweep_run *r, const char **error) {
  r->begun = r->progressed = r->saved = now();
  if (r->options.isolate) make_base(r);
  r->hands = calloc((size_t)r->nhands + 1, sizeof *r->hands);
  if (!r->hands) nst_out_of_memory();
  for (int i = 0; i < r->nhands; i++) r->hands[i] = (hand){.run = r, .in_flight = NO_UNIT};
  const int wanted = r->nhands;
  int made = 0;
  pthread_mutex_lock(&r->lock);
  for (; made < wanted; made++) { /* as many as the system gives; the first must be */
    r->working++;
    if (pthread_create(&r->hands[made].thread, NULL, work, &r->hands[made]) == 0) continue;
    r->working--;
    break;
  }
  r->nhands = made;
  pthread_mutex_unlock(&r->lock);
  if (!made && wanted) {
    *error = "no thread can be made";
    free(r->hands);
    return false;
  }
  attend(r);
  for (int i = 0; i < made; i++) pthread_join(r->hands[i].thread, NULL);
  free(r->hands);
  r->hands = NULL;
  save(r);
  report(r, true);
  *error = r->error;
  return r->failed == NO_UNIT && !r->broken;
}

/* ---- what a source adds and takes away ---- */

void nst_sweep_run_fail(nst_sweep_run *r, uint64_t unit, const char *error) {
  pthread_mutex_lock(&r->lock);
  fail(r, unit, error);
  pthread_mutex_unlock(&r->lock);
}

uint64_t nst_sweep_run_failed(const nst_sweep_run *r) { return r->failed; }

void nst_sweep_run_absorb(nst_sweep_run *r, const nst_unit_set *done, const nst_sweep_result *found) {
  pthread_mutex_lock(&r->lock);
  nst_sweep_result_merge(r->found, found);
  nst_unit_set_merge(&r->done, done);
  nst_unit_set_merge(&r->all_done, done);
  r->changed = true;
  pthread_mutex_unlock(&r->lock);
}

nst_sweep_result *nst_sweep_run_release(nst_sweep_run *r, nst_unit_set *done) {
  nst_sweep_result *copy = NULL;
  pthread_mutex_lock(&r->lock);
  if (r->done.n) {
    copy = nst_sweep_result_new(r->shape);
    nst_sweep_result_merge(copy, r->found);
    *nst_sweep_result_tally(r->found) = (nst_sweep_tally){0};
    *done = r->done;
    r->done = (nst_unit_set){0};
  }
  pthread_mutex_unlock(&r->lock);
  return copy;
}

const nst_unit_set *nst_sweep_run_done(const nst_sweep_run *r) { return &r->done; }
nst_sweep_result *nst_sweep_run_found(nst_sweep_run *r) { return r->found; }
bool nst_sweep_run_complete(const nst_sweep_run *r) { return nst_unit_set_count(&r->done) == r->job.count; }
int nst_sweep_run_threads(const nst_sweep_run *r) { return r->nhands; }
