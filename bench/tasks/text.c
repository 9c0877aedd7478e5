/* Text brought into the layout of the formatter, and compared up to names. */
#include "bench/tasks/text.h"

#include "bench/record/memory.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool format(nestor_buffer *out, const char *text, size_t size) {
  nestor_session *session = nestor_session_new();
  nestor_program *program = nestor_program_new(session, "draft", text, size, NESTOR_STAGE_PARSE);
  const bool parses = nestor_program_format(program, out) == NESTOR_OK;
  nestor_program_free(program);
  nestor_session_free(session);
  return parses;
}

void nst_text_canonical(nestor_buffer *out, const char *text, size_t size) {
  if (!format(out, text, size)) nestor_buffer_append(out, text, size);
}

void nst_text_lay_out(nestor_buffer *out, const char *text, size_t size) {
  static const char hardware[] = "hardware ";
  nestor_buffer *joined = nestor_buffer_new();
  const bool levels = size > sizeof hardware && !memcmp(text, hardware, sizeof hardware - 1);
  int depth = 0;
  for (size_t i = 0; i < size; i++) {
    depth += text[i] == '{' ? 1 : text[i] == '}' ? -1 : 0;
    nestor_buffer_append(joined, levels && depth > 1 && text[i] == '\n' ? " " : text + i, 1);
  }
  if (!format(out, nestor_buffer_data(joined), nestor_buffer_size(joined))) nestor_buffer_append(out, text, size);
  nestor_buffer_free(joined);
}

typedef struct {
  const char *at;
  size_t size;
} name;
typedef struct {
  name a, b;
} pair;

static bool name_char(char c) { return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 128; }
static bool begins_name(char c) { return name_char(c) && !isdigit((unsigned char)c); }
static name take_name(const char **at) {
  name n = {*at, 0};
  while (name_char(**at)) ++*at, n.size++;
  return n;
}
static const char *skip(const char *at) {
  while (isspace((unsigned char)*at)) at++;
  return at;
}
static bool equal(name a, name b) { return a.size == b.size && !memcmp(a.at, b.at, a.size); }

/* Notes that a stands for b; false: one of them stands for something else. */
static bool note(pair **pairs, size_t *n, name a, name b) {
  for (size_t i = 0; i < *n; i++)
    if (equal((*pairs)[i].a, a) || equal((*pairs)[i].b, b)) return equal((*pairs)[i].a, a) && equal((*pairs)[i].b, b);
  *pairs = nst_memory_grow(*pairs, *n + 1, sizeof **pairs);
  (*pairs)[(*n)++] = (pair){a, b};
  return true;
}

bool nst_text_same_but_names(const char *a, const char *b) {
  pair *pairs = NULL;
  size_t n = 0;
  bool same = true;
  while (same) {
    a = skip(a), b = skip(b);
    if (begins_name(*a) && begins_name(*b)) {
      const name x = take_name(&a), y = take_name(&b);
      same = note(&pairs, &n, x, y);
    } else if ((same = *a == *b) && *a)
      a++, b++;
    else
      break;
  }
  free(pairs);
  return same;
}
