/* Judging what a run file holds: batches of samples to the grader, results into the file. */
#include "bench/cli/judging.h"

#include "bench/record/memory.h"

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BATCH = 256 };

/* ---- keys ----------------------------------------------------------------- */

typedef struct {
  nst_grading *grading;
  json_t *known;
  bool ok;
} keys;

static bool take_key(void *context, nst_key *key) {
  keys *k = context;
  char error[NST_RECORD_ERROR], id[120];
  strncpy(id, key->task_id, sizeof id - 1);
  id[sizeof id - 1] = '\0';
  if (!nst_grading_task(k->grading, id)) return nst_key_fini(key), true; /* of another task */
  json_object_set_new(k->known, id, json_true());
  if (nst_grading_add_key(k->grading, key, error)) return true;
  cli_say("the file given as --key: the key of %s: %s", id, error);
  return k->ok = false;
}

nst_grading *bench_judging_new(const bench_asking *a, const char *key_path) {
  char error[NST_RECORD_ERROR];
  /* What was given may be a server's key by mistake: it is not repeated. */
  if (strcmp(key_path, "-") && access(key_path, R_OK) != 0)
    return cli_say("--key takes the file of answers that `nestor bench gen --key` wrote, and there is none of that "
                   "name; a server's key comes from NESTOR_API_KEY"),
           NULL;
  nst_grading *grading = nst_grading_new(&(nst_grading_options){0}, error);
  if (!grading) return cli_say("%s", error), NULL;
  bool ok = true;
  for (size_t i = 0; ok && i < a->ntasks; i++) {
    nst_task copy;
    ok = nst_task_take(&copy, json_incref(a->tasks[i].json), error) && nst_grading_add_task(grading, &copy, error);
    if (!ok) cli_say("task %.100s: %s", a->tasks[i].task_id, error);
  }
  keys k = {grading, json_object(), true};
  ok = ok && bench_each_key(key_path, take_key, &k) && k.ok;
  if (ok && !json_object_size(k.known)) {
    cli_say("the file given as --key holds answers to other tasks, and none to these; give the one that `nestor bench gen` wrote with them");
    ok = false;
  }
  for (size_t i = 0; ok && i < a->nasked; i++)
    if (!json_object_get(k.known, a->tasks[i].task_id)) {
      cli_say("the key file has no answer to task %s", a->tasks[i].task_id);
      ok = false;
    }
  json_decref(k.known);
  if (ok) return grading;
  nst_grading_free(grading);
  return NULL;
}

/* ---- results -------------------------------------------------------------- */

typedef struct {
  nst_runfile *run;
  nst_grading *grading;
  const char *version; /* of its results */
  size_t n;
  nst_sample samples[BATCH];
  char error[NST_RUNFILE_ERROR];
} batch;

static bool flush(batch *b) {
  nst_result results[BATCH];
  if (!b->n) return true;
  nst_grading_run(b->grading, results, b->samples, b->n);
  bool ok = nst_runfile_begin(b->run, b->error);
  for (size_t i = 0; i < b->n; i++) {
    ok = ok && nst_runfile_put_result(b->run, &results[i], b->error);
    nst_result_fini(&results[i]);
    nst_sample_fini(&b->samples[i]);
  }
  b->n = 0;
  return ok && nst_runfile_commit(b->run, b->error);
}

/* Whether this grader has judged it, as this task. */
static bool is_ours(const batch *b, const nst_task *task, const nst_result *result) {
  const char *version = json_string_value(json_object_get(result->json, "grader_version")),
             *hash = json_string_value(json_object_get(result->json, "content_hash"));
  return version && !strcmp(version, b->version) && (!hash || !strcmp(hash, task->content_hash));
}

static bool take_sample(void *context, const nst_sample *sample, const nst_result *result) {
  batch *b = context;
  char error[NST_RECORD_ERROR];
  const nst_task *task = nst_grading_task(b->grading, sample->task_id);
  if (!task) return true;
  /* What another grader has judged is judged again, and what no worker could judge; what never came is not. */
  if (result && is_ours(b, task, result) && (result->outcome != NST_OUTCOME_INFRA_ERROR || sample->error || !sample->completion)) return true;
  if (!result && !sample->error && !sample->completion) return true;
  if (nst_sample_take(&b->samples[b->n], json_incref(sample->json), error)) b->n++;
  return b->n < BATCH || flush(b);
}

int bench_judge(bench_asking *a, nst_grading *grading) {
  batch *b = nst_memory_new(1, sizeof *b);
  b->run = a->run;
  b->grading = grading;
  b->version = nst_grading_version(grading);
  const bool ok = nst_runfile_each_sample(a->run, take_sample, b, b->error) &&
                  nst_runfile_each_revision(a->run, take_sample, b, b->error) && !*b->error && flush(b);
  if (!ok) cli_say("%s", b->error);
  for (size_t i = 0; i < b->n; i++) nst_sample_fini(&b->samples[i]);
  free(b);
  return ok ? CLI_GOOD : CLI_IO;
}
