/* Units of measurement: what may be added to what.
 *
 * A unit is a product of powers of five base units: bytes, cycles, seconds,
 * picojoules, square millimetres. A written quantity is scaled to them exactly
 * once (128 KiB is 131072 bytes), so that nothing behind the checker knows of
 * units. All zeros is a plain number. The simple units stand in units.def. */
#ifndef NST_FRONTEND_UNITS_H
#define NST_FRONTEND_UNITS_H
#include "base/arena.h"
#include "base/rational.h"
#include <stdbool.h>

typedef struct { int8_t byte, cycle, second, pj, mm2; } nst_unit;

static const nst_unit NST_UNIT_NONE = {0, 0, 0, 0, 0};
static const nst_unit NST_UNIT_BYTE = {1, 0, 0, 0, 0};
static const nst_unit NST_UNIT_CYCLE = {0, 1, 0, 0, 0};
static const nst_unit NST_UNIT_HERTZ = {0, 0, -1, 0, 0};
static const nst_unit NST_UNIT_PJ = {0, 0, 0, 1, 0};
static const nst_unit NST_UNIT_MM2 = {0, 0, 0, 0, 1};
static const nst_unit NST_UNIT_WATT = {0, 0, -1, 1, 0};
static const nst_unit NST_UNIT_BYTE_PER_CYCLE = {1, -1, 0, 0, 0};
static const nst_unit NST_UNIT_BYTE_PER_SECOND = {1, 0, -1, 0, 0};
static const nst_unit NST_UNIT_PJ_PER_BYTE = {-1, 0, 0, 1, 0};
static const nst_unit NST_UNIT_PJ_CYCLE = {0, 1, 0, 1, 0};
static const nst_unit NST_UNIT_PER_BYTE = {-1, 0, 0, 0, 0};

/* "KiB" or "B/cycle": its base units and how many of them one is. false: no such unit. */
bool nst_unit_is_simple(const char *text, size_t len); /* "KiB", no quotient */
bool nst_unit_parse(nst_unit *unit, nst_rat *scale, const char *text, size_t len);
bool nst_unit_equal(nst_unit a, nst_unit b);
bool nst_unit_is_none(nst_unit a);
/* a*b for sign 1, a/b for -1; false if an exponent leaves -99 … 99. */
bool nst_unit_mul(nst_unit *out, nst_unit a, nst_unit b, int sign);
bool nst_unit_pow(nst_unit *out, nst_unit a, int64_t n);
bool nst_unit_root(nst_unit *out, nst_unit a); /* the square root; false if an exponent is odd */
/* "bytes", "bytes per cycle", "a plain number"; otherwise composed, as "B*pJ/s". */
const char *nst_unit_describe(nst_arena *arena, nst_unit a);
/* How a quantity of the unit is usually written: "B", "B/cycle", "pJ/B"; NULL for an unusual one. */
const char *nst_unit_usual(nst_unit a);
/* The unit that a misspelt one stands for ("kib", "bytes", "ghz"), or NULL. */
const char *nst_unit_nearest(const char *text);
#endif
