/* `nestor bench serve`: the grader over HTTP, until it is told to stop. */
#include "bench/cli/bench.h"
#include "bench/cli/grading.h"
#include "bench/record/memory.h"
#include "bench/serve/serve.h"

#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char help[] =
  "Judges samples sent to http://127.0.0.1:PORT, for training and for other programs. Only this machine\n"
  "can reach it. The port is printed when the server is ready. SIGINT and SIGTERM end it: what is being\n"
  "judged is finished, other requests are answered with 503.\n\n"
  "  POST /grade    samples as NDJSON or as a JSON array; results in the same form and order\n"
  "  GET  /health   whether it is ready, and how many samples it has judged\n"
  "  POST /reset, POST /step, GET /state    the same, one task at a time, as OpenEnv asks\n\n"
  "  nestor bench serve --tasks tasks.jsonl --key key.jsonl --port 8080\n"
  "  curl -s --data-binary @samples.jsonl http://127.0.0.1:8080/grade\n";

static sigset_t stopping(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  return signals;
}

/* A connection is a file descriptor: as many of those as the system gives without being asked for more. */
static void raise_files(void) {
  struct rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  const rlim_t wanted = files.rlim_max < 4096 ? files.rlim_max : 4096;
  if (files.rlim_cur < wanted) files.rlim_cur = wanted, setrlimit(RLIMIT_NOFILE, &files);
}

typedef struct { const char **ids; size_t n; } names;

static bool name(void *context, nst_task *task) {
  names *all = context;
  all->ids = nst_memory_grow(all->ids, all->n + 1, sizeof *all->ids);
  all->ids[all->n++] = nst_memory_text(task->task_id, strlen(task->task_id));
  nst_task_fini(task);
  return true;
}

static int serve(nst_grading *grading, const char *tasks, uint16_t port) {
  char error[NST_RECORD_ERROR];
  names all = {NULL, 0};
  raise_files();
  int code = bench_each_task(tasks, name, &all) ? CLI_GOOD : CLI_IO;
  nst_serve *server = code ? NULL : nst_serve_new(grading, &(nst_serve_options){port, (const char *const *)all.ids, all.n}, error);
  if (server) {
    printf("serving %zu tasks on http://127.0.0.1:%u\n", all.n, nst_serve_port(server));
    if (fflush(stdout) != 0) cli_say("cannot write to standard output where the server is: %s; it listens on port %u", strerror(errno), nst_serve_port(server));
    sigset_t signals = stopping();
    int got;
    sigwait(&signals, &got);
    nst_serve_free(server);
  } else if (!code) {
    cli_say("cannot serve: %s", error);
    code = CLI_IO;
  }
  for (size_t i = 0; i < all.n; i++) free((char *)all.ids[i]);
  free(all.ids);
  return code;
}

int bench_serve(int argc, char **argv) {
  const char *tasks = NULL, *key = NULL;
  uint64_t port = 0, workers = 0;
  const bench_option options[] = {
    {"tasks", 't', BENCH_TEXT, &tasks, "FILE", "tasks that bench gen wrote"},
    {"key", 'k', BENCH_TEXT, &key, "FILE", "the answers to them, of bench gen --key"},
    {"port", 'p', BENCH_WHOLE, &port, "N", "port on 127.0.0.1; any that is free where it is not given"},
    {"workers", 'w', BENCH_WHOLE, &workers, "N", "worker processes; one per processor where it is not given"},
    {0}};
  bench_texts rest;
  int code = bench_options("serve", &(bench_usage){"--tasks FILE --key FILE [OPTIONS]", help, options}, argc, argv, &rest);
  free(rest.items);
  if (code >= 0) return code;
  if (!tasks || !key || rest.n || port > 65535) {
    cli_say("%s; `nestor bench serve --help` shows how",
            rest.n ? "serve takes options only" : port > 65535 ? "a port is at most 65535" : "--tasks and --key are needed");
    return CLI_WRONG_USAGE;
  }
  nst_grading *grading =
    bench_grading_new(&code, &(nst_grading_options){.workers = (int)(workers > 4096 ? 4096 : workers)}, tasks, key);
  if (!grading) return code;
  /* Threads of the server inherit the mask: signals come to sigwait alone. The workers have started without it. */
  sigset_t signals = stopping();
  pthread_sigmask(SIG_BLOCK, &signals, NULL);
  code = serve(grading, tasks, (uint16_t)port);
  nst_grading_free(grading);
  return code;
}
