/* The answers of a run: which are wanted, and what the file says of those that are there. */
#ifndef NST_BENCH_CLI_ANSWERS_H
#define NST_BENCH_CLI_ANSWERS_H
#include "bench/cli/asking.h"
#include "bench/record/reasons.h"

/* Asks for the answers that are not there. The exit code: CLI_GOOD, or said. */
int bench_ask_answers(bench_asking *a);
/* One line on what the file holds, and warnings. Returns the code, or CLI_STOPPED where it is good and answers never
 * came. */
int bench_tell_answers(bench_asking *a, int code);
/* The most frequent reasons, a line each. Nothing can be added to them any more. */
void bench_tell_reasons(nst_reasons *reasons);
#endif
