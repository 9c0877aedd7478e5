/* Figures of what was collected: by kind and level, with intervals; runs, variance, revisions, pairs. */
#include "bench/report/figures.h"
#include "bench/report/parts.h"
#include "bench/report/raised.h"

#include "bench/record/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t nst_report_outstanding(const nst_report_system *s) {
  return s->outcomes[NST_OUTCOME_INFRA_ERROR] + s->ungraded + s->missing;
}

bool nst_report_incomplete(const nst_report_system *s, int kind, int level) {
  return s->bounds[kind][level].low < s->bounds[kind][level].high;
}

bool nst_report_is_part(const nst_report *r, const nst_report_system *s, size_t *asked, uint64_t *total) {
  for (size_t i = 0; i < r->nfiles; i++) {
    if (!r->files[i].part || &r->systems[r->files[i].system] != s) continue;
    *asked = r->files[i].tasks;
    *total = r->files[i].total;
    return true;
  }
  return false;
}

bool nst_report_has_grammar(const nst_report_system *s) {
  const char *g = s->facts[NST_FACT_GRAMMAR];
  return g && strcmp(g, "none") && strcmp(g, "0") && strcmp(g, "false") && strcmp(g, "null");
}

/* ---- means over tasks ----------------------------------------------------- */

typedef struct {
  double *values;
  size_t *cluster, n;
  uint64_t trials;
} sample_set;

static void put(sample_set *set, const nst_report *r, size_t task, double value, uint64_t trials) {
  set->values[set->n] = value;
  set->cluster[set->n++] = r->tasks[task].cluster;
  set->trials += trials;
}

static nst_mean mean_of(sample_set *set, const nst_report *r, nst_interval *interval) {
  const nst_mean m = nst_stats_mean(set->values, set->cluster, set->n, r->nclusters);
  *interval = nst_stats_share_interval(&m, set->trials, r->level);
  set->n = 0;
  set->trials = 0;
  return m;
}

/* A mean that is only a lower bound has no interval: what is outstanding is no chance. */
static void withhold(nst_mean *m, nst_interval *interval) {
  m->se = m->se_simple = NAN;
  *interval = (nst_interval){NAN, NAN};
}

static void means(const nst_report *r, nst_report_system *s, sample_set *set) {
  const bool outstanding = nst_report_outstanding(s) > 0;
  for (int kind = 0; kind < NST_REPORT_KINDS; kind++)
    for (int level = 1; level <= NST_REPORT_LEVELS; level++) {
      double open = 0; /* shares that are outstanding */
      for (size_t i = 0; i < r->ntasks; i++) {
        const nst_report_cell *c = &s->cells[i];
        if (!c->expected || (kind < NST_KIND_COUNT && (int)r->tasks[i].kind != kind) ||
            (level <= NST_LEVELS && r->tasks[i].level != level))
          continue;
        put(set, r, i, (double)c->passed / (double)c->expected, c->expected);
        open += (double)(c->expected - c->answered) / (double)c->expected;
      }
      nst_mean *m = &s->pass[kind][level - 1];
      *m = mean_of(set, r, &s->interval[kind][level - 1]);
      s->bounds[kind][level - 1] = (nst_interval){m->mean, m->mean};
      if (open > 0) {
        s->bounds[kind][level - 1].high = fmin(1, m->mean + open / (double)m->n);
        withhold(m, &s->interval[kind][level - 1]);
      }
    }
  for (size_t i = 0; i < r->ntasks; i++)
    if (s->cells[i].expected) put(set, r, i, s->cells[i].score / (double)s->cells[i].expected, s->cells[i].expected);
  s->score = mean_of(set, r, &s->score_interval);
  if (outstanding) withhold(&s->score, &s->score_interval);
  for (size_t i = 0; i < r->ntasks; i++)
    s->unanswered += s->cells[i].expected && !s->cells[i].answered && !s->cells[i].ungraded;
  for (size_t i = 0; i < r->ntasks; i++) {
    const nst_report_cell *c = &s->cells[i];
    if (c->answered) put(set, r, i, (double)c->passed / c->answered, c->answered);
  }
  s->without_errors = mean_of(set, r, &s->without_errors_interval);
  if (s->missing) withhold(&s->without_errors, &s->without_errors_interval); /* those that came are not any ones */
  for (size_t i = 0; i < r->ntasks; i++) {
    const nst_report_cell *c = &s->cells[i];
    const uint32_t whole = c->answered - c->truncated;
    if (whole) put(set, r, i, (double)c->passed / whole, whole);
  }
  s->without_cut = mean_of(set, r, &s->without_cut_interval);
  if (s->missing) withhold(&s->without_cut, &s->without_cut_interval);
}

/* ---- k -------------------------------------------------------------------- */

static uint64_t fewest_samples(const nst_report *r, const nst_report_system *s) {
  uint64_t least = UINT64_MAX;
  for (size_t i = 0; i < r->ntasks; i++)
    if (s->cells[i].expected && s->cells[i].expected < least) least = s->cells[i].expected;
  return least == UINT64_MAX ? 0 : least;
}

/* 1, 2, 5, 10, .. up to what the best sampled system has, and that. */
static void choose_ks(nst_report *r) {
  if (r->nks) return;
  uint64_t most = 1;
  for (size_t i = 0; i < r->nsystems; i++) {
    const uint64_t n = fewest_samples(r, &r->systems[i]);
    if (n > most) most = n;
  }
  static const uint64_t steps[] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000};
  for (size_t i = 0; i < sizeof steps / sizeof *steps && steps[i] <= most; i++) r->ks[r->nks++] = steps[i];
  if (r->ks[r->nks - 1] < most) r->ks[r->nks++] = most;
}

typedef bool estimator(double *out, nst_trials trials, uint64_t k);

static double over_tasks(const nst_report *r, const nst_report_system *s, estimator *estimate, uint64_t k) {
  if (nst_report_outstanding(s)) return NAN;
  double sum = 0, value;
  size_t n = 0;
  for (size_t i = 0; i < r->ntasks; i++) {
    if (!s->cells[i].expected) continue;
    if (!estimate(&value, (nst_trials){s->cells[i].expected, s->cells[i].passed}, k)) return NAN;
    sum += value;
    n++;
  }
  return n ? sum / (double)n : NAN;
}

/* ---- repetition ----------------------------------------------------------- */

static void repetition(const nst_report *r, nst_report_system *s) {
  double *scores = nst_memory_new(s->nruns, sizeof *scores);
  size_t n = 0;
  for (size_t i = 0; i < s->nruns; i++)
    if (s->runs[i].answered) scores[n++] = (double)s->runs[i].passed / (double)s->runs[i].answered;
  s->spread = nst_stats_spread(scores, n);
  free(scores);
  nst_trials *trials = nst_memory_new(r->ntasks, sizeof *trials);
  n = 0;
  for (size_t i = 0; i < r->ntasks; i++) {
    const nst_report_cell *c = &s->cells[i];
    if (c->answered) trials[n++] = (nst_trials){c->answered, c->passed};
    const bool repeated = r->tasks[i].free && c->wrong > 1;
    s->repeated_tasks += repeated;
    s->same_tasks += repeated && c->same == c->wrong;
  }
  s->has_variance = nst_stats_variance(&s->variance, trials, n);
  free(trials);
}

/* ---- revisions ------------------------------------------------------------ */

/* The name of a sample among those of all files. */
static char *step_key(const nst_report_step *of, const char *sample_id) {
  const size_t size = strlen(sample_id) + 44;
  char *key = nst_memory_new(size, 1);
  snprintf(key, size, "%zu/%zu/%s", of->file, of->task, sample_id);
  return key;
}

static void find_parents(nst_report *r) {
  json_t *index = json_object();
  for (size_t i = 0; i < r->nsteps; i++) {
    char *key = step_key(&r->steps[i], r->steps[i].sample_id);
    json_object_set_new(index, key, json_integer((json_int_t)i));
    free(key);
  }
  for (size_t i = 0; i < r->nsteps; i++) {
    if (!r->steps[i].parent_id) continue;
    char *key = step_key(&r->steps[i], r->steps[i].parent_id);
    const json_t *found = json_object_get(index, key);
    if (found) r->steps[i].parent = (size_t)json_integer_value(found);
    free(key);
  }
  json_decref(index);
}

static nst_report_round *round_of(nst_report_system *s, const char *arm, int number) {
  for (size_t i = 0; i < s->nrounds; i++)
    if (s->rounds[i].round == number && !strcmp(s->rounds[i].arm, arm)) return &s->rounds[i];
  s->rounds = nst_memory_grow(s->rounds, s->nrounds + 1, sizeof *s->rounds);
  s->rounds[s->nrounds] = (nst_report_round){.arm = nst_memory_text(arm, strlen(arm)), .round = number};
  return &s->rounds[s->nrounds++];
}

static int by_arm_and_round(const void *a, const void *b) {
  const nst_report_round *x = a, *y = b;
  const int arm = strcmp(x->arm, y->arm);
  return arm ? arm : x->round - y->round;
}

enum { MOST_ROUNDS = 1000 };
/* Rounds are how many revisions deep a sample is. A chain that is broken or goes in a circle has no rounds. */
static void revisions(nst_report *r) {
  find_parents(r);
  for (size_t i = 0; i < r->nsteps; i++) {
    nst_report_step *step = &r->steps[i];
    if (step->parent == SIZE_MAX) continue;
    size_t at = i, depth = 0;
    while (r->steps[at].parent != SIZE_MAX && depth <= MOST_ROUNDS) at = r->steps[at].parent, depth++;
    if (depth > MOST_ROUNDS || r->steps[at].parent_id) continue;
    step->round = (int)depth;
    nst_report_system *s = &r->systems[r->files[step->file].system];
    s->revised_tasks += !s->cells[step->task].revised;
    s->cells[step->task].revised = true;
    nst_report_round *round = round_of(s, step->arm ? step->arm : "", step->round);
    const nst_report_step *parent = &r->steps[step->parent];
    if (!step->judged || !parent->judged) continue;
    round->judged++;
    round->passed += step->passed;
    if (parent->passed)
      round->parents_passed++, round->broken += !step->passed;
    else
      round->parents_failed++, round->fixed += step->passed;
  }
  for (size_t i = 0; i < r->nsystems; i++)
    if (r->systems[i].nrounds)
      qsort(r->systems[i].rounds, r->systems[i].nrounds, sizeof *r->systems[i].rounds, by_arm_and_round);
}

/* ---- pairs ---------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static bool differ_by_grammar(const nst_report_system *a, const nst_report_system *b) {
  return same_text(a->facts[NST_FACT_MODEL], b->facts[NST_FACT_MODEL]) &&
         same_text(a->facts[NST_FACT_SAMPLING], b->facts[NST_FACT_SAMPLING]) && !nst_report_has_grammar(a) &&
         nst_report_has_grammar(b);
}

static void compare(nst_report *r, size_t a, size_t b, sample_set *set, double *other) {
  if (differ_by_grammar(&r->systems[b], &r->systems[a])) {
    const size_t swap = a;
    a = b;
    b = swap;
  }
  size_t n = 0;
  for (size_t i = 0; i < r->ntasks; i++) {
    const nst_report_cell *x = &r->systems[a].cells[i], *y = &r->systems[b].cells[i];
    if (!x->answered || !y->answered) continue;
    set->values[n] = (double)x->passed / x->answered;
    other[n] = (double)y->passed / y->answered;
    set->cluster[n++] = r->tasks[i].cluster;
  }
  if (!n) return;
  nst_report_pair *pair = &r->pairs[r->npairs++];
  *pair = (nst_report_pair){.a = a,
                            .b = b,
                            .tasks = n,
                            .grammar = differ_by_grammar(&r->systems[a], &r->systems[b]),
                            .paired = nst_stats_paired(set->values, other, set->cluster, n, r->nclusters)};
  pair->interval = nst_stats_paired_interval(&pair->paired, r->level);
}

/* All pairs of a few systems; of many each with the first, and those that differ by a grammar. */
static void pairs(nst_report *r, sample_set *set) {
  enum { FEW = 6 };
  double *other = nst_memory_new(r->ntasks, sizeof *other);
  r->pairs = nst_memory_new(r->nsystems * r->nsystems, sizeof *r->pairs);
  for (size_t a = 0; a < r->nsystems; a++)
    for (size_t b = a + 1; b < r->nsystems; b++)
      if (a == 0 || r->nsystems <= FEW || differ_by_grammar(&r->systems[a], &r->systems[b]) ||
          differ_by_grammar(&r->systems[b], &r->systems[a]))
        compare(r, a, b, set, other);
  free(other);
  double *p = nst_memory_new(r->npairs, sizeof *p), *adjusted = nst_memory_new(r->npairs, sizeof *adjusted);
  for (size_t i = 0; i < r->npairs; i++) p[i] = r->pairs[i].paired.p;
  nst_stats_holm(adjusted, p, r->npairs);
  for (size_t i = 0; i < r->npairs; i++) r->pairs[i].holm = adjusted[i];
  free(p);
  free(adjusted);
}

/* ---- all of it ------------------------------------------------------------ */

/* Mean scores by kind and level, as means() makes of passes. */
static void partial_scores(const nst_report *r, nst_report_system *s, sample_set *set) {
  for (int kind = 0; kind < NST_REPORT_KINDS; kind++)
    for (int level = 1; level <= NST_REPORT_LEVELS; level++) {
      for (size_t i = 0; i < r->ntasks; i++) {
        const nst_report_cell *c = &s->cells[i];
        if (c->expected && (kind == NST_KIND_COUNT || (int)r->tasks[i].kind == kind) &&
            (level > NST_LEVELS || r->tasks[i].level == level))
          put(set, r, i, c->score / (double)c->expected, c->expected);
      }
      s->partial[kind][level - 1] = mean_of(set, r, &s->partial_interval[kind][level - 1]);
      if (nst_report_incomplete(s, kind, level - 1))
        withhold(&s->partial[kind][level - 1], &s->partial_interval[kind][level - 1]);
    }
}

void nst_report_make(nst_report *r) {
  if (r->made) return;
  r->made = true;
  choose_ks(r);
  sample_set set = {nst_memory_new(r->ntasks, sizeof(double)), nst_memory_new(r->ntasks, sizeof(size_t)), 0, 0};
  for (size_t i = 0; i < r->nsystems; i++) {
    nst_report_system *s = &r->systems[i];
    nst_parts_make(s);
    means(r, s, &set);
    partial_scores(r, s, &set);
    s->at_k = nst_memory_new(r->nks, sizeof *s->at_k);
    s->all_k = nst_memory_new(r->nks, sizeof *s->all_k);
    for (size_t k = 0; k < r->nks; k++) {
      s->at_k[k] = over_tasks(r, s, nst_stats_pass_at_k, r->ks[k]);
      s->all_k[k] = over_tasks(r, s, nst_stats_pass_all_k, r->ks[k]);
    }
    repetition(r, s);
    nst_reasons_sort(&s->reasons);
  }
  nst_raised_make(r);
  revisions(r);
  pairs(r, &set);
  free(set.values);
  free(set.cluster);
}
