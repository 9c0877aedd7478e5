/* From a random program's text to IR, by the real frontend. */
#include "frontend/compile.h"

#include "engines.h"

#include <string.h>

const nst_ir_program *subject_compile(subject *s, const char *text) {
  uint32_t source = nst_sources_add(s->sources, "random.nest", text, strlen(text));
  return nst_frontend_compile(s->arena, s->interner, s->sources, s->diags, NULL, source);
}
