/* The pictures of a report, as SVG that stands in the page and takes its colours from it. Each appends nothing where
 * there is nothing to show. */
#ifndef NST_BENCH_REPORT_CHARTS_H
#define NST_BENCH_REPORT_CHARTS_H
#include "bench/report/figures.h"

/* The style sheet of pictures: colours of outcomes and shades, for light and dark ground. */
extern const char nst_charts_style[];

void nst_chart_scores(nestor_buffer *out, const nst_report *r);
void nst_chart_heat(nestor_buffer *out, const nst_report *r, const nst_report_system *s);
void nst_chart_outcomes(nestor_buffer *out, const nst_report *r);
void nst_chart_runs(nestor_buffer *out, const nst_report *r);
void nst_chart_pairs(nestor_buffer *out, const nst_report *r);
#endif
