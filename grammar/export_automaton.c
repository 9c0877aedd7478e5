/* From productions to deterministic automata: expand, determine, minimize.
 *
 * A place of the nondeterministic automaton is a symbol with the place behind it, so
 * equal continuations are one place and recursion at the end of a production becomes
 * a loop. States are sets of places together with the end of the last token; those
 * that cannot be told apart become one (Moore's algorithm). */
#include "grammar/export_automaton.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_PLACES = 100000 };

typedef enum { PLACE_CHOICE, PLACE_STEP, PLACE_CLOSE } place_kind;
typedef struct nst_gplace {
  place_kind kind;
  bool repeated;    /* of a choice: its symbol as often as wanted */
  uint32_t what;    /* of a choice its symbol, of a step its atom, of a close its index */
  uint32_t next;    /* the place behind it */
  const char *name; /* of a step: its production */
  NST_VEC(uint32_t) options;
} place;

static const nst_gsymbol *symbol_at(const nst_gautomata *a, uint16_t symbol) { return &a->g->symbols.items[symbol]; }

/* What a nonterminal that always is one and the same token stands for. */
static uint16_t resolve(const nst_gautomata *a, nst_gitem item) {
  const nst_gsymbol *s = symbol_at(a, item.symbol);
  if (s->terminal || item.repeated || s->rules.len != 1 || s->rules.items[0].len != 1) return item.symbol;
  const nst_gitem only = s->rules.items[0].items[0];
  return symbol_at(a, only.symbol)->terminal && !only.repeated ? only.symbol : item.symbol;
}

static const char *closer_of(const char *text) {
  static const char *const pairs[][2] = {{"(", ")"}, {"[", "]"}, {"{", "}"}, {"if", "then"}, {"then", "else"}};
  for (size_t i = 0; text && i < sizeof pairs / sizeof *pairs; i++)
    if (!strcmp(text, pairs[i][0])) return pairs[i][1];
  return NULL;
}

/* ---- interned things ---- */

static uint32_t close_of(nst_gautomata *a, nst_gclose close) {
  for (size_t i = 0; i < a->closes.len; i++) {
    const nst_gclose *c = &a->closes.items[i];
    if (c->kind == close.kind && c->symbol == close.symbol && c->starts == close.starts) return (uint32_t)i;
  }
  *nst_vec_push(a->arena, &a->closes) = close;
  return (uint32_t)a->closes.len - 1;
}

static uint32_t stretch_of(nst_gautomata *a, uint16_t open, uint16_t close, const nst_gitem *items, size_t n) {
  for (size_t i = 0; i < a->stretches.len; i++) {
    const nst_gstretch *s = &a->stretches.items[i];
    bool same = s->close == close && s->content.len == n && symbol_at(a, s->open)->ends == symbol_at(a, open)->ends;
    for (size_t k = 0; same && k < n; k++)
      same = s->content.items[k].symbol == items[k].symbol && s->content.items[k].repeated == items[k].repeated;
    if (same) return (uint32_t)i;
  }
  nst_gstretch new = {.open = open, .close = close, .state = NST_GNONE, .block = NST_GNONE};
  for (size_t k = 0; k < n; k++) *nst_vec_push(a->arena, &new.content) = items[k];
  *nst_vec_push(a->arena, &a->stretches) = new;
  return (uint32_t)a->stretches.len - 1;
}

static uint32_t atom_of(nst_gautomata *a, const nst_gatom *atom) {
  for (size_t i = 0; i < a->atoms.len; i++) {
    const nst_gatom *b = &a->atoms.items[i];
    if (b->symbol != atom->symbol || b->parts.len != atom->parts.len) continue;
    if (!b->parts.len || !memcmp(b->parts.items, atom->parts.items, b->parts.len * sizeof *b->parts.items))
      return (uint32_t)i;
  }
  *nst_vec_push(a->arena, &a->atoms) = *atom;
  return (uint32_t)a->atoms.len - 1;
}

static uint32_t new_place(nst_gautomata *a, place p) {
  *nst_vec_push(a->arena, &a->places) = p;
  return (uint32_t)a->places.len - 1;
}

static uint32_t place_of(nst_gautomata *a, place_kind kind, bool repeated, uint32_t what, uint32_t next) {
  for (size_t i = 0; i < a->places.len; i++) {
    const place *p = &a->places.items[i];
    if (p->kind == kind && p->repeated == repeated && p->what == what && p->next == next) return (uint32_t)i;
  }
  return NST_GNONE;
}

/* ---- expansion ---- */

static uint32_t expand(nst_gautomata *a, const char *name, nst_gitem item, uint32_t next);

static uint32_t step(nst_gautomata *a, const char *name, const nst_gatom *atom, uint32_t next) {
  const uint32_t what = atom_of(a, atom), found = place_of(a, PLACE_STEP, false, what, next);
  return found != NST_GNONE ? found
                            : new_place(a, (place){.kind = PLACE_STEP, .what = what, .next = next, .name = name});
}

/* The closing bracket that belongs to items[i]; items->len when there is none. */
static size_t match(const nst_gautomata *a, const nst_gitems *items, size_t i) {
  const char *open = symbol_at(a, resolve(a, items->items[i]))->text, *close = closer_of(open);
  size_t depth = 0;
  for (; close && i < items->len; i++) {
    const char *text = symbol_at(a, resolve(a, items->items[i]))->text;
    if (text && !strcmp(text, open)) depth++;
    if (text && !strcmp(text, close) && !--depth) return i;
  }
  return items->len;
}

/* items[i..] and then the place behind them. */
static uint32_t sequence(nst_gautomata *a, const char *name, const nst_gitems *items, size_t i, uint32_t next) {
  if (i == items->len || a->endless) return next;
  size_t to = match(a, items, i);
  if (to == items->len) return expand(a, name, items->items[i], sequence(a, name, items, i + 1, next));
  const uint16_t open = resolve(a, items->items[i]);
  nst_gatom atom = {.symbol = open, .starts = symbol_at(a, open)->starts};
  for (size_t from = i; to < items->len; from = to, to = match(a, items, from)) {
    const uint16_t close = resolve(a, items->items[to]);
    *nst_vec_push(a->arena, &atom.parts) =
      stretch_of(a, resolve(a, items->items[from]), close, items->items + from + 1, to - from - 1);
    atom.ends = symbol_at(a, close)->ends;
    i = to + 1;
  }
  return step(a, name, &atom, sequence(a, name, items, i, next));
}

static uint32_t expand(nst_gautomata *a, const char *name, nst_gitem item, uint32_t next) {
  const nst_gsymbol *s = symbol_at(a, item.symbol);
  if (s->terminal && !item.repeated)
    return step(a, name, &(nst_gatom){.symbol = item.symbol, .starts = s->starts, .ends = s->ends}, next);
  const uint32_t found = place_of(a, PLACE_CHOICE, item.repeated, item.symbol, next);
  if (found != NST_GNONE) return found;
  const uint32_t here =
    new_place(a, (place){.kind = PLACE_CHOICE, .repeated = item.repeated, .what = item.symbol, .next = next});
  a->endless |= a->places.len > MOST_PLACES;
  if (item.repeated) {
    const uint32_t once = expand(a, name, (nst_gitem){.symbol = item.symbol}, here);
    *nst_vec_push(a->arena, &a->places.items[here].options) = next;
    *nst_vec_push(a->arena, &a->places.items[here].options) = once;
    return here;
  }
  for (size_t r = 0; r < s->rules.len; r++) {
    const uint32_t option = sequence(a, s->name, &s->rules.items[r], 0, next);
    *nst_vec_push(a->arena, &a->places.items[here].options) = option;
  }
  return here;
}

/* ---- states ---- */

typedef NST_VEC(uint32_t) numbers;

static void close_over(nst_gautomata *a, numbers *set, bool *seen, uint32_t at) {
  if (seen[at]) return;
  seen[at] = true;
  const place *p = &a->places.items[at];
  if (p->kind != PLACE_CHOICE) *nst_vec_push(a->arena, set) = at;
  for (size_t i = 0; i < p->options.len; i++) close_over(a, set, seen, p->options.items[i]);
}

static int by_number(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static uint32_t state_of(nst_gautomata *a, numbers *set, unsigned end, const char *name) {
  if (set->len) qsort(set->items, set->len, sizeof *set->items, by_number);
  for (size_t i = 0; i < a->states.len; i++) {
    const nst_gstate *s = &a->states.items[i];
    if (s->end == end && s->nodes.len == set->len &&
        (!set->len || !memcmp(s->nodes.items, set->items, set->len * sizeof *set->items)))
      return (uint32_t)i;
  }
  nst_gstate new = {.close = NST_GNONE, .end = end, .name = name};
  for (size_t i = 0; i < set->len; i++) {
    *nst_vec_push(a->arena, &new.nodes) = set->items[i];
    const place *p = &a->places.items[set->items[i]];
    if (p->kind == PLACE_CLOSE) new.close = p->what;
  }
  *nst_vec_push(a->arena, &a->states) = new;
  return (uint32_t)a->states.len - 1;
}

/* The state at a place. starts: only what begins so. */
static uint32_t state_at(nst_gautomata *a, uint32_t at, unsigned end, unsigned starts, const char *name) {
  numbers all = {0}, set = {0};
  close_over(a, &all, NST_NEW_ARRAY(a->arena, a->places.len, bool), at);
  for (size_t i = 0; i < all.len; i++) {
    const place *p = &a->places.items[all.items[i]];
    if (p->kind != PLACE_STEP || (a->atoms.items[p->what].starts & starts))
      *nst_vec_push(a->arena, &set) = all.items[i];
  }
  return state_of(a, &set, end, name);
}

static void follow(nst_gautomata *a, uint32_t state) {
  const size_t n = a->states.items[state].nodes.len;
  bool *done = NST_NEW_ARRAY(a->arena, n, bool);
  for (size_t i = 0; i < n; i++) {
    const uint32_t *nodes = a->states.items[state].nodes.items;
    if (done[i] || a->places.items[nodes[i]].kind != PLACE_STEP) continue;
    const uint32_t atom = a->places.items[nodes[i]].what;
    numbers set = {0};
    bool *seen = NST_NEW_ARRAY(a->arena, a->places.len, bool);
    for (size_t k = i; k < n; k++) {
      const place *p = &a->places.items[nodes[k]];
      if (p->kind != PLACE_STEP || p->what != atom) continue;
      done[k] = true;
      close_over(a, &set, seen, p->next);
    }
    const uint32_t to = state_of(a, &set, a->atoms.items[atom].ends, a->places.items[nodes[i]].name);
    *nst_vec_push(a->arena, &a->states.items[state].steps) = (nst_gstep){atom, to};
  }
}

static uint32_t closing_place(nst_gautomata *a, nst_gclose close) {
  const uint32_t what = close_of(a, close), found = place_of(a, PLACE_CLOSE, false, what, NST_GNONE);
  return found != NST_GNONE ? found : new_place(a, (place){.kind = PLACE_CLOSE, .what = what, .next = NST_GNONE});
}

/* ---- blocks ---- */

/* The item of which the content of a block is any number; UINT16_MAX where it is something else. */
static uint16_t item_of(const nst_gautomata *a, const nst_gitems *content) {
  if (content->len != 1 || content->items[0].repeated) return UINT16_MAX;
  const nst_gsymbol *s = symbol_at(a, content->items[0].symbol);
  if (s->terminal || s->rules.len != 1) return UINT16_MAX;
  const nst_gitems *only = &s->rules.items[0];
  return only->len == 1 && only->items[0].repeated ? only->items[0].symbol : UINT16_MAX;
}

static const char *of_block(nst_gautomata *a, const char *name, const char *what) {
  return nst_arena_printf(a->arena, "%s-%s", name, what);
}

static uint32_t block_of(nst_gautomata *a, const char *name, uint16_t symbol) {
  for (size_t i = 0; i < a->blocks.len; i++)
    if (a->blocks.items[i].item == symbol) return (uint32_t)i;
  enum { ANY = NST_START_SIGN | NST_START_RESERVED | NST_START_KEYWORD | NST_START_NAME };
  nst_gblock b = {.item = symbol, .name = name};
  const nst_gitem item = {.symbol = symbol};
  uint32_t at = expand(a, name, item, closing_place(a, (nst_gclose){.kind = NST_CLOSE_APART}));
  numbers first = {0};
  close_over(a, &first, NST_NEW_ARRAY(a->arena, a->places.len, bool), at);
  unsigned starts = NST_START_KEYWORD; /* what makes the greatest demands */
  for (size_t i = 0; i < first.len; i++) {
    const place *p = &a->places.items[first.items[i]];
    if (p->kind == PLACE_STEP && (a->atoms.items[p->what].starts & NST_START_NAME)) starts = NST_START_NAME;
  }
  at = expand(a, name, item, closing_place(a, (nst_gclose){.kind = NST_CLOSE_APART, .starts = starts}));
  b.apart = state_at(a, at, NST_END_NONE, ANY, of_block(a, name, "item"));
  b.sign_apart = state_at(a, at, NST_END_NONE, NST_START_SIGN, of_block(a, name, "sign"));
  at = expand(a, name, item, closing_place(a, (nst_gclose){.kind = NST_CLOSE_SHORT, .starts = starts}));
  b.brief = state_at(a, at, NST_END_NONE, ANY, of_block(a, name, "bare"));
  b.sign_brief = state_at(a, at, NST_END_NONE, NST_START_SIGN, of_block(a, name, "bare-sign"));
  *nst_vec_push(a->arena, &a->blocks) = b;
  return (uint32_t)a->blocks.len - 1;
}

/* ---- minimization ---- */

nst_gspace nst_gspace_between(unsigned end, unsigned starts) {
  if (end == NST_END_NONE) return NST_SPACE_NONE;
  if (end == NST_END_SIGN || starts == NST_START_SIGN) return NST_SPACE_MAY;
  if (end == NST_END_WORD || starts == NST_START_KEYWORD) return NST_SPACE_MUST;
  return starts == NST_START_RESERVED ? NST_SPACE_MAY : NST_SPACE_APART;
}

static bool may_close(const nst_gautomata *a, const nst_gstate *s) {
  return s->close != NST_GNONE && (a->closes.items[s->close].kind != NST_CLOSE_SHORT || s->end >= NST_END_WORD);
}

static int by_atom(const void *a, const void *b) {
  const uint32_t x = ((const nst_gstep *)a)->atom, y = ((const nst_gstep *)b)->atom;
  return (x > y) - (x < y);
}

/* Drops what cannot end. */
static void prune(nst_gautomata *a) {
  for (bool more = true; more;) {
    more = false;
    for (size_t i = 0; i < a->states.len; i++) {
      nst_gstate *s = &a->states.items[i];
      bool lives = may_close(a, s);
      for (size_t k = 0; !lives && k < s->steps.len; k++) lives = a->states.items[s->steps.items[k].state].lives;
      more |= lives != s->lives;
      s->lives = lives;
    }
  }
  for (size_t i = 0; i < a->states.len; i++) {
    nst_gstate *s = &a->states.items[i];
    size_t n = 0;
    for (size_t k = 0; k < s->steps.len; k++)
      if (a->states.items[s->steps.items[k].state].lives) s->steps.items[n++] = s->steps.items[k];
    s->steps.len = n;
    if (!may_close(a, s)) s->close = NST_GNONE;
    if (n) qsort(s->steps.items, n, sizeof *s->steps.items, by_atom);
  }
}

/* Whether two states do the same as far as classes[] tells their successors apart. */
static bool alike(const nst_gautomata *a, const uint32_t *class, const nst_gstate *x, const nst_gstate *y) {
  if (x->lives != y->lives || x->close != y->close || x->steps.len != y->steps.len) return false;
  if (x->close != NST_GNONE) {
    const nst_gclose *c = &a->closes.items[x->close];
    const unsigned starts = c->kind == NST_CLOSE_BRACKET ? symbol_at(a, c->symbol)->starts : c->starts;
    if (nst_gspace_between(x->end, starts) != nst_gspace_between(y->end, starts)) return false;
  }
  for (size_t k = 0; k < x->steps.len; k++) {
    const nst_gstep s = x->steps.items[k], t = y->steps.items[k];
    const unsigned starts = a->atoms.items[s.atom].starts;
    if (s.atom != t.atom || class[s.state] != class[t.state] ||
        nst_gspace_between(x->end, starts) != nst_gspace_between(y->end, starts))
      return false;
  }
  return true;
}

static void minimize(nst_gautomata *a) {
  const size_t n = a->states.len;
  uint32_t *old = NST_NEW_ARRAY(a->arena, n, uint32_t), *now = NST_NEW_ARRAY(a->arena, n, uint32_t);
  uint32_t *first = NST_NEW_ARRAY(a->arena, n, uint32_t);
  for (size_t count = 0, before = SIZE_MAX; count != before;) {
    before = count;
    count = 0;
    for (size_t i = 0; i < n; i++) {
      uint32_t c = 0;
      while (c < count && (old[first[c]] != old[i] || !alike(a, old, &a->states.items[first[c]], &a->states.items[i])))
        c++;
      if (c == count) first[count++] = (uint32_t)i;
      now[i] = c;
    }
    memcpy(old, now, n * sizeof *old);
  }
  for (size_t i = 0; i < n; i++) a->states.items[i].same = first[now[i]];
}

void nst_gautomata_make(nst_gautomata *a, nst_arena *arena, const nst_grammar *g) {
  *a = (nst_gautomata){.arena = arena, .g = g};
  nst_gitems file = {0};
  *nst_vec_push(arena, &file) = g->symbols.items[g->start].rules.items[0].items[0];
  a->file = block_of(a, symbol_at(a, file.items[0].symbol)->name, item_of(a, &file));
  for (size_t done = 0, begun = 0; (done < a->states.len || begun < a->stretches.len) && !a->endless;) {
    if (done < a->states.len) {
      follow(a, (uint32_t)done++);
      continue;
    }
    const nst_gstretch s = a->stretches.items[begun];
    const uint16_t item = item_of(a, &s.content);
    const char *name = s.content.len ? symbol_at(a, s.content.items[0].symbol)->name : "empty";
    if (item != UINT16_MAX) {
      const uint32_t block = block_of(a, name, item);
      a->stretches.items[begun++].block = block;
      continue;
    }
    const uint32_t end = closing_place(a, (nst_gclose){.kind = NST_CLOSE_BRACKET, .symbol = s.close});
    const uint32_t at = sequence(a, name, &s.content, 0, end);
    const uint32_t state = state_at(a, at, symbol_at(a, s.open)->ends, ~0U, name);
    a->stretches.items[begun++].state = state;
  }
  prune(a);
  minimize(a);
}
