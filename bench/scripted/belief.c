/* Misconceptions as changes to a draft, and the numbers that follow from them.
 *
 * Who thinks in boxes sees each access as a box of its main dimensions, each tile full, an intermediate as one box that
 * is held whole, and a memory as room for one box of each tensor, never for two. Who does not see reuse finds the order
 * of loops immaterial and writes them as the dimensions are declared; statements share nothing, so that intermediates
 * go through the outermost memory; and instances of an array share nothing either. */
#include "bench/scripted/belief.h"

#include <string.h>

/* ---- boxes ---------------------------------------------------------------- */

static unsigned used_elsewhere(const nst_draft *d, int tensor) {
  unsigned dims = 0;
  for (int t = 0; t < d->ntensors; t++)
    if (t != tensor) dims |= nst_draft_tensor_dims(d, t);
  return dims;
}

/* No window, stride, dilation or padding. A window whose dimension nothing else has keeps it, as the loop over it is
 * there. */
static void box_tensors(nst_draft *d) {
  for (int t = 0; t < d->ntensors; t++) {
    const unsigned others = used_elsewhere(d, t);
    for (int k = 0; k < d->tensors[t].nranks; k++) {
      nst_draft_rank *rank = &d->tensors[t].ranks[k];
      if (rank->dim[1] >= 0 && others >> rank->dim[1] & 1) rank->dim[1] = -1, rank->coef[1] = 0;
      rank->coef[0] = 1;
      if (rank->dim[1] >= 0) rank->coef[1] = 1;
      rank->offset = rank->shape = 0;
    }
    d->tensors[t].shaped = false;
  }
}

/* The outermost loop over a dimension has full tiles: the dimension grows to hold them. */
static void fill_tiles(nst_draft *d, nst_draft_mapping *m) {
  for (int dim = 0; dim < d->ndims; dim++) {
    const nst_draft_node *loop = NULL;
    for (int i = 0; i < m->nnodes && !loop; i++)
      if (m->nodes[i].kind == NST_NODE_FOR && m->nodes[i].dim == dim) loop = &m->nodes[i];
    if (!loop) continue;
    const int64_t extent = nst_draft_extent(d, m, dim, NULL), t = nst_draft_tile_value(m, loop->tile, NULL);
    if (t <= 0) continue;
    const int64_t tile = loop->into ? (extent + t - 1) / t : t,
                  full = loop->into ? tile * t : (extent + tile - 1) / tile * tile;
    d->dims[dim].extent = full;
    for (int p = 0; p < m->nparams; p++)
      if (m->params[p].role == NST_ROLE_SIZE && m->params[p].dim == dim) m->params[p].value = full;
  }
}

/* Spread over an array as the full tile in sight is, not as any may have to be. */
static void fix_pars(const nst_draft *d, nst_draft_mapping *m) {
  int64_t extent[NST_DRAFT_DIMS], above[NST_DRAFT_DIMS];
  for (int dim = 0; dim < d->ndims; dim++) extent[dim] = above[dim] = nst_draft_extent(d, m, dim, NULL);
  for (int i = 0; i < m->nnodes; i++) {
    nst_draft_node *node = &m->nodes[i];
    if (node->kind == NST_NODE_SEQ) memcpy(above, extent, sizeof above);
    if (node->kind == NST_NODE_DO) memcpy(extent, above, sizeof extent);
    if (node->kind != NST_NODE_FOR && node->kind != NST_NODE_PAR) continue;
    int64_t *e = &extent[node->dim], t = nst_draft_tile_value(m, node->tile, NULL);
    if (node->kind == NST_NODE_PAR && !t) {
      const int64_t places = d->levels[node->level].places[node->axis];
      t = (*e + places - 1) / places;
      if (!*d->levels[node->level].places_param[node->axis]) node->tile.value = t;
    } else if (node->into && t > 0)
      t = (*e + t - 1) / t;
    if (t > 0 && t < *e) *e = t;
  }
}

static void hold_one(nst_draft *d) {
  for (int l = 0; l < d->nlevels; l++) d->levels[l].double_buffered = false;
}

static unsigned intermediates(const nst_draft *d) {
  unsigned set = 0;
  for (int t = 0; t < d->ntensors; t++) set |= d->tensors[t].producer >= 0 && d->tensors[t].consumed ? 1u << t : 0;
  return set;
}

/* An intermediate is one box, held whole: its keep stands above all loops. */
static void hold_intermediates(const nst_draft *d, nst_draft_mapping *m) {
  const nst_draft_mapping old = *m;
  const int middle = nst_draft_next_memory(d, 0);
  const unsigned between = intermediates(d);
  bool inside = false, held = false;
  if (!between) return;
  m->nnodes = 0;
  for (int i = 0; i < old.nnodes && m->nnodes + 1 < NST_DRAFT_NODES; i++) {
    nst_draft_node node = old.nodes[i];
    const bool keep = node.kind == NST_NODE_KEEP;
    inside = inside || node.kind == NST_NODE_SEQ;
    if (!inside && keep && node.level == middle && node.tensors != ~0u) node.tensors &= ~between;
    if (!held && !(keep && node.level == 0)) {
      m->nodes[m->nnodes++] = (nst_draft_node){
        .kind = NST_NODE_KEEP, .dim = -1, .tile = {-1, 0}, .level = middle, .axis = -1, .tensors = between};
      held = true;
    }
    if (!keep || node.tensors) m->nodes[m->nnodes++] = node;
  }
}

/* ---- no reuse ------------------------------------------------------------- */

static void sort_loops(nst_draft_node **loops, int n) {
  for (int i = 1; i < n; i++)
    for (int j = i; j > 0 && loops[j - 1]->dim > loops[j]->dim; j--) {
      const nst_draft_node keep = *loops[j];
      *loops[j] = *loops[j - 1];
      *loops[j - 1] = keep;
    }
}

/* The loops of the outer block, and all that stand directly inside each other, in the order of declaration. */
static void order_loops(nst_draft_mapping *m) {
  int nodes[NST_DRAFT_NODES];
  nst_draft_node *loops[NST_DRAFT_NODES];
  const int n = nst_draft_block(m, nodes);
  for (int i = 0; i < n; i++) loops[i] = &m->nodes[nodes[i]];
  sort_loops(loops, n);
  for (int i = 0; i < m->nnodes; i++) {
    int run = 0;
    while (i + run < m->nnodes && m->nodes[i + run].kind == NST_NODE_FOR && m->nodes[i + run].tile.param < 0)
      loops[run] = &m->nodes[i + run], run++;
    sort_loops(loops, run);
    if (run) i += run - 1;
  }
}

static unsigned accessed(const nst_draft_statement *s) {
  unsigned set = 1u << s->out;
  for (int i = 0; i < s->ninputs; i++) set |= 1u << s->inputs[i];
  return set;
}

/* Intermediates are kept by each branch for itself, at its own place for such things. */
static void spill(const nst_draft *d, nst_draft_mapping *m) {
  const nst_draft_mapping old = *m;
  const int middle = nst_draft_next_memory(d, 0);
  unsigned between = 0, owed = 0;
  for (int t = 0; t < d->ntensors; t++) between |= d->tensors[t].producer >= 0 && d->tensors[t].consumed ? 1u << t : 0;
  bool inside = false;
  m->nnodes = 0;
  for (int i = 0; i < old.nnodes && m->nnodes + 1 < NST_DRAFT_NODES; i++) {
    nst_draft_node node = old.nodes[i];
    const bool keep = node.kind == NST_NODE_KEEP && node.level == middle && node.tensors != ~0u;
    inside = inside || node.kind == NST_NODE_SEQ;
    if (!inside && keep) node.tensors &= ~between;
    if (keep && !node.tensors) continue;
    if (node.kind == NST_NODE_DO)
      owed = accessed(&d->statements[__builtin_ctz(node.statements)]) & between;
    else if (owed && inside && keep)
      node.tensors |= owed, owed = 0;
    else if (owed && inside && !(node.kind == NST_NODE_FOR && node.tile.param >= 0)) {
      m->nodes[m->nnodes++] = (nst_draft_node){
        .kind = NST_NODE_KEEP, .dim = -1, .tile = {-1, 0}, .level = middle, .axis = -1, .tensors = owed};
      owed = 0;
    }
    m->nodes[m->nnodes++] = node;
  }
}

/* ---- both ----------------------------------------------------------------- */

void nst_belief_write(nst_draft *d, nst_belief belief) {
  switch (belief) {
  case NST_BELIEF_RIGHT: return;
  case NST_BELIEF_NO_REUSE:
    for (int m = 0; m < d->nmappings; m++) {
      if (nst_draft_is_cascade(d)) spill(d, &d->mappings[m]);
      order_loops(&d->mappings[m]);
    }
    for (int l = 0; l < d->nlevels; l++)
      if (d->levels[l].kind == NST_DRAFT_ARRAY) d->levels[l].no_multicast = true;
    return;
  case NST_BELIEF_BOXES:
    for (int m = 0; m < d->nmappings; m++) {
      fix_pars(d, &d->mappings[m]);
      hold_intermediates(d, &d->mappings[m]);
    }
    hold_one(d);
    box_tensors(d);
    return;
  }
}

void nst_belief_count(nst_draft *d, int m, nst_belief belief) {
  switch (belief) {
  case NST_BELIEF_RIGHT: return;
  case NST_BELIEF_NO_REUSE:
    if (nst_draft_is_cascade(d)) spill(d, &d->mappings[m]);
    return;
  case NST_BELIEF_BOXES:
    hold_one(d);
    box_tensors(d);
    hold_intermediates(d, &d->mappings[m]);
    fill_tiles(d, &d->mappings[m]);
    return;
  }
}

bool nst_belief_values(int64_t values[NST_DRAFT_QUANTITIES], bool *fits, const nst_draft *draft, int m,
                       nst_belief belief) {
  nst_draft d = *draft;
  nst_belief_count(&d, m, belief);
  nestor_buffer *text = nestor_buffer_new();
  nst_draft_write_workload(&d, text);
  nst_draft_write_hardware(&d, text);
  nst_draft_write_mapping(&d, m, "ans", text);
  nestor_session *session = nestor_session_new();
  nestor_session_set_stdlib(session, false);
  nestor_program *program =
    nestor_program_new(session, "belief", nestor_buffer_data(text), nestor_buffer_size(text), NESTOR_STAGE_CHECK);
  nestor_eval *eval = nestor_eval_new(program, nestor_program_find(program, "ans"));
  const bool good = eval && nestor_eval_run(eval, NESTOR_ENGINE_ANALYSIS, NULL) == NESTOR_OK;
  for (int i = 0; i < d.nquantities && good; i++) values[i] = nst_quantity_value(&d.quantities[i], eval);
  *fits = good && nestor_eval_metrics(eval).fits;
  if (good && belief == NST_BELIEF_NO_REUSE) nst_belief_reload(values, &d, m, eval);
  nestor_eval_free(eval);
  nestor_program_free(program);
  nestor_session_free(session);
  nestor_buffer_free(text);
  return good;
}
