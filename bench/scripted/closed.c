/* Closed forms as a weak model derives them. Without reuse every loop above a keep multiplies the tile; in boxes the
 * tiles are full, and a loop over other dimensions multiplies where something changes further in, as it should. */
#include "bench/scripted/belief.h"
#include "bench/tasks/path.h"
#include "bench/tasks/text.h"

#include <stdio.h>

typedef struct {
  char text[128];
} form;
enum { WORD = 2 * NST_DRAFT_NAME };

static form tile_form(const nst_draft *d, const nst_draft_node *loop) {
  form f;
  if (loop->tile.param >= 0)
    snprintf(f.text, WORD, "%s", d->mappings[0].params[loop->tile.param].name);
  else
    snprintf(f.text, WORD, "%lld", (long long)loop->tile.value);
  return f;
}

static form trips_form(const nst_draft *d, const nst_draft_node *loop) {
  form f;
  const form t = tile_form(d, loop);
  if (loop->tile.param >= 0)
    snprintf(f.text, WORD, "n_%.*s", NST_DRAFT_NAME, t.text);
  else
    snprintf(f.text, sizeof f.text, "ceildiv(%s, %.*s)", d->dims[loop->dim].size, NST_DRAFT_NAME, t.text);
  return f;
}

static void factor(nestor_buffer *b, int *n, const char *text) { nst_text_add(b, "%s%s", (*n)++ ? " * " : "", text); }

/* ---- tiles ---------------------------------------------------------------- */

static void add_tile(const nst_draft *d, const nst_draft_path *p, int tensor, nst_belief belief, nestor_buffer *b) {
  int n = 0;
  for (int k = 0; k < d->tensors[tensor].nranks; k++) {
    const nst_draft_rank *rank = &d->tensors[tensor].ranks[k];
    const nst_draft_node *loop = nst_draft_path_loop(p, rank->dim[0]);
    const char *size = d->dims[rank->dim[0]].size;
    char points[WORD * 2], text[WORD * 4];
    if (!loop)
      snprintf(points, sizeof points, "%s", size);
    else if (belief == NST_BELIEF_BOXES)
      snprintf(points, sizeof points, "%.*s", WORD, tile_form(d, loop).text);
    else
      snprintf(points, sizeof points, "min(%.*s, %s)", WORD, tile_form(d, loop).text, size);
    if (rank->dim[1] < 0)
      snprintf(text, sizeof text, "%s", points);
    else
      snprintf(text, sizeof text, "(%lld * (%s - 1) + %s)", (long long)rank->coef[0], points,
               d->dims[rank->dim[1]].size);
    factor(b, &n, text);
  }
}

static void add_usage(const nst_draft *d, nst_belief belief, nestor_buffer *b) {
  const int times = d->levels[nst_draft_next_memory(d, 0)].double_buffered ? 2 : 1;
  int terms = 0, branches = 0;
  nst_text_add(b, "ceil((");
  for (int branch = -1; branch <= d->nstatements; branch++) {
    int inside = 0;
    for (int t = 0; t < d->ntensors; t++) {
      const nst_draft_path p = nst_draft_path_of(d, t);
      if (!p.found || p.branch != branch) continue;
      if (branch >= 0 && !inside++)
        nst_text_add(b, branches++ ? ", " : terms ? " + max(0, " : "max(0, ");
      else if (terms)
        nst_text_add(b, " + ");
      terms++;
      nst_text_add(b, "%d * ", times * d->tensors[t].bits);
      add_tile(d, &p, t, belief, b);
    }
  }
  nst_text_add(b, "%s) / 8)", branches ? ")" : terms ? "" : "0");
}

/* ---- transfers ------------------------------------------------------------ */

static void add_elements(const nst_draft *d, int tensor, nestor_buffer *b) {
  int n = 0;
  for (int k = 0; k < d->tensors[tensor].nranks; k++) {
    const nst_draft_rank *rank = &d->tensors[tensor].ranks[k];
    char text[WORD * 3];
    if (rank->dim[1] < 0)
      snprintf(text, sizeof text, "%s", d->dims[rank->dim[0]].size);
    else
      snprintf(text, sizeof text, "(%lld * (%s - 1) + %s)", (long long)rank->coef[0], d->dims[rank->dim[0]].size,
               d->dims[rank->dim[1]].size);
    factor(b, &n, text);
  }
}

/* All tiles of the tensor's own loops, summed. */
static void add_own(const nst_draft *d, const nst_draft_path *p, int tensor, nst_belief belief, nestor_buffer *b) {
  int n = 0;
  for (int k = 0; k < d->tensors[tensor].nranks; k++) {
    const nst_draft_rank *rank = &d->tensors[tensor].ranks[k];
    const nst_draft_node *loop = nst_draft_path_loop(p, rank->dim[0]);
    const char *size = d->dims[rank->dim[0]].size;
    char text[WORD * 8];
    const form trips = loop ? trips_form(d, loop) : (form){"1"};
    if (rank->dim[1] >= 0)
      snprintf(text, sizeof text, "(%lld * (%s - %s) + %s * %s)", (long long)rank->coef[0], size, trips.text,
               trips.text, d->dims[rank->dim[1]].size);
    else if (loop && belief == NST_BELIEF_BOXES)
      snprintf(text, sizeof text, "%s * %s", trips.text, tile_form(d, loop).text);
    else
      snprintf(text, sizeof text, "%s", size);
    factor(b, &n, text);
  }
}

static void add_transfers(const nst_draft *d, int tensor, nst_belief belief, nestor_buffer *b) {
  const nst_draft_path p = nst_draft_path_of(d, tensor);
  const unsigned own = nst_draft_tensor_dims(d, tensor);
  add_own(d, &p, tensor, belief, b);
  for (int i = 0; i < p.n; i++) {
    if (own >> p.loops[i]->dim & 1) continue;
    const form trips = trips_form(d, p.loops[i]);
    if (belief != NST_BELIEF_BOXES || i < p.above) {
      nst_text_add(b, " * %s", trips.text);
      continue;
    }
    int n = 0;
    for (int j = i + 1; j < p.n; j++)
      if (own >> p.loops[j]->dim & 1)
        nst_text_add(b, "%s%s < %s", n++ ? " or " : " * (if ", tile_form(d, p.loops[j]).text,
                     d->dims[p.loops[j]->dim].size);
    if (n) nst_text_add(b, " then %s else 1)", trips.text);
  }
}

void nst_belief_closed(nestor_buffer *out, const nst_draft *draft, const char *name, nst_belief belief) {
  nst_draft d = *draft;
  const nst_draft_mapping *m = &d.mappings[0];
  if (belief == NST_BELIEF_BOXES)
    nst_belief_write(&d, belief);
  else
    nst_belief_count(&d, 0, belief);
  nestor_buffer *b = nestor_buffer_new();
  nst_text_add(b, "model %s(", name);
  for (int p = 0; p < m->nparams; p++) nst_text_add(b, "%s%s", p ? ", " : "", m->params[p].name);
  nst_text_add(b, ") {\n");
  for (int p = 0; p < m->nparams; p++)
    if (m->params[p].role == NST_ROLE_TILE)
      nst_text_add(b, "let n_%s = ceildiv(%s, %s)\n", m->params[p].name, d.dims[m->params[p].dim].size,
                   m->params[p].name);
  for (int i = 0; i < d.nquantities; i++) {
    const nst_draft_quantity *q = &d.quantities[i];
    nst_text_add(b, "out %s = ", q->name);
    if (q->tensor < 0)
      add_usage(&d, belief, b);
    else
      add_transfers(&d, q->tensor, belief, b);
    if (q->measure == NST_MEASURE_READS && d.tensors[q->tensor].producer >= 0) {
      nst_text_add(b, " - ");
      add_elements(&d, q->tensor, b);
    }
    nst_text_add(b, "\n");
  }
  nst_text_add(b, "}\n");
  nst_text_canonical(out, nestor_buffer_data(b), nestor_buffer_size(b));
  nestor_buffer_free(b);
}
