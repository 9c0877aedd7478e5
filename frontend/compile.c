/* The frontend from top to bottom: parse, load, check, and gather the program.
 *
 * A module's constants, workloads, hardware and models come before its
 * mappings, so that the order of declarations does not matter. Tests, verify
 * blocks and sweeps are those of the main file only; mappings and models of
 * what it uses are part of the program too, behind its own. */
#include "frontend/compile.h"

#include "frontend/check.h"
#include "grammar/parse.h"

enum { FUEL = 4000000, BYTES_PER_STEP = 16 };

uint64_t nst_checker_steps(const nst_checker *ck) {
  return (nst_checker_bytes(ck) - ck->arena_before) / BYTES_PER_STEP + (ck->fuel_given - ck->fuel) + ck->spent;
}

bool nst_checker_goes_on(nst_checker *ck, const nst_ast_decl *decl) {
  if (ck->starved || nst_checker_steps(ck) <= ck->steps) return !ck->starved;
  ck->starved = true;
  if (nst_diags_limit(ck->diags)) return false; /* an expression has said it, at its place */
  nst_diag *d = nst_diag_add(ck->diags, NST_D_OUT_OF_FUEL, decl->head, "checking up to here takes more steps than are allowed");
  nst_diag_help(ck->diags, d, "fewer declarations, or smaller ones, are checked in fewer steps");
  return false;
}

static void check_constants(nst_checker *ck, nst_module *m) {
  for (size_t i = 0; i < m->names[NST_NS_CONST].len && !ck->starved; i++) {
    const nst_symbol *sym = &m->names[NST_NS_CONST].items[i];
    nst_typed unused;
    nst_module_const(ck, m, NULL, sym->name, sym->span, &unused);
    nst_checker_goes_on(ck, ((nst_decl_entry *)sym->object)->decl);
  }
}

/* A workload or hardware: from the head, or checked and added to the one that is made. */
static void check_template(nst_checker *ck, nst_module *m, nst_namespace ns, size_t i, const nst_checked_head *head,
                           nst_head_maker *maker) {
  nst_decl_entry *entry = m->names[ns].items[i].object;
  if (head) {
    entry->checked = nst_head_take(ck, head, ns, i);
    return;
  }
  nst_head_before(maker, ck);
  if (ns == NST_NS_WORKLOAD) entry->checked = nst_check_workload(ck, m, entry->decl);
  else entry->checked = nst_check_hardware(ck, m, entry->decl);
  nst_head_add(maker, ck, ns, i, entry->checked);
}

void nst_module_check(nst_checker *ck, nst_module *m) {
  check_constants(ck, m);
  const nst_checked_head *head = nst_head_usable(ck, m);
  nst_head_maker maker = head ? (nst_head_maker){0} : nst_head_begin(ck, m);
  static const nst_namespace order[] = {NST_NS_WORKLOAD, NST_NS_HARDWARE, NST_NS_MODEL, NST_NS_MAPPING};
  for (size_t o = 0; o < sizeof order / sizeof *order; o++) {
    for (size_t i = 0; i < m->names[order[o]].len && !ck->starved; i++) {
      nst_decl_entry *entry = m->names[order[o]].items[i].object;
      switch (order[o]) {
      case NST_NS_WORKLOAD:
      case NST_NS_HARDWARE: check_template(ck, m, order[o], i, head, &maker); break;
      case NST_NS_MODEL: entry->checked = nst_check_model(ck, m, entry->decl); break;
      case NST_NS_MAPPING: entry->checked = nst_check_mapping(ck, m, entry->decl); break;
      case NST_NS_CONST:
      case NST_NS_SWEEP:
      case NST_NS_COUNT: break;
      }
      nst_checker_goes_on(ck, entry->decl);
    }
  }
  if (m->file == ck->main) nst_head_end(&maker, ck);
}

typedef struct {
  nst_checker *ck;
  NST_VEC(nst_ir_mapping *) mappings;
  NST_VEC(nst_ir_model) models;
} gatherer;

static void gather_module(gatherer *g, nst_module *m, bool imported) {
  for (size_t i = 0; i < m->names[NST_NS_MAPPING].len; i++) {
    nst_fe_mapping *mapping = ((nst_decl_entry *)m->names[NST_NS_MAPPING].items[i].object)->checked;
    if (!mapping || !mapping->ok || mapping->index >= 0) continue;
    mapping->index = (int)g->mappings.len;
    mapping->ir->imported = imported;
    *nst_vec_push(g->ck->arena, &g->mappings) = mapping->ir;
  }
  for (size_t i = 0; i < m->names[NST_NS_MODEL].len; i++) {
    nst_fe_model *model = ((nst_decl_entry *)m->names[NST_NS_MODEL].items[i].object)->checked;
    if (!model || !model->ok || model->index >= 0) continue;
    model->index = (int)g->models.len;
    *nst_vec_push(g->ck->arena, &g->models) = model->ir;
  }
}

/* `holds` of each machine against the tensors of all that is mapped onto it. */
static void warn_holds(nst_checker *ck, nst_module *m) {
  NST_VEC(nst_fe_mapping *) mappings = {0};
  for (size_t i = 0; i <= m->imports.len; i++) {
    nst_module *from = i ? m->imports.items[i - 1].module : m;
    for (size_t k = 0; from && k < from->names[NST_NS_MAPPING].len; k++) {
      nst_fe_mapping *mapping = ((nst_decl_entry *)from->names[NST_NS_MAPPING].items[k].object)->checked;
      if (mapping) *nst_vec_push(ck->arena, &mappings) = mapping;
    }
  }
  for (size_t i = 0; i <= m->imports.len; i++) {
    nst_module *from = i ? m->imports.items[i - 1].module : m;
    for (size_t k = 0; from && !from->is_std && k < from->names[NST_NS_HARDWARE].len; k++) {
      nst_fe_hardware *h = ((nst_decl_entry *)from->names[NST_NS_HARDWARE].items[k].object)->checked;
      if (h && !h->incomplete) nst_warn_holds(ck, h, mappings.items, mappings.len);
    }
  }
}

static void lower_questions(nst_checker *ck, nst_module *m, nst_ir_program *p) {
  int tests = 0, verifies = 0, sweeps = 0;
  for (const nst_ast_decl *d = m->file->decls; d; d = d->next) {
    tests += d->kind == NST_DECL_TEST;
    verifies += d->kind == NST_DECL_VERIFY;
    sweeps += d->kind == NST_DECL_SWEEP;
  }
  p->tests = NST_NEW_ARRAY(ck->arena, tests, nst_ir_test);
  p->verifies = NST_NEW_ARRAY(ck->arena, verifies, nst_ir_verify);
  p->sweeps = NST_NEW_ARRAY(ck->arena, sweeps, nst_ir_sweep);
  for (const nst_ast_decl *d = m->file->decls; d && nst_checker_goes_on(ck, d); d = d->next) {
    if (d->kind == NST_DECL_TEST) p->ntests += nst_lower_test(ck, m, d, &p->tests[p->ntests]);
    if (d->kind == NST_DECL_VERIFY) p->nverifies += nst_lower_verify(ck, m, d, &p->verifies[p->nverifies]);
    if (d->kind == NST_DECL_SWEEP) p->nsweeps += nst_lower_sweep(ck, m, d, &p->sweeps[p->nsweeps]);
  }
}

nst_ir_program *nst_frontend_check(nst_arena *arena, nst_interner *interner, nst_sources *sources, nst_diags *diags,
                                   const nst_frontend_options *options, const nst_ast_file *file) {
  nst_checker ck = {
    .arena = arena, .interner = interner, .sources = sources, .diags = diags, .options = options, .fuel = FUEL,
    .steps = options && options->fuel ? options->fuel : NST_FUEL_UNLIMITED};
  ck.arena_before = nst_checker_bytes(&ck);
  if (ck.fuel > ck.steps) ck.fuel = ck.steps;
  ck.fuel_given = ck.fuel;
  if (!file) return NULL;
  ck.main = file;
  const nst_source *src = nst_sources_get(sources, file->source);
  nst_module *m = nst_module_load(&ck, file, src ? src->name : "", false);
  gatherer g = {.ck = &ck};
  gather_module(&g, m, false);
  for (size_t i = 0; i < m->imports.len; i++)
    if (m->imports.items[i].module) gather_module(&g, m->imports.items[i].module, true);
  warn_holds(&ck, m);
  nst_ir_program *p = NST_NEW(arena, nst_ir_program);
  lower_questions(&ck, m, p);
  p->mappings = g.mappings.items;
  p->nmappings = (int)g.mappings.len;
  p->models = g.models.items;
  p->nmodels = (int)g.models.len;
  return nst_diags_errors(diags) ? NULL : p;
}

nst_ir_program *nst_frontend_compile(nst_arena *arena, nst_interner *interner, nst_sources *sources, nst_diags *diags,
                                     const nst_frontend_options *options, uint32_t source) {
  const nst_ast_file *file = nst_parse(arena, interner, sources, source, diags);
  return nst_frontend_check(arena, interner, sources, diags, options, file);
}
