/* Lowering: what the IR of a program looks like where the language leaves
 * something to be filled in: `all`, implied keeps and units, named values,
 * bindings, imports. That the numbers come out right is tested by test_cases. */
#include "test.h"

#include "frontend/compile.h"
#include "ir/ir.h"

#include <string.h>

typedef struct {
  nst_arena *arena;
  nst_interner *interner;
  nst_sources *sources;
  nst_diags *diags;
  const nst_ir_program *p;
} lowered;

static bool module_text(void *ctx, size_t i, const char **name, const char **text, size_t *len) {
  (void)ctx;
  static const char *const modules[][2] = {
    {"std.one", "workload one(N) { dim i = N  Y[i] = X[i] }  const WORD = 2"},
    {"std.two", "use std.one  hardware two { memory DRAM compute MAC }  mapping m(n = 3) of one(n) on two { for i }"},
  };
  if (i >= sizeof modules / sizeof *modules) return false;
  *name = modules[i][0];
  *text = modules[i][1];
  *len = strlen(*text);
  return true;
}

static bool file_text(void *ctx, const char *path, nst_buffer *out) {
  (void)ctx;
  nst_buffer_clear(out);
  bool known = strcmp(path, "lib/hw.nest") == 0;
  if (known)
    nst_buffer_puts(out, "use \"../top.nest\" as t  hardware hw(P = t.SIZE) { memory D array A[x = P] compute M }");
  if (strcmp(path, "top.nest") == 0) nst_buffer_puts(out, "const SIZE = 5");
  if (!out->len) nst_buffer_puts(out, "no such file");
  return known || strcmp(path, "top.nest") == 0;
}

static const nst_frontend_options options = {.module = module_text, .load = file_text};

static lowered lower(const char *text) {
  lowered l = {.arena = nst_arena_new()};
  l.interner = nst_interner_new(l.arena);
  l.sources = nst_sources_new(l.arena);
  l.diags = nst_diags_new(l.arena, l.sources);
  uint32_t source = nst_sources_add(l.sources, "main.nest", text, strlen(text));
  l.p = nst_frontend_compile(l.arena, l.interner, l.sources, l.diags, &options, source);
  if (!l.p) {
    nst_buffer b = {0};
    nst_diags_render(l.diags, &b, false);
    fail_msg("%s", b.text);
  }
  for (int i = 0; i < l.p->nmappings; i++) assert_null(nst_ir_verify_mapping(l.arena, l.p->mappings[i]));
  return l;
}

static void done(lowered *l) {
  nst_interner_free(l->interner);
  nst_arena_free(l->arena);
}

/* The tensors of a keep as "A,B". */
static const char *kept(lowered *l, const nst_ir_mapping *m, const nst_ir_node *n) {
  const char *text = "";
  assert_int_equal(n->kind, NST_NODE_KEEP);
  for (int i = 0; i < n->ntensors; i++)
    text = nst_arena_printf(l->arena, "%s%s%s", text, i ? "," : "", m->workload.tensors[n->tensors[i]].name);
  return text;
}

#define GEMM                                                                                                           \
  "workload gemm(M = 8, N = 8, K = M + N) { dim m = M, n = N, k = K  tensor A, B : int8, C : int32\n"                  \
  "C[m, n] += A[m, k] * B[k, n] }\n"                                                                                   \
  "hardware hw(P = 4) { memory DRAM memory GLB { holds = A, C, Z } array PE[x = P] memory RF compute MAC }\n"

static void test_values(void **state) {
  (void)state;
  lowered l =
    lower(GEMM "const TWO = 2\nmapping a(t = 4) of gemm(M = t * TWO) on hw(P = N) { let u = t + M  for m by u }");
  const nst_ir_mapping *m = l.p->mappings[0];
  static const char *const names[] = {"M", "N", "K", "P", "u"};
  assert_int_equal(m->scope.nparams, 1);
  assert_int_equal(m->scope.nvalues, 5);
  for (int i = 0; i < 5; i++) assert_string_equal(m->scope.values[i].name, names[i]);
  assert_int_equal(m->scope.values[0].value->kind, NST_X_MUL);      /* t * 2 */
  assert_int_equal(m->scope.values[1].value->kind, NST_X_CONST);    /* the default */
  assert_int_equal(m->scope.values[2].value->a->kind, NST_X_VALUE); /* K = M + N, of the mapping's values */
  assert_int_equal(m->scope.values[2].value->a->index, 0);
  assert_int_equal(m->workload.dims[2].extent->kind, NST_X_VALUE);
  assert_int_equal(m->workload.dims[2].extent->index, 2);
  assert_int_equal(m->hardware.levels[2].axes[0].size->index, 3);
  done(&l);
}

static void test_keeps(void **state) {
  (void)state;
  lowered l =
    lower(GEMM "mapping a of gemm on hw { for m by 2  keep all in GLB  for n by 2 }\n"
               "mapping b of gemm on hw { keep all in DRAM  keep A in GLB  for m  keep all in GLB  compute }");
  const nst_ir_mapping *a = l.p->mappings[0], *b = l.p->mappings[1];
  assert_true(a->root->implied);
  assert_string_equal(kept(&l, a, a->root), "A,B,C");
  assert_string_equal(kept(&l, a, a->root->next->next), "A,C"); /* what GLB may hold */
  assert_int_equal(a->root->next->next->next->next->kind, NST_NODE_COMPUTE);
  assert_int_equal(a->root->next->next->next->next->level, 4);
  assert_string_equal(kept(&l, b, b->root->next->next->next), "C"); /* the rest */
  assert_int_equal(b->nslots, 5);
  done(&l);
}

#define CHAIN                                                                                                          \
  "workload chain { dim m = 8, k = 8, n = 8, p = 8\n"                                                                  \
  "S[m, n] += A[m, k] * B[k, n]  T[m, p] += S[m, n] * D[n, p] }\n"                                                     \
  "hardware flat { memory DRAM memory GLB memory RF compute MAC }\n"

static void test_intermediates(void **state) {
  (void)state;
  lowered l = lower(
    CHAIN
    "mapping fused of chain on flat { keep all in DRAM for m by 2 keep S in GLB seq { do S { keep all in RF } do T { } "
    "} }\n"
    "mapping inner of chain on flat { keep all in DRAM for m by 2 keep all in GLB seq { do S { } do T { } } }\n"
    "mapping none of chain on flat { keep all in DRAM for m by 2 seq { do S { keep all in GLB } do T { } } }\n"
    "mapping maybe of chain on flat { keep all in DRAM keep? S, D in GLB seq { do S { } do T { keep D in GLB } } }");
  const nst_ir_mapping *m = l.p->mappings[0];
  assert_string_equal(kept(&l, m, m->root), "A,B,T,D"); /* the keep by name takes S out of it */
  const nst_ir_node *seq = m->root->next->next->next;
  assert_int_equal(seq->nbranches, 2);
  assert_string_equal(kept(&l, m, seq->branches[0].body), "S,A,B"); /* in a branch `all` takes S too */
  assert_int_equal(seq->branches[1].body->kind, NST_NODE_COMPUTE);
  m = l.p->mappings[1];
  assert_string_equal(kept(&l, m, m->root), "A,B,T,D");
  assert_string_equal(kept(&l, m, m->root->next->next), "S,A,B,T,D"); /* the innermost `all` takes S, alone */
  m = l.p->mappings[2];
  assert_string_equal(kept(&l, m, m->root), "S,A,B,T,D"); /* unfused */
  m = l.p->mappings[3];
  const nst_ir_node *keep = m->root->next, *branch = keep->next->branches[1].body;
  assert_true(keep->optional);
  assert_string_equal(kept(&l, m, m->root), "A,B,T,D");
  assert_int_equal(m->root->ndormant, 1); /* S, should a sweep drop the `keep?` */
  assert_ptr_equal(m->root->dormant[0].unless, keep);
  assert_string_equal(m->workload.tensors[m->root->dormant[0].tensor].name, "S");
  assert_int_equal(branch->ntensors, 0);
  assert_int_equal(branch->ndormant, 1);
  assert_ptr_equal(branch->dormant[0].unless, keep);
  done(&l);
}

static void test_tree(void **state) {
  (void)state;
  lowered l = lower(
    GEMM
    "mapping a of gemm on hw { permute { for m by 2 for n by 4 } for k into 3 { par n on PE.x permute { for m } } }");
  const nst_ir_mapping *m = l.p->mappings[0];
  static const int permute[] = {-1, 0, 0, -1, -1, 1, -1};
  assert_int_equal(m->nnodes, 7);
  for (int i = 0; i < m->nnodes; i++)
    if (m->nodes[i]->kind == NST_NODE_FOR) assert_int_equal(m->nodes[i]->permute, permute[i]);
  assert_int_equal(m->nodes[3]->split, NST_TILE_INTO);
  assert_int_equal(m->nodes[4]->split, NST_TILE_AUTO);
  assert_int_equal(m->nodes[5]->split, NST_TILE_ONE);
  done(&l);
}

static void test_questions(void **state) {
  (void)state;
  lowered l = lower(GEMM "mapping a(t = 4, u = 2) of gemm on hw { for m by t for n by u }\n"
                         "test of a(u = 1) { let x = reads(DRAM)  expect x > 0  expect usage(GLB, A) == 0 }\n"
                         "model f(M, t, P, w = 2 * t) { let a = M * t  out y = a + w  out z = y * P }\n"
                         "verify f against a { z == ops  over u in [1, 2], t in divisors(M) }\n"
                         "sweep s of a { t in 1 .. M step 2  u in pow2(1, t)  where fits  maximize utilization, ops  "
                         "pareto energy  top 4 }");
  const nst_ir_test *t = &l.p->tests[0];
  assert_int_equal(t->nexpects, 2);
  assert_null(t->args[0]);
  assert_non_null(t->args[1]);
  assert_int_equal(t->expects[0].value->a->kind, NST_X_VALUE);
  assert_int_equal(t->expects[0].value->a->index, l.p->mappings[0]->scope.nvalues);
  const nst_ir_model *f = &l.p->models[0];
  assert_int_equal(f->scope.nvalues, 3);
  assert_int_equal(f->nouts, 2);
  assert_int_equal(f->outs[1].value->index, 2);
  const nst_ir_verify *v = &l.p->verifies[0];
  assert_int_equal(v->checks[0].out, 1);
  assert_int_equal(v->bind[0]->kind, NST_X_CONST); /* M of the workload */
  assert_int_equal(v->bind[1]->kind, NST_X_PARAM);
  assert_int_equal(v->bind[3]->kind, NST_X_MUL); /* the default, over the mapping's t */
  assert_int_equal(v->bind[3]->b->index, 0);
  assert_int_equal(v->points[0].param, 1);
  assert_int_equal(v->points[1].set.kind, NST_IRSET_DIVISORS);
  const nst_ir_sweep *s = &l.p->sweeps[0];
  assert_true(s->maximize);
  assert_int_equal(s->nobjectives, 2);
  assert_int_equal(s->npareto, 1);
  assert_int_equal(s->nwhere, 1);
  assert_non_null(s->points[0].set.step);
  done(&l);
}

static void test_access(void **state) {
  (void)state;
  lowered l = lower("workload w(s = 2) { dim p = 4, r = 3  Y[p] += X[s*p + r - 1] * X[r + p*s - 1] * X[p - -(r)] }\n"
                    "hardware h { memory D compute M }  mapping a of w on h { for p }");
  const nst_ir_stmt *stmt = &l.p->mappings[0]->workload.stmts[0];
  assert_int_equal(stmt->nin, 2); /* the first two are one */
  assert_int_equal(stmt->in[0].ranks[0].nterms, 2);
  assert_int_equal(stmt->in[0].ranks[0].terms[0].coef->kind, NST_X_VALUE);
  assert_true(stmt->in[0].ranks[0].offset->value.num == -1);
  assert_null(stmt->in[1].ranks[0].offset);
  assert_string_equal(stmt->text, "X[s*p + r - 1] * X[r + p*s - 1] * X[p - -(r)]");
  done(&l);
}

static void test_imports(void **state) {
  (void)state;
  lowered l = lower("use std.two\nuse std.one as o\nuse \"lib/hw.nest\"\nuse \"lib/../lib/hw.nest\" as again\n"
                    "mapping own of o.one(4 * o.WORD) on hw { par i on A.x }\n"
                    "mapping other of o.one(4) on again.hw(2) { for i }\ntest of m { expect fits }");
  assert_int_equal(l.p->nmappings, 3);
  assert_false(l.p->mappings[0]->imported);
  assert_true(l.p->mappings[2]->imported);
  assert_string_equal(l.p->mappings[2]->name, "m");
  assert_int_equal(l.p->tests[0].mapping, 2);
  assert_true(l.p->mappings[0]->scope.values[0].value->value.num == 8);
  assert_true(l.p->mappings[0]->scope.values[1].value->value.num == 5);
  done(&l);
}

/* Text that must not reach files: no callbacks. */
static void test_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"use std.one", "use \"lib/hw.nest\""};
  for (int i = 0; i < 2; i++) {
    nst_arena *arena = nst_arena_new();
    nst_interner *interner = nst_interner_new(arena);
    nst_sources *sources = nst_sources_new(arena);
    nst_diags *diags = nst_diags_new(arena, sources);
    uint32_t source = nst_sources_add(sources, "x", texts[i], strlen(texts[i]));
    assert_null(nst_frontend_compile(arena, interner, sources, diags, NULL, source));
    assert_int_equal(nst_diags_count(diags), 1);
    assert_string_equal(nst_diag_code(nst_diags_get(diags, 0)->id), "E0023");
    nst_interner_free(interner);
    nst_arena_free(arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_values),  cmocka_unit_test(test_keeps),   cmocka_unit_test(test_intermediates),
    cmocka_unit_test(test_tree),    cmocka_unit_test(test_access),  cmocka_unit_test(test_questions),
    cmocka_unit_test(test_imports), cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
