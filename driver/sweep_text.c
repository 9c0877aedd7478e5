/* A found point as text of the language: the declaration of the mapping as it was
 * written, with the point's choices put in its place.
 *
 * The text is edited, not composed: swept parameters get their value as default,
 * the loops of a permute change places and lose its braces, a keep? becomes a
 * keep or goes, and a keep in a branch that gives way to a kept one loses that
 * tensor. So names, comments and the order of everything else stay, and what is
 * printed compiles to the mapping of the variant.
 *
 * A complete program is that declaration with what it needs from the same file;
 * what comes from other files and the standard library is still used from there. */
#include "base/vec.h"
#include "driver/pipeline.h"
#include "driver/sweep.h"
#include "frontend/format.h"
#include "frontend/units.h"
#include "grammar/parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  uint32_t begin, end;
  const char *text;
} edit;
typedef struct {
  nestor_sweep *s;
  const nst_sweep_point *p;
  const nst_source *source;
  nst_arena *arena;
  NST_VEC(edit) edits;
  uint64_t orders[64], dropped;
} editor;

static void change(editor *e, uint32_t begin, uint32_t end, const char *text) {
  *nst_vec_push(e->arena, &e->edits) = (edit){begin, end, text};
}

/* Takes text out, with its line where nothing else stands there. */
static void take_out(editor *e, uint32_t begin, uint32_t end) {
  const char *text = e->source->text;
  uint32_t from = begin, to = end;
  while (from && (text[from - 1] == ' ' || text[from - 1] == '\t')) from--;
  while (text[to] == ' ' || text[to] == '\t' || text[to] == '\r') to++;
  const bool alone = from && text[from - 1] == '\n' && text[to] == '\n';
  change(e, alone ? from - 1 : begin, alone ? to : end, "");
}

/* ---- finding what was written ---- */

/* The file that declares the mapping. */
static const nst_ast_file *file_of(nestor_sweep *s) {
  if (s->mapping->span.source == s->program->source) return s->program->syntax->file;
  if (!s->syntax) { /* a used file: its tree has gone, its text has not */
    nst_syntax *syntax = NST_NEW(s->arena, nst_syntax);
    nst_interner *interner = nst_interner_new(s->arena);
    syntax->file = nst_parse(s->arena, interner, s->program->sources, s->mapping->span.source,
                             nst_diags_new(s->arena, s->program->sources));
    nst_interner_free(interner);
    s->syntax = syntax;
  }
  return s->syntax->file;
}

static const nst_ast_decl *decl_of(nestor_sweep *s) {
  for (const nst_ast_decl *d = file_of(s)->decls; d; d = d->next)
    if (d->kind == NST_DECL_MAPPING && d->id.name && !strcmp(d->id.name, s->mapping->name)) return d;
  return NULL;
}

static const nst_ir_node *node_at(const editor *e, nst_span span) {
  const nst_ir_mapping *m = e->s->mapping;
  for (int i = 0; i < m->nnodes; i++)
    if (m->nodes[i]->span.source == span.source && m->nodes[i]->span.begin == span.begin &&
        m->nodes[i]->span.end == span.end)
      return m->nodes[i];
  return NULL;
}

static bool is_dropped(const editor *e, const nst_ir_node *keep) {
  for (int i = 0; i < e->s->variants.nkeeps; i++)
    if (nst_sweep_keep_node(e->s, i) == keep) return e->dropped >> i & 1;
  return false;
}

/* ---- nests ---- */

static const char *slice(const editor *e, uint32_t begin, uint32_t end) {
  return nst_arena_strndup(e->arena, e->source->text + begin, end - begin);
}

static void edit_permute(editor *e, const nst_ast_mitem *item) {
  const nst_ast_mitem *loops[16];
  int n = 0, place[16];
  for (const nst_ast_mitem *i = item->body; i && n < 16; i = i->next) loops[n++] = i;
  take_out(e, item->span.begin, item->block.begin + 1);
  take_out(e, item->block.end - 1, item->block.end);
  const nst_ir_node *first = n ? node_at(e, loops[0]->span) : NULL;
  if (!first || first->permute < 0) return;
  nst_variant_order(&e->s->variants, first->permute, e->orders[first->permute], place);
  for (int i = 0; i < n; i++)
    if (place[i] != i)
      change(e, loops[i]->span.begin, loops[i]->span.end,
             slice(e, loops[place[i]]->span.begin, loops[place[i]]->span.end));
}

/* Whether a tensor that lies dormant in a keep is held there in this variant. */
static bool is_awake(const editor *e, const nst_ir_node *keep, int tensor) {
  for (int i = 0; i < keep->ndormant; i++)
    if (keep->dormant[i].tensor == tensor && !is_dropped(e, keep->dormant[i].unless)) return false;
  return true;
}

/* Whether the variant keeps nothing in a level, so that the bypass is said. */
static bool passed_over(const editor *e, int level) {
  const nst_ir_mapping *m = e->s->mapping;
  for (int i = 0; i < m->nnodes; i++) {
    const nst_ir_node *node = m->nodes[i];
    if (node->kind == NST_NODE_KEEP && node->level == level && !(node->optional && is_dropped(e, node))) return false;
  }
  return true;
}

static void edit_keep(editor *e, const nst_ast_mitem *item) {
  const nst_ir_node *node = node_at(e, item->span);
  if (!node || (!node->optional && (item->all || !node->ndormant))) return;
  nst_buffer list = {0};
  if (item->all) nst_buffer_puts(&list, "all");
  for (const nst_ast_idents *t = item->tensors; t && !item->all; t = t->next) {
    int tensor = 0;
    while (strcmp(e->s->mapping->workload.tensors[tensor].name, t->id.name)) tensor++;
    if (is_awake(e, node, tensor)) nst_buffer_printf(&list, "%s%s", list.len ? ", " : "", t->id.name);
  }
  const char *text = "";
  if (list.len && !(node->optional && is_dropped(e, node)))
    text = nst_arena_printf(e->arena, "keep %s in %s", list.text, item->id.name);
  else if (passed_over(e, node->level))
    text = nst_arena_printf(e->arena, "keep none in %s", item->id.name);
  nst_buffer_fini(&list);
  if (*text) change(e, item->span.begin, item->span.end, text);
  else take_out(e, item->span.begin, item->span.end);
}

static void edit_items(editor *e, const nst_ast_mitem *items) {
  for (const nst_ast_mitem *i = items; i; i = i->next) {
    switch (i->kind) {
    case NST_MITEM_PERMUTE: edit_permute(e, i); break;
    case NST_MITEM_KEEP: edit_keep(e, i); break;
    case NST_MITEM_FOR:
    case NST_MITEM_PAR: edit_items(e, i->body); break;
    case NST_MITEM_SEQ:
      for (const nst_ast_branch *b = i->branches; b; b = b->next) edit_items(e, b->body);
      break;
    case NST_MITEM_COMPUTE:
    case NST_MITEM_LET: break;
    }
  }
}

/* ---- parameters ---- */

/* The unit of a quantity in an expression; NULL: none is written there. */
static const char *unit_in(const nst_ast_expr *x) {
  if (!x) return NULL;
  nst_unit unit;
  nst_rat scale;
  if (x->kind == NST_AST_QUANTITY && nst_unit_parse(&unit, &scale, x->unit.name, strlen(x->unit.name)) &&
      !nst_unit_is_none(unit))
    return nst_unit_usual(unit);
  const nst_ast_expr *parts[] = {x->a, x->b, x->c, x->object};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    const char *found = unit_in(parts[i]);
    if (found) return found;
  }
  for (const nst_ast_arg *a = x->args; a; a = a->next) {
    const char *found = unit_in(a->value);
    if (found) return found;
  }
  return NULL;
}

static void edit_params(editor *e, const nst_ast_decl *decl) {
  const nst_value *values = nst_sweep_params(e->s, e->p);
  for (int k = 0; k < e->s->ir->npoints; k++) {
    const int param = e->s->ir->points[k].param;
    const nst_ast_param *p = decl->params;
    while (p && strcmp(p->id.name, e->s->mapping->scope.params[param].name)) p = p->next;
    if (!p) continue;
    nst_buffer text = {0};
    nst_expr_print_number(&text, values[param].rat);
    const char *unit = unit_in(p->value);
    if (unit) nst_buffer_printf(&text, nst_rat_is_int(values[param].rat) ? " %s" : " * 1 %s", unit);
    const char *kept = nst_arena_strndup(e->arena, text.text, text.len);
    nst_buffer_fini(&text);
    if (p->value)
      change(e, p->value->span.begin, p->value->span.end, kept);
    else
      change(e, p->id.span.end, p->id.span.end, nst_arena_printf(e->arena, " = %s", kept));
  }
}

/* ---- putting it together ---- */

static int by_place(const void *a, const void *b) {
  const edit *x = a, *y = b;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The text of the declaration with the point's choices. name NULL: its own. */
static bool declaration(nestor_sweep *s, const nst_sweep_point *p, const char *name, nst_buffer *out) {
  const nst_ast_decl *decl = decl_of(s);
  if (!decl) return false;
  editor e = {
    .s = s, .p = p, .source = nst_sources_get(s->program->sources, decl->span.source), .arena = nst_arena_new()};
  nst_variant_decode(&s->variants, p->variant, e.orders, &e.dropped);
  if (name) change(&e, decl->id.span.begin, decl->id.span.end, name);
  edit_params(&e, decl);
  edit_items(&e, decl->mapping);
  if (e.edits.len) qsort(e.edits.items, e.edits.len, sizeof *e.edits.items, by_place);
  uint32_t at = decl->span.begin;
  for (size_t i = 0; i < e.edits.len; i++) {
    nst_buffer_add(out, e.source->text + at, e.edits.items[i].begin - at);
    nst_buffer_puts(out, e.edits.items[i].text);
    at = e.edits.items[i].end;
  }
  nst_buffer_add(out, e.source->text + at, decl->span.end - at);
  nst_arena_free(e.arena);
  return true;
}

void nst_sweep_mapping_line(nestor_sweep *s, const nst_sweep_point *p, const char *name, nst_buffer *out) {
  nst_buffer text = {0};
  if (!declaration(s, p, name, &text)) return;
  const size_t begin = out->len;
  bool space = false;
  for (size_t i = 0; i < text.len; i++) {
    char c = text.text[i];
    if (c == '#') { /* a mapping holds no texts in quotation marks: this is a comment */
      while (i < text.len && text.text[i] != '\n') i++;
      c = ' ';
    }
    if (isspace((unsigned char)c)) {
      space = out->len > begin;
      continue;
    }
    if (space) nst_buffer_putc(out, ' ');
    space = false;
    nst_buffer_putc(out, c);
  }
  nst_buffer_fini(&text);
}

/* In the one true layout; as it is should it not parse. */
static void add_formatted(nst_buffer *out, const nst_buffer *text) {
  nst_arena *arena = nst_arena_new();
  nst_sources *sources = nst_sources_new(arena);
  nst_diags *diags = nst_diags_new(arena, sources);
  nst_interner *interner = nst_interner_new(arena);
  const nst_ast_file *file =
    nst_parse(arena, interner, sources, nst_sources_add(sources, "best", text->text, text->len), diags);
  if (nst_diags_errors(diags))
    nst_buffer_add(out, text->text, text->len);
  else
    nst_format(file, sources, out);
  nst_interner_free(interner);
  nst_arena_free(arena);
}

void nst_sweep_mapping_laid_out(nestor_sweep *s, const nst_sweep_point *p, const char *name, nst_buffer *out) {
  nst_buffer text = {0};
  if (declaration(s, p, name, &text)) {
    nst_buffer_putc(&text, '\n');
    add_formatted(out, &text);
  }
  nst_buffer_fini(&text);
}

/* ---- a complete program ---- */

/* Whether a name occurs as a word. */
static bool mentions(const nst_buffer *text, const char *name) {
  const size_t len = strlen(name);
  for (const char *p = text->text; p && (p = strstr(p, name)); p++) {
    const bool starts = p == text->text || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
    if (starts && !(isalnum((unsigned char)p[len]) || p[len] == '_')) return true;
  }
  return false;
}

static void add_decl(nst_buffer *out, const nst_source *source, const nst_ast_decl *d) {
  if (d->doc.source) {
    nst_buffer_add(out, source->text + d->doc.begin, d->doc.end - d->doc.begin);
    nst_buffer_putc(out, '\n');
  }
  nst_buffer_add(out, source->text + d->span.begin, d->span.end - d->span.begin);
  nst_buffer_puts(out, "\n\n");
}

static void add_use(nst_buffer *out, const nst_source *source, const nst_ast_decl *d, const char *directory) {
  if (!d->path_is_file || !directory || *d->path == '/') {
    nst_buffer_add(out, source->text + d->span.begin, d->span.end - d->span.begin);
    nst_buffer_putc(out, '\n');
    return;
  }
  const char *slash = strrchr(source->name, '/');
  nst_buffer_puts(out, "use \"");
  if (*source->name != '/') nst_buffer_printf(out, "%s/", directory);
  if (slash) nst_buffer_add(out, source->name, (size_t)(slash - source->name) + 1);
  nst_buffer_printf(out, "%s\"", d->path);
  if (d->alias.name) nst_buffer_printf(out, " as %s", d->alias.name);
  nst_buffer_putc(out, '\n');
}

static bool is_needed(const nst_ast_decl *d, const nst_ast_decl *mapping, const nst_buffer *needed) {
  switch (d->kind) {
  case NST_DECL_USE: return !d->alias.name || mentions(needed, d->alias.name);
  case NST_DECL_CONST:
    for (const nst_ast_param *p = d->params; p; p = p->next)
      if (p->id.name && mentions(needed, p->id.name)) return true;
    return false;
  case NST_DECL_WORKLOAD: return !mapping->of.module.name && !strcmp(d->id.name, mapping->of.id.name);
  case NST_DECL_HARDWARE: return !mapping->on.module.name && !strcmp(d->id.name, mapping->on.id.name);
  case NST_DECL_MAPPING: return d == mapping;
  case NST_DECL_TEST:
  case NST_DECL_MODEL:
  case NST_DECL_VERIFY:
  case NST_DECL_SWEEP: return false;
  }
  return false;
}

/* Marks what is needed, until nothing more is: constants use constants. */
static void find_needed(const nst_ast_file *file, const nst_source *source, const nst_ast_decl *mapping, bool *needed) {
  nst_buffer text = {0};
  for (bool changed = true; changed;) {
    changed = false;
    size_t i = 0;
    for (const nst_ast_decl *d = file->decls; d; d = d->next, i++) {
      if (needed[i] || !is_needed(d, mapping, &text)) continue;
      needed[i] = changed = true;
      nst_buffer_add(&text, source->text + d->span.begin, d->span.end - d->span.begin);
      nst_buffer_putc(&text, '\n');
    }
  }
  nst_buffer_fini(&text);
}

nestor_status nestor_sweep_emit(nestor_sweep *s, const char *directory, nestor_buffer *out) {
  const nst_sweep_point *p = NULL;
  if (s->found && nst_sweep_result_nbest(s->found))
    p = nst_sweep_result_best(s->found, 0);
  else if (s->found && nst_sweep_result_nfront(s->found))
    p = nst_sweep_result_front(s->found, 0);
  const nst_ast_decl *mapping = p ? decl_of(s) : NULL;
  if (!mapping) return NESTOR_USAGE;
  const nst_ast_file *file = file_of(s);
  const nst_source *source = nst_sources_get(s->program->sources, mapping->span.source);
  size_t n = 0, i = 0;
  for (const nst_ast_decl *d = file->decls; d; d = d->next) n++;
  bool *needed = calloc(n + 1, sizeof *needed);
  if (!needed) nst_out_of_memory();
  find_needed(file, source, mapping, needed);
  nst_buffer text = {0};
  nst_buffer_printf(&text,
                    "# %s of the sweep %s%s:", nst_sweep_result_nbest(s->found) ? "The best" : "The first of the front",
                    s->ir->name, nst_sweep_is_proven(s) ? "" : " (not proven)");
  for (int k = 0; k < nst_sweep_nmetrics(s); k++) {
    nst_buffer_puts(&text, k ? ", " : " ");
    nst_sweep_metric_name(s, k, &text);
    nst_buffer_puts(&text, " = ");
    nst_number_json(&text, nst_sweep_metric(s, k, p));
  }
  nst_buffer_puts(&text, "\n\n");
  for (const nst_ast_decl *d = file->decls; d; d = d->next, i++) {
    if (!needed[i]) continue;
    if (d->kind == NST_DECL_USE)
      add_use(&text, source, d, directory);
    else if (d->kind != NST_DECL_MAPPING)
      add_decl(&text, source, d);
  }
  if (mapping->doc.source) {
    nst_buffer_add(&text, source->text + mapping->doc.begin, mapping->doc.end - mapping->doc.begin);
    nst_buffer_putc(&text, '\n');
  }
  declaration(s, p, NULL, &text);
  nst_buffer_putc(&text, '\n');
  add_formatted(&out->text, &text);
  nst_buffer_fini(&text);
  free(needed);
  return NESTOR_OK;
}
