/* A list of blocks, each twice the size of the one before up to a limit, and a
 * cursor in the newest. An object that would waste much of a block gets a block
 * of its own, linked behind the current one, so that the cursor stays useful.
 * Blocks come zeroed from calloc; nothing is handed out twice, so objects are
 * zeroed without another pass. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK = 4096, LARGEST_BLOCK = 1 << 20 };

typedef struct block block;
struct block {
  block *next;
  alignas(max_align_t) char data[];
};

struct nst_arena {
  block *blocks;
  char *cursor;
  size_t left;
  size_t used;
  size_t next_size;
};

void nst_out_of_memory(void) {
  static const char text[] = "nestor: out of memory\n";
  fwrite(text, 1, sizeof text - 1, stderr);
  abort();
}

nst_arena *nst_arena_new(void) {
  nst_arena *arena = calloc(1, sizeof *arena);
  if (!arena) nst_out_of_memory();
  arena->next_size = FIRST_BLOCK;
  return arena;
}

void nst_arena_free(nst_arena *arena) {
  if (!arena) return;
  for (block *b = arena->blocks, *next; b; b = next) {
    next = b->next;
    free(b);
  }
  free(arena);
}

static block *block_new(size_t size) {
  if (size > SIZE_MAX - sizeof(block)) nst_out_of_memory();
  block *b = calloc(1, sizeof(block) + size);
  if (!b) nst_out_of_memory();
  return b;
}

size_t nst_arena_used(const nst_arena *arena) { return arena->used; }

#ifdef NST_ARENA_DEBUG
/* One malloc per object, of exactly its size: a sanitizer sees the first byte past the end. */
void *nst_arena_alloc(nst_arena *arena, size_t size) {
  block *b = block_new(size);
  b->next = arena->blocks;
  arena->blocks = b;
  arena->used += size;
  return b->data;
}
#else
void *nst_arena_alloc(nst_arena *arena, size_t size) {
  enum { ALIGN = alignof(max_align_t) };
  if (size > SIZE_MAX - ALIGN) nst_out_of_memory();
  size_t rounded = size ? (size + ALIGN - 1) & ~(size_t)(ALIGN - 1) : ALIGN;
  arena->used += rounded;
  if (rounded <= arena->left) {
    void *p = arena->cursor;
    arena->cursor += rounded;
    arena->left -= rounded;
    return p;
  }
  if (arena->blocks && rounded > arena->next_size / 4) {
    block *b = block_new(rounded);
    b->next = arena->blocks->next;
    arena->blocks->next = b;
    return b->data;
  }
  size_t block_size = rounded > arena->next_size ? rounded : arena->next_size;
  if (arena->next_size < LARGEST_BLOCK) arena->next_size *= 2;
  block *b = block_new(block_size);
  b->next = arena->blocks;
  arena->blocks = b;
  arena->cursor = b->data + rounded;
  arena->left = block_size - rounded;
  return b->data;
}
#endif

void *nst_arena_array(nst_arena *arena, size_t n, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes)) nst_out_of_memory();
  return nst_arena_alloc(arena, bytes);
}

char *nst_arena_strndup(nst_arena *arena, const char *text, size_t len) {
  if (len == SIZE_MAX) nst_out_of_memory();
  char *copy = nst_arena_alloc(arena, len + 1);
  if (len) memcpy(copy, text, len);
  return copy;
}

char *nst_arena_vprintf(nst_arena *arena, const char *fmt, va_list args) {
  char small[256];
  va_list again;
  va_copy(again, args);
  int n = vsnprintf(small, sizeof small, fmt, args);
  if (n < 0) nst_out_of_memory(); /* only a broken format or no memory gets here */
  size_t len = (size_t)n;
  char *text;
  if (len < sizeof small) {
    text = nst_arena_strndup(arena, small, len);
  } else {
    text = nst_arena_alloc(arena, len + 1);
    vsnprintf(text, len + 1, fmt, again);
  }
  va_end(again);
  return text;
}

char *nst_arena_printf(nst_arena *arena, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  char *text = nst_arena_vprintf(arena, fmt, args);
  va_end(args);
  return text;
}
