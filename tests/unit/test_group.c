/* Columns of groups against their definitions: random groups of one to three
 * dimensions, small enough to enumerate every index and every element. */
#include "test.h"

#include "hand.h"
#include "ir/group.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;
static int64_t roll(int64_t lo, int64_t hi) { return hand_draw(&state, lo, hi); }

enum { DIMS = 3, SPLITS = 6, RANKS = 2, SETS = 1 << 12 };
typedef struct {
  int64_t in[64];
  int nin;
  int extents[DIMS], dims[2][RANKS][DIMS], coefs[2][RANKS][DIMS];
  nst_group_split splits[SPLITS];
  nst_group_rank ranks[2][RANKS];
  nst_group_access accesses[2];
  nst_column columns[64];
  nst_group g;
  int times[SPLITS], ntimes;
} sample;

static int add_input(sample *s, int64_t v) {
  s->in[s->nin] = v;
  return s->nin++;
}

static void make(sample *s) {
  memset(s, 0, sizeof *s);
  int ndims = (int)roll(1, 3), nsplits = (int)roll(0, ndims == 3 ? 4 : SPLITS);
  bool lopsided = ndims == 2 && !roll(0, 3); /* long stretches of tiles in one dimension */
  for (int d = 0; d < ndims; d++)
    s->extents[d] = add_input(s, lopsided ? (d ? roll(1, 4) : roll(30, 90)) : roll(1, ndims == 1 ? 40 : ndims == 2 ? 14 : 6));
  for (int i = 0; i < nsplits; i++) {
    int dim = (int)roll(0, ndims - 1);
    int64_t tile = roll(1, s->in[s->extents[dim]]);
    s->splits[i] = (nst_group_split){(nst_split_kind)roll(0, 3) % 3, dim, roll(0, 4) ? add_input(s, tile) : -1};
  }
  int naccesses = roll(0, 9) ? 1 : (int)roll(0, 2), nranks = roll(0, 3) ? 1 : 2;
  for (int a = 0; a < naccesses; a++) {
    for (int r = 0; r < nranks; r++) {
      int n = 0;
      int64_t most = 0;
      for (int d = 0; d < ndims; d++) {
        if (nranks > 1 && roll(0, 1)) continue;
        int64_t c = roll(0, 2) ? roll(1, 3) : roll(-4, 5);
        s->dims[a][r][n] = d;
        s->coefs[a][r][n++] = c == 1 && roll(0, 1) ? -1 : add_input(s, c);
        most += llabs(c) * s->in[s->extents[d]];
      }
      s->ranks[a][r] = (nst_group_rank){n, s->dims[a][r], s->coefs[a][r], roll(0, 1) ? add_input(s, roll(-3, 3)) : -1,
                                        roll(0, 2) ? -1 : add_input(s, roll(1, most + 2))};
    }
    s->accesses[a] = (nst_group_access){nranks, s->ranks[a]};
  }
  for (int i = 0; i < nsplits; i++)
    if (s->splits[i].kind == NST_SPLIT_TIME) s->times[s->ntimes++] = i;
  int n = 0;
  s->columns[n++] = (nst_column){NST_COLUMN_ALL, false, 0};
  s->columns[n++] = (nst_column){NST_COLUMN_FIRST, false, 0};
  s->columns[n++] = (nst_column){NST_COLUMN_MAX, false, 0};
  for (int kind = NST_COLUMN_KEPT; kind <= NST_COLUMN_STAY; kind++)
    for (int cut = 0; cut <= s->ntimes; cut++)
      for (int advance = 0; advance < (cut < s->ntimes ? 2 : 1); advance++)
        s->columns[n++] = (nst_column){(nst_column_kind)kind, advance, cut};
  s->g = (nst_group){ndims, s->extents, nsplits, s->splits, naccesses, s->accesses, n, s->columns};
}

/* ---- the definitions, enumerated ---- */

typedef struct { int64_t key[SETS]; int n; } elements;

static bool holds(const elements *e, int64_t key) {
  for (int i = 0; i < e->n; i++)
    if (e->key[i] == key) return true;
  return false;
}
static void put(elements *e, int64_t key) {
  if (holds(e, key)) return;
  assert_true(e->n < SETS);
  e->key[e->n++] = key;
}

static int64_t tile_of(const sample *s, int i) { return s->splits[i].input < 0 ? 1 : s->in[s->splits[i].input]; }
static int64_t count_of(const sample *s, int i) {
  int64_t len = s->in[s->extents[s->splits[i].dim]];
  for (int k = 0; k < i; k++)
    if (s->splits[k].dim == s->splits[i].dim && tile_of(s, k) < len) len = tile_of(s, k);
  return (len + tile_of(s, i) - 1) / tile_of(s, i);
}

/* Elements of the box at some indices; false: no work there. */
static bool tile_at(const sample *s, const int64_t *index, elements *out) {
  int64_t lo[DIMS] = {0}, len[DIMS], at[DIMS];
  for (int d = 0; d < s->g.ndims; d++) len[d] = s->in[s->extents[d]];
  for (int i = 0; i < s->g.nsplits; i++) {
    int d = s->splits[i].dim;
    int64_t t = tile_of(s, i);
    lo[d] += index[i] * t;
    len[d] = len[d] - index[i] * t < t ? len[d] - index[i] * t : t;
    if (len[d] <= 0) return false;
  }
  out->n = 0;
  memcpy(at, lo, sizeof at);
  if (!s->g.naccesses) put(out, 0);
  for (bool more = true; more;) {
    for (int a = 0; a < s->g.naccesses; a++) {
      int64_t key = 0;
      bool exists = true;
      for (int r = 0; r < s->accesses[a].nranks; r++) {
        const nst_group_rank *rank = &s->ranks[a][r];
        int64_t v = rank->offset < 0 ? 0 : s->in[rank->offset];
        for (int t = 0; t < rank->nterms; t++) v += (rank->coefs[t] < 0 ? 1 : s->in[rank->coefs[t]]) * at[rank->dims[t]];
        if (rank->size >= 0 && (v < 0 || v >= s->in[rank->size])) exists = false;
        key = key * 100000 + v + 50000;
      }
      if (exists) put(out, key);
    }
    int d = s->g.ndims - 1;
    for (; d >= 0 && ++at[d] == lo[d] + len[d]; d--) at[d] = lo[d];
    more = d >= 0;
  }
  return true;
}

/* Steps index over the splits of one kind; false at the end (all back at 0). */
static bool next(const sample *s, int64_t *index, nst_split_kind kind) {
  for (int i = s->g.nsplits - 1; i >= 0; i--) {
    if (s->splits[i].kind != kind) continue;
    if (++index[i] < count_of(s, i)) return true;
    index[i] = 0;
  }
  return false;
}

/* The latest tile of this instance at or before the times in index. */
static bool latest(const sample *s, const int64_t *index, elements *out) {
  int64_t at[SPLITS];
  memcpy(at, index, sizeof at);
  for (;;) {
    if (tile_at(s, at, out)) return true;
    int t = s->ntimes - 1;
    for (; t >= 0 && at[s->times[t]] == 0; t--) at[s->times[t]] = count_of(s, s->times[t]) - 1;
    if (t < 0) return false;
    at[s->times[t]]--;
  }
}

/* Is the step at these times started at `cut` (hold: by a loop of another group)? Then the times before it. */
static bool starts(const sample *s, const int64_t *index, nst_column col, int64_t *before) {
  memcpy(before, index, SPLITS * sizeof *before);
  for (int t = col.cut; t < s->ntimes; t++) {
    bool own = t == col.cut && col.advance;
    if ((index[s->times[t]] == 0) == own) return false;
    before[s->times[t]] = own ? index[s->times[t]] - 1 : count_of(s, s->times[t]) - 1;
  }
  return true;
}

static int64_t defined(const sample *s, nst_column col) {
  static elements now, was, all, changed, seen, fresh, mine;
  int64_t index[SPLITS] = {0}, before[SPLITS], sum = 0;
  bool old = col.kind == NST_COLUMN_OLD || col.kind == NST_COLUMN_STAY;
  seen.n = 0;
  do { /* times */
    fresh.n = 0;
    do { /* parents */
      all.n = changed.n = mine.n = 0;
      bool any = false, steps = old || col.kind == NST_COLUMN_KEPT;
      if (steps && !starts(s, index, col, before)) continue;
      do { /* siblings */
        if (!tile_at(s, index, &now)) continue;
        any = true;
        if (col.kind == NST_COLUMN_MAX && now.n > sum) sum = now.n;
        if (steps) {
          int64_t at[SPLITS];
          memcpy(at, before, sizeof at);
          for (int i = 0; i < s->g.nsplits; i++)
            if (s->splits[i].kind != NST_SPLIT_TIME) at[i] = index[i];
          assert_true(latest(s, at, &was));
        }
        const elements *has = old ? &was : &now, *had = old ? &now : &was;
        for (int i = 0; i < has->n; i++) {
          put(&all, has->key[i]);
          if (steps && !holds(had, has->key[i])) put(&changed, has->key[i]);
          if (!holds(&seen, has->key[i])) put(&mine, has->key[i]);
        }
      } while (next(s, index, NST_SPLIT_SIBLING));
      if (!any) continue;
      switch (col.kind) {
      case NST_COLUMN_ALL:
      case NST_COLUMN_OLD: sum += all.n; break;
      case NST_COLUMN_KEPT:
      case NST_COLUMN_STAY: sum += all.n - changed.n; break;
      case NST_COLUMN_FIRST:
        sum += mine.n;
        for (int i = 0; i < mine.n; i++) put(&fresh, mine.key[i]);
        break;
      case NST_COLUMN_MAX: break;
      }
    } while (next(s, index, NST_SPLIT_PARENT));
    for (int i = 0; i < fresh.n; i++) put(&seen, fresh.key[i]);
  } while (next(s, index, NST_SPLIT_TIME));
  return sum;
}

static void test_columns_equal_their_definitions(void **ctx) {
  (void)ctx;
  nst_group_scratch *scratch = nst_group_scratch_new();
  static sample s;
  const char *scale = getenv("NESTOR_TEST_SCALE");
  long rounds = 4000 * (scale ? atol(scale) : 100) / 100;
  for (long i = 0; i < rounds; i++) {
    state = (uint64_t)i * 7919;
    make(&s);
    int64_t out[64];
    assert_int_equal(nst_group_count(&s.g, s.in, out, scratch), NST_GROUP_OK);
    for (int c = 0; c < s.g.ncolumns; c++) {
      int64_t want = defined(&s, s.columns[c]);
      if (want == out[c]) continue;
      print_error("seed %ld: column kind %d, cut %d, advance %d is %lld, not %lld\n", i, (int)s.columns[c].kind,
                  s.columns[c].cut, s.columns[c].advance, (long long)out[c], (long long)want);
      for (int d = 0; d < s.g.ndims; d++) print_error("  extent %lld\n", (long long)s.in[s.extents[d]]);
      for (int k = 0; k < s.g.nsplits; k++)
        print_error("  split kind %d dim %d tile %lld\n", (int)s.splits[k].kind, s.splits[k].dim, (long long)tile_of(&s, k));
      for (int a = 0; a < s.g.naccesses; a++)
        for (int r = 0; r < s.accesses[a].nranks; r++) {
          for (int t = 0; t < s.ranks[a][r].nterms; t++)
            print_error("  access %d rank %d: %lld * dim %d\n", a, r,
                        s.coefs[a][r][t] < 0 ? 1LL : (long long)s.in[s.coefs[a][r][t]], s.dims[a][r][t]);
          print_error("    offset %lld size %lld\n", s.ranks[a][r].offset < 0 ? 0LL : (long long)s.in[s.ranks[a][r].offset],
                      s.ranks[a][r].size < 0 ? -1LL : (long long)s.in[s.ranks[a][r].size]);
        }
      fail();
    }
  }
  nst_group_scratch_free(scratch);
}

static void test_no_cost_grows_with_the_extents(void **ctx) {
  (void)ctx;
  /* I[3p + 2r - 5] with an edge, P = 2^40, R = 5: tiles of 1000003 in p. The columns are sums over 2^40 places. */
  int extents[] = {0, 1}, dims[] = {0, 1}, coefs[] = {2, 3};
  int64_t in[] = {(int64_t)1 << 40, 5, 3, 2, -5, ((int64_t)3 << 40) - 7, 1000003};
  nst_group_rank rank = {2, dims, coefs, 4, 5};
  nst_group_access access = {1, &rank};
  nst_group_split splits[] = {{NST_SPLIT_TIME, 0, 6}, {NST_SPLIT_TIME, 1, -1}};
  nst_column columns[] = {{NST_COLUMN_ALL, false, 0}, {NST_COLUMN_FIRST, false, 0}, {NST_COLUMN_KEPT, true, 1}};
  nst_group g = {2, extents, 2, splits, 1, &access, 3, columns};
  nst_group_scratch *s = nst_group_scratch_new();
  int64_t out[3];
  assert_int_equal(nst_group_count(&g, in, out, s), NST_GROUP_OK);
  /* by hand: points 3p + 2r - 5 in [0, 3*2^40 - 7): 5 * 2^40 less those before 0 and at the end */
  int64_t outside = 0;
  for (int64_t p = 0; p < 10; p++)
    for (int64_t r = 0; r < 5; r++) {
      outside += 3 * p + 2 * r - 5 < 0;
      outside += 3 * (in[0] - 1 - p) + 2 * r - 5 >= in[5];
    }
  assert_int_equal(out[0], 5 * in[0] - outside);
  assert_true(s->listed < 1000);
  nst_group_scratch_free(s);
}

static void test_first_touches_by_parents_at_any_size(void **ctx) {
  (void)ctx;
  /* O[2p + r], P = 2^40 over 16 parents, R = 4: all at once each parent touches its 2*T + 2 elements for the first time;
   * one p after the other within each parent, a later one never comes first, and the same elements count once each. */
  int extents[] = {0, 1}, dims[] = {0, 1}, coefs[] = {2, -1};
  int64_t in[] = {(int64_t)1 << 40, 4, 2, (int64_t)1 << 36, 1 << 10}, out[1];
  nst_group_rank rank = {2, dims, coefs, -1, -1};
  nst_group_access access = {1, &rank};
  nst_group_split splits[] = {{NST_SPLIT_PARENT, 0, 3}, {NST_SPLIT_TIME, 0, 4}};
  nst_column columns[] = {{NST_COLUMN_FIRST, false, 0}};
  nst_group g = {2, extents, 1, splits, 1, &access, 1, columns};
  nst_group_scratch *s = nst_group_scratch_new();
  assert_int_equal(nst_group_count(&g, in, out, s), NST_GROUP_OK);
  assert_int_equal(out[0], 16 * (2 * in[3] + 2));
  assert_true(s->listed < 10000);
  g.nsplits = 2;
  assert_int_equal(nst_group_count(&g, in, out, s), NST_GROUP_OK);
  /* the last tile of a parent and the first of the next share two elements: touched first by the next one's */
  assert_int_equal(out[0], 2 * in[0] + 2);
  assert_true(s->listed < 1000000);
  nst_group_scratch_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_columns_equal_their_definitions),
                                     cmocka_unit_test(test_no_cost_grows_with_the_extents),
                                     cmocka_unit_test(test_first_touches_by_parents_at_any_size)};
  return cmocka_run_group_tests_name("group", tests, NULL, NULL);
}
