/* Workloads: dimensions, tensors, and how the statements hang together.
 *
 * The result is a template over the workload's own parameters. Tensors are in
 * order of declaration, then of first appearance; a tensor that no declaration
 * names is fp16. Statements keep their order; which one needs another's result
 * is checked to be free of cycles. */
#include "frontend/check.h"

/* ---- dimensions ---- */

static void declare_dims(nst_workload_check *c) {
  nst_fe_workload *w = c->w;
  int n = 0;
  for (const nst_ast_witem *i = w->decl->workload; i; i = i->next)
    for (const nst_ast_param *p = i->dims; p; p = p->next) n++;
  w->ir.dims = NST_NEW_ARRAY(c->ck->arena, n, nst_ir_dim);
  for (const nst_ast_witem *i = w->decl->workload; i; i = i->next) {
    for (const nst_ast_param *p = i->dims; p; p = p->next) {
      if (!p->id.name) {
        w->ok = false;
        continue;
      }
      if (w->ir.ndims >= NST_MAX_DIMS) {
        nst_diag_add(c->ck->diags, NST_D_TOO_MANY, p->id.span, "a workload has at most %d dimensions", NST_MAX_DIMS);
        w->ok = false;
        w->incomplete = c->scope.incomplete = true;
        return;
      }
      nst_symbol *sym = nst_symtab_declare(c->ck->arena, c->ck->diags, &w->dims, p->id.name, p->id.span, "a dimension");
      w->ok = w->ok && sym;
      if (!sym) continue;
      sym->index = w->ir.ndims;
      w->ir.dims[w->ir.ndims++] = (nst_ir_dim){p->id.name, p->id.span, NULL};
    }
  }
}

static void size_dims(nst_workload_check *c) {
  nst_fe_workload *w = c->w;
  for (const nst_ast_witem *i = w->decl->workload; i; i = i->next) {
    for (const nst_ast_param *p = i->dims; p; p = p->next) {
      nst_symbol *sym = nst_symtab_find(&w->dims, p->id.name);
      if (!sym || sym->span.begin != p->id.span.begin) continue; /* lost or a duplicate */
      const char *what = nst_arena_printf(c->ck->arena, "the size of `%s`", p->id.name);
      const nst_expr *extent = p->value ? nst_check_number(&c->scope, p->value, NST_UNIT_NONE, what) : NULL;
      if (extent && !nst_check_positive(c->ck, extent, what)) extent = NULL;
      w->ir.dims[sym->index].extent = extent;
      w->ok = w->ok && extent;
    }
  }
}

/* ---- tensors ---- */

static const struct {
  const char *name;
  int bits;
} types[] = {
  {"int4", 4},  {"int8", 8},  {"int16", 16},  {"int32", 32},  {"int64", 64},
  {"uint4", 4}, {"uint8", 8}, {"uint16", 16}, {"uint32", 32}, {"uint64", 64},
  {"fp8", 8},   {"fp16", 16}, {"bf16", 16},   {"fp32", 32},   {"fp64", 64},
};
enum { NTYPES = sizeof types / sizeof *types };

static const struct {
  const char *other, *ours;
} foreign_types[] = {
  {"float", "fp32"},   {"float32", "fp32"}, {"f32", "fp32"},      {"single", "fp32"}, {"half", "fp16"},
  {"float16", "fp16"}, {"f16", "fp16"},     {"bfloat16", "bf16"}, {"double", "fp64"}, {"float64", "fp64"},
  {"f64", "fp64"},     {"float8", "fp8"},   {"f8", "fp8"},        {"int", "int32"},   {"uint", "uint32"},
  {"i4", "int4"},      {"i8", "int8"},      {"i16", "int16"},     {"i32", "int32"},   {"i64", "int64"},
  {"u8", "uint8"},     {"u16", "uint16"},   {"u32", "uint32"},    {"byte", "uint8"},  {"bool", "bits(1)"},
};

/* "int9" and the like: the number of bits, or 0. */
static int odd_width(const char *name) {
  int bits = 0;
  if (*name == 'u') name++;
  if (strncmp(name, "int", 3) != 0 || !name[3]) return 0;
  for (name += 3; *name; name++) {
    if (*name < '0' || *name > '9' || bits > 1000) return 0;
    bits = bits * 10 + (*name - '0');
  }
  return bits;
}

static void say_unknown_type(nst_checker *ck, const nst_ast_type *type) {
  nst_diag *m = nst_say_unknown(ck, ck, NST_D_UNKNOWN_TYPE, type->id.span, type->id.name,
                                "there is no element type `%s`", type->id.name);
  if (!m) return;
  if (odd_width(type->id.name)) {
    const char *right = nst_arena_printf(ck->arena, "bits(%d)", odd_width(type->id.name));
    nst_diag_help(ck->diags, m, "did you mean `%s`?", right);
    nst_diag_fix(ck->diags, m, type->id.span, right);
    return;
  }
  for (size_t i = 0; i < sizeof foreign_types / sizeof *foreign_types; i++) {
    if (strcmp(foreign_types[i].other, type->id.name) != 0) continue;
    nst_diag_help(ck->diags, m, "did you mean `%s`?", foreign_types[i].ours);
    nst_diag_fix(ck->diags, m, type->id.span, foreign_types[i].ours);
    return;
  }
  nst_candidates c = {0};
  nst_symtab names = {0};
  for (int i = 0; i < NTYPES; i++)
    nst_symtab_add(ck->arena, &names, nst_intern_cstr(ck->interner, types[i].name), (nst_span){0});
  nst_candidates_add(ck->arena, &c, &names);
  if (!nst_suggest(ck->diags, m, type->id.span, type->id.name, &c))
    nst_diag_help(ck->diags, m, "types: int4 … int64, uint4 … uint64, fp8, fp16, bf16, fp32, fp64, bits(N)");
}

static bool check_type(nst_workload_check *c, const nst_ast_type *type, nst_ir_tensor *out) {
  nst_checker *ck = c->ck;
  if (!type) {
    out->type = nst_intern_cstr(ck->interner, "fp16");
    out->bits = nst_typed_const(ck, out->span, nst_rat_int(16)).x;
    return true;
  }
  if (!type->id.name) return false;
  if (type->bits) {
    out->bits = nst_check_number(&c->scope, type->bits, NST_UNIT_NONE, "the number of bits");
    const nst_source *src = nst_sources_get(ck->sources, type->span.source);
    int64_t n;
    if (nst_expr_is_const(out->bits) && nst_rat_to_i64(&n, out->bits->value))
      out->type = nst_intern_cstr(ck->interner, nst_arena_printf(ck->arena, "bits(%lld)", (long long)n));
    else if (src)
      out->type = nst_intern(ck->interner, src->text + type->span.begin, type->span.end - type->span.begin);
    return out->bits && nst_check_positive(ck, out->bits, "the number of bits");
  }
  for (int i = 0; i < NTYPES; i++) {
    if (strcmp(types[i].name, type->id.name) != 0) continue;
    out->type = type->id.name;
    out->bits = nst_typed_const(ck, type->span, nst_rat_int(types[i].bits)).x;
    return true;
  }
  if (strcmp(type->id.name, "bits") == 0) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_UNKNOWN_TYPE, type->span, "`bits` needs a number of bits");
    nst_diag_help(ck->diags, m, "as in `bits(12)`");
    return false;
  }
  say_unknown_type(ck, type);
  return false;
}

static int add_tensor(nst_workload_check *c, nst_name name, nst_span span, bool declared) {
  if (c->tensors.len >= NST_MAX_TENSORS) {
    if (!c->full)
      nst_diag_add(c->ck->diags, NST_D_TOO_MANY, span, "a workload has at most %d tensors", NST_MAX_TENSORS);
    c->w->incomplete = c->full = true;
    return -1;
  }
  int i = (int)c->tensors.len;
  *nst_vec_push(c->ck->arena, &c->tensors) = (nst_ir_tensor){.name = name, .span = span, .nranks = -1};
  *nst_vec_push(c->ck->arena, &c->uses) = (nst_tensor_use){.declared = declared ? span : (nst_span){0}, .writer = -1};
  return i;
}

static bool check_shape(nst_workload_check *c, const nst_ast_tensor *t, nst_ir_tensor *out) {
  bool ok = true;
  if (!t->has_shape) return true;
  int n = 0, i = 0;
  for (const nst_ast_arg *a = t->shape; a; a = a->next) n++;
  out->nranks = n;
  out->shape = NST_NEW_ARRAY(c->ck->arena, n, const nst_expr *);
  for (const nst_ast_arg *a = t->shape; a; a = a->next, i++) {
    if (!a->value) continue;
    out->shape[i] = nst_check_number(&c->scope, a->value, NST_UNIT_NONE, "the size of a rank");
    ok = out->shape[i] && nst_check_positive(c->ck, out->shape[i], "the size of a rank") && ok;
  }
  return ok;
}

static void declare_tensors(nst_workload_check *c, const nst_ast_tensor *list) {
  nst_fe_workload *w = c->w;
  const nst_ast_type *last = NULL;
  nst_ir_tensor typed = {0};
  bool type_ok = true;
  for (const nst_ast_tensor *t = list; t; t = t->next) {
    if (!t->id.name) {
      w->ok = false;
      w->incomplete = true;
      continue;
    }
    nst_symbol *sym = nst_symtab_declare(c->ck->arena, c->ck->diags, &w->tensors, t->id.name, t->id.span, "a tensor");
    int index = sym ? add_tensor(c, t->id.name, t->id.span, true) : -1;
    if (sym) sym->index = index;
    if (index < 0) {
      if (sym) w->tensors.len--;
      w->ok = false;
      continue;
    }
    nst_ir_tensor *out = &c->tensors.items[index];
    if (!t->type || t->type != last) {
      typed.span = t->id.span;
      type_ok = check_type(c, t->type, &typed); /* once for all the names before it */
      last = t->type;
    }
    out->type = typed.type;
    out->bits = typed.bits;
    bool shape_ok = check_shape(c, t, out);
    w->ok = w->ok && type_ok && shape_ok;
    if (t->has_shape) c->uses.items[index].ranked = t->id.span;
  }
}

int nst_workload_tensor(nst_workload_check *c, const nst_ast_ident *id, int nranks, nst_span span) {
  if (!id->name) return -1;
  nst_symbol *sym = nst_symtab_find(&c->w->tensors, id->name);
  int index = sym ? sym->index : add_tensor(c, id->name, id->span, false);
  if (index < 0) return -1;
  nst_ir_tensor *t = &c->tensors.items[index];
  if (!sym) {
    nst_symtab_add(c->ck->arena, &c->w->tensors, id->name, id->span)->index = index;
    check_type(c, NULL, t);
  }
  if (t->nranks < 0) {
    t->nranks = nranks;
    c->uses.items[index].ranked = span;
  }
  if (t->nranks == nranks) return index;
  nst_diag *m = nst_diag_add(c->ck->diags, NST_D_RANK_COUNT, span, "`%s` has %d rank%s here and %d elsewhere", id->name,
                             nranks, nranks == 1 ? "" : "s", t->nranks);
  nst_diag_label(c->ck->diags, m, c->uses.items[index].ranked, "%d rank%s here", t->nranks, t->nranks == 1 ? "" : "s");
  return -1;
}

/* ---- the whole ---- */

static void check_unused(nst_workload_check *c) {
  nst_fe_workload *w = c->w;
  for (int d = 0; d < w->ir.ndims; d++) {
    if (c->used.in[d]) continue;
    w->ok = false;
    nst_diag *m = nst_diag_add(c->ck->diags, NST_D_DIM_UNUSED, w->ir.dims[d].span,
                               "no statement uses the dimension `%s`", w->ir.dims[d].name);
    nst_diag_help(c->ck->diags, m, "use it in a rank, or remove it");
  }
  for (size_t i = 0; i < c->tensors.len; i++) {
    const nst_ir_tensor *t = &c->tensors.items[i];
    if (c->uses.items[i].writer >= 0 || c->uses.items[i].readers > 0) continue;
    w->ok = false;
    nst_diag *m =
      nst_diag_add(c->ck->diags, NST_D_TENSOR_UNUSED, t->span, "no statement reads or writes the tensor `%s`", t->name);
    if (!nst_diag_is_kept(c->ck->diags, m)) continue;
    nst_candidates cand = {0};
    for (size_t k = 0; k < c->tensors.len; k++) { /* a misspelt use made a tensor of its own */
      if (c->uses.items[k].declared.source) continue;
      nst_symtab one = {&(nst_symbol){.name = c->tensors.items[k].name}, 1, 1, NULL, 0};
      nst_candidates_add(c->ck->arena, &cand, &one);
    }
    nst_name near = nst_diags_nearest(c->ck->diags, t->name, cand.items, cand.len);
    const nst_symbol *sym = near ? nst_symtab_find(&w->tensors, near) : NULL;
    if (sym) {
      nst_diag_label(c->ck->diags, m, sym->span, "did you mean `%s` here?", t->name);
      nst_diag_fix(c->ck->diags, m, sym->span, t->name);
    } else {
      nst_diag_help(c->ck->diags, m, "use it in a statement, or remove it");
    }
  }
}

/* Statements whose results are ready go first; those left over need each other. */
static void check_cycles(nst_workload_check *c) {
  int n = (int)c->stmts.len, left = n;
  bool *done = NST_NEW_ARRAY(c->ck->arena, n, bool), progress = true;
  while (progress && left) {
    progress = false;
    for (int s = 0; s < n; s++) {
      bool ready = !done[s];
      for (int a = 0; a < c->stmts.items[s].nin && ready; a++) {
        int writer = c->uses.items[c->stmts.items[s].in[a].tensor].writer;
        ready = writer < 0 || done[writer];
      }
      if (!ready) continue;
      done[s] = progress = true;
      left--;
    }
  }
  if (!left) return;
  int first = 0;
  while (done[first]) first++;
  c->w->ok = false;
  c->w->circular = true;
  nst_diag *m =
    nst_diag_add(c->ck->diags, NST_D_STATEMENT_CYCLE, c->stmts.items[first].span, "`%s` is needed to compute itself",
                 c->tensors.items[c->stmts.items[first].out.tensor].name);
  for (int s = first + 1; s < n; s++)
    if (!done[s])
      nst_diag_label(c->ck->diags, m, c->stmts.items[s].span, "this statement is part of the circle or behind it");
}

static void set_roles(nst_workload_check *c) {
  for (size_t i = 0; i < c->tensors.len; i++) {
    nst_ir_tensor *t = &c->tensors.items[i];
    t->role = c->uses.items[i].writer < 0 ? NST_ROLE_INPUT
              : c->uses.items[i].readers  ? NST_ROLE_INTERMEDIATE
                                          : NST_ROLE_OUTPUT;
    if (t->nranks < 0) t->nranks = 0;
  }
}

static void check_at_defaults(nst_workload_check *c) {
  nst_fe_workload *w = c->w;
  nst_defaults d;
  if (!nst_defaults_make(c->ck, w->params.items, w->params.n, NULL, 0, &d)) w->ok = false;
  for (int i = 0; i < w->ir.ndims; i++)
    w->ok = nst_defaults_check(&d, w->ir.dims[i].extent, 1, (nst_span){0},
                               nst_arena_printf(c->ck->arena, "the size of `%s`", w->ir.dims[i].name)) &&
            w->ok;
  for (size_t i = 0; i < c->tensors.len; i++) {
    const nst_ir_tensor *t = &c->tensors.items[i];
    w->ok = nst_defaults_check(&d, t->bits, 1, (nst_span){0}, "the number of bits") && w->ok;
    for (int r = 0; t->shape && r < t->nranks; r++)
      w->ok = nst_defaults_check(&d, t->shape[r], 1, (nst_span){0}, "the size of a rank") && w->ok;
  }
  for (size_t s = 0; s < c->stmts.len; s++) {
    for (int a = -1; a < c->stmts.items[s].nin; a++) {
      const nst_ir_access *access = a < 0 ? &c->stmts.items[s].out : &c->stmts.items[s].in[a];
      for (int r = 0; r < access->nranks; r++) {
        for (int k = 0; k < access->ranks[r].nterms; k++)
          w->ok =
            nst_defaults_check(&d, access->ranks[r].terms[k].coef, INT64_MIN, (nst_span){0}, "a coefficient") && w->ok;
        w->ok = nst_defaults_check(&d, access->ranks[r].offset, INT64_MIN, (nst_span){0}, "an offset") && w->ok;
      }
    }
  }
}

nst_fe_workload *nst_check_workload(nst_checker *ck, nst_module *m, const nst_ast_decl *decl) {
  nst_fe_workload *w = NST_NEW(ck->arena, nst_fe_workload);
  *w = (nst_fe_workload){.decl = decl, .module = m, .ok = true, .incomplete = nst_decl_incomplete(ck, decl)};
  nst_check_params(ck, m, decl, true, false, &w->params);
  nst_workload_check *c = NST_NEW(ck->arena, nst_workload_check);
  *c = (nst_workload_check){.ck = ck, .w = w};
  c->scope = (nst_scope){.ck = ck,
                         .frames = {&w->params.names},
                         .nframes = 1,
                         .module = m,
                         .what = "a workload",
                         .dims = &w->dims,
                         .tensors = &w->tensors,
                         .incomplete = w->incomplete};
  declare_dims(c);
  size_dims(c);
  for (const nst_ast_witem *i = decl->workload; i; i = i->next)
    if (i->kind == NST_WITEM_TENSOR) declare_tensors(c, i->tensors);
  size_t before = nst_diags_errors(ck->diags);
  bool any = false;
  for (const nst_ast_witem *i = decl->workload; i; i = i->next) {
    if (i->kind != NST_WITEM_STATEMENT) continue;
    any = true;
    w->ok = nst_check_statement(c, i) && w->ok;
  }
  if (!any && !w->incomplete) {
    nst_diag *d =
      nst_diag_add(ck->diags, NST_D_NO_STATEMENT, decl->id.span, "the workload `%s` has no statement", decl->id.name);
    nst_diag_help(ck->diags, d, "as in `C[m, n] += A[m, k] * B[k, n]`");
    w->ok = false;
  } else if (!w->incomplete && nst_diags_errors(ck->diags) == before) {
    check_unused(c);
    check_cycles(c);
  }
  set_roles(c);
  if (w->ok) check_at_defaults(c);
  w->ok = w->ok && !w->incomplete;
  w->ir.name = decl->id.name;
  w->ir.span = decl->head;
  w->ir.tensors = c->tensors.items;
  w->ir.ntensors = (int)c->tensors.len;
  w->ir.stmts = c->stmts.items;
  w->ir.nstmts = (int)c->stmts.len;
  return w;
}

/* ---- copies for mappings ---- */

static nst_ir_access instantiate_access(nst_checker *ck, const nst_ir_access *a, int base) {
  nst_ir_access out = *a;
  out.ranks = NST_NEW_ARRAY(ck->arena, a->nranks, nst_ir_rank);
  for (int r = 0; r < a->nranks; r++) {
    out.ranks[r] = a->ranks[r];
    out.ranks[r].terms = NST_NEW_ARRAY(ck->arena, a->ranks[r].nterms, nst_ir_term);
    for (int t = 0; t < a->ranks[r].nterms; t++)
      out.ranks[r].terms[t] =
        (nst_ir_term){a->ranks[r].terms[t].dim, nst_expr_rebase(ck, a->ranks[r].terms[t].coef, base)};
    out.ranks[r].offset = nst_expr_rebase(ck, a->ranks[r].offset, base);
  }
  return out;
}

void nst_instantiate_workload(nst_checker *ck, const nst_fe_workload *w, int base, nst_ir_workload *out) {
  *out = w->ir;
  if (!w->params.n) return;
  out->dims = NST_NEW_ARRAY(ck->arena, out->ndims, nst_ir_dim);
  for (int i = 0; i < out->ndims; i++)
    out->dims[i] =
      (nst_ir_dim){w->ir.dims[i].name, w->ir.dims[i].span, nst_expr_rebase(ck, w->ir.dims[i].extent, base)};
  out->tensors = NST_NEW_ARRAY(ck->arena, out->ntensors, nst_ir_tensor);
  for (int i = 0; i < out->ntensors; i++) {
    nst_ir_tensor *t = &out->tensors[i];
    *t = w->ir.tensors[i];
    t->bits = nst_expr_rebase(ck, t->bits, base);
    if (!t->shape) continue;
    t->shape = NST_NEW_ARRAY(ck->arena, t->nranks, const nst_expr *);
    for (int r = 0; r < t->nranks; r++) t->shape[r] = nst_expr_rebase(ck, w->ir.tensors[i].shape[r], base);
  }
  out->stmts = NST_NEW_ARRAY(ck->arena, out->nstmts, nst_ir_stmt);
  for (int i = 0; i < out->nstmts; i++) {
    nst_ir_stmt *s = &out->stmts[i];
    *s = w->ir.stmts[i];
    s->out = instantiate_access(ck, &s->out, base);
    s->in = NST_NEW_ARRAY(ck->arena, s->nin, nst_ir_access);
    for (int a = 0; a < s->nin; a++) s->in[a] = instantiate_access(ck, &w->ir.stmts[i].in[a], base);
  }
}
