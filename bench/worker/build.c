/* Building. The three parts are compiled together first, which is all that a plain answer costs, right or wrong; only where that does not parse, or
 * the answer declares more or less than it should, it is parsed alone and cut. Either way every declaration of the result lies in one part. */
#include "bench/worker/build.h"

#include "bench/grade/figures.h"
#include "bench/record/memory.h"

#include <stdlib.h>
#include <string.h>

static uint32_t feeds(const char *text, size_t size) {
  uint32_t n = 0;
  for (const char *p = text, *end = text + size; (p = memchr(p, '\n', (size_t)(end - p))); p++) n++;
  return n;
}

static void put_part(nst_wire *w, const char *text, size_t size) {
  nst_wire_put(w, text, size);
  nst_wire_put(w, "\n", 1);
}

static nestor_program *compile(const nst_build *b, const nestor_session *session) {
  return nestor_program_new_on(session, b->given, "answer", (const char *)b->text.bytes, b->text.size, NESTOR_STAGE_CHECK);
}

void nst_build_fini(nst_build *b) {
  nst_wire_fini(&b->text);
  nst_kept_fini(&b->kept);
}

static nestor_program *parse(const nestor_session *session, nst_text text) {
  return nestor_program_new(session, "answer", text.text, text.size, NESTOR_STAGE_PARSE);
}

static const char *const kind_words[] = {"use", "const", "workload", "hardware", "mapping", "test", "model", "verify", "sweep"};

/* The candidate by itself, and cut where it lies in the text. */
static bool cut(nst_build *b, nst_fault *fault, const nestor_session *session, const nst_request *q) {
  nestor_program *alone = parse(session, q->candidate);
  if (nestor_program_status(alone) != NESTOR_OK) {
    nst_fault_take(fault, NST_STAGE_COMPILE, nestor_program_diagnostics(alone), 0, UINT32_MAX);
    nestor_program_free(alone);
    return false;
  }
  nestor_program *given = parse(session, q->given), *probe = parse(session, q->probe);
  nestor_declaration at;
  const nst_cut_status status = nst_cut(&at, (char *)b->text.bytes + b->first, alone, given, probe, q->kind, q->name);
  const uint32_t line = feeds(q->candidate.text, at.offset) + 1;
  switch (status) {
    case NST_CUT_GOOD: break;
    case NST_CUT_USES:
      nst_fault_say(fault, NST_OUTCOME_TYPE, NST_STAGE_COMPILE, line, "`use` is not allowed here: the answer must stand by itself");
      break;
    case NST_CUT_MISSING:
      nst_fault_say(fault, NST_OUTCOME_TYPE, NST_STAGE_COMPILE, 0, "the answer declares no %s `%s`", kind_words[q->kind], q->name);
      break;
    case NST_CUT_TWICE:
      nst_fault_say(fault, NST_OUTCOME_TYPE, NST_STAGE_COMPILE, line, "the answer declares the %s `%s` twice", kind_words[q->kind], q->name);
      break;
  }
  nestor_program_free(alone);
  nestor_program_free(given);
  nestor_program_free(probe);
  return status == NST_CUT_GOOD;
}

nestor_program *nst_build_make(nst_build *b, nst_fault *fault, const nestor_session *session, const nst_request *q) {
  if (q->candidate.size > q->source_bytes) {
    nst_fault_say(fault, NST_OUTCOME_LIMIT, NST_STAGE_COMPILE, 0, "the answer has %zu bytes; at most %llu are read", q->candidate.size,
                  (unsigned long long)q->source_bytes);
    return NULL;
  }
  b->text.size = 0;
  put_part(&b->text, q->given.text, q->given.size);
  b->first = b->text.size;
  b->given = nst_kept_get(&b->kept, session, (const char *)b->text.bytes, b->first);
  put_part(&b->text, q->candidate.text, q->candidate.size);
  b->second = b->text.size;
  put_part(&b->text, q->probe.text, q->probe.size);
  b->before = feeds(q->given.text, q->given.size) + 1;
  b->lines = feeds(q->candidate.text, q->candidate.size) + 1;
  for (bool again = false;; again = true) {
    nestor_program *p = compile(b, session);
    const bool good = nestor_program_status(p) == NESTOR_OK;
    /* What parses has declarations, though it may be wrong. */
    const bool needless = nst_cut_needless(p, b->first, b->second, q->kind, q->name);
    if (needless && good) return p;
    if (needless || (again && !good)) nst_fault_take(fault, NST_STAGE_COMPILE, nestor_program_diagnostics(p), b->before, b->lines);
    else if (again) nst_fault_say(fault, NST_OUTCOME_SYNTAX, NST_STAGE_COMPILE, 0, "the answer does not end where its text ends");
    nestor_program_free(p);
    if (needless || again || !cut(b, fault, session, q)) return NULL;
  }
}

/* ---- goal least ----------------------------------------------------------- */

/* The only declaration of a kind in the given part, or NULL. */
static const char *only(const nestor_program *p, size_t first, nestor_declaration_kind kind) {
  const char *name = NULL;
  nestor_declaration d;
  for (size_t i = 0; nestor_program_declaration(p, i, &d) && d.offset < first; i++) {
    if (d.kind != kind) continue;
    if (name) return NULL;
    name = d.name;
  }
  return name;
}

static bool same_figures(const nestor_eval *a, const nestor_eval *b) {
  const size_t n = nst_figures_count(a);
  if (n != nst_figures_count(b)) return false;
  nst_figure *x = nst_memory_new(2 * n, sizeof *x), *y = x + n;
  nst_figures_values(x, a);
  nst_figures_values(y, b);
  bool same = true;
  for (size_t i = 0; i < n; i++) same &= nst_figure_equal(x[i], y[i]);
  free(x);
  return same;
}

/* Whether mappings without loops, one with the head of the answer and one with the plain one, cost the same in everything: then the
 * arguments change nothing. */
static bool twins_agree(nst_build *b, const nestor_session *session, nst_text head, const char *workload, const char *hardware) {
  const size_t size = b->text.size;
  static const char name[] = "mapping nst_twin_of_answer ", plain[] = "{ }\nmapping nst_twin_of_given of ";
  nst_wire_put(&b->text, name, sizeof name - 1);
  nst_wire_put(&b->text, head.text, head.size);
  nst_wire_put(&b->text, plain, sizeof plain - 1);
  nst_wire_put(&b->text, workload, strlen(workload));
  nst_wire_put(&b->text, " on ", 4);
  nst_wire_put(&b->text, hardware, strlen(hardware));
  nst_wire_put(&b->text, " { }\n", 5);
  nestor_program *p = compile(b, session);
  b->text.size = size;
  nestor_eval *answer = nestor_eval_new(p, nestor_program_find(p, "nst_twin_of_answer"));
  nestor_eval *given = nestor_eval_new(p, nestor_program_find(p, "nst_twin_of_given"));
  const bool agree = answer && given && nestor_eval_run(answer, NESTOR_ENGINE_ANALYSIS, NULL) == NESTOR_OK &&
                     nestor_eval_run(given, NESTOR_ENGINE_ANALYSIS, NULL) == NESTOR_OK && same_figures(answer, given);
  nestor_eval_free(answer);
  nestor_eval_free(given);
  nestor_program_free(p);
  return agree;
}

/* Whether behind the parameters of a head stand the two names alone. */
static bool without_arguments(nst_text head, const char *workload, const char *hardware) {
  const char *p = head.text, *end = p + head.size;
  const char *const words[] = {"of", workload, "on", hardware};
  while (p < end && strchr(" \t\r\n", *p)) p++;
  if (p < end && *p == '(') { /* up to its closing bracket; a comment in it makes this give up, and the twins decide */
    int depth = 0;
    for (; p < end && *p != '#'; p++) {
      depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
      if (!depth) break;
    }
    if (p == end || *p != ')') return false;
    p++;
  }
  for (size_t i = 0; i < 4; i++) {
    while (p < end && strchr(" \t\r\n", *p)) p++;
    const size_t n = strlen(words[i]);
    if ((size_t)(end - p) < n || memcmp(p, words[i], n) != 0) return false;
    p += n;
    if (p < end && !strchr(" \t\r\n", *p)) return false;
  }
  while (p < end && strchr(" \t\r\n", *p)) p++;
  return p == end;
}

bool nst_build_is_of_given(nst_build *b, nst_fault *fault, const nestor_session *session, const nst_request *q, const nestor_program *p) {
  const char *workload = only(p, b->first, NESTOR_DECLARATION_WORKLOAD), *hardware = only(p, b->first, NESTOR_DECLARATION_HARDWARE);
  nestor_mapping_info info;
  if (!workload || !hardware) {
    nst_fault_say(fault, NST_OUTCOME_INFRA_ERROR, NST_STAGE_COMPILE, 0, "the task does not give exactly one workload and one hardware");
    return false;
  }
  nestor_declaration d = {0};
  for (size_t i = 0; nestor_program_declaration(p, i, &d); i++)
    if (d.kind == q->kind && d.name && !strcmp(d.name, q->name)) break;
  nst_text head;
  if (!nestor_program_mapping(p, nestor_program_find(p, q->name), &info) || strcmp(info.workload, workload) != 0 ||
      strcmp(info.hardware, hardware) != 0) {
    nst_fault_say(fault, NST_OUTCOME_ILLEGAL, NST_STAGE_COMPILE, 0, "the mapping must be of the given workload `%s` on the given hardware `%s`",
                  workload, hardware);
    return false;
  }
  const char *declaration = (const char *)b->text.bytes + d.offset;
  size_t size = d.size;
  while (size && *declaration == '#') { /* its documentation */
    const char *feed = memchr(declaration, '\n', size);
    size -= feed ? (size_t)(feed + 1 - declaration) : size;
    declaration = feed ? feed + 1 : declaration;
    while (size && strchr(" \t\r\n", *declaration)) declaration++, size--;
  }
  if (nst_cut_head(&head, declaration, size) &&
      (without_arguments(head, workload, hardware) || twins_agree(b, session, head, workload, hardware)))
    return true;
  nst_fault_say(fault, NST_OUTCOME_ILLEGAL, NST_STAGE_COMPILE, 0,
                "the mapping must take the given workload and hardware as they are: write `of %s on %s`, without arguments", workload, hardware);
  return false;
}
