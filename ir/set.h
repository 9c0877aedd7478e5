/* The sets that verify and sweep enumerate: lists, ranges, divisors, powers of
 * two. A set is opened for given values of what it uses; then its i-th element
 * is found without enumerating those before it. Order: a list as written, all
 * others ascending. */
#ifndef NST_IR_SET_H
#define NST_IR_SET_H
#include "ir/ir.h"

typedef struct {
  uint64_t count;
  bool is_range;
  nst_rat first, step;     /* a range: first + i*step */
  nst_rat *items; size_t cap; /* else */
} nst_set;

void nst_set_fini(nst_set *s); /* a zeroed set is empty */
/* Evaluates an expression of the set. */
typedef nst_eval_status nst_set_eval(void *context, const nst_expr *e, nst_value *out, nst_span *where);
/* Reuses the memory of s. NULL when good; else what is wrong, in words, and where. */
const char *nst_set_open(nst_set *s, const nst_ir_set *set, nst_set_eval *eval, void *context, nst_span *where);
nst_rat nst_set_get(const nst_set *s, uint64_t i); /* i < count */
#endif
