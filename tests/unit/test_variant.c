/* Variants against mappings that are written out by hand: each order of the
 * loops, each choice of the keep?, cascades with branch keeps that give way. */
#include "test.h"

#include "backend/variant.h"
#include "compiled.h"
#include <stdio.h>
#include <string.h>

static compiled c;

static const nst_ir_mapping *compile(const char *text) {
  compile_text(&c, "variant.nest", text, strlen(text));
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  return c.program->mappings[0];
}

/* What a mapping moves, as text: counters are compared, so that nodes may differ in spans. */
static char *counts_of(const nst_ir_mapping *m) {
  counted n;
  count_mapping(&n, &c, m, NULL, 0);
  if (!n.counts) fail_msg("%s", compiled_messages(&c));
  nst_buffer b = {0};
  for (int s = 0; s < n.counts->nstmts; s++)
    for (int l = 0; l < n.counts->nlevels; l++)
      for (int t = 0; t < n.counts->ntensors; t++) {
        const nst_moves *x = nst_counts_at(n.counts, s, l, t);
        nst_rat usage = nst_rat_int(0);
        nst_metrics_usage(&usage, n.nest, n.counts, l, t);
        nst_buffer_printf(&b, "%d %d %d: %lld %lld %lld %lld usage ", s, l, t, (long long)x->reads, (long long)x->fills,
                          (long long)x->updates, (long long)x->drains);
        nst_expr_print_number(&b, usage);
        nst_buffer_putc(&b, '\n');
      }
  char *text = nst_arena_strndup(c.arena, b.text, b.len);
  nst_buffer_fini(&b);
  counted_fini(&n);
  return text;
}

static nst_variants variants_of(const nst_ir_mapping *m) {
  nst_variants v;
  assert_null(nst_variants_init(&v, c.arena, m));
  return v;
}

static const nst_ir_mapping *variant(const nst_variants *v, uint64_t number) {
  const nst_ir_mapping *m = nst_variant_make(c.arena, v, number);
  assert_null(nst_ir_verify_mapping(c.arena, m));
  return m;
}

#define HEAD                                                                                                           \
  "workload gemm(M = 8, N = 12, K = 10) {\n"                                                                           \
  "  dim m = M, n = N, k = K\n  tensor A, B : int8, C : int32\n"                                                       \
  "  C[m, n] += A[m, k] * B[k, n]\n}\n"                                                                                \
  "hardware hw { memory DRAM memory L2 memory L1 compute MAC }\n"

static const char *const loops[] = {"for m by 4 ", "for n by 5 ", "for k by 3 "};

static void orders_are_lexicographic(void **state) {
  (void)state;
  const nst_ir_mapping *m =
    compile(HEAD "mapping x of gemm on hw { permute { for m by 4 for n by 5 for k by 3 } keep all in L2 "
                 "permute { for m by 2 for k by 2 } keep all in L1 }");
  const nst_variants v = variants_of(m);
  assert_int_equal(v.npermutes, 2);
  assert_int_equal(v.norders[0], 6);
  assert_int_equal(v.norders[1], 2);
  assert_int_equal(v.count, 12);
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  char *expected[12];
  const nst_variants kept = v;
  const compiled mine = c;
  for (uint64_t i = 0; i < 6; i++) {
    int place[3];
    nst_variant_order(&v, 0, i, place);
    assert_memory_equal(place, orders[i], sizeof place);
  }
  for (int number = 0; number < 12; number++) {
    char text[1024];
    const int *o = orders[number / 2];
    snprintf(text, sizeof text, HEAD "mapping x of gemm on hw { %s%s%s keep all in L2 %s keep all in L1 }", loops[o[0]],
             loops[o[1]], loops[o[2]], number % 2 ? "for k by 2 for m by 2" : "for m by 2 for k by 2");
    const char *counts = counts_of(compile(text));
    expected[number] = nst_arena_strndup(mine.arena, counts, strlen(counts));
    compiled_fini(&c);
  }
  c = mine;
  for (uint64_t number = 0; number < 12; number++) {
    const nst_ir_mapping *x = variant(&kept, number);
    for (int i = 0; i < x->nnodes; i++) assert_int_equal(x->nodes[i]->permute, -1);
    assert_string_equal(counts_of(x), expected[number]);
  }
  assert_string_equal(counts_of(m), expected[0]);
  compiled_fini(&c);
}

static void long_orders_are_all_different(void **state) {
  (void)state;
  const nst_ir_mapping *m =
    compile("workload w { dim a = 4, b = 4, c = 4, d = 4, e = 4 Y[a, b] += X[c, d] * Z[e] }\n"
            "hardware hw { memory DRAM memory L1 compute MAC }\n"
            "mapping x of w on hw { permute { for a for b for c for d for e } keep all in L1 }");
  const nst_variants v = variants_of(m);
  assert_int_equal(v.count, 120);
  int before[5] = {-1};
  for (uint64_t number = 0; number < 120; number++) {
    int place[5], used = 0, first = 0;
    nst_variant_order(&v, 0, number, place);
    for (int i = 0; i < 5; i++) used |= 1 << place[i];
    assert_int_equal(used, 31);
    while (first < 5 && place[first] == before[first]) first++;
    assert_true(number == 0 || (first < 5 && place[first] > before[first])); /* after the one before */
    memcpy(before, place, sizeof place);
    const nst_ir_mapping *x = variant(&v, number);
    int at = 0;
    for (const nst_ir_node *n = x->root; n; n = n->next)
      if (n->kind == NST_NODE_FOR) assert_int_equal(n->dim, place[at++]);
    assert_int_equal(at, 5);
  }
  compiled_fini(&c);
}

/* Each variant's text is written out by hand, in the order of the numbers. */
static void check(const char *template, const char *const *texts, int n) {
  char *expected[8];
  nst_arena *arena = nst_arena_new();
  for (int i = 0; i < n; i++) {
    const char *counts = counts_of(compile(texts[i]));
    expected[i] = nst_arena_strndup(arena, counts, strlen(counts));
    compiled_fini(&c);
  }
  const nst_ir_mapping *m = compile(template);
  const nst_variants v = variants_of(m);
  assert_int_equal(v.count, n);
  for (int i = 0; i < n; i++) {
    const nst_ir_mapping *x = variant(&v, (uint64_t)i);
    assert_string_equal(counts_of(x), expected[i]);
    for (int k = 0; k < x->nnodes; k++) assert_false(x->nodes[k]->optional);
  }
  compiled_fini(&c);
  nst_arena_free(arena);
}

static void keeps_are_kept_or_dropped(void **state) {
  (void)state;
  const char *const texts[] = {
    HEAD "mapping x of gemm on hw { for m by 4 keep A, B, C in L2 for k by 3 keep all in L1 }",
    HEAD "mapping x of gemm on hw { for m by 4 keep B, C in L2 for k by 3 keep all in L1 }",
    HEAD "mapping x of gemm on hw { for m by 4 keep A in L2 for k by 3 keep all in L1 }",
    HEAD "mapping x of gemm on hw { for m by 4 for k by 3 keep all in L1 }",
  };
  check(HEAD "mapping x of gemm on hw { for m by 4 keep? A in L2 keep? B, C in L2 for k by 3 keep all in L1 }", texts,
        4);
}

static void keeps_and_orders_are_numbered_together(void **state) {
  (void)state;
  const char *const texts[] = {
    HEAD "mapping x of gemm on hw { for m by 4 for k by 3 keep A in L2 keep all in L1 }",
    HEAD "mapping x of gemm on hw { for k by 3 for m by 4 keep A in L2 keep all in L1 }",
    HEAD "mapping x of gemm on hw { for m by 4 for k by 3 keep all in L1 }",
    HEAD "mapping x of gemm on hw { for k by 3 for m by 4 keep all in L1 }",
  };
  check(HEAD "mapping x of gemm on hw { permute { for m by 4 for k by 3 } keep? A in L2 keep all in L1 }", texts, 4);
}

#define CHAIN                                                                                                          \
  "workload chain(M = 8, N = 6, K = 5, L = 4) {\n"                                                                     \
  "  dim m = M, n = N, k = K, l = L\n  tensor A, B, D, S, T : int8\n"                                                  \
  "  S[m, n] += A[m, k] * B[k, n]\n  T[m, l] += S[m, n] * D[n, l]\n}\n"                                                \
  "hardware hw { memory DRAM memory L2 memory L1 compute MAC }\n"

static void an_intermediate_that_is_dropped_goes_where_the_language_says(void **state) {
  (void)state;
  const char *const texts[] = {
    CHAIN
    "mapping x of chain on hw { keep all in DRAM for m by 2 keep S in L2 seq { do S { for k by 2 keep all in L1 } "
    "do T { for n by 3 keep all in L1 } } }",
    CHAIN "mapping x of chain on hw { keep all in DRAM for m by 2 seq { do S { for k by 2 keep all in L1 } "
          "do T { for n by 3 keep all in L1 } } }",
  };
  check(CHAIN
        "mapping x of chain on hw { keep all in DRAM for m by 2 keep? S in L2 seq { do S { for k by 2 keep all in L1 } "
        "do T { for n by 3 keep all in L1 } } }",
        texts, 2);
}

static void a_branch_keep_wakes_when_the_shared_one_is_dropped(void **state) {
  (void)state;
  const char *const texts[] = {
    CHAIN "mapping x of chain on hw { keep all in DRAM for m by 2 keep S in L2 seq { do S { for k by 2 keep A in L2 "
          "keep all in L1 } "
          "do T { for n by 3 keep D in L2 keep all in L1 } } }",
    CHAIN
    "mapping x of chain on hw { keep all in DRAM for m by 2 seq { do S { for k by 2 keep A, S in L2 keep all in L1 } "
    "do T { for n by 3 keep D, S in L2 keep all in L1 } } }",
  };
  check(CHAIN "mapping x of chain on hw { keep all in DRAM for m by 2 keep? S in L2 seq { do S { for k by 2 keep A, S "
              "in L2 keep all in L1 } "
              "do T { for n by 3 keep D, S in L2 keep all in L1 } } }",
        texts, 2);
}

static void permutes_in_branches_are_settled(void **state) {
  (void)state;
  const char *const texts[] = {
    CHAIN "mapping x of chain on hw { for m by 2 keep S in L2 seq { do S { for n by 3 for k by 2 keep all in L1 } do T "
          "{ keep all in L1 } } }",
    CHAIN "mapping x of chain on hw { for m by 2 keep S in L2 seq { do S { for k by 2 for n by 3 keep all in L1 } do T "
          "{ keep all in L1 } } }",
  };
  check(CHAIN "mapping x of chain on hw { for m by 2 keep S in L2 seq { do S { permute { for n by 3 for k by 2 } keep "
              "all in L1 } "
              "do T { keep all in L1 } } }",
        texts, 2);
}

static void too_many_are_refused_in_words(void **state) {
  (void)state;
  nst_buffer text = {0};
  nst_buffer_puts(&text, "workload w { dim ");
  for (int i = 0; i < 17; i++) nst_buffer_printf(&text, "%sd%d = 2", i ? ", " : "", i);
  nst_buffer_puts(&text, " Y[d0] += X[");
  for (int i = 1; i < 17; i++) nst_buffer_printf(&text, "%sd%d", i > 1 ? ", " : "", i);
  nst_buffer_puts(&text, "] }\nhardware hw { memory DRAM compute MAC }\nmapping x of w on hw { permute {");
  for (int i = 0; i < 17; i++) nst_buffer_printf(&text, " for d%d", i);
  nst_buffer_puts(&text, " } }");
  const nst_ir_mapping *m = compile(text.text);
  nst_variants v;
  const char *wrong = nst_variants_init(&v, c.arena, m);
  assert_non_null(wrong);
  assert_non_null(strstr(wrong, "at most 16 loops"));
  compiled_fini(&c);
  nst_buffer_fini(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(orders_are_lexicographic),
    cmocka_unit_test(long_orders_are_all_different),
    cmocka_unit_test(keeps_are_kept_or_dropped),
    cmocka_unit_test(keeps_and_orders_are_numbered_together),
    cmocka_unit_test(an_intermediate_that_is_dropped_goes_where_the_language_says),
    cmocka_unit_test(a_branch_keep_wakes_when_the_shared_one_is_dropped),
    cmocka_unit_test(permutes_in_branches_are_settled),
    cmocka_unit_test(too_many_are_refused_in_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
