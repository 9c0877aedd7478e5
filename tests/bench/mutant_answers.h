/* Faults planted in answers that are numbers or a choice. What is wrong with each is known by how it is made: the rule
 * by which answers are read (bench/grade/numbers.h) says which hold an answer. */
#ifndef NST_TESTS_BENCH_MUTANT_ANSWERS_H
#define NST_TESTS_BENCH_MUTANT_ANSWERS_H
#include "bench/record/random.h"
#include "tests/bench/mutant_judge.h"

typedef enum {
#define MUTANT_NUMBER(id, name, what) MUTANT_NUMBER_##id,
#include "tests/bench/mutant_answers.def"
  MUTANT_NUMBER_COUNT
} mutant_number;
typedef enum {
#define MUTANT_CHOICE(id, name, what) MUTANT_CHOICE_##id,
#include "tests/bench/mutant_answers.def"
  MUTANT_CHOICE_COUNT
} mutant_choice;
const char *mutant_number_name(mutant_number fault);
const char *mutant_choice_name(mutant_choice fault);

/* Appends the answer with the fault at a place drawn from the stream. false: it has no place for it; *out is untouched.
 */
bool mutant_number_plant(nestor_buffer *out, mutant_fate *fate, const json_t *spec, const json_t *key,
                         mutant_number fault, nst_random *r);
bool mutant_choice_plant(nestor_buffer *out, mutant_fate *fate, const json_t *spec, const json_t *key,
                         mutant_choice fault, nst_random *r);
#endif
