/* Building straight-line code: constants are folded and repeated instructions
 * found as they are made, so no pass over the code is needed afterwards. */
#include "backend/code.h"
#include <string.h>

void nst_code_init(nst_code *c, nst_arena *arena, const char *name) {
  *c = (nst_code){.arena = arena, .name = name, .nindex = 256};
  c->index = NST_NEW_ARRAY(arena, c->nindex, nst_id);
  memset(c->index, -1, (size_t)c->nindex * sizeof *c->index);
}

static uint64_t mix(uint64_t h, uint64_t v) {
  h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ (h >> 29);
}

static uint64_t hash(const nst_inst *i) {
  uint64_t h = mix(0, (uint64_t)i->op);
  h = mix(h, (uint64_t)(uint32_t)i->a << 32 | (uint32_t)i->b);
  h = mix(h, (uint64_t)(uint32_t)i->c);
  return mix(h, (uint64_t)i->imm);
}

static void index_grow(nst_code *c) {
  c->nindex *= 2;
  c->index = NST_NEW_ARRAY(c->arena, c->nindex, nst_id);
  memset(c->index, -1, (size_t)c->nindex * sizeof *c->index);
  size_t mask = (size_t)c->nindex - 1;
  for (nst_id i = 0; i < c->ninsts; i++) {
    size_t at = hash(&c->insts[i]) & mask;
    while (c->index[at] >= 0) at = (at + 1) & mask;
    c->index[at] = i;
  }
}

/* The instruction, made only if there is none like it. */
static nst_id make(nst_code *c, nst_inst inst) {
  if (c->ninsts * 2 >= c->nindex) index_grow(c);
  size_t mask = (size_t)c->nindex - 1, at = hash(&inst) & mask;
  for (; c->index[at] >= 0; at = (at + 1) & mask) {
    const nst_inst *i = &c->insts[c->index[at]];
    if (i->op == inst.op && i->a == inst.a && i->b == inst.b && i->c == inst.c && i->imm == inst.imm)
      return c->index[at];
  }
  if (c->ninsts == c->insts_cap) {
    int cap = c->insts_cap ? c->insts_cap * 2 : 128;
    nst_inst *grown = NST_NEW_ARRAY(c->arena, cap, nst_inst);
    if (c->ninsts) memcpy(grown, c->insts, (size_t)c->ninsts * sizeof *grown);
    c->insts = grown;
    c->insts_cap = cap;
  }
  c->insts[c->ninsts] = inst;
  c->index[at] = c->ninsts;
  return c->ninsts++;
}

nst_id nst_code_const(nst_code *c, int64_t v) {
  return make(c, (nst_inst){.op = NST_INST_CONST, .a = -1, .b = -1, .c = -1, .imm = v});
}

nst_id nst_code_truth(nst_code *c, bool v) {
  return make(c, (nst_inst){.op = NST_INST_TRUTH, .boolean = true, .a = -1, .b = -1, .c = -1, .imm = v});
}

nst_id nst_code_load(nst_code *c, int array, int element) {
  return make(c, (nst_inst){.op = NST_INST_LOAD, .a = -1, .b = -1, .c = -1, .imm = (int64_t)array << 32 | element});
}

nst_id nst_code_load_point(nst_code *c, int array) {
  return make(c, (nst_inst){.op = NST_INST_LOAD_POINT, .a = -1, .b = -1, .c = -1, .imm = array});
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static int64_t floor_mod(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }

static int64_t gcd(int64_t a, int64_t b) {
  while (b) {
    int64_t r = a % b;
    a = b;
    b = r;
  }
  return a;
}

/* Both operands are constants: the value, for an op with an integer result. */
static nst_id fold(nst_code *c, nst_inst_op op, int64_t a, int64_t b) {
  int64_t v = 0;
  switch (op) {
  case NST_INST_ADD: return nst_code_const(c, (int64_t)((uint64_t)a + (uint64_t)b));
  case NST_INST_SUB: return nst_code_const(c, (int64_t)((uint64_t)a - (uint64_t)b));
  case NST_INST_MUL: return nst_code_const(c, (int64_t)((uint64_t)a * (uint64_t)b));
  case NST_INST_ADD_OVERFLOWS: return nst_code_truth(c, __builtin_add_overflow(a, b, &v));
  case NST_INST_SUB_OVERFLOWS: return nst_code_truth(c, __builtin_sub_overflow(a, b, &v));
  case NST_INST_MUL_OVERFLOWS: return nst_code_truth(c, __builtin_mul_overflow(a, b, &v));
  case NST_INST_DIV: return nst_code_const(c, floor_div(a, b));
  case NST_INST_MOD: return nst_code_const(c, floor_mod(a, b));
  case NST_INST_GCD: return nst_code_const(c, gcd(a, b));
  case NST_INST_MIN: return nst_code_const(c, a < b ? a : b);
  case NST_INST_MAX: return nst_code_const(c, a > b ? a : b);
  case NST_INST_EQ: return nst_code_truth(c, a == b);
  case NST_INST_LT: return nst_code_truth(c, a < b);
  case NST_INST_CONST:
  case NST_INST_TRUTH:
  case NST_INST_LOAD:
  case NST_INST_LOAD_POINT:
  case NST_INST_AND:
  case NST_INST_OR:
  case NST_INST_NOT:
  case NST_INST_SELECT:
  case NST_INST_COUNT: break;
  }
  return -1;
}

/* One operand is a constant, or both are the same: the simpler value, or -1. */
static nst_id simplify(nst_code *c, nst_inst_op op, nst_id a, nst_id b) {
  switch (op) {
  case NST_INST_ADD: return nst_code_is(c, a, 0) ? b : nst_code_is(c, b, 0) ? a : -1;
  case NST_INST_SUB: return nst_code_is(c, b, 0) ? a : a == b ? nst_code_const(c, 0) : -1;
  case NST_INST_MUL:
    if (nst_code_is(c, a, 0) || nst_code_is(c, b, 1)) return a;
    return nst_code_is(c, b, 0) || nst_code_is(c, a, 1) ? b : -1;
  case NST_INST_ADD_OVERFLOWS: return nst_code_is(c, a, 0) || nst_code_is(c, b, 0) ? nst_code_truth(c, false) : -1;
  case NST_INST_SUB_OVERFLOWS: return nst_code_is(c, b, 0) || a == b ? nst_code_truth(c, false) : -1;
  case NST_INST_MUL_OVERFLOWS:
    return nst_code_is(c, a, 0) || nst_code_is(c, b, 0) || nst_code_is(c, a, 1) || nst_code_is(c, b, 1)
             ? nst_code_truth(c, false)
             : -1;
  case NST_INST_DIV: return nst_code_is(c, b, 1) ? a : -1;
  case NST_INST_MOD: return nst_code_is(c, b, 1) ? nst_code_const(c, 0) : -1;
  case NST_INST_GCD: return a == b || nst_code_is(c, b, 0) ? a : nst_code_is(c, a, 0) ? b : -1;
  case NST_INST_MIN:
  case NST_INST_MAX: return a == b ? a : -1;
  case NST_INST_EQ: return a == b ? nst_code_truth(c, true) : -1;
  case NST_INST_LT: return a == b ? nst_code_truth(c, false) : -1;
  case NST_INST_AND:
    if (a == b || nst_code_is_truth(c, a, false) || nst_code_is_truth(c, b, true)) return a;
    return nst_code_is_truth(c, b, false) || nst_code_is_truth(c, a, true) ? b : -1;
  case NST_INST_OR:
    if (a == b || nst_code_is_truth(c, a, true) || nst_code_is_truth(c, b, false)) return a;
    return nst_code_is_truth(c, b, true) || nst_code_is_truth(c, a, false) ? b : -1;
  case NST_INST_CONST:
  case NST_INST_TRUTH:
  case NST_INST_LOAD:
  case NST_INST_LOAD_POINT:
  case NST_INST_NOT:
  case NST_INST_SELECT:
  case NST_INST_COUNT: break;
  }
  return -1;
}

static const bool op_boolean[] = {
#define NST_INST_BOOLEAN(id, boolean, operands) boolean,
  NST_INSTS(NST_INST_BOOLEAN)
#undef NST_INST_BOOLEAN
};

static bool commutes(nst_inst_op op) {
  return op != NST_INST_SUB && op != NST_INST_SUB_OVERFLOWS && op != NST_INST_DIV && op != NST_INST_MOD &&
         op != NST_INST_LT;
}

nst_id nst_code_op(nst_code *c, nst_inst_op op, nst_id a, nst_id b) {
  if (nst_code_is_const(c, a) && nst_code_is_const(c, b)) {
    nst_id folded = fold(c, op, c->insts[a].imm, c->insts[b].imm);
    if (folded >= 0) return folded;
  }
  nst_id simple = simplify(c, op, a, b);
  if (simple >= 0) return simple;
  if (a > b && commutes(op)) {
    nst_id t = a;
    a = b;
    b = t;
  }
  return make(c, (nst_inst){.op = op, .boolean = op_boolean[op], .a = a, .b = b, .c = -1});
}

nst_id nst_code_not(nst_code *c, nst_id a) {
  const nst_inst *i = &c->insts[a];
  if (i->op == NST_INST_TRUTH) return nst_code_truth(c, !i->imm);
  if (i->op == NST_INST_NOT) return i->a;
  return make(c, (nst_inst){.op = NST_INST_NOT, .boolean = true, .a = a, .b = -1, .c = -1});
}

nst_id nst_code_select(nst_code *c, nst_id condition, nst_id a, nst_id b) {
  if (a == b || nst_code_is_truth(c, condition, true)) return a;
  if (nst_code_is_truth(c, condition, false)) return b;
  return make(c, (nst_inst){.op = NST_INST_SELECT, .boolean = c->insts[a].boolean, .a = condition, .b = a, .c = b});
}

nst_id nst_code_checked(nst_code *c, nst_inst_op op, nst_id a, nst_id b, nst_id *ok) {
  nst_inst_op test = op == NST_INST_ADD   ? NST_INST_ADD_OVERFLOWS
                     : op == NST_INST_SUB ? NST_INST_SUB_OVERFLOWS
                                          : NST_INST_MUL_OVERFLOWS;
  nst_id overflows = nst_code_op(c, test, a, b);
  nst_id value = nst_code_op(c, op, a, b); /* right after its test: the two become one machine instruction */
  *ok = nst_code_op(c, NST_INST_AND, *ok, nst_code_not(c, overflows));
  return value;
}

void nst_code_store(nst_code *c, int slot, nst_id value) {
  if (c->nstores == c->stores_cap) {
    int cap = c->stores_cap ? c->stores_cap * 2 : 64;
    nst_store *grown = NST_NEW_ARRAY(c->arena, cap, nst_store);
    if (c->nstores) memcpy(grown, c->stores, (size_t)c->nstores * sizeof *grown);
    c->stores = grown;
    c->stores_cap = cap;
  }
  c->stores[c->nstores++] = (nst_store){slot, value};
}
