/* Reading numbers out of prose. A number is digits, an exponent and a unit, put together in 128 bits: what does not
 * come out whole, or not in 63 bits, has no value. What may stand around it is listed, and the rest refused, so that
 * two numbers are none. */
#include "bench/grade/numbers.h"

#include "bench/grade/places.h"
#include "bench/record/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *word;
  nst_unit unit;
  int64_t times, by;
} units[] = {
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
  return end - p >= 4 && nst_place_digit(p[1]) && nst_place_digit(p[2]) && nst_place_digit(p[3]) &&
         (end - p == 4 || !nst_place_digit(p[4]));
}

static void read_unit(number *out, const char *p, const char *end, unsigned __int128 mantissa, int exponent,
                      bool negative) {
  while (p < end && (*p == ' ' || *p == '\t')) p++;
  const char *word = p;
  while (p < end && nst_place_letter(*p)) p++;
  const size_t size = (size_t)(p - word);
  if (!size || (p < end && nst_place_word(*p))) return;
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    const size_t n = strlen(units[i].word);
    const bool exact = n < 4 && strcmp(units[i].word, "bit"); /* short units differ by the case of their letters */
    if (n != size || (exact ? memcmp(units[i].word, word, n) != 0 : !nst_extract_begins(word, size, units[i].word)))
      continue;
    out->has_unit = true;
    out->unit = units[i].unit;
    out->bytes = scaled(mantissa, exponent, units[i].times, units[i].by, negative);
    out->end = p;
    return;
  }
}

/* The number that begins at s.text, which is a digit, a point before one, or a sign before these. grouped: commas may
 * group digits. */
static bool read_number(number *out, nst_span s, bool grouped) {
  const char *p = s.text, *end = s.end;
  const bool negative = *p == '-';
  if (*p == '-' || *p == '+') p++;
  unsigned __int128 mantissa = 0;
  int exponent = 0;
  bool digits = false, point = false, full = false;
  const char *first = p;
  for (; p < end; p++) {
    if (nst_place_digit(*p)) {
      digits = true;
      full |= mantissa > ((unsigned __int128)1 << 82);
      if (full && !point) exponent = exponent < 1000 ? exponent + 1 : exponent;
      if (full) { /* a number this long has no value, unless what follows are zeros behind its point */
        if (*p != '0') mantissa = ~(unsigned __int128)0;
        continue;
      }
      mantissa = mantissa * 10 + (unsigned)(*p - '0');
      exponent -= point;
    } else if (*p == '.' && !point && p + 1 < end && nst_place_digit(p[1]))
      point = true;
    else if (*p == '_' && digits && p + 1 < end && nst_place_digit(p[1]))
      continue;
    else if (*p == ',' && grouped && digits && !point && p - first <= 3 &&
             group(p, end)) { /* all further groups have three */
      const char *q = p;
      while (q < end && *q == ',' && group(q, end)) q += 4;
      if (q < end && nst_place_digit(*q)) break;
      for (; p < q; p++) {
        if (!nst_place_digit(*p)) continue;
        full |= mantissa > ((unsigned __int128)1 << 82);
        mantissa = full ? ~(unsigned __int128)0 : mantissa * 10 + (unsigned)(*p - '0');
      }
      p--;
    } else
      break;
  }
  if (!digits) return false;
  if (p < end && (*p == 'e' || *p == 'E')) {
    const char *q = p + 1;
    const bool minus = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+')) q++;
    if (q < end && nst_place_digit(*q)) {
      int e = 0;
      for (; q < end && nst_place_digit(*q); q++) e = e < 10000 ? 10 * e + (*q - '0') : e;
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
static bool next_number(number *out, const char *from, nst_span s) {
  for (const char *p = from; p < s.end; p++) {
    const bool starts = nst_place_digit(*p) || (*p == '.' && p + 1 < s.end && nst_place_digit(p[1]));
    if (!starts) continue;
    if (p > s.text && (nst_place_word(p[-1]) || (p[-1] == '.' && p - s.text > 1 && nst_place_digit(p[-2])))) {
      while (p + 1 < s.end && nst_place_word(p[1])) p++;
      continue;
    }
    if (p > from && p[-1] == '-' && (p - 1 == s.text || !nst_place_word(p[-2]))) p--;
    if (read_number(out, (nst_span){p, s.end}, true)) return true;
  }
  return false;
}

/* ---- a value: a number, or equations that end with one --------------------- */

static const char *skip(const char *p, const char *end, const char *set) {
  while (p < end && nst_place_in(*p, set)) p++;
  return p;
}

static bool has_digit(const char *p, const char *end) {
  while (p < end && !nst_place_digit(*p)) p++;
  return p < end;
}

/* Whether a number begins at p, perhaps with its sign. */
static bool is_number(const char *p, const char *end) {
  if (p < end && (*p == '-' || *p == '+')) p++;
  if (p < end && *p == '.') p++;
  return p < end && nst_place_digit(*p);
}

static bool same(nst_figure a, nst_figure b) {
  return a.kind == b.kind && (a.kind == NST_FIGURE_NONE || nst_figure_equal(a, b));
}

/* Whether text goes on where a number ended: 12K, 12%, 12.5.1. */
static bool is_attached(const char *p, const char *end) {
  if (p == end) return false;
  if (*p == '.') return p + 1 < end && (p[1] == '.' || nst_place_digit(p[1]));
  return nst_place_letter(*p) || nst_place_digit(*p) || *p == '%' ||
         ((unsigned char)*p >= 0x80 && (end - p < 3 || memcmp(p, "\xe2\x80", 2) != 0));
}

/* The end of an operator with an operand behind it, else NULL. Marks of emphasis are none: they stand at a word on one
 * side. */
static const char *operator_end(const char *begin, const char *p, const char *end) {
  static const char *const signs[] = {"**",    "*",      "+",      "-",      "/",      "^",  "\\times", "\\cdot",
                                      "\\div", "\u00d7", "\u00b7", "\u00f7", "\u2212", "x ", NULL};
  const bool apart = p > begin && nst_place_in(p[-1], " \t");
  for (const char *const *sign = signs; *sign; sign++) {
    const size_t n = strlen(*sign);
    if ((size_t)(end - p) < n || memcmp(p, *sign, n) != 0) continue;
    const char *q = skip(p + n, end, " \t");
    if (q == end || !(nst_place_word(*q) || *q == '(' || *q == '\\') || (**sign == '*' && !apart && q > p + n))
      return NULL;
    return q;
  }
  return NULL;
}

enum { MOST_SIDES = 32, MOST_OPERANDS = 64 }; /* of one value: names within are tried again */

/* One side of an equation: numbers and names with operators between, or a number alone. false: neither. */
static bool side(const char **at, number *alone, bool *is_alone, nst_span s, bool grouped) {
  const char *p = s.text;
  int depth = 0;
  *is_alone = false;
  bool first = true;
  for (int operands = 0; operands < MOST_OPERANDS; operands++, first = false) {
    while (p < s.end && *p == '(') p++, depth++;
    if (is_number(p, s.end)) {
      if (!read_number(alone, (nst_span){p, s.end}, grouped) || is_attached(alone->end, s.end)) return false;
      p = alone->end;
      *is_alone = first && !depth;
    } else {
      const char *word = p;
      p += p < s.end && *p == '\\';
      while (p < s.end && nst_place_word(*p)) p++;
      if (p == word) return false;
      *is_alone = false;
    }
    const char *q = skip(p, s.end, " \t");
    for (; depth && q < s.end && *q == ')'; q = skip(p, s.end, " \t")) p = q + 1, depth--;
    if (!*is_alone && q < s.end && *q == '(') { /* of a function */
      p = q;
      continue;
    }
    q = depth && q < s.end && *q == ',' ? skip(q + 1, s.end, " \t") : operator_end(s.text, q, s.end);
    const bool prose =
      q && *is_alone && nst_place_letter(*q) && p < q && nst_place_in(*p, " \t") && q[-2] == '-'; /* "12 - each" */
    if (!q || prose) return *at = p, !depth;
    p = q;
    *is_alone = false;
  }
  return false;
}

/* `28 * 4 = 112` has the value of its last side, a number alone; another number alone before it must be the same. */
static bool read_value(nst_figure *out, const char **at, nst_span s, nst_unit unit, bool grouped) {
  bool any = false;
  const char *p = s.text;
  for (int sides = 0; sides < MOST_SIDES; sides++) {
    p = skip(p, s.end, " \t\r*_`\"'$");
    if (s.end - p > 1 && *p == '\\' && nst_place_in(p[1], "([")) p = skip(p + 2, s.end, " \t");
    if (nst_extract_begins(p, (size_t)(s.end - p), "\\boxed{")) p = skip(p + sizeof "\\boxed{" - 1, s.end, " \t");
    number n;
    bool alone;
    if (!side(&p, &n, &alone, (nst_span){p, s.end}, grouped)) return false;
    if (alone) {
      const nst_figure value = in_unit(&n, unit);
      if (any && !same(*out, value)) return false;
      *out = value;
      any = true;
    }
    const char *q = skip(p, s.end, " \t*_`");
    if (q < s.end && *q == '=') {
      p = q + 1;
      continue;
    }
    if (alone) *at = p;
    return alone;
  }
  return false;
}

/* ---- what may stand around values ----------------------------------------- */

static const char *const before[] = {"the",    "is",    "are",     "it",    "answer", "value", "values", "total",
                                     "number", "count", "result",  "a",     "of",     "in",    "reads",  "updates",
                                     "writes", "fills", "exactly", "final", "be",     "json",  NULL};
static const char *const of_values[] = {
  "total",    "in",        "of",         "all",     "reads", "writes",  "updates", "fills",        "words", "values",
  "accesses", "transfers", "altogether", "overall", "read",  "written", "moved",   "respectively", NULL};
static const char *const reasons[] = {"because", "since", "as", "which", "that", "from", "for", "where",
                                      "with",    "so",    "i",  "this",  "it",   "each", "the", NULL};
static const char *const hedges[] = {
  "or", "and", "maybe", "perhaps", "possibly", "alternatively", "otherwise", "else", "either", "not",
  "no", "but", "if",    "unless",  "could",    "might",         "about",     "plus", "to",     NULL};
static const char *const offers[] = {"or",     "maybe", "perhaps", "possibly", "alternatively", "otherwise", "else",
                                     "either", "if",    "unless",  "could",    "might",         NULL};

/* Whether prose offers no number: none follows such a word at once or behind one or two others. */
static bool offers_none(const char *p, const char *end) {
  for (const char *begin = p; p < end; p++) {
    const char *q = p > begin && nst_place_word(p[-1]) ? NULL : nst_place_one_of(offers, p, end);
    for (int words = 0; q && words < 3; words++) {
      q = skip(q, end, " \t,:=(*_`\"'$~");
      if (is_number(q, end)) return false;
      while (q < end && nst_place_word(*q)) q++;
    }
  }
  return true;
}

static bool is_dash(const char *p, const char *end) {
  return end - p > 2 && !memcmp(p, "\xe2\x80", 2) && (p[2] == '\x93' || p[2] == '\x94');
}

static const char *closing(const char *p, const char *end) {
  int depth = 0;
  for (; p < end; p++) {
    if (nst_place_in(*p, "(["))
      depth++;
    else if (nst_place_in(*p, ")]") && !--depth)
      return p;
  }
  return end;
}

/* Prose behind a value: it begins with no hedge, and offers no number. */
static bool is_reason(const char *p, const char *end) {
  p = skip(p, end, " \t*_`\"'$");
  return p == end || (!nst_place_one_of(hedges, p, end) && offers_none(p, end));
}

/* What a parenthesis behind a value says: prose, an expression, or the same value again. */
static bool is_remark(const char *p, const char *end, nst_figure value, nst_unit unit) {
  number n;
  bool alone;
  const char *q = skip(p, end, " \t*_`\"'$=");
  if (!side(&q, &n, &alone, (nst_span){q, end}, true) || !alone) return is_reason(p, end);
  q = skip(q, end, " \t*_`\"'$");
  return q < end && nst_place_letter(*q) ? is_reason(p, end) : same(value, in_unit(&n, unit));
}

/* Whether nothing between a value and `end`, or the end of the line, takes it back or puts another beside it. */
static bool is_settled(const char *p, const char *end, nst_figure value, nst_unit unit) {
  const char *feed = memchr(p, '\n', (size_t)(end - p));
  if (feed) end = feed;
  for (bool comma = false;;) {
    static const char *const and[] = {"and", NULL};
    p = skip(p, end, " \t\r*_`\"'$)]}|&\\");
    if (p == end) return true;
    if (*p == ',')
      comma = true, p++;
    else if (nst_place_in(*p, "([")) {
      const char *close = closing(p, end);
      if (!is_remark(p + 1, close, value, unit)) return false;
      p = close;
    } else if ((nst_place_in(*p, ".;:!-") && (p + 1 == end || nst_place_in(p[1], " \t\r*_`\"'$)]}"))) ||
               is_dash(p, end)) {
      p += *p == '\xe2' ? 3 : 1;
      p = skip(p, end, " \t\r*_`\"'$)]}|");
      return p == end || (!nst_place_digit(*p) && is_reason(p, end));
    } else if (nst_place_one_of(and, p, end)) {
      p = skip(p + 3, end, " \t*_`\"'");
      return p == end; /* the next name */
    } else if (nst_place_one_of(of_values, p, end))
      p = nst_place_one_of(of_values, p, end);
    else if (nst_place_one_of(reasons, p, end))
      return is_reason(p, end) && is_remark(nst_place_one_of(reasons, p, end), end, value, unit);
    else if (comma &&
             nst_place_letter(*p)) { /* a quantity that is not asked for; its name has a mark in it as theirs have */
      const char *name = p;
      while (p < end && nst_place_word(*p)) p++;
      const bool named = memchr(name, '_', (size_t)(p - name));
      p = skip(p, end, " \t*_`\"'$");
      if (!named || p == end || !nst_place_in(*p, "=:") ||
          !read_value(&(nst_figure){0}, &p, (nst_span){p + 1, end}, unit, true))
        return false;
      comma = false;
    } else
      return false;
  }
}

/* Nothing but such words and marks before the first value. */
static const char *skip_before(const char *p, const char *end, const char *const *words) {
  for (const char *next = p; next; next = nst_place_one_of(words, p, end)) p = skip(next, end, " \t\r\n*_`\"'${[:=");
  return p;
}

/* ---- answers -------------------------------------------------------------- */

typedef struct {
  const nst_quantity *q;
  size_t n;
} asked;

/* The next name of a quantity that a value follows: its index, n if there is none. */
static size_t next_name(const char **name, const char **value, const char *from, nst_span s, const asked *a) {
  static const char *const is[] = {"is", NULL};
  for (const char *p = from; p < s.end; p++) {
    if (!nst_place_word(*p)) continue;
    const char *end = p;
    while (end < s.end && nst_place_word(*end)) end++;
    const char *word = p;
    while (word < end && *word == '_') word++; /* emphasis */
    for (size_t i = 0; i < a->n; i++) {
      const size_t size = strlen(a->q[i].name);
      if ((size_t)(end - word) < size || memcmp(word, a->q[i].name, size) != 0 || skip(word + size, end, "_") < end)
        continue;
      const char *q = skip(end, s.end, " \t*_`\"'$)}");
      const char *behind = q < s.end && nst_place_in(*q, "=:") ? q + 1 : nst_place_one_of(is, q, s.end);
      if (!behind) continue;
      if (behind == q + 1 && behind < s.end && *behind == '=') behind++; /* == and := */
      *name = word;
      *value = skip(behind, s.end, " \t\r\n");
      return i;
    }
    p = end - 1;
  }
  return a->n;
}

/* `name = value`, in any order. *any: there are names; false: they are no answer. */
static bool named_numbers(bool *any, nst_figure *values, const asked *a, nst_span s) {
  const char *name, *value, *next, *next_value;
  size_t i = next_name(&name, &value, s.text, s, a);
  *any = i < a->n;
  if (!*any || !is_reason(skip(s.text, name, " \t\r\n-"), name) || has_digit(s.text, name)) return false;
  bool *given = nst_memory_new(a->n, sizeof *given), good = true;
  while (i < a->n && good) {
    const size_t k = next_name(&next, &next_value, value, s, a);
    const nst_unit unit = a->q[i].unit;
    const char *p;
    nst_figure got;
    const char *stop = k < a->n ? next : s.end;
    if (read_value(&got, &p, (nst_span){value, s.end}, unit, true)) {
      if (p <= stop) good = is_settled(p, stop, got, unit);
      if (given[i]) good = good && same(values[i], got);
      values[i] = got;
      given[i] = true;
    } else if (has_digit(value, stop))
      good = false;
    i = k, name = next, value = next_value;
  }
  good = good && memchr(given, true, a->n);
  free(given);
  return good;
}

/* As many values as are asked for, in their order. */
static bool numbers_in_order(nst_figure *values, const asked *a, nst_span s) {
  for (int grouped = 1; grouped >= 0; grouped--) {
    const char *const name[] = {a->n == 1 ? a->q->name : NULL, NULL};
    const char *p = skip_before(s.text, s.end, before);
    p = skip_before(skip_before(p, s.end, name), s.end, before);
    size_t i = 0;
    for (; i < a->n; i++) {
      static const char *const and[] = {"and", NULL};
      const char *end = s.end;
      if (i) {
        const char *from = p;
        p = skip_before(skip(p, end, " \t\r\n*_`\"'$),;&|-"), end, and);
        if (p == from) break;
      }
      if (read_value(&values[i], &p, (nst_span){p, end}, a->q[i].unit, grouped)) continue;
      if (i || p == end || *p != '(' || !read_value(&values[i], &p, (nst_span){p + 1, end}, a->q[i].unit, grouped))
        break;
    }
    if (i == a->n && is_settled(p, s.end, values[i - 1], a->q[i - 1].unit)) return true;
  }
  return false;
}

static const json_t *member_of(const json_t *json, const asked *a, size_t i) {
  const json_t *inner = json_object_get(json, "answer");
  const json_t *member = json_object_get(json_is_object(inner) ? inner : json, a->q[i].name);
  return !member && a->n == 1 && !json_is_object(inner) ? inner : member;
}

static bool has_quantity(const json_t *json, const void *context) {
  const asked *a = context;
  for (size_t i = 0; i < a->n; i++)
    if (member_of(json, a, i)) return true;
  return false;
}

/* What is written is one value and nothing else. */
static void json_numbers(nst_figure *values, const asked *a, const json_t *json) {
  for (size_t i = 0; i < a->n; i++) {
    const json_t *member = member_of(json, a, i);
    const char *text = json_string_value(member), *p;
    if (!text) continue;
    const nst_span s = {text, text + json_string_length(member)};
    nst_figure got;
    if (read_value(&got, &p, s, a->q[i].unit, true) && is_settled(p, s.end, got, a->q[i].unit)) values[i] = got;
  }
}

/* The object that begins on the line, to its end on another; *any: there is one. No other and no number stands behind
 * it. */
static bool line_object(bool *any, nst_figure *values, const asked *a, nst_span line, const char *last) {
  const char *brace = memchr(line.text, '{', (size_t)(line.end - line.text));
  if (!brace || has_digit(line.text, brace)) return false;
  const char *end;
  json_t *json = nst_place_object(&end, (nst_span){brace, last});
  const char *feed = json ? memchr(end, '\n', (size_t)(last - end)) : NULL;
  if (feed) last = feed;
  *any = json != NULL;
  const bool good = json && has_quantity(json, a) && is_reason(skip(line.text, brace, " \t\r\n"), brace) &&
                    !memchr(end, '{', (size_t)(last - end)) &&
                    is_settled(end, last, (nst_figure){.kind = NST_FIGURE_NONE}, NST_UNIT_ELEMENTS);
  if (good) json_numbers(values, a, json);
  json_decref(json);
  return good;
}

/* What an answer line holds. */
static bool line_numbers(nst_figure *values, const asked *a, nst_span line, const char *end) {
  bool any = false;
  const bool good = line_object(&any, values, a, line, end);
  if (any) return good;
  size_t size;
  char *plain = nst_place_unescape(&size, line);
  const nst_span s = {plain, plain + size};
  bool ok = named_numbers(&any, values, a, s);
  if (!any) ok = numbers_in_order(values, a, s);
  free(plain);
  return ok;
}

nst_extract nst_extract_numbers(nst_figure *values, const nst_quantity *q, size_t n, const char *completion,
                                size_t size) {
  nst_extract out;
  const asked a = {q, n};
  const nst_span all = nst_place_visible(&out, completion, size);
  nst_span at = {0};
  for (size_t i = 0; i < n; i++) values[i] = (nst_figure){.kind = NST_FIGURE_NONE};
  const bool line = nst_place_answer(&at, all);
  if (line && has_digit(at.text, at.end)) {
    if (line_numbers(values, &a, at, all.end))
      nst_place_found(&out, NST_STEP_ANSWER_LINE, at, completion);
    else
      for (size_t i = 0; i < n; i++) values[i] = (nst_figure){.kind = NST_FIGURE_NONE};
    return out;
  }
  json_t *json = nst_place_last_object(&at, all, has_quantity, &a);
  if (json) {
    json_numbers(values, &a, json);
    nst_place_found(&out, NST_STEP_JSON, at, completion);
  }
  json_decref(json);
  if (json || line || n != 1) return out;
  number got, last = {0};
  for (const char *p = all.text; next_number(&got, p, all); p = got.end) last = got;
  if (!last.begin) return out;
  if (!is_attached(last.end, all.end)) values[0] = in_unit(&last, q[0].unit);
  nst_place_found(&out, NST_STEP_LAST, (nst_span){last.begin, last.end}, completion);
  return out;
}
