/* Asking a model: from options to a client that writes to a run file. */
#include "bench/cli/asking.h"

#include "bench/record/memory.h"

#include "cli/cli.h"

#include <curl/curl.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum { BAR = 24 };
static const double LINE_SECONDS = 10;

void bench_asking_init(bench_asking *a) {
  *a = (bench_asking){.patience = {16, 6, 600, 300},
                      .dialect = "openai",
                      .samples = 1,
                      .limit = NST_NOT_GIVEN,
                      .signals = -1,
                      .what = "answers"};
  nst_run_settings_init(&a->settings);
}

static int usage(const char *text) {
  cli_say("%s", text);
  return CLI_WRONG_USAGE;
}

/* ---- the key -------------------------------------------------------------- */

/* The first of the variables that is set, trimmed; all are taken out of the environment, so that no child has them. */
static int take_key(bench_asking *a) {
  const char *names[] = {a->key_env ? a->key_env : "NESTOR_API_KEY", a->key_env ? NULL
                                                                     : a->settings.dialect == NST_DIALECT_OPENAI
                                                                       ? "OPENAI_API_KEY"
                                                                       : "ANTHROPIC_API_KEY"};
  for (int i = 0; i < 2 && !a->key; i++) {
    const char *value = names[i] ? getenv(names[i]) : NULL;
    if (!value) continue;
    value += strspn(value, " \t\r\n");
    size_t size = strlen(value);
    while (size && strchr(" \t\r\n", value[size - 1])) size--;
    if (size) a->key = nst_memory_text(value, size);
  }
  /* The value of --key-env may be a key by mistake: it is not repeated. */
  if (a->key_env && !a->key)
    return usage("--key-env takes the name of a variable that holds a key; there is none of that name");
  static const char *const known[] = {"NESTOR_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"};
  for (int i = 0; i < 3; i++) unsetenv(known[i]);
  if (a->key_env && *a->key_env && !strchr(a->key_env, '=')) unsetenv(a->key_env);
  if (a->key && a->server.plain && !a->server.loopback)
    cli_say("warning: the key goes to %s without encryption; use https://", a->server.host);
  return -1;
}

/* ---- beginning ------------------------------------------------------------ */

static int parse_settings(bench_asking *a) {
  if (!a->settings.base_url) return usage("--base-url is needed: where the API is, as http://127.0.0.1:8080/v1");
  if (!a->settings.model || !*a->settings.model) return usage("--model is needed: the model as the server calls it");
  if (!nst_dialect_parse(&a->settings.dialect, a->dialect)) return usage("--dialect takes openai or anthropic");
  if (a->grammar && (!nst_constraint_parse(&a->settings.constraint, a->grammar) || !a->settings.constraint))
    return usage("--grammar takes llama.cpp or vllm");
  if (a->samples < 1 || a->samples > 1000000) return usage("--samples takes 1 to 1000000");
  if (a->settings.seed != NST_NOT_GIVEN && a->settings.seed > INT64_MAX - a->samples)
    return usage("--seed is too large: the seeds of all samples, counted up from it, must be below 2^63");
  if (a->patience.concurrency < 1 || a->patience.concurrency > NST_CONCURRENCY_MOST)
    return usage("--concurrency takes 1 to 512");
  if (a->patience.attempts < 1 || a->patience.attempts > 100) return usage("--attempts takes 1 to 100");
  if (!(a->patience.timeout > 0)) return usage("--timeout takes seconds, more than 0");
  if (!(a->patience.longest_wait >= 0)) return usage("--longest-wait takes seconds");
  if (a->settings.constraint) {
    a->gbnf = nestor_buffer_new();
    nestor_grammar(NESTOR_GRAMMAR_GBNF, a->gbnf);
    nestor_buffer_append(a->gbnf, "", 1);
    a->settings.grammar = nestor_buffer_data(a->gbnf);
  }
  if (a->extra) {
    json_error_t why;
    a->settings.extra = json_loads(a->extra, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(a->settings.extra)) {
      cli_say("--extra takes a JSON object: %s", a->settings.extra ? "this is another value" : why.text);
      return CLI_WRONG_USAGE;
    }
  }
  a->settings.omit = a->omit.items;
  a->settings.nomit = a->omit.n;
  char error[NST_RUNFILE_ERROR];
  if (!nst_run_settings_check(&a->settings, error) || !nst_server_parse(&a->server, &a->settings, error))
    return usage(error);
  return -1;
}

static bool take_task(void *context, nst_task *task) {
  bench_asking *a = context;
  if ((a->ntasks & (a->ntasks - 1)) == 0)
    a->tasks = nst_memory_grow(a->tasks, a->ntasks ? 2 * a->ntasks : 1, sizeof *a->tasks);
  a->tasks[a->ntasks++] = *task;
  return true;
}

static int by_name(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* What a server would refuse, or a model could not answer. */
static bool has_messages(const nst_task *task) {
  size_t i;
  json_t *m;
  bool ok = json_array_size(task->messages) > 0;
  json_array_foreach(task->messages, i, m) ok = ok && json_is_string(json_object_get(m, "role")) && json_is_string(json_object_get(m, "content"));
  if (!ok) cli_say("task %s has nothing to ask: its \"messages\" must be objects with \"role\" and \"content\"; tasks are what `nestor bench gen -o` wrote", task->task_id);
  return ok;
}

static bool names_differ(const bench_asking *a) {
  const char **names = nst_memory_new(a->ntasks, sizeof *names);
  for (size_t i = 0; i < a->ntasks; i++) names[i] = a->tasks[i].task_id;
  qsort(names, a->ntasks, sizeof *names, by_name);
  bool ok = true;
  for (size_t i = 1; ok && i < a->ntasks; i++)
    if (!strcmp(names[i - 1], names[i])) {
      cli_say("task %s is there twice", names[i]);
      ok = false;
    }
  free(names);
  return ok;
}

/* MODEL.run, in the directory where the command runs. */
static void default_path(bench_asking *a) {
  const size_t size = strlen(a->settings.model) + 8;
  a->made_path = nst_memory_new(size, 1);
  snprintf(a->made_path, size, "%s.run", a->settings.model);
  for (char *c = a->made_path; *c; c++)
    if (*c == '/' || *c == ':' || (unsigned char)*c <= ' ') *c = '-';
  if (*a->made_path == '.' || *a->made_path == '-') *a->made_path = '_'; /* not hidden, and no option */
  a->run_path = a->made_path;
}

/* What the server would not take in earlier runs. */
static void recall_refused(bench_asking *a) {
  const char *text = nst_runfile_get(a->run, "refused_parameters");
  json_t *json = text ? json_loads(text, 0, NULL) : NULL;
  nst_refused_parameters *refused = nst_client_refused(a->client);
  size_t i;
  json_t *name;
  json_array_foreach(json_object_get(json, "dropped"), i, name) if (json_is_string(name))
    json_array_append(refused->dropped, name);
  refused->completion_tokens = json_is_true(json_object_get(json, "completion_tokens"));
  json_decref(json);
}

static void keep_refused(bench_asking *a) {
  const nst_refused_parameters *refused = nst_client_refused(a->client);
  json_t *json = json_pack("{s:O, s:b}", "dropped", refused->dropped, "completion_tokens", refused->completion_tokens);
  char *text = nst_record_text(json, NULL), error[NST_RUNFILE_ERROR];
  if (!nst_runfile_put(a->run, "refused_parameters", text, error)) cli_say("%s", error);
  free(text);
  json_decref(json);
}

int bench_asking_begin(bench_asking *a, const char *tasks_path) {
  int code = parse_settings(a);
  if (code < 0) code = take_key(a);
  if (code >= 0) return code;
  if (!bench_each_task(tasks_path, take_task, a)) return CLI_IO;
  if (!names_differ(a)) return CLI_PROGRAM;
  for (size_t i = 0; i < a->ntasks; i++)
    if (!has_messages(&a->tasks[i])) return CLI_PROGRAM;
  a->nasked = a->limit < a->ntasks ? (size_t)a->limit : a->ntasks;
  if (!a->nasked) return usage("--limit takes a number from 1");
  if (!a->run_path) default_path(a);
  signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of writing */
  char error[NST_RUNFILE_ERROR];
  a->run = nst_runfile_open(a->run_path, true, error);
  if (!a->run) return cli_say("%s", error), CLI_IO;
  nst_run_settings_recall_price(&a->settings, a->run);
  if (!nst_run_settings_agree(a->run, &a->settings, a->tasks, a->ntasks, a->nasked, a->samples, error)) {
    if (strncmp(error, a->run_path, strnlen(a->run_path, 120)) == 0) return cli_say("%s", error), CLI_IO; /* of the file itself */
    return cli_say("%s: %s", a->run_path, error), CLI_WRONG_USAGE;
  }
  a->client = nst_client_new(&a->settings, &a->patience, &a->server, a->key, error);
  if (!a->client) return cli_say("%s", error), CLI_WRONG_USAGE;
  recall_refused(a);
  a->messages = nst_memory_new(a->ntasks, sizeof *a->messages);
  a->bases = nst_memory_new(a->ntasks, sizeof *a->bases);
  for (size_t i = 0; i < a->ntasks; i++) {
    a->messages[i] = nst_request_messages(&a->settings, a->tasks[i].messages);
    bench_asking_base(a, a->bases[i], a->messages[i], bench_asking_constrained(a, &a->tasks[i]));
  }
  a->terminal = isatty(STDERR_FILENO);
  a->server.authorities = getenv("CURL_CA_BUNDLE");
  if (!a->server.authorities) a->server.authorities = getenv("SSL_CERT_FILE");
  return -1;
}

void bench_asking_fini(bench_asking *a) {
  nst_client_free(a->client);
  nst_runfile_free(a->run);
  nst_server_fini(&a->server);
  for (size_t i = 0; i < a->ntasks; i++) {
    if (a->messages) json_decref(a->messages[i]);
    nst_task_fini(&a->tasks[i]);
  }
  free(a->messages);
  free(a->bases);
  free(a->tasks);
  json_decref(a->settings.extra);
  free(a->omit.items);
  nestor_buffer_free(a->gbnf);
  if (a->key) explicit_bzero(a->key, strlen(a->key));
  free(a->key);
  free(a->made_path);
}

bool bench_asking_constrained(const bench_asking *a, const nst_task *task) {
  return a->settings.constraint && (task->answer == NST_ANSWER_PROGRAM || task->answer == NST_ANSWER_MODEL);
}

void bench_asking_base(bench_asking *a, char out[NST_DIGEST_TEXT], const json_t *messages, bool constrained) {
  nst_request_base(out, &a->settings, a->server.path, messages, constrained);
}

void bench_asking_want(nst_wanted *out, const char base[NST_DIGEST_TEXT], uint64_t number, const char *sample_id) {
  out->number = number;
  snprintf(out->sample_id, sizeof out->sample_id, "%s", sample_id);
  nst_request_hash(out->hash, base, number);
}

/* ---- progress ------------------------------------------------------------- */

void bench_amount(char out[32], double v) {
  static const char *const units[] = {"", " k", " M", " G", " T"};
  size_t unit = 0;
  while (v >= 1000 && unit + 1 < sizeof units / sizeof *units) v /= 1000, unit++;
  snprintf(out, 32, unit && v < 100 ? "%.2f%s" : "%.0f%s", v, units[unit]);
}

static void duration(char out[32], double seconds) {
  if (!(seconds < 1e8))
    strcpy(out, "?");
  else if (seconds < 100)
    snprintf(out, 32, "%.0f s", ceil(seconds));
  else if (seconds < 6000)
    snprintf(out, 32, "%.0f min", ceil(seconds / 60));
  else
    snprintf(out, 32, "%.1f h", seconds / 3600);
}

static void clear_line(bench_asking *a) {
  if (a->shown) fputs("\r\033[K", stderr);
  a->shown = false;
}

void bench_asking_say(bench_asking *a, const char *format, ...) {
  if (a->quiet) return;
  clear_line(a);
  char text[1024];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  cli_say("%s", text);
}

static int columns(void) {
  struct winsize size;
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/* "12 of 500 answers (2 %), 3.1/s, 40 k tokens, cost 0.12, 8 at once, waiting 12 s, 3 min left" */
static void describe(bench_asking *a, char *out, size_t room, const nst_client_progress *now) {
  const uint64_t new = now->answered + now->failed - a->done_before, done = a->there + new;
  const double seconds = now->seconds - a->seconds_before, rate = seconds > 0 ? (double)new / seconds : 0;
  char tokens[32], left[32], wait[32], part[128] = "", cost[48] = "", waiting[64] = "", failed[48] = "";
  bench_amount(tokens, now->tokens_in + now->tokens_out);
  duration(left, rate > 0 ? (double)(a->wanted - (done < a->wanted ? done : a->wanted)) / rate : INFINITY);
  if (!isnan(a->settings.price_in) || !isnan(a->settings.price_out))
    snprintf(cost, sizeof cost, ", cost %.4g", now->cost);
  if (now->waiting >= 0.5)
    duration(wait, now->waiting), snprintf(waiting, sizeof waiting, ", waiting %s for the server", wait);
  if (now->failed) snprintf(failed, sizeof failed, ", %llu failed", (unsigned long long)now->failed);
  if (now->limited)
    snprintf(part, sizeof part, ", put off %llu time%s (429)", (unsigned long long)now->limited,
             now->limited == 1 ? "" : "s");
  if (now->again)
    snprintf(part + strlen(part), sizeof part - strlen(part), ", %llu request%s met trouble",
             (unsigned long long)now->again, now->again == 1 ? "" : "s");
  snprintf(out, room, "%llu of %llu %s (%d %%), %.*f/s, %s tokens%s, %llu at once%s%s%s, %s left",
           (unsigned long long)done, (unsigned long long)a->wanted,
           a->wanted == 1 && !strcmp(a->what, "answers") ? "answer" : a->what,
           a->wanted ? (int)(100 * (double)done / (double)a->wanted) : 100, rate < 10 ? 1 : 0, rate, tokens, cost,
           (unsigned long long)now->in_flight, part, failed, waiting, left);
}

static void show_progress(void *context, const nst_client_progress *now) {
  bench_asking *a = context;
  if (a->quiet || !now->requests) return;
  char text[512];
  if (a->terminal) {
    describe(a, text, sizeof text, now);
    const double share =
      a->wanted ? (double)(a->there + now->answered + now->failed - a->done_before) / (double)a->wanted : 1;
    char bar[BAR + 1];
    const int full = (int)(share * (double)BAR);
    for (int i = 0; i < BAR; i++) bar[i] = i < full ? '#' : '.';
    bar[BAR] = '\0';
    char line[600];
    snprintf(line, sizeof line, "[%s] %s", bar, text);
    fprintf(stderr, "\r%.*s\033[K", columns() - 1, line);
    fflush(stderr);
    a->shown = true;
    return;
  }
  const bool waits = now->waiting >= 1;
  if (now->seconds - a->last_line < LINE_SECONDS && (!waits || a->told_wait)) {
    if (!waits) a->told_wait = false;
    return;
  }
  a->told_wait = waits;
  a->last_line = now->seconds;
  describe(a, text, sizeof text, now);
  cli_say("%s", text);
}

/* ---- running -------------------------------------------------------------- */

typedef struct {
  bench_asking *a;
  bench_next_fn *next;
  void *context;
  char error[NST_RUNFILE_ERROR];
} session;

static bool next_job(void *context, nst_job *job) {
  session *s = context;
  return s->next(s->context, job);
}

static bool keep_sample(void *context, const nst_job *job, const nst_sample *sample, const char *hash) {
  session *s = context;
  (void)job;
  return nst_runfile_put_sample(s->a->run, sample, hash, s->error);
}

static void notice(void *context, const char *text) {
  session *s = context;
  bench_asking_say(s->a, "%s", text);
  keep_refused(s->a);
}

static void progress(void *context, const nst_client_progress *now) { show_progress(((session *)context)->a, now); }

static int stopping(void *context) {
  bench_asking *a = ((session *)context)->a;
  struct signalfd_siginfo info;
  if (read(a->signals, &info, sizeof info) == (ssize_t)sizeof info) a->stops++;
  if (a->stops == 1) bench_asking_say(a, "stopping: what is under way may come for 10 s more; once more stops at once");
  return a->stops;
}

static int code_of(nst_client_end end) {
  switch (end) {
  case NST_CLIENT_DONE: return CLI_GOOD;
  case NST_CLIENT_STOPPED:
  case NST_CLIENT_RATE_LIMITED: return CLI_STOPPED;
  case NST_CLIENT_REFUSED:
  case NST_CLIENT_UNREACHABLE:
  case NST_CLIENT_FAILED: return CLI_IO;
  }
  return CLI_IO;
}

int bench_asking_run(bench_asking *a, bench_next_fn *next, void *context) {
  session s = {.a = a, .next = next, .context = context};
  const nst_client_progress *before_this = nst_client_totals(a->client);
  a->done_before = before_this->answered + before_this->failed;
  a->seconds_before = before_this->seconds;
  sigset_t signals, before;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT), sigaddset(&signals, SIGTERM), sigaddset(&signals, SIGHUP);
  sigprocmask(SIG_BLOCK, &signals, &before);
  a->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  const nst_client_calls calls = {.context = &s,
                                  .next = next_job,
                                  .answered = keep_sample,
                                  .notice = notice,
                                  .progress = progress,
                                  .stop_fd = a->signals,
                                  .stopping = stopping};
  char error[NST_RUNFILE_ERROR];
  const nst_client_end end = nst_client_run(a->client, &calls, error);
  clear_line(a);
  if (*s.error)
    cli_say("%s", s.error);
  else if (*error)
    cli_say("%s", error);
  close(a->signals);
  a->signals = -1;
  sigprocmask(SIG_SETMASK, &before, NULL);
  return code_of(end);
}
