/* Bodies of both dialects, their hash, and what to leave out of them. */
#include "bench/run/request.h"

#include "bench/record/memory.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The anthropic dialect needs a bound. */
enum { ANTHROPIC_TOKENS = 8192 };

static bool is_role(const json_t *message, const char *role) {
  const char *text = json_string_value(json_object_get(message, "role"));
  return text && !strcmp(text, role);
}

static json_t *joined(const char *a, const char *b) {
  const size_t size = strlen(a) + strlen(b) + 3;
  char *text = nst_memory_new(size, 1);
  snprintf(text, size, "%s\n\n%s", a, b);
  json_t *out = json_string(text);
  free(text);
  return out;
}

json_t *nst_request_messages(const nst_run_settings *settings, const json_t *messages) {
  json_t *out = json_array();
  const char *system = settings->system;
  const json_t *first = json_array_get(messages, 0);
  size_t from = 0;
  if (system) {
    const char *own = is_role(first, "system") ? json_string_value(json_object_get(first, "content")) : NULL;
    json_t *text = own ? joined(system, own) : json_string(system);
    json_array_append_new(out, json_pack("{s:s, s:o}", "role", "system", "content", text));
    from = own ? 1 : 0;
  }
  for (size_t i = from; i < json_array_size(messages); i++) json_array_append(out, json_array_get(messages, i));
  return out;
}

static bool left_out(const nst_run_settings *s, const nst_refused_parameters *refused, const char *name) {
  for (size_t i = 0; i < s->nomit; i++)
    if (!strcmp(s->omit[i], name)) return true;
  for (size_t i = 0; i < json_array_size(refused->dropped); i++)
    if (!strcmp(json_string_value(json_array_get(refused->dropped, i)), name)) return true;
  return false;
}

/* All parameters of a body beside model and messages, as they are sent. */
static json_t *parameters(const nst_run_settings *s, const nst_refused_parameters *refused, bool constrained,
                          uint64_t first, size_t n) {
  json_t *all = json_object(), *out = json_object();
  const bool anthropic = s->dialect == NST_DIALECT_ANTHROPIC;
  if (s->max_tokens != NST_NOT_GIVEN || anthropic)
    json_object_set_new(all, refused->completion_tokens ? "max_completion_tokens" : "max_tokens",
                        json_integer(s->max_tokens != NST_NOT_GIVEN ? (json_int_t)s->max_tokens : ANTHROPIC_TOKENS));
  if (!isnan(s->temperature)) json_object_set_new(all, "temperature", json_real(s->temperature));
  if (!isnan(s->top_p)) json_object_set_new(all, "top_p", json_real(s->top_p));
  if (s->seed != NST_NOT_GIVEN)
    json_object_set_new(all, "seed", json_integer((json_int_t)((s->seed + first) & INT64_MAX)));
  if (n > 1) json_object_set_new(all, "n", json_integer((json_int_t)n));
  if (constrained && s->constraint == NST_CONSTRAINT_LLAMA)
    json_object_set_new(all, "grammar", json_string(s->grammar));
  if (constrained && s->constraint == NST_CONSTRAINT_VLLM)
    json_object_set_new(all, "structured_outputs", json_pack("{s:s}", "grammar", s->grammar));
  if (s->extra) json_object_update(all, s->extra);
  const char *name;
  json_t *value;
  json_object_foreach(all, name, value) if (!left_out(s, refused, name)) json_object_set(out, name, value);
  json_decref(all);
  return out;
}

char *nst_request_body(const nst_run_settings *s, const nst_refused_parameters *refused, const json_t *messages,
                       bool constrained, uint64_t first, size_t n, size_t *size) {
  json_t *body = json_pack("{s:s}", "model", s->model);
  if (s->dialect == NST_DIALECT_ANTHROPIC) { /* system texts stand apart */
    json_t *system = NULL, *rest = json_array();
    for (size_t i = 0; i < json_array_size(messages); i++) {
      json_t *message = json_array_get(messages, i);
      if (!is_role(message, "system")) {
        json_array_append(rest, message);
        continue;
      }
      const char *text = json_string_value(json_object_get(message, "content"));
      json_t *longer = system ? joined(json_string_value(system), text ? text : "") : json_string(text ? text : "");
      json_decref(system);
      system = longer;
    }
    if (system) json_object_set_new(body, "system", system);
    json_object_set_new(body, "messages", rest);
  } else
    json_object_set(body, "messages", (json_t *)messages);
  json_t *rest = parameters(s, refused, constrained, first, n);
  json_object_update(body, rest);
  char *text = nst_record_text(body, size);
  json_decref(rest);
  json_decref(body);
  return text;
}

void nst_request_base(char out[NST_DIGEST_TEXT], const nst_run_settings *s, const char *path, const json_t *messages,
                      bool constrained) {
  json_t *sampling = nst_run_settings_sampling(s);
  json_object_del(sampling, "choices"); /* how they are fetched, not what they are */
  json_t *all = json_pack("{s:s, s:s, s:s, s:O, s:o, s:b}", "dialect", nst_dialect_name(s->dialect), "path", path,
                          "model", s->model, "messages", messages, "sampling", sampling, "constrained", constrained);
  size_t size;
  char *text = nst_record_text(all, &size);
  nst_digest_text(out, (const nst_digest_part[]){{text, size}}, 1);
  free(text);
  json_decref(all);
}

void nst_request_hash(char out[NST_DIGEST_TEXT], const char base[NST_DIGEST_TEXT], uint64_t number) {
  char text[32];
  const int n = snprintf(text, sizeof text, "\n%llu", (unsigned long long)number);
  nst_digest_text(out, (const nst_digest_part[]){{base, NST_DIGEST_TEXT - 1}, {text, (size_t)n}}, 2);
}

json_t *nst_request_sampling(const nst_run_settings *s, const nst_refused_parameters *refused, bool constrained,
                             uint64_t number) {
  json_t *out = parameters(s, refused, constrained, number, 1);
  /* The grammar stands in the run file once, by its hash. */
  if (json_object_get(out, "grammar")) json_object_set_new(out, "grammar", json_string("gbnf"));
  if (json_object_get(out, "structured_outputs")) json_object_set_new(out, "structured_outputs", json_string("gbnf"));
  return out;
}

/* ---- refused parameters --------------------------------------------------- */

/* Where a text names a parameter as a word of its own; NULL: nowhere. */
static const char *named(const char *text, const char *name) {
  const size_t n = strlen(name);
  for (const char *at = text; (at = strcasestr(at, name)); at++) {
    const bool before = at == text || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
    const bool after = !isalnum((unsigned char)at[n]) && at[n] != '_';
    if (before && after) return at;
  }
  return NULL;
}

const char *nst_request_refused(const nst_run_settings *s, const nst_refused_parameters *refused, const char *text,
                                const char *param, const char *code) {
  /* A value out of range is the user's to mend: only a parameter that is not known or not taken goes. */
  static const char *const words[] = {"unsupported", "not support", "unrecognized",  "unrecognised",
                                      "unknown",     "unexpected",  "not permitted", "not allowed",
                                      "extra input", "extra field", "deprecated",    "only the default"};
  bool about = code && (!strncmp(code, "unsupported_", 12) || !strcmp(code, "unknown_parameter"));
  for (size_t i = 0; !about && i < sizeof words / sizeof *words; i++) about = strcasestr(text, words[i]) != NULL;
  if (!about) return NULL;
  json_t *sent =
    parameters(s, refused, false, 0, s->choices); /* without the grammar: its loss would change what is measured */
  const char *found = NULL, *earliest = NULL, *name;
  json_t *value;
  json_object_foreach(sent, name, value) {
    const char *at = param && named(param, name) ? text : named(text, name);
    if (param && *param && !named(param, name)) at = NULL;
    if (!at || (earliest && at >= earliest)) continue;
    earliest = at;
    found = !strcmp(name, "max_tokens")              ? "max_tokens"
            : !strcmp(name, "max_completion_tokens") ? "max_completion_tokens"
                                                     : name;
  }
  /* The name outlives the object: it is the caller's settings' or one of ours. */
  static const char *const ours[] = {"max_tokens", "max_completion_tokens", "temperature", "top_p", "seed", "n"};
  const char *kept = NULL;
  for (size_t i = 0; found && i < sizeof ours / sizeof *ours; i++)
    if (!strcmp(found, ours[i])) kept = ours[i];
  if (found && !kept) json_object_foreach(s->extra, name, value) if (!strcmp(found, name)) kept = name;
  json_decref(sent);
  /* The bound is needed there. */
  if (kept && s->dialect == NST_DIALECT_ANTHROPIC && !strcmp(kept, "max_tokens")) return NULL;
  return kept;
}

const char *nst_request_drop(nst_refused_parameters *refused, const char *parameter) {
  if (!strcmp(parameter, "max_tokens") && !refused->completion_tokens) {
    refused->completion_tokens = true;
    return "max_completion_tokens";
  }
  json_array_append_new(refused->dropped, json_string(parameter));
  return NULL;
}
