/* Names as pointers: two names are equal exactly when their pointers are.
 *
 * An interner keeps one NUL-terminated copy of every name it has seen, in an
 * arena. It is owned by a context and not shared between threads. */
#ifndef NST_BASE_INTERN_H
#define NST_BASE_INTERN_H
#include "base/arena.h"

typedef const char *nst_name; /* interned; compare with == */
typedef struct nst_interner nst_interner;

nst_interner *nst_interner_new(nst_arena *arena);
/* One that knows the names of another already, which stay where they are: the other's arena must outlive it. */
nst_interner *nst_interner_new_from(nst_arena *arena, const nst_interner *other);
void nst_interner_free(nst_interner *interner);
/* Bytes of the arena that names have taken, those of another aside. */
size_t nst_interner_bytes(const nst_interner *interner);
nst_name nst_intern(nst_interner *interner, const char *text, size_t len);
nst_name nst_intern_cstr(nst_interner *interner, const char *text);
/* Edit distance (insert, delete, substitute, swap) for "did you mean", case-insensitive
 * equality costs 0 extra: the candidate to suggest or NULL when none is near. */
nst_name nst_name_nearest(nst_name wrong, const nst_name *candidates, size_t n);
#endif
