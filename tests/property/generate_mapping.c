/* Random machines, and one statement's way from here to its compute.
 *
 * A path carries what legality depends on: the nominal extent of every
 * dimension, the places of every axis in use, the level that keeps each tensor,
 * and how far into the machine pars and keeps have gone. Every line is chosen
 * so that the program stays legal: a par takes no more places than are left, a
 * keep comes after the pars outside its level and before those inside it. */
#include "program.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void gen_line(gen_program *p, int depth, const char *fmt, ...) {
  char text[256];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  nst_buffer_pad(&p->body, ' ', (size_t)depth * 2);
  nst_buffer_puts(&p->body, text);
  nst_buffer_putc(&p->body, '\n');
}

/* ---- machines ---- */

static void add_array(gen_program *p) {
  gen_level *l = &p->level[p->nlevels++];
  *l = (gen_level){.array = true, .naxes = gen_chance(&p->random, 72) ? 2 : 1};
  for (int a = 0; a < l->naxes; a++)
    l->size[a] = gen_chance(&p->random, 12) ? 1 : gen_between(&p->random, 2, l->naxes == 1 ? 9 : 6);
  l->unicast = gen_chance(&p->random, 33);
  l->no_reduce = gen_chance(&p->random, 30);
}

/* Alternates memories and arrays, a memory outermost; the compute is printed with it. */
void gen_hardware(gen_program *p, int memories) {
  int arrays = 0, most = gen_chance(&p->random, 30) ? 0 : 2;
  for (int i = 0; i < memories; i++) {
    p->level[p->nlevels++] = (gen_level){.doubled = gen_chance(&p->random, 15)};
    if (arrays >= most || !gen_chance(&p->random, arrays ? 75 : 60)) continue;
    add_array(p);
    arrays++;
  }
}

void gen_print_hardware(gen_program *p) {
  nst_buffer *b = p->out;
  nst_buffer_puts(b, "hardware h {\n");
  for (int l = 0; l < p->nlevels; l++) {
    const gen_level *x = &p->level[l];
    nst_buffer_printf(b, x->array ? "  array P%d" : "  memory L%d", l);
    for (int a = 0; a < x->naxes; a++) nst_buffer_printf(b, "%s%c = %d", a ? ", " : "[", 'x' + a, x->size[a]);
    if (x->array) nst_buffer_putc(b, ']');
    bool braces = x->unicast || x->no_reduce || x->doubled || p->sweep;
    if (braces) nst_buffer_puts(b, " {");
    if (x->unicast) nst_buffer_puts(b, " multicast = false");
    if (x->no_reduce) nst_buffer_puts(b, " reduce = false");
    if (x->doubled) nst_buffer_puts(b, " double_buffered = true");
    if (p->sweep && !x->array) gen_print_memory(p, l > 0);
    if (braces) nst_buffer_puts(b, " }");
    nst_buffer_putc(b, '\n');
  }
  if (p->sweep) gen_print_compute(p);
  else   nst_buffer_puts(b, "  compute MAC\n}\n");
}

void gen_path_init(const gen_program *p, gen_path *at) {
  *at = (gen_path){.last_par = -1, .deepest = -1};
  for (int d = 0; d < p->ndims; d++) at->width[d] = p->extent[d];
  for (int l = 0; l < p->nlevels; l++) at->used[l][0] = at->used[l][1] = 1;
  for (int t = 0; t < GEN_TENSORS; t++) at->at[t] = -1;
}

/* ---- splits ---- */

static int ceildiv(int a, int b) { return (a + b - 1) / b; }

static int choose_tile(gen_program *p, int width, int least) {
  int t = gen_chance(&p->random, 10)   ? 1
          : gen_chance(&p->random, 15) ? width
          : gen_chance(&p->random, 35) ? ceildiv(width, 2)
          : gen_chance(&p->random, 8)  ? width + gen_between(&p->random, 1, 4)
                                       : gen_between(&p->random, 1, width);
  return t < least ? least : t;
}

static void note_split(gen_program *p, const gen_path *at, int dim, int tile) {
  if (tile < at->width[dim] && at->width[dim] % tile) gen_note(p, p->nstmts > 1 ? GEN_C_IMPERFECT : GEN_IMPERFECT);
  if (tile > at->width[dim]) gen_note(p, GEN_ABOVE);
  if (at->width[dim] < p->extent[dim] && tile < at->width[dim]) gen_note(p, GEN_NESTED);
}

static void narrow(const gen_program *p, gen_path *at, int dim, int tile) {
  if (tile < at->width[dim]) at->width[dim] = tile;
  if (p->extent[dim] > 1) at->split |= 1u << dim;
}

/* A number, or a parameter that has it as its default. */
static void number(gen_program *p, char *text, size_t size, int value, int width) {
  const int most = p->sweep ? 6 : (int)(sizeof p->param / sizeof *p->param);
  if (p->nparams < most && gen_chance(&p->random, p->sweep ? 65 : 10)) {
    gen_note(p, GEN_PARAMS);
    snprintf(text, size, "t%d", p->nparams);
    p->param_width[p->nparams] = width;
    p->param[p->nparams++] = value;
  } else {
    snprintf(text, size, "%d", value);
  }
}

void gen_for(gen_program *p, gen_path *at, int dim, int depth, const char *tail) {
  char size[24];
  int width = at->width[dim], tile;
  at->loops++;
  if (gen_chance(&p->random, 12)) {
    int into = gen_between(&p->random, 1, width);
    tile = ceildiv(width, into);
    number(p, size, sizeof size, into, width);
    gen_note(p, GEN_INTO);
    note_split(p, at, dim, tile);
    gen_line(p, depth, "for %c into %s%s", p->dim[dim], size, tail);
  } else if (gen_chance(&p->random, 5)) {
    tile = 1;
    gen_note(p, GEN_PLAIN);
    gen_line(p, depth, "for %c%s", p->dim[dim], tail);
  } else {
    tile = choose_tile(p, width, 1);
    note_split(p, at, dim, tile);
    number(p, size, sizeof size, tile, width);
    gen_line(p, depth, "for %c by %s%s", p->dim[dim], size, tail);
  }
  narrow(p, at, dim, tile);
}

bool gen_par(gen_program *p, gen_path *at, int dim, int level, int depth) {
  gen_level *l = &p->level[level];
  int axis = gen_below(&p->random, l->naxes), places = l->size[axis] / at->used[level][axis], width = at->width[dim],
      tile;
  char size[24];
  if (places < 1) return false;
  if (gen_chance(&p->random, 20)) {
    tile = ceildiv(width, places);
    gen_note(p, GEN_AUTO);
    gen_line(p, depth, "par %c on P%d.%c", p->dim[dim], level, 'x' + axis);
  } else if (gen_chance(&p->random, 15)) {
    int into = gen_between(&p->random, 1, width < places ? width : places);
    tile = ceildiv(width, into);
    gen_note(p, GEN_INTO);
    gen_line(p, depth, "par %c into %d on P%d.%c", p->dim[dim], into, level, 'x' + axis);
  } else {
    tile = choose_tile(p, width, ceildiv(width, places));
    number(p, size, sizeof size, tile, width);
    gen_line(p, depth, "par %c by %s on P%d.%c", p->dim[dim], size, level, 'x' + axis);
  }
  note_split(p, at, dim, tile);
  int count = tile < width ? ceildiv(width, tile) : 1;
  if (count > 1) {
    gen_note(p, GEN_ARRAY);
    if (at->used[level][axis] > 1) gen_note(p, GEN_PARS);
    if (l->naxes > 1 && at->used[level][1 - axis] > 1) gen_note(p, GEN_AXES);
    for (int o = 0; o < p->nlevels; o++)
      if (o != level && at->used[o][0] * at->used[o][1] > 1) gen_note(p, GEN_ARRAYS);
    if (l->unicast) gen_note(p, p->nstmts > 1 ? GEN_C_UNICAST : GEN_UNICAST);
    if (l->no_reduce) gen_note(p, GEN_NO_REDUCE);
    bool indexes = false;
    for (int r = 0; r < p->stmt[0].out.nranks; r++)
      for (int i = 0; i < p->stmt[0].out.rank[r].nterms; i++) indexes = indexes || p->stmt[0].out.rank[r].dim[i] == dim;
    if (!indexes) gen_note(p, GEN_REDUCING);
  }
  at->used[level][axis] *= count;
  at->last_par = level;
  narrow(p, at, dim, tile);
  return true;
}

/* ---- keeps ---- */

/* Is there room for so many times the variants? */
static bool most_variants(const gen_program *p, int times) { return (p->variants ? p->variants : 1) * times <= 64; }
static void more_variants(gen_program *p, int times) { p->variants = (p->variants ? p->variants : 1) * times; }

void gen_keep(gen_program *p, gen_path *at, unsigned tensors, int level, int depth) {
  char text[128];
  size_t len = 0;
  unsigned every = (1u << p->ntensors) - 1;
  bool all = p->nstmts == 1 && tensors == every && gen_chance(&p->random, 40);
  bool optional = p->nstmts == 1 && level > 0 && gen_chance(&p->random, 8);
  bool outside = true; /* each is kept further out too */
  for (int t = 0; t < p->ntensors; t++) {
    if (!(tensors >> t & 1)) continue;
    outside = outside && (at->at[t] >= 0 || p->all_outside);
    len += (size_t)snprintf(text + len, sizeof text - len, "%s%c", len ? ", " : "", p->tensor[t].name);
    at->at[t] = level;
    if (level > 0 && at->loops > 0 && p->level[level].doubled) gen_note(p, GEN_DOUBLE);
  }
  if (p->sweep) optional = level > 0 && most_variants(p, 2) && gen_chance(&p->random, outside ? 25 : 5);
  if (optional) gen_note(p, GEN_OPTIONAL), more_variants(p, 2);
  if (level > at->deepest) at->deepest = level;
  if (all) gen_note(p, GEN_ALL);
  gen_line(p, depth, "keep%s %s in L%d", optional ? "?" : "", all ? "all" : text, level);
}

/* ---- a leaf ---- */

typedef enum { ITEM_FOR, ITEM_PAR, ITEM_KEEP } item_kind;
typedef struct {
  item_kind kind;
  int dim, level;
  unsigned tensors;
} item;
enum { ITEMS = 64 };
typedef struct {
  item items[ITEMS];
  int n;
} plan;

static int any_dim(gen_program *p, unsigned dims) {
  int d;
  do d = gen_below(&p->random, p->ndims);
  while (!(dims >> d & 1));
  return d;
}

/* A par over a dimension of one element says little: try again a few times. */
static int wide_dim(gen_program *p, const gen_path *at, unsigned dims) {
  int d = any_dim(p, dims);
  for (int i = 0; i < 4 && at->width[d] == 1; i++) d = any_dim(p, dims);
  return d;
}

static void add(plan *l, item i) {
  if (l->n < ITEMS) l->items[l->n++] = i;
}

static void add_fors(gen_program *p, plan *l, const gen_path *at, const gen_stmt *s, int most) {
  int loops = at->loops;
  for (int i = 0; i < l->n; i++) loops += l->items[i].kind == ITEM_FOR;
  for (int n = gen_below(&p->random, most + 1); n > 0 && s->dims && loops < 10; n--, loops++)
    add(l, (item){.kind = ITEM_FOR, .dim = wide_dim(p, at, s->dims)});
}

/* The tensors that a memory keeps on this path, at one to three points. */
static void add_keeps(gen_program *p, plan *l, gen_path *at, const gen_stmt *s, int level, bool last) {
  unsigned group[3] = {0};
  int groups = gen_chance(&p->random, 80) ? gen_between(&p->random, 2, 3) : 1;
  for (int t = 0; t < p->ntensors; t++) {
    if (!gen_uses(s, t) || at->at[t] >= level) continue;
    bool must = last && at->at[t] < 0;
    if (must || gen_chance(&p->random, 66)) {
      group[gen_below(&p->random, groups)] |= 1u << t;
      at->at[t] = level;
    } else {
      gen_note(p, GEN_BYPASS);
    }
  }
  int points = 0;
  for (int g = 0; g < groups; g++) {
    if (!group[g]) continue;
    if (points) add_fors(p, l, at, s, 2);
    if (points && l->items[l->n - 1].kind == ITEM_FOR) gen_note(p, p->nstmts > 1 ? GEN_C_UNEVEN : GEN_UNEVEN);
    add(l, (item){.kind = ITEM_KEEP, .level = level, .tensors = group[g]});
    points++;
  }
  if (points && p->nstmts > 1) gen_note(p, GEN_BRANCH_KEEP);
}

/* Keeps of different tensors may change places as long as no par is between. */
static void cross_keeps(gen_program *p, plan *l) {
  for (int i = 0; i + 1 < l->n; i++) {
    item *a = &l->items[i], *b = &l->items[i + 1];
    if (a->kind != ITEM_KEEP || b->kind == ITEM_PAR || (b->kind == ITEM_KEEP && a->tensors & b->tensors)) continue;
    if (!gen_chance(&p->random, 80)) continue;
    if (b->kind == ITEM_KEEP && a->level != b->level) gen_note(p, GEN_CROSSED);
    item t = *a;
    *a = *b;
    *b = t;
  }
}

/* How many fors from here on may share a permute block: two, or three in a sweep, of dimensions of their own. */
static int permuted(const gen_program *p, const plan *l, int i) {
  int n = 1;
  for (; n < (p->sweep ? 3 : 2) && i + n < l->n && l->items[i + n].kind == ITEM_FOR; n++)
    for (int k = 0; k < n; k++)
      if (l->items[i + k].dim == l->items[i + n].dim) return p->sweep && !most_variants(p, n == 3 ? 6 : 2) ? 1 : n;
  return p->sweep && !most_variants(p, n == 3 ? 6 : 2) ? 1 : n;
}

static void print_items(gen_program *p, gen_path *at, const plan *l, int depth, int *braces) {
  for (int i = 0; i < l->n; i++) {
    const item *x = &l->items[i];
    if (x->kind == ITEM_KEEP) gen_keep(p, at, x->tensors, x->level, depth + *braces);
    if (x->kind == ITEM_PAR) gen_par(p, at, x->dim, x->level, depth + *braces);
    if (x->kind != ITEM_FOR) continue;
    const int block = permuted(p, l, i);
    if (block > 1 && (p->sweep ? gen_chance(&p->random, 70) : p->nstmts == 1 && gen_chance(&p->random, 18))) {
      gen_note(p, GEN_PERMUTE);
      more_variants(p, block == 3 ? 6 : 2);
      gen_line(p, depth + *braces, "permute {");
      for (int k = 0; k < block; k++) gen_for(p, at, l->items[i + k].dim, depth + *braces + 1, "");
      i += block - 1;
      gen_line(p, depth + *braces, "}");
    } else if (gen_chance(&p->random, 10)) {
      gen_note(p, GEN_BRACES);
      gen_for(p, at, x->dim, depth + *braces, " {");
      ++*braces;
    } else {
      gen_for(p, at, x->dim, depth + *braces, "");
    }
  }
}

void gen_leaf(gen_program *p, gen_path at, const gen_stmt *s, int depth) {
  plan l = {.n = 0};
  gen_path ahead = at; /* what the items will have kept */
  int braces = 0, last = p->nlevels - 1;
  while (p->level[last].array) last--;
  for (int level = at.last_par > at.deepest ? at.last_par
                   : at.deepest < 0         ? 0
                                            : at.deepest;
       level < p->nlevels; level++) {
    add_fors(p, &l, &at, s, p->nstmts > 1 || level > 1 ? 2 : 3);
    if (!p->level[level].array) {
      if (level > at.last_par) add_keeps(p, &l, &ahead, s, level, level == last);
      continue;
    }
    for (int n = gen_between(&p->random, p->nstmts == 1 ? 3 : 0, 6); n > 0 && s->dims; n--) {
      add(&l, (item){.kind = ITEM_PAR, .dim = wide_dim(p, &at, s->dims), .level = level});
      if (gen_chance(&p->random, 20)) add_fors(p, &l, &at, s, 1);
      if (p->nstmts > 1) gen_note(p, GEN_ARRAY_INSIDE);
    }
  }
  add_fors(p, &l, &at, s, 2);
  cross_keeps(p, &l);
  print_items(p, &at, &l, depth, &braces);
  gen_line(p, depth + braces, gen_chance(&p->random, 50) ? "compute" : "compute on MAC");
  while (braces > 0) gen_line(p, depth + --braces, "}");
}
