/* Samples in, results out: looking up the task, extraction, what needs no worker at once, the rest through the pool, results as records. */
#include "bench/grade/grade.h"

#include "bench/grade/compare.h"
#include "bench/grade/pool.h"
#include "bench/grade/prepare.h"
#include "bench/grade/utf8.h"
#include "bench/record/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct nst_grading {
  nst_grading_options options;
  nst_pool *pool;
  json_t *index; /* task_id -> place in tasks */
  nst_prepared **tasks;
  size_t ntasks;
  json_t *version, *schema;
  json_t *stages[NST_STAGE_COUNT], *outcomes[NST_OUTCOME_COUNT];
};

static const char *const stage_names[] = {
#define NST_STAGE(id, name) name,
#include "bench/grade/stages.def"
#undef NST_STAGE
};

nst_grading *nst_grading_new(const nst_grading_options *options, char error[NST_RECORD_ERROR]) {
  nst_pool *pool = nst_pool_new(options->worker_path, options->workers, error);
  if (!pool) return NULL;
  nst_grading *g = nst_memory_new(1, sizeof *g);
  g->options = *options;
  g->pool = pool;
  g->index = json_object();
  char version[64];
  snprintf(version, sizeof version, "%s/%u/%d", nst_pool_version(pool), nst_pool_rules(pool), NST_GRADER_VERSION);
  g->version = json_string(version);
  g->schema = json_string("nestor.result/1");
  for (int i = 0; i < NST_STAGE_COUNT; i++) g->stages[i] = json_string(stage_names[i]);
  for (int i = 0; i < NST_OUTCOME_COUNT; i++) g->outcomes[i] = json_string(nst_outcome_name((nst_outcome)i));
  return g;
}

void nst_grading_free(nst_grading *g) {
  if (!g) return;
  nst_pool_free(g->pool);
  for (size_t i = 0; i < g->ntasks; i++) nst_prepared_free(g->tasks[i]);
  free(g->tasks);
  json_decref(g->index);
  json_decref(g->version);
  json_decref(g->schema);
  for (int i = 0; i < NST_STAGE_COUNT; i++) json_decref(g->stages[i]);
  for (int i = 0; i < NST_OUTCOME_COUNT; i++) json_decref(g->outcomes[i]);
  free(g);
}

int nst_grading_worker(const nst_grading *g, int i) { return nst_pool_pid(g->pool, i); }
void nst_grading_set_watchdog(nst_grading *g, int milliseconds) { nst_pool_set_watchdog(g->pool, milliseconds); }

/* ---- tasks ---------------------------------------------------------------- */

static nst_prepared *find(const nst_grading *g, const char *task_id) {
  const json_t *place = json_object_get(g->index, task_id);
  return place ? g->tasks[json_integer_value(place)] : NULL;
}

bool nst_grading_add_task(nst_grading *g, nst_task *task, char error[NST_RECORD_ERROR]) {
  if (find(g, task->task_id)) {
    snprintf(error, NST_RECORD_ERROR, "the task %.150s is there already", task->task_id);
    nst_task_fini(task);
    return false;
  }
  if (!(g->ntasks & (g->ntasks - 1))) g->tasks = nst_memory_grow(g->tasks, g->ntasks ? 2 * g->ntasks : 1, sizeof(nst_prepared *));
  nst_prepared *p = nst_prepared_new(task);
  g->tasks[g->ntasks] = p;
  json_object_set_new(g->index, p->task.task_id, json_integer((json_int_t)g->ntasks++));
  return true;
}

bool nst_grading_add_key(nst_grading *g, nst_key *key, char error[NST_RECORD_ERROR]) {
  nst_prepared *p = find(g, key->task_id);
  if (p) return nst_prepared_add_key(p, key, error);
  snprintf(error, NST_RECORD_ERROR, "a key of the task %.150s, which is not there", key->task_id);
  nst_key_fini(key);
  return false;
}

const nst_task *nst_grading_task(const nst_grading *g, const char *task_id) {
  const nst_prepared *p = find(g, task_id);
  return p ? &p->task : NULL;
}

const char *nst_grading_version(const nst_grading *g) { return json_string_value(g->version); }

/* ---- results -------------------------------------------------------------- */

static json_t *extraction_json(const nst_extract *x) {
  json_t *out = json_object();
  json_object_set_new_nocheck(out, "step", json_string_nocheck(nst_step_name(x->step)));
  if (x->line) json_object_set_new_nocheck(out, "line", json_integer((json_int_t)x->line));
  if (x->reasoning) json_object_set_new_nocheck(out, "reasoning", json_true());
  if (x->cut) json_object_set_new_nocheck(out, "cut", json_true());
  return out;
}

/* A JSON text that a record already has, or one of ours. */
static json_t *shared(json_t *value) { return value ? json_incref(value) : json_null(); }

/* task: NULL where there is none of that id. */
static json_t *result_json(const nst_grading *g, json_t *task_id, json_t *sample_id, const nst_prepared *task, const nst_verdict *v,
                           const nst_extract *x) {
  json_t *out = json_object();
  json_object_set_nocheck(out, "schema", g->schema);
  json_object_set_new_nocheck(out, "task_id", shared(task_id));
  json_object_set_new_nocheck(out, "sample_id", shared(sample_id));
  json_object_set_new_nocheck(out, "passed", json_boolean(v->outcome == NST_OUTCOME_PASSED));
  json_object_set_nocheck(out, "outcome", g->outcomes[v->outcome]);
  json_object_set_new_nocheck(out, "score", json_real(v->score));
  json_object_set_new_nocheck(out, "sub", v->sub ? json_incref(v->sub) : json_object());
  json_object_set_nocheck(out, "stage", g->stages[v->stage]);
  json_object_set_new_nocheck(out, "extraction", x ? extraction_json(x) : json_null());
  json_object_set_new_nocheck(out, "diagnostics", v->diagnostics ? json_incref(v->diagnostics) : json_array());
  json_object_set_new_nocheck(out, "counterexample", shared(v->counterexample));
  json_object_set_nocheck(out, "grader_version", g->version);
  if (task) json_object_set_nocheck(out, "content_hash", json_object_get(task->task.json, "content_hash"));
  return out;
}

/* ---- one sample ----------------------------------------------------------- */

typedef struct {
  const nst_prepared *task;
  nst_extract extract;
  uint64_t own_ns; /* of the supervisor */
} work;

typedef struct {
  const nst_grading *g;
  nst_result *results;
  const nst_sample *samples;
  work *works;
} batch;

static uint64_t now(const nst_grading *g) {
  struct timespec t = {0};
  if (g->options.timing) clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool finished_for(const nst_sample *s, const char *const *reasons) {
  for (; s->finish_reason && *reasons; reasons++)
    if (!strcmp(s->finish_reason, *reasons)) return true;
  return false;
}
static bool was_cut(const nst_sample *s) { return finished_for(s, (const char *const[]){"length", "max_tokens", NULL}); }
static bool was_refused(const nst_sample *s) { return finished_for(s, (const char *const[]){"content_filter", "refusal", NULL}); }

/* What was cut at the length limit had not come to its answer: it passes, or it is truncated. What the text holds may be a draft, so
 * that it earns nothing in part either. */
static void forgive_truncation(nst_verdict *v, const nst_sample *s) {
  if (!was_cut(s) || !nst_outcome_is_fault(v->outcome)) return;
  nst_verdict_say(v, "the text was cut at the length limit, and what it holds does not pass (%s)", nst_outcome_name(v->outcome));
  json_decref(v->sub);
  json_decref(v->counterexample);
  v->sub = v->counterexample = NULL;
  v->outcome = NST_OUTCOME_TRUNCATED;
  v->score = 0;
}

/* A revision stays one in its result, which may be published without the sample. */
static void note_revision(json_t *result, const json_t *sample) {
  static const char *const members[] = {"parent_sample_id", "arm"};
  if (!json_is_string(json_object_get(sample, members[0]))) return;
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    json_t *value = json_object_get(sample, members[i]);
    if (json_is_string(value)) json_object_set_nocheck(result, members[i], value);
  }
}

/* Fills the result of sample i; the verdict is done with. */
static void settle(const batch *b, uint32_t i, nst_verdict *v) {
  const nst_sample *s = &b->samples[i];
  forgive_truncation(v, s);
  json_t *task_id = json_object_get(s->json, "task_id"), *sample_id = json_object_get(s->json, "sample_id");
  json_t *own_id = NULL;
  if (!json_is_string(sample_id)) sample_id = own_id = json_string(s->sample_id);
  json_t *json = result_json(b->g, task_id, sample_id, b->works[i].task, v, b->works[i].extract.text ? &b->works[i].extract : NULL);
  note_revision(json, s->json);
  if (b->g->options.timing)
    json_object_set_new(json, "grade_us", json_real((double)((v->nanoseconds + b->works[i].own_ns) / 100) / 10));
  b->results[i] = (nst_result){.json = json, .task_id = json_string_value(json_object_get(json, "task_id")),
                               .sample_id = json_string_value(json_object_get(json, "sample_id")),
                               .passed = v->outcome == NST_OUTCOME_PASSED, .outcome = v->outcome, .score = v->score,
                               .sub = json_object_get(json, "sub")};
  json_decref(own_id);
  nst_verdict_fini(v);
}

static nst_verdict verdict(nst_outcome outcome, nst_stage stage) { return (nst_verdict){.outcome = outcome, .stage = stage}; }

/* There is no answer in the text: why? */
static nst_verdict without_answer(const nst_sample *s, const nst_extract *x) {
  nst_verdict v = verdict(NST_OUTCOME_NO_ANSWER, NST_STAGE_EXTRACT);
  if (was_cut(s)) {
    v.outcome = NST_OUTCOME_TRUNCATED;
    nst_verdict_say(&v, "the text was cut before an answer");
  } else if (was_refused(s) || (!x->unclosed && nst_extract_declines(x))) {
    v.outcome = NST_OUTCOME_REFUSED;
    nst_verdict_say(&v, "the model declined to answer");
  } else if (x->unclosed) nst_verdict_say(&v, "the reasoning never ends");
  else nst_verdict_say(&v, "there is no answer in the text");
  return v;
}

/* Everything that needs no worker. true: the sample is settled; false: the extract goes to a worker. */
static bool judge_here(nst_verdict *v, work *w, const nst_sample *s, nst_figure *values) {
  const nst_prepared *p = w->task;
  size_t choice = 0;
  switch (p->task.answer) {
    case NST_ANSWER_PROGRAM:
    case NST_ANSWER_MODEL: w->extract = nst_extract_program(s->completion, s->completion_size); break;
    case NST_ANSWER_CHOICE: w->extract = nst_extract_choice(&choice, p->choices, p->nchoices, s->completion, s->completion_size); break;
    case NST_ANSWER_NUMBERS:
      w->extract = nst_extract_numbers(values, p->quantities, json_array_size(p->groups), s->completion, s->completion_size);
      break;
  }
  if (w->extract.step == NST_STEP_NONE) return *v = without_answer(s, &w->extract), true;
  switch (p->task.answer) {
    case NST_ANSWER_CHOICE: return nst_compare_choice(v, p, choice), true;
    case NST_ANSWER_NUMBERS: return nst_compare_numbers(v, p, values), true;
    case NST_ANSWER_PROGRAM:
    case NST_ANSWER_MODEL: break;
  }
  if (w->extract.size <= p->source_bytes) return false;
  *v = verdict(NST_OUTCOME_LIMIT, NST_STAGE_EXTRACT);
  nst_verdict_say(v, "the answer has %zu bytes; at most %llu are read", w->extract.size, (unsigned long long)p->source_bytes);
  return true;
}

static bool encode(void *context, nst_wire *out, uint32_t i) {
  const batch *b = context;
  const nst_sample *s = &b->samples[i];
  work *w = &b->works[i];
  nst_verdict v = verdict(NST_OUTCOME_INFRA_ERROR, NST_STAGE_SAMPLE);
  const uint64_t begin = now(b->g);
  w->task = find(b->g, s->task_id);
  w->extract = (nst_extract){0};
  bool settled = true;
  if (!w->task) nst_verdict_say(&v, "there is no task %.200s", s->task_id);
  else if (!w->task->ready) nst_verdict_say(&v, "there is no key for this task");
  else if (!s->completion) nst_verdict_say(&v, "%.300s", s->error ? s->error : "no answer came");
  else {
    const size_t n = json_array_size(w->task->groups);
    nst_figure *values = w->task->task.answer == NST_ANSWER_NUMBERS ? nst_memory_new(n, sizeof *values) : NULL;
    settled = judge_here(&v, w, s, values);
    free(values);
  }
  w->own_ns = now(b->g) - begin;
  if (settled) return settle(b, i, &v), false;
  const nst_prepared *p = w->task;
  const size_t frame = nst_wire_begin(out, i);
  nst_wire_u8(out, p->task.answer == NST_ANSWER_MODEL);
  nst_wire_u8(out, p->kind);
  nst_wire_u8(out, p->least);
  nst_wire_u64(out, p->source_bytes);
  nst_wire_u64(out, p->fuel);
  nst_wire_text(out, w->extract.text, w->extract.size);
  nst_wire_put(out, p->request.bytes, p->request.size);
  nst_wire_end(out, frame);
  return true;
}

static bool finish(void *context, uint32_t i, const nst_job_report *report) {
  const batch *b = context;
  nst_verdict v = verdict(NST_OUTCOME_INFRA_ERROR, NST_STAGE_EVALUATE);
  const uint64_t begin = now(b->g);
  switch (report->end) {
    case NST_JOB_ANSWERED:
      if (!nst_compare_reply(&v, b->works[i].task, report->reply)) return false;
      break;
    case NST_JOB_DIED:
      v.outcome = NST_OUTCOME_CRASHED;
      if (report->signal) nst_verdict_say(&v, "the worker died of signal %d (%s)", report->signal, sigabbrev_np(report->signal));
      else nst_verdict_say(&v, "the worker ended without a reply");
      break;
    case NST_JOB_HANGS: nst_verdict_say(&v, "the worker gave no reply in time, twice"); break;
    case NST_JOB_KILLED: nst_verdict_say(&v, "the workers were killed from outside"); break;
    case NST_JOB_NO_WORKER: nst_verdict_say(&v, "no worker: %s", report->error); break;
  }
  b->works[i].own_ns += now(b->g) - begin;
  settle(b, i, &v);
  return true;
}

/* ---- batches -------------------------------------------------------------- */

bool nst_grading_read(nst_sample *out, const char *line, size_t size, char error[NST_RECORD_ERROR]) {
  if (nst_sample_parse(out, line, size, error)) return true;
  char unused[NST_RECORD_ERROR];
  size_t mended_size;
  char *mended = nst_utf8_mend_json(&mended_size, line, size);
  const bool ok = nst_sample_parse(out, mended, mended_size, unused);
  free(mended);
  return ok;
}

json_t *nst_grading_refusal(const nst_grading *g, const nst_sample *sample, uint64_t line, const char *why) {
  nst_verdict v = verdict(NST_OUTCOME_INFRA_ERROR, NST_STAGE_SAMPLE);
  nst_verdict_say(&v, "line %llu: %s", (unsigned long long)line, why);
  json_t *sample_id = sample ? json_string(sample->sample_id) : NULL;
  json_t *out = result_json(g, sample ? json_object_get(sample->json, "task_id") : NULL, sample_id, NULL, &v, NULL);
  json_decref(sample_id);
  nst_verdict_fini(&v);
  return out;
}

void nst_grading_run(nst_grading *g, nst_result *results, const nst_sample *samples, size_t n) {
  batch b = {g, results, samples, nst_memory_new(n, sizeof *b.works)};
  nst_pool_run(g->pool, (uint32_t)n, &(nst_jobs){&b, encode, finish});
  free(b.works);
}
