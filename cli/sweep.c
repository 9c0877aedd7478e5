/* nestor sweep: searches the spaces of sweep blocks and prints what is best.
 *
 * A signal ends the search, not the command: what was found is saved and printed.
 * The one variable here is what a signal handler can reach. Under MPI every rank
 * runs this command; only rank 0 speaks and writes. */
#include "cli/cli.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static nestor_sweep *volatile running;

static void on_signal(int number) {
  nestor_sweep *sweep = running;
  if (sweep) nestor_sweep_stop(sweep);
  signal(number, SIG_DFL); /* a second one ends the command at once */
}

static void listen(nestor_sweep *sweep) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  running = sweep;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction action = {.sa_handler = sweep ? on_signal : SIG_DFL};
    struct sigaction old;
    if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue; /* nohup */
    sigaction(numbers[i], &action, NULL);
  }
}

/* ---- checkpoints ---- */

typedef struct {
  const char *path;
  int code;
} checkpoint;

static void save(void *context, const char *bytes, size_t size) {
  checkpoint *c = context;
  if (c->code == CLI_GOOD) c->code = cli_write_file(c->path, bytes, size); /* what cannot be written is said once */
}

static int resume(const cli_args *args, nestor_sweep *sweep) {
  struct stat info;
  if (stat(args->checkpoint, &info) != 0) return CLI_GOOD;
  if (!S_ISREG(info.st_mode)) {
    cli_say("--checkpoint takes the name of a regular file, and %s is none", args->checkpoint);
    return CLI_WRONG_USAGE;
  }
  if (!args->resume) {
    cli_say("%s exists; --resume goes on from it; to begin anew, remove it", args->checkpoint);
    return CLI_WRONG_USAGE;
  }
  nestor_buffer *bytes = nestor_buffer_new(), *error = nestor_buffer_new();
  int code = CLI_GOOD;
  if (!cli_read(args->checkpoint, false, bytes))
    code = CLI_IO;
  else if (nestor_sweep_resume(sweep, nestor_buffer_data(bytes), nestor_buffer_size(bytes), error) != NESTOR_OK) {
    if (nestor_sweep_status(sweep) == NESTOR_OK)
      cli_say("cannot resume from %s: %s", args->checkpoint, nestor_buffer_data(error));
    code = CLI_PROGRAM;
  }
  nestor_buffer_free(bytes);
  nestor_buffer_free(error);
  return code;
}

/* ---- what is written ---- */

/* Where relative paths in a program of that name lead from, seen from another file: NULL where it is the same place. */
static char *directory_for(const char *program, const char *file) {
  const char *a = strrchr(program, '/'), *b = strrchr(file, '/');
  const size_t n = a ? (size_t)(a - program) : 0, m = b ? (size_t)(b - file) : 0;
  if (n == m && !strncmp(program, file, n)) return NULL;
  return realpath(".", NULL);
}

int cli_emit_best(const cli_args *args, nestor_sweep *sweep, const char *program) {
  if (!args->best) return CLI_GOOD;
  int code = CLI_GOOD;
  nestor_buffer *text = nestor_buffer_new();
  char *directory = directory_for(program, args->best);
  if (nestor_sweep_emit(sweep, directory, text) == NESTOR_OK)
    code = cli_write_file(args->best, nestor_buffer_data(text), nestor_buffer_size(text));
  else
    cli_say("no point is valid, so %s is not written", args->best);
  free(directory);
  nestor_buffer_free(text);
  return code;
}

void cli_plot_add(const cli_args *args, nestor_plot *plot, nestor_sweep *sweep) {
  if (args->plot && nestor_plot_add(plot, sweep) != NESTOR_OK)
    cli_say("sweep %s is not drawn: it has no front of the same two metrics", nestor_sweep_about(sweep).name);
}

int cli_plot_write(const cli_args *args, const nestor_plot *plot) {
  nestor_buffer *text = nestor_buffer_new();
  int code = CLI_GOOD;
  if (args->plot && nestor_plot_write(plot, text) == NESTOR_OK)
    code = cli_write_file(args->plot, nestor_buffer_data(text), nestor_buffer_size(text));
  nestor_buffer_free(text);
  return code;
}

static void group_digits(char *out, size_t size, const char *digits) {
  const size_t n = strlen(digits);
  size_t at = 0;
  for (size_t i = 0; i < n && at + 2 < size; i++) {
    if (i && (n - i) % 3 == 0) out[at++] = ',';
    out[at++] = digits[i];
  }
  out[at] = '\0';
}

static void say_points(const nestor_sweep_info *info) {
  char text[64];
  group_digits(text, sizeof text, info->points);
  cli_say("sweep %s of %s: %s point%s", info->name, info->mapping, text, strcmp(text, "1") ? "s" : "");
}

static void print_points(const cli_args *args, const nestor_sweep_info *info, nestor_buffer *out) {
  const char *const parts[] = {"{\"schema\":\"nestor.sweep/1\",\"sweep\":\"", info->name, "\",\"space\":", info->points,
                               "}\n"};
  char grouped[64];
  group_digits(grouped, sizeof grouped, info->points);
  const char *const plain[] = {info->name, ": ", grouped, strcmp(info->points, "1") ? " points\n" : " point\n"};
  if (args->format == NESTOR_FORMAT_JSON)
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) nestor_buffer_append(out, parts[i], strlen(parts[i]));
  else
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) nestor_buffer_append(out, plain[i], strlen(plain[i]));
}

/* ---- running ---- */

/* On another rank than 0: the search alone. */
static int follow(nestor_sweep *sweep) {
  listen(sweep);
  nestor_sweep_run(sweep); /* rank 0 tells what is wrong */
  listen(NULL);
  return CLI_GOOD;
}

static int search(const cli_args *args, nestor_sweep *sweep, const char *program, nestor_plot *plot,
                  nestor_buffer *out) {
  int code = CLI_GOOD;
  cli_rows *rows = NULL;
  if (args->all && !(rows = cli_rows_new(args->all, sweep, &code))) return code;
  checkpoint c = {args->checkpoint, CLI_GOOD};
  if (args->checkpoint) {
    code = resume(args, sweep);
    if (code == CLI_GOOD) nestor_sweep_autosave(sweep, save, &c, 10000);
  }
  cli_progress progress;
  cli_progress_init(&progress, args);
  nestor_sweep_watch(sweep, cli_progress_show, &progress, cli_progress_every_ms(&progress));
  nestor_status status = NESTOR_ERROR;
  if (code == CLI_GOOD) {
    listen(sweep);
    status = nestor_sweep_run(sweep);
    listen(NULL);
  }
  code = cli_worse(code, c.code);
  cli_diagnostics(args, nestor_sweep_diagnostics(sweep), false);
  if (rows) code = cli_worse(code, cli_rows_end(rows, sweep, status == NESTOR_OK || status == NESTOR_STOPPED));
  if (status != NESTOR_OK && status != NESTOR_STOPPED) return cli_worse(code, CLI_PROGRAM);
  if (args->sharded)
    nestor_sweep_save(sweep, out);
  else {
    nestor_sweep_show_mappings(sweep, args->all_mappings);
    nestor_sweep_write(sweep, args->format, cli_stdout_color(args), args->timing, out);
    code = cli_worse(code, cli_emit_best(args, sweep, program));
    cli_plot_add(args, plot, sweep);
  }
  if (status == NESTOR_STOPPED)
    cli_say("sweep %s was stopped; %s", nestor_sweep_about(sweep).name,
            args->checkpoint ? "--resume goes on from the checkpoint" : "its answer is not proven");
  return cli_worse(code, status == NESTOR_STOPPED ? CLI_STOPPED : CLI_GOOD);
}

static int one(const cli_args *args, const nestor_program *program, size_t index, const char *path, nestor_ranks *ranks,
               nestor_plot *plot, nestor_buffer *out) {
  nestor_sweep *sweep = nestor_sweep_new(program, index, &args->sweep);
  const bool first = !ranks || !nestor_ranks_rank(ranks);
  int code;
  nestor_sweep_share(sweep, ranks);
  if (nestor_sweep_status(sweep) != NESTOR_OK) {
    if (first) cli_diagnostics(args, nestor_sweep_diagnostics(sweep), false);
    code = CLI_PROGRAM;
  } else if (!first) {
    code = args->dry_run ? CLI_GOOD : follow(sweep);
  } else {
    const nestor_sweep_info info = nestor_sweep_about(sweep);
    if (args->dry_run) {
      print_points(args, &info, out);
      code = CLI_GOOD;
    } else {
      if (!args->quiet) say_points(&info);
      code = search(args, sweep, path, plot, out);
    }
  }
  nestor_sweep_free(sweep);
  return code;
}

static bool chosen(const cli_args *args, const char *name) {
  for (size_t i = 0; i < args->nmappings; i++)
    if (!strcmp(args->mappings[i], name)) return true;
  return !args->nmappings;
}

/* Names on the command line must be sweeps of some file. */
static int check_names(const cli_args *args, nestor_program *const *programs) {
  int code = CLI_GOOD;
  for (size_t i = 0; i < args->nmappings; i++) {
    bool found = false;
    for (size_t f = 0; f < args->nfiles; f++)
      found = found || (programs[f] && nestor_program_find_sweep(programs[f], args->mappings[i]) != SIZE_MAX);
    if (found) continue;
    const char *words[64], *near;
    size_t n = 0;
    for (size_t f = 0; f < args->nfiles; f++)
      for (size_t k = 0; programs[f] && k < nestor_program_sweeps(programs[f]) && n < 63; k++)
        words[n++] = nestor_program_sweep(programs[f], k);
    words[n] = NULL;
    near = cli_nearest(args->mappings[i], words);
    if (near)
      cli_say("no sweep is named \"%s\"; did you mean \"%s\"?", args->mappings[i], near);
    else
      cli_say("no sweep is named \"%s\"", args->mappings[i]);
    code = CLI_WRONG_USAGE;
  }
  return code;
}

/* Options that name one file need one sweep. */
static int check_files(const cli_args *args, size_t sweeps, const nestor_ranks *ranks) {
  if (ranks && args->all) {
    cli_say("--all is for one process: use --shard I/N, each with a list of its own");
    return CLI_WRONG_USAGE;
  }
  if (args->sharded && !args->output && !args->dry_run) {
    cli_say("--shard needs -o PART, for `nestor merge`");
    return CLI_WRONG_USAGE;
  }
  if (args->resume && !args->checkpoint) {
    cli_say("--resume needs --checkpoint FILE");
    return CLI_WRONG_USAGE;
  }
  if (args->all && args->checkpoint) {
    cli_say("--all cannot be resumed: leave --checkpoint out");
    return CLI_WRONG_USAGE;
  }
  if (args->sweep.sample && args->sweep.limit) {
    cli_say("--sample and --limit exclude each other");
    return CLI_WRONG_USAGE;
  }
  const struct {
    const char *name;
    bool given;
  } files[] = {{"checkpoint", args->checkpoint}, {"all", args->all}, {"emit", args->best}, {"shard", args->sharded}};
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    if (!files[i].given || sweeps <= 1) continue;
    cli_say("--%s is for one sweep, and there are %zu; choose one with --sweep NAME", files[i].name, sweeps);
    return CLI_WRONG_USAGE;
  }
  return CLI_GOOD;
}

/* What cannot be written is told before the search, not after it. */
static int check_places(const cli_args *args) {
  const char *const places[] = {args->output, args->checkpoint, args->all, args->best, args->plot};
  int code = CLI_GOOD;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (places[i] && !cli_can_write(places[i])) code = CLI_IO;
  return code;
}

/* The ranks, where MPI has started several; false: they cannot be had (said). */
static bool open_ranks(const cli_args *args, nestor_ranks **out) {
  *out = NULL;
  if (args->sharded || !nestor_ranks_wanted()) return true;
  nestor_buffer *error = nestor_buffer_new();
  *out = nestor_ranks_new(NULL, error);
  if (!*out) cli_say("started by MPI, but %s; --shard I/N with nestor merge needs no MPI", nestor_buffer_data(error));
  nestor_buffer_free(error);
  return *out;
}

/* Whether all is well so far, on all ranks: they do the same sweeps, or none. */
static bool go_on(nestor_ranks *ranks, int *code, size_t sweeps) {
  const bool good = *code == CLI_GOOD;
  if (!ranks) return good;
  const int who = nestor_ranks_agree(ranks, good ? 1 + sweeps : 0);
  if (who <= 0 || !good) return who < 0; /* rank 0 has said why */
  cli_say("rank %d of the job stopped, or has other files: every rank needs them", who);
  *code = CLI_IO;
  return false;
}

static int sweep_files(const cli_args *args, nestor_ranks *ranks) {
  const bool speaks = !ranks || !nestor_ranks_rank(ranks);
  nestor_program **programs = calloc(args->nfiles, sizeof *programs);
  if (!programs) abort();
  int code = CLI_GOOD;
  size_t sweeps = 0;
  for (size_t f = 0; f < args->nfiles; f++) {
    programs[f] = cli_compile(args, args->files[f], NESTOR_STAGE_CHECK);
    if (!programs[f]) {
      code = cli_worse(code, CLI_IO);
      continue;
    }
    if (speaks) cli_diagnostics(args, nestor_program_diagnostics(programs[f]), false);
    if (nestor_program_status(programs[f]) != NESTOR_OK) code = cli_worse(code, CLI_PROGRAM);
    for (size_t k = 0; k < nestor_program_sweeps(programs[f]); k++)
      sweeps += chosen(args, nestor_program_sweep(programs[f], k));
  }
  if (code == CLI_GOOD) code = check_names(args, programs);
  if (code == CLI_GOOD) code = check_files(args, sweeps, ranks);
  if (code == CLI_GOOD && speaks) code = check_places(args);
  if (code == CLI_GOOD && !sweeps) {
    cli_say("no sweep block in %s", args->nfiles == 1 ? cli_display_name(args->files[0]) : "the files");
    code = CLI_PROGRAM;
  }
  nestor_buffer *out = nestor_buffer_new();
  nestor_plot *plot = nestor_plot_new();
  bool first = true, go = go_on(ranks, &code, sweeps);
  for (size_t f = 0; f < args->nfiles && go; f++)
    for (size_t k = 0; k < nestor_program_sweeps(programs[f]) && go; k++) {
      if (!chosen(args, nestor_program_sweep(programs[f], k))) continue;
      if (!first && args->format == NESTOR_FORMAT_TABLE && !args->dry_run) nestor_buffer_append(out, "\n", 1);
      first = false;
      code = one(args, programs[f], k, args->files[f], ranks, plot, out);
      go = go_on(ranks, &code, 1);
    }
  if (speaks && nestor_buffer_size(out)) code = cli_worse(code, cli_output(args, out));
  if (speaks) code = cli_worse(code, cli_plot_write(args, plot));
  nestor_plot_free(plot);
  nestor_buffer_free(out);
  for (size_t f = 0; f < args->nfiles; f++) nestor_program_free(programs[f]);
  free(programs);
  return code;
}

int cli_sweep(const cli_args *args) {
  nestor_ranks *ranks;
  if (!open_ranks(args, &ranks)) return CLI_IO;
  if (ranks && nestor_ranks_rank(ranks)) cli_be_silent();
  cli_args own = *args;
  if (ranks && own.color == CLI_COLOR_AUTO)
    own.color = CLI_COLOR_NEVER; /* the terminal that mpirun shows is no one's */
  const int code = sweep_files(&own, ranks);
  nestor_ranks_free(ranks);
  return code;
}
