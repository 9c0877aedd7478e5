/* The analysis in the open: what is counted, as sums of products of columns.
 *
 * Every counter of semantics.md is a sum of a few products with one factor per
 * group of dimensions (section 4). A plan names them once per mapping:
 *   group   the dimensions of one tensor that share ranks, with the splits of
 *           those dimensions outside one keep. nst_group_count turns its
 *           numbers (extents, tiles, coefficients) into a few columns.
 *   column  one factor: a sum over the group's own indices.
 *   formula a counter: sum of +- products of columns.
 * The interpreter evaluates a plan in nst_analysis_count; the JIT compiles the
 * formulas to native code; a sweep tabulates the columns per tile chain.
 * All columns and products of a nest whose ops fit 63 bits fit 63 bits. */
#ifndef NST_IR_ANALYSIS_H
#define NST_IR_ANALYSIS_H
#include "ir/counts.h"

/* One number that a group depends on. */
typedef enum {
  NST_IN_EXTENT, /* a = dim */
  NST_IN_TILE,   /* a = node id: T of a for or par */
  NST_IN_COEF,   /* a = stmt, b = access (-1 = output, else index in .in), c = rank, d = term */
  NST_IN_OFFSET, /* a, b, c as above: the rank's offset */
  NST_IN_SIZE    /* a, b, c: the rank's declared size, -1 if none */
} nst_input_kind;
typedef struct { nst_input_kind kind; int a, b, c, d; } nst_input;

typedef struct nst_group nst_group; /* ir/group.h */
typedef struct { int sign; /* +1 -1 */ int ncolumns; const int *columns; } nst_product;
typedef struct { int nproducts; const nst_product *products; } nst_formula; /* no products: 0 */

typedef struct {
  const nst_group *group;
  const nst_input *inputs; int ninputs;
  int first, ncolumns;          /* its columns in the plan's column vector */
} nst_plan_group;

/* Where reduce = false could be broken: instances across `array` hold (level: a memory) or produce (level: the
 * compute) one element of `tensor` in one step. */
typedef struct { int stmt, tensor, level, array; } nst_conflict;

typedef struct {
  const nst_ir_mapping *ir;
  nst_plan_group *groups; int ngroups;
  int ncolumns;
  /* counters in the layout of nst_counts; a formula without products is 0 */
  nst_formula *reads, *fills, *updates, *drains; /* [nstmts*nlevels*ntensors] */
  nst_formula *tile;                              /* [nslots] */
  nst_formula *ops, *steps;                       /* [nstmts] */
  nst_formula *instances;                         /* [nstmts*nlevels] */
  nst_formula *conflict; int nconflicts;          /* reduce = false: legal only where each is 0 */
  nst_conflict *conflicts;
} nst_plan;

const nst_plan *nst_analysis_plan(const nst_analysis *a); /* borrowed */

typedef enum { NST_GROUP_OK, NST_GROUP_OVERFLOW, NST_GROUP_TOO_LARGE /* or its budget is out: 0 */ } nst_group_status;
typedef struct nst_group_scratch nst_group_scratch; /* grows as needed; one per thread */
nst_group_scratch *nst_group_scratch_new(void);
/* Counts spend this budget; NULL, as made: none. */
void nst_group_scratch_set_fuel(nst_group_scratch *s, uint64_t *fuel);
void nst_group_scratch_free(nst_group_scratch *s);
/* in: [ninputs] numbers in the order of the inputs; out: [ncolumns]. Pure: same numbers, same columns. */
nst_group_status nst_group_count(const nst_group *g, const int64_t *in, int64_t *out, nst_group_scratch *s);
/* The number that an input names in a nest. */
int64_t nst_input_of(const nst_nest *nest, nst_input in);
#endif
