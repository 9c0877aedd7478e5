#include "syntax.h"

#include "frontend/ast_print.h"
#include "frontend/format.h"
#include "grammar/parse.h"
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

syntax syntax_parse(const char *text, size_t len, unsigned char *rules) {
  syntax s = {.arena = nst_arena_new()};
  s.interner = nst_interner_new(s.arena);
  s.sources = nst_sources_new(s.arena);
  s.source = nst_sources_add(s.sources, "test.nest", text, len);
  s.diags = nst_diags_new(s.arena, s.sources);
  s.file = nst_parse_traced(s.arena, s.interner, s.sources, s.source, s.diags, rules);
  return s;
}

void syntax_fini(syntax *s) {
  nst_interner_free(s->interner);
  nst_arena_free(s->arena);
}

static char *take(nst_buffer *b) { return b->text ? b->text : calloc(1, 1); }

char *syntax_messages(const syntax *s) {
  nst_buffer b = {0};
  nst_diags_sort(s->diags);
  nst_diags_render(s->diags, &b, false);
  return take(&b);
}

char *syntax_print(const syntax *s) {
  nst_buffer b = {0};
  nst_ast_print(s->file, s->sources, &b);
  return take(&b);
}

char *syntax_format(const syntax *s) {
  nst_buffer b = {0};
  nst_format(s->file, s->sources, &b);
  return take(&b);
}

bool syntax_equal(const syntax *a, const syntax *b) {
  char *x = syntax_print(a), *y = syntax_print(b);
  bool same = strcmp(x, y) == 0;
  free(x);
  free(y);
  return same;
}

static void read_case(syntax_case *c, const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f || fseek(f, 0, SEEK_END) != 0) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(2);
  }
  long size = ftell(f);
  rewind(f);
  c->path = strdup(path);
  c->text = malloc((size_t)size + 1);
  c->len = fread(c->text, 1, (size_t)size, f);
  c->text[c->len] = 0;
  fclose(f);
}

syntax_case *syntax_cases(const char *dir, size_t *n) {
  char pattern[512];
  snprintf(pattern, sizeof pattern, "%s/tests/%s%s/*.nest", NST_SOURCE_DIR, dir, strcmp(dir, "cases") == 0 ? "/*" : "");
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0) {
    *n = 0;
    return NULL;
  }
  syntax_case *cases = calloc(found.gl_pathc, sizeof *cases);
  for (size_t i = 0; i < found.gl_pathc; i++) read_case(&cases[i], found.gl_pathv[i]);
  *n = found.gl_pathc;
  globfree(&found);
  return cases;
}

void syntax_cases_free(syntax_case *cases, size_t n) {
  for (size_t i = 0; i < n; i++) {
    free(cases[i].path);
    free(cases[i].text);
  }
  free(cases);
}
