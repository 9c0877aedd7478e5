/* The stages that lie behind the frontend, as text. */
#ifndef NST_DRIVER_EMIT_H
#define NST_DRIVER_EMIT_H
#include "driver/internal.h"

/* Groups, their columns, and every counter as a sum of products of columns. */
void nst_emit_expr(const nst_ir_program *program, nst_buffer *out);
/* The code of all kernels. On failure the reason is what is appended. */
nestor_status nst_emit_llvm(const nestor_program *program, nst_buffer *out);
#endif
