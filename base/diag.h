/* Messages: where, what, what to do.
 *
 * Every message has a code from the catalogue (base/diag_catalogue.def), a
 * primary span, optional labelled spans, an optional help line and an optional
 * fix-it. Text is lower case, without a full stop. Libraries only collect
 * messages here; the CLI renders them. Errors beyond NST_DIAG_MAX are counted,
 * not stored; so are warnings beyond as many. */
#ifndef NST_BASE_DIAG_H
#define NST_BASE_DIAG_H
#include "base/arena.h"
#include "base/buffer.h"
#include "base/source.h"
#include <stdbool.h>

enum { NST_DIAG_MAX = 100 };
typedef enum { NST_SEVERITY_ERROR, NST_SEVERITY_WARNING } nst_severity;

typedef enum {
#define NST_DIAG(id, code, severity, title) NST_D_##id,
#include "base/diag_catalogue.def"
#undef NST_DIAG
  NST_DIAG_COUNT
} nst_diag_id;

typedef struct { nst_span span; const char *text; } nst_diag_label_t;
typedef struct {
  nst_diag_id id;
  nst_span span;
  const char *message;
  nst_diag_label_t *labels; size_t nlabels, labels_cap;
  const char *help;                                 /* or NULL */
  bool has_fix; nst_span fix_span; const char *fix; /* replace fix_span by fix */
} nst_diag;

typedef struct nst_diags nst_diags;
nst_diags *nst_diags_new(nst_arena *arena, const nst_sources *sources);
/* Adds a message. Never NULL: beyond the limit a scratch message is returned. Severity comes from
 * the catalogue. A message with the same id and span as an earlier one is dropped (scratch); without
 * a place (source 0), only if its text is the same too. */
nst_diag *nst_diag_add(nst_diags *d, nst_diag_id id, nst_span span, const char *fmt, ...)
  __attribute__((format(printf, 4, 5)));
void nst_diag_label(nst_diags *d, nst_diag *m, nst_span span, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
void nst_diag_help(nst_diags *d, nst_diag *m, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void nst_diag_fix(nst_diags *d, nst_diag *m, nst_span span, const char *replacement);
bool nst_diag_is_kept(const nst_diags *d, const nst_diag *m); /* false: the scratch message; what is added to it is lost */
/* The nearest name (base/intern.h) for a message to suggest; NULL: none is near, or the messages before it have compared
 * so many that this one goes without. */
const char *nst_diags_nearest(nst_diags *d, const char *wrong, const char *const *candidates, size_t n);
size_t nst_diags_count(const nst_diags *d);             /* stored messages */
size_t nst_diags_errors(const nst_diags *d);            /* errors, stored or not */
bool nst_diags_limit(const nst_diags *d);                /* whether some message, stored or not, says that a limit was reached */
size_t nst_diags_warnings(const nst_diags *d);          /* warnings, stored or not */
const nst_diag *nst_diags_get(const nst_diags *d, size_t i); /* sorted by source and place after nst_diags_sort */
const nst_sources *nst_diags_sources(const nst_diags *d);
void nst_diags_sort(nst_diags *d);
void nst_diags_clear(nst_diags *d);
const char *nst_diag_code(nst_diag_id id);  /* "E0301" */
const char *nst_diag_title(nst_diag_id id);
nst_severity nst_diag_severity(nst_diag_id id);
/* rustc-like text: "error[E0301]: message\n --> file:3:7\n ... caret ..."; color adds ANSI escapes. Long
 * lines are cut around the span; control characters are shown escaped. */
void nst_diags_render(const nst_diags *d, nst_buffer *out, bool color);
/* One line: {"schema":"nestor.diagnostics/1","omitted":0,"diagnostics":[{"code","severity","message",
 * "file","line","column","end_line","end_column",
 * "labels":[{"text","file","line","column","end_line","end_column"}],
 * "help","fix":{"text","file","line","column","end_line","end_column"}}]}
 * Places count from 1, the end is the place after the last character; file and numbers are null
 * without a place, help and fix without one. "omitted" counts messages beyond the limits. */
void nst_diags_render_json(const nst_diags *d, nst_buffer *out);
#endif
