/* Messages of the compiler become outcomes by their codes. */
#include "bench/worker/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct { const char *first, *last; nst_outcome outcome; } codes[] = {
#define NST_CODES(first, last, outcome) {first, last, NST_OUTCOME_##outcome},
#include "bench/worker/codes.def"
#undef NST_CODES
};

/* Of several outcomes the first of these counts. */
static const nst_outcome order[] = {NST_OUTCOME_INFRA_ERROR, NST_OUTCOME_CRASHED, NST_OUTCOME_LIMIT,
                                    NST_OUTCOME_SYNTAX, NST_OUTCOME_TYPE, NST_OUTCOME_ILLEGAL};

static nst_outcome outcome_of(const char *code) {
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (strcmp(code, codes[i].first) >= 0 && strcmp(code, codes[i].last) <= 0) return codes[i].outcome;
  return NST_OUTCOME_ILLEGAL;
}

static nst_outcome worse(nst_outcome a, nst_outcome b) {
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    if (a == order[i] || b == order[i]) return order[i];
  return b;
}

void nst_fault_clear(nst_fault *f) {
  f->outcome = NST_OUTCOME_PASSED;
  f->stage = NST_STAGE_COMPARE;
  f->messages.size = 0;
  f->nmessages = 0;
}

static void put_text(nst_wire *w, const char *text) {
  const size_t size = text ? strlen(text) : 0;
  nst_wire_text(w, text, size < NST_FAULT_TEXT ? size : NST_FAULT_TEXT);
}

static void put(nst_fault *f, nst_outcome outcome, const char *code, uint32_t line, uint32_t column, const char *message, const char *help) {
  f->outcome = worse(f->outcome, outcome);
  if (f->nmessages == NST_FAULT_MESSAGES) return;
  f->nmessages++;
  nst_wire_u8(&f->messages, (uint8_t)outcome);
  put_text(&f->messages, code);
  nst_wire_u32(&f->messages, line);
  nst_wire_u32(&f->messages, column);
  put_text(&f->messages, message);
  put_text(&f->messages, help);
}

void nst_fault_say(nst_fault *f, nst_outcome outcome, nst_stage stage, uint32_t line, const char *format, ...) {
  char text[NST_FAULT_TEXT];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  f->stage = stage;
  put(f, outcome, NULL, line, 0, text, NULL);
}

void nst_fault_take(nst_fault *f, nst_stage stage, const nestor_diagnostics *messages, uint32_t before, uint32_t lines) {
  f->stage = stage;
  nestor_diagnostic d;
  for (size_t i = 0; nestor_diagnostics_get(messages, i, &d); i++) {
    if (d.severity != NESTOR_SEVERITY_ERROR) continue;
    const bool inside = d.line > before && d.line - before <= lines;
    put(f, outcome_of(d.code), d.code, inside ? d.line - before : 0, inside ? d.column : 0, d.message, d.help);
  }
  /* A message past those that are kept may be the one of a limit. */
  if (nestor_diagnostics_limit(messages)) f->outcome = worse(f->outcome, NST_OUTCOME_LIMIT);
  if (f->outcome == NST_OUTCOME_PASSED) put(f, NST_OUTCOME_CRASHED, NULL, 0, 0, "the compiler failed without a message", NULL);
}
