/* nestor bench demo: from a seed to a report without a model and without a network.
 *
 * A small suite of all kinds and levels, scripted models that answer it, the grader, run files, a page: what `bench
 * gen`, `bench run`, `bench grade` and `bench report` do, in one process. The same bytes each time. */
#include "bench/cli/bench.h"
#include "bench/grade/grade.h"
#include "bench/record/digest.h"
#include "bench/record/memory.h"
#include "bench/record/text.h"
#include "bench/report/report.h"
#include "bench/run/runfile.h"
#include "bench/scripted/script.h"
#include "bench/tasks/generate.h"

#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
  const char *directory, *tasks_path, *key_path, *models;
  unsigned scripts; /* a set of 1 << nst_script */
  uint64_t count, samples, seed;
  bool force;
  nst_task *tasks;
  nst_key *keys;
  size_t ntasks, nkeys;
  char hash[NST_DIGEST_TEXT];
  nst_grading *grading;
  nst_report *report;
  char error[NST_RUNFILE_ERROR];
} demo;

static char *path_in(const demo *d, const char *name) {
  char *path = nst_memory_new(strlen(d->directory) + strlen(name) + 2, 1);
  sprintf(path, "%s/%s", d->directory, name);
  return path;
}

/* What marks a directory as a demonstration's, so that no other file is overwritten. */
static const char marker[] = ".nestor-demo";

/* Makes the directory, or sees that it is empty or a demonstration's. */
static bool take_directory(const demo *d) {
  if (mkdir(d->directory, 0777) != 0 && errno != EEXIST)
    return cli_say("cannot make %s: %s", d->directory, strerror(errno)), false;
  DIR *dir = opendir(d->directory);
  if (!dir) return cli_say("cannot read %s: %s", d->directory, strerror(errno)), false;
  bool ours = false;
  char other[256] = "";
  for (const struct dirent *e; (e = readdir(dir));) {
    if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
    if (!strcmp(e->d_name, marker)) ours = true;
    /* the first by name, whatever the order of the directory */
    if (!*other || strcmp(e->d_name, other) < 0) snprintf(other, sizeof other, "%s", e->d_name);
  }
  closedir(dir);
  if (ours || !*other || d->force) return true;
  cli_say("%s holds files that no demonstration wrote (%s is one): give another directory with -o DIR, or --force to "
          "overwrite",
          d->directory, cli_display_name(other));
  return false;
}

static bool write_file(const demo *d, const char *name, const nestor_buffer *text) {
  char *path = path_in(d, name);
  const int code = cli_write_file(path, nestor_buffer_data(text), nestor_buffer_size(text));
  free(path);
  return code == CLI_GOOD;
}

/* ---- the suite ------------------------------------------------------------ */

static bool keep(void *context, const json_t *task, const json_t *key) {
  demo *d = context;
  d->tasks = nst_memory_grow(d->tasks, d->ntasks + 1, sizeof *d->tasks);
  d->keys = nst_memory_grow(d->keys, d->ntasks + 1, sizeof *d->keys);
  if (!nst_task_take(&d->tasks[d->ntasks], json_deep_copy(task), d->error)) return false;
  if (!nst_key_take(&d->keys[d->ntasks], json_deep_copy(key), d->error))
    return nst_task_fini(&d->tasks[d->ntasks]), false;
  d->ntasks++;
  d->nkeys++;
  return true;
}

static void add_line(nestor_buffer *out, const json_t *json) {
  size_t size;
  char *text = nst_record_text(json, &size);
  nestor_buffer_append(out, text, size);
  nestor_buffer_append(out, "\n", 1);
  free(text);
}

/* Those of files in place of a suite of its own. A key that has no task is an error; a task that has none fails later.
 */
static bool keep_task(void *context, nst_task *task) {
  demo *d = context;
  d->tasks = nst_memory_grow(d->tasks, d->ntasks + 1, sizeof *d->tasks);
  d->tasks[d->ntasks++] = *task;
  return true;
}

static bool keep_key(void *context, nst_key *key) {
  demo *d = context;
  d->keys = nst_memory_grow(d->keys, d->nkeys + 1, sizeof *d->keys);
  d->keys[d->nkeys++] = *key;
  return true;
}

static bool read_suite(demo *d) {
  if (!bench_each_task(d->tasks_path, keep_task, d) || !bench_each_key(d->key_path, keep_key, d)) return false;
  bool same = d->ntasks == d->nkeys && d->ntasks;
  for (size_t i = 0; i < d->ntasks && same; i++) {
    char commit[NST_DIGEST_TEXT];
    nst_answer_commit(commit, d->keys[i].salt, d->keys[i].answer);
    same = !strcmp(d->tasks[i].task_id, d->keys[i].task_id) && !strcmp(d->tasks[i].answer_commit, commit);
  }
  if (!same) cli_say("%s and %s are not tasks and keys of each other, in the same order", d->tasks_path, d->key_path);
  return same;
}

static bool generate_suite(demo *d) {
  const nst_suite_options options = {.suite = "demo",
                                     .seed = d->seed,
                                     .split = NST_SPLIT_DEV,
                                     .count = (size_t)d->count,
                                     .kinds = (1u << NST_KIND_COUNT) - 1,
                                     .levels = ((1u << NST_LEVELS) - 1) << 1,
                                     .examples = NST_SUITE_DEFAULT_EXAMPLES,
                                     .quick = true};
  char why[NST_RECORD_ERROR] = "";
  return nst_suite_generate(&options, keep, d, why) || (cli_say("%s", *why ? why : d->error), false);
}

static bool make_suite(demo *d) {
  if (d->tasks_path ? !read_suite(d) : !generate_suite(d)) return false;
  nestor_buffer *tasks = nestor_buffer_new(), *keys = nestor_buffer_new();
  for (size_t i = 0; i < d->ntasks; i++) add_line(tasks, d->tasks[i].json), add_line(keys, d->keys[i].json);
  nst_digest_text(d->hash, (const nst_digest_part[]){{nestor_buffer_data(tasks), nestor_buffer_size(tasks)}}, 1);
  const bool good = write_file(d, "tasks.jsonl", tasks) && write_file(d, "key.jsonl", keys);
  nestor_buffer_free(tasks);
  nestor_buffer_free(keys);
  return good;
}

static bool begin_grading(demo *d) {
  char why[NST_RECORD_ERROR];
  d->grading = nst_grading_new(&(nst_grading_options){0}, why);
  for (size_t i = 0; d->grading && i < d->ntasks; i++) {
    nst_task task;
    nst_key key;
    if (!nst_task_take(&task, json_deep_copy(d->tasks[i].json), why) || !nst_grading_add_task(d->grading, &task, why) ||
        !nst_key_take(&key, json_deep_copy(d->keys[i].json), why) || !nst_grading_add_key(d->grading, &key, why))
      return cli_say("%s", why), false;
  }
  if (!d->grading) cli_say("%s", why);
  return d->grading != NULL;
}

/* ---- a model -------------------------------------------------------------- */

static bool put_facts(demo *d, nst_runfile *run, nst_script script) {
  char samples[24];
  snprintf(samples, sizeof samples, "%" PRIu64, d->samples);
  const struct {
    const char *name, *value;
  } facts[] = {{"model", nst_script_name(script)},
               {"dialect", "scripted"},
               {"suite", d->tasks[0].suite},
               {"tasks_hash", d->hash},
               {"sampling", nst_script_is_fixed(script) ? "{\"temperature\":0}" : "{\"temperature\":1}"},
               {"samples", samples}};
  bool ok = true;
  for (size_t i = 0; i < sizeof facts / sizeof *facts && ok; i++)
    ok = nst_runfile_put(run, facts[i].name, facts[i].value, d->error);
  for (size_t i = 0; i < d->ntasks && ok; i++) ok = nst_runfile_put_task(run, i, &d->tasks[i], d->error);
  return ok;
}

/* Sample `number` of one that is always the same. */
static void repeat(nst_sample *out, const nst_sample *first, uint64_t number) {
  char id[24], ignored[NST_RECORD_ERROR];
  snprintf(id, sizeof id, "%" PRIu64, number);
  json_t *json = json_copy(first->json);
  json_object_set_new(json, "sample_id", json_string(id));
  nst_sample_take(out, json, ignored);
}

static bool ask_and_judge(demo *d, nst_runfile *run, nst_script script) {
  const size_t n = d->ntasks * (size_t)d->samples;
  nst_sample *samples = nst_memory_new(n, sizeof *samples);
  nst_result *results = nst_memory_new(n, sizeof *results);
  for (size_t i = 0; i < n; i++) {
    const uint64_t number = i % d->samples;
    const size_t task = i / (size_t)d->samples;
    if (number && nst_script_is_fixed(script))
      repeat(&samples[i], &samples[i - number], number);
    else
      nst_script_answer(&samples[i], script, &d->tasks[task], &d->keys[task], number);
  }
  nst_grading_run(d->grading, results, samples, n);
  bool ok = true;
  for (size_t i = 0; i < n; i++) {
    ok = ok && nst_runfile_put_sample(run, &samples[i], "scripted", d->error) &&
         nst_runfile_put_result(run, &results[i], d->error);
    nst_sample_fini(&samples[i]);
    nst_result_fini(&results[i]);
  }
  free(samples);
  free(results);
  return ok;
}

static bool run_model(demo *d, nst_script script) {
  char name[64];
  snprintf(name, sizeof name, "%s.run", nst_script_name(script));
  char *path = path_in(d, name);
  if (unlink(path) != 0 && errno != ENOENT) {
    cli_say("cannot replace %s: %s", path, strerror(errno));
    free(path);
    return false;
  }
  nst_runfile *run = nst_runfile_open(path, true, d->error);
  const bool ok = run && nst_runfile_begin(run, d->error) && put_facts(d, run, script) &&
                  ask_and_judge(d, run, script) && nst_runfile_commit(run, d->error) &&
                  nst_report_add(d->report, name, run, d->error);
  if (!ok) cli_say("%s", d->error);
  nst_runfile_free(run);
  free(path);
  return ok;
}

/* ---- the command ---------------------------------------------------------- */

/* " of all kinds and levels", or those that a short suite comes to: kinds take turns first, and levels begin at 1. */
static void say_extent(nestor_buffer *out, const demo *d) {
  unsigned kinds = 0, nkinds = 0;
  int top = 1;
  for (size_t i = 0; i < d->ntasks; i++) {
    nkinds += !(kinds >> d->tasks[i].kind & 1);
    kinds |= 1u << d->tasks[i].kind;
    if (d->tasks[i].level > top) top = d->tasks[i].level;
  }
  const bool all = nkinds == NST_KIND_COUNT;
  if (all && top == NST_LEVELS) {
    nst_text_add(out, " of all kinds and levels");
    return;
  }
  if (all)
    nst_text_add(out, " of all kinds");
  else
    nst_text_add(out, " of %u kind%s", nkinds, nkinds == 1 ? "" : "s");
  if (top == 1)
    nst_text_add(out, ", of level 1 alone");
  else
    nst_text_add(out, ", of levels 1 to %d", top);
}

static bool all_of_it(demo *d) {
  static const char mark[] = "`nestor bench demo` wrote this directory; the next one replaces its files.\n";
  if (!take_directory(d)) return false;
  char *path = path_in(d, marker);
  const bool marked = cli_write_file(path, mark, sizeof mark - 1) == CLI_GOOD;
  free(path);
  if (!marked) return false;
  if (!make_suite(d) || !begin_grading(d)) return false;
  d->report = nst_report_new(&(nst_report_options){.examples = 3});
  int models = 0;
  for (int script = 0; script < NST_SCRIPT_COUNT; script++) {
    if (!(d->scripts >> script & 1)) continue;
    models++;
    if (!run_model(d, (nst_script)script)) return false;
  }
  nestor_buffer *text = nestor_buffer_new();
  nst_report_html(d->report, text);
  bool good = write_file(d, "report.html", text);
  nestor_buffer_clear(text);
  nst_report_text(d->report, text);
  good = good && write_file(d, "report.txt", text);
  nestor_buffer_clear(text);
  nst_text_add(text, "%zu task%s", d->ntasks, d->ntasks == 1 ? "" : "s");
  if (!d->tasks_path) say_extent(text, d);
  nst_text_add(text, ", %d scripted model%s, %" PRIu64 " sample%s of each task\n\n", models, models == 1 ? "" : "s", d->samples,
               d->samples == 1 ? "" : "s");
  nst_report_summary(d->report, text);
  const char *end = "The whole report, tasks, keys and run files are in ";
  nestor_buffer_append(text, end, strlen(end));
  nestor_buffer_append(text, d->directory, strlen(d->directory));
  nestor_buffer_append(text, "\n", 1);
  if (good) good = cli_output(&(cli_args){0}, text) == CLI_GOOD;
  nestor_buffer_free(text);
  return good;
}

/* NULL: all. */
static bool parse_models(unsigned *out, const char *text) {
  *out = text ? 0 : (1u << NST_SCRIPT_COUNT) - 1;
  for (const char *at = text; at && *at;) {
    char word[32];
    const size_t n = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s", (int)n, at);
    nst_script script;
    if (!nst_script_parse(&script, word)) {
      const char *words[NST_SCRIPT_COUNT + 1] = {0};
      for (int k = 0; k < NST_SCRIPT_COUNT; k++) words[k] = nst_script_name((nst_script)k);
      const char *near = cli_nearest(word, words);
      cli_say("there is no scripted model \"%s\"%s%s%s", word, near ? "; did you mean " : "", near ? near : "",
              near ? "?" : "");
      return false;
    }
    *out |= 1u << script;
    at += n + (at[n] == ',');
  }
  if (!*out) cli_say("--models is empty");
  return *out != 0;
}

int bench_demo(int argc, char **argv) {
  demo d = {.directory = "demo", .count = 160, .samples = 4, .seed = 1};
  const bench_option options[] = {
    {"output", 'o', BENCH_TEXT, &d.directory, "DIR", "where everything goes (default demo)"},
    {"count", 'n', BENCH_WHOLE, &d.count, "K", "tasks, round kinds and levels (default 160)"},
    {"samples", 0, BENCH_WHOLE, &d.samples, "N", "samples of each task (default 4)"},
    {"seed", 0, BENCH_WHOLE, &d.seed, "N", "seed of the suite (default 1)"},
    {"force", 0, BENCH_FLAG, &d.force, NULL, "write into a directory that holds other files"},
    {"tasks", 0, BENCH_TEXT, &d.tasks_path, "FILE", "these tasks in place of a suite of its own"},
    {"key", 'k', BENCH_TEXT, &d.key_path, "FILE", "their key"},
    {"models", 0, BENCH_TEXT, &d.models, "LIST", "which scripted models, as idle,coin (default all)"},
    {0}};
  const bench_usage usage = {"[-o DIR] [OPTIONS]",
                             "Shows the whole benchmark without a model and without a network: generates a small "
                             "suite, has scripted models answer it,\n"
                             "judges the answers and writes the report. The models: an oracle that is right; one that "
                             "believes that every loop outside a keep\n"
                             "loads everything again; one that takes every tile for a full box; a coin; one that is "
                             "right but cut off; one that does\n"
                             "nothing. What an earlier demonstration left in DIR is replaced; a directory that holds "
                             "other files is refused.\n",
                             options};
  bench_texts rest;
  int code = bench_options("demo", &usage, argc, argv, &rest);
  if (code < 0 && rest.n)
    cli_say("`nestor bench demo` takes no %s; the directory is -o DIR", rest.items[0]), code = CLI_WRONG_USAGE;
  if (code < 0 && (d.count < 1 || d.count > 10000)) cli_say("--count takes 1 to 10,000"), code = CLI_WRONG_USAGE;
  if (code < 0 && (d.samples < 1 || d.samples > 100)) cli_say("--samples takes 1 to 100"), code = CLI_WRONG_USAGE;
  if (code < 0 && !d.tasks_path != !d.key_path) cli_say("--tasks and --key go together"), code = CLI_WRONG_USAGE;
  if (code < 0 && !parse_models(&d.scripts, d.models)) code = CLI_WRONG_USAGE;
  if (code < 0) code = all_of_it(&d) ? CLI_GOOD : CLI_IO;
  for (size_t i = 0; i < d.ntasks; i++) nst_task_fini(&d.tasks[i]);
  for (size_t i = 0; i < d.nkeys; i++) nst_key_fini(&d.keys[i]);
  free(d.tasks);
  free(d.keys);
  free(rest.items);
  nst_grading_free(d.grading);
  nst_report_free(d.report);
  return code;
}
