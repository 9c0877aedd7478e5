/* Text put together in a nestor_buffer. */
#ifndef NST_BENCH_RECORD_TEXT_H
#define NST_BENCH_RECORD_TEXT_H
#include <nestor/nestor.h>
#include <stddef.h>

#if defined(__GNUC__) || defined(__clang__)
__attribute__((format(printf, 2, 3)))
#endif
void nst_text_add(nestor_buffer *out, const char *format, ...);
/* Copies what fits into `room` bytes, of at least 4; where that is not all, it ends in "…", and no character is cut. */
void nst_text_quote(char *out, size_t room, const char *text);
#endif
