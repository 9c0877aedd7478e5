/* What the commands that ask a model share: options, tasks, run file, client, Ctrl-C, progress.
 *
 * The key comes from the environment, is taken out of it, and is in no other place than the client. */
#ifndef NST_BENCH_CLI_ASKING_H
#define NST_BENCH_CLI_ASKING_H
#include "bench/cli/bench.h"
#include "bench/run/client.h"

#include <nestor/nestor.h>

typedef struct {
  /* options */
  nst_run_settings settings;
  nst_patience patience;
  const char *dialect, *grammar, *extra, *key_env, *run_path, *answers;
  bench_texts omit;
  uint64_t samples, limit;
  bool quiet;
  /* what becomes of them */
  nst_task *tasks;
  size_t ntasks, nasked;          /* of the file; of which are asked */
  json_t **messages;              /* of each task, with the system text in */
  char (*bases)[NST_DIGEST_TEXT]; /* and the names of their requests, without sample numbers */
  nst_server server;
  nst_client *client;
  nst_runfile *run;
  nestor_buffer *gbnf;
  char *key, *made_path;
  int signals; /* a descriptor that Ctrl-C makes readable, or -1 */
  int stops;   /* how often it was pressed */
  /* progress */
  bool terminal, shown, told_wait;
  double last_line, seconds_before;
  uint64_t wanted, there; /* samples in all, and there before this round of asking */
  uint64_t done_before;   /* answers of the client's rounds before this one */
  uint64_t new_answers;   /* of this command; what else is new are revisions */
  const char *what;       /* "answers" */
} bench_asking;

#define BENCH_ASKING_OPTIONS(a)                                                                                        \
  {"base-url", 'u', BENCH_TEXT, &(a)->settings.base_url, "URL", "where the API is: http://127.0.0.1:8080/v1"},         \
    {"model", 'm', BENCH_TEXT, &(a)->settings.model, "NAME", "the model, as the server calls it"},                     \
    {"samples", 'n', BENCH_WHOLE, &(a)->samples, "N", "answers to each task (1); may grow later"},                     \
    {"run", 'r', BENCH_TEXT, &(a)->run_path, "FILE", "the run file, new or to be gone on with (MODEL.run)"},           \
    {"dialect", 0, BENCH_TEXT, &(a)->dialect, "NAME", "openai (chat completions) or anthropic (messages)"},            \
    {"temperature", 't', BENCH_NUMBER, &(a)->settings.temperature, "T", "sampling temperature (the server's)"},        \
    {"top-p", 0, BENCH_NUMBER, &(a)->settings.top_p, "P", "nucleus sampling (the server's)"},                          \
    {"max-tokens", 0, BENCH_WHOLE, &(a)->settings.max_tokens, "N", "longest answer (the server's; anthropic: 8192)"},  \
    {"seed", 's', BENCH_WHOLE, &(a)->settings.seed, "N", "sample number n is asked with seed N + n"},                  \
    {"system", 0, BENCH_TEXT, &(a)->settings.system, "TEXT", "a text before the system text of every task"},              \
    {"grammar", 0, BENCH_TEXT, &(a)->grammar, "SERVER", "hold programs to the grammar: llama.cpp or vllm"},            \
    {"extra", 0, BENCH_TEXT, &(a)->extra, "JSON", "an object; its members go into each request"},                \
    {"omit", 0, BENCH_TEXTS, &(a)->omit, "PARAM", "never send this parameter; may be repeated"},                       \
    {"price-in", 0, BENCH_NUMBER, &(a)->settings.price_in, "X", "price of a million tokens read"},                     \
    {"price-out", 0, BENCH_NUMBER, &(a)->settings.price_out, "X", "price of a million tokens written"},                \
    {"concurrency", 'c', BENCH_WHOLE, &(a)->patience.concurrency, "N", "most requests at once (16)"},                  \
    {"timeout", 0, BENCH_NUMBER, &(a)->patience.timeout, "S", "seconds of one request (600)"},                         \
    {"attempts", 0, BENCH_WHOLE, &(a)->patience.attempts, "N", "tries of a request that meets trouble (6)"},           \
    {"longest-wait", 0, BENCH_NUMBER, &(a)->patience.longest_wait, "S", "longest wait a server may ask for (300)"},    \
    {"limit", 0, BENCH_WHOLE, &(a)->limit, "K", "only the first K tasks"},                                             \
    {"key-env", 0, BENCH_TEXT, &(a)->key_env, "NAME", "the variable with the server's key (NESTOR_API_KEY)"},          \
    {"choices", 0, BENCH_WHOLE, &(a)->settings.choices, "N", "answers asked for in one request, by \"n\" (1)"}, {      \
    "quiet", 'q', BENCH_FLAG, &(a)->quiet, NULL, "say only what went wrong"                                            \
  }

/* Before the options are read. */
void bench_asking_init(bench_asking *a);
/* Reads tasks, opens the run file, agrees on the settings, makes the client. -1 to go on, else the exit code (said). */
int bench_asking_begin(bench_asking *a, const char *tasks_path);
void bench_asking_fini(bench_asking *a);
/* Runs the client over jobs; samples go to the run file. The exit code: CLI_GOOD, or said. */
typedef bool bench_next_fn(void *context, nst_job *job);
int bench_asking_run(bench_asking *a, bench_next_fn *next, void *context);
/* One line on standard error, unless quiet. */
void bench_asking_say(bench_asking *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The name of requests with these messages, and what is wanted under it. */
void bench_asking_base(bench_asking *a, char out[NST_DIGEST_TEXT], const json_t *messages, bool constrained);
void bench_asking_want(nst_wanted *out, const char base[NST_DIGEST_TEXT], uint64_t number, const char *sample_id);
bool bench_asking_constrained(const bench_asking *a, const nst_task *task);
/* 1.23 M, as a person reads it. */
void bench_amount(char out[32], double value);
#endif
