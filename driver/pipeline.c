/* The pipeline, top to bottom. Compiling: text -> syntax tree -> checked IR.
 * Evaluating: IR and parameters -> numbers -> counters -> figures. Each arrow is
 * one call into one directory; every stage can be dumped (emit.c). What is
 * wrong is in the diagnostics, and the pipeline stops at the first stage that
 * could not be completed. */
#include "driver/pipeline.h"
#include "grammar/parse.h"
#include "stdlib/stdlib.h"

#include <string.h>

static bool find_module(void *context, size_t i, const char **name, const char **text, size_t *len) {
  (void)context;
  if (i >= nst_stdlib_count) return false;
  *name = nst_stdlib_entries[i].name;
  *text = nst_stdlib_entries[i].text;
  *len = nst_stdlib_entries[i].len;
  return true;
}

/* A file through the caller's loader. */
static bool load_file(void *context, const char *path, nst_buffer *out) {
  const nst_settings *settings = context;
  nestor_buffer text = {*out};
  const bool ok = settings->loader(settings->loader_context, path, &text);
  *out = text.text;
  return ok;
}

static void note_empty(nestor_program *p) {
  nst_diag *d = nst_diag_add(p->diags, NST_D_FILE_EMPTY, (nst_span){p->source, 0, 0},
                             "the file declares nothing: no workload, hardware or mapping");
  nst_diag_help(p->diags, d, "a program starts with `workload NAME { ... }`");
}

static void list_declarations(nestor_program *p) {
  nst_syntax *syntax = p->syntax;
  if (nst_diags_errors(p->diags)) return;
  for (const nst_ast_decl *d = syntax->file->decls; d; d = d->next) syntax->ndecls++;
  syntax->decls = NST_NEW_ARRAY(p->arena, syntax->ndecls, const nst_ast_decl *);
  size_t i = 0;
  for (const nst_ast_decl *d = syntax->file->decls; d; d = d->next) syntax->decls[i++] = d;
}

bool nst_pipeline_is_base(const nestor_program *base, const char *text, size_t size) {
  const nst_source *source = base && base->syntax ? nst_sources_get(base->sources, base->source) : NULL;
  return source && source->len <= size && !memcmp(source->text, text, source->len) && base->syntax->clean &&
         nst_parse_ends(base->syntax->file, source);
}

bool nst_pipeline_compile(nestor_program *p, const nestor_program *base, const char *name, const char *text, size_t size) {
  /* text */
  if (size > p->settings.limits.source_bytes) {
    nst_diag_add(p->diags, NST_D_FILE_TOO_LARGE, (nst_span){0}, "%s has %zu bytes; a source may have %llu", name, size,
                 (unsigned long long)p->settings.limits.source_bytes);
    return true;
  }
  p->source = nst_sources_add(p->sources, name, text, size);

  /* text -> syntax tree */
  p->syntax = NST_NEW(p->arena, nst_syntax);
  p->syntax->file = base ? nst_parse_behind(p->arena, p->interner, p->sources, p->source, p->diags, base->syntax->file,
                                            (uint32_t)nst_sources_get(base->sources, base->source)->len)
                         : nst_parse(p->arena, p->interner, p->sources, p->source, p->diags);
  if (!p->syntax->file) return false;
  p->syntax->clean = !nst_diags_count(p->diags);
  list_declarations(p);
  if (p->stage == NESTOR_STAGE_PARSE) return true;
  if (!p->syntax->file->decls && !nst_diags_errors(p->diags)) note_empty(p);

  /* syntax tree -> checked IR */
  const nst_frontend_options options = {
    .module = p->settings.stdlib ? find_module : NULL,
    .load = p->settings.loader ? load_file : NULL,
    .load_ctx = &p->settings,
    .fuel = p->settings.limits.fuel,
    .head = base ? base->syntax->head : NULL,
    .made = &p->syntax->head,
  };
  p->ir = nst_frontend_check(p->arena, p->interner, p->sources, p->diags, &options, p->syntax->file);

  /* is the IR what the engines expect? */
  for (int i = 0; p->ir && i < p->ir->nmappings; i++) {
    const char *fault = nst_ir_verify_mapping(p->arena, p->ir->mappings[i]);
    if (!fault) continue;
    nst_diag_add(p->diags, NST_D_INTERNAL, p->ir->mappings[i]->span, "a fault of the compiler: %s", fault);
    p->ir = NULL;
  }
  return true;
}

/* ---- evaluating ---- */

static bool analyse(nestor_eval *e, nst_counts *out, nst_diags *diags) {
  if (!e->analysis) e->analysis = nst_analysis_new_within(e->ir, e->fuel);
  const bool good = nst_analysis_count(e->analysis, e->nest, out, diags);
  e->starved = !good && nst_fuel_is_out(e->fuel);
  return good;
}

static bool simulate(nestor_eval *e, nst_counts *out, nst_diags *diags) {
  return nst_simulate(e->nest, out, e->program->settings.limits.simulate_work, diags);
}

static bool run_native(nestor_eval *e, nst_counts *out, nst_diags *diags) {
  if (!e->native) e->native = nst_native_new(e->program, e->ir, diags);
  if (!e->native) return false;
  switch (nst_native_count(e->native, e->params, out)) {
    case NST_NATIVE_OK: return true;
    case NST_NATIVE_ASK: return analyse(e, out, diags);
    case NST_NATIVE_INFEASIBLE:
      if (diags)
        nst_diag_add(diags, NST_D_ENGINES_DIFFER, e->ir->span, "the jit finds these parameters infeasible, the nest does not");
      return false;
  }
  return false;
}

static bool same_counts(nestor_eval *e, const char *engine, nst_diags *diags) {
  nst_arena *arena = nst_arena_new();
  const char *difference = nst_counts_diff(arena, e->ir, e->counts, e->other);
  if (difference && diags)
    nst_diag_add(diags, NST_D_ENGINES_DIFFER, e->ir->span, "the analysis and the %s differ: %s", engine, difference);
  nst_arena_free(arena);
  return !difference;
}

/* Whether the simulator refuses for the size alone; what it says is kept for a warning. */
static bool too_large_to_simulate(nestor_eval *e) {
  nst_arena *arena = nst_arena_new();
  nst_diags *diags = nst_diags_new(arena, e->program->sources);
  simulate(e, e->other, diags);
  const nst_diag *d = nst_diags_count(diags) ? nst_diags_get(diags, 0) : NULL;
  const bool large = d && d->id == NST_D_SIMULATE_LIMIT;
  if (large) e->not_simulated = nst_arena_strndup(e->arena, d->message, strlen(d->message));
  nst_arena_free(arena);
  return large;
}

static bool compare_all(nestor_eval *e, nst_diags *diags) {
  if (!e->other) e->other = nst_counts_new(e->arena, e->ir);
  if (!analyse(e, e->counts, diags)) return false;
  if (!simulate(e, e->other, NULL)) {
    if (!too_large_to_simulate(e)) return simulate(e, e->other, diags) && false;
  } else if (!same_counts(e, "simulator", diags)) {
    return false;
  }
  return run_native(e, e->other, diags) && same_counts(e, "jit", diags);
}

static bool count(nestor_eval *e, nestor_engine engine, nst_diags *diags) {
  switch (engine) {
    case NESTOR_ENGINE_ANALYSIS: return analyse(e, e->counts, diags);
    case NESTOR_ENGINE_SIMULATE: return simulate(e, e->counts, diags);
    case NESTOR_ENGINE_JIT: return run_native(e, e->counts, diags);
    case NESTOR_ENGINE_ALL: return compare_all(e, diags);
  }
  return false;
}

/* Every counter is made, shown and summed: that alone may be too much. */
static bool pay_for_counters(nestor_eval *e, nst_diags *diags) {
  const nst_ir_mapping *m = e->ir;
  const uint64_t counters = (uint64_t)m->workload.nstmts * (uint64_t)m->hardware.nlevels * (uint64_t)m->workload.ntensors;
  if (nst_fuel_spend(e->fuel, 2 * counters + (uint64_t)m->hardware.nlevels * (uint64_t)m->nslots)) return true;
  e->starved = true;
  if (diags) nst_tell_starved(diags, m);
  return false;
}

bool nst_pipeline_evaluate(nestor_eval *e, nestor_engine engine, nst_diags *diags) {
  e->fit_told = e->outside_told = e->starved = false;
  e->not_simulated = NULL;
  /* parameters -> numbers */
  e->nest = nst_nest_make(e->maker, e->params, diags);
  /* numbers -> counters -> figures */
  if (e->nest && !pay_for_counters(e, diags)) e->nest = NULL;
  if (e->nest && !e->counts) e->counts = nst_counts_new(e->arena, e->ir);
  if (e->nest &&
      (!count(e, engine, diags) || !nst_metrics_compute(&e->metrics, e->metrics.levels ? NULL : e->arena, e->nest, e->counts, diags)))
    e->nest = NULL;
  return e->nest != NULL;
}
