/* The report as data: JSON with every figure, and CSV in long form. Shares are written with ten digits: more would tell
 * machines apart. */
#include "bench/report/figures.h"
#include "bench/report/out.h"
#include "bench/report/parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ----------------------------------------------------------------- */

static json_t *real(double x) { return isnan(x) ? json_null() : json_real(x); }
static json_t *whole(uint64_t n) { return nst_record_from_int(n > INT64_MAX ? INT64_MAX : (int64_t)n); }

/* Names of files may be no UTF-8: such bytes stand as numbers. */
static json_t *text(const char *s) {
  if (!s) return json_null();
  json_t *out = json_string(s);
  if (out) return out;
  char *clean = nst_out_clean(s, false, 0);
  out = json_string(clean);
  free(clean);
  return out;
}

static json_t *interval(nst_interval i) { return json_pack("[o, o]", real(i.low), real(i.high)); }

static json_t *mean(const nst_mean *m, nst_interval i) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "mean", real(m->mean), "interval", interval(i), "error",
                   real(m->se), "naive_error", real(m->se_simple), "tasks", whole(m->n), "templates",
                   whole(m->clusters));
}

static json_t *facts_of(char *const *facts) {
  static const char *const names[] = {
#define FACT(id, name, title, key) name,
    NST_REPORT_FACTS(FACT)
#undef FACT
  };
  json_t *out = json_object();
  for (int f = 0; f < NST_FACT_COUNT; f++) json_object_set_new(out, names[f], text(facts[f]));
  return out;
}

static json_t *cells(const nst_report_system *s) {
  json_t *out = json_array();
  for (int kind = 0; kind < NST_REPORT_KINDS; kind++)
    for (int level = 0; level < NST_REPORT_LEVELS; level++) {
      const nst_mean *m = &s->pass[kind][level];
      if (!m->n) continue;
      json_t *one = json_object();
      json_object_set_new(one, "kind",
                          kind < NST_KIND_COUNT ? json_string(nst_kind_name((nst_kind)kind)) : json_null());
      json_object_set_new(one, "level", level < NST_LEVELS ? json_integer(level + 1) : json_null());
      json_t *figures = mean(m, s->interval[kind][level]);
      json_object_update(one, figures);
      json_decref(figures);
      json_object_set_new(one, "score", mean(&s->partial[kind][level], s->partial_interval[kind][level]));
      json_array_append_new(out, one);
    }
  return out;
}

static json_t *raised(const nst_report *r, const nst_report_system *s) {
  json_t *out = json_array();
  for (size_t t = 0; t < r->ntraits; t++) {
    const nst_report_raised *x = &s->raised[t];
    if (!x->pass.n) continue;
    json_t *one = json_pack("{s:i, s:s}", "level", r->traits[t].level, "raises", r->traits[t].name);
    json_t *figures = mean(&x->pass, x->interval);
    json_object_update(one, figures);
    json_decref(figures);
    json_object_set_new(one, "score", mean(&x->score, x->score_interval));
    json_array_append_new(out, one);
  }
  return out;
}

static json_t *over_k(const nst_report *r, const double *values) {
  json_t *out = json_object();
  char key[24];
  for (size_t k = 0; k < r->nks; k++) {
    snprintf(key, sizeof key, "%" PRIu64, r->ks[k]);
    json_object_set_new(out, key, real(values[k]));
  }
  return out;
}

static json_t *outcomes(const nst_report_system *s) {
  json_t *out = json_object();
  for (int o = 0; o < NST_OUTCOME_COUNT; o++)
    json_object_set_new(out, nst_outcome_name((nst_outcome)o), whole(s->outcomes[o]));
  json_object_set_new(out, "ungraded", whole(s->ungraded));
  json_object_set_new(out, "missing", whole(s->missing));
  return out;
}

static json_t *reasons(const nst_report_system *s) {
  json_t *out = json_array();
  for (size_t i = 0; i < s->reasons.n; i++)
    json_array_append_new(
      out, json_pack("{s:o, s:o}", "reason", text(s->reasons.items[i].text), "samples", whole(s->reasons.items[i].n)));
  return out;
}

static json_t *runs(const nst_report_system *s) {
  json_t *list = json_array();
  for (size_t i = 0; i < s->nruns; i++)
    json_array_append_new(
      list, json_pack("{s:o, s:o}", "passed", whole(s->runs[i].passed), "answered", whole(s->runs[i].answered)));
  json_t *out =
    json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "runs", list, "n", whole(s->spread.n), "mean", real(s->spread.mean),
              "sd", real(s->spread.sd), "low", real(s->spread.low), "high", real(s->spread.high));
  if (s->has_variance)
    json_object_set_new(out, "variance",
                        json_pack("{s:o, s:o, s:o}", "between_tasks", real(s->variance.between), "within_tasks",
                                  real(s->variance.within), "tasks", whole(s->variance.tasks)));
  else
    json_object_set_new(out, "variance", json_null());
  return out;
}

static json_t *metrics(const nst_report_system *s) {
  json_t *out = json_object();
  for (size_t i = 0; i < s->nmetrics; i++)
    json_object_set_new(out, s->metrics[i].name,
                        json_pack("{s:o, s:o}", "right", whole(s->metrics[i].right), "of", whole(s->metrics[i].total)));
  return out;
}

static json_t *rounds(const nst_report *r, const nst_report_system *s) {
  json_t *out = json_array();
  for (size_t i = 0; i < s->nrounds; i++) {
    const nst_report_round *x = &s->rounds[i];
    json_t *one =
      json_pack("{s:s, s:i, s:o, s:o, s:o, s:o, s:o, s:o}", "arm", x->arm, "round", x->round, "samples",
                whole(x->judged), "passed", whole(x->passed), "parents_failed", whole(x->parents_failed), "fixed",
                whole(x->fixed), "parents_passed", whole(x->parents_passed), "broken", whole(x->broken));
    json_object_set_new(one, "fixed_interval", interval(nst_stats_rate(x->fixed, x->parents_failed, r->level)));
    json_object_set_new(one, "broken_interval", interval(nst_stats_rate(x->broken, x->parents_passed, r->level)));
    json_array_append_new(out, one);
  }
  return out;
}

static json_t *usage(const nst_report_usage *u) {
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "prompt", whole(u->in), "completion", whole(u->out), "reasoning",
                   whole(u->reasoning), "samples", whole(u->with_usage), "cost",
                   u->with_cost ? real(u->cost) : json_null(), "samples_with_cost", whole(u->with_cost));
}

static json_t *system_json(const nst_report *r, const nst_report_system *s) {
  json_t *out = json_object();
  json_object_set_new(out, "name", text(s->name));
  json_object_set_new(out, "grammar", json_boolean(nst_report_has_grammar(s)));
  json_object_set_new(out, "samples", whole(s->samples));
  json_object_set_new(out, "outstanding", whole(nst_report_outstanding(s)));
  json_object_set_new(out, "unanswered_tasks", whole(s->unanswered));
  json_object_set_new(out, "bounds", interval(s->bounds[NST_KIND_COUNT][NST_LEVELS]));
  json_object_set_new(out, "pass_at_1",
                      mean(&s->pass[NST_KIND_COUNT][NST_LEVELS], s->interval[NST_KIND_COUNT][NST_LEVELS]));
  json_object_set_new(out, "score", mean(&s->score, s->score_interval));
  json_object_set_new(out, "pass_at_1_outstanding_excluded", mean(&s->without_errors, s->without_errors_interval));
  json_object_set_new(out, "pass_at_1_outstanding_and_truncated_excluded",
                      mean(&s->without_cut, s->without_cut_interval));
  json_object_set_new(out, "pass_at_k", over_k(r, s->at_k));
  json_object_set_new(out, "pass_hat_k", over_k(r, s->all_k));
  json_object_set_new(out, "by_kind_and_level", cells(s));
  json_object_set_new(out, "by_raised", raised(r, s));
  json_object_set_new(out, "outcomes", outcomes(s));
  json_object_set_new(out, "reasons_of_errors", reasons(s));
  json_object_set_new(out, "repetition", runs(s));
  json_object_set_new(out, "metrics", metrics(s));
  json_object_set_new(out, "by_kind_level_and_metric", nst_parts_json(s));
  json_object_set_new(out, "rounds", rounds(r, s));
  json_object_set_new(out, "tokens", usage(&s->usage));
  json_object_set_new(out, "tokens_of_revisions", usage(&s->revised));
  return out;
}

void nst_report_json(nst_report *r, nestor_buffer *out) {
  nst_report_make(r);
  json_t *files = json_array(), *systems = json_array(), *pairs = json_array();
  for (size_t i = 0; i < r->nfiles; i++) {
    json_t *file = json_pack("{s:o, s:o, s:o, s:o}", "file", text(r->files[i].name), "model",
                             text(r->systems[r->files[i].system].name), "tasks", whole(r->files[i].tasks),
                             "samples_each", whole(r->files[i].samples));
    json_object_set_new(file, "tasks_total",
                        whole(r->files[i].part && r->files[i].total ? r->files[i].total : r->files[i].tasks));
    json_object_set_new(file, "part", json_boolean(r->files[i].part));
    json_object_set_new(file, "facts", facts_of(r->files[i].facts));
    json_array_append_new(files, file);
  }
  for (size_t i = 0; i < r->nsystems; i++) json_array_append_new(systems, system_json(r, &r->systems[i]));
  for (size_t i = 0; i < r->npairs; i++) {
    const nst_report_pair *p = &r->pairs[i];
    json_t *pair = json_pack("{s:o, s:o, s:b}", "first", text(r->systems[p->a].name), "second",
                             text(r->systems[p->b].name), "by_grammar", p->grammar);
    nst_mean difference = p->paired.difference;
    difference.se = p->paired.error;
    json_object_set_new(pair, "difference", mean(&difference, p->interval));
    json_object_set_new(pair, "first_better", whole(p->paired.a_better));
    json_object_set_new(pair, "second_better", whole(p->paired.b_better));
    json_object_set_new(pair, "equal", whole(p->paired.equal));
    json_object_set_new(pair, "p", real(p->paired.p));
    json_object_set_new(pair, "p_holm", real(p->holm));
    json_object_set_new(pair, "sign_test", real(p->paired.sign_test));
    json_object_set_new(pair, "correlation", real(p->paired.correlation));
    json_array_append_new(pairs, pair);
  }
  json_t *all = json_pack("{s:s, s:f, s:o, s:o, s:o}", "schema", "nestor.report/1", "level", r->level, "files", files,
                          "models", systems, "pairs", pairs);
  char *bytes = json_dumps(all, JSON_INDENT(2) | JSON_REAL_PRECISION(10));
  nst_out_text(out, bytes ? bytes : "{}");
  nst_out_text(out, "\n");
  free(bytes);
  json_decref(all);
}

/* ---- CSV ------------------------------------------------------------------ */

static void csv_text(nestor_buffer *out, const char *s) {
  if (!s[strcspn(s, ",\"\r\n")]) return nst_out_text(out, s);
  nst_out_text(out, "\"");
  for (; *s; s++) nst_text_add(out, *s == '"' ? "\"\"" : "%c", *s);
  nst_out_text(out, "\"");
}

static void csv_real(nestor_buffer *out, double x) {
  nst_out_text(out, ",");
  if (!isnan(x)) nst_text_add(out, "%.10g", x);
}

static void csv_row(nestor_buffer *out, const char *model, const char *figure, const char *kind, const char *level,
                    const char *name, double value, nst_interval i, double error, double n) {
  csv_text(out, model);
  nst_text_add(out, ",%s,%s,%s,", figure, kind, level);
  csv_text(out, name);
  csv_real(out, value);
  csv_real(out, i.low);
  csv_real(out, i.high);
  csv_real(out, error);
  csv_real(out, n);
  nst_out_text(out, "\n");
}

static const nst_interval none = {NAN, NAN};

static void csv_mean(nestor_buffer *out, const char *model, const char *figure, const char *kind, const char *level,
                     const nst_mean *m, nst_interval i) {
  csv_row(out, model, figure, kind, level, "", m->mean, i, m->se, (double)m->n);
}

/* Mean scores by kind and level, right figures by kind, level and metric. */
static void csv_cells(nestor_buffer *out, const nst_report_system *s) {
  for (int kind = NST_KIND_COUNT; kind >= 0; kind--)
    for (int level = NST_LEVELS; level >= 0; level--) {
      const char digit[2] = {(char)('1' + level), '\0'};
      if (s->partial[kind][level].n)
        csv_mean(out, s->name, "score", kind < NST_KIND_COUNT ? nst_kind_name((nst_kind)kind) : "",
                 level < NST_LEVELS ? digit : "", &s->partial[kind][level], s->partial_interval[kind][level]);
    }
  for (size_t i = 0; i < s->nparts; i++) {
    const nst_report_metric *m = &s->parts[i].figures;
    const char digit[2] = {(char)('0' + s->parts[i].level), '\0'};
    csv_row(out, s->name, "metric", nst_kind_name(s->parts[i].kind), digit, m->name,
            (double)m->right / (double)m->total, none, NAN, (double)m->total);
  }
}

static void csv_system(nestor_buffer *out, const nst_report *r, const nst_report_system *s) {
  for (int kind = NST_KIND_COUNT; kind >= 0; kind--)
    for (int level = NST_LEVELS; level >= 0; level--) {
      char digit[2] = {(char)('1' + level), '\0'};
      if (s->pass[kind][level].n)
        csv_mean(out, s->name, "pass_at_1", kind < NST_KIND_COUNT ? nst_kind_name((nst_kind)kind) : "",
                 level < NST_LEVELS ? digit : "", &s->pass[kind][level], s->interval[kind][level]);
    }
  if (nst_report_outstanding(s))
    csv_row(out, s->name, "pass_at_1_bounds", "", "", "", NAN, s->bounds[NST_KIND_COUNT][NST_LEVELS], NAN,
            (double)s->pass[NST_KIND_COUNT][NST_LEVELS].n);
  csv_mean(out, s->name, "pass_at_1_outstanding_excluded", "", "", &s->without_errors, s->without_errors_interval);
  csv_mean(out, s->name, "pass_at_1_outstanding_and_truncated_excluded", "", "", &s->without_cut,
           s->without_cut_interval);
  char key[24];
  for (size_t k = 0; k < 2 * r->nks; k++) {
    snprintf(key, sizeof key, "%" PRIu64, r->ks[k % r->nks]);
    csv_row(out, s->name, k < r->nks ? "pass_at_k" : "pass_hat_k", "", "", key,
            k < r->nks ? s->at_k[k] : s->all_k[k - r->nks], none, NAN, NAN);
  }
  for (int o = 0; o < NST_OUTCOME_COUNT; o++)
    csv_row(out, s->name, "outcome", "", "", nst_outcome_name((nst_outcome)o), (double)s->outcomes[o], none, NAN,
            (double)s->samples);
  csv_row(out, s->name, "outcome", "", "", "ungraded", (double)s->ungraded, none, NAN, (double)s->samples);
  csv_row(out, s->name, "outcome", "", "", "missing", (double)s->missing, none, NAN, (double)s->samples);
  csv_row(out, s->name, "run_sd", "", "", "", s->spread.sd, (nst_interval){s->spread.low, s->spread.high}, NAN,
          (double)s->spread.n);
  for (size_t i = 0; i < s->nmetrics; i++)
    csv_row(out, s->name, "metric", "", "", s->metrics[i].name,
            (double)s->metrics[i].right / (double)s->metrics[i].total, none, NAN, (double)s->metrics[i].total);
  csv_cells(out, s);
  for (size_t t = 0; t < r->ntraits; t++) {
    const nst_report_raised *x = &s->raised[t];
    const char digit[2] = {(char)('0' + r->traits[t].level), '\0'};
    if (!x->pass.n) continue;
    csv_row(out, s->name, "pass_at_1_raised", "", digit, r->traits[t].name, x->pass.mean, x->interval, x->pass.se,
            (double)x->pass.n);
    csv_row(out, s->name, "score_raised", "", digit, r->traits[t].name, x->score.mean, x->score_interval, x->score.se,
            (double)x->score.n);
  }
}

void nst_report_csv(nst_report *r, nestor_buffer *out) {
  nst_report_make(r);
  nst_out_text(out, "model,figure,kind,level,name,value,low,high,error,n\n");
  for (size_t i = 0; i < r->nsystems; i++) csv_system(out, r, &r->systems[i]);
  for (size_t i = 0; i < r->npairs; i++) {
    const nst_report_pair *p = &r->pairs[i];
    csv_row(out, r->systems[p->a].name, "minus", "", "", r->systems[p->b].name, p->paired.difference.mean, p->interval,
            p->paired.error, (double)p->tasks);
    csv_row(out, r->systems[p->a].name, "minus_p", "", "", r->systems[p->b].name, p->paired.p, none, NAN, NAN);
    csv_row(out, r->systems[p->a].name, "minus_p_holm", "", "", r->systems[p->b].name, p->holm, none, NAN, NAN);
  }
}
