/* Vector code: the inner loops of a sweep, before LLVM sees them.
 *
 * A piece of vector code runs over the tuples of one axis, a whole vector of
 * them at a time. It either accumulates (rows, each a sum of coefficient * column:
 * the coefficients of the next axis for every tuple of this one), or it
 * filters: it computes forms, sums of coefficient * column over slots, and a
 * program on them (metrics, conditions), and lists the points that may enter an
 * answer. All numbers are whole; `floating` code holds them in doubles, which is
 * exact because the builder has bounded every value below 2^53, other code in
 * 64-bit integers. */
#ifndef NST_BACKEND_VECTOR_H
#define NST_BACKEND_VECTOR_H
#include <stdbool.h>
#include <stdint.h>

typedef enum {
  NST_VOP_FORM,    /* form number imm */
  NST_VOP_CONST,   /* imm */
  NST_VOP_ADD, NST_VOP_SUB, NST_VOP_MUL, NST_VOP_MIN, NST_VOP_MAX,
  NST_VOP_SCALE,   /* a * imm */
  NST_VOP_CEILDIV, /* a / imm rounded up; a >= 0, imm > 0 */
  NST_VOP_FLOORDIV, /* a / imm rounded down; imm > 0 */
  NST_VOP_SELECT,  /* a where op number imm is true, else b */
  NST_VOP_LT, NST_VOP_LE, NST_VOP_EQ, /* booleans from here on */
  NST_VOP_AND, NST_VOP_OR, NST_VOP_NOT,
  NST_VOP_TRUE
} nst_vop_kind;
typedef struct { nst_vop_kind kind; int a, b; int64_t imm; } nst_vop;

/* The sum of its slots over the divisor is whole; to it the value of the form `base` is added, an earlier one or -1. A call uses
 * the first slots, `least` or more of them. constant: the first slot's column is all ones. like: an earlier form whose slots, after a constant one, have the same columns in the same order, all or
 * none of them used; or -1. positive: the form is never negative. */
typedef struct { int first, n, least, base, like; int64_t divisor; bool constant, positive; } nst_vform;

enum {
  NST_VECTOR_LANES = 32,
  NST_VECTOR_BUCKET_BITS = 7,  /* of the fraction of a double, in the number of a bucket */
  NST_VECTOR_BUCKETS = 64 << NST_VECTOR_BUCKET_BITS,
  NST_VECTOR_OCTAVES = 16
};

/* Accumulate: row = sum over its terms of coefficient * column. in[0]: coefficients; in[1]: pointers to the terms' columns,
 * row by row; in[2]: pointers to the rows; in[3]: the number of rows (uint64_t), at least 1; in[4]: the first term of each row
 * (uint64_t), and one more; none is empty; in[5]: the number of each term's coefficient (uint64_t). n: tuples, rounded up to
 * whole vectors.
 * Filter: n rows, each over all ntuples of the innermost axis. in[0]: the slots' coefficients, number k of row r at
 * [k * stride + in[4][r]]; in[1]: pointers to the slots' columns; in[2]: limits (below); in[3]: int64_t tally[4], to which the
 * number of valid points, with checksum the sum of all metrics modulo 2^64, and the numbers of points that are not possible
 * and that are wrong are added; in[4]: int64_t, where the rows are; in[5]: uint64_t, how many slots of each form are used.
 * The candidates' places (int64_t: r * padded + tuple, padded as ntuples padded) go to out, their number is returned; of a
 * vector with candidates the values of best, front[0] and front[1] go to the same places of the three arrays behind it, each
 * room * padded long. Columns and rows are padded to whole vectors and aligned to 64 bytes. */
typedef struct {
  const char *name;
  bool floating, filter, checksum;
  /* filter */
  bool small_sum;               /* the absolute values of the metrics of a point add up to less than 2^52 */
  uint64_t ntuples;             /* at least 1 */
  uint64_t room;                /* the most rows there will be */
  int octave;                   /* of the largest value of front[0]: its binary exponent */
  int stride;
  const nst_vform *forms; int nforms; int nslots;
  const nst_vop *ops; int nops;
  int valid;                    /* op that is true where the point is valid */
  int possible, wrong;          /* ops, or -1: all points are possible, none is wrong; only possible ones count as either */
  const int *metrics; int nmetrics;
  int best;                     /* op whose value must be at most limit[0], or -1: none enters as a best */
  bool largest;                 /* ... at least limit[0] */
  int front[2]; int nfront;     /* ops of a front: 1: at most limit[1]; 2: below the table; 3: all valid points */
} nst_vector_code;
/* limits: limit[0], limit[1], then NST_VECTOR_BUCKETS numbers: a point whose first front metric falls into bucket b is a
 * candidate only if its second is below entry b; entries never grow with b. Then NST_VECTOR_OCTAVES numbers, the entries of
 * the first buckets of the octaves up to `octave` (lower values: of the first of all, so no bound for them but the first
 * entry's): a quick look before the buckets. Bucket of x: bucket 0 for x < 1, else
 * 1 + 128 * exponent + leading seven bits of the fraction, as of a double. */
typedef uint64_t nst_vector_function(const void *const *in, uint64_t n, void *out);

static inline uint64_t nst_vector_padded(uint64_t n) { return (n + NST_VECTOR_LANES - 1) / NST_VECTOR_LANES * NST_VECTOR_LANES; }
#endif
