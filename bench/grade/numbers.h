/* Answers that are a choice or numbers.
 *
 * A choice: the last line with `answer:` whose first word behind it is a choice (words such as "option" are passed over, marks are not
 * read); else the member "answer" of the last JSON object; else the last choice that stands alone as a word. Where another is
 * offered beside it ("A or B", "B (or A)") there is none; one in a reason ("B, because A moves more") is not offered.
 *
 * Numbers: the last line with `answer:`, or what follows it where the line ends there; else the last JSON object with the names of the quantities;
 * else, where one is asked for, the last number. `name = number` and `name: number` in any order, or as many numbers as are asked for in
 * their order. 4096, 4,096, 4_096, 4.096e3 and 4 KiB are read exactly; a unit is converted where the quantity is in bytes, and a unit
 * of another kind makes the number wrong. A quantity given twice with two values is no answer. */
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
