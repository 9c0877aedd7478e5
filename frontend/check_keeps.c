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

/* "`A`, `B`", of many the first ones */
static const char *quoted_names(nst_fe_nest *n, const int *tensors, int count) {
  const char *out = "";
  for (int i = 0; i < count; i++)
    out = nst_list_add(n->ck->arena, out, i, nst_arena_printf(n->ck->arena, "`%s`", n->w->ir.tensors[tensors[i]].name));
  return out;
}

/* Points to the keeps further out that hold what the statements below use. false: there is none. */
static bool label_holders(keeps *k, nst_diag *m, int level, const nst_fe_node *node) {
  nst_fe_nest *n = k->n;
  bool found = false;
  int *held = NST_NEW_ARRAY(n->ck->arena, k->ntensors, int);
  for (size_t i = 0; i < k->open.len; i++) {
    const nst_fe_node *keep = &n->nodes.items[k->open.items[i]];
    int count = 0;
    for (int t = 0; t < k->ntensors; t++)
      if (k->holder[level * k->ntensors + t] == k->open.items[i] + 1 &&
          nst_fe_used_below(n, node->stmts, node->nstmts, t))
        held[count++] = t;
    if (!count) continue;
    nst_diag_label(n->ck->diags, m, keep->item ? keep->item->span : keep->ir->span, "%s %s kept here already",
                   quoted_names(n, held, count), count == 1 ? "is" : "are");
    found = true;
  }
  return found;
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
  if (!nst_diag_is_kept(n->ck->diags, m)) return;
  if (n->h->holds[ir->level].items)
    nst_diag_label(n->ck->diags, m, n->h->holds[ir->level].span, "the level holds only these");
  if (label_holders(k, m, ir->level, node))
    nst_diag_help(
      n->ck->diags, m,
      "a level keeps a tensor once: remove this line, or the keep further out to hold the tiles from here on");
  else
    nst_diag_help(n->ck->diags, m, "remove this line");
}

/* The tensors at `index` of a keep that the keep `before` holds already, in one message. */
static void say_twice(keeps *k, int id, int before, const int *index, int count, bool branch) {
  nst_fe_nest *n = k->n;
  nst_diags *d = n->ck->diags;
  const nst_fe_node *node = &n->nodes.items[id], *first = &n->nodes.items[before];
  const char *level = n->h->ir.levels[node->ir->level].name;
  int *tensors = NST_NEW_ARRAY(n->ck->arena, count, int), *others = NST_NEW_ARRAY(n->ck->arena, k->ntensors, int);
  int nothers = 0;
  for (int i = 0; i < count; i++) tensors[i] = node->ir->tensors[index[i]];
  for (int i = 0; i < first->ir->ntensors; i++) {
    bool again = false;
    for (int j = 0; j < count; j++) again = again || tensors[j] == first->ir->tensors[i];
    if (!again) others[nothers++] = first->ir->tensors[i];
  }
  const char *names = quoted_names(n, tensors, count), *verb = count == 1 ? "is" : "are";
  const nst_span span = nst_span_join(node->spans[index[0]], node->spans[index[count - 1]]);
  nst_diag *m;
  if (branch) {
    m = nst_diag_add(d, NST_D_BRANCH_DUPLICATE, span, "%s %s kept in `%s` above the `seq` already, for all branches",
                     names, verb, level);
    nst_diag_help(d, m, "remove it from one of the two; with `keep?` above, a sweep chooses between them");
  } else {
    m = nst_diag_add(d, NST_D_KEPT_TWICE, span, "%s %s kept in `%s` twice", names, verb, level);
    if (!first->all)
      nst_diag_help(d, m, "a level keeps a tensor once: remove it here, or further out to hold its tile from here on");
    else if (nothers == 0)
      nst_diag_help(
        d, m,
        "a level keeps a tensor once: remove this keep, or the `keep all` further out to hold the tiles from "
        "here on");
    else
      nst_diag_help(
        d, m,
        "a level keeps a tensor once: remove this keep, or to hold the tiles from here on let the keep further "
        "out name only %s",
        quoted_names(n, others, nothers));
  }
  nst_span at = first->item ? first->item->span : first->ir->span;
  for (int i = 0; !first->all && i < first->ir->ntensors; i++)
    if (first->ir->tensors[i] == tensors[0]) at = first->spans[i];
  if (first->all)
    nst_diag_label(d, m, at, "`all` takes %s here", count == 1 ? "it" : "them");
  else
    nst_diag_label(d, m, at, "kept here first");
  n->broken = true;
}

static void resolve_named(keeps *k, int id) {
  nst_fe_nest *n = k->n;
  nst_fe_node *node = &n->nodes.items[id];
  nst_ir_node *ir = node->ir;
  int kept = 0, seq = -1;
  int *again = NST_NEW_ARRAY(n->ck->arena, ir->ntensors, int);
  for (size_t i = 0; i < k->open.len; i++)
    if (n->nodes.items[k->open.items[i]].ir->kind == NST_NODE_SEQ) seq = k->open.items[i];
  /* What was kept before, by the keep that has it: a message each. */
  for (int i = 0; i < ir->ntensors; i++) {
    const int holder = k->holder[ir->level * k->ntensors + ir->tensors[i]] - 1;
    if (holder < 0 || (seq > holder && optional(k, holder))) continue;
    bool said = false;
    for (int j = 0; j < i; j++) said = said || k->holder[ir->level * k->ntensors + ir->tensors[j]] - 1 == holder;
    if (said) continue;
    int repeats = 0;
    for (int j = i; j < ir->ntensors; j++)
      if (k->holder[ir->level * k->ntensors + ir->tensors[j]] - 1 == holder) again[repeats++] = j;
    say_twice(k, id, holder, again, repeats, seq > holder);
  }
  for (int i = 0; i < ir->ntensors; i++) {
    int t = ir->tensors[i], holder = k->holder[ir->level * k->ntensors + t] - 1;
    if (holder >= 0) {
      if (seq > holder && optional(k, holder)) add_dormant(k, ir, t, holder);
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
