/* From the statements of a mapping to its tree.
 *
 * A nest is a chain that leads inward; braces behind a loop hold the rest of it
 * and change nothing. A seq ends its chain and branches. Nodes are numbered as
 * they are made, in preorder. What is wrong is left out and marks the nest
 * broken: it will not be counted, but the rest is built and checked. */
#include "frontend/check.h"

typedef struct {
  nst_fe_nest *n;
  nst_scope *scope;
  nst_ir_node **tail; /* where the next node of this chain hangs */
  int parent;         /* id of the node above it */
  int first;          /* id of this chain's first node */
  const int *stmts;
  int nstmts;
  nst_span end; /* where the chain ends: the place of an implied compute */
} chain;

static void lower_chain(chain *c, const nst_ast_mitem *items);

static bool add_node(chain *c, nst_ir_node *node, const nst_ast_mitem *item, nst_span *spans) {
  nst_fe_nest *n = c->n;
  if (!node) {
    n->broken = true;
    return false;
  }
  if (n->nodes.len >= NST_MAX_NODES) {
    if (!n->broken)
      nst_diag_add(n->ck->diags, NST_D_TOO_MANY, node->span, "a mapping has at most %d statements", NST_MAX_NODES);
    n->broken = true;
    return false;
  }
  int id = (int)n->nodes.len;
  int *stmts = NST_NEW_ARRAY(n->ck->arena, c->nstmts, int);
  if (c->nstmts) memcpy(stmts, c->stmts, (size_t)c->nstmts * sizeof *stmts);
  *nst_vec_push(n->ck->arena, &n->nodes) = (nst_fe_node){.ir = node,
                                                         .parent = c->parent,
                                                         .item = item,
                                                         .spans = spans,
                                                         .stmts = stmts,
                                                         .nstmts = c->nstmts,
                                                         .all = item && item->kind == NST_MITEM_KEEP && item->all};
  node->id = id;
  node->parent = c->parent >= 0 ? n->nodes.items[c->parent].ir : NULL;
  *c->tail = node;
  c->tail = &node->next;
  c->parent = id;
  return true;
}

static void lower_let(chain *c, const nst_ast_mitem *item) {
  nst_fe_nest *n = c->n;
  nst_checker *ck = n->ck;
  nst_fe_mapping *m = n->m;
  if (!item->id.name) return;
  nst_typed t = item->value ? nst_check_expr(c->scope, item->value) : nst_poison();
  if (t.x && nst_report_failure(ck, &t, item->value->span)) t = nst_poison();
  nst_symbol *sym = nst_declare_value(ck, &m->lets, &m->params, &item->id);
  if (!sym) return;
  if (!t.x) n->m->ok = false;
  sym->index = (int)m->values.len;
  sym->kind = NST_X_VALUE;
  sym->unit = t.unit;
  sym->soft = t.soft;
  sym->truth = t.truth;
  sym->poisoned = !t.x;
  if (t.x && nst_expr_is_const(t.x)) {
    sym->kind = NST_X_CONST;
    sym->expr = t.x;
  }
  *nst_vec_push(ck->arena, &m->values) = (nst_ir_value){item->id.name, item->id.span, t.x};
}

static void lower_permute(chain *c, const nst_ast_mitem *item) {
  nst_fe_nest *n = c->n;
  int number = n->npermutes++;
  for (const nst_ast_mitem *i = item->body; i; i = i->next) {
    if (i->kind != NST_MITEM_FOR || i->braces) {
      nst_diag *m =
        nst_diag_add(n->ck->diags, NST_D_PERMUTE_ITEM, i->span, "`permute` holds only `for` statements without braces");
      nst_diag_help(n->ck->diags, m, "the order of what stands in it is a choice of the sweep");
      n->broken = true;
      continue;
    }
    nst_ir_node *node = nst_lower_loop(n, i, c->scope);
    if (node) node->permute = number;
    add_node(c, node, i, NULL);
  }
}

static void lower_compute(chain *c, const nst_ast_mitem *item, nst_span span) {
  nst_fe_nest *n = c->n;
  nst_checker *ck = n->ck;
  if (c->nstmts > 1) {
    n->broken = true;
    if (n->w->incomplete || n->incomplete) return;
    bool cascade = c->nstmts == n->w->ir.nstmts;
    nst_diag *m = nst_diag_add(ck->diags, NST_D_SEQ_MISSING, span,
                               "%d statements run here, and no `seq` says in which order", c->nstmts);
    for (int i = 0; i < c->nstmts && i < 4 && cascade; i++)
      nst_diag_label(ck->diags, m, n->w->ir.stmts[c->stmts[i]].span, "one of them");
    nst_diag_help(ck->diags, m, "add `%s`", nst_fe_shortest_seq(n, c->stmts, c->nstmts));
    return;
  }
  int unit = nst_lower_unit(n, item, span);
  nst_ir_node *node = NST_NEW(ck->arena, nst_ir_node);
  *node = (nst_ir_node){.kind = NST_NODE_COMPUTE, .span = span, .level = unit, .dim = -1, .axis = -1, .permute = -1};
  if (unit < 0) n->broken = true; /* the node stands all the same, for the checks of its path */
  if (c->nstmts == 1 && add_node(c, node, item, NULL)) n->compute[c->stmts[0]] = c->parent;
}

static void lower_seq(chain *c, const nst_ast_mitem *item) {
  nst_fe_nest *n = c->n;
  nst_ir_node *node = NST_NEW(n->ck->arena, nst_ir_node);
  *node = (nst_ir_node){.kind = NST_NODE_SEQ, .span = item->span, .level = -1, .dim = -1, .axis = -1, .permute = -1};
  if (!nst_fe_place(n, item, c->stmts, c->nstmts, node)) n->broken = true;
  if (!add_node(c, node, item, NULL)) return;
  int seq = c->parent;
  int b = 0;
  for (const nst_ast_branch *branch = item->branches; branch; branch = branch->next, b++) {
    nst_ir_branch *out = &node->branches[b];
    size_t lets = n->m->lets.len;
    chain inner = {.n = n,
                   .scope = c->scope,
                   .tail = &out->body,
                   .parent = seq,
                   .first = (int)n->nodes.len,
                   .stmts = out->stmts,
                   .nstmts = out->nstmts,
                   .end = branch->span};
    lower_chain(&inner, branch->body);
    nst_symtab_truncate(&n->m->lets, lets);
  }
}

static void say_after(nst_fe_nest *n, nst_diag_id id, const nst_ast_mitem *after, nst_span closing, const char *message,
                      const char *help) {
  nst_diag *m = nst_diag_add(n->ck->diags, id, after->span, "%s", message);
  nst_diag_label(n->ck->diags, m, closing, "the end is here");
  nst_diag_help(n->ck->diags, m, "%s", help);
  n->broken = n->keeps_incomplete = true;
}

static void lower_chain(chain *c, const nst_ast_mitem *items) {
  nst_fe_nest *n = c->n;
  bool closed = false;
  for (const nst_ast_mitem *item = items, *next; item && !closed; item = next) {
    next = item->next;
    if ((item->kind == NST_MITEM_FOR || item->kind == NST_MITEM_PAR) && item->braces) {
      if (next)
        say_after(n, NST_D_AFTER_BRACES, next, item->span, "the braces of the loop before hold the rest of the nest",
                  "move this line into the braces");
      next = item->body;
    }
    nst_span *spans = NULL;
    switch (item->kind) {
    case NST_MITEM_FOR:
    case NST_MITEM_PAR: add_node(c, nst_lower_loop(n, item, c->scope), item, NULL); break;
    case NST_MITEM_KEEP: {
      nst_ir_node *node = nst_lower_keep(n, item, c->stmts, c->nstmts, &spans);
      if (node && (item->all || node->ntensors)) add_node(c, node, item, spans);
      break;
    }
    case NST_MITEM_LET: lower_let(c, item); break;
    case NST_MITEM_PERMUTE: lower_permute(c, item); break;
    case NST_MITEM_COMPUTE:
      closed = true;
      lower_compute(c, item, item->span);
      if (next)
        say_after(n, NST_D_AFTER_COMPUTE, next, item->span, "`compute` closes the nest",
                  "move this line above `compute`");
      break;
    case NST_MITEM_SEQ:
      closed = true;
      lower_seq(c, item);
      if (next)
        say_after(n, NST_D_AFTER_SEQ, next, item->span, "`seq` ends its block",
                  "move this line above the `seq`, or into one of its branches");
      break;
    }
  }
  if (!closed) lower_compute(c, NULL, c->end);
  for (size_t i = (size_t)c->first; i < n->nodes.len && i <= (size_t)c->parent; i++)
    n->nodes.items[i].end = (int)n->nodes.len;
}

/* ---- the implied keep ---- */

static bool keeps_level(const nst_ast_mitem *items, nst_name level) {
  for (const nst_ast_mitem *i = items; i; i = i->next) {
    if (i->kind == NST_MITEM_KEEP && i->id.name == level) return true;
    if (keeps_level(i->body, level)) return true;
    for (const nst_ast_branch *b = i->branches; b; b = b->next)
      if (keeps_level(b->body, level)) return true;
  }
  return false;
}

static void imply_outermost(chain *c, const nst_ast_mitem *items) {
  nst_fe_nest *n = c->n;
  if (n->outermost < 0 || keeps_level(items, n->h->ir.levels[n->outermost].name)) return;
  nst_ir_node *node = NST_NEW(n->ck->arena, nst_ir_node);
  *node = (nst_ir_node){.kind = NST_NODE_KEEP,
                        .span = n->m->decl->id.span,
                        .level = n->outermost,
                        .dim = -1,
                        .axis = -1,
                        .permute = -1,
                        .implied = true,
                        .tensors = NST_NEW_ARRAY(n->ck->arena, n->w->ir.ntensors, int)};
  nst_span *spans = NST_NEW_ARRAY(n->ck->arena, n->w->ir.ntensors, nst_span);
  for (int t = 0; t < n->w->ir.ntensors; t++) {
    if (n->w->ir.tensors[t].role == NST_ROLE_INTERMEDIATE || !nst_fe_may_hold(n, n->outermost, t, c->stmts, c->nstmts))
      continue;
    spans[node->ntensors] = n->m->decl->id.span;
    node->tensors[node->ntensors++] = t;
  }
  if (node->ntensors) add_node(c, node, NULL, spans);
}

void nst_lower_nest(nst_fe_nest *n, const nst_ast_mitem *items, nst_scope *scope) {
  nst_checker *ck = n->ck;
  int nstmts = n->w->ir.nstmts;
  n->incomplete = n->keeps_incomplete = nst_decl_incomplete(ck, n->m->decl);
  int *all = NST_NEW_ARRAY(ck->arena, nstmts, int);
  n->compute = NST_NEW_ARRAY(ck->arena, nstmts, int);
  n->place = NST_NEW_ARRAY(ck->arena, nstmts, nst_span);
  n->writer = NST_NEW_ARRAY(ck->arena, n->w->ir.ntensors, int);
  for (int t = 0; t < n->w->ir.ntensors; t++) n->writer[t] = -1;
  for (int s = 0; s < nstmts; s++) {
    all[s] = s;
    n->compute[s] = -1;
    n->place[s] = n->m->decl->id.span;
    n->writer[n->w->ir.stmts[s].out.tensor] = s;
  }
  n->outermost = -1;
  for (int l = n->h->ir.nlevels - 1; l >= 0; l--)
    if (n->h->ir.levels[l].kind == NST_LEVEL_MEMORY) n->outermost = l;
  nst_span head = n->m->decl->head;
  chain root = {.n = n,
                .scope = scope,
                .tail = &n->ir->root,
                .parent = -1,
                .first = 0,
                .stmts = all,
                .nstmts = nstmts,
                .end = head};
  imply_outermost(&root, items);
  lower_chain(&root, items);
}
