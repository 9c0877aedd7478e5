/* A line reader over read(2) with a bound on what it keeps. */
#include "bench/record/lines.h"

#include "bench/record/memory.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 1 << 16 };

struct nst_lines {
  int fd;
  size_t most;
  char *bytes;
  size_t capacity, begin, end; /* bytes[begin .. end) are not yet given out */
  size_t looked;               /* of them, from begin, have no line feed */
  uint64_t number;
  bool ended;
};

nst_lines *nst_lines_new(int fd, size_t most) {
  nst_lines *l = nst_memory_new(1, sizeof *l);
  l->bytes = nst_memory_new(CHUNK, 1);
  l->fd = fd;
  l->most = most;
  l->capacity = CHUNK;
  return l;
}

void nst_lines_free(nst_lines *l) {
  if (!l) return;
  free(l->bytes);
  free(l);
}

/* false: nothing more comes (ended), or an error (not ended). */
static bool refill(nst_lines *l) {
  if (l->begin) {
    memmove(l->bytes, l->bytes + l->begin, l->end - l->begin);
    l->end -= l->begin;
    l->begin = 0;
  }
  if (l->capacity - l->end < CHUNK) {
    l->capacity = 2 * l->capacity;
    l->bytes = nst_memory_grow(l->bytes, l->capacity, 1);
  }
  for (;;) {
    const ssize_t n = read(l->fd, l->bytes + l->end, l->capacity - l->end);
    if (n > 0) return l->end += (size_t)n, true;
    if (n == 0) return l->ended = true, false;
    if (errno != EINTR) return false;
  }
}

static bool blank(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (!strchr(" \t\r", text[i]) || !text[i]) return false;
  return true;
}

nst_line_status nst_lines_next(nst_lines *l, nst_line *out) {
  bool skipping = false;
  for (;;) {
    const char *start = l->bytes + l->begin;
    const size_t have = l->end - l->begin;
    const char *feed = memchr(start + l->looked, '\n', have - l->looked);
    if (!feed && !l->ended) {
      l->looked = have;
      if (have > l->most) { /* drop what cannot be kept, and remember */
        skipping = true;
        l->begin = l->end = l->looked = 0;
      }
      if (!refill(l) && !l->ended) return NST_LINE_FAILED;
      continue;
    }
    if (!feed && !have && !skipping) return NST_LINE_END;
    size_t size = feed ? (size_t)(feed - start) : have;
    l->begin += size + (feed != NULL);
    l->looked = 0;
    if (!l->number++ && size >= 3 && !memcmp(start, "\xEF\xBB\xBF", 3)) start += 3, size -= 3;
    *out = (nst_line){start, size, l->number};
    if (skipping || size > l->most) return out->size = 0, NST_LINE_TOO_LONG;
    if (!blank(start, size)) return NST_LINE_READ;
  }
}

bool nst_lines_ready(nst_lines *l) {
  for (;;) {
    if (l->ended) return true;
    const char *start = l->bytes + l->begin;
    const size_t have = l->end - l->begin;
    if (memchr(start + l->looked, '\n', have - l->looked)) return true;
    l->looked = have;
    if (have > l->most || poll(&(struct pollfd){l->fd, POLLIN, 0}, 1, 0) <= 0) return false;
    if (!refill(l) && !l->ended) return true; /* next tells the error */
  }
}
