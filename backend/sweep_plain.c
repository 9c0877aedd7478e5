/* The plain engine: every point of any sweep, through the interpreter.
 *
 * A unit is a rectangle: a run of tuples (in enumeration order) times a run of
 * variants, so that the mapping of a variant is made once for many tuples.
 * Units of the same variants follow one another. Nothing is pruned and no
 * duplicate is looked for; a unit depends on nothing but its number.
 *
 * Left to others: speed (the kernel engine), lists of points (sweep_list.c). */
#include "backend/sweep_point.h"

enum { UNIT_VARIANTS = 32, UNIT_POINTS = 2048 };

typedef struct {
  nst_point_engine base;
  uint64_t rows, columns; /* tuples and variants of a unit */
  uint64_t row_blocks;    /* units of the same variants */
} plain;

static bool run(nst_sweep_worker *w, uint64_t unit, nst_sweep_result *into, const atomic_bool *stop,
                nst_sweep_each *each, void *context, const char **error) {
  const plain *e = (const plain *)(const void *)w->e;
  const nst_point_engine *b = w->e;
  const uint64_t first = unit / e->row_blocks * e->columns;
  const nst_u128 begin = (nst_u128)(unit % e->row_blocks) * e->rows;
  const uint64_t columns = b->variants.count - first < e->columns ? b->variants.count - first : e->columns;
  const uint64_t rows = b->tuples - begin < e->rows ? (uint64_t)(b->tuples - begin) : e->rows;
  nst_walk *walk = nst_judge_walk(w->judge);
  nst_sweep_result_clear(w->unit);
  *error = NULL;
  bool more = nst_walk_seek(walk, begin);
  for (uint64_t row = 0; more && row < rows; row++) {
    for (uint64_t v = 0; v < columns; v++) {
      if (stop && atomic_load_explicit(stop, memory_order_relaxed)) return false;
      if (!nst_judge_into(w->judge, first + v, w->unit, each, context, error)) return false;
    }
    if (row + 1 < rows) more = nst_walk_next(walk);
  }
  nst_sweep_result_merge(into, w->unit);
  return true;
}

static nst_u128 blocks(nst_u128 n, uint64_t size) { return n / size + (n % size != 0); }

nst_sweep_engine *nst_sweep_plain_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space,
                                      nst_sweep_options options, nst_diags *diags) {
  (void)options; /* it never prunes, and `each` is up to who runs it */
  nst_arena *arena = nst_arena_new();
  plain *e = NST_NEW(arena, plain);
  nst_point_engine *b = &e->base;
  if (!nst_point_engine_init(b, arena, m, s, space, diags)) return NULL;
  e->columns = b->variants.count < UNIT_VARIANTS ? b->variants.count : UNIT_VARIANTS;
  e->rows = UNIT_POINTS / e->columns;
  nst_u128 rows = blocks(b->tuples, e->rows);
  if (rows > UINT64_MAX) rows = UINT64_MAX;
  e->row_blocks = (uint64_t)rows;
  const nst_u128 units = nst_u128_mul(rows, blocks(b->variants.count, e->columns));
  const nst_u128 points = nst_u128_mul(b->tuples, b->variants.count);
  b->engine.name = "plain";
  b->engine.units = units > UINT64_MAX ? UINT64_MAX : (uint64_t)units;
  b->engine.space = points > UINT64_MAX ? UINT64_MAX : (uint64_t)points;
  b->engine.run = run;
  return &b->engine;
}
