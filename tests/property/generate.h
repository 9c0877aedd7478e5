/* Random programs for the property tests, the same for the same seed on every
 * machine.
 *
 * gen_nest writes a workload of one statement, a machine and a mapping of one
 * on the other; gen_cascade one of two to five statements under nested seqs.
 * Programs are legal by construction but for reduce = false, which the engines
 * may refuse together. Each is small enough to be executed point by point.
 * What a program exercises is noted in `features`, so that a test can show that
 * nothing of the language is missed. */
#ifndef NST_TESTS_PROPERTY_GENERATE_H
#define NST_TESTS_PROPERTY_GENERATE_H
#include "base/buffer.h"

#include <stdbool.h>
#include <stdint.h>

/* GEN_FEATURE(id, text): of programs of one statement. */
#define GEN_NEST_FEATURES(X)                                                                                           \
  X(IMPERFECT, "imperfect tiles")                                                                                      \
  X(NESTED, "tiles of tiles")                                                                                          \
  X(INTO, "into")                                                                                                      \
  X(PLAIN, "for without by")                                                                                           \
  X(AUTO, "par without by")                                                                                            \
  X(ABOVE, "tile above the extent")                                                                                    \
  X(STRIDE, "stride")                                                                                                  \
  X(DILATION, "dilation")                                                                                              \
  X(OFFSET, "offset")                                                                                                  \
  X(NEGATIVE, "negative coefficient")                                                                                  \
  X(PAD_IN, "padded input")                                                                                            \
  X(PAD_OUT, "padded output")                                                                                          \
  X(TWO_TERMS, "rank of two terms")                                                                                    \
  X(THREE_TERMS, "rank of three terms")                                                                                \
  X(TRANSPOSED, "output rank of several terms")                                                                        \
  X(DIAGONAL, "dimension in two ranks")                                                                                \
  X(TWICE, "tensor read twice")                                                                                        \
  X(SCALAR, "scalar output")                                                                                           \
  X(ONE, "dimension of size 1")                                                                                        \
  X(UNEVEN, "level kept at several points")                                                                            \
  X(CROSSED, "keeps of two levels crossed")                                                                            \
  X(BYPASS, "bypass")                                                                                                  \
  X(LATE, "outermost keep inside a loop")                                                                              \
  X(IMPLIED, "implied outermost keep")                                                                                 \
  X(ARRAY, "array")                                                                                                    \
  X(ARRAYS, "several arrays")                                                                                          \
  X(AXES, "several axes in use")                                                                                       \
  X(PARS, "several pars on one axis")                                                                                  \
  X(REDUCING, "par over a reduced dimension")                                                                          \
  X(UNICAST, "multicast = false")                                                                                      \
  X(NO_REDUCE, "reduce = false")                                                                                       \
  X(DOUBLE, "double_buffered")                                                                                         \
  X(PARAMS, "parameters")                                                                                              \
  X(PERMUTE, "permute")                                                                                                \
  X(ALL, "keep all")                                                                                                   \
  X(OPTIONAL, "keep?")                                                                                                 \
  X(BRACES, "braces")

/* Of cascades. */
#define GEN_CASCADE_FEATURES(X)                                                                                        \
  X(CHAIN, "chain")                                                                                                    \
  X(DIAMOND, "diamond")                                                                                                \
  X(SHARED_INPUT, "shared input")                                                                                      \
  X(ATTENTION, "attention with row sums")                                                                              \
  X(GATED, "gated MLP")                                                                                                \
  X(RESIDUAL, "residual")                                                                                              \
  X(WINDOW, "window between statements")                                                                               \
  X(MANY, "four or five statements")                                                                                   \
  X(NESTED_SEQ, "nested seq")                                                                                          \
  X(LOOP_ABOVE, "loop above a seq")                                                                                    \
  X(FUSED, "fused intermediate")                                                                                       \
  X(UNFUSED, "unfused intermediate")                                                                                   \
  X(SHARED_KEEP, "shared keep of an input or output")                                                                  \
  X(BRANCH_KEEP, "branch keep")                                                                                        \
  X(ARRAY_ABOVE, "array above a seq")                                                                                  \
  X(ARRAY_INSIDE, "array inside a branch")                                                                             \
  X(C_IMPERFECT, "imperfect tiles")                                                                                    \
  X(C_UNEVEN, "level kept at several points")                                                                          \
  X(C_UNICAST, "multicast = false")                                                                                    \
  X(C_REORDERED, "independent branches out of order")

typedef enum {
#define X(id, text) GEN_##id,
  GEN_NEST_FEATURES(X) GEN_NEST_COUNT,
  GEN_CASCADE_BASE = GEN_NEST_COUNT - 1,
  GEN_CASCADE_FEATURES(X) GEN_COUNT
#undef X
} gen_feature;

const char *gen_feature_text(gen_feature f);

/* The text of a program into out (which is cleared first); the set of its features, bit by gen_feature. */
uint64_t gen_nest(nst_buffer *out, uint64_t seed);
uint64_t gen_cascade(nst_buffer *out, uint64_t seed);

/* A sweep of at most about `most` points; some of them have tiles or pars that cannot be. */
void gen_sweep(nst_buffer *out, uint64_t seed, int most);

/* Makes a failing text smaller while `fails` holds: drops lines, blocks, list items and terms, lowers numbers. */
void gen_shrink(nst_buffer *text, bool (*fails)(void *ctx, const char *text), void *ctx);
#endif
