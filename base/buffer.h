/* Text under construction: all output is built here and written at the end by
 * whoever owns a file. Numbers print the same bytes under every locale. */
#ifndef NST_BASE_BUFFER_H
#define NST_BASE_BUFFER_H
#include <stddef.h>
#include <stdint.h>

typedef struct { char *text; size_t len, cap; } nst_buffer; /* {0} is empty; text is NUL-terminated once non-empty */

void nst_buffer_fini(nst_buffer *b);
void nst_buffer_clear(nst_buffer *b);
void nst_buffer_add(nst_buffer *b, const char *text, size_t len);
void nst_buffer_puts(nst_buffer *b, const char *text);
void nst_buffer_putc(nst_buffer *b, char c);
void nst_buffer_pad(nst_buffer *b, char c, size_t n);
void nst_buffer_printf(nst_buffer *b, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* no %f %g %e: locale */
void nst_buffer_int(nst_buffer *b, int64_t v);
/* Shortest decimal that reads back as the same double; NaN and infinities print "null". */
void nst_buffer_double(nst_buffer *b, double v);
/* A JSON string with quotes; invalid UTF-8 becomes U+FFFD. */
void nst_buffer_json_string(nst_buffer *b, const char *text, size_t len);

/* The text that nst_buffer_double() adds, NUL-terminated; returns its length. out has NST_DOUBLE_TEXT bytes. */
enum { NST_DOUBLE_TEXT = 40 };
size_t nst_double_format(char *out, double v);
#endif
