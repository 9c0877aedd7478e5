/* Text put together in a nestor_buffer. */
#ifndef NST_BENCH_TASKS_TEXT_H
#define NST_BENCH_TASKS_TEXT_H
#include <nestor/nestor.h>

#if defined(__GNUC__) || defined(__clang__)
__attribute__((format(printf, 2, 3)))
#endif
void nst_text_add(nestor_buffer *out, const char *format, ...);
/* Text of the language in its one layout. What does not parse is appended as it is. */
void nst_text_canonical(nestor_buffer *out, const char *text, size_t size);
#endif
