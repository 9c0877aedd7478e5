/* Smaller grammars: rules that say the same become one, groups become rules of their own.
 *
 * Splitting makes variants that turn out equal; they are merged until nothing
 * changes. Lark multiplies out the alternatives inside a rule, so for it each group
 * within a sequence is hoisted into a rule. */
#include "grammar/export.h"

#include <string.h>

static nst_gnode *rule_body(nst_grules *g, uint32_t rule) { return g->rules.items[rule].body; }

uint32_t nst_grules_resolve(const nst_grules *g, uint32_t rule) {
  while (g->rules.items[rule].body->kind == NST_G_RULE) rule = g->rules.items[rule].body->rule;
  return rule;
}

/* The node made anew, its rules resolved, so that what has become equal is said once. */
static nst_gnode *again(nst_grules *g, nst_gnode *n) {
  nst_gnode *out;
  switch (n->kind) {
  case NST_G_RULE: return nst_gnode_rule(g, nst_grules_resolve(g, n->rule));
  case NST_G_REPEAT: return nst_gnode_repeat(g, again(g, n->kids.items[0]), n->min, n->max);
  case NST_G_SEQ:
    out = nst_gnode_empty(g);
    for (size_t i = n->kids.len; i-- > 0;) out = nst_gnode_seq(g, again(g, n->kids.items[i]), out);
    return out;
  case NST_G_ALT:
    out = nst_gnode_fail(g);
    for (size_t i = 0; i < n->kids.len; i++) out = nst_gnode_alt(g, out, again(g, n->kids.items[i]));
    return out;
  case NST_G_FAIL:
  case NST_G_EMPTY:
  case NST_G_TEXT:
  case NST_G_CLASS: break;
  }
  return n;
}

void nst_grules_merge(nst_grules *g) {
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < g->rules.len; i++) g->rules.items[i].body = again(g, rule_body(g, i));
    for (uint32_t i = 1; i < g->rules.len; i++) {
      if (rule_body(g, i)->kind == NST_G_RULE || g->rules.items[i].lexical) continue;
      for (uint32_t k = 1; k < i; k++) {
        if (g->rules.items[k].lexical || !nst_gnode_same(rule_body(g, k), rule_body(g, i))) continue;
        g->rules.items[i].body = nst_gnode_rule(g, k);
        more = true;
        break;
      }
    }
  }
}

static bool is_group(const nst_gnode *n) { return n->kind == NST_G_ALT || n->kind == NST_G_REPEAT; }

/* Replaces groups inside a node, which is not itself one at the top of a rule. */
static void hoist(nst_grules *g, uint32_t rule, nst_gnode *n, unsigned *count, size_t first) {
  for (size_t i = 0; i < n->kids.len; i++) {
    nst_gnode *kid = n->kids.items[i];
    hoist(g, rule, kid, count, first);
    const bool must = n->kind == NST_G_REPEAT ? kid->kind != NST_G_RULE : n->kind == NST_G_SEQ && is_group(kid);
    if (!must) continue;
    uint32_t found = 0;
    for (size_t k = first; k < g->rules.len && !found; k++)
      if (nst_gnode_same(rule_body(g, (uint32_t)k), kid)) found = (uint32_t)k;
    if (!found) {
      const char *name = nst_arena_printf(g->arena, "%s-group-%u", g->rules.items[rule].name, ++*count);
      *nst_vec_push(g->arena, &g->rules) = (nst_grule){.name = name, .body = kid};
      found = (uint32_t)(g->rules.len - 1);
    }
    n->kids.items[i] = nst_gnode_rule(g, found);
  }
}

void nst_grules_hoist(nst_grules *g) {
  const size_t first = g->rules.len;
  for (uint32_t i = 0; i < first; i++) {
    unsigned count = 0;
    if (!g->rules.items[i].lexical) hoist(g, i, rule_body(g, i), &count, first);
  }
}
