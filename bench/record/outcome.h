/* What can become of a sample, for code that reads no records. */
#ifndef NST_BENCH_RECORD_OUTCOME_H
#define NST_BENCH_RECORD_OUTCOME_H

typedef enum {
#define NST_OUTCOME(id, name, fault, meaning) NST_OUTCOME_##id,
#include "bench/record/outcomes.def"
#undef NST_OUTCOME
  NST_OUTCOME_COUNT
} nst_outcome;
#endif
