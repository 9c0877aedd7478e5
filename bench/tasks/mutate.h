/* Faults planted in programs: one in a reference answer, for tasks of the kind repair and for measuring what share the
 * grader rejects.
 *
 * Faults work on text in the formatter's layout, word by word, so that they serve workloads, hardware, mappings and
 * models alike. Whether a fault changes a figure is not known here. */
#ifndef NST_BENCH_TASKS_MUTATE_H
#define NST_BENCH_TASKS_MUTATE_H
#include "bench/record/random.h"

#include <nestor/nestor.h>

typedef enum {
#define NST_FAULT(id, name, what) NST_FAULT_##id,
#include "bench/tasks/faults.def"
  NST_FAULT_COUNT, /* of those that a repair may have */
  NST_FAULT_LAST = NST_FAULT_COUNT - 1,
#include "bench/tasks/faults_tried.def"
#undef NST_FAULT
  NST_FAULT_ALL
} nst_fault;
const char *nst_fault_name(nst_fault fault);

/* Appends the text with the fault planted at a place drawn from the stream. false: the text has no place for it; *out
 * is untouched. */
bool nst_mutate(nestor_buffer *out, const char *text, size_t size, nst_fault fault, nst_random *r);
#endif
