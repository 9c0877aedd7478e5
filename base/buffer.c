/* Text under construction, and numbers as text.
 *
 * Doubles go through the C library's exact conversion, but only its digits are
 * used: the radix character, which the locale chooses and which may be several
 * bytes, is skipped and the number laid out anew. */
#include "base/buffer.h"

#include "base/arena.h"
#include "base/utf8.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nst_buffer_fini(nst_buffer *b) {
  free(b->text);
  *b = (nst_buffer){0};
}

void nst_buffer_clear(nst_buffer *b) {
  b->len = 0;
  if (b->text) b->text[0] = '\0';
}

/* Makes room for `more` bytes and a NUL. */
static void reserve(nst_buffer *b, size_t more) {
  if (more < b->cap - b->len) return;
  size_t wanted;
  if (__builtin_add_overflow(b->len, more, &wanted) || wanted > SIZE_MAX / 2 - 1) nst_out_of_memory();
  wanted += 1;
  size_t cap = b->cap ? b->cap : 64;
  while (cap < wanted) cap *= 2;
  char *text = realloc(b->text, cap);
  if (!text) nst_out_of_memory();
  b->text = text;
  b->cap = cap;
}

void nst_buffer_add(nst_buffer *b, const char *text, size_t len) {
  if (!len) return;
  reserve(b, len);
  memcpy(b->text + b->len, text, len);
  b->len += len;
  b->text[b->len] = '\0';
}

void nst_buffer_puts(nst_buffer *b, const char *text) { nst_buffer_add(b, text, strlen(text)); }

void nst_buffer_putc(nst_buffer *b, char c) { nst_buffer_add(b, &c, 1); }

void nst_buffer_pad(nst_buffer *b, char c, size_t n) {
  if (!n) return;
  reserve(b, n);
  memset(b->text + b->len, c, n);
  b->len += n;
  b->text[b->len] = '\0';
}

void nst_buffer_printf(nst_buffer *b, const char *fmt, ...) {
  reserve(b, 64);
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(b->text + b->len, b->cap - b->len, fmt, args);
  va_end(args);
  if (n < 0) nst_out_of_memory(); /* only a broken format or no memory gets here */
  if ((size_t)n >= b->cap - b->len) {
    reserve(b, (size_t)n);
    va_start(args, fmt);
    vsnprintf(b->text + b->len, b->cap - b->len, fmt, args);
    va_end(args);
  }
  b->len += (size_t)n;
}

void nst_buffer_int(nst_buffer *b, int64_t v) {
  char digits[20];
  size_t n = 0;
  uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
  do digits[n++] = (char)('0' + magnitude % 10);
  while (magnitude /= 10);
  if (v < 0) nst_buffer_putc(b, '-');
  while (n) nst_buffer_putc(b, digits[--n]);
}

enum { MAX_DIGITS = 17 };

/* Digits d[0].d[1]d[2]… and a decimal exponent. */
typedef struct {
  char digit[MAX_DIGITS + 1];
  int ndigits, exponent;
} decimal;

/* v > 0 rounded to n significant digits; true if these read back as v. */
static bool decimal_make(decimal *d, double v, int n) {
  char text[64];
  snprintf(text, sizeof text, "%.*e", n - 1, v);
  d->ndigits = 0;
  const char *p = text;
  for (; *p != 'e'; p++) {
    if (*p >= '0' && *p <= '9') d->digit[d->ndigits++] = *p;
  }
  d->exponent = (int)strtol(p + 1, NULL, 10);
  return strtod(text, NULL) == v;
}

/* The next larger decimal of as many digits; true if it reads back as v. The neighbours of a
 * power of two are not equally far, so its nearest decimal may miss where the next one hits. */
static bool decimal_next(decimal *d, double v) {
  int i = d->ndigits - 1;
  while (i >= 0 && d->digit[i] == '9') d->digit[i--] = '0';
  if (i < 0) return false;
  d->digit[i]++;
  char text[64];
  snprintf(text, sizeof text, "%.*se%d", d->ndigits, d->digit, d->exponent - (d->ndigits - 1));
  return strtod(text, NULL) == v;
}

static void decimal_shortest(decimal *d, double v) {
  /* Any decimal of up to 15 digits that a normal double reads back is its own 15-digit rounding. */
  int n = v < DBL_MIN ? 1 : DBL_DIG;
  for (; n < MAX_DIGITS; n++) {
    if (decimal_make(d, v, n) || decimal_next(d, v)) break;
  }
  if (n == MAX_DIGITS) decimal_make(d, v, n);
  while (d->ndigits > 1 && d->digit[d->ndigits - 1] == '0') d->ndigits--;
}

size_t nst_double_format(char *out, double v) {
  if (!isfinite(v)) {
    memcpy(out, "null", 5);
    return 4;
  }
  char *p = out;
  if (signbit(v)) *p++ = '-';
  double magnitude = fabs(v);
  if (magnitude == 0) {
    *p++ = '0';
    *p = '\0';
    return (size_t)(p - out);
  }
  decimal d = {0};
  decimal_shortest(&d, magnitude);
  int point = d.exponent + 1; /* digits before the point */
  if (point > 21 || point < -5) {
    *p++ = d.digit[0];
    if (d.ndigits > 1) {
      *p++ = '.';
      memcpy(p, d.digit + 1, (size_t)d.ndigits - 1);
      p += d.ndigits - 1;
    }
    p += snprintf(p, 8, "e%d", d.exponent);
    return (size_t)(p - out);
  }
  if (point <= 0) {
    *p++ = '0';
    *p++ = '.';
    for (int i = point; i < 0; i++) *p++ = '0';
  }
  for (int i = 0; i < d.ndigits || i < point; i++) {
    if (i == point && i > 0) *p++ = '.';
    *p++ = i < d.ndigits ? d.digit[i] : '0';
  }
  *p = '\0';
  return (size_t)(p - out);
}

void nst_buffer_double(nst_buffer *b, double v) {
  char text[NST_DOUBLE_TEXT];
  nst_buffer_add(b, text, nst_double_format(text, v));
}

void nst_buffer_json_string(nst_buffer *b, const char *text, size_t len) {
  nst_buffer_putc(b, '"');
  for (size_t i = 0; i < len;) {
    size_t plain = i; /* a run of bytes that stand for themselves */
    uint32_t cp = 0;
    size_t n = 0;
    while (plain < len && (n = nst_utf8_decode(&cp, text + plain, len - plain)) != 0 && cp >= 0x20 && cp != '"' &&
           cp != '\\') {
      plain += n;
    }
    nst_buffer_add(b, text + i, plain - i);
    i = plain;
    if (i == len) break;
    if (n == 0) {
      nst_buffer_puts(b, "\xEF\xBF\xBD");
      i++;
      continue;
    }
    switch (cp) {
    case '"': nst_buffer_puts(b, "\\\""); break;
    case '\\': nst_buffer_puts(b, "\\\\"); break;
    case '\n': nst_buffer_puts(b, "\\n"); break;
    case '\r': nst_buffer_puts(b, "\\r"); break;
    case '\t': nst_buffer_puts(b, "\\t"); break;
    default: nst_buffer_printf(b, "\\u%04x", (unsigned)cp); break;
    }
    i += n;
  }
  nst_buffer_putc(b, '"');
}
