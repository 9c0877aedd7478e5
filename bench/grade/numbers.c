/* Reading choices and numbers out of prose. Numbers are digits, an exponent and a unit, put together in 128 bits: what does not come
 * out whole, or not in 63 bits, has no value. */
#include "bench/grade/numbers.h"

#include "bench/record/memory.h"
#include "bench/record/record.h"

#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct { const char *word; nst_unit unit; int64_t times, by; } units[] = {
#define NST_ANSWER_UNIT(word, kind, times, by) {word, NST_UNIT_##kind, times, by},
#include "bench/grade/units.def"
#undef NST_ANSWER_UNIT
};

bool nst_quantity_unit_parse(nst_unit *out, const char *name) {
  static const char *const names[] = {"elements", "bytes", "cycles"};
  for (int i = 0; i < 3; i++)
    if (!strcmp(name, names[i])) return *out = (nst_unit)i, true;
  return false;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_'; }
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

typedef struct { const char *text, *end; } span; /* [text, end) */

/* ---- one number ----------------------------------------------------------- */

typedef struct {
  nst_figure plain; /* without a unit */
  nst_figure bytes; /* as bytes, where a unit of bytes stands behind */
  bool has_unit;
  nst_unit unit;
  const char *begin, *end;
} number;

static nst_figure scaled(unsigned __int128 mantissa, int exponent, int64_t times, int64_t by, bool negative) {
  const nst_figure none = {.kind = NST_FIGURE_NONE};
  const unsigned __int128 most = (unsigned __int128)INT64_MAX;
  if (!mantissa) return nst_figure_whole(0);
  if (mantissa > ((unsigned __int128)1 << 86) || exponent > 19 || exponent < -60) return none;
  unsigned __int128 value = mantissa * (unsigned __int128)times; /* below 2^127: times is below 2^41 */
  for (; exponent < 0; exponent++) {
    if (value % 10) return none;
    value /= 10;
  }
  for (; exponent > 0; exponent--) {
    if (value > most * 8) return none;
    value *= 10;
  }
  if (value % (unsigned __int128)by) return none;
  value /= (unsigned __int128)by;
  return value > most ? none : nst_figure_whole(negative ? -(int64_t)value : (int64_t)value);
}

/* Three digits and no fourth behind a separator. */
static bool group(const char *p, const char *end) {
  return end - p >= 4 && is_digit(p[1]) && is_digit(p[2]) && is_digit(p[3]) && (end - p == 4 || !is_digit(p[4]));
}

static void read_unit(number *out, const char *p, const char *end, unsigned __int128 mantissa, int exponent, bool negative) {
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  const char *word = p;
  while (p < end && is_letter(*p)) p++;
  const size_t size = (size_t)(p - word);
  if (!size || (p < end && is_word(*p))) return;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    const size_t n = strlen(units[i].word);
    const bool exact = n < 4 && strcmp(units[i].word, "bit"); /* short units differ by the case of their letters */
    if (n != size || (exact ? memcmp(units[i].word, word, n) != 0 : !nst_extract_begins(word, size, units[i].word))) continue;
    out->has_unit = true;
    out->unit = units[i].unit;
    out->bytes = scaled(mantissa, exponent, units[i].times, units[i].by, negative);
    out->end = p;
    return;
  }
}

/* The number that begins at s.text, which is a digit, a point before one, or a sign before these. grouped: commas may group digits. */
static bool read_number(number *out, span s, bool grouped) {
  const char *p = s.text, *end = s.end;
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') p++;
  unsigned __int128 mantissa = 0;
  int exponent = 0;
  bool digits = false, point = false, full = false;
  const char *first = p;
  for (; p < end; p++) {
    if (is_digit(*p)) {
      digits = true;
      full |= mantissa > ((unsigned __int128)1 << 82);
      if (full && !point) exponent = exponent < 1000 ? exponent + 1 : exponent;
      if (full) { /* a number this long has no value, unless what follows are zeros behind its point */
        if (*p != '0') mantissa = ~(unsigned __int128)0;
        continue;
      }
      mantissa = mantissa * 10 + (unsigned)(*p - '0');
      exponent -= point;
    } else if (*p == '.' && !point && p + 1 < end && is_digit(p[1])) point = true;
    else if (*p == '_' && digits && p + 1 < end && is_digit(p[1])) continue;
    else if (*p == ',' && grouped && digits && !point && p - first <= 3 && group(p, end)) { /* all further groups have three */
      const char *q = p;
      while (q < end && *q == ',' && group(q, end)) q += 4;
      if (q < end && is_digit(*q)) break;
      for (; p < q; p++) {
        if (!is_digit(*p)) continue;
        full |= mantissa > ((unsigned __int128)1 << 82);
        mantissa = full ? ~(unsigned __int128)0 : mantissa * 10 + (unsigned)(*p - '0');
      }
      p--;
    } else break;
  }
  if (!digits) return false;
  if (p < end && (*p == 'e' || *p == 'E')) {
    const char *q = p + 1;
    const bool minus = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+')) q++;
    if (q < end && is_digit(*q)) {
      int e = 0;
      for (; q < end && is_digit(*q); q++) e = e < 10000 ? 10 * e + (*q - '0') : e;
      exponent += minus ? -e : e;
      p = q;
    }
  }
  *out = (number){.plain = scaled(mantissa, exponent, 1, 1, negative), .begin = s.text, .end = p};
  read_unit(out, p, end, mantissa, exponent, negative);
  return true;
}

static nst_figure in_unit(const number *n, nst_unit unit) {
  if (!n->has_unit) return n->plain;
  return n->unit != unit ? (nst_figure){.kind = NST_FIGURE_NONE} : n->bytes;
}

/* The next number at or behind `from` that is not part of a name. */
static bool next_number(number *out, const char *from, span s, bool grouped) {
  for (const char *p = from; p < s.end; p++) {
    const bool starts = is_digit(*p) || (*p == '.' && p + 1 < s.end && is_digit(p[1]));
    if (!starts) continue;
    if (p > s.text && (is_word(p[-1]) || (p[-1] == '.' && p - s.text > 1 && is_digit(p[-2])))) {
      while (p + 1 < s.end && is_word(p[1])) p++;
      continue;
    }
    if (p > from && p[-1] == '-' && (p - 1 == s.text || !is_word(p[-2]))) p--;
    if (read_number(out, (span){p, s.end}, grouped)) return true;
  }
  return false;
}

/* ---- places --------------------------------------------------------------- */

static span visible(nst_extract *out, const char *completion, size_t size) {
  *out = nst_extract_visible(completion, size);
  return (span){out->text, out->unclosed ? out->text : out->text + out->size};
}

static void found(nst_extract *out, nst_step step, span at, const char *completion) {
  out->step = step;
  out->text = at.text;
  out->size = (size_t)(at.end - at.text);
  out->line = nst_extract_line(completion, at.text);
}

/* What stands behind the last `answer:`; marks of emphasis may stand between the word and the colon. */
static bool answer_line(span *out, span s) {
  bool any = false;
  for (const char *p = s.text; p < s.end; p++) {
    if ((*p != 'a' && *p != 'A') || !nst_extract_begins(p, (size_t)(s.end - p), "answer") || (p > s.text && is_word(p[-1]))) continue;
    const char *q = p + 6;
    while (q < s.end && (*q == '*' || *q == '_' || *q == ' ')) q++;
    if (q == s.end || *q != ':') continue;
    *out = (span){q + 1, s.end};
    any = true;
    p = q;
  }
  if (!any) return false;
  const char *feed = memchr(out->text, '\n', (size_t)(out->end - out->text));
  const char *p = out->text;
  while (p < out->end && (is_space(*p) || *p == '*' || *p == '_' || *p == '`')) p++;
  if (feed && p < feed) out->end = feed; /* else what follows the line is the answer */
  return true;
}

/* The end of the object that begins at a brace, or NULL: braces and texts are counted. */
static const char *object_end(const char *p, const char *end) {
  int depth = 0;
  bool text = false;
  for (; p < end; p++) {
    if (text) {
      if (*p == '\\') p++;
      else if (*p == '"') text = false;
    } else if (*p == '"') text = true;
    else if (*p == '{') depth++;
    else if (*p == '}' && --depth == 0) return p + 1;
  }
  return NULL;
}

/* The last object that is JSON and no part of another, tried from the last braces outwards: others stand beside it within the one that holds it.
 * What is looked at is counted in bytes, so that braces without end take no longer. */
static json_t *last_object(span *out, span s) {
  enum { LONGEST = 1 << 16, MOST = 1 << 22 };
  const char *last = memrchr(s.text, '}', (size_t)(s.end - s.text));
  json_t *json = NULL;
  const char *p = last;
  for (ptrdiff_t looked = 0; p && looked < MOST && (p = memrchr(s.text, '{', (size_t)(p - s.text))) && last - p < LONGEST;) {
    const char *end = object_end(p, last + 1);
    looked += (end ? end : last + 1) - p;
    if (!end || (json && end <= out->end)) continue; /* unclosed, within the one that is there, or before it */
    looked += end - p;
    json_t *object = json_loadb(p, (size_t)(end - p), JSON_REJECT_DUPLICATES, NULL);
    if (!object) continue;
    json_decref(json);
    json = object;
    *out = (span){p, end};
  }
  return json;
}

/* ---- choices -------------------------------------------------------------- */

static size_t choice_at(const char *p, span s, const char *const *choices, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const size_t size = strlen(choices[i]);
    if ((size_t)(s.end - p) >= size && !memcmp(p, choices[i], size) && (p + size == s.end || !is_word(p[size])) &&
        (p == s.text || !is_word(p[-1])))
      return i;
  }
  return n;
}

static const char *skip_marks(const char *p, const char *end) {
  while (p < end && (is_space(*p) || strchr("*_`\"'([{$:=", *p)) && *p) p++;
  return p;
}

typedef struct { const char *word; bool offers; } spoken; /* offers: what follows it stands beside what was before */

/* The end of the one of these words that stands at p, else NULL. */
static const char *one_of(const spoken **out, const spoken *words, const char *p, const char *end) {
  for (; words->word; words++) {
    const size_t size = strlen(words->word);
    if (!nst_extract_begins(p, (size_t)(end - p), words->word) || (p + size < end && is_word(p[size]))) continue;
    return *out = words, p + size;
  }
  return NULL;
}

static const spoken joining[] = {{"or", true}, {"and", true}, {NULL, false}};
/* Words that say nothing of their own between two choices or before one. */
static const spoken between[] = {{"or", true}, {"and", true}, {"maybe", true}, {"perhaps", true}, {"possibly", true},
                                 {"probably", true}, {"alternatively", true}, {"also", true}, {"either", true}, {"both", true},
                                 {"else", true}, {"the", false}, {"is", false}, {"mapping", false}, {"option", false},
                                 {"choice", false}, {"letter", false}, {"\\boxed", false}, {"\\text", false}, {NULL, false}};

static bool in(char c, const char *set) { return c && strchr(set, c); }

/* Whether a choice other than `first`, which ends at p, is offered beside it: nothing but marks and such words of the same line between them, and one
 * of these is "or" or the like, or the other begins no sentence of its own ("B, because A moves more", "B (A moves more)", "B. C: 40 bytes"). */
static bool offers_another(const char *p, size_t first, span s, const char *const *choices, size_t n) {
  bool offered = false, sentence = false;
  const spoken *word;
  for (const char *next; p < s.end; p = next) {
    next = p + 1;
    const size_t i = choice_at(p, s, choices, n);
    if (i < n) {
      if (i == first || offered) return i != first;
      p += strlen(choices[i]);
      while (p < s.end && in(*p, " \t\r*_`\"'$)]}")) p++;
      return !sentence && (p == s.end || in(*p, "\n,;/|&+.?!") || one_of(&word, joining, p, s.end));
    }
    if (in(*p, "/|&+")) offered = true;
    else if (in(*p, ".?!")) sentence = true;
    else if (s.end - p > 2 && !memcmp(p, "\xe2\x80", 2) && (p[2] & 0x30) == 0x10) next = p + 3; /* dashes, quotation marks */
    else if (!in(*p, " \t\r*_`\"'$()[]{},;:=-~")) {
      next = one_of(&word, between, p, s.end);
      if (!next) return false;
      offered |= word->offers;
    }
  }
  return false;
}

/* The choice that a line begins with; false: none, or another is offered beside it, and then *choice is set. */
static bool named_choice(size_t *choice, span s, const char *const *choices, size_t n) {
  const spoken *word;
  const char *p = s.text;
  for (int words = 0; words < 6; words++) {
    p = skip_marks(p, s.end);
    *choice = choice_at(p, s, choices, n);
    if (*choice < n) return !offers_another(p + strlen(choices[*choice]), *choice, s, choices, n);
    p = one_of(&word, between, p, s.end);
    if (!p) return false;
  }
  return false;
}

nst_extract nst_extract_choice(size_t *choice, const char *const *choices, size_t n, const char *completion, size_t size) {
  nst_extract out;
  const span all = visible(&out, completion, size);
  span at = {0};
  *choice = n;
  if (answer_line(&at, all)) {
    if (named_choice(choice, at, choices, n)) found(&out, NST_STEP_ANSWER_LINE, at, completion);
    if (out.step != NST_STEP_NONE || *choice < n) return out; /* two choices on the line: none */
  }
  json_t *json = last_object(&at, all);
  const char *text = json_string_value(json_object_get(json, "answer"));
  for (size_t i = 0; text && i < n; i++)
    if (!strcmp(text, choices[i])) *choice = i;
  json_decref(json);
  if (*choice < n) return found(&out, NST_STEP_JSON, at, completion), out;
  bool hedged = false;
  for (const char *p = all.text; p < all.end; p++) {
    const size_t i = choice_at(p, all, choices, n);
    if (i == n) continue;
    const char *behind = p + strlen(choices[i]);
    /* "A" before a small letter is an article, but for "A or B". */
    const spoken *word;
    if (behind + 1 < all.end && *behind == ' ' && behind[1] >= 'a' && behind[1] <= 'z' && behind - p == 1 &&
        !one_of(&word, joining, behind + 1, all.end))
      continue;
    hedged = *choice < n && i != *choice && offers_another(at.end, *choice, all, choices, n);
    *choice = i;
    at = (span){p, behind};
  }
  if (*choice < n && !hedged) found(&out, NST_STEP_LAST, at, completion);
  return out;
}

/* ---- numbers -------------------------------------------------------------- */

/* What became of a quantity on the way: given, and perhaps with two values. */
typedef struct { bool given, twice; } seen;

static void give(nst_figure *value, seen *s, nst_figure got) {
  if (s->given && !(value->kind == got.kind && (got.kind == NST_FIGURE_NONE || nst_figure_equal(*value, got)))) s->twice = true;
  *value = got;
  s->given = true;
}

/* `name = number`, in any order. */
static size_t named_numbers(nst_figure *values, seen *seens, const nst_quantity *q, size_t n, span s) {
  size_t given = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t size = strlen(q[i].name);
    for (const char *p = s.text; (p = memmem(p, (size_t)(s.end - p), q[i].name, size)); p += size) {
      if ((p > s.text && is_word(p[-1])) || (p + size < s.end && is_word(p[size]))) continue;
      const char *behind = p + size;
      while (behind < s.end && strchr(" \t*_`\"'$)", *behind) && *behind) behind++;
      if (behind == s.end || (*behind != '=' && *behind != ':')) continue;
      for (behind++; behind < s.end && (is_space(*behind) || (strchr("*_`\"'$~", *behind) && *behind));) behind++;
      number got;
      if (behind == s.end || !(is_digit(*behind) || *behind == '-' || *behind == '+' || *behind == '.') ||
          !read_number(&got, (span){behind, s.end}, true))
        continue;
      if (!seens[i].given) given++;
      give(&values[i], &seens[i], in_unit(&got, q[i].unit));
    }
  }
  return given;
}

/* As many numbers as are asked for. */
static bool numbers_in_order(nst_figure *values, const nst_quantity *q, size_t n, span s) {
  for (int grouped = 1; grouped >= 0; grouped--) {
    size_t count = 0;
    number got;
    for (const char *p = s.text; next_number(&got, p, s, grouped); p = got.end, count++)
      if (count < n) values[count] = in_unit(&got, q[count].unit);
    if (count == n) return true;
  }
  for (size_t i = 0; i < n; i++) values[i] = (nst_figure){.kind = NST_FIGURE_NONE};
  return false;
}

static bool json_numbers(nst_figure *values, const nst_quantity *q, size_t n, const json_t *json) {
  const json_t *inner = json_object_get(json, "answer");
  if (json_is_object(inner)) json = inner;
  size_t given = 0;
  for (size_t i = 0; i < n; i++) {
    const json_t *member = json_object_get(json, q[i].name);
    const char *text = json_string_value(member);
    number got;
    int64_t whole;
    if (!member && n == 1) member = json_object_get(json, "answer"), text = json_string_value(member);
    if (!member) continue;
    given++;
    if (text) {
      const span s = {text, text + json_string_length(member)};
      if (next_number(&got, s.text, s, true)) values[i] = in_unit(&got, q[i].unit);
    } else if (nst_record_int(member, &whole)) values[i] = nst_figure_whole(whole);
    else if (json_is_real(member)) values[i] = nst_figure_real(json_real_value(member));
  }
  return given > 0;
}

static bool some_numbers(nst_figure *values, const nst_quantity *q, size_t n, span s) {
  span at;
  json_t *json = last_object(&at, s);
  const bool as_json = json && json_numbers(values, q, n, json);
  json_decref(json);
  if (as_json) return true;
  seen *seens = nst_memory_new(n, sizeof *seens);
  bool ok = named_numbers(values, seens, q, n, s) > 0;
  for (size_t i = 0; i < n; i++) ok &= !seens[i].twice;
  bool any = false;
  for (size_t i = 0; i < n; i++) any |= seens[i].given;
  free(seens);
  return any ? ok : numbers_in_order(values, q, n, s);
}

nst_extract nst_extract_numbers(nst_figure *values, const nst_quantity *q, size_t n, const char *completion, size_t size) {
  nst_extract out;
  const span all = visible(&out, completion, size);
  span at = {0};
  for (size_t i = 0; i < n; i++) values[i] = (nst_figure){.kind = NST_FIGURE_NONE};
  if (answer_line(&at, all)) {
    if (some_numbers(values, q, n, at)) found(&out, NST_STEP_ANSWER_LINE, at, completion);
    if (out.step != NST_STEP_NONE) return out;
  }
  json_t *json = last_object(&at, all);
  if (json && json_numbers(values, q, n, json)) found(&out, NST_STEP_JSON, at, completion);
  json_decref(json);
  if (out.step != NST_STEP_NONE || n != 1) return out;
  number got, last = {0};
  for (const char *p = all.text; next_number(&got, p, all, true); p = got.end) last = got;
  if (!last.begin) return out;
  values[0] = in_unit(&last, q[0].unit);
  found(&out, NST_STEP_LAST, (span){last.begin, last.end}, completion);
  return out;
}
