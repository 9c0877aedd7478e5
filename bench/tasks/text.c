/* Text put together in a buffer, and brought into the layout of the formatter. */
#include "bench/tasks/text.h"

#include "bench/record/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nst_text_add(nestor_buffer *out, const char *format, ...) {
  char small[512];
  va_list args, again;
  va_start(args, format);
  va_copy(again, args);
  const int n = vsnprintf(small, sizeof small, format, args);
  va_end(args);
  if (n >= (int)sizeof small) {
    char *large = nst_memory_new((size_t)n + 1, 1);
    vsnprintf(large, (size_t)n + 1, format, again);
    nestor_buffer_append(out, large, (size_t)n);
    free(large);
  } else if (n > 0)
    nestor_buffer_append(out, small, (size_t)n);
  va_end(again);
}

void nst_text_canonical(nestor_buffer *out, const char *text, size_t size) {
  nestor_session *session = nestor_session_new();
  nestor_program *program = nestor_program_new(session, "draft", text, size, NESTOR_STAGE_PARSE);
  if (nestor_program_format(program, out) != NESTOR_OK) nestor_buffer_append(out, text, size);
  nestor_program_free(program);
  nestor_session_free(session);
}
