/* The text form of the IR, for --emit=ir.
 *
 * One declaration after the other, two spaces of indent per level, every
 * number that the engines see written out: roles and bits of tensors, ids of
 * nodes, implied keeps. Values keep their names, and expressions are printed
 * as by nst_expr_print_named. It is read by people and by golden tests, never
 * parsed back. */
#include "ir/ir.h"
#include <string.h>

typedef struct {
  nst_buffer *out;
  const nst_ir_program *program;
  const nst_ir_mapping *m; /* the mapping whose names are in force, or NULL */
  nst_arena *arena;        /* for tables of names */
  nst_expr_names names;
} printer;

static void indent(printer *p, int depth) { nst_buffer_pad(p->out, ' ', (size_t)depth * 2); }

static void expr(printer *p, const nst_expr *e) { nst_expr_print_named(p->out, e, &p->names); }

static void attribute(printer *p, const char *name, const nst_expr *e) {
  if (!e) return;
  nst_buffer_printf(p->out, " %s=", name);
  expr(p, e);
}

/* Names of a scope, and of the lets that continue its values. */
static void enter(printer *p, const nst_ir_scope *scope, const nst_ir_mapping *m, const nst_ir_value *lets, int nlets) {
  nst_name *params = NST_NEW_ARRAY(p->arena, scope->nparams + 1, nst_name);
  nst_name *values = NST_NEW_ARRAY(p->arena, scope->nvalues + nlets + 1, nst_name);
  for (int i = 0; i < scope->nparams; i++) params[i] = scope->params[i].name;
  for (int i = 0; i < scope->nvalues; i++) values[i] = scope->values[i].name;
  for (int i = 0; i < nlets; i++) values[scope->nvalues + i] = lets[i].name;
  p->names = (nst_expr_names){params, values, NULL, NULL};
  p->m = m;
  if (!m) return;
  nst_name *levels = NST_NEW_ARRAY(p->arena, m->hardware.nlevels + 1, nst_name);
  nst_name *tensors = NST_NEW_ARRAY(p->arena, m->workload.ntensors + 1, nst_name);
  for (int i = 0; i < m->hardware.nlevels; i++) levels[i] = m->hardware.levels[i].name;
  for (int i = 0; i < m->workload.ntensors; i++) tensors[i] = m->workload.tensors[i].name;
  p->names.levels = levels;
  p->names.tensors = tensors;
}

static void print_scope(printer *p, const nst_ir_scope *scope) {
  for (int i = 0; i < scope->nparams; i++) {
    nst_buffer_printf(p->out, "  param %s", scope->params[i].name);
    if (scope->params[i].value) nst_buffer_puts(p->out, " = "), expr(p, scope->params[i].value);
    nst_buffer_putc(p->out, '\n');
  }
  for (int i = 0; i < scope->nvalues; i++) {
    nst_buffer_printf(p->out, "  value %s = ", scope->values[i].name);
    expr(p, scope->values[i].value);
    nst_buffer_putc(p->out, '\n');
  }
}

/* The sign of a summand that is not the first, and what is left to print of a negative constant. */
static nst_rat signed_part(nst_buffer *out, const nst_expr *e, bool first, bool *constant) {
  *constant = !e || e->kind == NST_X_CONST;
  nst_rat v = e && *constant ? e->value : nst_rat_int(1), positive;
  const bool negative = *constant && v.num < 0 && nst_rat_neg(&positive, v);
  if (!first)
    nst_buffer_puts(out, negative ? " - " : " + ");
  else if (negative)
    nst_buffer_putc(out, '-');
  return negative ? positive : v;
}

void nst_ir_print_rank(nst_buffer *out, const nst_ir_rank *rank, const nst_ir_workload *w,
                       const nst_expr_names *names) {
  bool constant;
  for (int i = 0; i < rank->nterms; i++) {
    const nst_expr *coef = rank->terms[i].coef;
    const nst_rat v = signed_part(out, coef, i == 0, &constant);
    if (!constant) {
      const bool atom = coef->kind <= NST_X_VALUE;
      if (!atom) nst_buffer_putc(out, '(');
      nst_expr_print_named(out, coef, names);
      nst_buffer_puts(out, atom ? "*" : ")*");
    } else if (v.num != 1 || v.den != 1) {
      nst_expr_print_number(out, v);
      nst_buffer_putc(out, '*');
    }
    nst_buffer_puts(out, w->dims[rank->terms[i].dim].name);
  }
  if (rank->offset) {
    const nst_rat v = signed_part(out, rank->offset, rank->nterms == 0, &constant);
    if (constant)
      nst_expr_print_number(out, v);
    else
      nst_expr_print_named(out, rank->offset, names);
  } else if (!rank->nterms) {
    nst_buffer_putc(out, '0');
  }
}

static void print_access(printer *p, const nst_ir_access *a) {
  const nst_ir_workload *w = &p->m->workload;
  nst_buffer_printf(p->out, "%s[", w->tensors[a->tensor].name);
  for (int r = 0; r < a->nranks; r++) {
    if (r) nst_buffer_puts(p->out, ", ");
    nst_ir_print_rank(p->out, &a->ranks[r], w, &p->names);
  }
  nst_buffer_putc(p->out, ']');
}

static void print_tensor(printer *p, const nst_ir_tensor *t) {
  static const char *const roles[] = {"input", "output", "intermediate"};
  nst_buffer_printf(p->out, "    tensor %s", t->name);
  if (t->shape) {
    nst_buffer_putc(p->out, '[');
    for (int r = 0; r < t->nranks; r++) {
      if (r) nst_buffer_puts(p->out, ", ");
      if (t->shape[r])
        expr(p, t->shape[r]);
      else
        nst_buffer_putc(p->out, '_');
    }
    nst_buffer_putc(p->out, ']');
  }
  nst_buffer_printf(p->out, " : %s", t->type);
  attribute(p, "bits", t->bits);
  nst_buffer_printf(p->out, " %s ranks=%d\n", roles[t->role], t->nranks);
}

static void print_workload(printer *p) {
  static const char *const combines[] = {"=", "+=", "max=", "min="};
  const nst_ir_workload *w = &p->m->workload;
  nst_buffer_printf(p->out, "  workload %s\n", w->name);
  for (int i = 0; i < w->ndims; i++) {
    nst_buffer_printf(p->out, "    dim %s = ", w->dims[i].name);
    expr(p, w->dims[i].extent);
    nst_buffer_putc(p->out, '\n');
  }
  for (int i = 0; i < w->ntensors; i++) print_tensor(p, &w->tensors[i]);
  for (int i = 0; i < w->nstmts; i++) {
    const nst_ir_stmt *s = &w->stmts[i];
    nst_buffer_printf(p->out, "    stmt %d ", i);
    print_access(p, &s->out);
    nst_buffer_printf(p->out, " %s %s\n", combines[s->combine], s->text ? s->text : "");
    for (int a = 0; a < s->nin; a++) {
      nst_buffer_puts(p->out, "      in ");
      print_access(p, &s->in[a]);
      nst_buffer_putc(p->out, '\n');
    }
    nst_buffer_puts(p->out, "      over");
    for (int d = 0; d < s->ndims; d++) nst_buffer_printf(p->out, " %s", w->dims[s->dims[d]].name);
    nst_buffer_putc(p->out, '\n');
  }
}

static void print_level(printer *p, const nst_ir_level *l) {
  static const char *const kinds[] = {"memory", "array", "compute"};
  nst_buffer_printf(p->out, "    %s %s", kinds[l->kind], l->name);
  for (int a = 0; a < l->naxes; a++) attribute(p, l->axes[a].name, l->axes[a].size);
  attribute(p, "capacity", l->capacity);
  attribute(p, "bandwidth", l->bandwidth);
  attribute(p, "read_bandwidth", l->read_bandwidth);
  attribute(p, "write_bandwidth", l->write_bandwidth);
  attribute(p, "read_energy", l->read_energy);
  attribute(p, "write_energy", l->write_energy);
  attribute(p, "leakage", l->leakage);
  attribute(p, "area", l->area);
  attribute(p, "energy", l->energy);
  attribute(p, "rate", l->rate);
  if (l->kind == NST_LEVEL_MEMORY && l->double_buffered) nst_buffer_puts(p->out, " double_buffered");
  if (l->kind == NST_LEVEL_MEMORY && !l->overlap) nst_buffer_puts(p->out, " no_overlap");
  if (l->kind == NST_LEVEL_ARRAY && !l->multicast) nst_buffer_puts(p->out, " no_multicast");
  if (l->kind == NST_LEVEL_ARRAY && !l->reduce) nst_buffer_puts(p->out, " no_reduce");
  nst_buffer_putc(p->out, '\n');
}

static void print_split(printer *p, const nst_ir_node *n) {
  const nst_ir_mapping *m = p->m;
  nst_buffer_printf(p->out, "%s %s", n->kind == NST_NODE_FOR ? "for" : "par", m->workload.dims[n->dim].name);
  switch (n->split) {
  case NST_TILE_ONE: nst_buffer_puts(p->out, " by 1"); break;
  case NST_TILE_BY: nst_buffer_puts(p->out, " by "), expr(p, n->size); break;
  case NST_TILE_INTO: nst_buffer_puts(p->out, " into "), expr(p, n->size); break;
  case NST_TILE_AUTO: nst_buffer_puts(p->out, " by places"); break;
  }
  if (n->kind == NST_NODE_PAR) {
    const nst_ir_level *l = &m->hardware.levels[n->level];
    nst_buffer_printf(p->out, " on %s.%s", l->name, l->axes[n->axis].name);
  } else if (n->permute >= 0) {
    nst_buffer_printf(p->out, " permute=%d", n->permute);
  }
}

static nst_name output_of(const nst_ir_mapping *m, int stmt) {
  return m->workload.tensors[m->workload.stmts[stmt].out.tensor].name;
}

static void print_chain(printer *p, const nst_ir_node *n, int depth) {
  const nst_ir_mapping *m = p->m;
  for (; n; n = n->next) {
    indent(p, depth);
    nst_buffer_printf(p->out, "%d: ", n->id);
    switch (n->kind) {
    case NST_NODE_FOR:
    case NST_NODE_PAR: print_split(p, n); break;
    case NST_NODE_KEEP:
      nst_buffer_puts(p->out, n->optional ? "keep?" : "keep");
      for (int i = 0; i < n->ntensors; i++)
        nst_buffer_printf(p->out, "%s %s", i ? "," : "", m->workload.tensors[n->tensors[i]].name);
      for (int i = 0; i < n->ndormant; i++)
        nst_buffer_printf(p->out, " (%s unless %d)", m->workload.tensors[n->dormant[i].tensor].name,
                          n->dormant[i].unless->id);
      nst_buffer_printf(p->out, " in %s%s", m->hardware.levels[n->level].name, n->implied ? " implied" : "");
      break;
    case NST_NODE_SEQ: nst_buffer_puts(p->out, "seq"); break;
    case NST_NODE_COMPUTE: nst_buffer_printf(p->out, "compute on %s", m->hardware.levels[n->level].name); break;
    }
    nst_buffer_putc(p->out, '\n');
    for (int b = 0; n->kind == NST_NODE_SEQ && b < n->nbranches; b++) {
      indent(p, depth + 1);
      nst_buffer_puts(p->out, "do");
      for (int s = 0; s < n->branches[b].nstmts; s++)
        nst_buffer_printf(p->out, "%s %s", s ? "," : "", output_of(m, n->branches[b].stmts[s]));
      nst_buffer_putc(p->out, '\n');
      print_chain(p, n->branches[b].body, depth + 2);
    }
  }
}

static void print_mapping(printer *p, const nst_ir_mapping *m) {
  enter(p, &m->scope, m, NULL, 0);
  nst_buffer_printf(p->out, "mapping %s\n", m->name);
  print_scope(p, &m->scope);
  print_workload(p);
  nst_buffer_printf(p->out, "  hardware %s", m->hardware.name);
  attribute(p, "clock", m->hardware.clock);
  nst_buffer_putc(p->out, '\n');
  for (int i = 0; i < m->hardware.nlevels; i++) print_level(p, &m->hardware.levels[i]);
  nst_buffer_puts(p->out, "  nest\n");
  print_chain(p, m->root, 2);
}

static void line(printer *p, const char *word, const nst_expr *e) {
  nst_buffer_printf(p->out, "  %s ", word);
  expr(p, e);
  nst_buffer_putc(p->out, '\n');
}

static void print_lets(printer *p, const char *word, const nst_ir_value *values, int n) {
  for (int i = 0; i < n; i++) {
    nst_buffer_printf(p->out, "  %s %s = ", word, values[i].name);
    expr(p, values[i].value);
    nst_buffer_putc(p->out, '\n');
  }
}

static void print_test(printer *p, const nst_ir_test *t) {
  const nst_ir_mapping *m = p->program->mappings[t->mapping];
  enter(p, &m->scope, m, t->lets, t->nlets);
  nst_buffer_puts(p->out, "test ");
  if (t->text) nst_buffer_json_string(p->out, t->text, strlen(t->text)), nst_buffer_putc(p->out, ' ');
  nst_buffer_printf(p->out, "of %s", m->name);
  for (int i = 0; i < m->scope.nparams; i++)
    if (t->args && t->args[i]) attribute(p, m->scope.params[i].name, t->args[i]);
  nst_buffer_putc(p->out, '\n');
  print_lets(p, "let", t->lets, t->nlets);
  for (int i = 0; i < t->nexpects; i++) line(p, "expect", t->expects[i].value);
}

static void print_model(printer *p, const nst_ir_model *m) {
  enter(p, &m->scope, NULL, m->outs, m->nouts);
  nst_buffer_printf(p->out, "model %s\n", m->name);
  print_scope(p, &m->scope);
  print_lets(p, "out", m->outs, m->nouts);
}

static void print_set(printer *p, const nst_ir_set *s) {
  const char *open = s->kind == NST_IRSET_LIST       ? "["
                     : s->kind == NST_IRSET_DIVISORS ? "divisors("
                     : s->kind == NST_IRSET_POW2     ? "pow2("
                                                     : "";
  nst_buffer_puts(p->out, open);
  for (int i = 0; s->kind == NST_IRSET_LIST && i < s->nitems; i++) {
    if (i) nst_buffer_puts(p->out, ", ");
    expr(p, s->items[i]);
  }
  if (s->kind != NST_IRSET_LIST) expr(p, s->a);
  if (s->kind == NST_IRSET_RANGE || s->kind == NST_IRSET_POW2) {
    nst_buffer_puts(p->out, s->kind == NST_IRSET_RANGE ? " .. " : ", ");
    expr(p, s->b);
  }
  if (s->kind == NST_IRSET_RANGE && s->step) nst_buffer_puts(p->out, " step "), expr(p, s->step);
  nst_buffer_puts(p->out, s->kind == NST_IRSET_LIST ? "]" : s->kind == NST_IRSET_RANGE ? "" : ")");
}

static void print_points(printer *p, const nst_ir_point *points, int n) {
  for (int i = 0; i < n; i++) {
    nst_buffer_printf(p->out, "  over %s in ", p->m->scope.params[points[i].param].name);
    print_set(p, &points[i].set);
    nst_buffer_putc(p->out, '\n');
  }
}

static void print_verify(printer *p, const nst_ir_verify *v) {
  const nst_ir_model *model = &p->program->models[v->model];
  const nst_ir_mapping *m = p->program->mappings[v->mapping];
  enter(p, &m->scope, m, NULL, 0);
  nst_buffer_printf(p->out, "verify %s against %s\n", model->name, m->name);
  for (int i = 0; i < model->scope.nparams; i++) {
    nst_buffer_printf(p->out, "  bind %s = ", model->scope.params[i].name);
    expr(p, v->bind[i]);
    nst_buffer_putc(p->out, '\n');
  }
  for (int i = 0; i < v->nchecks; i++) {
    nst_buffer_printf(p->out, "  check %s == ", model->outs[v->checks[i].out].name);
    expr(p, v->checks[i].metric);
    nst_buffer_putc(p->out, '\n');
  }
  print_points(p, v->points, v->npoints);
}

static void print_sweep(printer *p, const nst_ir_sweep *s) {
  const nst_ir_mapping *m = p->program->mappings[s->mapping];
  enter(p, &m->scope, m, NULL, 0);
  nst_buffer_printf(p->out, "sweep %s of %s\n", s->name, m->name);
  print_points(p, s->points, s->npoints);
  for (int i = 0; i < s->nwhere; i++) line(p, "where", s->where[i].value);
  for (int i = 0; i < s->nobjectives; i++) line(p, s->maximize ? "maximize" : "minimize", s->objectives[i]);
  for (int i = 0; i < s->npareto; i++) line(p, "pareto", s->pareto[i]);
  if (s->top) line(p, "top", s->top);
}

void nst_ir_print(nst_buffer *out, const nst_ir_program *program) {
  printer p = {.out = out, .program = program, .arena = nst_arena_new()};
  for (int i = 0; i < program->nmappings; i++) print_mapping(&p, program->mappings[i]);
  for (int i = 0; i < program->ntests; i++) print_test(&p, &program->tests[i]);
  for (int i = 0; i < program->nmodels; i++) print_model(&p, &program->models[i]);
  for (int i = 0; i < program->nverifies; i++) print_verify(&p, &program->verifies[i]);
  for (int i = 0; i < program->nsweeps; i++) print_sweep(&p, &program->sweeps[i]);
  nst_arena_free(p.arena);
}
