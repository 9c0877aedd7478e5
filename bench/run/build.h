/* Which build asked: two of one version may differ. */
#ifndef NST_BENCH_RUN_BUILD_H
#define NST_BENCH_RUN_BUILD_H
#include "bench/record/digest.h"

#include <stdbool.h>

/* SHA-256 of the program and of libnestor as they are on the disk. false: they cannot be read. */
bool nst_build_hash(char out[NST_DIGEST_TEXT]);
#endif
