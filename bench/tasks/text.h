/* Text of tasks: put together, and in the layout of the language. */
#ifndef NST_BENCH_TASKS_TEXT_H
#define NST_BENCH_TASKS_TEXT_H
#include "bench/record/text.h"

#include <stdbool.h>

/* Text of the language in its one layout. What does not parse is appended as it is. */
void nst_text_canonical(nestor_buffer *out, const char *text, size_t size);
/* Likewise of one declaration, with lines joined that the formatter keeps apart though they fit on one: the attributes
 * of a level. */
void nst_text_lay_out(nestor_buffer *out, const char *text, size_t size);
/* Whether two texts differ in nothing but white space and names, each name of one standing for one of the other. */
bool nst_text_same_but_names(const char *a, const char *b);
#endif
