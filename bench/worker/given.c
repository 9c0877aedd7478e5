/* Arguments against defaults. Heads are split into their lists by hand; the library gives both sides values, as defaults of parameters of mappings
 * behind the program: one mapping with the parameters of each declaration, one for each argument. Those are of a workload and on hardware that
 * have no parameters, so that a name means there what it means in the list of arguments; an argument that uses a parameter of the answer is not taken. */
#include "bench/worker/given.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 64 };
static const double EXACT = 9007199254740992.0; /* 2^53: past it two values may look the same */

typedef struct { nst_text items[MOST]; size_t n; } list;
typedef struct { const char *name; list parameters, arguments; } side; /* the workload's or the hardware's */

/* A list in brackets at *at, where there is one; *at goes behind it. false: it does not end, or is too long. */
static bool split(list *out, const char **at, const char *end) {
  const char *p = *at = nst_cut_skip(*at, end);
  out->n = 0;
  if (p == end || *p != '(') return true;
  const char *begin = ++p;
  for (size_t depth = 1; p < end; p++) {
    if (*p == '#') {
      const char *feed = memchr(p, '\n', (size_t)(end - p));
      if (!feed) return false;
      p = feed;
    }
    if (*p == '(' || *p == '[') depth++;
    if (*p == ')' || *p == ']') depth--;
    if (depth && (depth > 1 || *p != ',')) continue;
    if (nst_cut_skip(begin, p) < p) {
      if (out->n == MOST) return false;
      out->items[out->n++] = (nst_text){begin, (size_t)(p - begin)};
    }
    begin = p + 1;
    if (!depth) return *at = begin, true;
  }
  return false;
}

static nst_text word_at(const char **at, const char *end) {
  const char *begin = nst_cut_skip(*at, end);
  *at = nst_cut_skip_word(begin, end);
  return (nst_text){begin, (size_t)(*at - begin)};
}

static bool is(nst_text word, const char *text) { return word.size == strlen(text) && !memcmp(word.text, text, word.size); }

/* NAME = EXPRESSION: the name goes to *name, and only the expression is left. */
static bool is_named(nst_text *name, nst_text *item) {
  const char *p = item->text, *end = p + item->size;
  const nst_text word = word_at(&p, end);
  p = nst_cut_skip(p, end);
  if (!word.size || p == end || *p != '=' || (p + 1 < end && p[1] == '=')) return false;
  *name = word;
  *item = (nst_text){p + 1, (size_t)(end - p - 1)};
  return true;
}

static bool uses_parameter(nst_text item, const nestor_program *p, size_t mapping) {
  const char *at = item.text, *end = at + item.size;
  while ((at = nst_cut_skip(at, end)) < end) {
    const nst_text word = word_at(&at, end);
    nestor_param_info info;
    for (size_t i = 0; word.size && nestor_program_param(p, mapping, i, &info); i++)
      if (is(word, info.name)) return true;
    if (!word.size) at++;
  }
  return false;
}

/* ---- both heads ----------------------------------------------------------- */

static bool find(nst_text *head, const nst_build *b, const nestor_program *p, nestor_declaration_kind kind, const char *name) {
  nestor_declaration d;
  for (size_t i = 0; nestor_program_declaration(p, i, &d); i++)
    if (d.kind == kind && d.name && !strcmp(d.name, name)) return nst_cut_head(head, (const char *)b->text.bytes + d.offset, d.size);
  return false;
}

static bool read_parameters(side *s, const nst_build *b, const nestor_program *p, nestor_declaration_kind kind) {
  nst_text head;
  if (!find(&head, b, p, kind, s->name)) return false;
  const char *at = head.text;
  return split(&s->parameters, &at, head.text + head.size);
}

/* [(PARAMETERS)] of WORKLOAD [(ARGUMENTS)] on HARDWARE [(ARGUMENTS)] */
static bool read_arguments(side sides[2], const nst_build *b, const nst_request *q, const nestor_program *p) {
  static const char *const words[] = {"of", "on"};
  list own;
  nst_text head;
  if (!find(&head, b, p, q->kind, q->name)) return false;
  const char *at = head.text, *end = at + head.size;
  if (!split(&own, &at, end)) return false;
  for (size_t i = 0; i < 2; i++)
    if (!is(word_at(&at, end), words[i]) || !is(word_at(&at, end), sides[i].name) || !split(&sides[i].arguments, &at, end)) return false;
  return nst_cut_skip(at, end) == end;
}

/* ---- values --------------------------------------------------------------- */

static void put(nst_wire *w, const char *text) { nst_wire_put(w, text, strlen(text)); }

static void put_list(nst_wire *w, const char *mapping, const char *before, const nst_text *items, size_t n) {
  put(w, "mapping ");
  put(w, mapping);
  put(w, "(");
  put(w, before);
  for (size_t i = 0; i < n; i++) {
    if (i) put(w, ",");
    nst_wire_put(w, items[i].text, items[i].size);
    put(w, "\n"); /* it may end with a comment */
  }
  put(w, ") of nst_plain_workload on nst_plain_hardware { }\n");
}

typedef struct { char text[48]; } name;
static name defaults_of(size_t s) {
  name n;
  snprintf(n.text, sizeof n.text, "nst_defaults_%zu", s);
  return n;
}
static name argument_of(size_t s, size_t i) {
  name n;
  snprintf(n.text, sizeof n.text, "nst_argument_%zu_%zu", s, i);
  return n;
}

static bool param_of(nestor_param_info *out, const nestor_program *p, const char *mapping, size_t i) {
  return nestor_program_param(p, nestor_program_find(p, mapping), i, out) && out->has_default;
}

static bool is_default(const nestor_program *p, size_t s, size_t i, nst_text by_name) {
  const name defaults = defaults_of(s);
  nestor_param_info argument, parameter;
  if (!param_of(&argument, p, argument_of(s, i).text, 0)) return false;
  size_t k = by_name.size ? 0 : i;
  while (by_name.size && nestor_program_param(p, nestor_program_find(p, defaults.text), k, &parameter) && !is(by_name, parameter.name)) k++;
  return param_of(&parameter, p, defaults.text, k) && argument.default_value == parameter.default_value && fabs(argument.default_value) < EXACT;
}

static bool arguments_are_defaults(const nst_build *b, const nestor_session *session, side sides[2], const nestor_program *program,
                                   size_t mapping) {
  nst_text names[2][MOST] = {0};
  bool good = true;
  nst_build own = *b; /* with a text of its own: parameters and arguments are places in the other, which must not move */
  own.text = (nst_wire){0};
  nst_wire_put(&own.text, b->text.bytes, b->text.size);
  put(&own.text, "workload nst_plain_workload { dim nst_i = 1  nst_Y[nst_i] = nst_X[nst_i] }\n"
                "hardware nst_plain_hardware { memory nst_M  compute nst_C }\n");
  for (size_t s = 0; s < 2; s++) {
    put_list(&own.text, defaults_of(s).text, "", sides[s].parameters.items, sides[s].parameters.n);
    for (size_t i = 0; i < sides[s].arguments.n; i++) {
      nst_text *item = &sides[s].arguments.items[i];
      is_named(&names[s][i], item);
      good = good && !uses_parameter(*item, program, mapping);
      put_list(&own.text, argument_of(s, i).text, "nst_value = ", item, 1);
    }
  }
  nestor_program *p = good ? nst_build_compile(&own, session) : NULL;
  good = good && nestor_program_status(p) == NESTOR_OK;
  for (size_t s = 0; s < 2; s++)
    for (size_t i = 0; good && i < sides[s].arguments.n; i++) good = is_default(p, s, i, names[s][i]);
  nestor_program_free(p);
  nst_wire_fini(&own.text);
  return good;
}

/* ---- the answer ----------------------------------------------------------- */

/* The only declaration of a kind in the given part, or NULL. */
static const char *only(const nestor_program *p, size_t first, nestor_declaration_kind kind) {
  const char *found = NULL;
  nestor_declaration d;
  for (size_t i = 0; nestor_program_declaration(p, i, &d) && d.offset < first; i++) {
    if (d.kind != kind) continue;
    if (found) return NULL;
    found = d.name;
  }
  return found;
}

bool nst_given_is_kept(nst_build *b, nst_fault *fault, const nestor_session *session, const nst_request *q, const nestor_program *p) {
  side sides[2] = {{.name = only(p, b->first, NESTOR_DECLARATION_WORKLOAD)}, {.name = only(p, b->first, NESTOR_DECLARATION_HARDWARE)}};
  const char *workload = sides[0].name, *hardware = sides[1].name;
  nestor_mapping_info info;
  if (!workload || !hardware) {
    nst_fault_say(fault, NST_OUTCOME_INFRA_ERROR, NST_STAGE_COMPILE, 0, "the task does not give exactly one workload and one hardware");
    return false;
  }
  const size_t mapping = nestor_program_find(p, q->name);
  if (!nestor_program_mapping(p, mapping, &info) || strcmp(info.workload, workload) != 0 || strcmp(info.hardware, hardware) != 0) {
    nst_fault_say(fault, NST_OUTCOME_ILLEGAL, NST_STAGE_COMPILE, 0, "the mapping must be of the given workload `%s` on the given hardware `%s`",
                  workload, hardware);
    return false;
  }
  if (read_arguments(sides, b, q, p)) {
    if (!sides[0].arguments.n && !sides[1].arguments.n) return true;
    if (read_parameters(&sides[0], b, p, NESTOR_DECLARATION_WORKLOAD) && read_parameters(&sides[1], b, p, NESTOR_DECLARATION_HARDWARE) &&
        arguments_are_defaults(b, session, sides, p, mapping))
      return true;
  }
  nst_fault_say(fault, NST_OUTCOME_ILLEGAL, NST_STAGE_COMPILE, 0,
                "the mapping must take the given workload and hardware as they are: write `of %s on %s`, without arguments", workload, hardware);
  return false;
}
