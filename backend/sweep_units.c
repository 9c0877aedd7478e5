/* Sets of units, and the units of a job; see sweep_run.h. Units are mostly done in
 * order, so a set is a handful of ranges whatever the number of units. */
#include "backend/sweep_run.h"

#include <stdlib.h>
#include <string.h>

void nst_unit_set_fini(nst_unit_set *s) {
  free(s->items);
  *s = (nst_unit_set){0};
}

void nst_unit_set_add(nst_unit_set *s, uint64_t begin, uint64_t end) {
  if (begin >= end) return;
  size_t low = 0, high = s->n; /* the first that ends at or after `begin` */
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (s->items[middle].end < begin)
      low = middle + 1;
    else
      high = middle;
  }
  size_t last = low; /* past the last that begins at or before `end` */
  while (last < s->n && s->items[last].begin <= end) {
    if (s->items[last].begin < begin) begin = s->items[last].begin;
    if (s->items[last].end > end) end = s->items[last].end;
    last++;
  }
  if (last == low) { /* one more */
    if (s->n == s->cap) {
      s->cap = s->cap ? 2 * s->cap : 16;
      s->items = realloc(s->items, s->cap * sizeof *s->items);
      if (!s->items) nst_out_of_memory();
    }
    memmove(&s->items[low + 1], &s->items[low], (s->n - low) * sizeof *s->items);
    s->n++;
  } else {
    memmove(&s->items[low + 1], &s->items[last], (s->n - last) * sizeof *s->items);
    s->n -= last - low - 1;
  }
  s->items[low] = (nst_unit_range){begin, end};
}

void nst_unit_set_merge(nst_unit_set *into, const nst_unit_set *from) {
  for (size_t i = 0; i < from->n; i++) nst_unit_set_add(into, from->items[i].begin, from->items[i].end);
}

bool nst_unit_set_meet(const nst_unit_set *a, const nst_unit_set *b) {
  size_t i = 0, j = 0;
  while (i < a->n && j < b->n) {
    if (a->items[i].end <= b->items[j].begin)
      i++;
    else if (b->items[j].end <= a->items[i].begin)
      j++;
    else
      return true;
  }
  return false;
}

uint64_t nst_unit_set_count(const nst_unit_set *s) {
  uint64_t n = 0;
  for (size_t i = 0; i < s->n; i++) n += s->items[i].end - s->items[i].begin;
  return n;
}

void nst_unit_set_rest(nst_unit_set *out, const nst_unit_set *s, uint64_t count) {
  uint64_t at = 0;
  for (size_t i = 0; i < s->n && at < count; i++) {
    nst_unit_set_add(out, at, s->items[i].begin < count ? s->items[i].begin : count);
    at = s->items[i].end;
  }
  nst_unit_set_add(out, at, count);
}

nst_sweep_job nst_sweep_job_make(const nst_sweep_engine *e, uint64_t limit, uint64_t shard, uint64_t shards) {
  const uint64_t units = limit && limit < e->units ? limit : e->units;
  if (shards < 2) shard = 0, shards = 1;
  const uint64_t count = units > shard ? (units - shard - 1) / shards + 1 : 0;
  return (nst_sweep_job){.count = count,
                         .first = shard,
                         .stride = shards,
                         .points = e->units ? (double)e->space * ((double)count / (double)e->units) : 0};
}
