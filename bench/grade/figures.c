/* Naming and reading the figures of an evaluation: one walk for both, so that they cannot disagree. */
#include "bench/grade/figures.h"

#include <string.h>

/* ---- the walk ------------------------------------------------------------- */

enum { NAME = 256, PENDING = 8 * NAME };

/* Where it goes: a count, names, or values. */
typedef struct {
  size_t n;
  nestor_buffer *names;
  char *pending, *at; /* names that are yet to be appended: a mapping has many */
  nst_figure *values;
} walk;

static void flush(walk *w) {
  nestor_buffer_append(w->names, w->pending, (size_t)(w->at - w->pending));
  w->at = w->pending;
}

static void append(walk *w, const char *mark, const char *name) {
  const size_t size = strlen(name);
  if (size > NAME) { /* longer than any pending place */
    flush(w);
    nestor_buffer_append(w->names, mark, strlen(mark));
    nestor_buffer_append(w->names, name, size);
    return;
  }
  if ((size_t)(w->at - w->pending) > PENDING - NAME - 2) flush(w);
  if (*mark) *w->at++ = *mark;
  memcpy(w->at, name, size);
  w->at += size;
}

static void put_name(walk *w, const char *metric, const char *level, const char *tensor) {
  append(w, "", metric);
  if (level) append(w, "@", level);
  if (tensor) append(w, "/", tensor);
  *w->at++ = '\0'; /* there is always room for one more */
}

static inline void put(walk *w, nst_figure value, const char *metric, const char *level, const char *tensor) {
  if (w->values) w->values[w->n] = value;
  w->n++;
  if (w->names) put_name(w, metric, level, tensor);
}

static void memory(walk *w, const nestor_eval *eval, size_t index, const nestor_level *l) {
  put(w, nst_figure_whole(l->usage_bytes), "usage", l->name, NULL);
  put(w, nst_figure_whole(l->traffic_bytes), "traffic", l->name, NULL);
  put(w, nst_figure_real(l->exact_cycles), "cycles", l->name, NULL);
  put(w, nst_figure_real(l->energy_pj), "energy", l->name, NULL);
  put(w, nst_figure_whole(l->instances), "instances", l->name, NULL);
  put(w, nst_figure_real(l->capacity_bytes), "capacity", l->name, NULL);
  const size_t ntensors = nestor_eval_tensors(eval);
  for (size_t t = 0; t < ntensors; t++) {
    const char *tensor = w->names ? nestor_eval_tensor(eval, t).name : "";
    const nestor_counters c = w->values ? nestor_eval_counters(eval, index, t) : (nestor_counters){0};
    put(w, nst_figure_whole(c.kept), "kept", l->name, tensor);
    put(w, nst_figure_whole(c.tile), "tile", l->name, tensor);
    put(w, nst_figure_whole(c.fills), "fills", l->name, tensor);
    put(w, nst_figure_whole(c.reads), "reads", l->name, tensor);
    put(w, nst_figure_whole(c.updates), "updates", l->name, tensor);
    put(w, nst_figure_whole(c.drains), "drains", l->name, tensor);
  }
}

static size_t visit(walk *w, const nestor_eval *eval) {
  const nestor_metrics m = nestor_eval_metrics(eval);
  put(w, nst_figure_whole(m.fits), "fits", NULL, NULL);
  put(w, nst_figure_whole(m.ops), "ops", NULL, NULL);
  put(w, nst_figure_whole(m.steps), "steps", NULL, NULL);
  put(w, nst_figure_whole(m.offchip_bytes), "offchip", NULL, NULL);
  put(w, nst_figure_whole(m.cycles), "cycles", NULL, NULL);
  put(w, nst_figure_real(m.energy_pj), "energy", NULL, NULL);
  const size_t nlevels = nestor_eval_levels(eval);
  for (size_t i = 0; i < nlevels; i++) {
    const nestor_level l = nestor_eval_level(eval, i);
    switch (l.kind) {
      case NESTOR_LEVEL_MEMORY: memory(w, eval, i, &l); break;
      case NESTOR_LEVEL_ARRAY: break;
      case NESTOR_LEVEL_COMPUTE:
        put(w, nst_figure_real(l.exact_cycles), "cycles", l.name, NULL);
        put(w, nst_figure_real(l.energy_pj), "energy", l.name, NULL);
        put(w, nst_figure_whole(l.instances), "instances", l.name, NULL);
        break;
    }
  }
  return w->n;
}

size_t nst_figures_count(const nestor_eval *eval) { return visit(&(walk){0}, eval); }
size_t nst_figures_names(nestor_buffer *out, const nestor_eval *eval) {
  char pending[PENDING];
  walk w = {.names = out, .pending = pending, .at = pending};
  const size_t n = visit(&w, eval);
  flush(&w);
  return n;
}
void nst_figures_values(nst_figure *out, const nestor_eval *eval) { visit(&(walk){.values = out}, eval); }
