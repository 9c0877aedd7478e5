/* What commands that judge samples share. */
#ifndef NST_BENCH_CLI_GRADING_H
#define NST_BENCH_CLI_GRADING_H
#include "bench/grade/grade.h"

/* A grader with the records of both files; NULL: said why. *code is then the exit code. */
nst_grading *bench_grading_new(int *code, const nst_grading_options *options, const char *tasks, const char *key);
/* The same, but keys that are missing or not of their tasks are told, task by task, and the others are there. */
typedef void bench_key_fault(void *context, const char *task_id, const char *what);
nst_grading *bench_grading_new_telling(int *code, const nst_grading_options *options, const char *tasks, const char *key,
                                       bench_key_fault *tell, void *context);
#endif
