/* What a report holds: the samples as they were read, and the figures made of them. For the files of this directory. */
#ifndef NST_BENCH_REPORT_FIGURES_H
#define NST_BENCH_REPORT_FIGURES_H
#include "bench/record/reasons.h"
#include "bench/report/report.h"
#include "bench/stats/stats.h"

enum { NST_REPORT_LEVELS = NST_LEVELS + 1, NST_REPORT_KINDS = NST_KIND_COUNT + 1 }; /* the last is of all */

/* What is said of a run file, each a text. FACT(id, name of the fact, title, whether it tells systems apart). */
#define NST_REPORT_FACTS(FACT)                                                                                         \
  FACT(MODEL, "model", "model", true)                                                                                  \
  FACT(TOOL, "tool", "nestor", false)                                                                                  \
  FACT(BUILD, "build", "build of nestor (SHA-256)", false)                                                             \
  FACT(GRADER, "grader", "grader", false)                                                                              \
  FACT(SUITE, "suite", "suite", false)                                                                                 \
  FACT(SPLIT, "split", "split", false)                                                                                 \
  FACT(TASKS_HASH, "tasks_hash", "SHA-256 of the tasks", false)                                                        \
  FACT(SYSTEM_HASH, "system_hash", "SHA-256 of the system text", false)                                                \
  FACT(DIALECT, "dialect", "dialect", false)                                                                           \
  FACT(BASE_URL, "base_url", "server", false)                                                                          \
  FACT(SERVED, "served", "served as", false)                                                                           \
  FACT(FIRST, "first_answer", "first answer (UTC)", false)                                                             \
  FACT(LAST, "last_answer", "last answer (UTC)", false)                                                                \
  FACT(SAMPLING, "sampling", "sampling", true)                                                                         \
  FACT(GRAMMAR, "grammar", "grammar", true)                                                                            \
  FACT(PRICE, "price", "price", false)
typedef enum {
#define FACT(id, name, title, key) NST_FACT_##id,
  NST_REPORT_FACTS(FACT)
#undef FACT
    NST_FACT_COUNT
} nst_fact;
extern const char *const nst_fact_titles[NST_FACT_COUNT];

typedef struct {
  char *id, *hash;
  char *raises; /* the trait of its level that it has, NULL: none is named */
  nst_kind kind;
  int level;
  size_t cluster;
  bool hidden; /* its split: no example is shown of it */
  bool free;   /* its answer is a program or a model: two that are alike are no chance */
} nst_report_task;

/* Samples of one task by one system. */
typedef struct {
  uint64_t expected;
  uint32_t passed, answered; /* answered: judged, and no infrastructure error */
  uint32_t truncated, errors, ungraded;
  bool revised;
  double score;
  uint64_t print;      /* of the first answer that does not pass */
  uint32_t wrong, same; /* answers that do not pass; like it, itself included (record/alike.h) */
} nst_report_cell;

typedef struct {
  char *name;
  uint64_t right, total;
} nst_report_metric;

/* One `metric@level` of the answers to tasks of one kind and level. */
typedef struct {
  nst_kind kind;
  int level;
  nst_report_metric figures;
} nst_report_part;

typedef struct {
  const char *name; /* of a task */
  int level;
} nst_report_trait;

/* Of the tasks that one trait raises. incomplete: some of it is outstanding, and the means are lower bounds. */
typedef struct {
  nst_mean pass, score;
  nst_interval interval, score_interval;
  bool incomplete;
} nst_report_raised;

typedef struct {
  size_t task;
  nst_outcome outcome;
  char *sample_id, *completion, *diagnostics, *counterexample, *extraction; /* NULL where there is none */
} nst_report_example;

/* One repetition of the tasks. */
typedef struct {
  uint64_t passed, answered;
} nst_report_run;

/* One sample where there are revisions. parent: an index of this list, or SIZE_MAX. */
typedef struct {
  size_t task, file, parent;
  char *sample_id, *parent_id, *arm;
  int round; /* 0: the model's own answer */
  bool judged, passed;
} nst_report_step;

typedef struct {
  char *arm;
  int round;
  uint64_t judged, passed, parents_failed, fixed, parents_passed, broken;
} nst_report_round;

/* Tokens as servers counted them, and costs; how many samples said so. */
typedef struct {
  uint64_t in, out, reasoning, with_usage, with_cost;
  double cost;
} nst_report_usage;

typedef struct {
  char *name; /* tells it from the others */
  char *facts[NST_FACT_COUNT];
  nst_report_cell *cells; /* of each task */
  nst_report_part *parts;
  json_t *part_index;         /* while samples are read */
  nst_report_metric *metrics; /* sums of parts */
  nst_report_example *examples;
  nst_report_run *runs;
  nst_report_round *rounds;
  size_t nparts, nmetrics, nexamples, nruns, nrounds;
  size_t revised_tasks; /* with a revision in some round */
  uint64_t outcomes[NST_OUTCOME_COUNT], ungraded, missing, samples; /* samples: expected of all tasks */
  nst_reasons reasons; /* of infrastructure errors; not of hidden tasks, which a server may have quoted */
  nst_report_usage usage, revised; /* of first answers, and of revisions */
  /* made of these */
  nst_mean pass[NST_REPORT_KINDS][NST_REPORT_LEVELS]; /* [kind][level - 1] */
  nst_interval interval[NST_REPORT_KINDS][NST_REPORT_LEVELS];
  nst_mean partial[NST_REPORT_KINDS][NST_REPORT_LEVELS]; /* of scores, as pass */
  nst_interval partial_interval[NST_REPORT_KINDS][NST_REPORT_LEVELS];
  nst_interval bounds[NST_REPORT_KINDS][NST_REPORT_LEVELS]; /* whatever what is outstanding turns out to be */
  nst_report_raised *raised; /* of each trait */
  size_t unanswered;                                        /* tasks without any answer */
  nst_mean score, without_errors, without_cut; /* pass@1 of what was answered; and of that what was not truncated */
  nst_interval score_interval, without_errors_interval, without_cut_interval;
  double *at_k, *all_k; /* of each k; NaN: a task has fewer samples */
  nst_spread spread;
  nst_variance variance;
  bool has_variance;
  size_t repeated_tasks, same_tasks; /* free, with two answers that do not pass and more; of them with all alike */
} nst_report_system;

typedef struct {
  char *name;
  char *facts[NST_FACT_COUNT];
  size_t system, tasks, first_run;
  bool part;        /* of the set of tasks only the first ones were asked */
  uint64_t total;   /* tasks of that set; 0: not known */
  uint64_t samples; /* of a task */
} nst_report_file;

typedef struct {
  size_t a, b, tasks;
  bool grammar; /* the same model and sampling, b with a grammar and a without */
  nst_paired paired;
  nst_interval interval;
  double holm; /* paired.p among all pairs */
} nst_report_pair;

struct nst_report {
  double level;
  uint64_t *ks;
  size_t nks, most_examples;
  bool made;
  json_t *task_index, *cluster_index; /* names to indices */
  nst_report_task *tasks;
  nst_report_trait *traits; /* by level, then by name */
  nst_report_file *files;
  nst_report_system *systems;
  nst_report_step *steps;
  nst_report_pair *pairs;
  size_t ntasks, ntraits, nclusters, nfiles, nsystems, nsteps, npairs;
};

void nst_report_make(nst_report *report); /* figures.c; once, before a form is written */
/* Samples that are to be asked or judged again. */
uint64_t nst_report_outstanding(const nst_report_system *s);
/* Of a cell of `pass`: whether something of it is outstanding. Then its mean is the lower bound, without an interval.
 */
bool nst_report_incomplete(const nst_report_system *s, int kind, int level);
/* Whether only the first tasks of a set were asked, by one of its files; *total: of how many, 0: not known. */
bool nst_report_is_part(const nst_report *r, const nst_report_system *s, size_t *asked, uint64_t *total);
bool nst_report_has_grammar(const nst_report_system *s);
#endif
