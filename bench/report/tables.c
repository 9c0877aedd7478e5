/* The tables: one function each. A table without rows is left out, so that nothing is said of what there is nothing of.
 */
#include "bench/report/tables.h"

#include "bench/record/alike.h"
#include "bench/record/memory.h"
#include "bench/report/out.h"
#include "bench/report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_WIDTH = 28, FACT_WIDTH = 60 };

/* ---- building ------------------------------------------------------------- */

static char *format_text(const char *format, va_list args) {
  va_list again;
  va_copy(again, args);
  const int size = vsnprintf(NULL, 0, format, args);
  char *text = nst_memory_new((size_t)(size < 0 ? 0 : size) + 1, 1);
  if (size > 0) vsnprintf(text, (size_t)size + 1, format, again);
  va_end(again);
  return text;
}

static char *copy(const char *text) { return nst_memory_text(text, strlen(text)); }

static nst_report_table *begin(nst_report_tables *all, const char *id, const char *brief, const char *title) {
  all->items = nst_memory_grow(all->items, all->n + 1, sizeof *all->items);
  all->items[all->n] = (nst_report_table){.id = copy(id), .title = copy(title), .brief = copy(brief)};
  return &all->items[all->n++];
}

__attribute__((format(printf, 2, 3))) static void cell(nst_report_table *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  t->cells = nst_memory_grow(t->cells, t->ncells + 1, sizeof *t->cells);
  t->cells[t->ncells++] = format_text(format, args);
  va_end(args);
}

__attribute__((format(printf, 2, 3))) static void note(nst_report_table *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  t->notes = nst_memory_grow(t->notes, t->nnotes + 1, sizeof *t->notes);
  t->notes[t->nnotes++] = format_text(format, args);
  va_end(args);
}

/* Column heads, separated by '|'. */
static void head(nst_report_table *t, const char *heads) {
  for (const char *end; *heads; heads = *end ? end + 1 : end) {
    end = heads + strcspn(heads, "|");
    cell(t, "%.*s", (int)(end - heads), heads);
    t->columns++;
  }
}

static void free_table(nst_report_table *t) {
  for (size_t i = 0; i < t->ncells; i++) free(t->cells[i]);
  for (size_t i = 0; i < t->nnotes; i++) free(t->notes[i]);
  free(t->cells), free(t->notes), free(t->id), free(t->title), free(t->brief);
}

/* Drops the last table where it has no rows. */
static void finish(nst_report_tables *all) {
  nst_report_table *t = &all->items[all->n - 1];
  if (t->ncells > t->columns) return;
  free_table(t);
  all->n--;
}

static void name_cell(nst_report_table *t, const char *name) {
  char *clean = nst_out_clean(name, true, NAME_WIDTH);
  cell(t, "%s", clean);
  free(clean);
}

static void share_cell(nst_report_table *t, double value) {
  if (isnan(value))
    cell(t, "-");
  else
    cell(t, "%.3f", value);
}

/* Small numbers with a sign or not, and no "-0.000". */
static void signed_cell(nst_report_table *t, double value) {
  if (isnan(value))
    cell(t, "-");
  else
    cell(t, "%+.3f", fabs(value) < 0.0005 ? 0.0 : value);
}

/* A score of which something is outstanding is told as the least it can be. */
static void score_cell(nst_report_table *t, double value, bool incomplete) {
  if (incomplete && !isnan(value))
    cell(t, ">= %.3f", value);
  else
    share_cell(t, value);
}

static void interval_cell(nst_report_table *t, nst_interval i) {
  if (isnan(i.low))
    cell(t, "-");
  else
    cell(t, "%.3f .. %.3f", i.low, i.high);
}

static void count_cell(nst_report_table *t, uint64_t n) { cell(t, "%" PRIu64, n); }

static int percent_of(const nst_report *r) { return (int)lround(100 * r->level); }

/* ---- scores --------------------------------------------------------------- */

static const char *plural(uint64_t n) { return n == 1 ? "" : "s"; }

static void outstanding_note(nst_report_table *t, const nst_report_system *s) {
  const uint64_t errors = s->outcomes[NST_OUTCOME_INFRA_ERROR];
  char parts[160] = "";
  if (errors) snprintf(parts, sizeof parts, "%" PRIu64 " infrastructure error%s", errors, plural(errors));
  if (s->ungraded)
    snprintf(parts + strlen(parts), sizeof parts - strlen(parts), "%s%" PRIu64 " not graded", *parts ? ", " : "",
             s->ungraded);
  if (s->missing)
    snprintf(parts + strlen(parts), sizeof parts - strlen(parts), "%s%" PRIu64 " missing", *parts ? ", " : "",
             s->missing);
  char *name = nst_out_clean(s->name, true, NAME_WIDTH);
  const nst_interval *bounds = &s->bounds[NST_KIND_COUNT][NST_LEVELS];
  note(t, "%s: %s: incomplete, to redo; of %" PRIu64 " samples, in the denominator, neither passes nor wrong answers",
       name, parts, s->samples);
  const size_t n = s->pass[NST_KIND_COUNT][NST_LEVELS].n;
  const uint64_t lost = errors + s->missing;
  char left[160] = "";
  if (s->ungraded)
    snprintf(left, sizeof left, "%" PRIu64 " answer%s not judged%s", s->ungraded, s->ungraded == 1 ? " is" : "s are",
             lost ? ", " : "");
  if (s->unanswered)
    snprintf(left + strlen(left), sizeof left - strlen(left), "%zu of %zu tasks %s no answer", s->unanswered, n,
             s->unanswered == 1 ? "has" : "have");
  else if (lost)
    snprintf(left + strlen(left), sizeof left - strlen(left), "%" PRIu64 " answer%s never came", lost, plural(lost));
  note(t, "%s: NO SCORE YET: %s; pass@1 will be from %.3f to %.3f; run %s", name, left, bounds->low, bounds->high,
       !s->ungraded ? "the same command again, to redo what is missing"
       : lost       ? "again with --key key.jsonl, to redo what is missing and to judge"
                    : "again with --key key.jsonl, to judge (of JSON Lines: `nestor bench grade`)");
  free(name);
}

/* A part of a suite is not the suite. */
static void part_note(nst_report_table *t, const nst_report *r, const nst_report_system *s) {
  size_t asked;
  uint64_t total;
  if (!nst_report_is_part(r, s, &asked, &total)) return;
  char *name = nst_out_clean(s->name, true, NAME_WIDTH);
  if (total)
    note(t, "%s: only the first %zu of %" PRIu64 " tasks were asked: no score of the suite", name, asked, total);
  else
    note(t, "%s: only %zu of the tasks were asked: no score of the suite", name, asked);
  free(name);
}

static void scores(nst_report_tables *all, const nst_report *r) {
  char heads[120];
  snprintf(heads, sizeof heads, "model|pass@1|%d %% interval|error|naive error|score|tasks|templates|samples",
           percent_of(r));
  nst_report_table *t = begin(all, "scores", "Scores", "Scores");
  head(t, heads);
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    const nst_mean *m = &s->pass[NST_KIND_COUNT][NST_LEVELS];
    name_cell(t, s->name);
    const bool incomplete = nst_report_outstanding(s) > 0;
    score_cell(t, m->mean, incomplete);
    if (incomplete)
      cell(t, "incomplete");
    else
      interval_cell(t, s->interval[NST_KIND_COUNT][NST_LEVELS]);
    share_cell(t, m->se);
    share_cell(t, m->se_simple);
    score_cell(t, s->score.mean, incomplete);
    count_cell(t, m->n);
    count_cell(t, m->clusters);
    count_cell(t, s->samples);
  }
  for (size_t i = 0; i < r->nsystems; i++)
    if (nst_report_outstanding(&r->systems[i])) outstanding_note(t, &r->systems[i]);
  for (size_t i = 0; i < r->nsystems; i++) part_note(t, r, &r->systems[i]);
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    if (!nst_alike_tells(s->repeated_tasks, s->same_tasks) || !s->facts[NST_FACT_SAMPLING]) continue;
    json_t *sampling = json_loads(s->facts[NST_FACT_SAMPLING], 0, NULL);
    const double temperature = json_number_value(json_object_get(sampling, "temperature"));
    json_decref(sampling);
    if (!(temperature > 0)) continue;
    char *name = nst_out_clean(s->name, true, NAME_WIDTH);
    note(t,
         "%s: all answers that do not pass are the same text at %zu of %zu tasks, at temperature %g: is something "
         "cached?",
         name, s->same_tasks, s->repeated_tasks, temperature);
    free(name);
  }
  finish(all);
}

static void without(nst_report_tables *all, const nst_report *r) {
  char heads[120];
  snprintf(heads, sizeof heads, "model|left out|pass@1 of the others|%d %% interval|tasks left", percent_of(r));
  nst_report_table *t =
    begin(all, "excluded", "Errors excluded", "Errors excluded (not the score: it leaves samples out)");
  head(t, heads);
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    const uint64_t errors = nst_report_outstanding(s), cut = s->outcomes[NST_OUTCOME_TRUNCATED];
    if (errors) {
      name_cell(t, s->name);
      cell(t, "%" PRIu64 " outstanding", errors);
      share_cell(t, s->without_errors.mean);
      interval_cell(t, s->without_errors_interval);
      count_cell(t, s->without_errors.n);
    }
    if (cut) {
      name_cell(t, s->name);
      if (errors)
        cell(t, "%" PRIu64 " outstanding, %" PRIu64 " truncated", errors, cut);
      else
        cell(t, "%" PRIu64 " truncated", cut);
      share_cell(t, s->without_cut.mean);
      interval_cell(t, s->without_cut_interval);
      count_cell(t, s->without_cut.n);
    }
  }
  finish(all);
}

/* One for each system; the link leads to the first. */
static nst_report_table *begin_of(nst_report_tables *all, const char *id, size_t number, const nst_report_system *s,
                                  const char *brief, const char *what) {
  char *name = nst_out_clean(s->name, true, NAME_WIDTH), *title = nst_memory_new(strlen(name) + strlen(what) + 3, 1);
  char own[40];
  snprintf(own, sizeof own, "%s-%zu", id, number);
  sprintf(title, "%s: %s", name, what);
  nst_report_table *t = begin(all, own, number ? "" : brief, title);
  free(name), free(title);
  return t;
}

static void by_kind(nst_report_tables *all, const nst_report *r, const nst_report_system *s, size_t number) {
  char heads[120];
  snprintf(heads, sizeof heads, "kind|level 1|level 2|level 3|level 4|level 5|all|%d %% interval|tasks", percent_of(r));
  nst_report_table *t = begin_of(all, "kinds", number, s, "Kinds", "pass@1 by kind and level");
  head(t, heads);
  for (int kind = 0; kind < NST_REPORT_KINDS; kind++) {
    if (!s->pass[kind][NST_LEVELS].n) continue;
    cell(t, "%s", kind < NST_KIND_COUNT ? nst_kind_name((nst_kind)kind) : "all");
    for (int level = 0; level < NST_REPORT_LEVELS; level++)
      score_cell(t, s->pass[kind][level].mean, nst_report_incomplete(s, kind, level));
    interval_cell(t, s->interval[kind][NST_LEVELS]);
    count_cell(t, s->pass[kind][NST_LEVELS].n);
  }
  cell(t, "%d %% low", percent_of(r));
  for (int level = 0; level < NST_REPORT_LEVELS; level++) share_cell(t, s->interval[NST_KIND_COUNT][level].low);
  cell(t, "%s", "");
  cell(t, "%s", "");
  cell(t, "%d %% high", percent_of(r));
  for (int level = 0; level < NST_REPORT_LEVELS; level++) share_cell(t, s->interval[NST_KIND_COUNT][level].high);
  cell(t, "%s", "");
  cell(t, "%s", "");
  finish(all);
}

/* Models side by side. */
static void by_level(nst_report_tables *all, const nst_report *r) {
  nst_report_table *t = begin(all, "levels", "Levels", "pass@1 by level, with intervals");
  head(t, "model|level 1|level 2|level 3|level 4|level 5");
  for (size_t i = 0; i < r->nsystems && r->nsystems > 1; i++) {
    const nst_report_system *s = &r->systems[i];
    name_cell(t, s->name);
    for (int level = 0; level < NST_LEVELS; level++) {
      const nst_interval *x = &s->interval[NST_KIND_COUNT][level];
      if (nst_report_incomplete(s, NST_KIND_COUNT, level))
        cell(t, ">= %.2f", s->pass[NST_KIND_COUNT][level].mean);
      else if (isnan(x->low))
        cell(t, "-");
      else
        cell(t, "%.2f (%.2f .. %.2f)", s->pass[NST_KIND_COUNT][level].mean, x->low, x->high);
    }
  }
  finish(all);
}

static void over_k(nst_report_tables *all, const nst_report *r) {
  nst_report_table *t = begin(all, "pass-k", "pass@k", "pass@k: some of k samples is right; pass^k: all are");
  cell(t, "model");
  t->columns = 1 + 2 * r->nks;
  for (size_t k = 0; k < r->nks; k++) cell(t, "@%" PRIu64, r->ks[k]);
  for (size_t k = 0; k < r->nks; k++) cell(t, "^%" PRIu64, r->ks[k]);
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    name_cell(t, s->name);
    for (size_t k = 0; k < r->nks; k++) share_cell(t, s->at_k[k]);
    for (size_t k = 0; k < r->nks; k++) share_cell(t, s->all_k[k]);
  }
  for (size_t i = 0; i < r->nsystems; i++)
    for (size_t k = 0; k < r->nks; k++)
      if (isnan(r->systems[i].at_k[k])) {
        note(t, "- : a task has fewer than k samples, or samples are outstanding");
        i = r->nsystems - 1;
        break;
      }
  finish(all);
}

static void outcomes(nst_report_tables *all, const nst_report *r) {
  nst_report_table *t = begin(all, "outcomes", "Outcomes", "Outcomes, as samples");
  bool shown[NST_OUTCOME_COUNT] = {false}, ungraded = false, missing = false;
  for (size_t i = 0; i < r->nsystems; i++) {
    for (int o = 0; o < NST_OUTCOME_COUNT; o++) shown[o] = shown[o] || r->systems[i].outcomes[o];
    ungraded = ungraded || r->systems[i].ungraded;
    missing = missing || r->systems[i].missing;
  }
  head(t, "model|samples");
  for (int o = 0; o < NST_OUTCOME_COUNT; o++)
    if (shown[o]) head(t, nst_outcome_name((nst_outcome)o));
  if (ungraded) head(t, "not graded");
  if (missing) head(t, "missing");
  head(t, "truncated %|error %");
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    name_cell(t, s->name);
    count_cell(t, s->samples);
    for (int o = 0; o < NST_OUTCOME_COUNT; o++)
      if (shown[o]) count_cell(t, s->outcomes[o]);
    if (ungraded) count_cell(t, s->ungraded);
    if (missing) count_cell(t, s->missing);
    const double n = s->samples ? (double)s->samples : 1;
    cell(t, "%.1f", 100 * (double)s->outcomes[NST_OUTCOME_TRUNCATED] / n);
    cell(t, "%.1f", 100 * (double)s->outcomes[NST_OUTCOME_INFRA_ERROR] / n);
  }
  for (int o = 0; o < NST_OUTCOME_COUNT; o++)
    if (shown[o] && !nst_outcome_is_fault((nst_outcome)o) && o != NST_OUTCOME_PASSED)
      note(t, "%s: %s; not a wrong answer", nst_outcome_name((nst_outcome)o), nst_outcome_meaning((nst_outcome)o));
  finish(all);
}

/* The most frequent of each system; JSON has all. */
static void reasons(nst_report_tables *all, const nst_report *r) {
  enum { MOST = 5, WIDTH = 160 };
  nst_report_table *t = begin(all, "reasons", "Errors", "Why answers never came (infra_error)");
  head(t, "model|samples|reason");
  for (size_t i = 0; i < r->nsystems; i++)
    for (size_t k = 0; k < r->systems[i].reasons.n && k < MOST; k++) {
      const nst_reason *reason = &r->systems[i].reasons.items[k];
      name_cell(t, r->systems[i].name);
      count_cell(t, reason->n);
      char *clean = nst_out_clean(reason->text, true, WIDTH);
      cell(t, "%s", clean);
      free(clean);
    }
  finish(all);
}

/* ---- repetition ----------------------------------------------------------- */

static void repetition(nst_report_tables *all, const nst_report *r) {
  nst_report_table *t =
    begin(all, "runs", "Runs", "From run to run (run k: sample k of every task; of what was answered)");
  head(t, "model|runs|mean|std dev|lowest|highest|chance alone|between tasks|within tasks|within %");
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    if (s->spread.n < 2) continue;
    const nst_variance *v = &s->variance;
    name_cell(t, s->name);
    count_cell(t, s->spread.n);
    share_cell(t, s->spread.mean);
    share_cell(t, s->spread.sd);
    share_cell(t, s->spread.low);
    share_cell(t, s->spread.high);
    share_cell(t, s->has_variance ? sqrt(v->within / (double)v->tasks) : NAN);
    share_cell(t, s->has_variance ? v->between : NAN);
    share_cell(t, s->has_variance ? v->within : NAN);
    const double total = v->between + v->within;
    if (s->has_variance && total > 0)
      cell(t, "%.0f", 100 * v->within / total);
    else
      cell(t, "-");
  }
  if (t->ncells > t->columns)
    note(t, "chance alone: the deviation that samples of the same tasks have by themselves; between, within: the "
            "variance of one sample, split");
  finish(all);
}

/* ---- metrics, tokens ------------------------------------------------------ */

static const nst_report_metric *metric_of(const nst_report_system *s, const char *name) {
  for (size_t i = 0; i < s->nmetrics; i++)
    if (!strcmp(s->metrics[i].name, name)) return &s->metrics[i];
  return NULL;
}

/* Rows are metrics, columns models; each metric of any model once, in order. */
static void metrics(nst_report_tables *all, const nst_report *r) {
  nst_report_table *t =
    begin(all, "metrics", "Metrics", "Right figures by metric (share of those in answers that could be judged)");
  t->columns = 1 + r->nsystems;
  cell(t, "metric");
  for (size_t i = 0; i < r->nsystems; i++) name_cell(t, r->systems[i].name);
  const char *last = NULL;
  for (;;) {
    const char *next = NULL;
    for (size_t i = 0; i < r->nsystems; i++)
      for (size_t k = 0; k < r->systems[i].nmetrics; k++) {
        const char *name = r->systems[i].metrics[k].name;
        if ((!last || strcmp(name, last) > 0) && (!next || strcmp(name, next) < 0)) next = name;
      }
    if (!next) break;
    name_cell(t, next);
    for (size_t i = 0; i < r->nsystems; i++) {
      const nst_report_metric *m = metric_of(&r->systems[i], next);
      if (m)
        cell(t, "%.3f of %" PRIu64, (double)m->right / (double)m->total, m->total);
      else
        cell(t, "-");
    }
    last = next;
  }
  finish(all);
}

/* passes: 0 where a cost for each is no figure of these samples. */
static void usage_row(nst_report_table *t, const char *name, const char *of, const nst_report_usage *u,
                      uint64_t passes) {
  if (!u->with_usage && !u->with_cost) return;
  name_cell(t, name);
  cell(t, "%s", of);
  count_cell(t, u->in);
  count_cell(t, u->out);
  count_cell(t, u->reasoning);
  if (u->with_usage)
    cell(t, "%.1f", (double)u->out / (double)u->with_usage);
  else
    cell(t, "-");
  if (u->with_cost)
    cell(t, "%.4f", u->cost);
  else
    cell(t, "-");
  if (u->with_cost && passes)
    cell(t, "%.4f", u->cost / (double)passes);
  else
    cell(t, "-");
  count_cell(t, u->with_usage);
}

static void tokens(nst_report_tables *all, const nst_report *r) {
  nst_report_table *t = begin(all, "tokens", "Tokens", "Tokens and cost");
  head(t, "model|of|prompt|completion|of it reasoning|completion a sample|cost|cost a pass|samples with usage");
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    usage_row(t, s->name, "first answers", &s->usage, s->outcomes[NST_OUTCOME_PASSED]);
    usage_row(t, s->name, "revisions", &s->revised, 0);
  }
  finish(all);
}

static void score_by_kind(nst_report_tables *all, const nst_report *r, const nst_report_system *s, size_t number) {
  char heads[120];
  snprintf(heads, sizeof heads, "kind|level 1|level 2|level 3|level 4|level 5|all|%d %% interval|tasks", percent_of(r));
  nst_report_table *t = begin_of(all, "partial", number, s, "Scores by kind", "mean score by kind and level");
  head(t, heads);
  for (int kind = 0; kind < NST_REPORT_KINDS; kind++) {
    if (!s->partial[kind][NST_LEVELS].n) continue;
    cell(t, "%s", kind < NST_KIND_COUNT ? nst_kind_name((nst_kind)kind) : "all");
    for (int level = 0; level < NST_REPORT_LEVELS; level++)
      score_cell(t, s->partial[kind][level].mean, nst_report_incomplete(s, kind, level));
    interval_cell(t, s->partial_interval[kind][NST_LEVELS]);
    count_cell(t, s->partial[kind][NST_LEVELS].n);
  }
  finish(all);
}

static void by_raised(nst_report_tables *all, const nst_report *r, const nst_report_system *s, size_t number) {
  char heads[120];
  snprintf(heads, sizeof heads, "raises|level|pass@1|%d %% interval|score|tasks", percent_of(r));
  nst_report_table *t = begin_of(all, "raised", number, s, "What raises", "pass@1 by what a level raises");
  head(t, heads);
  for (size_t i = 0; i < r->ntraits; i++) {
    const nst_report_raised *x = &s->raised[i];
    if (!x->pass.n) continue;
    name_cell(t, r->traits[i].name);
    cell(t, "%d", r->traits[i].level);
    score_cell(t, x->pass.mean, x->incomplete);
    interval_cell(t, x->interval);
    score_cell(t, x->score.mean, x->incomplete);
    count_cell(t, x->pass.n);
  }
  finish(all);
}

/* A sign for each level in one cell: all three dimensions on one screen. */
static void parts(nst_report_tables *all, const nst_report_system *s, size_t number) {
  nst_report_table *t = begin_of(all, "parts", number, s, "Figures by kind", "right figures by kind, level and metric");
  head(t, "metric");
  for (int kind = 0; kind < NST_KIND_COUNT; kind++)
    if (nst_parts_has_kind(s, (nst_kind)kind)) head(t, nst_kind_name((nst_kind)kind));
  for (size_t i = 0; i < s->nmetrics; i++) {
    name_cell(t, s->metrics[i].name);
    for (int kind = 0; kind < NST_KIND_COUNT; kind++) {
      char signs[NST_LEVELS + 1];
      if (!nst_parts_has_kind(s, (nst_kind)kind)) continue;
      nst_parts_signs(signs, s, (nst_kind)kind, s->metrics[i].name);
      cell(t, "%s", signs);
    }
  }
  note(t, "one sign for each level, 1 to 5: # all right; 9 to 0 the tenths that are right; . none asked for. JSON and "
          "CSV have the figures, memory by memory");
  finish(all);
}

/* ---- pairs, rounds, files ------------------------------------------------- */

static void p_cell(nst_report_table *t, double p) {
  if (isnan(p))
    cell(t, "-");
  else if (p < 0.0001)
    cell(t, "< 0.0001");
  else
    cell(t, "%.4f", p);
}

static void pairs(nst_report_tables *all, const nst_report *r, bool grammar) {
  char heads[160];
  snprintf(heads, sizeof heads,
           "%s|%s|difference|%d %% interval|error|tasks|first better|second better|equal|p|p (Holm)",
           grammar ? "free" : "first", grammar ? "with a grammar" : "second", percent_of(r));
  nst_report_table *t =
    begin(all, grammar ? "grammar" : "pairs", grammar ? "Grammar" : "Comparison",
          grammar ? "Free against grammar-constrained decoding, task by task" : "Two models, task by task");
  head(t, heads);
  bool open = false;
  for (size_t i = 0; i < r->npairs; i++) {
    const nst_report_pair *p = &r->pairs[i];
    if (p->grammar != grammar) continue;
    open = open || nst_report_outstanding(&r->systems[p->a]) || nst_report_outstanding(&r->systems[p->b]);
    name_cell(t, r->systems[p->a].name);
    name_cell(t, r->systems[p->b].name);
    signed_cell(t, p->paired.difference.mean);
    if (isnan(p->interval.low))
      cell(t, "-");
    else
      cell(t, "%+.3f .. %+.3f", p->interval.low, p->interval.high);
    share_cell(t, p->paired.error);
    count_cell(t, p->tasks);
    count_cell(t, p->paired.a_better);
    count_cell(t, p->paired.b_better);
    count_cell(t, p->paired.equal);
    p_cell(t, p->paired.p);
    p_cell(t, p->holm);
  }
  if (t->ncells > t->columns) {
    note(t,
         "difference: first minus second, over the tasks that both answered, infrastructure errors left out; "
         "interval, error and p are of one method, with two templates added, so that no difference is without error");
    note(t, "p (Holm): p among the %zu comparison%s of this report; below 0.05 it stands however many were made",
         r->npairs, plural(r->npairs));
    if (open) note(t, "samples are outstanding, to redo: the tasks that both answered are not all of them");
  }
  finish(all);
}

static void rounds(nst_report_tables *all, const nst_report *r) {
  nst_report_table *t = begin(all, "rounds", "Revision", "Rounds of revision");
  char heads[160];
  snprintf(heads, sizeof heads,
           "model|arm|round|samples|before|after|gain|fixed|%d %% interval|of failures|broken|%d %% interval|of passes",
           percent_of(r), percent_of(r));
  head(t, heads);
  for (size_t i = 0; i < r->nsystems; i++)
    for (size_t k = 0; k < r->systems[i].nrounds; k++) {
      const nst_report_round *round = &r->systems[i].rounds[k];
      const double n = (double)round->judged;
      name_cell(t, r->systems[i].name);
      name_cell(t, *round->arm ? round->arm : "-");
      cell(t, "%d", round->round);
      count_cell(t, round->judged);
      share_cell(t, (double)round->parents_passed / n); /* NaN of none */
      share_cell(t, (double)round->passed / n);
      signed_cell(t, ((double)round->passed - (double)round->parents_passed) / n);
      share_cell(t, (double)round->fixed / (double)round->parents_failed);
      interval_cell(t, nst_stats_rate(round->fixed, round->parents_failed, r->level));
      count_cell(t, round->parents_failed);
      share_cell(t, (double)round->broken / (double)round->parents_passed);
      interval_cell(t, nst_stats_rate(round->broken, round->parents_passed, r->level));
      count_cell(t, round->parents_passed);
    }
  if (t->ncells > t->columns)
    note(t, "intervals of fixed and broken: Wilson's, as if samples were independent; those of one task are not");
  for (size_t i = 0; i < r->nsystems; i++) {
    const nst_report_system *s = &r->systems[i];
    const size_t n = s->pass[NST_KIND_COUNT][NST_LEVELS].n;
    if (!s->nrounds || s->revised_tasks == n) continue;
    char *name = nst_out_clean(s->name, true, NAME_WIDTH);
    note(t, "%s: only %zu of %zu tasks were revised: before and after are of these", name, s->revised_tasks, n);
    free(name);
  }
  finish(all);
}

static bool facts_differ(const nst_report *r, nst_fact fact) {
  const char *first = r->files[0].facts[fact];
  for (size_t i = 0; i < r->nfiles; i++) {
    const char *other = r->files[i].facts[fact];
    if (first && other && (strcmp(first, other) != 0 || !strcmp(other, "several"))) return true;
  }
  return false;
}

/* What a score stands on. Long texts are cut here and whole in JSON. */
static void files(nst_report_tables *all, const nst_report *r) {
  nst_report_table *t = begin(all, "files", "What was measured", "What was measured");
  bool shown[NST_FACT_COUNT] = {false};
  for (size_t i = 0; i < r->nfiles; i++)
    for (int f = 0; f < NST_FACT_COUNT; f++) shown[f] = shown[f] || r->files[i].facts[f];
  head(t, "file|tasks|samples each");
  for (int f = 0; f < NST_FACT_COUNT; f++)
    if (shown[f]) head(t, nst_fact_titles[f]);
  for (size_t i = 0; i < r->nfiles; i++) {
    const nst_report_file *file = &r->files[i];
    name_cell(t, file->name);
    if (file->part && file->total)
      cell(t, "first %zu of %" PRIu64, file->tasks, file->total);
    else
      cell(t, file->part ? "%zu, a part" : "%zu", file->tasks);
    count_cell(t, file->samples);
    for (int f = 0; f < NST_FACT_COUNT; f++) {
      if (!shown[f]) continue;
      char *clean =
        nst_out_clean(file->facts[f] ? file->facts[f] : "-", true,
                      f == NST_FACT_TASKS_HASH || f == NST_FACT_SYSTEM_HASH || f == NST_FACT_BUILD ? 64 : FACT_WIDTH);
      cell(t, "%s", clean);
      free(clean);
    }
  }
  if (facts_differ(r, NST_FACT_TASKS_HASH))
    note(t, "the files are of different sets of tasks: compare models by pairs alone, which take the tasks of both");
  if (facts_differ(r, NST_FACT_GRADER))
    note(t, "the files were judged by different versions of the grader: judge them again by one");
  finish(all);
}

bool nst_report_table_is_text(const nst_report_table *t, size_t column) {
  if (!column) return true;
  for (size_t i = t->columns + column; i < t->ncells; i += t->columns) {
    size_t letters = 0, others = 0;
    for (const char *c = t->cells[i]; *c; c++) {
      const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
      letters += letter;
      others += !letter && *c != ' ';
    }
    if (letters > others && strcmp(t->cells[i], "incomplete")) return true;
  }
  return false;
}

nst_report_tables nst_report_tables_make(nst_report *r) {
  nst_report_make(r);
  nst_report_tables all = {NULL, 0};
  scores(&all, r);
  without(&all, r);
  pairs(&all, r, false);
  pairs(&all, r, true);
  by_level(&all, r);
  outcomes(&all, r);
  reasons(&all, r);
  over_k(&all, r);
  repetition(&all, r);
  metrics(&all, r);
  rounds(&all, r);
  tokens(&all, r);
  for (size_t i = 0; i < r->nsystems; i++) by_kind(&all, r, &r->systems[i], i);
  for (size_t i = 0; i < r->nsystems; i++) score_by_kind(&all, r, &r->systems[i], i);
  for (size_t i = 0; i < r->nsystems; i++) by_raised(&all, r, &r->systems[i], i);
  for (size_t i = 0; i < r->nsystems; i++) parts(&all, &r->systems[i], i);
  files(&all, r);
  return all;
}

void nst_report_tables_free(nst_report_tables tables) {
  for (size_t i = 0; i < tables.n; i++) free_table(&tables.items[i]);
  free(tables.items);
}
