/* The language card: what a model needs to know to write programs, in at most 2,500 tokens by a simple count. */
#ifndef NST_BENCH_TASKS_CARD_H
#define NST_BENCH_TASKS_CARD_H
#include <nestor/nestor.h>

enum { NST_CARD_TOKENS = 2500 };

/* The card as Markdown: always the same text. */
void nst_card_write(nestor_buffer *out);
/* The first message of a task: who answers, and the card. */
void nst_card_system(nestor_buffer *out, bool card);
/* Tokens as the card counts them: runs of letters, runs of digits, and every other character that is not white space.
 */
size_t nst_card_count(const char *text);
#endif
