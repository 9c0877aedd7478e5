/* Why answers never came: each reason, and how often. Texts that differ in figures alone ("4,213 tokens", "5,020
 * tokens") are one reason, told as the first of them. */
#ifndef NST_BENCH_RECORD_REASONS_H
#define NST_BENCH_RECORD_REASONS_H
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
  char *text; /* of a few hundred bytes at most */
  uint64_t n;
} nst_reason;

/* Zeros: none. */
typedef struct {
  nst_reason *items;
  size_t n;
  json_t *index; /* while they are counted */
} nst_reasons;

void nst_reasons_add(nst_reasons *all, const char *text);
/* The most frequent first, those as frequent by their texts. Nothing can be added any more. */
void nst_reasons_sort(nst_reasons *all);
void nst_reasons_fini(nst_reasons *all);
#endif
