/* The grammar over tokens: what bison reports, read, narrowed and without left recursion.
 *
 * The productions come from parser.y by way of bison's XML report (rules.inc, made
 * when the library is built), so there is one grammar. Those with `error` are
 * dropped, those that only serve a message are replaced (export_narrow.def). A
 * nonterminal that stands for one name (`name`, `word`, `keep_name`) becomes a
 * token of its own: all names but some words. `x: a | x b` becomes a followed
 * by any number of x_next: b. */
#include "grammar/export.h"

#include "grammar/parser.h"
#include "grammar/state.h"
#include <string.h>

static const char *const productions[] = {
#include "grammar/rules.inc"
};
static const struct {
  const char *old, *now;
} narrow[] = {
#define NARROW(old, now) {old, now},
#include "grammar/export_narrow.def"
#undef NARROW
};
enum { NARROWED = sizeof narrow / sizeof *narrow };

/* ---- symbols ---- */

static uint16_t find(const nst_grammar *g, const char *name, size_t len) {
  for (size_t i = 0; i < g->symbols.len; i++)
    if (strlen(g->symbols.items[i].name) == len && !memcmp(g->symbols.items[i].name, name, len)) return (uint16_t)i;
  return UINT16_MAX;
}

static void describe(nst_gsymbol *s, unsigned starts, unsigned ends) {
  s->terminal = true;
  s->starts = starts;
  s->ends = ends;
}

static void describe_terminal(nst_grammar *g, nst_gsymbol *s) {
  const char *name = s->name;
  if (!strcmp(name, "\"a text\"")) {
    describe(s, NST_START_SIGN, NST_END_SIGN);
  } else if (!strcmp(name, "\"a name\"")) {
    describe(s, NST_START_NAME, NST_END_WORD);
  } else if (!strncmp(name, "\"a ", 3)) {
    describe(s, NST_START_KEYWORD, strcmp(name, "\"a number\"") ? NST_END_WORD : NST_END_NUMBER);
  } else {
    s->text = nst_arena_strndup(g->arena, name + 1, strlen(name) - 2);
    const char c = *s->text;
    bool reserved = false;
    for (int kind = NST_TOK_IF; kind <= NST_TOK_STEP; kind++) reserved |= !strcmp(s->text, nst_token_text(kind));
    if (c == '_' || (c >= 'a' && c <= 'z'))
      describe(s, reserved ? NST_START_RESERVED : NST_START_KEYWORD, NST_END_WORD);
    else
      describe(s, NST_START_SIGN, NST_END_SIGN);
  }
}

static uint16_t intern(nst_grammar *g, const char *name, size_t len) {
  const uint16_t found = find(g, name, len);
  if (found != UINT16_MAX) return found;
  nst_gsymbol *s = nst_vec_push(g->arena, &g->symbols);
  *s = (nst_gsymbol){.name = nst_arena_strndup(g->arena, name, len)};
  if (strchr("\"'`", *name)) describe_terminal(g, s);
  return (uint16_t)(g->symbols.len - 1);
}

/* "lhs: a 'b' "c d"" up to the end of the line. */
static void add_production(nst_grammar *g, const char *line, size_t len) {
  const char *end = line + len, *colon = memchr(line, ':', len);
  const uint16_t lhs = intern(g, line, (size_t)(colon - line));
  nst_gitems items = {0};
  for (const char *at = colon + 1; at < end;) {
    if (*at == ' ') {
      at++;
      continue;
    }
    const char *stop = at + 1;
    if (*at == '\'')
      stop = at + 3;
    else if (*at == '"' || *at == '`')
      stop = (const char *)memchr(at + 1, *at, (size_t)(end - at - 1)) + 1;
    else
      while (stop < end && *stop != ' ') stop++;
    *nst_vec_push(g->arena, &items) = (nst_gitem){.symbol = intern(g, at, (size_t)(stop - at))};
    at = stop;
  }
  *nst_vec_push(g->arena, &g->symbols.items[lhs].rules) = items;
}

static void read_productions(nst_grammar *g) {
  bool used[NARROWED] = {0};
  for (size_t i = 0; i < sizeof productions / sizeof *productions; i++) {
    const char *p = productions[i];
    if (strstr(p, " error")) continue;
    size_t n = 0;
    while (n < NARROWED && strcmp(narrow[n].old, p) != 0) n++;
    if (n == NARROWED) {
      add_production(g, p, strlen(p));
      continue;
    }
    used[n] = true;
    for (const char *line = narrow[n].now; *line;) {
      const size_t len = strcspn(line, "\n");
      add_production(g, line, len);
      line += len + (line[len] == '\n');
    }
  }
  for (size_t n = 0; n < NARROWED; n++)
    if (!used[n]) g->stale = narrow[n].old;
}

/* ---- plain_X: X without quantities, down to the next brackets ---- */

static bool keeps_quantities(const char *name) {
  static const char *const stops[] = {"opt_args", "access", "set", "args"};
  for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
    if (!strcmp(stops[i], name)) return true;
  return false;
}

static void make_plain(nst_grammar *g) {
  for (size_t i = 0; i < g->symbols.len; i++) { /* grows on the way */
    const char *name = g->symbols.items[i].name;
    if (strncmp(name, "plain_", 6) != 0) continue;
    const uint16_t from = find(g, name + 6, strlen(name + 6));
    for (size_t r = 0; r < g->symbols.items[from].rules.len; r++) {
      const nst_gitems old = g->symbols.items[from].rules.items[r];
      nst_gitems items = {0};
      bool quantity = false;
      for (size_t k = 0; k < old.len; k++) {
        const nst_gsymbol *s = &g->symbols.items[old.items[k].symbol];
        quantity |= !strcmp(s->name, "\"a quantity\"");
        nst_gitem item = old.items[k];
        if (!s->terminal && !keeps_quantities(s->name)) {
          const char *copy = nst_arena_printf(g->arena, "plain_%s", s->name);
          item.symbol = intern(g, copy, strlen(copy));
        }
        *nst_vec_push(g->arena, &items) = item;
      }
      if (!quantity) *nst_vec_push(g->arena, &g->symbols.items[i].rules) = items;
    }
  }
}

/* ---- names ---- */

/* Marks what one symbol may be, when it is always one token; false when it is not. */
static bool tokens_of(const nst_grammar *g, uint16_t symbol, bool *is, int depth) {
  const nst_gsymbol *s = &g->symbols.items[symbol];
  if (s->terminal) {
    is[symbol] = true;
    return s->text == NULL || s->starts != NST_START_SIGN;
  }
  if (depth > 8 || !s->rules.len) return false;
  for (size_t r = 0; r < s->rules.len; r++) {
    const nst_gitems *items = &s->rules.items[r];
    if (items->len != 1 || !tokens_of(g, items->items[0].symbol, is, depth + 1)) return false;
  }
  return true;
}

static void make_names(nst_grammar *g) {
  const uint16_t any = find(g, "\"a name\"", 8);
  const size_t n = g->symbols.len;
  bool *is = NST_NEW_ARRAY(g->arena, n, bool);
  nst_gsymbol *now = NST_NEW_ARRAY(g->arena, n, nst_gsymbol);
  memcpy(now, g->symbols.items, n * sizeof *now);
  for (size_t i = 0; i < n; i++) {
    memset(is, 0, n * sizeof *is);
    if (g->symbols.items[i].terminal || !tokens_of(g, (uint16_t)i, is, 0) || !is[any]) continue;
    now[i] = (nst_gsymbol){.name = g->symbols.items[i].name};
    describe(&now[i], NST_START_NAME, NST_END_WORD);
    for (int kind = NST_TOK_IF; kind < NST_TOK_KEYWORDS_END; kind++) {
      const char *word = nst_token_text(kind);
      bool in = false;
      for (size_t k = 0; k < n; k++) in |= is[k] && g->symbols.items[k].text && !strcmp(g->symbols.items[k].text, word);
      if (!in) *nst_vec_push(g->arena, &now[i].excluded) = word;
    }
    if (!strncmp(now[i].name, "other_", 6)) *nst_vec_push(g->arena, &now[i].excluded) = "sum";
  }
  memcpy(g->symbols.items, now, n * sizeof *now);
}

/* ---- left recursion ---- */

static void make_repetitions(nst_grammar *g) {
  const size_t n = g->symbols.len;
  for (size_t i = 0; i < n; i++) {
    nst_gsymbol old = g->symbols.items[i], now = old;
    uint16_t next = UINT16_MAX;
    now.rules.items = NULL;
    now.rules.len = now.rules.cap = 0;
    for (size_t r = 0; r < old.rules.len; r++) {
      const nst_gitems items = old.rules.items[r];
      if (!items.len || items.items[0].symbol != i) continue;
      if (next == UINT16_MAX) {
        const char *name = nst_arena_printf(g->arena, "%s_next", old.name);
        next = intern(g, name, strlen(name));
      }
      nst_gitems tail = {0};
      for (size_t k = 1; k < items.len; k++) *nst_vec_push(g->arena, &tail) = items.items[k];
      *nst_vec_push(g->arena, &g->symbols.items[next].rules) = tail;
    }
    if (next == UINT16_MAX) continue;
    for (size_t r = 0; r < old.rules.len; r++) {
      nst_gitems items = old.rules.items[r];
      if (items.len && items.items[0].symbol == i) continue;
      *nst_vec_push(g->arena, &items) = (nst_gitem){next, true};
      *nst_vec_push(g->arena, &now.rules) = items;
    }
    g->symbols.items[i] = now;
  }
}

void nst_grammar_read(nst_grammar *g, nst_arena *arena) {
  *g = (nst_grammar){.arena = arena};
  read_productions(g);
  make_names(g);
  make_plain(g);
  make_repetitions(g);
  g->start = find(g, "file", 4);
}
