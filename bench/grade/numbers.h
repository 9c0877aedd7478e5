/* Answers that are a choice or numbers.
 *
 * A choice: the last line with `answer:`, which begins with it but for words such as "option"; else the member "answer" of the last JSON object that
 * has one; else the last choice that stands alone as a word. Another behind it makes it none, unless it stands in a reason ("B, because A moves more").
 *
 * Numbers: the last line with `answer:`, or what follows it where the line ends there; else the last JSON object with any of the quantities; else, where
 * one is asked for, the last number. `name = value` and `name: value` in any order, or as many values as are asked for in their order. 4096, 4,096, 4_096,
 * 4.096e3 and 4 KiB are read exactly; a unit is converted where the quantity is in bytes, and a unit of another kind makes the number wrong. Two values
 * where one is asked for are no answer.
 *
 * An answer line that holds a choice or a digit is the answer, and where it is refused there is none. The rule in full is in docs/benchmark.md. */
#ifndef NST_BENCH_GRADE_NUMBERS_H
#define NST_BENCH_GRADE_NUMBERS_H
#include "bench/grade/extract.h"
#include "bench/grade/figures.h"

typedef enum { NST_UNIT_ELEMENTS, NST_UNIT_BYTES, NST_UNIT_CYCLES } nst_unit;
bool nst_quantity_unit_parse(nst_unit *out, const char *name);
typedef struct { const char *name; nst_unit unit; } nst_quantity;

/* *choice is an index. Step NONE: there is none. */
nst_extract nst_extract_choice(size_t *choice, const char *const *choices, size_t n, const char *completion, size_t size);
/* values[i] of quantity i: NONE where it is not given or is no whole number of its unit. Step NONE: there is none at all. */
nst_extract nst_extract_numbers(nst_figure *values, const nst_quantity *quantities, size_t n, const char *completion, size_t size);
#endif
