/* nestor_program: one compiled text and what it declares. */
#include "driver/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* NULL: it cannot be made on this base. */
static nestor_program *make(const nestor_session *session, const nestor_program *base, const char *name, const char *text,
                            size_t size, nestor_stage stage) {
  nestor_program *p = calloc(1, sizeof *p);
  if (!p) nst_out_of_memory();
  p->settings = session->settings;
  p->stage = stage;
  p->arena = nst_arena_new();
  if (p->settings.code_generator)
    p->settings.code_generator = nst_arena_strndup(p->arena, p->settings.code_generator,
                                                   strlen(p->settings.code_generator));
  if (p->settings.cache) p->settings.cache = nst_arena_strndup(p->arena, p->settings.cache, strlen(p->settings.cache));
  p->interner = base ? nst_interner_new_from(p->arena, base->interner) : nst_interner_new(p->arena);
  p->sources = nst_sources_new(p->arena);
  p->diags = nst_diags_new(p->arena, p->sources);
  if (!nst_pipeline_compile(p, base, name ? name : "<memory>", text, size)) return nestor_program_free(p), NULL;
  nst_diags_sort(p->diags);
  p->status = nst_diags_errors(p->diags) ? NESTOR_ERROR : NESTOR_OK;
  return p;
}

nestor_program *nestor_program_new(const nestor_session *session, const char *name, const char *text, size_t size,
                                   nestor_stage stage) {
  return make(session, NULL, name, text, size, stage);
}

nestor_program *nestor_program_new_on(const nestor_session *session, const nestor_program *base, const char *name,
                                      const char *text, size_t size, nestor_stage stage) {
  nestor_program *p = nst_pipeline_is_base(base, text, size) ? make(session, base, name, text, size, stage) : NULL;
  return p ? p : nestor_program_new(session, name, text, size, stage);
}

void nestor_program_free(nestor_program *program) {
  if (!program) return;
  nst_interner_free(program->interner);
  nst_arena_free(program->arena);
  free(program);
}

nestor_status nestor_program_status(const nestor_program *program) { return program->status; }

const nestor_diagnostics *nestor_program_diagnostics(const nestor_program *program) {
  return (const nestor_diagnostics *)(const void *)program->diags;
}

static const nst_ir_program *good_ir(const nestor_program *p) { return p->status == NESTOR_OK ? p->ir : NULL; }

size_t nestor_program_mappings(const nestor_program *program) {
  return good_ir(program) ? (size_t)program->ir->nmappings : 0;
}
size_t nestor_program_tests(const nestor_program *program) {
  return good_ir(program) ? (size_t)program->ir->ntests : 0;
}
size_t nestor_program_verifies(const nestor_program *program) {
  return good_ir(program) ? (size_t)program->ir->nverifies : 0;
}
size_t nestor_program_sweeps(const nestor_program *program) {
  return good_ir(program) ? (size_t)program->ir->nsweeps : 0;
}

size_t nestor_program_find(const nestor_program *program, const char *mapping) {
  for (size_t i = 0; i < nestor_program_mappings(program); i++)
    if (!strcmp(program->ir->mappings[i]->name, mapping)) return i;
  return SIZE_MAX;
}

const char *nestor_program_suggest(const nestor_program *program, const char *mapping) {
  const size_t n = nestor_program_mappings(program);
  nst_arena *arena = nst_arena_new();
  nst_name *names = NST_NEW_ARRAY(arena, n, nst_name);
  for (size_t i = 0; i < n; i++) names[i] = program->ir->mappings[i]->name;
  const char *near = n ? nst_name_nearest(mapping, names, n) : NULL;
  nst_arena_free(arena);
  return near;
}

bool nestor_program_mapping(const nestor_program *program, size_t mapping, nestor_mapping_info *out) {
  if (mapping >= nestor_program_mappings(program)) return false;
  const nst_ir_mapping *m = program->ir->mappings[mapping];
  *out = (nestor_mapping_info){m->name, m->workload.name, m->hardware.name, (size_t)m->scope.nparams};
  return true;
}

bool nestor_program_param(const nestor_program *program, size_t mapping, size_t param, nestor_param_info *out) {
  nestor_mapping_info info;
  if (!nestor_program_mapping(program, mapping, &info) || param >= info.params) return false;
  const nst_ir_mapping *m = program->ir->mappings[mapping];
  *out = (nestor_param_info){.name = m->scope.params[param].name, .default_value = NAN};
  /* Defaults may use parameters before them: all up to this one are needed. */
  nst_value *values = calloc(info.params, sizeof *values);
  if (!values) nst_out_of_memory();
  nst_ir_mapping head = *m;
  head.scope.nparams = (int)param + 1;
  if (nst_nest_defaults(values, NULL, &head, NULL) && values[param].kind != NST_VALUE_BOOL) {
    out->has_default = true;
    out->default_value =
      values[param].kind == NST_VALUE_RAT ? nst_rat_to_double(values[param].rat) : values[param].real;
  }
  free(values);
  return true;
}

const char *nestor_program_level(const nestor_program *program, size_t mapping, size_t level) {
  if (mapping >= nestor_program_mappings(program)) return NULL;
  const nst_ir_hardware *h = &program->ir->mappings[mapping]->hardware;
  return level < (size_t)h->nlevels && h->levels[level].kind == NST_LEVEL_MEMORY ? h->levels[level].name : NULL;
}
