/* Builds the plan of a mapping (ir/analysis.h): its counters as formulas over columns of groups. */
#ifndef NST_IR_PLAN_H
#define NST_IR_PLAN_H
#include "ir/analysis.h"

enum { NST_PLAN_MAX_PATH = 256 /* loops, pars, keeps and seqs above one compute */ };

/* NULL if a path is longer than NST_PLAN_MAX_PATH. Memory in the arena; m must outlive the plan. */
const nst_plan *nst_plan_make(nst_arena *arena, const nst_ir_mapping *m);
/* The same within a budget (NULL: none): NULL too where it is out. */
const nst_plan *nst_plan_make_within(nst_arena *arena, const nst_ir_mapping *m, uint64_t *fuel);
#endif
