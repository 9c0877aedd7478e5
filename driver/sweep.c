/* nestor_sweep: one sweep block, prepared, searched, asked.
 *
 * Making one counts its space and no more (that is all --dry-run needs); the
 * engine is made when the run begins: generated code where the sweep allows it
 * and the space is worth compiling for, else point by point. What has been done
 * and found outlives the run, so that it can be saved, merged and shown.
 *
 * Left to others: threads (backend/sweep_run.c), bytes (sweep_state.c), showing
 * (sweep_table.c, sweep_json.c, sweep_csv.c, sweep_text.c, plot.c). */
#include "driver/sweep.h"
#include "driver/expectation.h"
#include "driver/sweep_ranks.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
  SMALL = 2000,       /* points that are evaluated one by one sooner than code is made for them */
  FIRST_MAX = 1 << 20 /* a limit up to this is kept to the point, beyond it to whole units */
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

size_t nestor_program_find_sweep(const nestor_program *program, const char *sweep) {
  for (size_t i = 0; i < nestor_program_sweeps(program); i++)
    if (!strcmp(program->ir->sweeps[i].name, sweep)) return i;
  return SIZE_MAX;
}

const char *nestor_program_sweep(const nestor_program *program, size_t sweep) {
  return sweep < nestor_program_sweeps(program) ? program->ir->sweeps[sweep].name : NULL;
}

static const char *number_text(nst_arena *arena, nst_u128 v) {
  nst_buffer text = {0};
  nst_u128_print(&text, v);
  const char *out = nst_arena_strndup(arena, text.text, text.len);
  nst_buffer_fini(&text);
  return out;
}

nst_diag *nst_sweep_fail(nestor_sweep *s, const char *fmt, ...) {
  va_list list;
  va_start(list, fmt);
  const char *text = nst_arena_vprintf(s->arena, fmt, list);
  va_end(list);
  s->status = NESTOR_ERROR;
  return nst_diag_add(s->diags, NST_D_SWEEP_POINT, s->ir->span, "sweep %s: %s", s->ir->name, text);
}

nestor_sweep *nestor_sweep_new(const nestor_program *program, size_t sweep, const nestor_sweep_options *options) {
  if (sweep >= nestor_program_sweeps(program)) return NULL;
  nestor_sweep *s = calloc(1, sizeof *s);
  if (!s) nst_out_of_memory();
  s->program = program;
  s->ir = &program->ir->sweeps[sweep];
  s->mapping = program->ir->mappings[s->ir->mapping];
  if (options) s->options = *options;
  s->arena = nst_arena_new();
  s->diags = nst_diags_new(s->arena, program->sources);
  s->space = nst_space_new(s->mapping, s->ir, s->diags);
  const char *wrong = nst_variants_init(&s->variants, s->arena, s->mapping);
  if (wrong) nst_diag_add(s->diags, NST_D_TOO_MANY, s->ir->span, "%s", wrong);
  if (!s->space || wrong || !nst_sweep_shape_make(&s->shape, s->ir, s->space, s->diags)) {
    s->status = NESTOR_ERROR;
    return s;
  }
  s->points = nst_sweep_points(s->space, &s->variants);
  if (s->points >= NST_SPACE_MAX) {
    nst_diag_add(s->diags, NST_D_TOO_MANY, s->ir->span, "the space has 2^120 points or more");
    s->status = NESTOR_ERROR;
    return s;
  }
  s->points_text = number_text(s->arena, s->points);
  s->tuples_text = number_text(s->arena, nst_space_tuples(s->space));
  s->variants_text = number_text(s->arena, s->variants.count);
  s->walk = nst_walk_new(s->space);
  s->found = nst_sweep_result_new(s->shape);
  nst_sweep_choose_metrics(s);
  return s;
}

void nestor_sweep_free(nestor_sweep *s) {
  if (!s) return;
  if (s->ranks && !s->ran) nst_ranks_agree(s->ranks, 0); /* the others may wait for it */
  if (s->engine) s->engine->free(s->engine);
  nst_jit_free(s->jit);
  nst_walk_free(s->walk);
  nst_space_free(s->space);
  nst_sweep_result_free(s->found);
  nst_unit_set_fini(&s->done);
  for (uint64_t i = 0; s->shards_done && i < s->options.shards; i++) nst_unit_set_fini(&s->shards_done[i]);
  free(s->shards_done);
  free(s->shards_there);
  free(s->best_text);
  nst_arena_free(s->arena);
  nestor_program_free(s->own);
  free(s);
}

nestor_status nestor_sweep_status(const nestor_sweep *sweep) { return sweep->status; }

const nestor_diagnostics *nestor_sweep_diagnostics(const nestor_sweep *sweep) {
  return (const nestor_diagnostics *)(const void *)sweep->diags;
}

/* ---- the engine ---- */

/* Why this sweep is done point by point; NULL: it need not be. */
static const char *plain_reason(const nestor_sweep *s) {
  if (s->options.no_kernel) return "native code was not wanted";
  if (s->points <= SMALL) return "the space is small";
  if (!nst_space_is_whole(s->space)) return "a set may hold numbers that are not whole";
  return NULL;
}

static bool make_kernel_engine(nestor_sweep *s, nst_sweep_options options) {
  nst_buffer error = {0};
  const nst_jit_status status = nst_settings_jit(&s->jit, &s->program->settings, &error);
  if (status != NST_JIT_OK)
    s->why_plain =
      nst_arena_printf(s->arena, "there is no native code (%s)", error.len ? error.text : "no reason given");
  nst_buffer_fini(&error);
  if (status != NST_JIT_OK) return true;
  options.jit = s->jit;
  s->engine = nst_sweep_kernel_new(s->mapping, s->ir, s->space, options, s->diags, &s->why_plain);
  return s->engine || s->why_plain;
}

static bool make_full_engine(nestor_sweep *s) {
  const nst_sweep_options options = {.prune = !s->options.no_prune && !s->writer, .each = s->writer != NULL};
  s->why_plain = plain_reason(s);
  if (!s->why_plain && !make_kernel_engine(s, options)) return false;
  if (!s->engine) s->engine = nst_sweep_plain_new(s->mapping, s->ir, s->space, options, s->diags);
  return s->engine != NULL;
}

bool nst_sweep_make_engine(nestor_sweep *s) {
  if (s->engine) return true;
  if (s->status != NESTOR_OK) return false;
  const nestor_sweep_options *o = &s->options;
  const double begun = now();
  uint64_t limit = 0;
  s->whole = false;
  if (o->sample && o->sample < s->points)
    s->engine = nst_sweep_sample_new(s->mapping, s->ir, s->space, o->sample, o->seed, s->diags);
  else if (o->limit && o->limit < s->points && o->limit <= FIRST_MAX)
    s->engine = nst_sweep_first_new(s->mapping, s->ir, s->space, o->limit, s->diags);
  else {
    make_full_engine(s);
    s->whole = true;
    if (s->engine && o->limit && o->limit < s->points) { /* as many whole units as stay below it */
      const double each = (double)s->points / (double)s->engine->units;
      limit = (uint64_t)((double)o->limit / each);
      if (!limit) limit = 1;
      s->whole = limit >= s->engine->units;
    }
  }
  if (!s->engine) {
    s->status = NESTOR_ERROR;
    return false;
  }
  s->seconds_compile = now() - begun;
  s->engine_name = s->engine->name;
  s->engine_units = s->engine->units;
  s->engine_space = s->engine->space;
  s->job = nst_sweep_job_make(s->engine, limit, o->shard, o->shards);
  return true;
}

bool nst_sweep_is_proven(const nestor_sweep *s) {
  if (!s->whole || s->engine_space == UINT64_MAX) return false;
  if (!s->shards_done) return s->job.stride == 1 && nst_unit_set_count(&s->done) == s->engine_units;
  uint64_t units = 0;
  for (uint64_t i = 0; i < s->options.shards; i++) units += nst_unit_set_count(&s->shards_done[i]);
  return units == s->engine_units;
}

nestor_sweep_info nestor_sweep_about(nestor_sweep *s) {
  nestor_sweep_info info = {.name = s->ir->name,
                            .mapping = s->mapping->name,
                            .points = s->points_text,
                            .tuples = s->tuples_text,
                            .variants = s->variants_text,
                            .engine = s->engine_name,
                            .why_plain = s->why_plain,
                            .proven = s->engine_name && nst_sweep_is_proven(s),
                            .seconds_compile = s->seconds_compile,
                            .seconds_run = s->seconds_run,
                            .threads = s->threads};
  if (!s->found) return info;
  const nst_sweep_tally *t = nst_sweep_result_tally(s->found);
  info.found = nst_sweep_result_nbest(s->found) || nst_sweep_result_nfront(s->found);
  info.evaluated = t->evaluated;
  info.pruned = t->pruned;
  info.duplicates = t->duplicates;
  info.dropped = t->dropped;
  info.valid = t->valid;
  return info;
}

const nst_value *nst_sweep_params(nestor_sweep *s, const nst_sweep_point *p) {
  nst_walk_go(s->walk, p->places);
  return nst_walk_vector(s->walk);
}

/* ---- the run ---- */

void nestor_sweep_watch(nestor_sweep *sweep, nestor_sweep_watcher *watcher, void *context, int every_ms) {
  sweep->watcher = watcher;
  sweep->watcher_context = context;
  sweep->watch_ms = every_ms;
}

void nestor_sweep_autosave(nestor_sweep *sweep, nestor_sweep_saver *saver, void *context, int every_ms) {
  sweep->saver = saver;
  sweep->saver_context = context;
  sweep->save_ms = every_ms;
}

void nestor_sweep_list(nestor_sweep *sweep, nestor_rows rows, nestor_sweep_writer *writer, void *context) {
  sweep->rows = rows;
  sweep->writer = writer;
  sweep->writer_context = context;
}

void nestor_sweep_stop(nestor_sweep *sweep) { atomic_store(&sweep->stop, true); }

static void set_best(nestor_sweep *s, const nst_sweep_point *p) {
  free(s->best_text);
  s->best_text = NULL;
  if (!p) return;
  nst_buffer text = {0};
  for (int i = 0; i < s->ir->nobjectives && i < 3; i++) {
    nst_buffer_puts(&text, i ? ", " : "");
    nst_source_quote(&text, s->program->sources, s->ir->objectives[i]->span);
    nst_buffer_puts(&text, " = ");
    nst_number_decimal(&text, nst_rat_to_double(p->metrics[i]), 3);
  }
  s->best_text = text.text;
}

static void watch(void *context, const nst_sweep_progress *p) {
  nestor_sweep *s = context;
  set_best(s, p->best);
  const nst_sweep_tally *t = &p->tally;
  const double done = (double)t->evaluated + (double)t->pruned + (double)t->duplicates + (double)t->dropped;
  const double rate = p->seconds > 0 ? (done - p->points_before) / p->seconds : 0;
  const nestor_sweep_progress out = {.seconds = p->seconds,
                                     .points_done = done,
                                     .points = p->points > done ? p->points : done,
                                     .rate = rate,
                                     .seconds_left = rate > 0 ? fmax(p->points - done, 0) / rate : NAN,
                                     .valid = t->valid,
                                     .best = s->best_text,
                                     .last = p->last};
  s->watcher(s->watcher_context, &out);
}

static void autosave(void *context, const nst_unit_set *done, nst_sweep_result *found) {
  nestor_sweep *s = context;
  nestor_buffer bytes = {{0}};
  const nst_unit_set own = s->done;
  nst_sweep_result *own_found = s->found;
  s->done = *done; /* borrowed while the bytes are made */
  s->found = found;
  nestor_sweep_save(s, &bytes);
  s->done = own;
  s->found = own_found;
  s->saver(s->saver_context, bytes.text.text, bytes.text.len);
  nst_buffer_fini(&bytes.text);
}

static bool write_rows(void *context, const char *bytes, size_t len) {
  nestor_sweep *s = context;
  return s->writer(s->writer_context, bytes, len);
}

/* Ranks that share a machine share its processors, unless each is bound to some already. */
static int threads_of(const nestor_sweep *s) {
  if (s->options.threads || !s->ranks) return s->options.threads;
  const long all = sysconf(_SC_NPROCESSORS_ONLN);
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) < all) return 0;
  const long each = all / nst_ranks_local();
  return each < 1 ? 1 : (int)each;
}

bool nestor_ranks_wanted(void) { return nst_ranks_wanted(); }

nestor_ranks *nestor_ranks_new(const char *module, nestor_buffer *error) {
  nst_buffer ignored = {0};
  nst_ranks *ranks = nst_ranks_open(module, error ? &error->text : &ignored);
  nst_buffer_fini(&ignored);
  if (!ranks) return NULL;
  nestor_ranks *r = calloc(1, sizeof *r);
  if (!r) nst_out_of_memory();
  r->ranks = ranks;
  return r;
}

void nestor_ranks_free(nestor_ranks *ranks) {
  if (!ranks) return;
  nst_ranks_close(ranks->ranks);
  free(ranks);
}

int nestor_ranks_rank(const nestor_ranks *ranks) { return nst_ranks_rank(ranks->ranks); }
int nestor_ranks_size(const nestor_ranks *ranks) { return nst_ranks_size(ranks->ranks); }
int nestor_ranks_agree(nestor_ranks *ranks, uint64_t mark) { return nst_ranks_agree(ranks->ranks, mark); }
void nestor_sweep_share(nestor_sweep *sweep, nestor_ranks *ranks) { sweep->ranks = ranks ? ranks->ranks : NULL; }

/* Whether the other ranks have the same units. */
static bool agree(nestor_sweep *s, bool made) {
  if (!s->ranks) return true;
  s->ran = true;
  const int who = nst_ranks_agree(s->ranks, made ? nst_sweep_fingerprint(s) : 0);
  if (who < 0 || !made) return who < 0;
  nst_diag *d =
    nst_sweep_fail(s, "rank %d of the job cannot take part: it has another program, version or engine", who);
  nst_diag_help(s->diags, d, "ranks need the same files, and native code (here: %s) everywhere or nowhere",
                s->engine_name);
  return false;
}

nestor_status nestor_sweep_run(nestor_sweep *s) {
  if (s->shards_done) return NESTOR_USAGE; /* loaded, to be shown */
  const bool made = nst_sweep_make_engine(s);
  if (!agree(s, made) || !made) {
    nst_diags_sort(s->diags);
    return s->status;
  }
  const bool follows = s->ranks && nst_ranks_rank(s->ranks); /* another rank has the answer */
  nst_sweep_ranks *ranks = s->ranks ? nst_sweep_ranks_new(s->ranks, s->shape, &s->done, s->job.count, &s->stop) : NULL;
  const nst_sweep_run_options options = {.threads = threads_of(s),
                                         .source = ranks ? nst_sweep_ranks_source(ranks, NULL) : NULL,
                                         .isolate =
                                           !s->options.no_prune && !s->writer && !strcmp(s->engine->name, "kernel"),
                                         .stop = &s->stop,
                                         .done = &s->done,
                                         .found = s->found,
                                         .context = s,
                                         .progress = s->watcher && !follows ? watch : NULL,
                                         .progress_ms = s->watch_ms,
                                         .save = s->saver && !follows ? autosave : NULL,
                                         .save_ms = s->save_ms,
                                         .format = s->writer ? nst_sweep_row : NULL,
                                         .write = write_rows};
  const double begun = now();
  nst_sweep_run *run = nst_sweep_run_new(s->engine, s->shape, s->job, options);
  if (ranks) nst_sweep_ranks_source(ranks, &run);
  const char *error = NULL;
  const bool good = nst_sweep_run_all(run, &error);
  if (ranks) nst_sweep_ranks_end(ranks, error, nst_sweep_run_failed(run));
  s->seconds_run += now() - begun;
  s->threads = nst_sweep_run_threads(run);
  nst_unit_set_fini(&s->done);
  nst_unit_set_merge(&s->done, nst_sweep_run_done(run));
  nst_sweep_result_clear(s->found);
  nst_sweep_result_merge(s->found, nst_sweep_run_found(run));
  const bool complete = nst_sweep_run_complete(run);
  if (!good && error) nst_sweep_fail(s, "%s", error);
  nst_sweep_run_free(run);
  if (!good) return s->status = NESTOR_ERROR;
  return complete || follows ? NESTOR_OK : NESTOR_STOPPED;
}
