/* Forms that contain others, and forms with the same columns.
 *
 * What moves at one level is often what moves at another and something more: bytes
 * at a buffer contain those that come from off chip. A form may then be an
 * earlier form plus a rest, whose polynomials have fewer columns of the innermost
 * axis. And forms that have the same columns of that axis in every variant need
 * only load each once. */
#ifndef NST_BACKEND_SWEEP_SHARE_H
#define NST_BACKEND_SWEEP_SHARE_H
#include "backend/sweep_layout.h"

typedef struct {
  int *base; /* [nforms]: sweep_layout.h */
  nst_sweep_known_poly *polys;
  size_t npolys;
  int **numbers; /* [nvariants][nforms]: the polynomials of a variant */
} nst_sweep_shared;

/* numbers: as above, NULL where a variant has no mapping. Copies what it changes. false: nothing to gain. */
bool nst_sweep_share(nst_sweep_shared *out, nst_arena *arena, const nst_sweep_tables *t, int axis,
                     const nst_sweep_known_poly *polys, size_t npolys, int *const *numbers, uint64_t nvariants,
                     int nforms);
/* like[f]: an earlier form with the same columns of the axis in every variant, column 0 aside; or -1. Forms come in
 * pairs. */
void nst_sweep_find_like(int *like, const nst_sweep_tables *t, int axis, const nst_sweep_known_poly *polys,
                         size_t npolys, int *const *numbers, uint64_t nvariants, int nforms);
#endif
