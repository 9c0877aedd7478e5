/* What asks about mappings: test, verify and sweep blocks. They see what the
 * mapping sees, the `let`s outside of its branches included, and metrics. */
#include "frontend/check.h"

/* The mapping, with the scope of questions about it. NULL: unknown or wrong, reported. */
static nst_fe_mapping *find_mapping(nst_checker *ck, nst_module *module, const nst_ast_ref *ref, const char *what,
                                    nst_scope *s) {
  nst_decl_entry *entry = nst_module_lookup(ck, module, NST_NS_MAPPING, &ref->module, &ref->id);
  nst_fe_mapping *m = entry ? entry->checked : NULL;
  if (!m) return NULL;
  nst_mapping_scope(ck, m, s);
  s->module = module;
  s->what = what;
  s->metrics = true;
  s->from = ref->span;
  s->incomplete = s->incomplete || nst_decl_incomplete(ck, m->decl);
  return m;
}

/* ---- test ---- */

static void lower_test_let(nst_scope *s, const nst_ast_titem *item, nst_symtab *names, int base,
                           nst_fe_values *values) {
  nst_checker *ck = s->ck;
  if (!item->id.name) return;
  nst_typed t = item->value ? nst_check_expr(s, item->value) : nst_poison();
  if (t.x && nst_report_failure(ck, &t, item->value->span)) t = nst_poison();
  nst_symbol *sym = nst_symtab_declare(ck->arena, ck->diags, names, item->id.name, item->id.span, "a value");
  if (!sym) return;
  sym->index = base + (int)values->len;
  sym->kind = NST_X_VALUE;
  sym->unit = t.unit;
  sym->soft = t.soft;
  sym->truth = t.truth;
  sym->poisoned = !t.x;
  *nst_vec_push(ck->arena, values) = (nst_ir_value){item->id.name, item->id.span, t.x};
}

bool nst_lower_test(nst_checker *ck, nst_module *module, const nst_ast_decl *decl, nst_ir_test *out) {
  nst_scope s;
  size_t errors = nst_diags_errors(ck->diags);
  nst_fe_mapping *m = find_mapping(ck, module, &decl->of, "a test", &s);
  *out = (nst_ir_test){.text = decl->text, .span = decl->head};
  if (!m) return false;
  nst_scope outside = {.ck = ck, .module = module, .what = "an argument of a test"};
  nst_fe_arg *args = nst_bind_args(&outside, &decl->of, &m->params, "mapping", m->decl->id.name, false);
  out->mapping = m->index;
  out->args = NST_NEW_ARRAY(ck->arena, m->params.n, const nst_expr *);
  for (int i = 0; i < m->params.n; i++) out->args[i] = args[i].given ? args[i].value.x : NULL;
  nst_symtab names = {0};
  nst_fe_values lets = {0};
  for (int i = s.nframes; i > 0; i--) s.frames[i] = s.frames[i - 1];
  s.frames[0] = &names;
  s.nframes++;
  s.incomplete = s.incomplete || nst_decl_incomplete(ck, decl);
  int n = 0;
  for (const nst_ast_titem *i = decl->items; i; i = i->next) n++;
  out->expects = NST_NEW_ARRAY(ck->arena, n, nst_ir_expect);
  for (const nst_ast_titem *i = decl->items; i; i = i->next) {
    if (i->kind == NST_TITEM_LET) lower_test_let(&s, i, &names, (int)m->values.len, &lets);
    if (i->kind != NST_TITEM_EXPECT || !i->value) continue;
    const nst_expr *e = nst_check_condition(&s, i->value, "an expectation");
    out->expects[out->nexpects++] = (nst_ir_expect){e, i->value->span};
  }
  out->lets = lets.items;
  out->nlets = (int)lets.len;
  if (!out->nexpects && !s.incomplete) {
    nst_diag *d = nst_diag_add(ck->diags, NST_D_NOTHING_ASKED, decl->head, "this test expects nothing");
    nst_diag_help(ck->diags, d, "as in `expect usage(GLB) <= 128 KiB`");
  }
  return nst_diags_errors(ck->diags) == errors && m->index >= 0;
}

/* ---- verify ---- */

static void say_unbound(nst_checker *ck, const nst_ast_decl *decl, const nst_fe_model *model, const bool *unbound,
                        const nst_candidates *c) {
  const char *names = "", *near = NULL;
  int count = 0, labels = 0;
  for (int i = 0; i < model->params.n; i++) {
    if (!unbound[i]) continue;
    names = nst_list_add(ck->arena, names, count++, nst_arena_printf(ck->arena, "`%s`", model->params.items[i].name));
    if (!near) near = nst_diags_nearest(ck->diags, model->params.items[i].name, c->items, c->len);
  }
  nst_diag *d = nst_diag_add(ck->diags, NST_D_MODEL_UNBOUND, decl->on.id.span,
                             "nothing gives %s of the model `%s` a value", names, model->decl->id.name);
  for (int i = 0; i < model->params.n; i++)
    if (unbound[i] && labels++ < 8)
      nst_diag_label(ck->diags, d, model->params.items[i].span, "bound by name, and there is no such name");
  nst_diag_help(ck->diags, d, "a model's parameters are bound to those of the mapping, the workload and the hardware%s",
                near ? nst_arena_printf(ck->arena, "; did you mean `%s`?", near) : ", or have a default");
}

static bool bind_model(nst_checker *ck, const nst_ast_decl *decl, const nst_fe_model *model, const nst_fe_mapping *m,
                       nst_ir_verify *out) {
  bool ok = true, any = false;
  const nst_symtab *frames[] = {&m->params.names, &m->workload_values, &m->hardware_values};
  bool *unbound = NST_NEW_ARRAY(ck->arena, model->params.n, bool);
  out->bind = NST_NEW_ARRAY(ck->arena, model->params.n, const nst_expr *);
  for (int i = 0; i < model->params.n; i++) {
    const nst_ir_param *p = &model->params.items[i];
    const nst_symbol *sym = NULL;
    for (int f = 0; f < 3 && !sym; f++) sym = nst_symtab_find(frames[f], p->name);
    if (sym && sym->kind == NST_X_CONST)
      out->bind[i] = sym->expr;
    else if (sym && !sym->poisoned)
      out->bind[i] = nst_typed_leaf(ck, sym->kind, decl->on.span, sym->index).x;
    else if (!sym && p->value && ok)
      out->bind[i] = nst_expr_substitute(ck, p->value, out->bind);
    else if (!sym && !p->value && !nst_symtab_find(&model->params.names, p->name)->poisoned)
      unbound[i] = any = true;
    ok = ok && out->bind[i];
  }
  nst_candidates c = {0};
  for (int f = 0; any && f < 3; f++) nst_candidates_add(ck->arena, &c, frames[f]);
  if (any && m->workload && m->hardware) say_unbound(ck, decl, model, unbound, &c);
  return ok;
}

static bool lower_check(nst_scope *s, const nst_ast_titem *item, const nst_fe_model *model, nst_ir_check *out) {
  nst_checker *ck = s->ck;
  nst_typed right = item->value ? nst_check_value(s, item->value, "what an output is compared with") : nst_poison();
  if (!item->id.name || !model) return false;
  const nst_symbol *sym = nst_symtab_find(&model->outs, item->id.name);
  if (!sym) {
    if (nst_decl_incomplete(ck, model->decl)) return false;
    nst_diag *d = nst_diag_add(ck->diags, NST_D_UNKNOWN_OUTPUT, item->id.span, "the model `%s` has no output `%s`",
                               model->decl->id.name, item->id.name);
    nst_candidates c = {0};
    nst_candidates_add(ck->arena, &c, &model->outs);
    if (nst_symtab_find(&model->names, item->id.name)) {
      nst_diag_label(ck->diags, d, nst_symtab_find(&model->names, item->id.name)->span,
                     "this is a `let`, which is not shown");
      nst_diag_help(ck->diags, d, "write `out` before it");
    } else if (!nst_suggest(ck->diags, d, item->id.span, item->id.name, &c)) {
      nst_help_known(ck->arena, ck->diags, d, "outputs", &model->outs);
    }
    return false;
  }
  if (!right.x || sym->poisoned) return false;
  nst_ast_expr left_e = {.kind = NST_AST_NAME, .span = item->id.span, .id = item->id};
  nst_typed left = {.x = sym->expr, .unit = sym->unit, .soft = sym->soft};
  nst_unit unit;
  bool soft;
  if (!nst_units_meet(s, NST_SIDE_COMPARE, &left, &left_e, &right, item->value, &unit, &soft)) return false;
  *out = (nst_ir_check){sym->index, right.x, item->span};
  return true;
}

bool nst_lower_verify(nst_checker *ck, nst_module *module, const nst_ast_decl *decl, nst_ir_verify *out) {
  nst_scope s;
  size_t errors = nst_diags_errors(ck->diags);
  nst_decl_entry *entry = nst_module_lookup(ck, module, NST_NS_MODEL, &decl->on.module, &decl->on.id);
  nst_fe_model *model = entry ? entry->checked : NULL;
  nst_fe_mapping *m = find_mapping(ck, module, &decl->of, "a verify block", &s);
  *out = (nst_ir_verify){.span = decl->head, .model = model ? model->index : -1, .mapping = m ? m->index : -1};
  if (!m) return false;
  bool ok = model && bind_model(ck, decl, model, m, out);
  int nchecks = 0, npoints = 0;
  for (const nst_ast_titem *i = decl->items; i; i = i->next) {
    nchecks += i->kind == NST_TITEM_CHECK;
    for (const nst_ast_titem *p = i->points; p; p = p->next) npoints++;
  }
  out->checks = NST_NEW_ARRAY(ck->arena, nchecks, nst_ir_check);
  out->points = NST_NEW_ARRAY(ck->arena, npoints, nst_ir_point);
  const nst_ast_titem **points = NST_NEW_ARRAY(ck->arena, npoints, const nst_ast_titem *);
  npoints = 0;
  for (const nst_ast_titem *i = decl->items; i; i = i->next) {
    if (i->kind == NST_TITEM_CHECK && lower_check(&s, i, model, &out->checks[out->nchecks])) out->nchecks++;
    for (const nst_ast_titem *p = i->points; p; p = p->next) points[npoints++] = p;
  }
  if (!nchecks && !nst_decl_incomplete(ck, decl)) {
    nst_diag *d = nst_diag_add(ck->diags, NST_D_NOTHING_ASKED, decl->head, "this verify block compares nothing");
    nst_diag_help(ck->diags, d, "as in `reads_A == reads(DRAM, A)`");
  }
  s.metrics = false;
  s.what = "a set";
  ok = nst_lower_points(&s, m, points, npoints, out->points, &out->npoints) && ok;
  return ok && nst_diags_errors(ck->diags) == errors && m->index >= 0 && model->index >= 0;
}

/* ---- sweep ---- */

static const nst_expr **lower_list(nst_scope *s, const nst_ast_titem *item, const char *what, int *n) {
  int count = 0;
  for (const nst_ast_arg *a = item->list; a; a = a->next) count++;
  const nst_expr **list = NST_NEW_ARRAY(s->ck->arena, count, const nst_expr *);
  *n = 0;
  for (const nst_ast_arg *a = item->list; a; a = a->next) {
    nst_typed t = a->value ? nst_check_value(s, a->value, what) : nst_poison();
    if (t.x) list[(*n)++] = t.x;
  }
  return list;
}

static bool first_of(nst_checker *ck, const nst_ast_titem *item, const nst_ast_titem **before, const char *message) {
  if (!*before) {
    *before = item;
    return true;
  }
  nst_diag *d = nst_diag_add(ck->diags, NST_D_SWEEP_GOAL, item->span, "%s", message);
  nst_diag_label(ck->diags, d, (*before)->span, "the first one is here");
  return false;
}

bool nst_lower_sweep(nst_checker *ck, nst_module *module, const nst_ast_decl *decl, nst_ir_sweep *out) {
  nst_scope s;
  size_t errors = nst_diags_errors(ck->diags);
  nst_fe_mapping *m = find_mapping(ck, module, &decl->of, "a sweep", &s);
  *out = (nst_ir_sweep){.name = decl->id.name, .span = decl->head, .mapping = m ? m->index : -1};
  if (!m) return false;
  if (decl->of.args) {
    nst_diag *d = nst_diag_add(ck->diags, NST_D_ARG_COUNT, decl->of.span,
                               "a sweep gives the parameters of its mapping sets, not arguments");
    nst_diag_help(ck->diags, d, "write `NAME in [VALUE]` between the braces");
  }
  int n = 0, npoints = 0;
  for (const nst_ast_titem *i = decl->items; i; i = i->next) n++;
  const nst_ast_titem **points = NST_NEW_ARRAY(ck->arena, n, const nst_ast_titem *);
  const nst_ast_titem *goal = NULL, *pareto = NULL, *top = NULL;
  out->points = NST_NEW_ARRAY(ck->arena, n, nst_ir_point);
  out->where = NST_NEW_ARRAY(ck->arena, n, nst_ir_expect);
  for (const nst_ast_titem *i = decl->items; i; i = i->next) {
    switch (i->kind) {
    case NST_TITEM_IN: points[npoints++] = i; break;
    case NST_TITEM_WHERE:
      if (i->value)
        out->where[out->nwhere++] =
          (nst_ir_expect){nst_check_condition(&s, i->value, "what follows `where`"), i->value->span};
      break;
    case NST_TITEM_MINIMIZE:
    case NST_TITEM_MAXIMIZE:
      if (!first_of(ck, i, &goal, "a sweep has one goal")) break;
      out->maximize = i->kind == NST_TITEM_MAXIMIZE;
      out->objectives = lower_list(&s, i, "a goal", &out->nobjectives);
      break;
    case NST_TITEM_PARETO:
      if (first_of(ck, i, &pareto, "a sweep has one `pareto`"))
        out->pareto = lower_list(&s, i, "an axis of `pareto`", &out->npareto);
      break;
    case NST_TITEM_TOP:
      if (!first_of(ck, i, &top, "a sweep has one `top`") || !i->value) break;
      out->top = nst_check_number(&s, i->value, NST_UNIT_NONE, "the number after `top`");
      if (out->top) nst_check_positive(ck, out->top, "the number after `top`");
      break;
    case NST_TITEM_LET:
    case NST_TITEM_EXPECT:
    case NST_TITEM_OUT:
    case NST_TITEM_CHECK:
    case NST_TITEM_OVER: break;
    }
  }
  if (!goal && !pareto && !nst_decl_incomplete(ck, decl)) {
    nst_diag *d = nst_diag_add(ck->diags, NST_D_SWEEP_GOAL, decl->id.span, "the sweep `%s` has no goal", decl->id.name);
    nst_diag_help(ck->diags, d, "add `minimize …`, `maximize …` or `pareto …`, as in `minimize offchip`");
  }
  s.metrics = false;
  s.what = "a set";
  bool ok = nst_lower_points(&s, m, points, npoints, out->points, &out->npoints);
  return ok && nst_diags_errors(ck->diags) == errors && m->index >= 0;
}
