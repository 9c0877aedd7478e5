/* Atoms into lines, comments between them. Where a line must end is decided by
 * the atoms and the comments alone, never by how the source was broken, so that
 * formatting the result again gives the same lines. */
#include "frontend/format_lines.h"

#include <string.h>

/* Columns of UTF-8 text: one for each code point. */
static uint32_t columns(const char *text, size_t len) {
  uint32_t n = 0;
  for (size_t i = 0; i < len; i++) n += ((unsigned char)text[i] & 0xC0) != 0x80;
  return n;
}

bool nst_fmt_blank_before(const nst_fmt *f, uint32_t offset) {
  const char *text = f->source->text;
  int lines = 0;
  while (offset > 0 && strchr(" \t\r\n\f\v", text[offset - 1]) && text[offset - 1]) lines += text[--offset] == '\n';
  return lines > 1;
}

/* The index of the first comment at or behind an offset. */
static size_t comment_from(const nst_fmt *f, uint32_t begin) {
  size_t lo = 0, hi = f->file->ncomments;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (f->file->comments[mid].span.begin < begin)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

bool nst_fmt_has_comment(const nst_fmt *f, uint32_t begin, uint32_t end) {
  size_t i = comment_from(f, begin);
  return i < f->file->ncomments && f->file->comments[i].span.begin < end;
}

bool nst_fmt_has_own_comment(const nst_fmt *f, uint32_t begin, uint32_t end) {
  for (size_t i = comment_from(f, begin); i < f->file->ncomments && f->file->comments[i].span.begin < end; i++)
    if (f->file->comments[i].own_line) return true;
  return false;
}

static void push_line(nst_fmt *f, nst_fmt_line line) {
  if (f->block_start) line.blank = false;
  f->block_start = false;
  *nst_vec_push(f->arena, &f->lines) = line;
}

/* A comment behind code goes behind the newest line; any other gets a line of its own. */
static void place_comment(nst_fmt *f, uint32_t indent, bool blanks) {
  const nst_ast_comment *c = &f->file->comments[f->comment++];
  nst_fmt_line *last = f->lines.len ? &f->lines.items[f->lines.len - 1] : NULL;
  if (!c->own_line && last && !last->comment.source) {
    last->comment = c->span;
    return;
  }
  push_line(
    f, (nst_fmt_line){.indent = indent, .comment = c->span, .blank = blanks && nst_fmt_blank_before(f, c->span.begin)});
}

static bool comment_before(const nst_fmt *f, uint32_t offset) {
  return f->comment < f->file->ncomments && f->file->comments[f->comment].span.begin < offset;
}

void nst_fmt_comments(nst_fmt *f, uint32_t before) {
  while (comment_before(f, before)) place_comment(f, f->indent, true);
}

void nst_fmt_start(nst_fmt *f, uint32_t offset) {
  nst_fmt_comments(f, offset);
  f->atoms.len = 0;
  f->gap = 0;
  f->blank = nst_fmt_blank_before(f, offset);
}

/* The offset of the token at or behind an offset: past white space and comments. */
static uint32_t token_behind(const nst_fmt *f, uint32_t offset) {
  const char *text = f->source->text;
  size_t len = f->source->len, i = offset;
  while (i < len) {
    if (text[i] == '#') {
      while (i < len && text[i] != '\n' && text[i] != '\r') i++;
    } else if (text[i] && strchr(" \t\r\n\f\v", text[i])) {
      i++;
    } else {
      break;
    }
  }
  return (uint32_t)i;
}

void nst_fmt_add(nst_fmt *f, const char *text, size_t len, uint32_t offset, int how) {
  if (!offset) offset = token_behind(f, f->behind);
  nst_fmt_add_as(f, text, len, (nst_span){0, offset, offset + (uint32_t)len}, how);
}

void nst_fmt_add_as(nst_fmt *f, const char *text, size_t len, nst_span span, int how) {
  uint32_t space = how == NST_FMT_GLUE || f->atoms.len == 0 ? 0 : 1;
  if (f->atoms.len && f->gap > space) space = f->gap;
  f->gap = 0;
  f->behind = span.end;
  *nst_vec_push(f->arena, &f->atoms) = (nst_fmt_atom){.text = text,
                                                      .len = (uint32_t)len,
                                                      .width = columns(text, len),
                                                      .offset = span.begin,
                                                      .space = space,
                                                      .breaks = how == NST_FMT_BREAK};
}

uint32_t nst_fmt_columns(const nst_fmt *f) {
  uint32_t n = f->indent;
  for (size_t i = 0; i < f->atoms.len; i++) n += f->atoms.items[i].space + f->atoms.items[i].width;
  return n;
}

/* The columns up to the next place where a line may end. */
static uint32_t chunk(const nst_fmt *f, size_t i) {
  uint32_t n = f->atoms.items[i].space + f->atoms.items[i].width;
  for (i++; i < f->atoms.len && !f->atoms.items[i].breaks; i++) n += f->atoms.items[i].space + f->atoms.items[i].width;
  return n;
}

static void end_line(nst_fmt *f, nst_buffer *text, uint32_t indent) {
  push_line(f, (nst_fmt_line){.indent = indent,
                              .width = indent + columns(text->text, text->len),
                              .text = nst_arena_strndup(f->arena, text->text, text->len),
                              .len = text->len,
                              .blank = f->blank});
  f->blank = false;
  nst_buffer_clear(text);
}

void nst_fmt_end(nst_fmt *f) {
  nst_buffer text = {0};
  uint32_t indent = f->indent, column = f->indent;
  bool wraps = nst_fmt_columns(f) > NST_FMT_WIDTH;
  for (size_t i = 0; i < f->atoms.len; i++) {
    const nst_fmt_atom *a = &f->atoms.items[i];
    bool commented = i > 0 && comment_before(f, a->offset);
    if (i > 0 && (commented || (wraps && a->breaks && column + chunk(f, i) > NST_FMT_WIDTH))) {
      end_line(f, &text, indent);
      indent = f->indent + NST_FMT_CONTINUE;
      while (comment_before(f, a->offset)) place_comment(f, indent, false);
      column = indent;
    }
    if (text.len) {
      nst_buffer_pad(&text, ' ', a->space);
      column += a->space;
    }
    nst_buffer_add(&text, a->text, a->len);
    column += a->width;
  }
  if (text.len) end_line(f, &text, indent);
  nst_buffer_fini(&text);
  f->atoms.len = 0;
  f->gap = 0;
}

/* Comments behind neighbouring lines start in one column where all of them fit. */
static size_t comment_run(const nst_fmt *f, size_t i, uint32_t *column) {
  size_t end = i;
  uint32_t widest = 0, longest = 0;
  for (; end < f->lines.len; end++) {
    const nst_fmt_line *l = &f->lines.items[end];
    if (!l->comment.source || !l->len || (end > i && (l->blank || l->indent != f->lines.items[i].indent))) break;
    uint32_t len = columns(f->source->text + l->comment.begin, l->comment.end - l->comment.begin);
    if (l->width > widest) widest = l->width;
    if (len > longest) longest = len;
  }
  *column = widest + 2 + longest <= NST_FMT_WIDTH ? widest + 2 : 0;
  return end;
}

void nst_fmt_write(nst_fmt *f, nst_buffer *out) {
  size_t run = 0;
  uint32_t column = 0;
  for (size_t i = 0; i < f->lines.len; i++) {
    const nst_fmt_line *l = &f->lines.items[i];
    if (l->blank) nst_buffer_putc(out, '\n');
    nst_buffer_pad(out, ' ', l->indent);
    nst_buffer_add(out, l->text, l->len);
    if (l->comment.source) {
      if (l->len) {
        if (i >= run) run = comment_run(f, i, &column);
        nst_buffer_pad(out, ' ', column > l->width ? column - l->width : 2);
      }
      nst_buffer_add(out, f->source->text + l->comment.begin, l->comment.end - l->comment.begin);
    }
    nst_buffer_putc(out, '\n');
  }
}
