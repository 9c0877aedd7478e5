/* The algebra of units, and their names. The table is units.def; everything
 * here follows from it except the words that messages use for the common
 * units. Other spellings than the table's (`bytes`, `kib`) are never accepted,
 * only understood well enough to be corrected. */
#include "frontend/units.h"

#include "base/buffer.h"
#include <string.h>

static const struct simple {
  const char *text;
  size_t len;
  int64_t num, den;
  nst_unit unit;
} simple_units[] = {
#define NST_UNIT(text, num, den, byte, cycle, second, pj, mm2) {#text, sizeof #text - 1, num, den, {byte, cycle, second, pj, mm2}},
#include "frontend/units.def"
#undef NST_UNIT
};
enum { NUNITS = sizeof simple_units / sizeof *simple_units, MAX_EXPONENT = 99 };

static const struct simple *find_simple(const char *text, size_t len) {
  for (int i = 0; i < NUNITS; i++)
    if (simple_units[i].len == len && memcmp(simple_units[i].text, text, len) == 0) return &simple_units[i];
  return NULL;
}

bool nst_unit_is_simple(const char *text, size_t len) { return find_simple(text, len) != NULL; }

bool nst_unit_parse(nst_unit *unit, nst_rat *scale, const char *text, size_t len) {
  const char *slash = memchr(text, '/', len);
  size_t first = slash ? (size_t)(slash - text) : len;
  const struct simple *a = find_simple(text, first), *b = NULL;
  if (!a) return false;
  *unit = a->unit;
  if (!nst_rat_make(scale, a->num, a->den)) return false;
  if (!slash) return true;
  b = find_simple(slash + 1, len - first - 1);
  nst_rat divisor;
  return b && nst_rat_make(&divisor, b->num, b->den) && nst_rat_div(scale, *scale, divisor) &&
         nst_unit_mul(unit, *unit, b->unit, -1);
}

bool nst_unit_equal(nst_unit a, nst_unit b) {
  return a.byte == b.byte && a.cycle == b.cycle && a.second == b.second && a.pj == b.pj && a.mm2 == b.mm2;
}

bool nst_unit_is_none(nst_unit a) { return nst_unit_equal(a, NST_UNIT_NONE); }

static bool exponent(int8_t *out, int64_t v) {
  if (v < -MAX_EXPONENT || v > MAX_EXPONENT) return false;
  *out = (int8_t)v;
  return true;
}

bool nst_unit_mul(nst_unit *out, nst_unit a, nst_unit b, int sign) {
  return exponent(&out->byte, a.byte + sign * b.byte) && exponent(&out->cycle, a.cycle + sign * b.cycle) &&
         exponent(&out->second, a.second + sign * b.second) && exponent(&out->pj, a.pj + sign * b.pj) &&
         exponent(&out->mm2, a.mm2 + sign * b.mm2);
}

bool nst_unit_pow(nst_unit *out, nst_unit a, int64_t n) {
  if (nst_unit_is_none(a)) {
    *out = a;
    return true;
  }
  if (n < -MAX_EXPONENT || n > MAX_EXPONENT) return false;
  return exponent(&out->byte, a.byte * n) && exponent(&out->cycle, a.cycle * n) &&
         exponent(&out->second, a.second * n) && exponent(&out->pj, a.pj * n) && exponent(&out->mm2, a.mm2 * n);
}

bool nst_unit_root(nst_unit *out, nst_unit a) {
  if (a.byte % 2 || a.cycle % 2 || a.second % 2 || a.pj % 2 || a.mm2 % 2) return false;
  *out = (nst_unit){(int8_t)(a.byte / 2), (int8_t)(a.cycle / 2), (int8_t)(a.second / 2), (int8_t)(a.pj / 2),
                    (int8_t)(a.mm2 / 2)};
  return true;
}

static const struct {
  nst_unit unit;
  const char *words, *usual;
} common[] = {
  {{0, 0, 0, 0, 0}, "a plain number", NULL},
  {{1, 0, 0, 0, 0}, "bytes", "B"},
  {{0, 1, 0, 0, 0}, "cycles", "cycle"},
  {{0, 0, 1, 0, 0}, "seconds", "s"},
  {{0, 0, -1, 0, 0}, "hertz", "Hz"},
  {{0, 0, 0, 1, 0}, "picojoules", "pJ"},
  {{0, 0, -1, 1, 0}, "watts", "W"},
  {{0, 0, 0, 0, 1}, "square millimetres", "mm2"},
  {{1, -1, 0, 0, 0}, "bytes per cycle", "B/cycle"},
  {{1, 0, -1, 0, 0}, "bytes per second", "B/s"},
  {{-1, 0, 0, 1, 0}, "picojoules per byte", "pJ/B"},
  {{-1, 0, 0, 0, 0}, "operations per byte", NULL},
  {{0, 1, 0, 1, 0}, "picojoules times cycles", NULL},
  {{0, -1, 0, 1, 0}, "picojoules per cycle", "pJ/cycle"},
};

static void print_factors(nst_buffer *out, nst_unit a, int sign) {
  const struct {
    const char *text;
    int exp;
  } factors[] = {{"B", a.byte * sign},
                 {"pJ", a.pj * sign},
                 {"mm2", a.mm2 * sign},
                 {"cycle", a.cycle * sign},
                 {"s", a.second * sign}};
  size_t start = out->len;
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
    if (factors[i].exp <= 0) continue;
    nst_buffer_printf(out, "%s%s", out->len > start ? "*" : "", factors[i].text);
    if (factors[i].exp > 1) nst_buffer_printf(out, "**%d", factors[i].exp);
  }
  if (sign > 0 && out->len == start) nst_buffer_puts(out, "1");
}

const char *nst_unit_describe(nst_arena *arena, nst_unit a) {
  for (size_t i = 0; i < sizeof common / sizeof *common; i++)
    if (nst_unit_equal(common[i].unit, a)) return common[i].words;
  nst_buffer text = {0};
  print_factors(&text, a, 1);
  size_t before = text.len;
  nst_buffer_putc(&text, '/');
  print_factors(&text, a, -1);
  size_t len = text.len == before + 1 ? before : text.len;
  const char *out = nst_arena_strndup(arena, text.text, len);
  nst_buffer_fini(&text);
  return out;
}

const char *nst_unit_usual(nst_unit a) {
  for (size_t i = 0; i < sizeof common / sizeof *common; i++)
    if (nst_unit_equal(common[i].unit, a)) return common[i].usual;
  return NULL;
}

static const char *const respelled[][2] = {
  {"byte", "B"},    {"bytes", "B"},   {"bit", "b"},  {"bits", "b"},   {"cycles", "cycle"},
  {"cyc", "cycle"}, {"clk", "cycle"}, {"sec", "s"},  {"second", "s"}, {"seconds", "s"},
  {"joule", "J"},   {"joules", "J"},  {"watt", "W"}, {"watts", "W"},  {"hertz", "Hz"},
  {"Ki", "KiB"},    {"Mi", "MiB"},    {"Gi", "GiB"}, {"k", "KiB"},    {"K", "KiB"},
  {"M", "MiB"},     {"G", "GiB"},     {"mm", "mm2"}, {"um", "um2"},
};

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; }

const char *nst_unit_nearest(const char *text) {
  for (size_t i = 0; i < sizeof respelled / sizeof *respelled; i++)
    if (strcmp(respelled[i][0], text) == 0) return respelled[i][1];
  for (int i = NUNITS - 1; i >= 0; i--) { /* bytes stand behind bits: `kib` is more likely KiB than Kib */
    const char *a = simple_units[i].text, *b = text;
    while (*a && lower(*a) == lower(*b)) a++, b++;
    if (!*a && !*b) return simple_units[i].text;
  }
  return NULL;
}
