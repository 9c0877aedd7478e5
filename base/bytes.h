/* Numbers as bytes, the same on every machine: for what goes to files and to
 * other processes. A number is eight bytes, the least first. */
#ifndef NST_BASE_BYTES_H
#define NST_BASE_BYTES_H
#include "base/buffer.h"
#include <stdbool.h>

void nst_bytes_put(nst_buffer *out, uint64_t v);

typedef struct { const unsigned char *at; size_t left; bool bad; } nst_reader; /* bad: it has been asked for more than there is */
nst_reader nst_reader_make(const char *bytes, size_t len);
uint64_t nst_reader_get(nst_reader *in); /* 0 past the end */

/* FNV-1a: enough to tell what is torn or damaged, no protection from malice. */
uint64_t nst_bytes_checksum(const char *bytes, size_t len);
#endif
