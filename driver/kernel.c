/* nestor_kernel: native code for many points, from any thread.
 *
 * The code is shared; what a call needs besides (columns remembered, a nest for
 * the derived figures) is a worker. Workers are kept in a list under a lock: a
 * call takes one or makes one, and puts it back. A point that the code cannot
 * count exactly is counted by the analysis, so both give the same numbers. Where
 * costs are the same at all points, figures come from a sheet (driver/sheet.h),
 * else from the metrics of each point's own nest. */
#include "backend/kernel.h"
#include "driver/sheet.h"
#include "ir/plan.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 512 };

typedef struct worker worker;
struct worker {
  worker *next;
  nst_arena *arena;
  nst_kernel_scratch *scratch;
  nst_nest_maker *maker;
  nst_analysis *analysis;
  nst_counts *counts;
  nst_metrics metrics;
  int64_t *params;
  nst_value *values;
  bool sheet_tried;
  const nst_sheet *sheet;
  uint8_t *status;   /* [CHUNK] */
  int64_t *counters; /* [CHUNK][width] */
  double *figures;
};

struct nestor_kernel {
  nst_arena *arena;
  const nst_ir_mapping *ir;
  nst_jit *jit;
  nst_kernel *code;
  nst_figure *figures;
  size_t nfigures;
  pthread_mutex_t lock; /* of idle */
  worker *idle;
};

static void worker_free(worker *w) {
  nst_kernel_scratch_free(w->scratch);
  nst_nest_maker_free(w->maker);
  nst_analysis_free(w->analysis);
  nst_arena_free(w->arena);
  free(w);
}

static worker *worker_new(const nestor_kernel *k) {
  worker *w = calloc(1, sizeof *w);
  if (!w) nst_out_of_memory();
  w->arena = nst_arena_new();
  w->scratch = nst_kernel_scratch_new(k->code);
  w->maker = nst_nest_maker_new(k->ir);
  w->counts = nst_counts_new(w->arena, k->ir);
  w->params = NST_NEW_ARRAY(w->arena, k->ir->scope.nparams, int64_t);
  w->values = NST_NEW_ARRAY(w->arena, k->ir->scope.nparams, nst_value);
  w->figures = NST_NEW_ARRAY(w->arena, k->nfigures, double);
  return w;
}

static worker *take(nestor_kernel *k) {
  pthread_mutex_lock(&k->lock);
  worker *w = k->idle;
  if (w) k->idle = w->next;
  pthread_mutex_unlock(&k->lock);
  return w ? w : worker_new(k);
}

static void give(nestor_kernel *k, worker *w) {
  pthread_mutex_lock(&k->lock);
  w->next = k->idle;
  k->idle = w;
  pthread_mutex_unlock(&k->lock);
}

static nestor_point run(const nestor_kernel *k, worker *w, double *out) {
  for (size_t i = 0; i < k->nfigures; i++) out[i] = NAN;
  for (int i = 0; i < k->ir->scope.nparams; i++)
    w->values[i] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(w->params[i])};
  const nst_nest *nest = nst_nest_make(w->maker, w->values, NULL);
  if (!nest) return NESTOR_POINT_INVALID;
  switch (nst_kernel_eval(k->code, w->scratch, w->params, w->counts)) {
    case NST_KERNEL_OK: break;
    case NST_KERNEL_INFEASIBLE: return NESTOR_POINT_INVALID;
    case NST_KERNEL_DEOPT:
      if (!w->analysis) w->analysis = nst_analysis_new(k->ir);
      if (!nst_analysis_count(w->analysis, nest, w->counts, NULL)) return NESTOR_POINT_OVERFLOW;
      break;
  }
  if (!nst_metrics_compute(&w->metrics, w->metrics.levels ? NULL : w->arena, nest, w->counts, NULL)) return NESTOR_POINT_OVERFLOW;
  const nst_metrics_view view = {nest, w->counts, &w->metrics};
  for (size_t i = 0; i < k->nfigures; i++) out[i] = nst_figure_value(k->figures[i], &view);
  return NESTOR_POINT_OK;
}

static nestor_kernel *fail(nestor_kernel *k, nestor_status *status, nestor_status value) {
  if (status) *status = value;
  nestor_kernel_free(k);
  return NULL;
}

nestor_kernel *nestor_kernel_new(const nestor_program *program, size_t mapping, const char *const *figures,
                                 size_t nfigures, nestor_status *status, nestor_buffer *error) {
  nst_buffer ignored = {0};
  nst_buffer *why = error ? &error->text : &ignored;
  nestor_kernel *k = calloc(1, sizeof *k);
  if (!k) nst_out_of_memory();
  pthread_mutex_init(&k->lock, NULL);
  k->arena = nst_arena_new();
  nestor_status result = NESTOR_USAGE;
  if (mapping >= nestor_program_mappings(program)) nst_buffer_puts(why, "there is no such mapping");
  else {
    k->ir = program->ir->mappings[mapping];
    k->figures = NST_NEW_ARRAY(k->arena, nfigures, nst_figure);
    for (; k->nfigures < nfigures; k->nfigures++)
      if (!nst_figure_parse(&k->figures[k->nfigures], k->ir, figures[k->nfigures])) break;
    if (k->nfigures < nfigures) nst_buffer_printf(why, "there is no figure \"%s\"", figures[k->nfigures]);
    else {
      nst_jit_status made = nst_settings_jit(&k->jit, &program->settings, why);
      const nst_kernel_options options = {.jit = k->jit, .level = NST_JIT_O2};
      if (made == NST_JIT_OK) made = nst_kernel_new(&k->code, k->ir, nst_plan_make(k->arena, k->ir), options, why);
      result = made == NST_JIT_OK ? NESTOR_OK : made == NST_JIT_MISSING ? NESTOR_UNAVAILABLE : NESTOR_ERROR;
    }
  }
  nst_buffer_fini(&ignored);
  if (result != NESTOR_OK) return fail(k, status, result);
  if (status) *status = NESTOR_OK;
  return k;
}

void nestor_kernel_free(nestor_kernel *kernel) {
  if (!kernel) return;
  while (kernel->idle) {
    worker *next = kernel->idle->next;
    worker_free(kernel->idle);
    kernel->idle = next;
  }
  nst_kernel_free(kernel->code);
  nst_jit_free(kernel->jit);
  pthread_mutex_destroy(&kernel->lock);
  nst_arena_free(kernel->arena);
  free(kernel);
}

size_t nestor_kernel_params(const nestor_kernel *kernel) { return (size_t)kernel->ir->scope.nparams; }
size_t nestor_kernel_figures(const nestor_kernel *kernel) { return kernel->nfigures; }

nestor_point nestor_kernel_call(nestor_kernel *kernel, const int64_t *params, double *out) {
  worker *w = take(kernel);
  for (int i = 0; i < kernel->ir->scope.nparams; i++) w->params[i] = params[i];
  const nestor_point point = run(kernel, w, out);
  give(kernel, w);
  return point;
}

/* ---- many points ---- */

static void set_params(worker *w, const nestor_kernel *k, const int64_t *const *params, size_t i) {
  for (int p = 0; p < k->ir->scope.nparams; p++) w->params[p] = params[p][i];
}

/* The sheet, made with the nest of the first point that has one. */
static const nst_sheet *sheet_of(const nestor_kernel *k, worker *w) {
  if (w->sheet_tried || !nst_kernel_fixed_costs(k->code)) return w->sheet;
  w->sheet_tried = true;
  for (int i = 0; i < k->ir->scope.nparams; i++)
    w->values[i] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(w->params[i])};
  const nst_nest *nest = nst_nest_make(w->maker, w->values, NULL);
  w->sheet = nest ? nst_sheet_new(w->arena, nest, k->figures, k->nfigures) : NULL;
  return w->sheet;
}

static nestor_point finish(const nestor_kernel *k, worker *w, nst_kernel_status status, int64_t *counters) {
  if (status == NST_KERNEL_INFEASIBLE) {
    for (size_t f = 0; f < k->nfigures; f++) w->figures[f] = NAN;
    return NESTOR_POINT_INVALID;
  }
  const nst_sheet *sheet = status == NST_KERNEL_OK ? sheet_of(k, w) : NULL;
  const nst_counts counts = sheet ? nst_kernel_view(k->code, counters) : (nst_counts){0};
  return sheet && nst_sheet_figures(sheet, &counts, w->figures) ? NESTOR_POINT_OK : run(k, w, w->figures);
}

size_t nestor_kernel_batch(nestor_kernel *kernel, size_t n, const int64_t *const *params, double *const *out,
                           uint8_t *points) {
  worker *w = take(kernel);
  const size_t width = nst_kernel_width(kernel->code);
  if (!w->status) {
    w->status = NST_NEW_ARRAY(w->arena, CHUNK, uint8_t);
    w->counters = NST_NEW_ARRAY(w->arena, CHUNK * width, int64_t);
  }
  const int nparams = kernel->ir->scope.nparams;
  nst_arena *arena = nst_arena_new();
  const int64_t **columns = NST_NEW_ARRAY(arena, nparams + 1, const int64_t *);
  size_t good = 0;
  for (size_t first = 0; first < n; first += CHUNK) {
    const size_t m = n - first < CHUNK ? n - first : CHUNK;
    for (int p = 0; p < nparams; p++) columns[p] = params[p] + first;
    nst_kernel_batch(kernel->code, w->scratch, m, columns, w->status, w->counters);
    for (size_t i = 0; i < m; i++) {
      set_params(w, kernel, params, first + i);
      const nestor_point point = finish(kernel, w, (nst_kernel_status)w->status[i], w->counters + i * width);
      for (size_t f = 0; f < kernel->nfigures; f++) out[f][first + i] = w->figures[f];
      if (points) points[first + i] = (uint8_t)point;
      good += point == NESTOR_POINT_OK;
    }
  }
  nst_arena_free(arena);
  give(kernel, w);
  return good;
}

void nestor_kernel_defaults(const nestor_kernel *kernel, size_t n, const bool *given, int64_t *const *params,
                            uint8_t *points) {
  const int nparams = kernel->ir->scope.nparams;
  nst_arena *arena = nst_arena_new();
  nst_value *values = NST_NEW_ARRAY(arena, nparams, nst_value);
  for (size_t i = 0; i < n; i++) {
    for (int p = 0; p < nparams; p++)
      if (given[p]) values[p] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(params[p][i])};
    bool good = nst_nest_defaults(values, given, kernel->ir, NULL);
    for (int p = 0; p < nparams && good; p++)
      if (!given[p]) good = nst_value_to_i64(&params[p][i], &values[p]);
    points[i] = good ? NESTOR_POINT_OK : NESTOR_POINT_INVALID;
    for (int p = 0; p < nparams && !good; p++)
      if (!given[p]) params[p][i] = 0; /* no tile */
  }
  nst_arena_free(arena);
}
