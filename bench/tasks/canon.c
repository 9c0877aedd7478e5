/* The canonical form of a draft: the text of its declarations, each name of its own replaced by a number in order of first use. */
#include "bench/tasks/canon.h"

#include "bench/tasks/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_NAMES = 192 };
typedef struct {
  struct {
    const char *text;
    size_t size;
    int number; /* in order of first use, -1: not used yet */
  } own[MOST_NAMES]; /* the draft's names */
  int nown, nseen;
  nestor_buffer *out;
} renaming;

static int index_of(const renaming *n, const char *name, size_t size) {
  for (int i = 0; i < n->nown; i++)
    if (n->own[i].text[0] == *name && n->own[i].size == size && !memcmp(n->own[i].text, name, size)) return i;
  return -1;
}

static void own(renaming *n, const char *name) {
  const size_t size = strlen(name);
  if (!size || n->nown == MOST_NAMES || index_of(n, name, size) >= 0) return;
  n->own[n->nown].text = name;
  n->own[n->nown].size = size;
  n->own[n->nown++].number = -1;
}

static void collect(renaming *n, const nst_draft *d) {
  own(n, d->workload);
  own(n, d->hardware);
  for (int i = 0; i < d->ndims; i++) own(n, d->dims[i].name), own(n, d->dims[i].size);
  for (int t = 0; t < d->ntensors; t++) own(n, d->tensors[t].name);
  for (int l = 0; l < d->nlevels; l++) {
    own(n, d->levels[l].name);
    own(n, d->levels[l].capacity_param);
    for (int a = 0; a < d->levels[l].naxes; a++) own(n, d->levels[l].axis[a]), own(n, d->levels[l].places_param[a]);
  }
  for (int m = 0; m < d->nmappings; m++) {
    own(n, d->mappings[m].name);
    for (int p = 0; p < d->mappings[m].nparams; p++) own(n, d->mappings[m].params[p].name);
  }
}

static void rename_text(renaming *n, const char *text) {
  while (*text) {
    size_t size = 1;
    if (isalnum((unsigned char)*text) || *text == '_')
      while (isalnum((unsigned char)text[size]) || text[size] == '_') size++;
    const int mine = isalpha((unsigned char)*text) ? index_of(n, text, size) : -1;
    if (mine < 0) nestor_buffer_append(n->out, text, size);
    else {
      if (n->own[mine].number < 0) n->own[mine].number = n->nseen++;
      const char number[] = {'%', (char)('0' + n->own[mine].number / 10), (char)('0' + n->own[mine].number % 10)};
      nestor_buffer_append(n->out, number, sizeof number);
    }
    text += size;
  }
}

nst_canon nst_canon_of(const nst_draft *d) {
  renaming n = {.out = nestor_buffer_new()};
  collect(&n, d);
  nestor_buffer *text = nestor_buffer_new();
  nst_draft_write_plain(d, text);
  rename_text(&n, nestor_buffer_data(text));
  nst_canon canon;
  nst_digest_parts(canon.program, (const nst_digest_part[]){{nestor_buffer_data(n.out), nestor_buffer_size(n.out)}}, 1);
  nestor_buffer_clear(text);
  for (int q = 0; q < d->nquantities; q++) {
    char expression[128];
    nst_quantity_expression(d, &d->quantities[q], expression, sizeof expression);
    nst_text_add(text, " %s", expression);
  }
  rename_text(&n, nestor_buffer_data(text));
  nst_text_add(n.out, " %s %s %d %d", nst_kind_name(d->kind), nst_kind_name(d->target), d->any_tile, d->fault);
  nst_digest_parts(canon.task, (const nst_digest_part[]){{nestor_buffer_data(n.out), nestor_buffer_size(n.out)}}, 1);
  nestor_buffer_free(text);
  nestor_buffer_free(n.out);
  return canon;
}
