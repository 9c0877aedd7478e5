/* See sheet.h. Volumes are sums of whole bits. Energies are whole numbers over one
 * denominator D, so that a sum needs no gcd; a time is a quotient of whole numbers,
 * and the largest of several rounded up is the largest of each rounded up. Every
 * figure becomes a double in one division of numbers below 2^53, which rounds
 * correctly; where a number is larger, the exact rational is rounded instead. */
#include "driver/sheet.h"

#include <math.h>

typedef nst_i128 wide;

typedef struct {
  bool memory, has_capacity;
  int double_buffered;
  wide capacity_bits;  /* rounded down: a usage in bits fits exactly when it is not above */
  int64_t read, write; /* pJ a bit, times D */
  /* cycles = bits * den / (num * instances), for both together or each */
  struct {
    bool given;
    int64_t num, den;
  } both, reads, writes;
} level;

struct nst_sheet {
  const nst_ir_mapping *m;
  const int64_t *bits; /* [ntensors] */
  level *levels;
  int unit;            /* the compute */
  int64_t denominator; /* D */
  int64_t op_energy;   /* times D */
  int64_t rate_num, rate_den;
  int64_t all_num, all_den; /* operations a cycle of all compute instances */
  const nst_figure *figures;
  size_t nfigures;
  bool needs_cycles, needs_energy;
};

/* ---- preparing ---- */

static bool small(nst_rat r, int64_t most) { return r.num >= 0 && r.num <= most && r.den <= most; }

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    const int64_t t = a % b;
    a = b;
    b = t;
  }
  return a;
}

enum { LARGEST = 1 << 30 };

/* D becomes a multiple of what a cost of so many pJ a bit needs. */
static bool add_denominator(int64_t *d, nst_rat cost, int64_t per) {
  if (!small(cost, LARGEST)) return false;
  const int64_t den = (int64_t)cost.den * per;
  *d = *d / gcd(*d, den) * den;
  return *d <= LARGEST;
}

/* A cost times D: below 2^60. Those above 2^40 are refused, so that sums of products with volumes fit. */
static int64_t scaled(int64_t d, nst_rat cost, int64_t per) {
  return (int64_t)cost.num * (d / ((int64_t)cost.den * per));
}
enum { LARGEST_COST_BITS = 40 };

/* bytes/cycle: bits * den / num cycles */
static bool set_bandwidth(bool given, nst_rat bandwidth, bool *out, int64_t *num, int64_t *den) {
  *out = given;
  if (!given) return true;
  if (!small(bandwidth, LARGEST) || bandwidth.num <= 0) return false;
  *num = (int64_t)bandwidth.num * 8;
  *den = (int64_t)bandwidth.den;
  return true;
}

static bool prepare_level(nst_sheet *s, const nst_nest *nest, int l) {
  const nst_nest_level *from = &nest->levels[l];
  level *to = &s->levels[l];
  const nst_ir_level *ir = &s->m->hardware.levels[l];
  if (from->has_leakage && from->leakage.num) return false;
  to->memory = ir->kind == NST_LEVEL_MEMORY;
  if (!to->memory) return true;
  to->double_buffered = ir->double_buffered;
  to->has_capacity = from->has_capacity;
  nst_rat bits;
  if (from->has_capacity && (!nst_rat_mul(&bits, from->capacity, nst_rat_int(8)) || !nst_rat_floor(&bits, bits)))
    return false;
  if (from->has_capacity) to->capacity_bits = bits.num;
  to->read = scaled(s->denominator, from->read_energy, 8);
  to->write = scaled(s->denominator, from->write_energy, 8);
  if (to->read >> LARGEST_COST_BITS || to->write >> LARGEST_COST_BITS) return false;
  return ir->overlap &&
         set_bandwidth(from->has_bandwidth, from->bandwidth, &to->both.given, &to->both.num, &to->both.den) &&
         set_bandwidth(from->has_read_bandwidth, from->read_bandwidth, &to->reads.given, &to->reads.num,
                       &to->reads.den) &&
         set_bandwidth(from->has_write_bandwidth, from->write_bandwidth, &to->writes.given, &to->writes.num,
                       &to->writes.den);
}

static bool is_for_sheets(nst_figure f) {
  switch (f.metric) {
  case NST_METRIC_READS:
  case NST_METRIC_FILLS:
  case NST_METRIC_UPDATES:
  case NST_METRIC_DRAINS:
  case NST_METRIC_TILE:
  case NST_METRIC_USAGE:
  case NST_METRIC_TRAFFIC:
  case NST_METRIC_OFFCHIP:
  case NST_METRIC_OPS:
  case NST_METRIC_STEPS:
  case NST_METRIC_INSTANCES:
  case NST_METRIC_FITS:
  case NST_METRIC_EDP:
  case NST_METRIC_INTENSITY:
  case NST_METRIC_UTILIZATION: return true;
  case NST_METRIC_CYCLES:
  case NST_METRIC_ENERGY: return f.level < 0;
  case NST_METRIC_AREA:
  case NST_METRIC_COUNT: return false;
  }
  return false;
}

static bool prepare_compute(nst_sheet *s, const nst_nest *nest) {
  const nst_ir_mapping *m = s->m;
  s->unit = m->nodes[m->paths[0].nodes[m->paths[0].nnodes - 1]]->level;
  const nst_rat rate = nest->levels[s->unit].rate;
  nst_rat all = nst_rat_int(0);
  for (int l = 0; l < m->hardware.nlevels; l++) {
    nst_rat each;
    if (m->hardware.levels[l].kind != NST_LEVEL_COMPUTE) continue;
    if (!nst_rat_mul(&each, nest->levels[l].rate, nst_rat_int(nest->levels[l].hw_instances)) ||
        !nst_rat_add(&all, all, each))
      return false;
  }
  if (!small(rate, LARGEST) || !small(all, INT64_C(1) << 40) || rate.num <= 0 || all.num <= 0) return false;
  s->rate_num = (int64_t)rate.num;
  s->rate_den = (int64_t)rate.den;
  s->all_num = (int64_t)all.num;
  s->all_den = (int64_t)all.den;
  s->op_energy = scaled(s->denominator, nest->levels[s->unit].energy, 1);
  return !(s->op_energy >> LARGEST_COST_BITS);
}

const nst_sheet *nst_sheet_new(nst_arena *arena, const nst_nest *nest, const nst_figure *figures, size_t nfigures) {
  const nst_ir_mapping *m = nest->ir;
  if (m->workload.nstmts != 1) return NULL;
  nst_sheet *s = NST_NEW(arena, nst_sheet);
  *s = (nst_sheet){.m = m, .denominator = 1, .figures = figures, .nfigures = nfigures};
  for (size_t i = 0; i < nfigures; i++) {
    if (!is_for_sheets(figures[i])) return NULL;
    const nst_metric metric = figures[i].metric;
    s->needs_cycles =
      s->needs_cycles || metric == NST_METRIC_CYCLES || metric == NST_METRIC_EDP || metric == NST_METRIC_UTILIZATION;
    s->needs_energy = s->needs_energy || metric == NST_METRIC_ENERGY || metric == NST_METRIC_EDP;
  }
  int64_t *bits = NST_NEW_ARRAY(arena, m->workload.ntensors, int64_t);
  for (int t = 0; t < m->workload.ntensors; t++) {
    bits[t] = nest->bits[t];
    if (bits[t] > LARGEST) return NULL;
  }
  s->bits = bits;
  s->levels = NST_NEW_ARRAY(arena, m->hardware.nlevels, level);
  for (int l = 0; l < m->hardware.nlevels; l++)
    if (!add_denominator(&s->denominator, nest->levels[l].read_energy, 8) ||
        !add_denominator(&s->denominator, nest->levels[l].write_energy, 8) ||
        !add_denominator(&s->denominator, nest->levels[l].energy, 1))
      return NULL;
  for (int l = 0; l < m->hardware.nlevels; l++)
    if (!prepare_level(s, nest, l)) return NULL;
  return prepare_compute(s, nest) ? s : NULL;
}

/* ---- one point ---- */

/* The sum of terms below 2^93 each, of which there are few, cannot wrap. */
static wide usage_bits(const nst_sheet *s, const nst_counts *c, int l, int tensor) {
  wide sum = 0;
  for (int i = 0; i < s->m->nslots; i++) {
    const nst_ir_slot *slot = &s->m->slots[i];
    if (slot->level == l && (tensor < 0 || slot->tensor == tensor)) sum += (wide)c->tile[i] * s->bits[slot->tensor];
  }
  return s->levels[l].double_buffered ? 2 * sum : sum;
}

static wide traffic_bits(const nst_sheet *s, const nst_counts *c, int l, int tensor) {
  wide sum = 0;
  for (int t = tensor < 0 ? 0 : tensor; t <= (tensor < 0 ? c->ntensors - 1 : tensor); t++) {
    const nst_moves *v = nst_counts_at(c, 0, l, t);
    sum += ((wide)v->reads + v->updates) * s->bits[t];
  }
  return sum;
}

/* num / den, rounded once. den > 0, and not above 2^93. */
static double quotient(wide num, wide den) {
  const wide exact = (wide)1 << 53;
  if (num <= exact && den <= exact) return (double)num / (double)den;
  nst_rat r;
  return nst_rat_make(&r, num, den) ? nst_rat_to_double(r) : NAN;
}

static wide divide_up(wide num, wide den) {
  if (num <= INT64_MAX && den <= INT64_MAX) return (wide)(((uint64_t)num + (uint64_t)den - 1) / (uint64_t)den);
  return (num + den - 1) / den;
}

typedef struct {
  wide cycles, energy;
  bool large;
} derived;

static void take_time(derived *d, wide bits, int64_t num, int64_t den, int64_t instances) {
  if (bits > ((wide)1 << 90) || instances > LARGEST) {
    d->large = true;
    return;
  }
  const wide time = divide_up(bits * den, (wide)num * instances);
  if (time > d->cycles) d->cycles = time;
}

static bool derive(const nst_sheet *s, const nst_counts *c, derived *d) {
  const wide most = (wide)INT64_MAX * 8; /* bits of the largest figure in bytes */
  *d = (derived){0};
  if (s->needs_cycles) d->cycles = divide_up((wide)c->steps[0] * s->rate_den, s->rate_num);
  if (s->needs_energy) d->energy = (wide)c->ops[0] * s->op_energy;
  for (int l = 0; l < s->m->hardware.nlevels; l++) {
    const level *x = &s->levels[l];
    if (!x->memory) continue;
    wide read = 0, written = 0;
    for (int t = 0; t < c->ntensors; t++) {
      const nst_moves *v = nst_counts_at(c, 0, l, t);
      read += ((wide)v->reads + v->drains) * s->bits[t];
      written += ((wide)v->fills + v->updates) * s->bits[t];
    }
    if (read > most || written > most || usage_bits(s, c, l, -1) > most || traffic_bits(s, c, l, -1) > most)
      return false;
    const int64_t n = c->instances[l] > 0 ? c->instances[l] : 1;
    if (s->needs_cycles) {
      if (x->both.given) take_time(d, read + written, x->both.num, x->both.den, n);
      if (x->reads.given) take_time(d, read, x->reads.num, x->reads.den, n);
      if (x->writes.given) take_time(d, written, x->writes.num, x->writes.den, n);
    }
    if (s->needs_energy) d->energy += read * x->read + written * x->write; /* below 2^107, a few times */
  }
  return !d->large && d->cycles < INT64_MAX;
}

static bool fits(const nst_sheet *s, const nst_counts *c) {
  for (int l = 0; l < s->m->hardware.nlevels; l++)
    if (s->levels[l].memory && s->levels[l].has_capacity && usage_bits(s, c, l, -1) > s->levels[l].capacity_bits)
      return false;
  return true;
}

/* NAN: undefined, or too large: the caller asks nst_metrics_compute. */
static double figure(const nst_sheet *s, const nst_counts *c, const derived *d, nst_figure f) {
  switch (f.metric) {
  case NST_METRIC_READS:
  case NST_METRIC_FILLS:
  case NST_METRIC_UPDATES:
  case NST_METRIC_DRAINS: {
    wide sum = 0;
    for (int t = f.tensor < 0 ? 0 : f.tensor; t <= (f.tensor < 0 ? c->ntensors - 1 : f.tensor); t++) {
      const nst_moves *v = nst_counts_at(c, 0, f.level, t);
      sum += f.metric == NST_METRIC_READS     ? v->reads
             : f.metric == NST_METRIC_FILLS   ? v->fills
             : f.metric == NST_METRIC_UPDATES ? v->updates
                                              : v->drains;
    }
    return sum > INT64_MAX ? NAN : (double)(int64_t)sum;
  }
  case NST_METRIC_TILE: {
    wide sum = 0;
    for (int i = 0; i < s->m->nslots; i++) /* a tensor is kept at a level once in a nest of one statement */
      if (s->m->slots[i].level == f.level && (f.tensor < 0 || s->m->slots[i].tensor == f.tensor)) sum += c->tile[i];
    return sum > INT64_MAX ? NAN : (double)(int64_t)sum;
  }
  case NST_METRIC_USAGE: return quotient(usage_bits(s, c, f.level, f.tensor), 8);
  case NST_METRIC_TRAFFIC: return quotient(traffic_bits(s, c, f.level, f.tensor), 8);
  case NST_METRIC_OFFCHIP: return quotient(traffic_bits(s, c, s->m->outermost, -1), 8);
  case NST_METRIC_OPS: return (double)c->ops[0];
  case NST_METRIC_STEPS: return (double)c->steps[0];
  case NST_METRIC_INSTANCES: return f.level < 0 ? 0 : (double)c->instances[f.level];
  case NST_METRIC_FITS: return fits(s, c);
  case NST_METRIC_CYCLES: return (double)(int64_t)d->cycles;
  case NST_METRIC_ENERGY: return quotient(d->energy, s->denominator);
  case NST_METRIC_EDP: {
    wide product;
    return __builtin_mul_overflow(d->energy, d->cycles, &product) ? NAN : quotient(product, s->denominator);
  }
  case NST_METRIC_INTENSITY: {
    const wide bits = traffic_bits(s, c, s->m->outermost, -1);
    return bits ? quotient((wide)c->ops[0] * 8, bits) : NAN;
  }
  case NST_METRIC_UTILIZATION: {
    wide num, den;
    if (!d->cycles || __builtin_mul_overflow((wide)c->ops[0], (wide)s->all_den, &num) ||
        __builtin_mul_overflow(d->cycles, (wide)s->all_num, &den))
      return NAN;
    return quotient(num, den);
  }
  case NST_METRIC_AREA:
  case NST_METRIC_COUNT: return NAN;
  }
  return NAN;
}

bool nst_sheet_figures(const nst_sheet *s, const nst_counts *c, double *out) {
  derived d;
  if (!derive(s, c, &d)) return false;
  for (size_t i = 0; i < s->nfigures; i++) {
    out[i] = figure(s, c, &d, s->figures[i]);
    if (isnan(out[i])) return false;
  }
  return true;
}
