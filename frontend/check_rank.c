/* Ranks: affine sums of dimensions.
 *
 * A rank is taken apart into one coefficient per dimension and an offset, all
 * of them value expressions without dimensions. In a rank a dimension hides a
 * value of the same name. Terms are in order of declaration, each dimension
 * once, none with a coefficient that is the constant zero: two ranks are the
 * same sum exactly when their terms and offsets are. */
#include "frontend/check.h"
#include <ctype.h>

typedef struct {
  int dim;
  nst_typed coef;
} term;
typedef struct {
  NST_VEC(term) terms;
  nst_typed offset;
  bool ok;
} affine;

static affine wrong(void) { return (affine){.ok = false}; }

static const char *const expectation = "a rank is a sum of dimensions, each times a constant, plus a constant";

static affine say_not_affine(nst_scope *s, const nst_ast_expr *e, const char *message, const char *help) {
  nst_diag *m = nst_diag_add(s->ck->diags, NST_D_NOT_AFFINE, e->span, "%s", message);
  nst_diag_help(s->ck->diags, m, "%s", help ? help : expectation);
  return wrong();
}

/* Adds the dimensions of any expression, so that a rank that is not affine does not leave them unused. */
static bool mark(nst_scope *s, const nst_ast_expr *e, nst_dim_set *met) {
  if (!e) return false;
  bool found = false;
  if (e->kind == NST_AST_NAME) {
    const nst_symbol *sym = nst_symtab_find(s->dims, e->id.name);
    if (sym && !met->in[sym->index]) {
      met->in[sym->index] = true;
      met->at[sym->index] = e->span;
    }
    return sym != NULL;
  }
  found = mark(s, e->a, met) || found;
  found = mark(s, e->b, met) || found;
  found = mark(s, e->c, met) || found;
  for (const nst_ast_arg *a = e->args; a; a = a->next) found = mark(s, a->value, met) || found;
  for (const nst_ast_link *l = e->links; l; l = l->next) found = mark(s, l->operand, met) || found;
  return found;
}

static affine of_value(nst_scope *s, const nst_ast_expr *e) {
  nst_typed t = nst_check_expr(s, e);
  if (!t.x) return wrong();
  if (t.truth) {
    nst_diag_add(s->ck->diags, NST_D_NOT_NUMBER, e->span, "an index must be a number, not a condition");
    return wrong();
  }
  if (!nst_check_unit(s, &t, e->span, e, NST_UNIT_NONE, "an index")) return wrong();
  return (affine){.offset = t, .ok = true};
}

static bool sees(nst_scope *s, nst_name name) {
  nst_typed t;
  for (int i = 0; i < s->nframes; i++)
    if (nst_symtab_find(s->frames[i], name)) return true;
  return nst_module_const(s->ck, s->module, NULL, name, (nst_span){0}, &t);
}

static bool same_but_for_case(nst_name a, nst_name b) {
  while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
  return *a == *b;
}

/* The value written like a dimension that does not exist, but for case: `dim s = S` was forgotten, and to put `S` in
 * the place of `s` would give a good program that means something else. */
static nst_name size_named_like(const nst_scope *s, nst_name name) {
  for (int i = 0; i < s->nframes; i++)
    for (size_t k = 0; k < s->frames[i]->len; k++)
      if (same_but_for_case(s->frames[i]->items[k].name, name)) return s->frames[i]->items[k].name;
  return NULL;
}

static affine of_name(nst_scope *s, const nst_ast_expr *e, nst_dim_set *met) {
  if (!e->id.name) return wrong();
  const nst_symbol *sym = nst_symtab_find(s->dims, e->id.name);
  if (!sym) {
    if (sees(s, e->id.name) || s->incomplete) return of_value(s, e);
    nst_diag *m = nst_say_unknown(s->ck, s->dims, NST_D_UNKNOWN_DIMENSION, e->span, e->id.name,
                                  "there is no dimension `%s`", e->id.name);
    if (!m) return wrong();
    const nst_name size = size_named_like(s, e->id.name);
    if (size) {
      nst_diag_help(s->ck->diags, m, "declare it: `dim %s = %s`", e->id.name, size);
      return wrong();
    }
    nst_candidates c = {0};
    nst_candidates_add(s->ck->arena, &c, s->dims);
    for (int i = 0; i < s->nframes; i++) nst_candidates_add(s->ck->arena, &c, s->frames[i]);
    if (!nst_suggest(s->ck->diags, m, e->span, e->id.name, &c)) {
      if (s->dims->len)
        nst_help_known(s->ck->arena, s->ck->diags, m, "dimensions", s->dims);
      else
        nst_diag_help(s->ck->diags, m, "declare it: `dim %s = …`", e->id.name);
    }
    return wrong();
  }
  mark(s, e, met);
  if (sym->poisoned) return wrong();
  affine out = {.ok = true};
  *nst_vec_push(s->ck->arena, &out.terms) = (term){sym->index, nst_typed_const(s->ck, e->span, nst_rat_int(1))};
  return out;
}

static nst_typed combine(nst_scope *s, nst_expr_kind kind, nst_span span, nst_typed a, nst_typed b) {
  if (!a.x && !b.x) return a;
  if (!a.x) return kind == NST_X_SUB ? nst_typed_make(s->ck, NST_X_NEG, span, &b, NULL, NULL) : b;
  return b.x ? nst_typed_make(s->ck, kind, span, &a, &b, NULL) : a;
}

static affine add(nst_scope *s, nst_expr_kind kind, nst_span span, affine a, const affine *b) {
  for (size_t i = 0; i < b->terms.len; i++) {
    const term *t = &b->terms.items[i];
    size_t j = 0;
    while (j < a.terms.len && a.terms.items[j].dim != t->dim) j++;
    if (j == a.terms.len) {
      nst_typed coef =
        kind == NST_X_SUB ? nst_typed_make(s->ck, NST_X_NEG, t->coef.x->span, &t->coef, NULL, NULL) : t->coef;
      *nst_vec_push(s->ck->arena, &a.terms) = (term){t->dim, coef};
    } else {
      a.terms.items[j].coef = nst_typed_make(s->ck, kind, span, &a.terms.items[j].coef, &t->coef, NULL);
    }
    if (!a.terms.items[j].coef.x) return wrong();
  }
  nst_typed offset = combine(s, kind, span, a.offset, b->offset);
  if ((a.offset.x || b->offset.x) && !offset.x) return wrong();
  a.offset = offset;
  return a;
}

static affine scale(nst_scope *s, nst_span span, affine a, const nst_typed *by) {
  for (size_t i = 0; i < a.terms.len; i++) {
    nst_typed *coef = &a.terms.items[i].coef;
    bool one = nst_expr_is_const(coef->x) && nst_rat_cmp(coef->x->value, nst_rat_int(1)) == 0;
    *coef = one ? *by : nst_typed_make(s->ck, NST_X_MUL, span, coef, by, NULL);
    if (!coef->x) return wrong();
  }
  if (a.offset.x) a.offset = nst_typed_make(s->ck, NST_X_MUL, span, &a.offset, by, NULL);
  return a;
}

static affine take_apart(nst_scope *s, const nst_ast_expr *e, nst_dim_set *met);

static affine of_binary(nst_scope *s, const nst_ast_expr *e, nst_dim_set *met) {
  affine a = take_apart(s, e->a, met), b = take_apart(s, e->b, met);
  if (!a.ok || !b.ok) return wrong();
  bool dims = a.terms.len || b.terms.len;
  nst_expr_kind kind = NST_X_DIV;
  switch (e->op) {
  case NST_OP_ADD: return add(s, NST_X_ADD, e->span, a, &b);
  case NST_OP_SUB: return add(s, NST_X_SUB, e->span, a, &b);
  case NST_OP_MUL:
    if (!b.terms.len) return b.offset.x ? scale(s, e->span, a, &b.offset) : wrong();
    if (!a.terms.len) return a.offset.x ? scale(s, e->span, b, &a.offset) : wrong();
    return say_not_affine(s, e, "a product of dimensions is not affine", NULL);
  case NST_OP_DIV:
  case NST_OP_FLOORDIV:
  case NST_OP_MOD:
    if (dims)
      return say_not_affine(s, e, "a dimension that is divided is not affine",
                            "declare two dimensions instead, as in `dim po = …, pi = …`, and index with `T*po + pi`");
    kind = e->op == NST_OP_DIV ? NST_X_DIV : e->op == NST_OP_FLOORDIV ? NST_X_FLOORDIV : NST_X_MOD;
    break;
  case NST_OP_POW:
    if (dims) return say_not_affine(s, e, "a power of a dimension is not affine", NULL);
    kind = NST_X_POW;
    break;
  case NST_OP_AND:
  case NST_OP_OR:
  case NST_OP_NOT:
  case NST_OP_NEG:
  case NST_OP_POS:
  case NST_OP_EQ:
  case NST_OP_NE:
  case NST_OP_LT:
  case NST_OP_LE:
  case NST_OP_GT:
  case NST_OP_GE: return say_not_affine(s, e, "a condition cannot be an index", NULL);
  }
  a.offset = nst_typed_make(s->ck, kind, e->span, &a.offset, &b.offset, NULL);
  a.ok = a.offset.x != NULL;
  return a;
}

static affine take_apart(nst_scope *s, const nst_ast_expr *e, nst_dim_set *met) {
  if (!e) return wrong();
  switch (e->kind) {
  case NST_AST_PAREN: return take_apart(s, e->a, met);
  case NST_AST_NAME: return of_name(s, e, met);
  case NST_AST_BINARY: return of_binary(s, e, met);
  case NST_AST_UNARY: {
    affine a = take_apart(s, e->a, met);
    if (e->op == NST_OP_POS || !a.ok) return a;
    if (e->op == NST_OP_NOT) return say_not_affine(s, e, "a condition cannot be an index", NULL);
    affine zero = {.ok = true};
    return add(s, NST_X_SUB, e->span, zero, &a);
  }
  case NST_AST_CALL:
  case NST_AST_COMPARE:
  case NST_AST_IF:
  case NST_AST_SUM:
  case NST_AST_ACCESS:
    if (mark(s, e, met))
      return say_not_affine(s, e,
                            e->kind == NST_AST_ACCESS ? "an index that is read from a tensor is not affine"
                                                      : "a dimension cannot be inside a function or a choice here",
                            NULL);
    return of_value(s, e);
  case NST_AST_NUMBER:
  case NST_AST_QUANTITY:
  case NST_AST_BOOL:
  case NST_AST_MEMBER: return of_value(s, e);
  }
  return wrong();
}

static int by_dim(const nst_ir_term *a, const nst_ir_term *b) { return a->dim - b->dim; }

static void sort_terms(nst_ir_term *terms, int n) {
  for (int i = 1; i < n; i++) {
    nst_ir_term t = terms[i];
    int j = i;
    for (; j > 0 && by_dim(&terms[j - 1], &t) > 0; j--) terms[j] = terms[j - 1];
    terms[j] = t;
  }
}

static bool is_zero(const nst_expr *e) { return nst_expr_is_const(e) && e->value.num == 0; }

bool nst_check_rank(nst_scope *s, const nst_ast_expr *e, nst_dim_set *met, nst_ir_rank *out) {
  if (!e) return false;
  affine a = take_apart(s, e, met);
  if (!a.ok) return false;
  *out = (nst_ir_rank){.span = e->span, .terms = NST_NEW_ARRAY(s->ck->arena, a.terms.len, nst_ir_term)};
  for (size_t i = 0; i < a.terms.len; i++) {
    const term *t = &a.terms.items[i];
    if (nst_report_failure(s->ck, &t->coef, e->span) || !nst_check_integer(s->ck, t->coef.x, "a coefficient"))
      return false;
    if (!is_zero(t->coef.x)) out->terms[out->nterms++] = (nst_ir_term){t->dim, t->coef.x};
  }
  sort_terms(out->terms, out->nterms);
  if (a.offset.x) {
    if (nst_report_failure(s->ck, &a.offset, e->span) || !nst_check_integer(s->ck, a.offset.x, "an offset"))
      return false;
    if (!is_zero(a.offset.x)) out->offset = a.offset.x;
  }
  return true;
}

bool nst_rank_same(const nst_ir_rank *a, const nst_ir_rank *b) {
  if (a->nterms != b->nterms || !nst_expr_same(a->offset, b->offset)) return false;
  for (int i = 0; i < a->nterms; i++)
    if (a->terms[i].dim != b->terms[i].dim || !nst_expr_same(a->terms[i].coef, b->terms[i].coef)) return false;
  return true;
}

bool nst_rank_uses(const nst_ir_rank *rank, int dim) {
  for (int i = 0; i < rank->nterms; i++)
    if (rank->terms[i].dim == dim) return true;
  return false;
}
