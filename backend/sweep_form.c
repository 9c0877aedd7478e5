/* The polynomials behind a sweep's forms, and the program at one point; see
 * sweep_program.h. */
#include "backend/sweep_program.h"
#include <stdlib.h>
#include <string.h>

/* ---- the polynomials of a variant ---- */

static bool on_path(const nst_ir_mapping *m, int stmt, int node) {
  for (int i = 0; i < m->paths[stmt].nnodes; i++)
    if (m->paths[stmt].nodes[i] == node) return true;
  return false;
}

/* ---- instances ---- */

/* A formula that is one product of columns and a positive factor. */
static bool one_product(nst_sweep_tables *t, const nst_formula *f, const nst_sweep_factor *factors, int *columns, int64_t *factor) {
  nst_sweep_poly p = {0};
  if (!nst_sweep_poly_add(t, &p, nst_rat_int(1), f, factors)) return false;
  nst_sweep_poly_finish(t, &p);
  for (int a = 0; a < t->naxes; a++) columns[a] = p.nterms ? p.terms[0].columns[a] : 0;
  *factor = 1;
  if (!p.nterms) return true; /* none: they count as one */
  for (int a = 0; a < t->naxes; a++)
    if (t->columns[a][columns[a]].least < 1) return false;
  return p.nterms == 1 && nst_rat_to_i64(factor, p.terms[0].coef) && *factor > 0;
}

static bool same_instances(nst_sweep_tables *t, const nst_sweep_instances *n, const nst_formula *f, const nst_sweep_factor *factors) {
  int columns[65];
  int64_t factor;
  return one_product(t, f, factors, columns, &factor) && factor == n->factor && !memcmp(columns, n->columns, (size_t)t->naxes * sizeof *columns);
}

static bool common_multiple(const nst_sweep_column *c, size_t n, int64_t *common) {
  *common = 1;
  for (size_t i = 0; i < n; i++) {
    int64_t a = *common, b = c->values[i];
    while (b) {
      int64_t r = a % b;
      a = b;
      b = r;
    }
    if (__builtin_mul_overflow(*common / a, c->values[i], common) || *common > (int64_t)1 << 40) return false;
  }
  return true;
}

static void find_instances(nst_arena *arena, nst_sweep_tables *t, const nst_formula *f, const nst_sweep_factor *factors, nst_sweep_instances *n) {
  n->columns = NST_NEW_ARRAY(arena, t->naxes + 1, int);
  n->shares = NST_NEW_ARRAY(arena, t->naxes + 1, int);
  if (!one_product(t, f, factors, n->columns, &n->factor)) return;
  n->known = true;
  n->common = n->factor;
  for (int a = 0; a < t->naxes && n->known; a++) {
    const size_t ntuples = t->axes->axes[a].ntuples;
    int64_t common;
    if (!n->columns[a]) continue;
    n->varies = true;
    n->known = common_multiple(&t->columns[a][n->columns[a]], ntuples, &common) && !__builtin_mul_overflow(n->common, common, &n->common);
    if (!n->known) break;
    int64_t *shares = malloc((ntuples + 1) * sizeof *shares);
    if (!shares) nst_out_of_memory();
    for (size_t i = 0; i < ntuples; i++) shares[i] = common / t->columns[a][n->columns[a]].values[i];
    n->shares[a] = nst_sweep_column_of(t, a, shares);
    free(shares);
  }
}

const nst_sweep_instances *nst_sweep_instances_find(nst_arena *arena, nst_sweep_tables *t, const nst_plan *plan,
                                                    const nst_sweep_factor *factors) {
  const int n = t->axes->mapping->workload.nstmts * t->axes->mapping->hardware.nlevels;
  nst_sweep_instances *all = NST_NEW_ARRAY(arena, n, nst_sweep_instances);
  for (int i = 0; i < n; i++) find_instances(arena, t, &plan->instances[i], factors, &all[i]);
  return all;
}

/* ---- forms ---- */

static bool add_atom(nst_sweep_poly *out, nst_sweep_tables *t, const nst_sweep_program *p, const nst_atom *a, const nst_ir_mapping *m,
                     const nst_plan *plan, const nst_sweep_factor *factors) {
  static const nst_product empty = {1, 0, NULL};
  static const nst_formula one = {1, &empty};
  const nst_rat w = a->weight;
  const int nlevels = m->hardware.nlevels;
  switch (a->kind) {
  case NST_ATOM_ONE: return nst_sweep_poly_add(t, out, w, &one, factors);
  case NST_ATOM_PARAM: return nst_sweep_poly_add_param(t, out, w, a->tensor);
  case NST_ATOM_TABULATED: return nst_sweep_poly_add_column(t, out, w, p->tabulated[a->tensor].axis, p->tabulated[a->tensor].values);
  case NST_ATOM_INSTANCES: return nst_sweep_poly_add(t, out, w, &plan->instances[a->stmt * nlevels + a->level], factors);
  case NST_ATOM_CONFLICTS:
    for (int i = 0; i < plan->nconflicts; i++)
      if (!nst_sweep_poly_add(t, out, w, &plan->conflict[i], factors)) return false;
    return true;
  case NST_ATOM_HELD:
    for (int i = 0; i < m->nslots; i++)
      if (m->slots[i].level == a->level && m->slots[i].tensor == a->tensor && on_path(m, a->stmt, m->slots[i].node) &&
          !nst_sweep_poly_add(t, out, w, &plan->tile[i], factors))
        return false;
    return true;
  case NST_ATOM_READS:
  case NST_ATOM_FILLS:
  case NST_ATOM_UPDATES:
  case NST_ATOM_DRAINS:
  case NST_ATOM_STEPS: break;
  }
  for (int s = a->stmt < 0 ? 0 : a->stmt; s <= (a->stmt < 0 ? m->workload.nstmts - 1 : a->stmt); s++) {
    size_t at = ((size_t)s * (size_t)nlevels + (size_t)a->level) * (size_t)m->workload.ntensors + (size_t)a->tensor;
    const nst_formula *f = a->kind == NST_ATOM_STEPS     ? &plan->steps[s]
                           : a->kind == NST_ATOM_READS   ? &plan->reads[at]
                           : a->kind == NST_ATOM_FILLS   ? &plan->fills[at]
                           : a->kind == NST_ATOM_UPDATES ? &plan->updates[at]
                                                         : &plan->drains[at];
    if (!nst_sweep_poly_add(t, out, w, f, factors)) return false;
  }
  return true;
}

bool nst_sweep_form_poly(nst_sweep_poly *out, nst_sweep_tables *t, const nst_sweep_program *p, int form, const nst_ir_mapping *variant,
                         const nst_plan *plan, const nst_sweep_factor *factors) {
  const nst_sweep_form *f = &p->forms[form];
  *out = (nst_sweep_poly){0};
  for (int i = 0; i < f->natoms; i++)
    if (!add_atom(out, t, p, &f->atoms[i], variant, plan, factors)) return false;
  if (f->per >= 0 && (!same_instances(t, &p->instances[f->per], &plan->instances[f->per], factors) ||
                      !nst_sweep_poly_multiply(t, out, p->instances[f->per].shares)))
    return false;
  nst_sweep_poly_finish(t, out);
  for (int i = 0; i < out->nterms; i++) {
    int64_t whole;
    if (!nst_rat_to_i64(&whole, out->terms[i].coef)) return false;
  }
  return true;
}

/* ---- one point ---- */

bool nst_sweep_program_run(const nst_sweep_program *p, const int64_t *forms, int64_t *ops) {
  for (int i = 0; i < p->nops; i++) {
    const nst_vop *o = &p->ops[i];
    int64_t a = o->a >= 0 ? ops[o->a] : 0, b = o->b >= 0 ? ops[o->b] : 0, r = 0;
    bool good = true;
    switch (o->kind) {
    case NST_VOP_FORM: r = forms[o->imm]; break;
    case NST_VOP_CONST: r = o->imm; break;
    case NST_VOP_ADD: good = !__builtin_add_overflow(a, b, &r); break;
    case NST_VOP_SUB: good = !__builtin_sub_overflow(a, b, &r); break;
    case NST_VOP_MUL: good = !__builtin_mul_overflow(a, b, &r); break;
    case NST_VOP_MIN: r = a < b ? a : b; break;
    case NST_VOP_MAX: r = a > b ? a : b; break;
    case NST_VOP_SCALE: good = !__builtin_mul_overflow(a, o->imm, &r); break;
    case NST_VOP_CEILDIV: r = a / o->imm + (a % o->imm > 0); break;
    case NST_VOP_FLOORDIV: r = a / o->imm - (a % o->imm < 0); break;
    case NST_VOP_SELECT: r = ops[o->imm] ? a : b; break;
    case NST_VOP_LT: r = a < b; break;
    case NST_VOP_LE: r = a <= b; break;
    case NST_VOP_EQ: r = a == b; break;
    case NST_VOP_AND: r = a && b; break;
    case NST_VOP_OR: r = a || b; break;
    case NST_VOP_NOT: r = !a; break;
    case NST_VOP_TRUE: r = 1; break;
    }
    if (!good) return false;
    ops[i] = r;
  }
  return true;
}

int64_t nst_sweep_metric_order(const nst_sweep_metric *m, nst_rat r) {
  nst_rat x = nst_rat_int(0);
  if (m->over < 0) return (int64_t)(r.num * (m->den / (int64_t)r.den));
  /* r = factor / (den * over) is positive, so over = factor / (den * r) */
  if (nst_rat_mul(&x, r, nst_rat_int(m->den)) && nst_rat_div(&x, nst_rat_int(m->factor), x)) return -(int64_t)(x.num / x.den);
  return 0;
}
