/* From a grammar over tokens to one over characters: where white space may and must stand.
 *
 * White space is optional around signs and mandatory between two words, so
 * `by (4)` may be written `by(4)`, but not `by 4` as `by4`. A reserved word may
 * be glued to a number (`512step`); a name may not stand behind a number and one
 * space, where it might be read as a unit. A grammar cannot look back, therefore
 * the states of the automata (export_automaton.h) become rules: each knows how the
 * token before it ended, and begins with the white space in front of the next one.
 *
 * A state that is reached from one place only is written there. Items of blocks
 * bring the white space behind them along. */
#include "grammar/export_automaton.h"

#include <string.h>

enum { MOST_ITEMS = 100, MOST_SIGNS = 4, MANY_TOKENS = 4 };

typedef struct {
  nst_grules *to;
  const nst_grammar *g;
  nst_gautomata a;
  nst_glexical lexical;
  uint32_t *rule_of_state, *rule_of_block; /* NST_GNONE: not made yet */
  uint32_t *uses;
  NST_VEC(struct {
    const char *name;
    unsigned count;
  }) names;
  NST_VEC(uint32_t) todo; /* states whose rules have no body yet */
  NST_VEC(uint32_t) sets; /* rules of many tokens with one state behind them */
} splitter;

static nst_gnode *seq3(splitter *s, nst_gnode *a, nst_gnode *b, nst_gnode *c) {
  return nst_gnode_seq(s->to, a, nst_gnode_seq(s->to, b, c));
}

static nst_gnode *space(splitter *s, nst_gspace kind) {
  switch (kind) {
  case NST_SPACE_NONE: return nst_gnode_empty(s->to);
  case NST_SPACE_MAY: return nst_glexical_gap(s->to, &s->lexical);
  case NST_SPACE_MUST: return nst_glexical_space(s->to, &s->lexical);
  case NST_SPACE_APART: return nst_glexical_apart(s->to, &s->lexical);
  }
  return nst_gnode_fail(s->to);
}

static const nst_gstate *state_at(const splitter *s, uint32_t state) { return &s->a.states.items[state]; }

static uint32_t new_rule(splitter *s, const char *name, nst_gnode *body) {
  *nst_vec_push(s->to->arena, &s->to->rules) = (nst_grule){.name = name, .body = body};
  return (uint32_t)s->to->rules.len - 1;
}

/* `name`, and `name-2` for the second of the name. */
static const char *fresh_name(splitter *s, const char *name) {
  size_t i = 0;
  while (i < s->names.len && strcmp(s->names.items[i].name, name) != 0) i++;
  if (i == s->names.len) {
    nst_vec_push(s->to->arena, &s->names);
    s->names.items[i].name = name;
    s->names.items[i].count = 0;
  }
  const unsigned count = ++s->names.items[i].count;
  return count == 1 ? name : nst_arena_printf(s->to->arena, "%s-%u", name, count);
}

/* ---- states ---- */

static nst_gnode *state_body(splitter *s, uint32_t state);
static nst_gnode *block(splitter *s, uint32_t index);

static nst_gnode *state_rule(splitter *s, uint32_t state) {
  state = state_at(s, state)->same;
  if (!state_at(s, state)->lives) return nst_gnode_fail(s->to);
  uint32_t *rule = &s->rule_of_state[state];
  if (*rule == NST_GNONE) {
    *rule = new_rule(s, fresh_name(s, state_at(s, state)->name), NULL);
    *nst_vec_push(s->to->arena, &s->todo) = state;
  }
  return nst_gnode_rule(s->to, *rule);
}

/* A state behind a token, or in place of it when it is used only there. */
static nst_gnode *state_behind(splitter *s, uint32_t state) {
  state = state_at(s, state)->same;
  return s->uses[state] == 1 || !state_at(s, state)->steps.len ? state_body(s, state) : state_rule(s, state);
}

static nst_gnode *atom(splitter *s, const nst_gatom *x) {
  nst_gnode *out = nst_glexical_token(s->to, &s->lexical, s->g, x->symbol);
  for (size_t i = 0; i < x->parts.len; i++) {
    const nst_gstretch *part = &s->a.stretches.items[x->parts.items[i]];
    nst_gnode *inside = part->block == NST_GNONE
                          ? state_rule(s, part->state)
                          : seq3(s, space(s, NST_SPACE_MAY), nst_gnode_optional(s->to, block(s, part->block)),
                                 nst_glexical_token(s->to, &s->lexical, s->g, part->close));
    out = nst_gnode_seq(s->to, out, inside);
  }
  return out;
}

/* Many tokens with the same behind them are a rule. */
static nst_gnode *set_of(splitter *s, nst_gnode *tokens) {
  if (tokens->kind != NST_G_ALT || tokens->kids.len < MANY_TOKENS) return tokens;
  for (size_t i = 0; i < s->sets.len; i++)
    if (nst_gnode_same(s->to->rules.items[s->sets.items[i]].body, tokens))
      return nst_gnode_rule(s->to, s->sets.items[i]);
  const uint32_t rule = new_rule(s, fresh_name(s, "operator"), tokens);
  *nst_vec_push(s->to->arena, &s->sets) = rule;
  return nst_gnode_rule(s->to, rule);
}

/* The steps with one kind of white space before them. */
static nst_gnode *steps_behind(splitter *s, const nst_gstate *x, nst_gspace kind) {
  nst_gnode *out = nst_gnode_fail(s->to);
  bool *done = NST_NEW_ARRAY(s->to->arena, x->steps.len + 1, bool);
  for (size_t i = 0; i < x->steps.len; i++) {
    const nst_gatom *first = &s->a.atoms.items[x->steps.items[i].atom];
    if (done[i] || nst_gspace_between(x->end, first->starts) != kind) continue;
    const uint32_t to = state_at(s, x->steps.items[i].state)->same;
    nst_gnode *tokens = nst_gnode_fail(s->to);
    for (size_t k = i; k < x->steps.len; k++) {
      const nst_gatom *other = &s->a.atoms.items[x->steps.items[k].atom];
      if (state_at(s, x->steps.items[k].state)->same != to || nst_gspace_between(x->end, other->starts) != kind)
        continue;
      done[k] = true;
      tokens = nst_gnode_alt(s->to, tokens, atom(s, other));
    }
    out = nst_gnode_alt(s->to, out, nst_gnode_seq(s->to, set_of(s, tokens), state_behind(s, to)));
  }
  return out;
}

static nst_gnode *state_body(splitter *s, uint32_t state) {
  const nst_gstate *x = state_at(s, state);
  nst_gnode *out = nst_gnode_fail(s->to);
  const nst_gclose *close = x->close == NST_GNONE ? NULL : &s->a.closes.items[x->close];
  for (nst_gspace kind = NST_SPACE_NONE; kind <= NST_SPACE_APART; kind++) {
    nst_gnode *here = steps_behind(s, x, kind);
    if (close && close->kind == NST_CLOSE_BRACKET &&
        nst_gspace_between(x->end, s->g->symbols.items[close->symbol].starts) == kind)
      here = nst_gnode_alt(s->to, here, nst_glexical_token(s->to, &s->lexical, s->g, close->symbol));
    if (close && close->kind == NST_CLOSE_APART && nst_gspace_between(x->end, close->starts) == kind)
      here = nst_gnode_alt(s->to, here, nst_gnode_empty(s->to));
    out = nst_gnode_alt(s->to, out, nst_gnode_seq(s->to, space(s, kind), here));
  }
  if (!close || close->kind != NST_CLOSE_SHORT) return out;
  nst_gnode *end = nst_gnode_empty(s->to);
  if (nst_gspace_between(x->end, close->starts) == NST_SPACE_APART)
    end = nst_gnode_optional(s->to, nst_gnode_text(s->to, " "));
  return nst_gnode_alt(s->to, out, end);
}

/* ---- blocks ---- */

/* One or more items. The last one, and those before signs, may lack the white space behind them. */
static nst_gnode *block(splitter *s, uint32_t index) {
  if (s->rule_of_block[index] != NST_GNONE) return nst_gnode_rule(s->to, s->rule_of_block[index]);
  const uint32_t rule = s->rule_of_block[index] = new_rule(s, fresh_name(s, s->a.blocks.items[index].name), NULL);
  const nst_gblock b = s->a.blocks.items[index];
  nst_gnode *more = nst_gnode_repeat(s->to, state_rule(s, b.sign_brief), 0, MOST_SIGNS);
  nst_gnode *brief = nst_gnode_seq(s->to, state_rule(s, b.brief), more);
  nst_gnode *some =
    nst_gnode_alt(s->to, state_rule(s, b.apart), nst_gnode_seq(s->to, brief, state_rule(s, b.sign_apart)));
  const char *name = nst_arena_printf(s->to->arena, "%s-part", b.name);
  nst_gnode *part = nst_gnode_rule(s->to, new_rule(s, name, some));
  nst_gnode *list =
    nst_gnode_seq(s->to, nst_gnode_repeat(s->to, part, 0, MOST_ITEMS - 1), nst_gnode_optional(s->to, brief));
  s->to->rules.items[rule].body = nst_gnode_alt(s->to, nst_gnode_seq(s->to, part, list), brief);
  return nst_gnode_rule(s->to, rule);
}

/* From how many places each state is reached; those that groups and blocks begin with count twice. */
static void count_uses(splitter *s) {
  for (size_t i = 0; i < s->a.stretches.len; i++)
    if (s->a.stretches.items[i].block == NST_GNONE) s->uses[state_at(s, s->a.stretches.items[i].state)->same] += 2;
  for (size_t i = 0; i < s->a.blocks.len; i++) {
    const nst_gblock *b = &s->a.blocks.items[i];
    const uint32_t states[] = {b->apart, b->brief, b->sign_apart, b->sign_brief};
    for (size_t k = 0; k < sizeof states / sizeof *states; k++) s->uses[state_at(s, states[k])->same] += 2;
  }
  for (uint32_t i = 0; i < s->a.states.len; i++) {
    const nst_gstate *x = state_at(s, i);
    for (size_t k = 0; x->same == i && k < x->steps.len; k++) {
      const nst_gstep t = x->steps.items[k];
      const uint32_t to = state_at(s, t.state)->same;
      bool again = false; /* with the same white space before it: written once */
      for (size_t j = 0; j < k; j++)
        again |= state_at(s, x->steps.items[j].state)->same == to &&
                 nst_gspace_between(x->end, s->a.atoms.items[x->steps.items[j].atom].starts) ==
                   nst_gspace_between(x->end, s->a.atoms.items[t.atom].starts);
      if (!again) s->uses[to]++;
    }
  }
}

void nst_grammar_split(nst_grules *to, const nst_grammar *g) {
  splitter s = {.to = to, .g = g};
  nst_gautomata_make(&s.a, to->arena, g);
  s.rule_of_state = NST_NEW_ARRAY(to->arena, s.a.states.len, uint32_t);
  s.rule_of_block = NST_NEW_ARRAY(to->arena, s.a.blocks.len, uint32_t);
  s.uses = NST_NEW_ARRAY(to->arena, s.a.states.len, uint32_t);
  memset(s.rule_of_state, 0xFF, s.a.states.len * sizeof *s.rule_of_state);
  memset(s.rule_of_block, 0xFF, s.a.blocks.len * sizeof *s.rule_of_block);
  count_uses(&s);
  new_rule(&s, "root", NULL);
  nst_gnode *file = block(&s, s.a.file);
  *nst_vec_push(to->arena, &to->rules) =
    (nst_grule){.name = "last-comment", .lexical = true, .body = nst_glexical_last_comment(to)};
  nst_gnode *end = nst_gnode_optional(to, nst_gnode_rule(to, (uint32_t)to->rules.len - 1));
  to->rules.items[0].body = seq3(&s, space(&s, NST_SPACE_MAY), file, end);
  for (size_t i = 0; i < s.todo.len; i++) { /* grows on the way */
    nst_gnode *body = state_body(&s, s.todo.items[i]);
    to->rules.items[s.rule_of_state[s.todo.items[i]]].body = body;
  }
}
