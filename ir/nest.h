/* A nest: a mapping with numbers in it.
 *
 * nst_nest_make evaluates every expression of a mapping for one vector of
 * parameters and checks what only numbers can show: sizes are positive
 * integers, coefficients and offsets are integers, pars fit their axes. The
 * analysis and the simulator both start from here, and share nothing further. */
#ifndef NST_IR_NEST_H
#define NST_IR_NEST_H
#include "ir/ir.h"

typedef struct { int nterms; const nst_ir_term *ir; int64_t *coef; int64_t offset; int64_t size; /* declared, or -1 */ } nst_nest_rank;
typedef struct { int tensor, nranks; nst_nest_rank *ranks; } nst_nest_access;
typedef struct { nst_nest_access out, *in; int nin; } nst_nest_stmt;
typedef struct {
  bool has_capacity; nst_rat capacity;            /* bytes */
  bool has_bandwidth; nst_rat bandwidth;          /* bytes/cycle, one for both */
  bool has_read_bandwidth, has_write_bandwidth; nst_rat read_bandwidth, write_bandwidth;
  nst_rat read_energy, write_energy;              /* pJ/byte, 0 where not given */
  bool has_leakage; nst_rat leakage;              /* W */
  bool has_area; nst_rat area;                    /* mm2 */
  nst_rat energy, rate;                           /* compute */
  int64_t *axes;                                  /* array: sizes */
  int64_t hw_instances;                           /* product of the axes outside it */
} nst_nest_level;

typedef struct {
  const nst_ir_mapping *ir;
  nst_value *values;   /* [nvalues] of the scope */
  int64_t *extent;     /* [ndims] */
  int64_t *bits;       /* [ntensors] */
  nst_nest_stmt *stmts;
  int64_t *tile;       /* [nnodes]: T of FOR and PAR, capped at nothing: T above the extent stays as given */
  int64_t *count;      /* [nnodes]: nominal number of tiles of FOR and PAR */
  nst_nest_level *levels;
  bool has_clock; nst_rat clock; /* Hz */
  int64_t ops;         /* points of all statements together; fits in 63 bits, else an error */
} nst_nest;

/* A nest and its scratch memory, reused from one parameter vector to the next. */
typedef struct nst_nest_maker nst_nest_maker;
nst_nest_maker *nst_nest_maker_new(const nst_ir_mapping *m);
/* Makes its nests spend this budget; NULL, as made: none. What is evaluated once is paid for in every nest, so that
 * whether a point is within the budget does not depend on those before it. */
void nst_nest_maker_set_fuel(nst_nest_maker *maker, uint64_t *fuel);
void nst_nest_maker_free(nst_nest_maker *maker);
/* params: [nparams] values. Returns the nest (valid until the next call) or NULL with messages in diags
 * (diags may be NULL: then only NULL). Messages carry the spans of the nodes. */
const nst_nest *nst_nest_make(nst_nest_maker *maker, const nst_value *params, nst_diags *diags);

/* Completes a vector of parameters: those with given[i] false get their default (given NULL: all of them).
 * false, with a message in diags (NULL allowed), where one has none or its default has no value. */
bool nst_nest_defaults(nst_value *params, const bool *given, const nst_ir_mapping *m, nst_diags *diags);
bool nst_nest_defaults_within(nst_value *params, const bool *given, const nst_ir_mapping *m, uint64_t *fuel,
                              nst_diags *diags);
/* An error for an expression that has no value: "the tile of m: division by zero". name may be "". */
nst_diag *nst_eval_report(nst_diags *diags, nst_eval_status status, nst_span span, const char *what, const char *name);
#endif
