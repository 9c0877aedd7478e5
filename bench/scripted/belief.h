/* A draft as a weak model sees it. */
#ifndef NST_BENCH_SCRIPTED_BELIEF_H
#define NST_BENCH_SCRIPTED_BELIEF_H
#include "bench/tasks/draft.h"

typedef enum { NST_BELIEF_RIGHT, NST_BELIEF_NO_REUSE, NST_BELIEF_BOXES } nst_belief;

/* What the model would write down of the draft: programs are printed from it. */
void nst_belief_write(nst_draft *d, nst_belief belief);
/* What the model has in mind when it counts mapping m: the draft whose exact counts are its numbers. Without reuse they
 * are not the counts of any draft; see nst_belief_values. */
void nst_belief_count(nst_draft *d, int m, nst_belief belief);

/* The values of the draft's quantities for mapping m under its defaults. fits: whether the model thinks that it fits.
 * false: its program does not compile or cannot be evaluated. */
bool nst_belief_values(int64_t values[NST_DRAFT_QUANTITIES], bool *fits, const nst_draft *d, int m, nst_belief belief);
/* Counts where every visit of a keep loads and stores its whole tile (reload.c): replaces what depends on it in values,
 * which are exact ones. */
void nst_belief_reload(int64_t values[NST_DRAFT_QUANTITIES], const nst_draft *d, int m, const nestor_eval *eval);

/* Appends a model of the quantities: closed forms under the belief. */
void nst_belief_closed(nestor_buffer *out, const nst_draft *d, const char *name, nst_belief belief);
/* Chooses tiles and order of mapping 0 by its own numbers: gen.optimize. */
void nst_belief_optimize(nst_draft *d, nst_belief belief);
#endif
