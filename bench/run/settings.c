/* Settings: their checks, as facts of a run file, and the server's address. */
#include "bench/run/settings.h"

#include "bench/record/digest.h"
#include "bench/record/memory.h"
#include "bench/run/build.h"

#include <curl/curl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *nst_dialect_name(nst_dialect dialect) {
  switch (dialect) {
  case NST_DIALECT_OPENAI: return "openai";
  case NST_DIALECT_ANTHROPIC: return "anthropic";
  }
  return "";
}

bool nst_dialect_parse(nst_dialect *out, const char *name) {
  for (int i = 0; i <= NST_DIALECT_ANTHROPIC; i++)
    if (!strcmp(name, nst_dialect_name((nst_dialect)i))) return *out = (nst_dialect)i, true;
  return false;
}

const char *nst_constraint_name(nst_constraint constraint) {
  switch (constraint) {
  case NST_CONSTRAINT_NONE: return "none";
  case NST_CONSTRAINT_LLAMA: return "llama.cpp";
  case NST_CONSTRAINT_VLLM: return "vllm";
  }
  return "";
}

bool nst_constraint_parse(nst_constraint *out, const char *name) {
  for (int i = 0; i <= NST_CONSTRAINT_VLLM; i++)
    if (!strcmp(name, nst_constraint_name((nst_constraint)i))) return *out = (nst_constraint)i, true;
  return false;
}

void nst_run_settings_init(nst_run_settings *settings) {
  *settings = (nst_run_settings){.temperature = NAN,
                                 .top_p = NAN,
                                 .max_tokens = NST_NOT_GIVEN,
                                 .seed = NST_NOT_GIVEN,
                                 .choices = 1,
                                 .price_in = NAN,
                                 .price_out = NAN};
}

/* ---- checks --------------------------------------------------------------- */

static const double highest_price = 1e9; /* costs are finite at any number of tokens */

static bool wrong(char *error, const char *text) {
  snprintf(error, NST_RUNFILE_ERROR, "%s", text);
  return false;
}

static bool is_utf8(const char *text) {
  json_t *json = text ? json_string(text) : json_null();
  json_decref(json);
  return json != NULL;
}

bool nst_run_settings_check(const nst_run_settings *s, char error[NST_RUNFILE_ERROR]) {
  bool utf8 = is_utf8(s->model) && is_utf8(s->system);
  for (size_t i = 0; i < s->nomit; i++) utf8 = utf8 && is_utf8(s->omit[i]);
  if (!utf8) return wrong(error, "--model, --system and --omit take UTF-8");
  if (s->dialect == NST_DIALECT_ANTHROPIC) {
    if (s->seed != NST_NOT_GIVEN) return wrong(error, "the anthropic dialect has no seed; leave --seed out");
    if (s->choices > 1) return wrong(error, "the anthropic dialect gives one answer a request; leave --choices out");
    if (s->constraint) return wrong(error, "the anthropic dialect has no grammars; leave --grammar out");
  }
  if (s->choices < 1 || s->choices > NST_CHOICES_MOST) return wrong(error, "--choices takes 1 to 64");
  if (s->temperature < 0) return wrong(error, "--temperature takes a number from 0");
  if (s->top_p < 0 || s->top_p > 1) return wrong(error, "--top-p takes a number from 0 to 1");
  if (s->max_tokens == 0) return wrong(error, "--max-tokens takes a number from 1");
  if (s->price_in < 0 || s->price_out < 0 || s->price_in > highest_price || s->price_out > highest_price)
    return wrong(error, "prices are numbers from 0 to 1,000,000,000");
  static const char *const kept[] = {"model", "messages", "system", "stream", "n"};
  for (int i = 0; i < 5; i++)
    if (json_object_get(s->extra, kept[i])) {
      snprintf(error, NST_RUNFILE_ERROR, "--extra may not set \"%s\"", kept[i]);
      return false;
    }
  for (size_t i = 0; i < s->nomit; i++)
    if (!strcmp(s->omit[i], "model") || !strcmp(s->omit[i], "messages"))
      return wrong(error, "a request needs its model and messages: --omit cannot leave them out");
  return true;
}

/* ---- facts ---------------------------------------------------------------- */

/* The same object with sorted members: the order they were typed in decides nothing. */
static json_t *in_order(const json_t *object) {
  char *text = json_dumps(object, JSON_SORT_KEYS | JSON_COMPACT);
  json_t *sorted = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
  free(text);
  return sorted;
}

json_t *nst_run_settings_sampling(const nst_run_settings *s) {
  json_t *out = json_object();
  if (!isnan(s->temperature)) json_object_set_new(out, "temperature", json_real(s->temperature));
  if (!isnan(s->top_p)) json_object_set_new(out, "top_p", json_real(s->top_p));
  if (s->max_tokens != NST_NOT_GIVEN) json_object_set_new(out, "max_tokens", json_integer((json_int_t)s->max_tokens));
  if (s->seed != NST_NOT_GIVEN) json_object_set_new(out, "seed", json_integer((json_int_t)s->seed));
  if (s->system) json_object_set_new(out, "system", json_string(s->system));
  if (s->extra) json_object_set_new(out, "extra", in_order(s->extra));
  if (s->nomit) {
    json_t *omit = json_array();
    for (size_t i = 0; i < s->nomit; i++) json_array_append_new(omit, json_string(s->omit[i]));
    json_object_set_new(out, "omit", omit);
  }
  if (s->constraint) {
    char hash[NST_DIGEST_TEXT];
    nst_digest_text(hash, (const nst_digest_part[]){{s->grammar, strlen(s->grammar)}}, 1);
    json_object_set_new(out, "grammar", json_string(nst_constraint_name(s->constraint)));
    json_object_set_new(out, "grammar_hash", json_string(hash));
  }
  if (s->choices > 1) json_object_set_new(out, "choices", json_integer((json_int_t)s->choices));
  return out;
}

static void hash_tasks(char out[NST_DIGEST_TEXT], const nst_task *tasks, size_t n) {
  nst_digest_part *parts = nst_memory_new(2 * n, sizeof *parts);
  for (size_t i = 0; i < n; i++) {
    size_t size;
    parts[2 * i].bytes = nst_record_text(tasks[i].json, &size);
    parts[2 * i].size = size;
    parts[2 * i + 1] = (nst_digest_part){"\n", 1};
  }
  nst_digest_text(out, parts, 2 * n);
  for (size_t i = 0; i < n; i++) free((void *)parts[2 * i].bytes);
  free(parts);
}

/* What people call a member of the sampling: the option that sets it. */
static void differs(char *error, const char *name, const char *there, const char *now) {
  char option[64];
  snprintf(option, sizeof option, "%s", name);
  for (char *c = option; *c; c++)
    if (*c == '_') *c = '-';
  snprintf(error, NST_RUNFILE_ERROR,
           "the run file was made with another %s: %.120s, now %.120s; use the same, or another --run FILE", option,
           there, now);
}

/* The first member in which two samplings differ. */
static void name_difference(const char *there_text, const json_t *now, char *error) {
  json_t *there = json_loads(there_text, JSON_ALLOW_NUL, NULL), *names = json_object();
  json_object_update(names, there);
  json_object_update(names, (json_t *)now);
  const char *name;
  json_t *ignored;
  json_object_foreach(names, name, ignored) {
    const json_t *a = json_object_get(there, name), *b = json_object_get(now, name);
    if (a && b && json_equal(a, b)) continue;
    char *old = a ? json_dumps(a, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) | JSON_COMPACT) : NULL;
    char *new = b ? json_dumps(b, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15) | JSON_COMPACT) : NULL;
    differs(error, name, old ? old : "not given", new ? new : "not given");
    free(old);
    free(new);
    break;
  }
  json_decref(names);
  json_decref(there);
}

typedef struct {
  const char *name;
  char *value;
} fact;
enum { MODEL, BASE_URL, DIALECT, TASKS, SUITE, SAMPLING, GRAMMAR, PINNED, PRICES = PINNED, FACTS };

/* ---- prices --------------------------------------------------------------- */

static void price(char out[32], double value) {
  if (isnan(value))
    strcpy(out, "unknown");
  else
    snprintf(out, 32, "%.15g", value);
}

void nst_run_settings_recall_price(nst_run_settings *s, nst_runfile *run) {
  const char *there = nst_runfile_get(run, "price");
  char in[32], out[32];
  if (!there || sscanf(there, "%31s in, %31s out", in, out) != 2) return;
  if (isnan(s->price_in) && strcmp(in, "unknown")) s->price_in = strtod(in, NULL);
  if (isnan(s->price_out) && strcmp(out, "unknown")) s->price_out = strtod(out, NULL);
}

double nst_run_settings_cost(const nst_run_settings *s, const json_t *usage) {
  if (!usage || (isnan(s->price_in) && isnan(s->price_out))) return NAN;
  return ((isnan(s->price_in) ? 0 : s->price_in) * (double)json_integer_value(json_object_get(usage, "input_tokens")) +
          (isnan(s->price_out) ? 0 : s->price_out) *
            (double)json_integer_value(json_object_get(usage, "output_tokens"))) /
         1e6;
}

typedef struct {
  nst_runfile *run;
  const nst_run_settings *settings;
  char *error;
  bool failed;
} repricing;

static bool reprice_sample(void *context, const nst_sample *sample, const nst_result *result) {
  repricing *r = context;
  (void)result;
  const double cost = nst_run_settings_cost(r->settings, json_object_get(sample->json, "usage"));
  if (isnan(cost)) return true;
  nst_sample other = *sample;
  other.json = json_copy(sample->json);
  json_object_set_new(other.json, "cost", json_real(cost));
  r->failed = !nst_runfile_amend_sample(r->run, &other, r->error);
  json_decref(other.json);
  return !r->failed;
}

/* The costs of what is there, at the price of now. */
static bool reprice(nst_runfile *run, const nst_run_settings *s, const char *prices, char *error) {
  repricing r = {run, s, error, false};
  return nst_runfile_begin(run, error) && nst_runfile_put(run, "price", prices, error) &&
         nst_runfile_each_sample(run, reprice_sample, &r, error) && !r.failed &&
         nst_runfile_each_revision(run, reprice_sample, &r, error) && !r.failed && nst_runfile_commit(run, error);
}

/* ---- agreement ------------------------------------------------------------ */

bool nst_run_settings_agree(nst_runfile *run, const nst_run_settings *s, const nst_task *tasks, size_t ntasks, size_t n,
                            uint64_t samples, char error[NST_RUNFILE_ERROR]) {
  json_t *sampling = nst_run_settings_sampling(s);
  char hash[NST_DIGEST_TEXT], in[32], out[32], prices[72], count[24], total[24];
  hash_tasks(hash, tasks, ntasks);
  price(in, s->price_in), price(out, s->price_out);
  snprintf(prices, sizeof prices, "%s in, %s out", in, out);
  snprintf(count, sizeof count, "%llu", (unsigned long long)samples);
  snprintf(total, sizeof total, "%zu", ntasks);
  char *sampling_text = nst_record_text(sampling, NULL);
  size_t url_size = strlen(s->base_url);
  while (url_size && s->base_url[url_size - 1] == '/') url_size--;
  char *base_url = nst_memory_text(s->base_url, url_size);
  const fact facts[FACTS] = {
    [MODEL] = {"model", (char *)s->model},
    [BASE_URL] = {"base_url", base_url},
    [DIALECT] = {"dialect", (char *)nst_dialect_name(s->dialect)},
    [TASKS] = {"tasks_hash", hash},
    [SUITE] = {"suite", (char *)(ntasks ? tasks[0].suite : "")},
    [SAMPLING] = {"sampling", sampling_text},
    [GRAMMAR] = {"grammar", (char *)(s->constraint ? nst_constraint_name(s->constraint) : NULL)},
    [PRICES] = {"price", prices}};
  bool ok = true, fresh = !nst_runfile_get(run, "model");
  for (int i = 0; ok && !fresh && i < PINNED; i++) {
    const char *there = nst_runfile_get(run, facts[i].name);
    if (there ? facts[i].value && !strcmp(there, facts[i].value) : !facts[i].value) continue;
    ok = false;
    if (i == SAMPLING && there)
      name_difference(there, sampling, error);
    else
      differs(error, i == TASKS ? "set of tasks" : facts[i].name, there ? there : "none",
              facts[i].value ? facts[i].value : "none");
  }
  const char *had = ok && !fresh ? nst_runfile_get(run, "samples") : NULL;
  const bool more = !had || strtoull(had, NULL, 10) < samples;
  if (ok && had && strtoull(had, NULL, 10) > samples) {
    snprintf(error, NST_RUNFILE_ERROR,
             "the run file has %s samples of each task, now %s: it may grow, not shrink; --samples %s or more, or another --run FILE", had, count, had);
    ok = false;
  }
  const size_t have = nst_runfile_tasks(run);
  if (ok && (more || have < n)) {
    ok = nst_runfile_begin(run, error);
    for (int i = 0; ok && fresh && i < FACTS; i++)
      if (facts[i].value) ok = nst_runfile_put(run, facts[i].name, facts[i].value, error);
    char build[NST_DIGEST_TEXT];
    if (ok && fresh && nst_build_hash(build)) ok = nst_runfile_put(run, "build", build, error);
    ok = ok && nst_runfile_put(run, "samples", count, error) && nst_runfile_put(run, "tasks_total", total, error);
    for (size_t i = have; ok && i < n; i++) ok = nst_runfile_put_task(run, i, &tasks[i], error);
    ok = ok && nst_runfile_commit(run, error);
  }
  const char *priced = ok && !fresh ? nst_runfile_get(run, "price") : prices;
  if (ok && (!priced || strcmp(priced, prices))) ok = reprice(run, s, prices, error);
  free(base_url);
  free(sampling_text);
  json_decref(sampling);
  return ok;
}

/* ---- the server ----------------------------------------------------------- */

static bool ends_in(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && !strcmp(text + n - m, end);
}

static char *part_of(CURLU *url, CURLUPart part) {
  char *text = NULL;
  if (curl_url_get(url, part, &text, 0) != CURLUE_OK) return NULL;
  char *copy = nst_memory_text(text, strlen(text));
  curl_free(text);
  return copy;
}

static bool has_part(CURLU *url, CURLUPart part) {
  char *text = part_of(url, part);
  free(text);
  return text != NULL;
}

/* The address itself stays out of messages until it is known to hold no secret. */
bool nst_server_parse(nst_server *out, const nst_run_settings *s, char error[NST_RUNFILE_ERROR]) {
  *out = (nst_server){0};
  CURLU *url = curl_url();
  if (!url) return wrong(error, "there is no memory for an address");
  const char *host = strstr(s->base_url, "://"); /* curl takes "http:///v1" for a host v1 */
  bool ok = !(host && host[3] == '/') && curl_url_set(url, CURLUPART_URL, s->base_url, 0) == CURLUE_OK;
  if (!ok)
    wrong(error, "--base-url is not an address; it looks like http://127.0.0.1:8080/v1");
  else if (has_part(url, CURLUPART_USER) || has_part(url, CURLUPART_PASSWORD))
    ok = wrong(
      error,
      "--base-url must not hold a user or a key: it would be written to the run file; put the key into NESTOR_API_KEY");
  else if (has_part(url, CURLUPART_QUERY) || has_part(url, CURLUPART_FRAGMENT))
    ok = wrong(error, "--base-url must not hold a query (?) or a fragment (#); a key belongs into NESTOR_API_KEY");
  char *scheme = ok ? part_of(url, CURLUPART_SCHEME) : NULL;
  if (ok && (!scheme || (strcasecmp(scheme, "http") && strcasecmp(scheme, "https"))))
    ok = wrong(error, "--base-url begins with http:// or https://");
  if (ok) {
    out->path = part_of(url, CURLUPART_PATH);
    out->host = part_of(url, CURLUPART_HOST);
    out->plain = !strcasecmp(scheme, "http");
    out->loopback = !strcmp(out->host, "localhost") || !strncmp(out->host, "127.", 4) || !strcmp(out->host, "[::1]");
    for (size_t n = strlen(out->path); n && out->path[n - 1] == '/'; n--) out->path[n - 1] = '\0';
    const char *leaf = s->dialect == NST_DIALECT_OPENAI ? "/chat/completions"
                       : ends_in(out->path, "/v1")      ? "/messages"
                                                        : "/v1/messages";
    if (ends_in(out->path, s->dialect == NST_DIALECT_OPENAI ? leaf : "/messages")) leaf = "";
    const size_t size = strlen(s->base_url) + 32;
    out->endpoint = nst_memory_new(size, 1);
    int n = (int)strlen(s->base_url);
    while (n && s->base_url[n - 1] == '/') n--;
    snprintf(out->endpoint, size, "%.*s%s", n, s->base_url, leaf);
  }
  free(scheme);
  curl_url_cleanup(url);
  return ok;
}

void nst_server_fini(nst_server *server) {
  free(server->endpoint);
  free(server->path);
  free(server->host);
  *server = (nst_server){0};
}
