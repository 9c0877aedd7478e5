/* The client of model servers: asks what it is given, gives back samples.
 *
 * It pulls jobs as it has room for them and hands over each answer as a sample when it is there; it keeps nothing
 * itself. What it does about limits, trouble and refusals is in docs/bench-run.md. The server's key is held in memory,
 * sent in one header, and struck out of everything that comes back. */
#ifndef NST_BENCH_RUN_CLIENT_H
#define NST_BENCH_RUN_CLIENT_H
#include "bench/run/request.h"

/* One question and the samples that are wanted of it. */
typedef struct {
  uint64_t number;
  char sample_id[64], hash[NST_DIGEST_TEXT];
} nst_wanted;
typedef struct {
  const char *task_id; /* borrowed until the job is answered */
  json_t *messages;    /* as nst_request_messages made them; the job owns this reference */
  json_t *members;     /* put into each sample (parent_sample_id, arm); owned; NULL: none */
  bool constrained;    /* held to the grammar of the settings */
  nst_wanted wanted[NST_CHOICES_MOST];
  size_t n; /* of wanted; more than 1 only with settings.choices */
} nst_job;

typedef struct {
  uint64_t requests, answered, failed; /* failed: samples that finally failed */
  uint64_t again, limited;             /* answers that were trouble, and refusals for the rate */
  double tokens_in, tokens_out, cost;  /* of what was answered */
  uint64_t in_flight, room;            /* requests under way, and allowed */
  double waiting;                      /* seconds until the server may be asked again; 0: now */
  double seconds;                      /* since the first request */
} nst_client_progress;

typedef struct {
  void *context;
  bool (*next)(void *context, nst_job *job); /* false: there is none */
  bool (*answered)(void *context, const nst_job *job, const nst_sample *sample, const char *hash); /* false: stop */
  void (*notice)(void *context, const char *text);                 /* something people should know */
  void (*progress)(void *context, const nst_client_progress *now); /* a few times a second */
  int stop_fd;                                                     /* readable when somebody wants an end; -1: none */
  int (*stopping)(void *context);                                  /* 0: no, 1: start nothing new, 2: end at once */
} nst_client_calls;

typedef enum {
  NST_CLIENT_DONE,
  NST_CLIENT_STOPPED,      /* by stopping */
  NST_CLIENT_RATE_LIMITED, /* the server asks for a longer wait than is allowed */
  NST_CLIENT_REFUSED,      /* key, model or request are refused */
  NST_CLIENT_UNREACHABLE,  /* the server does not answer */
  NST_CLIENT_FAILED,       /* answered said false */
} nst_client_end;

typedef struct nst_client nst_client;
/* key: NULL for servers that want none. Everything is borrowed for the life of the client. NULL: `error` says why. */
nst_client *nst_client_new(const nst_run_settings *settings, const nst_patience *patience, const nst_server *server,
                           const char *key, char error[NST_RUNFILE_ERROR]);
void nst_client_free(nst_client *client);
/* What the server would not take in earlier runs; what it will not take now is added. */
nst_refused_parameters *nst_client_refused(nst_client *client);
/* Until there is no job left, or an end that `error` explains. May be called again. */
nst_client_end nst_client_run(nst_client *client, const nst_client_calls *calls, char error[NST_RUNFILE_ERROR]);
const nst_client_progress *nst_client_totals(const nst_client *client);
#endif
