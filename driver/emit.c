/* Stages of the compiler as text, and the formatted source. */
#include "driver/emit.h"
#include "driver/pipeline.h"
#include "frontend/ast_print.h"
#include "frontend/format.h"

#include <string.h>

nestor_status nestor_program_format(const nestor_program *program, nestor_buffer *out) {
  if (program->status != NESTOR_OK || !program->syntax) return NESTOR_ERROR;
  nst_format(program->syntax->file, program->sources, &out->text);
  return NESTOR_OK;
}

nestor_status nestor_program_emit(const nestor_program *program, const char *stage, nestor_buffer *out) {
  const bool ast = !strcmp(stage, "ast"), ir = !strcmp(stage, "ir"), expr = !strcmp(stage, "expr");
  if (!ast && !ir && !expr && strcmp(stage, "llvm")) return NESTOR_USAGE;
  if (program->status != NESTOR_OK || !program->syntax || (!ast && !program->ir)) return NESTOR_ERROR;
  if (ast) nst_ast_print(program->syntax->file, program->sources, &out->text);
  else if (ir) nst_ir_print(&out->text, program->ir);
  else if (expr) nst_emit_expr(program->ir, &out->text);
  else return nst_emit_llvm(program, &out->text);
  return NESTOR_OK;
}
