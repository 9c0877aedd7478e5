/* A task with its key, made ready once for any number of samples: what is sent with every candidate, what is expected, by index. */
#ifndef NST_BENCH_GRADE_PREPARE_H
#define NST_BENCH_GRADE_PREPARE_H
#include "bench/grade/numbers.h"
#include "bench/grade/wire.h"
#include "bench/record/record.h"

enum { NST_SOURCE_BYTES = 1 << 16, NST_SOURCE_BYTES_MOST = 1 << 24, NST_FUEL = 10000000, NST_PARAMS_MOST = 64 };

/* The points that give the same parameters of one mapping. */
typedef struct {
  const char *mapping;
  json_t *like;            /* the parameters of the first such point, for their names */
  char *names;             /* of the figures, each with a NUL behind */
  size_t names_size, nfigures;
  uint32_t *group;         /* of each figure, in `groups` */
} nst_expected_table;
typedef struct {
  uint32_t table;
  const json_t *params;
  nst_figure *values; /* goal equal */
} nst_expected_point;

typedef struct {
  nst_task task;
  nst_key key;
  bool ready; /* the key is there */
  bool least;
  uint8_t kind; /* of the declaration, as nestor.h numbers them */
  uint64_t source_bytes, fuel;
  nst_wire request; /* what follows the candidate in a request */

  nst_expected_table *tables;
  size_t ntables;
  nst_expected_point *points;
  size_t npoints;
  json_t *groups;   /* an array of the names of `sub`: of programs metric@level, of models and numbers the outputs or quantities */
  json_t *all_true; /* `sub` of a sample that passes */
  double floor;     /* the share of `sub` that doing nothing has right; 0 where the key has none */
  const char *objective; /* goal least */
  nst_figure optimum;

  const json_t *params; /* of a model, names; its rows are params of no point */
  int64_t *rows;
  nst_figure *values;   /* npoints rows of as many as there are groups; of numbers one row */
  uint32_t *by_size;    /* points of a model, the smallest first: by the sum of the parameters, then in order */

  const char **choices;
  size_t nchoices, choice;
  nst_quantity *quantities;
} nst_prepared;

nst_prepared *nst_prepared_new(nst_task *task); /* takes the task over */
void nst_prepared_free(nst_prepared *prepared);
/* Takes the key over, on failure too. */
bool nst_prepared_add_key(nst_prepared *prepared, nst_key *key, char error[NST_RECORD_ERROR]);
#endif
