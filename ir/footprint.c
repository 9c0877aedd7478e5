/* A footprint is the tile of a keep outside all loops, so it is one column of
 * one group: all dimensions of the statement, not split. */
#include "ir/footprint.h"

#include "ir/group.h"

typedef struct { int64_t *v; int n; } numbers;

static int input(numbers *in, int64_t v) {
  in->v[in->n] = v;
  return in->n++;
}

static nst_group_access access_of(nst_arena *arena, numbers *in, const nst_nest_access *a) {
  nst_group_rank *ranks = NST_NEW_ARRAY(arena, a->nranks, nst_group_rank);
  for (int r = 0; r < a->nranks; r++) {
    const nst_nest_rank *rank = &a->ranks[r];
    int *dims = NST_NEW_ARRAY(arena, rank->nterms, int), *coefs = NST_NEW_ARRAY(arena, rank->nterms, int);
    for (int t = 0; t < rank->nterms; t++) dims[t] = rank->ir[t].dim, coefs[t] = input(in, rank->coef[t]);
    ranks[r] = (nst_group_rank){rank->nterms, dims, coefs, input(in, rank->offset), input(in, rank->size)};
  }
  return (nst_group_access){a->nranks, ranks};
}

static int numbers_of(const nst_nest_access *a) {
  int n = 0;
  for (int r = 0; r < a->nranks; r++) n += a->ranks[r].nterms + 2;
  return n;
}

bool nst_footprint(int64_t *out, const nst_nest *nest, int stmt, int tensor) {
  static const nst_column whole = {NST_COLUMN_MAX, false, 0};
  const nst_nest_stmt *s = &nest->stmts[stmt];
  const int ndims = nest->ir->workload.ndims;
  nst_arena *arena = nst_arena_new();
  nst_group_access *accesses = NST_NEW_ARRAY(arena, s->nin + 1, nst_group_access);
  int naccesses = 0, size = ndims;
  for (int i = -1; i < s->nin; i++) size += numbers_of(i < 0 ? &s->out : &s->in[i]);
  numbers in = {NST_NEW_ARRAY(arena, size, int64_t), 0};
  int *extents = NST_NEW_ARRAY(arena, ndims, int);
  for (int d = 0; d < ndims; d++) extents[d] = input(&in, nest->extent[d]);
  for (int i = -1; i < s->nin; i++) {
    const nst_nest_access *a = i < 0 ? &s->out : &s->in[i];
    if (a->tensor == tensor) accesses[naccesses++] = access_of(arena, &in, a);
  }
  *out = 0;
  bool good = true;
  if (naccesses) {
    const nst_group g = {ndims, extents, 0, NULL, naccesses, accesses, 1, &whole};
    nst_group_scratch *scratch = nst_group_scratch_new();
    good = nst_group_count(&g, in.v, out, scratch) == NST_GROUP_OK;
    nst_group_scratch_free(scratch);
  }
  nst_arena_free(arena);
  return good;
}

bool nst_footprint_unfused(nst_rat *out, const nst_nest *nest, int tensor) {
  *out = nst_rat_int(0);
  for (int s = 0; s < nest->ir->workload.nstmts; s++) {
    int64_t n;
    nst_rat bytes;
    if (!nst_footprint(&n, nest, s, tensor) || !nst_rat_make(&bytes, (nst_i128)n * nest->bits[tensor], 8) ||
        !nst_rat_add(out, *out, bytes))
      return false;
  }
  return true;
}
