/* Sets of parameter values, for `over` in verify blocks and for sweeps. A set
 * sees the mapping's values and the parameters bound before it: whether it
 * depends, through named values too, on one bound later is checked here. */
#include "frontend/check.h"

static bool positive_constant(nst_checker *ck, const nst_expr *e, const char *what) {
  if (!nst_expr_is_const(e) || e->value.num > 0) return true;
  nst_diag_add(ck->diags, NST_D_SET_VALUES, e->span, "%s must be more than zero", what);
  return false;
}

static bool lower_set(nst_scope *s, const nst_ast_set *set, nst_unit unit, nst_ir_set *out) {
  nst_checker *ck = s->ck;
  bool ok = true;
  *out = (nst_ir_set){.span = set->span};
  int n = 0;
  for (const nst_ast_arg *a = set->items; a; a = a->next) n++;
  switch (set->kind) {
  case NST_SET_LIST:
    out->kind = NST_IRSET_LIST;
    out->items = NST_NEW_ARRAY(ck->arena, n, const nst_expr *);
    for (const nst_ast_arg *a = set->items; a; a = a->next) {
      const nst_expr *e = a->value ? nst_check_number(s, a->value, unit, "a value of a set") : NULL;
      ok = ok && e;
      out->items[out->nitems++] = e;
    }
    if (n > 0) return ok;
    nst_diag_add(ck->diags, NST_D_SET_VALUES, set->span, "this set is empty");
    return false;
  case NST_SET_RANGE:
    out->kind = NST_IRSET_RANGE;
    out->a = set->a ? nst_check_number(s, set->a, unit, "the start of a range") : NULL;
    out->b = set->b ? nst_check_number(s, set->b, unit, "the end of a range") : NULL;
    out->step = set->step ? nst_check_number(s, set->step, unit, "a step") : NULL;
    return out->a && out->b && (!set->step || (out->step && positive_constant(ck, out->step, "a step")));
  case NST_SET_DIVISORS:
    out->kind = NST_IRSET_DIVISORS;
    out->a = set->a ? nst_check_number(s, set->a, unit, "a number with divisors") : NULL;
    return out->a && nst_check_integer(ck, out->a, "a number with divisors") &&
           positive_constant(ck, out->a, "a number with divisors");
  case NST_SET_POW2:
    out->kind = NST_IRSET_POW2;
    out->a = set->a ? nst_check_number(s, set->a, unit, "a bound of `pow2`") : NULL;
    out->b = set->b ? nst_check_number(s, set->b, unit, "a bound of `pow2`") : NULL;
    return out->a && out->b;
  }
  return false;
}

/* ---- what a set depends on ---- */

typedef struct {
  const nst_fe_mapping *m;
  const int *bound; /* [nparams] position in the enumeration, -1 */
  int position;
  bool *seen;  /* [nvalues] */
  nst_span at; /* of the use found; its own place where that is in the set */
  int param;   /* found: the parameter bound later, -1 */
} dependence;

static void depends(dependence *d, const nst_expr *e, nst_span at) {
  if (!e || d->param >= 0) return;
  if (e->kind == NST_X_PARAM && d->bound[e->index] >= d->position) {
    d->param = e->index;
    d->at = at.source ? at : e->span;
  }
  if (e->kind == NST_X_VALUE && !d->seen[e->index]) {
    d->seen[e->index] = true;
    depends(d, d->m->values.items[e->index].value, at.source ? at : e->span);
  }
  depends(d, e->a, at);
  depends(d, e->b, at);
  depends(d, e->c, at);
}

static bool check_later(nst_checker *ck, const nst_fe_mapping *m, const nst_ir_point *p, const int *bound,
                        int position) {
  dependence d = {
    .m = m, .bound = bound, .position = position, .seen = NST_NEW_ARRAY(ck->arena, m->values.len, bool), .param = -1};
  const nst_span none = {0};
  depends(&d, p->set.a, none);
  depends(&d, p->set.b, none);
  depends(&d, p->set.step, none);
  for (int i = 0; i < p->set.nitems; i++) depends(&d, p->set.items[i], none);
  if (d.param < 0) return true;
  nst_name name = m->params.items[d.param].name;
  nst_diag *x = nst_diag_add(ck->diags, NST_D_SET_LATER, d.at, "this depends on `%s`, which is bound %s", name,
                             d.param == p->param ? "by this very set" : "later");
  if (d.param == p->param)
    nst_diag_help(ck->diags, x, "a set uses only the parameters bound before it");
  else
    nst_diag_help(ck->diags, x, "a set uses the parameters bound before it: write `%s in …` further up", name);
  return false;
}

static int find_param(nst_checker *ck, const nst_fe_mapping *m, const nst_ast_ident *id) {
  const nst_symbol *sym = nst_symtab_find(&m->params.names, id->name);
  if (sym) return sym->poisoned ? -1 : sym->index;
  nst_name mapping = m->decl->id.name;
  const nst_symbol *other = nst_symtab_find(&m->workload_values, id->name);
  const char *owner = other ? "workload" : "hardware";
  if (!other) other = nst_symtab_find(&m->hardware_values, id->name);
  nst_diag *d =
    nst_diag_add(ck->diags, NST_D_SWEEP_PARAM, id->span, "the mapping `%s` has no parameter `%s`", mapping, id->name);
  if (other) {
    nst_diag_label(ck->diags, d, other->span, "this one belongs to the %s", owner);
    nst_diag_help(ck->diags, d, "give the mapping a parameter and pass it on, as in `mapping %s(%s = …) %s`", mapping,
                  id->name,
                  strcmp(owner, "workload") == 0
                    ? nst_arena_printf(ck->arena, "of %s(%s = %s)", m->workload->decl->id.name, id->name, id->name)
                    : nst_arena_printf(ck->arena, "… on %s(%s = %s)", m->hardware->decl->id.name, id->name, id->name));
    return -1;
  }
  nst_candidates c = {0};
  nst_candidates_add(ck->arena, &c, &m->params.names);
  if (!nst_suggest(ck->diags, d, id->span, id->name, &c)) {
    if (m->params.n)
      nst_help_known(ck->arena, ck->diags, d, "parameters", &m->params.names);
    else
      nst_diag_help(ck->diags, d, "it has no parameters; declare them as in `mapping %s(%s = …)`", mapping, id->name);
  }
  return -1;
}

bool nst_lower_points(nst_scope *s, const nst_fe_mapping *m, const nst_ast_titem *const *items, int n,
                      nst_ir_point *out, int *count) {
  nst_checker *ck = s->ck;
  int *bound = NST_NEW_ARRAY(ck->arena, m->params.n, int);
  nst_span *at = NST_NEW_ARRAY(ck->arena, m->params.n, nst_span);
  bool ok = true;
  for (int i = 0; i < m->params.n; i++) bound[i] = -1;
  *count = 0;
  for (int i = 0; i < n; i++) {
    const nst_ast_titem *item = items[i];
    int param = item->id.name ? find_param(ck, m, &item->id) : -1;
    nst_unit unit = param < 0 ? NST_UNIT_NONE : nst_symtab_find(&m->params.names, m->params.items[param].name)->unit;
    nst_ir_point p = {.param = param, .span = item->span};
    bool good = item->set && lower_set(s, item->set, unit, &p.set);
    if (param >= 0 && bound[param] >= 0) {
      nst_diag *d = nst_diag_add(ck->diags, NST_D_SWEPT_TWICE, item->id.span, "`%s` has a set already", item->id.name);
      nst_diag_label(ck->diags, d, at[param], "the first one is here");
      param = -1;
    }
    ok = ok && good && param >= 0;
    if (param < 0) continue;
    bound[param] = *count;
    at[param] = item->id.span;
    out[(*count)++] = p;
  }
  bool bound_well = true;
  for (int i = 0; i < *count && ok; i++) bound_well = check_later(ck, m, &out[i], bound, i) && bound_well;
  ok = ok && bound_well;
  for (int i = 0; i < m->params.n && ok; i++) {
    const nst_ir_param *p = &m->params.items[i];
    if (p->value || bound[i] >= 0 || nst_symtab_find(&m->params.names, p->name)->poisoned) continue;
    nst_diag *d = nst_diag_add(ck->diags, NST_D_ARG_MISSING, m->decl->id.span, "`%s` of the mapping `%s` has no value",
                               p->name, m->decl->id.name);
    nst_diag_label(ck->diags, d, s->from, "needed here");
    nst_diag_help(ck->diags, d, "bind it with `%s in …`, or give it a default", p->name);
    ok = false;
  }
  return ok;
}
