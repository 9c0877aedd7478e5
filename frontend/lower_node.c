/* One line of a nest becomes one node: a loop, a keep, the choice of a unit.
 * Everything that the line says by itself is checked here; its place among the
 * others is checked when the tree stands (check_keeps.c, check_paths.c). */
#include "frontend/check.h"

/* ---- names ---- */

/* A name that is known as something else; false: it is not. */
static bool say_other(nst_fe_nest *n, const nst_ast_ident *id, const char *wanted) {
  const struct {
    const nst_symtab *tab;
    const char *what;
  } others[] = {{&n->w->dims, "a dimension"},
                {&n->w->tensors, "a tensor"},
                {&n->h->levels, "a level of the hardware"},
                {&n->m->params.names, "a parameter"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const nst_symbol *sym = nst_symtab_find(others[i].tab, id->name);
    if (!sym) continue;
    nst_diag *m = nst_say_unknown(n->ck, others[i].tab, NST_D_WRONG_KIND, id->span, id->name,
                                  "`%s` is %s, and %s is needed here", id->name, others[i].what, wanted);
    if (!m) return true;
    nst_diag_label(n->ck->diags, m, sym->span, "declared here");
    return true;
  }
  return false;
}

static int find_dim(nst_fe_nest *n, const nst_ast_ident *id) {
  const nst_symbol *sym = nst_symtab_find(&n->w->dims, id->name);
  if (sym || !id->name) return sym ? sym->index : -1;
  if (n->w->incomplete || say_other(n, id, "a dimension")) return -1;
  nst_diag *m = nst_say_unknown(n->ck, &n->w->dims, NST_D_UNKNOWN_DIMENSION, id->span, id->name,
                                "`%s` has no dimension `%s`", n->w->decl->id.name, id->name);
  if (!m) return -1;
  nst_candidates c = {0};
  nst_candidates_add(n->ck->arena, &c, &n->w->dims);
  if (!nst_suggest(n->ck->diags, m, id->span, id->name, &c))
    nst_help_known(n->ck->arena, n->ck->diags, m, "dimensions", &n->w->dims);
  return -1;
}

static const char *const kind_words[] = {"a memory", "an array", "a compute unit"};
static const char *const kind_plural[] = {"memories", "arrays", "compute units"};

static nst_symtab levels_of(nst_fe_nest *n, nst_level_kind kind) {
  nst_symtab tab = {0};
  for (int l = 0; l < n->h->ir.nlevels; l++)
    if (n->h->ir.levels[l].kind == kind)
      nst_symtab_add(n->ck->arena, &tab, n->h->ir.levels[l].name, n->h->ir.levels[l].span);
  return tab;
}

static int find_level(nst_fe_nest *n, const nst_ast_ident *id, nst_level_kind kind) {
  nst_checker *ck = n->ck;
  const nst_symbol *sym = nst_symtab_find(&n->h->levels, id->name);
  if (!id->name) return -1;
  nst_symtab known = levels_of(n, kind);
  if (sym) {
    const nst_ir_level *level = &n->h->ir.levels[sym->index];
    if (level->kind == kind) return sym->index;
    nst_diag *m = nst_say_unknown(ck, &n->h->levels, NST_D_WRONG_KIND, id->span, id->name,
                                  "`%s` is %s, and %s is needed here", id->name, kind_words[level->kind],
                                  kind_words[kind]);
    if (!m) return -1;
    nst_diag_label(ck->diags, m, level->span, "declared here");
    nst_help_known(ck->arena, ck->diags, m, kind_plural[kind], &known);
    return -1;
  }
  if (n->h->incomplete || say_other(n, id, kind_words[kind])) return -1;
  nst_diag *m = nst_say_unknown(ck, &n->h->levels, NST_D_UNKNOWN_LEVEL, id->span, id->name, "`%s` has no level `%s`",
                                n->h->decl->id.name, id->name);
  if (!m) return -1;
  nst_candidates c = {0};
  nst_candidates_add(ck->arena, &c, &known);
  if (!nst_suggest(ck->diags, m, id->span, id->name, &c))
    nst_help_known(ck->arena, ck->diags, m, kind_plural[kind], &known);
  return -1;
}

/* ---- for and par ---- */

static bool say_without_on(nst_fe_nest *n, const nst_ast_mitem *item) {
  nst_checker *ck = n->ck;
  nst_diag *m = nst_diag_add(ck->diags, NST_D_PAR_WITHOUT_ON, item->span, "this `par` does not say on which axis");
  if (!nst_diag_is_kept(ck->diags, m)) return false;
  const char *axes = "", *one = NULL;
  int count = 0;
  for (int l = 0; l < n->h->ir.nlevels; l++) {
    const nst_ir_level *level = &n->h->ir.levels[l];
    for (int a = 0; a < level->naxes; a++, count++) {
      one = nst_arena_printf(ck->arena, "%s.%s", level->name, level->axes[a].name);
      axes = nst_list_add(ck->arena, axes, count, one);
    }
  }
  if (count == 0)
    nst_diag_help(ck->diags, m, "`%s` has no array: write `for` instead", n->h->decl->id.name);
  else
    nst_diag_help(ck->diags, m, "add `on` and one of %s", axes);
  if (count == 1)
    nst_diag_fix(ck->diags, m, (nst_span){item->span.source, item->span.end, item->span.end},
                 nst_arena_printf(ck->arena, " on %s", one));
  return false;
}

static bool find_axis(nst_fe_nest *n, const nst_ast_mitem *item, nst_ir_node *node) {
  nst_checker *ck = n->ck;
  if (!item->array.name) return n->h->incomplete ? false : say_without_on(n, item);
  node->level = find_level(n, &item->array, NST_LEVEL_ARRAY);
  if (node->level < 0) return false;
  const nst_ir_level *level = &n->h->ir.levels[node->level];
  for (int a = 0; a < level->naxes; a++) {
    if (level->axes[a].name == item->axis.name) {
      node->axis = a;
      return true;
    }
  }
  if (n->h->incomplete) return false;
  if (!item->axis.name) {
    if (level->naxes == 1) { /* an array of one axis needs no name for it */
      node->axis = 0;
      return true;
    }
    nst_diag *m = nst_diag_add(ck->diags, NST_D_PAR_WITHOUT_ON, item->array.span,
                               "this `par` does not say on which axis of `%s`", level->name);
    const char *list = "";
    for (int a = 0; a < level->naxes; a++)
      list = nst_list_add(ck->arena, list, a, nst_arena_printf(ck->arena, "%s.%s", level->name, level->axes[a].name));
    nst_diag_help(ck->diags, m, "write one of %s", list);
    return false;
  }
  nst_diag *m = nst_diag_add(ck->diags, NST_D_UNKNOWN_MEMBER, item->axis.span, "the array `%s` has no axis `%s`",
                             level->name, item->axis.name);
  if (!nst_diag_is_kept(ck->diags, m)) return false;
  nst_symtab axes = {0};
  for (int a = 0; a < level->naxes; a++) nst_symtab_add(ck->arena, &axes, level->axes[a].name, level->axes[a].span);
  nst_candidates c = {0};
  nst_candidates_add(ck->arena, &c, &axes);
  if (!nst_suggest(ck->diags, m, item->axis.span, item->axis.name, &c))
    nst_help_known(ck->arena, ck->diags, m, "axes", &axes);
  return false;
}

nst_ir_node *nst_lower_loop(nst_fe_nest *n, const nst_ast_mitem *item, nst_scope *scope) {
  if (nst_syntax_error_follows(n->ck, item->span)) return NULL;
  nst_ir_node *node = NST_NEW(n->ck->arena, nst_ir_node);
  bool par = item->kind == NST_MITEM_PAR;
  *node = (nst_ir_node){
    .kind = par ? NST_NODE_PAR : NST_NODE_FOR, .span = item->span, .level = -1, .axis = -1, .permute = -1};
  node->dim = find_dim(n, &item->id);
  bool ok = node->dim >= 0;
  node->split = item->split == NST_SPLIT_BY     ? NST_TILE_BY
                : item->split == NST_SPLIT_INTO ? NST_TILE_INTO
                : par                           ? NST_TILE_AUTO
                                                : NST_TILE_ONE;
  if (item->split != NST_SPLIT_ONE) {
    const char *what = item->split == NST_SPLIT_BY ? "a tile" : "a number of tiles";
    node->size = item->size ? nst_check_number(scope, item->size, NST_UNIT_NONE, what) : NULL;
    ok = node->size && nst_check_positive(n->ck, node->size, what) && ok;
  }
  if (par) ok = find_axis(n, item, node) && ok;
  return ok ? node : NULL;
}

/* ---- keep ---- */

bool nst_fe_may_hold(const nst_fe_nest *n, int level, int tensor, const int *stmts, int nstmts) {
  const nst_fe_holds *holds = &n->h->holds[level];
  if (!holds->items || nstmts == 0) return true;
  bool read = false, written = false;
  for (int i = 0; i < nstmts; i++) {
    const nst_ir_stmt *s = &n->w->ir.stmts[stmts[i]];
    if (s->out.tensor == tensor)
      written = true;
    else
      read = read || nst_fe_uses(s, tensor);
  }
  for (int i = 0; i < holds->n; i++) {
    nst_name name = holds->items[i].name;
    if (name == n->w->ir.tensors[tensor].name) return true;
    if (nst_symtab_find(&n->w->tensors, name)) continue; /* a tensor may be called `inputs` */
    if (strcmp(name, "inputs") == 0 ? read : strcmp(name, "outputs") == 0 ? written : strcmp(name, "all") == 0)
      return true;
  }
  return false;
}

static bool may_keep(nst_fe_nest *n, int level, int tensor, const nst_ast_ident *id, const int *stmts, int nstmts) {
  nst_checker *ck = n->ck;
  const nst_ir_level *l = &n->h->ir.levels[level];
  if (!nst_fe_may_hold(n, level, tensor, stmts, nstmts)) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_KEEP_FORBIDDEN, id->span, "`%s` may not hold `%s`", l->name, id->name);
    nst_diag_label(ck->diags, m, n->h->holds[level].span, "it holds only these");
    return false;
  }
  if (n->w->incomplete || nstmts == 0 || nst_fe_used_below(n, stmts, nstmts, tensor)) return true;
  if (n->w->ir.nstmts == nstmts) return true; /* no statement uses it at all: reported */
  nst_diag *m = nst_diag_add(ck->diags, NST_D_KEEP_UNUSED, id->span, "nothing below this keep uses `%s`", id->name);
  nst_diag_help(ck->diags, m, "keep it in the branch of a statement that uses it, or above the `seq`");
  return false;
}

nst_ir_node *nst_lower_keep(nst_fe_nest *n, const nst_ast_mitem *item, const int *stmts, int nstmts, nst_span **spans) {
  nst_checker *ck = n->ck;
  if (nst_syntax_error_follows(ck, item->span)) return NULL;
  nst_ir_node *node = NST_NEW(ck->arena, nst_ir_node);
  *node = (nst_ir_node){
    .kind = NST_NODE_KEEP, .span = item->span, .axis = -1, .permute = -1, .dim = -1, .optional = item->optional};
  node->level = find_level(n, &item->id, NST_LEVEL_MEMORY);
  bool ok = node->level >= 0;
  int count = 0;
  if (ok && nst_fe_keeps_none(n, item)) return NULL;
  for (const nst_ast_idents *t = item->tensors; t; t = t->next) count++;
  node->tensors = NST_NEW_ARRAY(ck->arena, count, int);
  *spans = NST_NEW_ARRAY(ck->arena, count, nst_span);
  for (const nst_ast_idents *t = item->tensors; t; t = t->next) {
    const nst_symbol *sym = nst_symtab_find(&n->w->tensors, t->id.name);
    if (!t->id.name || !sym) {
      n->keeps_incomplete = true;
      if (!t->id.name || n->w->incomplete || say_other(n, &t->id, "a tensor")) continue;
      nst_diag *m = nst_say_unknown(ck, &n->w->tensors, NST_D_UNKNOWN_TENSOR, t->id.span, t->id.name,
                                    "`%s` has no tensor `%s`", n->w->decl->id.name, t->id.name);
      if (!m) continue;
      nst_candidates c = {0};
      nst_candidates_add(ck->arena, &c, &n->w->tensors);
      if (!nst_suggest(ck->diags, m, t->id.span, t->id.name, &c))
        nst_help_known(ck->arena, ck->diags, m, "tensors", &n->w->tensors);
      continue;
    }
    bool twice = false;
    for (int i = 0; i < node->ntensors && !twice; i++) {
      if (node->tensors[i] != sym->index) continue;
      twice = true;
      nst_diag *m = nst_diag_add(ck->diags, NST_D_KEPT_TWICE, t->id.span, "`%s` stands twice in this keep", t->id.name);
      nst_diag_label(ck->diags, m, (*spans)[i], "here already");
    }
    if (twice) continue;
    if (node->level >= 0 && !may_keep(n, node->level, sym->index, &t->id, stmts, nstmts)) {
      n->keeps_incomplete = true;
      continue;
    }
    (*spans)[node->ntensors] = t->id.span;
    node->tensors[node->ntensors++] = sym->index;
  }
  if (!ok) n->keeps_incomplete = true;
  return ok ? node : NULL;
}

/* ---- compute ---- */

int nst_lower_unit(nst_fe_nest *n, const nst_ast_mitem *item, nst_span span) {
  nst_checker *ck = n->ck;
  if (item && item->id.name) return find_level(n, &item->id, NST_LEVEL_COMPUTE);
  nst_symtab units = levels_of(n, NST_LEVEL_COMPUTE);
  if (units.len == 1) return nst_symtab_find(&n->h->levels, units.items[0].name)->index;
  if (n->h->incomplete || units.len == 0) return -1; /* hardware without a unit has been reported */
  nst_diag *m =
    nst_diag_add(ck->diags, NST_D_COMPUTE_UNIT, span,
                 "`%s` has several compute units, and this nest does not say which it uses", n->h->decl->id.name);
  nst_diag_help(ck->diags, m, "close the nest with `compute on %s`, or another of its units", units.items[0].name);
  return -1;
}
