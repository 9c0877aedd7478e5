/* Parts of answers, by kind, level and `metric@level`. Each combination is one row, found by an index of names, so that
 * a sample costs what it has figures; metrics over everything are sums of the rows. */
#include "bench/report/parts.h"

#include "bench/record/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t metric_size(const char *name) { return strcspn(name, "@_"); }

static bool is_of(const char *name, const char *metric) {
  const size_t size = metric_size(name);
  return strlen(metric) == size && !memcmp(name, metric, size);
}

void nst_parts_add(nst_report_system *s, nst_kind kind, int level, const char *name, bool right) {
  if (!s->part_index) s->part_index = json_object();
  const size_t size = strlen(name) + 32;
  char *key = nst_memory_new(size, 1);
  snprintf(key, size, "%d/%d/%s", (int)kind, level, name);
  const json_t *known = json_object_get(s->part_index, key);
  size_t i = s->nparts;
  if (known)
    i = (size_t)json_integer_value(known);
  else {
    json_object_set_new(s->part_index, key, json_integer((json_int_t)i));
    if ((s->nparts & (s->nparts - 1)) == 0)
      s->parts = nst_memory_grow(s->parts, s->nparts ? 2 * s->nparts : 1, sizeof *s->parts);
    s->parts[s->nparts++] = (nst_report_part){kind, level, {nst_memory_text(name, strlen(name)), 0, 0}};
  }
  free(key);
  s->parts[i].figures.total++;
  s->parts[i].figures.right += right;
}

static int by_place(const void *a, const void *b) {
  const nst_report_part *x = a, *y = b;
  if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
  if (x->level != y->level) return x->level < y->level ? -1 : 1;
  return strcmp(x->figures.name, y->figures.name);
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const nst_report_metric *)a)->name, ((const nst_report_metric *)b)->name);
}

void nst_parts_make(nst_report_system *s) {
  if (!s->nparts) return;
  json_decref(s->part_index); /* the places change */
  s->part_index = NULL;
  qsort(s->parts, s->nparts, sizeof *s->parts, by_place);
  s->metrics = nst_memory_new(s->nparts, sizeof *s->metrics);
  for (size_t p = 0; p < s->nparts; p++) {
    const nst_report_metric *from = &s->parts[p].figures;
    size_t i = 0;
    while (i < s->nmetrics && !is_of(from->name, s->metrics[i].name)) i++;
    if (i == s->nmetrics) s->metrics[s->nmetrics++].name = nst_memory_text(from->name, metric_size(from->name));
    s->metrics[i].right += from->right;
    s->metrics[i].total += from->total;
  }
  qsort(s->metrics, s->nmetrics, sizeof *s->metrics, by_name);
}

void nst_parts_free(nst_report_system *s) {
  for (size_t i = 0; i < s->nparts; i++) free(s->parts[i].figures.name);
  for (size_t i = 0; i < s->nmetrics; i++) free(s->metrics[i].name);
  free(s->parts), free(s->metrics);
  json_decref(s->part_index);
}

nst_report_metric nst_parts_sum(const nst_report_system *s, nst_kind kind, int level, const char *metric) {
  nst_report_metric sum = {NULL, 0, 0};
  for (size_t p = 0; p < s->nparts; p++) {
    const nst_report_part *part = &s->parts[p];
    if (part->kind != kind || part->level != level || !is_of(part->figures.name, metric)) continue;
    sum.right += part->figures.right;
    sum.total += part->figures.total;
  }
  return sum;
}

bool nst_parts_has_kind(const nst_report_system *s, nst_kind kind) {
  for (size_t p = 0; p < s->nparts; p++)
    if (s->parts[p].kind == kind) return true;
  return false;
}

void nst_parts_signs(char out[NST_LEVELS + 1], const nst_report_system *s, nst_kind kind, const char *metric) {
  for (int level = 1; level <= NST_LEVELS; level++) {
    const nst_report_metric m = nst_parts_sum(s, kind, level, metric);
    out[level - 1] = m.total ? "0123456789#"[10 * m.right / m.total] : '.';
  }
  out[NST_LEVELS] = '\0';
}

json_t *nst_parts_json(const nst_report_system *s) {
  json_t *out = json_array();
  for (size_t p = 0; p < s->nparts; p++) {
    const nst_report_part *part = &s->parts[p];
    json_array_append_new(out, json_pack("{s:s, s:i, s:s, s:o, s:o}", "kind", nst_kind_name(part->kind), "level",
                                         part->level, "metric", part->figures.name, "right",
                                         nst_record_from_int((int64_t)part->figures.right), "of",
                                         nst_record_from_int((int64_t)part->figures.total)));
  }
  return out;
}
