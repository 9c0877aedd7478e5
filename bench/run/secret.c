/* Secrets are looked for as bytes, and once more in what escapes stood for. */
#include "bench/run/secret.h"

#include "bench/record/memory.h"

#include <stdlib.h>
#include <string.h>

static size_t size_of(const char *secret) {
  const size_t size = secret ? strlen(secret) : 0;
  return size < NST_SECRET_SHORTEST ? 0 : size;
}

void nst_secret_strike(char *bytes, size_t size, const char *secret) {
  const size_t n = size_of(secret);
  if (!n) return;
  for (char *at, *end = bytes + size; (at = memmem(bytes, (size_t)(end - bytes), secret, n)); bytes = at + n)
    memset(at, '*', n);
}

void nst_secret_strike_json(json_t *json, const char *secret) {
  const size_t n = size_of(secret);
  if (!n) return;
  const char *name;
  size_t i;
  json_t *value;
  if (json_is_object(json)) {
    json_object_foreach(json, name, value) nst_secret_strike_json(value, secret);
  } else if (json_is_array(json)) {
    json_array_foreach(json, i, value) nst_secret_strike_json(value, secret);
  } else if (json_is_string(json) && memmem(json_string_value(json), json_string_length(json), secret, n)) {
    const size_t size = json_string_length(json);
    char *copy = nst_memory_text(json_string_value(json), size);
    nst_secret_strike(copy, size, secret);
    json_string_setn(json, copy, size);
    free(copy);
  }
}
