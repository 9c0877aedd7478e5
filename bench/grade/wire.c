/* Frames: writing with growth, reading with bounds. */
#include "bench/grade/wire.h"

#include "bench/record/memory.h"

#include <stdlib.h>
#include <string.h>

void nst_wire_fini(nst_wire *w) {
  free(w->bytes);
  *w = (nst_wire){0};
}

void *nst_wire_room(nst_wire *w, size_t size) {
  if (w->capacity - w->size < size) {
    w->capacity = 2 * (w->size + size);
    w->bytes = nst_memory_grow(w->bytes, w->capacity, 1);
  }
  w->size += size;
  return w->bytes + w->size - size;
}

void nst_wire_put(nst_wire *w, const void *bytes, size_t size) {
  if (size) memcpy(nst_wire_room(w, size), bytes, size);
}

void nst_wire_u8(nst_wire *w, uint8_t value) { nst_wire_put(w, &value, sizeof value); }
void nst_wire_u32(nst_wire *w, uint32_t value) { nst_wire_put(w, &value, sizeof value); }
void nst_wire_u64(nst_wire *w, uint64_t value) { nst_wire_put(w, &value, sizeof value); }

void nst_wire_text(nst_wire *w, const char *text, size_t size) {
  nst_wire_u32(w, (uint32_t)size);
  nst_wire_put(w, text, size);
}

size_t nst_wire_begin(nst_wire *w, uint32_t number) {
  const size_t begin = w->size;
  nst_wire_u32(w, 0);
  nst_wire_u32(w, number);
  return begin;
}

void nst_wire_end(nst_wire *w, size_t begin) {
  const uint32_t size = (uint32_t)(w->size - begin - sizeof size);
  memcpy(w->bytes + begin, &size, sizeof size);
}

void nst_wire_drop(nst_wire *w, size_t size) {
  w->size -= size;
  if (w->size) memmove(w->bytes, w->bytes + size, w->size);
}

size_t nst_wire_frame(nst_wire_reader *payload, uint32_t *number, const uint8_t *bytes, size_t size) {
  uint32_t length;
  if (size < NST_WIRE_HEAD) return 0;
  memcpy(&length, bytes, sizeof length);
  memcpy(number, bytes + sizeof length, sizeof *number);
  if (length < sizeof *number || length > NST_WIRE_LONGEST) return SIZE_MAX;
  const size_t whole = sizeof length + length;
  if (size < whole) return 0;
  *payload = (nst_wire_reader){bytes + NST_WIRE_HEAD, bytes + whole, true};
  return whole;
}

const void *nst_wire_get(nst_wire_reader *r, size_t size) {
  if ((size_t)(r->end - r->at) < size) {
    r->ok = false;
    r->at = r->end;
    return NULL;
  }
  r->at += size;
  return r->at - size;
}

#define DEFINE_GET(type, name)                              \
  type nst_wire_get_##name(nst_wire_reader *r) {            \
    type value = 0;                                         \
    const void *bytes = nst_wire_get(r, sizeof value);      \
    if (bytes) memcpy(&value, bytes, sizeof value);         \
    return value;                                           \
  }
DEFINE_GET(uint8_t, u8)
DEFINE_GET(uint32_t, u32)
DEFINE_GET(uint64_t, u64)

const char *nst_wire_get_text(nst_wire_reader *r, size_t *size) {
  *size = nst_wire_get_u32(r);
  const char *text = nst_wire_get(r, *size);
  if (text) return text;
  *size = 0;
  return "";
}

uint32_t nst_wire_get_count(nst_wire_reader *r, size_t each) {
  const uint32_t n = nst_wire_get_u32(r);
  if (n <= (size_t)(r->end - r->at) / (each ? each : 1)) return n;
  r->ok = false;
  return 0;
}
