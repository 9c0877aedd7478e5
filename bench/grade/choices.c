/* Reading a choice out of prose. What may stand before and behind it is listed, and the rest refused: ways to name two
 * are without end. */
#include "bench/grade/numbers.h"

#include "bench/grade/places.h"

#include <stddef.h>
#include <string.h>

static size_t choice_at(const char *p, nst_span s, const char *const *choices, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const size_t size = strlen(choices[i]);
    if ((size_t)(s.end - p) >= size && !memcmp(p, choices[i], size) &&
        (p + size == s.end || !nst_place_word(p[size])) && (p == s.text || !nst_place_word(p[-1])))
      return i;
  }
  return n;
}

static bool any_choice(nst_span s, const char *const *choices, size_t n) {
  for (const char *p = s.text; p < s.end; p++)
    if (choice_at(p, s, choices, n) < n) return true;
  return false;
}

static const char *const before[] = {"the",  "is", "it",    "mapping",  "option",  "choice", "letter",   "answer",
                                     "best", "my", "final", "probably", "\\boxed", "\\text", "\\textbf", NULL};
static const char *const reasons[] = {
  "because", "since", "as it",    "as its", "while", "whereas",      "than", "over",
  "unlike",  "not",   "compared", "versus", "vs",    "\u043d\u0435", NULL}; /* the last: not, in Russian */
static const char *const hedges[] = {
  "or",     "otherwise", "else",  "maybe", "perhaps", "possibly", "alternatively", "alternately", "either", "if",
  "unless", "could",     "might", "may",   "equally", "tied",     "plus",          "but",         NULL};
/* What follows several. */
static const char *const verbs[] = {"are",   "have", "both", "move",  "need", "read",
                                    "write", "take", "cost", "cause", "use",  NULL};
static const char *const no_verbs[] = {"as", "plus", "perhaps", "versus", NULL};
/* Said behind a verb, they speak for it: "A is better". */
static const char *const praises[] = {"as",      "also",     "equally",   "equal",      "tied",        "best",
                                      "better",  "right",    "correct",   "good",       "fine",        "just",
                                      "another", "the best", "the right", "the answer", "the correct", "smallest",
                                      "least",   "fewest",   NULL};

static const char *skip(const char *p, const char *end, const char *set) {
  while (p < end && nst_place_in(*p, set)) p++;
  return p;
}

static const char *behind_word(const char *p, const char *end) {
  const bool other = p < end && (unsigned char)*p >= 0x80;
  while (p < end && (other ? (unsigned char)*p >= 0x80 : nst_place_word(*p))) p++;
  return p;
}

/* Whether something is said of the choice that ends at p: a number follows, or a verb, which ends with an s. "A and C"
 * may share theirs. */
static bool is_said_of(const char *p, nst_span s, const char *const *choices, size_t n) {
  static const char *const and[] = {"and", "or", NULL};
  const char *end = s.end;
  for (bool several = false;;) {
    p = skip(p, end, " \t*_`\"'$)]");
    const char *q = skip(p, end, ":=( \t$~");
    if (q < end && nst_place_digit(*q)) return true;
    const char *word = behind_word(p, end);
    if (several && nst_place_one_of(verbs, p, end)) return true;
    if (word - p > 1 && word[-1] == 's' && nst_place_letter(*p) && !nst_place_one_of(no_verbs, p, end))
      return !nst_place_one_of(praises, skip(word, end, " \t*_`"), end);
    q = p < end && *p == ',' ? skip(p, end, ", ") : p;
    const char *joined = nst_place_one_of(and, q, end);
    q = skip(joined ? joined : q, end, " \t*_`\"'$([");
    const size_t i = q > p ? choice_at(q, s, choices, n) : n;
    if (i == n) return false;
    several = true;
    p = q + strlen(choices[i]);
  }
}

static bool is_dash(const char *p, const char *end) {
  return end - p > 2 && !memcmp(p, "\xe2\x80", 2) && (p[2] == '\x93' || p[2] == '\x94');
}

/* Whether a choice stands at p, behind words that say nothing. */
static bool names_choice(const char *p, nst_span s, const char *const *choices, size_t n) {
  for (; p; p = nst_place_one_of(before, p, s.end)) {
    p = skip(p, s.end, " \t*_`\"'$([");
    if (choice_at(p, s, choices, n) < n) return true;
  }
  return false;
}

/* Whether a choice other than `first`, which ends at p, is offered beside it on the line. It is not where a reason has
 * begun: by one of the words for that, or by a mark behind which something is said of it. A sentence ends what began.
 */
static bool offers_another(const char *p, size_t first, nst_span s, const char *const *choices, size_t n) {
  static const char *const not [] = {"not", NULL}, *const or [] = {"or", NULL};
  bool reason = false, named = false, mark = false, comma = false;
  for (const char *next; p < s.end && *p != '\n'; p = next) {
    next = p + 1;
    const bool spaced = next == s.end || nst_place_in(*next, " \t\r\n\"'*_`)");
    const size_t i = choice_at(p, s, choices, n);
    if (i < n) {
      next = p + strlen(choices[i]);
      if (i == first) continue;
      if (!reason && (!(mark || comma) || !is_said_of(next, s, choices, n))) return true;
      reason = named = true;
    } else if (is_dash(p, s.end))
      mark = true, reason = named = false, next = p + 3;
    else if (nst_place_in(*p, ".;!?") && spaced)
      mark = true, reason = named = false;
    else if (nst_place_in(*p, "([") || (nst_place_in(*p, ":-") && spaced))
      mark = true;
    else if (*p == ',')
      comma = true;
    else if (*p == '<')
      reason = true;
    else if (nst_place_word(*p) || *p == '\\' || (unsigned char)*p >= 0x80) {
      next = *p == '\\' ? next : behind_word(p, s.end);
      const char *negated = nst_place_one_of(not, p, s.end);
      if (negated && !reason) {
        if (!names_choice(negated, s, choices, n))
          comma = false;
        else
          reason = true;
      } else if (nst_place_one_of(reasons, p, s.end))
        reason = true;
      else if (nst_place_one_of(hedges, p, s.end) && !(reason && named && nst_place_one_of(or, p, s.end))) {
        for (; p < s.end && *p != '\n'; p++) { /* whatever else is named behind it is offered */
          const size_t k = choice_at(p, s, choices, n);
          if (k < n && k != first) return true;
        }
        return false;
      } else if (!nst_place_one_of(before, p, s.end))
        comma = false;
    }
  }
  return false;
}

/* The choice that a line begins with, n: none, or another is offered beside it. */
static size_t named_choice(nst_span s, const char *const *choices, size_t n) {
  const char *p = s.text;
  for (int words = 0; p && words < 8; words++) {
    p = skip(p, s.end, " \t\r\n*_`\"'([{$:=");
    while (s.end - p > 2 && !memcmp(p, "\xe2\x80", 2) && ((unsigned char)p[2] & 0xfc) == 0x9c) p += 3;
    const size_t i = choice_at(p, s, choices, n);
    if (i < n) return offers_another(p + strlen(choices[i]), i, s, choices, n) ? n : i;
    p = nst_place_one_of(before, p, s.end);
  }
  return n;
}

/* Of prose: nothing but marks and such words stands between two choices, and the second begins no sentence of its own.
 */
static bool joined(const char *p, size_t first, nst_span s, const char *const *choices, size_t n) {
  static const char *const joining[] = {"or",   "and",    "maybe", "perhaps", "possibly", "alternatively",
                                        "also", "either", "both",  "else",    NULL};
  bool offered = false, sentence = false;
  for (const char *next; p < s.end; p = next) {
    next = p + 1;
    const size_t i = choice_at(p, s, choices, n);
    if (i < n) {
      if (i == first || offered) return i != first;
      p = skip(p + strlen(choices[i]), s.end, " \t\r*_`\"'$)]}");
      return !sentence && (p == s.end || nst_place_in(*p, "\n,;/|&+.?!") || nst_place_one_of(joining, p, s.end));
    }
    if (nst_place_in(*p, "/|&+"))
      offered = true;
    else if (nst_place_in(*p, ".?!"))
      sentence = true;
    else if (!nst_place_in(*p, " \t\r*_`\"'$()[]{},;:=-~")) {
      next = nst_place_one_of(joining, p, s.end);
      if (next)
        offered = true;
      else
        next = nst_place_one_of(before, p, s.end);
      if (!next) return false;
    }
  }
  return false;
}

static bool has_answer(const json_t *object, const void *context) {
  (void)context;
  return json_object_get(object, "answer");
}

nst_extract nst_extract_choice(size_t *choice, const char *const *choices, size_t n, const char *completion,
                               size_t size) {
  nst_extract out;
  const nst_span all = nst_place_visible(&out, completion, size);
  nst_span at = {0};
  *choice = n;
  const bool line = nst_place_answer(&at, all);
  if (line && any_choice(at, choices, n)) {
    *choice = named_choice(at, choices, n);
    if (*choice < n) nst_place_found(&out, NST_STEP_ANSWER_LINE, at, completion);
    return out;
  }
  json_t *json = nst_place_last_object(&at, all, has_answer, NULL);
  const json_t *member = json_object_get(json, "answer");
  if (json_is_string(member)) {
    const char *text = json_string_value(member);
    *choice = named_choice((nst_span){text, text + json_string_length(member)}, choices, n);
    if (*choice < n) nst_place_found(&out, NST_STEP_JSON, at, completion);
  }
  json_decref(json);
  if (line || member) return out;
  bool hedged = false;
  static const char *const joins[] = {"or", "and", NULL};
  for (const char *p = all.text; p < all.end; p++) {
    const size_t i = choice_at(p, all, choices, n);
    if (i == n) continue;
    const char *behind = p + strlen(choices[i]);
    /* "A" before a small letter is an article, but for "A or B". */
    if (behind + 1 < all.end && *behind == ' ' && behind[1] >= 'a' && behind[1] <= 'z' && behind - p == 1 &&
        !nst_place_one_of(joins, behind + 1, all.end))
      continue;
    hedged = *choice < n && i != *choice && joined(at.end, *choice, all, choices, n);
    *choice = i;
    at = (nst_span){p, behind};
  }
  if (*choice < n && !hedged) nst_place_found(&out, NST_STEP_LAST, at, completion);
  return out;
}
