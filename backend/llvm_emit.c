/* Straight-line code becomes LLVM IR, instruction by instruction.
 *
 * Each piece of code is one function of one basic block:
 *   i64 name(ptr in, i64 point, ptr out)
 * Only the greatest common divisor needs a loop: it is a private function of
 * the module, made when first used. All loads come before the stores, and `out`
 * is noalias, so LLVM may order them as it likes. There is nothing here that
 * optimises: repeated work was found when the code was built, the rest is
 * LLVM's. */
#include "backend/llvm_emit.h"
#include <stdio.h>
#include <string.h>

typedef struct {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  LLVMTypeRef i1, i64, ptr, gcd_type;
  LLVMValueRef gcd;
} emitter;

static void add_attribute(emitter *e, LLVMValueRef f, LLVMAttributeIndex at, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  if (kind) LLVMAddAttributeAtIndex(f, at, LLVMCreateEnumAttribute(e->context, kind, 0));
}

static LLVMValueRef call_intrinsic(emitter *e, const char *name, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef types[] = {e->i64};
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->module, id, types, 1);
  LLVMTypeRef type = LLVMIntrinsicGetType(e->context, id, types, 1);
  LLVMValueRef args[] = {a, b};
  return LLVMBuildCall2(e->builder, type, f, args, 2, "");
}

/* while (b) { r = a % b; a = b; b = r; } return a */
static void make_gcd(emitter *e) {
  LLVMTypeRef types[] = {e->i64, e->i64};
  e->gcd_type = LLVMFunctionType(e->i64, types, 2, 0);
  e->gcd = LLVMAddFunction(e->module, "gcd", e->gcd_type);
  LLVMSetLinkage(e->gcd, LLVMPrivateLinkage);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(e->context, e->gcd, "entry");
  LLVMBasicBlockRef loop = LLVMAppendBasicBlockInContext(e->context, e->gcd, "loop");
  LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(e->context, e->gcd, "body");
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->context, e->gcd, "done");
  LLVMPositionBuilderAtEnd(e->builder, entry);
  LLVMBuildBr(e->builder, loop);
  LLVMPositionBuilderAtEnd(e->builder, loop);
  LLVMValueRef a = LLVMBuildPhi(e->builder, e->i64, "a"), b = LLVMBuildPhi(e->builder, e->i64, "b");
  LLVMValueRef end = LLVMBuildICmp(e->builder, LLVMIntEQ, b, LLVMConstInt(e->i64, 0, 0), "");
  LLVMBuildCondBr(e->builder, end, done, body);
  LLVMPositionBuilderAtEnd(e->builder, body);
  LLVMValueRef r = LLVMBuildURem(e->builder, a, b, "");
  LLVMBuildBr(e->builder, loop);
  LLVMPositionBuilderAtEnd(e->builder, done);
  LLVMBuildRet(e->builder, a);
  LLVMValueRef from_a[] = {LLVMGetParam(e->gcd, 0), b}, from_b[] = {LLVMGetParam(e->gcd, 1), r};
  LLVMBasicBlockRef from[] = {entry, body};
  LLVMAddIncoming(a, from_a, from, 2);
  LLVMAddIncoming(b, from_b, from, 2);
  LLVMPositionBuilderAtEnd(e->builder, before);
}

static LLVMValueRef call_gcd(emitter *e, LLVMValueRef a, LLVMValueRef b) {
  if (!e->gcd) make_gcd(e);
  LLVMValueRef args[] = {a, b};
  return LLVMBuildCall2(e->builder, e->gcd_type, e->gcd, args, 2, "");
}

/* The quotient rounded down, or the remainder in [0, b), of a by b >= 1. */
static LLVMValueRef emit_division(emitter *e, bool mod, LLVMValueRef a, LLVMValueRef b) {
  LLVMValueRef zero = LLVMConstInt(e->i64, 0, 0);
  LLVMValueRef rest = LLVMBuildSRem(e->builder, a, b, "");
  LLVMValueRef below = LLVMBuildICmp(e->builder, LLVMIntSLT, rest, zero, "");
  if (mod) return LLVMBuildAdd(e->builder, rest, LLVMBuildSelect(e->builder, below, b, zero, ""), "");
  LLVMValueRef quotient = LLVMBuildSDiv(e->builder, a, b, "");
  return LLVMBuildAdd(e->builder, quotient, LLVMBuildSExt(e->builder, below, e->i64, ""), "");
}

typedef struct {
  emitter *e;
  const nst_code *code;
  LLVMValueRef function;
  LLVMValueRef *values; /* of each instruction; of an overflow test its boolean */
  LLVMValueRef *pairs;  /* of an overflow test: result and overflow together, else NULL */
  LLVMValueRef *arrays; /* in[a], loaded when first used */
} function_emitter;

static LLVMValueRef emit_load(function_emitter *f, int array, LLVMValueRef element) {
  emitter *e = f->e;
  if (!f->arrays[array]) {
    LLVMValueRef at = LLVMConstInt(e->i64, (unsigned long long)array, 0);
    LLVMValueRef place = LLVMBuildInBoundsGEP2(e->builder, e->ptr, LLVMGetParam(f->function, 0), &at, 1, "");
    f->arrays[array] = LLVMBuildLoad2(e->builder, e->ptr, place, "");
  }
  LLVMValueRef place = LLVMBuildInBoundsGEP2(e->builder, e->i64, f->arrays[array], &element, 1, "");
  LLVMValueRef load = LLVMBuildLoad2(e->builder, e->i64, place, "");
  LLVMSetAlignment(load, sizeof(int64_t));
  return load;
}

/* ADD, SUB or MUL: the result of its overflow test where that stands just before it. */
static LLVMValueRef emit_wrapping(function_emitter *f, nst_id id, LLVMOpcode opcode, nst_inst_op test) {
  const nst_inst *i = &f->code->insts[id], *p = id ? i - 1 : NULL;
  if (p && p->op == test && p->a == i->a && p->b == i->b)
    return LLVMBuildExtractValue(f->e->builder, f->pairs[id - 1], 0, "");
  return LLVMBuildBinOp(f->e->builder, opcode, f->values[i->a], f->values[i->b], "");
}

static LLVMValueRef emit_overflow(function_emitter *f, nst_id id, const char *intrinsic) {
  const nst_inst *i = &f->code->insts[id];
  f->pairs[id] = call_intrinsic(f->e, intrinsic, f->values[i->a], f->values[i->b]);
  return LLVMBuildExtractValue(f->e->builder, f->pairs[id], 1, "");
}

static LLVMValueRef emit_inst(function_emitter *f, nst_id id) {
  emitter *e = f->e;
  const nst_inst *i = &f->code->insts[id];
  LLVMValueRef a = i->a >= 0 ? f->values[i->a] : NULL, b = i->b >= 0 ? f->values[i->b] : NULL;
  switch (i->op) {
  case NST_INST_CONST: return LLVMConstInt(e->i64, (unsigned long long)i->imm, 1);
  case NST_INST_TRUTH: return LLVMConstInt(e->i1, (unsigned long long)i->imm, 0);
  case NST_INST_LOAD:
    return emit_load(f, (int)(i->imm >> 32), LLVMConstInt(e->i64, (unsigned long long)(i->imm & 0xffffffff), 0));
  case NST_INST_LOAD_POINT: return emit_load(f, (int)i->imm, LLVMGetParam(f->function, 1));
  case NST_INST_ADD: return emit_wrapping(f, id, LLVMAdd, NST_INST_ADD_OVERFLOWS);
  case NST_INST_SUB: return emit_wrapping(f, id, LLVMSub, NST_INST_SUB_OVERFLOWS);
  case NST_INST_MUL: return emit_wrapping(f, id, LLVMMul, NST_INST_MUL_OVERFLOWS);
  case NST_INST_ADD_OVERFLOWS: return emit_overflow(f, id, "llvm.sadd.with.overflow");
  case NST_INST_SUB_OVERFLOWS: return emit_overflow(f, id, "llvm.ssub.with.overflow");
  case NST_INST_MUL_OVERFLOWS: return emit_overflow(f, id, "llvm.smul.with.overflow");
  case NST_INST_DIV: return emit_division(e, false, a, b);
  case NST_INST_MOD: return emit_division(e, true, a, b);
  case NST_INST_GCD: return call_gcd(e, a, b);
  case NST_INST_MIN: return LLVMBuildSelect(e->builder, LLVMBuildICmp(e->builder, LLVMIntSLT, a, b, ""), a, b, "");
  case NST_INST_MAX: return LLVMBuildSelect(e->builder, LLVMBuildICmp(e->builder, LLVMIntSGT, a, b, ""), a, b, "");
  case NST_INST_EQ: return LLVMBuildICmp(e->builder, LLVMIntEQ, a, b, "");
  case NST_INST_LT: return LLVMBuildICmp(e->builder, LLVMIntSLT, a, b, "");
  case NST_INST_AND: return LLVMBuildAnd(e->builder, a, b, "");
  case NST_INST_OR: return LLVMBuildOr(e->builder, a, b, "");
  case NST_INST_NOT: return LLVMBuildNot(e->builder, a, "");
  case NST_INST_SELECT: return LLVMBuildSelect(e->builder, a, b, f->values[i->c], "");
  case NST_INST_COUNT: break;
  }
  return NULL;
}

/* Whether the value of each instruction is asked for: dead ones never reach LLVM. */
static void mark_live(const nst_code *c, bool *live) {
  live[c->status] = true;
  for (int i = 0; i < c->nstores; i++) live[c->stores[i].value] = true;
  for (nst_id i = c->ninsts - 1; i >= 0; i--) {
    if (!live[i]) continue;
    const nst_inst *inst = &c->insts[i];
    if (inst->a >= 0) live[inst->a] = true;
    if (inst->b >= 0) live[inst->b] = true;
    if (inst->c >= 0) live[inst->c] = true;
  }
}

static int count_arrays(const nst_code *c) {
  int n = 0;
  for (nst_id i = 0; i < c->ninsts; i++) {
    const nst_inst *inst = &c->insts[i];
    int a = inst->op == NST_INST_LOAD ? (int)(inst->imm >> 32) : inst->op == NST_INST_LOAD_POINT ? (int)inst->imm : -1;
    if (a >= n) n = a + 1;
  }
  return n;
}

static void emit_function(emitter *e, const nst_code *code, const char *prefix) {
  nst_arena *work = nst_arena_new();
  LLVMTypeRef types[] = {e->ptr, e->i64, e->ptr};
  LLVMValueRef function = LLVMAddFunction(e->module, nst_arena_printf(work, "%s%s", prefix, code->name),
                                          LLVMFunctionType(e->i64, types, 3, 0));
  add_attribute(e, function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, "nounwind");
  add_attribute(e, function, 1, "nocapture");
  add_attribute(e, function, 3, "noalias");
  add_attribute(e, function, 3, "nocapture");
  LLVMPositionBuilderAtEnd(e->builder, LLVMAppendBasicBlockInContext(e->context, function, "entry"));

  function_emitter f = {
    .e = e,
    .code = code,
    .function = function,
    .values = NST_NEW_ARRAY(work, code->ninsts, LLVMValueRef),
    .pairs = NST_NEW_ARRAY(work, code->ninsts, LLVMValueRef),
    .arrays = NST_NEW_ARRAY(work, count_arrays(code), LLVMValueRef),
  };
  bool *live = NST_NEW_ARRAY(work, code->ninsts, bool);
  mark_live(code, live);
  /* A wrapping operation takes its result from the test before it, which may be dead itself. */
  for (nst_id i = 0; i < code->ninsts; i++) {
    bool joined = i + 1 < code->ninsts && live[i + 1] && code->insts[i].op >= NST_INST_ADD_OVERFLOWS &&
                  code->insts[i].op <= NST_INST_MUL_OVERFLOWS;
    if (live[i] || joined) f.values[i] = emit_inst(&f, i);
  }
  for (int i = 0; i < code->nstores; i++) {
    LLVMValueRef at = LLVMConstInt(e->i64, (unsigned long long)code->stores[i].slot, 0);
    LLVMValueRef place = LLVMBuildInBoundsGEP2(e->builder, e->i64, LLVMGetParam(function, 2), &at, 1, "");
    LLVMSetAlignment(LLVMBuildStore(e->builder, f.values[code->stores[i].value], place), sizeof(int64_t));
  }
  LLVMBuildRet(e->builder, f.values[code->status]);
  nst_arena_free(work);
}

/* An exported function that calls a symbol nobody defines, so that linking has to find it. */
static void emit_requirement(emitter *e, const char *prefix, const char *require) {
  char name[64];
  snprintf(name, sizeof name, "%srequire", prefix);
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), NULL, 0, 0);
  LLVMValueRef outside = LLVMAddFunction(e->module, require, type);
  LLVMValueRef inside = LLVMAddFunction(e->module, name, type);
  LLVMPositionBuilderAtEnd(e->builder, LLVMAppendBasicBlockInContext(e->context, inside, "entry"));
  LLVMBuildCall2(e->builder, type, outside, NULL, 0, "");
  LLVMBuildRetVoid(e->builder);
}

LLVMModuleRef nst_llvm_emit(LLVMContextRef context, const nst_code *codes, int n, const char *prefix,
                            const char *require) {
  emitter e = {
    .context = context,
    .module = LLVMModuleCreateWithNameInContext("nestor", context),
    .builder = LLVMCreateBuilderInContext(context),
    .i1 = LLVMInt1TypeInContext(context),
    .i64 = LLVMInt64TypeInContext(context),
    .ptr = LLVMPointerTypeInContext(context, 0),
  };
  for (int i = 0; i < n; i++) emit_function(&e, &codes[i], prefix);
  if (require) emit_requirement(&e, prefix, require);
  LLVMDisposeBuilder(e.builder);
  return e.module;
}
