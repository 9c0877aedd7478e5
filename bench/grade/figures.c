/* Naming and reading the figures of an evaluation: one walk for both, so that they cannot disagree. */
#include "bench/grade/figures.h"

#include <string.h>

/* ---- the walk ------------------------------------------------------------- */

/* Where it goes: a count, names, or values. */
typedef struct {
  size_t n;
  nestor_buffer *names;
  nst_figure *values;
} walk;

enum { NAME = 256 };

static char *append(char *at, const char *mark, const char *name, size_t size) {
  if (*mark) *at++ = *mark;
  memcpy(at, name, size);
  return at + size;
}

/* One piece for each name: a mapping has many. */
static void put_name(walk *w, const char *metric, const char *level, const char *tensor) {
  char text[NAME], *at = text;
  const size_t nmetric = strlen(metric), nlevel = level ? strlen(level) : 0, ntensor = tensor ? strlen(tensor) : 0;
  if (nmetric + nlevel + ntensor + 3 <= NAME) {
    at = append(at, "", metric, nmetric);
    if (level) at = append(at, "@", level, nlevel);
    if (tensor) at = append(at, "/", tensor, ntensor);
    *at++ = '\0';
    nestor_buffer_append(w->names, text, (size_t)(at - text));
    return;
  }
  nestor_buffer_append(w->names, metric, nmetric);
  if (level) nestor_buffer_append(w->names, "@", 1), nestor_buffer_append(w->names, level, nlevel);
  if (tensor) nestor_buffer_append(w->names, "/", 1), nestor_buffer_append(w->names, tensor, ntensor);
  nestor_buffer_append(w->names, "", 1);
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
void nst_figures_names(nestor_buffer *out, const nestor_eval *eval) { visit(&(walk){.names = out}, eval); }
void nst_figures_values(nst_figure *out, const nestor_eval *eval) { visit(&(walk){.values = out}, eval); }
