/* Exact rationals of 128-bit integers.
 *
 * Each operation has a short way for what programs mostly hold (integers, small
 * numbers) and falls back to 256-bit intermediates, so that an operation fails
 * exactly when its result, in lowest terms, does not fit: never because
 * something on the way was large. Magnitudes are worked on unsigned and the sign
 * apart, so that -2^127 is a value like any other. */
#include "base/rational.h"

#include "base/buffer.h"

#include <math.h>
#include <string.h>

typedef unsigned __int128 u128;

#define I128_MAX ((nst_i128)(~(u128)0 >> 1))
#define I128_MIN (-I128_MAX - 1)
#define TOP_BIT ((u128)1 << 127) /* the magnitude of I128_MIN */

static u128 magnitude(nst_i128 v) { return v < 0 ? 0 - (u128)v : (u128)v; }

static int bits128(u128 v) {
  uint64_t hi = (uint64_t)(v >> 64), lo = (uint64_t)v;
  return hi ? 128 - __builtin_clzll(hi) : lo ? 64 - __builtin_clzll(lo) : 0;
}

static int trailing_zeros(u128 v) {
  uint64_t lo = (uint64_t)v;
  return lo ? __builtin_ctzll(lo) : 64 + __builtin_ctzll((uint64_t)(v >> 64));
}

static uint64_t gcd64(uint64_t a, uint64_t b) {
  if (!a || !b) return a | b;
  /* One division brings numbers of different sizes together: a volume and a price, say. */
  if (a > b) a %= b;
  else b %= a;
  if (!a || !b) return a | b;
  int shift = __builtin_ctzll(a | b);
  a >>= __builtin_ctzll(a);
  do {
    b >>= __builtin_ctzll(b);
    if (a > b) {
      uint64_t t = a;
      a = b;
      b = t;
    }
    b -= a;
  } while (b);
  return a << shift;
}

/* Exact; most common divisors are 1. */
static u128 divide_out(u128 a, u128 divisor) { return divisor == 1 ? a : a / divisor; }

static u128 gcd128(u128 a, u128 b) {
  if (a == 1 || b == 1) return 1;
  if (!a || !b) return a | b;
  if (!((a | b) >> 64)) return gcd64((uint64_t)a, (uint64_t)b);
  int shift = trailing_zeros(a | b);
  a >>= trailing_zeros(a);
  do {
    b >>= trailing_zeros(b);
    if (a > b) {
      u128 t = a;
      a = b;
      b = t;
    }
    b -= a;
  } while (b);
  return a << shift;
}

/* ---- 256-bit magnitudes: enough for any product of two numbers, and the sum of two such ---- */

typedef struct {
  u128 hi, lo;
} u256;

static u256 wide(u128 v) { return (u256){0, v}; }
static bool wide_is_zero(u256 a) { return !a.hi && !a.lo; }

static int wide_cmp(u256 a, u256 b) {
  if (a.hi != b.hi) return a.hi < b.hi ? -1 : 1;
  return a.lo < b.lo ? -1 : a.lo > b.lo;
}

static u256 wide_mul(u128 a, u128 b) {
  u128 mask = ~(uint64_t)0;
  u128 a0 = a & mask, a1 = a >> 64, b0 = b & mask, b1 = b >> 64;
  u128 low = a0 * b0, mid1 = a1 * b0, mid2 = a0 * b1;
  u128 mid = (low >> 64) + (mid1 & mask) + (mid2 & mask);
  return (u256){a1 * b1 + (mid1 >> 64) + (mid2 >> 64) + (mid >> 64), mid << 64 | (low & mask)};
}

static u256 wide_add(u256 a, u256 b) {
  u128 lo = a.lo + b.lo;
  return (u256){a.hi + b.hi + (lo < a.lo), lo};
}

static u256 wide_sub(u256 a, u256 b) { return (u256){a.hi - b.hi - (a.lo < b.lo), a.lo - b.lo}; }

static u256 wide_shl(u256 a, int n) {
  if (n == 0) return a;
  if (n >= 128) return (u256){a.lo << (n - 128), 0};
  return (u256){a.hi << n | a.lo >> (128 - n), a.lo << n};
}

static u256 wide_shr(u256 a, int n) {
  if (n == 0) return a;
  if (n >= 128) return (u256){0, a.hi >> (n - 128)};
  return (u256){a.hi >> n, a.lo >> n | a.hi << (128 - n)};
}

static int wide_bits(u256 a) { return a.hi ? 128 + bits128(a.hi) : bits128(a.lo); }

/* Quotient and remainder; bit by bit past 128: this is the slow way already. */
static u256 wide_div(u256 *rem, u256 a, u256 b) {
  u256 q = {0, 0};
  if (!a.hi && !b.hi) {
    *rem = wide(a.lo % b.lo);
    return wide(a.lo / b.lo);
  }
  int shift = wide_bits(a) - wide_bits(b);
  if (shift >= 0) {
    u256 d = wide_shl(b, shift);
    for (int i = shift; i >= 0; i--, d = wide_shr(d, 1)) {
      q = wide_shl(q, 1);
      if (wide_cmp(a, d) >= 0) {
        a = wide_sub(a, d);
        q.lo |= 1;
      }
    }
  }
  *rem = a;
  return q;
}

static u256 wide_gcd(u256 a, u256 b) {
  while (!wide_is_zero(b)) {
    if (!a.hi && !b.hi) return wide(gcd128(a.lo, b.lo));
    u256 rem;
    wide_div(&rem, a, b);
    a = b;
    b = rem;
  }
  return a;
}

/* ---- building results ---- */

/* num/den, already in lowest terms. */
static bool from_lowest(nst_rat *out, bool negative, u128 num, u128 den) {
  if (den == 0 || den >= TOP_BIT || num > (negative ? TOP_BIT : TOP_BIT - 1)) return false;
  out->num = negative ? (nst_i128)(0 - num) : (nst_i128)num;
  out->den = (nst_i128)den;
  return true;
}

static bool from_wide(nst_rat *out, bool negative, u256 num, u256 den) {
  u256 rem, g = wide_gcd(num, den);
  if (g.hi || g.lo != 1) {
    num = wide_div(&rem, num, g);
    den = wide_div(&rem, den, g);
  }
  if (num.hi || den.hi) return false;
  return from_lowest(out, negative && num.lo, num.lo, den.lo);
}

bool nst_rat_make(nst_rat *out, nst_i128 num, nst_i128 den) {
  if (den == 1) {
    *out = (nst_rat){num, 1};
    return true;
  }
  if (den == 0) return false;
  u128 n = magnitude(num), d = magnitude(den), g = gcd128(n, d);
  return from_lowest(out, (num < 0) != (den < 0) && n, divide_out(n, g), divide_out(d, g));
}

/* ---- arithmetic ---- */

static bool add_magnitudes(nst_rat *out, bool a_neg, u128 an, u128 ad, bool b_neg, u128 bn, u128 bd) {
  u128 g = gcd128(ad, bd);
  u256 left = wide_mul(an, bd / g), right = wide_mul(bn, ad / g), num;
  bool negative = a_neg;
  if (a_neg == b_neg) {
    num = wide_add(left, right);
  } else if (wide_cmp(left, right) >= 0) {
    num = wide_sub(left, right);
  } else {
    num = wide_sub(right, left);
    negative = b_neg;
  }
  return from_wide(out, negative, num, wide_mul(ad, bd / g));
}

bool nst_rat_add(nst_rat *out, nst_rat a, nst_rat b) {
  if (a.den == b.den) {
    nst_i128 sum;
    if (!__builtin_add_overflow(a.num, b.num, &sum)) return nst_rat_make(out, sum, a.den);
    if (a.den == 1) return false;
  } else {
    nst_i128 left, right, num, den;
    if (!__builtin_mul_overflow(a.num, b.den, &left) && !__builtin_mul_overflow(b.num, a.den, &right) &&
        !__builtin_add_overflow(left, right, &num) && !__builtin_mul_overflow(a.den, b.den, &den)) {
      return nst_rat_make(out, num, den);
    }
  }
  return add_magnitudes(out, a.num < 0, magnitude(a.num), (u128)a.den, b.num < 0, magnitude(b.num), (u128)b.den);
}

bool nst_rat_sub(nst_rat *out, nst_rat a, nst_rat b) {
  if (b.num != I128_MIN) return nst_rat_add(out, a, (nst_rat){-b.num, b.den});
  return add_magnitudes(out, a.num < 0, magnitude(a.num), (u128)a.den, false, TOP_BIT, (u128)b.den);
}

/* The factors are crossed out first, so what does not fit then never would. */
static bool mul_magnitudes(nst_rat *out, bool negative, u128 an, u128 ad, u128 bn, u128 bd) {
  u128 g = gcd128(an, bd), h = gcd128(bn, ad), num, den;
  if (an == 0 || bn == 0) {
    *out = (nst_rat){0, 1};
    return true;
  }
  if (__builtin_mul_overflow(divide_out(an, g), divide_out(bn, h), &num)) return false;
  if (__builtin_mul_overflow(divide_out(ad, h), divide_out(bd, g), &den)) return false;
  return from_lowest(out, negative, num, den);
}

bool nst_rat_mul(nst_rat *out, nst_rat a, nst_rat b) {
  if (a.den == 1 && b.den == 1) {
    out->den = 1;
    return !__builtin_mul_overflow(a.num, b.num, &out->num);
  }
  return mul_magnitudes(out, (a.num < 0) != (b.num < 0), magnitude(a.num), (u128)a.den, magnitude(b.num), (u128)b.den);
}

bool nst_rat_div(nst_rat *out, nst_rat a, nst_rat b) {
  if (b.num == 0) return false;
  return mul_magnitudes(out, (a.num < 0) != (b.num < 0), magnitude(a.num), (u128)a.den, (u128)b.den, magnitude(b.num));
}

bool nst_rat_neg(nst_rat *out, nst_rat a) {
  if (a.num == I128_MIN) return false;
  *out = (nst_rat){-a.num, a.den};
  return true;
}

/* Both in one, |a| / |b| as whole numbers over the common denominator. */
static u256 divide_magnitudes(u256 *rem, u256 *divisor, nst_rat a, nst_rat b) {
  u256 n = wide_mul(magnitude(a.num), (u128)b.den);
  *divisor = wide_mul(magnitude(b.num), (u128)a.den);
  return wide_div(rem, n, *divisor);
}

bool nst_rat_floordiv(nst_rat *out, nst_rat a, nst_rat b) {
  if (b.num == 0) return false;
  if (a.den == 1 && b.den == 1 && !(a.num == I128_MIN && b.num == -1)) {
    nst_i128 q = a.num / b.num;
    if (a.num % b.num != 0 && (a.num < 0) != (b.num < 0)) q--;
    *out = (nst_rat){q, 1};
    return true;
  }
  bool negative = (a.num < 0) != (b.num < 0);
  u256 rem, divisor, q = divide_magnitudes(&rem, &divisor, a, b);
  if (negative && !wide_is_zero(rem)) q = wide_add(q, wide(1));
  return !q.hi && from_lowest(out, negative && q.lo, q.lo, 1);
}

bool nst_rat_mod(nst_rat *out, nst_rat a, nst_rat b) {
  if (b.num == 0) return false;
  if (a.den == 1 && b.den == 1) {
    nst_i128 r = b.num == -1 ? 0 : a.num % b.num;
    if (r != 0 && (r < 0) != (b.num < 0)) r += b.num;
    *out = (nst_rat){r, 1};
    return true;
  }
  u256 rem, divisor;
  divide_magnitudes(&rem, &divisor, a, b);
  if (!wide_is_zero(rem) && (a.num < 0) != (b.num < 0)) rem = wide_sub(divisor, rem);
  return from_wide(out, b.num < 0, rem, wide_mul((u128)a.den, (u128)b.den));
}

static bool pow_magnitude(u128 *out, u128 base, uint64_t n) {
  u128 result = 1;
  if (base <= 1) {
    *out = n ? base : 1;
    return true;
  }
  while (n) {
    if (n & 1 && __builtin_mul_overflow(result, base, &result)) return false;
    n >>= 1;
    if (n && __builtin_mul_overflow(base, base, &base)) return false;
  }
  *out = result;
  return true;
}

bool nst_rat_pow(nst_rat *out, nst_rat a, int64_t n) {
  if (n < 0 && a.num == 0) return false;
  uint64_t times = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
  u128 num, den;
  if (!pow_magnitude(&num, magnitude(a.num), times) || !pow_magnitude(&den, (u128)a.den, times)) return false;
  bool negative = a.num < 0 && times & 1;
  return n < 0 ? from_lowest(out, negative, den, num) : from_lowest(out, negative, num, den);
}

int nst_rat_cmp(nst_rat a, nst_rat b) {
  if (a.den == b.den) return a.num < b.num ? -1 : a.num > b.num;
  bool negative = a.num < 0;
  if (negative != (b.num < 0)) return negative ? -1 : 1;
  int c = wide_cmp(wide_mul(magnitude(a.num), (u128)b.den), wide_mul(magnitude(b.num), (u128)a.den));
  return negative ? -c : c;
}

bool nst_rat_floor(nst_rat *out, nst_rat a) {
  nst_i128 q = a.num / a.den;
  if (a.num < 0 && a.num % a.den != 0) q--;
  *out = (nst_rat){q, 1};
  return true;
}

bool nst_rat_ceil(nst_rat *out, nst_rat a) {
  if (a.den == 1) return *out = a, true;
  nst_i128 q = a.num / a.den;
  if (a.num > 0 && a.num % a.den != 0) q++;
  *out = (nst_rat){q, 1};
  return true;
}

bool nst_rat_to_i64(int64_t *out, nst_rat a) {
  if (a.den != 1 || a.num > INT64_MAX || a.num < INT64_MIN) return false;
  *out = (int64_t)a.num;
  return true;
}

/* A quotient of 64 or 65 bits whose last bit also says whether anything was left is enough for
 * the one rounding, which the conversion of that integer does. */
double nst_rat_to_double(nst_rat a) {
  if (a.den == 1) return (double)a.num; /* the compiler's conversion rounds to nearest, ties to even */
  u128 n = magnitude(a.num), d = (u128)a.den;
  if (!((n | d) >> 53)) return (double)a.num / (double)a.den; /* two exact doubles: the division rounds once */
  int shift = 64 - bits128(n) + bits128(d);
  u256 rem, q = shift >= 0 ? wide_div(&rem, wide_shl(wide(n), shift), wide(d))
                           : wide_div(&rem, wide(n), wide_shl(wide(d), -shift));
  if (!wide_is_zero(rem)) q.lo |= 1;
  double value = ldexp((double)q.lo, -shift);
  return a.num < 0 ? -value : value;
}

/* ---- text ---- */

/* The digits of a literal, which may be many more than the value needs (0.5 ** 100 written out
 * has a hundred): 512 bits hold the numerator of any decimal that has a 128-bit value. */
typedef struct {
  uint32_t limb[16];
} digits;

static bool digits_push(digits *d, uint32_t factor, uint32_t add) {
  uint64_t carry = add;
  for (int i = 0; i < 16; i++) {
    carry += (uint64_t)d->limb[i] * factor;
    d->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  return carry == 0;
}

/* Divides if that leaves no remainder. */
static bool digits_divide(digits *d, uint32_t divisor) {
  digits q;
  uint64_t rem = 0;
  for (int i = 15; i >= 0; i--) {
    rem = rem << 32 | d->limb[i];
    q.limb[i] = (uint32_t)(rem / divisor);
    rem %= divisor;
  }
  if (rem) return false;
  *d = q;
  return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The exponent of "e+12" at *i, which moves past it; saturates. */
static bool parse_exponent(int64_t *out, const char *text, size_t len, size_t *i) {
  enum { LARGE = 1000000000 };
  bool negative = false;
  int64_t value = 0;
  ++*i;
  if (*i < len && (text[*i] == '+' || text[*i] == '-')) negative = text[(*i)++] == '-';
  size_t first = *i;
  for (; *i < len && (is_digit(text[*i]) || (text[*i] == '_' && *i > first)); ++*i) {
    if (text[*i] != '_' && value < LARGE) value = value * 10 + (text[*i] - '0');
  }
  *out = negative ? -value : value;
  return *i > first && text[*i - 1] != '_';
}

bool nst_rat_parse(nst_rat *out, const char *text, size_t len) {
  digits d = {{0}};
  int64_t exponent = 0, zeros = 0, exponent_written = 0; /* zeros: seen, not yet pushed */
  bool point = false, any = false, fits = true;
  size_t i = 0;
  for (; i < len; i++) {
    char c = text[i];
    if (c == '_') {
      if (i == 0 || !is_digit(text[i - 1]) || i + 1 == len || !is_digit(text[i + 1])) return false;
    } else if (c == '.') {
      if (point || i == 0 || i + 1 == len || !is_digit(text[i - 1]) || !is_digit(text[i + 1])) return false;
      point = true;
    } else if (is_digit(c)) {
      exponent -= point;
      zeros++;
      if (c == '0') continue;
      /* Zeros between digits are pushed with the next digit; leading and trailing ones never are. */
      if (!any) zeros = 1;
      for (; zeros > 1 && fits; zeros--) fits = digits_push(&d, 10, 0);
      fits = fits && digits_push(&d, 10, (uint32_t)(c - '0'));
      zeros = 0;
      any = true;
    } else {
      break;
    }
  }
  if (i == 0) return false;
  if (i < len && (text[i] == 'e' || text[i] == 'E') && !parse_exponent(&exponent_written, text, len, &i)) return false;
  if (i != len) return false;
  if (!any) {
    *out = nst_rat_int(0);
    return true;
  }
  exponent += zeros + exponent_written;
  if (!fits || exponent > 40 || exponent < -200) return false;
  for (; exponent > 0; exponent--) {
    if (!digits_push(&d, 10, 0)) return false;
  }
  u128 den = 1;
  int64_t twos = -exponent, fives = -exponent;
  while (twos && digits_divide(&d, 2)) twos--;
  while (fives && digits_divide(&d, 5)) fives--;
  for (; twos; twos--)
    if (__builtin_mul_overflow(den, 2u, &den)) return false;
  for (; fives; fives--)
    if (__builtin_mul_overflow(den, 5u, &den)) return false;
  u128 num = 0;
  for (int limb = 15; limb >= 0; limb--) {
    if (limb >= 4 && d.limb[limb]) return false;
    if (limb < 4) num = num << 32 | d.limb[limb];
  }
  return from_lowest(out, false, num, den);
}

size_t nst_rat_print(char *out, size_t cap, nst_rat a) {
  char text[NST_DOUBLE_TEXT + 8];
  size_t n = 0;
  if (a.den != 1) {
    n = nst_double_format(text, nst_rat_to_double(a));
  } else {
    char reversed[40];
    size_t count = 0;
    u128 v = magnitude(a.num);
    do reversed[count++] = (char)('0' + (int)(v % 10));
    while (v /= 10);
    if (a.num < 0) text[n++] = '-';
    while (count) text[n++] = reversed[--count];
  }
  if (cap == 0) return 0;
  if (n >= cap) n = cap - 1;
  memcpy(out, text, n);
  out[n] = '\0';
  return n;
}
