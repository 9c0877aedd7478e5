/* Parts of answers: of each kind, level and `metric@level`, how often the figures were right. */
#ifndef NST_BENCH_REPORT_PARTS_H
#define NST_BENCH_REPORT_PARTS_H
#include "bench/report/figures.h"
#include "bench/report/tables.h"

/* One figure of one answer; `name` is "reads@DRAM" or "reads_A". */
void nst_parts_add(nst_report_system *s, nst_kind kind, int level, const char *name, bool right);
/* Sorts the parts and sums them up as metrics: "reads@DRAM" and "reads_A" are of the metric reads. */
void nst_parts_make(nst_report_system *s);
void nst_parts_free(nst_report_system *s);

/* A metric at a kind and a level (from 1), memories together. */
nst_report_metric nst_parts_sum(const nst_report_system *s, nst_kind kind, int level, const char *metric);
bool nst_parts_has_kind(const nst_report_system *s, nst_kind kind);
/* A sign for each level: '#' all right, a digit the tenths that are right, '.' none asked for. */
void nst_parts_signs(char out[NST_LEVELS + 1], const nst_report_system *s, nst_kind kind, const char *metric);

/* The forms: rows of JSON, and the picture of kinds and metrics with a field for each level (charts.c). */
json_t *nst_parts_json(const nst_report_system *s);
void nst_chart_parts(nestor_buffer *out, const nst_report_system *s);
#endif
