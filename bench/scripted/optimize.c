/* Searching as a weak model does: tile after tile, by its own numbers. Who sees no reuse does not look at orders; who
 * thinks in boxes tries them once the tiles stand. */
#include "bench/scripted/belief.h"

#include <stdint.h>

enum { ROUNDS = 2, MOST_TILES = 12, MOST_ORDERS = 24 };

/* The objective as it is believed; a mapping that is thought not to fit is worse than any that does. */
static int64_t cost(const nst_draft *d, nst_belief belief) {
  int64_t values[NST_DRAFT_QUANTITIES];
  bool fits;
  if (!nst_belief_values(values, &fits, d, 0, belief) || !fits) return INT64_MAX;
  return values[0];
}

/* Tiles that are tried for a parameter: divisors, and where any is allowed some between. */
static int candidates(int64_t out[MOST_TILES], const nst_draft *d, const nst_draft_param *p) {
  const int64_t extent = d->dims[p->dim].extent;
  int n = 0;
  for (int64_t t = 1; t <= extent && n < MOST_TILES; t++)
    if (extent % t == 0) out[n++] = t;
  for (int64_t k = 2; d->any_tile && k <= 4 && n < MOST_TILES; k++) out[n++] = (extent + k - 1) / k;
  return n;
}

static void search_tiles(nst_draft *d, nst_belief belief) {
  nst_draft_mapping *m = &d->mappings[0];
  for (int p = 0; p < m->nparams; p++) m->params[p].value = 1;
  int64_t best = cost(d, belief);
  for (int round = 0; round < ROUNDS; round++)
    for (int p = 0; p < m->nparams; p++) {
      int64_t tiles[MOST_TILES], keep = m->params[p].value;
      const int n = candidates(tiles, d, &m->params[p]);
      for (int i = 0; i < n; i++) {
        m->params[p].value = tiles[i];
        const int64_t c = cost(d, belief);
        if (c < best || (c == best && c < INT64_MAX && tiles[i] > keep)) best = c, keep = tiles[i];
      }
      m->params[p].value = keep;
    }
}

/* The next permutation in lexical order; false: there is none. */
static bool next_order(int *order, int n) {
  int i = n - 1, j = n - 1;
  while (i > 0 && order[i - 1] >= order[i]) i--;
  if (i <= 0) return false;
  while (order[j] <= order[i - 1]) j--;
  const int pivot = order[i - 1];
  order[i - 1] = order[j];
  order[j] = pivot;
  for (j = n - 1; i < j; i++, j--) {
    const int keep = order[i];
    order[i] = order[j];
    order[j] = keep;
  }
  return true;
}

static void search_orders(nst_draft *d, nst_belief belief) {
  nst_draft_mapping *m = &d->mappings[0], found = *m;
  int nodes[NST_DRAFT_NODES], order[NST_DRAFT_NODES];
  const int n = nst_draft_block(m, nodes);
  const nst_draft_mapping old = *m;
  int64_t best = INT64_MAX;
  for (int i = 0; i < n; i++) order[i] = i;
  for (int tried = 0; tried < MOST_ORDERS; tried++) {
    for (int i = 0; i < n; i++) m->nodes[nodes[i]] = old.nodes[nodes[order[i]]];
    const int64_t c = cost(d, belief);
    if (c < best) best = c, found = *m;
    if (!next_order(order, n)) break;
  }
  *m = found;
}

void nst_belief_optimize(nst_draft *d, nst_belief belief) {
  if (belief == NST_BELIEF_NO_REUSE) nst_belief_write(d, belief);
  search_tiles(d, belief);
  if (belief == NST_BELIEF_NO_REUSE) return;
  search_orders(d, belief);
  search_tiles(d, belief);
  search_orders(d, belief);
}
