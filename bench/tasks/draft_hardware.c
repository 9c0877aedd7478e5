/* Machines of drafts: two to four memories, an array of compute units or not, and what each costs. */
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

static void draw_bandwidth(nst_draft_level *level, int64_t low, nst_random *r) {
  const int64_t one = low << nst_random_below(r, 4), two = low << nst_random_below(r, 4);
  if (nst_random_chance(r, 25))
    level->read_bandwidth = one, level->write_bandwidth = two;
  else
    level->bandwidth = one;
}

static void draw_energy(nst_draft_level *level, int64_t low, int64_t high, nst_random *r) {
  const int64_t read = 5 * nst_random_between(r, low, high), write = 5 * nst_random_between(r, low, high);
  if (nst_random_chance(r, 35))
    level->read_energy = read, level->write_energy = write;
  else
    level->energy = read;
}

static void draw_array(nst_draft *d, nst_random *r) {
  static const char *const names[] = {"PE", "GRID", "CORES"};
  nst_draft_level *array = add(d, NST_DRAFT_ARRAY, PICK(r, names));
  const bool grid = nst_draft_may(d, NST_TRAIT_GRID);
  array->naxes = grid && nst_random_chance(r, 60) ? 2 : 1;
  for (int a = 0; a < array->naxes; a++) {
    snprintf(array->axis[a], sizeof array->axis[a], "%s", a ? "y" : "x");
    array->places[a] = nst_random_between(r, 2, 6);
  }
  if (d->target == NST_KIND_GEN_HARDWARE || nst_random_chance(r, 30)) strcpy(array->places_param[0], "PES");
  array->no_multicast = grid && nst_random_chance(r, 25);
  const bool no_reduce = grid && nst_random_chance(r, 20);
  /* Its absence forbids mappings and changes no figure of the others: it is given, but not asked for. */
  array->no_reduce = no_reduce && d->target != NST_KIND_GEN_HARDWARE;
}

/* Whether a trait is there: always where it is what the draft is raised by, else by chance where it may. */
static bool has(const nst_draft *d, nst_trait trait, unsigned percent, nst_random *r) {
  const bool chance = nst_random_chance(r, percent);
  return d->raises == (int)trait || (d->raises == NST_TRAIT_GRID && trait == NST_TRAIT_ARRAY) ||
         (nst_draft_may(d, trait) && chance);
}

void nst_draft_make_hardware(nst_draft *d, nst_random *r) {
  static const char *const machines[] = {"acc", "edge", "chip", "npu"};
  static const char *const outer[] = {"DRAM", "HBM", "DDR"};
  static const char *const middle[] = {"GLB", "SPM", "BUF", "SRAM"};
  static const char *const inner[] = {"RF", "REG", "LB"};
  static const char *const units[] = {"MAC", "ALU", "FMA"};
  static const char *const innermost[] = {"OPR", "LATCH", "PORT"};
  const bool hw = d->target == NST_KIND_GEN_HARDWARE, deep = d->raises == NST_TRAIT_DEEP;
  snprintf(d->hardware, sizeof d->hardware, "%s", PICK(r, machines));
  const bool has_third = has(d, NST_TRAIT_MEMORIES, hw ? 80 : 60, r) || deep,
             has_array = has(d, NST_TRAIT_ARRAY, 65, r);
  if (nst_random_chance(r, 30)) d->clock = 1 + (int)nst_random_below(r, 2);

  nst_draft_level *memory = add(d, NST_DRAFT_MEMORY, PICK(r, outer));
  draw_bandwidth(memory, 1, r);
  draw_energy(memory, 100, 400, r);
  memory->no_overlap = nst_random_chance(r, 20);
  memory = add(d, NST_DRAFT_MEMORY, PICK(r, middle));
  memory->capacity = INT64_C(1024) << nst_random_below(r, 5);
  if (hw || nst_random_chance(r, 20)) strcpy(memory->capacity_param, "KIB");
  draw_bandwidth(memory, 4, r);
  draw_energy(memory, 2, 12, r);
  memory->double_buffered = nst_random_chance(r, 25);
  if (has_array) draw_array(d, r);
  if (has_third) {
    memory = add(d, NST_DRAFT_MEMORY, PICK(r, inner));
    memory->capacity = INT64_C(16) << nst_random_below(r, 6);
    if (nst_random_chance(r, 40)) draw_bandwidth(memory, 4, r);
    draw_energy(memory, 1, 2, r);
  }
  if (deep) {
    memory = add(d, NST_DRAFT_MEMORY, PICK(r, innermost));
    memory->capacity = INT64_C(8) << nst_random_below(r, 5);
    draw_energy(memory, 1, 2, r);
  }
  nst_draft_level *unit = add(d, NST_DRAFT_COMPUTE, PICK(r, units));
  unit->energy = 1 + (int64_t)nst_random_below(r, 20);
  unit->rate = nst_random_chance(r, 40) ? 2 : 1;
}
