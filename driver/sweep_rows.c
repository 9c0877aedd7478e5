/* Every valid point as a row: CSV as in sweep_csv.c, or the records of a NumPy
 * array whose fields are the columns (parameters as int64, as doubles where a set
 * may hold fractions; numbers of orders, and 1 or 0 for keeps, as uint64; metrics
 * as the nearest double). The header of an array is padded to one size, so that
 * the number of rows can be put in at the end. */
#include "driver/sweep.h"

#include <string.h>

enum { NPY_HEAD = 16384 };

static const nst_value *params_of(const nestor_sweep *s, const nst_sweep_point *p, nst_walk *walk, nst_value *values) {
  if (!nst_space_is_whole(s->space)) { /* rare: the values are rationals, found by their places */
    nst_walk_go(walk, p->places);
    return nst_walk_vector(walk);
  }
  for (int k = 0; k < s->ir->npoints; k++)
    values[s->ir->points[k].param] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(p->params[k])};
  return values;
}

static void put(nst_buffer *out, uint64_t v) {
  char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (char)(v >> 8 * i & 255);
  nst_buffer_add(out, bytes, sizeof bytes);
}

static void put_double(nst_buffer *out, double d) {
  uint64_t v;
  memcpy(&v, &d, sizeof v);
  put(out, v);
}

static void record(const nestor_sweep *s, const nst_value *params, const nst_sweep_point *p, nst_buffer *out) {
  uint64_t orders[64], dropped;
  nst_variant_decode(&s->variants, p->variant, orders, &dropped);
  const bool whole = nst_space_is_whole(s->space);
  for (int k = 0; k < s->ir->npoints; k++) {
    if (whole)
      put(out, (uint64_t)p->params[k]);
    else
      put_double(out, nst_rat_to_double(params[s->ir->points[k].param].rat));
  }
  for (int b = 0; b < s->variants.npermutes; b++) put(out, orders[b]);
  for (int i = 0; i < s->variants.nkeeps; i++) put(out, !(dropped >> i & 1));
  for (int i = 0; i < nst_sweep_nmetrics(s); i++) put_double(out, nst_rat_to_double(nst_sweep_metric(s, i, p)));
}

void nst_sweep_row(void *sweep, nst_buffer *out, const nst_sweep_point *p) {
  const nestor_sweep *s = sweep;
  nst_value values[256]; /* those of swept parameters are set, and no others are looked at */
  nst_value *room = s->mapping->scope.nparams <= 256 ? values : NULL;
  nst_arena *arena = room ? NULL : nst_arena_new();
  if (!room) room = NST_NEW_ARRAY(arena, s->mapping->scope.nparams, nst_value);
  nst_walk *walk = nst_space_is_whole(s->space) ? NULL : nst_walk_new(s->space);
  const nst_value *params = params_of(s, p, walk, room);
  if (s->rows == NESTOR_ROWS_CSV)
    nst_sweep_csv_row(s, params, p, out);
  else
    record(s, params, p, out);
  nst_walk_free(walk);
  nst_arena_free(arena);
}

/* A name as a Python string. */
static void field(nst_buffer *out, const char *name, const char *type) {
  nst_buffer_puts(out, "('");
  for (; *name; name++) {
    if (*name == '\'' || *name == '\\') nst_buffer_putc(out, '\\');
    nst_buffer_putc(out, *name);
  }
  nst_buffer_printf(out, "', '%s'), ", type);
}

static void npy_head(const nestor_sweep *s, uint64_t count, nst_buffer *out) {
  nst_buffer text = {0};
  nst_buffer_puts(&text, "{'descr': [");
  for (int k = 0; k < s->ir->npoints; k++)
    field(&text, s->mapping->scope.params[s->ir->points[k].param].name, nst_space_is_whole(s->space) ? "<i8" : "<f8");
  for (int b = 0; b < s->variants.npermutes; b++) {
    nst_buffer name = {0};
    nst_buffer_printf(&name, "order_%d", b + 1);
    field(&text, name.text, "<u8");
    nst_buffer_fini(&name);
  }
  for (int i = 0; i < s->variants.nkeeps; i++) {
    nst_buffer name = {0};
    nst_sweep_point none = {0};
    nst_buffer_puts(&name, "keep ");
    nst_sweep_keep(s, &none, i, &name);
    field(&text, name.text, "<u8");
    nst_buffer_fini(&name);
  }
  for (int i = 0; i < nst_sweep_nmetrics(s); i++) {
    nst_buffer name = {0};
    nst_sweep_metric_name(s, i, &name);
    field(&text, name.text, "<f8");
    nst_buffer_fini(&name);
  }
  nst_buffer_printf(&text, "], 'fortran_order': False, 'shape': (%20llu,), }", (unsigned long long)count);
  const size_t size = (text.len + 64) / NPY_HEAD * NPY_HEAD + NPY_HEAD; /* the same for every count */
  nst_buffer_pad(&text, ' ', size - 12 - 1 - text.len);
  nst_buffer_putc(&text, '\n');
  nst_buffer_add(out, "\x93NUMPY\x02\x00", 8); /* version 2: a length of 32 bits */
  for (int i = 0; i < 4; i++) nst_buffer_putc(out, (char)(text.len >> 8 * i & 255));
  nst_buffer_add(out, text.text, text.len);
  nst_buffer_fini(&text);
}

void nestor_sweep_list_head(nestor_sweep *s, nestor_rows rows, uint64_t count, nestor_buffer *out) {
  if (rows == NESTOR_ROWS_CSV)
    nst_sweep_csv_head(s, &out->text);
  else
    npy_head(s, count, &out->text);
}
