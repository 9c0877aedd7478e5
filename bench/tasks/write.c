/* Drafts as text of the language. It is put together plainly and laid out by the formatter. */
#include "bench/tasks/draft.h"
#include "bench/tasks/text.h"

#include <stdio.h>
#include <string.h>

/* What a plain writer writes, laid out. */
#define WRITE_LAID_OUT(out, call)                                                                                      \
  do {                                                                                                                 \
    nestor_buffer *b = nestor_buffer_new();                                                                            \
    call;                                                                                                              \
    nst_text_canonical(out, nestor_buffer_data(b), nestor_buffer_size(b));                                             \
    nestor_buffer_free(b);                                                                                             \
  } while (0)

/* ---- workloads ------------------------------------------------------------ */

static void write_rank(const nst_draft *d, const nst_draft_rank *rank, nestor_buffer *b) {
  for (int i = 0; i < 2 && rank->dim[i] >= 0; i++) {
    if (i) nst_text_add(b, " + ");
    if (rank->coef[i] != 1) nst_text_add(b, "%lld*", (long long)rank->coef[i]);
    nst_text_add(b, "%s", d->dims[rank->dim[i]].name);
  }
  if (rank->offset)
    nst_text_add(b, " %c %lld", rank->offset < 0 ? '-' : '+',
                 (long long)(rank->offset < 0 ? -rank->offset : rank->offset));
}

static void write_access(const nst_draft *d, int tensor, nestor_buffer *b) {
  const nst_draft_tensor *t = &d->tensors[tensor];
  nst_text_add(b, "%s[", t->name);
  for (int k = 0; k < t->nranks; k++) {
    if (k) nst_text_add(b, ", ");
    write_rank(d, &t->ranks[k], b);
  }
  nst_text_add(b, "]");
}

static void write_declaration(const nst_draft *d, const nst_draft_tensor *t, nestor_buffer *b) {
  nst_text_add(b, "%s", t->name);
  if (!t->shaped) return;
  nst_text_add(b, "[");
  for (int k = 0; k < t->nranks; k++) {
    const nst_draft_rank *rank = &t->ranks[k];
    if (k) nst_text_add(b, ", ");
    if (!rank->shape)
      nst_text_add(b, "_");
    else if (rank->shape == 1)
      nst_text_add(b, "%s", d->dims[rank->dim[0]].size);
    else
      nst_text_add(b, "%lld * %s", (long long)rank->shape, d->dims[rank->dim[0]].size);
  }
  nst_text_add(b, "]");
}

static void plain_workload(const nst_draft *d, nestor_buffer *b) {
  nst_text_add(b, "workload %s(", d->workload);
  for (int i = 0; i < d->ndims; i++)
    nst_text_add(b, "%s%s = %lld", i ? ", " : "", d->dims[i].size, (long long)d->dims[i].extent);
  nst_text_add(b, ") {\ndim ");
  for (int i = 0; i < d->ndims; i++) nst_text_add(b, "%s%s = %s", i ? ", " : "", d->dims[i].name, d->dims[i].size);
  nst_text_add(b, "\ntensor ");
  for (int t = 0; t < d->ntensors; t++) {
    write_declaration(d, &d->tensors[t], b);
    const bool last = t + 1 == d->ntensors;
    if (last || d->tensors[t].type != d->tensors[t + 1].type) nst_text_add(b, " : %s", d->tensors[t].type);
    nst_text_add(b, last ? "\n" : ", ");
  }
  for (int s = 0; s < d->nstatements; s++) {
    const nst_draft_statement *statement = &d->statements[s];
    write_access(d, statement->out, b);
    nst_text_add(b, " %s ", statement->op);
    for (const char *at = statement->form; *at; at++) {
      if (*at == '$')
        write_access(d, statement->inputs[*++at - '1'], b);
      else
        nestor_buffer_append(b, at, 1);
    }
    nst_text_add(b, "\n");
  }
  nst_text_add(b, "}\n");
}

/* ---- hardware ------------------------------------------------------------- */

static void write_bandwidth(const nst_draft *d, const char *name, int64_t bandwidth, nestor_buffer *b) {
  if (!bandwidth) return;
  if (d->clock)
    nst_text_add(b, " %s = %lld GB/s", name, (long long)(bandwidth * d->clock));
  else
    nst_text_add(b, " %s = %lld B/cycle", name, (long long)bandwidth);
}

static void write_energy(const char *name, int64_t tenths, const char *unit, nestor_buffer *b) {
  if (!tenths) return;
  if (tenths % 10)
    nst_text_add(b, " %s = %lld.%lld %s", name, (long long)(tenths / 10), (long long)(tenths % 10), unit);
  else
    nst_text_add(b, " %s = %lld %s", name, (long long)(tenths / 10), unit);
}

static void write_level(const nst_draft *d, const nst_draft_level *level, nestor_buffer *b) {
  switch (level->kind) {
  case NST_DRAFT_MEMORY:
    nst_text_add(b, "memory %s {", level->name);
    if (*level->capacity_param)
      nst_text_add(b, " capacity = %s * 1 KiB", level->capacity_param);
    else if (level->capacity && level->capacity % 1024 == 0)
      nst_text_add(b, " capacity = %lld KiB", (long long)(level->capacity / 1024));
    else if (level->capacity)
      nst_text_add(b, " capacity = %lld B", (long long)level->capacity);
    if (level->double_buffered) nst_text_add(b, " double_buffered = true");
    write_bandwidth(d, "bandwidth", level->bandwidth, b);
    write_bandwidth(d, "read_bandwidth", level->read_bandwidth, b);
    write_bandwidth(d, "write_bandwidth", level->write_bandwidth, b);
    if (level->no_overlap) nst_text_add(b, " overlap = false");
    write_energy("energy", level->energy, "pJ/B", b);
    write_energy("read_energy", level->read_energy, "pJ/B", b);
    write_energy("write_energy", level->write_energy, "pJ/B", b);
    nst_text_add(b, " }\n");
    return;
  case NST_DRAFT_ARRAY:
    nst_text_add(b, "array %s[", level->name);
    for (int a = 0; a < level->naxes; a++) {
      nst_text_add(b, "%s%s = ", a ? ", " : "", level->axis[a]);
      if (*level->places_param[a])
        nst_text_add(b, "%s", level->places_param[a]);
      else
        nst_text_add(b, "%lld", (long long)level->places[a]);
    }
    nst_text_add(b, "]");
    if (level->no_multicast || level->no_reduce) {
      nst_text_add(b, " {");
      if (level->no_multicast) nst_text_add(b, " multicast = false");
      if (level->no_reduce) nst_text_add(b, " reduce = false");
      nst_text_add(b, " }");
    }
    nst_text_add(b, "\n");
    return;
  case NST_DRAFT_COMPUTE:
    nst_text_add(b, "compute %s {", level->name);
    write_energy("energy", level->energy, "pJ", b);
    if (level->rate != 1) nst_text_add(b, " rate = %lld", (long long)level->rate);
    nst_text_add(b, " }\n");
    return;
  }
}

static void plain_hardware(const nst_draft *d, nestor_buffer *b) {
  nst_text_add(b, "hardware %s", d->hardware);
  int n = 0;
  for (int l = 0; l < d->nlevels; l++) {
    const nst_draft_level *level = &d->levels[l];
    if (*level->capacity_param)
      nst_text_add(b, "%s%s = %lld", n++ ? ", " : "(", level->capacity_param, (long long)(level->capacity / 1024));
    for (int a = 0; a < level->naxes; a++)
      if (*level->places_param[a])
        nst_text_add(b, "%s%s = %lld", n++ ? ", " : "(", level->places_param[a], (long long)level->places[a]);
  }
  nst_text_add(b, "%s {\n", n ? ")" : "");
  if (d->clock) nst_text_add(b, "clock = %d GHz\n", d->clock);
  for (int l = 0; l < d->nlevels; l++) write_level(d, &d->levels[l], b);
  nst_text_add(b, "}\n");
}

/* ---- mappings ------------------------------------------------------------- */

static void write_tensors(const nst_draft *d, unsigned set, nestor_buffer *b) {
  if (set == ~0u) {
    nst_text_add(b, "all");
    return;
  }
  for (int t = 0, n = 0; t < d->ntensors; t++)
    if (set >> t & 1) nst_text_add(b, "%s%s", n++ ? ", " : "", d->tensors[t].name);
}

static void write_outs(const nst_draft *d, unsigned statements, nestor_buffer *b) {
  for (int s = 0, n = 0; s < d->nstatements; s++)
    if (statements >> s & 1) nst_text_add(b, "%s%s", n++ ? ", " : "", d->tensors[d->statements[s].out].name);
}

static void write_node(const nst_draft *d, const nst_draft_mapping *m, const nst_draft_node *node, nestor_buffer *b) {
  switch (node->kind) {
  case NST_NODE_FOR:
    nst_text_add(b, "for %s", d->dims[node->dim].name);
    if (node->tile.param >= 0)
      nst_text_add(b, " %s %s", node->into ? "into" : "by", m->params[node->tile.param].name);
    else if (node->tile.value != 1 || node->into)
      nst_text_add(b, " %s %lld", node->into ? "into" : "by", (long long)node->tile.value);
    nst_text_add(b, "\n");
    return;
  case NST_NODE_PAR:
    nst_text_add(b, "par %s", d->dims[node->dim].name);
    if (node->tile.value) nst_text_add(b, " by %lld", (long long)node->tile.value);
    nst_text_add(b, " on %s.%s\n", d->levels[node->level].name, d->levels[node->level].axis[node->axis]);
    return;
  case NST_NODE_KEEP:
    nst_text_add(b, "keep ");
    write_tensors(d, node->tensors, b);
    nst_text_add(b, " in %s\n", d->levels[node->level].name);
    return;
  case NST_NODE_SEQ: nst_text_add(b, "seq {\n"); return;
  case NST_NODE_DO:
    nst_text_add(b, "do ");
    write_outs(d, node->statements, b);
    nst_text_add(b, " {\n");
    return;
  case NST_NODE_END: nst_text_add(b, "}\n"); return;
  case NST_NODE_COMPUTE: nst_text_add(b, "compute\n"); return;
  }
}

/* Arguments only where the mapping hands its parameters on. */
static void write_arguments(const nst_draft_mapping *m, nst_draft_role role, nestor_buffer *b) {
  int n = 0;
  for (int p = 0; p < m->nparams; p++)
    if (m->params[p].role == role) nst_text_add(b, "%s%s", n++ ? ", " : "(", m->params[p].name);
  if (n) nst_text_add(b, ")");
}

static void plain_mapping(const nst_draft *d, int index, const char *name, nestor_buffer *b) {
  const nst_draft_mapping *m = &d->mappings[index];
  nst_text_add(b, "mapping %s", name ? name : m->name);
  for (int p = 0; p < m->nparams; p++)
    nst_text_add(b, "%s%s = %lld", p ? ", " : "(", m->params[p].name, (long long)m->params[p].value);
  nst_text_add(b, "%s of %s", m->nparams ? ")" : "", d->workload);
  write_arguments(m, NST_ROLE_SIZE, b);
  nst_text_add(b, " on %s", d->hardware);
  write_arguments(m, NST_ROLE_MACHINE, b);
  nst_text_add(b, " {\n");
  for (int i = 0; i < m->nnodes; i++) write_node(d, m, &m->nodes[i], b);
  nst_text_add(b, "}\n");
}

void nst_draft_write_workload(const nst_draft *d, nestor_buffer *out) { WRITE_LAID_OUT(out, plain_workload(d, b)); }
void nst_draft_write_hardware(const nst_draft *d, nestor_buffer *out) { WRITE_LAID_OUT(out, plain_hardware(d, b)); }
void nst_draft_write_mapping(const nst_draft *d, int m, const char *name, nestor_buffer *out) {
  WRITE_LAID_OUT(out, plain_mapping(d, m, name, b));
}

void nst_draft_write_plain(const nst_draft *d, nestor_buffer *out) {
  if (d->target != NST_KIND_GEN_HARDWARE) plain_workload(d, out);
  if (d->target == NST_KIND_GEN_WORKLOAD) return;
  plain_hardware(d, out);
  if (d->target == NST_KIND_GEN_HARDWARE) return;
  for (int m = 0; m < d->nmappings; m++) plain_mapping(d, m, NULL, out);
}
