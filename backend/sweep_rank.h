/* Fewer columns in the innermost loop.
 *
 * The columns of the innermost axis that one form uses, over all variants, are
 * vectors of numbers, often dependent ones: a product of a trip count and a tile
 * size, less the remainder, is the extent. Each form gets a basis of whole vectors
 * of which all its columns are whole combinations: no column more than their rank,
 * no fractions. The basis is made of columns themselves, the most frequent first,
 * as far as they go: so most terms stay one term. A form that has few enough
 * columns keeps them all, which are never negative. */
#ifndef NST_BACKEND_SWEEP_RANK_H
#define NST_BACKEND_SWEEP_RANK_H
#include "backend/sweep_layout.h"

/* Rewrites the polynomials over such bases; the new columns join the tables. false: nothing to gain, or numbers too large
 * (polys as they were). */
bool nst_sweep_rank_reduce(nst_arena *arena, nst_sweep_tables *t, int axis, nst_sweep_known_poly *polys, size_t npolys, int nforms);
#endif
