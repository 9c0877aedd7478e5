/* Symbol tables. Small ones are searched in order, which is what nearly all
 * of them are; a table past 16 names gets a hash index. */
#include "frontend/symbols.h"

#include "base/vec.h"
#include <stdint.h>

enum { SMALL = 16, SHOWN = 8 };

static size_t slot_of(const nst_symtab *tab, nst_name name) {
  return (size_t)(((uintptr_t)name >> 3) * 0x9E3779B97F4A7C15u >> 20) & (tab->nslots - 1);
}

static void index_add(nst_symtab *tab, size_t i) {
  size_t at = slot_of(tab, tab->items[i].name);
  for (; tab->slots[at]; at = (at + 1) & (tab->nslots - 1))
    if (tab->items[tab->slots[at] - 1].name == tab->items[i].name) return; /* the first stays */
  tab->slots[at] = (uint32_t)i + 1;
}

static void reindex(nst_arena *arena, nst_symtab *tab) {
  while (tab->nslots < 2 * tab->cap) tab->nslots = tab->nslots ? tab->nslots * 2 : 64;
  tab->slots = NST_NEW_ARRAY(arena, tab->nslots, uint32_t);
  for (size_t i = 0; i < tab->len; i++) index_add(tab, i);
}

nst_symbol *nst_symtab_add(nst_arena *arena, nst_symtab *tab, nst_name name, nst_span span) {
  if (tab->len == tab->cap) tab->items = nst_vec_grow(arena, tab->items, tab->len, &tab->cap, sizeof *tab->items);
  nst_symbol *s = &tab->items[tab->len++];
  *s = (nst_symbol){.name = name, .span = span};
  if (tab->len > SMALL) {
    if (tab->nslots < 2 * tab->len)
      reindex(arena, tab);
    else
      index_add(tab, tab->len - 1);
  }
  return s;
}

nst_symbol *nst_symtab_find(const nst_symtab *tab, nst_name name) {
  if (!tab || !name) return NULL;
  if (!tab->nslots) {
    for (size_t i = 0; i < tab->len; i++)
      if (tab->items[i].name == name) return &tab->items[i];
    return NULL;
  }
  for (size_t at = slot_of(tab, name); tab->slots[at]; at = (at + 1) & (tab->nslots - 1))
    if (tab->items[tab->slots[at] - 1].name == name) return &tab->items[tab->slots[at] - 1];
  return NULL;
}

nst_symbol *nst_symtab_declare(nst_arena *arena, nst_diags *diags, nst_symtab *tab, nst_name name, nst_span span,
                               const char *what) {
  nst_symbol *old = nst_symtab_find(tab, name);
  if (!old) return nst_symtab_add(arena, tab, name, span);
  if (old->span.source == span.source && old->span.begin == span.begin) return NULL; /* a declaration cut in two */
  nst_diag *m = nst_diag_add(diags, NST_D_DUPLICATE_NAME, span, "there is already %s `%s`", what, name);
  nst_diag_label(diags, m, old->span, "the first one is here");
  nst_diag_help(diags, m, "rename one of them or remove it");
  return NULL;
}

void nst_symtab_truncate(nst_symtab *tab, size_t len) {
  if (len >= tab->len) return;
  tab->len = len;
  if (!tab->nslots) return;
  memset(tab->slots, 0, tab->nslots * sizeof *tab->slots);
  for (size_t i = 0; i < len; i++) index_add(tab, i);
}

void nst_candidates_add(nst_arena *arena, nst_candidates *c, const nst_symtab *tab) {
  if (!tab) return;
  for (size_t i = 0; i < tab->len; i++) {
    if (c->len == c->cap) c->items = nst_vec_grow(arena, c->items, c->len, &c->cap, sizeof *c->items);
    c->items[c->len++] = tab->items[i].name;
  }
}

bool nst_suggest(nst_diags *diags, nst_diag *m, nst_span span, nst_name wrong, const nst_candidates *c) {
  if (!nst_diag_is_kept(diags, m)) return true;
  nst_name right = nst_diags_nearest(diags, wrong, c->items, c->len);
  if (!right) return false;
  nst_diag_help(diags, m, "did you mean `%s`?", right);
  nst_diag_fix(diags, m, span, right);
  return true;
}

const char *nst_list_add(nst_arena *arena, const char *list, int n, const char *name) {
  if (n > SHOWN) return list;
  return n == SHOWN ? nst_arena_printf(arena, "%s, …", list) : nst_arena_printf(arena, "%s%s%s", list, n ? ", " : "", name);
}

void nst_help_known(nst_arena *arena, nst_diags *diags, nst_diag *m, const char *what, const nst_symtab *tab) {
  if (!tab || !tab->len || !nst_diag_is_kept(diags, m)) return;
  const char *list = "";
  size_t shown = tab->len > SHOWN ? SHOWN : tab->len;
  for (size_t i = 0; i < shown; i++) list = nst_arena_printf(arena, "%s%s%s", list, i ? ", " : "", tab->items[i].name);
  nst_diag_help(diags, m, "known %s: %s%s", what, list, shown < tab->len ? ", …" : "");
}
