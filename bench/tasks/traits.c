/* Seeing the traits of a draft: workload and hardware are looked at, mappings are walked path by path at the values
 * shown. */
#include "bench/tasks/traits.h"

typedef enum { PART_WORKLOAD = 1, PART_HARDWARE = 2, PART_MAPPING = 4 } part;
static const struct {
  const char *name, *what;
  int level;
  part part;
} traits[] = {
#define NST_TRAIT(id, name, level, part, what) {name, what, level, PART_##part},
#include "bench/tasks/traits.def"
#undef NST_TRAIT
};
#define BIT(id) (1u << NST_TRAIT_##id)

const char *nst_trait_name(nst_trait trait) { return traits[trait].name; }
const char *nst_trait_what(nst_trait trait) { return traits[trait].what; }
int nst_trait_level(nst_trait trait) { return traits[trait].level; }

static unsigned parts_shown(nst_kind target) {
  if (target == NST_KIND_GEN_WORKLOAD) return PART_WORKLOAD;
  return target == NST_KIND_GEN_HARDWARE ? PART_HARDWARE : PART_WORKLOAD | PART_HARDWARE | PART_MAPPING;
}

unsigned nst_traits_raising(nst_kind kind, nst_kind target, int level) {
  unsigned set = 0;
  for (int t = 0; t < NST_TRAIT_COUNT; t++)
    if (traits[t].level == level && traits[t].part & parts_shown(target)) set |= 1u << t;
  if (kind == NST_KIND_GEN_MODEL) set &= ~(BIT(MEMORIES) | BIT(ARRAY) | BIT(GRID) | BIT(DEEP) | BIT(IMPERFECT));
  if (kind == NST_KIND_GEN_OPTIMIZE) set &= ~BIT(UNEVEN);
  return set;
}

unsigned nst_traits_allowed(const nst_draft *d) {
  unsigned set = 0;
  for (int t = 0; t < NST_TRAIT_COUNT; t++) {
    const bool shown = traits[t].part & parts_shown(d->target);
    if (traits[t].level < d->level || t == d->raises || (!shown && traits[t].level == d->level)) set |= 1u << t;
  }
  return set;
}

/* ---- workload and hardware ------------------------------------------------ */

static unsigned of_workload(const nst_draft *d) {
  unsigned set =
    (d->ndims > 3 ? BIT(DIMS) : 0) | (d->nstatements > 1 ? BIT(CASCADE) : 0) | (d->nstatements > 2 ? BIT(CHAIN) : 0);
  for (int t = 0; t < d->ntensors; t++)
    for (int k = 0; k < d->tensors[t].nranks; k++) {
      const nst_draft_rank *rank = &d->tensors[t].ranks[k];
      if (rank->dim[1] >= 0) set |= BIT(HALO);
      if (rank->coef[0] > 1 || rank->coef[1] > 1 || rank->offset) set |= BIT(STRIDE);
    }
  return set;
}

static unsigned of_hardware(const nst_draft *d) {
  unsigned set = 0;
  int memories = 0;
  for (int l = 0; l < d->nlevels; l++) {
    const nst_draft_level *level = &d->levels[l];
    memories += level->kind == NST_DRAFT_MEMORY;
    if (level->kind != NST_DRAFT_ARRAY) continue;
    set |= BIT(ARRAY);
    if (level->naxes > 1 || level->no_multicast || level->no_reduce) set |= BIT(GRID);
  }
  return set | (memories > 2 ? BIT(MEMORIES) : 0) | (memories > 3 ? BIT(DEEP) : 0);
}

/* ---- mappings ------------------------------------------------------------- */

typedef struct {
  const nst_draft *d;
  const nst_draft_mapping *m;
  int64_t extents[NST_DRAFT_DIMS]; /* of what is left */
  int dims[NST_DRAFT_NODES];       /* of the loops down to here that take several steps */
  int n, above;                    /* so many; of them above the branch */
  int cuts;                        /* loops and pars down to here */
  unsigned kept[NST_DRAFT_LEVELS];
  int kept_at[NST_DRAFT_LEVELS]; /* cuts at the last keep of the level, -1: there was none */
  int statement;
  bool in_branch;
  unsigned found;
} walk;

static int64_t ceildiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

static void cut(walk *w, const nst_draft_node *node, int64_t tile, bool in_time) {
  int64_t *extent = &w->extents[node->dim];
  w->cuts++;
  if (tile >= *extent) return;
  if (*extent % tile) w->found |= BIT(IMPERFECT);
  if (in_time) w->dims[w->n++] = node->dim;
  *extent = tile;
}

static void loop(walk *w, const nst_draft_node *node) {
  const int64_t value = nst_draft_tile_value(w->m, node->tile, NULL);
  if (w->in_branch && node->tile.param >= 0) w->found |= BIT(BRANCHES);
  cut(w, node, node->into ? ceildiv(w->extents[node->dim], value) : value, true);
}

static void spread(walk *w, const nst_draft_node *node) {
  const int64_t places = w->d->levels[node->level].places[node->axis];
  cut(w, node, node->tile.value ? node->tile.value : ceildiv(w->extents[node->dim], places), false);
}

/* Whether a tensor is loaded again by some loops that are not over it, and left in place by others. */
static bool is_partial(const walk *w, int tensor) {
  const unsigned own = nst_draft_tensor_dims(w->d, tensor);
  bool changes = false, again = false, left = false;
  for (int i = w->n; i-- > 0;) {
    if (own >> w->dims[i] & 1)
      changes = true;
    else if (changes || i < w->above)
      again = true;
    else
      left = true;
  }
  return again && left;
}

static void keep(walk *w, const nst_draft_node *node) {
  for (int t = 0; t < w->d->ntensors; t++)
    if (node->tensors >> t & 1 && is_partial(w, t)) w->found |= BIT(ORDERS);
  if (w->kept_at[node->level] >= 0 && w->kept_at[node->level] != w->cuts) w->found |= BIT(UNEVEN);
  w->kept_at[node->level] = w->cuts;
  w->kept[node->level] |= node->tensors;
}

static void compute(walk *w) {
  const nst_draft_statement *s = &w->d->statements[w->statement];
  unsigned tensors = 1u << s->out;
  for (int i = 0; i < s->ninputs; i++) tensors |= 1u << s->inputs[i];
  for (int l = 1; l < w->d->nlevels; l++)
    if (w->d->levels[l].kind == NST_DRAFT_MEMORY && tensors & ~w->kept[l]) w->found |= BIT(BYPASS);
}

static unsigned of_mapping(const nst_draft *d, const nst_draft_mapping *m) {
  walk w = {.d = d, .m = m}, above;
  for (int i = 0; i < d->ndims; i++) w.extents[i] = nst_draft_extent(d, m, i, NULL);
  for (int l = 0; l < NST_DRAFT_LEVELS; l++) w.kept_at[l] = -1;
  above = w;
  for (int i = 0; i < m->nnodes; i++) {
    const nst_draft_node *node = &m->nodes[i];
    switch (node->kind) {
    case NST_NODE_FOR: loop(&w, node); break;
    case NST_NODE_PAR: spread(&w, node); break;
    case NST_NODE_KEEP: keep(&w, node); break;
    case NST_NODE_SEQ: above = w; break;
    case NST_NODE_DO:
      above.found |= w.found;
      w = above;
      w.above = w.n;
      w.in_branch = true;
      w.statement = __builtin_ctz(node->statements);
      break;
    case NST_NODE_END: break;
    case NST_NODE_COMPUTE: compute(&w); break;
    }
  }
  return w.found;
}

/* Of an optimum, tiles and the order of the outer block are what is looked for: what the space has. */
static unsigned of_space(const nst_draft *d) {
  const nst_draft_mapping *m = &d->mappings[0];
  int nodes[NST_DRAFT_NODES];
  const int n = nst_draft_block(m, nodes);
  unsigned set = of_mapping(d, m) & ~(BIT(ORDERS) | BIT(IMPERFECT));
  if (d->any_tile) set |= BIT(IMPERFECT);
  for (int t = 0; t < d->ntensors; t++) {
    int own = 0;
    for (int i = 0; i < n; i++) own += (nst_draft_tensor_dims(d, t) >> m->nodes[nodes[i]].dim & 1) != 0;
    if (own && n - own > 1) set |= BIT(ORDERS);
  }
  return set;
}

unsigned nst_traits_of(const nst_draft *d) {
  const unsigned parts = parts_shown(d->target);
  unsigned set = (parts & PART_WORKLOAD ? of_workload(d) : 0) | (parts & PART_HARDWARE ? of_hardware(d) : 0);
  if (!(parts & PART_MAPPING)) return set;
  if (d->kind == NST_KIND_GEN_OPTIMIZE) return set | of_space(d);
  for (int m = 0; m < d->nmappings; m++) set |= of_mapping(d, &d->mappings[m]);
  return set;
}

static bool has_par(const nst_draft_mapping *m) {
  for (int i = 0; i < m->nnodes; i++)
    if (m->nodes[i].kind == NST_NODE_PAR) return true;
  return false;
}

bool nst_traits_fit(const nst_draft *d) {
  const unsigned set = nst_traits_of(d);
  if (set & ~nst_traits_allowed(d)) return false;
  if (d->raises < 0) return true;
  const bool array = d->raises == NST_TRAIT_ARRAY || d->raises == NST_TRAIT_GRID;
  if (array && parts_shown(d->target) & PART_MAPPING && !has_par(&d->mappings[0])) return false;
  return set >> d->raises & 1;
}
