/* Records: parsing with checks, integers of 64 bits in JSON. */
#include "bench/record/record.h"

#include "bench/record/digest.h"
#include "bench/record/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
#define NST_KIND(id, name, what) name,
#include "bench/record/kinds.def"
#undef NST_KIND
};

static const struct { const char *name, *meaning; bool fault; } outcomes[] = {
#define NST_OUTCOME(id, name, fault, meaning) {name, meaning, fault},
#include "bench/record/outcomes.def"
#undef NST_OUTCOME
};

const char *nst_kind_name(nst_kind kind) { return kind_names[kind]; }

bool nst_kind_parse(nst_kind *out, const char *name) {
  for (int i = 0; i < NST_KIND_COUNT; i++)
    if (!strcmp(name, kind_names[i])) return *out = (nst_kind)i, true;
  return false;
}

const char *nst_outcome_name(nst_outcome outcome) { return outcomes[outcome].name; }
const char *nst_outcome_meaning(nst_outcome outcome) { return outcomes[outcome].meaning; }
bool nst_outcome_is_fault(nst_outcome outcome) { return outcomes[outcome].fault; }

bool nst_outcome_parse(nst_outcome *out, const char *name) {
  for (int i = 0; i < NST_OUTCOME_COUNT; i++)
    if (!strcmp(name, outcomes[i].name)) return *out = (nst_outcome)i, true;
  return false;
}

/* ---- reading members ------------------------------------------------------ */

typedef struct { const json_t *json; char *error; bool ok; } reader;

static void fail(reader *r, const char *member, const char *why) {
  if (r->ok) snprintf(r->error, NST_RECORD_ERROR, "\"%s\" %s", member, why);
  r->ok = false;
}

static const char *text_at(reader *r, const char *member, bool needed) {
  const json_t *value = json_object_get(r->json, member);
  if (json_is_string(value)) return json_string_value(value);
  if (value && !json_is_null(value)) fail(r, member, "must be a text");
  else if (needed) fail(r, member, "is missing");
  return NULL;
}

static int64_t int_at(reader *r, const char *member, int64_t low, int64_t high) {
  int64_t n = low;
  const json_t *value = json_object_get(r->json, member);
  if (!value) fail(r, member, "is missing");
  else if (!nst_record_int(value, &n)) fail(r, member, "must be a whole number");
  else if (n < low || n > high) fail(r, member, "is out of range");
  return n;
}

static json_t *object_at(reader *r, const char *member) {
  json_t *value = json_object_get(r->json, member);
  if (!value) fail(r, member, "is missing");
  else if (!json_is_object(value)) fail(r, member, "must be an object");
  return value;
}

/* An object of the schema "nestor.NAME/1"; the schema may be left out where samples of other tools are read. */
static bool begin(reader *r, json_t *json, char *error, const char *name, bool schema_needed) {
  *r = (reader){json, error, true};
  if (!json_is_object(json)) {
    snprintf(error, NST_RECORD_ERROR, "it is not a JSON object");
    return r->ok = false;
  }
  const char *schema = text_at(r, "schema", schema_needed);
  char expected[40];
  snprintf(expected, sizeof expected, "nestor.%s/1", name);
  if (r->ok && schema && strcmp(schema, expected)) {
    snprintf(error, NST_RECORD_ERROR, "its schema is \"%.60s\", not \"%s\"", schema, expected);
    r->ok = false;
  }
  return r->ok;
}

static json_t *parse(const char *line, size_t size, char *error) {
  json_error_t why;
  json_t *json = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
  if (!json) snprintf(error, NST_RECORD_ERROR, "it is not JSON: %.120s, at byte %d", why.text, why.position);
  return json;
}

/* ---- the records ---------------------------------------------------------- */

bool nst_task_take(nst_task *out, json_t *json, char error[NST_RECORD_ERROR]) {
  *out = (nst_task){0};
  reader r;
  if (begin(&r, json, error, "task", true)) {
    *out = (nst_task){
      .json = json, .task_id = text_at(&r, "task_id", true), .suite = text_at(&r, "suite", true),
      .split = text_at(&r, "split", true), .cluster = text_at(&r, "cluster", true),
      .version = (int)int_at(&r, "version", 1, 1000000), .level = (int)int_at(&r, "level", 1, NST_LEVELS),
      .seed = (uint64_t)int_at(&r, "seed", 0, INT64_MAX), .messages = json_object_get(json, "messages"),
      .spec = object_at(&r, "spec"), .limits = object_at(&r, "limits"),
      .answer_commit = text_at(&r, "answer_commit", true), .content_hash = text_at(&r, "content_hash", true),
      .canary = text_at(&r, "canary", true)};
    const char *kind = text_at(&r, "kind", true);
    if (kind && !nst_kind_parse(&out->kind, kind)) fail(&r, "kind", "is not a kind of task");
    if (!json_is_array(out->messages)) fail(&r, "messages", "must be an array");
    static const char *const answers[] = {"program", "model", "choice", "numbers"};
    const char *answer = json_string_value(json_object_get(out->spec, "answer"));
    bool known = false;
    for (int i = 0; answer && i < 4; i++)
      if (!strcmp(answer, answers[i])) out->answer = (nst_answer)i, known = true;
    if (!known) fail(&r, "spec.answer", "must be \"program\", \"model\", \"choice\" or \"numbers\"");
  }
  if (!r.ok) json_decref(json), *out = (nst_task){0};
  return r.ok;
}

bool nst_key_take(nst_key *out, json_t *json, char error[NST_RECORD_ERROR]) {
  *out = (nst_key){0};
  reader r;
  if (begin(&r, json, error, "key", true))
    *out = (nst_key){json, text_at(&r, "task_id", true), text_at(&r, "salt", true), text_at(&r, "answer", true)};
  if (!r.ok) json_decref(json), *out = (nst_key){0};
  return r.ok;
}

bool nst_sample_take(nst_sample *out, json_t *json, char error[NST_RECORD_ERROR]) {
  *out = (nst_sample){0};
  reader r;
  if (begin(&r, json, error, "sample", false)) {
    *out = (nst_sample){.json = json, .task_id = text_at(&r, "task_id", true), .sample_id = text_at(&r, "sample_id", false),
                        .error = text_at(&r, "error", false), .finish_reason = text_at(&r, "finish_reason", false)};
    const json_t *completion = json_object_get(json, "completion");
    if (!completion || json_is_null(completion)) completion = json_object_get(json, "solution");
    if (json_is_string(completion)) {
      out->completion = json_string_value(completion);
      out->completion_size = json_string_length(completion);
    } else if (completion && !json_is_null(completion)) fail(&r, "completion", "must be a text");
    else if (!out->error) fail(&r, "completion", "is missing");
    if (!out->sample_id) out->sample_id = "0";
  }
  if (!r.ok) json_decref(json), *out = (nst_sample){0};
  return r.ok;
}

bool nst_result_take(nst_result *out, json_t *json, char error[NST_RECORD_ERROR]) {
  *out = (nst_result){0};
  reader r;
  if (begin(&r, json, error, "result", true)) {
    *out = (nst_result){.json = json, .task_id = text_at(&r, "task_id", true), .sample_id = text_at(&r, "sample_id", true),
                        .passed = json_is_true(json_object_get(json, "passed")), .sub = object_at(&r, "sub")};
    const char *outcome = text_at(&r, "outcome", true);
    if (outcome && !nst_outcome_parse(&out->outcome, outcome)) fail(&r, "outcome", "is not an outcome");
    const json_t *score = json_object_get(json, "score");
    if (!json_is_number(score)) fail(&r, "score", "must be a number");
    else out->score = json_number_value(score);
    if (!(out->score >= 0 && out->score <= 1)) fail(&r, "score", "must be from 0 to 1");
    if (out->passed != (out->outcome == NST_OUTCOME_PASSED)) fail(&r, "passed", "contradicts the outcome");
  }
  if (!r.ok) json_decref(json), *out = (nst_result){0};
  return r.ok;
}

#define DEFINE_PARSE(type)                                                                              \
  bool nst_##type##_parse(nst_##type *out, const char *line, size_t size, char error[NST_RECORD_ERROR]) { \
    *out = (nst_##type){0};                                                                             \
    json_t *json = parse(line, size, error);                                                            \
    return json && nst_##type##_take(out, json, error);                                                 \
  }                                                                                                     \
  void nst_##type##_fini(nst_##type *record) {                                                          \
    json_decref(record->json);                                                                          \
    *record = (nst_##type){0};                                                                          \
  }
DEFINE_PARSE(task)
DEFINE_PARSE(key)
DEFINE_PARSE(sample)
DEFINE_PARSE(result)

/* ---- text ----------------------------------------------------------------- */

void nst_answer_commit(char out[65], const char *salt, const char *answer) {
  nst_digest_text(out, (const nst_digest_part[]){{salt, strlen(salt)}, {"\n", 1}, {answer, strlen(answer)}}, 3);
}

void nst_content_hash(char out[65], const json_t *messages, const json_t *spec) {
  size_t n, m;
  char *text = nst_record_text(messages, &n), *more = nst_record_text(spec, &m);
  nst_digest_text(out, (const nst_digest_part[]){{"content\n", 8}, {text, n}, {"\n", 1}, {more, m}}, 4);
  free(text);
  free(more);
}

bool nst_record_int(const json_t *value, int64_t *out) {
  if (json_is_integer(value)) return *out = json_integer_value(value), true;
  const char *text = json_string_value(value);
  if (!text || !*text) return false;
  const char *digits = text + (*text == '-');
  const size_t n = strspn(digits, "0123456789");
  if (!n || digits[n] || n > 19) return false;
  char *end;
  const __int128 wide = (__int128)strtoull(digits, &end, 10) * (*text == '-' ? -1 : 1);
  if (wide > INT64_MAX || wide < INT64_MIN) return false;
  return *out = (int64_t)wide, true;
}

json_t *nst_record_from_int(int64_t value) {
  if (value <= INT64_C(1) << 53 && value >= -(INT64_C(1) << 53)) return json_integer(value);
  char text[24];
  snprintf(text, sizeof text, "%" PRId64, value);
  return json_string(text);
}
