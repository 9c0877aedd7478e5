/* Slips with the form of a line: words in the wrong order or left out, loops
 * and arrays as other languages write them, round brackets behind a tensor.
 * Where the line shows what was meant, the fix writes it out. */
#include "grammar/slip.h"
#include <string.h>

static const char *text_between(const nst_slip *s, uint32_t first, uint32_t last) {
  const nst_token *a = nst_slip_token(s, first), *b = nst_slip_token(s, last);
  return nst_arena_strndup(s->p->arena, s->p->source->text + a->begin, b->end - a->begin);
}
static nst_span span_between(const nst_slip *s, uint32_t first, uint32_t last) {
  return nst_span_join(nst_slip_span_of(s, first), nst_slip_span_of(s, last));
}
static uint32_t count(const nst_slip *s) { return (uint32_t)s->p->tokens.len - 1; } /* without END */
static int kind(const nst_slip *s, uint32_t i) { return i < count(s) ? nst_slip_token(s, i)->kind : NST_TOK_END; }
static bool is_word(const nst_slip *s, uint32_t i, const char *const *words) {
  if (i >= count(s) || !nst_token_is_name(kind(s, i))) return false;
  for (; *words; words++)
    if (strcmp(nst_slip_token(s, i)->name, *words) == 0) return true;
  return false;
}
static nst_span gap_before(const nst_slip *s, uint32_t i) {
  const uint32_t at = nst_slip_token(s, i)->begin;
  return nst_parse_span(s->p, at, at);
}

/* The bracket that closes the one at `open`; NST_NONE within 1000 tokens. */
static uint32_t closing(const nst_slip *s, uint32_t open) {
  int depth = 0;
  for (uint32_t i = open; i < count(s) && i < open + 1000; i++) {
    const int k = kind(s, i);
    if (k == '(' || k == '[') depth++;
    if ((k == ')' || k == ']') && --depth == 0) return i;
    if (k == '{' || k == '}') return NST_NONE;
  }
  return NST_NONE;
}

/* ---- heads of declarations ---- */

/* The last token of the reference at i: NAME, NAME.NAME, each with arguments; NST_NONE: it is none. */
static uint32_t reference_end(const nst_slip *s, uint32_t i) {
  if (!nst_token_is_name(kind(s, i))) return NST_NONE;
  if (kind(s, i + 1) == '.' && nst_token_is_name(kind(s, i + 2))) i += 2;
  return kind(s, i + 1) == '(' ? closing(s, i + 1) : i;
}

/* mapping m on HARDWARE of WORKLOAD */
static bool swapped(nst_slip *s, uint32_t head) {
  if (kind(s, head) != NST_TOK_MAPPING || s->t->kind != NST_TOK_ON) return false;
  const uint32_t hardware = reference_end(s, s->at + 1);
  const bool both = hardware != NST_NONE && kind(s, hardware + 1) == NST_TOK_OF;
  const uint32_t workload = both ? reference_end(s, hardware + 2) : NST_NONE;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at),
                             "a mapping names its workload first, with `of`, then its hardware, with `on`");
  if (workload == NST_NONE) {
    nst_diag_help(s->p->diags, m, "write `mapping %s of WORKLOAD on HARDWARE`", nst_slip_token(s, head + 1)->name);
    return true;
  }
  nst_diag_fix(s->p->diags, m, span_between(s, s->at, workload),
               nst_arena_printf(s->p->arena, "of %s on %s", text_between(s, hardware + 2, workload),
                                text_between(s, s->at + 1, hardware)));
  return true;
}

/* test NAME of … */
static bool title_without_quotes(nst_slip *s, uint32_t head) {
  if (kind(s, head) != NST_TOK_TEST || kind(s, s->at + 1) != NST_TOK_OF) return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at),
                             "a test has no name; what it is about may stand in quotation marks");
  nst_diag_fix(s->p->diags, m, nst_slip_span_of(s, s->at), nst_arena_printf(s->p->arena, "\"%s\"", s->t->name));
  return true;
}

/* The word between two names of a head is missing, or another one stands there. */
bool nst_slip_head_word(nst_slip *s) {
  static const char *const links[] = {"of", "on", "for", "with", "against", "in", "from", "to", "using", NULL};
  const int word = nst_slip_expects(s, NST_TOK_OF)        ? NST_TOK_OF
                   : nst_slip_expects(s, NST_TOK_ON)      ? NST_TOK_ON
                   : nst_slip_expects(s, NST_TOK_AGAINST) ? NST_TOK_AGAINST
                                                          : 0;
  if (!word || s->p->blocks.len || s->at == 0 || nst_slip_expects(s, NST_TOK_WORKLOAD)) return false;
  uint32_t head = s->at - 1;
  while (head > 0 && s->at - head < 100 && !(nst_recover_starts_decl(s->p, head) && nst_slip_first_on_line(s, head)) &&
         !(kind(s, head) == NST_TOK_TEST && head == s->at - 1))
    head--;
  if (s->t->kind == '{' && kind(s, head) == NST_TOK_MAPPING) {
    nst_diag *m = nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at),
                               word == NST_TOK_ON ? "this mapping does not say on which hardware it runs"
                                                  : "this mapping does not say which workload it is of");
    nst_diag_help(s->p->diags, m, "write `mapping %s of WORKLOAD on HARDWARE`", nst_slip_token(s, head + 1)->name);
    return true;
  }
  if (!nst_token_is_name(s->t->kind)) return false;
  if (swapped(s, head) || title_without_quotes(s, head)) return true;
  const char *text = nst_token_text(word);
  if (head + 2 == s->at && kind(s, s->at - 1) == word) { /* sweep of m: taken for its name */
    nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at - 1), "a name is missing before `%s`", text);
    return true;
  }
  const bool other = is_word(s, s->at, links) && nst_token_is_name(kind(s, s->at + 1));
  nst_diag *m =
    nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at),
                 other ? "`%s` is expected here, not `%s`" : "`%s` is missing before `%s`", text, s->t->name);
  if (other)
    nst_diag_fix(s->p->diags, m, nst_slip_span_of(s, s->at), text);
  else
    nst_diag_fix(s->p->diags, m, gap_before(s, s->at), nst_arena_printf(s->p->arena, "%s ", text));
  return true;
}

/* ---- lines of a mapping ---- */

static bool in_loop(const nst_slip *s) {
  const nst_token *word = nst_slip_before(s, 2);
  return s->block == NST_BLOCK_MAPPING && word && (word->kind == NST_TOK_FOR || word->kind == NST_TOK_PAR) &&
         nst_slip_prev_is_name(s);
}

/* for k in 0 .. K, for k = 0 .. K by T, for (k = 0; …) */
bool nst_slip_loop_over_range(nst_slip *s) {
  const bool round = s->block == NST_BLOCK_MAPPING && s->t->kind == '(' &&
                     (nst_slip_prev_is(s, NST_TOK_FOR) || nst_slip_prev_is(s, NST_TOK_PAR));
  if (!round && (!in_loop(s) || (s->t->kind != NST_TOK_IN && s->t->kind != '='))) return false;
  const uint32_t at = round ? s->at + 1 : s->at - 1;
  if (!nst_token_is_name(kind(s, at))) return false;
  const char *dim = nst_slip_token(s, at)->name;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_RANGE_CALL, nst_slip_span_of(s, s->at),
                             "a loop runs over the whole of its dimension");
  uint32_t by = s->at;
  while (by < count(s) && nst_slip_same_line(s, by, s->at) &&
         (round || (kind(s, by) != NST_TOK_BY && kind(s, by) != NST_TOK_STEP)))
    by++;
  if (round) s->p->resume = by;
  const bool tiled = !round && by + 1 < count(s) && nst_slip_same_line(s, by + 1, s->at);
  if (tiled) {
    nst_diag_help(s->p->diags, m, "`for %s by T` runs over it in tiles of T", dim);
    nst_diag_fix(s->p->diags, m, span_between(s, s->at, by), "by");
  } else {
    nst_diag_help(s->p->diags, m, "write `for %s by T` for tiles of T, `for %s into N` for N tiles, or `for %s`", dim,
                  dim, dim);
  }
  return true;
}

/* for k / T, for k : T, for k T */
bool nst_slip_loop_tile(nst_slip *s) {
  if (!in_loop(s) || s->at + 1 >= s->p->tokens.len) return false;
  const int k = s->t->kind;
  const bool sign = k == '/' || k == ':' || k == '%' || k == ',' || k == NST_TOK_STEP || k == NST_TOK_FLOORDIV;
  const bool value = k == NST_TOK_NUMBER || (k == NST_TOK_NAME && !nst_recover_starts_item(s->p, s->block, s->at) &&
                                             (nst_slip_first_on_line(s, s->at + 1) || kind(s, s->at + 1) == '}'));
  if (!nst_slip_same_line(s, s->at - 1, s->at) || (!sign && !value)) return false;
  nst_diag *m =
    nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at), "the size of a tile stands behind `by`");
  if (sign)
    nst_diag_fix(s->p->diags, m, nst_slip_span_of(s, s->at), "by");
  else
    nst_diag_fix(s->p->diags, m, gap_before(s, s->at), "by ");
  return true;
}

/* keep all GLB, keep all at GLB, keep A, B GLB */
bool nst_slip_keep_in(nst_slip *s) {
  static const char *const others[] = {"at", "on", "into", "to", "inside", "within", NULL};
  if (s->block != NST_BLOCK_MAPPING || !nst_slip_expects(s, NST_TOK_IN) || nst_slip_expects_operator(s) ||
      !nst_token_is_name(s->t->kind) || nst_slip_first_on_line(s, s->at))
    return false;
  if (is_word(s, s->at, others) && nst_token_is_name(kind(s, s->at + 1)) && nst_slip_same_line(s, s->at, s->at + 1)) {
    nst_diag *m = nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at),
                               "a tensor is kept `in` a level, not `%s` it", s->t->name);
    nst_diag_fix(s->p->diags, m, nst_slip_span_of(s, s->at), "in");
    return true;
  }
  for (uint32_t i = s->at; i < count(s) && nst_slip_same_line(s, i, s->at); i++)
    if (kind(s, i) == NST_TOK_IN) return false; /* a comma is missing */
  if (kind(s, s->at - 1) == NST_TOK_IN || (s->at >= 2 && kind(s, s->at - 1) == NST_TOK_KEEP)) return false;
  nst_diag *m =
    nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at), "`in` is missing before `%s`", s->t->name);
  nst_diag_fix(s->p->diags, m, gap_before(s, s->at), "in ");
  return true;
}

/* ---- arrays and tensors ---- */

/* The sizes between two brackets as named axes: "x = 14, y = 16". */
static const char *with_axes(const nst_slip *s, uint32_t open, uint32_t close) {
  static const char names[] = "xyzwuv";
  const char *out = "";
  uint32_t from = open + 1, n = 0;
  int depth = 0;
  for (uint32_t i = from; i <= close; i++) {
    const int k = kind(s, i);
    if (i == close || (k == ',' && depth == 0)) {
      if (i == from || n >= sizeof names - 1) return NULL;
      const bool named = nst_token_is_name(kind(s, from)) && from + 1 < i && kind(s, from + 1) == '=';
      const char *size = text_between(s, from, i - 1), *comma = n ? ", " : "";
      out = named ? nst_arena_printf(s->p->arena, "%s%s%s", out, comma, size)
                  : nst_arena_printf(s->p->arena, "%s%s%c = %s", out, comma, names[n], size);
      from = i + 1;
      n++;
    }
    depth += (k == '(' || k == '[') - (k == ')' || k == ']');
  }
  return nst_arena_printf(s->p->arena, "[%s]", out);
}

/* array PE(14, 16), array PE[14, 16], array PE[P, Q], array PE[x: 14] */
bool nst_slip_array_axes(nst_slip *s) {
  if (s->block != NST_BLOCK_HARDWARE) return false;
  uint32_t open = s->at;
  while (open > 0 && s->at - open < 100 && kind(s, open) != '[' && kind(s, open) != '(') open--;
  const bool closed = open < s->at && closing(s, open) < s->at;
  if (closed || open < 2 || kind(s, open - 2) != NST_TOK_ARRAY || !nst_token_is_name(kind(s, open - 1))) {
    if (s->at < 2 || kind(s, s->at - 2) != NST_TOK_ARRAY || !nst_slip_expects(s, '[')) return false;
    nst_diag *m = nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at), "an array names its axes");
    nst_diag_help(s->p->diags, m, "as in `array %s[x = 16, y = 16]`", nst_slip_token(s, s->at - 1)->name);
    return true;
  }
  if (kind(s, open) == '(' ? s->at != open : !nst_slip_expects(s, '=') && !nst_slip_expects(s, NST_TOK_NAME))
    return false;
  if (s->t->kind == ':') {
    nst_diag *m =
      nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at), "the size of an axis stands behind `=`");
    nst_diag_fix(s->p->diags, m, nst_slip_span_of(s, s->at), " =");
    return true;
  }
  const uint32_t last = closing(s, open);
  const char *axes = last == NST_NONE ? NULL : with_axes(s, open, last);
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at),
                             "the axes of an array have names, and stand in square brackets");
  if (axes) {
    nst_diag_help(s->p->diags, m, "write `array %s%s`", nst_slip_token(s, open - 1)->name, axes);
    nst_diag_fix(s->p->diags, m, span_between(s, open, last), axes);
  } else {
    nst_diag_help(s->p->diags, m, "as in `array %s[x = 16, y = 16]`", nst_slip_token(s, open - 1)->name);
  }
  return true;
}

/* Y(k, p) += … */
bool nst_slip_round_ranks(nst_slip *s) {
  if (s->block != NST_BLOCK_WORKLOAD || s->t->kind != '(' || !nst_slip_expects(s, '[') ||
      nst_slip_expects_operator(s) || !nst_slip_prev_is_name(s))
    return false;
  nst_diag *m = nst_diag_add(s->p->diags, NST_D_SYNTAX, nst_slip_span_of(s, s->at),
                             "the ranks of a tensor stand in square brackets");
  const uint32_t close = closing(s, s->at);
  uint32_t next = s->at; /* the rest of the line is no statement of its own */
  while (next < count(s) && nst_slip_same_line(s, next, s->at) && kind(s, next) != '}') next++;
  s->p->resume = next;
  if (close == s->at + 1)
    nst_diag_fix(s->p->diags, m, span_between(s, s->at, close), "[]");
  else if (close != NST_NONE)
    nst_diag_fix(s->p->diags, m, span_between(s, s->at, close),
                 nst_arena_printf(s->p->arena, "[%s]", text_between(s, s->at + 1, close - 1)));
  return true;
}
