/* Files, the names they declare, and `use`.
 *
 * A module is one source text: a file, or a text of the standard library. It is
 * loaded once, however many use it, and checked when all that it uses has been.
 * A name is looked for among the module's own declarations, then among those of
 * what it uses without `as`; what a used file itself uses is not passed on.
 * Two used files may declare the same name: it is ambiguous only where it is
 * used. A name both declared and imported is a duplicate at once. */
#include "frontend/check.h"

#include "grammar/parse.h"

enum { MODULES_MAX = 256, DEPTH_MAX = 64, CONST_DEPTH_MAX = 256 };

static const char *const namespace_words[] = {"a constant", "a workload", "hardware",
                                              "a mapping",  "a model",    "a sweep"};
static const char *const namespace_bare[] = {"constant", "workload", "hardware", "mapping", "model", "sweep"};

static bool is_syntax(const nst_diag *d) {
  const char *code = nst_diag_code(d->id);
  return strncmp(code, "E01", 3) == 0 || strncmp(code, "E00", 3) == 0;
}

static bool has_syntax_error(const nst_checker *ck, uint32_t source, uint32_t begin, uint32_t end) {
  for (size_t i = 0; i < nst_diags_count(ck->diags); i++) {
    const nst_diag *d = nst_diags_get(ck->diags, i);
    if (d->span.source == source && d->span.begin >= begin && d->span.begin <= end && is_syntax(d)) return true;
  }
  return false;
}

bool nst_syntax_error_follows(const nst_checker *ck, nst_span span) {
  const nst_source *src = nst_sources_get(ck->sources, span.source);
  uint32_t end = span.end;
  if (!nst_diags_count(ck->diags) || !src) return false;
  while (end < src->len && strchr(" \t\r\n", src->text[end])) end++;
  return has_syntax_error(ck, span.source, span.begin, end);
}

bool nst_head_incomplete(const nst_checker *ck, const nst_ast_decl *decl) {
  uint32_t end = decl->block.source ? decl->block.begin : decl->head.end;
  return has_syntax_error(ck, decl->span.source, decl->span.begin, end + 1);
}

bool nst_decl_incomplete(const nst_checker *ck, const nst_ast_decl *decl) {
  return has_syntax_error(ck, decl->span.source, decl->span.begin,
                          decl->next ? decl->next->span.begin - 1 : UINT32_MAX);
}

/* A message outside the blocks of all declarations: one was lost, or its name. A block whose opening brace is
 * missing does not count. */
static bool lost_declaration(const nst_checker *ck, const nst_ast_file *file) {
  const nst_source *src = nst_sources_get(ck->sources, file->source);
  for (size_t i = 0; src && i < nst_diags_count(ck->diags); i++) {
    const nst_diag *d = nst_diags_get(ck->diags, i);
    if (d->span.source != file->source || !is_syntax(d)) continue;
    bool inside = false;
    for (const nst_ast_decl *decl = file->decls; decl && !inside; decl = decl->next)
      inside = decl->block.source && src->text[decl->block.begin] == '{' && d->span.begin > decl->block.begin &&
               d->span.end <= decl->span.end;
    if (!inside) return true;
  }
  return false;
}

/* ---- names of a module ---- */

static void declare(nst_checker *ck, nst_module *m, nst_namespace ns, const nst_ast_ident *id, const nst_ast_decl *decl,
                    const nst_ast_expr *expr) {
  if (!id->name) return;
  nst_symbol *sym = nst_symtab_declare(ck->arena, ck->diags, &m->names[ns], id->name, id->span, namespace_words[ns]);
  if (!sym) return;
  nst_decl_entry *entry = NST_NEW(ck->arena, nst_decl_entry);
  *entry = (nst_decl_entry){.module = m, .decl = decl, .expr = expr};
  sym->object = entry;
}

static void declare_all(nst_checker *ck, nst_module *m) {
  for (const nst_ast_decl *d = m->file->decls; d; d = d->next) {
    switch (d->kind) {
    case NST_DECL_CONST:
      for (const nst_ast_param *p = d->params; p; p = p->next) declare(ck, m, NST_NS_CONST, &p->id, d, p->value);
      break;
    case NST_DECL_WORKLOAD: declare(ck, m, NST_NS_WORKLOAD, &d->id, d, NULL); break;
    case NST_DECL_HARDWARE: declare(ck, m, NST_NS_HARDWARE, &d->id, d, NULL); break;
    case NST_DECL_MAPPING: declare(ck, m, NST_NS_MAPPING, &d->id, d, NULL); break;
    case NST_DECL_MODEL: declare(ck, m, NST_NS_MODEL, &d->id, d, NULL); break;
    case NST_DECL_SWEEP: declare(ck, m, NST_NS_SWEEP, &d->id, d, NULL); break;
    case NST_DECL_USE:
    case NST_DECL_TEST:
    case NST_DECL_VERIFY: break;
    }
  }
}

/* ---- paths ---- */

/* "a/b.nest" and "../c.nest" give "c.nest"; only text is looked at, never the disk. */
static const char *resolve(nst_arena *arena, const char *from, const char *path) {
  const char *slash = strrchr(from, '/');
  size_t dir = path[0] == '/' || !slash ? 0 : (size_t)(slash - from) + 1;
  char *all = nst_arena_printf(arena, "%.*s%s", (int)dir, from, path);
  char *out = nst_arena_strndup(arena, all, strlen(all));
  size_t len = 0, floor = 0; /* floor: before it stands a root or a run of ".." */
  const char *p = all;
  if (*p == '/') out[len++] = *p++, floor = 1;
  while (*p) {
    size_t n = strcspn(p, "/");
    if (n == 2 && p[0] == '.' && p[1] == '.' && len > floor) {
      do len--;
      while (len > floor && out[len - 1] != '/');
    } else if (n > 0 && !(n == 1 && p[0] == '.')) {
      bool up = n == 2 && p[0] == '.' && p[1] == '.';
      if (up && floor > 0 && all[0] == '/') { /* nothing is above the root */
      } else {
        memmove(out + len, p, n);
        len += n;
        if (p[n]) out[len++] = '/';
        if (up) floor = len;
      }
    }
    p += n + (p[n] == '/');
  }
  out[len] = '\0';
  return out;
}

/* ---- use ---- */

static nst_module *find_loaded(nst_checker *ck, const char *key) {
  for (size_t i = 0; i < ck->modules.len; i++)
    if (strcmp(ck->modules.items[i]->key, key) == 0) return ck->modules.items[i];
  return NULL;
}

static void say_cycle(nst_checker *ck, nst_module *again, nst_span span) {
  const char *chain = "";
  size_t i = 0;
  while (i < ck->loading.len && ck->loading.items[i] != again) i++;
  nst_diag *m = nst_diag_add(ck->diags, NST_D_USE_CYCLE, span, "`%s` uses itself", again->key);
  for (; i < ck->loading.len; i++) chain = nst_arena_printf(ck->arena, "%s%s uses ", chain, ck->loading.items[i]->key);
  nst_diag_help(ck->diags, m, "%s%s", chain, again->key);
}

static bool std_text(nst_checker *ck, const nst_ast_decl *d, const char **text, size_t *len) {
  if (!ck->options || !ck->options->module) {
    nst_diag_add(ck->diags, NST_D_USE_REFUSED, d->path_span, "the standard library is not available here");
    return false;
  }
  nst_candidates c = {0};
  const char *name;
  for (size_t i = 0; ck->options->module(ck->options->module_ctx, i, &name, text, len); i++) {
    if (strcmp(name, d->path) == 0) return true;
    if (c.len == c.cap) c.items = nst_vec_grow(ck->arena, c.items, c.len, &c.cap, sizeof *c.items);
    c.items[c.len++] = nst_intern_cstr(ck->interner, name);
  }
  nst_diag *m = nst_diag_add(ck->diags, NST_D_USE_UNKNOWN, d->path_span, "there is no module `%s`", d->path);
  if (!nst_suggest(ck->diags, m, d->path_span, nst_intern_cstr(ck->interner, d->path), &c))
    nst_diag_help(ck->diags, m,
                  "a module of the standard library is written like `std.hardware.edge`, a file like \"hw.nest\"");
  return false;
}

/* Whether a text has the declaration `head` ("workload gemm") at the start of a line. */
static bool declares(const char *text, const char *head) {
  const size_t len = strlen(head);
  for (const char *at = strstr(text, head); at; at = strstr(at + 1, head)) {
    const char after = at[len];
    const bool word = after == '_' || (after >= '0' && after <= '9') || (after >= 'A' && after <= 'Z') ||
                      (after >= 'a' && after <= 'z');
    if ((at == text || at[-1] == '\n') && !word) return true;
  }
  return false;
}

/* Where a module of the standard library declares the name, say how to use it. */
static bool help_std(nst_checker *ck, nst_diag *d, nst_namespace ns, nst_name wanted) {
  static const char *const words[NST_NS_COUNT] = {
    [NST_NS_WORKLOAD] = "workload", [NST_NS_HARDWARE] = "hardware", [NST_NS_MAPPING] = "mapping"};
  if (!words[ns] || !ck->options || !ck->options->module) return false;
  const char *head = nst_arena_printf(ck->arena, "%s %s", words[ns], wanted), *name, *text;
  size_t len;
  for (size_t i = 0; ck->options->module(ck->options->module_ctx, i, &name, &text, &len); i++) {
    if (!declares(nst_arena_strndup(ck->arena, text, len), head)) continue;
    nst_diag_help(ck->diags, d, "the standard library has one: add `use %s`", name);
    return true;
  }
  return false;
}

static bool file_text(nst_checker *ck, const nst_module *from, const nst_ast_decl *d, const char *key,
                      nst_buffer *text) {
  if (from->is_std || !ck->options || !ck->options->load) {
    nst_diag *m = nst_diag_add(ck->diags, NST_D_USE_REFUSED, d->path_span, "files cannot be used here");
    nst_diag_help(ck->diags, m, "only `use std.…` is available");
    return false;
  }
  if (ck->options->load(ck->options->load_ctx, key, text)) return true;
  nst_diag_add(ck->diags, NST_D_USE_FILE, d->path_span, "cannot read `%s`: %s", key,
               text->len ? text->text : "no reason given");
  return false;
}

static nst_module *load_use(nst_checker *ck, nst_module *from, const nst_ast_decl *d) {
  const char *key = d->path_is_file ? resolve(ck->arena, from->is_std ? "" : from->key, d->path) : d->path;
  nst_module *old = find_loaded(ck, key);
  if (old && old->loaded) return old;
  if (old) {
    say_cycle(ck, old, d->path_span);
    return NULL;
  }
  if (ck->modules.len >= MODULES_MAX || ck->loading.len >= DEPTH_MAX) {
    nst_diag_add(ck->diags, NST_D_USE_REFUSED, d->path_span, "too many files: at most %d, %d deep", MODULES_MAX,
                 DEPTH_MAX);
    return NULL;
  }
  nst_buffer loaded = {0};
  const char *text = "";
  size_t len = 0;
  bool found = d->path_is_file ? file_text(ck, from, d, key, &loaded) : std_text(ck, d, &text, &len);
  if (d->path_is_file) {
    text = loaded.text ? loaded.text : "";
    len = loaded.len;
  }
  uint32_t source = found ? nst_sources_add(ck->sources, key, text, len) : 0;
  nst_buffer_fini(&loaded);
  if (!source) return NULL;
  const nst_ast_file *file = nst_parse(ck->arena, ck->interner, ck->sources, source, ck->diags);
  return file ? nst_module_load(ck, file, key, !d->path_is_file) : NULL;
}

/* A module's own name that an import without `as` declares as well. */
static void check_collisions(nst_checker *ck, nst_module *m, const nst_import *import) {
  if (import->alias || !import->module || import->module == m) return;
  for (int ns = 0; ns < NST_NS_COUNT; ns++) {
    if (ns == NST_NS_SWEEP) continue;
    for (size_t i = 0; i < m->names[ns].len; i++) {
      const nst_symbol *own = &m->names[ns].items[i];
      const nst_symbol *other = nst_symtab_find(&import->module->names[ns], own->name);
      if (!other) continue;
      nst_diag *d =
        nst_diag_add(ck->diags, NST_D_DUPLICATE_NAME, own->span, "there is already %s `%s`, imported from %s",
                     namespace_words[ns], own->name, import->module->key);
      nst_diag_label(ck->diags, d, other->span, "the imported one is here");
      nst_diag_help(ck->diags, d, "rename this one, or import with `as`: the names are then `NAME.%s`", own->name);
    }
  }
}

static void use(nst_checker *ck, nst_module *m, const nst_ast_decl *d) {
  if (!d->path) {
    m->incomplete = true;
    return;
  }
  nst_module *used = load_use(ck, m, d);
  nst_import import = {used, d->alias.name, d->path_span};
  if (!used && !d->alias.name) m->incomplete = true;
  if (d->alias.name) {
    nst_symbol *sym = nst_symtab_declare(ck->arena, ck->diags, &m->aliases, d->alias.name, d->alias.span, "an import");
    if (sym) sym->index = (int)m->imports.len;
  }
  *nst_vec_push(ck->arena, &m->imports) = import;
  check_collisions(ck, m, &import);
}

nst_module *nst_module_load(nst_checker *ck, const nst_ast_file *file, const char *key, bool is_std) {
  nst_module *m = NST_NEW(ck->arena, nst_module);
  m->key = is_std ? key : resolve(ck->arena, "", key);
  m->is_std = is_std;
  m->file = file;
  m->incomplete = lost_declaration(ck, file);
  *nst_vec_push(ck->arena, &ck->modules) = m;
  *nst_vec_push(ck->arena, &ck->loading) = m;
  declare_all(ck, m);
  for (const nst_ast_decl *d = file->decls; d; d = d->next)
    if (d->kind == NST_DECL_USE) use(ck, m, d);
  nst_module_check(ck, m);
  ck->loading.len--;
  m->loaded = true;
  return m;
}

/* ---- looking up ---- */

static nst_symbol *find(nst_module *m, nst_namespace ns, nst_name name, nst_module **second, nst_symbol **other) {
  nst_symbol *sym = nst_symtab_find(&m->names[ns], name);
  *second = NULL;
  if (sym) return sym;
  for (size_t i = 0; i < m->imports.len; i++) {
    const nst_import *import = &m->imports.items[i];
    if (import->alias || !import->module) continue;
    nst_symbol *found = nst_symtab_find(&import->module->names[ns], name);
    if (!found || found == sym) continue;
    if (sym) {
      *second = import->module;
      *other = found;
      return sym;
    }
    sym = found;
  }
  return sym;
}

void nst_candidates_module(nst_checker *ck, nst_candidates *c, nst_module *m, nst_namespace ns) {
  nst_candidates_add(ck->arena, c, &m->names[ns]);
  for (size_t i = 0; i < m->imports.len; i++)
    if (!m->imports.items[i].alias && m->imports.items[i].module)
      nst_candidates_add(ck->arena, c, &m->imports.items[i].module->names[ns]);
}

static void say_ambiguous(nst_checker *ck, nst_span use, nst_namespace ns, nst_symbol *a, nst_symbol *b) {
  nst_diag *m = nst_diag_add(ck->diags, NST_D_AMBIGUOUS_NAME, use, "two imported files declare %s `%s`",
                             namespace_words[ns], a->name);
  nst_diag_label(ck->diags, m, a->span, "one is here");
  nst_diag_label(ck->diags, m, b->span, "the other is here");
  nst_diag_help(ck->diags, m, "import one of them with `as`");
}

/* A name of another kind of declaration, which is a likelier slip than a misspelling. */
static bool say_other_kind(nst_checker *ck, nst_module *m, nst_namespace ns, const nst_ast_ident *id) {
  for (int other = 0; other < NST_NS_COUNT; other++) {
    nst_module *second;
    nst_symbol *unused, *sym = find(m, (nst_namespace)other, id->name, &second, &unused);
    if (!sym || other == (int)ns) continue;
    nst_diag *d = nst_diag_add(ck->diags, NST_D_WRONG_KIND, id->span, "`%s` is %s, and %s is needed here", id->name,
                               namespace_words[other], namespace_words[ns]);
    nst_diag_label(ck->diags, d, sym->span, "declared here");
    return true;
  }
  return false;
}

nst_decl_entry *nst_module_lookup(nst_checker *ck, nst_module *m, nst_namespace ns, const nst_ast_ident *alias,
                                  const nst_ast_ident *id) {
  if (!id->name) return NULL;
  nst_module *where = m, *second = NULL;
  nst_symbol *sym, *other = NULL;
  if (alias->name) {
    const nst_symbol *a = nst_symtab_find(&m->aliases, alias->name);
    if (!a) {
      nst_diag *d = nst_say_unknown(ck, &m->aliases, NST_D_UNKNOWN_ALIAS, alias->span, alias->name,
                                    "nothing is imported as `%s`", alias->name);
      if (!d) return NULL;
      nst_candidates c = {0};
      nst_candidates_add(ck->arena, &c, &m->aliases);
      if (!nst_suggest(ck->diags, d, alias->span, alias->name, &c))
        nst_diag_help(ck->diags, d, "write `use … as %s`", alias->name);
      return NULL;
    }
    where = m->imports.items[a->index].module;
    if (!where) return NULL;
    sym = nst_symtab_find(&where->names[ns], id->name);
  } else {
    sym = find(m, ns, id->name, &second, &other);
  }
  if (second) {
    say_ambiguous(ck, id->span, ns, sym, other);
    return NULL;
  }
  if (sym) return sym->object;
  if (where->incomplete || say_other_kind(ck, where, ns, id)) return NULL;
  nst_diag *d = nst_say_unknown(ck, &where->names[ns], NST_D_UNKNOWN_DECLARATION, id->span, id->name,
                                "there is no %s `%s`", namespace_bare[ns], id->name);
  if (!d || (!alias->name && help_std(ck, d, ns, id->name))) return NULL;
  nst_candidates c = {0};
  if (alias->name)
    nst_candidates_add(ck->arena, &c, &where->names[ns]);
  else
    nst_candidates_module(ck, &c, m, ns);
  if (nst_suggest(ck->diags, d, id->span, id->name, &c)) return NULL;
  if (where->names[ns].len) {
    nst_help_known(ck->arena, ck->diags, d, "names", &where->names[ns]);
  } else {
    nst_diag_help(ck->diags, d, "declare it in this file, or import it with `use`");
  }
  return NULL;
}

bool nst_module_const(nst_checker *ck, nst_module *m, nst_name alias, nst_name name, nst_span use_span,
                      nst_typed *out) {
  nst_module *second = NULL;
  nst_symbol *sym, *other = NULL;
  if (!m) return false;
  if (alias) {
    const nst_symbol *a = nst_symtab_find(&m->aliases, alias);
    nst_module *where = a ? m->imports.items[a->index].module : NULL;
    sym = where ? nst_symtab_find(&where->names[NST_NS_CONST], name) : NULL;
  } else {
    sym = find(m, NST_NS_CONST, name, &second, &other);
  }
  if (!sym) return false;
  *out = nst_poison();
  if (second) {
    say_ambiguous(ck, use_span, NST_NS_CONST, sym, other);
    return true;
  }
  nst_decl_entry *entry = sym->object;
  if (entry->state == NST_CONST_DOING) {
    nst_diag *d = nst_diag_add(ck->diags, NST_D_CONST_CYCLE, sym->span, "the value of `%s` depends on itself", name);
    nst_diag_label(ck->diags, d, use_span, "through this use");
    return true;
  }
  if (entry->state == NST_CONST_NEW) {
    if (ck->const_depth >= CONST_DEPTH_MAX) {
      if (!ck->const_too_deep)
        nst_diag_add(ck->diags, NST_D_EXPR_TOO_LARGE, use_span,
                     "too many constants hang on each other before they are declared");
      ck->const_too_deep = true;
      return true;
    }
    entry->state = NST_CONST_DOING;
    ck->const_depth++;
    nst_scope scope = {.ck = ck, .module = entry->module, .what = "a constant"};
    if (entry->expr) {
      nst_typed t = nst_check_expr(&scope, entry->expr);
      if (t.x && !nst_report_failure(ck, &t, entry->expr->span)) entry->value = t;
    }
    entry->state = NST_CONST_DONE;
    ck->const_depth--;
  }
  *out = entry->value;
  if (!out->x) return true;
  if (out->x->kind == NST_X_CONST || out->x->kind == NST_X_BOOL) { /* a node of its own, at the place of its use */
    nst_expr *x = NST_NEW(ck->arena, nst_expr);
    *x = *out->x;
    x->span = use_span;
    out->x = x;
  }
  return true;
}
