/* Sources and messages: places, golden renderings, hostile text, limits. */
#include "test.h"

#include "base/diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  nst_arena *arena;
  nst_sources *sources;
  nst_diags *diags;
  uint32_t id;
  const char *text;
} fixture;

static fixture open_text(const char *name, const char *text, size_t len) {
  fixture f = {.arena = nst_arena_new()};
  f.sources = nst_sources_new(f.arena);
  f.diags = nst_diags_new(f.arena, f.sources);
  f.id = nst_sources_add(f.sources, name, text, len);
  assert_int_equal(f.id, 1);
  f.text = nst_sources_get(f.sources, f.id)->text;
  return f;
}
#define OPEN(text) open_text("chip.nest", (text), sizeof(text) - 1)

static void finish(fixture *f) { nst_arena_free(f->arena); }

/* The span of the first `part` in the text. */
static nst_span at(const fixture *f, const char *part) {
  const char *p = strstr(f->text, part);
  assert_non_null(p);
  uint32_t begin = (uint32_t)(p - f->text);
  return (nst_span){f->id, begin, begin + (uint32_t)strlen(part)};
}

static void renders(const fixture *f, const char *want) {
  nst_buffer b = {0};
  nst_diags_render(f->diags, &b, false);
  assert_non_null(b.text);
  assert_string_equal(b.text, want);
  nst_buffer_fini(&b);
}

static void place(const nst_source *src, uint32_t offset, uint32_t line, uint32_t column) {
  uint32_t l, c;
  nst_source_locate(src, offset, &l, &c);
  assert_int_equal(l, line);
  assert_int_equal(c, column);
}

static void test_places(void **state) {
  (void)state;
  fixture f = OPEN("ab\ncd\r\n\té日x\n");
  const nst_source *src = nst_sources_get(f.sources, 1);
  assert_int_equal(src->nlines, 4);
  place(src, 0, 1, 1);
  place(src, 2, 1, 3); /* the line end belongs to its line */
  place(src, 3, 2, 1);
  place(src, 5, 2, 3); /* the CR */
  place(src, 7, 3, 1);
  place(src, 8, 3, 2);  /* a tab is one column */
  place(src, 10, 3, 3); /* é: two bytes, one column */
  place(src, 13, 3, 4);
  place(src, 15, 4, 1);
  place(src, 4000, 4, 1);
  uint32_t b, e;
  nst_source_line(src, 2, &b, &e);
  assert_int_equal(b, 3);
  assert_int_equal(e, 5);
  nst_source_line(src, 4, &b, &e);
  assert_int_equal(b, e);
  assert_null(nst_sources_get(f.sources, 0));
  assert_null(nst_sources_get(f.sources, 2));
  uint32_t bom = nst_sources_add(f.sources, "bom",
                                 "\xEF\xBB\xBF"
                                 "abc",
                                 6),
           empty = nst_sources_add(f.sources, "e", "", 0);
  place(nst_sources_get(f.sources, bom), 3, 1, 1);
  place(nst_sources_get(f.sources, bom), 0, 1, 1);
  place(nst_sources_get(f.sources, bom), 5, 1, 3);
  place(nst_sources_get(f.sources, empty), 0, 1, 1);
  assert_int_equal(nst_sources_get(f.sources, empty)->nlines, 1);
  assert_int_equal(nst_sources_get(f.sources, bom)->len, 6);
  assert_int_equal(nst_sources_add(f.sources, "large", "", ((size_t)1 << 30) + 1), 0);
  finish(&f);
}

static void test_spans_join(void **state) {
  (void)state;
  nst_span a = {1, 10, 12}, b = {1, 3, 5}, none = {0, 0, 0}, other = {2, 1, 2}, j = nst_span_join(a, b);
  assert_int_equal(j.begin, 3);
  assert_int_equal(j.end, 12);
  assert_int_equal(nst_span_join(none, b).begin, 3);
  assert_int_equal(nst_span_join(a, none).begin, 10);
  assert_int_equal(nst_span_join(a, other).source, 1);
}

static void test_simple(void **state) {
  (void)state;
  fixture f = OPEN("hardware x {\n  memory GLB { capacity = 128 KB }\n}\n");
  nst_diag *m = nst_diag_add(f.diags, NST_D_FILE_READ, at(&f, "128 KB"), "a capacity of %d KB is odd", 128);
  nst_diag_help(f.diags, m, "KB is 1000 bytes");
  nst_span unit = at(&f, "KB");
  nst_diag_fix(f.diags, m, unit, "KiB");
  renders(&f, "error[E0001]: a capacity of 128 KB is odd\n"
              " --> chip.nest:2:27\n"
              "  |\n"
              "2 |   memory GLB { capacity = 128 KB }\n"
              "  |                           ^^^^^^\n"
              "  |\n"
              "  = help: KB is 1000 bytes\n"
              "  = fix: replace `KB` with `KiB`\n"
              "\n");
  finish(&f);
}

static void test_labels(void **state) {
  (void)state;
  fixture f =
    OPEN("workload g(M = 1) {\n  dim m = M\n  tensor A\n\n\n\n\n\n\n  memory GLB { capacity = 128 B/cycle }\n}\n");
  uint32_t other = nst_sources_add(f.sources, "lib.nest", "abc def\n", 8);
  nst_diag *m = nst_diag_add(f.diags, NST_D_FILE_READ, at(&f, "128 B/cycle"), "wrong unit");
  nst_diag_label(f.diags, m, at(&f, "capacity"), "this wants bytes");
  nst_diag_label(f.diags, m, at(&f, "memory"), "of this memory");
  nst_diag_label(f.diags, m, at(&f, "128 B/cycle"), "bytes per cycle");
  nst_diag_label(f.diags, m, at(&f, "tensor"), "a tensor");
  nst_diag_label(f.diags, m, at(&f, "m = M\n"), "a dimension");
  nst_diag_label(f.diags, m, (nst_span){other, 4, 7}, "elsewhere");
  nst_diag_help(f.diags, m, "write it so:\nseq {\n  do A { }\n}\n");
  renders(&f, "error[E0001]: wrong unit\n"
              "  --> chip.nest:10:27\n"
              "   |\n"
              " 2 |   dim m = M\n"
              "   |       ----- a dimension\n"
              " 3 |   tensor A\n"
              "   |   ------ a tensor\n"
              "...\n"
              "10 |   memory GLB { capacity = 128 B/cycle }\n"
              "   |   ------       --------   ^^^^^^^^^^^ bytes per cycle\n"
              "   |   |            |\n"
              "   |   |            this wants bytes\n"
              "   |   of this memory\n"
              "   |\n"
              "  ::: lib.nest:1:5\n"
              "   |\n"
              " 1 | abc def\n"
              "   |     --- elsewhere\n"
              "   |\n"
              "   = help: write it so:\n"
              "           seq {\n"
              "             do A { }\n"
              "           }\n"
              "\n");
  finish(&f);
}

static void test_ends_and_empty(void **state) {
  (void)state;
  fixture f = OPEN("a {\n");
  nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){1, 4, 4}, "unexpected end");
  nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){1, 3, 4}, "line end");
  nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){1, 900, 950}, "past the end");
  nst_diag *m = nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){1, 0, 4}, "two lines");
  nst_diag_fix(f.diags, m, (nst_span){1, 3, 3}, "}");
  m = nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){0, 0, 0}, "no place");
  nst_diag_help(f.diags, m, "none");
  m = nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){1, 0, 1}, "remove");
  nst_diag_fix(f.diags, m, (nst_span){1, 0, 1}, "");
  renders(&f, "error[E0001]: unexpected end\n --> chip.nest:2:1\n  |\n2 |\n  | ^\n\n"
              "error[E0001]: line end\n --> chip.nest:1:4\n  |\n1 | a {\n  |    ^\n\n"
              "error[E0001]: past the end\n --> chip.nest:2:1\n  |\n2 |\n  | ^\n\n"
              "error[E0001]: two lines\n --> chip.nest:1:1\n  |\n1 | a {\n  | ^^^\n  |\n  = fix: insert `}`\n\n"
              "error[E0001]: no place\n  = help: none\n\n"
              "error[E0001]: remove\n --> chip.nest:1:1\n  |\n1 | a {\n  | ^\n  |\n  = fix: remove `a`\n\n");
  finish(&f);
}

static void test_hostile_text(void **state) {
  (void)state;
  fixture f = open_text("a\nb\x1b[31m.nest", "\tx\x1b[31m\0y\xff é日\xe2\x80\xae!q\r\n",
                        sizeof "\tx\x1b[31m\0y\xff é日\xe2\x80\xae!q\r\n" - 1);
  const char *q = memchr(f.text, 'q', nst_sources_get(f.sources, 1)->len);
  uint32_t offset = (uint32_t)(q - f.text);
  nst_diag_add(f.diags, NST_D_FILE_NUL_BYTE, (nst_span){1, offset, offset + 1}, "bad\x07 %s", "\xc3");
  renders(&f, "error[E0003]: bad\\x07 \\xc3\n"
              " --> a\\x0ab\\x1b[31m.nest:1:16\n"
              "  |\n"
              "1 |     x\\x1b[31m\\x00y\\xff é日\\u{202e}!q\n"
              "  |                                    ^\n"
              "\n");
  finish(&f);
}

static void test_bom_and_crlf(void **state) {
  (void)state;
  fixture f = OPEN("\xEF\xBB\xBF"
                   "use x\r\nuse y\r\n");
  nst_diag_add(f.diags, NST_D_FILE_READ, at(&f, "use x\r\n"), "first");
  nst_diag_add(f.diags, NST_D_FILE_READ, at(&f, "use y"), "second");
  renders(&f, "error[E0001]: first\n --> chip.nest:1:1\n  |\n1 | use x\n  | ^^^^^\n\n"
              "error[E0001]: second\n --> chip.nest:2:1\n  |\n2 | use y\n  | ^^^^^\n\n");
  finish(&f);
}

static void test_long_lines_are_cut(void **state) {
  (void)state;
  enum { N = 1000000 };
  char *text = malloc(N);
  memset(text, 'x', N);
  memcpy(text + 500000, "HERE", 4);
  fixture f = open_text("long.nest", text, N);
  free(text);
  nst_diag *m = nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){1, 500000, 500004}, "found");
  nst_diag_label(f.diags, m, (nst_span){1, 10, 12}, "far");
  nst_diag_label(f.diags, m, (nst_span){1, N - 5, N}, "last");
  nst_buffer want = {0};
  nst_buffer_puts(&want, "error[E0001]: found\n --> long.nest:1:500001\n  |\n1 | ");
  nst_buffer_pad(&want, 'x', 120);
  nst_buffer_puts(&want, "...\n  |           -- far\n1 | ...");
  nst_buffer_pad(&want, 'x', 40);
  nst_buffer_puts(&want, "HERE");
  nst_buffer_pad(&want, 'x', 76);
  nst_buffer_puts(&want, "...\n  |                                            ^^^^\n1 | ...");
  nst_buffer_pad(&want, 'x', 45);
  nst_buffer_puts(&want, "\n  |                                            ----- last\n\n");
  renders(&f, want.text);
  nst_buffer_fini(&want);
  nst_diags_clear(f.diags);
  nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){1, 0, N}, "all of it");
  nst_buffer b = {0};
  nst_diags_render(f.diags, &b, true);
  assert_true(b.len < 1000);
  nst_buffer_fini(&b);
  finish(&f);
}

static void test_collection(void **state) {
  (void)state;
  fixture f = OPEN("0123456789");
  nst_span here = {1, 5, 6}, there = {1, 2, 3}, nowhere = {0, 0, 0};
  nst_diag *m = nst_diag_add(f.diags, NST_D_FILE_READ, here, "one");
  nst_diag *again = nst_diag_add(f.diags, NST_D_FILE_READ, here, "one in other words");
  assert_ptr_not_equal(m, again);
  nst_diag_help(f.diags, again, "lost");
  nst_diag_label(f.diags, again, there, "lost");
  nst_diag_fix(f.diags, again, there, "lost");
  assert_null(again->help);
  assert_int_equal(nst_diags_count(f.diags), 1);
  nst_diag_add(f.diags, NST_D_FILE_NUL_BYTE, here, "another id");
  nst_diag_add(f.diags, NST_D_FILE_READ, there, "earlier");
  nst_diag_add(f.diags, NST_D_FILE_READ, nowhere, "no place a");
  nst_diag_add(f.diags, NST_D_FILE_READ, nowhere, "no place b");
  nst_diag_add(f.diags, NST_D_FILE_READ, nowhere, "no place b");
  assert_int_equal(nst_diags_errors(f.diags), 5);
  nst_diags_sort(f.diags);
  static const char *const order[] = {"no place a", "no place b", "earlier", "one", "another id"};
  assert_int_equal(nst_diags_count(f.diags), 5);
  for (size_t i = 0; i < 5; i++) assert_string_equal(nst_diags_get(f.diags, i)->message, order[i]);
  nst_diags_clear(f.diags);
  assert_int_equal(nst_diags_count(f.diags), 0);
  assert_int_equal(nst_diags_errors(f.diags), 0);
  finish(&f);
}

static void test_a_million_errors(void **state) {
  (void)state;
  enum { N = 1000000 };
  char *text = malloc(N);
  memset(text, '\n', N);
  fixture f = open_text("many.nest", text, N);
  free(text);
  for (uint32_t i = 0; i < N; i++) {
    nst_diag *m = nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){1, i, i}, "error %u", i);
    nst_diag_help(f.diags, m, "help %u", i);
  }
  assert_int_equal(nst_diags_count(f.diags), NST_DIAG_MAX);
  assert_int_equal(nst_diags_errors(f.diags), N);
  assert_int_equal(nst_diags_warnings(f.diags), 0);
  nst_buffer b = {0};
  nst_diags_render(f.diags, &b, false);
  assert_non_null(strstr(b.text, "999900 more messages are not shown\n"));
  nst_buffer_clear(&b);
  nst_diags_render_json(f.diags, &b);
  assert_non_null(strstr(b.text, "\"omitted\":999900,"));
  nst_buffer_fini(&b);
  finish(&f);
}

static void test_colors(void **state) {
  (void)state;
  fixture f = OPEN("abc");
  nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){1, 1, 2}, "m");
  nst_buffer b = {0};
  nst_diags_render(f.diags, &b, true);
  assert_string_equal(b.text, "\x1b[1;31merror[E0001]\x1b[0m\x1b[1m: m\x1b[0m\n"
                              " \x1b[1;34m-->\x1b[0m chip.nest:1:2\n"
                              "\x1b[1;34m  |\x1b[0m\n"
                              "\x1b[1;34m1 |\x1b[0m abc\n"
                              "\x1b[1;34m  |\x1b[0m  \x1b[1;31m^\x1b[0m\n\n");
  nst_buffer_fini(&b);
  finish(&f);
}

static void test_json(void **state) {
  (void)state;
  fixture f = OPEN("ab\ncé\n");
  nst_buffer b = {0};
  nst_diags_render_json(f.diags, &b);
  assert_string_equal(b.text, "{\"schema\":\"nestor.diagnostics/1\",\"omitted\":0,\"diagnostics\":[]}\n");
  nst_buffer_clear(&b);
  nst_diag *m = nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){1, 1, 6}, "a \"word\"");
  nst_diag_label(f.diags, m, (nst_span){1, 0, 1}, "label");
  nst_diag_help(f.diags, m, "help");
  nst_diag_fix(f.diags, m, (nst_span){1, 3, 4}, "x\ny");
  nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){0, 0, 0}, "b");
  nst_diags_render_json(f.diags, &b);
  assert_string_equal(
    b.text,
    "{\"schema\":\"nestor.diagnostics/1\",\"omitted\":0,\"diagnostics\":["
    "{\"code\":\"E0001\",\"severity\":\"error\",\"message\":\"a \\\"word\\\"\",\"file\":\"chip.nest\",\"line\":1,"
    "\"column\":2,\"end_line\":2,\"end_column\":3,"
    "\"labels\":[{\"text\":\"label\",\"file\":\"chip.nest\",\"line\":1,\"column\":1,\"end_line\":1,\"end_column\":2}],"
    "\"help\":\"help\",\"fix\":{\"text\":\"x\\ny\",\"file\":\"chip.nest\",\"line\":2,\"column\":1,\"end_line\":2,"
    "\"end_column\":2}},"
    "{\"code\":\"E0001\",\"severity\":\"error\",\"message\":\"b\",\"file\":null,\"line\":null,\"column\":null,"
    "\"end_line\":null,\"end_column\":null,\"labels\":[],\"help\":null,\"fix\":null}]}\n");
  nst_buffer_fini(&b);
  finish(&f);
}

/* The catalogue itself: codes are unique, ordered, in the right form, and agree with the severity. */
static void test_catalogue(void **state) {
  (void)state;
  for (int i = 0; i < NST_DIAG_COUNT; i++) {
    nst_diag_id id = (nst_diag_id)i;
    const char *code = nst_diag_code(id), *title = nst_diag_title(id);
    if (strlen(code) != 5 || strspn(code + 1, "0123456789") != 4) fail_msg("%s is no code", code);
    if (code[0] != (nst_diag_severity(id) == NST_SEVERITY_ERROR ? 'E' : 'W')) fail_msg("%s has another severity", code);
    size_t len = strlen(title);
    if (len == 0 || title[len - 1] == '.') fail_msg("the title of %s: lower case, without a full stop", code);
    for (int k = 0; k < i; k++) {
      if (!strcmp(code, nst_diag_code((nst_diag_id)k))) fail_msg("%s stands twice", code);
    }
    /* Sorted by number; a warning after the errors of its range or among them. */
    if (i > 0 && code[0] == nst_diag_code((nst_diag_id)(i - 1))[0] &&
        strcmp(nst_diag_code((nst_diag_id)(i - 1)), code) > 0) {
      fail_msg("%s stands after %s", code, nst_diag_code((nst_diag_id)(i - 1)));
    }
  }
}

/* Whatever the bytes and the spans, rendering ends and stays in bounds (a sanitizer's eyes are the assertion). */
static void test_random_text(void **state) {
  (void)state;
  uint64_t seed = 5;
  static const char pieces[][5] = {"\n",   "\r\n", "\t",           "a",   "é",        "日",
                                   "\xff", "\x1b", "\xe2\x80\xae", "x y", "\xf0\x9f", " "};
  for (int round = 0; round < 2000; round++) {
    nst_buffer text = {0};
    for (int i = 0; i < round % 400; i++) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      const char *piece = pieces[(seed >> 33) % (sizeof pieces / sizeof *pieces)];
      nst_buffer_puts(&text, round % 7 == 0 && *piece == '\n' ? "z" : piece);
    }
    fixture f = open_text("random", text.text ? text.text : "", text.len);
    for (int k = 0; k < 5; k++) {
      nst_span s[4];
      for (int j = 0; j < 4; j++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        uint32_t begin = (uint32_t)((seed >> 33) % (text.len + 2)), len = (uint32_t)((seed >> 20) % 40);
        s[j] = (nst_span){1, begin, j == 3 ? begin - 1 : begin + len};
      }
      nst_diag *m = nst_diag_add(f.diags, NST_D_FILE_READ, s[0], "m");
      for (int j = 1; j < 4; j++) nst_diag_label(f.diags, m, s[j], "label %d", j);
      nst_diag_fix(f.diags, m, s[k % 4], "new");
    }
    nst_buffer b = {0};
    nst_diags_sort(f.diags);
    nst_diags_render(f.diags, &b, round & 1);
    nst_diags_render_json(f.diags, &b);
    if (!(round & 1)) assert_null(strchr(b.text, '\x1b'));
    assert_null(memchr(b.text, '\0', b.len));
    nst_buffer_fini(&b);
    nst_buffer_fini(&text);
    finish(&f);
  }
}

/* A name of a megabyte does not hide the message that it is in. */
static void test_long_names_are_cut(void **state) {
  (void)state;
  fixture f = open_text("long", "x", 1);
  char *name = malloc(1 << 20);
  assert_non_null(name);
  memset(name, 'n', (1 << 20) - 1);
  name[(1 << 20) - 1] = 0;
  nst_diag *m =
    nst_diag_add(f.diags, NST_D_FILE_READ, (nst_span){1, 0, 1}, "`%s` twice, `%s`, as in `%.80s`", name, name, name);
  nst_diag_label(f.diags, m, (nst_span){1, 0, 1}, "%s", name);
  nst_diag_help(f.diags, m, "not %s", name);
  assert_int_equal(strlen(m->message), 3 * 80 + strlen("`` twice, ``, as in ``"));
  assert_non_null(strstr(m->message, "nnn...` twice, `nnn"));
  assert_int_equal(strlen(m->labels[0].text), 80);
  assert_int_equal(strlen(m->help), 84);
  free(name);
  finish(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_places),
    cmocka_unit_test(test_spans_join),
    cmocka_unit_test(test_simple),
    cmocka_unit_test(test_labels),
    cmocka_unit_test(test_ends_and_empty),
    cmocka_unit_test(test_hostile_text),
    cmocka_unit_test(test_bom_and_crlf),
    cmocka_unit_test(test_long_lines_are_cut),
    cmocka_unit_test(test_collection),
    cmocka_unit_test(test_a_million_errors),
    cmocka_unit_test(test_colors),
    cmocka_unit_test(test_json),
    cmocka_unit_test(test_catalogue),
    cmocka_unit_test(test_random_text),
    cmocka_unit_test(test_long_names_are_cut),
  };
  return cmocka_run_group_tests_name("base/diag", tests, NULL, NULL);
}
