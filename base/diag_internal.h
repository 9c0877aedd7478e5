/* What the two halves of the diagnostics share: the collection itself. */
#ifndef NST_BASE_DIAG_INTERNAL_H
#define NST_BASE_DIAG_INTERNAL_H
#include "base/diag.h"
#include "base/vec.h"

struct nst_diags {
  nst_arena *arena;
  const nst_sources *sources;
  NST_VEC(nst_diag *) list;         /* pointers: a message stays where it is while others are added */
  size_t errors, warnings, omitted; /* omitted: counted there too, but not in the list */
  size_t compared;                  /* letters of names, each with each, for suggestions */
  bool limit;                       /* some message says that a limit was reached */
  nst_diag scratch;                 /* stands for every message that is not kept */
};
#endif
