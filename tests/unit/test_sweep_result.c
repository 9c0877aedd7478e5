/* Results: whatever the order of offering and merging, the same best and the
 * same front; ties to the earliest; bytes that read back, and damage that shows. */
#include "test.h"

#include "backend/sweep.h"
#include "hand.h"
#include <stdlib.h>
#include <string.h>

enum { POINTS = 300, PARAMS = 2 };

typedef struct {
  uint64_t places[PARAMS];
  int64_t params[PARAMS];
  nst_rat metrics[5];
} stored;

static nst_ir_sweep sweep_of(int nobjectives, int npareto, bool maximize) {
  static const nst_expr *none[8];
  return (nst_ir_sweep){.objectives = none,
                        .nobjectives = nobjectives,
                        .pareto = none,
                        .npareto = npareto,
                        .maximize = maximize,
                        .npoints = PARAMS};
}

static nst_sweep_shape shape_of(const nst_ir_sweep *s, size_t top) {
  return (nst_sweep_shape){.sweep = s, .npoints = PARAMS, .nmetrics = s->nobjectives + s->npareto, .top = top};
}

static nst_sweep_point point_of(stored *p, uint64_t variant) {
  return (nst_sweep_point){.variant = variant, .params = p->params, .places = p->places, .metrics = p->metrics};
}

static void assert_same(const nst_sweep_result *a, const nst_sweep_result *b) {
  nst_buffer x = {0}, y = {0};
  nst_sweep_result_save(a, &x);
  nst_sweep_result_save(b, &y);
  assert_int_equal(x.len, y.len);
  assert_memory_equal(x.text, y.text, x.len);
  nst_buffer_fini(&x);
  nst_buffer_fini(&y);
}

/* Random points with few different values, so that ties and dominance abound. */
static void fill(stored *points, hand_source *source, int nmetrics, int values) {
  for (int i = 0; i < POINTS; i++) {
    points[i].places[0] = (uint64_t)(i / 10);
    points[i].places[1] = (uint64_t)(i % 10);
    points[i].params[0] = 100 - i / 10;
    points[i].params[1] = hand_below(source, 9);
    for (int k = 0; k < nmetrics; k++)
      nst_rat_make(&points[i].metrics[k], hand_below(source, values), 1 + hand_below(source, 3));
  }
}

static void offer(nst_sweep_result *r, stored *points, const int *order, int begin, int end) {
  for (int i = begin; i < end; i++) {
    const nst_sweep_point p = point_of(&points[order[i]], (uint64_t)(order[i] % 3));
    nst_sweep_result_offer(r, &p);
    nst_sweep_result_tally(r)->valid++;
  }
}

static void check_front(const nst_sweep_result *r, stored *points, int first, int n) {
  size_t members = 0;
  for (int i = 0; i < POINTS; i++) {
    bool stays = true;
    for (int j = 0; j < POINTS && stays; j++) {
      bool covers = true, less = false;
      for (int k = first; k < first + n; k++) {
        const int c = nst_rat_cmp(points[j].metrics[k], points[i].metrics[k]);
        covers = covers && c <= 0;
        less = less || c < 0;
      }
      stays = !(covers && (less || j < i));
    }
    members += stays;
    bool found = false;
    for (size_t f = 0; f < nst_sweep_result_nfront(r); f++)
      found = found || !memcmp(nst_sweep_result_front(r, f)->places, points[i].places, sizeof points[i].places);
    assert_int_equal(found, stays);
  }
  assert_int_equal(nst_sweep_result_nfront(r), members);
}

static void check_shape(int nobjectives, int npareto, bool maximize, size_t top, uint64_t seed) {
  const nst_ir_sweep sweep = sweep_of(nobjectives, npareto, maximize);
  const nst_sweep_shape shape = shape_of(&sweep, top);
  hand_source source = {seed};
  stored points[POINTS];
  int order[POINTS];
  fill(points, &source, nobjectives + npareto, 4 + hand_below(&source, 60));
  for (int i = 0; i < POINTS; i++) order[i] = i;
  nst_sweep_result *all = nst_sweep_result_new(shape);
  offer(all, points, order, 0, POINTS);
  if (npareto) check_front(all, points, nobjectives, npareto);
  assert_int_equal(nst_sweep_result_nbest(all), nobjectives ? (top < POINTS ? top : POINTS) : 0);
  for (size_t i = 0; i < nst_sweep_result_nbest(all);
       i++) { /* the i-th best: so many are better or as good and earlier */
    const nst_sweep_point *b = nst_sweep_result_best(all, i);
    const int at = (int)(b->places[0] * 10 + b->places[1]);
    size_t before = 0;
    for (int j = 0; j < POINTS; j++) {
      int c = 0;
      for (int k = 0; k < nobjectives && !c; k++) c = nst_rat_cmp(points[j].metrics[k], points[at].metrics[k]);
      before += (maximize ? c > 0 : c < 0) || (!c && j < at);
    }
    assert_int_equal(before, i);
  }
  assert_true((nst_sweep_result_worst(all) != NULL) == (nobjectives && top <= POINTS));
  for (int round = 0; round < 10; round++) {
    for (int i = POINTS - 1; i > 0; i--) {
      const int j = hand_below(&source, i + 1), t = order[i];
      order[i] = order[j];
      order[j] = t;
    }
    const int cut1 = hand_below(&source, POINTS), cut2 = cut1 + hand_below(&source, POINTS - cut1);
    nst_sweep_result *a = nst_sweep_result_new(shape), *b = nst_sweep_result_new(shape),
                     *c = nst_sweep_result_new(shape);
    offer(a, points, order, 0, cut1);
    offer(b, points, order, cut1, cut2);
    offer(c, points, order, cut2, POINTS);
    nst_sweep_result_merge(b, c);
    nst_sweep_result_merge(b, a);
    assert_same(b, all);
    nst_sweep_tally *tally = nst_sweep_result_tally(a); /* what overlaps merges without harm */
    *tally = (nst_sweep_tally){0};
    nst_sweep_result_merge(b, a);
    assert_same(b, all);
    nst_sweep_result_free(a);
    nst_sweep_result_free(b);
    nst_sweep_result_free(c);
  }
  nst_buffer bytes = {0};
  nst_sweep_result_save(all, &bytes);
  nst_sweep_result *back = nst_sweep_result_load(shape, bytes.text, bytes.len);
  assert_non_null(back);
  assert_same(back, all);
  nst_sweep_result_free(back);
  nst_sweep_result_clear(all);
  assert_int_equal(nst_sweep_result_nbest(all) + nst_sweep_result_nfront(all), 0);
  offer(all, points, order, 0, POINTS);
  back = nst_sweep_result_load(shape, bytes.text, bytes.len);
  assert_same(back, all);
  nst_sweep_result_free(back);
  nst_buffer_fini(&bytes);
  nst_sweep_result_free(all);
}

static void order_does_not_matter(void **state) {
  (void)state;
  static const struct {
    int nobjectives, npareto;
    bool maximize;
    size_t top;
  } shapes[] = {{1, 0, false, 1}, {2, 0, true, 10},  {0, 1, false, 1}, {0, 2, false, 1},
                {1, 2, false, 7}, {2, 3, true, 400}, {0, 4, false, 1}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (uint64_t seed = 1; seed <= 8; seed++)
      check_shape(shapes[i].nobjectives, shapes[i].npareto, shapes[i].maximize, shapes[i].top, 100 * i + seed);
}

static void damage_shows(void **state) {
  (void)state;
  const nst_ir_sweep sweep = sweep_of(1, 2, false), other = sweep_of(1, 2, true);
  const nst_sweep_shape shape = shape_of(&sweep, 5);
  stored points[POINTS];
  hand_source source = {5};
  int order[POINTS];
  fill(points, &source, 3, 50);
  for (int i = 0; i < POINTS; i++) order[i] = i;
  nst_sweep_result *r = nst_sweep_result_new(shape);
  offer(r, points, order, 0, POINTS);
  nst_buffer bytes = {0};
  nst_sweep_result_save(r, &bytes);
  for (size_t len = 0; len < bytes.len; len++) assert_null(nst_sweep_result_load(shape, bytes.text, len));
  for (size_t i = 0; i < bytes.len; i++) {
    bytes.text[i] ^= 16;
    assert_null(nst_sweep_result_load(shape, bytes.text, bytes.len));
    bytes.text[i] ^= 16;
  }
  assert_null(nst_sweep_result_load(shape_of(&sweep, 6), bytes.text, bytes.len));
  assert_null(nst_sweep_result_load(shape_of(&other, 5), bytes.text, bytes.len));
  nst_sweep_result *back = nst_sweep_result_load(shape, bytes.text, bytes.len);
  assert_non_null(back);
  nst_sweep_result_free(back);
  nst_sweep_result_free(r);
  nst_buffer_fini(&bytes);
}

static void large_numbers_survive(void **state) {
  (void)state;
  const nst_ir_sweep sweep = sweep_of(1, 0, false);
  const nst_sweep_shape shape = shape_of(&sweep, 3);
  stored p = {.params = {INT64_MIN, INT64_MAX}, .places = {UINT64_MAX, 0}};
  p.metrics[0] = (nst_rat){-(((nst_i128)1 << 126) - 1), ((nst_i128)1 << 125) + 1};
  nst_rat reduced;
  assert_true(nst_rat_make(&reduced, p.metrics[0].num, p.metrics[0].den));
  p.metrics[0] = reduced;
  nst_sweep_result *r = nst_sweep_result_new(shape);
  const nst_sweep_point point = point_of(&p, UINT64_MAX);
  nst_sweep_result_offer(r, &point);
  nst_buffer bytes = {0};
  nst_sweep_result_save(r, &bytes);
  nst_sweep_result *back = nst_sweep_result_load(shape, bytes.text, bytes.len);
  assert_non_null(back);
  const nst_sweep_point *b = nst_sweep_result_best(back, 0);
  assert_true(b->metrics[0].num == reduced.num && b->metrics[0].den == reduced.den);
  assert_true(b->params[0] == INT64_MIN && b->places[0] == UINT64_MAX && b->variant == UINT64_MAX);
  nst_sweep_result_free(back);
  nst_sweep_result_free(r);
  nst_buffer_fini(&bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(order_does_not_matter),
    cmocka_unit_test(damage_shows),
    cmocka_unit_test(large_numbers_survive),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
