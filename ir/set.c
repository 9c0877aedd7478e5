/* Sets; see set.h. Divisors are found by factoring: trial division up to 2^21
 * settles every number that leaves less than 2^42; others (with a prime above
 * 2^42, or two above 2^21) are refused rather than slow. */
#include "ir/set.h"

#include <stdlib.h>

enum { TRIAL_BITS = 21 };

void nst_set_fini(nst_set *s) {
  free(s->items);
  *s = (nst_set){0};
}

static void push(nst_set *s, nst_rat v) {
  if (s->count == s->cap) {
    s->cap = s->cap ? 2 * s->cap : 64;
    s->items = realloc(s->items, s->cap * sizeof *s->items);
    if (!s->items) nst_out_of_memory();
  }
  s->items[s->count++] = v;
}

nst_rat nst_set_get(const nst_set *s, uint64_t i) {
  if (!s->is_range) return s->items[i];
  nst_rat offset, v = s->first;
  /* Cannot fail: the last element has been computed when the set was opened. */
  if (nst_rat_mul(&offset, s->step, (nst_rat){(nst_i128)i, 1})) nst_rat_add(&v, s->first, offset);
  return v;
}

static const char *number(nst_rat *out, const nst_expr *e, nst_set_eval *eval, void *context, nst_span *where) {
  nst_value v;
  *where = e->span;
  const nst_eval_status status = eval(context, e, &v, where);
  if (status != NST_EVAL_OK) return nst_eval_status_text(status);
  if (v.kind != NST_VALUE_RAT) return "not an exact number";
  *out = v.rat;
  return NULL;
}

static const char *open_range(nst_set *s, nst_rat a, nst_rat b, nst_rat step) {
  if (nst_rat_cmp(step, nst_rat_int(0)) <= 0) return "the step of a range must be positive";
  s->is_range = true;
  s->first = a;
  s->step = step;
  if (nst_rat_cmp(b, a) < 0) return NULL;
  nst_rat width, n;
  int64_t count;
  if (!nst_rat_sub(&width, b, a) || !nst_rat_floordiv(&n, width, step) || !nst_rat_to_i64(&count, n) ||
      count == INT64_MAX)
    return "overflow: the range has more than 2^63 - 1 values";
  s->count = (uint64_t)count + 1;
  return NULL;
}

static int ascending(const void *a, const void *b) {
  return nst_rat_cmp(*(const nst_rat *)a, *(const nst_rat *)b);
}

/* Multiplies every divisor so far by the powers of a prime. */
static void add_prime(nst_set *s, int64_t prime, int exponent) {
  const uint64_t before = s->count;
  int64_t power = 1;
  for (int i = 0; i < exponent; i++) {
    power *= prime;
    for (uint64_t d = 0; d < before; d++) push(s, nst_rat_int((int64_t)s->items[d].num * power));
  }
}

static const char *open_divisors(nst_set *s, nst_rat a) {
  int64_t n;
  if (!nst_rat_to_i64(&n, a) || n < 1) return "divisors takes a positive integer";
  push(s, nst_rat_int(1));
  for (int64_t p = 2; p < (INT64_C(1) << TRIAL_BITS) && p * p <= n; p += p == 2 ? 1 : 2) {
    int exponent = 0;
    for (; n % p == 0; n /= p) exponent++;
    if (exponent) add_prime(s, p, exponent);
  }
  if (n >= INT64_C(1) << (2 * TRIAL_BITS)) return "divisors does not take numbers with such large prime factors (two above 2^21, or one above 2^42)";
  if (n > 1) add_prime(s, n, 1);
  qsort(s->items, s->count, sizeof *s->items, ascending);
  return NULL;
}

static void open_pow2(nst_set *s, nst_rat a, nst_rat b) {
  for (int i = 0; i < 63; i++) {
    const nst_rat p = nst_rat_int(INT64_C(1) << i);
    if (nst_rat_cmp(p, a) >= 0 && nst_rat_cmp(p, b) <= 0) push(s, p);
  }
}

const char *nst_set_open(nst_set *s, const nst_ir_set *set, nst_set_eval *eval, void *context, nst_span *where) {
  s->count = 0;
  s->is_range = false;
  nst_rat a = nst_rat_int(0), b = nst_rat_int(0), step = nst_rat_int(1);
  const char *wrong = NULL;
  if (set->kind == NST_IRSET_LIST) {
    for (int i = 0; i < set->nitems && !wrong; i++) {
      wrong = number(&a, set->items[i], eval, context, where);
      if (!wrong) push(s, a);
    }
    return wrong;
  }
  if (set->a) wrong = number(&a, set->a, eval, context, where);
  if (!wrong && set->b) wrong = number(&b, set->b, eval, context, where);
  if (!wrong && set->step) wrong = number(&step, set->step, eval, context, where);
  if (wrong) return wrong;
  *where = set->span;
  switch (set->kind) {
    case NST_IRSET_LIST: break;
    case NST_IRSET_RANGE: return open_range(s, a, b, step);
    case NST_IRSET_DIVISORS: return open_divisors(s, a);
    case NST_IRSET_POW2: open_pow2(s, a, b); break;
  }
  return NULL;
}
