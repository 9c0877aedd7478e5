/* Text brought into the layout of the formatter. */
#include "bench/tasks/text.h"

void nst_text_canonical(nestor_buffer *out, const char *text, size_t size) {
  nestor_session *session = nestor_session_new();
  nestor_program *program = nestor_program_new(session, "draft", text, size, NESTOR_STAGE_PARSE);
  if (nestor_program_format(program, out) != NESTOR_OK) nestor_buffer_append(out, text, size);
  nestor_program_free(program);
  nestor_session_free(session);
}
