/* An unexpected token and what stands around it, for the functions that know a
 * likely slip (slips_*.c). Each of them reports and returns true, or returns
 * false and leaves everything as it is. */
#ifndef NST_GRAMMAR_SLIP_H
#define NST_GRAMMAR_SLIP_H
#include "grammar/parser.h"
#include "grammar/state.h"

typedef struct {
  nst_parser *p;
  uint32_t at; /* the unexpected token */
  const nst_token *t;
  const int *expected;
  int n;
  nst_block_kind block;
} nst_slip;

static inline const nst_token *nst_slip_token(const nst_slip *s, uint32_t i) { return &s->p->tokens.items[i]; }
static inline nst_span nst_slip_span_of(const nst_slip *s, uint32_t i) { return nst_token_span_of(s->p, i); }
static inline bool nst_slip_first_on_line(const nst_slip *s, uint32_t i) {
  return nst_slip_token(s, i)->line_first == i;
}
static inline const nst_token *nst_slip_before(const nst_slip *s, uint32_t n) {
  return s->at >= n ? nst_slip_token(s, s->at - n) : NULL;
}
static inline bool nst_slip_same_line(const nst_slip *s, uint32_t i, uint32_t j) {
  return nst_slip_token(s, i)->line_first == nst_slip_token(s, j)->line_first;
}
static inline const char *nst_slip_text_of(const nst_slip *s, uint32_t i) {
  return s->p->source->text + nst_slip_token(s, i)->begin;
}
static inline int nst_slip_length_of(const nst_slip *s, uint32_t i) {
  return (int)(nst_slip_token(s, i)->end - nst_slip_token(s, i)->begin);
}

static inline bool nst_slip_expects(const nst_slip *s, int kind) {
  for (int i = 0; i < s->n; i++)
    if (s->expected[i] == kind) return true;
  return false;
}
static inline bool nst_slip_expects_operator(const nst_slip *s) {
  return nst_slip_expects(s, '*') && nst_slip_expects(s, '+');
}
static inline bool nst_slip_expects_value(const nst_slip *s) { return nst_slip_expects(s, NST_TOK_NUMBER); }
static inline bool nst_slip_prev_is(const nst_slip *s, int kind) {
  return s->at > 0 && nst_slip_token(s, s->at - 1)->kind == kind;
}
static inline bool nst_slip_prev_is_name(const nst_slip *s) {
  return s->at > 0 && nst_token_is_name(nst_slip_token(s, s->at - 1)->kind);
}

static inline nst_span nst_slip_behind(const nst_slip *s, uint32_t i) {
  return nst_parse_span(s->p, nst_slip_token(s, i)->end, nst_slip_token(s, i)->end);
}

/* slips_bracket.c: braces, brackets, commas */
bool nst_slip_missing_close_brace(nst_slip *s);
bool nst_slip_bracket(nst_slip *s);
bool nst_slip_trailing_comma(nst_slip *s);
bool nst_slip_missing_comma(nst_slip *s);

/* slips_value.c: operators, numbers, units, comments, incomplete values */
bool nst_slip_comment_style(nst_slip *s);
bool nst_slip_assign_for_equal(nst_slip *s);
bool nst_slip_missing_operator(nst_slip *s);
bool nst_slip_lone_unit(nst_slip *s);
bool nst_slip_name_read_as_unit(nst_slip *s);
bool nst_slip_unknown_unit(nst_slip *s);
bool nst_slip_missing_times(nst_slip *s);
bool nst_slip_choice(nst_slip *s);
bool nst_slip_text_for_value(nst_slip *s);
bool nst_slip_number_form(nst_slip *s);
bool nst_slip_if_without_else(nst_slip *s);
bool nst_slip_set_in_braces(nst_slip *s);
bool nst_slip_nothing_behind(nst_slip *s);

/* slips_word.c: keywords and reserved words */
bool nst_slip_swallowed_keyword(nst_slip *s);
bool nst_slip_reserved_word(nst_slip *s);
bool nst_slip_keyword(nst_slip *s);

/* slips_form.c: heads, loops, keeps, arrays, accesses */
bool nst_slip_head_word(nst_slip *s);
bool nst_slip_loop_over_range(nst_slip *s);
bool nst_slip_loop_tile(nst_slip *s);
bool nst_slip_keep_in(nst_slip *s);
bool nst_slip_array_axes(nst_slip *s);
bool nst_slip_round_ranks(nst_slip *s);
#endif
