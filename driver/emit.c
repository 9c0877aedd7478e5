/* Stages of the compiler as text, and the formatted source. */
#include "driver/internal.h"
#include "frontend/ast_print.h"
#include "frontend/format.h"

#include <string.h>

nestor_status nestor_program_format(const nestor_program *program, nestor_buffer *out) {
  if (program->status != NESTOR_OK || !program->ast) return NESTOR_ERROR;
  nst_format(&out->text, program->ast, nst_sources_get(program->sources, program->source));
  return NESTOR_OK;
}
