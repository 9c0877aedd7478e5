/* What models are told of their answers, by the arm. */
#include "bench/revise/revise.h"

#include "bench/record/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer feedback is cut: a prompt has to fit. */
enum { MOST_MESSAGES = 20, MOST_FIGURES = 20, MOST_METRICS = 200 };

typedef struct {
  char *bytes;
  size_t size;
} text;

static void say(text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(text *t, const char *format, ...) {
  va_list list, again;
  va_start(list, format);
  va_copy(again, list);
  const int n = vsnprintf(NULL, 0, format, again);
  va_end(again);
  if (n > 0) {
    t->bytes = nst_memory_grow(t->bytes, t->size + (size_t)n + 1, 1);
    vsnprintf(t->bytes + t->size, (size_t)n + 1, format, list);
    t->size += (size_t)n;
  }
  va_end(list);
}

static const char *text_at(const json_t *object, const char *name) {
  const char *found = json_string_value(json_object_get(object, name));
  return found ? found : "";
}

/* Whether the answer got as far as being compared. */
static bool compared(nst_outcome outcome) {
  switch (outcome) {
  case NST_OUTCOME_PASSED:
  case NST_OUTCOME_WRONG: return true;
  case NST_OUTCOME_ILLEGAL:
  case NST_OUTCOME_TYPE:
  case NST_OUTCOME_SYNTAX:
  case NST_OUTCOME_NO_ANSWER:
  case NST_OUTCOME_REFUSED:
  case NST_OUTCOME_LIMIT:
  case NST_OUTCOME_CRASHED:
  case NST_OUTCOME_TRUNCATED:
  case NST_OUTCOME_INFRA_ERROR:
  case NST_OUTCOME_COUNT: return false;
  }
  return false;
}

static bool is_compiled(const nst_task *task) {
  switch (task->answer) {
  case NST_ANSWER_PROGRAM:
  case NST_ANSWER_MODEL: return true;
  case NST_ANSWER_CHOICE:
  case NST_ANSWER_NUMBERS: return false;
  }
  return false;
}

/* "3:14: error[E0201]: unknown name; help: ..", one a line. */
static void say_messages(text *out, const json_t *messages) {
  size_t i;
  json_t *message;
  json_array_foreach(messages, i, message) {
    if (i == MOST_MESSAGES) {
      say(out, "(%zu more)\n", json_array_size(messages) - i);
      break;
    }
    const json_int_t line = json_integer_value(json_object_get(message, "line")),
                     column = json_integer_value(json_object_get(message, "column"));
    const char *code = text_at(message, "code"), *help = text_at(message, "help");
    if (line) say(out, "%lld:%lld: ", (long long)line, (long long)column);
    say(out, "%s%s%s%s%s%s\n", *code ? "[" : "", code, *code ? "] " : "",
        json_is_string(message) ? json_string_value(message) : text_at(message, "message"), *help ? "; help: " : "",
        help);
  }
}

/* What is wrong with an answer that was not compared. */
static void say_compiler(text *out, const nst_task *task, const nst_result *result) {
  const json_t *messages = json_object_get(result->json, "diagnostics");
  if (compared(result->outcome)) {
    say(out, is_compiled(task) ? "The compiler accepts your answer.\n" : "Your answer could be read.\n");
    return;
  }
  say(out, "Your answer could not be used (%s: %s).", nst_outcome_name(result->outcome),
      nst_outcome_meaning(result->outcome));
  if (json_array_size(messages)) {
    say(out, is_compiled(task) ? " The compiler says:\n\n" : "\n\n");
    say_messages(out, messages);
  } else
    say(out, "\n");
}

static void say_metrics(text *out, const nst_task *task, const nst_result *result) {
  if (!compared(result->outcome)) return say_compiler(out, task, result);
  say(out, "Your answer was compared with the reference, and it %s.\n", result->passed ? "passes" : "does not pass");
  const char *name;
  json_t *right;
  size_t n = 0;
  if (json_object_size(result->sub)) say(out, "\n");
  json_object_foreach(result->sub, name, right) if (n++ < MOST_METRICS)
    say(out, "%s: %s\n", name, json_is_true(right) ? "right" : "wrong");
}

static void say_value(text *out, const json_t *value) {
  if (json_is_null(value) || !value) return say(out, "none");
  if (json_is_string(value)) return say(out, "%s", json_string_value(value));
  char *dump = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
  say(out, "%s", dump ? dump : "");
  free(dump);
}

static void say_counterexample(text *out, const nst_task *task, const nst_result *result) {
  const json_t *example = json_object_get(result->json, "counterexample");
  if (!compared(result->outcome)) return say_compiler(out, task, result);
  if (result->passed || !json_is_object(example)) {
    say(out, "No counterexample was found: your answer %s.\n", result->passed ? "passes" : "does not pass");
    return;
  }
  say(out, "Your answer is wrong");
  const char *mapping = text_at(example, "mapping"), *name;
  json_t *value;
  if (*mapping) say(out, ", for mapping %s", mapping);
  const json_t *params = json_object_get(example, "params");
  if (json_object_size(params)) {
    say(out, ", at ");
    size_t n = 0;
    json_object_foreach((json_t *)params, name, value) {
      say(out, "%s%s = ", n++ ? ", " : "", name);
      say_value(out, value);
    }
  }
  say(out, ".\n");
  size_t i;
  json_array_foreach(json_object_get(example, "figures"), i, value) {
    if (i == MOST_FIGURES) break;
    say(out, "%s%s is ", i ? "" : "\n", text_at(value, "name"));
    say_value(out, json_object_get(value, "expected"));
    say(out, "; your answer gives ");
    say_value(out, json_object_get(value, "got"));
    say(out, "\n");
  }
}

char *nst_revise_feedback(nst_arm arm, const nst_task *task, const nst_sample *last, const nst_result *result) {
  text out = {NULL, 0};
  (void)last;
  switch (arm) {
  case NST_ARM_RESAMPLE: return NULL;
  case NST_ARM_SELF: say(&out, "Look at your answer once more. If something in it is wrong, correct it.\n"); break;
  case NST_ARM_COMPILER: say_compiler(&out, task, result); break;
  case NST_ARM_METRICS: say_metrics(&out, task, result); break;
  case NST_ARM_COUNTEREXAMPLE: say_counterexample(&out, task, result); break;
  case NST_ARM_COUNT: break;
  }
  say(&out, "\nGive your whole final answer again, in the form the task asks for, also where nothing changes.");
  return out.bytes;
}

json_t *nst_revise_messages(nst_arm arm, const nst_task *task, const json_t *messages, const nst_sample *last,
                            const nst_result *result) {
  json_t *out = json_copy((json_t *)messages);
  char *feedback = nst_revise_feedback(arm, task, last, result);
  if (!feedback) return out;
  /* Servers refuse messages without text. */
  const bool empty = strspn(last->completion, " \t\r\n") == last->completion_size;
  json_t *answer = empty ? json_string("(no answer)") : json_stringn(last->completion, last->completion_size);
  json_array_append_new(out, json_pack("{s:s, s:o}", "role", "assistant", "content", answer));
  json_array_append_new(out, json_pack("{s:s, s:o}", "role", "user", "content", json_string(feedback)));
  free(feedback);
  return out;
}
