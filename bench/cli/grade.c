/* nestor bench grade: samples in, results out, one line each.
 *
 * What has arrived is judged together, up to a bound; its results are written, in order, before more is waited for. So a pipe that sends one line gets one
 * back at once, and a file keeps all workers busy. A line that cannot be judged gets a line that says so; nothing ends the run. */
#include "bench/cli/bench.h"
#include "bench/cli/grading.h"
#include "bench/record/digest.h"
#include "bench/record/lines.h"
#include "bench/record/memory.h"

#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 512, MOST_BYTES = 1 << 26, LONGEST_LINE = 1 << 28 };

/* ---- which samples there were --------------------------------------------- */

typedef struct { uint64_t high, low; } mark; /* half a digest; zeros: free */
typedef struct { mark *marks; size_t n, capacity; } marks;

static bool add_mark(marks *set, mark m) {
  if (2 * set->n >= set->capacity) {
    marks old = *set;
    *set = (marks){.capacity = old.capacity ? 2 * old.capacity : 1024};
    set->marks = nst_memory_new(set->capacity, sizeof *set->marks);
    for (size_t i = 0; i < old.capacity; i++)
      if (old.marks[i].low) add_mark(set, old.marks[i]);
    free(old.marks);
  }
  size_t i = (size_t)m.high & (set->capacity - 1);
  for (; set->marks[i].low; i = (i + 1) & (set->capacity - 1))
    if (set->marks[i].low == m.low && set->marks[i].high == m.high) return false;
  set->marks[i] = m;
  set->n++;
  return true;
}

/* false: a sample of this task and number was there before. */
static bool is_new(marks *set, const nst_sample *s) {
  uint8_t digest[NST_DIGEST_BYTES];
  nst_digest_parts(digest, (const nst_digest_part[]){{s->task_id, strlen(s->task_id) + 1}, {s->sample_id, strlen(s->sample_id)}}, 2);
  mark m;
  memcpy(&m, digest, sizeof m);
  m.low |= 1;
  return add_mark(set, m);
}

/* ---- batches -------------------------------------------------------------- */

typedef struct {
  nst_grading *grading;
  const char *output; /* NULL: standard output */
  int out;            /* -1: not yet open */
  marks seen;
  json_t *counts; /* task_id -> samples without a number so far */
  size_t n, nsamples, bytes;
  json_t *refusals[MOST]; /* of entry i; NULL: it is the next sample */
  nst_sample samples[MOST];
  nst_result results[MOST];
  uint64_t bad;
  char *text; /* of the results */
  size_t size, capacity;
} run;

static void put_line(run *r, const json_t *json) {
  size_t size;
  char *text = nst_record_text(json, &size);
  if (r->size + size + 1 > r->capacity) {
    r->capacity = 2 * (r->size + size + 1);
    r->text = nst_memory_grow(r->text, r->capacity, 1);
  }
  memcpy(r->text + r->size, text, size);
  r->text[r->size + size] = '\n';
  r->size += size + 1;
  free(text);
}

/* Old results are there until the first new one comes. */
static bool open_output(run *r) {
  if (r->out < 0 && (r->out = open(r->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) < 0)
    return cli_say("cannot write %s: %s", r->output, strerror(errno)), false;
  return true;
}

/* false: what was written cannot be written. */
static bool flush(run *r) {
  nst_grading_run(r->grading, r->results, r->samples, r->nsamples);
  size_t k = 0;
  for (size_t i = 0; i < r->n; i++) {
    if (!r->refusals[i]) {
      put_line(r, r->results[k].json);
      nst_result_fini(&r->results[k]);
      nst_sample_fini(&r->samples[k++]);
    } else {
      put_line(r, r->refusals[i]);
      json_decref(r->refusals[i]);
    }
  }
  const bool opened = open_output(r), ok = opened && cli_write_all(r->out, r->text, r->size);
  if (opened && !ok && r->output) cli_say("cannot write the results: %s", strerror(errno));
  else if (opened && !ok) cli_output_failed(errno);
  r->n = r->nsamples = r->bytes = r->size = 0;
  return ok;
}

static void refuse(run *r, const char *path, const nst_sample *s, uint64_t line, const char *why) {
  cli_say("%s:%llu: %s", cli_display_name(path), (unsigned long long)line, why);
  r->refusals[r->n++] = nst_grading_refusal(r->grading, s, line, why);
  r->bad++;
}

/* Samples without a number are numbered in the order of their task. */
static void number(run *r, nst_sample *s) {
  if (json_is_string(json_object_get(s->json, "sample_id"))) return;
  const json_int_t n = json_integer_value(json_object_get(r->counts, s->task_id));
  json_object_set_new(r->counts, s->task_id, json_integer(n + 1));
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)n);
  json_t *id = json_string(text);
  json_object_set_new(s->json, "sample_id", id);
  s->sample_id = json_string_value(id);
}

static void take(run *r, const char *path, const nst_line *line) {
  char error[NST_RECORD_ERROR];
  nst_sample *s = &r->samples[r->nsamples];
  r->bytes += line->size;
  if (!nst_grading_read(s, line->text, line->size, error)) {
    refuse(r, path, NULL, line->number, error);
    return;
  }
  number(r, s);
  if (!nst_grading_task(r->grading, s->task_id)) {
    snprintf(error, sizeof error, "there is no task %.150s", s->task_id);
    refuse(r, path, s, line->number, error);
  } else if (!is_new(&r->seen, s)) {
    snprintf(error, sizeof error, "sample %.60s of task %.120s was there before", s->sample_id, s->task_id);
    refuse(r, path, s, line->number, error);
  } else {
    r->refusals[r->n++] = NULL;
    r->nsamples++;
    return;
  }
  nst_sample_fini(s);
}

/* The exit code of one file. */
static int judge(run *r, const char *path) {
  const bool input = !strcmp(path, "-");
  const int fd = input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cli_say("cannot open %s: %s", path, strerror(errno)), CLI_IO;
  nst_lines *lines = nst_lines_new(fd, LONGEST_LINE);
  nst_line line;
  nst_line_status status;
  int code = CLI_GOOD;
  while (code == CLI_GOOD && (status = nst_lines_next(lines, &line)) != NST_LINE_END) {
    if (status == NST_LINE_FAILED) {
      cli_say("cannot read %s: %s", cli_display_name(path), strerror(errno));
      code = CLI_IO;
      break;
    }
    if (line.number == 1 && !input && bench_is_run_file(line.text, line.size)) {
      cli_say("%s is a run file: `nestor bench run` and `revise` judge it with --key, and docs/bench-run.md has how to get its samples",
              cli_display_name(path));
      code = CLI_IO;
      break;
    }
    if (status == NST_LINE_TOO_LONG) refuse(r, path, NULL, line.number, "it is longer than 256 MiB");
    else take(r, path, &line);
    if ((r->n == MOST || r->bytes > MOST_BYTES || !nst_lines_ready(lines)) && !flush(r)) code = CLI_IO;
  }
  if (r->n && !flush(r)) code = CLI_IO;
  nst_lines_free(lines);
  if (!input) close(fd);
  return code;
}

int bench_grade(int argc, char **argv) {
  const char *tasks = NULL, *key = NULL, *output = NULL, *worker = NULL;
  uint64_t workers = 0;
  bool timing = false;
  const bench_option options[] = {
    {"tasks", 't', BENCH_TEXT, &tasks, "FILE", "tasks that bench gen wrote"},
    {"key", 'k', BENCH_TEXT, &key, "FILE", "the answers to them, of bench gen --key"},
    {"output", 'o', BENCH_TEXT, &output, "FILE", "where results go; standard output where it is not given"},
    {"workers", 'w', BENCH_WHOLE, &workers, "N", "worker processes; one per processor where it is not given"},
    {"timing", 0, BENCH_FLAG, &timing, NULL, "add grade_us, which differs from run to run"},
    {"worker", 0, BENCH_TEXT, &worker, "FILE", "another program as worker (the installed one)"},
    {0}};
  const bench_usage usage = {
    "--tasks FILE --key FILE [OPTIONS] [samples.jsonl...]",
    "Judges samples and writes one result a line, in their order, as soon as what has arrived is judged. Reads standard\n"
    "input where no file is named. Without --timing the same input gives the same bytes. A line that is no sample, of an\n"
    "unknown task, or of a sample that was there before gives a line with outcome infra_error, and exit code 1.\n\n"
    "  echo '{\"task_id\": \"mine/dev/qa.compare/1/0\", \"sample_id\": \"0\", \"completion\": \"answer: A\"}' > samples.jsonl\n"
    "  nestor bench grade --tasks tasks.jsonl --key key.jsonl samples.jsonl > results.jsonl\n", options};
  bench_texts files;
  int code = bench_options("grade", &usage, argc, argv, &files);
  if (code >= 0) return free(files.items), code;
  if (!tasks || !key) {
    cli_say("--%s is missing; `nestor bench grade --help` shows what is needed", tasks ? "key" : "tasks");
    return free(files.items), CLI_WRONG_USAGE;
  }
  if (output && !strcmp(output, "-")) output = NULL;
  static const char *const input[] = {"-"};
  if (!cli_apart(output, (const char *const[]){tasks, key}, 2) ||
      !cli_apart(output, files.n ? (const char *const *)files.items : input, files.n ? files.n : 1))
    return free(files.items), CLI_WRONG_USAGE;
  run *r = nst_memory_new(1, sizeof *r);
  r->output = output;
  r->out = output ? -1 : STDOUT_FILENO;
  r->counts = json_object();
  r->grading = bench_grading_new(&code, &(nst_grading_options){(int)(workers > 4096 ? 4096 : workers), worker, timing}, tasks, key);
  if (r->grading) {
    code = CLI_GOOD;
    if (output && !cli_can_write(output)) code = CLI_IO;
    if (code == CLI_GOOD && !files.n) code = judge(r, "-");
    for (size_t i = 0; code == CLI_GOOD && i < files.n; i++) code = judge(r, files.items[i]);
    if (code == CLI_GOOD && !open_output(r)) code = CLI_IO;
    if (output && r->out >= 0 && close(r->out) && code == CLI_GOOD) {
      cli_say("cannot write %s: %s", output, strerror(errno));
      code = CLI_IO;
    }
    if (code == CLI_GOOD && r->bad) code = CLI_PROGRAM;
  }
  nst_grading_free(r->grading);
  json_decref(r->counts);
  free(r->seen.marks);
  free(r->text);
  free(r);
  free(files.items);
  return code;
}
