/* Generating a suite: seeds are settled one after another, bodies are made by threads, until every task has one; then
 * records are written. */
#include "bench/tasks/generate.h"

#include "bench/record/digest.h"
#include "bench/record/memory.h"
#include "bench/tasks/body.h"
#include "bench/tasks/canon.h"
#include "bench/tasks/card.h"
#include "bench/tasks/text.h"
#include "bench/tasks/traits.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const split_names[] = {"train", "dev", "test", "hidden"};
const char *nst_split_name(nst_split split) { return split_names[split]; }
bool nst_split_parse(nst_split *out, const char *name) {
  for (int i = 0; i < NST_SPLIT_COUNT; i++)
    if (!strcmp(name, split_names[i])) return *out = (nst_split)i, true;
  return false;
}

/* Half of all programs are for training, a tenth for development, a fifth each for test and hidden. */
static nst_split split_of(const nst_canon *canon) {
  const int part = canon->program[0] % 10;
  return part < 5 ? NST_SPLIT_TRAIN : part < 6 ? NST_SPLIT_DEV : part < 8 ? NST_SPLIT_TEST : NST_SPLIT_HIDDEN;
}

/* ---- slots ---------------------------------------------------------------- */

enum {
  POOL = 4,           /* examples of each kind and level to choose from */
  WANTED_TRIES = 1500, /* for a trait whose turn it is; then any will do */
  MOST_TRIES = 20000
};

typedef struct {
  nst_kind kind;
  int level;
  size_t number; /* among those of its kind and level */
  bool example;
  bool drawn, done;
  int tries;
  uint64_t seed;
  nst_canon canon;
  nst_body body;
  char why[NST_SOLVE_ERROR];
} slot;

typedef struct {
  const nst_suite_options *options;
  slot *slots; /* examples first */
  size_t n, nexamples;
  uint8_t (*seen)[NST_DIGEST_BYTES]; /* open addressing; all zero: empty */
  size_t places, nseen; /* rejected drafts stay in the set */
  atomic_size_t next, made;
} suite;

/* Where the digest is, or would be. */
static uint8_t *place_of(const suite *s, const uint8_t *digest) {
  size_t at;
  memcpy(&at, digest, sizeof at);
  static const uint8_t none[NST_DIGEST_BYTES];
  for (at &= s->places - 1;; at = (at + 1) & (s->places - 1))
    if (!memcmp(s->seen[at], digest, NST_DIGEST_BYTES) || !memcmp(s->seen[at], none, NST_DIGEST_BYTES)) return s->seen[at];
}

static void grow_set(suite *s) {
  suite larger = {.places = s->places ? 2 * s->places : 64};
  larger.seen = nst_memory_new(larger.places, sizeof *larger.seen);
  static const uint8_t none[NST_DIGEST_BYTES];
  for (size_t i = 0; i < s->places; i++)
    if (memcmp(s->seen[i], none, NST_DIGEST_BYTES) != 0) memcpy(place_of(&larger, s->seen[i]), s->seen[i], NST_DIGEST_BYTES);
  free(s->seen);
  s->seen = larger.seen;
  s->places = larger.places;
}

static bool add_digest(suite *s, const uint8_t *digest) {
  if (2 * s->nseen >= s->places) grow_set(s);
  uint8_t *place = place_of(s, digest);
  if (!memcmp(place, digest, NST_DIGEST_BYTES)) return false;
  memcpy(place, digest, NST_DIGEST_BYTES);
  s->nseen++;
  return true;
}

/* Traits take turns, though drafts of some are refused more often than others; -1: there is none at its level. Of
 * repairs all that mappings have do: most are of workloads or hardware too. */
static int wanted_trait(const slot *t) {
  unsigned set = nst_traits_raising(t->kind, t->kind == NST_KIND_REPAIR ? NST_KIND_GEN_MAPPING : t->kind, t->level);
  if (!set) return -1;
  const size_t n = (size_t)__builtin_popcount(set);
  for (size_t skip = (t->number + t->number / n) % n; skip; skip--) set &= set - 1; /* not in step with odd and even numbers */
  return __builtin_ctz(set);
}

/* The next seed of a slot whose draft is new and of the right split. */
static bool draw(suite *s, slot *t) {
  const nst_suite_options *o = s->options;
  const nst_split split = t->example ? NST_SPLIT_TRAIN : o->split;
  const char *secret = t->example ? NULL : o->secret;
  nst_draft *draft = nst_memory_new(1, sizeof *draft);
  bool found = false;
  while (!found && t->tries < MOST_TRIES) {
    char stream[160];
    snprintf(stream, sizeof stream, "%.60s/%s/%s/%d/%zu/%d", o->suite, t->example ? "example" : split_names[split],
             nst_kind_name(t->kind), t->level, t->number, t->tries++);
    nst_random r = nst_random_make(o->seed, stream);
    t->seed = nst_random_next(&r) >> 11; /* a number that JSON has everywhere */
    nst_draft_make(draft, t->kind, t->level, t->seed, secret);
    if (t->tries <= WANTED_TRIES && draft->raises != wanted_trait(t)) continue;
    const bool measured = split == NST_SPLIT_TEST || split == NST_SPLIT_HIDDEN;
    if (draft->held_out && !measured) continue;
    /* Workloads that are asked for are half of templates that training has none of. */
    if (t->kind == NST_KIND_GEN_WORKLOAD && measured && !draft->held_out && t->number % 2) continue;
    t->canon = nst_canon_of(draft);
    found = split_of(&t->canon) == split && add_digest(s, t->canon.task);
  }
  free(draft);
  return t->drawn = found;
}

/* The draft is no good: another is drawn. */
static void refuse(slot *t, const char *why) {
  snprintf(t->why, sizeof t->why, "%s", why);
  nst_body_fini(&t->body);
  t->done = false;
}

static void make_body(suite *s, slot *t) {
  nst_draft *draft = nst_memory_new(1, sizeof *draft);
  nst_draft_make(draft, t->kind, t->level, t->seed, t->example ? NULL : s->options->secret);
  t->done = nst_body_make(&t->body, draft, s->options->quick, t->why);
  if (t->done && (strstr(t->body.prompt, t->body.answer) || strstr(t->body.prompt, t->body.reply)) &&
      t->kind != NST_KIND_QA_COMPARE)
    refuse(t, "the prompt holds its own answer");
  free(draft);
}

/* No example of a task's kind and level gives its answer, under whatever names; a letter of a choice tells nothing. */
static void refuse_given_away(suite *s) {
  for (size_t i = s->nexamples; i < s->n; i++) {
    slot *t = &s->slots[i];
    for (size_t k = 0; k < s->nexamples && t->done && t->kind != NST_KIND_QA_COMPARE; k++) {
      const slot *e = &s->slots[k];
      if (e->done && e->kind == t->kind && e->level == t->level &&
          (strstr(e->body.prompt, t->body.answer) || nst_text_same_but_names(e->body.answer, t->body.answer)))
        refuse(t, "an example gives its answer"), atomic_fetch_sub(&s->made, 1);
    }
  }
}

static bool work_on_one(suite *s) {
  const size_t i = atomic_fetch_add(&s->next, 1);
  if (i >= s->n) return false;
  if (!s->slots[i].done) {
    make_body(s, &s->slots[i]);
    if (s->slots[i].body.unproven) atomic_store(&s->next, s->n); /* the others need not begin */
    atomic_fetch_add(&s->made, s->slots[i].done);
  }
  return true;
}

static void *work(void *context) {
  while (work_on_one(context)) {}
  return NULL;
}

static void make_bodies(suite *s) {
  enum { MOST = 64 };
  pthread_t threads[MOST];
  long n = s->options->threads > 0 ? s->options->threads : sysconf(_SC_NPROCESSORS_ONLN);
  if (n > MOST) n = MOST;
  atomic_store(&s->next, 0);
  long started = 0;
  while (started < n - 1 && pthread_create(&threads[started], NULL, work, s) == 0) started++;
  while (work_on_one(s))
    if (s->options->progress) s->options->progress(s->options->context, atomic_load(&s->made), s->n);
  while (started > 0) pthread_join(threads[--started], NULL);
}

/* ---- records -------------------------------------------------------------- */

/* Different drafts can be told in the same words: the first of them stays. */
static void drop_same_prompts(suite *s, const bool *there) {
  for (size_t i = 0; i < s->n; i++) {
    slot *t = &s->slots[i];
    if (!t->done || there[i]) continue;
    uint8_t prompt[NST_DIGEST_BYTES];
    nst_digest_parts(prompt, (const nst_digest_part[]){{"prompt\n", 7}, {t->body.prompt, strlen(t->body.prompt)}}, 2);
    if (add_digest(s, prompt)) continue;
    snprintf(t->why, sizeof t->why, "another task has the same prompt");
    nst_body_fini(&t->body);
    t->done = false;
    atomic_fetch_sub(&s->made, 1);
  }
}

static void add_message(json_t *messages, const char *role, const char *text) {
  json_array_append_new(messages, json_pack("{s:s,s:s}", "role", role, "content", text));
}

static json_t *messages_of(const suite *s, const slot *t, const char *system) {
  json_t *messages = json_array();
  add_message(messages, "system", system);
  int wanted = s->options->examples;
  for (size_t i = 0, skip = t->number % POOL; i < 2 * s->nexamples && wanted;
       i++) { /* round the pool, from a place that differs from task to task */
    const slot *e = &s->slots[i % s->nexamples];
    if (e->kind != t->kind || e->level != t->level) continue;
    if (skip) {
      skip--;
      continue;
    }
    add_message(messages, "user", e->body.prompt);
    add_message(messages, "assistant", e->body.reply);
    wanted--;
  }
  add_message(messages, "user", t->body.prompt);
  return messages;
}

static void hash_text(char out[NST_DIGEST_TEXT], const char *a, const char *b, const char *c) {
  nst_digest_text(out, (const nst_digest_part[]){{a, strlen(a)}, {"\n", 1}, {b, strlen(b)}, {"\n", 1}, {c, strlen(c)}},
                  5);
}

static void make_records(const suite *s, const slot *t, const char *system, json_t **task, json_t **key) {
  const nst_suite_options *o = s->options;
  nst_draft *draft = nst_memory_new(1, sizeof *draft);
  nst_draft_make(draft, t->kind, t->level, t->seed, o->secret);
  char id[160], seed[32], salt[NST_DIGEST_TEXT], commit[NST_DIGEST_TEXT], hash[NST_DIGEST_TEXT],
    canary[NST_DIGEST_TEXT + 24], mark[NST_DIGEST_TEXT];
  snprintf(id, sizeof id, "%.60s/%s/%s/%d/%zu", o->suite, split_names[o->split], nst_kind_name(t->kind), t->level,
           t->number);
  snprintf(seed, sizeof seed, "%llu", (unsigned long long)t->seed);
  hash_text(salt, "salt", id, o->secret ? o->secret : seed);
  nst_answer_commit(commit, salt, t->body.answer);
  hash_text(mark, "canary", o->suite, "do not train on this");
  snprintf(canary, sizeof canary, "nestor-bench-canary-%.32s", mark);
  json_t *messages = messages_of(s, t, system);
  nst_content_hash(hash, messages, t->body.spec);
  *task =
    json_pack("{s:s,s:s,s:s,s:i,s:s,s:s,s:i,s:o,s:s,s:o,s:O,s:i,s:{s:i},s:s,s:s,s:s}", "schema", "nestor.task/1",
              "task_id", id, "suite", o->suite, "version", NST_SUITE_VERSION, "split", split_names[o->split], "kind",
              nst_kind_name(t->kind), "level", t->level, "seed", nst_record_from_int((int64_t)t->seed), "cluster",
              draft->cluster, "messages", messages, "spec", t->body.spec, "dsl_version", nestor_semantics(), "limits",
              "source_bytes", 65536, "answer_commit", commit, "content_hash", hash, "canary", canary);
  *key =
    json_pack("{s:s,s:s,s:s,s:s}", "schema", "nestor.key/1", "task_id", id, "salt", salt, "answer", t->body.answer);
  json_object_update(*key, t->body.key);
  free(draft);
}

/* ---- the suite ------------------------------------------------------------ */

/* Whether every reference was computed alike by all engines. Where one was not the suite ends: a draft drawn instead would hide it. */
static bool is_proven(const suite *s, char *error) {
  for (size_t i = 0; i < s->n; i++) {
    const slot *t = &s->slots[i];
    if (!t->body.unproven) continue;
    snprintf(error, NST_RECORD_ERROR, "the engines do not agree on a draft for %s at level %d, seed %llu: %.120s", nst_kind_name(t->kind),
             t->level, (unsigned long long)t->seed, t->why);
    return false;
  }
  return true;
}

static bool settle(suite *s, char *error) {
  bool *there = nst_memory_new(s->n, sizeof *there);
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < s->n; i++) {
      slot *t = &s->slots[i];
      there[i] = t->done;
      if (t->done) continue;
      if (!draw(s, t)) {
        snprintf(error, NST_RECORD_ERROR, "no good draft for %s at level %d, number %zu: %.120s",
                 nst_kind_name(t->kind), t->level, t->number,
                 *t->why ? t->why : "all are there already, or of other splits");
        free(there);
        return false;
      }
      again = true;
    }
    if (again) make_bodies(s);
    if (!is_proven(s, error)) return free(there), false;
    if (again) drop_same_prompts(s, there);
    refuse_given_away(s);
  }
  free(there);
  return true;
}

static void lay_out(suite *s) {
  const nst_suite_options *o = s->options;
  nst_kind kinds[NST_KIND_COUNT];
  int levels[NST_LEVELS];
  size_t nkinds = 0, nlevels = 0;
  for (int k = 0; k < NST_KIND_COUNT; k++)
    if (o->kinds >> k & 1) kinds[nkinds++] = (nst_kind)k;
  for (int l = 1; l <= NST_LEVELS; l++)
    if (o->levels >> l & 1) levels[nlevels++] = l;
  const size_t cells = nkinds * nlevels;
  s->nexamples = o->examples ? POOL * cells : 0;
  s->n = cells ? s->nexamples + o->count : 0;
  s->slots = nst_memory_new(s->n, sizeof *s->slots);
  for (size_t i = 0; i < s->n; i++) {
    const bool example = i < s->nexamples;
    const size_t at = example ? i : i - s->nexamples;
    s->slots[i] = (slot){
      .kind = kinds[at % nkinds], .level = levels[at / nkinds % nlevels], .number = at / cells, .example = example};
  }
}

bool nst_suite_published(nst_suite_options *out, size_t i) {
  static const struct {
    nst_split split;
    size_t count;
  } parts[] = {{NST_SPLIT_TRAIN, 2000}, {NST_SPLIT_DEV, 300}, {NST_SPLIT_TEST, 600}};
  if (i >= sizeof parts / sizeof *parts) return false;
  *out = (nst_suite_options){.suite = "v1",
                             .seed = 1,
                             .split = parts[i].split,
                             .count = parts[i].count,
                             .kinds = (1u << NST_KIND_COUNT) - 1,
                             .levels = 2 * ((1u << NST_LEVELS) - 1),
                             .examples = NST_SUITE_DEFAULT_EXAMPLES};
  return true;
}

bool nst_suite_generate(const nst_suite_options *options, nst_suite_sink *sink, void *context,
                        char error[NST_RECORD_ERROR]) {
  suite s = {.options = options};
  *error = '\0';
  lay_out(&s);
  char why[NST_SOLVE_ERROR];
  bool good = options->quick || nst_solver_is_whole(why);
  /* Without the code generator no draft could be proven, and all would be refused for what they are not to blame for. */
  if (!good) snprintf(error, NST_RECORD_ERROR, "%.150s: references are computed by three engines, unless --quick trusts the analysis", why);
  good = good && settle(&s, error);
  nestor_buffer *system = nestor_buffer_new();
  nst_card_system(system, !options->no_card);
  for (size_t i = s.nexamples; i < s.n && good; i++) {
    json_t *task, *key;
    make_records(&s, &s.slots[i], nestor_buffer_data(system), &task, &key);
    good = sink(context, task, key);
    json_decref(task);
    json_decref(key);
  }
  nestor_buffer_free(system);
  for (size_t i = 0; i < s.n; i++)
    if (s.slots[i].done) nst_body_fini(&s.slots[i].body);
  free(s.slots);
  free(s.seen);
  return good;
}
