/* Comparing a task and its key with what its seed gives: the body is made again, by all engines, and looked through
 * member by member. */
#include "bench/tasks/remake.h"

#include "bench/grade/values.h"
#include "bench/record/memory.h"
#include "bench/record/text.h"
#include "bench/tasks/body.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 120, VALUE = 60 };

typedef struct {
  nst_remake_fault *tell;
  void *context;
  int told;
} teller;

static void tell(teller *t, const char *what) {
  t->tell(t->context, what);
  t->told++;
}

/* ---- where two values differ ---------------------------------------------- */

static void copy_value(char out[VALUE], const json_t *value) {
  char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15)) : NULL;
  nst_text_quote(out, VALUE, text ? text : "nothing");
  free(text);
}

static bool same_leaf(const json_t *a, const json_t *b) {
  nst_figure x, y;
  if (json_equal(a, b)) return true;
  return (json_is_number(a) || json_is_number(b)) && nst_figure_take(&x, a) && nst_figure_take(&y, b) && nst_figure_equal(x, y);
}

/* Goes down to the first place that differs, whose path is left in `path`. */
static bool same_value(char path[PATH], const json_t *record, const json_t *made) {
  const size_t base = strlen(path);
  if (json_is_array(record) && json_is_array(made)) {
    const size_t n = json_array_size(record), m = json_array_size(made);
    for (size_t i = 0; i < n && i < m; i++) {
      snprintf(path + base, PATH - base, "[%zu]", i);
      if (!same_value(path, json_array_get(record, i), json_array_get(made, i))) return false;
    }
    path[base] = '\0';
    return n == m;
  }
  if (json_is_object(record) && json_is_object(made)) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)made, name, value) {
      snprintf(path + base, PATH - base, ".%.40s", name);
      if (!same_value(path, json_object_get(record, name), value)) return false;
    }
    path[base] = '\0';
    return json_object_size(record) == json_object_size(made);
  }
  return same_leaf(record, made);
}

/* The value at a path that same_value() has left behind; the value itself where the path ends. */
static const json_t *value_at(const json_t *value, const char *path) {
  while (value && *path) {
    char name[48];
    const size_t n = strcspn(path + 1, ".[]");
    snprintf(name, sizeof name, "%.*s", (int)n, path + 1);
    value = *path == '[' ? json_array_get(value, strtoul(name, NULL, 10)) : json_object_get(value, name);
    path += 1 + n + (path[0] == '[');
  }
  return value;
}

static void compare(teller *t, const char *whose, const char *member, const json_t *record, const json_t *made) {
  char path[PATH] = "", what[400], has[VALUE], gives[VALUE];
  if (same_value(path, record, made)) return;
  copy_value(has, value_at(record, path));
  copy_value(gives, value_at(made, path));
  snprintf(what, sizeof what, "\"%s%s\" of the %s is %s, and its seed gives %s", member, path, whose, has, gives);
  tell(t, what);
}

/* Numbers as they are in files: doubles have 15 digits there. */
static json_t *as_read(const json_t *value) {
  size_t size;
  char *text = nst_record_text(value, &size);
  json_t *out = json_loadb(text, size, JSON_ALLOW_NUL, NULL);
  free(text);
  return out;
}

/* ---- the parts ------------------------------------------------------------ */

static void compare_keys(teller *t, const json_t *record, const json_t *made) {
  static const char *const own[] = {"schema", "task_id", "salt", "answer"};
  const char *name;
  json_t *value;
  json_object_foreach((json_t *)made, name, value) compare(t, "key", name, json_object_get(record, name), value);
  json_object_foreach((json_t *)record, name, value) {
    bool known = json_object_get(made, name) != NULL;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) known |= !strcmp(name, own[i]);
    if (!known) compare(t, "key", name, value, NULL);
  }
}

static bool same_question(const nst_task *task, const nst_body *body) {
  const size_t n = json_array_size(task->messages);
  const char *asked = json_string_value(json_object_get(json_array_get(task->messages, n - 1), "content"));
  return n && asked && !strcmp(asked, body->prompt);
}

int nst_remake_compare(const nst_task *task, const nst_key *key, const char *secret, bool quick, nst_remake_fault *say,
                       void *context) {
  teller t = {say, context, 0};
  nst_draft *draft = nst_memory_new(1, sizeof *draft);
  nst_body body;
  char why[NST_SOLVE_ERROR], what[400];
  nst_draft_of_task(draft, task, secret);
  if (!nst_body_make(&body, draft, quick, why)) {
    snprintf(what, sizeof what, body.unproven ? "the engines do not agree on it: %.300s" : "its seed gives no good task: %.300s", why);
    tell(&t, what);
  } else {
    json_t *spec = as_read(body.spec), *members = as_read(body.key);
    if (strcmp(task->cluster, draft->cluster) != 0) tell(&t, "its cluster is not the one that its seed gives");
    if (!same_question(task, &body)) tell(&t, "its question is not the one that its seed gives");
    compare(&t, "task", "spec", task->spec, spec);
    if (strcmp(key->answer, body.answer) != 0) tell(&t, "its answer is not the one that its seed gives");
    compare_keys(&t, key->json, members);
    json_decref(spec);
    json_decref(members);
    nst_body_fini(&body);
  }
  free(draft);
  return t.told;
}

bool nst_remake_asks(const nst_task *task, const char *secret) {
  nst_draft *draft = nst_memory_new(1, sizeof *draft);
  nst_body body;
  char why[NST_SOLVE_ERROR];
  nst_draft_of_task(draft, task, secret);
  bool same = false;
  if (nst_body_make(&body, draft, true, why)) {
    same = same_question(task, &body);
    nst_body_fini(&body);
  }
  free(draft);
  return same;
}
