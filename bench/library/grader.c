/* libnestor-grade: lines in, lines out, over bench/grade. */
#include "bench/grade/grade.h"
#include "bench/record/lines.h"
#include "bench/record/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <nestor/grade.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_LINE = 1 << 28, REASON = 512 };

struct nst_grader {
  nst_grading *grading;
  locale_t c; /* numbers are written and read in it, whatever the host's locale is */
  pthread_mutex_t lock;
  atomic_int owner; /* the process whose lock it is; 0 while it is made anew */
};

/* ---- loading -------------------------------------------------------------- */

static bool add_task(nst_grading *g, const nst_line *line, char error[NST_RECORD_ERROR]) {
  nst_task task;
  return nst_task_parse(&task, line->text, line->size, error) && nst_grading_add_task(g, &task, error);
}

static bool add_key(nst_grading *g, const nst_line *line, char error[NST_RECORD_ERROR]) {
  nst_key key;
  return nst_key_parse(&key, line->text, line->size, error) && nst_grading_add_key(g, &key, error);
}

/* n: how many records there were. */
static bool load(size_t *n, nst_grading *g, const char *path, bool (*add)(nst_grading *, const nst_line *, char *), const char *what,
                 char reason[REASON]) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return snprintf(reason, REASON, "cannot open %.200s: %s", path, strerror(errno)), false;
  nst_lines *lines = nst_lines_new(fd, LONGEST_LINE);
  nst_line line;
  nst_line_status status;
  bool ok = true;
  *n = 0;
  while (ok && (status = nst_lines_next(lines, &line)) != NST_LINE_END) {
    char error[NST_RECORD_ERROR] = "it is longer than 256 MiB";
    ok = status == NST_LINE_READ && add(g, &line, error);
    if (status == NST_LINE_FAILED) snprintf(reason, REASON, "cannot read %.200s: %s", path, strerror(errno));
    else if (!ok) snprintf(reason, REASON, "%.200s:%llu: %s", path, (unsigned long long)line.number, error);
    ++*n;
  }
  if (ok && !*n) snprintf(reason, REASON, "%.200s holds no %s", path, what), ok = false;
  nst_lines_free(lines);
  close(fd);
  return ok;
}

/* A key is of a task that is there, and of each task once: where there are fewer, some are missing. */
static bool load_all(nst_grading *g, const char *tasks, const char *keys, char reason[REASON]) {
  size_t ntasks, nkeys;
  if (!load(&ntasks, g, tasks, add_task, "task", reason) || !load(&nkeys, g, keys, add_key, "key", reason)) return false;
  if (nkeys == ntasks) return true;
  snprintf(reason, REASON, "%.200s: %zu of the %zu tasks in %.200s have no key; give the key that was made with the tasks", keys, ntasks - nkeys,
           ntasks, tasks);
  return false;
}

nst_grader *nst_grader_new(const char *tasks_path, const char *key_path, int workers, char **error) {
  char reason[REASON] = "", why[NST_RECORD_ERROR];
  nst_grader *g = nst_memory_new(1, sizeof *g);
  g->c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  const locale_t before = uselocale(g->c);
  g->grading = nst_grading_new(&(nst_grading_options){.workers = workers}, why);
  if (!g->grading) snprintf(reason, sizeof reason, "%s", why);
  const bool ok = g->grading && load_all(g->grading, tasks_path, key_path, reason);
  uselocale(before);
  if (error) *error = ok ? NULL : nst_memory_text(reason, strlen(reason));
  g->owner = getpid();
  if (ok) return pthread_mutex_init(&g->lock, NULL), g;
  nst_grading_free(g->grading);
  freelocale(g->c);
  free(g);
  return NULL;
}

/* In a process that was forked off, a thread that is not there may have held the lock: the first that comes makes another. */
static void own(nst_grader *g) {
  const int self = getpid();
  for (int owner = g->owner; owner != self; owner = g->owner) {
    if (owner && atomic_compare_exchange_strong(&g->owner, &owner, 0)) {
      pthread_mutex_init(&g->lock, NULL);
      g->owner = self;
    } else sched_yield();
  }
}

void nst_grader_free(nst_grader *g) {
  if (!g) return;
  own(g);
  nst_grading_free(g->grading);
  pthread_mutex_destroy(&g->lock);
  freelocale(g->c);
  free(g);
}

void nst_grader_free_text(char *text) { free(text); }

/* ---- judging -------------------------------------------------------------- */

typedef struct { char *text; size_t size, capacity; } output;

static void put_line(output *out, const json_t *json) {
  size_t size;
  char *text = nst_record_text(json, &size);
  if (out->size + size + 2 > out->capacity) {
    out->capacity = 2 * (out->size + size + 2);
    out->text = nst_memory_grow(out->text, out->capacity, 1);
  }
  memcpy(out->text + out->size, text, size);
  out->text[out->size + size] = '\n';
  out->text[out->size += size + 1] = '\0';
  free(text);
}

typedef struct {
  size_t nlines, nsamples;
  json_t **refusals; /* of a line; NULL: it is the next sample */
  nst_sample *samples;
} lines_of_samples;

static void read_line(lines_of_samples *l, const nst_grading *g, const char *line, size_t size) {
  char error[NST_RECORD_ERROR];
  nst_sample *s = &l->samples[l->nsamples];
  const size_t i = l->nlines++;
  if (!nst_grading_read(s, line, size, error)) {
    l->refusals[i] = nst_grading_refusal(g, NULL, i + 1, error);
    return;
  }
  if (!json_is_string(json_object_get(s->json, "sample_id"))) {
    char number[24];
    snprintf(number, sizeof number, "%zu", i);
    json_t *id = json_string(number);
    json_object_set_new(s->json, "sample_id", id);
    s->sample_id = json_string_value(id);
  }
  l->nsamples++;
}

static bool is_blank(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (!memchr(" \t\r", text[i], 3)) return false;
  return true;
}

static void judge(output *out, nst_grading *g, const char *text, size_t size) {
  const char *end = text + size;
  if (size >= 3 && !memcmp(text, "\xEF\xBB\xBF", 3)) text += 3; /* a byte order mark */
  size_t most = 1;
  for (const char *p = text; (p = memchr(p, '\n', (size_t)(end - p))); p++) most++;
  lines_of_samples l = {.refusals = nst_memory_new(most, sizeof *l.refusals), .samples = nst_memory_new(most, sizeof *l.samples)};
  for (const char *p = text, *next; p < end; p = next) {
    const char *feed = memchr(p, '\n', (size_t)(end - p));
    next = feed ? feed + 1 : end;
    const size_t length = (size_t)((feed ? feed : end) - p);
    if (!is_blank(p, length)) read_line(&l, g, p, length);
  }
  nst_result *results = nst_memory_new(l.nsamples, sizeof *results);
  nst_grading_run(g, results, l.samples, l.nsamples);
  for (size_t i = 0, k = 0; i < l.nlines; i++) {
    if (l.refusals[i]) {
      put_line(out, l.refusals[i]);
      json_decref(l.refusals[i]);
      continue;
    }
    put_line(out, results[k].json);
    nst_result_fini(&results[k]);
    nst_sample_fini(&l.samples[k++]);
  }
  free(results);
  free(l.refusals);
  free(l.samples);
}

char *nst_grader_grade(nst_grader *g, const char *samples, size_t size) {
  output out = {.text = nst_memory_text("", 0), .capacity = 1};
  own(g);
  pthread_mutex_lock(&g->lock);
  const locale_t before = uselocale(g->c);
  judge(&out, g->grading, samples, size);
  uselocale(before);
  pthread_mutex_unlock(&g->lock);
  return out.text;
}
