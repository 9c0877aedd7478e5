/* The scanner and the parser: what programs mean as trees, how many messages a
 * mistake gives, and that no input does harm or takes more than linear time. */
#include "test.h"

#include "grammar/parse.h"
#include "syntax.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- trees ---- */

static void assert_tree(const char *text, const char *tree) {
  syntax s = syntax_parse(text, strlen(text), NULL);
  char *messages = syntax_messages(&s), *printed = syntax_print(&s);
  assert_string_equal(messages, "");
  assert_string_equal(printed, tree);
  free(messages);
  free(printed);
  syntax_fini(&s);
}

static void assert_expr(const char *text, const char *tree) {
  char source[512], expected[512];
  snprintf(source, sizeof source, "const X = %s", text);
  snprintf(expected, sizeof expected, "(file\n  (const (params (= X %s))))\n", tree);
  assert_tree(source, expected);
}

static void test_precedence(void **state) {
  (void)state;
  assert_expr("1 + 2 * 3", "(+ 1 (* 2 3))");
  assert_expr("8 - 4 - 2", "(- (- 8 4) 2)");
  assert_expr("2 ** 3 ** 2", "(** 2 (** 3 2))");
  assert_expr("-2 ** 2", "(neg (** 2 2))");
  assert_expr("2 ** -1", "(** 2 (neg 1))");
  assert_expr("-a * b", "(* (neg a) b)");
  assert_expr("a / b // c % d", "(% (// (/ a b) c) d)");
  assert_expr("not a == b and c or d", "(or (and (not (compare a == b)) c) d)");
  assert_expr("8 <= t < 64 != u", "(compare 8 <= t < 64 != u)");
  assert_expr("if a then 1 else if b then 2 else 3", "(if a 1 (if b 2 3))");
  assert_expr("if a then b else c + 1", "(if a b (+ c 1))");
  assert_expr("(1 + 2) * 3", "(* (paren (+ 1 2)) 3)");
  assert_expr("GLB.capacity - PE.x", "(- (. GLB capacity) (. PE x))");
  assert_expr("a.f(x, y = 2) + g()", "(+ (call a . f x (= y 2)) (call g))");
  assert_expr("sum(i * i for i in 1 .. n - 1)", "(sum i 1 (- n 1) (* i i))");
  assert_expr("exp(S[h, m]) + T[]", "(+ (call exp (access S h m)) (access T))");
}

static void test_numbers(void **state) {
  (void)state;
  assert_expr("1_000_000", "1000000");
  assert_expr("9223372036854775807", "9223372036854775807");
  assert_expr("0.5", "1/2");
  assert_expr("2e3", "2000");
  assert_expr("25e-1", "5/2");
  assert_expr("128 KiB", "(quantity 128 KiB)");
  assert_expr("128KiB", "(quantity 128 KiB)");
  assert_expr("32 B/cycle", "(quantity 32 B/cycle)");
  assert_expr("0.5 pJ", "(quantity 1/2 pJ)");
  assert_expr("4 B / x", "(/ (quantity 4 B) x)");
  assert_expr("4 B/x", "(/ (quantity 4 B) x)");
  assert_expr("4\n", "4");
  assert_tree("sweep s of m { a in 8..512 c in 1 .. 9 step 2 }",
              "(file\n  (sweep s (of m)\n    (in a (range 8 512))\n    (in c (range 1 9 2))))\n");
  /* two spaces, or a line end, and it is a number and a name */
  assert_tree("model m() { x = 4  s = 5\n y = 4\n B = 6 }",
              "(file\n  (model m (params)\n    (bare x 4)\n    (bare s 5)\n    (bare y 4)\n    (bare B 6)))\n");
}

static void test_words_are_names(void **state) {
  (void)state;
  static const char *const words[] = {
    "use", "const", "workload", "hardware", "mapping", "test", "model", "verify", "sweep", "as", "dim", "tensor", "max", "min", "memory",
    "array", "compute", "for", "par", "by", "into", "on", "keep", "let", "permute", "seq", "do", "of", "expect", "out", "against", "over",
    "where", "minimize", "maximize", "pareto", "top", "in", "all", "sum", "divisors", "pow2", "bits"};
  static const char form[] =
    "use %1$s.%1$s as %1$s\nconst %1$s = %1$s\nworkload %1$s(%1$s = 4) { dim %1$s = %1$s tensor %1$s[%1$s] : int8 %1$s[%1$s] += %1$s[2*%1$s] }\n"
    "hardware %1$s(%1$s) { %1$s = 1 memory %1$s { %1$s = %1$s.%1$s } array %1$s[%1$s = 4] compute %1$s }\n"
    "mapping %1$s(%1$s = 1) of %1$s(%1$s = 1) on %1$s {\n let %1$s = 2\n for %1$s by %1$s\n par %1$s on %1$s.%1$s by %1$s\n"
    " keep %2$s in %1$s\n compute on %1$s }\n"
    "test of %1$s { let %1$s = 1 expect %1$s == %1$s(%1$s, %1$s) }\n"
    "model %1$s(%1$s) { %1$s = 1 let %1$s = 2 out %1$s = 3 }\n"
    "verify %1$s against %1$s { %1$s == %1$s over %1$s in [1], %1$s in %1$s .. %1$s }\n"
    "sweep %1$s of %1$s { %3$s in [%1$s] where %1$s minimize %1$s, %1$s top %1$s }\n";
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    const char *w = words[i];
    bool all = strcmp(w, "all") == 0, begins = strstr(" where minimize maximize pareto top in ", w) && strcmp(w, "max") && strcmp(w, "min");
    char text[4096];
    int n = snprintf(text, sizeof text, form, w, all ? "A" : w, begins ? "p" : w);
    syntax s = syntax_parse(text, (size_t)n, NULL);
    char *messages = syntax_messages(&s);
    if (*messages) print_error("%s", messages);
    assert_int_equal(nst_diags_errors(s.diags), 0);
    free(messages);
    syntax_fini(&s);
  }
}

static void test_docs_and_layout(void **state) {
  (void)state;
  assert_tree("## lost\n\n## one\r\n## two\n\nconst A = 1 # ## no\n# no\n## three\n# no\nconst B = 2; ; const C = 3;",
              "(file\n  (const (params (= A 1))\n    (doc \"## one\")\n    (doc \"## two\"))\n  (const (params (= B 2)))\n"
              "  (const (params (= C 3))))\n");
  assert_tree("\xEF\xBB\xBF" "const\r\n\tA\r=\f1", "(file\n  (const (params (= A 1))))\n");
  assert_tree("", "(file)\n");
  assert_tree("# only \xC3\xA9 a comment", "(file)\n");
  assert_tree("hardware h { memory A { holds = x, y, size = 4, } z = 1, 2, w = 3 }",
              "(file\n  (hardware h\n    (memory A (block (= holds x y) (= size 4)))\n    (attribute (= z 1 2))\n    (attribute (= w 3))))\n");
}

static void test_cases_parse(void **state) {
  (void)state;
  size_t n;
  syntax_case *cases = syntax_cases("cases", &n);
  assert_true(n >= 471);
  for (size_t i = 0; i < n; i++) {
    syntax s = syntax_parse(cases[i].text, cases[i].len, NULL);
    char *messages = syntax_messages(&s);
    if (*messages) print_error("%s:\n%s", cases[i].path, messages);
    assert_int_equal(nst_diags_errors(s.diags), 0);
    free(messages);
    syntax_fini(&s);
  }
  syntax_cases_free(cases, n);
}

/* Every rule of the grammar is reduced by a program of tests/golden/syntax or tests/cases. */
static void test_every_rule(void **state) {
  (void)state;
  size_t nrules = nst_parse_rule_count(), n, missing = 0;
  unsigned char *rules = calloc(nrules, 1);
  static const char *const dirs[] = {"golden/syntax", "cases"};
  for (size_t d = 0; d < 2; d++) {
    syntax_case *cases = syntax_cases(dirs[d], &n);
    for (size_t i = 0; i < n; i++) {
      syntax s = syntax_parse(cases[i].text, cases[i].len, rules);
      syntax_fini(&s);
    }
    syntax_cases_free(cases, n);
  }
  for (size_t r = 2; r < nrules; r++) { /* rule 1 accepts; bison's reports count from 0 */
    if (!rules[r]) print_error("rule %zu of the grammar is never reduced (see bison --report=states)\n", r - 1);
    missing += !rules[r];
  }
  free(rules);
  assert_int_equal(missing, 0);
}

/* ---- messages ---- */

static size_t errors_of(const char *text, size_t len) {
  syntax s = syntax_parse(text, len, NULL);
  char *tree = syntax_print(&s), *formatted = syntax_format(&s), *messages = syntax_messages(&s); /* none may fail on a broken tree */
  size_t n = nst_diags_errors(s.diags);
  free(tree);
  free(formatted);
  free(messages);
  syntax_fini(&s);
  return n;
}

static void test_three_mistakes(void **state) {
  (void)state;
  static const char text[] =
    "workload w {\n  dim m = 4, k = 3\n  C[m] += A[m, k] *\n}\n"
    "hardware h {\n  memory DRAM { bandwidth 2 B/cycle }\n  compute MAC\n}\n"
    "mapping x of w on h {\n  keep all in\n  for m by 2\n  let = 3\n  compute\n}\n"
    "test of x { expect fits expect ops == 12 }\n";
  assert_int_equal(errors_of(text, strlen(text)), 4);
  /* a broken head does not hide the block, and its name is remembered */
  static const char head[] = "mapping x off w on h {\n  keep all in\n  for m by 2\n}\nmodel m(a { out b = }\nconst A = 1";
  syntax s = syntax_parse(head, strlen(head), NULL);
  assert_int_equal(nst_diags_errors(s.diags), 4);
  assert_non_null(s.file->lost);
  assert_string_equal(s.file->lost->id.name, "m");
  assert_string_equal(s.file->lost->next->id.name, "x");
  assert_non_null(s.file->decls);
  assert_null(s.file->decls->next);
  syntax_fini(&s);
}

/* ---- mutations ---- */

typedef struct { size_t programs, silent, one, two, more; } tally;

static void count(tally *t, const char *text, size_t len) {
  size_t n = errors_of(text, len);
  t->programs++;
  if (n == 0) t->silent++;
  else if (n == 1) t->one++;
  else if (n == 2) t->two++;
  else t->more++;
}

static void report(const char *what, const tally *t) {
  size_t wrong = t->programs - t->silent;
  print_message("%s: %zu programs, %zu still valid; of %zu wrong ones %.1f %% give one error, %.1f %% two, %.1f %% more\n", what,
                t->programs, t->silent, wrong, 100.0 * (double)t->one / (double)wrong, 100.0 * (double)t->two / (double)wrong,
                100.0 * (double)t->more / (double)wrong);
}

/* Deletes, doubles or swaps each token of each program of forms: never harm, and mostly one message. */
static void test_mutations(void **state) {
  (void)state;
  size_t n;
  tally deleted = {0}, doubled = {0}, swapped = {0};
  syntax_case *cases = syntax_cases("cases/forms", &n);
  assert_true(n > 0);
  for (size_t i = 0; i < n; i++) {
    const char *text = cases[i].text;
    syntax s = syntax_parse(text, cases[i].len, NULL);
    nst_token_span *tokens;
    size_t ntokens = nst_parse_tokens(s.arena, s.interner, s.sources, s.source, &tokens);
    char *mutant = malloc(2 * cases[i].len + 2);
    for (size_t k = 0; k < ntokens; k++) {
      uint32_t b = tokens[k].begin, e = tokens[k].end;
      size_t rest = cases[i].len - e;
      memcpy(mutant, text, b);
      memcpy(mutant + b, text + e, rest);
      count(&deleted, mutant, b + rest);
      memcpy(mutant, text, e);
      mutant[e] = ' ';
      memcpy(mutant + e + 1, text + b, e - b);
      memcpy(mutant + e + 1 + (e - b), text + e, rest);
      count(&doubled, mutant, e + 1 + (e - b) + rest);
      if (k + 1 == ntokens) continue;
      uint32_t b2 = tokens[k + 1].begin, e2 = tokens[k + 1].end;
      memcpy(mutant, text, b);
      memcpy(mutant + b, text + b2, e2 - b2);
      memcpy(mutant + b + (e2 - b2), text + e, b2 - e);
      memcpy(mutant + b + (e2 - e), text + b, e - b);
      memcpy(mutant + e2, text + e2, cases[i].len - e2);
      count(&swapped, mutant, cases[i].len);
    }
    free(mutant);
    syntax_fini(&s);
  }
  syntax_cases_free(cases, n);
  report("one token deleted", &deleted);
  report("one token doubled", &doubled);
  report("two tokens swapped", &swapped);
  assert_true(deleted.one * 100 >= (deleted.programs - deleted.silent) * 80);
}

/* ---- hostile input ---- */

static double seconds(const char *text, size_t len, size_t *errors) {
  clock_t start = clock();
  *errors = errors_of(text, len);
  return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static char *repeated(const char *head, const char *unit, size_t times, const char *tail, size_t *len) {
  size_t h = strlen(head), u = strlen(unit), t = strlen(tail);
  char *text = malloc(h + u * times + t + 1);
  memcpy(text, head, h);
  for (size_t i = 0; i < times; i++) memcpy(text + h + i * u, unit, u);
  memcpy(text + h + u * times, tail, t + 1);
  *len = h + u * times + t;
  return text;
}

static void test_hostile(void **state) {
  (void)state;
  const char *scale = getenv("NESTOR_TEST_SCALE"); /* small with sanitizers, where each object is a malloc */
  const size_t times = scale && atoi(scale) < 100 ? 100000 : 1000000;
  static const struct { const char *head, *unit, *tail; bool valid; } inputs[] = {
    {"const A = ", "(", "", false},
    {"const A = ", "(", "1", false},
    {"const A = 1", " + 1", "", false},
    {"const A = ", "-", "1", false},
    {"const A = ", "not ", "true", false},
    {"const A = ", "2 ** ", "1", false},
    {"const A = ", "if a then b else ", "1", false},
    {"const A = a", ".b", "", false},
    {"const A = ", "f(", "", false},
    {"const A = a", "[1]", "", false},
    {"const A = 1", " < 1", "", true},
    {"const A = f(1", ", 1", ")", true},
    {"", "[", "", false},
    {"", "{", "", false},
    {"", "}", "", false},
    {"", ")", "", false},
    {"mapping m of w on h {", "for m {", "", false},
    {"mapping m of w on h {", "seq { do A {", "", false},
    {"mapping m of w on h {", "permute {", "", false},
    {"mapping m of w on h {", "for m by 2 ", "}", true},
    {"mapping m of w on h {", "for ", "", false},
    {"", "workload ", "", false},
    {"", "a ", "", false},
    {"", "\"", "", false},
    {"", "'a", "", false},
    {"", "$", "", false},
    {"", "/*", "", false},
    {"", "/* ", "*/", false},
    {"", "&& ", "", false},
    {"", "2p ", "", false},
    {"", "1.", "", false},
    {"", "\xC3\x97", "", false},
    {"", ";", "", true},
    {"", "# \n", "", true},
    {"", "## d\n", "const A = 1", true},
    {"const A = 1 ", "# x ", "", true},
    {"const ", "A", " = 1", true},
    {"const A = ", "9", "", false},
    {"test \"", "x", "\" of m { }", true},
    {"workload w { C[m] = ", "A[", "", false},
    {"hardware h { memory M { ", "a = 1 ", "} }", true},
    {"hardware h { ", "a = 1, ", "}", false},
    {"hardware h {\n", "memory M { x\n", "}", false},
    {"use a", ".b", "", true},
    {"model m() { ", "\n}\n", "", false},
    {"sweep s of m { a in ", "[", "", false},
  };
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
    size_t len, errors, quarter_errors;
    char *text = repeated(inputs[i].head, inputs[i].unit, times, inputs[i].tail, &len);
    double slow = seconds(text, len, &errors), quick = 0;
    free(text);
    if (slow >= 0.5) {
      char *quarter = repeated(inputs[i].head, inputs[i].unit, times / 4, inputs[i].tail, &len);
      quick = seconds(quarter, len, &quarter_errors);
      free(quarter);
    }
    bool linear = slow < 0.5 || slow < 10 * quick;
    if (inputs[i].valid != (errors == 0) || !linear)
      print_error("\"%s%s…%s\": %zu errors, %.3f s, %.3f s for a quarter\n", inputs[i].head, inputs[i].unit, inputs[i].tail, errors, slow, quick);
    assert_int_equal(errors == 0, inputs[i].valid);
    assert_true(linear);
  }
}

static void test_bytes(void **state) {
  (void)state;
  assert_int_equal(errors_of("const A = 1\0 + 2", 16), 1);
  assert_int_equal(errors_of("# caf\xE9", 6), 1);
  assert_int_equal(errors_of("\xFF\xFE" "c\0", 4), 1);
  assert_int_equal(errors_of("\xC3", 1), 1);
  char bytes[256];
  for (int i = 0; i < 256; i++) bytes[i] = (char)i;
  assert_int_equal(errors_of(bytes, sizeof bytes), 1);
  for (int i = 0; i < 256; i++) { /* every byte alone, and in a program */
    char one = (char)i, program[] = "const A = 1 ? + 2\n";
    errors_of(&one, 1);
    program[12] = one;
    errors_of(program, strlen(program));
  }
  size_t len;
  char *text = repeated("", "# a comment that goes on and on and on\n", (16 << 20) / 39 + 1, "", &len);
  assert_int_equal(errors_of(text, len), 1);
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_precedence),    cmocka_unit_test(test_numbers),       cmocka_unit_test(test_words_are_names),
    cmocka_unit_test(test_docs_and_layout), cmocka_unit_test(test_cases_parse), cmocka_unit_test(test_every_rule),
    cmocka_unit_test(test_three_mistakes), cmocka_unit_test(test_mutations),    cmocka_unit_test(test_hostile),
    cmocka_unit_test(test_bytes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
