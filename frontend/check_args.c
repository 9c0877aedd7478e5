/* Parameters, and the arguments that a reference gives them.
 *
 * Parameters without a default, and all of a workload, are plain numbers; a
 * default with a unit gives its parameter that unit. A default value sees the
 * parameters to its left. A mapping does not keep the parameters of its
 * workload and hardware: each becomes a named value of the mapping. */
#include "frontend/check.h"

void nst_check_params(nst_checker *ck, nst_module *module, const nst_ast_decl *decl, bool plain, bool closed,
                      nst_fe_params *out) {
  const nst_ast_param *list = decl->params;
  out->incomplete = nst_head_incomplete(ck, decl);
  int n = 0;
  for (const nst_ast_param *p = list; p; p = p->next) n++;
  out->items = NST_NEW_ARRAY(ck->arena, n, nst_ir_param);
  for (const nst_ast_param *p = list; p; p = p->next) {
    if (!p->id.name) continue;
    nst_scope scope = {.ck = ck,
                       .frames = {&out->names},
                       .nframes = 1,
                       .module = module,
                       .closed = closed,
                       .what = "a default value",
                       .later = p};
    const char *what = nst_arena_printf(ck->arena, "the default of `%s`", p->id.name);
    nst_typed t = {0};
    bool poisoned = false;
    if (p->value) {
      t = nst_check_value(&scope, p->value, what);
      if (t.x && plain && !nst_check_unit(&scope, &t, p->value->span, p->value, NST_UNIT_NONE, what)) t = nst_poison();
      if (t.x && plain && !nst_check_integer(ck, t.x, what)) t = nst_poison();
      poisoned = !t.x;
    }
    nst_symbol *sym = nst_symtab_declare(ck->arena, ck->diags, &out->names, p->id.name, p->id.span, "a parameter");
    if (!sym) continue;
    sym->index = out->n;
    sym->kind = NST_X_PARAM;
    sym->unit = t.x ? t.unit : NST_UNIT_NONE;
    sym->poisoned = poisoned;
    out->items[out->n++] = (nst_ir_param){p->id.name, p->id.span, t.x};
  }
}

nst_symbol *nst_declare_value(nst_checker *ck, nst_symtab *values, const nst_fe_params *params, const nst_ast_ident *id) {
  const nst_symbol *param = nst_symtab_find(&params->names, id->name);
  if (!param) return nst_symtab_declare(ck->arena, ck->diags, values, id->name, id->span, "a value");
  nst_diag *d = nst_diag_add(ck->diags, NST_D_DUPLICATE_NAME, id->span, "there is already a parameter `%s`", id->name);
  nst_diag_label(ck->diags, d, param->span, "the parameter is here");
  return NULL;
}

static void say_unknown_param(nst_checker *ck, const nst_ast_arg *arg, const nst_fe_params *target, const char *what,
                              nst_name name) {
  nst_diag *m = nst_say_unknown(ck, target, NST_D_UNKNOWN_PARAM, arg->name.span, arg->name.name,
                                "%s `%s` has no parameter `%s`", what, name, arg->name.name);
  if (!m) return;
  nst_candidates c = {0};
  nst_candidates_add(ck->arena, &c, &target->names);
  if (nst_suggest(ck->diags, m, arg->name.span, arg->name.name, &c)) return;
  if (target->n)
    nst_help_known(ck->arena, ck->diags, m, "parameters", &target->names);
  else
    nst_diag_help(ck->diags, m, "it has no parameters");
}

nst_fe_arg *nst_bind_args(nst_scope *s, const nst_ast_ref *ref, const nst_fe_params *target, const char *what,
                          nst_name name, bool integers) {
  nst_checker *ck = s->ck;
  nst_fe_arg *args = NST_NEW_ARRAY(ck->arena, target->n + 1, nst_fe_arg);
  int next = 0;
  bool named = false, lost = false;
  for (const nst_ast_arg *a = ref->args; a; a = a->next) {
    int at = next;
    if (a->name.name) {
      const nst_symbol *sym = nst_symtab_find(&target->names, a->name.name);
      named = true;
      if (!sym) {
        if (!target->incomplete) say_unknown_param(ck, a, target, what, name);
        lost = true;
      }
      at = sym ? sym->index : -1;
    } else if (named) { /* a syntax error, reported */
      at = -1;
      lost = true;
    } else if (next++ >= target->n) {
      if (target->incomplete) continue;
      nst_diag *m = nst_say_unknown(ck, ref, NST_D_ARG_COUNT, a->span, NULL,
                                    "%s `%s` has %s parameter%s, and this is argument %d", what, name,
                                    target->n ? nst_arena_printf(ck->arena, "%d", target->n) : "no",
                                    target->n == 1 ? "" : "s", next);
      if (m && target->n) nst_help_known(ck->arena, ck->diags, m, "parameters", &target->names);
      at = -1;
    }
    const char *is =
      at >= 0 ? nst_arena_printf(ck->arena, "`%s` of %s `%s`", target->items[at].name, what, name) : "an argument";
    nst_typed t = a->value ? nst_check_value(s, a->value, is) : nst_poison();
    if (at < 0) continue;
    const nst_symbol *sym = nst_symtab_find(&target->names, target->items[at].name);
    if (t.x && !sym->poisoned && !nst_check_unit(s, &t, a->value->span, a->value, sym->unit, is)) t = nst_poison();
    if (t.x && integers && !nst_check_integer(ck, t.x, is)) t = nst_poison();
    if (args[at].given) {
      nst_diag *m = nst_diag_add(ck->diags, NST_D_ARG_TWICE, a->span, "`%s` is given twice", target->items[at].name);
      nst_diag_label(ck->diags, m, args[at].span, "the first value is here");
      continue;
    }
    args[at] = (nst_fe_arg){t, true, a->span};
  }
  for (int i = 0; i < target->n && !lost && !target->incomplete; i++) {
    const nst_symbol *sym = nst_symtab_find(&target->names, target->items[i].name);
    if (args[i].given || target->items[i].value || sym->poisoned) continue;
    nst_diag *m = nst_diag_add(ck->diags, NST_D_ARG_MISSING, ref->span, "`%s` of %s `%s` has no value",
                               target->items[i].name, what, name);
    nst_diag_label(ck->diags, m, target->items[i].span, "it has no default");
    nst_diag_help(ck->diags, m, "write `%s(%s = …)`", name, target->items[i].name);
    break; /* one is enough to show how */
  }
  return args;
}

int nst_instantiate_params(nst_checker *ck, const nst_fe_params *params, const nst_fe_arg *args, nst_fe_values *values,
                           nst_symtab *frame) {
  int base = (int)values->len;
  for (int i = 0; i < params->n; i++) {
    const nst_ir_param *p = &params->items[i];
    const nst_symbol *own = nst_symtab_find(&params->names, p->name);
    const nst_expr *value = args[i].given ? args[i].value.x : p->value ? nst_expr_rebase(ck, p->value, base) : NULL;
    *nst_vec_push(ck->arena, values) = (nst_ir_value){p->name, args[i].given ? args[i].span : p->span, value};
    nst_symbol *sym = nst_symtab_add(ck->arena, frame, p->name, p->span);
    sym->index = base + i;
    sym->kind = NST_X_VALUE;
    sym->unit = own->unit;
    sym->poisoned = !value;
    if (value && nst_expr_is_const(value)) { /* known here: folds on */
      sym->kind = NST_X_CONST;
      sym->expr = value;
    }
  }
  return base;
}
