/* Order along each path from the root to a compute: pars from outer arrays to
 * inner ones, the keeps of a tensor in hardware order, a keep inside an array
 * after the pars on it and a keep outside before them, the compute unit inside
 * of all that the nest uses; and every tensor kept somewhere. A misplaced line
 * is reported once, for the first reason found. */
#include "frontend/check.h"

typedef struct {
  nst_fe_nest *n;
  int *path;
  int len;       /* node ids from the root to the compute */
  int *last;     /* [ntensors] innermost keep so far, -1 */
  bool *missing; /* [ntensors] it has been said that it is kept nowhere */
} walk;

static const char *level_name(const nst_fe_nest *n, int level) { return n->h->ir.levels[level].name; }

static nst_span place(const nst_fe_node *node) { return node->item ? node->item->span : node->ir->span; }

static nst_diag *fault(nst_fe_nest *n, int id, nst_diag_id code, const char *message) {
  n->broken = true;
  n->nodes.items[id].faulty = true;
  return nst_diag_add(n->ck->diags, code, place(&n->nodes.items[id]), "%s", message);
}

static void check_par(walk *w, int id, int outer_par, int deepest) {
  nst_fe_nest *n = w->n;
  nst_fe_node *node = &n->nodes.items[id];
  if (node->faulty) return;
  if (outer_par >= 0 && n->nodes.items[outer_par].ir->level > node->ir->level) {
    const char *outer = level_name(n, node->ir->level), *inner = level_name(n, n->nodes.items[outer_par].ir->level);
    nst_diag *m = fault(n, id, NST_D_PAR_ORDER,
                        nst_arena_printf(n->ck->arena, "`%s` is outside `%s`, so its `par` comes first", outer, inner));
    nst_diag_label(n->ck->diags, m, place(&n->nodes.items[outer_par]), "the `par` on `%s`", inner);
    nst_diag_help(n->ck->diags, m, "move this line above the other");
  }
  if (deepest >= 0 && !n->nodes.items[deepest].faulty && n->nodes.items[deepest].ir->level > node->ir->level) {
    const char *memory = level_name(n, n->nodes.items[deepest].ir->level), *array = level_name(n, node->ir->level);
    nst_diag *m =
      fault(n, deepest, NST_D_KEEP_BEFORE_PAR,
            nst_arena_printf(n->ck->arena, "`%s` is inside `%s`, so a keep in it comes after every `par` on `%s`",
                             memory, array, array));
    nst_diag_label(n->ck->diags, m, place(node), "this `par` comes later");
    nst_diag_help(n->ck->diags, m, "move the keep below the `par`");
  }
}

static void check_keep(walk *w, int id, int inner_par) {
  nst_fe_nest *n = w->n;
  nst_fe_node *node = &n->nodes.items[id];
  nst_ir_node *ir = node->ir;
  for (int i = 0; i < ir->ntensors; i++) {
    int t = ir->tensors[i], before = w->last[t];
    if (before >= 0 && n->nodes.items[before].ir->level > ir->level && !node->faulty) {
      const char *outer = level_name(n, ir->level), *inner = level_name(n, n->nodes.items[before].ir->level);
      nst_diag *m =
        nst_diag_add(n->ck->diags, NST_D_KEEP_ORDER, node->spans[i],
                     "`%s` is kept in `%s` before `%s`, which is further out", n->w->ir.tensors[t].name, inner, outer);
      nst_diag_label(n->ck->diags, m, place(&n->nodes.items[before]), "kept in `%s` here", inner);
      nst_diag_help(
        n->ck->diags, m,
        "keeps of a tensor go from the outermost level to the innermost: move the keep in `%s` above the one in `%s`",
        outer, inner);
      n->broken = node->faulty = true;
      n->nodes.items[before].faulty = true;
    }
    w->last[t] = id;
  }
  if (node->faulty || inner_par < 0 || n->nodes.items[inner_par].ir->level < ir->level ||
      (!ir->ntensors && !ir->ndormant))
    return;
  const char *memory = level_name(n, ir->level), *array = level_name(n, n->nodes.items[inner_par].ir->level);
  nst_diag *m =
    fault(n, id, NST_D_KEEP_AFTER_PAR,
          nst_arena_printf(n->ck->arena, "`%s` is outside `%s`, so a keep in it comes before every `par` on `%s`",
                           memory, array, array));
  nst_diag_label(n->ck->diags, m, place(&n->nodes.items[inner_par]), "this `par` comes earlier");
  nst_diag_help(n->ck->diags, m, "move the keep above the `par`");
}

static void check_compute(walk *w, int id, int inner_par, int deepest) {
  nst_fe_nest *n = w->n;
  const nst_fe_node *node = &n->nodes.items[id];
  int unit = node->ir->level;
  int beyond = inner_par >= 0 && n->nodes.items[inner_par].ir->level > unit ? inner_par : -1;
  if (deepest >= 0 && n->nodes.items[deepest].ir->level > unit) beyond = deepest;
  if (unit < 0 || beyond < 0 || node->faulty) return;
  const char *inner = level_name(n, n->nodes.items[beyond].ir->level);
  nst_diag *m =
    fault(n, id, NST_D_COMPUTE_OUTSIDE,
          nst_arena_printf(n->ck->arena, "`%s` stands outside `%s`, which this nest uses", level_name(n, unit), inner));
  nst_diag_label(n->ck->diags, m, place(&n->nodes.items[beyond]), "`%s` is used here", inner);
  nst_diag_help(n->ck->diags, m, "a compute unit works with the levels that the hardware declares before it");
}

/* The keep in the outermost memory, where a forgotten tensor most likely belongs. */
static const nst_fe_node *outermost_keep(const walk *w) {
  for (int i = 0; i < w->len; i++) {
    const nst_fe_node *node = &w->n->nodes.items[w->path[i]];
    if (node->ir->kind == NST_NODE_KEEP && node->ir->level == w->n->outermost && node->item && !node->all &&
        node->ir->ntensors)
      return node;
  }
  return NULL;
}

static bool kept_anywhere(const nst_fe_nest *n, int t) {
  for (size_t id = 0; id < n->nodes.len; id++) {
    const nst_ir_node *ir = n->nodes.items[id].ir;
    for (int i = 0; ir->kind == NST_NODE_KEEP && i < ir->ntensors; i++)
      if (ir->tensors[i] == t) return true;
  }
  return false;
}

static void check_all_kept(walk *w, int stmt) {
  nst_fe_nest *n = w->n;
  nst_arena *arena = n->ck->arena;
  const nst_ir_workload *ir = &n->w->ir;
  const char *names = "", *plain = "";
  int count = 0, first = -1;
  bool elsewhere = false;
  for (int t = 0; t < ir->ntensors; t++) {
    if (w->last[t] >= 0 || !nst_fe_uses(&ir->stmts[stmt], t)) continue;
    n->broken = true;
    bool kept = kept_anywhere(n, t);
    if (ir->tensors[t].role == NST_ROLE_INTERMEDIATE && kept) continue; /* check_cascade.c says why */
    if (!kept && w->missing[t]) continue;
    w->missing[t] = true;
    elsewhere = elsewhere || kept;
    names = nst_list_add(arena, names, count, nst_arena_printf(arena, "`%s`", ir->tensors[t].name));
    plain = nst_arena_printf(arena, "%s%s%s", plain, count ? ", " : "", ir->tensors[t].name);
    if (!count++) first = t;
  }
  if (!count || n->keeps_incomplete || n->w->incomplete || n->h->incomplete) return;
  nst_diag *m = nst_diag_add(
    n->ck->diags, NST_D_KEPT_NOWHERE, n->place[stmt], "%s %s kept nowhere%s", names, count == 1 ? "is" : "are",
    elsewhere ? nst_arena_printf(arena, " on the way to `%s`", nst_fe_stmt_name(n, stmt)) : "");
  nst_diag_label(n->ck->diags, m, ir->tensors[first].span, "declared here");
  if (ir->tensors[first].role == NST_ROLE_INTERMEDIATE) {
    nst_diag_help(n->ck->diags, m, "keep it above the `seq` on chip (fused), or in `%s` (unfused)",
                  n->outermost >= 0 ? level_name(n, n->outermost) : "the outermost memory");
    return;
  }
  const nst_fe_node *keep = outermost_keep(w);
  if (!keep) {
    nst_diag_help(n->ck->diags, m, "begin with `keep %s in %s`", plain,
                  n->outermost >= 0 ? level_name(n, n->outermost) : "the outermost memory");
    return;
  }
  nst_span after = keep->spans[keep->ir->ntensors - 1];
  nst_diag_help(n->ck->diags, m, "add it to the keep in `%s`", level_name(n, n->outermost));
  nst_diag_fix(n->ck->diags, m, (nst_span){after.source, after.end, after.end}, nst_arena_printf(arena, ", %s", plain));
}

static void check_path(walk *w, int stmt) {
  nst_fe_nest *n = w->n;
  int par = -1, deepest = -1; /* the par on the innermost array, the keep in the innermost memory so far */
  for (int i = 0; i < w->len; i++) {
    int id = w->path[i];
    const nst_ir_node *ir = n->nodes.items[id].ir;
    if (ir->kind == NST_NODE_PAR) {
      check_par(w, id, par, deepest);
      if (par < 0 || n->nodes.items[par].ir->level < ir->level) par = id;
    } else if (ir->kind == NST_NODE_KEEP) {
      check_keep(w, id, par);
      if ((ir->ntensors || ir->ndormant) && (deepest < 0 || n->nodes.items[deepest].ir->level < ir->level))
        deepest = id;
    } else if (ir->kind == NST_NODE_COMPUTE) {
      check_compute(w, id, par, deepest);
    }
  }
  check_all_kept(w, stmt);
}

void nst_check_paths(nst_fe_nest *n) {
  walk w = {.n = n};
  w.path = NST_NEW_ARRAY(n->ck->arena, n->nodes.len, int);
  w.last = NST_NEW_ARRAY(n->ck->arena, n->w->ir.ntensors, int);
  w.missing = NST_NEW_ARRAY(n->ck->arena, n->w->ir.ntensors, bool);
  for (int s = 0; s < n->w->ir.nstmts; s++) {
    if (n->compute[s] < 0) continue;
    w.len = 0;
    for (int id = n->compute[s]; id >= 0; id = n->nodes.items[id].parent) w.len++;
    int at = w.len;
    for (int id = n->compute[s]; id >= 0; id = n->nodes.items[id].parent) w.path[--at] = id;
    for (int t = 0; t < n->w->ir.ntensors; t++) w.last[t] = -1;
    check_path(&w, s);
  }
}
