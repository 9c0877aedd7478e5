/* Kernels: the two pieces of native code and the columns between them.
 *
 * A batch goes block by block: the prologue of every point, then each row of
 * every point, then the formulas. The lookups of a block do not wait for each
 * other, and a row is on its way from memory while the next is looked up.
 *
 * Several kernels may share one unit of code; it goes with the last of them. */
#include "backend/kernel.h"
#include "backend/formulas.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  nst_jit *jit;
  nst_jit_unit *unit; /* NULL: nothing had to be compiled */
  atomic_int users;
} shared_unit;

struct nst_kernel {
  nst_arena *arena; /* holds the kernel itself */
  const nst_ir_mapping *ir;
  nst_kernel_code code;
  nst_counter_layout layout;
  nst_code_function *prologue, *formulas;
  shared_unit *shared;
};

enum { BLOCK = 64, LINE = 64 /* bytes of a cache line */ };

struct nst_kernel_scratch {
  const nst_kernel *k;
  nst_columns_cache *cache;
  int64_t *keys;          /* [BLOCK][nkeys] */
  const int64_t **rows;   /* [BLOCK][nrows] */
  const int64_t **params; /* [nparams] */
  int64_t *counters;      /* of one point */
  uint64_t points;
};

/* ---- making ---- */

/* Kernels without code yet, one arena each. */
static nst_kernel *make(const nst_ir_mapping *m, const nst_plan *plan, int number) {
  nst_arena *arena = nst_arena_new();
  nst_kernel *k = NST_NEW(arena, nst_kernel);
  k->arena = arena;
  k->ir = m;
  k->layout = nst_counter_layout_of(m);
  nst_kernel_code_make(&k->code, arena, nst_arena_printf(arena, "%s.%d", m->name, number), m, plan);
  return k;
}

static void drop(shared_unit *s) {
  if (atomic_fetch_sub(&s->users, 1) != 1) return;
  nst_jit_unit_free(s->jit, s->unit);
  free(s);
}

void nst_kernel_free(nst_kernel *k) {
  if (!k) return;
  if (k->shared) drop(k->shared);
  nst_arena_free(k->arena);
}

/* The code of all kernels that need any, two pieces each. */
static int gather(nst_code *codes, nst_kernel *const *kernels, int n) {
  int ncodes = 0;
  for (int i = 0; i < n; i++) {
    if (kernels[i]->code.never) continue;
    codes[ncodes++] = kernels[i]->code.prologue;
    codes[ncodes++] = kernels[i]->code.formulas;
  }
  return ncodes;
}

static nst_jit_status compile(nst_kernel **kernels, int n, nst_kernel_options options, nst_buffer *error) {
  nst_arena *work = nst_arena_new();
  nst_code *codes = NST_NEW_ARRAY(work, 2 * n, nst_code);
  nst_code_function **functions = NST_NEW_ARRAY(work, 2 * n, nst_code_function *);
  int ncodes = gather(codes, kernels, n);
  nst_jit_unit *unit = NULL;
  nst_jit_options jit_options = {.level = options.level, .require = options.require};
  nst_jit_status status =
    ncodes ? nst_jit_compile(&unit, functions, options.jit, codes, ncodes, jit_options, error) : NST_JIT_OK;
  if (status == NST_JIT_OK && unit) {
    shared_unit *shared = calloc(1, sizeof *shared);
    if (!shared) nst_out_of_memory();
    shared->jit = options.jit;
    shared->unit = unit;
    atomic_init(&shared->users, ncodes / 2);
    for (int i = 0, at = 0; i < n; i++) {
      if (kernels[i]->code.never) continue;
      kernels[i]->shared = shared;
      kernels[i]->prologue = functions[at++];
      kernels[i]->formulas = functions[at++];
    }
  }
  nst_arena_free(work);
  return status;
}

nst_jit_status nst_kernels_new(nst_kernel **out, int n, const nst_ir_mapping *const *mappings,
                               const nst_plan *const *plans, nst_kernel_options options, nst_buffer *error) {
  for (int i = 0; i < n; i++) out[i] = make(mappings[i], plans[i], i);
  nst_jit_status status = compile(out, n, options, error);
  for (int i = 0; status != NST_JIT_OK && i < n; i++) {
    nst_kernel_free(out[i]);
    out[i] = NULL;
  }
  return status;
}

nst_jit_status nst_kernel_new(nst_kernel **out, const nst_ir_mapping *m, const nst_plan *plan,
                              nst_kernel_options options, nst_buffer *error) {
  return nst_kernels_new(out, 1, &m, &plan, options, error);
}

nst_jit_status nst_kernels_emit_llvm(nst_buffer *out, int n, const nst_ir_mapping *const *mappings,
                                     const nst_plan *const *plans, nst_kernel_options options, nst_buffer *error) {
  nst_arena *work = nst_arena_new();
  nst_kernel **kernels = NST_NEW_ARRAY(work, n, nst_kernel *);
  for (int i = 0; i < n; i++) kernels[i] = make(mappings[i], plans[i], i);
  nst_code *codes = NST_NEW_ARRAY(work, 2 * n, nst_code);
  int ncodes = gather(codes, kernels, n);
  nst_jit_options jit_options = {.level = options.level, .require = options.require};
  nst_jit_status status = nst_jit_emit(out, options.jit, codes, ncodes, jit_options, error);
  for (int i = 0; i < n; i++) nst_kernel_free(kernels[i]);
  nst_arena_free(work);
  return status;
}

/* ---- evaluating ---- */

static void *zeroed(size_t n, size_t size) {
  void *p = calloc(n ? n : 1, size);
  if (!p) nst_out_of_memory();
  return p;
}

nst_kernel_scratch *nst_kernel_scratch_new(const nst_kernel *k) {
  nst_kernel_scratch *s = zeroed(1, sizeof *s);
  s->k = k;
  s->cache = nst_columns_cache_new(&k->code.columns, 0);
  s->keys = zeroed((size_t)BLOCK * (size_t)k->code.nkeys, sizeof *s->keys);
  s->rows = zeroed((size_t)BLOCK * (size_t)k->code.columns.nrows, sizeof *s->rows);
  s->params = zeroed((size_t)k->ir->scope.nparams, sizeof *s->params);
  s->counters = zeroed((size_t)k->layout.total, sizeof *s->counters);
  return s;
}

void nst_kernel_scratch_free(nst_kernel_scratch *s) {
  if (!s) return;
  nst_columns_cache_free(s->cache);
  free(s->keys);
  free(s->rows);
  free(s->params);
  free(s->counters);
  free(s);
}

static void prefetch(const int64_t *row, int nvalues) {
  for (int i = 0; i < nvalues; i += LINE / (int)sizeof *row) __builtin_prefetch(row + i);
}

/* Points first .. first + n of a batch, n at most BLOCK. */
static size_t eval_block(const nst_kernel *k, nst_kernel_scratch *s, size_t first, size_t n,
                         const int64_t *const *params, uint8_t *status, int64_t *out) {
  const nst_columns *columns = &k->code.columns;
  size_t nkeys = (size_t)k->code.nkeys, nrows = (size_t)columns->nrows, good = 0;
  for (size_t i = 0; i < n; i++) status[first + i] = (uint8_t)k->prologue(params, first + i, s->keys + i * nkeys);
  nst_columns_reserve(s->cache, n);
  for (size_t r = 0; r < nrows; r++) {
    size_t key = (size_t)k->code.key_of_row[r];
    for (size_t i = 0; i < n; i++) {
      if (status[first + i] != NST_POINT_OK) continue;
      const int64_t *row = nst_columns_get(s->cache, (int)r, s->keys + i * nkeys + key);
      s->rows[i * nrows + r] = row;
      if (!row)
        status[first + i] = NST_POINT_ASK;
      else if (n > 1)
        prefetch(row, columns->rows[r].nvalues);
    }
  }
  for (size_t i = 0; i < n; i++) {
    if (status[first + i] == NST_POINT_OK)
      status[first + i] = (uint8_t)k->formulas(s->rows + i * nrows, 0, out + (first + i) * (size_t)k->layout.total);
    good += status[first + i] == NST_POINT_OK;
  }
  s->points += n;
  return good;
}

_Static_assert((int)NST_POINT_OK == (int)NST_KERNEL_OK && (int)NST_POINT_INFEASIBLE == (int)NST_KERNEL_INFEASIBLE &&
                 (int)NST_POINT_ASK == (int)NST_KERNEL_DEOPT,
               "the code returns what the caller gets");

size_t nst_kernel_batch(const nst_kernel *k, nst_kernel_scratch *s, size_t n, const int64_t *const *params,
                        uint8_t *status, int64_t *out) {
  if (k->code.never) {
    memset(status, NST_KERNEL_DEOPT, n);
    return 0;
  }
  size_t good = 0;
  for (size_t first = 0; first < n; first += BLOCK)
    good += eval_block(k, s, first, n - first < BLOCK ? n - first : BLOCK, params, status, out);
  return good;
}

nst_kernel_status nst_kernel_eval(const nst_kernel *k, nst_kernel_scratch *s, const int64_t *params, nst_counts *out) {
  if (k->code.never) return NST_KERNEL_DEOPT;
  for (int i = 0; i < k->ir->scope.nparams; i++) s->params[i] = params + i;
  uint8_t status;
  eval_block(k, s, 0, 1, s->params, &status, s->counters);
  if (status != NST_KERNEL_OK) return (nst_kernel_status)status;
  nst_counts v = nst_kernel_view(k, s->counters);
  size_t nstmts = (size_t)v.nstmts, nlevels = (size_t)v.nlevels;
  memcpy(out->moves, v.moves, nstmts * nlevels * (size_t)v.ntensors * sizeof *v.moves);
  memcpy(out->tile, v.tile, (size_t)v.nslots * sizeof *v.tile);
  memcpy(out->ops, v.ops, nstmts * sizeof *v.ops);
  memcpy(out->steps, v.steps, nstmts * sizeof *v.steps);
  memcpy(out->instances, v.instances, nstmts * nlevels * sizeof *v.instances);
  return NST_KERNEL_OK;
}

size_t nst_kernel_width(const nst_kernel *k) { return (size_t)k->layout.total; }

bool nst_kernel_fixed_costs(const nst_kernel *k) { return k->code.fixed_costs; }

_Static_assert(sizeof(nst_moves) == 4 * sizeof(int64_t) && _Alignof(nst_moves) == _Alignof(int64_t),
               "moves are four counters side by side");

nst_counts nst_kernel_view(const nst_kernel *k, int64_t *point) {
  const nst_counter_layout *l = &k->layout;
  return (nst_counts){
    .nstmts = k->ir->workload.nstmts,
    .nlevels = k->ir->hardware.nlevels,
    .ntensors = k->ir->workload.ntensors,
    .nslots = k->ir->nslots,
    .moves = (nst_moves *)(void *)(point + l->moves),
    .tile = point + l->tile,
    .ops = point + l->ops,
    .steps = point + l->steps,
    .instances = point + l->instances,
  };
}

nst_kernel_statistics nst_kernel_scratch_statistics(const nst_kernel_scratch *s) {
  nst_kernel_statistics t = {.points = s->points};
  nst_columns_statistics(s->cache, &t.rows_filled, &t.groups_counted);
  return t;
}

void nst_kernel_size(const nst_kernel *k, int *rows, int *values, int *instructions) {
  const nst_columns *c = &k->code.columns;
  *rows = c->nrows;
  *values = 0;
  for (int r = 0; r < c->nrows; r++) *values += c->rows[r].nvalues;
  *instructions = k->code.prologue.ninsts + k->code.formulas.ninsts;
}
