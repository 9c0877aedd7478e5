/* How many answers one core grades in a second, and how long one takes.
 *
 *   grade_rate NESTOR [SAMPLES]
 *
 * Makes 40 tasks of kind gen.mapping at level 3 (about 460 bytes of workload and hardware, answers of about 180 bytes, eight points each) and
 * SAMPLES (20,000) answers to them, no two the same text, one in eight wrong in its last loop. All of it, supervisor and worker,
 * runs on one core. Command: `nestor bench grade --workers 1` from file to file, start included. C: nst_grader_grade with 64 lines a call, and with one line
 * a call, whose times give the quantiles. HTTP: `nestor bench serve`, 64 lines a request over one connection that stays open; the client's own time
 * is not counted. Rates are per second of processor time; what a loaded machine adds stands beside it.
 * Exits with 1 when a bound of the project is missed: 10,000 answers a second, 5 ms for 99 of 100. */
#include <arpa/inet.h>
#include <jansson.h>
#include <nestor/grade.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
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

/* ---- HTTP ----------------------------------------------------------------- */

static void send_all(int fd, const char *bytes, size_t size) {
  while (size) {
    const ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL);
    if (n <= 0) perror("send"), exit(1);
    bytes += n;
    size -= (size_t)n;
  }
}

/* Reads one response with a Content-Length; returns how many lines its body has. */
static size_t response(int fd, char **buffer, size_t *capacity) {
  size_t have = 0, whole = 0;
  while (!whole || have < whole) {
    if (*capacity - have < 1 << 16 && !(*buffer = realloc(*buffer, *capacity = 2 * *capacity + (1 << 17)))) abort();
    const ssize_t n = recv(fd, *buffer + have, *capacity - have - 1, 0);
    if (n <= 0) fprintf(stderr, "the server ends within a response\n"), exit(1);
    (*buffer)[have += (size_t)n] = '\0';
    char *end = whole ? NULL : strstr(*buffer, "\r\n\r\n"), *length = end ? strcasestr(*buffer, "content-length:") : NULL;
    if (length) whole = (size_t)(end + 4 - *buffer) + strtoul(length + sizeof "content-length:" - 1, NULL, 10);
  }
  if (strncmp(*buffer, "HTTP/1.1 200", 12) != 0) fprintf(stderr, "%.80s\n", *buffer), exit(1);
  size_t n = 0;
  for (const char *p = strstr(*buffer, "\r\n\r\n") + 4; (p = strchr(p, '\n')); p++) n++;
  return n;
}

/* The server on a port of its own, which it says in its first line. */
static pid_t serve(int *port, const char *nestor, const char *tasks, const char *key) {
  int ends[2];
  pid_t child;
  posix_spawn_file_actions_t files;
  if (pipe(ends) != 0) exit(3);
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&files, ends[0]);
  char *const argv[] = {(char *)(uintptr_t)nestor, "bench", "serve", "--tasks", (char *)(uintptr_t)tasks, "--key", (char *)(uintptr_t)key, "--workers", "1", NULL};
  if (posix_spawn(&child, nestor, &files, NULL, argv, environ) != 0) exit(1);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  FILE *said = fdopen(ends[0], "r");
  if (!said || fscanf(said, "serving %*d tasks on http://127.0.0.1:%d", port) != 1) fprintf(stderr, "the server does not start\n"), exit(1);
  fclose(said);
  return child;
}

static double of_children(void) {
  struct rusage children;
  getrusage(RUSAGE_CHILDREN, &children);
  return seconds(children.ru_utime) + seconds(children.ru_stime);
}

static span over_http(const char *nestor, const char *tasks, const char *key, const lines *l) {
  span s = {wall(), of_children()};
  int port = 0, status;
  const pid_t child = serve(&port, nestor, tasks, key);
  const int fd = socket(AF_INET, SOCK_STREAM, 0), now = 1;
  const struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) perror("connect"), exit(1);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
  char *buffer = NULL;
  size_t capacity = 0;
  for (size_t i = 0; i < l->n; i += BATCH) {
    const size_t end = i + BATCH < l->n ? i + BATCH : l->n, size = l->starts[end] - l->starts[i];
    char head[160];
    const int n = snprintf(head, sizeof head, "POST /grade HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n\r\n", size);
    send_all(fd, head, (size_t)n);
    send_all(fd, l->text + l->starts[i], size);
    if (response(fd, &buffer, &capacity) != end - i) fprintf(stderr, "a response has not one line for each sample\n"), exit(1);
  }
  free(buffer);
  close(fd);
  kill(child, SIGTERM);
  waitpid(child, &status, 0);
  return (span){wall() - s.wall, of_children() - s.processor};
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

  const double http = report("HTTP, 64 lines a request", over_http(argv[1], tasks, key, &l), l.n);

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
  const int missed = command < bound_rate || call < bound_rate || http < bound_rate || p99 > bound_p99_ms;
  if (missed) printf("a bound is missed\n");
  return missed;
}
