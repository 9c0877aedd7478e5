/* Running the units of the kernel engine, a worker per thread.
 *
 * The generated code only says which points may enter an answer; those are
 * computed again in whole numbers and offered to the result, which decides. */
#include "backend/sweep_kernel.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK = 128, TABLE = 1 << 16 /* numbers in a table of coefficients, beyond that of the slots */ };
typedef struct { uint64_t taken, good, skipped; } looks; /* at bounds */

/* The coefficients that a level leaves, for all of its tuples at once: number k for tuple t at [k * padded + t]. */
typedef struct {
  void *table; uint64_t room;     /* NULL: they are made one tuple at a time */
  const void **columns, **rows;   /* of the terms that make it, row by row; its rows that have terms */
  uint64_t *first, *which, nrows; /* term of each row, and one more; of each term: where its coefficient is */
  uint64_t *terms, *next;         /* of all rows, while it is laid out: how many terms; where the next goes */
  uint64_t terms_room, rows_room;
} level_table;

struct nst_sweep_worker {
  const nst_kernel_engine *k;
  nst_sweep_nest nest;          /* of the variant at hand */
  const nst_sweep_known_poly **forms;
  void **coefficients; int *room; /* per level, of the tuple under way; where there is no table */
  uint64_t *points;             /* per level: in it and further in */
  size_t *tuple;                /* per level */
  level_table *tables;          /* per level; the last but one is that of the slots */
  const void **slots;           /* columns of the slots */
  void *limits;                 /* of the filter */
  int64_t *batch; uint64_t most; /* tuples of the last level but one whose points are run at once; so many at most */
  int64_t *candidates;          /* places, then the values that the filter found (backend/vector.h) */
  nst_stairs *stairs;           /* fronts of two metrics */
  int nplaces; uint64_t key, *place; /* where the point at hand stands: its key, or its places if keys pass 64 bits */
  uint64_t *worst, worst_variant; /* where the point stands that set limit 0 */
  int64_t tally[4];             /* backend/vector.h */
  looks *looks;                 /* per level, of this unit */
  nst_kernel_known known; nst_range *form_ranges, *op_ranges; /* for pruning */
  int64_t *values, *ops;        /* of the forms and of the program */
  nst_sweep_point point;
  nst_sweep_result *unit;       /* of the unit at hand */
  const char *error;
};

static double get_double(const nst_sweep_worker *w, const void *a, size_t i) {
  return w->k->layout.floating ? ((const double *)a)[i] : (double)((const int64_t *)a)[i];
}
static int64_t get_whole(const nst_sweep_worker *w, const void *a, size_t i) {
  return w->k->layout.floating ? (int64_t)((const double *)a)[i] : ((const int64_t *)a)[i];
}
static void set_whole(const nst_sweep_worker *w, void *a, size_t i, int64_t v) {
  if (w->k->layout.floating) ((double *)a)[i] = (double)v;
  else ((int64_t *)a)[i] = v;
}
static void set_limit(const nst_sweep_worker *w, size_t i, bool most) {
  if (w->k->layout.floating) ((double *)w->limits)[i] = most ? INFINITY : -INFINITY;
  else ((int64_t *)w->limits)[i] = most ? INT64_MAX : INT64_MIN;
}

static void *aligned(size_t n) {
  void *p = aligned_alloc(64, (n * 8 + 127) / 64 * 64);
  if (!p) nst_out_of_memory();
  memset(p, 0, (n * 8 + 127) / 64 * 64);
  return p;
}

static void *zeros(size_t n, size_t size) {
  void *p = calloc(n + 1, size);
  if (!p) nst_out_of_memory();
  return p;
}

nst_sweep_worker *nst_kernel_worker_new(const nst_sweep_engine *e) {
  const nst_kernel_engine *k = (const nst_kernel_engine *)e;
  const nst_sweep_layout *l = &k->layout;
  nst_sweep_worker *w = zeros(1, sizeof *w);
  size_t n = (size_t)l->ndims, npoints = (size_t)k->sweep->npoints;
  w->k = k;
  nst_sweep_nest_init(&w->nest, l);
  w->forms = zeros((size_t)l->nforms, sizeof *w->forms);
  w->coefficients = zeros(n, sizeof *w->coefficients);
  w->room = zeros(n, sizeof *w->room);
  w->tuple = zeros(n, sizeof *w->tuple);
  w->tables = zeros(n, sizeof *w->tables);
  w->points = zeros(n, sizeof *w->points);
  for (size_t d = n; d-- > 0;) w->points[d] = l->dims[d].ntuples * (d + 1 < n ? w->points[d + 1] : 1);
  w->slots = zeros((size_t)l->nslots, sizeof *w->slots);
  w->limits = aligned(2 + NST_VECTOR_BUCKETS + NST_VECTOR_OCTAVES);
  w->most = nst_kernel_batch_rows(l);
  w->batch = zeros(w->most, sizeof *w->batch);
  w->candidates = aligned(4 * w->most * l->dims[n - 1].padded);
  w->looks = zeros(n, sizeof *w->looks);
  w->form_ranges = zeros((size_t)l->nforms, sizeof *w->form_ranges);
  w->op_ranges = zeros((size_t)k->program.nops, sizeof *w->op_ranges);
  w->worst = zeros(npoints, sizeof *w->worst);
  w->values = zeros((size_t)l->nforms, sizeof *w->values);
  w->ops = zeros((size_t)k->program.nops, sizeof *w->ops);
  w->nplaces = k->keys.weight ? 1 : (int)npoints;
  w->stairs = nst_stairs_new(w->nplaces);
  w->point = (nst_sweep_point){0, zeros(npoints, sizeof(int64_t)), zeros(npoints, sizeof(uint64_t)),
                               zeros((size_t)k->program.nmetrics, sizeof(nst_rat))};
  w->place = k->keys.weight ? &w->key : w->point.places;
  w->unit = nst_sweep_result_new(k->shape);
  return w;
}

void nst_kernel_worker_free(nst_sweep_worker *w) {
  if (!w) return;
  nst_sweep_nest_fini(&w->nest, &w->k->layout);
  for (int d = 0; d < w->k->layout.ndims; d++) free(w->coefficients[d]);
  for (int d = 0; d < w->k->layout.ndims; d++) {
    level_table *t = &w->tables[d];
    void *parts[] = {t->table, t->columns, t->rows, t->first, t->which, t->terms, t->next};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) free(parts[i]);
  }
  void *all[] = {w->forms, w->coefficients, w->room, w->points, w->tuple, w->tables, w->slots, w->limits, w->batch, w->candidates, w->values, w->ops, w->worst, w->looks, w->form_ranges, w->op_ranges, w->point.params, w->point.places, w->point.metrics};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  nst_stairs_free(w->stairs);
  nst_sweep_result_free(w->unit);
  free(w);
}

/* Rows of a level's table: the slots, or the entries of the next level. */
static uint64_t rows_of(const nst_sweep_worker *w, int d) {
  const nst_sweep_layout *l = &w->k->layout;
  return (uint64_t)(d == l->ndims - 2 ? l->nslots : w->nest.levels[d + 1].n);
}

static bool has_table(const nst_sweep_worker *w, int d) {
  const nst_sweep_layout *l = &w->k->layout;
  return d == l->ndims - 2 || (d > 0 && d < l->ndims - 2 && rows_of(w, d) * l->dims[d].padded <= TABLE);
}

/* How far apart the coefficients of a level are. */
static uint64_t stride_at(const nst_sweep_worker *w, int d) { return d && w->tables[d - 1].table ? w->k->layout.dims[d - 1].padded : 1; }

static void make_room(level_table *t, uint64_t nrows, uint64_t nterms, uint64_t padded) {
  if (nrows * padded > t->room || !t->table) {
    free(t->table);
    t->table = aligned(nrows * padded);
    t->room = nrows * padded;
  }
  if (nrows + 1 > t->rows_room) {
    void *old[] = {t->rows, t->first, t->terms, t->next};
    for (int i = 0; i < 4; i++) free(old[i]);
    t->rows = zeros(nrows, sizeof *t->rows);
    t->first = zeros(nrows, sizeof *t->first);
    t->terms = zeros(nrows, sizeof *t->terms);
    t->next = zeros(nrows, sizeof *t->next);
    t->rows_room = nrows + 1;
  }
  if (nterms + 1 > t->terms_room) {
    free(t->columns);
    free(t->which);
    t->columns = zeros(nterms, sizeof *t->columns);
    t->which = zeros(nterms, sizeof *t->which);
    t->terms_room = nterms + 1;
  }
}

/* The terms of a level's table, row by row; rows without any are 0 once and for all. Short rows come first, so that the
 * loop over a row's terms mostly ends where it did before. */
static void load_table(nst_sweep_worker *w, int d) {
  const nst_sweep_level *level = &w->nest.levels[d];
  const nst_sweep_dimension *dim = &w->k->layout.dims[d];
  const uint64_t nrows = rows_of(w, d), stride = stride_at(w, d);
  level_table *t = &w->tables[d];
  make_room(t, nrows, (uint64_t)level->n, dim->padded);
  memset(t->table, 0, nrows * dim->padded * 8);
  uint64_t most = 0, n = 0;
  memset(t->terms, 0, nrows * sizeof *t->terms);
  for (int i = 0; i < level->n; i++)
    if (++t->terms[level->entries[i].to] > most) most = t->terms[level->entries[i].to];
  t->nrows = 0;
  for (uint64_t terms = 1; terms <= most; terms++)
    for (uint64_t r = 0; r < nrows; r++) {
      if (t->terms[r] != terms) continue;
      t->rows[t->nrows] = (char *)t->table + 8 * r * dim->padded;
      t->first[t->nrows++] = t->next[r] = n;
      n += terms;
    }
  t->first[t->nrows] = n;
  for (int i = 0; i < level->n; i++) {
    const uint64_t at = t->next[level->entries[i].to]++;
    t->columns[at] = dim->columns[level->entries[i].column];
    t->which[at] = (uint64_t)i * stride;
  }
}

/* Lays out a variant and points the slots to its columns. */
static void load_variant(nst_sweep_worker *w, const nst_kernel_variant *v) {
  const nst_kernel_engine *k = w->k;
  const nst_sweep_layout *l = &k->layout;
  int terms = 0, n = l->ndims;
  for (int f = 0; f < l->nforms; f++) {
    w->forms[f] = &k->polys.items[v->polys[f]];
    terms += w->forms[f]->poly.nterms;
  }
  for (int d = 0; d < n - 1; d++) { /* no level has more entries than the polynomials have terms */
    if (terms <= w->room[d]) continue;
    free(w->coefficients[d]);
    w->coefficients[d] = aligned((size_t)terms);
    w->room[d] = terms;
  }
  nst_sweep_nest_load(&w->nest, l, w->forms, w->coefficients[0]);
  const nst_sweep_dimension *inner = &l->dims[n - 1];
  for (int s = 0; s < l->nslots; s++) w->slots[s] = inner->columns[w->nest.slot_column[s]];
  for (int d = 0; d < n - 1; d++) {
    if (has_table(w, d)) load_table(w, d);
    else free(w->tables[d].table), w->tables[d].table = NULL, w->tables[d].room = 0;
  }
}

static size_t bucket_of(double x) {
  int64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int64_t b = (bits >> (52 - NST_VECTOR_BUCKET_BITS)) - ((INT64_C(1023) << NST_VECTOR_BUCKET_BITS) - 1);
  return b > 0 ? (size_t)b : 0;
}

/* A valid point (x, y): what comes behind the bucket of x (integers: behind the next one, since x was rounded to a
 * double) and has no smaller y is not on the front. */
static void lower_table(nst_sweep_worker *w, int64_t x, int64_t y) {
  bool lower = false;
  for (size_t b = bucket_of((double)x) + (w->k->layout.floating ? 1 : 2); b < NST_VECTOR_BUCKETS; b++) {
    if (get_double(w, w->limits, 2 + b) <= (double)y && get_whole(w, w->limits, 2 + b) <= y) break;
    set_whole(w, w->limits, 2 + b, y);
    lower = true;
  }
  for (int o = 0; lower && o < NST_VECTOR_OCTAVES; o++) { /* the entry of each octave's first bucket */
    int octave = w->k->octave - (NST_VECTOR_OCTAVES - 1) + o;
    size_t from = o && octave >= 0 ? 1 + ((size_t)octave << NST_VECTOR_BUCKET_BITS) : 0;
    ((uint64_t *)w->limits)[2 + NST_VECTOR_BUCKETS + (size_t)o] = ((const uint64_t *)w->limits)[2 + from];
  }
}

static void no_limits(nst_sweep_worker *w) {
  set_limit(w, 0, !w->k->sweep->maximize);
  for (size_t i = 1; i < 2 + NST_VECTOR_BUCKETS + NST_VECTOR_OCTAVES; i++) set_limit(w, i, true);
}

/* A double that is no better than the limit. */
static double beyond(const nst_sweep_worker *w, int64_t limit, bool largest) {
  return w->k->layout.floating ? (double)limit : nextafter((double)limit, largest ? -INFINITY : INFINITY);
}

/* Where a known point stands, as w->place has it. */
static void stand(const nst_sweep_worker *w, uint64_t *out, const uint64_t *places) {
  if (w->k->keys.weight) *out = nst_sweep_key(&w->k->keys, places);
  else memcpy(out, places, (size_t)w->nplaces * sizeof *out);
}

/* Tightens the limits by what is known: points that a result holds, in this unit or in units done before. */
static void tighten(nst_sweep_worker *w, const nst_sweep_result *known) {
  const nst_ir_sweep *s = w->k->sweep;
  const nst_sweep_program *p = &w->k->program;
  const nst_sweep_point *worst = nst_sweep_result_worst(known);
  if (worst && s->nobjectives && p->metrics[0].order >= 0) {
    int64_t limit = nst_sweep_metric_order(&p->metrics[0], worst->metrics[0]);
    double old = get_double(w, w->limits, 0);
    if (s->maximize ? (double)limit >= old : (double)limit <= old) {
      set_whole(w, w->limits, 0, limit);
      w->known.has_best = true;
      w->known.best = beyond(w, limit, s->maximize);
      stand(w, w->worst, worst->places);
      w->worst_variant = worst->variant;
    }
  }
  if (s->npareto == 1 && !w->k->all && nst_sweep_result_nfront(known)) {
    int64_t limit = nst_sweep_metric_order(&p->metrics[s->nobjectives], nst_sweep_result_front(known, 0)->metrics[s->nobjectives]);
    if ((double)limit < get_double(w, w->limits, 1)) {
      set_whole(w, w->limits, 1, limit);
      w->known.has_first = true;
      w->known.first = beyond(w, limit, false);
    }
  }
}

static void lower_by_front(nst_sweep_worker *w, const nst_sweep_result *known) {
  const int first = w->k->sweep->nobjectives;
  const nst_sweep_program *p = &w->k->program;
  /* From the last step to the first, so that each entry of the table is lowered once. */
  for (size_t i = nst_sweep_result_nfront(known); w->k->sweep->npareto == 2 && !w->k->all && i-- > 0;) {
    const nst_sweep_point *f = nst_sweep_result_front(known, i);
    int64_t x = nst_sweep_metric_order(&p->metrics[first], f->metrics[first]);
    int64_t y = nst_sweep_metric_order(&p->metrics[first + 1], f->metrics[first + 1]);
    lower_table(w, x, y);
    stand(w, w->place, f->places);
    nst_stairs_add(w->stairs, x, y, w->place, f->variant);
  }
}

/* The parameters of the tuples at hand. */
static void name_point(nst_sweep_worker *w) {
  const nst_kernel_engine *k = w->k;
  const nst_sweep_layout *l = &k->layout;
  for (int d = 0; d < l->ndims; d++) {
    if (l->dims[d].axis < 0) continue;
    const nst_sweep_axis *x = &k->axes.axes[l->dims[d].axis];
    size_t row = x->which[w->tuple[d]] * (size_t)x->all.nparams;
    for (int p = 0; p < x->all.nparams; p++) {
      w->point.params[x->all.which[p]] = x->all.values[row + (size_t)p];
      w->point.places[x->all.which[p]] = x->all.places[row + (size_t)p];
    }
  }
}

/* Its metrics, exactly. */
static bool measure_point(nst_sweep_worker *w) {
  const nst_kernel_engine *k = w->k;
  const nst_sweep_layout *l = &k->layout;
  const void *table = w->tables[l->ndims - 2].table;
  size_t outer = w->tuple[l->ndims - 2], t = w->tuple[l->ndims - 1];
  for (int f = 0; f < l->nforms; f++) {
    w->values[f] = 0;
    for (int s = l->first_slot[f]; s < l->first_slot[f + 1]; s++)
      w->values[f] += get_whole(w, table, (size_t)s * l->dims[l->ndims - 2].padded + outer) * get_whole(w, w->slots[s], t);
    w->values[f] = w->values[f] / k->divisors[f] + (l->base[f] < 0 ? 0 : w->values[l->base[f]]);
  }
  if (!nst_sweep_program_run(&k->program, w->values, w->ops)) return false;
  for (int i = 0; i < k->program.nmetrics; i++) {
    const nst_sweep_metric *m = &k->program.metrics[i];
    const nst_i128 den = (nst_i128)m->den * (m->over < 0 ? 1 : w->ops[m->over]);
    if (!den || !nst_rat_make(&w->point.metrics[i], w->ops[m->op], den)) return false;
  }
  return true;
}

static bool is_later(const uint64_t *places, uint64_t number, const uint64_t *than, uint64_t than_number, int n) {
  for (int i = 0; i < n; i++)
    if (places[i] != than[i]) return places[i] > than[i];
  return number >= than_number;
}

/* The values that the filter found at a place: array 1 of the best, 2 and 3 of the front. */
static size_t found_at(const nst_sweep_worker *w, int array, size_t place) {
  const nst_sweep_layout *l = &w->k->layout;
  return (size_t)array * w->most * l->dims[l->ndims - 1].padded + place;
}

/* Could the candidate enter an answer? Cheaper than to measure and offer it. */
static bool may_enter(nst_sweep_worker *w, size_t place) {
  const nst_ir_sweep *s = w->k->sweep;
  if (w->k->all || s->npareto == 1) return true;
  if (s->nobjectives) {
    double v = get_double(w, w->candidates, found_at(w, 1, place)), limit = get_double(w, w->limits, 0);
    if (s->maximize ? v > limit : v < limit) return true;
    /* As good as the last of the best: with one objective its place decides. */
    if (v == limit && (s->nobjectives > 1 || !is_later(w->place, w->point.variant, w->worst, w->worst_variant, w->nplaces)))
      return true;
  }
  return s->npareto == 2 && nst_stairs_enters(w->stairs, get_whole(w, w->candidates, found_at(w, 2, place)), get_whole(w, w->candidates, found_at(w, 3, place)),
                                              w->place, w->point.variant);
}

typedef struct {
  uint64_t variant;
  nst_sweep_result *into;
  const atomic_bool *stop;
  nst_sweep_each *each; void *context;
} job;

/* All tuples of the innermost axis, for all tuples of the batch. */
static bool run_batch(nst_sweep_worker *w, const job *j, uint64_t nrows) {
  const nst_kernel_engine *k = w->k;
  int n = k->layout.ndims;
  const nst_sweep_dimension *inner = &k->layout.dims[n - 1];
  const void *in[] = {w->tables[n - 2].table, w->slots, w->limits, w->tally, w->batch, w->nest.used};
  if (!nrows) return true;
  uint64_t found = k->filter(in, nrows, w->candidates);
  nst_sweep_result_tally(j->into)->evaluated += nrows * inner->ntuples;
  if (w->tally[3]) {
    w->error = "a division by zero";
    return false;
  }
  bool entered = false;
  w->point.variant = j->variant;
  uint64_t outer = 0;
  for (int d = 0; d < n - 2; d++) outer += k->keys.share[d][w->tuple[d]];
  for (uint64_t c = 0; c < found; c++) {
    size_t place = (size_t)w->candidates[c];
    w->tuple[n - 2] = (size_t)w->batch[place / inner->padded];
    w->tuple[n - 1] = place % inner->padded;
    if (k->keys.weight) w->key = outer + k->keys.share[n - 2][w->tuple[n - 2]] + k->keys.share[n - 1][w->tuple[n - 1]];
    else name_point(w);
    if (!may_enter(w, place)) continue;
    name_point(w);
    entered = true;
    if (!measure_point(w)) {
      w->error = "a metric of a point passes 63 bits";
      return false;
    }
    if (j->each) j->each(j->context, &w->point);
    nst_sweep_result_offer(j->into, &w->point);
    const int front = k->sweep->nobjectives;
    if (k->sweep->npareto != 2 || k->all) continue;
    int64_t x = w->ops[k->program.metrics[front].order], y = w->ops[k->program.metrics[front + 1].order];
    lower_table(w, x, y);
    nst_stairs_add(w->stairs, x, y, w->place, w->point.variant);
  }
  if (entered) tighten(w, j->into);
  return true;
}

/* Coefficients of level d+1 for one tuple of level d, from those of level d. */
static void descend(nst_sweep_worker *w, int d, size_t t, const void *coefficients, uint64_t stride) {
  const nst_sweep_level *level = &w->nest.levels[d];
  const nst_sweep_dimension *dim = &w->k->layout.dims[d];
  memset(w->coefficients[d + 1], 0, (size_t)w->nest.levels[d + 1].n * 8);
  for (int i = 0; i < level->n; i++) {
    const nst_sweep_entry *e = &level->entries[i];
    const size_t at = (size_t)i * stride;
    if (w->k->layout.floating)
      ((double *)w->coefficients[d + 1])[e->to] += ((const double *)coefficients)[at] * ((const double *)dim->columns[e->column])[t];
    else
      ((int64_t *)w->coefficients[d + 1])[e->to] += ((const int64_t *)coefficients)[at] * ((const int64_t *)dim->columns[e->column])[t];
  }
}

static void make_table(nst_sweep_worker *w, int d, const void *coefficients) {
  level_table *t = &w->tables[d];
  const void *in[] = {coefficients, t->columns, t->rows, &t->nrows, t->first, t->which};
  if (t->nrows) w->k->accumulate(in, w->k->layout.dims[d].ntuples, NULL);
}

/* A look at bounds takes as long as LOOK points. Where the looks of a level have not paid in this unit, only few are taken. */
static bool is_worth(nst_sweep_worker *w, int level, uint64_t points) {
  looks *l = &w->looks[level];
  if (points < w->k->prune_from) return false;
  if (l->taken < 16 || l->good * points >= l->taken * LOOK) return true;
  return ++l->skipped % 64 == 0;
}

/* Skips what a bound rules out. */
static bool pruned(nst_sweep_worker *w, const job *j, int level, const void *coefficients, uint64_t stride) {
  const nst_kernel_engine *k = w->k;
  const uint64_t points = w->points[level];
  if (!is_worth(w, level, points)) return false;
  w->looks[level].taken++;
  if (!nst_kernel_prune(k, &w->nest, level, coefficients, stride, &w->known, w->form_ranges, w->op_ranges)) return false;
  w->looks[level].good++;
  nst_sweep_result_tally(j->into)->pruned += points;
  return true;
}

/* Tuples [from, to) of the last level but one. */
static bool run_rows(nst_sweep_worker *w, const job *j, size_t from, size_t to, const void *coefficients) {
  const int d = w->k->layout.ndims - 2;
  const nst_sweep_dimension *dim = &w->k->layout.dims[d];
  const bool may_prune = w->points[d + 1] >= w->k->prune_from;
  uint64_t n = 0;
  make_table(w, d, coefficients);
  for (size_t i = 0; i < dim->ntuples; i++) {
    size_t t = j->each ? i : dim->visit[i];
    if (t < from || t >= to) continue;
    if (may_prune && pruned(w, j, d + 1, (const char *)w->tables[d].table + 8 * t, dim->padded)) continue;
    w->batch[n++] = (int64_t)t;
    if (n < w->most) continue;
    if (!run_batch(w, j, n)) return false;
    n = 0;
  }
  return run_batch(w, j, n);
}

/* coefficients: of level d, stride_at apart. */
static bool run_level(nst_sweep_worker *w, const job *j, int d, size_t from, size_t to, const void *coefficients) {
  const nst_sweep_dimension *dim = &w->k->layout.dims[d];
  if (d == w->k->layout.ndims - 2) return run_rows(w, j, from, to, coefficients);
  const char *table = w->tables[d].table;
  const uint64_t stride = stride_at(w, d), next_stride = stride_at(w, d + 1);
  if (table) make_table(w, d, coefficients);
  for (size_t i = 0; i < dim->ntuples; i++) {
    size_t t = j->each ? i : dim->visit[i];
    if (t < from || t >= to) continue;
    w->tuple[d] = t;
    if (j->stop && atomic_load_explicit(j->stop, memory_order_relaxed)) return false;
    if (!table) descend(w, d, t, coefficients, stride);
    const void *next = table ? table + 8 * t : w->coefficients[d + 1];
    if (!pruned(w, j, d + 1, next, next_stride) && !run_level(w, j, d + 1, 0, w->k->layout.dims[d + 1].ntuples, next)) return false;
  }
  return true;
}

/* The points of duplicates are as good as those of the first, and come right after them: they stand in the best, too. */
static void offer_duplicates(const nst_kernel_engine *k, uint64_t number, const nst_sweep_result *unit, nst_sweep_result *into) {
  for (uint64_t v = k->variants[number].next; v; v = k->variants[v].next)
    for (size_t i = 0; i < nst_sweep_result_nbest(unit); i++) {
      nst_sweep_point p = *nst_sweep_result_best(unit, i);
      p.variant = v;
      nst_sweep_result_offer(into, &p);
    }
}

bool nst_kernel_worker_run(nst_sweep_worker *w, uint64_t unit, nst_sweep_result *into, const atomic_bool *stop, nst_sweep_each *each,
                           void *context, const char **error) {
  const nst_kernel_engine *k = w->k;
  uint64_t number = unit / k->chunks, chunk = unit % k->chunks;
  const nst_sweep_dimension *outermost = &k->layout.dims[0];
  size_t from = (size_t)(chunk * k->chunk), to = (size_t)(from + k->chunk < outermost->ntuples ? from + k->chunk : outermost->ntuples);
  const nst_kernel_variant *v = &k->variants[number];
  *error = NULL;
  if (!chunk) nst_sweep_result_tally(into)->dropped += k->axes.points - k->feasible;
  if (from >= to || !k->feasible) return true;
  uint64_t points = k->feasible / outermost->ntuples * (to - from);
  if (!v->polys || v->duplicate) {
    *(v->polys ? &nst_sweep_result_tally(into)->duplicates : &nst_sweep_result_tally(into)->dropped) += points;
    return true;
  }
  w->error = NULL;
  memset(w->tally, 0, sizeof w->tally);
  nst_sweep_result_clear(w->unit);
  no_limits(w);
  w->known = (nst_kernel_known){.stairs = w->stairs};
  memset(w->looks, 0, (size_t)k->layout.ndims * sizeof *w->looks);
  nst_stairs_clear(w->stairs);
  tighten(w, into);
  lower_by_front(w, into);
  load_variant(w, v);
  job j = {number, w->unit, stop, each, context};
  bool good = run_level(w, &j, 0, from, to, w->coefficients[0]);
  nst_sweep_result_tally(w->unit)->valid += (uint64_t)w->tally[0];
  nst_sweep_result_tally(w->unit)->checksum += (uint64_t)w->tally[1];
  nst_sweep_result_tally(w->unit)->evaluated -= (uint64_t)w->tally[2];
  nst_sweep_result_tally(w->unit)->dropped += (uint64_t)w->tally[2];
  if (good) {
    nst_sweep_result_merge(into, w->unit);
    offer_duplicates(k, number, w->unit, into);
  }
  *error = w->error;
  return good;
}

