/* What makes a cascade illegal, each reason in words.
 *
 * Loops: one above several statements must be used by all of them, must not be
 * reduced by a producer whose consumer stands below it too, and must be indexed
 * alike by producer and consumer. Keeps: an intermediate has exactly one keep
 * above the seq that shares it, and none above an inner seq that splits its
 * consumers; a tile that two readers share is the same tile for both. */
#include "frontend/check.h"

static nst_span place(const nst_fe_node *node) { return node->item ? node->item->span : node->ir->span; }

static bool is_loop(const nst_fe_node *node) {
  return node->ir->kind == NST_NODE_FOR || node->ir->kind == NST_NODE_PAR;
}

static bool has_dim(const nst_ir_stmt *s, int dim) {
  for (int i = 0; i < s->ndims; i++)
    if (s->dims[i] == dim) return true;
  return false;
}

static bool in_output(const nst_ir_stmt *s, int dim) {
  for (int r = 0; r < s->out.nranks; r++)
    if (nst_rank_uses(&s->out.ranks[r], dim)) return true;
  return false;
}

static bool reads(const nst_ir_stmt *s, int tensor) {
  for (int a = 0; a < s->nin; a++)
    if (s->in[a].tensor == tensor) return true;
  return false;
}

static nst_diag *fault(nst_fe_nest *n, int id, nst_diag_id code, nst_span span, const char *message) {
  n->broken = true;
  n->nodes.items[id].faulty = true;
  return nst_diag_add(n->ck->diags, code, span, "%s", message);
}

/* ---- loops ---- */

static bool check_unfinished(nst_fe_nest *n, int id) {
  const nst_fe_node *node = &n->nodes.items[id];
  const nst_ir_workload *w = &n->w->ir;
  nst_name dim = w->dims[node->ir->dim].name;
  for (int i = 0; i < node->nstmts; i++) {
    const nst_ir_stmt *p = &w->stmts[node->stmts[i]];
    if (!has_dim(p, node->ir->dim) || in_output(p, node->ir->dim)) continue;
    for (int k = 0; k < node->nstmts; k++) {
      const nst_ir_stmt *c = &w->stmts[node->stmts[k]];
      if (!nst_checker_spend(n->ck, 1 + (size_t)c->nin / 8)) return true;
      if (c == p || !reads(c, p->out.tensor)) continue;
      nst_name t = w->tensors[p->out.tensor].name, user = nst_fe_stmt_name(n, node->stmts[k]);
      bool running = p->combine == NST_COMBINE_MAX || p->combine == NST_COMBINE_MIN;
      nst_diag *m = fault(
        n, id, NST_D_LOOP_UNFINISHED, place(node),
        nst_arena_printf(
          n->ck->arena,
          "`%s` would read `%s` before it is complete: in each step of this loop only a part of `%s` has been reduced",
          user, t, dim));
      nst_diag_label(n->ck->diags, m, p->span, "`%s` reduces `%s`", t, dim);
      nst_diag_label(n->ck->diags, m, c->span, "`%s` needs the finished `%s`", user, t);
      if (running)
        nst_diag_help(n->ck->diags, m,
                      "move the loop over `%s` below the `seq`, into the branches; a running %s is not in version 1: "
                      "split `%s` in two dimensions and reduce each part by itself",
                      dim, p->combine == NST_COMBINE_MAX ? "maximum" : "minimum", dim);
      else
        nst_diag_help(n->ck->diags, m, "move the loop over `%s` below the `seq`, into the branch of `%s`", dim, t);
      return false;
    }
  }
  return true;
}

static void check_repeats(nst_fe_nest *n, int id) {
  const nst_fe_node *node = &n->nodes.items[id];
  const nst_ir_workload *w = &n->w->ir;
  nst_name dim = w->dims[node->ir->dim].name;
  const char *names = "";
  int count = 0, first = -1;
  for (int i = 0; i < node->nstmts; i++) {
    if (has_dim(&w->stmts[node->stmts[i]], node->ir->dim)) continue;
    names = nst_arena_printf(n->ck->arena, "%s%s`%s`", names, count ? ", " : "", nst_fe_stmt_name(n, node->stmts[i]));
    if (!count++) first = node->stmts[i];
  }
  if (!count) return;
  nst_diag *m =
    fault(n, id, NST_D_LOOP_REPEATS, place(node),
          nst_arena_printf(n->ck->arena, "%s %s not use `%s`, and would run again in every iteration of this loop",
                           names, count == 1 ? "does" : "do", dim));
  nst_diag_label(n->ck->diags, m, w->stmts[first].span, "no `%s` here", dim);
  if (n->place[first].begin != n->m->decl->id.span.begin)
    nst_diag_label(n->ck->diags, m, n->place[first], "it runs below the loop");
  if (node->nstmts > 1)
    nst_diag_help(n->ck->diags, m, "move the loop below the `seq`, into the branches that use `%s`", dim);
  else
    nst_diag_help(n->ck->diags, m, "remove the loop");
}

/* Loops above both statements, outermost first in `fn`; stops at the first that it finds wrong. */
static int common_loop(const nst_fe_nest *n, int a, int b, const nst_ir_rank *ra, const nst_ir_rank *rb) {
  int found = -1;
  for (int id = n->nodes.items[a].parent; id >= 0; id = n->nodes.items[id].parent) {
    const nst_fe_node *node = &n->nodes.items[id];
    if (!is_loop(node) || node->faulty || !(nst_fe_below(n, b, id) || b == id)) continue;
    if (nst_rank_uses(ra, node->ir->dim) || nst_rank_uses(rb, node->ir->dim)) found = id;
  }
  return found;
}

static void check_ranks(nst_fe_nest *n, int tensor, int producer, int consumer) {
  const nst_ir_workload *w = &n->w->ir;
  const nst_ir_access *out = &w->stmts[producer].out;
  for (int a = 0; a < w->stmts[consumer].nin; a++) {
    const nst_ir_access *in = &w->stmts[consumer].in[a];
    for (int r = 0; in->tensor == tensor && r < in->nranks && r < out->nranks; r++) {
      if (nst_rank_same(&in->ranks[r], &out->ranks[r])) continue;
      int loop = common_loop(n, n->compute[producer], n->compute[consumer], &out->ranks[r], &in->ranks[r]);
      if (loop < 0) continue;
      nst_name name = w->tensors[tensor].name, user = nst_fe_stmt_name(n, consumer),
               dim = w->dims[n->nodes.items[loop].ir->dim].name;
      nst_diag *m = fault(
        n, loop, NST_D_RANKS_DIFFER, place(&n->nodes.items[loop]),
        nst_arena_printf(n->ck->arena, "`%s` reads elements of `%s` that the same step of this loop does not compute",
                         user, name));
      nst_diag_label(n->ck->diags, m, out->ranks[r].span, "written with this rank");
      nst_diag_label(n->ck->diags, m, in->ranks[r].span, "read with this one");
      nst_diag_help(n->ck->diags, m,
                    "move the loop over `%s` below the `seq`, so that all of `%s` is there; a halo between fused "
                    "statements is not in version 1",
                    dim, name);
      return;
    }
  }
}

/* ---- keeps ---- */

static int find_tensor(const nst_ir_node *keep, int tensor) {
  for (int i = 0; keep->kind == NST_NODE_KEEP && i < keep->ntensors; i++)
    if (keep->tensors[i] == tensor) return i;
  return -1;
}

static const char *level_of(const nst_fe_nest *n, int id) { return n->h->ir.levels[n->nodes.items[id].ir->level].name; }

static void label_users(nst_fe_nest *n, nst_diag *m, int tensor) {
  int shown = 0;
  for (int s = 0; s < n->w->ir.nstmts && shown < 4; s++) {
    const nst_ir_stmt *stmt = &n->w->ir.stmts[s];
    if (!nst_fe_uses(stmt, tensor)) continue;
    nst_diag_label(n->ck->diags, m, stmt->span, "%s here", stmt->out.tensor == tensor ? "written" : "read");
    shown++;
  }
}

static void say_further_out(nst_fe_nest *n, int tensor, int outer, int inner) {
  nst_name name = n->w->ir.tensors[tensor].name;
  const nst_fe_node *node = &n->nodes.items[outer];
  nst_diag *m =
    fault(n, outer, NST_D_KEPT_FURTHER_OUT, node->spans[find_tensor(node->ir, tensor)],
          nst_arena_printf(n->ck->arena, "`%s` is fused: it is kept in `%s` above its `seq`, and so never reaches `%s`",
                           name, level_of(n, inner), level_of(n, outer)));
  nst_diag_label(n->ck->diags, m, n->nodes.items[inner].spans[find_tensor(n->nodes.items[inner].ir, tensor)],
                 "the keep that fuses it");
  label_users(n, m, tensor);
  nst_diag_help(n->ck->diags, m,
                "remove `%s` from one of the two; a tensor that is consumed on chip and also reaches an outer memory "
                "is not in version 1",
                name);
}

static void say_in_branch(nst_fe_nest *n, int tensor, int id) {
  const nst_fe_node *node = &n->nodes.items[id];
  nst_name name = n->w->ir.tensors[tensor].name;
  nst_diag *m = fault(
    n, id, NST_D_KEPT_IN_BRANCH, node->spans[find_tensor(node->ir, tensor)],
    nst_arena_printf(n->ck->arena,
                     "`%s` is kept only inside a branch, and what is kept there is gone when the branch ends", name));
  for (int s = 0; s < n->w->ir.nstmts; s++) {
    if (!nst_fe_uses(&n->w->ir.stmts[s], tensor) || nst_fe_below(n, n->compute[s], id)) continue;
    nst_diag_label(n->ck->diags, m, n->place[s], "`%s` uses it outside of that branch", nst_fe_stmt_name(n, s));
    break;
  }
  label_users(n, m, tensor);
  nst_diag_help(n->ck->diags, m,
                "keep `%s` above the `seq` that holds all its users: in an inner memory (fused) or in `%s` (unfused)",
                name, n->h->ir.levels[n->outermost].name);
}

static void say_above_part(nst_fe_nest *n, int tensor, int id) {
  const nst_fe_node *node = &n->nodes.items[id];
  nst_name name = n->w->ir.tensors[tensor].name;
  nst_diag *m =
    fault(n, id, NST_D_KEPT_ABOVE_PART, node->spans[find_tensor(node->ir, tensor)],
          nst_arena_printf(n->ck->arena,
                           "`%s` would be consumed from this tile, and other statements need it from outside", name));
  for (int s = 0; s < n->w->ir.nstmts; s++) {
    if (!nst_fe_uses(&n->w->ir.stmts[s], tensor) || nst_fe_below(n, n->compute[s], id)) continue;
    nst_diag_label(n->ck->diags, m, n->place[s], "`%s` reads it outside of this branch", nst_fe_stmt_name(n, s));
    break;
  }
  label_users(n, m, tensor);
  nst_diag_help(n->ck->diags, m,
                "keep `%s` above the `seq` that holds all its consumers, or only in the branches of single statements; "
                "a tensor that is consumed on chip and also reaches an outer memory is not in version 1",
                name);
}

static void check_intermediate(nst_fe_nest *n, int tensor, int seq) {
  int inner = -1, outer = -1, inside = -1;
  for (int id = 0; id < (int)n->nodes.len; id++) {
    const nst_fe_node *node = &n->nodes.items[id];
    if (find_tensor(node->ir, tensor) < 0) continue;
    if (!nst_fe_below(n, seq, id)) {
      if (inside < 0) inside = id;
      continue;
    }
    if (inner >= 0) outer = inner;
    inner = id;
  }
  if (inner < 0) {
    if (inside >= 0) say_in_branch(n, tensor, inside);
    return;
  }
  if (outer >= 0) say_further_out(n, tensor, outer, inner);
  for (int id = inside; id >= 0 && id < (int)n->nodes.len; id++) {
    const nst_fe_node *node = &n->nodes.items[id];
    if (find_tensor(node->ir, tensor) < 0 || nst_fe_below(n, seq, id)) continue;
    bool producer = false, consumer = false;
    for (int i = 0; i < node->nstmts; i++) {
      const nst_ir_stmt *s = &n->w->ir.stmts[node->stmts[i]];
      producer = producer || s->out.tensor == tensor;
      consumer = consumer || reads(s, tensor);
    }
    if (producer && consumer) say_above_part(n, tensor, id);
  }
}

/* Two statements that read one shared tile must read the same elements of it in each step. */
static bool check_shared(nst_fe_nest *n, int id, int tensor, nst_span span) {
  const nst_fe_node *node = &n->nodes.items[id];
  const nst_ir_workload *w = &n->w->ir;
  const nst_ir_access *first = NULL;
  int first_stmt = -1;
  for (int i = 0; i < node->nstmts; i++)
    if (w->stmts[node->stmts[i]].out.tensor == tensor) return true; /* a producer below: check_ranks */
  for (int i = 0; i < node->nstmts; i++) {
    const nst_ir_stmt *s = &w->stmts[node->stmts[i]];
    for (int a = 0; a < s->nin; a++) {
      const nst_ir_access *in = &s->in[a];
      if (in->tensor != tensor) continue;
      if (!first) {
        first = in;
        first_stmt = node->stmts[i];
      }
      for (int r = 0; r < in->nranks && first_stmt != node->stmts[i]; r++) {
        if (nst_rank_same(&in->ranks[r], &first->ranks[r])) continue;
        int loop = common_loop(n, id, id, &first->ranks[r], &in->ranks[r]);
        if (loop < 0) continue;
        nst_name name = w->tensors[tensor].name;
        nst_diag *m = fault(
          n, id, NST_D_SHARED_RANKS_DIFFER, span,
          nst_arena_printf(n->ck->arena, "`%s` and `%s` share this tile of `%s`, and need different elements of it",
                           nst_fe_stmt_name(n, first_stmt), nst_fe_stmt_name(n, node->stmts[i]), name));
        nst_diag_label(n->ck->diags, m, first->ranks[r].span, "read with this rank");
        nst_diag_label(n->ck->diags, m, in->ranks[r].span, "and with this one");
        nst_diag_label(n->ck->diags, m, place(&n->nodes.items[loop]), "this loop splits `%s`",
                       w->dims[n->nodes.items[loop].ir->dim].name);
        nst_diag_help(n->ck->diags, m, "keep `%s` in each branch by itself, or move the loop below the keep", name);
        return false;
      }
    }
  }
  return true;
}

void nst_check_fusion(nst_fe_nest *n) {
  const nst_ir_workload *w = &n->w->ir;
  if (w->nstmts < 2 || !n->w->ok) return;
  for (int id = 0; id < (int)n->nodes.len; id++) {
    if (!is_loop(&n->nodes.items[id])) continue;
    if (check_unfinished(n, id)) check_repeats(n, id);
  }
  bool *shared = NST_NEW_ARRAY(n->ck->arena, w->ntensors, bool);
  for (int t = 0; t < w->ntensors; t++) {
    if (w->tensors[t].role != NST_ROLE_INTERMEDIATE) continue;
    int seq = nst_fe_share_seq(n, t);
    if (seq < 0) continue;
    for (int s = 0; s < w->nstmts; s++)
      if (reads(&w->stmts[s], t)) check_ranks(n, t, n->writer[t], s);
    if (!n->keeps_incomplete) check_intermediate(n, t, seq);
  }
  for (int id = 0; id < (int)n->nodes.len; id++) {
    const nst_fe_node *node = &n->nodes.items[id];
    for (int i = 0; node->ir->kind == NST_NODE_KEEP && node->nstmts > 1 && i < node->ir->ntensors; i++) {
      int t = node->ir->tensors[i];
      if (!shared[t] && !check_shared(n, id, t, node->spans[i])) shared[t] = true;
    }
  }
}
