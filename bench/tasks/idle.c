/* Answers that do nothing, as changes to a draft. */
#include "bench/tasks/idle.h"

#include "bench/record/memory.h"
#include "bench/tasks/text.h"

#include <stdlib.h>

static nst_draft_node *add(nst_draft_mapping *m, nst_node_kind kind) {
  nst_draft_node *node = &m->nodes[m->nnodes++];
  *node = (nst_draft_node){.kind = kind, .dim = -1, .tile = {-1, 0}, .level = -1, .axis = -1};
  return node;
}

void nst_idle_mapping(nst_draft *d, int m, unsigned levels) {
  nst_draft_mapping *mapping = &d->mappings[m];
  mapping->nnodes = 0;
  for (int l = 0; l < d->nlevels; l++) {
    if (!(levels >> l & 1)) continue;
    nst_draft_node *keep = add(mapping, NST_NODE_KEEP);
    keep->level = l;
    keep->tensors = ~0u;
  }
  if (!nst_draft_is_cascade(d)) {
    add(mapping, NST_NODE_COMPUTE);
    return;
  }
  add(mapping, NST_NODE_SEQ);
  for (int s = 0; s < d->nstatements; s++) {
    add(mapping, NST_NODE_DO)->statements = 1u << s;
    add(mapping, NST_NODE_COMPUTE);
    add(mapping, NST_NODE_END);
  }
  add(mapping, NST_NODE_END);
}

static void idle_workload(nst_draft *d) {
  for (int t = 0; t < d->ntensors; t++) {
    nst_draft_tensor *tensor = &d->tensors[t];
    tensor->type = "int8";
    tensor->shaped = false;
    for (tensor->nranks = 0; tensor->nranks < d->ndims; tensor->nranks++)
      tensor->ranks[tensor->nranks] = (nst_draft_rank){.dim = {tensor->nranks, -1}, .coef = {1, 0}};
  }
  for (int s = 0; s < d->nstatements; s++) d->statements[s].op = "=";
}

/* Parameters are of the signature, so they stay where they stand. */
static void idle_hardware(nst_draft *d) {
  d->clock = 0;
  for (int l = 0; l < d->nlevels; l++) {
    nst_draft_level *level = &d->levels[l];
    if (!*level->capacity_param) level->capacity = 0;
    level->bandwidth = level->read_bandwidth = level->write_bandwidth = 0;
    level->energy = level->read_energy = level->write_energy = 0;
    level->double_buffered = level->no_overlap = level->no_multicast = level->no_reduce = false;
    for (int a = 0; a < level->naxes; a++)
      if (!*level->places_param[a]) level->places[a] = 1;
    level->rate = 1;
  }
}

static unsigned all_memories(const nst_draft *d) {
  unsigned levels = 0;
  for (int l = 0; l >= 0; l = nst_draft_next_memory(d, l)) levels |= 1u << l;
  return levels;
}

int nst_idle_programs(const nst_draft *d) {
  return d->target == NST_KIND_GEN_WORKLOAD || d->target == NST_KIND_GEN_HARDWARE ? 1 : 3;
}

void nst_idle_program(const nst_draft *d, int which, nestor_buffer *out) {
  nst_draft *idle = nst_memory_new(1, sizeof *idle);
  *idle = *d;
  if (d->target == NST_KIND_GEN_WORKLOAD) {
    idle_workload(idle);
    nst_draft_write_workload(idle, out);
  } else if (d->target == NST_KIND_GEN_HARDWARE) {
    idle_hardware(idle);
    nst_draft_write_hardware(idle, out);
  } else {
    nst_idle_mapping(idle, 0, which == 0 ? all_memories(d) : 1u << (which == 1 ? 0 : nst_draft_next_memory(d, 0)));
    nst_draft_write_mapping(idle, 0, NULL, out);
  }
  free(idle);
}

void nst_idle_model(const nst_draft *d, const char *name, nestor_buffer *out) {
  const nst_draft_mapping *m = &d->mappings[0];
  nst_text_add(out, "model %s(", name);
  for (int p = 0; p < m->nparams; p++) nst_text_add(out, "%s%s", p ? ", " : "", m->params[p].name);
  nst_text_add(out, ") {\n");
  for (int i = 0; i < d->nquantities; i++) nst_text_add(out, "  out %s = 0\n", d->quantities[i].name);
  nst_text_add(out, "}\n");
}
