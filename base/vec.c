/* The growing half of NST_VEC; the rest is the macros of the header. */
#include "base/vec.h"

#include <stdint.h>

void *nst_vec_grow(nst_arena *arena, void *items, size_t len, size_t *cap, size_t size) {
  size_t wanted = *cap ? *cap : 4;
  if (wanted > SIZE_MAX / 2) nst_out_of_memory();
  wanted *= 2;
  void *grown = nst_arena_array(arena, wanted, size);
  if (len) memcpy(grown, items, len * size);
  *cap = wanted;
  return grown;
}
