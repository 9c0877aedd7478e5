/* Hardware: the levels, outermost first, and their attributes.
 *
 * The result is a template over the hardware's own parameters. All levels share
 * one namespace; the axes of an array have one of their own. */
#include "frontend/check.h"

static bool check_axes(nst_scope *s, const nst_ast_hitem *item, nst_ir_level *level) {
  nst_checker *ck = s->ck;
  bool ok = true;
  nst_symtab names = {0};
  int n = 0;
  for (const nst_ast_param *p = item->axes; p; p = p->next) n++;
  level->axes = NST_NEW_ARRAY(ck->arena, n, nst_ir_axis);
  for (const nst_ast_param *p = item->axes; p; p = p->next) {
    if (!p->id.name) {
      ok = false;
      continue;
    }
    nst_symbol *sym = nst_symtab_declare(ck->arena, ck->diags, &names, p->id.name, p->id.span, "an axis");
    const char *what = nst_arena_printf(ck->arena, "the size of axis `%s`", p->id.name);
    const nst_expr *size = p->value ? nst_check_number(s, p->value, NST_UNIT_NONE, what) : NULL;
    if (size && !nst_check_positive(ck, size, what)) size = NULL;
    ok = ok && sym && size;
    if (sym) level->axes[level->naxes++] = (nst_ir_axis){p->id.name, p->id.span, size};
  }
  return ok && n > 0; /* none: a syntax error, reported */
}

static bool check_level(nst_scope *s, nst_fe_hardware *h, const nst_ast_hitem *item, bool has_clock) {
  nst_checker *ck = s->ck;
  if (!item->id.name) {
    h->incomplete = true;
    return false;
  }
  if (h->ir.nlevels >= NST_MAX_LEVELS) {
    if (!h->incomplete)
      nst_diag_add(ck->diags, NST_D_TOO_MANY, item->id.span, "hardware has at most %d levels", NST_MAX_LEVELS);
    h->incomplete = true;
    return false;
  }
  nst_symbol *sym = nst_symtab_declare(ck->arena, ck->diags, &h->levels, item->id.name, item->id.span, "a level");
  nst_ir_level level = {
    .name = item->id.name, .span = item->id.span, .overlap = true, .multicast = true, .reduce = true};
  level.kind = item->kind == NST_HITEM_MEMORY  ? NST_LEVEL_MEMORY
               : item->kind == NST_HITEM_ARRAY ? NST_LEVEL_ARRAY
                                               : NST_LEVEL_COMPUTE;
  bool ok = level.kind != NST_LEVEL_ARRAY || check_axes(s, item, &level);
  nst_fe_holds holds = {0};
  ok = nst_check_attrs(s, item->attrs, &level, &holds, h->ir.clock, has_clock) && ok;
  if (!sym) return false;
  sym->index = h->ir.nlevels;
  h->holds[h->ir.nlevels] = holds;
  h->ir.levels[h->ir.nlevels++] = level;
  return ok;
}

nst_fe_hardware *nst_check_hardware(nst_checker *ck, nst_module *m, const nst_ast_decl *decl) {
  nst_fe_hardware *h = NST_NEW(ck->arena, nst_fe_hardware);
  *h = (nst_fe_hardware){.decl = decl, .module = m, .incomplete = nst_decl_incomplete(ck, decl)};
  nst_check_params(ck, m, decl, false, false, &h->params);
  nst_scope scope = {
    .ck = ck, .frames = {&h->params.names}, .nframes = 1, .module = m, .what = "hardware", .incomplete = h->incomplete};
  int n = 0, memories = 0, computes = 0;
  for (const nst_ast_hitem *i = decl->hardware; i; i = i->next) n++;
  if (n > NST_MAX_LEVELS) n = NST_MAX_LEVELS;
  h->ir.levels = NST_NEW_ARRAY(ck->arena, n, nst_ir_level);
  h->holds = NST_NEW_ARRAY(ck->arena, n, nst_fe_holds);
  h->ir.name = decl->id.name;
  h->ir.span = decl->head;
  bool has_clock;
  h->ok = nst_check_clock(&scope, decl->hardware, &h->ir.clock, &has_clock);
  has_clock = has_clock || h->incomplete;
  for (const nst_ast_hitem *i = decl->hardware; i; i = i->next) {
    if (i->kind == NST_HITEM_ATTR) continue;
    memories += i->kind == NST_HITEM_MEMORY;
    computes += i->kind == NST_HITEM_COMPUTE;
    h->ok = check_level(&scope, h, i, has_clock) && h->ok;
  }
  if (!h->incomplete && !memories) {
    nst_diag *d =
      nst_diag_add(ck->diags, NST_D_NO_MEMORY, decl->id.span, "the hardware `%s` has no memory", decl->id.name);
    nst_diag_help(ck->diags, d, "add at least an outermost one, as in `memory DRAM`");
    h->ok = false;
  }
  if (!h->incomplete && !computes) {
    nst_diag *d =
      nst_diag_add(ck->diags, NST_D_NO_COMPUTE, decl->id.span, "the hardware `%s` has no compute unit", decl->id.name);
    nst_diag_help(ck->diags, d, "add one as its innermost level, as in `compute MAC`");
    h->ok = false;
  }
  h->incomplete = h->incomplete || !memories; /* what is missed in mappings on it follows from that */
  nst_defaults defaults;
  if (h->ok) h->ok = nst_defaults_make(ck, h->params.items, h->params.n, NULL, 0, &defaults);
  for (int l = 0; h->ok && l < h->ir.nlevels; l++)
    for (int a = 0; a < h->ir.levels[l].naxes; a++)
      h->ok = nst_defaults_check(&defaults, h->ir.levels[l].axes[a].size, 1, (nst_span){0},
                                 nst_arena_printf(ck->arena, "the size of axis `%s`", h->ir.levels[l].axes[a].name)) &&
              h->ok;
  h->ok = h->ok && !h->incomplete;
  return h;
}

void nst_instantiate_hardware(nst_checker *ck, const nst_fe_hardware *h, int base, nst_ir_hardware *out) {
  *out = h->ir;
  if (!h->params.n) return;
  out->clock = nst_expr_rebase(ck, out->clock, base);
  out->levels = NST_NEW_ARRAY(ck->arena, out->nlevels, nst_ir_level);
  for (int i = 0; i < out->nlevels; i++) {
    nst_ir_level *l = &out->levels[i];
    *l = h->ir.levels[i];
    const nst_expr **fields[] = {&l->capacity,    &l->bandwidth,    &l->read_bandwidth, &l->write_bandwidth,
                                 &l->read_energy, &l->write_energy, &l->leakage,        &l->area,
                                 &l->energy,      &l->rate};
    for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) *fields[f] = nst_expr_rebase(ck, *fields[f], base);
    l->axes = NST_NEW_ARRAY(ck->arena, l->naxes, nst_ir_axis);
    for (int a = 0; a < l->naxes; a++) {
      l->axes[a] = h->ir.levels[i].axes[a];
      l->axes[a].size = nst_expr_rebase(ck, l->axes[a].size, base);
    }
  }
}
