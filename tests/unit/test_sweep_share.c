/* Forms as others and a rest: values stay, columns go, nothing is done where
 * nothing is gained; and which forms have the same columns in every variant. */
#include "test.h"

#include "backend/sweep_share.h"
#include "hand.h"
#include <stdlib.h>
#include <string.h>

enum { TUPLES = 11, OUTER = 5, COLUMNS = 9, FORMS = 4, VARIANTS = 150, TERMS = 6 };

static uint64_t seed = 5;
static int64_t draw(int64_t lo, int64_t hi) { return hand_draw(&seed, lo, hi); }

typedef struct {
  nst_arena *arena;
  nst_sweep_axis axes[3];
  nst_sweep_axes all;
  nst_sweep_tables tables;
  nst_sweep_known_poly polys[VARIANTS * FORMS];
  size_t npolys;
  int numbers[VARIANTS][FORMS], *list[VARIANTS];
} space;

static void make_space(space *s) {
  memset(s, 0, sizeof *s);
  s->arena = nst_arena_new();
  s->axes[0].ntuples = OUTER;
  s->axes[1].ntuples = TUPLES;
  s->axes[2].ntuples = 1;
  s->all = (nst_sweep_axes){.axes = s->axes, .naxes = 3};
  nst_sweep_tables_init(&s->tables, s->arena, &s->all);
  for (int a = 0; a < 2; a++)
    for (int c = 1; c < COLUMNS; c++) {
      int64_t values[TUPLES];
      for (int t = 0; t < TUPLES; t++) values[t] = draw(0, 1000);
      assert_int_equal(nst_sweep_column_of(&s->tables, a, values), c);
    }
}

static void free_space(space *s) {
  nst_sweep_tables_fini(&s->tables);
  nst_arena_free(s->arena);
}

static void add_term(space *s, nst_sweep_poly *p, int64_t coef, int outer, int inner) {
  for (int k = 0; k < p->nterms; k++)
    if (p->terms[k].columns[0] == outer && p->terms[k].columns[1] == inner) return;
  if (!p->terms) p->terms = NST_NEW_ARRAY(s->arena, 64, nst_sweep_term);
  int *columns = NST_NEW_ARRAY(s->arena, 2, int);
  columns[0] = outer;
  columns[1] = inner;
  p->terms[p->nterms++] = (nst_sweep_term){nst_rat_int(coef), columns};
}

static void add_poly(space *s, int variant, int form, nst_sweep_poly p) {
  nst_sweep_poly_finish(&s->tables, &p);
  s->polys[s->npolys] = (nst_sweep_known_poly){.form = form, .poly = p};
  s->numbers[variant][form] = (int)s->npolys++;
  s->list[variant] = s->numbers[variant];
}

static void add_terms(space *s, nst_sweep_poly *p, const nst_sweep_poly *from) {
  for (int k = 0; from && k < from->nterms; k++)
    add_term(s, p, (int64_t)from->terms[k].coef.num, from->terms[k].columns[0], from->terms[k].columns[1]);
}

static int64_t value(const space *s, const nst_sweep_poly *p, int outer, int inner) {
  int64_t sum = 0;
  for (int i = 0; i < p->nterms; i++)
    sum += (int64_t)p->terms[i].coef.num * s->tables.columns[0][p->terms[i].columns[0]].values[outer] *
           s->tables.columns[1][p->terms[i].columns[1]].values[inner];
  return sum;
}

/* Form 2 is form 0 and something more; forms 1 and 3 have nothing to do with others. Some variants have no mapping. */
static void what_is_contained_is_not_added_twice(void **state) {
  (void)state;
  static space s;
  make_space(&s);
  for (int v = 0; v < VARIANTS; v++) {
    nst_sweep_poly p[FORMS] = {{0}};
    if (v % 7 == 3) continue;
    for (int k = 0; k < TERMS; k++) add_term(&s, &p[0], draw(1, 9), (int)draw(0, 3), (int)draw(1, 3));
    add_term(&s, &p[1], 3, 1, 4);
    add_terms(&s, &p[2], &p[0]);
    add_term(&s, &p[2], draw(1, 9), 5, 5);
    add_term(&s, &p[2], draw(1, 9), 5, 0);
    add_term(&s, &p[3], 2, 1, 6);
    for (int f = 0; f < FORMS; f++) add_poly(&s, v, f, p[f]);
  }
  nst_sweep_shared out;
  assert_true(nst_sweep_share(&out, s.arena, &s.tables, 1, s.polys, s.npolys, s.list, VARIANTS, FORMS));
  const int base[] = {-1, -1, 0, -1};
  assert_memory_equal(out.base, base, sizeof base);
  for (int v = 0; v < VARIANTS; v++) {
    if (!s.list[v]) {
      assert_null(out.numbers[v]);
      continue;
    }
    for (int f = 0; f < FORMS; f++) {
      assert_in_range(out.numbers[v][f], 0, out.npolys - 1);
      assert_int_equal(out.polys[out.numbers[v][f]].form, f);
    }
    assert_int_equal(out.polys[out.numbers[v][2]].poly.nterms, 2);
    for (int f = 0; f < FORMS; f++)
      for (int o = 0; o < OUTER; o++)
        for (int t = 0; t < TUPLES; t++) {
          int64_t sum = 0;
          for (int g = f; g >= 0; g = out.base[g]) sum += value(&s, &out.polys[out.numbers[v][g]].poly, o, t);
          assert_int_equal(sum, value(&s, &s.polys[s.numbers[v][f]].poly, o, t));
        }
  }
  free_space(&s);
}

static void nothing_in_common_is_left_alone(void **state) {
  (void)state;
  static space s;
  make_space(&s);
  for (int v = 0; v < VARIANTS; v++)
    for (int f = 0; f < FORMS; f++) {
      nst_sweep_poly p = {0};
      add_term(&s, &p, 1 + f, 1 + f, 1 + 2 * f);
      add_term(&s, &p, 1 + v, 1 + f, 2 + 2 * f);
      add_poly(&s, v, f, p);
    }
  nst_sweep_shared out;
  assert_false(nst_sweep_share(&out, s.arena, &s.tables, 1, s.polys, s.npolys, s.list, VARIANTS, FORMS));
  int like[FORMS];
  nst_sweep_find_like(like, &s.tables, 1, s.polys, s.npolys, s.list, VARIANTS, FORMS);
  for (int f = 0; f < FORMS; f++) assert_int_equal(like[f], -1);
  free_space(&s);
}

/* Forms 0, 2 and 3 always have the same columns, but for that of ones: two of them are a pair. */
static void the_same_columns_are_seen(void **state) {
  (void)state;
  static space s;
  make_space(&s);
  for (int v = 0; v < VARIANTS; v++) {
    nst_sweep_poly p[FORMS] = {{0}};
    for (int k = 0; k < TERMS; k++) {
      const int c = (int)draw(1, COLUMNS - 1);
      for (int f = 0; f < FORMS; f++)
        if (f != 1 || c != 3) add_term(&s, &p[f], draw(1, 9), (int)draw(0, COLUMNS - 1), c);
    }
    add_term(&s, &p[2], 4, 1, 0);
    for (int f = 0; f < FORMS; f++) add_poly(&s, v, f, p[f]);
  }
  int like[FORMS];
  nst_sweep_find_like(like, &s.tables, 1, s.polys, s.npolys, s.list, VARIANTS, FORMS);
  const int want[] = {-1, -1, 0, -1};
  assert_memory_equal(like, want, sizeof want);
  free_space(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_contained_is_not_added_twice),
    cmocka_unit_test(nothing_in_common_is_left_alone),
    cmocka_unit_test(the_same_columns_are_seen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
