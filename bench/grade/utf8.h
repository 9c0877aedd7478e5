/* Text of any bytes made into UTF-8, and lines of JSON made readable. */
#ifndef NST_BENCH_GRADE_UTF8_H
#define NST_BENCH_GRADE_UTF8_H
#include <stddef.h>

/* The bytes with U+FFFD for each byte that begins no character; the caller frees. */
char *nst_utf8_mend(size_t *out_size, const char *bytes, size_t size);
/* The same, and escapes of half a surrogate pair become \ufffd: what a JSON parser refuses a whole line for. */
char *nst_utf8_mend_json(size_t *out_size, const char *bytes, size_t size);
#endif
