/* Vector code against what its ops mean, one number at a time: every op, doubles
 * and integers, every number of tuples around the width of a vector, several rows
 * at once, sums over a divisor, candidates by each kind of limit, tallies. */
#include "test.h"

#include "backend/jit.h"
#include "hand.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TUPLES = 70, SLOTS = 8, ROWS = 3, PADDED = 96, OPS = 64, LIMITS = 2 + NST_VECTOR_BUCKETS + NST_VECTOR_OCTAVES };

static nst_jit *jit;

static int open_jit(void **state) {
  (void)state;
  jit = hand_jit_new();
  return jit ? 0 : -1;
}

static int close_jit(void **state) {
  (void)state;
  nst_jit_free(jit);
  return 0;
}

static uint64_t seed = 1;
static int64_t draw(int64_t lo, int64_t hi) { return hand_draw(&seed, lo, hi); }

/* Numbers as the code holds them. */
typedef union { double d; int64_t i; } number;
typedef struct { _Alignas(64) number v[PADDED]; } row;

typedef struct {
  bool floating;
  int64_t columns[SLOTS][TUPLES], coefficients[SLOTS][ROWS];
  row held[SLOTS];
  number coefficient[SLOTS * ROWS];
  int64_t rows[ROWS]; /* in an order of their own */
  const void *places[SLOTS];
  _Alignas(64) number limits[LIMITS];
  int64_t tally[4];
  _Alignas(64) number out[4 * ROWS * PADDED];
} data;

static number of(bool floating, int64_t v) { return floating ? (number){.d = (double)v} : (number){.i = v}; }
static int64_t whole(bool floating, number n) { return floating ? (int64_t)n.d : n.i; }

static void fill(data *d, int64_t most) {
  for (int s = 0; s < SLOTS; s++) {
    for (int k = 0; k < ROWS; k++) {
      d->coefficients[s][k] = draw(-most, most);
      d->coefficient[s * ROWS + k] = of(d->floating, d->coefficients[s][k]);
    }
    for (int t = 0; t < TUPLES; t++) d->columns[s][t] = draw(-most, most);
    for (int t = 0; t < PADDED; t++) d->held[s].v[t] = of(d->floating, t < TUPLES ? d->columns[s][t] : 1);
    d->places[s] = d->held[s].v;
  }
  for (int i = 0; i < LIMITS; i++) d->limits[i] = d->floating ? (number){.d = INFINITY} : (number){.i = INT64_MAX};
  for (int k = 0; k < ROWS; k++) d->rows[k] = (k + 2) % ROWS;
  memset(d->tally, 0, sizeof d->tally);
}

static nst_vector_function *compile(const nst_vector_code *code, nst_jit_unit **unit) {
  nst_vector_function *function = NULL;
  nst_buffer error = {0};
  if (nst_jit_compile_vectors(unit, &function, jit, code, 1, (nst_jit_options){NST_JIT_O2, NULL}, &error) != NST_JIT_OK)
    fail_msg("%s", error.text);
  nst_buffer_fini(&error);
  return function;
}

/* ---- what ops mean ---- */

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static void mean(const nst_vop *ops, int nops, const int64_t *forms, int64_t *r) {
  for (int i = 0; i < nops; i++) {
    const nst_vop *o = &ops[i];
    const int64_t a = o->a >= 0 ? r[o->a] : 0, b = o->b >= 0 ? r[o->b] : 0;
    switch (o->kind) {
    case NST_VOP_FORM: r[i] = forms[o->imm]; break;
    case NST_VOP_CONST: r[i] = o->imm; break;
    case NST_VOP_ADD: r[i] = a + b; break;
    case NST_VOP_SUB: r[i] = a - b; break;
    case NST_VOP_MUL: r[i] = a * b; break;
    case NST_VOP_MIN: r[i] = a < b ? a : b; break;
    case NST_VOP_MAX: r[i] = a > b ? a : b; break;
    case NST_VOP_SCALE: r[i] = a * o->imm; break;
    case NST_VOP_CEILDIV: r[i] = -floor_div(-a, o->imm); break;
    case NST_VOP_FLOORDIV: r[i] = floor_div(a, o->imm); break;
    case NST_VOP_SELECT: r[i] = r[o->imm] ? a : b; break;
    case NST_VOP_LT: r[i] = a < b; break;
    case NST_VOP_LE: r[i] = a <= b; break;
    case NST_VOP_EQ: r[i] = a == b; break;
    case NST_VOP_AND: r[i] = a && b; break;
    case NST_VOP_OR: r[i] = a || b; break;
    case NST_VOP_NOT: r[i] = !a; break;
    case NST_VOP_TRUE: r[i] = 1; break;
    }
  }
}

/* Three forms of two or three slots, the last over a divisor; then ops of every kind on earlier ops. */
static int random_ops(nst_vop *ops, int *truths, int *ntruths) {
  int n = 0, numbers = 0, number_of[OPS];
  static const int64_t divisors[] = {1, 2, 3, 7, 10, 64, 1000, 4095};
  *ntruths = 0;
  for (int f = 0; f < 3; f++) ops[n] = (nst_vop){NST_VOP_FORM, -1, -1, f}, number_of[numbers++] = n++;
  ops[n] = (nst_vop){NST_VOP_CONST, -1, -1, draw(-50, 50)}, number_of[numbers++] = n++;
  ops[n] = (nst_vop){NST_VOP_TRUE, -1, -1, 0}, truths[(*ntruths)++] = n++;
  while (n < 40) {
    const nst_vop_kind kind = (nst_vop_kind)draw(NST_VOP_ADD, NST_VOP_NOT);
    const int x = number_of[draw(0, numbers - 1)], y = number_of[draw(0, numbers - 1)];
    const int p = truths[draw(0, *ntruths - 1)], q = truths[draw(0, *ntruths - 1)];
    nst_vop o = {kind, x, y, 0};
    bool truth = kind >= NST_VOP_LT;
    if (kind == NST_VOP_MUL) o.a = (int)draw(0, 2), o.b = (int)draw(0, 3); /* so that numbers stay small */
    if (kind == NST_VOP_SCALE) o = (nst_vop){kind, (int)draw(0, 3), -1, draw(-9, 9)};
    if (kind == NST_VOP_ADD || kind == NST_VOP_SUB) o.b = (int)draw(0, 3);
    if (kind == NST_VOP_CEILDIV || kind == NST_VOP_FLOORDIV) o.b = -1, o.imm = divisors[draw(0, 7)];
    if (kind == NST_VOP_SELECT) o.imm = p;
    if (kind == NST_VOP_AND || kind == NST_VOP_OR) o.a = p, o.b = q;
    if (kind == NST_VOP_NOT) o.a = p, o.b = -1;
    if (kind == NST_VOP_CEILDIV) { /* of what is not negative: |x| */
      ops[n] = (nst_vop){NST_VOP_SCALE, x, -1, -1};
      ops[n + 1] = (nst_vop){NST_VOP_MAX, x, n, 0};
      o.a = n + 1;
      n += 2;
    }
    ops[n] = o;
    if (truth) truths[(*ntruths)++] = n++;
    else number_of[numbers++] = n++;
  }
  return n;
}

/* Three forms of two or three slots, some of which may go unused, be constant or build on an earlier form; the last is over 3. */
static void random_forms(nst_vform *forms, uint64_t *used) {
  static const int first[] = {0, 2, 5}, n[] = {2, 3, 2};
  for (int f = 0; f < 3; f++) {
    forms[f] = (nst_vform){.first = first[f], .n = n[f], .base = (int)draw(-1, f - 1), .like = -1, .divisor = f < 2 ? 1 : 3, .constant = draw(0, 1)};
    forms[f].least = (int)draw(forms[f].constant, n[f]);
    used[f] = (uint64_t)draw(forms[f].least, n[f]);
  }
  if (draw(0, 1)) { /* the last has the same columns as the first */
    forms[2].like = 0;
    forms[2].constant = forms[0].constant;
    forms[2].least = forms[0].least;
    used[2] = used[0];
  }
}

/* The values of the three forms at a tuple. The columns of the last are multiples of 3, its constant coefficients too. */
static void forms_at(const data *d, const nst_vform *forms, const uint64_t *used, int row_at, int t, int64_t *values) {
  for (int f = 0; f < 3; f++) {
    int64_t sum = 0;
    for (int k = forms[f].first; k < forms[f].first + (int)used[f]; k++) sum += d->coefficients[k][d->rows[row_at]] * d->columns[k][t];
    values[f] = sum / forms[f].divisor + (forms[f].base < 0 ? 0 : values[forms[f].base]);
  }
}

static void fit_to_forms(data *d, const nst_vform *forms) {
  for (int s = 5; s < 7; s++)
    for (int t = 0; t < TUPLES; t++) d->columns[s][t] = d->columns[s][t] / 3 * 3;
  for (int s = 0; s < 2 && forms[2].like == 0; s++) memcpy(d->columns[s], d->columns[5 + s], sizeof d->columns[s]);
  for (int f = 0; f < 3; f++) {
    const int first = forms[f].first;
    for (int t = 0; t < TUPLES && forms[f].constant; t++) d->columns[first][t] = 1;
    for (int k = 0; k < ROWS && forms[f].constant; k++) {
      d->coefficients[first][k] *= forms[f].divisor;
      d->coefficient[first * ROWS + k] = of(d->floating, d->coefficients[first][k]);
    }
  }
  for (int s = 0; s < 7; s++)
    for (int t = 0; t < TUPLES; t++) d->held[s].v[t] = of(d->floating, d->columns[s][t]);
}

/* Every op is the metric once: its sum over the points, and where it is best. */
static void every_op_means_what_it_says(void **state) {
  (void)state;
  static data d;
  for (int round = 0; round < 48; round++) {
    nst_vop ops[OPS];
    int truths[OPS], ntruths, nops = random_ops(ops, truths, &ntruths), metrics[OPS], nmetrics = 0;
    d.floating = round % 2;
    fill(&d, round % 3 ? 40 : 2000);
    nst_vform forms3[3];
    uint64_t used[3];
    random_forms(forms3, used);
    fit_to_forms(&d, forms3);
    for (int i = 0; i < nops; i++)
      if (ops[i].kind < NST_VOP_LT && nmetrics < 30) metrics[nmetrics++] = i;
    const uint64_t n = round < 6 ? (uint64_t)draw(1, 33) : (uint64_t)draw(1, TUPLES);
    nst_vector_code code = {.name = "f", .floating = d.floating, .filter = true, .checksum = true, .ntuples = n, .room = ROWS, .stride = ROWS,
                            .forms = forms3, .nforms = 3, .nslots = 7, .ops = ops, .nops = nops,
                            .valid = truths[draw(0, ntruths - 1)], .possible = truths[draw(0, ntruths - 1)], .wrong = truths[ntruths - 1],
                            .metrics = metrics, .nmetrics = nmetrics, .best = metrics[nmetrics - 1], .nfront = 0, .octave = 12};
    nst_jit_unit *unit;
    nst_vector_function *f = compile(&code, &unit);
    const void *in[] = {d.coefficient, d.places, d.limits, d.tally, d.rows, used};
    const uint64_t nrows = (uint64_t)draw(1, ROWS), padded = nst_vector_padded(n), found = f(in, nrows, d.out);
    uint64_t valid = 0, impossible = 0, wrong = 0, sum = 0;
    for (uint64_t i = 0; i < n * nrows; i++) {
      const uint64_t at = i / n, t = i % n;
      int64_t forms[3], r[OPS];
      forms_at(&d, forms3, used, (int)at, (int)t, forms);
      mean(ops, nops, forms, r);
      for (int k = 0; k < nmetrics; k++) sum += (uint64_t)r[metrics[k]];
      impossible += !r[code.possible];
      wrong += r[code.possible] && r[code.wrong];
      if (!r[code.possible] || !r[code.valid]) continue;
      assert_int_equal(d.out[valid].i, at * padded + t); /* no limit: every valid point is a candidate, in order */
      assert_int_equal(whole(d.floating, d.out[ROWS * padded + at * padded + t]), r[code.best]);
      valid++;
    }
    assert_int_equal(found, valid);
    assert_int_equal(d.tally[0], valid);
    assert_true((uint64_t)d.tally[1] == sum);
    assert_int_equal(d.tally[2], impossible);
    assert_int_equal(d.tally[3], wrong);
    nst_jit_unit_free(jit, unit);
  }
}

/* One division, by many divisors, of numbers up to what doubles hold. */
static void divisions_are_exact(void **state) {
  (void)state;
  static data d;
  static const int64_t divisors[] = {1, 2, 3, 5, 7, 10, 12, 48, 100, 127, 1000, 1023, 4096, 65537, 1000003};
  for (size_t k = 0; k < 2 * sizeof divisors / sizeof *divisors; k++) {
    const int64_t by = divisors[k / 2];
    d.floating = k % 2;
    fill(&d, 1);
    for (int t = 0; t < TUPLES; t++) {
      const int64_t near = draw(0, ((int64_t)1 << 51) / by) * by + draw(-1, 1), v = t % 3 ? near : draw(0, (int64_t)1 << 51);
      d.columns[0][t] = v < 0 ? 0 : v;
      d.held[0].v[t] = of(d.floating, d.columns[0][t]);
    }
    d.coefficient[2] = of(d.floating, 1);
    const nst_vform form = {.n = 1, .least = 1, .base = -1, .like = -1, .divisor = 1};
    const nst_vop ops[] = {{NST_VOP_FORM, -1, -1, 0}, {NST_VOP_CEILDIV, 0, -1, by}, {NST_VOP_FLOORDIV, 0, -1, by}, {NST_VOP_SCALE, 0, -1, -1},
                           {NST_VOP_FLOORDIV, 3, -1, by}, {NST_VOP_TRUE, -1, -1, 0}};
    for (int which = 0; which < 3; which++) {
      const int best = which == 2 ? 4 : which + 1;
      nst_vector_code code = {.name = "f", .floating = d.floating, .filter = true, .ntuples = TUPLES, .room = ROWS, .stride = ROWS, .forms = &form,
                              .nforms = 1, .nslots = 1, .ops = ops, .nops = 6, .valid = 5, .possible = -1, .wrong = -1, .best = best};
      nst_jit_unit *unit;
      nst_vector_function *f = compile(&code, &unit);
      const void *in[] = {d.coefficient, d.places, d.limits, d.tally, d.rows, NULL};
      assert_int_equal(f(in, 1, d.out), TUPLES);
      for (int t = 0; t < TUPLES; t++) {
        const int64_t v = d.columns[0][t], want = which == 0 ? v / by + (v % by > 0) : which == 1 ? v / by : floor_div(-v, by);
        assert_int_equal(whole(d.floating, d.out[ROWS * PADDED + t]), want);
      }
      nst_jit_unit_free(jit, unit);
    }
  }
}

/* ---- limits ---- */

static uint64_t bucket_of(double x) {
  if (x < 1) return 0;
  int exponent;
  const double fraction = frexp(x, &exponent); /* [1/2, 1) */
  return 1 + ((uint64_t)(exponent - 1) << NST_VECTOR_BUCKET_BITS) + (uint64_t)((fraction * 2 - 1) * (1 << NST_VECTOR_BUCKET_BITS));
}

static void limits_choose_candidates(void **state) {
  (void)state;
  static data d;
  const nst_vform form[] = {{0, 1, 1, -1, -1, 1, false, false}, {1, 1, 1, -1, -1, 1, false, false}};
  const nst_vop ops[] = {{NST_VOP_FORM, -1, -1, 0}, {NST_VOP_FORM, -1, -1, 1}, {NST_VOP_TRUE, -1, -1, 0}};
  for (int way = 0; way < 16; way++) {
    const bool largest = way >> 1 & 1;
    const int nfront = way >> 2;
    d.floating = way & 1;
    fill(&d, 1);
    for (int s = 0; s < 2; s++) {
      d.coefficient[s * ROWS + 2] = of(d.floating, 1);
      for (int t = 0; t < TUPLES; t++) d.columns[s][t] = draw(0, t % 2 ? 9000 : 40), d.held[s].v[t] = of(d.floating, d.columns[s][t]);
    }
    const int64_t limit = draw(10, 40), first = draw(10, 40);
    const bool no_best = nfront && draw(0, 1);
    int64_t entry = 9000, entries[NST_VECTOR_BUCKETS];
    for (int b = 0; b < NST_VECTOR_BUCKETS; b++) {
      if (!draw(0, 40)) entry -= draw(0, entry / 2);
      entries[b] = entry;
      d.limits[2 + b] = of(d.floating, entry);
    }
    const int octave = 13; /* 8192 .. */
    for (int o = 0; o < NST_VECTOR_OCTAVES; o++) {
      const int of_octave = octave - (NST_VECTOR_OCTAVES - 1) + o;
      d.limits[2 + NST_VECTOR_BUCKETS + o] = d.limits[2 + (o && of_octave >= 0 ? 1 + (of_octave << NST_VECTOR_BUCKET_BITS) : 0)];
    }
    d.limits[0] = of(d.floating, limit);
    d.limits[1] = of(d.floating, first);
    for (uint64_t n = 1; n <= TUPLES; n += (uint64_t)draw(1, 9)) {
      nst_vector_code code = {.name = "f", .floating = d.floating, .filter = true, .ntuples = n, .octave = octave, .room = ROWS, .stride = ROWS, .forms = form,
                              .nforms = 2, .nslots = 2, .ops = ops, .nops = 3, .valid = 2, .possible = -1, .wrong = -1,
                              .best = no_best ? -1 : 1, .largest = largest, .front = {0, 1}, .nfront = nfront};
      nst_jit_unit *unit;
      nst_vector_function *f = compile(&code, &unit);
      const void *in[] = {d.coefficient, d.places, d.limits, d.tally, d.rows, NULL};
      const uint64_t found = f(in, 1, d.out);
      uint64_t k = 0;
      for (uint64_t t = 0; t < n; t++) {
        const int64_t x = d.columns[0][t], y = d.columns[1][t];
        bool may = nfront == 3 || (nfront == 2 && y < entries[bucket_of((double)x)]) || (nfront == 1 && x <= first);
        may = may || (!no_best && (largest ? y >= limit : y <= limit));
        if (!may) continue;
        assert_true(k < found);
        assert_int_equal(d.out[k].i, t);
        if (nfront == 1 || nfront == 2) assert_int_equal(whole(d.floating, d.out[2 * ROWS * nst_vector_padded(n) + t]), x);
        if (nfront == 2) assert_int_equal(whole(d.floating, d.out[3 * ROWS * nst_vector_padded(n) + t]), y);
        k++;
      }
      assert_int_equal(found, k);
      nst_jit_unit_free(jit, unit);
    }
  }
}

/* ---- rows ---- */

static void rows_accumulate(void **state) {
  (void)state;
  static data d;
  static row rows[3];
  for (int round = 0; round < 2; round++) {
    d.floating = round;
    const nst_vector_code code = {.name = "a", .floating = d.floating};
    nst_jit_unit *unit;
    nst_vector_function *f = compile(&code, &unit);
    for (uint64_t n = 1; n <= TUPLES; n++) {
      fill(&d, 1000);
      int64_t want[3][TUPLES] = {{0}};
      number coefficients[SLOTS];
      const void *columns[SLOTS], *into[3];
      uint64_t nrows = (uint64_t)draw(1, 3), first[4], which[SLOTS], terms = 0;
      for (uint64_t r = 0; r < nrows; r++) {
        into[r] = rows[r].v;
        first[r] = terms;
        for (int64_t more = draw(1, 2); more > 0; more--, terms++) {
          which[terms] = SLOTS - 1 - terms; /* coefficients are not in the order of the terms */
          coefficients[which[terms]] = of(d.floating, d.coefficients[terms][0]);
          columns[terms] = d.held[terms].v;
          for (int t = 0; t < TUPLES; t++) want[r][t] += d.coefficients[terms][0] * d.columns[terms][t];
        }
      }
      first[nrows] = terms;
      memset(rows, 0xff, sizeof rows); /* what was there does not matter */
      const void *in[] = {coefficients, columns, into, &nrows, first, which};
      f(in, n, NULL);
      for (uint64_t r = 0; r < nrows; r++)
        for (uint64_t t = 0; t < n; t++) assert_int_equal(whole(d.floating, rows[r].v[t]), want[r][t]);
    }
    nst_jit_unit_free(jit, unit);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_op_means_what_it_says),
    cmocka_unit_test(divisions_are_exact),
    cmocka_unit_test(limits_choose_candidates),
    cmocka_unit_test(rows_accumulate),
  };
  return cmocka_run_group_tests(tests, open_jit, close_jit);
}
