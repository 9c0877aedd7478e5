/* One random sweep through every engine: what the property test of sweeps asks. */
#ifndef NST_TESTS_PROPERTY_SWEEP_CHECK_H
#define NST_TESTS_PROPERTY_SWEEP_CHECK_H
#include "backend/sweep.h"
#include "engines.h"

typedef enum {
  SWEEP_SAME,     /* plain and kernel engine, and brute force where it was tried */
  SWEEP_REFUSED,  /* the kernel engine does not do this sweep: `why` */
  SWEEP_LARGE,    /* more points than asked for */
  SWEEP_NO_SPACE, /* a set without a value, an overflow: no answer at all, from anyone */
  SWEEP_ILLEGAL,  /* it did not compile */
  SWEEP_DIFFERENT
} sweep_verdict;
enum { SWEEP_VERDICTS = SWEEP_DIFFERENT + 1 };

typedef struct {
  sweep_verdict verdict;
  const char *why; /* in the subject's arena, or constant */
  uint64_t points, valid, pruned, duplicates, dropped;
  bool brute; /* compared with the simulator */
} sweep_outcome;

/* most: points; work: points of the space times points of the workload up to which every point is simulated. */
sweep_outcome sweep_check(subject *s, nst_jit *jit, uint64_t most, uint64_t work);
#endif
