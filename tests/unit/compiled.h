/* Programs in a test: compiled from text, counted, asked. */
#ifndef NST_TESTS_UNIT_COMPILED_H
#define NST_TESTS_UNIT_COMPILED_H
#include "test.h"

#include "agree.h"
#include "ir/metrics.h"

typedef struct {
  nst_arena *arena;
  nst_interner *interner;
  nst_sources *sources;
  nst_diags *diags;
  const nst_ir_program *program; /* NULL: it has errors, which are in diags */
} compiled;
void compile_text(compiled *c, const char *name, const char *text, size_t len);
void compiled_fini(compiled *c);
/* All messages as text, in the arena. */
const char *compiled_messages(compiled *c);

/* One mapping with numbers, counted by the simulator. */
typedef struct {
  compiled *c;
  const nst_ir_mapping *m;
  nst_nest_maker *maker;
  const nst_nest *nest; /* NULL: refused, with a message */
  nst_counts *counts;   /* NULL: refused */
  nst_metrics metrics;
  bool has_metrics;
} counted;
/* args: [nparams] expressions, an entry NULL (or args NULL): the default. */
void count_mapping(counted *n, compiled *c, const nst_ir_mapping *m, const nst_expr *const *args, uint64_t limit);
void counted_fini(counted *n);
/* A counter or metric by name: "reads", "DRAM", "A"; level and tensor may be NULL. */
double counted_metric(const counted *n, const char *metric, const char *level, const char *tensor);

/* Evaluates every expectation of every test of the program with the simulator's counts, but for tests of mappings
 * past the limit. With `engines` the other engines must give the same counts. Returns how many expectations were
 * evaluated; what fails is written to `log`. */
int compiled_expectations(compiled *c, uint64_t limit, agree *engines, nst_buffer *log);
#endif
