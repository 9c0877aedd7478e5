/* What makes up the usage of a memory: the keeps on the way and, at every seq,
 * the branch that holds the most. */
#ifndef NST_DRIVER_PEAK_H
#define NST_DRIVER_PEAK_H
#include "ir/counts.h"

typedef struct { bool held; nst_rat bytes; } nst_share;
/* shares[ntensors]: what each tensor has of the usage of one instance of the level; they add up to it. */
void nst_peak_shares(nst_share *shares, const nst_nest *nest, const nst_counts *counts, int level);
/* The branch of a seq that holds the most in the level, the first of several; NULL: none holds anything. */
const nst_ir_branch *nst_peak_branch(const nst_nest *nest, const nst_counts *counts, int level, const nst_ir_node *seq);
/* A statement that runs while the level holds its peak; -1: the keeps outside every seq are all of it. */
int nst_peak_stmt(const nst_nest *nest, const nst_counts *counts, int level);
#endif
