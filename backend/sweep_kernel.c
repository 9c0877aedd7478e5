/* The kernel engine: a sweep as generated loops over tables of columns.
 *
 * Preparing it: partition the parameters (sweep_axes), say what is asked as
 * forms and a program (sweep_program), turn each variant's formulas into
 * polynomials (sweep_poly), lay the polynomials out over the axes
 * (sweep_layout), compile the two innermost loops. Variants whose polynomials
 * are all the same are evaluated once. A unit is a range of tuples of the
 * outermost axis for one variant. Left to
 * others: running units (sweep_kernel_run.c). */
#include "backend/sweep_kernel.h"
#include "ir/plan.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { VARIANTS = 1 << 20, UNIT_POINTS = 1 << 20, PRUNE_POINTS = 1 << 8 };

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
static int known_poly(nst_kernel_engine *k, int form, const nst_sweep_poly *p) {
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

static bool prepare_variant(nst_kernel_engine *k, uint64_t number, const char **why) {
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
    if (good && !number) {
      const nst_sweep_instances *instances = nst_sweep_instances_find(k->arena, &k->tables, plan, factors);
      good = nst_sweep_program_build(&k->program, k->arena, &k->axes, k->sweep, instances, why);
    }
    nst_kernel_variant *v = &k->variants[number];
    if (good) v->polys = NST_NEW_ARRAY(k->arena, k->program.nforms, int);
    for (int f = 0; f < k->program.nforms && good; f++) {
      nst_sweep_poly p;
      good = nst_sweep_form_poly(&p, &k->tables, &k->program, f, m, plan, factors);
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

/* No partial sums meet anywhere: then nobody needs to look. */
static void find_impossible(nst_kernel_engine *k) {
  if (k->program.possible < 0) return;
  const int form = (int)k->program.ops[k->program.ops[k->program.possible].a].imm;
  bool none = true;
  for (size_t i = 0; i < k->polys.len; i++) none = none && (k->polys.items[i].form != form || !k->polys.items[i].poly.nterms);
  if (none) k->program.possible = -1;
}

/* Of variants with the same polynomials, all but the first are duplicates; each leads to the next. */
static void find_duplicates(nst_kernel_engine *k) {
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

/* How many tuples of the last level but one go to the filter at once. */
uint64_t nst_kernel_batch_rows(const nst_sweep_layout *l) {
  uint64_t rows = NST_KERNEL_BATCH / l->dims[l->ndims - 1].padded;
  return rows ? rows : 1;
}

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool compile(nst_kernel_engine *k, nst_buffer *error) {
  const nst_sweep_layout *l = &k->layout;
  nst_vform forms[NST_KERNEL_PROGRAM];
  int metrics[NST_SWEEP_MAX_METRICS];
  for (int f = 0; f < l->nforms; f++)
    forms[f] = (nst_vform){l->first_slot[f], l->first_slot[f + 1] - l->first_slot[f], l->least[f], l->base[f], l->like[f],
                           k->divisors[f], l->constant[f], nst_kernel_is_positive(&k->program.forms[f])};
  for (int i = 0; i < k->program.nmetrics; i++) metrics[i] = k->program.metrics[i].over < 0 ? k->program.metrics[i].op : k->program.metrics[i].over;
  nst_vector_code codes[2] = {
    {.name = "accumulate", .floating = l->floating},
    {.name = "filter", .floating = l->floating, .filter = true, .checksum = k->options.checksum, .small_sum = k->small_sum,
     .ntuples = l->dims[l->ndims - 1].ntuples, .room = nst_kernel_batch_rows(l), .octave = k->octave, .stride = (int)l->dims[l->ndims - 2].padded, .forms = forms, .nforms = l->nforms, .nslots = l->nslots,
     .ops = k->program.ops, .nops = k->program.nops, .valid = k->program.valid,
     .possible = k->program.possible, .wrong = k->program.wrong, .metrics = metrics, .nmetrics = k->program.nmetrics,
     .best = k->sweep->nobjectives ? k->program.metrics[0].order : -1, .largest = k->sweep->maximize,
     .nfront = k->all ? 3 : k->sweep->npareto}};
  for (int i = 0; i < 2 && i < k->sweep->npareto; i++) codes[1].front[i] = k->program.metrics[k->sweep->nobjectives + i].order;
  nst_vector_function *functions[2];
  double start = seconds();
  nst_jit_status status = nst_jit_compile_vectors(&k->unit, functions, k->options.jit, codes, 2,
                                                  (nst_jit_options){NST_JIT_O2, NULL}, error);
  k->compile_seconds = seconds() - start;
  k->accumulate = functions[0];
  k->filter = functions[1];
  return status == NST_JIT_OK;
}

/* ---- the engine ---- */

nst_sweep_kernel_parts nst_sweep_kernel_show(const nst_sweep_engine *e) {
  const nst_kernel_engine *k = (const nst_kernel_engine *)e;
  return (nst_sweep_kernel_parts){&k->layout, &k->program, k->divisors, k->compile_seconds};
}

bool nst_sweep_kernel_variant(const nst_sweep_engine *e, uint64_t number, const nst_sweep_known_poly **forms) {
  const nst_kernel_engine *k = (const nst_kernel_engine *)e;
  for (int f = 0; f < k->layout.nforms; f++) forms[f] = &k->polys.items[k->variants[number].polys[f]];
  return !k->variants[number].duplicate;
}

static void engine_free(nst_sweep_engine *e) {
  nst_kernel_engine *k = (nst_kernel_engine *)e;
  if (!k) return;
  if (k->unit) nst_jit_unit_free(k->options.jit, k->unit);
  if (k->tables.scratch) nst_sweep_tables_fini(&k->tables);
  nst_sweep_axes_fini(&k->axes);
  nst_arena_free(k->arena);
}

static void cut_into_units(nst_kernel_engine *k) {
  const nst_sweep_dimension *outermost = &k->layout.dims[0];
  uint64_t per_tuple = outermost->ntuples ? k->feasible / outermost->ntuples : 0;
  k->chunk = per_tuple >= UNIT_POINTS ? 1 : per_tuple ? UNIT_POINTS / per_tuple : 1;
  k->chunks = (outermost->ntuples + k->chunk - 1) / k->chunk;
  if (!k->chunks) k->chunks = 1;
}

static const char *prepare(nst_kernel_engine *k, nst_diags *diags) {
  const char *why = NULL;
  if (!k->sweep->nobjectives && !k->sweep->npareto) return "nothing to minimize, maximize or draw a front of";
  if (!nst_sweep_shape_make(&k->shape, k->sweep, k->space, diags)) return "";
  if (!nst_sweep_axes_init(&k->axes, k->arena, k->axes.mapping, k->sweep, k->space, diags, &why)) return why ? why : "";
  if (k->axes.variants.count > VARIANTS) return "more than 2^20 variants";
  nst_sweep_tables_init(&k->tables, k->arena, &k->axes);
  k->feasible = 1;
  for (int a = 0; a < k->axes.naxes; a++) k->feasible *= k->axes.axes[a].ntuples;
  k->variants = NST_NEW_ARRAY(k->arena, k->axes.variants.count, nst_kernel_variant);
  bool floating = true;
  k->program.possible = k->program.wrong = -1;
  if (k->feasible) {
    for (uint64_t v = 0; v < k->axes.variants.count; v++)
      if (!prepare_variant(k, v, &why)) return why;
    if (k->program.nops > NST_KERNEL_PROGRAM || k->program.nforms > NST_KERNEL_PROGRAM) return "an expression too large";
    find_impossible(k);
    /* Of duplicates each point is wanted, too, or has to be looked at. */
    if (!k->options.each && k->program.possible < 0) find_duplicates(k);
    if ((why = nst_kernel_choose_numbers(k, &floating))) return why;
    k->all = k->options.each || k->sweep->npareto > 2;
    for (int i = 0; i < k->sweep->npareto && i < 2; i++) k->all = k->all || k->program.metrics[k->sweep->nobjectives + i].order < 0;
    if (k->sweep->nobjectives) k->all = k->all || k->program.metrics[0].order < 0;
  }
  nst_sweep_layout_init(&k->layout, k->arena, &k->tables, k->polys.items, k->polys.len, k->base, k->like, k->program.nforms, floating);
  nst_sweep_keys_init(&k->keys, k->arena, &k->layout, k->sweep->npoints);
  return k->layout.nslots > NST_KERNEL_PROGRAM ? "too many different columns" : NULL;
}

nst_sweep_engine *nst_sweep_kernel_new(const nst_ir_mapping *m, const nst_ir_sweep *s, const nst_space *space,
                                       nst_sweep_options options, nst_diags *diags, const char **why) {
  nst_arena *arena = nst_arena_new();
  nst_kernel_engine *k = NST_NEW(arena, nst_kernel_engine);
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
  /* Where a point may be dropped or wrong, it has to be looked at. */
  const bool prunes = options.prune && k->feasible && k->program.possible < 0 && k->program.wrong < 0;
  k->prune_from = !prunes ? UINT64_MAX : k->feasible >> 14 < PRUNE_POINTS ? k->feasible >> 14 : PRUNE_POINTS;
  if (prunes) nst_kernel_bounds_init(k);
  uint64_t units, space_points;
  if (__builtin_mul_overflow(k->axes.variants.count, k->chunks, &units)) units = UINT64_MAX;
  if (__builtin_mul_overflow(k->axes.variants.count, k->axes.points, &space_points)) space_points = UINT64_MAX;
  k->engine = (nst_sweep_engine){"kernel", units, space_points, nst_kernel_worker_new, nst_kernel_worker_free,
                                 nst_kernel_worker_run, engine_free};
  return &k->engine;
}
