/* Judging what a run file holds. */
#ifndef NST_BENCH_CLI_JUDGING_H
#define NST_BENCH_CLI_JUDGING_H
#include "bench/cli/asking.h"
#include "bench/grade/grade.h"

/* A grader of the tasks with the keys of a file, which may hold more. NULL: said. */
nst_grading *bench_judging_new(const bench_asking *a, const char *key_path);
/* Gives every answer and revision that has no result, or one of another grader, its result. The exit code: CLI_GOOD, or said. */
int bench_judge(bench_asking *a, nst_grading *grading);
#endif
