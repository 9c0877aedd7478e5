/* Groups of dimensions: the factors that a counter is a product of.
 *
 * A group is a set of dimensions that share ranks of one tensor, with the
 * splits of those dimensions outside one keep, in nest order. Each split is of
 * a kind: TIME (a for), PARENT (a par whose instances are summed over) or
 * SIBLING (a par whose instances share what they need). A column is a sum over
 * the group's own indices; `cut` says how many of its TIME splits are outside
 * the loop that starts the step:
 *
 *   ALL        every index: elements of the union of the siblings' tiles
 *   KEPT       steps started at `cut`: elements that stay on chip, so that no
 *              working sibling needs them anew (semantics.md: K)
 *   OLD        the union of the previous tiles of the siblings working now (U);
 *              with a hold this is also what is held at the end of a run (F)
 *   STAY       elements of OLD that every such sibling still holds (K')
 *   FIRST      elements, each as often as instances of P touch it at its first time
 *   MAX        elements of the largest tile of one instance
 *
 * A step started at `cut` is either a hold (the loop that advances belongs to
 * another group: the group's splits inside it fall back from their last to
 * their first tile) or an advance (TIME split number `cut` itself moves on).
 *
 * group.c divides the dimensions into components that really interact and
 * multiplies; group_chain.c walks the splits of one dimension; group_pair.c
 * counts sums of two terms (group_first.c their first touches); group_explicit.c lists elements where no formula
 * is known. */
#ifndef NST_IR_GROUP_H
#define NST_IR_GROUP_H
#include "base/fuel.h"
#include "ir/analysis.h"

typedef enum { NST_SPLIT_TIME, NST_SPLIT_PARENT, NST_SPLIT_SIBLING } nst_split_kind;
typedef struct { nst_split_kind kind; int dim; /* in the group */ int input; /* T; -1: tiles of 1 */ } nst_group_split;
typedef struct { int nterms; const int *dims; const int *coefs; /* inputs, -1: 1 */ int offset, size; /* inputs, -1: 0, none */ } nst_group_rank;
typedef struct { int nranks; const nst_group_rank *ranks; } nst_group_access;

typedef enum { NST_COLUMN_ALL, NST_COLUMN_KEPT, NST_COLUMN_OLD, NST_COLUMN_STAY, NST_COLUMN_FIRST, NST_COLUMN_MAX } nst_column_kind;
typedef struct { nst_column_kind kind; bool advance; int cut; } nst_column;

struct nst_group {
  int ndims; const int *extents;            /* inputs */
  int nsplits; const nst_group_split *splits;
  int naccesses; const nst_group_access *accesses; /* none: dimensions the tensor does not use */
  int ncolumns; const nst_column *columns;
};

/* ---- shared by the files of the analysis ---- */

enum {
  NST_EXPLICIT_LIMIT = 1 << 26, /* points listed for one group at most */
  NST_SIBLINGS_LIMIT = 1 << 16, /* siblings listed for one dimension at most */
  NST_COMPONENT_DIMS = 8        /* dimensions that interact at most */
};

/* Scratch vectors: cleared, never shrunk. */
typedef struct { int64_t *v; size_t len, cap; } nst_ints;
void nst_ints_need(nst_ints *s, size_t more);
static inline void nst_ints_push(nst_ints *s, int64_t x) {
  if (s->len == s->cap) nst_ints_need(s, 1);
  s->v[s->len++] = x;
}

/* The tiles of one dimension in one sibling: now, and (where asked for) before. */
typedef struct { int64_t lo, len, plo, plen; } nst_span_pair;
/* One class of contexts (values of the dimension's TIME and PARENT indices) that look alike: `mult` of them at
 * one place each, times one for each combination of the progressions (step, count) added to every lo and plo. */
typedef struct { int64_t mult; size_t sibling, nsiblings, prog, nprogs; } nst_context;
typedef struct {
  nst_context *items; size_t len, cap;
  nst_span_pair *siblings; size_t nsiblings, siblings_cap;
  nst_ints progs; /* step, count */
} nst_contexts;

/* How the walk treats the siblings of a dimension. */
typedef enum { NST_SIBLINGS_LIST, NST_SIBLINGS_SUM /* like parents */, NST_SIBLINGS_FIRST /* the first stands for all */ } nst_sibling_mode;
typedef struct { nst_split_kind kind; int64_t tile; int time; /* number among the component's TIME splits */ } nst_chain_split;
typedef struct {
  int64_t extent; const nst_chain_split *splits; int nsplits;
  bool advance; int cut; /* time < cut: every index; == cut and advance: all but the first; else: from last to first */
  bool before;           /* earlier tiles are asked for */
  nst_sibling_mode siblings;
  bool places;           /* keep progressions instead of multiplying */
} nst_chain;
nst_group_status nst_chain_walk(const nst_chain *c, nst_contexts *out, nst_group_scratch *s);

/* A component: dimensions that interact, with numbers. Its ranks are sums of coef * dim + offset. */
typedef struct { int nterms; int dims[NST_COMPONENT_DIMS]; int64_t coefs[NST_COMPONENT_DIMS]; int64_t offset;
                 bool clipped; int64_t size; } nst_component_rank;
typedef struct { int nranks; nst_component_rank *ranks; } nst_component_access;
typedef enum { NST_COMPONENT_UNUSED, NST_COMPONENT_SINGLE, NST_COMPONENT_PAIR, NST_COMPONENT_EXPLICIT } nst_component_kind;
typedef struct {
  nst_component_kind kind;
  int ndims; int64_t extents[NST_COMPONENT_DIMS];
  nst_chain_split *splits[NST_COMPONENT_DIMS]; int nsplits[NST_COMPONENT_DIMS];
  int ntimes;
  int *times_before;             /* the group's TIME number -> how many of the component's come before it */
  bool *own_time;                /* the group's TIME number -> is it the component's? */
  bool has_parents;              /* a PARENT split with more than one tile */
  bool clipped; int64_t lo, hi;  /* SINGLE: the coordinates that exist; PAIR: the values */
  int64_t coefs[2];              /* PAIR: over their gcd */
  nst_component_access *accesses; int naccesses; /* EXPLICIT */
  bool known; int64_t count;     /* EXPLICIT, never split: elements, once they are counted */
} nst_component;

/* Values of all combinations of progressions (step, count) added to runs (start, count) of stride `stride` that fall
 * into [lo, hi), summed over the combinations; or the largest number for one combination. */
nst_group_status nst_clip_sum(int64_t *out, const nst_ints *runs, int64_t stride, const nst_ints *progs, int64_t lo,
                              int64_t hi, nst_group_scratch *s);
nst_group_status nst_clip_max(int64_t *out, const nst_ints *runs, int64_t stride, const nst_ints *progs, int64_t lo,
                              int64_t hi, nst_group_scratch *s);

nst_group_status nst_single_column(const nst_component *c, nst_column col, int64_t *out, nst_group_scratch *s);
nst_group_status nst_pair_column(const nst_component *c, nst_column col, int64_t *out, nst_group_scratch *s);
nst_group_status nst_explicit_column(nst_component *c, nst_column col, int64_t *out, nst_group_scratch *s);
nst_group_status nst_explicit_first(const nst_component *c, int64_t *out, nst_group_scratch *s);
nst_group_status nst_pair_first(const nst_component *c, int64_t *out, nst_group_scratch *s);
/* A chain for dimension d of a component and a column. */
nst_chain nst_component_chain(const nst_component *c, int d, nst_column col);

typedef struct { char *bytes; size_t size; } nst_group_block;
struct nst_group_scratch {
  nst_contexts contexts[NST_COMPONENT_DIMS];
  nst_ints work, stack, progs, runs, set[4];
  nst_group_block *blocks; size_t nblocks, block, used; /* numbers of one call */
  uint64_t listed;                            /* points listed in this call */
  uint64_t *fuel;                             /* or NULL */
};
static inline bool nst_group_spend(const nst_group_scratch *s, int64_t steps) {
  return nst_fuel_spend(s->fuel, (uint64_t)steps);
}
#endif
