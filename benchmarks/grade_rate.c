/* How many answers one core grades in a second, and how long one takes.
 *
 *   grade_rate NESTOR [SAMPLES]
 *
 * Makes 40 tasks of kind gen.mapping at level 3 (about 470 bytes of workload and hardware, answers of about 190 bytes, five points each) and
 * SAMPLES (20,000) answers to them, no two the same text, one in eight wrong in its last loop. All of it, supervisor and worker,
 * runs on one core. Command: `nestor bench grade --workers 1` from file to file, start included. C: nst_grader_grade with 64 lines a call, and with one line
 * a call, whose times give the quantiles. Rates are per second of processor time; what a loaded machine adds stands beside it.
 * Exits with 1 when a bound of the project is missed: 10,000 answers a second, 5 ms for 99 of 100. */
#include <jansson.h>
#include <nestor/grade.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static const double bound_rate = 10000, bound_p99_ms = 5;
enum { BATCH = 64, SINGLES = 5000 };

static double wall(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

/* Of this process, and of the children that have ended. */
static double processor(void) {
  struct rusage own, children;
  getrusage(RUSAGE_SELF, &own);
  getrusage(RUSAGE_CHILDREN, &children);
  return seconds(own.ru_utime) + seconds(own.ru_stime) + seconds(children.ru_utime) + seconds(children.ru_stime);
}

static void run(char *const *argv) {
  pid_t child;
  int status = 0;
  if (posix_spawn(&child, argv[0], NULL, NULL, argv, environ) != 0 || waitpid(child, &status, 0) < 0 || status != 0) {
    fprintf(stderr, "%s %s %s failed\n", argv[0], argv[1], argv[2]);
    exit(1);
  }
}

/* Lines of samples, one after another; starts[i] is where line i begins, starts[n] the end. */
typedef struct { char *text; size_t size, *starts; size_t n; } lines;

static void add_line(lines *l, json_t *json) {
  char *text = json_dumps(json, JSON_COMPACT);
  const size_t size = strlen(text);
  l->text = realloc(l->text, l->size + size + 1);
  if (!l->text) abort();
  memcpy(l->text + l->size, text, size);
  l->text[l->size + size] = '\n';
  l->size += size + 1;
  l->starts[++l->n] = l->size;
  free(text);
  json_decref(json);
}

static void answer(lines *out, const char *task_id, const char *answer, size_t i) {
  char id[32], *text = malloc(strlen(answer) + 256);
  const char *brace = strrchr(answer, '}');
  if (!text || !brace) abort();
  snprintf(id, sizeof id, "%zu", i);
  sprintf(text, "The outer loops keep the larger tensors close.\n\n```nest\n%.*s# answer %zu\n%s}\n```\n", (int)(brace - answer), answer, i,
          i % 8 == 7 ? "for no_such_dimension\n" : "");
  add_line(out, json_pack("{s:s,s:s,s:s}", "task_id", task_id, "sample_id", id, "completion", text));
  free(text);
}

static lines make_samples(const char *key_path, size_t n) {
  char *ids[64] = {0}, *answers[64] = {0}, *line = NULL;
  size_t tasks = 0, capacity = 0;
  FILE *keys = fopen(key_path, "r");
  while (keys && tasks < 64 && getline(&line, &capacity, keys) > 0) {
    json_t *key = json_loads(line, 0, NULL);
    ids[tasks] = strdup(json_string_value(json_object_get(key, "task_id")));
    answers[tasks++] = strdup(json_string_value(json_object_get(key, "answer")));
    json_decref(key);
  }
  if (!tasks) exit(3);
  fclose(keys);
  free(line);
  lines out = {.starts = calloc(n + 1, sizeof(size_t))};
  for (size_t i = 0; i < n; i++) answer(&out, ids[i % tasks], answers[i % tasks], i);
  for (size_t i = 0; i < tasks; i++) free(ids[i]), free(answers[i]);
  return out;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

typedef struct { double wall, processor; } span;

static double report(const char *what, span s, size_t n) {
  printf("%-34s %8.0f answers/s of processor time   %6.0f by the clock\n", what, (double)n / s.processor, (double)n / s.wall);
  return (double)n / s.processor;
}

int main(int argc, char **argv) {
  const long n = argc > 2 ? atol(argv[2]) : 20000;
  if (argc < 2 || n < SINGLES) {
    fprintf(stderr, "usage: grade_rate NESTOR [SAMPLES], at least %d\n", SINGLES);
    return 2;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  if (sched_setaffinity(0, sizeof one, &one)) fprintf(stderr, "the core cannot be chosen: the command uses two\n");
  char directory[] = "/tmp/nestor-grade-rate-XXXXXX", tasks[64], key[64], samples[64], results[64];
  if (!mkdtemp(directory)) return 3;
  snprintf(tasks, sizeof tasks, "%s/tasks.jsonl", directory);
  snprintf(key, sizeof key, "%s/key.jsonl", directory);
  snprintf(samples, sizeof samples, "%s/samples.jsonl", directory);
  snprintf(results, sizeof results, "%s/results.jsonl", directory);
  run((char *[]){argv[1], "bench", "gen", "--seed", "3", "--count", "40", "--levels", "3", "--kinds", "gen.mapping", "--quick", "-o", tasks,
                 "--key", key, NULL});
  lines l = make_samples(key, (size_t)n);
  FILE *out = fopen(samples, "w");
  if (!out || fwrite(l.text, 1, l.size, out) != l.size || fclose(out)) return 3;

  span s = {wall(), processor()};
  run((char *[]){argv[1], "bench", "grade", "--tasks", tasks, "--key", key, "--workers", "1", "-o", results, samples, NULL});
  s = (span){wall() - s.wall, processor() - s.processor};
  const double command = report("nestor bench grade", s, l.n);

  /* A worker's time is known when it has ended. */
  char *error;
  s = (span){wall(), processor()};
  nst_grader *grader = nst_grader_new(tasks, key, 1, &error);
  if (!grader) return fprintf(stderr, "%s\n", error), 1;
  for (size_t i = 0; i < l.n; i += BATCH) {
    const size_t end = i + BATCH < l.n ? i + BATCH : l.n;
    nst_grader_free_text(nst_grader_grade(grader, l.text + l.starts[i], l.starts[end] - l.starts[i]));
  }
  nst_grader_free(grader);
  s = (span){wall() - s.wall, processor() - s.processor};
  const double call = report("nst_grader_grade, 64 lines a call", s, l.n);

  static double times[SINGLES];
  grader = nst_grader_new(tasks, key, 1, NULL);
  for (size_t i = 0; grader && i < SINGLES; i++) {
    const double begin = wall();
    nst_grader_free_text(nst_grader_grade(grader, l.text + l.starts[i], l.starts[i + 1] - l.starts[i]));
    times[i] = 1e3 * (wall() - begin);
  }
  nst_grader_free(grader);
  qsort(times, SINGLES, sizeof *times, ascending);
  const double p99 = times[SINGLES * 99 / 100];
  printf("%-34s %8.3f ms median   %.3f ms for 99 of 100   %.3f ms at most\n", "nst_grader_grade, one line a call", times[SINGLES / 2], p99,
         times[SINGLES - 1]);
  for (const char *const *p = (const char *const[]){tasks, key, samples, results, NULL}; *p; p++) unlink(*p);
  rmdir(directory);
  free(l.text);
  free(l.starts);
  const int missed = command < bound_rate || call < bound_rate || p99 > bound_p99_ms;
  if (missed) printf("a bound is missed\n");
  return missed;
}
