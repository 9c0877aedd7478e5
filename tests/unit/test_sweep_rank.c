/* Fewer columns say the same: polynomials over random, dependent columns have the
 * same value at every tuple before and after, none has more columns of the axis
 * than the rank of those of its form, and what gains nothing stays as it is. */
#include "test.h"

#include "backend/sweep_rank.h"
#include "hand.h"
#include <stdlib.h>
#include <string.h>

enum { TUPLES = 37, OUTER = 5, COLUMNS = 14, FORMS = 3, POLYS = 12, TERMS = 10 };

static uint64_t seed = 3;
static int64_t draw(int64_t lo, int64_t hi) { return hand_draw(&seed, lo, hi); }

typedef struct {
  nst_arena *arena;
  nst_sweep_axis axes[3];
  nst_sweep_axes all;
  nst_sweep_tables tables;
  int columns[2][COLUMNS];
} space;

/* Axis 0 is the outer one, axis 1 the one to reduce: its columns are combinations of `rank` of them and of one. */
static void make_space(space *s, int rank) {
  s->arena = nst_arena_new();
  memset(s->axes, 0, sizeof s->axes);
  s->axes[0].ntuples = OUTER;
  s->axes[1].ntuples = TUPLES;
  s->axes[2].ntuples = 1;
  s->all = (nst_sweep_axes){.axes = s->axes, .naxes = 3};
  nst_sweep_tables_init(&s->tables, s->arena, &s->all);
  int64_t base[COLUMNS][TUPLES], values[TUPLES];
  for (int r = 0; r < rank; r++)
    for (int t = 0; t < TUPLES; t++) base[r][t] = r ? draw(0, 4) : 1;
  for (int c = 0; c < COLUMNS; c++) {
    memset(values, 0, sizeof values);
    for (int r = 0; r < rank; r++) {
      const int64_t f = c < rank ? c == r : draw(-3, 3);
      for (int t = 0; t < TUPLES; t++) values[t] += f * base[r][t];
    }
    s->columns[1][c] = nst_sweep_column_of(&s->tables, 1, values);
    for (int t = 0; t < OUTER; t++) values[t] = draw(0, 9);
    s->columns[0][c] = nst_sweep_column_of(&s->tables, 0, values);
  }
}

static void free_space(space *s) {
  nst_sweep_tables_fini(&s->tables);
  nst_arena_free(s->arena);
}

static void make_polys(space *s, nst_sweep_known_poly *polys) {
  for (int i = 0; i < POLYS; i++) {
    polys[i] = (nst_sweep_known_poly){.form = i % FORMS};
    polys[i].poly.terms = NST_NEW_ARRAY(s->arena, TERMS, nst_sweep_term);
    for (int k = 0; k < TERMS; k++) {
      int *columns = NST_NEW_ARRAY(s->arena, 2, int);
      columns[0] = s->columns[0][draw(0, COLUMNS - 1)];
      columns[1] = s->columns[1][draw(0, COLUMNS - 1)];
      polys[i].poly.terms[polys[i].poly.nterms++] = (nst_sweep_term){nst_rat_int(draw(-9, 9)), columns};
    }
    nst_sweep_poly_finish(&s->tables, &polys[i].poly);
  }
}

static int64_t value(const nst_sweep_tables *t, const nst_sweep_poly *p, int outer, int inner) {
  int64_t sum = 0;
  for (int i = 0; i < p->nterms; i++)
    sum += (int64_t)p->terms[i].coef.num * t->columns[0][p->terms[i].columns[0]].values[outer] *
           t->columns[1][p->terms[i].columns[1]].values[inner];
  return sum;
}

static int different(const nst_sweep_poly *p) {
  int n = 0;
  for (int i = 0; i < p->nterms; i++) {
    int k = 0;
    while (k < i && p->terms[k].columns[1] != p->terms[i].columns[1]) k++;
    n += k == i;
  }
  return n;
}

static void values_stay_and_columns_go(void **state) {
  (void)state;
  for (int round = 0; round < 60; round++) {
    const int rank = 1 + round % 4; /* more, and numbers may pass 63 bits on the way */
    space s;
    nst_sweep_known_poly polys[POLYS], before[POLYS];
    make_space(&s, rank);
    make_polys(&s, polys);
    memcpy(before, polys, sizeof polys);
    assert_true(nst_sweep_rank_reduce(s.arena, &s.tables, 1, polys, POLYS, FORMS));
    for (int i = 0; i < POLYS; i++) {
      assert_int_equal(polys[i].form, before[i].form);
      assert_true(different(&polys[i].poly) <= rank);
      for (int k = 0; k < polys[i].poly.nterms; k++) assert_int_equal(polys[i].poly.terms[k].coef.den, 1);
      for (int o = 0; o < OUTER; o++)
        for (int t = 0; t < TUPLES; t++) assert_int_equal(value(&s.tables, &polys[i].poly, o, t), value(&s.tables, &before[i].poly, o, t));
    }
    free_space(&s);
  }
}

static void nothing_to_gain_is_left_alone(void **state) {
  (void)state;
  space s;
  nst_sweep_known_poly polys[POLYS], before[POLYS];
  make_space(&s, COLUMNS); /* all independent */
  make_polys(&s, polys);
  memcpy(before, polys, sizeof polys);
  assert_false(nst_sweep_rank_reduce(s.arena, &s.tables, 1, polys, POLYS, FORMS));
  assert_memory_equal(polys, before, sizeof polys);
  free_space(&s);
}

/* Columns so large that combinations pass 63 bits: the polynomials stay. */
static void large_numbers_are_left_alone(void **state) {
  (void)state;
  space s;
  make_space(&s, 2);
  int64_t values[3][TUPLES];
  for (int t = 0; t < TUPLES; t++) {
    values[0][t] = INT64_MAX - draw(0, 9);
    values[1][t] = INT64_MIN + 1 + draw(0, 9);
    values[2][t] = (int64_t)1 << draw(50, 61);
  }
  nst_sweep_known_poly poly = {.form = 0}, before;
  poly.poly.terms = NST_NEW_ARRAY(s.arena, 3, nst_sweep_term);
  for (int k = 0; k < 3; k++) {
    int *columns = NST_NEW_ARRAY(s.arena, 2, int);
    columns[1] = nst_sweep_column_of(&s.tables, 1, values[k]);
    poly.poly.terms[poly.poly.nterms++] = (nst_sweep_term){nst_rat_int(1), columns};
  }
  before = poly;
  assert_false(nst_sweep_rank_reduce(s.arena, &s.tables, 1, &poly, 1, 1));
  assert_memory_equal(&poly, &before, sizeof poly);
  free_space(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(values_stay_and_columns_go),
    cmocka_unit_test(nothing_to_gain_is_left_alone),
    cmocka_unit_test(large_numbers_are_left_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
