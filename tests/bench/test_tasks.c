/* Suites of tasks: the same bytes from the same seed, none twice, no answer in a prompt, hidden points that are worth it,
 * the published one. */
#include "tests/bench/suites.h"

#include "bench/record/digest.h"
#include "bench/tasks/body.h"
#include "bench/tasks/canon.h"
#include "bench/tasks/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---------------------------------------------------------------- */

static bool hash_records(void *context, const json_t *task, const json_t *key) {
  nestor_buffer *all = context;
  for (int i = 0; i < 2; i++) {
    size_t size;
    char *text = nst_record_text(i ? key : task, &size);
    nestor_buffer_append(all, text, size);
    nestor_buffer_append(all, "\n", 1);
    free(text);
  }
  return true;
}

static char *bytes_of(const nst_suite_options *options) {
  nestor_buffer *all = nestor_buffer_new();
  char error[NST_RECORD_ERROR];
  if (!nst_suite_generate(options, hash_records, all, error)) fail_msg("%s", error);
  char *text = strdup(nestor_buffer_data(all));
  nestor_buffer_free(all);
  return text;
}

static void the_same_seed_gives_the_same_bytes(void **state) {
  (void)state;
  nst_suite_options o = options_of("bytes", NST_SPLIT_DEV, 40);
  o.threads = 1;
  char *one = bytes_of(&o);
  o.threads = 3;
  char *three = bytes_of(&o);
  assert_true(!strcmp(one, three));
  o.seed++;
  char *other = bytes_of(&o);
  assert_true(strcmp(one, other) != 0);
  free(three), free(other);
  /* A longer suite begins with a shorter one. */
  o.seed--;
  o.count = 80;
  char *longer = bytes_of(&o);
  assert_true(!strncmp(longer, one, strlen(one)));
  free(one), free(longer);
}

/* All engines give the bytes of the analysis. Without a code generator there is nothing to compare. */
static void proven_answers_have_the_same_bytes(void **state) {
  (void)state;
  if (!code_is_there()) skip();
  nst_suite_options o = options_of("proven", NST_SPLIT_DEV, 8);
  o.examples = 0;
  o.levels = 1 << 3;
  char *quick = bytes_of(&o);
  o.quick = false;
  char *proven = bytes_of(&o);
  assert_true(!strcmp(quick, proven));
  free(quick), free(proven);
}

/* ---- what tasks hold ------------------------------------------------------ */

static void check_prompt(const nst_task *task, const nst_key *key) {
  size_t i;
  json_t *message;
  bool last_is_user = false;
  json_array_foreach(task->messages, i, message) {
    const char *text = text_at(message, "content");
    last_is_user = !strcmp(text_at(message, "role"), "user");
    if (task->answer == NST_ANSWER_CHOICE) continue; /* "answer: A" tells nothing */
    assert_null(strstr(text, key->answer));
    if (strcmp(text_at(message, "role"), "assistant") != 0) continue;
    nestor_buffer *reply = nestor_buffer_new();
    if (task->answer == NST_ANSWER_NUMBERS)
      nst_text_add(reply, "%s", key->answer);
    else
      nst_body_code(reply, key->answer);
    if (nst_text_same_but_names(text, nestor_buffer_data(reply)))
      fail_msg("an example gives the answer of %s", task->task_id);
    nestor_buffer_free(reply);
  }
  assert_true(last_is_user);
}

/* No two mappings of a comparison are the same but for their names. */
static void check_choices_differ(const nst_draft *d) {
  char *texts[NST_DRAFT_MAPPINGS];
  for (int m = 0; m < d->nmappings; m++) {
    nestor_buffer *text = nestor_buffer_new();
    nst_draft_write_mapping(d, m, "same", text);
    texts[m] = strdup(nestor_buffer_data(text));
    nestor_buffer_free(text);
    for (int k = 0; k < m; k++) assert_string_not_equal(texts[m], texts[k]);
  }
  for (int m = 0; m < d->nmappings; m++) free(texts[m]);
}

static void check_points(const nst_draft *d, const nst_key *key) {
  const json_t *points = json_object_get(key->json, "points");
  for (int m = 0; m < d->nmappings; m++) {
    const nst_draft_mapping *mapping = &d->mappings[m];
    int shown = 0, hidden = 0, imperfect = 0, beyond = 0;
    size_t i;
    json_t *point;
    json_array_foreach((json_t *)points, i, point) {
      if (strcmp(text_at(point, "mapping"), mapping->name) != 0) continue;
      assert_true(json_array_size(json_object_get(point, "values")) ==
                  json_array_size(json_object_get(json_object_get(key->json, "figures"), mapping->name)));
      if (json_is_true(json_object_get(point, "shown"))) {
        shown++;
        continue;
      }
      int64_t params[NST_DRAFT_PARAMS];
      for (int p = 0; p < mapping->nparams; p++)
        assert_true(
          nst_record_int(json_object_get(json_object_get(point, "params"), mapping->params[p].name), &params[p]));
      hidden++;
      imperfect += nst_point_is_imperfect(d, mapping, params);
      beyond += nst_point_is_beyond(mapping, params);
    }
    assert_int_equal(shown, 1);
    assert_true(mapping->nparams || d->target == NST_KIND_GEN_WORKLOAD || d->target == NST_KIND_GEN_HARDWARE);
    if (mapping->nparams) assert_true(hidden >= 3 && imperfect >= 1 && beyond >= 1);
  }
}

static void check_model_points(const nst_draft *d, const nst_key *key) {
  const json_t *points = json_object_get(key->json, "points");
  const nst_draft_mapping *m = &d->mappings[0];
  assert_true(json_array_size(points) >= 200 &&
              json_array_size(points) == json_array_size(json_object_get(key->json, "values")));
  int imperfect = 0, beyond = 0, one = 0, whole = 0, past = 0;
  size_t i;
  json_t *row;
  json_array_foreach((json_t *)points, i, row) {
    int64_t params[NST_DRAFT_PARAMS];
    for (int p = 0; p < m->nparams; p++) assert_true(nst_record_int(json_array_get(row, (size_t)p), &params[p]));
    imperfect += nst_point_is_imperfect(d, m, params);
    beyond += nst_point_is_beyond(m, params);
    for (int p = 0; p < m->nparams; p++) {
      if (m->params[p].role != NST_ROLE_TILE) continue;
      const int64_t extent = nst_draft_extent(d, m, m->params[p].dim, params);
      one += params[p] == 1, whole += params[p] == extent, past += params[p] > extent;
    }
  }
  assert_true(imperfect >= 20 && beyond >= 20 && one >= 5 && whole >= 5 && past >= 5);
}

/* The text of a program with a fault, and the line behind "Its first line should be:". */
static char *between(const char *text, const char *from, const char *to) {
  const char *begin = strstr(text, from);
  assert_non_null(begin);
  begin += strlen(from);
  const char *end = strstr(begin, to);
  assert_non_null(end);
  return strndup(begin, (size_t)(end - begin));
}

/* The first line of a program: up to its bracket, on one line. */
static char *first_line(const char *program) {
  char *line = calloc(1, strlen(program) + 1);
  size_t n = 0;
  for (const char *at = program; *at && *at != '{'; at++)
    if (*at != ' ' && *at != '\n')
      line[n++] = *at;
    else if (n && line[n - 1] != ' ')
      line[n++] = ' ';
  line[n] = '{';
  return line;
}

/* What is wrong in a first line can be told from the prompt, and the layout does not show where the fault is. */
static void check_repair(const nst_task *task, const nst_key *key) {
  const char *prompt = text_at(json_array_get(task->messages, json_array_size(task->messages) - 1), "content");
  char *faulty = between(prompt, "has one fault.\n\n```nest\n", "```"),
       *told = between(prompt, "Its first line should be:\n\n    ", "\n"), *right = first_line(key->answer);
  assert_string_equal(told, right);
  assert_null(strstr(told, "  "));
  assert_null(strstr(faulty, "\n\n"));
  assert_null(strstr(faulty, " \n"));
  nestor_buffer *again = nestor_buffer_new();
  nst_text_lay_out(again, faulty, strlen(faulty));
  assert_string_equal(nestor_buffer_data(again), faulty);
  nestor_buffer_free(again);
  free(faulty), free(told), free(right);
}

static void check_first_line(const nst_task *task, const nst_key *key) {
  char *told = between(text_at(json_array_get(task->messages, json_array_size(task->messages) - 1), "content"),
                       "Its first line is:\n\n    ", "\n"),
       *right = first_line(key->answer);
  assert_string_equal(told, right);
  free(told), free(right);
}

static void repairs_can_be_solved_and_layout_tells_nothing(void **state) {
  (void)state;
  nst_suite_options o = options_of("repairs", NST_SPLIT_TRAIN, 300);
  o.kinds = 1 << NST_KIND_REPAIR;
  o.examples = 0;
  records r = generate(&o);
  int in_first_line = 0;
  for (size_t i = 0; i < json_array_size(r.tasks); i++) {
    nst_task task = take(json_array_get(r.tasks, i));
    nst_key key;
    char error[NST_RECORD_ERROR];
    if (!nst_key_take(&key, json_incref(json_array_get(r.keys, i)), error)) fail_msg("%s", error);
    check_repair(&task, &key);
    char *faulty = between(text_at(json_array_get(task.messages, 1), "content"), "fault.\n\n```nest\n", "```"),
         *shown = first_line(faulty), *right = first_line(key.answer);
    in_first_line += strcmp(shown, right) != 0;
    free(faulty), free(shown), free(right);
    nst_key_fini(&key);
    nst_task_fini(&task);
  }
  assert_true(in_first_line > 3); /* there are such faults */
  end(&r);
}

static void tasks_hold_what_they_must(void **state) {
  (void)state;
  nst_suite_options o = options_of("hold", NST_SPLIT_TEST, 120);
  records r = generate(&o);
  assert_int_equal(json_array_size(r.tasks), 120);
  nst_draft *d = malloc(sizeof *d);
  for (size_t i = 0; i < 120; i++) {
    nst_task task = take(json_array_get(r.tasks, i));
    nst_key key;
    char error[NST_RECORD_ERROR], commit[65];
    if (!nst_key_take(&key, json_incref(json_array_get(r.keys, i)), error)) fail_msg("%s", error);
    assert_string_equal(task.task_id, key.task_id);
    nst_answer_commit(commit, key.salt, key.answer);
    assert_string_equal(commit, task.answer_commit);
    check_prompt(&task, &key);
    nst_draft_of_task(d, &task, NULL);
    assert_string_equal(d->cluster, task.cluster);
    switch (task.kind) {
    case NST_KIND_GEN_WORKLOAD:
    case NST_KIND_GEN_HARDWARE:
    case NST_KIND_GEN_MAPPING:
      check_first_line(&task, &key);
      check_points(d, &key);
      break;
    case NST_KIND_REPAIR: check_points(d, &key); break;
    case NST_KIND_GEN_MODEL: check_model_points(d, &key); break;
    case NST_KIND_QA_COMPARE:
      assert_true(strstr(key.answer, text_at(key.json, "choice")) != NULL);
      check_choices_differ(d);
      break;
    case NST_KIND_QA_PREDICT:
      assert_int_equal(json_object_size(json_object_get(key.json, "values")),
                       json_array_size(json_object_get(task.spec, "quantities")));
      break;
    case NST_KIND_GEN_OPTIMIZE: assert_true(json_is_integer(json_object_get(key.json, "optimum"))); break;
    case NST_KIND_COUNT: break;
    }
    nst_key_fini(&key);
    nst_task_fini(&task);
  }
  free(d);
  end(&r);
}

/* No example gives a task's answer under other names, and no model is free of tiles. */
static void models_are_worth_asking_for(void **state) {
  (void)state;
  nst_suite_options o = options_of("models", NST_SPLIT_TRAIN, 200);
  o.kinds = 1 << NST_KIND_GEN_MODEL;
  o.levels = 1 << 1;
  o.examples = 3;
  records r = generate(&o);
  nst_draft *d = malloc(sizeof *d);
  for (size_t i = 0; i < json_array_size(r.tasks); i++) {
    nst_task task = take(json_array_get(r.tasks, i));
    nst_key key;
    char error[NST_RECORD_ERROR];
    if (!nst_key_take(&key, json_incref(json_array_get(r.keys, i)), error)) fail_msg("%s", error);
    check_prompt(&task, &key);
    nst_draft_of_task(d, &task, NULL);
    const char *outs = strstr(key.answer, "out ");
    bool tiles = false;
    for (int p = 0; p < d->mappings[0].nparams; p++)
      tiles |= d->mappings[0].params[p].role == NST_ROLE_TILE && strstr(outs, d->mappings[0].params[p].name);
    assert_true(tiles);
    nst_key_fini(&key);
    nst_task_fini(&task);
  }
  free(d);
  end(&r);
}

/* ---- no task twice -------------------------------------------------------- */

static int compare_digests(const void *a, const void *b) { return memcmp(a, b, NST_DIGEST_BYTES); }

static size_t count_equal(uint8_t (*digests)[NST_DIGEST_BYTES], size_t n) {
  qsort(digests, n, sizeof *digests, compare_digests);
  size_t equal = 0;
  for (size_t i = 1; i < n; i++) equal += !memcmp(digests[i - 1], digests[i], sizeof *digests);
  return equal;
}

static void no_two_tasks_are_the_same_up_to_renaming(void **state) {
  (void)state;
  enum { EACH = 240, ALL = 3 * EACH };
  uint8_t(*tasks)[NST_DIGEST_BYTES] = calloc(ALL, sizeof *tasks),
  (*programs)[NST_DIGEST_BYTES] = calloc(ALL, sizeof *programs);
  uint8_t split_of_program[ALL];
  nst_draft *d = malloc(sizeof *d);
  static const nst_split splits[] = {NST_SPLIT_TRAIN, NST_SPLIT_DEV, NST_SPLIT_TEST};
  int held_out = 0;
  for (size_t s = 0; s < 3; s++) {
    nst_suite_options o = options_of("twice", splits[s], EACH);
    o.seed = 9 + s; /* whatever the seeds, splits do not overlap */
    records r = generate(&o);
    for (size_t i = 0; i < EACH; i++) {
      nst_task task = take(json_array_get(r.tasks, i));
      nst_draft_of_task(d, &task, NULL);
      const nst_canon canon = nst_canon_of(d);
      memcpy(tasks[s * EACH + i], canon.task, sizeof *tasks);
      memcpy(programs[s * EACH + i], canon.program, sizeof *programs);
      split_of_program[s * EACH + i] = (uint8_t)s;
      if (splits[s] != NST_SPLIT_TEST) assert_false(d->held_out);
      held_out += d->held_out;
      nst_task_fini(&task);
    }
    end(&r);
  }
  assert_true(held_out > 20);
  assert_int_equal(count_equal(tasks, ALL), 0);
  for (size_t a = 0; a < ALL; a++)
    for (size_t b = a + 1; b < ALL; b++)
      if (split_of_program[a] != split_of_program[b])
        assert_true(memcmp(programs[a], programs[b], sizeof *programs) != 0);
  free(d), free(tasks), free(programs);
}

/* ---- the hidden split ----------------------------------------------------- */

static void hidden_tasks_need_the_secret(void **state) {
  (void)state;
  nst_suite_options o = options_of("hidden", NST_SPLIT_HIDDEN, 8);
  o.secret = "a secret of some length";
  o.examples = 0;
  o.levels = 1 << 2;
  records one = generate(&o);
  o.secret = "another secret of some length";
  records two = generate(&o);
  nst_draft *with = malloc(sizeof *with), *without = malloc(sizeof *without);
  for (size_t i = 0; i < 8; i++) {
    assert_true(strcmp(text_at(json_array_get(one.tasks, i), "answer_commit"),
                       text_at(json_array_get(two.tasks, i), "answer_commit")) != 0);
    nst_task task = take(json_array_get(one.tasks, i));
    nst_draft_of_task(with, &task, "a secret of some length");
    nst_draft_of_task(without, &task, NULL);
    const nst_canon a = nst_canon_of(with), b = nst_canon_of(without);
    assert_true(memcmp(a.program, b.program, sizeof a.program) != 0);
    assert_string_equal(with->cluster, task.cluster);
    nst_task_fini(&task);
  }
  free(with), free(without);
  end(&one), end(&two);
}

/* ---- the published suite -------------------------------------------------- */

typedef struct {
  FILE *tasks, *keys;
  records all;
} files;

static bool write_records(void *context, const json_t *task, const json_t *key) {
  files *f = context;
  size_t size;
  char *text = nst_record_text(task, &size);
  fwrite(text, 1, size, f->tasks), fputc('\n', f->tasks);
  free(text);
  text = nst_record_text(key, &size);
  fwrite(text, 1, size, f->keys), fputc('\n', f->keys);
  free(text);
  json_array_append(f->all.tasks, (json_t *)task);
  return true;
}

/* A text with each number in it made 0. */
static char *without_numbers(const char *text) {
  char *out = calloc(strlen(text) + 1, 1), *end = out;
  for (const char *at = text; *at; at++)
    if (*at < '0' || *at > '9')
      *end++ = *at;
    else if (end == out || end[-1] != '0')
      *end++ = '0';
  return out;
}

/* No two tasks of the suite, in whatever splits and levels, have the same prompt or ask the same under other names; and no prompt for a
 * workload is one of another split with other numbers. */
static void check_that_all_differ(const json_t *tasks) {
  const size_t n = json_array_size(tasks);
  uint8_t(*prompts)[NST_DIGEST_BYTES] = calloc(n, sizeof *prompts), (*forms)[NST_DIGEST_BYTES] = calloc(n, sizeof *forms);
  json_t *splits = json_object();
  nst_draft *d = malloc(sizeof *d);
  for (size_t i = 0; i < n; i++) {
    nst_task task = take(json_array_get(tasks, i));
    const char *prompt = text_at(json_array_get(task.messages, json_array_size(task.messages) - 1), "content");
    nst_digest_parts(prompts[i], (const nst_digest_part[]){{prompt, strlen(prompt)}}, 1);
    nst_draft_of_task(d, &task, NULL);
    const nst_canon canon = nst_canon_of(d);
    memcpy(forms[i], canon.task, sizeof *forms);
    if (task.kind == NST_KIND_GEN_WORKLOAD) {
      char *plain = without_numbers(prompt);
      const char *other = text_at(splits, plain);
      if (other && strcmp(other, task.split) != 0)
        fail_msg("the prompt of %s is one of %s but for its numbers", task.task_id, other);
      json_object_set_new(splits, plain, json_string(task.split));
      free(plain);
    }
    nst_task_fini(&task);
  }
  assert_int_equal(count_equal(prompts, n), 0);
  assert_int_equal(count_equal(forms, n), 0);
  free(prompts), free(forms), free(d);
  json_decref(splits);
}

static void check_hash(const char *sums, const char *name, const char *bytes, size_t size) {
  char hash[NST_DIGEST_TEXT], line[128];
  nst_digest_text(hash, (const nst_digest_part[]){{bytes, size}}, 1);
  snprintf(line, sizeof line, "%s  %s\n", hash, name);
  if (!strstr(sums, line))
    fail_msg("%s of v1 has the hash %s, which is not in bench/suites/v1.sha256. Where a change of tasks, card, "
             "messages or counts is meant: nestor bench "
             "gen --suite v1 -o DIR, and DIR/SHA256SUMS is the new file",
             name, hash);
}

static void the_published_suite_is_what_its_hashes_say(void **state) {
  (void)state;
#ifdef NST_SANITIZED
  skip(); /* it takes minutes, and every draft of it is of a kind that other tests draw */
#endif
  char sums[2048] = "";
  FILE *file = fopen(NST_SOURCE_DIR "/bench/suites/v1.sha256", "rb");
  assert_non_null(file);
  const size_t n = fread(sums, 1, sizeof sums - 1, file);
  sums[n] = '\0';
  fclose(file);
  nst_suite_options o;
  records all = {json_array(), json_array()};
  for (size_t i = 0; nst_suite_published(&o, i); i++) {
    o.quick = true; /* proven answers have the same bytes */
    char *bytes[2], name[32], error[NST_RECORD_ERROR];
    size_t sizes[2];
    files f = {open_memstream(&bytes[0], &sizes[0]), open_memstream(&bytes[1], &sizes[1]), all};
    if (!nst_suite_generate(&o, write_records, &f, error)) fail_msg("%s", error);
    fclose(f.tasks), fclose(f.keys);
    for (int k = 0; k < 2; k++) {
      snprintf(name, sizeof name, "%s%s.jsonl", nst_split_name(o.split), k ? ".key" : "");
      check_hash(sums, name, bytes[k], sizes[k]);
      free(bytes[k]);
    }
  }
  check_that_all_differ(all.tasks);
  end(&all);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_same_seed_gives_the_same_bytes),
    cmocka_unit_test(proven_answers_have_the_same_bytes),
    cmocka_unit_test(tasks_hold_what_they_must),
    cmocka_unit_test(repairs_can_be_solved_and_layout_tells_nothing),
    cmocka_unit_test(models_are_worth_asking_for),
    cmocka_unit_test(no_two_tasks_are_the_same_up_to_renaming),
    cmocka_unit_test(hidden_tasks_need_the_secret),
    cmocka_unit_test(the_published_suite_is_what_its_hashes_say),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
