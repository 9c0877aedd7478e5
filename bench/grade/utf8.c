/* UTF-8 by RFC 3629: no overlong forms, no surrogates, nothing past U+10FFFF. */
#include "bench/grade/utf8.h"

#include "bench/record/memory.h"

#include <stdlib.h>
#include <stdbool.h>
#include <string.h>

/* Bytes of the character that begins here, 0: none does. */
static size_t character(const unsigned char *p, size_t left) {
  const unsigned char c = p[0];
  if (c < 0x80) return 1;
  const size_t n = c >= 0xC2 && c <= 0xDF ? 2 : c >= 0xE0 && c <= 0xEF ? 3 : c >= 0xF0 && c <= 0xF4 ? 4 : 0;
  if (!n || left < n) return 0;
  for (size_t i = 1; i < n; i++)
    if (p[i] < 0x80 || p[i] > 0xBF) return 0;
  if ((c == 0xE0 && p[1] < 0xA0) || (c == 0xED && p[1] > 0x9F) || (c == 0xF0 && p[1] < 0x90) || (c == 0xF4 && p[1] > 0x8F)) return 0;
  return n;
}

char *nst_utf8_mend(size_t *out_size, const char *bytes, size_t size) {
  char *out = nst_memory_new(3 * size + 1, 1);
  size_t n = 0;
  for (size_t i = 0; i < size;) {
    const size_t length = character((const unsigned char *)bytes + i, size - i);
    memcpy(out + n, length ? bytes + i : "\xEF\xBF\xBD", length ? length : 3);
    n += length ? length : 3;
    i += length ? length : 1;
  }
  return *out_size = n, out;
}

/* The value of \uXXXX at p, or -1. */
static long escape(const char *p, size_t left) {
  if (left < 6 || p[0] != '\\' || p[1] != 'u') return -1;
  char digits[5] = {p[2], p[3], p[4], p[5], 0}, *end;
  if (strspn(digits, "0123456789abcdefABCDEF") != 4) return -1;
  return strtol(digits, &end, 16);
}

char *nst_utf8_mend_json(size_t *out_size, const char *bytes, size_t size) {
  char *out = nst_utf8_mend(out_size, bytes, size);
  const size_t n = *out_size;
  for (size_t i = 0; i + 1 < n; i++) {
    if (out[i] != '\\') continue;
    const long unit = escape(out + i, n - i);
    if (unit < 0xD800 || unit > 0xDFFF) i++; /* past the escape's letter, which may be another \ */
    else {
      const long next = escape(out + i + 6, n - i - 6);
      if (unit < 0xDC00 && next >= 0xDC00 && next <= 0xDFFF) i += 11;
      else memcpy(out + i, "\\ufffd", 6), i += 5;
    }
  }
  return out;
}
