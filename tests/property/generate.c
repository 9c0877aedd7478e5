/* Random programs: a workload, a machine, and the mapping around the leaves.
 *
 * A cascade's mapping is built from the root inward: a set of statements gets
 * loops that all of them use and that no intermediate between them forbids,
 * pars, shared keeps, then a seq whose branches are consecutive statements, each
 * built the same way. Which intermediates are fused is decided where their
 * producer and their consumers part. */
#include "program.h"

#include <string.h>

const char *gen_feature_text(gen_feature f) {
  static const char *const texts[] = {
#define X(id, text) [GEN_##id] = text,
    GEN_NEST_FEATURES(X) GEN_CASCADE_FEATURES(X)
#undef X
  };
  return texts[f];
}

/* ---- one statement ---- */

void gen_nest_mapping(gen_program *p) {
  gen_path at;
  const gen_stmt *s = &p->stmt[0];
  gen_path_init(p, &at);
  if (gen_chance(&p->random, 12)) {
    gen_note(p, GEN_IMPLIED);
    for (int t = 0; t < p->ntensors; t++) at.at[t] = 0;
    at.deepest = 0;
    gen_leaf(p, at, s, 1);
    return;
  }
  if (gen_chance(&p->random, 14) && s->dims) {
    int dim;
    do dim = gen_below(&p->random, p->ndims);
    while (!(s->dims >> dim & 1));
    gen_note(p, GEN_LATE);
    gen_for(p, &at, dim, 1, "");
  }
  bool only = true; /* one memory: all must be kept there */
  for (int l = 1; l < p->nlevels; l++) only = only && p->level[l].array;
  unsigned keep = 0;
  for (int t = 0; t < p->ntensors; t++)
    if (only || !gen_chance(&p->random, 5)) keep |= 1u << t;
  if (keep)
    gen_keep(p, &at, keep, 0, 1);
  else
    gen_keep(p, &at, 1, 0, 1);
  gen_leaf(p, at, s, 1);
}

/* ---- cascades ---- */

static const gen_access *access_to(const gen_stmt *s, int tensor) {
  if (s->out.tensor == tensor) return &s->out;
  for (int a = 0; a < s->nin; a++)
    if (s->in[a].tensor == tensor) return &s->in[a];
  return NULL;
}

static int producer_of(const gen_program *p, int tensor) {
  for (int i = 0; i < p->nstmts; i++)
    if (p->stmt[i].out.tensor == tensor) return i;
  return -1;
}

static bool rank_uses(const gen_rank *r, int dim) {
  for (int i = 0; i < r->nterms; i++)
    if (r->dim[i] == dim) return true;
  return false;
}

static bool access_uses(const gen_access *a, int dim) {
  for (int r = 0; r < a->nranks; r++)
    if (rank_uses(&a->rank[r], dim)) return true;
  return false;
}

/* Both accesses use the dimension in the same ranks, in the same way. */
static bool agree(const gen_access *a, const gen_access *b, int dim) {
  for (int r = 0; r < a->nranks; r++)
    if ((rank_uses(&a->rank[r], dim) || rank_uses(&b->rank[r], dim)) &&
        memcmp(&a->rank[r], &b->rank[r], sizeof a->rank[r]))
      return false;
  return true;
}

/* A loop over the dimension above all the statements of the set is legal. */
static bool legal_above(const gen_program *p, unsigned set, int dim) {
  for (int i = 0; i < p->nstmts; i++) {
    if (!(set >> i & 1)) continue;
    if (!(p->stmt[i].dims >> dim & 1)) return false;
    for (int a = 0; a < p->stmt[i].nin; a++) {
      int producer = producer_of(p, p->stmt[i].in[a].tensor);
      if (producer < 0 || !(set >> producer & 1)) continue;
      if (!access_uses(&p->stmt[producer].out, dim)) return false; /* unfinished sums */
      if (!agree(&p->stmt[producer].out, &p->stmt[i].in[a], dim)) return false;
    }
  }
  return true;
}

/* All accesses to a tensor below a shared keep agree on what has been split above it. */
static bool sharable(const gen_program *p, unsigned set, int tensor, unsigned split) {
  const gen_access *first = NULL;
  for (int i = 0; i < p->nstmts; i++) {
    const gen_access *a = set >> i & 1 ? access_to(&p->stmt[i], tensor) : NULL;
    for (int d = 0; a && first && d < p->ndims; d++)
      if (split >> d & 1 && !agree(first, a, d)) return false;
    if (a && !first) first = a;
  }
  return first != NULL;
}

static unsigned users_in(const gen_program *p, unsigned set, int tensor) {
  unsigned users = 0;
  for (int i = 0; i < p->nstmts; i++)
    if (set >> i & 1 && gen_uses(&p->stmt[i], tensor)) users |= 1u << i;
  return users;
}

static bool producer_before_consumer(const gen_program *p, int a, int b) {
  for (int i = 0; i < p->stmt[b].nin; i++)
    if (p->stmt[b].in[i].tensor == p->stmt[a].out.tensor) return true;
  return false;
}

/* Cuts the statements of a set into two or more branches, in an order in which producers come first. */
static int cut(gen_program *p, unsigned set, unsigned *branch) {
  int order[GEN_STMTS], n = 0, branches = 1;
  for (int i = 0; i < p->nstmts; i++)
    if (set >> i & 1) order[n++] = i;
  for (int i = 0; i + 1 < n; i++)
    if (!producer_before_consumer(p, order[i], order[i + 1]) && gen_chance(&p->random, 35)) {
      int t = order[i];
      order[i] = order[i + 1];
      order[i + 1] = t;
      gen_note(p, GEN_C_REORDERED);
    }
  int must = gen_between(&p->random, 1, n - 1);
  branch[0] = 0;
  for (int i = 0; i < n; i++) {
    if (i == must || (i > 0 && gen_chance(&p->random, 40))) branch[branches++] = 0;
    branch[branches - 1] |= 1u << order[i];
  }
  return branches;
}

static int pick_memory(gen_program *p, const gen_path *at, int above) {
  int choices[GEN_LEVELS], n = 0;
  for (int l = above + 1; l < p->nlevels; l++)
    if (!p->level[l].array && l > at->last_par) choices[n++] = l;
  return n ? choices[gen_below(&p->random, n)] : -1;
}

/* Intermediates that part here: their users are in this set, but in no single branch. */
static bool parts_here(const gen_program *p, unsigned set, const unsigned *branch, int branches, int tensor) {
  unsigned users = users_in(p, ~0u, tensor);
  if (gen_role(p, tensor) != 2 || (users & ~set)) return false;
  for (int b = 0; b < branches; b++)
    if (!(users & ~branch[b])) return false;
  return true;
}

static void shared_keeps(gen_program *p, gen_path *at, unsigned set, const unsigned *branch, int branches, int depth) {
  unsigned chosen[GEN_LEVELS] = {0};
  for (int t = 0; t < p->ntensors; t++) {
    unsigned users = users_in(p, set, t);
    int level = -1;
    if (parts_here(p, set, branch, branches, t)) {
      if (at->at[t] < 0) level = pick_memory(p, at, 0); /* fused: there may be no memory left for it */
    } else if (gen_role(p, t) != 2 && users && at->at[t] >= 0 && gen_chance(&p->random, 40)) {
      level = pick_memory(p, at, at->at[t]);
      if (level >= 0) gen_note(p, GEN_SHARED_KEEP);
    }
    if (level < 0 || !sharable(p, set, t, at->split)) continue;
    chosen[level] |= 1u << t;
  }
  for (int l = 0; l < p->nlevels; l++)
    if (chosen[l]) gen_keep(p, at, chosen[l], l, depth);
}

static void names(const gen_program *p, unsigned set, char *out) {
  size_t n = 0;
  for (int i = 0; i < p->nstmts; i++)
    if (set >> i & 1) {
      if (n) out[n++] = ',', out[n++] = ' ';
      out[n++] = p->tensor[p->stmt[i].out.tensor].name;
    }
  out[n] = '\0';
}

static void block(gen_program *p, gen_path at, unsigned set, int depth, int seqs) {
  unsigned branch[GEN_STMTS];
  char text[32];
  for (int i = 0; i < p->nstmts; i++)
    if (set == 1u << i) {
      gen_leaf(p, at, &p->stmt[i], depth);
      return;
    }
  int branches = cut(p, set, branch), legal[GEN_DIMS], nlegal = 0;
  for (int d = 0; d < p->ndims; d++)
    if (legal_above(p, set, d)) legal[nlegal++] = d;
  for (int n = gen_below(&p->random, 3); nlegal && n > 0 && at.loops < 6; n--) {
    int dim = legal[gen_below(&p->random, nlegal)];
    gen_for(p, &at, dim, depth, "");
    if (p->extent[dim] > 1) gen_note(p, GEN_LOOP_ABOVE);
  }
  /* Fused intermediates must find a memory inside of the pars: take an array only if one is left. */
  for (int l = at.last_par > at.deepest ? at.last_par : at.deepest + 1; l >= 0 && l < p->nlevels; l++) {
    bool memory_inside = false;
    for (int i = l; i < p->nlevels; i++) memory_inside = memory_inside || !p->level[i].array;
    if (!p->level[l].array || l < at.deepest || !memory_inside || !nlegal || !gen_chance(&p->random, 30)) continue;
    for (int n = gen_between(&p->random, 1, 2); n > 0; n--)
      if (gen_par(p, &at, legal[gen_below(&p->random, nlegal)], l, depth)) gen_note(p, GEN_ARRAY_ABOVE);
  }
  shared_keeps(p, &at, set, branch, branches, depth);
  if (seqs) gen_note(p, GEN_NESTED_SEQ);
  gen_line(p, depth, "seq {");
  for (int b = 0; b < branches; b++) {
    names(p, branch[b], text);
    gen_line(p, depth + 1, "do %s {", text);
    block(p, at, branch[b], depth + 2, seqs + 1);
    gen_line(p, depth + 1, "}");
  }
  gen_line(p, depth, "}");
}

void gen_cascade_mapping(gen_program *p) {
  gen_path at;
  unsigned keep = 0;
  gen_path_init(p, &at);
  for (int t = 0; t < p->ntensors; t++) {
    bool fused = gen_role(p, t) == 2 && gen_chance(&p->random, 70);
    if (gen_role(p, t) == 2) gen_note(p, fused ? GEN_FUSED : GEN_UNFUSED);
    if (!fused) keep |= 1u << t;
  }
  p->all_outside = p->sweep && gen_chance(&p->random, 50);
  if (p->all_outside) {
    gen_line(p, 1, "keep all in L0");
    for (int t = 0; t < p->ntensors; t++) at.at[t] = keep >> t & 1 ? 0 : -1;
    at.deepest = 0;
  } else {
    gen_keep(p, &at, keep, 0, 1);
  }
  block(p, at, (1u << p->nstmts) - 1, 1, 0);
}

/* ---- whole programs ---- */

static void finish(gen_program *p) {
  gen_print_workload(p);
  gen_print_hardware(p);
  nst_buffer_puts(p->out, "mapping m");
  for (int i = 0; i < p->nparams; i++) nst_buffer_printf(p->out, "%st%d = %d", i ? ", " : "(", i, p->param[i]);
  nst_buffer_printf(p->out, "%s of w on h {\n", p->nparams ? ")" : "");
  nst_buffer_add(p->out, p->body.text, p->body.len);
  nst_buffer_puts(p->out, "}\n");
  nst_buffer_fini(&p->body);
}

uint64_t gen_nest(nst_buffer *out, uint64_t seed) {
  gen_program p = {.random = {seed}, .out = out};
  nst_buffer_clear(out);
  gen_workload_nest(&p);
  gen_hardware(&p, gen_chance(&p.random, 25) ? 2 : gen_between(&p.random, 3, 4));
  gen_nest_mapping(&p);
  finish(&p);
  return p.features;
}

uint64_t gen_cascade(nst_buffer *out, uint64_t seed) {
  gen_program p = {.random = {seed ^ UINT64_C(0x5ca1ab1e)}, .out = out};
  nst_buffer_clear(out);
  gen_workload_cascade(&p);
  gen_hardware(&p, gen_between(&p.random, 2, 3));
  gen_cascade_mapping(&p);
  finish(&p);
  return p.features;
}
