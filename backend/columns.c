/* The memory of columns: one hash table per cell and per row.
 *
 * A table maps a key of a few integers to an entry of fixed size: whether the
 * columns exist, the key, the values. Entries stand in blocks that never move,
 * so a pointer to values stays good while the table grows; slots (a piece of
 * the hash, the entry's number) are what is probed. Nothing is evicted: when
 * the whole cache is full it forgets everything between two batches, and keeps
 * its blocks. */
#include "backend/columns.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK_WORDS = 1 << 13, FIRST_SLOTS = 256 };

typedef struct {
  uint32_t tag, entry; /* 1 + number; 0: free */
} slot;
typedef struct {
  size_t nkey, stride;  /* words of an entry: 1 + nkey + values */
  unsigned block_shift; /* entries of a block: 1 << block_shift */
  slot *slots;
  size_t mask;
  int64_t **blocks;
  size_t nblocks, blocks_cap;
  uint32_t count;
  const int64_t *last; /* the entry found last */
} table;

struct nst_columns_cache {
  const nst_columns *shape;
  table *cells, *rows;
  int64_t *key;          /* of a cell, gathered from a row's */
  int64_t *inputs;       /* of a group */
  const int64_t **found; /* [cells of a row]: their columns */
  int64_t **unshared;    /* [ncells]: columns of cells that only one row asks for, with that row's own key */
  nst_group_scratch *scratch;
  size_t limit, used; /* bytes in blocks and slots */
  uint64_t rows_filled, groups_counted;
};

static void *must(void *p) {
  if (!p) nst_out_of_memory();
  return p;
}

static void *zeroed(size_t n, size_t size) { return must(calloc(n ? n : 1, size)); }

/* ---- tables ---- */

static void table_init(table *t, size_t nkey, size_t nvalues) {
  *t = (table){.nkey = nkey, .stride = 1 + nkey + nvalues};
  while ((t->stride << (t->block_shift + 1)) <= BLOCK_WORDS) t->block_shift++;
}

static void table_fini(table *t) {
  for (size_t i = 0; i < t->nblocks; i++) free(t->blocks[i]);
  free(t->blocks);
  free(t->slots);
}

static inline int64_t *entry_at(const table *t, uint32_t n) {
  return t->blocks[n >> t->block_shift] + (n & ((1U << t->block_shift) - 1)) * t->stride;
}

static inline uint64_t hash_key(const int64_t *key, size_t n) {
  uint64_t h = 0;
  for (size_t i = 0; i < n; i++) {
    h = (h ^ (uint64_t)key[i]) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 32;
  }
  return h * UINT64_C(0xd6e8feb86659fd93);
}

static inline bool same_key(const int64_t *a, const int64_t *b, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (a[i] != b[i]) return false;
  return true;
}

static void table_grow(table *t, size_t *used) {
  size_t old = t->slots ? t->mask + 1 : 0, size = old ? old * 2 : FIRST_SLOTS;
  slot *slots = zeroed(size, sizeof *slots);
  for (uint32_t i = 0; i < t->count; i++) {
    uint64_t h = hash_key(entry_at(t, i) + 1, t->nkey);
    size_t at = h >> 32 & (size - 1);
    while (slots[at].entry) at = (at + 1) & (size - 1);
    slots[at] = (slot){(uint32_t)h, i + 1};
  }
  free(t->slots);
  t->slots = slots;
  t->mask = size - 1;
  *used += (size - old) * sizeof *slots;
}

/* The entry of a key; *fresh says that it is new and its first word and values are to be filled. */
static inline int64_t *table_find(table *t, const int64_t *key, bool *fresh, size_t *used) {
  if (t->count * (size_t)2 >= t->mask) table_grow(t, used); /* mask is 0 at first */
  uint64_t h = hash_key(key, t->nkey);
  size_t at = h >> 32 & t->mask;
  for (; t->slots[at].entry; at = (at + 1) & t->mask) {
    if (t->slots[at].tag != (uint32_t)h) continue;
    int64_t *entry = entry_at(t, t->slots[at].entry - 1);
    if (same_key(entry + 1, key, t->nkey)) {
      *fresh = false;
      return entry;
    }
  }
  if (t->count >> t->block_shift == t->nblocks) {
    if (t->nblocks == t->blocks_cap) {
      t->blocks_cap = t->blocks_cap ? t->blocks_cap * 2 : 8;
      t->blocks = must(realloc(t->blocks, t->blocks_cap * sizeof *t->blocks));
    }
    size_t bytes = (t->stride << t->block_shift) * sizeof(int64_t);
    t->blocks[t->nblocks++] = must(malloc(bytes));
    *used += bytes;
  }
  int64_t *entry = entry_at(t, t->count);
  memcpy(entry + 1, key, t->nkey * sizeof *key);
  t->slots[at] = (slot){(uint32_t)h, ++t->count};
  *fresh = true;
  return entry;
}

static void table_forget(table *t) {
  if (t->slots) memset(t->slots, 0, (t->mask + 1) * sizeof *t->slots);
  t->count = 0;
  t->last = NULL;
}

/* ---- cells and rows ---- */

/* Whether a row's only use of the cell has the row's own key: a second memory of it would never be hit. */
static bool is_unshared(const nst_columns *shape, int cell) {
  int uses = 0;
  bool full = false;
  for (int r = 0; r < shape->nrows; r++)
    for (int i = 0; i < shape->rows[r].ncells; i++)
      if (shape->rows[r].cells[i].cell == cell) {
        uses++;
        full = shape->cells[cell].nkey == shape->rows[r].nkey;
      }
  return uses == 1 && full;
}

nst_columns_cache *nst_columns_cache_new(const nst_columns *shape, size_t bytes) {
  nst_columns_cache *c = zeroed(1, sizeof *c);
  c->shape = shape;
  c->limit = bytes ? bytes : (size_t)64 << 20;
  c->cells = zeroed((size_t)shape->ncells, sizeof *c->cells);
  c->rows = zeroed((size_t)shape->nrows, sizeof *c->rows);
  c->unshared = zeroed((size_t)shape->ncells, sizeof *c->unshared);
  int key = 0, inputs = 0, cells = 0;
  for (int i = 0; i < shape->ncells; i++) {
    const nst_cell *cell = &shape->cells[i];
    table_init(&c->cells[i], (size_t)cell->nkey, (size_t)cell->ncolumns);
    if (is_unshared(shape, i)) c->unshared[i] = zeroed((size_t)cell->ncolumns, sizeof(int64_t));
    if (cell->nkey > key) key = cell->nkey;
    if (cell->most_inputs > inputs) inputs = cell->most_inputs;
  }
  for (int i = 0; i < shape->nrows; i++) {
    table_init(&c->rows[i], (size_t)shape->rows[i].nkey, (size_t)shape->rows[i].nvalues);
    if (shape->rows[i].ncells > cells) cells = shape->rows[i].ncells;
  }
  c->key = zeroed((size_t)key, sizeof *c->key);
  c->inputs = zeroed((size_t)inputs, sizeof *c->inputs);
  c->found = zeroed((size_t)cells, sizeof *c->found);
  c->scratch = nst_group_scratch_new();
  return c;
}

void nst_columns_cache_free(nst_columns_cache *c) {
  if (!c) return;
  for (int i = 0; i < c->shape->ncells; i++) {
    table_fini(&c->cells[i]);
    free(c->unshared[i]);
  }
  for (int i = 0; i < c->shape->nrows; i++) table_fini(&c->rows[i]);
  nst_group_scratch_free(c->scratch);
  free(c->cells);
  free(c->rows);
  free(c->unshared);
  free(c->key);
  free(c->inputs);
  free(c->found);
  free(c);
}

static bool count_cell(nst_columns_cache *c, const nst_cell *cell, const int64_t *key, int64_t *columns) {
  for (int i = 0; i < cell->ngroups; i++) {
    const nst_cell_group *g = &cell->groups[i];
    for (int k = 0; k < g->ninputs; k++) c->inputs[k] = g->words[k] < 0 ? g->constants[k] : key[g->words[k]];
    c->groups_counted++;
    if (nst_group_count(g->group, c->inputs, columns + g->first, c->scratch) != NST_GROUP_OK) return false;
  }
  return true;
}

/* The columns of a cell under a row's key, or NULL. */
static const int64_t *get_cell(nst_columns_cache *c, const nst_row_cell *rc, const int64_t *row_key) {
  const nst_cell *cell = &c->shape->cells[rc->cell];
  for (int i = 0; i < cell->nkey; i++) c->key[i] = row_key[rc->words[i]];
  int64_t *unshared = c->unshared[rc->cell];
  if (unshared) return count_cell(c, cell, c->key, unshared) ? unshared : NULL;
  bool fresh;
  int64_t *entry = table_find(&c->cells[rc->cell], c->key, &fresh, &c->used);
  if (fresh) entry[0] = count_cell(c, cell, c->key, entry + 1 + cell->nkey);
  return entry[0] ? entry + 1 + cell->nkey : NULL;
}

static bool fill_row(nst_columns_cache *c, const nst_row *row, const int64_t *key, int64_t *values) {
  c->rows_filled++;
  for (int i = 0; i < row->ncells; i++) {
    c->found[i] = get_cell(c, &row->cells[i], key);
    if (!c->found[i]) return false;
  }
  for (int i = 0; i < row->nvalues; i++) {
    const nst_row_value *v = &row->values[i];
    uint64_t product = 1;
    for (int k = 0; k < v->nfactors; k++) product *= (uint64_t)c->found[v->factors[k].cell][v->factors[k].column];
    values[i] = (int64_t)product;
  }
  return true;
}

void nst_columns_reserve(nst_columns_cache *c, size_t points) {
  size_t more = 0;
  for (int i = 0; i < c->shape->nrows; i++) more += points * c->rows[i].stride * sizeof(int64_t);
  if (c->used + more <= c->limit || !c->used) return;
  /* Blocks are kept, so `used` never falls: what counts is how full they are. */
  size_t held = 0;
  for (int i = 0; i < c->shape->ncells; i++) held += c->cells[i].count * c->cells[i].stride * sizeof(int64_t);
  for (int i = 0; i < c->shape->nrows; i++) held += c->rows[i].count * c->rows[i].stride * sizeof(int64_t);
  if (held + more <= c->limit) return;
  for (int i = 0; i < c->shape->ncells; i++) table_forget(&c->cells[i]);
  for (int i = 0; i < c->shape->nrows; i++) table_forget(&c->rows[i]);
}

const int64_t *nst_columns_get(nst_columns_cache *c, int row, const int64_t *key) {
  table *t = &c->rows[row];
  const int64_t *entry = t->last;
  if (!entry || !same_key(entry + 1, key, t->nkey)) {
    bool fresh;
    int64_t *found = table_find(t, key, &fresh, &c->used);
    if (fresh) found[0] = fill_row(c, &c->shape->rows[row], key, found + 1 + t->nkey);
    t->last = entry = found;
  }
  return entry[0] ? entry + 1 + t->nkey : NULL;
}

void nst_columns_statistics(const nst_columns_cache *c, uint64_t *rows, uint64_t *groups) {
  *rows = c->rows_filled;
  *groups = c->groups_counted;
}
