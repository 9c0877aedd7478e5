/* Source texts and places in them. A span is two byte offsets into one source;
 * lines and columns are computed only when a message is shown. Columns count
 * Unicode code points from 1; a tab counts as one. */
#ifndef NST_BASE_SOURCE_H
#define NST_BASE_SOURCE_H
#include "base/arena.h"
#include <stdint.h>

typedef struct { uint32_t source, begin, end; } nst_span; /* source ids start at 1; 0 = no place */

typedef struct {
  const char *name; /* as shown in messages: "file.nest", "<stdin>", "std.hardware.edge" */
  const char *text; /* NUL-terminated; may hold NUL bytes before len */
  size_t len;
  uint32_t *lines; /* offset of each line's first byte */
  size_t nlines;
} nst_source;

typedef struct nst_sources nst_sources;
nst_sources *nst_sources_new(nst_arena *arena);
/* Copies text. Returns the id, or 0 if len > 1 GiB. A leading UTF-8 BOM stays in the text. */
uint32_t nst_sources_add(nst_sources *s, const char *name, const char *text, size_t len);
const nst_source *nst_sources_get(const nst_sources *s, uint32_t id); /* NULL if 0 or unknown */
void nst_source_locate(const nst_source *src, uint32_t offset, uint32_t *line, uint32_t *column); /* both from 1 */
/* The bytes of a line (from 1) as a person sees it: without its line end and the file's BOM. */
void nst_source_line(const nst_source *src, uint32_t line, uint32_t *begin, uint32_t *end);
static inline nst_span nst_span_join(nst_span a, nst_span b) {
  if (!a.source) return b;
  if (!b.source || b.source != a.source) return a;
  return (nst_span){a.source, a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}
#endif
