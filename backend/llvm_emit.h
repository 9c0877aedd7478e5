/* Code to LLVM IR: one function per piece of code. */
#ifndef NST_BACKEND_LLVM_EMIT_H
#define NST_BACKEND_LLVM_EMIT_H
#include "backend/code.h"
#include "backend/llvm_compat.h"

/* A module with the functions PREFIX + codes[i].name; `require` as in nst_jit_options. */
LLVMModuleRef nst_llvm_emit(LLVMContextRef context, const nst_code *codes, int n, const char *prefix, const char *require);
#endif
