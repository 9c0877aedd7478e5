/* What tests and verify print when something does not hold. */
#ifndef NST_DRIVER_EXPECTATION_H
#define NST_DRIVER_EXPECTATION_H
#include "driver/internal.h"

/* The text of a span on one line, comments left out. */
void nst_source_quote(nst_buffer *out, const nst_sources *sources, nst_span span);
uint32_t nst_quote_line(const nst_sources *sources, nst_span span);
/* An exact number, a truth, a double. */
void nst_value_print(nst_buffer *out, const nst_value *v);
/* Lines "    TEXT = VALUE UNIT" for both sides of every comparison that fails in `e`, then for every other
 * metric in it. */
void nst_expectation_describe(nst_buffer *out, const nst_expr *e, const nst_eval_env *env, const nst_sources *sources);
#endif
