/* Where a point stands in the order of a space, as one number.
 *
 * Ties are broken by the places of the parameters, the first parameter first. With
 * each place weighed by how many combinations come behind it, the sum orders
 * points alike, and is a sum of shares of the tuples of the levels. */
#ifndef NST_BACKEND_SWEEP_KEYS_H
#define NST_BACKEND_SWEEP_KEYS_H
#include "backend/sweep_layout.h"

typedef struct {
  uint64_t *weight; /* [npoints]; NULL: the numbers would pass 64 bits */
  uint64_t **share; /* per level [ntuples]; 0 without weights */
  int npoints;
} nst_sweep_keys;
void nst_sweep_keys_init(nst_sweep_keys *k, nst_arena *arena, const nst_sweep_layout *l, int npoints);
/* Of places, one for each parameter. */
uint64_t nst_sweep_key(const nst_sweep_keys *k, const uint64_t *places);
#endif
