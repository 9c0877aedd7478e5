/* What commands that judge samples share. */
#ifndef NST_BENCH_CLI_GRADING_H
#define NST_BENCH_CLI_GRADING_H
#include "bench/grade/grade.h"

/* A grader with the records of both files; NULL: said why. *code is then the exit code. */
nst_grading *bench_grading_new(int *code, const nst_grading_options *options, const char *tasks, const char *key);
#endif
