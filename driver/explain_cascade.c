/* Cascades: for every tile, which statements it serves and where it is dropped;
 * per memory, which branch makes its peak; per tensor, what fusion saves. The
 * unfused figure is a floor that any mapping without fusion has at least: every
 * statement reads its inputs once and writes its output once. */
#include "driver/explain.h"
#include "driver/peak.h"
#include "driver/table.h"
#include "ir/footprint.h"

static bool below(const nst_ir_mapping *m, int stmt, const nst_ir_node *node) {
  for (int i = 0; i < m->paths[stmt].nnodes; i++)
    if (m->paths[stmt].nodes[i] == node->id) return true;
  return false;
}

static bool reads(const nst_ir_stmt *s, int tensor) {
  for (int i = 0; i < s->nin; i++)
    if (s->in[i].tensor == tensor) return true;
  return false;
}

static const char *statement_name(const nst_explain *x, int stmt) {
  return x->m->workload.tensors[x->m->workload.stmts[stmt].out.tensor].name;
}

/* The innermost seq around a node and the branch of it that holds the node; NULL: none. */
static const nst_ir_branch *branch_of(const nst_ir_node *n) {
  for (; n->parent; n = n->parent) {
    if (n->parent->kind != NST_NODE_SEQ) continue;
    for (int b = 0; b < n->parent->nbranches; b++)
      if (n->parent->branches[b].body == n) return &n->parent->branches[b];
  }
  return NULL;
}

static void branch_name(nst_explain *x, const nst_ir_branch *b) {
  for (int i = 0; i < b->nstmts; i++) nst_buffer_printf(x->out, "%s%s", i ? ", " : "", statement_name(x, b->stmts[i]));
}

/* ---- lifetimes ---- */

static void lifetime(nst_explain *x, int slot) {
  const nst_ir_slot *s = &x->m->slots[slot];
  const nst_ir_node *node = x->m->nodes[s->node];
  const nst_ir_tensor *tensor = &x->m->workload.tensors[s->tensor];
  nst_buffer_printf(x->out, "  %s in %s, ", tensor->name, x->m->hardware.levels[s->level].name);
  nst_count_of(x->out, x->counts->tile[slot], "element", "elements");
  nst_buffer_puts(x->out, ": serves ");
  bool first = true;
  for (int i = 0; i < x->m->workload.nstmts; i++) {
    const nst_ir_stmt *stmt = &x->m->workload.stmts[i];
    if (!below(x->m, i, node) || (stmt->out.tensor != s->tensor && !reads(stmt, s->tensor))) continue;
    nst_buffer_printf(x->out, "%s%s", first ? "" : ", ", statement_name(x, i));
    first = false;
  }
  const nst_ir_branch *branch = branch_of(node);
  if (branch) {
    nst_buffer_puts(x->out, "; gone when branch ");
    branch_name(x, branch);
    nst_buffer_puts(x->out, " ends");
  } else nst_buffer_puts(x->out, "; stays while the branches run");
  nst_buffer_putc(x->out, '\n');
}

/* ---- the peak of a memory ---- */

/* "branch T, Y, in it branch Y": the way to the statements that need the most. */
static void peak_names(nst_explain *x, int level, const nst_ir_node *n) {
  const char *before = ", reached in branch ";
  while (n) {
    const nst_ir_branch *b = n->kind == NST_NODE_SEQ ? nst_peak_branch(x->nest, x->counts, level, n) : NULL;
    if (b) {
      nst_buffer_puts(x->out, before);
      branch_name(x, b);
      before = ", in it branch ";
    }
    n = b ? b->body : n->next;
  }
}

static void peaks(nst_explain *x) {
  nst_buffer_puts(x->out, "\npeak usage\n");
  for (int l = 0; l < x->m->hardware.nlevels; l++) {
    if (x->m->hardware.levels[l].kind != NST_LEVEL_MEMORY || l == x->m->outermost) continue;
    nst_buffer_printf(x->out, "  %s: ", x->m->hardware.levels[l].name);
    nst_count_of(x->out, nst_round_up(x->e->metrics.levels[l].usage), "byte", "bytes");
    peak_names(x, l, x->m->root);
    nst_buffer_putc(x->out, '\n');
  }
}

/* ---- what fusion saves ---- */

static void savings(nst_explain *x) {
  static const char *const roles[] = {"input", "output", "intermediate"};
  nst_table t;
  nst_table_init(&t, 4, 2, 2, false);
  static const char *const heads[] = {"tensor", "", "here", "unfused", "", "", "bytes", "bytes at least"};
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) nst_table_text(&t, heads[i]);
  nst_rat sum = nst_rat_int(0);
  bool known = true;
  for (int i = 0; i < x->m->workload.ntensors; i++) {
    nst_rat here, alone;
    nst_table_text(&t, x->m->workload.tensors[i].name);
    nst_table_text(&t, roles[x->m->workload.tensors[i].role]);
    nst_buffer *cell = nst_table_cell(&t);
    if (nst_metrics_traffic(&here, x->nest, x->counts, x->m->outermost, i)) nst_number_grouped(cell, nst_round_up(here));
    cell = nst_table_cell(&t);
    const bool counted = nst_footprint_unfused(&alone, x->nest, i);
    if (counted) nst_number_grouped(cell, nst_round_up(alone));
    else nst_buffer_putc(cell, '-');
    known = known && counted && nst_rat_add(&sum, sum, alone);
  }
  nst_table_text(&t, "all");
  nst_table_text(&t, "");
  nst_number_grouped(nst_table_cell(&t), nst_round_up(x->e->metrics.offchip));
  nst_buffer *cell = nst_table_cell(&t);
  if (known) nst_number_grouped(cell, nst_round_up(sum));
  else nst_buffer_putc(cell, '-');
  nst_buffer_puts(x->out, "\noff-chip traffic, here and without fusion\n");
  nst_table_print(&t, x->out);
  nst_table_fini(&t);
}

void nst_explain_cascade(nst_explain *x) {
  nst_buffer_puts(x->out, "\nhow long tiles live\n");
  for (int i = 0; i < x->m->nslots; i++) lifetime(x, i);
  peaks(x);
  savings(x);
}
