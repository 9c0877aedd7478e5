/* Finding the answer in what a model wrote: one rule, applied in the same way to everybody.
 *
 * Reasoning goes first: everything up to the last </think>. A <think> that begins a line behind it and is never closed leaves no
 * answer. Tags inside a quoted text of a line are text. Then the steps of steps.def, in their order: of a program the fences and the declaration, of
 * choices and numbers the others (numbers.h). A fence is a line of three or more ` or ~, however indented, and ends with a line of at
 * least as many of the same; one that nothing closes reaches to the end and is marked `cut`. Lines end with LF or CRLF. */
#ifndef NST_BENCH_GRADE_EXTRACT_H
#define NST_BENCH_GRADE_EXTRACT_H
#include <stdbool.h>
#include <stddef.h>

typedef enum {
#define NST_STEP(id, name, rule) NST_STEP_##id,
#include "bench/grade/steps.def"
#undef NST_STEP
  NST_STEP_COUNT
} nst_step;
const char *nst_step_name(nst_step step);

typedef struct {
  nst_step step;
  const char *text; /* borrowed from the completion; any bytes */
  size_t size;
  size_t line;    /* of the completion, from 1, where `text` begins; 0 where there is none */
  bool reasoning; /* some was dropped */
  bool unclosed;  /* reasoning that never ends */
  bool cut;       /* the answer reaches to the end without its closing fence or brace */
} nst_extract;

/* What is left of a completion without its reasoning: step NONE, text and size filled. */
nst_extract nst_extract_visible(const char *completion, size_t size);
nst_extract nst_extract_program(const char *completion, size_t size);
/* Whether a text that holds no answer declines to give one. */
bool nst_extract_declines(const nst_extract *visible);
/* Whether what stands at `text` begins with `word`, whatever the case of its letters. */
bool nst_extract_begins(const char *text, size_t size, const char *word);
/* The line that a place of the completion is on, from 1. */
size_t nst_extract_line(const char *completion, const char *place);
#endif
