/* Traits: what levels raise, one at a time.
 *
 * A draft is made for one trait of its level, which `raises` says. Which traits it has is seen from its program alone:
 * from the parts that the task shows or asks for, as nothing can fail because of what is not there to be read. Sets of
 * traits are bit masks. */
#ifndef NST_BENCH_TASKS_TRAITS_H
#define NST_BENCH_TASKS_TRAITS_H
#include "bench/tasks/draft.h"

const char *nst_trait_name(nst_trait trait);
const char *nst_trait_what(nst_trait trait);
int nst_trait_level(nst_trait trait);

/* Those that a task of a kind and a level may be raised by; target: of a repair, else the kind. Closed forms are of
 * what moves off chip and are exact for all tiles, so that no model is raised by what cannot show in them; the loops of
 * an optimum stand together. */
unsigned nst_traits_raising(nst_kind kind, nst_kind target, int level);
/* Those that a draft may have: of lower levels, the one that it is raised by, and of parts that are not shown all. */
unsigned nst_traits_allowed(const nst_draft *d);
/* Those that its program has, as far as it is shown. */
unsigned nst_traits_of(const nst_draft *d);
/* Whether it has exactly one trait of its level, the one it is raised by, and none of higher levels; an array that it
 * is raised by is used. */
bool nst_traits_fit(const nst_draft *d);
#endif
