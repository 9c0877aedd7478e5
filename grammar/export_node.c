/* The nodes of an exported grammar, kept simple as they are made.
 *
 * A sequence or an alternative never holds one of its own kind, what is impossible
 * disappears, and alternatives that begin alike share the beginning: `a b | a c`
 * is `a (b | c)`. That keeps engines that follow all alternatives at once quick. */
#include "grammar/export.h"

#include <string.h>

static nst_gnode *make(nst_grules *to, nst_gkind kind) {
  nst_gnode *n = NST_NEW(to->arena, nst_gnode);
  n->kind = kind;
  return n;
}

nst_gnode *nst_gnode_fail(nst_grules *to) { return make(to, NST_G_FAIL); }
nst_gnode *nst_gnode_empty(nst_grules *to) { return make(to, NST_G_EMPTY); }

nst_gnode *nst_gnode_text(nst_grules *to, const char *text) {
  nst_gnode *n = make(to, NST_G_TEXT);
  n->text = text;
  return n;
}

nst_gnode *nst_gnode_class(nst_grules *to, const char *text) {
  nst_gnode *n = make(to, NST_G_CLASS);
  n->text = text;
  return n;
}

nst_gnode *nst_gnode_rule(nst_grules *to, uint32_t rule) {
  nst_gnode *n = make(to, NST_G_RULE);
  n->rule = rule;
  return n;
}

bool nst_gnode_same(const nst_gnode *a, const nst_gnode *b) {
  if (a->kind != b->kind || a->rule != b->rule || a->min != b->min || a->max != b->max || a->kids.len != b->kids.len)
    return false;
  if (a->text && strcmp(a->text, b->text) != 0) return false;
  for (size_t i = 0; i < a->kids.len; i++)
    if (!nst_gnode_same(a->kids.items[i], b->kids.items[i])) return false;
  return true;
}

static void push_flat(nst_grules *to, nst_gnode *into, nst_gnode *n) {
  if (n->kind != into->kind) {
    *nst_vec_push(to->arena, &into->kids) = n;
    return;
  }
  for (size_t i = 0; i < n->kids.len; i++) *nst_vec_push(to->arena, &into->kids) = n->kids.items[i];
}

nst_gnode *nst_gnode_seq(nst_grules *to, nst_gnode *a, nst_gnode *b) {
  if (a->kind == NST_G_FAIL || b->kind == NST_G_EMPTY) return a;
  if (b->kind == NST_G_FAIL || a->kind == NST_G_EMPTY) return b;
  nst_gnode *n = make(to, NST_G_SEQ);
  push_flat(to, n, a);
  push_flat(to, n, b);
  return n;
}

static nst_gnode *head(nst_gnode *n) { return n->kind == NST_G_SEQ ? n->kids.items[0] : n; }

static nst_gnode *tail(nst_grules *to, nst_gnode *n) {
  if (n->kind != NST_G_SEQ) return nst_gnode_empty(to);
  nst_gnode *rest = nst_gnode_empty(to);
  for (size_t i = n->kids.len; i-- > 1;) rest = nst_gnode_seq(to, n->kids.items[i], rest);
  return rest;
}

nst_gnode *nst_gnode_alt(nst_grules *to, nst_gnode *a, nst_gnode *b) {
  if (a->kind == NST_G_FAIL) return b;
  if (b->kind == NST_G_FAIL || nst_gnode_same(a, b)) return a;
  if (b->kind == NST_G_ALT) {
    for (size_t i = 0; i < b->kids.len; i++) a = nst_gnode_alt(to, a, b->kids.items[i]);
    return a;
  }
  nst_gnode *n = make(to, NST_G_ALT);
  push_flat(to, n, a);
  for (size_t i = 0; i < n->kids.len; i++) {
    nst_gnode *kid = n->kids.items[i];
    if (nst_gnode_same(kid, b)) return a;
    if (kid->kind == NST_G_EMPTY || b->kind == NST_G_EMPTY || !nst_gnode_same(head(kid), head(b))) continue;
    n->kids.items[i] = nst_gnode_seq(to, head(kid), nst_gnode_alt(to, tail(to, kid), tail(to, b)));
    return n->kids.len == 1 ? n->kids.items[0] : n;
  }
  *nst_vec_push(to->arena, &n->kids) = b;
  return n;
}

nst_gnode *nst_gnode_repeat(nst_grules *to, nst_gnode *a, uint32_t min, uint32_t max) {
  if (a->kind == NST_G_FAIL) return min ? a : nst_gnode_empty(to);
  nst_gnode *n = make(to, NST_G_REPEAT);
  n->min = min;
  n->max = max;
  *nst_vec_push(to->arena, &n->kids) = a;
  return n;
}

nst_gnode *nst_gnode_optional(nst_grules *to, nst_gnode *a) { return nst_gnode_alt(to, a, nst_gnode_empty(to)); }
