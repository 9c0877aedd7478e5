/* Growable arrays in an arena: NST_VEC(T) v = {0}; *nst_vec_push(arena, &v) = x;
 * v.items[i], v.len. Growing copies inside the arena; old storage is kept until
 * the arena goes, so pointers into `items` go stale but never dangle. */
#ifndef NST_BASE_VEC_H
#define NST_BASE_VEC_H
#include "base/arena.h"
#include <string.h>

#define NST_VEC(T) struct { T *items; size_t len, cap; }
#define nst_vec_push(arena, v)                                                            \
  ((v)->len == (v)->cap                                                                   \
     ? (void)((v)->items = nst_vec_grow((arena), (v)->items, (v)->len, &(v)->cap, sizeof *(v)->items)) \
     : (void)0,                                                                           \
   &(v)->items[(v)->len++])
void *nst_vec_grow(nst_arena *arena, void *items, size_t len, size_t *cap, size_t size);
#endif
