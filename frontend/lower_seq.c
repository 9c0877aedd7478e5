/* Which statement runs in which branch of a seq, and questions about the tree
 * that this answers. Every statement that runs below a seq has one place in it. */
#include "frontend/check.h"

bool nst_fe_below(const nst_fe_nest *n, int inner, int outer) {
  return inner > outer && inner < n->nodes.items[outer].end;
}

bool nst_fe_uses(const nst_ir_stmt *stmt, int tensor) {
  if (stmt->out.tensor == tensor) return true;
  for (int a = 0; a < stmt->nin; a++)
    if (stmt->in[a].tensor == tensor) return true;
  return false;
}

bool nst_fe_used_below(const nst_fe_nest *n, const int *stmts, int nstmts, int tensor) {
  for (int i = 0; i < nstmts; i++) {
    const nst_ir_stmt *s = &n->w->ir.stmts[stmts[i]];
    if (!nst_checker_spend(n->ck, 1 + (size_t)s->nin / 8)) return false;
    if (nst_fe_uses(s, tensor)) return true;
  }
  return false;
}

nst_name nst_fe_stmt_name(const nst_fe_nest *n, int stmt) {
  return n->w->ir.tensors[n->w->ir.stmts[stmt].out.tensor].name;
}

int nst_fe_share_seq(const nst_fe_nest *n, int tensor) {
  int first = -1, last = -1;
  for (int s = 0; s < n->w->ir.nstmts; s++) {
    if (!nst_fe_uses(&n->w->ir.stmts[s], tensor)) continue;
    int id = n->compute[s];
    if (id < 0) return -1;
    if (first < 0 || id < first) first = id;
    if (id > last) last = id;
  }
  if (first < 0) return -1;
  for (int id = n->nodes.items[first].parent; id >= 0; id = n->nodes.items[id].parent)
    if (n->nodes.items[id].ir->kind == NST_NODE_SEQ && nst_fe_below(n, last, id)) return id;
  return -1;
}

static bool holds(const int *stmts, int nstmts, int s) {
  for (int i = 0; i < nstmts; i++)
    if (stmts[i] == s) return true;
  return false;
}

/* Producers first. Long cascades are cut: nobody copies twenty branches from a message. */
const char *nst_fe_shortest_seq(const nst_fe_nest *n, const int *stmts, int nstmts) {
  enum { SHOWN = 8 };
  nst_arena *arena = n->ck->arena;
  const char *text = "seq {";
  bool *done = NST_NEW_ARRAY(arena, n->w->ir.nstmts, bool), progress = true;
  int shown = 0, left = nstmts;
  while (progress && left && shown < SHOWN) {
    progress = false;
    for (int i = 0; i < nstmts && shown < SHOWN; i++) {
      const nst_ir_stmt *s = &n->w->ir.stmts[stmts[i]];
      bool ready = !done[stmts[i]];
      for (int a = 0; a < s->nin && ready; a++) {
        int writer = n->writer[s->in[a].tensor];
        ready = writer < 0 || done[writer] || !holds(stmts, nstmts, writer);
      }
      if (!ready) continue;
      done[stmts[i]] = progress = true;
      left--;
      shown++;
      text = nst_arena_printf(arena, "%s do %s { compute }", text, nst_fe_stmt_name(n, stmts[i]));
    }
  }
  return nst_arena_printf(arena, "%s%s }", text, left ? " …" : "");
}

static int find_statement(nst_fe_nest *n, const nst_ast_ident *id) {
  nst_checker *ck = n->ck;
  if (!id->name) return -1;
  const nst_symbol *sym = nst_symtab_find(&n->w->tensors, id->name);
  if (sym && n->writer[sym->index] >= 0) return n->writer[sym->index];
  if (n->w->incomplete) return -1;
  nst_symtab outputs = {0};
  for (int s = 0; s < n->w->ir.nstmts; s++) nst_symtab_add(ck->arena, &outputs, nst_fe_stmt_name(n, s), (nst_span){0});
  nst_diag *m =
    nst_diag_add(ck->diags, NST_D_DO_NOT_OUTPUT, id->span,
                 sym ? "`%s` is an input: no statement writes it" : "`%s` has no statement that writes `%s`",
                 sym ? id->name : n->w->decl->id.name, id->name);
  nst_candidates c = {0};
  nst_candidates_add(ck->arena, &c, &outputs);
  if (sym || !nst_suggest(ck->diags, m, id->span, id->name, &c)) {
    const char *list = "";
    for (size_t i = 0; i < outputs.len && i < 8; i++)
      list = nst_arena_printf(ck->arena, "%s%s%s", list, i ? ", " : "", outputs.items[i].name);
    nst_diag_help(ck->diags, m, "`do` names the outputs of statements: %s%s", list, outputs.len > 8 ? ", …" : "");
  }
  return -1;
}

/* Names of an intermediate that statement c reads and statement p writes, or NULL. */
static nst_name passes(const nst_fe_nest *n, int p, int c) {
  int t = n->w->ir.stmts[p].out.tensor;
  const nst_ir_stmt *s = &n->w->ir.stmts[c];
  for (int a = 0; a < s->nin; a++)
    if (s->in[a].tensor == t) return n->w->ir.tensors[t].name;
  return NULL;
}

static bool check_order(nst_fe_nest *n, const int *branch_of) {
  bool ok = true;
  if (n->w->circular) return false; /* no order is right */
  for (int c = 0; c < n->w->ir.nstmts; c++) {
    for (int p = 0; p < n->w->ir.nstmts; p++) {
      if (branch_of[c] < 0 || branch_of[p] < 0 || branch_of[c] >= branch_of[p] || !passes(n, p, c)) continue;
      nst_diag *m =
        nst_diag_add(n->ck->diags, NST_D_CONSUMER_FIRST, n->place[c], "`%s` runs before `%s`, whose result it reads",
                     nst_fe_stmt_name(n, c), passes(n, p, c));
      nst_diag_label(n->ck->diags, m, n->place[p], "`%s` runs here", passes(n, p, c));
      nst_diag_label(n->ck->diags, m, n->w->ir.stmts[c].span, "it is read here");
      nst_diag_help(n->ck->diags, m, "branches run in the order they are written: move this one behind the other");
      ok = false;
    }
  }
  return ok;
}

static bool check_all_placed(nst_fe_nest *n, const nst_ast_mitem *seq, const int *stmts, int nstmts,
                             const int *branch_of) {
  nst_checker *ck = n->ck;
  const char *missing = "", *fix = "";
  int count = 0;
  for (int i = 0; i < nstmts; i++) {
    if (branch_of[stmts[i]] >= 0) continue;
    missing = nst_arena_printf(ck->arena, "%s%s`%s`", missing, count ? ", " : "", nst_fe_stmt_name(n, stmts[i]));
    if (count < 8)
      fix = nst_arena_printf(ck->arena, "%s%sdo %s { compute }", fix, count ? " " : "", nst_fe_stmt_name(n, stmts[i]));
    count++;
  }
  if (!count) return true;
  if (n->w->incomplete || n->incomplete) return false;
  nst_diag *m = nst_diag_add(ck->diags, NST_D_PLACED_NOWHERE, seq->span, "%s %s no place in this `seq`", missing,
                             count == 1 ? "has" : "have");
  for (int i = 0, k = 0; i < nstmts && k < 4; i++) {
    if (branch_of[stmts[i]] >= 0) continue;
    nst_diag_label(ck->diags, m, n->w->ir.stmts[stmts[i]].span, "this statement");
    k++;
  }
  nst_diag_help(ck->diags, m, "every statement runs in one branch; add `%s`", fix);
  return false;
}

bool nst_fe_place(nst_fe_nest *n, const nst_ast_mitem *seq, const int *stmts, int nstmts, nst_ir_node *out) {
  nst_checker *ck = n->ck;
  int nbranches = 0, b = 0;
  bool ok = true, lost = false;
  for (const nst_ast_branch *br = seq->branches; br; br = br->next) nbranches++;
  out->branches = NST_NEW_ARRAY(ck->arena, nbranches, nst_ir_branch);
  out->nbranches = nbranches;
  int *branch_of = NST_NEW_ARRAY(ck->arena, n->w->ir.nstmts, int);
  for (int s = 0; s < n->w->ir.nstmts; s++) branch_of[s] = -1;
  for (const nst_ast_branch *br = seq->branches; br; br = br->next, b++) {
    int count = 0;
    for (const nst_ast_idents *o = br->outputs; o; o = o->next) count++;
    out->branches[b] = (nst_ir_branch){.stmts = NST_NEW_ARRAY(ck->arena, count, int), .span = br->span};
    for (const nst_ast_idents *o = br->outputs; o; o = o->next) {
      int s = find_statement(n, &o->id);
      if (s < 0) {
        ok = false;
        lost = true;
        continue;
      }
      if (branch_of[s] >= 0) {
        nst_diag *m = nst_diag_add(ck->diags, NST_D_PLACED_TWICE, o->id.span, "`%s` is computed twice", o->id.name);
        nst_diag_label(ck->diags, m, n->place[s], "the first place is here");
        nst_diag_help(ck->diags, m, "each statement has one place; computing it again is not in version 1");
        ok = false;
      } else if (!holds(stmts, nstmts, s)) {
        nst_diag *m = nst_diag_add(ck->diags, NST_D_DO_OUTSIDE, o->id.span,
                                   "the branch around this `seq` does not compute `%s`", o->id.name);
        nst_diag_label(ck->diags, m, n->place[s], "it is placed here");
        nst_diag_help(ck->diags, m, "name it in the `do` around this one as well, and nowhere else");
        ok = false;
      } else {
        branch_of[s] = b;
        n->place[s] = o->id.span;
        out->branches[b].stmts[out->branches[b].nstmts++] = s;
      }
    }
  }
  if (!lost) ok = check_all_placed(n, seq, stmts, nstmts, branch_of) && ok;
  return check_order(n, branch_of) && ok;
}
