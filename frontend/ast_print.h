/* The syntax tree as text, for `--emit=ast` and for comparing trees. */
#ifndef NST_FRONTEND_AST_PRINT_H
#define NST_FRONTEND_AST_PRINT_H
#include "base/buffer.h"
#include "frontend/ast.h"

/* Everything a tree says but places and comments, as s-expressions, one item a line. Equal texts
 * mean equal trees. A NULL child prints as `error`. */
void nst_ast_print(const nst_ast_file *file, const nst_sources *sources, nst_buffer *out);
void nst_ast_print_expr(const nst_ast_expr *e, nst_buffer *out);
const char *nst_op_text(nst_op op); /* as written: "+", "and", "<=" */
#endif
