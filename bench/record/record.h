/* Tasks, keys, samples and results: one JSON object each.
 *
 * A record is the parsed object and borrowed views of the members that code asks for by name, so that members it does not
 * know survive. What bench/README.md says of each member is checked here once; later code relies on it. Errors are one line of text
 * that names the member; where the record came from is the caller's to say. */
#ifndef NST_BENCH_RECORD_RECORD_H
#define NST_BENCH_RECORD_RECORD_H
#include "bench/record/outcome.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
#define NST_KIND(id, name, what) NST_KIND_##id,
#include "bench/record/kinds.def"
#undef NST_KIND
  NST_KIND_COUNT
} nst_kind;
const char *nst_kind_name(nst_kind kind);
bool nst_kind_parse(nst_kind *out, const char *name);

const char *nst_outcome_name(nst_outcome outcome);
const char *nst_outcome_meaning(nst_outcome outcome);
bool nst_outcome_is_fault(nst_outcome outcome); /* of the model: it counts as a failure */
bool nst_outcome_parse(nst_outcome *out, const char *name);

typedef enum { NST_ANSWER_PROGRAM, NST_ANSWER_MODEL, NST_ANSWER_CHOICE, NST_ANSWER_NUMBERS } nst_answer;

enum { NST_RECORD_ERROR = 256 }; /* bytes of an error text */
enum { NST_LEVELS = 5 };         /* levels are 1 to 5 */

typedef struct {
  json_t *json; /* owned; everything below is borrowed from it */
  const char *task_id, *suite, *split, *cluster;
  int version, level;
  nst_kind kind;
  uint64_t seed;
  json_t *messages, *spec, *limits; /* an array of {role, content}; objects */
  nst_answer answer;                /* spec.answer */
  const char *answer_commit, *content_hash, *canary;
} nst_task;

typedef struct {
  json_t *json;
  const char *task_id, *salt, *answer;
} nst_key;

typedef struct {
  json_t *json;
  const char *task_id, *sample_id;
  const char *completion, *error, *finish_reason; /* NULL where not given; one of completion and error is */
  size_t completion_size;                         /* completions may hold NUL bytes */
} nst_sample;

typedef struct {
  json_t *json;
  const char *task_id, *sample_id;
  bool passed;
  nst_outcome outcome;
  double score;
  json_t *sub; /* an object of booleans, maybe empty */
} nst_result;

/* One line (without or with its line feed). On failure *out is empty, needs no fini, and `error` says why. */
bool nst_task_parse(nst_task *out, const char *line, size_t size, char error[NST_RECORD_ERROR]);
bool nst_key_parse(nst_key *out, const char *line, size_t size, char error[NST_RECORD_ERROR]);
bool nst_sample_parse(nst_sample *out, const char *line, size_t size, char error[NST_RECORD_ERROR]);
bool nst_result_parse(nst_result *out, const char *line, size_t size, char error[NST_RECORD_ERROR]);
/* The same of an object that is already there, whose reference is taken over, on failure too. */
bool nst_task_take(nst_task *out, json_t *json, char error[NST_RECORD_ERROR]);
bool nst_key_take(nst_key *out, json_t *json, char error[NST_RECORD_ERROR]);
bool nst_sample_take(nst_sample *out, json_t *json, char error[NST_RECORD_ERROR]);
bool nst_result_take(nst_result *out, json_t *json, char error[NST_RECORD_ERROR]);
void nst_task_fini(nst_task *task);
void nst_key_fini(nst_key *key);
void nst_sample_fini(nst_sample *sample);
void nst_result_fini(nst_result *result);

/* The canonical bytes of an object on one line, without a line feed: members in the order they were put in, doubles with 15 digits. The
 * caller frees. */
char *nst_record_text(const json_t *json, size_t *size);
/* SHA-256 of salt, a line feed and the answer, in hex: what a task says of its answer without giving it away. */
void nst_answer_commit(char out[65], const char *salt, const char *answer);
/* SHA-256 of "content", the messages and the spec, a line each, in hex. */
void nst_content_hash(char out[65], const json_t *messages, const json_t *spec);
/* An integer member, also as a string of digits (past 2^53). false: neither. */
bool nst_record_int(const json_t *value, int64_t *out);
/* The JSON value of an integer: a number up to 2^53, a string of digits past it. */
json_t *nst_record_from_int(int64_t value);
#endif
