/* Building. The three parts are compiled together first, which is all that a plain answer costs, right or wrong; only where that does not parse, or
 * the answer declares more or less than it should, it is parsed alone and cut. Either way every declaration of the result lies in one part. */
#include "bench/worker/build.h"

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

nestor_program *nst_build_compile(const nst_build *b, const nestor_session *session) {
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
    nestor_program *p = nst_build_compile(b, session);
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
