/* An exported grammar in three notations.
 *
 * EBNF is the notation of the XML specification, with x{m,n} for m to n times; GBNF
 * is that of llama.cpp, which XGrammar reads too; Lark is that of the Python package,
 * its terminals regular expressions. A rule that is only another name of one is
 * left out, and so is what nobody uses. */
#include "grammar/export.h"

#include <string.h>

typedef struct {
  nst_buffer *out;
  const nst_grules *g;
  nst_grammar_format format;
  bool *used;
} writer;

static uint32_t resolve(const writer *w, uint32_t rule) { return nst_grules_resolve(w->g, rule); }

static void mark(writer *w, const nst_gnode *n) {
  if (n->kind == NST_G_RULE) {
    const uint32_t rule = resolve(w, n->rule);
    if (!w->used[rule]) {
      w->used[rule] = true;
      mark(w, w->g->rules.items[rule].body);
    }
  }
  for (size_t i = 0; i < n->kids.len; i++) mark(w, n->kids.items[i]);
}

/* ---- characters ---- */

static void put_name(writer *w, uint32_t rule) {
  const nst_grule *r = &w->g->rules.items[resolve(w, rule)];
  const bool lark = w->format == NST_GRAMMAR_LARK;
  if (lark && rule == 0) {
    nst_buffer_puts(w->out, "start");
    return;
  }
  for (const char *c = r->name; *c; c++) {
    if (*c == '_' || *c == '-')
      nst_buffer_putc(w->out, lark ? '_' : '-');
    else
      nst_buffer_putc(w->out, lark && r->lexical && *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
  }
}

static void put_text(writer *w, const char *text, bool regex) {
  if (regex) {
    for (const char *c = text; *c; c++) {
      if (strchr("\\/.^$*+?()[]{}|\"", *c)) nst_buffer_putc(w->out, '\\');
      nst_buffer_putc(w->out, *c);
    }
    return;
  }
  const bool plain = w->format == NST_GRAMMAR_EBNF;
  const char quote = plain && strchr(text, '"') ? '\'' : '"';
  nst_buffer_putc(w->out, quote);
  for (const char *c = text; *c; c++) {
    if (!plain && strchr("\\\"", *c)) nst_buffer_putc(w->out, '\\');
    nst_buffer_putc(w->out, *c);
  }
  nst_buffer_putc(w->out, quote);
}

static void put_class(writer *w, const char *text) {
  nst_buffer_putc(w->out, '[');
  if (w->format != NST_GRAMMAR_EBNF) nst_buffer_puts(w->out, text);
  for (const char *c = text; w->format == NST_GRAMMAR_EBNF && *c; c++) {
    if (*c != '\\') {
      if (*c == ' ')
        nst_buffer_puts(w->out, "#x20");
      else
        nst_buffer_putc(w->out, *c);
      continue;
    }
    c++;
    if (*c == 'x') {
      nst_buffer_printf(w->out, "#x%.2s", c + 1);
      c += 2;
    } else
      nst_buffer_puts(w->out, *c == 'n' ? "#x0A" : *c == 'r' ? "#x0D" : *c == 't' ? "#x09" : "#x5C");
  }
  nst_buffer_putc(w->out, ']');
}

/* ---- nodes ---- */

static void put_node(writer *w, const nst_gnode *n, bool regex, bool inside);

static bool is_unit(const nst_gnode *n, bool regex) {
  if (n->kind == NST_G_TEXT) return !regex || !n->text[1];
  return n->kind == NST_G_CLASS || (n->kind == NST_G_RULE && !regex);
}

static void put_group(writer *w, const nst_gnode *n, bool regex) {
  if (is_unit(n, regex)) {
    put_node(w, n, regex, true);
    return;
  }
  nst_buffer_puts(w->out, regex ? "(?:" : "(");
  put_node(w, n, regex, false);
  nst_buffer_putc(w->out, ')');
}

static void put_repeat(writer *w, const nst_gnode *n, bool regex) {
  put_group(w, n->kids.items[0], regex);
  if (w->format == NST_GRAMMAR_LARK && !regex)
    nst_buffer_printf(w->out, "~%u..%u", n->min, n->max);
  else
    nst_buffer_printf(w->out, "{%u,%u}", n->min, n->max);
}

static void put_alternatives(writer *w, const nst_gnode *n, bool regex, const char *between) {
  bool first = true;
  for (size_t i = 0; i < n->kids.len; i++) {
    if (n->kids.items[i]->kind == NST_G_EMPTY) continue;
    if (!first) nst_buffer_puts(w->out, between);
    put_node(w, n->kids.items[i], regex, false);
    first = false;
  }
}

static bool has_empty(const nst_gnode *n) {
  for (size_t i = 0; n->kind == NST_G_ALT && i < n->kids.len; i++)
    if (n->kids.items[i]->kind == NST_G_EMPTY) return true;
  return false;
}

/* inside: as a part of a sequence. */
static void put_node(writer *w, const nst_gnode *n, bool regex, bool inside) {
  switch (n->kind) {
  case NST_G_FAIL:
  case NST_G_EMPTY: break;
  case NST_G_TEXT: put_text(w, n->text, regex); break;
  case NST_G_CLASS: put_class(w, n->text); break;
  case NST_G_RULE:
    if (regex)
      put_group(w, w->g->rules.items[n->rule].body, true);
    else
      put_name(w, n->rule);
    break;
  case NST_G_SEQ:
    for (size_t i = 0; i < n->kids.len; i++) {
      if (i && !regex) nst_buffer_putc(w->out, ' ');
      put_node(w, n->kids.items[i], regex, true);
    }
    break;
  case NST_G_ALT: {
    const char *between = regex ? "|" : " | ";
    size_t there = 0;
    const nst_gnode *only = NULL;
    for (size_t i = 0; i < n->kids.len; i++)
      if (n->kids.items[i]->kind != NST_G_EMPTY) only = n->kids.items[i], there++;
    if (there == 1 && has_empty(n)) {
      put_group(w, only, regex);
      nst_buffer_putc(w->out, '?');
      break;
    }
    const bool grouped = inside || has_empty(n);
    if (grouped) nst_buffer_puts(w->out, regex ? "(?:" : "(");
    put_alternatives(w, n, regex, between);
    if (grouped) nst_buffer_putc(w->out, ')');
    if (has_empty(n)) nst_buffer_putc(w->out, '?');
    break;
  }
  case NST_G_REPEAT: put_repeat(w, n, regex); break;
  }
}

static void put_rule(writer *w, uint32_t rule) {
  const nst_grule *r = &w->g->rules.items[rule];
  const bool lark = w->format == NST_GRAMMAR_LARK, regex = lark && r->lexical;
  put_name(w, rule);
  nst_buffer_puts(w->out, lark ? ": " : " ::= ");
  if (regex) nst_buffer_putc(w->out, '/');
  if (r->body->kind == NST_G_ALT && !r->lexical && !has_empty(r->body))
    put_alternatives(w, r->body, false, lark ? "\n  | " : " |\n  ");
  else
    put_node(w, r->body, regex, false);
  nst_buffer_puts(w->out, regex ? "/\n" : "\n");
}

static void put_comment(writer *w, const char *text) {
  const char *begin = w->format == NST_GRAMMAR_EBNF ? "/* " : w->format == NST_GRAMMAR_LARK ? "// " : "# ";
  nst_buffer_printf(w->out, "%s%s%s\n", begin, text, w->format == NST_GRAMMAR_EBNF ? " */" : "");
}

void nst_grammar_export(nst_buffer *out, nst_grammar_format format) {
  nst_arena *arena = nst_arena_new();
  nst_grammar tokens;
  nst_grules rules = {.arena = arena};
  nst_grammar_read(&tokens, arena);
  nst_grammar_split(&rules, &tokens);
  nst_grules_merge(&rules);
  if (format == NST_GRAMMAR_LARK) nst_grules_hoist(&rules);
  writer w = {out, &rules, format, NST_NEW_ARRAY(arena, rules.rules.len, bool)};
  put_comment(&w, "Programs of the Nestor language, version 1. Made by `nestor grammar` from its parser.");
  put_comment(&w, "A rule is what may stand at one place: X-2 is another place in X. It begins with the white");
  put_comment(&w, "space in front of a token: sp may stand, ws must; ws-apart is not a single space. In a block");
  put_comment(&w, "X-item has the white space behind it that the next item needs, X-bare lacks it.");
  if (tokens.stale) put_comment(&w, nst_arena_printf(arena, "STALE: no production %s", tokens.stale));
  w.used[0] = true;
  mark(&w, rules.rules.items[0].body);
  for (size_t i = 0; i < rules.rules.len; i++)
    if (w.used[i] && !rules.rules.items[i].lexical) put_rule(&w, (uint32_t)i);
  for (size_t i = 0; i < rules.rules.len; i++)
    if (w.used[i] && rules.rules.items[i].lexical) put_rule(&w, (uint32_t)i);
  nst_arena_free(arena);
}
