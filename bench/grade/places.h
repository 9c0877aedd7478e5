/* Places in what a model wrote: the line behind `answer:`, and objects of JSON. */
#ifndef NST_BENCH_GRADE_PLACES_H
#define NST_BENCH_GRADE_PLACES_H
#include "bench/grade/extract.h"

#include <jansson.h>

typedef struct {
  const char *text, *end;
} nst_span; /* [text, end) */

/* What is left without reasoning; nothing where reasoning never ends. */
nst_span nst_place_visible(nst_extract *out, const char *completion, size_t size);
void nst_place_found(nst_extract *out, nst_step step, nst_span at, const char *completion);
/* What stands behind the last `answer:` on its line, or all that follows where the line ends there. */
bool nst_place_answer(nst_span *out, nst_span s);

typedef bool nst_place_wanted(const json_t *object, const void *context);
/* The last object that is wanted and no part of another; the caller owns it. NULL: none. Its numbers are strings of
 * what is written: a double would round them. A comma before a closing bracket and `\_` for `_` are passed over. */
json_t *nst_place_last_object(nst_span *out, nst_span s, nst_place_wanted *wanted, const void *context);
/* The object that begins at a brace, in the same way. */
json_t *nst_place_object(const char **end, nst_span from);
/* The same text with `_` for `\_`; the caller frees. */
char *nst_place_unescape(size_t *out_size, nst_span s);

static inline bool nst_place_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool nst_place_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static inline bool nst_place_word(char c) { return nst_place_letter(c) || nst_place_digit(c) || c == '_'; }
/* Whether c is one of a set that holds no NUL. */
bool nst_place_in(char c, const char *set);
/* The end of the one of these words that stands at p, whatever the case of its letters; NULL: none does. */
const char *nst_place_one_of(const char *const *words, const char *p, const char *end);
#endif
