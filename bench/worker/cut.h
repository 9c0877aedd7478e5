/* Taking a candidate apart: what is given stays as it is given, questions are dropped, exactly one declaration answers.
 *
 * Dropped declarations are blanked out, byte for byte, so that places in what is left are places in the candidate. */
#ifndef NST_BENCH_WORKER_CUT_H
#define NST_BENCH_WORKER_CUT_H
#include <nestor/nestor.h>

typedef struct { const char *text; size_t size; } nst_text;

typedef enum { NST_CUT_GOOD, NST_CUT_USES, NST_CUT_MISSING, NST_CUT_TWICE } nst_cut_status;
/* text: the candidate's bytes, parsed as `candidate`; they are changed. Declarations with the kind and name of one in `given` or `probe` go, tests,
 * verify and sweep blocks too. *at: the declaration that decides the status, zeros where none does. */
nst_cut_status nst_cut(nestor_declaration *at, char *text, const nestor_program *candidate, const nestor_program *given,
                       const nestor_program *probe, nestor_declaration_kind kind, const char *name);
/* Whether a whole program of three parts, [0, first), [first, second) and [second, end), is what cutting would have made of it: every
 * declaration lies in one part, the middle one asks nothing, uses nothing and declares the answer exactly once. */
bool nst_cut_needless(const nestor_program *whole, size_t first, size_t second, nestor_declaration_kind kind, const char *name);
/* The head of a declaration without its name: from behind the name to before its block. false: it has none. */
bool nst_cut_head(nst_text *out, const char *declaration, size_t size);
/* Past white space and comments; past a word. */
const char *nst_cut_skip(const char *text, const char *end);
const char *nst_cut_skip_word(const char *text, const char *end);
#endif
