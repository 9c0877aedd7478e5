/* A tensor whose ranks never fall inside its declared shape: nothing of it
 * exists, so every counter of it is 0 and nothing else shows the mistake, which
 * is an offset or a size that is wrong. */
#include "driver/outside.h"

/* The least and greatest value of a rank over the whole iteration space; both fit: ir/nest.c bounds them. */
static void range_of(const nst_nest *nest, const nst_nest_rank *r, int64_t *least, int64_t *most) {
  *least = *most = r->offset;
  for (int t = 0; t < r->nterms; t++) {
    const int64_t reach = r->coef[t] * (nest->extent[r->ir[t].dim] - 1);
    *(reach < 0 ? least : most) += reach;
  }
}

/* The first rank of an access that misses the shape altogether; -1: the ranks step over it. */
static int missing_rank(const nst_nest *nest, const nst_nest_access *a, int64_t *least, int64_t *most) {
  for (int r = 0; r < a->nranks; r++) {
    if (a->ranks[r].size < 0) continue;
    range_of(nest, &a->ranks[r], least, most);
    if (*most < 0 || *least >= a->ranks[r].size) return r;
  }
  return -1;
}

static const char *rank_text(const nestor_eval *e, const nst_ir_rank *rank) {
  const nst_ir_scope *scope = &e->ir->scope;
  nst_name *params = NST_NEW_ARRAY(e->message_arena, scope->nparams + 1, nst_name);
  nst_name *values = NST_NEW_ARRAY(e->message_arena, scope->nvalues + 1, nst_name);
  for (int i = 0; i < scope->nparams; i++) params[i] = scope->params[i].name;
  for (int i = 0; i < scope->nvalues; i++) values[i] = scope->values[i].name;
  nst_buffer b = {0};
  nst_ir_print_rank(&b, rank, &e->ir->workload, &(nst_expr_names){params, values, NULL, NULL});
  const char *text = nst_arena_strndup(e->message_arena, b.text, b.len);
  nst_buffer_fini(&b);
  return text;
}

static const char *grouped(const nestor_eval *e, int64_t v) {
  nst_buffer b = {0};
  nst_number_grouped(&b, v);
  const char *text = nst_arena_strndup(e->message_arena, b.text, b.len);
  nst_buffer_fini(&b);
  return text;
}

static void tell(nestor_eval *e, int tensor, const nst_nest_access *a, const nst_ir_access *ir) {
  const nst_ir_tensor *t = &e->ir->workload.tensors[tensor];
  int64_t least = 0, most = 0;
  const int r = missing_rank(e->nest, a, &least, &most);
  nst_diag *d;
  if (r >= 0)
    d = nst_diag_add(e->diags, NST_D_OUTSIDE_SHAPE, ir->ranks[r].span.source ? ir->ranks[r].span : ir->span,
                     "`%s` is never inside its shape: its rank `%s` runs from %s to %s, the shape from 0 to %s", t->name,
                     rank_text(e, &ir->ranks[r]), grouped(e, least), grouped(e, most), grouped(e, a->ranks[r].size - 1));
  else
    d = nst_diag_add(e->diags, NST_D_OUTSIDE_SHAPE, ir->span, "`%s` is never inside its shape: its ranks step over it",
                     t->name);
  if (t->span.source) nst_diag_label(e->diags, d, t->span, "its shape is declared here");
  nst_diag_help(e->diags, d, "what is outside a declared shape does not exist: nothing of `%s` is held or moved in mapping `%s`",
                t->name, e->ir->name);
}

/* Whether something of the tensor exists in any tile. */
static bool exists(const nestor_eval *e, int tensor) {
  bool kept = false;
  for (int s = 0; s < e->ir->nslots; s++) {
    if (e->ir->slots[s].tensor != tensor) continue;
    if (e->counts->tile[s]) return true;
    kept = true;
  }
  return !kept;
}

bool nst_is_outside(const nestor_eval *e) {
  for (int t = 0; t < e->ir->workload.ntensors; t++)
    if (e->ir->workload.tensors[t].shape && !exists(e, t)) return true;
  return false;
}

void nst_tell_outside(nestor_eval *e) {
  for (int t = 0; t < e->ir->workload.ntensors; t++) {
    if (!e->ir->workload.tensors[t].shape || exists(e, t)) continue;
    bool told = false;
    for (int s = 0; s < e->ir->workload.nstmts && !told; s++) {
      const nst_nest_stmt *n = &e->nest->stmts[s];
      const nst_ir_stmt *ir = &e->ir->workload.stmts[s];
      told = n->out.tensor == t;
      if (told) tell(e, t, &n->out, &ir->out);
      for (int a = 0; a < n->nin && !told; a++) {
        told = n->in[a].tensor == t;
        if (told) tell(e, t, &n->in[a], &ir->in[a]);
      }
    }
  }
}
