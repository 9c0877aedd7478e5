/* Variants of a mapping: one order of every permute block, one choice of every keep?.
 *
 * A variant is a mapping of its own, with the same parameters and values, so
 * everything that counts mappings counts variants. Orders of a block are
 * numbered lexicographically by the positions of its loops as written (0 = as
 * written); bit i of the keeps is the i-th keep? in preorder (all ones = as
 * written). Variant number = keeps dropped, then orders, so that number 0 is
 * the mapping as written. */
#ifndef NST_BACKEND_VARIANT_H
#define NST_BACKEND_VARIANT_H
#include "ir/ir.h"

typedef struct {
  const nst_ir_mapping *mapping; /* the template */
  int npermutes; int *lengths;   /* loops of each permute block */
  uint64_t *norders;             /* factorials of the lengths */
  int nkeeps;                    /* keep? nodes, at most 63 */
  uint64_t count;                /* all variants; UINT64_MAX if more */
} nst_variants;

/* NULL, or what is too large, in words. Memory in the arena. */
const char *nst_variants_init(nst_variants *v, nst_arena *arena, const nst_ir_mapping *m);
/* orders[npermutes] and dropped (bit i: keep? i is dropped) of a variant number. */
void nst_variant_decode(const nst_variants *v, uint64_t number, uint64_t *orders, uint64_t *dropped);
/* The mapping of a variant. Its nodes are copies whose `permute` and `optional` are settled; `origin` and the span
 * say which node of the template each is. */
nst_ir_mapping *nst_variant_make(nst_arena *arena, const nst_variants *v, uint64_t number);
/* The mapping as written with only the fors and pars of some dimensions: what these need can be checked alone. */
nst_ir_mapping *nst_variant_splits(nst_arena *arena, const nst_variants *v, const bool *dims);
/* Positions of the loops of block b in order number `order`: place[i] = which loop as written stands i-th. */
void nst_variant_order(const nst_variants *v, int block, uint64_t order, int *place);
#endif
