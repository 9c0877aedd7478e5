/* Mappings built by hand, without the frontend: one real convolution, and
 * random small ones whose sizes, coefficients and tiles depend on parameters. */
#ifndef NST_TESTS_UNIT_HAND_H
#define NST_TESTS_UNIT_HAND_H
#include "backend/jit.h"
#include "ir/ir.h"

/* Parameters k1 c1 p1 q1 k2 c2 p2 q2: the tiles; K = C = 64, P = Q = 56, R = S = 3, padded, on two memories and an
 * array of 16 x 16. */
nst_ir_mapping *hand_convolution(nst_arena *arena);

enum { HAND_PARAMS = 4 };
/* HAND_PARAMS parameters, meant for values of about 1 to 12. The same seed gives the same mapping. */
nst_ir_mapping *hand_random(nst_arena *arena, uint64_t seed);

/* false where the tree was built without the code generator: the tests' environment names a file that is not there. */
bool hand_has_code_generator(void);

/* A session of the code generator, or NULL: why is printed. */
nst_jit *hand_jit_new(void);

/* Memory of this process that is resident, in KiB. */
long hand_resident_kib(void);

typedef struct { uint64_t state; } hand_source;
uint64_t hand_next(hand_source *s);
int hand_below(hand_source *s, int n); /* 0 .. n - 1 */
int64_t hand_draw(uint64_t *seed, int64_t lo, int64_t hi); /* splitmix64, Steele et al. 2014 */
#endif
