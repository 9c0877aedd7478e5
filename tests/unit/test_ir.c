/* The IR itself: what finishing derives, what the verifier sees, the text form. */
#include "compiled.h"

#include <string.h>

static const char program[] =
  "workload w(M) {\n"
  "  dim m = M, k = 3, n = 2\n"
  "  tensor X[M, _], V : int8, T : int16, Y : bits(3)\n"
  "  T[m] += X[2*m - 1, k] * V[k]\n"
  "  Y[m, n] = exp(T[m])\n"
  "}\n"
  "hardware h { clock = 1 GHz  memory D { overlap = false }  array P[x = 4] { reduce = false }  memory R { capacity = "
  "1 KiB }  compute U }\n"
  "mapping x(t = 2) of w(8) on h {\n"
  "  let u = t + 1\n"
  "  keep X, V, Y in D\n"
  "  for m by u\n"
  "  par m on P.x\n"
  "  keep T in R\n"
  "  seq { do T { for k keep X in R compute } do Y { compute } }\n"
  "}\n"
  "test \"a\" of x(t = 3) { let a = 2 expect tile(R, T) <= a }\n"
  "model f(t) { out y = sum(i * t for i in 1 .. 4) }\n"
  "verify f against x { y == tile(R, T) over t in [1, 2] }\n"
  "sweep s of x { t in pow2(1, 8) where fits minimize offchip pareto usage(R), energy top 3 }\n";

static void test_finish(void **state) {
  (void)state;
  compiled c;
  compile_text(&c, "x.nest", program, sizeof program - 1);
  if (!c.program) fail_msg("%s", compiled_messages(&c));
  const nst_ir_mapping *m = c.program->mappings[0];
  assert_int_equal(m->nnodes, 9);
  assert_int_equal(m->nslots, 5);
  assert_int_equal(m->outermost, 0);
  for (int i = 0; i < m->nnodes; i++) assert_int_equal(m->nodes[i]->id, i);
  assert_null(m->root->parent);
  assert_int_equal(m->paths[0].nnodes, 8); /* keep for par keep seq for keep compute */
  assert_int_equal(m->paths[1].nnodes, 6);
  const nst_ir_node *seq = m->nodes[m->paths[0].nodes[4]];
  assert_int_equal(seq->kind, NST_NODE_SEQ);
  assert_ptr_equal(seq->branches[1].body->parent, seq);
  assert_int_equal(m->paths[1].nodes[5], 8);
  assert_int_equal(m->slots[3].tensor, 2); /* T in R */
  assert_int_equal(m->slots[3].level, 2);
  compiled_fini(&c);
}

static void test_print(void **state) {
  (void)state;
  static const char *const parts[] = {
    "mapping x\n  param t = 2\n",
    "  value u = t + 1\n",
    "    tensor X[",
    "    tensor T : int16 bits=16 intermediate ranks=1\n",
    "    tensor Y : bits(3) bits=3 output ranks=2\n",
    "    stmt 0 T[m] += ",
    "      in X[2*m - 1, k]\n",
    "    stmt 1 Y[m, n] = exp(T[m])\n      in T[m]\n      over m n\n",
    "  hardware h clock=1000000000\n    memory D no_overlap\n    array P x=4 no_reduce\n    memory R capacity=1024\n   "
    " compute U",
    "    0: keep X, V, Y in D\n    1: for m by u\n    2: par m by places on P.x\n    3: keep T in R\n    4: seq\n      "
    "do T\n"
    "        5: for k by 1\n        6: keep X in R\n        7: compute on U\n      do Y\n        8: compute on U\n",
    "test \"a\" of x t=3\n  let a = 2\n  expect tile(R, T) <= a\n",
    "sum(i0 * t for i0 in 1 .. 4)",
    "verify f against x\n  bind t = t\n  check y == tile(R, T)\n  over t in [1, 2]\n",
    "sweep s of x\n  over t in pow2(1, 8)\n  where fits\n  minimize offchip\n  pareto usage(R)\n  pareto energy\n  top "
    "3\n",
  };
  compiled c;
  nst_buffer text = {0};
  compile_text(&c, "x.nest", program, sizeof program - 1);
  assert_non_null(c.program);
  nst_ir_print(&text, c.program);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strstr(text.text, parts[i])) fail_msg("no \"%s\" in\n%s", parts[i], text.text);
  nst_buffer_fini(&text);
  compiled_fini(&c);
}

/* Each change is undone before the next, so every message is of one fault alone. */
static void test_verify(void **state) {
  (void)state;
  compiled c;
  compile_text(&c, "x.nest", program, sizeof program - 1);
  assert_non_null(c.program);
  nst_ir_mapping *m = c.program->mappings[0];
  assert_null(nst_ir_verify_mapping(c.arena, m));
#define BREAKS(lvalue, wrong, part)                                                                                    \
  do {                                                                                                                 \
    __typeof__(lvalue) right = (lvalue);                                                                               \
    (lvalue) = (wrong);                                                                                                \
    const char *text = nst_ir_verify_mapping(c.arena, m);                                                              \
    if (!text || !strstr(text, part)) fail_msg("not \"%s\": %s", part, text ? text : "sound");                         \
    (lvalue) = right;                                                                                                  \
  } while (0)
  BREAKS(m->nodes[1]->dim, 9, "dimension 9 does not exist");
  BREAKS(m->nodes[1]->split, NST_TILE_AUTO, "has no places");
  BREAKS(m->nodes[2]->level, 0, "another kind");
  BREAKS(m->nodes[2]->axis, 1, "axis 1 does not exist");
  BREAKS(m->nodes[3]->level, 77, "level 77 does not exist");
  BREAKS(m->nodes[3]->tensors[0], -1, "tensor -1 does not exist");
  BREAKS(m->nodes[3]->tensors[0], 0, "out of hardware order");
  BREAKS(m->nodes[3]->ntensors, 0, "kept nowhere");
  BREAKS(m->nodes[3]->level, 0, "after a par on an array inside it");
  BREAKS(m->nodes[4]->next, m->nodes[8], "follows a seq");
  BREAKS(m->nodes[4]->branches[1].stmts[0], 0, "stands in two branches");
  BREAKS(m->nodes[6]->next, NULL, "ends without a compute");
  BREAKS(m->workload.stmts[0].in[0].nranks, 1, "has 2 ranks, an access 1");
  BREAKS(m->workload.stmts[0].in[0].ranks[0].terms[0].dim, 2, "which its statement lacks");
  BREAKS(m->workload.stmts[0].in[1].tensor, 2, "reads its own output");
  BREAKS(m->scope.nvalues, 0, "does not exist or comes later");
  BREAKS(m->scope.nparams, 0, "parameter 0 does not exist");
#undef BREAKS
  assert_null(nst_ir_verify_mapping(c.arena, m));
  compiled_fini(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_finish),
    cmocka_unit_test(test_print),
    cmocka_unit_test(test_verify),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
