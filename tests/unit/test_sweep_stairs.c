/* The front of two whole metrics against comparing with every point. */
#include "test.h"

#include "backend/sweep_stairs.h"

enum { POINTS = 400, PLACES = 2 };

typedef struct { int64_t x, y; uint64_t places[PLACES], variant; } point;

static uint64_t state_of = 7;
static int64_t draw(int64_t lo, int64_t hi) {
  state_of = state_of * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return lo + (int64_t)((state_of >> 33) % (uint64_t)(hi - lo + 1));
}

static bool earlier(const point *a, const point *b) {
  for (int i = 0; i < PLACES; i++)
    if (a->places[i] != b->places[i]) return a->places[i] < b->places[i];
  return a->variant < b->variant;
}

/* Does b keep a off the front? */
static bool covers(const point *b, const point *a) {
  if (b->x > a->x || b->y > a->y) return false;
  return b->x != a->x || b->y != a->y || !earlier(a, b);
}

static void it_says_what_comparing_says(void **state) {
  (void)state;
  for (int round = 0; round < 40; round++) {
    static point all[POINTS];
    nst_stairs *s = nst_stairs_new(PLACES);
    const int64_t most = round % 4 ? 30 : 4;
    for (int i = 0; i < POINTS; i++) {
      all[i] = (point){draw(-most, most), draw(-most, most), {(uint64_t)draw(0, 3), (uint64_t)draw(0, 3)}, (uint64_t)draw(0, 2)};
      bool enters = true;
      for (int k = 0; k < i; k++) enters = enters && !covers(&all[k], &all[i]);
      assert_int_equal(nst_stairs_enters(s, all[i].x, all[i].y, all[i].places, all[i].variant), enters);
      nst_stairs_add(s, all[i].x, all[i].y, all[i].places, all[i].variant);
      assert_false(nst_stairs_enters(s, all[i].x, all[i].y, all[i].places, all[i].variant));
    }
    nst_stairs_clear(s);
    assert_true(nst_stairs_enters(s, most, most, all[0].places, 0));
    nst_stairs_free(s);
  }
  nst_stairs_free(NULL);
}

/* Is every point with at least these numbers behind another one, wherever it stands? */
static void it_beats_what_is_worse_anywhere(void **state) {
  (void)state;
  static point all[POINTS];
  nst_stairs *s = nst_stairs_new(PLACES);
  assert_false(nst_stairs_beat(s, 0, 0));
  for (int i = 0; i < POINTS / 4; i++) {
    all[i] = (point){draw(0, 60), draw(0, 60), {0, (uint64_t)i}, 0};
    nst_stairs_add(s, all[i].x, all[i].y, all[i].places, all[i].variant);
    for (int k = 0; k < 50; k++) {
      const int64_t x = draw(0, 60), y = draw(0, 60);
      bool beats = false;
      for (int j = 0; j <= i; j++) beats = beats || (all[j].x <= x && all[j].y <= y && (all[j].x < x || all[j].y < y));
      assert_int_equal(nst_stairs_beat(s, x, y), beats);
    }
  }
  nst_stairs_free(s);
}

static void of_equal_points_the_earlier_stays(void **state) {
  (void)state;
  nst_stairs *s = nst_stairs_new(1);
  const uint64_t place[] = {5}, before[] = {4}, after[] = {6};
  nst_stairs_add(s, 10, 10, place, 3);
  assert_false(nst_stairs_enters(s, 10, 10, after, 0));
  assert_false(nst_stairs_enters(s, 10, 10, place, 4));
  assert_true(nst_stairs_enters(s, 10, 10, place, 2));
  assert_true(nst_stairs_enters(s, 10, 10, before, 9));
  nst_stairs_add(s, 10, 10, before, 9);
  assert_false(nst_stairs_enters(s, 10, 10, place, 2));
  assert_true(nst_stairs_enters(s, 10, 9, after, 9));
  assert_false(nst_stairs_enters(s, 11, 10, before, 0));
  nst_stairs_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_says_what_comparing_says),
    cmocka_unit_test(it_beats_what_is_worse_anywhere),
    cmocka_unit_test(of_equal_points_the_earlier_stays),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
