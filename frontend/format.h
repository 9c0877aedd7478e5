/* The canonical layout of a program.
 *
 * The formatted text has the same tree, every comment at its place, and does
 * not change when formatted again. Lines have at most 100 columns where there
 * is a place to break. The file must have parsed without errors; a tree with
 * errors gives some text, with the broken parts left out. */
#ifndef NST_FRONTEND_FORMAT_H
#define NST_FRONTEND_FORMAT_H
#include "base/buffer.h"
#include "frontend/ast.h"

void nst_format(const nst_ast_file *file, const nst_sources *sources, nst_buffer *out);
#endif
