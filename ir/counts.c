/* Counters: room for them, and comparing two engines' answers.
 *
 * Left to others: filling them (the engines) and deriving from them
 * (ir/metrics.c). */
#include "ir/counts.h"

nst_counts *nst_counts_new(nst_arena *arena, const nst_ir_mapping *m) {
  nst_counts *c = NST_NEW(arena, nst_counts);
  c->nstmts = m->workload.nstmts;
  c->nlevels = m->hardware.nlevels;
  c->ntensors = m->workload.ntensors;
  c->nslots = m->nslots;
  size_t per_level = (size_t)c->nstmts * (size_t)c->nlevels;
  c->moves = nst_arena_array(arena, per_level * (size_t)c->ntensors, sizeof *c->moves);
  c->tile = NST_NEW_ARRAY(arena, c->nslots, int64_t);
  c->ops = NST_NEW_ARRAY(arena, c->nstmts, int64_t);
  c->steps = NST_NEW_ARRAY(arena, c->nstmts, int64_t);
  c->instances = nst_arena_array(arena, per_level, sizeof *c->instances);
  return c;
}

typedef struct {
  nst_arena *arena;
  const nst_ir_mapping *m;
} diff;

/* "of C: " names the statement by its output where there are several. */
static const char *statement(const diff *d, int stmt) {
  const nst_ir_workload *w = &d->m->workload;
  if (w->nstmts == 1) return "";
  return nst_arena_printf(d->arena, " of statement %s", w->tensors[w->stmts[stmt].out.tensor].name);
}

static const char *diff_moves(const diff *d, int stmt, int level, int tensor, const nst_moves *a, const nst_moves *b) {
  static const char *const names[] = {"reads", "fills", "updates", "drains"};
  const int64_t x[] = {a->reads, a->fills, a->updates, a->drains};
  const int64_t y[] = {b->reads, b->fills, b->updates, b->drains};
  for (int i = 0; i < 4; i++)
    if (x[i] != y[i])
      return nst_arena_printf(d->arena, "%s %s %s%s: %lld and %lld", d->m->hardware.levels[level].name,
                              d->m->workload.tensors[tensor].name, names[i], statement(d, stmt), (long long)x[i],
                              (long long)y[i]);
  return NULL;
}

const char *nst_counts_diff(nst_arena *arena, const nst_ir_mapping *m, const nst_counts *a, const nst_counts *b) {
  diff d = {arena, m};
  for (int level = 0; level < a->nlevels; level++)
    for (int tensor = 0; tensor < a->ntensors; tensor++)
      for (int stmt = 0; stmt < a->nstmts; stmt++) {
        const char *text = diff_moves(&d, stmt, level, tensor, nst_counts_at(a, stmt, level, tensor),
                                      nst_counts_at(b, stmt, level, tensor));
        if (text) return text;
      }
  for (int i = 0; i < a->nslots; i++)
    if (a->tile[i] != b->tile[i])
      return nst_arena_printf(arena, "%s %s tile: %lld and %lld", m->hardware.levels[m->slots[i].level].name,
                              m->workload.tensors[m->slots[i].tensor].name, (long long)a->tile[i],
                              (long long)b->tile[i]);
  for (int s = 0; s < a->nstmts; s++) {
    if (a->ops[s] != b->ops[s])
      return nst_arena_printf(arena, "ops%s: %lld and %lld", statement(&d, s), (long long)a->ops[s],
                              (long long)b->ops[s]);
    if (a->steps[s] != b->steps[s])
      return nst_arena_printf(arena, "steps%s: %lld and %lld", statement(&d, s), (long long)a->steps[s],
                              (long long)b->steps[s]);
  }
  for (int s = 0; s < a->nstmts; s++)
    for (int l = 0; l < a->nlevels; l++) {
      int64_t x = a->instances[(size_t)s * (size_t)a->nlevels + (size_t)l];
      int64_t y = b->instances[(size_t)s * (size_t)a->nlevels + (size_t)l];
      if (x != y)
        return nst_arena_printf(arena, "%s instances%s: %lld and %lld", m->hardware.levels[l].name, statement(&d, s),
                                (long long)x, (long long)y);
    }
  return NULL;
}
