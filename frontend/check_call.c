/* Functions and metrics. The functions are a table; the metrics are those of
 * ir/metrics.def. A metric's arguments are names of a level and a tensor, not
 * values, and are resolved here. */
#include "frontend/check.h"

/* ---- functions ---- */

typedef enum {
  SHAPE_KEEP /* unit of the operand */,
  SHAPE_MEET /* all the same */,
  SHAPE_DIVIDE,
  SHAPE_ROOT,
  SHAPE_LOG
} unit_shape;
static const struct function {
  const char *name;
  nst_expr_kind kind;
  int least, most;
  unit_shape shape;
  const char *usage;
} functions[] = {
  {"min", NST_X_MIN, 2, INT32_MAX, SHAPE_MEET, "min(a, b, …)"},
  {"max", NST_X_MAX, 2, INT32_MAX, SHAPE_MEET, "max(a, b, …)"},
  {"abs", NST_X_ABS, 1, 1, SHAPE_KEEP, "abs(a)"},
  {"ceil", NST_X_CEIL, 1, 1, SHAPE_KEEP, "ceil(a)"},
  {"floor", NST_X_FLOOR, 1, 1, SHAPE_KEEP, "floor(a)"},
  {"ceildiv", NST_X_CEILDIV, 2, 2, SHAPE_DIVIDE, "ceildiv(a, b)"},
  {"gcd", NST_X_GCD, 2, INT32_MAX, SHAPE_MEET, "gcd(a, b, …)"},
  {"log2", NST_X_LOG2, 1, 1, SHAPE_LOG, "log2(a)"},
  {"sqrt", NST_X_SQRT, 1, 1, SHAPE_ROOT, "sqrt(a)"},
};
enum { NFUNCTIONS = sizeof functions / sizeof *functions };

static const struct function *find_function(const char *name) {
  for (int i = 0; i < NFUNCTIONS; i++)
    if (strcmp(functions[i].name, name) == 0) return &functions[i];
  return NULL;
}

bool nst_metric_find(nst_metric *out, const char *name) {
  for (int i = 0; i < NST_METRIC_COUNT; i++) {
    if (strcmp(nst_metric_name((nst_metric)i), name) != 0) continue;
    *out = (nst_metric)i;
    return true;
  }
  return false;
}

static void add_candidate(nst_arena *arena, nst_candidates *c, nst_name name) {
  if (c->len == c->cap) c->items = nst_vec_grow(arena, c->items, c->len, &c->cap, sizeof *c->items);
  c->items[c->len++] = name;
}

void nst_candidates_functions(nst_arena *arena, nst_candidates *c, nst_interner *interner, bool metrics) {
  for (int i = 0; i < NFUNCTIONS; i++) add_candidate(arena, c, nst_intern_cstr(interner, functions[i].name));
  for (int i = 0; metrics && i < NST_METRIC_COUNT; i++)
    add_candidate(arena, c, nst_intern_cstr(interner, nst_metric_name((nst_metric)i)));
}

static bool unit_of(nst_scope *s, const struct function *f, const nst_ast_expr *e, nst_typed *a, const nst_ast_expr *ea,
                    const nst_typed *b, const nst_ast_expr *eb, nst_unit *unit) {
  nst_checker *ck = s->ck;
  *unit = a->unit;
  switch (f->shape) {
  case SHAPE_KEEP: return true;
  case SHAPE_MEET: return !b || nst_units_meet(s, NST_SIDE_CHOOSE, a, ea, b, eb, unit, &a->soft);
  case SHAPE_DIVIDE: return nst_unit_mul(unit, a->unit, b->unit, -1);
  case SHAPE_ROOT:
    if (nst_unit_root(unit, a->unit)) return true;
    break;
  case SHAPE_LOG:
    if (nst_unit_is_none(a->unit)) return true;
    break;
  }
  *unit = NST_UNIT_NONE;
  if (a->soft) return true; /* a metric: the number of its unit */
  nst_diag *m = nst_diag_add(ck->diags, NST_D_BAD_POWER, e->span, "`%s` of %s has no unit", f->name,
                             nst_unit_describe(ck->arena, a->unit));
  nst_diag_help(ck->diags, m, "divide by a unit first to make it a plain number, as in `/ (1 B)`");
  return false;
}

typedef struct { nst_typed value; const nst_ast_expr *text; } operand;

/* Replaces an operand by the function of it and another (NULL: of it alone). false: reported. */
static bool apply(nst_scope *s, const nst_ast_expr *e, const struct function *f, operand *left, const operand *right) {
  nst_unit unit;
  const nst_typed *other = right ? &right->value : NULL;
  const bool soft = left->value.soft || (other && other->soft);
  if (!unit_of(s, f, e, &left->value, left->text, other, right ? right->text : left->text, &unit)) return false;
  nst_typed made = nst_typed_make(s->ck, f->kind, e->span, &left->value, other, NULL);
  made.unit = unit;
  made.soft = soft;
  left->value = made;
  return made.x != NULL;
}

static nst_typed call_function(nst_scope *s, const nst_ast_expr *e, const struct function *f) {
  nst_checker *ck = s->ck;
  int n = 0;
  for (const nst_ast_arg *a = e->args; a; a = a->next) n++;
  if (n < f->least || n > f->most) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_ARG_COUNT, e->span, "`%s` takes %s%d argument%s, and has %d", f->name,
                               f->most > f->least ? "at least " : "", f->least, f->least == 1 ? "" : "s", n);
    nst_diag_help(ck->diags, m, "it is written `%s`", f->usage);
    for (const nst_ast_arg *a = e->args; a; a = a->next) (void)nst_check_expr(s, a->value);
    return nst_poison();
  }
  /* Operands under way, joined like the digits of a counter, so that thousands of
   * arguments make a tree of a dozen levels. */
  operand stack[64];
  int depth = 0;
  bool poisoned = false;
  int64_t seen = 0;
  for (const nst_ast_arg *a = e->args; a; a = a->next) {
    if (a->name.name) {
      nst_diag_add(ck->diags, NST_D_ARG_NAMED, a->name.span, "the arguments of `%s` have no names", f->name);
      poisoned = true;
    }
    nst_typed t = a->value ? nst_check_expr(s, a->value) : nst_poison();
    if (t.x && t.truth) {
      nst_diag_add(ck->diags, NST_D_NOT_NUMBER, a->span, "`%s` takes numbers, and this is a condition", f->name);
      t = nst_poison();
    }
    poisoned = poisoned || !t.x;
    if (poisoned) continue;
    if (n == 1) {
      stack[0] = (operand){t, a->value};
      poisoned = !apply(s, e, f, &stack[0], NULL);
      continue;
    }
    stack[depth++] = (operand){t, a->value};
    for (int64_t joined = ++seen; joined % 2 == 0 && !poisoned; joined /= 2, depth--)
      poisoned = !apply(s, e, f, &stack[depth - 2], &stack[depth - 1]);
  }
  for (; depth > 1 && !poisoned; depth--) poisoned = !apply(s, e, f, &stack[depth - 2], &stack[depth - 1]);
  return poisoned ? nst_poison() : stack[0].value;
}

/* ---- metrics ---- */

typedef enum { ARGS_N, ARGS_L, ARGS_LT } metric_args;
#define UNIT_E {0, 0, 0, 0, 0}
#define UNIT_B {1, 0, 0, 0, 0}
#define UNIT_C {0, 1, 0, 0, 0}
#define UNIT_PJ {0, 0, 0, 1, 0}
#define UNIT_PJC {0, 1, 0, 1, 0}
#define UNIT_N {0, 0, 0, 0, 0}
#define UNIT_OPB {-1, 0, 0, 0, 0}
#define UNIT_MM2 {0, 0, 0, 0, 1}
#define UNIT_BOOL {0, 0, 0, 0, 0}

static nst_unit metric_unit(nst_metric m) {
  static const nst_unit units[] = {
#define NST_METRIC(id, name, args, unit, summary) UNIT_##unit,
#include "ir/metrics.def"
#undef NST_METRIC
  };
  return units[m];
}

static metric_args metric_takes(nst_metric m) {
  static const metric_args args[] = {
#define NST_METRIC(id, name, args, unit, summary) ARGS_##args,
#include "ir/metrics.def"
#undef NST_METRIC
  };
  return args[m];
}

static const char *metric_usage(nst_checker *ck, nst_metric m) {
  const char *name = nst_metric_name(m);
  switch (metric_takes(m)) {
  case ARGS_N: return name;
  case ARGS_L:
    if (m == NST_METRIC_INSTANCES) return nst_arena_printf(ck->arena, "%s(LEVEL)", name);
    return nst_arena_printf(ck->arena, "%s` or `%s(LEVEL)", name, name);
  case ARGS_LT: return nst_arena_printf(ck->arena, "%s(LEVEL)` or `%s(LEVEL, TENSOR)", name, name);
  }
  return name;
}

static void bad_args(nst_checker *ck, nst_metric metric, nst_span span, const char *message) {
  nst_diag *m = nst_diag_add(ck->diags, NST_D_METRIC_ARGS, span, "%s", message);
  nst_diag_help(ck->diags, m, "it is written `%s`", metric_usage(ck, metric));
}

static bool level_arg(nst_scope *s, nst_metric metric, const nst_ast_arg *arg, int *out, bool *swapped) {
  nst_checker *ck = s->ck;
  const nst_ast_expr *e = arg->value;
  if (!e) return false;
  if (e->kind != NST_AST_NAME || arg->name.name) {
    bad_args(ck, metric, arg->span,
             nst_arena_printf(ck->arena, "`%s` needs the name of a level here", nst_metric_name(metric)));
    return false;
  }
  const nst_symbol *sym = nst_symtab_find(s->levels, e->id.name);
  if (!sym) {
    if (s->incomplete) return false;
    if (nst_symtab_find(s->tensors, e->id.name)) {
      const nst_ast_expr *other =
        arg->next && arg->next->value && arg->next->value->kind == NST_AST_NAME ? arg->next->value : NULL;
      *swapped = other && nst_symtab_find(s->levels, other->id.name);
      nst_diag *m = nst_say_unknown(ck, s->levels, NST_D_WRONG_KIND, e->span, e->id.name,
                                    "`%s` is a tensor, and a level is needed here", e->id.name);
      if (!m) return false;
      if (*swapped) {
        nst_diag_help(ck->diags, m, "the level comes first: `%s(%s, %s)`", nst_metric_name(metric), other->id.name,
                      e->id.name);
        nst_diag_fix(ck->diags, m, nst_span_join(e->span, other->span),
                     nst_arena_printf(ck->arena, "%s, %s", other->id.name, e->id.name));
      } else {
        nst_diag_help(ck->diags, m, "the level comes first: `%s`", metric_usage(ck, metric));
      }
      return false;
    }
    nst_diag *m = nst_say_unknown(ck, s->levels, NST_D_UNKNOWN_LEVEL, e->span, e->id.name, "there is no level `%s`",
                                  e->id.name);
    if (!m) return false;
    nst_candidates c = {0};
    nst_candidates_add(ck->arena, &c, s->levels);
    if (!nst_suggest(ck->diags, m, e->span, e->id.name, &c))
      nst_help_known(ck->arena, ck->diags, m, "levels", s->levels);
    return false;
  }
  if (sym->poisoned) return false;
  const nst_ir_level *level = &s->hardware->levels[sym->index];
  bool computes = metric == NST_METRIC_CYCLES || metric == NST_METRIC_ENERGY || metric == NST_METRIC_INSTANCES;
  if (level->kind == NST_LEVEL_ARRAY || (level->kind == NST_LEVEL_COMPUTE && !computes)) {
    nst_diag *m = nst_say_unknown(ck, level, NST_D_WRONG_KIND, e->span, e->id.name, "`%s` is %s, and has no `%s`", e->id.name,
                                  level->kind == NST_LEVEL_ARRAY ? "an array" : "a compute unit",
                                  nst_metric_name(metric));
    if (!m) return false;
    nst_diag_label(ck->diags, m, level->span, "declared here");
    nst_diag_help(ck->diags, m, computes ? "ask a memory or a compute unit" : "ask a memory");
    return false;
  }
  *out = sym->index;
  return true;
}

static bool tensor_arg(nst_scope *s, nst_metric metric, const nst_ast_arg *arg, int *out) {
  nst_checker *ck = s->ck;
  const nst_ast_expr *e = arg->value;
  if (!e) return false;
  if (e->kind != NST_AST_NAME || arg->name.name) {
    bad_args(ck, metric, arg->span,
             nst_arena_printf(ck->arena, "`%s` needs the name of a tensor here", nst_metric_name(metric)));
    return false;
  }
  const nst_symbol *sym = nst_symtab_find(s->tensors, e->id.name);
  if (sym) {
    *out = sym->index;
    return !sym->poisoned;
  }
  if (s->incomplete) return false;
  nst_diag *m = nst_say_unknown(ck, s->tensors, NST_D_UNKNOWN_TENSOR, e->span, e->id.name,
                                "the workload has no tensor `%s`", e->id.name);
  if (!m) return false;
  nst_candidates c = {0};
  nst_candidates_add(ck->arena, &c, s->tensors);
  if (!nst_suggest(ck->diags, m, e->span, e->id.name, &c))
    nst_help_known(ck->arena, ck->diags, m, "tensors", s->tensors);
  return false;
}

nst_typed nst_check_metric(nst_scope *s, const nst_ast_expr *e, nst_metric metric) {
  nst_checker *ck = s->ck;
  const char *name = nst_metric_name(metric);
  if (!s->metrics) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_METRIC_HERE, e->span,
                               "`%s` is known only after counting, so %s cannot use it", name, s->what);
    nst_diag_help(ck->diags, m,
                  strcmp(s->what, "a set") == 0 ? "a condition on a metric belongs in `where`"
                                                : "metrics stand in tests, verify blocks and sweeps");
    return nst_poison();
  }
  metric_args takes = metric_takes(metric);
  const nst_ast_arg *a = e->kind == NST_AST_CALL ? e->args : NULL;
  int n = 0, level = -1, tensor = -1;
  for (const nst_ast_arg *arg = a; arg; arg = arg->next) n++;
  bool must = takes == ARGS_LT || metric == NST_METRIC_INSTANCES;
  int most = takes == ARGS_N ? 0 : takes == ARGS_L ? 1 : 2;
  if (n > most || (n == 0 && must)) {
    bad_args(ck, metric, e->span,
             n ? nst_arena_printf(ck->arena, "`%s` takes %s", name,
                                  most == 0   ? "no arguments"
                                  : most == 1 ? "one level"
                                              : "a level and a tensor")
               : nst_arena_printf(ck->arena, "`%s` needs a level", name));
    return nst_poison();
  }
  bool swapped = false, good = n < 1 || level_arg(s, metric, a, &level, &swapped);
  good = (n < 2 || swapped || tensor_arg(s, metric, a->next, &tensor)) && good;
  if (!good) return nst_poison();
  nst_expr *x = NST_NEW(ck->arena, nst_expr);
  *x = (nst_expr){.kind = NST_X_METRIC, .span = e->span, .metric = metric, .level = level, .tensor = tensor};
  return (nst_typed){
    .x = x, .truth = metric == NST_METRIC_FITS, .unit = metric_unit(metric), .soft = true, .weight = 1};
}

nst_typed nst_check_call(nst_scope *s, const nst_ast_expr *e) {
  nst_checker *ck = s->ck;
  if (!e->id.name) return nst_poison();
  if (e->object) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_UNKNOWN_FUNCTION, e->span, "a module has no functions");
    nst_diag_help(ck->diags, m, "functions and metrics stand without a name before them");
    return nst_poison();
  }
  const struct function *f = find_function(e->id.name);
  if (f) return call_function(s, e, f);
  nst_metric metric;
  if (nst_metric_find(&metric, e->id.name)) return nst_check_metric(s, e, metric);
  nst_diag *m = nst_diag_add(ck->diags, NST_D_UNKNOWN_FUNCTION, e->id.span, "there is no function `%s`", e->id.name);
  nst_candidates c = {0};
  nst_candidates_functions(ck->arena, &c, ck->interner, s->metrics);
  if (!nst_suggest(ck->diags, m, e->id.span, e->id.name, &c))
    nst_diag_help(ck->diags, m, "functions: min max abs ceil floor ceildiv gcd log2 sqrt");
  return nst_poison();
}
