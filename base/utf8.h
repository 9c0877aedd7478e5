/* Reading UTF-8 one code point at a time, with nothing assumed of the bytes. */
#ifndef NST_BASE_UTF8_H
#define NST_BASE_UTF8_H
#include <stddef.h>
#include <stdint.h>

/* The length in bytes of the code point at the start of text, stored to *cp; 0 if the bytes
 * there are no valid UTF-8 (overlong forms, surrogates and cut sequences included) or len is 0. */
static inline size_t nst_utf8_decode(uint32_t *cp, const char *text, size_t len) {
  const unsigned char *s = (const unsigned char *)text;
  if (len == 0) return 0;
  if (s[0] < 0x80) {
    *cp = s[0];
    return 1;
  }
  size_t n = s[0] >= 0xF0 ? 4 : s[0] >= 0xE0 ? 3 : 2;
  if (s[0] < 0xC2 || s[0] > 0xF4 || n > len) return 0;
  uint32_t value = s[0] & (0x7Fu >> n);
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xC0) != 0x80) return 0;
    value = value << 6 | (s[i] & 0x3Fu);
  }
  if ((n == 3 && value < 0x800) || (n == 4 && (value < 0x10000 || value > 0x10FFFF))) return 0;
  if (value >= 0xD800 && value <= 0xDFFF) return 0;
  *cp = value;
  return n;
}

/* The same, an invalid byte counting as one step: never 0 unless len is 0. */
static inline size_t nst_utf8_step(const char *text, size_t len) {
  uint32_t cp;
  size_t n = nst_utf8_decode(&cp, text, len);
  return n ? n : len != 0;
}

/* Offset of the first byte that is no valid UTF-8, or len. */
static inline size_t nst_utf8_valid_prefix(const char *text, size_t len) {
  size_t i = 0;
  while (i < len) {
    uint32_t cp;
    size_t n = nst_utf8_decode(&cp, text + i, len - i);
    if (!n) return i;
    i += n;
  }
  return len;
}
#endif
