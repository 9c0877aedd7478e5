/* Machines of drafts: two or three memories, an array of compute units or not, and what each costs. */
#include "bench/tasks/draft.h"

#include <stdio.h>
#include <string.h>

#define PICK(r, list) list[nst_random_below(r, sizeof list / sizeof *list)]

static nst_draft_level *add(nst_draft *d, nst_draft_level_kind kind, const char *name) {
  nst_draft_level *level = &d->levels[d->nlevels++];
  level->kind = kind;
  snprintf(level->name, sizeof level->name, "%s", name);
  return level;
}

static void draw_bandwidth(nst_draft *d, nst_draft_level *level, int64_t low, nst_random *r) {
  const int64_t one = low << nst_random_below(r, 4), two = low << nst_random_below(r, 4);
  if (d->level >= 3 && nst_random_chance(r, 25))
    level->read_bandwidth = one, level->write_bandwidth = two;
  else
    level->bandwidth = one;
}

static void draw_energy(const nst_draft *d, nst_draft_level *level, int64_t low, int64_t high, nst_random *r) {
  const int64_t read = 5 * nst_random_between(r, low, high), write = 5 * nst_random_between(r, low, high);
  if (d->level >= 2 && nst_random_chance(r, 35))
    level->read_energy = read, level->write_energy = write;
  else
    level->energy = read;
}

static void draw_array(nst_draft *d, nst_random *r) {
  static const char *const names[] = {"PE", "GRID", "CORES"};
  nst_draft_level *array = add(d, NST_DRAFT_ARRAY, PICK(r, names));
  array->naxes = nst_random_chance(r, d->level >= 4 ? 60 : 35) ? 2 : 1;
  for (int a = 0; a < array->naxes; a++) {
    snprintf(array->axis[a], sizeof array->axis[a], "%s", a ? "y" : "x");
    array->places[a] = nst_random_between(r, 2, d->level >= 4 ? 6 : 4);
  }
  if (d->target == NST_KIND_GEN_HARDWARE || nst_random_chance(r, 30)) strcpy(array->places_param[0], "PES");
  array->no_multicast = d->level >= 4 && nst_random_chance(r, 25);
  const bool no_reduce = d->level >= 4 && nst_random_chance(r, 20);
  /* Its absence forbids mappings and changes no figure of the others: it is given, but not asked for. */
  array->no_reduce = no_reduce && d->target != NST_KIND_GEN_HARDWARE;
}

void nst_draft_make_hardware(nst_draft *d, nst_random *r) {
  static const char *const machines[] = {"acc", "edge", "chip", "npu"};
  static const char *const outer[] = {"DRAM", "HBM", "DDR"};
  static const char *const middle[] = {"GLB", "SPM", "BUF", "SRAM"};
  static const char *const inner[] = {"RF", "REG", "LB"};
  static const char *const units[] = {"MAC", "ALU", "FMA"};
  static const unsigned third[] = {0, 40, 55, 70, 70}, fans[] = {0, 0, 60, 75, 70}; /* percent by level */
  const size_t l = (size_t)d->level - 1;
  const bool hw = d->target == NST_KIND_GEN_HARDWARE;
  snprintf(d->hardware, sizeof d->hardware, "%s", PICK(r, machines));
  const bool has_third = nst_random_chance(r, third[l] + (hw && l ? 20 : 0)), has_array = nst_random_chance(r, fans[l]);
  if (d->level >= 3 && nst_random_chance(r, 30)) d->clock = 1 + (int)nst_random_below(r, 2);

  nst_draft_level *memory = add(d, NST_DRAFT_MEMORY, PICK(r, outer));
  draw_bandwidth(d, memory, 1, r);
  draw_energy(d, memory, 100, 400, r);
  memory->no_overlap = d->level >= 3 && nst_random_chance(r, 20);
  memory = add(d, NST_DRAFT_MEMORY, PICK(r, middle));
  memory->capacity = INT64_C(1024) << nst_random_below(r, 5);
  if (hw ? d->level >= 2 : nst_random_chance(r, 20)) strcpy(memory->capacity_param, "KIB");
  if (d->level >= 2 || hw) draw_bandwidth(d, memory, 4, r);
  draw_energy(d, memory, 2, 12, r);
  memory->double_buffered = d->level >= 3 && nst_random_chance(r, 25);
  if (has_array) draw_array(d, r);
  if (has_third) {
    memory = add(d, NST_DRAFT_MEMORY, PICK(r, inner));
    memory->capacity = INT64_C(16) << nst_random_below(r, 6);
    if (nst_random_chance(r, 40)) draw_bandwidth(d, memory, 4, r);
    draw_energy(d, memory, 1, 2, r);
  }
  nst_draft_level *unit = add(d, NST_DRAFT_COMPUTE, PICK(r, units));
  unit->energy = 1 + (int64_t)nst_random_below(r, 20);
  unit->rate = d->level >= 2 && nst_random_chance(r, 40) ? 2 : 1;
}
