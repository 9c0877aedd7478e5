/* Engines that evaluate listed points only: the first of a space, or a random
 * sample of it. For spaces too large to finish; nothing they find is proven. */
#ifndef NST_BACKEND_SWEEP_LIST_H
#define NST_BACKEND_SWEEP_LIST_H
#include "backend/sweep_space.h"

enum { NST_SAMPLE_MAX = 1 << 24 };
/* Points of the space times its variants; saturates. */
nst_u128 nst_sweep_points(const nst_space *s, const nst_variants *v);
/* The first n points in enumeration order. NULL: a message. n: no more than there are. */
nst_sweep_engine *nst_sweep_first_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space, uint64_t n,
                                      nst_diags *diags);
/* n different points, each as likely as any other; the same for the same seed, everywhere. */
nst_sweep_engine *nst_sweep_sample_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space, uint64_t n,
                                       uint64_t seed, nst_diags *diags);
#endif
