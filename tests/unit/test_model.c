/* Taking a program apart by its declarations, and running models through the
 * public header: values of each kind, what is undefined and why, the fuel. */
#include "test.h"

#include <math.h>
#include <nestor/nestor.h>
#include <string.h>

static nestor_program *compile(const char *text, nestor_stage stage) {
  nestor_session *s = nestor_session_new();
  nestor_program *p = nestor_program_new(s, "t.nest", text, strlen(text), stage);
  nestor_session_free(s);
  return p;
}

static const char all_kinds[] =
  "use std.workloads.gemm\n"
  "# a remark\n"
  "const TM = 4, TN = 8\n"
  "\n"
  "## A product.\n"
  "## Of two.\n"
  "workload w(M = 4) { dim m = M tensor A, B B[m] = A[m] }\n"
  "hardware h { memory D compute C } mapping x of w on h { compute }\n"
  "test \"t\" of x { expect fits }\n"
  "model f(M) { out a = M } ## not of the next\n"
  "verify f against x { a == reads(D, A) over M in [1] }\n"
  "sweep s of x { minimize energy }\n";

static void expect_decl(const nestor_program *p, size_t i, nestor_declaration_kind kind, const char *name,
                        const char *begin, const char *end) {
  nestor_declaration d;
  assert_true(nestor_program_declaration(p, i, &d));
  assert_int_equal(d.kind, kind);
  if (name) assert_string_equal(d.name, name);
  else assert_null(d.name);
  assert_true(d.size >= strlen(begin) && d.size >= strlen(end));
  assert_memory_equal(all_kinds + d.offset, begin, strlen(begin));
  assert_memory_equal(all_kinds + d.offset + d.size - strlen(end), end, strlen(end));
}

static void test_declarations(void **state) {
  (void)state;
  /* It parses, and much in it is wrong. */
  for (int stage = NESTOR_STAGE_PARSE; stage <= NESTOR_STAGE_CHECK; stage++) {
    nestor_program *p = compile(all_kinds, (nestor_stage)stage);
    assert_int_equal(nestor_program_status(p), stage == NESTOR_STAGE_PARSE ? NESTOR_OK : NESTOR_ERROR);
    assert_int_equal(nestor_program_declarations(p), 9);
    expect_decl(p, 0, NESTOR_DECLARATION_USE, NULL, "use std", "gemm");
    expect_decl(p, 1, NESTOR_DECLARATION_CONST, "TM", "const TM", "TN = 8");
    expect_decl(p, 2, NESTOR_DECLARATION_WORKLOAD, "w", "## A product.", "A[m] }");
    expect_decl(p, 3, NESTOR_DECLARATION_HARDWARE, "h", "hardware h", "C }");
    expect_decl(p, 4, NESTOR_DECLARATION_MAPPING, "x", "mapping x", "compute }");
    expect_decl(p, 5, NESTOR_DECLARATION_TEST, NULL, "test \"t\"", "fits }");
    expect_decl(p, 6, NESTOR_DECLARATION_MODEL, "f", "model f", "M }");
    expect_decl(p, 7, NESTOR_DECLARATION_VERIFY, NULL, "verify f", "}");
    expect_decl(p, 8, NESTOR_DECLARATION_SWEEP, "s", "sweep s", "energy }");
    nestor_declaration d = {.size = 77};
    assert_false(nestor_program_declaration(p, 9, &d));
    assert_int_equal(d.size, 77);
    nestor_program_free(p);
  }
}

static void test_no_declarations(void **state) {
  (void)state;
  static const char *const broken[] = {"workload w { dim m = } hardware h { memory D compute C }", "hardware", "", "\xff",
                                       "const A = 1 const = 2"};
  for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
    nestor_program *p = compile(broken[i], NESTOR_STAGE_CHECK);
    assert_int_equal(nestor_program_declarations(p), 0);
    nestor_program_free(p);
  }
}

static const char models[] =
  "model f(M, tm) {\n"
  "  let tiles = ceildiv(M, tm)\n"
  "  rest = M % tm\n"
  "  out steps = tiles * tm\n"
  "  out share = M / 3\n"
  "  out root = sqrt(M)\n"
  "  out large = M ** 8\n"
  "  out safe = if tm > 0 then rest else 7\n"
  "  out again = safe + 1\n"
  "}\n"
  "model g(n) {\n"
  "  out all = sum(i * j for i in 1 .. n)\n"
  "}\n";

static nestor_value value(const nestor_model *m, size_t out) {
  nestor_value v;
  assert_true(nestor_model_value(m, out, &v));
  return v;
}

static void expect_integer(const nestor_model *m, size_t out, int64_t integer) {
  const nestor_value v = value(m, out);
  assert_int_equal(v.kind, NESTOR_VALUE_INTEGER);
  assert_true(v.integer == integer && v.real == (double)integer);
}

static void test_models(void **state) {
  (void)state;
  nestor_program *p = compile(models, NESTOR_STAGE_CHECK);
  assert_int_equal(nestor_program_models(p), 0); /* j is unknown */
  assert_true(nestor_program_find_model(p, "f") == SIZE_MAX);
  assert_null(nestor_model_new(p, 0));
  nestor_program_free(p);

  char text[sizeof models];
  memcpy(text, models, sizeof models);
  *strstr(text, "j for") = 'i';
  p = compile(text, NESTOR_STAGE_CHECK);
  assert_int_equal(nestor_program_models(p), 2);
  assert_int_equal(nestor_program_find_model(p, "f"), 0);
  assert_int_equal(nestor_program_find_model(p, "g"), 1);
  assert_true(nestor_program_find_model(p, "h") == SIZE_MAX);
  nestor_model_info info;
  assert_true(nestor_program_model(p, 0, &info));
  assert_string_equal(info.name, "f");
  assert_int_equal(info.params, 2);
  assert_int_equal(info.outs, 6);
  assert_false(nestor_program_model(p, 2, &info));
  assert_string_equal(nestor_program_model_param(p, 0, 1), "tm");
  assert_null(nestor_program_model_param(p, 0, 2));
  assert_string_equal(nestor_program_model_out(p, 0, 0), "steps");
  assert_string_equal(nestor_program_model_out(p, 0, 5), "again");
  assert_null(nestor_program_model_out(p, 0, 6));
  assert_null(nestor_program_model_out(p, 2, 0));
  assert_null(nestor_model_new(p, 2));

  nestor_model *m = nestor_model_new(p, 0);
  nestor_value v;
  assert_false(nestor_model_value(m, 0, &v)); /* no run yet */
  assert_int_equal(nestor_diagnostics_count(nestor_model_diagnostics(m)), 0);
  assert_int_equal(nestor_model_run(m, (int64_t[]){100, 32}), NESTOR_OK);
  expect_integer(m, 0, 128);
  v = value(m, 1);
  assert_true(v.kind == NESTOR_VALUE_FRACTION && v.integer == 0 && v.real == 100.0 / 3);
  expect_integer(m, 2, 10);
  expect_integer(m, 3, 10000000000000000);
  expect_integer(m, 4, 4);
  expect_integer(m, 5, 5);
  assert_false(nestor_model_value(m, 6, &v));
  assert_int_equal(nestor_diagnostics_count(nestor_model_diagnostics(m)), 0);
  nestor_model_free(m);
  nestor_program_free(p);
}

static void test_undefined(void **state) {
  (void)state;
  char text[sizeof models];
  memcpy(text, models, sizeof models);
  *strstr(text, "j for") = 'i';
  nestor_program *p = compile(text, NESTOR_STAGE_CHECK);
  nestor_model *m = nestor_model_new(p, 0);
  /* tiles and rest have no value: steps needs one, safe does not. */
  assert_int_equal(nestor_model_run(m, (int64_t[]){300, 0}), NESTOR_OK);
  assert_int_equal(value(m, 0).kind, NESTOR_VALUE_UNDEFINED);
  assert_true(isnan(value(m, 0).real));
  expect_integer(m, 1, 100);
  assert_int_equal(value(m, 3).kind, NESTOR_VALUE_UNDEFINED); /* 300^8 */
  expect_integer(m, 4, 7);
  expect_integer(m, 5, 8);
  const nestor_diagnostics *d = nestor_model_diagnostics(m);
  assert_int_equal(nestor_diagnostics_count(d), 3);
  nestor_diagnostic one;
  nestor_diagnostics_get(d, 0, &one);
  assert_string_equal(one.code, "E0902");
  assert_string_equal(one.message, "the value of tiles: division by zero");
  assert_int_equal(one.line, 2);
  nestor_diagnostics_get(d, 1, &one);
  assert_string_equal(one.message, "the value of rest: division by zero");
  nestor_diagnostics_get(d, 2, &one);
  assert_string_equal(one.code, "E0930");
  assert_string_equal(one.message, "the output `large` is past 2^63-1");
  /* The next run is as good as new. */
  assert_int_equal(nestor_model_run(m, (int64_t[]){9, 3}), NESTOR_OK);
  expect_integer(m, 0, 9);
  expect_integer(m, 2, 3);
  assert_int_equal(nestor_diagnostics_count(nestor_model_diagnostics(m)), 0);
  assert_int_equal(nestor_model_run(m, (int64_t[]){-1, 3}), NESTOR_OK);
  assert_int_equal(value(m, 2).kind, NESTOR_VALUE_UNDEFINED);
  nestor_diagnostics_get(nestor_model_diagnostics(m), 0, &one);
  assert_string_equal(one.code, "E0903");
  nestor_model_free(m);

  m = nestor_model_new(p, 1);
  assert_int_equal(nestor_model_run(m, (int64_t[]){1000000}), NESTOR_OK);
  expect_integer(m, 0, 333333833333500000);
  assert_int_equal(nestor_model_run(m, (int64_t[]){INT64_MAX}), NESTOR_OK);
  nestor_diagnostics_get(nestor_model_diagnostics(m), 0, &one);
  assert_string_equal(one.code, "E0904");
  nestor_model_free(m);
  nestor_program_free(p);
}

static void test_no_end(void **state) {
  (void)state;
  nestor_program *p = compile("model f(n) { out a = n out b = sum(sum(sum(i for i in 1 .. n) for j in 1 .. n) for k in 1 .. n)"
                              " out c = n }", NESTOR_STAGE_CHECK);
  nestor_model *m = nestor_model_new(p, 0);
  nestor_value v;
  assert_int_equal(nestor_model_run(m, (int64_t[]){1 << 20}), NESTOR_ERROR);
  assert_false(nestor_model_value(m, 0, &v));
  nestor_diagnostic one;
  assert_int_equal(nestor_diagnostics_count(nestor_model_diagnostics(m)), 1);
  nestor_diagnostics_get(nestor_model_diagnostics(m), 0, &one);
  assert_string_equal(one.code, "E0906");
  assert_int_equal(nestor_model_run(m, (int64_t[]){3}), NESTOR_OK);
  expect_integer(m, 1, 54);
  nestor_model_free(m);
  nestor_model_free(NULL);
  nestor_program_free(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_declarations), cmocka_unit_test(test_no_declarations), cmocka_unit_test(test_models),
    cmocka_unit_test(test_undefined),    cmocka_unit_test(test_no_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
