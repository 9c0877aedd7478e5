/* Models: closed forms over nothing but their parameters. Every `let` and every
 * `out` is a named value, so that later lines may use it; an output refers to
 * its value. */
#include "frontend/check.h"

static void declare(nst_fe_model *m, nst_checker *ck, const nst_ast_titem *item, const nst_typed *t,
                    nst_fe_values *values) {
  nst_symbol *sym = nst_declare_value(ck, &m->names, &m->params, &item->id);
  if (!sym) return;
  *sym = (nst_symbol){.name = sym->name,
                      .span = sym->span,
                      .index = (int)values->len,
                      .kind = NST_X_VALUE,
                      .unit = t->unit,
                      .soft = t->soft,
                      .truth = t->truth,
                      .poisoned = !t->x};
  *nst_vec_push(ck->arena, values) = (nst_ir_value){item->id.name, item->id.span, t->x};
  if (item->kind != NST_TITEM_OUT) return;
  nst_symbol *out = nst_symtab_add(ck->arena, &m->outs, item->id.name, item->id.span);
  *out = *sym;
  out->index = (int)m->outs.len - 1;
  out->expr = t->x ? nst_typed_leaf(ck, NST_X_VALUE, item->id.span, sym->index).x : NULL;
}

nst_fe_model *nst_check_model(nst_checker *ck, nst_module *module, const nst_ast_decl *decl) {
  nst_fe_model *m = NST_NEW(ck->arena, nst_fe_model);
  size_t errors = nst_diags_errors(ck->diags);
  *m = (nst_fe_model){.decl = decl, .module = module, .index = -1};
  nst_check_params(ck, module, decl, false, true, &m->params);
  nst_scope s = {.ck = ck,
                 .frames = {&m->names, &m->params.names},
                 .nframes = 2,
                 .module = module,
                 .closed = true,
                 .what = "a model"};
  s.incomplete = nst_decl_incomplete(ck, decl);
  int n = 0, i = 0;
  for (const nst_ast_titem *item = decl->items; item; item = item->next) n++;
  nst_ast_param *names = NST_NEW_ARRAY(ck->arena, n + 1, nst_ast_param); /* of this line and those after it */
  for (const nst_ast_titem *item = decl->items; item; item = item->next, i++)
    names[i] = (nst_ast_param){.id = item->id, .next = item->next ? &names[i + 1] : NULL};
  nst_fe_values values = {0};
  i = 0;
  for (const nst_ast_titem *item = decl->items; item; item = item->next, i++) {
    if (!item->id.name || (item->kind != NST_TITEM_LET && item->kind != NST_TITEM_OUT)) continue;
    s.later = &names[i];
    nst_typed t = item->value ? nst_check_expr(&s, item->value) : nst_poison();
    if (t.x && nst_report_failure(ck, &t, item->value->span)) t = nst_poison();
    if (t.x && t.truth && item->kind == NST_TITEM_OUT) {
      nst_diag_add(ck->diags, NST_D_NOT_NUMBER, item->value->span, "the output `%s` must be a number, not a condition",
                   item->id.name);
      t = nst_poison();
    }
    declare(m, ck, item, &t, &values);
  }
  if (!m->outs.len && !s.incomplete) {
    nst_diag *d =
      nst_diag_add(ck->diags, NST_D_NOTHING_ASKED, decl->id.span, "the model `%s` has no output", decl->id.name);
    nst_diag_help(ck->diags, d, "a result is written `out NAME = …`");
  }
  m->ir = (nst_ir_model){.name = decl->id.name,
                         .span = decl->head,
                         .scope = {m->params.items, m->params.n, values.items, (int)values.len},
                         .outs = NST_NEW_ARRAY(ck->arena, m->outs.len, nst_ir_value),
                         .nouts = (int)m->outs.len};
  for (size_t k = 0; k < m->outs.len; k++)
    m->ir.outs[k] = (nst_ir_value){m->outs.items[k].name, m->outs.items[k].span, m->outs.items[k].expr};
  m->ok = nst_diags_errors(ck->diags) == errors && !s.incomplete;
  return m;
}
