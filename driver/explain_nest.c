/* The nest drawn as text: one line per node, indented as deep as it runs, with
 * the sizes at these parameters beside it. */
#include "driver/explain.h"
#include "driver/table.h"

#include <string.h>

typedef struct {
  nst_explain *x;
  nst_table table;
  int64_t *extent; /* [ndims] at hand */
} drawing;

static nst_buffer *line(drawing *d, int depth) {
  nst_buffer *cell = nst_table_cell(&d->table);
  nst_buffer_pad(cell, ' ', 2 * (size_t)depth);
  return cell;
}

static void size(drawing *d, nst_buffer *out, const nst_ir_node *n) {
  switch (n->split) {
    case NST_TILE_ONE: return;
    case NST_TILE_AUTO: return;
    case NST_TILE_BY: nst_buffer_puts(out, " by "); break;
    case NST_TILE_INTO: nst_buffer_puts(out, " into "); break;
  }
  nst_expr_print(out, n->size, d->x->params, d->x->values);
}

static void split(drawing *d, const nst_ir_node *n, int depth) {
  const nst_ir_mapping *m = d->x->m;
  nst_buffer *text = line(d, depth);
  nst_buffer_printf(text, "%s %s", n->kind == NST_NODE_FOR ? "for" : "par", m->workload.dims[n->dim].name);
  size(d, text, n);
  if (n->kind == NST_NODE_PAR) {
    const nst_ir_level *array = &m->hardware.levels[n->level];
    nst_buffer_printf(text, " on %s.%s", array->name, array->axes[n->axis].name);
  }
  nst_buffer *note = nst_table_cell(&d->table);
  const int64_t outside = d->extent[n->dim], count = d->x->nest->count[n->id];
  const int64_t tile = d->x->nest->tile[n->id] < outside ? d->x->nest->tile[n->id] : outside;
  nst_count_of(note, count, "tile", "tiles");
  nst_buffer_puts(note, " of ");
  nst_number_grouped(note, tile);
  if (count > 1 && outside % tile) {
    nst_buffer_puts(note, ", the last of ");
    nst_number_grouped(note, outside % tile);
  }
  if (n->kind == NST_NODE_PAR) {
    nst_buffer_puts(note, ", side by side on ");
    nst_number_grouped(note, d->x->nest->levels[n->level].axes[n->axis]);
    nst_buffer_puts(note, " places");
  }
  d->extent[n->dim] = tile;
}

/* Tiles held by a keep: the slots of its node. */
static void keep(drawing *d, const nst_ir_node *n, int depth) {
  const nst_ir_mapping *m = d->x->m;
  nst_buffer *text = line(d, depth);
  nst_buffer_puts(text, n->optional ? "keep? " : "keep ");
  for (int i = 0; i < n->ntensors; i++)
    nst_buffer_printf(text, "%s%s", i ? ", " : "", m->workload.tensors[n->tensors[i]].name);
  nst_buffer_printf(text, " in %s", m->hardware.levels[n->level].name);
  nst_buffer *note = nst_table_cell(&d->table);
  int shown = 0;
  for (int i = 0; i < m->nslots; i++) {
    if (m->slots[i].node != n->id) continue;
    nst_buffer_printf(note, "%s%s ", shown++ ? ", " : "", m->workload.tensors[m->slots[i].tensor].name);
    nst_number_grouped(note, d->x->counts->tile[i]);
  }
  nst_buffer_puts(note, " elements");
}

/* The statement whose path ends at a compute. */
static const nst_ir_stmt *statement_at(const nst_ir_mapping *m, const nst_ir_node *compute) {
  for (int s = 0; s < m->workload.nstmts; s++)
    if (m->paths[s].nodes[m->paths[s].nnodes - 1] == compute->id) return &m->workload.stmts[s];
  return NULL;
}

static void compute(drawing *d, const nst_ir_node *n, int depth) {
  const nst_ir_mapping *m = d->x->m;
  const nst_ir_stmt *stmt = statement_at(m, n);
  nst_buffer names = {0};
  int64_t points = 1;
  for (int i = 0; stmt && i < stmt->ndims; i++) {
    const int dim = stmt->dims[i];
    if (d->extent[dim] <= 1) continue;
    nst_buffer_printf(&names, "%s%s ", names.len ? ", " : "", m->workload.dims[dim].name);
    nst_number_grouped(&names, d->extent[dim]);
    points *= d->extent[dim]; /* part of ops, which fit */
  }
  if (names.len) {
    nst_buffer_puts(line(d, depth++), "one point at a time");
    nst_buffer *note = nst_table_cell(&d->table);
    nst_buffer_printf(note, "%s: ", names.text);
    nst_count_of(note, points, "step", "steps");
  }
  nst_buffer_fini(&names);
  nst_buffer_printf(line(d, depth), "compute on %s", m->hardware.levels[n->level].name);
  nst_table_text(&d->table, "");
}

static int64_t *copy(nst_explain *x, const int64_t *extent) {
  int64_t *out = NST_NEW_ARRAY(x->arena, x->m->workload.ndims, int64_t);
  memcpy(out, extent, (size_t)x->m->workload.ndims * sizeof *out);
  return out;
}

static void draw(drawing *d, const nst_ir_node *n, int depth) {
  for (; n; n = n->next) {
    switch (n->kind) {
      case NST_NODE_FOR:
      case NST_NODE_PAR: split(d, n, depth++); break;
      case NST_NODE_KEEP: keep(d, n, depth); break;
      case NST_NODE_COMPUTE: compute(d, n, depth); break;
      case NST_NODE_SEQ:
        for (int b = 0; b < n->nbranches; b++) {
          nst_buffer *text = line(d, depth);
          nst_buffer_puts(text, b ? "then " : "first ");
          for (int s = 0; s < n->branches[b].nstmts; s++) {
            const nst_ir_stmt *stmt = &d->x->m->workload.stmts[n->branches[b].stmts[s]];
            nst_buffer_printf(text, "%s%s", s ? ", " : "", d->x->m->workload.tensors[stmt->out.tensor].name);
          }
          nst_table_text(&d->table, "");
          int64_t *outer = d->extent;
          d->extent = copy(d->x, outer);
          draw(d, n->branches[b].body, depth + 1);
          d->extent = outer;
        }
        break;
    }
  }
}

void nst_explain_nest(nst_explain *x) {
  drawing d = {.x = x};
  nst_table_init(&d.table, 2, 2, 0, false);
  d.extent = copy(x, x->nest->extent);
  nst_buffer_puts(x->out, "\nthe nest, outermost first\n");
  draw(&d, x->m->root, 0);
  nst_table_print(&d.table, x->out);
  nst_table_fini(&d.table);
}
