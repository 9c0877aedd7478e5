/* What a statement touches in all: the tile of a keep outside all loops, which
 * the simulator counts. */
#include "compiled.h"

#include "ir/footprint.h"
#include <string.h>

/* Every tensor of a workload of one statement, against its tile in the outermost memory. */
static void same_as_the_tile(const char *workload) {
  compiled c;
  counted n;
  const char *text;
  nst_buffer b = {0};
  nst_buffer_printf(&b, "workload w { %s }\nhardware h { memory DRAM  compute MAC }\nmapping m of w on h { }\n", workload);
  text = b.text;
  compile_text(&c, "w.nest", text, b.len);
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  count_mapping(&n, &c, c.program->mappings[0], NULL, 0);
  assert_non_null(n.counts);
  for (int i = 0; i < n.m->workload.ntensors; i++) {
    int64_t got;
    assert_true(nst_footprint(&got, n.nest, 0, i));
    assert_int_equal(got, (int64_t)counted_metric(&n, "tile", "DRAM", n.m->workload.tensors[i].name));
  }
  counted_fini(&n);
  compiled_fini(&c);
  nst_buffer_fini(&b);
}

static void test_footprints(void **state) {
  (void)state;
  same_as_the_tile("dim m = 3, n = 4, k = 5  C[m, n] += A[m, k] * B[k, n]");
  same_as_the_tile("dim p = 7, r = 3  O[p] += W[r] * I[p + 2*r]");
  same_as_the_tile("dim p = 5, r = 2  O[p] += W[r] * I[3*p + r]");
  same_as_the_tile("dim p = 8, q = 6, r = 3, s = 3  tensor I[8, 6] : int8  O[p, q] += W[r, s] * I[p + r - 1, q + s - 1]");
  same_as_the_tile("dim p = 6, r = 4  tensor O[8] : int8  O[2*p + r - 1] += W[r] * I[p]");
  same_as_the_tile("dim i = 8  Y[i] = B[i, i]");
  same_as_the_tile("dim a = 3, b = 4, c = 2  Y[a + b + c] += X[a, b] * Z[c]");
  same_as_the_tile("dim i = 6  Y[i] = X[i] + X[i + 2]");
  same_as_the_tile("dim i = 6  S[] += X[i] * X[i]");
}

/* A square of 4096 x 4096 and a window over 2^20: no size is enumerated. */
static void test_large(void **state) {
  (void)state;
  static const char text[] = "workload w { dim p = 1048576, r = 3, m = 4096, n = 4096\n"
                             "  S[p] += X[p + r]\n  T[m, n] = S[m] * Y[n] }\n"
                             "hardware h { memory DRAM  compute MAC }\n"
                             "mapping m of w on h { keep all in DRAM  seq { do S { compute }  do T { compute } } }\n";
  compiled c;
  counted n;
  int64_t got;
  nst_rat bytes;
  compile_text(&c, "w.nest", text, sizeof text - 1);
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  count_mapping(&n, &c, c.program->mappings[0], NULL, 1); /* the nest is all that is asked for */
  assert_non_null(n.nest);
  for (int i = 0; i < n.m->workload.ntensors; i++) {
    const char *name = n.m->workload.tensors[i].name;
    assert_true(nst_footprint(&got, n.nest, 0, i));
    assert_int_equal(got, !strcmp(name, "S") ? 1048576 : !strcmp(name, "X") ? 1048578 : 0);
    assert_true(nst_footprint_unfused(&bytes, n.nest, i));
    if (!strcmp(name, "S")) assert_int_equal(bytes.num, 2 * (1048576 + 4096)); /* fp16; written, and read by T */
    if (!strcmp(name, "T")) assert_int_equal(bytes.num, 2 * 4096 * 4096);
  }
  counted_fini(&n);
  compiled_fini(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_footprints), cmocka_unit_test(test_large)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
