/* Cutting by the declarations that the library lists; only heads are read by hand. */
#include "bench/worker/cut.h"

#include <string.h>

enum { MOST_COMPARED = 16 };

static bool named(const nestor_declaration *d, nestor_declaration_kind kind, const char *name) {
  return d->kind == kind && d->name && !strcmp(d->name, name);
}

static bool declares(const nestor_program *program, const nestor_declaration *wanted) {
  nestor_declaration d;
  for (size_t i = 0; wanted->name && nestor_program_declaration(program, i, &d); i++)
    if (named(&d, wanted->kind, wanted->name)) return true;
  return false;
}

static bool asks(nestor_declaration_kind kind) {
  switch (kind) {
    case NESTOR_DECLARATION_TEST:
    case NESTOR_DECLARATION_VERIFY:
    case NESTOR_DECLARATION_SWEEP: return true;
    case NESTOR_DECLARATION_USE:
    case NESTOR_DECLARATION_CONST:
    case NESTOR_DECLARATION_WORKLOAD:
    case NESTOR_DECLARATION_HARDWARE:
    case NESTOR_DECLARATION_MAPPING:
    case NESTOR_DECLARATION_MODEL: break;
  }
  return false;
}

static void blank(char *text, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (text[i] != '\n') text[i] = ' ';
}

nst_cut_status nst_cut(nestor_declaration *at, char *text, const nestor_program *candidate, const nestor_program *given,
                       const nestor_program *probe, nestor_declaration_kind kind, const char *name) {
  *at = (nestor_declaration){0};
  size_t answers = 0;
  nestor_declaration d;
  for (size_t i = 0; nestor_program_declaration(candidate, i, &d); i++) {
    if (d.kind == NESTOR_DECLARATION_USE) return *at = d, NST_CUT_USES;
    if (named(&d, kind, name)) {
      *at = d;
      if (answers++) return NST_CUT_TWICE;
    } else if (asks(d.kind) || declares(given, &d) || declares(probe, &d)) blank(text + d.offset, d.size);
  }
  return answers ? NST_CUT_GOOD : NST_CUT_MISSING;
}

/* Whether another declaration has the kind and name of this one. */
static bool is_twice(const nestor_program *program, size_t place, const nestor_declaration *d) {
  nestor_declaration other;
  for (size_t i = 0; d->name && nestor_program_declaration(program, i, &other); i++)
    if (i != place && named(&other, d->kind, d->name)) return true;
  return false;
}

bool nst_cut_needless(const nestor_program *whole, size_t first, size_t second, nestor_declaration_kind kind, const char *name) {
  const bool compiles = nestor_program_status(whole) == NESTOR_OK; /* then no name is there twice */
  size_t answers = 0, own = 0;
  nestor_declaration d;
  for (size_t i = 0; nestor_program_declaration(whole, i, &d); i++) {
    const size_t end = d.offset + d.size;
    if (end <= first || d.offset >= second) continue;
    if (d.offset < first || end > second || asks(d.kind) || d.kind == NESTOR_DECLARATION_USE) return false;
    /* Many declarations are left to cutting, which then costs more, but not their square. */
    if (!compiles && (own++ == MOST_COMPARED || is_twice(whole, i, &d))) return false;
    answers += named(&d, kind, name);
  }
  return answers == 1;
}

const char *nst_cut_skip(const char *p, const char *end) {
  while (p < end) {
    if (*p == '#') {
      while (p < end && *p != '\n') p++;
    } else if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n') p++;
    else break;
  }
  return p;
}

const char *nst_cut_skip_word(const char *p, const char *end) {
  while (p < end && ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '_')) p++;
  return p;
}

bool nst_cut_head(nst_text *out, const char *declaration, size_t size) {
  const char *p = declaration, *end = p + size;
  p = nst_cut_skip_word(nst_cut_skip(p, end), end); /* "mapping" or another */
  p = nst_cut_skip_word(nst_cut_skip(p, end), end); /* its name */
  const char *begin = p;
  while ((p = nst_cut_skip(p, end)) < end && *p != '{') p++;
  if (p == end) return false;
  *out = (nst_text){begin, (size_t)(p - begin)};
  return true;
}
