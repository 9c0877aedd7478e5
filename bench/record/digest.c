/* SHA-256 of several pieces of memory, as bytes or as hex digits. */
#include "bench/record/digest.h"

#include <nettle/sha2.h>

_Static_assert(NST_DIGEST_BYTES == SHA256_DIGEST_SIZE, "a digest is one of SHA-256");

void nst_digest_parts(uint8_t out[NST_DIGEST_BYTES], const nst_digest_part *parts, size_t nparts) {
  struct sha256_ctx context;
  sha256_init(&context);
  for (size_t i = 0; i < nparts; i++) sha256_update(&context, parts[i].size, parts[i].bytes);
  sha256_digest(&context, NST_DIGEST_BYTES, out);
}

void nst_digest_text(char out[NST_DIGEST_TEXT], const nst_digest_part *parts, size_t nparts) {
  uint8_t digest[NST_DIGEST_BYTES];
  nst_digest_parts(digest, parts, nparts);
  for (int i = 0; i < NST_DIGEST_BYTES; i++) {
    out[2 * i] = "0123456789abcdef"[digest[i] >> 4];
    out[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
  }
  out[2 * NST_DIGEST_BYTES] = '\0';
}
