/* The declarations of a program's own text, as places in it: enough to take a
 * program apart and to put it together again without knowing the language. */
#include "driver/pipeline.h"

static nestor_declaration_kind kind_of(nst_ast_decl_kind kind) {
  switch (kind) {
    case NST_DECL_USE: return NESTOR_DECLARATION_USE;
    case NST_DECL_CONST: return NESTOR_DECLARATION_CONST;
    case NST_DECL_WORKLOAD: return NESTOR_DECLARATION_WORKLOAD;
    case NST_DECL_HARDWARE: return NESTOR_DECLARATION_HARDWARE;
    case NST_DECL_MAPPING: return NESTOR_DECLARATION_MAPPING;
    case NST_DECL_TEST: return NESTOR_DECLARATION_TEST;
    case NST_DECL_MODEL: return NESTOR_DECLARATION_MODEL;
    case NST_DECL_VERIFY: return NESTOR_DECLARATION_VERIFY;
    case NST_DECL_SWEEP: return NESTOR_DECLARATION_SWEEP;
  }
  return NESTOR_DECLARATION_USE;
}

static const char *name_of(const nst_ast_decl *d) {
  return d->kind == NST_DECL_CONST && d->params ? d->params->id.name : d->id.name;
}

size_t nestor_program_declarations(const nestor_program *program) {
  return program->syntax ? program->syntax->ndecls : 0;
}

bool nestor_program_declaration(const nestor_program *program, size_t i, nestor_declaration *out) {
  if (i >= nestor_program_declarations(program)) return false;
  const nst_ast_decl *d = program->syntax->decls[i];
  const nst_span whole = nst_span_join(d->doc, d->span);
  *out = (nestor_declaration){kind_of(d->kind), name_of(d), whole.begin, whole.end - whole.begin};
  return true;
}
