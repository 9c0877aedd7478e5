/* What is wrong with a candidate: an outcome, a stage and the messages that say why, with lines of the candidate's own text. */
#ifndef NST_BENCH_WORKER_FAULT_H
#define NST_BENCH_WORKER_FAULT_H
#include "bench/grade/wire.h"
#include "bench/record/outcome.h"

#include <nestor/nestor.h>

enum { NST_FAULT_MESSAGES = 8, NST_FAULT_TEXT = 400 };

typedef struct {
  nst_outcome outcome; /* PASSED: nothing is wrong */
  nst_stage stage;
  nst_wire messages;
  uint32_t nmessages;
} nst_fault;

void nst_fault_clear(nst_fault *fault);
/* A message of the worker itself, without a code. line 0: no place. */
void nst_fault_say(nst_fault *fault, nst_outcome outcome, nst_stage stage, uint32_t line, const char *format, ...)
  __attribute__((format(printf, 5, 6)));
/* The errors among messages of the compiler. Places are lines of a program that has `before` lines before the candidate's `lines`: what
 * lies outside has no place. */
void nst_fault_take(nst_fault *fault, nst_stage stage, const nestor_diagnostics *messages, uint32_t before, uint32_t lines);
#endif
