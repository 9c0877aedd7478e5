/* What tests and verify print when something does not hold. */
#ifndef NST_DRIVER_EXPECTATION_H
#define NST_DRIVER_EXPECTATION_H
#include "driver/internal.h"

/* The text of a span on one line, comments left out. */
void nst_source_quote(nst_buffer *out, const nst_sources *sources, nst_span span);
uint32_t nst_quote_line(const nst_sources *sources, nst_span span);
/* Whole numbers are grouped as in tables, but by a mark that no text has: it becomes a comma for people, nothing in
 * JSON (driver/tests.c). */
enum { NST_VALUE_SEPARATOR = 0x1F };
void nst_value_grouped(nst_buffer *out, int64_t v);
/* An exact number, a truth, a double. */
void nst_value_print(nst_buffer *out, const nst_value *v);
/* Lines "    TEXT = VALUE UNIT" for both sides of every comparison that fails in `e`, then for every other
 * metric in it. */
void nst_expectation_describe(nst_buffer *out, const nst_expr *e, const nst_eval_env *env, const nst_sources *sources);
#endif
