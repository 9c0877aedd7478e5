/* What supervisor and worker say to each other: frames of bytes over a socket.
 *
 * A frame is its length (u32, of what follows), a number (u32) and a payload; integers are in the order of this machine, texts are a length and bytes.
 * Writers cannot fail. Readers check every length against what is there: a frame that lies gives zeros and `ok` false.
 *
 *   hello    to the supervisor, once: NST_WIRE_VERSION, the library's version, the version of its rules
 *   request  answer (u8), kind (u8), least (u8), source_bytes, fuel (u64), candidate; then what a task prepares once:
 *            given, name; of a program  probe, tables (mapping, names of parameters), points (table, values)
 *                         of a model    names of parameters, names of outputs, points (values)
 *   reply    outcome (u8), stage (u8), retire (u8), nanoseconds (u64), first failed point (u32), diagnostics (outcome, code, line, column,
 *            message, help); of a program  tables (names of figures with NULs, how many), points (outcome u8, figures)
 *                            of a model    points (outcome u8, one figure for each output)
 *
 * Requests of one worker are answered in their order. */
#ifndef NST_BENCH_GRADE_WIRE_H
#define NST_BENCH_GRADE_WIRE_H
#include "bench/grade/figures.h"

enum {
  NST_WIRE_VERSION = 1,
  NST_WIRE_HEAD = 8,
  NST_WIRE_LONGEST = 1 << 26, /* bytes of a frame */
  NST_WIRE_FIGURES = 1 << 21, /* most figures of one reply */
  NST_WIRE_NOWHERE = -1       /* no point failed; as a u32 */
};

/* How far a candidate came. */
typedef enum {
#define NST_STAGE(id, name) NST_STAGE_##id,
#include "bench/grade/stages.def"
#undef NST_STAGE
  NST_STAGE_COUNT
} nst_stage;

typedef struct { uint8_t *bytes; size_t size, capacity; } nst_wire;
void nst_wire_fini(nst_wire *w);
void nst_wire_put(nst_wire *w, const void *bytes, size_t size);
void nst_wire_u8(nst_wire *w, uint8_t value);
void nst_wire_u32(nst_wire *w, uint32_t value);
void nst_wire_u64(nst_wire *w, uint64_t value);
void nst_wire_text(nst_wire *w, const char *text, size_t size);
/* Room for `size` bytes at the end, to be written at once. */
void *nst_wire_room(nst_wire *w, size_t size);
/* begin gives the place that end is told. */
size_t nst_wire_begin(nst_wire *w, uint32_t number);
void nst_wire_end(nst_wire *w, size_t begin);
/* Takes the first `size` bytes away. */
void nst_wire_drop(nst_wire *w, size_t size);

typedef struct { const uint8_t *at, *end; bool ok; } nst_wire_reader;
/* The first frame of the bytes: its whole size, 0 where it is not there yet, SIZE_MAX where its length is out of bounds. */
size_t nst_wire_frame(nst_wire_reader *payload, uint32_t *number, const uint8_t *bytes, size_t size);
uint8_t nst_wire_get_u8(nst_wire_reader *r);
uint32_t nst_wire_get_u32(nst_wire_reader *r);
uint64_t nst_wire_get_u64(nst_wire_reader *r);
/* Borrowed; "" where it fails. No NUL stands behind it. */
const char *nst_wire_get_text(nst_wire_reader *r, size_t *size);
/* size bytes, or NULL. */
const void *nst_wire_get(nst_wire_reader *r, size_t size);
/* A count of things that take at least `each` bytes: 0 and not ok where there cannot be so many. */
uint32_t nst_wire_get_count(nst_wire_reader *r, size_t each);
#endif
