/* Attributes of hardware blocks: one table of what each block takes, in which
 * unit and form. A rate given per second is divided by the clock here, so that
 * the IR knows cycles only. */
#include "frontend/check.h"

#include <stddef.h>

typedef enum { FORM_VALUE, FORM_RATE /* per cycle, or per second with a clock */, FORM_BOOL, FORM_NAMES } form;
enum { IN_MEMORY = 1, IN_ARRAY = 2, IN_COMPUTE = 4, IN_HARDWARE = 8 };
enum { ZERO_OK = 0, ABOVE_ZERO = 1 };
typedef struct {
  const char *name;
  int block;
  form form;
  nst_unit unit, per_second;
  int sign;
  size_t field, second; /* offsets in nst_ir_level; second 0: none */
} attribute;
#define AT(field) offsetof(nst_ir_level, field)

static const attribute attributes[] = {
  {"clock", IN_HARDWARE, FORM_VALUE, {0, 0, -1, 0, 0}, {0}, ABOVE_ZERO, 0, 0},
  {"capacity", IN_MEMORY, FORM_VALUE, {1, 0, 0, 0, 0}, {0}, ABOVE_ZERO, AT(capacity), 0},
  {"bandwidth", IN_MEMORY, FORM_RATE, {1, -1, 0, 0, 0}, {1, 0, -1, 0, 0}, ABOVE_ZERO, AT(bandwidth), 0},
  {"read_bandwidth", IN_MEMORY, FORM_RATE, {1, -1, 0, 0, 0}, {1, 0, -1, 0, 0}, ABOVE_ZERO, AT(read_bandwidth), 0},
  {"write_bandwidth", IN_MEMORY, FORM_RATE, {1, -1, 0, 0, 0}, {1, 0, -1, 0, 0}, ABOVE_ZERO, AT(write_bandwidth), 0},
  {"energy", IN_MEMORY, FORM_VALUE, {-1, 0, 0, 1, 0}, {0}, ZERO_OK, AT(read_energy), AT(write_energy)},
  {"read_energy", IN_MEMORY, FORM_VALUE, {-1, 0, 0, 1, 0}, {0}, ZERO_OK, AT(read_energy), 0},
  {"write_energy", IN_MEMORY, FORM_VALUE, {-1, 0, 0, 1, 0}, {0}, ZERO_OK, AT(write_energy), 0},
  {"leakage", IN_MEMORY | IN_COMPUTE, FORM_VALUE, {0, 0, -1, 1, 0}, {0}, ZERO_OK, AT(leakage), 0},
  {"area", IN_MEMORY | IN_COMPUTE, FORM_VALUE, {0, 0, 0, 0, 1}, {0}, ZERO_OK, AT(area), 0},
  {"double_buffered", IN_MEMORY, FORM_BOOL, {0}, {0}, ZERO_OK, AT(double_buffered), 0},
  {"overlap", IN_MEMORY, FORM_BOOL, {0}, {0}, ZERO_OK, AT(overlap), 0},
  {"holds", IN_MEMORY, FORM_NAMES, {0}, {0}, ZERO_OK, 0, 0},
  {"multicast", IN_ARRAY, FORM_BOOL, {0}, {0}, ZERO_OK, AT(multicast), 0},
  {"reduce", IN_ARRAY, FORM_BOOL, {0}, {0}, ZERO_OK, AT(reduce), 0},
  {"energy", IN_COMPUTE, FORM_VALUE, {0, 0, 0, 1, 0}, {0}, ZERO_OK, AT(energy), 0},
  {"rate", IN_COMPUTE, FORM_RATE, {0, 0, 0, 0, 0}, {0, 0, -1, 0, 0}, ABOVE_ZERO, AT(rate), 0},
};
enum { NATTRIBUTES = sizeof attributes / sizeof *attributes };

/* What other tools call them. */
static const char *const foreign[][2] = {
  {"size", "capacity"}, {"depth", "capacity"}, {"bw", "bandwidth"},     {"frequency", "clock"},
  {"freq", "clock"},    {"power", "leakage"},  {"throughput", "rate"},  {"double_buffer", "double_buffered"},
  {"keeps", "holds"},   {"tensors", "holds"},  {"reduction", "reduce"},
};

static const char *block_words(int block) {
  if (block & IN_HARDWARE) return "the hardware itself";
  if (block == (IN_MEMORY | IN_COMPUTE)) return "a memory or a compute unit";
  return block & IN_MEMORY ? "a memory" : block & IN_ARRAY ? "an array" : "a compute unit";
}

static int block_of(nst_level_kind kind) {
  return kind == NST_LEVEL_MEMORY ? IN_MEMORY : kind == NST_LEVEL_ARRAY ? IN_ARRAY : IN_COMPUTE;
}

static const attribute *find_attribute(nst_scope *s, const nst_ast_attr *a, int block) {
  nst_checker *ck = s->ck;
  const attribute *elsewhere = NULL;
  for (int i = 0; i < NATTRIBUTES; i++) {
    if (strcmp(attributes[i].name, a->id.name) != 0) continue;
    if (attributes[i].block & block) return &attributes[i];
    elsewhere = &attributes[i];
  }
  if (nst_syntax_error_follows(ck, a->id.span)) return NULL;
  if (elsewhere) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_ATTR_WRONG_BLOCK, a->id.span, "`%s` belongs to %s, not to %s",
                               a->id.name, block_words(elsewhere->block), block_words(block));
    if (elsewhere->block & IN_HARDWARE)
      nst_diag_help(ck->diags, m, "write it between the braces of the hardware, outside of every level");
    return NULL;
  }
  nst_symtab known = {0};
  for (int i = 0; i < NATTRIBUTES; i++)
    if (attributes[i].block & block)
      nst_symtab_add(ck->arena, &known, nst_intern_cstr(ck->interner, attributes[i].name), (nst_span){0});
  nst_diag *m = nst_diag_add(ck->diags, NST_D_UNKNOWN_ATTRIBUTE, a->id.span, "%s has no attribute `%s`",
                             block_words(block), a->id.name);
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
    if (strcmp(foreign[i][0], a->id.name) != 0 ||
        !nst_symtab_find(&known, nst_intern_cstr(ck->interner, foreign[i][1])))
      continue;
    nst_diag_help(ck->diags, m, "did you mean `%s`?", foreign[i][1]);
    nst_diag_fix(ck->diags, m, a->id.span, foreign[i][1]);
    return NULL;
  }
  nst_candidates c = {0};
  nst_candidates_add(ck->arena, &c, &known);
  if (!nst_suggest(ck->diags, m, a->id.span, a->id.name, &c))
    nst_help_known(ck->arena, ck->diags, m, "attributes", &known);
  return NULL;
}

/* ---- values ---- */

static bool one_value(nst_scope *s, const nst_ast_attr *a) {
  if (!a->more) return a->value != NULL;
  nst_diag *m = nst_diag_add(s->ck->diags, NST_D_ATTR_FORM, a->more->span, "`%s` takes one value", a->id.name);
  nst_diag_help(s->ck->diags, m, "a list belongs to `holds`");
  return false;
}

static bool check_bool(nst_scope *s, const nst_ast_attr *a, bool *out) {
  nst_typed t = nst_check_expr(s, a->value);
  if (!t.x || nst_report_failure(s->ck, &t, a->value->span)) return false;
  if (t.truth && t.x->kind == NST_X_BOOL) {
    *out = t.x->truth;
    return true;
  }
  nst_diag *m = nst_diag_add(s->ck->diags, NST_D_ATTR_FORM, a->value->span, "`%s` is `true` or `false`", a->id.name);
  if (t.truth) nst_diag_help(s->ck->diags, m, "it cannot depend on a parameter");
  return false;
}

static void warn_kilobyte(nst_scope *s, const nst_ast_expr *e) {
  if (!e) return;
  if (e->kind == NST_AST_QUANTITY && e->unit.name &&
      (strcmp(e->unit.name, "KB") == 0 || strcmp(e->unit.name, "kB") == 0)) {
    nst_diag *m = nst_diag_add(s->ck->diags, NST_D_KB_CAPACITY, e->span, "1 %s is 1000 bytes", e->unit.name);
    nst_diag_help(s->ck->diags, m, "write `KiB` for 1024 bytes");
    nst_diag_fix(s->ck->diags, m, e->unit.span, "KiB");
  }
  warn_kilobyte(s, e->a);
  warn_kilobyte(s, e->b);
  warn_kilobyte(s, e->c);
}

static const nst_expr *check_rate(nst_scope *s, const nst_ast_attr *a, const attribute *at, const char *what,
                                  const nst_expr *clock, bool has_clock) {
  nst_checker *ck = s->ck;
  nst_typed t = nst_check_value(s, a->value, what);
  if (!t.x) return NULL;
  if (!nst_unit_equal(t.unit, at->per_second))
    return nst_check_unit(s, &t, a->value->span, a->value, at->unit, what) ? t.x : NULL;
  if (!has_clock) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_NEEDS_CLOCK, a->value->span,
                               "%s is given per second, and the hardware has no clock", what);
    nst_diag_help(ck->diags, m, "add `clock = 1 GHz` to the hardware, or give it per cycle");
  }
  if (!clock) return NULL;
  nst_typed divisor = {.x = clock, .constant = nst_expr_is_const(clock), .weight = 16};
  nst_typed q = nst_typed_make(ck, NST_X_DIV, a->value->span, &t, &divisor, NULL);
  return nst_report_failure(ck, &q, a->value->span) ? NULL : q.x;
}

static bool check_sign(nst_scope *s, const nst_ast_attr *a, const attribute *at, const nst_expr *e) {
  if (!nst_expr_is_const(e) || e->value.num > 0 || (e->value.num == 0 && at->sign == ZERO_OK)) return true;
  nst_diag_add(s->ck->diags, NST_D_ATTR_NEGATIVE, a->value->span, "`%s` must be %s", a->id.name,
               at->sign == ZERO_OK ? "zero or more" : "more than zero");
  return false;
}

/* Watts are joules per second, which the unit table holds in picojoules. */
static const nst_expr *in_watts(nst_scope *s, const nst_expr *e) {
  nst_typed value = {.x = e, .constant = nst_expr_is_const(e), .weight = 16};
  nst_typed scale = nst_typed_const(s->ck, e->span, nst_rat_int(1000000000000));
  return nst_typed_make(s->ck, NST_X_DIV, e->span, &value, &scale, NULL).x;
}

static const nst_expr *check_quantity(nst_scope *s, const nst_ast_attr *a, const attribute *at, const nst_expr *clock,
                                      bool has_clock) {
  const char *what = nst_arena_printf(s->ck->arena, "`%s`", a->id.name);
  const nst_expr *e = at->form == FORM_RATE ? check_rate(s, a, at, what, clock, has_clock)
                                            : nst_check_number(s, a->value, at->unit, what);
  if (!e || !check_sign(s, a, at, e)) return NULL;
  if (at->field == AT(capacity)) warn_kilobyte(s, a->value);
  if (at->field != AT(leakage)) return e;
  if (!has_clock) {
    nst_diag *m =
      nst_diag_add(s->ck->diags, NST_D_NEEDS_CLOCK, a->span, "leakage takes time, and the hardware has no clock");
    nst_diag_help(s->ck->diags, m, "add `clock = 1 GHz` to the hardware");
    return NULL;
  }
  return in_watts(s, e);
}

static bool check_names(nst_scope *s, const nst_ast_attr *a, nst_fe_holds *out) {
  int n = 1;
  for (const nst_ast_arg *m = a->more; m; m = m->next) n++;
  out->items = NST_NEW_ARRAY(s->ck->arena, n, nst_ast_ident);
  out->span = a->span;
  const nst_ast_expr *e = a->value;
  const nst_ast_arg *rest = a->more;
  while (true) {
    if (!e) return false;
    if (e->kind != NST_AST_NAME || !e->id.name) {
      nst_diag *m = nst_diag_add(s->ck->diags, NST_D_ATTR_FORM, e->span, "`holds` lists names of tensors");
      nst_diag_help(s->ck->diags, m, "as in `holds = A, B`; `inputs` and `outputs` stand for all of a kind");
      return false;
    }
    out->items[out->n++] = (nst_ast_ident){e->id.name, e->span};
    if (!rest) return true;
    e = rest->value;
    rest = rest->next;
  }
}

/* ---- blocks ---- */

static const nst_ast_attr *find_given(const nst_ast_attr *list, const nst_ast_attr *end, const char *name) {
  for (; list && list != end; list = list->next)
    if (list->id.name && strcmp(list->id.name, name) == 0) return list;
  return NULL;
}

static bool said_twice(nst_scope *s, const nst_ast_attr *first, const nst_ast_attr *a) {
  const nst_ast_attr *old = find_given(first, a, a->id.name);
  if (!old) return false;
  nst_diag *m = nst_diag_add(s->ck->diags, NST_D_ATTR_TWICE, a->span, "`%s` is given twice", a->id.name);
  nst_diag_label(s->ck->diags, m, old->span, "the first one is here");
  return true;
}

/* `bandwidth` and `energy` say what read_… and write_… say one by one. */
static bool in_conflict(nst_scope *s, const nst_ast_attr *first) {
  static const char *const whole[] = {"bandwidth", "energy"};
  static const char *const parts[][2] = {{"read_bandwidth", "write_bandwidth"}, {"read_energy", "write_energy"}};
  bool found = false;
  for (int i = 0; i < 2; i++) {
    const nst_ast_attr *a = find_given(first, NULL, whole[i]);
    for (int k = 0; a && k < 2; k++) {
      const nst_ast_attr *part = find_given(first, NULL, parts[i][k]);
      if (!part) continue;
      nst_diag *m = nst_diag_add(s->ck->diags, NST_D_ATTR_CONFLICT, part->span, "`%s` is given, and so is `%s`",
                                 parts[i][k], whole[i]);
      nst_diag_label(s->ck->diags, m, a->span, "this is for reading and writing together");
      nst_diag_help(s->ck->diags, m, "give `%s` alone, or `%s` and `%s`", whole[i], parts[i][0], parts[i][1]);
      found = true;
    }
  }
  return found;
}

static void store(nst_ir_level *level, size_t field, const nst_expr *e) {
  *(const nst_expr **)(void *)((char *)level + field) = e;
}

bool nst_check_attrs(nst_scope *s, const nst_ast_attr *attrs, nst_ir_level *level, nst_fe_holds *holds,
                     const nst_expr *clock, bool has_clock) {
  bool ok = true;
  int block = block_of(level->kind);
  for (const nst_ast_attr *a = attrs; a; a = a->next) {
    const attribute *at = a->id.name ? find_attribute(s, a, block) : NULL;
    if (!at || said_twice(s, attrs, a)) {
      ok = false;
      continue;
    }
    if (at->form == FORM_NAMES) {
      ok = check_names(s, a, holds) && ok;
      continue;
    }
    if (!one_value(s, a)) {
      ok = false;
      continue;
    }
    if (at->form == FORM_BOOL) {
      ok = check_bool(s, a, (bool *)(void *)((char *)level + at->field)) && ok;
      continue;
    }
    const nst_expr *e = check_quantity(s, a, at, clock, has_clock);
    ok = ok && e;
    store(level, at->field, e);
    if (at->second) store(level, at->second, e);
  }
  return !(block == IN_MEMORY && in_conflict(s, attrs)) && ok;
}

bool nst_check_clock(nst_scope *s, const nst_ast_hitem *items, const nst_expr **clock, bool *has_clock) {
  bool ok = true;
  const nst_ast_attr *first = NULL;
  *clock = NULL;
  *has_clock = false;
  for (const nst_ast_hitem *i = items; i; i = i->next) {
    if (i->kind != NST_HITEM_ATTR) continue;
    const nst_ast_attr *a = i->attr;
    const attribute *at = a && a->id.name ? find_attribute(s, a, IN_HARDWARE) : NULL;
    if (at && first) {
      nst_diag *m = nst_diag_add(s->ck->diags, NST_D_ATTR_TWICE, a->span, "`%s` is given twice", a->id.name);
      nst_diag_label(s->ck->diags, m, first->span, "the first one is here");
      at = NULL;
    }
    if (!at) {
      ok = false;
      continue;
    }
    first = a;
    *has_clock = true;
    *clock = one_value(s, a) ? check_quantity(s, a, at, NULL, true) : NULL;
    ok = ok && *clock;
  }
  return ok;
}
