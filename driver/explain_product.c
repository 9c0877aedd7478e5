/* Products with the names of the parameters.
 *
 * For one edge of a tensor the number of elements that move is a product:
 *   a rank of one dimension    its whole extent: every step brings other elements
 *   a sliding rank (p + r)     the window swept by the innermost loop that moves
 *                              the tile, halo counted once, times the other loops
 *                              of its dimensions
 *   a dimension not used       the rounds of its loops outside that innermost loop
 *   a par over one             1 where siblings share a read, else its places
 * This is section 4 of the counting rules for tiles that divide and ranks
 * without gaps. Text and value are made side by side from the same expressions,
 * so that the value at any parameters is what the text says there; whether that
 * is what the analysis counts is asked by those who print it. */
#include "driver/explain_product.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const nst_explain *x;
  const nst_edge *e;
  const nst_nest_access *access;
  int innermost; /* path position of the innermost for outside the child that moves the tile, or -1 */
  nst_product_shape *shape;
  int windows; /* asked for so far */
} builder;

/* ---- text and arithmetic ---- */

static bool is_literal(const char *text) { return text[strspn(text, "0123456789")] == '\0'; }

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

static void factor(nst_formed *p, nst_term t) {
  if (!t.good || __builtin_mul_overflow(p->value, t.value, &p->value)) p->good = false;
  if (t.value == 1 && is_literal(t.text)) return;
  nst_buffer_printf(&p->text, is_atom(t.text) ? "%s%s" : "%s(%s)", p->text.len ? " * " : "", t.text);
}

static const char *expr_text(const nst_explain *x, const nst_expr *e) {
  nst_buffer b = {0};
  nst_expr_print(&b, e, x->params, x->values);
  const char *text = nst_arena_strndup(x->arena, b.text, b.len);
  nst_buffer_fini(&b);
  return text;
}

static nst_term expr_term(const nst_explain *x, const nst_expr *e) {
  nst_value v;
  nst_span where;
  nst_term t = {.text = expr_text(x, e)};
  uint64_t fuel = UINT64_C(1) << 20;
  const nst_eval_env env = {.params = x->point, .values = x->nest->values, .fuel = &fuel};
  t.good = nst_expr_eval(&v, e, &env, &where) == NST_EVAL_OK && nst_value_to_i64(&t.value, &v);
  return t;
}

static nst_term ceiling(const nst_explain *x, nst_term whole, nst_term part) {
  nst_term t = {.text =
                  nst_arena_printf(x->arena, "ceil(%s / %s)", atom(x->arena, whole.text), atom(x->arena, part.text)),
                .good = whole.good && part.good && whole.value > 0 && part.value > 0};
  if (t.good) t.value = (whole.value - 1) / part.value + 1;
  return t;
}

/* ---- sizes ---- */

nst_term nst_product_tile(const nst_explain *x, const bool *turns, int stmt, int i) {
  const nst_ir_node *n = nst_path_node(x->m, stmt, i);
  switch (n->split) {
  case NST_TILE_ONE: return (nst_term){"1", 1, true};
  case NST_TILE_BY: return expr_term(x, n->size);
  case NST_TILE_INTO: return ceiling(x, nst_product_extent(x, turns, stmt, i, n->dim), expr_term(x, n->size));
  case NST_TILE_AUTO: {
    const nst_ir_axis *axis = &x->m->hardware.levels[n->level].axes[n->axis];
    return ceiling(x, nst_product_extent(x, turns, stmt, i, n->dim), expr_term(x, axis->size));
  }
  }
  return (nst_term){"", 0, false};
}

nst_term nst_product_extent(const nst_explain *x, const bool *turns, int stmt, int i, int dim) {
  for (int k = i - 1; k >= 0; k--) {
    const nst_ir_node *n = nst_path_node(x->m, stmt, k);
    if (nst_is_split(n) && n->dim == dim && turns[n->id]) return nst_product_tile(x, turns, stmt, k);
  }
  return (nst_term){expr_text(x, x->m->workload.dims[dim].extent), x->nest->extent[dim], true};
}

static nst_term extent(const builder *b, int i, int dim) {
  return nst_product_extent(b->x, b->shape->turns, b->e->stmt, i, dim);
}

/* Rounds of the for or places of the par at path position i. */
static nst_term rounds(const builder *b, int i) {
  const nst_ir_node *n = nst_path_node(b->x->m, b->e->stmt, i);
  if (n->split == NST_TILE_INTO) return expr_term(b->x, n->size);
  const nst_term outside = extent(b, i, n->dim);
  if (n->split == NST_TILE_ONE) return outside;
  return ceiling(b->x, outside, nst_product_tile(b->x, b->shape->turns, b->e->stmt, i));
}

/* Whether the mapping's parameters decide an expression. */
static bool depends(const nst_ir_mapping *m, const nst_expr *e) {
  if (!e) return false;
  if (e->kind == NST_X_PARAM) return true;
  if (e->kind == NST_X_VALUE) return depends(m, m->scope.values[e->index].value);
  return depends(m, e->a) || depends(m, e->b) || depends(m, e->c);
}

/* sum |c| (X - 1) + 1 as "P + 2" or "2*P + R - 2". */
static nst_term width(const nst_explain *x, const int64_t *coef, const nst_term *sizes, int n) {
  nst_buffer b = {0};
  __int128 constant = 1, value = 1;
  bool good = true;
  for (int i = 0; i < n; i++) {
    const __int128 c = coef[i] < 0 ? -(__int128)coef[i] : coef[i];
    value += c * (sizes[i].value - 1);
    constant -= c;
    good = good && sizes[i].good;
    if (is_literal(sizes[i].text)) {
      constant += c * sizes[i].value;
      continue;
    }
    nst_buffer_puts(&b, b.len ? " + " : "");
    if (c != 1) nst_buffer_printf(&b, "%lld*", (long long)c);
    nst_buffer_puts(&b, atom(x->arena, sizes[i].text));
  }
  good = good && value > 0 && value <= INT64_MAX && constant >= -INT64_MAX && constant <= INT64_MAX;
  const long long rest = good ? (long long)constant : 0;
  if (!b.len)
    nst_buffer_int(&b, rest);
  else if (rest)
    nst_buffer_printf(&b, rest < 0 ? " - %lld" : " + %lld", llabs(rest));
  const nst_term out = {nst_arena_strndup(x->arena, b.text, b.len), good ? (int64_t)value : 0, good};
  nst_buffer_fini(&b);
  return out;
}

/* ---- the product of one edge ---- */

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
  return nst_is_split(n) && b->shape->turns[n->id];
}

static bool shares(const builder *b, const nst_ir_node *par, nst_edge_figure f) {
  const nst_ir_level *array = &b->x->m->hardware.levels[par->level];
  return f == NST_F_UPDATES || array->multicast;
}

/* The part of a dimension that the siblings under one parent hold together. */
static nst_term together(const builder *b, int dim, nst_edge_figure f) {
  int at = b->e->child;
  for (int i = b->e->child - 1; i > b->e->parent; i--) {
    const nst_ir_node *n = nst_path_node(b->x->m, b->e->stmt, i);
    if (!nst_is_split(n) || n->dim != dim) continue;
    if (n->kind == NST_NODE_FOR || !shares(b, n, f)) break;
    at = i;
  }
  return extent(b, at, dim);
}

/* Whether the node at i is one of those that `together` has taken in. */
static bool taken_in(const builder *b, int i, nst_edge_figure f) {
  const nst_ir_node *n = nst_path_node(b->x->m, b->e->stmt, i);
  if (n->kind != NST_NODE_PAR || i < b->e->parent || !shares(b, n, f)) return false;
  for (int k = i + 1; k < b->e->child; k++) {
    const nst_ir_node *inside = nst_path_node(b->x->m, b->e->stmt, k);
    if (nst_is_split(inside) && inside->dim == n->dim && (inside->kind == NST_NODE_FOR || !shares(b, inside, f)))
      return false;
  }
  return true;
}

/* Whether a window over all of the rank's dimensions reaches past a declared shape on both sides: then it has its size.
 */
static bool reaches_past(const builder *b, const nst_nest_rank *r, const nst_term *sizes, nst_term w) {
  if (r->size < 0 || !w.good) return false;
  __int128 first = r->offset;
  for (int t = 0; t < r->nterms; t++) {
    const int64_t all = b->x->nest->extent[r->ir[t].dim];
    if (sizes[t].value != all) return false;
    if (r->coef[t] < 0) first += (__int128)r->coef[t] * (all - 1);
  }
  return first <= 0 && first + w.value >= r->size;
}

static nst_term inside_shape(builder *b, const nst_nest_rank *r, const nst_term *sizes, nst_term w) {
  const nst_expr *const *shape = b->x->m->workload.tensors[b->e->tensor].shape;
  const ptrdiff_t rank = r - b->access->ranks;
  const int at = b->windows++ & 63;
  if (!b->shape->settled && reaches_past(b, r, sizes, w)) b->shape->windows |= UINT64_C(1) << at;
  if (!(b->shape->windows >> at & 1) || r->size < 0) return w;
  return (nst_term){expr_text(b->x, shape[rank]), r->size, true};
}

static void sliding_rank(builder *b, nst_formed *p, const nst_nest_rank *r, nst_edge_figure f) {
  nst_term *sizes = NST_NEW_ARRAY(b->x->arena, r->nterms, nst_term);
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
    sizes[t] = sweeps && r->ir[t].dim == dim ? extent(b, first, dim) : together(b, r->ir[t].dim, f);
  for (int t = 0; t < r->nterms; t++)
    if (depends(b->x->m, r->ir[t].coef)) p->good = false; /* a coefficient stands in the text as its number */
  factor(p, inside_shape(b, r, sizes, width(b->x, r->coef, sizes, r->nterms)));
  for (int i = 0; i < b->e->child; i++) {
    const nst_ir_node *n = nst_path_node(b->x->m, b->e->stmt, i);
    if (!moves(b, i) || !in_rank(r, n->dim) || taken_in(b, i, f)) continue;
    if (sweeps && n->dim == dim && i >= first) continue;
    factor(p, rounds(b, i));
  }
}

/* Loops and pars over dimensions that the tensor does not use. */
static void unused_dimensions(builder *b, nst_formed *p, nst_edge_figure f) {
  for (int i = 0; i < b->e->child; i++) {
    const nst_ir_node *n = nst_path_node(b->x->m, b->e->stmt, i);
    if (!moves(b, i) || nst_uses_dim(b->x->m, b->e->stmt, b->e->tensor, n->dim)) continue;
    if (n->kind == NST_NODE_FOR && i > b->innermost) continue; /* the tile stays */
    if (n->kind == NST_NODE_PAR && i > b->e->parent && shares(b, n, f)) continue;
    factor(p, rounds(b, i));
  }
}

/* At the compute every operation takes part: all points, shared by siblings. */
static void at_compute(builder *b, nst_formed *p, nst_edge_figure f) {
  const nst_ir_mapping *m = b->x->m;
  const nst_ir_stmt *stmt = &m->workload.stmts[b->e->stmt];
  for (int d = 0; d < stmt->ndims; d++) factor(p, extent(b, 0, stmt->dims[d]));
  if (!p->text.len) nst_buffer_puts(&p->text, "1");
  for (int i = b->e->parent + 1; i < b->e->child; i++) {
    const nst_ir_node *n = nst_path_node(m, b->e->stmt, i);
    if (!moves(b, i) || n->kind != NST_NODE_PAR) continue;
    if (nst_uses_dim(m, b->e->stmt, b->e->tensor, n->dim)) {
      for (int r = 0; r < b->access->nranks; r++)
        if (in_rank(&b->access->ranks[r], n->dim) && b->access->ranks[r].nterms > 1) p->good = false;
      continue;
    }
    if (!shares(b, n, f)) continue;
    const nst_term places = rounds(b, i);
    nst_buffer_printf(&p->text, " / %s", atom(b->x->arena, places.text));
    if (!p->good || !places.good || places.value < 1 || p->value % places.value)
      p->good = false;
    else
      p->value /= places.value;
  }
}

static void tile_of(builder *b, nst_formed *p) {
  for (int r = 0; r < b->access->nranks; r++) {
    const nst_nest_rank *rank = &b->access->ranks[r];
    nst_term *sizes = NST_NEW_ARRAY(b->x->arena, rank->nterms, nst_term);
    for (int t = 0; t < rank->nterms; t++) {
      sizes[t] = extent(b, b->e->child, rank->ir[t].dim);
      if (rank->nterms > 1 && depends(b->x->m, rank->ir[t].coef)) p->good = false;
    }
    if (!rank->nterms) continue;
    factor(p,
           inside_shape(b, rank, sizes, rank->nterms == 1 ? sizes[0] : width(b->x, rank->coef, sizes, rank->nterms)));
  }
}

nst_formed nst_product_make(const nst_explain *x, const nst_edge *e, nst_edge_figure f, nst_product_shape *shape) {
  nst_formed p = {.value = 1, .good = true};
  builder b = {.x = x, .e = e, .access = the_access(x, e), .innermost = -1, .shape = shape};
  if (!b.access || !independent(b.access))
    p.good = false;
  else if (f == NST_F_TILE)
    tile_of(&b, &p);
  else if (e->compute)
    at_compute(&b, &p, f);
  else {
    for (int i = 0; i < e->child; i++) {
      const nst_ir_node *n = nst_path_node(x->m, e->stmt, i);
      if (n->kind == NST_NODE_FOR && moves(&b, i) && nst_uses_dim(x->m, e->stmt, e->tensor, n->dim)) b.innermost = i;
    }
    for (int r = 0; r < b.access->nranks; r++) {
      const nst_nest_rank *rank = &b.access->ranks[r];
      if (rank->nterms == 1)
        factor(&p, extent(&b, 0, rank->ir[0].dim));
      else if (rank->nterms > 1)
        sliding_rank(&b, &p, rank, f);
    }
    unused_dimensions(&b, &p, f);
  }
  if (!p.text.len) nst_buffer_puts(&p.text, "1");
  shape->settled = true;
  return p;
}

int64_t nst_product_counted(const nst_explain *x, const nst_edge *e, nst_edge_figure f) {
  const nst_ir_node *parent = nst_path_node(x->m, e->stmt, e->parent), *child = nst_path_node(x->m, e->stmt, e->child);
  const nst_moves *moved = nst_counts_at(x->counts, e->stmt, parent->level, e->tensor);
  switch (f) {
  case NST_F_READS: return moved->reads;
  case NST_F_UPDATES: return moved->updates;
  case NST_F_TILE: break;
  }
  for (int i = 0; i < x->m->nslots; i++)
    if (x->m->slots[i].node == child->id && x->m->slots[i].tensor == e->tensor) return x->counts->tile[i];
  return -1;
}
