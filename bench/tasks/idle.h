/* What an answer says that does nothing: the names that the prompt gives, put together without an idea of what is
 * asked.
 *
 * What it has right is no ability. Its share of the figures is the floor of a key, and the scripted model "idle" gives
 * it. */
#ifndef NST_BENCH_TASKS_IDLE_H
#define NST_BENCH_TASKS_IDLE_H
#include "bench/tasks/draft.h"

/* Mapping m keeps everything in a set of memories and computes: no loops, no bypass. Its parameters stay. */
void nst_idle_mapping(nst_draft *d, int m, unsigned levels);
/* Appends an answer of the right signature: a mapping that keeps all in every memory, in the outermost one, or in the
 * middle one; a workload whose tensors all have all dimensions; hardware whose levels have no figures. Of the kinds
 * gen.mapping, gen.workload, gen.hardware. `which` is below nst_idle_programs(). */
void nst_idle_program(const nst_draft *d, int which, nestor_buffer *out);
int nst_idle_programs(const nst_draft *d);
/* Appends a model whose outputs are all 0. */
void nst_idle_model(const nst_draft *d, const char *name, nestor_buffer *out);
#endif
