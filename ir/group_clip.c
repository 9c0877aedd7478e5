/* Sets of integers met with the edges of a declared shape.
 *
 * A set is a list of runs (start, count) of one stride; it stands at every sum
 * of a list of progressions (step, count). Places wholly inside or outside the
 * shape are counted at once; along the last progression a run is counted as
 * points of a triangle under a line (the floor sum, as in Graham, Knuth and
 * Patashnik, Concrete Mathematics, 3.5), so the cost does not grow with the
 * sizes unless several progressions cross an edge together. */
#include "ir/group.h"

typedef struct {
  const nst_ints *runs;
  int64_t stride, lo, hi; /* what exists: [lo, hi) */
  int64_t first, last;    /* extremes of the runs */
  int64_t total;
  int n;
  int64_t step[64], count[64]; /* progressions, steps positive, largest first */
  int64_t base;
  int64_t reach[65];      /* how far progressions k.. go */
  int64_t places[65];     /* how many combinations they have */
  nst_group_scratch *s;
  bool over;
} clipper;

static int64_t floor_div(nst_i128 a, nst_i128 b) { /* b > 0 */
  nst_i128 q = a / b;
  return (int64_t)(q - (q * b > a));
}

/* sum over i in [0, n) of floor((a*i + b) / m); a, b >= 0, m > 0. */
static nst_i128 floor_sum(nst_i128 n, nst_i128 m, nst_i128 a, nst_i128 b, int64_t *rounds) {
  nst_i128 sum = 0;
  while (n > 0) {
    ++*rounds;
    sum += (n - 1) * n / 2 * (a / m) + n * (b / m);
    a %= m;
    b %= m;
    nst_i128 y = a * n + b;
    if (y < m) break;
    n = y / m;
    b = y % m;
    nst_i128 t = m;
    m = a;
    a = t;
  }
  return sum;
}

/* Pairs (v, i), 0 <= v < n, 0 <= i < m, with s*v + a*i < z. */
static int64_t below(int64_t n, int64_t m, int64_t s, int64_t a, int64_t z, int64_t *rounds) {
  if (z <= 0) return 0;
  int64_t used = (z - 1) / s + 1;
  if (used > n) used = n;
  int64_t full = floor_div((nst_i128)z - 1 - (nst_i128)a * (m - 1), s) + 1;
  if (full < 0) full = 0;
  if (full > used) full = used;
  nst_i128 sum = (nst_i128)full * m;
  if (used > full) sum += floor_sum(used - full, a, s, (nst_i128)z - 1 - (nst_i128)s * (used - 1), rounds) + (used - full);
  return (int64_t)sum;
}

/* Elements of one run [start, + stride * count) inside. */
static int64_t run_inside(const clipper *c, int64_t start, int64_t count) {
  int64_t from = floor_div((nst_i128)c->lo - start + c->stride - 1, c->stride);
  int64_t to = floor_div((nst_i128)c->hi - start + c->stride - 1, c->stride);
  if (from < 0) from = 0;
  if (to > count) to = count;
  return to > from ? to - from : 0;
}

static int64_t at_one_place(clipper *c, int64_t base) {
  int64_t sum = 0;
  if (!nst_group_spend(c->s, 2 * (int64_t)c->runs->len)) c->over = true;
  for (size_t r = 0; r < c->runs->len; r += 2) sum += run_inside(c, base + c->runs->v[r], c->runs->v[r + 1]);
  return sum;
}

typedef struct { int64_t touch0, touch1, in0, in1; } ranges;

/* Indices of progression k at which the set touches the shape, and at which it is wholly inside. */
static ranges split(const clipper *c, int64_t base, int k) {
  int64_t s = c->step[k], n = c->count[k];
  int64_t lo = base + c->first, hi = base + c->last + c->reach[k + 1];
  ranges r = {floor_div((nst_i128)c->lo - hi + s - 1, s), floor_div((nst_i128)c->hi - 1 - lo, s),
              floor_div((nst_i128)c->lo - lo + s - 1, s), floor_div((nst_i128)c->hi - 1 - hi, s)};
  if (r.touch0 < 0) r.touch0 = 0;
  if (r.touch1 > n - 1) r.touch1 = n - 1;
  if (r.in0 < 0) r.in0 = 0;
  if (r.in1 > n - 1) r.in1 = n - 1;
  return r;
}

static bool spend(clipper *c) {
  if (++c->s->listed > NST_EXPLICIT_LIMIT || !nst_group_spend(c->s, 4)) c->over = true;
  return !c->over;
}

static int64_t sum_from(clipper *c, int64_t base, int k) {
  int64_t lo = base + c->first, hi = base + c->last + c->reach[k];
  if (lo >= c->lo && hi < c->hi) return c->total * c->places[k];
  if (hi < c->lo || lo >= c->hi) return 0;
  if (k == c->n) return at_one_place(c, base);
  if (k == c->n - 1) {
    int64_t sum = 0, rounds = 0;
    for (size_t r = 0; r < c->runs->len; r += 2) {
      int64_t start = base + c->runs->v[r], count = c->runs->v[r + 1];
      sum += below(c->count[k], count, c->step[k], c->stride, c->hi - start, &rounds) -
             below(c->count[k], count, c->step[k], c->stride, c->lo - start, &rounds);
    }
    if (!nst_group_spend(c->s, (int64_t)c->runs->len * 4 + 8 * rounds)) c->over = true;
    return sum;
  }
  ranges r = split(c, base, k);
  int64_t sum = 0;
  if (r.in1 >= r.in0) sum += (r.in1 - r.in0 + 1) * c->total * c->places[k + 1];
  for (int64_t v = r.touch0; v <= r.touch1; v++) {
    if (v == r.in0 && r.in1 >= r.in0) {
      v = r.in1;
      continue;
    }
    if (!spend(c)) return 0;
    sum += sum_from(c, base + v * c->step[k], k + 1);
  }
  return sum;
}

static int64_t max_from(clipper *c, int64_t base, int k, int64_t best) {
  int64_t lo = base + c->first, hi = base + c->last + c->reach[k];
  if (best >= c->total || hi < c->lo || lo >= c->hi) return best;
  if (lo >= c->lo && hi < c->hi) return c->total;
  if (k == c->n) {
    int64_t here = at_one_place(c, base);
    return here > best ? here : best;
  }
  ranges r = split(c, base, k);
  if (r.in1 >= r.in0) return c->total;
  for (int64_t v = r.touch0; v <= r.touch1 && best < c->total && spend(c); v++)
    best = max_from(c, base + v * c->step[k], k + 1, best);
  return best;
}

static nst_group_status prepare(clipper *c, const nst_ints *runs, int64_t stride, const nst_ints *progs, int64_t lo,
                                int64_t hi, nst_group_scratch *s) {
  *c = (clipper){.runs = runs, .stride = stride, .lo = lo, .hi = hi, .s = s};
  if (!nst_group_spend(s, 8 + (int64_t)(runs->len + progs->len))) return NST_GROUP_TOO_LARGE;
  for (size_t r = 0; r < runs->len; r += 2) {
    int64_t first = runs->v[r], last = first + stride * (runs->v[r + 1] - 1);
    if (!r || first < c->first) c->first = first;
    if (!r || last > c->last) c->last = last;
    c->total += runs->v[r + 1];
  }
  for (size_t p = 0; p < progs->len; p += 2) { /* steps made positive, sorted by insertion, largest first */
    int64_t step = progs->v[p], count = progs->v[p + 1];
    if (step < 0) {
      c->base += step * (count - 1);
      step = -step;
    }
    if (c->n == 64) return NST_GROUP_TOO_LARGE;
    int k = c->n++;
    for (; k > 0 && c->step[k - 1] < step; k--) {
      c->step[k] = c->step[k - 1];
      c->count[k] = c->count[k - 1];
    }
    c->step[k] = step;
    c->count[k] = count;
  }
  int n = 0;
  for (int k = 0; k < c->n; k++) { /* steps that continue one another are one progression */
    if (n && c->step[n - 1] == c->step[k] * c->count[k]) {
      c->step[n - 1] = c->step[k];
      c->count[n - 1] *= c->count[k];
    } else {
      c->step[n] = c->step[k];
      c->count[n++] = c->count[k];
    }
  }
  c->n = n;
  c->places[n] = 1;
  for (int k = n - 1; k >= 0; k--) {
    c->reach[k] = c->reach[k + 1] + c->step[k] * (c->count[k] - 1);
    c->places[k] = c->places[k + 1] * c->count[k];
  }
  return NST_GROUP_OK;
}

nst_group_status nst_clip_sum(int64_t *out, const nst_ints *runs, int64_t stride, const nst_ints *progs, int64_t lo,
                              int64_t hi, nst_group_scratch *s) {
  clipper c;
  *out = 0;
  if (!runs->len || hi <= lo) return NST_GROUP_OK;
  nst_group_status status = prepare(&c, runs, stride, progs, lo, hi, s);
  if (status != NST_GROUP_OK) return status;
  *out = sum_from(&c, c.base, 0);
  return c.over ? NST_GROUP_TOO_LARGE : NST_GROUP_OK;
}

nst_group_status nst_clip_max(int64_t *out, const nst_ints *runs, int64_t stride, const nst_ints *progs, int64_t lo,
                              int64_t hi, nst_group_scratch *s) {
  clipper c;
  *out = 0;
  if (!runs->len || hi <= lo) return NST_GROUP_OK;
  nst_group_status status = prepare(&c, runs, stride, progs, lo, hi, s);
  if (status != NST_GROUP_OK) return status;
  *out = max_from(&c, c.base, 0, 0);
  return c.over ? NST_GROUP_TOO_LARGE : NST_GROUP_OK;
}
