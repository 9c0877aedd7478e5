/* SHA-256, by Nettle. */
#ifndef NST_BENCH_RECORD_DIGEST_H
#define NST_BENCH_RECORD_DIGEST_H
#include <stddef.h>
#include <stdint.h>

enum { NST_DIGEST_BYTES = 32, NST_DIGEST_TEXT = 65 };

typedef struct { const void *bytes; size_t size; } nst_digest_part;
/* Of the parts put together. */
void nst_digest_parts(uint8_t out[NST_DIGEST_BYTES], const nst_digest_part *parts, size_t nparts);
/* The same as 64 hex digits. */
void nst_digest_text(char out[NST_DIGEST_TEXT], const nst_digest_part *parts, size_t nparts);
#endif
