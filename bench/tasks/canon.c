/* The canonical form of a draft: its text with each name replaced by its place in order of declaration, which is the
 * order of first use. */
#include "bench/tasks/canon.h"

#include "bench/record/memory.h"
#include "bench/tasks/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void number(char name[NST_DRAFT_NAME], char letter, int i) {
  if (*name) snprintf(name, NST_DRAFT_NAME, "%c%d", letter, i);
}

static void rename_all(nst_draft *d) {
  number(d->workload, 'w', 0);
  number(d->hardware, 'h', 0);
  for (int i = 0; i < d->ndims; i++) number(d->dims[i].name, 'd', i), number(d->dims[i].size, 'D', i);
  for (int t = 0; t < d->ntensors; t++) number(d->tensors[t].name, 'T', t);
  for (int l = 0; l < d->nlevels; l++) {
    nst_draft_level *level = &d->levels[l];
    number(level->name, 'L', l);
    number(level->capacity_param, 'C', l);
    for (int a = 0; a < level->naxes; a++) number(level->axis[a], 'x', a), number(level->places_param[a], 'P', a);
  }
  for (int m = 0; m < d->nmappings; m++) {
    number(d->mappings[m].name, 'm', m);
    for (int p = 0; p < d->mappings[m].nparams; p++) number(d->mappings[m].params[p].name, 'p', p);
  }
}

static const char *type_without_width(const char *type) {
  static const char *const types[] = {"int", "uint", "fp", "bf"};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (!strncmp(type, types[i], strcspn(type, "0123456789"))) return types[i];
  return type;
}

static void rub_out_numbers(nst_draft *d) {
  for (int i = 0; i < d->ndims; i++) d->dims[i].extent = 0;
  for (int t = 0; t < d->ntensors; t++) {
    d->tensors[t].type = type_without_width(d->tensors[t].type);
    for (int k = 0; k < d->tensors[t].nranks; k++) {
      nst_draft_rank *rank = &d->tensors[t].ranks[k];
      for (int i = 0; i < 2; i++)
        if (rank->coef[i] > 1) rank->coef[i] = 2;
      if (rank->offset) rank->offset = -1;
    }
  }
}

static void digest(uint8_t out[NST_DIGEST_BYTES], const nestor_buffer *text) {
  nst_digest_parts(out, (const nst_digest_part[]){{nestor_buffer_data(text), nestor_buffer_size(text)}}, 1);
}

nst_canon nst_canon_of(const nst_draft *d) {
  nst_draft *renamed = nst_memory_new(1, sizeof *renamed);
  *renamed = *d;
  rename_all(renamed);
  nestor_buffer *text = nestor_buffer_new(), *split = nestor_buffer_new();
  nst_draft_write_plain(renamed, text);
  nst_canon canon;
  for (int q = 0; q < d->nquantities; q++) {
    char expression[128];
    nst_quantity_expression(renamed, &d->quantities[q], expression, sizeof expression);
    nst_text_add(text, " %s", expression);
  }
  nst_text_add(text, " %s %s %d %d", nst_kind_name(d->kind), nst_kind_name(d->target), d->any_tile, d->fault);
  digest(canon.task, text);
  if (d->target == NST_KIND_GEN_WORKLOAD) rub_out_numbers(renamed);
  nst_draft_write_plain(renamed, split);
  digest(canon.program, split);
  nestor_buffer_free(text);
  nestor_buffer_free(split);
  free(renamed);
  return canon;
}
