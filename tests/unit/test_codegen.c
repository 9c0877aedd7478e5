/* Expressions as native code: on random trees over three parameters, wherever
 * the code says ok it must give what nst_expr_eval gives, and it must be ok
 * nearly always where the exact result is an ordinary number. */
#include "test.h"

#include "backend/codegen.h"
#include "backend/jit.h"
#include "hand.h"
#include <stdio.h>

enum { PARAMS = 3, VALUES = 2, TREES = 100, UNITS = 30, VECTORS = 60 };

typedef struct {
  uint64_t state;
  nst_arena *arena;
} source;

static uint64_t next(source *s) {
  s->state ^= s->state << 13;
  s->state ^= s->state >> 7;
  s->state ^= s->state << 17;
  return s->state * UINT64_C(0x2545f4914f6cdd1d);
}

static int below(source *s, int n) { return (int)(next(s) >> 33) % n; }

static int64_t interesting(source *s) {
  static const int64_t special[] = {
    0, 1, -1, 2, 3, 64, 1000003, INT64_C(1) << 32, INT64_C(1) << 62, INT64_MAX, INT64_MIN, -(INT64_C(1) << 40)};
  int pick = below(s, 10);
  if (pick == 0) return special[below(s, (int)(sizeof special / sizeof *special))];
  if (pick < 4) return below(s, 10);
  if (pick < 6) return -below(s, 40);
  return 1 + below(s, 500);
}

static nst_expr *node(source *s, nst_expr_kind kind) {
  nst_expr *e = NST_NEW(s->arena, nst_expr);
  e->kind = kind;
  return e;
}

static const nst_expr *random_truth(source *s, int depth, int nvalues);

static const nst_expr *random_number(source *s, int depth, int nvalues) {
  int pick = depth <= 0 ? below(s, 6) : 6 + below(s, 19);
  if (pick < 3) {
    nst_expr *e = node(s, NST_X_PARAM);
    e->index = below(s, PARAMS);
    return e;
  }
  if (pick == 3 && nvalues) {
    nst_expr *e = node(s, NST_X_VALUE);
    e->index = below(s, nvalues);
    return e;
  }
  if (pick < 6) {
    nst_expr *e = node(s, NST_X_CONST);
    e->value = nst_rat_int(interesting(s));
    if (!below(s, 4)) nst_rat_make(&e->value, 1 + below(s, 20), 1 + below(s, 8));
    return e;
  }
  if (pick == 6) {
    nst_expr *e = node(s, NST_X_IF);
    e->a = random_truth(s, depth - 1, nvalues);
    e->b = random_number(s, depth - 1, nvalues);
    e->c = random_number(s, depth - 1, nvalues);
    return e;
  }
  if (pick == 7 && !below(s, 10)) {
    nst_expr *e = node(s, below(s, 2) ? NST_X_SQRT : NST_X_LOG2);
    e->a = random_number(s, depth - 1, nvalues);
    return e;
  }
  if (pick == 7 && !below(s, 5)) {
    nst_expr *e = node(s, NST_X_SUM), *index = node(s, NST_X_INDEX), *lo = node(s, NST_X_CONST),
             *hi = node(s, NST_X_CONST);
    lo->value = nst_rat_int(1);
    hi->value = nst_rat_int(below(s, 6));
    e->a = index;
    e->b = lo;
    e->c = below(s, 3) ? hi : random_number(s, 0, 0);
    return e;
  }
  static const nst_expr_kind one[] = {NST_X_NEG, NST_X_ABS, NST_X_CEIL, NST_X_FLOOR};
  static const nst_expr_kind two[] = {NST_X_ADD, NST_X_SUB, NST_X_MUL,     NST_X_DIV, NST_X_FLOORDIV, NST_X_MOD,
                                      NST_X_MIN, NST_X_MAX, NST_X_CEILDIV, NST_X_GCD, NST_X_ADD,      NST_X_MUL};
  if (pick < 11) {
    nst_expr *e = node(s, one[pick - 7]);
    e->a = random_number(s, depth - 1, nvalues);
    return e;
  }
  if (pick == 11) {
    nst_expr *e = node(s, NST_X_POW), *n = node(s, NST_X_CONST);
    n->value = nst_rat_int(below(s, 5));
    e->a = random_number(s, depth - 1, nvalues);
    e->b = below(s, 2) ? n : random_number(s, 0, nvalues);
    return e;
  }
  nst_expr *e = node(s, two[(pick - 12) % 12]);
  e->a = random_number(s, depth - 1, nvalues);
  e->b = random_number(s, depth - 1, nvalues);
  return e;
}

static const nst_expr *random_truth(source *s, int depth, int nvalues) {
  static const nst_expr_kind comparisons[] = {NST_X_EQ, NST_X_NE, NST_X_LT, NST_X_LE, NST_X_GT, NST_X_GE};
  int pick = below(s, depth > 0 ? 12 : 7);
  if (pick < 6) {
    nst_expr *e = node(s, comparisons[pick]);
    e->a = random_number(s, depth - 1, nvalues);
    e->b = random_number(s, depth - 1, nvalues);
    return e;
  }
  if (pick == 6) {
    nst_expr *e = node(s, NST_X_BOOL);
    e->truth = below(s, 2);
    return e;
  }
  if (pick == 7) {
    nst_expr *e = node(s, NST_X_NOT);
    e->a = random_truth(s, depth - 1, nvalues);
    return e;
  }
  if (pick == 8) {
    nst_expr *e = node(s, below(s, 2) ? NST_X_EQ : NST_X_NE);
    e->a = random_truth(s, depth - 1, nvalues);
    e->b = random_truth(s, depth - 1, nvalues);
    return e;
  }
  if (pick == 9) {
    nst_expr *e = node(s, NST_X_IF);
    e->a = random_truth(s, depth - 1, nvalues);
    e->b = random_truth(s, depth - 1, nvalues);
    e->c = random_truth(s, depth - 1, nvalues);
    return e;
  }
  nst_expr *e = node(s, pick == 10 ? NST_X_AND : NST_X_OR);
  e->a = random_truth(s, depth - 1, nvalues);
  e->b = random_truth(s, depth - 1, nvalues);
  return e;
}

typedef struct {
  nst_ir_scope scope;
  const nst_expr *e;
  nst_code code;
} subject;

/* out: whole, ok, integral, at least zero, above zero; a KNOWN value reports as whole where it is. */
static void generate_subject(subject *t, nst_arena *arena, int number) {
  nst_code_init(&t->code, arena, nst_arena_printf(arena, "tree%d", number));
  nst_code *c = &t->code;
  nst_cg l;
  nst_cg_init(&l, c, &t->scope);
  nst_cg_value v = nst_cg_expr(&l, t->e);
  nst_id yes = nst_code_truth(c, true), one = nst_code_const(c, 1), zero = nst_code_const(c, 0);
  nst_id ok = yes, integral = yes, sign_ok = yes, strict_ok = yes;
  for (int i = 0; i < t->scope.nvalues; i++) ok = nst_code_op(c, NST_INST_AND, ok, l.values[i].ok);
  nst_id whole = nst_cg_integer(&l, &v, &ok, &integral);
  nst_id natural = nst_cg_sign(&l, &v, false, &sign_ok), positive = nst_cg_sign(&l, &v, true, &strict_ok);
  nst_code_store(c, 0, whole);
  nst_code_store(c, 1, nst_code_select(c, ok, one, zero));
  nst_code_store(c, 2, nst_code_select(c, integral, one, zero));
  nst_code_store(c, 3, nst_code_select(c, natural, one, zero));
  nst_code_store(c, 4, nst_code_select(c, positive, one, zero));
  c->status = zero;
}

typedef struct {
  long ok, exact, refused;
} tally;

static bool moderate(const nst_value *v) {
  return v->kind == NST_VALUE_RAT && v->rat.num < 1000000 && v->rat.num > -1000000 && v->rat.den < 1000;
}

static void compare(const subject *t, nst_code_function *f, const int64_t *params, tally *n) {
  const int64_t *in[PARAMS];
  nst_value values[PARAMS], named[VALUES], want;
  int64_t out[5];
  for (int i = 0; i < PARAMS; i++) {
    in[i] = params + i;
    values[i] = (nst_value){.kind = NST_VALUE_RAT, .rat = nst_rat_int(params[i])};
  }
  f(in, 0, out);
  nst_eval_env env = {.params = values, .values = named};
  bool good = true;
  for (int i = 0; good && i < t->scope.nvalues; i++)
    good = nst_expr_eval(&named[i], t->scope.values[i].value, &env, NULL) == NST_EVAL_OK;
  good = good && nst_expr_eval(&want, t->e, &env, NULL) == NST_EVAL_OK;
  if (!out[1]) {
    n->refused += good && moderate(&want);
    return;
  }
  assert_true(good);
  int64_t whole = 0;
  bool integral = nst_value_to_i64(&whole, &want);
  assert_int_equal(out[2], integral);
  if (integral) assert_int_equal(out[0], whole);
  if (want.kind == NST_VALUE_RAT) {
    assert_int_equal(out[3], want.rat.num >= 0);
    assert_int_equal(out[4], want.rat.num > 0);
  }
  n->ok++;
  n->exact += moderate(&want);
}

static void native_expressions_agree_with_exact_ones(void **state) {
  (void)state;
  nst_jit *jit = NULL;
  assert_int_equal(nst_jit_new(&jit, NULL, NULL), NST_JIT_OK);
  source s = {.state = UINT64_C(0x853c49e6748fea9b)};
  tally n = {0};
  for (int u = 0; u < UNITS; u++) {
    s.arena = nst_arena_new();
    subject *subjects = NST_NEW_ARRAY(s.arena, TREES, subject);
    nst_code *codes = NST_NEW_ARRAY(s.arena, TREES, nst_code);
    for (int i = 0; i < TREES; i++) {
      subject *t = &subjects[i];
      t->scope.nparams = PARAMS;
      t->scope.nvalues = below(&s, VALUES + 1);
      t->scope.values = NST_NEW_ARRAY(s.arena, VALUES, nst_ir_value);
      for (int v = 0; v < t->scope.nvalues; v++) t->scope.values[v].value = random_number(&s, below(&s, 3), v);
      t->e = random_number(&s, below(&s, 5), t->scope.nvalues);
      generate_subject(t, s.arena, i);
      codes[i] = t->code;
    }
    nst_jit_unit *unit = NULL;
    nst_code_function *f[TREES];
    nst_jit_options options = {.level = u % 10 ? NST_JIT_O0 : NST_JIT_O1};
    assert_int_equal(nst_jit_compile(&unit, f, jit, codes, TREES, options, NULL), NST_JIT_OK);
    for (int i = 0; i < TREES; i++)
      for (int v = 0; v < VECTORS; v++) {
        int64_t params[PARAMS];
        for (int p = 0; p < PARAMS; p++) params[p] = interesting(&s);
        compare(&subjects[i], f[i], params, &n);
      }
    nst_jit_unit_free(jit, unit);
    nst_arena_free(s.arena);
  }
  print_message("%ld native results, %ld of them ordinary; %ld ordinary ones were left to the exact path\n", n.ok,
                n.exact, n.refused);
  assert_true(n.exact > 50000);
  assert_true(n.refused * 10 < n.exact);
  nst_jit_free(jit);
}

int main(void) {
  if (!hand_has_code_generator()) return 0;
  const struct CMUnitTest tests[] = {cmocka_unit_test(native_expressions_agree_with_exact_ones)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
