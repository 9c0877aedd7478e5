/* Building IR by hand: see hand.h. Only what nst_ir_verify_mapping accepts is
 * made: keeps in hardware order, keeps inside the array after all pars on it. */
#include "hand.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef const nst_expr *expr;

uint64_t hand_next(hand_source *s) {
  s->state ^= s->state << 13;
  s->state ^= s->state >> 7;
  s->state ^= s->state << 17;
  return s->state * UINT64_C(0x2545f4914f6cdd1d);
}

int hand_below(hand_source *s, int n) { return (int)((hand_next(s) >> 33) % (uint64_t)n); }

int64_t hand_draw(uint64_t *seed, int64_t lo, int64_t hi) {
  uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return lo + (int64_t)((z ^ (z >> 31)) % (uint64_t)(hi - lo + 1));
}

nst_jit *hand_jit_new(void) {
  nst_jit *jit = NULL;
  nst_buffer error = {0};
  if (nst_jit_new(&jit, NULL, &error) != NST_JIT_OK) fprintf(stderr, "%s\n", error.text);
  nst_buffer_fini(&error);
  return jit;
}

bool hand_has_code_generator(void) {
  const char *path = getenv("NESTOR_LLVM_MODULE");
  return !path || access(path, R_OK) == 0;
}

long hand_resident_kib(void) {
  FILE *f = fopen("/proc/self/statm", "r");
  long size = 0, resident = 0;
  if (!f || fscanf(f, "%ld %ld", &size, &resident) != 2) resident = 0;
  if (f) fclose(f);
  return resident * 4;
}

static expr constant(nst_arena *a, int64_t v) {
  nst_expr *e = NST_NEW(a, nst_expr);
  e->kind = NST_X_CONST;
  e->value = nst_rat_int(v);
  return e;
}

static expr param(nst_arena *a, int index) {
  nst_expr *e = NST_NEW(a, nst_expr);
  e->kind = NST_X_PARAM;
  e->index = index;
  return e;
}

static expr value(nst_arena *a, int index) {
  nst_expr *e = NST_NEW(a, nst_expr);
  e->kind = NST_X_VALUE;
  e->index = index;
  return e;
}

static expr binary(nst_arena *arena, nst_expr_kind kind, expr a, expr b) {
  nst_expr *e = NST_NEW(arena, nst_expr);
  e->kind = kind;
  e->a = a;
  e->b = b;
  return e;
}

typedef struct {
  nst_arena *arena;
  nst_ir_mapping *m;
  nst_ir_node **tail;
} builder;

static void add_node(builder *b, nst_ir_node n) {
  nst_ir_node *own = NST_NEW(b->arena, nst_ir_node);
  *own = n;
  own->permute = -1;
  *b->tail = own;
  b->tail = &own->next;
}

static void add_keep(builder *b, int level) {
  int n = b->m->workload.ntensors, *tensors = NST_NEW_ARRAY(b->arena, n, int);
  for (int i = 0; i < n; i++) tensors[i] = i;
  add_node(b, (nst_ir_node){.kind = NST_NODE_KEEP, .level = level, .tensors = tensors, .ntensors = n});
}

static nst_ir_rank make_rank(nst_arena *a, int nterms, const int *dims, const int *coefs, expr offset) {
  nst_ir_rank r = {.terms = NST_NEW_ARRAY(a, nterms, nst_ir_term), .nterms = nterms, .offset = offset};
  for (int i = 0; i < nterms; i++) r.terms[i] = (nst_ir_term){dims[i], constant(a, coefs[i])};
  return r;
}

static void set_params(nst_ir_mapping *m, nst_arena *a, const char *const *names, int n) {
  m->scope.params = NST_NEW_ARRAY(a, n, nst_ir_param);
  m->scope.nparams = n;
  for (int i = 0; i < n; i++) m->scope.params[i].name = names[i];
}

static nst_ir_mapping *finish(builder *b) {
  nst_ir_mapping_finish(b->arena, b->m);
  const char *wrong = nst_ir_verify_mapping(b->arena, b->m);
  assert(!wrong);
  (void)wrong;
  return b->m;
}

/* DRAM, GLB, the array PE[x, y], RF, MAC. */
static void make_hardware(nst_ir_mapping *m, nst_arena *a, expr x, expr y) {
  nst_ir_hardware *h = &m->hardware;
  h->name = "acc";
  h->clock = constant(a, 1000000000);
  h->nlevels = 5;
  h->levels = NST_NEW_ARRAY(a, h->nlevels, nst_ir_level);
  h->levels[0] =
    (nst_ir_level){.kind = NST_LEVEL_MEMORY, .name = "DRAM", .bandwidth = constant(a, 16), .overlap = true};
  h->levels[1] =
    (nst_ir_level){.kind = NST_LEVEL_MEMORY, .name = "GLB", .capacity = constant(a, 131072), .overlap = true};
  h->levels[2] = (nst_ir_level){.kind = NST_LEVEL_ARRAY, .name = "PE", .naxes = 2, .multicast = true, .reduce = true};
  h->levels[2].axes = NST_NEW_ARRAY(a, 2, nst_ir_axis);
  h->levels[2].axes[0] = (nst_ir_axis){.name = "x", .size = x};
  h->levels[2].axes[1] = (nst_ir_axis){.name = "y", .size = y};
  h->levels[3] = (nst_ir_level){.kind = NST_LEVEL_MEMORY, .name = "RF", .capacity = constant(a, 512), .overlap = true};
  h->levels[4] = (nst_ir_level){.kind = NST_LEVEL_COMPUTE, .name = "MAC"};
}

nst_ir_mapping *hand_convolution(nst_arena *a) {
  static const char *const params[] = {"k1", "c1", "p1", "q1", "k2", "c2", "p2", "q2"};
  static const char *const dims[] = {"k", "c", "p", "q", "r", "s"};
  static const int extents[] = {64, 64, 56, 56, 3, 3};
  enum { K, C, P, Q, R, S };
  nst_ir_mapping *m = NST_NEW(a, nst_ir_mapping);
  builder b = {a, m, &m->root};
  m->name = "tiled";
  set_params(m, a, params, 8);

  nst_ir_workload *w = &m->workload;
  w->name = "conv";
  w->ndims = 6;
  w->dims = NST_NEW_ARRAY(a, w->ndims, nst_ir_dim);
  for (int i = 0; i < w->ndims; i++) w->dims[i] = (nst_ir_dim){.name = dims[i], .extent = constant(a, extents[i])};
  w->ntensors = 3;
  w->tensors = NST_NEW_ARRAY(a, w->ntensors, nst_ir_tensor);
  w->tensors[0] =
    (nst_ir_tensor){.name = "I", .type = "int8", .bits = constant(a, 8), .role = NST_ROLE_INPUT, .nranks = 3};
  w->tensors[0].shape = NST_NEW_ARRAY(a, 3, expr);
  for (int i = 0; i < 3; i++) w->tensors[0].shape[i] = constant(a, extents[C + i]);
  w->tensors[1] =
    (nst_ir_tensor){.name = "W", .type = "int8", .bits = constant(a, 8), .role = NST_ROLE_INPUT, .nranks = 4};
  w->tensors[2] =
    (nst_ir_tensor){.name = "O", .type = "int32", .bits = constant(a, 32), .role = NST_ROLE_OUTPUT, .nranks = 3};
  w->nstmts = 1;
  nst_ir_stmt *s = w->stmts = NST_NEW(a, nst_ir_stmt);
  *s = (nst_ir_stmt){.combine = NST_COMBINE_ADD, .nin = 2, .ndims = 6, .text = "I * W"};
  s->in = NST_NEW_ARRAY(a, 2, nst_ir_access);
  s->dims = NST_NEW_ARRAY(a, s->ndims, int);
  for (int i = 0; i < s->ndims; i++) s->dims[i] = i;
  const int ones[] = {1, 1}, pr[] = {P, R}, qs[] = {Q, S}, single[] = {K, C, P, Q, R, S};
  s->in[0] = (nst_ir_access){.tensor = 0, .nranks = 3, .ranks = NST_NEW_ARRAY(a, 3, nst_ir_rank)};
  s->in[0].ranks[0] = make_rank(a, 1, single + C, ones, NULL);
  s->in[0].ranks[1] = make_rank(a, 2, pr, ones, constant(a, -1));
  s->in[0].ranks[2] = make_rank(a, 2, qs, ones, constant(a, -1));
  s->in[1] = (nst_ir_access){.tensor = 1, .nranks = 4, .ranks = NST_NEW_ARRAY(a, 4, nst_ir_rank)};
  s->in[1].ranks[0] = make_rank(a, 1, single + K, ones, NULL);
  s->in[1].ranks[1] = make_rank(a, 1, single + C, ones, NULL);
  s->in[1].ranks[2] = make_rank(a, 1, single + R, ones, NULL);
  s->in[1].ranks[3] = make_rank(a, 1, single + S, ones, NULL);
  s->out = (nst_ir_access){.tensor = 2, .nranks = 3, .ranks = NST_NEW_ARRAY(a, 3, nst_ir_rank)};
  s->out.ranks[0] = make_rank(a, 1, single + K, ones, NULL);
  s->out.ranks[1] = make_rank(a, 1, single + P, ones, NULL);
  s->out.ranks[2] = make_rank(a, 1, single + Q, ones, NULL);

  make_hardware(m, a, constant(a, 16), constant(a, 16));
  add_keep(&b, 0);
  for (int i = 0; i < 4; i++)
    add_node(&b, (nst_ir_node){.kind = NST_NODE_FOR, .dim = i, .split = NST_TILE_BY, .size = param(a, i)});
  add_keep(&b, 1);
  for (int i = 0; i < 4; i++)
    add_node(&b, (nst_ir_node){.kind = NST_NODE_FOR, .dim = i, .split = NST_TILE_BY, .size = param(a, 4 + i)});
  add_node(&b, (nst_ir_node){.kind = NST_NODE_PAR, .dim = K, .split = NST_TILE_AUTO, .level = 2, .axis = 1});
  add_node(&b, (nst_ir_node){.kind = NST_NODE_PAR, .dim = C, .split = NST_TILE_AUTO, .level = 2, .axis = 0});
  add_keep(&b, 3);
  add_node(&b, (nst_ir_node){.kind = NST_NODE_COMPUTE, .level = 4});
  return finish(&b);
}

/* ---- random mappings ---- */

enum { DIMS = 4, VALUES = 2 };

/* A size that is often a small positive integer. */
static expr random_size(builder *b, hand_source *s) {
  nst_arena *a = b->arena;
  expr p = param(a, hand_below(s, HAND_PARAMS));
  switch (hand_below(s, 9)) {
  case 0:
  case 1:
  case 2: return p;
  case 3: return constant(a, 1 + hand_below(s, 6));
  case 4: return binary(a, NST_X_CEILDIV, p, constant(a, 1 + hand_below(s, 3)));
  case 5: return binary(a, NST_X_ADD, p, constant(a, hand_below(s, 3) - 1));
  case 6: return binary(a, NST_X_MIN, p, param(a, hand_below(s, HAND_PARAMS)));
  case 7: return binary(a, NST_X_DIV, binary(a, NST_X_MUL, p, constant(a, 2)), constant(a, 1 + hand_below(s, 2)));
  default: return b->m->scope.nvalues ? value(a, hand_below(s, b->m->scope.nvalues)) : p;
  }
}

static void random_values(builder *b, hand_source *s) {
  int n = hand_below(s, VALUES + 1);
  b->m->scope.values = NST_NEW_ARRAY(b->arena, VALUES, nst_ir_value);
  for (int i = 0; i < n; i++) {
    b->m->scope.values[i] = (nst_ir_value){.name = i ? "v" : "u", .value = random_size(b, s)};
    b->m->scope.nvalues = i + 1;
  }
}

static nst_ir_access random_access(builder *b, hand_source *s, int tensor, int ndims) {
  nst_arena *a = b->arena;
  int nranks = 1 + hand_below(s, 2);
  nst_ir_access x = {.tensor = tensor, .nranks = nranks, .ranks = NST_NEW_ARRAY(a, nranks, nst_ir_rank)};
  int left[DIMS], nleft = ndims; /* each dimension once, so that ranks stay of two terms */
  for (int i = 0; i < ndims; i++) left[i] = i;
  for (int r = 0; r < nranks; r++) {
    int nterms = nleft > 1 && !hand_below(s, 3) ? 2 : nleft ? 1 : 0, dims[2], coefs[2];
    for (int t = 0; t < nterms; t++) {
      int at = hand_below(s, nleft);
      dims[t] = left[at];
      left[at] = left[--nleft];
      coefs[t] = hand_below(s, 3) ? 1 : 1 + hand_below(s, 3);
    }
    expr offset = hand_below(s, 3) ? NULL : binary(a, NST_X_SUB, constant(a, 1), param(a, hand_below(s, HAND_PARAMS)));
    x.ranks[r] = make_rank(a, nterms, dims, coefs, offset);
    if (nterms && !hand_below(s, 8)) x.ranks[r].terms[0].coef = param(a, hand_below(s, HAND_PARAMS));
  }
  return x;
}

static void random_workload(builder *b, hand_source *s) {
  static const char *const dims[] = {"a", "b", "c", "d"};
  static const char *const tensors[] = {"X", "Y", "Z"};
  nst_arena *a = b->arena;
  nst_ir_workload *w = &b->m->workload;
  w->name = "w";
  w->ndims = 1 + hand_below(s, DIMS);
  w->dims = NST_NEW_ARRAY(a, w->ndims, nst_ir_dim);
  for (int i = 0; i < w->ndims; i++)
    w->dims[i] = (nst_ir_dim){.name = dims[i],
                              .extent = hand_below(s, 4) ? constant(a, 1 + hand_below(s, 12)) : random_size(b, s)};
  w->ntensors = 2 + hand_below(s, 2);
  w->tensors = NST_NEW_ARRAY(a, w->ntensors, nst_ir_tensor);
  w->nstmts = 1;
  nst_ir_stmt *st = w->stmts = NST_NEW(a, nst_ir_stmt);
  *st = (nst_ir_stmt){.combine = NST_COMBINE_ADD, .ndims = w->ndims, .nin = w->ntensors - 1, .text = "x"};
  st->dims = NST_NEW_ARRAY(a, w->ndims, int);
  for (int i = 0; i < w->ndims; i++) st->dims[i] = i;
  st->in = NST_NEW_ARRAY(a, st->nin, nst_ir_access);
  for (int t = 0; t < w->ntensors; t++) {
    nst_ir_access access = random_access(b, s, t, w->ndims);
    nst_ir_tensor *tensor = &w->tensors[t];
    *tensor = (nst_ir_tensor){.name = tensors[t],
                              .type = "int8",
                              .bits = constant(a, 8),
                              .nranks = access.nranks,
                              .role = t ? NST_ROLE_INPUT : NST_ROLE_OUTPUT};
    if (!hand_below(s, 3)) {
      tensor->shape = NST_NEW_ARRAY(a, access.nranks, expr);
      for (int r = 0; r < access.nranks; r++) tensor->shape[r] = hand_below(s, 2) ? random_size(b, s) : NULL;
    }
    if (t)
      st->in[t - 1] = access;
    else
      st->out = access;
  }
}

static void random_split(builder *b, hand_source *s, bool par) {
  nst_ir_node n = {.kind = par ? NST_NODE_PAR : NST_NODE_FOR, .dim = hand_below(s, b->m->workload.ndims)};
  int pick = hand_below(s, 6);
  n.split = pick == 0 && !par ? NST_TILE_ONE
            : pick == 1       ? NST_TILE_INTO
            : par && pick < 4 ? NST_TILE_AUTO
                              : NST_TILE_BY;
  if (n.split == NST_TILE_BY || n.split == NST_TILE_INTO) n.size = random_size(b, s);
  if (par) {
    n.level = 2;
    n.axis = hand_below(s, 2);
  }
  add_node(b, n);
}

nst_ir_mapping *hand_random(nst_arena *a, uint64_t seed) {
  static const char *const params[HAND_PARAMS] = {"p", "q", "r", "s"};
  hand_source s = {seed * UINT64_C(0x9e3779b97f4a7c15) + 1};
  for (int i = 0; i < 4; i++) hand_next(&s);
  nst_ir_mapping *m = NST_NEW(a, nst_ir_mapping);
  builder b = {a, m, &m->root};
  m->name = "random";
  set_params(m, a, params, HAND_PARAMS);
  random_values(&b, &s);
  random_workload(&b, &s);
  expr axis = hand_below(&s, 3) ? constant(a, 1 + hand_below(&s, 8)) : param(a, hand_below(&s, HAND_PARAMS));
  make_hardware(m, a, axis, constant(a, 2 + hand_below(&s, 6)));
  m->hardware.levels[2].multicast = hand_below(&s, 4) > 0;
  m->hardware.levels[2].reduce = hand_below(&s, 4) > 0;
  if (!hand_below(&s, 4)) m->hardware.levels[1].capacity = binary(a, NST_X_DIV, constant(a, 4096), param(a, 0));
  add_keep(&b, 0);
  for (int n = hand_below(&s, 4); n; n--) random_split(&b, &s, false);
  if (hand_below(&s, 3)) add_keep(&b, 1);
  for (int n = hand_below(&s, 4); n; n--) random_split(&b, &s, !hand_below(&s, 2));
  if (hand_below(&s, 2)) {
    add_keep(&b, 3);
    if (hand_below(&s, 2)) random_split(&b, &s, false);
  }
  add_node(&b, (nst_ir_node){.kind = NST_NODE_COMPUTE, .level = 4});
  return finish(&b);
}
