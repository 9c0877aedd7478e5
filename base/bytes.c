/* See bytes.h. */
#include "base/bytes.h"

void nst_bytes_put(nst_buffer *out, uint64_t v) {
  char bytes[8];
  for (int i = 0; i < 8; i++) bytes[i] = (char)(v >> 8 * i & 255);
  nst_buffer_add(out, bytes, sizeof bytes);
}

nst_reader nst_reader_make(const char *bytes, size_t len) {
  return (nst_reader){(const unsigned char *)bytes, len, false};
}

uint64_t nst_reader_get(nst_reader *in) {
  if (in->left < 8) {
    in->bad = true;
    return 0;
  }
  uint64_t v = 0;
  for (int i = 0; i < 8; i++) v |= (uint64_t)in->at[i] << 8 * i;
  in->at += 8;
  in->left -= 8;
  return v;
}

uint64_t nst_bytes_checksum(const char *bytes, size_t len) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
  return h;
}
