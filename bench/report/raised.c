/* One pass over the tasks for each trait: there are few. */
#include "bench/report/raised.h"

#include "bench/record/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int order(const nst_report_trait *t, const nst_report_task *task) {
  return t->level != task->level ? t->level - task->level : strcmp(t->name, task->raises);
}

/* Puts the trait of a task in its place, if it is not there. */
static void add_trait(nst_report *r, const nst_report_task *task) {
  size_t at = 0;
  while (at < r->ntraits && order(&r->traits[at], task) < 0) at++;
  if (at < r->ntraits && !order(&r->traits[at], task)) return;
  r->traits = nst_memory_grow(r->traits, r->ntraits + 1, sizeof *r->traits);
  memmove(&r->traits[at + 1], &r->traits[at], (r->ntraits++ - at) * sizeof *r->traits);
  r->traits[at] = (nst_report_trait){task->raises, task->level};
}

static nst_report_raised figures_of(const nst_report *r, const nst_report_system *s, const nst_report_trait *trait) {
  double *passes = nst_memory_new(r->ntasks, sizeof *passes), *scores = nst_memory_new(r->ntasks, sizeof *scores);
  size_t *clusters = nst_memory_new(r->ntasks, sizeof *clusters), n = 0;
  uint64_t trials = 0;
  bool open = false;
  for (size_t i = 0; i < r->ntasks; i++) {
    const nst_report_cell *c = &s->cells[i];
    if (!c->expected || !r->tasks[i].raises || order(trait, &r->tasks[i]) != 0) continue;
    passes[n] = (double)c->passed / (double)c->expected;
    scores[n] = c->score / (double)c->expected;
    clusters[n++] = r->tasks[i].cluster;
    trials += c->expected;
    open |= c->answered < c->expected;
  }
  nst_report_raised out = {.pass = nst_stats_mean(passes, clusters, n, r->nclusters),
                           .score = nst_stats_mean(scores, clusters, n, r->nclusters),
                           .incomplete = open};
  out.interval = nst_stats_share_interval(&out.pass, trials, r->level);
  out.score_interval = nst_stats_share_interval(&out.score, trials, r->level);
  if (open) { /* a lower bound has no interval */
    out.pass.se = out.pass.se_simple = out.score.se = out.score.se_simple = NAN;
    out.interval = out.score_interval = (nst_interval){NAN, NAN};
  }
  free(passes), free(scores), free(clusters);
  return out;
}

void nst_raised_make(nst_report *r) {
  for (size_t i = 0; i < r->ntasks; i++)
    if (r->tasks[i].raises) add_trait(r, &r->tasks[i]);
  for (size_t i = 0; i < r->nsystems; i++) {
    nst_report_system *s = &r->systems[i];
    s->raised = nst_memory_new(r->ntraits + 1, sizeof *s->raised);
    for (size_t t = 0; t < r->ntraits; t++) s->raised[t] = figures_of(r, s, &r->traits[t]);
  }
}

void nst_raised_free(nst_report *r) {
  for (size_t i = 0; i < r->nsystems; i++) free(r->systems[i].raised);
  free(r->traits);
}
