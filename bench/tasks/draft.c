/* Drafts as a whole: made part by part from one stream, and looked at. */
#include "bench/tasks/draft.h"

#include "bench/record/digest.h"
#include "bench/tasks/traits.h"

#include <stdio.h>
#include <string.h>

enum { MOST_ATTEMPTS = 1000 };

bool nst_draft_may(const nst_draft *d, nst_trait trait) { return d->allowed >> trait & 1; }

/* One of a set. */
static int draw_trait(unsigned set, nst_random *r) {
  int traits[NST_TRAIT_COUNT], n = 0;
  for (int t = 0; t < NST_TRAIT_COUNT; t++)
    if (set >> t & 1) traits[n++] = t;
  return n ? traits[nst_random_below(r, (uint64_t)n)] : -1;
}

void nst_draft_make(nst_draft *out, nst_kind kind, int level, uint64_t seed, const char *secret) {
  nst_draft head = {.kind = kind, .level = level, .seed = seed, .target = kind};
  char stream[160], hidden[NST_DIGEST_TEXT] = "";
  if (secret) nst_digest_text(hidden, (const nst_digest_part[]){{secret, strlen(secret)}}, 1);
  snprintf(stream, sizeof stream, "draft/%s/%d/%s", nst_kind_name(kind), level, hidden);
  nst_random r = nst_random_make(seed, stream);
  if (kind == NST_KIND_REPAIR) {
    static const nst_kind targets[] = {NST_KIND_GEN_MAPPING, NST_KIND_GEN_MAPPING, NST_KIND_GEN_WORKLOAD,
                                       NST_KIND_GEN_HARDWARE};
    head.target = targets[nst_random_below(&r, 4)];
  }
  head.style = (nst_draft_style)nst_random_below(&r, 3);
  head.raises = draw_trait(nst_traits_raising(kind, head.target, level), &r);
  head.allowed = nst_traits_allowed(&head);
  const size_t base = strlen(stream);
  for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    snprintf(stream + base, sizeof stream - base, "/%d", attempt);
    r = nst_random_make(seed, stream);
    *out = head;
    nst_draft_make_workload(out, &r);
    nst_draft_make_hardware(out, &r);
    nst_draft_make_question(out, &r);
    if (nst_traits_fit(out)) return;
  }
}

void nst_draft_of_task(nst_draft *out, const nst_task *task, const char *secret) {
  nst_draft_make(out, task->kind, task->level, task->seed, secret);
}

unsigned nst_draft_tensor_dims(const nst_draft *d, int tensor) {
  const nst_draft_tensor *t = &d->tensors[tensor];
  unsigned dims = 0;
  for (int k = 0; k < t->nranks; k++)
    for (int i = 0; i < 2; i++)
      if (t->ranks[k].dim[i] >= 0) dims |= 1u << t->ranks[k].dim[i];
  return dims;
}

bool nst_draft_is_cascade(const nst_draft *d) { return d->nstatements > 1; }

int nst_draft_find_tensor(const nst_draft *d, const char *name) {
  for (int t = 0; t < d->ntensors; t++)
    if (!strcmp(d->tensors[t].name, name)) return t;
  return -1;
}

int nst_draft_find_level(const nst_draft *d, const char *name) {
  for (int l = 0; l < d->nlevels; l++)
    if (!strcmp(d->levels[l].name, name)) return l;
  return -1;
}

int nst_draft_next_memory(const nst_draft *d, int level) {
  for (int l = level + 1; l < d->nlevels; l++)
    if (d->levels[l].kind == NST_DRAFT_MEMORY) return l;
  return -1;
}

int nst_draft_array(const nst_draft *d) {
  for (int l = 0; l < d->nlevels; l++)
    if (d->levels[l].kind == NST_DRAFT_ARRAY) return l;
  return -1;
}

int nst_draft_block(const nst_draft_mapping *m, int nodes[NST_DRAFT_NODES]) {
  int n = 0;
  for (int i = 0; i < m->nnodes && m->nodes[i].kind != NST_NODE_SEQ; i++)
    if (m->nodes[i].kind == NST_NODE_FOR && m->nodes[i].tile.param >= 0) nodes[n++] = i;
  return n;
}

bool nst_draft_reuses(const nst_draft *d, const nst_draft_mapping *m, int tensor) {
  int nodes[NST_DRAFT_NODES];
  bool active = false; /* a loop of the tensor's own with several trips is further in */
  for (int i = nst_draft_block(m, nodes); i-- > 0;) {
    const nst_draft_node *node = &m->nodes[nodes[i]];
    const int64_t extent = nst_draft_extent(d, m, node->dim, NULL), t = nst_draft_tile_value(m, node->tile, NULL);
    const bool trips = node->into ? t > 1 : t < extent;
    if (!trips) continue;
    if (nst_draft_tensor_dims(d, tensor) >> node->dim & 1)
      active = true;
    else if (!active)
      return true;
  }
  return false;
}

int64_t nst_draft_tile_value(const nst_draft_mapping *m, nst_draft_tile tile, const int64_t *params) {
  if (tile.param < 0) return tile.value;
  return params ? params[tile.param] : m->params[tile.param].value;
}

int64_t nst_draft_extent(const nst_draft *d, const nst_draft_mapping *m, int dim, const int64_t *params) {
  for (int p = 0; m && p < m->nparams; p++)
    if (m->params[p].role == NST_ROLE_SIZE && m->params[p].dim == dim) return params ? params[p] : m->params[p].value;
  return d->dims[dim].extent;
}

int64_t nst_draft_operations(const nst_draft *d, const nst_draft_mapping *m, const int64_t *params) {
  int64_t sum = 0;
  for (int s = 0; s < d->nstatements; s++) {
    int64_t product = 1;
    for (int i = 0; i < d->ndims; i++)
      if (d->statements[s].dims >> i & 1) product *= nst_draft_extent(d, m, i, params);
    sum += product;
  }
  return sum;
}

/* ---- quantities ----------------------------------------------------------- */

typedef enum { ARGS_N, ARGS_L, ARGS_LT } measure_args;
static const struct {
  const char *metric, *unit;
  measure_args args;
} measures[] = {
#define NST_MEASURE(id, metric, args, unit, words) {metric, unit, ARGS_##args},
#include "bench/tasks/measures.def"
#undef NST_MEASURE
};

void nst_quantity_expression(const nst_draft *d, const nst_draft_quantity *q, char *out, size_t size) {
  const char *metric = measures[q->measure].metric;
  switch (measures[q->measure].args) {
  case ARGS_N: snprintf(out, size, "%s", metric); return;
  case ARGS_L: snprintf(out, size, "%s(%s)", metric, d->levels[q->level].name); return;
  case ARGS_LT: snprintf(out, size, "%s(%s, %s)", metric, d->levels[q->level].name, d->tensors[q->tensor].name); return;
  }
}

const char *nst_quantity_unit(const nst_draft_quantity *q) { return measures[q->measure].unit; }

int64_t nst_quantity_value(const nst_draft_quantity *q, const nestor_eval *eval) {
  const nestor_counters c =
    q->tensor >= 0 ? nestor_eval_counters(eval, (size_t)q->level, (size_t)q->tensor) : (nestor_counters){0};
  switch (q->measure) {
  case NST_MEASURE_READS: return c.reads;
  case NST_MEASURE_UPDATES: return c.updates;
  case NST_MEASURE_FILLS: return c.fills;
  case NST_MEASURE_DRAINS: return c.drains;
  case NST_MEASURE_TILE: return c.tile;
  case NST_MEASURE_USAGE: return nestor_eval_level(eval, (size_t)q->level).usage_bytes;
  case NST_MEASURE_TRAFFIC: return nestor_eval_level(eval, (size_t)q->level).traffic_bytes;
  case NST_MEASURE_OFFCHIP: return nestor_eval_metrics(eval).offchip_bytes;
  case NST_MEASURE_CYCLES: return nestor_eval_metrics(eval).cycles;
  case NST_MEASURE_COUNT: break;
  }
  return 0;
}

int nst_draft_first_look(const nst_draft *d) {
  nst_random r = nst_random_make(d->seed, "first look");
  return (int)nst_random_below(&r, (uint64_t)d->nmappings);
}
