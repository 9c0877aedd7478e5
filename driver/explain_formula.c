/* Closed forms, and how far each holds.
 *
 * A row of the list is a figure of an edge. For it there are candidates: the
 * product of the edge (explain_product) with every loop taken to turn, and with
 * some of those that do not turn here taken away. Nothing is printed on trust.
 * Every candidate is evaluated at some hundred sites beside the analysis, and
 * with it the conditions that could keep it true: that a tile is below, within
 * or not below what it splits, that tiles divide, that the sizes stay. Of the
 * conditions that hold here as many are dropped as can be without letting in a
 * site where text and count differ, and the candidate that needs the least is
 * printed with them. Where all of them together let one in, or more would have
 * to be said than a reader keeps in mind, no form is printed. */
#include "base/vec.h"
#include "driver/explain_product.h"
#include "driver/explain_sites.h"
#include "driver/table.h"

#include <string.h>

enum { CONDITIONS = 60, OPTIONAL_LOOPS = 4, EVIDENCE = 8, STATED = 4 };

typedef enum { ROW_READS, ROW_UPDATES, ROW_TILE, ROW_READ_BACK } row_kind;
typedef enum { SAME_SIZES, DIVIDES, BELOW, WITHIN, NOT_BELOW } condition_kind;
typedef struct {
  condition_kind kind;
  int at; /* path position */
  const char *text;
} condition;

typedef struct {
  nst_product_shape shape;
  bool none_back; /* ROW_READ_BACK: nothing is, not all but the last */
  const char *text;
  int64_t value; /* here */
  NST_VEC(condition) conditions;
  NST_VEC(uint64_t) bits; /* by site: the conditions that hold there, and bit 63 where the text is right */
} candidate;

typedef struct {
  nst_edge edge;
  row_kind kind;
  NST_VEC(candidate *) candidates;
} row;

typedef struct {
  nst_explain x; /* first: edges hand on the explanation */
  nst_arena *arena;
  NST_VEC(row *) rows;
} forms;

static const uint64_t RIGHT = UINT64_C(1) << 63;

/* ---- candidates ---- */

static nst_edge_figure figure_of(row_kind kind) {
  switch (kind) {
  case ROW_READS: return NST_F_READS;
  case ROW_UPDATES: return NST_F_UPDATES;
  case ROW_TILE:
  case ROW_READ_BACK: break;
  }
  return NST_F_TILE;
}

/* Every element of the tensor once: the tile outside all loops. */
static nst_edge whole_of(const nst_edge *e) { return (nst_edge){e->stmt, e->tensor, e->parent, 0, false}; }

static nst_formed product_of(const nst_explain *x, const row *r, nst_product_shape *shape) {
  const nst_edge whole = whole_of(&r->edge);
  return nst_product_make(x, r->kind == ROW_READ_BACK ? &whole : &r->edge, figure_of(r->kind), shape);
}

/* Whether a candidate's text gives the count at a site. */
static bool is_right(const nst_explain *x, const row *r, candidate *c) {
  const nst_ir_node *parent = nst_path_node(x->m, r->edge.stmt, r->edge.parent);
  const nst_moves *moved = nst_counts_at(x->counts, r->edge.stmt, parent->level, r->edge.tensor);
  if (r->kind == ROW_READ_BACK && c->none_back) return moved->reads == 0;
  nst_formed p = product_of(x, r, &c->shape);
  const bool good = p.good;
  const int64_t value = p.value;
  nst_buffer_fini(&p.text);
  if (r->kind == ROW_READ_BACK) return good && moved->updates - moved->reads == value;
  return good && value == nst_product_counted(x, &r->edge, figure_of(r->kind));
}

static void add_condition(forms *f, candidate *c, condition_kind kind, int at, const char *text) {
  if (c->conditions.len < CONDITIONS) *nst_vec_push(f->arena, &c->conditions) = (condition){kind, at, text};
}

/* The conditions that hold here. In the order in which they are best done without. */
static void add_conditions(forms *f, const row *r, candidate *c) {
  add_condition(f, c, SAME_SIZES, 0, "at these sizes");
  add_condition(f, c, DIVIDES, 0, "only while tiles divide");
  for (int pass = 0; pass < 3; pass++)
    for (int i = 0; i < r->edge.child; i++) {
      const nst_ir_node *n = nst_path_node(f->x.m, r->edge.stmt, i);
      if (!nst_is_split(n)) continue;
      const bool turns = c->shape.turns[n->id];
      const nst_term tile = nst_product_tile(&f->x, c->shape.turns, r->edge.stmt, i);
      const nst_term all = nst_product_extent(&f->x, c->shape.turns, r->edge.stmt, i, n->dim);
      if (!tile.good || !all.good) continue;
      if (pass == 0 && tile.value < all.value)
        add_condition(f, c, BELOW, i, nst_arena_printf(f->arena, "%s < %s", tile.text, all.text));
      if (pass == (turns ? 2 : 1) && tile.value <= all.value)
        add_condition(f, c, WITHIN, i, nst_arena_printf(f->arena, "%s <= %s", tile.text, all.text));
      if (pass == (turns ? 1 : 2) && tile.value >= all.value)
        add_condition(f, c, NOT_BELOW, i, nst_arena_printf(f->arena, "%s >= %s", tile.text, all.text));
    }
}

static void add_candidate(forms *f, row *r, const bool *turns, bool none_back) {
  candidate *c = NST_NEW(f->arena, candidate);
  c->shape.turns = turns;
  c->none_back = none_back;
  nst_formed p = product_of(&f->x, r, &c->shape);
  c->text = none_back ? "0: no partial sum comes back" : nst_arena_strndup(f->arena, p.text.text, p.text.len);
  c->value = p.value;
  nst_buffer_fini(&p.text);
  if (!is_right(&f->x, r, c)) return;
  for (size_t i = 0; i < r->candidates.len; i++)
    if (!strcmp(r->candidates.items[i]->text, c->text)) return;
  add_conditions(f, r, c);
  *nst_vec_push(f->arena, &r->candidates) = c;
}

/* The loops that turn here turn in every candidate; of the others each set is tried, the smallest first. */
static void add_row(forms *f, const nst_edge *e, row_kind kind) {
  row *r = NST_NEW(f->arena, row);
  r->edge = *e;
  r->kind = kind;
  *nst_vec_push(f->arena, &f->rows) = r;
  const int nnodes = f->x.m->nnodes;
  int still[OPTIONAL_LOOPS], nstill = 0;
  bool *fixed = NST_NEW_ARRAY(f->arena, nnodes, bool);
  for (int i = 0; i < nnodes; i++) fixed[i] = true;
  for (int i = 0; i < e->child; i++) {
    const nst_ir_node *n = nst_path_node(f->x.m, e->stmt, i);
    if (!nst_is_split(n) || f->x.nest->count[n->id] > 1) continue;
    if (nstill < OPTIONAL_LOOPS)
      still[nstill++] = n->id;
    else
      fixed[n->id] = false;
  }
  if (kind == ROW_READ_BACK) add_candidate(f, r, fixed, true);
  for (int size = 0; size <= nstill; size++)
    for (unsigned set = 0; set < 1u << nstill; set++) {
      if (__builtin_popcount(set) != size || (kind == ROW_READ_BACK && size)) continue;
      bool *turns = NST_NEW_ARRAY(f->arena, nnodes, bool);
      memcpy(turns, fixed, (size_t)nnodes * sizeof *turns);
      for (int i = 0; i < nstill; i++) turns[still[i]] = !(set >> i & 1);
      add_candidate(f, r, turns, false);
    }
}

static void edge_rows(nst_explain *x, const nst_edge *e) {
  forms *f = (forms *)(void *)x;
  const bool output = x->m->workload.stmts[e->stmt].out.tensor == e->tensor;
  add_row(f, e, output ? ROW_UPDATES : ROW_READS);
  if (output) add_row(f, e, ROW_READ_BACK);
  if (!e->compute) add_row(f, e, ROW_TILE);
}

/* ---- sites ---- */

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

static bool holds(const nst_explain *x, const row *r, const candidate *c, const condition *k, bool divided,
                  bool same_sizes) {
  if (k->kind == SAME_SIZES) return same_sizes;
  if (k->kind == DIVIDES) return divided;
  const nst_ir_node *n = nst_path_node(x->m, r->edge.stmt, k->at);
  const nst_term tile = nst_product_tile(x, c->shape.turns, r->edge.stmt, k->at);
  const nst_term all = nst_product_extent(x, c->shape.turns, r->edge.stmt, k->at, n->dim);
  if (!tile.good || !all.good) return true; /* nothing can be said: the site counts against the text */
  return k->kind == BELOW    ? tile.value < all.value
         : k->kind == WITHIN ? tile.value <= all.value
                             : tile.value >= all.value;
}

static void try_here(void *context, const nst_explain *site, bool same_sizes) {
  forms *f = context;
  int stmt = -1;
  bool divided = false;
  for (size_t i = 0; i < f->rows.len; i++) {
    const row *r = f->rows.items[i];
    if (r->edge.stmt != stmt) divided = divides(site, stmt = r->edge.stmt);
    for (size_t k = 0; k < r->candidates.len; k++) {
      candidate *c = r->candidates.items[k];
      uint64_t bits = is_right(site, r, c) ? RIGHT : 0;
      for (size_t j = 0; j < c->conditions.len; j++)
        if (holds(site, r, c, &c->conditions.items[j], divided, same_sizes)) bits |= UINT64_C(1) << j;
      *nst_vec_push(f->arena, &c->bits) = bits;
    }
  }
}

/* ---- choosing ---- */

static bool contradicted(const candidate *c, uint64_t conditions) {
  for (size_t i = 0; i < c->bits.len; i++)
    if ((c->bits.items[i] & conditions) == conditions && !(c->bits.items[i] & RIGHT)) return true;
  return false;
}

/* Whether enough sites that keep some conditions and break another say that it can be done without; also where no site
 * at all breaks it. */
static bool is_shown(const candidate *c, uint64_t conditions, uint64_t dropped) {
  int broken = 0;
  bool ever = false;
  for (size_t i = 0; i < c->bits.len; i++) {
    const bool breaks = !(c->bits.items[i] & dropped);
    ever = ever || breaks;
    broken += breaks && (c->bits.items[i] & conditions) == conditions;
  }
  return !ever || broken >= EVIDENCE;
}

static bool implied(const candidate *c, uint64_t conditions, const condition *k) {
  for (size_t i = 0; k->kind == WITHIN && i < c->conditions.len; i++)
    if (conditions >> i & 1 && c->conditions.items[i].kind == BELOW && c->conditions.items[i].at == k->at) return true;
  return false;
}

/* As few conditions as keep the candidate true; false: all of them do not. What was dropped comes back where too few
 * sites speak for it. */
static bool settle(const candidate *c, uint64_t *conditions) {
  *conditions = (UINT64_C(1) << c->conditions.len) - 1;
  if (!c->bits.len || contradicted(c, *conditions)) return false;
  for (size_t i = 0; i < c->conditions.len; i++)
    if (!contradicted(c, *conditions & ~(UINT64_C(1) << i))) *conditions &= ~(UINT64_C(1) << i);
  const uint64_t needed = *conditions;
  for (size_t i = 0; i < c->conditions.len; i++) {
    const uint64_t one = UINT64_C(1) << i;
    if (!(needed & one) && !implied(c, *conditions, &c->conditions.items[i]) && !is_shown(c, needed, one))
      *conditions |= one;
  }
  return true;
}

static int burden(const candidate *c, uint64_t conditions) {
  static const int weight[] = {[SAME_SIZES] = 8, [DIVIDES] = 3, [BELOW] = 2, [WITHIN] = 1, [NOT_BELOW] = 2};
  int sum = 0;
  for (size_t i = 0; i < c->conditions.len; i++)
    if (conditions >> i & 1) sum += weight[c->conditions.items[i].kind];
  return sum;
}

static const candidate *choose(const row *r, uint64_t *conditions) {
  const candidate *best = NULL;
  for (size_t i = 0; i < r->candidates.len; i++) {
    const candidate *c = r->candidates.items[i];
    uint64_t mine;
    if (!settle(c, &mine) || __builtin_popcountll(mine) > STATED) continue;
    if (best && burden(c, mine) >= burden(best, *conditions)) continue;
    best = c;
    *conditions = mine;
  }
  return best;
}

/* ---- printing ---- */

/* In a cascade a counter is a sum over statements: the statement stands beside it. */
static void label(const nst_explain *x, nst_table *t, const row *r) {
  static const char *const names[] = {"reads", "updates", "tile", "reads"};
  const nst_ir_workload *w = &x->m->workload;
  const nst_edge *e = &r->edge;
  const nst_ir_node *at = nst_path_node(x->m, e->stmt, r->kind == ROW_TILE ? e->child : e->parent);
  nst_buffer *cell = nst_table_cell(t);
  nst_buffer_printf(cell, "%s(%s, %s)", names[r->kind], x->m->hardware.levels[at->level].name,
                    w->tensors[e->tensor].name);
  if (w->nstmts > 1) nst_buffer_printf(cell, " in %s", w->tensors[w->stmts[e->stmt].out.tensor].name);
}

static void say_conditions(nst_buffer *out, const candidate *c, uint64_t conditions) {
  const char *before = "while ";
  for (size_t i = 0; i < c->conditions.len; i++) {
    if (!(conditions >> i & 1) || c->conditions.items[i].kind < BELOW) continue;
    nst_buffer_printf(out, "%s%s", before, c->conditions.items[i].text);
    before = " and ";
  }
  before = *before == ' ' ? ", " : "";
  for (size_t i = c->conditions.len; i-- > 0;) {
    if (!(conditions >> i & 1) || c->conditions.items[i].kind >= BELOW) continue;
    nst_buffer_printf(out, "%s%s", before, c->conditions.items[i].text);
    before = ", ";
  }
}

static bool print_row(const nst_explain *x, nst_table *t, const row *r) {
  uint64_t conditions = 0;
  const candidate *c = choose(r, &conditions);
  if (!c) return false;
  const nst_ir_node *parent = nst_path_node(x->m, r->edge.stmt, r->edge.parent);
  label(x, t, r);
  nst_buffer *form = nst_table_cell(t);
  nst_buffer_puts(form, "= ");
  int64_t value = c->value;
  if (r->kind == ROW_READ_BACK) {
    value = nst_counts_at(x->counts, r->edge.stmt, parent->level, r->edge.tensor)->reads;
    if (!c->none_back)
      nst_buffer_printf(form, "updates(%s, %s) - ", x->m->hardware.levels[parent->level].name,
                        x->m->workload.tensors[r->edge.tensor].name);
  }
  nst_buffer_puts(form, c->text);
  nst_buffer *cell = nst_table_cell(t);
  nst_buffer_puts(cell, "= ");
  nst_number_grouped(cell, value);
  say_conditions(nst_table_cell(t), c, conditions);
  return true;
}

void nst_explain_formulas(nst_explain *x) {
  forms f = {.x = *x, .arena = nst_arena_new()};
  f.x.arena = f.arena;
  nst_explain_edges(&f.x, edge_rows);
  const int tried = nst_explain_sites(&f.x, try_here, &f);
  nst_table t;
  nst_table_init(&t, 4, 4, 0, false);
  int left_out = 0;
  nst_buffer_puts(
    x->out, "\nclosed forms, in elements, each equal to the analysis at all points tried around these parameters (");
  nst_number_grouped(x->out, tried);
  nst_buffer_puts(x->out, ")\nwhere the condition behind it holds\n");
  for (size_t i = 0; i < f.rows.len; i++) left_out += !print_row(x, &t, f.rows.items[i]);
  nst_table_print(&t, x->out);
  if (left_out) {
    nst_buffer_puts(x->out, "  ");
    nst_count_of(x->out, left_out, "figure has", "figures have");
    nst_buffer_puts(x->out, " no short closed form here (tiles cut short, windows cut by a declared shape, tiles that\n"
                            "  return in part); the counts above are exact\n");
  }
  nst_table_fini(&t);
  nst_arena_free(f.arena);
}
