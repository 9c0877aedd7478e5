/* What is asked about a draft: the mappings to choose from, the figures to predict or to write closed forms of, the
 * space to search, the fault to find, the probes that exercise a workload or a machine. */
#include "bench/tasks/draft.h"

#include "bench/tasks/mutate.h"
#include "bench/tasks/naive.h"
#include "bench/tasks/traits.h"

#include <stdio.h>
#include <string.h>

static int middle(const nst_draft *d) { return nst_draft_next_memory(d, 0); }

/* Traits that show in time, and hardly in traffic. */
static bool is_hardware(int trait) {
  return trait == NST_TRAIT_MEMORIES || trait == NST_TRAIT_ARRAY || trait == NST_TRAIT_GRID || trait == NST_TRAIT_DEEP;
}

static void ask(nst_draft *d, nst_measure measure, int level, int tensor) {
  if (d->nquantities == NST_DRAFT_QUANTITIES) return;
  nst_draft_quantity q = {.measure = measure, .level = level, .tensor = tensor};
  static const char *const stems[] = {
#define NST_MEASURE(id, metric, args, unit, words) metric,
#include "bench/tasks/measures.def"
#undef NST_MEASURE
  };
  /* The outermost memory is understood; other levels are part of the name. */
  if (tensor >= 0 && level == 0)
    snprintf(q.name, sizeof q.name, "%s_%.16s", stems[measure], d->tensors[tensor].name);
  else if (tensor >= 0)
    snprintf(q.name, sizeof q.name, "%s_%.16s_%.16s", stems[measure], d->levels[level].name, d->tensors[tensor].name);
  else if (level >= 0)
    snprintf(q.name, sizeof q.name, "%s_%.16s", stems[measure], d->levels[level].name);
  else
    snprintf(q.name, sizeof q.name, "%s", stems[measure]);
  d->quantities[d->nquantities++] = q;
}

/* The tensors that some node keeps in a level. */
static unsigned kept(const nst_draft_mapping *m, int level) {
  unsigned set = 0;
  for (int i = 0; i < m->nnodes; i++)
    if (m->nodes[i].kind == NST_NODE_KEEP && m->nodes[i].level == level) set |= m->nodes[i].tensors;
  return set;
}

static bool is_input(const nst_draft *d, int t) { return d->tensors[t].producer < 0; }
static bool is_result(const nst_draft *d, int t) { return d->tensors[t].producer >= 0 && !d->tensors[t].consumed; }

/* ---- qa.predict, gen.model ------------------------------------------------ */

static void keep_first(nst_draft *d, int n, nst_random *r) {
  nst_random_shuffle(r, d->quantities, (size_t)d->nquantities, sizeof *d->quantities);
  if (d->nquantities > n) d->nquantities = n;
}

static void ask_prediction(nst_draft *d, nst_random *r) {
  const nst_draft_mapping *m = &d->mappings[0];
  const unsigned held = kept(m, middle(d));
  const int inner = nst_draft_next_memory(d, middle(d));
  /* At level 1, three of five are right also for who thinks that every loop loads everything again. */
  const bool easy = d->level == 1 && nst_random_chance(r, 60);
  for (int t = 0; t < d->ntensors; t++) {
    if (easy && nst_draft_reuses(d, m, t)) continue;
    if (is_input(d, t)) ask(d, NST_MEASURE_READS, 0, t);
    if (is_result(d, t)) ask(d, NST_MEASURE_UPDATES, 0, t);
  }
  const int most = d->level == 1 ? 1 + (int)nst_random_below(r, 2) : 2 + (int)nst_random_below(r, 2);
  if (d->nquantities)
    keep_first(d, most, r);
  else
    ask(d, NST_MEASURE_USAGE, middle(d), -1);
  if (d->level == 1) {
    if (nst_random_chance(r, 35) && d->nquantities < 3 && d->quantities[0].measure != NST_MEASURE_USAGE)
      ask(d, NST_MEASURE_USAGE, middle(d), -1);
    return;
  }
  ask(d, NST_MEASURE_USAGE, middle(d), -1);
  for (int t = 0; t < d->ntensors; t++) {
    if (is_result(d, t) && strcmp(d->statements[d->tensors[t].producer].op, "=") != 0) ask(d, NST_MEASURE_READS, 0, t);
    if (held >> t & 1 && nst_random_chance(r, 25)) ask(d, NST_MEASURE_FILLS, middle(d), t);
  }
  if (inner >= 0 && kept(m, inner) && nst_random_chance(r, 60)) ask(d, NST_MEASURE_USAGE, inner, -1);
  if (nst_random_chance(r, 50)) ask(d, NST_MEASURE_OFFCHIP, -1, -1);
  if (is_hardware(d->raises) || nst_random_chance(r, 40)) ask(d, NST_MEASURE_CYCLES, -1, -1);
  if (d->raises == NST_TRAIT_ARRAY || d->raises == NST_TRAIT_GRID || nst_random_chance(r, 30))
    ask(d, NST_MEASURE_TRAFFIC, middle(d), -1);
}

/* Whether some loop by a parameter is over a dimension that a tensor does not have. */
static bool repeats(const nst_draft *d, const nst_draft_mapping *m, int t) {
  for (int i = 0; i < m->nnodes; i++)
    if (m->nodes[i].kind == NST_NODE_FOR && m->nodes[i].tile.param >= 0 &&
        !(nst_draft_tensor_dims(d, t) >> m->nodes[i].dim & 1))
      return true;
  return false;
}

static void ask_model(nst_draft *d, nst_random *r) {
  const unsigned held = kept(&d->mappings[0], middle(d));
  for (int t = 0; t < d->ntensors; t++) {
    if (!(held >> t & 1)) continue;
    if (is_input(d, t)) ask(d, NST_MEASURE_READS, 0, t);
    if (!is_result(d, t)) continue;
    ask(d, NST_MEASURE_UPDATES, 0, t);
    if (d->level >= 2 && repeats(d, &d->mappings[0], t)) ask(d, NST_MEASURE_READS, 0, t);
  }
  keep_first(d, d->level == 1 ? 1 : 4, r);
  if (d->level >= 2 || nst_random_chance(r, 50)) ask(d, NST_MEASURE_USAGE, middle(d), -1);
}

/* ---- qa.compare ----------------------------------------------------------- */

static void shuffle_block(nst_draft_mapping *m, nst_random *r) {
  int nodes[NST_DRAFT_NODES];
  const int n = nst_draft_block(m, nodes);
  nst_draft_node loops[NST_DRAFT_NODES];
  for (int i = 0; i < n; i++) loops[i] = m->nodes[nodes[i]];
  nst_random_shuffle(r, loops, (size_t)n, sizeof *loops);
  for (int i = 0; i < n; i++) m->nodes[nodes[i]] = loops[i];
}

static void redraw_tiles(const nst_draft *d, nst_draft_mapping *m, nst_random *r) {
  for (int p = 0; p < m->nparams; p++) {
    nst_draft_param *q = &m->params[p];
    if (q->role == NST_ROLE_SIZE || q->role == NST_ROLE_MACHINE || !nst_random_chance(r, 70)) continue;
    const int64_t extent = nst_draft_extent(d, m, q->dim, NULL);
    int64_t t;
    do t = nst_random_between(r, 1, extent);
    while (!nst_draft_may(d, NST_TRAIT_IMPERFECT) && extent % t);
    q->value = t;
  }
}

static void drop_keep(nst_draft *d, nst_draft_mapping *m, nst_random *r) {
  unsigned inputs = 0;
  for (int t = 0; t < d->ntensors; t++) inputs |= is_input(d, t) ? 1u << t : 0;
  for (int i = 0; i < m->nnodes; i++) {
    nst_draft_node *node = &m->nodes[i];
    if (node->kind != NST_NODE_KEEP || node->level != middle(d)) continue;
    const unsigned may = node->tensors & inputs;
    if (!may || may == node->tensors) continue;
    int t;
    do t = (int)nst_random_below(r, (uint64_t)d->ntensors);
    while (!(may >> t & 1));
    node->tensors &= ~(1u << t);
    return;
  }
}

/* Intermediates go through the outermost memory: each branch that uses one keeps it for itself. */
static void unfuse(const nst_draft *d, nst_draft_mapping *m) {
  nst_draft_mapping old = *m;
  unsigned between = 0;
  for (int t = 0; t < d->ntensors; t++) between |= !is_input(d, t) && !is_result(d, t) ? 1u << t : 0;
  m->nnodes = 0;
  unsigned owed = 0;
  bool inside = false;
  for (int i = 0; i < old.nnodes; i++) {
    nst_draft_node node = old.nodes[i];
    if (node.kind == NST_NODE_SEQ) inside = true;
    if (!inside && node.kind == NST_NODE_KEEP && node.level == middle(d)) node.tensors &= ~between;
    if (node.kind == NST_NODE_KEEP && !node.tensors) continue;
    if (node.kind == NST_NODE_DO) {
      const int s = __builtin_ctz(node.statements);
      owed = 1u << d->statements[s].out;
      for (int k = 0; k < d->statements[s].ninputs; k++) owed |= 1u << d->statements[s].inputs[k];
      owed &= between;
    } else if (owed && node.kind == NST_NODE_KEEP && node.level == middle(d)) {
      node.tensors |= owed;
      owed = 0;
    } else if (owed && (node.kind == NST_NODE_PAR || node.kind == NST_NODE_COMPUTE ||
                        (node.kind == NST_NODE_FOR && node.tile.param < 0) ||
                        (node.kind == NST_NODE_KEEP && node.level != middle(d)))) {
      m->nodes[m->nnodes++] = (nst_draft_node){
        .kind = NST_NODE_KEEP, .dim = -1, .tile = {-1, 0}, .level = middle(d), .axis = -1, .tensors = owed};
      owed = 0;
    }
    m->nodes[m->nnodes++] = node;
  }
}

static void ask_comparison(nst_draft *d, nst_random *r) {
  const unsigned what = (unsigned)nst_random_below(r, 100);
  if (is_hardware(d->raises))
    ask(d, NST_MEASURE_CYCLES, -1, -1);
  else if (what < 55)
    ask(d, NST_MEASURE_OFFCHIP, -1, -1);
  else if (what < 80 || d->level == 1)
    ask(d, NST_MEASURE_USAGE, middle(d), -1);
  else
    ask(d, NST_MEASURE_CYCLES, -1, -1);
  const bool usage = d->quantities[0].measure == NST_MEASURE_USAGE,
             tiles_only = d->level == 1 && nst_random_chance(r, 60);
  d->nmappings = 2 + (int)nst_random_below(r, 3);
  for (int i = 0; i < d->nmappings; i++) {
    nst_draft_mapping *m = &d->mappings[i];
    if (i) {
      *m = d->mappings[0];
      const bool cascade = nst_draft_is_cascade(d);
      if (cascade && nst_random_chance(r, 40)) unfuse(d, m);
      if (tiles_only || usage || nst_random_chance(r, 60)) redraw_tiles(d, m, r);
      if (!tiles_only && nst_random_chance(r, 70)) shuffle_block(m, r);
      if (nst_draft_may(d, NST_TRAIT_BYPASS) && !cascade && nst_random_chance(r, 20)) drop_keep(d, m, r);
    }
    snprintf(m->name, sizeof m->name, "%c", 'A' + i);
  }
  for (int i = d->nmappings; i > 1; i--) { /* the first is not the best more often than others */
    const int j = (int)nst_random_below(r, (uint64_t)i);
    const nst_draft_mapping keep = d->mappings[i - 1];
    d->mappings[i - 1] = d->mappings[j];
    d->mappings[j] = keep;
  }
  for (int i = 0; i < d->nmappings; i++) snprintf(d->mappings[i].name, sizeof d->mappings[i].name, "%c", 'A' + i);
}

/* ---- gen.optimize --------------------------------------------------------- */

static void ask_optimum(nst_draft *d, nst_random *r) {
  const nst_draft_mapping *m = &d->mappings[0];
  ask(d,
      is_hardware(d->raises) || nst_random_chance(r, d->level == 1 ? 0 : 25) ? NST_MEASURE_CYCLES : NST_MEASURE_OFFCHIP,
      -1, -1);
  int64_t bits = 0, any = 1;
  for (int t = 0; t < d->ntensors; t++) {
    int64_t elements = 1;
    for (int k = 0; k < d->tensors[t].nranks; k++)
      for (int i = 0; i < 2; i++)
        if (d->tensors[t].ranks[k].dim[i] >= 0) elements *= d->dims[d->tensors[t].ranks[k].dim[i]].extent;
    bits += elements * d->tensors[t].bits;
  }
  for (int p = 0; p < m->nparams; p++) { any *= d->dims[m->params[p].dim].extent; }
  d->any_tile = nst_draft_may(d, NST_TRAIT_IMPERFECT) && any <= 3000 &&
                nst_random_chance(r, d->raises == NST_TRAIT_IMPERFECT ? 100 : 60);
  nst_draft_level *level = &d->levels[middle(d)];
  level->capacity_param[0] = '\0';
  level->capacity = bits / 8 * nst_random_between(r, 15, 60) / 100 / 8 * 8;
  if (level->capacity < 64) level->capacity = 64;
}

/* ---- probes --------------------------------------------------------------- */

/* The mapping without parameters, so that sizes and places are the defaults of what is asked for. */
static void settle(nst_draft_mapping *m) {
  for (int i = 0; i < m->nnodes; i++) {
    nst_draft_tile *tile = &m->nodes[i].tile;
    if (tile->param >= 0) *tile = (nst_draft_tile){-1, m->params[tile->param].value};
  }
  m->nparams = 0;
}

/* Dimensions of a statement over which siblings share an input, or add up one output. */
static unsigned shared_by_siblings(const nst_draft *d, const nst_draft_statement *s, bool output) {
  if (output) return s->reduced;
  unsigned set = 0;
  for (int i = 0; i < s->ninputs; i++) set |= s->dims & ~nst_draft_tensor_dims(d, s->inputs[i]);
  return set & ~s->reduced;
}

/* Gives the first par of every statement a dimension by which a flag of the array shows, where there is one. */
static void show_flag(const nst_draft *d, nst_draft_mapping *m, bool output, nst_random *r) {
  int statement = 0;
  for (int i = 0; i < m->nnodes; i++) {
    if (m->nodes[i].kind == NST_NODE_DO) statement = __builtin_ctz(m->nodes[i].statements);
    if (m->nodes[i].kind != NST_NODE_PAR) continue;
    const unsigned may = shared_by_siblings(d, &d->statements[statement], output);
    int dims[NST_DRAFT_DIMS], n = 0;
    for (int k = 0; k < d->ndims; k++)
      if (may >> k & 1) dims[n++] = k;
    const int first = i, was = m->nodes[i].dim;
    if (n) m->nodes[i].dim = dims[nst_random_below(r, (uint64_t)n)];
    while (i + 1 < m->nnodes && m->nodes[i + 1].kind == NST_NODE_PAR)
      if (m->nodes[++i].dim == m->nodes[first].dim) m->nodes[i].dim = was;
  }
}

/* The last probe is the first at the defaults. */
static void make_probes(nst_draft *d, nst_random *r) {
  const int varied = 3;
  d->nmappings = varied + 1;
  for (int i = 0; i < d->nmappings; i++) {
    nst_draft_mapping *m = &d->mappings[i];
    if (i < varied)
      nst_draft_make_mapping(d, m, r);
    else
      *m = d->mappings[0], settle(m);
    if (d->target == NST_KIND_GEN_HARDWARE && i < 2) show_flag(d, m, i == 0, r);
    snprintf(m->name, sizeof m->name, "probe%d", i + 1);
  }
}

/* A fault that may have a place in what is to be mended. */
static nst_fault draw_fault(const nst_draft *d, nst_random *r) {
  static const nst_fault in_workload[] = {NST_FAULT_RANK_TERM, NST_FAULT_SWAPPED_RANKS, NST_FAULT_WRONG_TYPE,
                                          NST_FAULT_REDUCTION, NST_FAULT_MISSPELT,      NST_FAULT_MISSING_BRACE};
  static const nst_fault in_hardware[] = {NST_FAULT_UNIT,     NST_FAULT_NUMBER,
                                          NST_FAULT_FLAG,     NST_FAULT_MISSING_ATTRIBUTE,
                                          NST_FAULT_MISSPELT, NST_FAULT_MISSING_BRACE};
  static const nst_fault in_mapping[] = {NST_FAULT_LOOP_ORDER,   NST_FAULT_TILE,         NST_FAULT_WRONG_DIM,
                                         NST_FAULT_MISSING_LOOP, NST_FAULT_MISSING_KEEP, NST_FAULT_KEEP_LEVEL,
                                         NST_FAULT_KEEP_PLACE,   NST_FAULT_MISSING_PAR,  NST_FAULT_WRONG_AXIS,
                                         NST_FAULT_NUMBER,       NST_FAULT_MISSPELT,     NST_FAULT_MISSING_BRACE};
#define DRAW(list) list[nst_random_below(r, sizeof list / sizeof *list)]
  if (d->target == NST_KIND_GEN_WORKLOAD) return DRAW(in_workload);
  return d->target == NST_KIND_GEN_HARDWARE ? DRAW(in_hardware) : DRAW(in_mapping);
#undef DRAW
}

void nst_draft_make_question(nst_draft *d, nst_random *r) {
  d->nmappings = 1;
  d->fault = -1;
  if (d->target == NST_KIND_GEN_WORKLOAD || d->target == NST_KIND_GEN_HARDWARE)
    make_probes(d, r);
  else
    nst_draft_make_mapping(d, &d->mappings[0], r);
  switch (d->kind) {
  case NST_KIND_QA_COMPARE: ask_comparison(d, r); break;
  case NST_KIND_QA_PREDICT: ask_prediction(d, r); break;
  case NST_KIND_GEN_MODEL: ask_model(d, r); break;
  case NST_KIND_GEN_OPTIMIZE: ask_optimum(d, r); break;
  case NST_KIND_REPAIR:
    d->fault = (int)draw_fault(d, r);
    d->fault_seed = nst_random_next(r);
    d->fault_message = nst_random_chance(r, 50);
    break;
  case NST_KIND_GEN_WORKLOAD:
  case NST_KIND_GEN_HARDWARE:
  case NST_KIND_GEN_MAPPING:
  case NST_KIND_COUNT: break;
  }
  static const unsigned chances[2][NST_LEVELS] = {{0, 40, 60, 80, 100}, {0, 0, 50, 80, 100}}; /* percent */
  const bool edges = nst_traits_of(d) & (1u << NST_TRAIT_HALO | 1u << NST_TRAIT_IMPERFECT);
  for (int belief = 0; belief < 2; belief++) d->traps[belief] = nst_random_chance(r, chances[belief][d->level - 1]);
  d->traps[NST_BELIEF_BOXES] &= edges || d->kind == NST_KIND_GEN_MODEL; /* without them boxes are right */
}
