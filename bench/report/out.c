/* Text as it is put together, and the texts of models and servers made harmless. */
#include "bench/report/out.h"

#include "bench/record/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nst_out_text(nestor_buffer *out, const char *text) { nestor_buffer_append(out, text, strlen(text)); }

/* One character of UTF-8: its code point and size; a byte that begins none is itself, of size 1. */
static uint32_t decode(const char *text, size_t *size) {
  const unsigned char *s = (const unsigned char *)text;
  *size = 1;
  if (*s < 0xC2 || *s > 0xF4) return *s;
  const size_t n = *s < 0xE0 ? 2 : *s < 0xF0 ? 3 : 4;
  if ((*s == 0xE0 && s[1] < 0xA0) || (*s == 0xED && s[1] > 0x9F) || (*s == 0xF0 && s[1] < 0x90) ||
      (*s == 0xF4 && s[1] > 0x8F))
    return *s;
  uint32_t c = *s & (0xFFu >> (n + 1));
  for (size_t i = 1; i < n; i++) {
    if ((s[i] & 0xC0) != 0x80) return *s;
    c = c << 6 | (s[i] & 0x3Fu);
  }
  *size = n;
  return c;
}

static bool acts(uint32_t c, bool line) {
  if (c < 0x20) return line || (c != '\n' && c != '\t');
  return (c >= 0x7F && c < 0xA0) || c == 0x61C || c == 0xFEFF || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || (c >= 0xE0000 && c <= 0xE007F);
}

char *nst_out_clean(const char *text, bool line, size_t most) {
  char *clean = nst_memory_new(9 * strlen(text) + 4, 1), *to = clean; /* "<U+E0001>" is of four bytes, others of less */
  size_t shown = 0, size;
  for (; *text; text += size, shown++) {
    const uint32_t c = decode(text, &size);
    if (most && shown + 1 >= most && text[size]) {
      strcpy(to, "\xE2\x80\xA6");
      return clean;
    }
    if (acts(c, line) || (size == 1 && c >= 0x80))
      to += sprintf(to, "<U+%04X>", (unsigned)c);
    else {
      memcpy(to, text, size);
      to += size;
    }
  }
  *to = '\0';
  return clean;
}

void nst_out_html(nestor_buffer *out, const char *text) {
  char *clean = nst_out_clean(text, false, 0);
  for (const char *s = clean; *s; s++) {
    switch (*s) {
    case '&': nst_out_text(out, "&amp;"); break;
    case '<': nst_out_text(out, "&lt;"); break;
    case '>': nst_out_text(out, "&gt;"); break;
    case '"': nst_out_text(out, "&quot;"); break;
    case '\'': nst_out_text(out, "&#39;"); break;
    default: nestor_buffer_append(out, s, 1); break;
    }
  }
  free(clean);
}

size_t nst_out_width(const char *text) {
  size_t n = 0;
  for (; *text; text++) n += ((unsigned char)*text & 0xC0) != 0x80;
  return n;
}
