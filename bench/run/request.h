/* A request as bytes, and its name.
 *
 * The name is the SHA-256 of everything that decides the answer: dialect, path of the base URL, model, messages,
 * sampling, sample number. It is of what was asked for, so it stays the same when the server makes the client leave a
 * parameter out. */
#ifndef NST_BENCH_RUN_REQUEST_H
#define NST_BENCH_RUN_REQUEST_H
#include "bench/record/digest.h"
#include "bench/run/settings.h"

/* What the server would not take, learnt once a run. */
typedef struct {
  json_t *dropped;        /* an array of names */
  bool completion_tokens; /* max_tokens goes by max_completion_tokens */
} nst_refused_parameters;

/* The messages with the run's system text put in. The caller owns the array. */
json_t *nst_request_messages(const nst_run_settings *settings, const json_t *messages);
/* messages: as made above; constrained: the answer is held to the grammar; first, n: sample numbers. The caller frees.
 */
char *nst_request_body(const nst_run_settings *settings, const nst_refused_parameters *refused, const json_t *messages,
                       bool constrained, uint64_t first, size_t n, size_t *size);
/* The name: of everything but the sample number, then with it. */
void nst_request_base(char out[NST_DIGEST_TEXT], const nst_run_settings *settings, const char *path,
                      const json_t *messages, bool constrained);
void nst_request_hash(char out[NST_DIGEST_TEXT], const char base[NST_DIGEST_TEXT], uint64_t number);
/* The parameters a request really had, for the sample. The caller owns the object. */
json_t *nst_request_sampling(const nst_run_settings *settings, const nst_refused_parameters *refused, bool constrained,
                             uint64_t number);

/* The parameter a text of refusal is about, of those that are sent and may be left out; NULL: none. param: what the
 * server names, or NULL. */
const char *nst_request_refused(const nst_run_settings *settings, const nst_refused_parameters *refused,
                                const char *text, const char *param, const char *code);
/* Leaves it out from now on. Returns what it goes by now, or NULL: it is left out. */
const char *nst_request_drop(nst_refused_parameters *refused, const char *parameter);
#endif
