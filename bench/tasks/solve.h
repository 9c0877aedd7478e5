/* Reference figures: a program compiled once and evaluated point by point, each point by all engines. */
#ifndef NST_BENCH_TASKS_SOLVE_H
#define NST_BENCH_TASKS_SOLVE_H
#include "bench/tasks/draft.h"
#include "bench/tasks/points.h"

#include <jansson.h>

enum { NST_SOLVE_ERROR = 512 };
typedef struct {
  nestor_session *session;
  nestor_program *program;
  bool quick;                /* the analysis alone */
  bool unproven;             /* the analysis had figures and another engine had not the same: no draft is to blame */
  char why[NST_SOLVE_ERROR]; /* of the last failure */
} nst_solver;

/* Whether all engines are there; why not. */
bool nst_solver_is_whole(char why[NST_SOLVE_ERROR]);
/* false: the text does not compile; why holds the first message. To be ended in any case. */
bool nst_solver_init(nst_solver *s, const char *text, size_t size, bool quick);
void nst_solver_fini(nst_solver *s);
/* The evaluation of a mapping by name; the caller's to free. NULL: there is none. */
nestor_eval *nst_solver_eval(nst_solver *s, const char *mapping);
/* Runs it by the analysis, the simulator and generated code, which must agree, or else by the analysis. */
bool nst_solver_run(nst_solver *s, nestor_eval *eval, const int64_t *params);

/* The points of a mapping as key.points wants them, appended to `points`, and the names of its figures put into
 * `figures`. name: of the mapping in the program. false: a point fails. */
bool nst_solver_points(nst_solver *s, json_t *points, json_t *figures, const char *name, const nst_draft_mapping *m,
                       const nst_point *at, size_t n);
/* Whether some point has other figures, or none. Points are those of nst_solver_points. */
bool nst_solver_differs(nst_solver *s, const json_t *points, const json_t *figures);
/* The share of groups metric@level whose figures are the expected ones at all points, as grading counts it. */
double nst_solver_share(nst_solver *s, const json_t *points, const json_t *figures);
#endif
