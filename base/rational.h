/* Exact numbers: every value of the language is a rational num/den of 128-bit
 * integers in lowest terms, den > 0. An operation whose exact result does not
 * fit says so by returning false (never wraps, never rounds); the outcome is
 * then undefined and must be reported as an overflow. */
#ifndef NST_BASE_RATIONAL_H
#define NST_BASE_RATIONAL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef __int128 nst_i128;
typedef struct { nst_i128 num, den; } nst_rat;

static inline nst_rat nst_rat_int(int64_t v) { return (nst_rat){v, 1}; }
static inline bool nst_rat_is_int(nst_rat a) { return a.den == 1; }
bool nst_rat_make(nst_rat *out, nst_i128 num, nst_i128 den); /* reduces; false if den == 0 or overflow */
bool nst_rat_add(nst_rat *out, nst_rat a, nst_rat b);
bool nst_rat_sub(nst_rat *out, nst_rat a, nst_rat b);
bool nst_rat_mul(nst_rat *out, nst_rat a, nst_rat b);
bool nst_rat_div(nst_rat *out, nst_rat a, nst_rat b);      /* false if b == 0: check first */
bool nst_rat_floordiv(nst_rat *out, nst_rat a, nst_rat b); /* floor(a/b) */
bool nst_rat_mod(nst_rat *out, nst_rat a, nst_rat b);      /* a - b*floor(a/b) */
bool nst_rat_pow(nst_rat *out, nst_rat a, int64_t n);      /* integer power; false if 0**-n or overflow */
bool nst_rat_neg(nst_rat *out, nst_rat a);
int nst_rat_cmp(nst_rat a, nst_rat b);                     /* -1 0 1, exact for all values */
bool nst_rat_floor(nst_rat *out, nst_rat a);
bool nst_rat_ceil(nst_rat *out, nst_rat a);
bool nst_rat_to_i64(int64_t *out, nst_rat a);              /* false unless an integer that fits */
double nst_rat_to_double(nst_rat a);                       /* correctly rounded once (ties to even) */
/* Decimal literal text: digits, optional '_', fraction, exponent: exact; false on overflow. */
bool nst_rat_parse(nst_rat *out, const char *text, size_t len);
/* Prints an integer exactly, any other value as its nearest double. cap >= 48. */
size_t nst_rat_print(char *out, size_t cap, nst_rat a);
#endif
