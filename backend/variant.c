/* See variant.h. A tree is copied from the root inward; the loops of a permute
 * block are copied in the chosen order; a dropped keep? gives back the tensors
 * that lie dormant in other keeps because of it. */
#include "backend/variant.h"
#include "base/vec.h"
#include <string.h>

typedef NST_VEC(const nst_ir_node *) node_list;

/* All nodes in preorder. */
static void collect(nst_arena *arena, const nst_ir_node *node, node_list *out) {
  for (; node; node = node->next) {
    *nst_vec_push(arena, out) = node;
    for (int b = 0; b < node->nbranches; b++) collect(arena, node->branches[b].body, out);
  }
}

const char *nst_variants_init(nst_variants *v, nst_arena *arena, const nst_ir_mapping *m) {
  node_list nodes = {0};
  collect(arena, m->root, &nodes);
  *v = (nst_variants){.mapping = m, .count = 1};
  for (size_t i = 0; i < nodes.len; i++) {
    if (nodes.items[i]->permute >= v->npermutes) v->npermutes = nodes.items[i]->permute + 1;
    v->nkeeps += nodes.items[i]->kind == NST_NODE_KEEP && nodes.items[i]->optional;
  }
  v->lengths = NST_NEW_ARRAY(arena, v->npermutes, int);
  v->norders = NST_NEW_ARRAY(arena, v->npermutes, uint64_t);
  for (size_t i = 0; i < nodes.len; i++)
    if (nodes.items[i]->permute >= 0) v->lengths[nodes.items[i]->permute]++;
  if (v->nkeeps > 62) return "a mapping of a sweep has at most 62 keep?";
  if (v->npermutes > 64) return "a mapping of a sweep has at most 64 permute blocks";
  bool over = false;
  for (int b = 0; b < v->npermutes; b++) {
    if (v->lengths[b] > 16) return "a permute block of a sweep holds at most 16 loops";
    v->norders[b] = 1;
    for (int i = 2; i <= v->lengths[b]; i++) v->norders[b] *= (uint64_t)i;
    over = over || __builtin_mul_overflow(v->count, v->norders[b], &v->count);
  }
  over = over || __builtin_mul_overflow(v->count, (uint64_t)1 << v->nkeeps, &v->count);
  return over ? "the sweep has more than 2^64 variants" : NULL;
}

void nst_variant_decode(const nst_variants *v, uint64_t number, uint64_t *orders, uint64_t *dropped) {
  for (int b = v->npermutes - 1; b >= 0; b--) {
    orders[b] = number % v->norders[b];
    number /= v->norders[b];
  }
  *dropped = number;
}

void nst_variant_order(const nst_variants *v, int block, uint64_t order, int *place) {
  int n = v->lengths[block];
  bool used[16] = {false};
  uint64_t left = v->norders[block];
  for (int i = 0; i < n; i++) {
    left /= (uint64_t)(n - i);
    uint64_t skip = order / left;
    order %= left;
    int k = 0;
    while (used[k] || skip > 0) {
      if (!used[k]) skip--;
      k++;
    }
    used[k] = true;
    place[i] = k;
  }
}

typedef struct {
  nst_arena *arena;
  const nst_variants *v;
  uint64_t orders[64], dropped;
  node_list keeps;  /* the template's keep? in preorder */
  const bool *dims; /* only splits of these, or NULL: all */
} maker;

static bool is_dropped(const maker *k, const nst_ir_node *keep) {
  for (size_t i = 0; i < k->keeps.len; i++)
    if (k->keeps.items[i] == keep) return k->dropped >> i & 1;
  return false;
}

static nst_ir_node *copy_keep(maker *k, const nst_ir_node *from) {
  nst_ir_node *to = NST_NEW(k->arena, nst_ir_node);
  *to = *from;
  to->optional = false;
  to->dormant = NULL;
  to->ndormant = 0;
  to->tensors = NST_NEW_ARRAY(k->arena, from->ntensors + from->ndormant, int);
  to->ntensors = 0;
  if (from->optional && is_dropped(k, from)) return to;
  for (int i = 0; i < from->ntensors; i++) to->tensors[to->ntensors++] = from->tensors[i];
  for (int i = 0; i < from->ndormant; i++) {
    bool wakes = true; /* held once every keep? that it gives way to is dropped */
    for (int j = 0; j < from->ndormant; j++)
      if (from->dormant[j].tensor == from->dormant[i].tensor)
        wakes = wakes && j >= i && is_dropped(k, from->dormant[j].unless);
    if (wakes) to->tensors[to->ntensors++] = from->dormant[i].tensor;
  }
  return to;
}

static nst_ir_node *copy_chain(maker *k, const nst_ir_node *from) {
  nst_ir_node *root = NULL, **tail = &root;
  while (from) {
    const nst_ir_node *run[16] = {from};
    int n = 1, place[16] = {0};
    if (from->permute >= 0) { /* the whole block; its loops follow one another */
      n = k->v->lengths[from->permute];
      for (int i = 1; i < n; i++) run[i] = run[i - 1]->next;
      nst_variant_order(k->v, from->permute, k->orders[from->permute], place);
    }
    for (int i = 0; i < n; i++) {
      const nst_ir_node *node = run[place[i]];
      nst_ir_node *to;
      if (k->dims && (node->kind == NST_NODE_FOR || node->kind == NST_NODE_PAR) && !k->dims[node->dim]) continue;
      if (node->kind == NST_NODE_KEEP) {
        to = copy_keep(k, node);
        if (!to->ntensors) continue; /* holds nothing in this variant */
      } else {
        to = NST_NEW(k->arena, nst_ir_node);
        *to = *node;
      }
      to->permute = -1;
      to->origin = node->id;
      to->next = NULL;
      to->branches = NST_NEW_ARRAY(k->arena, node->nbranches, nst_ir_branch);
      for (int b = 0; b < node->nbranches; b++) {
        to->branches[b] = node->branches[b];
        to->branches[b].body = copy_chain(k, node->branches[b].body);
      }
      *tail = to;
      tail = &to->next;
    }
    from = run[n - 1]->next;
  }
  return root;
}

static nst_ir_mapping *make(maker *k, uint64_t number) {
  const nst_ir_mapping *from = k->v->mapping;
  node_list nodes = {0};
  collect(k->arena, from->root, &nodes);
  for (size_t i = 0; i < nodes.len; i++)
    if (nodes.items[i]->kind == NST_NODE_KEEP && nodes.items[i]->optional) *nst_vec_push(k->arena, &k->keeps) = nodes.items[i];
  nst_variant_decode(k->v, number, k->orders, &k->dropped);
  nst_ir_mapping *m = NST_NEW(k->arena, nst_ir_mapping);
  *m = *from;
  m->root = copy_chain(k, from->root);
  nst_ir_mapping_finish(k->arena, m);
  return m;
}

nst_ir_mapping *nst_variant_make(nst_arena *arena, const nst_variants *v, uint64_t number) {
  maker k = {.arena = arena, .v = v};
  return make(&k, number);
}

nst_ir_mapping *nst_variant_splits(nst_arena *arena, const nst_variants *v, const bool *dims) {
  maker k = {.arena = arena, .v = v, .dims = dims};
  return make(&k, 0);
}
