/* Words that stand where a keyword is expected: which one was meant.
 *
 * Misspelt keywords are found by edit distance among those that start an item
 * of the block; words of other languages and tools by a table; keywords of this
 * language at the wrong place by where they belong. */
#ifndef NST_GRAMMAR_WORDS_H
#define NST_GRAMMAR_WORDS_H
#include "grammar/state.h"

typedef struct {
  int kind;      /* the keyword meant, or 0 */
  bool misspelt; /* it differs by a slip of the finger */
  const char *help;
} nst_word_hint;

nst_word_hint nst_word_for(nst_interner *interner, nst_block_kind block, int kind, nst_name word);
bool nst_word_starts_item(nst_block_kind block, int kind);
/* "`dim`, `tensor`, a statement or `}`": what may stand at the start of an item; NULL for none. */
const char *nst_word_items(nst_block_kind block);
#endif
