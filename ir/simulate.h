/* The simulator's parts, shared by its files only.
 *
 * simulate.c executes the tree: time, instances, boxes, the compute.
 * simulate_setup.c builds what it needs, once, and refuses what is too large.
 * simulate_slot.c holds tiles and counts what moves when they change.
 * simulate_tile.c lists the elements that an access touches in a box.
 *
 * Elements of a tensor are small numbers (ids). A set of them is a list, and
 * membership is a mark: a number written at the id, compared with the number
 * of the set asked about. */
#ifndef NST_IR_SIMULATE_H
#define NST_IR_SIMULATE_H
#include "ir/counts.h"

typedef struct {
  int32_t *items;
  size_t len, cap;
} nst_sim_list;
void nst_sim_list_push_slow(nst_sim_list *l);
static inline void nst_sim_list_push(nst_sim_list *l, int32_t id) {
  if (l->len == l->cap) nst_sim_list_push_slow(l);
  l->items[l->len++] = id;
}

/* ---- simulate_tile.c ---- */

/* The elements of a tensor. Ranks run over [min, max], the declared shape already applied. Where that box is
 * small, an element's number is its place in it; else elements are numbered as they are met, in a hash table. */
typedef struct {
  int nranks;
  int64_t *min, *max, *stride;
  bool empty; /* no element exists */
  bool hashed;
  int64_t *keys;  /* hashed: [bound][nranks] */
  int32_t *table; /* hashed: numbers + 1; 0 = free */
  size_t table_mask, met;
  size_t bound; /* numbers are below this */
  uint32_t last_mark;
  uint32_t *fresh, *before, *taken, *left; /* four sets of marks, [bound] each */
  uint32_t *owner;                         /* the row of the array that `taken` an element, [bound] */
} nst_sim_tensor;

/* One access of a statement, over the dimensions that it uses. */
typedef struct {
  nst_sim_tensor *tensor;
  int nranks;
  const int64_t *offset; /* [nranks] */
  int ndims;
  const int *dims;     /* [ndims] */
  const int64_t *coef; /* [ndims][nranks] */
  const int *terms;    /* [nranks + 1]: where the terms of each rank begin */
  const int *term_dim;
  const int64_t *term_coef;
  int64_t *value; /* scratch, [nranks] */
} nst_sim_access;

/* points: an upper bound of the elements all accesses together touch. false: too many. */
bool nst_sim_tensor_init(nst_sim_tensor *t, nst_arena *arena, uint64_t points);
void nst_sim_access_init(nst_sim_access *a, nst_arena *arena, nst_sim_tensor *t, const nst_nest_access *from);
uint32_t nst_sim_mark(nst_sim_tensor *t);                         /* a number that no set has used */
int32_t nst_sim_element(nst_sim_tensor *t, const int64_t *value); /* -1: it does not exist */
/* Adds to `out` the elements touched in the box [lo, hi) that do not have `mark` in fresh, and gives it to them. */
void nst_sim_access_collect(const nst_sim_access *a, const int64_t *lo, const int64_t *hi, uint32_t mark,
                            nst_sim_list *out);

/* ---- simulate_slot.c ---- */

/* The instances at one place of the nest, in one step: a box each, by columns, and whether it has work. */
typedef struct {
  size_t n;
  int64_t **lo, **hi; /* [ndims][n] */
  bool *works;        /* [n] */
} nst_sim_frame;

/* How the instances of a child share: instance i of C is sibling i % nsiblings under instance i / nsiblings of P. */
typedef struct {
  size_t nparents, nsiblings;
  uint32_t *order; /* siblings, those that read together next to each other */
  uint32_t *group; /* [nsiblings]: index across the arrays without multicast */
  uint32_t *row;   /* [nsiblings]: index across the arrays without reduction; NULL: no such array */
} nst_sim_share;
void nst_sim_share_init(nst_sim_share *s, nst_arena *arena, const nst_nest *nest, const nst_ir_node *parent,
                        const nst_ir_node *child, bool output);

/* A keep of one tensor and the edge above it. */
typedef struct {
  int slot, tensor, stmt, level;
  int parent_level; /* -1: the outermost keep, nothing moves */
  bool output;
  nst_sim_tensor *elements;
  nst_sim_access **accesses;
  int naccesses; /* of every statement below */
  int ndims;
  int *dims; /* that they use */
  nst_sim_share share;
  size_t ninstances;
  nst_sim_list *held; /* [ninstances] */
  bool *has;          /* [ninstances]: holds a tile */
  int64_t *boxes;     /* [ninstances][2 * ndims]: of the tile held */
  bool *touched;      /* output: needed in an earlier step, [bound] */
  nst_sim_list tile, pending;
  int64_t largest;
  nst_moves moves, *above; /* above: counters of the parent */
} nst_sim_slot;

/* A tensor at the compute of one statement. */
typedef struct {
  int tensor;
  bool output;
  nst_sim_tensor *elements;
  nst_sim_access **accesses;
  int naccesses;
  nst_sim_share share;
  bool *touched;
  nst_sim_list pending;
  int64_t reads, updates;
} nst_sim_operand;

/* Two siblings that may not meet did, at instances a and b. */
typedef struct {
  bool found;
  size_t a, b;
} nst_sim_conflict;

void nst_sim_slot_init(nst_sim_slot *s, nst_arena *arena);
void nst_sim_slot_step(nst_sim_slot *s, const nst_sim_frame *f, int64_t *lo, int64_t *hi, nst_sim_conflict *conflict);
void nst_sim_slot_close(nst_sim_slot *s); /* the end of its life: drain or drop */
void nst_sim_slot_fini(nst_sim_slot *s);
void nst_sim_operand_step(nst_sim_operand *o, const nst_sim_frame *f, nst_sim_conflict *conflict);

/* ---- simulate_setup.c ---- */

/* What a loop must restore, and who works inside it. */
typedef struct {
  int64_t *lo, *hi; /* of its dimension, per instance, outside the loop */
  bool *works;
} nst_sim_loop;

typedef struct {
  nst_arena *arena;
  const nst_nest *nest;
  const nst_ir_mapping *m;
  nst_counts *out;
  nst_diags *diags;
  nst_sim_tensor *tensors;
  nst_sim_access **access;    /* [nstmts]: its output, then its inputs */
  nst_sim_slot *slots;        /* [nslots] */
  nst_sim_operand **operands; /* [nstmts]: one per tensor it uses */
  int *noperands;
  bool **seen;     /* [nstmts][instances of the compute]: worked in some step */
  int **last_dims; /* [nstmts]: dimensions still wider than 1 at the compute, in order */
  int *nlast_dims;
  int64_t *lo, *hi;    /* scratch: one box */
  nst_sim_frame *wide; /* [nnodes]: the frame inside each par */
  nst_sim_loop *loops; /* [nnodes], then [nstmts][ndims] of the implicit loops */
} nst_sim;

int64_t nst_sim_nominal_width(const nst_nest *nest, const nst_ir_node *inside, int dim);
const nst_ir_node *nst_sim_compute_of(const nst_ir_mapping *m, int stmt);
size_t nst_sim_instances_at(const nst_nest *nest, const nst_ir_node *n);
const nst_ir_node *nst_sim_keep_outside(const nst_ir_node *n, int tensor); /* the next outside n, or NULL */
bool nst_sim_within_limit(const nst_nest *nest, uint64_t limit, nst_diags *diags);
nst_sim_frame nst_sim_new_frame(nst_sim *s, size_t n);
bool nst_sim_init(nst_sim *s); /* s holds arena, nest, m, out, diags */
#endif
