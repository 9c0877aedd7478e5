/* What a wrong program is worth without the grader: compared with the reference at points of its own.
 *
 * A thousand points of each mapping that has parameters, drawn from another stream than the key's, and the defaults; of
 * a model a thousand points; a mapping without parameters has one. Where the least is asked for, there is one point,
 * and a mutant that fits and costs no more than the reference is as good as it. The analysis alone counts: that the
 * engines agree is shown elsewhere. */
#ifndef NST_TESTS_BENCH_MUTANT_JUDGE_H
#define NST_TESTS_BENCH_MUTANT_JUDGE_H
#include "bench/grade/figures.h"
#include "bench/tasks/solve.h"

enum { MUTANT_POINTS = 1000 };

typedef enum {
  MUTANT_EQUAL,   /* the reference's figures at all points, or no worse where the least is asked for */
  MUTANT_DIFFERS, /* it fails at some point, or has another figure there */
  MUTANT_BROKEN   /* it does not compile, or holds no answer */
} mutant_fate;

/* The reference at the points of one mapping, or of the model: figures are counted when they are first asked for. */
typedef struct {
  nestor_eval *eval;
  nst_point *points;
  size_t npoints, nfigures;
  nst_figure **figures;
  nestor_buffer *names;
} mutant_table;

typedef struct {
  const nst_draft *d;
  const json_t *spec, *key;
  nst_solver reference;
  nestor_model *model; /* of the reference, or NULL */
  mutant_table tables[NST_DRAFT_MAPPINGS];
  int ntables;
} mutant_judge;

/* All borrowed. The draft is the task's. */
void mutant_judge_init(mutant_judge *judge, const nst_draft *d, const json_t *spec, const json_t *key);
void mutant_judge_fini(mutant_judge *judge);
mutant_fate mutant_judge_run(mutant_judge *judge, const char *mutant);
#endif
