/* The objects of the public header, from the inside.
 *
 * The rule that makes threads safe: after nestor_program_new nothing in a
 * program changes (its arena and interner included), so everything made of it
 * later has an arena of its own. Names with nestor_ are public, nst_ internal;
 * the public types are thin shells around the internal ones. */
#ifndef NST_DRIVER_INTERNAL_H
#define NST_DRIVER_INTERNAL_H
#include "backend/jit.h"
#include "base/buffer.h"
#include "ir/analysis.h"
#include "ir/counts.h"
#include "ir/metrics.h"
#include <nestor/nestor.h>

struct nestor_buffer { nst_buffer text; };

typedef struct {
  bool stdlib;
  nestor_loader *loader; void *loader_context;
  nestor_limits limits;      /* no zeros: the defaults are filled in */
  char *code_generator;      /* or NULL */
  char *cache;               /* of generated code: a directory; NULL: none, or */
  bool user_cache;           /* the user's own */
} nst_settings;

struct nestor_session { nst_settings settings; };

/* A session of the code generator, with the cache that the settings ask for; as nst_jit_new. */
nst_jit_status nst_settings_jit(nst_jit **out, const nst_settings *settings, nst_buffer *error);

typedef struct nst_syntax nst_syntax; /* driver/pipeline.h */

struct nestor_program {
  nst_settings settings;     /* copied: a session may go first */
  nst_arena *arena;
  nst_interner *interner;
  nst_sources *sources;
  nst_diags *diags;
  nestor_status status;
  nestor_stage stage;
  uint32_t source;           /* the main text */
  nst_syntax *syntax;        /* NULL where there was no text to parse */
  const nst_ir_program *ir;  /* NULL unless checked without errors */
};

/* What an evaluation by the JIT needs; made on first use. */
typedef struct nst_native nst_native;

struct nestor_eval {
  const nestor_program *program;
  const nst_ir_mapping *ir;
  nst_arena *arena;          /* lives as long as the evaluation */
  nst_arena *message_arena;  /* of the last run's messages; NULL: none */
  nst_diags *diags;          /* in message_arena; NULL: none */
  nst_nest_maker *maker;
  nst_analysis *analysis;
  nst_native *native;
  uint64_t *fuel;            /* NULL: no limit, or */
  uint64_t fuel_left;        /* in the run at hand */
  bool starved;              /* counting the last run's nest took too much */
  nst_value *set;            /* [nparams] what nestor_eval_set gave */
  bool *is_set;              /* [nparams] */
  nst_value *params;         /* [nparams] of the last run */
  nst_value *values; bool *values_known; /* [nvalues] for expressions before there is a nest */
  nst_counts *counts, *other;/* other: of a second engine, to compare; made on first use */
  nst_metrics metrics;
  const nst_nest *nest;      /* of the last run; NULL: it failed or none was */
  const char *not_simulated; /* why NESTOR_ENGINE_ALL left the simulator out of the last run; NULL: it did not */
  bool outside_told;         /* that a tensor is nowhere inside its shape has been said */
  bool fit_told;             /* the warning of a mapping that does not fit has been composed */
};

/* evaluation.c. Fills e->params from the sets and the defaults; diags may be NULL. */
bool nst_eval_defaults(nestor_eval *e, nst_diags *diags);
nst_diags *nst_eval_messages(nestor_eval *e); /* a fresh, empty list */
/* A full budget for another run. */
void nst_eval_refuel(nestor_eval *e);
/* An expression over the mapping's scope at e->params, before there is a nest. */
nst_eval_status nst_eval_expr(nestor_eval *e, const nst_expr *x, nst_value *out, nst_span *where);

/* figures.c: a metric with its level and tensor, from its text. */
typedef struct { nst_metric metric; int level, tensor; } nst_figure;
bool nst_figure_parse(nst_figure *out, const nst_ir_mapping *m, const char *text);
/* NAN where it is undefined. */
double nst_figure_value(nst_figure f, const nst_metrics_view *view);
nst_value nst_figure_exact(nst_figure f, const nst_metrics_view *view, nst_eval_status *status);

/* native.c: a mapping's kernel with what one thread needs to call it. NULL with a message: no native code. */
nst_native *nst_native_new(const nestor_program *p, const nst_ir_mapping *m, nst_diags *diags);
void nst_native_free(nst_native *n);
typedef enum { NST_NATIVE_OK, NST_NATIVE_INFEASIBLE, NST_NATIVE_ASK /* the analysis */ } nst_native_status;
nst_native_status nst_native_count(nst_native *n, const nst_value *params, nst_counts *out);

/* numbers.c: how numbers are shown. */
/* Rounded up; INT64_MAX where it would pass it. */
int64_t nst_round_up(nst_rat v);
/* An integer that fits 63 bits exactly, any other value as its nearest double. */
void nst_number_json(nst_buffer *out, nst_rat v);
/* 12,345,678 */
void nst_number_grouped(nst_buffer *out, int64_t v);
/* Grouped integer part and up to `digits` decimals, no trailing zeros; very small and very large as 1.23e-07. */
void nst_number_decimal(nst_buffer *out, double v, int digits);
/* 128 KiB, 4.5 MiB; nothing below 1024 B. */
void nst_number_binary(nst_buffer *out, int64_t bytes);

/* Whether `kept` slots of a tensor exist at a level. */
bool nst_is_kept(const nst_ir_mapping *m, int level, int tensor);
/* "tm = 64, tn = 64" with equals " = " and separator ", "; "" without parameters. */
const char *nst_params_text(nst_arena *arena, const nst_ir_mapping *m, const nst_value *params, const char *equals,
                            const char *separator);
#endif
