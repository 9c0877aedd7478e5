/* The plain engine: every point of any sweep, through the interpreter.
 *
 * A unit is a rectangle: a run of tuples (in enumeration order) times a run of
 * variants, so that the mapping of a variant is made once for many tuples.
 * Units of the same variants follow one another. Nothing is pruned and no
 * duplicate is looked for; a unit depends on nothing but its number.
 *
 * Left to others: speed (the kernel engine), lists of points (sweep_list.c). */
#include "backend/sweep_point.h"

#include <stdlib.h>

enum { UNIT_VARIANTS = 32, UNIT_POINTS = 2048 };

typedef struct {
  nst_sweep_engine engine;
  nst_arena *arena;
  const nst_ir_mapping *m;
  const nst_ir_sweep *s;
  const nst_space *space;
  nst_sweep_shape shape;
  nst_variants variants;
  nst_u128 tuples;
  uint64_t rows, columns; /* tuples and variants of a unit */
  uint64_t row_blocks;    /* units of the same variants */
} plain;

struct nst_sweep_worker {
  const plain *e;
  nst_judge *judge;
  nst_sweep_result *unit; /* of the unit at hand */
};

static nst_sweep_worker *worker_new(const nst_sweep_engine *engine) {
  const plain *e = (const plain *)(const void *)engine;
  nst_sweep_worker *w = calloc(1, sizeof *w);
  if (!w) nst_out_of_memory();
  w->e = e;
  w->judge = nst_judge_new(e->m, e->s, e->space, &e->variants);
  w->unit = nst_sweep_result_new(e->shape);
  return w;
}

static void worker_free(nst_sweep_worker *w) {
  if (!w) return;
  nst_judge_free(w->judge);
  nst_sweep_result_free(w->unit);
  free(w);
}

static bool run(nst_sweep_worker *w, uint64_t unit, nst_sweep_result *into, const atomic_bool *stop,
                nst_sweep_each *each, void *context, const char **error) {
  const plain *e = w->e;
  const uint64_t first = unit / e->row_blocks * e->columns;
  const nst_u128 begin = (nst_u128)(unit % e->row_blocks) * e->rows;
  const uint64_t columns = e->variants.count - first < e->columns ? e->variants.count - first : e->columns;
  const uint64_t rows = e->tuples - begin < e->rows ? (uint64_t)(e->tuples - begin) : e->rows;
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

static void engine_free(nst_sweep_engine *engine) {
  plain *e = (plain *)(void *)engine;
  nst_arena_free(e->arena);
}

static nst_u128 blocks(nst_u128 n, uint64_t size) { return n / size + (n % size != 0); }

nst_sweep_engine *nst_sweep_plain_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space,
                                      nst_sweep_options options, nst_diags *diags) {
  (void)options; /* it never prunes, and `each` is up to who runs it */
  nst_arena *arena = nst_arena_new();
  plain *e = NST_NEW(arena, plain);
  e->arena = arena;
  e->m = m;
  e->s = s;
  e->space = space;
  const char *wrong = nst_variants_init(&e->variants, arena, m);
  if (wrong) nst_diag_add(diags, NST_D_TOO_MANY, s->span, "%s", wrong);
  if (wrong || !nst_sweep_shape_make(&e->shape, s, space, diags)) {
    nst_arena_free(arena);
    return NULL;
  }
  e->tuples = nst_space_tuples(space);
  e->columns = e->variants.count < UNIT_VARIANTS ? e->variants.count : UNIT_VARIANTS;
  e->rows = UNIT_POINTS / e->columns;
  nst_u128 rows = blocks(e->tuples, e->rows);
  if (rows > UINT64_MAX) rows = UINT64_MAX;
  e->row_blocks = (uint64_t)rows;
  const nst_u128 units = nst_u128_mul(rows, blocks(e->variants.count, e->columns));
  const nst_u128 points = nst_u128_mul(e->tuples, e->variants.count);
  e->engine = (nst_sweep_engine){.name = "plain",
                                 .units = units > UINT64_MAX ? UINT64_MAX : (uint64_t)units,
                                 .space = points > UINT64_MAX ? UINT64_MAX : (uint64_t)points,
                                 .worker_new = worker_new,
                                 .worker_free = worker_free,
                                 .run = run,
                                 .free = engine_free};
  return &e->engine;
}
