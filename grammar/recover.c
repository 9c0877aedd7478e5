/* Where to go on after a mistake.
 *
 * Bison pops its stack to the items of the innermost block; this file chooses
 * the next token: one that plausibly starts an item of that block, its closing
 * brace, or a declaration at the start of a line. Two tokens tell an item's
 * start (`memory GLB`, `tm in`), so that soft words used as names do not count.
 * A recovery never goes on at the same token twice, so parsing ends. */
#include "grammar/state.h"

#include "grammar/parser.h"

static int kind_at(const nst_parser *p, uint32_t i) {
  return i < p->tokens.len ? p->tokens.items[i].kind : NST_TOK_END;
}
static bool name_at(const nst_parser *p, uint32_t i) { return nst_token_is_name(kind_at(p, i)); }
static bool first_on_line(const nst_parser *p, uint32_t i) { return p->tokens.items[i].line_first == i; }

bool nst_recover_starts_decl(const nst_parser *p, uint32_t i) {
  int next = kind_at(p, i + 1);
  switch (kind_at(p, i)) {
  case NST_TOK_USE: return name_at(p, i + 1) || next == NST_TOK_STRING;
  case NST_TOK_TEST: return next == NST_TOK_OF || next == NST_TOK_STRING;
  case NST_TOK_CONST:
  case NST_TOK_WORKLOAD:
  case NST_TOK_HARDWARE:
  case NST_TOK_MAPPING:
  case NST_TOK_MODEL:
  case NST_TOK_VERIFY:
  case NST_TOK_SWEEP: return name_at(p, i + 1);
  }
  return false;
}

bool nst_recover_starts_item(const nst_parser *p, nst_block_kind block, uint32_t i) {
  int kind = kind_at(p, i), next = kind_at(p, i + 1);
  bool name = nst_token_is_name(kind), name_next = nst_token_is_name(next);
  switch (block) {
  case NST_BLOCK_FILE: return nst_recover_starts_decl(p, i);
  case NST_BLOCK_WORKLOAD:
    return ((kind == NST_TOK_DIM || kind == NST_TOK_TENSOR) && name_next) || (name && next == '[');
  case NST_BLOCK_HARDWARE:
    return ((kind == NST_TOK_MEMORY || kind == NST_TOK_ARRAY || kind == NST_TOK_COMPUTE) && name_next) ||
           (name && next == '=');
  case NST_BLOCK_ATTRS: return name && next == '=';
  case NST_BLOCK_MAPPING:
    return ((kind == NST_TOK_FOR || kind == NST_TOK_PAR || kind == NST_TOK_LET || kind == NST_TOK_KEEP) && name_next) ||
           (kind == NST_TOK_KEEP && next == '?') || kind == NST_TOK_COMPUTE ||
           ((kind == NST_TOK_PERMUTE || kind == NST_TOK_SEQ) && next == '{');
  case NST_BLOCK_SEQ: return kind == NST_TOK_DO && name_next;
  case NST_BLOCK_TEST: return (kind == NST_TOK_LET && name_next) || kind == NST_TOK_EXPECT;
  case NST_BLOCK_MODEL: return ((kind == NST_TOK_LET || kind == NST_TOK_OUT) && name_next) || (name && next == '=');
  case NST_BLOCK_VERIFY: return (kind == NST_TOK_OVER && name_next) || (name && next == NST_TOK_EQ);
  case NST_BLOCK_SWEEP:
    return kind == NST_TOK_WHERE || kind == NST_TOK_MINIMIZE || kind == NST_TOK_MAXIMIZE || kind == NST_TOK_PARETO ||
           kind == NST_TOK_TOP || (name && next == NST_TOK_IN);
  }
  return false;
}

/* Does the token before i need something behind it, so that i can start nothing? */
static bool continues(const nst_parser *p, uint32_t i) {
  if (i == 0) return false;
  int prev = kind_at(p, i - 1);
  switch (prev) {
  case '+':
  case '-':
  case '*':
  case '/':
  case '%':
  case '<':
  case '>':
  case '=':
  case '(':
  case '[':
  case ',':
  case ':':
  case '.':
  case NST_TOK_EQ:
  case NST_TOK_NE:
  case NST_TOK_LE:
  case NST_TOK_GE:
  case NST_TOK_ADD_ASSIGN:
  case NST_TOK_DOTDOT:
  case NST_TOK_FLOORDIV:
  case NST_TOK_POW:
  case NST_TOK_AND:
  case NST_TOK_OR:
  case NST_TOK_NOT:
  case NST_TOK_STEP:
  case NST_TOK_IF:
  case NST_TOK_THEN:
  case NST_TOK_ELSE: return true;
  case NST_TOK_FOR:
  case NST_TOK_PAR:
  case NST_TOK_BY:
  case NST_TOK_INTO:
  case NST_TOK_ON:
  case NST_TOK_IN:
  case NST_TOK_OF:
  case NST_TOK_LET:
  case NST_TOK_KEEP:
  case NST_TOK_MEMORY:
  case NST_TOK_ARRAY:
  case NST_TOK_DIM:
  case NST_TOK_TENSOR:
  case NST_TOK_DO:
  case NST_TOK_OUT: return !first_on_line(p, i);
  }
  return false;
}

uint32_t nst_recover(nst_parser *p, bool has_lookahead) {
  uint32_t last = (uint32_t)p->tokens.len - 1, i = has_lookahead ? p->current : p->next;
  if (p->stop) return last;
  if (p->resume != NST_NONE) { /* chosen with the message */
    i = p->resume;
    p->resume = NST_NONE;
    if (!p->injected && p->resynced != NST_NONE && i <= p->resynced)
      i = p->resynced + 1 < last ? p->resynced + 1 : last;
    if (p->resynced == NST_NONE || i > p->resynced) p->resynced = i;
    return i;
  }
  uint32_t unexpected = i;
  if (p->resynced != NST_NONE && i <= p->resynced) i = p->resynced + 1;
  nst_block block = p->blocks.len ? p->blocks.items[p->blocks.len - 1] : (nst_block){.kind = NST_BLOCK_FILE};
  if (block.kind == NST_BLOCK_FILE && i < last) { /* a declaration taken for names, as after `const a =` */
    uint32_t first = p->tokens.items[i].line_first;
    if (first < i && nst_recover_starts_decl(p, first) && (p->resynced == NST_NONE || first > p->resynced)) i = first;
  }
  for (; i < last; i++) {
    const nst_token *t = &p->tokens.items[i];
    if (t->kind == ';') break;
    if (block.kind == NST_BLOCK_FILE) {
      if (nst_recover_starts_decl(p, i) &&
          (first_on_line(p, i) || kind_at(p, i - 1) == '}' || kind_at(p, i - 1) == ';'))
        break;
    } else {
      if (t->kind == '}') break;
      /* the unexpected token itself starts an item only where one looks it */
      bool plain = i > unexpected || first_on_line(p, i) || t->kind != NST_TOK_NAME;
      if (plain && nst_recover_starts_item(p, block.kind, i) && !continues(p, i)) break;
      if (nst_recover_starts_decl(p, i) && first_on_line(p, i) && t->indent <= p->tokens.items[block.open].indent)
        break;
    }
    if (t->kind == '{' && t->match != NST_NONE) i = t->match;
  }
  if (i > last) i = last;
  if (i == last) p->injected = (uint32_t)p->blocks.len; /* nothing else ends the open blocks */
  p->resynced = i;
  return i;
}

/* ---- blocks ---- */

/* The index of the token at the offset, or of the last one before it. */
static uint32_t token_at(const nst_parser *p, uint32_t offset) {
  size_t lo = 0, hi = p->tokens.len;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (p->tokens.items[mid].begin <= offset)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo ? (uint32_t)lo - 1 : 0;
}

void nst_block_enter(nst_parser *p, nst_block_kind kind, nst_span brace) {
  bool missing = brace.begin == brace.end;
  if (p->blocks.len >= NST_PARSE_MAX_BLOCKS) {
    nst_message_too_deep(p, brace);
    p->stop = true;
  }
  if (!p->blocks.len) p->suspect = p->early = NST_NONE;
  uint32_t open = token_at(p, missing && brace.begin ? brace.begin - 1 : brace.begin);
  *nst_vec_push(p->arena, &p->blocks) = (nst_block){kind, open, missing};
}

void nst_block_leave(nst_parser *p, nst_span brace) {
  const nst_block *b = &p->blocks.items[--p->blocks.len];
  if (brace.begin == brace.end) return;
  uint32_t close = token_at(p, brace.begin);
  const nst_token *o = &p->tokens.items[b->open], *c = &p->tokens.items[close];
  if (c->line_first != close) {
    if (c->line_first != o->line_first && p->early == NST_NONE) p->early = close;
    return;
  }
  if (c->indent < o->indent && p->suspect == NST_NONE && !b->missing) p->suspect = b->open;
  if (c->indent > o->indent && p->early == NST_NONE) p->early = close;
}
