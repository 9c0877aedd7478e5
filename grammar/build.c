/* Constructors of declarations and their items, and the lists.
 *
 * Items that were broken never get here; a declaration whose head was broken is
 * not in the tree, but its name is in `lost`, so that uses of it need no second
 * message. The doc of a declaration is the run of `##` lines right before it. */
#include "grammar/build.h"

#include "grammar/parser.h"
#include <string.h>

/* ---- lists ---- */

#define APPEND(l, item)                                                                                                \
  do {                                                                                                                 \
    if (item) {                                                                                                        \
      if ((l).tail)                                                                                                    \
        (l).tail->next = (item);                                                                                       \
      else                                                                                                             \
        (l).head = (item);                                                                                             \
      (l).tail = (item);                                                                                               \
    }                                                                                                                  \
  } while (0)

nst_ast_idents_list nst_idents_add(nst_parser *p, nst_ast_idents_list l, nst_ast_ident id) {
  nst_ast_idents *item = NST_NEW(p->arena, nst_ast_idents);
  item->id = id;
  APPEND(l, item);
  return l;
}

nst_ast_arg_list nst_args_add(nst_parser *p, nst_ast_arg_list l, nst_ast_arg *arg) {
  if (l.tail && l.tail->name.name && !arg->name.name) {
    nst_diag *m =
      nst_diag_add(p->diags, NST_D_POSITIONAL_AFTER_NAMED, arg->span, "a positional argument after a named one");
    nst_diag_label(p->diags, m, l.tail->span, "`%s` is given by name", l.tail->name.name);
    nst_diag_help(p->diags, m, "arguments without a name come first");
  }
  APPEND(l, arg);
  return l;
}

nst_ast_arg_list nst_exprs_add(nst_parser *p, nst_ast_arg_list l, nst_ast_expr *e, nst_span span) {
  nst_ast_arg *arg = nst_build_arg(p, span, (nst_ast_ident){0}, e);
  APPEND(l, arg);
  return l;
}

#define DEFINE_ADD(name, T)                                                                                            \
  T##_list name(T##_list l, T *item) {                                                                                 \
    APPEND(l, item);                                                                                                   \
    return l;                                                                                                          \
  }
DEFINE_ADD(nst_params_add, nst_ast_param)
DEFINE_ADD(nst_links_add, nst_ast_link)
DEFINE_ADD(nst_tensors_add, nst_ast_tensor)
DEFINE_ADD(nst_witems_add, nst_ast_witem)
DEFINE_ADD(nst_hitems_add, nst_ast_hitem)
DEFINE_ADD(nst_attrs_add, nst_ast_attr)
DEFINE_ADD(nst_mitems_add, nst_ast_mitem)
DEFINE_ADD(nst_branches_add, nst_ast_branch)
DEFINE_ADD(nst_titems_add, nst_ast_titem)
DEFINE_ADD(nst_decls_add, nst_ast_decl)

static void attr_more(nst_parser *p, nst_ast_attr *attr, nst_ast_expr *e, nst_span span) {
  if (!attr) {
    nst_diag *m = nst_diag_add(p->diags, NST_D_SYNTAX, span, "a value that belongs to no attribute");
    nst_diag_help(p->diags, m, "a value follows the name of its attribute, as in holds = A, B");
    return;
  }
  nst_ast_arg *arg = nst_build_arg(p, span, (nst_ast_ident){0}, e), **end = &attr->more;
  if (attr->last_more) end = &attr->last_more->next;
  *end = attr->last_more = arg;
  attr->span = nst_span_join(attr->span, span);
}

nst_ast_attr_list nst_attrs_more(nst_parser *p, nst_ast_attr_list l, nst_ast_expr *e, nst_span span) {
  attr_more(p, l.tail, e, span);
  return l;
}

nst_ast_hitem_list nst_hitems_more(nst_parser *p, nst_ast_hitem_list l, nst_ast_expr *e, nst_span span) {
  attr_more(p, l.tail && l.tail->kind == NST_HITEM_ATTR ? l.tail->attr : NULL, e, span);
  if (l.tail && l.tail->kind == NST_HITEM_ATTR) l.tail->span = l.tail->attr->span;
  return l;
}

/* ---- names and references ---- */

nst_ast_param *nst_build_param(nst_parser *p, nst_ast_ident id, nst_ast_expr *value) {
  nst_ast_param *param = NST_NEW(p->arena, nst_ast_param);
  param->id = id;
  param->value = value;
  return param;
}

nst_ast_ref *nst_build_ref(nst_parser *p, nst_span span, nst_ast_ident module, nst_ast_ident id, nst_opt_args args) {
  nst_ast_ref *ref = NST_NEW(p->arena, nst_ast_ref);
  *ref = (nst_ast_ref){.module = module, .id = id, .args = args.head, .has_args = args.present, .span = span};
  return ref;
}

bool nst_build_missing_brace(nst_parser *p, nst_span span) {
  nst_span found = nst_token_span_of(p, p->current);
  const nst_token *items = p->tokens.items;
  for (uint32_t i = p->current; items[p->current].line_first != p->current && items[i].line_first < p->current; i++) {
    if (items[i].kind == '}' || items[i].kind == ';' || items[i].kind == NST_TOK_END) break;
    if (items[i].kind != '{') continue;
    nst_diag_add(p->diags, NST_D_SYNTAX, found, "expected `{`, found `%.*s`", (int)(found.end - found.begin),
                 p->source->text + found.begin);
    p->next = i + 1;
    return true;
  }
  nst_diag *m = nst_diag_add(p->diags, NST_D_MISSING_OPEN_BRACE, found, "a `{` is missing before this");
  nst_diag_fix(p->diags, m, nst_parse_span(p, span.end, span.end), " {");
  return false;
}

/* ---- declarations ---- */

/* The run of ## lines right before `begin`, with no other comment or token between. */
static nst_span doc_before(const nst_parser *p, uint32_t begin) {
  size_t lo = 0, hi = p->comments.len;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (p->comments.items[mid].span.begin < begin)
      lo = mid + 1;
    else
      hi = mid;
  }
  nst_span doc = {0};
  const char *text = p->source->text;
  for (uint32_t next = begin; lo > 0; lo--) {
    const nst_ast_comment *c = &p->comments.items[lo - 1];
    if (!c->doc || !c->own_line) break;
    size_t lines = 0;
    bool blank = true;
    for (uint32_t i = c->span.end; i < next && blank; i++) {
      lines += text[i] == '\n';
      blank = strchr(" \t\r\n\f\v", text[i]) != NULL;
    }
    if (!blank || (doc.source && lines > 1)) break;
    doc = nst_span_join(doc, c->span);
    next = c->span.begin;
  }
  return doc;
}

static nst_ast_decl *decl(nst_parser *p, nst_ast_decl_kind kind, nst_span span, nst_span open, nst_ast_ident id) {
  nst_ast_decl *d = NST_NEW(p->arena, nst_ast_decl);
  d->kind = kind;
  d->span = span;
  d->head = span;
  if (open.source) {
    d->head.end = open.begin;
    d->block = (nst_span){span.source, open.begin, span.end};
  }
  while (d->head.end > d->head.begin && strchr(" \t\r\n", p->source->text[d->head.end - 1])) d->head.end--;
  d->id = id;
  d->doc = doc_before(p, span.begin);
  return d;
}

/* The text between the quotation marks, with \" and \\ resolved. */
static const char *unquote(nst_parser *p, nst_span span) {
  const char *s = p->source->text + span.begin;
  size_t len = span.end - span.begin, n = 0;
  if (len && s[len - 1] == '"' && len > 1) len--;
  char *out = nst_arena_alloc(p->arena, len + 1);
  for (size_t i = 1; i < len; i++) {
    if (s[i] == '\\' && i + 1 < len) {
      i++;
      if (s[i] != '"' && s[i] != '\\') {
        nst_span escape = {span.source, span.begin + (uint32_t)i - 1, span.begin + (uint32_t)i + 1};
        nst_diag *m = nst_diag_add(p->diags, NST_D_ESCAPE, escape, "an escape that is not known");
        nst_diag_help(p->diags, m, "a text knows \\\" and \\\\ only");
      }
    }
    out[n++] = s[i];
  }
  return out;
}

/* The index of the first token at or behind an offset. */
static size_t token_from(const nst_parser *p, uint32_t offset) {
  size_t lo = 0, hi = p->tokens.len;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (p->tokens.items[mid].begin < offset)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

nst_ast_decl *nst_build_use(nst_parser *p, nst_span span, nst_ast_ident path, nst_ast_ident alias) {
  nst_ast_decl *d = decl(p, NST_DECL_USE, span, (nst_span){0}, (nst_ast_ident){0});
  nst_buffer text = {0};
  for (size_t i = token_from(p, path.span.begin); p->tokens.items[i].begin < path.span.end; i++) {
    const nst_token *t = &p->tokens.items[i];
    nst_buffer_puts(&text, t->kind == '.' ? "." : t->name);
  }
  d->path = nst_intern(p->interner, text.text, text.len);
  nst_buffer_fini(&text);
  d->path_span = path.span;
  d->alias = alias;
  return d;
}

nst_ast_decl *nst_build_use_file(nst_parser *p, nst_span span, nst_span text, nst_ast_ident alias) {
  nst_ast_decl *d = decl(p, NST_DECL_USE, span, (nst_span){0}, (nst_ast_ident){0});
  d->path = unquote(p, text);
  d->path_span = text;
  d->path_is_file = true;
  d->alias = alias;
  return d;
}

nst_ast_decl *nst_build_const(nst_parser *p, nst_span span, nst_ast_param_list bindings) {
  nst_ast_decl *d = decl(p, NST_DECL_CONST, span, (nst_span){0}, (nst_ast_ident){0});
  d->params = bindings.head;
  d->has_params = true;
  return d;
}

static nst_ast_decl *with_params(nst_parser *p, nst_ast_decl_kind kind, nst_span span, nst_span open, nst_ast_ident id,
                                 nst_opt_params params) {
  nst_ast_decl *d = decl(p, kind, span, open, id);
  d->params = params.head;
  d->has_params = params.present;
  return d;
}

nst_ast_decl *nst_build_workload(nst_parser *p, nst_span span, nst_span open, nst_ast_ident id, nst_opt_params params,
                                 nst_ast_witem_list items) {
  nst_ast_decl *d = with_params(p, NST_DECL_WORKLOAD, span, open, id, params);
  d->workload = items.head;
  return d;
}

nst_ast_decl *nst_build_hardware(nst_parser *p, nst_span span, nst_span open, nst_ast_ident id, nst_opt_params params,
                                 nst_ast_hitem_list items) {
  nst_ast_decl *d = with_params(p, NST_DECL_HARDWARE, span, open, id, params);
  d->hardware = items.head;
  return d;
}

nst_ast_decl *nst_build_mapping(nst_parser *p, nst_span span, nst_span open, nst_ast_ident id, nst_opt_params params,
                                const nst_ast_ref *of, const nst_ast_ref *on, nst_ast_mitem_list items) {
  nst_ast_decl *d = with_params(p, NST_DECL_MAPPING, span, open, id, params);
  d->of = *of;
  d->on = *on;
  d->mapping = items.head;
  return d;
}

nst_ast_decl *nst_build_test(nst_parser *p, nst_span span, nst_span open, nst_span text, const nst_ast_ref *of,
                             nst_ast_titem_list items) {
  nst_ast_decl *d = decl(p, NST_DECL_TEST, span, open, (nst_ast_ident){0});
  d->of = *of;
  d->items = items.head;
  d->text_span = text;
  if (text.source) d->text = unquote(p, text);
  return d;
}

nst_ast_decl *nst_build_model(nst_parser *p, nst_span span, nst_span open, nst_ast_ident id, nst_opt_params params,
                              nst_ast_titem_list items) {
  nst_ast_decl *d = with_params(p, NST_DECL_MODEL, span, open, id, params);
  d->items = items.head;
  return d;
}

nst_ast_decl *nst_build_verify(nst_parser *p, nst_span span, nst_span open, nst_ast_ident model, const nst_ast_ref *against,
                               nst_ast_titem_list items) {
  nst_ast_decl *d = decl(p, NST_DECL_VERIFY, span, open, (nst_ast_ident){0});
  d->of = *against;
  d->on = (nst_ast_ref){.id = model, .span = model.span};
  d->items = items.head;
  return d;
}

nst_ast_decl *nst_build_sweep(nst_parser *p, nst_span span, nst_span open, nst_ast_ident id, const nst_ast_ref *of,
                              nst_ast_titem_list items) {
  nst_ast_decl *d = decl(p, NST_DECL_SWEEP, span, open, id);
  d->of = *of;
  d->items = items.head;
  return d;
}

nst_ast_decl *nst_build_lost(nst_parser *p, nst_span keyword) {
  size_t i = token_from(p, keyword.end);
  const nst_token *t = &p->tokens.items[i];
  if (nst_token_is_name(t->kind)) {
    nst_ast_idents *lost = NST_NEW(p->arena, nst_ast_idents);
    lost->id = (nst_ast_ident){t->name, nst_token_span_of(p, (uint32_t)i)};
    lost->next = p->file->lost;
    p->file->lost = lost;
  }
  return NULL;
}

/* ---- workload ---- */

static nst_ast_witem *witem(nst_parser *p, nst_ast_witem_kind kind, nst_span span) {
  nst_ast_witem *item = NST_NEW(p->arena, nst_ast_witem);
  item->kind = kind;
  item->span = span;
  return item;
}

nst_ast_witem *nst_build_dims(nst_parser *p, nst_span span, nst_ast_param_list dims) {
  nst_ast_witem *item = witem(p, NST_WITEM_DIM, span);
  item->dims = dims.head;
  return item;
}

/* A type applies to the names before it that have none yet. */
nst_ast_witem *nst_build_tensors(nst_parser *p, nst_span span, nst_ast_tensor_list tensors) {
  nst_ast_tensor *untyped = tensors.head;
  for (const nst_ast_tensor *t = tensors.head; t; t = t->next) {
    if (!t->type) continue;
    for (; untyped != t; untyped = untyped->next) untyped->type = t->type;
    untyped = t->next;
  }
  nst_ast_witem *item = witem(p, NST_WITEM_TENSOR, span);
  item->tensors = tensors.head;
  return item;
}

nst_ast_tensor *nst_build_tensor(nst_parser *p, nst_ast_ident id, nst_opt_args shape, nst_ast_type *type) {
  nst_ast_tensor *t = NST_NEW(p->arena, nst_ast_tensor);
  t->id = id;
  t->shape = shape.head;
  t->has_shape = shape.present;
  t->type = type;
  return t;
}

nst_ast_type *nst_build_type(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *bits) {
  nst_ast_type *type = NST_NEW(p->arena, nst_ast_type);
  type->id = id;
  type->bits = bits;
  type->span = span;
  return type;
}

nst_ast_witem *nst_build_statement(nst_parser *p, nst_span span, nst_ast_expr *output, nst_reduce_op reduce,
                                   nst_ast_expr *value) {
  if (!output) return NULL;
  nst_ast_witem *item = witem(p, NST_WITEM_STATEMENT, span);
  item->output = output;
  item->reduce = reduce.reduce;
  item->reduce_span = reduce.span;
  item->value = value;
  return item;
}

/* ---- hardware ---- */

nst_ast_attr *nst_build_attr(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *value) {
  nst_ast_attr *attr = NST_NEW(p->arena, nst_ast_attr);
  attr->id = id;
  attr->value = value;
  attr->span = span;
  return attr;
}

nst_ast_hitem *nst_build_hitem_attr(nst_parser *p, nst_span span, nst_ast_attr *attr) {
  nst_ast_hitem *item = NST_NEW(p->arena, nst_ast_hitem);
  item->kind = NST_HITEM_ATTR;
  item->span = span;
  item->id = attr->id;
  item->attr = attr;
  return item;
}

nst_ast_hitem *nst_build_level(nst_parser *p, nst_span span, nst_ast_hitem_kind kind, nst_ast_ident id,
                               nst_ast_param *axes, nst_opt_attrs attrs) {
  nst_ast_hitem *item = NST_NEW(p->arena, nst_ast_hitem);
  item->kind = kind;
  item->span = span;
  item->id = id;
  item->axes = axes;
  item->attrs = attrs.head;
  item->has_block = attrs.present;
  item->block = attrs.block;
  return item;
}

/* ---- mapping ---- */

static nst_ast_mitem *mitem(nst_parser *p, nst_ast_mitem_kind kind, nst_span span) {
  nst_ast_mitem *item = NST_NEW(p->arena, nst_ast_mitem);
  item->kind = kind;
  item->span = span;
  return item;
}

static nst_ast_mitem *loop(nst_parser *p, nst_ast_mitem_kind kind, nst_span span, nst_ast_ident id, nst_split_size size,
                           nst_opt_body body) {
  nst_ast_mitem *item = mitem(p, kind, span);
  item->id = id;
  item->split = size.split;
  item->size = size.size;
  item->body = body.head;
  item->braces = body.present;
  item->block = body.block;
  if (body.present) {
    item->span.end = body.block.begin;
    while (item->span.end > span.begin && strchr(" \t\r\n", p->source->text[item->span.end - 1])) item->span.end--;
  }
  return item;
}

nst_ast_mitem *nst_build_for(nst_parser *p, nst_span span, nst_ast_ident id, nst_split_size size, nst_opt_body body) {
  return loop(p, NST_MITEM_FOR, span, id, size, body);
}

nst_target *nst_build_target(nst_parser *p, nst_ast_ident array, nst_ast_ident axis) {
  nst_target *target = NST_NEW(p->arena, nst_target);
  *target = (nst_target){array, axis};
  return target;
}

nst_ast_mitem *nst_build_par(nst_parser *p, nst_span span, nst_ast_ident id, nst_split_size size, const nst_target *target,
                             bool on_first, nst_opt_body body) {
  nst_ast_mitem *item = loop(p, NST_MITEM_PAR, span, id, size, body);
  if (target) {
    item->array = target->array;
    item->axis = target->axis;
  }
  item->on_first = on_first;
  return item;
}

nst_ast_mitem *nst_build_keep(nst_parser *p, nst_span span, bool optional, nst_ast_idents *tensors, bool all,
                              nst_ast_ident level) {
  nst_ast_mitem *item = mitem(p, NST_MITEM_KEEP, span);
  item->optional = optional;
  item->tensors = tensors;
  item->all = all;
  item->id = level;
  return item;
}

nst_ast_mitem *nst_build_compute(nst_parser *p, nst_span span, nst_ast_ident unit) {
  nst_ast_mitem *item = mitem(p, NST_MITEM_COMPUTE, span);
  item->id = unit;
  return item;
}

nst_ast_mitem *nst_build_mapping_let(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *value) {
  nst_ast_mitem *item = mitem(p, NST_MITEM_LET, span);
  item->id = id;
  item->value = value;
  return item;
}

nst_ast_mitem *nst_build_permute(nst_parser *p, nst_span span, nst_span block, nst_ast_mitem_list body) {
  nst_ast_mitem *item = mitem(p, NST_MITEM_PERMUTE, span);
  item->body = body.head;
  item->braces = true;
  item->block = block;
  return item;
}

nst_ast_mitem *nst_build_seq(nst_parser *p, nst_span span, nst_span block, nst_ast_branch_list branches) {
  nst_ast_mitem *item = mitem(p, NST_MITEM_SEQ, span);
  item->branches = branches.head;
  item->braces = true;
  item->block = block;
  return item;
}

nst_ast_branch *nst_build_branch(nst_parser *p, nst_span span, nst_span block, nst_ast_idents *outputs,
                                 nst_ast_mitem_list body) {
  nst_ast_branch *branch = NST_NEW(p->arena, nst_ast_branch);
  branch->outputs = outputs;
  branch->body = body.head;
  branch->span = span;
  branch->block = block;
  return branch;
}

/* ---- test, model, verify, sweep ---- */

nst_ast_titem *nst_build_item(nst_parser *p, nst_span span, nst_ast_titem_kind kind, nst_ast_expr *value) {
  nst_ast_titem *item = NST_NEW(p->arena, nst_ast_titem);
  item->kind = kind;
  item->span = span;
  item->value = value;
  return item;
}

nst_ast_titem *nst_build_let(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *value, bool bare) {
  nst_ast_titem *item = nst_build_item(p, span, NST_TITEM_LET, value);
  item->id = id;
  item->bare = bare;
  return item;
}

nst_ast_titem *nst_build_out(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *value) {
  nst_ast_titem *item = nst_build_item(p, span, NST_TITEM_OUT, value);
  item->id = id;
  return item;
}

nst_ast_titem *nst_build_check(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_expr *value) {
  nst_ast_titem *item = nst_build_item(p, span, NST_TITEM_CHECK, value);
  item->id = id;
  return item;
}

/* `top in [1, 2]` reads as an access to a tensor `in`: what was meant is a swept parameter. */
static bool swept_keyword(nst_parser *p, nst_span keyword, const nst_ast_expr *e) {
  if (!e || e->kind != NST_AST_ACCESS || strcmp(e->id.name, "in") != 0) return false;
  nst_diag *m = nst_diag_add(p->diags, NST_D_SWEPT_KEYWORD, keyword, "`%.*s` cannot be the name of a swept parameter",
                             (int)(keyword.end - keyword.begin), p->source->text + keyword.begin);
  nst_diag_help(p->diags, m, "it begins a line of the sweep; rename the parameter of the mapping");
  return true;
}

nst_ast_titem *nst_build_where(nst_parser *p, nst_span span, nst_span keyword, nst_ast_expr *value) {
  return swept_keyword(p, keyword, value) ? NULL : nst_build_item(p, span, NST_TITEM_WHERE, value);
}

nst_ast_titem *nst_build_goal(nst_parser *p, nst_span span, nst_span keyword, nst_ast_titem_kind kind,
                              nst_ast_arg_list list) {
  if (swept_keyword(p, keyword, list.head->value)) return NULL;
  nst_ast_titem *item = nst_build_item(p, span, kind, NULL);
  item->list = list.head;
  return item;
}

nst_ast_titem *nst_build_top(nst_parser *p, nst_span span, nst_span keyword, nst_ast_expr *value) {
  return swept_keyword(p, keyword, value) ? NULL : nst_build_item(p, span, NST_TITEM_TOP, value);
}

nst_ast_titem *nst_build_over(nst_parser *p, nst_span span, nst_ast_titem_list points) {
  nst_ast_titem *item = nst_build_item(p, span, NST_TITEM_OVER, NULL);
  item->points = points.head;
  return item;
}

nst_ast_titem *nst_build_in(nst_parser *p, nst_span span, nst_ast_ident id, nst_ast_set *set) {
  nst_ast_titem *item = nst_build_item(p, span, NST_TITEM_IN, NULL);
  item->id = id;
  item->set = set;
  return item;
}
