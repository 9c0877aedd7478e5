/* Finding lines and objects. An object is found by counting braces and texts, and read by a JSON library once it is
 * made plain. */
#include "bench/grade/places.h"

#include "bench/record/memory.h"

#include <stdlib.h>
#include <string.h>

bool nst_place_in(char c, const char *set) { return c && strchr(set, c); }

const char *nst_place_one_of(const char *const *words, const char *p, const char *end) {
  for (; *words; words++) {
    const size_t size = strlen(*words);
    if (nst_extract_begins(p, (size_t)(end - p), *words) && (p + size == end || !nst_place_word(p[size])))
      return p + size;
  }
  return NULL;
}

nst_span nst_place_visible(nst_extract *out, const char *completion, size_t size) {
  *out = nst_extract_visible(completion, size);
  return (nst_span){out->text, out->unclosed ? out->text : out->text + out->size};
}

void nst_place_found(nst_extract *out, nst_step step, nst_span at, const char *completion) {
  out->step = step;
  out->text = at.text;
  out->size = (size_t)(at.end - at.text);
  out->line = nst_extract_line(completion, at.text);
}

/* Marks of emphasis may stand between the word and the colon. */
bool nst_place_answer(nst_span *out, nst_span s) {
  bool any = false;
  for (const char *p = s.text; p < s.end; p++) {
    if ((*p != 'a' && *p != 'A') || !nst_extract_begins(p, (size_t)(s.end - p), "answer") ||
        (p > s.text && nst_place_word(p[-1])))
      continue;
    const char *q = p + 6;
    while (q < s.end && nst_place_in(*q, "*_ ")) q++;
    if (q == s.end || *q != ':') continue;
    *out = (nst_span){q + 1, s.end};
    any = true;
    p = q;
  }
  if (!any) return false;
  const char *feed = memchr(out->text, '\n', (size_t)(out->end - out->text));
  const char *p = out->text;
  while (p < out->end && nst_place_in(*p, " \t\r\n*_`")) p++;
  if (feed && p < feed) out->end = feed;
  return true;
}

/* ---- objects -------------------------------------------------------------- */

enum { LONGEST = 1 << 16, MOST = 1 << 22 }; /* bytes of an object, and of what is looked at */

/* The end of the object that begins at a brace, or NULL: braces and texts are counted. */
static const char *object_end(const char *p, const char *end) {
  int depth = 0;
  bool text = false;
  for (; p < end; p++) {
    if (text) {
      if (*p == '\\')
        p++;
      else if (*p == '"')
        text = false;
    } else if (*p == '"')
      text = true;
    else if (*p == '{')
      depth++;
    else if (*p == '}' && --depth == 0)
      return p + 1;
  }
  return NULL;
}

static const char *digits(const char *p, const char *end) {
  while (p < end && nst_place_digit(*p)) p++;
  return p;
}

/* The end of a number as JSON has them, or NULL. */
static const char *json_number(const char *p, const char *end) {
  if (p < end && *p == '-') p++;
  const char *q = digits(p, end);
  if (q == p || (*p == '0' && q > p + 1)) return NULL;
  if (q < end && *q == '.') {
    p = q + 1;
    q = digits(p, end);
    if (q == p) return NULL;
  }
  if (q < end && (*q == 'e' || *q == 'E')) {
    p = q + 1;
    if (p < end && (*p == '-' || *p == '+')) p++;
    q = digits(p, end);
    if (q == p) return NULL;
  }
  return q < end && (nst_place_word(*q) || *q == '.') ? NULL : q;
}

static json_t *load(const char *p, const char *end) {
  char *plain = nst_memory_new(3 * (size_t)(end - p) + 1, 1), *to = plain; /* a digit becomes three bytes */
  for (bool text = false; p < end;) {
    const char *next = p + 1;
    if (*p == '\\' && next < end) {
      if (*next != '_') *to++ = *p;
      *to++ = *next++;
    } else if (text || *p == '"') {
      text ^= *p == '"';
      *to++ = *p;
    } else if (*p == ',') {
      while (next < end && nst_place_in(*next, " \t\r\n")) next++;
      if (next == end || !nst_place_in(*next, "}]")) *to++ = *p;
    } else if ((*p == '-' || nst_place_digit(*p)) && json_number(p, end)) {
      next = json_number(p, end);
      *to++ = '"';
      memcpy(to, p, (size_t)(next - p));
      to += next - p;
      *to++ = '"';
    } else
      *to++ = *p;
    p = next;
  }
  json_t *json = json_loadb(plain, (size_t)(to - plain), JSON_REJECT_DUPLICATES, NULL);
  free(plain);
  return json;
}

json_t *nst_place_object(const char **end, nst_span from) {
  if (from.end - from.text > LONGEST) from.end = from.text + LONGEST;
  *end = object_end(from.text, from.end);
  return *end ? load(from.text, *end) : NULL;
}

static const char *brace_before(const char *p, const char *begin) {
  while (p > begin)
    if (*--p == '{') return p;
  return NULL;
}

/* Tried from the last braces outwards: others stand beside an object within the one that holds it. What is looked at is
 * counted in bytes, so that braces without end take no longer. */
json_t *nst_place_last_object(nst_span *out, nst_span s, nst_place_wanted *wanted, const void *context) {
  for (ptrdiff_t looked = 0; looked < MOST;) {
    const char *last = memrchr(s.text, '}', (size_t)(s.end - s.text)), *p = last;
    json_t *json = NULL;
    while (p && looked < MOST && (p = brace_before(p, s.text)) && last - p < LONGEST) {
      const char *end = object_end(p, last + 1);
      looked += (end ? end : last + 1) - p;
      if (!end || (json && end <= out->end)) continue; /* unclosed, within the one that is there, or before it */
      looked += end - p;
      json_t *object = load(p, end);
      if (!object) continue;
      json_decref(json);
      json = object;
      *out = (nst_span){p, end};
    }
    if (!json || wanted(json, context)) return json;
    json_decref(json);
    s.end = out->text;
  }
  return NULL;
}

char *nst_place_unescape(size_t *out_size, nst_span s) {
  char *out = nst_memory_new((size_t)(s.end - s.text) + 1, 1), *to = out;
  for (const char *p = s.text; p < s.end; p++)
    if (*p != '\\' || p + 1 == s.end || p[1] != '_') *to++ = *p;
  *out_size = (size_t)(to - out);
  return out;
}
