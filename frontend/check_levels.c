/* Warnings about the levels of a machine, once whole mappings stand: a memory
 * that a mapping passes over, which is most often a forgotten keep, and a name
 * in `holds` that no tensor has but nearly one has. Both are legal. */
#include "frontend/check.h"

/* ---- a memory that nothing is kept in ---- */

bool nst_fe_keeps_none(const nst_fe_nest *n, const nst_ast_mitem *item) {
  const nst_ast_idents *only = item->tensors;
  return only && !only->next && only->id.name && strcmp(only->id.name, "none") == 0 &&
         !nst_symtab_find(&n->w->tensors, only->id.name);
}

/* A `keep none in LEVEL` anywhere says that it is meant. */
static bool passed_on_purpose(const nst_fe_nest *n, const nst_ast_mitem *items, nst_name level) {
  for (const nst_ast_mitem *i = items; i; i = i->next) {
    if (i->kind == NST_MITEM_KEEP && i->id.name == level && nst_fe_keeps_none(n, i)) return true;
    if (passed_on_purpose(n, i->body, level)) return true;
    for (const nst_ast_branch *b = i->branches; b; b = b->next)
      if (passed_on_purpose(n, b->body, level)) return true;
  }
  return false;
}

static bool array_between(const nst_fe_nest *n, int a, int b) {
  for (int l = a < b ? a : b; l < (a < b ? b : a); l++)
    if (n->h->ir.levels[l].kind == NST_LEVEL_ARRAY) return true;
  return false;
}

/* Whether a memory could hold something, and nothing of that is kept in a memory beside it, before the same arrays:
 * of two buffers in a row, one is often passed over. */
static bool left_out(const nst_fe_nest *n, int level) {
  int *all = NST_NEW_ARRAY(n->ck->arena, n->w->ir.nstmts, int);
  for (int s = 0; s < n->w->ir.nstmts; s++) all[s] = s;
  bool any = false;
  for (int t = 0; t < n->w->ir.ntensors && !any; t++) any = nst_fe_may_hold(n, level, t, all, n->w->ir.nstmts);
  for (size_t id = 0; any && id < n->nodes.len; id++) {
    const nst_ir_node *ir = n->nodes.items[id].ir;
    if (ir->kind != NST_NODE_KEEP || ir->level <= n->outermost || array_between(n, ir->level, level)) continue;
    for (int i = 0; i < ir->ntensors; i++)
      if (nst_fe_may_hold(n, level, ir->tensors[i], all, n->w->ir.nstmts)) return false;
  }
  return any;
}

void nst_warn_unused_levels(nst_fe_nest *n) {
  bool used[NST_MAX_LEVELS] = {false};
  int innermost = -1;
  for (size_t id = 0; id < n->nodes.len; id++) {
    const nst_ir_node *ir = n->nodes.items[id].ir;
    if (ir->kind != NST_NODE_KEEP || ir->level < 0) continue;
    used[ir->level] = true;
    if (ir->level > innermost) innermost = ir->level;
  }
  for (int l = n->outermost + 1; l < innermost; l++) {
    const nst_ir_level *level = &n->h->ir.levels[l];
    if (level->kind != NST_LEVEL_MEMORY || used[l]) continue;
    if (!level->capacity && !level->bandwidth && !level->read_bandwidth && !level->write_bandwidth) continue;
    if (!left_out(n, l) || passed_on_purpose(n, n->m->decl->mapping, level->name)) continue;
    nst_diag *m = nst_diag_add(n->ck->diags, NST_D_LEVEL_UNUSED, n->m->decl->id.span,
                               "no tensor is kept in `%s`, so nothing of it is used", level->name);
    nst_diag_label(n->ck->diags, m, level->span, "declared here");
    nst_diag_help(n->ck->diags, m, "add `keep all in %s`, or `keep none in %s` if all tensors are to bypass it",
                  level->name, level->name);
  }
}

/* ---- names in holds ---- */

static bool special(nst_name name) {
  return strcmp(name, "inputs") == 0 || strcmp(name, "outputs") == 0 || strcmp(name, "all") == 0;
}

/* mappings: all that run on the hardware. */
void nst_warn_holds(nst_checker *ck, const nst_fe_hardware *h, nst_fe_mapping *const *mappings, size_t n) {
  nst_candidates known = {0};
  nst_symtab words = {0};
  const nst_fe_workload *only = NULL;
  nst_symtab_add(ck->arena, &words, nst_intern_cstr(ck->interner, "inputs"), (nst_span){0});
  nst_symtab_add(ck->arena, &words, nst_intern_cstr(ck->interner, "outputs"), (nst_span){0});
  nst_candidates_add(ck->arena, &known, &words);
  for (size_t i = 0; i < n; i++) {
    if (mappings[i]->hardware != h || !mappings[i]->workload) continue;
    if (mappings[i]->workload->incomplete) return;
    nst_candidates_add(ck->arena, &known, &mappings[i]->workload->tensors);
    only = only && only != mappings[i]->workload ? NULL : mappings[i]->workload;
  }
  for (int l = 0; l < h->ir.nlevels; l++) {
    for (int i = 0; i < h->holds[l].n; i++) {
      const nst_ast_ident *id = &h->holds[l].items[i];
      bool found = special(id->name);
      for (size_t c = 0; c < known.len && !found; c++) found = known.items[c] == id->name;
      const nst_name near = found ? NULL : nst_diags_nearest(ck->diags, id->name, known.items, known.len);
      /* Short names are near one another by chance: `holds = W` on a machine for many workloads. */
      if (!near || strlen(id->name) < 3 || strlen(near) < 3) continue;
      if (special(near) && id->name[0] != near[0]) continue; /* `Input` is a good name of a tensor */
      nst_diag *m = only && !special(near)
                      ? nst_diag_add(ck->diags, NST_D_HOLDS_UNKNOWN, id->span, "`%s` is no tensor of `%s`", id->name,
                                     only->decl->id.name)
                      : nst_diag_add(ck->diags, NST_D_HOLDS_UNKNOWN, id->span,
                                     "`%s` is no tensor that is mapped here, and holds nothing", id->name);
      nst_diag_help(ck->diags, m, "did you mean `%s`?", near);
      nst_diag_fix(ck->diags, m, id->span, near);
    }
  }
}
