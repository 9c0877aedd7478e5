/* What the subcommands of `nestor` share: options, input, output, messages.
 *
 * A subcommand is a row of the table in main.c: its words for --help, its
 * options, a function. It sees the library through <nestor/nestor.h> only.
 * All output goes through cli_output, so that a full disk, a closed pipe or a
 * read-only directory is noticed once and in one way; all messages go through
 * cli_say and cli_diagnostics. Exit codes: 0 good, 1 the program is wrong,
 * 2 wrong usage, 3 a file could not be read or written, 4 a sweep was stopped. */
#ifndef NST_CLI_CLI_H
#define NST_CLI_CLI_H
#include <nestor/nestor.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLI_GOOD = 0, CLI_PROGRAM = 1, CLI_WRONG_USAGE = 2, CLI_IO = 3, CLI_STOPPED = 4 };

typedef enum { CLI_COLOR_AUTO, CLI_COLOR_ALWAYS, CLI_COLOR_NEVER } cli_color;

/* Options of all subcommands; each subcommand accepts those of its mask. */
typedef enum {
#define CLI_OPTION(id, name, letter, value, help) CLI_O_##id,
#include "cli/options.def"
#undef CLI_OPTION
  CLI_O_COUNT
} cli_option;
#define CLI_BIT(id) (UINT64_C(1) << CLI_O_##id)

typedef struct cli_command cli_command;

/* A parsed command line. Lists point into argv. */
typedef struct {
  const cli_command *command;
  const char **files;
  size_t nfiles;
  const char **mappings; /* --mapping; of sweep: --sweep */
  size_t nmappings;
  const char **sets; /* "name=value" */
  size_t nsets;
  const char *output;    /* -o, or NULL: standard output */
  const char *emit;      /* --emit */
  nestor_format format;
  nestor_grammar_format grammar;
  nestor_engine engine;
  cli_color color;
  bool json_diagnostics, check, write, quiet, require_fit, help;
  nestor_sweep_options sweep;
  const char *checkpoint, *all, *best, *plot; /* files of a sweep, or NULL */
  const char *points; /* --points of eval, or NULL */
  bool dry_run, resume, all_mappings, timing, progress, sharded, no_cache;
} cli_args;

struct cli_command {
  const char *name;
  const char *usage;    /* what follows the name */
  const char *summary;  /* one line */
  const char *help;     /* the rest of --help */
  uint64_t options;     /* CLI_BIT(..) | ... */
  bool needs_files;
  int (*run)(const cli_args *args);
};

extern const cli_command cli_commands[]; /* ends with a NULL name */
const cli_command *cli_find_command(const char *name);

int cli_check(const cli_args *args);
int cli_fmt(const cli_args *args);
int cli_eval(const cli_args *args);
int cli_simulate(const cli_args *args);
int cli_test(const cli_args *args);
int cli_explain(const cli_args *args);
int cli_emit(const cli_args *args);
int cli_grammar(const cli_args *args);
int cli_sweep(const cli_args *args);
int cli_points(const cli_args *args); /* eval --points */
int cli_merge(const cli_args *args);
int cli_bench(int argc, char **argv);  /* bench.c: becomes the program nestor-bench */
int cli_version(const cli_args *args);
int cli_help(const cli_args *args);

/* options.c. false: wrong usage, already said. */
bool cli_parse(cli_args *out, const cli_command *command, int argc, char **argv);
void cli_args_fini(cli_args *args);
void cli_command_help(const cli_command *command, nestor_buffer *out);
void cli_overview(nestor_buffer *out);

/* nearest.c: the word of a NULL-ended list nearest to `wrong`, or NULL when none is near. */
const char *cli_nearest(const char *wrong, const char *const *words);

/* input.c: a whole file, or standard input for "-"; of a program at most 256 MiB. false: said why. */
bool cli_read(const char *path, bool program, nestor_buffer *out);
const char *cli_display_name(const char *path); /* "<stdin>" for "-" */
/* A session that may read files, and a program of a file. NULL: the file could not be read (said). */
nestor_program *cli_compile(const cli_args *args, const char *path, nestor_stage stage);

/* apart.c. false: `written` is also one of those that are read, or that are written; said. NULL is no file; "-" is standard output where it is
 * written, and standard input where it is read, which may be of a file. */
bool cli_apart(const char *written, const char *const *read, size_t n);
bool cli_apart_outputs(const char *written, const char *const *others, size_t n);

/* output.c. Which of descriptors 0 to 2 were closed when the command began. */
void cli_guard_descriptors(void);
/* A file that is written piece by piece and has its name when it is closed to be kept: until then, and where something
 * fails, what was there before is untouched. "-" is standard output. open: false, said. A write that fails is said by close. */
typedef struct { const char *path; int fd, error; char *temporary, *target; } cli_file;
bool cli_file_open(cli_file *f, const char *path);
void cli_file_write(cli_file *f, const char *bytes, size_t size);
int cli_file_close(cli_file *f, bool keep);
/* To args->output (atomically) or standard output. The exit code: CLI_GOOD or CLI_IO (said). */
int cli_output(const cli_args *args, const nestor_buffer *text);
/* What a write to standard output failed with; said, but for a reader that has left (`| head`). CLI_IO. */
int cli_output_failed(int error);
int cli_write_file(const char *path, const char *bytes, size_t size); /* atomically, by rename */
bool cli_write_all(int fd, const char *bytes, size_t size); /* false: errno */
/* Where the symbolic links of a path's last part end, whether something is there or not; NULL: they go in a circle. */
char *cli_links_end(const char *path);
/* Whether a file of that name could be written now. false: said why not. */
bool cli_can_write(const char *path);

/* messages.c */
void cli_use_color(cli_color color);
bool cli_stdout_color(const cli_args *args);
void cli_be_silent(void); /* from now on nothing is said */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* "nestor: ..." on standard error */
/* Shows the messages; with --diagnostics json also an empty list when `always`. */
void cli_diagnostics(const cli_args *args, const nestor_diagnostics *diagnostics, bool always);
/* The graver of two exit codes: I/O, then usage, then program. */
int cli_worse(int a, int b);

/* evaluate.c: what eval, simulate and explain do with every mapping of every file. */
typedef int cli_each_mapping(void *context, nestor_eval *eval, nestor_status status);
int cli_evaluate(const cli_args *args, nestor_engine engine, cli_each_mapping *each, void *context);

/* progress.c: how far a sweep is, on standard error: a bar on a terminal, else lines. */
typedef struct { bool bar, lines, shown; double last, every; } cli_progress;
void cli_progress_init(cli_progress *p, const cli_args *args);
void cli_progress_show(void *progress, const nestor_sweep_progress *now); /* a nestor_sweep_watcher */
int cli_progress_every_ms(const cli_progress *p);

/* rows.c: the list of every valid point as a file. */
typedef struct cli_rows cli_rows;
cli_rows *cli_rows_new(const char *path, nestor_sweep *sweep, int *code); /* NULL: said, *code set; begins the list */
int cli_rows_end(cli_rows *rows, nestor_sweep *sweep, bool keep);         /* closes and puts it in its place; frees */

/* sweep.c: what sweep and merge write after a search: --emit; and --plot, of all sweeps together. */
int cli_emit_best(const cli_args *args, nestor_sweep *sweep, const char *program);
void cli_plot_add(const cli_args *args, nestor_plot *plot, nestor_sweep *sweep);
int cli_plot_write(const cli_args *args, const nestor_plot *plot);
#endif
