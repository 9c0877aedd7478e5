/* The language card: short enough, always the same, made from the compiler's tables, and every example in it right. */
#include "tests/unit/test.h"

#include "bench/tasks/card.h"
#include "bench/tasks/text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *card(void) {
  nestor_buffer *out = nestor_buffer_new();
  nst_card_write(out);
  char *text = strdup(nestor_buffer_data(out));
  nestor_buffer_free(out);
  return text;
}

static void tokens_are_words_numbers_and_signs(void **state) {
  (void)state;
  assert_int_equal(nst_card_count(""), 0);
  assert_int_equal(nst_card_count(" \n"), 0);
  assert_int_equal(nst_card_count("for m by 16"), 4);
  assert_int_equal(nst_card_count("t_m2+=1.5"), 9); /* t _ m 2 + = 1 . 5 */
}

static void it_is_short_and_always_the_same(void **state) {
  (void)state;
  char *one = card(), *two = card();
  assert_string_equal(one, two);
  assert_in_range(nst_card_count(one), 1200, NST_CARD_TOKENS);
  free(one), free(two);
}

static void it_tells_all_metrics_and_the_grammar(void **state) {
  (void)state;
  char *text = card();
  nestor_metric_info m;
  size_t n = 0;
  for (; nestor_metric_about(n, &m); n++) assert_non_null(strstr(text, m.summary));
  assert_true(n > 15);
  assert_false(nestor_metric_about(SIZE_MAX, &m));
  nestor_message_info message;
  assert_true(nestor_message_about(0, &message));
  assert_false(nestor_message_about(SIZE_MAX, &message));
  assert_non_null(strstr(text, "SIZE = by EXPR | into EXPR\n"));
  assert_non_null(strstr(text, "\nDECL = workload "));
  assert_null(strstr(text, "\n\n```\n\n")); /* no rule has gone */
  nestor_buffer *none = nestor_buffer_new();
  assert_false(nestor_grammar_rule("no_such_rule", none));
  assert_int_equal(nestor_buffer_size(none), 0);
  nestor_buffer_free(none);
  free(text);
}

static bool word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The first place where a word stands as a whole, or NULL. */
static const char *find_word(const char *text, const char *word, size_t size) {
  for (const char *at = text; *at; at++)
    if (!strncmp(at, word, size) && !word_char(at[size]) && (at == text || !word_char(at[-1]))) return at;
  return NULL;
}

/* Every rule that a rule of the card names is told, or said in words behind the rules. */
static void rules_are_told_or_explained(void **state) {
  (void)state;
  char *text = card(), *grammar = strstr(text, "## Grammar");
  assert_non_null(grammar);
  char *begin = strstr(grammar, "```\n"), *end = begin ? strstr(begin + 4, "```\n") : NULL;
  assert_non_null(end);
  *end = '\0';
  begin += 3; /* at the line feed before the first rule */
  int told = 0, said = 0;
  for (const char *at = begin; *at;) {
    size_t size = 0;
    while (word_char(at[size])) size++;
    const size_t capitals = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    if (size > 1 && capitals == size) {
      char definition[64];
      snprintf(definition, sizeof definition, "\n%.*s = ", (int)size, at);
      if (strstr(begin, definition))
        told++;
      else if (find_word(end + 1, at, size))
        said++;
      else
        fail_msg("the rule %.*s is neither told nor explained", (int)size, at);
    }
    at += size ? size : 1;
  }
  assert_true(told > 20 && said > 20);
  free(text);
}

/* ---- the compiler's tables ------------------------------------------------ */

static char *source_file(const char *path) {
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  char *text = calloc(1, 1 << 16);
  const size_t n = fread(text, 1, (1 << 16) - 1, file);
  assert_true(n > 1000 && n < (1 << 16) - 1);
  fclose(file);
  return text;
}

/* Checks that the card has, from `from` to `to`, each name that heads a row of a table and whose row has `needs`. */
static int check_names(const char *path, const char *table, const char *needs, const char *from, const char *to) {
  char *text = card(), *source = source_file(path);
  char *begin = strstr(text, from), *end = begin ? strstr(begin, to) : NULL, *row = strstr(source, table);
  assert_true(end && row);
  *end = '\0';
  *strstr(row, "\n};") = '\0';
  int n = 0;
  while ((row = strstr(row, "{\"")) != NULL) {
    row += 2;
    const size_t size = strcspn(row, "\""), all = strcspn(row, "}");
    const char *needed = strstr(row, needs);
    if (!needed || needed > row + all) continue;
    n++;
    if (!find_word(begin, row, size)) fail_msg("the card lacks %.*s after %s", (int)size, row, from);
  }
  free(text), free(source);
  return n;
}

static int count_words(const char *from, const char *to) {
  char *text = card(), *begin = strstr(text, from), *end = begin ? strstr(begin + strlen(from), to) : NULL;
  assert_non_null(end);
  *end = '\0';
  int n = 0;
  for (const char *at = begin + strlen(from); *at; at++) n += word_char(*at) && !word_char(at[-1]);
  free(text);
  return n;
}

static void it_tells_all_attributes_and_types(void **state) {
  (void)state;
  static const char attributes[] = NST_SOURCE_DIR "/frontend/check_attr.c",
                    types[] = NST_SOURCE_DIR "/frontend/check_workload.c";
  const char *table = "static const attribute attributes[] = {";
  assert_int_equal(check_names(attributes, table, "IN_HARDWARE", "\nAn attribute is", "memory:"), 1);
  assert_true(check_names(attributes, table, "IN_MEMORY", "memory: capacity", "array:") > 8);
  assert_int_equal(check_names(attributes, table, "IN_ARRAY", " array: ", " compute:"), 2);
  assert_int_equal(check_names(attributes, table, "IN_COMPUTE", " compute: ", "A quantity needs"), 4);
  const int n = check_names(types, "} types[] = {", "", "TYPE: int", ";");
  assert_int_equal(count_words("TYPE: int4", ";"), n + 1); /* but the first, and bits(N) */
}

/* The title of a message in the catalogue; the caller's to free. */
static char *title_of(const char *catalogue, const char *code) {
  char head[16];
  snprintf(head, sizeof head, ", %s, ", code);
  const char *row = strstr(catalogue, head), *title = row ? strchr(row, '"') : NULL;
  if (!title) fail_msg("there is no message %s", code);
  return strndup(title + 1, strcspn(title + 1, "\""));
}

/* What is wrong with a program that parses: each rule of workloads, of keeps, of tiles and of cascades that a model cannot guess. */
static void it_tells_the_rules_that_are_broken(void **state) {
  (void)state;
  static const char *const told[] = {"E0401", "E0402", "E0403", "E0404", "E0405", "E0406", "E0407", "E0408", "E0601",
                                     "E0602", "E0603", "E0604", "E0605", "E0606", "E0690", "E0691", "E0701", "E0706",
                                     "E0708", "E0709", "E0710", "E0711", "E0712", "E0713", "E0714", "E0715"};
  enum { TOLD = sizeof told / sizeof *told };
  char *text = card(), *catalogue = source_file(NST_SOURCE_DIR "/base/diag_catalogue.def");
  const char *errors = strstr(text, "\n## Errors\n\n");
  assert_non_null(errors);
  errors += strlen("\n## Errors\n\n");
  for (size_t i = 0; i < TOLD; i++) {
    char *title = title_of(catalogue, told[i]);
    const size_t n = strlen(title);
    if (strncmp(errors, title, n) != 0 || strncmp(errors + n, i + 1 < TOLD ? "; " : ".\n", 2) != 0)
      fail_msg("the card lacks %s, %s, before %.60s", told[i], title, errors);
    errors += n + 2;
    free(title);
  }
  assert_string_equal(errors, "");
  free(text), free(catalogue);
}

static void it_tells_all_functions(void **state) {
  (void)state;
  const char *path = NST_SOURCE_DIR "/frontend/check_call.c";
  assert_true(check_names(path, "} functions[] = {", "", "; functions: ", "Comments:") > 8);
}

/* Calls each with the text of each ```nest block; how many there are. */
static int each_example(char *text, void (*each)(const char *program, int i)) {
  int n = 0;
  for (char *at = text; (at = strstr(at, "```nest\n")) != NULL;) {
    at += strlen("```nest\n");
    char *end = strstr(at, "```");
    assert_non_null(end);
    *end = '\0';
    each(at, n++);
    at = end + 1;
  }
  return n;
}

static nestor_program *compile(nestor_session *session, const char *text) {
  nestor_program *program = nestor_program_new(session, "card", text, strlen(text), NESTOR_STAGE_CHECK);
  if (nestor_program_status(program) == NESTOR_OK) return program;
  nestor_buffer *why = nestor_buffer_new();
  nestor_diagnostics_text(nestor_program_diagnostics(program), false, why);
  fail_msg("%s", nestor_buffer_data(why));
  return program;
}

static void try_example(const char *text, int i) {
  nestor_session *session = nestor_session_new();
  nestor_program *program = compile(session, text);
  assert_true(nestor_program_mappings(program) > 0);
  for (size_t m = 0; m < nestor_program_mappings(program); m++) {
    nestor_eval *eval = nestor_eval_new(program, m);
    assert_int_equal(nestor_eval_run(eval, NESTOR_ENGINE_ANALYSIS, NULL), NESTOR_OK);
    assert_int_equal(nestor_diagnostics_count(nestor_eval_diagnostics(eval)), 0); /* it fits */
    nestor_eval_free(eval);
  }
  nestor_buffer *laid_out = nestor_buffer_new();
  nst_text_canonical(laid_out, text, strlen(text));
  assert_string_equal(nestor_buffer_data(laid_out), text);
  nestor_buffer_free(laid_out);
  if (i == 0) assert_int_equal(nestor_program_models(program), 1);
  nestor_program_free(program);
  nestor_session_free(session);
}

static void its_examples_compile_and_fit(void **state) {
  (void)state;
  char *text = card();
  assert_int_equal(each_example(text, try_example), 2);
  free(text);
}

/* The model of the first example against its mapping, sizes left to verify. */
static void verify_model(const char *text, int i) {
  if (i) return;
  nestor_buffer *all = nestor_buffer_new();
  nst_text_add(
    all,
    "%smapping open(M = 64, N = 48, K = 32, tm = 16, tn = 12) of gemm(M, N, K) on acc { for m by tm for n by tn keep "
    "A, B, C in GLB compute }\n"
    "verify costs against open {\n  reads_A == reads(DRAM, A)\n  reads_B == reads(DRAM, B)\n  updates_C == "
    "updates(DRAM, C)\n  usage_GLB == usage(GLB)\n"
    "  over M in [1, 5, 12, 64], N in [1, 7, 48], K in [1, 9], tm in [1, 3, 5, 64, 70], tn in [1, 4, 7, 48, 50]\n}\n",
    text);
  nestor_session *session = nestor_session_new();
  nestor_program *program = compile(session, nestor_buffer_data(all));
  nestor_tests *tests = nestor_tests_new(program);
  nestor_test result;
  assert_true(nestor_tests_get(tests, 0, &result));
  if (!result.passed) fail_msg("%s", result.details);
  assert_int_equal(result.checks, 4 * 3 * 2 * 5 * 5);
  nestor_tests_free(tests);
  nestor_program_free(program);
  nestor_session_free(session);
  nestor_buffer_free(all);
}

static void its_model_is_right(void **state) {
  (void)state;
  char *text = card();
  each_example(text, verify_model);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(tokens_are_words_numbers_and_signs),
    cmocka_unit_test(it_is_short_and_always_the_same),
    cmocka_unit_test(it_tells_all_metrics_and_the_grammar),
    cmocka_unit_test(rules_are_told_or_explained),
    cmocka_unit_test(it_tells_all_attributes_and_types),
    cmocka_unit_test(it_tells_the_rules_that_are_broken),
    cmocka_unit_test(it_tells_all_functions),
    cmocka_unit_test(its_examples_compile_and_fit),
    cmocka_unit_test(its_model_is_right),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
