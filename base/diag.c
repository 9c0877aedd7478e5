/* Collecting messages, and their JSON form; the text form is in diag_render.c.
 *
 * A program that is wrong a million times costs a million counter increments:
 * what is not kept is not formatted either, it lands in one scratch message. */
#include "base/diag.h"

#include "base/diag_internal.h"
#include "base/intern.h"
#include "base/vec.h"

#include <string.h>

static const struct {
  const char *code, *title;
  enum { IS_ERROR, IS_WARNING, IS_LIMIT } kind;
} catalogue[NST_DIAG_COUNT + 1] = {
#define NST_DIAG(id, code, severity, title) {#code, title, IS_##severity},
#include "base/diag_catalogue.def"
#undef NST_DIAG
  {"", "", IS_ERROR},
};

const char *nst_diag_code(nst_diag_id id) { return catalogue[id].code; }
const char *nst_diag_title(nst_diag_id id) { return catalogue[id].title; }
nst_severity nst_diag_severity(nst_diag_id id) {
  return catalogue[id].kind == IS_WARNING ? NST_SEVERITY_WARNING : NST_SEVERITY_ERROR;
}

nst_diags *nst_diags_new(nst_arena *arena, const nst_sources *sources) {
  nst_diags *d = NST_NEW(arena, nst_diags);
  d->arena = arena;
  d->sources = sources;
  return d;
}

static bool in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The text, with names and numbers past NAME_MAX_SHOWN characters cut: one of a megabyte hides what is said. */
enum { NAME_MAX_SHOWN = 80 };
static const char *format(nst_arena *arena, const char *fmt, va_list args) {
  char *text = nst_arena_vprintf(arena, fmt, args), *to = text;
  size_t run = 0;
  for (const char *at = text; *at; at++) {
    run = in_name(*at) ? run + 1 : 0;
    if (run == NAME_MAX_SHOWN + 1) { /* in place: the mark takes 3 of the characters that fit */
      to -= 3;
      *to++ = '.', *to++ = '.', *to++ = '.';
    }
    if (run <= NAME_MAX_SHOWN) *to++ = *at;
  }
  *to = 0;
  return text;
}

static bool same_span(nst_span a, nst_span b) { return a.source == b.source && a.begin == b.begin && a.end == b.end; }

static nst_diag *scratch(nst_diags *d, nst_diag_id id, nst_span span) {
  d->scratch = (nst_diag){.id = id, .span = span, .message = ""};
  return &d->scratch;
}

nst_diag *nst_diag_add(nst_diags *d, nst_diag_id id, nst_span span, const char *fmt, ...) {
  bool error = nst_diag_severity(id) == NST_SEVERITY_ERROR;
  size_t *total = error ? &d->errors : &d->warnings;
  d->limit = d->limit || catalogue[id].kind == IS_LIMIT;
  const char *message = NULL;
  if (!span.source) { /* told apart by their text: always formatted */
    va_list args;
    va_start(args, fmt);
    message = format(d->arena, fmt, args);
    va_end(args);
  }
  size_t stored = 0;
  for (size_t i = 0; i < d->list.len; i++) {
    const nst_diag *m = d->list.items[i];
    if (m->id == id && same_span(m->span, span) && (!message || strcmp(m->message, message) == 0)) {
      return scratch(d, id, span);
    }
    stored += (nst_diag_severity(m->id) == NST_SEVERITY_ERROR) == error;
  }
  ++*total;
  if (stored >= NST_DIAG_MAX) {
    d->omitted++;
    return scratch(d, id, span);
  }
  if (!message) {
    va_list args;
    va_start(args, fmt);
    message = format(d->arena, fmt, args);
    va_end(args);
  }
  nst_diag *m = NST_NEW(d->arena, nst_diag);
  m->id = id;
  m->span = span;
  m->message = message;
  *nst_vec_push(d->arena, &d->list) = m;
  return m;
}

void nst_diag_label(nst_diags *d, nst_diag *m, nst_span span, const char *fmt, ...) {
  if (m == &d->scratch) return;
  if (m->nlabels == m->labels_cap) {
    m->labels = nst_vec_grow(d->arena, m->labels, m->nlabels, &m->labels_cap, sizeof *m->labels);
  }
  va_list args;
  va_start(args, fmt);
  m->labels[m->nlabels++] = (nst_diag_label_t){span, format(d->arena, fmt, args)};
  va_end(args);
}

void nst_diag_help(nst_diags *d, nst_diag *m, const char *fmt, ...) {
  if (m == &d->scratch) return;
  va_list args;
  va_start(args, fmt);
  m->help = format(d->arena, fmt, args);
  va_end(args);
}

void nst_diag_fix(nst_diags *d, nst_diag *m, nst_span span, const char *replacement) {
  if (m == &d->scratch) return;
  m->has_fix = true;
  m->fix_span = span;
  m->fix = nst_arena_strndup(d->arena, replacement, strlen(replacement));
}

bool nst_diag_is_kept(const nst_diags *d, const nst_diag *m) { return m != &d->scratch; }

enum { COMPARED_MAX = 1 << 22 };

const char *nst_diags_nearest(nst_diags *d, const char *wrong, const char *const *candidates, size_t n) {
  if (!wrong || d->compared > COMPARED_MAX) return NULL;
  const size_t len = strlen(wrong);
  d->compared += n * (16 + (len < 64 ? len * len : 0));
  return nst_name_nearest(wrong, candidates, n);
}

size_t nst_diags_count(const nst_diags *d) { return d->list.len; }
size_t nst_diags_errors(const nst_diags *d) { return d->errors; }
bool nst_diags_limit(const nst_diags *d) { return d->limit; }
size_t nst_diags_warnings(const nst_diags *d) { return d->warnings; }
const nst_diag *nst_diags_get(const nst_diags *d, size_t i) { return d->list.items[i]; }

const nst_sources *nst_diags_sources(const nst_diags *d) { return d->sources; }

static bool before(const nst_diag *a, const nst_diag *b) {
  if (a->span.source != b->span.source) return a->span.source < b->span.source;
  if (a->span.begin != b->span.begin) return a->span.begin < b->span.begin;
  return a->span.end < b->span.end;
}

/* Insertion: stable, and there are at most a few hundred. */
void nst_diags_sort(nst_diags *d) {
  for (size_t i = 1; i < d->list.len; i++) {
    nst_diag *m = d->list.items[i];
    size_t j = i;
    for (; j > 0 && before(m, d->list.items[j - 1]); j--) d->list.items[j] = d->list.items[j - 1];
    d->list.items[j] = m;
  }
}

void nst_diags_clear(nst_diags *d) {
  d->list.len = 0;
  d->errors = d->warnings = d->omitted = 0;
  d->limit = false;
}

static void json_text(nst_buffer *out, const char *key, const char *text) {
  nst_buffer_printf(out, ",\"%s\":", key);
  if (text)
    nst_buffer_json_string(out, text, strlen(text));
  else
    nst_buffer_puts(out, "null");
}

static void json_place(const nst_diags *d, nst_buffer *out, nst_span span) {
  const nst_source *src = nst_sources_get(d->sources, span.source);
  json_text(out, "file", src ? src->name : NULL);
  if (!src) {
    nst_buffer_puts(out, ",\"line\":null,\"column\":null,\"end_line\":null,\"end_column\":null");
    return;
  }
  uint32_t line, column, end_line, end_column;
  nst_source_locate(src, span.begin, &line, &column);
  nst_source_locate(src, span.end > span.begin ? span.end : span.begin, &end_line, &end_column);
  nst_buffer_printf(out, ",\"line\":%u,\"column\":%u,\"end_line\":%u,\"end_column\":%u", line, column, end_line,
                    end_column);
}

void nst_diags_render_json(const nst_diags *d, nst_buffer *out) {
  nst_buffer_printf(out, "{\"schema\":\"nestor.diagnostics/1\",\"omitted\":%zu,\"diagnostics\":[", d->omitted);
  for (size_t i = 0; i < d->list.len; i++) {
    const nst_diag *m = d->list.items[i];
    nst_buffer_printf(out, "%s{\"code\":\"%s\",\"severity\":\"%s\"", i ? "," : "", nst_diag_code(m->id),
                      nst_diag_severity(m->id) == NST_SEVERITY_ERROR ? "error" : "warning");
    json_text(out, "message", m->message);
    json_place(d, out, m->span);
    nst_buffer_puts(out, ",\"labels\":[");
    for (size_t k = 0; k < m->nlabels; k++) {
      nst_buffer_puts(out, k ? ",{\"text\":" : "{\"text\":");
      nst_buffer_json_string(out, m->labels[k].text, strlen(m->labels[k].text));
      json_place(d, out, m->labels[k].span);
      nst_buffer_putc(out, '}');
    }
    nst_buffer_putc(out, ']');
    json_text(out, "help", m->help);
    if (m->has_fix) {
      nst_buffer_puts(out, ",\"fix\":{\"text\":");
      nst_buffer_json_string(out, m->fix, strlen(m->fix));
      json_place(d, out, m->fix_span);
      nst_buffer_putc(out, '}');
    } else {
      nst_buffer_puts(out, ",\"fix\":null");
    }
    nst_buffer_putc(out, '}');
  }
  nst_buffer_puts(out, "]}\n");
}
