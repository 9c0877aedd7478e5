/* The canonical form of a draft: its text with each name replaced by its place in order of declaration, which is the
 * order of first use. */
#include "bench/tasks/canon.h"

#include "bench/record/memory.h"
#include "bench/tasks/text.h"

#include <stdio.h>
#include <stdlib.h>

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

nst_canon nst_canon_of(const nst_draft *d) {
  nst_draft *renamed = nst_memory_new(1, sizeof *renamed);
  *renamed = *d;
  rename_all(renamed);
  nestor_buffer *text = nestor_buffer_new();
  nst_draft_write_plain(renamed, text);
  nst_canon canon;
  nst_digest_parts(canon.program, (const nst_digest_part[]){{nestor_buffer_data(text), nestor_buffer_size(text)}}, 1);
  for (int q = 0; q < d->nquantities; q++) {
    char expression[128];
    nst_quantity_expression(renamed, &d->quantities[q], expression, sizeof expression);
    nst_text_add(text, " %s", expression);
  }
  nst_text_add(text, " %s %s %d %d", nst_kind_name(d->kind), nst_kind_name(d->target), d->any_tile, d->fault);
  nst_digest_parts(canon.task, (const nst_digest_part[]){{nestor_buffer_data(text), nestor_buffer_size(text)}}, 1);
  nestor_buffer_free(text);
  free(renamed);
  return canon;
}
