/* A run file in memory, from files of JSON Lines that other tools wrote. */
#include "bench/run/runfile.h"

#include "bench/record/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_LINE = 1 << 28 };

/* Puts one line; why: what is wrong with the line, or with the file where put_error is set. */
typedef bool put_line(nst_runfile *run, const nst_line *line, size_t position, char *why, char *put_error);

static bool put_task(nst_runfile *run, const nst_line *line, size_t position, char *why, char *put_error) {
  nst_task task;
  if (!nst_task_parse(&task, line->text, line->size, why)) return false;
  const bool ok = nst_runfile_put_task(run, position, &task, put_error);
  nst_task_fini(&task);
  return ok;
}

static bool is_result(void *there, const nst_sample *sample, const nst_result *result) {
  (void)sample;
  *(bool *)there = result != NULL;
  return true;
}

static bool put_sample(nst_runfile *run, const nst_line *line, size_t position, char *why, char *put_error) {
  (void)position;
  nst_sample sample;
  if (!nst_sample_parse(&sample, line->text, line->size, why)) return false;
  const char *hash = json_string_value(json_object_get(sample.json, "request_hash"));
  const bool twice = nst_runfile_has(run, sample.task_id, sample.sample_id, NULL);
  if (twice)
    snprintf(why, NST_RECORD_ERROR, "sample %.60s of task %.80s is there twice; number them by sample_id",
             sample.sample_id, sample.task_id);
  const bool ok = !twice && nst_runfile_put_sample(run, &sample, hash, put_error);
  nst_sample_fini(&sample);
  return ok;
}

static bool put_result(nst_runfile *run, const nst_line *line, size_t position, char *why, char *put_error) {
  (void)position;
  nst_result result;
  if (!nst_result_parse(&result, line->text, line->size, why)) return false;
  bool twice = false;
  bool ok = nst_runfile_find(run, result.task_id, result.sample_id, is_result, &twice, put_error);
  if (twice)
    snprintf(why, NST_RECORD_ERROR, "the result of sample %.60s of task %.80s is there twice", result.sample_id,
             result.task_id);
  ok = ok && !twice && nst_runfile_put_result(run, &result, put_error);
  nst_result_fini(&result);
  return ok;
}

static bool read_file(nst_runfile *run, const char *path, put_line *put, char *error) {
  if (!path) return true;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return snprintf(error, NST_RUNFILE_ERROR, "%.200s: %s", path, strerror(errno)), false;
  nst_lines *lines = nst_lines_new(fd, LONGEST_LINE);
  nst_line line;
  nst_line_status status;
  bool ok = true;
  for (size_t position = 0; ok && (status = nst_lines_next(lines, &line)) != NST_LINE_END; position++) {
    char why[NST_RECORD_ERROR] = "";
    if (status == NST_LINE_FAILED) {
      snprintf(error, NST_RUNFILE_ERROR, "%.200s: %s", path, strerror(errno));
      ok = false;
      break;
    }
    *error = '\0';
    if (status == NST_LINE_TOO_LONG) strcpy(why, "it is longer than 256 MiB");
    ok = !*why && put(run, &line, position, why, error);
    if (!ok && *why)
      snprintf(error, NST_RUNFILE_ERROR, "%.200s:%llu: %.200s", path, (unsigned long long)line.number, why);
  }
  nst_lines_free(lines);
  close(fd);
  return ok;
}

nst_runfile *nst_runfile_read_jsonl(const char *tasks, const char *samples, const char *results,
                                    char error[NST_RUNFILE_ERROR]) {
  nst_runfile *run = nst_runfile_memory(error);
  /* Which version asked is not known. */
  if (run && nst_runfile_put(run, "tool", "", error) && read_file(run, tasks, put_task, error) &&
      read_file(run, samples, put_sample, error) && read_file(run, results, put_result, error))
    return run;
  nst_runfile_free(run);
  return NULL;
}
