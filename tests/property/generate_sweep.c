/* Random sweeps: a template with parameters in its tiles, orders and optional
 * keeps, a machine with rates and energies, and a block that asks for something.
 *
 * The parameters are those that the mapping's generator put into tiles, in that
 * order. A set has a size that keeps the whole space small; it may hold numbers
 * that are no tile (0, negative) or do not fit a par. Expressions are built by
 * unit (bytes, cycles, energy, elements, plain numbers), as the language checks
 * units. The text is drawn from the seed alone. */
#include "program.h"

#include <stdio.h>
#include <string.h>

/* ---- the machine ---- */

static int pick(gen_program *p, const int *from, int n) { return from[gen_below(&p->random, n)]; }

void gen_print_memory(gen_program *p, bool inner) {
  static const int rates[] = {1, 2, 3, 4, 8, 16}, energies[] = {0, 1, 2, 5, 7, 100};
  nst_buffer *b = p->out;
  if (inner && gen_chance(&p->random, 60)) nst_buffer_printf(b, " capacity = %d B", 1 << gen_between(&p->random, 2, 11));
  if (gen_chance(&p->random, 45)) {
    nst_buffer_printf(b, " bandwidth = %d B/cycle", pick(p, rates, 6));
  } else if (gen_chance(&p->random, 40)) {
    nst_buffer_printf(b, " read_bandwidth = %d B/cycle", pick(p, rates, 6));
    if (gen_chance(&p->random, 70)) nst_buffer_printf(b, " write_bandwidth = 0.%d B/cycle", gen_between(&p->random, 1, 9));
  }
  if (gen_chance(&p->random, 50)) nst_buffer_printf(b, " energy = %d.%d pJ/B", pick(p, energies, 6), gen_below(&p->random, 10));
  else if (gen_chance(&p->random, 60))
    nst_buffer_printf(b, " read_energy = %d pJ/B write_energy = %d.5 pJ/B", pick(p, energies, 6), pick(p, energies, 6));
  if (gen_chance(&p->random, 15)) nst_buffer_puts(b, " leakage = 1 mW");
  if (gen_chance(&p->random, 15)) nst_buffer_puts(b, " overlap = false");
}

void gen_print_compute(gen_program *p) {
  nst_buffer_puts(p->out, "  clock = 1 GHz\n  compute MAC {");
  if (gen_chance(&p->random, 70)) nst_buffer_printf(p->out, " energy = 0.%d pJ", gen_between(&p->random, 1, 9));
  if (gen_chance(&p->random, 30)) nst_buffer_printf(p->out, " rate = %d", gen_between(&p->random, 1, 3));
  nst_buffer_puts(p->out, " }\n}\n");
}

/* ---- sets ---- */

static void print_list(gen_program *p, int width, int most) {
  int n = gen_between(&p->random, 1, most < 7 ? most : 7);
  nst_buffer_putc(p->out, '[');
  for (int i = 0; i < n; i++) {
    int v = gen_chance(&p->random, 8) ? gen_between(&p->random, -2, 0) : gen_between(&p->random, 1, width + 2);
    nst_buffer_printf(p->out, v < 0 ? "%s0 - %d" : "%s%d", i ? ", " : "", v < 0 ? -v : v);
  }
  nst_buffer_putc(p->out, ']');
}

static void print_set(gen_program *p, int param, const bool *swept, int most) {
  nst_buffer *b = p->out;
  int width = p->param_width[param], before = -1, step = 1;
  for (int i = 0; i < param; i++)
    if (swept[i] && (before < 0 || gen_chance(&p->random, 50))) before = i;
  nst_buffer_printf(b, "  t%d in ", param);
  if (before >= 0 && gen_chance(&p->random, 35)) {
    switch (gen_below(&p->random, 5)) {
    case 0: nst_buffer_printf(b, "divisors(max(1, t%d))", before); break;
    case 1: nst_buffer_printf(b, "1 .. min(t%d, %d)", before, most); break;
    case 2: nst_buffer_printf(b, "[t%d, 1, %d]", before, width); break;
    case 3: nst_buffer_printf(b, "pow2(1, max(1, t%d))", before); break;
    case 4: nst_buffer_printf(b, "t%d .. t%d + %d", before, before, gen_between(&p->random, 0, most < 4 ? most - 1 : 4)); break;
    }
  } else if (gen_chance(&p->random, 30)) {
    nst_buffer_printf(b, "divisors(%d)", width);
  } else if (gen_chance(&p->random, 15)) {
    nst_buffer_printf(b, "pow2(1, %d)", width + 2);
  } else if (gen_chance(&p->random, 35)) {
    print_list(p, width, most);
  } else {
    int lo = gen_chance(&p->random, 15) ? gen_between(&p->random, 0, 2) : 1;
    while ((width - lo) / step + 1 > most) step++;
    nst_buffer_printf(b, "%d .. %d", lo, width + (step == 1 && gen_chance(&p->random, 15)));
    if (step > 1) nst_buffer_printf(b, " step %d", step);
  }
  nst_buffer_putc(b, '\n');
}

/* ---- expressions ---- */

typedef enum { BYTES, CYCLES, ENERGY, COUNT, PLAIN, UNITS } unit;

typedef struct {
  gen_program *p;
  const bool *swept;
} writer;

static int memory(gen_program *p) {
  int l;
  do l = gen_below(&p->random, p->nlevels);
  while (p->level[l].array);
  return l;
}

static char tensor(gen_program *p) { return p->tensor[gen_below(&p->random, p->ntensors)].name; }

static void param(const writer *w) {
  gen_program *p = w->p;
  if (p->nparams) nst_buffer_printf(p->out, "t%d", gen_below(&p->random, p->nparams));
  else nst_buffer_puts(p->out, "2");
}

static void metric(const writer *w, unit u) {
  static const char *const counters[] = {"reads", "fills", "updates", "drains", "tile"};
  gen_program *p = w->p;
  nst_buffer *b = p->out;
  const int kind = gen_below(&p->random, 8);
  switch (u) {
  case BYTES:
    if (kind < 3) nst_buffer_puts(b, "offchip");
    else if (kind < 5) nst_buffer_printf(b, "usage(L%d)", memory(p));
    else if (kind < 6) nst_buffer_printf(b, "usage(L%d, %c)", memory(p), tensor(p));
    else if (kind < 7) nst_buffer_printf(b, "traffic(L%d)", memory(p));
    else nst_buffer_printf(b, "traffic(L%d, %c)", memory(p), tensor(p));
    return;
  case CYCLES:
    if (kind < 6) nst_buffer_puts(b, "cycles");
    else if (kind < 7) nst_buffer_printf(b, "cycles(L%d)", memory(p));
    else nst_buffer_puts(b, "cycles(MAC)");
    return;
  case ENERGY:
    if (kind < 6) nst_buffer_puts(b, "energy");
    else nst_buffer_printf(b, "energy(L%d)", memory(p));
    return;
  case COUNT:
    if (kind < 1) nst_buffer_puts(b, "steps");
    else if (kind < 2) nst_buffer_puts(b, "ops");
    else if (kind < 4) nst_buffer_printf(b, "%s(L%d)", counters[gen_below(&p->random, 5)], memory(p));
    else nst_buffer_printf(b, "%s(L%d, %c)", counters[gen_below(&p->random, 5)], memory(p), tensor(p));
    return;
  case PLAIN:
  case UNITS: break;
  }
  if (kind < 3) param(w);
  else if (kind < 5) nst_buffer_puts(b, "utilization");
  else if (kind < 6) nst_buffer_puts(b, "instances(MAC)");
  else if (kind < 7) nst_buffer_printf(b, "instances(L%d)", memory(p));
  else param(w);
}

static unit any_unit(gen_program *p) {
  static const unit units[] = {BYTES, BYTES, BYTES, CYCLES, CYCLES, ENERGY, ENERGY, COUNT, PLAIN};
  return units[gen_below(&p->random, 9)];
}

static void condition(const writer *w, int depth);

/* Something of a unit: mostly a metric alone. */
static void number(const writer *w, unit u, int depth) {
  gen_program *p = w->p;
  nst_buffer *b = p->out;
  if (!depth || gen_chance(&p->random, 62)) {
    metric(w, u);
    return;
  }
  static const char *const joins[] = {" + ", " - ", " + "};
  switch (gen_below(&p->random, 16)) {
  case 0:
  case 1:
  case 2:
    nst_buffer_putc(b, '(');
    number(w, u, depth - 1);
    nst_buffer_puts(b, joins[gen_below(&p->random, 3)]);
    number(w, u, depth - 1);
    nst_buffer_putc(b, ')');
    return;
  case 3:
  case 4:
    nst_buffer_puts(b, gen_chance(&p->random, 50) ? "min(" : "max(");
    number(w, u, depth - 1);
    nst_buffer_puts(b, ", ");
    number(w, u, depth - 1);
    nst_buffer_putc(b, ')');
    return;
  case 5:
  case 6:
    nst_buffer_printf(b, "%d * ", gen_between(&p->random, 2, 5));
    number(w, u, depth - 1);
    return;
  case 7:
    number(w, u, 0);
    nst_buffer_puts(b, " * ");
    param(w);
    return;
  case 8:
    number(w, u, 0);
    nst_buffer_printf(b, " / %d", gen_between(&p->random, 2, 9));
    return;
  case 9:
    nst_buffer_puts(b, gen_chance(&p->random, 50) ? "floor(" : "ceil(");
    number(w, u, depth - 1);
    nst_buffer_printf(b, " / %d)", gen_between(&p->random, 2, 9));
    return;
  case 10:
    nst_buffer_puts(b, "ceildiv(");
    number(w, u, depth - 1);
    nst_buffer_printf(b, ", %d)", gen_between(&p->random, 2, 9));
    return;
  case 11:
    number(w, u, 0);
    nst_buffer_printf(b, gen_chance(&p->random, 60) ? " // %d" : " %% %d", gen_between(&p->random, 2, 9));
    return;
  case 12:
    nst_buffer_puts(b, "(if ");
    condition(w, 0);
    nst_buffer_puts(b, " then ");
    number(w, u, depth - 1);
    nst_buffer_puts(b, " else ");
    number(w, u, depth - 1);
    nst_buffer_putc(b, ')');
    return;
  case 13:
    nst_buffer_puts(b, "abs(");
    number(w, u, 0);
    nst_buffer_puts(b, " - ");
    number(w, u, 0);
    nst_buffer_putc(b, ')');
    return;
  case 14:
    nst_buffer_puts(b, "-");
    number(w, u, 0);
    return;
  case 15:
    nst_buffer_putc(b, '(');
    metric(w, u);
    nst_buffer_puts(b, gen_chance(&p->random, 80) ? ")" : ") ** 2");
    return;
  }
}

static void bound(gen_program *p, unit u) {
  int bits = u == PLAIN ? 4 : u == COUNT ? 9 : u == CYCLES ? 13 : u == ENERGY ? 16 : 11;
  nst_buffer_printf(p->out, "%d", gen_between(&p->random, 1 << (bits / 3), 1 << gen_between(&p->random, bits / 3, bits)));
}

static void comparison(const writer *w) {
  static const char *const operators[] = {"<=", "<", ">=", ">", "==", "!=", "<=", "<="};
  gen_program *p = w->p;
  nst_buffer *b = p->out;
  const int kind = gen_below(&p->random, 10);
  if (kind < 3) {
    nst_buffer_printf(b, "usage(L%d) <= %d", memory(p), 1 << gen_between(&p->random, 2, 12));
  } else if (kind < 5) {
    param(w);
    nst_buffer_printf(b, " %s ", operators[gen_below(&p->random, 8)]);
    if (gen_chance(&p->random, 50)) param(w);
    else nst_buffer_printf(b, "%d", gen_between(&p->random, 1, 8));
  } else if (kind < 6) {
    nst_buffer_printf(b, "%d <= ", gen_between(&p->random, 0, 3));
    param(w);
    nst_buffer_printf(b, " %s %d", gen_chance(&p->random, 50) ? "<" : "<=", gen_between(&p->random, 3, 12));
  } else if (kind < 7) {
    param(w);
    nst_buffer_puts(b, " * ");
    param(w);
    nst_buffer_printf(b, " <= %d", gen_between(&p->random, 4, 60));
  } else {
    unit u = any_unit(p);
    number(w, u, gen_chance(&p->random, 30));
    nst_buffer_printf(b, " %s ", operators[gen_below(&p->random, 8)]);
    if (gen_chance(&p->random, 25)) number(w, u, 0);
    else bound(p, u);
  }
}

static void condition(const writer *w, int depth) {
  gen_program *p = w->p;
  nst_buffer *b = p->out;
  if (gen_chance(&p->random, 25)) {
    nst_buffer_puts(b, "fits");
    return;
  }
  if (!depth || gen_chance(&p->random, 50)) {
    comparison(w);
    return;
  }
  if (gen_chance(&p->random, 25)) {
    nst_buffer_puts(b, "not (");
    condition(w, depth - 1);
    nst_buffer_putc(b, ')');
    return;
  }
  nst_buffer_putc(b, '(');
  condition(w, depth - 1);
  nst_buffer_puts(b, gen_chance(&p->random, 60) ? " and " : " or ");
  condition(w, depth - 1);
  nst_buffer_putc(b, ')');
}

static void list(const writer *w, int n, int depth) {
  for (int i = 0; i < n; i++) {
    if (i) nst_buffer_puts(w->p->out, ", ");
    const int kind = gen_below(&w->p->random, 20);
    if (kind == 0) nst_buffer_puts(w->p->out, "edp");
    else if (kind == 1) nst_buffer_puts(w->p->out, "intensity");
    else number(w, any_unit(w->p), depth);
  }
}

/* ---- the block ---- */

/* The largest number from 2 to 24 whose power n is at most `of`, or 2. */
static int root(int of, int n) {
  for (int k = 3; k <= 24; k++) {
    long power = 1;
    for (int i = 0; i < n; i++) power *= k;
    if (power > of) return k - 1;
  }
  return 24;
}

static void print_block(gen_program *p, int most) {
  bool swept[GEN_DIMS * 4] = {false};
  int n = 0;
  for (int i = 0; i < p->nparams; i++) n += swept[i] = gen_chance(&p->random, 90);
  const int each = root(most / (int)(p->variants ? p->variants : 1), n);
  const writer w = {p, swept};
  nst_buffer_puts(p->out, "sweep s of m {\n");
  for (int i = 0; i < p->nparams; i++)
    if (swept[i]) print_set(p, i, swept, each);
  for (int k = gen_below(&p->random, 3); k > 0; k--) {
    nst_buffer_puts(p->out, "  where ");
    condition(&w, 2);
    nst_buffer_putc(p->out, '\n');
  }
  const bool objective = gen_chance(&p->random, 85);
  if (objective) {
    nst_buffer_puts(p->out, gen_chance(&p->random, 25) ? "  maximize " : "  minimize ");
    list(&w, gen_chance(&p->random, 50) ? 1 : gen_between(&p->random, 2, 3), 2);
    nst_buffer_putc(p->out, '\n');
  }
  if (!objective || gen_chance(&p->random, 60)) {
    nst_buffer_puts(p->out, "  pareto ");
    list(&w, gen_chance(&p->random, 65) ? 2 : gen_chance(&p->random, 50) ? 1 : 3, 1);
    nst_buffer_putc(p->out, '\n');
  }
  if (gen_chance(&p->random, 60)) nst_buffer_printf(p->out, "  top %d\n", gen_between(&p->random, 1, 20));
  nst_buffer_puts(p->out, "}\n");
}

void gen_sweep(nst_buffer *out, uint64_t seed, int most) {
  gen_program p = {.random = {seed ^ UINT64_C(0x5eeb)}, .out = out, .sweep = true};
  nst_buffer_clear(out);
  p.wide = most > 5000;
  p.most_points = p.wide ? 100000 : gen_chance(&p.random, 60) ? 600 : 4000;
  if (gen_chance(&p.random, 25)) {
    gen_workload_cascade(&p);
    gen_hardware(&p, gen_between(&p.random, 2, 3));
    gen_cascade_mapping(&p);
  } else {
    gen_workload_nest(&p);
    gen_hardware(&p, gen_between(&p.random, 2, 3));
    gen_nest_mapping(&p);
  }
  gen_print_workload(&p);
  gen_print_hardware(&p);
  nst_buffer_puts(out, "mapping m");
  for (int i = 0; i < p.nparams; i++) {
    nst_buffer_printf(out, "%st%d = ", i ? ", " : "(", i);
    if (i && gen_chance(&p.random, 12)) nst_buffer_printf(out, "max(1, t%d - %d)", gen_below(&p.random, i), gen_below(&p.random, 2));
    else nst_buffer_printf(out, "%d", p.param[i]);
  }
  nst_buffer_printf(out, "%s of w on h {\n", p.nparams ? ")" : "");
  nst_buffer_add(out, p.body.text, p.body.len);
  nst_buffer_puts(out, "}\n");
  nst_buffer_fini(&p.body);
  print_block(&p, most);
}
