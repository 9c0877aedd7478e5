/* JSON Lines from a descriptor, one at a time.
 *
 * Lines may be of any length up to a bound; a longer one is skipped and told of, and the next is read as if it had not been there. A last line
 * without a line feed is a line. A byte order mark in front of the first is passed over. Memory is one buffer of the longest line so far. */
#ifndef NST_BENCH_RECORD_LINES_H
#define NST_BENCH_RECORD_LINES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nst_lines nst_lines;
typedef enum { NST_LINE_READ, NST_LINE_TOO_LONG, NST_LINE_END, NST_LINE_FAILED /* errno says why */ } nst_line_status;
typedef struct {
  const char *text; /* of `size` bytes, no line feed, no NUL added; valid until the next call */
  size_t size;
  uint64_t number; /* from 1 */
} nst_line;

/* most: bytes of the longest line that is read. The descriptor stays the caller's. */
nst_lines *nst_lines_new(int fd, size_t most);
void nst_lines_free(nst_lines *lines);
/* Blocks until there is a line. Lines of white space alone are passed over. */
nst_line_status nst_lines_next(nst_lines *lines, nst_line *out);
/* Whether nst_lines_next would give a line, or the end, without waiting for who writes. Reads what is there; earlier lines become invalid. */
bool nst_lines_ready(nst_lines *lines);
#endif
