/* Figures in keys and results: whole numbers as JSON integers (past 2^53 as a string of digits), doubles as JSON numbers where 15 digits give
 * them back and else as a string of 17, NONE as null. */
#ifndef NST_BENCH_GRADE_VALUES_H
#define NST_BENCH_GRADE_VALUES_H
#include "bench/grade/figures.h"

#include <jansson.h>

json_t *nst_figure_json(nst_figure figure);
/* false: none of these forms. */
bool nst_figure_take(nst_figure *out, const json_t *json);
#endif
