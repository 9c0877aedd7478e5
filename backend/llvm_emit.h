/* Code to LLVM IR: one function per piece of code, straight-line (llvm_emit.c) or vector (llvm_vector.c). */
#ifndef NST_BACKEND_LLVM_EMIT_H
#define NST_BACKEND_LLVM_EMIT_H
#include "backend/code.h"
#include "backend/vector.h"
#include "backend/llvm_compat.h"

/* A module with the functions PREFIX + codes[i].name; `require` as in nst_jit_options. */
LLVMModuleRef nst_llvm_emit(LLVMContextRef context, const nst_code *codes, int n, const char *prefix, const char *require);
/* The same for vector code (llvm_vector.c), for a machine with these features ("+avx512f,…"). */
LLVMModuleRef nst_llvm_emit_vectors(LLVMContextRef context, const nst_vector_code *codes, int n, const char *prefix,
                                    const char *features);
#endif
