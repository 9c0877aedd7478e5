/* Rounds of revision at equal budget.
 *
 * A chain begins with an answer of a run. In each round every arm asks once more for every chain, whether its last
 * answer is right or not, so that arms differ in what they say and in nothing else. The conversation is the task, the
 * last answer and what is said of it; older answers are not repeated. An arm that says more also says what the compiler
 * says where the answer does not compile. Revisions are samples of the run file with the members parent_sample_id, arm
 * and round, and sample_id "NUMBER.ARM.ROUND". */
#ifndef NST_BENCH_REVISE_REVISE_H
#define NST_BENCH_REVISE_REVISE_H
#include "bench/run/runfile.h"

typedef enum {
#define NST_ARM(id, name, what) NST_ARM_##id,
#include "bench/revise/arms.def"
#undef NST_ARM
  NST_ARM_COUNT
} nst_arm;
const char *nst_arm_name(nst_arm arm);
const char *nst_arm_what(nst_arm arm);
bool nst_arm_parse(nst_arm *out, const char *name, size_t size);

enum { NST_REVISE_ROUNDS = 100, NST_REVISE_ID = 64 };
/* The name of a chain's sample after `round` rounds; round 0: the answer it begins with. */
void nst_revise_id(char out[NST_REVISE_ID], uint64_t number, nst_arm arm, uint64_t round);
/* The sample number a revision is asked with: no other sample of the task has it. */
uint64_t nst_revise_number(uint64_t number, uint64_t round);

/* What the model is told of an answer; NULL for resample. The caller frees. */
char *nst_revise_feedback(nst_arm arm, const nst_task *task, const nst_sample *last, const nst_result *result);
/* The messages of the next request. The caller owns the array. */
json_t *nst_revise_messages(nst_arm arm, const nst_task *task, const json_t *messages, const nst_sample *last,
                            const nst_result *result);

/* What one round of one arm did. */
typedef struct {
  uint64_t chains;        /* whose answer before and after were judged */
  uint64_t missing;       /* other chains: an answer failed, or was not asked for yet */
  uint64_t wrong, fixed;  /* wrong before; of which right after */
  uint64_t right, broken; /* right before; of which wrong after */
  double tokens_in, tokens_out;
} nst_revise_round;
uint64_t nst_revise_passed(const nst_revise_round *round);
/* Points of a hundred that the round gains; 0 of no chains. */
double nst_revise_gain(const nst_revise_round *round);

/* Chains of the first `ntasks` tasks and `samples` answers each. rounds[arm * most + round - 1] is filled for each of
 * the arms and rounds. */
bool nst_revise_tally(nst_revise_round *rounds, uint64_t most, nst_runfile *run, const nst_task *tasks, size_t ntasks,
                      uint64_t samples, const bool arms[NST_ARM_COUNT], char error[NST_RUNFILE_ERROR]);
#endif
