/* Making a failing program small, on its text.
 *
 * The text is taken as lines and words; each pass tries one kind of change
 * everywhere and keeps what still fails: whole blocks and lines go, a block
 * loses its braces, items of lists and terms of sums go, numbers get lower. A
 * change that makes the program illegal simply does not fail. Passes repeat
 * until none helps. */
#include "generate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  nst_buffer *text;
  bool (*fails)(void *ctx, const char *text);
  void *ctx;
} shrinker;

/* Replaces [from, to) by `with` if the program still fails. */
static bool try_replace(shrinker *s, size_t from, size_t to, const char *with) {
  nst_buffer next = {0};
  nst_buffer_add(&next, s->text->text, from);
  nst_buffer_puts(&next, with);
  nst_buffer_add(&next, s->text->text + to, s->text->len - to);
  bool better = s->fails(s->ctx, next.text ? next.text : "");
  if (better) {
    nst_buffer_fini(s->text);
    *s->text = next;
  } else {
    nst_buffer_fini(&next);
  }
  return better;
}

static size_t line_end(const shrinker *s, size_t at) {
  while (at < s->text->len && s->text->text[at] != '\n') at++;
  return at < s->text->len ? at + 1 : at;
}

/* Past the line that closes the block opened on the line at `at`; 0: none is opened. */
static size_t block_end(const shrinker *s, size_t at) {
  int depth = 0;
  bool opened = false;
  for (size_t i = at; i < s->text->len; i++) {
    char c = s->text->text[i];
    if (c == '{') depth++, opened = true;
    if (c == '}') depth--;
    if (c == '\n' && opened && depth <= 0) return i + 1;
    if (c == '\n' && !opened) return 0;
  }
  return 0;
}

static bool drop_lines(shrinker *s) {
  bool any = false;
  for (size_t at = 0; at < s->text->len;) {
    size_t end = line_end(s, at), block = block_end(s, at);
    if (block > end && try_replace(s, at, block, ""))
      any = true;
    else if (try_replace(s, at, end, ""))
      any = true;
    else
      at = end;
  }
  return any;
}

/* "for m by 2 {" … "}" without its braces, or without its first and last line. */
static bool open_blocks(shrinker *s) {
  bool any = false;
  for (size_t at = 0; at < s->text->len; at = line_end(s, at)) {
    size_t end = line_end(s, at), block = block_end(s, at);
    if (block <= end) continue;
    size_t last = block - 1;
    while (last > 0 && s->text->text[last - 1] != '\n') last--;
    char *inner = strndup(s->text->text + end, last - end);
    if (!inner) return any;
    any = try_replace(s, at, block, inner) || any;
    free(inner);
  }
  return any;
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Pieces that a separator joins: "A, B", "p + 2*r", "X[i] * Y[j]". Brackets are never cut. */
static size_t piece_end(const shrinker *s, size_t at) {
  const char *t = s->text->text;
  int depth = 0;
  while (at < s->text->len && t[at] != '\n') {
    if (t[at] == '[' || t[at] == '(') depth++;
    if ((t[at] == ']' || t[at] == ')') && depth-- == 0) break;
    if (depth == 0 && (strchr(",{}=", t[at]) || !strncmp(t + at, " + ", 3) || !strncmp(t + at, " - ", 3) ||
                       !strncmp(t + at, " * ", 3) || !strncmp(t + at, " in ", 4)))
      break;
    at++;
  }
  return at;
}

static bool drop_pieces(shrinker *s) {
  static const char *const separators[] = {", ", " + ", " - ", " * "};
  bool any = false;
  for (size_t at = 0; at < s->text->len; at++) {
    for (size_t k = 0; k < sizeof separators / sizeof *separators; k++) {
      size_t len = strlen(separators[k]);
      if (at + len > s->text->len || strncmp(s->text->text + at, separators[k], len)) continue;
      if (try_replace(s, at, piece_end(s, at + len), "")) { /* the piece after it */
        any = true;
        break;
      }
      size_t from = at; /* the piece before it */
      while (from > 0 && (is_word(s->text->text[from - 1]) || s->text->text[from - 1] == '*')) from--;
      if (from < at && try_replace(s, from, at + len, "")) {
        any = true;
        break;
      }
    }
  }
  /* Coefficients, shapes and attributes. */
  for (size_t at = 0; at < s->text->len; at++) {
    char c = s->text->text[at];
    if (c == '*' && at > 0 && isdigit((unsigned char)s->text->text[at - 1])) {
      size_t from = at;
      while (from > 0 && isdigit((unsigned char)s->text->text[from - 1])) from--;
      any = try_replace(s, from, at + 1, "") || any;
    } else if (c == '[' || (c == '{' && at > 0)) {
      size_t from = at - (c == '{' && s->text->text[at - 1] == ' '), to = at;
      while (to < s->text->len && s->text->text[to] != '\n' && s->text->text[to] != (c == '[' ? ']' : '}')) to++;
      if (to < s->text->len && s->text->text[to] != '\n') any = try_replace(s, from, to + 1, "") || any;
    }
  }
  return any;
}

/* "mapping m(t0 = 3, t1 = 4)": one parameter less, its value written where it stood. */
static bool inline_params(shrinker *s) {
  bool any = false;
  for (int i = 0; i < 100; i++) {
    nst_buffer next = {0}, name = {0};
    nst_buffer_printf(&name, "t%d", i);
    const char *text = s->text->text, *def = text;
    for (; *def && (strncmp(def, name.text, name.len) || strncmp(def + name.len, " = ", 3)); def++)
      ;
    size_t from = (size_t)(def - text), to = from;
    if (*def) {
      const char *value = def + name.len + 3;
      size_t len = strspn(value, "0123456789");
      to = (size_t)(value + len - text);
      if (text[to] == ',')
        to += 2; /* not the last */
      else if (text[from - 1] == ' ')
        from -= 2; /* the last of several */
      else
        from--, to++; /* the only one */
      nst_buffer_add(&next, text, from);
      for (const char *p = text + to; *p;) {
        bool here = !strncmp(p, name.text, name.len) && !is_word(p[name.len]) && !is_word(p[-1]);
        nst_buffer_add(&next, here ? value : p, here ? len : 1);
        p += here ? name.len : 1;
      }
      if (s->fails(s->ctx, next.text)) {
        nst_buffer swap = *s->text;
        *s->text = next;
        next = swap;
        any = true;
      }
    }
    nst_buffer_fini(&next);
    nst_buffer_fini(&name);
  }
  return any;
}

static bool lower_numbers(shrinker *s) {
  bool any = false;
  for (size_t at = 0; at < s->text->len; at++) {
    if (!isdigit((unsigned char)s->text->text[at]) || (at > 0 && is_word(s->text->text[at - 1]))) continue;
    for (;;) {
      char *end, with[24];
      long n = strtol(s->text->text + at, &end, 10);
      size_t to = (size_t)(end - s->text->text);
      long tries[] = {1, n / 2, n - 1};
      bool lower = false;
      for (int i = 0; i < 3 && !lower; i++) {
        if (tries[i] < 1 || tries[i] >= n) continue;
        nst_buffer number = {0};
        nst_buffer_int(&number, tries[i]);
        strncpy(with, number.text, sizeof with - 1);
        with[sizeof with - 1] = '\0';
        nst_buffer_fini(&number);
        lower = try_replace(s, at, to, with);
      }
      if (!lower) break;
      any = true;
    }
    while (at < s->text->len && isdigit((unsigned char)s->text->text[at])) at++;
  }
  return any;
}

void gen_shrink(nst_buffer *text, bool (*fails)(void *ctx, const char *text), void *ctx) {
  shrinker s = {text, fails, ctx};
  bool any = true;
  for (int round = 0; any && round < 20; round++) {
    any = drop_lines(&s);
    any = open_blocks(&s) || any;
    any = drop_pieces(&s) || any;
    any = inline_params(&s) || any;
    any = lower_numbers(&s) || any;
  }
}
