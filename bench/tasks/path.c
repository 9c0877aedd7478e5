/* Walks the first mapping of a draft down to a keep. */
#include "bench/tasks/path.h"

nst_draft_path nst_draft_path_of(const nst_draft *d, int tensor) {
  const nst_draft_mapping *m = &d->mappings[0];
  const int middle = nst_draft_next_memory(d, 0);
  nst_draft_path p = {.branch = -1};
  int shared = 0;
  for (int i = 0; i < m->nnodes; i++) {
    const nst_draft_node *node = &m->nodes[i];
    if (node->kind == NST_NODE_FOR) p.loops[p.n++] = node;
    if (node->kind == NST_NODE_SEQ) shared = p.n;
    if (node->kind == NST_NODE_DO) p.n = p.above = shared, p.branch++;
    if (node->kind == NST_NODE_KEEP && node->level == middle && node->tensors != ~0u && node->tensors >> tensor & 1)
      return p.found = true, p;
  }
  return p;
}

const nst_draft_node *nst_draft_path_loop(const nst_draft_path *path, int dim) {
  for (int i = 0; i < path->n; i++)
    if (path->loops[i]->dim == dim) return path->loops[i];
  return NULL;
}
