/* The canonical text of a record: what json_dumps gives with JSON_COMPACT and JSON_REAL_PRECISION(15), byte for byte,
 * some times sooner, for a grader writes a line for each answer. Texts of a record are UTF-8, which is not checked
 * again; the C locale is the caller's, as everywhere here. */
#include "bench/record/memory.h"
#include "bench/record/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  char *bytes;
  size_t size, capacity;
} text;

static char *room(text *t, size_t size) {
  if (t->capacity - t->size < size) {
    t->capacity = 2 * (t->size + size);
    t->bytes = nst_memory_grow(t->bytes, t->capacity, 1);
  }
  return t->bytes + t->size;
}

static void put(text *t, const char *bytes, size_t size) {
  memcpy(room(t, size), bytes, size);
  t->size += size;
}

static void put_byte(text *t, char byte) {
  *room(t, 1) = byte;
  t->size++;
}

static bool is_plain(char c) { return (unsigned char)c >= 0x20 && c != '"' && c != '\\'; }

static void put_escape(text *t, char c) {
  static const char short_for[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
  const char *found = c ? strchr(short_for, c) : NULL;
  char escape[8];
  if (found)
    put(t, (char[]){'\\', letters[found - short_for]}, 2);
  else
    put(t, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04X", (unsigned)(unsigned char)c));
}

static void put_string(text *t, const char *bytes, size_t size) {
  char *out = room(t, size + 2);
  *out++ = '"';
  size_t plain = 0;
  while (plain < size && is_plain(bytes[plain])) plain++;
  if (plain == size) { /* as nearly all are */
    memcpy(out, bytes, size);
    out[size] = '"';
    t->size += size + 2;
    return;
  }
  t->size++;
  for (size_t i = 0; i < size;) {
    put(t, bytes + i, plain - i);
    if (plain < size) put_escape(t, bytes[plain++]);
    i = plain;
    while (plain < size && is_plain(bytes[plain])) plain++;
  }
  put_byte(t, '"');
}

/* 15 digits; a whole number keeps ".0", an exponent loses its plus and its zeros. */
static void put_real(text *t, double value) {
  if (value == 1 || (value == 0 && !(1 / value < 0))) return put(t, value == 1 ? "1.0" : "0.0", 3);
  char digits[40];
  size_t n = (size_t)snprintf(digits, sizeof digits - 2, "%.15g", value);
  if (!memchr(digits, '.', n) && !memchr(digits, 'e', n)) memcpy(digits + n, ".0", 2), n += 2;
  char *exponent = memchr(digits, 'e', n);
  if (exponent) {
    char *to = exponent + 1, *from = to, *end = digits + n;
    if (*from == '-')
      to++, from++;
    else if (*from == '+')
      from++;
    while (from < end && *from == '0') from++;
    memmove(to, from, (size_t)(end - from));
    n -= (size_t)(from - to);
  }
  put(t, digits, n);
}

static void put_value(text *t, const json_t *value) {
  char digits[24];
  switch (json_typeof(value)) {
  case JSON_NULL: put(t, "null", 4); break;
  case JSON_TRUE: put(t, "true", 4); break;
  case JSON_FALSE: put(t, "false", 5); break;
  case JSON_INTEGER:
    put(t, digits, (size_t)snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, json_integer_value(value)));
    break;
  case JSON_REAL: put_real(t, json_real_value(value)); break;
  case JSON_STRING: put_string(t, json_string_value(value), json_string_length(value)); break;
  case JSON_ARRAY:
    put_byte(t, '[');
    for (size_t i = 0, n = json_array_size(value); i < n; i++) {
      if (i) put_byte(t, ',');
      put_value(t, json_array_get(value, i));
    }
    put_byte(t, ']');
    break;
  case JSON_OBJECT: {
    json_t *object = (json_t *)(uintptr_t)value; /* only to walk it */
    put_byte(t, '{');
    for (void *at = json_object_iter(object), *first = at; at; at = json_object_iter_next(object, at)) {
      const char *key = json_object_iter_key(at);
      if (at != first) put_byte(t, ',');
      put_string(t, key, strlen(key));
      put_byte(t, ':');
      put_value(t, json_object_iter_value(at));
    }
    put_byte(t, '}');
    break;
  }
  }
}

char *nst_record_text(const json_t *json, size_t *size) {
  text t = {.bytes = nst_memory_new(2048, 1), .capacity = 2048};
  put_value(&t, json);
  put_byte(&t, '\0');
  if (size) *size = t.size - 1;
  return t.bytes;
}
