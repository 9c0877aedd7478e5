/* nst_parse: scan everything, then parse the tokens. Owns the parser's state for
 * the length of one call. */
#include "grammar/parse.h"

#include "grammar/parser.h"
#include "grammar/state.h"
#include <stdlib.h>
#include <string.h>

static nst_parser *start(nst_arena *arena, nst_interner *interner, nst_sources *sources, uint32_t source,
                         nst_diags *diags) {
  nst_parser *p = NST_NEW(arena, nst_parser);
  p->arena = arena;
  p->interner = interner;
  p->diags = diags;
  p->source = nst_sources_get(sources, source);
  p->source_id = source;
  p->file = NST_NEW(arena, nst_ast_file);
  p->file->source = source;
  p->resume = p->resynced = p->suspect = p->early = NST_NONE;
  nst_scan_init(p);
  return p;
}

nst_ast_file *nst_parse_traced(nst_arena *arena, nst_interner *interner, nst_sources *sources, uint32_t source,
                               nst_diags *diags, unsigned char *rules) {
  nst_parser *p = start(arena, interner, sources, source, diags);
  if (!p->source) return p->file;
  p->rules = rules;
  if (nst_scan_all(p) && nst_parse_parse(p) == 2 && !p->deep_reported)
    nst_message_too_deep(p, nst_token_span_of(p, p->current));
  p->file->comments = p->comments.items;
  p->file->ncomments = p->comments.len;
  return p->file;
}

nst_ast_file *nst_parse(nst_arena *arena, nst_interner *interner, nst_sources *sources, uint32_t source,
                        nst_diags *diags) {
  return nst_parse_traced(arena, interner, sources, source, diags, NULL);
}

bool nst_parse_ends(const nst_ast_file *file, const nst_source *source) {
  const nst_ast_decl *last = file->decls;
  while (last && last->next) last = last->next;
  if (!last || !source->len || source->text[source->len - 1] != '\n' || !last->block.source) return false;
  if (source->text[last->span.end - 1] != '}' || file->lost) return false;
  for (size_t i = last->span.end; i < source->len; i++)
    if (!strchr(" \t\r\n", source->text[i]) || !source->text[i]) return false;
  return true;
}

nst_ast_file *nst_parse_behind(nst_arena *arena, nst_interner *interner, nst_sources *sources, uint32_t source,
                               nst_diags *diags, const nst_ast_file *before, uint32_t size) {
  nst_parser *p = start(arena, interner, sources, source, diags);
  if (!p->source || p->source->len < size || p->source->len > NST_PARSE_MAX_SOURCE) return NULL;
  p->from = size;
  if (!nst_scan_all(p) || nst_parse_parse(p) != 0 || nst_diags_count(diags)) return NULL;
  /* The declarations are copied, for their links; what they hold is shared. */
  nst_ast_decl *own = p->file->decls, **end = &p->file->decls;
  for (const nst_ast_decl *d = before->decls; d; d = d->next) {
    nst_ast_decl *copy = NST_NEW(arena, nst_ast_decl);
    *copy = *d;
    *end = copy;
    end = &copy->next;
  }
  *end = own;
  p->file->ncomments = before->ncomments + p->comments.len;
  p->file->comments = NST_NEW_ARRAY(arena, p->file->ncomments, nst_ast_comment);
  if (before->ncomments) memcpy(p->file->comments, before->comments, before->ncomments * sizeof *before->comments);
  if (p->comments.len)
    memcpy(p->file->comments + before->ncomments, p->comments.items, p->comments.len * sizeof *p->comments.items);
  return p->file;
}

size_t nst_parse_tokens(nst_arena *arena, nst_interner *interner, nst_sources *sources, uint32_t source,
                        nst_token_span **out) {
  nst_arena *scratch = nst_arena_new();
  nst_parser *p = start(arena, interner, sources, source, nst_diags_new(scratch, sources));
  size_t n = 0;
  *out = NULL;
  if (p->source) {
    nst_scan_all(p);
    n = p->tokens.len - 1;
    *out = NST_NEW_ARRAY(arena, n, nst_token_span);
    for (size_t i = 0; i < n; i++) (*out)[i] = (nst_token_span){p->tokens.items[i].begin, p->tokens.items[i].end};
  }
  nst_arena_free(scratch);
  return n;
}
