/* Components listed element by element: sums of three and more terms, several
 * ranks that share dimensions across an edge, tensors read by two accesses.
 *
 * Nothing is approximated: the contexts of each dimension still come in
 * classes, but the elements of a tile are listed, each as one number (its ranks
 * in mixed radix), and counted in bitmaps. The cost is the size of the group,
 * bounded by NST_EXPLICIT_LIMIT points and as many bits per bitmap; beyond
 * it the group is refused. First touches are listed in the order of time. */
#include "ir/group.h"
#include <stdlib.h>
#include <string.h>

enum { KEYS_LIMIT = 1 << 28 };

/* A set of keys: a bitmap and the list of its members. */
typedef struct { uint64_t *bits; nst_ints *keys; } key_set;

static bool has_key(const key_set *set, int64_t key) { return set->bits[key >> 6] >> (key & 63) & 1; }
static void add_key(key_set *set, int64_t key) {
  if (has_key(set, key)) return;
  set->bits[key >> 6] |= (uint64_t)1 << (key & 63);
  nst_ints_push(set->keys, key);
}
static void clear_keys(key_set *set) {
  for (size_t i = 0; i < set->keys->len; i++) set->bits[set->keys->v[i] >> 6] = 0;
  set->keys->len = 0;
}

typedef struct {
  const nst_component *c;
  nst_group_scratch *s;
  int64_t *least, *radix; /* per rank: smallest value, number of values */
  int nranks;
  key_set sets[4];
  size_t words;
  bool too_large;
} lister;

static bool lister_init(lister *l, const nst_component *c, nst_group_scratch *s) {
  *l = (lister){.c = c, .s = s, .nranks = c->accesses[0].nranks};
  l->least = malloc((2 * (size_t)l->nranks + 1) * sizeof(int64_t));
  if (!l->least) nst_out_of_memory();
  l->radix = l->least + l->nranks;
  nst_i128 keys = 1;
  for (int r = 0; r < l->nranks; r++) {
    int64_t least = 0, most = 0;
    for (int a = 0; a < c->naccesses; a++) {
      const nst_component_rank *rank = &c->accesses[a].ranks[r];
      int64_t lo = rank->offset, hi = rank->offset;
      for (int t = 0; t < rank->nterms; t++) {
        int64_t reach = rank->coefs[t] * (c->extents[rank->dims[t]] - 1);
        if (reach < 0) lo += reach;
        else hi += reach;
      }
      if (!a || lo < least) least = lo;
      if (!a || hi > most) most = hi;
    }
    l->least[r] = least;
    l->radix[r] = most - least + 1;
    keys *= l->radix[r];
    if (keys > KEYS_LIMIT) return false;
  }
  l->words = (size_t)(keys + 63) / 64;
  if (!nst_group_spend(s, 4 * (int64_t)l->words / 16)) return false; /* pages of the bitmaps */
  for (int k = 0; k < 4; k++) {
    l->sets[k].keys = &s->set[k];
    s->set[k].len = 0;
    l->sets[k].bits = calloc(l->words, sizeof(uint64_t));
    if (!l->sets[k].bits) nst_out_of_memory();
  }
  return true;
}

static void lister_fini(lister *l) {
  for (int k = 0; k < 4; k++) free(l->sets[k].bits);
  free(l->least);
}

/* Adds the elements of a box (lo and len per dimension) to a set; elements of `without` are left out. An access is
 * listed over the dimensions that it uses. */
/* Steps to list an access over a box: a point costs the terms of its ranks. */
static int64_t listing(const nst_component_access *a, const bool *uses, int ndims, const int64_t *len) {
  int64_t points = 1, terms = 0;
  for (int r = 0; r < a->nranks; r++) terms += 1 + a->ranks[r].nterms;
  for (int d = 0; d < ndims && points <= NST_EXPLICIT_LIMIT; d++)
    if (uses[d]) points = len[d] > NST_EXPLICIT_LIMIT ? len[d] : points * len[d];
  return (points > NST_EXPLICIT_LIMIT ? NST_EXPLICIT_LIMIT : points) * (1 + terms / 8) + terms;
}

static void add_elements(lister *l, const int64_t *lo, const int64_t *len, key_set *to, const key_set *without) {
  const nst_component *c = l->c;
  for (int a = 0; a < c->naccesses; a++) {
    int64_t at[NST_COMPONENT_DIMS];
    bool uses[NST_COMPONENT_DIMS] = {false};
    memcpy(at, lo, (size_t)c->ndims * sizeof *at);
    for (int r = 0; r < l->nranks; r++)
      for (int t = 0; t < c->accesses[a].ranks[r].nterms; t++) uses[c->accesses[a].ranks[r].dims[t]] = true;
    if (!nst_group_spend(l->s, listing(&c->accesses[a], uses, c->ndims, len))) {
      l->too_large = true;
      return;
    }
    for (bool more = true; more;) {
      if (++l->s->listed > NST_EXPLICIT_LIMIT) {
        l->too_large = true;
        return;
      }
      int64_t key = 0;
      bool exists = true;
      for (int r = 0; r < l->nranks; r++) {
        const nst_component_rank *rank = &c->accesses[a].ranks[r];
        int64_t value = rank->offset;
        for (int t = 0; t < rank->nterms; t++) value += rank->coefs[t] * at[rank->dims[t]];
        exists = exists && (!rank->clipped || (value >= 0 && value < rank->size));
        key = key * l->radix[r] + (value - l->least[r]);
      }
      if (exists && !(without && has_key(without, key))) add_key(to, key);
      int d = c->ndims - 1;
      for (; d >= 0; d--) {
        if (!uses[d]) continue;
        if (++at[d] < lo[d] + len[d]) break;
        at[d] = lo[d];
      }
      more = d >= 0;
    }
  }
}

/* The contexts of all dimensions together, one choice each, and where each stands. */
typedef struct {
  const nst_contexts *in[NST_COMPONENT_DIMS];
  const nst_context *at[NST_COMPONENT_DIMS];
  int64_t shift[NST_COMPONENT_DIMS];
} place;

/* Calls for every combination of siblings: `now` and, if `before`, the earlier boxes. */
static int64_t count_place(lister *l, const place *p, nst_column_kind kind) {
  const nst_component *c = l->c;
  key_set *all = &l->sets[0], *changed = &l->sets[1], *other = &l->sets[2];
  bool before = kind == NST_COLUMN_OLD || kind == NST_COLUMN_STAY;
  bool stays = kind == NST_COLUMN_KEPT || kind == NST_COLUMN_STAY;
  size_t sibling[NST_COMPONENT_DIMS] = {0};
  for (;;) {
    int64_t box[4][NST_COMPONENT_DIMS]; /* lo, len of the tile counted; lo, len of the other */
    for (int d = 0; d < c->ndims; d++) {
      const nst_span_pair *t = &p->in[d]->siblings[p->at[d]->sibling + sibling[d]];
      box[before ? 2 : 0][d] = t->lo + p->shift[d];
      box[before ? 3 : 1][d] = t->len;
      box[before ? 0 : 2][d] = t->plo + p->shift[d];
      box[before ? 1 : 3][d] = t->plen;
    }
    add_elements(l, box[0], box[1], all, NULL);
    if (stays && !l->too_large) {
      add_elements(l, box[2], box[3], other, NULL);
      if (!l->too_large) add_elements(l, box[0], box[1], changed, other);
      clear_keys(other);
    }
    int d = c->ndims - 1;
    for (; d >= 0 && ++sibling[d] == p->at[d]->nsiblings; d--) sibling[d] = 0;
    if (d < 0 || l->too_large) break;
  }
  int64_t count = (int64_t)all->keys->len - (int64_t)changed->keys->len;
  clear_keys(all);
  clear_keys(changed);
  return count;
}

/* All places of one choice of contexts: the progressions spelled out. */
static void over_places(lister *l, place *p, int d, size_t prog, nst_column_kind kind, int64_t *out) {
  if (l->too_large) return;
  if (d == l->c->ndims) {
    int64_t here = count_place(l, p, kind), mult = 1;
    for (int k = 0; k < l->c->ndims; k++) mult *= p->at[k]->mult;
    if (kind != NST_COLUMN_MAX) *out += mult * here;
    else if (here > *out) *out = here;
    return;
  }
  if (prog == p->at[d]->nprogs) {
    over_places(l, p, d + 1, 0, kind, out);
    return;
  }
  const int64_t *step = p->in[d]->progs.v + 2 * (p->at[d]->prog + prog);
  int64_t shift = p->shift[d];
  for (int64_t v = 0; v < step[1] && !l->too_large; v++) {
    p->shift[d] = shift + v * step[0];
    over_places(l, p, d, prog + 1, kind, out);
  }
  p->shift[d] = shift;
}

/* Do contexts that look alike count alike wherever they stand? Not at an edge, and not where two accesses move
 * apart. */
static bool places_matter(const nst_component *c) {
  for (int a = 0; a < c->naccesses; a++)
    for (int r = 0; r < c->accesses[a].nranks; r++) {
      const nst_component_rank *rank = &c->accesses[a].ranks[r], *first = &c->accesses[0].ranks[r];
      if (rank->clipped || rank->nterms != first->nterms) return true;
      for (int t = 0; t < rank->nterms; t++)
        if (rank->dims[t] != first->dims[t] || rank->coefs[t] != first->coefs[t]) return true;
    }
  return false;
}

/* Never split: one tile, the same in every column; counted once a call. */
static bool unsplit(const nst_component *c) {
  for (int d = 0; d < c->ndims; d++)
    if (c->nsplits[d]) return false;
  return true;
}

nst_group_status nst_explicit_column(nst_component *c, nst_column col, int64_t *out, nst_group_scratch *s) {
  *out = 0;
  if (c->known) {
    *out = c->count;
    return NST_GROUP_OK;
  }
  if (col.kind == NST_COLUMN_FIRST && c->has_parents) return nst_explicit_first(c, out, s);
  place p = {0};
  for (int d = 0; d < c->ndims; d++) {
    nst_chain chain = nst_component_chain(c, d, col);
    chain.places = places_matter(c);
    if (col.kind == NST_COLUMN_FIRST) chain.nsplits = 0;
    nst_group_status status = nst_chain_walk(&chain, &s->contexts[d], s);
    if (status != NST_GROUP_OK) return status;
    if (!s->contexts[d].len) return NST_GROUP_OK;
    p.in[d] = &s->contexts[d];
  }
  lister l;
  if (!lister_init(&l, c, s)) {
    lister_fini(&l);
    return NST_GROUP_TOO_LARGE;
  }
  size_t at[NST_COMPONENT_DIMS] = {0};
  for (;;) {
    for (int d = 0; d < c->ndims; d++) p.at[d] = &p.in[d]->items[at[d]];
    over_places(&l, &p, 0, 0, col.kind, out);
    int d = c->ndims - 1;
    for (; d >= 0 && ++at[d] == p.in[d]->len; d--) at[d] = 0;
    if (d < 0 || l.too_large) break;
  }
  lister_fini(&l);
  c->known = unsplit(c);
  c->count = *out;
  return l.too_large ? NST_GROUP_TOO_LARGE : NST_GROUP_OK;
}

/* ---- first touches ---- */

/* A split of the component as it is enumerated: TIME splits in order, then PARENT, then SIBLING ones. */
typedef struct { int dim, split; int64_t count; } axis;
typedef struct {
  lister l;
  axis *axes;
  int naxes, ntimes, nparents;
  int64_t *index[NST_COMPONENT_DIMS]; /* per dimension and split: its present index */
  int64_t first;
} toucher;

static void touch_box(toucher *t) {
  const nst_component *c = t->l.c;
  int64_t lo[NST_COMPONENT_DIMS], len[NST_COMPONENT_DIMS];
  if (++t->l.s->listed > NST_EXPLICIT_LIMIT || !nst_group_spend(t->l.s, 2 + t->naxes)) t->l.too_large = true;
  for (int d = 0; d < c->ndims; d++) {
    lo[d] = 0;
    len[d] = c->extents[d];
    for (int i = 0; i < c->nsplits[d]; i++) {
      int64_t tile = c->splits[d][i].tile, off = t->index[d][i] * tile;
      lo[d] += off;
      len[d] = len[d] - off < tile ? len[d] - off : tile;
      if (len[d] <= 0) return;
    }
  }
  add_elements(&t->l, lo, len, &t->l.sets[1], &t->l.sets[0]);
}

/* sets[0]: touched at earlier times; sets[1]: new elements of this instance of P; sets[2]: of this time. */
static void touch(toucher *t, int k) {
  if (t->l.too_large) return;
  if (k == t->naxes) {
    touch_box(t);
  } else {
    axis *a = &t->axes[k];
    for (int64_t v = 0; v < a->count && !t->l.too_large; v++) {
      t->index[a->dim][a->split] = v;
      touch(t, k + 1);
    }
  }
  if (k == t->ntimes + t->nparents) {
    t->first += (int64_t)t->l.sets[1].keys->len;
    for (size_t i = 0; i < t->l.sets[1].keys->len; i++) add_key(&t->l.sets[2], t->l.sets[1].keys->v[i]);
    clear_keys(&t->l.sets[1]);
  }
  if (k == t->ntimes) {
    for (size_t i = 0; i < t->l.sets[2].keys->len; i++) add_key(&t->l.sets[0], t->l.sets[2].keys->v[i]);
    clear_keys(&t->l.sets[2]);
  }
}

static int64_t split_count(const nst_component *c, int d, int split) {
  int64_t len = c->extents[d];
  for (int i = 0; i < split; i++)
    if (c->splits[d][i].tile < len) len = c->splits[d][i].tile;
  return (len + c->splits[d][split].tile - 1) / c->splits[d][split].tile;
}

nst_group_status nst_explicit_first(const nst_component *c, int64_t *out, nst_group_scratch *s) {
  toucher t = {0};
  int total = 0;
  for (int d = 0; d < c->ndims; d++) total += c->nsplits[d];
  int64_t *indices = calloc((size_t)total + 1, sizeof(int64_t));
  t.axes = calloc((size_t)total + 1, sizeof *t.axes);
  if (!indices || !t.axes) nst_out_of_memory();
  int64_t *next = indices;
  for (int d = 0; d < c->ndims; d++) {
    t.index[d] = next;
    next += c->nsplits[d];
  }
  for (int time = 0; time < c->ntimes; time++)
    for (int d = 0; d < c->ndims; d++)
      for (int i = 0; i < c->nsplits[d]; i++)
        if (c->splits[d][i].kind == NST_SPLIT_TIME && c->splits[d][i].time == time)
          t.axes[t.naxes++] = (axis){d, i, split_count(c, d, i)};
  t.ntimes = t.naxes;
  for (int kind = NST_SPLIT_PARENT; kind <= NST_SPLIT_SIBLING; kind++) {
    for (int d = 0; d < c->ndims; d++)
      for (int i = 0; i < c->nsplits[d]; i++)
        if (c->splits[d][i].kind == (nst_split_kind)kind) t.axes[t.naxes++] = (axis){d, i, split_count(c, d, i)};
    if (kind == NST_SPLIT_PARENT) t.nparents = t.naxes - t.ntimes;
  }
  nst_group_status status = NST_GROUP_TOO_LARGE;
  if (lister_init(&t.l, c, s)) {
    touch(&t, 0);
    *out = t.first;
    status = t.l.too_large ? NST_GROUP_TOO_LARGE : NST_GROUP_OK;
  }
  lister_fini(&t.l);
  free(indices);
  free(t.axes);
  return status;
}
