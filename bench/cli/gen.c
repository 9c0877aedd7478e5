/* nestor bench gen: tasks and their keys from a seed, or the published suite as a directory. */
#include "bench/cli/bench.h"
#include "bench/record/digest.h"
#include "bench/record/memory.h"
#include "bench/tasks/generate.h"

#include "cli/cli.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DEFAULT_COUNT = 40 };

typedef struct {
  const char *suite, *kinds, *levels, *split, *output, *key, *card, *secret;
  uint64_t seed, count, examples, threads;
  bool quick, quiet;
} settings;

/* ---- what is asked for ---------------------------------------------------- */

static bool parse_kinds(unsigned *out, const char *text) {
  *out = 0;
  if (!strcmp(text, "all")) return *out = (1u << NST_KIND_COUNT) - 1, true;
  for (const char *at = text; *at;) {
    char word[32];
    const size_t n = strcspn(at, ",");
    snprintf(word, sizeof word, "%.*s", (int)n, at);
    nst_kind kind;
    if (!nst_kind_parse(&kind, word)) {
      const char *words[NST_KIND_COUNT + 1] = {0};
      for (int k = 0; k < NST_KIND_COUNT; k++) words[k] = nst_kind_name((nst_kind)k);
      const char *near = cli_nearest(word, words);
      if (near) return cli_say("there is no kind \"%s\"; did you mean %s?", word, near), false;
      cli_say("there is no kind \"%s\"; kinds are qa.compare, qa.predict, gen.workload, gen.hardware, gen.mapping, "
              "gen.model, gen.optimize, repair",
              word);
      return false;
    }
    *out |= 1u << kind;
    at += n + (at[n] == ',');
  }
  if (!*out) cli_say("--kinds is empty; it takes \"all\" or a list like gen.mapping,repair");
  return *out != 0;
}

static bool parse_levels(unsigned *out, const char *text) {
  *out = 0;
  for (const char *at = text; *at;) {
    if (*at < '1' || *at > '0' + NST_LEVELS)
      return cli_say("--levels takes levels from 1 to %d, as 1-5 or 1,3", NST_LEVELS), false;
    const int low = *at++ - '0';
    int high = low;
    if (*at == '-') {
      high = *++at - '0';
      if (high < low || high > NST_LEVELS)
        return cli_say("--levels takes levels from 1 to %d, as 1-5 or 1,3", NST_LEVELS), false;
      at++;
    }
    for (int l = low; l <= high; l++) *out |= 1u << l;
    if (*at == ',')
      at++;
    else if (*at)
      return cli_say("--levels takes levels from 1 to %d, as 1-5 or 1,3", NST_LEVELS), false;
  }
  if (!*out) cli_say("--levels is empty");
  return *out != 0;
}

/* ---- progress ------------------------------------------------------------- */

typedef struct {
  const char *split;
  double last;
  bool shown;
} gauge;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A line that is written over, at most five times a second. */
static void show(void *context, size_t made, size_t all) {
  gauge *g = context;
  const double now = seconds();
  if (now - g->last < 0.2) return;
  g->last = now;
  g->shown = true;
  fprintf(stderr, "\r%s: %zu of %zu made (%zu %%)\033[K", g->split, made, all, all ? 100 * made / all : 100);
  fflush(stderr);
}

static void clear(gauge *g) {
  if (g->shown) fputs("\r\033[K", stderr), fflush(stderr);
}

/* ---- writing -------------------------------------------------------------- */

typedef struct {
  cli_file tasks, keys;
  bool has_keys;
} sink;

static bool add_line(cli_file *to, const json_t *json) {
  size_t size;
  char *text = nst_record_text(json, &size);
  text[size] = '\n'; /* where the NUL was */
  cli_file_write(to, text, size + 1);
  free(text);
  return !to->error;
}

static bool add_records(void *context, const json_t *task, const json_t *key) {
  sink *s = context;
  return add_line(&s->tasks, task) && (!s->has_keys || add_line(&s->keys, key));
}

static int write_split(const nst_suite_options *chosen, bool quiet, const char *tasks_path, const char *keys_path) {
  gauge g = {.split = nst_split_name(chosen->split), .last = -1};
  nst_suite_options options = *chosen;
  options.progress = quiet || !isatty(STDERR_FILENO) ? NULL : show; /* files of messages get none */
  options.context = &g;
  sink s = {.keys.fd = -1, .has_keys = keys_path != NULL};
  if (!cli_file_open(&s.tasks, tasks_path)) return CLI_IO;
  if (keys_path && !cli_file_open(&s.keys, keys_path)) return cli_file_close(&s.tasks, false), CLI_IO;
  char error[NST_RECORD_ERROR];
  const bool made = nst_suite_generate(&options, add_records, &s, error), full = !made && !*error;
  clear(&g);
  if (!made && *error) cli_say("%s", error);
  /* Where one cannot be written neither is kept. */
  const bool tasks_bad = s.tasks.error, keys_bad = s.keys.error;
  int code = cli_file_close(&s.tasks, made || tasks_bad);
  code = cli_worse(code, cli_file_close(&s.keys, (made && code == CLI_GOOD) || keys_bad));
  return made || full ? code : CLI_PROGRAM;
}

/* ---- the published suite -------------------------------------------------- */

/* A line of SHA256SUMS of a file of the directory. */
static bool add_hash(cli_file *sums, const char *path, const char *name) {
  char hash[NST_DIGEST_TEXT], line[NST_DIGEST_TEXT + 64];
  nestor_buffer *text = nestor_buffer_new();
  const bool good = cli_read(path, false, text);
  nst_digest_text(hash, (const nst_digest_part[]){{nestor_buffer_data(text), nestor_buffer_size(text)}}, 1);
  cli_file_write(sums, line, (size_t)snprintf(line, sizeof line, "%s  %s\n", hash, name));
  nestor_buffer_free(text);
  return good;
}

static char *path_in(const char *directory, const char *name) {
  char *path = nst_memory_new(strlen(directory) + strlen(name) + 2, 1);
  sprintf(path, "%s/%s", directory, name);
  return path;
}

static int write_published(const nst_suite_options *chosen, bool quiet, const char *directory) {
  if (mkdir(directory, 0777) != 0 && errno != EEXIST)
    return cli_say("cannot make %s: %s", directory, strerror(errno)), CLI_IO;
  char *sums_path = path_in(directory, "SHA256SUMS");
  cli_file sums;
  int code = cli_file_open(&sums, sums_path) ? CLI_GOOD : CLI_IO;
  nst_suite_options options;
  for (size_t i = 0; code == CLI_GOOD && nst_suite_published(&options, i); i++) {
    options.quick = chosen->quick;
    options.threads = chosen->threads;
    char names[2][32], *paths[2];
    for (int k = 0; k < 2; k++) {
      snprintf(names[k], sizeof names[k], "%s%s.jsonl", nst_split_name(options.split), k ? ".key" : "");
      paths[k] = path_in(directory, names[k]);
    }
    code = write_split(&options, quiet, paths[0], paths[1]);
    for (int k = 0; k < 2; k++) {
      if (code == CLI_GOOD && !add_hash(&sums, paths[k], names[k])) code = CLI_IO;
      free(paths[k]);
    }
  }
  code = cli_worse(code, cli_file_close(&sums, code == CLI_GOOD));
  free(sums_path);
  return code;
}

/* ---- the command ---------------------------------------------------------- */

static int generate(const settings *s) {
  nst_suite_options options = {.suite = s->suite,
                               .seed = s->seed,
                               .count = s->count,
                               .examples = (int)s->examples,
                               .quick = s->quick,
                               .threads = (int)s->threads};
  if (!parse_kinds(&options.kinds, s->kinds) || !parse_levels(&options.levels, s->levels)) return CLI_WRONG_USAGE;
  if (!nst_split_parse(&options.split, s->split))
    return cli_say("there is no split \"%s\"; splits are train, dev, test, hidden", s->split), CLI_WRONG_USAGE;
  if (strcmp(s->card, "card") != 0 && strcmp(s->card, "none") != 0)
    return cli_say("--card takes card or none, not \"%s\"", s->card), CLI_WRONG_USAGE;
  options.no_card = !strcmp(s->card, "none");
  if (s->examples > NST_SUITE_EXAMPLES)
    return cli_say("--examples takes at most %d", NST_SUITE_EXAMPLES), CLI_WRONG_USAGE;
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  if (strlen(s->suite) > 40 || !*s->suite || s->suite[strspn(s->suite, letters)])
    return cli_say("--suite takes a name of 1 to 40 letters, digits, points, dashes and underscores"), CLI_WRONG_USAGE;
  if (!strcmp(s->suite, "v1")) {
    if (options.split == NST_SPLIT_HIDDEN || s->key || strcmp(s->kinds, "all") != 0 || strcmp(s->levels, "1-5") != 0 ||
        options.no_card || s->seed != 1 || s->count != DEFAULT_COUNT || s->examples != NST_SUITE_DEFAULT_EXAMPLES)
      return cli_say("the suite v1 is always the same: it takes -o DIRECTORY, --quick, --quiet and --threads alone"),
             CLI_WRONG_USAGE;
    return write_published(&options, s->quiet, s->output ? s->output : "v1");
  }
  if (!s->output) return cli_say("where to? -o tasks.jsonl, or -o - for standard output"), CLI_WRONG_USAGE;
  if (s->count < 1 || s->count > 1000000) return cli_say("--count takes 1 to 1,000,000"), CLI_WRONG_USAGE;
  if ((options.split == NST_SPLIT_HIDDEN) != (s->secret != NULL))
    return cli_say(s->secret ? "--secret goes with --split hidden" : "--split hidden wants a secret: --secret FILE"),
           CLI_WRONG_USAGE;
  if (!cli_apart_outputs(s->output, &s->key, 1) || !cli_apart(s->output, &s->secret, 1) || !cli_apart(s->key, &s->secret, 1))
    return CLI_WRONG_USAGE;
  char *secret = s->secret ? bench_read_secret(s->secret) : NULL;
  if (s->secret && !secret) return CLI_IO;
  options.secret = secret;
  const int code = write_split(&options, s->quiet, s->output, s->key);
  free(secret);
  return code;
}

int bench_gen(int argc, char **argv) {
  settings s = {.suite = "mine",
                .kinds = "all",
                .levels = "1-5",
                .split = "dev",
                .card = "card",
                .seed = 1,
                .count = DEFAULT_COUNT,
                .examples = NST_SUITE_DEFAULT_EXAMPLES};
  const bench_option options[] = {
    {"suite", 0, BENCH_TEXT, &s.suite, "NAME", "name of the suite; v1 is the published one (default mine)"},
    {"seed", 0, BENCH_WHOLE, &s.seed, "N", "the same seed gives the same bytes (default 1)"},
    {"count", 'n', BENCH_WHOLE, &s.count, "K", "number of tasks; kinds and levels take turns (default 40)"},
    {"levels", 0, BENCH_TEXT, &s.levels, "LIST", "levels, as 1-5 or 1,3 (default 1-5)"},
    {"kinds", 0, BENCH_TEXT, &s.kinds, "LIST", "kinds of tasks, as gen.mapping,repair (default all)"},
    {"split", 0, BENCH_TEXT, &s.split, "SPLIT", "train, dev, test or hidden (default dev)"},
    {"secret", 0, BENCH_TEXT, &s.secret, "FILE", "of the split hidden: a text that nobody else knows"},
    {"card", 0, BENCH_TEXT, &s.card, "WHICH", "card: prompts hold the language card; none: they do not (default card)"},
    {"examples", 0, BENCH_WHOLE, &s.examples, "N", "worked examples in a prompt, 0 to 3 (default 2)"},
    {"output", 'o', BENCH_TEXT, &s.output, "FILE", "where tasks go; of v1 a directory"},
    {"key", 0, BENCH_TEXT, &s.key, "FILE", "where the keys go (default: nowhere)"},
    {"quick", 0, BENCH_FLAG, &s.quick, NULL,
     "answers by the analysis alone, not proven by the other engines: same bytes"},
    {"threads", 0, BENCH_WHOLE, &s.threads, "N", "threads (default: one per processor)"},
    {"quiet", 0, BENCH_FLAG, &s.quiet, NULL, "no progress; only a terminal gets any"},
    {0}};
  const bench_usage usage = {
    "-o tasks.jsonl --key key.jsonl [OPTIONS]",
    "Writes tasks, one JSON object a line, and their keys: reference answers, hidden points and expected figures. "
    "Every\n"
    "reference answer and every point is computed by the analysis, the simulator and generated code, which must "
    "agree.\n\n"
    "  nestor bench gen --seed 7 --count 200 --kinds gen.mapping,gen.model -o tasks.jsonl --key key.jsonl\n"
    "  nestor bench gen --suite v1 -o v1    the published suite: train 2,000, dev 300, test 600, with SHA256SUMS\n",
    options};
  bench_texts rest;
  int code = bench_options("gen", &usage, argc, argv, &rest);
  if (code < 0 && rest.n) {
    cli_say("`nestor bench gen` takes no %s; options begin with --", rest.items[0]);
    code = CLI_WRONG_USAGE;
  }
  free(rest.items);
  return code < 0 ? generate(&s) : code;
}
