/* Printing tables; see table.h. Widths count bytes up to code points, so that
 * names beyond ASCII keep their columns. */
#include "driver/table.h"
#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

void nst_table_init(nst_table *t, int ncolumns, int nleft, int nheader, bool color) {
  *t = (nst_table){.ncolumns = ncolumns, .nleft = nleft, .nheader = nheader, .color = color};
}

void nst_table_fini(nst_table *t) {
  nst_buffer_fini(&t->cells);
  free(t->starts);
}

nst_buffer *nst_table_cell(nst_table *t) {
  if (t->nstarts) nst_buffer_putc(&t->cells, '\0');
  if (t->nstarts == t->starts_cap) {
    t->starts_cap = t->starts_cap ? 2 * t->starts_cap : 64;
    t->starts = realloc(t->starts, t->starts_cap * sizeof *t->starts);
    if (!t->starts) nst_out_of_memory();
  }
  t->starts[t->nstarts++] = t->cells.len;
  return &t->cells;
}

void nst_table_text(nst_table *t, const char *text) { nst_buffer_puts(nst_table_cell(t), text); }

static size_t width_of(const char *text) {
  size_t n = 0;
  for (; *text; text++) n += ((unsigned char)*text & 0xC0) != 0x80;
  return n;
}

static void print_row(const nst_table *t, size_t row, const size_t *widths, nst_buffer *out) {
  const size_t begin = out->len;
  for (int c = 0; c < t->ncolumns; c++) {
    const char *cell = t->cells.text + t->starts[row * (size_t)t->ncolumns + (size_t)c];
    const size_t pad = widths[c] - width_of(cell);
    nst_buffer_puts(out, "  ");
    if (c >= t->nleft) nst_buffer_pad(out, ' ', pad);
    nst_buffer_puts(out, cell);
    if (c < t->nleft) nst_buffer_pad(out, ' ', pad);
  }
  while (out->len > begin && out->text[out->len - 1] == ' ') out->text[--out->len] = '\0';
  nst_buffer_putc(out, '\n');
}

void nst_table_print(nst_table *t, nst_buffer *out) {
  nst_buffer_putc(&t->cells, '\0');
  size_t widths[NST_TABLE_COLUMNS] = {0}, total = 0;
  const size_t columns = (size_t)t->ncolumns, rows = t->nstarts / columns;
  for (size_t i = 0; i < rows * columns; i++) {
    const size_t w = width_of(t->cells.text + t->starts[i]);
    if (w > widths[i % columns]) widths[i % columns] = w;
  }
  for (size_t c = 0; c < columns; c++) total += widths[c] + 2;
  for (size_t r = 0; r < rows; r++) {
    if (r < (size_t)t->nheader && t->color) nst_buffer_puts(out, r + 1 < (size_t)t->nheader ? NST_BOLD : NST_DIM);
    print_row(t, r, widths, out);
    if (r + 1 == (size_t)t->nheader) {
      nst_buffer_puts(out, "  ");
      nst_buffer_pad(out, '-', total - 2);
      if (t->color) nst_buffer_puts(out, NST_PLAIN);
      nst_buffer_putc(out, '\n');
    } else if (r < (size_t)t->nheader && t->color) nst_buffer_puts(out, NST_PLAIN);
  }
}
