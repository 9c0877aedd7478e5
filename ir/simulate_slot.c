/* Tiles in their places, and what moves when they change.
 *
 * Each instance of a keep holds exactly one tile, as a list of elements. In a
 * step the tile of every working instance is listed anew and compared with the
 * one held; unless its box is the same, in which case its tile is, too. Needs
 * and drains are counted per instance and, marked element by element, once for
 * all siblings that share.
 *
 * An output's element counts as touched only after the whole step in which it
 * is first needed, so that all instances that need it then start from zero. */
#include "ir/simulate.h"
#include <stdlib.h>
#include <string.h>

/* ---- who shares with whom ---- */

void nst_sim_share_init(nst_sim_share *s, nst_arena *arena, const nst_nest *nest, const nst_ir_node *parent,
                        const nst_ir_node *child, bool output) {
  const nst_ir_level *levels = nest->ir->hardware.levels;
  bool guarded = false;
  s->nparents = s->nsiblings = 1;
  for (const nst_ir_node *n = child; n != parent; n = n->parent) {
    if (n->kind != NST_NODE_PAR) continue;
    s->nsiblings *= (size_t)nest->count[n->id];
    guarded = guarded || (output && !levels[n->level].reduce);
  }
  for (const nst_ir_node *n = parent; n; n = n->parent)
    if (n->kind == NST_NODE_PAR) s->nparents *= (size_t)nest->count[n->id];
  s->order = NST_NEW_ARRAY(arena, s->nsiblings, uint32_t);
  s->group = NST_NEW_ARRAY(arena, s->nsiblings, uint32_t);
  s->row = guarded ? NST_NEW_ARRAY(arena, s->nsiblings, uint32_t) : NULL;
  uint32_t ngroups = 1;
  for (size_t i = 0; i < s->nsiblings; i++) {
    size_t rest = i, groups = 1, rows = 1;
    for (const nst_ir_node *n = child; n != parent; n = n->parent) { /* innermost first */
      if (n->kind != NST_NODE_PAR) continue;
      size_t count = (size_t)nest->count[n->id], index = rest % count;
      rest /= count;
      if (!output && !levels[n->level].multicast) s->group[i] += (uint32_t)(index * groups), groups *= count;
      if (guarded && !levels[n->level].reduce) s->row[i] += (uint32_t)(index * rows), rows *= count;
    }
    if (s->group[i] >= ngroups) ngroups = s->group[i] + 1;
  }
  /* Sorted by counting: siblings of one group next to each other, in order. */
  uint32_t *start = NST_NEW_ARRAY(arena, ngroups + 1, uint32_t);
  for (size_t i = 0; i < s->nsiblings; i++) start[s->group[i] + 1]++;
  for (uint32_t g = 0; g < ngroups; g++) start[g + 1] += start[g];
  for (size_t i = 0; i < s->nsiblings; i++) s->order[start[s->group[i]]++] = (uint32_t)i;
}

/* Takes an element for a row of the array; false if another row has it already. The first taker notes itself. */
static bool take(nst_sim_tensor *t, const nst_sim_share *s, size_t sibling, int32_t id, uint32_t mark) {
  if (t->taken[id] == mark) return s->row[t->owner[id]] == s->row[sibling];
  t->taken[id] = mark;
  t->owner[id] = (uint32_t)sibling;
  return true;
}

static void meet(nst_sim_conflict *c, const nst_sim_tensor *t, size_t base, size_t sibling, int32_t id) {
  if (c->found) return;
  *c = (nst_sim_conflict){true, base + t->owner[id], base + sibling};
}

/* Whole step over: what was needed in it is touched from now on. */
static void touch(bool *touched, nst_sim_list *pending) {
  for (size_t i = 0; i < pending->len; i++) touched[pending->items[i]] = true;
  pending->len = 0;
}

/* ---- keeps ---- */

void nst_sim_slot_init(nst_sim_slot *s, nst_arena *arena) {
  s->held = NST_NEW_ARRAY(arena, s->ninstances, nst_sim_list);
  s->has = NST_NEW_ARRAY(arena, s->ninstances, bool);
  s->boxes = NST_NEW_ARRAY(arena, s->ninstances * 2 * (size_t)s->ndims, int64_t);
  if (s->output) s->touched = NST_NEW_ARRAY(arena, s->elements->bound, bool);
}

void nst_sim_slot_fini(nst_sim_slot *s) {
  for (size_t i = 0; s->held && i < s->ninstances; i++) free(s->held[i].items);
  free(s->tile.items);
  free(s->pending.items);
}

/* The instance's box into lo and hi; false if it is that of the tile held. */
static bool new_box(nst_sim_slot *s, const nst_sim_frame *f, size_t instance, int64_t *lo, int64_t *hi) {
  int64_t *box = s->boxes + instance * 2 * (size_t)s->ndims;
  bool same = s->has[instance];
  for (int i = 0; i < s->ndims; i++) {
    int d = s->dims[i];
    lo[d] = f->lo[d][instance];
    hi[d] = f->hi[d][instance];
    same = same && box[2 * i] == lo[d] && box[2 * i + 1] == hi[d];
    box[2 * i] = lo[d];
    box[2 * i + 1] = hi[d];
  }
  return !same;
}

static void swap(nst_sim_list *a, nst_sim_list *b) {
  nst_sim_list t = *a;
  *a = *b;
  *b = t;
}

/* The instance has the tile in s->tile now instead of what it held. `needs` marks what the siblings that share
 * have needed in this step, `drains` what they have drained. */
static void change_tile(nst_sim_slot *s, nst_sim_list *held, uint32_t fresh, uint32_t needs, uint32_t drains) {
  nst_sim_tensor *t = s->elements;
  uint32_t before = nst_sim_mark(t);
  for (size_t i = 0; i < held->len; i++) t->before[held->items[i]] = before;
  for (size_t i = 0; i < s->tile.len; i++) {
    int32_t id = s->tile.items[i];
    if (t->before[id] == before) continue;
    s->moves.fills += !s->output;
    if (t->taken[id] == needs) continue;
    t->taken[id] = needs;
    if (s->output && !s->touched[id]) {
      nst_sim_list_push(&s->pending, id);
      continue;
    }
    s->moves.fills += s->output;
    s->above->reads++;
  }
  if (!s->output) return;
  for (size_t i = 0; i < held->len; i++) {
    int32_t id = held->items[i];
    if (t->fresh[id] == fresh) continue;
    s->moves.drains++;
    if (t->left[id] == drains) continue;
    t->left[id] = drains;
    s->above->updates++;
  }
}

/* Rule 6, reduce = false: no two siblings that work in this step hold an element across that array. */
static void guard_held(nst_sim_slot *s, const bool *works, nst_sim_conflict *conflict) {
  for (size_t p = 0; p < s->share.nparents; p++) {
    size_t base = p * s->share.nsiblings;
    uint32_t mark = nst_sim_mark(s->elements);
    for (size_t k = 0; k < s->share.nsiblings; k++) {
      const nst_sim_list *held = &s->held[base + k];
      for (size_t i = 0; works[base + k] && i < held->len; i++)
        if (!take(s->elements, &s->share, k, held->items[i], mark))
          meet(conflict, s->elements, base, k, held->items[i]);
    }
  }
}

void nst_sim_slot_step(nst_sim_slot *s, const nst_sim_frame *f, int64_t *lo, int64_t *hi, nst_sim_conflict *conflict) {
  nst_sim_tensor *t = s->elements;
  for (size_t p = 0; p < s->share.nparents; p++) {
    uint32_t needs = 0, drains = nst_sim_mark(t);
    for (size_t k = 0; k < s->share.nsiblings; k++) {
      size_t sibling = s->share.order[k], instance = p * s->share.nsiblings + sibling;
      if (k == 0 || s->share.group[sibling] != s->share.group[s->share.order[k - 1]]) needs = nst_sim_mark(t);
      if (!f->works[instance] || !new_box(s, f, instance, lo, hi)) continue;
      uint32_t fresh = nst_sim_mark(t);
      s->tile.len = 0;
      for (int a = 0; a < s->naccesses; a++) nst_sim_access_collect(s->accesses[a], lo, hi, fresh, &s->tile);
      if ((int64_t)s->tile.len > s->largest) s->largest = (int64_t)s->tile.len;
      if (s->parent_level >= 0) change_tile(s, &s->held[instance], fresh, needs, drains);
      swap(&s->held[instance], &s->tile);
      s->has[instance] = true;
    }
  }
  if (s->share.row && s->parent_level >= 0) guard_held(s, f->works, conflict);
  touch(s->touched, &s->pending);
}

void nst_sim_slot_close(nst_sim_slot *s) {
  nst_sim_tensor *t = s->elements;
  for (size_t p = 0; p < s->share.nparents; p++) {
    uint32_t drains = nst_sim_mark(t);
    for (size_t k = 0; k < s->share.nsiblings; k++) {
      nst_sim_list *held = &s->held[p * s->share.nsiblings + k];
      for (size_t i = 0; s->output && s->parent_level >= 0 && i < held->len; i++) {
        int32_t id = held->items[i];
        s->moves.drains++;
        if (t->left[id] == drains) continue;
        t->left[id] = drains;
        s->above->updates++;
      }
      held->len = 0;
      s->has[p * s->share.nsiblings + k] = false;
    }
  }
}

/* ---- the compute ---- */

static int32_t element_at(const nst_sim_access *a, const nst_sim_frame *f, size_t instance) {
  for (int r = 0; r < a->nranks; r++) {
    int64_t value = a->offset[r];
    for (int i = a->terms[r]; i < a->terms[r + 1]; i++) value += a->term_coef[i] * f->lo[a->term_dim[i]][instance];
    a->value[r] = value;
  }
  return nst_sim_element(a->tensor, a->value);
}

void nst_sim_operand_step(nst_sim_operand *o, const nst_sim_frame *f, nst_sim_conflict *conflict) {
  nst_sim_tensor *t = o->elements;
  for (size_t p = 0; p < o->share.nparents; p++) {
    size_t base = p * o->share.nsiblings;
    uint32_t shared = 0, made = nst_sim_mark(t);
    for (size_t k = 0; k < o->share.nsiblings; k++) {
      size_t sibling = o->share.order[k];
      if (k == 0 || o->share.group[sibling] != o->share.group[o->share.order[k - 1]]) shared = nst_sim_mark(t);
      if (!f->works[base + sibling]) continue;
      for (int a = 0; a < o->naccesses; a++) {
        int32_t id = element_at(o->accesses[a], f, base + sibling);
        if (id < 0) continue;
        if (o->share.row && !take(t, &o->share, sibling, id, made)) meet(conflict, t, base, sibling, id);
        if (t->fresh[id] == shared) continue;
        t->fresh[id] = shared;
        o->updates += o->output;
        if (o->output && !o->touched[id])
          nst_sim_list_push(&o->pending, id);
        else
          o->reads++;
      }
    }
  }
  touch(o->touched, &o->pending);
}
