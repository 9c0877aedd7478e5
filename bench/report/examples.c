/* Counterexamples and diagnostics as lines. A counterexample is an object: its "figures" are objects of name, expected
 * and got; "expected" and "got" of its own are values, or objects of values by name; what else it holds says where. */
#include "bench/report/examples.h"

#include "bench/record/memory.h"
#include "bench/report/out.h"

#include <stdlib.h>
#include <string.h>

enum { VALUE_WIDTH = 80, WHERE_WIDTH = 200 };

size_t nst_report_examples_shown(const nst_report *r, const nst_report_system *s) {
  return s->nexamples < r->most_examples ? s->nexamples : r->most_examples;
}

const nst_report_example *nst_report_example_at(const nst_report_system *s, size_t i) {
  for (size_t rank = 0;; rank++)
    for (size_t k = 0; k < s->nexamples; k++) {
      size_t before = 0;
      for (size_t j = 0; j < k; j++) before += s->examples[j].outcome == s->examples[k].outcome;
      if (before == rank && i-- == 0) return &s->examples[k];
    }
}

/* A value on one line: texts without quotes, objects as "a = 1, b = 2", those inside them too. */
static void value_text(nestor_buffer *out, const json_t *value) {
  if (json_is_string(value)) return nst_out_text(out, json_string_value(value));
  if (json_is_object(value)) {
    const char *key, *between = "";
    json_t *member;
    json_object_foreach((json_t *)value, key, member) {
      nst_out_text(out, between);
      if (!json_is_object(member))
        nst_text_add(out, "%s = ", key);
      else if (!json_object_size(member))
        nst_text_add(out, "%s as by default", key);
      value_text(out, member);
      between = ", ";
    }
    return;
  }
  char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) : NULL;
  nst_out_text(out, text ? text : "nothing");
  free(text);
}

static char *line_of(const json_t *value, size_t most) {
  nestor_buffer *out = nestor_buffer_new();
  value_text(out, value);
  char *line = nst_out_clean(nestor_buffer_data(out), true, most);
  nestor_buffer_free(out);
  return line;
}

static void add(nst_report_difference *d, const char *name, const json_t *expected, const json_t *got) {
  d->items = nst_memory_grow(d->items, d->n + 1, sizeof *d->items);
  d->items[d->n++] = (nst_report_figure){nst_out_clean(name, true, VALUE_WIDTH), line_of(expected, VALUE_WIDTH),
                                         line_of(got, VALUE_WIDTH)};
}

static const char *name_of(const json_t *object) {
  static const char *const names[] = {"figure", "name", "quantity", "metric", "out"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *name = json_string_value(json_object_get(object, names[i]));
    if (name) return name;
  }
  return NULL;
}

static void differences(nst_report_difference *d, json_t *object) {
  json_t *expected = json_object_get(object, "expected"), *got = json_object_get(object, "got"), *value;
  const char *key;
  if (!json_is_object(expected)) {
    if (expected || got) add(d, name_of(object) ? name_of(object) : "value", expected, got);
    return;
  }
  json_object_foreach(expected, key, value) {
    const json_t *other = json_is_object(got) ? json_object_get(got, key) : NULL;
    if (!json_equal(value, other)) add(d, key, value, other);
  }
}

static char *message_of(const char *diagnostics) {
  if (!diagnostics) return nst_memory_text("", 0);
  json_t *json = json_loads(diagnostics, JSON_DECODE_ANY, NULL), *item;
  json_t *list = json_is_object(json) ? json_object_get(json, "diagnostics") : json;
  nestor_buffer *out = nestor_buffer_new();
  size_t i;
  json_array_foreach(list, i, item) {
    const char *code = json_string_value(json_object_get(item, "code")),
               *text = json_string_value(json_object_get(item, "message"));
    int64_t line;
    if (code) nst_text_add(out, "%s: ", code);
    if (text)
      nst_out_text(out, text);
    else
      value_text(out, item);
    if (nst_record_int(json_object_get(item, "line"), &line) && line > 0)
      nst_text_add(out, " (line %lld)", (long long)line);
    nst_out_text(out, "\n");
  }
  if (!json_is_array(list)) nst_out_text(out, diagnostics);
  json_decref(json);
  char *clean = nst_out_clean(nestor_buffer_data(out), false, 0);
  nestor_buffer_free(out);
  return clean;
}

nst_report_difference nst_report_difference_make(const nst_report_example *e) {
  nst_report_difference d = {0};
  d.message = message_of(e->diagnostics);
  json_t *json = e->counterexample ? json_loads(e->counterexample, JSON_DECODE_ANY, NULL) : NULL;
  json_t *rest = json_is_object(json) ? json_copy(json) : json_object(), *list = json_object_get(rest, "figures"),
         *item;
  size_t i;
  differences(&d, rest);
  json_array_foreach(list, i, item) differences(&d, item);
  static const char *const said[] = {"expected", "got", "figures"};
  for (i = 0; i < sizeof said / sizeof *said; i++) json_object_del(rest, said[i]);
  d.where = line_of(rest, WHERE_WIDTH);
  json_decref(rest);
  json_decref(json);
  return d;
}

void nst_report_difference_free(nst_report_difference *d) {
  for (size_t i = 0; i < d->n; i++) free(d->items[i].name), free(d->items[i].expected), free(d->items[i].got);
  free(d->items), free(d->where), free(d->message);
  *d = (nst_report_difference){0};
}
