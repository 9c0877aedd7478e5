/* Only for usages that metrics have added up before: here nothing overflows. */
#include "driver/peak.h"

static nst_rat slot_bytes(const nst_nest *nest, const nst_counts *counts, int slot) {
  const nst_ir_slot *s = &nest->ir->slots[slot];
  const int64_t copies = nest->ir->hardware.levels[s->level].double_buffered ? 2 : 1;
  nst_rat bytes = nst_rat_int(0);
  nst_rat_make(&bytes, (nst_i128)counts->tile[slot] * nest->bits[s->tensor] * copies, 8);
  return bytes;
}

/* Bytes held from n inward. */
static nst_rat held(const nst_nest *nest, const nst_counts *counts, int level, const nst_ir_node *n) {
  nst_rat sum = nst_rat_int(0);
  for (; n; n = n->next) {
    for (int i = 0; i < nest->ir->nslots; i++)
      if (nest->ir->slots[i].node == n->id && nest->ir->slots[i].level == level)
        nst_rat_add(&sum, sum, slot_bytes(nest, counts, i));
    if (n->kind != NST_NODE_SEQ) continue;
    const nst_ir_branch *largest = nst_peak_branch(nest, counts, level, n);
    if (largest) nst_rat_add(&sum, sum, held(nest, counts, level, largest->body));
  }
  return sum;
}

const nst_ir_branch *nst_peak_branch(const nst_nest *nest, const nst_counts *counts, int level, const nst_ir_node *seq) {
  const nst_ir_branch *largest = NULL;
  nst_rat most = nst_rat_int(0);
  for (int b = 0; b < seq->nbranches; b++) {
    const nst_rat bytes = held(nest, counts, level, seq->branches[b].body);
    if (nst_rat_cmp(bytes, most) > 0) largest = &seq->branches[b], most = bytes;
  }
  return largest;
}

void nst_peak_shares(nst_share *shares, const nst_nest *nest, const nst_counts *counts, int level) {
  for (int t = 0; t < nest->ir->workload.ntensors; t++) shares[t] = (nst_share){false, nst_rat_int(0)};
  const nst_ir_node *n = nest->ir->root;
  while (n) {
    for (int i = 0; i < nest->ir->nslots; i++) {
      const nst_ir_slot *s = &nest->ir->slots[i];
      if (s->node != n->id || s->level != level) continue;
      shares[s->tensor].held = true;
      nst_rat_add(&shares[s->tensor].bytes, shares[s->tensor].bytes, slot_bytes(nest, counts, i));
    }
    const nst_ir_branch *b = n->kind == NST_NODE_SEQ ? nst_peak_branch(nest, counts, level, n) : NULL;
    n = b ? b->body : n->next;
  }
}

int nst_peak_stmt(const nst_nest *nest, const nst_counts *counts, int level) {
  int stmt = -1;
  const nst_ir_node *n = nest->ir->root;
  while (n) {
    const nst_ir_branch *b = n->kind == NST_NODE_SEQ ? nst_peak_branch(nest, counts, level, n) : NULL;
    if (b) stmt = b->stmts[0];
    n = b ? b->body : n->next;
  }
  return stmt;
}
