/* What the commands of nestor-bench share: options, records from files, output.
 *
 * A command is a row of commands.def and a function bench_NAME(argc, argv) that gets what follows its name. Options are a table, from which
 * the parsing and --help are made. Messages and files are the command line's of `nestor` (cli/cli.h). Exit codes: 0 good, 1 what was asked for came out
 * badly (an invalid suite, a failed check), 2 wrong usage, 3 a file, server or worker could not be used, 4 stopped, to be gone on with. */
#ifndef NST_BENCH_CLI_BENCH_H
#define NST_BENCH_CLI_BENCH_H
#include "bench/record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
  BENCH_FLAG,   /* bool */
  BENCH_TEXT,   /* const char * */
  BENCH_TEXTS,  /* bench_texts: may be repeated */
  BENCH_WHOLE,  /* uint64_t */
  BENCH_NUMBER, /* double */
} bench_option_kind;

typedef struct {
  const char *name;     /* "base-url" */
  char letter;          /* 'o', or 0 */
  bench_option_kind kind;
  void *into;           /* holds the default before, untouched where the option is not given */
  const char *argument; /* "URL"; NULL of a flag */
  const char *help;     /* one line, lower case */
} bench_option;

typedef struct { const char **items; size_t n; } bench_texts; /* borrowed from argv; free(items) */

typedef struct {
  const char *usage; /* "tasks.jsonl --model M [OPTIONS]" */
  const char *help;  /* what it does, units, examples */
  const bench_option *options; /* ends with a NULL name */
} bench_usage;

/* What is left of argv is put into *rest. Returns -1 to go on, else the exit code (0: help was shown; 2: wrong usage, said). */
int bench_options(const char *command, const bench_usage *usage, int argc, char **argv, bench_texts *rest);

/* Calls each with every record of a JSON Lines file ("-": standard input). Bad lines are said with file and line. false: one was bad, there was
 * none, or the file could not be read (said), or each said false. The record is the callee's (it ends it). */
typedef bool bench_task_fn(void *context, nst_task *task);
typedef bool bench_key_fn(void *context, nst_key *key);
bool bench_each_task(const char *path, bench_task_fn *each, void *context);
bool bench_each_key(const char *path, bench_key_fn *each, void *context);
/* Whether text is the beginning of a run file, which is no JSON Lines. */
bool bench_is_run_file(const char *text, size_t size);
/* The secret of the split hidden; the caller frees. NULL: it cannot be read, or is none (said). */
char *bench_read_secret(const char *path);

#define BENCH_COMMAND(function, name, summary) int function(int argc, char **argv);
#include "bench/cli/commands.def"
#undef BENCH_COMMAND
#endif
