/* The engines that must agree, and one program to try them on. */
#ifndef NST_TESTS_PROPERTY_ENGINES_H
#define NST_TESTS_PROPERTY_ENGINES_H
#include "base/buffer.h"
#include "ir/counts.h"

/* Of backend/kernel.h and backend/jit.h; frontend and backend are not seen together. */
typedef struct nst_jit nst_jit;
typedef struct nst_kernel nst_kernel;
typedef struct nst_kernel_scratch nst_kernel_scratch;

typedef struct {
  nst_arena *arena;
  nst_interner *interner;
  nst_sources *sources;
  nst_diags *diags;
  const nst_ir_program *program;
  const nst_ir_mapping *m; /* the program's first mapping; NULL: it did not compile */
  nst_nest_maker *maker;
  nst_analysis *analysis;
  nst_kernel *kernel; /* NULL: no native code is asked for */
  nst_kernel_scratch *scratch;
} subject;

/* compile.c: the only file that sees the frontend. */
const nst_ir_program *subject_compile(subject *s, const char *text);
void subject_init(subject *s, const char *text);
void subject_fini(subject *s);
/* Compiles the kernels of many subjects in one module; without a module to load, none gets one. */
bool subjects_compile(subject *subjects, int n, nst_jit *jit, nst_buffer *error);

typedef enum {
  AGREE,      /* all engines that answered gave the same */
  DIFFER,     /* they did not */
  REFUSED,    /* all refused the mapping: sums that may not meet */
  INFEASIBLE, /* no nest for these parameters, and nobody counted one */
  TOO_LARGE,  /* past the simulator's or the analysis' stated bounds */
  ILLEGAL     /* it did not compile */
} verdict;
enum { VERDICTS = ILLEGAL + 1 };

typedef struct {
  verdict verdict;
  const char *text; /* DIFFER, ILLEGAL: what is wrong, in the subject's arena */
  int answers;      /* engines that gave counts */
} outcome;
/* params: integers, one per parameter of the mapping. */
outcome subject_try(subject *s, const int64_t *params);
/* The defaults of the mapping's parameters. false: one has none. */
bool subject_defaults(const subject *s, int64_t *params);
#endif
