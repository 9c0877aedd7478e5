/* Loading tasks and keys into a grader. */
#include "bench/cli/grading.h"

#include "bench/cli/bench.h"
#include "bench/record/lines.h"

#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  nst_grading *grading;
  const char *path;
  bool good;
  size_t tasks, known, foreign, bad;
  char first[100]; /* task of the first key of none of the tasks */
  json_t *without; /* ids of tasks whose key has not come */
  bench_key_fault *tell;
  void *context;
} loader;

static bool add_task(void *context, nst_task *task) {
  loader *l = context;
  char error[NST_RECORD_ERROR];
  l->tasks++;
  json_object_set_new(l->without, task->task_id, json_true());
  if (nst_grading_add_task(l->grading, task, error)) return true;
  cli_say("%s: %s", cli_display_name(l->path), error);
  return l->good = false, true;
}

static bool add_key(void *context, nst_key *key) {
  loader *l = context;
  char error[NST_RECORD_ERROR], id[200];
  if (!nst_grading_task(l->grading, key->task_id)) {
    if (!l->foreign++) snprintf(l->first, sizeof l->first, "%s", key->task_id);
    nst_key_fini(key);
    return true;
  }
  l->known += json_object_del(l->without, key->task_id) == 0;
  snprintf(id, sizeof id, "%s", key->task_id);
  if (nst_grading_add_key(l->grading, key, error)) return true;
  if (l->tell) return l->tell(l->context, id, error), true;
  if (!l->bad++) cli_say("%s: the key of %s: %s", cli_display_name(l->path), id, error);
  return l->good = false, true;
}

nst_grading *bench_grading_new(int *code, const nst_grading_options *options, const char *tasks, const char *key) {
  return bench_grading_new_telling(code, options, tasks, key, NULL, NULL);
}

static void tell_missing(const loader *l) {
  const char *id;
  json_t *value;
  json_object_foreach(l->without, id, value) l->tell(l->context, id, "its key is missing");
}

nst_grading *bench_grading_new_telling(int *code, const nst_grading_options *options, const char *tasks, const char *key,
                                       bench_key_fault *tell, void *context) {
  char error[NST_RECORD_ERROR];
  nst_grading *grading = nst_grading_new(options, error);
  *code = CLI_IO;
  if (!grading) return cli_say("%s", error), NULL;
  loader l = {.grading = grading, .path = tasks, .good = true, .without = json_object(), .tell = tell, .context = context};
  bool good = bench_each_task(tasks, add_task, &l) && l.good;
  l.path = key;
  good = good && bench_each_key(key, add_key, &l) && l.good;
  if (l.bad > 1) cli_say("%s: %zu more keys are bad", cli_display_name(key), l.bad - 1);
  if (good && l.foreign && !l.known)
    cli_say("%s is the key of other tasks: its first is of %s, and none is of a task in %s", cli_display_name(key), l.first,
            cli_display_name(tasks));
  else if (good && l.foreign)
    cli_say("%s: %zu keys are of tasks that are not in %s, the first of %s; give the key that was made with the tasks", cli_display_name(key),
            l.foreign, cli_display_name(tasks), l.first);
  else if (good && !tell && l.known < l.tasks)
    cli_say("%s: %zu of the %zu tasks in %s have no key; give the key that was made with the tasks", cli_display_name(key), l.tasks - l.known,
            l.tasks, cli_display_name(tasks));
  else if (good) {
    if (tell) tell_missing(&l);
    json_decref(l.without);
    return grading;
  }
  json_decref(l.without);
  nst_grading_free(grading);
  return NULL;
}
