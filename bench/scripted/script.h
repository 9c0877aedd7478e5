/* Models that answer by a script: for the demonstration, and to test that the tasks tell abilities apart.
 *
 * The weak ones do not guess: they have a misconception and follow it through. Their programs are written, their
 * numbers computed and their closed forms derived under it, from the draft of the task. */
#ifndef NST_BENCH_SCRIPTED_SCRIPT_H
#define NST_BENCH_SCRIPTED_SCRIPT_H
#include "bench/record/record.h"

typedef enum {
#define NST_SCRIPT(id, name, what) NST_SCRIPT_##id,
#include "bench/scripted/scripts.def"
#undef NST_SCRIPT
  NST_SCRIPT_COUNT
} nst_script;
const char *nst_script_name(nst_script script);
const char *nst_script_what(nst_script script);
bool nst_script_parse(nst_script *out, const char *name);
/* Whether it gives the same answer each time. */
bool nst_script_is_fixed(nst_script script);

/* Sample `number` of an answer to the task. key: the task's, for the oracle and the truncator; others never look at it.
 * Tasks of the split hidden have no draft: there the weak models say that they do not know. */
void nst_script_answer(nst_sample *out, nst_script script, const nst_task *task, const nst_key *key, uint64_t number);
/* The one that does nothing, with the secret of a task of the split hidden; NULL elsewhere. */
void nst_script_idle(nst_sample *out, const nst_task *task, const char *secret);
#endif
