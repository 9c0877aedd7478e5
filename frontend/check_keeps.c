/* What each keep holds.
 *
 * `keep all` is resolved, a tensor kept twice at one level on one path is
 * found, and the interplay with `keep?` is settled, in one walk in preorder
 * that knows for each level and tensor the keep above the node at hand.
 *
 * An intermediate is special above the seq that shares it: a keep that names it
 * there keeps every `all` above that seq from taking it; without one, the
 * innermost such `all` takes it, alone. Inside the branches `all` takes it like
 * any tensor, unless it stands above an inner seq with the producer and only
 * some consumers, where it must not be kept. Everywhere else `all` takes what
 * the statements below use, the level may hold and no keep of that level
 * further out has. Where the keep that wins is a `keep?`, the one that would
 * win without it holds the tensor dormant. */
#include "frontend/check.h"

typedef struct {
  nst_fe_nest *n;
  int ntensors;
  int *share;        /* [ntensors] the seq that shares an intermediate, -1 */
  int *named;        /* [ntensors] innermost keep that names it above that seq, -1 */
  int *takers[2];    /* [ntensors] the innermost two `all` above that seq that may hold it, -1 */
  int *holder;       /* [nlevels * ntensors] id + 1 of the keep above the node at hand */
  NST_VEC(int) open; /* nodes around the one at hand */
  NST_VEC(int) undo; /* slots of holder, with the node that set each */
  NST_VEC(int) undo_node;
} keeps;

static bool above_share(const keeps *k, int node, int tensor) {
  return k->share[tensor] >= 0 && nst_fe_below(k->n, k->share[tensor], node);
}

static void survey(keeps *k) {
  nst_fe_nest *n = k->n;
  for (int t = 0; t < k->ntensors; t++) {
    bool intermediate = n->w->ir.tensors[t].role == NST_ROLE_INTERMEDIATE;
    k->share[t] = intermediate ? nst_fe_share_seq(n, t) : -1;
    k->named[t] = k->takers[0][t] = k->takers[1][t] = -1;
  }
  for (int id = 0; id < (int)n->nodes.len; id++) {
    const nst_fe_node *node = &n->nodes.items[id];
    if (node->ir->kind != NST_NODE_KEEP) continue;
    for (int i = 0; i < node->ir->ntensors; i++)
      if (above_share(k, id, node->ir->tensors[i])) k->named[node->ir->tensors[i]] = id;
    for (int t = 0; node->all && t < k->ntensors; t++) {
      if (!above_share(k, id, t) || !nst_fe_may_hold(n, node->ir->level, t, node->stmts, node->nstmts)) continue;
      k->takers[1][t] = k->takers[0][t];
      k->takers[0][t] = id;
    }
  }
}

static void add_dormant(keeps *k, nst_ir_node *keep, int tensor, int unless) {
  size_t cap = (size_t)keep->ndormant;
  if ((cap & (cap - 1)) == 0) { /* room for the next power of two */
    nst_ir_dormant *grown = NST_NEW_ARRAY(k->n->ck->arena, cap ? cap * 2 : 1, nst_ir_dormant);
    if (cap) memcpy(grown, keep->dormant, cap * sizeof *grown);
    keep->dormant = grown;
  }
  keep->dormant[keep->ndormant++] = (nst_ir_dormant){tensor, k->n->nodes.items[unless].ir};
}

static bool optional(const keeps *k, int id) { return k->n->nodes.items[id].ir->optional; }

/* `all` above the seq that shares an intermediate. */
static bool takes_shared(keeps *k, int id, int t) {
  nst_ir_node *ir = k->n->nodes.items[id].ir;
  if (k->named[t] >= 0) {
    if (k->takers[0][t] == id && optional(k, k->named[t])) add_dormant(k, ir, t, k->named[t]);
    return false;
  }
  if (k->takers[0][t] == id) return true;
  if (k->takers[1][t] == id && optional(k, k->takers[0][t])) add_dormant(k, ir, t, k->takers[0][t]);
  return false;
}

/* Above an inner seq with the producer of an intermediate and some of its consumers. */
static bool above_part(const nst_fe_nest *n, const nst_fe_node *node, int t) {
  bool producer = false, consumer = false;
  for (int i = 0; i < node->nstmts; i++) {
    int s = node->stmts[i];
    if (n->writer[t] == s)
      producer = true;
    else
      consumer = consumer || nst_fe_uses(&n->w->ir.stmts[s], t);
  }
  return producer && consumer;
}

static void set_holder(keeps *k, int id, int t) {
  int slot = k->n->nodes.items[id].ir->level * k->ntensors + t;
  *nst_vec_push(k->n->ck->arena, &k->undo) = slot;
  *nst_vec_push(k->n->ck->arena, &k->undo_node) = id;
  k->holder[slot] = id + 1;
}

static void resolve_all(keeps *k, int id) {
  nst_fe_nest *n = k->n;
  nst_fe_node *node = &n->nodes.items[id];
  nst_ir_node *ir = node->ir;
  ir->tensors = NST_NEW_ARRAY(n->ck->arena, k->ntensors, int);
  node->spans = NST_NEW_ARRAY(n->ck->arena, k->ntensors, nst_span);
  for (int t = 0; t < k->ntensors; t++) {
    if (!nst_fe_used_below(n, node->stmts, node->nstmts, t)) continue;
    if (!nst_fe_may_hold(n, ir->level, t, node->stmts, node->nstmts)) continue;
    int holder = k->holder[ir->level * k->ntensors + t] - 1;
    if (above_share(k, id, t)) {
      if (!takes_shared(k, id, t)) continue;
    } else if (n->w->ir.tensors[t].role == NST_ROLE_INTERMEDIATE && above_part(n, node, t)) {
      continue;
    } else if (holder >= 0) {
      if (optional(k, holder)) add_dormant(k, ir, t, holder);
      continue;
    }
    node->spans[ir->ntensors] = node->item->span;
    ir->tensors[ir->ntensors++] = t;
    set_holder(k, id, t);
  }
  if (ir->ntensors || ir->ndormant) return;
  n->broken = true;
  if (n->keeps_incomplete || n->w->incomplete || node->nstmts == 0) return;
  nst_diag *m =
    nst_diag_add(n->ck->diags, NST_D_KEEP_NOTHING, node->item->span,
                 "nothing is left that this `keep all` could keep in `%s`", n->h->ir.levels[ir->level].name);
  if (n->h->holds[ir->level].items)
    nst_diag_label(n->ck->diags, m, n->h->holds[ir->level].span, "the level holds only these");
  nst_diag_help(n->ck->diags, m, "what a keep further out holds in this level is not taken again; remove this line");
}

static void say_twice(keeps *k, int id, int before, int index, bool branch) {
  nst_fe_nest *n = k->n;
  const nst_fe_node *node = &n->nodes.items[id], *first = &n->nodes.items[before];
  const char *level = n->h->ir.levels[node->ir->level].name;
  nst_name tensor = n->w->ir.tensors[node->ir->tensors[index]].name;
  nst_span at = first->item ? first->item->span : first->ir->span;
  for (int i = 0; i < first->ir->ntensors; i++)
    if (first->ir->tensors[i] == node->ir->tensors[index]) at = first->spans[i];
  nst_diag *m;
  if (branch) {
    m = nst_diag_add(n->ck->diags, NST_D_BRANCH_DUPLICATE, node->spans[index],
                     "`%s` is kept in `%s` above the `seq` already, for all branches", tensor, level);
    nst_diag_help(n->ck->diags, m, "remove it from one of the two; with `keep?` above, a sweep chooses between them");
  } else {
    m = nst_diag_add(n->ck->diags, NST_D_KEPT_TWICE, node->spans[index], "`%s` is kept in `%s` twice", tensor, level);
    nst_diag_help(n->ck->diags, m, "a level keeps a tensor once; remove one of the two");
  }
  nst_diag_label(n->ck->diags, m, at, "kept here first");
  n->broken = true;
}

static void resolve_named(keeps *k, int id) {
  nst_fe_nest *n = k->n;
  nst_fe_node *node = &n->nodes.items[id];
  nst_ir_node *ir = node->ir;
  int kept = 0, seq = -1;
  for (size_t i = 0; i < k->open.len; i++)
    if (n->nodes.items[k->open.items[i]].ir->kind == NST_NODE_SEQ) seq = k->open.items[i];
  for (int i = 0; i < ir->ntensors; i++) {
    int t = ir->tensors[i], holder = k->holder[ir->level * k->ntensors + t] - 1;
    bool branch = holder >= 0 && seq > holder;
    if (holder >= 0 && branch && optional(k, holder)) {
      add_dormant(k, ir, t, holder);
      continue;
    }
    if (holder >= 0) {
      say_twice(k, id, holder, i, branch);
      continue;
    }
    node->spans[kept] = node->spans[i];
    ir->tensors[kept++] = t;
    set_holder(k, id, t);
  }
  ir->ntensors = kept;
}

static void leave(keeps *k, int next) {
  while (k->open.len && k->n->nodes.items[k->open.items[k->open.len - 1]].end <= next) {
    int id = k->open.items[--k->open.len];
    while (k->undo.len && k->undo_node.items[k->undo.len - 1] == id) {
      k->holder[k->undo.items[--k->undo.len]] = 0;
      k->undo_node.len--;
    }
  }
}

void nst_resolve_keeps(nst_fe_nest *n) {
  keeps k = {.n = n, .ntensors = n->w->ir.ntensors};
  nst_arena *arena = n->ck->arena;
  k.share = NST_NEW_ARRAY(arena, k.ntensors, int);
  k.named = NST_NEW_ARRAY(arena, k.ntensors, int);
  k.takers[0] = NST_NEW_ARRAY(arena, k.ntensors, int);
  k.takers[1] = NST_NEW_ARRAY(arena, k.ntensors, int);
  k.holder = NST_NEW_ARRAY(arena, (size_t)n->h->ir.nlevels * (size_t)k.ntensors, int);
  for (int s = 0; s < n->w->ir.nstmts; s++) n->keeps_incomplete = n->keeps_incomplete || n->compute[s] < 0;
  survey(&k);
  for (int id = 0; id < (int)n->nodes.len; id++) {
    leave(&k, id);
    if (n->nodes.items[id].ir->kind == NST_NODE_KEEP) {
      if (n->nodes.items[id].all)
        resolve_all(&k, id);
      else
        resolve_named(&k, id);
    }
    *nst_vec_push(arena, &k.open) = id;
  }
}
