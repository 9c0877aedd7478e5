/* explain: a mapping in words, top to bottom: the nest, what moves and why, the
 * closed forms, the pace. Each section is a file of its own. */
#include "driver/explain.h"

#include <string.h>

int64_t nst_extent_outside(const nst_nest *nest, int stmt, int i, int dim) {
  int64_t extent = nest->extent[dim];
  for (int k = 0; k < i; k++) {
    const nst_ir_node *node = nst_path_node(nest->ir, stmt, k);
    if (nst_is_split(node) && node->dim == dim && nest->tile[node->id] < extent) extent = nest->tile[node->id];
  }
  return extent;
}

static bool access_uses(const nst_ir_access *a, int dim) {
  for (int r = 0; r < a->nranks; r++)
    for (int t = 0; t < a->ranks[r].nterms; t++)
      if (a->ranks[r].terms[t].dim == dim) return true;
  return false;
}

bool nst_uses_dim(const nst_ir_mapping *m, int stmt, int tensor, int dim) {
  const nst_ir_stmt *s = &m->workload.stmts[stmt];
  bool uses = s->out.tensor == tensor && access_uses(&s->out, dim);
  for (int i = 0; i < s->nin; i++) uses |= s->in[i].tensor == tensor && access_uses(&s->in[i], dim);
  return uses;
}

static bool statement_uses(const nst_ir_stmt *s, int tensor) {
  if (s->out.tensor == tensor) return true;
  for (int i = 0; i < s->nin; i++)
    if (s->in[i].tensor == tensor) return true;
  return false;
}

static bool keeps(const nst_ir_node *node, int tensor) {
  for (int i = 0; node->kind == NST_NODE_KEEP && i < node->ntensors; i++)
    if (node->tensors[i] == tensor) return true;
  return false;
}

void nst_explain_edges(nst_explain *x, void (*f)(nst_explain *x, const nst_edge *edge)) {
  for (int s = 0; s < x->m->workload.nstmts; s++) {
    const int end = x->m->paths[s].nnodes - 1;
    for (int t = 0; t < x->m->workload.ntensors; t++) {
      if (!statement_uses(&x->m->workload.stmts[s], t)) continue;
      int parent = -1;
      for (int i = 0; i <= end; i++) {
        const bool compute = i == end;
        if (!compute && !keeps(nst_path_node(x->m, s, i), t)) continue;
        if (parent >= 0) f(x, &(nst_edge){s, t, parent, i, compute});
        parent = i;
      }
    }
  }
}

void nst_count_of(nst_buffer *out, int64_t n, const char *one, const char *many) {
  nst_number_grouped(out, n);
  nst_buffer_printf(out, " %s", n == 1 ? one : many);
}

static void statements(nst_explain *x) {
  const nst_ir_workload *w = &x->m->workload;
  for (int s = 0; s < w->nstmts; s++) {
    nst_buffer_printf(x->out, "  %s[", w->tensors[w->stmts[s].out.tensor].name);
    static const char *const combine[] = {"=", "+=", "max=", "min="};
    for (int r = 0; r < w->stmts[s].out.nranks; r++) {
      const nst_ir_rank *rank = &w->stmts[s].out.ranks[r];
      if (r) nst_buffer_puts(x->out, ", ");
      nst_ir_print_rank(x->out, rank, w, &(nst_expr_names){x->params, x->values, NULL, NULL});
    }
    nst_buffer_printf(x->out, "] %s %s\n", combine[w->stmts[s].combine], w->stmts[s].text);
  }
  nst_buffer_puts(x->out, "  ");
  for (int d = 0; d < w->ndims; d++) {
    nst_buffer_printf(x->out, "%s%s = ", d ? ", " : "", w->dims[d].name);
    nst_number_grouped(x->out, x->nest->extent[d]);
  }
  nst_buffer_putc(x->out, '\n');
}

nestor_status nestor_eval_explain(nestor_eval *eval, nestor_buffer *buffer) {
  if (!eval->nest) return NESTOR_USAGE;
  const nst_ir_mapping *m = eval->ir;
  nst_arena *arena = nst_arena_new();
  nst_name *params = NST_NEW_ARRAY(arena, m->scope.nparams + 1, nst_name);
  nst_name *values = NST_NEW_ARRAY(arena, m->scope.nvalues + 1, nst_name);
  for (int i = 0; i < m->scope.nparams; i++) params[i] = m->scope.params[i].name;
  for (int i = 0; i < m->scope.nvalues; i++) values[i] = m->scope.values[i].name;
  nst_explain x = {.e = eval, .m = m, .nest = eval->nest, .counts = eval->counts, .arena = arena,
                   .out = &buffer->text, .point = eval->params, .params = params, .values = values};

  const char *at = nst_params_text(arena, m, eval->params, " = ", ", ");
  nst_buffer_printf(x.out, "%s: %s on %s%s%s\n\n", m->name, m->workload.name, m->hardware.name, *at ? ", " : "", at);
  statements(&x);
  nst_explain_nest(&x);
  if (m->workload.nstmts > 1) nst_explain_cascade(&x);
  nst_explain_reuse(&x);
  nst_explain_formulas(&x);
  nst_explain_pace(&x);
  nst_arena_free(arena);
  return NESTOR_OK;
}
