/* A front of two whole metrics, for the look before a point is offered: points by
 * the first metric, the second strictly falling. Of points equal in both the
 * earlier one (places of the parameters, then variant) is kept. */
#ifndef NST_BACKEND_SWEEP_STAIRS_H
#define NST_BACKEND_SWEEP_STAIRS_H
#include <stdbool.h>
#include <stdint.h>

typedef struct nst_stairs nst_stairs;
nst_stairs *nst_stairs_new(int nplaces);
void nst_stairs_free(nst_stairs *s); /* NULL is fine */
void nst_stairs_clear(nst_stairs *s);
/* Is no point at least as good, other than one that is equal and later? */
bool nst_stairs_enters(const nst_stairs *s, int64_t x, int64_t y, const uint64_t *places, uint64_t variant);
/* Is there a step nowhere larger than (x, y), and somewhere smaller? */
bool nst_stairs_beat(const nst_stairs *s, int64_t x, int64_t y);
/* Adds the point if it enters; those that it dominates or precedes go. */
void nst_stairs_add(nst_stairs *s, int64_t x, int64_t y, const uint64_t *places, uint64_t variant);
#endif
