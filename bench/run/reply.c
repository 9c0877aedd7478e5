/* Reading answers of both dialects and of the servers that nearly speak them. */
#include "bench/run/reply.h"

#include "bench/record/memory.h"
#include "bench/run/secret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- texts ---------------------------------------------------------------- */

void nst_reply_line(char *out, size_t room, const char *text, size_t size) {
  size_t n = 0;
  bool gap = false, cut = false;
  for (size_t i = 0; i < size && !cut;) {
    const unsigned char c = (unsigned char)text[i];
    size_t length = c < 0x80                ? 1
                    : c >= 0xC2 && c < 0xE0 ? 2
                    : c >= 0xE0 && c < 0xF0 ? 3
                    : c >= 0xF0 && c < 0xF5 ? 4
                                            : 0;
    bool good = length && i + length <= size;
    for (size_t k = 1; good && k < length; k++) good = ((unsigned char)text[i + k] & 0xC0) == 0x80;
    if (!good) length = 1;
    /* Control characters of ASCII and of Latin-1, spaces. */
    if (c <= ' ' || c == 0x7f || (good && c == 0xC2 && (unsigned char)text[i + 1] < 0xA0))
      gap = n > 0;
    else {
      if (n + gap + length + 3 > room)
        cut = true;
      else {
        if (gap) out[n++] = ' ';
        if (good)
          memcpy(out + n, text + i, length);
        else
          out[n] = '?';
        n += length;
      }
      gap = false;
    }
    i += length;
  }
  if (cut) out[n++] = '.', out[n++] = '.';
  out[n] = '\0';
}

static void line_of(char *out, size_t room, const json_t *text) {
  if (json_is_string(text)) nst_reply_line(out, room, json_string_value(text), json_string_length(text));
}

/* A growing text, that may hold NUL bytes. */
typedef struct {
  char *bytes;
  size_t size;
} text;
static void add(text *t, const char *bytes, size_t size) {
  t->bytes = nst_memory_grow(t->bytes, t->size + size + 1, 1);
  memcpy(t->bytes + t->size, bytes, size);
  t->bytes[t->size += size] = '\0';
}
static void add_json(text *t, const json_t *value) {
  if (json_is_string(value)) add(t, json_string_value(value), json_string_length(value));
}
static void put_text(json_t *object, const char *name, text *t, bool always) {
  if (t->size || always) json_object_set_new(object, name, json_stringn(t->bytes ? t->bytes : "", t->size));
  free(t->bytes);
}

/* ---- choices -------------------------------------------------------------- */

/* The last place of a text in a text. */
static const char *last(const text *in, const char *what) {
  const size_t n = strlen(what);
  for (size_t i = in->size >= n ? in->size - n + 1 : 0; i-- > 0;)
    if (!memcmp(in->bytes + i, what, n)) return in->bytes + i;
  return NULL;
}

/* Completion and thinking of a content: up to the last </think> it is thinking, and so is all of it behind a <think>
 * that opens it and is not closed. */
static void finish_choice(json_t *choice, text *content, text *reasoning) {
  static const char open[] = "<think>", close[] = "</think>";
  text completion = {NULL, 0}, thought = {NULL, 0};
  size_t start = 0;
  while (start < content->size && strchr(" \t\r\n", content->bytes[start])) start++;
  const bool opens = content->size - start >= sizeof open - 1 && !memcmp(content->bytes + start, open, sizeof open - 1);
  const char *end = content->size ? last(content, close) : NULL;
  const size_t from = opens ? start + sizeof open - 1 : 0;
  if (end) {
    const size_t at = (size_t)(end - content->bytes);
    add(&thought, content->bytes + from, at - from);
    add(&completion, end + sizeof close - 1, content->size - at - (sizeof close - 1));
  } else if (opens)
    add(&thought, content->bytes + from, content->size - from);
  else if (content->size)
    add(&completion, content->bytes, content->size);
  if (end || opens)
    put_text(choice, "raw", content, true);
  else
    free(content->bytes);
  if (thought.size && reasoning->size) add(reasoning, "\n", 1);
  if (thought.size) add(reasoning, thought.bytes, thought.size);
  free(thought.bytes);
  put_text(choice, "completion", &completion, true);
  put_text(choice, "reasoning", reasoning, false);
}

/* Blocks of the anthropic dialect, and of openai servers that send contents in parts. */
static void take_blocks(const json_t *blocks, text *content, text *reasoning) {
  size_t i;
  json_t *block;
  json_array_foreach(blocks, i, block) {
    const char *type = json_string_value(json_object_get(block, "type"));
    if (!type) continue;
    if (!strcmp(type, "text"))
      add_json(content, json_object_get(block, "text"));
    else if (!strcmp(type, "thinking") || !strcmp(type, "reasoning")) {
      const json_t *inner = json_object_get(block, type);
      if (json_is_array(inner))
        take_blocks(inner, reasoning, reasoning);
      else
        add_json(reasoning, inner ? inner : json_object_get(block, "text"));
    }
  }
}

static const char *ending(const char *word) {
  static const struct {
    const char *theirs, *ours;
  } words[] = {{"end_turn", "stop"},         {"stop_sequence", "stop"},  {"eos", "stop"},
               {"eos_token", "stop"},        {"max_tokens", "length"},   {"model_context_window_exceeded", "length"},
               {"safety", "content_filter"}, {"tool_use", "tool_calls"}, {"function_call", "tool_calls"}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (!strcasecmp(word, words[i].theirs)) return words[i].ours;
  return word;
}

static void set_ending(json_t *choice, const json_t *word) {
  char text_of[48];
  if (!json_is_string(word)) return;
  line_of(text_of, sizeof text_of, word);
  json_object_set_new(choice, "finish_reason", json_string(ending(text_of)));
}

static json_t *openai_choice(const json_t *given) {
  json_t *choice = json_object();
  const json_t *message = json_object_get(given, "message"), *content = json_object_get(message, "content");
  text said = {NULL, 0}, reasoning = {NULL, 0};
  if (json_is_array(content))
    take_blocks(content, &said, &reasoning);
  else
    add_json(&said, content);
  if (!content && !message) add_json(&said, json_object_get(given, "text"));
  const json_t *thought = json_object_get(message, "reasoning_content");
  if (!json_is_string(thought) || !json_string_length(thought)) thought = json_object_get(message, "reasoning");
  add_json(&reasoning, thought);
  finish_choice(choice, &said, &reasoning);
  set_ending(choice, json_object_get(given, "finish_reason"));
  const json_t *refusal = json_object_get(message, "refusal");
  if (json_is_string(refusal) && json_string_length(refusal)) {
    json_object_set(choice, "refusal", (json_t *)refusal);
    json_object_set_new(choice, "finish_reason", json_string("refusal"));
  }
  return choice;
}

static json_t *anthropic_choice(const json_t *body) {
  json_t *choice = json_object();
  text said = {NULL, 0}, reasoning = {NULL, 0};
  take_blocks(json_object_get(body, "content"), &said, &reasoning);
  finish_choice(choice, &said, &reasoning);
  set_ending(choice, json_object_get(body, "stop_reason"));
  return choice;
}

static json_t *empty_choice(void) { return json_pack("{s:s, s:s}", "completion", "", "finish_reason", "empty"); }

/* ---- usage ---------------------------------------------------------------- */

static void take_count(json_t *usage, const char *as, const json_t *value) {
  int64_t n;
  if (json_is_integer(value) && (n = json_integer_value(value)) >= 0 && n <= INT64_C(1) << 53)
    json_object_set_new(usage, as, json_integer(n));
}

static json_t *read_usage(const json_t *given) {
  if (!json_is_object(given)) return NULL;
  json_t *usage = json_object();
  take_count(usage, "input_tokens", json_object_get(given, "prompt_tokens"));
  take_count(usage, "input_tokens", json_object_get(given, "input_tokens"));
  take_count(usage, "output_tokens", json_object_get(given, "completion_tokens"));
  take_count(usage, "output_tokens", json_object_get(given, "output_tokens"));
  take_count(usage, "reasoning_tokens",
             json_object_get(json_object_get(given, "completion_tokens_details"), "reasoning_tokens"));
  /* What comes out of a cache was input too. */
  static const char *const cached[] = {"cache_read_input_tokens", "cache_creation_input_tokens"};
  for (int i = 0; i < 2; i++) {
    json_t *more = json_object_get(given, cached[i]), *input = json_object_get(usage, "input_tokens");
    if (json_is_integer(more) && input && json_integer_value(more) > 0 && json_integer_value(more) <= INT64_C(1) << 52)
      json_object_set_new(usage, "input_tokens", json_integer(json_integer_value(input) + json_integer_value(more)));
  }
  if (json_object_size(usage)) return usage;
  json_decref(usage);
  return NULL;
}

/* ---- refusals of the server ------------------------------------------------ */

/* What an error object says, whichever of the usual shapes it has. */
static void take_error(nst_reply *out, const json_t *body) {
  const json_t *error = json_object_get(body, "error"), *from = json_is_object(error) ? error : body;
  if (json_is_string(error)) line_of(out->text, sizeof out->text, error);
  static const char *const names[] = {"message", "detail", "msg"};
  for (int i = 0; i < 3 && !*out->text; i++) {
    const json_t *said = json_object_get(from, names[i]);
    if (json_is_string(said))
      line_of(out->text, sizeof out->text, said);
    else if (said && !json_is_null(said)) {
      char *dump = json_dumps(said, JSON_COMPACT | JSON_ENCODE_ANY);
      if (dump) nst_reply_line(out->text, sizeof out->text, dump, strlen(dump));
      free(dump);
    }
  }
  line_of(out->param, sizeof out->param, json_object_get(from, "param"));
  const json_t *code = json_object_get(from, "code");
  line_of(out->code, sizeof out->code, json_is_string(code) ? code : json_object_get(from, "type"));
}

static nst_reply_kind kind_of(long status) {
  if (status == 429) return NST_REPLY_LIMITED;
  if (status == 408 || status == 409 || status == 425 || status >= 500) return NST_REPLY_AGAIN;
  if (status == 401 || status == 402 || status == 403 || status == 404 || status == 405 ||
      (status >= 300 && status < 400))
    return NST_REPLY_STOP;
  return NST_REPLY_BAD;
}

/* An error object under status 200 may bring a status of its own. */
static long inner_status(const json_t *error) {
  const json_t *code = json_object_get(error, "code");
  const json_int_t n = json_is_integer(code) ? json_integer_value(code) : 0;
  if (n >= 400 && n < 600) return (long)n;
  const char *type = json_string_value(json_object_get(error, "type"));
  if (type && (!strcmp(type, "rate_limit_error") || !strcmp(type, "rate_limit_exceeded"))) return 429;
  return 500;
}

void nst_reply_read(nst_reply *out, nst_dialect dialect, long status, const char *body, size_t size,
                    const char *secret) {
  *out = (nst_reply){0};
  json_error_t why;
  json_t *json = json_loadb(body, size, JSON_ALLOW_NUL, &why);
  nst_secret_strike_json(json, secret);
  if (status < 200 || status > 299) {
    out->kind = kind_of(status);
    take_error(out, json);
    if (!*out->text) nst_reply_line(out->text, sizeof out->text, body, size < 300 ? size : 300);
    json_decref(json);
    return;
  }
  out->kind = NST_REPLY_AGAIN;
  const json_t *error = json_object_get(json, "error"), *choices = json_object_get(json, "choices");
  if (!json) { /* its words repeat what the server sent */
    char said[200];
    nst_reply_line(said, sizeof said, why.text, strlen(why.text));
    snprintf(out->text, sizeof out->text, "the answer is not JSON: %s, at byte %d of %zu", said, why.position, size);
  } else if (!json_is_object(json))
    strcpy(out->text, "the answer is not a JSON object");
  else if (error && !json_is_null(error)) {
    take_error(out, json);
    out->kind = kind_of(inner_status(error));
  } else if (dialect == NST_DIALECT_ANTHROPIC ? !json_is_array(json_object_get(json, "content"))
                                              : !json_is_array(choices))
    snprintf(out->text, sizeof out->text, "the answer has no array \"%s\"",
             dialect == NST_DIALECT_ANTHROPIC ? "content" : "choices");
  else {
    out->kind = NST_REPLY_ANSWERED;
    out->choices = json_array();
    if (dialect == NST_DIALECT_ANTHROPIC)
      json_array_append_new(out->choices, anthropic_choice(json));
    else {
      size_t i;
      json_t *choice;
      json_array_foreach(choices, i, choice) json_array_append_new(out->choices, openai_choice(choice));
      if (!i) json_array_append_new(out->choices, empty_choice());
    }
    out->usage = read_usage(json_object_get(json, "usage"));
    line_of(out->served, sizeof out->served, json_object_get(json, "model"));
    line_of(out->fingerprint, sizeof out->fingerprint, json_object_get(json, "system_fingerprint"));
  }
  json_decref(json);
}

void nst_reply_fini(nst_reply *reply) {
  json_decref(reply->choices);
  json_decref(reply->usage);
  *reply = (nst_reply){0};
}
