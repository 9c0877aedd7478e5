/* When answers that are alike say that something keeps them: a server, a cache between, a fixed seed.
 *
 * What counts are answers at a temperature above 0 that do not pass, that are not empty and decline nothing, with what
 * was thought before them. Right answers are alike by nature where a task gives the names, and so are refusals. */
#ifndef NST_BENCH_RECORD_ALIKE_H
#define NST_BENCH_RECORD_ALIKE_H
#include "bench/record/record.h"

static inline bool nst_alike_counts(const nst_sample *sample, const nst_result *result) {
  return sample->completion_size && !result->passed && result->outcome != NST_OUTCOME_REFUSED &&
         result->outcome != NST_OUTCOME_INFRA_ERROR;
}
/* tasks: those with two such answers and more; alike: of them those where all are the same to the byte. */
static inline bool nst_alike_tells(uint64_t tasks, uint64_t alike) { return tasks >= 3 && 2 * alike > tasks; }
#endif
