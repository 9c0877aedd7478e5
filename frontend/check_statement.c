/* One statement of a workload: its accesses, its dimensions, what it reduces.
 *
 * The right-hand side is counted, not evaluated: any function may be called,
 * and nothing but its names is checked. Equal accesses of a tensor are one. */
#include "frontend/check.h"

typedef struct {
  nst_workload_check *c;
  nst_ir_stmt *stmt;
  nst_dim_set met; /* by this statement */
  NST_VEC(nst_ir_access) in;
  nst_name output;
  bool ok;
} reader;

static bool check_access(nst_workload_check *c, const nst_ast_expr *e, nst_dim_set *met, nst_ir_access *out) {
  int nranks = 0;
  bool ok = true;
  for (const nst_ast_arg *a = e->args; a; a = a->next) nranks++;
  *out = (nst_ir_access){.tensor = -1, .nranks = nranks, .span = e->span};
  out->ranks = NST_NEW_ARRAY(c->ck->arena, nranks, nst_ir_rank);
  int r = 0;
  for (const nst_ast_arg *a = e->args; a; a = a->next, r++)
    ok = nst_check_rank(&c->scope, a->value, met, &out->ranks[r]) && ok;
  out->tensor = nst_workload_tensor(c, &e->id, nranks, e->span);
  return ok && out->tensor >= 0;
}

static bool same_access(const nst_ir_access *a, const nst_ir_access *b) {
  if (a->tensor != b->tensor || a->nranks != b->nranks) return false;
  for (int r = 0; r < a->nranks; r++)
    if (!nst_rank_same(&a->ranks[r], &b->ranks[r])) return false;
  return true;
}

static void read_access(reader *rd, const nst_ast_expr *e) {
  nst_workload_check *c = rd->c;
  nst_ir_access access;
  if (e->id.name && e->id.name == rd->output) {
    nst_diag *m = nst_diag_add(c->ck->diags, NST_D_READS_OWN_OUTPUT, e->span,
                               "the statement that writes `%s` also reads it", e->id.name);
    nst_diag_label(c->ck->diags, m, rd->stmt->out.span, "written here");
    nst_diag_help(c->ck->diags, m, "`+=` adds to what is there already; otherwise write another tensor");
    nst_dim_set *met = &rd->met;
    for (const nst_ast_arg *a = e->args; a; a = a->next)
      (void)nst_check_rank(&c->scope, a->value, met, &(nst_ir_rank){0});
    rd->ok = false;
    return;
  }
  if (!check_access(c, e, &rd->met, &access)) rd->ok = false;
  if (access.tensor < 0) return;
  for (size_t i = 0; i < rd->in.len; i++)
    if (same_access(&rd->in.items[i], &access)) return;
  bool first = true;
  for (size_t i = 0; i < rd->in.len; i++) first = first && rd->in.items[i].tensor != access.tensor;
  if (first) c->uses.items[access.tensor].readers++;
  *nst_vec_push(c->ck->arena, &rd->in) = access;
}

/* A name without ranks: a dimension as a number, a parameter, a constant; else most likely a tensor. */
static void read_name(reader *rd, const nst_ast_expr *e) {
  nst_workload_check *c = rd->c;
  nst_typed t;
  if (!e->id.name) return;
  const nst_symbol *dim = nst_symtab_find(&c->w->dims, e->id.name);
  if (dim) {
    if (!rd->met.in[dim->index]) rd->met.at[dim->index] = e->span;
    rd->met.in[dim->index] = true;
    return;
  }
  if (nst_symtab_find(&c->w->params.names, e->id.name) ||
      nst_module_const(c->ck, c->scope.module, NULL, e->id.name, e->span, &t))
    return;
  rd->ok = false;
  if (c->scope.incomplete) return;
  const nst_symbol *tensor = nst_symtab_find(&c->w->tensors, e->id.name);
  if (tensor) {
    nst_diag *m =
      nst_diag_add(c->ck->diags, NST_D_WRONG_KIND, e->span, "the tensor `%s` needs its ranks here", e->id.name);
    nst_diag_help(c->ck->diags, m, "write `%s[…]`, and `%s[]` for a scalar", e->id.name, e->id.name);
    return;
  }
  nst_diag *m = nst_say_unknown(c->ck, &c->w->dims, NST_D_UNKNOWN_NAME, e->span, e->id.name,
                                "`%s` is no dimension, parameter or constant", e->id.name);
  if (!m) return;
  nst_candidates cand = {0};
  nst_candidates_add(c->ck->arena, &cand, &c->w->dims);
  nst_candidates_add(c->ck->arena, &cand, &c->w->params.names);
  nst_candidates_module(c->ck, &cand, c->scope.module, NST_NS_CONST);
  if (!nst_suggest(c->ck->diags, m, e->span, e->id.name, &cand))
    nst_diag_help(c->ck->diags, m, "a tensor is read with its ranks, as in `%s[m, k]`, a scalar as `%s[]`", e->id.name,
                  e->id.name);
}

/* X(k, p), where X is a tensor: it would be taken for a function. */
static bool called_tensor(reader *rd, const nst_ast_expr *e) {
  nst_checker *ck = rd->c->ck;
  const nst_symbol *sym =
    e->kind == NST_AST_CALL && !e->a && e->id.name ? nst_symtab_find(&rd->c->w->tensors, e->id.name) : NULL;
  if (!sym) return false;
  nst_diag *m = nst_diag_add(ck->diags, NST_D_WRONG_KIND, e->span,
                             "`%s` is a tensor, and is read with its ranks in square brackets", e->id.name);
  const nst_source *src = nst_sources_get(ck->sources, e->span.source);
  const uint32_t open = e->id.span.end, end = e->span.end;
  if (src && src->text[open] == '(' && src->text[end - 1] == ')') {
    nst_diag_fix(ck->diags, m, (nst_span){e->span.source, open, end},
                 nst_arena_printf(ck->arena, "[%.*s]", (int)(end - open) - 2, src->text + open + 1));
  }
  rd->c->uses.items[sym->index].readers++;
  rd->ok = false;
  return true;
}

static void read_expr(reader *rd, const nst_ast_expr *e) {
  if (!e) {
    rd->ok = false;
    return;
  }
  if (e->kind == NST_AST_ACCESS) {
    read_access(rd, e);
    return;
  }
  if (e->kind == NST_AST_NAME) {
    read_name(rd, e);
    return;
  }
  if (called_tensor(rd, e)) return;
  if (e->kind == NST_AST_MEMBER) {
    rd->ok = nst_check_expr(&rd->c->scope, e).x && rd->ok;
    return;
  }
  if (e->kind == NST_AST_SUM) {
    nst_diag *m =
      nst_diag_add(rd->c->ck->diags, NST_D_STATEMENT_SUM, e->span, "a statement sums over dimensions, not with `sum`");
    nst_diag_help(rd->c->ck->diags, m, "declare `%s` as a dimension and write `+=`", e->id.name ? e->id.name : "i");
    rd->ok = false;
    return;
  }
  if (e->a) read_expr(rd, e->a);
  if (e->b) read_expr(rd, e->b);
  if (e->c) read_expr(rd, e->c);
  for (const nst_ast_link *l = e->links; l; l = l->next) read_expr(rd, l->operand);
  for (const nst_ast_arg *a = e->args; a; a = a->next) read_expr(rd, a->value);
}

/* The text of a span on one line: runs of white space and comments become one space. */
static const char *one_line(nst_checker *ck, nst_span span) {
  const nst_source *src = nst_sources_get(ck->sources, span.source);
  if (!src) return "";
  char *out = nst_arena_alloc(ck->arena, span.end - span.begin + 1);
  size_t n = 0;
  for (uint32_t i = span.begin; i < span.end; i++) {
    char c = src->text[i];
    if (c == '#')
      while (i + 1 < span.end && src->text[i + 1] != '\n') i++;
    bool space = c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '#';
    if (!space)
      out[n++] = c;
    else if (n && out[n - 1] != ' ')
      out[n++] = ' ';
  }
  while (n && out[n - 1] == ' ') n--;
  out[n] = '\0';
  return out;
}

static bool check_assign(nst_workload_check *c, const nst_ast_witem *item, const nst_ir_stmt *stmt,
                         const nst_dim_set *met) {
  if (stmt->combine != NST_COMBINE_ASSIGN) return true;
  for (int i = 0; i < stmt->ndims; i++) {
    int d = stmt->dims[i];
    bool in_output = false;
    for (int r = 0; r < stmt->out.nranks; r++) in_output = in_output || nst_rank_uses(&stmt->out.ranks[r], d);
    if (in_output) continue;
    nst_name name = c->w->ir.dims[d].name;
    nst_diag *m = nst_diag_add(c->ck->diags, NST_D_ASSIGN_REDUCES, item->reduce_span,
                               "`=` cannot reduce, and `%s` is not in the output", name);
    nst_diag_label(c->ck->diags, m, met->at[d], "`%s` takes several values for one element of the output", name);
    nst_diag_help(c->ck->diags, m, "write `+=`, `max=` or `min=`");
    nst_diag_fix(c->ck->diags, m, item->reduce_span, "+=");
    return false;
  }
  return true;
}

bool nst_check_statement(nst_workload_check *c, const nst_ast_witem *item) {
  nst_checker *ck = c->ck;
  const nst_ast_expr *out = item->output;
  if (!out || out->kind != NST_AST_ACCESS) {
    c->w->incomplete = true;
    return false;
  }
  if (c->stmts.len >= NST_MAX_STMTS) {
    if (!c->full)
      nst_diag_add(ck->diags, NST_D_TOO_MANY, item->span, "a workload has at most %d statements", NST_MAX_STMTS);
    c->w->incomplete = c->full = true;
    return false;
  }
  nst_ir_stmt stmt = {.span = item->span, .combine = (nst_combine)item->reduce};
  reader rd = {.c = c, .stmt = &stmt, .output = out->id.name, .ok = true};
  rd.ok = check_access(c, out, &rd.met, &stmt.out);
  int tensor = stmt.out.tensor;
  read_expr(&rd, item->value);
  for (int d = 0; d < c->w->ir.ndims; d++) {
    if (!rd.met.in[d]) continue;
    stmt.ndims++;
    if (!c->used.in[d]) c->used.at[d] = rd.met.at[d];
    c->used.in[d] = true;
  }
  stmt.dims = NST_NEW_ARRAY(ck->arena, stmt.ndims, int);
  stmt.ndims = 0;
  for (int d = 0; d < c->w->ir.ndims; d++)
    if (rd.met.in[d]) stmt.dims[stmt.ndims++] = d;
  stmt.in = rd.in.items;
  stmt.nin = (int)rd.in.len;
  stmt.text = item->value ? one_line(ck, item->value->span) : "";
  if (rd.ok) rd.ok = check_assign(c, item, &stmt, &rd.met);
  if (tensor < 0) {
    c->w->incomplete = true;
    return false;
  }
  if (c->uses.items[tensor].writer >= 0) {
    const nst_ir_stmt *first = &c->stmts.items[c->uses.items[tensor].writer];
    nst_diag *m = nst_diag_add(ck->diags, NST_D_WRITTEN_TWICE, out->span, "two statements write `%s`", out->id.name);
    nst_diag_label(ck->diags, m, first->out.span, "the first is here");
    nst_diag_help(ck->diags, m, "each tensor is written by one statement; give this output another name");
    c->w->incomplete = true;
    return false;
  }
  c->uses.items[tensor].writer = (int)c->stmts.len;
  *nst_vec_push(ck->arena, &c->stmts) = stmt;
  return rd.ok;
}
