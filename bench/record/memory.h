/* Memory that is there or the process ends: running out of it is no answer to a sample. */
#ifndef NST_BENCH_RECORD_MEMORY_H
#define NST_BENCH_RECORD_MEMORY_H
#include <stddef.h>

void *nst_memory_new(size_t count, size_t size);               /* zeroed; free() it */
void *nst_memory_grow(void *old, size_t count, size_t size);   /* as realloc; what is new is not zeroed */
char *nst_memory_text(const char *text, size_t size);          /* a copy of the bytes, with a NUL behind */
#endif
