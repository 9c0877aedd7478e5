/* What the parts of `explain` share.
 *
 * An explanation is made of one good run: the IR for the names, the nest for
 * the sizes, the counts for the figures. Everything that is said about why is
 * derived here and checked against the counts before it is printed. */
#ifndef NST_DRIVER_EXPLAIN_H
#define NST_DRIVER_EXPLAIN_H
#include "driver/internal.h"
#include "driver/report.h"

typedef struct {
  nestor_eval *e;             /* its last run was good */
  const nst_ir_mapping *m;
  const nst_nest *nest;
  const nst_counts *counts;
  nst_arena *arena;
  nst_buffer *out;
  const nst_value *point;     /* the parameters of the nest and the counts */
  const nst_name *params, *values; /* names, for printing expressions */
} nst_explain;

/* explain_nest.c */
void nst_explain_nest(nst_explain *x);
/* explain_reuse.c */
void nst_explain_reuse(nst_explain *x);
/* explain_formula.c */
void nst_explain_formulas(nst_explain *x);
/* explain_pace.c */
void nst_explain_pace(nst_explain *x);
/* explain_cascade.c */
void nst_explain_cascade(nst_explain *x);

/* ---- the path of a statement ---- */

/* An edge of a tensor: from the keep at path position parent to the keep at child; child = the compute's
 * position at the last edge. Positions are indices of path->nodes. */
typedef struct { int stmt, tensor, parent, child; bool compute; } nst_edge;
/* Calls f for every edge of every statement and tensor, outermost first. */
void nst_explain_edges(nst_explain *x, void (*f)(nst_explain *x, const nst_edge *edge));
static inline const nst_ir_node *nst_path_node(const nst_ir_mapping *m, int stmt, int i) {
  return m->nodes[m->paths[stmt].nodes[i]];
}
static inline bool nst_is_split(const nst_ir_node *n) { return n->kind == NST_NODE_FOR || n->kind == NST_NODE_PAR; }
/* Extent of the largest tile of a dimension just outside path position i. */
int64_t nst_extent_outside(const nst_nest *nest, int stmt, int i, int dim);
bool nst_uses_dim(const nst_ir_mapping *m, int stmt, int tensor, int dim);
/* A number and its unit with the right plural: "1 round", "8 rounds". */
void nst_count_of(nst_buffer *out, int64_t n, const char *one, const char *many);

/* ---- what stays (explain_kept.c) ---- */

/* Elements that stay, and are not moved again, in all steps that the for at path position i begins. 0 too where they
 * cannot be counted. */
int64_t nst_explain_kept(const nst_explain *x, const nst_edge *e, int i);
/* Whether neighbouring rounds of the for at i use elements in common, the fors inside it taken together. */
bool nst_explain_rounds_share(const nst_explain *x, const nst_edge *e, int i);
#endif
