/* Given texts that came before, compiled: answers to one task come in numbers, and its workload and hardware are the larger part of each program.
 *
 * What is kept changes how long a program takes to make and nothing else: nestor_program_new_on gives the same with any base. */
#ifndef NST_BENCH_WORKER_KEPT_H
#define NST_BENCH_WORKER_KEPT_H
#include <nestor/nestor.h>

enum { NST_KEPT_TEXTS = 256, NST_KEPT_BYTES = 1 << 14 /* of one text, at most */ };

typedef struct {
  uint64_t hash;           /* 0: nothing is here */
  uint64_t used;           /* when it was last asked for */
  nestor_program *program; /* NULL: the text came once */
} nst_kept_text;
typedef struct { nst_kept_text texts[NST_KEPT_TEXTS]; uint64_t asked; } nst_kept;

void nst_kept_fini(nst_kept *kept);
/* The text, compiled, where it came before; NULL where it did not. Valid until the next call. */
const nestor_program *nst_kept_get(nst_kept *kept, const nestor_session *session, const char *text, size_t size);
#endif
