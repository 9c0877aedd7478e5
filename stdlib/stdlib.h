/* The standard library, embedded: `use std.hardware.edge` finds the entry named
 * "std.hardware.edge", made at build time from stdlib/hardware/edge.nest. The
 * table is constant and sorted by name. */
#ifndef NST_STDLIB_STDLIB_H
#define NST_STDLIB_STDLIB_H
#include <stddef.h>

typedef struct {
  const char *name; /* "std.hardware.edge" */
  const char *text; /* NUL-terminated */
  size_t len;
} nst_stdlib_entry;

extern const nst_stdlib_entry nst_stdlib_entries[]; /* nst_stdlib_count of them, then a zeroed one */
extern const size_t nst_stdlib_count;
#endif
