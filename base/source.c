/* Source texts with the offsets of their lines, found once when a text is added. */
#include "base/source.h"

#include "base/utf8.h"
#include "base/vec.h"

#include <stdbool.h>
#include <string.h>

enum { MAX_SOURCE = 1 << 30 };

struct nst_sources {
  nst_arena *arena;
  NST_VEC(nst_source *) list; /* pointers, so that a source stays where it is */
};

nst_sources *nst_sources_new(nst_arena *arena) {
  nst_sources *s = NST_NEW(arena, nst_sources);
  s->arena = arena;
  return s;
}

uint32_t nst_sources_add(nst_sources *s, const char *name, const char *text, size_t len) {
  if (len > MAX_SOURCE) return 0;
  nst_source *src = NST_NEW(s->arena, nst_source);
  src->name = nst_arena_strndup(s->arena, name, strlen(name));
  src->text = nst_arena_strndup(s->arena, text, len);
  src->len = len;
  size_t n = 1;
  const char *end = src->text + len, *p = src->text;
  while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) p++, n++;
  src->lines = NST_NEW_ARRAY(s->arena, n, uint32_t);
  src->nlines = 1;
  p = src->text;
  while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) src->lines[src->nlines++] = (uint32_t)(++p - src->text);
  *nst_vec_push(s->arena, &s->list) = src;
  return (uint32_t)s->list.len;
}

const nst_source *nst_sources_get(const nst_sources *s, uint32_t id) {
  return id == 0 || id > s->list.len ? NULL : s->list.items[id - 1];
}

void nst_source_line(const nst_source *src, uint32_t line, uint32_t *begin, uint32_t *end) {
  uint32_t b = src->lines[line - 1];
  uint32_t e = line < src->nlines ? src->lines[line] - 1 : (uint32_t)src->len;
  if (line == 1 && src->len >= 3 && memcmp(src->text, "\xEF\xBB\xBF", 3) == 0) b = 3;
  while (e > b && src->text[e - 1] == '\r') e--;
  *begin = b;
  *end = e;
}

static bool is_ascii(const char *text, size_t len) {
  unsigned char all = 0;
  for (size_t i = 0; i < len; i++) all |= (unsigned char)text[i];
  return all < 0x80;
}

void nst_source_locate(const nst_source *src, uint32_t offset, uint32_t *line, uint32_t *column) {
  if (offset > src->len) offset = (uint32_t)src->len;
  size_t low = 0, high = src->nlines; /* lines[low] <= offset < lines[high] */
  while (high - low > 1) {
    size_t middle = low + (high - low) / 2;
    if (src->lines[middle] <= offset)
      low = middle;
    else
      high = middle;
  }
  uint32_t begin, end;
  nst_source_line(src, (uint32_t)low + 1, &begin, &end);
  *line = (uint32_t)low + 1;
  *column = 1;
  if (begin < offset && is_ascii(src->text + begin, offset - begin)) {
    *column += offset - begin;
    return;
  }
  for (uint32_t at = begin; at < offset; ++*column) at += (uint32_t)nst_utf8_step(src->text + at, src->len - at);
}
