/* What an engine returns: the counters of semantics.md, nothing derived.
 *
 * moves[(stmt * nlevels + level) * ntensors + tensor]; in a mapping of one
 * statement stmt is 0. Traffic of an edge above a shared keep belongs to the
 * statement that writes the tensor, else to the first that reads it. */
#ifndef NST_IR_COUNTS_H
#define NST_IR_COUNTS_H
#include "ir/nest.h"

typedef struct { int64_t reads, fills, updates, drains; } nst_moves;
typedef struct {
  int nstmts, nlevels, ntensors, nslots;
  nst_moves *moves;     /* [nstmts][nlevels][ntensors] */
  int64_t *tile;        /* [nslots]: elements of the largest tile of each keep of a tensor */
  int64_t *ops, *steps; /* [nstmts] */
  int64_t *instances;   /* [nstmts][nlevels]: instances that work in some step, arrays: 0 */
} nst_counts;

nst_counts *nst_counts_new(nst_arena *arena, const nst_ir_mapping *m); /* zeroed */
static inline nst_moves *nst_counts_at(const nst_counts *c, int stmt, int level, int tensor) {
  return &c->moves[((size_t)stmt * (size_t)c->nlevels + (size_t)level) * (size_t)c->ntensors + (size_t)tensor];
}
/* First difference in words ("GLB A reads: 512 and 500"), or NULL. Text in arena. */
const char *nst_counts_diff(nst_arena *arena, const nst_ir_mapping *m, const nst_counts *a, const nst_counts *b);

/* The analysis (ir/analysis.c): exact, without enumerating the iteration space. */
typedef struct nst_analysis nst_analysis;
nst_analysis *nst_analysis_new(const nst_ir_mapping *m);
/* The same where planning and every count spend this budget (NULL: none), which must outlive the analysis. A count pays for
 * what earlier ones left at hand, too: whether a point is within the budget does not depend on those before it. */
nst_analysis *nst_analysis_new_within(const nst_ir_mapping *m, uint64_t *fuel);
void nst_analysis_free(nst_analysis *a);
/* false: refused, with a message in diags (NULL allowed): a sum of too many terms, an overflow, reduce = false broken. */
bool nst_analysis_count(nst_analysis *a, const nst_nest *nest, nst_counts *out, nst_diags *diags);

/* The message of a count that its budget does not last for. */
void nst_tell_starved(nst_diags *diags, const nst_ir_mapping *m);

/* The simulator (ir/simulate.c): executes the rules literally, element by element. Refuses, with a message,
 * nests with more than `limit` work (points x nodes; 0 = the default of 2^26). */
bool nst_simulate(const nst_nest *nest, nst_counts *out, uint64_t limit, nst_diags *diags);
#endif
