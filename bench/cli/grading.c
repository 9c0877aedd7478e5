/* Loading tasks and keys into a grader. */
#include "bench/cli/grading.h"

#include "bench/cli/bench.h"
#include "bench/record/lines.h"

#include "cli/cli.h"

#include <string.h>

typedef struct { nst_grading *grading; const char *path; bool good; } loader;

static bool add_task(void *context, nst_task *task) {
  loader *l = context;
  char error[NST_RECORD_ERROR];
  if (nst_grading_add_task(l->grading, task, error)) return true;
  cli_say("%s: %s", cli_display_name(l->path), error);
  return l->good = false, true;
}

static bool add_key(void *context, nst_key *key) {
  loader *l = context;
  char error[NST_RECORD_ERROR], id[100];
  strncpy(id, key->task_id, sizeof id - 1);
  id[sizeof id - 1] = '\0';
  if (nst_grading_add_key(l->grading, key, error)) return true;
  cli_say("%s: the key of %s: %s", cli_display_name(l->path), id, error);
  return l->good = false, true;
}

nst_grading *bench_grading_new(int *code, const nst_grading_options *options, const char *tasks, const char *key) {
  char error[NST_RECORD_ERROR];
  nst_grading *grading = nst_grading_new(options, error);
  *code = CLI_IO;
  if (!grading) return cli_say("%s", error), NULL;
  loader l = {grading, tasks, true};
  bool good = bench_each_task(tasks, add_task, &l);
  l.path = key;
  good = bench_each_key(key, add_key, &l) && good && l.good;
  if (good) return grading;
  nst_grading_free(grading);
  return NULL;
}
