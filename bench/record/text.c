/* Formatting once into a small array, and again where it was too small; quoting what may be long. */
#include "bench/record/text.h"

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

void nst_text_quote(char *out, size_t room, const char *text) {
  static const char mark[] = "\xE2\x80\xA6";
  size_t n = strlen(text);
  if (n < room) {
    memcpy(out, text, n + 1);
    return;
  }
  n = room - sizeof mark;
  while (n && ((unsigned char)text[n] & 0xC0) == 0x80) n--;
  memcpy(out, text, n);
  memcpy(out + n, mark, sizeof mark);
}
