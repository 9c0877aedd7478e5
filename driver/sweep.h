/* A sweep from the inside; what the files sweep_*.c share. */
#ifndef NST_DRIVER_SWEEP_H
#define NST_DRIVER_SWEEP_H
#include "backend/sweep_list.h"
#include "backend/ranks.h"
#include "backend/sweep_run.h"
#include "driver/internal.h"

struct nestor_ranks { nst_ranks *ranks; };

struct nestor_sweep {
  const nestor_program *program;
  nestor_program *own;           /* of a loaded sweep: the program is the sweep's */
  const nst_ir_sweep *ir;
  const nst_ir_mapping *mapping;
  nestor_sweep_options options;
  nst_arena *arena;
  nst_diags *diags;
  nestor_status status;
  nst_space *space;
  nst_variants variants;
  nst_sweep_shape shape;
  nst_u128 points;
  const char *points_text, *tuples_text, *variants_text;
  nst_walk *walk;                /* to show points */
  int shown[NST_SWEEP_MAX_METRICS], nshown; /* metrics that are shown: each text once, in the order of the block */
  const nst_syntax *syntax;      /* of the file that holds the mapping; made when its text is asked for */
  /* the engine: made when the run begins */
  nst_jit *jit;
  nst_sweep_engine *engine;
  const char *why_plain;
  bool whole;                    /* the engine does the whole space: nothing sampled, nothing limited */
  nst_sweep_job job;
  double seconds_compile, seconds_run;
  int threads;
  atomic_bool stop;
  nst_ranks *ranks; bool ran;    /* ranks NULL: this process alone */
  /* what has been done and found; of a merged sweep: by shard */
  const char *engine_name; uint64_t engine_units, engine_space;
  nst_unit_set done;
  nst_unit_set *shards_done; bool *shards_there; /* [options.shards] of a merged sweep, else NULL */
  nst_sweep_result *found;
  /* calls */
  nestor_sweep_watcher *watcher; void *watcher_context; int watch_ms;
  nestor_sweep_saver *saver; void *saver_context; int save_ms;
  nestor_sweep_writer *writer; void *writer_context; nestor_rows rows;
  bool all_mappings;             /* in the text answer: not the first few alone */
  char *best_text;               /* of the progress call at hand */
};

/* sweep.c */
bool nst_sweep_make_engine(nestor_sweep *s); /* false: diagnostics */
bool nst_sweep_is_proven(const nestor_sweep *s);
/* The parameters of the mapping at a found point. Valid until the next call. */
const nst_value *nst_sweep_params(nestor_sweep *s, const nst_sweep_point *p);
nst_diag *nst_sweep_fail(nestor_sweep *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* sweep_state.c: a number of all that its units depend on, with the engine made; never 0. */
uint64_t nst_sweep_fingerprint(const nestor_sweep *s);

/* sweep_show.c: a point in words. */
void nst_sweep_choose_metrics(nestor_sweep *s);                    /* sets s->shown */
int nst_sweep_nmetrics(const nestor_sweep *s);                     /* different ones, in the order of the block */
void nst_sweep_metric_name(const nestor_sweep *s, int i, nst_buffer *out);
nst_rat nst_sweep_metric(const nestor_sweep *s, int i, const nst_sweep_point *p);
const nst_expr *nst_sweep_metric_expr(const nestor_sweep *s, int i);
void nst_sweep_order(const nestor_sweep *s, const nst_sweep_point *p, int block, const char *separator, nst_buffer *out);
void nst_sweep_value(nst_buffer *out, const nst_value *v);
/* keep? number i of the mapping, "A, B in GLB"; whether the point keeps it. */
bool nst_sweep_keep(const nestor_sweep *s, const nst_sweep_point *p, int i, nst_buffer *out);
const nst_ir_node *nst_sweep_keep_node(const nestor_sweep *s, int i);

/* sweep_rows.c: a valid point as a row of a list. Any thread. */
void nst_sweep_row(void *sweep, nst_buffer *out, const nst_sweep_point *p);

/* sweep_text.c: a found point's mapping as text of the language, its choices settled. */
void nst_sweep_mapping_line(nestor_sweep *s, const nst_sweep_point *p, const char *name, nst_buffer *out);
/* The same in the layout of `fmt`, over several lines. */
void nst_sweep_mapping_laid_out(nestor_sweep *s, const nst_sweep_point *p, const char *name, nst_buffer *out);

/* sweep_json.c, sweep_table.c, sweep_csv.c */
void nst_sweep_json(nestor_sweep *s, bool timing, nst_buffer *out);
void nst_sweep_table(nestor_sweep *s, bool color, bool timing, nst_buffer *out);
void nst_sweep_csv(nestor_sweep *s, nst_buffer *out);
void nst_sweep_csv_head(const nestor_sweep *s, nst_buffer *out);
void nst_sweep_csv_row(const nestor_sweep *s, const nst_value *params, const nst_sweep_point *p, nst_buffer *out);
#endif
