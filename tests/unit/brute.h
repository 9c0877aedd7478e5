/* Sweeps by brute force: every point listed, counted by the interpreter of its
 * variant, sorted. Shares nothing with the sweep engines but sets, variants and
 * the counting of one point; slow and simple on purpose. */
#ifndef NST_TESTS_UNIT_BRUTE_H
#define NST_TESTS_UNIT_BRUTE_H
#include "backend/sweep.h"

typedef enum { BRUTE_DROPPED, BRUTE_OTHER, BRUTE_VALID } brute_kind;
typedef struct {
  nst_sweep_point p;
  nst_rat *values; /* [npoints] */
  brute_kind kind;
} brute_point;
typedef struct {
  nst_arena *arena;
  const nst_ir_mapping *m;
  const nst_ir_sweep *s;
  brute_point *points; size_t n, cap; /* in enumeration order */
  uint64_t valid, evaluated, dropped;
  const brute_point **best; size_t nbest;   /* at most `top` of the sweep */
  const brute_point **front; size_t nfront; /* by its metrics */
} brute;

/* The tuples alone where `count` is false. Fails the test where a point is an error. */
void brute_new(brute *b, const nst_ir_mapping *m, const nst_ir_sweep *s, size_t top, bool count);
void brute_free(brute *b);
/* Fails the test unless the result has the same best, front and numbers (with `exact`: the tally without pruning). */
void brute_check(const brute *b, nst_sweep_result *r, bool exact);
#endif
