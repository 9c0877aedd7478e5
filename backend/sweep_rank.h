/* Fewer columns for the innermost loop.
 *
 * The columns of one axis are far from independent (a step started by a loop is
 * what its indices have less what those outside have, and so on), so each is a
 * combination of a few of them. Rewriting the polynomials in such a basis of the
 * innermost axis shortens every form to at most the rank. Combinations may have
 * denominators; a form is then whole over a divisor, exactly. */
#ifndef NST_BACKEND_SWEEP_RANK_H
#define NST_BACKEND_SWEEP_RANK_H
#include "backend/sweep_layout.h"

/* divisors: [nforms]. false: nothing gained, or numbers past 128 bits on the way; polys are as they were. Memory in the
 * arena. */
bool nst_sweep_rank_reduce(nst_arena *arena, const nst_sweep_tables *t, int axis, nst_sweep_known_poly *polys, size_t npolys,
                           int nforms, int64_t *divisors);
#endif
