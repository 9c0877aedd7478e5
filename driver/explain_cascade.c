/* Cascades: for every tile, which statements it serves and where it is dropped;
 * per memory, which branch makes its peak; per tensor, what fusion saves. The
 * unfused figure is a floor that any mapping without fusion has at least: every
 * statement reads its inputs once and writes its output once. */
#include "driver/explain.h"
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

static nst_rat slots_bytes(const nst_explain *x, const nst_ir_node *n) {
  nst_rat sum = nst_rat_int(0);
  const int64_t copies = x->m->hardware.levels[n->level].double_buffered ? 2 : 1;
  for (int i = 0; i < x->m->nslots; i++) {
    nst_rat bytes;
    if (x->m->slots[i].node != n->id) continue;
    /* Parts of a usage that has been added up before. */
    if (nst_rat_make(&bytes, (nst_i128)x->counts->tile[i] * x->nest->bits[x->m->slots[i].tensor] * copies, 8))
      nst_rat_add(&sum, sum, bytes);
  }
  return sum;
}

/* Bytes held from n inward, and the branches that make them up appended to names. */
static nst_rat peak(const nst_explain *x, int level, const nst_ir_node *n, nst_buffer *names) {
  nst_rat sum = nst_rat_int(0);
  for (; n; n = n->next) {
    if (n->kind == NST_NODE_KEEP && n->level == level) nst_rat_add(&sum, sum, slots_bytes(x, n));
    if (n->kind != NST_NODE_SEQ) continue;
    nst_rat largest = nst_rat_int(0);
    nst_buffer best = {0};
    for (int b = 0; b < n->nbranches; b++) {
      nst_buffer inside = {0};
      const nst_rat bytes = peak(x, level, n->branches[b].body, &inside);
      if (nst_rat_cmp(bytes, largest) > 0) {
        largest = bytes;
        nst_buffer_clear(&best);
        nst_buffer_puts(&best, "branch ");
        for (int s = 0; s < n->branches[b].nstmts; s++)
          nst_buffer_printf(&best, "%s%s", s ? ", " : "", statement_name(x, n->branches[b].stmts[s]));
        if (inside.len) nst_buffer_printf(&best, ", in it %s", inside.text);
      }
      nst_buffer_fini(&inside);
    }
    nst_rat_add(&sum, sum, largest);
    if (best.len) nst_buffer_add(names, best.text, best.len);
    nst_buffer_fini(&best);
  }
  return sum;
}

static void peaks(nst_explain *x) {
  nst_buffer_puts(x->out, "\npeak usage\n");
  for (int l = 0; l < x->m->hardware.nlevels; l++) {
    if (x->m->hardware.levels[l].kind != NST_LEVEL_MEMORY || l == x->m->outermost) continue;
    nst_buffer names = {0};
    const nst_rat bytes = peak(x, l, x->m->root, &names);
    nst_buffer_printf(x->out, "  %s: ", x->m->hardware.levels[l].name);
    nst_count_of(x->out, nst_round_up(bytes), "byte", "bytes");
    if (names.len) nst_buffer_printf(x->out, ", reached in %s", names.text);
    nst_buffer_putc(x->out, '\n');
    nst_buffer_fini(&names);
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
