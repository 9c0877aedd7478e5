/* An open-addressing table of pointers to the names, which themselves live in
 * the arena; the table is the interner's own, since it is thrown away at every
 * growth. Lengths are kept, so a text may hold any bytes. */
#include "base/intern.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  nst_name name; /* NULL: free */
  size_t len;
  uint64_t hash;
} slot;

struct nst_interner {
  nst_arena *arena;
  slot *slots;
  size_t count, cap; /* cap is a power of two */
  size_t bytes;      /* of the arena, for names */
};

static slot *slots_new(size_t n) {
  slot *slots = calloc(n, sizeof *slots);
  if (!slots) nst_out_of_memory();
  return slots;
}

nst_interner *nst_interner_new(nst_arena *arena) {
  nst_interner *in = malloc(sizeof *in);
  if (!in) nst_out_of_memory();
  *in = (nst_interner){.arena = arena, .cap = 256};
  in->slots = slots_new(in->cap);
  return in;
}

nst_interner *nst_interner_new_from(nst_arena *arena, const nst_interner *other) {
  nst_interner *in = malloc(sizeof *in);
  if (!in) nst_out_of_memory();
  *in = *other;
  in->arena = arena;
  in->bytes = 0;
  in->slots = malloc(in->cap * sizeof *in->slots);
  if (!in->slots) nst_out_of_memory();
  memcpy(in->slots, other->slots, in->cap * sizeof *in->slots);
  return in;
}

void nst_interner_free(nst_interner *in) {
  if (!in) return;
  free(in->slots);
  free(in);
}

static uint64_t hash_bytes(const char *text, size_t len) {
  uint64_t h = 0xcbf29ce484222325u; /* FNV-1a, then mixed: its low bits alone are weak */
  for (size_t i = 0; i < len; i++) h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93u;
  return h ^ h >> 32;
}

static void grow(nst_interner *in) {
  if (in->cap > SIZE_MAX / 2) nst_out_of_memory();
  size_t cap = in->cap * 2;
  slot *slots = slots_new(cap);
  for (size_t i = 0; i < in->cap; i++) {
    if (!in->slots[i].name) continue;
    size_t at = in->slots[i].hash & (cap - 1);
    while (slots[at].name) at = (at + 1) & (cap - 1);
    slots[at] = in->slots[i];
  }
  free(in->slots);
  in->slots = slots;
  in->cap = cap;
}

nst_name nst_intern(nst_interner *in, const char *text, size_t len) {
  uint64_t hash = hash_bytes(text, len);
  size_t at = hash & (in->cap - 1);
  for (; in->slots[at].name; at = (at + 1) & (in->cap - 1)) {
    const slot *s = &in->slots[at];
    if (s->hash == hash && s->len == len && (len == 0 || memcmp(s->name, text, len) == 0)) return s->name;
  }
  const size_t before = nst_arena_used(in->arena);
  nst_name name = nst_arena_strndup(in->arena, text, len);
  in->bytes += nst_arena_used(in->arena) - before;
  in->slots[at] = (slot){name, len, hash};
  if (++in->count > in->cap / 2) grow(in);
  return name;
}

size_t nst_interner_bytes(const nst_interner *in) { return in->bytes; }

nst_name nst_intern_cstr(nst_interner *in, const char *text) { return nst_intern(in, text, strlen(text)); }

enum { LONGEST_COMPARED = 64 };

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; } /* in every locale */

/* Edits that turn a into b: insert, delete, substitute, swap neighbours; a change of case is none. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb) {
  size_t rows[3][LONGEST_COMPARED + 1];
  size_t *before = rows[0], *last = rows[1], *row = rows[2];
  for (size_t j = 0; j <= nb; j++) last[j] = j;
  for (size_t i = 1; i <= na; i++) {
    row[0] = i;
    int ca = lower(a[i - 1]);
    for (size_t j = 1; j <= nb; j++) {
      int cb = lower(b[j - 1]);
      size_t best = last[j - 1] + (ca != cb);
      if (last[j] + 1 < best) best = last[j] + 1;
      if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
      if (i > 1 && j > 1 && ca == lower(b[j - 2]) && cb == lower(a[i - 2]) && before[j - 2] + 1 < best) {
        best = before[j - 2] + 1;
      }
      row[j] = best;
    }
    size_t *spare = before;
    before = last;
    last = row;
    row = spare;
  }
  return last[nb];
}

/* A third of the name may be wrong, and something must be left of it: no letter is near
 * another letter, but `tm` is near `tn`. */
nst_name nst_name_nearest(nst_name wrong, const nst_name *candidates, size_t n) {
  if (!wrong) return NULL;
  size_t len = strlen(wrong);
  if (len > LONGEST_COMPARED) return NULL;
  nst_name best = NULL;
  size_t best_distance = (len < 3 ? 3 : len) / 3 + 1;
  for (size_t i = 0; i < n; i++) {
    if (!candidates[i] || candidates[i] == wrong) continue;
    size_t candidate_len = strlen(candidates[i]);
    if (candidate_len > LONGEST_COMPARED) continue;
    size_t longer = len > candidate_len ? len : candidate_len;
    if (longer - (len < candidate_len ? len : candidate_len) >= best_distance) continue;
    size_t d = distance(wrong, len, candidates[i], candidate_len);
    if (d < best_distance && d < longer) {
      best = candidates[i];
      best_distance = d;
    }
  }
  return best;
}
