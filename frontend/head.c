/* Checked once: the workloads and hardware that many texts begin with.
 *
 * A head is what checking the workloads and hardware of one text gave, and what
 * it took. A text that begins with the same, and declares no more of either,
 * takes them as they are: they are templates, which mappings copy and never
 * change. It pays for each as if it had been checked anew, so that fuel ends
 * where it would have ended. A head stands on its own: nothing was said about
 * it, and nothing it uses (constants, other files) lies outside it. */
#include "frontend/check.h"

enum { NKINDS = 2 };
static const nst_namespace kinds[NKINDS] = {NST_NS_WORKLOAD, NST_NS_HARDWARE};

typedef struct { void *checked; nst_steps_taken taken; } head_item;
struct nst_checked_head {
  uint64_t steps; /* that the checker had */
  size_t n[NKINDS];
  head_item *items[NKINDS];
};

static size_t kind_of(nst_namespace ns) { return ns == NST_NS_HARDWARE; }

static bool stands_alone(const nst_checker *ck, const nst_module *m) {
  return m->file == ck->main && !nst_diags_count(ck->diags) && !m->names[NST_NS_CONST].len && !m->imports.len;
}

/* What of the budget is gone. */
static nst_steps_taken taken(const nst_checker *ck) {
  return (nst_steps_taken){nst_checker_bytes(ck) - ck->arena_before, ck->fuel_given - ck->fuel, ck->spent};
}

static void pay(nst_checker *ck, nst_steps_taken t) {
  ck->arena_before -= t.bytes;
  ck->fuel -= t.fuel;
  ck->spent += t.spent;
}

const nst_checked_head *nst_head_usable(const nst_checker *ck, const nst_module *m) {
  const nst_checked_head *head = ck->options ? ck->options->head : NULL;
  if (!head || head->steps != ck->steps || !stands_alone(ck, m)) return NULL;
  nst_checker after = *ck;
  for (size_t k = 0; k < NKINDS; k++) {
    if (m->names[kinds[k]].len != head->n[k]) return NULL;
    for (size_t i = 0; i < head->n[k]; i++) pay(&after, head->items[k][i].taken);
  }
  /* Where fuel ends within it, it is checked again: the message has a place. */
  return after.fuel <= ck->fuel && nst_checker_steps(&after) <= ck->steps ? head : NULL;
}

void *nst_head_take(nst_checker *ck, const nst_checked_head *head, nst_namespace ns, size_t i) {
  const head_item *item = &head->items[kind_of(ns)][i];
  pay(ck, item->taken);
  return item->checked;
}

nst_head_maker nst_head_begin(nst_checker *ck, const nst_module *m) {
  nst_head_maker maker = {0};
  if (!ck->options || !ck->options->made || !stands_alone(ck, m)) return maker;
  const size_t before = nst_checker_bytes(ck);
  maker.head = NST_NEW(ck->arena, nst_checked_head);
  maker.head->steps = ck->steps;
  for (size_t k = 0; k < NKINDS; k++) {
    maker.head->n[k] = m->names[kinds[k]].len;
    maker.head->items[k] = NST_NEW_ARRAY(ck->arena, maker.head->n[k], head_item);
  }
  ck->arena_before += nst_checker_bytes(ck) - before; /* no step of checking */
  return maker;
}

void nst_head_before(nst_head_maker *maker, const nst_checker *ck) { maker->before = taken(ck); }

void nst_head_add(nst_head_maker *maker, const nst_checker *ck, nst_namespace ns, size_t i, void *checked) {
  if (!maker->head) return;
  const nst_steps_taken now = taken(ck), before = maker->before;
  maker->head->items[kind_of(ns)][i] =
    (head_item){checked, {now.bytes - before.bytes, now.fuel - before.fuel, now.spent - before.spent}};
}

void nst_head_end(const nst_head_maker *maker, const nst_checker *ck) {
  if (ck->options && ck->options->made) *ck->options->made = nst_diags_count(ck->diags) ? NULL : maker->head;
}
