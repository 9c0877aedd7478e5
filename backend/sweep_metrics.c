/* Metrics of a sweep's program; see sweep_builder.h. Linear metrics are forms at
 * once, so that energy, traffic and each part of the cycles is one sum of
 * products however many counters it adds up. */
#include "backend/sweep_builder.h"
#include <string.h>

static nst_rat scaled_bits(nst_builder *b, int tensor, nst_rat by) { /* bits/8 * by */
  nst_rat r;
  if (nst_rat_make(&r, b->axes->base->bits[tensor], 8) && nst_rat_mul(&r, r, by)) return r;
  nst_term_fail(b, "a weight past 128 bits");
  return nst_rat_int(0);
}

static int ntensors(const nst_builder *b) { return b->axes->mapping->workload.ntensors; }
static int nstmts(const nst_builder *b) { return b->axes->mapping->workload.nstmts; }
static int nlevels(const nst_builder *b) { return b->axes->mapping->hardware.nlevels; }

/* Bytes read from (reads + drains) or written to (fills + updates) a level, times a weight. */
static void add_volume(nst_builder *b, nst_atoms *as, int stmt, int level, bool written, nst_rat weight) {
  bool inner = level != b->axes->mapping->outermost; /* nothing moves above the outermost memory */
  for (int t = 0; t < ntensors(b); t++) {
    nst_rat w = scaled_bits(b, t, weight);
    if (inner || !written) nst_term_add_atom(b, as, written ? NST_ATOM_FILLS : NST_ATOM_READS, stmt, level, t, w);
    if (inner || written) nst_term_add_atom(b, as, written ? NST_ATOM_UPDATES : NST_ATOM_DRAINS, stmt, level, t, w);
  }
}

/* 0 where the level has no bandwidth. */
static nst_term memory_cycles(nst_builder *b, int stmt, int level) {
  const nst_nest_level *l = &b->axes->base->levels[level];
  nst_term worst = nst_term_constant(b, nst_rat_int(0));
  if (!l->has_bandwidth && !l->has_read_bandwidth && !l->has_write_bandwidth) return worst;
  const int at = stmt * nlevels(b) + level;
  const nst_sweep_instances *n = &b->instances[at];
  if (!n->known) return nst_term_fail(b, "the number of instances of a level with a bandwidth is no product");
  bool first = true;
  for (int k = 0; k < 3; k++) {
    bool given = k == 0 ? l->has_bandwidth : k == 1 ? l->has_read_bandwidth : l->has_write_bandwidth;
    nst_rat rate = k == 0 ? l->bandwidth : k == 1 ? l->read_bandwidth : l->write_bandwidth, weight;
    if (!given) continue;
    if (!n->varies && !nst_rat_mul(&rate, rate, nst_rat_int(n->common))) return nst_term_fail(b, "a rate past 128 bits");
    if (!nst_rat_div(&weight, nst_rat_int(1), rate)) return nst_term_fail(b, "a rate past 128 bits");
    nst_atoms as = {0};
    if (k != 2) add_volume(b, &as, stmt, level, false, weight);
    if (k != 1) add_volume(b, &as, stmt, level, true, weight);
    if (!as.len) continue;
    nst_term form = nst_term_form(b, &as, n->varies ? at : -1);
    worst = first ? form : nst_term_combine(b, NST_VOP_MAX, worst, form);
    first = false;
  }
  return worst;
}

static int unit_of(const nst_builder *b, int stmt) {
  const nst_ir_mapping *m = b->axes->mapping;
  return m->nodes[m->paths[stmt].nodes[m->paths[stmt].nnodes - 1]]->level;
}

static nst_term compute_cycles(nst_builder *b, int stmt) {
  nst_atoms as = {0};
  nst_rat weight;
  if (!nst_rat_div(&weight, nst_rat_int(1), b->axes->base->levels[unit_of(b, stmt)].rate)) return nst_term_fail(b, "a rate past 128 bits");
  nst_term_add_atom(b, &as, NST_ATOM_STEPS, stmt, 0, 0, weight);
  return nst_term_form(b, &as, -1);
}

static nst_term all_cycles(nst_builder *b) {
  nst_term total = nst_term_constant(b, nst_rat_int(0));
  for (int s = 0; s < nstmts(b); s++) {
    nst_term slowest = compute_cycles(b, s), alone = nst_term_constant(b, nst_rat_int(0));
    for (int l = 0; l < nlevels(b); l++) {
      const nst_ir_level *level = &b->axes->mapping->hardware.levels[l];
      const nst_nest_level *rates = &b->axes->base->levels[l];
      if (level->kind != NST_LEVEL_MEMORY || (!rates->has_bandwidth && !rates->has_read_bandwidth && !rates->has_write_bandwidth)) continue;
      nst_term c = memory_cycles(b, s, l);
      if (level->overlap) slowest = nst_term_combine(b, NST_VOP_MAX, slowest, c);
      else alone = nst_term_combine(b, NST_VOP_ADD, alone, c);
    }
    total = nst_term_combine(b, NST_VOP_ADD, total, nst_term_combine(b, NST_VOP_ADD, slowest, alone));
  }
  if (total.op < 0) return nst_term_failed;
  return (nst_term){total.den == 1 ? total.op : nst_term_op(b, NST_VOP_CEILDIV, total.op, -1, total.den), 1, -1, false};
}

static nst_term level_cycles(nst_builder *b, int level) {
  nst_term total = nst_term_constant(b, nst_rat_int(0));
  bool unit = b->axes->mapping->hardware.levels[level].kind == NST_LEVEL_COMPUTE;
  for (int s = 0; s < nstmts(b); s++)
    if (!unit || unit_of(b, s) == level)
      total = nst_term_combine(b, NST_VOP_ADD, total, unit ? compute_cycles(b, s) : memory_cycles(b, s, level));
  return total;
}

/* Energy of one level, or of all (-1): one form, and leakage by the cycles. */
static nst_term energy(nst_builder *b, int only) {
  nst_atoms as = {0};
  nst_rat leak = nst_rat_int(0);
  nst_term total = nst_term_constant(b, nst_rat_int(0));
  for (int l = 0; l < nlevels(b); l++) {
    const nst_nest_level *x = &b->axes->base->levels[l];
    const nst_ir_level *level = &b->axes->mapping->hardware.levels[l];
    if ((only >= 0 && l != only) || level->kind == NST_LEVEL_ARRAY) continue;
    if (level->kind == NST_LEVEL_MEMORY && x->has_bandwidth && !nst_rat_cmp(x->read_energy, x->write_energy)) {
      nst_atoms own = {0}; /* all that moves: the form that the cycles need too */
      for (int s = 0; s < nstmts(b); s++) {
        own.len = 0;
        own.items = NULL;
        own.cap = 0;
        add_volume(b, &own, s, l, false, x->read_energy);
        add_volume(b, &own, s, l, true, x->read_energy);
        if (own.len) total = nst_term_combine(b, NST_VOP_ADD, total, nst_term_form(b, &own, -1));
      }
    } else if (level->kind == NST_LEVEL_MEMORY) {
      add_volume(b, &as, -1, l, false, x->read_energy);
      add_volume(b, &as, -1, l, true, x->write_energy);
    }
    for (int s = 0; level->kind == NST_LEVEL_COMPUTE && s < nstmts(b); s++) {
      if (unit_of(b, s) != l) continue;
      int64_t ops = 1; /* points of the statement: they fit, the nest has checked */
      const nst_ir_stmt *st = &b->axes->mapping->workload.stmts[s];
      for (int d = 0; d < st->ndims; d++) ops *= b->axes->base->extent[st->dims[d]];
      nst_rat w;
      if (!nst_rat_mul(&w, x->energy, nst_rat_int(ops))) return nst_term_fail(b, "an energy past 128 bits");
      nst_term_add_atom(b, &as, NST_ATOM_ONE, -1, 0, 0, w);
    }
    if (!x->has_leakage || !x->leakage.num) continue;
    nst_rat w; /* W * instances / Hz * 10^12 pJ/J */
    if (!b->axes->base->has_clock) return nst_term_fail(b, "leakage without a clock");
    if (!nst_rat_mul(&w, x->leakage, nst_rat_int(x->hw_instances)) || !nst_rat_mul(&w, w, nst_rat_int(1000000000000)) ||
        !nst_rat_div(&w, w, b->axes->base->clock) || !nst_rat_add(&leak, leak, w))
      return nst_term_fail(b, "a leakage past 128 bits");
  }
  if (as.len) total = nst_term_combine(b, NST_VOP_ADD, total, nst_term_form(b, &as, -1));
  if (leak.num) total = nst_term_combine(b, NST_VOP_ADD, total, nst_term_combine(b, NST_VOP_MUL, nst_term_constant(b, leak), all_cycles(b)));
  return total;
}

/* Counters and traffic; off-chip traffic is all that moves at the outermost memory. */
static nst_term counters(nst_builder *b, const nst_expr *e) {
  static const nst_atom_kind kinds[] = {NST_ATOM_READS, NST_ATOM_FILLS, NST_ATOM_UPDATES, NST_ATOM_DRAINS};
  nst_atoms as = {0};
  for (int t = 0; t < ntensors(b); t++) {
    if (e->tensor >= 0 && t != e->tensor) continue;
    if (e->metric == NST_METRIC_TRAFFIC || e->metric == NST_METRIC_OFFCHIP) {
      int level = e->metric == NST_METRIC_OFFCHIP ? b->axes->mapping->outermost : e->level;
      nst_term_add_atom(b, &as, NST_ATOM_READS, -1, level, t, scaled_bits(b, t, nst_rat_int(1)));
      nst_term_add_atom(b, &as, NST_ATOM_UPDATES, -1, level, t, scaled_bits(b, t, nst_rat_int(1)));
    } else {
      nst_term_add_atom(b, &as, kinds[e->metric - NST_METRIC_READS], -1, e->level, t, nst_rat_int(1));
    }
  }
  return nst_term_form(b, &as, -1);
}

/* Held elements or bytes: the largest over the paths, so over the branches of every seq. */
static nst_term held(nst_builder *b, int level, int tensor, bool bytes) {
  nst_term most = nst_term_failed, sum = nst_term_failed;
  bool apart = !bytes && tensor < 0; /* tile(L): the sum of each tensor's largest */
  for (int first = apart ? 0 : tensor; first < (apart ? ntensors(b) : tensor + 1); first++) {
    for (int s = 0; s < nstmts(b); s++) {
      nst_atoms as = {0};
      for (int t = 0; t < ntensors(b); t++)
        if (first < 0 || t == first) {
          nst_rat w = bytes ? scaled_bits(b, t, nst_rat_int(b->axes->mapping->hardware.levels[level].double_buffered ? 2 : 1))
                            : nst_rat_int(1);
          nst_term_add_atom(b, &as, NST_ATOM_HELD, s, level, t, w);
        }
      nst_term here = nst_term_form(b, &as, -1);
      most = s ? nst_term_combine(b, NST_VOP_MAX, most, here) : here;
    }
    sum = sum.op < 0 ? most : nst_term_combine(b, NST_VOP_ADD, sum, most);
  }
  return sum;
}

static nst_term fits(nst_builder *b) {
  nst_term all = nst_term_true(b);
  for (int l = 0; l < nlevels(b); l++)
    if (b->axes->base->levels[l].has_capacity)
      all = nst_term_logic(b, NST_VOP_AND, all, nst_term_combine(b, NST_VOP_LE, held(b, l, -1, true), nst_term_constant(b, b->axes->base->levels[l].capacity)));
  return all;
}

/* Operations of a cycle over those that the hardware could do. */
static nst_term utilization(nst_builder *b) {
  nst_rat possible = nst_rat_int(0), of;
  for (int l = 0; l < nlevels(b); l++) {
    const nst_nest_level *x = &b->axes->base->levels[l];
    if (b->axes->mapping->hardware.levels[l].kind != NST_LEVEL_COMPUTE) continue;
    if (!nst_rat_mul(&of, x->rate, nst_rat_int(x->hw_instances)) || !nst_rat_add(&possible, possible, of))
      return nst_term_fail(b, "a rate past 128 bits");
  }
  return nst_term_divide(b, nst_term_constant(b, nst_rat_int(b->axes->base->ops)),
                         nst_term_combine(b, NST_VOP_MUL, all_cycles(b), nst_term_constant(b, possible)));
}

/* The most over the statements that use the level. */
static nst_term instances(nst_builder *b, int level) {
  nst_term most = nst_term_constant(b, nst_rat_int(0));
  const nst_level_kind kind = b->axes->mapping->hardware.levels[level].kind;
  bool first = true;
  for (int s = 0; s < nstmts(b) && kind != NST_LEVEL_ARRAY; s++) {
    if (kind == NST_LEVEL_COMPUTE && unit_of(b, s) != level) continue;
    nst_atoms as = {0};
    nst_term_add_atom(b, &as, NST_ATOM_INSTANCES, s, level, 0, nst_rat_int(1));
    nst_term here = nst_term_form(b, &as, -1);
    most = first ? here : nst_term_combine(b, NST_VOP_MAX, most, here);
    first = false;
  }
  return most;
}

static nst_term area(nst_builder *b) {
  nst_rat sum = nst_rat_int(0), of;
  bool has = false;
  for (int l = 0; l < nlevels(b); l++) {
    const nst_nest_level *x = &b->axes->base->levels[l];
    has = has || x->has_area;
    if (!nst_rat_mul(&of, x->area, nst_rat_int(x->hw_instances)) || !nst_rat_add(&sum, sum, of)) return nst_term_fail(b, "an area past 128 bits");
  }
  return has ? nst_term_constant(b, sum) : nst_term_fail(b, "the area of a machine without areas");
}

nst_term nst_term_metric(nst_builder *b, const nst_expr *e) {
  switch (e->metric) {
  case NST_METRIC_READS:
  case NST_METRIC_FILLS:
  case NST_METRIC_UPDATES:
  case NST_METRIC_DRAINS:
  case NST_METRIC_TRAFFIC:
  case NST_METRIC_OFFCHIP: return counters(b, e);
  case NST_METRIC_TILE: return held(b, e->level, e->tensor, false);
  case NST_METRIC_USAGE: return held(b, e->level, e->tensor, true);
  case NST_METRIC_CYCLES: return e->level < 0 ? all_cycles(b) : level_cycles(b, e->level);
  case NST_METRIC_ENERGY: return energy(b, e->level);
  case NST_METRIC_EDP: return nst_term_combine(b, NST_VOP_MUL, energy(b, -1), all_cycles(b));
  case NST_METRIC_STEPS: {
    nst_atoms as = {0};
    nst_term_add_atom(b, &as, NST_ATOM_STEPS, -1, 0, 0, nst_rat_int(1));
    return nst_term_form(b, &as, -1);
  }
  case NST_METRIC_FITS: return fits(b);
  case NST_METRIC_OPS: return nst_term_constant(b, nst_rat_int(b->axes->base->ops));
  case NST_METRIC_UTILIZATION: return utilization(b);
  case NST_METRIC_INTENSITY: {
    nst_expr offchip = {.kind = NST_X_METRIC, .metric = NST_METRIC_OFFCHIP, .level = -1, .tensor = -1};
    return nst_term_divide(b, nst_term_constant(b, nst_rat_int(b->axes->base->ops)), counters(b, &offchip));
  }
  case NST_METRIC_INSTANCES: return instances(b, e->level);
  case NST_METRIC_AREA: return area(b);
  case NST_METRIC_COUNT: break;
  }
  return nst_term_fail(b, "a metric that kernels do not know");
}

