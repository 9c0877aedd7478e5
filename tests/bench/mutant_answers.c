/* Wrong numbers and wrong choices. A number is written as text into the JSON object of the reference, so that it may be
 * what no JSON library writes. */
#include "tests/bench/mutant_answers.h"

#include "bench/record/record.h"
#include "bench/tasks/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const number_names[] = {
#define MUTANT_NUMBER(id, name, what) name,
#include "tests/bench/mutant_answers.def"
};
static const char *const choice_names[] = {
#define MUTANT_CHOICE(id, name, what) name,
#include "tests/bench/mutant_answers.def"
};
const char *mutant_number_name(mutant_number fault) { return number_names[fault]; }
const char *mutant_choice_name(mutant_choice fault) { return choice_names[fault]; }

/* ---- numbers -------------------------------------------------------------- */

enum { NUMBER_BYTES = 48 };
typedef struct {
  const char *name, *unit;
  int64_t value;
  char text[NUMBER_BYTES]; /* as it is written; "": not at all */
} quantity;

static const char *at(const json_t *object, const char *member) {
  return json_string_value(json_object_get(object, member));
}

static void write_numbers(nestor_buffer *out, const quantity *q, size_t n) {
  size_t written = 0;
  nst_text_add(out, "{");
  for (size_t i = 0; i < n; i++)
    if (*q[i].text) nst_text_add(out, "%s\"%s\": %s", written++ ? ", " : "", q[i].name, q[i].text);
  nst_text_add(out, "}");
}

/* Changes digits of a number. false: there are none to change. */
static bool change_digits(char *text, mutant_number fault, nst_random *r) {
  const size_t n = strlen(text), i = nst_random_below(r, n);
  if (fault == MUTANT_NUMBER_DIGIT) {
    text[i] = (char)('0' + (text[i] - '0' + 1 + (int)nst_random_below(r, 9)) % 10);
    return n == 1 || text[0] != '0'; /* JSON has no leading zeros */
  }
  if (fault == MUTANT_NUMBER_ADDED_DIGIT) {
    text[n] = (char)('0' + nst_random_below(r, 10)), text[n + 1] = '\0';
    return text[0] != '0';
  }
  if (n < 2) return false;
  if (fault == MUTANT_NUMBER_LOST_DIGIT) {
    memmove(text + i, text + i + 1, n - i);
    return n == 2 || text[0] != '0';
  }
  if (i + 1 == n || text[i] == text[i + 1]) return false;
  const char digit = text[i];
  text[i] = text[i + 1], text[i + 1] = digit;
  return text[0] != '0';
}

/* The number times a factor, or NULL's worth of nothing where that is the same or does not come out whole. */
static bool scale(quantity *q, int64_t times, int64_t by) {
  if (!q->value || q->value % by) return false;
  snprintf(q->text, sizeof q->text, "%" PRId64, q->value / by * times);
  return true;
}

static bool give_unit(quantity *q, nst_random *r) {
  static const char *const of_bytes[] = {"KiB", "MB", "bits", "elements", "cycles"},
                           *const of_elements[] = {"bytes", "cycles", "KiB", "bits"},
                           *const of_cycles[] = {"bytes", "elements", "KiB", "bits"};
  const char *unit = !strcmp(q->unit, "bytes")      ? of_bytes[nst_random_below(r, 5)]
                     : !strcmp(q->unit, "elements") ? of_elements[nst_random_below(r, 4)]
                                                    : of_cycles[nst_random_below(r, 4)];
  snprintf(q->text, sizeof q->text, "\"%" PRId64 " %s\"", q->value, unit);
  return q->value != 0;
}

/* Of n quantities that are written as they are, plants the fault in one. */
static bool spoil(quantity *q, size_t n, mutant_number fault, mutant_fate *fate, nst_random *r) {
  static const char *const words[] = {"\"many\"", "null", "\"\"", "true", "[]"};
  quantity *one = &q[nst_random_below(r, n)];
  const int64_t value = one->value;
  switch (fault) {
  case MUTANT_NUMBER_MORE: snprintf(one->text, sizeof one->text, "%" PRId64, value + 1); return true;
  case MUTANT_NUMBER_LESS: snprintf(one->text, sizeof one->text, "%" PRId64, value - 1); return true;
  case MUTANT_NUMBER_DIGIT:
  case MUTANT_NUMBER_LOST_DIGIT:
  case MUTANT_NUMBER_ADDED_DIGIT:
  case MUTANT_NUMBER_TURNED_DIGITS: return change_digits(one->text, fault, r);
  case MUTANT_NUMBER_TWICE: return scale(one, 2, 1);
  case MUTANT_NUMBER_EIGHT: return scale(one, 8, 1);
  case MUTANT_NUMBER_THOUSAND: return scale(one, nst_random_chance(r, 50) ? 1000 : 1024, 1);
  case MUTANT_NUMBER_HALF: return scale(one, 1, 2);
  case MUTANT_NUMBER_EIGHTH: return scale(one, 1, 8);
  case MUTANT_NUMBER_FRACTION: snprintf(one->text, sizeof one->text, "%" PRId64 ".5", value); return true;
  case MUTANT_NUMBER_SIGN: snprintf(one->text, sizeof one->text, "%" PRId64, -value); return value != 0;
  case MUTANT_NUMBER_ZERO: snprintf(one->text, sizeof one->text, "0"); return value != 0;
  case MUTANT_NUMBER_SWAPPED: {
    quantity *two = &q[nst_random_below(r, n)];
    snprintf(one->text, sizeof one->text, "%" PRId64, two->value);
    snprintf(two->text, sizeof two->text, "%" PRId64, value);
    return two->value != value;
  }
  case MUTANT_NUMBER_UNIT: return give_unit(one, r);
  case MUTANT_NUMBER_MISSING:
    *fate = MUTANT_BROKEN;
    one->text[0] = '\0';
    return true;
  case MUTANT_NUMBER_RENAMED: /* one number alone is read whatever it is called */
    *fate = MUTANT_BROKEN;
    one->name++;
    return n > 1;
  case MUTANT_NUMBER_WORDS:
    *fate = MUTANT_BROKEN;
    snprintf(one->text, sizeof one->text, "%s", words[nst_random_below(r, sizeof words / sizeof *words)]);
    return true;
  case MUTANT_NUMBER_COUNT: break;
  }
  return false;
}

bool mutant_number_plant(nestor_buffer *out, mutant_fate *fate, const json_t *spec, const json_t *key,
                         mutant_number fault, nst_random *r) {
  const json_t *asked = json_object_get(spec, "quantities"), *values = json_object_get(key, "values");
  const size_t n = json_array_size(asked);
  quantity *q = calloc(n, sizeof *q);
  bool planted = true;
  for (size_t i = 0; i < n; i++) {
    q[i].name = at(json_array_get(asked, i), "name");
    q[i].unit = at(json_array_get(asked, i), "unit");
    planted =
      planted && nst_record_int(json_object_get(values, q[i].name), &q[i].value) && q[i].value < INT64_MAX / 2048;
    snprintf(q[i].text, sizeof q[i].text, "%" PRId64, q[i].value);
  }
  *fate = MUTANT_DIFFERS;
  planted = planted && n && spoil(q, n, fault, fate, r);
  if (planted) write_numbers(out, q, n);
  free(q);
  return planted;
}

/* ---- choices -------------------------------------------------------------- */

bool mutant_choice_plant(nestor_buffer *out, mutant_fate *fate, const json_t *spec, const json_t *key,
                         mutant_choice fault, nst_random *r) {
  static const char *const between[] = {" or ", ", ", " and ", "/"};
  static const char *const nothing[] = {"answer: none", "answer:", "answer: ?", ""};
  const json_t *choices = json_object_get(spec, "choices");
  const size_t n = json_array_size(choices);
  const char *right = at(key, "choice"), *wrong = json_string_value(json_array_get(choices, nst_random_below(r, n)));
  const char *sign = between[nst_random_below(r, 4)];
  const bool first = nst_random_chance(r, 50);
  *fate = MUTANT_DIFFERS;
  switch (fault) {
  case MUTANT_CHOICE_OTHER:
  case MUTANT_CHOICE_OTHER_JSON:
  case MUTANT_CHOICE_OTHER_PROSE:
  case MUTANT_CHOICE_CORRECTED:
  case MUTANT_CHOICE_TWO:
    if (!strcmp(right, wrong)) return false;
    break;
  case MUTANT_CHOICE_EVERY:
  case MUTANT_CHOICE_BEYOND:
  case MUTANT_CHOICE_NONE:
  case MUTANT_CHOICE_COUNT: *fate = MUTANT_BROKEN; break;
  }
  switch (fault) {
  case MUTANT_CHOICE_OTHER: nst_text_add(out, "answer: %s", wrong); return true;
  case MUTANT_CHOICE_OTHER_JSON: nst_text_add(out, "{\"answer\": \"%s\"}", wrong); return true;
  case MUTANT_CHOICE_OTHER_PROSE: nst_text_add(out, "The best mapping is %s.", wrong); return true;
  case MUTANT_CHOICE_CORRECTED: nst_text_add(out, "answer: %s\nanswer: %s", right, wrong); return true;
  case MUTANT_CHOICE_TWO:
    *fate = MUTANT_BROKEN;
    nst_text_add(out, "answer: %s%s%s", first ? right : wrong, sign, first ? wrong : right);
    return true;
  case MUTANT_CHOICE_EVERY:
    nst_text_add(out, "answer: ");
    for (size_t i = 0; i < n; i++)
      nst_text_add(out, "%s%s", i ? sign : "", json_string_value(json_array_get(choices, i)));
    return true;
  case MUTANT_CHOICE_BEYOND:
    nst_text_add(out, "answer: %c", (char)('A' + n + nst_random_below(r, 26 - n)));
    return true;
  case MUTANT_CHOICE_NONE: nst_text_add(out, "%s", nothing[nst_random_below(r, 4)]); return true;
  case MUTANT_CHOICE_COUNT: break;
  }
  return false;
}
