/* The body of a task: what is asked, in words, with the answer and what it is graded by.
 *
 * A body is made from a draft alone. What the suite adds - language card, examples, identity, hashes - is generate.c's.
 */
#ifndef NST_BENCH_TASKS_BODY_H
#define NST_BENCH_TASKS_BODY_H
#include "bench/tasks/draft.h"
#include "bench/tasks/solve.h"

#include <jansson.h>

typedef struct {
  char *prompt; /* the question, as the user puts it */
  char *answer; /* the reference answer: the text of a program, "answer: B", or a JSON object of numbers */
  char *reply;  /* the answer as a model should give it: programs in a fenced block */
  json_t *spec; /* task.spec */
  json_t *key;  /* the members of the key behind `answer` */
  bool unproven; /* there is none, as the engines do not agree on it: another draft would hide that */
} nst_body;

/* false: the draft is no good task, or something is wrong with it; `why` says what. */
bool nst_body_make(nst_body *out, const nst_draft *d, bool quick, char why[NST_SOLVE_ERROR]);
void nst_body_fini(nst_body *body);

/* Of each kind (body_*.c): prompt is appended to, spec and key are objects to fill, answer is appended to. */
typedef struct {
  const nst_draft *d;
  bool quick, unproven;
  nst_random random; /* for points */
  nestor_buffer *prompt, *answer;
  json_t *spec, *key;
  char *why; /* NST_SOLVE_ERROR bytes */
} nst_body_maker;
bool nst_body_program(nst_body_maker *b); /* gen.workload, gen.hardware, gen.mapping */
bool nst_body_repair(nst_body_maker *b);
bool nst_body_model(nst_body_maker *b);
bool nst_body_optimum(nst_body_maker *b);
bool nst_body_compare(nst_body_maker *b);
bool nst_body_predict(nst_body_maker *b);

/* Ends a solver, and keeps whether it met engines that do not agree. */
void nst_body_solved(nst_body_maker *b, nst_solver *s);
/* Shared: the text in force besides the answer; the answer's declaration; points and figures of the key. */
void nst_body_given(const nst_draft *d, nestor_buffer *out);
void nst_body_answer(const nst_draft *d, nestor_buffer *out);
void nst_body_probe(const nst_draft *d, nestor_buffer *out);
bool nst_body_equal_points(nst_body_maker *b);            /* after `answer` is there */
bool nst_body_floor(nst_body_maker *b, double share);     /* key.floor; false: doing nothing is the answer */
void nst_body_describe(const nst_body_maker *b);          /* what the declaration has to be, into the prompt */
void nst_body_code(nestor_buffer *out, const char *text); /* a fenced block */
#endif
