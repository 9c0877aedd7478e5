/* Text tables: cells are collected row by row, widths found at the end.
 *
 * A table is a list of rows of ncolumns cells; the first nleft columns are
 * aligned left, the others right. The last header row is followed by a rule. */
#ifndef NST_DRIVER_TABLE_H
#define NST_DRIVER_TABLE_H
#include "base/buffer.h"
#include <stdbool.h>

enum { NST_TABLE_COLUMNS = 256 };
typedef struct {
  int ncolumns, nleft, nheader;
  bool color;
  nst_buffer cells;       /* texts, each ended by a NUL */
  size_t *starts; size_t nstarts, starts_cap;
} nst_table;

void nst_table_init(nst_table *t, int ncolumns, int nleft, int nheader, bool color);
void nst_table_fini(nst_table *t);
/* The next cell is what is appended to the returned buffer until the next call. */
nst_buffer *nst_table_cell(nst_table *t);
void nst_table_text(nst_table *t, const char *text); /* a whole cell */
/* Rows are indented by two spaces; a row whose cells are all empty is a blank line. */
void nst_table_print(nst_table *t, nst_buffer *out);

#define NST_BOLD "\033[1m"
#define NST_DIM "\033[2m"
#define NST_RED "\033[31m"
#define NST_GREEN "\033[32m"
#define NST_PLAIN "\033[0m"
#endif
