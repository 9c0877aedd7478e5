/* What can be seen at the default parameters: a size that is zero, negative or
 * no integer, a value that cannot be evaluated. Where a parameter has no
 * default there is nothing to see; ir/nest.c looks again at every point. */
#include "frontend/check.h"

static bool evaluate(nst_checker *ck, const nst_expr *e, const nst_eval_env *env, nst_value *out) {
  nst_span where = e->span;
  nst_eval_env with_fuel = *env;
  with_fuel.fuel = &ck->fuel;
  nst_eval_status s = nst_expr_eval(out, e, &with_fuel, &where);
  if (s == NST_EVAL_OK) return true;
  nst_diag *m = nst_diag_add(ck->diags, nst_failure_id(s, NST_D_DEFAULT_FAILS), where, "%s", nst_eval_status_text(s));
  nst_diag_help(ck->diags, m, "this is so with the default parameters");
  return false;
}

bool nst_defaults_make(nst_checker *ck, const nst_ir_param *params, int nparams, const nst_ir_value *values,
                       int nvalues, nst_defaults *out) {
  *out = (nst_defaults){.ck = ck,
                        .params = NST_NEW_ARRAY(ck->arena, nparams, nst_value),
                        .values = NST_NEW_ARRAY(ck->arena, nvalues, nst_value)};
  nst_eval_env env = {.params = out->params, .values = out->values};
  for (int i = 0; i < nparams; i++) {
    if (!params[i].value) return true;
    if (!evaluate(ck, params[i].value, &env, &out->params[i])) return false;
  }
  for (int i = 0; i < nvalues; i++) {
    if (!values[i].value) return true;
    if (!evaluate(ck, values[i].value, &env, &out->values[i])) return false;
  }
  out->known = true;
  return true;
}

bool nst_defaults_check(nst_defaults *d, const nst_expr *e, int64_t least, nst_span at, const char *what) {
  nst_checker *ck = d->ck;
  nst_value v;
  int64_t n;
  if (!d->known || !e || nst_expr_is_const(e)) return true;
  nst_eval_env env = {.params = d->params, .values = d->values};
  if (!evaluate(ck, e, &env, &v)) return false;
  if (nst_value_to_i64(&n, &v) && n >= least) return true;
  char text[64] = "no exact number";
  if (v.kind == NST_VALUE_RAT) nst_rat_print(text, sizeof text, v.rat);
  bool integer = nst_value_to_i64(&n, &v);
  nst_diag *m = nst_diag_add(ck->diags, NST_D_BAD_AT_DEFAULTS, at.source ? at : e->span,
                             "%s must be %s, and is %s with the default parameters", what,
                             least == INT64_MIN || !integer ? "an integer"
                             : least == 1                   ? "at least 1"
                                                            : "at least 0",
                             text);
  if (at.source && (at.source != e->span.source || at.begin != e->span.begin))
    nst_diag_label(ck->diags, m, e->span, "this value");
  return false;
}
