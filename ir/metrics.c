/* Derived metrics: what counters are worth in bytes, cycles and picojoules.
 *
 * The idea: volumes are summed as whole bits in 128-bit integers, which cannot
 * wrap unnoticed, and become rationals once per level; cycles are taken per
 * statement (branches run one after the other), summed exactly and rounded up
 * once at the end.
 *
 * Invariants: nothing is rounded but the mapping's cycles; a figure in bytes or
 * cycles past 2^63-1, and any rational past 128 bits, is an error, except for
 * edp, which is then absent. A figure that would be a division by zero is
 * absent.
 *
 * Left to others: counting (the engines), showing (driver). */
#include "ir/metrics.h"

typedef nst_i128 bits; /* sums of elements * bits per element */

static bool add_bits(bits *sum, int64_t elements, int64_t each) {
  return !__builtin_add_overflow(*sum, (bits)elements * each, sum); /* both below 2^63: the product fits */
}

/* Bits to bytes, without a gcd: the denominator divides 8. */
static nst_rat bytes_of(bits b) {
  nst_rat r = {b, 8};
  while (r.den > 1 && !(r.num & 1)) r = (nst_rat){r.num / 2, r.den / 2};
  return r;
}

static bool rat_fits(nst_rat r) { return r.num / r.den < INT64_MAX || (r.den == 1 && r.num == INT64_MAX); }

static bool add_rat(nst_rat *sum, nst_rat r) {
  if (r.num == 0) return true;
  if (sum->num == 0) return *sum = r, true;
  return nst_rat_add(sum, *sum, r);
}

/* sum += a * b, where either is often zero. */
static bool add_product(nst_rat *sum, nst_rat a, nst_rat b) {
  nst_rat product;
  if (a.num == 0 || b.num == 0) return true;
  return nst_rat_mul(&product, a, b) && add_rat(sum, product);
}

static nst_rat larger(nst_rat a, nst_rat b) {
  if (a.num == 0) return b;
  if (b.num == 0) return a;
  return nst_rat_cmp(a, b) < 0 ? b : a;
}

static const nst_ir_node *compute_of(const nst_ir_mapping *m, int stmt) {
  return m->nodes[m->paths[stmt].nodes[m->paths[stmt].nnodes - 1]];
}

/* ---- bytes ---- */

bool nst_metrics_counter(int64_t *out, const nst_nest *nest, const nst_counts *c, nst_metric which, int level,
                         int tensor) {
  const nst_ir_mapping *m = nest->ir;
  *out = 0;
  for (int t = tensor < 0 ? 0 : tensor; t <= (tensor < 0 ? c->ntensors - 1 : tensor); t++) {
    int64_t largest = 0;
    for (int i = 0; which == NST_METRIC_TILE && i < c->nslots; i++)
      if (m->slots[i].level == level && m->slots[i].tensor == t && c->tile[i] > largest) largest = c->tile[i];
    if (__builtin_add_overflow(*out, largest, out)) return false;
    for (int s = 0; which != NST_METRIC_TILE && s < c->nstmts; s++) {
      const nst_moves *v = nst_counts_at(c, s, level, t);
      int64_t moved = which == NST_METRIC_READS     ? v->reads
                      : which == NST_METRIC_FILLS   ? v->fills
                      : which == NST_METRIC_UPDATES ? v->updates
                                                    : v->drains;
      if (__builtin_add_overflow(*out, moved, out)) return false;
    }
  }
  return true;
}

/* Keeps on the way and the largest branch at every seq. */
static bool usage_below(bits *out, const nst_nest *nest, const nst_counts *c, int level, const nst_ir_node *n) {
  const nst_ir_mapping *m = nest->ir;
  *out = 0;
  for (; n; n = n->next) {
    if (n->kind == NST_NODE_KEEP && n->level == level)
      for (int i = 0; i < m->nslots; i++)
        if (m->slots[i].node == n->id && !add_bits(out, c->tile[i], nest->bits[m->slots[i].tensor])) return false;
    bits largest = 0;
    for (int b = 0; n->kind == NST_NODE_SEQ && b < n->nbranches; b++) {
      bits branch;
      if (!usage_below(&branch, nest, c, level, n->branches[b].body)) return false;
      if (branch > largest) largest = branch;
    }
    if (__builtin_add_overflow(*out, largest, out)) return false;
  }
  return true;
}

bool nst_metrics_usage(nst_rat *out, const nst_nest *nest, const nst_counts *c, int level, int tensor) {
  bits held = 0;
  if (tensor < 0) {
    if (!usage_below(&held, nest, c, level, nest->ir->root)) return false;
  } else {
    int64_t tile;
    if (!nst_metrics_counter(&tile, nest, c, NST_METRIC_TILE, level, tensor)) return false;
    if (!add_bits(&held, tile, nest->bits[tensor])) return false;
  }
  if (nest->ir->hardware.levels[level].double_buffered && __builtin_add_overflow(held, held, &held)) return false;
  *out = bytes_of(held);
  return rat_fits(*out);
}

bool nst_metrics_traffic(nst_rat *out, const nst_nest *nest, const nst_counts *c, int level, int tensor) {
  bits moved = 0;
  for (int t = tensor < 0 ? 0 : tensor; t <= (tensor < 0 ? c->ntensors - 1 : tensor); t++)
    for (int s = 0; s < c->nstmts; s++) {
      const nst_moves *v = nst_counts_at(c, s, level, t);
      if (!add_bits(&moved, v->reads, nest->bits[t]) || !add_bits(&moved, v->updates, nest->bits[t])) return false;
    }
  *out = bytes_of(moved);
  return rat_fits(*out);
}

/* ---- one statement at one level ---- */

typedef struct {
  const nst_nest *nest;
  const nst_counts *counts;
  nst_metrics *out;
} deriver;

/* Bytes that one statement reads from and writes to a memory, all instances. */
static bool volumes(const deriver *d, int stmt, int level, nst_rat *read, nst_rat *written) {
  bits in = 0, out = 0;
  for (int t = 0; t < d->counts->ntensors; t++) {
    const nst_moves *v = nst_counts_at(d->counts, stmt, level, t);
    int64_t each = d->nest->bits[t];
    if (!add_bits(&out, v->reads, each) || !add_bits(&out, v->drains, each)) return false;
    if (!add_bits(&in, v->fills, each) || !add_bits(&in, v->updates, each)) return false;
  }
  *read = bytes_of(out);
  *written = bytes_of(in);
  return true;
}

/* cycles = larger(cycles, bytes / instances / bandwidth) */
static bool transfer(nst_rat *cycles, nst_rat bytes, int64_t instances, nst_rat bandwidth) {
  nst_rat per_cycle, time;
  if (bytes.num == 0) return true;
  if (!nst_rat_mul(&per_cycle, bandwidth, nst_rat_int(instances > 0 ? instances : 1))) return false;
  if (!nst_rat_div(&time, bytes, per_cycle)) return false;
  *cycles = larger(*cycles, time);
  return true;
}

static bool memory_cycles(const deriver *d, int stmt, int level, nst_rat *cycles) {
  const nst_nest_level *l = &d->nest->levels[level];
  nst_level_metrics *m = &d->out->levels[level];
  int64_t instances = d->counts->instances[(size_t)stmt * (size_t)d->counts->nlevels + (size_t)level];
  nst_rat read, written, both;
  *cycles = nst_rat_int(0);
  if (instances > m->instances) m->instances = instances;
  if (!volumes(d, stmt, level, &read, &written)) return false;
  if (!add_rat(&m->read, read) || !add_rat(&m->written, written)) return false;
  if (l->has_read_bandwidth && !transfer(cycles, read, instances, l->read_bandwidth)) return false;
  if (l->has_write_bandwidth && !transfer(cycles, written, instances, l->write_bandwidth)) return false;
  if (!l->has_bandwidth) return true;
  both = read;
  return add_rat(&both, written) && transfer(cycles, both, instances, l->bandwidth);
}

static bool statement_cycles(const deriver *d, int stmt, nst_rat *total) {
  const nst_ir_mapping *m = d->nest->ir;
  int unit = compute_of(m, stmt)->level;
  nst_level_metrics *compute = &d->out->levels[unit];
  int64_t instances = d->counts->instances[(size_t)stmt * (size_t)d->counts->nlevels + (size_t)unit];
  nst_rat slowest, alone = nst_rat_int(0);
  if (!nst_rat_div(&slowest, nst_rat_int(d->counts->steps[stmt]), d->nest->levels[unit].rate)) return false;
  if (instances > compute->instances) compute->instances = instances;
  if (!add_rat(&compute->cycles, slowest)) return false;
  if (!add_product(&compute->energy, nst_rat_int(d->counts->ops[stmt]), d->nest->levels[unit].energy)) return false;
  for (int l = 0; l < m->hardware.nlevels; l++) {
    if (m->hardware.levels[l].kind != NST_LEVEL_MEMORY) continue;
    nst_rat cycles;
    if (!memory_cycles(d, stmt, l, &cycles)) return false;
    if (!add_rat(&d->out->levels[l].cycles, cycles)) return false;
    if (m->hardware.levels[l].overlap)
      slowest = larger(slowest, cycles);
    else if (!add_rat(&alone, cycles))
      return false;
  }
  return add_rat(total, slowest) && add_rat(total, alone);
}

/* ---- all of it ---- */

/* Leakage: watts * instances of the hardware * cycles / clock, in pJ. */
static bool leak(const deriver *d, int level) {
  const nst_nest_level *l = &d->nest->levels[level];
  nst_rat watts, seconds, joules, picojoules;
  if (!l->has_leakage || l->leakage.num == 0) return true;
  return nst_rat_mul(&watts, l->leakage, nst_rat_int(l->hw_instances)) &&
         nst_rat_div(&seconds, d->out->cycles, d->nest->clock) && nst_rat_mul(&joules, watts, seconds) &&
         nst_rat_mul(&picojoules, joules, nst_rat_int(INT64_C(1000000000000))) &&
         add_rat(&d->out->levels[level].energy, picojoules);
}

static bool derive_level(const deriver *d, int level) {
  const nst_ir_level *ir = &d->nest->ir->hardware.levels[level];
  const nst_nest_level *l = &d->nest->levels[level];
  nst_level_metrics *m = &d->out->levels[level];
  if (ir->kind == NST_LEVEL_ARRAY) return true;
  if (ir->kind == NST_LEVEL_MEMORY) {
    if (!nst_metrics_usage(&m->usage, d->nest, d->counts, level, -1)) return false;
    if (!nst_metrics_traffic(&m->traffic, d->nest, d->counts, level, -1)) return false;
    m->fits = !l->has_capacity || nst_rat_cmp(m->usage, l->capacity) <= 0;
    d->out->fits = d->out->fits && m->fits;
    if (!add_product(&m->energy, m->read, l->read_energy) || !add_product(&m->energy, m->written, l->write_energy))
      return false;
  }
  d->out->has_area = d->out->has_area || l->has_area;
  if (!add_product(&d->out->area, l->area, nst_rat_int(l->hw_instances))) return false;
  return leak(d, level) && add_rat(&d->out->energy, m->energy) && rat_fits(m->cycles) && rat_fits(m->read) &&
         rat_fits(m->written);
}

/* ops / (cycles * rate * all compute instances of the hardware) */
static bool derive_utilization(const deriver *d) {
  const nst_ir_hardware *h = &d->nest->ir->hardware;
  nst_rat per_cycle = nst_rat_int(0), possible;
  for (int l = 0; l < h->nlevels; l++)
    if (h->levels[l].kind == NST_LEVEL_COMPUTE &&
        !add_product(&per_cycle, d->nest->levels[l].rate, nst_rat_int(d->nest->levels[l].hw_instances)))
      return false;
  d->out->has_utilization = per_cycle.num != 0 && d->out->cycles.num != 0;
  if (!d->out->has_utilization) return true;
  return nst_rat_mul(&possible, d->out->cycles, per_cycle) &&
         nst_rat_div(&d->out->utilization, nst_rat_int(d->out->ops), possible);
}

static bool derive(const deriver *d) {
  nst_metrics *out = d->out;
  const nst_ir_mapping *m = d->nest->ir;
  nst_rat cycles = nst_rat_int(0);
  for (int s = 0; s < d->counts->nstmts; s++) {
    if (__builtin_add_overflow(out->ops, d->counts->ops[s], &out->ops)) return false;
    if (__builtin_add_overflow(out->steps, d->counts->steps[s], &out->steps)) return false;
    if (!statement_cycles(d, s, &cycles)) return false;
  }
  if (!nst_rat_ceil(&out->cycles, cycles) || !rat_fits(out->cycles)) return false;
  for (int l = 0; l < m->hardware.nlevels; l++)
    if (!derive_level(d, l)) return false;
  out->offchip = out->levels[m->outermost].traffic;
  out->has_edp = nst_rat_mul(&out->edp, out->energy, out->cycles);
  out->has_intensity = out->offchip.num != 0;
  if (out->has_intensity && !nst_rat_div(&out->intensity, nst_rat_int(out->ops), out->offchip)) return false;
  return derive_utilization(d);
}

static bool leaks_without_clock(const nst_nest *nest, nst_diags *diags) {
  const nst_ir_hardware *h = &nest->ir->hardware;
  for (int l = 0; l < h->nlevels && !nest->has_clock; l++) {
    if (!nest->levels[l].has_leakage) continue;
    if (diags) {
      nst_diag *d = nst_diag_add(diags, NST_D_LEAKAGE_CLOCK, h->levels[l].span,
                                 "%s has leakage, but hardware %s has no clock to turn cycles into time",
                                 h->levels[l].name, h->name);
      nst_diag_help(diags, d, "add `clock = 1 GHz` to the hardware");
    }
    return true;
  }
  return false;
}

/* "traffic(BUF) of mapping m": the first figure that is too large, where it is one of a level. */
static void report_overflow(const deriver *d, nst_diags *diags) {
  const nst_ir_mapping *m = d->nest->ir;
  for (int l = 0; l < m->hardware.nlevels; l++) {
    nst_rat bytes;
    const char *figure = NULL;
    if (m->hardware.levels[l].kind != NST_LEVEL_MEMORY) continue;
    if (!nst_metrics_usage(&bytes, d->nest, d->counts, l, -1)) figure = "usage";
    else if (!nst_metrics_traffic(&bytes, d->nest, d->counts, l, -1)) figure = "traffic";
    if (!figure) continue;
    nst_diag_add(diags, NST_D_METRIC_OVERFLOW, m->span, "%s(%s) of mapping %s passes 2^63-1", figure,
                 m->hardware.levels[l].name, m->name);
    return;
  }
  nst_diag_add(diags, NST_D_METRIC_OVERFLOW, m->span, "the cycles or the energy of mapping %s pass 2^63-1", m->name);
}

bool nst_metrics_compute(nst_metrics *out, nst_arena *arena, const nst_nest *nest, const nst_counts *counts,
                         nst_diags *diags) {
  const nst_rat zero = nst_rat_int(0);
  deriver d = {nest, counts, out};
  nst_level_metrics *levels = arena ? NST_NEW_ARRAY(arena, counts->nlevels, nst_level_metrics) : out->levels;
  *out = (nst_metrics){.levels = levels,
                       .fits = true,
                       .cycles = zero,
                       .energy = zero,
                       .edp = zero,
                       .offchip = zero,
                       .utilization = zero,
                       .intensity = zero,
                       .area = zero};
  for (int l = 0; l < counts->nlevels; l++)
    out->levels[l] = (nst_level_metrics){zero, true, zero, zero, zero, zero, zero, 0};
  if (leaks_without_clock(nest, diags)) return false;
  if (derive(&d)) return true;
  if (diags) report_overflow(&d, diags);
  return false;
}

/* ---- metrics by name ---- */

static nst_eval_status give(nst_value *out, nst_rat r) {
  out->kind = NST_VALUE_RAT;
  out->rat = r;
  return NST_EVAL_OK;
}

static nst_eval_status give_if(bool defined, nst_value *out, nst_rat r) {
  return defined ? give(out, r) : NST_EVAL_NO_METRIC;
}

nst_eval_status nst_metrics_lookup(void *ctx, const nst_expr *e, nst_value *out) {
  const nst_metrics_view *v = ctx;
  const nst_metrics *m = v->metrics;
  const nst_level_metrics *level = e->level >= 0 ? &m->levels[e->level] : NULL;
  nst_rat r;
  int64_t n;
  switch (e->metric) {
  case NST_METRIC_READS:
  case NST_METRIC_FILLS:
  case NST_METRIC_UPDATES:
  case NST_METRIC_DRAINS:
  case NST_METRIC_TILE:
    if (!nst_metrics_counter(&n, v->nest, v->counts, e->metric, e->level, e->tensor)) return NST_EVAL_OVERFLOW;
    return give(out, nst_rat_int(n));
  case NST_METRIC_USAGE:
    if (e->tensor < 0) return give(out, level->usage);
    return nst_metrics_usage(&r, v->nest, v->counts, e->level, e->tensor) ? give(out, r) : NST_EVAL_OVERFLOW;
  case NST_METRIC_TRAFFIC:
    if (e->tensor < 0) return give(out, level->traffic);
    return nst_metrics_traffic(&r, v->nest, v->counts, e->level, e->tensor) ? give(out, r) : NST_EVAL_OVERFLOW;
  case NST_METRIC_OFFCHIP: return give(out, m->offchip);
  case NST_METRIC_CYCLES: return give(out, level ? level->cycles : m->cycles);
  case NST_METRIC_ENERGY: return give(out, level ? level->energy : m->energy);
  case NST_METRIC_EDP: return m->has_edp ? give(out, m->edp) : NST_EVAL_OVERFLOW;
  case NST_METRIC_OPS: return give(out, nst_rat_int(m->ops));
  case NST_METRIC_STEPS: return give(out, nst_rat_int(m->steps));
  case NST_METRIC_UTILIZATION: return give_if(m->has_utilization, out, m->utilization);
  case NST_METRIC_INTENSITY: return give_if(m->has_intensity, out, m->intensity);
  case NST_METRIC_INSTANCES: return give(out, nst_rat_int(level ? level->instances : 0));
  case NST_METRIC_AREA: return give_if(m->has_area, out, m->area);
  case NST_METRIC_FITS:
    out->kind = NST_VALUE_BOOL;
    out->truth = m->fits;
    return NST_EVAL_OK;
  case NST_METRIC_COUNT: break;
  }
  return NST_EVAL_NO_METRIC;
}
