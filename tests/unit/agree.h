/* The engines against each other, on one nest: what the simulator counted must
 * be what the analysis and native code count. */
#ifndef NST_TESTS_UNIT_AGREE_H
#define NST_TESTS_UNIT_AGREE_H
#include "ir/counts.h"

typedef struct agree agree;
agree *agree_new(void);
void agree_free(agree *a);
/* NULL: the analysis and, where there is a code generator, native code give `counts` for this nest of these parameters.
 * Else the first difference, in the arena. */
const char *agree_differ(agree *a, nst_arena *arena, const nst_nest *nest, const nst_value *params,
                         const nst_counts *counts);
/* Nests counted by native code so far, and those that it left to the analysis (a sum of many terms). */
void agree_native(const agree *a, int *counted, int *left);
#endif
