/* What tests.c and verify.c share. */
#ifndef NST_DRIVER_TESTS_H
#define NST_DRIVER_TESTS_H
#include "base/vec.h"
#include "driver/internal.h"

struct nestor_tests {
  nst_arena *arena;
  NST_VEC(nestor_test) list;
  NST_VEC(const char *) plain; /* the details beside list without commas between digits, for JSON */
  NST_VEC(const char *) heads; /* beside list: what a verify's line says instead of its number of points, or NULL */
  size_t failed;
};

/* "[E0691] ...": the first message of a failed run, with its help. */
void nst_tests_first_message(nst_buffer *out, nestor_eval *e);
/* Fills checks, failed and passed; what is to be told goes to details, and to head where the first
 * counterexample stands. */
void nst_verify_run(nestor_test *out, const nestor_program *p, const nst_ir_verify *verify, nst_buffer *details,
                    nst_buffer *head);
#endif
