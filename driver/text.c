/* nestor_buffer: the internal text buffer behind a public name. */
#include "driver/internal.h"

#include <stdlib.h>

nestor_buffer *nestor_buffer_new(void) {
  nestor_buffer *b = calloc(1, sizeof *b);
  if (!b) nst_out_of_memory();
  return b;
}

void nestor_buffer_free(nestor_buffer *buffer) {
  if (!buffer) return;
  nst_buffer_fini(&buffer->text);
  free(buffer);
}

const char *nestor_buffer_data(const nestor_buffer *buffer) { return buffer->text.len ? buffer->text.text : ""; }
size_t nestor_buffer_size(const nestor_buffer *buffer) { return buffer->text.len; }
void nestor_buffer_clear(nestor_buffer *buffer) { nst_buffer_clear(&buffer->text); }
void nestor_buffer_append(nestor_buffer *buffer, const char *bytes, size_t size) {
  nst_buffer_add(&buffer->text, bytes, size);
}
