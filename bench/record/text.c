/* Formatting once into a small array, and again where it was too small. */
#include "bench/record/text.h"

#include "bench/record/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
