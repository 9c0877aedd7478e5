/* Random workloads.
 *
 * Shapes of statements are templates: "O[k,p] W[k,c,r] I[c,Sp+Dr+F]" is an
 * output and its inputs, a small letter a dimension, S a stride, D a dilation,
 * N a negative coefficient and F an offset, all drawn anew for each program;
 * `=` after the output says that nothing is reduced. One program in four has a
 * statement drawn rank by rank instead. */
#include "program.h"

#include <string.h>

static const char *const nests[] = {
  "O[m,n] A[m,k] B[k,n]",
  "O[k,p] W[k,c,r] I[c,Sp+Dr+F]",
  "O[k,p] W[k,c,r] I[c,Sp+Nr+F]",
  "O[p,q] W[r,s] I[Sp+Dr+F,Sq+Ds+F]",
  "O[k,p,q] W[k,c,r,s] I[c,Sp+Dr+F,q+s]",
  "O[c,p] W[c,r] I[c,Sp+Dr+F]",
  "O[k,Sp+Dr+F] W[k,c,r] I[c,p]",
  "O[Sp+Dr+F,Sq+Ds] W[r,s] I[p,q]",
  "O[Sp+Nr+F] W[r] I[p]",
  "Y[j] D[i,i] X[j,i]",
  "Y[i,i] D[i,j]",
  "Y[i,j] A[i,k] A[k,j]",
  "Y[i,j] A[i,j] A[j,i]",
  "Y[p] A[p] A[Sp+r] W[r]",
  "S[] A[i,j] A[j,i]",
  "Y[p] W[r,s] I[Sp+Dr+s+F]",
  "Y[k,Sp+Dr+s+F] W[k,r,s] I[p]",
  "S[] A[i] B[i,j]",
  "S[] A[Si+Dj+F]",
  "S[] A[i,k] B[Sk+Dj] C[i]",
  "Y[p] W[r] I[Sp+Dr+Ns]",
  "Y[i,j] A[i,k,l] B[k,j] C[l,j]",
  "Y[i,j] D[i+j,i]",
  "Y[i] D[Si+j+F,i+Nj]",
  "Y[i,j]= A[i,j] B[j]",
  "Y[Sp+Dr+F] A[p,r]",
};

typedef struct {
  const char *text;
  gen_feature feature;
} cascade;
static const cascade cascades[] = {
  {"T[m,h] X[m,k] V[k,h]; Y[m,n] T[m,h] W[h,n]", GEN_CHAIN},
  {"T[m,h] X[m,k] V[k,h]; U[m,h]= T[m,h]; Y[m,n] U[m,h] W[h,n]", GEN_CHAIN},
  {"T[m,h] X[m,k] V[k,h]; U[m,j] T[m,h] W[h,j]; Y[m,n] U[m,j] Z[j,n]", GEN_CHAIN},
  {"T[m,h] X[m,k] V[k,h]; U[m,h]= T[m,h] B[h]; R[m,j] U[m,h] W[h,j]; Q[m,j]= R[m,j]; Y[m,n] Q[m,j] Z[j,n]", GEN_CHAIN},
  {"T[m,h] X[m,k] W[k,h]; U[m,n] T[m,h] V[h,n]; Z[m,n] T[m,h] A[h,n]; Y[m,n]= U[m,n] Z[m,n]", GEN_DIAMOND},
  {"T[m,h] X[m,h]; U[m,h]= T[m,h]; Z[m,h]= T[m,h] B[h]; Y[m] U[m,h] Z[m,h]", GEN_DIAMOND},
  {"Y[m,h] X[m,k] W[k,h]; Z[m,n] X[m,k] V[k,n]", GEN_SHARED_INPUT},
  {"A[m,h] X[m,k] W[k,h]; B[m,h] X[m,k] V[k,h]; C[n,h] Z[n,k] V[k,h]", GEN_SHARED_INPUT},
  {"S[b,m,n] Q[b,m,e] K[b,n,e]; P[b,m,n]= S[b,m,n]; L[b,m] P[b,m,n]; A[b,m,f] P[b,m,n] V[b,n,f]; O[b,m,f]= A[b,m,f] "
   "L[b,m]",
   GEN_ATTENTION},
  {"S[m,n] Q[m,e] K[n,e]; L[m] S[m,n]; A[m,f] S[m,n] V[n,f]; O[m,f]= A[m,f] L[m]", GEN_ATTENTION},
  {"G[m,h] X[m,k] W[k,h]; U[m,h] X[m,k] V[k,h]; H[m,h]= G[m,h] U[m,h]; Y[m,n] H[m,h] Z[h,n]", GEN_GATED},
  {"G[m,h] X[m,k] W[k,h]; H[m,h] X[m,k] V[k,h] G[m,h]; Y[m,n] H[m,h] Z[h,n]", GEN_GATED},
  {"T[m,h] X[m,k] W[k,h]; R[m,j] T[m,h] V[h,j]; Y[m,j]= R[m,j] X[m,j]", GEN_RESIDUAL},
  {"T[m,k]= X[m,k]; Y[m,k]= T[m,k] X[m,k] B[k]", GEN_RESIDUAL},
  {"T[c,p] X[c,Sp+Dr+F] W[c,r]; Y[k,p] T[c,p] V[k,c]", GEN_WINDOW},
  {"T[c,q] X[c,Sq+t] W[t]; Y[k,p] T[c,p+r] V[k,c,r]", GEN_WINDOW},
};

static int find_dim(gen_program *p, char name) {
  for (int d = 0; d < p->ndims; d++)
    if (p->dim[d] == name) return d;
  p->dim[p->ndims] = name;
  return p->ndims++;
}

static int find_tensor(gen_program *p, char name) {
  for (int t = 0; t < p->ntensors; t++)
    if (p->tensor[t].name == name) return t;
  p->tensor[p->ntensors].name = name;
  return p->ntensors++;
}

static const char *read_rank(gen_program *p, gen_rank *r, const char *t) {
  *r = (gen_rank){0};
  for (;; t++) {
    int coef = 1;
    if (*t == 'S')
      coef = gen_chance(&p->random, 60) ? gen_between(&p->random, 2, 4) : 1, t++;
    else if (*t == 'D')
      coef = gen_chance(&p->random, 45) ? gen_between(&p->random, 2, 3) : 1, t++;
    else if (*t == 'N')
      coef = -gen_between(&p->random, 1, 3), t++;
    if (*t == 'F') {
      if (gen_chance(&p->random, 60)) r->offset = gen_between(&p->random, -3, 2);
    } else {
      r->dim[r->nterms] = find_dim(p, *t);
      r->coef[r->nterms++] = coef;
    }
    t++;
    if (*t != '+') return t;
  }
}

static const char *read_access(gen_program *p, gen_access *a, const char *t) {
  *a = (gen_access){.tensor = find_tensor(p, *t)};
  t += 2; /* the name and [ */
  while (*t != ']') {
    t = read_rank(p, &a->rank[a->nranks++], t);
    if (*t == ',') t++;
  }
  p->tensor[a->tensor].nranks = a->nranks;
  return t + 1;
}

static void read_statements(gen_program *p, const char *t) {
  while (*t) {
    gen_stmt *s = &p->stmt[p->nstmts++];
    t = read_access(p, &s->out, t);
    s->assign = *t == '=';
    t += s->assign;
    while (*t == ' ') t = read_access(p, &s->in[s->nin++], t + 1);
    if (*t == ';') t += 2;
  }
}

/* ---- a statement rank by rank ---- */

static void random_rank(gen_program *p, gen_rank *r) {
  int nterms = gen_chance(&p->random, 60) ? 1 : gen_chance(&p->random, 70) ? 2 : 3;
  *r = (gen_rank){0};
  for (int i = 0; i < nterms; i++) {
    int d = gen_below(&p->random, p->ndims);
    bool seen = false;
    for (int k = 0; k < r->nterms; k++) seen = seen || r->dim[k] == d;
    if (seen) continue;
    r->dim[r->nterms] = d;
    r->coef[r->nterms++] = gen_chance(&p->random, 55)   ? 1
                           : gen_chance(&p->random, 70) ? gen_between(&p->random, 2, 3)
                                                        : -gen_between(&p->random, 1, 2);
  }
  if (gen_chance(&p->random, 30)) r->offset = gen_between(&p->random, -2, 2);
}

static void random_access(gen_program *p, gen_access *a, char name, int ranks) {
  *a = (gen_access){.tensor = find_tensor(p, name), .nranks = ranks};
  for (int r = 0; r < ranks; r++) random_rank(p, &a->rank[r]);
  p->tensor[a->tensor].nranks = ranks;
}

static void random_statement(gen_program *p) {
  gen_stmt *s = &p->stmt[p->nstmts++];
  int n = gen_between(&p->random, 2, 4);
  for (int d = 0; d < n; d++) find_dim(p, (char)('i' + d));
  random_access(p, &s->out, 'Y', gen_between(&p->random, 1, 2));
  s->nin = gen_between(&p->random, 1, 2);
  for (int i = 0; i < s->nin; i++) random_access(p, &s->in[i], (char)('A' + i), gen_between(&p->random, 1, 3));
  if (gen_chance(&p->random, 15) && s->nin < GEN_INS) {
    random_access(p, &s->in[s->nin], 'A', s->in[0].nranks);
    s->nin++;
  }
}

/* ---- sizes, shapes ---- */

static unsigned dims_of(const gen_access *a) {
  unsigned set = 0;
  for (int r = 0; r < a->nranks; r++)
    for (int i = 0; i < a->rank[r].nterms; i++) set |= 1u << a->rank[r].dim[i];
  return set;
}

static void close_statements(gen_program *p) {
  for (int i = 0; i < p->nstmts; i++) {
    gen_stmt *s = &p->stmt[i];
    s->dims = dims_of(&s->out);
    for (int a = 0; a < s->nin; a++) s->dims |= dims_of(&s->in[a]);
  }
}

/* Dimensions that no rank took are dropped from the end; one in the middle gets a rank of the first input. */
static void use_all_dims(gen_program *p) {
  unsigned used = p->stmt[0].dims;
  while (p->ndims && !(used >> (p->ndims - 1) & 1)) p->ndims--;
  for (int d = 0; d < p->ndims; d++) {
    gen_access *a = &p->stmt[0].in[0];
    if (used >> d & 1) continue;
    gen_rank *r = &a->rank[gen_below(&p->random, a->nranks)];
    if (r->nterms < GEN_TERMS) r->dim[r->nterms] = d, r->coef[r->nterms++] = 1;
  }
  close_statements(p);
}

static void choose_extents(gen_program *p, int most_points) {
  int points = gen_chance(&p->random, 15) ? most_points : most_points / 16;
  for (int d = 0; d < p->ndims; d++)
    p->extent[d] = gen_chance(&p->random, 8) ? 1
                                             : gen_between(&p->random, 2,
                                                           (p->wide ? 3 : 1) * (p->ndims <= 2   ? 20
                                                                                : p->ndims <= 4 ? 9
                                                                                                : 5));
  for (;;) {
    long product = 1;
    int widest = 0;
    for (int d = 0; d < p->ndims; d++) {
      product *= p->extent[d];
      if (p->extent[d] > p->extent[widest]) widest = d;
    }
    if (product <= points) return;
    p->extent[widest]--;
  }
}

static void rank_span(const gen_program *p, const gen_rank *r, int *lo, int *hi) {
  *lo = *hi = r->offset;
  for (int i = 0; i < r->nterms; i++) {
    int reach = r->coef[i] * (p->extent[r->dim[i]] - 1);
    if (reach < 0)
      *lo += reach;
    else
      *hi += reach;
  }
}

/* Declares shapes that cut some elements off, as padding does. */
static void choose_shapes(gen_program *p) {
  for (int i = 0; i < p->nstmts; i++)
    for (int a = -1; a < p->stmt[i].nin; a++) {
      const gen_access *x = a < 0 ? &p->stmt[i].out : &p->stmt[i].in[a];
      gen_tensor *t = &p->tensor[x->tensor];
      if (t->shaped || x->nranks == 0 || gen_role(p, x->tensor) == 2 || !gen_chance(&p->random, a < 0 ? 42 : 34))
        continue;
      for (int r = 0; r < x->nranks; r++) {
        int lo, hi;
        rank_span(p, &x->rank[r], &lo, &hi);
        t->shape[r] = -1;
        if (hi < 0 || (x->rank[r].nterms < 2 && gen_chance(&p->random, 60))) continue;
        t->shape[r] = gen_chance(&p->random, 30) ? hi + 1 : gen_between(&p->random, (hi + 2) / 2, hi + 1);
        if (t->shape[r] < 1) t->shape[r] = 1;
        t->shaped = true;
        if (lo < 0 || hi >= t->shape[r]) gen_note(p, a < 0 ? GEN_PAD_OUT : GEN_PAD_IN);
      }
    }
}

static void choose_types(gen_program *p) {
  static const char *const types[] = {"int8", "int16", "int32", "fp16", "bits(3)"};
  for (int t = 0; t < p->ntensors; t++) p->tensor[t].type = types[gen_below(&p->random, 5)];
}

static void note_ranks(gen_program *p, const gen_access *a, bool output) {
  unsigned seen = 0;
  for (int r = 0; r < a->nranks; r++) {
    const gen_rank *x = &a->rank[r];
    unsigned here = 0;
    for (int i = 0; i < x->nterms; i++) {
      here |= 1u << x->dim[i];
      if (x->coef[i] < 0) gen_note(p, GEN_NEGATIVE);
      if (x->coef[i] > 1) gen_note(p, i == 0 ? GEN_STRIDE : GEN_DILATION);
    }
    if (x->offset) gen_note(p, GEN_OFFSET);
    if (x->nterms == 2) gen_note(p, GEN_TWO_TERMS);
    if (x->nterms > 2) gen_note(p, GEN_THREE_TERMS);
    if (x->nterms > 1 && output) gen_note(p, GEN_TRANSPOSED);
    if (seen & here) gen_note(p, GEN_DIAGONAL);
    seen |= here;
  }
  if (output && a->nranks == 0) gen_note(p, GEN_SCALAR);
}

int gen_role(const gen_program *p, int tensor) {
  bool written = false, read = false;
  for (int i = 0; i < p->nstmts; i++) {
    written = written || p->stmt[i].out.tensor == tensor;
    for (int a = 0; a < p->stmt[i].nin; a++) read = read || p->stmt[i].in[a].tensor == tensor;
  }
  return written && read ? 2 : written;
}

bool gen_uses(const gen_stmt *s, int tensor) {
  bool found = s->out.tensor == tensor;
  for (int a = 0; a < s->nin; a++) found = found || s->in[a].tensor == tensor;
  return found;
}

void gen_workload_nest(gen_program *p) {
  if (gen_chance(&p->random, 25))
    random_statement(p);
  else
    read_statements(p, nests[gen_below(&p->random, (int)(sizeof nests / sizeof *nests))]);
  close_statements(p);
  use_all_dims(p);
  choose_extents(p, p->most_points ? p->most_points : 20000);
  choose_types(p);
  choose_shapes(p);
  gen_stmt *s = &p->stmt[0];
  note_ranks(p, &s->out, true);
  for (int a = 0; a < s->nin; a++) {
    note_ranks(p, &s->in[a], false);
    for (int b = 0; b < a; b++)
      if (s->in[b].tensor == s->in[a].tensor && memcmp(&s->in[b], &s->in[a], sizeof s->in[a])) gen_note(p, GEN_TWICE);
  }
  for (int d = 0; d < p->ndims; d++)
    if (p->extent[d] == 1) gen_note(p, GEN_ONE);
}

void gen_workload_cascade(gen_program *p) {
  const cascade *c = &cascades[gen_below(&p->random, (int)(sizeof cascades / sizeof *cascades))];
  read_statements(p, c->text);
  close_statements(p);
  choose_extents(p, p->most_points ? p->most_points : 2000);
  /* What a window reads has been written: q = p + r - 1. */
  const gen_rank *window = &p->stmt[p->nstmts - 1].in[0].rank[1];
  if (c->feature == GEN_WINDOW && window->nterms == 2)
    p->extent[p->stmt[0].out.rank[1].dim[0]] = p->extent[window->dim[0]] + p->extent[window->dim[1]] - 1;
  choose_types(p);
  choose_shapes(p);
  gen_note(p, c->feature);
  if (p->nstmts >= 4) gen_note(p, GEN_MANY);
}

/* ---- text ---- */

static void print_rank(gen_program *p, const gen_rank *r) {
  nst_buffer *b = p->out;
  for (int i = 0; i < r->nterms; i++) {
    int c = r->coef[i];
    if (i)
      nst_buffer_puts(b, c < 0 ? " - " : " + ");
    else if (c < 0)
      nst_buffer_putc(b, '-');
    if (c < 0) c = -c;
    if (c != 1) nst_buffer_printf(b, "%d*", c);
    nst_buffer_putc(b, p->dim[r->dim[i]]);
  }
  if (r->offset) nst_buffer_printf(b, " %c %d", r->offset < 0 ? '-' : '+', r->offset < 0 ? -r->offset : r->offset);
}

static void print_access(gen_program *p, const gen_access *a) {
  nst_buffer_printf(p->out, "%c[", p->tensor[a->tensor].name);
  for (int r = 0; r < a->nranks; r++) {
    if (r) nst_buffer_puts(p->out, ", ");
    print_rank(p, &a->rank[r]);
  }
  nst_buffer_putc(p->out, ']');
}

void gen_print_workload(gen_program *p) {
  nst_buffer *b = p->out;
  nst_buffer_puts(b, "workload w {\n");
  for (int d = 0; d < p->ndims; d++) nst_buffer_printf(b, "  dim %c = %d\n", p->dim[d], p->extent[d]);
  for (int t = 0; t < p->ntensors; t++) {
    nst_buffer_printf(b, "  tensor %c", p->tensor[t].name);
    for (int r = 0; p->tensor[t].shaped && r < p->tensor[t].nranks; r++) {
      nst_buffer_puts(b, r ? ", " : "[");
      if (p->tensor[t].shape[r] < 0)
        nst_buffer_putc(b, '_');
      else
        nst_buffer_int(b, p->tensor[t].shape[r]);
    }
    nst_buffer_printf(b, "%s : %s\n", p->tensor[t].shaped ? "]" : "", p->tensor[t].type);
  }
  for (int i = 0; i < p->nstmts; i++) {
    const gen_stmt *s = &p->stmt[i];
    nst_buffer_puts(b, "  ");
    print_access(p, &s->out);
    nst_buffer_puts(b, s->assign ? " = " : " += ");
    for (int a = 0; a < s->nin; a++) {
      if (a) nst_buffer_puts(b, " * ");
      print_access(p, &s->in[a]);
    }
    nst_buffer_putc(b, '\n');
  }
  nst_buffer_puts(b, "}\n");
}
