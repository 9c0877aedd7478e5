/* Straight-line integer code: what a kernel computes, before LLVM sees it.
 *
 * A piece of code is a list of instructions in SSA form, without branches: it
 * loads numbers from arrays, computes with 64-bit integers and booleans, and
 * stores results. Building folds constants and finds every repeated
 * instruction (the index below), so that the prologue computes no extent twice
 * and the formulas share their sub-products; what reaches LLVM is already
 * small. Nothing here can trap: a divisor is made positive before it divides,
 * and an overflow is a value (a boolean) that the builder of the code
 * accumulates. Control flow is left out on purpose: a value that counts only
 * under a condition is computed all the same and then selected.
 *
 * Instructions live in the arena of their code; ids are indices, operands
 * always smaller than the instruction itself. */
#ifndef NST_BACKEND_CODE_H
#define NST_BACKEND_CODE_H
#include "base/arena.h"
#include <stdbool.h>
#include <stdint.h>

/* NST_INST(id, boolean result, operands) */
#define NST_INSTS(NST_INST)                                                        \
  NST_INST(CONST, false, 0)        /* imm */                                       \
  NST_INST(TRUTH, true, 0)         /* imm: 0 or 1 */                               \
  NST_INST(LOAD, false, 0)         /* in[imm >> 32][imm & 0xffffffff] */           \
  NST_INST(LOAD_POINT, false, 0)   /* in[imm][index of the point] */               \
  NST_INST(ADD, false, 2)          /* modulo 2^64, like SUB and MUL */             \
  NST_INST(SUB, false, 2)                                                          \
  NST_INST(MUL, false, 2)                                                          \
  NST_INST(ADD_OVERFLOWS, true, 2) /* whether the exact result leaves 64 bits */   \
  NST_INST(SUB_OVERFLOWS, true, 2)                                                 \
  NST_INST(MUL_OVERFLOWS, true, 2)                                                 \
  NST_INST(DIV, false, 2)          /* rounds down; b >= 1 */                       \
  NST_INST(MOD, false, 2)          /* in [0, b); b >= 1 */                         \
  NST_INST(GCD, false, 2)          /* a, b >= 0 */                                 \
  NST_INST(MIN, false, 2)                                                          \
  NST_INST(MAX, false, 2)                                                          \
  NST_INST(EQ, true, 2)            /* of two integers */                           \
  NST_INST(LT, true, 2)                                                            \
  NST_INST(AND, true, 2)                                                           \
  NST_INST(OR, true, 2)                                                            \
  NST_INST(NOT, true, 1)                                                           \
  NST_INST(SELECT, false, 3)       /* a ? b : c; boolean when b and c are */

typedef enum {
#define NST_INST_ID(id, boolean, operands) NST_INST_##id,
  NST_INSTS(NST_INST_ID)
#undef NST_INST_ID
  NST_INST_COUNT
} nst_inst_op;

typedef int nst_id; /* an instruction and its value */
typedef struct { nst_inst_op op; bool boolean; nst_id a, b, c; int64_t imm; } nst_inst;
typedef struct { int slot; nst_id value; } nst_store; /* out[slot] = value */

typedef struct {
  nst_arena *arena;
  const char *name;           /* its symbol in a module */
  nst_inst *insts; int ninsts, insts_cap;
  nst_store *stores; int nstores, stores_cap;
  nst_id status;              /* an integer: what the function returns */
  nst_id *index; int nindex;  /* hash table of insts: power of two, -1 empty */
} nst_code;

/* What the compiled code is: in = the arrays that LOAD names, point = the index of LOAD_POINT. */
typedef int64_t nst_code_function(const int64_t *const *in, uint64_t point, int64_t *out);

void nst_code_init(nst_code *c, nst_arena *arena, const char *name);
nst_id nst_code_const(nst_code *c, int64_t v);
nst_id nst_code_truth(nst_code *c, bool v);
nst_id nst_code_load(nst_code *c, int array, int element);
nst_id nst_code_load_point(nst_code *c, int array);
/* Any other instruction; unused operands are ignored. Commutative operands may be swapped. */
nst_id nst_code_op(nst_code *c, nst_inst_op op, nst_id a, nst_id b);
nst_id nst_code_not(nst_code *c, nst_id a);
nst_id nst_code_select(nst_code *c, nst_id condition, nst_id a, nst_id b);
/* a op b for ADD, SUB, MUL; *ok becomes false where the exact result leaves 64 bits. */
nst_id nst_code_checked(nst_code *c, nst_inst_op op, nst_id a, nst_id b, nst_id *ok);
void nst_code_store(nst_code *c, int slot, nst_id value);

static inline bool nst_code_is_const(const nst_code *c, nst_id a) { return c->insts[a].op == NST_INST_CONST; }
static inline bool nst_code_is(const nst_code *c, nst_id a, int64_t v) {
  return c->insts[a].op == NST_INST_CONST && c->insts[a].imm == v;
}
static inline bool nst_code_is_truth(const nst_code *c, nst_id a, bool v) {
  return c->insts[a].op == NST_INST_TRUTH && (c->insts[a].imm != 0) == v;
}
#endif
