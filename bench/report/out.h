/* Text as it is put together: texts of others made harmless. */
#ifndef NST_BENCH_REPORT_OUT_H
#define NST_BENCH_REPORT_OUT_H
#include "bench/record/text.h"

void nst_out_text(nestor_buffer *out, const char *text);
/* A copy in which nothing acts on a terminal or turns the direction of writing: control characters but line feed and
 * tab, and marks of direction, stand as "<U+001B>". line: line feeds and tabs too, and no more than `most` characters
 * (0: all). free() it. */
char *nst_out_clean(const char *text, bool line, size_t most);
/* For HTML: cleaned, and & < > " ' as references. */
void nst_out_html(nestor_buffer *out, const char *text);
/* Characters of UTF-8. */
size_t nst_out_width(const char *text);
#endif
