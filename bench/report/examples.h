/* Failures as people read them: which are shown, where a figure differs, what the compiler said. */
#ifndef NST_BENCH_REPORT_EXAMPLES_H
#define NST_BENCH_REPORT_EXAMPLES_H
#include "bench/report/figures.h"

size_t nst_report_examples_shown(const nst_report *r, const nst_report_system *s);
/* The i-th to be shown: one of each outcome first, then the second of each, and so on. */
const nst_report_example *nst_report_example_at(const nst_report_system *s, size_t i);

typedef struct {
  char *name, *expected, *got;
} nst_report_figure;
/* All texts are there, maybe empty, cleaned, on one line each but `message`. */
typedef struct {
  char *where;   /* the point at which it differs */
  char *message; /* diagnostics, one a line */
  nst_report_figure *items;
  size_t n;
} nst_report_difference;

/* Of a result's counterexample and diagnostics, however much of them there is. */
nst_report_difference nst_report_difference_make(const nst_report_example *example);
void nst_report_difference_free(nst_report_difference *difference);
#endif
