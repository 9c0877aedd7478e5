/* Columns on demand: the factors of a mapping's groups, remembered.
 *
 * A group's columns depend on a few numbers only, and in a long run over
 * parameter vectors the same few numbers come again and again. So the points
 * share one memory of columns per thread:
 *   cell  the groups that depend on exactly the same numbers (its key)
 *   row   what a kernel looks up: the cells whose keys lie within one key, and
 *         of their columns only the products that formulas ask for
 * A convolution of six dimensions has a dozen groups per tensor and edge, and
 * four rows. A missing row is filled from its cells, a missing cell by
 * nst_group_count. Neither looks at the mapping: a shape says it all.
 *
 * A shape is immutable and shared by threads; a cache belongs to one thread. */
#ifndef NST_BACKEND_COLUMNS_H
#define NST_BACKEND_COLUMNS_H
#include "ir/analysis.h"

typedef struct {
  const nst_group *group;
  int ninputs;
  const int *words;         /* [ninputs]: place in the cell's key, or -1: the constant */
  const int64_t *constants; /* [ninputs] */
  int first;                /* its first column among the cell's */
} nst_cell_group;
typedef struct { int nkey; nst_cell_group *groups; int ngroups, ncolumns, most_inputs; } nst_cell;

typedef struct { int cell, column; } nst_factor; /* cell: index in nst_row.cells */
typedef struct { const nst_factor *factors; int nfactors; } nst_row_value; /* their product, modulo 2^64 */
typedef struct { int cell; const int *words; /* [cell nkey]: places in the row's key */ } nst_row_cell;
typedef struct {
  int nkey;
  nst_row_cell *cells; int ncells;
  nst_row_value *values; int nvalues;
} nst_row;

typedef struct { nst_cell *cells; int ncells; nst_row *rows; int nrows; } nst_columns;

typedef struct nst_columns_cache nst_columns_cache;
/* bytes: about how much it may hold before it forgets everything; 0: 64 MiB. */
nst_columns_cache *nst_columns_cache_new(const nst_columns *shape, size_t bytes);
void nst_columns_cache_free(nst_columns_cache *cache); /* NULL is fine */
/* Makes sure that what the next `points` gets of each row return stays valid together. */
void nst_columns_reserve(nst_columns_cache *cache, size_t points);
/* The values of a row for a key of nkey numbers; NULL: a group refused (too large, overflow). */
const int64_t *nst_columns_get(nst_columns_cache *cache, int row, const int64_t *key);
/* Rows looked up that had to be filled, and groups counted, so far. */
void nst_columns_statistics(const nst_columns_cache *cache, uint64_t *rows, uint64_t *groups);
#endif
