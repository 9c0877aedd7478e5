/* nestor_program_new_on: whatever stands behind a base, the program is the one that nestor_program_new makes: the same messages, declarations and IR, and the
 * same fuel to the step. */
#include "test.h"

#include <nestor/nestor.h>
#include <stdio.h>
#include <string.h>

#define GEMM "workload gemm(M = 8, N = 6, K = 5) {\n  dim m = M, n = N, k = K\n  C[m, n] += A[m, k] * B[k, n]\n}\n"
#define HARDWARE "hardware h { # a machine\n  memory DRAM { energy = 100 pJ/B }\n  memory GLB { capacity = 200 B }\n  compute MAC\n}\n"
#define UNUSED "hardware h { # a machine with a message\n  memory DRAM\n  memory GLB { capacity = 0 B }\n  compute MAC\n}\n"
#define MAPPING "mapping x(t = 4) of gemm on h {\n  keep all in DRAM\n  for m by t\n  keep all in GLB\n  compute\n}\n"

static const char *const bases[] = {
  GEMM HARDWARE,
  "const S = 3\n" GEMM "## of the shelf\n" HARDWARE "\n\n",
  "\xEF\xBB\xBF" GEMM HARDWARE,
  GEMM UNUSED,
  GEMM HARDWARE MAPPING,
  GEMM HARDWARE "model f(m) { out y = m * 2 }\n",
  "use std.hardware.edge\n" GEMM HARDWARE,
  GEMM HARDWARE "# what follows is the answer\n", /* these can be no base, and change nothing */
  GEMM HARDWARE "const S = 3\n",
  GEMM "hardware h { compute MAC }",
  GEMM "hardware h { compute MAC }\nmapping y of gemm on h {\n",
  GEMM "hardware h { compute MAC }}\n",
  "",
};

static const char *const rests[] = {
  "", "\n", MAPPING, "## tiled\n" MAPPING "# the end", "# a word\n" MAPPING "test of x { expect fits }\n", "const Z = S + 1\n" MAPPING,
  "mapping x of gemm(M = Z) on h { for m }\nconst Z = 7\n",
  /* wrong in what it says */
  GEMM MAPPING, "mapping x of gemm on hh { for m }\n", "mapping x of gem on h { for q }\n", "mapping gemm of gemm on h { for m keep A in GLBB }\n",
  "use std.hardware.edge\n" MAPPING, "workload w { dim i = 4  y[i] = z[i] }\n" MAPPING MAPPING, "mapping x of gemm on h { for m by 0 }\n",
  "hardware g { memory M { capcity = 3 B } compute C }\nmapping x of gemm on g { for m for m by gemm }",
  /* wrong in how it is written */
  "}", "} " MAPPING, "{ memory X }", ";" MAPPING, ", = 3", "+ 2", "= 3\n" MAPPING, "mapping x of gemm on h { for m", "mapping x gemm h { }\n" MAPPING,
  "\xEF\xBB\xBF" MAPPING, "mapping \xD0\xB0 of gemm on h { }", "mapping x of gemm on h { for m \x1b }", "\xFF\xFE", "/* */" MAPPING,
  "mapping x of gemm on h { for m by 2p keep all in \"GLB\" }", "\"text", "    }\n  }\n" MAPPING, "memory GLB { }\ncompute\n" MAPPING,
  "mapping x of gemm on h {\n  for m\n    for n {\n  compute\n}\n", "mapping x of gemm on h { for m && n }", "mapping x of gemm on h { for m by (((((1)) }",
};

static void assert_same_text(const nestor_program *a, const nestor_program *b, const char *stage) {
  nestor_buffer *x = nestor_buffer_new(), *y = nestor_buffer_new();
  if (stage) {
    assert_int_equal(nestor_program_emit(a, stage, x), nestor_program_emit(b, stage, y));
  } else {
    nestor_diagnostics_text(nestor_program_diagnostics(a), false, x);
    nestor_diagnostics_json(nestor_program_diagnostics(a), x);
    nestor_diagnostics_text(nestor_program_diagnostics(b), false, y);
    nestor_diagnostics_json(nestor_program_diagnostics(b), y);
  }
  assert_string_equal(nestor_buffer_data(x), nestor_buffer_data(y));
  nestor_buffer_free(x);
  nestor_buffer_free(y);
}

static void assert_same(const nestor_program *a, const nestor_program *b) {
  assert_int_equal(nestor_program_status(a), nestor_program_status(b));
  assert_same_text(a, b, NULL);
  assert_int_equal(nestor_program_declarations(a), nestor_program_declarations(b));
  nestor_declaration d, e;
  for (size_t i = 0; nestor_program_declaration(a, i, &d); i++) {
    assert_true(nestor_program_declaration(b, i, &e));
    assert_true(d.kind == e.kind && d.offset == e.offset && d.size == e.size && !strcmp(d.name ? d.name : "", e.name ? e.name : ""));
  }
  for (const char *const *stage = (const char *const[]){"ast", "ir", NULL}; *stage; stage++) assert_same_text(a, b, *stage);
}

static void everything_is_the_same(nestor_stage made_by) {
  nestor_session *s = nestor_session_new();
  for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
    nestor_program *base = nestor_program_new(s, "base", bases[i], strlen(bases[i]), made_by);
    for (size_t k = 0; k < sizeof rests / sizeof *rests; k++) {
      char text[2048];
      const int n = snprintf(text, sizeof text, "%s%s", bases[i], rests[k]);
      for (int stage = NESTOR_STAGE_PARSE; stage <= NESTOR_STAGE_CHECK; stage++) {
        nestor_program *plain = nestor_program_new(s, "t.nest", text, (size_t)n, (nestor_stage)stage);
        nestor_program *on = nestor_program_new_on(s, base, "t.nest", text, (size_t)n, (nestor_stage)stage);
        assert_same(plain, on);
        nestor_program_free(plain);
        nestor_program_free(on);
      }
    }
    nestor_program_free(base);
  }
  nestor_session_free(s);
}

static void everything_is_the_same_on_a_parsed_base(void **state) {
  (void)state;
  everything_is_the_same(NESTOR_STAGE_PARSE);
}
static void everything_is_the_same_on_a_checked_base(void **state) {
  (void)state;
  everything_is_the_same(NESTOR_STAGE_CHECK);
}

/* Where fuel ends is a place in the checks: it must not move by a step, nor what is said there. */
static void fuel_is_the_same(nestor_stage made_by) {
  static const char text[] = GEMM HARDWARE MAPPING;
  nestor_session *s = nestor_session_new();
  int starved = 0, good = 0;
  for (uint64_t fuel = 1; good < 3; fuel += 7) {
    nestor_session_set_limits(s, (nestor_limits){.fuel = fuel});
    nestor_program *base = nestor_program_new(s, "base", text, sizeof GEMM HARDWARE - 1, made_by);
    nestor_program *plain = nestor_program_new(s, "t.nest", text, sizeof text - 1, NESTOR_STAGE_CHECK);
    nestor_program *on = nestor_program_new_on(s, base, "t.nest", text, sizeof text - 1, NESTOR_STAGE_CHECK);
    assert_same(plain, on);
    *(nestor_program_status(on) == NESTOR_OK ? &good : &starved) += 1;
    nestor_program_free(plain);
    nestor_program_free(on);
    nestor_program_free(base);
  }
  assert_true(starved > 10);
  nestor_session_free(s);
}

static void fuel_is_the_same_on_a_parsed_base(void **state) {
  (void)state;
  fuel_is_the_same(NESTOR_STAGE_PARSE);
}
static void fuel_is_the_same_on_a_checked_base(void **state) {
  (void)state;
  fuel_is_the_same(NESTOR_STAGE_CHECK);
}

/* A base that had more fuel or less, or messages. */
static void bases_of_other_limits_change_nothing(void **state) {
  (void)state;
  static const char text[] = GEMM HARDWARE MAPPING, heavy[] = GEMM UNUSED MAPPING;
  for (size_t i = 0; i < 2; i++) {
    const char *whole = i ? heavy : text;
    const size_t head = strlen(whole) - strlen(MAPPING);
    for (uint64_t fuel = 200; fuel < 4000; fuel += 200) {
      nestor_session *given = nestor_session_new(), *s = nestor_session_new();
      nestor_session_set_limits(given, (nestor_limits){.fuel = 2000});
      nestor_session_set_limits(s, (nestor_limits){.fuel = fuel});
      nestor_program *base = nestor_program_new(given, "base", whole, head, NESTOR_STAGE_CHECK);
      nestor_program *plain = nestor_program_new(s, "t.nest", whole, strlen(whole), NESTOR_STAGE_CHECK);
      nestor_program *on = nestor_program_new_on(s, base, "t.nest", whole, strlen(whole), NESTOR_STAGE_CHECK);
      assert_same(plain, on);
      nestor_program_free(on);
      nestor_program_free(plain);
      nestor_program_free(base);
      nestor_session_free(given);
      nestor_session_free(s);
    }
  }
}

/* A program on a base is a base itself; the first must outlive both. */
static void a_base_on_a_base(void **state) {
  (void)state;
  static const char text[] = GEMM HARDWARE MAPPING "mapping z of gemm on h { for n by 2 }\n";
  nestor_session *s = nestor_session_new();
  nestor_program *first = nestor_program_new(s, "base", text, sizeof GEMM HARDWARE - 1, NESTOR_STAGE_CHECK);
  nestor_program *second = nestor_program_new_on(s, first, "base", text, sizeof GEMM HARDWARE MAPPING - 1, NESTOR_STAGE_CHECK);
  nestor_program *plain = nestor_program_new(s, "t.nest", text, sizeof text - 1, NESTOR_STAGE_CHECK);
  nestor_program *on = nestor_program_new_on(s, second, "t.nest", text, sizeof text - 1, NESTOR_STAGE_CHECK);
  assert_same(plain, on);
  nestor_program_free(on);
  nestor_program_free(plain);
  nestor_program_free(second);
  nestor_program_free(first);
  nestor_session_free(s);
}

/* A base of another text, of another stage, and none. */
static void other_bases_change_nothing(void **state) {
  (void)state;
  static const char text[] = GEMM HARDWARE MAPPING, other[] = "workload other { dim i = 3  y[i] = z[i] }\n";
  nestor_session *s = nestor_session_new();
  nestor_program *plain = nestor_program_new(s, "t.nest", text, sizeof text - 1, NESTOR_STAGE_CHECK);
  nestor_program *of[] = {NULL, nestor_program_new(s, "o", other, sizeof other - 1, NESTOR_STAGE_PARSE),
                          nestor_program_new(s, "o", text, sizeof GEMM - 1, NESTOR_STAGE_CHECK),
                          nestor_program_new(s, "o", text, sizeof text - 1, NESTOR_STAGE_PARSE)};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    nestor_program *on = nestor_program_new_on(s, of[i], "t.nest", text, sizeof text - 1, NESTOR_STAGE_CHECK);
    assert_same(plain, on);
    nestor_program_free(on);
    nestor_program_free(of[i]);
  }
  nestor_program_free(plain);
  nestor_session_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(everything_is_the_same_on_a_parsed_base),  cmocka_unit_test(everything_is_the_same_on_a_checked_base),
    cmocka_unit_test(fuel_is_the_same_on_a_parsed_base),        cmocka_unit_test(fuel_is_the_same_on_a_checked_base),
    cmocka_unit_test(bases_of_other_limits_change_nothing),     cmocka_unit_test(other_bases_change_nothing),
    cmocka_unit_test(a_base_on_a_base),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
