/* Vector code becomes LLVM IR: one loop over vectors of NST_VECTOR_LANES tuples.
 *
 * The vector width is fixed; LLVM splits a vector where the machine has narrower
 * ones, and since all numbers are whole and bounded, the results are the same
 * bits either way. Multiply and add may fuse (llvm.fmuladd): exact both ways. */
#include "backend/llvm_emit.h"
#include <string.h>

enum {
  SUM_LANES = 8,
  CARRIED = 5 /* by the loops of a filter: candidates so far and the tallies */
};

typedef struct {
  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef b;
  LLVMTypeRef i1, mask, i64, f64, ptr, number, lanes, lanes_i64, lanes_i1, lanes_f64, lanes_sum;
  const nst_vector_code *code;
  LLVMValueRef function, i, iota;   /* index of the vector's first tuple; 0 … lanes-1 */
  LLVMValueRef row;                 /* where the places of the row start */
  LLVMValueRef columns[256];        /* of the slots, loaded once, before the loop */
  LLVMValueRef used[256], sum[256], form[256]; /* how many slots of a form are used; their sum and its value, once known */
  bool needed[256];                 /* forms */
  LLVMValueRef coefficients, limits;
  bool avx512, permutes;            /* the machine permutes 16 doubles by a vector of indices */
  LLVMValueRef octaves[2];          /* limits by octave, where it does */
} emitter;

static LLVMValueRef i64_of(emitter *e, uint64_t v) { return LLVMConstInt(e->i64, v, 0); }
static LLVMValueRef number_of(emitter *e, int64_t v) {
  return e->code->floating ? LLVMConstReal(e->f64, (double)v) : LLVMConstInt(e->i64, (uint64_t)v, 1);
}

static LLVMValueRef splat_const(LLVMValueRef v) {
  LLVMValueRef all[NST_VECTOR_LANES];
  for (int k = 0; k < NST_VECTOR_LANES; k++) all[k] = v;
  return LLVMConstVector(all, NST_VECTOR_LANES);
}

static LLVMValueRef splat(emitter *e, LLVMTypeRef vector, LLVMValueRef v) {
  LLVMValueRef one = LLVMBuildInsertElement(e->b, LLVMGetPoison(vector), v, i64_of(e, 0), "");
  LLVMValueRef zeros = LLVMConstNull(LLVMVectorType(LLVMInt32TypeInContext(e->context), NST_VECTOR_LANES));
  return LLVMBuildShuffleVector(e->b, one, LLVMGetPoison(vector), zeros, "");
}

static LLVMValueRef at(emitter *e, LLVMTypeRef type, LLVMValueRef base, LLVMValueRef index) {
  return LLVMBuildInBoundsGEP2(e->b, type, base, &index, 1, "");
}

static LLVMValueRef intrinsic(emitter *e, const char *name, LLVMTypeRef *types, unsigned ntypes, LLVMValueRef *args, unsigned n) {
  unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
  LLVMValueRef f = LLVMGetIntrinsicDeclaration(e->module, id, types, ntypes);
  return LLVMBuildCall2(e->b, LLVMIntrinsicGetType(e->context, id, types, ntypes), f, args, n, "");
}

static LLVMValueRef in_array(emitter *e, int number) {
  return LLVMBuildLoad2(e->b, e->ptr, at(e, e->ptr, LLVMGetParam(e->function, 0), i64_of(e, (uint64_t)number)), "");
}

static LLVMValueRef load_lanes(emitter *e, LLVMValueRef base, LLVMValueRef index) {
  LLVMValueRef load = LLVMBuildLoad2(e->b, e->lanes, at(e, e->number, base, index), "");
  LLVMSetAlignment(load, 64);
  return load;
}

static LLVMValueRef multiply_add(emitter *e, LLVMValueRef c, LLVMValueRef x, LLVMValueRef sum) {
  if (!e->code->floating) return LLVMBuildAdd(e->b, sum, LLVMBuildMul(e->b, c, x, ""), "");
  LLVMValueRef args[] = {c, x, sum};
  return intrinsic(e, "llvm.fmuladd", &e->lanes, 1, args, 3);
}

static LLVMValueRef coefficient(emitter *e, int slot) {
  LLVMValueRef place = at(e, e->number, e->coefficients, i64_of(e, (uint64_t)slot * (uint64_t)e->code->stride));
  return splat(e, e->lanes, LLVMBuildLoad2(e->b, e->number, place, ""));
}

/* Forms whose sums are made side by side, since they load the same columns. */
typedef struct { const nst_vform *forms[2]; LLVMValueRef sums[2]; int n; } side_by_side;

static void add_slots(emitter *e, side_by_side *s, int k) {
  const int ahead = s->forms[0]->constant;
  LLVMValueRef column = load_lanes(e, e->columns[s->forms[0]->first + ahead + k], e->i);
  for (int m = 0; m < s->n; m++)
    s->sums[m] = multiply_add(e, coefficient(e, s->forms[m]->first + s->forms[m]->constant + k), column, s->sums[m]);
}

/* Slots that a call may not use are behind branches, which go the same way all through it. */
static void sum_slots(emitter *e, side_by_side *s, LLVMValueRef used) {
  const nst_vform *f = s->forms[0];
  const int n = f->n - f->constant, least = f->least - f->constant;
  LLVMValueRef sums[2][256];
  LLVMBasicBlockRef from[256];
  for (int m = 0; m < s->n; m++) s->sums[m] = s->forms[m]->constant ? coefficient(e, s->forms[m]->first) : LLVMConstNull(e->lanes);
  int k = 0;
  for (; k < least; k++) add_slots(e, s, k);
  if (k == n) return;
  LLVMBasicBlockRef summed = LLVMAppendBasicBlockInContext(e->context, e->function, "summed");
  unsigned ways = 0;
  for (;; k++, ways++) {
    LLVMBasicBlockRef more = k < n ? LLVMAppendBasicBlockInContext(e->context, e->function, "slot") : NULL;
    for (int m = 0; m < s->n; m++) sums[m][ways] = s->sums[m];
    from[ways] = LLVMGetInsertBlock(e->b);
    if (!more) break;
    LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntUGT, used, i64_of(e, (uint64_t)(f->constant + k)), ""), more, summed);
    LLVMPositionBuilderAtEnd(e->b, more);
    add_slots(e, s, k);
  }
  LLVMBuildBr(e->b, summed);
  LLVMMoveBasicBlockAfter(summed, from[ways]);
  LLVMPositionBuilderAtEnd(e->b, summed);
  for (int m = 0; m < s->n; m++) {
    s->sums[m] = LLVMBuildPhi(e->b, e->lanes, "");
    LLVMAddIncoming(s->sums[m], sums[m], from, ways + 1);
  }
}

/* The sum of a form's slots; where registers are many, that of a form with the same columns is made with it. */
static LLVMValueRef sum_of_slots(emitter *e, int number) {
  const nst_vector_code *c = e->code;
  side_by_side s = {.forms = {&c->forms[number]}, .n = 1};
  int other = c->forms[number].like;
  for (int f = number + 1; f < c->nforms && other < 0; f++)
    if (c->forms[f].like == number) other = f;
  if (!e->sum[number]) {
    if (other >= 0 && e->avx512 && e->needed[other]) s.forms[s.n++] = &c->forms[other];
    sum_slots(e, &s, e->used[number]);
    e->sum[number] = s.sums[0];
    if (s.n == 2) e->sum[other] = s.sums[1];
  }
  return e->sum[number];
}

static LLVMValueRef emit_form(emitter *e, int number) {
  if (e->form[number]) return e->form[number];
  const nst_vform *f = &e->code->forms[number];
  LLVMValueRef base = f->base >= 0 ? emit_form(e, f->base) : NULL, sum = sum_of_slots(e, number);
  if (f->divisor != 1 && !e->code->floating) sum = LLVMBuildSDiv(e->b, sum, splat_const(number_of(e, f->divisor)), "");
  if (f->divisor != 1 && e->code->floating) { /* Whole and below 2^52, so the nearest whole number to an approximation is it. */
    LLVMValueRef near = LLVMBuildFMul(e->b, sum, splat_const(LLVMConstReal(e->f64, 1.0 / (double)f->divisor)), "");
    sum = intrinsic(e, "llvm.rint", &e->lanes, 1, &near, 1);
  }
  if (base) sum = e->code->floating ? LLVMBuildFAdd(e->b, sum, base, "") : LLVMBuildAdd(e->b, sum, base, "");
  return e->form[number] = sum;
}

static LLVMValueRef compare(emitter *e, LLVMRealPredicate real, LLVMIntPredicate whole, LLVMValueRef a, LLVMValueRef b) {
  return e->code->floating ? LLVMBuildFCmp(e->b, real, a, b, "") : LLVMBuildICmp(e->b, whole, a, b, "");
}

/* Doubles: a times 1/d is off by less than one, so its floor is the quotient or beside it, and the rest says which. */
static LLVMValueRef ceil_div(emitter *e, LLVMValueRef a, int64_t d) {
  LLVMValueRef by = splat_const(number_of(e, d));
  if (!e->code->floating)
    return LLVMBuildSDiv(e->b, LLVMBuildAdd(e->b, a, splat_const(number_of(e, d - 1)), ""), by, "");
  LLVMValueRef near = LLVMBuildFMul(e->b, a, splat_const(LLVMConstReal(e->f64, 1.0 / (double)d)), "");
  if (!(d & (d - 1))) return intrinsic(e, "llvm.ceil", &e->lanes, 1, &near, 1); /* near is the quotient */
  LLVMValueRef q = intrinsic(e, "llvm.floor", &e->lanes, 1, &near, 1), zero = LLVMConstNull(e->lanes);
  LLVMValueRef rest = LLVMBuildFSub(e->b, a, LLVMBuildFMul(e->b, q, by, ""), "");
  LLVMValueRef one = splat_const(number_of(e, 1)), two = splat_const(number_of(e, 2));
  /* rest is in (-d, 2d): rounded up, q + 0, 1 or 2 */
  LLVMValueRef more = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOGT, rest, zero, ""), one, zero, "");
  more = LLVMBuildSelect(e->b, LLVMBuildFCmp(e->b, LLVMRealOGT, rest, by, ""), two, more, "");
  LLVMValueRef less = LLVMBuildFCmp(e->b, LLVMRealOLE, LLVMBuildFAdd(e->b, rest, by, ""), zero, "");
  q = LLVMBuildFAdd(e->b, q, more, "");
  return LLVMBuildSelect(e->b, less, LLVMBuildFSub(e->b, q, one, ""), q, "");
}

/* Doubles: as above, with the rest in (-d, 2d) again. */
static LLVMValueRef floor_div(emitter *e, LLVMValueRef a, int64_t d) {
  LLVMValueRef by = splat_const(number_of(e, d)), zero = LLVMConstNull(e->lanes), one = splat_const(number_of(e, 1));
  if (!e->code->floating) {
    LLVMValueRef q = LLVMBuildSDiv(e->b, a, by, ""), rest = LLVMBuildSub(e->b, a, LLVMBuildMul(e->b, q, by, ""), "");
    return LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSLT, rest, zero, ""), LLVMBuildSub(e->b, q, one, ""), q, "");
  }
  LLVMValueRef near = LLVMBuildFMul(e->b, a, splat_const(LLVMConstReal(e->f64, 1.0 / (double)d)), "");
  LLVMValueRef q = intrinsic(e, "llvm.floor", &e->lanes, 1, &near, 1);
  if (!(d & (d - 1))) return q;
  LLVMValueRef rest = LLVMBuildFSub(e->b, a, LLVMBuildFMul(e->b, q, by, ""), "");
  LLVMValueRef less = LLVMBuildFCmp(e->b, LLVMRealOLT, rest, zero, ""), more = LLVMBuildFCmp(e->b, LLVMRealOGE, rest, by, "");
  LLVMValueRef up = LLVMBuildSelect(e->b, more, LLVMBuildFAdd(e->b, q, one, ""), q, "");
  return LLVMBuildSelect(e->b, less, LLVMBuildFSub(e->b, q, one, ""), up, "");
}

static bool is_zero(const nst_vop *ops, int k) {
  return ops[k].kind == NST_VOP_SCALE ? is_zero(ops, ops[k].a) : ops[k].kind == NST_VOP_CONST && !ops[k].imm;
}

static bool is_positive(const emitter *e, int k) {
  const nst_vop *o = &e->code->ops[k];
  if (o->kind == NST_VOP_FORM) return e->code->forms[o->imm].positive;
  if (o->kind == NST_VOP_CONST) return o->imm >= 0;
  if (o->kind == NST_VOP_SCALE) return o->imm >= 0 && is_positive(e, o->a);
  if (o->kind == NST_VOP_MAX) return is_positive(e, o->a) || is_positive(e, o->b);
  return o->kind == NST_VOP_ADD && is_positive(e, o->a) && is_positive(e, o->b);
}

/* a + b, with a factor of either taken along. */
static LLVMValueRef emit_add(emitter *e, int a, int b, LLVMValueRef *v) {
  const nst_vop *ops = e->code->ops;
  if (is_zero(ops, a)) return v[b];
  if (is_zero(ops, b)) return v[a];
  if (ops[b].kind == NST_VOP_SCALE) return multiply_add(e, splat_const(number_of(e, ops[b].imm)), v[ops[b].a], v[a]);
  if (ops[a].kind == NST_VOP_SCALE) return multiply_add(e, splat_const(number_of(e, ops[a].imm)), v[ops[a].a], v[b]);
  return e->code->floating ? LLVMBuildFAdd(e->b, v[a], v[b], "") : LLVMBuildAdd(e->b, v[a], v[b], "");
}

static LLVMValueRef emit_op(emitter *e, const nst_vop *o, LLVMValueRef *v) {
  LLVMValueRef a = o->a >= 0 ? v[o->a] : NULL, b = o->b >= 0 ? v[o->b] : NULL;
  bool f = e->code->floating;
  switch (o->kind) {
  case NST_VOP_FORM: return emit_form(e, (int)o->imm);
  case NST_VOP_CONST: return splat_const(number_of(e, o->imm));
  case NST_VOP_ADD: return emit_add(e, o->a, o->b, v);
  case NST_VOP_SUB: return f ? LLVMBuildFSub(e->b, a, b, "") : LLVMBuildSub(e->b, a, b, "");
  case NST_VOP_MUL: return f ? LLVMBuildFMul(e->b, a, b, "") : LLVMBuildMul(e->b, a, b, "");
  case NST_VOP_MIN: return LLVMBuildSelect(e->b, compare(e, LLVMRealOLT, LLVMIntSLT, a, b), a, b, "");
  case NST_VOP_MAX:
    if (is_zero(e->code->ops, o->a) && is_positive(e, o->b)) return b;
    if (is_zero(e->code->ops, o->b) && is_positive(e, o->a)) return a;
    return LLVMBuildSelect(e->b, compare(e, LLVMRealOGT, LLVMIntSGT, a, b), a, b, "");
  case NST_VOP_SCALE: b = splat_const(number_of(e, o->imm)); return f ? LLVMBuildFMul(e->b, a, b, "") : LLVMBuildMul(e->b, a, b, "");
  case NST_VOP_CEILDIV: return ceil_div(e, a, o->imm);
  case NST_VOP_FLOORDIV: return floor_div(e, a, o->imm);
  case NST_VOP_SELECT: return LLVMBuildSelect(e->b, v[o->imm], a, b, "");
  case NST_VOP_LT: return compare(e, LLVMRealOLT, LLVMIntSLT, a, b);
  case NST_VOP_LE: return compare(e, LLVMRealOLE, LLVMIntSLE, a, b);
  case NST_VOP_EQ: return compare(e, LLVMRealOEQ, LLVMIntEQ, a, b);
  case NST_VOP_AND: return LLVMBuildAnd(e->b, a, b, "");
  case NST_VOP_OR: return LLVMBuildOr(e->b, a, b, "");
  case NST_VOP_NOT: return LLVMBuildNot(e->b, a, "");
  case NST_VOP_TRUE: return splat_const(LLVMConstInt(e->i1, 1, 0));
  }
  return NULL;
}

static void mark(const nst_vop *ops, int k, bool *live) {
  if (k < 0 || live[k]) return;
  live[k] = true;
  mark(ops, ops[k].a, live);
  mark(ops, ops[k].b, live);
  if (ops[k].kind == NST_VOP_SELECT) mark(ops, (int)ops[k].imm, live);
}

static LLVMValueRef limit(emitter *e, int k) {
  return splat(e, e->lanes, LLVMBuildLoad2(e->b, e->number, at(e, e->number, e->limits, i64_of(e, (uint64_t)k)), ""));
}

/* Is the second front metric below the entry of the first one's bucket? */
static LLVMValueRef below_table(emitter *e, LLVMValueRef x, LLVMValueRef y) {
  if (!e->code->floating) x = LLVMBuildSIToFP(e->b, x, e->lanes_f64, "");
  LLVMValueRef bits = LLVMBuildBitCast(e->b, x, e->lanes_i64, "");
  int shift = 52 - NST_VECTOR_BUCKET_BITS;
  LLVMValueRef bucket = LLVMBuildAShr(e->b, bits, splat_const(i64_of(e, (uint64_t)shift)), "");
  bucket = LLVMBuildSub(e->b, bucket, splat_const(i64_of(e, (1023u << NST_VECTOR_BUCKET_BITS) - 1)), "");
  LLVMValueRef zero = LLVMConstNull(e->lanes_i64);
  bucket = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSGT, bucket, zero, ""), bucket, zero, "");
  bucket = LLVMBuildAdd(e->b, bucket, splat_const(i64_of(e, 2)), "");
  LLVMValueRef places = LLVMBuildGEP2(e->b, e->number, e->limits, &bucket, 1, "");
  LLVMTypeRef types[] = {e->lanes, LLVMTypeOf(places)};
  LLVMValueRef args[] = {places, LLVMConstInt(LLVMInt32TypeInContext(e->context), 8, 0), splat_const(LLVMConstInt(e->i1, 1, 0)),
                         LLVMConstNull(e->lanes)};
  LLVMValueRef entry = intrinsic(e, "llvm.masked.gather", types, 2, args, 4);
  return compare(e, LLVMRealOLT, LLVMIntSLT, y, entry);
}

static LLVMValueRef slice(emitter *e, LLVMValueRef v, unsigned from, unsigned n) {
  LLVMValueRef at_lane[NST_VECTOR_LANES];
  for (unsigned k = 0; k < n; k++) at_lane[k] = LLVMConstInt(LLVMInt32TypeInContext(e->context), from + k, 0);
  return LLVMBuildShuffleVector(e->b, v, LLVMGetPoison(LLVMTypeOf(v)), LLVMConstVector(at_lane, n), "");
}

static LLVMValueRef concat(emitter *e, LLVMValueRef a, LLVMValueRef b, unsigned n) { /* n lanes each */
  LLVMValueRef at_lane[NST_VECTOR_LANES];
  for (unsigned k = 0; k < 2 * n; k++) at_lane[k] = LLVMConstInt(LLVMInt32TypeInContext(e->context), k, 0);
  return LLVMBuildShuffleVector(e->b, a, b, LLVMConstVector(at_lane, 2 * n), "");
}

/* The limit of each lane by the octave of x: a look-up within registers. */
static LLVMValueRef octave_limits(emitter *e, LLVMValueRef x) {
  LLVMValueRef bits = LLVMBuildBitCast(e->b, x, e->lanes_i64, ""), zero = LLVMConstNull(e->lanes_i64);
  LLVMValueRef octave = LLVMBuildAShr(e->b, bits, splat_const(i64_of(e, 52)), "");
  octave = LLVMBuildSub(e->b, octave, splat_const(i64_of(e, (uint64_t)(1023 + e->code->octave - (NST_VECTOR_OCTAVES - 1)))), "");
  octave = LLVMBuildSelect(e->b, LLVMBuildICmp(e->b, LLVMIntSGT, octave, zero, ""), octave, zero, "");
  LLVMValueRef part[NST_VECTOR_LANES / 8];
  for (unsigned k = 0; k < NST_VECTOR_LANES / 8; k++) {
    LLVMValueRef args[] = {e->octaves[0], slice(e, octave, 8 * k, 8), e->octaves[1]};
    part[k] = intrinsic(e, "llvm.x86.avx512.vpermi2var.pd.512", NULL, 0, args, 3);
  }
  for (unsigned n = 8, parts = NST_VECTOR_LANES / 8; parts > 1; n *= 2, parts /= 2)
    for (unsigned k = 0; k < parts / 2; k++) part[k] = concat(e, part[2 * k], part[2 * k + 1], n);
  return part[0];
}

static LLVMValueRef any(emitter *e, LLVMValueRef mask) {
  LLVMValueRef bits = LLVMBuildBitCast(e->b, mask, e->mask, "");
  return LLVMBuildICmp(e->b, LLVMIntNE, bits, LLVMConstInt(e->mask, 0, 0), "");
}

/* below_table, after a quick look that settles most vectors. */
static LLVMValueRef on_front(emitter *e, LLVMValueRef x, LLVMValueRef y, LLVMValueRef valid) {
  if (!e->permutes) return below_table(e, x, y);
  LLVMValueRef may = LLVMBuildAnd(e->b, valid, compare(e, LLVMRealOLT, LLVMIntSLT, y, octave_limits(e, x)), "");
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
  LLVMBasicBlockRef look = LLVMAppendBasicBlockInContext(e->context, e->function, "look");
  LLVMBasicBlockRef looked = LLVMAppendBasicBlockInContext(e->context, e->function, "looked");
  LLVMBuildCondBr(e->b, any(e, may), look, looked);
  LLVMPositionBuilderAtEnd(e->b, look);
  LLVMValueRef close = LLVMBuildAnd(e->b, may, below_table(e, x, y), "");
  LLVMBuildBr(e->b, looked);
  LLVMPositionBuilderAtEnd(e->b, looked);
  LLVMValueRef phi = LLVMBuildPhi(e->b, e->lanes_i1, ""), values[] = {LLVMConstNull(e->lanes_i1), close};
  LLVMBasicBlockRef from[] = {before, look};
  LLVMAddIncoming(phi, values, from, 2);
  return phi;
}

static LLVMValueRef count_bits(emitter *e, LLVMValueRef mask) { /* of <lanes x i1>, as i64 */
  LLVMValueRef bits = LLVMBuildBitCast(e->b, mask, e->mask, "");
  return LLVMBuildZExt(e->b, intrinsic(e, "llvm.ctpop", &e->mask, 1, &bits, 1), e->i64, "");
}

/* In SUM_LANES parts: to add them up takes time, and once is enough. What is known last is added last. */
static LLVMValueRef sum_of_metrics(emitter *e, LLVMValueRef *v, LLVMValueRef inside) {
  LLVMValueRef sum = NULL;
  const bool early = e->code->floating && e->code->small_sum; /* add, then convert */
  for (int op = 0; op < e->code->nops; op++)
    for (int k = 0; k < e->code->nmetrics; k++) {
      if (e->code->metrics[k] != op) continue;
      LLVMValueRef x = v[op];
      if (e->code->floating && !early) x = LLVMBuildFPToSI(e->b, x, e->lanes_i64, "");
      sum = !sum ? x : early ? LLVMBuildFAdd(e->b, sum, x, "") : LLVMBuildAdd(e->b, sum, x, "");
    }
  if (early && sum) sum = LLVMBuildFPToSI(e->b, sum, e->lanes_i64, "");
  if (!sum) return LLVMConstNull(e->lanes_sum);
  sum = LLVMBuildSelect(e->b, inside, sum, LLVMConstNull(e->lanes_i64), "");
  LLVMValueRef all = slice(e, sum, 0, SUM_LANES);
  for (unsigned k = SUM_LANES; k < NST_VECTOR_LANES; k += SUM_LANES) all = LLVMBuildAdd(e->b, all, slice(e, sum, k, SUM_LANES), "");
  return all;
}

/* Which lanes hold points that may enter an answer. */
static LLVMValueRef candidates(emitter *e, LLVMValueRef *v, LLVMValueRef valid) {
  const nst_vector_code *c = e->code;
  LLVMValueRef may = c->nfront > 2 ? valid : LLVMConstNull(e->lanes_i1);
  if (c->nfront == 2) may = on_front(e, v[c->front[0]], v[c->front[1]], valid);
  if (c->best >= 0) {
    LLVMValueRef l = limit(e, 0);
    may = LLVMBuildOr(e->b, may, c->largest ? compare(e, LLVMRealOGE, LLVMIntSGE, v[c->best], l)
                                            : compare(e, LLVMRealOLE, LLVMIntSLE, v[c->best], l), "");
  }
  if (c->nfront == 1) may = LLVMBuildOr(e->b, may, compare(e, LLVMRealOLE, LLVMIntSLE, v[c->front[0]], limit(e, 1)), "");
  return LLVMBuildAnd(e->b, may, valid, "");
}

/* What the caller wants to know of candidates without computing it again. */
static void store_values(emitter *e, LLVMValueRef *v) {
  const nst_vector_code *c = e->code;
  const int ops[] = {c->best, c->nfront > 0 && c->nfront < 3 ? c->front[0] : -1, c->nfront == 2 ? c->front[1] : -1};
  for (int k = 0; k < 3; k++) {
    if (ops[k] < 0) continue;
    LLVMValueRef array = i64_of(e, nst_vector_padded(c->ntuples) * c->room * (uint64_t)(k + 1));
    LLVMValueRef start = LLVMBuildAdd(e->b, array, e->row, "");
    LLVMValueRef place = at(e, e->number, LLVMGetParam(e->function, 2), LLVMBuildAdd(e->b, start, e->i, ""));
    LLVMSetAlignment(LLVMBuildStore(e->b, v[ops[k]], place), 64);
  }
}

/* Appends row + i + k for each set bit k of mask; returns the new count. The builder ends behind the list. */
static LLVMValueRef list_bits(emitter *e, LLVMValueRef mask, LLVMValueRef count, LLVMValueRef *v) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->b);
  LLVMBasicBlockRef some = LLVMAppendBasicBlockInContext(e->context, e->function, "some");
  LLVMBasicBlockRef put = LLVMAppendBasicBlockInContext(e->context, e->function, "put");
  LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(e->context, e->function, "listed");
  LLVMBuildCondBr(e->b, any(e, mask), some, done);
  LLVMPositionBuilderAtEnd(e->b, some);
  store_values(e, v);
  LLVMValueRef bits = LLVMBuildZExt(e->b, LLVMBuildBitCast(e->b, mask, e->mask, ""), e->i64, "");
  LLVMBuildBr(e->b, put);
  LLVMPositionBuilderAtEnd(e->b, put);
  LLVMValueRef left = LLVMBuildPhi(e->b, e->i64, ""), n = LLVMBuildPhi(e->b, e->i64, "");
  LLVMValueRef args[] = {left, LLVMConstInt(e->i1, 1, 0)};
  LLVMValueRef k = intrinsic(e, "llvm.cttz", &e->i64, 1, args, 2);
  LLVMBuildStore(e->b, LLVMBuildAdd(e->b, LLVMBuildAdd(e->b, e->row, e->i, ""), k, ""), at(e, e->i64, LLVMGetParam(e->function, 2), n));
  LLVMValueRef rest = LLVMBuildAnd(e->b, left, LLVMBuildSub(e->b, left, i64_of(e, 1), ""), "");
  LLVMValueRef more = LLVMBuildAdd(e->b, n, i64_of(e, 1), "");
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntEQ, rest, i64_of(e, 0), ""), done, put);
  LLVMValueRef lefts[] = {bits, rest}, counts[] = {count, more};
  LLVMBasicBlockRef from[] = {some, put};
  LLVMAddIncoming(left, lefts, from, 2);
  LLVMAddIncoming(n, counts, from, 2);
  LLVMPositionBuilderAtEnd(e->b, done);
  LLVMValueRef result = LLVMBuildPhi(e->b, e->i64, ""), results[] = {count, more};
  LLVMBasicBlockRef origin[] = {before, put};
  LLVMAddIncoming(result, results, origin, 2);
  return result;
}

/* next: how many candidates, then the four tallies. */
static void emit_filter(emitter *e, LLVMValueRef *next) {
  const nst_vector_code *c = e->code;
  LLVMValueRef v[256] = {NULL};
  bool live[256] = {false};
  mark(c->ops, c->valid, live);
  mark(c->ops, c->best, live);
  mark(c->ops, c->possible, live);
  mark(c->ops, c->wrong, live);
  for (int k = 0; k < 2 && c->nfront <= 2; k++) mark(c->ops, k < c->nfront ? c->front[k] : -1, live);
  for (int k = 0; k < c->nmetrics && c->checksum; k++) mark(c->ops, c->metrics[k], live);
  memset(e->sum, 0, sizeof e->sum);
  memset(e->form, 0, sizeof e->form);
  memset(e->needed, 0, sizeof e->needed);
  for (int k = 0; k < c->nops; k++)
    for (int f = live[k] && c->ops[k].kind == NST_VOP_FORM ? (int)c->ops[k].imm : -1; f >= 0; f = c->forms[f].base) e->needed[f] = true;
  for (int k = 0; k < c->nops; k++)
    if (live[k]) v[k] = emit_op(e, &c->ops[k], v);
  LLVMValueRef index = LLVMBuildAdd(e->b, splat(e, e->lanes_i64, e->i), e->iota, "");
  LLVMValueRef inside = LLVMBuildICmp(e->b, LLVMIntULT, index, splat_const(i64_of(e, c->ntuples)), "");
  LLVMValueRef possible = c->possible < 0 ? inside : LLVMBuildAnd(e->b, v[c->possible], inside, "");
  LLVMValueRef valid = LLVMBuildAnd(e->b, v[c->valid], possible, "");
  next[1] = LLVMBuildAdd(e->b, next[1], count_bits(e, valid), "");
  if (c->checksum) next[2] = LLVMBuildAdd(e->b, next[2], sum_of_metrics(e, v, inside), "");
  if (c->possible >= 0)
    next[3] = LLVMBuildAdd(e->b, next[3], count_bits(e, LLVMBuildAnd(e->b, inside, LLVMBuildNot(e->b, v[c->possible], ""), "")), "");
  if (c->wrong >= 0) next[4] = LLVMBuildAdd(e->b, next[4], count_bits(e, LLVMBuildAnd(e->b, possible, v[c->wrong], "")), "");
  next[0] = list_bits(e, candidates(e, v, valid), next[0], v);
}

static void add_to(emitter *e, LLVMValueRef base, int k, LLVMValueRef v) {
  LLVMValueRef place = at(e, e->i64, base, i64_of(e, (uint64_t)k));
  LLVMBuildStore(e->b, LLVMBuildAdd(e->b, LLVMBuildLoad2(e->b, e->i64, place, ""), v, ""), place);
}

static LLVMValueRef new_function(emitter *e, const nst_vector_code *code, const char *prefix) {
  char name[128];
  size_t np = strlen(prefix), nn = strlen(code->name);
  memcpy(name, prefix, np);
  memcpy(name + np, code->name, nn + 1);
  LLVMTypeRef types[] = {e->ptr, e->i64, e->ptr};
  LLVMValueRef f = LLVMAddFunction(e->module, name, LLVMFunctionType(e->i64, types, 3, 0));
  static const char *const attributes[][2] = {{"prefer-vector-width", "512"}, {"min-legal-vector-width", "512"}};
  for (int k = 0; k < 2; k++)
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateStringAttribute(e->context, attributes[k][0], (unsigned)strlen(attributes[k][0]),
                                                      attributes[k][1], (unsigned)strlen(attributes[k][1])));
  if (!code->filter) { /* rows are sums of a few terms: a loop unrolled takes longer to leave */
    const unsigned kind = LLVMGetEnumAttributeKindForName("optsize", strlen("optsize"));
    LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(e->context, kind, 0));
  }
  /* `out` may alias the columns for all that LLVM is told: else it would keep copies of them all on the stack. */
  return f;
}

/* A loop over i = 0, step, … < n with `extra` values carried along, number 2 a vector (sums of metrics); the caller fills the
 * body and closes it. */
typedef struct { LLVMBasicBlockRef before, body, done; LLVMValueRef i, carried[CARRIED]; } loop;

static loop open_loop(emitter *e, int extra) {
  loop l = {.before = LLVMGetInsertBlock(e->b),
            .body = LLVMAppendBasicBlockInContext(e->context, e->function, "loop"),
            .done = LLVMAppendBasicBlockInContext(e->context, e->function, "done")};
  LLVMBuildBr(e->b, l.body);
  LLVMPositionBuilderAtEnd(e->b, l.body);
  l.i = LLVMBuildPhi(e->b, e->i64, "");
  for (int k = 0; k < extra; k++) l.carried[k] = LLVMBuildPhi(e->b, k == 2 ? e->lanes_sum : e->i64, "");
  return l;
}

static void close_loop(emitter *e, const loop *l, LLVMValueRef n, int step, const LLVMValueRef *start, const LLVMValueRef *next,
                       int extra) {
  LLVMValueRef zero = i64_of(e, 0), i = LLVMBuildAdd(e->b, l->i, i64_of(e, (uint64_t)step), "");
  LLVMBasicBlockRef from[] = {l->before, LLVMGetInsertBlock(e->b)};
  LLVMBuildCondBr(e->b, LLVMBuildICmp(e->b, LLVMIntULT, i, n, ""), l->body, l->done);
  LLVMValueRef values[] = {zero, i};
  LLVMAddIncoming(l->i, values, from, 2);
  for (int k = 0; k < extra; k++) {
    values[0] = start[k];
    values[1] = next[k];
    LLVMAddIncoming(l->carried[k], values, from, 2);
  }
  LLVMPositionBuilderAtEnd(e->b, l->done);
}

/* At least one row and one tuple. */
static void emit_filter_function(emitter *e) {
  LLVMValueRef table = in_array(e, 0), columns = in_array(e, 1), tally = in_array(e, 3), rows = in_array(e, 4);
  LLVMValueRef used = in_array(e, 5);
  e->limits = in_array(e, 2);
  for (int k = 0; k < e->code->nslots; k++)
    e->columns[k] = LLVMBuildLoad2(e->b, e->ptr, at(e, e->ptr, columns, i64_of(e, (uint64_t)k)), "");
  for (int f = 0; f < e->code->nforms; f++)
    if (e->code->forms[f].least < e->code->forms[f].n)
      e->used[f] = LLVMBuildLoad2(e->b, e->i64, at(e, e->i64, used, i64_of(e, (uint64_t)f)), "");
  e->permutes = e->avx512 && e->code->floating;
  for (unsigned k = 0; k < 2 && e->permutes && e->code->nfront == 2; k++) {
    LLVMValueRef place = at(e, e->f64, e->limits, i64_of(e, 2 + NST_VECTOR_BUCKETS + 8 * k));
    e->octaves[k] = LLVMBuildLoad2(e->b, LLVMVectorType(e->f64, 8), place, "");
    LLVMSetAlignment(e->octaves[k], 8);
  }
  LLVMValueRef zero = i64_of(e, 0), start[CARRIED] = {zero, zero, LLVMConstNull(e->lanes_sum), zero, zero}, next[CARRIED];
  loop outer = open_loop(e, CARRIED);
  e->coefficients = at(e, e->number, table, LLVMBuildLoad2(e->b, e->i64, at(e, e->i64, rows, outer.i), ""));
  e->row = LLVMBuildMul(e->b, outer.i, i64_of(e, nst_vector_padded(e->code->ntuples)), "");
  memcpy(next, outer.carried, sizeof next);
  if (e->code->ntuples <= NST_VECTOR_LANES) { /* one vector: no loop, so nothing is carried over it in registers */
    e->i = zero;
    emit_filter(e, next);
  } else {
    loop inner = open_loop(e, CARRIED);
    memcpy(next, inner.carried, sizeof next);
    e->i = inner.i;
    emit_filter(e, next);
    close_loop(e, &inner, i64_of(e, e->code->ntuples), NST_VECTOR_LANES, outer.carried, next, CARRIED);
  }
  close_loop(e, &outer, LLVMGetParam(e->function, 1), 1, start, next, CARRIED);
  if (e->code->checksum) next[2] = intrinsic(e, "llvm.vector.reduce.add", &e->lanes_sum, 1, &next[2], 1);
  else next[2] = zero;
  for (int k = 0; k < 4; k++) add_to(e, tally, k, next[k + 1]);
  LLVMBuildRet(e->b, next[0]);
}

static LLVMValueRef element(emitter *e, LLVMTypeRef type, LLVMValueRef base, LLVMValueRef index) {
  return LLVMBuildLoad2(e->b, type, at(e, type, base, index), "");
}

/* At least one row and one tuple. The sums stay in registers. */
static void emit_accumulate_function(emitter *e) {
  LLVMValueRef coefficients = in_array(e, 0), columns = in_array(e, 1), rows = in_array(e, 2), first = in_array(e, 4), which = in_array(e, 5);
  LLVMValueRef nrows = LLVMBuildLoad2(e->b, e->i64, in_array(e, 3), "");
  loop by_row = open_loop(e, 0);
  LLVMValueRef from = element(e, e->i64, first, by_row.i), row = element(e, e->ptr, rows, by_row.i);
  LLVMValueRef terms = LLVMBuildSub(e->b, element(e, e->i64, first, LLVMBuildAdd(e->b, by_row.i, i64_of(e, 1), "")), from, "");
  loop by_vector = open_loop(e, 0);
  loop by_term = open_loop(e, 0);
  LLVMValueRef sum = LLVMBuildPhi(e->b, e->lanes, "");
  LLVMValueRef term = LLVMBuildAdd(e->b, from, by_term.i, "");
  LLVMValueRef c = splat(e, e->lanes, element(e, e->number, coefficients, element(e, e->i64, which, term)));
  LLVMValueRef more = multiply_add(e, c, load_lanes(e, element(e, e->ptr, columns, term), by_vector.i), sum);
  LLVMValueRef sums[] = {LLVMConstNull(e->lanes), more};
  LLVMBasicBlockRef origin[] = {by_term.before, by_term.body};
  LLVMAddIncoming(sum, sums, origin, 2);
  close_loop(e, &by_term, terms, 1, NULL, NULL, 0);
  LLVMSetAlignment(LLVMBuildStore(e->b, more, at(e, e->number, row, by_vector.i)), 64);
  close_loop(e, &by_vector, LLVMGetParam(e->function, 1), NST_VECTOR_LANES, NULL, NULL, 0);
  close_loop(e, &by_row, nrows, 1, NULL, NULL, 0);
  LLVMBuildRet(e->b, i64_of(e, 0));
}

static void emit_function(emitter *e, const nst_vector_code *code, const char *prefix) {
  e->code = code;
  e->number = code->floating ? e->f64 : e->i64;
  e->lanes = code->floating ? e->lanes_f64 : e->lanes_i64;
  e->function = new_function(e, code, prefix);
  LLVMPositionBuilderAtEnd(e->b, LLVMAppendBasicBlockInContext(e->context, e->function, "entry"));
  if (code->filter) emit_filter_function(e);
  else emit_accumulate_function(e);
}

LLVMModuleRef nst_llvm_emit_vectors(LLVMContextRef context, const nst_vector_code *codes, int n, const char *prefix,
                                    const char *features) {
  emitter e = {.context = context,
               .avx512 = features && strstr(features, "+avx512f") != NULL,
               .module = LLVMModuleCreateWithNameInContext("nestor", context),
               .b = LLVMCreateBuilderInContext(context),
               .i1 = LLVMInt1TypeInContext(context),
               .mask = LLVMIntTypeInContext(context, NST_VECTOR_LANES),
               .i64 = LLVMInt64TypeInContext(context),
               .f64 = LLVMDoubleTypeInContext(context),
               .ptr = LLVMPointerTypeInContext(context, 0)};
  e.lanes_i64 = LLVMVectorType(e.i64, NST_VECTOR_LANES);
  e.lanes_f64 = LLVMVectorType(e.f64, NST_VECTOR_LANES);
  e.lanes_sum = LLVMVectorType(e.i64, SUM_LANES);
  e.lanes_i1 = LLVMVectorType(e.i1, NST_VECTOR_LANES);
  LLVMValueRef iota[NST_VECTOR_LANES];
  for (uint64_t k = 0; k < NST_VECTOR_LANES; k++) iota[k] = i64_of(&e, k);
  e.iota = LLVMConstVector(iota, NST_VECTOR_LANES);
  for (int k = 0; k < n; k++) emit_function(&e, &codes[k], prefix);
  LLVMDisposeBuilder(e.b);
  return e.module;
}
