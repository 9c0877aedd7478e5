/* The product that stands for one figure of an edge: its text, and its value at
 * any parameters. */
#ifndef NST_DRIVER_EXPLAIN_PRODUCT_H
#define NST_DRIVER_EXPLAIN_PRODUCT_H
#include "driver/explain.h"

typedef enum { NST_F_READS, NST_F_UPDATES, NST_F_TILE } nst_edge_figure;

/* A number with the text that stands for it. */
typedef struct { const char *text; int64_t value; bool good; /* false: it does not fit */ } nst_term;
typedef struct { nst_buffer text; int64_t value; bool good; /* a product could be formed and fits */ } nst_formed;

/* What a text is made for, so that it stays the same text at other parameters: which loops are taken to turn
 * (one that is not makes way for its whole dimension), and which windows, in the order they are asked for,
 * are taken to reach past their declared shape. */
typedef struct {
  const bool *turns; /* [nnodes] */
  uint64_t windows;
  bool settled;      /* windows is given; false: the first making finds it */
} nst_product_shape;

/* The product of a figure of an edge; the caller frees its text. */
nst_formed nst_product_make(const nst_explain *x, const nst_edge *e, nst_edge_figure f, nst_product_shape *shape);
/* Extent of a dimension just outside path position i, and the tile of the split there. */
nst_term nst_product_extent(const nst_explain *x, const bool *turns, int stmt, int i, int dim);
nst_term nst_product_tile(const nst_explain *x, const bool *turns, int stmt, int i);
/* What the analysis has counted; -1: it is not counted. */
int64_t nst_product_counted(const nst_explain *x, const nst_edge *e, nst_edge_figure f);
#endif
