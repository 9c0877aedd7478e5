/* The IR: a program after checking, every name resolved to a number.
 *
 * A mapping is self-contained: its workload and its hardware are copied in
 * with their arguments substituted, so that every size is an expression over
 * the mapping's own parameters (NST_X_PARAM) and named values (NST_X_VALUE,
 * which are in order of dependency). The mapping is a tree: `next` leads
 * inward, a seq ends its chain and branches. Cascades need nothing more; a
 * workload of one statement is the tree without a seq.
 *
 * Invariants (nst_ir_verify): all indices in range; keeps of a tensor in
 * hardware order on every path; a keep inside an array comes after all pars of
 * it; each statement has exactly one compute; each tensor has at least one keep
 * on the path of each statement that uses it; implied keeps are explicit. */
#ifndef NST_IR_IR_H
#define NST_IR_IR_H
#include "base/arena.h"
#include "base/buffer.h"
#include "base/diag.h"
#include "ir/expr.h"

typedef struct { nst_name name; nst_span span; const nst_expr *value; } nst_ir_param; /* value: default or NULL */
typedef struct { nst_name name; nst_span span; const nst_expr *value; } nst_ir_value;
typedef struct { nst_ir_param *params; int nparams; nst_ir_value *values; int nvalues; } nst_ir_scope;

/* ---- workload ---- */
typedef struct { nst_name name; nst_span span; const nst_expr *extent; } nst_ir_dim;
typedef struct { int dim; const nst_expr *coef; } nst_ir_term;
typedef struct { nst_ir_term *terms; int nterms; const nst_expr *offset; /* NULL: 0 */ nst_span span; } nst_ir_rank;
typedef struct { int tensor; nst_ir_rank *ranks; int nranks; nst_span span; } nst_ir_access;
typedef enum { NST_ROLE_INPUT, NST_ROLE_OUTPUT, NST_ROLE_INTERMEDIATE } nst_role;
typedef struct {
  nst_name name; nst_span span;
  nst_name type;           /* "int8", "fp16", "bits(3)" as shown */
  const nst_expr *bits;    /* per element */
  nst_role role;
  int nranks;
  const nst_expr **shape;  /* [nranks], entries NULL where `_`; NULL: no shape declared */
} nst_ir_tensor;
typedef enum { NST_COMBINE_ASSIGN, NST_COMBINE_ADD, NST_COMBINE_MAX, NST_COMBINE_MIN } nst_combine;
typedef struct {
  nst_span span;
  nst_ir_access out;
  nst_combine combine;
  nst_ir_access *in; int nin; /* in order of appearance; textually equal accesses of a tensor once */
  int *dims; int ndims;       /* dimensions it uses, in declaration order */
  const char *text;           /* canonical source text of the right-hand side, for printing */
} nst_ir_stmt;
typedef struct {
  nst_name name; nst_span span;
  nst_ir_dim *dims; int ndims;
  nst_ir_tensor *tensors; int ntensors; /* in order of declaration, then of first appearance */
  nst_ir_stmt *stmts; int nstmts;
} nst_ir_workload;

/* ---- hardware ---- */
typedef enum { NST_LEVEL_MEMORY, NST_LEVEL_ARRAY, NST_LEVEL_COMPUTE } nst_level_kind;
typedef struct { nst_name name; nst_span span; const nst_expr *size; } nst_ir_axis;
/* A bandwidth in bytes per cycle; where it was given per second the lowering has divided by the clock. */
typedef struct {
  nst_level_kind kind;
  nst_name name; nst_span span;
  /* memory; NULL = not given */
  const nst_expr *capacity;                     /* bytes */
  const nst_expr *bandwidth, *read_bandwidth, *write_bandwidth; /* bytes/cycle; `bandwidth` serves both together */
  const nst_expr *read_energy, *write_energy;   /* pJ/byte */
  const nst_expr *leakage;                      /* watts per instance */
  const nst_expr *area;                         /* mm2 per instance (memory and compute) */
  bool double_buffered, overlap;
  /* array */
  nst_ir_axis *axes; int naxes; bool multicast, reduce;
  /* compute */
  const nst_expr *energy;                       /* pJ/operation */
  const nst_expr *rate;                         /* operations/cycle/instance; NULL = 1 */
} nst_ir_level;
typedef struct {
  nst_name name; nst_span span;
  const nst_expr *clock;                        /* Hz or NULL */
  nst_ir_level *levels; int nlevels;            /* outermost first; arrays and computes included */
} nst_ir_hardware;

/* ---- mapping ---- */
typedef enum { NST_NODE_FOR, NST_NODE_PAR, NST_NODE_KEEP, NST_NODE_SEQ, NST_NODE_COMPUTE } nst_node_kind;
typedef enum { NST_TILE_ONE /* tiles of 1 */, NST_TILE_BY, NST_TILE_INTO, NST_TILE_AUTO /* par without by */ } nst_tile_kind;
typedef struct nst_ir_node nst_ir_node;
typedef struct { int *stmts; int nstmts; nst_ir_node *body; nst_span span; } nst_ir_branch;
/* A tensor that a keep holds only where a sweep drops the optional keep `unless`; evaluated alone it is not held.
 * A keep of nothing but dormant tensors has ntensors 0 and does nothing. */
typedef struct { int tensor; nst_ir_node *unless; } nst_ir_dormant;
struct nst_ir_node {
  nst_node_kind kind;
  int id;               /* position in mapping->nodes, preorder */
  nst_ir_node *parent;  /* the node outside, NULL at the root; a branch body's parent is its seq */
  nst_ir_node *next;    /* the node inside; NULL after seq and compute */
  nst_span span;
  int dim; nst_tile_kind split; const nst_expr *size;   /* FOR PAR; size for BY and INTO */
  int level;            /* PAR: its array; KEEP: its memory; COMPUTE: its unit (index in hardware.levels) */
  int axis;             /* PAR */
  int permute;          /* FOR: number of its permute block, or -1 */
  int origin;           /* in a variant of the mapping: id of the node that it is a copy of */
  int *tensors; int ntensors; bool optional, implied; /* KEEP; optional = `keep?` */
  nst_ir_dormant *dormant; int ndormant;               /* KEEP */
  nst_ir_branch *branches; int nbranches;              /* SEQ */
};
/* A keep of one tensor: the unit in which tiles are held. Numbered in preorder, then in the order of `tensors`. */
typedef struct { int node, tensor, level; bool optional; } nst_ir_slot;
typedef struct { int *nodes; int nnodes; } nst_ir_path;   /* node ids from the root to the compute */
typedef struct {
  nst_name name; nst_span span; /* span of its head */
  bool imported;                /* declared in a file or module that the program uses */
  nst_ir_scope scope;
  nst_ir_workload workload; nst_ir_hardware hardware;
  nst_ir_node *root;
  /* filled by nst_ir_mapping_finish: */
  nst_ir_node **nodes; int nnodes;
  nst_ir_slot *slots; int nslots;
  nst_ir_path *paths;           /* [nstmts] */
  int outermost;                /* level index of the first memory */
} nst_ir_mapping;

/* ---- what asks questions ---- */
typedef struct { const nst_expr *value; nst_span span; } nst_ir_expect;
typedef struct {
  const char *text; nst_span span;    /* text: the test's string or NULL */
  int mapping;                        /* index in program->mappings */
  const nst_expr **args;              /* [mapping nparams]: constants given, NULL = default */
  nst_ir_value *lets; int nlets;      /* NST_X_VALUE numbers continue after the mapping's values */
  nst_ir_expect *expects; int nexpects;
} nst_ir_test;
typedef struct { nst_name name; nst_span span; nst_ir_scope scope; nst_ir_value *outs; int nouts; } nst_ir_model;
typedef enum { NST_IRSET_LIST, NST_IRSET_RANGE, NST_IRSET_DIVISORS, NST_IRSET_POW2 } nst_ir_set_kind;
typedef struct { nst_ir_set_kind kind; nst_span span; const nst_expr **items; int nitems;
                 const nst_expr *a, *b, *step; } nst_ir_set;
/* Sets may use the mapping's values and the parameters bound before them. */
typedef struct { int param; nst_ir_set set; nst_span span; } nst_ir_point;
typedef struct { int out; const nst_expr *metric; nst_span span; } nst_ir_check;
typedef struct {
  nst_span span; int model, mapping;
  const nst_expr **bind;              /* [model nparams]: over the mapping's scope */
  nst_ir_check *checks; int nchecks;
  nst_ir_point *points; int npoints;
} nst_ir_verify;
typedef struct {
  nst_name name; nst_span span; int mapping;
  nst_ir_point *points; int npoints;
  nst_ir_expect *where; int nwhere;
  const nst_expr **objectives; int nobjectives; bool maximize;
  const nst_expr **pareto; int npareto;
  const nst_expr *top;                /* NULL: 1 */
} nst_ir_sweep;

typedef struct {
  nst_ir_mapping **mappings; int nmappings;
  nst_ir_test *tests; int ntests;
  nst_ir_model *models; int nmodels;
  nst_ir_verify *verifies; int nverifies;
  nst_ir_sweep *sweeps; int nsweeps;
} nst_ir_program;

/* Numbers the nodes and slots, sets parents and paths. */
void nst_ir_mapping_finish(nst_arena *arena, nst_ir_mapping *m);
/* NULL if sound, else what is wrong, in words (a bug of the lowering, never of a user). */
const char *nst_ir_verify_mapping(nst_arena *arena, const nst_ir_mapping *m);
void nst_ir_print(nst_buffer *out, const nst_ir_program *p); /* the --emit=ir text form */
/* "2*p + r - 1" */
void nst_ir_print_rank(nst_buffer *out, const nst_ir_rank *rank, const nst_ir_workload *w, const nst_expr_names *names);
#endif
