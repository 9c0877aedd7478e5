/* The scanner's judgement: keywords, units, look-alikes, comments.
 *
 * lexer.l finds the extent of a token, this file says what it is. A mistake
 * that has one plain meaning (`&&`, `2p`, an en dash) is reported with its
 * fix-it and scanned as that meaning, so that the parser never sees it. Bytes
 * that are no text are judged before anything is scanned. */
#include "grammar/state.h"

#include "base/utf8.h"
#include "frontend/units.h"
#include "grammar/parser.h"
#include <string.h>

bool nst_scan_is_unit(const char *text, size_t len) {
  const char *slash = memchr(text, '/', len);
  if (!slash) return nst_unit_is_simple(text, len);
  size_t first = (size_t)(slash - text);
  return nst_unit_is_simple(text, first) && nst_unit_is_simple(slash + 1, len - first - 1);
}

/* ---- keywords ---- */

static size_t keyword_slot(const nst_parser *p, nst_name name) {
  size_t mask = sizeof p->keywords / sizeof *p->keywords - 1;
  size_t slot = ((uintptr_t)name >> 3) * 0x9E3779B1u >> 7 & mask;
  while (p->keywords[slot].name && p->keywords[slot].name != name) slot = (slot + 1) & mask;
  return slot;
}

int nst_scan_keyword(const nst_parser *p, nst_name name) {
  size_t slot = keyword_slot(p, name);
  return p->keywords[slot].name ? p->keywords[slot].kind : NST_TOK_NAME;
}

void nst_scan_init(nst_parser *p) {
  for (int kind = NST_TOK_IF; kind < NST_TOK_KEYWORDS_END; kind++) {
    nst_name name = nst_intern_cstr(p->interner, nst_token_text(kind));
    size_t slot = keyword_slot(p, name);
    p->keywords[slot].name = name;
    p->keywords[slot].kind = kind;
  }
}

/* ---- tokens ---- */

static const char *at(const nst_parser *p, uint32_t offset) { return p->source->text + offset; }

static uint32_t indent_of(const nst_parser *p, uint32_t begin, uint32_t floor) {
  uint32_t i = begin;
  while (i > floor && *at(p, i - 1) != '\n' && *at(p, i - 1) != '\r') i--;
  return begin - i;
}

static bool line_between(const nst_parser *p, uint32_t from, uint32_t to) {
  for (uint32_t i = from; i < to; i++)
    if (*at(p, i) == '\n' || *at(p, i) == '\r') return true;
  return false;
}

void nst_scan_token(nst_parser *p, int kind, uint32_t begin, uint32_t len) {
  uint32_t index = (uint32_t)p->tokens.len;
  const nst_token *prev = index ? &p->tokens.items[index - 1] : NULL;
  nst_token t = {.kind = kind, .begin = begin, .end = begin + len};
  if (prev && !line_between(p, prev->end, begin)) {
    t.line_first = prev->line_first;
    t.indent = prev->indent;
  } else {
    t.line_first = index;
    t.indent = indent_of(p, begin, prev ? prev->end : 0);
  }
  if (kind == NST_TOK_NAME) {
    t.name = nst_intern(p->interner, at(p, begin), len);
    t.kind = nst_scan_keyword(p, t.name);
  } else if (nst_token_is_reserved(kind)) { /* `|` for `or` is a word too */
    t.name = nst_intern_cstr(p->interner, nst_token_text(kind));
  }
  *nst_vec_push(p->arena, &p->tokens) = t;
}

static nst_diag *bad(nst_parser *p, nst_diag_id id, uint32_t begin, uint32_t len, const char *text) {
  *nst_vec_push(p->arena, &p->bad) = begin;
  return nst_diag_add(p->diags, id, nst_parse_span(p, begin, begin + len), "%s", text);
}

void nst_scan_comment(nst_parser *p, uint32_t begin, uint32_t len) {
  size_t ntokens = p->tokens.len, ncomments = p->comments.len;
  uint32_t before = ntokens ? p->tokens.items[ntokens - 1].end : 0;
  if (ncomments && p->comments.items[ncomments - 1].span.end > before)
    before = p->comments.items[ncomments - 1].span.end;
  uint32_t end = begin + len;
  while (end > begin + 1 && (*at(p, end - 1) == ' ' || *at(p, end - 1) == '\t')) end--;
  *nst_vec_push(p->arena, &p->comments) = (nst_ast_comment){
    .span = nst_parse_span(p, begin, end),
    .doc = len >= 2 && *at(p, begin + 1) == '#' && !(len >= 3 && *at(p, begin + 2) == '#'),
    .own_line = (!ntokens && !ncomments) || line_between(p, before, begin),
  };
}

/* A spelling of another language with one plain meaning here. */
void nst_scan_respelled(nst_parser *p, int kind, uint32_t begin, uint32_t len, const char *right) {
  if (right) {
    size_t shown = strlen(right);
    while (shown && right[shown - 1] == ' ') shown--;
    *nst_vec_push(p->arena, &p->bad) = begin;
    nst_diag *m = nst_diag_add(p->diags, NST_D_OPERATOR_SPELLING, nst_parse_span(p, begin, begin + len),
                               "`%.*s` is written `%.*s` here", (int)len, at(p, begin), (int)shown, right);
    bool glued_before = right[0] >= 'a' && begin && strchr(" \t\n\r(", *at(p, begin - 1)) == NULL;
    bool glued_after = right[0] >= 'a' && strchr(" \t\n\r", *at(p, begin + len)) == NULL;
    nst_diag_fix(
      p->diags, m, nst_parse_span(p, begin, begin + len),
      nst_arena_printf(p->arena, "%s%.*s%s", glued_before ? " " : "", (int)shown, right, glued_after ? " " : ""));
  } else {
    *nst_vec_push(p->arena, &p->bad) = begin;
    nst_diag *m = nst_diag_add(p->diags, NST_D_REDUCTION, nst_parse_span(p, begin, begin + len),
                               "`%.*s` is no reduction", (int)len, at(p, begin));
    nst_diag_help(p->diags, m, "the reductions are `+=`, `max=` and `min=`; `=` where no dimension is reduced");
  }
  nst_scan_token(p, kind, begin, len);
}

/* ---- characters outside ASCII ---- */

typedef struct {
  uint32_t cp;
  int kind;
  const char *right;
} lookalike;
static const lookalike lookalikes[] = {
  {0x00D7, '*', "*"},
  {0x00B7, '*', "*"},
  {0x2219, '*', "*"},
  {0x22C5, '*', "*"},
  {0x00F7, '/', "/"},
  {0x2212, '-', "-"},
  {0x2010, '-', "-"},
  {0x2011, '-', "-"},
  {0x2013, '-', "-"},
  {0x2014, '-', "-"},
  {0x2264, NST_TOK_LE, "<="},
  {0x2265, NST_TOK_GE, ">="},
  {0x2260, NST_TOK_NE, "!="},
  {0x2026, NST_TOK_DOTDOT, ".."},
  {0xFF0C, ',', ","},
  {0xFF08, '(', "("},
  {0xFF09, ')', ")"},
  {0xFF1D, '=', "="},
  {0x2227, NST_TOK_AND, "and"},
  {0x2228, NST_TOK_OR, "or"},
  {0x00AC, NST_TOK_NOT, "not "},
};

static const lookalike *find_lookalike(uint32_t cp) {
  for (size_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++)
    if (lookalikes[i].cp == cp) return &lookalikes[i];
  return NULL;
}

static bool invisible(uint32_t cp) {
  return cp == 0xA0 || (cp >= 0x2000 && cp <= 0x200F) || (cp >= 0x2028 && cp <= 0x202F) || cp == 0x3000 || cp == 0xFEFF;
}

/* One code point that is no letter; the bytes are known to be valid UTF-8. */
void nst_scan_symbol(nst_parser *p, uint32_t begin, uint32_t len) {
  uint32_t cp = 0;
  nst_utf8_decode(&cp, at(p, begin), len);
  const lookalike *look = find_lookalike(cp);
  if (begin == 0 && cp == 0xFEFF) return; /* a byte order mark */
  if (look) {
    nst_scan_respelled(p, look->kind, begin, len, look->right);
  } else if (invisible(cp)) {
    nst_diag *m = bad(p, NST_D_BAD_CHARACTER, begin, len, "an invisible character that is no plain space");
    nst_diag_help(p->diags, m, "U+%04X; replace it by a space", (unsigned)cp);
    nst_diag_fix(p->diags, m, nst_parse_span(p, begin, begin + len), " ");
  } else if (cp == 0x201C || cp == 0x201D) {
    nst_diag *m = bad(p, NST_D_BAD_CHARACTER, begin, len, "a typographic quotation mark");
    nst_diag_help(p->diags, m, "texts stand between plain quotation marks (\")");
    nst_diag_fix(p->diags, m, nst_parse_span(p, begin, begin + len), "\"");
  } else {
    *nst_vec_push(p->arena, &p->bad) = begin;
    nst_diag_add(p->diags, NST_D_BAD_CHARACTER, nst_parse_span(p, begin, begin + len),
                 "`%.*s` (U+%04X) is no part of the language", (int)len, at(p, begin), (unsigned)cp);
  }
}

void nst_scan_word(nst_parser *p, uint32_t begin, uint32_t len) {
  bool foreign = false;
  for (uint32_t i = 0; i < len && !foreign; i++) foreign = (unsigned char)*at(p, begin + i) >= 0x80;
  if (foreign) {
    nst_diag *m = bad(p, NST_D_BAD_CHARACTER, begin, len, "a name with letters that are not ASCII");
    nst_diag_help(p->diags, m, "names are made of the letters a to z and A to Z, digits and `_`");
  }
  nst_scan_token(p, len == 1 && *at(p, begin) == '_' ? '_' : NST_TOK_NAME, begin, len);
}

/* ---- numbers ---- */

static bool digit_or_point(char c) { return (c >= '0' && c <= '9') || c == '_' || c == '.'; }

/* The length of the number at the start, as the rule NUMBER of lexer.l takes it. */
static uint32_t number_length(const char *s, uint32_t len) {
  uint32_t i = 0;
  while (i < len && digit_or_point(s[i])) i++; /* at most one point, a digit behind it: lexer.l */
  if (i < len && (s[i] == 'e' || s[i] == 'E')) {
    uint32_t j = i + 1;
    if (j < len && (s[j] == '+' || s[j] == '-')) j++;
    if (j < len && s[j] >= '0' && s[j] <= '9') {
      while (j < len && ((s[j] >= '0' && s[j] <= '9') || s[j] == '_')) j++;
      return j;
    }
  }
  return i;
}

/* A number and the word behind it: a quantity if that is a unit, a slip if it is glued on. */
uint32_t nst_scan_number(nst_parser *p, uint32_t begin, uint32_t len) {
  const char *s = at(p, begin);
  uint32_t n = number_length(s, len);
  for (uint32_t i = 0; i < n; i++) {
    if (s[i] == '_' && (i + 1 == n || s[i + 1] < '0' || s[i + 1] > '9')) {
      nst_diag *m = bad(p, NST_D_BAD_NUMBER, begin, n, "`_` in a number stands between two digits");
      nst_diag_help(p->diags, m, "as in 1_000_000");
      break;
    }
  }
  if (n == len || s[n] == '/') { /* `1e3/N`: to flex `e3/N` is a word that may be a unit */
    nst_scan_token(p, NST_TOK_NUMBER, begin, n);
    return n;
  }
  uint32_t word = n + (s[n] == ' ');
  const char *slash = memchr(s + word, '/', len - word);
  uint32_t word_end = slash ? (uint32_t)(slash - s) : len;
  if (nst_scan_is_unit(s + word, len - word)) {
    nst_scan_token(p, NST_TOK_QUANTITY, begin, len);
    return len;
  }
  if (slash && nst_scan_is_unit(s + word, word_end - word)) {
    nst_scan_token(p, NST_TOK_QUANTITY, begin, word_end);
    return word_end;
  }
  nst_scan_token(p, NST_TOK_NUMBER, begin, n);
  if (word > n) return n;
  int w = (int)(word_end - word);
  nst_name name = nst_intern(p->interner, s + word, word_end - word);
  if (nst_token_is_reserved(nst_scan_keyword(p, name))) return n; /* `512step 8` */
  *nst_vec_push(p->arena, &p->bad) = begin;
  nst_span all = nst_parse_span(p, begin, begin + word_end);
  if (n == 1 && *s == '0' && (s[word] == 'x' || s[word] == 'X' || s[word] == 'b' || s[word] == 'o') && w > 1 &&
      s[word + 1] >= '0' && s[word + 1] <= '9') {
    nst_diag *m = nst_diag_add(p->diags, NST_D_BAD_NUMBER, all, "numbers are written in decimal");
    nst_diag_help(p->diags, m, "there is no hexadecimal, octal or binary form");
    return word_end;
  }
  nst_diag *m =
    nst_diag_add(p->diags, NST_D_NUMBER_GLUED, all, "`%.*s` is neither a number nor a quantity", (int)word_end, s);
  const char *near = w > 1 ? nst_unit_nearest(name) : NULL;
  if (near) {
    const char *right = nst_arena_printf(p->arena, "%.*s %s", (int)n, s, near);
    nst_diag_help(p->diags, m, "did you mean `%s`?", right);
    nst_diag_fix(p->diags, m, all, right);
    nst_scan_token(p, '*', begin + n, 0);
    return n;
  }
  nst_diag_help(p->diags, m, "for %.*s times %.*s write %.*s*%.*s", (int)n, s, w, s + word, (int)n, s, w, s + word);
  nst_diag_fix(p->diags, m, all, nst_arena_printf(p->arena, "%.*s*%.*s", (int)n, s, w, s + word));
  nst_scan_token(p, '*', begin + n, 0);
  return n;
}

void nst_scan_open_number(nst_parser *p, uint32_t begin, uint32_t len) {
  nst_diag *m = bad(p, NST_D_BAD_NUMBER, begin, len, "a number with nothing behind its point");
  nst_diag_fix(p->diags, m, nst_parse_span(p, begin + len, begin + len), "0");
  nst_scan_token(p, NST_TOK_NUMBER, begin, len - 1);
}

/* ---- the rest ---- */

void nst_scan_string(nst_parser *p, uint32_t begin, uint32_t len, bool closed) {
  if (*at(p, begin) == '\'') {
    nst_diag *m = bad(p, NST_D_BAD_CHARACTER, begin, len, "texts stand between double quotation marks");
    nst_diag_fix(p->diags, m, nst_parse_span(p, begin, begin + len),
                 nst_arena_printf(p->arena, "\"%.*s\"", (int)len - 2, at(p, begin) + 1));
  } else if (!closed) {
    nst_diag *m = bad(p, NST_D_UNCLOSED_STRING, begin, len, "this text has no closing quotation mark on its line");
    nst_diag_fix(p->diags, m, nst_parse_span(p, begin + len, begin + len), "\"");
  }
  nst_scan_token(p, NST_TOK_STRING, begin, len);
}

void nst_scan_other(nst_parser *p, uint32_t begin, uint32_t len) {
  const char *s = at(p, begin);
  if (len >= 2 && s[0] == '/' && s[1] == '*') {
    bool closed = len >= 4 && s[len - 1] == '/' && s[len - 2] == '*';
    nst_diag *m = bad(p, NST_D_COMMENT_STYLE, begin, 2,
                      closed ? "comments start with `#` and end with the line" : "a comment that never ends");
    nst_diag_help(p->diags, m, "there are no `/* … */` comments; begin each line with `#`");
    return;
  }
  unsigned char c = (unsigned char)s[0];
  *nst_vec_push(p->arena, &p->bad) = begin;
  if (c < 0x20 || c == 0x7F) {
    nst_diag_add(p->diags, NST_D_BAD_CHARACTER, nst_parse_span(p, begin, begin + 1), "a control character (U+%04X)", c);
  } else {
    nst_diag_add(p->diags, NST_D_BAD_CHARACTER, nst_parse_span(p, begin, begin + 1), "`%c` is no part of the language",
                 c);
  }
}

/* Judges the bytes: true if they are UTF-8 text without NULs. Stray bytes in a text are named one
 * by one; a file with many of them is called what it is, once. */
static bool is_text(nst_parser *p) {
  const char *s = p->source->text;
  size_t len = p->source->len, odd = 0, first_nul = len, first_bad = len;
  if (len > NST_PARSE_MAX_SOURCE) {
    nst_diag *m = nst_diag_add(p->diags, NST_D_FILE_TOO_LARGE, nst_parse_span(p, 0, 0), "this file has %zu bytes", len);
    nst_diag_help(p->diags, m, "a source file has at most %d MiB", NST_PARSE_MAX_SOURCE >> 20);
    return false;
  }
  if (len >= 2 && (memcmp(s, "\xFF\xFE", 2) == 0 || memcmp(s, "\xFE\xFF", 2) == 0)) {
    nst_diag *m = nst_diag_add(p->diags, NST_D_FILE_NOT_UTF8, nst_parse_span(p, 0, 2), "this file is UTF-16");
    nst_diag_help(p->diags, m, "save it as UTF-8");
    return false;
  }
  for (size_t i = p->from; i < len;) {
    if ((unsigned char)(s[i] - ' ') < 0x7F - ' ') { /* plain, as nearly all is */
      i++;
      continue;
    }
    uint32_t cp = 1;
    size_t n = nst_utf8_decode(&cp, s + i, len - i);
    if (n == 0 && first_bad == len) first_bad = i;
    if (n && cp == 0 && first_nul == len) first_nul = i;
    odd += n == 0 || (cp < 0x20 && cp != '\t' && cp != '\n' && cp != '\r' && cp != '\f' && cp != '\v');
    i += n ? n : 1;
  }
  size_t first = first_nul < first_bad ? first_nul : first_bad;
  if (first == len) return true;
  nst_span where = nst_parse_span(p, (uint32_t)first, (uint32_t)first + 1);
  if (odd > 8 && odd > len / 20) {
    nst_diag *m = nst_diag_add(p->diags, first == first_nul ? NST_D_FILE_NUL_BYTE : NST_D_FILE_NOT_UTF8, where,
                               "this looks like a binary file");
    nst_diag_help(p->diags, m, "%zu of its %zu bytes are no text", odd, len);
  } else if (first == first_nul) {
    nst_diag_add(p->diags, NST_D_FILE_NUL_BYTE, where, "a NUL byte in the text");
  } else {
    nst_diag *m = nst_diag_add(p->diags, NST_D_FILE_NOT_UTF8, where, "the byte 0x%02X is no valid UTF-8 here",
                               (unsigned char)s[first]);
    nst_diag_help(p->diags, m, "save the file as UTF-8");
  }
  return false;
}

static void match_braces(nst_parser *p) {
  NST_VEC(uint32_t) open = {0};
  for (uint32_t i = 0; i < p->tokens.len; i++) {
    nst_token *t = &p->tokens.items[i];
    t->match = NST_NONE;
    if (t->kind == '{') *nst_vec_push(p->arena, &open) = i;
    if (t->kind == '}' && open.len) p->tokens.items[open.items[--open.len]].match = i;
  }
}

bool nst_scan_all(nst_parser *p) {
  bool text = is_text(p);
  uint32_t len = (uint32_t)(text ? p->source->len : 0);
  if (text) nst_lex_run(p, p->source->text, len);
  nst_scan_token(p, NST_TOK_END, len, 0);
  match_braces(p);
  return text;
}
