/* What is expected against what came out: the verdict on one sample. */
#ifndef NST_BENCH_GRADE_COMPARE_H
#define NST_BENCH_GRADE_COMPARE_H
#include "bench/grade/prepare.h"

enum { NST_COUNTEREXAMPLE_FIGURES = 8 };

typedef struct {
  nst_outcome outcome;
  nst_stage stage;
  double score;
  json_t *sub;            /* owned, or NULL: empty */
  json_t *diagnostics;    /* likewise */
  json_t *counterexample; /* owned, or NULL */
  uint64_t nanoseconds;   /* of the worker */
} nst_verdict;

void nst_verdict_fini(nst_verdict *verdict);
/* Adds a message of the grader itself. */
void nst_verdict_say(nst_verdict *verdict, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* false: the reply is malformed; nothing needs a fini. */
bool nst_compare_reply(nst_verdict *out, const nst_prepared *prepared, nst_wire_reader reply);
void nst_compare_choice(nst_verdict *out, const nst_prepared *prepared, size_t choice);
void nst_compare_numbers(nst_verdict *out, const nst_prepared *prepared, const nst_figure *values);
/* Text of any bytes as a JSON string: what is no UTF-8 becomes U+FFFD. */
json_t *nst_json_text(const char *bytes, size_t size);
#endif
