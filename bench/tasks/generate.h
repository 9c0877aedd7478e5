/* Suites of tasks: a name, a seed and a split give the same records on every machine.
 *
 * A task's draft has a seed of its own, drawn from the stream of its suite, split, kind, level and number, so that a
 * longer suite begins with a shorter one. Drafts are drawn again when they turn out no good task, when they are equal
 * up to renaming to one that is there, in their words, or when they belong to another split: the digest of the
 * canonical form decides that, so that splits never overlap, whatever their seeds. Held-out templates occur in test and
 * hidden alone. Tasks of the split hidden come from the seed and a secret: their records can be published, with
 * commitments to answers that nobody can make again without it. */
#ifndef NST_BENCH_TASKS_GENERATE_H
#define NST_BENCH_TASKS_GENERATE_H
#include "bench/record/record.h"

typedef enum { NST_SPLIT_TRAIN, NST_SPLIT_DEV, NST_SPLIT_TEST, NST_SPLIT_HIDDEN, NST_SPLIT_COUNT } nst_split;
const char *nst_split_name(nst_split split);
bool nst_split_parse(nst_split *out, const char *name);

typedef struct {
  const char *suite; /* "v1" */
  uint64_t seed;
  nst_split split;
  size_t count;       /* of tasks, round the kinds, then the levels */
  unsigned kinds;     /* a set of 1 << nst_kind */
  unsigned levels;    /* a set of 1 << level */
  const char *secret; /* of the split hidden, else NULL */
  bool no_card;       /* prompts without the language card */
  int examples;       /* worked examples in a prompt, from the split train: 0 to NST_SUITE_EXAMPLES */
  bool quick;         /* answers by the analysis alone: not proven by the other engines, and the same bytes */
  int threads;        /* 0: one per processor */
  /* NULL, or told how many tasks and examples of how many are made, by the thread that asked, after each that it makes.
   */
  void (*progress)(void *context, size_t made, size_t all);
  void *context;
} nst_suite_options;
enum { NST_SUITE_EXAMPLES = 3, NST_SUITE_DEFAULT_EXAMPLES = 2, NST_SUITE_VERSION = 1 };

/* Split i of the published suite v1, 0 to 2; what is left to choose (quick, threads) is the caller's. false: there are
 * no more. */
bool nst_suite_published(nst_suite_options *out, size_t i);

/* Called with each task and its key, in order. The objects are the caller's. */
typedef bool nst_suite_sink(void *context, const json_t *task, const json_t *key);
/* false: a sink said so (error is then ""), no good draft was found for a task, or the engines do not agree on one; `error` says which. */
bool nst_suite_generate(const nst_suite_options *options, nst_suite_sink *sink, void *context,
                        char error[NST_RECORD_ERROR]);
#endif
