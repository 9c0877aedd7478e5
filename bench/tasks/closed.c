/* Closed forms of the transfers between the outermost and the middle memory, and of what the middle memory holds.
 *
 * A dimension has at most one loop above a keep of the middle memory. A tensor without sliding window is loaded again
 * by every loop that is not over one of its dimensions, unless nothing of it changes further in. Of a tensor with
 * sliding windows, what is loaded is all tiles less what consecutive tiles have in common, summed over the loops that
 * start a step: docs/counting.md, section 4. */
#include "bench/tasks/closed.h"

#include "bench/tasks/path.h"
#include "bench/tasks/text.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  char text[96];
} form;

static const char *size_of(const nst_draft *d, int dim) { return d->dims[dim].size; }
static const char *tile_of(const nst_draft *d, const nst_draft_node *loop) {
  return d->mappings[0].params[loop->tile.param].name;
}

/* Elements of `points` values of the rank's first dimension with all of its second. */
static form window(const nst_draft *d, const nst_draft_rank *rank, const char *points) {
  form f;
  const char *filter = size_of(d, rank->dim[1]);
  if (rank->coef[0] == 1)
    snprintf(f.text, sizeof f.text, "(%s + %s - 1)", points, filter);
  else
    snprintf(f.text, sizeof f.text, "(%.24s * %.8s - (%.24s - 1) * max(0, %.8s - %lld))", points, filter, points,
             filter, (long long)rank->coef[0]);
  return f;
}

static form whole(const nst_draft *d, const nst_draft_rank *rank) {
  form f;
  if (rank->dim[1] >= 0) return window(d, rank, size_of(d, rank->dim[0]));
  snprintf(f.text, sizeof f.text, "%s", size_of(d, rank->dim[0]));
  return f;
}

static void write_product(nestor_buffer *b, int *n, const char *factor) {
  nst_text_add(b, "%s%s", (*n)++ ? " * " : "", factor);
}

static void write_elements(const nst_draft *d, int tensor, nestor_buffer *b) {
  int n = 0;
  for (int k = 0; k < d->tensors[tensor].nranks; k++) write_product(b, &n, whole(d, &d->tensors[tensor].ranks[k]).text);
}

static void write_tile(const nst_draft *d, const nst_draft_path *p, int tensor, nestor_buffer *b) {
  int n = 0;
  for (int k = 0; k < d->tensors[tensor].nranks; k++) {
    const nst_draft_rank *rank = &d->tensors[tensor].ranks[k];
    const nst_draft_node *loop = nst_draft_path_loop(p, rank->dim[0]);
    char points[2 * NST_DRAFT_NAME + 8];
    if (loop)
      snprintf(points, sizeof points, "min(%s, %s)", tile_of(d, loop), size_of(d, rank->dim[0]));
    else
      snprintf(points, sizeof points, "%s", size_of(d, rank->dim[0]));
    write_product(b, &n, rank->dim[1] >= 0 ? window(d, rank, points).text : points);
  }
}

/* ---- transfers of dense tensors ------------------------------------------- */

static void write_dense(const nst_draft *d, const nst_draft_path *p, int tensor, nestor_buffer *b) {
  const unsigned own = nst_draft_tensor_dims(d, tensor);
  write_elements(d, tensor, b);
  for (int i = 0; i < p->n; i++) {
    if (own >> p->loops[i]->dim & 1) continue;
    const char *trips = tile_of(d, p->loops[i]);
    if (i < p->above) {
      nst_text_add(b, " * n_%s", trips);
      continue;
    }
    int n = 0;
    for (int j = i + 1; j < p->n; j++) {
      if (!(own >> p->loops[j]->dim & 1)) continue;
      nst_text_add(b, "%s%s < %s", n++ ? " or " : " * (if ", tile_of(d, p->loops[j]), size_of(d, p->loops[j]->dim));
    }
    if (n) nst_text_add(b, " then n_%s else 1)", trips);
  }
}

/* ---- transfers of tensors with windows ------------------------------------ */

static const nst_draft_rank *rank_of(const nst_draft *d, int tensor, int dim) {
  for (int k = 0; k < d->tensors[tensor].nranks; k++)
    if (d->tensors[tensor].ranks[k].dim[0] == dim || d->tensors[tensor].ranks[k].dim[1] == dim)
      return &d->tensors[tensor].ranks[k];
  return NULL;
}

static int place_of(const nst_draft_path *p, int dim) {
  for (int i = 0; i < p->n; i++)
    if (p->loops[i]->dim == dim) return i;
  return -1;
}

/* The elements of all tiles of a rank, summed. */
static void write_all_tiles(const nst_draft *d, const nst_draft_path *p, const nst_draft_rank *rank, nestor_buffer *b, int *n) {
  const nst_draft_node *loop = nst_draft_path_loop(p, rank->dim[0]);
  char text[160];
  if (!loop || rank->dim[1] < 0) {
    write_product(b, n, whole(d, rank).text);
    return;
  }
  const char *size = size_of(d, rank->dim[0]), *filter = size_of(d, rank->dim[1]), *t = tile_of(d, loop);
  if (rank->coef[0] == 1)
    snprintf(text, sizeof text, "(%s + n_%s * (%s - 1))", size, t, filter);
  else
    snprintf(text, sizeof text, "(%s * %s - (%s - n_%s) * max(0, %s - %lld))", size, filter, size, t, filter,
             (long long)rank->coef[0]);
  write_product(b, n, text);
}

/* What a step that loop j starts has in common with the one before, summed over these steps; false: nothing. */
static bool common(const nst_draft *d, const nst_draft_path *p, int tensor, int j) {
  const nst_draft_rank *rank = rank_of(d, tensor, p->loops[j]->dim);
  return !rank || rank->dim[1] >= 0;
}

static void write_common(const nst_draft *d, const nst_draft_path *p, int tensor, int j, nestor_buffer *b) {
  int n = 0;
  char text[224];
  for (int i = 0; i < p->n; i++) /* dimensions that the tensor does not have */
    if (!rank_of(d, tensor, p->loops[i]->dim) && i <= j) {
      snprintf(text, sizeof text, i == j ? "(n_%s - 1)" : "n_%s", tile_of(d, p->loops[i]));
      write_product(b, &n, text);
    }
  for (int k = 0; k < d->tensors[tensor].nranks; k++) {
    const nst_draft_rank *rank = &d->tensors[tensor].ranks[k];
    const int at = place_of(p, rank->dim[0]);
    if (at < j) {
      write_all_tiles(d, p, rank, b, &n);
      continue;
    }
    const char *t = tile_of(d, p->loops[at]), *size = size_of(d, rank->dim[0]);
    const long long stride = (long long)rank->coef[0];
    if (rank->dim[1] < 0)
      snprintf(text, sizeof text, "(if %s < %s then 0 else %s)", t, size, size);
    else if (at == j)
      snprintf(text, sizeof text, "(n_%s - 1) * max(0, %s - %lld)", t, size_of(d, rank->dim[1]), stride);
    else
      snprintf(text, sizeof text, "(if %s < %s then max(0, %s - %lld - %s%s * (n_%s - 2)) else %s)", t, size,
               size_of(d, rank->dim[1]), stride,
               stride == 1   ? ""
               : stride == 2 ? "2 * "
                             : "3 * ",
               t, t, whole(d, rank).text);
    write_product(b, &n, text);
  }
}

static bool slides(const nst_draft *d, const nst_draft_path *p, int tensor) {
  for (int k = 0; k < d->tensors[tensor].nranks; k++)
    if (d->tensors[tensor].ranks[k].dim[1] >= 0 && nst_draft_path_loop(p, d->tensors[tensor].ranks[k].dim[0])) return true;
  return false;
}

static void write_transfers(const nst_draft *d, int tensor, nestor_buffer *b) {
  const nst_draft_path p = nst_draft_path_of(d, tensor);
  if (!slides(d, &p, tensor)) {
    write_dense(d, &p, tensor, b);
    return;
  }
  int n = 0;
  for (int i = 0; i < p.n; i++)
    if (!rank_of(d, tensor, p.loops[i]->dim)) {
      char trips[NST_DRAFT_NAME + 4];
      snprintf(trips, sizeof trips, "n_%s", tile_of(d, p.loops[i]));
      write_product(b, &n, trips);
    }
  for (int k = 0; k < d->tensors[tensor].nranks; k++) write_all_tiles(d, &p, &d->tensors[tensor].ranks[k], b, &n);
  for (int j = p.above; j < p.n; j++) {
    if (!common(d, &p, tensor, j)) continue;
    nst_text_add(b, " - ");
    write_common(d, &p, tensor, j, b);
  }
}

/* ---- what the middle memory holds ----------------------------------------- */

static void write_usage(const nst_draft *d, nestor_buffer *b) {
  const nst_draft_level *level = &d->levels[nst_draft_next_memory(d, 0)];
  bool bits = false;
  nst_draft_path paths[NST_DRAFT_TENSORS];
  int branches = 0;
  for (int t = 0; t < d->ntensors; t++) {
    paths[t] = nst_draft_path_of(d, t);
    bits |= d->tensors[t].bits % 8 != 0;
    if (paths[t].found && paths[t].branch >= branches) branches = paths[t].branch + 1;
  }
  const int times = level->double_buffered ? 2 : 1;
  nst_text_add(b, bits ? "ceil((" : "");
  int terms = 0;
  for (int branch = -1; branch < branches; branch++) {
    int n = 0;
    for (int t = 0; t < d->ntensors; t++) {
      if (!paths[t].found || paths[t].branch != branch) continue;
      if (!n++ && branch == 0) nst_text_add(b, "%smax(0", terms++ ? " + " : "");
      if (branch >= 0 && n == 1)
        nst_text_add(b, ", ");
      else if (terms + n > 1)
        nst_text_add(b, " + ");
      if (branch < 0) terms++;
      const int factor = times * (bits ? d->tensors[t].bits : d->tensors[t].bits / 8);
      if (factor != 1) nst_text_add(b, "%d * ", factor);
      write_tile(d, &paths[t], t, b);
    }
    if (!n && branch == 0) nst_text_add(b, "%smax(0", terms++ ? " + " : "");
  }
  if (branches) nst_text_add(b, ")");
  if (bits) nst_text_add(b, ") / 8)");
}

void nst_closed_write(const nst_draft *d, const char *name, nestor_buffer *out) {
  const nst_draft_mapping *m = &d->mappings[0];
  nestor_buffer *b = nestor_buffer_new();
  nst_text_add(b, "model %s(", name);
  for (int p = 0; p < m->nparams; p++) nst_text_add(b, "%s%s", p ? ", " : "", m->params[p].name);
  nst_text_add(b, ") {\n");
  for (int p = 0; p < m->nparams; p++)
    if (m->params[p].role == NST_ROLE_TILE)
      nst_text_add(b, "let n_%s = ceildiv(%s, %s)\n", m->params[p].name, size_of(d, m->params[p].dim),
                   m->params[p].name);
  for (int i = 0; i < d->nquantities; i++) {
    const nst_draft_quantity *q = &d->quantities[i];
    nst_text_add(b, "out %s = ", q->name);
    if (q->measure == NST_MEASURE_USAGE)
      write_usage(d, b);
    else
      write_transfers(d, q->tensor, b);
    if (q->measure == NST_MEASURE_READS && d->tensors[q->tensor].producer >= 0) {
      nst_text_add(b, " - ");
      write_elements(d, q->tensor, b);
    }
    nst_text_add(b, "\n");
  }
  nst_text_add(b, "}\n");
  nst_text_canonical(out, nestor_buffer_data(b), nestor_buffer_size(b));
  nestor_buffer_free(b);
}
