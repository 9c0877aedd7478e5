/* Drawing hidden points. Orders of loops and places of keeps show where loops take several steps, and some only where
 * one further in does not: at the first points all do, then all but one, from the innermost. The others have tiles of
 * 1, of the whole and beyond it. */
#include "bench/tasks/points.h"

enum { SEVERAL = 2, ALL_BUT_ONE = 3 };

bool nst_point_is_imperfect(const nst_draft *d, const nst_draft_mapping *m, const int64_t *params) {
  for (int p = 0; p < m->nparams; p++) {
    if (m->params[p].role != NST_ROLE_TILE && m->params[p].role != NST_ROLE_TILES) continue;
    const int64_t extent = nst_draft_extent(d, m, m->params[p].dim, params);
    int64_t tile = params[p];
    if (m->params[p].role == NST_ROLE_TILES) tile = (extent + tile - 1) / tile;
    if (tile < extent && extent % tile) return true;
  }
  return false;
}

bool nst_point_is_beyond(const nst_draft_mapping *m, const int64_t *params) {
  for (int p = 0; p < m->nparams; p++)
    if (params[p] > m->params[p].value) return true;
  return false;
}

/* several: less than the extent where that can be, so that the loop takes several steps. */
static int64_t draw_tile(int64_t extent, bool several, nst_random *r) {
  if (several) return extent > 1 ? nst_random_between(r, 1, extent - 1) : 1;
  const uint64_t what = nst_random_below(r, 100);
  if (what < 12) return 1;
  if (what < 24) return extent;
  if (what < 34) return extent + nst_random_between(r, 1, extent);
  return nst_random_between(r, 1, extent);
}

/* The parameter of the i-th loop from inside, round and round; -1: there is none. */
static int loop_from_inside(const nst_draft_mapping *m, size_t i) {
  int loops[NST_DRAFT_PARAMS];
  size_t n = 0;
  for (int p = m->nparams; p-- > 0;)
    if (m->params[p].role == NST_ROLE_TILE || m->params[p].role == NST_ROLE_TILES) loops[n++] = p;
  return n ? loops[i % n] : -1;
}

/* number: of the hidden points, from 0. */
static void draw(nst_point *out, const nst_draft *d, const nst_draft_mapping *m, int64_t most, size_t number,
                 nst_random *r) {
  int64_t *v = out->values;
  const bool several = number < SEVERAL + ALL_BUT_ONE;
  const int whole = several && number >= SEVERAL ? loop_from_inside(m, number - SEVERAL) : -1;
  for (int p = 0; p < m->nparams; p++) {
    const nst_draft_param *q = &m->params[p];
    const bool filter = q->role == NST_ROLE_SIZE && d->dims[q->dim].kind == NST_DIM_FILTER;
    if (q->role == NST_ROLE_SIZE)
      v[p] = nst_random_between(r, several && q->value > 1 ? 2 : 1, filter ? 5 : 2 * q->value);
    else if (q->role == NST_ROLE_MACHINE)
      v[p] = nst_random_between(r, 1, 2 * q->value + 1);
    else
      v[p] = q->value;
  }
  while (nst_draft_operations(d, m, v) > most) { /* the largest size shrinks */
    int largest = -1;
    for (int p = 0; p < m->nparams; p++)
      if (m->params[p].role == NST_ROLE_SIZE && (largest < 0 || v[p] > v[largest])) largest = p;
    if (largest < 0 || v[largest] == 1) break;
    v[largest] -= 1 + v[largest] / 4;
  }
  for (int p = 0; p < m->nparams; p++) {
    if (m->params[p].role != NST_ROLE_TILE && m->params[p].role != NST_ROLE_TILES) continue;
    const int64_t extent = nst_draft_extent(d, m, m->params[p].dim, v);
    v[p] = p == whole ? extent : draw_tile(extent, several, r);
    if (several && m->params[p].role == NST_ROLE_TILES) v[p] = (extent + v[p] - 1) / v[p];
  }
}

bool nst_points_draw(nst_point *out, size_t n, const nst_draft *d, const nst_draft_mapping *m, int64_t most,
                     nst_random *r) {
  for (int p = 0; p < m->nparams; p++) out[0].values[p] = m->params[p].value;
  for (int tries = 0; tries < 20; tries++) {
    bool imperfect = false, beyond = false;
    for (size_t i = 1; i < n; i++) {
      draw(&out[i], d, m, most, i - 1, r);
      imperfect |= nst_point_is_imperfect(d, m, out[i].values);
      beyond |= nst_point_is_beyond(m, out[i].values);
    }
    if (imperfect && beyond) return true;
  }
  return false;
}
