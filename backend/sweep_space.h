/* The space of a sweep from the inside, for those that walk it point by point.
 *
 * A space is made once and then only read; who walks it has a walk of its own.
 * Tuples (the values of all swept parameters) are numbered in enumeration order,
 * and any of them is found by its number: how many tuples remain once the first
 * parameters are bound is a product over components (parameters whose sets
 * depend on each other), and is known for every state of a component when the
 * space has been made. Counts saturate at NST_SPACE_MAX.
 *
 * Left to others: the values of tuples as tables (nst_space_axis does it for a
 * few parameters), what is evaluated at a tuple (the engines). */
#ifndef NST_BACKEND_SWEEP_SPACE_H
#define NST_BACKEND_SWEEP_SPACE_H
#include "backend/sweep.h"
#include "ir/set.h"

typedef unsigned __int128 nst_u128;
#define NST_SPACE_MAX ((nst_u128)1 << 120)
nst_u128 nst_u128_mul(nst_u128 a, nst_u128 b); /* saturates at NST_SPACE_MAX, as the next */
nst_u128 nst_u128_add(nst_u128 a, nst_u128 b);
void nst_u128_print(nst_buffer *out, nst_u128 v);

nst_u128 nst_space_tuples(const nst_space *s); /* nst_space_count with more room */

typedef struct nst_walk nst_walk; /* of one thread */
nst_walk *nst_walk_new(const nst_space *s);
void nst_walk_free(nst_walk *w); /* NULL is fine */
/* Goes to a tuple by its number; false: there is none. */
bool nst_walk_seek(nst_walk *w, nst_u128 number);
/* Goes to a tuple by the places of its values; false: there is none. */
bool nst_walk_go(nst_walk *w, const uint64_t *places);
/* The next tuple; false after the last. */
bool nst_walk_next(nst_walk *w);
const uint64_t *nst_walk_places(const nst_walk *w); /* [npoints of the sweep] */
/* All parameters of the mapping, defaults that depend on swept ones included; NULL: such a default has no value here. */
const nst_value *nst_walk_vector(nst_walk *w);

/* ---- between sweep_space.c, sweep_count.c and sweep_walk.c ---- */

typedef struct { int *items; int n; } nst_space_list;
typedef struct nst_space_counts nst_space_counts;

struct nst_space {
  nst_arena *arena;
  const nst_ir_mapping *mapping;
  const nst_ir_sweep *sweep;
  uint64_t *needs;          /* [npoints] */
  uint64_t *follows;        /* [nparams]: points that the default of a parameter that is not swept depends on */
  nst_space_list *params;   /* [npoints]: parameters that follow, needed by the set; ascending */
  nst_space_list *values;   /* [npoints]: named values needed by the set; ascending */
  nst_space_list followers; /* all parameters that follow */
  nst_value *defaults;
  bool whole;
  nst_space_counts *counts;
};

struct nst_walk {
  const nst_space *space;
  nst_value *params, *values;
  nst_set *sets;            /* [npoints] */
  uint64_t *places;         /* [npoints] */
  uint64_t fuel;
};

/* Opens the set of point k, given the parameters it needs. NULL when good, else what is wrong and where. */
const char *nst_walk_open(nst_walk *w, int k, nst_span *where);
static inline void nst_walk_bind(nst_walk *w, int k, uint64_t place) {
  w->places[k] = place;
  w->params[w->space->sweep->points[k].param] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_set_get(&w->sets[k], place)};
}

/* Counts every state of every component. false: a message. Uses the walk as scratch. */
bool nst_space_count_all(nst_space *s, nst_walk *w, nst_diags *diags);
nst_u128 nst_space_total(const nst_space *s);
/* How many choices of the component of point k remain from k on (k included), or after k, given the walk's parameters. */
nst_u128 nst_space_remaining(const nst_walk *w, int k, bool after);
bool nst_space_is_live(const nst_space *s, int k); /* a later set needs point k */
int nst_space_component(const nst_space *s, int k, int *ncomponents);
#endif
