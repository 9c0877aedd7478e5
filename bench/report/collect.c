/* Reading run files: every sample once, counted where it belongs. What is kept of texts are the examples of failures.
 */
#include "bench/report/figures.h"
#include "bench/report/parts.h"
#include "bench/report/raised.h"

#include "bench/record/alike.h"
#include "bench/record/digest.h"
#include "bench/record/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXAMPLE_TEXT = 1 << 14, MOST_KS = 32 };

static const struct {
  const char *name;
  bool key;
} facts[] = {
#define FACT(id, name, title, key) {name, key},
  NST_REPORT_FACTS(FACT)
#undef FACT
};
const char *const nst_fact_titles[] = {
#define FACT(id, name, title, key) title,
  NST_REPORT_FACTS(FACT)
#undef FACT
};

static char *copy(const char *text) { return text ? nst_memory_text(text, strlen(text)) : NULL; }

/* Room for one more of a growing array that has n. */
static void *more(void *old, size_t n, size_t size) {
  const bool full = (n & (n - 1)) == 0;
  void *list = full ? nst_memory_grow(old, n ? 2 * n : 1, size) : old;
  memset((char *)list + n * size, 0, size);
  return list;
}

/* ---- life ----------------------------------------------------------------- */

nst_report *nst_report_new(const nst_report_options *options) {
  nst_report *r = nst_memory_new(1, sizeof *r);
  r->level = options->level > 0 ? options->level : 0.95;
  r->most_examples = options->examples;
  r->nks = options->nks < MOST_KS ? options->nks : MOST_KS;
  r->ks = nst_memory_new(MOST_KS, sizeof *r->ks);
  if (r->nks) memcpy(r->ks, options->ks, r->nks * sizeof *r->ks);
  r->task_index = json_object();
  r->cluster_index = json_object();
  return r;
}

static void free_system(nst_report_system *s) {
  nst_parts_free(s);
  for (size_t i = 0; i < s->nexamples; i++) {
    nst_report_example *e = &s->examples[i];
    free(e->sample_id), free(e->completion), free(e->diagnostics), free(e->counterexample), free(e->extraction);
  }
  for (size_t i = 0; i < s->nrounds; i++) free(s->rounds[i].arm);
  for (int f = 0; f < NST_FACT_COUNT; f++) free(s->facts[f]);
  nst_reasons_fini(&s->reasons);
  free(s->name), free(s->cells), free(s->examples), free(s->runs), free(s->rounds);
  free(s->at_k), free(s->all_k);
}

void nst_report_free(nst_report *r) {
  if (!r) return;
  for (size_t i = 0; i < r->ntasks; i++) free(r->tasks[i].id), free(r->tasks[i].hash), free(r->tasks[i].raises);
  for (size_t i = 0; i < r->nfiles; i++) {
    free(r->files[i].name);
    for (int f = 0; f < NST_FACT_COUNT; f++) free(r->files[i].facts[f]);
  }
  nst_raised_free(r);
  for (size_t i = 0; i < r->nsystems; i++) free_system(&r->systems[i]);
  for (size_t i = 0; i < r->nsteps; i++)
    free(r->steps[i].sample_id), free(r->steps[i].parent_id), free(r->steps[i].arm);
  json_decref(r->task_index);
  json_decref(r->cluster_index);
  free(r->tasks), free(r->files), free(r->systems), free(r->steps), free(r->pairs), free(r->ks), free(r);
}

/* ---- tasks ---------------------------------------------------------------- */

/* The index of a name, which gets the next one where it is new. */
static size_t index_of(json_t *index, const char *name, size_t next) {
  const json_t *known = json_object_get(index, name);
  if (known) return (size_t)json_integer_value(known);
  json_object_set_new(index, name, json_integer((json_int_t)next));
  return next;
}

typedef struct {
  nst_report *report;
  nst_report_file *file;
  nst_report_system *system;
  size_t *counts;            /* samples of each task in this file */
  bool *held;                /* tasks of this file */
  size_t nheld, samples, at; /* at: index of the file */
  nestor_buffer *text;       /* of the tasks, for their hash */
  char *suite, *system_hash, *split;
  char *error;
  bool failed;
} reading;

/* The first of several texts, "several" where they differ. */
static void note_one(char **of, const char *text) {
  if (!text || (*of && (!strcmp(*of, text) || !strcmp(*of, "several")))) return;
  const bool first = !*of;
  free(*of);
  *of = copy(first ? text : "several");
}

/* Adds a text to a list of some, each once. */
static void list(char **of, const char *text) {
  enum { LONGEST = 400 };
  const size_t size = *of ? strlen(*of) : 0, n = strlen(text);
  for (const char *at = *of; at && (at = strstr(at, text)); at += n)
    if ((at == *of || at[-1] == ' ') && (!at[n] || at[n] == ',')) return;
  if (size + n > LONGEST) return;
  char *longer = nst_memory_new(size + n + 3, 1);
  sprintf(longer, "%s%s%s", size ? *of : "", size ? ", " : "", text);
  free(*of);
  *of = longer;
}

/* What is said of the tasks themselves: their bytes, their suite, the text that stands before each. */
static void note_task(reading *in, const nst_task *task) {
  size_t size;
  char *text = nst_record_text(task->json, &size), hash[NST_DIGEST_TEXT];
  nestor_buffer_append(in->text, text, size);
  nestor_buffer_append(in->text, "\n", 1);
  free(text);
  note_one(&in->suite, task->suite);
  list(&in->split, task->split);
  const json_t *first = json_array_get(task->messages, 0);
  const char *role = json_string_value(json_object_get(first, "role")),
             *said = json_string_value(json_object_get(first, "content"));
  if (!role || !said || strcmp(role, "system")) return;
  nst_digest_text(hash, (const nst_digest_part[]){{said, strlen(said)}}, 1);
  note_one(&in->system_hash, hash);
}

static bool take_task(void *context, const nst_task *task) {
  reading *in = context;
  nst_report *r = in->report;
  const size_t i = index_of(r->task_index, task->task_id, r->ntasks);
  if (i < r->ntasks) {
    if (strcmp(r->tasks[i].hash, task->content_hash)) {
      snprintf(in->error, NST_REPORT_ERROR,
               "task %.100s of %.100s is not the task of that name in the file before it; report suites one by one",
               task->task_id, in->file->name);
      return in->failed = true, false;
    }
  } else {
    r->tasks = more(r->tasks, r->ntasks, sizeof *r->tasks);
    const size_t cluster = index_of(r->cluster_index, task->cluster, r->nclusters);
    if (cluster == r->nclusters) r->nclusters++;
    const char *raises = json_string_value(json_object_get(task->spec, "raises"));
    r->tasks[r->ntasks++] = (nst_report_task){copy(task->task_id),
                                              copy(task->content_hash),
                                              copy(raises),
                                              task->kind,
                                              task->level,
                                              cluster,
                                              !strcmp(task->split, "hidden"),
                                              task->answer == NST_ANSWER_PROGRAM || task->answer == NST_ANSWER_MODEL};
  }
  if (i >= in->nheld) {
    const size_t n = i + 1 > 2 * in->nheld ? i + 1 : 2 * in->nheld;
    in->held = nst_memory_grow(in->held, n, sizeof *in->held);
    memset(in->held + in->nheld, 0, (n - in->nheld) * sizeof *in->held);
    in->nheld = n;
  }
  in->held[i] = true;
  note_task(in, task);
  return true;
}

/* ---- samples -------------------------------------------------------------- */

/* FNV-1a: tells whether two texts are the same, no more. */
static uint64_t print_of(uint64_t h, const char *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) h = (h ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
  return h;
}

static void add_likeness(nst_report_cell *cell, const nst_sample *sample) {
  const json_t *thought = json_object_get(sample->json, "reasoning");
  uint64_t print = print_of(UINT64_C(14695981039346656037), sample->completion, sample->completion_size);
  if (json_is_string(thought)) print = print_of(print, json_string_value(thought), json_string_length(thought));
  if (!cell->wrong++) cell->print = print;
  cell->same += cell->print == print;
}

static char *value_copy(const json_t *value) {
  if (!value || json_is_null(value) || (json_is_array(value) && !json_array_size(value))) return NULL;
  return json_is_string(value) ? copy(json_string_value(value))
                               : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

/* Keeps the first failure of each kind and outcome; never one of a hidden task. */
static void add_example(reading *in, size_t task, const nst_sample *sample, const nst_result *result) {
  nst_report_system *s = in->system;
  const nst_report_task *t = &in->report->tasks[task];
  if (t->hidden) return;
  for (size_t i = 0; i < s->nexamples; i++)
    if (s->examples[i].outcome == result->outcome && in->report->tasks[s->examples[i].task].kind == t->kind) return;
  s->examples = more(s->examples, s->nexamples, sizeof *s->examples);
  const size_t size = sample->completion_size < EXAMPLE_TEXT ? sample->completion_size : EXAMPLE_TEXT;
  s->examples[s->nexamples++] =
    (nst_report_example){task,
                         result->outcome,
                         copy(sample->sample_id),
                         sample->completion ? nst_memory_text(sample->completion, size) : copy(sample->error),
                         value_copy(json_object_get(result->json, "diagnostics")),
                         value_copy(json_object_get(result->json, "counterexample")),
                         value_copy(json_object_get(result->json, "extraction"))};
}

static uint64_t count_at(const json_t *object, const char *a, const char *b) {
  const json_t *value = json_object_get(object, a);
  if (!value) value = json_object_get(object, b);
  return json_is_integer(value) && json_integer_value(value) > 0 ? (uint64_t)json_integer_value(value) : 0;
}

/* Usage in the words of both dialects; sums stop short of wrapping. */
static void add_usage(nst_report_usage *s, const json_t *sample) {
  const json_t *usage = json_object_get(sample, "usage"), *cost = json_object_get(sample, "cost");
  if (json_is_object(usage)) {
    s->with_usage++;
    uint64_t reasoning =
      count_at(json_object_get(usage, "completion_tokens_details"), "reasoning_tokens", "reasoning_tokens");
    if (!reasoning) reasoning = count_at(usage, "reasoning_tokens", "reasoning_tokens");
    const uint64_t add[] = {count_at(usage, "prompt_tokens", "input_tokens"),
                            count_at(usage, "completion_tokens", "output_tokens"), reasoning};
    uint64_t *into[] = {&s->in, &s->out, &s->reasoning};
    for (int i = 0; i < 3; i++)
      if (__builtin_add_overflow(*into[i], add[i], into[i])) *into[i] = UINT64_MAX;
  }
  if (json_is_number(cost) && json_number_value(cost) >= 0) {
    s->with_cost++;
    s->cost += json_number_value(cost);
  }
}

/* result: NULL, or what became of it; it says of which task of that name it is. */
static size_t task_of(reading *in, const nst_sample *sample, const nst_result *result) {
  const json_t *known = json_object_get(in->report->task_index, sample->task_id);
  const size_t i = known ? (size_t)json_integer_value(known) : SIZE_MAX;
  if (i < in->nheld && in->held[i]) {
    const char *hash = result ? json_string_value(json_object_get(result->json, "content_hash")) : NULL;
    if (!hash || !strcmp(hash, in->report->tasks[i].hash)) return i;
    snprintf(in->error, NST_REPORT_ERROR,
             "%.100s has a result of another task named %.100s than the tasks given, as of another seed (content_hash); "
             "give the tasks that it was judged by",
             in->file->name, sample->task_id);
    in->failed = true;
    return SIZE_MAX;
  }
  snprintf(in->error, NST_REPORT_ERROR,
           "%.100s has samples of task %.100s but not the task itself; give the tasks with --tasks", in->file->name,
           sample->task_id);
  in->failed = true;
  return SIZE_MAX;
}

static void add_step(reading *in, size_t task, const nst_sample *sample, const nst_result *result) {
  nst_report *r = in->report;
  r->steps = more(r->steps, r->nsteps, sizeof *r->steps);
  r->steps[r->nsteps++] =
    (nst_report_step){.task = task,
                      .file = in->at,
                      .parent = SIZE_MAX,
                      .sample_id = copy(sample->sample_id),
                      .parent_id = copy(json_string_value(json_object_get(sample->json, "parent_sample_id"))),
                      .arm = copy(json_string_value(json_object_get(sample->json, "arm"))),
                      .judged = result && result->outcome != NST_OUTCOME_INFRA_ERROR,
                      .passed = result && result->passed};
}

/* Which version judged; files of several have been judged in part again. */
static void note_grader(nst_report_file *file, const nst_result *result) {
  note_one(&file->facts[NST_FACT_GRADER], json_string_value(json_object_get(result->json, "grader_version")));
}

static void replace(char **of, const char *text) {
  free(*of);
  *of = copy(text);
}

/* When it was answered, and by what. */
static void note_sample(nst_report_file *file, const json_t *sample) {
  const char *at = json_string_value(json_object_get(sample, "answered_at")),
             *served = json_string_value(json_object_get(sample, "served_model")),
             *print = json_string_value(json_object_get(sample, "system_fingerprint"));
  char **first = &file->facts[NST_FACT_FIRST], **last = &file->facts[NST_FACT_LAST];
  if (at && (!*first || strcmp(at, *first) < 0)) replace(first, at);
  if (at && (!*last || strcmp(at, *last) > 0)) replace(last, at);
  if (served) list(&file->facts[NST_FACT_SERVED], served);
  if (print) list(&file->facts[NST_FACT_SERVED], print);
}

/* What the sample says of its error, else what the grader says. */
static void add_reason(reading *in, size_t task, const nst_sample *sample, const nst_result *result) {
  if (in->report->tasks[task].hidden) return;
  const json_t *said = result ? json_array_get(json_object_get(result->json, "diagnostics"), 0) : NULL;
  const char *text = sample->error ? sample->error : json_string_value(json_object_get(said, "message"));
  if (text) nst_reasons_add(&in->system->reasons, text);
}

static bool take_sample(void *context, const nst_sample *sample, const nst_result *result) {
  reading *in = context;
  nst_report_system *s = in->system;
  const size_t task = task_of(in, sample, result);
  if (in->failed) return false;
  in->samples++;
  nst_report_cell *cell = &s->cells[task];
  const size_t number = in->file->first_run + in->counts[task]++;
  while (s->nruns <= number) s->runs = more(s->runs, s->nruns++, sizeof *s->runs);
  add_usage(&s->usage, sample->json);
  note_sample(in->file, sample->json);
  if (result && nst_alike_counts(sample, result)) add_likeness(cell, sample);
  add_step(in, task, sample, result);
  if (!result && !sample->error) {
    cell->ungraded++;
    s->ungraded++;
    return true;
  }
  /* What never came is no more when it is judged. */
  s->outcomes[result ? result->outcome : NST_OUTCOME_INFRA_ERROR]++;
  if (result) note_grader(in->file, result);
  if (!result || result->outcome == NST_OUTCOME_INFRA_ERROR) {
    cell->errors++;
    add_reason(in, task, sample, result);
    return true;
  }
  cell->answered++;
  cell->passed += result->passed;
  cell->truncated += result->outcome == NST_OUTCOME_TRUNCATED;
  cell->score += fmin(1, fmax(0, result->score));
  s->runs[number].answered++;
  s->runs[number].passed += result->passed;
  if (result->outcome != NST_OUTCOME_TRUNCATED) {
    const char *key;
    json_t *right;
    const nst_report_task *of = &in->report->tasks[task];
    json_object_foreach(result->sub, key, right) nst_parts_add(s, of->kind, of->level, key, json_is_true(right));
  }
  if (!result->passed) add_example(in, task, sample, result);
  return true;
}

static bool take_revision(void *context, const nst_sample *sample, const nst_result *result) {
  reading *in = context;
  const size_t task = task_of(in, sample, result);
  if (in->failed) return false;
  add_usage(&in->system->revised, sample->json);
  note_sample(in->file, sample->json);
  add_step(in, task, sample, result);
  return true;
}

/* ---- files ---------------------------------------------------------------- */

typedef struct {
  char *model, *sampling;
} first_words;

/* What a sample says of its model, for files without facts. */
static bool take_words(void *context, const nst_sample *sample, const nst_result *result) {
  (void)result;
  first_words *words = context;
  words->model = copy(json_string_value(json_object_get(sample->json, "model")));
  words->sampling = value_copy(json_object_get(sample->json, "sampling"));
  return false;
}

static bool same(const char *a, const char *b) { return a == b || (a && b && !strcmp(a, b)); }

static nst_report_system *system_of(nst_report *r, nst_report_file *file) {
  for (size_t i = 0; i < r->nsystems; i++) {
    bool equal = true;
    for (int f = 0; f < NST_FACT_COUNT; f++)
      equal = equal && (!facts[f].key || same(r->systems[i].facts[f], file->facts[f]));
    if (equal) return file->system = i, &r->systems[i];
  }
  r->systems = more(r->systems, r->nsystems, sizeof *r->systems);
  nst_report_system *s = &r->systems[r->nsystems];
  for (int f = 0; f < NST_FACT_COUNT; f++) s->facts[f] = copy(file->facts[f]);
  /* A name that no other system has: the model's, with what else tells them apart. */
  const char *model = s->facts[NST_FACT_MODEL];
  const char *form = nst_report_has_grammar(s) ? s->facts[NST_FACT_GRAMMAR] : "";
  const size_t size = strlen(model) + strlen(form) + 48;
  char *base = nst_memory_new(size, 1), *name = nst_memory_new(size, 1);
  const bool unnamed = !strcmp(form, "1") || !strcmp(form, "true"); /* that there is one, and no more */
  if (*form)
    sprintf(base, "%s (grammar%s%s)", model, unnamed ? "" : ": ", unnamed ? "" : form);
  else
    strcpy(base, model);
  strcpy(name, base);
  for (size_t i = 0, n = 1; i < r->nsystems; i++)
    if (!strcmp(r->systems[i].name, name)) sprintf(name, "%s (%zu)", base, ++n), i = SIZE_MAX;
  free(base);
  s->name = name;
  return file->system = r->nsystems++, s;
}

/* Grammar and what it is are of the sampling, but a dimension of their own here: two systems may differ in nothing
 * else. */
static void split_grammar(nst_report_file *file) {
  char **sampling = &file->facts[NST_FACT_SAMPLING];
  json_t *json = *sampling ? json_loads(*sampling, JSON_ALLOW_NUL, NULL) : NULL;
  const char *grammar = json_string_value(json_object_get(json, "grammar"));
  if (grammar) {
    free(file->facts[NST_FACT_GRAMMAR]);
    file->facts[NST_FACT_GRAMMAR] = copy(grammar);
    json_object_del(json, "grammar");
    json_object_del(json, "grammar_hash");
    free(*sampling);
    *sampling = value_copy(json);
  }
  json_decref(json);
}

static void read_facts(reading *in, nst_runfile *run) {
  nst_report_file *file = in->file;
  for (int f = 0; f < NST_FACT_COUNT; f++) {
    const char *text = nst_runfile_get(run, facts[f].name);
    if (text && *text) file->facts[f] = copy(text);
  }
  /* Of the tasks that were asked, whatever file they are the first ones of. */
  char hash[NST_DIGEST_TEXT], *pinned = file->facts[NST_FACT_TASKS_HASH];
  nst_digest_text(hash, (const nst_digest_part[]){{nestor_buffer_data(in->text), nestor_buffer_size(in->text)}}, 1);
  file->part = pinned && strcmp(pinned, hash);
  replace(&file->facts[NST_FACT_TASKS_HASH], hash);
  replace(&file->facts[NST_FACT_SYSTEM_HASH], in->system_hash);
  replace(&file->facts[NST_FACT_SPLIT], in->split);
  if (!file->facts[NST_FACT_SUITE]) file->facts[NST_FACT_SUITE] = copy(in->suite);
  const char *total = file->part ? nst_runfile_get(run, "tasks_total") : NULL;
  file->total = total ? strtoull(total, NULL, 10) : 0;
  const char *samples = nst_runfile_get(run, "samples");
  file->samples = samples ? strtoull(samples, NULL, 10) : 0;
  if (file->samples > UINT32_MAX) file->samples = 0;
  if (!file->facts[NST_FACT_MODEL]) {
    first_words words = {NULL, NULL};
    char ignored[NST_RUNFILE_ERROR];
    nst_runfile_each_sample(run, take_words, &words, ignored);
    file->facts[NST_FACT_MODEL] = words.model ? words.model : copy(file->name);
    if (file->facts[NST_FACT_SAMPLING])
      free(words.sampling);
    else
      file->facts[NST_FACT_SAMPLING] = words.sampling;
  }
  split_grammar(file);
}

/* Every task of the file was to have as many samples as the run says, or as any of them has. */
static void expect_samples(reading *in) {
  size_t most = in->file->samples;
  for (size_t i = 0; i < in->report->ntasks; i++)
    if (in->counts[i] > most) most = in->counts[i];
  in->file->samples = most;
  for (size_t i = 0; i < in->nheld && i < in->report->ntasks; i++) {
    if (!in->held[i]) continue;
    in->file->tasks++;
    in->system->cells[i].expected += most;
    in->system->missing += most - in->counts[i];
    in->system->samples += most;
  }
}

bool nst_report_add(nst_report *r, const char *name, nst_runfile *run, char error[NST_REPORT_ERROR]) {
  r->files = more(r->files, r->nfiles, sizeof *r->files);
  nst_report_file *file = &r->files[r->nfiles];
  reading in = {.report = r, .file = file, .error = error, .at = r->nfiles++};
  file->name = copy(name);
  in.text = nestor_buffer_new();
  const size_t before = r->ntasks;
  bool ok = nst_runfile_each_task(run, take_task, &in, error) && !in.failed;
  /* Cells of systems that are there, for the tasks that are new. */
  for (size_t i = 0; ok && i < r->nsystems && r->ntasks > before; i++) {
    r->systems[i].cells = nst_memory_grow(r->systems[i].cells, r->ntasks, sizeof *r->systems[i].cells);
    memset(r->systems[i].cells + before, 0, (r->ntasks - before) * sizeof *r->systems[i].cells);
  }
  if (ok) {
    read_facts(&in, run);
    in.system = system_of(r, file);
    if (!in.system->cells) in.system->cells = nst_memory_new(r->ntasks, sizeof *in.system->cells);
    file->first_run = in.system->nruns;
    in.counts = nst_memory_new(r->ntasks, sizeof *in.counts);
    ok = nst_runfile_each_sample(run, take_sample, &in, error) && !in.failed;
    const size_t first = r->nsteps;
    if (ok) ok = nst_runfile_each_revision(run, take_revision, &in, error) && !in.failed;
    if (ok && r->nsteps == first) { /* no revisions: the steps of this file say nothing */
      while (r->nsteps && r->steps[r->nsteps - 1].file == in.at) {
        nst_report_step *s = &r->steps[--r->nsteps];
        free(s->sample_id), free(s->parent_id), free(s->arm);
      }
    }
    if (ok && !in.samples) {
      snprintf(error, NST_REPORT_ERROR, "%.200s holds no samples: there is nothing to report", name);
      ok = false;
    }
    if (ok) expect_samples(&in);
  }
  nestor_buffer_free(in.text);
  free(in.suite);
  free(in.system_hash);
  free(in.split);
  free(in.held);
  free(in.counts);
  return ok;
}

size_t nst_report_ungraded(const nst_report *r) {
  size_t n = 0;
  for (size_t i = 0; i < r->nsystems; i++) n += r->systems[i].ungraded;
  return n;
}
