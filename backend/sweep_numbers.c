/* Which numbers hold a sweep exactly.
 *
 * Every form, every op and every sum on the way is bounded from below and from
 * above over all points and variants. The bounds are doubles, widened by more
 * than their rounding, so a number proven small is small. */
#include "backend/sweep_kernel.h"
#include "backend/sweep_rank.h"
#include "backend/sweep_share.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef nst_range range;

static range widen(range r) { return (range){r.lo - fabs(r.lo) * 1e-9, r.hi + fabs(r.hi) * 1e-9}; }
/* Of whole numbers. */
static range whole(range r) { return (range){ceil(r.lo), floor(r.hi)}; }
static double size_of(range r) { return fmax(fabs(r.lo), fabs(r.hi)); }
static range times(range a, range b) {
  const double p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
  return widen((range){fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s))});
}

/* The values of a polynomial; *partial: no sum or product on the way to them is larger. */
static range range_of_poly(const nst_kernel_engine *k, const nst_sweep_poly *p, double *partial) {
  range sum = {0, 0};
  *partial = 0;
  for (int i = 0; i < p->nterms; i++) {
    const double c = (double)p->terms[i].coef.num;
    range term = {c, c};
    double most = fabs(c);
    for (int a = 0; a < k->tables.naxes; a++) {
      const nst_sweep_column *x = &k->tables.columns[a][p->terms[i].columns[a]];
      if (!p->terms[i].columns[a]) continue;
      const range of = {(double)x->least, (double)x->most};
      term = times(term, of);
      most *= fmax(1, size_of(of));
    }
    sum = widen((range){sum.lo + term.lo, sum.hi + term.hi});
    *partial += most;
  }
  *partial *= 1 + 1e-9;
  return sum;
}

static range range_of(const nst_vop *o, const range *r, const range *forms) {
  const range a = o->a >= 0 ? r[o->a] : (range){0, 0}, b = o->b >= 0 ? r[o->b] : (range){0, 0};
  const double imm = (double)o->imm;
  switch (o->kind) {
  case NST_VOP_FORM: return forms[o->imm];
  case NST_VOP_CONST: return (range){imm, imm};
  case NST_VOP_ADD: return widen((range){a.lo + b.lo, a.hi + b.hi});
  case NST_VOP_SUB: return widen((range){a.lo - b.hi, a.hi - b.lo});
  case NST_VOP_MUL: return times(a, b);
  case NST_VOP_MIN: return (range){fmin(a.lo, b.lo), fmin(a.hi, b.hi)};
  case NST_VOP_MAX: return (range){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
  case NST_VOP_SCALE: return times(a, (range){imm, imm});
  case NST_VOP_CEILDIV: return widen((range){a.lo / imm, a.hi / imm + 1});
  case NST_VOP_FLOORDIV: return widen((range){a.lo / imm - 1, a.hi / imm});
  case NST_VOP_SELECT:
    if (r[o->imm].lo > 0) return a;
    return r[o->imm].hi < 1 ? b : (range){fmin(a.lo, b.lo), fmax(a.hi, b.hi)};
  case NST_VOP_LT: return (range){a.hi < b.lo, a.lo < b.hi};
  case NST_VOP_LE: return (range){a.hi <= b.lo, a.lo <= b.hi};
  case NST_VOP_EQ: return (range){a.lo == a.hi && b.lo == b.hi && a.lo == b.lo, a.lo <= b.hi && b.lo <= a.hi};
  case NST_VOP_AND: return (range){fmin(a.lo, b.lo), fmin(a.hi, b.hi)};
  case NST_VOP_OR: return (range){fmax(a.lo, b.lo), fmax(a.hi, b.hi)};
  case NST_VOP_NOT: return (range){1 - a.hi, 1 - a.lo};
  case NST_VOP_TRUE: return (range){1, 1};
  }
  return (range){0, 0};
}

nst_range nst_kernel_range_of_op(const nst_vop *o, const nst_range *ops, const nst_range *forms) {
  return whole(range_of(o, ops, forms));
}

/* Sums of counts; a parameter may be negative. */
bool nst_kernel_is_positive(const nst_sweep_form *f) {
  for (int i = 0; i < f->natoms; i++)
    if (f->atoms[i].weight.num < 0 || f->atoms[i].kind == NST_ATOM_PARAM || f->atoms[i].kind == NST_ATOM_TABULATED) return false;
  return true;
}

/* No number on the way to a form is larger; base: of the forms, NULL: they stand on their own. */
static double largest_partial(const nst_kernel_engine *k, const nst_sweep_known_poly *polys, size_t npolys, const int *base) {
  double most = 0, partial, of[NST_KERNEL_PROGRAM + 1] = {0};
  for (size_t i = 0; i < npolys; i++) {
    range_of_poly(k, &polys[i].poly, &partial);
    of[polys[i].form] = fmax(of[polys[i].form], partial);
  }
  for (int f = 0; f < k->program.nforms; f++) {
    if (base && base[f] >= 0) of[f] += of[base[f]];
    most = fmax(most, of[f]);
  }
  return most;
}

/* The ranges of all ops and forms; the largest number on the way to any. */
static double ranges(const nst_kernel_engine *k, range *ops, range *forms) {
  double most = largest_partial(k, k->polys.items, k->polys.len, NULL), partial;
  for (int f = 0; f < k->program.nforms; f++) forms[f] = (range){INFINITY, -INFINITY};
  for (size_t i = 0; i < k->polys.len; i++) {
    const range r = range_of_poly(k, &k->polys.items[i].poly, &partial);
    range *form = &forms[k->polys.items[i].form];
    *form = whole((range){fmin(form->lo, r.lo), fmax(form->hi, r.hi)});
  }
  for (int f = 0; f < k->program.nforms; f++)
    if (nst_kernel_is_positive(&k->program.forms[f])) forms[f].lo = fmax(0, forms[f].lo);
  for (int i = 0; i < k->program.nops; i++) {
    const nst_vop *o = &k->program.ops[i];
    ops[i] = nst_kernel_range_of_op(o, ops, forms);
    most = fmax(most, size_of(ops[i]));
    if (o->kind == NST_VOP_CEILDIV || o->kind == NST_VOP_FLOORDIV) most = fmax(most, size_of(ops[o->a]) + 2 * (double)o->imm);
  }
  return most;
}

/* What divides is positive, so nothing is wrong; or may be 0; or may be negative. */
static const char *check_divisors(nst_kernel_engine *k, const range *ops) {
  bool zero = false;
  for (int i = 0; i < k->program.ndivisors; i++) {
    const double lo = ops[k->program.divisors[i]].lo;
    if (lo < 0) return "a division by what may be negative";
    zero = zero || lo < 0.5;
  }
  if (!zero) k->program.wrong = -1;
  return NULL;
}

static int longest_axis(const nst_kernel_engine *k) {
  int longest = -1;
  for (int a = 0; a < k->tables.naxes; a++)
    if (longest < 0 || k->axes.axes[a].ntuples >= k->axes.axes[longest].ntuples) longest = a;
  return longest;
}

/* The polynomials of each variant; to be freed. */
static int **list_numbers(const nst_kernel_engine *k) {
  int **numbers = malloc((k->axes.variants.count + 1) * sizeof *numbers);
  if (!numbers) nst_out_of_memory();
  for (uint64_t v = 0; v < k->axes.variants.count; v++) numbers[v] = k->variants[v].polys;
  return numbers;
}

/* Forms as others and a rest, where that leaves less to add. */
static void share(nst_kernel_engine *k, int axis) {
  const uint64_t nvariants = k->axes.variants.count;
  int **numbers = list_numbers(k);
  nst_sweep_shared s;
  if (nst_sweep_share(&s, k->arena, &k->tables, axis, k->polys.items, k->polys.len, numbers, nvariants, k->program.nforms) &&
      largest_partial(k, s.polys, s.npolys, s.base) < 0x1p52) {
    k->base = s.base;
    k->polys.items = s.polys;
    k->polys.len = k->polys.cap = s.npolys;
    for (uint64_t v = 0; v < nvariants; v++) k->variants[v].polys = s.numbers[v];
  }
  free(numbers);
}

/* Fewer columns of an axis. */
static void reduce(nst_kernel_engine *k, int axis) {
  nst_sweep_known_poly *plain = NST_NEW_ARRAY(k->arena, k->polys.len, nst_sweep_known_poly);
  memcpy(plain, k->polys.items, k->polys.len * sizeof *plain);
  if (!nst_sweep_rank_reduce(k->arena, &k->tables, axis, k->polys.items, k->polys.len, k->program.nforms)) return;
  if (largest_partial(k, k->polys.items, k->polys.len, k->base) < 0x1p52) return;
  memcpy(k->polys.items, plain, k->polys.len * sizeof *plain); /* too large on the way */
}

const char *nst_kernel_choose_numbers(nst_kernel_engine *k, bool *floating) {
  range ops[NST_KERNEL_PROGRAM + 1];
  k->forms = NST_NEW_ARRAY(k->arena, k->program.nforms, nst_range);
  const double most = ranges(k, ops, k->forms);
  const char *wrong = check_divisors(k, ops);
  if (wrong) return wrong;
  double sum = 0;
  for (int i = 0; i < k->program.nmetrics; i++)
    sum += size_of(ops[k->program.metrics[i].over < 0 ? k->program.metrics[i].op : k->program.metrics[i].over]);
  k->small_sum = sum < 0x1p52;
  *floating = most < 0x1p52;
  k->divisors = NST_NEW_ARRAY(k->arena, k->program.nforms + 1, int64_t);
  k->base = NST_NEW_ARRAY(k->arena, k->program.nforms + 1, int);
  k->like = NST_NEW_ARRAY(k->arena, k->program.nforms + 1, int);
  for (int f = 0; f < k->program.nforms; f++) k->divisors[f] = 1, k->base[f] = k->like[f] = -1;
  if (k->sweep->npareto && k->program.metrics[k->sweep->nobjectives].order >= 0) {
    int exponent = 1;
    (void)frexp(fmax(1, ops[k->program.metrics[k->sweep->nobjectives].order].hi), &exponent);
    k->octave = exponent - 1;
  }
  k->slack = *floating ? 0 : most * 1e-12;
  if (!*floating) return most < 0x1p62 ? NULL : "numbers past 62 bits";
  const int longest = longest_axis(k);
  if (longest < 0 || !k->polys.len) return NULL;
  share(k, longest);
  reduce(k, longest);
  for (int a = 0; a < k->tables.naxes; a++) /* fewer terms further out, and with terms that cancel fewer columns again */
    if (a != longest) reduce(k, a);
  int **numbers = list_numbers(k);
  nst_sweep_find_like(k->like, &k->tables, longest, k->polys.items, k->polys.len, numbers, k->axes.variants.count, k->program.nforms);
  free(numbers);
  return NULL;
}
