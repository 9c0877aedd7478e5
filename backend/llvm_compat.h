/* Every difference between versions of LLVM that this code meets.
 *
 * Built and tested with 15 and 19. What the code stays away from matters more
 * than what stands here: modules are compiled to objects in a context of their
 * own, so the thread-safe contexts of ORC, whose creation was turned round in
 * LLVM 21, are never used; passes run only through LLVMRunPasses; pointers are
 * opaque; the object layer is LLJIT's own. */
#ifndef NST_BACKEND_LLVM_COMPAT_H
#define NST_BACKEND_LLVM_COMPAT_H
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm/Config/llvm-config.h>

#if LLVM_VERSION_MAJOR < 15
#error "LLVM 15 or later is needed"
#endif

#define NST_LLVM_VERSION LLVM_VERSION_STRING

#endif
