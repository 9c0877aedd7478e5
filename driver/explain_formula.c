/* Closed forms with the names of the parameters.
 *
 * For one edge of a tensor the number of elements that move is a product:
 *   a rank of one dimension    its whole extent: every step brings other elements
 *   a sliding rank (p + r)     the window swept by the innermost loop that moves
 *                              the tile, halo counted once, times the other loops
 *                              of its dimensions
 *   a dimension not used       the rounds of its loops outside that innermost loop
 *   a par over one             1 where siblings share a read, else its places
 * This is section 4 of the counting rules for tiles that divide and ranks
 * without gaps. Nothing is printed on trust: the product must give the analysis'
 * count here, and it is tried at other parameters near by, at tiles that divide
 * and at tiles that do not, to say how far it holds. What a product cannot say
 * is left out, and said to be. */
#include "driver/explain.h"
#include "driver/pipeline.h"
#include "driver/table.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef enum { F_READS, F_UPDATES, F_TILE } figure;
typedef struct {
  nst_buffer text;
  int64_t value;
  bool good;      /* a product could be formed and does not overflow */
} product;

/* A number with the text that stands for it. */
typedef struct { const char *text; int64_t value; } term;

static bool is_literal(const char *text) {
  return text[strspn(text, "0123456789")] == '\0';
}

/* One word, one bracket or one call: what may stand in any formula as it is. */
static bool is_atom(const char *text) {
  if (!strchr(text, ' ')) return true;
  const char *at = text;
  while (isalnum((unsigned char)*at) || *at == '_') at++;
  if (*at != '(') return false;
  for (int depth = 0; *at; at++) {
    depth += (*at == '(') - (*at == ')');
    if (!depth) return !at[1];
  }
  return false;
}

static const char *atom(nst_arena *arena, const char *text) {
  return is_atom(text) ? text : nst_arena_printf(arena, "(%s)", text);
}

static void factor(product *p, const char *text, int64_t value) {
  if (__builtin_mul_overflow(p->value, value, &p->value)) p->good = false;
  if (value == 1 && is_literal(text)) return;
  nst_buffer_printf(&p->text, is_atom(text) ? "%s%s" : "%s(%s)", p->text.len ? " * " : "", text);
}

/* ---- sizes as text ---- */

static const char *expr_text(const nst_explain *x, const nst_expr *e) {
  nst_buffer b = {0};
  nst_expr_print(&b, e, x->params, x->values);
  const char *text = nst_arena_strndup(x->arena, b.text, b.len);
  nst_buffer_fini(&b);
  return text;
}

static const char *ceiling(const nst_explain *x, const char *whole, const nst_expr *part) {
  return nst_arena_printf(x->arena, "ceil(%s / %s)", atom(x->arena, whole), atom(x->arena, expr_text(x, part)));
}

/* Extent of a dimension just outside path position i. */
static term extent(const nst_explain *x, int stmt, int i, int dim) {
  const nst_ir_node *last = NULL;
  int at = 0;
  for (int k = 0; k < i; k++) {
    const nst_ir_node *n = nst_path_node(x->m, stmt, k);
    if (!nst_is_split(n) || n->dim != dim) continue;
    last = n;
    at = k;
  }
  const int64_t value = nst_extent_outside(x->nest, stmt, i, dim);
  if (!last) return (term){expr_text(x, x->m->workload.dims[dim].extent), value};
  if (x->nest->tile[last->id] > value) return extent(x, stmt, at, dim); /* one tile: all that is outside */
  switch (last->split) {
    case NST_TILE_ONE: return (term){"1", 1};
    case NST_TILE_BY: return (term){expr_text(x, last->size), value};
    case NST_TILE_INTO:
      return (term){ceiling(x, extent(x, stmt, at, dim).text, last->size), value};
    case NST_TILE_AUTO: break;
  }
  return (term){nst_arena_printf(x->arena, "%lld", (long long)value), value};
}

/* Rounds of the for or places of the par at path position i. */
static term rounds(const nst_explain *x, int stmt, int i) {
  const nst_ir_node *n = nst_path_node(x->m, stmt, i);
  const int64_t value = x->nest->count[n->id];
  const term outside = extent(x, stmt, i, n->dim);
  switch (n->split) {
    case NST_TILE_ONE: return (term){outside.text, value};
    case NST_TILE_BY: return (term){ceiling(x, outside.text, n->size), value};
    case NST_TILE_INTO: return (term){expr_text(x, n->size), value};
    case NST_TILE_AUTO: break;
  }
  return (term){nst_arena_printf(x->arena, "%lld", (long long)value), value};
}

/* sum |c| (X - 1) + 1 as "P + 2" or "2*P + R - 2". */
static term width(const nst_explain *x, const int64_t *coef, const term *sizes, int n) {
  nst_buffer b = {0};
  int64_t constant = 1, value = 1;
  for (int i = 0; i < n; i++) {
    const int64_t c = coef[i] < 0 ? -coef[i] : coef[i];
    value += c * (sizes[i].value - 1);
    constant -= c;
    if (is_literal(sizes[i].text)) {
      constant += c * sizes[i].value;
      continue;
    }
    nst_buffer_puts(&b, b.len ? " + " : "");
    if (c != 1) nst_buffer_printf(&b, "%lld*", (long long)c);
    nst_buffer_puts(&b, atom(x->arena, sizes[i].text));
  }
  if (!b.len) nst_buffer_int(&b, constant);
  else if (constant) nst_buffer_printf(&b, constant < 0 ? " - %lld" : " + %lld", (long long)llabs(constant));
  const term out = {nst_arena_strndup(x->arena, b.text, b.len), value};
  nst_buffer_fini(&b);
  return out;
}

/* ---- the product of one edge ---- */

typedef struct {
  const nst_explain *x;
  const nst_edge *e;
  const nst_nest_access *access;
  int innermost; /* path position of the innermost for outside the child that moves the tile, or -1 */
} builder;

static const nst_nest_access *the_access(const nst_explain *x, const nst_edge *e) {
  const nst_nest_stmt *s = &x->nest->stmts[e->stmt];
  const nst_nest_access *found = s->out.tensor == e->tensor ? &s->out : NULL;
  for (int i = 0; i < s->nin; i++) {
    if (s->in[i].tensor != e->tensor) continue;
    if (found) return NULL; /* read twice: a union, no product */
    found = &s->in[i];
  }
  return found;
}

static bool in_rank(const nst_nest_rank *r, int dim) {
  for (int t = 0; t < r->nterms; t++)
    if (r->ir[t].dim == dim) return true;
  return false;
}

/* Each dimension in one place only, else the ranks do not vary independently. */
static bool independent(const nst_nest_access *a) {
  for (int r = 0; r < a->nranks; r++)
    for (int t = 0; t < a->ranks[r].nterms; t++)
      for (int q = r; q < a->nranks; q++)
        for (int u = q == r ? t + 1 : 0; u < a->ranks[q].nterms; u++)
          if (a->ranks[q].ir[u].dim == a->ranks[r].ir[t].dim) return false;
  return true;
}

static bool moves(const builder *b, int i) {
  const nst_ir_node *n = nst_path_node(b->x->m, b->e->stmt, i);
  return nst_is_split(n) && b->x->nest->count[n->id] > 1;
}

static bool shares(const builder *b, const nst_ir_node *par, figure f) {
  const nst_ir_level *array = &b->x->m->hardware.levels[par->level];
  return f == F_UPDATES || array->multicast;
}

/* The part of a dimension that the siblings under one parent hold together. */
static term together(const builder *b, int dim, figure f) {
  int at = b->e->child;
  for (int i = b->e->child - 1; i > b->e->parent; i--) {
    const nst_ir_node *n = nst_path_node(b->x->m, b->e->stmt, i);
    if (!nst_is_split(n) || n->dim != dim) continue;
    if (n->kind == NST_NODE_FOR || !shares(b, n, f)) break;
    at = i;
  }
  return extent(b->x, b->e->stmt, at, dim);
}

/* Whether the node at i is one of those that `together` has taken in. */
static bool taken_in(const builder *b, int i, figure f) {
  const nst_ir_node *n = nst_path_node(b->x->m, b->e->stmt, i);
  if (n->kind != NST_NODE_PAR || i < b->e->parent || !shares(b, n, f)) return false;
  for (int k = i + 1; k < b->e->child; k++) {
    const nst_ir_node *inside = nst_path_node(b->x->m, b->e->stmt, k);
    if (nst_is_split(inside) && inside->dim == n->dim && (inside->kind == NST_NODE_FOR || !shares(b, inside, f)))
      return false;
  }
  return true;
}

/* A window over all of the rank's dimensions that reaches past a declared shape on both sides has its size. */
static term inside_shape(const builder *b, const nst_nest_rank *r, const term *sizes, term w) {
  if (r->size < 0) return w;
  int64_t first = r->offset;
  for (int t = 0; t < r->nterms; t++) {
    const int64_t all = b->x->nest->extent[r->ir[t].dim];
    if (sizes[t].value != all) return w;
    if (r->coef[t] < 0) first += r->coef[t] * (all - 1);
  }
  if (first > 0 || first + w.value < r->size) return w;
  const ptrdiff_t rank = r - b->access->ranks;
  return (term){expr_text(b->x, b->x->m->workload.tensors[b->e->tensor].shape[rank]), r->size};
}

static void sliding_rank(const builder *b, product *p, const nst_nest_rank *r, figure f) {
  term *sizes = NST_NEW_ARRAY(b->x->arena, r->nterms, term);
  int first = b->innermost; /* the outermost of the loops whose sweep is one window */
  for (int i = first - 1; first >= 0 && i >= 0; i--) {
    if (!moves(b, i)) continue;
    const nst_ir_node *n = nst_path_node(b->x->m, b->e->stmt, i);
    if (n->kind != NST_NODE_FOR || n->dim != nst_path_node(b->x->m, b->e->stmt, first)->dim) break;
    first = i;
  }
  const int dim = b->innermost < 0 ? -1 : nst_path_node(b->x->m, b->e->stmt, b->innermost)->dim;
  const bool sweeps = dim >= 0 && in_rank(r, dim);
  for (int t = 0; t < r->nterms; t++)
    sizes[t] = sweeps && r->ir[t].dim == dim ? extent(b->x, b->e->stmt, first, dim) : together(b, r->ir[t].dim, f);
  const term w = inside_shape(b, r, sizes, width(b->x, r->coef, sizes, r->nterms));
  factor(p, w.text, w.value);
  for (int i = 0; i < b->e->child; i++) {
    const nst_ir_node *n = nst_path_node(b->x->m, b->e->stmt, i);
    if (!moves(b, i) || !in_rank(r, n->dim) || taken_in(b, i, f)) continue;
    if (sweeps && n->dim == dim && i >= first) continue;
    const term times = rounds(b->x, b->e->stmt, i);
    factor(p, times.text, times.value);
  }
}

static void dimension_rank(const builder *b, product *p, int dim) {
  const term whole = extent(b->x, b->e->stmt, 0, dim);
  factor(p, whole.text, whole.value);
}

/* Loops and pars over dimensions that the tensor does not use. */
static void unused_dimensions(const builder *b, product *p, figure f) {
  for (int i = 0; i < b->e->child; i++) {
    const nst_ir_node *n = nst_path_node(b->x->m, b->e->stmt, i);
    if (!moves(b, i) || nst_uses_dim(b->x->m, b->e->stmt, b->e->tensor, n->dim)) continue;
    if (n->kind == NST_NODE_FOR && i > b->innermost) continue; /* the tile stays */
    if (n->kind == NST_NODE_PAR && i > b->e->parent && shares(b, n, f)) continue;
    const term times = rounds(b->x, b->e->stmt, i);
    factor(p, times.text, times.value);
  }
}

/* At the compute every operation takes part: all points, shared by siblings. */
static void at_compute(const builder *b, product *p, figure f) {
  const nst_ir_mapping *m = b->x->m;
  const nst_ir_stmt *stmt = &m->workload.stmts[b->e->stmt];
  for (int d = 0; d < stmt->ndims; d++) {
    const term whole = extent(b->x, b->e->stmt, 0, stmt->dims[d]);
    factor(p, whole.text, whole.value);
  }
  nst_buffer shared = {0};
  int64_t by = 1;
  for (int i = b->e->parent + 1; i < b->e->child; i++) {
    const nst_ir_node *n = nst_path_node(m, b->e->stmt, i);
    if (!moves(b, i) || n->kind != NST_NODE_PAR) continue;
    if (nst_uses_dim(m, b->e->stmt, b->e->tensor, n->dim)) {
      for (int r = 0; r < b->access->nranks; r++)
        if (in_rank(&b->access->ranks[r], n->dim) && b->access->ranks[r].nterms > 1) p->good = false;
      continue;
    }
    if (!shares(b, n, f)) continue;
    const term places = rounds(b->x, b->e->stmt, i);
    nst_buffer_printf(&shared, " / %s", atom(b->x->arena, places.text));
    by *= places.value;
  }
  if (p->value % by) p->good = false;
  p->value /= by;
  if (shared.len) nst_buffer_add(&p->text, shared.text, shared.len);
  nst_buffer_fini(&shared);
}

static void tile_of(const builder *b, product *p) {
  for (int r = 0; r < b->access->nranks; r++) {
    const nst_nest_rank *rank = &b->access->ranks[r];
    term *sizes = NST_NEW_ARRAY(b->x->arena, rank->nterms, term);
    for (int t = 0; t < rank->nterms; t++) sizes[t] = extent(b->x, b->e->stmt, b->e->child, rank->ir[t].dim);
    if (!rank->nterms) continue;
    const term w = rank->nterms == 1 ? sizes[0] : width(b->x, rank->coef, sizes, rank->nterms);
    const term seen = inside_shape(b, rank, sizes, w);
    factor(p, seen.text, seen.value);
  }
}

static product build(const nst_explain *x, const nst_edge *e, figure f) {
  product p = {.value = 1, .good = true};
  builder b = {x, e, the_access(x, e), -1};
  if (!b.access || !independent(b.access)) p.good = false;
  else if (f == F_TILE) tile_of(&b, &p);
  else if (e->compute) at_compute(&b, &p, f);
  else {
    for (int i = 0; i < e->child; i++) {
      const nst_ir_node *n = nst_path_node(x->m, e->stmt, i);
      if (n->kind == NST_NODE_FOR && moves(&b, i) && nst_uses_dim(x->m, e->stmt, e->tensor, n->dim)) b.innermost = i;
    }
    for (int r = 0; r < b.access->nranks; r++) {
      const nst_nest_rank *rank = &b.access->ranks[r];
      if (rank->nterms == 1) dimension_rank(&b, &p, rank->ir[0].dim);
      else if (rank->nterms > 1) sliding_rank(&b, &p, rank, f);
    }
    unused_dimensions(&b, &p, f);
  }
  if (!p.text.len) nst_buffer_puts(&p.text, "1");
  return p;
}

/* ---- checking ---- */

static int64_t counted(const nst_explain *x, const nst_edge *e, figure f) {
  const nst_ir_node *parent = nst_path_node(x->m, e->stmt, e->parent), *child = nst_path_node(x->m, e->stmt, e->child);
  const nst_moves *moved = nst_counts_at(x->counts, e->stmt, parent->level, e->tensor);
  switch (f) {
    case F_READS: return moved->reads;
    case F_UPDATES: return moved->updates;
    case F_TILE: break;
  }
  for (int i = 0; i < x->m->nslots; i++)
    if (x->m->slots[i].node == child->id && x->m->slots[i].tensor == e->tensor) return x->counts->tile[i];
  return -1;
}

static bool divides(const nst_explain *x, int stmt) {
  for (int i = 0; i < x->m->paths[stmt].nnodes; i++) {
    const nst_ir_node *n = nst_path_node(x->m, stmt, i);
    if (!nst_is_split(n)) continue;
    const int64_t outside = nst_extent_outside(x->nest, stmt, i, n->dim);
    const int64_t tile = x->nest->tile[n->id] < outside ? x->nest->tile[n->id] : outside;
    if (outside % tile) return false;
  }
  return true;
}

typedef enum { HOLDS_NOT, HOLDS_HERE, HOLDS_PERFECT, HOLDS_NEARBY } extent_of_truth;

/* Tries the same text at another point. */
static void try_at(const nst_explain *x, const nst_edge *e, figure f, const char *text, nestor_eval *other,
                   int param, int64_t value, bool *perfect, bool *imperfect, int *tried) {
  if (value < 1) return;
  for (int i = 0; i < x->m->scope.nparams; i++) other->params[i] = x->e->params[i];
  other->params[param] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(value)};
  nst_eval_refuel(other);
  if (!nst_pipeline_evaluate(other, NESTOR_ENGINE_ANALYSIS, NULL)) return;
  nst_explain there = *x;
  there.e = other;
  there.nest = other->nest;
  there.counts = other->counts;
  product p = build(&there, e, f);
  if (p.good && !strcmp(p.text.text, text)) { /* the same loops turn there */
    const bool same = p.value == counted(&there, e, f);
    if (divides(&there, e->stmt)) *perfect &= same;
    else *imperfect &= same;
    ++*tried;
  }
  nst_buffer_fini(&p.text);
}

static extent_of_truth truth(const nst_explain *x, const nst_edge *e, figure f, const product *p, nestor_eval *other) {
  if (!p->good || p->value != counted(x, e, f)) return HOLDS_NOT;
  bool perfect = true, imperfect = true;
  int tried = 0;
  for (int i = 0; i < x->m->scope.nparams; i++) {
    int64_t v;
    if (x->e->params[i].kind != NST_VALUE_RAT || !nst_rat_to_i64(&v, x->e->params[i].rat) || v < 1 || v > INT32_MAX)
      continue;
    const int64_t near[] = {v / 2, 2 * v, v + 1, v - 1, v / 2 + 1};
    for (size_t k = 0; k < sizeof near / sizeof *near; k++)
      try_at(x, e, f, p->text.text, other, i, near[k], &perfect, &imperfect, &tried);
  }
  if (!perfect) return HOLDS_NOT;
  if (!tried) return HOLDS_HERE;
  return imperfect ? HOLDS_NEARBY : HOLDS_PERFECT;
}

/* ---- printing ---- */

typedef struct {
  nst_table table;
  nestor_eval *other;
  int left_out;
} printer;

/* In a cascade a counter is a sum over statements: the statement stands beside it. */
static void label(nst_explain *x, printer *out, const nst_edge *e, const char *name, const nst_ir_node *at) {
  const nst_ir_workload *w = &x->m->workload;
  nst_buffer *cell = nst_table_cell(&out->table);
  nst_buffer_printf(cell, "%s(%s, %s)", name, x->m->hardware.levels[at->level].name, w->tensors[e->tensor].name);
  if (w->nstmts > 1) nst_buffer_printf(cell, " in %s", w->tensors[w->stmts[e->stmt].out.tensor].name);
}

static void row(nst_explain *x, printer *out, const nst_edge *e, figure f) {
  static const char *const names[] = {"reads", "updates", "tile"};
  const nst_ir_node *at = nst_path_node(x->m, e->stmt, f == F_TILE ? e->child : e->parent);
  product p = build(x, e, f);
  const extent_of_truth holds = truth(x, e, f, &p, out->other);
  if (holds == HOLDS_NOT) out->left_out++;
  else {
    label(x, out, e, names[f], at);
    nst_buffer_printf(nst_table_cell(&out->table), "= %s", p.text.text);
    nst_buffer *value = nst_table_cell(&out->table);
    nst_buffer_puts(value, "= ");
    nst_number_grouped(value, p.value);
    nst_table_text(&out->table, holds == HOLDS_PERFECT ? "only while tiles divide" : "");
  }
  nst_buffer_fini(&p.text);
}

/* Partial sums that come back: all that was written but the last of each element. */
static void read_back_row(nst_explain *x, printer *out, const nst_edge *e) {
  const nst_ir_node *parent = nst_path_node(x->m, e->stmt, e->parent);
  const nst_moves *moved = nst_counts_at(x->counts, e->stmt, parent->level, e->tensor);
  nst_edge all = *e;
  all.compute = false;
  all.child = 0; /* outside all loops: every element once */
  product p = build(x, &all, F_TILE);
  int64_t once;
  if (p.good && !__builtin_sub_overflow(moved->updates, moved->reads, &once) && once == p.value) {
    const char *level = x->m->hardware.levels[parent->level].name, *tensor = x->m->workload.tensors[e->tensor].name;
    label(x, out, e, "reads", parent);
    if (moved->reads) nst_buffer_printf(nst_table_cell(&out->table), "= updates(%s, %s) - %s", level, tensor, p.text.text);
    else nst_table_text(&out->table, "= 0: no partial sum comes back");
    nst_buffer *value = nst_table_cell(&out->table);
    nst_buffer_puts(value, "= ");
    nst_number_grouped(value, moved->reads);
    nst_table_text(&out->table, "");
  } else out->left_out++;
  nst_buffer_fini(&p.text);
}

/* One printer at a time: handed on through the explanation's own pass over the edges. */
typedef struct { nst_explain x; printer *out; } pass;

static void edge_rows(nst_explain *x, const nst_edge *e) {
  printer *out = ((pass *)(void *)x)->out; /* x is the first member of a pass */
  const bool output = x->m->workload.stmts[e->stmt].out.tensor == e->tensor;
  row(x, out, e, output ? F_UPDATES : F_READS);
  if (output) read_back_row(x, out, e);
  if (!e->compute) row(x, out, e, F_TILE);
}

void nst_explain_formulas(nst_explain *x) {
  printer out = {.left_out = 0};
  nst_table_init(&out.table, 4, 4, 0, false);
  for (int i = 0; i < x->e->program->ir->nmappings; i++)
    if (x->e->program->ir->mappings[i] == x->m) out.other = nestor_eval_new(x->e->program, (size_t)i);
  pass p = {*x, &out};
  nst_explain_edges(&p.x, edge_rows);
  nst_buffer_puts(x->out, "\nclosed forms, in elements, each checked against the analysis at these parameters and near them\n");
  nst_table_print(&out.table, x->out);
  if (out.left_out) {
    nst_buffer_puts(x->out, "  ");
    nst_count_of(x->out, out.left_out, "figure has", "figures have");
    nst_buffer_puts(x->out, " no short closed form here (tiles cut short, windows cut by a declared shape, tiles that\n"
                            "  return in part); the counts above are exact\n");
  }
  nst_table_fini(&out.table);
  nestor_eval_free(out.other);
}
