/* Chains of revisions in a run file: their names, and what their rounds did. */
#include "bench/revise/revise.h"

#include <stdio.h>
#include <string.h>

static const struct {
  const char *name, *what;
} arms_table[] = {
#define NST_ARM(id, name, what) {name, what},
#include "bench/revise/arms.def"
#undef NST_ARM
};
const char *nst_arm_name(nst_arm arm) { return arms_table[arm].name; }
const char *nst_arm_what(nst_arm arm) { return arms_table[arm].what; }

bool nst_arm_parse(nst_arm *out, const char *name, size_t size) {
  for (int i = 0; i < NST_ARM_COUNT; i++)
    if (strlen(arms_table[i].name) == size && !memcmp(arms_table[i].name, name, size)) return *out = (nst_arm)i, true;
  return false;
}

void nst_revise_id(char out[NST_REVISE_ID], uint64_t number, nst_arm arm, uint64_t round) {
  if (!round)
    snprintf(out, NST_REVISE_ID, "%llu", (unsigned long long)number);
  else
    snprintf(out, NST_REVISE_ID, "%llu.%s.%llu", (unsigned long long)number, nst_arm_name(arm),
             (unsigned long long)round);
}

/* Samples of a run are at most a million. */
uint64_t nst_revise_number(uint64_t number, uint64_t round) { return number + round * UINT64_C(1000000); }

uint64_t nst_revise_passed(const nst_revise_round *r) { return r->right - r->broken + r->fixed; }

double nst_revise_gain(const nst_revise_round *r) {
  return r->chains ? 100 * ((double)r->fixed - (double)r->broken) / (double)r->chains : 0;
}

typedef struct {
  bool judged, passed;
  double tokens_in, tokens_out;
} state;

static bool take_state(void *context, const nst_sample *sample, const nst_result *result) {
  state *s = context;
  const json_t *usage = json_object_get(sample->json, "usage");
  s->judged = !sample->error && result && result->outcome != NST_OUTCOME_INFRA_ERROR;
  s->passed = s->judged && result->passed;
  s->tokens_in = (double)json_integer_value(json_object_get(usage, "input_tokens"));
  s->tokens_out = (double)json_integer_value(json_object_get(usage, "output_tokens"));
  return true;
}

static void add(nst_revise_round *r, const state *before, const state *after) {
  r->tokens_in += after->tokens_in;
  r->tokens_out += after->tokens_out;
  if (!before->judged || !after->judged) {
    r->missing++;
    return;
  }
  r->chains++;
  r->right += before->passed;
  r->wrong += !before->passed;
  r->fixed += !before->passed && after->passed;
  r->broken += before->passed && !after->passed;
}

bool nst_revise_tally(nst_revise_round *rounds, uint64_t most, nst_runfile *run, const nst_task *tasks, size_t ntasks,
                      uint64_t samples, const bool arms[NST_ARM_COUNT], char error[NST_RUNFILE_ERROR]) {
  memset(rounds, 0, NST_ARM_COUNT * (size_t)most * sizeof *rounds);
  for (size_t t = 0; t < ntasks; t++)
    for (uint64_t n = 0; n < samples; n++)
      for (int arm = 0; arm < NST_ARM_COUNT; arm++) {
        state before = {0};
        for (uint64_t round = 0; arms[arm] && round <= most; round++) {
          char id[NST_REVISE_ID];
          state after = {0};
          nst_revise_id(id, n, (nst_arm)arm, round);
          if (!nst_runfile_find(run, tasks[t].task_id, id, take_state, &after, error)) return false;
          if (round) add(&rounds[(uint64_t)arm * most + round - 1], &before, &after);
          before = after;
        }
      }
  return true;
}
