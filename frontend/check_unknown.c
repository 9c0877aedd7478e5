/* Unknown names are said once.
 *
 * A dimension whose declaration has a typing error is unknown wherever it is
 * used: in ranks, loops and questions. That is one mistake, so it is one
 * message; the other uses are labels of it, as many as help. */
#include "frontend/check.h"

#include <stdarg.h>

enum { LABELS_MAX = 3 };

static void label(nst_checker *ck, nst_diag *m, nst_span span) {
  size_t n = 0;
  for (size_t i = 0; i < m->nlabels; i++) {
    if (m->labels[i].span.source == span.source && m->labels[i].span.begin == span.begin) return;
    n++;
  }
  bool same = m->span.source == span.source && m->span.begin == span.begin;
  if (!same && n < LABELS_MAX) nst_diag_label(ck->diags, m, span, "also here");
}

nst_diag *nst_say_unknown(nst_checker *ck, const void *where, nst_diag_id id, nst_span span, nst_name name,
                          const char *fmt, ...) {
  for (size_t i = 0; i < ck->unknown.len; i++) {
    const nst_unknown *u = &ck->unknown.items[i];
    if (u->where != where || u->name != name) continue;
    label(ck, u->said, span);
    return NULL;
  }
  va_list args;
  va_start(args, fmt);
  const char *text = nst_arena_vprintf(ck->arena, fmt, args);
  va_end(args);
  nst_diag *m = nst_diag_add(ck->diags, id, span, "%s", text);
  /* Beyond the limit nothing is shown anyway, and the list stays short. */
  if (ck->unknown.len < NST_DIAG_MAX) *nst_vec_push(ck->arena, &ck->unknown) = (nst_unknown){where, name, m};
  return nst_diag_is_kept(ck->diags, m) ? m : NULL;
}
