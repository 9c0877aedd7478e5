/* See sweep_keys.h. */
#include "backend/sweep_keys.h"

/* How many places each parameter has. */
static void count_places(uint64_t *count, const nst_sweep_axes *axes) {
  for (int a = 0; a < axes->naxes; a++) {
    const nst_sweep_axis *x = &axes->axes[a];
    const size_t n = (size_t)x->all.nparams;
    for (size_t t = 0; t < x->ntuples; t++)
      for (size_t p = 0; p < n; p++) {
        const uint64_t place = x->all.places[x->which[t] * n + p];
        if (place >= count[x->all.which[p]]) count[x->all.which[p]] = place + 1;
      }
  }
}

void nst_sweep_keys_init(nst_sweep_keys *k, nst_arena *arena, const nst_sweep_layout *l, int npoints) {
  const nst_sweep_axes *axes = l->tables->axes;
  uint64_t *count = NST_NEW_ARRAY(arena, npoints + 1, uint64_t), *weight = NST_NEW_ARRAY(arena, npoints + 1, uint64_t),
           all = 1;
  *k = (nst_sweep_keys){.npoints = npoints, .share = NST_NEW_ARRAY(arena, l->ndims, uint64_t *)};
  for (int d = 0; d < l->ndims; d++) k->share[d] = NST_NEW_ARRAY(arena, l->dims[d].ntuples + 1, uint64_t);
  for (int p = 0; p < npoints; p++) count[p] = 1;
  count_places(count, axes);
  for (int p = npoints - 1; p >= 0; p--) {
    weight[p] = all;
    if (__builtin_mul_overflow(all, count[p], &all)) return;
  }
  k->weight = weight;
  for (int d = 0; d < l->ndims; d++) {
    if (l->dims[d].axis < 0) continue;
    const nst_sweep_axis *x = &axes->axes[l->dims[d].axis];
    const size_t n = (size_t)x->all.nparams;
    for (size_t t = 0; t < x->ntuples; t++)
      for (size_t p = 0; p < n; p++) k->share[d][t] += x->all.places[x->which[t] * n + p] * weight[x->all.which[p]];
  }
}

uint64_t nst_sweep_key(const nst_sweep_keys *k, const uint64_t *places) {
  uint64_t key = 0;
  for (int p = 0; p < k->npoints; p++) key += places[p] * k->weight[p];
  return key;
}
