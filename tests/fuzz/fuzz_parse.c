/* Hostile text through the scanner, the parser and the formatter. What parses
 * without an error must still do so when formatted, with the same tree and as
 * many comments, and formatting it again must change nothing. */
#include "frontend/ast_print.h"
#include "frontend/format.h"
#include "grammar/parse.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
  nst_buffer tree, text;
  size_t errors, comments;
} outcome;

static outcome parse(const char *text, size_t len) {
  nst_arena *arena = nst_arena_new();
  nst_interner *interner = nst_interner_new(arena);
  nst_sources *sources = nst_sources_new(arena);
  nst_diags *diags = nst_diags_new(arena, sources);
  uint32_t source = nst_sources_add(sources, "fuzz", text, len);
  const nst_ast_file *file = nst_parse(arena, interner, sources, source, diags);
  outcome o = {.errors = nst_diags_errors(diags), .comments = file->ncomments};
  nst_ast_print(file, sources, &o.tree);
  nst_format(file, sources, &o.text);
  nst_buffer messages = {0};
  nst_diags_sort(diags);
  nst_diags_render(diags, &messages, false);
  nst_buffer_fini(&messages);
  nst_interner_free(interner);
  nst_arena_free(arena);
  return o;
}

static bool same(const nst_buffer *a, const nst_buffer *b) {
  return a->len == b->len && (!a->len || !memcmp(a->text, b->text, a->len));
}

static void fini(outcome *o) {
  nst_buffer_fini(&o->tree);
  nst_buffer_fini(&o->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 1 << 16) return 0;
  outcome first = parse((const char *)data, size);
  if (!first.errors) {
    outcome second = parse(first.text.text ? first.text.text : "", first.text.len);
    if (second.errors || first.comments != second.comments || !same(&first.tree, &second.tree) ||
        !same(&first.text, &second.text))
      abort();
    fini(&second);
  }
  fini(&first);
  return 0;
}
