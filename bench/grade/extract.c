/* Extraction of programs: reasoning, fences, bare declarations. One pass over the lines for each, whatever the text holds. */
#include "bench/grade/extract.h"

#include <stdint.h>
#include <string.h>

static const char *const step_names[] = {
#define NST_STEP(id, name, rule) name,
#include "bench/grade/steps.def"
#undef NST_STEP
};
const char *nst_step_name(nst_step step) { return step_names[step]; }

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }
static bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
static bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_space(char c) { return is_blank(c) || c == '\n' || c == '\f' || c == '\v'; }

bool nst_extract_begins(const char *text, size_t size, const char *word) {
  const size_t n = strlen(word);
  if (size < n) return false;
  for (size_t i = 0; i < n; i++)
    if (lower(text[i]) != lower(word[i])) return false;
  return true;
}

size_t nst_extract_line(const char *completion, const char *place) {
  size_t line = 1;
  for (const char *p = completion; (p = memchr(p, '\n', (size_t)(place - p))); p++) line++;
  return line;
}

/* ---- lines ---------------------------------------------------------------- */

typedef struct { const char *text, *end; } span; /* [text, end) */

/* The line at `from`, without its line feed; *next is where the one behind begins, or the end. */
static span line_at(const char *from, const char *end, const char **next) {
  const char *feed = memchr(from, '\n', (size_t)(end - from));
  *next = feed ? feed + 1 : end;
  return (span){from, feed ? feed : end};
}

static const char *skip_blanks(span s) {
  while (s.text < s.end && is_blank(*s.text)) s.text++;
  return s.text;
}

static bool all_space(const char *from, const char *end) {
  while (from < end && is_space(*from)) from++;
  return from == end;
}

/* ---- reasoning ------------------------------------------------------------ */

static bool odd_quotes(const char *from, const char *end) {
  bool odd = false;
  for (; (from = memchr(from, '"', (size_t)(end - from))); from++) odd = !odd;
  return odd;
}

nst_extract nst_extract_visible(const char *completion, size_t size) {
  static const char open[] = "<think>", close[] = "</think>";
  enum { OPEN = sizeof open - 1, CLOSE = sizeof close - 1 };
  const char *end = completion + size, *begin = completion, *unclosed = NULL;
  bool reasoning = false;
  for (const char *at = completion, *next; at < end; at = next) {
    const span line = line_at(at, end, &next);
    const char *first = skip_blanks(line);
    if (!unclosed && (size_t)(line.end - first) >= OPEN && !memcmp(first, open, OPEN)) unclosed = first;
    const char *counted = line.text; /* quotation marks before it are in `odd`, so that a line is read once, however many tags it has */
    bool odd = false, odd_line = false;
    for (const char *p = line.text; (p = memmem(p, (size_t)(line.end - p), close, CLOSE)); p += CLOSE) {
      if (counted == line.text) odd_line = odd_quotes(line.text, line.end);
      odd ^= odd_quotes(counted, p);
      counted = p + CLOSE;
      if (odd && !odd_line) continue; /* an odd number on both sides: it stands in a quoted text */
      begin = p + CLOSE;
      unclosed = NULL;
      reasoning = true;
      const char *behind = skip_blanks((span){begin, line.end});
      if ((size_t)(line.end - behind) >= OPEN && !memcmp(behind, open, OPEN)) unclosed = behind;
    }
  }
  nst_extract out = {.text = begin, .size = (size_t)(end - begin), .reasoning = reasoning || unclosed, .unclosed = unclosed != NULL};
  if (unclosed) out.size = (size_t)(unclosed - begin);
  return out;
}

/* ---- fences --------------------------------------------------------------- */

typedef struct { char mark; size_t length; span tag; } fence;

/* A line that can open a block; of backticks the rest of the line may hold none. */
static bool opens(fence *out, span line) {
  const char *p = skip_blanks(line);
  if (p == line.end || (*p != '`' && *p != '~')) return false;
  const char mark = *p, *start = p;
  while (p < line.end && *p == mark) p++;
  if (p - start < 3 || (mark == '`' && memchr(p, '`', (size_t)(line.end - p)))) return false;
  *out = (fence){mark, (size_t)(p - start), {NULL, NULL}};
  while (p < line.end && (is_blank(*p) || *p == '{' || *p == '.')) p++;
  out->tag.text = p;
  while (p < line.end && (is_word(*p) || *p == '-' || *p == '+')) p++;
  out->tag.end = p;
  return true;
}

static bool closes(const fence *f, span line) {
  const char *p = skip_blanks(line), *start = p;
  while (p < line.end && *p == f->mark) p++;
  return (size_t)(p - start) >= f->length && all_space(p, line.end);
}

/* A fence glued to the last brace of the program: where it begins, else NULL. In a comment it is none. */
static const char *closes_behind_brace(const fence *f, span line) {
  const char *end = line.end;
  while (end > line.text && is_space(end[-1])) end--;
  const char *mark = end;
  while (mark > line.text && mark[-1] == f->mark) mark--;
  const char *brace = mark;
  while (brace > line.text && is_blank(brace[-1])) brace--;
  if ((size_t)(end - mark) < f->length || brace == line.text || brace[-1] != '}') return NULL;
  return memchr(line.text, '#', (size_t)(brace - line.text)) ? NULL : mark;
}

static bool is_nest(const fence *f) {
  return f->tag.end - f->tag.text == 4 && nst_extract_begins(f->tag.text, 4, "nest");
}

static void take(nst_extract *out, nst_step step, const char *text, const char *end, bool cut) {
  out->step = step;
  out->text = text;
  out->size = (size_t)(end - text);
  out->cut = cut;
}

/* The last block with the tag, else the last block. */
static bool last_block(nst_extract *out, const char *at, const char *end) {
  fence f = {0};
  const char *begin = NULL, *next;
  for (; at < end; at = next) {
    const span line = line_at(at, end, &next);
    if (!begin) {
      if (opens(&f, line)) begin = next;
      continue;
    }
    const char *stop = closes(&f, line) ? at : closes_behind_brace(&f, line);
    if (!stop) continue;
    if (!all_space(begin, stop) && (is_nest(&f) || out->step != NST_STEP_NEST_FENCE))
      take(out, is_nest(&f) ? NST_STEP_NEST_FENCE : NST_STEP_FENCE, begin, stop, false);
    begin = NULL;
  }
  if (begin && !all_space(begin, end) && (is_nest(&f) || out->step != NST_STEP_NEST_FENCE))
    take(out, is_nest(&f) ? NST_STEP_NEST_FENCE : NST_STEP_FENCE, begin, end, true);
  return out->step != NST_STEP_NONE;
}

/* ---- bare declarations ---------------------------------------------------- */

static bool is_one_of(const char *word, size_t size, const char *const *words) {
  for (; *words; words++)
    if (strlen(*words) == size && !memcmp(word, *words, size)) return true;
  return false;
}

static bool goes_on_with(const char *p, const char *end, const char *text) {
  const size_t n = strlen(text);
  return (size_t)(end - p) >= n && !memcmp(p, text, n);
}

/* A word of a declaration and what may stand behind it, on this line or the next: prose that begins with "mapping" is none. */
static bool begins_declaration(span line) {
  static const char *const named[] = {"workload", "hardware", "mapping", "model", "const", "verify", "sweep", NULL};
  static const char *const others[] = {"test", "use", NULL};
  const char *p = skip_blanks(line), *word = p;
  while (p < line.end && is_word(*p)) p++;
  const size_t size = (size_t)(p - word);
  const char *name = skip_blanks((span){p, line.end});
  if (is_one_of(word, size, others))
    return name == line.end || *name == '"' || goes_on_with(name, line.end, size == 3 ? "std." : "of ");
  if (!is_one_of(word, size, named)) return false;
  if (name == line.end) return true;
  if (name == p || !is_word(*name)) return false;
  for (p = name; p < line.end && is_word(*p);) p++;
  const char *behind = skip_blanks((span){p, line.end});
  return behind == line.end || *behind == '(' || *behind == '{' || *behind == '=' ||
         (behind > p && (goes_on_with(behind, line.end, "of ") || goes_on_with(behind, line.end, "against ")));
}

static bool declarations(nst_extract *out, const char *at, const char *end) {
  for (const char *next; at < end; at = next) {
    const span line = line_at(at, end, &next);
    if (!begins_declaration(line)) continue;
    const char *brace = memrchr(at, '}', (size_t)(end - at));
    take(out, NST_STEP_DECLARATION, at, brace ? brace + 1 : end, !brace);
    return true;
  }
  return false;
}

nst_extract nst_extract_program(const char *completion, size_t size) {
  nst_extract out = nst_extract_visible(completion, size);
  if (out.unclosed) return out;
  const char *text = out.text, *end = text + out.size;
  if (last_block(&out, text, end) || declarations(&out, text, end)) out.line = nst_extract_line(completion, out.text);
  return out;
}

bool nst_extract_declines(const nst_extract *visible) {
  static const char *const openings[] = {"I'm sorry", "I\u2019m sorry", "I am sorry", "Sorry,", "I can't", "I can\u2019t", "I cannot",
                                         "I won't", "I won\u2019t", "I will not", "I'm unable", "I\u2019m unable", "I am unable",
                                         "I'm not able", "I must decline"};
  const char *p = visible->text, *end = p + visible->size;
  while (p < end && is_space(*p)) p++;
  for (size_t i = 0; i < sizeof openings / sizeof *openings; i++)
    if (nst_extract_begins(p, (size_t)(end - p), openings[i])) return true;
  return false;
}
