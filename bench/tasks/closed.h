/* Closed forms of what gen.model asks, written from a draft as a model of the language. */
#ifndef NST_BENCH_TASKS_CLOSED_H
#define NST_BENCH_TASKS_CLOSED_H
#include "bench/tasks/draft.h"

/* Appends `model NAME(parameters of the first mapping) { .. }` with one output for each quantity. The draft is of the
 * kind gen.model: reads, updates and usage alone, no dilation, no padding. That the forms are right is the caller's to
 * check, point by point. */
void nst_closed_write(const nst_draft *d, const char *name, nestor_buffer *out);
#endif
