/* What a run asks for: the server, the model, how it samples, what it costs.
 *
 * Settings decide what is asked, so they are facts of the run file and a run goes on with the same ones or not at all.
 * How fast and how patiently it is asked (nst_patience) may change from one command to the next. */
#ifndef NST_BENCH_RUN_SETTINGS_H
#define NST_BENCH_RUN_SETTINGS_H
#include "bench/run/runfile.h"

typedef enum { NST_DIALECT_OPENAI, NST_DIALECT_ANTHROPIC } nst_dialect;
const char *nst_dialect_name(nst_dialect dialect);
bool nst_dialect_parse(nst_dialect *out, const char *name);

typedef enum { NST_CONSTRAINT_NONE, NST_CONSTRAINT_LLAMA, NST_CONSTRAINT_VLLM } nst_constraint;
const char *nst_constraint_name(nst_constraint constraint); /* "none", "llama.cpp", "vllm" */
bool nst_constraint_parse(nst_constraint *out, const char *name);

enum { NST_CHOICES_MOST = 64, NST_CONCURRENCY_MOST = 512 };
static const uint64_t NST_NOT_GIVEN = UINT64_MAX;

typedef struct {
  nst_dialect dialect;
  const char *base_url, *model;
  double temperature, top_p; /* NaN: not sent */
  uint64_t max_tokens, seed; /* NST_NOT_GIVEN: not sent; sample number n is asked with seed + n */
  const char *system;        /* put before the system text of a task, or NULL */
  json_t *extra;             /* an object whose members are added to the body, or NULL */
  const char *const *omit;   /* parameters that are never sent */
  size_t nomit;
  nst_constraint constraint;
  const char *grammar;        /* GBNF, where there is a constraint */
  uint64_t choices;           /* answers asked for in one request ("n") */
  double price_in, price_out; /* per million tokens; NaN: not known; changes no answer */
} nst_run_settings;

typedef struct {
  uint64_t concurrency; /* most requests at once */
  uint64_t attempts;    /* of one request, before it counts as failed */
  double timeout;       /* seconds of one request */
  double longest_wait;  /* seconds; a server that asks for more ends the run */
} nst_patience;

/* Fills in what a setting is when it is not given. */
void nst_run_settings_init(nst_run_settings *settings);
/* Checks them together. false: `error` says what does not go. */
bool nst_run_settings_check(const nst_run_settings *settings, char error[NST_RUNFILE_ERROR]);

/* The sampling as one object: all that changes answers beside model and messages. The caller owns it. */
json_t *nst_run_settings_sampling(const nst_run_settings *settings);
/* Puts the facts, and the first `n` tasks that are not there yet, or, in a file that has facts, checks that they are
 * the same: false with an error that names what differs. Writes nothing where nothing is new. `samples` may grow. The
 * price may change: costs that are there are then those of the new one. */
bool nst_run_settings_agree(nst_runfile *run, const nst_run_settings *settings, const nst_task *tasks, size_t ntasks,
                            size_t n, uint64_t samples, char error[NST_RUNFILE_ERROR]);

/* Prices that are not given are those of the file. */
void nst_run_settings_recall_price(nst_run_settings *settings, nst_runfile *run);
/* Of the tokens of a usage; NaN where no price is known. */
double nst_run_settings_cost(const nst_run_settings *settings, const json_t *usage);

/* Parts of the base URL. host is for people: without user, port kept. */
typedef struct {
  char *endpoint, *path, *host;
  bool plain, loopback;
  const char *authorities; /* file of certificates that are trusted; borrowed; NULL: the system's */
} nst_server;
bool nst_server_parse(nst_server *out, const nst_run_settings *settings, char error[NST_RUNFILE_ERROR]);
void nst_server_fini(nst_server *server);
#endif
