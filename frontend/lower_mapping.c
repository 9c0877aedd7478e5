/* Mappings: what they map onto what, their values, and the checks in order.
 *
 * Parameters of the workload and the hardware become named values of the
 * mapping, in order of dependency: the workload's, the hardware's (whose
 * arguments may use the former), then what `let` names. */
#include "frontend/check.h"

void nst_mapping_scope(nst_checker *ck, nst_fe_mapping *m, nst_scope *out) {
  *out = (nst_scope){.ck = ck, .module = m->module, .what = "a mapping"};
  out->frames[out->nframes++] = &m->lets;
  out->frames[out->nframes++] = &m->params.names;
  out->frames[out->nframes++] = &m->workload_values;
  out->frames[out->nframes++] = &m->hardware_values;
  out->incomplete = !m->workload || !m->hardware || m->workload->incomplete || m->hardware->incomplete ||
                    nst_decl_incomplete(ck, m->decl);
  if (m->workload) {
    out->dims = &m->workload->dims;
    out->tensors = &m->workload->tensors;
    out->workload = &m->ir->workload;
  }
  if (m->hardware) {
    out->levels = &m->hardware->levels;
    out->hardware = &m->ir->hardware;
  }
}

/* Without a workload or hardware the nest cannot be judged, but its values can. */
static void check_values_only(nst_scope *s, const nst_ast_mitem *items) {
  for (const nst_ast_mitem *i = items; i; i = i->next) {
    if (i->size) (void)nst_check_value(s, i->size, "a tile");
    if (i->value) (void)nst_check_expr(s, i->value);
    check_values_only(s, i->body);
    for (const nst_ast_branch *b = i->branches; b; b = b->next) check_values_only(s, b->body);
  }
}

static void bind_both(nst_checker *ck, nst_fe_mapping *m) {
  const nst_ast_decl *decl = m->decl;
  nst_scope s = {
    .ck = ck, .frames = {&m->params.names}, .nframes = 1, .module = m->module, .what = "an argument of a mapping"};
  if (m->workload) {
    const nst_fe_workload *w = m->workload;
    nst_fe_arg *args = nst_bind_args(&s, &decl->of, &w->params, "workload", w->decl->id.name, true);
    int base = nst_instantiate_params(ck, &w->params, args, &m->values, &m->workload_values);
    nst_instantiate_workload(ck, w, base, &m->ir->workload);
    s.frames[s.nframes++] = &m->workload_values;
  }
  s.incomplete = !m->workload;
  if (m->hardware) {
    const nst_fe_hardware *h = m->hardware;
    nst_fe_arg *args = nst_bind_args(&s, &decl->on, &h->params, "hardware", h->decl->id.name, false);
    int base = nst_instantiate_params(ck, &h->params, args, &m->values, &m->hardware_values);
    nst_instantiate_hardware(ck, h, base, &m->ir->hardware);
  }
}

static void check_at_defaults(nst_checker *ck, nst_fe_mapping *m) {
  nst_defaults d;
  nst_ir_mapping *ir = m->ir;
  if (!nst_defaults_make(ck, ir->scope.params, ir->scope.nparams, ir->scope.values, ir->scope.nvalues, &d))
    m->ok = false;
  for (int i = 0; i < ir->workload.ndims; i++)
    m->ok = nst_defaults_check(&d, ir->workload.dims[i].extent, 1, m->decl->of.span,
                               nst_arena_printf(ck->arena, "the size of `%s`", ir->workload.dims[i].name)) &&
            m->ok;
  for (int i = 0; i < ir->workload.ntensors; i++)
    for (int r = 0; ir->workload.tensors[i].shape && r < ir->workload.tensors[i].nranks; r++)
      m->ok =
        nst_defaults_check(&d, ir->workload.tensors[i].shape[r], 1, m->decl->of.span, "the size of a rank") && m->ok;
  for (int l = 0; l < ir->hardware.nlevels; l++)
    for (int a = 0; a < ir->hardware.levels[l].naxes; a++)
      m->ok =
        nst_defaults_check(&d, ir->hardware.levels[l].axes[a].size, 1, m->decl->on.span,
                           nst_arena_printf(ck->arena, "the size of axis `%s`", ir->hardware.levels[l].axes[a].name)) &&
        m->ok;
}

static bool values_known(const nst_fe_mapping *m) {
  for (size_t i = 0; i < m->values.len; i++)
    if (!m->values.items[i].value) return false;
  for (int i = 0; i < m->params.n; i++)
    if (nst_symtab_find(&m->params.names, m->params.items[i].name)->poisoned) return false;
  return true;
}

nst_fe_mapping *nst_check_mapping(nst_checker *ck, nst_module *module, const nst_ast_decl *decl) {
  nst_fe_mapping *m = NST_NEW(ck->arena, nst_fe_mapping);
  size_t errors = nst_diags_errors(ck->diags);
  *m =
    (nst_fe_mapping){.decl = decl, .module = module, .index = -1, .ir = NST_NEW(ck->arena, nst_ir_mapping), .ok = true};
  m->ir->name = decl->id.name;
  m->ir->span = decl->head;
  m->ir->outermost = -1;
  nst_check_params(ck, module, decl, false, false, &m->params);
  nst_decl_entry *w = nst_module_lookup(ck, module, NST_NS_WORKLOAD, &decl->of.module, &decl->of.id);
  nst_decl_entry *h = nst_module_lookup(ck, module, NST_NS_HARDWARE, &decl->on.module, &decl->on.id);
  m->workload = w ? w->checked : NULL;
  m->hardware = h ? h->checked : NULL;
  bind_both(ck, m);
  nst_scope scope;
  nst_mapping_scope(ck, m, &scope);
  nst_fe_nest *n = NST_NEW(ck->arena, nst_fe_nest);
  *n = (nst_fe_nest){.ck = ck, .m = m, .w = m->workload, .h = m->hardware, .ir = m->ir};
  if (m->workload && m->hardware) {
    nst_lower_nest(n, decl->mapping, &scope);
    nst_resolve_keeps(n);
    nst_check_paths(n);
    nst_check_fusion(n);
    m->ok = m->ok && !n->broken && !n->keeps_incomplete && m->workload->ok && m->hardware->ok;
  } else {
    check_values_only(&scope, decl->mapping);
    m->ok = false;
  }
  m->ok = m->ok && nst_diags_errors(ck->diags) == errors && !nst_decl_incomplete(ck, decl) && values_known(m);
  m->ir->scope = (nst_ir_scope){m->params.items, m->params.n, m->values.items, (int)m->values.len};
  if (m->ok) check_at_defaults(ck, m);
  if (m->ok && !module->is_std) nst_warn_unused_levels(n);
  if (m->ok) nst_ir_mapping_finish(ck->arena, m->ir);
  return m;
}
