/* The tree as s-expressions: (kind field …), one declaration item a line. The
 * forms are stable; a field that is absent prints nothing. Numbers print by
 * value, so that 1_000 and 1000 are the same tree. */
#include "frontend/ast_print.h"

#include <string.h>

typedef struct {
  nst_buffer *out;
  const nst_sources *sources;
  size_t depth;
} printer;

const char *nst_op_text(nst_op op) {
  switch (op) {
  case NST_OP_ADD:
  case NST_OP_POS: return "+";
  case NST_OP_SUB:
  case NST_OP_NEG: return "-";
  case NST_OP_MUL: return "*";
  case NST_OP_DIV: return "/";
  case NST_OP_FLOORDIV: return "//";
  case NST_OP_MOD: return "%";
  case NST_OP_POW: return "**";
  case NST_OP_AND: return "and";
  case NST_OP_OR: return "or";
  case NST_OP_NOT: return "not";
  case NST_OP_EQ: return "==";
  case NST_OP_NE: return "!=";
  case NST_OP_LT: return "<";
  case NST_OP_LE: return "<=";
  case NST_OP_GT: return ">";
  case NST_OP_GE: return ">=";
  }
  return "?";
}

static void put(printer *p, const char *text) { nst_buffer_puts(p->out, text); }

static void name(printer *p, nst_ast_ident id) {
  nst_buffer_putc(p->out, ' ');
  put(p, id.name ? id.name : "error");
}

static void open_line(printer *p, const char *kind) {
  nst_buffer_putc(p->out, '\n');
  nst_buffer_pad(p->out, ' ', 2 * p->depth);
  nst_buffer_putc(p->out, '(');
  put(p, kind);
}

static void close(printer *p) { nst_buffer_putc(p->out, ')'); }

/* ---- expressions ---- */

static void expr(printer *p, const nst_ast_expr *e);

static void whole(printer *p, nst_i128 v) {
  char digits[48];
  size_t n = sizeof digits;
  unsigned __int128 u = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
  do digits[--n] = (char)('0' + (int)(u % 10));
  while (u /= 10);
  if (v < 0) digits[--n] = '-';
  nst_buffer_add(p->out, digits + n, sizeof digits - n);
}

static void number(printer *p, nst_rat v) {
  whole(p, v.num);
  if (v.den != 1) {
    nst_buffer_putc(p->out, '/');
    whole(p, v.den);
  }
}

static void sub(printer *p, const nst_ast_expr *e) {
  nst_buffer_putc(p->out, ' ');
  expr(p, e);
}

static void args(printer *p, const nst_ast_arg *arg) {
  for (; arg; arg = arg->next) {
    if (arg->name.name) {
      put(p, " (=");
      name(p, arg->name);
      sub(p, arg->value);
      close(p);
    } else {
      sub(p, arg->value);
    }
  }
}

static void expr(printer *p, const nst_ast_expr *e) {
  if (!e) {
    put(p, "error");
    return;
  }
  switch (e->kind) {
  case NST_AST_NUMBER: number(p, e->value); return;
  case NST_AST_QUANTITY:
    put(p, "(quantity ");
    number(p, e->value);
    name(p, e->unit);
    break;
  case NST_AST_BOOL: put(p, e->truth ? "true" : "false"); return;
  case NST_AST_NAME: put(p, e->id.name); return;
  case NST_AST_MEMBER:
    put(p, "(.");
    sub(p, e->object);
    name(p, e->id);
    break;
  case NST_AST_CALL:
    put(p, "(call");
    if (e->object) sub(p, e->object);
    if (e->object) put(p, " .");
    name(p, e->id);
    args(p, e->args);
    break;
  case NST_AST_ACCESS:
    put(p, "(access");
    name(p, e->id);
    args(p, e->args);
    break;
  case NST_AST_UNARY:
  case NST_AST_BINARY:
    nst_buffer_putc(p->out, '(');
    put(p, e->kind == NST_AST_UNARY && e->op == NST_OP_NEG   ? "neg"
           : e->kind == NST_AST_UNARY && e->op == NST_OP_POS ? "pos"
                                                             : nst_op_text(e->op));
    sub(p, e->a);
    if (e->kind == NST_AST_BINARY) sub(p, e->b);
    break;
  case NST_AST_COMPARE:
    put(p, "(compare");
    sub(p, e->a);
    for (const nst_ast_link *l = e->links; l; l = l->next) {
      nst_buffer_putc(p->out, ' ');
      put(p, nst_op_text(l->op));
      sub(p, l->operand);
    }
    break;
  case NST_AST_IF:
    put(p, "(if");
    sub(p, e->a);
    sub(p, e->b);
    sub(p, e->c);
    break;
  case NST_AST_SUM:
    put(p, "(sum");
    name(p, e->id);
    sub(p, e->b);
    sub(p, e->c);
    sub(p, e->a);
    break;
  case NST_AST_PAREN:
    put(p, "(paren");
    sub(p, e->a);
    break;
  }
  close(p);
}

void nst_ast_print_expr(const nst_ast_expr *e, nst_buffer *out) {
  printer p = {.out = out};
  expr(&p, e);
}

/* ---- parts ---- */

static void params(printer *p, const nst_ast_param *param) {
  for (; param; param = param->next) {
    if (param->value) {
      put(p, " (=");
      name(p, param->id);
      sub(p, param->value);
      close(p);
    } else {
      name(p, param->id);
    }
  }
}

static void idents(printer *p, const nst_ast_idents *list) {
  for (; list; list = list->next) name(p, list->id);
}

static void ref(printer *p, const char *keyword, const nst_ast_ref *r) {
  put(p, " (");
  put(p, keyword);
  name(p, r->id);
  if (r->module.name) {
    put(p, " @");
    put(p, r->module.name);
  }
  if (r->has_args) {
    put(p, " (args");
    args(p, r->args);
    close(p);
  }
  close(p);
}

static void set(printer *p, const nst_ast_set *s) {
  if (!s) {
    put(p, " error");
    return;
  }
  switch (s->kind) {
  case NST_SET_LIST:
    put(p, " (list");
    args(p, s->items);
    break;
  case NST_SET_RANGE: put(p, " (range"); break;
  case NST_SET_DIVISORS: put(p, " (divisors"); break;
  case NST_SET_POW2: put(p, " (pow2"); break;
  }
  if (s->a) sub(p, s->a);
  if (s->b) sub(p, s->b);
  if (s->step) sub(p, s->step);
  close(p);
}

/* ---- items ---- */

static void witem(printer *p, const nst_ast_witem *item) {
  static const char *const reduce[] = {
    [NST_REDUCE_ASSIGN] = "=", [NST_REDUCE_ADD] = "+=", [NST_REDUCE_MAX] = "max=", [NST_REDUCE_MIN] = "min="};
  switch (item->kind) {
  case NST_WITEM_DIM:
    open_line(p, "dim");
    params(p, item->dims);
    break;
  case NST_WITEM_TENSOR:
    open_line(p, "tensor");
    for (const nst_ast_tensor *t = item->tensors; t; t = t->next) {
      put(p, " (");
      put(p, t->id.name);
      if (t->has_shape) {
        put(p, " (shape");
        for (const nst_ast_arg *a = t->shape; a; a = a->next) {
          if (a->value)
            sub(p, a->value);
          else
            put(p, " _");
        }
        close(p);
      }
      if (t->type) {
        put(p, " :");
        name(p, t->type->id);
        if (t->type->bits) sub(p, t->type->bits);
      }
      close(p);
    }
    break;
  case NST_WITEM_STATEMENT:
    open_line(p, reduce[item->reduce]);
    sub(p, item->output);
    sub(p, item->value);
    break;
  }
  close(p);
}

static void attr(printer *p, const nst_ast_attr *a) {
  put(p, " (=");
  name(p, a->id);
  sub(p, a->value);
  args(p, a->more);
  close(p);
}

static void hitem(printer *p, const nst_ast_hitem *item) {
  switch (item->kind) {
  case NST_HITEM_ATTR:
    open_line(p, "attribute");
    attr(p, item->attr);
    close(p);
    return;
  case NST_HITEM_MEMORY: open_line(p, "memory"); break;
  case NST_HITEM_ARRAY: open_line(p, "array"); break;
  case NST_HITEM_COMPUTE: open_line(p, "compute"); break;
  }
  name(p, item->id);
  if (item->axes) {
    put(p, " (axes");
    params(p, item->axes);
    close(p);
  }
  if (item->has_block) {
    put(p, " (block");
    for (const nst_ast_attr *a = item->attrs; a; a = a->next) attr(p, a);
    close(p);
  }
  close(p);
}

static void mitems(printer *p, const nst_ast_mitem *item);

static void mitem(printer *p, const nst_ast_mitem *item) {
  static const char *const kinds[] = {
    [NST_MITEM_FOR] = "for",         [NST_MITEM_PAR] = "par", [NST_MITEM_KEEP] = "keep",
    [NST_MITEM_COMPUTE] = "compute", [NST_MITEM_LET] = "let", [NST_MITEM_PERMUTE] = "permute",
    [NST_MITEM_SEQ] = "seq",
  };
  open_line(p, item->optional ? "keep?" : kinds[item->kind]);
  if (item->id.name) name(p, item->id);
  if (item->split == NST_SPLIT_BY) put(p, " by");
  if (item->split == NST_SPLIT_INTO) put(p, " into");
  if (item->split != NST_SPLIT_ONE) sub(p, item->size);
  if (item->array.name) {
    put(p, item->on_first ? " (on-first" : " (on");
    name(p, item->array);
    if (item->axis.name) name(p, item->axis);
    close(p);
  }
  if (item->all) put(p, " all");
  idents(p, item->tensors);
  if (item->kind == NST_MITEM_LET) sub(p, item->value);
  p->depth++;
  if (item->braces && item->kind != NST_MITEM_SEQ) {
    open_line(p, "block");
    mitems(p, item->body);
    close(p);
  }
  for (const nst_ast_branch *b = item->branches; b; b = b->next) {
    open_line(p, "do");
    idents(p, b->outputs);
    mitems(p, b->body);
    close(p);
  }
  p->depth--;
  close(p);
}

static void mitems(printer *p, const nst_ast_mitem *item) {
  p->depth++;
  for (; item; item = item->next) mitem(p, item);
  p->depth--;
}

static void titem(printer *p, const nst_ast_titem *item) {
  static const char *const kinds[] = {
    [NST_TITEM_LET] = "let",       [NST_TITEM_EXPECT] = "expect",     [NST_TITEM_OUT] = "out",
    [NST_TITEM_CHECK] = "check",   [NST_TITEM_OVER] = "over",         [NST_TITEM_IN] = "in",
    [NST_TITEM_WHERE] = "where",   [NST_TITEM_MINIMIZE] = "minimize", [NST_TITEM_MAXIMIZE] = "maximize",
    [NST_TITEM_PARETO] = "pareto", [NST_TITEM_TOP] = "top",
  };
  open_line(p, item->bare ? "bare" : kinds[item->kind]);
  if (item->id.name) name(p, item->id);
  switch (item->kind) {
  case NST_TITEM_LET:
  case NST_TITEM_EXPECT:
  case NST_TITEM_OUT:
  case NST_TITEM_CHECK:
  case NST_TITEM_WHERE:
  case NST_TITEM_TOP: sub(p, item->value); break;
  case NST_TITEM_MINIMIZE:
  case NST_TITEM_MAXIMIZE:
  case NST_TITEM_PARETO: args(p, item->list); break;
  case NST_TITEM_IN: set(p, item->set); break;
  case NST_TITEM_OVER:
    p->depth++;
    for (const nst_ast_titem *point = item->points; point; point = point->next) titem(p, point);
    p->depth--;
    break;
  }
  close(p);
}

/* ---- declarations ---- */

static void doc(printer *p, const nst_ast_decl *d) {
  const nst_source *source = nst_sources_get(p->sources, d->doc.source);
  if (!source) return;
  p->depth++;
  for (size_t i = d->doc.begin; i < d->doc.end;) {
    size_t end = i;
    while (end < d->doc.end && source->text[end] != '\n') end++;
    size_t from = i, to = end;
    while (from < to && source->text[from] != '#') from++;
    while (to > from && (source->text[to - 1] == '\r' || source->text[to - 1] == ' ' || source->text[to - 1] == '\t'))
      to--;
    open_line(p, "doc ");
    nst_buffer_json_string(p->out, source->text + from, to - from);
    close(p);
    i = end + 1;
  }
  p->depth--;
}

static void decl(printer *p, const nst_ast_decl *d) {
  static const char *const kinds[] = {
    [NST_DECL_USE] = "use",           [NST_DECL_CONST] = "const",     [NST_DECL_WORKLOAD] = "workload",
    [NST_DECL_HARDWARE] = "hardware", [NST_DECL_MAPPING] = "mapping", [NST_DECL_TEST] = "test",
    [NST_DECL_MODEL] = "model",       [NST_DECL_VERIFY] = "verify",   [NST_DECL_SWEEP] = "sweep",
  };
  open_line(p, kinds[d->kind]);
  if (d->id.name) name(p, d->id);
  if (d->path) {
    put(p, d->path_is_file ? " file " : " ");
    nst_buffer_json_string(p->out, d->path, strlen(d->path));
    if (d->alias.name) put(p, " as");
    if (d->alias.name) name(p, d->alias);
  }
  if (d->text) {
    nst_buffer_putc(p->out, ' ');
    nst_buffer_json_string(p->out, d->text, strlen(d->text));
  }
  if (d->has_params) {
    put(p, " (params");
    params(p, d->params);
    close(p);
  }
  if (d->kind == NST_DECL_VERIFY) ref(p, "model", &d->on);
  if (d->of.id.name) ref(p, d->kind == NST_DECL_VERIFY ? "against" : "of", &d->of);
  if (d->kind == NST_DECL_MAPPING) ref(p, "on", &d->on);
  doc(p, d);
  p->depth++;
  switch (d->kind) {
  case NST_DECL_USE:
  case NST_DECL_CONST: break;
  case NST_DECL_WORKLOAD:
    for (const nst_ast_witem *item = d->workload; item; item = item->next) witem(p, item);
    break;
  case NST_DECL_HARDWARE:
    for (const nst_ast_hitem *item = d->hardware; item; item = item->next) hitem(p, item);
    break;
  case NST_DECL_MAPPING:
    for (const nst_ast_mitem *item = d->mapping; item; item = item->next) mitem(p, item);
    break;
  case NST_DECL_TEST:
  case NST_DECL_MODEL:
  case NST_DECL_VERIFY:
  case NST_DECL_SWEEP:
    for (const nst_ast_titem *item = d->items; item; item = item->next) titem(p, item);
    break;
  }
  p->depth--;
  close(p);
}

void nst_ast_print(const nst_ast_file *file, const nst_sources *sources, nst_buffer *out) {
  printer p = {.out = out, .sources = sources, .depth = 1};
  put(&p, "(file");
  for (const nst_ast_decl *d = file->decls; d; d = d->next) decl(&p, d);
  put(&p, ")\n");
}
