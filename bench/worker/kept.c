/* A list by hash; what was not asked for longest gives way. A text is compiled when it comes the second time, so that one that comes once costs nothing. Two
 * texts of one hash do no harm: the library compares their bytes. */
#include "bench/worker/kept.h"

#include <string.h>

void nst_kept_fini(nst_kept *k) {
  for (size_t i = 0; i < NST_KEPT_TEXTS; i++) nestor_program_free(k->texts[i].program);
  *k = (nst_kept){0};
}

/* Eight bytes at a time, folded back: each text is hashed with each answer. */
static uint64_t hash_of(const char *text, size_t size) {
  uint64_t h = 0xcbf29ce484222325u ^ size, word = 0;
  for (size_t i = 0; i < size; i += sizeof word) {
    const size_t left = size - i;
    memcpy(&word, text + i, left < sizeof word ? left : sizeof word);
    h = (h ^ word) * 0x9fb21c651e98df25u;
    h ^= h >> 32;
  }
  return h | 1;
}

const nestor_program *nst_kept_get(nst_kept *k, const nestor_session *session, const char *text, size_t size) {
  if (!size || size > NST_KEPT_BYTES) return NULL;
  const uint64_t hash = hash_of(text, size);
  nst_kept_text *t = k->texts, *oldest = t, *end = t + NST_KEPT_TEXTS;
  for (; t < end && t->hash != hash; t++)
    if (t->used < oldest->used) oldest = t;
  if (t == end) {
    nestor_program_free(oldest->program);
    *oldest = (nst_kept_text){.hash = hash, .used = ++k->asked};
    return NULL;
  }
  t->used = ++k->asked;
  if (!t->program) t->program = nestor_program_new(session, "given", text, size, NESTOR_STAGE_CHECK);
  return t->program;
}
