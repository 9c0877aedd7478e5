/* The walk over the tree: how items and blocks are laid out.
 *
 * A block that stood on one line and still fits stays there, its items two
 * columns apart (never one: `4  B` is a number and a name, `4 B` a quantity).
 * In other blocks each item has a line; the `=` of neighbouring values and the
 * braces of neighbouring levels are aligned where that keeps them within the
 * width. */
#include "frontend/format.h"

#include "frontend/format_walk.h"
#include <string.h>

/* An `=` that may be aligned with its neighbours. */
static void aligned(nst_walk *w, const char *text, uint32_t offset) {
  w->f.gap = 1 + w->pad;
  w->pad = 0;
  nst_walk_word(w, text, offset, NST_FMT_SPACE);
}

/* ---- lists of items ---- */

/* What the layout of lists needs to know of an item of any kind. */
typedef struct {
  const void *item;
  uint32_t begin, end;
  nst_span block; /* source 0 without */
  bool empty;     /* nothing in the block: it is written { } */
  int run;        /* items of one run are aligned; 0 never */
  uint32_t left;  /* columns before its `=` or `{`; 0 if it has none to align */
} entry;
typedef NST_VEC(entry) entries;
typedef void print_item(nst_walk *w, const void *item);

/* Did a block stand on one line, short enough to try the same? */
static bool one_line(const nst_walk *w, nst_span from, nst_span block) {
  if (block.end - block.begin > 4 * NST_FMT_WIDTH) return false;
  if (nst_fmt_has_comment(&w->f, from.begin, block.end)) return false;
  const char *text = w->f.source->text;
  return !memchr(text + block.begin, '\n', block.end - block.begin) &&
         !memchr(text + block.begin, '\r', block.end - block.begin);
}

/* The columns of an item on one line. */
static uint32_t natural(nst_walk *w, print_item *print, const entry *e) {
  bool flat = w->flat;
  w->flat = true;
  w->f.atoms.len = 0;
  print(w, e->item);
  uint32_t n = nst_fmt_columns(&w->f);
  w->flat = flat;
  w->f.atoms.len = 0;
  return n;
}

/* Will the item have one line? Then it may be aligned with its neighbours. */
static bool stands_flat(nst_walk *w, print_item *print, const entry *e) {
  nst_span whole = {w->f.file->source, e->begin, e->end};
  if (nst_fmt_has_comment(&w->f, e->begin, e->end)) return false;
  return !e->block.source || e->empty || (one_line(w, whole, e->block) && natural(w, print, e) <= NST_FMT_WIDTH);
}

/* Prints items first .. last - 1, which form a run on neighbouring lines. */
static void run(nst_walk *w, print_item *print, const entries *list, size_t first, size_t last) {
  uint32_t widest = 0;
  bool fits = last - first > 1;
  for (size_t i = first; i < last; i++)
    if (list->items[i].left > widest) widest = list->items[i].left;
  for (size_t i = first; i < last && fits; i++)
    if (natural(w, print, &list->items[i]) + (list->items[i].left ? widest - list->items[i].left : 0) >
        NST_FMT_WIDTH - 1)
      fits = false;
  for (size_t i = first; i < last; i++) {
    const entry *e = &list->items[i];
    nst_fmt_start(&w->f, e->begin);
    w->pad_word = fits;
    w->pad = fits && e->left ? widest - e->left : 0;
    print(w, e->item);
    w->pad = 0;
    nst_fmt_end(&w->f);
  }
}

static void items(nst_walk *w, print_item *print, const entries *list) {
  if (w->flat) {
    for (size_t i = 0; i < list->len; i++) {
      w->f.gap = i ? 2 : 1;
      print(w, list->items[i].item);
    }
    return;
  }
  for (size_t i = 0, end; i < list->len; i = end) {
    end = i + 1;
    if (list->items[i].run && stands_flat(w, print, &list->items[i])) {
      while (end < list->len && list->items[end].run == list->items[i].run &&
             stands_flat(w, print, &list->items[end]) && !nst_fmt_blank_before(&w->f, list->items[end].begin) &&
             !nst_fmt_has_own_comment(&w->f, list->items[end - 1].end, list->items[end].begin))
        end++;
    }
    run(w, print, list, i, end);
  }
}

/* Braces around items, behind what was added of the item they belong to. */
static void block(nst_walk *w, nst_span whole, nst_span braces, print_item *print, const entries *list) {
  if (!braces.source) return;
  aligned(w, "{", braces.begin);
  size_t before = w->f.atoms.len;
  bool empty = list->len == 0 && !nst_fmt_has_comment(&w->f, whole.begin, braces.end);
  if (w->flat || empty || one_line(w, whole, braces)) {
    bool flat = w->flat;
    w->flat = true;
    items(w, print, list);
    w->flat = flat;
    nst_walk_word(w, "}", 0, NST_FMT_SPACE);
    if (flat || nst_fmt_columns(&w->f) <= NST_FMT_WIDTH) return;
    w->f.atoms.len = before;
  }
  nst_fmt_end(&w->f);
  w->f.block_start = true;
  w->f.indent += NST_FMT_INDENT;
  items(w, print, list);
  nst_fmt_comments(&w->f, braces.end - 1);
  w->f.indent -= NST_FMT_INDENT;
  w->f.block_start = false;
  w->f.blank = false;
  nst_walk_word(w, "}", braces.end - 1, NST_FMT_SPACE);
}

static uint32_t length(nst_ast_ident id) { return id.name ? (uint32_t)strlen(id.name) : 0; }

static entry *push(nst_walk *w, entries *list, const void *item, nst_span span) {
  entry *e = nst_vec_push(w->f.arena, list);
  *e = (entry){.item = item, .begin = span.begin, .end = span.end};
  return e;
}

/* ---- workload ---- */

static void tensors(nst_walk *w, nst_span span, const nst_ast_tensor *t) {
  nst_walk_word(w, "tensor", span.begin, NST_FMT_SPACE);
  for (int how = NST_FMT_SPACE; t; t = t->next, how = NST_FMT_BREAK) {
    bool ranks = w->ranks;
    nst_walk_ident(w, t->id, how);
    w->ranks = true;
    if (t->has_shape) nst_walk_bracketed(w, "[", t->shape, "]", NST_FMT_GLUE);
    w->ranks = ranks;
    if (t->type && (!t->next || t->next->type != t->type)) {
      nst_walk_word(w, ":", 0, NST_FMT_SPACE);
      nst_walk_ident(w, t->type->id, NST_FMT_SPACE);
      if (t->type->bits) {
        nst_walk_word(w, "(", 0, NST_FMT_GLUE);
        nst_walk_expr(w, t->type->bits, NST_FMT_GLUE);
        nst_walk_word(w, ")", 0, NST_FMT_GLUE);
      }
    }
    if (t->next) nst_walk_word(w, ",", 0, NST_FMT_GLUE);
  }
}

static void print_witem(nst_walk *w, const void *node) {
  static const char *const reduce[] = {
    [NST_REDUCE_ASSIGN] = "=", [NST_REDUCE_ADD] = "+=", [NST_REDUCE_MAX] = "max=", [NST_REDUCE_MIN] = "min="};
  const nst_ast_witem *item = node;
  switch (item->kind) {
  case NST_WITEM_DIM:
    nst_walk_word(w, "dim", item->span.begin, NST_FMT_SPACE);
    nst_walk_params(w, item->dims, NST_FMT_SPACE);
    return;
  case NST_WITEM_TENSOR: tensors(w, item->span, item->tensors); return;
  case NST_WITEM_STATEMENT:
    nst_walk_expr(w, item->output, NST_FMT_SPACE);
    nst_walk_word(w, reduce[item->reduce], item->reduce_span.begin, NST_FMT_SPACE);
    nst_walk_expr(w, item->value, NST_FMT_SPACE);
    return;
  }
}

/* ---- hardware ---- */

static void print_attr(nst_walk *w, const void *node) {
  const nst_ast_attr *a = node;
  nst_walk_ident(w, a->id, NST_FMT_SPACE);
  aligned(w, "=", 0);
  nst_walk_expr(w, a->value, NST_FMT_SPACE);
  if (a->more) nst_walk_word(w, ",", 0, NST_FMT_GLUE);
  nst_walk_args(w, a->more, NST_FMT_BREAK);
}

static void print_hitem(nst_walk *w, const void *node) {
  const nst_ast_hitem *item = node;
  entries attrs = {0};
  for (const nst_ast_attr *a = item->attrs; a; a = a->next) {
    entry *e = push(w, &attrs, a, a->span);
    e->run = 1;
    e->left = length(a->id);
  }
  uint32_t pad = w->pad;
  w->pad = 0;
  switch (item->kind) {
  case NST_HITEM_ATTR:
    w->pad = pad;
    print_attr(w, item->attr);
    return;
  case NST_HITEM_MEMORY: nst_walk_word(w, "memory", item->span.begin, NST_FMT_SPACE); break;
  case NST_HITEM_COMPUTE: nst_walk_word(w, "compute", item->span.begin, NST_FMT_SPACE); break;
  case NST_HITEM_ARRAY:
    nst_walk_word(w, "array", item->span.begin, NST_FMT_SPACE);
    if (w->pad_word && !w->flat) w->f.gap = 2;
    break;
  }
  nst_walk_ident(w, item->id, NST_FMT_SPACE);
  if (item->kind == NST_HITEM_ARRAY) {
    nst_walk_word(w, "[", 0, NST_FMT_GLUE);
    nst_walk_params(w, item->axes, NST_FMT_GLUE);
    nst_walk_word(w, "]", 0, NST_FMT_GLUE);
  }
  w->pad = pad;
  block(w, item->span, item->block, print_attr, &attrs);
  w->pad = 0;
}

/* ---- mapping ---- */

static void mitems(nst_walk *w, entries *list, const nst_ast_mitem *item);
static void print_mitem(nst_walk *w, const void *node);

static void print_branch(nst_walk *w, const void *node) {
  const nst_ast_branch *b = node;
  entries body = {0};
  mitems(w, &body, b->body);
  nst_walk_word(w, "do", b->span.begin, NST_FMT_SPACE);
  nst_walk_idents(w, b->outputs, NST_FMT_SPACE);
  block(w, b->span, b->block, print_mitem, &body);
}

static void size(nst_walk *w, const nst_ast_mitem *item) {
  if (item->split == NST_SPLIT_ONE) return;
  nst_walk_word(w, item->split == NST_SPLIT_BY ? "by" : "into", 0, NST_FMT_SPACE);
  nst_walk_expr(w, item->size, NST_FMT_SPACE);
}

static void target(nst_walk *w, const nst_ast_mitem *item) {
  if (!item->array.name) return;
  nst_walk_word(w, "on", 0, NST_FMT_SPACE);
  nst_walk_ident(w, item->array, NST_FMT_SPACE);
  if (!item->axis.name) return;
  nst_walk_word(w, ".", 0, NST_FMT_GLUE);
  nst_walk_ident(w, item->axis, NST_FMT_GLUE);
}

static void print_mitem(nst_walk *w, const void *node) {
  const nst_ast_mitem *item = node;
  nst_span whole = nst_span_join(item->span, item->block);
  entries body = {0};
  switch (item->kind) {
  case NST_MITEM_FOR:
  case NST_MITEM_PAR:
    nst_walk_word(w, item->kind == NST_MITEM_FOR ? "for" : "par", item->span.begin, NST_FMT_SPACE);
    nst_walk_ident(w, item->id, NST_FMT_SPACE);
    if (item->on_first) target(w, item);
    size(w, item);
    if (!item->on_first) target(w, item);
    break;
  case NST_MITEM_KEEP:
    nst_walk_word(w, "keep", item->span.begin, NST_FMT_SPACE);
    if (item->optional) nst_walk_word(w, "?", 0, NST_FMT_GLUE);
    if (item->all) nst_walk_word(w, "all", 0, NST_FMT_SPACE);
    nst_walk_idents(w, item->tensors, NST_FMT_SPACE);
    nst_walk_word(w, "in", 0, NST_FMT_SPACE);
    nst_walk_ident(w, item->id, NST_FMT_SPACE);
    return;
  case NST_MITEM_COMPUTE:
    nst_walk_word(w, "compute", item->span.begin, NST_FMT_SPACE);
    if (item->id.name) nst_walk_word(w, "on", 0, NST_FMT_SPACE);
    nst_walk_ident(w, item->id, NST_FMT_SPACE);
    return;
  case NST_MITEM_LET:
    nst_walk_word(w, "let", item->span.begin, NST_FMT_SPACE);
    nst_walk_ident(w, item->id, NST_FMT_SPACE);
    aligned(w, "=", 0);
    nst_walk_expr(w, item->value, NST_FMT_SPACE);
    return;
  case NST_MITEM_PERMUTE: nst_walk_word(w, "permute", item->span.begin, NST_FMT_SPACE); break;
  case NST_MITEM_SEQ:
    nst_walk_word(w, "seq", item->span.begin, NST_FMT_SPACE);
    for (const nst_ast_branch *b = item->branches; b; b = b->next) push(w, &body, b, b->span)->block = b->block;
    block(w, whole, item->block, print_branch, &body);
    return;
  }
  if (!item->braces) return;
  mitems(w, &body, item->body);
  block(w, whole, item->block, print_mitem, &body);
}

static void mitems(nst_walk *w, entries *list, const nst_ast_mitem *item) {
  for (; item; item = item->next) {
    entry *e = push(w, list, item, nst_span_join(item->span, item->block));
    e->block = item->block;
    e->run = item->kind == NST_MITEM_LET;
    e->left = e->run ? 4 + length(item->id) : 0;
  }
}

/* ---- test, model, verify, sweep ---- */

static void print_titem(nst_walk *w, const void *node) {
  const nst_ast_titem *item = node;
  uint32_t begin = item->span.begin;
  switch (item->kind) {
  case NST_TITEM_LET:
  case NST_TITEM_OUT:
    if (!item->bare) nst_walk_word(w, item->kind == NST_TITEM_LET ? "let" : "out", begin, NST_FMT_SPACE);
    nst_walk_ident(w, item->id, NST_FMT_SPACE);
    aligned(w, "=", 0);
    nst_walk_expr(w, item->value, NST_FMT_SPACE);
    return;
  case NST_TITEM_CHECK:
    nst_walk_ident(w, item->id, NST_FMT_SPACE);
    nst_walk_word(w, "==", 0, NST_FMT_SPACE);
    nst_walk_expr(w, item->value, NST_FMT_SPACE);
    return;
  case NST_TITEM_IN:
    nst_walk_ident(w, item->id, NST_FMT_SPACE);
    nst_walk_word(w, "in", 0, NST_FMT_SPACE);
    nst_walk_set(w, item->set);
    return;
  case NST_TITEM_OVER:
    nst_walk_word(w, "over", begin, NST_FMT_SPACE);
    for (const nst_ast_titem *point = item->points; point; point = point->next) {
      nst_walk_ident(w, point->id, point == item->points ? NST_FMT_SPACE : NST_FMT_BREAK);
      nst_walk_word(w, "in", 0, NST_FMT_SPACE);
      nst_walk_set(w, point->set);
      if (point->next) nst_walk_word(w, ",", 0, NST_FMT_GLUE);
    }
    return;
  case NST_TITEM_EXPECT: nst_walk_word(w, "expect", begin, NST_FMT_SPACE); break;
  case NST_TITEM_WHERE: nst_walk_word(w, "where", begin, NST_FMT_SPACE); break;
  case NST_TITEM_TOP: nst_walk_word(w, "top", begin, NST_FMT_SPACE); break;
  case NST_TITEM_MINIMIZE: nst_walk_word(w, "minimize", begin, NST_FMT_SPACE); break;
  case NST_TITEM_MAXIMIZE: nst_walk_word(w, "maximize", begin, NST_FMT_SPACE); break;
  case NST_TITEM_PARETO: nst_walk_word(w, "pareto", begin, NST_FMT_SPACE); break;
  }
  nst_walk_expr(w, item->value, NST_FMT_SPACE);
  nst_walk_args(w, item->list, NST_FMT_SPACE);
}

/* ---- declarations ---- */

static void head_params(nst_walk *w, const nst_ast_decl *d) {
  if (!d->has_params) return;
  nst_walk_word(w, "(", 0, NST_FMT_GLUE);
  nst_walk_params(w, d->params, NST_FMT_GLUE);
  nst_walk_word(w, ")", 0, NST_FMT_GLUE);
}

static void dotted(nst_walk *w, const char *path, uint32_t offset) {
  for (int how = NST_FMT_SPACE; *path; how = NST_FMT_GLUE, offset = 0) {
    size_t len = *path == '.' ? 1 : strcspn(path, ".");
    nst_fmt_add(&w->f, path, len, offset, how);
    path += len;
  }
}

static void decl(nst_walk *w, const nst_ast_decl *d) {
  entries list = {0};
  print_item *print = print_titem;
  nst_fmt_start(&w->f, d->span.begin);
  uint32_t begin = d->span.begin;
  switch (d->kind) {
  case NST_DECL_USE:
    nst_walk_word(w, "use", begin, NST_FMT_SPACE);
    if (d->path_is_file)
      nst_walk_verbatim(w, d->path_span, NST_FMT_SPACE);
    else
      dotted(w, d->path, d->path_span.begin);
    if (d->alias.name) nst_walk_word(w, "as", 0, NST_FMT_SPACE);
    nst_walk_ident(w, d->alias, NST_FMT_SPACE);
    break;
  case NST_DECL_CONST:
    nst_walk_word(w, "const", begin, NST_FMT_SPACE);
    nst_walk_params(w, d->params, NST_FMT_SPACE);
    break;
  case NST_DECL_WORKLOAD: nst_walk_word(w, "workload", begin, NST_FMT_SPACE); break;
  case NST_DECL_HARDWARE: nst_walk_word(w, "hardware", begin, NST_FMT_SPACE); break;
  case NST_DECL_MAPPING: nst_walk_word(w, "mapping", begin, NST_FMT_SPACE); break;
  case NST_DECL_TEST:
    nst_walk_word(w, "test", begin, NST_FMT_SPACE);
    if (d->text) nst_walk_verbatim(w, d->text_span, NST_FMT_SPACE);
    break;
  case NST_DECL_MODEL: nst_walk_word(w, "model", begin, NST_FMT_SPACE); break;
  case NST_DECL_VERIFY:
    nst_walk_word(w, "verify", begin, NST_FMT_SPACE);
    nst_walk_ref(w, &d->on);
    break;
  case NST_DECL_SWEEP: nst_walk_word(w, "sweep", begin, NST_FMT_SPACE); break;
  }
  if (d->kind != NST_DECL_CONST) {
    nst_walk_ident(w, d->id, NST_FMT_SPACE);
    head_params(w, d);
  }
  if (d->of.id.name) {
    nst_walk_word(w, d->kind == NST_DECL_VERIFY ? "against" : "of", 0, NST_FMT_BREAK);
    nst_walk_ref(w, &d->of);
  }
  if (d->kind == NST_DECL_MAPPING) {
    nst_walk_word(w, "on", 0, NST_FMT_BREAK);
    nst_walk_ref(w, &d->on);
  }
  switch (d->kind) {
  case NST_DECL_USE:
  case NST_DECL_CONST: break;
  case NST_DECL_WORKLOAD:
    print = print_witem;
    for (const nst_ast_witem *item = d->workload; item; item = item->next) push(w, &list, item, item->span);
    break;
  case NST_DECL_HARDWARE:
    print = print_hitem;
    for (const nst_ast_hitem *item = d->hardware; item; item = item->next) {
      entry *e = push(w, &list, item, item->span);
      e->block = item->block;
      e->empty = !item->attrs;
      e->run = item->kind == NST_HITEM_ATTR ? 1 : 2;
      if (item->kind == NST_HITEM_ATTR)
        e->left = length(item->id);
      else if (item->kind != NST_HITEM_ARRAY && item->has_block)
        e->left = (item->kind == NST_HITEM_MEMORY ? 7 : 8) + length(item->id);
    }
    break;
  case NST_DECL_MAPPING:
    print = print_mitem;
    mitems(w, &list, d->mapping);
    break;
  case NST_DECL_TEST:
  case NST_DECL_MODEL:
  case NST_DECL_VERIFY:
  case NST_DECL_SWEEP:
    for (const nst_ast_titem *item = d->items; item; item = item->next) {
      entry *e = push(w, &list, item, item->span);
      if (item->kind == NST_TITEM_LET) e->run = item->bare ? 2 : 1;
      if (item->kind == NST_TITEM_OUT) e->run = 3;
      if (e->run) e->left = (item->bare ? 0 : 4) + length(item->id);
    }
    break;
  }
  block(w, d->span, d->block, print, &list);
  nst_fmt_end(&w->f);
}

void nst_format(const nst_ast_file *file, const nst_sources *sources, nst_buffer *out) {
  const nst_source *source = nst_sources_get(sources, file->source);
  if (!source) return;
  nst_arena *arena = nst_arena_new();
  nst_walk w = {.f = {.arena = arena, .source = source, .file = file, .block_start = true}};
  for (const nst_ast_decl *d = file->decls; d; d = d->next) decl(&w, d);
  nst_fmt_comments(&w.f, UINT32_MAX);
  nst_fmt_write(&w.f, out);
  nst_arena_free(arena);
}
