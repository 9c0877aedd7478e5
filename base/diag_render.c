/* Messages as text for people, in the manner of rustc:
 *
 *   error[E0301]: a memory's capacity is given in bytes per cycle
 *    --> chip.nest:3:24
 *     |
 *   3 |   memory GLB { capacity = 128 B/cycle }
 *     |                --------   ^^^^^^^^^^^
 *     |                |
 *     |                this wants bytes
 *     |
 *     = help: …
 *
 * All annotations of a message are gathered, sorted by place, and cut into
 * excerpts: one stretch of one line with the marks that fall into it. A short
 * line is one excerpt; of a very long one only the surroundings of the marks are
 * looked at, so the work does not depend on its length. The text of the line is
 * not trusted: what would move the cursor or reorder the line is shown escaped. */
#include "base/diag_internal.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  WINDOW = 120, /* code points of a line that are shown */
  LEAD = 40,    /* of these before the first mark, where the line is cut */
  TAB = 4,
};

static const char RESET[] = "\x1b[0m", BOLD[] = "\x1b[1m", RED[] = "\x1b[1;31m", YELLOW[] = "\x1b[1;33m",
                  BLUE[] = "\x1b[1;34m", CYAN[] = "\x1b[1;36m";

typedef struct {
  nst_span span;
  const char *text; /* may be NULL */
  bool primary;
  const nst_source *src;
  uint32_t line; /* of span.begin */
} mark;

typedef struct {
  const nst_diags *d;
  nst_buffer *out;
  bool color;
  const char *accent; /* the severity's colour */
  size_t gutter;      /* width of the line numbers */
} renderer;

static void paint(renderer *r, const char *ansi) {
  if (r->color) nst_buffer_puts(r->out, ansi);
}

static void painted(renderer *r, const char *ansi, const char *text) {
  paint(r, ansi);
  nst_buffer_puts(r->out, text);
  paint(r, RESET);
}

/* ---- one character ---- */

static bool in_ranges(uint32_t cp, const uint32_t (*ranges)[2], size_t n) {
  for (size_t i = 0; i < n; i++) {
    if (cp >= ranges[i][0] && cp <= ranges[i][1]) return true;
  }
  return false;
}
#define IN(cp, ranges) in_ranges((cp), (ranges), sizeof(ranges) / sizeof *(ranges))

/* Controls, and the marks that reorder or hide text. */
static bool needs_escape(uint32_t cp) {
  static const uint32_t ranges[][2] = {{0x00, 0x1F},     {0x7F, 0x9F},     {0x061C, 0x061C}, {0x200B, 0x200F},
                                       {0x2028, 0x202E}, {0x2060, 0x2069}, {0xFEFF, 0xFEFF}, {0xFFF9, 0xFFFB}};
  return IN(cp, ranges);
}

/* Terminal cells, near enough for a caret to stand in the right place. */
static size_t cells(uint32_t cp) {
  static const uint32_t combining[][2] = {{0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD},
                                          {0x064B, 0x065F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                                          {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}};
  static const uint32_t wide[][2] = {{0x1100, 0x115F},   {0x2E80, 0xA4CF},   {0xAC00, 0xD7A3},  {0xF900, 0xFAFF},
                                     {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},  {0x1F300, 0x1F64F},
                                     {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};
  if (cp < 0x0300) return 1;
  return IN(cp, combining) ? 0 : IN(cp, wide) ? 2 : 1;
}

/* Appends the character at text to out (if not NULL) as it is shown; returns its cells and how
 * many bytes it takes in *step. */
static size_t show_char(nst_buffer *out, const char *text, size_t len, size_t *step) {
  uint32_t cp;
  char escaped[16];
  int width;
  *step = nst_utf8_decode(&cp, text, len);
  if (*step == 0) {
    *step = 1;
    width = snprintf(escaped, sizeof escaped, "\\x%02x", (unsigned)(unsigned char)*text);
  } else if (cp == '\t') {
    if (out) nst_buffer_pad(out, ' ', TAB);
    return TAB;
  } else if (needs_escape(cp)) {
    width = snprintf(escaped, sizeof escaped, cp < 0x80 ? "\\x%02x" : "\\u{%x}", (unsigned)cp);
  } else {
    if (out) nst_buffer_add(out, text, *step);
    return cells(cp);
  }
  if (out) nst_buffer_puts(out, escaped);
  return (size_t)width;
}

static void show_text(nst_buffer *out, const char *text, size_t len) {
  for (size_t i = 0, step; i < len; i += step) show_char(out, text + i, len - i, &step);
}

/* A text that may have several lines; later ones are indented. */
static void show_lines(nst_buffer *out, const char *text, size_t len, size_t indent) {
  while (len && text[len - 1] == '\n') len--;
  for (;;) {
    const char *newline = memchr(text, '\n', len);
    size_t n = newline ? (size_t)(newline - text) : len;
    show_text(out, text, n);
    if (!newline) return;
    nst_buffer_putc(out, '\n');
    text += n + 1;
    len -= n + 1;
    const char *next = memchr(text, '\n', len);
    if (next != text && len) nst_buffer_pad(out, ' ', indent);
  }
}

/* ---- excerpts ---- */

/* The stretch of a line that is shown, in bytes of the source. */
typedef struct {
  uint32_t begin, end, line_begin, line_end;
} window;

static uint32_t step_forward(const nst_source *src, uint32_t at, uint32_t end, size_t n) {
  while (n-- && at < end) at += (uint32_t)nst_utf8_step(src->text + at, end - at);
  return at;
}

static uint32_t step_back(const nst_source *src, uint32_t at, uint32_t begin, size_t n) {
  while (n-- && at > begin) {
    at--;
    for (int k = 0; k < 3 && at > begin && ((unsigned char)src->text[at] & 0xC0) == 0x80; k++) at--;
  }
  return at;
}

static window window_around(const mark *m) {
  window w;
  nst_source_line(m->src, m->line, &w.line_begin, &w.line_end);
  w.begin = w.line_begin;
  w.end = step_forward(m->src, w.begin, w.line_end, WINDOW);
  if (w.end == w.line_end) return w; /* short enough to be shown whole */
  uint32_t at = m->span.begin < w.line_end ? m->span.begin : w.line_end;
  if (at < w.line_begin) at = w.line_begin;
  w.begin = step_back(m->src, at, w.line_begin, LEAD);
  w.end = step_forward(m->src, w.begin, w.line_end, WINDOW);
  return w;
}

static bool window_has(window w, const mark *m) { return m->span.begin < w.end || w.end == w.line_end; }

/* Cells between the start of the shown text and a byte of it. */
static size_t cells_before(const nst_source *src, window w, uint32_t offset) {
  size_t width = w.begin > w.line_begin ? 3 : 0; /* the "..." of a cut */
  if (offset > w.end) offset = w.end;
  for (uint32_t at = w.begin; at < offset;) {
    size_t step;
    width += show_char(NULL, src->text + at, w.end - at, &step);
    at += (uint32_t)step;
  }
  return width;
}

static void begin_row(renderer *r) {
  paint(r, BLUE);
  nst_buffer_pad(r->out, ' ', r->gutter);
  nst_buffer_puts(r->out, " |");
  paint(r, RESET);
}

static void source_row(renderer *r, const nst_source *src, uint32_t line, window w) {
  paint(r, BLUE);
  nst_buffer_printf(r->out, "%*u |", (int)r->gutter, line);
  paint(r, RESET);
  if (w.begin < w.end) {
    nst_buffer_putc(r->out, ' ');
    if (w.begin > w.line_begin) nst_buffer_puts(r->out, "...");
    show_text(r->out, src->text + w.begin, w.end - w.begin);
    if (w.end < w.line_end) nst_buffer_puts(r->out, "...");
  }
  nst_buffer_putc(r->out, '\n');
}

/* Rows of marks are built as plain cells first: a character and whether it is the primary's. */
typedef struct {
  char *cell;
  bool *primary;
  size_t len, cap;
} row;

static void row_set(row *w, size_t at, char c, bool primary) {
  if (at >= w->cap) return;
  while (w->len <= at) w->cell[w->len++] = ' ';
  w->cell[at] = c;
  w->primary[at] = primary;
}

static void row_print(renderer *r, row *w) {
  begin_row(r);
  nst_buffer_putc(r->out, ' ');
  for (size_t i = 0; i < w->len;) {
    size_t j = i;
    bool blank = w->cell[i] == ' ';
    while (j < w->len && (w->cell[j] == ' ') == blank && (blank || w->primary[j] == w->primary[i])) j++;
    if (!blank) paint(r, w->primary[i] ? r->accent : BLUE);
    nst_buffer_add(r->out, w->cell + i, j - i);
    if (!blank) paint(r, RESET);
    i = j;
  }
  w->len = 0;
}

static void mark_text(renderer *r, const mark *m) {
  paint(r, m->primary ? r->accent : BLUE);
  show_lines(r->out, m->text, strlen(m->text), 0);
  paint(r, RESET);
  nst_buffer_putc(r->out, '\n');
}

/* One stretch of a line and its marks, which are sorted by where they begin. */
static void excerpt(renderer *r, const mark *marks, size_t n, window w) {
  const nst_source *src = marks[0].src;
  source_row(r, src, marks[0].line, w);
  size_t *column = calloc(n, sizeof *column);
  size_t cap = cells_before(src, w, w.end) + 4;
  row cells_row = {calloc(cap, 1), calloc(cap, sizeof(bool)), 0, cap};
  if (!column || !cells_row.cell || !cells_row.primary) nst_out_of_memory();
  /* Secondary marks first, so that the primary's carets lie on top. */
  for (int pass = 0; pass < 2; pass++) {
    for (size_t i = 0; i < n; i++) {
      if (marks[i].primary != (pass == 1)) continue;
      size_t from = cells_before(src, w, marks[i].span.begin), to = cells_before(src, w, marks[i].span.end);
      column[i] = from;
      if (to <= from) to = from + 1;
      for (size_t k = from; k < to; k++) row_set(&cells_row, k, pass ? '^' : '-', marks[i].primary);
    }
  }
  row_print(r, &cells_row);
  /* The last mark's text stands beside it; the others hang below, right to left. */
  bool last_inline = marks[n - 1].text && (n == 1 || column[n - 2] < column[n - 1] || !marks[n - 2].text);
  if (last_inline) {
    nst_buffer_putc(r->out, ' ');
    mark_text(r, &marks[n - 1]);
  } else {
    nst_buffer_putc(r->out, '\n');
  }
  size_t hanging = last_inline ? n - 1 : n;
  bool first = true;
  for (size_t i = hanging; i-- > 0;) {
    if (!marks[i].text) continue;
    for (int connectors = first; connectors >= 0; connectors--) {
      /* Left of this text, and once above it, a bar for each text still to come. */
      for (size_t k = 0; k < i + (size_t)connectors; k++) {
        if (marks[k].text && (connectors || column[k] < column[i]))
          row_set(&cells_row, column[k], '|', marks[k].primary);
      }
      row_print(r, &cells_row);
      if (connectors) nst_buffer_putc(r->out, '\n');
    }
    first = false;
    size_t drawn = 0;
    for (size_t k = 0; k < i; k++) {
      if (marks[k].text && column[k] < column[i] && column[k] + 1 > drawn) drawn = column[k] + 1;
    }
    nst_buffer_pad(r->out, ' ', column[i] - drawn);
    mark_text(r, &marks[i]);
  }
  free(column);
  free(cells_row.cell);
  free(cells_row.primary);
}

/* ---- one message ---- */

static bool mark_before(const mark *a, const mark *b, uint32_t primary_source) {
  bool a_elsewhere = a->span.source != primary_source, b_elsewhere = b->span.source != primary_source;
  if (a_elsewhere != b_elsewhere) return b_elsewhere;
  if (a->span.source != b->span.source) return a->span.source < b->span.source;
  if (a->line != b->line) return a->line < b->line;
  return a->span.begin < b->span.begin;
}

static void add_mark(renderer *r, mark *marks, size_t *n, nst_span span, const char *text, bool primary) {
  const nst_source *src = nst_sources_get(r->d->sources, span.source);
  if (!src) return;
  if (span.end < span.begin) span.end = span.begin;
  uint32_t column, line_begin, line_end;
  mark m = {span, text, primary, src, 0};
  nst_source_locate(src, span.begin, &m.line, &column);
  nst_source_line(src, m.line, &line_begin, &line_end);
  if (m.span.begin > line_end) m.span.begin = line_end;
  if (m.span.begin < line_begin) m.span.begin = line_begin;
  if (m.span.end > line_end) m.span.end = line_end; /* of several lines the first is marked */
  /* A label on the primary's own span is that mark's text. */
  if (!primary && *n && marks[0].primary && !marks[0].text && marks[0].span.source == m.span.source &&
      marks[0].span.begin == m.span.begin && marks[0].span.end == m.span.end) {
    marks[0].text = text;
    return;
  }
  marks[(*n)++] = m;
}

static void place_row(renderer *r, const char *arrow, const mark *m) {
  uint32_t line, column;
  nst_source_locate(m->src, m->span.begin, &line, &column);
  nst_buffer_pad(r->out, ' ', r->gutter);
  painted(r, BLUE, arrow);
  nst_buffer_putc(r->out, ' ');
  show_text(r->out, m->src->name, strlen(m->src->name));
  nst_buffer_printf(r->out, ":%u:%u\n", line, column);
}

static void excerpts(renderer *r, const nst_diag *m) {
  mark *marks = calloc(m->nlabels + 1, sizeof *marks);
  if (!marks) nst_out_of_memory();
  size_t n = 0;
  add_mark(r, marks, &n, m->span, NULL, true);
  for (size_t i = 0; i < m->nlabels; i++) add_mark(r, marks, &n, m->labels[i].span, m->labels[i].text, false);
  uint32_t last_line = 0;
  for (size_t i = 0; i < n; i++) {
    if (marks[i].line > last_line) last_line = marks[i].line;
  }
  for (uint32_t v = last_line; v >= 10; v /= 10) r->gutter++;
  if (n) place_row(r, "-->", &marks[0]);
  for (size_t i = 1; i < n; i++) { /* stable insertion */
    mark moving = marks[i];
    size_t j = i;
    for (; j > 0 && mark_before(&moving, &marks[j - 1], m->span.source); j--) marks[j] = marks[j - 1];
    marks[j] = moving;
  }
  for (size_t i = 0; i < n;) {
    const mark *first = &marks[i];
    window w = window_around(first);
    size_t j = i + 1;
    while (j < n && marks[j].src == first->src && marks[j].line == first->line && window_has(w, &marks[j])) j++;
    if (i == 0 || marks[i - 1].src != first->src) {
      if (i > 0) {
        begin_row(r);
        nst_buffer_putc(r->out, '\n');
        place_row(r, ":::", first);
      }
      begin_row(r);
      nst_buffer_putc(r->out, '\n');
    } else if (marks[i - 1].line + 1 < first->line) {
      painted(r, BLUE, "...");
      nst_buffer_putc(r->out, '\n');
    }
    excerpt(r, first, j - i, w);
    i = j;
  }
  free(marks);
}

static void note_head(renderer *r, const char *kind) {
  nst_buffer_pad(r->out, ' ', r->gutter + 1);
  painted(r, BLUE, "=");
  nst_buffer_putc(r->out, ' ');
  painted(r, CYAN, kind);
  nst_buffer_puts(r->out, ": ");
}

/* In words: the text to replace may be anywhere and of any size, the replacement several lines. */
static void fix_note(renderer *r, const nst_diag *m) {
  enum { SHOWN = 60 };
  const nst_source *src = nst_sources_get(r->d->sources, m->fix_span.source);
  note_head(r, "fix");
  size_t indent = r->gutter + 8; /* below the first letter of the note */
  nst_span s = m->fix_span;
  bool has_old = src && s.end > s.begin && s.end <= src->len;
  bool short_old = has_old && s.end - s.begin <= SHOWN && !memchr(src->text + s.begin, '\n', s.end - s.begin);
  if (!has_old) {
    nst_buffer_puts(r->out, "insert `");
  } else {
    nst_buffer_puts(r->out, *m->fix ? "replace " : "remove ");
    if (short_old) {
      nst_buffer_putc(r->out, '`');
      show_text(r->out, src->text + s.begin, s.end - s.begin);
      nst_buffer_putc(r->out, '`');
    } else {
      nst_buffer_puts(r->out, "this");
    }
    if (*m->fix) nst_buffer_puts(r->out, " with `");
  }
  if (*m->fix || !has_old) {
    show_lines(r->out, m->fix, strlen(m->fix), indent);
    nst_buffer_putc(r->out, '`');
  }
  nst_buffer_putc(r->out, '\n');
}

static void message(renderer *r, const nst_diag *m) {
  bool error = nst_diag_severity(m->id) == NST_SEVERITY_ERROR;
  r->accent = error ? RED : YELLOW;
  r->gutter = 1;
  paint(r, r->accent);
  nst_buffer_printf(r->out, "%s[%s]", error ? "error" : "warning", nst_diag_code(m->id));
  paint(r, RESET);
  paint(r, BOLD);
  nst_buffer_puts(r->out, ": ");
  show_lines(r->out, m->message, strlen(m->message), 2);
  paint(r, RESET);
  nst_buffer_putc(r->out, '\n');
  size_t length = r->out->len;
  excerpts(r, m);
  if (m->help || m->has_fix) {
    if (r->out->len > length) {
      begin_row(r);
      nst_buffer_putc(r->out, '\n');
    }
    if (m->help) {
      note_head(r, "help");
      show_lines(r->out, m->help, strlen(m->help), r->gutter + 9);
      nst_buffer_putc(r->out, '\n');
    }
    if (m->has_fix) fix_note(r, m);
  }
  nst_buffer_putc(r->out, '\n');
}

void nst_diags_render(const nst_diags *d, nst_buffer *out, bool color) {
  renderer r = {.d = d, .out = out, .color = color};
  for (size_t i = 0; i < d->list.len; i++) message(&r, d->list.items[i]);
  if (d->omitted) {
    nst_buffer_printf(out, "%zu more message%s not shown\n\n", d->omitted, d->omitted == 1 ? " is" : "s are");
  }
}
