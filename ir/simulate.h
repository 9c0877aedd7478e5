/* The simulator's parts, shared by its files only.
 *
 * simulate.c executes the tree: time, instances, boxes, the compute.
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
} sim_list;
void sim_list_push_slow(sim_list *l);
static inline void sim_list_push(sim_list *l, int32_t id) {
  if (l->len == l->cap) sim_list_push_slow(l);
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
} sim_tensor;

/* One access of a statement, over the dimensions that it uses. */
typedef struct {
  sim_tensor *tensor;
  int nranks;
  const int64_t *offset; /* [nranks] */
  int ndims;
  const int *dims;     /* [ndims] */
  const int64_t *coef; /* [ndims][nranks] */
  int64_t *value;      /* scratch, [2 * nranks] */
} sim_access;

/* points: an upper bound of the elements all accesses together touch. false: too many. */
bool sim_tensor_init(sim_tensor *t, nst_arena *arena, uint64_t points);
void sim_access_init(sim_access *a, nst_arena *arena, sim_tensor *t, const nst_nest_access *from);
uint32_t sim_mark(sim_tensor *t);                         /* a number that no set has used */
int32_t sim_element(sim_tensor *t, const int64_t *value); /* -1: it does not exist */
/* Adds to `out` the elements touched in the box [lo, hi) that do not have `mark` in fresh, and gives it to them. */
void sim_access_collect(const sim_access *a, const int64_t *lo, const int64_t *hi, uint32_t mark, sim_list *out);

/* ---- simulate_slot.c ---- */

/* The instances at one place of the nest, in one step: a box each, by columns, and whether it has work. */
typedef struct {
  size_t n;
  int64_t **lo, **hi; /* [ndims][n] */
  bool *works;        /* [n] */
} sim_frame;

/* How the instances of a child share: instance i of C is sibling i % nsiblings under instance i / nsiblings of P. */
typedef struct {
  size_t nparents, nsiblings;
  uint32_t *order; /* siblings, those that read together next to each other */
  uint32_t *group; /* [nsiblings]: index across the arrays without multicast */
  uint32_t *row;   /* [nsiblings]: index across the arrays without reduction; NULL: no such array */
} sim_share;
void sim_share_init(sim_share *s, nst_arena *arena, const nst_nest *nest, const nst_ir_node *parent,
                    const nst_ir_node *child, bool output);

/* A keep of one tensor and the edge above it. */
typedef struct {
  int slot, tensor, stmt, level;
  int parent_level; /* -1: the outermost keep, nothing moves */
  bool output;
  sim_tensor *elements;
  sim_access **accesses;
  int naccesses; /* of every statement below */
  int ndims;
  int *dims; /* that they use */
  sim_share share;
  size_t ninstances;
  sim_list *held; /* [ninstances] */
  bool *has;      /* [ninstances]: holds a tile */
  int64_t *boxes; /* [ninstances][2 * ndims]: of the tile held */
  bool *touched;  /* output: needed in an earlier step, [bound] */
  sim_list tile, pending;
  int64_t largest;
  nst_moves moves, *above; /* above: counters of the parent */
} sim_slot;

/* A tensor at the compute of one statement. */
typedef struct {
  int tensor;
  bool output;
  sim_tensor *elements;
  sim_access **accesses;
  int naccesses;
  sim_share share;
  bool *touched;
  sim_list pending;
  int64_t reads, updates;
} sim_operand;

/* Two siblings that may not meet did, at instances a and b. */
typedef struct {
  bool found;
  size_t a, b;
} sim_conflict;

void sim_slot_init(sim_slot *s, nst_arena *arena);
void sim_slot_step(sim_slot *s, const sim_frame *f, int64_t *lo, int64_t *hi, sim_conflict *conflict);
void sim_slot_close(sim_slot *s); /* the end of its life: drain or drop */
void sim_slot_fini(sim_slot *s);
void sim_operand_step(sim_operand *o, const sim_frame *f, sim_conflict *conflict);
#endif
