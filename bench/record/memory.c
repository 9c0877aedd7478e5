/* Allocation that never fails: the one file of the benchmark's libraries that may end the process. */
#include "bench/record/memory.h"

#include <stdlib.h>
#include <string.h>

static void *there(void *memory) {
  if (!memory) abort();
  return memory;
}

void *nst_memory_new(size_t count, size_t size) { return there(calloc(count ? count : 1, size ? size : 1)); }

void *nst_memory_grow(void *old, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count ? count : 1, size, &bytes)) abort();
  return there(realloc(old, bytes));
}

char *nst_memory_text(const char *text, size_t size) {
  char *copy = there(malloc(size + 1));
  memcpy(copy, text, size);
  copy[size] = '\0';
  return copy;
}
