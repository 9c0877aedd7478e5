/* Scores by what a level raises: the trait of its level that a task has, as its spec names it. */
#ifndef NST_BENCH_REPORT_RAISED_H
#define NST_BENCH_REPORT_RAISED_H
#include "bench/report/figures.h"

/* The traits of all tasks, by level and name, and the figures of each system. */
void nst_raised_make(nst_report *r);
void nst_raised_free(nst_report *r);
#endif
