/* Bodies to samples, turns of the grader, results to replies.
 *
 * A sample that cannot be read has a place in the reply like any other: a result that says so with its number, as in `nestor bench grade`, so that
 * what comes back is as long as what was sent. An array is cut into its elements by brackets and quotation marks, and each is read like a line. */
#include "bench/serve/judge.h"

#include "bench/grade/utf8.h"
#include "bench/record/memory.h"
#include "bench/record/random.h"
#include "bench/serve/episodes.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nst_judge {
  nst_grading *grading;
  const char *const *task_ids;
  size_t ntask_ids;
  pthread_mutex_t lock; /* of the episodes */
  nst_episodes *episodes;
  atomic_uint_least64_t graded;
};

nst_judge *nst_judge_new(nst_grading *grading, const char *const *task_ids, size_t ntask_ids) {
  nst_judge *j = nst_memory_new(1, sizeof *j);
  j->grading = grading;
  j->task_ids = task_ids;
  j->ntask_ids = ntask_ids;
  j->episodes = nst_episodes_new();
  pthread_mutex_init(&j->lock, NULL);
  return j;
}

void nst_judge_free(nst_judge *j) {
  if (!j) return;
  nst_episodes_free(j->episodes);
  pthread_mutex_destroy(&j->lock);
  free(j);
}

/* ---- samples of a job ----------------------------------------------------- */

enum { NO_SAMPLE = -1 };

/* A place in a reply: a sample of the job, or why there is none. */
typedef struct { ptrdiff_t sample; json_t *refusal; } place;

struct nst_judge_job {
  nst_sample *samples;
  nst_result *results; /* of the first `judged` samples */
  size_t nsamples, capacity, judged;
  place *places;
  size_t nplaces, places_capacity;
  bool lines, array;
  char episode[sizeof((nst_episode *)NULL)->id]; /* of a step; else empty */
  bool answered;                                 /* without judging: */
  nst_judge_reply reply;
};

static void add_place(nst_judge_job *b, ptrdiff_t sample, json_t *refusal) {
  if (b->nplaces == b->places_capacity) {
    b->places_capacity = 2 * b->places_capacity + 16;
    b->places = nst_memory_grow(b->places, b->places_capacity, sizeof *b->places);
  }
  b->places[b->nplaces++] = (place){sample, refusal};
}

static void add_sample(nst_judge_job *b, const nst_sample *sample) {
  if (b->nsamples == b->capacity) {
    b->capacity = 2 * b->capacity + 16;
    b->samples = nst_memory_grow(b->samples, b->capacity, sizeof *b->samples);
  }
  b->samples[b->nsamples] = *sample;
  add_place(b, (ptrdiff_t)b->nsamples++, NULL);
}

static void add_refusal(nst_judge *j, nst_judge_job *b, const nst_sample *sample, size_t number, const char *why) {
  add_place(b, NO_SAMPLE, nst_grading_refusal(j->grading, sample, number, why));
}

/* Takes the sample over. */
static void add_known(nst_judge *j, nst_judge_job *b, nst_sample *sample, size_t number) {
  if (nst_grading_task(j->grading, sample->task_id)) add_sample(b, sample);
  else {
    char error[NST_RECORD_ERROR];
    snprintf(error, sizeof error, "there is no task %.150s", sample->task_id);
    add_refusal(j, b, sample, number, error);
    nst_sample_fini(sample);
  }
}

static void add_text(nst_judge *j, nst_judge_job *b, const char *text, size_t size) {
  char error[NST_RECORD_ERROR];
  nst_sample sample;
  const size_t number = b->nplaces + 1;
  if (nst_grading_read(&sample, text, size, error)) add_known(j, b, &sample, number);
  else add_refusal(j, b, NULL, number, error);
}

static const char *skip(const char *p, const char *end) {
  while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')) p++;
  return p;
}

static void add_lines(nst_judge *j, nst_judge_job *b, const char *at, const char *end) {
  while (at < end) {
    const char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed ? feed : end;
    if (skip(at, stop) < stop) add_text(j, b, at, (size_t)(stop - at));
    at = feed ? feed + 1 : end;
  }
}

/* Where an element that begins at p ends: before a comma or bracket of the array itself, or at the end of the text. */
static const char *element_end(const char *p, const char *end) {
  size_t depth = 0;
  for (bool quoted = false; p < end; p++) {
    if (quoted) {
      if (*p == '\\' && p + 1 < end) p++;
      else if (*p == '"') quoted = false;
    } else if (*p == '"') quoted = true;
    else if (*p == '[' || *p == '{') depth++;
    else if (!depth && (*p == ',' || *p == ']')) return p;
    else if (depth && (*p == ']' || *p == '}')) depth--;
  }
  return end;
}

/* at: behind the opening bracket. */
static void add_array(nst_judge *j, nst_judge_job *b, const char *at, const char *end) {
  at = skip(at, end);
  if (at < end && *at == ']') at++;
  else
    for (;;) {
      const char *stop = element_end(at, end);
      if (stop < end || skip(at, end) < end) add_text(j, b, at, (size_t)(stop - at));
      if (stop == end) return add_refusal(j, b, NULL, b->nplaces + 1, "the array does not end");
      at = stop + 1;
      if (*stop == ']') break;
    }
  if (skip(at, end) < end) add_refusal(j, b, NULL, b->nplaces + 1, "there is more behind the array");
}

static void grade(nst_judge *j, nst_judge_job *b, const char *body, size_t size) {
  const char *end = body + size;
  if (size >= 3 && !memcmp(body, "\xEF\xBB\xBF", 3)) body += 3; /* a byte order mark */
  const char *at = skip(body, end);
  b->array = at < end && *at == '[';
  b->lines = !b->array;
  if (b->array) add_array(j, b, at + 1, end);
  else add_lines(j, b, body, end);
}

/* ---- replies -------------------------------------------------------------- */

static void reply_json(nst_judge_reply *reply, unsigned status, json_t *json) {
  *reply = (nst_judge_reply){.status = status};
  reply->text = nst_record_text(json, &reply->size);
  json_decref(json);
}

void nst_judge_refuse(nst_judge_reply *reply, unsigned status, const char *why) {
  reply_json(reply, status, json_pack("{s:s}", "error", why));
}

void nst_judge_health(nst_judge_reply *reply, nst_judge *j) {
  reply_json(reply, MHD_HTTP_OK, json_pack("{s:s,s:I,s:I,s:s}", "status", "ok", "tasks", (json_int_t)j->ntask_ids, "graded",
                                           (json_int_t)atomic_load(&j->graded), "version", NST_VERSION));
}

void nst_judge_state(nst_judge_reply *reply, nst_judge *j, const char *id) {
  pthread_mutex_lock(&j->lock);
  const nst_episode *found = nst_episodes_find(j->episodes, id);
  const nst_episode episode = found ? *found : (nst_episode){0};
  pthread_mutex_unlock(&j->lock);
  if (!found) nst_judge_refuse(reply, MHD_HTTP_NOT_FOUND, "there is no such episode; POST /reset begins one");
  else
    reply_json(reply, MHD_HTTP_OK, json_pack("{s:s,s:I,s:s}", "episode_id", episode.id, "step_count", (json_int_t)episode.steps,
                                             "task_id", episode.task_id));
}

/* ---- episodes ------------------------------------------------------------- */

/* Bytes that are no UTF-8 and halves of characters become U+FFFD, as in lines. */
static json_t *parse_object(nst_judge_reply *reply, const char *body, size_t size) {
  if (!size) return json_object();
  json_error_t why;
  json_t *json = json_loadb(body, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
  if (!json) {
    size_t mended_size;
    char *mended = nst_utf8_mend_json(&mended_size, body, size);
    json = json_loadb(mended, mended_size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    free(mended);
  }
  if (json && json_is_object(json)) return json;
  char error[128] = "the body must be a JSON object";
  if (!json && json_error_code(&why) == json_error_numeric_overflow)
    snprintf(error, sizeof error, "the number that ends at byte %d of the body is too large: whole numbers go from -2^63 to 2^63-1", why.position);
  else if (!json)
    snprintf(error, sizeof error, "the body must be a JSON object; it is no JSON at byte %d", why.position);
  json_decref(json);
  nst_judge_refuse(reply, MHD_HTTP_BAD_REQUEST, error);
  return NULL;
}

/* A member that may be left out or null; *good is false where it is something else than a text. */
static const char *optional_text(bool *good, const json_t *object, const char *member) {
  const json_t *value = json_object_get(object, member);
  if (value && !json_is_null(value) && !json_is_string(value)) *good = false;
  return json_string_value(value);
}

static void begin_episode(nst_judge *j, nst_judge_reply *reply, const nst_task *task) {
  pthread_mutex_lock(&j->lock);
  const nst_episode episode = *nst_episodes_begin(j->episodes, task->task_id);
  pthread_mutex_unlock(&j->lock);
  reply_json(reply, MHD_HTTP_OK,
             json_pack("{s:{s:s,s:s,s:s,s:i,s:O},s:n,s:b,s:s}", "observation", "episode_id", episode.id, "task_id", task->task_id, "kind",
                       nst_kind_name(task->kind), "level", task->level, "messages", task->messages, "reward", "done", 0, "episode_id",
                       episode.id));
}

static void reset(nst_judge *j, nst_judge_reply *reply, const char *text, size_t size) {
  json_t *body = parse_object(reply, text, size);
  if (!body) return;
  bool good = true;
  const char *id = optional_text(&good, body, "task_id");
  const json_t *seed_json = json_object_get(body, "seed");
  int64_t seed = 0;
  const bool seeded = seed_json && !json_is_null(seed_json);
  const nst_task *task = NULL;
  if (!good) nst_judge_refuse(reply, MHD_HTTP_BAD_REQUEST, "\"task_id\" must be a text");
  else if (seeded && !nst_record_int(seed_json, &seed)) nst_judge_refuse(reply, MHD_HTTP_BAD_REQUEST, "\"seed\" must be a whole number");
  else {
    if (!id && j->ntask_ids) {
      nst_random random = nst_random_make((uint64_t)seed, "reset");
      id = j->task_ids[seeded ? nst_random_below(&random, j->ntask_ids) : atomic_load(&j->graded) % j->ntask_ids];
    }
    task = id ? nst_grading_task(j->grading, id) : NULL;
    if (task) begin_episode(j, reply, task);
    else nst_judge_refuse(reply, MHD_HTTP_NOT_FOUND, "there is no such task");
  }
  json_decref(body);
}

/* Marks the episode as done; NULL: good, else why not. */
static const char *take_episode(nst_judge *j, nst_episode *out, unsigned *status, const char *id) {
  pthread_mutex_lock(&j->lock);
  nst_episode *episode = nst_episodes_find(j->episodes, id);
  const bool done = episode && episode->steps;
  if (episode && !done) episode->steps++, *out = *episode;
  pthread_mutex_unlock(&j->lock);
  *status = episode ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_NOT_FOUND;
  return !episode ? "there is no such episode; POST /reset begins one" : done ? "the episode is done; POST /reset begins another" : NULL;
}

/* A step is one sample. */
static void step(nst_judge *j, nst_judge_job *b, const char *text, size_t size) {
  json_t *body = parse_object(&b->reply, text, size);
  b->answered = true;
  if (!body) return;
  bool good = true, good_finish = true;
  const char *id = optional_text(&good, body, "episode_id");
  json_t *action = json_object_get(body, "action"), *completion = json_object_get(action, "completion");
  const char *finish = optional_text(&good_finish, action, "finish_reason");
  if (!completion) completion = json_object_get(action, "message");
  nst_episode episode;
  unsigned status = MHD_HTTP_BAD_REQUEST;
  const char *why = !good                           ? "\"episode_id\" must be a text"
                    : !json_is_string(completion)   ? "\"action\" must hold \"completion\", a text"
                    : !good_finish                  ? "\"finish_reason\" must be a text"
                                                    : take_episode(j, &episode, &status, id);
  if (why) nst_judge_refuse(&b->reply, status, why);
  else {
    b->answered = false;
    memcpy(b->episode, episode.id, sizeof b->episode);
    json_t *json = json_pack("{s:s,s:s,s:O}", "task_id", episode.task_id, "sample_id", episode.id, "completion", completion);
    if (finish) json_object_set_new(json, "finish_reason", json_string(finish));
    char error[NST_RECORD_ERROR];
    nst_sample sample;
    if (nst_sample_take(&sample, json, error)) add_known(j, b, &sample, 1);
    else add_refusal(j, b, NULL, 1, error);
  }
  json_decref(body);
}

/* ---- jobs ----------------------------------------------------------------- */

nst_judge_job *nst_judge_begin(nst_judge *j, nst_judge_path path, const char *body, size_t size) {
  nst_judge_job *b = nst_memory_new(1, sizeof *b);
  if (!body) body = "";
  switch (path) {
    case NST_JUDGE_GRADE: grade(j, b, body, size); break;
    case NST_JUDGE_STEP: step(j, b, body, size); break;
    case NST_JUDGE_RESET: reset(j, &b->reply, body, size), b->answered = true; break;
    case NST_JUDGE_STATE:
    case NST_JUDGE_HEALTH: nst_judge_refuse(&b->reply, MHD_HTTP_BAD_REQUEST, "this is no job"), b->answered = true; break;
  }
  b->results = nst_memory_new(b->nsamples, sizeof *b->results);
  return b;
}

size_t nst_judge_left(const nst_judge_job *b) { return b->nsamples - b->judged; }

void nst_judge_turn(nst_judge *j, nst_judge_job *const *jobs, size_t n, size_t most) {
  size_t waiting = 0, total = 0, *takes = nst_memory_new(n, sizeof *takes);
  for (size_t i = 0; i < n; i++) waiting += nst_judge_left(jobs[i]) > 0;
  const size_t share = waiting && most / waiting > 1 ? most / waiting : 1;
  for (size_t i = 0; i < n; i++) {
    const size_t left = nst_judge_left(jobs[i]);
    total += takes[i] = left < share ? left : share;
  }
  for (size_t i = 0; i < n && total < most; i++) { /* what others do not need */
    const size_t left = nst_judge_left(jobs[i]) - takes[i], more = left < most - total ? left : most - total;
    takes[i] += more;
    total += more;
  }
  nst_sample *samples = nst_memory_new(total, sizeof *samples);
  nst_result *results = nst_memory_new(total, sizeof *results);
  for (size_t i = 0, at = 0; i < n; at += takes[i++])
    if (takes[i]) memcpy(samples + at, jobs[i]->samples + jobs[i]->judged, takes[i] * sizeof *samples);
  if (total) nst_grading_run(j->grading, results, samples, total);
  for (size_t i = 0, at = 0; i < n; at += takes[i++]) {
    if (takes[i]) memcpy(jobs[i]->results + jobs[i]->judged, results + at, takes[i] * sizeof *results);
    jobs[i]->judged += takes[i];
  }
  atomic_fetch_add(&j->graded, total);
  free(samples);
  free(results);
  free(takes);
}

static json_t *outcome_of(const nst_judge_job *b, const place *p) {
  return p->sample == NO_SAMPLE ? p->refusal : b->results[p->sample].json;
}

static void append(nst_judge_reply *reply, size_t *capacity, const char *text, size_t size) {
  if (reply->size + size + 1 > *capacity) {
    *capacity = 2 * (reply->size + size + 1);
    reply->text = nst_memory_grow(reply->text, *capacity, 1);
  }
  memcpy(reply->text + reply->size, text, size);
  reply->size += size;
}

/* What a policy may see of a result: no hidden point, no message. */
static json_t *observation_of(const json_t *result) {
  static const char *const members[] = {"task_id", "passed", "outcome", "score", "sub"};
  json_t *out = json_object();
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    json_object_set(out, members[i], json_object_get(result, members[i]));
  return out;
}

static void finish(nst_judge_reply *reply, nst_judge_job *b) {
  if (b->answered) {
    *reply = b->reply;
    b->reply.text = NULL;
    return;
  }
  if (*b->episode) {
    const json_t *result = outcome_of(b, &b->places[0]);
    reply_json(reply, MHD_HTTP_OK, json_pack("{s:o,s:O,s:b,s:s}", "observation", observation_of(result), "reward",
                                             json_object_get(result, "score"), "done", 1, "episode_id", b->episode));
    return;
  }
  size_t capacity = 0;
  *reply = (nst_judge_reply){.status = MHD_HTTP_OK, .lines = b->lines, .text = NULL, .size = 0};
  append(reply, &capacity, "[", b->array);
  for (size_t i = 0; i < b->nplaces; i++) {
    size_t size;
    char *text = nst_record_text(outcome_of(b, &b->places[i]), &size);
    append(reply, &capacity, text, size);
    append(reply, &capacity, b->lines ? "\n" : ",", b->lines || i + 1 < b->nplaces);
    free(text);
  }
  append(reply, &capacity, "]", b->array);
}

void nst_judge_end(nst_judge_reply *reply, nst_judge_job *b) {
  if (reply) finish(reply, b);
  for (size_t i = 0; i < b->judged; i++) nst_result_fini(&b->results[i]);
  for (size_t i = 0; i < b->nsamples; i++) nst_sample_fini(&b->samples[i]);
  for (size_t i = 0; i < b->nplaces; i++) json_decref(b->places[i].refusal);
  free(b->samples);
  free(b->results);
  free(b->places);
  free(b->reply.text);
  free(b);
}
