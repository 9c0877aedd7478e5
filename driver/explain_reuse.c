/* What moves, and why: per pair of levels and tensor, what each loop outside the
 * inner level does to the tile held there. A loop over a dimension that the
 * tensor does not use leaves the tile alone, unless a loop inside it has walked
 * through other tiles meanwhile: then it starts the walk again. What stays is
 * counted, not told from the width of a tile, as tiles may have gaps. */
#include "driver/explain.h"

#include <string.h>

static const char *tensor_name(const nst_explain *x, int tensor) { return x->m->workload.tensors[tensor].name; }
static const char *dim_name(const nst_explain *x, int dim) { return x->m->workload.dims[dim].name; }
static const char *level_name(const nst_explain *x, const nst_ir_node *n) { return x->m->hardware.levels[n->level].name; }

static bool is_output(const nst_explain *x, const nst_edge *e) {
  return x->m->workload.stmts[e->stmt].out.tensor == e->tensor;
}

/* The outermost for inside position i and outside the child over a dimension of the tensor, or NULL. */
static const nst_ir_node *walk_inside(const nst_explain *x, const nst_edge *e, int i) {
  for (int k = i + 1; k < e->child; k++) {
    const nst_ir_node *n = nst_path_node(x->m, e->stmt, k);
    if (n->kind == NST_NODE_FOR && x->nest->count[n->id] > 1 && nst_uses_dim(x->m, e->stmt, e->tensor, n->dim)) return n;
  }
  return NULL;
}

/* What stays of the tile before, in all steps that the for at i begins. */
static void kept_clause(nst_explain *x, const nst_edge *e, int i, const nst_ir_node *inside) {
  const int64_t kept = nst_explain_kept(x, e, i);
  if (!kept) {
    const int dim = nst_path_node(x->m, e->stmt, i)->dim;
    if (inside && nst_uses_dim(x->m, e->stmt, e->tensor, dim) && nst_explain_rounds_share(x, e, i))
      nst_buffer_printf(x->out, "; neighbouring rounds share elements, but for %s inside has moved on",
                        dim_name(x, inside->dim));
    return;
  }
  nst_buffer_puts(x->out, ", keeps ");
  nst_count_of(x->out, kept, "element", "elements");
  nst_buffer_puts(x->out, inside ? " in all, which the last tile of a round and the first of the next share"
                                 : " in all, which neighbouring tiles share");
}

/* Whether the child is in a branch of a seq that the for at i is outside of. */
static bool starts_empty(const nst_explain *x, const nst_edge *e, int i) {
  for (int k = i + 1; k < e->child; k++)
    if (nst_path_node(x->m, e->stmt, k)->kind == NST_NODE_SEQ) return true;
  return false;
}

static void for_line(nst_explain *x, const nst_edge *e, int i, const nst_ir_node *n) {
  const int64_t rounds = x->nest->count[n->id];
  const char *tensor = tensor_name(x, e->tensor), *dim = dim_name(x, n->dim);
  const nst_ir_node *inside = walk_inside(x, e, i);
  nst_buffer_printf(x->out, "      for %s, ", dim);
  nst_count_of(x->out, rounds, "round", "rounds");
  nst_buffer_puts(x->out, ": ");
  if (nst_uses_dim(x->m, e->stmt, e->tensor, n->dim)) {
    nst_buffer_puts(x->out, "moves on to other elements");
    kept_clause(x, e, i, inside);
  } else if (!inside && starts_empty(x, e, i))
    nst_buffer_printf(x->out, "%s: %s is kept in a branch, and each run of it starts empty",
                      is_output(x, e) ? "sends partial sums out and brings them back" : "loads again", tensor);
  else if (!inside)
    nst_buffer_puts(x->out, is_output(x, e) ? "adds into the same tile" : "uses the same tile again");
  else {
    nst_buffer_printf(x->out, "%s: %s has no %s, and for %s inside has moved on",
                      is_output(x, e) ? "sends partial sums out and brings them back" : "loads again", tensor, dim,
                      dim_name(x, inside->dim));
    kept_clause(x, e, i, inside);
  }
  nst_buffer_putc(x->out, '\n');
}

static void par_line(nst_explain *x, const nst_edge *e, const nst_ir_node *n) {
  const nst_ir_level *array = &x->m->hardware.levels[n->level];
  nst_buffer_printf(x->out, "      par %s, ", dim_name(x, n->dim));
  nst_count_of(x->out, x->nest->count[n->id], "place", "places");
  nst_buffer_printf(x->out, " of %s.%s: ", array->name, array->axes[n->axis].name);
  if (nst_uses_dim(x->m, e->stmt, e->tensor, n->dim)) nst_buffer_puts(x->out, "each place has its own part");
  else if (is_output(x, e)) nst_buffer_puts(x->out, "the partial sums of the places are added on the way out");
  else if (array->multicast) nst_buffer_puts(x->out, "one read serves all places");
  else nst_buffer_puts(x->out, "each place reads its own copy, as the array has no multicast");
  nst_buffer_putc(x->out, '\n');
}

/* Elements of the whole tensor: the tile of its first keep, where that is outside all loops. 0: not known. */
static int64_t whole(const nst_explain *x, int tensor) {
  for (int i = 0; i < x->m->nslots; i++) {
    if (x->m->slots[i].tensor != tensor) continue;
    for (const nst_ir_node *n = x->m->nodes[x->m->slots[i].node]; n; n = n->parent)
      if (nst_is_split(n)) return 0;
    return x->counts->tile[i];
  }
  return 0;
}

static void times(nst_explain *x, int64_t moved, int64_t of) {
  if (!of) return;
  if (moved == of) {
    nst_buffer_puts(x->out, ", each once");
    return;
  }
  nst_buffer_puts(x->out, ", ");
  nst_number_decimal(x->out, (double)moved / (double)of, 2);
  nst_buffer_puts(x->out, " times the ");
  nst_number_grouped(x->out, of);
  nst_buffer_puts(x->out, " there are");
}

static void edge_lines(nst_explain *x, const nst_edge *e) {
  const nst_ir_node *parent = nst_path_node(x->m, e->stmt, e->parent), *child = nst_path_node(x->m, e->stmt, e->child);
  const nst_moves *moves = nst_counts_at(x->counts, e->stmt, parent->level, e->tensor);
  nst_buffer_printf(x->out, "  %s, %s to %s: ", tensor_name(x, e->tensor), level_name(x, parent), level_name(x, child));
  if (is_output(x, e)) {
    nst_number_grouped(x->out, moves->updates);
    nst_buffer_puts(x->out, " elements written");
    times(x, moves->updates, whole(x, e->tensor));
    nst_buffer_puts(x->out, "; ");
    nst_number_grouped(x->out, moves->reads);
    nst_buffer_puts(x->out, " read back");
  } else {
    nst_number_grouped(x->out, moves->reads);
    nst_buffer_puts(x->out, " elements read");
    times(x, moves->reads, whole(x, e->tensor));
  }
  nst_buffer_putc(x->out, '\n');
  if (e->compute) nst_buffer_puts(x->out, "      every operation takes part: the compute holds nothing\n");
  for (int i = 0; i < e->child; i++) {
    const nst_ir_node *n = nst_path_node(x->m, e->stmt, i);
    if (!nst_is_split(n) || x->nest->count[n->id] <= 1) continue;
    if (n->kind == NST_NODE_FOR && !e->compute) for_line(x, e, i, n);
    else if (n->kind == NST_NODE_PAR && i > e->parent) par_line(x, e, n);
  }
}

void nst_explain_reuse(nst_explain *x) {
  nst_buffer_puts(x->out, "\nwhat moves, and why\n");
  nst_explain_edges(x, edge_lines);
}
