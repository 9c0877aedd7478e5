/* Points at which a mapping is evaluated: values of its parameters. */
#ifndef NST_BENCH_TASKS_POINTS_H
#define NST_BENCH_TASKS_POINTS_H
#include "bench/tasks/draft.h"

typedef struct {
  int64_t values[NST_DRAFT_PARAMS];
} nst_point; /* in the order of the mapping's parameters */

/* Fills n >= 3 points of a mapping of the draft: first its defaults, which are shown, then hidden ones: tiles of 1, of
 * the whole extent, beyond it and any between, sizes up to twice those shown. At least one hidden point has a tile that
 * does not divide, and one a value beyond the one shown. The iteration space has at most `most` points. false: the
 * mapping has no parameters for that. */
bool nst_points_draw(nst_point *out, size_t n, const nst_draft *d, const nst_draft_mapping *m, int64_t most,
                     nst_random *r);
/* Whether a tile of the mapping does not divide what it cuts. */
bool nst_point_is_imperfect(const nst_draft *d, const nst_draft_mapping *m, const int64_t *params);
/* Whether a value is larger than its default. */
bool nst_point_is_beyond(const nst_draft_mapping *m, const int64_t *params);
#endif
