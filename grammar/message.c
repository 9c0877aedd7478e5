/* What to say about an unexpected token.
 *
 * The likely slips are tried in turn (slip.h); the last resort lists what was
 * expected. A slip with one plain repair also chooses where recovery goes on:
 * behind a missing brace, or at a misspelt keyword read as the right one. A
 * token next to a mistake of the scanner is passed over in silence. */
#include "grammar/slip.h"
#include "grammar/words.h"
#include <string.h>

void nst_message_too_deep(nst_parser *p, nst_span span) {
  if (p->deep_reported) return;
  p->deep_reported = true;
  if (span.end - span.begin > 1) span.end = span.begin + 1;
  nst_diag *m = nst_diag_add(p->diags, NST_D_TOO_DEEP, span, "nesting too deep");
  nst_diag_help(p->diags, m,
                "name parts of it with `let`, or write fewer brackets; an expression may be %d levels deep",
                NST_AST_MAX_DEPTH);
}

static void add_phrase(nst_buffer *b, const char **last, const char *phrase) {
  if (*last) {
    if (b->len) nst_buffer_puts(b, ", ");
    nst_buffer_puts(b, *last);
  }
  *last = phrase;
}

static bool value_token(int kind) {
  return kind == NST_TOK_NUMBER || kind == NST_TOK_QUANTITY || kind == NST_TOK_TRUE || kind == NST_TOK_FALSE ||
         kind == NST_TOK_NOT || kind == NST_TOK_IF || kind == '(' || kind == '-' || kind == '+';
}
static bool operator_token(int kind) {
  return kind == '+' || kind == '-' || kind == '*' || kind == '/' || kind == '%' || kind == '<' || kind == '>' ||
         kind == '.' || kind == '(' || kind == '[' || kind == '=' || (kind >= NST_TOK_EQ && kind <= NST_TOK_GE) ||
         kind == NST_TOK_FLOORDIV || kind == NST_TOK_POW || kind == NST_TOK_AND || kind == NST_TOK_OR;
}

static void expected_list(nst_slip *s) {
  nst_parser *p = s->p;
  nst_buffer b = {0};
  const char *last = NULL;
  bool value = nst_slip_expects_value(s), operators = nst_slip_expects_operator(s),
       name = nst_slip_expects(s, NST_TOK_NAME);
  const char *items = nst_word_items(s->block);
  bool item = nst_slip_expects(s, s->block == NST_BLOCK_FILE ? NST_TOK_END : '}') && nst_slip_expects(s, ';') && items;
  if (value) add_phrase(&b, &last, "a value");
  if (operators) add_phrase(&b, &last, "an operator");
  if (operators && item) items = "the next item";
  if (name && !value && !item) add_phrase(&b, &last, "a name");
  for (int i = 0; i < s->n; i++) {
    int kind = s->expected[i];
    if ((value && value_token(kind)) || (operators && operator_token(kind)) || kind == NST_TOK_NAME) continue;
    if (nst_token_is_name(kind) && (name || item)) continue;
    if (item && (kind == ';' || kind == '}' || kind == NST_TOK_END)) continue;
    const char *text = nst_token_text(kind);
    if (kind == NST_TOK_NUMBER || kind == NST_TOK_QUANTITY || kind == NST_TOK_STRING) {
      add_phrase(&b, &last, text);
    } else if (kind == NST_TOK_END) {
      add_phrase(&b, &last, "the end of the file");
    } else {
      size_t len = strlen(text);
      bool quoted = len > 2 && text[0] == '\'';
      add_phrase(&b, &last,
                 nst_arena_printf(p->arena, "`%.*s`", quoted ? (int)len - 2 : (int)len, quoted ? text + 1 : text));
    }
  }
  if (item) {
    const char *split = strstr(items, " or ");
    if (split) add_phrase(&b, &last, nst_arena_strndup(p->arena, items, (size_t)(split - items)));
    add_phrase(&b, &last, split ? split + 4 : items);
  }
  const char *list = b.len ? nst_arena_printf(p->arena, "%s or %s", b.text, last) : last ? last : "something else";
  nst_buffer_fini(&b);
  if (s->t->kind == NST_TOK_END) {
    nst_span where = s->at ? nst_slip_behind(s, s->at - 1) : nst_slip_span_of(s, s->at);
    nst_diag_add(p->diags, NST_D_SYNTAX, where, "expected %s, found the end of the file", list);
    return;
  }
  int shown = nst_slip_length_of(s, s->at) > 40 ? 40 : nst_slip_length_of(s, s->at);
  while (shown > 0 && shown < nst_slip_length_of(s, s->at) &&
         ((unsigned char)nst_slip_text_of(s, s->at)[shown] & 0xC0) == 0x80)
    shown--;
  nst_diag_add(p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at), "expected %s, found `%.*s%s`", list, shown,
               nst_slip_text_of(s, s->at), shown < nst_slip_length_of(s, s->at) ? "…" : "");
}

/* In the head of a declaration with a block, bison looks for the `{`: let it find the right one. */
static void steer_to_block(nst_slip *s) {
  nst_parser *p = s->p;
  if (p->blocks.len || nst_slip_expects(s, NST_TOK_WORKLOAD) || s->at == 0) return;
  uint32_t head = s->at;
  do head--;
  while (head > 0 && !(nst_recover_starts_decl(p, head) &&
                       (nst_slip_first_on_line(s, head) || nst_slip_token(s, head - 1)->kind == '}')));
  if (nst_slip_token(s, head)->kind == NST_TOK_CONST || nst_slip_token(s, head)->kind == NST_TOK_USE) return;
  uint32_t i = s->at, last = (uint32_t)p->tokens.len - 1;
  if (p->resume != NST_NONE) i = p->resume;
  for (; i < last && p->resume == NST_NONE; i++) {
    if (nst_slip_token(s, i)->kind == '{') {
      if (i > s->at) p->next = i;
      return;
    }
    if (nst_recover_starts_decl(p, i) && nst_slip_first_on_line(s, i)) break;
    if (nst_slip_token(s, i)->kind == '}' || nst_slip_token(s, i)->kind == ';') break;
  }
  p->resume = NST_NONE;
  p->next = i;
  p->inject_open = true;
  p->injected = 1;
}

static bool scanner_spoke(const nst_slip *s) {
  uint32_t from = s->at ? nst_slip_token(s, s->at - 1)->begin : 0;
  size_t lo = 0, hi = s->p->bad.len;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (s->p->bad.items[mid] < from)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo < s->p->bad.len && s->p->bad.items[lo] <= s->t->end;
}

void nst_message_syntax(nst_parser *p, const int *expected, int n) {
  p->resume = NST_NONE;
  if (p->stop) return;
  nst_slip s = {.p = p, .at = p->current, .expected = expected, .n = n};
  s.t = nst_slip_token(&s, s.at);
  s.block = p->blocks.len ? p->blocks.items[p->blocks.len - 1].kind : NST_BLOCK_FILE;
  if (!scanner_spoke(&s)) {
    bool said = nst_slip_missing_close_brace(&s) || nst_slip_comment_style(&s) || nst_slip_swallowed_keyword(&s) ||
                nst_slip_lone_unit(&s) || nst_slip_unknown_unit(&s) || nst_slip_name_read_as_unit(&s) || nst_slip_choice(&s) ||
                nst_slip_text_for_value(&s) || nst_slip_head_word(&s) || nst_slip_loop_over_range(&s) ||
                nst_slip_loop_tile(&s) || nst_slip_keep_in(&s) || nst_slip_array_axes(&s) || nst_slip_round_ranks(&s) ||
                nst_slip_missing_times(&s) ||
                nst_slip_number_form(&s) || nst_slip_trailing_comma(&s) || nst_slip_bracket(&s) ||
                nst_slip_assign_for_equal(&s) || nst_slip_if_without_else(&s) || nst_slip_reserved_word(&s) ||
                nst_slip_set_in_braces(&s) ||
                nst_slip_missing_comma(&s) || nst_slip_keyword(&s) || nst_slip_missing_operator(&s) ||
                nst_slip_nothing_behind(&s);
    if (!said) expected_list(&s);
  }
  steer_to_block(&s);
}
