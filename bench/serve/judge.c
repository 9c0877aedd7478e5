/* Bodies to samples, one batch for the grader, results to replies.
 *
 * A sample that cannot be read has a place in the reply like any other: a result that says so with its number, as in `nestor bench grade`, so that
 * what comes back is as long as what was sent. */
#include "bench/serve/judge.h"

#include "bench/record/memory.h"
#include "bench/record/random.h"
#include "bench/serve/episodes.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nst_judge {
  nst_grading *grading;
  const char *const *task_ids;
  size_t ntask_ids;
  nst_episodes *episodes;
  uint64_t graded;
};

nst_judge *nst_judge_new(nst_grading *grading, const char *const *task_ids, size_t ntask_ids) {
  nst_judge *j = nst_memory_new(1, sizeof *j);
  *j = (nst_judge){grading, task_ids, ntask_ids, nst_episodes_new(), 0};
  return j;
}

void nst_judge_free(nst_judge *j) {
  if (!j) return;
  nst_episodes_free(j->episodes);
  free(j);
}

/* ---- the batch ------------------------------------------------------------ */

enum { NO_SAMPLE = -1 };

/* A place in a reply: a sample of the batch, or why there is none. */
typedef struct { ptrdiff_t sample; json_t *refusal; } place;

typedef struct {
  nst_sample *samples;
  nst_result *results;
  size_t nsamples, capacity;
  place *places;
  size_t nplaces, places_capacity;
} batch;

typedef struct {
  size_t first, count; /* places */
  bool lines, array;
  nst_episode *episode;
} part;

static void add_place(batch *b, ptrdiff_t sample, json_t *refusal) {
  if (b->nplaces == b->places_capacity) {
    b->places_capacity = 2 * b->places_capacity + 16;
    b->places = nst_memory_grow(b->places, b->places_capacity, sizeof *b->places);
  }
  b->places[b->nplaces++] = (place){sample, refusal};
}

static void add_sample(batch *b, const nst_sample *sample) {
  if (b->nsamples == b->capacity) {
    b->capacity = 2 * b->capacity + 16;
    b->samples = nst_memory_grow(b->samples, b->capacity, sizeof *b->samples);
  }
  b->samples[b->nsamples] = *sample;
  add_place(b, (ptrdiff_t)b->nsamples++, NULL);
}

static void add_refusal(nst_judge *j, batch *b, const nst_sample *sample, size_t number, const char *why) {
  add_place(b, NO_SAMPLE, nst_grading_refusal(j->grading, sample, number, why));
}

/* Takes the sample over. */
static void add_known(nst_judge *j, batch *b, nst_sample *sample, size_t number) {
  if (nst_grading_task(j->grading, sample->task_id)) add_sample(b, sample);
  else {
    char error[NST_RECORD_ERROR];
    snprintf(error, sizeof error, "there is no task %.150s", sample->task_id);
    add_refusal(j, b, sample, number, error);
    nst_sample_fini(sample);
  }
}

static void add_object(nst_judge *j, batch *b, size_t number, json_t *json) {
  char error[NST_RECORD_ERROR];
  nst_sample sample;
  if (nst_sample_take(&sample, json, error)) add_known(j, b, &sample, number);
  else add_refusal(j, b, NULL, number, error);
}

static void add_lines(nst_judge *j, batch *b, const char *body, size_t size) {
  size_t number = 0;
  for (const char *at = body, *end = body + size; at < end;) {
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    const char *stop = feed ? feed : end;
    size_t blank = 0;
    while (at + blank < stop && strchr(" \t\r", at[blank]) && at[blank]) blank++;
    if (at + blank < stop) {
      char error[NST_RECORD_ERROR];
      nst_sample sample;
      number++;
      if (nst_grading_read(&sample, at, (size_t)(stop - at), error)) add_known(j, b, &sample, number);
      else add_refusal(j, b, NULL, number, error);
    }
    at = stop + 1;
  }
}

/* ---- replies -------------------------------------------------------------- */

static void reply_json(const nst_judge_request *r, unsigned status, json_t *json) {
  r->reply->status = status;
  r->reply->lines = false;
  r->reply->text = nst_record_text(json, &r->reply->size);
  json_decref(json);
}

static void reply_error(const nst_judge_request *r, unsigned status, const char *why) {
  reply_json(r, status, json_pack("{s:s}", "error", why));
}

static json_t *parse_object(const nst_judge_request *r) {
  if (!r->size) return json_object();
  json_error_t why;
  json_t *json = json_loadb(r->body, r->size, JSON_REJECT_DUPLICATES, &why);
  if (json && json_is_object(json)) return json;
  json_decref(json);
  reply_error(r, MHD_HTTP_BAD_REQUEST, "the body must be a JSON object");
  return NULL;
}

static void reset(nst_judge *j, const nst_judge_request *r) {
  json_t *body = parse_object(r);
  if (!body) return;
  const char *id = json_string_value(json_object_get(body, "task_id"));
  int64_t seed = 0;
  const bool seeded = nst_record_int(json_object_get(body, "seed"), &seed);
  if (!id && j->ntask_ids) {
    if (seeded) {
      nst_random random = nst_random_make((uint64_t)seed, "reset");
      id = j->task_ids[nst_random_below(&random, j->ntask_ids)];
    } else id = j->task_ids[j->graded % j->ntask_ids];
  }
  const nst_task *task = id ? nst_grading_task(j->grading, id) : NULL;
  if (!task) reply_error(r, MHD_HTTP_NOT_FOUND, "there is no such task");
  else {
    const nst_episode *episode = nst_episodes_begin(j->episodes, task->task_id);
    reply_json(r, MHD_HTTP_OK,
               json_pack("{s:{s:s,s:s,s:s,s:i,s:O},s:n,s:b,s:s}", "observation", "episode_id", episode->id, "task_id", task->task_id,
                         "kind", nst_kind_name(task->kind), "level", task->level, "messages", task->messages, "reward", "done",
                         0, "episode_id", episode->id));
  }
  json_decref(body);
}

static void state(nst_judge *j, const nst_judge_request *r) {
  char id[24] = "";
  if (r->size < sizeof id) memcpy(id, r->body ? r->body : "", r->size);
  const nst_episode *episode = r->size < sizeof id ? nst_episodes_find(j->episodes, *id ? id : NULL) : NULL;
  if (!episode) reply_error(r, MHD_HTTP_NOT_FOUND, "there is no such episode; POST /reset begins one");
  else
    reply_json(r, MHD_HTTP_OK, json_pack("{s:s,s:I,s:s}", "episode_id", episode->id, "step_count", (json_int_t)episode->steps,
                                         "task_id", episode->task_id));
}

/* A step is one sample; false: answered already. */
static bool step(nst_judge *j, batch *b, const nst_judge_request *r, part *p) {
  json_t *body = parse_object(r);
  if (!body) return false;
  const char *id = json_string_value(json_object_get(body, "episode_id"));
  const json_t *action = json_object_get(body, "action"), *completion = json_object_get(action, "completion");
  if (!completion) completion = json_object_get(action, "message");
  p->episode = nst_episodes_find(j->episodes, id);
  const char *why = NULL;
  if (!p->episode) why = "there is no such episode; POST /reset begins one";
  else if (p->episode->steps) why = "the episode is done; POST /reset begins another";
  else if (!json_is_string(completion)) why = "\"action\" must hold \"completion\", a text";
  if (why) reply_error(r, p->episode ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_NOT_FOUND, why);
  else {
    p->episode->steps++;
    json_t *sample = json_pack("{s:s,s:s,s:O}", "task_id", p->episode->task_id, "sample_id", p->episode->id, "completion", completion);
    const char *finish = json_string_value(json_object_get(action, "finish_reason"));
    if (finish) json_object_set_new(sample, "finish_reason", json_string(finish));
    add_object(j, b, 1, sample);
  }
  json_decref(body);
  return !why;
}

static void grade(nst_judge *j, batch *b, const nst_judge_request *r, part *p) {
  size_t blank = 0;
  while (blank < r->size && strchr(" \t\r\n", r->body[blank]) && r->body[blank]) blank++;
  if (blank < r->size && r->body[blank] == '[') {
    json_error_t why;
    json_t *array = json_loadb(r->body, r->size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
    p->array = true;
    if (!array) {
      char text[NST_RECORD_ERROR];
      snprintf(text, sizeof text, "the array is not JSON: %.120s, at byte %d", why.text, why.position);
      add_refusal(j, b, NULL, 1, text);
      return;
    }
    for (size_t i = 0; i < json_array_size(array); i++) add_object(j, b, i + 1, json_incref(json_array_get(array, i)));
    json_decref(array);
  } else {
    add_lines(j, b, r->body, r->size);
    p->lines = true;
  }
}

static json_t *outcome_of(const batch *b, const place *p) {
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

static void finish(const batch *b, const nst_judge_request *r, const part *p) {
  if (p->episode) {
    const json_t *result = outcome_of(b, &b->places[p->first]);
    reply_json(r, MHD_HTTP_OK, json_pack("{s:o,s:O,s:b,s:s}", "observation", observation_of(result), "reward",
                                         json_object_get(result, "score"), "done", 1, "episode_id", p->episode->id));
    return;
  }
  size_t capacity = 0;
  *r->reply = (nst_judge_reply){.status = MHD_HTTP_OK, .lines = p->lines, .text = NULL, .size = 0};
  append(r->reply, &capacity, "[", p->array);
  for (size_t i = 0; i < p->count; i++) {
    size_t size;
    char *text = nst_record_text(outcome_of(b, &b->places[p->first + i]), &size);
    append(r->reply, &capacity, text, size);
    append(r->reply, &capacity, p->lines ? "\n" : ",", p->lines || i + 1 < p->count);
    free(text);
  }
  append(r->reply, &capacity, "]", p->array);
}

void nst_judge_run(nst_judge *j, const nst_judge_request *requests, size_t n) {
  batch b = {0};
  part *parts = nst_memory_new(n, sizeof *parts);
  bool *waits = nst_memory_new(n, sizeof *waits);
  for (size_t i = 0; i < n; i++) {
    parts[i].first = b.nplaces;
    switch (requests[i].path) {
    case NST_JUDGE_GRADE: grade(j, &b, &requests[i], &parts[i]), waits[i] = true; break;
    case NST_JUDGE_STEP: waits[i] = step(j, &b, &requests[i], &parts[i]); break;
    case NST_JUDGE_RESET: reset(j, &requests[i]); break;
    case NST_JUDGE_STATE: state(j, &requests[i]); break;
    case NST_JUDGE_HEALTH:
      reply_json(&requests[i], MHD_HTTP_OK, json_pack("{s:s,s:I,s:I,s:s}", "status", "ok", "tasks", (json_int_t)j->ntask_ids, "graded",
                                                      (json_int_t)j->graded, "version", NST_VERSION));
      break;
    }
    parts[i].count = b.nplaces - parts[i].first;
  }
  b.results = nst_memory_new(b.nsamples, sizeof *b.results);
  if (b.nsamples) nst_grading_run(j->grading, b.results, b.samples, b.nsamples);
  j->graded += b.nsamples;
  for (size_t i = 0; i < n; i++)
    if (waits[i]) finish(&b, &requests[i], &parts[i]);
  for (size_t i = 0; i < b.nsamples; i++) nst_sample_fini(&b.samples[i]), nst_result_fini(&b.results[i]);
  for (size_t i = 0; i < b.nplaces; i++) json_decref(b.places[i].refusal);
  free(b.samples);
  free(b.results);
  free(b.places);
  free(parts);
  free(waits);
}
