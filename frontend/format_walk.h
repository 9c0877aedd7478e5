/* The walk over the tree, between the half of the formatter that writes values
 * (format_expr.c) and the one that lays out items and blocks (format.c). */
#ifndef NST_FRONTEND_FORMAT_WALK_H
#define NST_FRONTEND_FORMAT_WALK_H
#include "frontend/format_lines.h"

typedef struct {
  nst_fmt f;
  bool flat;     /* inside a block on one line */
  uint32_t pad;  /* columns to put before the `=` or `{` of the next item */
  bool pad_word; /* `array` is padded to the width of `memory` */
  bool ranks;    /* among ranks, products are written tight: 2*p + r */
} nst_walk;

/* Each adds atoms; `how` is for the first of them. */
void nst_walk_word(nst_walk *w, const char *text, uint32_t offset, int how);
void nst_walk_ident(nst_walk *w, nst_ast_ident id, int how);
void nst_walk_verbatim(nst_walk *w, nst_span span, int how);
void nst_walk_expr(nst_walk *w, const nst_ast_expr *e, int how);
void nst_walk_args(nst_walk *w, const nst_ast_arg *arg, int how);
void nst_walk_bracketed(nst_walk *w, const char *open, const nst_ast_arg *list, const char *shut, int how);
void nst_walk_params(nst_walk *w, const nst_ast_param *param, int how);
void nst_walk_idents(nst_walk *w, const nst_ast_idents *list, int how);
void nst_walk_ref(nst_walk *w, const nst_ast_ref *r);
void nst_walk_set(nst_walk *w, const nst_ast_set *s);
#endif
