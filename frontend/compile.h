/* From source text to IR: parse, load what is used, check, lower.
 *
 * Everything wrong with the program is in `diags`, all independent errors of
 * one run together. The program and everything it points to lives in `arena`,
 * its names in `interner`. The embedded standard library and files come through
 * callbacks, so that a caller who must not touch files forbids them by leaving
 * them out. */
#ifndef NST_FRONTEND_COMPILE_H
#define NST_FRONTEND_COMPILE_H
#include "base/buffer.h"
#include "base/diag.h"
#include "frontend/ast.h"
#include "ir/ir.h"

/* Workloads and hardware of a text, checked. It lives in the arena of the text's program, which must outlive all that use it. */
typedef struct nst_checked_head nst_checked_head;

typedef struct {
  /* The i-th module of the standard library (its name as "std.hardware.edge"); false past the last.
   * NULL: `use std…` is refused. */
  bool (*module)(void *ctx, size_t i, const char **name, const char **text, size_t *len);
  void *module_ctx;
  /* The text of a file. `path` is already relative to the file that uses it: "lib/hw.nest" used from
   * "a/b.nest" asks for "a/lib/hw.nest". On failure `out` holds the reason in a few words. NULL: `use "file"`
   * is refused. */
  bool (*load)(void *ctx, const char *path, nst_buffer *out);
  void *load_ctx;
  uint64_t fuel; /* steps that checking may take; 0: no limit */
  const nst_checked_head *head;  /* of a text that this one begins with, names and spans and all; NULL: none */
  const nst_checked_head **made; /* gets the head of this text, or NULL where it can be none; NULL: not wanted */
} nst_frontend_options;

/* NULL if there were errors. Options NULL: no `use` at all. */
nst_ir_program *nst_frontend_compile(nst_arena *arena, nst_interner *interner, nst_sources *sources, nst_diags *diags,
                                     const nst_frontend_options *options, uint32_t source);
/* The same for a tree that has been parsed already; diags holds what its parsing gave. */
nst_ir_program *nst_frontend_check(nst_arena *arena, nst_interner *interner, nst_sources *sources, nst_diags *diags,
                                   const nst_frontend_options *options, const nst_ast_file *file);
#endif
