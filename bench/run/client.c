/* The client's loop over libcurl's multi interface: what is under way, what waits, what an answer leads to. */
#include "bench/run/client.h"

#include "bench/record/memory.h"
#include "bench/record/random.h"
#include "bench/run/pace.h"
#include "bench/run/reply.h"
#include "bench/run/secret.h"

#include <curl/curl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

enum {
  LARGEST_ANSWER = 16 << 20,
  MANY_LIMITED = 3,  /* refusals for the rate without an answer between them, before everybody waits */
  MOST_LIMITED = 20, /* refusals for the rate of one request, before it is told */
  MOST_FAILED = 10,  /* requests in a row that finally fail, before the server counts as gone */
};
static const double FIRST_BACKOFF = 1, DRAIN_SECONDS = 10, CONNECT_SECONDS = 30, POLL_SECONDS = 1,
                    PROGRESS_SECONDS = 0.2;

typedef struct {
  nst_job job;
  size_t sent;               /* of job.wanted, in this request */
  uint64_t attempt, limited; /* requests that failed, that were put off */
  unsigned generation;       /* of the refused parameters, when it was sent */
  double due, started;
  CURL *easy; /* NULL: it waits */
  char *body, *answer;
  size_t answer_size;
  bool too_large;
  nst_pace_headers headers;
  char trouble[CURL_ERROR_SIZE];
} flight;

struct nst_client {
  const nst_run_settings *settings;
  const nst_patience *patience;
  const nst_server *server;
  const char *key;
  size_t key_size;
  nst_refused_parameters refused;
  unsigned generation;
  bool single; /* n is not taken: one answer a request */
  CURLM *multi;
  struct curl_slist *headers;
  flight **flights;
  size_t nflights, room;
  nst_pace pace;
  nst_random random;
  double pause_until, first, drain_until, last_progress;
  uint64_t failed_in_a_row, limited_in_a_row;
  bool met; /* the server has answered, be it with a refusal */
  bool exhausted, draining;
  nst_client_end end;
  nst_client_progress totals;
  const nst_client_calls *calls;
  char *error;
};

static double now_seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double chance(nst_client *c) { return (double)(nst_random_next(&c->random) >> 11) / 9007199254740992.0; }

/* ---- making --------------------------------------------------------------- */

static bool add_header(nst_client *c, const char *name, const char *value) {
  const size_t size = strlen(name) + strlen(value) + 3;
  char *line = nst_memory_new(size, 1);
  snprintf(line, size, "%s: %s", name, value);
  struct curl_slist *longer = curl_slist_append(c->headers, line);
  memset(line, 0, size);
  free(line);
  if (longer) c->headers = longer;
  return longer != NULL;
}

static bool make_headers(nst_client *c) {
  bool ok = add_header(c, "Content-Type", "application/json") && add_header(c, "Accept", "application/json");
  struct curl_slist *no_expect = curl_slist_append(c->headers, "Expect:");
  if (no_expect) c->headers = no_expect;
  switch (c->settings->dialect) {
  case NST_DIALECT_OPENAI: {
    if (!c->key) break;
    char *bearer = nst_memory_new(c->key_size + 8, 1);
    snprintf(bearer, c->key_size + 8, "Bearer %s", c->key);
    ok = ok && add_header(c, "Authorization", bearer);
    memset(bearer, 0, c->key_size + 8);
    free(bearer);
    break;
  }
  case NST_DIALECT_ANTHROPIC:
    ok = ok && add_header(c, "anthropic-version", "2023-06-01") && (!c->key || add_header(c, "x-api-key", c->key));
    break;
  }
  return ok && no_expect;
}

nst_client *nst_client_new(const nst_run_settings *settings, const nst_patience *patience, const nst_server *server,
                           const char *key, char error[NST_RUNFILE_ERROR]) {
  for (const char *k = key; k && *k; k++)
    if ((unsigned char)*k <= ' ' || (unsigned char)*k >= 127) {
      snprintf(error, NST_RUNFILE_ERROR,
               "the key holds a space, a control character or one outside ASCII, which no header may hold");
      return NULL;
    }
  nst_client *c = nst_memory_new(1, sizeof *c);
  uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed) seed = (uint64_t)time(NULL);
  *c = (nst_client){.settings = settings,
                    .patience = patience,
                    .server = server,
                    .key = key,
                    .key_size = key ? strlen(key) : 0,
                    .refused.dropped = json_array(),
                    .pace = nst_pace_make(patience->concurrency),
                    .random = nst_random_make(seed, "jitter"),
                    .first = -1};
  c->multi = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? curl_multi_init() : NULL;
  if (c->multi && make_headers(c)) return c;
  snprintf(error, NST_RUNFILE_ERROR, "libcurl cannot be started");
  nst_client_free(c);
  return NULL;
}

static void flight_land(nst_client *c, flight *f) {
  if (f->easy) {
    curl_multi_remove_handle(c->multi, f->easy);
    curl_easy_cleanup(f->easy);
    f->easy = NULL;
    c->totals.in_flight--;
  }
  free(f->body);
  free(f->answer);
  f->body = f->answer = NULL;
  f->answer_size = 0;
}

static void flight_free(nst_client *c, flight *f) {
  flight_land(c, f);
  json_decref(f->job.messages);
  json_decref(f->job.members);
  for (size_t i = 0; i < c->nflights; i++)
    if (c->flights[i] == f) c->flights[i] = c->flights[--c->nflights];
  free(f);
}

void nst_client_free(nst_client *c) {
  if (!c) return;
  while (c->nflights) flight_free(c, c->flights[0]);
  free(c->flights);
  curl_multi_cleanup(c->multi);
  curl_slist_free_all(c->headers);
  json_decref(c->refused.dropped);
  free(c);
}

nst_refused_parameters *nst_client_refused(nst_client *c) { return &c->refused; }
const nst_client_progress *nst_client_totals(const nst_client *c) { return &c->totals; }

/* ---- sending -------------------------------------------------------------- */

static size_t take_answer(char *bytes, size_t one, size_t n, void *context) {
  flight *f = context;
  n *= one;
  if (n > LARGEST_ANSWER - f->answer_size) {
    f->too_large = true;
    return 0;
  }
  f->answer = nst_memory_grow(f->answer, f->answer_size + n + 1, 1);
  memcpy(f->answer + f->answer_size, bytes, n);
  f->answer_size += n;
  return n;
}

static size_t take_header(char *bytes, size_t one, size_t n, void *context) {
  nst_pace_headers_take(&((flight *)context)->headers, bytes, one * n);
  return one * n;
}

static void send_flight(nst_client *c, flight *f, double now) {
  f->sent = c->single ? 1 : f->job.n;
  f->generation = c->generation;
  f->started = now;
  f->too_large = false;
  *f->trouble = '\0';
  nst_pace_headers_init(&f->headers);
  size_t size;
  f->body = nst_request_body(c->settings, &c->refused, f->job.messages, f->job.constrained, f->job.wanted[0].number,
                             f->sent, &size);
  CURL *e = f->easy = curl_easy_init();
  if (!e) return;
  curl_easy_setopt(e, CURLOPT_URL, c->server->endpoint);
  curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(e, CURLOPT_FOLLOWLOCATION, 0L); /* the key goes to the server that was named and to no other */
  if (c->server->authorities) curl_easy_setopt(e, CURLOPT_CAINFO, c->server->authorities);
  curl_easy_setopt(e, CURLOPT_HTTPHEADER, c->headers);
  curl_easy_setopt(e, CURLOPT_USERAGENT, "nestor-bench/" NST_VERSION);
  curl_easy_setopt(e, CURLOPT_POST, 1L);
  curl_easy_setopt(e, CURLOPT_POSTFIELDS, f->body);
  curl_easy_setopt(e, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
  curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, take_answer);
  curl_easy_setopt(e, CURLOPT_WRITEDATA, f);
  curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, take_header);
  curl_easy_setopt(e, CURLOPT_HEADERDATA, f);
  curl_easy_setopt(e, CURLOPT_ERRORBUFFER, f->trouble);
  curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(e, CURLOPT_TIMEOUT_MS, (long)fmin(c->patience->timeout * 1000, 1e9));
  curl_easy_setopt(e, CURLOPT_CONNECTTIMEOUT_MS, (long)(CONNECT_SECONDS * 1000));
  curl_easy_setopt(e, CURLOPT_PRIVATE, f);
  curl_multi_add_handle(c->multi, e);
  c->totals.requests++;
  c->totals.in_flight++;
  if (c->first < 0) c->first = now;
}

/* ---- endings -------------------------------------------------------------- */

/* Starts nothing new; what is under way may still come for a while. The first reason is told. */
static void begin_end(nst_client *c, nst_client_end end, double drain, double now) {
  if (c->draining && end != NST_CLIENT_FAILED) return;
  c->draining = true;
  c->end = end;
  c->drain_until = now + drain;
}

static void stop_with(nst_client *c, nst_client_end end, double now, const char *text, const char *what_to_do) {
  if (c->draining) return;
  snprintf(c->error, NST_RUNFILE_ERROR, "%.320s%.180s", text, what_to_do);
  begin_end(c, end, end == NST_CLIENT_RATE_LIMITED ? c->patience->timeout : DRAIN_SECONDS, now);
}

/* ---- samples -------------------------------------------------------------- */

static void put_members(nst_client *c, json_t *sample, const flight *f, size_t i, long latency_ms) {
  char at[32];
  struct tm tm;
  const time_t clock = time(NULL);
  strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&clock, &tm));
  json_object_set_new(sample, "answered_at", json_string(at));
  json_object_set_new(sample, "latency_ms", json_integer(latency_ms));
  json_object_set_new(sample, "request_hash", json_string(f->job.wanted[i].hash));
  if (f->job.members) json_object_update(sample, f->job.members);
  nst_secret_strike_json(sample, c->key);
}

static json_t *begin_sample(nst_client *c, const flight *f, size_t i) {
  (void)c;
  return json_pack("{s:s, s:s, s:s}", "schema", "nestor.sample/1", "task_id", f->job.task_id, "sample_id",
                   f->job.wanted[i].sample_id);
}

/* Takes the object over. */
static bool hand_over(nst_client *c, const flight *f, size_t i, json_t *json) {
  nst_sample sample;
  char error[NST_RECORD_ERROR];
  if (!nst_sample_take(&sample, json, error)) {
    snprintf(c->error, NST_RUNFILE_ERROR, "the answer to task %.100s makes no sample: %s", f->job.task_id, error);
    return false;
  }
  const bool ok = c->calls->answered(c->calls->context, &f->job, &sample, f->job.wanted[i].hash);
  nst_sample_fini(&sample);
  return ok;
}

static double tokens(const json_t *usage, const char *name) {
  return (double)json_integer_value(json_object_get(usage, name));
}

/* Usage is of the whole request: the first of its samples has it. */
static void put_usage(nst_client *c, json_t *sample, json_t *usage) {
  if (!usage) return;
  json_object_set(sample, "usage", usage);
  const double in = tokens(usage, "input_tokens"), out = tokens(usage, "output_tokens");
  c->totals.tokens_in += in;
  c->totals.tokens_out += out;
  const double cost = nst_run_settings_cost(c->settings, usage);
  if (isnan(cost)) return;
  json_object_set_new(sample, "cost", json_real(cost));
  c->totals.cost += cost;
}

/* Gives the choices to the samples that wait for them; what is left over waits on. */
static void answered(nst_client *c, flight *f, nst_reply *reply, long latency_ms, double now) {
  static const char *const texts[] = {"completion", "raw", "reasoning", "refusal"};
  size_t n = json_array_size(reply->choices);
  if (n > f->sent) n = f->sent;
  if (n < f->sent && !c->single) {
    c->single = true;
    c->calls->notice(
      c->calls->context,
      "the server gives fewer answers than one request asks for; from now on each has a request of its own");
  }
  bool ok = true;
  for (size_t i = 0; ok && i < n; i++) {
    const json_t *choice = json_array_get(reply->choices, i);
    json_t *sample = begin_sample(c, f, i);
    for (int k = 0; k < 4; k++) json_object_set(sample, texts[k], json_object_get(choice, texts[k]));
    json_object_set_new(sample, "model", json_string(c->settings->model));
    if (*reply->served && strcmp(reply->served, c->settings->model))
      json_object_set_new(sample, "served_model", json_string(reply->served));
    if (*reply->fingerprint) json_object_set_new(sample, "system_fingerprint", json_string(reply->fingerprint));
    json_object_set_new(sample, "sampling",
                        nst_request_sampling(c->settings, &c->refused, f->job.constrained, f->job.wanted[0].number));
    json_object_set(sample, "finish_reason", json_object_get(choice, "finish_reason"));
    if (i == 0) put_usage(c, sample, reply->usage);
    put_members(c, sample, f, i, latency_ms);
    ok = hand_over(c, f, i, sample);
    if (ok) c->totals.answered++;
  }
  if (!ok) return begin_end(c, NST_CLIENT_FAILED, 0, now), flight_free(c, f);
  c->failed_in_a_row = c->limited_in_a_row = 0;
  nst_pace_good(&c->pace);
  f->job.n -= n;
  if (!f->job.n) return flight_free(c, f);
  memmove(f->job.wanted, f->job.wanted + n, f->job.n * sizeof *f->job.wanted);
  flight_land(c, f);
  f->attempt = f->limited = 0;
  f->due = now;
}

/* It will not come: each of its samples says so. */
static void finally_failed(nst_client *c, flight *f, const char *text, long latency_ms, double now) {
  bool ok = true;
  for (size_t i = 0; ok && i < f->job.n; i++) {
    json_t *sample = begin_sample(c, f, i);
    json_object_set_new(sample, "error", json_string(text));
    json_object_set_new(sample, "model", json_string(c->settings->model));
    put_members(c, sample, f, i, latency_ms);
    ok = hand_over(c, f, i, sample);
    c->totals.failed++;
  }
  if (!ok) begin_end(c, NST_CLIENT_FAILED, 0, now);
  flight_free(c, f);
  if (++c->failed_in_a_row >= MOST_FAILED)
    stop_with(c, NST_CLIENT_UNREACHABLE, now, text,
              "; 10 requests in a row failed, so the run stops here; the same command asks for them again");
}

/* ---- what an answer leads to ---------------------------------------------- */

/* all: everybody waits as long as the server asks, no longer. false: that is longer than is allowed. */
static bool wait_for(nst_client *c, double asked, bool all, double now, const char *text) {
  if (asked <= c->patience->longest_wait) {
    if (all) c->pause_until = fmax(c->pause_until, now + asked);
    return true;
  }
  char what[160];
  snprintf(
    what, sizeof what,
    "; rate limited: the server asks to wait %.0f s, longer than --longest-wait %.0f; run the same command later",
    asked, c->patience->longest_wait);
  stop_with(c, NST_CLIENT_RATE_LIMITED, now, text, what);
  return false;
}

static void put_off(nst_client *c, flight *f, double until) {
  flight_land(c, f);
  f->due = until;
}

/* One refusal among answers puts off its own request and makes the others fewer. Several in a row, or a limit that is
 * told to be used up, are the server's word to all. Its own request comes back a little later than asked, so that not
 * all come back at once. */
static void limited(nst_client *c, flight *f, const char *text, double now) {
  c->totals.limited++;
  const bool all = ++c->limited_in_a_row >= MANY_LIMITED || c->pace.limit < 2 || nst_pace_headers_used_up(&f->headers);
  if (all)
    nst_pace_trouble(&c->pace, f->started, now);
  else
    nst_pace_limited(&c->pace, f->started, now);
  if (++f->limited >= MOST_LIMITED) {
    stop_with(c, NST_CLIENT_RATE_LIMITED, now, text,
              "; rate limited: one request was put off 20 times; run the same command later");
    return flight_free(c, f);
  }
  double asked = nst_pace_headers_wait(&f->headers, true, (double)time(NULL)), more = 0;
  if (asked < 0)
    asked = fmin(nst_pace_backoff(f->limited, chance(c)), c->patience->longest_wait);
  else
    more = 0.05 + chance(c) * fmin(1, 0.1 * asked);
  if (!wait_for(c, asked, all, now, text)) return flight_free(c, f);
  put_off(c, f, now + asked + more);
}

static void again(nst_client *c, flight *f, const char *text, long latency_ms, bool unreachable, double now) {
  c->totals.again++;
  nst_pace_trouble(&c->pace, f->started, now);
  if (++f->attempt >= c->patience->attempts) {
    if (!unreachable) return finally_failed(c, f, text, latency_ms, now);
    stop_with(c, NST_CLIENT_UNREACHABLE, now, text, "; the same command goes on when the server is there");
    return flight_free(c, f);
  }
  const double asked = nst_pace_headers_wait(&f->headers, false, (double)time(NULL)),
               longest = unreachable && !c->met ? FIRST_BACKOFF : HUGE_VAL,
               backoff = fmin(longest, nst_pace_backoff(f->attempt, chance(c)));
  if (asked > backoff && !wait_for(c, asked, true, now, text)) return flight_free(c, f);
  put_off(c, f, now + fmax(asked, backoff));
}

/* A request that is refused for what it holds. */
static void bad(nst_client *c, flight *f, const nst_reply *reply, const char *text, long latency_ms, double now) {
  char said[NST_REPLY_TEXT + 400];
  if (f->generation != c->generation) return put_off(c, f, now); /* sent before a parameter was left out */
  const char *parameter = nst_request_refused(c->settings, &c->refused, reply->text, reply->param, reply->code);
  if (parameter) {
    const char *becomes = nst_request_drop(&c->refused, parameter);
    if (!strcmp(parameter, "n")) c->single = true;
    c->generation++;
    if (becomes)
      snprintf(said, sizeof said, "%s; %s is sent as %s from now on", text, parameter, becomes);
    else
      snprintf(said, sizeof said, "%s; %s is left out from now on", text, parameter);
    c->calls->notice(c->calls->context, said);
    return put_off(c, f, now);
  }
  const bool too_long = !strcmp(reply->code, "context_length_exceeded") || strcasestr(reply->text, "context length") ||
                        strcasestr(reply->text, "too long") || strcasestr(reply->text, "context size") ||
                        strcasestr(reply->text, "too large");
  if (c->totals.answered || too_long) return finally_failed(c, f, text, latency_ms, now);
  stop_with(c, NST_CLIENT_REFUSED, now, text, "; --omit PARAM leaves a parameter out of requests");
  flight_free(c, f);
}

/* Trouble below HTTP. true: no server was reached. */
static bool connection_trouble(const flight *f, CURLcode code, char *text, size_t room, nst_reply_kind *kind) {
  *kind = NST_REPLY_AGAIN;
  if (f->too_large) {
    snprintf(text, room, "the answer is larger than 16 MiB");
    return false;
  }
  char detail[CURL_ERROR_SIZE];
  nst_reply_line(detail, sizeof detail, f->trouble, strlen(f->trouble));
  snprintf(text, room, "%s", *detail ? detail : curl_easy_strerror(code));
  switch ((int)code) {
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CACERT_BADFILE:
  case CURLE_UNSUPPORTED_PROTOCOL:
  case CURLE_URL_MALFORMAT: *kind = NST_REPLY_STOP; return false;
  case CURLE_COULDNT_CONNECT:
  case CURLE_COULDNT_RESOLVE_HOST:
  case CURLE_COULDNT_RESOLVE_PROXY: return true;
  }
  return false;
}

static void landed(nst_client *c, flight *f, CURLcode code, double now) {
  nst_reply reply = {0};
  char text[NST_REPLY_TEXT + 200], trouble[NST_REPLY_TEXT];
  bool unreachable = false;
  long status = 0;
  curl_off_t microseconds = 0;
  curl_easy_getinfo(f->easy, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(f->easy, CURLINFO_TOTAL_TIME_T, &microseconds);
  const long latency_ms = (long)(microseconds / 1000);
  if (code == CURLE_OK) {
    c->met = true;
    if (f->answer) nst_secret_strike(f->answer, f->answer_size, c->key);
    nst_reply_read(&reply, c->settings->dialect, status, f->answer ? f->answer : "", f->answer_size, c->key);
    snprintf(text, sizeof text, "%s says %ld%s%s", c->server->host, status, *reply.text ? ": " : "", reply.text);
    if (reply.kind == NST_REPLY_AGAIN && status >= 200 && status < 300)
      snprintf(text, sizeof text, "%s: %s", c->server->host, reply.text);
  } else {
    unreachable = connection_trouble(f, code, trouble, sizeof trouble, &reply.kind);
    snprintf(text, sizeof text, "%s: %s", c->server->host, trouble);
  }
  nst_secret_strike(text, strlen(text), c->key);
  if (c->draining && reply.kind != NST_REPLY_ANSWERED) return nst_reply_fini(&reply), flight_free(c, f);
  switch (reply.kind) {
  case NST_REPLY_ANSWERED: {
    const double asked = nst_pace_headers_wait(&f->headers, false, (double)time(NULL));
    if (asked > 0) c->pause_until = fmax(c->pause_until, now + fmin(asked, c->patience->longest_wait));
    answered(c, f, &reply, latency_ms, now);
    break;
  }
  case NST_REPLY_AGAIN: again(c, f, text, latency_ms, unreachable, now); break;
  case NST_REPLY_LIMITED: limited(c, f, text, now); break;
  case NST_REPLY_BAD: bad(c, f, &reply, text, latency_ms, now); break;
  case NST_REPLY_STOP:
    stop_with(c, NST_CLIENT_REFUSED, now, text,
              status == 404   ? "; is the address that of the API (often it ends in /v1), and is the model there?"
              : status == 401 ? "; the key comes from NESTOR_API_KEY, or --key-env NAME"
              : status >= 300 && status < 400 ? "; redirections are not followed: give --base-url where it leads"
                                              : "");
    flight_free(c, f);
    break;
  }
  nst_reply_fini(&reply);
}

/* ---- the loop ------------------------------------------------------------- */

/* The flight that has waited longest past its time, or a new job. NULL: there is nothing to send now. Until the server
 * has answered the first request is the only one. */
static flight *next_flight(nst_client *c, double now) {
  flight *best = NULL;
  for (size_t i = 0; i < c->nflights; i++) {
    flight *f = c->flights[i];
    if (!f->easy && f->due <= now && (!best || f->due < best->due)) best = f;
  }
  if (best || c->exhausted || (c->nflights && !c->met) || c->nflights >= 2 * (size_t)c->pace.most + 2) return best;
  flight *f = nst_memory_new(1, sizeof *f);
  if (!c->calls->next(c->calls->context, &f->job)) {
    c->exhausted = true;
    free(f);
    return NULL;
  }
  if (c->nflights == c->room) c->flights = nst_memory_grow(c->flights, c->room = 2 * c->room + 16, sizeof *c->flights);
  return c->flights[c->nflights++] = f;
}

/* How long nothing will happen by itself. */
static int idle_ms(const nst_client *c, double now) {
  double until = now + POLL_SECONDS;
  for (size_t i = 0; i < c->nflights; i++)
    if (!c->flights[i]->easy) until = fmin(until, fmax(c->flights[i]->due, c->pause_until));
  if (c->draining)
    until = fmin(until, c->drain_until);
  else if (c->pause_until > now)
    until = fmin(until, c->pause_until);
  until = fmin(until, c->last_progress + PROGRESS_SECONDS);
  return until <= now ? 1 : (int)ceil((until - now) * 1000);
}

static void show(nst_client *c, double now) {
  if (now - c->last_progress < PROGRESS_SECONDS) return;
  c->last_progress = now;
  c->totals.room = (uint64_t)c->pace.limit;
  double until = c->pause_until;
  if (!c->totals.in_flight && c->nflights) { /* all there is was put off */
    double due = HUGE_VAL;
    for (size_t i = 0; i < c->nflights; i++) due = fmin(due, c->flights[i]->due);
    until = fmax(until, due);
  }
  c->totals.waiting = fmax(0, until - now);
  c->totals.seconds = c->first < 0 ? 0 : now - c->first;
  c->calls->progress(c->calls->context, &c->totals);
}

nst_client_end nst_client_run(nst_client *c, const nst_client_calls *calls, char error[NST_RUNFILE_ERROR]) {
  c->calls = calls;
  c->error = error;
  c->exhausted = c->draining = false;
  c->end = NST_CLIENT_DONE;
  *error = '\0';
  for (bool over = false; !over;) {
    double now = now_seconds();
    while (!c->draining && now >= c->pause_until && c->totals.in_flight < (uint64_t)c->pace.limit) {
      flight *f = next_flight(c, now);
      if (!f) break;
      send_flight(c, f, now);
      if (!f->easy) stop_with(c, NST_CLIENT_REFUSED, now, "libcurl is out of memory", "");
    }
    int running, left;
    bool news = false;
    curl_multi_perform(c->multi, &running);
    for (CURLMsg *message; (message = curl_multi_info_read(c->multi, &left));) {
      if (message->msg != CURLMSG_DONE) continue;
      flight *f = NULL;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &f);
      landed(c, f, message->data.result, now_seconds());
      news = true;
    }
    now = now_seconds();
    show(c, now);
    over = c->draining ? !c->totals.in_flight || now >= c->drain_until : c->exhausted && !c->nflights;
    if (over) break;
    struct curl_waitfd stop = {.fd = calls->stop_fd, .events = CURL_WAIT_POLLIN};
    curl_multi_poll(c->multi, &stop, calls->stop_fd >= 0, news ? 0 : idle_ms(c, now),
                    NULL); /* what has landed makes room */
    const int wish = stop.revents ? calls->stopping(calls->context) : 0;
    if (!wish) continue;
    begin_end(c, NST_CLIENT_STOPPED, DRAIN_SECONDS, now);
    c->drain_until = fmin(c->drain_until, wish == 1 ? now + DRAIN_SECONDS : now);
  }
  while (c->nflights) flight_free(c, c->flights[0]);
  c->last_progress = 0;
  show(c, now_seconds());
  return c->end;
}
