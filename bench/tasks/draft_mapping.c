/* Mappings of drafts.
 *
 * A mapping of one statement is: everything in the outermost memory, a block of loops, keeps in the middle memory (not
 * all behind the same loop where keeps may be uneven), then the array's pars, a few inner loops and the innermost
 * memory. A mapping of a cascade has its block over the dimensions that all statements share and none reduces on the
 * way, the intermediates kept below it, and a branch for each statement with a nest of its own. A dimension has at most
 * one loop above the keeps of the middle memory, so that its counts of the outermost memory have closed forms. */
#include "bench/tasks/draft.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  const nst_draft *d;
  nst_draft_mapping *m;
  nst_random *r;
  bool imperfect;                  /* a tile that does not divide is still owed */
  int64_t extents[NST_DRAFT_DIMS]; /* of what is left, as the defaults have it */
} maker;

static nst_draft_node *add(maker *k, nst_node_kind kind) {
  nst_draft_node *node = &k->m->nodes[k->m->nnodes++];
  *node = (nst_draft_node){.kind = kind, .dim = -1, .tile = {-1, 0}, .level = -1, .axis = -1};
  return node;
}

static void add_keep(maker *k, unsigned tensors, int level) {
  if (!tensors) return;
  nst_draft_node *node = add(k, NST_NODE_KEEP);
  node->tensors = tensors;
  node->level = level;
}

static int add_param(maker *k, const char *name, int64_t value, nst_draft_role role, int dim) {
  nst_draft_param *p = &k->m->params[k->m->nparams];
  *p = (nst_draft_param){.value = value, .role = role, .dim = dim};
  snprintf(p->name, sizeof p->name, "%s", name);
  return k->m->nparams++;
}

/* ---- tiles ---------------------------------------------------------------- */

static int64_t divisor(int64_t extent, nst_random *r) {
  int64_t found[16], n = 0;
  for (int64_t t = 2; t < extent && n < 16; t++)
    if (extent % t == 0) found[n++] = t;
  if (!n) return 1;
  return found[nst_random_below(r, (uint64_t)n)];
}

static int64_t no_divisor(int64_t extent, nst_random *r) {
  int64_t found[64], n = 0;
  for (int64_t t = 2; t < extent && n < 64; t++)
    if (extent % t != 0) found[n++] = t;
  return n ? found[nst_random_below(r, (uint64_t)n)] : 0;
}

static bool may(const maker *k, nst_trait trait) { return nst_draft_may(k->d, trait); }

/* The tile of a loop over an extent. */
static int64_t draw_tile(maker *k, int64_t extent) {
  if (may(k, NST_TRAIT_IMPERFECT) && (k->imperfect || nst_random_chance(k->r, 65))) {
    const int64_t t = no_divisor(extent, k->r);
    if (t) return k->imperfect = false, t;
  }
  return divisor(extent, k->r);
}

/* The tile, in numbers, of a loop within tiles. Those of an optimum are not known yet. */
static int64_t draw_small_tile(maker *k, int dim) {
  if (may(k, NST_TRAIT_IMPERFECT)) return nst_random_between(k->r, 1, 3);
  int64_t found[3], n = 0;
  for (int64_t t = 1; t <= 3; t++)
    if (k->extents[dim] % t == 0) found[n++] = t;
  return k->d->kind == NST_KIND_GEN_OPTIMIZE ? 1 : found[nst_random_below(k->r, (uint64_t)n)];
}

static void cut(maker *k, int dim, int64_t tile) {
  if (tile < k->extents[dim]) k->extents[dim] = tile;
}

/* for dim by a parameter called t<dim>, with `suffix`. */
static void add_loop(maker *k, int dim, const char *suffix) {
  const int64_t extent = k->d->dims[dim].extent;
  const int64_t t = draw_tile(k, extent);
  nst_draft_node *node = add(k, NST_NODE_FOR);
  node->dim = dim;
  node->into = k->d->kind != NST_KIND_GEN_MODEL && k->d->kind != NST_KIND_GEN_OPTIMIZE && nst_random_chance(k->r, 10);
  node->tile.value = node->into ? (extent + t - 1) / t : t;
  char name[NST_DRAFT_NAME];
  snprintf(name, sizeof name, "%s%.10s%.10s", node->into ? "n" : "t", k->d->dims[dim].name, suffix);
  node->tile.param = add_param(k, name, node->tile.value, node->into ? NST_ROLE_TILES : NST_ROLE_TILE, dim);
  cut(k, dim, node->into ? (extent + node->tile.value - 1) / node->tile.value : t);
}

/* Some of a set, in random order. */
static int draw_dims(int out[NST_DRAFT_DIMS], unsigned set, int most, nst_random *r) {
  int n = 0;
  for (int i = 0; i < NST_DRAFT_DIMS; i++)
    if (set >> i & 1) out[n++] = i;
  nst_random_shuffle(r, out, (size_t)n, sizeof *out);
  return n < most ? n : most;
}

static unsigned filters(const nst_draft *d) {
  unsigned set = 0;
  for (int i = 0; i < d->ndims; i++)
    if (d->dims[i].kind == NST_DIM_FILTER) set |= 1u << i;
  return set;
}

static unsigned subset(unsigned set, unsigned percent, nst_random *r) {
  unsigned out = 0;
  for (int i = 0; i < NST_DRAFT_TENSORS; i++)
    if (set >> i & 1 && nst_random_chance(r, percent)) out |= 1u << i;
  return out;
}

/* ---- below the middle memory ---------------------------------------------- */

/* Dimensions that places of an axis can be given in equal parts; of an optimum, those without a tile that is looked
 * for. */
static unsigned even_dims(const maker *k, unsigned set, int64_t places) {
  if (may(k, NST_TRAIT_IMPERFECT)) return set;
  unsigned out = 0;
  for (int i = 0; i < k->d->ndims; i++) {
    const int64_t extent = k->extents[i], part = (extent + places - 1) / places;
    const bool open = k->d->kind == NST_KIND_GEN_OPTIMIZE && extent != k->d->dims[i].extent;
    if (set >> i & 1 && extent % part == 0 && !open) out |= 1u << i;
  }
  return out;
}

static void add_pars(maker *k, const nst_draft_statement *s, int array) {
  const nst_draft_level *level = &k->d->levels[array];
  unsigned may_be = s->dims & ~(level->no_reduce ? s->reduced : 0);
  for (int axis = 0; axis < level->naxes; axis++) {
    int order[NST_DRAFT_DIMS];
    if (!draw_dims(order, even_dims(k, may_be, level->places[axis]), 1, k->r)) continue;
    nst_draft_node *node = add(k, NST_NODE_PAR);
    node->dim = order[0];
    node->level = array;
    node->axis = axis;
    may_be &= ~(1u << order[0]);
    cut(k, order[0], (k->extents[order[0]] + level->places[axis] - 1) / level->places[axis]);
  }
}

/* Loops and a keep in a memory further in. */
static int add_memory(maker *k, const nst_draft_statement *s, unsigned tensors, int memory, int most) {
  int order[NST_DRAFT_DIMS];
  unsigned held = may(k, NST_TRAIT_BYPASS) ? subset(tensors, 60, k->r) : tensors;
  if (!held) held = tensors;
  const int n = draw_dims(order, s->dims & ~filters(k->d), most, k->r);
  for (int i = 0; i < n; i++) {
    nst_draft_node *node = add(k, NST_NODE_FOR);
    node->dim = order[i];
    node->tile.value = draw_small_tile(k, order[i]);
    cut(k, order[i], node->tile.value);
  }
  add_keep(k, held, memory);
  return n ? order[0] : -1;
}

/* Pars, loops and the innermost memory for one statement; tensors: those that it accesses. */
static void add_inside(maker *k, const nst_draft_statement *s, unsigned tensors) {
  const nst_draft *d = k->d;
  const int array = nst_draft_array(d), middle = nst_draft_next_memory(d, 0), inner = nst_draft_next_memory(d, middle);
  if (array >= 0) add_pars(k, s, array);
  if (inner < 0) return;
  const int first = add_memory(k, s, tensors, inner, 1 + (int)nst_random_below(k->r, 2)),
            innermost = nst_draft_next_memory(d, inner);
  if (innermost >= 0) add_memory(k, s, tensors, innermost, 1);
  if (nst_random_chance(k->r, 30) && first >= 0) { /* an order of the steps that is not that of declaration */
    nst_draft_node *node = add(k, NST_NODE_FOR);
    node->dim = first;
    node->tile.value = 1;
  }
}

static unsigned accessed(const nst_draft_statement *s) {
  unsigned set = 1u << s->out;
  for (int i = 0; i < s->ninputs; i++) set |= 1u << s->inputs[i];
  return set;
}

/* ---- one statement -------------------------------------------------------- */

static void make_plain(maker *k, int tiled) {
  const nst_draft *d = k->d;
  const nst_draft_statement *s = &d->statements[0];
  const unsigned all = accessed(s);
  const int middle = nst_draft_next_memory(d, 0);
  int order[NST_DRAFT_DIMS];
  const int n = draw_dims(order, s->dims & ~filters(d), tiled, k->r);
  unsigned kept = all, early = 0;
  const bool simple = d->kind == NST_KIND_GEN_OPTIMIZE;
  const bool bypass = d->raises == NST_TRAIT_BYPASS;
  if (may(k, NST_TRAIT_BYPASS) && s->ninputs > 1 && nst_random_chance(k->r, bypass ? 75 : 25))
    kept &= ~(1u << s->inputs[nst_random_below(k->r, (uint64_t)s->ninputs)]);
  if (may(k, NST_TRAIT_UNEVEN) && !simple && n > 1 && (d->raises == NST_TRAIT_UNEVEN || nst_random_chance(k->r, 55)))
    early = subset(kept, 40, k->r);
  const int split = n > 1 ? (int)nst_random_between(k->r, 1, n - 1) : 0; /* loops above the early keep */
  for (int i = 0; i < n; i++) {
    if (i == split && early && early != kept) add_keep(k, early, middle);
    add_loop(k, order[i], "");
  }
  add_keep(k, early == kept ? kept : kept & ~early, middle);
  add_inside(k, s, all);
  add(k, NST_NODE_COMPUTE);
}

/* ---- cascades ------------------------------------------------------------- */

static unsigned intermediates(const nst_draft *d) {
  unsigned set = 0;
  for (int t = 0; t < d->ntensors; t++)
    if (d->tensors[t].producer >= 0 && d->tensors[t].consumed) set |= 1u << t;
  return set;
}

/* Dimensions that every statement uses and no producer of an intermediate reduces. */
static unsigned shared_dims(const nst_draft *d) {
  unsigned set = ~0u, middle = intermediates(d);
  for (int s = 0; s < d->nstatements; s++) {
    set &= d->statements[s].dims;
    if (middle >> d->statements[s].out & 1) set &= ~d->statements[s].reduced;
  }
  return set;
}

/* Inputs that several statements read. */
static unsigned shared_inputs(const nst_draft *d) {
  unsigned once = 0, twice = 0;
  for (int s = 0; s < d->nstatements; s++)
    for (int i = 0; i < d->statements[s].ninputs; i++) {
      const unsigned bit = 1u << d->statements[s].inputs[i];
      twice |= once & bit;
      once |= bit;
    }
  return twice & ~intermediates(d);
}

static void make_branch(maker *k, int s, unsigned above) {
  const nst_draft *d = k->d;
  const nst_draft_statement *statement = &d->statements[s];
  const int middle = nst_draft_next_memory(d, 0);
  nst_draft_node *node = add(k, NST_NODE_DO);
  node->statements = 1u << s;
  const unsigned mine = accessed(statement) & ~above;
  int order[NST_DRAFT_DIMS];
  const bool tiled = may(k, NST_TRAIT_BRANCHES) && nst_random_chance(k->r, 80);
  const int n = mine && tiled ? draw_dims(order, statement->dims & ~shared_dims(d) & ~filters(d),
                                          1 + (int)nst_random_below(k->r, 2), k->r)
                              : 0;
  char suffix[12];
  snprintf(suffix, sizeof suffix, "%d", s + 1);
  for (int i = 0; i < n; i++) add_loop(k, order[i], suffix);
  add_keep(k, mine, middle);
  if (d->kind != NST_KIND_GEN_OPTIMIZE || nst_random_chance(k->r, 50)) add_inside(k, statement, accessed(statement));
  add(k, NST_NODE_COMPUTE);
  add(k, NST_NODE_END);
}

static void make_cascade(maker *k, int tiled) {
  const nst_draft *d = k->d;
  const int middle = nst_draft_next_memory(d, 0);
  const unsigned between = intermediates(d);
  unsigned above = between | shared_inputs(d);
  for (int t = 0; t < d->ntensors; t++) {
    const bool final = d->tensors[t].producer >= 0 && !d->tensors[t].consumed;
    if (!(above >> t & 1) && nst_random_chance(k->r, final ? 60 : 30)) above |= 1u << t;
  }
  int order[NST_DRAFT_DIMS];
  const int n = draw_dims(order, shared_dims(d) & ~filters(d), tiled, k->r);
  for (int i = 0; i < n; i++) add_loop(k, order[i], "");
  add_keep(k, above, middle);
  add(k, NST_NODE_SEQ);
  const maker before = *k;
  for (int s = 0; s < d->nstatements; s++) {
    memcpy(k->extents, before.extents, sizeof k->extents);
    make_branch(k, s, above);
  }
  add(k, NST_NODE_END);
}

/* Sizes that the mapping hands on: first among its parameters. */
static void open_sizes(maker *k) {
  const nst_draft *d = k->d;
  for (int i = 0; i < d->ndims; i++) add_param(k, d->dims[i].size, d->dims[i].extent, NST_ROLE_SIZE, i);
}

static void open_machine(maker *k) {
  for (int l = 0; l < k->d->nlevels; l++) {
    const nst_draft_level *level = &k->d->levels[l];
    if (*level->capacity_param) add_param(k, level->capacity_param, level->capacity / 1024, NST_ROLE_MACHINE, -1);
    for (int a = 0; a < level->naxes; a++)
      if (*level->places_param[a]) add_param(k, level->places_param[a], level->places[a], NST_ROLE_MACHINE, -1);
  }
}

void nst_draft_make_mapping(nst_draft *d, nst_draft_mapping *m, nst_random *r) {
  *m = (nst_draft_mapping){.nparams = 0};
  maker k = {.d = d, .m = m, .r = r, .imperfect = nst_draft_may(d, NST_TRAIT_IMPERFECT)};
  for (int i = 0; i < d->ndims; i++) k.extents[i] = d->dims[i].extent;
  strcpy(m->name, "ans");
  if (d->kind == NST_KIND_GEN_MODEL || d->target == NST_KIND_GEN_WORKLOAD ||
      (d->kind != NST_KIND_GEN_OPTIMIZE && nst_random_chance(r, 50)))
    open_sizes(&k);
  if (d->target == NST_KIND_GEN_HARDWARE) open_machine(&k);
  if (nst_random_chance(r, 75) || nst_draft_is_cascade(d)) add_keep(&k, ~0u, 0);
  const int tiled = d->raises == NST_TRAIT_ORDERS ? 3 : 2 + (int)nst_random_below(r, d->ndims > 3 ? 3 : 2);
  if (nst_draft_is_cascade(d))
    make_cascade(&k, tiled);
  else
    make_plain(&k, tiled);
}
