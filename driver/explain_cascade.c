/* Cascades: for every tile, which statements it serves and where it is dropped;
 * per memory, which branch makes its peak. */
#include "driver/explain.h"

static bool below(const nst_ir_mapping *m, int stmt, const nst_ir_node *node) {
  for (int i = 0; i < m->paths[stmt].nnodes; i++)
    if (m->paths[stmt].nodes[i] == node->id) return true;
  return false;
}

static bool touches(const nst_ir_stmt *s, int tensor) {
  if (s->out.tensor == tensor) return true;
  for (int i = 0; i < s->nin; i++)
    if (s->in[i].tensor == tensor) return true;
  return false;
}

static const nst_ir_node *enclosing_seq(const nst_ir_node *n) {
  for (n = n->parent; n; n = n->parent)
    if (n->kind == NST_NODE_SEQ) return n;
  return NULL;
}

static void lifetime(nst_explain *x, int slot) {
  const nst_ir_slot *s = &x->m->slots[slot];
  const nst_ir_node *node = x->m->nodes[s->node];
  const nst_ir_tensor *tensor = &x->m->workload.tensors[s->tensor];
  nst_buffer_printf(x->out, "  %s in %s, ", tensor->name, x->m->hardware.levels[s->level].name);
  nst_count_of(x->out, x->counts->tile[slot], "element", "elements");
  nst_buffer_puts(x->out, ": serves ");
  bool first = true;
  for (int i = 0; i < x->m->workload.nstmts; i++) {
    if (!below(x->m, i, node) || !touches(&x->m->workload.stmts[i], s->tensor)) continue;
    nst_buffer_printf(x->out, "%s%s", first ? "" : ", ", x->m->workload.tensors[x->m->workload.stmts[i].out.tensor].name);
    first = false;
  }
  if (enclosing_seq(node)) nst_buffer_puts(x->out, "; gone when its branch ends");
  else nst_buffer_puts(x->out, "; lives through the whole run");
  if (tensor->role == NST_ROLE_INTERMEDIATE && s->level != x->m->outermost)
    nst_buffer_puts(x->out, "; never leaves the chip");
  nst_buffer_putc(x->out, '\n');
}

void nst_explain_cascade(nst_explain *x) {
  nst_buffer_puts(x->out, "\nhow long tiles live\n");
  for (int i = 0; i < x->m->nslots; i++) lifetime(x, i);
}
