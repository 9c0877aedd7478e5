/* What the scripted models say to each kind of task. */
#include "bench/scripted/script.h"

#include "bench/record/memory.h"
#include "bench/scripted/belief.h"
#include "bench/tasks/closed.h"
#include "bench/tasks/idle.h"
#include "bench/tasks/mutate.h"
#include "bench/tasks/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *what;
} scripts[] = {
#define NST_SCRIPT(id, name, what) {name, what},
#include "bench/scripted/scripts.def"
#undef NST_SCRIPT
};

const char *nst_script_name(nst_script script) { return scripts[script].name; }
const char *nst_script_what(nst_script script) { return scripts[script].what; }

bool nst_script_parse(nst_script *out, const char *name) {
  for (int i = 0; i < NST_SCRIPT_COUNT; i++)
    if (!strcmp(name, scripts[i].name)) return *out = (nst_script)i, true;
  return false;
}

bool nst_script_is_fixed(nst_script script) { return script != NST_SCRIPT_COIN && script != NST_SCRIPT_TRUNCATOR; }

static void fence(nestor_buffer *out, const char *text) {
  nst_text_add(out, "```nest\n%s%s```\n", text, *text && text[strlen(text) - 1] == '\n' ? "" : "\n");
}

/* ---- the reference -------------------------------------------------------- */

static void say_reference(nestor_buffer *out, const nst_task *task, const nst_key *key) {
  switch (task->answer) {
  case NST_ANSWER_PROGRAM:
  case NST_ANSWER_MODEL: fence(out, key->answer); return;
  case NST_ANSWER_CHOICE:
  case NST_ANSWER_NUMBERS: nst_text_add(out, "%s\n", key->answer); return;
  }
}

/* ---- under a belief ------------------------------------------------------- */

static void say_choice(nestor_buffer *out, const nst_draft *d, nst_belief belief) {
  int best = -1;
  int64_t least = INT64_MAX;
  for (int i = 0, m = nst_draft_first_look(d); i < d->nmappings; i++, m = (m + 1) % d->nmappings) {
    int64_t values[NST_DRAFT_QUANTITIES];
    bool fits;
    if (!nst_belief_values(values, &fits, d, m, belief)) continue;
    nst_text_add(out, "%s: %" PRId64 "\n", d->mappings[m].name, values[0]);
    if (best < 0 || values[0] < least) best = m, least = values[0];
  }
  nst_text_add(out, "answer: %s\n", d->mappings[best < 0 ? 0 : best].name);
}

static void say_values(nestor_buffer *out, const nst_draft *d, const int64_t *values) {
  for (int i = 0; i < d->nquantities; i++)
    nst_text_add(out, "%s\"%s\": %" PRId64, i ? ", " : "{", d->quantities[i].name, values[i]);
  nst_text_add(out, "}\n");
}

static void say_numbers(nestor_buffer *out, const nst_draft *d, nst_belief belief) {
  int64_t values[NST_DRAFT_QUANTITIES];
  bool fits;
  if (nst_belief_values(values, &fits, d, 0, belief))
    say_values(out, d, values);
  else
    nst_text_add(out, "This cannot be counted.\n");
}

/* The name that the task gives to what is declared. */
static const char *declared(const nst_task *task) {
  const char *name = json_string_value(json_object_get(json_object_get(task->spec, "declares"), "name"));
  return name ? name : "ans";
}

static void settle(nst_draft_mapping *m) {
  for (int i = 0; i < m->nnodes; i++)
    if (m->nodes[i].tile.param >= 0) m->nodes[i].tile = (nst_draft_tile){-1, m->params[m->nodes[i].tile.param].value};
  m->nparams = 0;
}

static void write_program(nestor_buffer *out, const nst_draft *draft, const nst_task *task, nst_belief belief) {
  nst_draft d = *draft;
  if (d.kind == NST_KIND_GEN_MODEL) {
    if (belief == NST_BELIEF_RIGHT)
      nst_closed_write(&d, declared(task), out);
    else
      nst_belief_closed(out, &d, declared(task), belief);
    return;
  }
  if (d.kind == NST_KIND_GEN_OPTIMIZE) {
    nst_belief_optimize(&d, belief);
    settle(&d.mappings[0]);
  } else
    nst_belief_write(&d, belief);
  if (d.target == NST_KIND_GEN_WORKLOAD)
    nst_draft_write_workload(&d, out);
  else if (d.target == NST_KIND_GEN_HARDWARE)
    nst_draft_write_hardware(&d, out);
  else
    nst_draft_write_mapping(&d, 0, declared(task), out);
}

static void say_belief(nestor_buffer *out, const nst_task *task, nst_belief belief) {
  nst_draft d;
  nst_draft_of_task(&d, task, NULL);
  nst_text_add(out, belief == NST_BELIEF_NO_REUSE ? "Each loop outside a keep loads its tiles again.\n\n"
                                                  : "Each tile is a full box.\n\n");
  switch (task->answer) {
  case NST_ANSWER_CHOICE: say_choice(out, &d, belief); return;
  case NST_ANSWER_NUMBERS: say_numbers(out, &d, belief); return;
  case NST_ANSWER_PROGRAM:
  case NST_ANSWER_MODEL: break;
  }
  nestor_buffer *text = nestor_buffer_new();
  write_program(text, &d, task, belief);
  fence(out, nestor_buffer_data(text));
  nestor_buffer_free(text);
}

/* ---- by chance ------------------------------------------------------------ */

static void toss_numbers(nestor_buffer *out, const nst_draft *d, nst_random *r) {
  int64_t values[3][NST_DRAFT_QUANTITIES] = {{0}}, drawn[NST_DRAFT_QUANTITIES];
  bool fits;
  for (int belief = 0; belief < 3; belief++) nst_belief_values(values[belief], &fits, d, 0, (nst_belief)belief);
  for (int i = 0; i < d->nquantities; i++) drawn[i] = values[nst_random_below(r, 3)][i];
  say_values(out, d, drawn);
}

/* The right program, one under a misconception, or one with a fault. */
static void toss_program(nestor_buffer *out, nst_draft *d, const nst_task *task, nst_random *r) {
  nestor_buffer *text = nestor_buffer_new(), *faulty = nestor_buffer_new();
  const unsigned draw = (unsigned)nst_random_below(r, 4);
  if (d->kind == NST_KIND_GEN_OPTIMIZE) { /* any point of the space */
    nst_draft_mapping *m = &d->mappings[0];
    for (int p = 0; p < m->nparams; p++) do
        m->params[p].value = nst_random_between(r, 1, d->dims[m->params[p].dim].extent);
      while (!d->any_tile && d->dims[m->params[p].dim].extent % m->params[p].value);
    settle(m);
    nst_draft_write_mapping(d, 0, declared(task), text);
  } else
    write_program(text, d, task, draw < 3 ? (nst_belief)draw : NST_BELIEF_RIGHT);
  bool planted = false;
  for (int i = 0; draw == 3 && i < 3 * NST_FAULT_COUNT && !planted; i++)
    planted = nst_mutate(faulty, nestor_buffer_data(text), nestor_buffer_size(text),
                         (nst_fault)nst_random_below(r, NST_FAULT_COUNT), r);
  fence(out, nestor_buffer_data(planted ? faulty : text));
  nestor_buffer_free(text);
  nestor_buffer_free(faulty);
}

static void toss(nestor_buffer *out, const nst_task *task, uint64_t number) {
  char stream[64];
  snprintf(stream, sizeof stream, "coin/%s/%d/%" PRIu64, nst_kind_name(task->kind), task->level, number);
  nst_random r = nst_random_make(task->seed, stream);
  nst_draft d;
  nst_draft_of_task(&d, task, NULL);
  switch (task->answer) {
  case NST_ANSWER_CHOICE:
    nst_text_add(out, "answer: %s\n", d.mappings[nst_random_below(&r, (uint64_t)d.nmappings)].name);
    return;
  case NST_ANSWER_NUMBERS: toss_numbers(out, &d, &r); return;
  case NST_ANSWER_PROGRAM:
  case NST_ANSWER_MODEL: toss_program(out, &d, task, &r); return;
  }
}

/* ---- doing nothing -------------------------------------------------------- */

/* The last program of the prompt: of a repair, the faulty one. */
static void hand_back(nestor_buffer *out, const nst_task *task) {
  const json_t *last = json_array_get(task->messages, json_array_size(task->messages) - 1);
  const char *prompt = json_string_value(json_object_get(last, "content")), *found = NULL;
  for (const char *at = prompt ? strstr(prompt, "```nest\n") : NULL; at; at = strstr(at + 1, "```nest\n"))
    found = at + 8;
  const char *end = found ? strstr(found, "```") : NULL;
  if (end) nst_text_add(out, "%.*s", (int)(end - found), found);
}

static void rest(nestor_buffer *out, const nst_task *task, const char *secret) {
  nst_draft d;
  nst_draft_of_task(&d, task, secret);
  static const int64_t nothing[NST_DRAFT_QUANTITIES];
  nestor_buffer *text = nestor_buffer_new();
  switch (d.kind) {
  case NST_KIND_QA_COMPARE: nst_text_add(out, "answer: %s\n", d.mappings[0].name); break;
  case NST_KIND_QA_PREDICT: say_values(out, &d, nothing); break;
  case NST_KIND_GEN_WORKLOAD:
  case NST_KIND_GEN_HARDWARE:
  case NST_KIND_GEN_MAPPING: nst_idle_program(&d, 0, text); break;
  case NST_KIND_GEN_MODEL: nst_idle_model(&d, declared(task), text); break;
  case NST_KIND_GEN_OPTIMIZE: /* every tile is 1 */
    for (int p = 0; p < d.mappings[0].nparams; p++) d.mappings[0].params[p].value = 1;
    settle(&d.mappings[0]);
    nst_draft_write_mapping(&d, 0, declared(task), text);
    break;
  case NST_KIND_REPAIR: hand_back(text, task); break;
  case NST_KIND_COUNT: break;
  }
  if (nestor_buffer_size(text)) fence(out, nestor_buffer_data(text));
  nestor_buffer_free(text);
}

/* ---- samples -------------------------------------------------------------- */

/* Right, with its reasoning first, and cut before the answer is whole: what is there of it never passes. */
static size_t say_cut(nestor_buffer *out, const nst_task *task, const nst_key *key, uint64_t number) {
  nst_text_add(out, "Let me think about what moves between the memories at each step.\n\n");
  const size_t start = nestor_buffer_size(out);
  say_reference(out, task, key);
  nst_random r = nst_random_make(task->seed + number, task->task_id);
  const size_t whole = nestor_buffer_size(out) - start;
  switch (task->answer) {
  case NST_ANSWER_CHOICE: return start + whole - 2;                                      /* "answer: " */
  case NST_ANSWER_NUMBERS: return start + strcspn(nestor_buffer_data(out) + start, ":"); /* before the first of them */
  case NST_ANSWER_PROGRAM:
  case NST_ANSWER_MODEL: break;
  }
  return start + (size_t)nst_random_below(&r, 4 * whole / 5 + 1);
}

static size_t words_of(const json_t *messages) {
  size_t n = 0, i;
  const json_t *message;
  json_array_foreach(messages, i, message) n += json_string_length(json_object_get(message, "content"));
  return n;
}

/* Takes the text over. */
static void make_sample(nst_sample *out, nst_script script, const nst_task *task, nestor_buffer *text, size_t size, uint64_t number) {
  char id[24];
  snprintf(id, sizeof id, "%" PRIu64, number);
  /* Usage in characters by four, so that sums and averages have something to show. */
  json_t *json =
    json_pack("{s:s, s:s, s:s, s:s%, s:s, s:s, s:{s:I, s:I}}", "schema", "nestor.sample/1", "task_id", task->task_id,
              "sample_id", id, "completion", nestor_buffer_data(text), size, "model", nst_script_name(script),
              "finish_reason", script == NST_SCRIPT_TRUNCATOR ? "length" : "stop", "usage", "input_tokens",
              (json_int_t)(words_of(task->messages) / 4), "output_tokens", (json_int_t)(size / 4));
  nestor_buffer_free(text);
  char error[NST_RECORD_ERROR];
  nst_sample_take(out, json, error);
}

void nst_script_idle(nst_sample *out, const nst_task *task, const char *secret) {
  nestor_buffer *text = nestor_buffer_new();
  rest(text, task, secret);
  make_sample(out, NST_SCRIPT_IDLE, task, text, nestor_buffer_size(text), 0);
}

void nst_script_answer(nst_sample *out, nst_script script, const nst_task *task, const nst_key *key, uint64_t number) {
  nestor_buffer *text = nestor_buffer_new();
  const bool hidden = !strcmp(task->split, "hidden");
  size_t size = SIZE_MAX;
  switch (script) {
  case NST_SCRIPT_ORACLE: say_reference(text, task, key); break;
  case NST_SCRIPT_NO_REUSE:
  case NST_SCRIPT_BOXES:
    if (hidden)
      nst_text_add(text, "I do not know.\n");
    else
      say_belief(text, task, script == NST_SCRIPT_BOXES ? NST_BELIEF_BOXES : NST_BELIEF_NO_REUSE);
    break;
  case NST_SCRIPT_COIN:
    if (hidden)
      nst_text_add(text, "I do not know.\n");
    else
      toss(text, task, number);
    break;
  case NST_SCRIPT_TRUNCATOR: size = say_cut(text, task, key, number); break;
  case NST_SCRIPT_IDLE:
    if (hidden)
      nst_text_add(text, "I do not know.\n");
    else
      rest(text, task, NULL);
    break;
  case NST_SCRIPT_COUNT: break;
  }
  if (size > nestor_buffer_size(text)) size = nestor_buffer_size(text);
  make_sample(out, script, task, text, size, number);
}
