/* From text to syntax tree.
 *
 * nst_parse scans and parses one source. It always returns a tree, holding what
 * could be understood; everything that was wrong is in `diags` (codes E01xx, and
 * E0003/E0004 for bytes that are no text). The tree lives in `arena`, its names
 * in `interner`. Nothing is resolved or checked beyond syntax. */
#ifndef NST_GRAMMAR_PARSE_H
#define NST_GRAMMAR_PARSE_H
#include "base/diag.h"
#include "frontend/ast.h"

/* The largest source that is read; a larger one is one error. */
enum { NST_PARSE_MAX_SOURCE = 16 << 20 };

nst_ast_file *nst_parse(nst_arena *arena, nst_interner *interner, nst_sources *sources, uint32_t source,
                        nst_diags *diags);

/* The same for a source that begins with the text of `before`, another source's tree without any message: the declarations of `before` are
 * taken over, and only what stands behind its first `size` bytes is read. NULL: there is something to say of that, for which the whole must be
 * parsed; nothing is in `diags` that can be kept. A text of which nst_parse_ends says so can be gone on from. */
nst_ast_file *nst_parse_behind(nst_arena *arena, nst_interner *interner, nst_sources *sources, uint32_t source,
                               nst_diags *diags, const nst_ast_file *before, uint32_t size);
/* Whether what stands behind the tree's source belongs to none of its declarations: the last token is the brace of a declaration, and a line ends. */
bool nst_parse_ends(const nst_ast_file *file, const nst_source *source);

/* nst_parse, marking in rules[r] each grammar rule r < nst_parse_rule_count() that was reduced. */
nst_ast_file *nst_parse_traced(nst_arena *arena, nst_interner *interner, nst_sources *sources, uint32_t source,
                               nst_diags *diags, unsigned char *rules);
size_t nst_parse_rule_count(void);

/* The offsets at which the tokens of a source begin and end, for tools that work on tokens. */
typedef struct {
  uint32_t begin, end;
} nst_token_span;
size_t nst_parse_tokens(nst_arena *arena, nst_interner *interner, nst_sources *sources, uint32_t source,
                        nst_token_span **out);
#endif
