/* Machines in words, as a sheet of facts, and as a table. */
#include "bench/tasks/draft.h"
#include "bench/tasks/text.h"

#include <stdio.h>

typedef struct {
  char text[96];
} fact;

static fact bandwidth(const nst_draft *d, int64_t value) {
  fact f;
  if (d->clock)
    snprintf(f.text, sizeof f.text, "%lld GB/s", (long long)(value * d->clock));
  else
    snprintf(f.text, sizeof f.text, "%lld bytes per cycle", (long long)value);
  return f;
}

static fact energy(int64_t tenths, const char *per) {
  fact f;
  if (tenths % 10)
    snprintf(f.text, sizeof f.text, "%lld.%lld pJ per %s", (long long)(tenths / 10), (long long)(tenths % 10), per);
  else
    snprintf(f.text, sizeof f.text, "%lld pJ per %s", (long long)(tenths / 10), per);
  return f;
}

static fact capacity(const nst_draft_level *level) {
  fact f;
  if (*level->capacity_param)
    snprintf(f.text, sizeof f.text, "%.20s KiB (parameter %.20s, default %lld)", level->capacity_param,
             level->capacity_param, (long long)(level->capacity / 1024));
  else if (level->capacity % 1024 == 0)
    snprintf(f.text, sizeof f.text, "%lld KiB", (long long)(level->capacity / 1024));
  else
    snprintf(f.text, sizeof f.text, "%lld bytes", (long long)level->capacity);
  return f;
}

/* Calls each with the name of a fact and the fact, in the order they are told. */
typedef void tell_fact(nestor_buffer *b, int index, const char *name, const char *what);

static void facts(const nst_draft *d, const nst_draft_level *level, tell_fact *each, nestor_buffer *b) {
  int n = 0;
  switch (level->kind) {
  case NST_DRAFT_MEMORY:
    if (level->capacity)
      each(b, n++, "capacity", capacity(level).text);
    else
      each(b, n++, "capacity", "unbounded");
    if (level->double_buffered) each(b, n++, "double buffered", "yes: it needs twice the bytes of its tiles");
    if (level->bandwidth) each(b, n++, "bandwidth", bandwidth(d, level->bandwidth).text);
    if (level->read_bandwidth) each(b, n++, "read bandwidth", bandwidth(d, level->read_bandwidth).text);
    if (level->write_bandwidth) each(b, n++, "write bandwidth", bandwidth(d, level->write_bandwidth).text);
    if (level->no_overlap) each(b, n++, "overlap", "none: the time of its transfers is added");
    if (level->energy) each(b, n++, "energy", energy(level->energy, "byte").text);
    if (level->read_energy) each(b, n++, "read energy", energy(level->read_energy, "byte").text);
    if (level->write_energy) each(b, n++, "write energy", energy(level->write_energy, "byte").text);
    return;
  case NST_DRAFT_ARRAY:
    for (int a = 0; a < level->naxes; a++) {
      char name[NST_DRAFT_NAME + 8], what[96];
      snprintf(name, sizeof name, "axis %s", level->axis[a]);
      if (*level->places_param[a])
        snprintf(what, sizeof what, "%s places (parameter %s, default %lld)", level->places_param[a],
                 level->places_param[a], (long long)level->places[a]);
      else
        snprintf(what, sizeof what, "%lld places", (long long)level->places[a]);
      each(b, n++, name, what);
    }
    each(b, n++, "multicast", level->no_multicast ? "no" : "yes");
    each(b, n++, "reduction in the array", level->no_reduce ? "no" : "yes");
    return;
  case NST_DRAFT_COMPUTE:
    if (level->energy) each(b, n++, "energy", energy(level->energy, "operation").text);
    char rate[48];
    snprintf(rate, sizeof rate, "%lld operation%s per cycle", (long long)level->rate, level->rate == 1 ? "" : "s");
    each(b, n++, "rate", rate);
    return;
  }
}

static const char *kind_of(const nst_draft_level *level) {
  switch (level->kind) {
  case NST_DRAFT_MEMORY: return "memory";
  case NST_DRAFT_ARRAY: return "array";
  case NST_DRAFT_COMPUTE: return "compute unit";
  }
  return "";
}

static void in_prose(nestor_buffer *b, int index, const char *name, const char *what) {
  nst_text_add(b, "%s its %s is %s", index ? ";" : ":", name, what);
}
static void on_sheet(nestor_buffer *b, int index, const char *name, const char *what) {
  (void)index;
  nst_text_add(b, "    %s: %s\n", name, what);
}
static void in_cell(nestor_buffer *b, int index, const char *name, const char *what) {
  nst_text_add(b, "%s%s %s", index ? ", " : "", name, what);
}

void nst_draft_tell_hardware(const nst_draft *d, nst_draft_style style, nestor_buffer *out) {
  if (d->clock) nst_text_add(out, "The clock runs at %d GHz.\n", d->clock);
  if (style == NST_STYLE_TABLE) nst_text_add(out, "| level | what it is | facts |\n| --- | --- | --- |\n");
  if (style == NST_STYLE_LOOPS) nst_text_add(out, "```\n");
  for (int l = 0; l < d->nlevels; l++) {
    const nst_draft_level *level = &d->levels[l];
    switch (style) {
    case NST_STYLE_PROSE:
      nst_text_add(out, "%s the %s %s", l ? "Inside it is" : "Outermost is", kind_of(level), level->name);
      facts(d, level, in_prose, out);
      nst_text_add(out, ".\n");
      break;
    case NST_STYLE_LOOPS:
      nst_text_add(out, "%s (%s)\n", level->name, kind_of(level));
      facts(d, level, on_sheet, out);
      break;
    case NST_STYLE_TABLE:
      nst_text_add(out, "| %s | %s | ", level->name, kind_of(level));
      facts(d, level, in_cell, out);
      nst_text_add(out, " |\n");
      break;
    }
  }
  if (style == NST_STYLE_LOOPS) nst_text_add(out, "```\n");
}
