/* A group with numbers in it: its columns as products over components.
 *
 * The plan groups dimensions by what is written; numbers may show that some do
 * not interact after all (an extent of 1, a coefficient of 0, two ranks that
 * tell both dimensions apart, an edge that nothing reaches). So the group falls
 * into components first, each of the simplest kind that counts it:
 *   UNUSED    the dimension is in no rank
 *   SINGLE    one dimension, alone in its ranks
 *   PAIR      two dimensions, one sum of two terms (repeated, scaled or not)
 *   EXPLICIT  all else: elements are listed
 * A column of the group is the product of the components' columns. */
#include "ir/group.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16 };

nst_group_scratch *nst_group_scratch_new(void) {
  nst_group_scratch *s = calloc(1, sizeof *s);
  if (!s) nst_out_of_memory();
  return s;
}

void nst_group_scratch_set_fuel(nst_group_scratch *s, uint64_t *fuel) { s->fuel = fuel; }

void nst_group_scratch_free(nst_group_scratch *s) {
  if (!s) return;
  for (int i = 0; i < NST_COMPONENT_DIMS; i++) {
    free(s->contexts[i].items);
    free(s->contexts[i].siblings);
    free(s->contexts[i].progs.v);
  }
  nst_ints *vectors[] = {&s->work, &s->stack, &s->progs, &s->runs, &s->set[0], &s->set[1], &s->set[2], &s->set[3]};
  for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) free(vectors[i]->v);
  for (size_t i = 0; i < s->nblocks; i++) free(s->blocks[i].bytes);
  free(s->blocks);
  free(s);
}

static void *take_from_next(nst_group_scratch *s, size_t bytes) {
  while (s->block < s->nblocks && s->used + bytes > s->blocks[s->block].size) {
    s->block++;
    s->used = 0;
  }
  if (s->block == s->nblocks) {
    nst_group_block *blocks = realloc(s->blocks, (s->nblocks + 1) * sizeof *blocks);
    if (!blocks) nst_out_of_memory();
    s->blocks = blocks;
    s->blocks[s->nblocks].size = bytes > BLOCK ? bytes : BLOCK;
    s->blocks[s->nblocks].bytes = malloc(s->blocks[s->nblocks].size);
    if (!s->blocks[s->nblocks++].bytes) nst_out_of_memory();
  }
  void *p = s->blocks[s->block].bytes + s->used;
  s->used += bytes;
  return p;
}

/* Memory until the next call; not zeroed. Blocks are kept; what is larger than a block has one of its own. */
static inline void *take(nst_group_scratch *s, size_t n, size_t size) {
  const size_t bytes = (n * size + 15) / 16 * 16;
  if (s->block == s->nblocks || s->used + bytes > s->blocks[s->block].size) return take_from_next(s, bytes);
  void *p = s->blocks[s->block].bytes + s->used;
  s->used += bytes;
  return p;
}
#define TAKE(s, n, T) ((T *)take((s), (size_t)(n), sizeof(T)))

/* ---- numbers ---- */

typedef struct {
  const nst_group *g;
  nst_group_scratch *s;
  int64_t *extents;
  nst_component_access *accesses; /* effective terms only, over the group's dimensions */
  int naccesses;
  int *leader;                    /* union-find over dimensions */
  nst_component *parts;
  int nparts;
} splitter;

static int find(int *leader, int d) {
  while (leader[d] != d) d = leader[d] = leader[leader[d]];
  return d;
}

static bool same_rank(const nst_component_rank *a, const nst_component_rank *b) {
  if (a->nterms != b->nterms || a->offset != b->offset || a->size != b->size) return false;
  for (int t = 0; t < a->nterms; t++)
    if (a->dims[t] != b->dims[t] || a->coefs[t] != b->coefs[t]) return false;
  return true;
}

static bool same_access(const nst_component_access *a, const nst_component_access *b) {
  for (int r = 0; r < a->nranks; r++)
    if (!same_rank(&a->ranks[r], &b->ranks[r])) return false;
  return true;
}

/* The rank with its numbers; false: more terms than are counted. */
static bool read_rank(nst_component_rank *to, const nst_group_rank *from, const int64_t *in, const int64_t *extents) {
  /* Field by field: zeroing the whole struct took a third of the time of a count. */
  to->nterms = 0;
  to->offset = from->offset < 0 ? 0 : in[from->offset];
  to->size = from->size < 0 ? -1 : in[from->size];
  int64_t lo = to->offset, hi = to->offset;
  for (int t = 0; t < from->nterms; t++) {
    int64_t coef = from->coefs[t] < 0 ? 1 : in[from->coefs[t]];
    if (!coef || extents[from->dims[t]] == 1) continue;
    if (to->nterms == NST_COMPONENT_DIMS) return false;
    to->dims[to->nterms] = from->dims[t];
    to->coefs[to->nterms++] = coef;
    int64_t reach = coef * (extents[from->dims[t]] - 1);
    if (reach < 0) lo += reach;
    else hi += reach;
  }
  to->clipped = to->size >= 0 && (lo < 0 || hi >= to->size);
  return true;
}

static nst_group_status read_accesses(splitter *x, const int64_t *in, bool *empty) {
  const nst_group *g = x->g;
  *empty = false;
  x->accesses = TAKE(x->s, g->naccesses + 1, nst_component_access);
  for (int a = 0; a < g->naccesses; a++) {
    nst_component_access *to = &x->accesses[x->naccesses];
    to->nranks = g->accesses[a].nranks;
    to->ranks = TAKE(x->s, to->nranks + 1, nst_component_rank);
    for (int r = 0; r < to->nranks; r++)
      if (!read_rank(&to->ranks[r], &g->accesses[a].ranks[r], in, x->extents)) return NST_GROUP_TOO_LARGE;
    bool seen = false;
    for (int b = 0; b < x->naccesses; b++) seen = seen || same_access(&x->accesses[b], to);
    if (!seen) x->naccesses++;
  }
  if (x->naccesses != 1) return NST_GROUP_OK;
  for (int r = 0; r < x->accesses[0].nranks; r++) {
    const nst_component_rank *rank = &x->accesses[0].ranks[r];
    if (!rank->nterms && rank->clipped) *empty = true;
  }
  return NST_GROUP_OK;
}

/* Do the ranks tell all the dimensions apart? (Gauss, without fractions.) */
static bool injective(const splitter *x, const int *dims, int ndims) {
  nst_i128 m[NST_COMPONENT_DIMS][NST_COMPONENT_DIMS];
  int rows = 0;
  for (int r = 0; r < x->accesses[0].nranks; r++) {
    const nst_component_rank *rank = &x->accesses[0].ranks[r];
    nst_i128 row[NST_COMPONENT_DIMS] = {0};
    for (int t = 0; t < rank->nterms; t++)
      for (int d = 0; d < ndims; d++)
        if (dims[d] == rank->dims[t]) row[d] = rank->coefs[t];
    for (int k = 0; k < rows; k++) { /* rows are in echelon form: row k leads at its first non-zero */
      int lead = 0;
      while (!m[k][lead]) lead++;
      if (!row[lead]) continue;
      nst_i128 f = row[lead], h = m[k][lead];
      for (int d = 0; d < ndims; d++) {
        nst_i128 u, v;
        if (__builtin_mul_overflow(row[d], h, &u) || __builtin_mul_overflow(m[k][d], f, &v) ||
            __builtin_sub_overflow(u, v, &row[d]))
          return false;
      }
    }
    bool zero = true;
    for (int d = 0; d < ndims; d++) zero = zero && !row[d];
    if (zero) continue;
    memcpy(m[rows++], row, sizeof row);
    if (rows == ndims) return true;
  }
  return false;
}

static int64_t gcd64(int64_t a, int64_t b) {
  a = a < 0 ? -a : a;
  b = b < 0 ? -b : b;
  while (b) {
    int64_t t = a % b;
    a = b;
    b = t;
  }
  return a;
}

static nst_i128 ceil_div(nst_i128 a, nst_i128 b) { /* b > 0 */
  return a / b + (a % b > 0);
}

/* Narrows [lo, hi) to the values v with 0 <= k*v + offset < size. */
static void clip_to(nst_component *part, int64_t k, const nst_component_rank *rank) {
  if (!rank->clipped) return;
  nst_i128 off = rank->offset, size = rank->size; /* a size may be as large as any number */
  nst_i128 lo = k > 0 ? ceil_div(-off, k) : ceil_div(off - size + 1, -(nst_i128)k);
  nst_i128 hi = k > 0 ? ceil_div(size - off, k) : ceil_div(off + 1, -(nst_i128)k);
  if (lo > part->lo) part->lo = lo < part->hi ? (int64_t)lo : part->hi;
  if (hi < part->hi) part->hi = hi > part->lo ? (int64_t)hi : part->lo;
  part->clipped = true;
}

/* The splits of some dimensions, numbered within the component. */
static void add_splits(splitter *x, nst_component *part, const int *dims, const int64_t *in) {
  const nst_group *g = x->g;
  int times = 0, own = 0;
  for (int i = 0; i < g->nsplits; i++) times += g->splits[i].kind == NST_SPLIT_TIME;
  part->times_before = TAKE(x->s, times + 1, int);
  part->own_time = TAKE(x->s, times + 1, bool);
  for (int d = 0; d < part->ndims; d++) {
    part->splits[d] = TAKE(x->s, g->nsplits + 1, nst_chain_split);
    part->nsplits[d] = 0;
  }
  int time = 0;
  nst_group_spend(x->s, (int64_t)g->nsplits * (2 + g->nsplits / 8)); /* found out with the first column */
  for (int i = 0; i < g->nsplits; i++) {
    const nst_group_split *split = &g->splits[i];
    int d = 0;
    while (d < part->ndims && dims[d] != split->dim) d++;
    bool mine = d < part->ndims;
    if (split->kind == NST_SPLIT_TIME) {
      part->times_before[time] = own;
      part->own_time[time++] = mine;
    }
    if (!mine) continue;
    int64_t tile = split->input < 0 ? 1 : in[split->input], len = part->extents[d];
    for (int k = 0; k < part->nsplits[d]; k++)
      if (part->splits[d][k].tile < len) len = part->splits[d][k].tile;
    if (tile > len) tile = len; /* one tile */
    if (split->kind == NST_SPLIT_PARENT && tile < len) part->has_parents = true;
    part->splits[d][part->nsplits[d]++] = (nst_chain_split){split->kind, tile, split->kind == NST_SPLIT_TIME ? own++ : -1};
  }
  part->times_before[time] = own;
  part->ntimes = own;
}

static nst_component *new_part(splitter *x, nst_component_kind kind, const int *dims, int ndims, const int64_t *in) {
  nst_component *part = &x->parts[x->nparts++];
  part->kind = kind;
  part->ndims = ndims;
  part->has_parents = part->clipped = part->known = false; /* field by field, as above */
  part->coefs[0] = part->coefs[1] = 0;
  part->accesses = NULL;
  part->naccesses = 0;
  part->lo = -((int64_t)1 << 62);
  part->hi = (int64_t)1 << 62;
  for (int d = 0; d < ndims; d++) part->extents[d] = x->extents[dims[d]];
  add_splits(x, part, dims, in);
  return part;
}

/* The accesses of an EXPLICIT (or PAIR) component, over its own dimensions. One access: only the ranks it is in. */
static void add_accesses(splitter *x, nst_component *part, const int *dims) {
  part->naccesses = x->naccesses;
  part->accesses = TAKE(x->s, x->naccesses, nst_component_access);
  for (int a = 0; a < x->naccesses; a++) {
    const nst_component_access *from = &x->accesses[a];
    nst_component_access *to = &part->accesses[a];
    to->nranks = 0;
    to->ranks = TAKE(x->s, from->nranks, nst_component_rank);
    for (int r = 0; r < from->nranks; r++) {
      nst_component_rank rank = from->ranks[r];
      bool mine = x->naccesses > 1;
      for (int t = 0; t < rank.nterms; t++)
        for (int d = 0; d < part->ndims; d++)
          if (dims[d] == from->ranks[r].dims[t]) {
            rank.dims[t] = d;
            mine = true;
          }
      if (mine) to->ranks[to->nranks++] = rank;
    }
  }
}

static void add_single(splitter *x, int dim, const int64_t *in) {
  nst_component *part = new_part(x, NST_COMPONENT_UNUSED, &dim, 1, in);
  for (int r = 0; x->naccesses == 1 && r < x->accesses[0].nranks; r++) {
    const nst_component_rank *rank = &x->accesses[0].ranks[r];
    for (int t = 0; t < rank->nterms; t++)
      if (rank->dims[t] == dim) {
        part->kind = NST_COMPONENT_SINGLE;
        if (rank->nterms == 1) clip_to(part, rank->coefs[0], rank);
      }
  }
}

/* Two dimensions whose ranks are all multiples of one sum of two terms? */
static bool add_pair(splitter *x, const int *dims, const int64_t *in) {
  int64_t a = 0, b = 0;
  for (int pass = 0; pass < 2; pass++) {
    nst_component *part = pass ? new_part(x, NST_COMPONENT_PAIR, dims, 2, in) : NULL;
    for (int r = 0; r < x->accesses[0].nranks; r++) {
      const nst_component_rank *rank = &x->accesses[0].ranks[r];
      if (!rank->nterms || (rank->dims[0] != dims[0] && rank->dims[0] != dims[1])) continue;
      if (rank->nterms != 2) return false;
      int first = rank->dims[0] == dims[0] ? 0 : 1;
      int64_t u = rank->coefs[first], v = rank->coefs[1 - first], g = gcd64(u, v);
      if (!a) {
        a = u / g;
        b = v / g;
      }
      int64_t k = (u < 0) == (a < 0) ? g : -g;
      if (u != k * a || v != k * b) return false;
      if (part) clip_to(part, k, rank);
    }
    if (part) {
      part->coefs[0] = a;
      part->coefs[1] = b;
      add_accesses(x, part, dims);
    }
  }
  return true;
}

static bool edges_are_single(const splitter *x, const int *dims, int ndims) {
  for (int r = 0; r < x->accesses[0].nranks; r++) {
    const nst_component_rank *rank = &x->accesses[0].ranks[r];
    for (int d = 0; d < ndims; d++)
      if (rank->nterms > 1 && rank->clipped && rank->dims[0] == dims[d]) return false;
  }
  return true;
}

static nst_group_status split(splitter *x, const int64_t *in) {
  int n = x->g->ndims;
  int *dims = TAKE(x->s, n + 1, int);
  if (x->naccesses > 1) { /* a tensor read twice: all its dimensions together, those of extent 1 aside */
    int m = 0;
    for (int d = 0; d < n; d++)
      if (x->extents[d] > 1) dims[m++] = d;
    if (m > NST_COMPONENT_DIMS) return NST_GROUP_TOO_LARGE;
    nst_component *part = new_part(x, NST_COMPONENT_EXPLICIT, dims, m, in);
    add_accesses(x, part, dims);
    return NST_GROUP_OK;
  }
  for (int a = 0; a < x->naccesses; a++)
    for (int r = 0; r < x->accesses[a].nranks; r++) {
      const nst_component_rank *rank = &x->accesses[a].ranks[r];
      for (int t = 1; t < rank->nterms; t++) x->leader[find(x->leader, rank->dims[t])] = find(x->leader, rank->dims[0]);
    }
  for (int d = 0; d < n; d++) {
    if (find(x->leader, d) != d) continue;
    int m = 0;
    for (int e = 0; e < n; e++)
      if (find(x->leader, e) == d) {
        if (m == NST_COMPONENT_DIMS) return NST_GROUP_TOO_LARGE;
        dims[m++] = e;
      }
    if (m == 1) {
      add_single(x, dims[0], in);
    } else if (m == 2 && add_pair(x, dims, in)) {
      continue;
    } else if (injective(x, dims, m) && edges_are_single(x, dims, m)) {
      for (int e = 0; e < m; e++) add_single(x, dims[e], in);
    } else {
      add_accesses(x, new_part(x, NST_COMPONENT_EXPLICIT, dims, m, in), dims);
    }
  }
  return NST_GROUP_OK;
}

static nst_group_status part_column(nst_component *part, nst_column col, int64_t *out, nst_group_scratch *s) {
  switch (part->kind) {
  case NST_COMPONENT_UNUSED:
  case NST_COMPONENT_SINGLE: return nst_single_column(part, col, out, s);
  case NST_COMPONENT_PAIR: return nst_pair_column(part, col, out, s);
  case NST_COMPONENT_EXPLICIT: return nst_explicit_column(part, col, out, s);
  }
  return NST_GROUP_OK;
}

/* One dimension that the tensor does not use, or whose coordinates are its own: what nearly all groups are. */
static bool is_lone(const nst_group *g) {
  if (g->ndims != 1 || g->naccesses > 1) return false;
  if (!g->naccesses) return true;
  const nst_group_rank *rank = g->accesses[0].ranks;
  return g->accesses[0].nranks == 1 && rank->nterms == 1 && rank->coefs[0] < 0 && rank->offset < 0 && rank->size < 0;
}

/* A lone dimension falls into nothing: the group is its only component, and all times are that one's. */
static nst_group_status count_lone(const nst_group *g, const int64_t *in, int64_t *out, nst_group_scratch *s) {
  nst_component part; /* the fields that a component of one dimension without edges has */
  const int64_t extent = in[g->extents[0]];
  part.kind = g->naccesses && extent != 1 ? NST_COMPONENT_SINGLE : NST_COMPONENT_UNUSED;
  part.ndims = 1;
  part.extents[0] = extent;
  part.clipped = false;
  part.ntimes = 0;
  part.nsplits[0] = g->nsplits;
  part.splits[0] = TAKE(s, g->nsplits + 1, nst_chain_split);
  if (!nst_group_spend(s, 6 + 2 * (int64_t)g->nsplits)) return NST_GROUP_TOO_LARGE;
  int64_t len = extent;
  for (int i = 0; i < g->nsplits; i++) {
    const nst_group_split *split = &g->splits[i];
    const int64_t tile = split->input < 0 ? 1 : in[split->input];
    if (tile < len) len = tile; /* else: one tile */
    part.splits[0][i] = (nst_chain_split){split->kind, len, split->kind == NST_SPLIT_TIME ? part.ntimes++ : -1};
  }
  for (int c = 0; c < g->ncolumns; c++) {
    const nst_group_status status = nst_single_column(&part, g->columns[c], &out[c], s);
    if (status != NST_GROUP_OK) return status;
  }
  return NST_GROUP_OK;
}

nst_group_status nst_group_count(const nst_group *g, const int64_t *in, int64_t *out, nst_group_scratch *s) {
  s->block = 0;
  s->used = 0;
  s->listed = 0;
  if (is_lone(g)) return count_lone(g, in, out, s);
  splitter x = {.g = g, .s = s};
  x.extents = TAKE(s, g->ndims + 1, int64_t);
  x.leader = TAKE(s, g->ndims + 1, int);
  for (int d = 0; d < g->ndims; d++) {
    x.extents[d] = in[g->extents[d]];
    x.leader[d] = d;
  }
  int64_t ranks = 0;
  for (int a = 0; a < g->naccesses; a++) ranks += g->accesses[a].nranks;
  /* Accesses are compared with one another, dimensions likewise. */
  if (!nst_group_spend(s, 4 + ranks * (2 + g->naccesses / 4) + (int64_t)g->ndims * (2 + g->ndims / 4)))
    return NST_GROUP_TOO_LARGE;
  bool empty;
  nst_group_status status = read_accesses(&x, in, &empty);
  if (status != NST_GROUP_OK) return status;
  if (empty) {
    memset(out, 0, (size_t)g->ncolumns * sizeof *out);
    return NST_GROUP_OK;
  }
  x.parts = TAKE(s, g->ndims + 1, nst_component);
  status = split(&x, in);
  for (int c = 0; c < g->ncolumns && status == NST_GROUP_OK; c++) {
    nst_column whole = g->columns[c];
    if (!nst_group_spend(s, 2 + x.nparts)) return NST_GROUP_TOO_LARGE;
    bool moves = !whole.advance; /* a loop over a dimension that fell away has no second tile to move on to */
    for (int k = 0; k < x.nparts; k++) moves = moves || x.parts[k].own_time[whole.cut];
    out[c] = moves;
    for (int k = 0; k < x.nparts && out[c] && status == NST_GROUP_OK; k++) {
      nst_component *part = &x.parts[k];
      nst_column col = {whole.kind, whole.advance && part->own_time[whole.cut], part->times_before[whole.cut]};
      int64_t factor;
      status = part_column(part, col, &factor, s);
      out[c] *= factor;
    }
  }
  return status;
}
