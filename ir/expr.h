/* Value expressions: what a name, a tile size, an attribute or an expectation
 * evaluates to, given parameter values (and, in tests and sweeps, metrics).
 *
 * An expression is a tree of checked, unit-free nodes: the frontend has
 * verified types and units and scaled every quantity to its base unit (bytes,
 * cycles, seconds, Hz, pJ, watts, mm2; a bandwidth is bytes per cycle or bytes
 * per second). Named values are referred to by number (NST_X_VALUE), never
 * copied, so evaluation is linear in the text. Numbers are exact rationals;
 * only log2, sqrt and fractional powers give a double. */
#ifndef NST_IR_EXPR_H
#define NST_IR_EXPR_H
#include "base/buffer.h"
#include "base/fuel.h"
#include "base/intern.h"
#include "base/rational.h"
#include "base/source.h"
#include <stdbool.h>

typedef enum {
#define NST_METRIC(id, name, args, unit, summary) NST_METRIC_##id,
#include "ir/metrics.def"
#undef NST_METRIC
  NST_METRIC_COUNT
} nst_metric;

typedef enum {
  NST_X_CONST,  /* value */
  NST_X_BOOL,   /* truth */
  NST_X_PARAM,  /* index: parameter of the scope */
  NST_X_VALUE,  /* index: named value of the scope (evaluated before) */
  NST_X_INDEX,  /* index: the variable of an enclosing sum, 0 = innermost */
  NST_X_METRIC, /* metric, level (-1 none), tensor (-1 none) */
  NST_X_ADD, NST_X_SUB, NST_X_MUL, NST_X_DIV, NST_X_FLOORDIV, NST_X_MOD, NST_X_POW, NST_X_NEG,
  NST_X_MIN, NST_X_MAX, NST_X_CEILDIV, NST_X_GCD, /* two operands; n-ary ones are nested */
  NST_X_ABS, NST_X_CEIL, NST_X_FLOOR, NST_X_LOG2, NST_X_SQRT,
  NST_X_EQ, NST_X_NE, NST_X_LT, NST_X_LE, NST_X_GT, NST_X_GE,
  NST_X_AND, NST_X_OR, NST_X_NOT, /* and/or evaluate the right side only when needed */
  NST_X_IF,     /* a ? b : c; only the chosen side is evaluated */
  NST_X_SUM     /* sum of a for INDEX 0 in b .. c, both included; at most 2^20 values */
} nst_expr_kind;

typedef struct nst_expr {
  nst_expr_kind kind;
  nst_span span;
  nst_rat value;
  bool truth;
  int index;
  nst_metric metric; int level, tensor;
  const struct nst_expr *a, *b, *c;
} nst_expr;

typedef enum { NST_VALUE_RAT, NST_VALUE_REAL, NST_VALUE_BOOL } nst_value_kind;
typedef struct { nst_value_kind kind; nst_rat rat; double real; bool truth; } nst_value;

typedef enum {
  NST_EVAL_OK, NST_EVAL_OVERFLOW, NST_EVAL_DIV_ZERO, NST_EVAL_DOMAIN /* log2/sqrt of a bad number, NaN or infinity */,
  NST_EVAL_SUM_TOO_LONG, NST_EVAL_NO_METRIC /* the metric is undefined here, e.g. area not given, 0/0 */,
  NST_EVAL_FUEL, NST_EVAL_NO_VALUE /* it uses a named value that has none */
} nst_eval_status;

/* What an expression is evaluated in. metric() may be NULL where metrics do not occur. */
typedef struct nst_eval_env {
  const nst_value *params; const nst_value *values;
  nst_eval_status (*metric)(void *ctx, const nst_expr *e, nst_value *out);
  void *metric_ctx;
  const bool *lost; /* named values that have none; NULL: all have one */
  uint64_t *fuel; /* one step per node evaluated, more where numbers are wide */
} nst_eval_env;

/* On failure *where is the span of the smallest failing node. */
nst_eval_status nst_expr_eval(nst_value *out, const nst_expr *e, const nst_eval_env *env, nst_span *where);
const char *nst_eval_status_text(nst_eval_status s); /* "overflow: ..." in words for a message */
const char *nst_metric_name(nst_metric m);
const char *nst_metric_unit(nst_metric m); /* "elements" "bytes" "cycles" "pJ" ... "" */
/* true where the value is an integer of 64 bits (a real that happens to be one included). */
bool nst_value_to_i64(int64_t *out, const nst_value *v);

/* In the language's notation, with as few parentheses as it needs; names that are NULL print as numbers. */
typedef struct { nst_name const *params, *values, *levels, *tensors; } nst_expr_names;
void nst_expr_print(nst_buffer *out, const nst_expr *e, nst_name const *params, nst_name const *values);
void nst_expr_print_named(nst_buffer *out, const nst_expr *e, const nst_expr_names *names);
void nst_expr_print_number(nst_buffer *out, nst_rat r); /* exactly: 12, 0.5, 1/3 */
#endif
