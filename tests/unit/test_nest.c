/* Nests: tiles and places as the rules say, and every refusal with its reason. */
#include "compiled.h"

#include <malloc.h>
#include <string.h>

static const char gemm[] = "workload g(M = 7, N = 6, K = 5) {\n"
                           "  dim m = M, n = N, k = K\n"
                           "  C[m, n] += A[m, k] * B[k, n]\n"
                           "}\n"
                           "hardware h(P = 8, Q = 256) {\n"
                           "  memory DRAM array PE[x = P, y = 3] array Q[x = Q] memory RF compute MAC\n"
                           "}\n";

/* A mapping of gemm with the given head, arguments and body, made with the defaults of its parameters. */
static counted make(compiled *c, const char *head, const char *of, const char *on, const char *body) {
  nst_buffer text = {0};
  counted n;
  nst_buffer_printf(&text, "%smapping x%s of g%s on h%s { %s }\n", gemm, head, of, on, body);
  compile_text(c, "x.nest", text.text, text.len);
  nst_buffer_fini(&text);
  if (!c->program) fail_msg("%s", compiled_messages(c));
  assert_null(nst_ir_verify_mapping(c->arena, c->program->mappings[0]));
  count_mapping(&n, c, c->program->mappings[0], NULL, 0);
  return n;
}

static void done(compiled *c, counted *n) {
  counted_fini(n);
  compiled_fini(c);
}

/* Tiles and counts of the splits, in order. */
static void splits(const char *of, const char *body, int n, const int64_t *tiles, const int64_t *counts) {
  compiled c;
  counted x = make(&c, "", of, "", body);
  if (!x.nest) fail_msg("%s", compiled_messages(&c));
  int found = 0;
  for (int i = 0; i < x.m->nnodes; i++) {
    const nst_ir_node *node = x.m->nodes[i];
    if (node->kind != NST_NODE_FOR && node->kind != NST_NODE_PAR) continue;
    assert_true(found < n);
    assert_int_equal(x.nest->tile[i], tiles[found]);
    assert_int_equal(x.nest->count[i], counts[found]);
    found++;
  }
  assert_int_equal(found, n);
  done(&c, &x);
}

static void test_splits(void **state) {
  (void)state;
  splits("", "for m by 4 for m by 3 for m", 3, (int64_t[]){4, 3, 1}, (int64_t[]){2, 2, 3});
  splits("", "for m into 3 for m into 2", 2, (int64_t[]){3, 2}, (int64_t[]){3, 2});
  splits("", "for m by 100 for m by 2", 2, (int64_t[]){100, 2}, (int64_t[]){1, 4});
  splits("", "for n into 100", 1, (int64_t[]){1}, (int64_t[]){6});
  /* by-less pars: the places left on the axis are the size over the product of the counts outside, rounded down. */
  splits("", "par m on PE.x par n on PE.y", 2, (int64_t[]){1, 2}, (int64_t[]){7, 3});
  splits("", "par k by 3 on PE.x par m on PE.x", 2, (int64_t[]){3, 2}, (int64_t[]){2, 4});
  splits("", "par m by 3 on PE.x par n on PE.x", 2, (int64_t[]){3, 3}, (int64_t[]){3, 2}); /* 8 / 3 = 2 places */
  splits("", "for m by 4 par m into 2 on PE.y", 2, (int64_t[]){4, 2}, (int64_t[]){2, 2});
  splits("(1, 1, 1)", "for m par n on PE.x", 2, (int64_t[]){1, 1}, (int64_t[]){1, 1});
}

static void refuses(const char *head, const char *of, const char *body, const char *code, const char *part) {
  compiled c;
  counted x = make(&c, head, of, "", body);
  const char *text = compiled_messages(&c);
  assert_null(x.nest);
  if (!strstr(text, code)) fail_msg("no %s in:\n%s", code, text);
  if (!strstr(text, part)) fail_msg("not \"%s\" in:\n%s", part, text);
  done(&c, &x);
}

static void test_pars_that_do_not_fit(void **state) {
  (void)state;
  refuses("", "(28)", "par m by 1 on PE.x", "E0691", "par m needs 28 places on PE.x, which has 8");
  refuses("", "(28)", "par m by 1 on PE.x", "E0691", "tiles of at least 4 fit");
  refuses("", "(14, 7, 6)", "par m by 1 on Q.x par n by 1 on Q.x for m par k by 1 on Q.x", "E0691",
          "the pars on Q.x do not fit: 588 > 256 (14 x 7 x 6)");
  /* The first two exceed already: all three are shown, once. */
  refuses("", "(14, 30, 6)", "par m by 1 on Q.x par n by 1 on Q.x par k by 1 on Q.x", "E0691",
          "2520 > 256 (14 x 30 x 6)");
  /* Nothing is left for a par without `by`. */
  refuses("", "(9)", "par m by 1 on PE.x par n on PE.x", "E0691", "9 > 8 (9 x 1)");
}

static void test_sizes(void **state) {
  (void)state;
  refuses("(t = 0)", "", "for m by t", "E0690", "the tile of m is 0, not a positive integer");
  refuses("(t = 5)", "", "for m by t / 2", "E0690", "the tile of m is 2.5, not a positive integer");
  refuses("(t = 3)", "", "for m by 1 / t", "E0690", "is 1/3");
  refuses("(t = 0)", "", "for m into t", "E0690", "the number of tiles of m is 0");
  refuses("(t = 0)", "", "for m by 4 // t", "E0902", "division by zero");
  refuses("(t = 0)", "", "let u = 12 for m by u // t", "E0902", "division by zero");
  refuses("(t = 4294967296)", "(t, t, t)", "for m", "E0913", "2^63 points");
  refuses("(t = 2)", "", "for m by sqrt(t)", "E0690", "1.4142135623730951");
  compiled c;
  counted x = make(&c, "(t = 16)", "", "", "for m by sqrt(t)"); /* exactly 4 */
  assert_non_null(x.nest);
  assert_int_equal(x.nest->ops, 210);
  done(&c, &x);
  /* Extents are checked anew for every vector of parameters. */
  x = make(&c, "(t = 1)", "(M = t - 1 + 1)", "", "for m");
  nst_value zero = {.kind = NST_VALUE_RAT, .rat = nst_rat_int(0)};
  assert_null(nst_nest_make(x.maker, &zero, c.diags));
  assert_non_null(strstr(compiled_messages(&c), "E0910"));
  assert_non_null(strstr(compiled_messages(&c), "the extent of m is 0, not a positive integer"));
  done(&c, &x);
}

/* Several faults of one call are reported together. */
static void test_together(void **state) {
  (void)state;
  compiled c;
  counted x = make(&c, "(t = 0)", "", "", "for m by t for n by t for k into t");
  assert_null(x.nest);
  assert_int_equal(nst_diags_errors(c.diags), 3);
  done(&c, &x);
}

/* A failure in one call leaves the next as if it had not been. */
static void test_reuse(void **state) {
  (void)state;
  compiled c;
  counted x = make(&c, "(t = 3, u = 4)", "(8, 8, 8)", "", "for m by t for n into u par k by t on PE.y keep A in RF");
  nst_value params[2] = {{.kind = NST_VALUE_RAT, .rat = {3, 1}}, {.kind = NST_VALUE_RAT, .rat = {4, 1}}};
  for (int round = 0; round < 3; round++) {
    params[0].rat = nst_rat_int(0);
    assert_null(nst_nest_make(x.maker, params, NULL));
    params[0].rat = nst_rat_int(2); /* 4 places of 3 */
    assert_null(nst_nest_make(x.maker, params, NULL));
    params[0].rat = nst_rat_int(5);
    const nst_nest *nest = nst_nest_make(x.maker, params, NULL);
    assert_non_null(nest);
    for (int i = 0; i < x.m->nnodes; i++) {
      const nst_ir_node *node = x.m->nodes[i];
      if (node->kind == NST_NODE_FOR && node->dim == 1) assert_int_equal(nest->tile[i], 2);
      if (node->kind == NST_NODE_FOR && node->dim == 0) assert_int_equal(nest->count[i], 2);
    }
  }
  done(&c, &x);
}

static void test_ranks(void **state) {
  (void)state;
  static const char text[] = "workload w(a, o) { dim i = 8 Y[i] = X[a * i + o] }\n"
                             "hardware h { memory DRAM compute MAC }\n"
                             "mapping x(a = 3, o = 0) of w(a, o) on h { }\n";
  compiled c;
  compile_text(&c, "x.nest", text, sizeof text - 1);
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  const nst_ir_mapping *m = c.program->mappings[0];
  nst_nest_maker *maker = nst_nest_maker_new(m);
  nst_value params[2] = {{.kind = NST_VALUE_RAT, .rat = {3, 1}}, {.kind = NST_VALUE_RAT, .rat = {-1, 1}}};
  const nst_nest *nest = nst_nest_make(maker, params, c.diags);
  assert_non_null(nest);
  assert_int_equal(nest->stmts[0].in[0].ranks[0].coef[0], 3);
  assert_int_equal(nest->stmts[0].in[0].ranks[0].offset, -1);
  assert_int_equal(nest->stmts[0].in[0].ranks[0].size, -1);
  params[0].rat = (nst_rat){INT64_C(1) << 59, 1}; /* 7 * 2^59 + 1 is within 2^62 */
  assert_non_null(nst_nest_make(maker, params, NULL));
  params[0].rat = (nst_rat){INT64_C(1) << 60, 1};
  assert_null(nst_nest_make(maker, params, c.diags));
  params[0].rat = (nst_rat){1, 2};
  assert_null(nst_nest_make(maker, params, c.diags));
  params[0].rat = (nst_rat){INT64_MAX, 1};
  assert_null(nst_nest_make(maker, params, c.diags));
  const char *messages = compiled_messages(&c);
  assert_non_null(strstr(messages, "E0914"));
  assert_non_null(strstr(messages, "rank 1 of X takes values past 2^62"));
  assert_non_null(strstr(messages, "E0911"));
  assert_non_null(strstr(messages, "is 0.5, not an integer"));
  nst_nest_maker_free(maker);
  compiled_fini(&c);
}

/* What the contract asks for: about two microseconds for a convolution of seven dimensions. */
static void test_again_allocates_nothing(void **state) {
  (void)state;
  static const char text[] =
    "workload conv(N, K, C, P, Q, R, S, st = 2) {\n"
    "  dim n = N, k = K, c = C, p = P, q = Q, r = R, s = S\n"
    "  tensor I[N, C, st * P, st * Q], W : int8, O : int32\n"
    "  O[n, k, p, q] += W[k, c, r, s] * I[n, c, st*p + r - 1, st*q + s - 1]\n"
    "}\n"
    "hardware h { memory DRAM { bandwidth = 32 B/cycle energy = 100 pJ/B } memory GLB { capacity = 128 KiB energy = 1 "
    "pJ/B }\n"
    "  array PE[x = 16, y = 16] memory RF { capacity = 512 B energy = 0.1 pJ/B } compute MAC { energy = 0.5 pJ } }\n"
    "mapping x(tk = 16, tc = 16, tp = 7, tq = 7) of conv(1, 64, 64, 56, 56, 3, 3) on h {\n"
    "  for k by tk for c by tc for p by tp for q by tq keep W, I, O in GLB\n"
    "  for r by 1 for s by 1 par k on PE.x par c on PE.y keep W, I, O in RF }\n";
  compiled c;
  compile_text(&c, "x.nest", text, sizeof text - 1);
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  nst_nest_maker *maker = nst_nest_maker_new(c.program->mappings[0]);
  nst_value params[4];
  size_t before = 0;
  for (int i = 0; i < 600; i++) {
    for (int p = 0; p < 4; p++) params[p] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(16 + i % 3)};
    assert_non_null(nst_nest_make(maker, params, NULL));
    if (i == 300) before = mallinfo2().uordblks; /* scratch has reached its size */
  }
  if (!TEST_SANITIZED) assert_int_equal(mallinfo2().uordblks, before);
  nst_nest_maker_free(maker);
  compiled_fini(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_splits), cmocka_unit_test(test_pars_that_do_not_fit),
    cmocka_unit_test(test_sizes),  cmocka_unit_test(test_together),
    cmocka_unit_test(test_reuse),  cmocka_unit_test(test_ranks),
    cmocka_unit_test(test_again_allocates_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
