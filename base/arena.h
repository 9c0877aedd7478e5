/* Memory that lives and dies together.
 *
 * An arena hands out zeroed, aligned memory and frees it all at once; nothing
 * taken from it is freed alone. Everything the compiler builds (names, syntax
 * trees, IR) lives in the arena of its context. With NST_ARENA_DEBUG each
 * object is a malloc of its own, so that sanitizers see every overrun.
 * Running out of memory is reported by a jump-free NULL only where documented:
 * all arena calls abort through nst_out_of_memory(), the one place that may. */
#ifndef NST_BASE_ARENA_H
#define NST_BASE_ARENA_H
#include <stdarg.h>
#include <stddef.h>

typedef struct nst_arena nst_arena;

nst_arena *nst_arena_new(void);
void nst_arena_free(nst_arena *arena); /* NULL is fine */
/* Zeroed, aligned for any type; never NULL. size 0 gives a valid pointer. */
void *nst_arena_alloc(nst_arena *arena, size_t size);
/* n objects of `size` bytes; n*size is checked for overflow. */
void *nst_arena_array(nst_arena *arena, size_t n, size_t size);
char *nst_arena_strndup(nst_arena *arena, const char *text, size_t len);
char *nst_arena_printf(nst_arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char *nst_arena_vprintf(nst_arena *arena, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));
/* Bytes handed out so far: a measure of the work that made them, the same on every run. */
size_t nst_arena_used(const nst_arena *arena);
void nst_out_of_memory(void) __attribute__((noreturn));

#define NST_NEW(arena, T) ((T *)nst_arena_alloc((arena), sizeof(T)))
#define NST_NEW_ARRAY(arena, n, T) ((T *)nst_arena_array((arena), (size_t)(n), sizeof(T)))
#endif
