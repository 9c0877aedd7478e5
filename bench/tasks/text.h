/* Text of tasks: put together, and in the layout of the language. */
#ifndef NST_BENCH_TASKS_TEXT_H
#define NST_BENCH_TASKS_TEXT_H
#include "bench/record/text.h"

/* Text of the language in its one layout. What does not parse is appended as it is. */
void nst_text_canonical(nestor_buffer *out, const char *text, size_t size);
#endif
