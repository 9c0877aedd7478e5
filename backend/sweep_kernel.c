/* The kernel engine: a sweep as generated loops over tables of columns.
 *
 * Preparing it: partition the parameters (sweep_axes), say what is asked as
 * forms and a program (sweep_program), turn each variant's formulas into
 * polynomials (sweep_poly), lay the polynomials out over the axes
 * (sweep_layout), compile the two innermost loops. Variants whose polynomials
 * are all the same are evaluated once. A unit is a range of tuples of the
 * outermost axis for one variant.
 *
 * The generated code only says which points may enter an answer; those are
 * computed again in whole numbers and offered to the result, which decides. */
#include "backend/sweep_kernel.h"
#include "backend/sweep_rank.h"
#include "backend/sweep_stairs.h"
#include "base/vec.h"
#include "ir/plan.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VARIANTS = 1 << 20, UNIT_POINTS = 1 << 20, PROGRAM = 250, BATCH_POINTS = 1 << 10 };

typedef struct {
  int *polys;       /* [nforms] numbers of known polynomials; NULL: no mapping (without a keep? a tensor is kept nowhere) */
  bool duplicate;
  uint64_t next;    /* the next variant with the same polynomials; 0: none */
} variant;

typedef struct {
  nst_sweep_engine engine;
  nst_arena *arena;
  const nst_ir_sweep *sweep;
  const nst_space *space;
  nst_sweep_options options;
  nst_sweep_shape shape;
  nst_sweep_axes axes;
  nst_sweep_tables tables;
  nst_sweep_program program;
  NST_VEC(nst_sweep_known_poly) polys;
  variant *variants;
  nst_sweep_layout layout;
  int64_t *divisors;           /* of the forms */
  int octave;                  /* of the largest value of the first pareto metric */
  bool small_sum;              /* of all metrics of a point: below 2^52 */
  uint64_t chunks, chunk;      /* units per variant; tuples of the outermost axis in each */
  uint64_t feasible;           /* points per variant */
  nst_jit_unit *unit;
  nst_vector_function *accumulate, *filter;
  nst_sweep_bounds *bounds;
  double compile_seconds;
} kernel_engine;

/* ---- preparing ---- */

static uint64_t hash_poly(const nst_sweep_poly *p, int form, int naxes) {
  uint64_t h = 0xcbf29ce484222325u ^ (uint64_t)form;
  for (int i = 0; i < p->nterms; i++) {
    h = (h ^ (uint64_t)p->terms[i].coef.num) * 0x100000001b3u;
    for (int a = 0; a < naxes; a++) h = (h ^ (uint64_t)p->terms[i].columns[a]) * 0x100000001b3u;
  }
  return h;
}

static bool same_poly(const nst_sweep_poly *a, const nst_sweep_poly *b, int naxes) {
  if (a->nterms != b->nterms) return false;
  for (int i = 0; i < a->nterms; i++)
    if (a->terms[i].coef.num != b->terms[i].coef.num ||
        memcmp(a->terms[i].columns, b->terms[i].columns, (size_t)naxes * sizeof(int)))
      return false;
  return true;
}

/* The number of a polynomial; copied out of the work arena when it is new. */
static int known_poly(kernel_engine *k, int form, const nst_sweep_poly *p) {
  int naxes = k->tables.naxes;
  uint64_t hash = hash_poly(p, form, naxes);
  for (size_t i = 0; i < k->polys.len; i++) {
    const nst_sweep_known_poly *q = &k->polys.items[i];
    if (q->hash == hash && q->form == form && same_poly(&q->poly, p, naxes)) return (int)i;
  }
  nst_sweep_known_poly copy = {form, {NST_NEW_ARRAY(k->arena, p->nterms, nst_sweep_term), p->nterms, p->nterms}, hash};
  for (int i = 0; i < p->nterms; i++) {
    int *columns = NST_NEW_ARRAY(k->arena, naxes + 1, int);
    memcpy(columns, p->terms[i].columns, (size_t)naxes * sizeof *columns);
    copy.poly.terms[i] = (nst_sweep_term){p->terms[i].coef, columns};
  }
  *nst_vec_push(k->arena, &k->polys) = copy;
  return (int)k->polys.len - 1;
}

/* Working instances of each statement at each level; -1 where they differ from point to point. */
static int64_t *find_instances(kernel_engine *k, const nst_plan *plan, const nst_sweep_factor *factors) {
  int n = k->axes.mapping->workload.nstmts * k->axes.mapping->hardware.nlevels;
  int64_t *instances = NST_NEW_ARRAY(k->arena, n, int64_t);
  for (int i = 0; i < n; i++) {
    nst_sweep_poly p = {0};
    bool good = nst_sweep_poly_add(&k->tables, &p, nst_rat_int(1), &plan->instances[i], factors);
    nst_sweep_poly_finish(&k->tables, &p);
    bool constant = good && p.nterms <= 1;
    for (int a = 0; p.nterms == 1 && a < k->tables.naxes; a++) constant = constant && !p.terms[0].columns[a];
    instances[i] = !constant ? -1 : p.nterms ? (int64_t)p.terms[0].coef.num : 0;
  }
  return instances;
}

static bool prepare_variant(kernel_engine *k, uint64_t number, const char **why) {
  k->tables.work = nst_arena_new();
  const nst_ir_mapping *m = nst_variant_make(k->tables.work, &k->axes.variants, number);
  const bool legal = !nst_ir_verify_mapping(k->tables.work, m);
  const nst_plan *plan = legal ? nst_plan_make(k->tables.work, m) : NULL;
  bool good = !legal; /* all its points are dropped */
  if (!legal) {
  } else if (!plan) {
    *why = "a mapping with too many loops";
  } else {
    nst_sweep_factor *factors = NST_NEW_ARRAY(k->tables.work, plan->ncolumns + 1, nst_sweep_factor);
    good = nst_sweep_factors(&k->tables, m, plan, factors);
    if (!good) *why = "a tensor whose elements have to be listed";
    if (good && plan->nconflicts) {
      *why = "an array with reduce = false";
      good = false;
    }
    if (good && !number) {
      const int64_t *instances = find_instances(k, plan, factors);
      good = nst_sweep_program_build(&k->program, k->arena, &k->axes, k->sweep, instances, why);
    }
    variant *v = &k->variants[number];
    if (good) v->polys = NST_NEW_ARRAY(k->arena, k->program.nforms, int);
    for (int f = 0; f < k->program.nforms && good; f++) {
      nst_sweep_poly p;
      good = nst_sweep_form_poly(&p, &k->tables, &k->program.forms[f], m, plan, factors);
      if (!good) *why = "numbers past 63 bits";
      else v->polys[f] = known_poly(k, f, &p);
    }
  }
  nst_arena_free(k->tables.work);
  k->tables.work = k->arena;
  return good;
}

typedef struct { const int *polys; int n; uint64_t number; } listed_variant;

static int compare_variants(const void *a, const void *b) {
  const listed_variant *x = a, *y = b;
  int c = memcmp(x->polys, y->polys, (size_t)x->n * sizeof(int));
  return c ? c : (x->number > y->number) - (x->number < y->number);
}

/* Of variants with the same polynomials, all but the first are duplicates; each leads to the next. */
static void find_duplicates(kernel_engine *k) {
  uint64_t n = 0;
  listed_variant *list = malloc(k->axes.variants.count * sizeof *list);
  if (!list) nst_out_of_memory();
  for (uint64_t i = 0; i < k->axes.variants.count; i++)
    if (k->variants[i].polys) list[n++] = (listed_variant){k->variants[i].polys, k->program.nforms, i};
  qsort(list, n, sizeof *list, compare_variants);
  for (uint64_t i = 1; i < n; i++) {
    if (memcmp(list[i - 1].polys, list[i].polys, (size_t)list[i].n * sizeof(int))) continue;
    k->variants[list[i].number].duplicate = true;
    k->variants[list[i - 1].number].next = list[i].number;
  }
  free(list);
}

/* The points of duplicates are as good as those of the first, and come right after them: they stand in the best, too. */
static void offer_duplicates(const kernel_engine *k, uint64_t number, const nst_sweep_result *unit, nst_sweep_result *into) {
  for (uint64_t v = k->variants[number].next; v; v = k->variants[v].next)
    for (size_t i = 0; i < nst_sweep_result_nbest(unit); i++) {
      nst_sweep_point p = *nst_sweep_result_best(unit, i);
      p.variant = v;
      nst_sweep_result_offer(into, &p);
    }
}

/* No value of a form, and no partial sum of it, is larger. */
static double poly_bound(const kernel_engine *k, const nst_sweep_poly *p) {
  double sum = 0;
  for (int i = 0; i < p->nterms; i++) {
    double term = fabs((double)p->terms[i].coef.num);
    for (int a = 0; a < k->tables.naxes; a++) {
      const nst_sweep_column *c = &k->tables.columns[a][p->terms[i].columns[a]];
      double most = fmax((double)c->most, -(double)c->least);
      term *= most < 1 ? 1 : most;
    }
    sum += term;
  }
  return sum * (1 + 1e-9);
}

/* Bounds of every op; the largest of all. */
static double program_bound(const kernel_engine *k, const double *forms, double *bound) {
  double most = 0;
  for (int i = 0; i < k->program.nops; i++) {
    const nst_vop *o = &k->program.ops[i];
    double a = o->a >= 0 ? bound[o->a] : 0, b = o->b >= 0 ? bound[o->b] : 0, imm = fabs((double)o->imm), r = 1;
    switch (o->kind) {
    case NST_VOP_FORM: r = forms[o->imm]; break;
    case NST_VOP_CONST: r = imm; break;
    case NST_VOP_ADD:
    case NST_VOP_SUB: r = a + b; break;
    case NST_VOP_MUL: r = a * b; break;
    case NST_VOP_MIN:
    case NST_VOP_MAX: r = a > b ? a : b; break;
    case NST_VOP_SCALE: r = a * imm; break;
    case NST_VOP_CEILDIV: r = a + imm; break;
    case NST_VOP_LT:
    case NST_VOP_LE:
    case NST_VOP_EQ:
    case NST_VOP_AND:
    case NST_VOP_OR:
    case NST_VOP_NOT:
    case NST_VOP_TRUE: break;
    }
    bound[i] = r;
    if (r > most) most = r;
  }
  return most * (1 + 1e-9);
}

/* No number on the way to any metric of any point is larger. */
static double largest_number(const kernel_engine *k, double *bound) {
  double *forms = calloc((size_t)k->program.nforms + 1, sizeof *forms), most = 0;
  if (!forms) nst_out_of_memory();
  for (size_t i = 0; i < k->polys.len; i++) {
    double b = poly_bound(k, &k->polys.items[i].poly);
    if (b > forms[k->polys.items[i].form]) forms[k->polys.items[i].form] = b;
    if (b > most) most = b;
  }
  double program = program_bound(k, forms, bound);
  free(forms);
  return program > most ? program : most;
}

static int longest_axis(const kernel_engine *k) {
  int longest = -1;
  for (int a = 0; a < k->tables.naxes; a++)
    if (longest < 0 || k->axes.axes[a].ntuples >= k->axes.axes[longest].ntuples) longest = a;
  return longest;
}

/* Doubles where every number stays below 2^52, and then with as few columns in the innermost loop as there can be. */
static const char *choose_numbers(kernel_engine *k, bool *floating) {
  double bound[PROGRAM + 1];
  double most = largest_number(k, bound);
  double sum = 0;
  for (int i = 0; i < k->program.nmetrics; i++) sum += bound[k->program.metrics[i].op];
  *floating = most < 0x1p52;
  k->small_sum = sum < 0x1p52;
  k->divisors = NST_NEW_ARRAY(k->arena, k->program.nforms + 1, int64_t);
  for (int f = 0; f < k->program.nforms; f++) k->divisors[f] = 1;
  if (k->sweep->npareto) {
    int exponent = 1;
    (void)frexp(bound[k->program.metrics[k->sweep->nobjectives].op], &exponent);
    k->octave = exponent - 1;
  }
  if (!*floating) return most < 0x1p62 ? NULL : "numbers past 62 bits";
  int longest = longest_axis(k);
  if (longest < 0) return NULL;
  nst_sweep_known_poly *plain = NST_NEW_ARRAY(k->arena, k->polys.len, nst_sweep_known_poly);
  memcpy(plain, k->polys.items, k->polys.len * sizeof *plain);
  if (!nst_sweep_rank_reduce(k->arena, &k->tables, longest, k->polys.items, k->polys.len, k->program.nforms)) return NULL;
  if (largest_number(k, bound) < 0x1p52) return NULL;
  memcpy(k->polys.items, plain, k->polys.len * sizeof *plain); /* too large on the way */
  return NULL;
}

/* How many tuples of the last level but one go to the filter at once. */
static uint64_t batch_rows(const nst_sweep_layout *l) {
  uint64_t rows = BATCH_POINTS / l->dims[l->ndims - 1].padded;
  return rows ? rows : 1;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Sums of counts; a parameter may be negative. */
static bool is_positive(const nst_sweep_form *f) {
  for (int i = 0; i < f->natoms; i++)
    if (f->atoms[i].weight.num < 0 || f->atoms[i].kind == NST_ATOM_PARAM) return false;
  return true;
}

static bool compile(kernel_engine *k, nst_buffer *error) {
  const nst_sweep_layout *l = &k->layout;
  nst_vform forms[PROGRAM];
  int metrics[NST_SWEEP_MAX_METRICS];
  for (int f = 0; f < l->nforms; f++) forms[f] = (nst_vform){l->first_slot[f], l->first_slot[f + 1] - l->first_slot[f], k->divisors[f], is_positive(&k->program.forms[f])};
  for (int i = 0; i < k->program.nmetrics; i++) metrics[i] = k->program.metrics[i].op;
  nst_vector_code codes[2] = {
    {.name = "accumulate", .floating = l->floating},
    {.name = "filter", .floating = l->floating, .filter = true, .checksum = k->options.checksum, .small_sum = k->small_sum,
     .ntuples = l->dims[l->ndims - 1].ntuples, .room = batch_rows(l), .octave = k->octave, .stride = (int)l->dims[l->ndims - 2].padded, .forms = forms, .nforms = l->nforms, .nslots = l->nslots,
     .ops = k->program.ops, .nops = k->program.nops, .valid = k->program.valid,
     .metrics = metrics, .nmetrics = k->program.nmetrics,
     .best = k->sweep->nobjectives ? metrics[0] : -1, .largest = k->sweep->maximize,
     .nfront = k->options.each ? 3 : k->sweep->npareto}};
  for (int i = 0; i < 2 && i < k->sweep->npareto; i++) codes[1].front[i] = metrics[k->sweep->nobjectives + i];
  nst_vector_function *functions[2];
  double start = seconds();
  nst_jit_status status = nst_jit_compile_vectors(&k->unit, functions, k->options.jit, codes, 2,
                                                  (nst_jit_options){NST_JIT_O2, NULL}, error);
  k->compile_seconds = seconds() - start;
  k->accumulate = functions[0];
  k->filter = functions[1];
  return status == NST_JIT_OK;
}

/* ---- points ---- */

struct nst_sweep_worker {
  const kernel_engine *k;
  nst_sweep_nest nest;          /* of the variant at hand */
  const nst_sweep_known_poly **forms;
  void **coefficients; int *room; /* per level, of the tuple under way */
  size_t *tuple;                /* per level */
  void *table;                  /* rows of coefficients: a slot each, for all tuples of the last level but one */
  const void **columns, **rows; /* of the terms that make the table, row by row; its rows that have terms */
  uint64_t *first, *which, nrows; /* term of each row, and one more; of each term: its coefficient */
  const void **slots;           /* columns of the slots */
  void *limits;                 /* of the filter */
  int64_t *batch; size_t nbatch; /* tuples of the last level but one whose points wait to be run */
  int64_t *candidates;          /* places, then the values that the filter found (backend/vector.h) */
  nst_stairs *stairs;           /* fronts of two metrics */
  uint64_t *worst, worst_variant; /* place of the point that set limit 0 */
  int64_t tally[2];
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

static nst_sweep_worker *worker_new(const nst_sweep_engine *e) {
  const kernel_engine *k = (const kernel_engine *)e;
  const nst_sweep_layout *l = &k->layout;
  nst_sweep_worker *w = zeros(1, sizeof *w);
  size_t n = (size_t)l->ndims, npoints = (size_t)k->sweep->npoints;
  w->k = k;
  nst_sweep_nest_init(&w->nest, l);
  w->forms = zeros((size_t)l->nforms, sizeof *w->forms);
  w->coefficients = zeros(n, sizeof *w->coefficients);
  w->room = zeros(n, sizeof *w->room);
  w->tuple = zeros(n, sizeof *w->tuple);
  w->table = aligned((size_t)l->nslots * l->dims[n - 2].padded);
  w->rows = zeros((size_t)l->nslots, sizeof *w->rows);
  w->first = zeros((size_t)l->nslots, sizeof *w->first);
  w->slots = zeros((size_t)l->nslots, sizeof *w->slots);
  w->limits = aligned(2 + NST_VECTOR_BUCKETS + NST_VECTOR_OCTAVES);
  w->batch = zeros(batch_rows(l), sizeof *w->batch);
  w->candidates = aligned(4 * batch_rows(l) * l->dims[n - 1].padded);
  w->stairs = nst_stairs_new((int)npoints);
  w->worst = zeros(npoints, sizeof *w->worst);
  w->values = zeros((size_t)l->nforms, sizeof *w->values);
  w->ops = zeros((size_t)k->program.nops, sizeof *w->ops);
  w->point = (nst_sweep_point){0, zeros(npoints, sizeof(int64_t)), zeros(npoints, sizeof(uint64_t)),
                               zeros((size_t)k->program.nmetrics, sizeof(nst_rat))};
  w->unit = nst_sweep_result_new(k->shape);
  return w;
}

static void worker_free(nst_sweep_worker *w) {
  if (!w) return;
  nst_sweep_nest_fini(&w->nest, &w->k->layout);
  for (int d = 0; d < w->k->layout.ndims; d++) free(w->coefficients[d]);
  void *all[] = {w->forms, w->coefficients, w->room, w->tuple, w->table, w->columns, w->rows, w->first, w->which, w->slots, w->limits, w->batch, w->candidates,
                 w->values, w->ops, w->worst, w->point.params, w->point.places, w->point.metrics};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
  nst_stairs_free(w->stairs);
  nst_sweep_result_free(w->unit);
  free(w);
}

/* The terms of the last level but one, row by row; rows without any are 0 once and for all. */
static void load_rows(nst_sweep_worker *w) {
  const nst_sweep_layout *l = &w->k->layout;
  const nst_sweep_level *level = &w->nest.levels[l->ndims - 2];
  const nst_sweep_dimension *dim = &l->dims[l->ndims - 2];
  memset(w->table, 0, (size_t)l->nslots * dim->padded * 8);
  uint64_t n = 0;
  w->nrows = 0;
  for (int s = 0; s < l->nslots; s++) {
    const uint64_t before = n;
    for (int i = 0; i < level->n; i++) {
      if (level->entries[i].to != s) continue;
      w->columns[n] = dim->columns[level->entries[i].column];
      w->which[n++] = (uint64_t)i;
    }
    if (n == before) continue;
    w->rows[w->nrows] = (char *)w->table + 8 * (size_t)s * dim->padded;
    w->first[w->nrows++] = before;
  }
  w->first[w->nrows] = n;
}

/* Lays out a variant and points the slots to its columns. */
static void load_variant(nst_sweep_worker *w, const variant *v) {
  const kernel_engine *k = w->k;
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
    if (d < n - 2) continue;
    free(w->columns);
    free(w->which);
    w->columns = zeros((size_t)terms, sizeof *w->columns);
    w->which = zeros((size_t)terms, sizeof *w->which);
  }
  nst_sweep_nest_load(&w->nest, l, w->forms, w->coefficients[0]);
  const nst_sweep_dimension *inner = &l->dims[n - 1];
  for (int s = 0; s < l->nslots; s++) w->slots[s] = inner->columns[w->nest.slot_column[s]];
  load_rows(w);
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

static int64_t scaled(nst_rat r, int64_t den) { return (int64_t)(r.num * (den / (int64_t)r.den)); }

static void no_limits(nst_sweep_worker *w) {
  set_limit(w, 0, !w->k->sweep->maximize);
  for (size_t i = 1; i < 2 + NST_VECTOR_BUCKETS + NST_VECTOR_OCTAVES; i++) set_limit(w, i, true);
}

/* Tightens the limits by what is known: points that a result holds, in this unit or in units done before. */
static void tighten(nst_sweep_worker *w, const nst_sweep_result *known) {
  const nst_ir_sweep *s = w->k->sweep;
  const nst_sweep_program *p = &w->k->program;
  const nst_sweep_point *worst = nst_sweep_result_worst(known);
  if (worst && s->nobjectives) {
    int64_t limit = scaled(worst->metrics[0], p->metrics[0].den);
    double old = get_double(w, w->limits, 0);
    if (s->maximize ? (double)limit >= old : (double)limit <= old) {
      set_whole(w, w->limits, 0, limit);
      memcpy(w->worst, worst->places, (size_t)s->npoints * sizeof *w->worst);
      w->worst_variant = worst->variant;
    }
  }
  if (s->npareto == 1 && nst_sweep_result_nfront(known)) {
    int64_t limit = scaled(nst_sweep_result_front(known, 0)->metrics[s->nobjectives], p->metrics[s->nobjectives].den);
    if ((double)limit < get_double(w, w->limits, 1)) set_whole(w, w->limits, 1, limit);
  }
}

static void lower_by_front(nst_sweep_worker *w, const nst_sweep_result *known) {
  const int first = w->k->sweep->nobjectives;
  const nst_sweep_program *p = &w->k->program;
  /* From the last step to the first, so that each entry of the table is lowered once. */
  for (size_t i = nst_sweep_result_nfront(known); w->k->sweep->npareto == 2 && i-- > 0;) {
    const nst_sweep_point *f = nst_sweep_result_front(known, i);
    int64_t x = scaled(f->metrics[first], p->metrics[first].den), y = scaled(f->metrics[first + 1], p->metrics[first + 1].den);
    lower_table(w, x, y);
    nst_stairs_add(w->stairs, x, y, f->places, f->variant);
  }
}

/* Which point stands at tuple t of the innermost axis. */
static void name_point(nst_sweep_worker *w, uint64_t number, size_t t) {
  const kernel_engine *k = w->k;
  const nst_sweep_layout *l = &k->layout;
  w->tuple[l->ndims - 1] = t;
  w->point.variant = number;
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
  const kernel_engine *k = w->k;
  const nst_sweep_layout *l = &k->layout;
  size_t outer = w->tuple[l->ndims - 2], t = w->tuple[l->ndims - 1];
  for (int f = 0; f < l->nforms; f++) {
    w->values[f] = 0;
    for (int s = l->first_slot[f]; s < l->first_slot[f + 1]; s++)
      w->values[f] += get_whole(w, w->table, (size_t)s * l->dims[l->ndims - 2].padded + outer) * get_whole(w, w->slots[s], t);
    w->values[f] /= k->divisors[f];
  }
  if (!nst_sweep_program_run(&k->program, w->values, w->ops)) return false;
  for (int i = 0; i < k->program.nmetrics; i++)
    if (!nst_rat_make(&w->point.metrics[i], w->ops[k->program.metrics[i].op], k->program.metrics[i].den)) return false;
  return true;
}

static bool is_later(const uint64_t *places, uint64_t number, const uint64_t *than, uint64_t than_number, int n) {
  for (int i = 0; i < n; i++)
    if (places[i] != than[i]) return places[i] > than[i];
  return number >= than_number;
}

/* Could the named candidate enter an answer? Cheaper than to measure and offer it. */
static bool may_enter(nst_sweep_worker *w, size_t place) {
  const nst_ir_sweep *s = w->k->sweep;
  size_t all = batch_rows(&w->k->layout) * w->k->layout.dims[w->k->layout.ndims - 1].padded;
  if (w->k->options.each || s->npareto == 1 || s->npareto > 2) return true;
  if (s->nobjectives) {
    double v = get_double(w, w->candidates, all + place), limit = get_double(w, w->limits, 0);
    if (s->maximize ? v > limit : v < limit) return true;
    /* As good as the last of the best: with one objective its place decides. */
    if (v == limit && (s->nobjectives > 1 || !is_later(w->point.places, w->point.variant, w->worst, w->worst_variant, s->npoints)))
      return true;
  }
  return s->npareto == 2 && nst_stairs_enters(w->stairs, get_whole(w, w->candidates, 2 * all + place), get_whole(w, w->candidates, 3 * all + place),
                                              w->point.places, w->point.variant);
}

typedef struct {
  uint64_t variant;
  nst_sweep_result *into;
  const atomic_bool *stop;
  nst_sweep_each *each; void *context;
} job;

/* All tuples of the innermost axis, for all tuples of the batch. */
static bool run_batch(nst_sweep_worker *w, const job *j) {
  const kernel_engine *k = w->k;
  int n = k->layout.ndims;
  const nst_sweep_dimension *inner = &k->layout.dims[n - 1];
  const void *in[] = {w->table, w->slots, w->limits, w->tally, w->batch};
  if (!w->nbatch) return true;
  uint64_t found = k->filter(in, w->nbatch, w->candidates);
  nst_sweep_result_tally(j->into)->evaluated += w->nbatch * inner->ntuples;
  w->nbatch = 0;
  bool entered = false;
  for (uint64_t c = 0; c < found; c++) {
    size_t place = (size_t)w->candidates[c];
    w->tuple[n - 2] = (size_t)w->batch[place / inner->padded];
    name_point(w, j->variant, place % inner->padded);
    if (!may_enter(w, place)) continue;
    entered = true;
    if (!measure_point(w)) {
      w->error = "a metric of a point passes 63 bits";
      return false;
    }
    if (j->each) j->each(j->context, &w->point);
    nst_sweep_result_offer(j->into, &w->point);
    const int front = k->sweep->nobjectives;
    if (k->sweep->npareto != 2) continue;
    int64_t x = w->ops[k->program.metrics[front].op], y = w->ops[k->program.metrics[front + 1].op];
    lower_table(w, x, y);
    nst_stairs_add(w->stairs, x, y, w->point.places, w->point.variant);
  }
  if (entered) tighten(w, j->into);
  return true;
}

/* Coefficients of level d+1 for one tuple of level d. */
static void descend(nst_sweep_worker *w, int d, size_t t) {
  const nst_sweep_level *level = &w->nest.levels[d];
  const nst_sweep_dimension *dim = &w->k->layout.dims[d];
  memset(w->coefficients[d + 1], 0, (size_t)w->nest.levels[d + 1].n * 8);
  for (int i = 0; i < level->n; i++) {
    const nst_sweep_entry *e = &level->entries[i];
    if (w->k->layout.floating)
      ((double *)w->coefficients[d + 1])[e->to] += ((const double *)w->coefficients[d])[i] * ((const double *)dim->columns[e->column])[t];
    else
      ((int64_t *)w->coefficients[d + 1])[e->to] += ((const int64_t *)w->coefficients[d])[i] * ((const int64_t *)dim->columns[e->column])[t];
  }
}

/* The slots' coefficients for all tuples of the last level but one. */
static void make_table(nst_sweep_worker *w) {
  const int d = w->k->layout.ndims - 2;
  const void *in[] = {w->coefficients[d], w->columns, w->rows, &w->nrows, w->first, w->which};
  if (w->nrows) w->k->accumulate(in, w->k->layout.dims[d].ntuples, NULL);
}

/* Skips what a bound rules out. */
static bool pruned(nst_sweep_worker *w, const job *j, int level, const void *coefficients, uint64_t stride) {
  const kernel_engine *k = w->k;
  if (!k->bounds || !nst_sweep_bounds_prune(k->bounds, &k->layout, &w->nest, level, coefficients, stride)) return false;
  uint64_t points = 1;
  for (int d = level; d < k->layout.ndims; d++) points *= k->layout.dims[d].ntuples;
  nst_sweep_result_tally(j->into)->pruned += points;
  return true;
}

/* Tuples [from, to) of the last level but one. */
static bool run_rows(nst_sweep_worker *w, const job *j, size_t from, size_t to) {
  const int d = w->k->layout.ndims - 2;
  const nst_sweep_dimension *dim = &w->k->layout.dims[d];
  const uint64_t most = batch_rows(&w->k->layout);
  make_table(w);
  for (size_t i = 0; i < dim->ntuples; i++) {
    size_t t = j->each ? i : dim->visit[i];
    if (t < from || t >= to || pruned(w, j, d + 1, (const char *)w->table + 8 * t, dim->padded)) continue;
    w->batch[w->nbatch++] = (int64_t)t;
    if (w->nbatch == most && !run_batch(w, j)) return false;
  }
  return run_batch(w, j);
}

static bool run_level(nst_sweep_worker *w, const job *j, int d, size_t from, size_t to) {
  const nst_sweep_dimension *dim = &w->k->layout.dims[d];
  if (d == w->k->layout.ndims - 2) return run_rows(w, j, from, to);
  for (size_t i = 0; i < dim->ntuples; i++) {
    size_t t = j->each ? i : dim->visit[i];
    if (t < from || t >= to) continue;
    w->tuple[d] = t;
    if (j->stop && atomic_load_explicit(j->stop, memory_order_relaxed)) return false;
    descend(w, d, t);
    if (!pruned(w, j, d + 1, w->coefficients[d + 1], 1) && !run_level(w, j, d + 1, 0, w->k->layout.dims[d + 1].ntuples)) return false;
  }
  return true;
}

static bool run(nst_sweep_worker *w, uint64_t unit, nst_sweep_result *into, const atomic_bool *stop, nst_sweep_each *each,
                void *context, const char **error) {
  const kernel_engine *k = w->k;
  uint64_t number = unit / k->chunks, chunk = unit % k->chunks;
  const nst_sweep_dimension *outermost = &k->layout.dims[0];
  size_t from = (size_t)(chunk * k->chunk), to = (size_t)(from + k->chunk < outermost->ntuples ? from + k->chunk : outermost->ntuples);
  const variant *v = &k->variants[number];
  *error = NULL;
  if (!chunk) nst_sweep_result_tally(into)->dropped += k->axes.points - k->feasible;
  if (from >= to || !k->feasible) return true;
  uint64_t points = k->feasible / outermost->ntuples * (to - from);
  if (!v->polys || v->duplicate) {
    *(v->polys ? &nst_sweep_result_tally(into)->duplicates : &nst_sweep_result_tally(into)->dropped) += points;
    return true;
  }
  w->error = NULL;
  w->nbatch = 0;
  w->tally[0] = w->tally[1] = 0;
  nst_sweep_result_clear(w->unit);
  no_limits(w);
  nst_stairs_clear(w->stairs);
  tighten(w, into);
  lower_by_front(w, into);
  load_variant(w, v);
  job j = {number, w->unit, stop, each, context};
  bool good = run_level(w, &j, 0, from, to);
  nst_sweep_result_tally(w->unit)->valid += (uint64_t)w->tally[0];
  nst_sweep_result_tally(w->unit)->checksum += (uint64_t)w->tally[1];
  if (good) {
    nst_sweep_result_merge(into, w->unit);
    offer_duplicates(k, number, w->unit, into);
  }
  *error = w->error;
  return good;
}

/* ---- the engine ---- */

nst_sweep_kernel_parts nst_sweep_kernel_show(const nst_sweep_engine *e) {
  const kernel_engine *k = (const kernel_engine *)e;
  return (nst_sweep_kernel_parts){&k->layout, &k->program, k->divisors, k->compile_seconds};
}

bool nst_sweep_kernel_variant(const nst_sweep_engine *e, uint64_t number, const nst_sweep_known_poly **forms) {
  const kernel_engine *k = (const kernel_engine *)e;
  for (int f = 0; f < k->layout.nforms; f++) forms[f] = &k->polys.items[k->variants[number].polys[f]];
  return !k->variants[number].duplicate;
}

static void engine_free(nst_sweep_engine *e) {
  kernel_engine *k = (kernel_engine *)e;
  if (!k) return;
  if (k->unit) nst_jit_unit_free(k->options.jit, k->unit);
  if (k->tables.scratch) nst_sweep_tables_fini(&k->tables);
  nst_sweep_axes_fini(&k->axes);
  nst_arena_free(k->arena);
}

static void cut_into_units(kernel_engine *k) {
  const nst_sweep_dimension *outermost = &k->layout.dims[0];
  uint64_t per_tuple = outermost->ntuples ? k->feasible / outermost->ntuples : 0;
  k->chunk = per_tuple >= UNIT_POINTS ? 1 : per_tuple ? UNIT_POINTS / per_tuple : 1;
  k->chunks = (outermost->ntuples + k->chunk - 1) / k->chunk;
  if (!k->chunks) k->chunks = 1;
}

static const char *prepare(kernel_engine *k, nst_diags *diags) {
  const char *why = NULL;
  if (!k->sweep->nobjectives && !k->sweep->npareto) return "nothing to minimize, maximize or draw a front of";
  if (!nst_sweep_shape_make(&k->shape, k->sweep, k->space, diags)) return "";
  if (!nst_sweep_axes_init(&k->axes, k->arena, k->axes.mapping, k->sweep, k->space, diags, &why)) return why ? why : "";
  if (k->axes.variants.count > VARIANTS) return "more than 2^20 variants";
  nst_sweep_tables_init(&k->tables, k->arena, &k->axes);
  k->feasible = 1;
  for (int a = 0; a < k->axes.naxes; a++) k->feasible *= k->axes.axes[a].ntuples;
  k->variants = NST_NEW_ARRAY(k->arena, k->axes.variants.count, variant);
  bool floating = true;
  if (k->feasible) {
    for (uint64_t v = 0; v < k->axes.variants.count; v++)
      if (!prepare_variant(k, v, &why)) return why;
    if (k->program.nops > PROGRAM || k->program.nforms > PROGRAM) return "an expression too large";
    if (!k->options.each) find_duplicates(k); /* each of their points is wanted, too */
    if ((why = choose_numbers(k, &floating))) return why;
  }
  nst_sweep_layout_init(&k->layout, k->arena, &k->tables, k->polys.items, k->polys.len, k->program.nforms, floating);
  return k->layout.nslots > PROGRAM ? "too many different columns" : NULL;
}

nst_sweep_engine *nst_sweep_kernel_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space,
                                       nst_sweep_options options, nst_diags *diags, const char **why) {
  nst_arena *arena = nst_arena_new();
  kernel_engine *k = NST_NEW(arena, kernel_engine);
  k->arena = arena;
  k->sweep = s;
  k->space = space;
  k->options = options;
  k->axes.mapping = m;
  *why = prepare(k, diags);
  if (*why) {
    if (!**why) *why = NULL; /* a message says it */
    engine_free(&k->engine);
    return NULL;
  }
  cut_into_units(k);
  nst_buffer error = {0};
  if (k->feasible && !compile(k, &error)) {
    *why = "no native code on this machine";
    nst_buffer_fini(&error);
    engine_free(&k->engine);
    return NULL;
  }
  nst_buffer_fini(&error);
  if (options.prune && k->feasible) k->bounds = nst_sweep_bounds_new(arena, &k->program, k->divisors);
  uint64_t units, space_points;
  if (__builtin_mul_overflow(k->axes.variants.count, k->chunks, &units)) units = UINT64_MAX;
  if (__builtin_mul_overflow(k->axes.variants.count, k->axes.points, &space_points)) space_points = UINT64_MAX;
  k->engine = (nst_sweep_engine){"kernel", units, space_points, worker_new, worker_free, run, engine_free};
  return &k->engine;
}
