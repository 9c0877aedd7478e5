/* Trying the engines on one program.
 *
 * The simulator comes first and is the judge; every other engine is a row of
 * the table below and must give the same counters, or refuse where it does. */
#include "engines.h"

#include "backend/kernel.h"

typedef enum { GAVE, REFUSES, CANNOT } answer;
typedef struct {
  subject *s;
  const nst_nest *nest; /* NULL: no nest for these parameters */
  const int64_t *params;
} question;

/* Why the last message was an error. */
static answer reason(const subject *s) {
  size_t n = nst_diags_count(s->diags);
  return n && nst_diags_get(s->diags, n - 1)->id == NST_D_REDUCE_CONFLICT ? REFUSES : CANNOT;
}

static answer by_simulation(const question *q, nst_counts *out) {
  nst_diags_clear(q->s->diags);
  return q->nest && nst_simulate(q->nest, out, 0, q->s->diags) ? GAVE : reason(q->s);
}

static answer by_analysis(const question *q, nst_counts *out) {
  nst_diags_clear(q->s->diags);
  return q->nest && nst_analysis_count(q->s->analysis, q->nest, out, q->s->diags) ? GAVE : reason(q->s);
}

static answer by_kernel(const question *q, nst_counts *out) {
  if (!q->s->kernel) return CANNOT;
  nst_kernel_status status = nst_kernel_eval(q->s->kernel, q->s->scratch, q->params, out);
  return status == NST_KERNEL_OK ? GAVE : CANNOT;
}

static const struct {
  const char *name;
  answer (*count)(const question *q, nst_counts *out);
} engines[] = {
  {"simulator", by_simulation},
  {"analysis", by_analysis},
  {"jit", by_kernel},
};
enum { ENGINES = sizeof engines / sizeof *engines };

/* ---- a program ---- */

void subject_init(subject *s, const char *text) {
  *s = (subject){.arena = nst_arena_new()};
  s->interner = nst_interner_new(s->arena);
  s->sources = nst_sources_new(s->arena);
  s->diags = nst_diags_new(s->arena, s->sources);
  s->program = subject_compile(s, text);
  if (!s->program || s->program->nmappings < 1) return;
  s->m = s->program->mappings[0];
  s->maker = nst_nest_maker_new(s->m);
  s->analysis = nst_analysis_new(s->m);
}

void subject_fini(subject *s) {
  nst_kernel_scratch_free(s->scratch);
  nst_kernel_free(s->kernel);
  nst_analysis_free(s->analysis);
  nst_nest_maker_free(s->maker);
  nst_interner_free(s->interner);
  nst_arena_free(s->arena);
}

bool subjects_compile(subject *subjects, int n, nst_jit *jit, nst_buffer *error) {
  nst_arena *arena = nst_arena_new();
  const nst_ir_mapping **mappings = NST_NEW_ARRAY(arena, n, const nst_ir_mapping *);
  const nst_plan **plans = NST_NEW_ARRAY(arena, n, const nst_plan *);
  nst_kernel **kernels = NST_NEW_ARRAY(arena, n, nst_kernel *);
  int *owner = NST_NEW_ARRAY(arena, n, int), count = 0;
  for (int i = 0; i < n; i++) {
    if (!subjects[i].m) continue;
    mappings[count] = subjects[i].m;
    plans[count] = nst_analysis_plan(subjects[i].analysis);
    owner[count++] = i;
  }
  nst_kernel_options options = {.jit = jit, .level = NST_JIT_O0};
  bool good = count == 0 || nst_kernels_new(kernels, count, mappings, plans, options, error) == NST_JIT_OK;
  for (int i = 0; good && i < count; i++) {
    subjects[owner[i]].kernel = kernels[i];
    subjects[owner[i]].scratch = nst_kernel_scratch_new(kernels[i]);
  }
  nst_arena_free(arena);
  return good;
}

bool subject_defaults(const subject *s, int64_t *params) {
  int n = s->m->scope.nparams;
  nst_value *values = NST_NEW_ARRAY(s->arena, n, nst_value);
  if (!nst_nest_defaults(values, NULL, s->m, NULL)) return false;
  for (int i = 0; i < n; i++)
    if (!nst_value_to_i64(&params[i], &values[i])) return false;
  return true;
}

static const char *first_message(subject *s) {
  nst_buffer b = {0};
  nst_diags_render(s->diags, &b, false);
  const char *text = nst_arena_strndup(s->arena, b.text ? b.text : "", b.len);
  nst_buffer_fini(&b);
  return text;
}

outcome subject_try(subject *s, const int64_t *params) {
  if (!s->m) return (outcome){ILLEGAL, first_message(s), 0};
  const char *wrong = nst_ir_verify_mapping(s->arena, s->m);
  if (wrong) return (outcome){DIFFER, wrong, 0};
  int n = s->m->scope.nparams;
  nst_value *values = NST_NEW_ARRAY(s->arena, n, nst_value);
  for (int i = 0; i < n; i++) values[i] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(params[i])};
  question q = {s, nst_nest_make(s->maker, values, NULL), params};
  nst_counts *counts[ENGINES];
  answer answers[ENGINES];
  int given = 0;
  for (int e = 0; e < ENGINES; e++) {
    counts[e] = nst_counts_new(s->arena, s->m);
    answers[e] = engines[e].count(&q, counts[e]);
    given += answers[e] == GAVE;
  }
  for (int e = 1; e < ENGINES; e++) {
    const char *text = NULL;
    if (answers[e] == GAVE && answers[0] == GAVE)
      text = nst_counts_diff(s->arena, s->m, counts[0], counts[e]);
    else if (answers[e] == GAVE && (answers[0] == REFUSES || !q.nest))
      text = "counts what may not be counted";
    else if (answers[e] == REFUSES && answers[0] == GAVE)
      text = "refuses what can be counted";
    if (text)
      return (outcome){DIFFER, nst_arena_printf(s->arena, "%s and %s: %s", engines[0].name, engines[e].name, text),
                       given};
  }
  verdict v = !q.nest ? INFEASIBLE : answers[0] == REFUSES ? REFUSED : given > 1 ? AGREE : TOO_LARGE;
  return (outcome){v, NULL, given};
}
