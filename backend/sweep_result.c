/* What a sweep has found so far: the best, the front, the tally.
 *
 * Points are totally ordered (by objectives, then by place), so the best of a
 * union are the best of the bests, whatever the order of merging; likewise the
 * front, of which points equal in all metrics keep the earliest. A point that is
 * offered twice is there once, so merging what overlaps does no harm to either
 * (tallies add up, and must not overlap).
 *
 * Invariants: `best` ascends strictly; `front` ascends by its metrics, no member
 * dominates another; with two metrics the second then descends strictly, and
 * places are found by bisection. */
#include "backend/sweep.h"
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
  nst_sweep_point **items;
  size_t n, cap;
} point_list;

struct nst_sweep_result {
  nst_sweep_shape shape;
  int nobjectives, npareto;
  bool maximize;
  point_list best, front;
  nst_sweep_tally tally;
};

nst_sweep_result *nst_sweep_result_new(nst_sweep_shape shape) {
  nst_sweep_result *r = calloc(1, sizeof *r);
  if (!r) nst_out_of_memory();
  r->shape = shape;
  r->nobjectives = shape.sweep->nobjectives;
  r->npareto = shape.sweep->npareto;
  r->maximize = shape.sweep->maximize;
  return r;
}

static void list_fini(point_list *list) {
  for (size_t i = 0; i < list->n; i++) free(list->items[i]);
  free(list->items);
}

void nst_sweep_result_free(nst_sweep_result *r) {
  if (!r) return;
  list_fini(&r->best);
  list_fini(&r->front);
  free(r);
}

void nst_sweep_result_clear(nst_sweep_result *r) {
  for (size_t i = 0; i < r->best.n; i++) free(r->best.items[i]);
  for (size_t i = 0; i < r->front.n; i++) free(r->front.items[i]);
  r->best.n = r->front.n = 0;
  r->tally = (nst_sweep_tally){0};
}

nst_sweep_tally *nst_sweep_result_tally(nst_sweep_result *r) { return &r->tally; }

/* One block for a point and its arrays, the most aligned first. */
static nst_sweep_point *point_copy(const nst_sweep_result *r, const nst_sweep_point *p) {
  const size_t n = (size_t)r->shape.npoints, m = (size_t)r->shape.nmetrics;
  const size_t head = (sizeof *p + _Alignof(nst_rat) - 1) / _Alignof(nst_rat) * _Alignof(nst_rat);
  char *block = malloc(head + m * sizeof(nst_rat) + n * (sizeof(int64_t) + sizeof(uint64_t)));
  if (!block) nst_out_of_memory();
  nst_sweep_point *copy = (nst_sweep_point *)(void *)block;
  *copy = (nst_sweep_point){.variant = p->variant, .metrics = (nst_rat *)(void *)(block + head)};
  copy->params = (int64_t *)(void *)(copy->metrics + m);
  copy->places = (uint64_t *)(void *)(copy->params + n);
  if (m) memcpy(copy->metrics, p->metrics, m * sizeof *p->metrics);
  if (n) {
    memcpy(copy->params, p->params, n * sizeof *p->params);
    memcpy(copy->places, p->places, n * sizeof *p->places);
  }
  return copy;
}

static void insert(const nst_sweep_result *r, point_list *list, size_t at, const nst_sweep_point *p) {
  if (list->n == list->cap) {
    list->cap = list->cap ? 2 * list->cap : 16;
    list->items = realloc(list->items, list->cap * sizeof *list->items);
    if (!list->items) nst_out_of_memory();
  }
  memmove(&list->items[at + 1], &list->items[at], (list->n - at) * sizeof *list->items);
  list->items[at] = point_copy(r, p);
  list->n++;
}

static void remove_at(point_list *list, size_t at, size_t n) {
  if (!n) return;
  for (size_t i = 0; i < n; i++) free(list->items[at + i]);
  memmove(&list->items[at], &list->items[at + n], (list->n - at - n) * sizeof *list->items);
  list->n -= n;
}

/* ---- the order of points ---- */

static int compare_place(const nst_sweep_result *r, const nst_sweep_point *a, const nst_sweep_point *b) {
  for (int k = 0; k < r->shape.npoints; k++)
    if (a->places[k] != b->places[k]) return a->places[k] < b->places[k] ? -1 : 1;
  return a->variant == b->variant ? 0 : a->variant < b->variant ? -1 : 1;
}

static int compare_best(const nst_sweep_result *r, const nst_sweep_point *a, const nst_sweep_point *b) {
  for (int i = 0; i < r->nobjectives; i++) {
    const int c = nst_rat_cmp(a->metrics[i], b->metrics[i]);
    if (c) return r->maximize ? -c : c;
  }
  return compare_place(r, a, b);
}

static void offer_best(nst_sweep_result *r, const nst_sweep_point *p) {
  point_list *list = &r->best;
  if (list->n >= r->shape.top && (!list->n || compare_best(r, p, list->items[list->n - 1]) >= 0)) return;
  size_t low = 0, high = list->n; /* the first not before p */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (compare_best(r, list->items[middle], p) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < list->n && !compare_best(r, list->items[low], p)) return; /* the same point again */
  insert(r, list, low, p);
  if (list->n > r->shape.top) remove_at(list, list->n - 1, 1);
}

/* ---- the front ---- */

static int compare_front(const nst_sweep_result *r, const nst_sweep_point *a, const nst_sweep_point *b) {
  for (int i = 0; i < r->npareto; i++) {
    const int c = nst_rat_cmp(a->metrics[r->nobjectives + i], b->metrics[r->nobjectives + i]);
    if (c) return c;
  }
  return 0;
}

/* a is nowhere worse than b. */
static bool covers(const nst_sweep_result *r, const nst_sweep_point *a, const nst_sweep_point *b) {
  for (int i = r->nobjectives + r->npareto - 1; i >= r->nobjectives; i--)
    if (nst_rat_cmp(a->metrics[i], b->metrics[i]) > 0) return false;
  return true;
}

static void offer_front(nst_sweep_result *r, const nst_sweep_point *p) {
  point_list *list = &r->front;
  size_t low = 0, high = list->n; /* the first whose metrics are not before p's */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (compare_front(r, list->items[middle], p) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < list->n && !compare_front(r, list->items[low], p)) { /* equal in all metrics: the earlier one stays */
    if (compare_place(r, p, list->items[low]) >= 0) return;
    remove_at(list, low, 1);
    insert(r, list, low, p);
    return;
  }
  /* Only those before p can cover it, only those after it can be covered. With two metrics the nearest decide. */
  const bool plane = r->npareto == 2;
  for (size_t i = low; i-- > 0;) {
    if (covers(r, list->items[i], p)) return;
    if (plane) break;
  }
  if (plane) { /* the second metric descends, so what is covered is a run */
    size_t end = low;
    while (end < list->n && covers(r, p, list->items[end])) end++;
    remove_at(list, low, end - low);
  } else {
    size_t kept = low;
    for (size_t i = low; i < list->n; i++) {
      if (covers(r, p, list->items[i]))
        free(list->items[i]);
      else
        list->items[kept++] = list->items[i];
    }
    list->n = kept;
  }
  insert(r, list, low, p);
}

void nst_sweep_result_offer(nst_sweep_result *r, const nst_sweep_point *p) {
  if (r->nobjectives) offer_best(r, p);
  if (r->npareto) offer_front(r, p);
}

void nst_sweep_result_merge(nst_sweep_result *into, const nst_sweep_result *from) {
  for (size_t i = 0; i < from->best.n; i++) offer_best(into, from->best.items[i]);
  for (size_t i = 0; i < from->front.n; i++) offer_front(into, from->front.items[i]);
  into->tally.evaluated += from->tally.evaluated;
  into->tally.pruned += from->tally.pruned;
  into->tally.duplicates += from->tally.duplicates;
  into->tally.dropped += from->tally.dropped;
  into->tally.valid += from->tally.valid;
  into->tally.checksum += from->tally.checksum;
}

size_t nst_sweep_result_nbest(const nst_sweep_result *r) { return r->best.n; }
const nst_sweep_point *nst_sweep_result_best(const nst_sweep_result *r, size_t i) { return r->best.items[i]; }
size_t nst_sweep_result_nfront(const nst_sweep_result *r) { return r->front.n; }
const nst_sweep_point *nst_sweep_result_front(const nst_sweep_result *r, size_t i) { return r->front.items[i]; }
const nst_sweep_point *nst_sweep_result_worst(const nst_sweep_result *r) {
  return r->best.n && r->best.n >= r->shape.top ? r->best.items[r->best.n - 1] : NULL;
}

/* ---- bytes ---- */

static const char magic[8] = {'N', 'S', 'T', 'S', 'W', 'R', '1', '\n'};

static void put_point(const nst_sweep_result *r, const nst_sweep_point *p, nst_buffer *out) {
  nst_bytes_put(out, p->variant);
  for (int k = 0; k < r->shape.npoints; k++) nst_bytes_put(out, (uint64_t)p->params[k]);
  for (int k = 0; k < r->shape.npoints; k++) nst_bytes_put(out, p->places[k]);
  for (int i = 0; i < r->shape.nmetrics; i++) {
    const unsigned __int128 num = (unsigned __int128)p->metrics[i].num, den = (unsigned __int128)p->metrics[i].den;
    nst_bytes_put(out, (uint64_t)num);
    nst_bytes_put(out, (uint64_t)(num >> 64));
    nst_bytes_put(out, (uint64_t)den);
    nst_bytes_put(out, (uint64_t)(den >> 64));
  }
}

void nst_sweep_result_save(const nst_sweep_result *r, nst_buffer *out) {
  const size_t begin = out->len;
  nst_buffer_add(out, magic, sizeof magic);
  nst_bytes_put(out, (uint64_t)r->shape.npoints);
  nst_bytes_put(out, (uint64_t)r->nobjectives);
  nst_bytes_put(out, (uint64_t)r->npareto);
  nst_bytes_put(out, r->maximize);
  nst_bytes_put(out, r->shape.top);
  nst_bytes_put(out, r->tally.evaluated);
  nst_bytes_put(out, r->tally.pruned);
  nst_bytes_put(out, r->tally.duplicates);
  nst_bytes_put(out, r->tally.dropped);
  nst_bytes_put(out, r->tally.valid);
  nst_bytes_put(out, r->best.n);
  nst_bytes_put(out, r->front.n);
  for (size_t i = 0; i < r->best.n; i++) put_point(r, r->best.items[i], out);
  for (size_t i = 0; i < r->front.n; i++) put_point(r, r->front.items[i], out);
  nst_bytes_put(out, nst_bytes_checksum(out->text + begin, out->len - begin));
}

static nst_i128 get_wide(nst_reader *in) {
  const uint64_t low = nst_reader_get(in), high = nst_reader_get(in);
  return (nst_i128)((unsigned __int128)high << 64 | low);
}

static void get_point(const nst_sweep_result *r, nst_sweep_point *p, nst_reader *in) {
  p->variant = nst_reader_get(in);
  for (int k = 0; k < r->shape.npoints; k++) p->params[k] = (int64_t)nst_reader_get(in);
  for (int k = 0; k < r->shape.npoints; k++) p->places[k] = nst_reader_get(in);
  for (int i = 0; i < r->shape.nmetrics; i++) {
    const nst_i128 num = get_wide(in), den = get_wide(in);
    in->bad = in->bad || den <= 0 || !nst_rat_make(&p->metrics[i], num, den) || p->metrics[i].den != den;
  }
}

/* Whether n points of `size` bytes can be in what is left. */
static bool holds(const nst_reader *in, uint64_t n, size_t size) { return n <= in->left / size; }

static bool read_all(nst_sweep_result *r, nst_reader *in) {
  const uint64_t head[] = {(uint64_t)r->shape.npoints, (uint64_t)r->nobjectives, (uint64_t)r->npareto, r->maximize,
                           r->shape.top};
  for (size_t i = 0; i < sizeof head / sizeof *head; i++)
    if (nst_reader_get(in) != head[i]) return false;
  r->tally.evaluated = nst_reader_get(in);
  r->tally.pruned = nst_reader_get(in);
  r->tally.duplicates = nst_reader_get(in);
  r->tally.dropped = nst_reader_get(in);
  r->tally.valid = nst_reader_get(in);
  const uint64_t nbest = nst_reader_get(in), nfront = nst_reader_get(in);
  const size_t size = 8 + 16 * (size_t)r->shape.npoints + 32 * (size_t)r->shape.nmetrics;
  if (in->bad || !holds(in, nbest, size) || !holds(in, nfront, size) || in->left != (nbest + nfront) * size)
    return false;
  nst_arena *work = nst_arena_new();
  nst_sweep_point p = {.params = NST_NEW_ARRAY(work, r->shape.npoints, int64_t),
                       .places = NST_NEW_ARRAY(work, r->shape.npoints, uint64_t),
                       .metrics = NST_NEW_ARRAY(work, r->shape.nmetrics, nst_rat)};
  /* Offered again, so that what is read is in order whatever the bytes say. */
  for (uint64_t i = 0; i < nbest + nfront && !in->bad; i++) {
    get_point(r, &p, in);
    if (in->bad) break;
    if (i < nbest)
      offer_best(r, &p);
    else
      offer_front(r, &p);
  }
  nst_arena_free(work);
  return !in->bad && r->best.n == nbest && r->front.n == nfront;
}

nst_sweep_result *nst_sweep_result_load(nst_sweep_shape shape, const char *bytes, size_t len) {
  if (len < sizeof magic + 8 || memcmp(bytes, magic, sizeof magic)) return NULL;
  nst_reader tail = nst_reader_make(bytes + len - 8, 8);
  if (nst_reader_get(&tail) != nst_bytes_checksum(bytes, len - 8)) return NULL;
  nst_sweep_result *r = nst_sweep_result_new(shape);
  nst_reader in = nst_reader_make(bytes + sizeof magic, len - 8 - sizeof magic);
  if (read_all(r, &in)) return r;
  nst_sweep_result_free(r);
  return NULL;
}
