/* Lines under construction: the half of the formatter that knows no grammar.
 *
 * The walk over the tree (format.c) hands over items as atoms, each a token
 * with its offset in the source. This half breaks an item into lines of at most
 * 100 columns and weaves in the comments that stood before each token. */
#ifndef NST_FRONTEND_FORMAT_LINES_H
#define NST_FRONTEND_FORMAT_LINES_H
#include "base/buffer.h"
#include "base/vec.h"
#include "frontend/ast.h"

enum { NST_FMT_WIDTH = 100, NST_FMT_INDENT = 2, NST_FMT_CONTINUE = 4 };
enum { NST_FMT_GLUE = 0, NST_FMT_SPACE = 1, NST_FMT_BREAK = 2 }; /* BREAK: a space, or a new line */

typedef struct {
  const char *text;
  uint32_t len, width;
  uint32_t offset; /* in the source */
  uint32_t space;  /* columns before it */
  bool breaks;     /* a line may end before it */
} nst_fmt_atom;

typedef struct {
  uint32_t indent, width;
  const char *text;
  size_t len;
  nst_span comment; /* behind the text, or all there is on the line */
  bool blank;       /* an empty line before it */
} nst_fmt_line;

typedef struct {
  nst_arena *arena;
  const nst_source *source;
  const nst_ast_file *file;
  size_t comment; /* the next one to place */
  NST_VEC(nst_fmt_atom) atoms;
  NST_VEC(nst_fmt_line) lines;
  uint32_t indent;
  uint32_t behind;  /* the offset behind the newest atom */
  uint32_t gap;     /* columns before the next atom, where more than its own */
  bool blank;       /* the item under construction has an empty line before it */
  bool block_start; /* no line was made yet in this block */
} nst_fmt;

void nst_fmt_start(nst_fmt *f, uint32_t offset); /* a new item, as found at the offset */
/* Offset 0: that of the token behind the newest atom. */
void nst_fmt_add(nst_fmt *f, const char *text, size_t len, uint32_t offset, int how);
/* An atom that is written otherwise than in the source, where it has the span. */
void nst_fmt_add_as(nst_fmt *f, const char *text, size_t len, nst_span span, int how);
void nst_fmt_end(nst_fmt *f);
void nst_fmt_comments(nst_fmt *f, uint32_t before); /* places the comments before an offset */
uint32_t nst_fmt_columns(const nst_fmt *f);         /* of the item under construction, on one line */
bool nst_fmt_has_comment(const nst_fmt *f, uint32_t begin, uint32_t end);
bool nst_fmt_has_own_comment(const nst_fmt *f, uint32_t begin, uint32_t end); /* one on a line of its own */
bool nst_fmt_blank_before(const nst_fmt *f, uint32_t offset);
void nst_fmt_write(nst_fmt *f, nst_buffer *out);
#endif
