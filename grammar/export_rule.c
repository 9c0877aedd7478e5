/* One rule of the grammar over tokens on one line, for people.
 *
 * Words and signs of the language stand for themselves, rules and classes of tokens are in capitals; ( ) | ? * mean
 * what they usually do, and stand in quotation marks where they are signs of the language. Rules that only serve the
 * parser are put in place: lists, and what has one alternative or may be empty. The variants of expressions in ranks
 * are not told apart. */
#include "grammar/export.h"

#include <string.h>

enum { MOST_NESTED = 12 };
typedef struct {
  nst_buffer *out;
  const nst_grammar *g;
  const nst_gsymbol *open[MOST_NESTED]; /* rules that are being written */
  int depth;
} writer;

static const char *base_name(const char *name) { return strncmp(name, "plain_", 6) ? name : name + 6; }

static void put_capitals(nst_buffer *out, const char *name) {
  for (const char *c = base_name(name); *c; c++)
    if (*c != '_') nst_buffer_putc(out, *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c);
}

static void put_token(nst_buffer *out, const nst_gsymbol *s) {
  if (!s->text) {
    const char *name = s->name;
    if (!strcmp(name, "\"a number\""))
      nst_buffer_puts(out, "NUMBER");
    else if (!strcmp(name, "\"a quantity\""))
      nst_buffer_puts(out, "QUANTITY");
    else if (!strcmp(name, "\"a text\""))
      nst_buffer_puts(out, "TEXT");
    else
      nst_buffer_puts(out, "NAME");
  } else if (strpbrk(s->text, "()|?*"))
    nst_buffer_printf(out, "\"%s\"", s->text);
  else
    nst_buffer_puts(out, s->text);
}

static bool is_semicolon(const writer *w, const nst_gitems *items) {
  return items->len == 1 && w->g->symbols.items[items->items[0].symbol].text &&
         !strcmp(w->g->symbols.items[items->items[0].symbol].text, ";");
}

/* Alternatives that say something: not empty, not a lone semicolon, which the formatter removes. */
static size_t alternatives(const writer *w, const nst_gsymbol *s, bool *empty) {
  size_t n = 0;
  *empty = false;
  for (size_t i = 0; i < s->rules.len; i++) {
    if (!s->rules.items[i].len)
      *empty = true;
    else
      n += !is_semicolon(w, &s->rules.items[i]);
  }
  return n;
}

static bool ends_with(const char *name, const char *end) {
  const size_t n = strlen(name), k = strlen(end);
  return n >= k && !strcmp(name + n - k, end);
}

static const nst_gsymbol *symbol_at(const writer *w, nst_gitem item) { return &w->g->symbols.items[item.symbol]; }

/* x (+ x | - x)*: a level of precedence, which keeps its name. */
static bool is_operation(const writer *w, const nst_gsymbol *s) {
  const nst_gitems *items = &s->rules.items[0];
  if (s->rules.len != 1 || items->len != 2 || !items->items[1].repeated) return false;
  const nst_gsymbol *next = symbol_at(w, items->items[1]);
  if (!next->rules.len || !next->rules.items[0].len) return false;
  const char *first = symbol_at(w, next->rules.items[0].items[0])->text;
  return first && strcmp(first, ",") != 0 && strcmp(first, ".") != 0;
}

static bool in_place(const writer *w, const nst_gsymbol *s) {
  bool empty;
  const size_t n = alternatives(w, s, &empty);
  for (int i = 0; i < w->depth; i++)
    if (w->open[i] == s) return false;
  return w->depth < MOST_NESTED && (n <= 1 || ends_with(s->name, "_next")) && !is_operation(w, s);
}

static void put_rule(writer *w, const nst_gsymbol *s, bool repeated);

static void put_items(writer *w, const nst_gitems *items) {
  for (size_t i = 0; i < items->len; i++) {
    const nst_gsymbol *s = &w->g->symbols.items[items->items[i].symbol];
    const bool repeated = items->items[i].repeated;
    const size_t before = w->out->len;
    if (before && w->out->text[before - 1] != ' ' && w->out->text[before - 1] != '(') nst_buffer_putc(w->out, ' ');
    const size_t start = w->out->len;
    if (s->terminal)
      put_token(w->out, s);
    else if (in_place(w, s))
      put_rule(w, s, repeated);
    else {
      bool empty;
      alternatives(w, s, &empty);
      put_capitals(w->out, s->name);
      if (empty) nst_buffer_putc(w->out, '?');
    }
    if (w->out->len == start)
      w->out->text[w->out->len = before] = '\0'; /* it says nothing */
    else if (repeated && (s->terminal || !in_place(w, s)))
      nst_buffer_putc(w->out, '*');
  }
}

/* false: it says nothing. */
static bool put_alternative(writer *w, const nst_gitems *items, bool further) {
  const size_t before = w->out->len;
  if (further) nst_buffer_puts(w->out, " | ");
  const size_t start = w->out->len;
  put_items(w, items);
  if (w->out->len > start) return true;
  w->out->len = before;
  if (w->out->text) w->out->text[before] = '\0';
  return false;
}

/* The alternatives of a rule that is put in place, in brackets where they need them. */
static void put_rule(writer *w, const nst_gsymbol *s, bool repeated) {
  bool empty;
  const size_t n = alternatives(w, s, &empty);
  if (!n) return;
  const bool brackets = repeated || empty || n > 1;
  const size_t start = w->out->len;
  if (brackets) nst_buffer_putc(w->out, '(');
  const size_t inside = w->out->len;
  w->open[w->depth++] = s;
  for (size_t i = 0, k = 0; i < s->rules.len; i++) {
    if (!s->rules.items[i].len || is_semicolon(w, &s->rules.items[i])) continue;
    k += put_alternative(w, &s->rules.items[i], k != 0);
  }
  w->depth--;
  if (w->out->len == inside)
    w->out->len = start;
  else if (brackets) {
    w->out->text[w->out->len] = '\0';
    const char *end = repeated ? ")*" : empty ? ")?" : ")";
    if (!strchr(w->out->text + inside, ' ')) { /* one word needs none */
      memmove(w->out->text + start, w->out->text + inside, w->out->len - inside);
      w->out->len--;
      end++;
    }
    nst_buffer_puts(w->out, end);
  }
  if (w->out->text) w->out->text[w->out->len] = '\0';
}

bool nst_grammar_export_rule(nst_buffer *out, const char *rule) {
  nst_arena *arena = nst_arena_new();
  nst_grammar g = {0};
  nst_grammar_read(&g, arena);
  const nst_gsymbol *s = NULL;
  for (size_t i = 0; i < g.symbols.len; i++)
    if (!g.symbols.items[i].terminal && g.symbols.items[i].rules.len && !strcmp(g.symbols.items[i].name, rule))
      s = &g.symbols.items[i];
  if (s) {
    nst_buffer line = {0};
    put_capitals(&line, s->name);
    nst_buffer_puts(&line, " = ");
    writer w = {.out = &line, .g = &g, .open = {s}, .depth = 1};
    for (size_t i = 0, k = 0; i < s->rules.len; i++) {
      if (!s->rules.items[i].len || is_semicolon(&w, &s->rules.items[i])) continue;
      k += put_alternative(&w, &s->rules.items[i], k != 0);
    }
    nst_buffer_putc(&line, '\n');
    nst_buffer_add(out, line.text, line.len);
    nst_buffer_fini(&line);
  }
  nst_arena_free(arena);
  return s != NULL;
}
